"""Where everything stands in the picture of a graph. This is the layout for every picture that there is.

    found = layout(graph)                    # a Graph, or anything with `network()`
    found = layout(graph, texts={"b": ["<= 3"]}, room=12)
    found.width, found.height                # pixels
    found.nodes[0].x, .y, .width, .height    # a box, in the order of the graph's nodes; its `lines` of text
    found.edges[0].path                      # the `d` of an SVG path, in the order of the graph's edges
    found.to_json()                          # the same as plain data

It is layered, from the left to the right: `Edge.feedback` says which edges lead back, and those run below or above.
What nothing covers anything rests on is in `graphs.drawing.places`; frames are drawn around loops and calls
(`graphs.drawing.frames`), each a picture of its own in a box. The same graph is drawn alike by every Python with every
hash seed. Names come capped and safe to show; whoever writes them into a page still has to escape them.

`texts` has, for a location, lines that are written under its name, as its summary and its frontier. `room` keeps a line
of so many letters free under every name, for what changes while the picture is shown: in a node's box at
`Node.room` = [x, y], the middle of the line and its base; for an edge at `Edge.room`, under its line. Each base is one
of text of `graphs.drawing.text.SIZE` pixels; `Node.lines` and `Edge.lines` are [text, x, y], anchored in the middle.
What is longer than the room has to be capped (`graphs.drawing.text.shown`).

Cost: about a millisecond for each node, far less for small graphs; `make bench` measures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from graphs.drawing.arrange import ABOVE, HEAD, Arranged, arrange, heading
from graphs.drawing.plan import EdgePlan, NodePlan, Plan
from graphs.drawing.planning import plan_of
from graphs.drawing.routes import decimal, moved, written
from graphs.drawing.text import LINE, SIZE
from progress.topology import Topology

Line = tuple[str, float, float]  # text, the middle of its line, its base


class Node(NamedTuple):
    """A box; `x` and `y` are its corner at the top left. `key`: which part it is, where it stands for several nodes."""

    name: str
    x: float
    y: float
    width: float
    height: float
    lines: tuple[Line, ...]
    room: tuple[float, float] | None
    stands_for: tuple[str, ...]
    key: str


class Edge(NamedTuple):
    """A line from `source` to `target`: nodes by number, -1 for the outside, -2 for the first of the frames, and so on.

    `arrow`: the tip of its head, rightwards.

    The label stands around (`x`, `y`), a point of the line, and is `width` wide.
    """

    name: str
    source: int
    target: int
    feedback: bool
    path: str
    arrow: tuple[float, float]
    x: float
    y: float
    width: float
    lines: tuple[Line, ...]
    room: tuple[float, float] | None
    stands_for: tuple[str, ...]


class Frame(NamedTuple):
    """A box around a loop, the body of a call, or what a part that is opened has in it; outer ones come first.

    `title` is [text, x, y], from the left; `key`: of a part that is opened, which one.
    """

    name: str
    kind: str
    x: float
    y: float
    width: float
    height: float
    title: Line
    key: str = ""


class Layout(NamedTuple):
    """A picture of `width` by `height` pixels; nothing reaches outside of it."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    frames: tuple[Frame, ...]

    def ends(self, edge: Edge) -> str:
        """From where to where an edge leads, in words."""
        back = ", leading back" * edge.feedback
        return f"from {self._end(edge.source)} to {self._end(edge.target)}{back}"

    def _end(self, number: int) -> str:
        if number == -1:
            return "outside"
        return self.nodes[number].name if number >= 0 else self.frames[-2 - number].name

    def to_json(self) -> dict[str, Any]:
        """The same as plain data: each node, edge and frame a mapping."""
        return {
            "width": self.width,
            "height": self.height,
            "nodes": [node._asdict() for node in self.nodes],
            "edges": [edge._asdict() for edge in self.edges],
            "frames": [frame._asdict() for frame in self.frames],
        }


def layout(graph: Topology, texts: Mapping[str, Sequence[str]] | None = None, room: int = 0) -> Layout:
    """Where everything of a graph stands. Cost: see above."""
    return laid_out(plan_of(graph.network(), texts or {}, room))


def laid_out(plan: Plan) -> Layout:
    """Where everything that is planned stands."""
    found = arrange(plan)
    gathering = _Gathering()
    gathering.add(plan, found, 0.0, 0.0)
    return Layout(
        _rounded(found.width),
        _rounded(found.height),
        tuple(gathering.nodes),
        tuple(gathering.edges),
        tuple(gathering.frames),
    )


class _Gathering:
    """Pictures in the boxes of pictures, as one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.frames: list[Frame] = []

    def add(self, plan: Plan, found: Arranged, x: float, y: float) -> None:
        """All of a picture, from its corner."""
        self.frames += [
            _frame(name, kind, title, left + x, top + y, width, height)
            for name, kind, title, left, top, width, height in found.frames
        ]
        numbers = {-1: -1}
        for number, given in enumerate(plan.nodes):
            left, top, width, height = found.boxes[number]
            left, top = left + x, top + y
            if given.inside is None:
                numbers[number] = len(self.nodes)
                self.nodes.append(_node(given, plan.room, left, top, width, height))
                continue
            numbers[number] = -2 - len(self.frames)
            self.frames.append(_frame(given.name, "part", heading(given), left, top, width, height, given.key))
            inside = found.inside[number]
            self.add(given.inside, inside, left + (width - inside.width) / 2, top + HEAD)
        for number, entry in enumerate(plan.edges):
            ends = entry._replace(source=numbers[entry.source], target=numbers[entry.target])
            self.edges.append(_edge(ends, plan.room, found, number, x, y))


def _frame(name: str, kind: str, title: str, x: float, y: float, width: float, height: float, key: str = "") -> Frame:
    line = (title, _rounded(x + SIZE / 2), _rounded(y + SIZE + 2))
    return Frame(name, kind, _rounded(x), _rounded(y), _rounded(width), _rounded(height), line, key)


def _node(given: NodePlan, letters: int, x: float, y: float, width: float, height: float) -> Node:
    count = len(given.lines) + (letters > 0)
    base = y + height / 2 - count * LINE / 2 + SIZE
    middle = _rounded(x + width / 2)
    lines = tuple((text, middle, _rounded(base + place * LINE)) for place, text in enumerate(given.lines))
    room = (middle, _rounded(base + len(given.lines) * LINE)) if letters else None
    corner = (_rounded(x), _rounded(y), _rounded(width), _rounded(height))
    return Node(given.name, *corner, lines, room, given.stands_for, given.key)


def _edge(given: EdgePlan, letters: int, found: Arranged, number: int, across: float, down: float) -> Edge:
    steps = moved(found.routes[number], across, down)
    x, y = found.labels[number]
    x, y = x + across, y + down
    middle = _rounded(x)
    lines = [(given.above, middle, _rounded(y - ABOVE))] if given.above else []
    below = y + SIZE + 2
    lines += [(text, middle, _rounded(below + place * LINE)) for place, text in enumerate(given.below)]
    room = (middle, _rounded(below + len(given.below) * LINE)) if letters else None
    return Edge(
        given.name,
        given.source,
        given.target,
        found.back[number],
        written(steps),
        (_rounded(steps[-1][-2]), _rounded(steps[-1][-1])),
        middle,
        _rounded(y),
        _rounded(found.widths[number]),
        tuple(lines),
        room,
        given.stands_for,
    )


def _rounded(value: float) -> float:
    return float(decimal(value))
