"""Incremental histograms over partial orders (section 5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.operators.batch import Batch, OfBatches
from progress.operators.complete import Complete
from progress.operators.event import DT, WM, Event
from progress.operators.open_times import in_order
from progress.operators.reading import count, pairs
from progress.operators.times import Times, last_of_each
from progress.order import Domain


class Histogram(OfBatches):
    """`ihist_op`. Cost: that of `OpenTimes` and `Complete`, and one Counter for each time that is completed."""

    __slots__ = ("complete",)

    def __init__(
        self,
        times: Times,
        buffer: Iterable[tuple[Any, Any]],
        batches: Iterable[tuple[Any, Any]],
        frontier: Iterable[Any] | None,
        is_monotone: bool = True,
    ) -> None:
        super().__init__(times, buffer)
        self.complete = Complete(times, Batch(times, batches).open, frontier, is_monotone)

    def take(self, event: Event) -> list[Event]:
        """Keep data; a watermark releases the histogram of each time that it completes, before itself."""
        leaving = super().take(event)
        if type(event) is WM:
            self.complete.watermark(self._batch.times.checked(event.time))
        return leaving

    def completed_by(self, watermark: Any) -> list[Event]:
        """The histogram of each time that is complete now."""
        groups = self._batch.open.groups_taken(watermark)
        found = {}
        for time, items in groups:
            self.complete.add(time, count(data for _, (_, data) in items))
            found[time] = self.complete.histogram(time)
        if len(groups) == 1:
            return [DT(time, found[time]) for time in found]
        return [DT(time, found[time]) for time in last_of_each(time for _, (time, _) in in_order(groups))]

    def kept(self) -> tuple[Any, ...]:
        """The buffer, the complete data, and what is known of the stream."""
        complete = self.complete
        return (*self._batch.kept(), complete.items(), complete.frontier, complete.is_monotone)

    def resumed(self, *kept: Any) -> Histogram:
        """The same with these data."""
        return Histogram(self._batch.times, *kept)


def histogram(
    buffer: Iterable[tuple[Any, Any]] = (), batches: Iterable[tuple[Any, Any]] = (), *, domain: Domain | None = None
) -> Histogram:
    """For each time that is completed, a `Counter` of all data at or below it, each collection once.

    It equals `incr_batch` and then a count of what is at or below each time, as the paper defines it. `batches` are
    data that were complete before. Laws (22) and (23): the histogram of t counts what the stream has at or below t;
    every time with data gets one.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(histogram(), [DT(0, "a"), WM(0), DT(1, "a"), WM(1)]))
    [DT(0, Counter({'a': 1})), WM(0), DT(1, Counter({'a': 2})), WM(1)]

    Returns
    -------
    The operator.
    """
    times = Times(domain)
    least = None if domain is None or domain.is_total else domain.least() or None
    return Histogram(times, pairs("buffer", buffer), pairs("batches", batches), least)
