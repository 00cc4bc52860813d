"""A map of a town that GPS readings keep up to date, and the shortest paths across it, by DataFrames.

The same town as in examples/pipelines/road_map. Readings are plain values and `match` is a plain function; the minutes
of the roads and the distances are tables, and the paths are found by a loop.

    python examples/spark/road_map/pipeline.py --engine spark

With `--engine spark` the tables are DataFrames of Spark, with every other engine those of pandas.
"""

import sys
from math import dist
from pathlib import Path

from pointstamp import Dataflow, Stage, load, main
from progress.runtime.tables import is_of_spark, union

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

    one, other = min(ROADS, key=distance)
    return (one, other, round(length((one, other)) / reading["speed"] * 60, 1))


class Map(Stage):
    """The minutes of each road: the average of all readings so far, at 50 km/h where there are none."""

    def __init__(self):
        super().__init__(at_once=1)
        self.sums = None

    def on_tables(self, batch, tables, out):
        before = self.sums
        new = out.table(
            [(*reading, 1) for reading in tables["matched"]], "a string, b string, sum double, count bigint"
        )
        usual = [(one, other, length((one, other)) * 60 / 50, 0) for one, other in ROADS]
        so_far = out.table(usual, "a string, b string, sum double, count bigint") if before is None else before
        self.sums = out.keep(summed(union([so_far, new])))
        if before is not None:
            out.let_go(before)
        arcs = out.keep(minutes(self.sums), until=batch, at="shortest")
        out.send("maps", batch, arcs)


class Relax(Stage):
    """One round of one batch: a way to a junction may lead on to its neighbours."""

    by_time = ("arcs",)

    def __init__(self):
        super().__init__()
        self.arcs = {}

    def entry(self, time):
        return time[0]  # the batch, whose rounds follow one another

    def on_tables(self, time, tables, out):
        batch, round_ = time
        if round_ == 0:
            self.arcs[batch] = tables["begin"]
            ways, known = out.table([(mark, mark, 0.0, mark) for mark in LANDMARKS], WAYS), None
        else:
            ((ways, known),) = tables["round"]
        ways = out.keep(led_on(ways, self.arcs[batch]), until=(batch, round_ + 1))
        found = (length_of(ways), size_of(ways))
        if found != known:
            out.send("shorter", time, (ways, found))
        else:
            out.send("shortest", batch, between_landmarks(ways))
            del self.arcs[batch]


WAYS = "start string, at string, minutes double, way string"


def summed(sums):
    """The sum and the number of the readings of each road; what is usual counts until there is one."""
    if is_of_spark(sums):
        from pyspark.sql import functions as F

        real = F.when(F.col("count") > 0, F.col("sum"))
        return sums.groupBy("a", "b").agg(
            F.coalesce(F.sum(real), F.max("sum")).alias("sum"), F.sum("count").alias("count")
        )
    real = sums.assign(real=sums["sum"].where(sums["count"] > 0))
    found = real.groupby(["a", "b"], as_index=False).agg(
        real=("real", lambda each: each.sum(min_count=1)), usual=("sum", "max"), count=("count", "sum")
    )
    return found.assign(sum=found["real"].fillna(found["usual"]))[["a", "b", "sum", "count"]]


def minutes(sums):
    """The minutes of each road, in both directions."""
    if is_of_spark(sums):
        one = sums.selectExpr("a", "b", "sum / greatest(count, 1) as minutes")
        return one.unionByName(one.selectExpr("b as a", "a as b", "minutes"))
    one = sums.assign(minutes=sums["sum"] / sums["count"].clip(lower=1))[["a", "b", "minutes"]]
    return union([one, one.rename(columns={"a": "b", "b": "a"})])


def led_on(ways, arcs):
    """The shortest of each way that is known and those that lead one road further."""
    if is_of_spark(ways):
        further = ways.withColumnRenamed("minutes", "before").join(arcs, ways["at"] == arcs["a"])
        further = further.selectExpr("start", "b as at", "before + minutes as minutes", "concat(way, ' > ', b) as way")
        every = ways.unionByName(further).selectExpr("start", "at", "struct(minutes, way) as best")
        every = every.groupBy("start", "at").agg({"best": "min"})
        return every.selectExpr("start", "at", "`min(best)`.minutes", "`min(best)`.way")
    further = ways.merge(arcs.rename(columns={"minutes": "more"}), left_on="at", right_on="a")
    further = further.assign(
        at=further["b"], minutes=further["minutes"] + further["more"], way=further["way"] + " > " + further["b"]
    )
    every = union([ways, further[list(ways.columns)]])
    return every.sort_values(["minutes", "way"]).drop_duplicates(["start", "at"], ignore_index=True)


def length_of(ways):
    return round(ways.groupBy().sum("minutes").first()[0] if is_of_spark(ways) else ways["minutes"].sum(), 6)


def size_of(ways):
    return ways.count() if is_of_spark(ways) else len(ways)


def between_landmarks(ways):
    """Each way between two landmarks, in the order of LANDMARKS, as a list of junctions."""
    pairs = [(one, other) for place, one in enumerate(LANDMARKS) for other in LANDMARKS[place + 1 :]]
    if is_of_spark(ways):
        wanted = " or ".join(f"(start = '{one}' and at = '{other}')" for one, other in pairs)
        return ways.where(wanted).selectExpr("round(minutes, 1) as minutes", "split(way, ' > ') as way")
    found = ways[[pair in pairs for pair in zip(ways["start"], ways["at"], strict=True)]]
    return found.assign(minutes=found["minutes"].round(1), way=found["way"].str.split(" > "))[["minutes", "way"]]


dataflow = Dataflow(load(HERE / "graph.yaml"), {"match": match, "map": Map, "relax": Relax})

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"readings={HERE / 'readings.jsonl'}", *sys.argv[1:]]))
