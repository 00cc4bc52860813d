"""Drift: a lower bound, in whole numbers, on how far a summary moves each coordinate.

What no drift can pull below where it started is proved to rise without looking at a single time. A coordinate is a pair
(block, position): products fall apart into blocks that are ordered independently, a lexicographic order is one block of
several positions. Addition of drift vectors bounds composition, since both orders are invariant under translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple, TypeAlias

from progress.normal_form.coordinate import KEEP, Move, slack
from progress.normal_form.layout import Rows, Structure, layout_of
from progress.normal_form.pieces import Piece, interval
from progress.order import Domain
from progress.summary import NormalSummary

Coordinate: TypeAlias = tuple[int, int]
RESET = -inf  # nothing is known below: a constant, or a coordinate that was not there before


class Drift(NamedTuple):
    """`least[c]` <= (coordinate c of the result) - (coordinate c of the start), lexicographically within each block."""

    least: dict[Coordinate, float]

    @property
    def falls_nowhere(self) -> bool:
        """Whether every block rises or stays: a sum of such drifts does too."""
        return all(vector >= (0,) * len(vector) for vector in self._vectors())

    @property
    def is_still(self) -> bool:
        """Whether no coordinate moves. Where no drift falls, closed walks that stand still have such steps only."""
        return all(number == 0 for number in self.least.values())

    def _vectors(self) -> list[tuple[float, ...]]:
        blocks: dict[int, list[float]] = {}
        for (block, _), number in self.least.items():
            blocks.setdefault(block, []).append(number)
        return [tuple(vector) for vector in blocks.values()]


class Drifts(NamedTuple):
    """The drifts of many summaries, each distinct one once: `kinds[j]` is the place of the j-th one's drift in `known`.

    None in `known` is the drift of what has none.
    """

    kinds: list[int]
    known: list[Drift | None]


def drifts(summaries: Sequence[object]) -> Drifts:
    """The drifts of `summaries`. Cost: O(1) for each one that occurred before."""
    places: dict[int, int] = {}
    kinds: list[int] = []
    known: list[Drift | None] = []
    for summary in summaries:
        place = places.get(id(summary))
        if place is None:
            place = places[id(summary)] = len(known)
            known.append(drift(summary))
        kinds.append(place)
    return Drifts(kinds, known)


def coordinates(domain: Domain) -> dict[Coordinate, int] | None:
    """The leaf of each coordinate; None for sums and domains of the user's own, which have no fixed coordinates."""
    layout = layout_of(domain)
    if layout is None or list(layout.rows) != [()]:
        return None
    blocks = _blocks(layout.rows[()].structure)
    return {(block, place): leaf for block, leaves in enumerate(blocks) for place, leaf in enumerate(leaves)}


def drift(summary: object) -> Drift | None:
    """The drift of a summary in normal form between domains with coordinates; None for others. Cost: O(pieces)."""
    if not isinstance(summary, NormalSummary):
        return None
    before, after, layout = coordinates(summary.source), coordinates(summary.target), layout_of(summary.source)
    if before is None or after is None or layout is None:
        return None
    rows = layout.rows[()]
    least: dict[Coordinate, float] = {}
    for block in dict.fromkeys(block for block, _ in after):
        places = [place for other, place in after if other == block]
        vectors = [
            tuple(
                _least(rows, piece, after[block, place]) if before.get((block, place)) == after[block, place] else RESET
                for place in places
            )
            for piece in summary.pieces
        ]
        if vectors:
            least.update({(block, place): number for place, number in zip(places, min(vectors), strict=True)})
    return Drift(least)


def _least(rows: Rows, piece: Piece, leaf: int) -> float:
    move: Move = piece.moves[leaf]
    if not rows.leaves[leaf].numeric:
        return 0 if move == KEEP else RESET
    if move.word is not None:
        return slack(move.word)[0]
    high = interval(rows, piece.box, leaf)[1]
    return RESET if high is None or move.floor is None else move.floor - high


def _blocks(structure: Structure) -> list[list[int]]:
    if isinstance(structure, int):
        return [[structure]]
    word, parts = structure
    blocks = [block for part in parts for block in _blocks(part)]
    if word == "product":
        return blocks
    return [[leaf for block in blocks for leaf in block]]
