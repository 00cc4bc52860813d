"""A plan divided into boxes, of which there are few enough: chains, components, layers, neighbours in the file.

Long chains become one box each, whatever the size. Above so many boxes every strongly connected component is one; where
that is not enough, what stands in the same layers is as well; and what has no layers is cut in pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graphs.drawing.cycles import leading_back
from graphs.drawing.folding.quotient import merged, quotient
from graphs.drawing.layers import longest_paths
from graphs.drawing.plan import Plan
from progress.component import together

LONG = 12  # nodes of a chain that is folded
FEW = 40  # nodes of a part that is opened, of which each is shown
BANDS = (16, 8, 4)  # of layers, so that a row of them is read without scrolling for long: fewer where they are FULL
FULL = 12  # edges for each band


def divided(plan: Plan, kind: str, kept: Collection[str], most: int) -> Plan:
    """The plan as at most `most` boxes. `kind` says what part it is of a whole: a chain is no chain again.

    No chain with a node in `kept` is folded. Where layers have very many edges between them, there are fewer of them.

    Cost: O(nodes + edges).
    """
    if kind and len(plan.nodes) <= FEW:
        return plan
    has_chains = kind != "chain"
    if has_chains:
        plan = _boxed(plan, _chains(plan, kept), "chain")
    if len(plan.nodes) > most:
        plan = _boxed(plan, _components(plan), "component")
    if len(plan.nodes) > most and has_chains:
        plan = _boxed(plan, _chains(plan, kept), "chain")
    if len(plan.nodes) > most:
        plan = _layered(plan)
    if len(plan.nodes) > most:
        plan = _boxed(plan, _pieces(plan, most), "piece")
    return plan


def _layered(plan: Plan) -> Plan:
    depth = _layers(plan)
    for many in BANDS:
        found = _boxed(plan, _bands(depth, many), "layers")
        if len(found.edges) <= FULL * many:
            break
    return found


def _boxed(plan: Plan, classes: Sequence[Sequence[int]], kind: str) -> Plan:
    """Each class as one box. One box for everything would say nothing: then the plan stays as it is."""
    if not classes or len(classes[0]) == len(plan.nodes):
        return plan
    return quotient(plan, [(members, merged(plan, members, kind)) for members in classes])


def _chains(plan: Plan, kept: Collection[str]) -> list[list[int]]:
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
    for node in range(len(plan.nodes)):
        if plain[node] and node not in begun:
            run = [node]
            while goes_on(run[-1]):
                run.append(after[run[-1]])
            if len(run) >= LONG and not any(plan.nodes[each].name in kept for each in run):
                found.append(run)
    return found


def _components(plan: Plan) -> list[list[int]]:
    ways = [(edge.source, edge.target) for edge in plan.edges if min(edge.source, edge.target) >= 0]
    return [nodes for nodes in together(range(len(plan.nodes)), ways) if len(nodes) > 1]


def _layers(plan: Plan) -> list[int]:
    """How far each node is from a beginning, at most. Edges that lead back are left aside."""
    edges = [
        (edge in plan.advancing, entry.source, entry.target)
        for edge, entry in enumerate(plan.edges)
        if min(entry.source, entry.target) >= 0 and entry.source != entry.target
    ]
    arcs = [(source, target) for _, source, target in edges]
    declared = [place for place, (is_declared, _, _) in enumerate(edges) if is_declared]
    back = leading_back(len(plan.nodes), arcs, declared)
    return longest_paths(len(plan.nodes), [(*arc, 1) for place, arc in enumerate(arcs) if place not in back])


def _bands(depth: Sequence[int], many: int) -> list[list[int]]:
    """So many bands of neighbouring layers, at most; those of several nodes."""
    fewer = -(-(1 + max(depth, default=0)) // many)
    bands: dict[int, list[int]] = {}
    for node, layer in enumerate(depth):
        bands.setdefault(layer // fewer, []).append(node)
    return [nodes for nodes in bands.values() if len(nodes) > 1]


def _pieces(plan: Plan, most: int) -> list[list[int]]:
    """Nodes that follow each other in the file, as many in each piece."""
    many = -(-len(plan.nodes) // most)
    pieces = [list(range(first, min(first + many, len(plan.nodes)))) for first in range(0, len(plan.nodes), many)]
    return [nodes for nodes in pieces if len(nodes) > 1]
