"""Two graphs that call each other: the names on every other level of a family tree.

`even` names the person it is given, `odd` does not. Each calls the other for both parents.

    python examples/recursion/even_odd.py
"""

from pathlib import Path

from pointstamp import Batch, Node, call, load

# A person and the two parents, None where they are not known.
TREE = ("Ada", ("Byron", ("John", None, None), ("Catherine", None, None)), ("Annabella", None, ("Judith", None, None)))


class Split(Node):
    """Gives the name, or does not, and calls for both parents. `graph` is "even" or "odd"."""

    def __init__(self, graph):
        self.graph = graph

    def on_message(self, edge, time, tree, out):
        name, father, mother = tree
        out.send(f"{self.graph}_split->{self.graph}_combine", time, [name] if self.graph == "even" else [])
        if father:
            out.send(f"{self.graph}_split->{self.graph}_left", time, father)
        if mother:
            out.send(f"{self.graph}_split->{self.graph}_right", time, mother)


class Combine(Batch):
    """Joins all names that arrive at a stack."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph

    def on_batch(self, time, parts, out):
        names = sorted(name for lists in parts.values() for names in lists for name in names)
        out.send(f"{self.graph}_combine->{self.graph}_out", time, names)


def main():
    nodes = {}
    for graph in ("even", "odd"):
        nodes |= {f"{graph}_split": Split(graph), f"{graph}_combine": Combine(graph)}
    (names,) = call(load(Path(__file__).with_name("even_odd.yaml")), nodes, TREE, seed=1)
    print(*names)


if __name__ == "__main__":
    main()
