"""The shape of a graph: where nothing can arrive, and where what arrives has no effect.

All answer with location numbers, in order, and cost O(nodes + edges) unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from progress.topology import NO_NODE, Network

if TYPE_CHECKING:
    from recursion.call_graph import CallGraph


def unreachable(network: Network) -> list[int]:
    """Locations to which neither an input edge nor a node that asks for notifications leads.

    A node that asks for notifications may begin by itself: initial requests are part of the model (A&I 2.2).
    """
    count = len(network.nodes)
    starts = [node for node in range(count) if network.notifies[node]]
    starts += [network.targets[edge] for edge in network.inputs.values()]
    reached = _spread(starts, network.outgoing, network.targets)
    nodes = [node for node in range(count) if node not in reached]
    edges = (count + edge for edge, source in enumerate(network.sources) if source != NO_NODE and source not in reached)
    return [*nodes, *edges]


def beginning(network: Network) -> list[int]:
    """Nodes that ask for notifications and have no edge into them: they can only begin by themselves (A&I 2.2)."""
    return [node for node, edges in enumerate(network.incoming) if network.notifies[node] and not edges]


def dangling(network: Network) -> list[int]:
    """Locations from which neither an output edge nor a node that asks for notifications can be reached."""
    count = len(network.nodes)
    ends = [node for node in range(count) if network.notifies[node]]
    ends += [network.sources[edge] for edge in network.outputs.values()]
    reached = _spread(ends, network.incoming, network.sources)
    nodes = [node for node in range(count) if node not in reached]
    edges = (count + edge for edge, target in enumerate(network.targets) if target != NO_NODE and target not in reached)
    return [*nodes, *edges]


def never_called(graph: CallGraph) -> list[list[int]]:
    """The nodes of each graph to which no calls lead from the main one. Cost: O(nodes + calls) for each such graph."""
    called = [graph.procedures[graph.main]]
    for procedure in called:
        called += dict.fromkeys(call.enters for call in procedure.calls.values() if call.enters not in called)
    return [
        [node for node, within in enumerate(graph.within) if within is procedure]
        for procedure in graph.procedures.values()
        if procedure not in called
    ]


def _spread(starts: Iterable[int], edges_at: list[list[int]], ends: Iterable[int]) -> set[int]:
    """The nodes reached from `starts` along the edges at each node towards their other ends."""
    ends = list(ends)
    reached = set(starts)
    pending = list(reached)
    while pending:
        for edge in edges_at[pending.pop()]:
            node = ends[edge]
            if node != NO_NODE and node not in reached:
                reached.add(node)
                pending.append(node)
    return reached
