"""What a tracker runs on in a graph with calls: frames instead of frontiers (`progress.tracking.own_relation`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from progress.engines import ENGINES, Engine, no_such_engine
from progress.pointstamp import Pointstamp
from progress.topology import NO_NODE, Network
from progress.tracking.blocking import Blocker
from progress.tracking.ledger import Edge, Ledger, Node
from recursion.closure import minimal_times
from recursion.engine import CallEngine
from recursion.relation import Relation


class CallWorkings:
    """The `Workings` of a graph with calls.

    A pending request (p, t) is outstanding where p's messages arrive: the requests at p itself do not wait for it.
    """

    def __init__(self, network: Network, relation: Relation) -> None:
        self.network = network
        self.relation = relation
        self._ways = [
            [(network.targets[edge], network.summaries[edge]) for edge in leaving if network.targets[edge] != NO_NODE]
            for leaving in network.outgoing
        ]

    def engine(self, name: str, kernel: bool | None) -> Engine:
        """The one engine for stacks; the others are refused by name."""
        if name != "auto":
            known = "there is no such engine" if name not in ENGINES else "it keeps no frontiers of stacks"
            raise no_such_engine(f"the graph has calls, and engine={name!r}: {known}", 'engine="auto"')
        if kernel:
            raise no_such_engine("the graph has calls, which the compiled kernel does not know", "kernel=None")
        return CallEngine(self.relation.graph)

    def of_request(self, node: int, time: Any) -> list[tuple[int, Any]]:
        """Where a pending request is outstanding. Cost: O(edges that leave the node)."""
        return [(target, after) for target, summary in self._ways[node] if summary for after in summary.apply(time)]

    def may_send(self, ledger: Ledger, engine: Engine, edge: Edge, time: Any) -> bool:
        """Whether Clock contains (edge, time).

        Cost: that of `CallEngine.covers`, and with epochs O(times there) where those do not have this one.
        """
        if time in edge.messages or time in edge.open:
            return True
        if edge.summary is not None:
            if engine.reaches(edge.source, edge.summary, time):
                return True
            before = edge.summary.time_before(time)  # type: ignore[attr-defined]
            if before is not None and self._requested(ledger, ledger.node_of(edge.source), before):
                return True
        if self.relation.graph.epochs is None:
            return False
        less_equal = edge.domain.less_equal
        return any(less_equal(lying, time) for lying in (*edge.open, *edge.messages))

    def may_ask(self, ledger: Ledger, engine: Engine, node: Node, time: Any) -> bool:
        """Whether Clock contains (node, time).

        Cost: that of `CallEngine.covers`, and with epochs O(requests there) where none is at this time.
        """
        return engine.covers(node.number, time) or self._requested(ledger, node, time)

    def _requested(self, ledger: Ledger, node: Node, time: Any) -> bool:
        if time in node.requests:
            return True
        if self.relation.graph.epochs is None:
            return False
        return any(node.domain.less_equal(pending, time) for pending in node.requests)

    def frontier(self, ledger: Ledger, engine: Engine, place: Edge | Node) -> tuple[Any, ...]:
        """Clock's minimal times at a location; `NoMinimalTimes` where they have no finite form.

        Cost: O(frames alive * calls), and `Region.minimal`.
        """
        assert isinstance(engine, CallEngine)
        if isinstance(place, Node):
            location, lying = place.number, list(place.requests)
        else:
            location, lying = len(self.network.nodes) + place.number, [*place.messages, *place.open]
            if place.summary is not None:
                for before in ledger.node_of(place.source).requests:
                    lying += place.summary.apply(before)
        return minimal_times(self.network, self.relation, engine, location, lying)

    def blockers(
        self, goals: Sequence[int], time: Any, outstanding: Iterable[tuple[int, Any, str]]
    ) -> tuple[Blocker, ...]:
        """All that is outstanding and could result in (location, time) at one of the goals.

        Cost: O(log depth) for each, and a proof for each that does.
        """
        found = []
        relation = self.network.relation
        assert relation is not None
        for location, start, kind in outstanding:
            ways = (relation.proof(self.network, (location, start), (goal, time)) for goal in goals)
            way = next((way for way in ways if way is not None), None)
            if way is not None:
                found.append(Blocker(Pointstamp(self.network.name(location), start), kind, tuple(way)))
        return tuple(found)
