"""What can be reached over edges, times left aside: breadth first, a round for each step away from the starts.

Edges that fit (`Options.fits`) are walked on the driver, two numbers an edge; more of them stay in Spark, where a round
joins the nodes found in the one before to the edges that leave them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphs.at_scale.frames import numbers_frame
from graphs.at_scale.rounds import Options, cut

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def reached(edges: DataFrame, starts: DataFrame, options: Options, work: str = "reach") -> DataFrame:
    """The nodes, as `id`, to which edges (`src`, `dst`) lead from the starts (`id`), the starts included."""
    if edges.count() <= options.fits:
        return _walked(edges, starts)
    known = active = cut(starts.select("id").distinct())
    number = 0
    while True:
        count = active.count()
        options.told(work, number, count, count)
        if not count:
            return known
        number += 1
        onward = edges.join(active.withColumnRenamed("id", "src"), "src", "left_semi").selectExpr("dst AS id")
        active = cut(onward.distinct().join(known, "id", "left_anti"))
        known = cut(known.unionAll(active)) if number % 8 == 0 else known.unionAll(active)


def at_both_ends(edges: DataFrame, nodes: DataFrame, how: str) -> DataFrame:
    """The edges of which both ends are among the nodes (`left_semi`), or neither is (`left_anti`)."""
    for end in ("src", "dst"):
        edges = edges.join(nodes.withColumnRenamed("id", end), end, how)
    return edges


def backwards(edges: DataFrame) -> DataFrame:
    """The same edges, each the other way round."""
    return edges.selectExpr("dst AS src", "src AS dst")


def _walked(edges: DataFrame, starts: DataFrame) -> DataFrame:
    sources, targets, ids = numbered_ends(edges)
    place = {number: position for position, number in enumerate(ids.tolist())}
    outside = [row[0] for row in starts.select("id").distinct().collect()]
    pending = [place[number] for number in outside if number in place]
    seen = set(pending)
    outgoing: list[list[int]] = [[] for _ in place]
    for source, target in zip(sources, targets, strict=True):
        outgoing[source].append(target)
    while pending:
        for target in outgoing[pending.pop()]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    numbers = ids.tolist()
    found = {*outside, *(numbers[position] for position in seen)}
    return numbers_frame(edges.sparkSession, {"id": sorted(found)})


def numbered_ends(edges: DataFrame) -> tuple[list[int], list[int], Any]:
    """The ends of all edges as positions 0, 1, ..., and the id of each position."""
    import numpy

    table = edges.select("src", "dst").toArrow()
    ends = numpy.concatenate([table["src"].to_numpy(), table["dst"].to_numpy()])
    ids, positions = numpy.unique(ends, return_inverse=True)
    count = table.num_rows
    return positions[:count].tolist(), positions[count:].tolist(), ids
