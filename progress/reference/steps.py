"""The law of steps word for word (A&I 4.2), whatever decides what Clock contains: both references of sessions have it.

A session begins with open inputs and pending requests and goes on by steps. A step is taken whole or refused whole,
with the codes of all that is wrong with it; whoever refuses it for one of them is right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Pointstamp = tuple[str, Any]  # a location and a time
Holder = tuple[Pointstamp, str]  # what is outstanding, and its kind: "input", "message" or "request"
Codes = frozenset[str]  # of a refusal: each of them is right; empty where the step is legal

FORM, NO_PLACE, NO_TIME, WRONG_PLACE, BELOW_ZERO = "PS501", "PS502", "PS503", "PS504", "PS505"
OUTSIDE, NOT_REQUESTED, NOT_ELIGIBLE, MOVES_BACK = "PS506", "PS507", "PS508", "PS509"


class Steps(ABC):
    """The state of a system: open inputs, queued messages, pending requests, and which of these were announced.

    An input that is not named opens at the least times of its edge.
    """

    def __init__(self, graph: Any, inputs: Mapping[str, Sequence[Any]] | None, requests: Iterable[Pointstamp]) -> None:
        self.graph = graph
        given = inputs or {}
        self.inputs: dict[str, Sequence[Any]] = {
            edge: self.minimal(edge, given.get(edge, self.least(edge)))
            for edge in graph.edges
            if graph.source[edge] is None
        }
        self.messages: dict[Pointstamp, int] = {}  # how many are queued; never 0
        self.requests: dict[Pointstamp, None] = dict.fromkeys(requests)  # asking twice is asking once
        self.announced: set[Pointstamp] = set()

    @abstractmethod
    def least(self, edge: str) -> Iterable[Any]:
        """The least times there."""

    @abstractmethod
    def minimal(self, location: str, times: Iterable[Any]) -> Sequence[Any]:
        """The times that none of the others is before."""

    @abstractmethod
    def is_before(self, location: str, one: Any, other: Any) -> bool:
        """Whether one time there is at or before another."""

    @abstractmethod
    def contains(self, location: str, time: Any) -> bool:
        """Whether the value is a time there."""

    @abstractmethod
    def in_clock(self, location: str, time: Any) -> bool:
        """Whether the Clock contains the pointstamp."""

    def codes_of(self, time: Any) -> set[str]:
        """What is wrong with a value that is not a time."""
        return {NO_TIME}

    def outstanding(self) -> list[Holder]:
        """Every pointstamp in whose Close-up the Clock consists."""
        opened = [((edge, time), "input") for edge, times in self.inputs.items() for time in times]
        queued = [(message, "message") for message in self.messages]
        return [*opened, *queued, *((request, "request") for request in self.requests)]

    def complete(self, location: str, time: Any) -> bool:
        """Of an edge, whether its pointstamp is not in the Clock; of a node, whether that is so of every incoming edge,
        back edges included: nothing at or below the time will arrive there any more."""
        return not any(self.in_clock(edge, time) for edge in self.graph.incoming.get(location, [location]))

    def eligible(self) -> list[Pointstamp]:
        """The pending requests (p, t) such that for no incoming edge e of p, (e, t) is in the Clock (A&I 4.2, Not)."""
        return [request for request in self.requests if self.complete(*request)]

    def newly_ready(self) -> list[Pointstamp]:
        """The eligible requests that this has not listed before in their life, which begins when they are requested and
        ends when they are delivered; in the order of `eligible`."""
        found = [request for request in self.eligible() if request not in self.announced]
        self.announced.update(found)
        return found

    def step(self, inputs: Any = None, messages: Any = (), requests: Any = (), delivered: Any = ()) -> Codes:
        """Take the step whole and answer nothing, or leave everything as it is and answer what forbids it.

        `inputs`: {edge: times}, `messages`: (edge, time, change), `requests` and `delivered`: (node, time). Everything
        is judged by the state before the step; of the messages on one edge at one time the sum counts. So the Clock
        only shrinks, and what is eligible remains so.
        """
        inputs = {} if inputs is None else inputs
        codes = set(_bad_form(inputs, messages, requests, delivered))
        if not codes:
            for edge, times in inputs.items():
                for time in times:
                    codes |= self._bad_place(edge, time, "input")
                codes |= self._bad_place(edge, None, "input") - {NO_TIME}
            for edge, time, _ in messages:
                codes |= self._bad_place(edge, time, "edge")
            for node, time in (*requests, *delivered):
                codes |= self._bad_place(node, time, "node")
            codes |= self._illegal(inputs, messages, requests, delivered)
        if codes:
            return frozenset(codes)

        for edge, time, change in messages:
            self.messages[edge, time] = self.messages.get((edge, time), 0) + change
        self.messages = {message: count for message, count in self.messages.items() if count}
        for request in delivered:
            del self.requests[request]
            self.announced.discard(request)
        self.requests |= dict.fromkeys(requests)  # one that was delivered in this step lives anew
        self.inputs |= {edge: self.minimal(edge, times) for edge, times in inputs.items()}
        return frozenset()

    def _bad_place(self, location: Any, time: Any, kind: str) -> set[str]:
        """What is wrong with naming this location and time where a node, an edge or an input edge is meant."""
        graph = self.graph
        if not isinstance(location, str) or location not in graph.locations:
            return {NO_PLACE} if isinstance(location, str) else {NO_PLACE, FORM}
        codes = set()
        allowed = graph.nodes if kind == "node" else graph.edges if kind == "edge" else list(self.inputs)
        if location not in allowed:
            codes.add(WRONG_PLACE)
        return codes if self.contains(location, time) else codes | self.codes_of(time)

    def _illegal(self, inputs: Any, messages: Any, requests: Any, delivered: Any) -> set[str]:
        """The laws of a step, each for the items that name a place and a time there."""
        codes = set()
        changes: dict[Pointstamp, int] = {}
        for edge, time, change in messages:
            if not self._bad_place(edge, time, "edge"):
                changes[edge, time] = changes.get((edge, time), 0) + change
        for message, change in changes.items():
            if self.messages.get(message, 0) + change < 0:
                codes.add(BELOW_ZERO)
            if change > 0 and not self.in_clock(*message):
                codes.add(OUTSIDE)
        for node, time in requests:
            if not self._bad_place(node, time, "node") and not self.in_clock(node, time):
                codes.add(OUTSIDE)
        named = [(node, time) for node, time in delivered if not self._bad_place(node, time, "node")]
        for position, request in enumerate(named):
            if request not in self.requests or request in named[:position]:
                codes.add(NOT_REQUESTED)
            elif not self.complete(*request):
                codes.add(NOT_ELIGIBLE)
        for edge, times in inputs.items():
            for time in times:
                legal = not self._bad_place(edge, time, "input")
                if legal and not any(self.is_before(edge, old, time) for old in self.inputs[edge]):
                    codes.add(MOVES_BACK)
        return codes

    def refusals_of_start(self, inputs: Mapping[Any, Any], requests: Iterable[Any]) -> Codes:
        """Why no session can begin like this; a start is unrestricted as long as it names inputs, nodes and times.

        Asked of a session with all inputs at all, none of them open.
        """
        codes: set[str] = set()
        for edge, times in inputs.items():
            codes |= self._bad_place(edge, None, "input") - {NO_TIME}
            for time in times:
                codes |= self._bad_place(edge, time, "input")
        for node, time in requests:
            codes |= self._bad_place(node, time, "node")
        return frozenset(codes)


def _bad_form(inputs: Any, messages: Any, requests: Any, delivered: Any) -> Codes:
    """A step is a mapping to lists of times, triples with a whole number, and pairs."""
    good = (
        isinstance(inputs, dict)
        and all(isinstance(times, list | tuple) for times in inputs.values())
        and all(isinstance(items, list | tuple) for items in (messages, requests, delivered))
        and all(isinstance(item, list | tuple) and len(item) == 3 and type(item[2]) is int for item in messages)
        and all(isinstance(item, list | tuple) and len(item) == 2 for item in (*requests, *delivered))
    )
    return frozenset() if good else frozenset({FORM})
