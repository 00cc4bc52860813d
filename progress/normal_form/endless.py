"""Times that fall without end: what a summary leads to where no time there is least (A&I 3.1).

In lex [nat, int], {advance: [-1, 0]} leads from (0, 5) to every (0, v). Such a set is kept as one *endless* time, in
which a coordinate is minus infinity: (0, -inf) is at or below exactly the times of the set, in the order as it is. So
engines and closures go on with it as with any other time, and what it leads to may have least times again. It is not a
time of its domain: whoever is asked for minimal times and finds an endless one among them raises `NoMinimalTimes`, and
a way that passes one is shown with numbers that are low enough (`progress.cycles.finite_way`).

Law: an endless time stands for all times at or above one of those with -1, -2, -3, ... in place of minus infinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from progress.normal_form.coordinate import Move, value_of
from progress.normal_form.layout import Numbers, Rows, Structure


def is_endless(time: Any) -> bool:
    """Whether a coordinate is minus infinity. Only to be asked of times of built-in domains."""
    if isinstance(time, tuple):
        return any(map(is_endless, time))
    return type(time) is float and time == -inf


def low_enough(time: Any, number: int) -> Any:
    """The time with a number in place of minus infinity."""
    if isinstance(time, tuple):
        parts = [low_enough(part, number) for part in time]
        return type(time)(*parts) if hasattr(time, "_fields") else tuple(parts)
    return number if type(time) is float and time == -inf else time


def lower_than(*times: Any) -> int:
    """A number below all that occur in times."""
    return min(0, *(number for time in times for number in _numbers(time)), 0) - 1


def _numbers(time: Any) -> Iterator[int]:
    if isinstance(time, tuple):
        for part in time:
            yield from _numbers(part)
    elif type(time) is int:
        yield time


def moved_without_end(rows: Rows, moves: tuple[Move, ...], numbers: Numbers) -> Numbers:
    """What moves do to a row, minus infinity being allowed before and after; in the rows of where they lead."""
    row: list[Any] = []
    for place, move in enumerate(moves):
        if move.word is None or numbers[place] == -inf:
            row.append(-inf if move.floor is None else move.floor)
        else:
            row.append(value_of(move, numbers[place]))
    _settle(rows, rows.structure, row, False)
    return tuple(row)


def _settle(rows: Rows, structure: Structure, row: list[Any], decided: bool) -> bool:
    """Behind minus infinity in a lexicographic order nothing matters: the same there for all; whether there is any."""
    if isinstance(structure, int):
        if decided:
            row[structure] = rows.leaves[structure].low or 0
        return bool(row[structure] == -inf)
    word, parts = structure
    endless = False
    for part in parts:
        endless = _settle(rows, part, row, decided or (word == "lex" and endless)) or endless
    return endless
