"""How far each node has to go back: the largest consistent choice among what the nodes have kept.

Nodes save their state at different times, some save nothing, some keep what they sent. After a failure each node p is
to stand at a kept set f(p) (`kept_sets.py`), such that for every edge e from p to q

R. f(q) is part of phi_e(f(p)), the times on e in which nothing outside of f(p) can result: else q would keep what p is
   going to compute anew, perhaps otherwise. Not asked where p repeats itself.
D. a message that p sent at a time in f(p) was consumed by q at a time in f(q), or is logged: else p would not send
   it again, and q would not have it.

Law: if the kept sets of each node are closed under union there is a greatest choice, since choices are: R and D hold
for the union of two choices where they hold for both. It is found from the top: whatever breaks R or D lowers one
node, to the largest of its kept sets that does not; what is lowered never has to rise. Which edge lowered a node, and
what broke there, is the proof that it could not stay. In frontiers phi is the edge's summary, applied to each time.

Cost: linear in what is kept and in the messages for nodes whose kept sets are chains: each kept set is left at most
once, and each message found its place in the two chains once. Choosing among sets that are not closed under union is
refused (PS636): there may be several largest choices, and to find one with a given set at a node is as hard as
satisfying clauses of three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief, one_of
from progress.order import NO_TIME, Domain, as_time, times_of
from progress.recovery.kept_sets import Chain, Frontier, Keeps, has, kept_sets
from progress.topology import NO_NODE, Network, Topology, network_of


class Message(NamedTuple):
    """A message that its sender has not logged: when it was sent, its time on the edge, whether it was taken.

    Examples
    --------
    >>> from progress.recovery.rollback import Message
    >>> Message(sent=2, time=3).consumed
    True
    """

    sent: Any
    time: Any
    consumed: bool = True


class Fall(NamedTuple):
    """A step of the proof: a node falls from one frontier to another, because of what broke on an edge.

    rule : "R" or "D"
    because : for R, a time on the edge at which something may come again; for D, the message that would be lost
    cause : the node at the other end, and a time that is not in its set: the reason
    """

    node: str
    before: Frontier
    after: Frontier
    rule: str
    edge: str
    because: Any
    cause: tuple[str, Any] | None

    def __str__(self) -> str:
        edge = brief(self.edge)
        if self.rule == "R":
            why = f"what comes on {edge} at or after {brief(self.because)} may be computed otherwise"
        elif self.because.consumed:
            why = f"its message on {edge} at {brief(self.because.time)} has to be consumed again, and is not logged"
        else:
            why = f"its message on {edge} at {brief(self.because.time)} was not consumed, and is not logged"
        return f"{brief(self.node)} goes back from {_shown(self.before)} to {_shown(self.after)}: {why}"


def _shown(frontier: Frontier) -> str:
    return "where it stands" if frontier == () else "before " + " and ".join(map(brief, frontier))


class RollBack(NamedTuple):
    """The greatest consistent choice.

    frontiers : of each node, the frontier of the set at which it is to stand
    falls : every step from what is kept to that choice, in order: the proof that no larger one is consistent
    lost : messages on input edges, which nobody sends again, that a node would have to consume again
    network : the graph
    """

    frontiers: Mapping[str, Frontier]
    falls: tuple[Fall, ...]
    lost: tuple[tuple[str, Message], ...]
    network: Network

    def why(self, node: str, time: Any) -> list[Fall]:
        """Why a time cannot be kept: the fall that took it away, and what caused that, back to what was never kept.

        Empty where the time is kept, or was in none of the node's kept sets. Cost: O(falls).
        """
        found: list[Fall] = []
        _check_node(self.network, node)
        wanted: tuple[str, Any] | None = (node, _time(node, self.network.domains[self.network.number(node)], time))
        for fall in reversed(self.falls):
            if wanted is None:
                break
            name, at = wanted
            domain = self.network.domains[self.network.number(name)]
            if fall.node == name and has(domain, fall.before, at) and not has(domain, fall.after, at):
                found.append(fall)
                wanted = fall.cause
        return found


def roll_back(
    graph: Topology, keeps: Mapping[str, Keeps], messages: Mapping[str, Iterable[Message]] | None = None
) -> RollBack:
    """Where each node is to stand after a failure.

    Parameters
    ----------
    graph : any graph with `network()`
    keeps : what each node keeps; nodes that are not named keep nothing
    messages : by edge, what its sender has not logged. What lies on an input edge comes from outside: `sent` is not
        looked at, and what would have to come again is `lost`.

    Returns
    -------
    The greatest consistent choice.

    Raises
    ------
    PointstampError
        PS635 for names and times that the graph does not have, PS636 where there may be several largest choices.

    Examples
    --------
    >>> from graphs import Graph
    >>> graph = Graph().node("a").node("b").edge(None, "a", "in").edge("a", "b", "ab").edge("b", None, "out")
    >>> kept = {"a": Keeps.states([[2]]), "b": Keeps.states([[2], [5]])}
    >>> found = roll_back(graph, kept)
    >>> dict(found.frontiers)
    {'a': (2,), 'b': (2,)}
    >>> print(found.why("b", 4)[0])
    'b' goes back from before 5 to before 2: what comes on 'ab' at or after 2 may be computed otherwise
    """
    network = network_of(graph)
    _check_keeps(keeps)
    return _RollingBack(network, keeps, _messages(messages or {})).run()


def _check_keeps(given: object) -> None:
    if not isinstance(given, Mapping) or not all(isinstance(kept, Keeps) for kept in given.values()):
        right = 'a mapping from nodes to Keeps: {"a": Keeps.states([[3], [6]]), "b": Keeps.nothing()}'
        raise PointstampError("PS635", f"{brief(given)} does not say what nodes keep", right)


def _messages(given: object) -> dict[str, list[Message]]:
    """The messages by edge; PS635 for anything else."""
    found: dict[str, list[Message]] = {}
    right = "a mapping from edges to lists of Message(sent, time, consumed), of progress.recovery.rollback"
    if not isinstance(given, Mapping):
        raise PointstampError("PS635", f"{brief(given)} are not messages by edge", right)
    for edge, messages in given.items():
        if isinstance(messages, Message) or not isinstance(messages, Iterable):
            raise PointstampError("PS635", f"{brief(messages)} are not messages on {brief(edge)}", right)
        found[edge] = [*messages]
        for message in found[edge]:
            if not isinstance(message, Message):
                raise PointstampError("PS635", f"{brief(message)} is not a message on {brief(edge)}", right)
    return found


class _Edge(NamedTuple):
    """An edge, with what its sender has not logged; `kept` is in the target's set, the latest last for a chain."""

    name: str
    number: int
    source: int
    target: int
    messages: list[Message]
    kept: list[Message]

    def unconsumed(self) -> list[Message]:
        """Those that nobody has taken."""
        return [message for message in self.messages if not message.consumed]


class _RollingBack:
    def __init__(self, network: Network, keeps: Mapping[str, Keeps], messages: Mapping[str, Iterable[Message]]) -> None:
        self.network = network
        for name in keeps:
            _check_node(network, name)
        for name in messages:
            if network.numbers.get(name, 0) < len(network.nodes):
                raise PointstampError("PS635", f"the graph has no edge {brief(name)}", one_of(name, network.edges))
        self.keeps = [keeps.get(name, Keeps.nothing()) for name in network.nodes]
        self.sets = [
            kept_sets(name, domain, kept)
            for name, domain, kept in zip(network.nodes, network.domains, self.keeps, strict=True)
        ]
        self.falls: list[Fall] = []
        self.edges = [self._edge(number, messages.get(name, ())) for number, name in enumerate(network.edges)]
        self.waiting: deque[int] = deque(range(len(network.nodes)))  # nodes whose edges are to be looked at
        self.is_waiting = [True] * len(network.nodes)

    def _edge(self, number: int, given: Iterable[Message]) -> _Edge:
        network = self.network
        name, source, target = network.edges[number], network.sources[number], network.targets[number]
        found = []
        for sent, time, consumed in given:
            at = _time(name, network.edge_domains[number], time)
            if source != NO_NODE:
                sent = _time(network.nodes[source], network.domains[source], sent)
            found.append(Message(sent, at, consumed))
        kept = [message for message in found if message.consumed and target != NO_NODE]
        chain = self.sets[target] if target != NO_NODE else None
        if isinstance(chain, Chain):
            kept.sort(key=lambda message: chain.first_with(message.time))
        return _Edge(name, number, source, target, found, kept)

    def run(self) -> RollBack:
        """Lower nodes until nothing breaks."""
        network = self.network
        while self.waiting:
            node = self.waiting.popleft()
            self.is_waiting[node] = False
            for number in network.outgoing[node]:
                self._keep_rule_r(self.edges[number])
                self._keep_rule_d(self.edges[number])
            for number in network.incoming[node]:
                self._keep_rule_d(self.edges[number])
        frontiers = {name: kept.current for name, kept in zip(network.nodes, self.sets, strict=True)}
        lost = tuple(
            (edge.name, message)
            for edge in self.edges
            if edge.source == NO_NODE
            for message in edge.messages
            if message.consumed and not has(network.domains[edge.target], self.sets[edge.target].current, message.time)
        )
        return RollBack(frontiers, tuple(self.falls), lost, network)

    def _keep_rule_r(self, edge: _Edge) -> None:
        """What the source computes anew may come otherwise: the target keeps nothing at or after it."""
        if edge.target == NO_NODE or self.keeps[edge.source].repeats:
            return
        summary = self.network.summaries[edge.number]
        assert summary is not None
        domain, kept = self.network.domains[edge.target], self.sets[edge.target]
        for low in self.sets[edge.source].current:
            for after in summary.apply(low):
                before = kept.current
                if has(domain, before, after):
                    kept.fall_below(after)
                    self._fell(edge.target, before, "R", edge.name, after, (self.network.nodes[edge.source], low))

    def _keep_rule_d(self, edge: _Edge) -> None:
        """What the source has sent and not logged is where the target keeps it, or the source sends it again."""
        if edge.source == NO_NODE or self.keeps[edge.source].logs:
            return
        missing = [(message, None) for message in edge.unconsumed()] + [
            (message, (self.network.nodes[edge.target], message.time)) for message in self._no_more_kept(edge)
        ]
        domain, kept = self.network.domains[edge.source], self.sets[edge.source]
        for message, cause in missing:
            before = kept.current
            if has(domain, before, message.sent):
                kept.fall_below(message.sent)
                self._fell(edge.source, before, "D", edge.name, message, cause)

    def _no_more_kept(self, edge: _Edge) -> list[Message]:
        """The messages that have left the target's set since this was asked before."""
        if edge.target == NO_NODE:
            return []
        domain, kept = self.network.domains[edge.target], self.sets[edge.target]
        found = []
        if isinstance(kept, Chain):
            while edge.kept and not has(domain, kept.current, edge.kept[-1].time):
                found.append(edge.kept.pop())
            return found
        still = [message for message in edge.kept if has(domain, kept.current, message.time)]
        found = [message for message in edge.kept if not has(domain, kept.current, message.time)]
        edge.kept[:] = still
        return found

    def _fell(
        self, node: int, before: Frontier, rule: str, edge: str, because: Any, cause: tuple[str, Any] | None
    ) -> None:
        self.falls.append(Fall(self.network.nodes[node], before, self.sets[node].current, rule, edge, because, cause))
        if not self.is_waiting[node]:
            self.is_waiting[node] = True
            self.waiting.append(node)


def _check_node(network: Network, name: str) -> None:
    if network.numbers.get(name, len(network.nodes)) >= len(network.nodes):
        raise PointstampError("PS635", f"the graph has no node {brief(name)}", one_of(name, network.nodes))


def _time(name: str, domain: Domain, given: Any) -> Any:
    time = as_time(domain, given)
    if time is NO_TIME:
        raise PointstampError("PS635", f"{brief(given)} is not a time at {brief(name)}", times_of(domain))
    return time
