"""Antichains: finite sets of pairwise incomparable times, the minimal elements that stand for all times above them.

A set of times that is closed upward (A&I 3.3) is represented by its minimal elements. Which structure keeps them
depends on the order: one time for a total order, a staircase for pairs of numbers, a list for all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from progress.comparable import part_of
from progress.effort import STEPS_AN_INSERT, Effort
from progress.notebook import InNotebooks, Shown, shown_order, times_in_words
from progress.order import Domain, comparing_costs, is_pair


def minimal_elements(domain: Domain, times: Iterable[Any], effort: Effort | None = None) -> tuple[Any, ...]:
    """The minimal ones among `times`, each once, in the order of `domain.sort_key`; an effort pays for it.

    Cost: O(n log n) for total orders and for pairs of numbers, O(n * width) for others.

    Returns
    -------
    The minimal times as a tuple.

    Examples
    --------
    >>> from pointstamp import Nat, Product, minimal_elements
    >>> minimal_elements(Product([Nat(), Nat()]), [(0, 1), (1, 0), (1, 1)])
    ((0, 1), (1, 0))
    """
    if type(times) is list and len(times) == 1:  # as usual
        return (times[0],)
    distinct = sorted(dict.fromkeys(times), key=domain.sort_key)
    if domain.is_total or len(distinct) < 2:
        return tuple(distinct[:1])
    kept = Antichain(domain)
    found = []
    for time in distinct:
        if effort is not None:
            effort.spend(STEPS_AN_INSERT * kept.cost)
        if kept.insert(time, is_last=True):
            found.append(time)
    return tuple(found)


class Antichain(InNotebooks):
    """A growing antichain: `insert` keeps only minimal times.

    Cost of each operation: O(1) for total orders, O(log width) and the times removed for pairs of numbers, O(width) for
    all others.

    Examples
    --------
    >>> from pointstamp import Antichain, Nat, Product
    >>> earliest = Antichain(Product([Nat(), Nat()]), [(0, 2), (1, 1)])
    >>> earliest.insert((0, 1))
    True
    >>> earliest.times
    [(0, 1)]
    """

    __slots__ = ("_comparing", "_count", "_domain", "_part_of", "_parts", "_stairs", "_times")

    def __init__(self, domain: Domain, times: Iterable[Any] = ()) -> None:
        self._domain = domain
        self._times: list[Any] = []
        self._stairs: Any = None
        self._part_of = part_of(domain)
        self._count = 0
        self._parts: dict[Any, list[Any]] = {}  # the elements again, by the parts of the order that they are in
        if is_pair(domain):
            from sortedcontainers import SortedList  # 5 ms that most programs need not pay

            self._stairs = SortedList()
        self._comparing = 0  # found when it is first asked for
        for time in times:
            self.insert(time)

    def __repr__(self) -> str:
        return f"Antichain({self._domain!r}, [{times_in_words(self.in_order())}])"

    def _shown(self) -> Shown:
        return shown_order(self._domain, self.in_order())

    @property
    def times(self) -> list[Any]:
        """The elements."""
        if self._part_of is not None:
            return [time for part in self._parts.values() for time in part]
        return self._times if self._stairs is None else list(self._stairs)

    def below(self, time: Any) -> list[Any]:
        """An element at or below `time`, in a list of one; an empty list if there is none."""
        if self._stairs is None:
            less_equal = self._domain.less_equal
            times = self._times if self._part_of is None else self._parts.get(self._part_of(time), ())
            return next(([lower] for lower in times if less_equal(lower, time)), [])
        place = self._stairs.bisect_right((time[0], inf))  # of those not to the right, the last is the lowest
        return [self._stairs[place - 1]] if place and self._stairs[place - 1][1] <= time[1] else []

    def covers(self, time: Any) -> bool:
        """Whether some element is at or below `time`."""
        return bool(self.below(time))

    def insert(self, time: Any, is_last: bool = False) -> bool:
        """Add `time` unless an element lies at or below it; whether the represented set grew.

        `is_last`: times come in a linear extension of their order, so that this one is below none that is here.
        """
        if self.below(time):
            return False
        if self._stairs is None:
            less_equal = self._domain.less_equal
            if self._part_of is None:
                if is_last:
                    self._times.append(time)
                    return True
                self._times = [other for other in self._times if not less_equal(time, other)]
                self._times.append(time)
                return True
            key = self._part_of(time)
            before = self._parts.get(key, ())
            self._parts[key] = [*(other for other in before if not less_equal(time, other)), time]
            self._count += len(self._parts[key]) - len(before)
            return True
        stairs = self._stairs
        place = stairs.bisect_left((time[0], -inf))
        end = place
        while end < len(stairs) and stairs[end][1] >= time[1]:
            end += 1
        del stairs[place:end]
        stairs.add(time)
        return True

    def in_order(self) -> tuple[Any, ...]:
        """The elements in a linear extension of the order of times."""
        times = self.times
        return tuple(times) if len(times) < 2 else tuple(sorted(times, key=self._domain.sort_key))

    @property
    def cost(self) -> int:
        """What the next `insert` costs, in steps of eight comparisons of two numbers each, or of what takes as long."""
        if self._stairs is not None or self._part_of is not None or len(self._times) < 2:
            return 1
        self._comparing = self._comparing or comparing_costs(self._domain)
        return 1 + len(self._times) * self._comparing // (8 * 14)

    def __len__(self) -> int:
        if self._part_of is not None:
            return self._count
        return len(self._times) if self._stairs is None else len(self._stairs)
