"""The nodes of steps: their state is data alone, functions are not part of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from graphs.streams.step import Wiring
from progress.errors import PointstampError
from progress.runtime.node import Node
from progress.runtime.out import Out


class Operator(Node):
    """A node made for a step. `kept` names the attributes that are its state.

    Functions of a program may change between a kill and the next start. What a step is may not: a state is read by an
    operator of the same class and `settings` alone, the attributes by which goes what is kept.
    """

    replays_alike = True
    kept: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring

    def send(self, values: list[Any], out: Out, port: str = "") -> None:
        """Send values that are nobody's from now on by a port, at the earliest times there. Cost: that of the list."""
        ways = [(edge, after) for edge in self.wiring.ports[port] for after in out.earliest(edge)]
        send = out.hand_over if len(ways) == 1 else out.send_all
        for edge, after in ways:
            send(edge, after, values)

    def send_at(self, values: list[Any], time: Any, out: Out) -> None:
        """Send values for a time of the node that may be later than that of the event."""
        if time == out.event:
            self.send(values, out)
        elif values:
            for edge in self.wiring.ports[""]:
                summary = out.exits.summaries[edge]
                for after in () if summary is None else summary.limits(time):
                    out.send_all(edge, after, values)

    def snapshot(self) -> Any:
        """What it is, and the state alone."""
        return self.made_as(), self.state()

    def restore(self, state: Any) -> None:
        """The inverse of `snapshot`; PS737 where another operator has kept it."""
        made_as, kept = state
        if made_as != self.made_as():
            said = f"it was kept by {made_as}, and the step is {self.made_as()} now"
            raise PointstampError("PS737", said, "another name= for the new step, and another DIR")
        self.take(kept)

    def made_as(self) -> str:
        """What it is, as far as what it keeps goes by that."""
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.settings)
        return f"{type(self).__name__}({settings})"

    def state(self) -> Any:
        """What it keeps."""
        return {name: getattr(self, name) for name in self.kept}

    def take(self, state: Any) -> None:
        """The inverse of `state`."""
        for name in self.kept:
            setattr(self, name, state[name])


class OfOpenTimes(Operator):
    """Keeps something for each open time, until that is complete or given up."""

    fails_singly = True
    kept: tuple[str, ...] = ("open",)

    def __init__(self, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.open: dict[Any, Any] = {}

    def on_notify(self, time: Any, out: Out) -> None:
        """The time is complete: what was kept for it leaves, and is forgotten, unless that fails."""
        self.leave(time, self.open[time], out)
        del self.open[time]

    def leave(self, time: Any, found: Any, out: Out) -> None:
        """Send what is to be sent of what was kept for a time; it is this call's alone."""

    def give_up(self, time: Any) -> Any:
        """What was kept for the time."""
        return self.open.pop(time, None)


def forgotten(came: deque[tuple[Any, list[Any]]], oldest: Any) -> Iterator[tuple[Any, Any]]:
    """The keys that came before a time, each with when it did; they are no longer among those that came."""
    while came[0][0] < oldest:
        at, keys = came.popleft()
        for key in keys:
            yield at, key
