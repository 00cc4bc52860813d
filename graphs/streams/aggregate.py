"""How one result is made of the values of a key, and the node that does it for each key and time.

A result leaves when its time is complete, once, and is forgotten then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from heapq import nlargest
from typing import Any, NamedTuple

from graphs.streams.keys import Keys
from graphs.streams.operator import OfOpenTimes
from graphs.streams.step import Wiring
from progress.runtime.out import Out

Found = dict[Any, Any]  # what was made of values, by key


class Aggregate(NamedTuple):
    """How one result is made of the values of a key.

    Laws: `step(first(a), b)` is what is made of a and b. `gather(keys, values, before)` is what all these values make
    of what was there before, for their keys alone; it changes nothing that was there. `merge` makes of what two bags
    gave what both together give, where that can be made. `kind` is what results are, whatever the functions.
    """

    kind: str
    first: Callable[[Any], Any]
    step: Callable[[Any, Any], Any]
    gather: Callable[[Keys, list[Any], Found], Found]
    merge: Callable[[Any, Any], Any] | None


def reducing(f: Callable[[Any, Any], Any], kind: str = "reduce") -> Aggregate:
    """One value made of two, again and again."""

    def gather(keys: Keys, values: list[Any], before: Found) -> Found:
        found: Found = {}
        for key, value in keys.pairs(values):
            if key in found:
                found[key] = f(found[key], value)
            elif key in before:
                found[key] = f(before[key], value)
            else:
                found[key] = value
        return found

    return Aggregate(kind, lambda value: value, f, gather, f)


def folding(start: Any, step: Callable[[Any, Any], Any], merge: Callable[[Any, Any], Any] | None = None) -> Aggregate:
    """From a start on, a step with each value."""

    def gather(keys: Keys, values: list[Any], before: Found) -> Found:
        found: Found = {}
        for key, value in keys.pairs(values):
            state = found[key] if key in found else before.get(key, start)
            found[key] = step(state, value)
        return found

    return Aggregate("fold", lambda value: step(start, value), step, gather, merge)


def counting() -> Aggregate:
    """How many there are."""

    def gather(keys: Keys, values: list[Any], before: Found) -> Found:
        found = dict(Counter(keys.keys(values)))
        for key in found.keys() & before.keys():
            found[key] += before[key]
        return found

    return Aggregate("count", lambda value: 1, lambda count, value: count + 1, gather, lambda one, other: one + other)


def largest(most: int, by: Callable[[Any], Any] | None) -> Aggregate:
    """The largest ones, the largest first. Of equal ones the first to come are kept.

    Cost of values that come together: a comparison with the smallest that is kept, and sorting those that are larger.
    """

    def gather(keys: Keys, values: list[Any], before: Found) -> Found:
        found = keys.bags(values)
        if not before.keys().isdisjoint(found):  # else there is nothing to look for, key by key
            for key in [key for key in found if key in before]:
                known, new = before[key], found[key]
                if len(known) == most:
                    new = _above(known[-1], new, by)
                found[key] = sorted([*known, *new], key=by, reverse=True)[:most] if new else known
        for key, new in found.items():
            if len(new) > 1 and key not in before:
                new.sort(key=by, reverse=True)
                del new[most:]
        return found

    return Aggregate(
        f"top {most}",
        lambda value: [value],
        lambda values, value: nlargest(most, [*values, value], by),
        gather,
        lambda one, other: nlargest(most, [*one, *other], by),
    )


def _above(floor: Any, values: list[Any], by: Callable[[Any], Any] | None) -> list[Any]:
    """Those that are larger than one."""
    if by is None:
        return [value for value in values if value > floor]
    least = by(floor)
    return [value for value in values if by(value) > least]


class Gathering(OfOpenTimes):
    """Keeps what was made of the values so far for each key of an open time.

    Cost: O(1) calls of the functions a value; kept are the keys of open times.
    """

    settings: tuple[str, ...] = ("kind",)
    open: dict[Any, Found]

    def __init__(self, keys: Keys, how: Aggregate, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.how = how
        self.kind = how.kind

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """What they make is entered when all of it is made: a call that fails has changed nothing."""
        out.request(time)
        before = self.open.get(time)
        found = self.how.gather(self.keys, values, before or {})
        if before:
            before.update(found)
        else:
            self.open[time] = found


class Aggregating(Gathering):
    """Each time by itself: what was made for it leaves when it is complete."""

    def leave(self, time: Any, found: Found, out: Out) -> None:
        """All of it leaves."""
        self.send([*found.items()], out)
