"""How far down each place stands: near what it is joined with, in the order of its column.

The heights of one column that are nearest to what is wished, by least squares, are those of pooled neighbours, exactly;
columns take turns. Then the places of each edge are put on one height where there is room, so that lines have few
bends, and what leads back outside of everything is put level.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from graphs.drawing.places import Places

SPACE = 7.0  # pixels that stay free between two intervals
SWEEPS = 16
ROUNDS = 5  # of making what leads back level
LONG, MIXED, SHORT = 8.0, 2.0, 1.0  # how much an edge wants to be level: between two of its places, at a box, at a turn


class Heights:
    """`at[item]`: the height of its line, of a box its middle. `joints`: of an edge at a box, below its middle."""

    def __init__(self, places: Places, joints: dict[tuple[int, int], float]) -> None:
        self.places = places
        self.joints = joints
        self.at = [0.0] * len(places.column)
        for column in filter(None, places.columns):
            level = [0.0] * len(column)
            for item, height in zip(column, apart(level, [1.0] * len(column), self._steps(column)), strict=True):
                self.at[item] = height

    def settle(self, sweeps: int) -> None:
        """Let the columns take turns. Cost: O(sweeps * chords), fewer for very many places."""
        columns = self.places.columns
        for sweep in range(self.places.rounds(sweeps)):
            for column in columns if sweep % 2 == 0 else reversed(columns):
                if column:
                    wishes, weights = zip(*map(self._wish, column), strict=True)
                    for item, height in zip(column, apart(wishes, weights, self._steps(column)), strict=True):
                        self.at[item] = height

    def _steps(self, column: Sequence[int]) -> list[float]:
        """How far below the one before each item of a column stands at least."""
        places = self.places
        return [0.0] + [places.down[above] + SPACE + places.up[below] for above, below in pairwise(column)]

    def _wish(self, item: int) -> tuple[float, float]:
        places, boxes = self.places, len(self.places.boxes)
        total = weight = 0.0
        for others in (places.left[item], places.right[item]):
            for other in others:
                if places.column[other] == places.column[item]:
                    heavy = SHORT
                else:
                    heavy = LONG if item >= boxes and other >= boxes else MIXED
                at = self.at[other] + self.joints.get((other, item), 0.0) - self.joints.get((item, other), 0.0)
                total += heavy * at
                weight += heavy
        return (total / weight, weight) if weight else (self.at[item], 0.01)

    # --- level lines --------------------------------------------------------------------------------------------------

    def straighten(self) -> None:
        """Put runs of an edge's places on one height, as long as there is room. Cost: O(places)."""
        boxes = len(self.places.boxes)
        for way in self.places.ways:
            run: list[int] = []
            low, high = float("-inf"), float("inf")
            for item in [*(item for item in way if item >= boxes), -1]:
                if item >= 0:
                    least, most = self._room(item)
                    if max(low, least) <= min(high, most):
                        low, high = max(low, least), min(high, most)
                        run.append(item)
                        continue
                if len(run) > 1:
                    middle = sorted(self.at[each] for each in run)[len(run) // 2]
                    for each in run:
                        self.at[each] = min(max(middle, low), high)
                if item >= 0:
                    run, (low, high) = [item], self._room(item)

    def _room(self, item: int) -> tuple[float, float]:
        """Between which heights an item can stand while its neighbours stay."""
        places = self.places
        column, position = places.columns[places.column[item]], places.index[item]
        low, high = float("-inf"), float("inf")
        if position:
            above = column[position - 1]
            low = self.at[above] + places.down[above] + SPACE + places.up[item]
        if position + 1 < len(column):
            below = column[position + 1]
            high = self.at[below] - places.up[below] - SPACE - places.down[item]
        return low, high

    def level_feedback(self) -> None:
        """Put what leads back outside of everything on one height, inner edges first; outer ones make room.

        Which of two is the outer one is not always seen by their lengths, so it is done until nothing moves.
        """
        for _ in range(ROUNDS):
            before = list(self.at)
            self._level_feedback()
            if self.at == before:
                return

    def _level_feedback(self) -> None:
        places = self.places
        ways = sorted((len(way), edge) for edge, way in enumerate(places.ways) if places.back[edge])
        for _, edge in ways:
            items = [item for item in places.ways[edge] if item >= len(places.boxes)]
            if all(self._outermost(item, below=True) for item in items):
                height = max(self.at[item] for item in items)
                for item in items:
                    self._push(item, height, below=True)
            elif all(self._outermost(item, below=False) for item in items):
                height = min(self.at[item] for item in items)
                for item in items:
                    self._push(item, height, below=False)

    def _outermost(self, item: int, below: bool) -> bool:
        places = self.places
        column, position = places.columns[places.column[item]], places.index[item]
        rest = column[position + 1 :] if below else column[:position]
        return all(other >= len(places.boxes) and places.back[places.edge[other]] for other in rest)

    def _push(self, item: int, height: float, below: bool) -> None:
        places = self.places
        column, position = places.columns[places.column[item]], places.index[item]
        self.at[item] = height
        before = item
        for other in column[position + 1 :] if below else reversed(column[:position]):
            if below:
                least = self.at[before] + places.down[before] + SPACE + places.up[other]
                self.at[other] = max(self.at[other], least)
            else:
                most = self.at[before] - places.up[before] - SPACE - places.down[other]
                self.at[other] = min(self.at[other], most)
            before = other


def apart(wishes: Sequence[float], weights: Sequence[float], steps: Sequence[float]) -> list[float]:
    """The heights nearest to those wished, each at least its step below the one before: pooled neighbours.

    Cost: O(wishes).
    """
    below = list(accumulate(steps))
    blocks: list[list[float]] = []  # mean of what is wished, less what stands above; weight; how many
    for wish, weight, room in zip(wishes, weights, below, strict=True):
        mean, size = wish - room, 1.0
        while blocks and blocks[-1][0] >= mean:
            above, more, count = blocks.pop()
            mean, weight, size = (above * more + mean * weight) / (more + weight), more + weight, count + size
        blocks.append([mean, weight, size])
    found: list[float] = []
    for mean, _, size in blocks:
        found += [mean + room for room in below[len(found) : len(found) + int(size)]]
    return found
