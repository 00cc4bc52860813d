"""From a `Graph` back to plain data: the inverse of `graphs.files.reading`, for files and for composed graphs."""

from __future__ import annotations

import json
from typing import Any

from graphs.files.notation import write_domain, write_summary
from graphs.graph import Graph
from progress.normal_form.declared import Identity
from progress.topology import not_a_graph


def to_data(graph: Graph) -> dict[str, Any]:
    """The document of a graph, format 1; `from_data` of it is an equal graph.

    Domains and summaries of the user's own are refused.

    Returns
    -------
    The document, of plain data.

    Raises
    ------
    PointstampError
        PS012, PS013 where a domain or a summary is the user's own; PS617 where it is no graph.

    Examples
    --------
    >>> from pointstamp import from_edges, to_data
    >>> to_data(from_edges([("a", "b")]))["edges"]
    [{'id': 'a->b', 'from': 'a', 'to': 'b'}]
    """
    if not isinstance(graph, Graph):
        raise not_a_graph(graph)
    data: dict[str, Any] = {"pointstamp": 1}
    if graph.name is not None:
        data["name"] = graph.name
    data["time"] = write_domain(graph.time) if graph.recursion is None else graph.time.written()
    if graph.recursion is not None:
        data["recursion"] = graph.recursion.written()
    data["nodes"] = {name: _node(graph, name) for name in graph.nodes}
    data["edges"] = [_edge(graph, name) for name in graph.edges]
    return data


def to_yaml(data: dict[str, Any]) -> str:
    """A document as YAML: a line for each node and edge, every text in quotes, so that no reader takes it otherwise."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in data.items() if key not in ("nodes", "edges")]
    lines.append("nodes:" if data["nodes"] else "nodes: {}")
    lines += [f"  {json.dumps(name)}: {json.dumps(node)}" for name, node in data["nodes"].items()]
    lines.append("edges:" if data["edges"] else "edges: []")
    lines += [f"  - {json.dumps(edge)}" for edge in data["edges"]]
    return "\n".join(lines)


def _node(graph: Graph, name: str) -> dict[str, Any]:
    record = graph.nodes[name]
    node: dict[str, Any] = {}
    if record.domain != graph.time:
        node["time"] = write_domain(record.domain)
    if not isinstance(record.summary, Identity):
        node["summary"] = write_summary(record.summary)
    if record.emits:
        node["emits"] = {edge: write_summary(summary) for edge, summary in record.emits.items()}
    if not isinstance(record.requests, Identity):
        node["requests"] = write_summary(record.requests)
    if record.notifies is not graph.asks_by_default(name):
        node["notify"] = record.notifies
    if record.label is not None:
        node["label"] = record.label
    return node


def _edge(graph: Graph, name: str) -> dict[str, Any]:
    position = graph.edges[name]
    ends = {"id": name, "from": graph.sources[position], "to": graph.targets[position]}
    edge = {key: value for key, value in ends.items() if value is not None}
    if name in graph.edge_times:
        edge["time"] = write_domain(graph.edge_times[name])
    if name in graph.edge_labels:
        edge["label"] = graph.edge_labels[name]
    return edge
