"""All values of a time together, when it is complete: `whole`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import Bags, T, V, W
from graphs.streams.operator import OfOpenTimes
from graphs.streams.refusals import check_function
from graphs.streams.step import Wiring
from progress.runtime.actions.by_value import check_several
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class Whole(OfOpenTimes):
    """Keeps the values of open times, and hands each time's on once."""

    fails_singly = False
    open: dict[Any, list[Any]]

    def __init__(self, f: Callable[[Any, list[Any]], Iterable[Any]], wiring: Wiring) -> None:
        super().__init__(wiring)
        self.f = f

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Keep them."""
        out.request(time)
        self.open.setdefault(time, []).extend(values)

    def leave(self, time: Any, found: list[Any], out: Out) -> None:
        """Hand on a copy, so that a call which fails has changed nothing."""
        made = self.f(self.wiring.seen(time), [*found])
        check_several(made)
        self.send([*made], out)


class StreamWhole(Bags[T, V]):
    """What is made of all values of a time together."""

    def whole(self, f: Callable[[T, list[V]], Iterable[W]], *, name: str | None = None) -> Stream[T, W]:
        """Each of the values that `f` makes of a time and all values that came at it, in no order.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").whole(lambda time, numbers: [sorted(numbers)]).output("sorted")
        >>> flow.run(sources={"numbers": [(0, 3), (0, 1), (0, 2)]})
        {'sorted': [(0, [1, 2, 3])]}
        """
        path = self._path("whole", name)
        check_function(path, f)
        return self._follow(path, code=lambda wiring: Whole(f, wiring), keeps=True, notify=True)
