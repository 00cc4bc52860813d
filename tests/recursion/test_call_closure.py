"""Close-up in graphs with calls against the reference: what it contains, the ways there, and its minimal times.

A closed set may have no finite set of minimal times at a location. That it says so only where it is so shows in all
times to growing depths: deeper ones keep coming that no time less deep is before.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from graphs import from_data
from progress import Closure, close, eligible
from progress.summary import NoMinimalTimes
from recursion import reference
from recursion.reference import Pointstamp
from recursion.reference import session as reference_session
from recursion.reference.epochs import epoch_less_equal
from tests.recursion.random_call_sessions import Player
from tests.recursion.random_calls import plain, plain_pairs, random_calls, random_epoch, usual_depth
from tests.reference.against_reference import Tally


class Case(NamedTuple):
    """A closure, and all pointstamps to a depth that are in it by definition."""

    oracle: reference.Graph
    closure: Closure
    deepest: int
    epochs: list[Any]
    given: list[Pointstamp]

    def times(self, location: str, deepest: int) -> list[Any]:
        """All times of a location: to a depth, at the epochs given, which are those of all minimal times."""
        stacks = self.oracle.stacks_at(location, deepest)
        return stacks if self.oracle.epochs is None else [(epoch, stack) for epoch in self.epochs for stack in stacks]

    def inside(self, location: str, deepest: int) -> list[Any]:
        """Those of them that are in the closed set."""
        reached = self.after(self.given, deepest)
        return [time for time in self.times(location, deepest) if (location, time) in reached]

    def after(self, starts: Iterable[Pointstamp], deepest: int) -> set[Pointstamp]:
        """All that one of the starts could result in, to a depth, at the epochs given."""
        split = self.oracle.split
        if self.oracle.epochs is None:
            return set(self.oracle.results_of_many(starts, deepest))
        found: set[Pointstamp] = set()
        for until in self.epochs:
            before = [
                (location, split(time)[1])
                for location, time in starts
                if epoch_less_equal(self.oracle.epochs, split(time)[0], until)
            ]
            found |= {(place, (until, stack)) for place, stack in self.oracle.results_of_many(before, deepest)}
        return found

    def leads_there(self, location: str, time: Any) -> bool:
        return any(self.oracle.could_result_in(each, (location, time)) for each in self.given)

    def less_equal(self, location: str, one: Any, other: Any) -> bool:
        return self.oracle.could_result_in((location, one), (location, other), self.deepest)

    def depth(self, time: Any) -> int:
        return len(self.oracle.split(time)[1])


def random_case(rng: random.Random, most_stacks: int) -> Case:
    """A random graph with one to six pointstamps at small stacks."""
    document = random_calls(rng, epochs=rng.random() < 0.4)
    oracle = reference.Graph(document)
    epochs = [] if oracle.epochs is None else [random_epoch(rng, oracle.epochs, 1) for _ in range(2)]
    places = [location for location in oracle.locations if oracle.stacks_at(location, 2)]
    given: list[Pointstamp] = []
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        location = rng.choice(places)
        stack = rng.choice(
            oracle.stacks_at(location, 2 if len(oracle.enters) < 3 else 1) or oracle.stacks_at(location, 2)
        )
        given.append((location, stack if oracle.epochs is None else (rng.choice(epochs), stack)))
    epochs = list(dict.fromkeys(oracle.split(time)[0] for _, time in given))
    return Case(oracle, close(from_data(document), given), usual_depth(oracle, most_stacks), epochs, given)


@pytest.mark.slow
def test_membership_and_ways() -> None:
    tally = Tally()
    for seed in range(160):
        rng = random.Random(seed)
        case = random_case(rng, 70)
        for location in case.oracle.locations:
            inside = set(case.inside(location, case.deepest))
            for time in case.times(location, case.deepest):
                expected = time in inside
                assert ((location, time) in case.closure) is expected, f"seed {seed}: {location} {time} {case.given}"
                tally.add("questions")
                tally.add(f"contains: {expected}")
        for _ in range(3):
            location = rng.choice(case.oracle.locations)
            times = case.times(location, case.deepest)
            if times:
                check_way(case, location, rng.choice(times), tally)
    for kind in ("contains: True", "contains: False"):
        assert tally.counts[kind] > tally.total / 10, tally.counts
    for kind in ("way: True", "way: False"):
        assert tally.counts[kind] > 50, tally.counts


def check_way(case: Case, location: str, time: Any, tally: Tally) -> None:
    """A way leads to what is in the closed set, from something given."""
    network = case.closure.network
    way = case.closure.way(*network.pointstamp((location, time)))
    assert (way is not None) is case.leads_there(location, time)
    if way is not None:
        claimed = plain_pairs(way.proof)
        assert claimed[0] in case.given
        assert reference.is_proof(case.oracle, claimed, claimed[0], (location, time)), claimed
    tally.add(f"way: {way is not None}")


@pytest.mark.slow
def test_minimal_times() -> None:
    tally = Tally()
    for seed in range(500):
        rng = random.Random(seed)
        case = random_case(rng, 40)
        network = case.closure.network
        for location in rng.sample(case.oracle.locations, min(3, len(case.oracle.locations))):
            kind = "epochs" if case.epochs[0] is not None else "stacks"
            try:
                times = case.closure.times(network.number(location))
            except NoMinimalTimes:
                assert grows(case, location), f"seed {seed}: {location} has minimal times, from {case.given}"
                tally.add(f"{kind}: no finite set")
                continue
            check_minimal(case, location, [plain(time) for time in times], f"seed {seed}: {location}, {case.given}")
            domain = network.domain(network.number(location))
            for place, time in enumerate(times):
                for later in times[place + 1 :]:
                    assert domain.sort_key(time) < domain.sort_key(later)
            tally.add(f"{kind}: {min(len(times), 2)}")
    for kind in ("epochs", "stacks"):
        for answer in ("no finite set", "0", "1", "2"):
            assert tally.counts.get(f"{kind}: {answer}", 0) > 4, tally.counts


def check_minimal(case: Case, location: str, minimal: list[Any], where: str) -> None:
    """All of them are in the closed set and none is before another; all that is in it comes after one of them."""
    for time in minimal:
        assert case.leads_there(location, time), f"{where}: {time} is outside"
        assert not any(case.less_equal(location, time, other) for other in minimal if other != time), where
    for time in case.inside(location, case.deepest):
        assert any(case.less_equal(location, each, time) for each in minimal), f"{where}: {minimal} leave out {time}"
        for each in minimal:
            below = case.less_equal(location, time, each) and not case.less_equal(location, each, time)
            assert not below, f"{where}: {time} is before {each}"


def grows(case: Case, location: str) -> bool:
    """Whether among the deepest times are such as no time less deep is before.

    Procedures come again within as many calls as there are procedures, so as many depths are looked at together.
    """
    deepest = usual_depth(case.oracle, 400)
    inside = case.inside(location, deepest)
    shallow = [(location, time) for time in inside if case.depth(time) <= deepest - len(case.oracle.bodies)]
    covered = case.after(shallow, deepest)
    return any((location, time) not in covered for time in inside)


def test_close_up_contains_what_was_given_wherever_it_is() -> None:
    """Also a stack at `call-c->in` that no message can have there."""
    for seed in range(60):
        document = random_calls(random.Random(seed), epochs=False)
        oracle, graph = reference.Graph(document), from_data(document)
        for location in oracle.locations:
            for stack in oracle.stacks_at(location, 1):
                closure = close(graph, [(location, stack)])
                assert (location, stack) in closure
                times = [plain(time) for time in closure.times(closure.network.number(location))]
                assert any(oracle.less_equal(location, time, stack) for time in times)
                assert all(oracle.less_equal(location, stack, time) for time in times)


@pytest.mark.slow
def test_eligible_requests_of_exactly_these() -> None:
    tally = Tally()
    for seed in range(400):
        rng = random.Random(seed)
        document = random_calls(rng)
        graph, player = from_data(document), Player(rng, reference.Graph(document))
        messages = [player.somewhere(player.edges) for _ in range(rng.choice([0, 0, 1, 2]))]
        requests = [player.somewhere(player.nodes) for _ in range(rng.choice([1, 2, 4]))]
        free, blocked = reference_session.eligible(player.graph, messages, requests)
        answer = eligible(graph, messages, requests)
        assert sorted(plain_pairs(answer.eligible)) == sorted(free), f"seed {seed}: {messages}, {requests}"
        assert sorted(plain(tuple(each.request)) for each in answer.blocked) == sorted(blocked)
        for request, by, proof, _ in answer.blocked:
            claimed = plain_pairs(proof)
            assert claimed[0] == plain(tuple(by))
            assert claimed[0] in [*messages, *requests]
            assert claimed[-1][0] in player.graph.incoming[request.location]
            assert reference.is_proof(player.graph, claimed, claimed[0], (claimed[-1][0], plain(request.time)))
        tally.add("free", len(free))
        tally.add("blocked", len(blocked))
    assert min(tally.counts.values()) > 100, tally.counts


def test_what_has_no_minimal_times_alone_may_come_after_an_earlier_epoch() -> None:
    """Within b, calls of e come neither before nor after each other at x; but d, called before b, comes before all."""
    ways = ("in d b out", "in out", "inner x end", "inner e end", "inner end")
    pairs = [pair for way in ways for pair in pairwise(way.split())]
    document = {
        "pointstamp": 1,
        "time": {"product": ["nat", "stack"]},
        "recursion": {
            "main": "outer",
            "graphs": {
                "outer": {"in": "in", "out": "out", "calls": {"d": "within", "b": "within"}},
                "within": {"in": "inner", "out": "end", "calls": {"e": "within"}},
            },
        },
        "nodes": {node: {} for pair in pairs for node in pair},
        "edges": [{"from": source, "to": target} for source, target in pairs],
    }
    graph = from_data(document)
    number = graph.network().number("x")
    late, early = ("call-b", (1, ())), ("x", (0, ("d",)))
    with pytest.raises(NoMinimalTimes):
        close(graph, [late]).times(number)
    assert [plain(time) for time in close(graph, [late, early]).times(number)] == [(0, ("d",))]
