"""Quicksort as a graph that calls itself: which calls there are, and how deep they go, depends on the data.

There may be one call at a stack, or two. `combine` cannot count what it waits for. It is told when nothing can arrive
any more.

    python examples/recursion/quicksort.py
"""

from pathlib import Path

from pointstamp import Batch, Node, call, load

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "runs", "away"]
ORDER = ["left->combine", "split->combine", "right->combine"]


class Split(Node):
    """The first item goes between what is below it and what is not."""

    def on_message(self, edge, time, items, out):
        if not items:
            out.send("split->exit", time, items)
            return
        pivot, *others = items
        below = [item for item in others if item < pivot]
        above = [item for item in others if not item < pivot]
        out.send("split->combine", time, [pivot])
        if below:
            out.send("split->left", time, below)
        if above:
            out.send("split->right", time, above)


class Combine(Batch):
    """Joins the parts of one stack, in order."""

    def on_batch(self, time, parts, out):
        out.send("combine->exit", time, [item for edge in ORDER for part in parts.get(edge, ()) for item in part])


def main():
    graph = load(Path(__file__).with_name("divide.yaml"))
    (words,) = call(graph, {"split": Split, "combine": Combine}, WORDS, seed=1)
    print(*words)


if __name__ == "__main__":
    main()
