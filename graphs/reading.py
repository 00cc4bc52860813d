"""From plain data, or a file, to a `Graph` (docs/graph-files.md): strict, every complaint with its place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from graphs.document import (
    Item,
    MappingItem,
    ScalarItem,
    SequenceItem,
    locate,
    name_of,
    parse,
    plain,
    quoted,
    read_file,
)
from graphs.graph import Graph
from graphs.notation import NotationError, Path, kind_of, read_domain, read_summary, suggestion
from progress.errors import PointstampError

FORMAT_VERSION = 1
GRAPH_KEYS = ("pointstamp", "name", "time", "nodes", "edges")
NODE_KEYS = ("time", "summary", "emits", "requests", "notify", "label")
EDGE_KEYS = ("id", "from", "to", "time", "label")


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph in a file, YAML or JSON; `-` is standard input. Cost: linear in the file."""
    return from_text(read_file(path), os.fspath(path))


def from_text(content: bytes, name: str = "") -> Graph:
    """The graph in a text; a complaint has the line and the column."""
    document = parse(content, name)
    _check_names(document)
    data: Any = plain(document)
    try:
        graph = from_data(data)
    except NotationError as error:
        line, column = locate(document, error.path)
        raise PointstampError(error.code, error.message, error.hint, line, column) from None
    graph.positions = _positions(document, graph)
    return graph


def from_data(data: Any) -> Graph:
    """The graph in plain data: what `json.loads` makes of a graph file."""
    if not isinstance(data, Mapping):
        raise NotationError("PS007", f"a graph is {kind_of(data)}", "a mapping with pointstamp: 1, nodes, edges", ())
    _check_version(data)
    _check_keys(data, GRAPH_KEYS, ())
    graph = Graph(read_domain(data.get("time", "nat"), ("time",)), _text(data.get("name"), ("name",)))
    nodes = data.get("nodes")
    if not isinstance(nodes, Mapping):
        raise NotationError("PS007", f"nodes is {kind_of(nodes)}", "a mapping like {first: {}, second: {}}", ("nodes",))
    shared = _Shared()
    for name, node in nodes.items():
        _add_node(graph, name, node, shared)
    edges = data.get("edges")
    if edges is not None and not isinstance(edges, list | tuple):
        raise NotationError("PS007", f"edges is {kind_of(edges)}", "a list like [{from: a, to: b}]", ("edges",))
    for position, edge in enumerate(edges or ()):
        _add_edge(graph, edge, ("edges", position), shared)
    _check_emits(graph)
    return graph


class _Shared:
    """Equal notations are read once: a large graph uses few domains and summaries, many times."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, str], Any] = {}

    def domain(self, data: Any, path: Path) -> Any:
        """The domain that `data` names; None when there is no data."""
        return None if data is None else self._read("domain", data, path)

    def summary(self, data: Any, path: Path) -> Any:
        """The summary that `data` names; None when there is no data."""
        return None if data is None else self._read("summary", data, path)

    def _read(self, kind: str, data: Any, path: Path) -> Any:
        read = read_domain if kind == "domain" else read_summary
        if not isinstance(data, str | dict | list):  # an object of the user's own
            return read(data, path)
        key = (kind, repr(data))
        if key not in self._words:
            self._words[key] = read(data, path)
        return self._words[key]


def _check_version(data: Mapping[str, Any]) -> None:
    if "pointstamp" not in data:
        hint = suggestion("pointstamp", data) if data else ""
        raise NotationError(
            "PS008",
            "the format version is missing",
            "pointstamp: 1" if "did you" not in hint else f"pointstamp: 1; {hint}",
            (),
        )
    version = data["pointstamp"]
    if type(version) is not int or version != FORMAT_VERSION:
        shown = quoted(str(version))
        raise NotationError("PS008", f"the format version is {shown}", f"pointstamp: {FORMAT_VERSION}", ("pointstamp",))
    if "recursion" in data:
        raise NotationError("PS008", "recursion is not read by this version", "a graph without calls", ("recursion",))


def _check_keys(data: Mapping[Any, Any], known: tuple[str, ...], path: Path) -> None:
    for key in data:
        if key not in known:
            raise NotationError("PS006", f"unknown key {quoted(str(key))}", suggestion(key, known), (*path, key))


def _text(data: Any, path: Path) -> str | None:
    if data is None or isinstance(data, str):
        return data
    raise NotationError("PS007", f"{path[-1]} is {kind_of(data)}", "text, in quotes", path)


def _name(data: Any, path: Path) -> str:
    """A name: text, or a whole number in its usual form."""
    if isinstance(data, str):
        return data
    if type(data) is int:
        return str(data)
    raise NotationError("PS009", f"a name is {kind_of(data)}", "text, in quotes", path)


def _refused(path: Path, error: PointstampError) -> NotationError:
    return NotationError(error.code, error.message, error.hint, path)


def _add_node(graph: Graph, name: Any, node: Any, shared: _Shared) -> None:
    path: Path = ("nodes", name)
    name = _name(name, path)
    node = {} if node is None else node
    if not isinstance(node, Mapping):
        raise NotationError("PS007", f"the node {quoted(name)} is {kind_of(node)}", "a mapping, {} for none", path)
    _check_keys(node, NODE_KEYS, path)
    notify = node.get("notify", True)
    if not isinstance(notify, bool):
        raise NotationError("PS007", f"notify is {kind_of(notify)}", "true or false", (*path, "notify"))
    emits = node.get("emits")
    if emits is not None and not isinstance(emits, Mapping):
        raise NotationError("PS007", f"emits is {kind_of(emits)}", "a mapping {edge: summary}", (*path, "emits"))
    try:
        graph.node(
            name,
            shared.domain(node.get("time"), (*path, "time")),
            shared.summary(node.get("summary"), (*path, "summary")),
            {str(edge): shared.summary(item, (*path, "emits", edge)) for edge, item in (emits or {}).items()},
            shared.summary(node.get("requests"), (*path, "requests")),
            notify,
            _text(node.get("label"), (*path, "label")),
        )
    except NotationError:
        raise
    except PointstampError as error:
        raise _refused(path, error) from None


def _add_edge(graph: Graph, edge: Any, path: Path, shared: _Shared) -> None:
    if not isinstance(edge, Mapping):
        raise NotationError("PS007", f"an edge is {kind_of(edge)}", "a mapping like {from: a, to: b}", path)
    _check_keys(edge, EDGE_KEYS, path)
    ends: list[str | None] = []
    for key in ("from", "to"):
        end = None if edge.get(key) is None else _name(edge[key], (*path, key))
        if end is not None and end not in graph.nodes:
            hint = suggestion(end, graph.nodes) if graph.nodes else "declare it under nodes"
            raise NotationError("PS011", f"{key} names {quoted(end)}, which is no node", hint, (*path, key))
        ends.append(end)
    name = None if edge.get("id") is None else _name(edge["id"], (*path, "id"))
    time = shared.domain(edge.get("time"), (*path, "time"))
    label = _text(edge.get("label"), (*path, "label"))
    try:
        graph.edge(ends[0], ends[1], name, time, label)
    except PointstampError as error:
        raise _refused((*path, "id") if name is not None else path, error) from None


def _check_emits(graph: Graph) -> None:
    for name, record in graph.nodes.items():
        for edge in record.emits:
            position = graph.edges.get(edge)
            if position is None or graph.sources[position] != name:
                leaving = [other for other, place in graph.edges.items() if graph.sources[place] == name]
                hint = suggestion(edge, leaving) if leaving else "no edge leaves it"
                raise NotationError(
                    "PS011", f"emits names {quoted(edge)}, which is no edge that leaves {quoted(name)}", hint,
                    ("nodes", name, "emits", edge),
                )  # fmt: skip


# --- places in the text ----------------------------------------------------------------------------------------------


def _entries(item: Item | None) -> dict[str, tuple[ScalarItem, Item]]:
    return {key.text: (key, part) for key, part in item.entries} if isinstance(item, MappingItem) else {}


def _edges(document: Item) -> Iterable[tuple[Item, dict[str, tuple[ScalarItem, Item]]]]:
    edges = _entries(document).get("edges")
    items = edges[1].items if edges and isinstance(edges[1], SequenceItem) else []
    return ((item, _entries(item)) for item in items)


def _check_names(document: Item) -> None:
    """Refuse names that some reader of YAML takes for something else (PS009)."""
    top = _entries(document)
    if "time" in top:
        _check_domain_names(top["time"][1])
    for key, part in _entries(top["nodes"][1]).values() if "nodes" in top else ():
        name_of(key)
        node = _entries(part)
        if "time" in node:
            _check_domain_names(node["time"][1])
        emits = node.get("emits")
        for edge, _ in _entries(emits[1]).values() if emits else ():
            name_of(edge)
    for _, entries in _edges(document):
        if "time" in entries:
            _check_domain_names(entries["time"][1])
        for word in ("id", "from", "to"):
            if word in entries:
                value = entries[word][1]
                if isinstance(value, ScalarItem) and value.value is not None:
                    name_of(value)


def _check_domain_names(domain: Item) -> None:
    """The same for elements of finite orders and tags of sums, at any depth of a domain's notation."""
    for word, (_, part) in _entries(domain).items():
        if word == "finite":
            elements = _entries(part).get("elements")
            for element in elements[1].items if elements and isinstance(elements[1], SequenceItem) else ():
                if isinstance(element, ScalarItem) and isinstance(element.value, str):
                    name_of(element)
        elif word == "sum":
            for tag, summand in _entries(part).values():
                name_of(tag)
                _check_domain_names(summand)
        else:
            for inner in part.items if isinstance(part, SequenceItem) else ():
                _check_domain_names(inner)


def _positions(document: Item, graph: Graph) -> dict[str, tuple[int, int]]:
    """Line and column of every node and edge."""
    nodes = _entries(document)["nodes"][1]
    places = {key.text: (key.line, key.column) for key, _ in _entries(nodes).values()}
    for name, (item, _) in zip(graph.edges, _edges(document), strict=True):
        places[name] = (item.line, item.column)
    return places
