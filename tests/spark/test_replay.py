"""A run on Spark that was killed goes on with what had come as it had come, and releases nothing that may differ."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress.runtime import Dataflow, Messages, Node, Out, Stage
from progress.runtime.control import Cancelled, Control
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import HERE
from progress.runtime.on_spark.engine import OnSpark
from progress.runtime.on_spark.sinks.parquet import ParquetSink, committed, read_committed
from progress.runtime.on_spark.sources.files.source import FileSource
from progress.runtime.on_spark.tables.kept_frames import KeptFrames
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from tests.spark.spark import spark_session
from tests.spark.tools import SOON, Gate, drop, pools, wait_until

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def _session() -> None:
    spark_session()  # that of the tests, before a sink starts one that is usual


class Killed:
    """Runs of a dataflow of which each is killed when it is told to: nothing of it is left but what is in `folder`."""

    def __init__(self, dataflow: Dataflow, folder: Path, every: float = 600.0) -> None:
        self.dataflow = dataflow
        self.kept: list[State] = []
        self._folder = folder
        self._every = every

    def run(self, then: Callable[[], None] | None = None, engine: str = "threads") -> None:
        """Run to the end, or until `then` has returned; go on from the last checkpoint that a run before has taken."""
        cancel = threading.Event()
        begun = self.kept[-1] if self.kept else None
        dataflow = self.dataflow
        keeping = Keeping(self.kept.append, self._every, begun, KeptFrames(self._folder))
        host = OnSpark(spark_session()) if engine == "spark" else HERE

        def whole() -> None:
            with host:
                Running(
                    dataflow,
                    dataflow.sources,
                    dataflow.sinks,
                    RunOptions(engine, keeping=keeping, control=Control(cancel=cancel), host=host),
                ).run(None, 6)

        if then is None:
            whole()
            return
        thread = threading.Thread(target=lambda: _until_cancelled(whole))
        thread.start()
        try:
            then()
        finally:
            cancel.set()
            thread.join()


def days_in(folder: Path) -> list[int]:
    return sorted(each["time"] for each in committed(spark_session(), folder))


def _until_cancelled(run: Callable[[], None]) -> None:
    with pytest.raises(Cancelled):
        run()


def test_files_that_came_one_after_the_other_do_so_again_after_a_kill(tmp_path: Path) -> None:
    """A row that was late is late again, though all files are there at once now: else it is lost, as its time is
    committed."""
    from pyspark.sql import functions

    spark_session()
    late: list[Any] = []
    source = FileSource(tmp_path / "in", functions.col("day"), end="_END", every=0.05, complete=lambda day: [day + 1])
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    out = tmp_path / "out"
    killed = Killed(
        Dataflow(graph, sources={"in": source}, sinks={"out": ParquetSink(out), "late": late}), tmp_path / "state"
    )
    drop(tmp_path / "in", "a.parquet", [(0, 1), (0, 2)], "day int, id int")

    def first() -> None:
        wait_until(lambda: len(committed(spark_session(), out)) == 1)
        drop(tmp_path / "in", "b.parquet", [(0, 3), (1, 4)], "day int, id int")
        wait_until(lambda: bool(late))

    killed.run(first)
    assert len(killed.kept) == 1  # the one with which it began
    late.clear()
    (tmp_path / "in" / "_END").touch()
    killed.run()
    assert [(day, [row.id for row in rows.collect()]) for day, rows in late] == [(0, [3])]
    assert sorted(row.id for row in read_committed(spark_session(), out).collect()) == [1, 2, 4]


def test_a_checkpoint_is_taken_while_long_jobs_run_and_has_what_they_were_given_by_the_names_of_its_files(
    tmp_path: Path,
) -> None:
    """All cores are taken by tasks that do not end: what is kept needs none, and does not wait for their end."""
    drop(tmp_path / "in", "0.parquet", [(0,)])
    gate = Gate(tmp_path / "gate")
    begun: list[int] = []
    is_long = True

    def job(day: int, tables: Any) -> Any:
        begun.append(day)
        rows = tables["in"]
        return gate.before(rows).localCheckpoint() if is_long and day else rows

    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    out = tmp_path / "out"
    source = FileSource(  # of given columns, which need no core to be found
        tmp_path / "in", schema="v int", complete=lambda day: [day + 1], end="_END", every=0.05
    )
    dataflow = Dataflow(graph, {"a": Stage(job, at_once=4)}, sources={"in": source}, sinks={"out": ParquetSink(out)})
    killed = Killed(dataflow, tmp_path / "state", every=0.5)

    def first() -> None:
        wait_until(lambda: days_in(out) == [0])
        for day in range(1, 5):
            drop(tmp_path / "in", f"{day}.parquet", [(day,)])
        wait_until(lambda: len(begun) == 5 and len(gate.begun()) == 2)
        count = len(killed.kept)
        drop(tmp_path / "in", "5.parquet", [(5,)])
        wait_until(lambda: len(killed.kept) > count)

    try:
        killed.run(first, "spark")
    finally:
        gate.let()
    assert days_in(out) == [0]  # no job has come to its end
    is_long = False
    (tmp_path / "in" / "_END").touch()
    killed.run(engine="spark")
    assert days_in(out) == [0, 1, 2, 3, 4, 5]
    assert sorted(begun[5:]) == [1, 2, 3, 4, 5]  # day 0 is over in the checkpoint
    assert not list((tmp_path / "state" / "frames").glob("*"))


def test_tables_that_wait_are_kept_by_the_first_core_that_is_free(tmp_path: Path) -> None:
    """Four jobs, each of one task, are on two cores when a checkpoint begins, and then one task ends. The tasks of the
    checkpoint begin before the third."""
    session = spark_session()
    gate = Gate(tmp_path / "gate")
    is_over = threading.Event()

    def job(day: int, tables: Any) -> None:
        gate.before(session.range(0, 1, 1, 1)).collect()

    def waiting() -> int:
        """How many jobs have tasks that run, or wait for a core."""
        return sum(pool.schedulableQueue().size() for pool in pools())

    def tables() -> Iterator[Any]:
        wait_until(lambda: waiting() == 4 and len(gate.begun()) == 2)
        yield Messages(9, [session.range(0, count, 1, 1) for count in (2_001, 2_002, 2_003)])  # more than a few rows
        is_over.wait(SOON)

    graph = Graph().node("a").edge(None, "a", "in").node("b").edge(None, "b", "tables").edge("b", None, "out")
    nodes = {"a": Stage(job, at_once=4), "b": Stage(lambda time, tables: tables["tables"])}
    sources: dict[str, Any] = {"in": [(day, 1) for day in range(4)], "tables": tables}
    killed = Killed(Dataflow(graph, nodes, sources=sources), tmp_path / "state", every=0.2)

    def tables_in(state: State) -> int:
        """How many wait for the node, or were taken by it, as it has them until their time is complete."""
        return sum(state.get(part, b"").count(b"fields") for part in ("queue b", "node b"))

    def kept() -> None:
        try:
            wait_until(lambda: waiting() == 4 + 3)
            first, second = gate.begun()
            gate.let(first)
            wait_until(lambda: any(tables_in(state) == 3 for state in killed.kept))
            assert len(list((tmp_path / "state" / "frames").glob("*/*.parquet"))) == 3
            wait_until(lambda: len(gate.begun()) == 3)
            assert gate.begun() == [first, second, second + 3 + 1]
        finally:
            is_over.set()
            gate.let()

    killed.run(kept, "spark")


def test_a_run_says_which_sinks_hold_what_is_complete(tmp_path: Path) -> None:
    """A node that takes messages as they come may do otherwise, and so may a generator; files of a folder do not."""

    class Own(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.send("of own", time, value)

    graph = Graph()
    for name in ("own", "stage", "made"):
        graph = graph.node(name).edge(None, name, f"to {name}").edge(name, None, f"of {name}")
    folder = FileSource(tmp_path)

    def held() -> Any:
        dataflow = Dataflow(
            graph,
            {"own": Own(), "stage": Stage(lambda time, tables: None)},
            sources={"to own": folder, "to stage": folder, "to made": lambda: iter(range(0))},
            sinks={name: ParquetSink(tmp_path / name) for name in ("of own", "of stage", "of made", "late")},
        )
        keeping = Keeping(lambda state: None, beside=KeptFrames(tmp_path / "state"))
        return Running(dataflow, dataflow.sources, dataflow.sinks, RunOptions("threads", keeping=keeping)).held

    assert held() == {
        "of own": "the node 'own' may do otherwise when it is run again",
        "of stage": None,
        "of made": "the source of 'to made' may bring something else when it is read again",
        "late": "it is a side output, and what several sources bring there has no order",
    }
    Own.replays_alike = True
    assert held()["of own"] is None


def test_what_is_held_leaves_with_the_next_checkpoint_and_once_whenever_the_run_is_killed(tmp_path: Path) -> None:
    """The node draws lots as it takes messages: a day that has left stays what it was, and both of its tables agree."""
    for day in range(3):
        drop(tmp_path / "in", f"{day}.parquet", [(day,)])

    class Draws(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            drawn = value.selectExpr("v", f"{random.randrange(10**9)} as lot")
            out.send("one", time, drawn)
            out.send("other", time, drawn)

    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "one").edge("a", None, "other")
    source = FileSource(tmp_path / "in", complete=lambda day: [day + 1], end="_END", every=0.05)
    sinks = {name: ParquetSink(tmp_path / name) for name in ("one", "other", "late")}
    dataflow = Dataflow(graph, {"a": Draws()}, sources={"in": source}, sinks=sinks)
    killed = Killed(dataflow, tmp_path / "state", every=0.3)

    def lots(name: str) -> list[Any]:
        if not committed(spark_session(), tmp_path / name):
            return []
        return sorted((row.v, row.lot) for row in read_committed(spark_session(), tmp_path / name).collect())

    killed.run(lambda: wait_until(lambda: len(days_in(tmp_path / "one")) > 0))
    before = lots("one")
    drop(tmp_path / "in", "0b.parquet", [(9,)])  # late
    (tmp_path / "in" / "_END").touch()
    killed.run()
    assert lots("one") == lots("other")
    assert set(before) <= set(lots("one"))
    assert [v for v, _ in lots("one")] == [0, 1, 2]
    assert [row.v for row in read_committed(spark_session(), tmp_path / "late").collect()] == [9]


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_what_has_no_time_is_set_aside_into_a_table_once(tmp_path: Path, engine: str) -> None:
    from pyspark.sql import functions

    spark_session()
    drop(tmp_path / "in", "a.parquet", [(0, 1), (None, 2)], "day int, id int")
    drop(tmp_path / "in", "b.parquet", [(1, 3), (None, 4)], "day int, id int")
    source = FileSource(tmp_path / "in", functions.col("day"), aside=ParquetSink(tmp_path / "aside"))
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    sinks = {"out": ParquetSink(tmp_path / "out")}
    killed = Killed(Dataflow(graph, sources={"in": source}, sinks=sinks), tmp_path / "state")
    killed.run(engine=engine)
    killed.kept = killed.kept[:1]  # the kill came at the end, before any checkpoint but the first
    assert sorted(row.id for row in read_committed(spark_session(), tmp_path / "aside").collect()) == [2, 4]


def test_a_program_that_is_kept_may_have_dataframes_on_every_engine(tmp_path: Path) -> None:
    class Keeps(Node):
        table: Any = None

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            self.table = value

    drop(tmp_path / "in", "0.parquet", [(7,)])
    flow = Dataflow(Graph().node("keeps").edge(None, "keeps", "in"), {"keeps": Keeps})
    for _ in range(2):  # the second one looks at what the first has kept
        nodes = flow.run(engine="threads", sources={"in": FileSource(tmp_path / "in")}, state=tmp_path / "state").nodes
        assert [row.v for row in nodes["keeps"].table.collect()] == [7]
