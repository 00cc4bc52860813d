"""Judging one strongly connected component: can a closed walk return below, beside, or at its start?

Two ways, the second only where the first leaves a doubt:

1. By drift (`progress.cycles.drift`). A coordinate that no cycle can pull down rises on every closed walk; the edges
   whose reduced weight is zero are the only ones on which it can stand still, so the question shrinks to their
   components. A cycle that the drifts cannot clear is a suspect; its exact summary convicts or acquits it.
2. Exactly, by the antichain of all walks (`progress.cycles.walk.closed_walks`), within a budget; where that does not
   tell whether time advances and the domains are finite, by trying every time (`progress.cycles.finite_state`).

Why cycles are never listed: if every simple cycle rises from wherever it starts, every closed walk does, by
monotonicity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from progress.component import components, shortest_path
from progress.cycles.drift import RESET, Coordinate, Drift
from progress.cycles.finite_state import standstill_among_states
from progress.cycles.potential import potentials
from progress.cycles.rising import rises_on_any_order, rising_standstill
from progress.cycles.walk import Budget, Found, closed_walks, is_simple, relations_of
from progress.cycles.weighting import weigh
from progress.normal_form.coordinate import Undecided
from progress.topology import Network

FEW_COMPOSITIONS = 10_000
COMPOSITIONS = 500_000  # for all components of a graph together; a second or so (`progress.cycles.walk.Budget`)
FEWEST_COMPOSITIONS = 10_000  # for each component, however many went before
ROTATIONS = 24
LONGEST_MIXTURE = 5_000
MOST_WEIGHTINGS = 40
BELOW_OR_BESIDE = frozenset("<|")
BELOW_OR_AT = frozenset("<=")

Least = dict[Coordinate, float]


class Verdict(NamedTuple):
    """What is known of a component; None is undecided.

    `rises`: Condition 2 holds in it, else `offence` is a closed walk that can arrive below or beside its start, and
    `descent` one over distinct nodes that can arrive strictly below (None: there is none). `advances`: no closed walk
    can return at or below its start, else `standstill` is one that can, through a node that asks for notifications if
    there is such a one; `worst_known` is False where that there is none was not shown.
    """

    rises: bool | None
    offence: Found | None
    descent: Found | None
    advances: bool | None
    standstill: Found | None
    worst_known: bool = True


def judge(network: Network, edges: Sequence[int], budget: Budget) -> Verdict:
    """The verdict on the component of `edges`, which may use half of the budget for suspects, and then what is left.

    Cost: a few `potentials` and `components` a coordinate for the first way; the budget bounds the second.
    """
    verdict = _judged(network, edges, budget)
    if verdict.advances is not None and verdict.worst_known:
        return verdict
    decided, standstill = standstill_among_states(network, edges)
    if not decided:
        return verdict
    return verdict._replace(advances=standstill is None, standstill=standstill, worst_known=True)


def surely_advances(network: Network, edges: Sequence[int]) -> bool:
    """Whether the component is known to advance after a short look; that it is not known says nothing.

    Cost: that of `judge` with `FEW_COMPOSITIONS`, some hundredths of a second.
    """
    return _judged(network, edges, Budget(FEW_COMPOSITIONS)).advances is True


def _judged(network: Network, edges: Sequence[int], whole: Budget) -> Verdict:
    if all(rises_on_any_order(network.summaries[edge]) for edge in edges):
        return _rising(network, edges, whole)
    component = _drifting(network, edges, whole)
    if component is None:
        return judge_exactly(network, edges, whole)
    rises, offence = component.rises()
    standstills, unclear = component.standstills()
    standstill = preferred(network, standstills)
    descent = next((found for found in standstills if "<" in found.relations and is_simple(network, found.walk)), None)
    settled = not unclear or (standstill is not None and notifies(network, standstill))
    if rises is not None and settled and (rises or descent is not None or standstill is None):
        return Verdict(rises, offence, descent, standstill is None, standstill)
    exact = judge_exactly(network, edges, whole, only_simple=not unclear)
    standstill = preferred(network, [found for found in (standstill, exact.standstill) if found])
    return Verdict(
        exact.rises if rises is None else rises,
        offence or exact.offence,
        descent or exact.descent,
        False if standstill else exact.advances if unclear else True,
        standstill,
        settled or exact.worst_known,
    )


def _rising(network: Network, edges: Sequence[int], whole: Budget) -> Verdict:
    """The verdict where nothing can fall, on an order of which nothing is known."""
    try:
        standstill = rising_standstill(network, edges, _at_least(FEWEST_COMPOSITIONS, whole.left, whole))
    except Undecided:
        return Verdict(True, None, None, None, None, worst_known=False)
    return Verdict(True, None, None, standstill is None, standstill)


def _at_least(fewest: int, compositions: int, whole: Budget) -> Budget:
    """So many compositions of those of the whole question, but never fewer than it takes to look at all."""
    return Budget(max(fewest, compositions), whole)


def judge_exactly(network: Network, edges: Sequence[int], whole: Budget, only_simple: bool = False) -> Verdict:
    """The verdict by all walks from every node, those that ask for notifications first.

    `only_simple`: walks of at most as many edges as there are nodes, which is enough for all but advancing.
    """
    nodes = sorted({network.sources[edge] for edge in edges}, key=lambda node: not network.notifies[node])
    offence = descent = standstill = None
    rises_known = advances_known = worst_known = True
    left = max(FEWEST_COMPOSITIONS, whole.left)
    share = max(FEW_COMPOSITIONS, left // len(nodes))
    for node in nodes:
        if left <= 0:
            rises_known = advances_known = False
            worst_known = worst_known and not network.notifies[node]
            break
        length = 0
        budget = Budget(min(left, share), whole)
        left -= budget.left
        try:
            for length, found in closed_walks(  # noqa: B007 - asked for when the budget is used up
                network, edges, node, budget, len(nodes) if only_simple else None
            ):
                relations = found.relations
                if offence is None and BELOW_OR_BESIDE & relations.keys():
                    offence = _simple_part(network, found, BELOW_OR_BESIDE, budget)
                if descent is None and "<" in relations:
                    descent = _simple_part(network, found, frozenset("<"), budget)
                if BELOW_OR_AT & relations.keys():
                    standstill = preferred(network, [found] if standstill is None else [standstill, found])
                if descent and standstill and (notifies(network, standstill) or not network.notifies[node]):
                    break
        except Undecided:
            advances_known = False
            worst_known = worst_known and not network.notifies[node]
            rises_known = rises_known and length > len(nodes)
        left += max(budget.left, 0)
    return Verdict(
        False if offence else True if rises_known else None,
        offence,
        descent,
        False if standstill else True if advances_known else None,
        standstill,
        worst_known or (standstill is not None and notifies(network, standstill)),
    )


def _simple_part(network: Network, found: Found, wanted: frozenset[str], budget: Budget) -> Found | None:
    """The walk itself, or one of the simple cycles that it is made of, if it can arrive in a wanted relation."""
    if is_simple(network, found.walk):
        return found
    path: list[int] = []
    for edge in found.walk:
        path.append(edge)
        target = network.targets[edge]
        start = next((place for place, other in enumerate(path) if network.sources[other] == target), None)
        if start is None:
            continue
        cycle, path = path[start:], path[:start]
        for rotation in range(len(cycle)):
            turned = (*cycle[rotation:], *cycle[:rotation])
            relations = relations_of(network, turned, budget)
            if wanted & relations.keys():
                return Found(turned, relations)
    return None


def notifies(network: Network, found: Found) -> bool:
    """Whether a walk passes a node that asks for notifications."""
    return any(network.notifies[network.sources[edge]] for edge in found.walk)


def preferred(network: Network, candidates: Sequence[Found]) -> Found | None:
    """The first that passes a node which asks for notifications, else the first."""
    return min(candidates, key=lambda found: not notifies(network, found), default=None)


def _drifting(network: Network, edges: Sequence[int], whole: Budget) -> _Component | None:
    """The component with the drift of every edge; None where some summary has no drift."""
    kinds, known = network.drifts
    least: dict[int, Least] = {}
    for kind in {kinds[edge] for edge in edges}:
        found = known[kind]
        if found is None:
            return None
        least[kind] = found.least
    return _Component(network, edges, least, whole)


class _Component:
    """A component whose edges all have drifts; `least` has them by kind (`progress.cycles.drift.Drifts`).

    A question about a coordinate costs one `potentials` and one `components`, asked once for both conditions.
    """

    def __init__(self, network: Network, edges: Sequence[int], least: dict[int, Least], whole: Budget) -> None:
        self.network = network
        self.edges = edges
        self.least = least
        self.kinds = network.drifts.kinds
        self.budget = _at_least(FEWEST_COMPOSITIONS + len(edges), whole.left // 2, whole)
        self._narrowed_before: dict[tuple[int, Coordinate], _Narrowed] = {}

    # --- Condition 2 ---------------------------------------------------------------------------------------------

    def rises(self) -> tuple[bool | None, Found | None]:
        """Whether every closed walk rises: cleared by drift, or an offence that is proved; None where neither is."""
        part = self._part(self.edges)
        if all(Drift(self.least[kind]).falls_nowhere for kind in part.kinds):
            return True, None
        suspects = [suspect for block in part.blocks for suspect in self._falling(part, block, 0)]
        for suspect in suspects:
            found = self._convict(suspect, BELOW_OR_BESIDE)
            if found:
                return False, found
        return (None if suspects else True), None

    def _falling(self, part: _Part, block: int, place: int) -> Iterator[list[int]]:
        """Closed walks on which the block may fall, one for each place in it that drift does not clear."""
        coordinate = (block, place)
        if coordinate not in part.present:
            return
        reset = self._reset(part, coordinate)
        if reset is not None:
            yield self._around(part.edges, reset)
            return
        narrowed = self._narrow(part, coordinate)
        if narrowed.cycle is not None:
            yield narrowed.cycle
        elif (block, place + 1) in part.present:
            for inner in narrowed.parts:
                yield from self._falling(inner, block, place + 1)

    # --- advancing -----------------------------------------------------------------------------------------------

    def standstills(self) -> tuple[list[Found], list[Sequence[int]]]:
        """Closed walks that can return at or below their start, and the parts that stay in doubt."""
        found: list[Found] = []
        unclear: list[Sequence[int]] = []
        pending: list[tuple[_Part, dict[int, int]]] = [(self._part(self.edges), {})]
        while pending:
            part, places = pending.pop()
            pending.extend((inner, dict(places)) for inner in self._still(part, places, found, unclear))
        return found, unclear

    def _still(
        self, part: _Part, places: dict[int, int], found: list[Found], unclear: list[Sequence[int]]
    ) -> list[_Part]:
        """The components of what is left of a part once a coordinate that rises somewhere on it is used up."""
        suspects: list[list[int]] = []
        falling: dict[Coordinate, list[int]] = {}
        for block in part.blocks:
            while (coordinate := (block, places.get(block, 0))) in part.present:
                reset = self._reset(part, coordinate)
                if reset is not None:
                    suspects.append(self._around(part.edges, reset))
                    break
                narrowed = self._narrow(part, coordinate)
                if narrowed.cycle is not None:
                    falling[coordinate] = narrowed.cycle
                    break
                places[block] = places.get(block, 0) + 1
                if narrowed.parts != [part]:
                    return narrowed.parts
        if falling:
            parts = self._weighed(part, falling, suspects)
            if parts is not None:
                return parts
        elif not suspects:
            suspects.append(self._any_cycle(part.edges))
        convicted = [verdict for suspect in suspects if (verdict := self._convict(suspect, BELOW_OR_AT))]
        nodes = {self.network.sources[edge] for edge in part.edges}
        asking = {node for node in nodes if self.network.notifies[node]}
        if convicted and asking and not any(notifies(self.network, verdict) for verdict in convicted):
            ways = (way for verdict in convicted for way in self._by_way_of(part.edges, verdict.walk, asking))
            convicted += islice((worse for way in ways if (worse := self._convict(way, BELOW_OR_AT))), 1)
            if not notifies(self.network, convicted[-1]):
                unclear.append(part.edges)
        elif not convicted:
            unclear.append(part.edges)
        found.extend(convicted)
        return []

    def _by_way_of(self, edges: Sequence[int], walk: Sequence[int], goals: set[int]) -> Iterator[list[int]]:
        """Closed walks from the nearest of `goals` to a walk, round it a few times, and back."""
        sources, targets = self.network.sources, self.network.targets
        start = sources[walk[0]]
        there = shortest_path(edges, sources, targets, start, goals) or []
        back = shortest_path(edges, sources, targets, targets[there[-1]], {start}) or []
        for rounds in (1, 4, 16, 64):
            if rounds * len(walk) > LONGEST_MIXTURE:
                return
            yield [*back, *(list(walk) * rounds), *there]

    def _weighed(
        self, part: _Part, falling: dict[Coordinate, list[int]], suspects: list[list[int]]
    ) -> list[_Part] | None:
        """Several coordinates fall, each somewhere else: find weights under which none of it matters (Gordan).

        Answers the components that such weights leave, or None with new suspects.
        """
        axes = list(falling)
        cycles = list(falling.values())
        for _ in range(MOST_WEIGHTINGS):
            vectors = [[sum(self._weight(edge, axis) for edge in cycle) for axis in axes] for cycle in cycles]
            sign, factors, mixture = weigh(vectors)
            if sign >= 0:
                table = {
                    kind: sum(factor * int(self.least[kind][axis]) for factor, axis in zip(factors, axes, strict=True))
                    for kind in part.kinds
                }
                narrowed = self._narrow_by(part, table)
                if narrowed.cycle is not None:
                    cycles.append(narrowed.cycle)
                    continue
                if narrowed.parts != [part]:
                    return narrowed.parts
            suspects.extend(cycles)
            suspects.extend(self._mixed(part.edges, cycles, mixture))
            return None
        return None

    def _mixed(self, edges: Sequence[int], cycles: list[list[int]], mixture: list[int]) -> Iterator[list[int]]:
        """Closed walks that run each cycle as often as the mixture says, joined by paths where they do not touch."""
        sources, targets = self.network.sources, self.network.targets
        for rounds in (1, 4, 16):
            walk: list[int] = []
            for cycle, times in zip(cycles, mixture, strict=True):
                start = sources[cycle[0]]
                if times and walk and start not in {sources[edge] for edge in walk}:
                    there = shortest_path(edges, sources, targets, sources[walk[0]], {start}) or []
                    walk += there + (shortest_path(edges, sources, targets, start, {sources[walk[0]]}) or [])
                walk += cycle * (times * rounds)
                if len(walk) > LONGEST_MIXTURE:
                    return
            yield self._circuit(walk)

    def _circuit(self, edges: list[int]) -> list[int]:
        """The edges, each as often as it occurs, in an order in which one leads to the next (Hierholzer).

        They are a union of closed walks that hang together, so that there is such an order.
        """
        sources, targets = self.network.sources, self.network.targets
        leaving: dict[int, list[int]] = {}
        for edge in edges:
            leaving.setdefault(sources[edge], []).append(edge)
        circuit: list[int] = []
        path: list[int] = []
        node = sources[edges[0]]
        while True:
            if leaving.get(node):
                path.append(leaving[node].pop())
                node = targets[path[-1]]
            elif path:
                circuit.append(path.pop())
                node = sources[circuit[-1]]
            else:
                return circuit[::-1]

    # --- pieces of both ------------------------------------------------------------------------------------------

    def _convict(self, walk: list[int], wanted: frozenset[str]) -> Found | None:
        """The walk, started where its exact summary shows one of the wanted relations."""
        step = max(1, len(walk) // ROTATIONS)
        try:
            for rotation in range(0, len(walk), step):
                turned = (*walk[rotation:], *walk[:rotation])
                relations = relations_of(self.network, turned, self.budget)
                if wanted & relations.keys():
                    return Found(turned, relations)
        except Undecided:
            return None
        return None

    def _part(self, edges: Sequence[int]) -> _Part:
        kinds = {self.kinds[edge] for edge in edges}
        return _Part(edges, kinds, {coordinate for kind in kinds for coordinate in self.least[kind]})

    def _weight(self, edge: int, coordinate: Coordinate) -> int:
        return int(self.least[self.kinds[edge]][coordinate])

    def _reset(self, part: _Part, coordinate: Coordinate) -> int | None:
        """An edge behind which nothing is known of the coordinate."""
        doubtful = {kind for kind in part.kinds if self.least[kind].get(coordinate) == RESET}
        return next(edge for edge in part.edges if self.kinds[edge] in doubtful) if doubtful else None

    def _around(self, edges: Sequence[int], edge: int) -> list[int]:
        """A shortest closed walk that ends with `edge`."""
        sources, targets = self.network.sources, self.network.targets
        path = shortest_path(edges, sources, targets, targets[edge], {sources[edge]})
        return [*(path or []), edge]

    def _any_cycle(self, edges: Sequence[int]) -> list[int]:
        """A shortest cycle through a node that asks for notifications, where there is one in the component."""
        sources, targets = self.network.sources, self.network.targets
        asking = next((sources[edge] for edge in edges if self.network.notifies[sources[edge]]), sources[edges[0]])
        return shortest_path(edges, sources, targets, asking, {asking}) or []

    def _narrow(self, part: _Part, coordinate: Coordinate) -> _Narrowed:
        """`_narrow_by` the drift of one coordinate, which all edges of the part have; asked twice, answered once."""
        key = (id(part.edges), coordinate)
        if key not in self._narrowed_before:
            table = {kind: int(self.least[kind][coordinate]) for kind in part.kinds}
            self._narrowed_before[key] = self._narrow_by(part, table)
        return self._narrowed_before[key]

    def _narrow_by(self, part: _Part, table: dict[int, int]) -> _Narrowed:
        """A cycle of negative weight, or the components of the edges that gain nothing: a closed walk that stands still
        keeps to them."""
        edges, kinds = part.edges, self.kinds
        sources, targets, count = self.network.sources, self.network.targets, len(self.network.nodes)
        if not any(table.values()):
            return _Narrowed(None, [part])
        if min(table.values()) >= 0:
            still = {kind for kind, weight in table.items() if weight == 0}
            left = [edge for edge in edges if kinds[edge] in still]
        else:
            weights = [table[kinds[edge]] for edge in edges]
            level, cycle = potentials(edges, sources, targets, weights)
            if cycle is not None:
                return _Narrowed(cycle, [])
            left = [
                edge
                for edge, weight in zip(edges, weights, strict=True)
                if level[targets[edge]] == level[sources[edge]] + weight
            ]
            if len(left) == len(edges):
                return _Narrowed(None, [part])
        return _Narrowed(None, [self._part(inner) for inner in components(left, sources, targets, count)])


class _Part(NamedTuple):
    """A strongly connected part of a component: its edges, the kinds of their drifts, the coordinates that occur."""

    edges: Sequence[int]
    kinds: set[int]
    present: set[Coordinate]

    @property
    def blocks(self) -> list[int]:
        """The blocks that occur."""
        return sorted({block for block, _ in self.present})


class _Narrowed(NamedTuple):
    """A cycle on which a weight falls, or the parts on which it can stand still."""

    cycle: list[int] | None
    parts: list[_Part]
