"""A place whose times lie in parts that cannot be compared (`progress.comparable`): a place for each part."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from progress.comparable import PartOf
from progress.engines.vertex_state import Place


class PartedPlace:
    """Cost of each operation: that of the place of its part, whatever the number of parts; of lists their length."""

    __slots__ = ("_make", "_parts", "counts", "examined", "part_of", "waiting", "width")

    def __init__(self, part_of: PartOf, make: Callable[[], Place]) -> None:
        self.counts: dict[Any, int] = {}
        self.waiting = 0
        self.examined = 0
        self.width = 0
        self.part_of = part_of
        self._make = make
        self._parts: dict[Hashable, Place] = {}

    def _part(self, time: Any) -> Place:
        key = self.part_of(time)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = self._make()
        return part

    def _forget(self, time: Any) -> None:
        """Let go of a part in which nothing is."""
        key = self.part_of(time)
        part = self._parts.get(key)
        if part is not None and not part.counts and not part.waiting and not part.width:
            del self._parts[key]

    @property
    def times(self) -> list[Any]:
        return [time for part in self._parts.values() for time in part.times]

    def times_beside(self, others: Iterable[Any]) -> list[Any]:
        """The times of the frontier that are in the parts of others."""
        keys = dict.fromkeys(map(self.part_of, others))
        return [time for key in keys if key in self._parts for time in self._parts[key].times]

    @property
    def least(self) -> list[Any]:
        return [time for part in self._parts.values() for time in part.least]

    def least_beside(self, time: Any) -> list[Any]:
        part = self._parts.get(self.part_of(time))
        return [] if part is None else part.least

    @property
    def cost(self) -> int:
        return 2

    def count(self, time: Any, change: int) -> bool:
        before = self.counts.get(time, 0)
        if before + change:
            self.counts[time] = before + change
        else:
            del self.counts[time]
        changed = self._part(time).count(time, change)
        if not before + change:
            self._forget(time)
        return changed

    def covers(self, until: Any) -> bool:
        part = self._parts.get(self.part_of(until))
        return part is not None and part.covers(until)

    def holds(self, time: Any) -> bool:
        part = self._parts.get(self.part_of(time))
        return part is not None and part.holds(time)

    def insert(self, time: Any) -> bool:
        part = self._part(time)
        before = part.width
        came = part.insert(time)
        self.width += part.width - before
        return came

    def discard(self, time: Any) -> None:
        part = self._part(time)
        before = part.width
        part.discard(time)
        self.width += part.width - before
        self._forget(time)

    def refill(self, lost: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for part, times in self._by_part(lost):
            before = part.width
            found += part.refill(times)
            self.width += part.width - before
        return found

    def wait(self, until: Any, waiter: int) -> bool:
        self.examined += 1
        part = self._parts.get(self.part_of(until))
        if part is None or not part.wait(until, waiter):
            return False
        self.waiting += 1
        return True

    def released(self, lost: Sequence[Any]) -> list[int]:
        found: list[int] = []
        for part, times in self._by_part(lost):
            found += part.released(times)
        self.waiting -= len(found)
        for time in lost:
            self._forget(time)
        return found

    def _by_part(self, times: Sequence[Any]) -> Iterable[tuple[Place, list[Any]]]:
        grouped: dict[Hashable, list[Any]] = {}
        for time in times:
            grouped.setdefault(self.part_of(time), []).append(time)
        return [(self._parts[key], group) for key, group in grouped.items() if key in self._parts]
