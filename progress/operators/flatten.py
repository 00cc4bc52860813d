"""Lists taken apart (section 5.2)."""

from __future__ import annotations

from typing import Any

from progress.errors import PointstampError, brief
from progress.operators.event import DT, WM, Event
from progress.operators.operator import Operator
from progress.operators.reading import not_an_event


class Flattening(Operator):
    """`flatten_op`. Cost: O(items)."""

    __slots__ = ()

    def take(self, event: Event) -> list[Event]:
        """Watermarks pass; a list leaves item by item."""
        if type(event) is WM:
            return [event]
        if type(event) is not DT:
            raise not_an_event(event)
        try:
            items = iter(event.data)
        except TypeError:
            right = "a list, or anything else that can be iterated over"
            raise PointstampError("PS801", f"the data {brief(event.data)} cannot be flattened", right) from None
        return [DT(event.time, item) for item in items]

    def resumed(self, *kept: Any) -> Flattening:
        """The same: nothing is kept."""
        return self


def flatten() -> Flattening:
    """Each item of a list by itself, at the list's time.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(flatten(), [DT(0, ["a", "b"]), WM(0)]))
    [DT(0, 'a'), DT(0, 'b'), WM(0)]

    Returns
    -------
    The operator.
    """
    return Flattening()
