"""The algebra of one coordinate against running it step by step and against trying every number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from progress.normal_form.coordinate import (
    Move,
    Word,
    always_at_most,
    always_below,
    chain,
    greatest_at_most,
    least_at_least,
    relations,
    run,
    slack,
    then,
    value_of,
)

SHIFT: st.SearchStrategy[Word] = st.integers(-5, 5).map(lambda amount: (amount,))
ROUNDING: st.SearchStrategy[Word] = st.sampled_from([1, 2, 3, 4, 5, 6, 10]).map(lambda step: (0, step, 0))
STEPS: st.SearchStrategy[list[Word]] = st.lists(st.one_of(SHIFT, ROUNDING), min_size=1, max_size=6)
NUMBER = st.integers(-40, 40)
FAR = 150


def chained(steps: list[Word]) -> Word:
    word = steps[0]
    for step in steps[1:]:
        word = chain(word, step)
    return word


def one_by_one(steps: list[Word], number: int) -> int:
    for step in steps:
        if len(step) == 1:
            number += step[0]
        else:
            while number % step[1]:
                number += 1
    return number


MOVES = st.one_of(
    st.builds(Move, STEPS.map(chained), st.one_of(st.none(), st.integers(-8, 8))),
    st.builds(Move, st.none(), st.integers(-8, 8)),
)
INTERVALS = st.tuples(st.one_of(st.none(), st.integers(-20, 20)), st.one_of(st.none(), st.integers(-20, 20))).filter(
    lambda ends: ends[0] is None or ends[1] is None or ends[0] <= ends[1]
)


def numbers_of(interval: tuple[int | None, int | None]) -> range:
    low, high = interval
    return range(-FAR if low is None else low, (FAR if high is None else high) + 1)


def result(move: Move, number: int) -> int:
    value = value_of(move, number)
    assert value is not None
    return value


@given(STEPS, NUMBER)
def test_a_chained_word_does_what_its_steps_do(steps: list[Word], number: int) -> None:
    assert run(chained(steps), number) == one_by_one(steps, number)


def test_roundings_that_divide_one_another_are_merged() -> None:
    assert chained([(0, 2, 0), (0, 4, 0)]) == (0, 4, 0)
    assert chained([(0, 4, 0), (0, 2, 0)]) == (0, 4, 0)
    assert chained([(4,), (0, 4, 0), (-4,)]) == (0, 4, 0)
    assert len(chained([(0, 2, 0), (0, 3, 0)])) == 5, "these do not"


@given(STEPS, NUMBER)
def test_the_greatest_and_the_least_that_a_bound_admits(steps: list[Word], bound: int) -> None:
    word = chained(steps)
    greatest, least = greatest_at_most(word, bound), least_at_least(word, bound)
    assert run(word, greatest) <= bound < run(word, greatest + 1)
    assert run(word, least - 1) < bound <= run(word, least)


@given(STEPS, NUMBER)
def test_slack_bounds_how_far_a_word_moves(steps: list[Word], number: int) -> None:
    word = chained(steps)
    least, greatest = slack(word)
    assert least <= run(word, number) - number <= greatest


@given(MOVES, MOVES, NUMBER)
def test_then_is_one_after_the_other(first: Move, second: Move, number: int) -> None:
    assert result(then(first, second), number) == result(second, result(first, number))


@given(MOVES, INTERVALS)
def test_the_relations_found_are_those_that_occur(move: Move, interval: tuple[int | None, int | None]) -> None:
    def relation(number: int) -> str:
        moved = result(move, number)
        return "<" if moved < number else ">" if moved > number else "="

    found = relations(move, *interval)
    assert set(found) == {relation(number) for number in numbers_of(interval)}
    for claimed, number in found.items():
        assert relation(number) == claimed
        assert interval[0] is None or number >= interval[0]
        assert interval[1] is None or number <= interval[1]


@given(MOVES, MOVES, INTERVALS)
def test_comparisons_never_say_yes_too_often_and_are_exact_without_roundings(
    one: Move, other: Move, interval: tuple[int | None, int | None]
) -> None:
    numbers = numbers_of(interval)
    below = all(result(one, number) < result(other, number) for number in numbers)
    at_most = all(result(one, number) <= result(other, number) for number in numbers)
    assert at_most or not always_at_most(one, other, *interval)
    assert below or not always_below(one, other, *interval)
    if all(move.word is None or len(move.word) == 1 for move in (one, other)):
        assert always_at_most(one, other, *interval) == at_most
