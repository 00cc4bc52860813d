"""The names in a graph file: of nodes, edges, elements, tags, calls and graphs, each such that all readers agree."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.document import Item, MappingItem, ScalarItem, SequenceItem, name_of


def entries_of(item: Item | None) -> dict[str, tuple[ScalarItem, Item]]:
    """The entries of a mapping by the texts of their keys; none of anything else."""
    return {key.text: (key, part) for key, part in item.entries} if isinstance(item, MappingItem) else {}


def edges_of(document: Item) -> Iterable[tuple[Item, dict[str, tuple[ScalarItem, Item]]]]:
    """The edges of a graph file, each with its entries."""
    edges = entries_of(document).get("edges")
    items = edges[1].items if edges and isinstance(edges[1], SequenceItem) else []
    return ((item, entries_of(item)) for item in items)


def check_names(document: Item) -> None:
    """Refuse names that some reader of YAML takes for something else (PS009). Cost: linear in the file."""
    top = entries_of(document)
    if "time" in top:
        _check_domain_names(top["time"][1])
    if "recursion" in top:
        _check_recursion_names(top["recursion"][1])
    for key, part in entries_of(top["nodes"][1]).values() if "nodes" in top else ():
        name_of(key)
        node = entries_of(part)
        if "time" in node:
            _check_domain_names(node["time"][1])
        emits = node.get("emits")
        for edge, _ in entries_of(emits[1]).values() if emits else ():
            name_of(edge)
    for _, entries in edges_of(document):
        if "time" in entries:
            _check_domain_names(entries["time"][1])
        for word in ("id", "from", "to"):
            if word in entries:
                _check_name(entries[word][1])


def _check_name(value: Item) -> None:
    if isinstance(value, ScalarItem) and value.value is not None:
        name_of(value)


def _check_recursion_names(recursion: Item) -> None:
    """The same for what the key `recursion` names: nodes and graphs."""
    entries = entries_of(recursion)
    for word, (_, part) in entries.items():
        if word == "graphs":
            for name, body in entries_of(part).values():
                name_of(name)
                _check_recursion_names(body)
        elif word == "calls" and isinstance(part, MappingItem):
            for name, callee in part.entries:
                name_of(name)
                _check_name(callee)
        elif word == "calls" and isinstance(part, SequenceItem):
            for call in part.items:
                _check_name(call)
        elif word in ("in", "out", "main"):
            _check_name(part)


def _check_domain_names(domain: Item) -> None:
    """The same for elements of finite orders and tags of sums, at any depth of a domain's notation."""
    for word, (_, part) in entries_of(domain).items():
        if word == "finite":
            elements = entries_of(part).get("elements")
            for element in elements[1].items if elements and isinstance(elements[1], SequenceItem) else ():
                if isinstance(element, ScalarItem) and isinstance(element.value, str):
                    name_of(element)
        elif word == "sum":
            for tag, summand in entries_of(part).values():
                name_of(tag)
                _check_domain_names(summand)
        else:
            for inner in part.items if isinstance(part, SequenceItem) else ():
                _check_domain_names(inner)
