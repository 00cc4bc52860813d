"""A place: what one vertex of the engine knows. Its outstanding times, its frontier, and who waits for the frontier.

A place has the *outstanding* times that lie there themselves, counted; its *frontier*, the minimal times of all that
may come there, which `progress.engines.eager` keeps; and *waiters*, each with a time `until` that the frontier covers
still. Which structure does that depends on the order: heaps for total orders, staircases for pairs of numbers, a forest
and a list for all others. Where times lie in parts that cannot be compared, each has its own
(`progress.engines.parted`).

Costs, n being what is kept there and w the width of the frontier: total orders O(log n) for everything; pairs O(n / 64
+ log n) list steps; others O(w) comparisons to test and insert, those of `Forest` to count, and O(waiters there) when a
time of the frontier goes on which they wait.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, Protocol

from progress.comparable import part_of, parts_are_total
from progress.engines.forest import Forest
from progress.engines.pairs import Pairs
from progress.order import Domain, Lex, Nat, comparing_costs, is_number, is_pair, is_row

NOTHING: Any = object()


class Place(Protocol):
    """What `progress.engines.eager` asks of a place."""

    counts: dict[Any, int]
    waiting: int
    examined: int

    @property
    def times(self) -> list[Any]:
        """The frontier."""

    @property
    def width(self) -> int:
        """How many times the frontier has."""

    @property
    def cost(self) -> int:
        """What the next `insert` costs, in steps of `progress.effort`."""

    @property
    def least(self) -> list[Any]:
        """Outstanding times that include the minimal ones."""

    def least_beside(self, time: Any) -> list[Any]:
        """Of `least`, what may be at or below a time."""

    def count(self, time: Any, change: int) -> bool:
        """Change how often a time is outstanding here; whether it came or went by that."""

    def covers(self, until: Any) -> bool:
        """Whether the frontier has a time at or below `until`, which may be unbounded in a coordinate."""

    def holds(self, time: Any) -> bool:
        """Whether the time is one of the frontier."""

    def insert(self, time: Any) -> bool:
        """Put a time into the frontier unless it is covered; those above it leave."""

    def discard(self, time: Any) -> None:
        """Take a time out of the frontier."""

    def refill(self, lost: Sequence[Any]) -> list[Any]:
        """Insert the outstanding times that only `lost` covered; the ones inserted."""

    def wait(self, until: Any, waiter: int) -> bool:
        """Wait as long as the frontier covers `until`; False, and nothing done, where it does not."""

    def released(self, lost: Sequence[Any]) -> list[int]:
        """The waiters that are not covered any more, now that `lost` is gone."""


def place_for(domain: Domain) -> Place:
    """An empty place for times of a domain."""
    if domain.is_total:
        return TotalPlace(domain)
    if is_pair(domain):
        return PairPlace(domain)
    part = part_of(domain)
    if part is None:
        return OtherPlace(domain)
    from progress.engines.parted import PartedPlace  # it builds on this module

    make = TotalPlace if parts_are_total(domain) else OtherPlace
    return PartedPlace(part, lambda: make(domain))


class TotalPlace:
    """Times of a total order: the frontier is one time. Numbers and rows are compared as they are, others by a key."""

    __slots__ = ("_heap", "_key", "_waiters", "counts", "examined", "first", "is_natural", "waiting")

    def __init__(self, domain: Domain) -> None:
        self.counts: dict[Any, int] = {}
        self.first: Any = NOTHING
        self.waiting = 0
        self.examined = 0
        self._heap: list[Any] = []  # outstanding times, with some that are gone
        self._waiters: list[Any] = []
        self._key = None if is_number(domain) or (is_row(domain) and type(domain) is Lex) else domain.sort_key
        self.is_natural = self._key is None  # times are compared as Python compares them

    @property
    def times(self) -> list[Any]:
        return [] if self.first is NOTHING else [self.first]

    @property
    def width(self) -> int:
        return 0 if self.first is NOTHING else 1

    @property
    def cost(self) -> int:
        return 1

    @property
    def least(self) -> list[Any]:
        found = self.minimum()
        return [] if found is NOTHING else [found]

    def least_beside(self, time: Any) -> list[Any]:
        return self.least

    def minimum(self) -> Any:
        """The least outstanding time, or NOTHING. Cost: O(log n) for each time that went, once."""
        heap, counts = self._heap, self.counts
        if self._key is None:
            while heap and heap[0] not in counts:
                heappop(heap)
            return heap[0] if heap else NOTHING
        while heap and heap[0][1] not in counts:
            heappop(heap)
        return heap[0][1] if heap else NOTHING

    def count(self, time: Any, change: int) -> bool:
        counts = self.counts
        before = counts.get(time, 0)
        if before + change:
            counts[time] = before + change
            if before:
                return False
            heappush(self._heap, time if self._key is None else (self._key(time), time))
            if len(self._heap) > 2 * len(counts) + 8:  # what is gone is forgotten
                self._heap = sorted(counts if self._key is None else [(self._key(each), each) for each in counts])
            return True
        del counts[time]
        if not counts:
            self._heap.clear()
        return True

    def precedes(self, one: Any, other: Any) -> bool:
        """Whether one <= other; `other` may be unbounded."""
        key = self._key
        return bool(one <= other if key is None else key(one) <= key(other))

    def covers(self, until: Any) -> bool:
        return self.first is not NOTHING and self.precedes(self.first, until)

    def holds(self, time: Any) -> bool:
        return self.first is not NOTHING and bool(self.first == time)

    def insert(self, time: Any) -> bool:
        if self.first is not NOTHING and self.precedes(self.first, time):
            return False
        self.first = time
        return True

    def discard(self, time: Any) -> None:
        self.first = NOTHING

    def refill(self, lost: Sequence[Any]) -> list[Any]:
        found = self.minimum()
        return [found] if found is not NOTHING and self.insert(found) else []

    def wait(self, until: Any, waiter: int) -> bool:
        self.examined += 1
        if not self.covers(until):
            return False
        heappush(self._waiters, (until if self._key is None else self._key(until), waiter))
        self.waiting += 1
        return True

    def released(self, lost: Sequence[Any]) -> list[int]:
        waiters = self._waiters
        if self.first is NOTHING:
            found = [waiter for _, waiter in waiters]
            waiters.clear()
        else:
            found = []
            bound = self.first if self._key is None else self._key(self.first)
            while waiters and waiters[0][0] < bound:
                found.append(heappop(waiters)[1])
        self.waiting -= len(found)
        return found


class _Counting:
    """What places have in common that keep outstanding times in a structure of their own."""

    __slots__ = ("_outstanding", "counts", "examined", "waiting")

    def __init__(self, outstanding: Pairs | Forest) -> None:
        self.counts: dict[Any, int] = {}
        self.waiting = 0
        self.examined = 0
        self._outstanding: Any = outstanding

    def count(self, time: Any, change: int) -> bool:
        """Change how often a time is outstanding here; whether it came or went by that."""
        before = self.counts.get(time, 0)
        if before + change:
            self.counts[time] = before + change
            if before:
                return False
            self._outstanding.add(time)
        else:
            del self.counts[time]
            self._outstanding.remove(time)
        return True


class PairPlace(_Counting):
    """Pairs of numbers: the frontier is a staircase, first coordinates rising and second ones falling."""

    __slots__ = ("_floor", "_stairs", "_waiters")

    def __init__(self, domain: Domain) -> None:
        super().__init__(Pairs())
        self._floor = 0 if type(domain.parts[1]) is Nat else -inf  # type: ignore[attr-defined]
        self._stairs: list[Any] = []
        self._waiters = Pairs()

    @property
    def times(self) -> list[Any]:
        return self._stairs

    @property
    def width(self) -> int:
        return len(self._stairs)

    @property
    def cost(self) -> int:
        return 1 + len(self._stairs) // 1000

    @property
    def least(self) -> list[Any]:
        found = []
        entry = self._outstanding.first(-inf, None, None)
        while entry is not None:
            found.append(entry)
            if entry[1] <= self._floor:
                break
            entry = self._outstanding.first(entry[0], None, entry[1])
        return found

    def least_beside(self, time: Any) -> list[Any]:
        return self.least

    def between(self, low: Any, high_second: Any) -> list[Any]:
        """The stairs from the first coordinate `low` on that do not reach below `high_second`."""
        stairs = self._stairs
        start = bisect_left(stairs, (low,))
        end = start
        while end < len(stairs) and stairs[end][1] >= high_second:
            end += 1
        return stairs[start:end]

    def covers(self, until: Any) -> bool:
        place = bisect_right(self._stairs, (until[0], inf))  # of those not to the right, the last is the lowest
        return place > 0 and bool(self._stairs[place - 1][1] <= until[1])

    def holds(self, time: Any) -> bool:
        place = bisect_left(self._stairs, time)
        return place < len(self._stairs) and bool(self._stairs[place] == time)

    def insert(self, time: Any) -> bool:
        if self.covers(time):
            return False
        stairs = self._stairs
        start = end = bisect_left(stairs, time)
        while end < len(stairs) and stairs[end][1] >= time[1]:
            end += 1
        stairs[start:end] = [time]
        return True

    def discard(self, time: Any) -> None:
        del self._stairs[bisect_left(self._stairs, time)]

    def _uncovered(self, lost: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
        """The regions that `lost` covered and the stairs do not: from one x to another, below a y; None: no limit."""
        start = min(time[0] for time in lost)
        lowest = min(time[1] for time in lost)
        stairs = self._stairs
        place = bisect_right(stairs, (start, inf))
        below = stairs[place - 1][1] if place else None
        while below is None or below > lowest:
            yield start, stairs[place][0] if place < len(stairs) else None, below
            if place >= len(stairs):
                return
            start, below = stairs[place]
            place += 1

    def refill(self, lost: Sequence[Any]) -> list[Any]:
        if not self.counts:
            return []
        found: list[Any] = []
        for start, end, below in list(self._uncovered(lost)):
            entry = self._outstanding.first(start, end, below)
            while entry is not None:
                found.append(entry)
                entry = self._outstanding.first(entry[0], end, entry[1])
        return [time for time in found if self.insert(time)]

    def wait(self, until: Any, waiter: int) -> bool:
        self.examined += 1
        if not self.covers(until):
            return False
        self._waiters.add((*until, waiter))
        self.waiting += 1
        return True

    def released(self, lost: Sequence[Any]) -> list[int]:
        found = [entry[2] for region in self._uncovered(lost) for entry in self._waiters.take(*region)]
        self.waiting -= len(found)
        return found


class OtherPlace(_Counting):
    """Times of any partial order, by its `less_equal` alone."""

    __slots__ = ("_comparing", "_frontier", "_less_equal", "_waiters")

    def __init__(self, domain: Domain) -> None:
        super().__init__(Forest(domain.less_equal))
        self._less_equal = domain.less_equal
        self._comparing = comparing_costs(domain)
        self._frontier: dict[Any, None] = {}
        self._waiters: dict[Any, list[tuple[Any, int]]] = {}  # by a time of the frontier that covers them

    @property
    def times(self) -> list[Any]:
        return list(self._frontier)

    @property
    def width(self) -> int:
        return len(self._frontier)

    @property
    def cost(self) -> int:
        return 1 + len(self._frontier) * self._comparing // 14

    @property
    def least(self) -> list[Any]:
        return list(self._outstanding.roots)

    def least_beside(self, time: Any) -> list[Any]:
        return self.least

    def covers(self, until: Any) -> bool:
        return any(self._less_equal(time, until) for time in self._frontier)

    def holds(self, time: Any) -> bool:
        return time in self._frontier

    def insert(self, time: Any) -> bool:
        if time in self._frontier or self.covers(time):
            return False
        above = [other for other in self._frontier if self._less_equal(time, other)]
        self._frontier[time] = None
        for other in above:
            del self._frontier[other]
            if other in self._waiters:
                self._waiters.setdefault(time, []).extend(self._waiters.pop(other))
        return True

    def discard(self, time: Any) -> None:
        del self._frontier[time]

    def refill(self, lost: Sequence[Any]) -> list[Any]:
        return [time for time in list(self._outstanding.roots) if self.insert(time)]

    def wait(self, until: Any, waiter: int) -> bool:
        self.examined += 1
        for time in self._frontier:
            if self._less_equal(time, until):
                self._waiters.setdefault(time, []).append((until, waiter))
                self.waiting += 1
                return True
        return False

    def released(self, lost: Sequence[Any]) -> list[int]:
        found: list[int] = []
        for time in lost:
            if time in self._frontier:
                continue
            for until, waiter in self._waiters.pop(time, ()):
                self.waiting -= 1
                if not self.wait(until, waiter):
                    found.append(waiter)
        return found
