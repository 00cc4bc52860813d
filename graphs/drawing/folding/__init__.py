"""Many nodes in one box: what of a large graph is shown at first, and what opens where it is asked for.

A graph is a tree of parts. The whole is divided into boxes (`graphs.drawing.folding.division`); a box of many nodes
that is opened has a picture of its own in it, in which its nodes are divided in the same way; and so on, down to single
nodes. So each picture has few boxes and few lines, whatever is open elsewhere: edges that lead into a part or out of it
end at its frame, and are drawn within it from or to the open, with the name of the node that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from graphs.drawing.folding.division import divided
from graphs.drawing.folding.quotient import induced, quotient
from graphs.drawing.plan import NodePlan, Plan

MOST = 2_000  # boxes of a picture


class Part(NamedTuple):
    """A box, or what has been opened: then `within` has its parts.

    `key`: the place of the box among those beside it, after that of the part that they are in and a dot. It is the same
    whatever else is open. `box`: how it is drawn while it is closed; its name is that of its first node.
    """

    key: str
    box: NodePlan
    within: tuple[Part, ...] = ()

    @property
    def names(self) -> Sequence[str]:
        """The nodes in it."""
        return self.box.stands_for or (self.box.name,)

    def all(self) -> Iterator[Part]:
        """This part, then all in it, outer ones before inner ones."""
        yield self
        for part in self.within:
            yield from part.all()


def folded(plan: Plan, shown: Collection[str], most: int = MOST) -> Plan:
    """The plan with few enough boxes: at most `most`, and so many in each part that is opened.

    The nodes in `shown` are boxes of their own: all parts that they are in are opened, and no chain is folded that has
    one of them.

    Cost: O(nodes + edges) for the whole, and for each part that is opened.
    """
    wanted = set(shown)
    parts = parts_of(plan, lambda part: not wanted.isdisjoint(part.names), most, wanted)
    return shown_as(plan, parts)


def parts_of(
    plan: Plan, is_opened: Callable[[Part], bool], most: int = MOST, kept: Collection[str] = ()
) -> tuple[Part, ...]:
    """The boxes of a plan, and the parts that are opened. No chain with a node in `kept` is folded."""

    def divide(inner: Plan, kind: str, before: str) -> tuple[Part, ...]:
        found = []
        for number, box in enumerate(divided(inner, kind, kept, most).nodes):
            part = Part(f"{before}{number}", box)
            if box.stands_for and is_opened(part):
                part = part._replace(within=divide(induced(plan, box.stands_for), box.kind, f"{part.key}."))
            found.append(part)
        return tuple(found)

    return divide(plan, "", "")


def shown_as(plan: Plan, parts: Sequence[Part]) -> Plan:
    """The plan as its parts show it: a box for each, with a picture in it where it is opened."""

    def picture(inner: Plan, shown: Sequence[Part]) -> Plan:
        number = {node.name: place for place, node in enumerate(inner.nodes)}
        classes = []
        for part in shown:
            if part.box.stands_for:
                inside = picture(induced(plan, part.names), part.within) if part.within else None
                box = part.box._replace(key=part.key, inside=inside)
                classes.append(([number[name] for name in part.names], box))
        return quotient(inner, classes)

    return picture(plan, parts)
