"""The map of a town as a program of streams; what is done with a reading and with a map is in `town.py`.

pointstamp run examples/pipelines/road_map/stream.py --input readings=examples/pipelines/road_map/readings.jsonl
"""

from town import ROADS, length, match, shortest_paths

from pointstamp import Flow


def learned(sums, readings):
    """The sums and counts of the readings so far, and the minutes of each road: 50 km/h where there are none."""
    sums = dict(sums or {})
    for road, minutes in sorted((reading["road"], reading["minutes"]) for reading in readings):
        total, count = sums.get(road, (0.0, 0))
        sums[road] = total + minutes, count + 1
    usual = {" - ".join(road): (length(road) * 60 / 50, 1) for road in ROADS}
    return sums, {road: total / count for road, (total, count) in {**usual, **sums}.items()}


flow = Flow(name="road_map")
roads = flow.input("readings").map(match)
roads.output("roads")
maps = roads.whole(lambda batch, readings: [("town", readings)]).keyed().stateful_map(None, learned, name="map")
maps.flat_map(lambda found: shortest_paths(found[1])).output("shortest")
