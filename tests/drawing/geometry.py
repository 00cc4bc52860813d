"""What a picture must never do, judged by its SVG alone: paths are walked, text is measured with widths of a real font.

It shares no code with the layout, and does not know how it works. Boxes and texts are rectangles, lines are sampled
every few pixels, and what is near what is found by squares of a grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# DejaVu Sans: the advance of each letter as a part of its size
ADVANCES = {
    0.275: "'", 0.278: "ijl", 0.295: "IJ", 0.318: " ,.", 0.337: "/:;\\|", 0.352: "f", 0.361: "-", 0.39: "()[]",
    0.392: "t", 0.401: "!", 0.411: "r", 0.46: '"', 0.5: "*_`", 0.521: "s", 0.525: "z", 0.531: "?", 0.55: "c",
    0.557: "L", 0.575: "F", 0.579: "k", 0.592: "vxy", 0.603: "P", 0.611: "TY", 0.612: "o", 0.613: "a", 0.615: "e",
    0.632: "E", 0.634: "hnu", 0.635: "Sbdgpq", 0.636: "$0123456789{}", 0.656: "K", 0.684: "AV", 0.685: "XZ",
    0.686: "B", 0.695: "R", 0.698: "C", 0.732: "U", 0.748: "N", 0.752: "H", 0.77: "D", 0.775: "G", 0.78: "&",
    0.787: "OQ", 0.818: "w", 0.838: "#+<=>^~≥≤", 0.863: "M", 0.95: "%", 0.974: "m", 0.989: "W", 1.0: "@…",
}  # fmt: skip
ADVANCE = {letter: advance for advance, letters in ADVANCES.items() for letter in letters}
SIZE = 12.0
ASCENT, DESCENT = 0.76, 0.24  # of letters without accents
SQUARE = 48
NEAR = 0.5  # pixels that are not seen
CLEAR = 3.0  # pixels that stay clear of a line above and below text: a thick one takes half of them


class Rectangle(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    owner: str

    def overlaps(self, other: Rectangle) -> bool:
        return (
            self.left < other.right - NEAR
            and other.left < self.right - NEAR
            and self.top < other.bottom - NEAR
            and other.top < self.bottom - NEAR
        )

    def grown(self, by: float) -> Rectangle:
        return Rectangle(self.left, self.top - by, self.right, self.bottom + by, self.owner)

    def contains(self, x: float, y: float) -> bool:
        return self.left + NEAR < x < self.right - NEAR and self.top + NEAR < y < self.bottom - NEAR

    def holds(self, other: Rectangle) -> bool:
        return (
            self.left - NEAR <= other.left
            and other.right <= self.right + NEAR
            and self.top - NEAR <= other.top
            and other.bottom <= self.bottom + NEAR
        )


class Line(NamedTuple):
    owner: str
    source: str
    target: str
    points: list[tuple[float, float]]

    @classmethod
    def of(cls, owner: str, path: str) -> Line:
        return cls(owner, "", "", walked(path))


class Drawing(NamedTuple):
    """What an SVG shows: all by the titles of its marks."""

    whole: Rectangle
    boxes: list[Rectangle]
    frames: list[Rectangle]
    texts: list[Rectangle]
    lines: list[Line]


def read(text: str) -> Drawing:
    """The marks of a picture as it was written."""
    root = ElementTree.fromstring(text)
    whole = Rectangle(0, 0, float(root.attrib["width"]), float(root.attrib["height"]), "the whole")
    drawing = Drawing(whole, [], [], [], [])
    for group in root.iter(f"{SVG}g"):
        kinds = group.attrib["class"].split()
        title = group.findtext(f"{SVG}title") or ""
        for rect in group.findall(f"{SVG}rect"):
            x, y = float(rect.attrib["x"]), float(rect.attrib["y"])
            box = Rectangle(x, y, x + float(rect.attrib["width"]), y + float(rect.attrib["height"]), title)
            (drawing.frames if "frame" in kinds else drawing.boxes).append(box)
        drawing.texts.extend(_text(label, title) for label in group.findall(f"{SVG}text"))
        if "edge" in kinds:
            path = group.find(f"{SVG}path")
            ends = re.match(r"edge .*, from (.*?) to (.*?)(, leading back)?([:;] .*)?$", title, re.DOTALL)
            assert path is not None
            assert ends is not None, title
            drawing.lines.append(Line(title, ends[1], ends[2], walked(path.attrib["d"])))
    return drawing


def _text(label: ElementTree.Element, owner: str) -> Rectangle:
    wide = SIZE * sum(ADVANCE[letter] for letter in label.text or "")
    x, y = float(label.attrib["x"]), float(label.attrib["y"])
    left = x if label.attrib.get("class") == "title" else x - wide / 2
    return Rectangle(left, y - ASCENT * SIZE, left + wide, y + DESCENT * SIZE, owner)


def walked(path: str) -> list[tuple[float, float]]:
    """Points on a path, close to each other."""
    points: list[tuple[float, float]] = []
    for letter, words in re.findall(r"([MLC])([^MLC]*)", path):
        numbers = [float(word) for word in words.replace(",", " ").split()]
        if letter == "M":
            points.append((numbers[0], numbers[1]))
            continue
        x, y = points[-1]
        if letter == "L":
            steps = max(1, int((abs(numbers[0] - x) + abs(numbers[1] - y)) / 4))
            points += [
                (x + (numbers[0] - x) * step / steps, y + (numbers[1] - y) * step / steps)
                for step in range(1, steps + 1)
            ]
            continue
        x1, y1, x2, y2, x3, y3 = numbers
        steps = max(4, int((abs(x3 - x) + abs(y3 - y)) / 4))
        for step in range(1, steps + 1):
            t = step / steps
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            points.append((a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3))
    return points


def faults(text: str) -> list[str]:
    """All that is wrong with a picture, a line each; empty for one that is right."""
    drawing = read(text)
    return [*_overlaps(drawing), *_covered(drawing), *_on_each_other(drawing), *_outside(drawing)]


def _squares(box: Rectangle) -> Iterator[tuple[int, int]]:
    for across in range(int(box.left // SQUARE), int(box.right // SQUARE) + 1):
        for down in range(int(box.top // SQUARE), int(box.bottom // SQUARE) + 1):
            yield across, down


def _overlaps(drawing: Drawing) -> Iterator[str]:
    """Boxes and texts that overlap; text that stands out of its own box."""
    grid: dict[tuple[int, int], list[tuple[str, Rectangle]]] = {}
    own = {box.owner: box for box in drawing.boxes}
    told = set()
    for kind, rectangles in (("box", drawing.boxes), ("text", drawing.texts)):
        for rectangle in rectangles:
            if kind == "text" and rectangle.owner in own and not own[rectangle.owner].holds(rectangle):
                yield f"text stands out of the box of {rectangle.owner}"
            for square in _squares(rectangle):
                for other_kind, other in grid.get(square, ()):
                    inside = other_kind == "box" and kind == "text" and other.owner == rectangle.owner
                    pair = (kind, rectangle, other_kind, other)
                    if not inside and rectangle.overlaps(other) and pair not in told:
                        told.add(pair)
                        yield f"{kind} of {rectangle.owner} overlaps {other_kind} of {other.owner}"
                grid.setdefault(square, []).append((kind, rectangle))


def _covered(drawing: Drawing) -> Iterator[str]:
    """Lines through boxes or text; lines that do not end at their boxes; lines that cross a frame in which neither end
    or both ends are.
    """
    grid: dict[tuple[int, int], list[Rectangle]] = {}
    for rectangle in (*drawing.boxes, *(text.grown(CLEAR) for text in drawing.texts)):
        for square in _squares(rectangle):
            grid.setdefault(square, []).append(rectangle)
    named: dict[str, list[Rectangle]] = {}
    for box in (*drawing.boxes, *(frame for frame in drawing.frames if _is_part(frame))):
        named.setdefault(_name(box), []).append(box)
    for line in drawing.lines:
        found = {
            rectangle.owner
            for x, y in line.points
            for rectangle in grid.get((int(x // SQUARE), int(y // SQUARE)), ())
            if rectangle.contains(x, y)
        }
        yield from (f"{line.owner} runs through {owner}" for owner in sorted(found))
        ends: list[Rectangle] = []
        for name, (x, y), side in ((line.source, line.points[0], "right"), (line.target, line.points[-1], "left")):
            boxes = named.get(name, ())
            met = [box for box in boxes if abs(getattr(box, side) - x) < NEAR and box.top < y < box.bottom]
            if name in named and not met:
                yield f"{line.owner} does not end at {name}"
            ends.append(met[0] if met else Rectangle(x, y, x, y, "outside"))
        for frame in drawing.frames:
            inside = [frame.contains(x, y) for x, y in line.points]
            within = [_stands_in(end, frame) for end in ends]
            changes = sum(one != other for one, other in pairwise(inside))
            if changes != (within[0] != within[1]):
                yield f"{line.owner} crosses {frame.owner} {changes} times"


def _name(box: Rectangle) -> str:
    """The name of a box in its title: `node x; ...`, `12 nodes, x: ...`, `part x; ...`."""
    found = re.match(r"(?:node|part|[0-9]+ nodes,) (.*?)(?:[:;] .*)?$", box.owner, re.DOTALL)
    assert found is not None, box.owner
    return found[1]


def _is_part(frame: Rectangle) -> bool:
    return frame.owner.startswith("part ")


def _stands_in(end: Rectangle, frame: Rectangle) -> bool:
    """Whether an end of a line is in a frame; what comes from the outside comes into a loop, and begins in a part."""
    if end.owner == "outside":
        return _is_part(frame) and frame.contains(end.left, end.top)
    return end is not frame and frame.holds(end)


def _on_each_other(drawing: Drawing) -> Iterator[str]:
    """Lines that share a stretch: two of them look like one."""
    level: dict[tuple[bool, float], list[tuple[float, float, str]]] = {}
    for line in drawing.lines:
        for (x, y), (u, v) in pairwise(line.points):
            if y == v and abs(x - u) > 0.2:
                level.setdefault((True, y), []).append((min(x, u), max(x, u), line.owner))
            elif x == u and abs(y - v) > 0.2:
                level.setdefault((False, x), []).append((min(y, v), max(y, v), line.owner))
    for pieces in level.values():
        pieces.sort()
        end, owner = float("-inf"), ""
        for start, stop, name in pieces:
            if start < end - NEAR and name != owner:
                yield f"{name} lies on {owner}"
            if stop > end:
                end, owner = stop, name


def _outside(drawing: Drawing) -> Iterator[str]:
    for rectangle in (*drawing.boxes, *drawing.frames, *drawing.texts):
        if not drawing.whole.holds(rectangle):
            yield f"{rectangle.owner} stands outside of the picture"
    for line in drawing.lines:
        if not all(drawing.whole.contains(x, y) for x, y in line.points):
            yield f"{line.owner} runs outside of the picture"


def crossings(text: str) -> int:
    """How often lines cross: pairs of short pieces whose ends lie on both sides of each other."""
    return crossings_of(read(text).lines)


def crossings_of(lines: list[Line]) -> int:
    """The same for lines that were read elsewhere."""
    grid: dict[tuple[int, int], list[tuple[int, tuple[float, float], tuple[float, float]]]] = {}
    met: set[tuple[int, int, int, int]] = set()
    for number, line in enumerate(lines):
        for one, other in pairwise(line.points):
            box = Rectangle(
                min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]), ""
            )
            for square in _squares(box):
                for third, start, end in grid.get(square, ()):
                    if third != number and _cross(one, other, start, end):
                        middle = (int((one[0] + start[0]) / 10), int((one[1] + start[1]) / 10))
                        met.add((third, number, *middle))
            for square in _squares(box):
                grid.setdefault(square, []).append((number, one, other))
    return len(met)


def _cross(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]) -> bool:
    def side(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
