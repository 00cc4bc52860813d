"""Each value with the latest one of another stream at or before it: `asof`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import K, R, T, V, W
from graphs.streams.join import LEFT, RIGHT, Bag, TwoSides, both_keys
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import forgotten
from graphs.streams.refusals import check_function
from graphs.streams.step import Wiring
from progress.runtime.out import Out
from progress.runtime.state import State

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class AsOf(TwoSides):
    """Over a total order: times are complete in order, so one value a key is the latest. Cost: O(1) a value.

    Kept is one a key; with `within` those that are at most so long ago.
    """

    kept: tuple[str, ...] = ("open", "latest", "came")
    settings: tuple[str, ...] = ("within",)

    def __init__(
        self, keys: dict[str, Keys], f: Callable[[Any, Any, Any], Any], within: int | None, wiring: Wiring
    ) -> None:
        super().__init__(keys, f, wiring)
        self.within = within
        self.latest: State[Any, tuple[Any, Any]] = State()  # by key: the time of the latest value, and it
        self.came: deque[tuple[Any, list[Any]]] = deque()  # which keys at which time, where they are forgotten

    def leave(self, time: Any, sides: dict[str, Bag], out: Out) -> None:
        """The values of this time are the latest now; each on the left meets that of its key."""
        latest, f = self.latest, self.f
        now = {key: (time, values[-1]) for key, values in sides[RIGHT].items()}
        oldest = None if self.within is None else time - self.within
        found = []
        for key, values in sides[LEFT].items():
            at, right = now.get(key) or latest.get(key) or (None, None)
            if oldest is not None and at is not None and at < oldest:
                right = None
            found += [f(key, left, right) for left in values]
        self.send(found, out)
        latest.update(now)
        if oldest is not None:
            self.came.append((time, [*now]))
            for at, key in forgotten(self.came, oldest):
                if key in latest and latest[key][0] == at:
                    del latest[key]


class KeyedAsOf(Keyed[T, K, V]):
    """What looks at the latest value of another stream."""

    def asof(
        self,
        other: Keyed[Any, K, W],
        f: Callable[[K, V, W | None], R],
        *,
        within: int | None = None,
        name: str | None = None,
    ) -> Stream[T, R]:
        """f(key, value, the latest of its key at or before its time), or None where there is none, or none `within`.

        Of several at the latest time it is the last to come. It leaves when its time is complete. Times are in one
        order; kept is one value a key, for good without `within`.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> prices = flow.input("prices").keyed()
        >>> sold = flow.input("sold").keyed()
        >>> sold.asof(prices, lambda what, amount, price: (what, amount * (price or 0))).output("paid")
        >>> flow.run(sources={"prices": [(0, ("tea", 3)), (4, ("tea", 5))], "sold": [(2, ("tea", 2)), (4, ("tea", 1))]})
        {'paid': [(2, ('tea', 6)), (4, ('tea', 5))]}
        """
        path = self._stream._path("asof", name)
        check_function(path, f)
        self._stream._scope.check_order(path, "asof")
        self._stream._scope.check_within(path, within)
        keys = both_keys(path, self, other)
        return self._stream._follow(
            path,
            other._stream,
            code=lambda wiring: AsOf(keys, f, within, wiring),
            roles=(LEFT, RIGHT),
            keeps=True,
            notify=True,
        )
