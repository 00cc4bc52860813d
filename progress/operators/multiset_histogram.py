"""Histograms that add up those of the times right below (section 5.1, the variant of the artefact)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from progress.operators.batch import Batch, OfBatches
from progress.operators.event import DT, Event
from progress.operators.open_times import in_order
from progress.operators.reading import count, pairs
from progress.operators.times import Times, last_of_each, maximal_antichain
from progress.order import Domain


class MultisetHistogram(OfBatches):
    """H(t) = C(t) and the sum of H(p) over the maximal complete times p below t.

    Cost of a time: O(complete times) comparisons. What is kept: a histogram for every complete time.
    """

    __slots__ = ("_collections", "_histograms")

    def __init__(self, times: Times, buffer: Iterable[Any], batches: Iterable[Any]) -> None:
        super().__init__(times, buffer)
        self._collections: dict[Any, Counter[Any]] = {}
        self._histograms: dict[Any, Counter[Any]] = {}
        for time, items in Batch(times, batches).open.drained():
            self._collections[time] = count(data for _, (_, data) in items)

    def completed_by(self, watermark: Any) -> list[Event]:
        """The histogram of each time that is complete now."""
        less_equal = self._batch.times.less_equal
        groups = self._batch.open.groups_taken(watermark)
        for time, items in groups:
            self._collections.setdefault(time, Counter()).update(count(data for _, (_, data) in items))
            for later in [other for other in self._histograms if less_equal(time, other)]:
                del self._histograms[later]  # of a stream that is not monotone
        return [
            DT(time, Counter(self._histogram(time))) for time in last_of_each(time for _, (time, _) in in_order(groups))
        ]

    def _histogram(self, time: Any) -> Counter[Any]:
        """H(time), from the lowest of the times that it needs up, so that long chains need no deep recursion."""
        less_equal = self._batch.times.less_equal
        needed = [time]
        while needed:
            current = needed[-1]
            if current in self._histograms:
                needed.pop()
                continue
            below = [other for other in self._collections if other != current and less_equal(other, current)]
            right_below = maximal_antichain(below, less_equal)
            missing = [other for other in right_below if other not in self._histograms]
            if missing:
                needed += missing
                continue
            total = Counter(self._collections[current])
            for other in right_below:
                total.update(self._histograms[other])
            self._histograms[current] = total
        return self._histograms[time]

    def kept(self) -> tuple[Any, ...]:
        """The buffer, and the complete data."""
        batches = [(time, item) for time, counts in self._collections.items() for item in counts.elements()]
        return (*self._batch.kept(), batches)

    def resumed(self, *kept: Any) -> MultisetHistogram:
        """The same with these data."""
        return MultisetHistogram(self._batch.times, *kept)


def multiset_histogram(
    buffer: Iterable[tuple[Any, Any]] = (), batches: Iterable[tuple[Any, Any]] = (), *, domain: Domain | None = None
) -> MultisetHistogram:
    """As `histogram`, but H(t) adds the histograms of the times right below: what these share is counted for each.

    With t0 below t2 and t3, and both below t5, H(t5) = H(t2) + H(t3) + C(t5), in which C(t0) is twice.

    >>> from progress import Finite
    >>> from progress.operators import DT, WM, produce
    >>> diamond = Finite(["0", "2", "3", "5"], [("0", "2"), ("0", "3"), ("2", "5"), ("3", "5")])
    >>> *_, last, _ = produce(multiset_histogram(domain=diamond), [*(DT(time, "a") for time in "0235"), WM("5")])
    >>> last
    DT('5', Counter({'a': 5}))

    Returns
    -------
    The operator.
    """
    return MultisetHistogram(Times(domain), pairs("buffer", buffer), pairs("batches", batches))
