"""The engine `spark`: jobs named after pointstamps, times side by side, an end on request, errors in one line."""

from __future__ import annotations

import _thread
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import Complete, Dataflow, Node, NodeFailed, Out, Retry, Stage
from progress.runtime.actions.core import Core
from progress.runtime.observer import Observer
from tests.runtime.tools import BOUND, GUARD, TIMES, Met, of_two
from tests.spark.spark import spark_session
from tests.spark.tools import FOR_EVER, wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MONTHS = ["2024-01", "2024-02", "2024-03"]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return spark_session()


def by_month() -> Graph:
    return (
        Graph(time={"finite": {"elements": MONTHS}}).node("month").edge(None, "month", "in").edge("month", None, "out")
    )


def run(dataflow: Dataflow, **options: Any) -> Any:
    return dataflow.run(engine="spark", session=spark_session(), timeout=options.pop("timeout", GUARD), **options)


def jobs(group: str) -> list[int]:
    return list(spark_session().sparkContext.statusTracker().getJobIdsForGroup(group))


def outcome(job: int) -> str:
    info = spark_session().sparkContext.statusTracker().getJobInfo(job)
    assert info is not None
    return str(info.status)


def is_over(job: int) -> bool:
    return outcome(job) != "RUNNING"


# --- times side by side ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, BOUND])
def test_notifications_of_forty_times_overlap_up_to_the_bound(spark: SparkSession, at_once: int) -> None:
    node = Met(at_once, at_once)
    items = [(time, 10 * time[0] + each) for each in (1, 2) for time in TIMES]
    results = run(Dataflow(of_two(), {"work": lambda: node}), sources={"in": items}, workers=at_once + 3)
    assert Counter(results["out"]) == {(time, 20 * time[0] + 3): 1 for time in TIMES}
    assert node.most == at_once


# --- what Spark's own pages show -------------------------------------------------------------------------------------


def test_every_action_is_a_job_group_with_its_pointstamp(spark: SparkSession) -> None:
    context = spark.sparkContext
    seen: dict[str, dict[str, str | None]] = {}

    class Month(Stage):
        def on_messages(self, edge: str, time: Any, values: Any, out: Out) -> None:
            super().on_messages(edge, time, values, out)
            if time == MONTHS[0]:
                spark.range(1).count()

        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            names = ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool", "tests.of.the.caller")
            seen[time] = {name: context.getLocalProperty(name) for name in names}
            out.send("out", time, spark.range(len(tables["in"])).count())

    context.setLocalProperty("tests.of.the.caller", "here")
    items = [(month, 1) for month in MONTHS for _ in range(2)]
    try:
        results = run(Dataflow(by_month(), {"month": Month()}), sources={"in": items}, workers=2)
    finally:
        context._jsc.setLocalProperty("tests.of.the.caller", None)
    assert Counter(results["out"]) == {(month, 2): 1 for month in MONTHS}
    groups = [seen[month]["spark.jobGroup.id"] or "" for month in MONTHS]
    run_id = groups[0].split()[0]
    assert groups == [f"{run_id} month {month}" for month in MONTHS]
    assert [seen[month]["spark.job.description"] for month in MONTHS] == [f"month at {m}, notified" for m in MONTHS]
    assert {seen[month]["spark.scheduler.pool"] for month in MONTHS} <= {"pointstamp 1", "pointstamp 2"}
    assert {seen[month]["tests.of.the.caller"] for month in MONTHS} == {"here"}
    assert context.getLocalProperty("spark.jobGroup.id") is None
    store = context._jsc.sc().statusStore()
    described = Counter(store.job(job).description().get() for group in groups for job in jobs(group))
    assert described[f"month at {MONTHS[0]}, 2 messages from in"] >= 1
    assert all(described[f"month at {month}, notified"] >= 1 for month in MONTHS)
    assert context.getConf().get("spark.scheduler.mode") == "FAIR"


# --- stopping --------------------------------------------------------------------------------------------------------


class Sleeps(Stage):
    """Starts a job that never ends, once for every attempt."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[str] = []

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        self.groups.append(out.session.sparkContext.getLocalProperty("spark.jobGroup.id"))
        out.session.range(1).selectExpr(FOR_EVER).collect()


class Keep(Observer):
    failures = 0

    def started(self, core: Core) -> None:
        self.core = core

    def failed(self, failure: NodeFailed) -> None:
        self.failures += 1


@pytest.mark.parametrize("how", ["timeout", "cancel", "interrupt", "failure"])
def test_what_runs_is_cancelled_when_the_run_stops(spark: SparkSession, how: str) -> None:
    node, cancel, keep = Sleeps(), threading.Event(), Keep()

    def stop() -> None:
        wait_until(lambda: len(node.groups) == 2 and len(spark.sparkContext.statusTracker().getActiveJobsIds()) == 2)
        if how == "cancel":
            cancel.set()
        elif how == "interrupt":
            _thread.interrupt_main()

    class Fails(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            stop()
            raise ValueError("broken")

    graph = by_month().node("other").edge(None, "other", "more").edge("other", None, "never")
    dataflow = Dataflow(graph, {"month": lambda: node, "other": Fails()}, on_error={"month": Retry(first_pause=0.001)})
    sources = {"in": [(month, 1) for month in MONTHS[:2]], "more": [(MONTHS[2], 1)] if how == "failure" else []}
    watch = threading.Thread(target=stop, daemon=True)
    if how in ("cancel", "interrupt"):
        watch.start()
    codes = {"timeout": "PS713", "cancel": "PS712", "failure": "PS705"}
    with pytest.raises((PointstampError, KeyboardInterrupt)) as caught:
        run(dataflow, sources=sources, cancel=cancel, timeout=1.5 if how == "timeout" else GUARD, observer=keep)
    assert getattr(caught.value, "code", None) == codes.get(how)
    for group in node.groups:
        for job in jobs(group):
            wait_until(partial(is_over, job))
            assert outcome(job) == "FAILED"
    assert keep.failures == (how == "failure")  # what was cut short is no failure of the node
    assert not keep.core.rests  # nor is it done: what the node knows is unknown


# --- errors ----------------------------------------------------------------------------------------------------------


def fails_in_python(session: Any) -> None:
    def broken(frames: Iterator[Any]) -> Iterator[Any]:
        raise LookupError("no such day")
        yield

    session.range(1).mapInPandas(broken, "id bigint").collect()


def fails_in_rdd(session: Any) -> None:
    session.sparkContext.parallelize([1], 1).map(lambda value: 1 // (value - 1)).collect()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            lambda s: s.range(1).select("b"),
            "AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable,",
        ),
        (
            lambda s: s.range(1).selectExpr("raise_error('too much')").collect(),
            "SparkRuntimeException: [USER_RAISED_EX",
        ),
        (
            lambda s: s.read.parquet("/nowhere"),
            "AnalysisException: [PATH_NOT_FOUND] Path does not exist: file:/nowhere.",
        ),
        (lambda s: s._jvm.Integer.parseInt("x"), 'NumberFormatException: For input string: "x"'),
        (fails_in_python, "PythonException: LookupError: no such day"),
        (fails_in_rdd, "Py4JJavaError: ZeroDivisionError: integer division or modulo by zero"),
    ],
    ids=["plan", "rows", "path", "java", "python", "rdd"],
)
def test_an_error_of_spark_is_one_line_with_node_and_time(spark: SparkSession, wrong: Any, says: str) -> None:
    node = Stage(lambda time, tables: wrong(spark))
    with pytest.raises(NodeFailed) as caught:
        run(Dataflow(by_month(), {"month": lambda: node}), sources={"in": [(MONTHS[1], 1)]})
    failure = caught.value
    assert failure.message.startswith(f"'month' failed in the notification at '2024-02': {says}")
    assert len(failure.message.splitlines()) == 1
    assert len(failure.message) < 400
    assert (failure.code, failure.node, failure.time) == ("PS705", "month", MONTHS[1])
    assert "spark/test_engine.py" in failure.trace


def test_a_table_that_cannot_be_computed_is_a_failure_of_the_node_that_sends_it(spark: SparkSession) -> None:
    class Sink:
        takes_rows = True

        def write(self, time: Any, value: Any) -> None:
            raise AssertionError(value)

    node = Stage(lambda time, tables: spark.range(1).selectExpr("raise_error('too much') as x"))
    with pytest.raises(NodeFailed, match="'month' failed when what it sent on 'out' was computed, at '2024-01'"):
        run(Dataflow(by_month(), {"month": lambda: node}), sources={"in": [(MONTHS[0], 1)]}, sinks={"out": Sink()})


def test_a_failure_may_be_made_good_as_in_other_engines(spark: SparkSession) -> None:
    attempts = count(1)

    def work(time: Any, tables: dict[str, Any]) -> Any:
        number = next(attempts)
        return spark.range(5).selectExpr("raise_error('not yet')" if number < 3 else "id").collect()[-1][0]

    dataflow = Dataflow(by_month(), {"month": Stage(work)}, on_error=Retry(first_pause=0.001))
    assert run(dataflow, sources={"in": [(MONTHS[0], 1)]}) == {"out": [(MONTHS[0], 4)]}
    assert next(attempts) == 4


def test_what_is_no_session_is_refused(spark: SparkSession) -> None:
    dataflow = Dataflow(by_month())
    stopped = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session", "is_stopped": True})()
    for session, engine, code in (
        ("local[2]", "spark", "PS741"),
        (stopped, "spark", "PS741"),
        (spark, "threads", "PS741"),
        (spark, "sim", "PS741"),
    ):
        with pytest.raises(PointstampError) as caught:
            dataflow.run(engine=engine, session=session)
        assert caught.value.code == code
    with pytest.raises(PointstampError, match="folder= is of no use to the engine sim"):
        dataflow.run(folder="tables")


def test_without_a_session_the_active_one_is_used(spark: SparkSession) -> None:
    from pyspark.sql import SparkSession

    seen: list[Any] = []

    class Month(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            seen.extend((out.session, SparkSession.getActiveSession()))

    Dataflow(by_month(), {"month": Month()}).run(engine="spark", sources={"in": [(MONTHS[0], 1)]})
    assert [each._jsparkSession.sessionUUID() for each in seen] == [spark._jsparkSession.sessionUUID()] * 2


def test_what_happens_is_counted_among_the_metrics_of_spark(spark: SparkSession) -> None:
    def values() -> dict[str, int]:
        jvm: Any = spark._jvm
        found = jvm.org.apache.spark.SparkEnv.get().metricsSystem().getSourcesByName("AccumulatorSource")
        gauges = found.head().metricRegistry().getGauges()
        return {name: gauges[name].getValue() for name in gauges if name.startswith("pointstamp.")}

    graph = Graph().node("a").edge(None, "a", "in")
    run(Dataflow(graph, {"a": Stage(lambda time, tables: None)}), sources={"in": [(0, 1), (0, 2)]})
    before = values()
    items = [(0, 1), (0, 2), (1, 3), Complete((2,)), (1, 4)]
    results = run(Dataflow(graph, {"a": Stage(lambda time, tables: None)}), sources={"in": items})
    assert results == {"late": [(1, 4)]}
    now = values()
    counted = {name.removeprefix("pointstamp."): now[name] - before[name] for name in now}
    assert counted == {"messages": 3, "notifications": 2, "failures": 0, "brought": 3, "late": 1}
