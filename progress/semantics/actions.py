"""The four actions of A&I 4.2: `mess`, `notify` (Not), `inp`, `outp`, each as the states to which it may lead.

Each yields pairs of a label, which says what happened and reads well, and the state after it. The labels are named as
in the paper: `Mess`, `Not`, `Inp`, `Outp`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from progress.local_history import Event, Message, Notification, Received, still_pending
from progress.semantics.clocks import Clock
from progress.semantics.queues import minus, takeable, with_one_less, with_one_more, without
from progress.semantics.state import Queue, State, shown
from progress.semantics.system import Reaction, System

Sent: TypeAlias = tuple[tuple[str, Queue], ...]
Located: TypeAlias = tuple[str, Message]


class Mess(NamedTuple):
    """A node receives a message, the head of its queue; with reordering, a minimal element of it.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> action, after = explore(Specification(system, Variant(inputs=Inputs.FORBIDDEN))).path(1).steps[0]
    >>> print(action)
    Mess: a takes 0 from in->a, sends 0 on a->out
    >>> action.event
    Received(edge='in->a', message=Message(time=0, value=None))
    """

    node: str
    edge: str
    message: Message
    requested: frozenset[Any] = frozenset()
    sent: Sent = ()

    @property
    def event(self) -> Event:
        """What the node consumed."""
        return Received(self.edge, self.message)

    def __str__(self) -> str:
        return f"Mess: {self.node} takes {shown([self.message])} from {self.edge}{_effects(self.requested, self.sent)}"


class Not(NamedTuple):
    """A node receives a notification for which it has asked, and no incoming edge has its time in Clock.

    Examples
    --------
    >>> from progress.semantics import Not
    >>> print(Not("a", 3, sent=()))
    Not: a is notified of 3
    """

    node: str
    time: Any
    requested: frozenset[Any] = frozenset()
    sent: Sent = ()

    @property
    def event(self) -> Event:
        """What the node consumed."""
        return Notification(self.time)

    def __str__(self) -> str:
        return f"Not: {self.node} is notified of {self.time!r}{_effects(self.requested, self.sent)}"


class Inp(NamedTuple):
    """The outside puts messages on input edges, anywhere in the queues.

    Examples
    --------
    >>> from pointstamp import Message
    >>> from progress.semantics import Inp
    >>> print(Inp((("in->a", Message(3)),)))
    Inp: 3 comes in on in->a
    """

    arrived: tuple[Located, ...]

    def __str__(self) -> str:
        return "Inp: " + ", ".join(f"{shown([message])} comes in on {edge}" for edge, message in self.arrived)


class Outp(NamedTuple):
    """The outside takes messages from output edges, from anywhere in the queues.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> print(explore(Specification(system, Variant(inputs=Inputs.FORBIDDEN))).path(2).steps[-1][0])
    Outp: 0 leaves from a->out
    """

    left: tuple[Located, ...]

    def __str__(self) -> str:
        return "Outp: " + ", ".join(f"{shown([message])} leaves from {edge}" for edge, message in self.left)


Action: TypeAlias = Mess | Not | Inp | Outp
Steps: TypeAlias = Iterator[tuple[Action, State]]


def mess(system: System, state: State, reordering: bool = False) -> Steps:
    """Mess: for every node, every incoming edge and every message there that may be taken."""
    network = system.network()
    for node, name in enumerate(state.names.nodes):
        for edge in network.incoming[node]:
            queue = state.queues[edge]
            for place in takeable(queue, network.edge_domains[edge], reordering):
                event = Received(state.names.edges[edge], queue[place])
                reaction = system.react(node, state.local[node], event)
                after = _consumed(state, node, event, reaction, {edge: without(queue, place)})
                yield Mess(name, *event, reaction.requested, _named(state, reaction)), after


def notify(system: System, state: State, clock: Clock) -> Steps:
    """Not: for every node p and every pending t such that (e, t) is in Clock for no edge e that leads to p."""
    network = system.network()
    for node, name in enumerate(state.names.nodes):
        for time in sorted(state.requests[node], key=network.domains[node].sort_key):
            if not any((state.names.edges[edge], time) in clock for edge in network.incoming[node]):
                event = Notification(time)
                reaction = system.react(node, state.local[node], event)
                after = _consumed(state, node, event, reaction, {})
                yield Not(name, time, reaction.requested, _named(state, reaction)), after


def inp(system: System, state: State, at_once: int | None = 1) -> Steps:
    """Inp: on every input edge i, Q(i) is a subsequence of Q'(i). Each time `at_once` messages more, or fewer.

    None: any number. One suffices for what can be reached: what several bring can be brought one after the other, and
    where `Clock' <= Clock` holds of all together it does of each, since Clock is monotone.
    """

    def one(changed: State) -> Iterator[tuple[Located, State]]:
        for edge in system.inputs:
            for message in dict.fromkeys(changed.coming[edge]):
                coming = list(changed.coming)
                coming[edge] = minus(coming[edge], message)
                for queue in with_one_more(changed.queues[edge], message):
                    yield (state.names.edges[edge], message), changed.with_queues({edge: queue}, tuple(coming))

    for changes, after in _repeated(state, one, at_once):
        yield Inp(changes), after


def outp(system: System, state: State, at_once: int | None = 1) -> Steps:
    """Outp: on every output edge o, Q'(o) is a subsequence of Q(o). As for `inp`, one message at a time suffices."""

    def one(changed: State) -> Iterator[tuple[Located, State]]:
        for edge in system.outputs:
            for message, queue in with_one_less(changed.queues[edge]):
                yield (state.names.edges[edge], message), changed.with_queues({edge: queue})

    for changes, after in _repeated(state, one, at_once):
        yield Outp(changes), after


def _repeated(
    state: State, one: Callable[[State], Iterable[tuple[Located, State]]], most: int | None
) -> Iterator[tuple[tuple[Located, ...], State]]:
    """What can be reached by up to so many changes, each state once, nearer ones first."""
    seen = {state}
    level: list[tuple[tuple[Located, ...], State]] = [((), state)]
    while level and (most is None or most > 0):
        most = None if most is None else most - 1
        following = []
        for changes, changed in level:
            for change, after in one(changed):
                if after not in seen:
                    seen.add(after)
                    following.append(((*changes, change), after))
        yield from following
        level = following


def _consumed(state: State, node: int, event: Event, reaction: Reaction, changed: dict[int, Queue]) -> State:
    """Mess2 and Not2: the node's new state and requests, and what it sent at the end of the queues; the rest as is."""
    queues = list(state.queues)
    for edge, queue in changed.items():
        queues[edge] = queue
    for edge, queue in reaction.sent:
        queues[edge] += queue
    local, requests = list(state.local), list(state.requests)
    local[node] = reaction.local
    requests[node] = still_pending(requests[node], event, reaction.requested)
    return State(state.names, tuple(queues), tuple(local), tuple(requests), state.coming)


def _named(state: State, reaction: Reaction) -> Sent:
    return tuple((state.names.edges[edge], queue) for edge, queue in reaction.sent)


def _effects(requested: frozenset[Any], sent: Sent) -> str:
    said = [f"sends {shown(queue)} on {edge}" for edge, queue in sent]
    said += [f"asks for {time!r}" for time in sorted(requested, key=repr)]
    return ", " + ", ".join(said) if said else ""
