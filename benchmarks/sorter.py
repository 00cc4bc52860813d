"""What a node costs that is handed out and done: `graphlib.TopologicalSorter`, and ours on the same graphs.

.venv/bin/python -m benchmarks.sorter
"""

from __future__ import annotations

import graphlib
import random
import time
from collections.abc import Callable
from typing import Any

from graphs.sorter import TopologicalSorter

NODES = 20_000


def seconds(kind: Callable[[Any], Any], graph: dict[int, list[int]]) -> float:
    begin = time.process_time()
    order = list(kind(graph).static_order())
    assert len(order) == len(graph)
    return time.process_time() - begin


def main() -> None:
    rng = random.Random(1)
    graphs = {
        "a chain": {node: [node - 1] if node else [] for node in range(NODES)},
        "three before each": {node: [rng.randrange(node) for _ in range(3)] if node else [] for node in range(NODES)},
    }
    for name, graph in graphs.items():
        theirs, ours = seconds(graphlib.TopologicalSorter, graph), seconds(TopologicalSorter, graph)
        print(f"{name:20} graphlib {theirs / NODES * 1e6:6.1f} µs a node, ours {ours / NODES * 1e6:6.1f}")


if __name__ == "__main__":
    main()
