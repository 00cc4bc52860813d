"""A running system with calls word for word (A&I 3.4, 4.2): the oracle of every tracker of recursive programs.

Slow and obvious, and independent of all it judges: it imports nothing of the project but the other parts of the
reference, and the law of steps.

Clock is never written down, for at many locations it has no finite form. It is asked: a pointstamp is in it where
something outstanding could result in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from progress.reference.steps import Codes, Holder, Steps
from recursion.reference import Graph, Pointstamp


class Session(Steps):
    """The state of a system with calls.

    `deepest`: how deep stacks usually are here, so that one search answers many questions; any depth is answered.
    """

    graph: Graph

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Sequence[Any]] | None = None,
        requests: Iterable[Pointstamp] = (),
        deepest: int = 0,
    ) -> None:
        self.deepest = deepest
        super().__init__(graph, inputs, requests)

    def least(self, edge: str) -> Iterable[Any]:
        return self.graph.least(edge)

    def minimal(self, location: str, times: Iterable[Any]) -> list[Any]:
        """The times that none of the others is before, one of each class that the preorder identifies."""
        kept: list[Any] = []
        for time in times:
            if not any(self.leads((location, other), (location, time)) for other in kept):
                kept = [other for other in kept if not self.leads((location, time), (location, other))] + [time]
        return kept

    def is_before(self, location: str, one: Any, other: Any) -> bool:
        return self.leads((location, one), (location, other))

    def contains(self, location: str, time: Any) -> bool:
        return self.graph.contains(location, time)

    def leads(self, start: Pointstamp, end: Pointstamp) -> bool:
        """Whether the start could result in the end."""
        return self.graph.could_result_in(start, end, self.deepest)

    def in_clock(self, location: str, time: Any) -> bool:
        """Whether the Clock contains the pointstamp."""
        return any(self.leads(pointstamp, (location, time)) for pointstamp, _ in self.outstanding())

    def blockers(self, node: str, time: Any) -> list[Holder]:
        """What keeps a request at this node and time from delivery: all that could result in an incoming edge at it."""
        edges = self.graph.incoming[node]
        return [
            (each, kind) for each, kind in self.outstanding() if any(self.leads(each, (edge, time)) for edge in edges)
        ]

    def holders(self, location: str, time: Any) -> list[Holder]:
        """What is outstanding and could result in (location, time)."""
        return [(each, kind) for each, kind in self.outstanding() if self.leads(each, (location, time))]


def refusals_of_start(graph: Graph, inputs: Mapping[Any, Any], requests: Iterable[Any]) -> Codes:
    """Why a session cannot begin like this."""
    return Session(graph, dict.fromkeys(graph.edges, ())).refusals_of_start(inputs, requests)


def eligible(
    graph: Graph, messages: Iterable[Pointstamp], requests: Sequence[Pointstamp]
) -> tuple[list[Pointstamp], list[Pointstamp]]:
    """The requests that may be delivered, and the others, where exactly these are outstanding (A&I 4.2)."""
    session = Session(graph, dict.fromkeys(graph.edges, ()), requests)
    session.messages = dict.fromkeys(messages, 1)
    free = session.eligible()
    return free, [request for request in session.requests if request not in free]
