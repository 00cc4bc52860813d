"""Columns of places: boxes in the odd ones, labels in the even ones, and lines that pass through all of them.

Every edge leaves its box on the right and enters one on the left. On its way it has a place of its own in each column
that it passes, which it crosses level; it bends only in the gaps between columns. An edge that leads back turns round
in the gap right of its source, passes back through a place in each column, and turns again left of its target.

A gap is a circle: its left column downwards, then its right column upwards. Lines and turns are chords of it, and two
of them cross if and only if their ends alternate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

OUTSIDE = -1  # the end of an edge that only one box is at
MOST_LOOKS = 60_000  # at places, in a loop over all of them
PASS = 4.0  # pixels above and below a line that passes


class Box(NamedTuple):
    """What stands in a column of boxes. `enters` and `leaves`: where edges are joined to it, from its top, if fixed."""

    width: float
    height: float
    enters: dict[int, float] | None = None  # by edge
    leaves: dict[int, float] | None = None


class Joint(NamedTuple):
    """An edge between two boxes, or between one and the outside.

    `width`, `above` and `below` are those of its label, which stands on its line. `through`: to the border of the
    picture, where its label is another's business.
    """

    source: int
    target: int
    width: float = 0.0
    above: float = PASS
    below: float = PASS
    through: bool = False


class Places:
    """All that owns an interval of height in a column. Boxes are numbered first, as they were given."""

    def __init__(self, boxes: Sequence[Box], joints: Sequence[Joint], layers: Sequence[int]) -> None:
        self.boxes = boxes
        self.joints = joints
        self.column = [2 * layer + 1 for layer in layers]
        self.width = [box.width for box in boxes]
        self.up = [box.height / 2 for box in boxes]  # pixels that are owned above the line, or above the middle
        self.down = [box.height / 2 for box in boxes]
        self.edge = [-1] * len(boxes)  # the edge that a place is of
        self.left: list[list[int]] = [[] for _ in boxes]  # what the gap left of it joins it with
        self.right: list[list[int]] = [[] for _ in boxes]
        self.rank: dict[tuple[int, int], int] = {}  # (box, place): which of the fixed joints from the top
        self.load = [0.0] * (2 * max(layers, default=0) + 3)  # the height of the labels in each column
        self.ways: list[list[int]] = [[] for _ in joints]  # from source to target
        self.label: list[int] = [-1] * len(joints)
        self.back = [
            joint.source >= 0 and joint.target >= 0 and layers[joint.source] >= layers[joint.target] for joint in joints
        ]
        for number in sorted(range(len(joints)), key=lambda one: (self._span(one), one)):
            self._lay(number)
        self.columns: list[list[int]] = [[] for _ in self.load]
        for item, column in enumerate(self.column):
            self.columns[column].append(item)
        self.index = [0] * len(self.column)
        self.number()
        for box, given in enumerate(boxes):
            self._rank(box, given)

    def _span(self, number: int) -> int:
        joint = self.joints[number]
        if OUTSIDE in (joint.source, joint.target):
            return 0
        return abs(self.column[joint.source] - self.column[joint.target])

    def _lay(self, number: int) -> None:
        """Give an edge its places, and its label the least crowded of the columns for labels on its way."""
        joint = self.joints[number]
        source, target = joint.source, joint.target
        if source == OUTSIDE:
            start = 0 if joint.through else self.column[target] - 1
            columns = range(start, self.column[target])
        elif target == OUTSIDE:
            end = len(self.load) - 1 if joint.through else self.column[source] + 1
            columns = range(self.column[source] + 1, end + 1)
        elif self.back[number]:
            columns = range(self.column[source], self.column[target] - 1, -1)
        else:
            columns = range(self.column[source] + 1, self.column[target])
        fit = [column for column in columns if column % 2 == 0] or list(columns)
        chosen = min(fit, key=self.load.__getitem__)
        self.load[chosen] += joint.above + joint.below
        way: list[int] = [] if source == OUTSIDE else [source]
        for column in columns:
            place = len(self.column)
            labelled = column == chosen and not joint.through
            self.column.append(column)
            self.width.append(joint.width if labelled else 0.0)
            self.up.append(joint.above if labelled else PASS)
            self.down.append(joint.below if labelled else PASS)
            self.edge.append(number)
            self.left.append([])
            self.right.append([])
            if labelled:
                self.label[number] = place
            way.append(place)
        if target != OUTSIDE:
            way.append(target)
        self.ways[number] = way
        for one, other in pairwise(way):
            self._join(one, other, number)

    def _join(self, one: int, other: int, number: int) -> None:
        if self.column[one] == self.column[other]:  # a turn
            side = self.right if one == self.joints[number].source else self.left
            side[one].append(other)
            side[other].append(one)
            return
        left, right = (one, other) if self.column[one] < self.column[other] else (other, one)
        self.right[left].append(right)
        self.left[right].append(left)

    def _rank(self, box: int, given: Box) -> None:
        for fixed, others in ((given.enters, self.left[box]), (given.leaves, self.right[box])):
            if fixed is not None:
                ordered = sorted(others, key=lambda place: (fixed[self.edge[place]], place))
                self.rank |= {(box, place): rank for rank, place in enumerate(ordered, 1)}

    def number(self) -> None:
        """Where each item stands in its column, after a change of `columns`."""
        for column in self.columns:
            for position, item in enumerate(column):
                self.index[item] = position

    def rounds(self, most: int) -> int:
        """How often all places may be looked at: `most` times, less often where they are very many."""
        return max(1, min(most, MOST_LOOKS // max(1, len(self.column))))

    # --- circles ------------------------------------------------------------------------------------------------------

    def spot(self, gap: int, item: int, other: int) -> int:
        """Where the chord from `item` to `other` ends on the circle of the gap right of column `gap`."""
        if self.column[item] == gap:
            return self.index[item] * RANKS + self.rank.get((item, other), 0)
        whole = len(self.columns[gap]) + len(self.columns[gap + 1])
        return (whole - self.index[item]) * RANKS - self.rank.get((item, other), 0)

    def chords(self, gap: int) -> list[tuple[int, int]]:
        """Pairs of items that the gap right of column `gap` joins."""
        found = [(item, other) for item in self.columns[gap] for other in self.right[item]]
        lines = [(item, other) for item, other in found if self.column[other] != gap or item < other]
        turns = [(item, other) for item in self.columns[gap + 1] for other in self.left[item]]
        return lines + [(item, other) for item, other in turns if self.column[other] == gap + 1 and item < other]


RANKS = 1 << 20  # more than any box has fixed joints
