"""What domains and summaries mean, by trying times: written from the specification's tables alone.

Nothing here knows normal forms. A summary means its hull: the minimal times of everything that it gives at t or above;
"above" are all times in a window of numbers around those of t, wide enough for summaries whose own numbers are small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product as combinations_of
from math import prod
from typing import Any

from progress import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged, Unit

Notation = Any
MARGIN = 4  # beyond the numbers of t; no number in a summary is larger


def window(domain: Domain, low: int, high: int) -> list[Any]:
    """Every time whose numbers are within [low, high], naturals from 0."""
    if isinstance(domain, Product | Lex):
        return list(combinations_of(*(window(part, low, high) for part in domain.parts)))
    if isinstance(domain, Sum):
        return [Tagged(tag, time) for tag, part in domain.summands.items() for time in window(part, low, high)]
    if isinstance(domain, Unit):
        return [None]
    if isinstance(domain, Finite):
        return list(domain.elements)
    if isinstance(domain, Nat):
        return list(range(min(high, high if domain.maximum is None else domain.maximum) + 1))
    assert isinstance(domain, Int)
    return list(range(low, high + 1))


def window_size(domain: Domain, low: int, high: int) -> int:
    """How many times `window` lists."""
    if isinstance(domain, Product | Lex):
        return prod(window_size(part, low, high) for part in domain.parts)
    if isinstance(domain, Sum):
        return sum(window_size(part, low, high) for part in domain.summands.values())
    return len(window(domain, low, high))


def numbers(time: Any) -> Iterator[int]:
    """All numbers in a time."""
    if isinstance(time, Tagged):
        yield from numbers(time.value)
    elif isinstance(time, tuple):
        for item in time:
            yield from numbers(item)
    elif isinstance(time, int):
        yield time


def less_equal(domain: Domain, one: Any, other: Any) -> bool:
    """The orders of the specification's table."""
    if isinstance(domain, Product):
        return all(less_equal(part, a, b) for part, a, b in zip(domain.parts, one, other, strict=True))
    if isinstance(domain, Lex):
        for part, a, b in zip(domain.parts, one, other, strict=True):
            if a != b:
                return less_equal(part, a, b)
        return True
    if isinstance(domain, Sum):
        return bool(one.tag == other.tag) and less_equal(domain.summands[one.tag], one.value, other.value)
    if isinstance(domain, Finite):
        return domain.less_equal(one, other)
    return bool(one == other or (one is not None and one < other))


def minimal(domain: Domain, times: Iterable[Any]) -> set[Any]:
    """The times with no other one below."""
    among = set(times)
    if isinstance(domain, Product | Lex) and all(isinstance(part, Nat | Int) for part in domain.parts):
        among = _quickly_thinned(domain, among)
    return {time for time in among if not any(other != time and less_equal(domain, other, time) for other in among)}


def _quickly_thinned(domain: Domain, times: set[Any]) -> set[Any]:
    """Without most of what is not minimal: a time above the lexicographically least one is not."""
    if not times:
        return times
    least = min(times)
    return {time for time in times if time == least or not less_equal(domain, least, time)}


def once(notation: Notation, source: Domain, target: Domain, time: Any) -> list[Any]:
    """What a summary gives at exactly this time, by the table; a result outside the target domain is nothing."""
    results: list[Any]
    match notation:
        case "identity":
            results = [time]
        case "never":
            results = []
        case {"advance": amount}:
            results = [_sum(time, amount)]
        case "feedback":
            results = [_one_more(time)]
        case "enter":
            results = once({"enter": 0}, source, target, time)
        case {"enter": value}:
            results = [_entered(source, target, time, value)]
        case "leave":
            results = [_left(source, target, time)]
        case {"constant": constant}:
            results = [constant]
        case {"round_up": step}:
            results = [next(number for number in range(time, time + step) if number % step == 0)]
        case {"map": rows}:
            results = [after for before, after in rows if before == time]
        case {"tag": tag}:
            results = [Tagged(tag, time)]
        case {"untag": tag}:
            results = [time.value] if time.tag == tag else []
        case _:
            raise AssertionError(notation)
    return [result for result in results if target.contains(result)]


def _entered(source: Domain, target: Domain, time: Any, value: Any) -> Any:
    if not isinstance(source, Product | Lex):
        return (time, value)
    assert isinstance(target, Product | Lex)
    if len(target.parts) > len(time):
        return (*time, value)
    return (*time[:-1], _entered(source.parts[-1], target.parts[-1], time[-1], value))


def _left(source: Domain, target: Domain, time: Any) -> Any:
    assert isinstance(source, Product | Lex)
    if len(time) == 2 and target == source.parts[0]:
        return time[0]
    assert isinstance(target, Product | Lex)
    if len(target.parts) < len(time):
        return time[:-1]
    return (*time[:-1], _left(source.parts[-1], target.parts[-1], time[-1]))


def _sum(time: Any, amount: Any) -> Any:
    if isinstance(amount, list | tuple):
        return tuple(map(_sum, time, amount))
    return time if amount == 0 else time + amount


def _one_more(time: Any) -> Any:
    return (*time[:-1], _one_more(time[-1])) if isinstance(time, tuple) else time + 1


def hull(notation: Notation, source: Domain, target: Domain, time: Any, margin: int = MARGIN) -> set[Any]:
    """The minimal times of everything that the summary gives at `time` or above.

    `then` is written here as [(notation, domain after it), ...]; each of its members means its own hull.
    """
    match notation:
        case {"any": parts}:
            return minimal(target, [result for part in parts for result in hull(part, source, target, time, margin)])
        case {"then": steps}:
            times, before = {time}, source
            for step, after in steps:
                times = minimal(after, [result for each in times for result in hull(step, before, after, each, margin)])
                before = after
            return times
    low, high = min([-MARGIN, *numbers(time)]) - margin, max([MARGIN, *numbers(time)]) + margin
    above = [each for each in window(source, low, high) if less_equal(source, time, each)]
    match notation:
        case {"at_least": bound}:
            return minimal(source, [each for each in above if less_equal(source, bound, each)])
    return minimal(target, [result for each in above for result in once(notation, source, target, each)])
