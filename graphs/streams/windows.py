"""Windows are times: `tumbling`, `sliding`, `roll_up` and `delay` move values to the time at which something is known.

What is then done with all values of a time is done with those of a window, and is known when the window is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphs.files.notation import read_domain, read_summary
from graphs.graph import bind
from graphs.streams.bags import Bags, T, V
from graphs.streams.by_value import MERGE
from graphs.streams.operator import Operator
from graphs.streams.refusals import bad_step, check_number, refused
from graphs.streams.step import Input, Origin, Step, Wiring
from progress.errors import PointstampError
from progress.order import Domain, Nat
from progress.runtime.node import Relay
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


def latest_of(domain: Domain) -> int | None:
    """The last time that there is, if there is one."""
    return domain.maximum if isinstance(domain, Nat) else None


def last_tick(every: int) -> Any:
    """The summary that moves a time to the last tick of the `every` ticks that it belongs to."""
    return {"then": [{"advance": 1}, {"round_up": every}, {"advance": -1}]}


class Tumbling(Operator):
    """Where times have an end: sends each value to the last tick of its window, or to the last time that there is.

    No summary says that. Nothing is known later for it: what may come at some tick may come at all later ones.
    """

    def __init__(self, width: int, latest: int, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.width = width
        self.latest = latest

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """All of them at one time."""
        self.send_at(values, min(-(-(time + 1) // self.width) * self.width - 1, self.latest), out)


class Sliding(Operator):
    """Sends each value to the last tick of every window that it is in. Cost: O(windows) a value."""

    def __init__(self, width: int, every: int, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.width = width
        self.every = every

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """A copy for each window."""
        first = -(-(time + 1) // self.every) * self.every - 1
        domain = self.wiring.domain
        for end in range(first, time + self.width, self.every):
            if domain.contains(end):
                self.send_at([*values], end, out)


class StreamWindows(Bags[T, V]):
    """The same values at other times."""

    def tumbling(self, n: int, *, name: str | None = None) -> Stream[T, V]:
        """The same values at the last tick of their window: windows are n ticks long and follow each other.

        Where times have an end the last window ends with them.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("readings").tumbling(10).keyed().max().output("highest")
        >>> flow.run(sources={"readings": [(3, ("x", 5)), (9, ("x", 7)), (10, ("x", 1))]})
        {'highest': [(9, ('x', 7)), (19, ('x', 1))]}
        """
        path = self._path("tumbling", name)
        check_number(path, n, "n")
        self._scope.check_numbers(path, "tumbling")
        latest = latest_of(self._scope.domain())
        if latest is not None:
            return self._follow(path, code=lambda wiring: Tumbling(n, latest, wiring))
        return self._follow(path, code=lambda wiring: Relay(), summary=last_tick(n))

    def sliding(self, n: int, every: int, *, name: str | None = None) -> Stream[T, V]:
        """The same values at the last tick of each window that they are in; windows have n ticks.

        A window ends with each tick every - 1, 2 * every - 1, and so on, as far as there are times. Cost: n / every
        copies of a value.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("words").sliding(4, every=2).keyed().count().output("counts")
        >>> flow.run(sources={"words": [(0, ("to", 1)), (2, ("to", 1))]})
        {'counts': [(1, ('to', 1)), (3, ('to', 2)), (5, ('to', 1))]}
        """
        path = self._path("sliding", name)
        check_number(path, n, "n")
        check_number(path, every, "every")
        self._scope.check_numbers(path, "sliding")
        has_end = latest_of(self._scope.domain()) is not None  # and beyond it nothing can be reckoned
        summary = "identity" if has_end else last_tick(every)
        return self._follow(path, code=lambda wiring: Sliding(n, every, wiring), summary=summary)

    def delay(self, k: Any, *, name: str | None = None) -> Stream[T, V]:
        """The same values k ticks later, where there is such a time; over tuples a list of ticks, one a coordinate.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> today = flow.input("totals")
        >>> today.keyed().join(today.delay(1).keyed(), lambda key, now, before: now - before).output("growth")
        >>> flow.run(sources={"totals": [(0, ("x", 5)), (1, ("x", 8))]})
        {'growth': [(1, 3)]}
        """
        path = self._path("delay", name)
        self._scope._check_outside(path, "delay", "times of its own")
        amounts = k if isinstance(k, list | tuple) else [k]
        if any(type(amount) is not int or amount < 0 for amount in amounts):
            raise bad_step(path, f"k is {k!r}", "whole numbers from 0 on")
        summary = {"advance": k}
        try:
            bind(read_summary(summary), self._scope.domain(), self._scope.domain())
        except PointstampError as error:
            raise refused("PS815", f"{path}: {error.message}", error.hint) from None
        return self._follow(path, code=lambda wiring: Relay(), summary=summary)

    def roll_up(self, to: Any = "leave", *, time: Any = None, name: str | None = None) -> Stream[Any, V]:
        """The same values at a coarser time: what the summary `to` makes of theirs, as (month, day) to month.

        `to` is written as in a graph file: `leave` drops the last coordinate; `time` is the domain that it leads to,
        where that has to be said. What follows is complete when all times that lead there are.

        >>> from pointstamp import Flow
        >>> flow = Flow(time={"product": ["nat", "nat"]})
        >>> flow.input("days").roll_up().keyed().reduce(lambda a, b: a + b).output("months")
        >>> flow.run(sources={"days": [((0, 30), ("x", 1)), ((0, 5), ("x", 2)), ((1, 1), ("x", 4))]})
        {'months': [(0, ('x', 3)), (1, ('x', 4))]}
        """
        path = self._path("roll_up", name)
        self._scope._check_outside(path, "roll_up", "times of its own")
        try:
            wanted = None if time is None else read_domain(time, ("time",))
            domain = bind(read_summary(to), self._scope.domain(), wanted).target
        except PointstampError as error:
            raise refused("PS815", f"{path}: {error.message}", error.hint) from None
        moved = self._follow(path, code=lambda wiring: Relay(), summary=to)
        there = Step(
            f"{path}.there", self._flow._root(domain), (Input(moved._origin),), lambda wiring: Relay(), by_value=MERGE
        )
        return self._another(Origin(self._flow._add(there)))
