"""Opening a graph in Spark: its tables are checked for shape, names become numbers, domains and summaries are bound.

What is wrong has the code that a local graph gives (docs/graph-files.md): PS007 no name, or an edge without ends; PS009
no name at all or too long a one; PS010 a name twice; PS011 a name that leads nowhere; PS015 an edge to its own source.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from graphs.at_scale.columns import read_parquet, standard_edges, standard_nodes
from graphs.at_scale.errors import not_here, wrong_table
from graphs.at_scale.frames import frame_of
from graphs.at_scale.graph_in_spark import Resolution, SparkGraph
from graphs.files.document import quoted
from graphs.files.notation import write_domain, write_summary
from graphs.graph import LONGEST_NAME, Graph
from progress.errors import PointstampError
from progress.normal_form.declared import Identity

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NODE_TYPES = "id string, time string, summary string, emits string, requests string, notify boolean"
EMITS = "from_json(emits, 'map<string, string>')"  # null where the text is no JSON, or no mapping
EDGE_TYPES = "id string, `from` string, `to` string, time string"


def open_tables(
    session: SparkSession, nodes: DataFrame | str | os.PathLike[str], edges: DataFrame | str | os.PathLike[str]
) -> SparkGraph:
    """The graph of two DataFrames, or of two Parquet files. Cost: joins of the edges with the nodes at both ends."""
    from pyspark import StorageLevel

    nodes = read_parquet(session, nodes) if isinstance(nodes, str | os.PathLike) else nodes
    edges = read_parquet(session, edges) if isinstance(edges, str | os.PathLike) else edges
    named = standard_nodes(nodes).persist(StorageLevel.MEMORY_AND_DISK)  # numbers of rows are made once
    node_count = _check_nodes(named)
    joined = _joined(named, standard_edges(edges)).persist(StorageLevel.MEMORY_AND_DISK)
    edge_count = _check_edges(named, joined)
    summarised = _with_emits(named, joined)
    graph = Resolution(session).run(named, summarised, node_count, edge_count)
    for table in (named, joined):
        table.unpersist()
    return graph


def open_graph(session: SparkSession, graph: Graph) -> SparkGraph:
    """A local graph in Spark. Refused (PS757) where it has calls, or domains or summaries of the user's own."""
    if graph.recursion is not None:
        raise not_here("a graph with calls")
    nodes = [
        (
            name,
            _written(record.domain, write_domain),
            None if isinstance(record.summary, Identity) else _written(record.summary, write_summary),
            json.dumps({edge: json.loads(_written(item, write_summary)) for edge, item in record.emits.items()})
            if record.emits
            else None,
            None if isinstance(record.requests, Identity) else _written(record.requests, write_summary),
            record.notifies,
        )
        for name, record in graph.nodes.items()
    ]
    edges = [
        (name, source, target, _written(graph.edge_times[name], write_domain) if name in graph.edge_times else None)
        for name, source, target in zip(graph.edges, graph.sources, graph.targets, strict=True)
    ]
    return open_tables(session, frame_of(session, nodes, NODE_TYPES), frame_of(session, edges, EDGE_TYPES))


def _written(value: Any, write: Any) -> str:
    try:
        return json.dumps(write(value))
    except PointstampError as error:
        raise not_here(error.message) from None


# --- shape -----------------------------------------------------------------------------------------------------------


def _check_nodes(nodes: DataFrame) -> int:
    """How many nodes there are; refused where names are missing, are none, or are there twice."""
    row = nodes.selectExpr(
        "count(*)",
        "count_if(name IS NULL)",
        f"min_by(name, id) FILTER (WHERE length(name) NOT BETWEEN 1 AND {LONGEST_NAME})",
        f"count_if(length(name) NOT BETWEEN 1 AND {LONGEST_NAME})",
        f"min_by(name, id) FILTER (WHERE emits IS NOT NULL AND {EMITS} IS NULL)",
        f"min_by(name, id) FILTER (WHERE exists(map_values({EMITS}), each -> each IS NULL))",
    ).first()
    assert row is not None
    count, nameless, wrong, wrongs, emits, nothing = row
    if not count:
        raise wrong_table("nodes", "is empty", "a row for each node")
    if nameless:
        raise PointstampError("PS007", "the table of nodes: a row has no name", "a column id")
    if wrongs:
        raise PointstampError("PS009", f"{wrong[:40]!r} is not a name", f"text of 1 to {LONGEST_NAME} characters")
    if emits is not None:
        raise PointstampError("PS007", f"emits of {emits!r} is not a mapping", "a mapping {edge: summary}")
    if nothing is not None:
        raise PointstampError("PS013", f"emits of {nothing!r} has null for a summary", "a summary, like feedback")
    twice = nodes.groupBy("name").agg({"id": "max", "*": "count"}).where("`count(1)` > 1").orderBy("max(id)").first()
    if twice is not None:
        raise PointstampError("PS010", f"two nodes are named {twice['name']!r}", "one row a node")
    return int(count)


def _joined(nodes: DataFrame, edges: DataFrame) -> DataFrame:
    """The edges with what is known of the nodes at their ends."""
    before = nodes.selectExpr(
        "name AS source", "id AS src", "time AS src_time", "summary", "emits IS NOT NULL AS src_emits"
    )
    after = nodes.selectExpr("name AS target", "id AS dst", "time AS dst_time")
    return edges.join(before, "source", "left").join(after, "target", "left")


def _check_edges(nodes: DataFrame, edges: DataFrame) -> int:
    """How many edges there are; refused where their ends or names are wrong."""
    row = edges.selectExpr(
        "count(*)",
        "min_by(name, edge) FILTER (WHERE source IS NULL AND target IS NULL)",
        "min_by(source, edge) FILTER (WHERE source = target)",
        "min_by(source, edge) FILTER (WHERE source IS NOT NULL AND src IS NULL)",
        "min_by(target, edge) FILTER (WHERE target IS NOT NULL AND dst IS NULL)",
        f"min_by(left(name, 40), edge) FILTER (WHERE length(name) NOT BETWEEN 1 AND {LONGEST_NAME})",
    ).first()
    assert row is not None
    count, endless, round_trip, no_source, no_target, no_name = row
    if endless is not None:
        raise PointstampError("PS007", "an edge has neither from nor to", "name at least one of its ends")
    for key, name in (("from", no_source), ("to", no_target)):
        if name is not None:
            raise PointstampError("PS011", f"{key} names {quoted(name)}, which is not a node", "the name of a node")
    if round_trip is not None:
        hint = "an edge joins two distinct nodes: put one between"
        raise PointstampError("PS015", f"an edge leads from {round_trip!r} to itself", hint)
    if no_name is not None:
        raise PointstampError("PS009", f"{no_name!r} is not a name", f"text of 1 to {LONGEST_NAME} characters")
    names = edges.select("name").unionAll(nodes.select("name"))
    twice = names.groupBy("name").count().where("count > 1").orderBy("name").first()
    if twice is not None:
        name = twice["name"]
        raise PointstampError(
            "PS010", f"{name!r} names two locations", "nodes and edges share one set of names: give an id"
        )
    return int(count)


def _with_emits(nodes: DataFrame, edges: DataFrame) -> DataFrame:
    """The edges with the summary that `emits` gives some of them instead of their source's."""
    from pyspark.sql import functions

    if not nodes.where("emits IS NOT NULL").head(1):
        return edges
    emits = nodes.where("emits IS NOT NULL").selectExpr(
        "id AS src", "name AS source", f"explode({EMITS}) AS (name, emitted)"
    )
    unknown = emits.join(edges.where("src_emits").select("src", "name"), ["src", "name"], "left_anti")
    found = unknown.orderBy("src").first()
    if found is not None:
        message = f"emits names {quoted(found['name'])}, which is not an edge that leaves {quoted(found['source'])}"
        raise PointstampError("PS011", message, "the id of such an edge")
    given = edges.join(emits.drop("source"), ["src", "name"], "left")
    return given.withColumn("summary", functions.coalesce("emitted", "summary")).drop("emitted")
