"""A thousand tables at one time are one plan and one job, and rows that are known to be few are written without one."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet  # type: ignore[import-untyped]

from graphs import Graph
from progress import PointstampError
from progress.runtime import Dataflow, Node, Stage
from progress.runtime.on_spark.sinks.parquet import ParquetSink, committed, read_committed
from progress.runtime.on_spark.tables.few_rows import few_rows_of
from progress.runtime.on_spark.tables.schemas import together
from progress.runtime.tables import union
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark

MANY = 150
TYPES = (
    "cast(1 as tinyint) a, cast(2 as smallint) b, 3 c, 4L d, cast(1.5 as float) e, 2.5D f, 'x' g, X'01' h, true i, "
    "date'2024-01-01' j, cast(null as int) k, if(id = 0, 7, null) l"
)


@pytest.fixture(scope="module", autouse=True)
def _session() -> None:
    spark_session()


def numbers(count: int, columns: tuple[str, ...] = ("id", "id * id as square")) -> list[Any]:
    return [spark_session().range(each, each + 1, 1, 1).selectExpr(*columns) for each in range(count)]


def no_unions(patch: pytest.MonkeyPatch) -> None:
    """From now on no two DataFrames are one by a plan of their own."""
    from pyspark.sql.classic.dataframe import DataFrame

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a union of two")

    patch.setattr(DataFrame, "unionByName", refused)
    patch.setattr(DataFrame, "union", refused)


def jobs_of(call: Callable[[], object]) -> tuple[int, int]:
    """How many jobs of Spark a call starts, and how many tasks they have."""
    scheduler = spark_session()._jsc.sc().dagScheduler()
    context = spark_session().sparkContext
    jobs, stages = scheduler.nextJobId(), int(str(scheduler.nextStageId()))
    call()
    tracker = context.statusTracker()
    tasks = [tracker.getStageInfo(each) for each in range(stages, int(str(scheduler.nextStageId())))]
    return scheduler.nextJobId() - jobs, sum(stage.numTasks for stage in tasks if stage is not None)


@pytest.mark.parametrize("of", [union, lambda frames: together("what leaves", frames)])
def test_many_plans_are_branches_of_one_which_few_tasks_compute(of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = numbers(MANY - 1)
    frames.append(spark_session().range(MANY - 1, MANY, 1, 1).selectExpr("id * id as square", "id"))
    no_unions(monkeypatch)
    whole = of(frames)
    assert whole.columns == ["id", "square"]
    assert whole._jdf.queryExecution().analyzed().toString().count("Union") == 1
    found: list[Any] = []
    jobs, tasks = jobs_of(lambda: found.extend(whole.collect()))
    assert jobs == 1
    assert 1 <= tasks <= 2
    assert sorted(map(tuple, found)) == [(each, each * each) for each in range(MANY)]


def test_columns_that_differ_are_refused_by_a_sink_and_fitted_for_a_node() -> None:
    one, other = numbers(1)[0], numbers(1, ("cast(id as int) as id", "id as square"))[0]
    with pytest.raises(PointstampError, match=r"PS773: what leaves has 'id' as int \('id' as bigint"):
        together("what leaves", [one, other])
    whole = union([other, one])
    assert dict(whole.dtypes) == {"id": "bigint", "square": "bigint"}
    assert whole.count() == 2


def test_one_table_again_and_again_is_there_as_often() -> None:
    (one,) = numbers(1)
    assert union([one] * 20).count() == 20
    assert together("it", [one, one]).count() == 2


def test_what_is_large_is_computed_by_as_many_tasks_as_before() -> None:
    large = spark_session().range(0, 1 << 28, 1, 3)
    assert union([large] * 20).rdd.getNumPartitions() == 60


def test_tables_that_a_node_makes_are_written_together_by_one_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Many(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            for each in range(value):
                out.send("out", time, out.table([{"shop": f"s{each}", "amount": each}], "shop string, amount bigint"))

    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    no_unions(monkeypatch)
    dataflow = Dataflow(graph, {"a": Many}, sources={"in": [(0, MANY)]}, sinks={"out": ParquetSink(tmp_path / "out")})
    jobs, tasks = jobs_of(lambda: dataflow.run(engine="spark", session=spark_session()))
    assert jobs == 1
    assert tasks <= 2
    (commit,) = committed(spark_session(), tmp_path / "out")
    assert commit["rows"] == MANY
    assert len(commit["files"]) == 1
    assert sorted(row.amount for row in read_committed(spark_session(), tmp_path / "out").collect()) == [*range(MANY)]


def test_many_tables_of_pandas_are_sent_to_spark_together(monkeypatch: pytest.MonkeyPatch) -> None:
    session = spark_session()
    made: list[int] = []
    before = type(session).createDataFrame

    def counted(*given: Any, **more: Any) -> Any:
        made.append(1)
        return before(*given, **more)

    monkeypatch.setattr(type(session), "createDataFrame", counted)
    tables = [pandas.DataFrame({"name": [f"s{each}"], "v": [each]}) for each in range(MANY)]
    rows = together("it", [*tables, tables[0][["v", "name"]], tables[0].iloc[:0]])
    assert len(made) == 3
    assert sorted(row.v for row in rows.collect()) == sorted([*range(MANY), 0])
    nothing_known = [pandas.DataFrame({"name": [None]}), pandas.DataFrame({"name": ["a"]})]
    with pytest.raises(PointstampError, match="PS773"):
        together("it", nothing_known)  # as one by one: a column without any value is none of text


# --- few rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "is_made_here", "jobs"),
    [("range(0, 2, 1, 1)", False, 1), ("values (0L), (1L) as rows(id)", False, 0), ("range(0, 2, 1, 1)", True, 0)],
)
def test_few_rows_are_written_as_spark_writes_them(tmp_path: Path, where: str, is_made_here: bool, jobs: int) -> None:
    rows = spark_session().sql(f"select {TYPES} from {where}")
    if is_made_here:
        rows = spark_session().createDataFrame(rows.toArrow())
    context = spark_session().sparkContext
    context.setJobGroup(str(tmp_path), "few rows")
    file = few_rows_of(rows)
    assert file is not None
    assert len(context.statusTracker().getJobIdsForGroup(str(tmp_path))) == jobs  # none for what stands in the plan
    rows.coalesce(1).write.parquet(str(tmp_path / "spark"))
    (by_spark,) = (tmp_path / "spark").glob("*.parquet")
    ours, theirs = parquet.ParquetFile(io.BytesIO(file)), parquet.ParquetFile(by_spark)
    assert str(ours.schema).splitlines()[2:] == str(theirs.schema).splitlines()[2:]
    described = b"org.apache.spark.sql.parquet.row.metadata"
    assert ours.metadata.metadata[described] == theirs.metadata.metadata[described]
    assert ours.metadata.row_group(0).column(0).compression == theirs.metadata.row_group(0).column(0).compression
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "a.parquet").write_bytes(file)
    read = [spark_session().read.parquet(str(tmp_path / name)) for name in ("ours", "spark")]
    assert read[0].schema == read[1].schema
    assert read[0].collect() == read[1].collect()


@pytest.mark.parametrize(
    ("query", "is_few"),
    [
        ("select id from range(7)", True),
        ("select sum(id) as s from range(1000000)", True),
        ("select id from range(100000) limit 5", True),
        ("select id from range(7) where id > 100", True),
        ("select id from range(100000)", False),
        ("select explode(sequence(0, 1000000)) as id", False),
        ("select a.id from range(100) a cross join range(100) b", False),
        ("select now() as t", False),
        ("select 1.50 as price", False),
        ("select array(1) as parts", False),
        ("select 1 as v, 2 as V", False),
    ],
)
def test_only_rows_that_are_known_to_be_few_are_written_so(query: str, is_few: bool) -> None:
    rows = spark_session().sql(query)
    assert (few_rows_of(rows) is not None) == is_few


def test_columns_that_say_more_are_left_to_spark() -> None:
    rows = spark_session().range(1).toDF("v")
    assert few_rows_of(rows.withMetadata("v", {"parquet.field.id": 7})) is None


def test_settings_that_only_spark_knows_are_left_to_it() -> None:
    session = spark_session()
    rows, key = session.range(3), "spark.sql.parquet.compression.codec"
    try:
        session.conf.set(key, "lz4_raw")
        assert few_rows_of(rows) is None
    finally:
        session.conf.unset(key)
    settings = session._jsc.hadoopConfiguration()
    try:
        settings.set("parquet.crypto.factory.class", "some.Factory")
        assert few_rows_of(rows) is None
    finally:
        settings.unset("parquet.crypto.factory.class")


def test_a_stage_has_many_tables_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    no_unions(monkeypatch)
    items = [(0, each) for each in numbers(MANY)]
    node = Stage(lambda time, tables: tables["in"].groupBy().sum("id"))
    ((_, total),) = Dataflow(graph, {"a": node}).run(engine="spark", session=spark_session(), sources={"in": items})[
        "out"
    ]
    assert total.collect()[0][0] == sum(range(MANY))
