"""Graphs from mappings of predecessors: a tracker hands nodes out as `graphlib` does."""

from __future__ import annotations

import random
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import networkx
import pytest

from graphs import from_edges, from_predecessors
from progress import CouldResultIn, PointstampError, Tracker, check_conditions


def random_order(rng: random.Random) -> dict[str, list[str]]:
    names = [f"n{number}" for number in range(rng.randint(1, 12))]
    shuffled = rng.sample(names, len(names))
    return {name: rng.sample(shuffled[:place], rng.randint(0, min(3, place))) for place, name in enumerate(shuffled)}


@pytest.mark.parametrize("seed", range(60))
def test_a_tracker_hands_nodes_out_as_graphlib_does(seed: int) -> None:
    rng = random.Random(seed)
    predecessors = random_order(rng)
    graph = from_predecessors(predecessors)
    tracker = Tracker(graph, requests=[(node, 0) for node in graph.nodes])
    sorter = TopologicalSorter(predecessors)
    sorter.prepare()
    working: list[str] = []
    while sorter.is_active():
        expected = set(sorter.get_ready())
        assert {node for node, _ in tracker.get_ready()} == expected
        working += sorted(expected)
        node = working.pop(rng.randrange(len(working)))
        sorter.done(node)
        with tracker.step() as step:
            step.delivered(node, 0)
    assert not working
    assert tracker.get_ready() == ()


def test_names_and_nodes_that_are_only_predecessors() -> None:
    graph = from_predecessors({2: [1], "three": (1, 2, 2)})
    assert list(graph.nodes) == ["1", "2", "three"]
    assert sorted(graph.edges) == ["1->2", "1->three", "2->three"]
    assert check_conditions(graph).advancing.holds
    assert check_conditions(from_predecessors({"a": ["b"], "b": ["a"]})).advancing.holds is False
    assert from_predecessors({}, time="unit").nodes == {}


@pytest.mark.parametrize(
    "given",
    [["a", "b"], {"a": "bc"}, {"a": 3}, {"a": [1, "1"]}, {"a": ["a"]}],
    ids=["list", "text", "int", "same", "self"],
)
def test_what_is_no_mapping_of_predecessors_is_refused_in_one_line(given: Any) -> None:
    with pytest.raises(PointstampError) as refused:
        from_predecessors(given)
    assert "\n" not in str(refused.value)
    assert refused.value.hint


# --- edges of any kind ------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """An edge of somebody else's graph."""

    name: str
    begin: Any
    end: Any
    again: bool


def test_edges_of_any_kind_with_a_callback_for_what_they_do() -> None:
    lines = [Line("x", 1, 2, False), Line("y", 2, 1, True), Line("z", 1, 2, False), Line("in", None, 1, False)]
    graph = from_edges(
        [*lines, Line("out", 2, None, False)],
        lambda line: {"advance": 1} if line.again else None,
        nodes=[3],
        ends=lambda line: (line.begin, line.end),
    )
    assert list(graph.nodes) == ["1", "2", "3"]
    assert list(graph.edges) == ["1->2", "2->1", "1->2 2", "in->1", "2->out"]
    assert check_conditions(graph).advancing.holds
    assert CouldResultIn(graph)(("in->1", 0), ("2->1", 1))
    assert not CouldResultIn(graph)(("2->1", 1), ("1->2", 0))
    standing = from_edges([("a", "b", 0), ("b", "a", 0)], lambda edge: {"advance": edge[2]}, time="int")
    assert check_conditions(standing).advancing.holds is False
    drawing: Any = networkx.DiGraph([("a", "b"), ("b", "c")])
    assert list(from_edges(drawing.edges).edges) == ["a->b", "b->c"]


@pytest.mark.parametrize(
    "edges", [[3], ["a"], [("a",)], [(1, "1")], [(None, None)], [{"from": "a"}], [("a", "a")], [("a", "b", "c"), None]]
)
def test_what_is_not_an_edge_is_refused_in_one_line(edges: Any) -> None:
    with pytest.raises(PointstampError) as refused:
        from_edges(edges).network()
    assert "\n" not in str(refused.value)
    assert refused.value.hint
