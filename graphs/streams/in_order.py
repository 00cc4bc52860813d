"""What depends on the order of times: `stateful_map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphs.streams.aggregation import check_start
from graphs.streams.bags import K, R, S, T, V
from graphs.streams.join import Bag, entered
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import OfOpenTimes
from graphs.streams.refusals import check_function, check_given
from graphs.streams.step import Wiring
from progress.errors import brief
from progress.runtime.out import Out
from progress.runtime.state import State

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class InOrder(OfOpenTimes):
    """Takes the values of each key time by time, when a time is complete. Kept is a state for each key."""

    kept: tuple[str, ...] = ("open", "states")
    open: dict[Any, Bag]

    def __init__(
        self,
        keys: Keys,
        start: Any,
        f: Callable[[Any, Any], tuple[Any, Any]],
        order: Callable[[Any], Any] | None,
        wiring: Wiring,
    ) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.start = start
        self.f = f
        self.order = order
        self.states: State[Any, Any] = State()

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Keep them until all before them are here."""
        out.request(time)
        came = self.keys.bags(values)
        entered(self.open.setdefault(time, {}), came)

    def leave(self, time: Any, bag: Bag, out: Out) -> None:
        """Each key's values in order, its state from one to the next; states are entered when all are known."""
        found, states = [], {}
        f, order = self.f, self.order
        for key, values in bag.items():
            state = self.states.get(key, self.start)
            for value in values if order is None else sorted(values, key=order):
                made = f(state, value)
                try:
                    state, result = made
                except (TypeError, ValueError):
                    raise TypeError(f"its function gave {brief(made)}, not (next state, result)") from None
                found.append((key, result))
            states[key] = state
        self.send(found, out)
        self.states.update(states)


class KeyedInOrder(Keyed[T, K, V]):
    """What depends on the order of times."""

    def stateful_map(
        self,
        start: S,
        f: Callable[[S, V], tuple[S, R]],
        *,
        order: Callable[[V], Any] | None = None,
        name: str | None = None,
    ) -> Stream[T, tuple[K, R]]:
        """(key, result) of each value: `f` makes of a key's state and a value the next state and a result.

        Times come in order, so they have to be in one; the values of a time come as `order` sorts them, without it as
        they came, which is another order in each run. A key's state begins with `start` and is kept for good.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> change = lambda last, price: (price, price - last)
        >>> flow.input("prices").keyed().stateful_map(0, change).output("changes")
        >>> flow.run(sources={"prices": [(3, ("tea", 9)), (1, ("tea", 4))]})
        {'changes': [(1, ('tea', 4)), (3, ('tea', 5))]}
        """
        path = self._stream._path("stateful_map", name)
        check_start(path, start)
        check_function(path, f)
        check_given(path, order=order)
        self._stream._scope.check_order(path, "stateful_map")
        keys = self._keys
        return self._stream._follow(
            path, code=lambda wiring: InOrder(keys, start, f, order, wiring), keeps=True, notify=True
        )
