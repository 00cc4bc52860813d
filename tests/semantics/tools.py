"""Two random graphs that share edges: the halves of a system."""

from __future__ import annotations

import random
from typing import Any

from graphs import Graph


def halves(rng: random.Random, backwards: bool) -> tuple[Graph, Graph]:
    """Two random graphs that share up to three edges in either direction; times are numbers, or pairs."""
    pairs = rng.random() < 0.4
    time: Any = rng.choice([{"product": ["nat", "nat"]}, {"lex": ["nat", "nat"]}]) if pairs else "nat"
    graphs = (Graph(time=time), Graph(time=time))
    shared = [(f"x{number}", rng.random() < 0.5) for number in range(rng.randint(1, 4))]
    for graph, names, is_first in ((graphs[0], "pqr", True), (graphs[1], "stu", False)):
        nodes = names[: rng.randint(1, 3)]
        ends: list[tuple[str | None, str | None, str]] = []
        for edge, towards in shared:
            mine = rng.choice(nodes)
            ends.append((mine, None, edge) if towards is is_first else (None, mine, edge))
        ends += [(*rng.sample(nodes, 2), f"{names[0]}{number}") for number in range(3) if len(nodes) > 1]  # type: ignore[misc]
        ends += [(None, rng.choice(nodes), f"in {names[0]}"), (rng.choice(nodes), None, f"out {names[0]}")]
        for node in nodes:
            emits = {edge: {"advance": amount(rng, pairs, backwards)} for source, _, edge in ends if source == node}
            graph.node(node, emits=emits)
        for source, target, edge in ends:
            graph.edge(source, target, edge)
    return graphs


def amount(rng: random.Random, pairs: bool, backwards: bool) -> Any:
    least = -1 if backwards else 0
    return [rng.randint(least, 1), rng.randint(least, 1)] if pairs else rng.randint(least, 2)
