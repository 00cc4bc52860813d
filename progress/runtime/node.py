"""Nodes as code: what happens to messages, and what is done when a time is complete (A&I 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from progress.runtime.awaiting import Following, is_by_yield

if TYPE_CHECKING:
    from progress.runtime.out import Out


class Node:
    """A node of a dataflow; subclasses say what it does. Its own attributes are its state.

    `on_message` may be told of messages in any order in which no message overtakes an earlier one at or before its time
    on the same edge. `on_notify` is called once for each time that was asked for with `out.request`, when nothing at or
    before that time can arrive any more. A node is never called twice at once, unless its `at_once` says so.

    A node that wants the messages of one edge and time together, as far as they have come, defines `on_messages(edge,
    time, values, out)`, whose values are a list of its own; one that wants all messages of a time together is a
    `Batch`. All methods may be `async def`, or give something else that can be awaited; the engine `asyncio` lets other
    nodes go on while one waits, the others wait for it.

    `at_once` is how many calls of the node may be made at once, by engines that do more than one thing at a time. The
    law of a node with more than one: calls for different times share no state that is not safe to share. Its
    notifications then run side by side as they become ready, and a later one may be over before an earlier one, unless
    it waits for what the earlier one sends (A&I 4.2). So do calls that consume messages of different times. They begin
    in the order in which messages may be taken, and what they do is entered in it: what a call sends, and requests,
    waits until the calls are over that began before it with what came before on the edge. Messages of one time are
    consumed by one call at a time.

    `by_time` names attributes that are dicts of which a call uses one entry: that of its time, or what `entry` says. In
    a run that is kept a node makes one call at a time, whatever its `at_once` is, where calls change other things that
    it keeps (`progress.runtime.durable.underway`).

    `replays_alike` says that a node does the same again when the same comes in, in whatever order the engine chooses:
    what it sends at a time depends on nothing but what has come at that time and those before it. Where a node cannot
    say so, sinks that release what is complete wait for the checkpoint that covers it (`durable/releasing.py`).

    `ordered = True` says that a node takes its messages in order: those of a time when it is complete, edge by edge,
    each in the order in which it came, then the notification of that time, then those of the next time. What it does is
    the same on every engine, whatever came first, if that holds for what comes on each of its edges
    (`actions/ordered.py`). A whole run is in order with `Dataflow(..., ordered=True)`.

    `deterministic = False` says that a node may do otherwise even when the same comes in, in the same order: it goes by
    the clock, by chance, or by what it asks of others. What leaves a run that is kept then waits for checkpoints
    (`progress.runtime.durable.delivery`).

    `fails_singly` says that a call of `on_messages` that raises has changed nothing. Where failures become dead
    letters, its messages are then given again one by one, so that only those that fail by themselves are lost.

    Examples
    --------
    >>> from pointstamp import Dataflow, Node, from_edges
    >>> class Count(Node):
    ...     def __init__(self):
    ...         self.seen = 0
    ...
    ...     def on_message(self, edge, time, value, out):
    ...         self.seen += 1
    ...         out.request(time)
    ...
    ...     def on_notify(self, time, out):
    ...         out.send("count->out", time, self.seen)
    >>> flow = Dataflow(from_edges([(None, "count"), ("count", None)]), {"count": Count})
    >>> flow.run(sources={"in->count": [(0, "a"), (0, "b")]})
    {'count->out': [(0, 2)]}
    """

    at_once: int = 1
    by_time: Sequence[str] = ()
    ordered: bool = False
    deterministic: bool = True
    replays_alike: bool = False
    fails_singly: bool = False

    def on_start(self, out: Out) -> Any:
        """Called once before anything happens; may request notifications, at any time (A&I: Initial(p))."""

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> Any:
        """A message has come in on an edge. By default it is an error, since a message would be lost."""
        raise NotImplementedError(f"{type(self).__name__} has no on_message, and a message came in on {edge!r}")

    def on_notify(self, time: Any, out: Out) -> Any:
        """Nothing at or before `time` can arrive any more."""

    def entry(self, time: Any) -> Any:
        """The key under which a call at a time uses what is kept `by_time`."""
        return time

    def give_up(self, time: Any) -> Any:
        """The value of the dead letter for a notification: what was kept for it, which is forgotten here."""
        return None

    def snapshot(self) -> Any:
        """The state, for runs that are kept; a copy of all attributes unless a node knows better."""
        slots = {name: getattr(self, name) for name in slots_of(type(self)) if hasattr(self, name)}
        return {**slots, **self.__dict__}

    def restore(self, state: Any) -> None:
        """The inverse of `snapshot`."""
        slots = slots_of(type(self))
        for name in slots:
            if name in state:
                setattr(self, name, state[name])
            elif hasattr(self, name):
                delattr(self, name)
        self.__dict__.clear()
        self.__dict__.update({name: value for name, value in state.items() if name not in slots})


def slots_of(kind: type) -> dict[str, Any]:
    """What a class and those that it is made of have in `__slots__`, by their names inside, from its beginning on."""
    return {
        name: slot for each in kind.__mro__ for name, slot in vars(each).items() if type(slot) is MemberDescriptorType
    }


class Batch(Node):
    """Gets all messages of one time at once, when no more can come: `on_batch` is all that it needs.

    Examples
    --------
    >>> from pointstamp import Batch, Dataflow, from_edges
    >>> class Total(Batch):
    ...     def on_batch(self, time, messages, out):
    ...         out.send("total->out", time, sum(messages["in->total"]))
    >>> flow = Dataflow(from_edges([(None, "total"), ("total", None)]), {"total": Total})
    >>> flow.run(sources={"in->total": [(0, 1), (0, 2), (1, 5)]})
    {'total->out': [(0, 3), (1, 5)]}
    """

    replays_alike = True

    def __init__(self) -> None:
        self.waiting: dict[Any, dict[str, list[Any]]] = {}

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        """Keep them until their time is complete."""
        self.waiting.setdefault(time, {}).setdefault(edge, []).extend(values)
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> Any:
        """Hand on all of them; they are kept until that has not failed. Cost: that of copying the lists."""
        messages = {edge: [*values] for edge, values in self.waiting[time].items()}
        result = self.on_batch(time, messages, out)
        if hasattr(result, "__await__"):
            return Following([result], lambda results: self.waiting.pop(time))
        if not is_by_yield(result):  # which is refused
            del self.waiting[time]
        return result

    def give_up(self, time: Any) -> Any:
        """All messages of the time, by edge."""
        return self.waiting.pop(time, None)

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> Any:
        """All messages that came at `time`, by edge, each edge in the order in which they came."""
        raise NotImplementedError(f"{type(self).__name__} has no on_batch")


class Relay(Node):
    """Sends every message on, on every outgoing edge, as the graph's summaries say: a node without code.

    Examples
    --------
    >>> from pointstamp import Dataflow, Relay, from_edges
    >>> graph = from_edges([(None, "later"), ("later", None)], lambda edge: {"advance": 1})
    >>> Dataflow(graph, {"later": Relay}).run(sources={"in->later": [(0, "x")]})
    {'later->out': [(1, 'x')]}
    """

    replays_alike = True

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        """Send all of them on."""
        for leaving in out.edges:
            for after in out.earliest(leaving):
                out.send_all(leaving, after, values)


class Mapped(Node):
    """Sends on what a function makes of each value: one value, or with `flat` each of several.

    The function may be `async def`; then one value is waited for after the other. A value for which it raises has
    failed by itself, and the others have not: they are sent, and are not called again (`actions/by_value.py`).

    Examples
    --------
    >>> from pointstamp import Dataflow, Mapped, from_edges
    >>> flow = Dataflow(from_edges([(None, "words"), ("words", None)]), {"words": Mapped(str.split, flat=True)})
    >>> flow.run(sources={"in->words": [(0, "to be")]})
    {'words->out': [(0, 'to'), (0, 'be')]}
    """

    replays_alike = True

    def __init__(self, function: Callable[[Any], Any], flat: bool = False) -> None:
        self.function = function
        self.flat = flat

    def at(self, time: Any) -> Callable[[Any], Any]:
        """The function for values of this time."""
        return self.function

    def ways(self, out: Out) -> list[tuple[str, Any]]:
        """Where its results leave: each edge with the earliest times there."""
        return [(leaving, after) for leaving in out.edges for after in out.earliest(leaving)]

    def hand_on(self, found: list[Any], ways: list[tuple[str, Any]], out: Out) -> None:
        """Send what was made; the list is nobody's from now on."""
        send = out.hand_over if len(ways) == 1 else out.send_all
        for leaving, after in ways:
            send(leaving, after, found)

    def snapshot(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        return None
