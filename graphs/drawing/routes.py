"""From heights to lines: where columns begin, which turns are outside of which, and the path of every edge.

In a gap, what turns has a strip at each side, where all other lines are still level; between the strips every line
bends at once and in the same way, so that two of them cross once if their order changes, and never otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from graphs.drawing.heights import Heights
from graphs.drawing.places import OUTSIDE, Places

ARROW = 9.0  # pixels of an arrowhead, with what stays free before it
TRACK = 8.0  # pixels from one turn to the next
NARROWEST, WIDEST = 22.0, 120.0  # pixels in which lines bend
STEEP = 0.3  # pixels of a gap for each pixel that a line rises
ROUND = 6.0  # pixels of a corner

Step = tuple[float, ...]  # x, y: to move or draw to, straight; six numbers: a curve, as SVG has it


class Routes:
    """Where columns begin (`left`) and end (`right`), the `width` of all, and the steps of every edge."""

    def __init__(self, places: Places, heights: Heights, margin: float) -> None:
        self.places = places
        self.heights = heights
        self.margin = margin
        self.tracks: dict[tuple[int, int, int], int] = {}  # (gap, box, place): which track, from 1
        strips = [(self._strip(gap, gap), self._strip(gap, gap + 1)) for gap in range(len(places.columns) - 1)]
        wide = [max((places.width[item] for item in column), default=0.0) for column in places.columns]
        self.left: list[float] = []
        self.right: list[float] = []
        self.bend: list[tuple[float, float]] = []  # for each gap
        x = 0.0
        for number, width in enumerate(wide):
            self.left.append(x)
            x += width
            self.right.append(x)
            if number < len(strips):
                before, after = (TRACK * tracks + (TRACK / 2 if tracks else 0) for tracks in strips[number])
                after += ARROW if self._enters(number + 1) else 0.0
                x += before
                bend = self._bending(number)
                self.bend.append((x, x + bend))
                x += bend + after
        self.width = x
        self.steps = [self._route(edge) for edge in range(len(places.ways))]

    def _enters(self, column: int) -> bool:
        return any(item < len(self.places.boxes) and self.places.left[item] for item in self.places.columns[column])

    def _height(self, item: int, other: int) -> float:
        """How high the chord between two items is at the first of them."""
        return self.heights.at[item] + self.heights.joints.get((item, other), 0.0)

    def _bending(self, gap: int) -> float:
        lines = [
            (one, other)
            for one, other in self.places.chords(gap)
            if self.places.column[one] != self.places.column[other]
        ]
        if not lines:
            return 0.0 if not self.places.columns[gap] or not self.places.columns[gap + 1] else NARROWEST / 2
        rise = max(abs(self._height(one, other) - self._height(other, one)) for one, other in lines)
        return min(max(NARROWEST, STEEP * rise), WIDEST)

    def _strip(self, gap: int, column: int) -> int:
        """Give tracks to what turns at one side of a gap, the shortest the innermost; how many tracks there are."""
        places = self.places
        turns = []
        for box, place in places.chords(gap):
            if places.column[box] == places.column[place] == column:
                ends = sorted((self._height(box, place), self._height(place, box)))
                turns.append((ends[1] - ends[0], ends[0], ends[1], box, place))
        taken: list[tuple[float, float, int]] = []
        for _, low, high, box, place in sorted(turns):
            beneath = [track for start, end, track in taken if start <= high + 2 and low - 2 <= end]
            track = max(beneath, default=0) + 1
            taken.append((low, high, track))
            self.tracks[gap, box, place] = track
        return max((track for _, _, track in taken), default=0)

    # --- the path of an edge ------------------------------------------------------------------------------------------

    def _route(self, edge: int) -> list[Step]:
        places = self.places
        way, joint = places.ways[edge], places.joints[edge]
        first, last = way[0], way[-1]
        if joint.source == OUTSIDE:
            start = -self.margin if joint.through else self._middle(first) - places.width[first] / 2
            steps: list[Step] = [(start, self.heights.at[first])]
        else:
            steps = [(self._middle(first) + places.width[first] / 2, self._height(first, way[1]))]
        for one, other in pairwise(way):
            gap = min(places.column[one], places.column[other])
            y, z = self._height(one, other), self._height(other, one)
            if places.column[one] == places.column[other]:
                steps += self._turn(one, other, y, z, rightwards=one < len(places.boxes))
            else:
                start, end = self.bend[gap]
                if places.column[one] > places.column[other]:
                    start, end = end, start
                middle = (start + end) / 2
                steps += [(start, y), (middle, y, middle, z, end, z)] if abs(y - z) > 0.05 else []
        if joint.target == OUTSIDE:
            end = self.width + self.margin if joint.through else self._middle(last) + places.width[last] / 2
            steps.append((end, self.heights.at[last]))
        else:
            steps.append((self._middle(last) - places.width[last] / 2, self._height(last, way[-2])))
        return steps

    def _middle(self, item: int) -> float:
        column = self.places.column[item]
        return (self.left[column] + self.right[column]) / 2

    def _turn(self, one: int, other: int, y: float, z: float, rightwards: bool) -> list[Step]:
        column = self.places.column[one]
        gap = column if rightwards else column - 1
        track = self.tracks.get((gap, one, other)) or self.tracks[gap, other, one]
        if rightwards:
            x = self.right[column] + TRACK * track
            side = 1.0
        else:
            x = self.left[column] - ARROW - TRACK * track
            side = -1.0
        corner = min(ROUND, abs(z - y) / 2)
        down = corner if z > y else -corner
        return [
            (x - side * corner, y),
            (x, y, x, y, x, y + down),
            (x, z - down),
            (x, z, x, z, x - side * corner, z),
        ]


def joined(pieces: Sequence[Sequence[Step]]) -> list[Step]:
    """One path from several, each of which begins where the one before ends; level pieces become one."""
    path: list[Step] = []
    for piece in pieces:
        for step in piece:
            straight = len(step) == 2
            if straight and len(path) > 1 and len(path[-1]) == 2 and path[-1][1] == path[-2][-1] == step[1]:
                path[-1] = step
            elif not (straight and path and path[-1][-2:] == step):
                path.append(step)
    return path


def moved(steps: Sequence[Step], x: float, y: float) -> list[Step]:
    """The same steps elsewhere."""
    return [tuple(value + (y if number % 2 else x) for number, value in enumerate(step)) for step in steps]


def written(steps: Sequence[Step]) -> str:
    """As the `d` of an SVG path, with one decimal."""
    words = []
    for number, step in enumerate(steps):
        letter = "M" if not number else "L" if len(step) == 2 else "C"
        words.append(letter + " ".join(decimal(value) for value in step))
    return "".join(words)


def decimal(value: float) -> str:
    """A number of pixels in as few letters as one decimal allows."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
