"""The graphs of the traces: a chain, a ring, dense layers, random layers with feedback.

Their summaries add to a time or leave it as it is, so that timely's tracker can be given the same graph.
"""

from __future__ import annotations

import random
from typing import Any

from graphs import Graph


def domain(times: int) -> Any:
    """The domain of times of one number or of a pair under the product order, as graphs are told it."""
    return "nat" if times == 1 else {"product": ["nat", "nat"]}


def chain_graph(count: int, times: int) -> Graph:
    """An input edge, then `count` nodes in a row."""
    graph = Graph(time=domain(times))
    for number in range(count):
        graph.node(f"n{number}")
    graph.edge(None, "n0", "input")
    for number in range(1, count):
        graph.edge(f"n{number - 1}", f"n{number}", f"e{number}")
    return graph


def ring_graph(count: int) -> Graph:
    """A chain that leads back to its head over a node that counts the rounds in the second coordinate."""
    graph = chain_graph(count - 1, 2)
    graph.node("feedback", summary={"advance": [0, 1]}, notify=False)
    return graph.edge(f"n{count - 2}", "feedback", "around").edge("feedback", "n0", "back")


def dense_graph(times: int, layers: int, width: int) -> Graph:
    """A source, then layers in which every node sends to every node of the next."""
    graph = Graph(time=domain(times)).node("source").edge(None, "source", "input")
    for layer in range(layers):
        for number in range(width):
            graph.node(f"n{layer}.{number}")
            for before in [f"n{layer - 1}.{other}" for other in range(width)] if layer else ["source"]:
                graph.edge(before, f"n{layer}.{number}")
    return graph


def layered_with_feedback(nodes: int, times: int, seed: int = 0, feedback: bool = True, degree: int = 3) -> Graph:
    """Ten layers of nodes behind one node that has the input; every node sends to one to `degree` later ones.

    All are reached. A tenth as many more nodes lead back from anywhere to anywhere: most count the second coordinate
    up, every fourth the first. Without `feedback` they are left out, and the graph has no cycle.
    """
    rng = random.Random(seed)
    graph = Graph(time=domain(times)).edge(None, "n0", "input")
    width = max(1, (nodes - 1) // 10)
    reached = {0}

    def edge(source: int, target: int) -> None:
        reached.add(target)
        graph.edge(f"n{source}", f"n{target}", f"e{len(graph.edges)}")

    for number in range(nodes):
        graph.node(f"n{number}")
    for number in range(1, min(width, nodes - 1) + 1):
        edge(0, number)
    for number in range(1, nodes):
        first = number - (number - 1) % width + width  # where the next layer begins
        if number not in reached:
            edge(rng.randrange(first - 2 * width, first - width), number)
        for _ in range(rng.randint(1, degree) if first < nodes else 0):
            edge(number, rng.randrange(first, min(nodes, first + width) if rng.random() < 0.8 else nodes))
    for number in range(nodes // 10 if feedback else 0):
        outer = 1 if times == 1 or number % 4 == 0 else 0
        graph.node(f"f{number}", summary={"advance": 1 if times == 1 else [outer, 1 - outer]}, notify=False)
        graph.edge(f"n{rng.randrange(1, nodes)}", f"f{number}", f"b{number}")
        graph.edge(f"f{number}", f"n{rng.randrange(1, nodes)}", f"r{number}")
    return graph
