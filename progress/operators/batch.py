"""Data gathered until a watermark completes them (section 4.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from progress.operators.event import DT, WM, Event
from progress.operators.open_times import OpenTimes
from progress.operators.operator import Operator
from progress.operators.reading import not_an_event, pairs
from progress.operators.times import Times, maximal_antichain
from progress.order import Domain


class Batch(Operator):
    """`batch_op`. Cost: that of `OpenTimes`, and of copying what leaves."""

    __slots__ = ("open", "times")

    def __init__(self, times: Times, buffer: Iterable[tuple[Any, Any]]) -> None:
        self.times = times
        self.open = OpenTimes(times)
        for time, data in buffer:
            self._add(time, data)

    def _add(self, time: Any, data: Any) -> None:
        time = self.times.checked(time)
        self.open.add(time, (time, data))

    def take(self, event: Event) -> list[Event]:
        """Keep data; a watermark releases what it completes, before itself."""
        if type(event) is DT:
            self._add(event.time, event.data)
            return []
        if type(event) is not WM:
            raise not_an_event(event)
        completed = self.open.taken(self.times.checked(event.time))
        return [DT(event.time, completed), event] if completed else [event]

    def exit(self) -> list[Event]:
        """The rest, as if the maximal open times were watermarks: nothing is below none of them."""
        rest = Batch(self.times, self.open)
        return [DT(time, rest.open.taken(time)) for time in maximal_antichain(self.open.times(), self.times.less_equal)]

    def kept(self) -> tuple[Any, ...]:
        """The buffer."""
        return ([*self.open],)

    def resumed(self, *kept: Any) -> Batch:
        """The same with this buffer."""
        return Batch(self.times, *kept)


class OfBatches(Operator):
    """An operator that makes something of what a `Batch` completes: it leaves before the watermark."""

    __slots__ = ("_batch",)

    def __init__(self, times: Times, buffer: Iterable[tuple[Any, Any]]) -> None:
        self._batch = Batch(times, buffer)

    def take(self, event: Event) -> list[Event]:
        """Keep data; a watermark releases what it completes, before itself."""
        if type(event) is not WM:
            return self._batch.take(event)
        return [*self.completed_by(self._batch.times.checked(event.time)), event]

    @abstractmethod
    def completed_by(self, watermark: Any) -> list[Event]:
        """What leaves when the times at or below a watermark are complete."""

    def exit(self) -> list[Event]:
        """The rest, as if the maximal open times were watermarks."""
        rest = self.resumed(*self.kept())
        maximal = maximal_antichain(self._batch.open.times(), self._batch.times.less_equal)
        return [leaving for time in maximal for leaving in rest.completed_by(time)]


def batch(buffer: Iterable[tuple[Any, Any]] = (), *, domain: Domain | None = None) -> Batch:
    """Gathers data; each watermark puts out one batch of all that it completes, `DT(watermark, [(time, data), ...])`.

    What is in the buffer when the stream ends leaves as if watermarks at its maximal times came. Laws (10) to (13):
    each batch has all data of the times completed by its watermark and by no earlier one (soundness); every time
    is in some batch (completeness); monotone streams stay monotone, if the buffer is not below a watermark of
    before; productive streams stay productive.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(batch([(0, "a")]), [DT(2, "b"), DT(1, "c"), WM(1)]))
    [DT(1, [(0, 'a'), (1, 'c')]), WM(1), DT(2, [(2, 'b')])]

    Returns
    -------
    The operator.
    """
    return Batch(Times(domain), pairs("buffer", buffer))
