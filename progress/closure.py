"""Close-up (A&I 3.3): the least upward closed set that contains given pointstamps, by its minimal times.

The closure is iterated: it contains what can be reached by could-result-in any number of times. Where Condition 2 holds
that is one application (Proposition 3); where it fails the two differ, and this is the iterated one, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from progress.antichain import covers, minimal_elements
from progress.coordinate import Undecided
from progress.errors import PointstampError
from progress.layout import Numbers, layout_of
from progress.normal_form import Piece, compose, holds, moved
from progress.pointstamp import Pointstamp
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE, Network, Topology
from progress.walk import layout_at, summary_pieces, unchanged

MOST_COMPARISONS = 3_000_000
MOST_COMPARISONS_A_LOCATION = 100


class ClosureTooLarge(PointstampError):
    """A closure with more minimal times than fit the budget; it may have no finite form at all."""

    def __init__(self) -> None:
        super().__init__(
            "PS604",
            f"the closure needs more than {MOST_COMPARISONS} comparisons of times",
            "mend the cycle that `pointstamp check` shows, or start from fewer or earlier times",
        )


class _Entry:
    """A time at a node, how it came there, and how many steps ago its component was entered."""

    __slots__ = ("before", "depth", "edge", "node", "time")

    def __init__(self, node: int, time: Any, edge: int | None, before: _Entry | None, depth: int) -> None:
        self.node = node
        self.time = time
        self.edge = edge
        self.before = before
        self.depth = depth


class Closure:
    """The result of `close`: minimal times at every location, membership, and a way to each of its times."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.at_node: list[list[_Entry]] = [[] for _ in network.nodes]
        self.on_edge: dict[int, list[Any]] = {}  # the given times on edges

    def times(self, location: int) -> tuple[Any, ...]:
        """The minimal times at a location, in a linear extension of their order. Cost: O(width log width)."""
        count = len(self.network.nodes)
        if location < count:
            times: list[Any] = [entry.time for entry in self.at_node[location]]
        else:
            times = [time for time, _ in self._arrivals(location - count)]
        return minimal_elements(self.network.domain(location), times)

    @property
    def frontiers(self) -> dict[str, tuple[Any, ...]]:
        """The minimal times at every location that has any. Cost: O(locations * width)."""
        found = {}
        for location in range(len(self.network.nodes) + len(self.network.edges)):
            times = self.times(location)
            if times:
                found[self.network.name(location)] = times
        return found

    def __contains__(self, pointstamp: object) -> bool:
        if not isinstance(pointstamp, tuple) or len(pointstamp) != 2:
            return False
        location, time = self.network.pointstamp(*pointstamp)
        return self.covers(location, time)

    def covers(self, location: int, time: Any) -> bool:
        """Whether the pointstamp is in the closed set. Cost: O(width)."""
        return covers(self.network.domain(location), self.times(location), time)

    def way(self, location: int, time: Any) -> list[Pointstamp] | None:
        """The way on which a time at or below `time` arrives: from a given pointstamp, over neighbouring locations.

        The last pair is `location` at `time` itself. Where Condition 2 fails a location may occur twice.
        """
        network = self.network
        count = len(network.nodes)
        less_equal = network.domain(location).less_equal
        end = Pointstamp(network.name(location), time)
        if location < count:
            entry = next((entry for entry in self.at_node[location] if less_equal(entry.time, time)), None)
            way = self._back(entry) if entry else None
        else:
            found = next(
                ((arrived, entry) for arrived, entry in self._arrivals(location - count) if less_equal(arrived, time)),
                None,
            )
            if found is None:
                return None
            arrived, entry = found
            way = [*(self._back(entry) if entry else []), Pointstamp(end.location, arrived)]
        if way is None:
            return None
        if way[-1] != end:
            way[-1:] = [end] if len(way) > 1 else [way[-1], end]
        return way

    def _arrivals(self, edge: int) -> Iterable[tuple[Any, _Entry | None]]:
        """The times on an edge: those given there, and those that its source sends."""
        for time in self.on_edge.get(edge, ()):
            yield time, None
        source, summary = self.network.sources[edge], self.network.summaries[edge]
        if source != NO_NODE and summary is not None:
            for entry in self.at_node[source]:
                for time in summary.apply(entry.time):
                    yield time, entry

    def _back(self, entry: _Entry | None) -> list[Pointstamp]:
        network = self.network
        way: list[Pointstamp] = []
        while entry is not None:
            way.append(Pointstamp(network.nodes[entry.node], entry.time))
            if entry.edge is not None:
                way.append(Pointstamp(network.edges[entry.edge], entry.time))
            entry = entry.before
        way.reverse()
        return way


def close(graph: Topology, pointstamps: Iterable[tuple[str, Any]]) -> Closure:
    """Close-up of the given pointstamps.

    Cost: each node once a time, in an order in which components come before what they lead to; inside a component where
    times can fall, falling is run to its end at once. `NoMinimalTimes` where no antichain stands for the result,
    `ClosureTooLarge` beyond the budget.
    """
    network = graph.network()
    return close_numbered(network, [network.pointstamp(*pointstamp) for pointstamp in pointstamps])


def close_numbered(network: Network, pointstamps: Iterable[tuple[int, Any]]) -> Closure:
    """`close` for numbered locations."""
    closure = Closure(network)
    run = _Run(network, closure)
    count = len(network.nodes)
    for location, time in pointstamps:
        if location < count:
            run.offer(_Entry(location, time, None, None, 0))
            continue
        edge = location - count
        closure.on_edge.setdefault(edge, []).append(time)
        if network.targets[edge] != NO_NODE:
            run.offer(_Entry(network.targets[edge], time, edge, None, 0))
    run.finish()
    return closure


class _Run:
    """One closing: entries wait at their nodes, nodes wait in the order of their components."""

    def __init__(self, network: Network, closure: Closure) -> None:
        self.network = network
        self.closure = closure
        self.waiting: dict[int, list[_Entry]] = {}
        self.queue: list[tuple[int, int, int]] = []
        self.turn = 0
        self.comparisons_left = MOST_COMPARISONS + MOST_COMPARISONS_A_LOCATION * len(network.edges)

    def offer(self, entry: _Entry) -> None:
        """Take a time at a node unless one at or below it is known there."""
        node, time = entry.node, entry.time
        known = self.closure.at_node[node]
        self.comparisons_left -= len(known) + 1
        if self.comparisons_left < 0:
            raise ClosureTooLarge
        if known:
            less_equal = self.network.domains[node].less_equal
            if any(less_equal(other.time, time) for other in known):
                return
            known[:] = [other for other in known if not less_equal(time, other.time)]
        known.append(entry)
        if node in self.waiting:
            self.waiting[node].append(entry)
            return
        self.waiting[node] = [entry]
        self.turn += 1
        heappush(self.queue, (-self.network.component[node], self.turn, node))

    def finish(self) -> None:
        """Send everything on until nothing is new."""
        network = self.network
        component, sizes = network.component, network.component_sizes
        while self.queue:
            _, _, node = heappop(self.queue)
            entries = self.waiting.pop(node)
            known = self.closure.at_node[node]
            for entry in entries:
                if len(entries) > 1 and entry not in known:
                    continue
                if entry.depth > sizes[component[node]]:
                    entry = self._fallen(entry)
                for edge in network.outgoing[node] if entry.node == node else ():
                    target, summary = network.targets[edge], network.summaries[edge]
                    if target == NO_NODE or summary is None:
                        continue
                    depth = entry.depth + 1 if component[target] == component[node] else 0
                    for time in summary.apply(entry.time):
                        self.offer(_Entry(target, time, edge, entry, depth))

    def _fallen(self, entry: _Entry) -> _Entry:
        """More steps than nodes: a node was passed twice and not from above. Run that round to its end."""
        later: dict[int, _Entry] = {}
        edges: list[int] = []
        step: _Entry | None = entry
        while step is not None and step.node not in later:
            later[step.node] = step
            if step.edge is not None:
                edges.append(step.edge)
            step = step.before
        if step is None:
            return entry
        arrived = later[step.node]
        walk: list[int] = []
        back: _Entry | None = arrived
        while back is not None and back is not step:
            assert back.edge is not None
            walk.append(back.edge)
            back = back.before
        walk.reverse()
        lowest = _end_of_fall(self.network, walk, step.time, arrived.time)
        entry.depth = 0
        if lowest is not None:
            self.offer(_Entry(step.node, lowest, None, arrived, 0))
        return entry


def _end_of_fall(network: Network, walk: Sequence[int], before: Any, after: Any) -> Any | None:
    """The time at which repeating a closed walk, which led from `before` to `after`, comes to rest below `after`.

    None where it does not lead strictly down; `NoMinimalTimes` where it has no end. The walk's summary is squared, so
    the cost is the walk's length and the number of digits, not the number of rounds.
    """
    node = network.sources[walk[0]]
    try:
        layout = layout_at(network, node)
        case, numbers = layout.encode(after)
        piece = _piece_between(network, walk, before, after)
    except Undecided:
        return None
    if piece is None or piece.source_case != piece.target_case or not holds(piece.box, numbers):
        return None
    rows = layout.rows[case]
    digits = max([8, *(abs(number).bit_length() for number in numbers), *_constants(piece)]) + 8
    powers = [piece]
    for _ in range(digits):
        squared = compose(rows, powers[-1], powers[-1])
        if squared is None or not holds(squared.box, numbers):
            break
        powers.append(squared)
    far = moved(powers[-1], numbers)
    if any(number is None or number < -(1 << (digits - 2)) for number in far):
        raise NoMinimalTimes(
            f"a coordinate of the times at {network.nodes[node]!r} falls without end on the cycle through "
            f"{network.edges[walk[-1]]!r}"
        )
    less_equal = network.domains[node].less_equal
    lowest: Numbers = numbers
    for power in reversed(powers):
        for _ in range(2):
            if not holds(power.box, lowest):
                break
            lower = moved(power, lowest)
            if None in lower:
                break
            reached: Numbers = lower  # type: ignore[assignment]
            if reached == lowest or not less_equal(layout.decode(case, reached), layout.decode(case, lowest)):
                break
            lowest = reached
    return None if lowest == numbers else layout.decode(case, lowest)


def _constants(piece: Piece) -> Iterable[int]:
    for move in piece.moves:
        for number in (*(move.word or ()), move.floor or 0):
            yield abs(number).bit_length()


def _piece_between(network: Network, walk: Sequence[int], before: Any, after: Any) -> Piece | None:
    """The piece of the walk's summary that leads from `before` to `after`."""
    layout = layout_of(network.domains[network.sources[walk[0]]])
    assert layout is not None
    case, start = layout.encode(before)
    rows = layout.rows[case]
    pieces = [piece for piece in unchanged(layout) if piece.source_case == case]
    for edge in walk:
        joined = [compose(rows, piece, step) for piece in pieces for step in summary_pieces(network, edge)]
        pieces = [piece for piece in joined if piece is not None and holds(piece.box, start)][:64]
    goal = layout.encode(after)
    return next((piece for piece in pieces if (piece.target_case, moved(piece, start)) == goal), None)
