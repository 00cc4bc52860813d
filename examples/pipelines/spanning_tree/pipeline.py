"""Minimum spanning trees by a loop in a loop: neither knows beforehand how often it will go round.

A time is a graph, then a round, then a step. A notification at a step says that all parts have been heard; one at a
round that the steps of it are over, however many there were.

    python examples/pipelines/spanning_tree/pipeline.py
"""

import sys
from pathlib import Path

from pointstamp import Dataflow, Node, load, main

HERE = Path(__file__).resolve().parent


class Choose(Node):
    """Keeps for each graph its edges, the part that each vertex is in, and the tree so far."""

    def __init__(self):
        self.graphs = {}

    def on_message(self, edge, time, value, out):
        graph, _ = time
        if edge == "begun":
            edges = sorted((weight, one, other) for one, other, weight in value)
            self.graphs[graph] = edges, {vertex: vertex for _, *ends in edges for vertex in ends}, []
        else:
            edges, parts, tree = self.graphs[graph]
            self.graphs[graph] = edges, {vertex: value.get(part, part) for vertex, part in parts.items()}, tree
        out.request(time)

    def on_notify(self, time, out):
        graph, round_ = time
        edges, parts, tree = self.graphs[graph]
        cheapest = {}
        for edge in edges:  # the cheapest first
            _, one, other = edge
            if parts[one] != parts[other]:
                cheapest.setdefault(parts[one], edge)
                cheapest.setdefault(parts[other], edge)
        chosen = sorted(set(cheapest.values()))
        tree += chosen
        if chosen:
            out.send("chosen", (graph, round_, 0), [(parts[one], parts[other]) for _, one, other in chosen])
        else:
            del self.graphs[graph]
            weight = sum(weight for weight, _, _ in tree)
            edges = sorted(sorted(ends) for _, *ends in tree)
            out.send("tree", graph, {"rounds": round_, "weight": weight, "edges": edges})


class Spread(Node):
    """Lets parts that are joined agree on the smallest of their names.

    What it knows is of one round: in the order of times, the steps of the next begin when those of this one are over.
    """

    def __init__(self):
        self.neighbours = {}
        self.names = {}
        self.heard = {}  # by time

    def on_message(self, edge, time, value, out):
        if edge == "chosen":
            parts = sorted({part for pair in value for part in pair})
            self.neighbours = {part: set() for part in parts}
            for one, other in value:
                self.neighbours[one].add(other)
                self.neighbours[other].add(one)
            self.names = {part: part for part in parts}
            for part in parts:
                self.tell(part, time, out)
        else:
            part, name = value
            known = self.heard.setdefault(time, {})
            known[part] = min(known.get(part, name), name)
            out.request(time)

    def on_notify(self, time, out):
        """All that was told in this step is heard; who learned something tells it."""
        graph, round_, _ = time
        for part, name in sorted(self.heard.pop(time).items()):
            if name < self.names[part]:
                self.names[part] = name
                out.send("names", (graph, round_), (part, name))
                self.tell(part, time, out)

    def tell(self, part, time, out):
        for neighbour in sorted(self.neighbours[part]):
            out.send("told", time, (neighbour, self.names[part]))


class Gather(Node):
    """The names of a round, when its steps are over."""

    def __init__(self):
        self.names = {}

    def on_message(self, edge, time, value, out):
        part, name = value
        known = self.names.setdefault(time, {})
        known[part] = min(known.get(part, name), name)
        out.request(time)

    def on_notify(self, time, out):
        out.send("renamed", time, self.names.pop(time))


NODES = {"choose": Choose, "spread": Spread, "gather": Gather}
dataflow = Dataflow(load(HERE / "graph.yaml"), NODES)

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"graphs={HERE / 'graphs.jsonl'}", *sys.argv[1:]]))
