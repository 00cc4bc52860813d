"""What one vertex knows (`place`, `pairs`, `forest` of `progress.engines`), beside lists that are searched.

A place is driven as `progress.engines.eager` drives it: a time that goes leaves the frontier, what it covered comes in,
then waiters are released. Here nothing comes from elsewhere, so the frontier is the minimum of the outstanding times.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable
from math import inf
from typing import Any

import pytest

from progress import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged
from progress.engines.forest import Forest
from progress.engines.pairs import LONGEST_CHUNK, Pairs
from progress.engines.parted import PartedPlace
from progress.engines.vertex_state import OtherPlace, PairPlace, TotalPlace, place_for

PAIR = Product([Nat(), Nat()])
TRIPLE = Product([Nat(), Nat(), Nat()])
DOMAINS: tuple[tuple[Domain, type], ...] = (
    (Nat(), TotalPlace),
    (Int(), TotalPlace),
    (Lex([Nat(), Int()]), TotalPlace),
    (Finite(["low", "middle", "high"], [("low", "middle"), ("middle", "high")]), TotalPlace),
    (PAIR, PairPlace),
    (TRIPLE, OtherPlace),
    (Sum({"left": Nat(), "right": PAIR}), PartedPlace),
    (Product([Finite(["a", "b", "c", "d"]), Nat()]), PartedPlace),
    (Product([Finite(["a", "b", "c"], [("a", "b")]), Nat(), Nat()]), PartedPlace),
    (Product([Finite(["a", "b"]), Sum({"left": Nat(), "right": Finite(["c", "d"])}), Nat()]), PartedPlace),
    (Finite(["a", "b", "c", "d"], [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]), OtherPlace),
)


def some_time(rng: random.Random, domain: Domain, largest: int) -> Any:
    if isinstance(domain, Product | Lex):
        return tuple(some_time(rng, part, largest) for part in domain.parts)
    if isinstance(domain, Sum):
        tag = rng.choice(list(domain.summands))
        return Tagged(tag, some_time(rng, domain.summands[tag], largest))
    if isinstance(domain, Finite):
        return rng.choice(domain.elements)
    return rng.randint(0 if isinstance(domain, Nat) else -largest, largest)


def minimal(domain: Domain, times: Collection[Any]) -> set[Any]:
    less_equal = domain.less_equal
    return {time for time in times if not any(other != time and less_equal(other, time) for other in times)}


class Driven:
    """A place, and beside it plain counts and plain waiters."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.place = place_for(domain)
        self.counts: Counter[Any] = Counter()
        self.waiters: dict[int, Any] = {}
        self.asked = 0

    def covers(self, until: Any) -> bool:
        return any(self.domain.less_equal(time, until) for time in self.counts)

    def change(self, changes: Iterable[tuple[Any, int]]) -> None:
        """Change what is outstanding, all together, and compare who is released."""
        place, doubted, coming = self.place, [], []
        for time, change in changes:
            before = self.counts[time]
            self.counts[time] += change
            after = self.counts[time]
            if not after:
                del self.counts[time]
            assert place.count(time, change) is ((before == 0) != (after == 0))
            if not before:
                coming.append(time)
            elif not after:
                doubted.append(time)
        lost = [time for time in dict.fromkeys(doubted) if place.holds(time) and time not in place.counts]
        for time in lost:
            place.discard(time)
        for time in coming:
            if time in place.counts:
                place.insert(time)
        if lost:
            place.refill(lost)
        released = place.released(lost) if lost and place.waiting else []
        assert len(released) == len(set(released))
        assert set(released) == {waiter for waiter, until in self.waiters.items() if not self.covers(until)}
        for waiter in released:
            del self.waiters[waiter]
        assert place.waiting == len(self.waiters)

    def wait(self, until: Any) -> None:
        self.asked += 1
        waits = self.place.wait(until, self.asked)
        assert waits is self.covers(until)
        if waits:
            self.waiters[self.asked] = until

    def compare(self) -> None:
        """The frontier, each time once, and what a place says of its outstanding times."""
        times, least = list(self.place.times), list(self.place.least)
        assert len(times) == len(set(times))
        assert set(times) == minimal(self.domain, self.counts)
        assert set(times) <= set(least) <= set(self.counts)
        assert self.place.counts == dict(self.counts)


def drive(rng: random.Random, domain: Domain, turns: int, largest: int, at_once: int) -> Driven:
    driven = Driven(domain)
    for turn in range(turns):
        changes: list[tuple[Any, int]] = []
        left = Counter(driven.counts)
        for _ in range(rng.randint(0, at_once)):
            if left and rng.random() < 0.2 + 0.7 * turn / turns:
                time = rng.choice(list(left))
                change = -rng.randint(1, left[time])
            else:
                time, change = some_time(rng, domain, largest), rng.choice([1, 1, 2])
            changes.append((time, change))
            left[time] += change
            if not left[time]:
                del left[time]
        driven.change(changes)
        for _ in range(rng.choice([0, 0, 1, 3])):
            driven.wait(some_time(rng, domain, largest))
        if turn % 5 == 0 or turns < 50:
            driven.compare()
    driven.change([(time, -count) for time, count in driven.counts.items()])
    driven.compare()
    assert not driven.waiters
    return driven


@pytest.mark.parametrize(("domain", "kind"), DOMAINS, ids=str)
def test_a_place_knows_its_frontier_and_who_waits(domain: Domain, kind: type) -> None:
    assert isinstance(place_for(domain), kind)
    for seed in range(60):
        rng = random.Random(seed)
        drive(rng, domain, 30, rng.choice([1, 2, 4, 8]), rng.choice([1, 3, 8]))


@pytest.mark.parametrize("domain", [Nat(), PAIR, TRIPLE, Lex([Nat(), Nat()])], ids=str)
def test_a_place_with_many_times(domain: Domain) -> None:
    drive(random.Random(1), domain, 200, 60, 12)


def test_a_wait_without_end_in_a_coordinate() -> None:
    place = place_for(PAIR)
    place.count((2, 3), 1)
    place.insert((2, 3))
    assert place.wait((inf, 3), 1)
    assert not place.wait((1, inf), 2)
    assert place.wait((2, inf), 3)
    place.count((2, 3), -1)
    place.discard((2, 3))
    assert sorted(place.released([(2, 3)])) == [1, 3]


@pytest.mark.parametrize("seed", range(6))
def test_pairs_find_and_take_what_a_list_would(seed: int) -> None:
    rng = random.Random(seed)
    largest = rng.choice([8, 40, 400])
    pairs = Pairs()
    plain: list[tuple[Any, ...]] = []
    longest = 0
    for turn in range(2_500):
        if plain and rng.random() < 0.05 + 0.6 * turn / 2_500:
            entry = plain.pop(rng.randrange(len(plain)))
            pairs.remove(entry)
        else:
            entry = (rng.randint(0, largest), rng.randint(0, largest), turn)
            pairs.add(entry)
            plain.append(entry)
        longest = max(longest, len(plain))
        start, end, below = (rng.randint(0, largest) for _ in range(3))
        region = start, rng.choice([None, end]), rng.choice([None, below])
        inside = sorted(entry for entry in plain if within(entry, *region))
        assert pairs.first(*region) == (inside[0] if inside else None)
        if turn % 200 == 199:
            assert pairs.take(*region) == inside
            plain = [entry for entry in plain if entry not in inside]
        if turn % 100 == 0:
            assert list(pairs) == sorted(plain)
            assert len(pairs) == len(plain)
    assert longest > 2 * LONGEST_CHUNK


def within(entry: tuple[Any, ...], start: Any, end: Any, below: Any) -> bool:
    return bool(start <= entry[0] and (end is None or entry[0] < end) and (below is None or entry[1] < below))


@pytest.mark.parametrize(("domain", "kind"), DOMAINS, ids=str)
def test_the_roots_of_a_forest_are_the_minimal_times(domain: Domain, kind: type) -> None:
    for seed in range(30):
        rng = random.Random(seed)
        forest = Forest(domain.less_equal)
        times: set[Any] = set()
        for _ in range(60):
            time = some_time(rng, domain, 4)
            if time in times:
                forest.remove(time)
                times.remove(time)
            else:
                forest.add(time)
                times.add(time)
            assert set(forest.roots) == minimal(domain, times)
