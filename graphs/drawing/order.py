"""The order of places within columns, chosen against crossings (Sugiyama, Tagawa and Toda, 1981).

Columns are sorted by the means and the medians of what they are joined with, to and fro, and neighbours are exchanged
where that takes crossings away. Small graphs are begun in three ways; then single edges are led anew
(`graphs.drawing.chains`).
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from graphs.drawing.chains import lead_anew
from graphs.drawing.crossings import crossings, gained_by_exchange
from graphs.drawing.places import Places

SWEEPS = 8
ROUNDS = 6  # of exchanges after a sweep
FEW = 400  # places, below which three beginnings are tried


def order(places: Places) -> int:
    """Put the places of each column in order; how many crossings there are.

    Cost: O(SWEEPS * places * log places), fewer sweeps for very many places.
    """
    beginnings: list[Callable[[Places], None]] = [_feedback_below]
    if len(places.column) < FEW:
        beginnings += [_feedback_above, _along_edges]
    best: list[list[int]] = []
    fewest = -1
    for begin in beginnings:
        begin(places)
        found = _improve(places)
        if fewest < 0 or found < fewest:
            best, fewest = [list(column) for column in places.columns], found
        if not fewest:
            break
    places.columns = best
    places.number()
    return fewest


def _feedback_below(places: Places) -> None:
    """As in the file, what leads back at the bottom."""
    _begin(places, lambda item: (item >= len(places.boxes) and places.back[places.edge[item]], item))


def _feedback_above(places: Places) -> None:
    _begin(places, lambda item: (item < len(places.boxes) or not places.back[places.edge[item]], -item))


def _along_edges(places: Places) -> None:
    """In the order in which a depth-first search comes upon them."""
    seen: dict[int, int] = {}
    for start in range(len(places.column)):
        pending = [start]
        while pending:
            item = pending.pop()
            if item not in seen:
                seen[item] = len(seen)
                pending += [*reversed(places.right[item]), *reversed(places.left[item])]
    _begin(places, seen.__getitem__)


def _begin(places: Places, key: Callable[[int], object]) -> None:
    for column in places.columns:
        column.sort(key=key)  # type: ignore[arg-type]
    places.number()


def _improve(places: Places) -> int:
    """The fewest crossings from here; the columns are left in that order."""
    _exchange(places)
    best, fewest = [list(column) for column in places.columns], crossings(places)
    for sweep in range(places.rounds(SWEEPS)):
        if not fewest:
            break
        _sweep(places, rightwards=sweep % 2 == 0, middle=_mean if sweep % 4 < 2 else median)
        _exchange(places)
        found = crossings(places)
        if found < fewest:
            best, fewest = [list(column) for column in places.columns], found
    places.columns = best
    places.number()
    return lead_anew(places, fewest) if fewest else 0


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def _sweep(places: Places, rightwards: bool, middle: Callable[[list[float]], float]) -> None:
    """Sort each column by the places that the column before it gives to what it is joined with."""
    numbers = range(len(places.columns)) if rightwards else range(len(places.columns) - 1, -1, -1)
    sides, others = (places.left, places.right) if rightwards else (places.right, places.left)
    for number in numbers:
        column = places.columns[number]
        wished: dict[int, float] = {}
        beside: dict[int, list[int]] = {}
        for item in column:
            near = [_height(places, other, item) for other in sides[item] if places.column[other] != number]
            if near:
                wished[item] = middle(near)
        for item in column:
            if item in wished or item < len(places.boxes):
                continue
            turned = [other for other in (*sides[item], *others[item]) if places.column[other] == number]
            if turned and (turned[0] < len(places.boxes)):
                beside.setdefault(turned[0], []).append(item)
        attached = {item for items in beside.values() for item in items}
        free = iter(sorted(wished, key=wished.__getitem__))
        rows = [next(free) if item in wished else item for item in column if item not in attached]
        places.columns[number] = [item for row in rows for item in (row, *beside.get(row, ()))]
        for position, item in enumerate(places.columns[number]):
            places.index[item] = position


def _height(places: Places, item: int, other: int) -> float:
    """Where an item stands in its column; a fixed joint of a box between it and the next one."""
    rank = places.rank.get((item, other))
    return places.index[item] + (0.0 if rank is None else rank / (len(places.left[item]) + len(places.right[item]) + 1))


def _exchange(places: Places) -> None:
    """Exchange neighbours while that takes crossings away."""
    changed = [True] * len(places.columns)
    for _ in range(places.rounds(ROUNDS)):
        again = [False] * len(places.columns)
        for number, column in enumerate(places.columns):
            if not any(changed[max(number - 1, 0) : number + 2]):
                continue
            for position in range(len(column) - 1):
                above, below = column[position], column[position + 1]
                if gained_by_exchange(places, above, below) > 0:
                    column[position], column[position + 1] = below, above
                    places.index[above], places.index[below] = position + 1, position
                    again[number] = True
        if not any(again):
            return
        changed = again
