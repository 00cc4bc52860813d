"""Results of all values so far: those at a time and before it, each once, also where times are in no order.

Over a total order one result a key is kept, over a partial one the result of each time by itself, since those that lie
before a time are not those before another one. `within` bounds how long ago they may be, and keeps no longer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import reduce
from typing import Any

from graphs.streams.aggregate import Aggregate, Found, Gathering
from graphs.streams.keys import Keys
from graphs.streams.operator import forgotten
from graphs.streams.refusals import bad_step
from graphs.streams.scope import Scope
from graphs.streams.step import Wiring
from progress.runtime.node import Node
from progress.runtime.out import Out
from progress.runtime.state import State


class SoFar(Gathering):
    """Adds each time's results to those before it, when it is complete: times come in a linear extension.

    Cost: a merge a key and time. Kept are all keys.
    """

    kept: tuple[str, ...] = ("open", "sums")

    def __init__(self, keys: Keys, how: Aggregate, wiring: Wiring) -> None:
        super().__init__(keys, how, wiring)
        self.sums: State[Any, Any] = State()

    def leave(self, time: Any, now: Found, out: Out) -> None:
        """All that is at or before the time is here: send the results of the keys that came at it."""
        sums, merge = self.sums, self.how.merge
        assert merge is not None
        found = {key: merge(sums[key], part) if key in sums else part for key, part in now.items()}
        self.send([*found.items()], out)
        sums.update(found)


class SoFarByTime(SoFar):
    """Over a partial order: the results of each time by themselves. Cost: O(times of the key) merges a key and time."""

    def leave(self, time: Any, now: Found, out: Out) -> None:
        """Put together what came at the times before this one."""
        less_equal, merge = self.wiring.domain.less_equal, self.how.merge
        assert merge is not None
        results = []
        for key, part in now.items():
            before = [each for at, each in self.sums.get(key, ()) if less_equal(at, time)]
            results.append((key, reduce(merge, [*before, part])))
        self.send(results, out)
        for key, part in now.items():
            self.sums.setdefault(key, []).append((time, part))


class SoFarWithin(SoFar):
    """Over numbers: what is at most so long ago. Cost: a merge a key and each time of it within; kept are those."""

    kept: tuple[str, ...] = ("open", "sums", "came")
    settings: tuple[str, ...] = ("kind", "within")

    def __init__(self, keys: Keys, how: Aggregate, within: int, wiring: Wiring) -> None:
        super().__init__(keys, how, wiring)
        self.within = within
        self.came: deque[tuple[int, list[Any]]] = deque()  # which keys at which time, in order

    def leave(self, time: Any, now: Found, out: Out) -> None:
        """Put together what is not too long ago; forget the rest."""
        oldest, merge = time - self.within, self.how.merge
        assert merge is not None
        results = []
        for key, part in now.items():
            before = [each for at, each in self.sums.get(key, ()) if at >= oldest]
            results.append((key, reduce(merge, [*before, part])))
        self.send(results, out)
        for key, part in now.items():
            self.sums.setdefault(key, deque()).append((time, part))
        self.came.append((time, [*now]))
        for _, key in forgotten(self.came, oldest):
            parts = self.sums[key]
            parts.popleft()
            if not parts:
                del self.sums[key]


def so_far(
    path: str, keys: Keys, how: Aggregate, accumulate: bool, within: int | None, scope: Scope
) -> Callable[[Wiring], Node]:
    """What makes the node of an aggregation with `accumulate`, once the domain of its times is known."""
    if not accumulate:
        raise bad_step(path, "within is for what is made of all times so far", "accumulate=True as well")
    if how.merge is None:
        raise bad_step(path, "accumulate needs to make one result of two", "merge=, as lambda a, b: a + b")
    scope.check_within(path, within)
    if within is not None:
        return lambda wiring: SoFarWithin(keys, how, within, wiring)

    def make(wiring: Wiring) -> Node:
        return (SoFar if wiring.domain.is_total else SoFarByTime)(keys, how, wiring)

    return make
