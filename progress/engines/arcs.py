"""What the engine runs on: a vertex for the entrance of each node, an arc for each way from one to the next.

The *entrance* of node p stands for all edges into p together: a message on any of them is outstanding there, and a
request (p, t) may be delivered when the entrance of p has nothing at or below t (A&I 4.2). A pending request (p, t) is
no obstacle to p itself but to what p leads to, so it is outstanding at the entrances that p's summaries reach. A node
that leads to many has a second vertex, its *exit*, so that a request there is one entry and not many. Nodes that lead
to the same places by the same summaries share one, so that a layer of n nodes that all send to all of the next has 2n
arcs and not n * n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import lt
from typing import Any, TypeAlias

from progress.component import component_numbers
from progress.conditions import nodes_in_doubt
from progress.cycles.walk import unchanged
from progress.normal_form.declared import Identity
from progress.normal_form.generic import GenericSummary
from progress.normal_form.layout import layout_of
from progress.order import Domain
from progress.summary import NormalSummary, OpaqueSummary, Summary
from progress.topology import NO_NODE, Network

FEW_WAYS_OUT = 2


Arc: TypeAlias = tuple[int, int, Summary]  # from a vertex to another one, and what that does to times


class Arcs:
    """Vertices with their domains, the arcs between them, and what outstanding work means there.

    Vertex i < len(nodes) is the entrance of node i.
    """

    def __init__(
        self,
        domains: Sequence[Domain],
        arcs: Sequence[Arc],
        stubborn: Iterable[int] = (),
        entrances: int | None = None,
        endless: bool = False,
        names: Sequence[str] = (),
    ) -> None:
        self.domains = domains
        self.arcs = arcs
        self.endless = endless  # whether times may come that fall without end (`progress.normal_form.endless`)
        self.names = names  # of the node of each vertex, for messages
        self.entrances = len(domains) if entrances is None else entrances  # the first ones; the others are exits
        self.stubborn = frozenset(stubborn)  # vertices of components that may hold back themselves

    @cached_property
    def component(self) -> list[int]:
        """The strongly connected component of each vertex; arcs between components lead to lower numbers."""
        sources, targets = [source for source, _, _ in self.arcs], [target for _, target, _ in self.arcs]
        if all(map(lt, sources, targets)):  # numbered from front to back already, as graphs often are
            return list(range(len(self.domains) - 1, -1, -1))
        return component_numbers(len(self.domains), sources, targets)


class Entrances:
    """The arcs of a network, with the vertices at which messages and requests are outstanding."""

    def __init__(self, network: Network) -> None:
        self.network = network
        count = len(network.nodes)
        domains = list(network.domains)
        names = list(network.nodes)
        arcs: list[Arc] = []
        self._exits: dict[int, int] = {}
        silent = {id(each) for each in network.summaries if isinstance(each, NormalSummary) and not each.pieces}
        identities: dict[Domain, Summary] = {}
        exits: dict[frozenset[tuple[int, int]], int] = {}
        self._ways: list[Sequence[int]] = []  # the edges on which each node may send something to another node
        targets, summaries = network.targets, network.summaries
        for node, leaving in enumerate(network.outgoing):
            ways = [edge for edge in leaving if targets[edge] != NO_NODE and id(summaries[edge]) not in silent]
            self._ways.append(ways)
            source = node
            if len(ways) > FEW_WAYS_OUT:
                domain = network.domains[node]
                if domain not in identities:
                    identities[domain] = identity_on(domain)
                leading = frozenset((targets[edge], id(summaries[edge])) for edge in ways)
                source = exits.get(leading, NO_NODE)
                is_new = source == NO_NODE
                if is_new:
                    source = exits[leading] = len(domains)
                    domains.append(domain)
                    names.append(network.nodes[node])
                self._exits[node] = source
                arcs.append((node, source, identities[domain]))
                if not is_new:
                    continue
            for edge in ways:
                summary = summaries[edge]
                assert summary is not None
                arcs.append((source, targets[edge], summary))
        endless = network.endless and any(summary.endless for _, _, summary in arcs)
        self.arcs = Arcs(domains, arcs, self._stubborn(count, endless), count, endless, names)

    def _stubborn(self, count: int, endless: bool) -> set[int]:
        """Nodes whose component is not known to advance, with the exits of such nodes.

        A time that falls without end may stay what it is on a cycle that advances, and hold back itself.
        """
        network = self.network
        doubted: Iterable[int] = nodes_in_doubt(network)
        if endless:
            sizes = network.component_sizes
            doubted = [node for node, component in enumerate(network.component) if sizes[component] > 1]
        if not doubted:
            return set()
        numbers = {network.component[node] for node in doubted}
        nodes = {node for node in range(count) if network.component[node] in numbers}
        return nodes | {self._exits[node] for node in nodes if node in self._exits}

    def of_request(self, node: int, time: Any) -> list[tuple[int, Any]]:
        """Where a pending request is outstanding. Cost: at most `FEW_WAYS_OUT` summaries applied."""
        leaving = self._exits.get(node)
        if leaving is not None:
            return [(leaving, time)]
        return [(target, after) for target, summary in self.ways_of_request(node) for after in summary.limits(time)]

    def ways_of_request(self, node: int) -> list[tuple[int, Summary]]:
        """The vertices where a request is outstanding, and what becomes of its time on the way there."""
        network = self.network
        leaving = self._exits.get(node)
        if leaving is not None:
            return [(leaving, identity_on(network.domains[node]))]
        found = []
        for edge in self._ways[node]:
            summary = network.summaries[edge]
            assert summary is not None
            found.append((network.targets[edge], summary))
        return found


def identity_on(domain: Domain) -> Summary:
    """The summary that changes no time of a domain."""
    layout = layout_of(domain)
    if layout is None:
        return OpaqueSummary(domain, domain, GenericSummary(Identity(), domain))
    return NormalSummary(domain, domain, unchanged(layout))
