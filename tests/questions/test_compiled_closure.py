"""Close-up by the kernel: on random large graphs, the answers of the closure that is computed in plain Python."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from graphs import Graph
from progress import Pointstamp, closure
from progress.closure import MANY_EDGES, Closure, close_numbered
from progress.kernel.closure import CompiledClosure, close_compiled
from progress.topology import Network


def layered(seed: int, time: object) -> Network:
    """A graph of a few thousand nodes with loops that advance, loops entered and left, and parallel edges."""
    rng = random.Random(seed)
    graph = Graph(time=time)
    pairs = time != "nat"
    count = 1_500
    for number in range(count):
        amount = rng.choice((0, 0, 1, 2))
        graph.node(f"n{number}", summary={"advance": [amount, rng.choice((0, 1))] if pairs else amount})
    graph.node("back", summary={"advance": [1, 0] if pairs else 1})
    graph.edge(None, "n0", "input")
    for number in range(MANY_EDGES):
        source = rng.randrange(count - 1)
        graph.edge(f"n{source}", f"n{rng.randrange(source + 1, min(count, source + 40))}", f"e{number}")
    graph.edge(f"n{count - 1}", "back", "down")
    graph.edge("back", "n0", "up")
    graph.edge(f"n{count - 1}", None, "output")
    return graph.network()


@pytest.mark.parametrize("time", ["nat", {"product": ["nat", "nat"]}, {"lex": ["nat", "nat"]}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_closes_as_plain_python_does(time: object, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network = layered(seed, time)
    rng = random.Random(seed)
    locations = len(network.nodes) + len(network.edges)
    sample = network.domains[0].sample()
    given = [(rng.randrange(locations), rng.choice(sample)) for _ in range(1 + 8 * seed)]
    fast = close_compiled(network, given)
    assert isinstance(fast, CompiledClosure)
    monkeypatch.setattr(closure, "MANY_EDGES", len(network.edges) * 100)
    plain = close_numbered(network, given)
    assert not isinstance(plain, CompiledClosure)
    assert fast.frontiers == plain.frontiers
    for _ in range(200):
        location, time_there = rng.randrange(locations), rng.choice(sample)
        assert fast.covers(location, time_there) == plain.covers(location, time_there)
        assert fast.times(location) == plain.times(location)
        compare_ways(network, fast, plain, location, time_there, given)


def compare_ways(
    network: Network, fast: Closure, plain: Closure, location: int, time: object, given: list[tuple[int, object]]
) -> None:
    """Both find a way or none; the kernel's begins at what was given and each step follows from the one before."""
    way = fast.way(location, time)
    assert (way is None) == (plain.way(location, time) is None)
    if way is None:
        return
    first, last = way.proof[0], way.proof[-1]
    assert (network.numbers[first.location], first.time) in given
    assert (network.numbers[last.location], last.time) == (location, time)
    for (before, left), (after, arrived) in pairwise(way.proof):
        assert follows(network, Pointstamp(before, left), Pointstamp(after, arrived)), f"{way}"


def follows(network: Network, before: Pointstamp, after: Pointstamp) -> bool:
    """Whether one pointstamp leads to the other in one step (Definition 2)."""
    here, there = network.numbers[before.location], network.numbers[after.location]
    less_equal = network.domain(there).less_equal
    if here == there:
        return less_equal(before.time, after.time)
    return any(
        less_equal(arrived, after.time)
        for location, summary in network.successors(here)
        if location == there
        for arrived in ((before.time,) if summary is None else summary.apply(before.time))
    )


def test_small_graphs_and_graphs_in_doubt_are_closed_in_plain_python() -> None:
    graph = Graph().node("a").node("b").edge("a", "b", "there").edge("b", "a", "back")
    assert not isinstance(close_numbered(graph.network(), [(0, 0)]), CompiledClosure)
    for number in range(MANY_EDGES):
        graph.edge("a", "b", f"e{number}")
    assert not isinstance(close_numbered(graph.network(), [(0, 0)]), CompiledClosure)


def test_what_passes_many_edges_goes_on_in_the_kernel() -> None:
    graph = Graph()
    for number in range(4 * MANY_EDGES):
        graph.node(f"n{number}")
    for number in range(4 * MANY_EDGES - 1):
        graph.edge(f"n{number}", f"n{number + 1}", f"e{number}")
    chain = graph.network()
    assert isinstance(close_numbered(chain, [(0, 0)]), CompiledClosure)
    assert not isinstance(close_numbered(chain, [(chain.numbers["n19000"], 0)]), CompiledClosure)


def test_numbers_beyond_the_kernel_are_closed_in_plain_python() -> None:
    closure = close_numbered(layered(0, "nat"), [(0, 10**30)])
    assert not isinstance(closure, CompiledClosure)
    assert closure.times(0) == (10**30,)
