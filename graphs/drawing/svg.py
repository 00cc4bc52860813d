"""A picture as SVG: text stays text, every mark has a title, and it reads in print, in the dark and without colours.

There are no ids, no scripts and no references in it, so that pictures can share a page. Colours are literal, once for
light and once for dark surroundings; what leads back is dashed as well as coloured, what is marked is thicker as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from graphs.drawing.layout import Edge, Frame, Layout, Line, Node
from graphs.drawing.routes import decimal
from graphs.drawing.text import SIZE, known, width
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
}
DARK = {
    "page": "#12161c",
    "text": "#e6eaf0",
    "box": "#1e2530",
    "line": "#98a4b5",
    "note": "#86b7ff",
    "back": "#ffb454",
    "mark": "#ff8fcb",
}
COLOURED = ("page", "text", "box", "line", "note", "back", "mark")


class Marks(NamedTuple):
    """What a picture says besides.

    `titles` of locations; `way`: the locations that are drawn thick; `passed`: those that are dotted, being complete.
    """

    titles: Mapping[str, str] = MappingProxyType({})
    way: Collection[str] = ()
    passed: Collection[str] = ()


def svg(
    layout: Layout,
    title: str = "A dataflow graph",
    description: str = "",
    marks: Marks | None = None,
    styled: bool = True,
) -> str:
    """The picture as one SVG document. Cost: O(what is in it).

    `styled`: with the style sheet in it; without, the page that it stands on has `style()` in its own.
    """
    marks = marks or Marks()
    way, passed = set(marks.way), set(marks.passed)
    body = [*map(_frame, layout.frames)]
    body += [_edge(edge, layout, marks.titles.get(edge.name), _is_in(way, edge)) for edge in layout.edges]
    for node in layout.nodes:
        kinds = "node" + " way" * _is_in(way, node) + " passed" * (node.name in passed)
        body.append(_node(node, marks.titles.get(node.name), kinds))
    return document(layout.width, layout.height, title, description or described(layout), body, styled)


def _is_in(names: set[str], placed: Node | Edge) -> bool:
    return not names.isdisjoint((placed.name, *placed.stands_for))


def document(wide: float, high: float, title: str, description: str, body: Iterable[str], styled: bool = True) -> str:
    """An SVG document with a title and a description for those who do not see it."""
    across, down = decimal(wide), decimal(high)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pointstamp" width="{across}" height="{down}" '
        f'viewBox="0 0 {across} {down}" role="img">',
        f"<title>{safe(title)}</title>",
        f"<desc>{safe(description)}</desc>",
    ]
    parts += [f"<style>{style()}</style>"] if styled else []
    return "\n".join([*parts, f'<rect class="page" width="{across}" height="{down}"/>', *body, "</svg>\n"])


def safe(text: str) -> str:
    """A text of strangers as content of XML: what does not print is escaped, as is what XML reads as its own."""
    return escape(printable(text), quote=True)


def described(layout: Layout) -> str:
    """A picture in one line."""
    back = sum(edge.feedback for edge in layout.edges)
    all_of = sum(len(node.stands_for) or 1 for node in layout.nodes)
    nodes = f"{all_of} nodes" + f" in {len(layout.nodes)} boxes" * (all_of > len(layout.nodes))
    return f"{nodes}, {len(layout.edges)} edges, {back} of them leading back"


def style() -> str:
    """The style sheet: a rule for every class of marks, then the colours of dark surroundings."""
    forms = (
        ("text", f"font:{SIZE:g}px {FONT};text-anchor:middle"),
        ("text.title", "text-anchor:start"),
        ("text.end", "text-anchor:end"),
        ("path", "fill:none"),
        (".back path", "stroke-dasharray:6 3"),
        (".way path", "stroke-width:3"),
        (".way rect", "stroke-width:3"),
        (".way path.head", "stroke-width:2;stroke-dasharray:none"),
        (".frame rect", "fill:none;stroke-dasharray:2 3"),
        (".passed rect", "stroke-dasharray:2 3"),
        (".stairs", "stroke-width:3"),
        (".region path", "fill-opacity:.15"),
    )
    return f"{_rules(forms)}{_rules(_colours(LIGHT))}@media (prefers-color-scheme:dark){{{_rules(_colours(DARK))}}}"


def _rules(rules: Iterable[tuple[str, str]]) -> str:
    return "".join(f".pointstamp {where}{{{what}}}" for where, what in rules)


def _colours(colours: Mapping[str, str]) -> list[tuple[str, str]]:
    page, text, box, line, note, back, mark = map(colours.__getitem__, COLOURED)
    return [
        ("text", f"fill:{text}"),
        (".note", f"fill:{note}"),
        (".frame text", f"fill:{line}"),
        ("rect", f"stroke:{line};fill:{box}"),
        (".frame rect", "fill:none"),
        ("rect.page", f"stroke:none;fill:{page}"),
        ("path", f"stroke:{line}"),
        ("path.head", f"stroke:none;fill:{line}"),
        (".back path", f"stroke:{back}"),
        (".back path.head", f"stroke:none;fill:{back}"),
        (".way path", f"stroke:{mark}"),
        (".way rect", f"stroke:{mark}"),
        (".way path.head", f"stroke:{mark};fill:{mark}"),
        (".passed rect", f"fill:{page}"),
        ("circle", f"stroke:{note};fill:{note}"),
        (".passed circle", f"stroke:{line};fill:{page}"),
        (".region path", f"stroke:none;fill:{note}"),
        (".region path.stairs", f"stroke:{note};fill:none"),
    ]


def _frame(frame: Frame) -> str:
    says = f"{frame.kind} {frame.name}" + f"; {frame.title[0]}" * (frame.kind == "part")
    return (
        f'<g class="frame"><title>{safe(says)}</title>'
        f'<rect x="{decimal(frame.x)}" y="{decimal(frame.y)}" width="{decimal(frame.width)}" '
        f'height="{decimal(frame.height)}" rx="8"/>{_line(frame.title, "title")}</g>'
    )


def _node(node: Node, note: str | None, kinds: str) -> str:
    says = f"node {node.name}" if not node.stands_for else f"{len(node.stands_for)} nodes, {node.name}"
    says += f": {note}" if note and not node.stands_for else "".join(f"; {text}" for text, _, _ in node.lines[1:])
    lines = "".join(_line(line, "note" if number else "") for number, line in enumerate(node.lines))
    return (
        f'<g class="{kinds}"><title>{safe(says)}</title>'
        f'<rect x="{decimal(node.x)}" y="{decimal(node.y)}" width="{decimal(node.width)}" '
        f'height="{decimal(node.height)}" rx="5"/>{lines}</g>'
    )


def _edge(edge: Edge, layout: Layout, note: str | None, marked: bool) -> str:
    says = f"edge {edge.name}, {layout.ends(edge)}"
    says += f": {note}" if note and not edge.stands_for else "".join(f"; {text}" for text, _, _ in edge.lines[1:])
    kinds = "edge" + " back" * edge.feedback + " way" * marked
    lines = "".join(_line(line, "note" if line[2] > edge.y else "") for line in edge.lines)
    return f'<g class="{kinds}"><title>{safe(says)}</title><path d="{edge.path}"/>{_head(*edge.arrow)}{lines}</g>'


def _head(x: float, y: float) -> str:
    length, half = ARROW
    back = decimal(x - length)
    return f'<path class="head" d="M{back} {decimal(y - half)}L{decimal(x)} {decimal(y)}L{back} {decimal(y + half)}Z"/>'


def _line(line: Line, kind: str) -> str:
    text, x, y = line
    if not text:
        return ""
    word = f' class="{kind}"' if kind else ""
    # letters that no one knows the width of are made to fit
    fit = "" if known(text) else f' textLength="{decimal(width(text))}" lengthAdjust="spacingAndGlyphs"'
    return f'<text{word} x="{decimal(x)}" y="{decimal(y)}"{fit}>{safe(text)}</text>'
