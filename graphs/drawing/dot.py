"""A picture as text for Graphviz: its nodes, edges and frames, which Graphviz places by itself."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.drawing.plan import Group, Plan, all_of
from graphs.wording import printable


def dot(plan: Plan, title: str, way: Iterable[str] = ()) -> str:
    """A digraph in the language of Graphviz. Cost: O(what is in it)."""
    marked = set(way)
    lines = [
        f"digraph {_quoted(title)} {{",
        "  rankdir=LR",
        "  node [shape=box, style=rounded]",
    ]
    framed = {node for group in plan.groups for node in all_of(group)}
    lines += [_node(plan, node, marked, "  ") for node in range(len(plan.nodes)) if node not in framed]
    counter = [0]
    for group in plan.groups:
        lines += _group(plan, group, marked, "  ", counter)
    for number, edge in enumerate(plan.edges):
        ends = []
        for end, side in ((edge.source, "from"), (edge.target, "to")):
            if end < 0:
                lines.append(f"  {side}{number} [shape=point, style=invis]")
            ends.append(f"n{end}" if end >= 0 else f"{side}{number}")
        label = [edge.above, *edge.below] if edge.above else [*edge.below]
        words = [f"label={_quoted(*label)}"] if label else []
        words += ["constraint=false", "style=dashed"] if number in plan.advancing else []
        words += ["penwidth=3"] if edge.name in marked else []
        said = f" [{', '.join(words)}]" if words else ""
        lines.append(f"  {ends[0]} -> {ends[1]}{said}")
    return "\n".join([*lines, "}", ""])


def _node(plan: Plan, node: int, marked: set[str], indent: str) -> str:
    given = plan.nodes[node]
    words = f"label={_quoted(*given.lines)}" + (", penwidth=3" if given.name in marked else "")
    return f"{indent}n{node} [{words}]"


def _group(plan: Plan, group: Group, marked: set[str], indent: str, counter: list[int]) -> list[str]:
    counter[0] += 1
    lines = [f"{indent}subgraph cluster{counter[0]} {{", f"{indent}  label={_quoted(group.name)}"]
    lines += [_node(plan, node, marked, indent + "  ") for node in group.nodes]
    for inner in group.groups:
        lines += _group(plan, inner, marked, indent + "  ", counter)
    return [*lines, f"{indent}}}"]


def _quoted(*lines: str) -> str:
    """Text in quotes: a backslash and a quote are escaped, and lines are those of Graphviz."""
    words = (printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(words) + '"'
