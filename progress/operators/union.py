"""Two streams in one, as one (section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from progress.operators.event import DT, WM, Event, Left, Right
from progress.operators.open_times import OpenTimes
from progress.operators.operator import Operator
from progress.operators.reading import not_an_event, times_of_watermarks
from progress.operators.times import SidedTimes, Times
from progress.order import Domain

Numbered: TypeAlias = tuple[int, Any, type]  # when a watermark came, its time there, its side


def newest_first(watermarks: list[Numbered]) -> list[Numbered]:
    """The paper's order of its list of watermarks."""
    return sorted(watermarks, key=lambda numbered: numbered[0], reverse=True)


class Side:
    """What is known of one of the two streams."""

    __slots__ = ("maximal", "waiting")

    def __init__(self, times: Times) -> None:
        self.waiting = OpenTimes(times)  # watermarks of this side that the other one has not reached
        self.maximal: list[Any] = []  # the maximal watermarks of this side


class Union(Operator):
    """`union_op`. Cost of a watermark: O(maximal watermarks), and that of `OpenTimes` for the waiting ones of the
    other side.

    A watermark waits until the other side has one at or above it. Only a watermark of the other side can end that, so
    nothing else is looked at.
    """

    __slots__ = ("_due", "_maximal", "_number", "_sides", "_times")

    def __init__(self, times: SidedTimes, watermarks: Iterable[Any], maximal: Iterable[Any]) -> None:
        self._times = times
        self._sides = {Left: Side(times.of_a_side), Right: Side(times.of_a_side)}
        self._number = 0
        self._due: list[Numbered] = []  # given at the start, and reached by what else was given
        for time in maximal:
            self._reached(times.checked(time))
        for time in reversed([*watermarks]):  # newest first, as in the paper
            self._wait(times.checked(time), self._due)

    def _reached(self, watermark: Any) -> None:
        """A watermark becomes one of the maximal ones of its side, unless one is at or above it."""
        side, less_equal = self._sides[type(watermark)], self._times.of_a_side.less_equal
        if not any(less_equal(watermark.value, other) for other in side.maximal):
            side.maximal = [other for other in side.maximal if not less_equal(other, watermark.value)]
            side.maximal.append(watermark.value)

    def _wait(self, watermark: Any, producible: list[Numbered]) -> None:
        """Put a watermark with the producible ones, or let it wait for the other side."""
        self._number += 1
        numbered = (self._number, watermark.value, type(watermark))
        less_equal = self._times.of_a_side.less_equal
        if any(less_equal(watermark.value, other) for other in self._other(watermark).maximal):
            producible.append(numbered)
        else:
            self._sides[type(watermark)].waiting.add(watermark.value, numbered)

    def _other(self, time: Any) -> Side:
        return self._sides[Right if type(time) is Left else Left]

    def take(self, event: Event) -> list[Event]:
        """Data leave at once; watermarks when both sides have reached them, the newest first."""
        if type(event) is DT:
            return [DT(self._times.checked(event.time).value, event.data)]
        if type(event) is not WM:
            raise not_an_event(event)
        watermark = self._times.checked(event.time)
        producible, self._due = self._due, []
        self._reached(watermark)
        self._wait(watermark, producible)
        producible += self._other(watermark).waiting.taken(watermark.value)
        return [WM(value) for _, value, _ in newest_first(producible)]

    def kept(self) -> tuple[Any, ...]:
        """The waiting watermarks, newest first, and the maximal ones."""
        waiting = newest_first([*self._due, *(each for side in self._sides.values() for each in side.waiting)])
        maximal = [kind(time) for kind, side in self._sides.items() for time in side.maximal]
        return ([kind(value) for _, value, kind in waiting], maximal)

    def resumed(self, *kept: Any) -> Union:
        """The same with these watermarks."""
        return Union(self._times, *kept)


def union(watermarks: Iterable[Any] = (), maximal: Iterable[Any] = (), *, domain: Domain | None = None) -> Union:
    """Takes `Left` and `Right` off: data leave at once, a watermark when the other side has one at or above it.

    `watermarks` are those that still wait, newest first, `maximal` the maximal ones that have come. `domain` is the
    order of the times of each side. The exit is empty.

    >>> from progress.operators import DT, WM, Left, Right, produce
    >>> list(produce(union(), [DT(Left(0), "a"), WM(Left(0)), WM(Right(1))]))
    [DT(0, 'a'), WM(0)]

    Returns
    -------
    The operator.
    """
    given = times_of_watermarks("watermarks", watermarks), times_of_watermarks("maximal", maximal)
    return Union(SidedTimes(domain), *given)
