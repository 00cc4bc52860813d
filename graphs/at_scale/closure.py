"""Close-up (A&I 3.3) in Spark: antichains of times move along edges until nothing new arrives.

GraphFrames' Pregel does it, a round a call: the times that were new in the round before go along the edges that leave
their nodes, moved by the pieces of the edges' summaries, which are columns; what arrives at a node is gathered as an
array of structs, reduced to its minimal elements, and compared to what is known there. Nodes where nothing was new send
nothing. All of it is SQL. After a round there is a checkpoint, which cuts the lineage, and the next is the same plan
again; so each round can be reported, and a run can be stopped. A round costs a pass over the edges and one over the
nodes.

Where a number can fall again and again, going round would take as many rounds as the fall is deep. Components with such
a summary go to the local engine, which runs falls to their end at once or says that they have none (PS601).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphs.at_scale.falling_components import Falling
from graphs.at_scale.frames import frame_of
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.rounds import Options, cut, one_group
from progress.errors import PointstampError, brief
from progress.order import NO_TIME, as_time, times_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ARRIVED = "_pregel_msg_"  # what Pregel calls the messages that a vertex was sent, together; null where there are none


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
            raise PointstampError(
                "PS501", f"{brief(pointstamp)} is not a pointstamp", "a pair of a location and a time"
            )
    names = sorted({location for location, _ in listed if isinstance(location, str)})
    known: dict[str, tuple[bool, Any]] = {}
    wanted = frame_of(graph.session, [(name,) for name in names], "name string")
    for row in graph.nodes.join(wanted, "name").collect():
        known[row["name"]] = (False, row)
    if len(known) < len(names):
        for row in graph.edges.join(wanted, "name").collect():
            known[row["name"]] = (True, row)
    found = []
    for location, time in listed:
        if location not in known:
            raise PointstampError("PS502", f"there is no location {brief(location)}", "name a node or an edge")
        on_edge, row = known[location]
        domain = graph.domains[row["domain"]]
        right = as_time(domain, time)
        if right is NO_TIME:
            raise PointstampError("PS503", f"{brief(time)} is not a time at {brief(location)}", times_of(domain))
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
    """One closing. The vertices are the places where times can be: a node with a shape of its domain, numbered.

    `state` has the columns id (of the vertex), node, shape, known (the minimal times found so far) and found (those of
    them that the last round brought). Every round has the same plan, so that Spark compiles it once.
    """

    def __init__(self, graph: SparkGraph, options: Options, starts: list[tuple[int, int, list[int]]]) -> None:
        self.graph = graph
        self.options = options
        self.starts = starts
        self.ways = graph.ways()
        self.largest = max([0, *(abs(number) for _, _, numbers in starts for number in numbers)])

    def run(self) -> DataFrame:
        """id (of the node), shape, times: the minimal times at the nodes."""
        graph, options = self.graph, self.options
        falling = Falling.of(graph, options)
        nothing = f"cast(array() AS {graph.shapes.times_type})"
        state = graph.places().selectExpr("id", "node", "shape", f"{nothing} AS known", f"{nothing} AS found")
        state, active, frontier = self._settled(self._with(state, self.starts))
        number = 0
        while True:
            if falling is not None and active:
                more = falling.run_down(state.where("size(found) > 0").selectExpr("node AS id", "shape", "found"))
                if more:
                    state, active, frontier = self._settled(self._with(state, more))
            options.told("close", number, active, frontier)
            if not active:
                return state.where("size(known) > 0").selectExpr("node AS id", "shape", "known AS times")
            graph.shapes.check(self.largest + number * graph.pieces.most_added)
            if graph.pieces.endless:
                self._refuse_endless(state)
            number += 1
            state, active, frontier = self._settled(self._moved(state))

    def _moved(self, state: DataFrame) -> DataFrame:
        """A round of Pregel: what the last round found goes along the ways that leave it."""
        from pyspark.sql import functions

        from progress.runtime.on_spark.graphframes import graph_frame

        shapes = self.graph.shapes
        send = functions.expr(self.graph.pieces.message("src.fresh", "edge"))
        known = f"if({ARRIVED} IS NULL, times, {shapes.minimal(f'concat(times, {ARRIVED})')})"
        fresh = shapes.not_above(f"coalesce({ARRIVED}, slice(times, 1, 0))", "times")
        moved: DataFrame = (
            graph_frame(state, self.ways)
            .pregel.setMaxIter(1)
            .setCheckpointInterval(0)
            .setInitialActiveVertexExpression(functions.expr("size(found) > 0"))
            .setUpdateActiveVertexExpression(functions.lit(False))
            .setSkipMessagesFromNonActiveVertices(True)
            .withVertexColumn("times", functions.col("known"), functions.expr(known))
            .withVertexColumn("fresh", functions.col("found"), functions.expr(fresh))
            .sendMsgToDst(send)
            .aggMsgs(functions.expr(f"flatten(collect_list({ARRIVED}))"))
            .run()
        )
        return moved.selectExpr("id", "node", "shape", "times AS known", f"{shapes.minimal('fresh')} AS found")

    def _settled(self, state: DataFrame) -> tuple[DataFrame, int, int]:
        """The state computed, its lineage cut; at how many places something is new, and how many times."""
        from pyspark.sql import Observation, functions

        seen = Observation()
        state = state.observe(
            seen,
            functions.expr("count_if(size(found) > 0) AS active"),
            functions.expr("coalesce(sum(size(found)), 0) AS frontier"),
        )
        state = cut(state)
        found = seen.get
        return state, found["active"], found["frontier"]

    def _with(self, state: DataFrame, rows: list[tuple[int, int, list[int]]]) -> DataFrame:
        """The state with more times at some nodes, those that are new among what was found."""
        shapes = self.graph.shapes
        more = gathered(self.graph, _rows(self.graph, rows, "node"), "node").withColumnRenamed("times", "more")
        joined = state.join(more, ["node", "shape"], "left")
        new = joined.selectExpr("*", f"if(more IS NULL, more, {shapes.not_above('more', 'known')}) AS new")
        # expressions name the orders of all domains, so one is never put into another
        both = new.selectExpr(
            "*", "coalesce(concat(known, new), known) AS every", "coalesce(concat(found, new), found) AS last"
        )
        return both.selectExpr(
            "id", "node", "shape", f"{shapes.minimal('every')} AS known", f"{shapes.minimal('last')} AS found"
        )

    def _refuse_endless(self, state: DataFrame) -> None:
        """A piece without a lower end: the local engine's own summary says what follows."""
        graph, shapes = self.graph, self.graph.shapes
        times = state.selectExpr("node AS src", "shape", "inline(found)")
        steps = graph.steps().select("src", "summary").join(times, "src")
        before = ["shape AS before", "summary", *(f"{column} AS before_{column}" for column in shapes.columns)]
        moved = graph.pieces.apply(steps, graph.pieces.frame(graph.session), before).where("endless")
        for shape, summary, *numbers in moved.limit(1).collect():
            graph.summaries[summary].apply(shapes.decode(shape, numbers[: shapes.width]))
            raise AssertionError("a piece without a lower end gave minimal times")


def _rows(graph: SparkGraph, rows: Sequence[tuple[int, int, list[int]]], key: str) -> DataFrame:
    types = ", ".join(f"{column} bigint" for column in graph.shapes.columns)
    flat = [(place, shape, *numbers) for place, shape, numbers in rows]
    return frame_of(graph.session, flat, f"{key} bigint, shape int, {types}")
