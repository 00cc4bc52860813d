"""How many lines cross: counted for a gap, and what an exchange of two neighbours would change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

from graphs.drawing.places import RANKS, Places


def crossings(places: Places) -> int:
    """All crossings. Cost: O(chords * log chords) comparisons."""
    return sum(crossings_in(places, gap) for gap in range(len(places.columns) - 1))


def crossings_in(places: Places, gap: int) -> int:
    """Pairs of chords whose ends alternate, in the gap right of column `gap`."""
    spot = places.spot
    ends = []
    for item, other in places.chords(gap):
        one, two = spot(gap, item, other), spot(gap, other, item)
        ends.append((one, two) if one < two else (two, one))
    ends.sort()
    count = 0
    open_ends: list[int] = []
    waiting: list[int] = []  # ends of chords that begin at one spot with the one that is looked at
    before = -1
    for start, end in ends:
        if start != before:
            for one in waiting:
                insort(open_ends, one)
            waiting, before = [], start
            del open_ends[: bisect_right(open_ends, start)]
        count += bisect_left(open_ends, end)
        waiting.append(end)
    return count


def gained_by_exchange(places: Places, above: int, below: int) -> int:
    """How many crossings go when two neighbours in a column change places; negative where some come."""
    column = places.column[above]
    gained = 0
    if places.right[above] and places.right[below]:
        gained += _gained(places, column, above, below, places.right[above], places.right[below])
    if places.left[above] and places.left[below]:
        gained -= _gained(places, column - 1, above, below, places.left[above], places.left[below])
    return gained


def _gained(places: Places, gap: int, above: int, below: int, of_one: list[int], of_other: list[int]) -> int:
    """Pairs that cross less pairs that would, where `below` follows `above` on the circle."""
    if len(of_one) == 1 == len(of_other):
        one, other = of_one[0], of_other[0]
        if places.column[one] == places.column[other] != places.column[above]:  # two lines
            return _two_lines(places, gap, (above, one), (below, other))
    whole = (len(places.columns[gap]) + len(places.columns[gap + 1]) + 1) * RANKS
    spot = places.spot
    origin = spot(gap, above, below)
    ones = sorted((spot(gap, other, above) - origin) % whole for other in of_one if other != below)
    others = [(spot(gap, other, below) - origin) % whole for other in of_other if other != above]
    gained = 0
    for end in others:
        before = bisect_left(ones, end)
        gained += before - (len(ones) - bisect_right(ones, end))
    return gained


def _two_lines(places: Places, gap: int, one: tuple[int, int], other: tuple[int, int]) -> int:
    """The same for two lines: 1, 0 or -1."""
    high, low = places.index[one[1]], places.index[other[1]]
    if high != low:  # at different items: the circle runs downwards on the left, upwards on the right
        return 1 if (high < low) == (places.column[one[1]] == gap) else -1
    upwards = places.spot(gap, one[1], one[0]), places.spot(gap, other[1], other[0])
    return (upwards[0] < upwards[1]) - (upwards[0] > upwards[1])
