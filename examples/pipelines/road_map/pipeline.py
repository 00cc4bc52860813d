"""A map of a town that GPS readings keep up to date, and the shortest paths across it (the introduction of A&I).

Each reading counts as soon as it is there: `roads` shows it at once. The paths are found once for each batch, when all
of its readings have arrived: not before, or they would be wrong, and not again for every reading.

    python examples/pipelines/road_map/pipeline.py
"""

import heapq
import sys
from collections import defaultdict
from math import dist
from pathlib import Path

from pointstamp import Dataflow, Mapped, Node, load, main

HERE = Path(__file__).resolve().parent

JUNCTIONS = {"harbour": (0, 0), "market": (4, 0), "church": (4, 3), "station": (8, 3), "school": (0, 3)}  # kilometres
ROADS = [
    ("harbour", "market"),
    ("market", "church"),
    ("church", "station"),
    ("harbour", "school"),
    ("school", "church"),
    ("market", "station"),
]
LANDMARKS = ["harbour", "church", "station"]


def length(road):
    return dist(*(JUNCTIONS[junction] for junction in road))


def match(reading):
    """The road that a car is on, as the one that passes nearest, and the minutes that it would take at its speed."""

    def distance(road):
        one, other = (JUNCTIONS[junction] for junction in road)
        return dist(one, reading["at"]) + dist(reading["at"], other) - length(road)

    road = min(ROADS, key=distance)
    return {"road": " - ".join(road), "minutes": round(length(road) / reading["speed"] * 60, 1)}


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


def shortest_paths(minutes):
    """The shortest way between any two landmarks, by Dijkstra."""
    neighbours = defaultdict(list)
    for one, other in ROADS:
        neighbours[one].append((other, minutes[f"{one} - {other}"]))
        neighbours[other].append((one, minutes[f"{one} - {other}"]))
    for place, start in enumerate(LANDMARKS):
        ways = {}
        waiting = [(0.0, [start])]
        while waiting:
            so_far, way = heapq.heappop(waiting)
            if way[-1] not in ways:
                ways[way[-1]] = so_far, way
                for junction, more in neighbours[way[-1]]:
                    heapq.heappush(waiting, (so_far + more, [*way, junction]))
        for end in LANDMARKS[place + 1 :]:
            so_far, way = ways[end]
            yield {"minutes": round(so_far, 1), "way": way}


dataflow = Dataflow(
    load(HERE / "graph.yaml"), {"match": match, "map": Map(), "routes": Mapped(shortest_paths, flat=True)}
)

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"readings={HERE / 'readings.jsonl'}", *sys.argv[1:]]))
