"""One level of a picture: boxes and the edges between them, put in columns and drawn (Sugiyama and others, 1981).

What stands in the boxes, be it text or a picture of its own, is another's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphs.drawing.cycles import leading_back
from graphs.drawing.heights import SWEEPS, Heights
from graphs.drawing.joints import Joints
from graphs.drawing.layers import layers
from graphs.drawing.order import order
from graphs.drawing.places import Box, Joint, Places
from graphs.drawing.routes import Routes, Step


class Level(NamedTuple):
    """What is where: the corners of boxes at the top left, the middles of labels on their lines, the steps of edges."""

    width: float
    height: float
    boxes: list[tuple[float, float]]
    labels: list[tuple[float, float]]
    routes: list[list[Step]]
    back: list[bool]


def level(boxes: Sequence[Box], joints: Sequence[Joint], declared: Iterable[int], margin: float = 0.0) -> Level:
    """Put boxes and edges in columns. `declared`: edges of cycles on which time advances; `margin`: see `Routes`."""
    if not boxes:
        return Level(0.0, 0.0, [], [], [], [])
    places = Places(boxes, joints, layers_of(len(boxes), joints, set(declared)))
    order(places)
    found = Joints(places)
    heights = Heights(places, found.at)
    heights.settle(SWEEPS - 4)
    found.put(heights.at)
    heights.settle(4)
    heights.straighten()
    heights.straighten()
    heights.level_feedback()
    found.put(heights.at)
    top = min(at - up for at, up in zip(heights.at, places.up, strict=True))
    heights.at = [at - top for at in heights.at]
    routes = Routes(places, heights, margin)
    bottom = max(at + down for at, down in zip(heights.at, places.down, strict=True))
    corners = [
        (routes.left[column] + (routes.right[column] - routes.left[column] - box.width) / 2, at - box.height / 2)
        for box, column, at in zip(boxes, places.column, heights.at, strict=False)
    ]
    labels = [
        ((routes.left[places.column[item]] + routes.right[places.column[item]]) / 2, heights.at[item])
        if item >= 0
        else (0.0, 0.0)
        for item in places.label
    ]
    return Level(routes.width, bottom, corners, labels, routes.steps, places.back)


def layers_of(count: int, joints: Sequence[Joint], declared: set[int]) -> list[int]:
    """The layer of each box; parts that nothing joins are layered by themselves."""
    inner = [number for number, joint in enumerate(joints) if min(joint.source, joint.target) >= 0]
    inner = [number for number in inner if joints[number].source != joints[number].target]
    arcs = [(joints[number].source, joints[number].target) for number in inner]
    back = leading_back(count, arcs, [place for place, number in enumerate(inner) if number in declared])
    bounds = [
        (target, source, 0) if place in back else (source, target, 1) for place, (source, target) in enumerate(arcs)
    ]
    found = [0] * count
    for part in parts(count, arcs):
        position = {node: place for place, node in enumerate(part)}
        within = [(position[tail], position[head], least) for tail, head, least in bounds if tail in position]
        for node, layer in zip(part, layers(len(part), within), strict=True):
            found[node] = layer
    return found


def parts(count: int, arcs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The nodes that arcs join in either direction, each part and all of them in order."""
    root = list(range(count))

    def top(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for one, other in arcs:
        low, high = sorted((top(one), top(other)))
        root[high] = low
    found: dict[int, list[int]] = {}
    for node in range(count):
        found.setdefault(top(node), []).append(node)
    return list(found.values())
