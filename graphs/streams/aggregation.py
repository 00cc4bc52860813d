"""One result for each key and time, of all values that have them, when the time is complete: `reduce`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import K, T, V
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import Operator
from graphs.streams.refusals import check_function
from graphs.streams.step import Wiring
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class Reducing(Operator):
    """Keeps what was made of the values so far for each key of a time, until the time is complete."""

    kept = ("open",)

    def __init__(self, keys: Keys, f: Callable[[Any, Any], Any], wiring: Wiring) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.f = f
        self.open: dict[Any, dict[Any, Any]] = {}

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """What they make is entered when all is made: a call that fails has changed nothing."""
        out.request(time)
        before = self.open.get(time, {})
        found: dict[Any, Any] = {}
        f = self.f
        for key, value in self.keys.pairs(values):
            if key in found:
                found[key] = f(found[key], value)
            elif key in before:
                found[key] = f(before[key], value)
            else:
                found[key] = value
        if before:
            before.update(found)
        else:
            self.open[time] = found

    def on_notify(self, time: Any, out: Out) -> None:
        """The time is complete: send, and forget."""
        self.send([*self.open[time].items()], out)
        del self.open[time]

    def give_up(self, time: Any) -> Any:
        """What was made for the time, by key."""
        return self.open.pop(time, None)


class KeyedAggregation(Keyed[T, K, V]):
    """What makes one result of all values of a key and time."""

    def reduce(self, f: Callable[[V, V], V], *, name: str | None = None) -> Stream[T, tuple[K, V]]:
        """(key, result) for each key and time, once; `f` makes one value of two, in any order.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> sold = flow.input("sold").key_on(lambda sale: sale["shop"], lambda sale: sale["amount"])
        >>> sold.reduce(lambda a, b: a + b).output("totals")
        >>> flow.run(sources={"sold": [(0, {"shop": "x", "amount": 3}), (0, {"shop": "x", "amount": 4})]})
        {'totals': [(0, ('x', 7))]}
        """
        path = self._stream._path("reduce", name)
        check_function(path, f)
        keys = self._keys
        return self._stream._follow(path, code=lambda wiring: Reducing(keys, f, wiring), keeps=True, notify=True)
