"""The orders of stacks: preorders, what they identify, the forms that stand for it, and the laws of the partial orders.

Everything is judged by the reference, for all stacks to some depth at locations of random graphs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from graphs import from_data, load
from progress import Tracker
from progress.laws import check_domain
from progress.order import Tagged, opening_times
from progress.summary import NoMinimalTimes
from recursion import reference
from recursion.network import CallRelation
from recursion.order import StackClasses, StackOrder, virtual_times
from recursion.reference import Stack as Names
from recursion.stack import Stack
from tests.recursion.random_calls import random_calls, usual_depth
from tests.recursion.tools import PROGRAMS
from tests.reference.against_reference import Tally


class Place(NamedTuple):
    """A location with all its stacks to a depth, and what the reference says of them."""

    location: str
    oracle: reference.Graph
    order: StackOrder
    deepest: int
    stacks: dict[Names, Stack]
    above: dict[Names, set[Names]]

    def less_equal(self, one: Names, other: Names) -> bool:
        return other in self.above[one]

    def equivalent(self, one: Names, other: Names) -> bool:
        return other in self.above[one] and one in self.above[other]


@cache
def places() -> list[Place]:
    """Some locations of each of many random graphs, nodes and edges of every kind."""
    return list(_random_places(range(180), 31, 5))


def _random_places(seeds: range, most_stacks: int, locations: int) -> Iterator[Place]:
    for seed in seeds:
        rng = random.Random(seed)
        document = random_calls(rng, epochs=False)
        oracle, network = reference.Graph(document), from_data(document).network()
        assert isinstance(network.relation, CallRelation)
        relation = network.relation.relation
        deepest = usual_depth(oracle, most_stacks)
        for location in rng.sample(oracle.locations, min(locations, len(oracle.locations))):
            names = oracle.stacks_at(location, deepest)
            above = {
                each: {after for place, after in oracle.results((location, each), deepest) if place == location}
                for each in names
            }
            stacks = {each: relation.graph.stack(*each) for each in names}
            yield Place(location, oracle, relation.order(network.number(location)), deepest, stacks, above)


@pytest.mark.slow
def test_the_preorder_and_what_it_identifies() -> None:
    tally = Tally()
    for place in places()[:300]:
        for one, first in place.stacks.items():
            for other, second in place.stacks.items():
                assert place.order.less_equal(first, second) is place.less_equal(one, other)
                same = place.order.equivalent(first, second)
                assert same is place.equivalent(one, other)
                assert same is place.order.equivalent(second, first)
                assert same or one != other
                tally.add("pairs")
                tally.add(f"pairs: {'identified' if same and one != other else 'equal' if same else 'told apart'}")
                if same:  # what is equivalent to the one is equivalent to the other
                    for third, last in place.stacks.items():
                        assert place.order.equivalent(second, last) is place.equivalent(one, third)
    assert tally.counts["pairs: identified"] > tally.total / 50, tally.counts


@pytest.mark.slow
def test_canonical_stacks_stand_for_their_classes() -> None:
    tally = Tally()
    for place in places():
        canonical = {names: place.order.canonical(stack) for names, stack in place.stacks.items()}
        for names, form in canonical.items():
            assert place.order.canonical(form) is form
            assert place.order.contains(form)
            assert place.oracle.equivalent(place.location, names, form.calls, place.deepest)
            for other, second in canonical.items():
                assert (second is form) is place.equivalent(names, other), (place.location, names, other)
            shortest = min(len(other) for other in place.stacks if place.equivalent(names, other))
            assert len(form.calls) <= shortest, f"{names} stands as {form} at {place.location}"
            tally.add("stacks")
            tally.add(f"stacks: {'standing for themselves' if form.calls == names else 'another stands for them'}")
    for kind in ("stacks: standing for themselves", "stacks: another stands for them"):
        assert tally.counts[kind] > tally.total / 10, tally.counts


@pytest.mark.slow
def test_sorted_stacks_are_in_a_linear_extension() -> None:
    for place in places():
        names = sorted(place.stacks, key=lambda each: place.order.sort_key(place.stacks[each]))
        for position, one in enumerate(names):
            for later in names[position + 1 :]:
                assert not place.less_equal(later, one) or place.equivalent(one, later), (place.location, one, later)


@pytest.mark.slow
def test_the_partial_orders_keep_the_laws_of_domains() -> None:
    for place in places():
        classes = StackClasses(place.order.relation, place.order.location)
        sample = list(dict.fromkeys(map(classes.canonical, place.stacks.values())))[:12]
        if sample:
            assert check_domain(classes, sample) is None, place.location
            assert check_domain(classes) is None, place.location


def test_virtual_times_keep_the_laws_of_domains() -> None:
    for seed in range(40):
        document = random_calls(random.Random(seed), procedures=1, epochs=False)
        relation = from_data(document).network().relation
        assert isinstance(relation, CallRelation)
        times = virtual_times(relation.relation)
        assert list(times.summands) == relation.graph.nodes
        assert check_domain(times) is None


@pytest.mark.slow
def test_epochs_with_stacks_keep_the_laws_of_domains() -> None:
    """Where no call of the location can follow itself, and so no two stacks are equivalent, at every location."""
    tally = Tally()
    for seed in range(40):
        document = random_calls(random.Random(seed), epochs=True)
        network = from_data(document).network()
        assert isinstance(network.relation, CallRelation)
        if any(call.follows_itself for call in network.relation.graph.calls):
            continue
        for location, name in enumerate([*network.nodes, *network.edges]):
            domain = network.domain(location)
            if domain.sample():  # a graph that nothing calls has no stacks
                assert check_domain(domain) is None, f"seed {seed}: {name}\n{document}"
                tally.add("least" if domain.least() else "no least")
    assert min(tally.counts["least"], tally.counts["no least"]) > 30, tally.counts


def test_the_least_times_with_epochs_are_not_where_an_input_opens() -> None:
    """Where results come back, deeper stacks come earlier without end; an input opens with no call made all the same.
    Where nothing comes back, the empty stack comes first."""
    graph = load(PROGRAMS / "stream.yaml")
    for location, least in (("combine", ()), ("entry", ((0, graph.call_graph().stack()),))):
        domain = graph.domain_of(location)
        assert check_domain(domain) is None
        assert domain.least() == least
        assert opening_times(domain) == ((0, graph.call_graph().stack()),)
    tracker = Tracker(graph)
    assert tracker.inputs() == {"numbers": ((0, graph.call_graph().stack()),)}


def test_virtual_times_of_different_nodes_are_never_comparable() -> None:
    document = random_calls(random.Random(1), procedures=1, epochs=False)
    relation = from_data(document).network().relation
    assert isinstance(relation, CallRelation)
    times, empty = virtual_times(relation.relation), relation.graph.stack()
    for one in relation.graph.nodes:
        for other in relation.graph.nodes:
            assert times.less_equal(Tagged(one, empty), Tagged(other, empty)) is (one == other)


@pytest.mark.slow
def test_upper_bounds_and_least_stacks_hold_all_that_they_must() -> None:
    """Against the reference for all stacks to a depth, where a finite set of them is given; how often it is not, is
    counted."""
    tally = Tally()
    for place in places():
        rng = random.Random(place.location)
        every = list(place.stacks)
        for _ in range(min(10, len(every))):
            one, other = rng.choice(every), rng.choice(every)
            common = place.above[one] & place.above[other]
            try:
                bounds = place.order.minimal_upper_bounds(place.stacks[one], place.stacks[other])
            except NoMinimalTimes:
                tally.add("bounds: no finite set")
                continue
            tally.add(f"bounds: {'some' if bounds else 'none'}")
            check_minimal(place, [bound.calls for bound in bounds], common)
        least = [stack.calls for stack in place.order.least()]
        if least:
            tally.add("least: some")
            check_minimal(place, least, set(every))
    for kind in ("bounds: no finite set", "bounds: some", "bounds: none", "least: some"):
        assert tally.counts[kind] > 10, tally.counts


def check_minimal(place: Place, minimal: list[Names], among: set[Names]) -> None:
    """The set holds minimal ones alone, and everything comes after one of them."""

    def leads(one: Names, other: Names) -> bool:
        return place.oracle.less_equal(place.location, one, other, place.deepest)

    for bound in minimal:
        assert bound in among or bound not in place.stacks
        assert not any(leads(other, bound) for other in minimal if other != bound)
        assert all(leads(bound, other) for other in among if leads(other, bound))
    for other in among:
        assert any(leads(bound, other) for bound in minimal), (place.location, minimal, other)
