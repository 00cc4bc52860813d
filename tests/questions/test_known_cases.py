"""Cases whose answers are known beforehand: from the paper, from timely dataflow, and worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.graphs_to_measure import complete
from graphs import Graph, add_operator, from_data
from graphs.checking.check import check_graph
from progress import CouldResultIn, PointstampError, check_conditions, close, eligible, universal_time


def ring(*summaries: int) -> Graph:
    """Nodes 0, 1, 2, ... in a ring, each adding its number."""
    graph = Graph()
    for number, amount in enumerate(summaries):
        graph.node(str(number), summary={"advance": amount})
    for number in range(len(summaries)):
        graph.edge(str(number), str((number + 1) % len(summaries)))
    return graph


def loop(amount: int, time: Any = "nat") -> Graph:
    """A body and a feedback node that adds `amount`; an input and an output."""
    graph = Graph(time=time).node("body").node("feedback", summary={"advance": amount}, notify=False)
    graph.edge(None, "body", id="input").edge("body", "feedback", id="out")
    return graph.edge("feedback", "body", id="back").edge("body", None, id="result")


def nested(kind: str) -> Graph:
    """The classic nested loop: an outer loop over epochs, an inner one over rounds."""
    graph = Graph(time={kind: ["nat", "nat", "nat"]})
    outer = {kind: ["nat", "nat"]}
    graph.node("ingress", time="nat", summary="enter").node("begin", time=outer, summary="enter")
    graph.node("work").node("inner", summary="feedback", notify=False).node("end", summary="leave", notify=False)
    graph.node("outer", time=outer, summary="feedback", notify=False).node("egress", time=outer, summary="leave")
    graph.edge(None, "ingress", id="in").edge("ingress", "begin").edge("begin", "work")
    graph.edge("work", "inner").edge("inner", "work").edge("work", "end").edge("end", "outer").edge("outer", "begin")
    return graph.edge("end", "egress").edge("egress", None, id="done")


def diamonds(count: int) -> Graph:
    """A chain of diamonds, 2 ** count paths through it, closed by a feedback edge."""
    graph = Graph().node("0")
    for number in range(count):
        graph.node(f"{number}a").node(f"{number}b").node(str(number + 1))
        for side in "ab":
            graph.edge(str(number), f"{number}{side}").edge(f"{number}{side}", str(number + 1))
    return graph.node("feedback", summary="feedback").edge(str(count), "feedback").edge("feedback", "0")


def test_a_capability_at_17_on_a_ring_that_adds_one_at_its_end() -> None:
    graph = ring(0, 0, 1)
    frontiers = close(graph, [("0->1", 17)]).frontiers
    assert [frontiers[edge] for edge in ("2->0", "0->1", "1->2")] == [(18,), (17,), (17,)]
    assert check_conditions(graph).advancing.holds


def test_the_same_ring_without_the_one_does_not_advance() -> None:
    report = check_conditions(ring(0, 0, 0))
    assert report.condition_2.holds
    assert report.advancing.holds is False
    assert set(report.advancing.cycle or ()) == {"0", "0->1", "1", "1->2", "2", "2->0"}


def test_ports_tell_apart_what_a_view_without_them_calls_a_zero_cycle() -> None:
    by_port = Graph()
    add_operator(
        by_port, "op", ["in0", "in1"], ["out0", "out1"], {("in0", "out0"): "identity", ("in1", "out1"): {"advance": 1}}
    )
    by_port.edge("op.out0", "op.in1").edge("op.out1", "op.in0")
    assert check_conditions(by_port).advancing.holds

    without = Graph().node("op", emits={"zero": "identity", "one": {"advance": 1}})
    without.node("wire0").node("wire1").edge("op", "wire0", id="zero").edge("wire0", "op")
    without.edge("op", "wire1", id="one").edge("wire1", "op")
    assert check_conditions(without).advancing.holds is False


@pytest.mark.parametrize("amount", [1, 2, 7])
def test_a_loop_that_adds_something_is_fine(amount: int) -> None:
    report = check_conditions(loop(amount))
    assert (report.condition_1.holds, report.condition_2.holds) == (True, True)
    assert (report.transitive.holds, report.advancing.holds) == (True, True)
    report.raise_if_broken()


def test_a_loop_that_adds_nothing_satisfies_condition_2_but_does_not_advance() -> None:
    report = check_conditions(loop(0))
    assert report.condition_2.holds
    assert report.advancing.holds is False
    with pytest.raises(PointstampError, match="PS301"):
        report.raise_if_broken()


def test_a_loop_that_subtracts_sends_into_the_past() -> None:
    report = check_conditions(loop(-1))
    witness = report.condition_2.witness
    assert witness is not None
    assert witness.strictly_below
    assert witness.arrives == witness.time - 1
    assert witness.path[0] == (witness.node, witness.time)
    assert witness.path[-1] == (witness.edge, witness.arrives)
    assert report.transitive.counterexample == (
        (witness.edge, witness.time),
        (witness.node, witness.time),
        (witness.edge, witness.arrives),
    )
    with pytest.raises(PointstampError, match="PS201"):
        report.raise_if_broken()


def test_the_nested_loop_warns_under_the_product_order_and_not_under_lex() -> None:
    product, lex = check_graph(nested("product")), check_graph(nested("lex"))
    assert [diagnostic.code for diagnostic in product.diagnostics] == ["PS202"]
    assert product.diagnostics[0].severity == "warning"
    assert "lex" in product.diagnostics[0].hint
    assert lex.diagnostics == []
    assert product.valid
    assert lex.valid
    assert product.conditions["condition_2"]["holds"] is False
    assert product.conditions["transitive"]["holds"] is False
    assert product.conditions["advancing"]["holds"] is True
    assert all(lex.conditions[verdict]["holds"] for verdict in lex.conditions)


def test_the_complete_graph_of_ten_nodes_is_judged_without_listing_its_million_cycles() -> None:
    report = check_conditions(complete(10))
    assert report.condition_2.holds
    assert report.advancing.holds


def test_twenty_diamonds_are_judged_without_listing_their_million_paths() -> None:
    report = check_conditions(diamonds(20))
    assert report.condition_2.holds
    assert report.advancing.holds


def test_where_condition_2_fails_definition_2_and_close_up_differ() -> None:
    graph = loop(-1)
    could = CouldResultIn(graph)
    assert could(("body", 5), ("back", 4))
    assert not could(("body", 5), ("back", 3)), "one lap only: locations are distinct"
    assert ("back", 0) in close(graph, [("body", 5)]), "but closure goes round again"


def test_a_long_fall_is_closed_at_once() -> None:
    frontiers = close(loop(-1), [("input", 10**30)]).frontiers
    assert frontiers["body"] == (0,)
    assert frontiers["input"] == (10**30,)


def test_a_fall_without_end_is_a_named_error() -> None:
    with pytest.raises(PointstampError) as caught:
        close(loop(-1, "int"), [("input", 0)])
    assert caught.value.code == "PS601"


def test_a_fall_beside_itself_without_end_is_a_named_error() -> None:
    graph = Graph(time={"product": ["int", "int"]})
    graph.node("a", summary={"advance": [-1, 1]}).node("b").edge("a", "b").edge("b", "a")
    with pytest.raises(PointstampError) as caught:
        close(graph, [("a", (0, 0))])
    assert caught.value.code == "PS601"


def test_cycles_that_fall_in_turn_are_weighed_against_each_other() -> None:
    def two(first: list[int], second: list[int]) -> bool | None:
        graph = Graph(time={"product": ["nat", "nat"]}).node("p")
        graph.node("a", summary={"advance": first}).node("b", summary={"advance": second})
        graph.edge("p", "a").edge("a", "p").edge("p", "b").edge("b", "p")
        return check_conditions(graph).advancing.holds

    assert two([-1, 2], [2, -1]) is True, "under equal weights both gain"
    assert two([1, -2], [-2, 1]) is False, "one after the other they lose everywhere"
    assert two([1, -1], [-1, 1]) is False, "one after the other they come back"
    assert two([-1, 3], [1, -2]) is True


def test_eligible_is_judged_by_the_clock_of_exactly_what_is_given() -> None:
    answer = eligible(loop(1), messages=[("input", 3)], requests=[("body", 2), ("body", 5)])
    assert answer.eligible == (("body", 2),)
    (blocked,) = answer.blocked
    assert blocked.request == ("body", 5)
    assert blocked.proof[-1].time == 5


def test_a_request_does_not_block_itself_on_a_loop_that_advances() -> None:
    assert eligible(loop(1), requests=[("body", 4)]).eligible == (("body", 4),)
    assert eligible(loop(0), requests=[("body", 4)]).blocked[0].by == ("body", 4)


def test_bounded_counters_end_the_path() -> None:
    graph = loop(1, {"nat": {"max": 3}})
    assert check_conditions(graph).advancing.holds
    assert close(graph, [("feedback", 3)]).frontiers == {"feedback": (3,)}


def test_bounded_counters_can_make_a_falling_loop_harmless() -> None:
    graph = Graph(time={"nat": {"max": 3}})
    graph.node("up", summary={"advance": 3}).node("down", summary={"advance": -5})
    graph.edge("up", "down").edge("down", "up")
    report = check_conditions(graph)
    assert report.condition_2.holds, "no time survives a lap"
    assert report.advancing.holds


def test_a_floor_can_make_a_falling_loop_rise() -> None:
    graph = Graph().node("up", summary={"round_up": 10}).node("down", summary={"advance": -1})
    graph.edge("up", "down").edge("down", "up")
    report = check_conditions(graph)
    assert report.condition_2.holds is False, "from 10 it comes back at 9"
    assert report.condition_2.witness is not None
    assert report.condition_2.witness.strictly_below


def test_requests_into_the_past() -> None:
    graph = Graph().node("p", requests={"advance": -1}).node("q", requests={"advance": -1}, notify=False)
    report = check_conditions(graph.edge("p", "q"))
    assert report.condition_1.holds is False
    assert [early.node for early in report.condition_1.witnesses] == ["p"], "q never asks"


def test_universal_time_embeds_exactly_when_condition_2_holds() -> None:
    good, bad = loop(1), loop(-1)
    assert universal_time(good, "body", 2) <= universal_time(good, "back", 3)
    assert not universal_time(good, "body", 2) <= universal_time(good, "back", 2)
    assert universal_time(bad, "body", 2) <= universal_time(bad, "back", 0), "although Definition 2 says no"
    assert not CouldResultIn(bad)(("body", 2), ("back", 0))


def test_a_graph_that_names_the_node_after_the_edge() -> None:
    with pytest.raises(PointstampError, match="PS010"):
        from_data({"pointstamp": 1, "nodes": {"a": {}, "b": {}}, "edges": [{"id": "a", "from": "a", "to": "b"}]})
