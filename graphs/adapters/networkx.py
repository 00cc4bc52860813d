"""To and from other forms of graphs: a mapping of predecessors, as `graphlib` takes it, and networkx.

In networkx, attributes of nodes and edges are the keys of the file format.

Node attributes are `time`, `summary`, `emits`, `requests`, `notify`, `label`; edge attributes are `id`, `time`,
`label`, and `summary`, which is what the source emits on this edge. Input and output edges have one end only, which
networkx does not know: they are lists of edge mappings in the graph attributes `inputs` and `outputs`. `time`, `name`
and `recursion` are there too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graphs.files.reading import from_data
from graphs.files.writing import to_data
from graphs.graph import Graph
from progress.errors import PointstampError

if TYPE_CHECKING:
    import networkx

NODE_ATTRIBUTES = ("time", "summary", "requests", "notify", "label")
EDGE_ATTRIBUTES = ("id", "time", "label")


def from_predecessors(predecessors: Mapping[Any, Iterable[Any]], *, time: Any = "nat") -> Graph:
    """The graph in which each node waits for its predecessors, as `graphlib.TopologicalSorter` takes it.

    Nodes ask for notifications and pass times on as they are. A tracker that begins with a request at every node hands
    each out when those before it are delivered, as `graphlib` does. Node names are their text. Cost: O(nodes + edges).
    """
    if not isinstance(predecessors, Mapping):
        raise _not_predecessors(f"the predecessors are {type(predecessors).__name__}")
    pairs: list[tuple[Any, Any]] = []
    nodes: dict[str, Any] = {}

    def node(name: Any) -> str:
        other = nodes.setdefault(str(name), name)
        if other != name:
            raise _not_predecessors(f"the nodes {other!r} and {name!r} have the same text")
        return str(name)

    for name, before in predecessors.items():
        if isinstance(before, str) or not isinstance(before, Iterable):
            raise _not_predecessors(f"the predecessors of {name!r} are {type(before).__name__}")
        pairs += [(node(each), node(name)) for each in dict.fromkeys(before)] or [(None, node(name))]
    graph = Graph(time=time)
    for name in nodes:
        graph.node(name)
    for head, tail in pairs:
        if head is not None:
            graph.edge(head, tail)
    return graph


def _not_predecessors(message: str) -> PointstampError:
    return PointstampError("PS007", message, "a mapping from each node to those before it: {'b': ['a']}")


def from_networkx(source: networkx.Graph[Any]) -> Graph:
    """The graph of a directed networkx (multi)graph. Other attributes are left alone. Cost: O(nodes + edges).

    Node names are their text; a multigraph's keys that are text name its edges.
    """
    if not source.is_directed():
        raise PointstampError("PS007", "the networkx graph is undirected", "a DiGraph or a MultiDiGraph")
    nodes: dict[str, dict[str, Any]] = {}
    for name, attributes in source.nodes(data=True):
        nodes[str(name)] = {key: attributes[key] for key in NODE_ATTRIBUTES if key in attributes}
        nodes[str(name)]["emits"] = dict(attributes.get("emits") or {})
    edges: list[dict[str, Any]] = []
    for head, tail, key, attributes in _edges(source):
        edge = {name: attributes[name] for name in EDGE_ATTRIBUTES if name in attributes}
        edge.update({"from": str(head), "to": str(tail)})
        if "id" not in edge and isinstance(key, str):
            edge["id"] = key
        if "summary" in attributes:
            nodes[str(head)]["emits"][edge.get("id", f"{head}->{tail}")] = attributes["summary"]
        edges.append(edge)
    data = {"pointstamp": 1, "nodes": nodes, "edges": [*source.graph.get("inputs", ()), *edges]}
    data["edges"] += source.graph.get("outputs", ())
    data.update({key: source.graph[key] for key in ("time", "name", "recursion") if source.graph.get(key)})
    return from_data(data)


def _edges(source: networkx.Graph[Any]) -> Any:
    if source.is_multigraph():
        return source.edges(keys=True, data=True)  # type: ignore[call-overload]
    return ((head, tail, None, attributes) for head, tail, attributes in source.edges(data=True))


def to_networkx(graph: Graph) -> networkx.MultiDiGraph[Any]:
    """The inverse of `from_networkx`; edges are keyed by their ids. Cost: O(nodes + edges)."""
    import networkx

    data = to_data(graph)
    target: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph(time=data["time"], name=data.get("name", ""))
    if "recursion" in data:
        target.graph["recursion"] = data["recursion"]
    target.graph["inputs"] = [edge for edge in data["edges"] if "from" not in edge]
    target.graph["outputs"] = [edge for edge in data["edges"] if "to" not in edge]
    for name, node in data["nodes"].items():
        target.add_node(name, **node)
    for edge in data["edges"]:
        if "from" in edge and "to" in edge:
            head, tail, name = edge.pop("from"), edge.pop("to"), edge["id"]
            target.add_edge(head, tail, key=name, **edge)
    return target
