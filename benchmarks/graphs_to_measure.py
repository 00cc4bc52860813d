"""Graphs of any size for measurements: layered with feedback, complete, and a ring."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from graphs import Graph

LAYERS = 20


class LayeredEdge(NamedTuple):
    """An edge of a layered graph; None for an end outside."""

    source: str | None
    target: str | None
    name: str


def layered_edges(edges: int, seed: int = 0) -> tuple[int, int, Iterator[LayeredEdge]]:
    """About `edges` edges over a tenth as many nodes in layers, and a hundredth as many feedback nodes.

    Nine of ten edges lead to a later layer, the others from anywhere to a feedback node and from there to anywhere.
    Answers the number of nodes, the number of feedback nodes, and the edges.
    """
    count = max(LAYERS, edges // 10)
    feedbacks = max(1, count // 10)

    def generated() -> Iterator[LayeredEdge]:
        rng = random.Random(seed)
        width = count // LAYERS
        for number in range(edges - 2 * (edges // 20)):
            source = rng.randrange(count - width)
            target = rng.randrange((source // width + 1) * width, count)
            yield LayeredEdge(f"n{source}", f"n{target}", f"e{number}")
        for number in range(edges // 20):
            feedback = f"f{rng.randrange(feedbacks)}"
            yield LayeredEdge(f"n{rng.randrange(count)}", feedback, f"b{number}")
            yield LayeredEdge(feedback, f"n{rng.randrange(count)}", f"r{number}")
        yield LayeredEdge(None, "n0", "input")
        yield LayeredEdge(f"n{count - 1}", None, "output")

    return count, feedbacks, generated()


def layered(edges: int, kind: str = "lex") -> Graph:
    """A layered graph with nested-loop times [outer, inner]: feedback nodes advance one or the other counter.

    Under `lex` Condition 2 holds; an edge back moves the outer counter and leaves the inner one, so it does under
    `product` too. Every cycle advances.
    """
    count, feedbacks, generated = layered_edges(edges)
    graph = Graph(time={kind: ["nat", "nat"]})
    for number in range(count):
        graph.node(f"n{number}")
    for number in range(feedbacks):
        graph.node(f"f{number}", summary={"advance": [1, 0]} if number % 4 == 0 else "feedback", notify=False)
    for source, target, name in generated:
        graph.edge(source, target, name)
    return graph


def complete(count: int) -> Graph:
    """The complete graph: every node to every other, each adding one."""
    graph = Graph()
    for number in range(count):
        graph.node(str(number), summary={"advance": 1})
    for source in range(count):
        for target in range(count):
            if source != target:
                graph.edge(str(source), str(target))
    return graph


def ring_with_one_fall(count: int) -> Graph:
    """A ring of `count` nodes that add and subtract at random and lose one in all: the one falling cycle is long."""
    rng = random.Random(count)
    amounts = [rng.randint(-3, 3) for _ in range(count)]
    amounts[0] -= sum(amounts) + 1
    graph = Graph()
    for number, amount in enumerate(amounts):
        graph.node(str(number), summary={"advance": amount})
    for number in range(count):
        graph.edge(str(number), str((number + 1) % count))
    return graph
