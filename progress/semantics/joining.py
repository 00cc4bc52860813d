"""Joining two systems at the edges they share (A&I 4.3): one system, for the non-compositional specification."""

from __future__ import annotations

from typing import Any

from progress.errors import PointstampError, brief
from progress.semantics.system import System
from progress.topology import NO_NODE, Network


def join(first: System, second: System) -> System:
    """The joined graph as one system: the non-compositional specification is its `Specification`.

    Graphs with calls are refused (PS401).

    Returns
    -------
    The whole, with the nodes, the queues and the arrivals of both.

    Examples
    --------
    >>> from pointstamp import Graph, Message
    >>> from progress.semantics import Buffer, System, join
    >>> left = Graph().node("a").edge(None, "a", "in").edge("a", None, "shared")
    >>> right = Graph().node("b").edge(None, "b", "shared").edge("b", None, "out")
    >>> first = System(left, {"a": Buffer("shared")}, {"in": [Message(0)]})
    >>> second = System(right, {"b": Buffer("out")})
    >>> join(first, second).network()
    Network(2 nodes, 3 edges)
    """
    whole = join_networks(first.network(), second.network())
    queued = [{**mine, **others} for mine in first.queued for others in second.queued]
    return System(whole, {**first.nodes, **second.nodes}, queued, {**first.arrivals, **second.arrivals})


def join_networks(one: Network, other: Network) -> Network:
    """The joined graph.

    An output edge of one that is, by name, an input edge of the other becomes internal. Other names are disjoint.
    """
    if one.relation is not None or other.relation is not None:
        what = "a graph with calls cannot be joined: which stack is before which is decided by all of the graph"
        raise PointstampError("PS401", what, "join graphs without calls, or write both as one graph file")
    edges = list(dict.fromkeys((*one.edges, *other.edges)))
    taken = [name for name in one.numbers if name in other.numbers and not _is_joint(one, other, name)]
    if taken:
        raise PointstampError(
            "PS010",
            f"both graphs have the location {brief(taken[0])}",
            "share only edges that leave one and enter the other",
        )
    for name in edges:
        if name in one.numbers and name in other.numbers and _domain(one, name) != _domain(other, name):
            raise PointstampError("PS401", f"the two ends of {brief(name)} differ in domain", "give it one domain")
    offset, sources, targets, domains, summaries = len(one.nodes), [], [], [], []
    for name in edges:
        ends = [NO_NODE, NO_NODE]
        summary = None
        for network, shift in ((one, 0), (other, offset)):
            if name in network.numbers:
                edge = network.number(name) - len(network.nodes)
                for place, end in enumerate((network.sources[edge], network.targets[edge])):
                    ends[place] = end + shift if end != NO_NODE else ends[place]
                summary = network.summaries[edge] or summary
        sources.append(ends[0])
        targets.append(ends[1])
        summaries.append(summary)
        domains.append(_domain(one if name in one.numbers else other, name))
    return Network(
        [*one.nodes, *other.nodes],
        [*one.domains, *other.domains],
        [*one.requests, *other.requests],
        [*one.notifies, *other.notifies],
        edges,
        sources,
        targets,
        domains,
        summaries,
    )


def _is_joint(one: Network, other: Network, name: str) -> bool:
    """Whether the location is an edge that leaves one graph and enters the other."""
    places = [network.number(name) - len(network.nodes) for network in (one, other)]
    if min(places) < 0:
        return False
    leaves = [network.targets[edge] == NO_NODE for network, edge in zip((one, other), places, strict=True)]
    enters = [network.sources[edge] == NO_NODE for network, edge in zip((one, other), places, strict=True)]
    return (leaves[0] and enters[1]) or (leaves[1] and enters[0])


def _domain(network: Network, edge: str) -> Any:
    return network.domain(network.number(edge))
