"""A graph that is too large for a picture of every node, and a session in which something waits in its parts."""

from __future__ import annotations

import json
from typing import Any

from graphs import Graph
from graphs.live.outstanding import MOST_DRAWN

SIZE = MOST_DRAWN // 6  # nodes of a cycle, with two edges each
LAST = SIZE - 1
STEPS: list[dict[str, Any]] = [
    {"messages": [["in", 0, 1]], "requests": [["c0 n0", 5], ["c0 n3", 3]]},
    {"messages": [["in", 0, -1], ["first", 1, 7]], "requests": [[f"c1 n{LAST}", 4]]},
    {"messages": [["c1 n5->c1 n6", 2, 2]]},
    {"inputs": {"in": []}},
]
TRACE = "".join(json.dumps(step) + "\n" for step in STEPS)


def three_cycles() -> Graph:
    """Three cycles in a row, and a hundred nodes behind them."""
    nodes = [(cycle, number) for cycle in range(3) for number in range(SIZE)]
    graph = Graph()
    for cycle, number in nodes:
        graph.node(f"c{cycle} n{number}", summary={"advance": 1} if number == 0 else None)
    for cycle, number in nodes:
        for step in (1, 2)[: LAST - number] or (1,):  # two ways on, and one back
            graph.edge(f"c{cycle} n{number}", f"c{cycle} n{(number + step) % SIZE}")
    graph.edge(None, "c0 n0", "in")
    graph.edge("c0 n0", f"c1 n{LAST}", "first").edge(f"c1 n{LAST}", f"c2 n{LAST}", "second")
    for number in range(100):
        graph.node(f"behind {number}").edge(f"c2 n{LAST}", f"behind {number}")
    return graph
