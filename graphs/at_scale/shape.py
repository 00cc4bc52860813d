"""Where nothing can arrive, and where what arrives has no effect (`graphs.shape`), in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.reach import backwards, reached
from graphs.at_scale.rounds import Options, one_group

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def unreachable_in_spark(graph: SparkGraph, options: Options) -> list[str]:
    """Locations to which neither an input edge nor a node that asks for notifications leads, in order.

    Cost: O(nodes + edges) and the names that are found; rounds only where some node asks for none.
    """
    with one_group(graph.session, options, "unreachable"):
        return _left_out(graph, options, "src", "dst")


def dangling_in_spark(graph: SparkGraph, options: Options) -> list[str]:
    """Locations from which neither an output edge nor a node that asks for notifications can be reached, in order."""
    with one_group(graph.session, options, "dangling"):
        return _left_out(graph, options, "dst", "src")


def beginning_in_spark(graph: SparkGraph, options: Options) -> list[str]:
    """Nodes that ask for notifications and have no edge into them, in order. Cost: O(nodes + edges)."""
    with one_group(graph.session, options, "beginning"):
        entered = graph.edges.where("dst IS NOT NULL").selectExpr("dst AS id").distinct()
        rows = graph.nodes.where("notifies").join(entered, "id", "left_anti").select("id", "name").collect()
        return [name for _, name in sorted(tuple(row) for row in rows)]


def _left_out(graph: SparkGraph, options: Options, before: str, after: str) -> list[str]:
    """Nodes that are not reached from those that notify and from the graph's ends, and the edges at them."""
    if not graph.nodes.where("NOT notifies").head(1):
        return []
    inner = graph.between().select("src", "dst")
    starts = graph.nodes.where("notifies").select("id")
    ends = graph.edges.where(f"{before} IS NULL").selectExpr(f"{after} AS id")
    found = reached(inner if before == "src" else backwards(inner), starts.unionAll(ends).distinct(), options)
    missing: DataFrame = graph.nodes.join(found, "id", "left_anti").select("id", "name")
    nodes = sorted(tuple(row) for row in missing.collect())
    if not nodes:
        return []
    edges = graph.edges.join(missing.selectExpr(f"id AS {before}"), before, "left_semi").select("edge", "name")
    return [name for _, name in nodes] + [name for _, name in sorted(tuple(row) for row in edges.collect())]
