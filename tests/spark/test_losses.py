"""A part of Spark is lost: what is said, that nothing becomes a dead letter by it, and that starting again goes on.

The loss of workers: tests/spark/test_cluster.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import Dataflow
from progress.runtime.on_spark.sinks.parquet import ParquetSink
from tests.runtime.tools import GUARD
from tests.spark.spark import SETTINGS, spark_session
from tests.spark.tools import drop

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
AGAIN = "(start it again; with --state it goes on from its last checkpoint)"
KILLED = "PS762: a process of Python at a worker was killed, for want of memory or by hand"


def ends(count: int) -> Any:
    """A table whose rows nobody can compute."""
    from pyspark.sql.functions import udf

    end = udf(lambda number: os.kill(os.getpid(), 9), "long")
    return spark_session().range(count).select(end("id").alias("n"))


def run(node: Any, **options: Any) -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    dataflow = Dataflow(graph, {"a": node})
    dataflow.run(engine="spark", session=spark_session(), timeout=GUARD, sources={"in": [(0, 2)]}, **options)


def test_a_process_of_python_that_is_killed_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(PointstampError) as caught:
        run(lambda count: ends(count).collect())
    assert str(caught.value) == f"{KILLED}, in a call of 'a' at 0 {AGAIN}"
    with pytest.raises(PointstampError) as caught:
        run(ends, sinks={"out": ParquetSink(tmp_path)})
    assert str(caught.value) == f"{KILLED}: what leaves at 'out' at 0 did not come to its end {AGAIN}"


def test_what_fails_of_itself_is_nobodys_loss() -> None:
    def fails(count: int) -> None:
        raise ConnectionRefusedError(111, "the shop does not answer")

    with pytest.raises(PointstampError, match="PS705: 'a' failed on a message from 'in' at 0: ConnectionRefusedError"):
        run(fails)
    assert spark_session().range(1).count() == 1


PIPELINE = """
import os
import signal
from pathlib import Path

from graphs import Graph
from progress.runtime import Dataflow, DeadLetter, Stage
from progress.runtime.on_spark.session import active_session

FOLDER = Path(__file__).parent


def tell(day, tables):
    session = active_session()
    if day == 3 and not (FOLDER / "killed").exists():
        (FOLDER / "killed").touch()
        os.kill(int(session._jvm.java.lang.ProcessHandle.current().pid()), signal.SIGKILL)
    return session.range(day + 1).count()


graph = Graph().node("tell").edge(None, "tell", "in").edge("tell", None, "out")
dataflow = Dataflow(graph, {"tell": Stage(tell, at_once=1)}, on_error=DeadLetter("dead"))
"""


@pytest.mark.slow
def test_when_the_jvm_is_gone_nothing_is_a_dead_letter_and_starting_again_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pipe.py").write_text(PIPELINE, encoding="utf-8")
    lines = [json.dumps({"time": day, "value": day}) for day in range(6)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = [f"--conf={key}={value}" for key, value in SETTINGS.items()]
    command = [
        *(sys.executable, "-m", "graphs", "run", "pipe.py", "--engine", "spark", "--master", "local[1]", *settings),
        *("--input", "in=in.jsonl", "--output", "out=out.jsonl", "--output", "dead=dead.jsonl"),
        *("--state", "state", "--every", "0"),
    ]
    said = []
    for _ in range(2):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * GUARD,
        )
        said.append((done.returncode, done.stderr))
    assert said == [(1, f"pointstamp: PS762: Spark's JVM is gone {AGAIN}\n"), (0, "")]
    found = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    assert sorted(line["value"] for line in found if "value" in line) == [1, 2, 3, 4, 5, 6]
    assert (tmp_path / "dead.jsonl").read_text("utf-8") == ""


KILLED_AT = """
import sys
import threading
from time import sleep

from graphs.command import main
from progress.runtime.on_spark import session
from progress.runtime.on_spark.jobs import metrics
from progress.runtime.on_spark.sources.files import items

instant, *words = sys.argv[1:]


def kill():
    jvm = session._LAUNCHED[-1].proc
    jvm.kill()
    jvm.wait()


def after_a_kill(call):
    def called(*arguments):
        kill()
        return call(*arguments)

    return called


def in_vain(look):
    def looks(*arguments):
        found.append(look(*arguments))
        return found[-1]

    return looks


def wait():
    while found[-3:] != [None] * 3:  # looks at a folder in which nothing is new
        sleep(0.05)
    kill()


if instant == "the session is made":
    session._check_settings = after_a_kill(session._check_settings)
elif instant == "the run is made":
    metrics._of = after_a_kill(metrics._of)
else:
    found = []
    items.FileItems._look = in_vain(items.FileItems._look)
    threading.Thread(target=wait, daemon=True).start()
sys.exit(main(words))
"""
IDLE = """
from pathlib import Path

from graphs import Graph
from progress.runtime import Dataflow
from progress.runtime.on_spark.sources.files.source import FileSource

graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
dataflow = Dataflow(graph, sources={"in": FileSource(Path(__file__).parent / "in", end="_END")})
"""


@pytest.mark.slow
@pytest.mark.parametrize("instant", ["the session is made", "the run is made", "all is done and files may come"])
def test_a_jvm_that_ends_while_nobody_runs_anything_there_is_said_to_be_gone(tmp_path: Path, instant: str) -> None:
    (tmp_path / "pipe.py").write_text(IDLE, encoding="utf-8")
    (tmp_path / "in").mkdir()
    drop(tmp_path / "in", "0.parquet", [(0,)])
    settings = [f"--conf={key}={value}" for key, value in SETTINGS.items()]
    words = ["run", "pipe.py", "--engine", "spark", "--master", "local[1]", "--state", "state", *settings]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT, instant, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=2 * GUARD,
    )
    assert (done.returncode, done.stderr) == (1, f"pointstamp: PS762: Spark's JVM is gone {AGAIN}\n")
