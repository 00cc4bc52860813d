"""Ackermann's function, whose calls nest deep.

The argument of one call is the result of another, which has to be complete before.

    python examples/recursion/ackermann.py
"""

from pathlib import Path

from graphs import load
from recursion.driver import Driver

M, N = 2, 6


class Case:
    """A(0, n) = n + 1; A(m, 0) = A(m - 1, 1); A(m, n) = A(m - 1, A(m, n - 1))."""

    def on_message(self, edge, time, value, out):
        m, n = value
        if m == 0:
            out.send("case->exit", time, n + 1)
            return
        out.send("case->between", time, {"m": m - 1} if n else {"m": m - 1, "n": 1})
        if n:
            out.send("case->inner", time, (m, n - 1))


class Between:
    """Calls `outer` once m has come from `case`, and n from there or from `inner`."""

    def __init__(self):
        self.arguments = {}  # by stack

    def on_message(self, edge, time, value, out):
        found = {"n": value} if edge == "inner->between" else value
        self.arguments.setdefault(time, {}).update(found)
        out.request(time)

    def on_notify(self, time, out):
        arguments = self.arguments.pop(time)
        out.send("between->outer", time, (arguments["m"], arguments["n"]))


class Combine:
    """Hands on the result when both calls at its stack are complete."""

    def __init__(self):
        self.results = {}  # by stack
        self.deepest = 0

    def on_message(self, edge, time, value, out):
        self.results[time] = value
        self.deepest = max(self.deepest, time.depth)
        out.request(time)

    def on_notify(self, time, out):
        out.send("combine->exit", time, self.results.pop(time))


def main():
    nodes = {"case": Case(), "between": Between(), "combine": Combine()}
    driver = Driver(load(Path(__file__).with_name("ackermann.yaml")), nodes, seed=1)
    driver.begin((M, N))
    (result,) = driver.run()
    print(f"A({M}, {N}) = {result.value}, by calls {nodes['combine'].deepest} deep")


if __name__ == "__main__":
    main()
