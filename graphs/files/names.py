"""The names in a graph file: of nodes, edges, elements, tags, calls and graphs, each such that all readers agree."""

from __future__ import annotations

from graphs.files.document import Item, MappingItem, ScalarItem, SequenceItem, name_of


def entries_of(item: Item | None) -> dict[str, tuple[ScalarItem, Item]]:
    """The entries of a mapping by the texts of their keys; none of anything else."""
    return {key.text: (key, part) for key, part in item.entries} if isinstance(item, MappingItem) else {}


def edges_of(document: Item) -> list[Item]:
    """The edges of a graph file."""
    edges = entries_of(document).get("edges")
    return edges[1].items if edges and isinstance(edges[1], SequenceItem) else []


def check_names(document: Item) -> None:
    """Refuse names that some reader of YAML takes for something else (PS009). Cost: linear in the file."""
    top = entries_of(document)
    if "time" in top:
        _check_domain_names(top["time"][1])
    if "recursion" in top:
        _check_recursion_names(top["recursion"][1])
    nodes = top["nodes"][1] if "nodes" in top else None
    for key, part in nodes.entries if isinstance(nodes, MappingItem) else ():
        name_of(key)
        for word, value in part.entries if isinstance(part, MappingItem) else ():
            if word.text == "time":
                _check_domain_names(value)
            elif word.text == "emits" and isinstance(value, MappingItem):
                for edge, _ in value.entries:
                    name_of(edge)
    for item in edges_of(document):
        for word, value in item.entries if isinstance(item, MappingItem) else ():
            if word.text in ("id", "from", "to"):
                _check_name(value)
            elif word.text == "time":
                _check_domain_names(value)


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
