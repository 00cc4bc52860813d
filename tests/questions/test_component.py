"""Components, potentials and weights against networkx and against trying everything."""

from __future__ import annotations

import itertools
import random

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from progress.component import components, shortest_path
from progress.cycles.potential import potentials
from progress.cycles.weighting import weigh

Edges = list[tuple[int, int, int]]
EDGES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(-3, 5)).filter(lambda edge: edge[0] != edge[1]),
    min_size=1,
    max_size=20,
)


def columns(edges: Edges) -> tuple[list[int], list[int], list[int]]:
    sources, targets, weights = zip(*edges, strict=True)
    return list(sources), list(targets), list(weights)


@given(EDGES, st.sampled_from([8, 1000]))
def test_components_are_those_of_networkx(edges: Edges, count: int) -> None:
    sources, targets, _ = columns(edges)
    graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(zip(sources, targets, strict=True))
    expected = {
        frozenset(number for number, (source, target, _) in enumerate(edges) if source in nodes and target in nodes)
        for nodes in networkx.strongly_connected_components(graph)
    }
    found = components(range(len(edges)), sources, targets, count)
    assert {frozenset(part) for part in found} == {part for part in expected if part}


@given(EDGES)
def test_potentials_or_a_negative_cycle(edges: Edges) -> None:
    sources, targets, weights = columns(edges)
    for part in components(range(len(edges)), sources, targets, 8):
        graph: networkx.DiGraph[int] = networkx.DiGraph()
        for edge in part:
            lightest = min(weights[other] for other in part if edges[other][:2] == edges[edge][:2])
            graph.add_edge(sources[edge], targets[edge], weight=lightest)
        level, cycle = potentials(part, sources, targets, [weights[edge] for edge in part])
        assert (cycle is not None) == networkx.negative_edge_cycle(graph)
        if cycle is None:
            assert all(level[targets[edge]] <= level[sources[edge]] + weights[edge] for edge in part)
        else:
            assert all(targets[one] == sources[other] for one, other in itertools.pairwise([*cycle, cycle[0]]))
            assert len({sources[edge] for edge in cycle}) == len(cycle)
            assert sum(weights[edge] for edge in cycle) < 0


@pytest.mark.parametrize("total", [-1, 0, 1])
def test_a_long_ring_whose_weights_add_up_only_at_its_end(total: int) -> None:
    rng = random.Random(total)
    count = 20_000
    weights = [rng.randint(-3, 3) for _ in range(count)]
    weights[0] += total - sum(weights)
    sources, targets = list(range(count)), [(number + 1) % count for number in range(count)]
    _, cycle = potentials(range(count), sources, targets, weights)
    assert (cycle is not None) == (total < 0)
    if cycle is not None:
        assert len(cycle) == count


@given(EDGES, st.integers(0, 7), st.integers(0, 7))
def test_shortest_paths_are_as_short_as_networkx_finds(edges: Edges, start: int, goal: int) -> None:
    sources, targets, _ = columns(edges)
    graph: networkx.DiGraph[int] = networkx.DiGraph(zip(sources, targets, strict=True))
    path = shortest_path(range(len(edges)), sources, targets, start, {goal})
    if start == goal or start not in graph or goal not in graph or not networkx.has_path(graph, start, goal):
        assert start == goal or path is None
        return
    assert path is not None
    assert len(path) == networkx.shortest_path_length(graph, start, goal)
    assert sources[path[0]] == start
    assert targets[path[-1]] == goal


@given(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[st.integers(-4, 4)] * width), min_size=1, max_size=5))
)
def test_weights_or_a_mixture(vectors: list[tuple[int, ...]]) -> None:
    sign, weights, mixture = weigh(vectors)
    assert min(weights) >= 0
    assert min(mixture) >= 0
    assert sum(weights) > 0
    assert sum(mixture) > 0
    gains = [sum(weight * number for weight, number in zip(weights, vector, strict=True)) for vector in vectors]
    totals = [
        sum(times * vector[axis] for times, vector in zip(mixture, vectors, strict=True))
        for axis in range(len(weights))
    ]
    if sign > 0:
        assert min(gains) > 0
    elif sign < 0:
        assert max(totals) < 0
    else:
        assert min(gains) >= 0
        assert max(totals) <= 0
