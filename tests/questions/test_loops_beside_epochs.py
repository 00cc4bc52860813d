"""Loops in loops whose counters are ordered lexicographically, beside epochs that are not: `[epoch, [outer, inner]]`.

The product of all of them breaks Condition 2 (PS202), and `lex` of all of them lets each epoch wait for the last.
"""

from __future__ import annotations

from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError, Tracker, check_conditions

EPOCH: Any = "nat"
OUTER: Any = {"product": ["nat", "nat"]}
INNER: Any = {"product": ["nat", {"lex": ["nat", "nat"]}]}
INNERMOST: Any = {"product": ["nat", {"lex": ["nat", "nat", "nat"]}]}


def nested(outer: Any, inner: Any) -> Graph:
    """in -> begin -> head -> go -> work -> back -> work, work -> done -> turn -> head, head -> end -> out."""
    graph = Graph().node("begin", time=EPOCH, summary="enter").node("end", time=EPOCH)
    graph.node("head", time=outer, emits={"go": "enter", "over": "leave"})
    graph.node("work", time=inner, emits={"done": "leave"})
    graph.node("again", time=inner, summary="feedback", notify=False)
    graph.node("turn", time=outer, summary="feedback", notify=False)
    graph.edge(None, "begin", "in").edge("begin", "head", "first").edge("head", "work", "go").edge(
        "work", "again", "on"
    )
    graph.edge("again", "work", "round").edge("work", "turn", "done").edge("turn", "head", "next")
    return graph.edge("head", "end", "over").edge("end", None, "out")


def test_epochs_of_loops_in_loops_do_not_wait_for_each_other() -> None:
    graph = nested(OUTER, INNER)
    verdicts = check_conditions(graph)
    assert verdicts.condition_2.holds
    assert verdicts.advancing.holds
    asked = [("work", (0, (2, 0))), ("work", (1, (0, 5))), ("work", (1, (2, 1)))]
    tracker = Tracker(graph, inputs={"in": [9]}, requests=asked)
    assert tracker.get_ready() == (("work", (0, (2, 0))), ("work", (1, (0, 5)))), "though the first epoch goes on"
    with tracker.step() as step:
        step.delivered("work", (1, (0, 5)))
    assert not tracker.get_ready(), "no round of an epoch is before that round of the epoch before"
    with tracker.step() as step:
        step.delivered("work", (0, (2, 0)))
        step.message("go", (0, (3, 0)))
    assert tracker.get_ready() == (("work", (1, (2, 1))),)


def test_in_the_other_orders_they_would_wait_or_be_refused() -> None:
    """So none of the two that could be written before does."""
    every = nested({"product": ["nat"] * 2}, {"product": ["nat"] * 3})
    assert check_conditions(every).condition_2.holds is False
    asked = [("work", (0, 2, 0)), ("work", (1, 0, 5))]
    tracker = Tracker(nested({"lex": ["nat"] * 2}, {"lex": ["nat"] * 3}), inputs={"in": [9]}, requests=asked)
    assert tracker.get_ready() == (("work", (0, 2, 0)),)


def test_three_loops_are_entered_one_by_one_and_left_at_once_as_far_as_their_edges_say() -> None:
    graph = Graph().node("a", time=OUTER, summary="enter").node("b", time=INNER, summary={"enter": 3})
    graph.node("c", time=INNERMOST, emits={"one": "leave", "all": "leave"})
    graph.edge(None, "a", "in").edge("a", "b", "ab").edge("b", "c", "bc").edge("c", None, "one", time=INNER)
    graph.edge("c", None, "all", time=EPOCH)
    tracker = Tracker(graph, inputs={"in": [(4, 2)]})
    assert tracker.frontier("c") == ((4, (2, 0, 3)),)
    assert [tracker.frontier(edge) for edge in ("one", "all")] == [((4, (2, 0)),), (4,)]


@pytest.mark.parametrize(
    ("summary", "before", "after"),
    [
        ("enter", OUTER, {"product": ["int", {"lex": ["nat", "nat"]}]}),  # another epoch
        ("enter", OUTER, INNERMOST),  # two loops at once
        ({"enter": -1}, OUTER, INNER),
        ("leave", INNERMOST, OUTER),
        ("leave", INNER, {"product": ["int", "nat"]}),
    ],
)
def test_what_does_not_fit_is_still_refused(summary: Any, before: Any, after: Any) -> None:
    graph = Graph().node("a", time=before, summary=summary).node("b", time=after)
    with pytest.raises(PointstampError, match="PS401"):
        graph.edge("a", "b", "ab").network()
