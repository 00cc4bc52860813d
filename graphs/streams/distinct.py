"""Each value once: `distinct`, of a time or of all times so far, by the value or by a key of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import Bags, T, V
from graphs.streams.operator import OfOpenTimes, forgotten
from graphs.streams.refusals import bad_step, check_given
from graphs.streams.step import Wiring
from progress.runtime.node import Node
from progress.runtime.out import Out
from progress.runtime.state import State

if TYPE_CHECKING:
    from graphs.streams.stream import Stream

By = Callable[[Any], Any] | None
Keep = Callable[[Any, Any], Any] | None
MISSING = object()


def one_of_each(by: By, keep: Keep, values: list[Any], before: dict[Any, Any]) -> dict[Any, Any]:
    """For each key of these values the one that is kept, of them and those before: the first, or what `keep` says."""
    found: dict[Any, Any] = {}
    for value in values:
        key = value if by is None else by(value)
        known = found[key] if key in found else before.get(key, MISSING)
        found[key] = value if known is MISSING else known if keep is None else keep(known, value)
    return found


class Distinct(OfOpenTimes):
    """The first value of each key and time leaves at once. Kept are the keys of open times. Cost: O(1) a value."""

    open: dict[Any, dict[Any, None]]

    def __init__(self, by: By, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.by = by

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Send what is new."""
        out.request(time)
        seen = self.open.get(time, {})
        found = dict.fromkeys(values) if self.by is None else one_of_each(self.by, None, values, {})
        new = [key for key in found if key not in seen]
        self.send([*new] if self.by is None else [found[key] for key in new], out)
        seen.update(dict.fromkeys(new))
        self.open[time] = seen


class OneOfEach(OfOpenTimes):
    """One value of each key and time, which one is known at the end. Kept are they for open times."""

    open: dict[Any, dict[Any, Any]]

    def __init__(self, by: By, keep: Keep, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.by = by
        self.keep = keep

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Keep one of each."""
        out.request(time)
        before = self.open.get(time, {})
        found = one_of_each(self.by, self.keep, values, before)
        before.update(found)
        self.open[time] = before

    def leave(self, time: Any, found: dict[Any, Any], out: Out) -> None:
        """All of them leave."""
        self.send([*found.values()], out)


class FirstEver(OneOfEach):
    """Over a total order: those whose key has not come at an earlier time. Kept are all keys."""

    kept: tuple[str, ...] = ("open", "seen")

    def __init__(self, by: By, keep: Keep, wiring: Wiring) -> None:
        super().__init__(by, keep, wiring)
        self.seen: State[Any, Any] = State()

    def leave(self, time: Any, found: dict[Any, Any], out: Out) -> None:
        """Send those that are new."""
        self.send([value for key, value in found.items() if key not in self.seen], out)
        self.seen.update(dict.fromkeys(found))


class FirstByTime(FirstEver):
    """Over a partial order: those whose key has come at no time below. Kept are each key's minimal times.

    Cost: O(minimal times of the key) a key and time.
    """

    def leave(self, time: Any, found: dict[Any, Any], out: Out) -> None:
        """Send those of which this is a minimal time."""
        less_equal, seen = self.wiring.domain.less_equal, self.seen
        new = {key: value for key, value in found.items() if not any(less_equal(at, time) for at in seen.get(key, ()))}
        self.send([*new.values()], out)
        for key in new:
            seen.setdefault(key, []).append(time)


class FirstWithin(FirstEver):
    """Over numbers: those whose key has not come in the last so many ticks. Kept are the keys that have."""

    kept: tuple[str, ...] = ("open", "seen", "came")
    settings: tuple[str, ...] = ("within",)

    def __init__(self, by: By, keep: Keep, within: int, wiring: Wiring) -> None:
        super().__init__(by, keep, wiring)
        self.within = within
        self.came: deque[tuple[int, list[Any]]] = deque()  # which keys at which time, in order

    def leave(self, time: Any, found: dict[Any, Any], out: Out) -> None:
        """Send those that are new, and forget what is too long ago."""
        oldest, seen = time - self.within, self.seen
        new = [value for key, value in found.items() if key not in seen or seen[key] < oldest]
        self.send(new, out)
        seen.update(dict.fromkeys(found, time))
        self.came.append((time, [*found]))
        for at, key in forgotten(self.came, oldest):
            if seen.get(key) == at:
                del seen[key]


class StreamDistinct(Bags[T, V]):
    """Each value once."""

    def distinct(
        self,
        *,
        by: Callable[[V], Any] | None = None,
        keep: Callable[[V, V], V] | None = None,
        accumulate: bool = False,
        within: int | None = None,
        name: str | None = None,
    ) -> Stream[T, V]:
        """Each value once at each time, at once; with `by` one for each key, the first to come, or that `keep` chooses.

        `keep` is given the one that was kept so far and another, and answers which of them stays; then they leave when
        the time is complete. With `accumulate` a value leaves at the first time at which it comes, over a partial order
        at its minimal times; with `within` it leaves again when it has not come for more than so many ticks.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> words = flow.input("words")
        >>> words.distinct().output("each day")
        >>> words.distinct(accumulate=True, name="new").output("new")
        >>> found = flow.run(sources={"words": [(0, "to"), (0, "to"), (1, "to"), (1, "be")]})
        >>> found["each day"]
        [(0, 'to'), (1, 'to'), (1, 'be')]
        >>> found["new"]
        [(0, 'to'), (1, 'be')]
        """
        path = self._path("distinct", name)
        check_given(path, by=by, keep=keep)
        if within is not None and not accumulate:
            raise bad_step(path, "within is for what has come at all times so far", "accumulate=True as well")
        self._scope.check_within(path, within)

        def make(wiring: Wiring) -> Node:
            if within is not None:
                return FirstWithin(by, keep, within, wiring)
            if accumulate:
                return (FirstEver if wiring.domain.is_total else FirstByTime)(by, keep, wiring)
            return Distinct(by, wiring) if keep is None else OneOfEach(by, keep, wiring)

        return self._follow(path, code=make, keeps=True, notify=True)
