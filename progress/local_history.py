"""Local histories: a node, the events it consumes, and what it does in response (A&I 2.2).

A node is `Initial(p)`, the states and notification requests with which it may start, and `g1(p)`, its one step: from a
state and an event to a state, requests and messages on edges. `after` is g(p), which extends g1 to whole histories.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from progress.purity import Kept, check_state


class Message(NamedTuple):
    """A message m; `time` is time(m).

    Examples
    --------
    >>> from pointstamp import Message
    >>> Message(3, "x").time
    3
    """

    time: Any
    value: Any = None


class Received(NamedTuple):
    """The event (d, m): a message comes in on an edge.

    Examples
    --------
    >>> from pointstamp import Message, Received
    >>> Received("a->b", Message(3, "x")).message.value
    'x'
    """

    edge: str
    message: Message

    @property
    def time(self) -> Any:
        """The time of the event is that of its message."""
        return self.message.time

    def __str__(self) -> str:
        return f"receives {self.message.value!r} at {self.time!r} on {self.edge!r}"


class Notification(NamedTuple):
    """The event t: nothing at or before t can arrive any more."""

    time: Any

    def __str__(self) -> str:
        return f"is notified of {self.time!r}"


Event: TypeAlias = Received | Notification


class NodeBehaviour(Protocol):
    """A node. `step` is a function of its arguments: whatever the node remembers is in the state.

    States are compared by equality. Those that cannot be hashed are copied before each step, so that a step may change
    the one that it is given; those that can be hashed must not be changed. A state that is changed all the same, or
    that is equal to nothing but itself, is refused (`progress.purity`).
    """

    def initial(self) -> Iterable[tuple[Any, Iterable[Any]]]:
        """Initial(p): each state to start in, with the times of which a notification is requested from the start."""

    def step(self, state: Any, event: Event) -> tuple[Any, Iterable[Any], Mapping[str, Iterable[Message]]]:
        """g1(p): the next state, the times newly requested, the messages sent on each edge; no edge need be named."""


class History(NamedTuple):
    """A local history: an initial state with its requests, then the events consumed."""

    state: Any
    requests: frozenset[Any]
    events: tuple[Event, ...] = ()

    def then(self, *events: Event) -> History:
        """This history with more events at its end."""
        return self._replace(events=self.events + events)

    def first(self, events: int) -> History:
        """The part of this history that ends after so many events."""
        return self._replace(events=self.events[:events])

    def __str__(self) -> str:
        asked = f" and requests {', '.join(sorted(map(repr, self.requests)))}" if self.requests else ""
        return "\n".join((f"starts in state {self.state!r}{asked}", *map(str, self.events)))


class Outcome(NamedTuple):
    """The triple that g1 and g give: a state, requests, and messages on edges (those never sent on are left out)."""

    state: Any
    requests: frozenset[Any]
    sent: Mapping[str, tuple[Message, ...]]


def beginnings(node: NodeBehaviour, name: str | None = None) -> list[History]:
    """The local histories without events: Initial(p)."""
    starts = list(node.initial())
    for state, _ in starts:
        check_state(node_name(node, name), state)
    return [History(state, frozenset(requests)) for state, requests in starts]


def step(
    node: NodeBehaviour, state: Any, event: Event, before: Callable[[], History], name: str | None = None
) -> Outcome:
    """g1(p)(state, event). What the node's code raises passes on, with a note that names node, history and event.

    `before` tells the history so far; it is asked for only then.
    """
    try:
        is_fixed = is_hashable(state)
        kept = Kept(state) if is_fixed else None
        then, requests, sent = node.step(state if is_fixed else copy.deepcopy(state), event)
        check_state(node_name(node, name), then)
        if kept is not None:
            kept.check(node_name(node, name))
        lists = {edge: tuple(messages) for edge, messages in sent.items()}
        outcome = Outcome(then, frozenset(requests), {edge: messages for edge, messages in lists.items() if messages})
        for messages in outcome.sent.values():
            for message in messages:
                hash(message.time)
    except Exception as error:
        error.add_note(f"in the node {node_name(node, name)!r}, which\n{before().then(event)}")
        raise
    return outcome


def after(node: NodeBehaviour, history: History, name: str | None = None) -> Outcome:
    """g(p)(h): the state after a history, the requests then pending, and all messages sent, by induction on h.

    A notification of t leaves N - {t} u N' pending, a message N u N'; messages are appended. Cost: one step an event.
    """
    state, pending = history.state, history.requests
    sent: dict[str, list[Message]] = {}
    for position, event in enumerate(history.events):
        outcome = step(node, state, event, partial(history.first, position), name)
        state = outcome.state
        pending = still_pending(pending, event, outcome.requests)
        for edge, messages in outcome.sent.items():
            sent.setdefault(edge, []).extend(messages)
    return Outcome(state, pending, {edge: tuple(messages) for edge, messages in sent.items()})


def still_pending(pending: frozenset[Any], event: Event, requests: frozenset[Any]) -> frozenset[Any]:
    """The requests pending after an event: N - {t} u N' after a notification of t, N u N' after a message."""
    return (pending - {event.time} if isinstance(event, Notification) else pending) | requests


def is_buffer(
    node: NodeBehaviour,
    incoming: Sequence[str],
    outgoing: Sequence[str],
    messages: Mapping[str, Iterable[Message]],
    times: Iterable[Any],
) -> bool:
    """Whether the node only relays between two queues: a buffer node, as far as the samples show.

    One edge e1 in, one edge e2 out, g1(s, t) = (s, {}, nothing) and g1(s, (e1, m)) = (s, {}, e2: m). Such a node never
    leaves its initial states, so these are all that there are to explore. Cost: one step for each of them and event.
    """
    if len(incoming) != 1 or len(outgoing) != 1:
        return False
    arrivals = [Received(incoming[0], message) for message in messages.get(incoming[0], ())]
    events: list[Event] = [*arrivals, *map(Notification, times)]
    for start in beginnings(node):
        for event in events:
            relayed = {outgoing[0]: (event.message,)} if isinstance(event, Received) else {}
            if step(node, start.state, event, start.then) != (start.state, frozenset(), relayed):
                return False
    return True


def node_name(node: NodeBehaviour, name: str | None) -> str:
    """What to call a node: the name it was given, or its class."""
    return type(node).__name__ if name is None else name


def is_hashable(value: Any) -> bool:
    """Whether the value can be hashed, a tuple with all that is in it."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def frozen(value: Any) -> Hashable:
    """Something that can be hashed and is equal for equal values."""
    if is_hashable(value):
        return cast(Hashable, value)
    if isinstance(value, Mapping):
        return frozenset((key, frozen(item)) for key, item in value.items())
    if isinstance(value, Set):
        return frozenset(value)
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else None
