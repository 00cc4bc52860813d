"""A component too large for one process, where every summary only adds: judged coordinate by coordinate in Spark.

For such summaries a closed walk moves each coordinate by the sum of what its edges add, so Condition 2 fails exactly
where some coordinate has a cycle with a negative sum; a lexicographic order is asked coordinate by coordinate, each on
what the ones before leave standing still. Bellman and Ford's algorithm gives each node a potential, or a cycle of
parents, which is such a cycle (`progress.cycles.potential` is the same in one process). A closed walk stands still only
on edges whose reduced weight is zero in every coordinate; when what is left of them fits, the local engine takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphs.at_scale.collected import network_of
from graphs.at_scale.components import Inside, components
from graphs.at_scale.errors import too_large_a_component
from graphs.at_scale.frames import frame_of, numbers_frame
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.rounds import Options, cut
from progress.conditions import Advancing, Condition1, Condition2, Report, Transitivity, check_conditions
from progress.cycles.drift import coordinates
from progress.summary import NormalSummary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOOKS = 4  # rounds between two looks for a cycle of parents


class _Cycle(Exception):
    """A cycle of parents: the numbers of its edges."""

    def __init__(self, edges: list[int]) -> None:
        self.edges = edges


def judge_huge(graph: SparkGraph, inside: Inside, count: int, options: Options) -> Report:
    """The verdict on a component of `count` edges; PS757 where not all summaries in it just add.

    Cost: where a coordinate can fall, a round for each edge of the longest way that falls; and `components` for each
    coordinate that stands still somewhere.
    """
    blocks, edges = _weighed(graph, inside.edges, count, options)
    try:
        left = _standing(graph, edges, blocks, options)
    except _Cycle as found:
        return _of_a_cycle(graph, found.edges)
    for block in blocks[1:]:  # each block of a product falls or rises by itself
        try:
            _standing(graph, edges, [block], options)
        except _Cycle as found:
            return _of_a_cycle(graph, found.edges)
    nothing = Report(Condition1(True, ()), Condition2(True, ()), Transitivity(True, None), Advancing(True, ()))
    remaining = left.count()
    if not remaining:
        return nothing
    if remaining <= options.fits:
        return nothing._replace(advancing=check_conditions(network_of(graph, left)[0]).advancing)
    try:  # all closed walks on what is left stand still: any cycle will do
        _look_for_a_cycle(_one_parent(left))
    except _Cycle as found:
        return nothing._replace(advancing=_of_a_cycle(graph, found.edges).advancing)
    raise AssertionError("components without a cycle")


def _of_a_cycle(graph: SparkGraph, edges: list[int]) -> Report:
    """The report on one cycle that falls; whether all others advance is not known then."""
    report = check_conditions(network_of(graph, numbers_frame(graph.session, {"edge": edges}))[0])
    return report if report.advancing.holds is False else report._replace(advancing=Advancing(None, ()))


def _weighed(graph: SparkGraph, edges: DataFrame, count: int, options: Options) -> tuple[list[list[str]], DataFrame]:
    """The columns of weights by block, and the edges with them."""
    from pyspark.sql import functions

    used = [row[0] for row in edges.select("summary").distinct().collect()]
    summaries = [graph.summaries[number] for number in used]
    domains = {(summary.source, summary.target) for summary in summaries}
    amounts = [summary.amounts if isinstance(summary, NormalSummary) else None for summary in summaries]
    (source, target) = next(iter(domains))
    if len(domains) > 1 or source != target or None in amounts:
        raise too_large_a_component(count, options.fits)
    found = coordinates(source)
    assert found is not None
    blocks: dict[int, list[str]] = {}
    for (block, _), leaf in found.items():
        blocks.setdefault(block, []).append(f"w{leaf}")
    rows = [(number, *given) for number, given in zip(used, amounts, strict=True) if given is not None]
    names = [f"w{leaf} bigint" for leaf in range(len(rows[0]) - 1)]
    weights = frame_of(graph.session, rows, f"summary int, {', '.join(names)}")
    return list(blocks.values()), cut(edges.drop("component").join(functions.broadcast(weights), "summary"))


def _standing(graph: SparkGraph, edges: DataFrame, blocks: list[list[str]], options: Options) -> DataFrame:
    """The edges on which a closed walk can stand still in all coordinates of the blocks.

    A block that falls raises `_Cycle`; of a product the first block alone is asked on all edges.
    """
    for block in blocks:
        for weight in block:
            edges = _still(graph, edges, weight, options)
            if not edges.head(1):
                return edges
    return edges


def _still(graph: SparkGraph, edges: DataFrame, weight: str, options: Options) -> DataFrame:
    """The edges inside components of those with a reduced weight of zero."""
    row = edges.selectExpr(f"min({weight})").first()
    assert row is not None
    if row[0] is not None and row[0] < 0:
        known = _potentials(edges, weight, options).select("id", "height")
        edges = edges.join(known.selectExpr("id AS src", "height AS before"), "src")
        edges = edges.join(known.selectExpr("id AS dst", "height AS after"), "dst")
        zero = edges.where(f"{weight} + before - after = 0").drop("before", "after")
    else:
        zero = edges.where(f"{weight} = 0")
    return cut(components(graph, zero, options).edges.drop("component"))


def _potentials(edges: DataFrame, weight: str, options: Options) -> DataFrame:
    """`id`, `height`: for every edge, height(dst) <= height(src) + weight. Raises `_Cycle` where there are none."""
    nodes = edges.selectExpr("explode(array(src, dst)) AS id").distinct()
    known = cut(
        nodes.selectExpr(
            "id", "0L AS height", "cast(NULL AS bigint) AS edge", "cast(NULL AS bigint) AS parent", "true AS new"
        )
    )
    number = 0
    while True:
        active = known.where("new")
        count = active.count()
        options.told(f"potential {weight}", number, count, count)
        if not count:
            return known
        if number and number % LOOKS == 0:
            _look_for_a_cycle(known)
        number += 1
        offered = active.selectExpr("id AS src", "height").join(edges, "src")
        offered = offered.selectExpr("dst AS id", f"struct(height + {weight} AS height, edge, src AS parent) AS offer")
        best = offered.groupBy("id").agg({"offer": "min"}).withColumnRenamed("min(offer)", "offer")
        known = cut(
            known.join(best, "id", "left").selectExpr(
                "id",
                "if(offer.height < height, offer.height, height) AS height",
                "if(offer.height < height, offer.edge, edge) AS edge",
                "if(offer.height < height, offer.parent, parent) AS parent",
                "coalesce(offer.height < height, false) AS new",
            )
        )


def _one_parent(edges: DataFrame) -> DataFrame:
    """An edge into each node: id, edge, parent."""
    from pyspark.sql import functions

    return (
        edges.groupBy("dst")
        .agg(functions.expr("min(struct(edge, src)) AS way"))
        .selectExpr("dst AS id", "way.edge AS edge", "way.src AS parent")
    )


def _look_for_a_cycle(known: DataFrame) -> None:
    """Raise the cycle where parents go round; those of falling distances have a negative sum then.

    Cost: a row through the driver for each node with a parent.
    """
    rows = known.where("parent IS NOT NULL").select("id", "edge", "parent").toArrow().to_pydict()
    ways = zip(rows["edge"], rows["parent"], strict=True)
    parents = dict(zip(rows["id"], ways, strict=True))
    done: set[int] = set()
    for start in parents:
        way: dict[int, int] = {}
        node = start
        while node in parents and node not in done and node not in way:
            way[node], node = len(way), parents[node][1]
        if node in way:
            cycle = list(way)[way[node] :]
            raise _Cycle([int(parents[member][0]) for member in cycle])
        done.update(way)
