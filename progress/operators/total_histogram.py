"""Incremental histograms over a total order (section 5.1, Figure 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from progress.errors import PointstampError, brief
from progress.operators.batch import OfBatches
from progress.operators.event import DT, Event
from progress.operators.open_times import Group, in_order
from progress.operators.reading import count, pairs
from progress.operators.times import Times, last_of_each
from progress.order import Domain


class TotalHistogram(OfBatches):
    """`ihist_op'`. Cost: that of `OpenTimes`, and one copy of the histogram for each time that is completed."""

    __slots__ = ("_counts",)

    def __init__(self, times: Times, counts: Counter[Any], buffer: Iterable[tuple[Any, Any]]) -> None:
        super().__init__(times, buffer)
        self._counts = counts

    def completed_by(self, watermark: Any) -> list[Event]:
        """The histogram of each time that is complete now."""
        return self._released(self._batch.open.groups_taken(watermark))

    def _released(self, groups: list[Group]) -> list[Event]:
        less_equal = self._batch.times.less_equal
        for (earlier, _), (later, _) in pairwise(groups):
            if not less_equal(earlier, later):
                wrong = (
                    f"{brief(earlier)} and {brief(later)} are not comparable, and total_histogram needs a total order"
                )
                raise PointstampError("PS804", wrong, "histogram()")
        found = {}
        for time, items in groups:
            self._counts.update(count(data for _, (_, data) in items))
            found[time] = Counter(self._counts)
        return [DT(time, found[time]) for time in last_of_each(time for _, (time, _) in in_order(groups))]

    def exit(self) -> list[Event]:
        """The histogram of each time that is left."""
        rest = self.resumed(*self.kept())
        return rest._released(rest._batch.open.drained())

    def kept(self) -> tuple[Any, ...]:
        """The last histogram, and the buffer."""
        return (Counter(self._counts), *self._batch.kept())

    def resumed(self, *kept: Any) -> TotalHistogram:
        """The same with these data."""
        return TotalHistogram(self._batch.times, *kept)


def total_histogram(
    counts: Iterable[Any] = (), buffer: Iterable[tuple[Any, Any]] = (), *, domain: Domain | None = None
) -> TotalHistogram:
    """`histogram` where any two times are comparable: the last histogram and what is new are all that it keeps.

    `counts` are data that were complete before, or a mapping of each to how often it came. Law (24): on monotone
    streams it puts out what `histogram` does. A watermark that completes nothing passes; the else-branch of Figure 7
    drops it, and (24) would not hold.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(total_histogram(["a"]), [DT(0, "a"), WM(0), WM(1)]))
    [DT(0, Counter({'a': 2})), WM(0), WM(1)]

    Returns
    -------
    The operator.

    Raises
    ------
    PointstampError
        PS804 where the order of times is not total.
    """
    times = Times(domain)
    if domain is not None and not domain.is_total:
        raise PointstampError("PS804", f"total_histogram over {domain!r}, which is not a total order", "histogram()")
    return TotalHistogram(times, count_of(counts), pairs("buffer", buffer))


def count_of(counts: Iterable[Any]) -> Counter[Any]:
    """A histogram that is given, as items or as a mapping."""
    if isinstance(counts, Mapping):
        return Counter(dict(counts))
    if not isinstance(counts, Iterable):
        right = "counts=[data, ...], or a mapping of each to how often it came"
        raise PointstampError("PS802", f"{brief(counts)} cannot be the counts of an operator", right)
    return count(counts)
