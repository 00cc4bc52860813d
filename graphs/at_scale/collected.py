"""Parts of a graph taken out of Spark, as a `Network` that the local engine works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphs.at_scale.frames import numbers_frame
from graphs.at_scale.graph_in_spark import SparkGraph
from progress.topology import NO_NODE, Network

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def network_of(
    graph: SparkGraph, edges: DataFrame, more_edges: Sequence[Any] = (), more_nodes: Sequence[int] = ()
) -> tuple[Network, list[int]]:
    """The network of some inner edges (`edge` is enough) and the nodes at their ends, in the order of the whole graph.

    `more_nodes` belong to it, too; `more_edges` are rows of edges that may have an end outside. The second answer are
    the ids of the nodes. Cost: as many rows through the driver.
    """
    columns = ["edge", "name", "src", "dst", "domain", "summary"]
    rows = _collected(graph.edges.join(edges.select("edge"), "edge", "left_semi").select(columns))
    ends = sorted({row[2] for row in rows} | {row[3] for row in rows} | set(more_nodes))
    have = {row[0] for row in rows}
    rows += [tuple(row[column] for column in columns) for row in more_edges if row["edge"] not in have]
    listed = sorted(rows, key=lambda row: row[0])
    wanted = numbers_frame(graph.session, {"id": ends})
    nodes = sorted(
        _collected(
            graph.nodes.join(wanted, "id", "left_semi").selectExpr(
                "id", "name", "domain", "notifies", "coalesce(requests, '') AS requests"
            )
        )
    )
    place = {number: position for position, number in enumerate(ends)}
    requests = {(each.domain, each.text or ""): each.summary for each in graph.requests}
    usual: Any = next(iter(requests.values()), None)  # of nodes that ask for nothing
    network = Network(
        [row[1] for row in nodes],
        [graph.domains[row[2]] for row in nodes],
        [requests.get((row[2], row[4]), usual) for row in nodes],
        [row[3] for row in nodes],
        [row[1] for row in listed],
        [place.get(row[2], NO_NODE) for row in listed],
        [place.get(row[3], NO_NODE) for row in listed],
        [graph.domains[row[4]] for row in listed],
        [None if row[5] is None else graph.summaries[row[5]] for row in listed],
    )
    return network, ends


def _collected(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All rows, by way of Arrow: a tenth of what `collect` takes for many."""
    columns = frame.toArrow().to_pydict()
    return list(zip(*columns.values(), strict=True))
