"""The hierarchical engine: frontiers are kept at hubs alone, and found at all other vertices through their labels.

A blocked request (p, t) waits at the first hub of p's label that blocks it, until the hub's frontier has passed the
latest time from which something at or below t results. Hubs are tried in descending rank, and a hub once passed is
passed for ever. For what the hub holds may grow, when a message arrives below it; but Clock only shrinks, so what
arrives was in Clock before. It would have blocked the request from a hub further up, and all of those are passed
already. Hence a request is examined at most once for each latest time of its label, and once in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from progress.antichain import minimal_elements
from progress.effort import effort_of_frontier
from progress.engines.hierarchy import CORE, Hierarchy, Way, ways_down
from progress.engines.propagation import Change, Move, Propagation
from progress.normal_form.backwards import reaches
from progress.summary import Summary


class Hierarchical:
    """Waiters and frontiers over labels; `hubs` keeps the frontiers of the upward graph.

    Cost: an update is one of the upward graph, and one examination for each waiter that a hub releases. A frontier
    costs one summary for each time at the hubs of its label.
    """

    name = "hierarchical"

    def __init__(self, hierarchy: Hierarchy, hubs: Propagation) -> None:
        self._hierarchy = hierarchy
        self.hubs = hubs
        self.kernel = hubs.kernel
        self._ways: dict[int, Sequence[Way]] = {}
        self._waiting: dict[int, tuple[int, Any, int, int]] = {}  # vertex, time, hub of the label, latest time there
        self._watched: dict[int, set[int]] = {}  # by hub: vertices
        self.examined = 0

    def update(self, changes: Sequence[Change]) -> list[int]:
        """Change what is outstanding; the waiters that nothing blocks any more."""
        return self.freed(self.hubs.update(changes))

    def rebuild(self, changes: Sequence[Change]) -> None:
        """Take what was outstanding before, however much work it is."""
        self.hubs.rebuild(changes)

    def freed(self, woken: list[int]) -> list[int]:
        """Of the waiters that hubs released, those that no other hub blocks; the others wait there now."""
        free = []
        for waiter in woken:
            vertex, time, hub, after = self._waiting.pop(waiter)
            if not self._goes_on(waiter, vertex, time, hub, after + 1):
                free.append(waiter)
        return free

    def wait(self, vertex: int, time: Any, waiter: int) -> bool:
        """Wait until nothing at or below `time` may come to a vertex; False where that is so already."""
        return self._goes_on(waiter, vertex, time, 0, 0)

    def _goes_on(self, waiter: int, vertex: int, time: Any, hub: int, after: int) -> bool:
        """Wait at the first of the remaining hubs that blocks; False where none does."""
        hubs = self.hubs
        if self._hierarchy.rank[vertex] == CORE:
            self.examined += 1
            if not hub and not after and hubs.wait(vertex, time, waiter):
                self._waiting[waiter] = vertex, time, 0, 0
                return True
            return False
        ways = self._label(vertex)
        for place in range(hub, len(ways)):
            way = ways[place]
            for number, until in enumerate(way.latest(time)):
                if place == hub and number < after:
                    continue
                self.examined += 1
                if hubs.wait(way.hub, until, waiter):
                    self._waiting[waiter] = vertex, time, place, number
                    return True
        return False

    def _label(self, vertex: int) -> Sequence[Way]:
        ways = self._ways.get(vertex)
        if ways is None:
            ways = self._ways[vertex] = ways_down(self._hierarchy, vertex)
        return ways

    def covers(self, vertex: int, time: Any) -> bool:
        """Whether something at or below `time` may come to a vertex. Cost: O(label)."""
        if self._hierarchy.rank[vertex] == CORE:
            return self.hubs.covers(vertex, time)
        covers = self.hubs.covers
        return any(covers(way.hub, until) for way in self._label(vertex) for until in way.latest(time))

    def reaches(self, vertex: int, summary: Summary, time: Any) -> bool:
        """Whether something may come to a vertex that the summary moves to `time` or below."""
        return reaches(summary, time, partial(self.covers, vertex), lambda: self.times(vertex))

    def times(self, vertex: int) -> Sequence[Any]:
        """The minimal times of what may come to a vertex."""
        times = self.hubs.times
        if self._hierarchy.rank[vertex] == CORE:
            return times(vertex)
        starts = [(way, before) for way in self._label(vertex) for before in times(way.hub)]
        found = [after for way, before in starts for after in way.apply(before)]
        return minimal_elements(self._hierarchy.graph.domains[vertex], found, effort_of_frontier(len(starts)))

    def watch(self, vertex: int) -> None:
        """Note when the frontier of a vertex may have moved: when one of its hubs did."""
        core = self._hierarchy.rank[vertex] == CORE
        for hub in [vertex] if core else [way.hub for way in self._label(vertex)]:
            self._watched.setdefault(hub, set()).add(vertex)
            self.hubs.watch(hub)

    def take_moved(self) -> dict[int, Move | None]:
        """The watched vertices whose frontier may have moved since the last call; how, is known in the core alone."""
        moves: dict[int, Move | None] = {}
        rank = self._hierarchy.rank
        for hub, move in self.hubs.take_moved().items():
            for vertex in self._watched[hub]:
                moves[vertex] = move if rank[vertex] == CORE else None
        return moves
