"""What a graph says of itself to others, so that two are joined without looking into either (A&I 3.2, 4.3).

Condition 2 is not local: each of two graphs may keep it, and the whole made of both may not. An `Interface` is a
contract by which it can be judged all the same. It has the edges to the outside with their domains, and in it each
graph says, of nothing but these,

* `passes`: what becomes of a time from an input edge to an output edge, the summary of all ways between them;
* `inside`: for nodes within, what becomes of a time on the way there from the inputs, and from there to the outputs.
  Nodes have no names in it, and those of which the same is true are one.

Why that is enough: where Condition 2 holds in each graph alone, every cycle of the whole that breaks it crosses the
border. It passes some node p, from where it leads to an output, through both graphs by ways between inputs and outputs,
and from an input back to p; so it is a cycle of the graph that is made of both contracts, and each of that one's is a
closed walk of the whole. Ways over a location twice add nothing: they are no earlier than those without the round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from progress.conditions import Condition2, check_conditions
from progress.errors import PointstampError, brief
from progress.normal_form.layout import layout_of
from progress.order import Domain
from progress.semantics.buffers import identity
from progress.semantics.joining import join_networks
from progress.summary import NormalSummary, Summary
from progress.topology import NO_NODE, Network, Topology, network_of

MOST_PIECES = 5_000
Ways = Mapping[str, NormalSummary]  # by the name of an edge


class Inside(NamedTuple):
    """A node within, without its name: its domain, the ways to it from inputs, and from it to outputs."""

    domain: Domain
    enters: Ways
    leaves: Ways


class Interface(NamedTuple):
    """What a graph says of itself. `condition_2` is of the graph alone.

    Examples
    --------
    >>> from pointstamp import Graph
    >>> from progress.semantics import interface_of
    >>> left = Graph().node("a").edge(None, "a", "in").edge("a", None, "shared")
    >>> right = Graph().node("b").edge(None, "b", "shared").edge("b", None, "out")
    >>> [*interface_of(left).inputs], [*interface_of(left).outputs]
    (['in'], ['shared'])
    """

    inputs: Mapping[str, Domain]
    outputs: Mapping[str, Domain]
    passes: Mapping[tuple[str, str], NormalSummary]
    inside: tuple[Inside, ...]
    condition_2: Condition2

    def network(self) -> Network:
        """The contract as a graph: a node for each edge to the outside, and one for each that is said to be inside."""
        built = _Built()
        for edge, domain in self.inputs.items():
            built.edge(edge, None, built.node(f"of {edge}", domain), identity(domain), domain)
        for edge, domain in self.outputs.items():
            built.edge(edge, built.node(f"to {edge}", domain), None, identity(domain), domain)
        for (start, end), way in self.passes.items():
            built.between(f"of {start}", f"to {end}", way)
        for number, (domain, enters, leaves) in enumerate(self.inside):
            name = f"inside, between {', '.join(enters)} and {', '.join(leaves)}, {number}"
            built.node(name, domain)
            for edge, way in enters.items():
                built.between(f"of {edge}", name, way)
            for edge, way in leaves.items():
                built.between(name, f"to {edge}", way)
        return built.network()


def interface_of(graph: Topology) -> Interface:
    """The contract of a graph. Cost: for each edge to the outside, the graph once for each of its nodes at worst.

    Refused (PS616) where summaries cannot be composed, since they or their domains are of the user's own, or calls.

    Returns
    -------
    What becomes of times between the edges to the outside, and on the way to and from nodes within.

    Examples
    --------
    >>> from pointstamp import Graph
    >>> from progress.semantics import interface_of
    >>> left = Graph().node("a").edge(None, "a", "in").edge("a", None, "shared")
    >>> right = Graph().node("b").edge(None, "b", "shared").edge("b", None, "out")
    >>> interface_of(left).condition_2.holds, [*interface_of(right).passes]
    (True, [('shared', 'out')])
    """
    network = network_of(graph)
    _check(network)
    inputs, outputs = network.inputs, network.outputs
    to = {name: _ways(network, edge, True) for name, edge in inputs.items() if network.targets[edge] != NO_NODE}
    from_ = {name: _ways(network, edge, False) for name, edge in outputs.items() if network.sources[edge] != NO_NODE}
    passes = {
        (start, end): from_[end][network.targets[inputs[start]]]
        for start in to
        for end in from_
        if network.targets[inputs[start]] in from_[end]
    }
    inside: dict[object, Inside] = {}
    for node, domain in enumerate(network.domains):
        enters = {edge: ways[node] for edge, ways in to.items() if node in ways}
        leaves = {edge: ways[node] for edge, ways in from_.items() if node in ways}
        if enters and leaves:
            key = (domain, *((edge, frozenset(way.pieces)) for edge, way in (*enters.items(), *leaves.items())))
            inside.setdefault(key, Inside(domain, enters, leaves))
    return Interface(
        {name: network.edge_domains[edge] for name, edge in inputs.items()},
        {name: network.edge_domains[edge] for name, edge in outputs.items()},
        passes,
        tuple(inside.values()),
        check_conditions(network).condition_2,
    )


def condition_2_of_both(first: Interface, second: Interface) -> Condition2:
    """Condition 2 of two graphs joined at the edges they share, by their contracts alone.

    Returns
    -------
    The verdict of `check_conditions` on the whole.

    Examples
    --------
    >>> from pointstamp import Graph
    >>> from progress.semantics import condition_2_of_both, interface_of
    >>> left = Graph().node("a").edge(None, "a", "in").edge("a", None, "shared")
    >>> right = Graph().node("b").edge(None, "b", "shared").edge("b", None, "out")
    >>> condition_2_of_both(interface_of(left), interface_of(right)).holds
    True
    """
    for alone in (first, second):
        if not alone.condition_2.holds:
            return alone.condition_2
    return check_conditions(join_networks(first.network(), second.network())).condition_2


def _check(network: Network) -> None:
    for location, domain in enumerate((*network.domains, *network.edge_domains)):
        if network.relation is not None or layout_of(domain) is None:
            what = f"the times at {brief(network.name(location))} have no summaries that compose"
            raise PointstampError("PS616", what, "join graphs whose domains and summaries are declared, without calls")
    for name, summary in zip(network.edges, network.summaries, strict=True):
        if summary is not None and not isinstance(summary, NormalSummary):
            what = f"the summary of {brief(name)} is one of your own, which does not compose"
            raise PointstampError("PS616", what, "a declared summary says it to others")


def _ways(network: Network, edge: int, onwards: bool) -> dict[int, NormalSummary]:
    """From an input edge to every node, or from every node to an output edge: the summary of all ways.

    As many rounds as there are nodes see every way without a round.
    """
    if onwards:
        found = {network.targets[edge]: _normal(identity(network.edge_domains[edge]))}
    else:
        found = {network.sources[edge]: _normal(network.summaries[edge])}
    new = set(found)
    for _ in network.nodes:
        changed: dict[int, NormalSummary] = {}
        for node in sorted(new):
            for step in network.outgoing[node] if onwards else network.incoming[node]:
                there = network.targets[step] if onwards else network.sources[step]
                if there == NO_NODE:
                    continue
                summary = _normal(network.summaries[step])
                way = found[node].then(summary) if onwards else summary.then(found[node])
                before = changed.get(there) or found.get(there)
                after = way if before is None else _least(before, way)
                if before is None or set(after.pieces) != set(before.pieces):
                    changed[there] = after
        if not changed:
            break
        found |= changed
        new = set(changed)
    return {node: way for node, way in found.items() if way.pieces}


def _least(one: NormalSummary, other: NormalSummary) -> NormalSummary:
    """All that one or the other gives."""
    if len(one.pieces) + len(other.pieces) > MOST_PIECES:
        what = f"a way of more than {MOST_PIECES} pieces leads through the graph"
        raise PointstampError("PS616", what, "fewer or simpler ways between its edges to the outside")
    return NormalSummary(one.source, one.target, (*one.pieces, *other.pieces))


def _normal(summary: Summary | None) -> NormalSummary:
    assert isinstance(summary, NormalSummary)
    return summary


class _Built:
    """A network as it is built."""

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[int, Domain]] = {}
        self.edges: list[tuple[str, int, int, Summary | None, Domain]] = []

    def node(self, name: str, domain: Domain) -> int:
        self.nodes.setdefault(name, (len(self.nodes), domain))
        return self.nodes[name][0]

    def edge(self, name: str, source: int | None, target: int | None, summary: Summary, domain: Domain) -> None:
        ends = NO_NODE if source is None else source, NO_NODE if target is None else target
        self.edges.append((name, *ends, None if source is None else summary, domain))

    def between(self, start: str, end: str, way: NormalSummary) -> None:
        self.edge(f"{start} -> {end}", self.nodes[start][0], self.nodes[end][0], way, self.nodes[end][1])

    def network(self) -> Network:
        domains = [domain for _, domain in self.nodes.values()]
        names, sources, targets, summaries, edge_domains = (list(each) for each in zip(*self.edges, strict=True))
        same = [identity(domain) for domain in domains]
        notifies = [True] * len(domains)
        return Network([*self.nodes], domains, same, notifies, names, sources, targets, edge_domains, summaries)
