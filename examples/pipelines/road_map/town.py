"""A town: its junctions and roads, the road that a reading is of, and the shortest ways across it."""

import heapq
from collections import defaultdict
from math import dist

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
