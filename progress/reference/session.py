"""A running system word for word (A&I 4.2): the oracle of every engine that keeps a Clock through a session.

Slow and obvious, and independent of all it judges: it imports nothing of the project but the two halves of the
reference, and the law of steps.

The one liberty are caches: Close-up of many pointstamps is the union of the Close-ups of each, because every step of
Definition 2 starts at a single pointstamp, and sessions over one graph may share them; and between two steps Clock is
one and the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from progress.reference import Frontiers, Graph, Pointstamp, close, is_in
from progress.reference.steps import FORM, NO_TIME, Codes, Holder, Steps
from progress.reference.times import Times, contains, least, less_equal, minimal


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


class Session(Steps):
    """The state of a system, whose Clock is Close-up of all that is outstanding.

    A&I 4.2: "the pointstamps of queued messages and pending notification requests"; an open input stands for the
    messages that it may still bring.
    """

    graph: Graph

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Sequence[Any]] | None = None,
        requests: Iterable[Pointstamp] = (),
        closures: Closures | None = None,
    ) -> None:
        super().__init__(graph, inputs, requests)
        self.closures = closures or Closures(graph)
        self._clock: Frontiers | None = None  # of this state, once it has been asked for

    def step(self, inputs: Any = None, messages: Any = (), requests: Any = (), delivered: Any = ()) -> Codes:
        codes = super().step(inputs, messages, requests, delivered)
        self._clock = None
        return codes

    def least(self, edge: str) -> Iterable[Any]:
        return least(self.graph.domain[edge])

    def minimal(self, location: str, times: Iterable[Any]) -> Times:
        return minimal(self.graph.domain[location], times)

    def is_before(self, location: str, one: Any, other: Any) -> bool:
        return less_equal(self.graph.domain[location], one, other)

    def contains(self, location: str, time: Any) -> bool:
        return contains(self.graph.domain[location], time)

    def codes_of(self, time: Any) -> set[str]:
        return {NO_TIME} if _is_hashable(time) else {NO_TIME, FORM}

    def clock(self) -> Frontiers:
        """The minimal times of the Clock at every location that has any (A&I 4.2)."""
        if self._clock is None:
            self._clock = self.closures.of_many(pointstamp for pointstamp, _ in self.outstanding())
        return self._clock

    def in_clock(self, location: str, time: Any) -> bool:
        """Whether the Clock contains the pointstamp."""
        return is_in(self.graph, (location, time), self.clock())

    def frontier(self, location: str) -> Times:
        """The minimal times of the Clock at one location."""
        return self.clock().get(location, ())

    def eligible(self) -> list[Pointstamp]:
        """In node order, then in a linear extension of the times."""
        return self._in_order(super().eligible())

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


def refusals_of_start(graph: Graph, inputs: Mapping[Any, Any], requests: Iterable[Any]) -> Codes:
    """Why a session cannot begin like this."""
    return Session(graph, dict.fromkeys(graph.edges, ())).refusals_of_start(inputs, requests)


def _is_hashable(value: Any) -> bool:
    """Whether no part of the value is a list or the like."""
    return isinstance(value, Hashable) and (not isinstance(value, tuple) or all(map(_is_hashable, value)))
