"""Many nodes in one box: what of a large graph is shown at first, and what opens where it is asked for.

Long chains become one box each. Above MOST nodes every strongly connected component does; where that is not enough,
what stands in the same layers does as well. Edges between two boxes are one edge then, which says how many it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from graphs.drawing.plan import EdgePlan, Group, NodePlan, Plan, all_of
from graphs.drawing.text import shown
from progress.component import component_numbers

MOST = 2_000  # boxes of a picture
LONG = 12  # nodes of a chain that is folded


def folded(plan: Plan, opened: Collection[str], most: int = MOST) -> Plan:
    """The plan with few enough boxes, `most` where that can be. Nodes in `opened` are shown, and what is folded with
    them otherwise.

    Cost: O(nodes + edges).
    """
    plan = quotient(plan, _chains(plan, opened), "chain")
    if len(plan.nodes) > most:
        plan = quotient(plan, _components(plan, opened), "component")
    if len(plan.nodes) > most:
        plan = quotient(plan, _chains(plan, opened), "chain")
    if len(plan.nodes) > most:
        plan = quotient(plan, _bands(plan, opened, most), "layers")
    return plan


def quotient(plan: Plan, classes: Sequence[Sequence[int]], kind: str) -> Plan:
    """The plan with each class, of two nodes or more, as one box; edges within a class are not drawn."""
    if not classes:
        return plan
    first: dict[int, int] = {node: members[0] for members in classes for node in members}
    of = {members[0]: members for members in classes}
    number: dict[int, int] = {}
    nodes: list[NodePlan] = []
    for node, given in enumerate(plan.nodes):
        if first.get(node, node) == node:
            number[node] = len(nodes)
            nodes.append(_merged(plan, of[node], kind) if node in of else given)
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
    groups = tuple(filter(None, (_group(group, place, first, of) for group in plan.groups)))
    return Plan(tuple(nodes), tuple(entry for _, entry in kept), advancing, groups, plan.room)


def _merged(plan: Plan, members: Sequence[int], kind: str) -> NodePlan:
    names = [name for node in members for name in plan.nodes[node].stands_for or (plan.nodes[node].name,)]
    first, last = plan.nodes[members[0]].name, plan.nodes[members[-1]].name
    lines = (shown(f"{first} … {last}"), f"{kind} of {len(names):,} nodes")
    return NodePlan(first, lines, tuple(names))


def _bundle(edges: Sequence[EdgePlan], source: int, target: int) -> EdgePlan:
    if len(edges) == 1:
        return edges[0]._replace(source=source, target=target)
    names = tuple(name for edge in edges for name in edge.stands_for or (edge.name,))
    return EdgePlan(edges[0].name, source, target, f"{len(names):,} edges", (), names)


def _group(group: Group, place: dict[int, int], first: dict[int, int], of: dict[int, Sequence[int]]) -> Group | None:
    """A frame around the same nodes; none where some of them are in a box with others."""
    inside = set(all_of(group))
    for node in inside:
        if node in first and not inside.issuperset(of[first[node]]):
            return None
    groups = tuple(filter(None, (_group(inner, place, first, of) for inner in group.groups)))
    within = {node for inner in groups for node in all_of(inner)}
    nodes = tuple(dict.fromkeys(place[node] for node in sorted(inside) if place[node] not in within))
    return group._replace(nodes=nodes, groups=groups)


def _names(plan: Plan, node: int) -> tuple[str, ...]:
    given = plan.nodes[node]
    return given.stands_for or (given.name,)


def _is_open(plan: Plan, opened: Collection[str]) -> Callable[[Sequence[int]], bool]:
    """Whether a class has a node that is to be shown."""
    return lambda members: any(name in opened for node in members for name in _names(plan, node))


def _chains(plan: Plan, opened: Collection[str]) -> list[list[int]]:
    """Runs of nodes on which nothing is written, each with one edge in and one edge out, in one frame."""
    entering = [0] * len(plan.nodes)
    leaving = [0] * len(plan.nodes)
    after = [-1] * len(plan.nodes)
    for edge in plan.edges:
        if edge.source >= 0:
            leaving[edge.source] += 1
            after[edge.source] = edge.target
        if edge.target >= 0:
            entering[edge.target] += 1
    frame = [0] * len(plan.nodes)
    pending = list(plan.groups)
    for numbered, group in enumerate(pending, 1):
        for node in group.nodes:
            frame[node] = numbered
        pending += group.groups
    quoted = {edge.source for edge in plan.edges if edge.below} | {edge.target for edge in plan.edges if edge.below}
    plain = [
        entering[node] == 1 == leaving[node] and len(given.lines) == 1 and node not in quoted
        for node, given in enumerate(plan.nodes)
    ]

    def goes_on(node: int) -> bool:
        other = after[node]
        return other >= 0 and plain[other] and frame[other] == frame[node]

    begun = {after[node] for node in range(len(plan.nodes)) if plain[node] and goes_on(node)}
    found = []
    is_open = _is_open(plan, opened)
    for node in range(len(plan.nodes)):
        if plain[node] and node not in begun:
            run = [node]
            while goes_on(run[-1]):
                run.append(after[run[-1]])
            if len(run) >= LONG and not is_open(run):
                found.append(run)
    return found


def _arcs(plan: Plan) -> tuple[list[int], list[int]]:
    inner = [edge for edge in plan.edges if min(edge.source, edge.target) >= 0]
    return [edge.source for edge in inner], [edge.target for edge in inner]


def _components(plan: Plan, opened: Collection[str]) -> list[list[int]]:
    members: dict[int, list[int]] = {}
    for node, component in enumerate(component_numbers(len(plan.nodes), *_arcs(plan))):
        members.setdefault(component, []).append(node)
    is_open = _is_open(plan, opened)
    return [nodes for nodes in members.values() if len(nodes) > 1 and not is_open(nodes)]


def _bands(plan: Plan, opened: Collection[str], most: int) -> list[list[int]]:
    """Nodes by their longest way from a beginning, so many layers in one band that there are few enough bands."""
    sources, targets = _arcs(plan)
    component = component_numbers(len(plan.nodes), sources, targets)  # edges lead to lower numbers
    depth: dict[int, int] = {}
    following: dict[int, list[int]] = {}
    for source, target in zip(sources, targets, strict=True):
        if component[source] != component[target]:
            following.setdefault(component[source], []).append(component[target])
    for number in range(max(component, default=-1), -1, -1):
        for other in following.get(number, ()):
            depth[other] = max(depth.get(other, 0), depth.get(number, 0) + 1)
    layers = 1 + max(depth.values(), default=0)
    fewer = -(-layers * 4 // most)
    bands: dict[int, list[int]] = {}
    is_open = _is_open(plan, opened)
    for node in range(len(plan.nodes)):
        if not is_open([node]):
            bands.setdefault(depth.get(component[node], 0) // fewer, []).append(node)
    return [nodes for nodes in bands.values() if len(nodes) > 1]
