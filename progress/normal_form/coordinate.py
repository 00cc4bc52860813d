"""What a summary does to one coordinate: x -> max(word(x), floor), closed under composition.

A *word* is a chain of additions and roundings, `(a0, n1, a1, n2, a2, ...)`: add a0, round up to a multiple of n1, add
a1, and so on. Without roundings it is one number, and everything here is O(1). Neighbouring roundings of which one
divides the other are merged, so words stay short. A `Move` without a word is a constant; a floor of None is minus
infinity: as a constant it says that there are times there but none is minimal.
"""

from __future__ import annotations

from math import lcm
from typing import Literal, NamedTuple, TypeAlias

Word: TypeAlias = tuple[int, ...]
Relation: TypeAlias = Literal["<", "=", ">", "|"]

LONGEST_PERIOD = 1 << 16


class Undecided(Exception):
    """A question about a summary that this normal form cannot answer within its stated budget."""


class Move(NamedTuple):
    """x -> max(word(x), floor). No word: the constant `floor`. No floor: nothing is raised."""

    word: Word | None
    floor: int | None


KEEP = Move((0,), None)


def run(word: Word, number: int) -> int:
    """The word's value at `number`."""
    number += word[0]
    for position in range(1, len(word), 2):
        step = word[position]
        number = -(-number // step) * step + word[position + 1]
    return number


def value_of(move: Move, number: int) -> int | None:
    """The move's value at `number`; None is minus infinity."""
    if move.word is None:
        return move.floor
    moved = run(move.word, number)
    return moved if move.floor is None or moved >= move.floor else move.floor


def chain(first: Word, then: Word) -> Word:
    """The word that runs `first`, then `then`, in normal form."""
    if len(first) == 1 and len(then) == 1:
        return (first[0] + then[0],)
    word = [*first[:-1], first[-1] + then[0], *then[1:]]
    return _shortened(word)


def _shortened(word: list[int]) -> Word:
    """Merge roundings of which one divides the next, and carry whole multiples past their rounding."""
    kept = [word[0]]
    for position in range(1, len(word), 2):
        step, added = word[position], word[position + 1]
        if step == 1:
            kept[-1] += added
            continue
        while len(kept) > 1 and step % kept[-2] == 0:  # rounding to 2, then to 4, is rounding to 4
            inner = kept[-2]
            shift = -(-kept[-1] // inner) * inner
            del kept[-2:]
            kept[-1] += shift
        if len(kept) > 1 and kept[-2] % step == 0:  # already a multiple: only the addition is rounded
            kept[-1] = -(-kept[-1] // step) * step + added
            continue
        whole = kept[-1] // step * step
        kept[-1] -= whole
        kept += [step, whole + added]
    return tuple(kept)


def then(first: Move, second: Move) -> Move:
    """The move that does `first`, then `second`: max(w2(max(w1(x), b1)), b2) = max(w2(w1(x)), max(w2(b1), b2))."""
    if second.word is None:
        return second
    raised = second.floor
    if first.floor is not None:
        lifted = run(second.word, first.floor)
        raised = lifted if raised is None or lifted > raised else raised
    return Move(None if first.word is None else chain(first.word, second.word), raised)


def greatest_at_most(word: Word, bound: int) -> int:
    """The greatest x with word(x) <= bound."""
    for position in range(len(word) - 2, 0, -2):
        step = word[position]
        bound = (bound - word[position + 1]) // step * step
    return bound - word[0]


def least_at_least(word: Word, bound: int) -> int:
    """The least x with word(x) >= bound."""
    return greatest_at_most(word, bound - 1) + 1


def slack(word: Word) -> tuple[int, int]:
    """Bounds on word(x) - x over all x: exact for words without rounding."""
    least = sum(word[::2])
    return least, least + sum(step - 1 for step in word[1::2])


def pick(low: int | None, high: int | None) -> int:
    """A number of the interval, zero or next to it."""
    if low is not None and low > 0:
        return low
    return high if high is not None and high < 0 else 0


def lower_end(one: int | None, other: int | None) -> int | None:
    """The greater of two lower bounds, None being minus infinity."""
    return other if one is None or (other is not None and other > one) else one


def upper_end(one: int | None, other: int | None) -> int | None:
    """The smaller of two upper bounds, None being infinity."""
    return other if one is None or (other is not None and other < one) else one


def relations(move: Move, low: int | None, high: int | None) -> dict[Relation, int]:
    """How move(x) can compare to x for x in [low, high]: each relation that occurs, with such an x.

    "<" means that the result lies below where it started. Exact; raises `Undecided` where roundings with a common
    period beyond `LONGEST_PERIOD` meet.
    """
    floor = move.floor
    found: dict[Relation, int] = {}

    def note(relation: Relation, number: int | None) -> None:
        if number is not None and relation not in found and _within(number, low, high):
            found[relation] = number

    if move.word is None:
        if floor is None:
            return {"<": pick(low, high)}
        above = lower_end(low, floor + 1)
        note("<", above)
        note("=", floor)
        note(">", pick(low, upper_end(high, floor - 1)))
        return {relation: number for relation, number in found.items() if relation != ">" or number < floor}
    if floor is None:
        return _word_relations(move.word, low, high)
    if _within(floor - 1, low, None):
        below = pick(low, upper_end(high, floor - 1))
        if below < floor:
            note(">", below)
    if run(move.word, floor) <= floor:
        note("=", floor)
    for relation, start in (("<", floor + 1), ("=", floor), (">", low)):
        wanted: Relation = relation  # type: ignore[assignment]
        if wanted not in found:
            note(wanted, _word_relations(move.word, lower_end(low, start), high).get(wanted))
    return found


def _within(number: int, low: int | None, high: int | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)


def _word_relations(word: Word, low: int | None, high: int | None) -> dict[Relation, int]:
    if low is not None and high is not None and low > high:
        return {}
    if len(word) == 1:
        relation: Relation = "<" if word[0] < 0 else ">" if word[0] else "="
        return {relation: pick(low, high)}
    period = lcm(*word[1::2])
    start = low if low is not None else 0 if high is None or high >= period - 1 else high - period + 1
    end = start + period - 1 if high is None else min(high, start + period - 1)
    if len(word) == 3:
        return _one_rounding(word, start, end)
    least, greatest = slack(word)
    if least > 0:
        return {">": start}
    if greatest < 0:
        return {"<": start}
    if period > LONGEST_PERIOD:
        raise Undecided(f"roundings whose common period is {period}, beyond {LONGEST_PERIOD}")
    found: dict[Relation, int] = {}
    for number in range(start, end + 1):
        moved = run(word, number)
        found.setdefault("<" if moved < number else ">" if moved > number else "=", number)
    return found


def _one_rounding(word: Word, start: int, end: int) -> dict[Relation, int]:
    """word(x) - x = least + r, where r counts down from step - 1 to 0 as x grows: solve for r instead of trying."""
    before, step, after = word
    least = before + after
    here = -(start + before) % step
    found: dict[Relation, int] = {}
    wanted: list[tuple[Relation, int, int]] = [("<", 0, -least - 1), ("=", -least, -least), (">", 1 - least, step - 1)]
    for relation, lowest, highest in wanted:
        lowest, highest = max(lowest, 0), min(highest, step - 1)
        if lowest > highest:
            continue
        if lowest <= here <= highest:
            number = start
        elif here > highest:
            number = start + here - highest
        else:
            number = start + here + step - highest
        if number <= end:
            found[relation] = number
    return found


def always_at_most(one: Move, other: Move, low: int | None, high: int | None) -> bool:
    """Whether one(x) <= other(x) for all x in [low, high]; exact without roundings, else it may say no too often."""
    if one == other:
        return True
    if other.floor is None and other.word is None:
        return False
    least = other.floor
    if other.word is not None and low is not None:
        least = lower_end(least, run(other.word, low))
    if one.floor is not None and (least is None or one.floor > least):
        return False
    if one.word is None:
        return True
    if high is not None and least is not None and run(one.word, high) <= least:
        return True
    if other.word is None:
        return False
    if one.word == other.word:
        return True
    return slack(one.word)[1] <= slack(other.word)[0]


def always_below(one: Move, other: Move, low: int | None, high: int | None) -> bool:
    """Whether one(x) < other(x) for all x in [low, high], with the same caveat."""
    raised = Move(None if one.word is None else chain(one.word, (1,)), None if one.floor is None else one.floor + 1)
    if one.word is None and one.floor is None:
        return not (other.word is None and other.floor is None)
    return always_at_most(raised, other, low, high)
