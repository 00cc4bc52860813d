"""Many small random graphs as one, their names told apart by a prefix: what Spark answers at once, graph by graph."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from graphs import Graph, from_data
from progress import CouldResultIn, PointstampError, check_conditions, close
from tests.reference.random_graphs import random_document, random_time_of

Json = Any


class Case:
    """A random graph, pointstamps to close, and what the local engine says of them."""

    def __init__(self, number: int, seed: int) -> None:
        rng = random.Random(seed)
        self.prefix = f"{number}: "
        self.document = prefixed(random_document(rng), self.prefix)
        self.graph = from_data(self.document)
        self.network = self.graph.network()
        self.starts = [self._pointstamp(rng) for _ in range(rng.randint(1, 3))]
        self.pair = (self._pointstamp(rng), self._pointstamp(rng))

    def _pointstamp(self, rng: random.Random) -> tuple[str, Any]:
        from graphs.files.notation import write_domain

        location = rng.choice(list(self.graph.locations()))
        data = random_time_of(rng, write_domain(self.graph.domain_of(location)), 4)
        return location, self.graph.time_from_json(location, data)

    @property
    def frontiers(self) -> dict[str, tuple[Any, ...]]:
        """Close-up by the local engine."""
        return close(self.graph, self.starts).frontiers

    @property
    def is_answered(self) -> bool:
        """Whether the local engine has an answer to every question: one has no finite form now and then."""
        try:
            close(self.graph, self.starts).frontiers  # noqa: B018
            check_conditions(self.graph)
            CouldResultIn(self.graph).proof(*self.pair)
        except PointstampError:
            return False
        return True


def prefixed(document: dict[str, Json], prefix: str) -> dict[str, Json]:
    """The document with all names behind a prefix, and its default domain at every node."""
    nodes: dict[str, Json] = {}
    for name, node in document["nodes"].items():
        node = {"time": document.get("time", "nat"), **node}
        if "emits" in node:
            node["emits"] = {prefix + edge: summary for edge, summary in node["emits"].items()}
        nodes[prefix + name] = node
    edges = []
    for edge in document["edges"]:
        ends = {key: prefix + edge[key] for key in ("from", "to") if key in edge}
        name = edge.get("id", f"{edge.get('from') or ''}->{edge.get('to') or ''}")
        edges.append({**edge, **ends, "id": prefix + name})
    return {"pointstamp": 1, "nodes": nodes, "edges": edges}


def together(cases: Iterable[Case]) -> Graph:
    """All graphs as one."""
    nodes: dict[str, Json] = {}
    edges: list[Json] = []
    for case in cases:
        nodes |= case.document["nodes"]
        edges += case.document["edges"]
    return from_data({"pointstamp": 1, "nodes": nodes, "edges": edges})


def cases(count: int, seed: int) -> list[Case]:
    """So many graphs on which the local engine answers everything."""
    found: list[Case] = []
    while len(found) < count:
        case = Case(len(found), seed)
        seed += 1
        if case.is_answered:
            found.append(case)
    return found
