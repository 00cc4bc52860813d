"""The Fibonacci numbers as they are defined, each by two calls.

The graph is that of mergesort.py. Only the nodes differ.

    python examples/recursion/fibonacci.py
"""

from pathlib import Path

from graphs import load
from recursion.driver import Driver

LAST = 15


class Split:
    """0 and 1 are their own numbers. Others are the sum of the two before."""

    def on_message(self, edge, time, n, out):
        if n < 2:
            out.send("split->exit", time, n)
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)


class Combine:
    """Adds up what arrives at a stack, and sends the sum when all has arrived."""

    def __init__(self):
        self.sums = {}  # by stack

    def on_message(self, edge, time, number, out):
        self.sums[time] = self.sums.get(time, 0) + number
        out.request(time)

    def on_notify(self, time, out):
        out.send("combine->exit", time, self.sums.pop(time))


def main():
    driver = Driver(load(Path(__file__).with_name("divide.yaml")), {"split": Split(), "combine": Combine()}, seed=1)
    driver.begin(LAST)
    (result,) = driver.run()
    print(f"F({LAST}) = {result.value}")


if __name__ == "__main__":
    main()
