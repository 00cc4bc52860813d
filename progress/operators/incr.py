"""Batches that grow (section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.operators.event import DT, WM, Event
from progress.operators.operator import Operator
from progress.operators.reading import batch_of, not_an_event, pairs
from progress.operators.times import last_of_each


class Incremental(Operator):
    """`incr_op`. Cost of a batch: O(all batches so far) for each of its times, which is what it puts out."""

    __slots__ = ("_batches",)

    def __init__(self, batches: list[tuple[Any, Any]]) -> None:
        self._batches = batches

    def take(self, event: Event) -> list[Event]:
        """Watermarks pass; for each time of a batch, all batches so far leave."""
        if type(event) is WM:
            return [event]
        if type(event) is not DT:
            raise not_an_event(event)
        found = batch_of(event.data)
        self._batches += found
        return [DT(time, [*self._batches]) for time in last_of_each(time for time, _ in found)]

    def kept(self) -> tuple[Any, ...]:
        """The accumulated batches."""
        return ([*self._batches],)

    def resumed(self, *kept: Any) -> Incremental:
        """The same with these batches."""
        return Incremental(*kept)


def incr(batches: Iterable[tuple[Any, Any]] = ()) -> Incremental:
    """Appends batches: for each time of a batch, once, all batches so far, `DT(time, [(time, data), ...])`.

    Laws (14) to (17): what leaves is the initial batches and those of a prefix of the stream, and its time is in that
    prefix; every time of every batch leaves; monotone and productive streams stay so if the times inside of the batches
    are as those that `batch` makes. The exit is empty.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(incr(), [DT(1, [(0, "a"), (1, "b")]), WM(1)]))
    [DT(0, [(0, 'a'), (1, 'b')]), DT(1, [(0, 'a'), (1, 'b')]), WM(1)]

    Returns
    -------
    The operator.
    """
    return Incremental(pairs("batches", batches))
