"""A picture as text for Mermaid, which pages of code repositories draw by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.drawing.plan import EdgePlan, Group, NodePlan, Plan, all_of
from graphs.wording import printable


def mermaid(plan: Plan, way: Iterable[str] = ()) -> str:
    """A flowchart in the language of Mermaid. Cost: O(what is in it)."""
    writing = _Writing(set(way))
    return "\n".join(["flowchart LR", *writing.lines(plan, "", "  "), *writing.styles, ""])


class _Writing:
    """Plans in words. `within` is in front of the names of nodes: those of the boxes that they are in."""

    def __init__(self, marked: set[str]) -> None:
        self.marked = marked
        self.styles: list[str] = []
        self.frames = 0

    def lines(self, plan: Plan, within: str, indent: str) -> list[str]:
        """All of a plan: nodes, frames, edges."""
        framed = {node for group in plan.groups for node in all_of(group)}
        lines = []
        for node in range(len(plan.nodes)):
            if node not in framed:
                lines += self._node(plan, node, within, indent)
        for group in plan.groups:
            lines += self._group(plan, group, within, indent)
        for number, edge in enumerate(plan.edges):
            ends = []
            for end, side in ((edge.source, "from"), (edge.target, "to")):
                ends.append(f"n{within}{end}" if end >= 0 else f'{side}{within}{number}((" "))')
            label = [edge.above, *edge.below] if edge.above else [*edge.below]
            arrow = "-.->" if number in plan.advancing else "==>" if self._is_marked(edge) else "-->"
            said = f"|{_quoted(*label)}|" if label else ""
            lines.append(f"{indent}{ends[0]} {arrow}{said} {ends[1]}")
        return lines

    def _is_marked(self, given: NodePlan | EdgePlan) -> bool:
        return not self.marked.isdisjoint((given.name, *given.stands_for))

    def _node(self, plan: Plan, node: int, within: str, indent: str) -> list[str]:
        given = plan.nodes[node]
        name, label = f"n{within}{node}", f"[{_quoted(*given.lines)}]"
        if given.inside is not None:
            inner = self.lines(given.inside, f"{within}{node}_", indent + "  ")
            return [f"{indent}subgraph {name} {label}", *inner, f"{indent}end"]
        if self._is_marked(given):
            self.styles.append(f"  style {name} stroke-width:4px")
        return [f"{indent}{name}{label}"]

    def _group(self, plan: Plan, group: Group, within: str, indent: str) -> list[str]:
        self.frames += 1
        lines = [f"{indent}subgraph g{self.frames} [{_quoted(group.name)}]"]
        for node in group.nodes:
            lines += self._node(plan, node, within, indent + "  ")
        for inner in group.groups:
            lines += self._group(plan, inner, within, indent + "  ")
        return [*lines, f"{indent}end"]


def _quoted(*lines: str) -> str:
    """Text in quotes: all but letters, digits and spaces of ASCII as its number, so that nothing is read as markup."""
    return '"' + "<br>".join("".join(map(_letter, printable(line))) or " " for line in lines) + '"'


def _letter(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in " ._-"):
        return character
    return f"#{ord(character)};"
