"""The Fibonacci numbers as they are defined, each by two calls.

The graph is that of mergesort.py. Only the nodes differ.

    python examples/recursion/fibonacci.py
"""

from pathlib import Path

from pointstamp import Batch, Node, call, load

LAST = 15


class Split(Node):
    """0 and 1 are their own numbers. Others are the sum of the two before."""

    def on_message(self, edge, time, n, out):
        if n < 2:
            out.send("split->exit", time, n)
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)


class Combine(Batch):
    """Adds up what both calls at a stack return. A `Batch` is told once for each stack, when both are complete."""

    def on_batch(self, time, numbers, out):
        out.send("combine->exit", time, sum(map(sum, numbers.values())))


def main():
    graph = load(Path(__file__).with_name("divide.yaml"))
    (number,) = call(graph, {"split": Split, "combine": Combine}, LAST, seed=1)
    print(f"F({LAST}) = {number}")


if __name__ == "__main__":
    main()
