"""What waits for watermarks: items by their time, found again by a watermark without looking at all of them.

The distinct times stand in a forest in which each hangs under one at or below it. A watermark takes the roots at or
below it away; what hung under them is looked at next, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from progress.engines.forest import Forest
from progress.operators.times import Times

Group: TypeAlias = tuple[Any, list[tuple[int, Any]]]  # a time, and its items with the numbers in which they came


class OpenTimes:
    """Items in the order in which they came, each at a time.

    Cost of an item at a time that is there: O(1); at a new time: O(minimal times) comparisons. Cost of a watermark:
    O(minimal times) comparisons and, amortised, O(log n) for each time that goes, in a chain of n; O(k log k) for
    putting the k items that go back in order, where they are of several times.
    """

    __slots__ = ("_forest", "_items", "_number", "_times", "compared")

    def __init__(self, times: Times) -> None:
        self._times = times
        self._forest = Forest(times.less_equal)
        self._items: dict[Any, list[tuple[int, Any]]] = {}
        self._number = 0
        self.compared = 0  # with watermarks

    def add(self, time: Any, item: Any) -> None:
        """One more item."""
        items = self._items.get(time)
        if items is None:
            self._forest.add(time)
            items = self._items[time] = []
        items.append((self._number, item))
        self._number += 1

    def groups_taken(self, watermark: Any) -> list[Group]:
        """What `taken` takes, time by time, no time before one below it."""
        less_equal = self._times.less_equal
        return self._lowest_first(lambda time: less_equal(time, watermark))

    def drained(self) -> list[Group]:
        """All there is, time by time, no time before one below it; nothing stays."""
        return self._lowest_first(lambda time: True)

    def _lowest_first(self, goes: Callable[[Any], bool]) -> list[Group]:
        forest = self._forest
        going = []
        candidates = [*forest.roots]
        while candidates:
            time = candidates.pop()
            if time in forest.roots:
                self.compared += 1
                if goes(time):
                    candidates += forest.hanging(time)
                    forest.remove(time)
                    going.append((time, self._items.pop(time)))
        return going

    def taken(self, watermark: Any) -> list[Any]:
        """The items at or below a watermark, which are here no more, in the order in which they came."""
        return [item for _, item in in_order(self.groups_taken(watermark))]

    def times(self) -> Iterable[Any]:
        """The distinct times, in the order in which they came."""
        return self._items.keys()

    def oldest(self) -> Any:
        """The item that came first; None where there is none. Cost: O(times)."""
        return min((items[0] for items in self._items.values()), key=lambda numbered: numbered[0], default=(0, None))[1]

    def __iter__(self) -> Iterator[Any]:
        """All items, in the order in which they came."""
        return (item for _, item in in_order([*self._items.items()]))

    @property
    def comparisons(self) -> int:
        """How often two times have been compared: the work that depends on the order."""
        return self.compared + self._forest.compared


def in_order(groups: list[Group]) -> list[tuple[int, Any]]:
    """The items of several times with their numbers, in the order in which they came. Cost: O(k log k); O(k) of one."""
    if len(groups) == 1:
        return groups[0][1]
    return sorted((numbered for _, items in groups for numbered in items), key=lambda numbered: numbered[0])
