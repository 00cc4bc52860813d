"""A running system word for word (A&I 4.2): the oracle of every engine that keeps a Clock through a session.

Slow and obvious, and independent of all it judges: it imports nothing of the project but the two halves of the
reference. A session begins with open inputs and pending requests and goes on by steps. A step is taken whole or refused
whole, with the codes of all that is wrong with it; whoever refuses it for one of them is right.

The one liberty is a cache: Close-up of many pointstamps is the union of the Close-ups of each, because every step of
Definition 2 starts at a single pointstamp. Sessions over one graph may share it.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from progress.reference import Frontiers, Graph, Pointstamp, close, is_in
from progress.reference.times import Times, contains, least, less_equal, minimal

Holder = tuple[Pointstamp, str]  # what is outstanding, and its kind: "input", "message" or "request"
Codes = frozenset[str]  # of a refusal: each of them is right; empty where the step is legal

FORM, NO_PLACE, NO_TIME, WRONG_PLACE, BELOW_ZERO = "PS501", "PS502", "PS503", "PS504", "PS505"
OUTSIDE, NOT_REQUESTED, NOT_ELIGIBLE, MOVES_BACK = "PS506", "PS507", "PS508", "PS509"


class Closures:
    """Close-up (A&I 3.3) of single pointstamps and of sets of them, each found once."""

    def __init__(self, graph: Graph, limit: int = 500) -> None:
        self.graph = graph
        self.limit = limit
        self._of_one: dict[Pointstamp, Frontiers] = {}
        self._of_many: dict[frozenset[Pointstamp], Frontiers] = {}

    def of_one(self, pointstamp: Pointstamp) -> Frontiers:
        """Close-up of one pointstamp. Raises TooManySteps where the reference does not come to rest."""
        if pointstamp not in self._of_one:
            self._of_one[pointstamp] = close(self.graph, [pointstamp], self.limit)
        return self._of_one[pointstamp]

    def of_many(self, pointstamps: Iterable[Pointstamp]) -> Frontiers:
        """Close-up of the set: the union of the Close-ups, by its minimal times at every location that has any."""
        pointstamps = list(pointstamps)
        key = frozenset(pointstamps)
        if key not in self._of_many:
            together: dict[str, dict[Any, None]] = {}
            for pointstamp in pointstamps:
                for location, times in self.of_one(pointstamp).items():
                    together.setdefault(location, {}).update(dict.fromkeys(times))
            self._of_many[key] = {
                location: minimal(self.graph.domain[location], together[location])
                for location in self.graph.locations
                if location in together
            }
        return self._of_many[key]


class Session:
    """The state of a system: open inputs, queued messages, pending requests, and which of these were announced.

    The Clock is Close-up of all of it (A&I 4.2: "the pointstamps of queued messages and pending notification requests";
    an open input stands for the messages that it may still bring).
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Sequence[Any]] | None = None,
        requests: Iterable[Pointstamp] = (),
        closures: Closures | None = None,
    ) -> None:
        self.graph = graph
        self.closures = closures or Closures(graph)
        given = inputs or {}
        self.inputs: dict[str, Times] = {  # an input that is not named opens at the least times of its domain
            edge: minimal(graph.domain[edge], given.get(edge, least(graph.domain[edge])))
            for edge in graph.edges
            if graph.source[edge] is None
        }
        self.messages: dict[Pointstamp, int] = {}  # how many are queued; never 0
        self.requests: dict[Pointstamp, None] = dict.fromkeys(requests)  # asking twice is asking once
        self.announced: set[Pointstamp] = set()

    # What is outstanding, and what follows

    def outstanding(self) -> list[Holder]:
        """Every pointstamp in whose Close-up the Clock consists."""
        opened = [((edge, time), "input") for edge, times in self.inputs.items() for time in times]
        queued = [(message, "message") for message in self.messages]
        return [*opened, *queued, *((request, "request") for request in self.requests)]

    def clock(self) -> Frontiers:
        """The minimal times of the Clock at every location that has any (A&I 4.2)."""
        return self.closures.of_many(pointstamp for pointstamp, _ in self.outstanding())

    def in_clock(self, location: str, time: Any) -> bool:
        """Whether the Clock contains the pointstamp."""
        return is_in(self.graph, (location, time), self.clock())

    def frontier(self, location: str) -> Times:
        """The minimal times of the Clock at one location."""
        return self.clock().get(location, ())

    def complete(self, location: str, time: Any) -> bool:
        """Of an edge, whether its pointstamp is not in the Clock; of a node, whether that is so of every incoming edge:
        nothing at or below the time will arrive there any more."""
        return not any(self.in_clock(edge, time) for edge in self.graph.incoming.get(location, [location]))

    def eligible(self) -> list[Pointstamp]:
        """The pending requests (p, t) such that for no incoming edge e of p, (e, t) is in the Clock (A&I 4.2, Not); in
        node order, then in a linear extension of the times."""
        return self._in_order(request for request in self.requests if self.complete(*request))

    def newly_ready(self) -> list[Pointstamp]:
        """The eligible requests that this has not listed before in their life, which begins when they are requested and
        ends when they are delivered; in the order of `eligible`."""
        found = [request for request in self.eligible() if request not in self.announced]
        self.announced.update(found)
        return found

    def holders(self, location: str, time: Any) -> list[Holder]:
        """What is outstanding and holds (location, time) in the Clock: its own Close-up contains it."""
        return [
            (pointstamp, kind)
            for pointstamp, kind in self.outstanding()
            if is_in(self.graph, (location, time), self.closures.of_one(pointstamp))
        ]

    def blockers(self, node: str, time: Any) -> list[Holder]:
        """What keeps a request at this node and time from delivery: all that holds some incoming edge at the time."""
        holding = {holder for edge in self.graph.incoming[node] for holder in self.holders(edge, time)}
        return [holder for holder in self.outstanding() if holder in holding]

    def _in_order(self, requests: Iterable[Pointstamp]) -> list[Pointstamp]:
        found = list(requests)
        if len(found) < 2:
            return found
        order: list[Pointstamp] = []
        for node in self.graph.nodes:
            times = [time for location, time in found if location == node]
            # What is below a is below all that is above a: counting gives a linear extension.
            times.sort(key=lambda time: sum(less_equal(self.graph.domain[node], other, time) for other in times))
            order += [(node, time) for time in times]
        return order

    # Steps

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
        self.inputs |= {edge: minimal(self.graph.domain[edge], times) for edge, times in inputs.items()}
        return frozenset()

    def _bad_place(self, location: Any, time: Any, kind: str) -> set[str]:
        """What is wrong with naming this location and time where a node, an edge or an input edge is meant."""
        graph, hashable = self.graph, _is_hashable(location)
        if not hashable or location not in graph.locations:
            return {NO_PLACE} if isinstance(location, str) else {NO_PLACE, FORM}
        codes = set()
        allowed = graph.nodes if kind == "node" else graph.edges if kind == "edge" else list(self.inputs)
        if location not in allowed:
            codes.add(WRONG_PLACE)
        if not contains(graph.domain[location], time):
            codes |= {NO_TIME} if _is_hashable(time) else {NO_TIME, FORM}
        return codes

    def _illegal(self, inputs: Any, messages: Any, requests: Any, delivered: Any) -> set[str]:
        """The laws of a step, each for the items that name a place and a time there."""
        graph = self.graph
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
                if not self._bad_place(edge, time, "input"):
                    before = self.inputs[edge]
                    if not any(less_equal(graph.domain[edge], old, time) for old in before):
                        codes.add(MOVES_BACK)
        return codes


def refusals_of_start(graph: Graph, inputs: Mapping[Any, Any], requests: Iterable[Any]) -> Codes:
    """Why a session cannot begin like this; a start is unrestricted as long as it names inputs, nodes and times."""
    blank = Session(graph, dict.fromkeys(graph.edges, ()))
    places = [(edge, time, "input") for edge, times in inputs.items() for time in times]
    places += [(node, time, "node") for node, time in requests]
    codes = set(itertools.chain.from_iterable(blank._bad_place(*place) for place in places))
    for edge in inputs:
        codes |= blank._bad_place(edge, None, "input") - {NO_TIME}
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


def _is_hashable(value: Any) -> bool:
    """Whether no part of the value is a list or the like."""
    return isinstance(value, Hashable) and (not isinstance(value, tuple) or all(map(_is_hashable, value)))
