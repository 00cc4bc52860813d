"""Graphs in Spark answer as the local engine does: random graphs at once, and what only large ones come to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from benchmarks.graphs_to_measure import layered
from graphs import Graph, at_scale
from graphs.at_scale import Options, Round, Tables
from graphs.at_scale.closure import SparkClosure
from graphs.at_scale.components import components
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.shape import beginning_in_spark
from graphs.shape import beginning, dangling, unreachable
from progress import CouldResultIn, PointstampError, check_conditions, close
from progress.conditions import Offence, Report
from tests.spark.graph_batches import Case, cases, together
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark

GRAPHS, IN_SOAK = 50, 200
FEW = (1, 2, 13, 15, 16)  # of the graphs: a component of 2 to 4 nodes each, and nodes that nothing reaches
NO_ROOM = Options(fits=0)  # everything stays in Spark


@cache
def batch(count: int = GRAPHS) -> list[Case]:
    return cases(count, seed=7_000)


def few() -> list[Case]:
    return [batch()[number] for number in FEW]


@pytest.fixture(autouse=True)
def _plans_as_they_are(request: pytest.FixtureRequest) -> Iterator[None]:
    """Here Spark does not adapt plans while they run, which takes longer than to run them. In soak it does, as it does
    wherever nobody has said otherwise.
    """
    if request.node.get_closest_marker("soak"):
        yield
        return
    spark_session().conf.set("spark.sql.adaptive.enabled", "false")
    yield
    spark_session().conf.unset("spark.sql.adaptive.enabled")


@pytest.fixture(scope="module")
def opened() -> Iterator[SparkGraph]:
    graph = at_scale.open_in_spark(together(batch()), spark_session())
    yield graph
    graph.release()


# --- random graphs ---------------------------------------------------------------------------------------------------


def test_close_up_is_that_of_the_local_engine_graph_by_graph(opened: SparkGraph) -> None:
    check_close_up(batch(), opened)


def test_verdicts_are_those_of_the_local_engine_graph_by_graph(opened: SparkGraph) -> None:
    check_verdicts(batch(), opened)


@pytest.mark.soak
def test_more_graphs_at_once() -> None:
    graphs = batch(IN_SOAK)
    graph = at_scale.open_in_spark(together(graphs), spark_session())
    check_close_up(graphs, graph)
    check_verdicts(graphs, graph)
    graph.release()


def check_close_up(batch: list[Case], opened: SparkGraph) -> None:
    starts = [pointstamp for case in batch for pointstamp in case.starts]
    found = at_scale.close(opened, starts).frontiers
    seen = 0
    for case in batch:
        mine = {location: times for location, times in found.items() if location.startswith(case.prefix)}
        assert mine == case.frontiers, case.document
        seen += len(mine)
    assert seen == len(found) > len(batch)
    assert list(found) == [name for name in together(batch).locations() if name in found]
    assert any(len(times) > 1 for times in found.values())


def check_verdicts(batch: list[Case], opened: SparkGraph) -> None:
    report = at_scale.check_conditions(opened)
    kinds = set()
    for case in batch:
        here = check_conditions(case.graph)
        early = [found for found in report.condition_1.witnesses if found.node.startswith(case.prefix)]
        assert early == list(here.condition_1.witnesses)
        offences = [found for found in report.condition_2.witnesses if found.node.startswith(case.prefix)]
        assert len(offences) == len(here.condition_2.witnesses)
        assert {found.strictly_below for found in offences} == {
            found.strictly_below for found in here.condition_2.witnesses
        }
        for offence in offences:
            check_offence(case, offence)
        still = [found for found in report.advancing.standstills if found.cycle[0].startswith(case.prefix)]
        assert sorted(found.notifies for found in still) == sorted(
            found.notifies for found in here.advancing.standstills
        )
        kinds.add((bool(early), bool(offences), bool(still)))
    assert len(kinds) >= 5  # nothing held for want of cases
    assert verdicts(report) == verdicts(check_conditions(together(batch)))


def check_offence(case: Case, offence: Offence) -> None:
    """The witness is a way that the graph has, to a time that is not at or above its start."""
    domain = case.graph.domain_of(offence.node)
    assert not domain.less_equal(offence.time, offence.arrives)
    assert offence.strictly_below == domain.less_equal(offence.arrives, offence.time)
    for (node, before), (edge, after) in zip(offence.path[::2], offence.path[1::2], strict=True):
        summary = case.network.summaries[case.network.numbers[edge] - len(case.network.nodes)]
        assert summary is not None
        assert after in summary.apply(before), (node, edge)


def verdicts(report: Report) -> tuple[bool | None, ...]:
    return tuple(part.holds for part in report)


def test_components_and_shape_are_those_of_the_local_engine(opened: SparkGraph) -> None:
    graph = together(batch())
    assert at_scale.strong_components(opened) == at_scale.strong_components(graph, "local")
    names = graph.network().name
    assert at_scale.unreachable(opened) == [names(location) for location in unreachable(graph.network())] != []
    assert at_scale.dangling(opened) == [names(location) for location in dangling(graph.network())] != []
    begin = [names(location) for location in beginning(graph.network())]
    assert beginning_in_spark(opened, Options()) == begin != []


def test_what_stays_in_spark_finds_the_same_components_and_shape() -> None:
    together_here = together(few())
    graph = at_scale.open_in_spark(together_here, spark_session())
    nowhere = at_scale.unreachable(together_here, "local")
    assert at_scale.unreachable(graph, options=NO_ROOM) == nowhere != []
    found = at_scale.strong_components(together_here, "local")
    assert at_scale.strong_components(graph, options=NO_ROOM) == found
    assert len(found) == len(FEW)


def test_graphframes_finds_the_components_that_are_left() -> None:
    graph = at_scale.open_in_spark(together(few()), spark_session())
    inside = components(graph, graph.steps().select("src", "dst"), NO_ROOM, turns=0)
    here = components(graph, graph.steps().select("src", "dst"), Options())
    groups = [groups_of(found.nodes.collect()) for found in (inside, here)]
    assert groups[0] == groups[1] != set()


def groups_of(rows: list[Any]) -> set[frozenset[int]]:
    found: dict[int, set[int]] = {}
    for row in rows:
        found.setdefault(row["component"], set()).add(row["id"])
    return {frozenset(group) for group in found.values()}


def test_proofs_are_those_of_the_local_engine(opened: SparkGraph) -> None:
    asked = random.Random(3).sample(batch(), len(batch()))
    positive = [case for case in asked if CouldResultIn(case.graph)(*case.pair) and case.pair[0][0] != case.pair[1][0]]
    negative = [case for case in asked if not CouldResultIn(case.graph)(*case.pair)]
    for case in (*positive[:3], *negative[:2]):
        proof = at_scale.proof(opened, *case.pair)
        assert (proof is None) == (case in negative)
        if proof is not None:
            assert (proof[0], proof[-1]) == case.pair
            assert len({location for location, _ in proof}) == len(proof)
            steps = CouldResultIn(case.graph)
            for before, after in pairwise(proof):
                assert after.location in neighbours(case, before.location)
                assert steps(before, after)


def neighbours(case: Case, location: str) -> set[str]:
    """Where a message may be next: the edges that leave a node, the destination of an edge."""
    ends = list(zip(case.graph.edges, case.graph.sources, case.graph.targets, strict=True))
    leaving = {name for name, source, _ in ends if source == location}
    return leaving | {target for name, _, target in ends if name == location and target is not None}


def test_a_layered_graph_with_feedback_has_the_same_answers() -> None:
    graph = layered(5_000, "product")
    opened = at_scale.open_in_spark(graph, spark_session())
    assert at_scale.close(opened, [("n0", (0, 0))]).frontiers == close(graph, [("n0", (0, 0))]).frontiers
    assert at_scale.check_conditions(opened) == check_conditions(graph)
    opened.release()


# --- rounds ----------------------------------------------------------------------------------------------------------


def chain(length: int) -> Graph:
    graph = Graph()
    for number in range(length):
        graph.node(f"n{number}", summary={"advance": 1})
    for number in range(length - 1):
        graph.edge(f"n{number}", f"n{number + 1}")
    return graph


def test_progress_is_told_and_rounds_are_bounded() -> None:
    graph = at_scale.open_in_spark(chain(4), spark_session())
    told: list[Round] = []
    closure = at_scale.close(graph, [("n0", 5)], options=Options(rounds=4, on_round=told.append))
    assert isinstance(closure, SparkClosure)
    assert closure.times("n3") == (8,)
    assert ("n3", 8) in closure
    assert ("n3", 7) not in closure
    assert told == [Round("close", number, 1, 1) for number in range(4)] + [Round("close", 4, 0, 0)]
    with pytest.raises(PointstampError) as caught:
        at_scale.close(graph, [("n0", 5)], options=Options(rounds=2))
    assert str(caught.value).startswith("PS758: after 2 rounds there are still 1 active nodes")


def loop(amount: Any, domain: Any = "int", **more: Any) -> Graph:
    graph = Graph(time=domain).node("a", **more).node("b", summary={"advance": amount})
    return graph.edge("a", "b", "out").edge("b", "a", "back").edge("a", None, "result")


def test_a_fall_is_run_to_its_end_or_has_none() -> None:
    session = spark_session()
    deep = loop(-3, "nat")
    found = at_scale.close(deep, [("a", 10**12)], "spark", session)
    assert found.frontiers == close(deep, [("a", 10**12)]).frontiers == dict.fromkeys(deep.locations(), (0,))
    with pytest.raises(PointstampError) as caught:
        at_scale.close(loop(-1), [("a", 0)], "spark", session)
    assert caught.value.code == "PS601"
    with pytest.raises(PointstampError) as caught:  # too large for the local engine: as many rounds as it is deep
        at_scale.close(loop(-1), [("a", 0)], "spark", session, Options(fits=0, rounds=2))
    assert caught.value.code == "PS758"


@pytest.mark.parametrize(
    ("amount", "domain"),
    [
        ([1, 0], {"product": ["int", "int"]}),
        ([0, 0], {"product": ["int", "int"]}),
        ([1, -1], {"product": ["int", "int"]}),
        ([0, -1], {"lex": ["int", "int"]}),
    ],
)
def test_a_component_without_room_is_judged_where_it_is(amount: list[int], domain: Any) -> None:
    graph = loop(amount, domain)
    found = at_scale.check_conditions(graph, "spark", spark_session(), Options(fits=1))
    here = check_conditions(graph)
    assert found.condition_2.holds == here.condition_2.holds
    assert found.advancing.holds in (here.advancing.holds, None)
    assert (found.advancing.holds is None) == (amount == [1, -1] and "product" in domain)


@pytest.mark.soak
def test_random_components_without_room_are_judged_where_they_are() -> None:
    seen = set()
    for seed in range(10):
        rng = random.Random(seed)
        graph = Graph(time={"product": ["int", "int"]})
        names = [f"n{number}" for number in range(rng.randint(3, 7))]
        for name in names:
            graph.node(name, summary={"advance": [rng.randint(-1, 3), rng.randint(-1, 3)]})
        for number, name in enumerate(names):
            for target in {names[(number + 1) % len(names)], rng.choice(names)} - {name}:
                graph.edge(name, target, f"{name}->{target}")
        found = at_scale.check_conditions(graph, "spark", spark_session(), Options(fits=1))
        here = check_conditions(graph)
        assert found.condition_2.holds == here.condition_2.holds
        assert found.advancing.holds in (here.advancing.holds, None)
        seen.add(here.condition_2.holds)
    assert seen == {True, False}


def test_a_component_without_room_that_does_more_than_add_is_refused() -> None:
    graph = loop(-1, "int", summary={"at_least": 3})
    with pytest.raises(PointstampError) as caught:
        at_scale.check_conditions(graph, "spark", spark_session(), Options(fits=0))
    assert str(caught.value).startswith("PS757: 2 edges belong together, more than the 0")


# --- tables ----------------------------------------------------------------------------------------------------------


def test_tables_are_read_with_defaults_and_columns_of_any_kind() -> None:
    session = spark_session()
    nodes = session.sql(
        """SELECT * FROM VALUES
        (1, '{"product": ["nat", "nat"]}', NULL, NULL, true),
        (2, '{"product": ["nat", "nat"]}', 'feedback', '{"up": {"advance": [1, 0]}}', NULL)
        AS (name, time, summary, emits, notify)"""
    )
    edges = session.sql(
        "SELECT * FROM VALUES ('in', NULL, 1), (NULL, 1, 2), (NULL, 2, 1), ('up', 2, 1) AS (id, `from`, to)"
    )
    tables = Tables(nodes, edges)
    found = [at_scale.close(tables, [("in", (3, 4))], engine, session).frontiers for engine in ("spark", "local")]
    assert found[0] == found[1]
    assert found[0]["2->1"] == ((3, 5),)
    assert found[0]["up"] == ((4, 4),)


NODES = "SELECT * FROM VALUES ('a'), ('b') AS (id)"
EDGES = "SELECT * FROM VALUES ('x', 'a', 'b') AS (id, `from`, to)"


@pytest.mark.parametrize(
    ("nodes", "edges", "code", "says"),
    [
        (NODES + " WHERE false", EDGES, "PS760", "the table of nodes is empty"),
        ("SELECT 'a' AS who", EDGES, "PS007", "a row has no name"),
        ("SELECT explode(array('a', 'b', NULL)) AS id", EDGES, "PS007", "a row has no name"),
        (NODES + " UNION ALL SELECT 'a'", EDGES, "PS010", "two nodes are named 'a'"),
        ("SELECT id, 1 AS colour FROM (" + NODES + ")", EDGES, "PS006", "unknown key"),
        ("SELECT id, 'yes' AS notify FROM (" + NODES + ")", EDGES, "PS007", "notify is a column of string"),
        ("SELECT id, 5 AS time FROM (" + NODES + ")", EDGES, "PS012", "domain"),
        ("SELECT id, 'forwards' AS summary FROM (" + NODES + ")", EDGES, "PS013", "forwards"),
        ("SELECT id, 'list' AS emits FROM (" + NODES + ")", EDGES, "PS007", "emits of 'a' is not a mapping"),
        ('SELECT id, \'{"y": "never"}\' AS emits FROM (' + NODES + ")", EDGES, "PS011", "emits names"),
        (NODES, "SELECT 'x' AS id", "PS760", "neither a column from nor a column to"),
        (NODES, "SELECT 'x' AS id, 'a' AS `from`, 1.5D AS to", "PS009", "to is a column of double"),
        (NODES, "SELECT 'x' AS id, 'a' AS `from`, 'c' AS to", "PS011", "to names"),
        (NODES, "SELECT 'x' AS id, 'a' AS `from`, 'a' AS to", "PS015", "to itself"),
        (NODES, EDGES + " UNION ALL SELECT 'b', 'a', 'b'", "PS010", "'b' names two locations"),
        (NODES, EDGES + " UNION ALL SELECT 'y', NULL, NULL", "PS007", "neither from nor to"),
    ],
)
def test_what_is_wrong_with_a_table_has_the_code_of_a_file(nodes: str, edges: str, code: str, says: str) -> None:
    session = spark_session()
    with pytest.raises(PointstampError) as caught:
        at_scale.open_in_spark(Tables(session.sql(nodes), session.sql(edges)), session)
    assert (caught.value.code, "\n" in str(caught.value)) == (code, False)
    assert says in str(caught.value)


ONE = "SELECT 'a' AS id"


@pytest.mark.parametrize(
    ("nodes", "edges", "code"),
    [
        (NODES + " WHERE false", EDGES, "PS760"),
        (f"SELECT id, '{{bad' AS emits FROM ({NODES})", EDGES, "PS007"),
        (f"SELECT id, '[1]' AS emits FROM ({NODES})", EDGES, "PS007"),
        (
            f"SELECT id, '{{\"x\": null}}' AS emits FROM ({NODES}) WHERE id = 'a'",
            "SELECT 'x' AS id, 'a' AS `from`",
            "PS013",
        ),
        (f"SELECT id, '{{\"x\": 5}}' AS emits FROM ({ONE})", "SELECT 'x' AS id, 'a' AS `from`", "PS013"),
        (f"SELECT id, '' AS summary FROM ({NODES})", EDGES, "PS013"),
        (f"SELECT id, '' AS requests FROM ({NODES})", EDGES, "PS013"),
        (f"SELECT id, '' AS time FROM ({NODES})", EDGES, "PS012"),
        (f"SELECT id, ' int ' AS time FROM ({NODES})", EDGES, "PS012"),
        (f"SELECT cast(id AS binary) AS id FROM ({NODES})", EDGES, "PS009"),
        (f"SELECT 1.5D AS id FROM ({ONE})", "SELECT 'x' AS id, 'a' AS `from`", "PS009"),
        (f"SELECT id, 'b' AS name FROM ({ONE})", "SELECT 'x' AS id, 'a' AS `from`", "PS006"),
    ],
)
def test_what_one_engine_refuses_the_other_does(nodes: str, edges: str, code: str) -> None:
    session = spark_session()
    for engine in ("spark", "local"):
        with pytest.raises(PointstampError) as caught:
            at_scale.close(Tables(session.sql(nodes), session.sql(edges)), [("a", 0)], engine, session)
        assert (engine, caught.value.code) == (engine, code)


@pytest.mark.parametrize(
    "emits",
    [
        '\'{"x": {"advance": 1}}\'',
        "map('x', '{\"advance\": 1}')",
        "map('x', named_struct('advance', 1))",
        "named_struct('x', named_struct('advance', 1, 'at_least', cast(NULL AS int)), 'y', cast(NULL AS string))",
    ],
)
def test_emits_may_be_text_a_map_or_a_struct(emits: str) -> None:
    session = spark_session()
    tables = Tables(session.sql(f"SELECT 'a' AS id, {emits} AS emits"), session.sql("SELECT 'x' AS id, 'a' AS `from`"))
    (summary,) = at_scale.open_in_spark(tables, session).summaries
    assert summary.apply(0) == (1,)
    assert at_scale.close(tables, [("a", 0)], "local", session).frontiers == {"a": (0,), "x": (1,)}


@pytest.mark.parametrize(
    "graph",
    [
        Graph().node("a").node("b", time="int").edge("a", "b", "x"),
        Graph().node("a").node("b").edge("a", "b", "x", time="int"),
        Graph().node("a", requests={"enter": 0}),
    ],
    ids=["summary", "time of an edge", "requests"],
)
def test_domains_that_do_not_agree_are_refused(graph: Graph) -> None:
    with pytest.raises(PointstampError) as caught:
        at_scale.close(graph, [("a", 0)], "spark", spark_session())
    with pytest.raises(PointstampError) as here:
        graph.network()
    assert str(caught.value) == str(here.value)


@pytest.mark.parametrize(
    ("pointstamp", "code"),
    [(("a", None), "PS503"), (("a", "1"), "PS503"), (("c", 1), "PS502"), ("a", "PS501"), (("a", 2**62), "PS761")],
)
def test_a_pointstamp_that_is_none_is_refused(pointstamp: Any, code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        at_scale.close(small(), [pointstamp])
    assert caught.value.code == code


@cache
def small() -> SparkGraph:
    return at_scale.open_in_spark(chain(3).node("a"), spark_session())
