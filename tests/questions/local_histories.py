"""Nodes for tests, and Definitions 1 and 3 to the letter: all local histories, one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphs.files.notation import read_summary
from graphs.graph import bind
from progress import Domain, Nat
from progress.local_history import Event, History, Message, NodeBehaviour, Notification, Received, after, beginnings
from progress.summary import Summary


class FunctionNode:
    """A node whose g1 is a function."""

    def __init__(
        self, respond: Callable[[Any, Event], Any], starts: Sequence[tuple[Any, Iterable[Any]]] = ((0, ()),)
    ) -> None:
        self.respond = respond
        self.starts = starts

    def initial(self) -> Sequence[tuple[Any, Iterable[Any]]]:
        """Initial(p)."""
        return self.starts

    def step(self, state: Any, event: Event) -> Any:
        """g1(p)."""
        return self.respond(state, event)


A0, B0, C0 = Message(0, "a"), Message(0, "b"), Message(0, "c")
NAT = Nat()


def summary(notation: Any, source: Domain = NAT, target: Domain = NAT) -> Summary:
    """A summary from its notation."""
    return bind(read_summary(notation), source, target)


def received(time: Any, value: Any = None, edge: str = "in") -> Received:
    """The event of a message."""
    return Received(edge, Message(time, value))


def relay(state: Any, event: Event) -> Any:
    """g1 of a buffer node."""
    return state, [], {"out": [event.message]} if isinstance(event, Received) else {}


class Counter:
    """Counts messages; tells the count one time later."""

    def initial(self) -> list[tuple[int, list[int]]]:
        return [(0, [])]

    def step(self, state: int, event: Event) -> tuple[int, list[int], dict[str, list[Message]]]:
        if isinstance(event, Notification):
            return state, [], {}
        return min(state + 1, 3), [], {"out": [Message(event.time + 1, state)]}


class Liar(Counter):
    """As `Counter`, but a third message "c" is answered at once."""

    def step(self, state: int, event: Event) -> tuple[int, list[int], dict[str, list[Message]]]:
        if state == 2 and isinstance(event, Received) and event.message.value == "c":
            return 3, [], {"out": [Message(event.time, "now")]}
        return super().step(state, event)


class Total:
    """The specification's example: adds what comes for a time, asks for that time, sends when it is complete."""

    def initial(self) -> list[tuple[dict[Any, int], list[Any]]]:
        return [({}, [])]

    def step(self, state: dict[Any, int], event: Event) -> tuple[dict[Any, int], list[Any], dict[str, list[Message]]]:
        if isinstance(event, Received):
            state[event.time] = state.get(event.time, 0) + event.message.value  # the state is this step's own
            return state, [event.time], {}
        return state, [], {"totals": [Message(event.time, state.pop(event.time))]}


def random_node(seed: int) -> tuple[FunctionNode, dict[str, list[Message]], list[int]]:
    """A node of up to four states that does something arbitrary in each, with sample messages and times."""
    rng = random.Random(seed)
    states, times = range(rng.randint(1, 4)), list(range(rng.randint(1, 3)))
    messages = {edge: [Message(rng.choice(times), edge) for _ in range(rng.randint(0, 2))] for edge in ("a", "b")}

    def some(most: int) -> list[int]:
        return [rng.randrange(4) for _ in range(rng.randint(0, most))]

    table: dict[tuple[int, Event], Any] = {}

    def respond(state: int, event: Event) -> Any:
        if (state, event) not in table:
            sent = {edge: [Message(time) for time in some(1)] for edge in ("x", "y")}
            table[state, event] = (rng.choice(states), some(2) if rng.random() < 0.5 else [], sent)
        return table[state, event]

    starts = [(rng.choice(states), some(1)) for _ in range(rng.choice([1, 1, 2]))]
    return FunctionNode(respond, starts), messages, times


def by_definition(
    node: NodeBehaviour,
    messages: Mapping[str, Iterable[Message]],
    times: Iterable[int] | None,
    depth: int,
    late: bool = True,
) -> tuple[dict[tuple[Any, str, Any], int], dict[tuple[Any, Any], int]]:
    """Definitions 1 and 3 over all histories h and events x of together at most `depth` events.

    Each found with the number of events of a shortest h that shows it. Without `times`, only pending ones are notified.
    Without `late`, no message for t is to the right of a notification for t.
    """
    one_step: dict[tuple[Any, str, Any], int] = {}
    requests: dict[tuple[Any, Any], int] = {}
    for history, event in _histories(node, messages, times, depth):
        if not late and _is_late((*history.events, event)):
            continue
        state, pending, _ = after(node, history)
        _, requested, sent = node.step(state, event)
        length = len(history.events)
        for edge, several in sent.items():
            for message in several:
                key = (event.time, edge, message.time)
                one_step[key] = min(length, one_step.get(key, length))
        for time in set(requested) - pending:
            pair = (event.time, time)
            requests[pair] = min(length, requests.get(pair, length))
    return one_step, requests


def _is_late(events: tuple[Event, ...]) -> bool:
    """Whether some message comes at a time after a notification of it."""
    return any(
        isinstance(event, Received) and Notification(event.time) in events[:place] for place, event in enumerate(events)
    )


def _histories(
    node: NodeBehaviour, messages: Mapping[str, Iterable[Message]], times: Iterable[int] | None, depth: int
) -> Iterator[tuple[History, Event]]:
    pending = beginnings(node)
    while pending:
        history = pending.pop()
        if len(history.events) == depth:
            continue
        events: list[Event] = [Received(edge, message) for edge, several in messages.items() for message in several]
        events.extend(map(Notification, after(node, history).requests if times is None else times))
        for event in events:
            yield history, event
            pending.append(history.then(event))
