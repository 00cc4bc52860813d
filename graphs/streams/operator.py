"""The nodes of steps: their state is data alone, functions are not part of it."""

from __future__ import annotations

from typing import Any

from graphs.streams.step import Wiring
from progress.runtime.node import Node
from progress.runtime.out import Out


class Operator(Node):
    """A node made for a step. `kept` names the attributes that are its state."""

    replays_alike = True
    kept: tuple[str, ...] = ()

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring

    def send(self, values: list[Any], out: Out, port: str = "") -> None:
        """Send values that are nobody's from now on by a port, at the earliest times there. Cost: that of the list."""
        ways = [(edge, after) for edge in self.wiring.ports[port] for after in out.earliest(edge)]
        send = out.hand_over if len(ways) == 1 else out.send_all
        for edge, after in ways:
            send(edge, after, values)

    def send_at(self, values: list[Any], time: Any, out: Out, port: str = "") -> None:
        """Send values by a port for a time of the node that may be later than that of the event."""
        if time == out.event:
            self.send(values, out, port)
        elif values:
            for edge in self.wiring.ports[port]:
                summary = out.exits.summaries[edge]
                for after in () if summary is None else summary.limits(time):
                    out.send_all(edge, after, values)

    def snapshot(self) -> Any:
        """The state alone."""
        return {name: getattr(self, name) for name in self.kept}

    def restore(self, state: Any) -> None:
        """The inverse of `snapshot`."""
        for name in self.kept:
            setattr(self, name, state[name])
