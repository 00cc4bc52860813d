"""A plan with several nodes as one box each, and the plans of what is in such boxes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphs.drawing.plan import EdgePlan, Group, NodePlan, Plan, all_of
from graphs.drawing.text import LONGEST, shown

HALF = (LONGEST - 3) // 2  # letters of each of two names
Classes = Sequence[tuple[Sequence[int], NodePlan]]  # nodes, and the box that they become


def quotient(plan: Plan, classes: Classes) -> Plan:
    """The plan with each class as one box. Edges within a box are not drawn.

    Edges between two boxes of which one has several nodes are one edge, which says how many it is. A frame that has a
    piece of a box in it is let go.
    """
    first: dict[int, int] = {node: members[0] for members, _ in classes for node in members}
    of = {members[0]: members for members, _ in classes}
    box_of = {members[0]: box for members, box in classes}
    number: dict[int, int] = {}
    nodes: list[NodePlan] = []
    for node, given in enumerate(plan.nodes):
        if first.get(node, node) == node:
            number[node] = len(nodes)
            nodes.append(box_of.get(node, given))
    place = {node: number[first.get(node, node)] for node in range(len(plan.nodes))} | {-1: -1}
    bundles: dict[tuple[int, int], list[int]] = {}
    kept: list[tuple[int, EdgePlan]] = []
    for edge, entry in enumerate(plan.edges):
        source, target = place[entry.source], place[entry.target]
        if source == target and entry.source in first:
            continue
        if entry.source in first or entry.target in first:
            bundles.setdefault((source, target), []).append(edge)
        else:
            kept.append((edge, entry._replace(source=source, target=target)))
    for (source, target), edges in bundles.items():
        kept.append((edges[0], _bundle([plan.edges[edge] for edge in edges], source, target)))
    kept.sort(key=lambda pair: pair[0])
    advancing = frozenset(new for new, (edge, _) in enumerate(kept) if edge in plan.advancing)
    groups = _around_boxes(plan.groups, place, {node: of[begin] for node, begin in first.items()})
    return Plan(tuple(nodes), tuple(entry for _, entry in kept), advancing, groups, plan.room)


def _around_boxes(
    groups: Sequence[Group], place: Mapping[int, int], together: Mapping[int, Sequence[int]]
) -> tuple[Group, ...]:
    """Frames around the boxes of their nodes. `together`: by node, all that are in its box."""
    found: list[Group] = []
    for group in groups:
        inner = _around_boxes(group.groups, place, together)
        inside = set(all_of(group))
        if any(not inside.issuperset(together.get(node, ())) for node in inside):
            found += inner
            continue
        within = {node for each in inner for node in all_of(each)}
        own = dict.fromkeys(place[node] for node in sorted(inside) if place[node] not in within)
        found.append(group._replace(nodes=tuple(own), groups=inner))
    return tuple(found)


def _bundle(edges: Sequence[EdgePlan], source: int, target: int) -> EdgePlan:
    if len(edges) == 1:
        return edges[0]._replace(source=source, target=target)
    names = tuple(name for edge in edges for name in edge.stands_for or (edge.name,))
    return EdgePlan(edges[0].name, source, target, f"{len(names):,} edges", (), names)


def merged(plan: Plan, members: Sequence[int], kind: str) -> NodePlan:
    """The box of several nodes, which may be boxes of several themselves."""
    names = [name for node in members for name in plan.nodes[node].stands_for or (plan.nodes[node].name,)]
    first, last = shown(names[0], HALF), shown(names[-1], HALF)
    lines = (f"{first} … {last}", f"{kind} of {len(names):,} nodes")
    return NodePlan(names[0], lines, tuple(names), kind)


def induced(plan: Plan, names: Collection[str]) -> Plan:
    """The plan of some nodes by themselves, with the frames that have no others in them.

    An edge to another node ends in the open, and says where it leads; several of one node are one edge.

    Cost: O(nodes + edges).
    """
    wanted = set(names)
    nodes = [node for node, given in enumerate(plan.nodes) if given.name in wanted]
    place = {node: new for new, node in enumerate(nodes)}
    edges: list[tuple[int, EdgePlan]] = []
    outside: dict[tuple[int, int], list[int]] = {}
    for edge, entry in enumerate(plan.edges):
        source, target = place.get(entry.source, -1), place.get(entry.target, -1)
        if max(source, target) < 0:
            continue
        if -1 in (entry.source, entry.target) or min(source, target) >= 0:
            edges.append((edge, entry._replace(source=source, target=target)))
        else:
            outside.setdefault((source, target), []).append(edge)
    for (source, target), those in outside.items():
        edges.append((those[0], _stub(plan, those, source, target)))
    edges.sort(key=lambda pair: pair[0])
    return Plan(
        tuple(plan.nodes[node] for node in nodes),
        tuple(entry for _, entry in edges),
        frozenset(new for new, (edge, _) in enumerate(edges) if edge in plan.advancing),
        _frames_within(plan.groups, place),
        plan.room,
    )


def _stub(plan: Plan, edges: Sequence[int], source: int, target: int) -> EdgePlan:
    """An edge of a part that ends in the open, as there is no picture of where it leads."""
    first = plan.edges[edges[0]]
    other = first.source if source < 0 else first.target
    if len(edges) > 1:
        return _bundle([plan.edges[edge] for edge in edges], source, target)
    leads = f"{'from' if source < 0 else 'to'} {plan.nodes[other].name}"
    return first._replace(source=source, target=target, above=shown(leads))


def _frames_within(groups: Sequence[Group], place: Mapping[int, int]) -> tuple[Group, ...]:
    found: list[Group] = []
    for group in groups:
        inner = _frames_within(group.groups, place)
        if all(node in place for node in all_of(group)):
            found.append(group._replace(nodes=tuple(place[node] for node in group.nodes), groups=inner))
        else:
            found += inner
    return tuple(found)
