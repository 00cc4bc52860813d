"""Small systems whose every state is visited by the tests of `progress.semantics`, each simple enough to do by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphs import Graph
from progress.local_history import Event, Message, NodeBehaviour, Notification, Received
from progress.semantics.system import System
from tests.questions.local_histories import FunctionNode

Given = Mapping[str, Sequence[Message]] | None


def messages(*times: Any) -> list[Message]:
    """Messages without values."""
    return [Message(time) for time in times]


def relay(*edges: str) -> FunctionNode:
    """Passes each message on, on all of these edges, at the same time."""

    def respond(state: Any, event: Event) -> Any:
        return state, [], {edge: [event.message] for edge in edges} if isinstance(event, Received) else {}

    return FunctionNode(respond, [(None, ())])


def waiter(edge: str) -> FunctionNode:
    """Asks for the time of each message; when it is notified, sends one message at that time."""

    def respond(state: Any, event: Event) -> Any:
        return (state, [event.time], {}) if isinstance(event, Received) else (state, [], {edge: [Message(event.time)]})

    return FunctionNode(respond, [(None, ())])


def one_node(
    queued: Given = None, arrivals: Given = None, time: Any = None, node: NodeBehaviour | None = None
) -> System:
    """in -> p -> out."""
    graph = Graph(time=time).node("p").edge(None, "p", "in").edge("p", None, "out")
    return System(graph, {"p": node or relay("out")}, queued or {}, arrivals)


def chain(queued: Given = None, arrivals: Given = None) -> System:
    """in -> a -> mid -> b -> out: a relays, b waits until a time is complete."""
    graph = Graph().node("a").node("b").edge(None, "a", "in").edge("a", "b", "mid").edge("b", None, "out")
    return System(graph, {"a": relay("mid"), "b": waiter("out")}, queued or {}, arrivals)


def join(queued: Given = None, arrivals: Given = None) -> System:
    """left and right -> meet -> out: meet counts what comes, and tells the count when the time is complete."""

    def respond(state: tuple[Any, ...], event: Event) -> Any:
        if isinstance(event, Received):
            return tuple(sorted((*state, event.time))), [event.time], {}
        rest = tuple(time for time in state if time != event.time)
        return rest, [], {"out": [Message(event.time, len(state) - len(rest))]}

    graph = Graph().node("meet").edge(None, "meet", "left").edge(None, "meet", "right").edge("meet", None, "out")
    return System(graph, {"meet": FunctionNode(respond, [((), ())])}, queued or {}, arrivals)


def rounds(most: int, step: int = 1) -> FunctionNode:
    """The body of a loop: sends what is not beyond the last round once more around, and waits until it is complete."""

    def respond(state: Any, event: Event) -> Any:
        if isinstance(event, Notification):
            return state, [], {"result": [Message(event.time)]}
        goes_on = event.time < most if step > 0 else event.time > most
        return state, [event.time], {"out": [event.message]} if goes_on else {}

    return FunctionNode(respond, [(None, ())])


def later(edge: str, amount: int) -> FunctionNode:
    """Passes each message on, so much later."""

    def respond(state: Any, event: Event) -> Any:
        return state, [], {edge: [Message(event.time + amount)]} if isinstance(event, Received) else {}

    return FunctionNode(respond, [(None, ())])


def loop(queued: Given = None, arrivals: Given = None, most: int = 2, step: int = 1) -> System:
    """input -> body -> out -> feedback -> back -> body -> result. With a step of -1 it breaks Condition 2."""
    graph = Graph().node("body").node("feedback", summary={"advance": step}, notify=False)
    graph.edge(None, "body", "input").edge("body", "feedback", "out").edge("feedback", "body", "back")
    graph.edge("body", None, "result")
    return System(graph, {"body": rounds(most, step), "feedback": later("back", step)}, queued or {}, arrivals)


def hasty(queued: Given = None, arrivals: Given = None) -> System:
    """in -> p -> out, where p breaks Condition 1: it asks for the time before that of its message."""

    def respond(state: Any, event: Event) -> Any:
        if isinstance(event, Received):
            return state, [max(event.time - 1, 0)], {}
        return state, [], {"out": [Message(event.time)]}

    return one_node(queued, arrivals, node=FunctionNode(respond, [(None, ())]))


def nested(queued: Given = None, order: str = "lex", inner: int = 1) -> System:
    """A loop in a loop: times (round of the outer loop, round of the inner loop); order lex, or product, which breaks
    Condition 2 by bringing the inner round back to 0."""
    graph = Graph(time={order: ["nat", "nat"]}).node("body")
    graph.node("inner", summary="feedback", notify=False)
    reset = {"then": ["leave", {"advance": 1}, "enter"]}
    graph.node("outer", summary=reset, notify=False)
    graph.edge(None, "body", "in").edge("body", "inner", "on").edge("inner", "body", "again")
    graph.edge("body", "outer", "over").edge("outer", "body", "anew").edge("body", None, "result")

    def respond(state: Any, event: Event) -> Any:
        outer, round_ = event.time
        if isinstance(event, Notification):
            return state, [], {"result": [Message(event.time)]}
        if round_ < inner:
            return state, [event.time], {"on": [event.message]}
        return state, [event.time], {"over": [event.message]} if outer < 1 else {}

    def go_on(state: Any, event: Event) -> Any:
        outer, round_ = event.time
        return state, [], {"again": [Message((outer, round_ + 1))]} if isinstance(event, Received) else {}

    def begin_anew(state: Any, event: Event) -> Any:
        return state, [], {"anew": [Message((event.time[0] + 1, 0))]} if isinstance(event, Received) else {}

    starts = [(None, ())]
    nodes = {
        "body": FunctionNode(respond, starts),
        "inner": FunctionNode(go_on, starts),
        "outer": FunctionNode(begin_anew, starts),
    }
    return System(graph, nodes, queued or {})


def producer(queued: Given = None, arrivals: Given = None) -> System:
    """The first half of `chain`: in -> a -> mid."""
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "mid")
    return System(graph, {"a": relay("mid")}, queued or {}, arrivals)


def consumer() -> System:
    """The second half of `chain`: mid -> b -> out."""
    graph = Graph().node("b").edge(None, "b", "mid").edge("b", None, "out")
    return System(graph, {"b": waiter("out")})


def loop_body(queued: Given = None, arrivals: Given = None, most: int = 2) -> System:
    """The one half of `loop`: input and back -> body -> out and result."""
    graph = Graph().node("body").edge(None, "body", "input").edge("body", None, "out").edge(None, "body", "back")
    graph.edge("body", None, "result")
    return System(graph, {"body": rounds(most)}, queued or {}, arrivals)


def loop_feedback(step: int = 1) -> System:
    """The other half of `loop`: out -> feedback -> back."""
    graph = Graph().node("feedback", summary={"advance": step}, notify=False)
    graph.edge(None, "feedback", "out").edge("feedback", None, "back")
    return System(graph, {"feedback": later("back", step)})
