"""Items gathered up to a limit, the paper's first example (section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from progress.errors import PointstampError, brief
from progress.operators.operator import Operator
from progress.operators.reading import called


class Bulk(Operator):
    """`bulk_op`. Cost of an item: O(1), and that of `function` once for `limit` items."""

    __slots__ = ("_buffer", "_function", "_limit")

    def __init__(self, function: Callable[[list[Any]], Iterable[Any]], limit: int, buffer: Iterable[Any]) -> None:
        self._function, self._limit = function, limit
        self._buffer = [*buffer][::-1]  # oldest first, so that an item is appended

    def take(self, event: Any) -> list[Any]:
        """What the function makes of the buffer, where this item fills it."""
        self._buffer.append(event)
        if len(self._buffer) < self._limit:
            return []
        full, self._buffer = self._buffer, []
        return list(self._function(full[::-1]))

    def exit(self) -> list[Any]:
        """What the function makes of the rest."""
        return list(self._function(self._buffer[::-1]))

    def kept(self) -> tuple[Any, ...]:
        """The buffer, newest first."""
        return (self._buffer[::-1],)

    def resumed(self, *kept: Any) -> Bulk:
        """The same with this buffer."""
        return Bulk(self._function, self._limit, *kept)


def bulk(f: Callable[[list[Any]], Iterable[Any]], limit: int, buffer: Iterable[Any] = ()) -> Bulk:
    """Gathers items, newest first as in the paper, and puts out `f` of them when there are `limit`, and at the end.

    The items are any values, not events alone: this operator knows nothing of time.

    >>> from progress.operators import produce
    >>> list(produce(bulk(sorted, 2), [3, 1, 2]))
    [1, 3, 2]

    Returns
    -------
    The operator.

    Raises
    ------
    PointstampError
        PS802 where `limit` is not a whole number from 0 on, or `buffer` is not a series of items.
    """
    called("function", f)
    if type(limit) is not int or limit < 0:
        raise PointstampError("PS802", f"{brief(limit)} is not a limit of bulk", "a whole number from 0 on")
    try:
        return Bulk(f, limit, buffer)
    except TypeError:
        wrong = f"{brief(buffer)} cannot be the buffer of an operator"
        raise PointstampError("PS802", wrong, "buffer=[item, ...], the newest first") from None
