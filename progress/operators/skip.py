"""An operator without the first of what it puts out (section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from progress.errors import PointstampError, brief
from progress.operators.operator import AnyOperator, Operator, copy_of


class Skipping(Operator):
    """`skip_op`. Cost: that of the operator."""

    __slots__ = ("_count", "_operator")

    def __init__(self, operator: Operator, count: int) -> None:
        self._operator, self._count = operator, count

    def take(self, event: Any) -> list[Any]:
        """What the operator makes of it, less what is still to be skipped."""
        leaving = self._operator.take(event)
        skipped = min(self._count, len(leaving))
        self._count -= skipped
        return leaving[skipped:]

    def exit(self) -> Iterable[Any]:
        """The operator's exit, less what is still to be skipped."""
        return islice(self._operator.exit(), self._count, None)

    def kept(self) -> tuple[Any, ...]:
        """How much is still to be skipped, and what the operator keeps."""
        return (self._count, self._operator.kept())

    def resumed(self, *kept: Any) -> Skipping:
        """The operator with what it has kept."""
        count, of_operator = kept
        return Skipping(self._operator.resumed(*of_operator), count)


def skip(operator: AnyOperator, count: int) -> Skipping:
    """The same operator, whose first `count` outputs are left out.

    Law (5): produce(skip(operator, count), events) is produce(operator, events) without its first `count` items.

    >>> from progress.operators import DT, WM, map_data, produce
    >>> list(produce(skip(map_data(lambda time, data: data), 1), [DT(0, "a"), WM(0)]))
    [WM(0)]

    Returns
    -------
    The operator.

    Raises
    ------
    PointstampError
        PS802 where `count` is not a whole number from 0 on.
    """
    if type(count) is not int or count < 0:
        raise PointstampError("PS802", f"{brief(count)} is not a number of outputs to skip", "a whole number from 0 on")
    return Skipping(copy_of(operator), count)
