"""To and from other forms of graphs: a mapping of predecessors, as `graphlib` takes it, edges of any kind, networkx.

In networkx, attributes of nodes and edges are the keys of the file format.

Node attributes are `time`, `summary`, `emits`, `requests`, `notify`, `label`; edge attributes are `id`, `time`,
`label`, and `summary`, which is what the source emits on this edge. Input and output edges have one end only, which
networkx does not know: they are lists of edge mappings in the graph attributes `inputs` and `outputs`. `time`, `name`
and `recursion` are there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graphs.files.reading import from_data
from graphs.files.writing import to_data
from graphs.graph import Graph
from progress.errors import PointstampError, brief

if TYPE_CHECKING:
    import networkx

    from graphs.adapters import Found

NODE_ATTRIBUTES = ("time", "summary", "requests", "notify", "label")
EDGE_ATTRIBUTES = ("id", "time", "label")


def from_predecessors(predecessors: Mapping[Any, Iterable[Any]], *, time: Any = "nat") -> Graph:
    """The graph in which each node waits for its predecessors, as `graphlib.TopologicalSorter` takes it.

    Nodes ask for notifications and pass times on as they are. A tracker that begins with a request at every node hands
    each out when those before it are delivered, as `graphlib` does. Node names are their text. Cost: O(nodes + edges).

    Returns
    -------
    The graph.

    Raises
    ------
    PointstampError
        PS007 where this is not a mapping to several nodes each, or two different nodes have one text, PS015 where a
        node waits for itself.

    Examples
    --------
    >>> from pointstamp import Tracker, from_predecessors
    >>> graph = from_predecessors({"bake": ["mix"], "eat": ["bake"]})
    >>> tracker = Tracker(graph, requests=[(node, 0) for node in graph.nodes])
    >>> [node for node, _ in tracker.get_ready()]
    ['mix']
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


def from_edges(
    edges: Iterable[Any],
    does: Callable[[Any], Any] | None = None,
    *,
    nodes: Iterable[Any] = (),
    ends: Callable[[Any], tuple[Any, Any]] | None = None,
    time: Any = "nat",
) -> Graph:
    """The graph of anything that has edges. Cost: O(nodes + edges), and a call of `does` for each edge.

    Parameters
    ----------
    edges : pairs of a source and a destination, or anything else that `ends` can tell them of; None as a source is an
        input edge, None as a destination an output edge
    does : what an edge does to a time, a summary as a file has it: `{"advance": 1}`; without it, or None: `identity`
    nodes : those that no edge joins
    ends : the source and the destination of an edge; without it, its first two elements
    time : the domain of all nodes

    Node names are their text; two different nodes with one text are refused (PS007). Edges are called `a->b`; a second
    one between the same nodes `a->b 2`, and so on.

    Returns
    -------
    The graph.

    Raises
    ------
    PointstampError
        PS007 where two different nodes have one text, or an edge is not a pair, PS012, PS013 where the times or a
        summary are not known, PS015 where an edge leads from a node to itself.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> graph = from_edges([(None, "a"), ("a", "b")], lambda edge: {"advance": 1})
    >>> list(graph.edges)
    ['in->a', 'a->b']
    """
    names: dict[str, Any] = {}

    def name(node: Any) -> str | None:
        if node is None:
            return None
        other = names.setdefault(str(node), node)
        if other != node:
            raise PointstampError("PS007", f"the nodes {other!r} and {node!r} have the same text", "names that differ")
        return str(node)

    found: list[tuple[str | None, str | None, str, Any]] = []
    count: dict[str, int] = {}
    for edge in edges:
        try:
            head, tail = (name(node) for node in (ends(edge) if ends else (edge[0], edge[1])))
        except (TypeError, IndexError, KeyError, ValueError):
            right = "a pair of a source and a destination, or ends=, which gives one"
            raise PointstampError("PS007", f"{brief(edge)} is not an edge", right) from None
        if head is tail is None:
            raise PointstampError("PS007", f"{brief(edge)} joins nothing", "a node at one end at least")
        called = f"{head or 'in'}->{tail or 'out'}"
        count[called] = count.get(called, 0) + 1
        called += f" {count[called]}" if count[called] > 1 else ""
        found.append((head, tail, called, does(edge) if does else None))
    for node in nodes:
        name(node)
    emits: dict[str, dict[str, Any]] = {}
    for head, _, called, summary in found:
        if head is not None and summary is not None:
            emits.setdefault(head, {})[called] = summary
    graph = Graph(time=time)
    for each in names:
        graph.node(each, emits=emits.get(each))
    for head, tail, called, _ in found:
        graph.edge(head, tail, id=called)
    return graph


def from_networkx(source: networkx.Graph[Any]) -> Graph:
    """The graph of a directed networkx (multi)graph. Other attributes are left alone. Cost: O(nodes + edges).

    Node names are their text; a multigraph's keys that are text name its edges.

    Returns
    -------
    The graph.

    Raises
    ------
    PointstampError
        PS007 where it is not directed, PS013 where a summary is not known, PS015 where an edge leads from a node to
        itself, PS617 where it is no graph of networkx.

    Examples
    --------
    >>> import networkx
    >>> from pointstamp import from_networkx
    >>> list(from_networkx(networkx.DiGraph([("a", "b")])).nodes)
    ['a', 'b']
    """
    if not hasattr(source, "is_directed"):
        raise PointstampError("PS617", f"{brief(source)} is not a graph of networkx", "a DiGraph or a MultiDiGraph")
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


def read(target: str) -> Found:
    """What `check --from networkx` judges: the graph that `module:graph` names, read as `from_networkx` does."""
    import networkx

    from graphs.adapters import Found
    from graphs.adapters.target import load

    given = load(target)
    if not isinstance(given, networkx.Graph):
        said = f"{brief(target)} is {type(given).__name__}"
        raise PointstampError("PS903", said, "a DiGraph or a MultiDiGraph of networkx")
    return Found(from_networkx(given))


def to_networkx(graph: Graph) -> networkx.MultiDiGraph[Any]:
    """The inverse of `from_networkx`; edges are keyed by their ids. Cost: O(nodes + edges).

    Returns
    -------
    The directed multigraph of networkx.

    Raises
    ------
    PointstampError
        PS012, PS013 where a domain or a summary is the user's own; PS617 where it is no graph.

    Examples
    --------
    >>> from pointstamp import from_edges, to_networkx
    >>> list(to_networkx(from_edges([("a", "b")])).edges(keys=True))
    [('a', 'b', 'a->b')]
    """
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
