"""The engine for graphs with calls: a tree of frames for each epoch (`recursion.frames`).

A request at (p, (e, f)) waits in one tree at a time, at or before its epoch, until nothing in that tree can arrive at p
at f. A tree that it has passed it need not look at again: Clock shrinks. Cost of a request: that of `Frames` for each
tree that it looks at; which these are, `recursion.in_flight` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from progress.engines.propagation import Change, Move
from progress.summary import Summary
from recursion.call_graph import CallGraph
from recursion.frames import Frames
from recursion.in_flight import InFlight
from recursion.order import leading_to
from recursion.stack import Stack
from recursion.times import Along

ALONE: Any = None  # the epoch where there are none


class CallEngine:
    """What is outstanding in a graph with calls, and who waits (`progress.engines`)."""

    name = "frames"
    kernel = None

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self._alone = Frames(graph) if graph.epochs is None else None
        self._in_flight = None if graph.epochs is None else InFlight(graph, graph.epochs)
        self._waiting: dict[int, tuple[int, Any]] = {}  # with epochs: where and until when each waiter waits
        self._watched: dict[int, int] = {}  # with the nodes that a frontier there follows from
        self._moved = 0
        self.split: Callable[[Any], tuple[Any, Stack]] = _alone if graph.epochs is None else _as_it_is

    @property
    def trees(self) -> Mapping[Any, Frames]:
        """The trees by epoch."""
        if self._alone is not None:
            return {ALONE: self._alone}
        assert self._in_flight is not None
        return self._in_flight.trees

    def update(self, changes: Sequence[Change]) -> list[int]:
        """Change what is outstanding, all together; the waiters that this releases."""
        if self._in_flight is None:
            assert self._alone is not None
            released = self._alone.update(changes)
            self._take(self._alone)
            return released
        grouped: dict[Any, list[Change]] = {}
        for node, (epoch, stack), change in changes:
            grouped.setdefault(epoch, []).append((node, stack, change))
        released = []
        for epoch, group in grouped.items():
            tree = self._in_flight.tree(epoch)
            released += tree.update(group)
            self._take(tree)
        woken = [waiter for waiter in released if not self.wait(*self._waiting.pop(waiter), waiter)]
        for epoch in grouped:
            self._in_flight.drop_if_empty(epoch)
        return woken

    def rebuild(self, changes: Sequence[Change]) -> None:
        """Take what was outstanding before."""
        self.update(changes)

    def freed(self, woken: list[int]) -> list[int]:
        """Of the waiters that were released, those that nothing blocks: here all."""
        return woken

    def wait(self, vertex: int, until: Any, waiter: int) -> bool:
        """Wait until nothing may arrive at a node at this time or before; False where that is so already."""
        epoch, stack = self.split(until)
        tree = self._tree(vertex, epoch, stack)
        if tree is None or not tree.wait(vertex, stack, waiter):
            return False
        if self._in_flight is not None:
            self._waiting[waiter] = vertex, until
        return True

    def covers(self, vertex: int, until: Any) -> bool:
        """Whether anything may still arrive at a node at this time or before."""
        epoch, stack = self.split(until)
        tree = self._tree(vertex, epoch, stack)
        return tree is not None and (self._alone is None or tree.covers(vertex, stack))

    def _tree(self, vertex: int, epoch: Any, stack: Stack) -> Frames | None:
        """The tree to ask: with epochs one that covers the node at the stack, if any does."""
        if self._in_flight is not None:
            return self._in_flight.first_that_covers(vertex, epoch, stack)
        return self._alone

    def reaches(self, vertex: int, summary: Summary, time: Any) -> bool:
        """Whether something may arrive at a node that the summary, one of this graph's steps, moves to `time`."""
        assert isinstance(summary, Along)
        before = summary.time_before(time)
        return before is not None and self.covers(vertex, before)

    def times(self, vertex: int) -> Sequence[Any]:
        """Not asked for here: `recursion.running_on_frames` answers for frontiers."""
        raise NotImplementedError

    def watch(self, vertex: int) -> None:
        """Note from now on when the frontier of a node, or of an edge that leaves it, may have moved.

        It follows from the stacks that reach the node, and from those that reach calls in which it can come to run.
        """
        leading = leading_to({self.graph.within[vertex]}, self.graph)
        self._watched[vertex] = 1 << vertex | sum(1 << call.call for call in self.graph.calls if call.enters in leading)

    def take_moved(self) -> dict[int, Move | None]:
        """The watched nodes whose frontiers may have moved since the last call."""
        moved, self._moved = self._moved, 0
        return {vertex: None for vertex, nodes in self._watched.items() if moved & nodes}

    def _take(self, tree: Frames) -> None:
        self._moved |= tree.moved
        tree.moved = 0


def _alone(time: Any) -> tuple[Any, Stack]:
    return ALONE, time


def _as_it_is(time: Any) -> tuple[Any, Stack]:
    return time  # type: ignore[no-any-return]
