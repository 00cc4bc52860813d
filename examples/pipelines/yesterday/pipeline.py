"""A stock and the orders that fill it up: each day of one needs the day before of the other (README.md).

python examples/pipelines/yesterday/pipeline.py
"""

import sys
from pathlib import Path

from pointstamp import Dataflow, Node, load, main

HERE = Path(__file__).resolve().parent
WANTED = 100  # what should be in stock


class Stock(Node):
    """What is in stock in the evening: yesterday's, less what was sold, and what was ordered yesterday."""

    def __init__(self):
        self.level = WANTED
        self.sold = {}
        self.delivered = {}

    def on_message(self, edge, day, amount, out):
        if edge == "delivered":
            self.delivered[day] = amount
        else:
            self.sold[day] = self.sold.get(day, 0) + amount
            out.request(day)

    def on_notify(self, day, out):
        """All sales of the day are there, and yesterday's order is."""
        self.level += self.delivered.pop(day, 0) - self.sold.pop(day)
        out.send("levels", day, self.level)
        out.send("counted", day + 1, self.level)


class Orders(Node):
    """Orders in the morning what was missing last evening."""

    def __init__(self):
        self.counted = {0: WANTED}

    def on_start(self, out):
        out.request(0)  # the first day has no evening before it

    def on_message(self, edge, day, level, out):
        self.counted[day] = level
        out.request(day)

    def on_notify(self, day, out):
        amount = max(0, WANTED - self.counted.pop(day))
        out.send("placed", day, amount)
        out.send("delivered", day + 1, amount)


dataflow = Dataflow(load(HERE / "graph.yaml"), {"stock": Stock, "orders": Orders})

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"sales={HERE / 'sales.jsonl'}", *sys.argv[1:]]))
