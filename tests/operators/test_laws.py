"""The four properties of each operator, and six operators that are wrong: each is told by one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from progress import Domain, Nat, PointstampError, Product
from progress.operators import (
    DT,
    WM,
    Event,
    Left,
    Right,
    Specification,
    batch,
    check_operator,
    flatten,
    histogram,
    incr,
    incr_batch,
    join,
    map_data,
    produce,
    total_histogram,
    union,
)
from progress.operators import by_definition as plain
from progress.operators.laws.of_operators import (
    data_of,
    of_batch,
    of_flatten,
    of_histogram,
    of_incr,
    of_incr_batch,
    of_join,
    of_map,
    of_union,
)
from progress.operators.laws.specification import Law
from tests.operators.random_streams import DIAMOND, random_case, two_streams

GRID = Product([Nat(), Nat()])
ORDERS: tuple[Domain, ...] = (Nat(), GRID, DIAMOND)


def streams(domain: Domain, count: int = 80) -> list[tuple[Event, ...]]:
    """Random streams, and each of them once more with watermarks above everything: those are productive."""
    found = []
    for seed in range(count):
        events = random_case(seed, domain).events
        highest = {"t4", "t5"} if domain is DIAMOND else {9} if isinstance(domain, Nat) else {(9, 9)}
        found += [events, (*events, *map(WM, sorted(highest, key=str)))]
    return found


def both_sides(domain: Domain, count: int = 80) -> list[tuple[Event, ...]]:
    """The same for two streams."""
    highest: list[Any] = ["t4", "t5"] if domain is DIAMOND else [9] if isinstance(domain, Nat) else [(9, 9)]
    ends = [WM(side(time)) for time in highest for side in (Left, Right)]
    found: list[tuple[Event, ...]] = []
    for seed in range(count):
        events = two_streams(seed, domain)
        marks = [WM(side(event.time.value)) for event in events if type(event) is WM for side in (Left, Right)]
        found += [events, (*events, *marks, *ends)]
    return found


def same(one: str, other: str) -> str | None:
    """Equal items match."""
    return one if one == other else None


@pytest.mark.parametrize("domain", ORDERS, ids=str)
def test_every_operator_has_its_four_properties(domain: Domain) -> None:
    buffer = [(domain.least()[0], "z")]
    batched = [tuple(produce(batch(domain=domain), stream)) for stream in streams(domain)]
    lists = [tuple(produce(map_data(lambda time, data: [data, data]), stream)) for stream in streams(domain)]
    cases: list[tuple[Any, Specification, Sequence[Sequence[Event]]]] = [
        (batch(domain=domain), of_batch(domain=domain), streams(domain)),
        (
            batch(buffer, domain=domain),
            of_batch(buffer, domain=domain),
            [s for s in streams(domain) if not s or type(s[0]) is DT],
        ),
        (incr(), of_incr(domain=domain), batched),
        (incr(buffer), of_incr(buffer, domain=domain), batched),
        (incr_batch(domain=domain), of_incr_batch(domain=domain), streams(domain)),
        (histogram(domain=domain), of_histogram(domain=domain), streams(domain)),
        (map_data(lambda time, data: data * 2), of_map(lambda time, data: data * 2, domain=domain), streams(domain)),
        (flatten(), of_flatten(domain=domain), lists),
        (union(domain=domain), of_union(domain=domain), both_sides(domain)),
        (join(same, domain=domain), of_join(same, domain=domain), both_sides(domain)),
    ]
    if domain.is_total:
        cases.append((total_histogram(domain=domain), of_histogram(domain=domain), streams(domain)))
    for operator, specification, given in cases:
        verdict = check_operator(operator, specification, given)
        verdict.raise_if_broken()
        assert verdict.holds
        assert min(verdict.judged.values()) >= 20, (specification.name, verdict.judged)


def rewritten(word_for_word: plain.Logic, change: Callable[[Event, list[Any]], list[Any]]) -> plain.Logic:
    """An operator whose output is changed."""

    def apply(event: Event) -> tuple[plain.Logic, list[Any]]:
        after, leaving = word_for_word.apply(event)
        return rewritten(after, change), change(event, leaving)

    return plain.Logic(apply, word_for_word.exit)


def not_cleaned(pairs: list[Any], le: Callable[[Any, Any], bool]) -> plain.Logic:
    """A batch that forgets to clean its buffer."""

    def apply(event: Any) -> tuple[plain.Logic, list[Any]]:
        if type(event) is DT:
            return not_cleaned([*pairs, (event.time, event.data)], le), []
        return not_cleaned(pairs, le), plain.batch_op(pairs, le).apply(event)[1]

    return plain.Logic(apply, plain.batch_op(pairs, le).exit)


def any_antichain(pairs: list[Any], le: Callable[[Any, Any], bool]) -> plain.Logic:
    """A batch whose exit takes minimal times for the maximal ones."""

    def apply(event: Any) -> tuple[plain.Logic, list[Any]]:
        leaving = plain.batch_op(pairs, le).apply(event)[1]
        left = (
            [*pairs, (event.time, event.data)] if type(event) is DT else [p for p in pairs if not le(p[0], event.time)]
        )
        return any_antichain(left, le), leaving

    def ending() -> list[Any]:
        minimal = plain.maximal_antichain_list([time for time, _ in pairs], lambda one, other: le(other, one))
        return plain.batches(minimal, pairs, le)[0]

    return plain.Logic(apply, ending)


def eager_union(le: Callable[[Any, Any], bool]) -> plain.Logic:
    """A union that lets every watermark go at once."""
    return rewritten(
        plain.union_op([], [], le), lambda event, leaving: [WM(event.time.value)] if type(event) is WM else leaving
    )


def twice_each(le: Callable[[Any, Any], bool]) -> plain.Logic:
    """A histogram over accumulated batches that have kept duplicates."""
    return rewritten(
        plain.ihist_op([], [], le),
        lambda event, leaving: [DT(out.time, out.data + out.data) if type(out) is DT else out for out in leaving],
    )


def forgetful(operator: Any) -> plain.Logic:
    """Whatever it becomes, nothing leaves at the end."""

    def apply(event: Event) -> tuple[plain.Logic, list[Any]]:
        after, leaving = operator.apply(event)
        return forgetful(after), leaving

    return plain.Logic(apply)


def backwards(event: Event, leaving: list[Any]) -> list[Any]:
    """The watermark before the data."""
    return leaving[::-1] if type(event) is WM else leaving


MUTANTS: dict[str, tuple[Callable[[Domain], Any], Callable[[Domain], Specification], str]] = {
    "watermark before data": (
        lambda domain: rewritten(plain.batch_op([], domain.less_equal), backwards),
        lambda domain: of_batch(domain=domain),
        "12",
    ),
    "maximal antichain not maximal": (
        lambda domain: any_antichain([], domain.less_equal),
        lambda domain: of_batch(domain=domain),
        "11",
    ),
    "duplicates kept": (lambda domain: twice_each(domain.less_equal), lambda domain: of_histogram(domain=domain), "22"),
    "buffer not cleaned": (
        lambda domain: not_cleaned([], domain.less_equal),
        lambda domain: of_batch(domain=domain),
        "10",
    ),
    "exit forgotten": (
        lambda domain: forgetful(plain.batch_op([], domain.less_equal)),
        lambda domain: of_batch(domain=domain),
        "11",
    ),
    "union releasing early": (
        lambda domain: eager_union(domain.less_equal),
        lambda domain: of_union(domain=domain),
        "union: monotone",
    ),
}


@pytest.mark.parametrize("domain", ORDERS, ids=str)
@pytest.mark.parametrize("name", MUTANTS)
def test_what_is_wrong_is_told_with_a_small_stream(name: str, domain: Domain) -> None:
    broken, specification, number = MUTANTS[name]
    given = both_sides(domain) if name.startswith("union") else streams(domain)
    verdict = check_operator(broken(domain), specification(domain), given)
    assert not verdict.holds
    assert number in {failure.law.number for failure in verdict.failures}
    assert all(len(failure.stream) <= 4 for failure in verdict.failures), verdict.failures
    with pytest.raises(PointstampError, match="PS807"):
        verdict.raise_if_broken()


def test_a_law_that_was_judged_on_no_stream_does_not_hold() -> None:
    verdict = check_operator(batch(), of_batch(), [[WM(1), DT(0, "a")]])
    assert verdict.failures == ()
    assert not verdict.holds
    with pytest.raises(PointstampError, match="no stream meets the assumption of soundness"):
        verdict.raise_if_broken()


def test_an_operator_whose_output_makes_no_sense_fails_in_words() -> None:
    verdict = check_operator(map_data(lambda time, data: 5), of_batch(), [[DT(0, "a"), WM(0)]])
    assert "cannot be read" in verdict.failures[0].wrong
    assert "\n" not in str(verdict.failures[0])


class Even:
    """An operator of a user's own: only even data pass, and `limit` of them at most."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def apply(self, event: Event) -> tuple[Even, list[Event]]:
        """The next operator, and what leaves."""
        if type(event) is WM:
            return self, [event]
        assert type(event) is DT
        passes = event.data % 2 == 0 and self.limit > 0
        return (Even(self.limit - 1), [event]) if passes else (self, [])

    def exit(self) -> list[Event]:
        """Nothing."""
        return []


def test_ones_own_operator_and_specification() -> None:
    plain_laws = of_flatten()
    evens = Specification(
        "even",
        Law(
            "sound",
            "only even data leave",
            lambda case: "odd" if any(e.data % 2 for e in data_of(case.produced)) else None,
        ),
        Law(
            "complete",
            "all even data leave",
            lambda case: (
                None
                if data_of(case.produced) == [e for e in data_of(case.events) if e.data % 2 == 0]
                else "an even item is missing"
            ),
        ),
        plain_laws.monotone,
        plain_laws.productive,
    )
    numbered: list[list[Event]] = [[DT(0, 1), DT(0, 2), WM(0), DT(1, 3), DT(1, 4), DT(2, 6), WM(2)]]
    assert check_operator(Even(9), evens, numbered).holds
    [failure] = check_operator(Even(1), evens, numbered).failures
    assert (failure.property, len(failure.stream), failure.wrong) == ("completeness", 2, "an even item is missing")


def test_what_cannot_be_checked_is_refused() -> None:
    wrong: Any
    for wrong in (5, of_batch):
        with pytest.raises(PointstampError, match=r"PS802: .* is not a specification"):
            check_operator(batch(), wrong, [])
    for wrong in (5, [5]):
        with pytest.raises(PointstampError, match="PS801: 5 is not a stream"):
            check_operator(batch(), of_batch(), wrong)


def test_a_stream_that_can_be_read_once_is_judged_by_what_was_in_it() -> None:
    wrong: Any = iter([DT(0, "a"), WM(0)])
    verdict = check_operator(map_data(lambda time, data: 5), of_batch(), [wrong])
    assert [failure.property for failure in verdict.failures] == ["soundness", "completeness"]
