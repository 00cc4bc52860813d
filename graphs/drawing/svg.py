"""A picture as SVG: text stays text, every mark has a title, and it reads in print, in the dark and without colours.

There are no ids, no scripts and no references in it, so that pictures can share a page. Colours are literal, once for
light and once for dark surroundings; what leads back is dashed as well as coloured, what is marked is thicker as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

from graphs.drawing.layout import Edge, Frame, Layout, Line, Node
from graphs.drawing.routes import decimal
from graphs.drawing.text import SIZE
from graphs.wording import printable

ARROW = (7.0, 3.4)  # pixels: its length, half of its height
FONT = "DejaVu Sans,Verdana,sans-serif"
LIGHT = {
    "page": "#ffffff",
    "text": "#1b2230",
    "box": "#f3f5f9",
    "line": "#5d6878",
    "note": "#1f5aa8",
    "back": "#8a4b00",
    "mark": "#a3005c",
    "frame": "#5d6878",
}
DARK = {
    "page": "#12161c",
    "text": "#e6eaf0",
    "box": "#1e2530",
    "line": "#98a4b5",
    "note": "#86b7ff",
    "back": "#ffb454",
    "mark": "#ff8fcb",
    "frame": "#98a4b5",
}


class Marks(NamedTuple):
    """What a picture says besides: notes are titles for a location, `way` the locations that are thick."""

    titles: Mapping[str, str] = {}
    way: Iterable[str] = ()


def svg(layout: Layout, title: str = "A dataflow graph", description: str = "", marks: Marks | None = None) -> str:
    """The picture as one SVG document. Cost: O(what is in it)."""
    marks = marks or Marks()
    way = set(marks.way)
    width, height = decimal(layout.width), decimal(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pointstamp" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>{safe(title)}</title>",
        f"<desc>{safe(description or described(layout))}</desc>",
        f"<style>{style()}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
    ]
    parts += map(_frame, layout.frames)
    parts += [_edge(edge, layout, marks.titles.get(edge.name), edge.name in way) for edge in layout.edges]
    parts += [_node(node, marks.titles.get(node.name), node.name in way) for node in layout.nodes]
    parts.append("</svg>\n")
    return "\n".join(parts)


def safe(text: str) -> str:
    """A text of strangers as content of XML: what does not print is escaped, as is what XML reads as its own."""
    return escape(printable(text), quote=True)


def described(layout: Layout) -> str:
    back = sum(edge.feedback for edge in layout.edges)
    return f"{len(layout.nodes)} nodes, {len(layout.edges)} edges, {back} of them leading back"


def style() -> str:
    """The style sheet: a rule for every class of marks, then the colours of dark surroundings."""
    return (
        f".pointstamp text{{font:{SIZE:g}px {FONT};text-anchor:middle}}.pointstamp .title{{text-anchor:start}}"
        ".pointstamp path{fill:none}.pointstamp .back path{stroke-dasharray:6 3}"
        ".pointstamp .back .head,.pointstamp .head{stroke:none}.pointstamp .way path{stroke-width:3}"
        ".pointstamp .way rect{stroke-width:3}.pointstamp .frame rect{fill:none;stroke-dasharray:2 3}"
        f"{_colours(LIGHT)}@media (prefers-color-scheme:dark){{{_colours(DARK)}}}"
    )


def _colours(colours: Mapping[str, str]) -> str:
    rules = (
        (".page", "fill:{page}"),
        ("text", "fill:{text}"),
        (".note", "fill:{note}"),
        (".frame text", "fill:{line}"),
        ("rect", "stroke:{line}"),
        (".node rect", "fill:{box}"),
        ("path", "stroke:{line}"),
        (".head", "fill:{line}"),
        (".back path", "stroke:{back}"),
        (".back .head", "fill:{back}"),
        (".way path,.pointstamp .way rect", "stroke:{mark}"),
        (".way .head", "fill:{mark}"),
        ("rect.page", "stroke:none"),
    )
    return "".join(f".pointstamp {where}{{{what.format(**colours)}}}" for where, what in rules)


def _frame(frame: Frame) -> str:
    return (
        f'<g class="frame"><title>{safe(f"{frame.kind} {frame.name}")}</title>'
        f'<rect x="{decimal(frame.x)}" y="{decimal(frame.y)}" width="{decimal(frame.width)}" '
        f'height="{decimal(frame.height)}" rx="8"/>{_line(frame.title, "title")}</g>'
    )


def _node(node: Node, note: str | None, marked: bool) -> str:
    says = f"node {node.name}" if not node.stands_for else f"{len(node.stands_for)} nodes, {node.name}"
    says += f": {note}" if note else "".join(f"; {text}" for text, _, _ in node.lines[1:])
    lines = "".join(_line(line, "note" if number else "") for number, line in enumerate(node.lines))
    return (
        f'<g class="node{" way" * marked}"><title>{safe(says)}</title>'
        f'<rect x="{decimal(node.x)}" y="{decimal(node.y)}" width="{decimal(node.width)}" '
        f'height="{decimal(node.height)}" rx="5"/>{lines}</g>'
    )


def _edge(edge: Edge, layout: Layout, note: str | None, marked: bool) -> str:
    ends = [layout.nodes[end].name if end >= 0 else "outside" for end in (edge.source, edge.target)]
    says = f"edge {edge.name}, from {ends[0]} to {ends[1]}{', leading back' * edge.feedback}"
    says += f": {note}" if note else "".join(f"; {text}" for text, _, _ in edge.lines[1:])
    lines = "".join(_line(line, "note" if line[2] > edge.y else "") for line in edge.lines)
    return (
        f'<g class="edge{" back" * edge.feedback}{" way" * marked}"><title>{safe(says)}</title>'
        f'<path d="{edge.path}"/>{_head(*edge.arrow)}{lines}</g>'
    )


def _head(x: float, y: float) -> str:
    length, half = ARROW
    back = decimal(x - length)
    return f'<path class="head" d="M{back} {decimal(y - half)}L{decimal(x)} {decimal(y)}L{back} {decimal(y + half)}Z"/>'


def _line(line: Line, kind: str) -> str:
    text, x, y = line
    if not text:
        return ""
    word = f' class="{kind}"' if kind else ""
    return f'<text{word} x="{decimal(x)}" y="{decimal(y)}">{safe(text)}</text>'
