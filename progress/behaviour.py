"""From node code to the relation: Definitions 1 and 3 as a node's own code shows them (A&I 3.1, 3.2).

`explore` runs a node's local histories (`progress.local_history`) over sample messages and times and answers which
times led to which; `progress.escape` compares that to what a graph declares. What is found is a fact. What is not found
is true of the samples, and only where the exploration was complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from progress.local_history import (
    Event,
    History,
    Message,
    NodeBehaviour,
    Notification,
    Outcome,
    Received,
    beginnings,
    frozen,
    node_name,
    step,
    still_pending,
)
from progress.order import Domain
from progress.purity import alike

MOST_HISTORIES = 20_000


class Extent(Enum):
    """How much of a node an exploration has seen."""

    ALL = "complete"
    DEPTH = "not complete: there are longer histories than were asked for"
    HISTORIES = "not complete: there are more histories than the budget allows"


class Evidence:
    """What shows a pair of a relation: a history h, and the event x that the node consumes after it."""

    __slots__ = ("_reached", "event")

    def __init__(self, reached: _Reached, event: Event) -> None:
        self._reached = reached
        self.event = event

    def __repr__(self) -> str:
        return f"Evidence({self.history!r}, {self.event!r})"

    @property
    def history(self) -> History:
        """The history, read off when asked for. Cost: O(length)."""
        return self._reached.history()


class Observed(NamedTuple):
    """What an exploration found, each with a shortest evidence; what needs shorter ones comes first.

    `one_step` is Definition 1: each (t, d, t') with (p, t) ~>1 (d, t').

    `requests` is the base of Definition 3: each (t, t') where an event at exactly t triggers a request at exactly t'
    that was not pending before (an element of N - N1). The definition closes this downwards in t and upwards in t':
    (p, t) ~>N (p, t') when t <= b and r <= t' for some base pair (b, r), as `may_request` decides. Condition 1 holds of
    all such pairs when it holds of the base, since then t <= b <= r <= t'.

    `complete`: no history was left out, but those that go on from a state that is known from another one; `extent` says
    what was. `histories` were run, those without events included; they reached so many different `states`. `impure` is
    a step that did something else when it was made again: then nothing that was found is worth much.
    """

    node: str
    one_step: dict[tuple[Any, str, Any], Evidence]
    requests: dict[tuple[Any, Any], Evidence]
    complete: bool
    histories: int
    states: int
    extent: Extent = Extent.ALL
    impure: Evidence | None = None

    def may_request(self, domain: Domain, time: Any, requested: Any) -> bool:
        """Definition 3: (p, time) ~>N (p, requested). Cost: O(requests)."""
        below = domain.less_equal
        return any(below(time, event) and below(asked, requested) for event, asked in self.requests)


def explore(
    node: NodeBehaviour,
    messages: Mapping[str, Iterable[Message]],
    times: Iterable[Any] | None = None,
    depth: int | None = None,
    most_histories: int = MOST_HISTORIES,
    name: str | None = None,
    late: bool = True,
) -> Observed:
    """Run the local histories over these messages on the incoming edges, and notifications of these times.

    As in the paper, a notification of any of the `times` may come, asked for or not. Without `times` only those come
    that are pending: one of the two restrictions that A&I 2.2 mention, for nodes whose code relies on it. `late=False`
    is the other: no message at t comes after a notification of t.

    Breadth first, histories of at most `depth` events. A state that several histories reach is continued once: of two
    histories to one state, the one with fewer requests pending shows all that the other does (Definition 3 subtracts
    what is pending), so only minimal sets of pending requests are kept; without `times`, all that differ.

    All steps are made once more in the end, to see whether they do the same.

    Cost: at most `most_histories` steps of the node, each twice. Finding a state again takes O(1), but O(states) for
    states of a class of your own that cannot be hashed.

    Returns
    -------
    What was seen: what each history leads to, and whether all were looked at.

    Examples
    --------
    >>> from progress.behaviour import explore
    >>> from pointstamp import Message
    >>> class Echo:
    ...     def initial(self):
    ...         return [(None, ())]
    ...
    ...     def step(self, state, event):
    ...         return state, (), {"out": [event.message]}
    >>> explore(Echo(), {"in": [Message(3)]}).complete
    True
    """
    return _Exploration(messages, times, late, node_name(node, name)).run(node, depth, most_histories)


class _Reached(NamedTuple):
    """A state with its pending requests, and the step that reached it.

    `over` are the times of sample messages of which the node was notified, where none may come late.
    """

    state: Any
    pending: frozenset[Any]
    over: frozenset[Any] = frozenset()
    length: int = 0
    before: _Reached | None = None
    event: Event | None = None

    def history(self) -> History:
        """The history that leads here, read backwards. Cost: O(length)."""
        events: list[Event] = []
        here = self
        while here.before is not None and here.event is not None:
            events.append(here.event)
            here = here.before
        return History(here.state, here.pending, tuple(reversed(events)))


class _Exploration:
    """One run of `explore`."""

    def __init__(
        self, messages: Mapping[str, Iterable[Message]], times: Iterable[Any] | None, late: bool, name: str
    ) -> None:
        self.name = name
        self.only_pending = times is None
        self.events: list[Event] = [Received(edge, each) for edge, several in messages.items() for each in several]
        self.watched = frozenset() if late else frozenset(event.time for event in self.events)
        self.events.extend(map(Notification, times or ()))
        self.one_step: dict[tuple[Any, str, Any], Evidence] = {}
        self.requests: dict[tuple[Any, Any], Evidence] = {}
        self.states = 0
        self.known: dict[Hashable, list[tuple[Any, list[tuple[frozenset[Any], frozenset[Any]]]]]] = {}
        self.made: list[tuple[_Reached, Event, Outcome]] = []

    def run(self, node: NodeBehaviour, depth: int | None, most_histories: int) -> Observed:
        """Breadth first, so that what is found first is found by a shortest history."""
        starts = [_Reached(start.state, start.requests) for start in beginnings(node, self.name)]
        queue = deque(start for start in starts if self.is_new(start))
        extent = self.search(node, queue, depth, most_histories - len(starts))
        histories = len(starts) + len(self.made)
        found = self.one_step, self.requests, extent is Extent.ALL, histories, self.states
        return Observed(self.name, *found, extent, self.impure(node))

    def search(self, node: NodeBehaviour, queue: deque[_Reached], depth: int | None, most: int) -> Extent:
        """Make every step from what waits and from what that reaches."""
        while queue:
            here = queue.popleft()
            for event in self.events_at(here):
                if here.length == depth:
                    return Extent.DEPTH
                if len(self.made) >= most:
                    return Extent.HISTORIES
                outcome = step(node, here.state, event, here.history, self.name)
                self.made.append((here, event, outcome))
                self.note(here, event, outcome)
                pending = still_pending(here.pending, event, outcome.requests)
                is_over = isinstance(event, Notification) and event.time in self.watched
                over = here.over | {event.time} if is_over else here.over
                reached = _Reached(outcome.state, pending, over, here.length + 1, here, event)
                if self.is_new(reached):
                    queue.append(reached)
        return Extent.ALL

    def impure(self, node: NodeBehaviour) -> Evidence | None:
        """The first step that does something else when it is made again, or fails."""
        for here, event, outcome in self.made:
            try:
                again = step(node, here.state, event, here.history, self.name)
            except Exception:
                return Evidence(here, event)
            if not alike(outcome, again):
                return Evidence(here, event)
        return None

    def events_at(self, here: _Reached) -> Iterable[Event]:
        """The events that may come next."""
        events = self.events
        if here.over:
            events = [event for event in events if isinstance(event, Notification) or event.time not in here.over]
        return [*events, *map(Notification, _in_order(here.pending))] if self.only_pending else events

    def is_new(self, reached: _Reached) -> bool:
        """Whether nothing known shows all that this state will; it is remembered."""
        bucket = self.known.setdefault(frozen(reached.state), [])
        for state, sets in bucket:
            if state is reached.state or state == reached.state:
                if any(self.shows(known, over, reached) for known, over in sets):
                    return False
                sets.append((reached.pending, reached.over))
                return True
        self.states += 1
        bucket.append((reached.state, [(reached.pending, reached.over)]))
        return True

    def shows(self, pending: frozenset[Any], over: frozenset[Any], reached: _Reached) -> bool:
        """Whether a state with these shows all that the same state with those of `reached` does."""
        is_less = pending == reached.pending if self.only_pending else pending <= reached.pending
        return is_less and over <= reached.over

    def note(self, here: _Reached, event: Event, outcome: Outcome) -> None:
        """Keep what one step shows that was not known."""
        for edge, messages in outcome.sent.items():
            for message in messages:
                if (event.time, edge, message.time) not in self.one_step:
                    self.one_step[event.time, edge, message.time] = Evidence(here, event)
        for requested in _in_order(outcome.requests - here.pending):
            if (event.time, requested) not in self.requests:
                self.requests[event.time, requested] = Evidence(here, event)


def _in_order(times: Iterable[Any]) -> list[Any]:
    """Always the same order, so that a run can be repeated."""
    return sorted(times, key=repr)
