"""Propositions 1, 2 and 3 and Theorem 1 of A&I as properties of random graphs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs import Graph, from_data
from progress import Closure, CouldResultIn, PointstampError, check_conditions, close, universal_time
from progress.plain import read_time
from tests.reference.random_graphs import random_document, random_time

SEEDS = st.integers(0, 10**9)
Pair = tuple[str, Any]


def graph_and_times(seed: int, pointstamps: int) -> tuple[Graph, list[Pair]]:
    """A random graph and pointstamps of it, more than one at some locations."""
    rng = random.Random(seed)
    document = random_document(rng)
    graph = from_data(document)
    locations = rng.choices(list(graph.locations()), k=max(2, pointstamps // 2))
    chosen = [rng.choice(locations) for _ in range(pointstamps)]
    return graph, [(location, read_time(random_time(rng, document, location))) for location in chosen]


def holding(seed: int, pointstamps: int, wanted: bool) -> tuple[Graph, list[Pair]]:
    """The first of a few random graphs for which Condition 2 is as wanted."""
    for number in range(200):
        graph, pairs = graph_and_times(seed + number, pointstamps)
        if check_conditions(graph).condition_2.holds is wanted:
            return graph, pairs
    raise AssertionError("no such graph among 200")


def related(graph: Graph, pairs: list[Pair]) -> Iterator[tuple[Pair, Pair]]:
    """Pairs of pointstamps of which the first could result in the second."""
    could = CouldResultIn(graph)
    return ((one, other) for one in pairs for other in pairs if could(one, other))


def closed(graph: Graph, pairs: Sequence[Pair]) -> Closure | None:
    """Close-up, where it has a finite form."""
    try:
        return close(graph, pairs)
    except PointstampError as error:
        if error.code in ("PS601", "PS604"):
            return None
        raise


@given(SEEDS)
def test_could_result_in_is_reflexive(seed: int) -> None:
    graph, pairs = graph_and_times(seed, 4)
    could = CouldResultIn(graph)
    assert all(could(pair, pair) for pair in pairs)


@given(SEEDS)
def test_proposition_1_1_a_node_acts_through_an_outgoing_edge(seed: int) -> None:
    graph, pairs = graph_and_times(seed, 8)
    network = graph.network()
    could = CouldResultIn(graph)
    for (location, time), (edge, later) in related(graph, pairs):
        if location not in graph.nodes or edge not in graph.edges:
            continue
        proof = could.proof((location, time), (edge, later))
        assert proof is not None
        first = proof[1]
        assert network.sources[graph.edges[first.location]] == network.number(location)
        rest = could.proof(tuple(first), (edge, later))
        assert rest is not None
        assert len(rest) < len(proof) or first.location == edge


@given(SEEDS)
def test_proposition_1_2_at_one_location_times_only_grow(seed: int) -> None:
    graph, pairs = graph_and_times(seed, 8)
    for (location, time), (other, later) in related(graph, pairs):
        if location == other:
            assert graph.domain_of(location).less_equal(time, later)


@given(SEEDS)
def test_proposition_1_3_earlier_causes_and_later_effects_are_related_too(seed: int) -> None:
    graph, pairs = graph_and_times(seed, 8)
    could = CouldResultIn(graph)
    for one, other in related(graph, pairs):
        for earlier in pairs:
            if earlier[0] != one[0] or not graph.domain_of(one[0]).less_equal(earlier[1], one[1]):
                continue
            for later in pairs:
                if later[0] == other[0] and graph.domain_of(other[0]).less_equal(other[1], later[1]):
                    assert could(earlier, later)


@given(SEEDS)
def test_theorem_1_condition_2_makes_it_transitive(seed: int) -> None:
    graph, pairs = holding(seed, 7, wanted=True)
    could = CouldResultIn(graph)
    for one, other in related(graph, pairs):
        for third in pairs:
            if could(other, third):
                assert could(one, third)


@given(SEEDS)
def test_theorem_1_without_condition_2_it_is_not_transitive(seed: int) -> None:
    graph, _ = holding(seed, 2, wanted=False)
    counterexample = check_conditions(graph).transitive.counterexample
    assert counterexample is not None
    first, second, third = (tuple(pair) for pair in counterexample)
    could = CouldResultIn(graph)
    assert could(first, second)
    assert could(second, third)
    assert not could(first, third)


@given(SEEDS)
def test_proposition_2_universal_time_embeds_the_relation(seed: int) -> None:
    graph, pairs = holding(seed, 5, wanted=True)
    could = CouldResultIn(graph)
    universal = {pair: universal_time(graph, *pair) for pair in pairs}
    for one in pairs:
        for other in pairs:
            assert could(one, other) == (universal[one] <= universal[other])
            if universal[one] <= universal[other] <= universal[one]:
                assert universal[one] == universal[other], "antisymmetric"
                assert hash(universal[one]) == hash(universal[other])


@given(SEEDS)
def test_proposition_2_without_condition_2_no_order_embeds_it(seed: int) -> None:
    """An embedding would make the relation transitive; the counterexample shows that it is not."""
    graph, _ = holding(seed, 2, wanted=False)
    counterexample = check_conditions(graph).transitive.counterexample
    assert counterexample is not None
    if closed(graph, list(counterexample)) is None:
        return
    first, second, third = (universal_time(graph, *pair) for pair in counterexample)
    assert first <= second <= third
    assert first <= third, "as in every order, although the relation says no"


@given(SEEDS)
def test_proposition_3_close_up_is_one_application_where_condition_2_holds(seed: int) -> None:
    graph, pairs = holding(seed, 8, wanted=True)
    could = CouldResultIn(graph)
    closure = close(graph, pairs[:4])
    for pair in pairs:
        assert (pair in closure) == any(could(start, pair) for start in pairs[:4])


@given(SEEDS)
def test_close_up_is_upward_closed_contains_its_start_and_is_idempotent(seed: int) -> None:
    graph, pairs = graph_and_times(seed, 8)
    could = CouldResultIn(graph)
    closure = closed(graph, pairs[:3])
    if closure is None:
        return
    assert all(pair in closure for pair in pairs[:3])
    for one in pairs:
        for other in pairs:
            if one in closure and could(one, other):
                assert other in closure
    again = [(location, time) for location, times in closure.frontiers.items() for time in times]
    assert close(graph, again).frontiers == closure.frontiers


@pytest.mark.parametrize("wanted", [True, False])
def test_both_kinds_of_graphs_occur(wanted: bool) -> None:
    assert all(holding(seed * 1000, 2, wanted) for seed in range(20))
