"""Eager propagation: after each change, every frontier that it moves is put right, each vertex once, in rank order.

The frontier of a vertex is the minimum of its own outstanding times and of its predecessors' frontiers moved by their
summaries. Nothing is counted along the way: a time of a frontier is *supported* while it is outstanding there or is the
image of a time of a predecessor's frontier. What loses its support leaves, what that uncovers comes in.

Rank order is the order of strongly connected components, so a vertex on no cycle is visited once a change. A component
is one unit: support runs down in it first, then what is left is spread again in the order of time, as Dijkstra does.
That is right where every closed walk advances, because then no time can support itself. A component that is not known
to advance is closed anew from its entries (`progress.closure`, exact in every case).

Cost of an update: O(arcs at the vertices whose frontier moves), times what `progress.engines.vertex_state` says;
O(component) for the components that are not known to advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any

from progress.closure import close_numbered
from progress.effort import MOST_STEPS, STEPS_A_CHANGE, STEPS_A_PLACE, Effort
from progress.engines.arcs import Arcs, identity_on
from progress.engines.entering_arc import Pull, added_number, pull
from progress.engines.propagation import Change, Move
from progress.engines.vertex_state import NOTHING, Place, TotalPlace, place_for
from progress.normal_form.backwards import reaches
from progress.normal_form.layout import layout_of
from progress.order import Domain
from progress.summary import Summary
from progress.topology import Network

Apply = Callable[[Any], tuple[Any, ...]]


class Eager:
    """Frontiers over a graph of vertices and arcs, and the waiters at them (`progress.engines`)."""

    name = "eager"
    kernel = None

    def __init__(self, graph: Arcs) -> None:
        self.graph = graph
        self.places: list[Place] = [place_for(domain) for domain in graph.domains]
        self._watched: set[int] = set()
        self._moves: dict[int, Move | None] = {}  # of watched vertices, since somebody asked
        self._effort = Effort()
        self.visits = 0  # how often a vertex was put right: what updates cost, for tests
        count = len(graph.domains)
        highest = max(graph.component, default=0)
        self._rank = [highest - number for number in graph.component]
        self._members: list[list[int]] = [[] for _ in range(highest + 1)]
        for vertex, rank in enumerate(self._rank):
            self._members[rank].append(vertex)
        places, ranks = self.places, self._rank
        alone = [len(self._members[rank]) == 1 for rank in ranks]
        self._single = [alone[vertex] and type(places[vertex]) is TotalPlace for vertex in range(count)]
        self._leaving: list[list[tuple[int, Apply]]] = [[] for _ in range(count)]
        self._following: list[list[int]] = [[] for _ in range(count)]  # ranks of single times to look at again
        self._entering: list[list[tuple[int, Pull]]] = [[] for _ in range(count)]
        self._preceding: list[list[tuple[Place, int | None, Apply]]] = [[] for _ in range(count)]
        for source, target, summary in graph.arcs:
            if self._single[target]:
                self._following[source].append(ranks[target])
                amount = added_number(summary) if type(places[source]) is TotalPlace else None
                self._preceding[target].append((places[source], amount, summary.limits))
                continue
            self._leaving[source].append((target, summary.limits))
            self._entering[target].append((source, pull(summary, places[source], places[target])))
        self._keys = {
            rank: _time_key([graph.domains[vertex] for vertex in unit])
            for rank, unit in enumerate(self._members)
            if len(unit) > 1
        }
        self._closings: dict[int, _Closing] = {}
        self._queue: list[int] = []  # ranks where something is to be done, each once
        self._queued = bytearray(highest + 1)
        self._doubted: dict[int, dict[Any, None]] = {}  # by vertex: times that may have lost their support
        self._coming: dict[int, dict[Any, None]] = {}  # by vertex: times that may have come
        self._woken: list[int] = []

    def update(self, changes: Sequence[Change]) -> list[int]:
        """Take changes of outstanding times together and put every frontier right; the waiters that this released."""
        steps = MOST_STEPS + STEPS_A_PLACE * (len(self.places) + len(self.graph.arcs)) + STEPS_A_CHANGE * len(changes)
        return self._update(changes, steps)

    def rebuild(self, changes: Sequence[Change]) -> None:
        """Take what was outstanding before, however much work it is."""
        self._update(changes, inf)

    def _update(self, changes: Sequence[Change], steps: float) -> list[int]:
        self._effort.left = steps
        queue, queued, ranks, places, single = self._queue, self._queued, self._rank, self.places, self._single
        for vertex, time, change in changes:
            if places[vertex].count(time, change):
                if not single[vertex]:
                    (self._coming if change > 0 else self._doubted).setdefault(vertex, {})[time] = None
                    if change < 0 and vertex in self._coming:
                        self._coming[vertex].pop(time, None)  # it came and went
                rank = ranks[vertex]
                if not queued[rank]:
                    queued[rank] = 1
                    heappush(queue, rank)
        members = self._members
        while queue:
            rank = heappop(queue)
            queued[rank] = 0
            unit = members[rank]
            if len(unit) > 1:
                (self._close if unit[0] in self.graph.stubborn else self._settle_unit)(rank, unit)
            elif single[unit[0]]:
                self._settle_single(unit[0])
            else:
                self._settle(unit[0])
        woken, self._woken = self._woken, []
        return woken

    def freed(self, woken: list[int]) -> list[int]:
        """Of the waiters that were released, those that nothing blocks: here all."""
        return woken

    def covers(self, vertex: int, until: Any) -> bool:
        """Whether something at or below `until` may come to the vertex."""
        return self.places[vertex].covers(until)

    def times(self, vertex: int) -> Sequence[Any]:
        """The frontier of a vertex."""
        return self.places[vertex].times

    def wait(self, vertex: int, until: Any, waiter: int) -> bool:
        """Wait until nothing at or below `until` may come to the vertex any more; False where that is so already."""
        return self.places[vertex].wait(until, waiter)

    def reaches(self, vertex: int, summary: Summary, time: Any) -> bool:
        """Whether something may come to the vertex that the summary moves to `time` or below. Cost: O(width)."""
        return reaches(summary, time, self.places[vertex].covers, lambda: self.times(vertex))

    def watch(self, vertex: int) -> None:
        """Note from now on when the frontier of a vertex moves."""
        self._watched.add(vertex)

    def take_moved(self) -> dict[int, Move | None]:
        """The watched vertices that moved since the last call, with what left and what came, if they moved once."""
        moves, self._moves = self._moves, {}
        return moves

    def _settle_single(self, vertex: int) -> None:
        """Put a vertex on no cycle right whose times are totally ordered, its predecessors being right."""
        self.visits += 1
        place: TotalPlace = self.places[vertex]  # type: ignore[assignment]
        before, now = place.first, place.minimum()
        precedes = None if place.is_natural else place.precedes
        for source, amount, apply in self._preceding[vertex]:
            if amount is not None:
                first = source.first  # type: ignore[attr-defined]
                if first is not NOTHING and (now is NOTHING or first + amount < now):
                    now = first + amount
                continue
            for each in source.times:
                for time in apply(each):
                    if now is NOTHING or (time < now if precedes is None else precedes(time, now)):
                        now = time
        if now is before or now == before:
            return
        place.first = now
        if self._leaving[vertex] or place.waiting or vertex in self._watched:
            self._moved(vertex, [] if before is NOTHING else [before], [] if now is NOTHING else [now])
        else:
            self._follow(vertex)

    def _follow(self, vertex: int) -> None:
        """Have the single times that depend on a vertex looked at again."""
        queue, queued = self._queue, self._queued
        for rank in self._following[vertex]:
            if not queued[rank]:
                queued[rank] = 1
                heappush(queue, rank)

    def _settle(self, vertex: int) -> None:
        """Put a vertex on no cycle right, its predecessors being so."""
        self.visits += 1
        place = self.places[vertex]
        doubted, coming = self._doubted.pop(vertex, None), self._coming.pop(vertex, None)
        insert, spend = place.insert, self._effort.spend
        lost = [time for time in doubted or () if place.holds(time) and not self._supported(vertex, time)]
        for time in lost:
            place.discard(time)
        won = []
        for time in coming or ():
            spend(place.cost)
            if insert(time):
                won.append(time)
        if lost:
            won += place.refill(lost)
            for _, entering in self._entering[vertex]:
                for time in entering.images(lost):
                    spend(place.cost)
                    if insert(time):
                        won.append(time)
        if lost or won:
            self._moved(vertex, lost, [time for time in won if place.holds(time)])

    def _supported(self, vertex: int, time: Any) -> bool:
        if time in self.places[vertex].counts:
            return True
        for _, entering in self._entering[vertex]:
            self._effort.spend(entering.cost)
            if entering.supports(time):
                return True
        return False

    def _moved(self, vertex: int, lost: Sequence[Any], won: Sequence[Any], within: int = -1) -> None:
        """Wake who waited, and tell the vertices outside of the unit `within` what they have to look at."""
        place = self.places[vertex]
        if lost and place.waiting:
            self._woken += place.released(lost)
        if vertex in self._watched:
            self._moves[vertex] = None if vertex in self._moves else (lost, won)
        self._follow(vertex)
        for target, apply in self._leaving[vertex]:
            rank = self._rank[target]
            if rank == within:
                continue
            if not self._queued[rank]:
                self._queued[rank] = 1
                heappush(self._queue, rank)
            self._effort.spend(len(lost) + len(won))
            for times, found in ((lost, self._doubted), (won, self._coming)):
                for time in times:
                    for after in apply(time):
                        found.setdefault(target, {})[after] = None

    def _settle_unit(self, rank: int, unit: Sequence[int]) -> None:
        """Put a component right in which every closed walk advances."""
        key, ranks, places, spend = self._keys[rank], self._rank, self.places, self._effort.spend
        lost: dict[int, dict[Any, None]] = {}
        won: dict[int, dict[Any, None]] = {}
        queue: list[tuple[Any, int, int, Any]] = []
        turn = 0
        for vertex in unit if len(self._doubted) > len(unit) else list(self._doubted):
            if ranks[vertex] == rank:
                for time in self._doubted.pop(vertex, ()):
                    turn += 1
                    heappush(queue, (key(time), turn, vertex, time))
        while queue:
            _, _, vertex, time = heappop(queue)
            place = places[vertex]
            self.visits += 1
            spend(4)
            if not place.holds(time) or self._supported(vertex, time):
                continue
            place.discard(time)
            lost.setdefault(vertex, {})[time] = None
            for target, apply in self._leaving[vertex]:
                if ranks[target] == rank:
                    for after in apply(time):
                        if places[target].holds(after):
                            turn += 1
                            heappush(queue, (key(after), turn, target, after))

        def come(vertex: int, times: Iterable[Any]) -> None:
            nonlocal turn
            for time in times:
                spend(2 + places[vertex].cost)
                won.setdefault(vertex, {})[time] = None
                turn += 1
                heappush(queue, (key(time), turn, vertex, time))

        for vertex in unit if len(self._coming) > len(unit) else list(self._coming):
            if ranks[vertex] == rank:
                come(vertex, [time for time in self._coming.pop(vertex, ()) if places[vertex].insert(time)])
        for vertex, times in lost.items():
            place, gone = places[vertex], list(times)
            come(vertex, place.refill(gone))
            for _, entering in self._entering[vertex]:
                come(vertex, [time for time in entering.images(gone) if place.insert(time)])
        while queue:
            _, _, vertex, time = heappop(queue)
            spend(4)
            if not places[vertex].holds(time):
                continue
            self.visits += 1
            for target, apply in self._leaving[vertex]:
                if ranks[target] == rank:
                    place = places[target]
                    come(target, [after for after in apply(time) if place.insert(after)])
        for vertex in {**lost, **won}:
            place, before = places[vertex], lost.get(vertex, {})
            gone = [time for time in before if not place.holds(time)]
            new = [time for time in won.get(vertex, ()) if time not in before and place.holds(time)]
            if gone or new:
                self._moved(vertex, gone, new, rank)

    def _close(self, rank: int, unit: Sequence[int]) -> None:
        """Put a component right that may hold back itself: close it anew from its entries and its own times."""
        for vertex in unit:
            self._doubted.pop(vertex, None)
            self._coming.pop(vertex, None)
        closing = self._closings.get(rank)
        if closing is None:
            closing = self._closings[rank] = _Closing(self.graph, unit)
        starts = [(vertex, time) for vertex in unit for time in self.places[vertex].least]
        for vertex in unit:
            for source, entering in self._entering[vertex]:
                if self._rank[source] != rank:
                    starts += [(vertex, time) for time in entering.images()]
        for vertex, times in closing.frontiers(starts, self._effort):
            place = self.places[vertex]
            self.visits += 1
            before = list(place.times)
            gone = [time for time in before if time not in times]
            for time in gone:
                place.discard(time)
            new = [time for time in times if place.insert(time)]
            if gone or new:
                self._moved(vertex, gone, new, rank)


class _Closing:
    """A component as a network of its own, for `close`."""

    def __init__(self, graph: Arcs, unit: Sequence[int]) -> None:
        self._unit = unit
        self._number = {vertex: number for number, vertex in enumerate(unit)}
        domains = [graph.domains[vertex] for vertex in unit]
        arcs = [arc for arc in graph.arcs if arc[0] in self._number and arc[1] in self._number]
        self._network = Network(
            [graph.names[vertex] for vertex in unit],
            domains,
            [identity_on(domain) for domain in domains],
            [True] * len(unit),
            [graph.names[source] for source, _, _ in arcs],
            [self._number[source] for source, _, _ in arcs],
            [self._number[target] for _, target, _ in arcs],
            [graph.domains[target] for _, target, _ in arcs],
            [summary for _, _, summary in arcs],
        )

    def frontiers(self, starts: Iterable[tuple[int, Any]], effort: Effort) -> list[tuple[int, Sequence[Any]]]:
        """The frontier of every vertex, of what comes from these starts."""
        closure = close_numbered(self._network, [(self._number[vertex], time) for vertex, time in starts], effort)
        return [(vertex, closure.limits(number)) for number, vertex in enumerate(self._unit)]


def _time_key(domains: Sequence[Domain]) -> Callable[[Any], Any]:
    """A key by which times of a component are taken in an order that fits theirs, where they can be compared at all."""
    first = domains[0]
    if all(domain == first for domain in domains):
        return first.sort_key
    layouts = {domain: layout_of(domain) for domain in domains}
    if all(layout is not None and layout.plain for layout in layouts.values()):
        return _same
    return lambda time: 0


def _same(time: Any) -> Any:
    return time
