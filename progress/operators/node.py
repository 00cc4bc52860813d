"""Operators as nodes of a running graph, and streams with watermarks as sources (section 4; A&I 2.2, 4.2).

Watermarks and notifications say the same in both directions.

* *From notifications to watermarks*: when a node is notified of t, nothing at or below t can arrive any more. That is a
  watermark at t. A node asks to be notified of every time at which data came, so that each is completed.
* *From watermarks to notifications*: a stream whose events are `DT` and `WM` is a source whose input is open at the
  times that no watermark is at or above. The runtime makes frontiers of that, and notifications for whoever asked.

So an operator at a node puts out no watermarks: what it would say with them, the frontier says. It may stand on a loop:
time advances on the way around, and the run ends when nothing is sent any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from progress.errors import PointstampError, brief
from progress.operators.event import DT, WM, Event, Left, Right
from progress.operators.frontier import frontier_after
from progress.operators.operator import AnyOperator, copy_of
from progress.operators.reading import not_an_event, stream
from progress.order import Domain
from progress.runtime.node import Node
from progress.runtime.out import Out
from progress.runtime.source import Complete


class OperatorNode(Node):
    """A time-aware operator at a node: it takes messages as data, and notifications as watermarks.

    `sides` says for an operator of two streams, such as `join`, which edge brings which one: `{"orders": Left,
    "payments": Right}`. What leaves at the time of the event leaves on every edge, as the graph's summaries say.

    Law (tested): on any interleaving, what it sends is what the operator puts out, but for watermarks, on a merged
    stream in which each time is completed by a watermark when the node is notified of it. Cost: that of the operator.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.operators import batch
    >>> from progress.operators.node import OperatorNode
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": OperatorNode(batch())})
    >>> flow.run(sources={"in->a": [(0, "x"), (0, "y")]})
    {'a->out': [(0, [(0, 'x'), (0, 'y')])]}
    """

    def __init__(self, operator: AnyOperator, sides: Mapping[str, type] | None = None) -> None:
        given: object = sides
        if not (given is None or isinstance(given, Mapping)):
            right = 'which edge brings which: {"orders": Left, "paid": Right}'
            raise PointstampError("PS802", f"the sides are {brief(given)}", right)
        for edge, side in (sides or {}).items():
            if side not in (Left, Right):
                wrong = f"the side of {brief(edge)} is {brief(side)}"
                raise PointstampError("PS802", wrong, "Left or Right, of progress.operators")
        self.operator = copy_of(operator)
        self.sides = dict(sides or {})

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        """Data of the stream."""
        at = self._side(edge)(time) if self.sides else time
        for value in values:
            self._send(self.operator.take(DT(at, value)), time, out)
        out.request(time)

    def _side(self, edge: str) -> type:
        if edge not in self.sides:
            raise PointstampError("PS802", f"the edge {brief(edge)} has no side", f"sides={{{edge!r}: Left}} or Right")
        return self.sides[edge]

    def on_notify(self, time: Any, out: Out) -> None:
        """A watermark, on both sides where there are two."""
        marks = [WM(side(time)) for side in (Left, Right)] if self.sides else [WM(time)]
        for mark in marks:
            self._send(self.operator.take(mark), time, out)

    def _send(self, leaving: list[Event], time: Any, out: Out) -> None:
        for event in leaving:
            if type(event) is DT:
                for edge in out.edges:
                    for after in out.earliest(edge) if event.time == time else (event.time,):
                        out.send(edge, after, event.data)

    def snapshot(self) -> Any:
        """What the operator keeps, as plain data."""
        return self.operator.kept()

    def restore(self, state: Any) -> None:
        """The inverse of `snapshot`."""
        self.operator = self.operator.resumed(*state)


class Watermarked:
    """A stream of `DT` and `WM` as the source of an input: data come as messages, watermarks move the frontier.

    Events that can be read once only, as those of a generator, serve one run; a function that gives them serves all.

    Data at or below a watermark of before are late: they leave by the side output, as other late data do. PS805 for a
    domain whose frontier after a watermark is not known, or that has no least times.

    >>> from progress import Nat
    >>> list(Watermarked([DT(0, "a"), WM(0)]).items_for("sim", "in", Nat()))
    [(0, 'a'), Complete(times=(1,))]
    """

    def __init__(self, events: Iterable[Event] | Callable[[], Iterable[Event]]) -> None:
        self.within = events

    def items_for(self, engine: str, edge: str, domain: Domain) -> Iterator[Any]:
        """The items of one run."""
        frontier = domain.least()
        if not frontier:
            right = "a domain with least times, such as nat"
            raise PointstampError(
                "PS805", f"watermarks at {brief(edge)} over {domain!r}, which has no least time", right
            )
        for event in stream(self.within() if callable(self.within) else self.within):
            if type(event) is DT:
                yield (event.time, event.data)
            elif type(event) is WM:
                if not domain.contains(event.time):
                    wrong = f"{brief(event.time)} is not a time of {brief(edge)}"
                    raise PointstampError("PS803", wrong, f"a time of {domain!r}")
                frontier = frontier_after(domain, frontier, event.time)
                yield Complete(frontier)
            else:
                raise not_an_event(event)
