"""Graphs that decide could-result-in by themselves, because no summary of an edge could: recursion (A&I 3.4).

A `Network` may come with an `OwnRelation`. The questions of this package are then answered by it, and a tracker runs on
its `Workings`; names, steps, refusals and the order of answers stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from progress.topology import NO_NODE

if TYPE_CHECKING:
    from progress.closure import Closure
    from progress.conditions import Report
    from progress.engines import Engine
    from progress.pointstamp import Pointstamp
    from progress.topology import Network
    from progress.tracking.blocking import Blocker
    from progress.tracking.ledger import Edge, Ledger, Node


class OwnRelation(Protocol):
    """What answers instead of summaries. Locations are numbered, times are known to be of their domains."""

    def proof(self, network: Network, start: tuple[int, Any], end: tuple[int, Any]) -> list[Pointstamp] | None:
        """Neighbouring locations from one to the other, each related to the next; None if there is no way."""

    def steps(self, network: Network, start: tuple[int, Any], end: tuple[int, Any]) -> Iterator[Pointstamp] | None:
        """The way from one to the other step by step, without jumps of time, made as it is read; None if there is none.

        It may be as long as times are large.
        """

    def close(self, network: Network, pointstamps: Iterable[tuple[int, Any]]) -> Closure:
        """Close-up (A&I 3.3)."""

    def conditions(self, network: Network) -> Report:
        """The four verdicts (A&I 3.2)."""

    def workings(self, network: Network) -> Workings:
        """What a tracker runs on."""


class Workings(Protocol):
    """What a tracker runs on: an engine, what outstanding work means there, and what Clock contains."""

    def engine(self, name: str, kernel: bool | None) -> Engine:
        """An engine in which nothing is outstanding."""

    def of_request(self, node: int, time: Any) -> list[tuple[int, Any]]:
        """Where in the engine a pending request is outstanding."""

    def may_send(self, ledger: Ledger, engine: Engine, edge: Edge, time: Any) -> bool:
        """Whether Clock contains (edge, time)."""

    def may_ask(self, ledger: Ledger, engine: Engine, node: Node, time: Any) -> bool:
        """Whether Clock contains (node, time)."""

    def frontier(self, ledger: Ledger, engine: Engine, place: Edge | Node) -> tuple[Any, ...]:
        """Clock's minimal times at a location, in a linear extension."""

    def blockers(
        self, goals: Sequence[int], time: Any, outstanding: Iterable[tuple[int, Any, str]]
    ) -> tuple[Blocker, ...]:
        """All that is outstanding and could result in (location, time) at one of the goals."""


def all_outstanding(workings: Workings, ledger: Ledger) -> list[tuple[int, Any, int]]:
    """All that a ledger has outstanding, as changes for an empty engine: vertex, time and count."""
    found: list[tuple[int, Any, int]] = []
    for edge in ledger.edges.values():
        if edge.target != NO_NODE:
            found += [(edge.target, time, count) for time, count in edge.messages.items()]
            found += [(edge.target, time, 1) for time in edge.open]
    for node in ledger.nodes.values():
        for time in node.requests:
            found += [(vertex, after, 1) for vertex, after in workings.of_request(node.number, time)]
    return found
