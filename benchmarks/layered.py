"""Layered graphs with feedback edges and nested-loop times, of any size, for measurements."""

from __future__ import annotations

import random

from graphs import Graph


def layered(edges: int, layers: int = 20, seed: int = 0) -> Graph:
    """About `edges` edges over a tenth as many nodes in `layers` layers.

    Nine of ten edges lead to a later layer and keep the time, the others lead back over a feedback node of their own or
    one of the shared ones, which advance the inner or the outer loop counter. Times are [outer, inner], ordered
    lexicographically, so that Condition 2 holds and every cycle advances.
    """
    rng = random.Random(seed)
    count = max(layers, edges // 10)
    graph = Graph(time={"lex": ["nat", "nat"]})
    feedbacks = max(1, count // 10)
    for number in range(count):
        graph.node(f"n{number}")
    for number in range(feedbacks):
        summary = {"advance": [1, 0]} if number % 4 == 0 else "feedback"
        graph.node(f"f{number}", summary=summary, notify=False)
    width = count // layers
    forward = edges - 2 * (edges // 20)
    for number in range(forward):
        source = rng.randrange(count - width)
        layer = source // width + 1
        target = rng.randrange(layer * width, count)
        graph.edge(f"n{source}", f"n{target}", id=f"e{number}")
    for number in range(edges // 20):
        feedback = f"f{rng.randrange(feedbacks)}"
        graph.edge(f"n{rng.randrange(count)}", feedback, id=f"b{number}")
        graph.edge(feedback, f"n{rng.randrange(count)}", id=f"r{number}")
    graph.edge(None, "n0", id="input")
    graph.edge(f"n{count - 1}", None, id="output")
    return graph
