"""Files as sources and sinks without Spark: the same rows and times as with it (tests/spark/test_sources.py)."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas  # type: ignore[import-untyped]
import pyarrow  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from graphs import Graph
from progress import PointstampError
from progress.order import Nat
from progress.runtime import Complete, Dataflow, DeadLetter, Messages, Stage
from progress.runtime.inputs.read_of import FILES, TIMES, ReadOf
from progress.runtime.on_spark import FileSource, FrameSource, ParquetSink, read_committed
from progress.runtime.on_spark.tables.arrow import Columns, arrow_of, pandas_of
from progress.runtime.on_spark.tables.kept_frames import KeptFrames
from progress.runtime.tables import Tables, rows_of
from tests.runtime.tools import GUARD
from tests.spark.spark import spark_session

ROOT = Path(__file__).resolve().parents[2]

DAY = datetime.date(2024, 1, 31)
ROWS: list[dict[str, Any]] = [
    {"day": 1, "shop": "market", "amount": 3, "price": Decimal("1.50"), "on": DAY, "tags": ["a", "b"]},
    {"day": 0, "shop": "harbour", "amount": None, "price": None, "on": None, "tags": []},
    {"day": 1, "shop": None, "amount": 5, "price": Decimal("2.00"), "on": DAY, "tags": None},
]
KINDS = {
    "day": pyarrow.int32(),
    "shop": pyarrow.string(),
    "amount": pyarrow.int64(),
    "price": pyarrow.decimal128(9, 2),
    "on": pyarrow.date32(),
    "tags": pyarrow.list_(pyarrow.string()),
}

PIPELINE = """
from pathlib import Path

from graphs import Graph
from progress.runtime import Dataflow, Stage
from progress.runtime.on_spark import FileSource, ParquetSink

FOLDER = Path(__file__).parent


def seen(day, tables):
    with open(FOLDER / "seen", "a") as file:
        file.write(f"{day} {type(tables['sales']).__module__.partition('.')[0]} {len(tables['sales'].columns)}\\n")
    return tables["sales"]


graph = Graph().node("day").edge(None, "day", "sales").edge("day", None, "all").edge("day", None, "again")
dataflow = Dataflow(
    graph,
    {"day": Stage(seen)},
    sources={"sales": FileSource(FOLDER / "in", column="day")},
    sinks={"all": ParquetSink(FOLDER / "all", writers=2), "again": ParquetSink(FOLDER / "again")},
)
"""


@pytest.fixture(autouse=True)
def _no_session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has no session of Spark; other tests may have started one in this one."""
    if request.node.get_closest_marker("spark") is None:
        monkeypatch.setattr("progress.runtime.on_spark.session.active_session", lambda: None)


def write(folder: Path, rows: Any, name: str = "a.parquet") -> None:
    folder.mkdir(exist_ok=True, parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(KINDS)), folder / name)


def run(source: Any, sink: Any = None, engine: str = "threads") -> dict[Any, list[dict[str, Any]]]:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    dataflow = Dataflow(graph, {"a": Stage(lambda time, tables: tables["in"])})
    sinks = {} if sink is None else {"out": sink}
    results = dataflow.run(engine=engine, sources={"in": source}, sinks=sinks, timeout=GUARD)
    return {time: rows_of(table) for time, table in results.get("out", ())}


def in_json(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.spark
@pytest.mark.slow
def test_one_file_gives_the_same_with_spark_and_without(tmp_path: Path) -> None:
    """Two sinks at once, by the command, in a process that must not start Spark; and what Spark reads of them."""
    found = {}
    for engine, library in (("threads", "pandas"), ("spark", "pyspark")):
        folder = tmp_path / engine
        write(folder / "in", ROWS)
        (folder / "pipe.py").write_text(PIPELINE, encoding="utf-8")
        java = {"JAVA_HOME": "/nowhere"} if engine == "threads" else {}
        done = subprocess.run(
            [sys.executable, "-m", "graphs", "run", "pipe.py", "--engine", engine],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **java},
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * GUARD,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted((folder / "seen").read_text().splitlines()) == [f"0 {library} 6", f"1 {library} 6"]
        frames = {name: read_committed(spark_session(), folder / name) for name in ("all", "again")}
        found[engine] = {name: in_json(rows_of(frame)) for name, frame in frames.items()}
        log = folder / "all" / "_commits"
        assert sorted(json.loads(path.read_text())["rows"] for path in log.glob("*.json")) == [1, 2]
    whole = [{**row, "price": None if row["price"] is None else f"{row['price']:.2f}"} for row in ROWS]
    wanted = in_json([{**row, "on": None if row["on"] is None else row["on"].isoformat()} for row in whole])
    assert found["spark"] == {"all": wanted, "again": wanted}
    plain = {
        name: sorted(text.replace("0000000000000000", "") for text in rows) for name, rows in found["threads"].items()
    }
    assert plain == found["spark"]


@pytest.mark.parametrize("engine", ["threads", "sim", "asyncio"])
def test_times_stand_in_rows_or_in_names(engine: str, tmp_path: Path) -> None:
    write(tmp_path / "rows", ROWS)
    found = run(FileSource(tmp_path / "rows", column="day", to=lambda day: 10 * day), engine=engine)
    assert {time: [row["shop"] for row in rows] for time, rows in found.items()} == {
        0: ["harbour"],
        10: ["market", None],
    }
    write(tmp_path / "names" / "day=4", ROWS[:1])
    write(tmp_path / "names" / "day=2", ROWS[1:])
    found = run(FileSource(tmp_path / "names", r"day=(\d+)"), engine=engine)
    assert {time: len(rows) for time, rows in found.items()} == {2: 2, 4: 1}


@pytest.mark.parametrize(
    ("form", "text", "options"),
    [
        ("csv", "0,a\n1,\n", {}),
        ("csv", "n;name\n0;a\n1;\n", {"header": True, "sep": ";"}),
        ("json", '{"n": 0, "name": "a"}\n{"n": 1}\n', {}),
    ],
)
def test_forms_that_say_no_columns(form: str, text: str, options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "part").write_text(text, encoding="utf-8")
    source = FileSource(tmp_path, column="n", form=form, schema="n bigint, name string", options=options)
    assert run(source) == {0: [{"n": 0, "name": "a"}], 1: [{"n": 1, "name": None}]}


@pytest.mark.parametrize(
    ("change", "options", "code", "says"),
    [
        (
            {"day": None},
            {},
            "PS771",
            "the source of 'in' has 1 row without a time, such as {'day': None, 'shop': 'market'",
        ),
        ({"day": -7}, {}, "PS772", "the source of 'in' has 1 row at -7 and the like, such as {'day': -7"),
        ({}, {"column": "when"}, "PS774", "the source of 'in' has no column 'when'"),
        ({}, {"form": "avro"}, "PS774", "files of avro are not read without Spark"),
        (
            {},
            {"options": {"mergeSchema": True}},
            "PS774",
            "the option mergeSchema=True of Spark's reader means nothing",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_as_with_spark(
    change: dict[str, Any], options: dict[str, Any], code: str, says: str, tmp_path: Path
) -> None:
    write(tmp_path, [{**ROWS[0], **change}])
    with pytest.raises(PointstampError) as caught:
        run(FileSource(tmp_path, **{"column": "day", **options}))
    assert f"{code}: " in str(caught.value)
    assert says in str(caught.value)


def test_a_file_that_is_none_and_other_columns_are_named(tmp_path: Path) -> None:
    write(tmp_path / "a", ROWS)
    (tmp_path / "a" / "b.parquet").write_bytes(b"no such thing")
    with pytest.raises(PointstampError, match=r"PS774: the file 'b.parquet' of 'in' cannot be read"):
        run(FileSource(tmp_path / "a", column="day"))
    write(tmp_path / "b", ROWS)
    parquet.write_table(pyarrow.table({"day": [1], "shop": [2]}), tmp_path / "b" / "b.parquet")
    with pytest.raises(
        PointstampError, match=r"PS773: the file 'b.parquet' of 'in' has 'day' as bigint \('day' as int"
    ):
        run(FileSource(tmp_path / "b", column="day"))


def test_rows_without_a_time_go_aside(tmp_path: Path) -> None:
    write(tmp_path, [*ROWS, {**ROWS[0], "day": None}])
    aside: list[Any] = []
    assert sorted(run(FileSource(tmp_path, column="day", aside=aside))) == [0, 1]
    assert [row["shop"] for _, table in aside for row in rows_of(table)] == ["market"]


def test_a_time_is_written_once_and_other_runs_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "in", ROWS)
    assert run(FileSource(tmp_path / "in", column="day"), ParquetSink(tmp_path / "out")) == {}
    with pytest.raises(PointstampError, match="PS780"):
        run(FileSource(tmp_path / "in", column="day"), ParquetSink(tmp_path / "out"))
    run(FileSource(tmp_path / "in", column="day"), ParquetSink(tmp_path / "out", mode="append"))
    files = list((tmp_path / "out").glob("time=*/*.parquet"))
    assert sum(parquet.ParquetFile(part).metadata.num_rows for part in files) == 6


def test_an_empty_table_is_written_with_its_columns(tmp_path: Path) -> None:
    empty = pandas.DataFrame({"shop": pandas.Series([], dtype="object"), "amount": pandas.Series([], dtype="int64")})
    run([(0, empty)], ParquetSink(tmp_path))
    (part,) = tmp_path.glob("time=0/*.parquet")
    read = parquet.ParquetFile(part).read()
    assert (read.num_rows, read.schema.names) == (0, ["shop", "amount"])
    assert read.schema.field("shop").type == pyarrow.string()
    columns = "on date, at timestamp, price decimal(9,2), tags array<string>"
    made = Tables().make([], columns)
    types = {field.name: str(field.type) for field in arrow_of(made).schema}
    assert types == {
        "on": "date32[day]",
        "at": "timestamp[us, tz=UTC]",
        "price": "decimal128(38, 18)",
        "tags": "string",
    }


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    dataflow = Dataflow(graph, {"a": lambda value: value})
    with pytest.raises(PointstampError, match=r"PS773: what leaves at 'out' has 3: a int is not a table"):
        dataflow.run(engine="threads", sources={"in": [(0, 3)]}, sinks={"out": ParquetSink(tmp_path)}, timeout=GUARD)


def test_tables_go_to_arrow_and_back() -> None:
    table = pyarrow.Table.from_pylist(ROWS, pyarrow.schema(KINDS))
    there = pandas_of(table)
    assert str(there["amount"].dtype) == "Int64"
    assert there["on"][0] == DAY
    back = arrow_of(there)
    assert back.column("tags").to_pylist() == [["a", "b"], [], None]
    assert Columns.from_json(Columns.of(table.schema).json()).fields == Columns.of(table.schema).fields


def test_files_that_cannot_be_read_are_dead_letters_by_name_without_spark_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("progress.runtime.on_spark.session.active_session", lambda: None)
    for day in range(2):
        parquet.write_table(pyarrow.table({"v": [day]}), tmp_path / f"{day}.parquet")
    (tmp_path / "1-none.parquet").write_bytes(b"nothing of the kind")
    parquet.write_table(pyarrow.table({"w": ["x"]}), tmp_path / "1-other.parquet")
    parquet.write_table(pyarrow.table({"v": [1]}), tmp_path / "none.parquet")
    dead: list[Any] = []
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    dataflow = Dataflow(
        graph, sources={"in": FileSource(tmp_path)}, on_error=DeadLetter(), sinks={"dead-letters": dead}
    )
    results = dataflow.run(engine="threads")["out"]
    assert sorted((day, table["v"].to_list()) for day, table in results) == [(0, [0]), (1, [1])]
    assert sorted((failure.value, failure.code) for _, failure in dead) == [
        ("1-none.parquet", "PS774"), ("1-other.parquet", "PS773"), ("none.parquet", "PS772"),
    ]  # fmt: skip


def test_a_source_says_how_many_files_or_times_it_has_found_and_which_have_entered_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits on its way has not entered; what a process before had taken has."""
    monkeypatch.setattr("progress.runtime.on_spark.session.active_session", lambda: None)
    for name in ("0-a", "0-b", "1"):
        parquet.write_table(pyarrow.table({"v": [1, 7]}), tmp_path / f"{name}.parquet")
    (tmp_path / "2.parquet").write_bytes(b"nothing of the kind")
    state = KeptFrames(tmp_path / ".state")
    source = FileSource(tmp_path, live=True)
    items: Any = source.items_for("sim", "in", Nat())
    items.sets_apart = True
    items.keep_beside(state, "in")
    assert items.read_of is None  # nobody has looked
    next(items)
    assert items.read_of == ReadOf(1, 4, FILES, is_all=False, came=[])  # one is a dead letter, none has entered
    next(items)
    next(items)
    items.digested(2)
    assert items.read_of == ReadOf(1, 4, FILES, is_all=False, came=[(0, 2)])
    again: Any = source.items_for("sim", "in", Nat())
    again.sets_apart = True
    again.keep_beside(state, "in")
    again.go_to(items.position)
    next(again)
    assert again.read_of == ReadOf(1, 4, FILES, is_all=False, came=[(0, 2)])
    again.digested(1)
    assert again.read_of == ReadOf(1, 4, FILES, is_all=False, came=[(0, 2), (1, 1)])
    parquet.write_table(pyarrow.table({"v": [1]}), tmp_path / "3.parquet")
    next(again)
    third: Any = source.items_for("sim", "in", Nat())
    third.keep_beside(state, "in")
    third.go_to(again.position)
    assert next(third).time == 3
    assert third.read_of == ReadOf(1, 5, FILES, is_all=False, came=[(0, 2), (1, 1)])
    (tmp_path / "2.parquet").unlink()
    rows: Any = FileSource(tmp_path, column="v").items_for("sim", "in", Nat())
    while next(rows).__class__ is not Messages:
        pass
    rows.digested(1)
    assert rows.read_of == ReadOf(0, 2, TIMES, is_all=True, came=[(1, 1)])


# --- a DataFrame as a source -----------------------------------------------------------------------------------------


def in_pandas() -> Any:
    return pandas_of(pyarrow.Table.from_pylist(ROWS, pyarrow.schema(KINDS)))


@pytest.mark.parametrize("engine", ["threads", "sim", "asyncio"])
@pytest.mark.parametrize("given", ["pandas", "arrow", "function"])
def test_a_dataframe_of_pandas_is_a_source_without_spark(engine: str, given: str) -> None:
    frame: Any = in_pandas()
    if given == "arrow":
        frame = pyarrow.Table.from_pylist(ROWS, pyarrow.schema(KINDS))
    source = FrameSource(in_pandas if given == "function" else frame, "day", to=lambda day: 10 * day)
    found = run(source, engine=engine)
    assert {time: [row["shop"] for row in rows] for time, rows in found.items()} == {
        0: ["harbour"],
        10: ["market", None],
    }
    assert source.counts == {0: 1, 10: 2}


def test_items_of_a_dataframe_of_pandas_come_in_order_and_complete_their_times() -> None:
    days = pandas.DataFrame({"day": [2, 0, 2, None], "v": [20, 1, 21, 9]}, dtype="Int64")
    aside: list[Any] = []
    items = list(FrameSource(days, "day", aside=aside).items_for("threads", "in", Nat()))
    shown = [[each["v"].to_list() for each in item.values] if hasattr(item, "values") else item for item in items]
    assert shown == [[[9]], [[1]], Complete((2,)), [[20, 21]], Complete(())]
    assert [item.time for item in items if isinstance(item, Messages)] == [0, 2]


@pytest.mark.parametrize(
    ("rows", "column", "code", "says"),
    [
        (
            [{"t": None, "v": 1}, {"t": 1, "v": 2}],
            "t",
            "PS771",
            "has 1 row without a time, such as {'t': None, 'v': 1}",
        ),
        ([{"t": -7, "v": 1}], "t", "PS772", "has 1 row at -7 and the like"),
        ([{"t": 1, "v": 1}], "when", "PS774", "has no column 'when'"),
        ([{"t": 1, "v": 1}, {"t": "x", "v": 1}], "t", "PS774", "a DataFrame of pandas is not a table"),
        ([{"t": 1, "v": 1}], 3, "PS774", "an expression of Spark"),
    ],
)
def test_a_dataframe_of_pandas_is_refused_as_one_of_spark(rows: Any, column: Any, code: str, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        run(FrameSource(pandas.DataFrame(rows), column))
    assert f"{code}: " in str(caught.value)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_run_of_a_dataframe_of_pandas_goes_on_behind_what_it_has_taken() -> None:
    source = FrameSource(in_pandas(), "day")
    first = source.items_for("threads", "in", Nat())
    assert first.read_of is None  # nobody has looked
    assert next(first).time == 0
    assert first.read_of == ReadOf(0, 2, TIMES, is_all=True, came=[])
    first.digested(1)
    assert first.read_of == ReadOf(0, 2, TIMES, is_all=True, came=[(0, 1)])
    again = source.items_for("threads", "in", Nat())
    again.go_to(first.position)
    assert [item.time for item in again if isinstance(item, Messages)] == [1]
    assert again.read_of == first.read_of


@pytest.mark.spark
def test_a_dataframe_of_pandas_gives_the_same_rows_and_times_on_spark() -> None:
    plain: dict[Any, list[str]] = {}
    spark: dict[Any, list[str]] = {}
    for engine, found in (("threads", plain), ("spark", spark)):
        graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
        session = spark_session() if engine == "spark" else None
        dataflow = Dataflow(graph, {"a": Stage(lambda time, tables: tables["in"])})
        source = FrameSource(in_pandas(), "day")
        results = dataflow.run(engine=engine, sources={"in": source}, timeout=GUARD, session=session)
        found |= {time: in_json(rows_of(table)) for time, table in results["out"]}
        assert source.counts == {0: 1, 1: 2}
    assert plain.keys() == {0, 1}
    assert plain == spark
