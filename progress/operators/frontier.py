"""Watermarks and frontiers: two ways to say which times may still come (section 4.1; A&I 3.3).

A watermark says that nothing at or below it comes. A frontier is the antichain of the minimal times that may come.
Each says what the other one says: the times that no watermark is at or above are those at or above the frontier.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.antichain import minimal_elements
from progress.errors import PointstampError
from progress.order import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged, Unit


def frontier_after(domain: Domain, frontier: Iterable[Any], watermark: Any) -> tuple[Any, ...]:
    """The frontier once a watermark has come: the minimal times at or above `frontier` and not at or below `watermark`.

    PS805 for a domain of the user's own, whose next times nobody knows. Cost: O(frontier * places of a time).

    >>> from progress import Nat, Product
    >>> frontier_after(Product([Nat(), Nat()]), [(0, 0)], (4, 2))
    ((0, 3), (5, 0))
    """
    kept: list[Any] = []
    for time in frontier:
        kept += _next(domain, time, watermark) if domain.less_equal(time, watermark) else (time,)
    return minimal_elements(domain, kept)


def _next(domain: Domain, low: Any, watermark: Any) -> Iterable[Any]:
    """The minimal times at or above `low`, itself at or below `watermark`, that are not at or below `watermark`."""
    match domain:
        case Nat() | Int():
            return (watermark + 1,) if domain.contains(watermark + 1) else ()
        case Unit():
            return ()
        case Product(parts=parts):
            return [
                (*low[:place], after, *low[place + 1 :])
                for place, part in enumerate(parts)
                for after in _next(part, low[place], watermark[place])
            ]
        case Lex(parts=parts):
            return _successor(parts, watermark)
        case Finite():
            later = domain.less_equal
            return [time for time in domain.elements if later(low, time) and not later(time, watermark)]
        case Sum(summands=summands):
            after = _next(summands[watermark.tag], low.value, watermark.value)
            return [Tagged(watermark.tag, value) for value in after]
    right = "a domain of progress.order, or no domain, where Python's own order will do"
    raise PointstampError("PS805", f"the times after a watermark are not known in {domain!r}", right)


def _successor(parts: Iterable[Domain], time: tuple[Any, ...]) -> Iterable[Any]:
    """The next time in a lexicographic order: the last place that can grow does, and those behind it start anew."""
    domains = list(parts)
    for place in range(len(time) - 1, -1, -1):
        after = [*_next(domains[place], time[place], time[place])]
        starts = [domain.least() for domain in domains[place + 1 :]]
        if after:
            if not all(starts):  # there are times after this one, and no first one of them
                right = "places behind the first that have a least time, such as nat"
                raise PointstampError("PS805", f"no time comes next after {time!r}", right)
            return [(*time[:place], after[0], *(start[0] for start in starts))]
    return ()
