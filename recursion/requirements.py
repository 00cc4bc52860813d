"""What the paper requires of a graph with calls, each requirement with a witness where it is not met (A&I 3.4).

* every node is reachable from `in` (PS411),
* `out` is reachable from every node (PS412),
* a path leads from `in` to `out` without a call (PS413),
* nothing enters `in` and nothing leaves `out` (PS414).

Of several graphs that call each other each has to meet the first two and the last by itself. The third asks of them
together that every call can return: that a path leads from `in` to `out` by calls that are known to return already.
Where there are no epochs, no edge joins the graph to the outside (PS415); and no edge joins two of the graphs (PS416).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from progress.errors import brief
from progress.topology import NO_NODE
from recursion.call_graph import CallGraph
from recursion.stack import Call, Procedure

MOST_PLACES = 20  # at which one requirement is reported
MOST_NAMES = 100  # in a witness


class Unmet(NamedTuple):
    """A requirement that is not met: the node or edge as it was written, what is wrong, what would be right."""

    code: str
    origin: str
    message: str
    hint: str
    witness: Mapping[str, Any]


def unmet(graph: CallGraph) -> list[Unmet]:
    """Every requirement that is not met, each at the first places. Cost: O(nodes * graphs + edges)."""
    searches = (_unreachable, _without_way_out, _endless, _at_the_ends)
    return [found for search in searches for found in islice(search(graph), MOST_PLACES)]


def _unreachable(graph: CallGraph) -> Iterator[Unmet]:
    reached = 0
    returns = {call.returns for call in graph.calls}
    for procedure in graph.procedures.values():
        reached |= graph.reach[procedure.entrance]
    entrances = ", ".join(brief(graph.nodes[procedure.entrance]) for procedure in graph.procedures.values())
    for node, name in enumerate(graph.nodes):
        origin = graph.origin[name]
        if not reached >> node & 1 and node not in returns:
            leading = [other for other, bits in zip(graph.nodes, graph.reach, strict=True) if bits >> node & 1]
            yield Unmet(
                "PS411",
                origin,
                f"no path leads from {entrances} to {brief(origin)}",
                "lead an edge to it, or remove it",
                {"node": origin, "reached_from": sorted({graph.origin[other] for other in leading})[:MOST_NAMES]},
            )


def _without_way_out(graph: CallGraph) -> Iterator[Unmet]:
    returns = {call.returns for call in graph.calls}
    for node, name in enumerate(graph.nodes):
        origin = graph.origin[name]
        exits = [
            procedure.exit
            for procedure in graph.procedures.values()
            if len(graph.procedures) == 1 or procedure is graph.within[node]
        ]
        if node not in returns and not any(graph.reach[node] >> exit & 1 for exit in exits):
            reaches = [other for number, other in enumerate(graph.nodes) if graph.reach[node] >> number & 1]
            yield Unmet(
                "PS412",
                origin,
                f"no path leads from {brief(origin)} to {', '.join(brief(graph.nodes[exit]) for exit in exits)}",
                "lead an edge from it, or remove it",
                {"node": origin, "reaches": sorted({graph.origin[other] for other in reaches})[:MOST_NAMES]},
            )


def _endless(graph: CallGraph) -> Iterator[Unmet]:
    """Procedures from whose `in` no path leads to `out` by calls that return."""
    returning = returning_paths(graph)
    for procedure in graph.procedures.values():
        if procedure not in returning:
            origin = graph.origin[graph.nodes[procedure.entrance]]
            exit = graph.nodes[procedure.exit]
            crossed = list(procedure.calls) if graph.reach[procedure.entrance] >> procedure.exit & 1 else []
            yield Unmet(
                "PS413",
                origin,
                f"no path leads from {brief(origin)} to {brief(exit)} without a call"
                + ("" if len(graph.procedures) == 1 else " that may never return"),
                "add a path for the case in which nothing is called",
                {"in": origin, "out": exit, "calls": crossed[:MOST_NAMES]},
            )


def returning_paths(graph: CallGraph) -> dict[Procedure, list[int]]:
    """For each procedure that can return the nodes of a path from `in` to `out`, whose calls return sooner.

    A search from every `in` at once; at a call it goes on when what is called has got to its `out`. Cost: O(edges),
    for each procedure whose `in` leads there.
    """
    calls = {call.call: call for call in graph.calls}
    before = {procedure: {procedure.entrance: NO_NODE} for procedure in graph.procedures.values()}
    pending = deque((procedure, procedure.entrance) for procedure in before)
    waiting: dict[Procedure, list[tuple[Procedure, Call]]] = {}
    paths: dict[Procedure, list[int]] = {}

    def arrive(procedure: Procedure, node: int, target: int) -> None:
        if target not in before[procedure] and graph.reach[target] >> procedure.exit & 1:
            before[procedure][target] = node
            pending.append((procedure, target))

    while pending:
        procedure, node = pending.popleft()
        if node == procedure.exit:
            path = paths[procedure] = [node]
            while path[-1] != procedure.entrance:
                path.append(before[procedure][path[-1]])
            path.reverse()
            for other, call in waiting.pop(procedure, ()):
                arrive(other, call.call, call.returns)
        found = calls.get(node)
        if found is not None and found.enters in paths:
            arrive(procedure, node, found.returns)
        elif found is not None:
            waiting.setdefault(found.enters, []).append((procedure, found))
        for edge in graph.leaving[node]:
            arrive(procedure, node, graph.targets[edge])
    return paths


def _at_the_ends(graph: CallGraph) -> Iterator[Unmet]:
    entrances = {body.entrance for body in graph.bodies.values()}
    exits = {body.exit for body in graph.bodies.values()}
    for edge, (name, source, target) in enumerate(graph.given_edges):
        inside = source is not None and target is not None
        outside = graph.epochs is None and not inside
        if target in entrances and (inside or graph.epochs is None):
            what = f"the edge {brief(name)} enters {brief(target)}"
            yield Unmet("PS414", name, what, "only calls begin there: enter a node after it", {"edge": name})
        elif source in exits and (inside or graph.epochs is None):
            what = f"the edge {brief(name)} leaves {brief(source)}"
            yield Unmet("PS414", name, what, "only calls end there: leave a node before it", {"edge": name})
        elif outside:
            yield Unmet(
                "PS415",
                name,
                f"the edge {brief(name)} joins the graph to the outside, and no epochs tell its calls apart",
                "time: {product: [nat, stack]} at the top, or an edge between two nodes",
                {"edge": name},
            )
        elif inside and graph.within[graph.sources[edge]] is not graph.within[graph.targets[edge]]:
            yield Unmet(
                "PS416",
                name,
                f"the edge {brief(name)} joins two graphs, that of {brief(graph.within[graph.sources[edge]].name)} "
                f"and that of {brief(graph.within[graph.targets[edge]].name)}",
                "remove it: graphs meet in calls alone",
                {"edge": name},
            )
