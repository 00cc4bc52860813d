"""One operator after another (section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from progress.operators.operator import AnyOperator, Operator, copy_of, produce


class Composed(Operator):
    """`comp_op`. Cost: that of both."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Operator, second: Operator) -> None:
        self._first, self._second = first, second

    def take(self, event: Any) -> list[Any]:
        """What the second makes of what the first makes of it."""
        return [leaving for between in self._first.take(event) for leaving in self._second.take(between)]

    def exit(self) -> Iterator[Any]:
        """The production of the second on the first one's exit, lazily."""
        return produce(self._second, self._first.exit())

    def kept(self) -> tuple[Any, ...]:
        """What each of the two keeps."""
        return (self._first.kept(), self._second.kept())

    def resumed(self, *kept: Any) -> Composed:
        """The two, each with what it has kept."""
        of_first, of_second = kept
        return Composed(self._first.resumed(*of_first), self._second.resumed(*of_second))


def compose(first: AnyOperator, second: AnyOperator) -> Composed:
    """What `first` puts out is what `second` takes.

    Law (6): produce(compose(first, second), events) = produce(second, produce(first, events)), if `first` and all that
    becomes of it is eventually productive on `events`, or if whatever becomes of `second`, its exit is empty. Where
    neither holds, an unproductive `first` leaves the right side with the exit of `second` and the left side with
    nothing: on finite streams, which always end, the law holds without a condition.

    >>> from progress.operators import DT, WM, batch, incr, produce
    >>> list(produce(compose(batch(), incr()), [DT(0, "a"), WM(0)]))
    [DT(0, [(0, 'a')]), WM(0)]

    Returns
    -------
    The operator.
    """
    return Composed(copy_of(first), copy_of(second))
