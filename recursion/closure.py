"""Close-up in a graph with calls: a region of stacks at every location, for each epoch (A&I 3.3, 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from progress.antichain import minimal_elements
from progress.closure import Closure
from progress.topology import NO_NODE, Network
from progress.way import Way
from recursion.engine import CallEngine
from recursion.in_flight import is_unordered
from recursion.order import StackOrder
from recursion.region import Region
from recursion.relation import Relation
from recursion.stack import Stack


class CallClosure(Closure):
    """The closure of given pointstamps.

    Membership costs O(log depth), for each tree that `recursion.in_flight` looks at. Minimal times: `Region.minimal`.
    """

    def __init__(self, network: Network, relation: Relation, pointstamps: Iterable[tuple[int, Any]]) -> None:
        super().__init__(network)
        self._relation = relation
        self._engine = CallEngine(relation.graph)
        self._given = list(dict.fromkeys(pointstamps))
        count = len(network.nodes)
        changes = []
        for location, time in self._given:
            node = location if location < count else network.targets[location - count]
            if node != NO_NODE:
                changes.append((node, time, 1))
            if location >= count:
                self.given_on_edge.setdefault(location - count, []).append(time)
        self._engine.update(changes)

    def times(self, location: int) -> tuple[Any, ...]:
        """The minimal times at a location; `NoMinimalTimes` where they have no finite form."""
        lying = self.given_on_edge.get(location - len(self.network.nodes), ())
        return minimal_times(self.network, self._relation, self._engine, location, lying)

    def covers(self, location: int, time: Any) -> bool:
        """Whether the pointstamp is in the closed set."""
        edge = location - len(self.network.nodes)
        if edge < 0:
            return self._engine.covers(location, time)
        less_equal = self.network.edge_domains[edge].less_equal
        if any(less_equal(given, time) for given in self.given_on_edge.get(edge, ())):
            return True
        summary = self.network.summaries[edge]
        return summary is not None and self._engine.reaches(self.network.sources[edge], summary, time)

    def reached(self) -> list[int]:
        """All nodes: stacks are not kept by node."""
        return [*range(len(self.network.nodes))]

    def way(self, location: int, time: Any) -> Way | None:
        """A way from a given pointstamp to this one. Cost: O(log depth) for each given pointstamp, and the way."""
        if not self.covers(location, time):
            return None
        relation = self.network.relation
        assert relation is not None
        ways = (relation.proof(self.network, given, (location, time)) for given in self._given)
        return next(Way(tuple(way)) for way in ways if way is not None)


def minimal_times(
    network: Network, relation: Relation, engine: CallEngine, location: int, lying: Iterable[Any]
) -> tuple[Any, ...]:
    """The minimal times at a location of what an engine has outstanding, and of what lies at the location itself.

    Cost: that of `Region.minimal` for the stacks of each epoch, together with those of all earlier ones; where epochs
    are totally ordered only of those that add something to what is there at earlier ones.
    """
    regions: dict[Any, Region] = {}
    for epoch, tree in engine.trees.items():
        region = regions[epoch] = Region(relation, location)
        for stack, reached, leaving in tree.levels():
            region.take_level(stack, reached, *leaving)
    for time in lying:
        epoch, stack = engine.split(time)
        if epoch not in regions:
            regions[epoch] = Region(relation, location)
        regions[epoch].points[stack] = None
    order = relation.order(location)
    epochs = relation.graph.epochs
    if epochs is None:
        return tuple(stack for region in regions.values() for stack in region.minimal(order))
    if epochs.is_total:
        return tuple(_in_turn([(epoch, regions[epoch]) for epoch in sorted(regions, key=epochs.sort_key)], order))
    found: list[tuple[Any, Stack]] = []
    for until in regions:  # what is there at earlier epochs is there as well, and may be all that is minimal
        region = Region(relation, location)
        for epoch, earlier in ((until, regions[until]),) if is_unordered(epochs) else regions.items():
            if epochs.less_equal(epoch, until):
                region.add(earlier)
        found += [(until, stack) for stack in region.minimal(order)]
    return minimal_elements(network.domain(location), found)


def _in_turn(regions: Iterable[tuple[Any, Region]], order: StackOrder) -> Iterator[tuple[Any, Stack]]:
    """The minimal times of regions at epochs each of which is before the next.

    A stack that is minimal up to an epoch and was there at an earlier one was minimal there.
    """
    until = Region(order.relation, order.location)
    known: set[Stack] = set()
    for epoch, region in regions:
        if until.add(region):
            new = [stack for stack in until.minimal(order) if stack not in known]
            known.update(new)
            yield from ((epoch, stack) for stack in new)
