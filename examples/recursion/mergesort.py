"""Mergesort as a graph that calls itself.

Both halves are sorted at once, in any order of events, and merged when both are complete. The graph is divide.yaml.

    python examples/recursion/mergesort.py
"""

from heapq import merge
from pathlib import Path

from pointstamp import Node, call, load

NUMBERS = [31, 4, 15, 92, 6, 53, 58, 9, 79, 32, 38, 46, 26, 43, 38, 32, 79]


class Split(Node):
    """One number is sorted. More are halved."""

    def on_message(self, edge, time, numbers, out):
        if len(numbers) < 2:
            out.send("split->exit", time, numbers)
            return
        middle = len(numbers) // 2
        out.send("split->left", time, numbers[:middle])
        out.send("split->right", time, numbers[middle:])


class Combine(Node):
    """Merges the halves. `time` is the stack of calls, so that the halves of one call find each other."""

    def __init__(self):
        self.halves = {}  # by stack

    def on_message(self, edge, time, half, out):
        self.halves.setdefault(time, []).append(half)
        out.request(time)  # tell me when nothing can arrive at this stack any more

    def on_notify(self, time, out):
        out.send("combine->exit", time, list(merge(*self.halves.pop(time))))


def main():
    graph = load(Path(__file__).with_name("divide.yaml"))
    (numbers,) = call(graph, {"split": Split, "combine": Combine}, NUMBERS, seed=1)
    print(*numbers)


if __name__ == "__main__":
    main()
