"""From a plan to coordinates: a picture for each frame, the innermost first, which is a box of the one around it.

An edge that crosses a frame has a piece in each of the two pictures, and they meet at the frame; its label stands in
the outermost. Parts of the whole that nothing joins stand on shelves.
"""

from __future__ import annotations

from typing import NamedTuple

from graphs.drawing.joints import least_height
from graphs.drawing.level import level, parts
from graphs.drawing.places import OUTSIDE, PASS, Box, Joint
from graphs.drawing.plan import Group, NodePlan, Plan, all_of
from graphs.drawing.routes import Step, joined, moved
from graphs.drawing.shelves import shelves
from graphs.drawing.text import LINE, SIZE, shown, width

MARGIN = 10.0  # pixels between a frame and what is in it, and around the whole
PADDING = 8.0  # pixels between a box and its text
NARROWEST = 40.0  # pixels of a box
HEAD = LINE + 2  # pixels of a frame's title
ABOVE = 6.0  # pixels from an edge's line to the base of its label: letters that hang down stay clear of a thick line
STUB = 28.0  # pixels of an edge's line that has no label, at the outside


class Arranged(NamedTuple):
    """Boxes and frames as x, y, width, height; labels as the middles of their lines; frames with name, kind, title.

    `inside`: by node, the picture in its box, below a line for its name.
    """

    width: float
    height: float
    boxes: list[tuple[float, float, float, float]]
    routes: list[list[Step]]
    labels: list[tuple[float, float]]
    widths: list[float]
    back: list[bool]
    frames: list[tuple[str, str, str, float, float, float, float]]
    inside: dict[int, Arranged]


class _Picture(NamedTuple):
    """A part of the whole, from its own corner."""

    width: float
    height: float
    boxes: dict[int, tuple[float, float, float, float]]
    routes: dict[int, list[Step]]
    labels: dict[int, tuple[float, float]]
    back: dict[int, bool]
    frames: list[tuple[str, str, str, float, float, float, float]]

    def moved(self, x: float, y: float) -> _Picture:
        return _Picture(
            self.width,
            self.height,
            {node: (left + x, top + y, *size) for node, (left, top, *size) in self.boxes.items()},  # type: ignore[misc]
            {edge: moved(steps, x, y) for edge, steps in self.routes.items()},
            {edge: (across + x, down + y) for edge, (across, down) in self.labels.items()},
            self.back,
            [(name, kind, title, left + x, top + y, *size) for name, kind, title, left, top, *size in self.frames],  # type: ignore[misc]
        )

    def take(self, inner: _Picture) -> None:
        """All that is in another picture stands in this one as well."""
        self.boxes.update(inner.boxes)
        self.routes.update(inner.routes)
        self.labels.update(inner.labels)
        self.back.update(inner.back)
        self.frames.extend(inner.frames)


def heading(given: NodePlan) -> str:
    """What is written on the frame of a part that is opened: what was in its box."""
    return ", ".join(given.lines)


def arrange(plan: Plan) -> Arranged:
    """Coordinates for all that is planned."""
    arranging = _Arranging(plan)
    inside = {node for group in plan.groups for node in all_of(group)}
    whole = Group("", "", tuple(node for node in range(len(plan.nodes)) if node not in inside), plan.groups)
    pictures = arranging.pictures(whole, split=True)
    corners, across, down = shelves([(picture.width, picture.height) for picture in pictures])
    found = _Picture(across + 2 * MARGIN, down + 2 * MARGIN, {}, {}, {}, {}, [])
    for picture, (x, y) in zip(pictures, corners, strict=True):
        found.take(picture.moved(x + MARGIN, y + MARGIN))
    edges = range(len(plan.edges))
    return Arranged(
        found.width,
        found.height,
        [found.boxes[node] for node in range(len(plan.nodes))],
        [joined([found.routes[edge]]) for edge in edges],
        [found.labels[edge] for edge in edges],
        [arranging.label(edge)[0] for edge in edges],
        [found.back[edge] for edge in edges],
        found.frames,
        arranging.inside,
    )


class _Arranging:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.room = width("n" * plan.room)
        self.inside = {node: arrange(given.inside) for node, given in enumerate(plan.nodes) if given.inside is not None}
        self.entering = [0] * len(plan.nodes)
        self.leaving = [0] * len(plan.nodes)
        for edge in plan.edges:
            if edge.target >= 0:
                self.entering[edge.target] += 1
            if edge.source >= 0:
                self.leaving[edge.source] += 1

    def box(self, node: int) -> Box:
        """A box as large as its text and its edges ask."""
        given = self.plan.nodes[node]
        inside = self.inside.get(node)
        if inside is None:
            lines = len(given.lines) + (self.plan.room > 0)
            across = max([NARROWEST, self.room + 2 * PADDING, *(width(line) + 2 * PADDING for line in given.lines)])
            down = lines * LINE + PADDING
        else:
            across, down = max(inside.width, width(heading(given)) + 2 * PADDING), inside.height + HEAD
        return Box(across, max(down, least_height(max(self.entering[node], self.leaving[node]))))

    def label(self, edge: int) -> tuple[float, float, float]:
        """Width, height above the line and below it."""
        given = self.plan.edges[edge]
        below = len(given.below) + (self.plan.room > 0)
        across = max(width(text) for text in (given.above, *given.below))
        across = max(across, self.room)
        if OUTSIDE in (given.source, given.target):
            across = max(across, STUB)
        return across, SIZE + ABOVE if given.above else PASS, 4 + below * LINE if below else PASS

    def pictures(self, group: Group, split: bool) -> list[_Picture]:
        """Pictures of a group: one, or one for each of the parts that nothing joins."""
        frames = [self._framed(inner) for inner in group.groups]
        item_of = {node: number for number, node in enumerate(group.nodes)}
        for number, inner in enumerate(group.groups, len(group.nodes)):
            item_of |= dict.fromkeys(all_of(inner), number)
        mine: list[tuple[int, int, int]] = []  # edge, source, target, as items
        for edge, given in enumerate(self.plan.edges):
            source, target = item_of.get(given.source, OUTSIDE), item_of.get(given.target, OUTSIDE)
            if source == target and (source == OUTSIDE or source >= len(group.nodes)):
                continue
            mine.append((edge, source, target))
        count = len(group.nodes) + len(group.groups)
        if not split:
            return [self._picture(group, frames, list(range(count)), mine, outermost=False)]
        found = []
        wholes = parts(count, [(source, target) for _, source, target in mine if min(source, target) >= 0])
        part_of = {item: number for number, part in enumerate(wholes) for item in part}
        edges: list[list[tuple[int, int, int]]] = [[] for _ in wholes]
        for entry in mine:
            edges[part_of[max(entry[1:])]].append(entry)
        for part, those in zip(wholes, edges, strict=True):
            found.append(self._picture(group, frames, part, those, outermost=True))
        return found

    def _picture(
        self,
        group: Group,
        frames: list[_Picture],
        items: list[int],
        edges: list[tuple[int, int, int]],
        outermost: bool,
    ) -> _Picture:
        nodes = len(group.nodes)
        place_of = {item: place for place, item in enumerate(items)} | {OUTSIDE: OUTSIDE}
        number_of = {edge: number for number, (edge, _, _) in enumerate(edges)}
        boxes = [
            self.box(group.nodes[item]) if item < nodes else self._frame_box(frames[item - nodes], number_of)
            for item in items
        ]
        joints = []
        for edge, source, target in edges:
            through = not outermost and OUTSIDE in (source, target)
            size = (0.0, PASS, PASS) if through else self.label(edge)
            joints.append(Joint(place_of[source], place_of[target], *size, through))
        advancing = [number for number, (edge, _, _) in enumerate(edges) if edge in self.plan.advancing]
        found = level(boxes, joints, advancing, 0.0 if outermost else MARGIN)
        result = _Picture(found.width, found.height, {}, {}, {}, {}, [])
        inner_of: dict[int, _Picture] = {}
        for item, box, (x, y) in zip(items, boxes, found.boxes, strict=True):
            if item < nodes:
                result.boxes[group.nodes[item]] = (x, y, box.width, box.height)
                continue
            inner_of[item] = frames[item - nodes].moved(x, y)
            result.take(inner_of[item])
        for number, (edge, source, target) in enumerate(edges):
            pieces = [found.routes[number]]
            if source in inner_of:
                pieces.insert(0, inner_of[source].routes[edge])
            if target in inner_of:
                pieces.append(inner_of[target].routes[edge])
            result.routes[edge] = joined(pieces)
            if not joints[number].through:
                result.labels[edge] = found.labels[number]
                result.back[edge] = found.back[number]
        return result

    def _framed(self, group: Group) -> _Picture:
        """The picture of a group with its frame, which edges cross at the left and the right."""
        (picture,) = self.pictures(group, split=False)
        title = shown(group.name)
        head = HEAD if title else 0.0
        across = max(picture.width, width(title)) + 2 * MARGIN
        slack = (across - 2 * MARGIN - picture.width) / 2
        found = picture.moved(MARGIN + slack, MARGIN + head)
        down = picture.height + 2 * MARGIN + head
        routes = {}
        inside = set(all_of(group))
        for edge, steps in found.routes.items():
            given = self.plan.edges[edge]
            if given.source not in inside:
                steps = [(0.0, steps[0][-1]), *steps]
            if given.target not in inside:
                steps = [*steps, (across, steps[-1][-1])]
            routes[edge] = steps
        frames = [(group.name, group.kind, title, 0.0, 0.0, across, down), *found.frames]
        return _Picture(across, down, found.boxes, routes, found.labels, found.back, frames)

    def _frame_box(self, picture: _Picture, number_of: dict[int, int]) -> Box:
        enters, leaves = {}, {}
        for edge, number in number_of.items():
            steps = picture.routes.get(edge)
            if steps is None:
                continue
            given = self.plan.edges[edge]
            if given.target in picture.boxes and given.source not in picture.boxes:
                enters[number] = steps[0][-1]
            else:
                leaves[number] = steps[-1][-1]
        return Box(picture.width, picture.height, enters, leaves)
