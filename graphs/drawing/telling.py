"""What a graph says of its nodes, as lines under their names: summaries that change times, domains."""

from __future__ import annotations

import json

from graphs.files.notation import write_domain
from graphs.graph import Graph
from progress.errors import PointstampError
from progress.normal_form.declared import Identity, Then


def summaries(graph: Graph) -> dict[str, list[str]]:
    """What each node does to times on all of its edges, and on some, where it is not nothing."""
    texts: dict[str, list[str]] = {}
    if graph.recursion is not None:
        return texts
    for name, record in graph.nodes.items():
        if not isinstance(record.summary, Identity):
            texts[name] = [_word(record.summary)]
        for edge, summary in record.emits.items():
            if not isinstance(summary, Identity):
                texts[edge] = [_word(summary)]
    return texts


def labels(graph: Graph) -> dict[str, str]:
    """What is said to people of nodes and edges, by `label`."""
    named = {name: record.label for name, record in graph.nodes.items()} | graph.edge_labels
    return {name: label for name, label in named.items() if label}


def domains(graph: Graph) -> dict[str, list[str]]:
    """Which times each node has."""
    network = graph.network()
    return {name: [_domain(domain)] for name, domain in zip(network.nodes, network.domains, strict=True)}


def _word(summary: object) -> str:
    """A declared summary as files write it; one of the user's own by the name of its class."""
    if isinstance(summary, Then):
        return ", ".join(_word(part) for part in summary.parts if not isinstance(part, Identity)) or "identity"
    return str(summary) if type(summary).__str__ is not object.__str__ else type(summary).__name__


def _domain(domain: object) -> str:
    try:
        data = write_domain(domain)  # type: ignore[arg-type]  # what it does not know it refuses
    except PointstampError:
        return f"times: {type(domain).__name__}"
    return f"times: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}"
