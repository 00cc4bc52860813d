"""Sources on Spark: rows by time, file drops and streams; what is wrong with them in one line; where they go on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.order import Finite, Nat, Product
from progress.runtime import Complete, Dataflow, Messages
from progress.runtime.control import Cancelled, Control
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.failure import DeadLetter
from progress.runtime.inputs.read_of import TIMES, ReadOf
from progress.runtime.on_spark.sources.files.source import FileSource
from progress.runtime.on_spark.sources.positions import in_order, still_to_come
from progress.runtime.on_spark.sources.rows import FrameSource
from progress.runtime.on_spark.sources.stream import StreamSource
from progress.runtime.on_spark.tables.kept_frames import KeptFrames
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from progress.runtime.source import Aside
from progress.runtime.stage import Stage
from tests.spark.spark import spark_session
from tests.spark.tools import drop

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def _session() -> None:
    spark_session()


def frame(rows: Sequence[Any], columns: str = "t int, v int") -> Any:
    return spark_session().createDataFrame(rows, columns)


def items(source: Any, domain: Any = None, engine: str = "threads") -> Iterator[Any]:
    found: Iterator[Any] = source.items_for(engine, "in", domain or Nat())
    return found


def shown(found: Iterator[Any], column: str = "v") -> list[Any]:
    """Items with the rows of their DataFrames instead of these."""
    return [
        (item.time if isinstance(item, Messages) else "aside", rows_in(item.values, column))
        if isinstance(item, Messages | Aside)
        else item
        for item in found
    ]


def rows_in(frames: Sequence[Any], column: str = "v") -> list[Any]:
    return sorted(row[column] for each in frames for row in each.collect())


def refused(found: Iterator[Any]) -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        list(found)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 450
    return caught.value


# --- rows ------------------------------------------------------------------------------------------------------------


def test_rows_of_a_time_are_a_message_and_complete_it() -> None:
    source = FrameSource(frame([(2, 20), (0, 1), (2, 21), (5, 50)]), "t")
    assert shown(items(source)) == [
        (0, [1]), Complete((2,)), (2, [20, 21]), Complete((5,)), (5, [50]), Complete(()),
    ]  # fmt: skip
    assert source.counts == {0: 1, 2: 2, 5: 1}


def test_times_of_a_partial_order_come_in_its_order_and_may_be_made_of_values() -> None:
    from pyspark.sql import functions

    rows = frame([(0, 1, 3), (1, 0, 4), (1, 1, 5), (0, 0, 6), (0, 1, 7)], "a int, b int, v int")
    source = FrameSource(rows, functions.struct("a", "b"))
    assert shown(items(source, Product([Nat(), Nat()]))) == [
        ((0, 0), [6]), Complete(((0, 1), (1, 0))),
        ((0, 1), [3, 7]), Complete(((1, 0),)),
        ((1, 0), [4]), Complete(((1, 1),)),
        ((1, 1), [5]), Complete(()),
    ]  # fmt: skip
    weeks = FrameSource(frame([(1, 10), (8, 80), (6, 60)]), "t", to=lambda day: day // 7)
    assert shown(items(weeks)) == [(0, [10, 60]), Complete((1,)), (1, [80]), Complete(())]
    days = FrameSource(frame([("tue", 2), ("mon", 1)], "t string, v int"), "t")
    assert [
        item[0] for item in shown(items(days, Finite(["mon", "tue"], [("mon", "tue")]))) if item[0] in ("mon", "tue")
    ] == [
        "mon",
        "tue",
    ]


def test_what_is_left_after_each_time_is_what_the_others_have_in_common() -> None:
    domain = Product([Nat(), Nat()])
    times = in_order(domain, [(1, 1), (0, 2), (2, 0), (0, 0)])
    for number, complete in enumerate(still_to_come(domain, times), 1):
        for place, time in enumerate(times):
            is_open = any(domain.less_equal(least, time) for least in complete.times)
            assert is_open == (place >= number) or any(domain.less_equal(later, time) for later in times[number:])
    assert still_to_come(domain, []) == [Complete(())]


def test_rows_without_a_time_are_refused_in_one_line_or_set_aside() -> None:
    rows = frame([(0, 1), (None, 2), (None, 3)])
    error = refused(items(FrameSource(rows, "t")))
    assert error.code == "PS771"
    assert "2 rows without a time, such as Row(t=None, v=2)" in error.message
    aside: list[Any] = []
    source = FrameSource(rows, "t", aside=aside)
    assert shown(items(source)) == [("aside", [2, 3]), (0, [1]), Complete(())]
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    (leaves,) = Dataflow(graph).run(sources={"in": source})["out"]
    assert (leaves[0], rows_in(leaves[1:])) == (0, [1])
    ((time, left),) = aside
    assert (time, rows_in([left])) == (None, [2, 3])


def test_times_of_another_type_are_refused_in_one_line_or_set_aside() -> None:
    rows = frame([("0", 1), ("x", 2), ("x", 3), (None, 4)], "t string, v int")
    error = refused(items(FrameSource(rows.where("t is not null"), "t")))
    assert error.code == "PS772"
    assert "3 rows at '" in error.message
    assert "such as Row(t=" in error.message
    numbers = FrameSource(rows, "t", to=lambda text: int(text) if text and text.isdecimal() else None, aside=[])
    assert shown(items(numbers)) == [("aside", [2, 3, 4]), (0, [1]), Complete(())]
    assert refused(items(FrameSource(rows, "day"))).code == "PS774"


def test_what_cannot_be_read_is_one_line_with_the_edge() -> None:
    import pandas  # type: ignore[import-untyped]

    broken = frame([(0, 1)]).selectExpr("raise_error('bad row') as t")
    error = refused(items(FrameSource(broken, "t")))
    assert (error.code, error.message) == (
        "PS774", "the source of 'in' cannot be read: [USER_RAISED_EXCEPTION] bad row",
    )  # fmt: skip
    maps = frame([(0, 1)]).selectExpr("map(t, v) as t")
    assert "'in' has times of the type map<int,int>" in refused(items(FrameSource(maps, "t"))).message
    for given, says in ((None, "is None"), (pandas.Series([1]), "is of the type pandas.Series"), (list, "list")):
        source: Any = FrameSource
        error = refused(items(source(given, "t")))
        assert error.code == "PS774"
        assert says in error.message


def test_an_empty_input_brings_nothing() -> None:
    assert list(items(FrameSource(frame([]), "t"))) == []
    assert list(items(FrameSource(lambda: frame([(1, 1)]).where("v > 1"), "t"))) == []
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    assert Dataflow(graph, {}).run(sources={"in": FrameSource(frame([]), "t")}, engine="threads") == {}


# --- files -----------------------------------------------------------------------------------------------------------


def test_files_that_are_there_are_messages_by_the_times_in_their_names(tmp_path: Path) -> None:
    drop(tmp_path, "day=1/b.parquet", [(3,)])
    drop(tmp_path, "day=0/a.parquet", [(1,)])
    drop(tmp_path, "day=0/b.parquet", [(2,)])
    drop(tmp_path, "day=0/_hidden", [(9,)])
    source = FileSource(tmp_path, r"day=(\d+)")
    assert shown(items(source)) == [(0, [1, 2]), Complete((1,)), (1, [3]), Complete(())]
    assert list(items(FileSource(tmp_path / "day=1", lambda name: 7)))[1:] == [Complete(())]


def test_a_watched_folder_is_read_as_files_and_markers_come(tmp_path: Path) -> None:
    drop(tmp_path, "day=0/a.parquet", [(1,)])
    source = FileSource(tmp_path, r"day=(\d+)", marker="_SUCCESS", end="_END", every=0.01)
    found = items(source)
    first = next(found)
    assert (first.time, first.values[0].collect()[0].v) == (0, 1)
    drop(tmp_path, "day=1/a.parquet", [(3,)])
    assert next(found).time == 1
    drop(tmp_path, "day=0/c.parquet", [(4,)])
    (tmp_path / "day=0" / "_SUCCESS").touch()
    assert next(found).time == 0
    assert next(found) == Complete((1,))
    (tmp_path / "_END").touch()
    assert list(found) == []


def test_a_rule_says_what_is_complete_and_later_files_are_late(tmp_path: Path) -> None:
    for day in (0, 2, 1):
        drop(tmp_path, f"{day}.parquet", [(day,)])
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    late: list[Any] = []
    source = FileSource(tmp_path, end="_END", every=0.01, complete=lambda day: [day])
    cancel = threading.Event()

    def seen(time: Any, value: Any) -> None:
        if time == 2:
            drop(tmp_path, "0b.parquet", [(7,)], "v int")
            (tmp_path / "_END").touch()

    Dataflow(graph, {}).run(sources={"in": source}, sinks={"out": seen, "late": late}, engine="threads", cancel=cancel)
    assert [(time, value.collect()[0].v) for time, value in late] == [(0, 7)]


def test_files_that_do_not_fit_are_refused_in_one_line(tmp_path: Path) -> None:
    drop(tmp_path, "0.parquet", [(1,)])
    drop(tmp_path, "1.parquet", [("x",)], "v string")
    error = refused(items(FileSource(tmp_path)))
    assert error.code == "PS773"
    assert "'1.parquet'" in error.message
    assert "'v' as string" in error.message
    (tmp_path / "1.parquet").write_bytes(b"nothing of the kind")
    assert refused(items(FileSource(tmp_path))).code == "PS774"
    (tmp_path / "1.parquet").rename(tmp_path / "one.parquet")
    assert refused(items(FileSource(tmp_path))).code == "PS772"
    assert refused(items(FileSource(tmp_path, lambda name: -1))).code == "PS772"
    assert refused(items(FileSource(tmp_path / "nowhere"))).code == "PS774"
    with pytest.raises(PointstampError, match="PS774"):
        FileSource(tmp_path, form="csv")


def test_files_of_text_have_the_columns_that_are_given(tmp_path: Path) -> None:
    (tmp_path / "3.json").write_text('{"v": 1}\n{"v": 2}\n', encoding="utf-8")
    assert shown(items(FileSource(tmp_path, form="json", schema="v int"))) == [(3, [1, 2]), Complete(())]


def test_a_name_is_no_pattern(tmp_path: Path) -> None:
    names = ["[ab]", "{c}", "*", "?", "\\x", " %20,#é", "a"]
    for number, name in enumerate(names):
        drop(tmp_path / "[more]", f"day={number}{name}.parquet", [(number,)])
    expected = [(number, [number]) for number in range(len(names))]
    assert shown(items(FileSource(tmp_path / "[more]")))[::2] == expected
    assert shown(items(FileSource(tmp_path / "[more]", lambda name: 0, schema="v int"))) == [
        (0, [*range(len(names))]), Complete(()),
    ]  # fmt: skip
    drop(tmp_path / "other", "1:2.parquet", [(1,)])
    error = refused(items(FileSource(tmp_path / "other")))
    assert (error.code, "'1:2.parquet' of 'in' has a colon" in error.message) == ("PS774", True)


def gone_on(source: FileSource, before: Any, folder: Path) -> Any:
    """The items of a process that goes on behind what has entered the one before, after a kill."""
    found = source.items_for("sim", "in", Nat())
    found.keep_beside(KeptFrames(folder / ".state"), "in")
    if before is not None:
        found.go_to(before.position)
    return found


def test_the_rule_of_a_time_that_has_entered_is_told_to_the_process_that_goes_on(tmp_path: Path) -> None:
    drop(tmp_path, "0.parquet", [(1,)])
    source = FileSource(tmp_path, live=True, complete=lambda day: [day + 1])
    first = gone_on(source, None, tmp_path)
    assert next(first).time == 0
    first.digested(1)  # the message, and the checkpoint comes before what completes its time
    again = gone_on(source, first, tmp_path)
    assert next(again) == Complete((1,))
    again.digested(1)
    assert repr(next(gone_on(source, again, tmp_path))) == "SILENT"


def test_times_may_stand_in_the_rows_of_files(tmp_path: Path) -> None:
    from pyspark.sql import functions

    drop(tmp_path, "a.parquet", [(3, 1), (0, 2)], "t int, v int")
    drop(tmp_path, "b.parquet", [(3, 3), (1, 4), (None, 5)], "t int, v int")
    source = FileSource(tmp_path, functions.col("t") * 2, to=lambda value: value // 2, aside=[])
    assert shown(items(source)) == [
        ("aside", [5]), (0, [2]), Complete((1,)), (1, [4]), Complete((3,)), (3, [1, 3]), Complete(()),
    ]  # fmt: skip
    assert source.counts == {0: 1, 1: 1, 3: 2}
    assert refused(items(FileSource(tmp_path, functions.col("t")))).code == "PS771"
    assert refused(items(FileSource(tmp_path, functions.col("day")))).code == "PS774"
    with pytest.raises(PointstampError, match="a marker has none"):
        FileSource(tmp_path, functions.col("t"), marker="_SUCCESS")


def test_files_of_which_only_some_times_have_entered_are_gone_on_with(tmp_path: Path) -> None:
    from pyspark.sql import functions

    drop(tmp_path, "a.parquet", [(0, 1), (1, 2), (2, 3)], "t int, v int")
    source = FileSource(tmp_path, functions.col("t"), live=True, complete=lambda day: [day])
    first = gone_on(source, None, tmp_path)
    assert [next(first)[0] for _ in range(3)] == [0, (0,), 1]
    first.digested(3)
    drop(tmp_path, "b.parquet", [(1, 9)], "t int, v int")
    drop(tmp_path, "c.parquet", [], "t int, v int")
    again = gone_on(source, first, tmp_path)
    assert shown(next(again) for _ in range(5)) == [Complete((1,)), (2, [3]), Complete((2,)), (1, [9]), Complete((1,))]
    again.digested(5)
    assert again.read_of == ReadOf(0, 4, TIMES, is_all=False, came=[(0, 1), (1, 1), (2, 1), (1, 1)])
    assert repr(next(gone_on(source, again, tmp_path))) == "SILENT"


@pytest.mark.parametrize(("form", "line"), [("json", '{"v": '), ("json", '{"v": "x"}'), ("csv", "x"), ("csv", "1,2")])
def test_a_line_that_is_none_ends_the_run_with_its_file(tmp_path: Path, form: str, line: str) -> None:
    good = '{"v": 1}' if form == "json" else "1"
    (tmp_path / f"3.{form}").write_text(f"{good}\n{line}\n", encoding="utf-8")
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")

    def run(**options: Any) -> Any:
        source = FileSource(tmp_path, form=form, schema="v int", **options)
        node = Stage(lambda time, tables: sorted((row.v or 0) for row in tables["in"].collect()))
        return Dataflow(graph, {"a": lambda: node}).run(sources={"in": source}, engine="threads")

    with pytest.raises(PointstampError) as caught:
        run()
    assert f"in file://{tmp_path}/3.{form}: " in caught.value.message
    assert len(caught.value.message.splitlines()) == 1
    assert run(options={"MODE": "DROPMALFORMED"})["out"][0][1][-1] == 1


# --- streams ---------------------------------------------------------------------------------------------------------


def stream(folder: Path) -> Any:
    return lambda: spark_session().readStream.schema("t int, v int").option("maxFilesPerTrigger", 1).json(str(folder))


def record(folder: Path, name: str, rows: Sequence[tuple[int | None, int]]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f'{{"t": {"null" if t is None else t}, "v": {v}}}\n' for t, v in rows]
    (folder / f".{name}").write_text("".join(lines), encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def test_a_stream_ends_with_what_was_there_and_goes_on_where_it_was(tmp_path: Path) -> None:
    record(tmp_path / "in", "a.json", [(0, 1), (1, 2)])
    source = StreamSource(stream(tmp_path / "in"), "t", tmp_path / "log", complete=lambda time: [time])
    first = source.items_for("threads", "in", Nat())
    assert shown(iter(first)) == [(0, [1]), Complete((0,)), (1, [2]), Complete((1,))]
    assert source.counts == {0: 2}
    first.digested(2)  # one message has entered the run
    record(tmp_path / "in", "b.json", [(1, 3)])
    again = source.items_for("threads", "in", Nat())
    again.go_to(first.position)
    assert shown(iter(again)) == [Complete((0,)), (1, [2]), Complete((1,)), (1, [3]), Complete((1,))]
    again.digested(5)
    last = source.items_for("threads", "in", Nat())
    last.go_to(again.position)
    assert shown(iter(last)) == [Complete((1,))]
    assert sorted(path.name for path in (tmp_path / "log" / "batches").glob("[0-9]*")) == ["1"]
    assert refused(iter(source.items_for("threads", "in", Nat()))).code == "PS774"  # batch 0 is gone


def test_the_times_of_a_batch_are_seen_while_it_is_written(tmp_path: Path) -> None:
    from pyspark.sql import functions

    record(tmp_path / "in", "a.json", [(0, 1), (1, 2), (1, 3), (None, 4)])
    when = functions.struct(functions.col("t").alias("day"), functions.timestamp_seconds("t").alias("at"))
    source = StreamSource(
        stream(tmp_path / "in"), when, tmp_path / "log",
        to=lambda time: None if time[1] is None else time[0] + time[1].second, aside=[],
    )  # fmt: skip
    jobs = spark_session().sparkContext.statusTracker()
    found = source.items_for("threads", "in", Nat())
    messages = [item for item in found if isinstance(item, Messages | Aside)]
    assert found._query is not None
    assert len(jobs.getJobIdsForGroup(str(found._query.runId))) == 1  # that which writes the batch
    assert shown(iter(messages)) == [("aside", [4]), (0, [1]), (2, [2, 3])]
    later = source.items_for("threads", "in", Nat())  # another process, which has not seen it written
    assert [item.time for item in later if isinstance(item, Messages)] == [0, 2]


def test_a_batch_that_comes_again_is_not_written_again(tmp_path: Path) -> None:
    record(tmp_path / "in", "a.json", [(0, 1)])
    source = StreamSource(stream(tmp_path / "in"), "t", tmp_path / "log")
    found = source.items_for("threads", "in", Nat())
    assert shown(iter(found)) == [(0, [1])]
    for committed in (tmp_path / "log" / "_stream" / "commits").iterdir():
        committed.unlink()  # killed before Spark had noted that the batch was done: it hands it over again
    found.write(frame([(0, 9)]), 0)
    again = source.items_for("threads", "in", Nat())
    assert shown(iter(again)) == [(0, [1])]


def test_a_live_stream_is_read_as_batches_come(tmp_path: Path) -> None:
    record(tmp_path / "in", "a.json", [(0, 1)])
    source = StreamSource(stream(tmp_path / "in"), "t", tmp_path / "log", live=True)
    found = source.items_for("threads", "in", Nat())
    assert next(found).time == 0
    record(tmp_path / "in", "b.json", [(4, 1)])
    assert next(found).time == 4
    found.stop()
    assert list(iter(found)) == []


def test_what_ends_a_stream_is_one_line(tmp_path: Path) -> None:
    from pyspark.sql import functions

    record(tmp_path / "in", "a.json", [(0, 0)])
    broken = functions.raise_error(functions.lit("no such road"))
    source = StreamSource(lambda: stream(tmp_path / "in")().withColumn("w", broken), "t", tmp_path / "log")
    assert refused(iter(source.items_for("threads", "in", Nat()))).code == "PS776"
    record(tmp_path / "in", "a.json", [(None, 0)])
    source = StreamSource(stream(tmp_path / "in"), "t", tmp_path / "other")
    assert refused(iter(source.items_for("threads", "in", Nat()))).code == "PS771"


# --- going on --------------------------------------------------------------------------------------------------------


def test_only_what_has_entered_the_run_is_passed_over(tmp_path: Path) -> None:
    for day in range(4):
        drop(tmp_path, f"{day}.parquet", [(day,)])
    source = FileSource(tmp_path)
    first = gone_on(source, None, tmp_path)
    list(first)
    first.digested(3)  # two messages and what completes the first
    drop(tmp_path, "1b.parquet", [(9,)])  # what is there at the first look is the input of the run
    again = gone_on(source, first, tmp_path)
    assert [item[0] for item in shown(again) if not isinstance(item, Complete)] == [2, 3]


def test_a_run_that_stopped_goes_on_behind_what_it_has_taken(tmp_path: Path) -> None:
    for day in range(4):
        drop(tmp_path / "in", f"{day}.parquet", [(day,)])
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    seen: list[int] = []
    cancel = threading.Event()

    def take(time: Any, value: Any) -> None:
        seen.append(value.collect()[0].v)
        if len(seen) == 2:
            cancel.set()

    dataflow = Dataflow(graph, {}, sources={"in": FileSource(tmp_path / "in")}, sinks={"out": take})
    kept: list[State] = []
    beside = KeptFrames(tmp_path / "state")
    keeping = Keeping(kept.append, 1.0, None, beside)
    running = Running(
        dataflow, dataflow.sources, dataflow.sinks, RunOptions("sim", keeping=keeping, control=Control(cancel=cancel))
    )
    with pytest.raises(Cancelled):
        running.run(None, 1)
    assert seen == [0, 1]
    keeping = Keeping(kept.append, 1.0, running.capture(), KeptFrames(tmp_path / "state"))
    Running(dataflow, dataflow.sources, dataflow.sinks, RunOptions("sim", keeping=keeping)).run(None, 1)
    assert seen == [0, 1, 2, 3]


def test_files_that_cannot_be_read_are_dead_letters_by_name_where_on_error_says_so(tmp_path: Path) -> None:
    """One is nothing of the kind, one is damaged within, one has other columns, one has no time: the rest is read."""
    folder = tmp_path / "in"
    for day in range(3):
        drop(folder, f"{day}.parquet", [(day,)])
    (folder / "1-none.parquet").write_bytes(b"nothing of the kind")
    drop(folder, "2-damaged.parquet", [(each,) for each in range(1_000)])
    content = bytearray((folder / "2-damaged.parquet").read_bytes())
    content[4:400] = bytes(396)
    (folder / "2-damaged.parquet").write_bytes(content)
    drop(folder, "2-other.parquet", [("x",)], "w string")
    drop(folder, "none.parquet", [(1,)])
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    dead: list[Any] = []

    def dataflow(on_error: Any) -> Dataflow:
        node = Stage(lambda time, tables: rows_in([tables["in"]]))
        sinks = {"dead-letters": dead} if on_error else {}
        return Dataflow(graph, {"a": node}, sources={"in": FileSource(folder)}, on_error=on_error, sinks=sinks)

    with pytest.raises(PointstampError):
        dataflow(None).run(engine="threads")
    assert sorted(dataflow({"in": DeadLetter()}).run(engine="threads")["out"]) == [(day, [day]) for day in range(3)]
    failures = [failure for _, failure in dead]
    assert sorted((failure.value, failure.code) for failure in failures) == [
        ("1-none.parquet", "PS774"), ("2-damaged.parquet", "PS774"), ("2-other.parquet", "PS773"),
        ("none.parquet", "PS772"),
    ]  # fmt: skip
    assert {failure.as_row()["at"] for failure in failures} == {"in"}
    (folder / "0b.json").write_text('{"v": 1}\n{"v": \n', encoding="utf-8")
    for path in folder.glob("*.parquet"):
        path.unlink()
    (folder / "0.json").write_text('{"v": 5}\n', encoding="utf-8")
    dead.clear()
    source = FileSource(folder, form="json", schema="v int")
    whole = Dataflow(graph, sources={"in": source}, on_error=DeadLetter(), sinks={"dead-letters": dead})
    ((_, rows),) = whole.run(engine="threads")["out"]
    assert rows_in([rows]) == [5]
    assert [failure.value for _, failure in dead] == ["0b.json"]


def test_rows_are_cut_by_their_times_in_one_pass_and_others_are_not_read(tmp_path: Path) -> None:
    """Once they are cut, the DataFrame itself is read no more: a run that goes on has them from the folder."""
    from pyspark.sql import functions

    broken = functions.raise_error(functions.lit("read again"))
    rows = [(f"2024-01-0{1 + each % 3}" if each % 7 else None, each) for each in range(40)]
    days = {name: [v for t, v in rows if t == name] for name in sorted({t for t, _ in rows if t})}
    whole = frame(rows, "t string, v int")
    made: list[Any] = [whole, whole.withColumn("v", functions.when(functions.col("v") > 100, 1).otherwise(broken))]
    source = FrameSource(
        lambda: made[0],
        functions.col("t"),
        to=lambda day: int(day[-1]) if day else None,
        aside=[],
        folder=tmp_path / "a",
    )
    expected = [days[name] for name in days]
    again = source.items_for("sim", "in", Nat())
    assert [rows_in(item.values) for item in again if isinstance(item, Messages)] == expected
    assert source.counts == {each: len(those) for each, those in enumerate(expected, 1)}
    made.reverse()
    last = source.items_for("sim", "in", Nat())
    last.go_to([])
    messages = [item for item in last if isinstance(item, Messages)]
    assert [rows_in(item.values) for item in messages] == expected
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "notes.txt").touch()
    assert refused(items(FrameSource(whole, "t", folder=tmp_path / "b"))).code == "PS774"
