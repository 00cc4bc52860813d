"""A call graph as the engine's `Network`, which answers by the order of stacks instead of by summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from progress.closure import Closure
from progress.conditions import Advancing, Condition1, Condition2, Report, Standstill, Transitivity
from progress.order import Domain
from progress.pointstamp import Pointstamp
from progress.summary import Summary
from progress.topology import NO_NODE, Network
from progress.tracking.own_relation import Workings
from recursion.call_graph import CallGraph
from recursion.closure import CallClosure
from recursion.relation import Relation
from recursion.running_on_frames import CallWorkings
from recursion.stack import Procedure, Stack, shortest_chain
from recursion.steps import steps
from recursion.times import Along, EpochOrder, Pop, Push


class CallRelation:
    """The `OwnRelation` of a call graph that meets the requirements."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.graph = relation.graph

    def proof(self, network: Network, start: tuple[int, Any], end: tuple[int, Any]) -> list[Pointstamp] | None:
        """Distinct neighbouring locations, each related to the next. Cost: O(log depth) where there is no way."""
        (first, before), (last, after) = start, end
        epoch = until = None
        if self.graph.epochs is not None:
            (epoch, before), (until, after) = before, after
            if not self.graph.epochs.less_equal(epoch, until):
                return None
        walk = self.relation.walk(first, before, last, after)
        if walk is None:
            return None
        if self.graph.epochs is None:
            return [Pointstamp(network.name(location), stack) for location, stack in walk]
        if len(walk) == 1 and epoch != until:
            walk = walk * 2
        way = [Pointstamp(network.name(location), (epoch, stack)) for location, stack in walk]
        way[-1] = Pointstamp(way[-1].location, (until, after))
        return way

    def steps(self, network: Network, start: tuple[int, Any], end: tuple[int, Any]) -> Iterator[Pointstamp] | None:
        """The walk from one to the other, step by step; with epochs the last one raises the epoch, where it has to."""
        (first, before), (last, after) = start, end
        if self.graph.epochs is None:
            walk = steps(self.relation, first, before, last, after)
            return None if walk is None else (Pointstamp(network.name(at), stack) for at, stack in walk)
        (epoch, before), (until, after) = before, after
        walk = steps(self.relation, first, before, last, after)
        if walk is None or not self.graph.epochs.less_equal(epoch, until):
            return None
        raised = [] if epoch == until else [Pointstamp(network.name(last), (until, after))]
        return chain((Pointstamp(network.name(at), (epoch, stack)) for at, stack in walk), raised)

    def close(self, network: Network, pointstamps: Iterable[tuple[int, Any]]) -> Closure:
        """Close-up. Cost: O(depth) for each pointstamp, once for common beginnings."""
        return CallClosure(network, self.relation, pointstamps)

    def workings(self, network: Network) -> Workings:
        """What a tracker runs on."""
        return CallWorkings(network, self.relation)

    def conditions(self, network: Network) -> Report:
        """Conditions 1 and 2 hold, and Theorem 1 with them: the order at a location is what could result there.

        A cycle of the alternative graph comes back at the stack at which it began, so it does not advance; nothing else
        can come back there (docs/recursion.md). Cost: O(nodes + edges).
        """
        standstills = tuple(self._standstills(network))
        return Report(
            Condition1(True, ()),
            Condition2(True, ()),
            Transitivity(True, None),
            Advancing(not standstills, standstills),
        )

    def _standstills(self, network: Network) -> Iterator[Standstill]:
        """One for each cycle of the alternative graph that can be run, ending on the edge that leads back."""
        graph = self.graph
        members: dict[int, list[int]] = {}
        for node, component in enumerate(graph.component):
            members.setdefault(component, []).append(node)
        entered: dict[int, dict[Procedure, None]] = {}
        for call in graph.calls:
            entered.setdefault(graph.component[call.call], {})[call.enters] = None
        enters = {
            procedure: {call.enters for call in procedure.calls.values()} for procedure in graph.procedures.values()
        }
        notifying = {procedure for procedure, notifies in zip(graph.within, graph.notifies, strict=True) if notifies}
        for component, nodes in members.items():
            if len(nodes) < 2:
                continue
            start = min(nodes, key=lambda node: (not graph.notifies[node], node))
            calls = shortest_chain(graph.procedures[graph.main], graph.within[start])
            if calls is None:
                continue
            stack = graph.stacks.empty
            for call in calls:
                stack = graph.stacks.push(stack, call)
            walk = self.relation.round(start, stack)[:-1]
            round_ = tuple(Pointstamp(network.name(location), self._time(stack)) for location, stack in walk)
            cycle = tuple(dict.fromkeys(pointstamp.location for pointstamp in round_))
            inside = _all_entered(entered.get(component, ()), enters)
            notifies = any(graph.notifies[node] for node in nodes) or not notifying.isdisjoint(inside)
            yield Standstill(cycle, round_, notifies)

    def _time(self, stack: Stack) -> Any:
        epochs = self.graph.epochs
        return stack if epochs is None else ((*epochs.least(), *epochs.sample())[0], stack)


def network_of(graph: CallGraph) -> Network:
    """The network of a call graph. Cost: O(nodes + edges).

    Returns
    -------
    The network, whose relation is that of stacks.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph, network_of
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> network_of(graph)
    Network(4 nodes, 4 edges)
    """
    relation = Relation(graph)
    orders = [relation.order(location) for location in range(len(graph.nodes) + len(graph.edges))]
    domains: list[Domain] = (
        list(orders) if graph.epochs is None else [EpochOrder(graph.epochs, order) for order in orders]
    )
    count = len(graph.nodes)
    with_epochs = graph.epochs is not None
    summaries: list[Summary | None] = []
    for edge, source in enumerate(graph.sources):
        if source == NO_NODE:
            summaries.append(None)
            continue
        ends = domains[source], domains[count + edge], with_epochs
        if edge in graph.pushes:
            summaries.append(Push(*ends, graph.stacks, graph.pushes[edge]))
        elif edge in graph.pops:
            summaries.append(Pop(*ends, graph.stacks, graph.pops[edge]))
        else:
            summaries.append(Along(*ends))
    return Network(
        graph.nodes,
        domains[:count],
        [Along(domain, domain, with_epochs) for domain in domains[:count]],
        graph.notifies,
        graph.edges,
        graph.sources,
        graph.targets,
        domains[count:],
        summaries,
        CallRelation(relation),
    )


def _all_entered(procedures: Iterable[Procedure], enters: Mapping[Procedure, set[Procedure]]) -> set[Procedure]:
    """These procedures and all that their calls, and the calls in those, enter."""
    found = set(procedures)
    pending = list(found)
    for procedure in pending:
        new = enters[procedure] - found
        found |= new
        pending += new
    return found
