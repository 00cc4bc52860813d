"""The oracle itself: cases computed by hand, and the paper's propositions on random graphs."""

from __future__ import annotations

import random
from typing import Any

import pytest

from progress.reference import (
    Graph,
    TooManySteps,
    advancing,
    along,
    blockers,
    close,
    condition_1,
    condition_2,
    could_result_in,
    eligible,
    is_in,
    is_proof,
    proof,
    results,
    transitive,
)
from progress.reference.times import (
    domain_from_json,
    domains_between,
    hull,
    less_equal,
    minimal,
    minimal_upper_bounds,
    sufficient_bound,
    time_from_json,
    time_to_json,
    times_above,
    window,
)
from tests.reference.random_graphs import random_document, random_domain, random_query, random_time_of, window_bound

NAT2 = {"nat": {"max": 2}}
PRODUCT = {"product": ["nat", "nat"]}
LEX = {"lex": ["nat", "nat"]}
CHAIN = {"finite": {"elements": ["a", "b", "c"], "below": [["a", "b"], ["b", "c"]]}}
CROWN = {"finite": {"elements": ["a", "b", "c", "d"], "below": [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]}}
APART = {"finite": {"elements": ["a", "b"]}}
SUM = {"sum": {"left": "nat", "right": PRODUCT}}


# Orders


@pytest.mark.parametrize(
    ("domain", "below", "above"),
    [
        ("nat", 2, 3),
        ("int", -2, 0),
        (PRODUCT, [1, 2], [1, 3]),
        (LEX, [1, 9], [2, 0]),
        ({"lex": ["nat", LEX]}, [1, [9, 9]], [2, [0, 0]]),
        (CHAIN, "a", "c"),
        (CROWN, "b", "d"),
        (SUM, {"right": [0, 0]}, {"right": [0, 1]}),
        ({"product": [LEX, "nat"]}, [[0, 5], 1], [[1, 0], 1]),
    ],
)
def test_strictly_below(domain: Any, below: Any, above: Any) -> None:
    order = domain_from_json(domain)
    a, b = time_from_json(order, below), time_from_json(order, above)
    assert less_equal(order, a, b)
    assert not less_equal(order, b, a)
    assert less_equal(order, a, a)


@pytest.mark.parametrize(
    ("domain", "one", "other"),
    [
        (PRODUCT, [0, 1], [1, 0]),
        (CROWN, "a", "b"),
        (CROWN, "c", "d"),
        (APART, "a", "b"),
        (SUM, {"left": 0}, {"right": [5, 5]}),
        ({"product": [LEX, "nat"]}, [[0, 5], 1], [[1, 0], 0]),
    ],
)
def test_incomparable(domain: Any, one: Any, other: Any) -> None:
    order = domain_from_json(domain)
    a, b = time_from_json(order, one), time_from_json(order, other)
    assert not less_equal(order, a, b)
    assert not less_equal(order, b, a)


@pytest.mark.parametrize(
    ("domain", "value"),
    [("nat", -1), ("nat", True), ("nat", "1"), (NAT2, 3), ("unit", 0), (PRODUCT, [1]), (APART, "c"), (SUM, {"up": 1})],
)
def test_no_time_of_the_domain(domain: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="not a time"):
        time_from_json(domain_from_json(domain), value)


def test_minimal_times() -> None:
    assert minimal(domain_from_json(PRODUCT), [(2, 2), (1, 3), (3, 1), (1, 3), (2, 1)]) == ((1, 3), (2, 1))
    assert minimal(domain_from_json(LEX), [(2, 2), (1, 3), (3, 1)]) == ((1, 3),)


def test_windows() -> None:
    assert window(domain_from_json("int"), 1) == [-1, 0, 1]
    assert len(window(domain_from_json({"product": ["nat", NAT2, CHAIN]}), 4)) == 5 * 3 * 3
    assert times_above(domain_from_json(NAT2), 1, 5) == [1, 2]
    assert times_above(domain_from_json(LEX), (1, 2), 1) == [(1, 2), (1, 3), (2, 0), (2, 1)]


@pytest.mark.parametrize("seed", range(60))
def test_minimal_upper_bounds_are_as_defined(seed: int) -> None:
    rng = random.Random(seed)
    domain = random_domain(rng)
    order = domain_from_json(domain)
    times = window(order, 2)
    a, b = rng.choice(times), rng.choice(times)
    common = [time for time in times if less_equal(order, a, time) and less_equal(order, b, time)]
    assert set(minimal_upper_bounds(order, a, b)) == set(minimal(order, common))


@pytest.mark.parametrize("seed", range(20))
def test_times_survive_json(seed: int) -> None:
    rng = random.Random(seed)
    domain = random_domain(rng)
    data = random_time_of(rng, domain)
    order = domain_from_json(domain)
    assert time_to_json(order, time_from_json(order, data)) == data


# Summaries: (summary, from, to, time, what it means there)

HULLS: list[tuple[Any, Any, Any, Any, list[Any]]] = [
    ("identity", "nat", "nat", 3, [3]),
    ("never", "nat", PRODUCT, 3, []),
    ({"advance": 2}, "nat", "nat", 3, [5]),
    ({"advance": -1}, "nat", "nat", 3, [2]),
    ({"advance": -1}, "nat", "nat", 0, [0]),  # because 1 goes there
    ({"advance": -4}, "nat", "nat", 1, [0]),
    ({"advance": -1}, "int", "int", 0, [-1]),
    ({"advance": 1}, NAT2, NAT2, 1, [2]),
    ({"advance": 1}, NAT2, NAT2, 2, []),
    ({"advance": -2}, NAT2, NAT2, 0, [0]),
    ({"advance": -3}, NAT2, NAT2, 0, []),
    ({"advance": [1, -1]}, PRODUCT, PRODUCT, [0, 0], [[1, 0]]),
    ({"advance": [1, -1]}, LEX, LEX, [0, 0], [[1, 0]]),
    ({"advance": [-1, 0]}, PRODUCT, PRODUCT, [0, 5], [[0, 5]]),
    ({"advance": [-1, 0]}, LEX, LEX, [0, 5], [[0, 0]]),  # because (1, 0) goes there
    ({"advance": [-1, 2]}, LEX, LEX, [0, 5], [[0, 2]]),
    ({"advance": [0, [1, 0]]}, {"product": ["nat", LEX]}, {"product": ["nat", LEX]}, [1, [2, 3]], [[1, [3, 3]]]),
    ({"advance": [0, 1]}, {"product": [CHAIN, "nat"]}, {"product": [CHAIN, "nat"]}, ["b", 1], [["b", 2]]),
    ("feedback", "nat", "nat", 3, [4]),
    ("feedback", PRODUCT, PRODUCT, [3, 4], [[3, 5]]),
    ("feedback", {"product": ["nat", NAT2]}, {"product": ["nat", NAT2]}, [0, 2], []),
    ("feedback", {"lex": ["nat", NAT2]}, {"lex": ["nat", NAT2]}, [0, 2], [[1, 1]]),  # because (1, 0) goes there
    ("feedback", {"lex": [NAT2, NAT2]}, {"lex": [NAT2, NAT2]}, [2, 2], []),
    ("enter", "nat", PRODUCT, 7, [[7, 0]]),
    ("enter", "nat", LEX, 7, [[7, 0]]),
    ({"enter": 2}, PRODUCT, {"product": ["nat", "nat", NAT2]}, [7, 1], [[7, 1, 2]]),
    ({"enter": "b"}, "nat", {"product": ["nat", CHAIN]}, 7, [[7, "b"]]),
    ("leave", {"lex": ["nat", "nat", "nat"]}, LEX, [1, 2, 3], [[1, 2]]),
    ("leave", PRODUCT, "nat", [7, 3], [7]),
    ("leave", PRODUCT, {"product": ["nat"]}, [7, 3], [[7]]),
    ({"at_least": 4}, "nat", "nat", 2, [4]),
    ({"at_least": 4}, "nat", "nat", 6, [6]),
    ({"at_least": [2, 0]}, PRODUCT, PRODUCT, [1, 3], [[2, 3]]),
    ({"at_least": [2, 0]}, LEX, LEX, [1, 3], [[2, 0]]),
    ({"at_least": [2, 0]}, LEX, LEX, [2, 3], [[2, 3]]),
    ({"at_least": "a"}, CROWN, CROWN, "b", ["c", "d"]),
    ({"at_least": "a"}, CROWN, CROWN, "c", ["c"]),
    ({"at_least": "a"}, APART, APART, "b", []),
    ({"at_least": {"left": 1}}, SUM, SUM, {"right": [0, 0]}, []),
    ({"constant": 4}, PRODUCT, "nat", [9, 9], [4]),
    ({"round_up": 4}, "nat", "nat", 5, [8]),
    ({"round_up": 4}, "nat", "nat", 8, [8]),
    ({"round_up": 4}, "int", "int", -3, [0]),
    ({"round_up": 4}, {"nat": {"max": 6}}, {"nat": {"max": 6}}, 5, []),
    ({"map": [["a", 5], ["b", 3]]}, CHAIN, "nat", "a", [3]),  # not monotone: closed upward
    ({"map": [["a", 5], ["b", 3]]}, CHAIN, "nat", "b", [3]),
    ({"map": [["a", 5], ["b", 3]]}, CHAIN, "nat", "c", []),
    ({"map": [["c", 1]]}, CHAIN, "nat", "a", [1]),
    ({"map": [["a", [0, 2]], ["a", [1, 1]], ["b", [2, 0]]]}, CHAIN, PRODUCT, "a", [[0, 2], [1, 1], [2, 0]]),
    ({"map": [["a", 1], ["b", 2], ["d", 3]]}, CROWN, "nat", "b", [2]),
    ({"map": [[0, "a"], [2, "b"]]}, NAT2, APART, 1, ["b"]),
    ({"tag": "left"}, "nat", SUM, 3, [{"left": 3}]),
    ({"untag": "left"}, SUM, "nat", {"left": 3}, [3]),
    ({"untag": "left"}, SUM, "nat", {"right": [3, 3]}, []),
    ({"then": []}, "nat", "nat", 3, [3]),
    ({"then": [{"advance": -2}, {"advance": 2}]}, "nat", "nat", 1, [2]),
    ({"then": [{"advance": 2}, {"advance": -2}]}, "nat", "nat", 1, [1]),
    ({"then": [{"map": [["a", "a"]]}, {"map": [["b", "b"]]}]}, CHAIN, CHAIN, "a", ["b"]),  # each means its own hull
    ({"then": ["enter", "feedback", "leave", {"advance": 1}]}, "nat", "nat", 3, [4]),
    ({"then": ["enter", "feedback"]}, "nat", LEX, 3, [[3, 1]]),
    ({"then": [{"untag": "left"}, {"advance": 1}, {"tag": "left"}]}, SUM, SUM, {"left": 3}, [{"left": 4}]),
    ({"then": [{"constant": 2}, "enter"]}, "nat", PRODUCT, 9, [[2, 0]]),
    ({"any": [{"advance": 2}, {"advance": 1}]}, "nat", "nat", 3, [4]),
    ({"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, PRODUCT, PRODUCT, [0, 0], [[1, 0], [0, 1]]),
    ({"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, LEX, LEX, [0, 0], [[0, 1]]),
    ({"any": []}, "nat", "nat", 0, []),
]


@pytest.mark.parametrize(("summary", "source", "target", "time", "expected"), HULLS)
def test_hull(summary: Any, source: Any, target: Any, time: Any, expected: list[Any]) -> None:
    before, after = domain_from_json(source), domain_from_json(target)
    found = hull(summary, before, after, time_from_json(before, time))
    assert len(found) == len(set(found))
    assert set(found) == {time_from_json(after, each) for each in expected}


def test_a_chain_within_a_chain_knows_of_the_domains_around_that_one() -> None:
    """Where the inner one stands, `never` leads to the outer source, from which alone `leave` leads to the target."""
    few, nat = ("finite", frozenset("a"), frozenset({("a", "a")})), ("nat", None)
    source, target = (("product", (few, ("lex", (nat,) * length))) for length in (3, 2))
    chain = {"then": ["leave", {"then": ["enter", "never", "leave"]}]}
    assert hull(chain, source, target, ("a", (0, 0, 0))) == ()


def test_domains_between_members() -> None:
    nat, product, lex = map(domain_from_json, ("nat", PRODUCT, LEX))
    assert domains_between(["enter", "feedback"], nat, product) == [[product, product]]
    assert domains_between(["enter", "feedback"], nat, lex) == [[lex, lex]]
    assert domains_between(["enter", "leave"], nat, nat) == [[product, nat], [lex, nat]]
    assert domains_between(["enter", "feedback"], nat, nat) == []


# Graphs


def loop(summary: Any, **keys: Any) -> dict[str, Any]:
    """The loop of the specification: input -> body -> feedback -> body, and a result."""
    return {
        "pointstamp": 1,
        "time": keys.pop("time", "nat"),
        "nodes": {"body": keys, "feedback": {"summary": summary, "notify": False}},
        "edges": [
            {"id": "input", "to": "body"},
            {"id": "out", "from": "body", "to": "feedback"},
            {"id": "back", "from": "feedback", "to": "body"},
            {"id": "result", "from": "body"},
        ],
    }


def ring(*summaries: Any, time: Any = "nat") -> dict[str, Any]:
    """Nodes 0, 1, ..., each with its summary, in a ring."""
    names = [str(number) for number in range(len(summaries))]
    return {
        "pointstamp": 1,
        "time": time,
        "nodes": {name: {"summary": summary} for name, summary in zip(names, summaries, strict=True)},
        "edges": [{"from": name, "to": names[(int(name) + 1) % len(names)]} for name in names],
    }


def nested_loop(kind: str) -> dict[str, Any]:
    """The inner loop counts the second coordinate; the outer one counts the first and starts the inner one again."""
    return {
        "pointstamp": 1,
        "time": {kind: ["nat", "nat"]},
        "nodes": {
            "body": {},
            "inner": {"summary": "feedback", "notify": False},
            "exit": {"summary": "leave"},
            "outer": {"time": "nat", "summary": {"then": ["feedback", "enter"]}},
        },
        "edges": [
            {"from": "body", "to": "inner"},
            {"from": "inner", "to": "body"},
            {"from": "body", "to": "exit"},
            {"from": "exit", "to": "outer"},
            {"from": "outer", "to": "body"},
        ],
    }


FIGURE_EIGHT = {  # two loops at one node that arrive incomparably; one after the other they go down
    "pointstamp": 1,
    "time": PRODUCT,
    "nodes": {"hub": {}, "a": {"summary": {"advance": [1, -2]}}, "b": {"summary": {"advance": [-2, 1]}}},
    "edges": [
        {"from": "hub", "to": "a"},
        {"from": "hub", "to": "b"},
        {"from": "a", "to": "hub"},
        {"from": "b", "to": "hub"},
    ],
}


def test_locations_edges_and_their_domains() -> None:
    document = {
        "pointstamp": 1,
        "time": "nat",
        "nodes": {
            "p": {"emits": {"o1": "enter", "p->q": {"enter": 3}}},
            "q": {"time": PRODUCT, "summary": "leave"},
            "r": None,
        },
        "edges": [
            {"id": "i", "to": "q"},
            {"from": "p", "to": "q"},
            {"id": "back", "from": "q", "to": "r", "time": "nat"},
            {"id": "o1", "from": "p"},
            {"id": "o2", "from": "q"},
            {"id": "o3", "from": "r"},
        ],
    }
    graph = Graph(document)
    nat, product = domain_from_json("nat"), domain_from_json(PRODUCT)
    assert graph.locations == ["p", "q", "r", "i", "p->q", "back", "o1", "o2", "o3"]
    assert [graph.domain[edge] for edge in graph.edges] == [product, product, nat, product, nat, nat]
    assert (graph.incoming["q"], graph.outgoing["q"]) == (["i", "p->q"], ["back", "o2"])
    assert (graph.source["i"], graph.destination["o1"]) == (None, None)
    assert graph.steps("p", 4) == [("p->q", ((4, 3),)), ("o1", ((4, 0),))]
    assert graph.steps("i", (1, 2)) == [("q", ((1, 2),))]
    assert graph.steps("o1", (1, 2)) == []


# Known cases of timely dataflow's progress tracking


def test_a_capability_at_17() -> None:
    graph = Graph(ring("identity", "identity", {"advance": 1}))
    seen = close(graph, [("0->1", 17)])
    assert [seen[edge] for edge in ("2->0", "0->1", "1->2")] == [(18,), (17,), (17,)]
    assert advancing(graph, 20).holds


def test_a_ring_that_only_repeats_does_not_advance() -> None:
    graph = Graph(ring("identity", "identity", "identity"))
    verdict = advancing(graph, 2)
    assert (verdict.holds, verdict.witness) == (False, (("0", 0), ("0", 0)))
    assert condition_2(graph, 10).holds
    assert transitive(graph, 5).holds


def test_an_operator_by_ports_advances() -> None:
    """Input 0 reaches output 0 (+0), input 1 output 1 (+1); output 0 is wired to input 1, output 1 to input 0."""
    by_ports = {
        "pointstamp": 1,
        "time": "nat",
        "nodes": {"input 0": {}, "input 1": {"summary": {"advance": 1}}, "output 0": {}, "output 1": {}},
        "edges": [
            {"from": "input 0", "to": "output 0"},
            {"from": "input 1", "to": "output 1"},
            {"from": "output 0", "to": "input 1"},
            {"from": "output 1", "to": "input 0"},
        ],
    }
    assert advancing(Graph(by_ports), 10).holds
    either = {"any": ["identity", {"advance": 1}]}
    without_ports = {
        "pointstamp": 1,
        "time": "nat",
        "nodes": {"operator": {"emits": {"output 1": either}}, "wire 0": {}, "wire 1": {}},
        "edges": [
            {"id": "output 0", "from": "operator", "to": "wire 0"},
            {"id": "input 1", "from": "wire 0", "to": "operator"},
            {"id": "output 1", "from": "operator", "to": "wire 1"},
            {"id": "input 0", "from": "wire 1", "to": "operator"},
        ],
    }
    assert not advancing(Graph(without_ports), 10).holds


def test_a_nested_loop_in_the_product_order_arrives_incomparably() -> None:
    graph = Graph(nested_loop("product"))
    assert results(graph, ("body", (0, 1)))["outer->body"] == ((1, 0),)
    verdict = condition_2(graph, 4)
    assert (verdict.holds, verdict.strictly_below) == (False, False)
    assert verdict.witness == (("body", (0, 1)), ("outer->body", (1, 0)))
    assert not transitive(graph, 3).holds
    assert advancing(graph, 4).holds


def test_a_nested_loop_in_the_lexicographic_order_is_transitive() -> None:
    graph = Graph(nested_loop("lex"))
    assert results(graph, ("body", (0, 1)))["outer->body"] == ((1, 0),)
    assert condition_2(graph, 4).holds
    assert transitive(graph, 3).holds
    assert advancing(graph, 4).holds


# Definition 2 and Close-up


def test_the_specification_s_example_sends_into_the_past() -> None:
    graph = Graph(loop({"advance": -1}))
    assert proof(graph, ("body", 3), ("back", 2)) == [("body", 3), ("out", 3), ("feedback", 3), ("back", 2)]
    verdict = condition_2(graph, 5)
    assert (verdict.holds, verdict.strictly_below) == (False, True)
    assert verdict.witness == (("body", 1), ("back", 0))  # 0 stays at 0, the first time to fall is 1
    assert could_result_in(graph, ("back", 3), ("body", 3))
    assert not could_result_in(graph, ("back", 3), ("back", 2))
    assert not transitive(graph, 5).holds
    assert not advancing(graph, 5).holds


def test_distinct_locations_and_iteration_differ_where_condition_2_fails() -> None:
    graph = Graph(loop({"advance": -1}))
    assert not could_result_in(graph, ("body", 3), ("body", 2))
    assert results(graph, ("body", 3))["body"] == (3,)
    assert results(graph, ("out", 3)) == {"out": (3,), "feedback": (3,), "back": (2,), "body": (2,), "result": (2,)}
    assert close(graph, [("body", 3)]) == dict.fromkeys(("body", "out", "feedback", "back", "result"), (0,))


def test_distinct_locations_and_iteration_agree_where_condition_2_holds() -> None:
    graph = Graph(loop({"advance": 1}))
    assert close(graph, [("body", 3)]) == results(graph, ("body", 3))
    assert close(graph, [("body", 3)]) == {"body": (3,), "out": (3,), "feedback": (3,), "back": (4,), "result": (3,)}


def test_a_decreasing_loop_of_integers_has_no_closure_but_definition_2_answers() -> None:
    graph = Graph(loop({"advance": -1}, time="int"))
    with pytest.raises(TooManySteps):
        close(graph, [("body", 0)])
    assert results(graph, ("body", 0))["back"] == (-1,)
    assert not advancing(graph, 2).holds


def test_two_integers_that_drift_apart_have_no_closure() -> None:
    drift = ring("identity", {"advance": [-1, 1]}, time={"product": ["int", "nat"]})
    with pytest.raises(TooManySteps):
        close(Graph(drift), [("0", (0, 0))])


def test_equal_locations_need_no_path() -> None:
    graph = Graph(loop({"advance": 1}))
    assert proof(graph, ("body", 3), ("body", 3)) == [("body", 3)]
    assert proof(graph, ("body", 3), ("body", 5)) == [("body", 3), ("body", 5)]
    assert proof(graph, ("body", 3), ("body", 2)) is None
    assert proof(graph, ("result", 3), ("body", 9)) is None


def test_every_parallel_edge_counts() -> None:
    emits = {"slow": {"advance": [2, 0]}, "other": {"advance": [0, 1]}, "both": {"advance": [2, 1]}}
    document = {
        "pointstamp": 1,
        "time": PRODUCT,
        "nodes": {"p": {"emits": emits}, "q": {}},
        "edges": [{"id": name, "from": "p", "to": "q"} for name in emits],
    }
    graph = Graph(document)
    assert set(results(graph, ("p", (0, 0)))["q"]) == {(2, 0), (0, 1)}
    assert set(close(graph, [("p", (0, 0))])["q"]) == {(2, 0), (0, 1)}


def test_a_closure_of_several_pointstamps_is_minimal() -> None:
    graph = Graph(ring({"advance": [0, 1]}, {"advance": [1, 0]}, time=PRODUCT))
    closure = close(graph, [("0", (0, 3)), ("0", (2, 0)), ("0", (2, 5)), ("1", (0, 4))])
    assert {name: set(times) for name, times in closure.items()} == {
        "0": {(0, 3), (2, 0)},
        "0->1": {(0, 4), (2, 1)},
        "1": {(0, 4), (2, 1)},
        "1->0": {(1, 4), (3, 1)},
    }
    assert is_in(graph, ("1", (5, 1)), closure)
    assert not is_in(graph, ("1", (1, 3)), closure)


def test_through_a_loop_in_other_domains() -> None:
    document = {
        "pointstamp": 1,
        "time": "nat",
        "nodes": {
            "source": {"summary": "enter"},
            "body": {"time": PRODUCT, "emits": {"done": "leave", "turn": "feedback"}},
            "again": {"time": PRODUCT},
            "sink": {"summary": {"tag": "left"}},
        },
        "edges": [
            {"from": "source", "to": "body"},
            {"id": "turn", "from": "body", "to": "again"},
            {"from": "again", "to": "body"},
            {"id": "done", "from": "body", "to": "sink"},
            {"id": "tagged", "from": "sink", "time": SUM},
        ],
    }
    graph = Graph(document)
    reached = results(graph, ("source", 5))
    assert (reached["body"], reached["again"], reached["tagged"]) == (((5, 0),), ((5, 1),), (("left", 5),))
    assert condition_2(graph, 4).holds
    assert advancing(graph, 4).holds


def test_proofs_are_judged() -> None:
    graph = Graph(loop({"advance": 1}))
    start, end = ("body", 3), ("back", 6)
    assert is_proof(graph, [start, ("out", 3), ("feedback", 3), end], start, end)
    assert is_proof(graph, [start, ("out", 4), ("feedback", 5), end], start, end)
    assert not is_proof(graph, [start, ("out", 2), ("feedback", 3), end], start, end)  # falls
    assert not is_proof(graph, [start, ("out", 6), ("feedback", 6), end], start, end)  # feedback would make it 7
    assert not is_proof(graph, [start, ("feedback", 3), end], start, end)  # leaves out an edge
    assert not is_proof(graph, [start, ("out", 3), ("feedback", 3)], start, end)  # ends early
    turn = [start, ("out", 3), ("feedback", 3), ("back", 4), ("body", 4)]
    assert not is_proof(graph, turn, start, ("body", 4))  # twice at one location
    assert is_proof(graph, [start, ("body", 4)], start, ("body", 4))
    assert not is_proof(graph, [], start, start)


def test_along_a_walk() -> None:
    graph = Graph(loop({"advance": 2}))
    assert along(graph, ["body", "out", "feedback", "back", "body", "out"], 1) == (3,)
    assert along(graph, ["body", "feedback"], 1) == ()


# Clock and eligibility


def test_who_may_be_notified() -> None:
    graph = Graph(loop({"advance": 1}))
    requests = [("body", 1), ("body", 0)]
    assert eligible(graph, [], requests) == ([("body", 0)], [("body", 1)])  # 0 may come back as 1
    assert eligible(graph, [("input", 0)], requests) == ([], requests)
    assert eligible(graph, [("result", 0)], requests) == ([("body", 0)], [("body", 1)])
    assert eligible(graph, [("out", 0)], requests) == ([("body", 0)], [("body", 1)])
    assert blockers(graph, [("out", 0), ("input", 2)], requests, ("body", 1)) == [("out", 0), ("body", 0)]


def test_a_request_blocks_itself_on_a_cycle_that_does_not_advance() -> None:
    graph = Graph(loop("identity"))
    assert eligible(graph, [], [("body", 0)]) == ([], [("body", 0)])


def test_clock_is_iterated() -> None:
    """A message that no single path brings down far enough blocks all the same."""
    graph = Graph(loop({"advance": -1}))
    assert not could_result_in(graph, ("out", 3), ("back", 0))
    assert eligible(graph, [("out", 3)], [("body", 0)]) == ([], [("body", 0)])


def test_incomparable_requests_do_not_block_each_other() -> None:
    graph = Graph(nested_loop("product"))
    assert eligible(graph, [], [("body", (0, 1)), ("body", (1, 0))])[0] == [("body", (0, 1))]
    assert eligible(graph, [], [("inner", (0, 3)), ("exit", (1, 0))])[1] == [("exit", (1, 0))]
    assert eligible(graph, [], [("exit", (0, 3)), ("exit", (0, 4))])[1] == []


# Conditions


@pytest.mark.parametrize(
    ("requests", "time", "witness"),
    [
        ("identity", "nat", None),
        ("never", "nat", None),
        ({"advance": 2}, "nat", None),
        ({"at_least": 3}, "nat", None),
        ({"round_up": 3}, "nat", None),
        ({"advance": -1}, "nat", (1, 0)),
        ({"constant": 3}, "nat", (4, 3)),
        ({"advance": [-1, 1]}, PRODUCT, ((1, 0), (0, 1))),
        ({"advance": [1, -1]}, LEX, None),
        ({"map": [["a", "b"], ["b", "b"], ["c", "b"]]}, CHAIN, ("c", "b")),
        ({"constant": "c"}, CHAIN, None),
    ],
)
def test_condition_1(requests: Any, time: Any, witness: Any) -> None:
    verdict = condition_1(Graph(loop("identity", requests=requests, time=time)), 5)
    assert verdict.holds == (witness is None)
    if witness is not None:
        assert verdict.witness == (("body", witness[0]), ("body", witness[1]))


def test_condition_1_asks_only_who_asks() -> None:
    assert condition_1(Graph(loop("identity", requests={"advance": -1}, notify=False)), 5).holds


@pytest.mark.parametrize(
    ("summary", "time", "condition_2_holds", "strictly_below", "advances"),
    [
        ({"advance": 1}, "nat", True, False, True),
        ("identity", "nat", True, False, False),
        ("never", "nat", True, False, True),
        ({"at_least": 3}, "nat", True, False, False),
        ({"advance": -1}, "nat", False, True, False),
        ({"constant": 3}, "nat", False, True, False),
        ({"round_up": 3}, "nat", True, False, False),
        ({"then": [{"advance": 1}, {"round_up": 3}]}, "nat", True, False, True),
        ({"then": [{"round_up": 3}, {"advance": -1}]}, "nat", False, True, False),
        ({"advance": 1}, NAT2, True, False, True),
        ({"then": [{"at_least": 2}, {"advance": 1}]}, NAT2, True, False, True),  # at 2 there is no further time
        ({"advance": [1, -1]}, PRODUCT, False, False, True),
        ({"advance": [1, -1]}, LEX, True, False, True),
        ({"advance": [-1, 1]}, LEX, False, True, False),
        ({"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, PRODUCT, True, False, True),
        ({"any": [{"advance": [2, -1]}, {"advance": [-1, 2]}]}, PRODUCT, False, False, True),
        ({"any": [{"advance": [1, -2]}, {"advance": [-2, 1]}]}, PRODUCT, False, False, False),
        ({"map": [["a", "b"], ["b", "c"]]}, CHAIN, True, False, True),
        ({"map": [["a", "b"], ["b", "a"]]}, CHAIN, False, True, False),
        ({"map": [["a", "b"], ["b", "a"]]}, APART, False, False, False),  # back after two rounds
        ({"map": [["a", "b"]]}, APART, False, False, True),
        ("identity", "unit", True, False, False),
        ({"map": [[{"left": 0}, {"right": 0}]]}, {"sum": {"left": NAT2, "right": NAT2}}, False, False, True),
    ],
)
def test_conditions_of_a_loop(
    summary: Any, time: Any, condition_2_holds: bool, strictly_below: bool, advances: bool
) -> None:
    graph = Graph(loop(summary, time=time))
    verdict = condition_2(graph, 6)
    assert (verdict.holds, verdict.strictly_below) == (condition_2_holds, strictly_below)
    assert transitive(graph, 4).holds == condition_2_holds  # Theorem 1
    assert advancing(graph, 6).holds == advances


def test_two_loops_together_go_down_though_each_alone_does_not() -> None:
    graph = Graph(FIGURE_EIGHT)
    verdict = condition_2(graph, 4)
    assert (verdict.holds, verdict.strictly_below) == (False, False)
    assert along(graph, ["hub", "hub->a", "a", "a->hub", "hub", "hub->b", "b", "b->hub", "hub"], (2, 2)) == ((1, 1),)
    assert not advancing(graph, 4).holds


def test_condition_2_needs_only_internal_edges() -> None:
    document = {
        "pointstamp": 1,
        "time": "nat",
        "nodes": {"p": {"summary": {"advance": -1}}},
        "edges": [{"id": "i", "to": "p"}, {"id": "o", "from": "p"}],
    }
    graph = Graph(document)
    assert condition_2(graph, 5).holds
    assert transitive(graph, 5).holds
    assert advancing(graph, 5).holds


def test_sufficient_bound() -> None:
    document = ring({"advance": -3}, {"at_least": 4}, {"round_up": 4}, {"round_up": 6}, "feedback")
    assert sufficient_bound(document) == 1 + 3 + 4 + 4 + 6 + 1 + 12


# The paper's propositions, on random graphs


@pytest.mark.parametrize("seed", range(150))
def test_propositions(seed: int) -> None:
    rng = random.Random(seed)
    document = random_document(rng)
    assert document == random_document(random.Random(seed))
    graph = Graph(document)
    bound, sufficient = window_bound(document, 25)
    holds = condition_2(graph, bound).holds
    if not sufficient and holds:
        return  # it may still fail further up
    if sufficient:
        assert transitive(graph, bound).holds == holds  # Theorem 1
    for _ in range(5):
        start, end = random_query(rng, document, "could_result_in", graph)["could_result_in"]
        a, b = ((x, graph.time_from_json(x, t)) for x, t in (start, end))
        reached = results(graph, a)
        found = proof(graph, a, b)
        assert (found is not None) == is_in(graph, b, reached)
        assert found is None or is_proof(graph, found, a, b)
        if a[0] == b[0]:
            assert (found is not None) == graph.less_equal(a[0], a[1], b[1])  # Proposition 1.2
        for earlier in window(graph.domain[a[0]], 2):
            if graph.less_equal(a[0], earlier, a[1]) and found is not None:
                assert could_result_in(graph, (a[0], earlier), b)  # Proposition 1.3
        try:
            closure = close(graph, [a])
        except TooManySteps:
            assert not holds
            continue
        assert all(is_in(graph, (x, t), closure) for x, times in reached.items() for t in times)
        if holds:
            assert {x: set(times) for x, times in closure.items()} == {
                x: set(times) for x, times in reached.items()
            }  # Proposition 3
