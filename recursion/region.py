"""Closed sets of stacks at one location, as finitely many stacks and cones (A&I 3.3, 3.4).

A *cone* is a stack with everything that begins with it. All that (p, f) could result in at a location is a region: at
each beginning h of f there is h itself, where the alternative graph leads to the location, and the cone of h and c,
where it leads to `call-c`. So Close-up is a region at every location, although it has stacks without number.

Its minimal elements may have no finite form. Where what comes back from a call goes to p, deeper stacks come earlier at
p, without end: [c] after [c, c] after [c, c, c]. Where nothing does, stacks that differ may be beside each other
without end. `Region.minimal` then raises `NoMinimalTimes` (PS601).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE
from recursion.earliest import Earliest
from recursion.relation import Relation
from recursion.stack import Call, Stack

if TYPE_CHECKING:
    from recursion.order import StackOrder


class Region:
    """Stacks at one location: `points`, and all in one of `cones` that can come to be there (`fits`)."""

    def __init__(self, relation: Relation, location: int) -> None:
        self.relation = relation
        self.location = location
        self.points: dict[Stack, None] = {}
        self.cones: dict[Stack, None] = {}

    @classmethod
    def everything(cls, relation: Relation, location: int) -> Region:
        """All stacks of a location."""
        region = cls(relation, location)
        region.cones[relation.graph.stacks.empty] = None
        return region

    @classmethod
    def above(cls, relation: Relation, location: int, stack: Stack) -> Region:
        """All stacks that are at or after one in the order of the location. Cost: O(depth * calls)."""
        region = cls(relation, location)
        graph, edge = relation.graph, location - len(relation.graph.nodes)
        node = location if edge < 0 else graph.targets[edge]
        if node != NO_NODE and not (edge >= 0 and graph.sources[edge] == NO_NODE):
            here, leaves = stack, None
            if stack.following:
                region.cones[stack.ancestor(stack.following)] = None
                here = stack.ancestor(stack.following)
                leaves, here = here.call, here.parent
            while True:
                region.take_level(here, graph.reach[node if leaves is None else leaves.returns], leaves)
                if here.call is None:
                    break
                leaves, here = here.call, here.parent
        region.points[stack] = None
        return region

    def take_level(self, stack: Stack, reached: int, *leaving: Call | None) -> None:
        """Add what is at a stack, and what is called from there, where these nodes are reached, by such returns."""
        graph = self.relation.graph
        edge = self.location - len(graph.nodes)
        if edge >= 0 and graph.sources[edge] == NO_NODE:
            return  # nothing leads to an input
        for call in stack.procedure.calls.values():
            if reached >> call.call & 1:
                self.cones[graph.stacks.push(stack, call)] = None
        if edge < 0:
            if reached >> self.location & 1:
                self.points[stack] = None
        elif edge in graph.pops:
            call = graph.pops[edge]
            if call in leaving or reached >> call.call & 1:
                self.points[stack] = None
        elif edge not in graph.pushes and reached >> graph.sources[edge] & 1:
            self.points[stack] = None

    def add(self, other: Region) -> bool:
        """Add what is in another region of the location; whether it has points or cones that were not there."""
        size = len(self.points) + len(self.cones)
        self.points |= other.points
        self.cones |= other.cones
        return len(self.points) + len(self.cones) > size

    def __contains__(self, stack: Stack) -> bool:
        return stack in self.points or self._in_cone(stack)

    def _in_cone(self, stack: Stack) -> bool:
        return self.fits(stack) and self._is_around(stack)

    def _is_around(self, stack: Stack) -> bool:
        return any(cone.depth <= stack.depth and stack.ancestor(cone.depth) is cone for cone in self.cones)

    def fits(self, stack: Stack) -> bool:
        """Whether a message can come to the location at this stack: to `call-c->in` only at those that end with c."""
        return self.relation.order(self.location).fits(stack)

    def intersection(self, other: Region) -> Region:
        """What is in both. Cost: O(product of their sizes)."""
        both = Region(self.relation, self.location)
        for one, two in ((self, other), (other, self)):
            both.points |= {point: None for point in one.points if point in two.points or two._in_cone(point)}
            both.cones |= {cone: None for cone in one.cones if two._is_around(cone)}
        return both

    def minimal(self, order: StackOrder) -> tuple[Stack, ...]:
        """The minimal stacks, canonical, in a linear extension; `NoMinimalTimes` where no finite set stands for them.

        Cost: `recursion.earliest`, and sorting what is found.
        """
        found = dict.fromkeys(map(order.canonical, Earliest(self).stacks()))
        return tuple(sorted(found, key=order.sort_key))

    def minimal_or_none(self, order: StackOrder) -> tuple[Stack, ...]:
        """`minimal`, or nothing where no finite set stands for them."""
        try:
            return self.minimal(order)
        except NoMinimalTimes:
            return ()
