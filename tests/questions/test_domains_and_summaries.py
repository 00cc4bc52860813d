"""Domains and summaries against their meaning, found by trying times."""

from __future__ import annotations

from itertools import product as combinations_of
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from progress import (
    Domain,
    Finite,
    Int,
    Lex,
    Nat,
    PointstampError,
    Product,
    Sum,
    Tagged,
    Unit,
)
from progress.laws import check_comparison, check_composition, check_domain, check_summary
from progress.summary import Composite, NoMinimalTimes
from tests.reference.meaning import MARGIN, hull, less_equal, minimal, window
from tests.reference.random_summaries import LARGEST, bound, domains, endomorphisms, steps, times_of

# --- built-in domains ------------------------------------------------------------------------------------------------


@given(st.data())
def test_domains_keep_the_laws_at_any_times(data: st.DataObject) -> None:
    domain = data.draw(domains)
    times = data.draw(st.lists(times_of(domain), min_size=1, max_size=8, unique=True))
    assert check_domain(domain, times) is None
    assert all(map(domain.contains, domain.sample()))


@given(st.data())
def test_orders_and_bounds_are_those_of_the_table(data: st.DataObject) -> None:
    domain = data.draw(domains)
    one, other = data.draw(times_of(domain)), data.draw(times_of(domain))
    assert domain.less_equal(one, other) == less_equal(domain, one, other)
    if less_equal(domain, one, other):
        assert domain.sort_key(one) <= domain.sort_key(other)
    everything = window(domain, -LARGEST, LARGEST)
    common = [time for time in everything if less_equal(domain, one, time) and less_equal(domain, other, time)]
    assert set(domain.minimal_upper_bounds(one, other)) == minimal(domain, common)
    if domain.is_total:
        assert less_equal(domain, one, other) or less_equal(domain, other, one)


@given(domains)
def test_least_times(domain: Domain) -> None:
    """Minimal in every window are just those without an integer, which could always be less."""
    lower = minimal(domain, window(domain, -2, 1)) & minimal(domain, window(domain, -1, 1))
    assert set(domain.least()) == lower


@given(domains)
def test_a_domain_is_total_just_when_its_times_are(domain: Domain) -> None:
    times = window(domain, 0, 1)
    total = all(less_equal(domain, one, other) or less_equal(domain, other, one) for one in times for other in times)
    assert domain.is_total == total


def test_coordinates_of_one_time_leave_a_product_total() -> None:
    one_time: list[Domain] = [Nat(0), Unit(), Finite("a"), Product([Unit(), Nat(0)]), Lex([]), Sum({"only": Unit()})]
    for domain in one_time:
        assert Product([domain, Nat()]).is_total
        assert Product([Int(), domain, domain]).is_total
    assert Product(one_time).is_total
    assert not Product([Nat(1), Nat()]).is_total
    assert not Product([Sum({"a": Unit(), "b": Unit()}), Unit()]).is_total


def test_a_tagged_time_is_no_pair() -> None:
    assert Product([Finite("ab"), Nat()]).contains(("a", 0))
    assert not Product([Finite("ab"), Nat()]).contains(Tagged("a", 0))
    assert not Sum({"a": Nat()}).contains(("a", 0))


@given(domains)
def test_times_of_other_domains_are_refused(domain: Domain) -> None:
    for stranger in (True, 0.0, "?", ("?",), object(), [], Tagged("?", 0), float("nan"), (0, 0, 0, 0, 0, 0, 0, 0, 0)):
        assert not domain.contains(stranger)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), max_size=8))
def test_finite_is_the_reflexive_transitive_closure(pairs: list[tuple[str, str]]) -> None:
    closed = {(letter, letter) for letter in "abcde"} | set(pairs)
    for middle, one, other in combinations_of("abcde", repeat=3):
        if (one, middle) in closed and (middle, other) in closed:
            closed.add((one, other))
    if any((other, one) in closed for one, other in closed if one != other) or any(
        one == other for one, other in pairs
    ):
        with pytest.raises(PointstampError, match="PS012"):
            Finite("abcde", pairs)
        return
    domain = Finite("abcde", pairs)
    for one, other in combinations_of("abcde", repeat=2):
        assert domain.less_equal(one, other) == ((one, other) in closed)
    assert set(domain.least()) == {
        one for one in "abcde" if not any((other, one) in closed for other in set("abcde") - {one})
    }
    assert domain == Finite("edcba", sorted(closed - {(letter, letter) for letter in "abcde"}))


def test_domains_are_values() -> None:
    assert Product([Nat(), Nat()]) == Product([Nat(), Nat()])
    assert Product([Nat(), Nat()]) != Lex([Nat(), Nat()])
    assert len({Nat(), Nat(3), Nat(3), Int()}) == 3
    assert Sum({"a": Nat(), "b": Int()}) == Sum({"b": Int(), "a": Nat()})
    assert len({Lex([Nat()]), Lex([Nat()]), Product([Nat()])}) == 2


# --- declared summaries ----------------------------------------------------------------------------------------------


def agrees(summary: Any, notation: Any, source: Domain, target: Domain, time: Any) -> None:
    """The library gives what trying all times in a window gives; it says so where there are no minimal times."""
    try:
        given_times = summary.apply(time)
    except NoMinimalTimes:
        try_further = hull(notation, source, target, time, MARGIN + 3)
        assert hull(notation, source, target, time) != try_further, "there are minimal times"
        return
    assert len(set(given_times)) == len(given_times)
    assert set(given_times) == hull(notation, source, target, time)


DIAMOND = Finite("abcd", ["ab", "ac", "bd", "cd"])
PAIRS = {kind: kind([Nat(), Nat(2)]) for kind in (Product, Lex)}


@pytest.mark.parametrize(
    ("notation", "domain"),
    [
        ({"map": [((1, 1), (0, 2)), ((1, 1), (2, 0)), ((0, 2), (1, 1))]}, Lex([Nat(), Nat()])),
        ({"map": [((1, 1), (0, 2)), ((1, 1), (2, 0)), ((0, 2), (1, 1))]}, Product([Nat(), Nat()])),
        ({"at_least": (1, 2)}, Lex([Nat(), Nat()])),
        ({"at_least": (1, (1, 1))}, Product([Int(), Lex([Nat(), Nat()])])),
        ({"any": ["identity", {"constant": "b"}]}, DIAMOND),
        ({"any": [{"constant": "c"}, {"at_least": "b"}]}, DIAMOND),
        ({"any": [{"constant": (2, "c")}, {"advance": (1, 0)}]}, Product([Nat(), DIAMOND])),
        *(
            ({"then": [(step, number) for step in chain]}, number)
            for number in (Nat(), Int(), Nat(5))
            for chain in (
                [{"advance": 3}, {"round_up": 2}],
                [{"advance": -3}, {"round_up": 2}],
                [{"round_up": 2}, {"advance": 1}, {"round_up": 4}],
                [{"round_up": 4}, {"advance": 3}, {"round_up": 2}, {"advance": -1}],
                [{"round_up": 2}, {"advance": 1}, {"round_up": 3}, {"advance": 1}, {"round_up": 4}],
                [{"at_least": 3}, {"round_up": 2}, {"advance": -2}],
            )
        ),
        *(
            ({"any": [{"advance": one}, {"advance": other}]}, PAIRS[kind])
            for kind in PAIRS
            for one in ((0, -1), (1, -2), (-1, 1), (-1, -2))
            for other in ((0, 1), (1, 2), (2, -1))
        ),
    ],
    ids=str,
)
def test_at_every_small_time_a_summary_means_its_hull(notation: Any, domain: Domain) -> None:
    summary = bound(notation, domain, domain)
    for time in window(domain, -2, 3):
        agrees(summary, notation, domain, domain, time)


@given(st.data())
def test_a_summary_means_its_hull(data: st.DataObject) -> None:
    source = data.draw(domains)
    notation, target = data.draw(steps(source))
    summary = bound(notation, source, target)
    assert (summary.source, summary.target) == (source, target)
    for _ in range(3):
        agrees(summary, notation, source, target, data.draw(times_of(source)))


@given(st.data())
def test_declared_summaries_keep_the_laws(data: st.DataObject) -> None:
    source = data.draw(domains)
    notation, target = data.draw(steps(source))
    times = data.draw(st.lists(times_of(source), min_size=1, max_size=6, unique=True))
    assert check_summary(bound(notation, source, target), times) is None


@given(st.data())
def test_composing_is_doing_one_after_another(data: st.DataObject) -> None:
    source = data.draw(domains)
    chain: list[tuple[Any, Domain]] = []
    for _ in range(3):
        chain.append(data.draw(steps(chain[-1][1] if chain else source)))
    before = [source, *(domain for _, domain in chain)]
    first, second, third = (bound(chain[i][0], before[i], before[i + 1]) for i in range(3))
    times = data.draw(st.lists(times_of(source), min_size=1, max_size=4, unique=True))
    assert check_composition(first, second, third, times) is None
    assert check_composition(Composite((first, second)), third, sample=times) is None
    together = first.then(second).then(third)
    agrees(together, {"then": chain}, source, chain[-1][1], times[0])


@given(st.data())
def test_comparing_summaries_errs_towards_no(data: st.DataObject) -> None:
    domain = data.draw(domains)
    one, other = (bound(data.draw(endomorphisms(domain)), domain, domain) for _ in range(2))
    times = data.draw(st.lists(times_of(domain), min_size=1, max_size=5, unique=True))
    assert check_comparison(one, other, times) is None
    assert one.no_later_than(one)
    assert one.no_later_than(bound("never", domain, domain))


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=2), st.lists(st.integers(-2, 2), min_size=2, max_size=2))
def test_comparing_translations_is_exact(one: list[int], other: list[int]) -> None:
    integers = Product([Int(), Int()])
    first, second = (
        bound({"advance": tuple(one)}, integers, integers),
        bound({"advance": tuple(other)}, integers, integers),
    )
    assert first.no_later_than(second) == (one[0] <= other[0] and one[1] <= other[1])


def test_the_examples_of_the_specification() -> None:
    nat, pair = Nat(), Product([Nat(), Nat()])
    assert bound({"advance": -1}, nat, nat).apply(0) == (0,)  # because 1 goes there
    assert bound({"advance": 1}, Nat(3), Nat(3)).apply(3) == ()  # beyond max there is no time
    assert bound({"round_up": 5}, Int(), Int()).apply(-3) == (0,)
    closed = bound({"map": [("b", "d"), ("c", "a"), ("d", "b")]}, DIAMOND, DIAMOND)
    assert [closed.apply(time) for time in "abcd"] == [
        ("a",),
        ("b",),
        ("a",),
        ("b",),
    ]  # closed upward: also of those above
    either = bound({"any": [{"advance": (1, 0)}, {"advance": (0, 1)}, {"advance": (2, 2)}]}, pair, pair)
    assert set(either.apply((0, 0))) == {(1, 0), (0, 1)}
    assert bound({"at_least": (2, 0)}, pair, pair).apply((0, 3)) == ((2, 3),)
    butterfly = Finite("abcd", ["ac", "ad", "bc", "bd"])
    assert set(bound({"at_least": "a"}, butterfly, butterfly).apply("b")) == {"c", "d"}
    both = Sum({"left": nat, "right": nat})
    assert bound({"untag": "left"}, both, nat).apply(Tagged("right", 3)) == ()
    assert bound({"tag": "left"}, nat, both).apply(3) == (Tagged("left", 3),)


def test_a_million_compositions_are_integer_work() -> None:
    domain = Product([Nat(), Lex([Nat(), Nat()])])
    step = bound({"advance": (1, (0, 2))}, domain, domain)
    for _ in range(20):
        step = step.then(step)
    million = 1 << 20
    assert step.apply((0, (0, 0))) == ((million, (0, 2 * million)),)
