"""Graphs on the local engine and on Spark, one table by size: `python -m benchmarks.at_scale [EDGES ...]`.

Layered graphs with feedback and times of two dimensions (`graphs_to_measure`), from Parquet files that both read. A row
is printed after both gave the same answer. Spark runs on all cores of this machine in one session, warmed up by the
smallest graph; `open` is reading, checking and resolving. Then, at the largest size, the closure of one seed beside
GraphFrames' own shortest paths from the same node, which is the nearest that it has; and, with `pregel`, the same
closure by GraphFrames' Pregel, with antichains as arrays of structs, which is what `graphs.at_scale.closure` is not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.graphs_to_measure import layered_edges
from graphs import at_scale
from graphs.at_scale.engine import local_graph
from graphs.at_scale.resolved import SparkGraph
from graphs.tables import _arrow
from progress import check_conditions, close
from progress.spark_session import start_session

Answer = TypeVar("Answer")
SIZES = (10_000, 100_000, 1_000_000)
SEED = ("n0", (0, 0))
PAIRS = '{"product": ["nat", "nat"]}'
NOTHING = "cast(array() AS array<struct<x: bigint, y: bigint>>)"


def timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    """Seconds, and the answer."""
    started = time.perf_counter()
    answer = work()
    return time.perf_counter() - started, answer


def write_graph(folder: Path, edges: int) -> at_scale.Tables:
    """The layered graph as two Parquet files."""
    arrow, parquet = _arrow()
    count, feedbacks, generated = layered_edges(edges)
    names = [f"n{number}" for number in range(count)] + [f"f{number}" for number in range(feedbacks)]
    summaries = [None] * count + [
        '{"advance": [1, 0]}' if number % 4 == 0 else "feedback" for number in range(feedbacks)
    ]
    nodes = {
        "id": names,
        "time": [PAIRS] * len(names),
        "summary": summaries,
        "notify": [True] * count + [False] * feedbacks,
    }
    rows = list(generated)
    listed = {"id": [row[2] for row in rows], "from": [row[0] for row in rows], "to": [row[1] for row in rows]}
    tables = at_scale.Tables(folder / f"nodes-{edges}.parquet", folder / f"edges-{edges}.parquet")
    parquet.write_table(arrow.table(nodes), tables.nodes)
    parquet.write_table(arrow.table(listed), tables.edges)
    return tables


def at_nodes(graph: SparkGraph, closure: Any) -> dict[str, tuple[Any, ...]]:
    """The minimal times at the nodes, as the local closure has them."""
    named = closure.at_nodes.join(graph.nodes, "id").selectExpr("name", "inline(times)").toArrow().to_pydict()
    found: dict[str, list[Any]] = {}
    for name, *numbers in zip(*named.values(), strict=True):
        found.setdefault(name, []).append(tuple(numbers))
    return {name: tuple(sorted(times)) for name, times in found.items()}


def measure(session: Any, tables: at_scale.Tables, edges: int) -> tuple[list[float], SparkGraph]:
    """A row: seconds of reading, checking and closing here, and of opening, checking and closing in Spark."""
    reading, graph = timed(lambda: local_graph(tables))
    resolving, network = timed(graph.network)
    checking, report = timed(lambda: check_conditions(graph))
    closing, closure = timed(lambda: close(graph, [SEED]))
    opening, spark = timed(lambda: at_scale.open_in_spark(tables, session))
    spark_checking, spark_report = timed(lambda: at_scale.check_conditions(spark))
    rounds: list[at_scale.Round] = []
    options = at_scale.Options(on_round=rounds.append)
    spark_closing, spark_closure = timed(lambda: at_scale.close(spark, [SEED], options=options))
    here = {name: tuple(sorted(closure.times(node))) for node, name in enumerate(network.nodes) if closure.times(node)}
    if report != spark_report or here != at_nodes(spark, spark_closure):
        sys.exit("the answers differ")
    figures = [reading + resolving, checking, closing, opening, spark_checking, spark_closing]
    print(f"{edges:>9,} " + " ".join(f"{figure:9.2f}" for figure in figures) + f" {len(rounds):7}", flush=True)
    return figures, spark


def shortest_paths(graph: SparkGraph) -> float:
    """Seconds that GraphFrames takes for the steps from the seed's node to every other: paths to it, backwards."""
    from graphframes import GraphFrame
    from pyspark.sql import DataFrame

    (start,) = graph.nodes.where(f"name = '{SEED[0]}'").select("id").collect()
    vertices = graph.nodes.select("id").persist()
    edges = graph.steps().selectExpr("dst AS src", "src AS dst").persist()
    vertices.count(), edges.count()
    paths = GraphFrame(vertices, edges)._impl._jvm_graph.shortestPaths()  # the client asks 0.9 for what 0.12 has
    landmarks = graph.session.sparkContext._jvm.java.util.ArrayList()
    landmarks.add(start["id"])
    paths.landmarks(landmarks)
    paths.setAlgorithm("graphframes")
    seconds, _ = timed(lambda: DataFrame(paths.run(), graph.session).where("size(distances) > 0").count())
    return seconds


def pregel(graph: SparkGraph) -> float:
    """Seconds that GraphFrames' Pregel takes for the closure of the seed."""
    from graphframes import GraphFrame
    from graphframes.lib import Pregel
    from pyspark.sql import functions

    (start,) = graph.nodes.where(f"name = '{SEED[0]}'").select("id").collect()
    amounts = {number: summary.amounts for number, summary in enumerate(graph.summaries)}
    added = graph.session.createDataFrame(
        [(key, *value) for key, value in amounts.items()], "summary int, a int, b int"
    )
    edges = graph.steps().join(functions.broadcast(added), "summary").select("src", "dst", "a", "b").localCheckpoint()
    vertices = graph.nodes.selectExpr("id", f"id = {start['id']} AS first").localCheckpoint()
    below = "exists({0}, o -> o.x <= t.x AND o.y <= t.y AND o != t)"
    together = f"array_union(times, coalesce(_pregel_msg_, {NOTHING}))"
    builder = GraphFrame(vertices, edges).pregel.setMaxIter(1_000).setCheckpointInterval(2).setEarlyStopping(True)
    assert isinstance(builder, Pregel)
    found = (
        builder.withVertexColumn(
            "times",
            functions.expr(f"if(first, array(struct(0L AS x, 0L AS y)), {NOTHING})"),
            functions.expr(f"filter({together}, t -> NOT {below.format(together)})"),
        )
        .withVertexColumn(
            "changed",
            functions.expr("first"),
            functions.expr("exists(_pregel_msg_, t -> NOT exists(times, o -> o.x <= t.x AND o.y <= t.y)) IS true"),
        )
        .sendMsgToDst(
            functions.expr(
                "if(src.changed, transform(src.times, t -> struct(t.x + edge.a AS x, t.y + edge.b AS y)), NULL)"
            )
        )
        .aggMsgs(functions.expr("array_distinct(flatten(collect_list(_pregel_msg_)))"))
    )
    seconds, _ = timed(lambda: found.run().where("size(times) > 0").count())
    return seconds


def main(arguments: list[str]) -> None:
    """All sizes, or those that are named."""
    sizes = [int(word) for word in arguments if word.isdigit()] or list(SIZES)
    starting, session = timed(start_session)
    print(f"session: {starting:.1f} s")
    with tempfile.TemporaryDirectory() as name:
        session.sparkContext.setCheckpointDir(f"{name}/checkpoints")
        measure(session, write_graph(Path(name), 1_000), 1_000)[1].release()
        print("    edges      read     check     close      open     check     close  rounds   (local, then Spark)")
        before: list[float] = []
        for edges in sizes:
            figures, graph = measure(session, write_graph(Path(name), edges), edges)
            if before:
                print(
                    f"{'grows':>9} " + " ".join(f"{now / then:9.1f}" for now, then in zip(figures, before, strict=True))
                )
            before = figures
            if "pregel" in arguments:
                print(f"          by GraphFrames' Pregel {pregel(graph):.1f} s", flush=True)
            if edges == max(sizes):
                paths = shortest_paths(graph)
                print(
                    f"          shortestPaths {paths:.1f} s; close takes {figures[-1] / paths:.2f} of that", flush=True
                )
            graph.release()
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
