"""Hulls coordinate by coordinate: what an addition, a lower bound and a row of a table mean on the leaves of a domain.

Each function answers with parts, boxes of neighbouring leaves with what becomes of them, following the structure of the
domain: products combine the parts of their coordinates, lexicographic orders add parts for carries and resets.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as combinations_of

from progress.normal_form.coordinate import KEEP, Move
from progress.normal_form.layout import Numbers, Rows, Structure
from progress.normal_form.pieces import Limit

Part = tuple[tuple[Limit, ...], tuple[Move, ...]]  # what one piece says of some neighbouring leaves


def shift(rows: Rows, structure: Structure, amounts: list[int]) -> list[Part]:
    if isinstance(structure, int):
        leaf, amount = rows.leaves[structure], amounts[structure]
        if leaf.high is not None and leaf.low is not None and leaf.low - amount > leaf.high:
            return []
        high = None if leaf.high is None else leaf.high - max(0, amount)
        return [((Limit(structure, None, high),), (Move((amount,), leaf.low if amount < 0 else None),))]
    if structure[0] == "product":
        return _together([shift(rows, part, amounts) for part in structure[1]])
    return _shift_in_order(rows, _leaves_of(structure), amounts)


def _shift_in_order(rows: Rows, places: list[int], amounts: list[int]) -> list[Part]:
    """The hull of an addition under the lexicographic order of `places`.

    The least time at or above t to which the addition applies is t itself, or t raised at the first coordinate that is
    too low with all later ones at their least, or, where a coordinate is too high, t with the last earlier coordinate
    that can be raised raised by one.
    """
    least: dict[int, int | None] = {}
    greatest: dict[int, int | None] = {}
    for place in places:
        leaf, amount = rows.leaves[place], amounts[place]
        least[place] = None if leaf.low is None else leaf.low + max(0, -amount)
        greatest[place] = None if leaf.high is None else leaf.high - max(0, amount)
        low, high = least[place], greatest[place]
        if low is not None and high is not None and low > high:
            return []

    def add(place: int, extra: int = 0) -> Move:
        return KEEP if amounts[place] + extra == 0 else Move((amounts[place] + extra,), None)

    def reset(place: int) -> Move:
        low = least[place]
        return Move(None, None if low is None else low + amounts[place])

    inside = [Limit(place, least[place], greatest[place]) for place in places]
    parts: list[Part] = [(tuple(inside), tuple(add(place) for place in places))]
    for index, place in enumerate(places):
        low, high = least[place], greatest[place]
        if low is not None:
            moves = [*map(add, places[:index]), *map(reset, places[index:])]
            parts.append(((*inside[:index], Limit(place, None, low - 1)), tuple(moves)))
        if high is None:
            continue
        for raised in range(index - 1, -1, -1):
            other = places[raised]
            ceiling = greatest[other]
            full = [Limit(between, greatest[between], greatest[between]) for between in places[raised + 1 : index]]
            room = Limit(other, least[other], None if ceiling is None else ceiling - 1)
            moves = [*map(add, places[:raised]), add(other, 1), *map(reset, places[raised + 1 :])]
            parts.append(((*inside[:raised], room, *full, Limit(place, high + 1, None)), tuple(moves)))
            if ceiling is None:
                break
    return parts


def at_least(rows: Rows, structure: Structure, numbers: Numbers) -> list[Part]:
    """The minimal upper bounds with the row `numbers`."""
    if isinstance(structure, int):
        leaf, number = rows.leaves[structure], numbers[structure]
        if leaf.numeric:
            return [((), (Move((0,), number),))]
        assert leaf.order is not None
        names = leaf.order.by_rank
        return [
            ((Limit(structure, place, place),), (Move(None, leaf.order.rank(bound)),))
            for place, name in enumerate(names)
            for bound in leaf.order.minimal_upper_bounds(name, names[number])
        ]
    word, parts = structure
    if word == "product":
        return _together([at_least(rows, part, numbers) for part in parts])
    places = _leaves_of(structure)
    raised: list[Part] = [
        (box, tuple(Move(None, numbers[place]) for place in places)) for box in at_most(rows, structure, numbers)
    ]
    for index, place in enumerate(places):
        equal = [Limit(before, numbers[before], numbers[before]) for before in places[:index]]
        raised.append(((*equal, Limit(place, numbers[place] + 1, None)), (KEEP,) * len(places)))
    return raised


def at_most(rows: Rows, structure: Structure, numbers: Numbers) -> list[tuple[Limit, ...]]:
    """The boxes of all rows at or below `numbers`."""
    if isinstance(structure, int):
        leaf, number = rows.leaves[structure], numbers[structure]
        if leaf.numeric:
            return [(Limit(structure, None, number),)]
        assert leaf.high is not None
        return [(Limit(structure, low, low),) for low in range(leaf.high + 1) if leaf.less_equal(low, number)]
    word, parts = structure
    if word == "product":
        boxes = [at_most(rows, part, numbers) for part in parts]
        return [sum(choice, ()) for choice in combinations_of(*boxes)]
    places = _leaves_of(structure)
    found: list[tuple[Limit, ...]] = [tuple(Limit(place, numbers[place], numbers[place]) for place in places)]
    for index, place in enumerate(places):
        equal = [Limit(before, numbers[before], numbers[before]) for before in places[:index]]
        found.append((*equal, Limit(place, None, numbers[place] - 1)))
    return found


def _leaves_of(structure: Structure) -> list[int]:
    return [structure] if isinstance(structure, int) else [leaf for part in structure[1] for leaf in _leaves_of(part)]


def _together(parts: Sequence[list[Part]]) -> list[Part]:
    """All ways to choose one for each coordinate of a product."""
    return [
        (sum((limits for limits, _ in choice), ()), sum((moves for _, moves in choice), ()))
        for choice in combinations_of(*parts)
    ]
