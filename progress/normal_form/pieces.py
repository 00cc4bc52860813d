"""The normal form of summaries: pieces, each a box of times and a move for each coordinate.

A *piece* applies to the times of one case that lie in its box, and gives one time: every output coordinate is the move
(`progress.normal_form.coordinate`) of the input coordinate at the same place, or a constant. A summary is a set of
pieces; its value at t is the set of the minimal results of all pieces whose box holds t. Over products one piece is
enough for each alternative, its box only bounded above; over lexicographic orders carries and resets make a piece for
each place where they happen. Composition is exact; comparison is exact over products and errs on the side of "not
comparable" elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations as subsets
from typing import NamedTuple, TypeAlias

from progress.normal_form.coordinate import (
    KEEP,
    Move,
    Relation,
    always_at_most,
    always_below,
    greatest_at_most,
    least_at_least,
    lower_end,
    pick,
    relations,
    run,
    then,
    upper_end,
    value_of,
)
from progress.normal_form.layout import Case, Leaf, Numbers, Rows, Structure


class Limit(NamedTuple):
    """Numbers of the leaf at `place` are within [low, high]; None is unbounded."""

    place: int
    low: int | None
    high: int | None


class Piece(NamedTuple):
    """Times of `source_case` within `box` go to one time of `target_case`, coordinate by coordinate."""

    source_case: Case
    box: tuple[Limit, ...]
    target_case: Case
    moves: tuple[Move, ...]


def holds(box: Iterable[Limit], numbers: Numbers) -> bool:
    """Whether the row lies in the box."""
    for place, low, high in box:
        number = numbers[place]
        if (low is not None and number < low) or (high is not None and number > high):
            return False
    return True


def moved(piece: Piece, numbers: Numbers) -> tuple[int | None, ...]:
    """The piece's result; a coordinate None is minus infinity."""
    return tuple(
        move.floor if move.word is None else value_of(move, numbers[place]) for place, move in enumerate(piece.moves)
    )


def interval(rows: Rows, box: Iterable[Limit], place: int) -> tuple[int | None, int | None]:
    """What the box and the domain together allow at one place."""
    leaf = rows.leaves[place]
    low, high = leaf.low, leaf.high
    for limit in box:
        if limit.place == place:
            low, high = lower_end(low, limit.low), upper_end(high, limit.high)
    return low, high


def make_piece(rows: Rows, source: Case, limits: Iterable[Limit], target: Case, moves: Iterable[Move]) -> Piece | None:
    """A piece in canonical form; None when its box is empty."""
    bounds: dict[int, tuple[int | None, int | None]] = {}
    for place, low, high in limits:
        old_low, old_high = bounds.get(place, (None, None))
        bounds[place] = (lower_end(old_low, low), upper_end(old_high, high))
    box = []
    for place in sorted(bounds):
        low, high = bounds[place]
        leaf = rows.leaves[place]
        if low is not None and leaf.low is not None and low <= leaf.low:
            low = None
        if high is not None and leaf.high is not None and high >= leaf.high:
            high = None
        least, greatest = lower_end(low, leaf.low), upper_end(high, leaf.high)
        if least is not None and greatest is not None and least > greatest:
            return None
        if low is not None or high is not None:
            box.append(Limit(place, low, high))
    piece = Piece(source, tuple(box), target, tuple(moves))
    return piece._replace(moves=tuple(_canonical(rows, piece, place) for place in range(len(piece.moves))))


def _canonical(rows: Rows, piece: Piece, place: int) -> Move:
    """Without a floor that no value of the box reaches; a constant where the floor hides all else."""
    move = piece.moves[place]
    if move.word is None or move.floor is None:
        return move
    low, high = interval(rows, piece.box, place)
    if low is not None and run(move.word, low) >= move.floor:
        return Move(move.word, None)
    if high is not None and run(move.word, high) <= move.floor:
        return Move(None, move.floor)
    return move


def compose(rows: Rows, first: Piece, second: Piece) -> Piece | None:
    """`second` after `first`, None where nothing passes both. Cost: O(leaves)."""
    if first.target_case != second.source_case:
        return None
    limits = list(first.box)
    for place, low, high in second.box:
        word, floor = first.moves[place]
        if high is not None:
            if floor is not None and floor > high:
                return None
            if word is not None:
                limits.append(Limit(place, None, greatest_at_most(word, high)))
        if low is not None and (floor is None or floor < low):
            if word is None:
                return None
            limits.append(Limit(place, least_at_least(word, low), None))
    moves = [move if move.word is None else then(first.moves[place], move) for place, move in enumerate(second.moves)]
    return make_piece(rows, first.source_case, limits, second.target_case, moves)


def dominates(source: Rows, target: Rows, one: Piece, other: Piece) -> bool:
    """Whether `one` gives a time at or below `other`'s wherever `other` applies, so that `other` says nothing new."""
    if one.source_case != other.source_case or one.target_case != other.target_case:
        return False
    for place, low, high in one.box:
        other_low, other_high = interval(source, other.box, place)
        if (low is not None and (other_low is None or other_low < low)) or (
            high is not None and (other_high is None or other_high > high)
        ):
            return False
    return _always(source, target, target.structure, one, other, strictly=False)


def _always(source: Rows, target: Rows, structure: Structure, one: Piece, other: Piece, strictly: bool) -> bool:
    """Whether `one` <= `other` (or <) in `structure`, on the box of `other`."""
    if isinstance(structure, int):
        low, high = interval(source, other.box, structure) if structure < len(source.leaves) else (None, None)
        mine, theirs = one.moves[structure], other.moves[structure]
        leaf = target.leaves[structure]
        if leaf.numeric:
            return (always_below if strictly else always_at_most)(mine, theirs, low, high)
        if mine.word is not None or theirs.word is not None:
            return not strictly and mine == theirs
        assert mine.floor is not None
        assert theirs.floor is not None
        return leaf.less_equal(mine.floor, theirs.floor) and not (strictly and mine == theirs)
    word, parts = structure
    if word == "product":
        if not all(_always(source, target, part, one, other, strictly=False) for part in parts):
            return False
        return not strictly or any(_always(source, target, part, one, other, strictly=True) for part in parts)
    for part in parts:
        if _always(source, target, part, one, other, strictly=True):
            return True
        if not _always(source, target, part, one, other, strictly=False):
            return False
    return not strictly


_Key: TypeAlias = tuple[Case, Case, tuple[Limit, ...]]  # the two cases, and what pieces are tied to


class Undominated:
    """A growing set of pieces between two domains, without those that another one dominates.

    A piece that is tied to single numbers of some coordinates can only be dominated by one that is tied to the same or
    to fewer of them, so that a table of n rows costs far less than n * n comparisons.
    """

    def __init__(self, source: dict[Case, Rows], target: dict[Case, Rows]) -> None:
        self._source = source
        self._target = target
        self._groups: dict[_Key, list[Piece]] = {}
        self.compared = 0

    def add(self, piece: Piece) -> bool:
        """Take a piece and drop what it dominates, unless it is dominated itself; whether it was taken."""
        cases = piece.source_case, piece.target_case
        before, after = self._source[piece.source_case], self._target[piece.target_case]
        ties = tuple(limit for limit in piece.box if limit.low is not None and limit.low == limit.high)
        for key in self._keys_within(cases, ties):
            for other in self._groups.get(key, ()):
                self.compared += 1
                if dominates(before, after, other, piece):
                    return False
        mine = (*cases, ties)
        for key in [key for key in self._groups if key[:2] == cases] if not ties else [mine]:
            if key in self._groups:
                self.compared += len(self._groups[key])
                self._groups[key] = [other for other in self._groups[key] if not dominates(before, after, piece, other)]
        self._groups.setdefault(mine, []).append(piece)
        return True

    def _keys_within(self, cases: tuple[Case, Case], ties: tuple[Limit, ...]) -> Iterable[_Key]:
        """The keys of groups that are tied to nothing else: subsets of ties, or of the groups if they are fewer."""
        if 1 << len(ties) <= len(self._groups):
            for count in range(len(ties) + 1):
                for subset in subsets(ties, count):
                    yield cases[0], cases[1], subset
            return
        wanted = set(ties)
        yield from [key for key in self._groups if key[:2] == cases and wanted.issuperset(key[2])]

    def __contains__(self, piece: Piece) -> bool:
        ties = tuple(limit for limit in piece.box if limit.low is not None and limit.low == limit.high)
        return piece in self._groups.get((piece.source_case, piece.target_case, ties), ())


def undominated(
    source: dict[Case, Rows],
    target: dict[Case, Rows],
    pieces: Sequence[Piece],
    charge: Callable[[int], None] | None = None,
) -> tuple[Piece, ...]:
    """The pieces without those that another dominates, the first of equals kept.

    `charge` is told after each piece how many comparisons it took, and may raise.
    """
    if len(pieces) < 2:
        return tuple(pieces)
    kept = Undominated(source, target)
    taken = []
    for piece in dict.fromkeys(pieces):
        before = kept.compared
        if kept.add(piece):
            taken.append(piece)
        if charge is not None:
            charge(kept.compared - before)
    return tuple(piece for piece in taken if piece in kept)


Ties: TypeAlias = tuple[list[Piece], dict[int, dict[int, list[Piece]]]]


def by_ties(pieces: Iterable[Piece]) -> Ties:
    """Pieces that are tied to a single number of some coordinate, by the first such place; and the others."""
    free: list[Piece] = []
    tied: dict[int, dict[int, list[Piece]]] = {}
    for piece in pieces:
        tie = next((limit for limit in piece.box if limit.low is not None and limit.low == limit.high), None)
        if tie is None or tie.low is None:
            free.append(piece)
        else:
            tied.setdefault(tie.place, {}).setdefault(tie.low, []).append(piece)
    return free, tied


def only_number(piece: Piece, place: int) -> int | None:
    """The one number that all results of a piece have at a place; None where there may be several."""
    if place >= len(piece.moves):
        return None
    move = piece.moves[place]
    if move.word is None:
        return move.floor
    low, high = next(((limit.low, limit.high) for limit in piece.box if limit.place == place), (None, 0))
    return low if low == high and move == KEEP else None


def piece_relations(rows: Rows, piece: Piece) -> dict[Relation, Numbers]:
    """How a piece that leads back to its own domain can compare its result to where it started.

    Each relation that occurs ("<": the result lies strictly below, "=", ">", "|": incomparable) with a row where it
    does. Exact, because every coordinate depends on itself alone and the box is a product of intervals.
    """
    if piece.source_case != piece.target_case:
        return {"|": tuple(pick(*interval(rows, piece.box, place)) for place in range(len(rows.leaves)))}
    found = _structure_relations(rows, piece, rows.structure)
    return {relation: tuple(row[place] for place in range(len(rows.leaves))) for relation, row in found.items()}


def _structure_relations(rows: Rows, piece: Piece, structure: Structure) -> dict[Relation, dict[int, int]]:
    if isinstance(structure, int):
        low, high = interval(rows, piece.box, structure)
        leaf, move = rows.leaves[structure], piece.moves[structure]
        found = relations(move, low, high) if leaf.numeric else _finite_relations(leaf, move, low, high)
        return {relation: {structure: number} for relation, number in found.items()}
    word, parts = structure
    together: dict[Relation, dict[int, int]] = {"=": {}}
    for part in parts:
        here = _structure_relations(rows, piece, part)
        joined: dict[Relation, dict[int, int]] = {}
        for before, row in together.items():
            for relation, more in here.items():
                verdict = _both(before, relation) if word == "product" or before == "=" else before
                joined.setdefault(verdict, {**row, **more})
        together = joined
    return together


def _both(one: Relation, other: Relation) -> Relation:
    """The relation of pairs whose coordinates are related so."""
    if one == other or other == "=":
        return one
    return other if one == "=" else "|"


def _finite_relations(leaf: Leaf, move: Move, low: int | None, high: int | None) -> dict[Relation, int]:
    assert low is not None
    assert high is not None
    if move == KEEP:
        return {"=": low}
    constant = move.floor
    assert move.word is None
    assert constant is not None
    found: dict[Relation, int] = {}
    for number in range(low, high + 1):
        below, above = leaf.less_equal(constant, number), leaf.less_equal(number, constant)
        found.setdefault("=" if below and above else "<" if below else ">" if above else "|", number)
    return found
