"""Strongly connected components: where cycles can be, and so where the conditions are judged (A&I 3.2).

Edges that fit on the driver, two numbers each, are left to `progress.component`: at a million edges that takes a second
or two, where GraphFrames' stronglyConnectedComponents takes minutes, a job for each step of the longest way. What does
not fit is made smaller first:

1. *Trimming.* A node without an edge in or out is on no cycle; its edges go, and then those of others, round by round,
   as long as that pays.
2. *Contraction.* What a node of most edges reaches, and what reaches it, have its component in common. It is set aside
   with all edges that touch it. A large graph has one giant component, rarely more, so few such turns are needed.
3. What is left after some turns and still does not fit is given to GraphFrames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphs.at_scale.frames import frame_of, numbers_frame
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.reach import at_both_ends, backwards, numbered_ends, reached
from graphs.at_scale.rounds import Options, cut
from progress.component import component_numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TRIMS = 8
LEAST_TRIMMED = 0.05  # of the edges, else the next trim is not worth its round
TURNS = 8


class Inside(NamedTuple):
    """The components of two nodes and more: `nodes` is id, component; `edges` those inside, with `component`.

    A component's number is the id of one of its nodes.
    """

    nodes: DataFrame
    edges: DataFrame


def components(graph: SparkGraph, edges: DataFrame, options: Options, turns: int = TURNS) -> Inside:
    """The strongly connected components of the graph of `edges` (src, dst and whatever else)."""
    ends = edges.select("src", "dst")
    found: list[DataFrame] = []
    left = ends
    count = left.count()
    if count > options.fits:
        left = cut(ends)
    turn = 0
    while count > options.fits:
        left, count = _trimmed(left, count, turn, options)
        if count <= options.fits:
            break
        if turn == turns:
            found.append(_by_graphframes(graph, left))
            count = 0
            break
        together = _around_a_pivot(left, options)
        found.append(together)
        left = cut(at_both_ends(left, together.select("id"), "left_anti"))
        count = left.count()
        turn += 1
    if count:
        found.append(_on_the_driver(left))
    nodes = frame_of(graph.session, [], "id bigint, component bigint")
    for part in found:
        nodes = nodes.unionByName(part)
    nodes = cut(nodes.join(nodes.groupBy("component").count().where("count > 1"), "component", "left_semi"))
    heads, tails = nodes.selectExpr("id AS src", "component"), nodes.selectExpr("id AS dst", "component")
    return Inside(nodes, edges.join(heads, "src").join(tails, ["dst", "component"]))


def _on_the_driver(ends: DataFrame) -> DataFrame:
    sources, targets, ids = numbered_ends(ends)
    numbers = component_numbers(len(ids), sources, targets)
    first: dict[int, int] = {}
    names = ids.tolist()
    labels = [first.setdefault(number, name) for number, name in zip(numbers, names, strict=True)]
    return numbers_frame(ends.sparkSession, {"id": names, "component": labels})


def _trimmed(ends: DataFrame, count: int, turn: int, options: Options) -> tuple[DataFrame, int]:
    for number in range(TRIMS):
        heads, tails = ends.select("src").distinct(), ends.select("dst").distinct()
        kept = ends.join(tails.withColumnRenamed("dst", "src"), "src", "left_semi")
        kept = cut(kept.join(heads.withColumnRenamed("src", "dst"), "dst", "left_semi"))
        left = kept.count()
        options.told("trim", turn * TRIMS + number, left, left)
        ends, before, count = kept, count, left
        if left <= options.fits or before - left <= before * LEAST_TRIMMED:
            break
    return ends, count


def _around_a_pivot(ends: DataFrame, options: Options) -> DataFrame:
    """The component of a node with most edges."""
    degrees = ends.selectExpr("explode(array(src, dst)) AS id").groupBy("id").count()
    pivot = degrees.orderBy("count", "id", ascending=[False, True]).first()
    assert pivot is not None
    start = numbers_frame(ends.sparkSession, {"id": [pivot["id"]]})
    after = reached(ends, start, options, "forward")
    within = cut(after.join(reached(backwards(ends), start, options, "backward"), "id", "left_semi"))
    return within.selectExpr("id", f"{pivot['id']} AS component")


def _by_graphframes(graph: SparkGraph, ends: DataFrame) -> DataFrame:
    """GraphFrames on the edges that are left. Its vertices must not come from a join: they are made first."""
    from progress.runtime.on_spark.graphframes import graph_frame

    vertices = cut(ends.selectExpr("explode(array(src, dst)) AS id").distinct())
    labelled: DataFrame = graph_frame(vertices, cut(ends)).stronglyConnectedComponents(maxIter=vertices.count())
    return labelled.selectExpr("id", "cast(component AS bigint) AS component")
