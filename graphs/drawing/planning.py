"""The plan of a graph's picture: what is written where, which edges are to lead back, what is framed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphs.drawing.frames import frames_of
from graphs.drawing.plan import EdgePlan, NodePlan, Plan
from graphs.drawing.text import shown
from progress.topology import NO_NODE, Network


def plan_of(network: Network, texts: Mapping[str, Sequence[str]], room: int = 0) -> Plan:
    """A plan for all of a network. Cost: O(nodes + edges)."""
    nodes = tuple(
        NodePlan(name, (shown(name), *(shown(text) for text in texts.get(name, ())))) for name in network.nodes
    )
    edges = tuple(
        EdgePlan(
            name,
            source,
            target,
            label_of(network, edge),
            tuple(shown(text) for text in texts.get(name, ())),
        )
        for edge, (name, source, target) in enumerate(zip(network.edges, network.sources, network.targets, strict=True))
    )
    return Plan(nodes, edges, advancing(network), frames_of(network), room)


def label_of(network: Network, edge: int) -> str:
    """The name of an edge as it is written; nothing where it only repeats the names of its ends."""
    names = (*network.nodes, "")
    name = network.edges[edge]
    return "" if name == f"{names[network.sources[edge]]}->{names[network.targets[edge]]}" else shown(name)


def advancing(network: Network) -> frozenset[int]:
    """The edges within strongly connected components on which every time rises: that is where cycles begin anew."""
    component = network.component
    kinds, known = network.drifts
    found = set()
    for edge, (source, target) in enumerate(zip(network.sources, network.targets, strict=True)):
        if NO_NODE in (source, target) or component[source] != component[target]:
            continue
        drift = known[kinds[edge]]
        if drift is not None and drift.falls_nowhere and not drift.is_still:
            found.add(edge)
    return frozenset(found)
