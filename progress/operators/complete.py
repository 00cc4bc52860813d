"""What is complete, counted so that a new time adds what is new (section 5.1).

H(t) counts the data of all complete times at or below t. Adding up all of them for each t is never wrong. It is not
needed where several complete times can no more be told apart by any time that may still come: their counts are one
*group*, added up once.

* In a chain, whose next time is above all before, everything complete is one group.
* In a domain with a frontier F of what may come, x and y are alike if they have the same minimal upper bounds with each
  f of F: any t that comes is at or above some f, and then x <= t exactly where one of these bounds is.

Groups only merge as the frontier moves, so it is enough to look at one time of each. In a stream that is not monotone a
time comes of which this does not hold; from then on all times are added up each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from progress.operators.frontier import frontier_after
from progress.operators.open_times import OpenTimes
from progress.operators.reading import count
from progress.operators.times import Times


class Complete:
    """The counts of complete times.

    Cost of `histogram`: O(groups) comparisons, and the counts of those that are below. Cost of `watermark`: O(groups *
    frontier), where it moves the frontier. All times are kept, since a stream that is not monotone may ask for them.
    """

    __slots__ = ("_counts", "_groups", "_times", "added", "frontier")

    def __init__(self, times: Times, batches: OpenTimes, frontier: Iterable[Any] | None, is_monotone: bool) -> None:
        self._times = times
        self._counts: dict[Any, Counter[Any]] = {}
        self._groups: list[tuple[Any, Counter[Any]]] | None = (
            [] if is_monotone else None
        )  # a time of each; None: no more
        self.added = 0  # groups, or times, that were looked at
        self.frontier: tuple[Any, ...] | None = (
            None if frontier is None else tuple(frontier)
        )  # None: it is not followed
        for time, items in batches.drained():
            counts = self._counts[time] = count(data for _, (_, data) in items)
            self._group(time, counts)
        self._merge()

    @property
    def is_monotone(self) -> bool:
        """Whether no time has come too late."""
        return self._groups is not None

    def add(self, time: Any, counts: Counter[Any]) -> None:
        """Data of a time that has become complete; no time is added before one below it that completes with it."""
        self._counts.setdefault(time, Counter()).update(counts)
        less_equal = self._times.less_equal
        if self.frontier is not None and not any(less_equal(low, time) for low in self.frontier):
            self._groups = None
        self._group(time, counts)

    def _group(self, time: Any, counts: Counter[Any]) -> None:
        if self._groups is None:
            return
        if self.frontier is not None or not self._groups:
            self._groups.append((time, Counter(counts)))
        elif self._times.less_equal(self._groups[0][0], time):
            total = self._groups[0][1]
            total.update(counts)
            self._groups = [(time, total)]
        else:
            self._groups = None

    def histogram(self, time: Any) -> Counter[Any]:
        """H(time) of what is complete."""
        less_equal = self._times.less_equal
        total: Counter[Any] = Counter()
        for other, counts in self._counts.items() if self._groups is None else self._groups:
            self.added += 1
            if less_equal(other, time):
                total.update(counts)
        return total

    def watermark(self, time: Any) -> None:
        """Nothing at or below this time comes any more: what nothing can tell apart now becomes one."""
        if self.frontier is None or self._times.domain is None:
            return
        frontier = frontier_after(self._times.domain, self.frontier, time)
        if frontier != self.frontier:
            self.frontier = frontier
            self._merge()

    def _merge(self) -> None:
        domain = self._times.domain
        if self._groups is None or self.frontier is None or domain is None:
            return
        merged: dict[Any, tuple[Any, Counter[Any]]] = {}
        for other, counts in self._groups:
            self.added += 1
            bounds = tuple(frozenset(domain.minimal_upper_bounds(other, low)) for low in self.frontier)
            group = merged.setdefault(bounds, (other, counts))
            if group[1] is not counts:
                group[1].update(counts)
        self._groups = list(merged.values())

    def items(self) -> list[tuple[Any, Any]]:
        """All data, each with its time."""
        return [(time, item) for time, counts in self._counts.items() for item in counts.elements()]
