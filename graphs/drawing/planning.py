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
    """The edges within strongly connected components on which every time rises: that is where cycles begin anew."""
    calls = calls_of(network)
    if calls is not None:
        return frozenset(edge for edge in (*calls.pushes, *calls.pops) if _in_a_cycle(network, edge))
    kinds, known = network.drifts
    found = set()
    for edge in range(len(network.edges)):
        if not _in_a_cycle(network, edge):
            continue
        drift = known[kinds[edge]]
        if drift is not None and drift.falls_nowhere and not drift.is_still:
            found.add(edge)
    return frozenset(found)


def _in_a_cycle(network: Network, edge: int) -> bool:
    source, target = network.sources[edge], network.targets[edge]
    return NO_NODE not in (source, target) and network.component[source] == network.component[target]
