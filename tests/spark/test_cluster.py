"""On a standalone cluster: what is killed, and what fails at random, loses no record and repeats none."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.spark.shipped_code import check_told, write_pipeline
from tests.spark.spark_cluster import DRIVER_SETTINGS, WAIT, cluster, end_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]

GRAPHS = (sys.executable, "-m", "graphs")
DAYS, RECORDS, PARTS = 6, 10_000, 4

PIPELINE = """
import random
from pathlib import Path
from time import sleep

from graphs import Graph
from progress.runtime import Dataflow
from progress.runtime.on_spark.sinks.parquet import ParquetSink
from progress.runtime.on_spark.sources.files.source import FileSource
from progress.runtime.on_spark.sources.stream import StreamSource
from progress.runtime.tables import union
from progress.runtime.on_spark.session import start_session
from progress.runtime.stage import Stage

FOLDER = Path(__file__).parent


def doubled(day, tables):
    from pyspark import TaskContext
    from pyspark.sql.functions import udf

    failed = str(FOLDER / "failed")

    @udf("long")
    def risky(record):
        task = TaskContext.get()
        key = f"7 {day} {task.partitionId()}"
        if task.attemptNumber() == 0 and random.Random(key).random() < 0.1:
            open(f"{failed}/{key}", "w").close()
            raise OSError("a disk that is full now and then")
        return 2 * record

    rows = union([table.select("record") for table in tables.values()]).repartition(PARTS, "record")
    return rows.select("record", risky("record").alias("twice"))


def stream():
    reader = start_session(graphframes=False).readStream.schema("record long, day int")
    return reader.option("maxFilesPerTrigger", 2).parquet(str(FOLDER / "streamed"))


class Sums(Stage):  # the sum of all records so far, in a table that it keeps from day to day
    so_far = None

    def __init__(self):
        super().__init__(at_once=1)

    def on_tables(self, day, tables, out):
        while day == 3 and not (FOLDER / "go on").exists():
            (FOLDER / "waits").touch()
            sleep(0.05)
        last, new = self.so_far, tables["days"].selectExpr("sum(record) as sum")
        sums = new if last is None else union([new, last])
        self.so_far = out.keep(sums.selectExpr("sum(sum) as sum").repartition(PARTS))
        if last is not None:
            out.let_go(last)
        out.send("sums", day, self.so_far.selectExpr("sum + 0 as sum"))


graph = Graph().node("double").edge(None, "double", "records").edge(None, "double", "stream")
graph = graph.edge("double", None, "doubles").node("sum").edge("double", "sum", "days").edge("sum", None, "sums")
sources = {"records": FileSource(FOLDER / "in", r"day=([0-9]+)")}
if (FOLDER / "streamed").exists():
    sources["stream"] = StreamSource(stream, "day", FOLDER / "batches", complete=lambda day: [day])
dataflow = Dataflow(
    graph,
    {"double": Stage(doubled, at_once=2), "sum": Sums()},
    sources=sources,
    sinks={"doubles": ParquetSink(FOLDER / "out"), "sums": ParquetSink(FOLDER / "sums")},
)
""".replace("PARTS", str(PARTS))


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    yield
    end_cluster()


def prepared(folder: Path, streamed: int = 0) -> None:
    """The records in files by day, so many of each day's in a stream, and the pipeline."""
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import parquet

    for day in range(DAYS):
        place = folder / "in" / f"day={day}"
        place.mkdir(parents=True)
        records = list(range(day, RECORDS, DAYS))
        parquet.write_table(pyarrow.table({"record": records[streamed:]}), place / "records.parquet")
        if streamed:
            (folder / "streamed").mkdir(exist_ok=True)
            days = pyarrow.array([day] * streamed, pyarrow.int32())
            file = folder / "streamed" / f"{day}.parquet"
            parquet.write_table(pyarrow.table({"record": records[:streamed], "day": days}), file)
            os.utime(file, (1_700_000_000 + day,) * 2)  # the order in which Spark takes them
    (folder / "failed").mkdir()
    (folder / "pipeline.py").write_text(PIPELINE, encoding="utf-8")


class Driver:
    """`pointstamp run`, a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        settings = [f"--conf={key}={value}" for key, value in DRIVER_SETTINGS.items()]
        command = ["run", "pipeline.py", "--engine", "spark", "--master", cluster().url, *settings, *options]
        self._log = folder / "driver.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*GRAPHS, *command],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-3_000:]

    def committed(self) -> int:
        return len(list((self.folder / "out" / "_commits").glob("[0-9]*.json")))

    def wait_for(self, commits: int) -> None:
        """Until so many times are committed."""
        self.wait_until(lambda: self.committed() >= commits)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Until something is so."""
        until = time.monotonic() + 2 * WAIT
        while not is_so():
            assert time.monotonic() < until, self.log
            assert self._process.poll() is None, self.log
            time.sleep(0.02)

    def kill(self) -> None:
        """The whole driver, Python and JVM, at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Wait until it has ended well."""
        try:
            assert self._process.wait(4 * WAIT) == 0, self.log
        finally:
            if self._process.poll() is None:
                self.kill()


def found(folder: Path) -> Counter[tuple[int, int]]:
    """What is committed, each row with how often it is there; read without Spark, by the commits alone."""
    from pyarrow import parquet

    rows: Counter[tuple[int, int]] = Counter()
    for path in (folder / "out" / "_commits").glob("[0-9]*.json"):
        commit = json.loads(path.read_text(encoding="utf-8"))
        parts = [parquet.ParquetFile(part).read() for part in (folder / "out" / commit["folder"]).glob("*.parquet")]
        assert sum(part.num_rows for part in parts) == commit["rows"]
        for part in parts:
            rows.update(zip(part["record"].to_pylist(), part["twice"].to_pylist(), strict=True))
    return rows


def sums_found(folder: Path) -> list[int]:
    """The sums that are committed, in their order."""
    from pyarrow import parquet

    commits = [json.loads(path.read_text("utf-8")) for path in (folder / "sums" / "_commits").glob("[0-9]*.json")]
    return sorted(
        value
        for commit in commits
        for part in commit["files"]
        for value in parquet.ParquetFile(folder / "sums" / commit["folder"] / part).read()["sum"].to_pylist()
    )


SUMS = [sum(record for record in range(RECORDS) if record % DAYS <= day) for day in range(DAYS)]
EACH_ONCE = Counter((record, 2 * record) for record in range(RECORDS))


def test_a_driver_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    prepared(tmp_path, streamed=400)
    (tmp_path / "go on").touch()
    driver = Driver(tmp_path, "--state", "state", "--every", "0.2")
    driver.wait_for(3)
    driver.kill()
    assert 3 <= driver.committed() < DAYS
    last = Driver(tmp_path, "--state", "state", "--every", "5")  # nobody kills it
    last.end()
    assert found(tmp_path) == EACH_ONCE
    assert sums_found(tmp_path) == SUMS
    assert (tmp_path / "state" / "checkpoint").is_file()


def test_functions_run_at_workers_and_the_settings_of_a_team_count(tmp_path: Path) -> None:
    write_pipeline(tmp_path)
    (tmp_path / "conf").mkdir()
    team = {"spark.master": cluster().url, "spark.sql.shuffle.partitions": "7", "spark.team": "blue"}
    lines = [f"{key} {value}\n" for key, value in {**DRIVER_SETTINGS, **team}.items()]
    (tmp_path / "conf" / "spark-defaults.conf").write_text("".join(lines), encoding="utf-8")
    run = subprocess.run(
        [*GRAPHS, "run", "pipe.py", "--engine=spark", "--input=in=in.jsonl", "--output=out=out.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_CONF_DIR": str(tmp_path / "conf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3_000:]
    check_told(tmp_path)
    assert (tmp_path / "settings").read_text("utf-8") == "7 blue"
    assert run.stderr == ""


SUBMITTED = """
import json
import sys
from pathlib import Path

import progress
from graphs import Graph
from progress.runtime import Dataflow, Stage
from progress.runtime.on_spark import ParquetSink
from progress.runtime.on_spark.session import start_session


def where(number):
    import progress

    return f"{number} {progress.__file__}"


def tell(time, tables):
    from pyspark.sql.functions import udf

    return session.range(2).select(udf(where, "string")("id").alias("told"))


session = start_session(graphframes=False)
graph = Graph().node("tell").edge(None, "tell", "in").edge("tell", None, "out")
dataflow = Dataflow(graph, {"tell": Stage(tell)})
dataflow.run(engine="spark", sources={"in": [(0, 1)]}, sinks={"out": ParquetSink(sys.argv[1])})
partitions = session.conf.get("spark.sql.shuffle.partitions")
print(json.dumps([progress.__file__, session.sparkContext.master, partitions, session.sparkContext.appName]))

sys.path.append(sys.argv[2])  # behind the wheel: for the tests alone
from tests.spark.examples_on_spark import INPUTS, expected, found

for folder in INPUTS:
    place = Path(sys.argv[1]).parent / folder
    place.mkdir()
    for edge, lines in found(folder, place, "spark", session=session).items():
        assert lines == expected(folder, edge), (folder, edge)
        print(folder, edge, sum(lines.values()))
session.stop()
"""


def test_a_program_is_submitted_with_a_wheel_for_every_machine_and_the_examples_run(
    tmp_path: Path,
) -> None:
    import pyspark
    from pyarrow import parquet

    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    source = tmp_path / "source"
    source.mkdir()
    for name in ("progress", "graphs", "recursion", "pointstamp"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    environment = {**os.environ, "POINTSTAMP_PURE": "1"}
    subprocess.run([*build, str(tmp_path), str(source)], env=environment, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    archive = wheel.rename(tmp_path / "pointstamp.zip")
    (tmp_path / "main.py").write_text(SUBMITTED, encoding="utf-8")
    settings = {**DRIVER_SETTINGS, "spark.sql.shuffle.partitions": "5"}
    run = subprocess.run(
        [
            *(str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", cluster().url),
            *(f"--conf={key}={value}" for key, value in settings.items()),
            *("--py-files", str(archive), "main.py", str(tmp_path / "out"), str(ROOT)),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3_000:]
    told, *examples = run.stdout.splitlines()
    file, *rest = json.loads(told)
    assert len(examples) >= 3
    assert rest == [cluster().url, "5", "main.py"]
    parts = (tmp_path / "out" / "time=0").glob("*.parquet")
    places = [told for part in parts for told in parquet.ParquetFile(part).read()["told"].to_pylist()]
    assert len(places) == 2
    assert all("pointstamp.zip/progress/__init__.py" in place for place in (file, *places)), (file, places)


def test_a_worker_that_is_killed_and_tasks_that_fail_lose_no_record(tmp_path: Path) -> None:
    prepared(tmp_path)
    cluster().add_worker()
    driver = Driver(tmp_path)
    try:
        driver.wait_for(2)
        driver.wait_until((tmp_path / "waits").exists)
        cluster().workers.pop(0).kill()
        cluster().add_worker()
        (tmp_path / "go on").touch()
        driver.end()
    except BaseException:
        driver.kill()
        raise
    assert found(tmp_path) == EACH_ONCE
    assert sums_found(tmp_path) == SUMS
    assert DAYS * PARTS / 30 < len(list((tmp_path / "failed").iterdir())) < DAYS * PARTS / 3  # a tenth of the tasks
