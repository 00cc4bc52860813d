"""Collatz's steps: halve what is even, triple what is odd and add one, until it is 1. Whether it ends, nobody knows.

A loop whose exit depends on the data. Numbers leave when they are done, others of the same batch are still going round.
The record of a batch is known when the last of them has left.

    python examples/pipelines/collatz/pipeline.py
"""

import sys
from pathlib import Path

from pointstamp import Dataflow, Node, load, main

HERE = Path(__file__).resolve().parent


class Step(Node):
    def on_message(self, edge, time, value, out):
        start, number = value
        batch, steps = time
        if number == 1:
            out.send("done", batch, (start, steps))
        else:
            out.send("going", time, (start, number // 2 if number % 2 == 0 else 3 * number + 1))


class Longest(Node):
    """Passes on the steps of each number at once, and the record of the batch at its end."""

    def __init__(self):
        self.records = {}

    def on_message(self, edge, batch, value, out):
        number, steps = value
        out.send("steps", batch, {"number": number, "steps": steps})
        self.records[batch] = max(self.records.get(batch, (0, 0)), (steps, -number))
        out.request(batch)

    def on_notify(self, batch, out):
        steps, number = self.records.pop(batch)
        out.send("record", batch, {"number": -number, "steps": steps})


NODES = {"begin": lambda number: (number, number), "step": Step, "longest": Longest}
dataflow = Dataflow(load(HERE / "graph.yaml"), NODES)

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"numbers={HERE / 'numbers.jsonl'}", *sys.argv[1:]]))
