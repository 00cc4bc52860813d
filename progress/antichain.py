"""Antichains: finite sets of pairwise incomparable times, the minimal elements that stand for all times above them.

A set of times that is closed upward (A&I 3.3) is represented by its minimal elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.order import Domain


def minimal_elements(domain: Domain, times: Iterable[Any]) -> tuple[Any, ...]:
    """The minimal ones among `times`, each once, in the order of `domain.sort_key`.

    Cost: O(n log n) for a total order, O(n * width) for others.
    """
    distinct = sorted(set(times), key=domain.sort_key)
    if domain.is_total:
        return tuple(distinct[:1])
    kept: list[Any] = []
    for time in distinct:  # a linear extension: nothing later can lie below something earlier
        if not any(domain.less_equal(lower, time) for lower in kept):
            kept.append(time)
    return tuple(kept)


def covers(domain: Domain, antichain: Iterable[Any], time: Any) -> bool:
    """Whether some element of `antichain` is at or before `time`. Cost: O(width)."""
    less_equal = domain.less_equal
    return any(less_equal(lower, time) for lower in antichain)


class Antichain:
    """A growing antichain: `insert` keeps only minimal times. Cost of each operation: O(width)."""

    __slots__ = ("_domain", "times")

    def __init__(self, domain: Domain, times: Iterable[Any] = ()) -> None:
        self._domain = domain
        self.times: list[Any] = []
        for time in times:
            self.insert(time)

    def covers(self, time: Any) -> bool:
        """Whether some element is at or before `time`."""
        return covers(self._domain, self.times, time)

    def insert(self, time: Any) -> bool:
        """Add `time` unless an element lies at or below it; whether the represented set grew."""
        if covers(self._domain, self.times, time):
            return False
        less_equal = self._domain.less_equal
        self.times = [other for other in self.times if not less_equal(time, other)]
        self.times.append(time)
        return True

    def in_order(self) -> tuple[Any, ...]:
        """The elements in a linear extension of the order of times."""
        return tuple(sorted(self.times, key=self._domain.sort_key))
