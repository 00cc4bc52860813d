"""All that the engine asks of a graph (A&I 2.1): nodes, edges with their ends, a domain a location, a summary an edge.

Locations are numbered: node i is location i, edge j is location `len(nodes) + j`. A graph of any kind serves when it
has `network()`; `graphs.Graph` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from progress.component import component_numbers
from progress.cycles.drift import Drifts, drifts
from progress.errors import PointstampError, brief, one_of_the_graph
from progress.order import NO_TIME, Domain, as_time, right_time
from progress.summary import Summary

if TYPE_CHECKING:
    from progress.tracking.own_relation import OwnRelation

NO_NODE = -1  # the source of an input edge, the destination of an output edge


MADE_OF = (
    "relation",
    "nodes",
    "domains",
    "requests",
    "notifies",
    "edges",
    "sources",
    "targets",
    "edge_domains",
    "summaries",
)


class Topology(Protocol):
    """What can be handed to the engine."""

    def network(self) -> Network:
        """The graph with its names replaced by numbers and every domain and summary resolved."""


def network_of(graph: Topology) -> Network:
    """The network of a graph; PS617 for what is not a graph, such as the name of its file."""
    given: object = graph
    if isinstance(given, type) or not callable(getattr(given, "network", None)):
        raise not_a_graph(given)
    return graph.network()


def not_a_graph(given: object) -> PointstampError:
    """The complaint about what was given where a graph belongs."""
    right = "a Graph; load(path) makes one of a file, from_data(...) of plain data"
    return PointstampError("PS617", f"{brief(given)} is not a graph", right)


class Network:
    """A resolved graph: parallel lists over nodes and over edges.

    `summaries[j]` leads from the domain of edge j's source to the domain of edge j (None for input edges);
    `requests[i]` says at which times an event at node i may trigger notification requests; `relation` decides
    could-result-in where summaries do not (`progress.tracking.own_relation`).
    """

    def __init__(
        self,
        nodes: Sequence[str],
        domains: Sequence[Domain],
        requests: Sequence[Summary],
        notifies: Sequence[bool],
        edges: Sequence[str],
        sources: Sequence[int],
        targets: Sequence[int],
        edge_domains: Sequence[Domain],
        summaries: Sequence[Summary | None],
        relation: OwnRelation | None = None,
    ) -> None:
        self.relation = relation
        self.nodes = nodes
        self.domains = domains
        self.requests = requests
        self.notifies = notifies
        self.edges = edges
        self.sources = sources
        self.targets = targets
        self.edge_domains = edge_domains
        self.summaries = summaries
        self.derived: dict[str, Any] = {}  # what other modules compute once for a network

    def __repr__(self) -> str:
        return f"Network({len(self.nodes)} nodes, {len(self.edges)} edges)"

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of: the rest is found again where it is needed."""
        return {name: self.__dict__[name] for name in MADE_OF} | {"derived": {}}

    def network(self) -> Network:
        """A network is its own topology."""
        return self

    @cached_property
    def outgoing(self) -> list[list[int]]:
        """The edges that leave each node."""
        lists: list[list[int]] = [[] for _ in self.nodes]
        for edge, source in enumerate(self.sources):
            if source != NO_NODE:
                lists[source].append(edge)
        return lists

    @cached_property
    def incoming(self) -> list[list[int]]:
        """The edges that enter each node."""
        lists: list[list[int]] = [[] for _ in self.nodes]
        for edge, target in enumerate(self.targets):
            if target != NO_NODE:
                lists[target].append(edge)
        return lists

    @cached_property
    def inputs(self) -> dict[str, int]:
        """The edges on which messages come in from outside: their names and numbers."""
        return {self.edges[edge]: edge for edge, source in enumerate(self.sources) if source == NO_NODE}

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The edges on which messages leave the graph: their names and numbers."""
        return {self.edges[edge]: edge for edge, target in enumerate(self.targets) if target == NO_NODE}

    @cached_property
    def endless(self) -> bool:
        """Whether a summary may lead to times that fall without end (`progress.normal_form.endless`)."""
        distinct = {id(summary): summary for summary in self.summaries if summary is not None}
        return any(summary.endless for summary in distinct.values())

    @cached_property
    def drifts(self) -> Drifts:
        """The drift of every edge's summary."""
        return drifts(self.summaries)

    @cached_property
    def advancing(self) -> frozenset[int]:
        """The edges within strongly connected components on which every time rises: that is where cycles begin anew."""
        kinds, known = self.drifts
        found = set()
        for edge, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            if NO_NODE in (source, target) or self.component[source] != self.component[target]:
                continue
            drift = known[kinds[edge]]
            if drift is not None and drift.falls_nowhere and not drift.is_still:
                found.add(edge)
        return frozenset(found)

    @cached_property
    def component(self) -> list[int]:
        """The strongly connected component of each node, so that edges between components lead to lower numbers."""
        internal = [
            (source, target)
            for source, target in zip(self.sources, self.targets, strict=True)
            if source != NO_NODE and target != NO_NODE
        ]
        return component_numbers(
            len(self.nodes), [source for source, _ in internal], [target for _, target in internal]
        )

    @cached_property
    def component_sizes(self) -> list[int]:
        """How many nodes each component has."""
        sizes = [0] * len(self.nodes)
        for component in self.component:
            sizes[component] += 1
        return sizes

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each location."""
        return {name: number for number, name in enumerate((*self.nodes, *self.edges))}

    def number(self, name: object) -> int:
        """The number of the location called `name`; refused when there is none."""
        found = self.numbers.get(name) if isinstance(name, str) else None
        if found is None:
            raise PointstampError("PS502", f"there is no location {brief(name)}", one_of_the_graph(name, self.numbers))
        return found

    def name(self, location: int) -> str:
        """The name of a location."""
        count = len(self.nodes)
        return self.nodes[location] if location < count else self.edges[location - count]

    def domain(self, location: int) -> Domain:
        """The domain of a location's times."""
        count = len(self.nodes)
        return self.domains[location] if location < count else self.edge_domains[location - count]

    def pointstamp(self, pointstamp: object) -> tuple[int, Any]:
        """The numbered form of a pair of location and time; refused when it is not a pair or either does not exist."""
        if not isinstance(pointstamp, tuple) or len(pointstamp) != 2:
            raise PointstampError(
                "PS501", f"{brief(pointstamp)} is not a pointstamp", "a pair of a location and a time"
            )
        location, time = pointstamp
        number = self.number(location)
        found = as_time(self.domain(number), time)
        if found is NO_TIME:
            raise PointstampError(
                "PS503", f"{brief(time)} is not a time at {brief(location)}", right_time(time, self.domain(number))
            )
        return number, found

    def successors(self, location: int) -> list[tuple[int, Summary | None]]:
        """Where one step leads (Definition 2): from an edge to its destination, from a node to its outgoing edges."""
        count = len(self.nodes)
        if location >= count:
            target = self.targets[location - count]
            return [] if target == NO_NODE else [(target, None)]
        return [(count + edge, self.summaries[edge]) for edge in self.outgoing[location]]
