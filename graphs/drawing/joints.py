"""Where edges are joined to boxes: in the order of the other ends on the circle, so that no two of a box cross."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.drawing.heights import apart
from graphs.drawing.places import RANKS, Places

APART = 7.0  # pixels between two edges at a box
EDGE = 6.0  # pixels that stay free at the corners of a box


def least_height(edges: int) -> float:
    """How high a box is at least, on one side of which so many edges are joined."""
    return (edges - 1) * APART + 2 * EDGE if edges else 0.0


class Joints:
    """The places that are joined to each box, from its top, on both sides."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.sides: list[tuple[int, list[int]]] = []
        self.at: dict[tuple[int, int], float] = {}  # (box, place): pixels below the middle of the box
        for box, given in enumerate(places.boxes):
            for gap, others, fixed in (
                (places.column[box] - 1, places.left[box], given.enters),
                (places.column[box], places.right[box], given.leaves),
            ):
                if fixed is not None:
                    for place in others:
                        self.at[box, place] = fixed[places.edge[place]] - given.height / 2
                elif others:
                    self.sides.append((box, self._from_top(box, gap, others)))
        self.put(None)

    def _from_top(self, box: int, gap: int, others: Sequence[int]) -> list[int]:
        places = self.places
        whole = (len(places.columns[gap]) + len(places.columns[gap + 1]) + 1) * RANKS
        mine = places.index[box] * RANKS
        if places.column[box] != gap:
            mine = (len(places.columns[gap]) + len(places.columns[gap + 1])) * RANKS - mine
        downwards = places.column[box] == gap  # the circle runs down the left column, up the right one
        return sorted(others, key=lambda place: (places.spot(gap, place, box) - mine) % whole, reverse=downwards)

    def put(self, heights: Sequence[float] | None) -> None:
        """Join every edge as near to what it leads to as the box allows; without heights, evenly."""
        for box, others in self.sides:
            room = self.places.boxes[box].height / 2 - EDGE
            if heights is None:
                wished = [0.0] * len(others)
            else:
                wished = [heights[place] - heights[box] for place in others]
            spread = min(APART, 2 * room / max(len(others) - 1, 1))
            found = apart(wished, [1.0] * len(others), [0.0] + [spread] * (len(others) - 1))
            # what is pooled inside of a box is as near as it can be when it is moved back between its corners
            for number, (place, height) in enumerate(zip(others, found, strict=True)):
                low, high = -room + number * spread, room - (len(others) - 1 - number) * spread
                self.at[box, place] = min(max(height, low), high)
