"""The orders of stacks, one a location (A&I 3.4).

At a location p a stack f is at or before g when (p, f) could result in (p, g): a preorder. `StackOrder` is that
preorder, which is what a running system needs: equivalent stacks are told apart, and have different messages.
`StackClasses` is the partial order T_p that it induces, each class standing in it as its canonical stack, and
`virtual_times` is T, the disjoint union of all T_p, each stack tagged with its location.

A stack's canonical form: if no call in it can follow itself, the stack itself, which nothing else is equivalent to but
what comes after it. Otherwise let h be what comes before the first such call c: everything that begins with h and a
call of the same cycle of the alternative graph as c is one class, and h belongs to it where the location lies on that
cycle. The shortest of them stands for all, of equally short ones the one whose calls come first in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, total_ordering

from progress.errors import brief
from progress.notebook import InNotebooks, Shown, shown_order
from progress.order import Domain, Sum
from progress.topology import NO_NODE
from recursion.call_graph import CallGraph
from recursion.region import Region
from recursion.relation import Relation
from recursion.stack import Call, Procedure, Stack, first_difference, shortest_chain


class StackOrder(InNotebooks):
    """The preorder of stacks at one location: reflexive and transitive; equivalent stacks need not be equal.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph, Relation, StackOrder
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> order = StackOrder(Relation(graph), graph.nodes.index("begin"))
    >>> order.less_equal(graph.stack(), graph.stack("again")), order.less_equal(graph.stack("again"), graph.stack())
    (True, False)
    """

    is_total = False

    def __init__(self, relation: Relation, location: int) -> None:
        self.relation = relation
        self.location = location
        self.graph = relation.graph
        self.procedure = self.graph.procedure_of(location)

    def __repr__(self) -> str:
        return "stack"

    def _shown(self) -> Shown:
        return shown_order(self)

    def in_words(self) -> str:
        """What a time is here, for a hint."""
        several = len(self.graph.procedures) > 1
        return self.graph.stacks_hint + (f"; it has to lead into {brief(self.procedure.name)}" if several else "")

    def contains(self, value: object) -> bool:
        """Whether the value is a stack at which the location can run."""
        return type(value) is Stack and value.procedure is self.procedure

    def read(self, value: object) -> Stack | None:
        """The stack that a list or tuple of names stands for; None where it is none of these times. Cost: O(depth)."""
        if not isinstance(value, tuple | list):
            return None
        found = self.graph.stacks.of(value)
        return found if found is not None and self.contains(found) else None

    def less_equal(self, earlier: Stack, later: Stack) -> bool:
        """Whether (p, earlier) could result in (p, later). Cost: O(log depth)."""
        return self.relation.leads(self.location, earlier, self.location, later)

    def minimal_upper_bounds(self, one: Stack, other: Stack) -> tuple[Stack, ...]:
        """The minimal stacks at or after both, canonical ones; `NoMinimalTimes` where no finite set stands for them.

        Cost: O(depth of both), and that of `Region.minimal`.
        """
        if self.less_equal(one, other):
            return (other,)
        if self.less_equal(other, one):
            return (one,)
        first, second = (Region.above(self.relation, self.location, stack) for stack in (one, other))
        return first.intersection(second).minimal(self)

    def least(self) -> tuple[Stack, ...]:
        """The minimal stacks of all; none where no finite set stands for them."""
        if self.location - len(self.graph.nodes) in self.graph.pushes:
            return ()  # a stack that no message has there comes after nothing else, and they are without number
        return Region.everything(self.relation, self.location).minimal_or_none(self)

    def sort_key(self, value: Stack) -> StackKey:
        """A key whose order is a linear extension. Cost: O(1), and O(log depth) a comparison."""
        return StackKey(self, value)

    def sample(self) -> list[Stack]:
        """The shortest stacks, at most sixteen."""
        found: list[Stack] = []
        for stack in shortest_stacks(self.graph, 4 * len(self.graph.procedures)):
            if self.contains(stack):
                found.append(stack)
            if len(found) == 16:
                break
        return found

    def fits(self, stack: Stack) -> bool:
        """Whether a message can come to the location at this stack: to `call-c->in` only at those that end with c."""
        pushed = self.graph.pushes.get(self.location - len(self.graph.nodes))
        return stack.procedure is self.procedure and (pushed is None or stack.call is pushed)

    def equivalent(self, one: Stack, other: Stack) -> bool:
        """Whether the preorder identifies two stacks. Cost: O(log depth)."""
        return self.less_equal(one, other) and self.less_equal(other, one)

    def canonical(self, stack: Stack) -> Stack:
        """The stack that stands for all that are equivalent to it. Cost: O(calls * log depth)."""
        if not stack.following:
            return stack
        first = stack.ancestor(stack.following)
        assert first.call is not None
        for candidate in self._candidates(first.parent, first.call):
            if candidate is stack or self.equivalent(candidate, stack):
                return candidate
        return stack

    def place(self, call: Call | None) -> tuple[int, int]:
        """Where a stack that goes on with this call, or ends, stands among those that begin as it does.

        The components of the alternative graph have even places in topological order. What ends at an edge stands after
        the calls of the edge's source, from which it comes, and before those of its target.
        """
        if call is None:
            return self._end, 0
        return -2 * self.graph.component[call.call], call.number + 1

    @cached_property
    def leading(self) -> set[Procedure]:
        """The procedures from which calls may come to the location; without them no deeper stack fits it."""
        pushed = self.graph.pushes.get(self.location - len(self.graph.nodes))
        return leading_to({self.procedure if pushed is None else pushed.within}, self.graph)

    @cached_property
    def _end(self) -> int:
        graph, edge = self.graph, self.location - len(self.graph.nodes)
        if edge < 0:
            return -2 * graph.component[self.location]
        if edge in graph.pushes or edge in graph.pops or graph.sources[edge] == NO_NODE:
            return -2 * graph.component[graph.targets[edge]]
        return -2 * graph.component[graph.sources[edge]] + 1

    def _candidates(self, before: Stack, call: Call) -> Iterator[Stack]:
        """The stacks that may stand for a class whose first call that follows itself comes after `before`."""
        if self.contains(before):
            yield before
        pushed = self.graph.pushes.get(self.location - len(self.graph.nodes))
        last = [] if pushed is None else [pushed]
        if pushed is not None and pushed.within is before.procedure:
            yield self.graph.stacks.push(before, pushed)
        wanted = self.procedure if pushed is None else pushed.within
        component = self.graph.component
        cycle = [other for other in self.graph.calls if component[other.call] == component[call.call]]
        ways = [(other, chain) for other in cycle if (chain := shortest_chain(other.enters, wanted)) is not None]
        for other, chain in sorted(ways, key=lambda way: len(way[1])):
            stack = before
            for each in (other, *chain, *last):
                stack = self.graph.stacks.push(stack, each)
            yield stack


@total_ordering
class StackKey:
    """A stack's place in a linear extension of a location's order: that of its canonical form, then its own.

    Stacks that no message can have at a location (`Region.fits`) come after nothing, and so come first.
    """

    __slots__ = ("_order", "_stack")

    def __init__(self, order: StackOrder, stack: Stack) -> None:
        self._order = order
        self._stack = stack

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StackKey) and other._stack is self._stack

    def __hash__(self) -> int:
        return hash(self._stack)

    def __lt__(self, other: StackKey) -> bool:
        one, two = self._stack, other._stack
        if one is two:
            return False
        order = self._order
        if order.fits(one) is not order.fits(two):
            return order.fits(two)
        mine, others = order.canonical(one), order.canonical(two)
        if mine is not others:
            one, two = mine, others
        _, leaves, enters = first_difference(one, two)
        return order.place(leaves) < order.place(enters)


class StackClasses(StackOrder):
    """The partial order T_p: the canonical stacks of a location.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph, Relation, StackClasses
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> StackClasses(Relation(graph), graph.nodes.index("begin")).contains(graph.stack("again"))
    True
    """

    def contains(self, value: object) -> bool:
        return super().contains(value) and self.canonical(value) is value  # type: ignore[arg-type]

    def read(self, value: object) -> Stack | None:
        found = super().read(value)
        return None if found is None else self.canonical(found)

    def sample(self) -> list[Stack]:
        return list(dict.fromkeys(map(self.canonical, super().sample())))


def leading_to(procedures: set[Procedure], graph: CallGraph) -> set[Procedure]:
    """The procedures from which calls may come to one of these, and these. Cost: O(calls * procedures)."""
    found = set(procedures)
    for _ in graph.procedures:
        found |= {call.within for call in graph.calls if call.enters in found}
    return found


def virtual_times(relation: Relation) -> Sum:
    """T, the disjoint union of the T_p of all nodes: a stack is tagged with the node (A&I 3.4).

    Returns
    -------
    The sum, by the names of the nodes.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph, Relation, virtual_times
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> list(virtual_times(Relation(graph)).summands)
    ['begin', 'call-again', 'ret-again', 'end']
    """
    orders: dict[str, Domain] = {
        name: StackClasses(relation, number) for number, name in enumerate(relation.graph.nodes)
    }
    return Sum(orders)


def shortest_stacks(graph: CallGraph, most: int) -> Iterator[Stack]:
    """All stacks of the graph up to a depth, shorter ones first."""
    level = [graph.stacks.empty]
    for _ in range(most + 1):
        yield from level
        level = [graph.stacks.push(stack, call) for stack in level for call in stack.procedure.calls.values()][:1000]
