"""Graphs on the local engine and on Spark, one table by size: `python -m benchmarks.at_scale [EDGES ...]`.

Layered graphs with feedback and times of two dimensions (`graphs_to_measure`), from Parquet files that both read. A row
is printed after both gave the same answer. Spark runs on all cores of this machine in one session, warmed up by the
smallest graph; `open` is reading, checking and resolving. Then, at the largest size, the closure of one seed beside
GraphFrames' own shortest paths from the same node, which is the nearest that it has. It ends with exit code 1 where ten
times the edges cost more than six times as much, or the closure more than 1.5 times what the paths do.
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
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.files.parquet import _arrow
from progress import check_conditions, close
from progress.runtime.on_spark.session import start_session

Answer = TypeVar("Answer")
SIZES = (10_000, 100_000, 1_000_000)
SEED = ("n0", (0, 0))
PAIRS = '{"product": ["nat", "nat"]}'
MOST_GROWTH = 6.0  # for ten times the edges
MOST_OF_PATHS = 1.5


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
    from pyspark.sql import DataFrame

    from progress.runtime.on_spark.graphframes import graph_frame

    (start,) = graph.nodes.where(f"name = '{SEED[0]}'").select("id").collect()
    vertices = graph.nodes.select("id").persist()
    edges = graph.steps().selectExpr("dst AS src", "src AS dst").persist()
    vertices.count(), edges.count()
    paths = graph_frame(vertices, edges)._impl._jvm_graph.shortestPaths()  # the client asks 0.9 for what 0.12 has
    jvm: Any = graph.session.sparkContext._jvm
    landmarks = jvm.java.util.ArrayList()
    landmarks.add(start["id"])
    paths.landmarks(landmarks)
    paths.setAlgorithm("graphframes")
    seconds, _ = timed(lambda: DataFrame(paths.run(), graph.session).where("size(distances) > 0").count())
    return seconds


def main(arguments: list[str]) -> None:
    """All sizes, or those that are named."""
    sizes = [int(word) for word in arguments if word.isdigit()] or list(SIZES)
    missed = []
    starting, session = timed(start_session)
    print(f"session: {starting:.1f} s")
    with tempfile.TemporaryDirectory() as name:
        session.sparkContext.setCheckpointDir(f"{name}/checkpoints")  # for shortestPaths
        measure(session, write_graph(Path(name), 1_000), 1_000)[1].release()
        print("    edges      read     check     close      open     check     close  rounds   (local, then Spark)")
        before: list[float] = []
        for edges in sizes:
            figures, graph = measure(session, write_graph(Path(name), edges), edges)
            here, there = sum(figures[:3]), sum(figures[3:])
            print(f"          together: local {here:.1f} s, Spark {there:.1f} s, {there / here:.2f} times", flush=True)
            if before:
                grown = [now / then for now, then in zip(figures, before, strict=True)]
                print(f"{'grows':>9} " + " ".join(f"{each:9.1f}" for each in grown))
                if edges >= 1_000_000:  # of what is smaller, most is the start of jobs
                    missed += [f"Spark grows {each:.1f} times" for each in grown[3:] if each > MOST_GROWTH]
            before = figures
            if edges == max(sizes):
                paths = shortest_paths(graph)
                share = figures[-1] / paths
                print(f"          shortestPaths {paths:.1f} s; close takes {share:.2f} of that", flush=True)
                if share > MOST_OF_PATHS:
                    missed.append(f"close takes {share:.2f} of shortestPaths")
            graph.release()
    session.stop()
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main(sys.argv[1:])
