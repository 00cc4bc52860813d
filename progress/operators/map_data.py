"""Data changed one by one (section 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from progress.operators.event import DT, WM, Event
from progress.operators.operator import Operator
from progress.operators.reading import called, not_an_event


class Mapping(Operator):
    """`map_op`. Cost of an item: that of the function."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = function

    def take(self, event: Event) -> list[Event]:
        """Watermarks pass; data leave as what the function makes of them."""
        if type(event) is DT:
            return [DT(event.time, self._function(event.time, event.data))]
        if type(event) is WM:
            return [event]
        raise not_an_event(event)

    def resumed(self, *kept: Any) -> Mapping:
        """The same: nothing is kept."""
        return self


def map_data(f: Callable[[Any, Any], Any]) -> Mapping:
    """`f(time, data)` of each data item, at its time.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(map_data(lambda time, data: data * 10), [DT(0, 1), WM(0)]))
    [DT(0, 10), WM(0)]

    Returns
    -------
    The operator.
    """
    called("function", f)
    return Mapping(f)
