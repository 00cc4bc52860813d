"""Ackermann's function, whose calls nest deep.

The argument of one call is the result of another, which has to be complete before.

    python examples/recursion/ackermann.py
"""

from pathlib import Path

from pointstamp import Batch, Node, call, load

M, N = 2, 6


class Case(Node):
    """A(0, n) = n + 1; A(m, 0) = A(m - 1, 1); A(m, n) = A(m - 1, A(m, n - 1))."""

    def on_message(self, edge, time, value, out):
        m, n = value
        if m == 0:
            out.send("case->exit", time, n + 1)
            return
        out.send("case->between", time, (m - 1, None if n else 1))
        if n:
            out.send("case->inner", time, (m, n - 1))


class Between(Batch):
    """Calls `outer` with m and n from `case`, or with n from `inner`, once that is complete."""

    def on_batch(self, time, arguments, out):
        ((m, n),) = arguments["case->between"]
        if n is None:
            (n,) = arguments["inner->between"]
        out.send("between->outer", time, (m, n))


class Combine(Batch):
    """Hands on the result when both calls at its stack are complete."""

    def __init__(self):
        super().__init__()
        self.deepest = 0

    def on_batch(self, time, results, out):
        self.deepest = max(self.deepest, time.depth)
        (result,) = results["outer->combine"]
        out.send("combine->exit", time, result)


def main():
    combine = Combine()
    nodes = {"case": Case, "between": Between, "combine": lambda: combine}  # the one that is looked at afterwards
    (result,) = call(load(Path(__file__).with_name("ackermann.yaml")), nodes, (M, N), seed=1)
    print(f"A({M}, {N}) = {result}, by calls {combine.deepest} deep")


if __name__ == "__main__":
    main()
