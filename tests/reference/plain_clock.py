"""Clock as an explicit set of pointstamps up to a bound, by single steps over plain data: shares no code with anything.

Times are numbers, or tuples of numbers under the product order; a node adds an amount to the last number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

BOUND = 6  # no time of the systems that are judged with this is beyond it
Ends = Mapping[str, tuple[str | None, str | None]]


def at_or_before(a: Any, b: Any) -> bool:
    """The order of times."""
    return all(x <= y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else bool(a <= b)


def above(time: Any) -> list[Any]:
    """All times at or after this one, up to the bound."""
    if isinstance(time, tuple):
        return list(product(*(range(part, BOUND + 1) for part in time)))
    return list(range(time, BOUND + 1))


def plain_clock(edges: Ends, later: Mapping[str, int], stamps: Iterable[tuple[str, Any]]) -> set[tuple[str, Any]]:
    """Everything up to the bound that follows, one step after the other; `later` is what is added on an edge."""
    found: set[tuple[str, Any]] = set()
    waiting = list(stamps)
    while waiting:
        place, time = waiting.pop()
        for other in above(time):
            if (place, other) in found:
                continue
            found.add((place, other))
            if place in edges:
                target = edges[place][1]
                waiting += [(target, other)] if target else []
                continue
            for edge, (source, _) in edges.items():
                if source == place:
                    waiting.append((edge, moved(other, later.get(edge, 0))))
    return found


def moved(time: Any, amount: int) -> Any:
    """A time with an amount added to its last number, never below zero."""
    return (*time[:-1], time[-1] + amount) if isinstance(time, tuple) else max(time + amount, 0)
