"""A picture as text for Mermaid, which pages of code repositories draw by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.drawing.plan import Group, Plan, all_of
from graphs.wording import printable


def mermaid(plan: Plan, way: Iterable[str] = ()) -> str:
    """A flowchart in the language of Mermaid. Cost: O(what is in it)."""
    marked = set(way)
    lines = ["flowchart LR"]
    framed = {node for group in plan.groups for node in all_of(group)}
    lines += [_node(plan, node, "  ") for node in range(len(plan.nodes)) if node not in framed]
    counter = [0]
    for group in plan.groups:
        lines += _group(plan, group, "  ", counter)
    for number, edge in enumerate(plan.edges):
        ends = []
        for end, side in ((edge.source, "from"), (edge.target, "to")):
            ends.append(f"n{end}" if end >= 0 else f'{side}{number}((" "))')
        label = [edge.above, *edge.below] if edge.above else [*edge.below]
        arrow = "-.->" if number in plan.advancing else "==>" if edge.name in marked else "-->"
        said = f"|{_quoted(*label)}|" if label else ""
        lines.append(f"  {ends[0]} {arrow}{said} {ends[1]}")
    numbers = [f"n{node}" for node, given in enumerate(plan.nodes) if given.name in marked]
    lines += [f"  style {name} stroke-width:4px" for name in numbers]
    return "\n".join([*lines, ""])


def _node(plan: Plan, node: int, indent: str) -> str:
    return f"{indent}n{node}[{_quoted(*plan.nodes[node].lines)}]"


def _group(plan: Plan, group: Group, indent: str, counter: list[int]) -> list[str]:
    counter[0] += 1
    lines = [f"{indent}subgraph g{counter[0]} [{_quoted(group.name)}]"]
    lines += [_node(plan, node, indent + "  ") for node in group.nodes]
    for inner in group.groups:
        lines += _group(plan, inner, indent + "  ", counter)
    return [*lines, f"{indent}end"]


def _quoted(*lines: str) -> str:
    """Text in quotes: all but letters, digits and spaces of ASCII as its number, so that nothing is read as markup."""
    return '"' + "<br>".join("".join(map(_letter, printable(line))) or " " for line in lines) + '"'


def _letter(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in " ._-"):
        return character
    return f"#{ord(character)};"
