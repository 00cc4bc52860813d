"""What things cost, in operations and not in time: where a bound is claimed, it holds, and does not grow.

Counted are `visits` (a vertex put right), `examined` (a waiter compared with a frontier), `Forest.compared`, arcs, and
comparisons of numbers that count how often they are compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from math import log2
from typing import Any

import pytest

from progress import Domain, Int, Lex, Nat, PointstampError, Product
from progress.engines.arcs import Entrances
from progress.engines.eager import Eager
from progress.engines.forest import Forest
from progress.engines.hierarchical import Hierarchical
from progress.engines.hierarchy import CORE, Hierarchy
from progress.engines.pairs import LONGEST_CHUNK, Pairs
from progress.engines.vertex_state import OtherPlace, Place, TotalPlace, place_for
from progress.summary import Summary
from progress.topology import NO_NODE
from progress.tracker import Tracker
from tests.tracking.flat_graphs import chain, identity, network_of, random_network, times_of

PAIR, LEX, TRIPLE = Product([Nat(), Nat()]), Lex([Nat(), Nat()]), Product([Nat(), Nat(), Nat()])
CONFIGURATIONS = tuple(product(("eager", "hierarchical"), (False, True)))
Stamp = Callable[[int], Any]
EPOCHS: dict[str, tuple[Domain, Stamp]] = {
    "int": (Int(), lambda epoch: epoch),
    "lex": (LEX, lambda epoch: (epoch // 3, epoch % 3)),
    "pairs": (PAIR, lambda epoch: (epoch, epoch)),
}


def propagation(tracker: Tracker) -> Any:
    """What keeps the frontiers: the kernel, or its twin."""
    engine = tracker._engine
    return engine.hubs if isinstance(engine, Hierarchical) else engine


def examined(tracker: Tracker) -> int:
    """How often a waiter was compared with a frontier."""
    inner = propagation(tracker)
    own = sum(place.examined for place in inner.places) if isinstance(inner, Eager) else inner.examined
    return int(max(own, getattr(tracker._engine, "examined", 0)))


# --- notification requests -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("order", EPOCHS)
@pytest.mark.parametrize(("engine", "kernel"), CONFIGURATIONS)
def test_the_number_of_pending_requests_does_not_count(engine: str, kernel: bool, order: str) -> None:
    """One is delivered an epoch, one is asked for: examinations are the same for 100, 1,000 and 10,000 that wait."""
    domain, stamp = EPOCHS[order]
    length, epochs = 60, 40
    network = chain(domain, length)
    last = f"n{length - 1}"
    found = []
    for pending in (100, 1_000, 10_000):
        requests = [(last, stamp(epoch)) for epoch in range(pending)]
        tracker = Tracker(network, inputs={"e0": [stamp(0)]}, requests=requests, engine=engine, kernel=kernel)
        before = examined(tracker)
        for epoch in range(1, epochs + 1):
            tracker.apply(messages=[("e0", stamp(epoch), 1)], inputs={"e0": [stamp(epoch)]})
            assert tracker.get_ready() == ((last, stamp(epoch - 1)),)
            tracker.apply(delivered=[(last, stamp(epoch - 1))], messages=[("e0", stamp(epoch), -1)])
            tracker.apply(requests=[(last, stamp(epoch + pending - 1))])
        found.append((examined(tracker) - before) / epochs)
    few, more, many = found
    assert few == more == many
    label = len(tracker._engine._label(length - 1)) if isinstance(tracker._engine, Hierarchical) else 1
    assert many <= label + 2


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [False, True])
def test_a_request_is_examined_once_for_each_latest_time_of_its_label(kernel: bool) -> None:
    waited = several = 0
    for seed in range(250):
        rng = random.Random(seed)
        network = random_network(rng, 12)
        try:
            tracker = Tracker(network, engine="hierarchical", kernel=kernel)
        except PointstampError:
            continue  # no kernel for this one
        engine = tracker._engine
        assert isinstance(engine, Hierarchical)
        inputs = {edge: times for edge, times in tracker.inputs().items() if times}
        for edge in tracker.inputs():
            domain = network.edge_domains[network.edges.index(edge)]
            after = [times_of(rng, domain) for _ in range(3) if edge in inputs]
            tracker.apply(messages=[(edge, time, 1) for time in after if domain.less_equal(inputs[edge][0], time)])
        node = rng.randrange(len(network.nodes))
        time = times_of(rng, network.domains[node], 6)
        before = engine.examined
        try:
            tracker.apply(requests=[(network.nodes[node], time)])
        except PointstampError:
            continue  # nothing may come there
        waits = not tracker.get_ready()
        waited += waits
        steps: list[dict[str, Any]] = [{"messages": [(*key, -count)]} for key, count in tracker.messages().items()]
        steps += [{"inputs": {edge: []}} for edge in tracker.inputs()]
        rng.shuffle(steps)
        for step in steps:
            tracker.apply(**step)
        if waits:  # a request in a cycle that does not advance waits for itself, for ever
            assert tracker.get_ready() or engine._hierarchy.graph.stubborn, seed
        if engine._hierarchy.rank[node] == CORE:
            bound = 0
        else:
            bound = sum(len(way.latest(time)) for way in engine._label(node))
        several += engine.examined - before > 2
        assert engine.examined - before <= bound + 2, seed
    assert waited > 40
    assert several > 20


def test_a_request_at_a_node_with_a_thousand_ways_out_is_one_change() -> None:
    fan = network_of(
        [Nat()] * 1_001,
        [(NO_NODE, 0, None), *((0, target, identity(Nat())) for target in range(1, 1_001))],
    )
    entrances = Entrances(fan)
    assert len(entrances.of_request(0, 5)) == 1
    assert len(entrances.ways_of_request(0)) == 1
    for kernel in (False, True):
        tracker = Tracker(fan, engine="eager", kernel=kernel, inputs={"e0": [3]})
        before = propagation(tracker).visits
        tracker.apply(requests=[("n0", 5)])  # not below what moves anything
        assert propagation(tracker).visits - before == 1


# --- changes ---------------------------------------------------------------------------------------------------------


def visits_of(tracker: Tracker, **step: Any) -> int:
    before = propagation(tracker).visits
    tracker.apply(**step)
    return int(propagation(tracker).visits - before)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [False, True])
def test_a_change_at_the_head_of_a_chain_climbs_few_hubs(kernel: bool) -> None:
    """O(log n): sixteen times the length are a few visits more, not sixteen times as many."""
    found = {}
    for length in (1_000, 16_000):
        tracker = Tracker(chain(Nat(), length), engine="hierarchical", kernel=kernel)
        assert tracker.engine == "hierarchical"
        found[length] = visits_of(tracker, inputs={"e0": [1]})
        assert found[length] <= 2.5 * log2(length)
        # What does not move the head's frontier goes nowhere.
        assert visits_of(tracker, messages=[("e0", 7, 1)]) <= 1
    assert found[16_000] <= found[1_000] + 12


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("domain", [Nat(), PAIR, LEX, TRIPLE], ids=repr)
def test_an_eager_change_visits_exactly_what_moves(kernel: bool, domain: Domain) -> None:
    length = 50
    tracker = Tracker(chain(domain, length), engine="eager", kernel=kernel)
    (least,) = domain.least()
    one = 1 if isinstance(least, int) else (1,) * len(least)
    assert visits_of(tracker, inputs={"e0": [one]}) == length
    assert visits_of(tracker, messages=[("e0", one, 1)]) == 0  # that it is there twice changes nothing
    assert visits_of(tracker, messages=[("e20", one, 1)]) == 1  # it is there, and moves nothing
    assert visits_of(tracker, inputs={"e0": []}) == 0
    assert visits_of(tracker, messages=[("e0", one, -1)]) == 21  # down to where the message is left: e20 enters n20
    assert visits_of(tracker, messages=[("e20", one, -1)]) == length - 20
    assert not tracker.clock()


@pytest.mark.slow
def test_labels_of_chains_are_short() -> None:
    for length in (100, 1_000, 10_000):
        for domain in (Nat(), PAIR, LEX):
            hierarchy = Hierarchy(Entrances(chain(domain, length)).arcs)
            assert hierarchy.core <= 1
            assert hierarchy.shortcuts <= length
            longest = max(len(hierarchy.label(vertex)) for vertex in range(0, length, 1 + length // 500))
            assert longest <= 2 * log2(length)


def layers(width: int, depth: int) -> list[tuple[int, int, Summary | None]]:
    """Each node of a layer leads to each of the next."""
    same = identity(Nat())
    ways: list[tuple[int, int, Summary | None]] = [(NO_NODE, node, None) for node in range(width)]
    for layer, one, other in product(range(depth - 1), range(width), range(width)):
        ways.append((layer * width + one, (layer + 1) * width + other, same))
    return ways


@pytest.mark.parametrize("kernel", [False, True])
def test_dense_layers_share_their_exits(kernel: bool) -> None:
    """2n arcs and not n * n from one layer to the next, and as many visits as there are nodes and exits."""
    width, depth = 40, 5
    network = network_of([Nat()] * (width * depth), layers(width, depth))
    arcs = Entrances(network).arcs
    assert len(arcs.arcs) == (depth - 1) * 2 * width
    assert len(arcs.domains) == width * depth + depth - 1
    tracker = Tracker(network, engine="eager", kernel=kernel)
    moved = visits_of(tracker, inputs={f"e{number}": [1] for number in range(width)})
    assert moved == len(arcs.domains)
    # One input that others hold back as well moves its own node, and is looked at where that leads to.
    assert visits_of(tracker, inputs={"e0": [2]}) == 2


# --- many times at one place -----------------------------------------------------------------------------------------


class Counting(int):
    """A number that counts how often any of its kind is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counting.compared += 1
        return int(self) < int(other)

    def __eq__(self, other: object) -> bool:
        Counting.compared += 1
        return isinstance(other, int) and int(self) == int(other)

    def __hash__(self) -> int:
        return hash(int(self))


def retired(place: Place, times: list[Any]) -> None:
    """All outstanding at once, then one after the other gone, each time with the frontier put right."""
    for time in times:
        place.count(time, 1)
        place.insert(time)
    for time in times:
        place.count(time, -1)
        if place.holds(time):
            place.discard(time)
            place.refill([time])


@pytest.mark.parametrize("kind", ["number", "lex"])
def test_times_of_a_total_order_retire_at_logarithmic_cost(kind: str) -> None:
    for number in (1_000, 8_000):
        domain: Domain = Nat() if kind == "number" else LEX
        times: list[Any] = [Counting(each) for each in range(number)]
        if kind == "lex":
            times = [(each, 0) for each in times]
        Counting.compared = 0
        retired(TotalPlace(domain), times)
        assert Counting.compared <= number * (4 * log2(number) + 20)


def test_pairs_retire_at_the_cost_of_a_chunk() -> None:
    """Each time O(chunks + log n): a chunk has at most 128 entries, and there is one for each 64 at least."""
    for number in (1_000, 8_000):
        times = [(Counting(each), Counting(number - each % 7)) for each in range(number)]
        place = place_for(PAIR)
        Counting.compared = 0
        retired(place, times)
        assert Counting.compared <= number * (2 * LONGEST_CHUNK + number / 32)


@pytest.mark.parametrize("order", ["rising", "falling", "any"])
def test_chunks_of_pairs_are_neither_long_nor_many(order: str) -> None:
    numbers = list(range(10_000))
    if order == "falling":
        numbers.reverse()
    elif order == "any":
        random.Random(1).shuffle(numbers)
    pairs = Pairs()
    for number in numbers:
        pairs.add((number, -number))
    assert max(map(len, pairs._chunks)) <= LONGEST_CHUNK
    assert len(pairs._chunks) <= 1 + len(numbers) // (LONGEST_CHUNK // 2)
    for number in numbers:
        pairs.remove((number, -number))
    assert not pairs._chunks
    assert not pairs._firsts
    assert not pairs._lowest


@pytest.mark.parametrize("order", ["rising", "falling", "any"])
def test_a_chain_of_other_times_retires_at_logarithmic_cost(order: str) -> None:
    """O(log n) comparisons each, amortised, as in a pairing heap."""
    for number in (500, 4_000):
        times = [(each, each, each // 2) for each in range(number)]
        coming = list(times)
        if order == "falling":
            coming.reverse()
        elif order == "any":
            random.Random(number).shuffle(coming)
        forest = Forest(TRIPLE.less_equal)
        for time in coming:
            forest.add(time)
            assert len(forest.roots) == 1
        added = forest.compared
        assert added <= 2 * number
        for time in times:
            assert list(forest.roots) == [time]
            forest.remove(time)
        assert forest.compared - added <= 4 * number * log2(number)
        assert not {**forest.roots, **forest._under, **forest._hanging}


@pytest.mark.parametrize("kernel", [False, True])
def test_messages_that_do_not_lead_move_nothing(kernel: bool) -> None:
    """A thousand queued messages above the frontier: each comes and goes with one visit."""
    for domain, stamp in EPOCHS.values():
        tracker = Tracker(chain(domain, 30), inputs={"e0": [stamp(0)]}, engine="eager", kernel=kernel)
        for epoch in range(1, 1_000):
            assert visits_of(tracker, messages=[("e0", stamp(epoch), 1)]) == 1
        for epoch in range(1, 1_000):
            assert visits_of(tracker, messages=[("e0", stamp(epoch), -1)]) == 1


# --- nothing is kept -------------------------------------------------------------------------------------------------


def contents(place: Any) -> int:
    """How many entries a place holds, of any kind."""
    if isinstance(place, dict | list):
        return len(place)
    if not isinstance(place, Pairs | Forest | TotalPlace | OtherPlace) and type(place).__name__ != "PairPlace":
        return 0
    return sum(contents(getattr(place, slot)) for slot in type(place).__slots__ if hasattr(place, slot))


def kept(tracker: Tracker) -> Iterator[tuple[str, int]]:
    """What a tracker holds for something outstanding."""
    ledger = tracker._ledger
    for edge in ledger.edges.values():
        yield edge.name, len(edge.messages) + len(edge.open) + contents(edge.lying)
    for node in ledger.nodes.values():
        yield node.name, len(node.requests) + contents(node.lying)
    yield "waiters", len(tracker._waiters)
    yield "eligible", len(tracker._eligible) + len(tracker._fresh)
    engine, inner = tracker._engine, propagation(tracker)
    if isinstance(engine, Hierarchical):
        yield "waiting at hubs", len(engine._waiting)
    if isinstance(inner, Eager):
        yield "places", sum(map(contents, inner.places))
        yield "frontiers", sum(len(place.times) + place.waiting for place in inner.places)
        yield "to be done", len(inner._queue) + len(inner._doubted) + len(inner._coming) + len(inner._woken)
    else:
        vertices = range(len(Entrances(tracker.network).arcs.domains))
        yield "frontiers", sum(len(inner.times(vertex)) for vertex in vertices)


@pytest.mark.slow
@pytest.mark.parametrize("domain", [Nat(), Int(), PAIR, LEX, TRIPLE], ids=repr)
@pytest.mark.parametrize(("engine", "kernel"), CONFIGURATIONS)
def test_nothing_is_kept_when_all_is_complete(engine: str, kernel: bool, domain: Domain) -> None:
    length = 12
    tracker = Tracker(chain(domain, length), engine=engine, kernel=kernel, inputs={"e0": [times_of_epoch(domain, 0)]})
    for epoch in range(150):
        time, following = times_of_epoch(domain, epoch), times_of_epoch(domain, epoch + 1)
        tracker.apply(messages=[("e0", time, 3)], requests=[(f"n{epoch % length}", time), (f"n{length - 1}", time)])
        if epoch % 7 == 0:
            tracker.clock()  # edges with many times are kept in order from now on
        tracker.apply(inputs={"e0": [following]})
        if epoch % 3 != 0:
            continue
        for edge, when in list(tracker.messages()):
            number = int(edge[1:])
            sent = [(f"e{number + 1}", when, 1)] if number + 1 < length else []
            tracker.apply(messages=[(edge, when, -tracker.messages()[edge, when]), *sent])
        tracker.apply(delivered=tracker.get_ready())
    tracker.apply(inputs={"e0": []})
    while tracker.messages():
        for edge, when in list(tracker.messages()):
            tracker.apply(messages=[(edge, when, -tracker.messages()[edge, when])])
    while tracker.pending():
        tracker.apply(delivered=tracker.get_ready())
    assert {name: number for name, number in kept(tracker) if number} == {}
    assert tracker.clock() == {}


def times_of_epoch(domain: Domain, epoch: int) -> Any:
    (least,) = domain.least() or (0,)
    return epoch if isinstance(least, int) else (epoch, *least[1:])
