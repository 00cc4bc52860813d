"""Monotone and productive streams: of finite ones a check, of all others a monitor that goes along (section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.operators.event import DT, WM, Event
from progress.operators.open_times import OpenTimes
from progress.operators.reading import not_an_event, stream
from progress.operators.times import Times
from progress.order import Domain


class Offence(NamedTuple):
    """The first event that offends, its place in the stream (from 0), and the watermark that it comes after, if one."""

    place: int
    event: Event
    watermark: Any = None

    def __str__(self) -> str:
        if type(self.event) is DT and self.watermark is not None:
            return f"event {self.place}, {brief(self.event)}, comes at or below the watermark {brief(self.watermark)}"
        return f"event {self.place}, {brief(self.event)}, is followed by no watermark at or above its time"


class MonotoneMonitor:
    """`mono`: no data come at or below a watermark that has come.

    Cost of an event: O(maximal watermarks) comparisons.

    >>> monitor = MonotoneMonitor()
    >>> [monitor.see(event) for event in (DT(1, "a"), WM(1))]
    [None, None]
    >>> print(monitor.see(DT(0, "b")))
    event 2, DT(0, 'b'), comes at or below the watermark 1
    """

    def __init__(self, seen: Iterable[Any] = (), *, domain: Domain | None = None) -> None:
        self._times = Times(domain)
        self._maximal: list[Any] = []
        self._place = 0
        for time in seen:
            self._passed(self._times.checked(time))

    def see(self, event: Event) -> Offence | None:
        """Take the next event; the offence, if it is one."""
        place, self._place = self._place, self._place + 1
        if type(event) is WM:
            self._passed(self._times.checked(event.time))
            return None
        if type(event) is not DT:
            raise not_an_event(event)
        time, less_equal = self._times.checked(event.time), self._times.less_equal
        return next((Offence(place, event, wm) for wm in self._maximal if less_equal(time, wm)), None)

    def _passed(self, watermark: Any) -> None:
        less_equal = self._times.less_equal
        if not any(less_equal(watermark, other) for other in self._maximal):
            self._maximal = [other for other in self._maximal if not less_equal(other, watermark)]
            self._maximal.append(watermark)


class ProductiveMonitor:
    """`prod`: after every data item a watermark at or above its time comes.

    No prefix of a stream can break that, so `waiting` says what is still to be completed, the oldest first. With
    `within`, an item that waits for more than so many events offends.

    Cost of an event: that of `OpenTimes`.

    >>> monitor = ProductiveMonitor()
    >>> [monitor.see(event) for event in (DT(1, "a"), DT(0, "b"), WM(0))]
    [None, None, None]
    >>> monitor.waiting
    [Offence(place=0, event=DT(1, 'a'), watermark=None)]
    """

    def __init__(self, *, within: int | None = None, domain: Domain | None = None) -> None:
        self._times = Times(domain)
        self._open = OpenTimes(self._times)
        self._within = within
        self._place = 0

    def see(self, event: Event) -> Offence | None:
        """Take the next event; the oldest item that has now waited for too long, if there is one."""
        if type(event) is DT:
            time = self._times.checked(event.time)
            self._open.add(time, Offence(self._place, event))
        elif type(event) is WM:
            self._open.taken(self._times.checked(event.time))
        else:
            raise not_an_event(event)
        self._place += 1
        oldest = None if self._within is None else self._open.oldest()
        return oldest if oldest is not None and self._place - oldest.place - 1 > self._within else None

    @property
    def waiting(self) -> list[Offence]:
        """The items that no watermark has completed, the oldest first."""
        return [*self._open]


def is_monotone(events: Iterable[Event], seen: Iterable[Any] = (), *, domain: Domain | None = None) -> bool:
    """Whether no data of a finite stream come at or below a watermark before them, or one of those `seen` earlier.

    >>> is_monotone([DT(1, "a"), WM(1), DT(2, "b")]), is_monotone([WM(1), DT(0, "a")])
    (True, False)

    Returns
    -------
    Whether it is so.
    """
    monitor = MonotoneMonitor(seen, domain=domain)
    return all(monitor.see(event) is None for event in stream(events))


def is_productive(events: Iterable[Event], *, ends: bool = False, domain: Domain | None = None) -> bool:
    """Whether a watermark at or above its time follows every data item of these events.

    They stand for a stream that goes on, whatever follows. A stream that `ends` with them is productive by definition:
    its end completes all there is, as the paper's `lfinite` says.

    >>> is_productive([DT(1, "a"), WM(2)]), is_productive([WM(2), DT(1, "a")]), is_productive([DT(1, "a")], ends=True)
    (True, False, True)

    Returns
    -------
    Whether it is so.
    """
    monitor = ProductiveMonitor(domain=domain)
    for event in stream(events):
        monitor.see(event)
    return ends or not monitor.waiting


def monitored(events: Iterable[Event], *, domain: Domain | None = None) -> Iterator[Event]:
    """The events as they come, until one comes too late: PS806 names it.

    >>> list(monitored([DT(0, "a"), WM(0)]))
    [DT(0, 'a'), WM(0)]

    Returns
    -------
    The same events, one by one.

    Raises
    ------
    PointstampError
        PS806 where one comes at or below a watermark before it.
    """
    monitor = MonotoneMonitor(domain=domain)
    for event in stream(events):
        offence = monitor.see(event)
        if offence is not None:
            raise PointstampError("PS806", str(offence), "data only at times that no watermark has completed")
        yield event
