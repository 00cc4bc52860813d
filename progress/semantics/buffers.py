"""Buffer nodes (A&I 2.2): relays between two queues, which separate a node's step from the arrival of what it sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from progress.errors import PointstampError, brief
from progress.local_history import Event, Message, NodeBehaviour, Received
from progress.normal_form.declared import Identity
from progress.normal_form.generic import GenericSummary
from progress.normal_form.layout import layout_of
from progress.order import Domain
from progress.semantics.buffered_relation import Buffered
from progress.semantics.system import System
from progress.summary import NormalSummary, OpaqueSummary, Summary
from progress.topology import NO_NODE, Network


class Buffer:
    """A buffer node: g1(s, t) = (s, {}, nothing), g1(s, (e1, m)) = (s, {}, e2: m).

    Examples
    --------
    >>> from pointstamp import Message, Received
    >>> from progress.semantics import Buffer
    >>> Buffer("a->out").step(None, Received("in->a", Message(3)))
    (None, (), {'a->out': (Message(time=3, value=None),)})
    """

    def __init__(self, leaving: str) -> None:
        self.leaving = leaving

    def initial(self) -> Iterable[tuple[None, Iterable[Any]]]:
        """One state, no requests."""
        return [(None, ())]

    def step(self, state: None, event: Event) -> tuple[None, Iterable[Any], Mapping[str, Iterable[Message]]]:
        """Messages are passed on, notifications ignored."""
        return state, (), {self.leaving: (event.message,)} if isinstance(event, Received) else {}


class _Redirected:
    """A node whose outgoing edges have other names than its code knows."""

    def __init__(self, node: NodeBehaviour, names: Mapping[str, str]) -> None:
        self.node = node
        self.names = names

    def initial(self) -> Iterable[tuple[Any, Iterable[Any]]]:
        return self.node.initial()

    def step(self, state: Any, event: Event) -> tuple[Any, Iterable[Any], Mapping[str, Iterable[Message]]]:
        after, requests, sent = self.node.step(state, event)
        return after, requests, {self.names.get(edge, edge): messages for edge, messages in sent.items()}


def with_buffers(system: System, edges: Iterable[str] | None = None) -> System:
    """The system with a buffer node at the beginning of each of these edges, by default of each that has a source.

    An edge keeps its name and its destination; what its source sends goes to the buffer on `EDGE, unsent`. With buffers
    on all of them, it behaves as the asynchronous semantics does (`progress.semantics.asynchronous`). A graph with
    calls goes on to decide could-result-in by the order of stacks (`progress.semantics.buffered_relation`).

    Returns
    -------
    Another system; this one where there is nothing to buffer.

    Raises
    ------
    PointstampError
        PS502 where one of the edges does not leave a node.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, System, with_buffers
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> with_buffers(system).network().edges
    ['in->a', 'a->out', 'a->out, unsent']
    """
    network = system.network()
    wanted = [edge for edge, source in zip(network.edges, network.sources, strict=True) if source != NO_NODE]
    edges = None if edges is None else list(edges)
    for edge in edges or ():
        if edge not in wanted:
            raise PointstampError("PS502", f"there is no edge {brief(edge)} that leaves a node", "name one that does")
    chosen = wanted if edges is None else [edge for edge in wanted if edge in set(edges)]
    if not chosen:
        return system
    nodes, domains, requests = list(network.nodes), list(network.domains), list(network.requests)
    notifies, names, sources = list(network.notifies), list(network.edges), list(network.sources)
    targets, edge_domains, summaries = list(network.targets), list(network.edge_domains), list(network.summaries)
    code: dict[str, NodeBehaviour] = {
        name: _Redirected(node, {edge: unsent(edge) for edge in chosen}) for name, node in system.nodes.items()
    }
    for edge in chosen:
        place = names.index(edge)
        domain, same = edge_domains[place], identity(edge_domains[place])
        nodes.append(f"buffer of {edge}")
        code[nodes[-1]] = Buffer(edge)
        domains.append(domain)
        requests.append(same)
        notifies.append(False)
        names.append(unsent(edge))
        sources.append(sources[place])
        targets.append(len(nodes) - 1)
        edge_domains.append(domain)
        summaries.append(summaries[place])
        sources[place], summaries[place] = len(nodes) - 1, same
    relation = None
    if network.relation is not None:
        count, behind = len(network.nodes), len(nodes)
        starts = {edge: place for place, edge in enumerate(chosen)}
        relation = Buffered(
            network,
            {
                edge: (behind + len(network.edges) + starts[name], count + starts[name], behind + edge)
                for edge, name in enumerate(network.edges)
                if name in starts
            },
        )
    whole = Network(nodes, domains, requests, notifies, names, sources, targets, edge_domains, summaries, relation)
    return System(whole, code, system.queued, system.arrivals)


def unsent(edge: str) -> str:
    """The name of the edge from a node to the buffer of one of its edges."""
    return f"{edge}, unsent"


def identity(domain: Domain) -> Summary:
    """The summary of a buffer."""
    if layout_of(domain) is None:
        return OpaqueSummary(domain, domain, GenericSummary(Identity(), domain))
    return NormalSummary(domain, domain, Identity().pieces(domain, domain))
