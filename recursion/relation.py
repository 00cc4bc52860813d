"""Could-result-in of a call graph: the least reflexive transitive relation on (location, stack) (A&I 3.4).

Its steps are those of the split graph: along an edge with the stack unchanged, from `call-c` to `in` with c pushed,
from `out` to `ret-c` with c popped. An edge is a location of its own between its ends, and a message on it has the
stack that it arrives with.

The rule. Let f and g begin alike with h, and let c and d be the calls that come next in f and in g, if any. Then (p, f)
could result in (q, g) exactly where h has a call that can follow itself, or where the alternative graph has a path from
`ret-c`, or from p where f is h, to `call-d`, or to q where g is h. The paper states the second part alone;
docs/recursion.md shows what that misses, and proves the rule. Cost: O(log depth), whatever the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from progress.topology import NO_NODE
from recursion.call_graph import CallGraph
from recursion.requirements import returning_paths
from recursion.stack import Call, Procedure, Stack, first_difference

if TYPE_CHECKING:
    from recursion.order import StackOrder

Place: TypeAlias = tuple[int, Stack]  # a location by number, and a stack
Further: TypeAlias = "tuple[Call, Further] | None"  # calls on top of a stack, outermost first
T = TypeVar("T")


class Relation:
    """The relation of one call graph, which meets the requirements.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph, Relation
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> begin = graph.nodes.index("begin")
    >>> Relation(graph).leads(begin, graph.stack(), begin, graph.stack("again"))
    True
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self._count = len(graph.nodes)
        self._orders: dict[int, StackOrder] = {}
        self._push_edges = {call: edge for edge, call in graph.pushes.items()}
        self._pop_edges = {call: edge for edge, call in graph.pops.items()}
        self._walks: dict[Procedure, list[tuple[int, Further]]] = {}

    def leads(self, start: int, before: Stack, end: int, after: Stack) -> bool:
        """Whether (start, before) could result in (end, after). Cost: O(log depth)."""
        if start == end and before is after:
            return True
        if start >= self._count:
            start = self.graph.targets[start - self._count]
            if start == NO_NODE:
                return False
        if end >= self._count:
            left = self.left_from(end, after)
            if left is None:
                return False
            end, after = left
        common, leaves, enters = first_difference(before, after)
        if common.following:
            return True
        first = start if leaves is None else leaves.returns
        last = end if enters is None else enters.call
        return bool(self.graph.reach[first] >> last & 1)

    def left_from(self, location: int, stack: Stack) -> Place | None:
        """The node from which a message on an edge was sent, and the stack there; None where nothing can send it."""
        edge = location - self._count
        source = self.graph.sources[edge]
        pushed = self.graph.pushes.get(edge)
        if pushed is not None:
            return (source, stack.parent) if stack.call is pushed else None
        popped = self.graph.pops.get(edge)
        if popped is not None:
            return source, self.graph.stacks.push(stack, popped)
        return None if source == NO_NODE else (source, stack)

    def order(self, location: int) -> StackOrder:
        """The preorder of stacks at a location."""
        from recursion.order import StackOrder  # it builds on this module

        if location not in self._orders:
            self._orders[location] = StackOrder(self, location)
        return self._orders[location]

    # --- proofs ------------------------------------------------------------------------------------------------------

    def walk(self, start: int, before: Stack, end: int, after: Stack) -> list[Place] | None:
        """Distinct neighbouring locations from start to end, each related to the next; None where there is no way.

        Times jump up at a location where the walk would leave it and come back, so a walk has at most as many pairs as
        the graph has locations. At one location it is the two pairs. Cost: O(edges * calls), and O(depth) where several
        procedures call each other.
        """
        if not self.leads(start, before, end, after):
            return None
        if start == end:
            return [(start, before)] if before is after else [(start, before), (end, after)]
        kept = _without_rounds(list(self._steps(start, before, end, after)))
        kept[-1] = kept[-1][0], after
        return kept

    def round(self, start: int, stack: Stack) -> list[Place]:
        """A walk from a node on a cycle of the alternative graph back to it, at the same stack."""
        for after, edge, call in self._onwards(start):
            if self.graph.component[after] == self.graph.component[start]:
                walk: list[Place] = [(start, stack)]
                if call is None:
                    walk += [(self._count + edge, stack), (after, stack)]
                else:
                    walk += self._call(call, stack)
                return walk + list(self._along(after, start, stack))
        raise AssertionError("the node is on no cycle")

    def _steps(self, start: int, before: Stack, end: int, after: Stack) -> Iterator[Place]:
        yield start, before
        if start >= self._count:
            start = self.graph.targets[start - self._count]
            yield start, before
        goal, goal_stack = end, after
        if end >= self._count:
            left = self.left_from(end, after)
            assert left is not None
            goal, goal_stack = left
        common, leaves, enters = first_difference(before, goal_stack)
        if common.following:
            again = common.ancestor(common.following)
            common, leaves, enters = again.parent, again.call, again.call
        here = start
        if leaves is not None:
            yield from self._returned(here, before, common, leaves)
            here = leaves.returns
        if enters is not None:
            yield from self._along(here, enters.call, common)
            yield from self._called(common, enters, goal_stack)
            here = goal_stack.procedure.entrance
        yield from self._along(here, goal, goal_stack)
        if end >= self._count:
            yield end, after

    def _returned(self, here: int, stack: Stack, common: Stack, leaves: Call) -> Iterator[Place]:
        """From (here, stack) to (`ret-c`, common), for the call c that follows `common` in the stack."""
        while stack is not common:
            yield from self._along(here, stack.procedure.exit, stack)
            stack = self._outermost(stack, common)
            assert stack.call is not None
            yield self._count + self._pop_edges[stack.call], stack.parent
            here = stack.call.returns
            stack = stack.parent
            yield here, stack
        assert here == leaves.returns

    def _outermost(self, stack: Stack, common: Stack) -> Stack:
        """The stack above `common` with fewest calls that runs the same procedure and is no more than `stack`."""
        if len(self.graph.procedures) == 1:
            return stack.ancestor(common.depth + 1)
        found = stack
        between = stack
        while between.depth > common.depth + 1:
            between = between.parent
            if between.procedure is stack.procedure:
                found = between
        return found

    def _called(self, common: Stack, enters: Call, goal: Stack) -> Iterator[Place]:
        """From (`call-c`, common) to the `in` that `goal` runs, for the call c that follows `common` in it."""
        chain = [goal]
        if len(self.graph.procedures) > 1:
            while chain[-1].depth > common.depth + 1:
                chain.append(chain[-1].parent)
        innermost = {stack.procedure: stack for stack in reversed(chain)}
        by_depth = {stack.depth: stack for stack in chain}
        stack, call = common, enters
        while True:
            pushed = self.graph.stacks.push(stack, call)
            yield self._count + self._push_edges[call], pushed
            yield call.enters.entrance, pushed
            stack = innermost[call.enters]
            if stack is goal:
                yield call.enters.entrance, goal
                return
            next_call = by_depth[stack.depth + 1].call
            assert next_call is not None
            call = next_call
            yield from self._along(stack.procedure.entrance, call.call, stack)

    def _along(self, source: int, target: int, stack: Stack) -> Iterator[Place]:
        """After (source, stack): the way to (target, stack), by calls that return."""
        for edge, call in self.path(source, target):
            if call is None:
                yield self._count + edge, stack
                yield self.graph.targets[edge], stack
            else:
                yield from self._call(call, stack)

    def _call(self, call: Call, stack: Stack) -> Iterator[Place]:
        """After (`call-c`, stack): through the graph that c enters, to (`ret-c`, stack)."""
        pushed = self.graph.stacks.push(stack, call)
        yield self._count + self._push_edges[call], pushed
        for location, further in self._through(call.enters):
            inner = pushed
            while further is not None:
                first, further = further
                inner = self.graph.stacks.push(inner, first)
            yield location, inner
        yield self._count + self._pop_edges[call], stack
        yield call.returns, stack

    def _through(self, procedure: Procedure) -> list[tuple[int, Further]]:
        """A walk from `in` to `out` without rounds, each location with the calls that its stack has in addition.

        Cost: O(nodes of all procedures * calls), once; what is called twice is not walked twice.
        """
        if procedure not in self._walks:
            for each, nodes in returning_paths(self.graph).items():  # each after those that it calls
                walk: list[tuple[int, Further]] = [(nodes[0], None)]
                for before, after in pairwise(nodes):
                    call = self._calls.get(before)
                    if call is None:
                        edge = next(edge for edge in self.graph.leaving[before] if self.graph.targets[edge] == after)
                        walk.append((self._count + edge, None))
                    else:
                        walk.append((self._count + self._push_edges[call], (call, None)))
                        walk += [(location, (call, further)) for location, further in self._walks[call.enters]]
                        walk.append((self._count + self._pop_edges[call], None))
                    walk.append((after, None))
                self._walks[each] = _without_rounds(walk)
        return self._walks[procedure]

    @cached_property
    def _calls(self) -> dict[int, Call]:
        return {call.call: call for call in self.graph.calls}

    def _onwards(self, node: int) -> Iterator[tuple[int, int, Call | None]]:
        """The edges of the alternative graph that leave a node: where to, and by which edge or call."""
        for edge in self.graph.leaving[node]:
            yield self.graph.targets[edge], edge, None
        call = self._calls.get(node)
        if call is not None:
            yield call.returns, NO_NODE, call

    def path_over(self, nodes: list[int]) -> list[tuple[int, Call | None]]:
        """The path of the alternative graph over these nodes, as `path` has it."""
        path: list[tuple[int, Call | None]] = []
        for before, after in pairwise(nodes):
            path.append(next((edge, call) for target, edge, call in self._onwards(before) if target == after))
        return path

    def path(self, source: int, target: int) -> list[tuple[int, Call | None]]:
        """A shortest path of the alternative graph: its edges, or the calls whose forward edges it takes."""
        before: dict[int, tuple[int, int, Call | None]] = {}
        pending = [source]
        for node in pending:
            if node == target:
                break
            for after, edge, call in self._onwards(node):
                if after != source and after not in before:
                    before[after] = node, edge, call
                    pending.append(after)
        path: list[tuple[int, Call | None]] = []
        while target != source:
            target, edge, call = before[target]
            path.append((edge, call))
        return path[::-1]


def _without_rounds(walk: list[tuple[int, T]]) -> list[tuple[int, T]]:
    """The walk without its rounds: at a location that it passes twice, the time jumps up."""
    last = {location: position for position, (location, _) in enumerate(walk)}
    kept: list[tuple[int, T]] = []
    position = 0
    while position < len(walk):
        kept.append(walk[position])
        position = last[walk[position][0]] + 1
    return kept
