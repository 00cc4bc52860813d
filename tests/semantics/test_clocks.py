"""Clock as a parameter: Close-up, one application of could-result-in, and the Clock of two graphs from local ones."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from graphs import Graph, compose
from progress import CouldResultIn, PointstampError, check_conditions, close
from progress.semantics import CloseUp, LocalClocks, OneApplication
from progress.semantics.clocks import is_within
from tests.semantics.small_systems import loop
from tests.semantics.tools import halves


def random_time(rng: random.Random, graph: Graph, location: str) -> Any:
    return rng.choice(graph.domain_of(location).sample())


def test_the_global_clock_from_two_local_ones_on_random_graphs() -> None:
    """The open question of 4.3: with a summary from inputs to outputs and what each graph may send by itself, it is."""
    seen: Counter[Any] = Counter()
    for seed in range(250):
        rng = random.Random(seed)
        backwards = seed % 2 == 1
        first, second = halves(rng, backwards)
        whole, local = compose(first, second), LocalClocks(first, second)
        holds = check_conditions(whole).condition_2.holds
        locations = list(whole.locations())
        for _ in range(4):
            chosen = [rng.choice(locations) for _ in range(rng.randint(0, 3))]
            outstanding = frozenset((place, random_time(rng, whole, place)) for place in chosen)
            joined = local(outstanding)
            assert dict(joined.frontiers) == close(whole, outstanding).frontiers, (seed, outstanding)
            for place in locations:
                time = random_time(rng, whole, place)
                assert ((place, time) in joined) == ((place, time) in close(whole, outstanding))
        shared = sum(edge in second.edges for edge in first.edges)
        if holds:
            assert local.rounds <= shared
        seen[bool(holds), local.rounds > shared] += 1
        seen["crossed twice"] += local.rounds > 1
    assert seen[True, False] > 100
    assert seen[False, False] > 30
    assert seen["crossed twice"] > 100


def test_condition_2_is_not_local() -> None:
    """Each of two graphs without any cycle keeps Condition 2; joined, they have one that falls."""
    first = Graph().node("p").edge(None, "p", "back").edge("p", None, "forth")
    second = Graph().node("q", summary={"advance": -1}).edge(None, "q", "forth").edge("q", None, "back")
    assert check_conditions(first).condition_2.holds
    assert check_conditions(second).condition_2.holds
    assert check_conditions(compose(first, second)).condition_2.holds is False
    local = LocalClocks(first, second)
    assert local(frozenset({("forth", 5)})).frontiers["back"] == (0,)
    assert local.rounds > 2  # one for each time around


def test_a_fall_without_end_between_two_graphs_is_named() -> None:
    first = Graph(time="int").node("p").edge(None, "p", "back").edge("p", None, "forth")
    second = Graph(time="int").node("q", summary={"advance": -1}).edge(None, "q", "forth").edge("q", None, "back")
    with pytest.raises(PointstampError, match="PS604"):
        LocalClocks(first, second)(frozenset({("forth", 5)}))


def test_one_application_is_definition_2() -> None:
    """Membership in what one application gives, against the relation itself; Condition 2 holds, or not."""
    fails = 0
    for seed in range(60):
        rng = random.Random(seed)
        whole = compose(*halves(rng, seed % 2 == 1))
        one, relation = OneApplication(whole), CouldResultIn(whole)
        locations = list(whole.locations())
        start = rng.choice(locations), random_time(rng, whole, rng.choice(locations))
        for place in locations:
            for time in whole.domain_of(place).sample()[:12]:
                assert ((place, time) in one(frozenset({start}))) == relation(start, (place, time))
        up = CloseUp(whole)(frozenset({start}))
        assert is_within(one(frozenset({start})), up)
        fails += up.frontiers != one(frozenset({start})).frontiers
    assert fails > 3  # Proposition 3 needs Condition 2


def test_one_application_of_a_summary_that_gives_several_times() -> None:
    either = {"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}
    graph = Graph(time={"product": ["nat", "nat"]}).node("p", summary=either).node("q", summary=either)
    graph.edge(None, "p", "in").edge("p", "q", "on").edge("q", None, "out")
    one = OneApplication(graph)(frozenset({("in", (0, 0))}))
    assert set(one.frontiers["on"]) == {(0, 1), (1, 0)}
    assert set(one.frontiers["out"]) == {(0, 2), (1, 1), (2, 0)}


def test_within() -> None:
    clocks = CloseUp(loop())
    early, late, none = (clocks(frozenset(stamps)) for stamps in ({("input", 0)}, {("out", 4)}, ()))
    assert is_within(late, early)
    assert not is_within(early, late)
    assert is_within(none, late)
    assert is_within(early, early)
    assert clocks(frozenset({("input", 0)})) is early
    assert ("back", 5) in late
    assert ("back", 4) not in late
