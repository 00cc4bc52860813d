"""Tables as values: made, united, written as rows, and kept on Spark until the tracker says that nothing needs them."""

from __future__ import annotations

import datetime
import decimal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from graphs import Graph, JsonLines
from progress import PointstampError
from progress.runtime import Complete, Dataflow, Node, NodeFailed, Out, Retry, Stage
from progress.runtime.on_spark.engine import OnSpark
from progress.runtime.on_spark.kept_tables import KeptTables
from progress.runtime.tables import is_table, rows_of, union
from tests.runtime.tools import GUARD
from tests.spark.spark import spark_session
from tests.spark.tools import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
COLUMNS = "name string, count bigint, share double, day date"
ROWS = [("a", 1, 0.5, datetime.date(2024, 1, 31)), ("b", None, None, None)]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return spark_session()


@pytest.fixture(autouse=True)
def nothing_stays(spark: SparkSession) -> Any:
    before = stored()
    yield
    settle(before)


Stored = frozenset[int]


def stored() -> Stored:
    """The tables that executors hold, as numbers that Spark gives once.

    What tests before this one left goes whenever Java collects it: so tests look at which are new, not at how many.
    """
    return frozenset(spark_session().sparkContext._jsc.getPersistentRDDs())


def settle(before: Stored, more: int = 0) -> None:
    """Wait until so many are held that were not there before: those that are on their way have gone."""
    wait_until(lambda: len(stored() - before) == more)


def run(dataflow: Dataflow, engine: str = "spark", **options: Any) -> Any:
    session = spark_session() if engine == "spark" else None
    return dataflow.run(engine=engine, session=session, timeout=GUARD, **options)


def line() -> Graph:
    return Graph().node("a").edge(None, "a", "in").edge("a", None, "out")


def loop() -> Graph:
    """Epochs enter, go round and leave."""
    graph = Graph(time={"product": ["nat", "nat"]}).node("enter", time="nat", summary="enter")
    graph.node("step", emits={"done": "leave"}).node("again", summary="feedback")
    graph.edge(None, "enter", "in").edge("enter", "step", "begin").edge("step", "again", "more")
    return graph.edge("again", "step", "back").edge("step", None, "done", time="nat")


# --- made, united, written -------------------------------------------------------------------------------------------


class Makes(Stage):
    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        mappings = [dict(zip(("name", "count", "share", "day"), row, strict=True)) for row in ROWS]
        one, other, none = (out.table(rows, COLUMNS) for rows in (ROWS, mappings, []))
        assert all(map(is_table, (one, other, none)))
        out.send("out", time, union([one, other, none]))


@pytest.mark.parametrize("engine", ["spark", "threads", "sim"])
def test_a_table_is_written_as_its_rows(spark: SparkSession, engine: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    run(Dataflow(line(), {"a": Makes()}), engine, sources={"in": [(3, 1)]}, sinks={"out": JsonLines(file)})
    first, second = (
        '{"time": 3, "value": {"name": "a", "count": 1, "share": 0.5, "day": "2024-01-31"}}',
        '{"time": 3, "value": {"name": "b", "count": null, "share": null, "day": null}}',
    )
    found = Counter(line for line in file.read_text().splitlines() if "value" in line)
    assert found == {first: 2, second: 2}


def test_rows_are_what_json_has(spark: SparkSession) -> None:
    table = spark.sql(
        "select 1.50BD as price, timestamp'2024-01-31 10:00:00' as at,"
        " named_struct('x', array(date'2024-01-01')) as deep, double('nan') as none"
    )
    at = "2024-01-31T10:00:00"
    assert rows_of(table) == [{"price": "1.50", "at": at, "deep": {"x": ["2024-01-01"]}, "none": None}]
    local: Any = table.drop("deep").toPandas()
    assert rows_of(local) == [{"price": "1.50", "at": at, "none": None}]
    assert union([]) == []
    assert union([1, [2]]) == [1, [2]]
    ranges = [spark.range(each, each + 1) for each in range(7)]
    assert [row.id for row in union(ranges).collect()] == list(range(7))
    assert union(ranges[:1]) is ranges[0]
    assert decimal.Decimal("1.50") == local["price"][0]


def test_tables_of_two_kinds_are_not_united(spark: SparkSession) -> None:
    for values, says in (
        ([spark.range(1), 1], "rows and spark"),
        ([spark.range(1).toPandas(), [1]], "pandas and rows"),
    ):
        with pytest.raises(PointstampError, match=f"one edge has {says} at one time") as caught:
            union(values)
        assert caught.value.code == "PS744"


def test_without_pandas_a_table_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(NodeFailed, match=r"PS744: a table was asked for, and pandas is not installed"):
        run(Dataflow(line(), {"a": Makes()}), "sim", sources={"in": [(0, 1)]})


# --- kept ------------------------------------------------------------------------------------------------------------


class Counts(Stage):
    """Counts down round after round. Epoch 0 waits in round 3 until epoch 1 is in its round 1."""

    def __init__(self, waits: bool = False) -> None:
        super().__init__()
        self.other_began = threading.Event()
        self.waits = waits
        self.seen: dict[Any, tuple[Stored, int]] = {}  # tables stored, and how long the plan is

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        epoch, round_ = time
        if time == (1, 1):
            self.other_began.set()
        if self.waits and time == (0, 3):
            assert self.other_began.wait(GUARD)
        numbers = tables["back"] if round_ else out.table([(value,) for value in tables["begin"]], "value bigint")
        if out.session is None:
            less = out.keep(numbers - 1, until=(epoch, round_ + 1))
            is_over, size = bool((less["value"] <= 0).all()), 0
        else:
            less = out.keep(numbers.selectExpr("value - 1 as value"), until=(epoch, round_ + 1))
            is_over, size = less.where("value > 0").isEmpty(), len(less._jdf.queryExecution().toString())
        self.seen[time] = stored(), size
        if not is_over:
            out.send("more", time, less)
        else:
            out.send("done", epoch, out.keep(less, until=epoch, at="done"))


def test_a_loop_keeps_one_table_an_epoch_and_epochs_are_at_different_rounds(spark: SparkSession) -> None:
    node, found, before = Counts(waits=True), [], stored()
    sinks = {"done": lambda time, table: found.append((time, [row.value for row in table.collect()], stored()))}
    run(Dataflow(loop(), {"step": lambda: node}), sources={"in": [(0, 6), (0, 4), (1, 3)]}, sinks=sinks, workers=3)
    assert sorted((time, values) for time, values, _ in found) == [(0, [0, -2]), (1, [0])]
    assert sorted(node.seen) == [(0, round_) for round_ in range(6)] + [(1, round_) for round_ in range(3)]
    sizes = [node.seen[0, round_][1] for round_ in range(6)]
    assert max(sizes) < sizes[0] + 20  # the plan of the last round is that of the first
    settle(before)


def test_the_same_node_runs_on_pandas(spark: SparkSession) -> None:
    for engine in ("sim", "threads", "asyncio"):
        results = run(Dataflow(loop(), {"step": Counts}), engine, sources={"in": [(0, 6), (0, 4), (1, 3)]})
        assert {time: table["value"].tolist() for time, table in results["done"]} == {0: [0, -2], 1: [0]}


def test_what_is_complete_is_let_go_while_the_run_goes_on(spark: SparkSession) -> None:
    """The source waits after each epoch until executors hold nothing of it any more."""
    before = stored()
    node = Counts()
    left = threading.Event()

    def epochs() -> Any:
        for epoch in range(3):
            left.clear()
            yield epoch, 3
            yield Complete((epoch + 1,))
            assert left.wait(GUARD)
            settle(before)

    results: list[Any] = []
    sink = type(
        "Sink", (), {"write": lambda _, *said: results.append(said[0]), "complete": lambda _, times: left.set()}
    )
    run(Dataflow(loop(), {"step": lambda: node}), sources={"in": epochs}, sinks={"done": sink()})
    assert results == [0, 1, 2]
    assert all(len(there - before) <= 2 for there, _ in node.seen.values())


class Later:
    """A sink that has what it is given until it is told to write."""

    def __init__(self) -> None:
        self.tables: list[Any] = []
        self.told = threading.Event()

    def write(self, time: Any, table: Any) -> None:
        self.tables.append(table)

    def complete(self, times: tuple[Any, ...]) -> None:
        if times != (0,):
            self.told.set()


class Keeps(Stage):
    """Keeps two tables as long as it needs them itself, and sends the first one, or what is made of it."""

    def __init__(self, send: Callable[[Any], Any]) -> None:
        super().__init__()
        self.send = send

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        kept = out.keep(out.table([(time,)], "value bigint"), until=time)
        other = out.keep(out.table([(7,)], "value bigint"), until=time)
        out.send("out", time, self.send(kept))
        assert other.first().value == 7


@pytest.mark.parametrize(
    "send",
    [
        lambda kept: kept,
        lambda kept: kept.selectExpr("value"),
        lambda kept: kept.join(kept.selectExpr("value as other"), kept["value"] == 0).select("value"),
        lambda kept: kept.sparkSession.sql("select value from {t} where value in (select * from {t})", t=kept),
        lambda kept: [kept.selectExpr("value")],
    ],
    ids=["itself", "a plan", "a join", "a plan with a question in it", "a list"],
)
@pytest.mark.parametrize("name", [None, "values"])
def test_what_was_sent_is_there_until_its_sink_has_written(
    spark: SparkSession, send: Callable[[Any], Any], name: str | None, tmp_path: Path
) -> None:
    before, sink = stored(), Later()

    def there() -> int:
        return len(stored() - before) + len(list(tmp_path.glob("*/values/*/_SUCCESS")))

    def comes_to(wanted: int) -> None:
        wait_until(lambda: there() == wanted)

    class Named(Keeps):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            kept = out.keep(out.table([(time,)], "value bigint"), until=time, name=name)
            assert out.keep(out.table([(7,)], "value bigint"), until=time).first().value == 7
            out.send("out", time, self.send(kept))

    def items() -> Any:
        yield 0, 1
        yield Complete((1,))
        assert sink.told.wait(GUARD)
        comes_to(1)  # nobody needs the other one
        (table,) = sink.tables[0] if isinstance(sink.tables[0], list) else sink.tables
        assert [row.value for row in table.collect()] == [0]
        assert there() == 1
        del table
        sink.tables.clear()
        comes_to(0)

    dataflow = Dataflow(line(), {"a": Named(send)})
    run(dataflow, sources={"in": items()}, sinks={"out": sink}, folder=str(tmp_path))
    assert sink.told.is_set()


def test_what_was_sent_is_there_until_its_node_has_used_it(spark: SparkSession) -> None:
    before, may_go_on = stored(), threading.Event()
    found: list[int] = []

    class Uses(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            assert may_go_on.wait(GUARD)
            found.extend(row.value for row in tables["between"].collect())
            out.send("out", time, tables["between"].selectExpr("value + 1 as value"))

    def items() -> Any:
        yield 0, 1
        yield Complete((1,))
        settle(before, 1)
        may_go_on.set()

    graph = Graph().node("a").node("b").edge(None, "a", "in").edge("a", "b", "between").edge("b", None, "out")

    class Makes(Keeps):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            kept = out.keep(out.table([(time,)], "value bigint"), until=time)
            out.send("between", time, kept.where("value >= 0"))

    nodes = {"a": Makes(lambda kept: kept), "b": Uses()}
    ((_, table),) = run(Dataflow(graph, nodes), sources={"in": items()})["out"]
    assert found == [0]
    assert [row.value for row in table.collect()] == [1]  # what a run returns stays
    assert len(stored() - before) == 1
    for number, kept in dict(spark.sparkContext._jsc.getPersistentRDDs()).items():
        if number not in before:
            kept.unpersist(False)


def test_what_another_thread_had_last_is_there_until_the_calls_that_are_made_have_sent(spark: SparkSession) -> None:
    """A node makes a plan of a table; before it has sent that, somebody else drops the last mention of the table."""
    before, may_send, has_plan = stored(), threading.Event(), threading.Event()
    tables = KeptTables(spark, "run", None)
    kept = [tables.keep(spark.range(3), None)]
    tables.sent("first", kept)
    plans: list[Any] = []

    def call() -> None:
        with tables.during_call():
            plans.append(kept[0].selectExpr("id + 1 AS id"))
            has_plan.set()
            assert may_send.wait(GUARD)
            tables.sent("second", plans)

    thread = threading.Thread(target=call)
    thread.start()
    assert has_plan.wait(GUARD)
    kept.clear()
    for _ in range(30):  # what was let go at once would be gone by then
        sleep(0.01)
        assert len(stored() - before) == 1
    may_send.set()
    thread.join(GUARD)
    assert sorted(row.id for row in plans[0].collect()) == [1, 2, 3]
    plans.clear()
    settle(before)
    tables.close(is_failed=False)


def test_a_table_stays_until_its_node_lets_it_go(spark: SparkSession) -> None:
    before = stored()

    class Sum(Stage):
        at_once = 1
        so_far: Any = None

        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            last = self.so_far
            new = out.table([(value,) for value in tables["in"]], "value bigint")
            self.so_far = out.keep(new if last is None else union([last, new]))
            if last is not None:
                out.let_go(last)
            out.send("out", time, self.so_far.count())

    results = run(Dataflow(line(), {"a": Sum()}), sources={"in": [(time, time) for time in (0, 5, 9, 10)]}, workers=1)
    assert results == {"out": [(0, 1), (5, 2), (9, 3), (10, 4)]}
    settle(before)


def test_what_a_run_returns_stays_until_the_caller_lets_it_go(spark: SparkSession) -> None:
    before = stored()

    class Keeps(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            out.send("out", time, out.keep(out.table([(1,), (2,)], "value bigint"), until=time, at="out"))
            out.keep(out.table([(3,)], "value bigint"), until=time)

    ((_, table),) = run(Dataflow(line(), {"a": Keeps()}), sources={"in": [(0, 1)]})["out"]
    settle(before, 1)
    assert [row.value for row in table.collect()] == [1, 2]
    table._jdf.queryExecution().logical().rdd().unpersist(False)
    settle(before)


def test_a_call_that_fails_keeps_nothing(spark: SparkSession) -> None:
    before = stored()
    tries: list[Stored] = []

    class Fails(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            kept = out.keep(out.table([(1,)], "value bigint"))
            tries.append(stored())
            if len(tries) < 3:
                raise ValueError
            out.let_go(kept)
            out.send("out", time, "done")

    retry = Retry(first_pause=0.001)
    assert run(Dataflow(line(), {"a": Fails()}, on_error=retry), sources={"in": [(0, 1)]}) == {"out": [(0, "done")]}
    settle(before)
    tries.clear()
    with pytest.raises(NodeFailed):
        run(Dataflow(line(), {"a": Fails()}), sources={"in": [(0, 1)]})
    settle(before)


def test_a_table_with_a_name_is_a_folder_until_it_is_let_go(spark: SparkSession, tmp_path: Path) -> None:
    before, seen = stored(), []

    class Named(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            table = out.keep(out.table([(time,)], "value bigint"), until=time, name="values")
            seen.append(sorted(path.parent.name for path in tmp_path.glob("*/values/*/_SUCCESS")))
            assert stored() <= before
            out.send("out", time, table.first().value)

    results = run(Dataflow(line(), {"a": Named()}), sources={"in": [(0, 1), (4, 1)]}, folder=str(tmp_path))
    assert sorted(results["out"]) == [(0, 0), (4, 4)]
    assert all("0" in there or "1" in there for there in seen)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def checkpoints(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A folder for checkpoints that the session has for one test."""
    context: Any = spark.sparkContext._jsc.sc()
    none = context.getCheckpointDir()
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    yield tmp_path
    getattr(context, "checkpointDir_$eq")(none)


def test_where_a_session_has_a_folder_for_checkpoints_tables_are_kept_there(
    spark: SparkSession, checkpoints: Path
) -> None:
    before, files = stored(), []

    class Keeps(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            kept = out.keep(out.table([(time,), (7,)], "value bigint"), until=time)
            files.append(len(list(checkpoints.glob("*/rdd-*"))))
            assert stored() <= before
            out.send("out", time, sorted(row.value for row in kept.selectExpr("value").collect()))

    results = run(Dataflow(line(), {"a": Keeps()}), sources={"in": [(0, 1), (4, 1)]}, workers=1)
    assert sorted(results["out"]) == [(0, [0, 7]), (4, [4, 7])]
    assert files[0] == 1
    assert list(checkpoints.glob("*/rdd-*")) == []


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (
            {"until": 0, "at": "nowhere"},
            "PS742",
            "'a' keeps a table until a time at 'nowhere', which the graph does not",
        ),
        ({"until": "soon"}, "PS503", "'a' keeps a table until 'soon', which is not a time at 'a'"),
        ({"until": (0, 1), "at": "out"}, "PS503", "keeps a table until (0, 1), which is not a time at 'out'"),
        ({"until": 0, "name": "x"}, "PS743", "a table is kept as 'x', and there is no folder for it"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_words(
    spark: SparkSession, options: dict[str, Any], code: str, says: str
) -> None:
    class Keeps(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.keep(spark.range(1), **options)

    with pytest.raises(NodeFailed) as caught:
        run(Dataflow(line(), {"a": Keeps()}), sources={"in": [(0, 1)]})
    assert says in caught.value.message
    assert getattr(caught.value.error, "code", None) == code


def test_the_run_of_a_session_that_was_used_before_has_a_name_of_its_own(spark: SparkSession) -> None:
    assert OnSpark(spark).run_id != OnSpark(spark).run_id
