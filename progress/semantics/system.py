"""A system: a graph, its nodes as code, and what may come in (A&I 2, 4.2). `beginnings` is InitProp.

Nodes are `progress.local_history.NodeBehaviour`: `initial()` is Initial(p), `step()` is g1(p). In the paper any message
may come in at any time; here, `queued` says what lies on input edges at the start, and `arrivals` what else may come,
each message once, in any order. That, and nodes with finitely many states, makes a finite system.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.local_history import Event, History, Message, NodeBehaviour, beginnings, is_hashable, step
from progress.order import NO_TIME, as_time
from progress.purity import alike, refused
from progress.semantics.state import Names, Queue, State, held, released
from progress.topology import Network, Topology, network_of


class Reaction(NamedTuple):
    """What g1(p) gives: the next local state, the times requested, the messages sent on each edge, by its number."""

    local: Hashable
    requested: frozenset[Any]
    sent: tuple[tuple[int, Queue], ...]


class System:
    """A graph with a node as code for each of its nodes.

    Parameters
    ----------
    graph : any graph with `network()`
    nodes : the code of each node, by name
    queued : messages on input edges at the start; several such mappings where there are several ways to begin
    arrivals : for an input edge, the messages that the outside has for it, each of which may come once

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, System
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> next(system.beginnings())
    in->a: 0
    """

    def __init__(
        self,
        graph: Topology,
        nodes: Mapping[str, NodeBehaviour],
        queued: Mapping[str, Iterable[Message]] | Sequence[Mapping[str, Iterable[Message]]] = (),
        arrivals: Mapping[str, Iterable[Message]] | None = None,
    ) -> None:
        network = self._network = network_of(graph)
        self.names = Names(network.nodes, network.edges)
        for name in (*nodes, *(name for name in network.nodes if name not in nodes)):
            if name not in self.names.node or name not in nodes:
                right = "give every node its code" if name in self.names.node else "name a node of the graph"
                raise PointstampError("PS502", f"there is no {_missing(name, nodes)} {brief(name)}", right)
        self.nodes = dict(nodes)
        self.inputs = tuple(network.inputs.values())
        self.outputs = tuple(network.outputs.values())
        ways = [queued] if isinstance(queued, Mapping) else list(queued) or [{}]
        self.queued = [{name: tuple(messages) for name, messages in way.items()} for way in ways]
        self.arrivals = {name: tuple(messages) for name, messages in (arrivals or {}).items()}
        self._queued = [self._on_inputs(way) for way in self.queued]
        self._arrivals = self._on_inputs(self.arrivals)
        self._known: dict[tuple[int, Hashable, Event], Reaction] = {}

    def network(self) -> Network:
        """A system is the topology of its graph."""
        return self._network

    def beginnings(self) -> Iterator[State]:
        """InitProp: nothing on internal and output edges; every node in a state of Initial(p), with its requests."""
        starts = [
            [
                (held(start.state), self._requests(number, start.requests))
                for start in beginnings(self.nodes[name], name)
            ]
            for number, name in enumerate(self.names.nodes)
        ]
        coming = tuple(tuple(sorted(queue, key=partial(self.sort_key, e))) for e, queue in enumerate(self._arrivals))
        for queues in self._queued:
            for choice in product(*starts):
                local = tuple(state for state, _ in choice)
                yield State(self.names, queues, local, tuple(requests for _, requests in choice), coming)

    def react(self, node: int, local: Hashable, event: Event) -> Reaction:
        """g1(p)(s, x), each computed twice, to see that it is a function (PS615), and then kept.

        What the node's code raises passes on, with a note that says where.
        """
        key = node, local, event
        found = self._known.get(key)
        if found is None:
            name, state = self.names.nodes[node], released(local)
            before = partial(History, state, frozenset())
            outcome = step(self.nodes[name], state, event, before, name)
            if not alike(outcome, step(self.nodes[name], state, event, before, name)):
                raise refused(name, f"does not do the same each time it is given {brief(event)}")
            sent = [(self._leaving(node, edge), messages) for edge, messages in outcome.sent.items()]
            sent.sort()
            found = self._known[key] = Reaction(
                held(outcome.state),
                self._requests(node, outcome.requests),
                tuple((edge, tuple(self._message(edge, message) for message in queue)) for edge, queue in sent),
            )
        return found

    def sort_key(self, edge: int, message: Message) -> Any:
        """A key that orders messages on an edge, times first."""
        return self._network.edge_domains[edge].sort_key(message.time), repr(message.value)

    def _on_inputs(self, given: Mapping[str, Iterable[Message]]) -> tuple[Queue, ...]:
        queues: list[Queue] = [()] * len(self.names.edges)
        for name, messages in given.items():
            edge = self.names.edge.get(name)
            if edge not in self.inputs or edge is None:
                raise PointstampError("PS502", f"there is no input edge {brief(name)}", "name an edge without a source")
            queues[edge] = tuple(self._message(edge, message) for message in messages)
        return tuple(queues)

    def _leaving(self, node: int, name: str) -> int:
        edge = self.names.edge.get(name)
        if edge is None or self._network.sources[edge] != node:
            what = f"{self.names.nodes[node]!r} sends on {brief(name)}, which is not an edge that leaves it"
            raise PointstampError("PS502", what, "name an edge that leaves the node")
        return edge

    def _message(self, edge: int, message: Message) -> Message:
        name, domain = self.names.edges[edge], self._network.edge_domains[edge]
        if not hasattr(message, "time") or not is_hashable(message):
            raise PointstampError("PS503", f"{brief(message)} is not a message for {name!r}", "Message(time, value)")
        time = as_time(domain, message.time)
        if time is NO_TIME:
            raise PointstampError("PS503", f"{brief(message.time)} is not a time at {name!r}", f"a time of {domain!r}")
        return message if time is message.time else message._replace(time=time)

    def _requests(self, node: int, times: Iterable[Any]) -> frozenset[Any]:
        name, domain = self.names.nodes[node], self._network.domains[node]
        found = frozenset(as_time(domain, time) for time in times)
        if found and (NO_TIME in found or not self._network.notifies[node]):
            right = f"times of {domain!r}" if self._network.notifies[node] else "the graph says that it never asks"
            raise PointstampError("PS503", f"{name!r} asks for a notification that cannot be", right)
        return found


def _missing(name: str, nodes: Mapping[str, NodeBehaviour]) -> str:
    return "node" if name in nodes else "code for"
