"""Close-up (A&I 3.3): the least upward closed set that contains given pointstamps, by its minimal times.

The closure is iterated: it contains what can be reached by could-result-in any number of times. Where Condition 2 holds
that is one application (Proposition 3); where it fails the two differ, and this is the iterated one, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import islice
from math import inf
from typing import Any, NamedTuple

from progress.antichain import Antichain
from progress.cycles.finite_way import finite_way, with_an_end
from progress.cycles.walk import layout_at, normal_summary, unchanged, visited
from progress.effort import STEPS_AN_INSERT, Effort, allowance
from progress.errors import PointstampError
from progress.garbage import without_cycle_search
from progress.normal_form.coordinate import Undecided
from progress.normal_form.endless import is_endless, moved_without_end
from progress.normal_form.layout import Numbers, layout_of
from progress.normal_form.pieces import Piece, compose, holds, moved
from progress.notebook import MOST_DRAWN, InNotebooks, Shown, times_in_words
from progress.pointstamp import Pointstamp, ending_at
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE, Network, Topology, network_of
from progress.way import Rounds, Way, folded

MOST_STEPS = 200_000
MOST_STEPS_AN_EDGE = 100
MANY_EDGES = 5_000  # before so many are passed, the kernel is not built


class ClosureTooLarge(PointstampError):
    """A closure with more minimal times than fit the budget; it may have no finite form at all."""

    def __init__(self) -> None:
        super().__init__(
            "PS604",
            f"the closure needs more than {MOST_STEPS} steps, and {MOST_STEPS_AN_EDGE} for each edge",
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


class _Fallen(_Entry):
    """A time to which a closed walk has fallen, which was walked so many rounds from the entry before."""

    __slots__ = ("rounds", "walk")

    def __init__(self, before: _Entry, time: Any, walk: list[int], rounds: int) -> None:
        super().__init__(before.node, time, None, before, 0)
        self.walk = walk
        self.rounds = rounds


class Closure(InNotebooks):
    """The result of `close`: minimal times at every location, membership, and a way to each of its times.

    Examples
    --------
    >>> from pointstamp import close, from_edges
    >>> closure = close(from_edges([("a", "b")], lambda edge: {"advance": 1}), [("a", 3)])
    >>> closure.frontiers["b"], ("b", 5) in closure, ("b", 3) in closure
    ((4,), True, False)
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.given_on_edge: dict[int, list[Any]] = {}
        self._frontiers: dict[int, Antichain] = {}  # by location; those of edges are computed when asked for
        self._entries: dict[int, dict[Any, _Entry | None]] = {}  # how each time came to its location; None: given there
        self._left = MOST_STEPS  # and some for each edge and time, for the frontiers of edges

    def __repr__(self) -> str:
        return f"{type(self).__name__}(of {self.network!r})"

    def _shown(self) -> Shown:
        found = {name: times_in_words(self._times_or_none(location)) for name, location in self._few()}
        found = {name: times for name, times in found.items() if times}
        rows = [*found.items()]
        texts = {name: [f"\u2265 {times}"] for name, times in rows}
        return Shown("what may still arrive: closure", ("location", "from"), rows, self.network, texts)

    def _few(self) -> list[tuple[str, int]]:
        """The locations that fit into a picture, or a table."""
        return [*islice(self.network.numbers.items(), 5 * MOST_DRAWN)]

    def _times_or_none(self, location: int) -> tuple[Any, ...]:
        try:
            return self.times(location)
        except NoMinimalTimes:
            return ("without end",)

    def add(self, entry: _Entry) -> bool:
        """Take a time at a node; whether it was new. Cost: that of `Antichain.insert`."""
        node = entry.node
        known = self._frontiers.get(node)
        if known is None:
            known = self._frontiers[node] = Antichain(self.network.domains[node])
            self._entries[node] = {}
        if not known.insert(entry.time):
            return False
        entries = self._entries[node]
        entries[entry.time] = entry
        if len(entries) > 2 * len(known) + 8:  # forget what was removed since, now and then
            self._entries[node] = {time: entries[time] for time in known.times}
        return True

    def cost(self, node: int) -> int:
        """What the next `add` at a node costs."""
        return self._frontiers[node].cost if node in self._frontiers else 1

    def is_minimal(self, entry: _Entry) -> bool:
        """Whether no lower time has come to the entry's node since."""
        return self._frontiers[entry.node].below(entry.time) == [entry.time]

    def times(self, location: int) -> tuple[Any, ...]:
        """The minimal times at a location, in a linear extension of their order. Cost: O(width log width).

        `NoMinimalTimes` where they fall without end.
        """
        return with_an_end(self.network, location, self.limits(location))

    def limits(self, location: int) -> tuple[Any, ...]:
        """As `times`, with endless times among them (`progress.normal_form.endless`)."""
        edge = location - len(self.network.nodes)
        if location not in self._frontiers and edge not in self.given_on_edge:
            if edge < 0:
                return ()
            source, summary = self.network.sources[edge], self.network.summaries[edge]
            before = self._frontiers.get(source)
            if before is None or summary is None:
                return ()
            if len(before) == 1:
                return summary.limits(before.times[0])
        return self._frontier(location).in_order()

    @property
    def frontiers(self) -> dict[str, tuple[Any, ...]]:
        """The minimal times at every location that has any. Cost: O(locations * width log width)."""
        with without_cycle_search():
            names = (*self.network.nodes, *self.network.edges)
            every = ((name, self.times(location)) for location, name in enumerate(names))
            return {name: times for name, times in every if times}

    def __contains__(self, pointstamp: object) -> bool:
        return self.covers(*self.network.pointstamp(pointstamp))

    def covers(self, location: int, time: Any) -> bool:
        """Whether the pointstamp is in the closed set. Cost: that of `Antichain.covers`, once the frontier is known."""
        return self._frontier(location).covers(time)

    def reached(self) -> list[int]:
        """The nodes, maybe among others, that have a time. Cost: O(nodes reached)."""
        return [location for location in self._frontiers if location < len(self.network.nodes)]

    def way(self, location: int, time: Any) -> Way | None:
        """The way on which a time at or below `time` arrives: from a given pointstamp, over neighbouring locations.

        The last pair is `location` at `time` itself. Where Condition 2 fails a location may occur twice, and cycles are
        folded (`progress.way`).
        """
        found = self._frontier(location).below(time)
        if not found:
            return None
        (arrived,) = found
        entry = self._entries[location][arrived]
        name = self.network.name(location)
        way, rounds = self._back(entry)
        if location >= len(self.network.nodes):
            way.append(Pointstamp(name, arrived))
        return folded(finite_way(self.network, ending_at(way, time)), rounds, self.network)

    def _frontier(self, location: int) -> Antichain:
        """The minimal times at a location: of an edge, those given there and those that its source sends."""
        known = self._frontiers.get(location)
        if known is not None:
            return known
        network, count = self.network, len(self.network.nodes)
        known = Antichain(network.domain(location))
        if location < count:
            return known
        entries: dict[Any, _Entry | None] = {}
        edge = location - count
        given = self.given_on_edge.get(edge, ())
        self._left += MOST_STEPS_AN_EDGE + allowance(len(given))
        for time in given:
            self._left -= known.cost
            if known.insert(time):
                entries[time] = None
        source, summary = network.sources[edge], network.summaries[edge]
        if source != NO_NODE and summary is not None and source in self._frontiers:
            times = self._frontiers[source].times
            self._left += allowance(len(times))
            for before in times:
                for time in summary.limits(before):
                    self._left -= known.cost
                    if self._left < 0:
                        raise ClosureTooLarge
                    if known.insert(time):
                        entries[time] = self._entries[source][before]
        self._frontiers[location], self._entries[location] = known, entries
        return known

    def _back(self, entry: _Entry | None) -> tuple[list[Pointstamp], Rounds]:
        """The steps that led to an entry, and after which of them a cycle fell."""
        network = self.network
        way: list[Pointstamp] = []
        fallen: dict[int, tuple[tuple[str, ...], int]] = {}
        while entry is not None:
            if isinstance(entry, _Fallen):
                fallen[len(way)] = tuple(visited(network, entry.walk)), entry.rounds
            way.append(Pointstamp(network.nodes[entry.node], entry.time))
            if entry.edge is not None:
                way.append(Pointstamp(network.edges[entry.edge], entry.time))
            entry = entry.before
        way.reverse()
        return way, {len(way) - 2 - place: rounds for place, rounds in fallen.items()}


def close(graph: Topology, pointstamps: Iterable[tuple[str, Any]]) -> Closure:
    """Close-up of the given pointstamps.

    Cost: each node once a time, in an order in which components come before what they lead to; inside a component where
    times can fall, falling is run to its end at once. `NoMinimalTimes` where no antichain stands for the result,
    `ClosureTooLarge` beyond the budget.

    Returns
    -------
    The minimal times at every location, and a way to each.

    Raises
    ------
    PointstampError
        PS501 to PS503 where something is not a pointstamp of the graph, PS601 where there are no minimal times.

    Examples
    --------
    >>> from pointstamp import close, from_edges
    >>> close(from_edges([("a", "b")], lambda edge: {"advance": 1}), [("a", 3)]).frontiers["b"]
    (4,)
    """
    network = network_of(graph)
    return close_numbered(network, [network.pointstamp(pointstamp) for pointstamp in pointstamps])


def close_numbered(network: Network, pointstamps: Iterable[tuple[int, Any]], effort: Effort | None = None) -> Closure:
    """`close` for numbered locations. One that passes many edges is left to the compiled kernel, where it fits.

    With an `effort` it is part of a larger question, and spends of that.
    """
    if network.relation is not None:
        return network.relation.close(network, pointstamps)
    closure = Closure(network)
    pointstamps = list(pointstamps)
    run = _Run(network, closure, len(pointstamps), effort)
    count = len(network.nodes)
    for location, time in pointstamps:
        if location < count:
            run.offer(_Entry(location, time, None, None, 0))
            continue
        edge = location - count
        closure.given_on_edge.setdefault(edge, []).append(time)
        if network.targets[edge] != NO_NODE:
            run.offer(_Entry(network.targets[edge], time, edge, None, 0))
    with without_cycle_search():
        edges = len(network.edges)
        if run.goes_on(max(MANY_EDGES, edges // 8) if edges >= MANY_EDGES else None):
            from progress.kernel.closure import close_compiled  # it builds on this module

            compiled = close_compiled(network, pointstamps)
            if compiled is not None:
                return compiled
            run.goes_on(None)
    return closure


class _Run:
    """One closing: entries wait at their nodes, nodes wait in the order of their components."""

    def __init__(self, network: Network, closure: Closure, given: int, effort: Effort | None) -> None:
        self.network = network
        self.effort = effort
        self.closure = closure
        self.waiting: dict[int, list[_Entry]] = {}
        self.queue: list[tuple[int, int, int]] = []
        self.turn = 0
        self.patience: dict[int, int] = {}  # how many steps within a component are taken before falls are looked for
        self.left = MOST_STEPS + MOST_STEPS_AN_EDGE * len(network.edges) + allowance(given)

    def offer(self, entry: _Entry) -> None:
        """Take a time at a node unless one at or below it is known there."""
        node = entry.node
        cost = self.closure.cost(node)
        if self.effort is not None:
            self.effort.spend(STEPS_AN_INSERT * cost)
        else:
            self.left -= cost
            if self.left < 0:
                raise ClosureTooLarge
        if not self.closure.add(entry):
            return
        if node in self.waiting:
            self.waiting[node].append(entry)
            return
        self.waiting[node] = [entry]
        self.turn += 1
        heappush(self.queue, (-self.network.component[node], self.turn, node))

    def goes_on(self, edges: int | None) -> bool:
        """Send everything on until nothing is new, or until so many edges were passed; whether anything waits still."""
        network = self.network
        component = network.component
        passed = 0
        while self.queue:
            if edges is not None and passed >= edges:
                return True
            _, _, node = heappop(self.queue)
            entries = self.waiting.pop(node)
            for entry in entries:
                if len(entries) > 1 and not self.closure.is_minimal(entry):
                    continue
                passed += len(network.outgoing[node])
                if entry.depth > self.patience.get(component[node], network.component_sizes[component[node]]):
                    self._run_down(entry)
                for edge in network.outgoing[node]:
                    target, summary = network.targets[edge], network.summaries[edge]
                    if target == NO_NODE or summary is None:
                        continue
                    depth = entry.depth + 1 if component[target] == component[node] else 0
                    for time in summary.limits(entry.time):
                        self.offer(_Entry(target, time, edge, entry, depth))
        return False

    def _run_down(self, entry: _Entry) -> None:
        """More steps than nodes: some node was passed twice and not from below. If that round falls, run it to its end.

        If it leads beside itself, there is no end to run to; the next look is taken after twice as many steps.
        """
        later: dict[int, _Entry] = {}
        edges: list[int] = []
        step: _Entry | None = entry
        while step is not None and step.node not in later:
            later[step.node] = step
            if step.edge is not None:
                edges.append(step.edge)
            step = step.before
        if step is None:
            return
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
            self.offer(_Fallen(arrived, lowest.time, walk, lowest.rounds))
            return
        component = self.network.component[entry.node]
        self.patience[component] = 2 * self.patience.get(component, self.network.component_sizes[component])


class _Lowest(NamedTuple):
    """Where a closed walk that falls comes to rest, and after how many rounds."""

    time: Any
    rounds: int


def _end_of_fall(network: Network, walk: Sequence[int], before: Any, after: Any) -> _Lowest | None:
    """The time at which repeating a closed walk, which led from `before` to `after`, comes to rest below `after`.

    None where it does not lead strictly down; `NoMinimalTimes` where it has no end. The walk's summary is squared, so
    the cost is the walk's length and the number of digits, not the number of rounds.
    """
    node = network.sources[walk[0]]
    if network.endless and (is_endless(before) or is_endless(after)):
        return None
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
    far, nearer = (
        moved_without_end(rows, power.moves, numbers) for power in (powers[-1], powers[max(0, len(powers) - 2)])
    )
    less_equal = network.domains[node].less_equal
    falls = any(-inf < number < -(1 << (digits - 2)) for number in far)
    if falls and not less_equal(layout.decode(case, nearer), layout.decode(case, far)):
        raise NoMinimalTimes(
            f"a coordinate of the times at {network.nodes[node]!r} falls without end on the cycle through "
            f"{network.edges[walk[-1]]!r}"
        )
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
    return None if lowest == numbers else _Lowest(layout.decode(case, lowest), _rounds(powers, numbers, lowest))


def _rounds(powers: Sequence[Piece], start: Numbers, lowest: Numbers) -> int:
    """After how many rounds the fall has come to `lowest`: one more than the most after which it has not.

    `powers[n]` is 2 ** n rounds.
    """
    rounds = 0
    for exponent, power in reversed(list(enumerate(powers))):
        for _ in range(2):
            reached = moved(power, start) if holds(power.box, start) else (None,)
            if None in reached or reached == lowest:
                break
            start = reached  # type: ignore[assignment]
            rounds += 1 << exponent
    return rounds + 1


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
        joined = [
            compose(rows, piece, step) for piece in pieces for step in normal_summary(network, edge).pieces_after(piece)
        ]
        pieces = [piece for piece in joined if piece is not None and holds(piece.box, start)][:64]
    goal = layout.encode(after)
    return next((piece for piece in pieces if (piece.target_case, moved(piece, start)) == goal), None)
