"""Random graphs and their pictures."""

from __future__ import annotations

import random

from graphs import Graph
from graphs.drawing.layout import layout
from graphs.drawing.svg import svg

LETTERS = "abcdefgMWil_ -=[]{}<>&'\"@%~01234567890"
SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 60)


def random_graph(seed: int, size: int | None = None) -> tuple[Graph, dict[str, list[str]], int]:
    """A graph with cycles, parallel edges, stubs, long names; texts under some names; a room for more."""
    chance = random.Random(seed)
    count = size or chance.choice(SIZES)
    graph = Graph(name=f"of seed {seed}")
    for number in range(count):
        word = "".join(chance.choice(LETTERS) for _ in range(chance.randrange(30)))
        graph.node(f"{word}.{number}", summary={"advance": 1} if chance.random() < 0.2 else None)
    names = list(graph.nodes)
    density = chance.choice([0.7, 1.2, 1.6, 2.5]) if count <= 60 else chance.choice([1.2, 1.5])
    for number in range(int(count * density)):
        source, target = chance.randrange(count), chance.randrange(count)
        if chance.random() < 0.7 or count > 60:
            source, target = min(source, target), min(count - 1, min(source, target) + chance.randrange(1, 6))
            if chance.random() < 0.1:
                source, target = target, source
        if source != target:
            graph.edge(names[source], names[target], id=f"e{number}{'x' * chance.choice([0, 0, 3, 40])}")
    for number in range(chance.randrange(4)):
        graph.edge(None, chance.choice(names), id=f"in{number}")
        graph.edge(chance.choice(names), None, id=f"out{number}")
    texts = {
        name: [f"[{chance.randrange(9)}, {chance.randrange(99_999)}]"] * chance.choice([1, 1, 2])
        for name in graph.locations()
        if chance.random() < 0.5
    }
    return graph, texts, chance.choice([0, 0, 8])


def drawn(seed: int, size: int | None = None) -> str:
    """The picture of a random graph, as SVG."""
    return svg(layout(*random_graph(seed, size)))
