"""The plan of a graph's picture: what is written where, which edges are to lead back, what is framed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphs.drawing.frames import calls_of, frames_of
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
    """The name of an edge as it is written; of one that repeats the names of its ends, what it says besides."""
    name = network.edges[edge]
    before, arrow, after = name.partition("->")
    if not arrow:
        return shown(name)
    calls = calls_of(network)
    source, target = (
        network.nodes[end] if end != NO_NODE else "" for end in (network.sources[edge], network.targets[edge])
    )
    ends = [(source, target)]
    if calls is not None:  # the names that were written, before each call was split in two
        ends.append((calls.origin.get(source, source), calls.origin.get(target, target)))
    for one, other in ends:
        if before.startswith(one) and after.startswith(other):
            return shown(" ".join(filter(None, (before[len(one) :].strip("."), after[len(other) :].strip(".")))))
    return shown(name)


def advancing(network: Network) -> frozenset[int]:
    """The edges at which cycles begin anew: those on which time advances, and calls and returns."""
    calls = calls_of(network)
    if calls is None:
        return network.advancing
    ends = zip(network.sources, network.targets, strict=True)
    inside = [NO_NODE not in pair and network.component[pair[0]] == network.component[pair[1]] for pair in ends]
    return frozenset(edge for edge in (*calls.pushes, *calls.pops) if inside[edge])
