"""Walks step by step: from one pointstamp to another, each step one of the split graph (A&I 3.4).

A proof (`Relation.walk`) lets times jump up at a location, so that it is short. Here nothing jumps: every pair of
neighbours is an edge with its source or its destination, and its stack as the step leaves it. A walk leaves one by one
the calls of the first stack that the second does not begin with, and enters one by one those of the second. So it is as
long as the stacks are deep, and longer where calls are run through on the way; it is made as it is asked for, step by
step. Cost: O(edges) for each two nodes between which a path is looked for, once a walk; O(1) a step, and O(log depth)
at a call that is entered.
"""

from __future__ import annotations

from collections.abc import Iterator

from progress.topology import NO_NODE
from recursion.relation import Place, Relation
from recursion.requirements import returning_paths
from recursion.stack import Call, Procedure, Stack, first_difference

Path = list[tuple[int, Call | None]]  # the edges of a path of the alternative graph, or the calls gone through


def steps(relation: Relation, start: int, before: Stack, end: int, after: Stack) -> Iterator[Place] | None:
    """The steps from (start, before) to (end, after), both included; None where there is no way."""
    return _Steps(relation).between(start, before, end, after) if relation.leads(start, before, end, after) else None


class _Steps:
    """The steps of one walk."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._graph = relation.graph
        self._count = len(relation.graph.nodes)
        self._push_edges = {call: edge for edge, call in relation.graph.pushes.items()}
        self._pop_edges = {call: edge for edge, call in relation.graph.pops.items()}
        self._paths: dict[tuple[int, int], Path] = {}
        self._through: dict[Procedure, Path] = {}

    def between(self, start: int, before: Stack, end: int, after: Stack) -> Iterator[Place]:
        yield start, before
        if start == end and before is after:
            return
        if start >= self._count:
            start = self._graph.targets[start - self._count]
            yield start, before
        goal, goal_stack = end, after
        if end >= self._count:
            left = self._relation.left_from(end, after)
            assert left is not None
            goal, goal_stack = left
        common, leaves, enters = first_difference(before, goal_stack)
        if common.following:  # a shared call is left, comes after itself, and is entered again
            again = common.ancestor(common.following)
            common, leaves, enters = again.parent, again.call, again.call
        here = start
        stack = before
        while stack is not common:
            yield from self._along(here, stack.procedure.exit, stack)
            assert stack.call is not None
            yield from self._returned(stack.call, stack.parent)
            here, stack = stack.call.returns, stack.parent
        assert leaves is None or here == leaves.returns
        while enters is not None:
            yield from self._along(here, enters.call, stack)
            stack = self._graph.stacks.push(stack, enters)
            yield from self._called(enters, stack)
            here = enters.enters.entrance
            enters = None if stack is goal_stack else goal_stack.ancestor(stack.depth + 1).call
        yield from self._along(here, goal, stack)
        if end >= self._count:
            yield end, after

    def _called(self, call: Call, pushed: Stack) -> Iterator[Place]:
        """After `call-c`: the back edge to `in`, and `in`."""
        yield self._count + self._push_edges[call], pushed
        yield call.enters.entrance, pushed

    def _returned(self, call: Call, stack: Stack) -> Iterator[Place]:
        """After `out`: the back edge to `ret-c`, and `ret-c`."""
        yield self._count + self._pop_edges[call], stack
        yield call.returns, stack

    def _along(self, source: int, target: int, stack: Stack) -> Iterator[Place]:
        """After (source, stack): the way to (target, stack), with the calls on it from `in` to `out`."""
        if (source, target) not in self._paths:
            self._paths[source, target] = self._relation.path(source, target)
        running: list[tuple[Iterator[tuple[int, Call | None]], Call | None]] = [
            (iter(self._paths[source, target]), None)
        ]
        while running:
            path, within = running[-1]
            edge, call = next(path, (NO_NODE, None))
            if call is not None:
                stack = self._graph.stacks.push(stack, call)
                yield from self._called(call, stack)
                running.append((iter(self._path_through(call.enters)), call))
            elif edge != NO_NODE:
                yield self._count + edge, stack
                yield self._graph.targets[edge], stack
            else:
                running.pop()
                if within is not None:
                    stack = stack.parent
                    yield from self._returned(within, stack)

    def _path_through(self, procedure: Procedure) -> Path:
        """A path from `in` to `out` all of whose calls return, without end only if there were none (PS413)."""
        if not self._through:
            for each, nodes in returning_paths(self._graph).items():
                self._through[each] = self._relation.path_over(nodes)
        return self._through[procedure]
