"""Which nodes stand in a frame of their own: those of a loop, and those of a graph that is called.

A loop is where times have a coordinate more than around it (`enter` and `leave`): nodes that edges join among
themselves and whose times have more coordinates than the times of some node that their part of the graph reaches. With
calls, each graph that can be called is framed, as it was written, its calls split in two (A&I 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphs.drawing.level import parts
from graphs.drawing.plan import Group, all_of
from progress.order import Domain, Lex, Product
from progress.topology import NO_NODE, Network

if TYPE_CHECKING:
    from recursion.call_graph import CallGraph

FEWEST = 2  # nodes that a frame is drawn around


def frames_of(network: Network) -> tuple[Group, ...]:
    """The frames of a graph, outer ones around inner ones. Cost: O((nodes + edges) * depth)."""
    if network.relation is not None:
        return _called(network)
    depths = [_coordinates(domain) for domain in network.domains]
    arcs = [
        (source, target)
        for source, target in zip(network.sources, network.targets, strict=True)
        if NO_NODE not in (source, target)
    ]
    found: list[Group] = []
    for part in parts(len(depths), arcs):
        lowest = min(depths[node] for node in part)
        found += _within(network, part, arcs, depths, lowest)
    return tuple(found)


def _coordinates(domain: Domain) -> int:
    """How many numbers a time has, products and orders one after the other taken apart."""
    if isinstance(domain, Product | Lex):
        return sum(map(_coordinates, domain.parts))
    return 1


def _within(
    network: Network, nodes: Iterable[int], arcs: list[tuple[int, int]], depths: list[int], depth: int
) -> list[Group]:
    """The frames around nodes of more coordinates than `depth` among these."""
    deeper = [node for node in nodes if depths[node] > depth]
    if not deeper:
        return []
    position = {node: place for place, node in enumerate(deeper)}
    inner = [
        (position[source], position[target]) for source, target in arcs if source in position and target in position
    ]
    groups = []
    for places in parts(len(deeper), inner):
        members = [deeper[place] for place in places]
        least = min(depths[node] for node in members)
        if len(members) < FEWEST:
            continue
        groups_within = _within(network, members, arcs, depths, least)
        framed = {node for group in groups_within for node in all_of(group)}
        own = tuple(node for node in members if node not in framed)
        groups.append(Group(_name([network.nodes[node] for node in members]), "loop", own, tuple(groups_within)))
    return groups


def _name(names: list[str]) -> str:
    """What the names of all have in common at their beginning, up to a dot; `loop` where that is nothing."""
    common = names[0]
    for name in names[1:]:
        while not name.startswith(common):
            common = common[:-1]
    return common[: common.rfind(".")] if "." in common else "loop"


def calls_of(network: Network) -> CallGraph | None:
    """The graph with its calls, of a network that has any."""
    if network.relation is None:
        return None
    from recursion.network import CallRelation  # most graphs do without

    return network.relation.graph if isinstance(network.relation, CallRelation) else None


def _called(network: Network) -> tuple[Group, ...]:
    calls = calls_of(network)
    if calls is None:
        return ()
    members: dict[str, list[int]] = {}
    for node, procedure in enumerate(calls.within[: len(network.nodes)]):
        members.setdefault(procedure.name, []).append(node)
    return tuple(
        Group(name or "what calls itself", "calls", tuple(nodes))
        for name, nodes in members.items()
        if len(nodes) >= FEWEST
    )
