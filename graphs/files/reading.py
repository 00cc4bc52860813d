"""From plain data, or a file, to a `Graph` (docs/graph-files.md): strict, every complaint with its place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from graphs.files.document import Item, locate, parse, plain, quoted, read_file
from graphs.files.names import check_names, edges_of, entries_of
from graphs.files.notation import NotationError, Path, kind_of, read_domain, read_summary, suggestion
from graphs.graph import Graph
from progress.errors import PointstampError
from progress.garbage import without_cycle_search

FORMAT_VERSION = 1
MOST_OF_A_PATH = 4_096  # characters of it that are told
GRAPH_KEYS = ("pointstamp", "name", "time", "recursion", "nodes", "edges")
NODE_KEYS = ("time", "summary", "emits", "requests", "notify", "label")
SUMMARY_KEYS = ("summary", "emits", "requests")  # of a node
TIME_KEYS = ("time", *SUMMARY_KEYS)
EDGE_KEYS = ("id", "from", "to", "time", "label")


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph in a file, YAML or JSON; `-` is standard input. Cost: linear in the file.

    Returns
    -------
    The graph.

    Raises
    ------
    PointstampError
        PS001 to PS016 where the file cannot be read or is not the document of a graph; its place is a note of the
        error, which a traceback shows.

    Examples
    --------
    >>> import os, tempfile
    >>> from pointstamp import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "one.yaml")
    ...     with open(file, "w") as out:
    ...         _ = out.write("{pointstamp: 1, nodes: {a: {}}, edges: [{id: in, to: a}]}")
    ...     list(load(file).edges)
    ['in']
    """
    name = os.fspath(path)
    try:
        return from_text(read_file(path), name)
    except PointstampError as error:
        place = "".join(
            f", {word} {at}" for word, at in (("line", error.line), ("column", error.column)) if at is not None
        )
        error.add_note(
            f"in {quoted(str(name), MOST_OF_A_PATH)}{place}"
        )  # which a traceback shows, where nobody else names the file
        raise


def from_text(content: bytes | str, name: str = "") -> Graph:
    """The graph in a text; a complaint has the line and the column.

    Returns
    -------
    The graph.

    Raises
    ------
    PointstampError
        PS001 to PS016 where it is not the document of a graph, with the line and the column.

    Examples
    --------
    >>> from pointstamp import from_text
    >>> list(from_text("{pointstamp: 1, nodes: {a: {}}, edges: [{id: in, to: a}]}").nodes)
    ['a']
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")  # what is no UTF-8 is refused, as in a file
    with without_cycle_search():  # parts refer to nothing that refers back; looking for that would double the time
        document = parse(content, name)
        check_names(document)
        data: Any = plain(document)
        try:
            graph = from_data(data)
        except NotationError as error:
            line, column = locate(document, error.path)
            raise PointstampError(error.code, error.message, error.hint, line, column) from None
        graph.positions = _positions(document, graph)
        return graph


def from_data(data: Any) -> Graph:
    """The graph in plain data: what `json.loads` makes of a graph file.

    Returns
    -------
    The graph.

    Raises
    ------
    PointstampError
        PS001 to PS016 where it is not the document of a graph.

    Examples
    --------
    >>> from pointstamp import from_data
    >>> list(from_data({"pointstamp": 1, "nodes": {"a": {}}, "edges": [{"id": "in", "to": "a"}]}).edges)
    ['in']
    """
    if not isinstance(data, Mapping):
        raise NotationError("PS007", f"a graph is {kind_of(data)}", "a mapping with pointstamp: 1, nodes, edges", ())
    _check_version(data)
    _check_keys(data, GRAPH_KEYS, ())
    if "recursion" in data and data["recursion"] is None:
        raise NotationError("PS007", "recursion is nothing", "{in: entry, out: exit, calls: [again]}", ("recursion",))
    graph = Graph(data.get("time"), _text(data.get("name"), ("name",)), data.get("recursion"))
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
    if graph.recursion is not None:
        from graphs.files.calls import check_calls

        check_calls(graph)
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
    notify = node.get("notify")
    if "notify" in node and not isinstance(notify, bool):
        raise NotationError("PS007", f"notify is {kind_of(notify)}", "true or false", (*path, "notify"))
    emits = node.get("emits")
    if emits is not None and not isinstance(emits, Mapping):
        raise NotationError("PS007", f"emits is {kind_of(emits)}", "a mapping {edge: summary}", (*path, "emits"))
    node = _without_own_times(graph, name, node, path)
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


def _without_own_times(graph: Graph, name: str, keys: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The keys of a node or an edge; in a graph with calls without those about times, which are refused (PS017)."""
    if graph.recursion is None or not any(word in keys for word in TIME_KEYS):
        return keys
    from graphs.files.calls import refuse_own_times

    refuse_own_times(name, graph.time, keys.get("time"), {word: keys.get(word) for word in SUMMARY_KEYS}, path)
    return {key: value for key, value in keys.items() if key not in TIME_KEYS}


def _add_edge(graph: Graph, edge: Any, path: Path, shared: _Shared) -> None:
    if not isinstance(edge, Mapping):
        raise NotationError("PS007", f"an edge is {kind_of(edge)}", "a mapping like {from: a, to: b}", path)
    _check_keys(edge, EDGE_KEYS, path)
    ends: list[str | None] = []
    for key in ("from", "to"):
        end = None if edge.get(key) is None else _name(edge[key], (*path, key))
        if end is not None and end not in graph.nodes:
            hint = suggestion(end, graph.nodes) if graph.nodes else "declare it under nodes"
            raise NotationError("PS011", f"{key} names {quoted(end)}, which is not a node", hint, (*path, key))
        ends.append(end)
    name = None if edge.get("id") is None else _name(edge["id"], (*path, "id"))
    edge = _without_own_times(graph, name or f"{ends[0] or ''}->{ends[1] or ''}", edge, path)
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
                    "PS011", f"emits names {quoted(edge)}, which is not an edge that leaves {quoted(name)}", hint,
                    ("nodes", name, "emits", edge),
                )  # fmt: skip


# --- places in the text ----------------------------------------------------------------------------------------------


def _positions(document: Item, graph: Graph) -> dict[str, tuple[int, int]]:
    """Line and column of every node and edge."""
    nodes = entries_of(document)["nodes"][1]
    places = {key.text: (key.line, key.column) for key, _ in entries_of(nodes).values()}
    for name, item in zip(graph.edges, edges_of(document), strict=True):
        places[name] = (item.line, item.column)
    return places
