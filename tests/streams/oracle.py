"""What programs of streams mean, in plain Python: a stream is a list of pairs (time, value), and nothing runs.

It shares nothing with `graphs.streams`. `Order` is at-or-before of the times, given with each function that needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product
from typing import Any

Pairs = list[tuple[Any, Any]]
Order = Callable[[Any, Any], bool]


def times_of(stream: Pairs) -> list[Any]:
    return sorted({time for time, _ in stream})


def values_at(stream: Pairs, time: Any) -> list[Any]:
    return [value for at, value in stream if at == time]


def groups_at(stream: Pairs, time: Any) -> dict[Any, list[Any]]:
    """The values of each key, of a stream of pairs (key, value)."""
    return {key: [v for k, v in values_at(stream, time) if k == key] for key, _ in values_at(stream, time)}


def aggregated(stream: Pairs, make: Callable[[list[Any]], Any]) -> Pairs:
    """(key, result) of each key and time; `make` is given all its values."""
    return [(time, (key, make(values))) for time in times_of(stream) for key, values in groups_at(stream, time).items()]


def so_far(stream: Pairs, make: Callable[[list[Any]], Any], below: Order) -> Pairs:
    """(key, result) of each key at each time at which it comes, of all its values at or before the time."""
    return [
        (time, (key, make([v for at, (k, v) in stream if k == key and below(at, time)])))
        for time in times_of(stream)
        for key in groups_at(stream, time)
    ]


def distinct(stream: Pairs) -> Pairs:
    return [*dict.fromkeys(stream)]


def distinct_so_far(stream: Pairs, below: Order) -> Pairs:
    return [
        (time, value)
        for time, value in dict.fromkeys(stream)
        if not any(v == value and below(at, time) and at != time for at, v in stream)
    ]


def joined(left: Pairs, right: Pairs, f: Callable[..., Any], how: str) -> Pairs:
    """By the definition of each kind of join, on all pairs of values."""
    found: Pairs = []
    for (at, (key, one)), (then, (other, two)) in product(left, right):
        if at == then and key == other and how in ("inner", "left", "outer"):
            found.append((at, f(key, one, two)))
    rights = {(at, key) for at, (key, _) in right}
    lefts = {(at, key) for at, (key, _) in left}
    for at, (key, one) in left:
        if (how in ("left", "outer", "anti") and (at, key) not in rights) or (how == "semi" and (at, key) in rights):
            found.append((at, f(key, one, None)))
    for at, (key, two) in right:
        if how == "outer" and (at, key) not in lefts:
            found.append((at, f(key, None, two)))
    return found


def cogrouped(left: Pairs, right: Pairs, f: Callable[..., Any]) -> Pairs:
    keys = {(at, key) for at, (key, _) in [*left, *right]}
    return [
        (at, f(key, [v for k, v in values_at(left, at) if k == key], [v for k, v in values_at(right, at) if k == key]))
        for at, key in sorted(keys)
    ]


def as_of(left: Pairs, right: Pairs, f: Callable[..., Any], within: int | None = None) -> Pairs:
    """With the latest on the right, where a key has one value at a time."""
    found: Pairs = []
    for at, (key, one) in left:
        before = [(then, two) for then, (other, two) in right if other == key and then <= at]
        latest = max(before, default=None)
        is_near = latest is not None and (within is None or at - latest[0] <= within)
        found.append((at, f(key, one, latest[1] if latest is not None and is_near else None)))
    return found


def tumbled(stream: Pairs, n: int) -> Pairs:
    return [(next(tick for tick in range(time, time + n) if tick % n == n - 1), value) for time, value in stream]


def slid(stream: Pairs, n: int, every: int) -> Pairs:
    """Each window (end - n, end] whose end is the last of `every` ticks."""
    ends = range(every - 1, max((time for time, _ in stream), default=0) + n + every, every)
    return [(end, value) for end in ends for time, value in stream if end - n < time <= end]


def sessions(stream: Pairs, gap: int) -> Pairs:
    """Runs of a key's times in which neighbours are at most `gap` apart; values in the order of times, then sorted."""
    found: Pairs = []
    for key in {key for _, (key, _) in stream}:
        run: list[tuple[Any, Any]] = []
        for time, value in sorted((time, value) for time, (k, value) in stream if k == key):
            if run and time - run[-1][0] > gap:
                found.append((run[-1][0] + gap, (key, run[0][0], run[-1][0], [v for _, v in run])))
                run = []
            run.append((time, value))
        found.append((run[-1][0] + gap, (key, run[0][0], run[-1][0], [v for _, v in run])))
    return found


def in_order(stream: Pairs, start: Any, f: Callable[[Any, Any], tuple[Any, Any]]) -> Pairs:
    """A state a key, times in order, values of a time sorted."""
    found: Pairs = []
    states: dict[Any, Any] = {}
    for time, (key, value) in sorted(stream):
        states[key], result = f(states.get(key, start), value)
        found.append((time, (key, result)))
    return found


def total(values: list[int]) -> int:
    return reduce(lambda one, other: one + other, values)
