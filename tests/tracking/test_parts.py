"""Independent keys: times that cannot be compared do not meet, and cost each other nothing."""

from __future__ import annotations

import gc
import random
from itertools import combinations
from typing import Any

import pytest

from graphs import from_data
from progress import Finite, Nat, Product, Sum, Tagged, Tracker
from progress.antichain import Antichain
from progress.comparable import MOST_KNOWN, part_of, parts_are_total
from progress.order import Domain
from tests.reference.against_reference import Tally
from tests.reference.against_sessions import compare
from tests.reference.random_graphs import flat_document, random_document

KEYS = 500
DOMAINS: dict[str, Domain] = {
    "keys": Product([Finite("abcd"), Nat(3)]),
    "keys of chains": Product([Finite("abcd", ["ab", "cd"]), Nat(2)]),
    "two orders": Product([Finite("abc"), Nat(2), Nat(2)]),
    "an order of keys": Product([Finite("abcde", ["ab", "ac", "de"]), Nat(2)]),
    "tags": Sum({"one": Nat(4), "two": Product([Nat(1), Nat(1)])}),
    "keys in tags": Sum({"one": Product([Finite("ab"), Nat(2)]), "two": Nat(3)}),
    "keys in keys": Product([Finite("ab"), Sum({"x": Nat(1), "y": Finite("cd")}), Nat(2)]),
}


def times_of(domain: Domain) -> list[Any]:
    """Every time of a finite domain."""
    if isinstance(domain, Product):
        rows: list[Any] = [()]
        for part in domain.parts:
            rows = [(*row, time) for row in rows for time in times_of(part)]
        return rows
    if isinstance(domain, Sum):
        return [Tagged(tag, time) for tag, part in domain.summands.items() for time in times_of(part)]
    if isinstance(domain, Finite):
        return list(domain.elements)
    assert isinstance(domain, Nat)
    assert domain.maximum is not None
    return list(range(domain.maximum + 1))


@pytest.mark.parametrize("name", DOMAINS)
def test_times_of_different_parts_are_not_comparable(name: str) -> None:
    domain = DOMAINS[name]
    part = part_of(domain)
    assert part is not None
    times = times_of(domain)
    assert len(set(map(part, times))) > 1
    total = True
    for one, other in combinations(times, 2):
        comparable = domain.less_equal(one, other) or domain.less_equal(other, one)
        assert not comparable or part(one) == part(other)
        total = total and (comparable or part(one) != part(other))
    assert parts_are_total(domain) is total


def test_orders_of_one_part_have_none() -> None:
    for domain in (Nat(), Product([Nat(), Nat()]), Finite("abc", ["ab", "cb"]), Product([Finite("a"), Nat(), Nat()])):
        assert part_of(domain) is None


@pytest.mark.parametrize("name", DOMAINS)
def test_an_antichain_of_parts(name: str) -> None:
    domain, rng = DOMAINS[name], random.Random(name)
    times = times_of(domain)
    kept = Antichain(domain)
    given: list[Any] = []
    for _ in range(60):
        time = rng.choice(times)
        covered = any(domain.less_equal(other, time) for other in given)
        assert kept.covers(time) is covered
        assert kept.insert(time) is not covered
        given.append(time)
        minimal = {each for each in given if not any(domain.less_equal(o, each) and o != each for o in given)}
        assert set(kept.times) == set(kept.in_order()) == minimal
        assert len(kept) == len(minimal)


def test_a_step_looks_only_at_times_of_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = [0]
    less_equal = Product.less_equal

    def counted(self: Product, earlier: Any, later: Any) -> bool:
        compared[0] += 1
        return less_equal(self, earlier, later)

    monkeypatch.setattr(Product, "less_equal", counted)
    keys = [f"k{number}" for number in range(KEYS)]
    document = {
        "pointstamp": 1,
        "time": {"product": [{"finite": {"elements": keys}}, "nat"]},
        "nodes": {"a": {}, "b": {"summary": {"advance": [0, 1]}}, "c": {}},
        "edges": [
            {"id": "in", "to": "a"},
            {"id": "ab", "from": "a", "to": "b"},
            {"id": "ba", "from": "b", "to": "a"},
            {"id": "bc", "from": "b", "to": "c"},
        ],
    }
    tracker = Tracker(from_data(document), requests=[("c", (key, 3)) for key in keys])
    for key in keys:
        tracker.apply(messages=[("in", (key, 0), 1)])
    tracker.apply(inputs={"in": []})
    compared[0] = steps = ready = 0
    for key in keys:
        for round_ in range(4):
            tracker.apply(messages=[("in" if not round_ else "ba", (key, round_), -1), ("ab", (key, round_), 1)])
            tracker.apply(messages=[("ab", (key, round_), -1), ("ba", (key, round_ + 1), 1)])
            steps += 2
        ready += len(tracker.get_ready())
    assert ready == KEYS - len([key for key in keys if ("c", (key, 3)) not in tracker.eligible()]) == KEYS
    assert compared[0] < 40 * steps


def test_random_sessions_over_keys() -> None:
    """`test_vertex_state` has places by themselves; these are sessions on graphs whose orders have parts."""
    tally = Tally()
    played = 0
    for seed in range(300, 600):
        rng = random.Random(seed)
        document = flat_document(rng) if seed % 3 == 0 else random_document(rng)
        if any(part_of(domain) is not None for domain in from_data(document).network().domains):
            compare(seed, tally, 2)
            played += 1
        if played == 12:
            break
    assert played == 12


def test_domains_that_nobody_has_any_more_are_let_go() -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(each) is Product for each in gc.get_objects())

    before = alive()
    for _ in range(3 * MOST_KNOWN):
        part_of(Product([Finite("ab"), Nat()]))
    assert alive() - before <= MOST_KNOWN
