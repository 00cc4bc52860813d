"""A run on Spark that stops: no job of a source, a sink or a checkpoint goes on, nothing more is committed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

import pytest

from graphs import Graph
from graphs.command import main
from progress import PointstampError
from progress.runtime import Complete, Dataflow, Node, NodeFailed, Out
from progress.runtime.control import Control
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.on_spark.engine import OnSpark
from progress.runtime.on_spark.session import ends_on_interrupt
from progress.runtime.on_spark.sinks.parquet import ParquetSink, committed, read_committed
from progress.runtime.on_spark.sources.rows import FrameSource
from progress.runtime.on_spark.tables.kept_frames import KeptFrames
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from tests.runtime.tools import GUARD
from tests.spark.spark import spark_session
from tests.spark.tools import FOR_EVER, quick, running_tasks, slow, wait_until

pytestmark = pytest.mark.spark

ENDS = 600.0  # seconds after which such a job would end by itself
DEAF = "java_method('org.apache.hadoop.util.ThreadUtil', 'sleepAtLeastIgnoreInterrupts', 1500L)"  # for a moment


def line() -> Graph:
    return Graph().node("a").edge(None, "a", "in").edge("a", None, "out")


def active() -> list[int]:
    return list(spark_session().sparkContext.statusTracker().getActiveJobsIds())


def run(dataflow: Dataflow, **options: Any) -> Any:
    return dataflow.run(engine="spark", session=spark_session(), **options)


def stopped_by(code: str, dataflow: Dataflow, **options: Any) -> None:
    begun = monotonic()
    with pytest.raises(PointstampError) as caught:
        run(dataflow, **options)
    assert caught.value.code == code
    assert monotonic() - begun < ENDS
    wait_until(lambda: not active())


def test_the_jobs_of_a_source_are_one_group_that_is_cancelled() -> None:
    context = spark_session().sparkContext
    frame = spark_session().range(1).selectExpr(f"cast({FOR_EVER} is null as int) as t")
    stopped_by("PS713", Dataflow(line()), sources={"in": FrameSource(frame, "t")}, timeout=0.5)
    seen: list[tuple[str | None, ...]] = []

    def to(value: int) -> int:
        names = ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool")
        seen.append(tuple(map(context.getLocalProperty, names)))
        return value

    run(Dataflow(line()), sources={"in": FrameSource(spark_session().range(1), "id", to=to)})
    ((group, description, pool),) = seen
    assert str(group).endswith(" source in")
    assert (description, pool) == ("source of in", "pointstamp source in")


def test_a_task_that_does_not_hear_that_its_job_was_cancelled_is_told_again() -> None:
    """Its code swallows the first interrupt, and goes on: the core that it has is not lost to those that come."""
    cancel = threading.Event()

    def deaf(value: int) -> Any:
        def stop() -> None:
            wait_until(running_tasks)
            cancel.set()

        threading.Thread(target=stop, daemon=True).start()
        return spark_session().range(1).selectExpr(f"concat({DEAF}, {FOR_EVER}) as v").collect()

    begun = monotonic()
    stopped_by("PS712", Dataflow(line(), {"a": deaf}), sources={"in": [(0, 1)]}, cancel=cancel)
    wait_until(lambda: not running_tasks())
    assert monotonic() - begun < ENDS
    assert spark_session().range(3).count() == 3


def test_a_task_that_does_not_hear_of_an_interrupt_is_told_again() -> None:
    def interrupt() -> None:
        wait_until(running_tasks)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    begun = monotonic()
    with pytest.raises(KeyboardInterrupt), ends_on_interrupt():
        spark_session().range(1).selectExpr(f"concat({DEAF}, {FOR_EVER}) as v").collect()
    assert spark_session().range(3).count() == 3  # begun after it, and not cancelled by it
    wait_until(lambda: not running_tasks())
    assert monotonic() - begun < ENDS


@pytest.mark.parametrize("is_out_of_time", [True, False])
def test_a_run_that_stops_cuts_short_what_a_sink_writes_and_begins_no_other_time(
    tmp_path: Path, is_out_of_time: bool
) -> None:
    cancel = threading.Event()
    items = [(0, quick(0)), (1, slow()), (2, quick(2))]
    options: dict[str, Any] = {"sources": {"in": items}, "sinks": {"out": ParquetSink(tmp_path)}}
    if is_out_of_time:
        stopped_by("PS713", Dataflow(line()), **options, timeout=0.5)
        assert [each["time"] for each in committed(spark_session(), tmp_path)] in ([], [0])
        return

    def stop() -> None:
        wait_until(lambda: committed(spark_session(), tmp_path) and active())
        cancel.set()

    threading.Thread(target=stop, daemon=True).start()
    stopped_by("PS712", Dataflow(line()), **options, cancel=cancel)
    assert [each["time"] for each in committed(spark_session(), tmp_path)] == [0]
    run(
        Dataflow(line()),
        sources={"in": [(time, quick(time)) for time in range(3)]},
        sinks={"out": ParquetSink(tmp_path, "ignore")},
    )
    assert sorted(row.v for row in read_committed(spark_session(), tmp_path).collect()) == ["0", "1", "2"]


def test_a_node_that_fails_does_not_wait_for_what_a_sink_writes(tmp_path: Path) -> None:
    class Fails(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            wait_until(active)
            raise ValueError("broken")

    graph = line().node("b").edge(None, "b", "more").edge("b", None, "never")
    sources = {"in": [(0, slow()), Complete((1,)), (1, quick(1))], "more": [(0, 1)]}
    dataflow = Dataflow(graph, {"b": Fails()})
    begun = monotonic()
    with pytest.raises(NodeFailed, match="ValueError: broken"):
        run(dataflow, sources=sources, sinks={"out": ParquetSink(tmp_path)}, timeout=GUARD)
    assert monotonic() - begun < ENDS
    wait_until(lambda: not active())
    assert committed(spark_session(), tmp_path) == []


def test_a_checkpoint_that_is_taken_is_cut_short(tmp_path: Path) -> None:
    cancel = threading.Event()

    def items() -> Iterator[Any]:
        yield 0, slow()  # waits in the sink, since its time is not complete, and is computed for the checkpoint
        wait_until(active)
        cancel.set()

    kept: list[State] = []
    dataflow = Dataflow(line(), sources={"in": items}, sinks={"out": ParquetSink(tmp_path / "out")})
    with OnSpark(spark_session()) as on_spark:
        keeping = Keeping(kept.append, 0.01, None, KeptFrames(tmp_path / "state"))
        running = Running(
            dataflow,
            dataflow.sources,
            dataflow.sinks,
            RunOptions("spark", keeping=keeping, control=Control(cancel=cancel), host=on_spark),
        )
        with pytest.raises(PointstampError) as caught:
            running.run(None, 2)
    assert caught.value.code == "PS712"
    assert len(kept) == 1  # that of the beginning
    wait_until(lambda: not active())


PIPELINE = """
from graphs import Graph
from progress.runtime import Dataflow
from progress.runtime.on_spark.sinks.parquet import ParquetSink
from progress.runtime.tables import is_of_spark
from tests.spark.tools import quick, slow
from pathlib import Path

HERE = Path(__file__).parent
graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
function = lambda value: slow() if value == 1 and (HERE / "is_slow").exists() else quick(value)
dataflow = Dataflow(graph, {"a": function}, sinks={"out": ParquetSink(HERE / "out")})
"""


def test_an_interrupt_while_a_sink_writes_ends_the_command_and_the_next_start_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pipeline.py").write_text(PIPELINE, encoding="utf-8")
    (tmp_path / "in.jsonl").write_text("".join(f'{{"time": {t}, "value": {t}}}\n' for t in range(3)), encoding="utf-8")
    (tmp_path / "is_slow").touch()
    command = [
        "run", str(tmp_path / "pipeline.py"), "--engine", "spark", "--input", f"in={tmp_path / 'in.jsonl'}",
        "--state", str(tmp_path / "state"),
    ]  # fmt: skip
    spark_session()

    def interrupt() -> None:
        wait_until(lambda: [*(tmp_path / "out" / "_commits").glob("0@*.json")] and active())
        os.kill(os.getpid(), signal.SIGINT)

    watch = threading.Thread(target=interrupt, daemon=True)
    watch.start()
    assert main(command) == 130
    watch.join()
    wait_until(lambda: not active())
    assert [each["time"] for each in committed(spark_session(), tmp_path / "out")] == [0]
    (tmp_path / "is_slow").unlink()
    assert main(command) == 0
    rows = read_committed(spark_session(), tmp_path / "out").collect()
    assert sorted(row.v for row in rows) == ["0", "1", "2"]


def test_an_interrupt_cancels_all_jobs_before_it_is_raised() -> None:
    def interrupt() -> None:
        wait_until(active)
        os.kill(os.getpid(), signal.SIGINT)

    def works() -> None:
        with ends_on_interrupt():
            slow().collect()

    before = signal.getsignal(signal.SIGINT)
    with ends_on_interrupt(), pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))  # as while it is imported
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    spark_session()
    assert signal.getsignal(signal.SIGINT) is before
    assert not getattr(before, "__module__", "").startswith("pyspark")
    threading.Thread(target=interrupt, daemon=True).start()
    begun = monotonic()
    with pytest.raises(KeyboardInterrupt):
        works()
    assert monotonic() - begun < ENDS
    wait_until(lambda: not active())
    assert spark_session().range(3).count() == 3  # every call of the JVM has had its own answer
    assert signal.getsignal(signal.SIGINT) is before


def test_the_command_ends_with_130_when_its_jobs_are_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from graphs.at_scale import report

    def interrupted(*rest: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        sleep(0.01)
        slow().collect()

    spark_session()
    monkeypatch.setattr(report, "open_in_spark", interrupted)
    for command in (["close", "examples/loop.yaml", "--at", "input=0"], ["check", "examples/loop.yaml"]):
        assert main([*command, "--engine", "spark"]) == 130
        assert capsys.readouterr() == ("", "")
    wait_until(lambda: not active())
