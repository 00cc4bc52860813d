"""Pictures beside Graphviz: crossings and time on the same random graphs, 10 to 300 nodes; then 500 nodes alone.

`dot` gets the same names and leaves out what pictures say besides; it breaks cycles itself. Crossings are counted by
the judge of the tests, on the lines as they were drawn: those of `dot` as its plain output has them. It fails where
this layout has more than 1.5 times as many on all graphs of a size.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from statistics import median
from time import perf_counter, process_time

from graphs import Graph
from graphs.drawing.layout import layout
from graphs.drawing.svg import svg
from tests.drawing.geometry import Line, crossings, crossings_of

SIZES = ((10, 60), (50, 40), (150, 12), (300, 6))  # nodes, how many graphs
MOST = 1.5  # times as many crossings


def dataflow(size: int, seed: int) -> Graph:
    """A graph like a program: mostly forwards and near, some edges back, parallel ones, stubs."""
    chance = random.Random(f"{size} {seed}")
    graph = Graph()
    for number in range(size):
        graph.node(f"step_{number}{'_of_the_program' * (chance.random() < 0.2)}", summary=None)
    names = list(graph.nodes)
    for number in range(int(size * chance.uniform(1.1, 1.6))):
        source = chance.randrange(size)
        target = min(size - 1, source + chance.randint(1, max(2, size // 8)))
        if chance.random() < 0.1:
            source, target = target, source
        if source != target:
            graph.edge(names[source], names[target], id=f"e{number}")
    for number in range(3):
        graph.edge(None, chance.choice(names), id=f"in{number}")
        graph.edge(chance.choice(names), None, id=f"out{number}")
    return graph


def by_dot(graph: Graph) -> tuple[int, float]:
    """Crossings in the picture of `dot`, and its milliseconds."""
    lines = ["digraph {", "rankdir=LR", "node [shape=box]"]
    number = {name: place for place, name in enumerate(graph.nodes)}
    lines += [f'n{place} [label="{name}"]' for name, place in number.items()]
    for edge, source, target in zip(graph.edges, graph.sources, graph.targets, strict=True):
        ends = [f"n{number[end]}" if end is not None else f"{edge}_outside" for end in (source, target)]
        if None in (source, target):
            lines.append(f"{edge}_outside [shape=point, style=invis]")
        lines.append(f'{ends[0]} -> {ends[1]} [label="{edge}"]')
    begun = perf_counter()
    plain = subprocess.run(
        ["dot", "-Tplain"], input="\n".join([*lines, "}"]), capture_output=True, text=True, check=True
    ).stdout
    spent = 1000 * (perf_counter() - begun)
    drawn = []
    for place, line in enumerate(plain.splitlines()):
        words = line.split()
        if words[0] == "edge":
            numbers = [72 * float(word) for word in words[4 : 4 + 2 * int(words[3])]]
            points = list(zip(numbers[::2], numbers[1::2], strict=True))
            path = f"M{points[0][0]} {points[0][1]}"
            for at in range(1, len(points), 3):
                path += "C" + " ".join(f"{x} {y}" for x, y in points[at : at + 3])
            drawn.append(Line.of(str(place), path))
    return crossings_of(drawn), spent


def main() -> int:
    if shutil.which("dot") is None:
        print("no Graphviz: install the package graphviz (make setup does, as root on Debian)")
        return 1
    failed = False
    print(f"{'nodes':>6} {'graphs':>7} {'crossings':>10} {'of dot':>8} {'ratio':>6} {'ms, median':>11} {'of dot':>8}")
    for size, count in SIZES:
        ours = theirs = 0
        spent, spent_by_dot = [], []
        for seed in range(count):
            graph = dataflow(size, seed)
            graph.network()
            begun = process_time()
            found = layout(graph)
            spent.append(1000 * (process_time() - begun))
            ours += crossings(svg(found))
            more, milliseconds = by_dot(graph)
            theirs += more
            spent_by_dot.append(milliseconds)
        failed |= ours > MOST * theirs + 2
        ratio = ours / theirs if theirs else 1.0
        times = f"{median(spent):>11.0f} {median(spent_by_dot):>8.0f}"
        print(f"{size:>6} {count:>7} {ours:>10} {theirs:>8} {ratio:>6.2f} {times}")
    graph = dataflow(500, 0)
    graph.network()
    spent = []
    for _ in range(3):
        begun = process_time()
        layout(graph)
        spent.append(process_time() - begun)
    print(f"500 nodes: {min(spent):.2f} s of processor time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
