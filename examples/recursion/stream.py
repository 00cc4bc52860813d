"""A stream of calls: each input is a call of its own, at an epoch of its own, and all of them run at once.

What a call returns leaves when it is complete. An epoch is over when nothing at it can leave any more.

    python examples/recursion/stream.py
"""

from pathlib import Path

from pointstamp import Batch, Dataflow, Exit, Node, load

NUMBERS = [9, 1, 12, 4]


class Split(Node):
    """0 and 1 are Fibonacci numbers. Others are the sum of the two before."""

    def on_message(self, edge, time, n, out):
        if n < 2:
            out.send("split->exit", time, n)
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)


class Combine(Batch):
    """Adds up what both calls at an epoch and a stack return."""

    def on_batch(self, time, numbers, out):
        out.send("combine->exit", time, sum(map(sum, numbers.values())))


class Last(Exit):
    """Sends results to the outside, and None when their epoch is over."""

    def on_messages(self, edge, time, numbers, out):
        super().on_messages(edge, time, numbers, out)
        _, stack = time
        if not stack.depth:
            out.request(time)

    def on_notify(self, time, out):
        out.send("results", time, None)


def tell(time, number):
    epoch, _ = time
    print(f"epoch {epoch} is over" if number is None else f"epoch {epoch}: F({NUMBERS[epoch]}) = {number}")


def main():
    nodes = {"split": Split, "combine": Combine, "exit": Last}
    dataflow = Dataflow(load(Path(__file__).with_name("stream.yaml")), nodes)
    calls = [((epoch, ()), number) for epoch, number in enumerate(NUMBERS)]
    dataflow.run(sources={"numbers": calls}, sinks={"results": tell}, seed=1)


if __name__ == "__main__":
    main()
