"""A map of a town that GPS readings keep up to date, and the shortest paths across it (the introduction of A&I).

Each reading counts as soon as it is there: `roads` shows it at once. The paths are found once for each batch, when all
of its readings have arrived: not before, or they would be wrong, and not again for every reading.

    python examples/pipelines/road_map/pipeline.py
"""

import sys
from collections import defaultdict
from pathlib import Path

from town import ROADS, length, match, shortest_paths

from pointstamp import Dataflow, Mapped, Node, load, main

HERE = Path(__file__).resolve().parent


class Map(Node):
    """The minutes of each road: the average of the readings so far, at 50 km/h where there are none."""

    def __init__(self):
        self.sums = {" - ".join(road): (0.0, 0) for road in ROADS}
        self.batches = defaultdict(list)  # what came of batches that are not complete

    def on_message(self, edge, batch, reading, out):
        out.send("roads", batch, reading)
        self.batches[batch].append(reading)
        out.request(batch)

    def on_notify(self, batch, out):
        """All of this batch is here, and so is all of those before."""
        for reading in self.batches.pop(batch):
            total, count = self.sums[reading["road"]]
            self.sums[reading["road"]] = total + reading["minutes"], count + 1
        averages = {road: total / count for road, (total, count) in self.sums.items() if count}
        minutes = {" - ".join(road): averages.get(" - ".join(road), length(road) * 60 / 50) for road in ROADS}
        out.send("maps", batch, minutes)


dataflow = Dataflow(
    load(HERE / "graph.yaml"), {"match": match, "map": Map(), "routes": Mapped(shortest_paths, flat=True)}
)

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"readings={HERE / 'readings.jsonl'}", *sys.argv[1:]]))
