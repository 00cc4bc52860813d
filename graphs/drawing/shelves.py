"""Parts that nothing joins, on shelves: the highest first, from the left to the right, then below."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

BETWEEN = 18.0  # pixels
ASPECT = 1.6  # of the whole: its width by its height, where that can be had


def shelves(sizes: Sequence[tuple[float, float]]) -> tuple[list[tuple[float, float]], float, float]:
    """The corner of each part at the top left, and the width and the height of all."""
    area = sum((width + BETWEEN) * (height + BETWEEN) for width, height in sizes)
    most = max([sqrt(area * ASPECT), *(width for width, _ in sizes)])
    corners = [(0.0, 0.0)] * len(sizes)
    x = y = depth = across = 0.0
    for part in sorted(range(len(sizes)), key=lambda part: (-sizes[part][1], part)):
        width, height = sizes[part]
        if x and x + width > most:
            x, y, depth = 0.0, y + depth + BETWEEN, 0.0
        corners[part] = (x, y)
        x += width + BETWEEN
        depth = max(depth, height)
        across = max(across, x - BETWEEN)
    return corners, across, y + depth
