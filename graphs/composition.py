"""Composing two graphs at the edges they share (A&I 4.3).

An output edge of one that is, by its id, an input edge of the other becomes an internal edge of the whole, in both
directions: X12 are the outputs of the first that are inputs of the second, X21 the reverse. All other names are
disjoint.
"""

from __future__ import annotations

from graphs.files.document import quoted
from graphs.graph import Graph
from progress.errors import PointstampError
from progress.topology import not_a_graph


def compose(first: Graph, second: Graph, name: str | None = None) -> Graph:
    """The joined graph. Both ends of a shared edge must agree on its domain. Cost: O(nodes + edges) of both.

    A graph with calls is refused (PS016): its calls would run the whole.

    Returns
    -------
    The joined graph.

    Raises
    ------
    PointstampError
        PS010 where both have a location that they cannot share, PS016 where one has calls, PS401 where the ends of a
        shared edge disagree; PS617 where one is no graph.

    Examples
    --------
    >>> from pointstamp import Graph, compose
    >>> first, second = Graph(), Graph()
    >>> _ = first.node("a")
    >>> _ = first.edge("a", None, "between")
    >>> _ = second.node("b")
    >>> _ = second.edge(None, "b", "between")
    >>> list(compose(first, second).nodes)
    ['a', 'b']
    """
    for graph in (first, second):
        if not isinstance(graph, Graph):
            raise not_a_graph(graph)
        if graph.recursion is not None:
            raise PointstampError(
                "PS016",
                f"the graph {quoted(graph.name or '')} has calls, and calls run a graph as it is",
                "join the graphs in one file, whose recursion names the calls of both",
            )
    whole = Graph(first.time, name)
    for graph in (first, second):
        for node, record in graph.nodes.items():
            if node in whole.nodes:
                raise _taken(node)
            whole.node(
                node, record.domain, record.summary, dict(record.emits), record.requests, record.notifies, record.label
            )
    shared = [edge for edge in first.edges if edge in second.edges]
    for edge in shared:
        _check_joint(first, second, edge)
    for graph, other in ((first, second), (second, first)):
        for edge, position in graph.edges.items():
            if edge in whole.edges:
                continue
            if edge in whole.nodes:
                raise _taken(edge)
            source, target = graph.sources[position], graph.targets[position]
            if edge in shared:
                place = other.edges[edge]
                source, target = source or other.sources[place], target or other.targets[place]
            time = graph.edge_times.get(edge) if edge not in shared else None
            whole.edge(source, target, edge, time, graph.edge_labels.get(edge))
    return whole


def _taken(name: str) -> PointstampError:
    return PointstampError(
        "PS010",
        f"both graphs have the location {quoted(name)}",
        "only edges that leave one and enter the other are shared",
    )


def _check_joint(first: Graph, second: Graph, edge: str) -> None:
    """A shared edge leaves one graph and enters the other, with one domain."""
    one, other = first.edges[edge], second.edges[edge]
    ends = (first.sources[one], first.targets[one], second.sources[other], second.targets[other])
    leaves_first = ends[1] is None and ends[2] is None
    leaves_second = ends[0] is None and ends[3] is None
    if not (leaves_first or leaves_second):
        raise _taken(edge)
    domains = first.domain_of(edge), second.domain_of(edge)
    if domains[0] != domains[1]:
        raise PointstampError(
            "PS401",
            f"the shared edge {quoted(edge)} has times of {domains[0]!r} in one graph, of {domains[1]!r} in the other",
            "give it one domain",
        )
