"""What is to be drawn, before anything has a place: nodes with lines of text, edges between them, groups of nodes."""

from __future__ import annotations

from typing import NamedTuple


class NodePlan(NamedTuple):
    """A box. `lines`: what is written in it, the name first.

    `stands_for`: the nodes that are folded into it, and the `kind` of part that they are; `key`: which part it is
    (`graphs.drawing.folding`); `inside`: a picture of its nodes, where it is opened.
    """

    name: str
    lines: tuple[str, ...]
    stands_for: tuple[str, ...] = ()
    kind: str = ""
    key: str = ""
    inside: Plan | None = None


class EdgePlan(NamedTuple):
    """An edge between nodes by number, -1 for the outside. `above` is written over its line, `below` under it.

    `stands_for`: the edges that are drawn as this one, where nodes are folded.
    """

    name: str
    source: int
    target: int
    above: str = ""
    below: tuple[str, ...] = ()
    stands_for: tuple[str, ...] = ()


class Group(NamedTuple):
    """Nodes that a frame is drawn around, and groups among them; `kind` is `loop` or `calls`."""

    name: str
    kind: str
    nodes: tuple[int, ...]
    groups: tuple[Group, ...] = ()


def all_of(group: Group) -> list[int]:
    """The nodes in a frame, those in frames within it too."""
    return [*group.nodes, *(node for inner in group.groups for node in all_of(inner))]


class Plan(NamedTuple):
    """`advancing`: the edges, by number, of cycles on which time advances, which are the ones to lead back.

    `room`: letters that are kept free under every name, for a line that changes while the picture is shown.
    """

    nodes: tuple[NodePlan, ...]
    edges: tuple[EdgePlan, ...]
    advancing: frozenset[int] = frozenset()
    groups: tuple[Group, ...] = ()
    room: int = 0

    def boxes(self) -> int:
        """How many boxes it is, those in boxes that have a picture in them too."""
        return sum(1 if node.inside is None else node.inside.boxes() for node in self.nodes)
