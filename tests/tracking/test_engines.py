"""Every engine of the `Tracker`, judged by the definitions after each step, on graphs that random sessions seldom draw:
nodes with many ways out, layers, loops in which a request waits at several hubs, many times at one location."""

from __future__ import annotations

import random
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import PointstampError, Tracker
from progress.order import Domain, Nat, is_number
from progress.topology import NO_NODE, Network
from progress.tracking.ledger import FEW
from tests.reference.against_sessions import CONFIGURATIONS, Configuration
from tests.tracking.flat_graphs import random_network, times_of

GRAPHS = 120
STEPS = 30


class Topology:
    """A network that is there already."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def network(self) -> Network:
        return self._network


def tracker(graph: Any, configuration: Configuration, **options: Any) -> Tracker:
    """A tracker of this configuration; without the kernel where that does not fit."""
    engine, kernel = configuration
    try:
        return Tracker(graph, engine=engine, kernel=kernel, **options)
    except PointstampError as error:
        if not kernel or error.code != "PS512":
            raise
        return Tracker(graph, engine=engine, **options)


def later(rng: random.Random, domain: Domain, time: Any) -> Any:
    """A time at or above this one, mostly near it."""
    if is_number(domain):
        grown = time + rng.choice([0, 0, 1, 2])
        return grown if not isinstance(domain, Nat) or domain.maximum is None else min(grown, domain.maximum)
    return tuple(later(rng, part, number) for part, number in zip(domain.parts, time, strict=True))  # type: ignore[attr-defined]


def random_deed(rng: random.Random, tracked: Tracker, drain: float) -> dict[str, Any]:
    """A part of a step: something taken with chance `drain`, else something added, seldom much at one location."""
    network = tracked.network
    queued, ready = list(tracked.messages()), list(tracked.eligible())
    opened = [edge for edge, times in tracked.inputs().items() if times]
    if rng.random() < drain and (queued or ready or opened):
        match rng.choice(["message"] * bool(queued) * 2 + ["request"] * bool(ready) * 2 + ["input"] * bool(opened)):
            case "message":
                edge, time = rng.choice(queued)
                return {"messages": [(edge, time, -rng.randint(1, tracked.messages()[edge, time]))]}
            case "request":
                return {"delivered": [rng.choice(ready)]}
        edge = rng.choice(opened)
        domain = network.edge_domains[network.edges.index(edge)]
        times = [later(rng, domain, rng.choice(tracked.inputs()[edge])) for _ in range(rng.choice([0, 1, 1, 2]))]
        return {"inputs": {edge: times}}
    clock = tracked.clock()
    if not clock:
        return {}
    location = rng.choice(list(clock))
    number = network.numbers[location]
    is_node = number < len(network.nodes)
    domain = network.domains[number] if is_node else network.edge_domains[number - len(network.nodes)]
    times = [rng.choice(clock[location]) for _ in range(2 * FEW if rng.random() < 0.05 else 1)]
    for _ in range(min(len(times), 4)):
        times = [later(rng, domain, time) for time in times]
    if is_node:
        return {"requests": [(location, time) for time in times]}
    return {"messages": [(location, time, rng.choice([1, 1, 2])) for time in times]}


def work(rng: random.Random, tracked: Tracker, steps: int) -> int:
    """So many steps, each judged, with what subscribers are told of it; how many requests were handed out."""
    handed_out = 0
    told: list[Any] = []
    for location in (*tracked.network.nodes, *tracked.network.edges):
        tracked.subscribe(location, lambda *move: told.append(move))
    before = tracked.clock()
    for number in range(steps):
        step: dict[str, Any] = {}
        for _ in range(rng.choice([1, 1, 2])):
            step |= random_deed(rng, tracked, 0.15 + 0.7 * number / steps)
        tracked.apply(**step)
        tracked._check()
        now = tracked.clock()
        moves = {}
        for location in before.keys() | now.keys():
            old, new = set(before.get(location, ())), set(now.get(location, ()))
            if old != new:
                moves[location] = old - new, new - old
        assert {location: (set(left), set(came)) for location, left, came in told} == moves
        assert len(told) == len(moves)
        told.clear()
        before = now
        handed_out += len(tracked.get_ready())
    return handed_out


def renumbered(rng: random.Random, network: Network) -> Network:
    """The same network with its nodes in another order."""
    order = list(range(len(network.nodes)))
    rng.shuffle(order)
    places = {node: place for place, node in enumerate(order)} | {NO_NODE: NO_NODE}
    return Network(
        [network.nodes[node] for node in order],
        [network.domains[node] for node in order],
        [network.requests[node] for node in order],
        [network.notifies[node] for node in order],
        network.edges,
        [places[source] for source in network.sources],
        [places[target] for target in network.targets],
        network.edge_domains,
        network.summaries,
    )


def some_inputs(rng: random.Random, network: Network) -> dict[str, Any]:
    return {
        name: [times_of(rng, domain, 2) for _ in range(rng.choice([1, 1, 2, 3]))]
        for name, domain, source in zip(network.edges, network.edge_domains, network.sources, strict=True)
        if source == NO_NODE
    }


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_random_work_on_random_graphs(configuration: Configuration) -> None:
    ready = 0
    for seed in range(GRAPHS):
        rng = random.Random(seed)
        network = renumbered(rng, random_network(rng, 8))
        tracked = tracker(Topology(network), configuration, inputs=some_inputs(rng, network))
        ready += work(rng, tracked, STEPS)
    assert ready > GRAPHS


def test_who_waits_is_known_to_a_new_engine() -> None:
    """A number that is too large for the kernel comes while requests wait: the kernel's twin goes on with them."""
    graph = from_data(
        {
            "pointstamp": 1,
            "time": "nat",
            "nodes": {"first": {}, "second": {}},
            "edges": [{"id": "in", "to": "first"}, {"id": "way", "from": "first", "to": "second"}],
        }
    )
    for engine in ("eager", "hierarchical"):
        tracked = tracker(graph, (engine, True), requests=[("first", 5), ("second", 7)])
        assert tracked.get_ready() == ()
        tracked.apply(messages=[("in", 1 << 70, 1)])
        assert not tracked.kernel
        assert tracked.get_ready() == ()
        tracked._check()
        tracked.apply(inputs={"in": [6]})
        assert tracked.get_ready() == (("first", 5),)
        tracked.apply(inputs={"in": []}, delivered=[("first", 5)])
        assert tracked.get_ready() == (("second", 7),)
        tracked._check()


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_exits_that_hold_back_themselves(configuration: Configuration) -> None:
    """Two nodes with many ways out hold each other at 0, where nothing can fall any more; only their exits stay in the
    core of the hierarchy."""
    graph = Graph("nat").node("one", summary={"advance": -1}).node("other")
    for name in ("left", "right"):
        graph.node(name)
    graph.edge(None, "one", id="in").edge("one", "other").edge("other", "one")
    for name in ("left", "right"):
        graph.edge("one", name).edge("other", name)
    tracked = tracker(graph, configuration, requests=[("left", 0), ("right", 3)])
    tracked.apply(messages=[("in", 4, 1)], inputs={"in": [5]})
    tracked._check()
    assert tracked.get_ready() == ()
    tracked.apply(inputs={"in": []})
    tracked._check()
    tracked.apply(messages=[("in", 4, -1)])
    tracked._check()
    assert tracked.clock() == {"left": (0,), "right": (3,)}
    assert tracked.get_ready() == (("left", 0), ("right", 3))


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_a_request_may_wait_for_several_times_at_one_hub(configuration: Configuration) -> None:
    """The way leads from (0, 2) and from (2, 0) to what is at or below (2, 2), and both are there."""
    graph = Graph({"product": ["nat", "nat"]}).node("end")
    graph.node("start", summary={"any": [{"advance": [2, 0]}, {"advance": [0, 2]}]})
    graph.edge(None, "start", id="in").edge("start", "end", id="way")
    for first, second in (((0, 2), (2, 0)), ((2, 0), (0, 2))):
        tracked = tracker(graph, configuration, requests=[("end", (2, 2))])
        tracked.apply(messages=[("in", first, 1), ("in", second, 1)], inputs={"in": []})
        assert tracked.get_ready() == ()
        tracked.apply(messages=[("in", first, -1)])
        assert tracked.get_ready() == ()
        tracked.apply(messages=[("in", second, -1)])
        assert tracked.get_ready() == (("end", (2, 2)),)


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_what_follows_may_still_be_no_time_there(configuration: Configuration) -> None:
    graph = Graph({"nat": {"max": 3}}).node("one").node("other")
    graph.edge(None, "one", id="in").edge("one", "other", id="way")
    tracked = tracker(graph, configuration)
    tracked.apply(messages=[("in", 2, 2)])
    for step in ({"messages": [("in", 2, -1), ("way", 4, 1)]}, {"messages": [("in", 2, -1)], "requests": [("one", 4)]}):
        with pytest.raises(PointstampError) as caught:
            tracked.apply(**step)
        assert caught.value.code == "PS503"
    assert tracked.messages() == {("in", 2): 2}
