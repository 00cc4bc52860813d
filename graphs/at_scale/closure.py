"""Close-up (A&I 3.3) in Spark: antichains of times move along edges until nothing new arrives.

Each round sends the times that were new in the round before, and only these: joined to the edges that leave their
nodes, moved by the pieces of the edges' summaries, gathered by node as an array, reduced to its minimal elements, and
compared to what is known there. A round costs its active nodes, a scan of the edges and one of what is known; all
edges are never joined to all nodes. It is one job, of one shape, and its checkpoint cuts the lineage. docs/at-scale.md
says what GraphFrames' Pregel takes for the same, and why it is not used here.

Where a number can fall again and again, going round would take as many rounds as the fall is deep. Components with such
a summary go to the local engine, which runs falls to their end at once or says that they have none (PS601).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphs.at_scale.falling import Falling
from graphs.at_scale.resolved import SparkGraph
from graphs.at_scale.rounds import Options, cut, one_group
from progress.errors import PointstampError, brief
from progress.order import NO_TIME, as_time, times_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTS = 12  # rounds, after which what is known is put together
FEW_TIMES = 200_000  # new ones, which are sent to all edges instead of being sorted to them
MANY_KNOWN = 1_000_000  # rows of what is known, of which no more are compared than something new came to


class SparkClosure:
    """The result of `close`: the minimal times at every location, as a table or, collected, as `Closure` has them."""

    def __init__(self, graph: SparkGraph, at_nodes: DataFrame, given: list[tuple[int, int, list[int]]]) -> None:
        self.graph = graph
        self.at_nodes = at_nodes  # id, shape, times
        self._given = given  # on edges: edge, shape, numbers

    @property
    def rows(self) -> DataFrame:
        """`location`, `place` (nodes before edges, each in their order), `shape`, `c0`, ...: a row for each time."""
        return self._of_nodes().unionByName(self._of_edges())

    def table(self) -> DataFrame:
        """`location` and `time` as JSON text, as `pointstamp close -o` writes it."""
        return self.rows.selectExpr("location", f"{self.graph.shapes.as_json()} AS time")

    @property
    def frontiers(self) -> dict[str, tuple[Any, ...]]:
        """The minimal times at every location that has any, taken out of Spark. Cost: as many rows."""
        shapes = self.graph.shapes
        found: dict[tuple[bool, int], tuple[str, list[Any]]] = {}
        domains = {}
        for row in self.rows.collect():
            location, on_edge, place, shape, *numbers = row
            found.setdefault((on_edge, place), (location, []))[1].append(shapes.decode(shape, numbers))
            domains[on_edge, place] = shapes.shapes[shape].domain
        return {found[key][0]: tuple(sorted(set(found[key][1]), key=domains[key].sort_key)) for key in sorted(found)}

    def times(self, location: str) -> tuple[Any, ...]:
        """The minimal times at one location. Cost: a look into all rows."""
        shapes = self.graph.shapes
        every = self.rows
        rows = every.where(every["location"] == location).collect()
        found = [(shapes.decode(row["shape"], row[4:]), shapes.shapes[row["shape"]].domain) for row in rows]
        return tuple(time for time, domain in sorted(found, key=lambda pair: pair[1].sort_key(pair[0])))

    def __contains__(self, pointstamp: tuple[str, Any]) -> bool:
        ((_, row, *_),) = numbered(self.graph, [pointstamp])
        less_equal = self.graph.domains[row["domain"]].less_equal
        return any(less_equal(time, pointstamp[1]) for time in self.times(pointstamp[0]))

    def _of_nodes(self) -> DataFrame:
        columns = [f"one.{column}" for column in self.graph.shapes.columns]
        times = self.at_nodes.selectExpr("id", "shape", "explode(times) AS one")
        return times.join(self.graph.nodes.select("id", "name"), "id").selectExpr(
            "name AS location", "false AS on_edge", "id AS place", "shape", *columns
        )

    def _of_edges(self) -> DataFrame:
        graph, shapes = self.graph, self.graph.shapes
        before = self.at_nodes.selectExpr("id AS src", "shape", "explode(times) AS one")
        before = before.selectExpr("src", "shape", *(f"one.{column}" for column in shapes.columns))
        leaving = graph.edges.where("src IS NOT NULL").select("edge", "src", "summary")
        pieces = graph.pieces.frame(graph.session)
        moved = graph.pieces.apply(before.join(leaving, "src"), pieces, ["edge"]).drop("endless")
        if self._given:
            moved = moved.unionByName(_rows(graph, self._given, "edge"))
        times = gathered(graph, moved, "edge").selectExpr("edge", "shape", "explode(times) AS one")
        return times.join(graph.edges.select("edge", "name"), "edge").selectExpr(
            "name AS location",
            "true AS on_edge",
            "edge AS place",
            "shape",
            *(f"one.{column}" for column in shapes.columns),
        )


def gathered(graph: SparkGraph, rows: DataFrame, key: str) -> DataFrame:
    """Rows of times by place and shape: the minimal ones, as the array `times`."""
    from pyspark.sql import functions

    shapes = graph.shapes
    together = rows.groupBy(key, "shape").agg(functions.expr(f"collect_set({shapes.as_struct}) AS times"))
    return together.withColumn("times", functions.expr(shapes.minimal("times")))


def numbered(graph: SparkGraph, pointstamps: Iterable[Any]) -> list[tuple[bool, Any, int, list[int]]]:
    """Pointstamps as (on an edge, row of the node or edge, shape, numbers). Cost: one look into nodes and edges."""
    listed = list(pointstamps)
    for pointstamp in listed:
        if not isinstance(pointstamp, tuple) or len(pointstamp) != 2:
            raise PointstampError("PS610", f"{brief(pointstamp)} is no pointstamp", "a pair of a location and a time")
    names = sorted({location for location, _ in listed if isinstance(location, str)})
    known: dict[str, tuple[bool, Any]] = {}
    wanted = graph.session.createDataFrame([(name,) for name in names], "name string")
    for row in graph.nodes.join(wanted, "name").collect():
        known[row["name"]] = (False, row)
    if len(known) < len(names):
        for row in graph.edges.join(wanted, "name").collect():
            known[row["name"]] = (True, row)
    found = []
    for location, time in listed:
        if location not in known:
            raise PointstampError("PS611", f"there is no location {brief(location)}", "name a node or an edge")
        on_edge, row = known[location]
        domain = graph.domains[row["domain"]]
        right = as_time(domain, time)
        if right is NO_TIME:
            raise PointstampError("PS612", f"{brief(time)} is no time at {brief(location)}", times_of(domain))
        found.append((on_edge, row, *graph.shapes.encode(domain, right)))
    return found


def close_in_spark(graph: SparkGraph, pointstamps: Iterable[tuple[str, Any]], options: Options) -> SparkClosure:
    """Close-up of the given pointstamps.

    Cost: a round for each edge of the longest way on which a time is new; what a round costs is said above.
    """
    with one_group(graph.session, options, "close"):
        places = numbered(graph, pointstamps)
        given = [(row["edge"], shape, numbers) for on_edge, row, shape, numbers in places if on_edge]
        starts = [
            (row["dst"] if on_edge else row["id"], shape, numbers)
            for on_edge, row, shape, numbers in places
            if not on_edge or row["dst"] is not None
        ]
        return SparkClosure(graph, _Run(graph, options, starts).run(), given)


class _Run:
    """One closing. `state` has the columns id, shape, times, new: what was found since `old` was put together.

    Every round has the same plan, so that Spark compiles it once.
    """

    def __init__(self, graph: SparkGraph, options: Options, starts: list[tuple[int, int, list[int]]]) -> None:
        from pyspark import StorageLevel

        self.graph = graph
        self.options = options
        self.starts = starts
        self.level = StorageLevel.MEMORY_AND_DISK
        self.steps = graph.steps().select("src", "dst", "summary")
        self.pieces = cut(graph.pieces.frame(graph.session))
        self.old = cut(_rows(graph, [], "id").selectExpr("id", "shape", f"array({graph.shapes.as_struct}) AS times"))
        self.used: list[DataFrame] = []  # kept for one round
        self.known = 0  # rows in `old` and `state`
        self.largest = max([0, *(abs(number) for _, _, numbers in starts for number in numbers)])

    def run(self) -> DataFrame:
        """id, shape, times: the minimal times at the nodes."""
        graph, options = self.graph, self.options
        falling = Falling.of(graph, options)
        active = gathered(graph, _rows(graph, self.starts, "id"), "id")
        state = self.old.selectExpr("id", "shape", "times", "false AS new")
        state, count, frontier = self._next(state, active, falling)
        number = 0
        options.told("close", number, count, frontier)
        while count:
            graph.shapes.check(self.largest + number * graph.pieces.most_added)
            number += 1
            if number % PARTS == 0:
                self.old = cut(self._together(state))
                state = state.where("new")
            state, count, frontier = self._next(state, self._following(state, frontier), falling)
            options.told("close", number, count, frontier)
        return cut(self._together(state))

    def _next(self, state: DataFrame, fresh: DataFrame, falling: Falling | None) -> tuple[DataFrame, int, int]:
        """The state with what is new now, how many nodes it is new at, and how many times are new."""
        from pyspark.sql import Observation, functions

        if falling is not None:
            fresh = falling.run_down(cut(fresh))
        seen = Observation()
        fresh = fresh.selectExpr("id", "shape", "times", "true AS new").observe(
            seen, functions.count("id").alias("active"), functions.expr("coalesce(sum(size(times)), 0) AS frontier")
        )
        following = state.selectExpr("id", "shape", "times", "false AS new").unionAll(fresh)
        following = cut(following.coalesce(self._partitions))
        while self.used:
            self.used.pop().unpersist()
        found = seen.get
        self.known += found["active"]
        return following, found["active"], found["frontier"]

    @property
    def _partitions(self) -> int:
        return max(2, self.graph.session.sparkContext.defaultParallelism)

    def _following(self, state: DataFrame, frontier: int) -> DataFrame:
        """What is new at the nodes one step further: id, shape, times."""
        from pyspark.sql import functions

        shapes = self.graph.shapes
        times = state.where("new").selectExpr("id AS src", "shape", "inline(times)")
        if frontier <= FEW_TIMES:
            times = functions.broadcast(times)
        moved = self.graph.pieces.apply(self.steps.join(times, "src"), self.pieces, ["dst AS id"])
        if self.graph.pieces.endless:
            self._refuse_endless(times, moved)
        arrived = gathered(self.graph, moved.drop("endless"), "id")
        here = self.old.unionAll(state.select("id", "shape", "times"))
        if self.known > MANY_KNOWN:
            arrived = arrived.persist(self.level)
            self.used.append(arrived)
            here = here.join(arrived.select("id", "shape"), ["id", "shape"], "left_semi")
        both = arrived.selectExpr("id", "shape", "times", "true AS new").unionAll(
            here.selectExpr("id", "shape", "times", "false AS new")
        )
        grouped = both.groupBy("id", "shape").agg(
            functions.expr("flatten(collect_list(times) FILTER (WHERE new)) AS times"),
            functions.expr("flatten(collect_list(times) FILTER (WHERE NOT new)) AS known"),
        )
        grouped = grouped.where("size(times) > 0")
        fresh = grouped.selectExpr("id", "shape", f"{shapes.not_above('times', 'known')} AS times")
        return fresh.where("size(times) > 0")

    def _refuse_endless(self, times: DataFrame, moved: DataFrame) -> None:
        """A piece without a lower end: the local engine's own summary says what follows."""
        if not moved.where("endless").head(1):
            return
        shapes = self.graph.shapes
        columns = ["shape", "summary", *shapes.columns]
        for shape, summary, *numbers in self.steps.join(times, "src").select(columns).toLocalIterator():
            bound = self.graph.summaries[summary]
            if bound.source == shapes.shapes[shape].domain:
                bound.apply(shapes.decode(shape, numbers))

    def _together(self, state: DataFrame) -> DataFrame:
        """All that is known, a row for each node and shape."""
        from pyspark.sql import functions

        everything = self.old.unionAll(state.select("id", "shape", "times"))
        grouped = everything.groupBy("id", "shape").agg(functions.expr("flatten(collect_list(times)) AS times"))
        return grouped.withColumn("times", functions.expr(self.graph.shapes.minimal("times")))


def _rows(graph: SparkGraph, rows: Sequence[tuple[int, int, list[int]]], key: str) -> DataFrame:
    types = ", ".join(f"{column} bigint" for column in graph.shapes.columns)
    flat = [(place, shape, *numbers) for place, shape, numbers in rows]
    return graph.session.createDataFrame(flat, f"{key} bigint, shape int, {types}")
