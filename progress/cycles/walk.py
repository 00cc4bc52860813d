"""Closed walks: what leads from a node back to it, and how the times compare.

A walk is a list of internal edges, each leaving the node that the one before it enters. Its summary is the composition
of the summaries of its edges, taken piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from progress.cycles.finite_way import finite_way
from progress.normal_form.coordinate import KEEP, Relation, Undecided
from progress.normal_form.layout import Layout, layout_of
from progress.normal_form.pieces import Piece, Undominated, compose, piece_relations
from progress.pointstamp import Pointstamp
from progress.summary import NormalSummary
from progress.topology import Network

MOST_PIECES = 256


class Budget:
    """How many compositions and comparisons may still be made before a question is given up as undecided.

    Those of two or three numbers are meant; wider ones count for several. A part of a larger question has a budget of
    its own, and what it spends is missing from that of the `whole`.
    """

    def __init__(self, compositions: int, whole: Budget | None = None) -> None:
        self.left = compositions
        self._whole = whole

    def charge(self, amount: int = 1) -> None:
        """Count work; raises `Undecided` when nothing is left."""
        self.left -= amount
        if self._whole is not None:
            self._whole.left -= amount
        if self.left < 0:
            raise Undecided("the budget of compositions is used up")


class Found(NamedTuple):
    """A closed walk, and the ways in which its result can compare to its start, each with such a start time."""

    walk: tuple[int, ...]
    relations: dict[Relation, Any]


def normal_summary(network: Network, edge: int) -> NormalSummary:
    """An internal edge's summary; `Undecided` for a summary or domain of the user's own."""
    summary = network.summaries[edge]
    if not isinstance(summary, NormalSummary):
        raise Undecided(f"the summary on {network.edges[edge]!r} is not a declared one")
    return summary


def layout_at(network: Network, node: int) -> Layout:
    """The layout of a node's domain; `Undecided` for a domain of the user's own."""
    layout = layout_of(network.domains[node])
    if layout is None:
        raise Undecided(f"the domain of {network.nodes[node]!r} is not a built-in one")
    return layout


def unchanged(layout: Layout) -> list[Piece]:
    """The identity, a piece for each case."""
    return [Piece(case, (), case, (KEEP,) * len(rows.leaves)) for case, rows in layout.rows.items()]


def width(layout: Layout) -> int:
    """How many numbers a comparison of two pieces looks at, at most; two are the least that counts."""
    return max([2, *(len(rows.leaves) for rows in layout.rows.values())])


def take(kept: Undominated, piece: Piece, wide: int, budget: Budget) -> bool:
    """Add a piece; whether it was taken. A comparison of two numbers is charged as their composition."""
    compared = kept.compared
    is_taken = kept.add(piece)
    budget.charge((kept.compared - compared) * (wide // 2))
    return is_taken


def compare(layout: Layout, pieces: Sequence[Piece]) -> dict[Relation, Any]:
    """How results can compare to starts, each relation with such a start."""
    found: dict[Relation, Any] = {}
    for piece in pieces:
        for relation, numbers in piece_relations(layout.rows[piece.source_case], piece).items():
            found.setdefault(relation, layout.decode(piece.source_case, numbers))
    return found


def relations_of(
    network: Network, walk: Sequence[int], budget: Budget, instead: Mapping[int, NormalSummary] | None = None
) -> dict[Relation, Any]:
    """How the closed walk's results can compare to its starts. Cost: O(edges * pieces * pieces).

    `instead`: other summaries for some steps of the walk, by their place in it.
    """
    start = network.sources[walk[0]]
    layout = layout_at(network, start)
    wide = width(layout)
    pieces = unchanged(layout)
    for place, edge in enumerate(walk):
        summary = (instead or {}).get(place) or normal_summary(network, edge)
        joined = []
        for piece in pieces:
            for step in summary.pieces_after(piece):
                budget.charge(wide // 2)
                both = compose(layout.rows[piece.source_case], piece, step)
                if both is not None:
                    joined.append(both)
        if len(joined) > 1:
            kept = Undominated(layout.rows, layout_at(network, network.targets[edge]).rows)
            taken = []
            for both in dict.fromkeys(joined):
                taken += [both] * take(kept, both, wide, budget)
            joined = [both for both in taken if both in kept]
        if len(joined) > MOST_PIECES:
            raise Undecided("a walk has too many pieces")
        pieces = joined
    return compare(layout, pieces)


def closed_walks(
    network: Network, edges: Sequence[int], start: int, budget: Budget, longest: int | None = None
) -> Iterator[tuple[int, Found]]:
    """Closed walks at `start` within a component, by length, without those that a walk found before speaks for.

    Walks to a node are kept as an antichain of pieces. A walk that arrives, at every time, at or above another one can
    be dropped: whatever closed walk it begins, the other begins one that arrives no later. So among the walks of at
    most n edges (n: nodes of the component) there is one for every violation of Condition 2, and when no walk is new
    any more, one for every closed walk at all. Yields pairs (edges so far, found).
    """
    layout = layout_at(network, start)
    wide = width(layout)
    outgoing: dict[int, list[int]] = {}
    for edge in edges:
        outgoing.setdefault(network.sources[edge], []).append(edge)
    kept: dict[int, Undominated] = {start: Undominated(layout.rows, layout.rows)}
    level: list[tuple[int, Piece, Any]] = [
        (start, piece, None) for piece in unchanged(layout) if kept[start].add(piece)
    ]
    length = 0
    while level and length != longest:
        length += 1
        following: list[tuple[int, Piece, Any]] = []
        for node, piece, walk in level:
            if piece not in kept[node]:
                continue
            before = layout.rows[piece.source_case]
            for edge in outgoing[node]:
                target = network.targets[edge]
                for step in normal_summary(network, edge).pieces_after(piece):
                    budget.charge(wide // 2)
                    both = compose(before, piece, step)
                    if both is None:
                        continue
                    longer = (edge, walk)
                    if target == start:
                        budget.charge(wide // 2)
                        relations = compare(layout, [both])
                        if set(relations) - {">"}:
                            yield length, Found(unfolded(longer), relations)
                    if target not in kept:
                        kept[target] = Undominated(layout.rows, layout_at(network, target).rows)
                    if take(kept[target], both, wide, budget):
                        following.append((target, both, longer))
        level = following


def unfolded(walk: Any) -> tuple[int, ...]:
    """The edges of a walk that is kept as its last edge and the walk before it."""
    edges: list[int] = []
    while walk is not None:
        edge, walk = walk
        edges.append(edge)
    return tuple(reversed(edges))


def is_simple(network: Network, walk: Sequence[int]) -> bool:
    """Whether no node is visited twice."""
    return len({network.sources[edge] for edge in walk}) == len(walk)


def visited(network: Network, walk: Sequence[int]) -> list[str]:
    """The locations of a walk: each node followed by the edge that leaves it."""
    return [name for edge in walk for name in (network.nodes[network.sources[edge]], network.edges[edge])]


def followed(network: Network, walk: Sequence[int], time: Any, prefer: Callable[[Any], int]) -> list[Pointstamp] | None:
    """The pointstamps along a walk from its first node at `time`, arriving at a time for which `prefer` is greatest.

    None where no time arrives. The last pair is the last edge's.
    """
    Step = tuple[Any, Any]
    reached: list[Step] = [(time, None)]
    for edge in walk:
        summary = network.summaries[edge]
        assert summary is not None
        following: dict[Any, Step] = {}
        for step in reached:
            for result in summary.limits(step[0]):
                following.setdefault(result, (result, step))
        reached = list(following.values())
        if not reached:
            return None
    best: Any = max(reached, key=lambda step: prefer(step[0]))
    times: list[Any] = []
    while best is not None:
        times.append(best[0])
        best = best[1]
    times.reverse()
    path = [Pointstamp(network.nodes[network.sources[walk[0]]], time)]
    for position, edge in enumerate(walk):
        path.append(Pointstamp(network.edges[edge], times[position + 1]))
        if position + 1 < len(walk):
            path.append(Pointstamp(network.nodes[network.targets[edge]], times[position + 1]))
    return finite_way(network, path)
