"""Sinks on Spark write each time once, as a whole: Parquet with commits, Delta Lake; what waits survives a kill."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress.order import Int, Nat, Product
from progress.runtime import SILENT, Complete, Dataflow
from progress.runtime.control import Cancelled, Control
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.on_spark.folders import Folder
from progress.runtime.on_spark.sinks import parquet
from progress.runtime.on_spark.sinks.by_time import key_of
from progress.runtime.on_spark.sinks.delta import DeltaSink
from progress.runtime.on_spark.sinks.parquet import ParquetSink, committed
from progress.runtime.on_spark.tables import kept_frames
from progress.runtime.on_spark.tables.kept_frames import KeptFrames, NotComputed
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from progress.runtime.stage import Stage
from tests.spark.spark import spark_session
from tests.spark.tools import by_commits, frame, gone_on, read, refused, sink, whole_run

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def _session() -> None:
    spark_session()  # that of the tests, before a sink starts one that is usual


ROOT = Path(__file__).resolve().parents[2]


# --- Parquet ---------------------------------------------------------------------------------------------------------


def test_a_time_is_there_when_it_is_complete_and_not_before(tmp_path: Path) -> None:
    out = sink(tmp_path)
    out.write_all(0, [frame(1), frame(2, 3)])
    out.write_all(1, [frame(4)])
    assert not any(tmp_path.iterdir())
    out.complete((1,))
    out.settle()
    assert read(tmp_path) == [1, 2, 3]
    out.complete(())
    out.close()
    assert read(tmp_path) == [1, 2, 3, 4]
    assert [(each["time"], each["rows"]) for each in committed(spark_session(), tmp_path)] == [(0, 3), (1, 1)]
    assert sorted(row.v for row in spark_session().read.parquet(str(tmp_path)).collect()) == [1, 2, 3, 4]


def test_a_replayed_time_is_written_once_and_not_even_computed(tmp_path: Path) -> None:
    from pyspark.sql import functions

    out = sink(tmp_path)
    for values in ([frame(1), frame(2)], [frame(1, 2).where(functions.raise_error(functions.lit("again")).isNull())]):
        out = gone_on(out, tmp_path)
        out.write_all(0, values)
        out.complete(())
        out.close()
        assert read(tmp_path) == [1, 2]


@pytest.mark.parametrize("instant", range(6))
def test_a_kill_between_any_two_steps_leaves_a_whole_table(
    tmp_path: Path, instant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change of the file system is a step; what was not committed is written by the next run."""

    class Killed(BaseException):
        pass

    steps = 0

    def counted(call: Callable[..., None]) -> Callable[..., None]:
        def counts(*arguments: Any) -> None:
            nonlocal steps
            steps += 1
            if steps > instant:
                raise Killed
            call(*arguments)

        return counts

    out = sink(tmp_path)
    with monkeypatch.context() as patch:
        for name in ("move", "write", "delete", "make"):
            patch.setattr(Folder, name, counted(getattr(Folder, name)))
        out.write_all(0, [frame(1, 2)])
        out.complete(())
        try:
            out.close()
        except Killed:
            assert instant < 4
        else:
            assert steps == 4
    seen = read(tmp_path) if committed(spark_session(), tmp_path) else []
    assert seen in ([], [1, 2])
    again = gone_on(out, tmp_path)
    again.write_all(0, [frame(1, 2)])
    again.write_all(1, [frame(3)])
    again.complete(())
    again.close()
    assert read(tmp_path) == [1, 2, 3]
    assert not (tmp_path / parquet.ATTEMPTS).exists() or not any((tmp_path / parquet.ATTEMPTS).iterdir())


def test_times_of_a_partial_order_are_committed_each_under_a_name_of_its_own(tmp_path: Path) -> None:
    out = sink(tmp_path, Product([Nat(), Nat()]))
    for time in ((1, 0), (0, 1), (1, 1)):
        out.write_all(time, [frame(10 * time[0] + time[1])])
    out.complete(((1, 1), (2, 0)))
    out.settle()
    assert read(tmp_path) == [1, 10]
    out.complete(())
    out.close()
    assert sorted(each["time"] for each in committed(spark_session(), tmp_path)) == [[0, 1], [1, 0], [1, 1]]
    names = [key_of(time) for time in (0, -5, (1, 2), ("1", 2), ((1,), 2), "mon/tue", "mon tue", None)]
    assert len(set(names)) == len(names)
    assert all(set(name).isdisjoint("/\\ {}[]*?:%") for name in names)


def test_other_columns_are_refused_in_one_line(tmp_path: Path) -> None:
    out = sink(tmp_path)
    out.write_all(0, [frame(1), frame(2, column="w")])
    out.complete(())
    assert refused(out.close).code == "PS773"
    out = sink(tmp_path, mode="append")
    for time, column in ((0, "v"), (1, "w")):
        out = gone_on(out, tmp_path, "append")
        out.write_all(time, [frame(1, column=column)])
        out.complete(())
        if time:
            error = refused(out.close)
            assert error.code == "PS773"
            assert "at 1 has no column 'v'" in error.message
        else:
            out.close()
    assert read(tmp_path) == [1]


def test_a_time_without_rows_is_committed_as_well_and_rows_of_python_are_taken(tmp_path: Path) -> None:
    import pandas  # type: ignore[import-untyped]

    out = sink(tmp_path)
    out.write_all(0, [frame()])
    out.complete((1,))
    out.write_all(1, [{"v": 5}, {"v": 6}])
    out.complete((2,))
    assert refused(out.close).code == "PS773"  # a whole number of Python is a bigint
    out = gone_on(out, tmp_path)
    out.write_all(1, [pandas.DataFrame({"v": pandas.Series([5, 6], dtype="int32")})])
    out.complete(())
    out.close()
    assert read(tmp_path) == [5, 6]
    assert [each["rows"] for each in committed(spark_session(), tmp_path)] == [0, 2]


def test_what_is_no_table_of_commits_is_refused_in_one_line(tmp_path: Path) -> None:
    assert refused(lambda: read(tmp_path)).code == "PS777"
    (tmp_path / "_commits").mkdir()
    (tmp_path / "_commits" / "0.json").write_text('{"time": 0', encoding="utf-8")
    assert refused(lambda: read(tmp_path)).code == "PS777"


def test_what_cannot_be_written_is_one_line_with_edge_and_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    one = frame(1)
    for folder, rows, says in (
        ("a", one.selectExpr("raise_error('too much') as v"), "[USER_RAISED_EXCEPTION] too much"),
        ("b", one.selectExpr("v", "v"), "[COLUMN_ALREADY_EXISTS]"),
        ("c", one.selectExpr("make_interval(v) as v"), "[UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE]"),
        ("file", one, "Not a directory"),
        ("../../../../../../proc/nope", one, "No such file or directory"),
    ):
        out = sink(tmp_path / folder)
        out.write_all(7, [rows])
        out.complete(())
        error = refused(out.close)
        assert error.code == "PS778"
        assert error.message.startswith("what leaves at 'out'")
        assert "at 7 cannot be written: " in error.message or folder not in "abc"
        assert says in error.message


@pytest.mark.parametrize("make", [ParquetSink, DeltaSink])
def test_two_edges_that_would_take_each_others_times_for_their_own_are_refused(make: Any, tmp_path: Path) -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "x").edge("a", None, "y")
    sinks = {"x": make(tmp_path / "table"), "y": make(f"{tmp_path}/other/../table")}
    error = refused(lambda: Dataflow(graph).run(sources={"in": [(0, frame(1))]}, sinks=sinks))
    assert error.code == "PS779"
    assert f"'x' and 'y' both write to the {'folder' if make is ParquetSink else 'table'} {tmp_path}" in error.message
    assert not (tmp_path / "table").exists()


def test_a_run_that_has_ended_leaves_nothing_unwritten_where_no_frontier_says_so(tmp_path: Path) -> None:
    failed, ended = sink(tmp_path / "failed"), sink(tmp_path / "ended")
    for out in (failed, ended):
        out.write_all(0, [frame(1)])
    ended.ended()
    for out in (failed, ended):
        out.close()
    assert read(tmp_path / "ended") == [1]
    assert not (tmp_path / "failed").exists()


# --- what was there before -------------------------------------------------------------------------------------------


def test_a_second_run_is_refused_or_does_what_its_mode_says_and_drops_nothing_silently(tmp_path: Path) -> None:
    first = whole_run(tmp_path, "error", (0, 1), (1, 2))
    error = refused(lambda: whole_run(tmp_path, "error", (1, 3), (2, 4)))
    assert error.code == "PS780"
    assert error.message.endswith("holds 2 times of another run")
    assert by_commits(tmp_path) == [1, 2]
    assert whole_run(tmp_path, "error", (1, 9), (2, 4), run=first.snapshot()[0]).already == 0  # 1 is its own
    assert by_commits(tmp_path) == [1, 2, 4]
    assert whole_run(tmp_path, "ignore", (1, 9), (3, 5)).already == 1
    assert by_commits(tmp_path) == [1, 2, 4, 5]
    second = whole_run(tmp_path, "append", (1, 6), (4, 7))
    assert second.already == 1
    assert by_commits(tmp_path) == [1, 2, 4, 5, 6, 7]
    assert sorted(row.v for row in spark_session().read.parquet(str(tmp_path)).collect()) == [1, 2, 4, 5, 6, 7]
    assert whole_run(tmp_path, "append", (1, 6), (5, 8), run=second.snapshot()[0]).already == 0
    assert by_commits(tmp_path) == [1, 2, 4, 5, 6, 7, 8]
    assert whole_run(tmp_path, "overwritePartitions", (1, 10), (9, 11)).already == 1
    assert by_commits(tmp_path) == [1, 4, 5, 7, 8, 10, 11]
    last = whole_run(tmp_path, "overwrite", (1, 20), (2, 21))
    assert by_commits(tmp_path) == [20, 21]
    whole_run(tmp_path, "overwrite", (2, 99), (3, 22), run=last.snapshot()[0])
    assert by_commits(tmp_path) == [20, 21, 22]
    assert sorted(path.name for path in tmp_path.glob("time=*")) == ["time=1", "time=2", "time=3"]
    for wrong in ("replace", None, "Append"):
        assert refused(lambda wrong=wrong: ParquetSink(tmp_path, wrong)).code == "PS780"  # type: ignore[misc]


@pytest.mark.parametrize("mode", ["overwrite", "overwritePartitions"])
def test_a_kill_while_what_was_there_gives_way_leaves_the_one_or_the_other(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    whole_run(tmp_path / "before", "error", (0, 1), (1, 2))
    instant = 0
    while True:
        place = tmp_path / str(instant)
        shutil.copytree(tmp_path / "before", place)
        out = sink(place, mode=mode)
        steps = 0

        def counted(call: Callable[..., None]) -> Callable[..., None]:
            def counts(*arguments: Any) -> None:
                nonlocal steps
                steps += 1
                if steps > instant:  # noqa: B023 - called before the next one
                    raise Killed
                call(*arguments)

            return counts

        is_killed = False
        with monkeypatch.context() as patch:
            for name in ("move", "write", "delete", "make"):
                patch.setattr(Folder, name, counted(getattr(Folder, name)))
            try:
                out.is_new()
                out.write_all(1, [frame(3)])
                out.complete(())
                out.close()
            except Killed:
                is_killed = True
        after = [3] if mode == "overwrite" else [1, 3]
        assert by_commits(place) in ([1, 2], after)
        again = gone_on(out, place, mode)
        again.write_all(1, [frame(3)])
        again.complete(())
        again.close()
        assert by_commits(place) == after
        if not is_killed:
            break
        instant += 1
    assert instant > 5


def test_a_folder_with_files_of_somebody_else_is_refused(tmp_path: Path) -> None:
    for number, name in enumerate(("part-0.parquet", "_SUCCESS", "time=3", "notes.txt")):
        place = tmp_path / str(number)
        (place / name).mkdir(parents=True)
        for mode in ("error", "append", "overwrite"):
            error = refused(sink(place, mode=mode).is_new)
            assert (error.code, name in error.message) == ("PS780", True)
        assert [path.name for path in place.iterdir()] == [name]


def test_several_writers_write_each_time_once(tmp_path: Path) -> None:
    out = sink(tmp_path, writers=4)
    for time in range(12):
        out.write_all(time, [frame(time)])
    out.complete(())
    out.settle()
    out.close()
    assert read(tmp_path) == [*range(12)]
    assert sorted(each["time"] for each in committed(spark_session(), tmp_path)) == [*range(12)]


# --- what is held until a checkpoint covers it -----------------------------------------------------------------------


def test_what_may_come_out_otherwise_leaves_when_a_checkpoint_covers_it_and_as_that_has_it(tmp_path: Path) -> None:
    beside = KeptFrames(tmp_path / "state")
    out = sink(tmp_path / "out")
    out.hold(beside.as_kept)
    out.is_new()
    chance = frame(1).selectExpr("cast(rand() * 1000000000 as int) as v")
    out.write_all(0, [chance])
    out.write_all(1, [frame(5)])
    out.complete((1,))
    out.settle()
    assert not committed(spark_session(), tmp_path / "out")
    beside.begin()
    state = out.snapshot()
    (number, columns) = beside.write(state[3][0][0])
    beside.finish()
    out.complete((2,))  # after it was taken
    beside.settle()
    out.kept()
    out.close()
    kept = [row.v for row in beside.read((number, columns)).collect()]
    assert read(tmp_path / "out") == kept
    again = sink(tmp_path / "out")
    again.hold(beside.as_kept)
    again.restore((*state[:3], {0: [chance], 1: [frame(5)]}))
    again.close()
    assert read(tmp_path / "out") == kept  # not another draw


def test_what_is_late_goes_to_a_table_as_well(tmp_path: Path) -> None:
    """A side output has no frontier: what came is a commit when it comes, or with the next checkpoint."""
    late = ParquetSink(tmp_path / "late").sink_for("late")
    late.write_all(3, [frame(1)])
    late.write_all(0, [frame(2), frame(3)])
    late.close()
    assert [each["rows"] for each in committed(spark_session(), tmp_path / "late")] == [1, 2]
    held = ParquetSink(tmp_path / "held").sink_for("late")
    held.hold(lambda value: value)
    held.is_new()
    held.write_all(3, [frame(1)])
    held.write_all(0, [frame(2)])
    held.snapshot()
    held.write_all(0, [frame(3)])
    held.kept()
    held.close()
    assert read(tmp_path / "held") == [1, 2]
    again = ParquetSink(tmp_path / "held").sink_for("late")
    again.hold(lambda value: value)
    again.restore((held.snapshot()[0], None, 1, {0: [frame(1), frame(2)]}))  # the kill came before the checkpoint
    again.write_all(0, [frame(3)])
    again.snapshot()
    again.kept()
    again.close()
    assert read(tmp_path / "held") == [1, 2, 3]


# --- in a run --------------------------------------------------------------------------------------------------------


def test_a_run_writes_while_it_goes_on(tmp_path: Path) -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    first = threading.Event()

    def numbers() -> Any:
        yield 0, frame(1)
        yield Complete((1,))
        while not committed(spark_session(), tmp_path):  # the source waits for what it has brought
            first.wait(0.05)
        yield 1, frame(2)

    Dataflow(graph, {}).run(sources={"in": numbers}, sinks={"out": ParquetSink(tmp_path)}, engine="threads")
    assert read(tmp_path) == [1, 2]


@pytest.mark.parametrize("waits_in", ["the sink", "the node"])
def test_dataframes_that_wait_are_kept_and_written_once(tmp_path: Path, waits_in: str) -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    cancel = threading.Event()
    begun: State | None = None

    def numbers() -> Iterator[Any]:
        yield from [(0, frame(0)), Complete((1,)), (1, frame(1)), (1, frame(2)), (2, frame(3))]
        if begun is None:
            cancel.set()
        yield SILENT
        yield Complete((2,))
        yield 2, frame(4)

    nodes = {} if waits_in == "the sink" else {"a": Stage(lambda time, tables: tables["in"])}
    dataflow = Dataflow(graph, nodes, sources={"in": numbers}, sinks={"out": ParquetSink(tmp_path / "out")})
    for _ in range(2):
        keeping = Keeping(lambda state: None, 9.0, begun, KeptFrames(tmp_path / "state"))
        control = Control(cancel=cancel if begun is None else None)
        running = Running(
            dataflow, dataflow.sources, dataflow.sinks, RunOptions("sim", keeping=keeping, control=control)
        )
        try:
            running.run(None, 1)
        except Cancelled:
            begun = running.capture()
            assert [each["time"] for each in committed(spark_session(), tmp_path / "out")] in ([], [0])
            assert len(list((tmp_path / "state" / "frames").iterdir())) >= 3
    assert read(tmp_path / "out") == [0, 1, 2, 3, 4]


def test_a_table_that_is_kept_until_it_has_left_is_there_when_it_is_written(tmp_path: Path) -> None:
    """The sink writes a time after the frontier has passed it, which is when the table is let go."""

    class Kept(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Any) -> None:
            out.send("out", time, out.keep(tables["in"], until=time, at="out"))

    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    dataflow = Dataflow(graph, {"a": Kept()}, sinks={"out": ParquetSink(tmp_path)})
    items = [item for time in range(6) for item in ((time, frame(time)), Complete((time + 1,)))]
    dataflow.run(sources={"in": items}, engine="spark", session=spark_session())
    assert read(tmp_path) == [*range(6)]


def test_what_cannot_be_computed_for_a_checkpoint_is_one_line(tmp_path: Path) -> None:
    beside = KeptFrames(tmp_path)
    beside.write(frame(1).selectExpr("raise_error('too much') as v"))
    with pytest.raises(NotComputed) as caught:
        beside.finish()
    assert str(caught.value) == "[USER_RAISED_EXCEPTION] too much"
    beside.stop()
    with pytest.raises(NotComputed, match="the run was stopped"):
        beside.write(frame(1))


def test_no_checkpoint_has_what_was_cut_short_whatever_has_cut_it_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the JVM is killed while a checkpoint is taken: to a reader, half a table would be one without rows."""
    beside = KeptFrames(tmp_path)

    def gone(rows: Any) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(kept_frames, "few_rows_of", gone)
        beside.begin()
        names = [beside.write(rows) for rows in (frame(1), frame(2))]
        with pytest.raises(ConnectionRefusedError):
            beside.finish()
    rows = frame(3)
    beside.begin()
    assert beside.write(rows)[0] > max(number for number, _ in names)
    beside.finish()
    with monkeypatch.context() as patch:  # the thread does not even begin
        patch.setattr(threading.Thread, "run", gone)
        beside.write(frame(4))
        with pytest.raises(ConnectionRefusedError):
            beside.finish()


def test_what_waits_is_in_the_checkpoint_and_what_is_in_none_is_removed(tmp_path: Path) -> None:
    beside = KeptFrames(tmp_path / "state")
    rows, others = frame(1, 2), frame(3)
    beside.begin()
    names = [beside.write(rows), beside.write(others), beside.write(rows)]
    beside.finish()
    assert names[0] == names[2] != names[1]
    beside.settle()
    beside.begin()
    beside.write(rows)
    beside.settle()
    there = tmp_path / "state" / "frames"
    assert [path.name for path in there.iterdir()] == [str(names[0][0])]
    again = KeptFrames(tmp_path / "state")
    found = again.read(names[0])
    again.settle()
    again.begin()
    assert again.write(found) == names[0]
    assert again.write(others)[0] > names[0][0]
    again.finish()
    again.begin()
    again.settle()  # what this process was started from stays, since plans may read it
    assert sorted(row.v for row in found.collect()) == [1, 2]


# --- Delta Lake ------------------------------------------------------------------------------------------------------


def test_a_session_without_delta_lake_is_refused_in_one_line(tmp_path: Path) -> None:
    out = DeltaSink(tmp_path).sink_for("out")
    out.begins(Int())
    out.write_all(-3, [frame(1)])
    out.complete(())
    assert refused(out.close).code == "PS754"
