"""The engine for graphs with calls: a tree of frames for each epoch (`recursion.frames`).

A request at (p, (e, f)) waits in one tree at a time, at or before its epoch, until nothing in that tree can arrive at p
at f. A tree that it has passed it need not look at again: Clock shrinks. Cost of a request: that of `Frames`, for each
epoch in flight at or before its own; one where epochs are not ordered, or where there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from progress.propagation import Change, Move
from progress.summary import Summary
from recursion.call_graph import CallGraph
from recursion.frames import Frames
from recursion.stack import Stack
from recursion.times import Along

ALONE: Any = None  # the epoch where there are none


class CallEngine:
    """What is outstanding in a graph with calls, and who waits (`progress.engines`)."""

    name = "frames"
    kernel = None

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.trees: dict[Any, Frames] = {ALONE: Frames(graph)} if graph.epochs is None else {}
        self._waiting: dict[int, tuple[int, Any]] = {}  # with epochs: where and until when each waiter waits
        self._watched: dict[int, None] = {}
        self.split: Callable[[Any], tuple[Any, Stack]] = _alone if graph.epochs is None else _as_it_is

    def update(self, changes: Sequence[Change]) -> list[int]:
        """Change what is outstanding, all together; the waiters that this releases."""
        if self.graph.epochs is None:
            return self.trees[ALONE].update(changes)
        grouped: dict[Any, list[Change]] = {}
        for node, (epoch, stack), change in changes:
            grouped.setdefault(epoch, []).append((node, stack, change))
        released: list[int] = []
        for epoch, group in grouped.items():
            if epoch not in self.trees:
                self.trees[epoch] = Frames(self.graph)
            released += self.trees[epoch].update(group)
        woken = [waiter for waiter in released if not self.wait(*self._waiting.pop(waiter), waiter)]
        for epoch in grouped:
            if epoch in self.trees and self.trees[epoch].is_empty:
                del self.trees[epoch]
        return woken

    def freed(self, woken: list[int]) -> list[int]:
        """Of the waiters that were released, those that nothing blocks: here all."""
        return woken

    def wait(self, vertex: int, until: Any, waiter: int) -> bool:
        """Wait until nothing may arrive at a node at this time or before; False where that is so already."""
        _, stack = self.split(until)
        for _, tree in self._until(until):
            if tree.wait(vertex, stack, waiter):
                if self.graph.epochs is not None:
                    self._waiting[waiter] = vertex, until
                return True
        return False

    def covers(self, vertex: int, until: Any) -> bool:
        """Whether anything may still arrive at a node at this time or before."""
        _, stack = self.split(until)
        return any(tree.covers(vertex, stack) for _, tree in self._until(until))

    def _until(self, time: Any) -> Iterator[tuple[Any, Frames]]:
        """The trees of the epochs at or before a time's, its own first."""
        epochs, trees = self.graph.epochs, self.trees
        if epochs is None:
            yield ALONE, trees[ALONE]
            return
        last, _ = self.split(time)
        if last in trees:
            yield last, trees[last]
        for epoch, tree in trees.items():
            if epoch != last and epochs.less_equal(epoch, last):
                yield epoch, tree

    def reaches(self, vertex: int, summary: Summary, time: Any) -> bool:
        """Whether something may arrive at a node that the summary, one of this graph's steps, moves to `time`."""
        assert isinstance(summary, Along)
        before = summary.time_before(time)
        return before is not None and self.covers(vertex, before)

    def times(self, vertex: int) -> Sequence[Any]:
        """Not asked for here: `recursion.workings` answers for frontiers."""
        raise NotImplementedError

    def watch(self, vertex: int) -> None:
        """Note from now on when the frontier of a node moves."""
        self._watched[vertex] = None

    def take_moved(self) -> dict[int, Move | None]:
        """The watched nodes, whose frontiers may have moved."""
        return dict.fromkeys(self._watched)


def _alone(time: Any) -> tuple[Any, Stack]:
    return ALONE, time


def _as_it_is(time: Any) -> tuple[Any, Stack]:
    return time  # type: ignore[no-any-return]
