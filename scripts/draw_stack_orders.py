"""Draw docs/pictures/stack-orders.svg from the orders themselves: the stacks of the two-call graph at each location.

.venv/bin/python scripts/draw_stack_orders.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recursion.order import StackOrder
    from recursion.stack import Stack

ROOT = Path(__file__).resolve().parent.parent
GRAPH = ROOT / "examples" / "recursion" / "two_calls.yaml"
PICTURE = ROOT / "docs" / "pictures" / "stack-orders.svg"
DEPTH = 2
COLUMN, ROW, TOP, LEFT, PANEL = 118, 34, 56, 24, 400
STYLE = (
    "text{font:13px sans-serif;fill:#1a1a1a}.title{font-weight:600;font-size:14px}.stack{text-anchor:middle}"
    "rect{fill:#eef3fb;stroke:#6b8fc9;rx:9}line{stroke:#555;stroke-width:1.2;marker-end:url(#after)}"
)


def picture() -> str:
    """The picture as SVG: a panel for each order that some location has, earlier stacks on the left."""
    from graphs import load
    from recursion.network import CallRelation
    from recursion.order import shortest_stacks

    network = load(GRAPH).network()
    assert isinstance(network.relation, CallRelation)
    relation = network.relation.relation
    stacks = list(shortest_stacks(relation.graph, DEPTH))
    panels: dict[tuple[tuple[Stack, Stack], ...], list[str]] = {}
    for number, name in enumerate(network.nodes):
        panels.setdefault(steps(relation.order(number), stacks), []).append(name)
    rows = (len(panels) + 1) // 2
    height = TOP + len(stacks) * ROW // 2 + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * PANEL + LEFT} {rows * height}" '
        f'width="{2 * PANEL + LEFT}" height="{rows * height}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="after" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        '<rect x="0" y="0" width="100%" height="100%" style="fill:#fff;stroke:none;rx:0"/>',
    ]
    for position, (covers, names) in enumerate(panels.items()):
        left, top = LEFT + position % 2 * PANEL, position // 2 * height
        parts.append(f'<text class="title" x="{left}" y="{top + 28}">at {" and at ".join(names)}</text>')
        parts += panel(stacks, covers, left, top + TOP)
    return "\n".join([*parts, "</svg>", ""])


def steps(order: StackOrder, stacks: list[Stack]) -> tuple[tuple[Stack, Stack], ...]:
    """The pairs of an earlier stack and a later one with none of the others between them."""
    before = {(one, two) for one in stacks for two in stacks if one is not two and order.less_equal(one, two)}
    return tuple(
        (one, two)
        for one in stacks
        for two in stacks
        if (one, two) in before and not any((one, mid) in before and (mid, two) in before for mid in stacks)
    )


def panel(stacks: list[Stack], covers: tuple[tuple[Stack, Stack], ...], left: int, top: int) -> list[str]:
    """One order: a stack stands right of all that come before it."""
    column = dict.fromkeys(stacks, 0)
    for _ in stacks:
        for one, two in covers:
            column[two] = max(column[two], column[one] + 1)
    place: dict[Stack, tuple[int, int]] = {}
    for number in range(max(column.values()) + 1):
        members = [stack for stack in stacks if column[stack] == number]
        for position, stack in enumerate(members):
            space = len(stacks) * ROW // 2 / len(members)
            place[stack] = left + 48 + number * COLUMN, round(top + space * (position + 0.5))
    lines = [
        f'<line x1="{place[one][0] + 47}" y1="{place[one][1]}" x2="{place[two][0] - 48}" y2="{place[two][1]}"/>'
        for one, two in covers
    ]
    boxes = [
        f'<rect x="{x - 46}" y="{y - 12}" width="92" height="24"/>'
        f'<text class="stack" x="{x}" y="{y + 4}">[{", ".join(stack)}]</text>'
        for stack, (x, y) in place.items()
    ]
    return [*lines, *boxes]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
