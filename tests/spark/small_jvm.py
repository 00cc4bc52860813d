"""The JVMs that tests start: small ones, which share an archive of Spark's classes and so start sooner.

Most of what such a JVM does is to load the same ten thousand classes. Java keeps them in an archive, with which a JVM
starts in little more than half the processor time. The first test that needs Spark makes it, and it stays in `build`; a
JVM that it does not fit, or for which it came too late, starts without it.

The rest of its time such a JVM compiles what runs once. So Spark interprets expressions and plans, which it can do as
well as compile them, with the same answers: long tests cost a fifth less so. And there is room for what the JVM itself
compiles, which else it throws away and compiles again. The options reach every JVM, whoever starts it, by the
environment; a test that wants another setting of Spark gives it: a property of the JVM counts least.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "JDK_JAVA_OPTIONS"
INTERPRETED = "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
ROOM = "-XX:ReservedCodeCacheSize=200m -XX:MetaspaceSize=200m -XX:NewRatio=1"
SMALL = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {ROOM} {INTERPRETED} -Xlog:disable"
GIVEN = os.environ.get(VARIABLE, "")
LONG = 300.0  # seconds that it may take to make an archive

MAKE = """
import sys
from progress.runtime.on_spark.session import start_session

folder, = sys.argv[1:]
session = start_session("local[2]", {"spark.driver.memory": "700m"}, False)
rows = session.range(100).selectExpr("id", "id % 7 AS day", "struct(id, array(id)) AS more")
rows.write.partitionBy("day").parquet(f"{folder}/rows")
found = session.read.parquet(f"{folder}/rows").groupBy("day").agg({"id": "sum"})
found.join(rows, "day").localCheckpoint().toArrow()
session.createDataFrame(found.toArrow()).orderBy("day").collect()
gateway = session.sparkContext._gateway
session.stop()
gateway.shutdown()
gateway.proc.stdin.close()  # which ends the JVM, and it writes the archive
gateway.proc.wait()
"""


@cache
def start_small() -> None:
    """From now on the JVMs of this process, and of those that it starts, are small. The first time in a clone it costs
    a JVM's start and ten seconds; later a look at the times of some hundred files.
    """
    os.environ[VARIABLE] = f"{GIVEN} {SMALL}".strip()
    archive = ROOT / "build" / f"spark-{_mark()}.jsa"
    if " " in str(archive):  # the options are one text
        return
    archive.parent.mkdir(exist_ok=True)
    with (archive.parent / "spark.lock").open("w") as lock, suppress(BlockingIOError):  # another process makes it
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not archive.exists():
            _make(archive)
    os.environ[VARIABLE] += f" -XX:SharedArchiveFile={archive}"


def _mark() -> str:
    """What Java asks of an archive: that it is of this Java and of these jars, unchanged."""
    import pyspark

    home = os.environ.get("JAVA_HOME")
    java = Path(str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java").resolve()
    jars = sorted((Path(pyspark.__file__).parent / "jars").iterdir())
    known = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in (java, *jars)]
    return sha256(repr(known).encode()).hexdigest()[:12]


def _make(archive: Path) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        made = Path(folder) / "made.jsa"
        options = f"{os.environ[VARIABLE]} -XX:ArchiveClassesAtExit={made}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: options}
        command = [sys.executable, "-c", MAKE, folder]
        subprocess.run(command, env=environment, capture_output=True, timeout=LONG, check=False)
        if made.exists():
            for old in archive.parent.glob("spark-*.jsa"):
                old.unlink()
            made.rename(archive)
