"""A picture as text for Graphviz: its nodes, edges and frames, which Graphviz places by itself."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.drawing.plan import Group, Plan, all_of
from graphs.wording import printable


def dot(plan: Plan, title: str, way: Iterable[str] = ()) -> str:
    """A digraph in the language of Graphviz. Cost: O(what is in it)."""
    head = [f"digraph {_quoted(title)} {{", "  rankdir=LR", "  node [shape=box, style=rounded]"]
    writing = _Writing(plan, set(way), "")
    if writing.inside:  # edges may end at a frame; without newrank Graphviz fails at some
        head += ["  compound=true", "  newrank=true"]
    return "\n".join([*head, *writing.lines("  "), "}", ""])


class _Writing:
    """A plan in words. `within` is in front of the names of its nodes: those of the boxes that it is in."""

    def __init__(self, plan: Plan, marked: set[str], within: str) -> None:
        self.plan = plan
        self.marked = marked
        self.within = within
        self.inside = {
            node: _Writing(given.inside, marked, f"{within}{node}_")
            for node, given in enumerate(plan.nodes)
            if given.inside is not None
        }
        self.frames = 0

    def lines(self, indent: str) -> list[str]:
        """All of it: nodes, frames, edges."""
        framed = {node for group in self.plan.groups for node in all_of(group)}
        lines = []
        for node in range(len(self.plan.nodes)):
            if node not in framed:
                lines += self._node(node, indent)
        for group in self.plan.groups:
            lines += self._group(group, indent)
        for number in range(len(self.plan.edges)):
            lines += self._edge(number, indent)
        return lines

    def first(self, node: int) -> str:
        """The name of a node; of one that has a picture in it, that of the first node there."""
        return self.inside[node].first(0) if node in self.inside else f"n{self.within}{node}"

    def _edge(self, number: int, indent: str) -> list[str]:
        edge = self.plan.edges[number]
        lines, ends, words = [], [], []
        for end, side, clip in ((edge.source, "from", "ltail"), (edge.target, "to", "lhead")):
            if end < 0:
                lines.append(f"{indent}{side}{self.within}{number} [shape=point, style=invis]")
            ends.append(self.first(end) if end >= 0 else f"{side}{self.within}{number}")
            words += [f"{clip}=cluster_{self.within}{end}"] if end in self.inside else []
        label = [edge.above, *edge.below] if edge.above else [*edge.below]
        words += [f"label={_quoted(*label)}"] if label else []
        words += ["constraint=false", "style=dashed"] if number in self.plan.advancing else []
        words += ["penwidth=3"] if not self.marked.isdisjoint((edge.name, *edge.stands_for)) else []
        said = f" [{', '.join(words)}]" if words else ""
        return [*lines, f"{indent}{ends[0]} -> {ends[1]}{said}"]

    def _node(self, node: int, indent: str) -> list[str]:
        given = self.plan.nodes[node]
        label = f"label={_quoted(*given.lines)}"
        if node in self.inside:
            name = f"cluster_{self.within}{node}"
            return [
                f"{indent}subgraph {name} {{",
                f"{indent}  {label}",
                *self.inside[node].lines(indent + "  "),
                f"{indent}}}",
            ]
        mark = "" if self.marked.isdisjoint((given.name, *given.stands_for)) else ", penwidth=3"
        return [f"{indent}n{self.within}{node} [{label}{mark}]"]

    def _group(self, group: Group, indent: str) -> list[str]:
        self.frames += 1
        lines = [f"{indent}subgraph cluster{self.within}{self.frames} {{", f"{indent}  label={_quoted(group.name)}"]
        for node in group.nodes:
            lines += self._node(node, indent + "  ")
        for inner in group.groups:
            lines += self._group(inner, indent + "  ")
        return [*lines, f"{indent}}}"]


def _quoted(*lines: str) -> str:
    """Text in quotes: a backslash and a quote are escaped, and lines are those of Graphviz."""
    words = (printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(words) + '"'
