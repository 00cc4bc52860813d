"""Data of two streams put together, those of one time (section 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from progress.operators.batch import Batch
from progress.operators.event import DT, WM, Event, Left, Right
from progress.operators.operator import Operator
from progress.operators.reading import called, two_keys
from progress.operators.times import SidedTimes, last_of_each
from progress.operators.union import Union
from progress.order import Domain

Key = Callable[[Any], Hashable]


class Meeting:
    """The complete data of one time on both sides, the right ones by their key."""

    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left: list[Any] = []
        self.right: dict[Any, list[Any]] = {}

    def add(self, kind: type, data: Any, key_of_right: Key | None) -> None:
        """One more item."""
        if kind is Left:
            self.left.append(data)
        else:
            self.right.setdefault(key_of_right and key_of_right(data), []).append(data)


class Join(Operator):
    """`join_op`: what `batch` completes meets what is complete at the same time; watermarks as `union` lets them go.

    Cost of a batch: that of `batch`, and of matching each of its times: all pairs, or those with equal keys.
    """

    __slots__ = ("_batch", "_keys", "_match", "_meetings", "_times", "_union", "matched")

    def __init__(
        self,
        match: Callable[[Any, Any], Any],
        keys: tuple[Key, Key] | None,
        times: SidedTimes,
        buffer: Iterable[tuple[Any, Any]] = (),
        batches: Iterable[tuple[Any, Any]] = (),
        watermarks: Iterable[Any] = (),
        maximal: Iterable[Any] = (),
    ) -> None:
        self._match, self._keys, self._times = match, keys, times
        self._batch = Batch(times, buffer)
        self._union = Union(times, watermarks, maximal)
        self._meetings: dict[Any, Meeting] = {}
        self.matched = 0  # pairs that were looked at
        for time, data in batches:
            self._add(time, data)

    def _add(self, time: Any, data: Any) -> None:
        meeting = self._meetings.setdefault(time.value, Meeting())
        meeting.add(type(time), data, self._keys and self._keys[1])

    def take(self, event: Event) -> list[Event]:
        """Keep data; a watermark releases what is matched at the times that it completes."""
        leaving: list[Event] = []
        for each in self._batch.take(event):
            leaving += self._union.take(each) if type(each) is WM else self._matches(each)
        return leaving

    def _matches(self, batch: Event) -> list[Event]:
        assert type(batch) is DT
        for time, data in batch.data:
            self._add(time, data)
        return [
            DT(time.value, found)
            for time in last_of_each(time for time, _ in batch.data)
            for found in self._at(time.value)
        ]

    def _at(self, time: Any) -> Iterable[Any]:
        meeting = self._meetings[time]
        for left in meeting.left:
            for right in meeting.right.get(self._keys and self._keys[0](left), ()):
                self.matched += 1
                found = self._match(left, right)
                if found is not None:
                    yield found

    def exit(self) -> list[Event]:
        """What the rest of both sides matches."""
        rest = self.resumed(*self.kept())
        return [leaving for each in rest._batch.exit() for leaving in rest._matches(each)]

    def kept(self) -> tuple[Any, ...]:
        """The buffer and what is complete, and the watermarks."""
        batches = [
            (side(time), data)
            for time, meeting in self._meetings.items()
            for side, several in ((Left, [meeting.left]), (Right, meeting.right.values()))
            for items in several
            for data in items
        ]
        return (*self._batch.kept(), batches, *self._union.kept())

    def resumed(self, *kept: Any) -> Join:
        """The same with these data."""
        return Join(self._match, self._keys, self._times, *kept)


def join(
    match: Callable[[Any, Any], Any], *, keys: tuple[Key, Key] | None = None, domain: Domain | None = None
) -> Join:
    """For each time, `match(left, right)` of every pair, where it is not None. Times come in as `Left` and `Right`.

    `keys` are two functions, of a left and of a right item: only pairs whose keys are equal are matched. Law:
    `match` is None for all others. Laws (28) to (31): what leaves at t is a match of data of both sides at
    t; every such match leaves; monotone streams stay monotone; productive ones too, if each watermark is reached by
    the other side.

    >>> from progress.operators import DT, WM, Left, Right, produce
    >>> events = [DT(Left(0), "a"), DT(Right(0), "b"), WM(Left(0)), WM(Right(0))]
    >>> list(produce(join(lambda left, right: left + right), events))
    [DT(0, 'ab'), WM(0), WM(0)]

    Returns
    -------
    The operator.
    """
    called("match", match)
    two_keys(keys)
    return Join(match, keys, SidedTimes(domain))
