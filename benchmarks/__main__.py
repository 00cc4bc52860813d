"""`make bench`: every figure of the documentation, each beside a peer measured in the same run on the same input.

A row is printed only after both gave the same answer. Times are the least of a few runs; a ratio is this project's time
over the peer's. The peer of the first table is networkx, which has the same language and answers part of the question:
it lists simple cycles, finds strongly connected components, and computes shortest paths. The engine has its own peers
(`engine.py`).
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import networkx

from benchmarks import engine, recovery, recursion, runtime, track_lines
from benchmarks.graphs_to_measure import complete, layered, layered_edges, ring_with_one_fall
from graphs import Graph
from progress import check_conditions, close

Answer = TypeVar("Answer")


def measured(work: Callable[[], Answer], repeat: int = 3) -> tuple[float, Answer]:
    """The least time of some runs, and the answer."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        started = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - started)
    return best, answer


def row(name: str, mine: float, peer: float | None, note: str) -> None:
    """A line of the table."""
    ratio = f"{mine / peer:10.4f}" if peer else " " * 10
    theirs = f"{peer:10.4f}" if peer else " " * 10
    print(f"{name:46} {mine:10.4f} {theirs} {ratio}  {note}", flush=True)


def same(one: Any, other: Any) -> None:
    """Both must have given the same answer before any time is printed."""
    if one != other:
        sys.exit(f"the answers differ: {str(one)[:200]} and {str(other)[:200]}")


def without_names(graph: Graph) -> networkx.DiGraph[Any]:
    """The nodes and internal edges, for networkx."""
    network = graph.network()
    internal = (pair for pair in zip(network.sources, network.targets, strict=True) if -1 not in pair)
    return networkx.DiGraph(internal)


def complete_graph() -> None:
    """All simple cycles rise: decided without listing them, and by listing them."""
    graph = complete(10)
    mine, report = measured(lambda: check_conditions(graph))

    def listed() -> tuple[bool, int]:
        count = 0
        rises = True
        for cycle in networkx.simple_cycles(without_names(graph)):
            count += 1
            rises = rises and len(cycle) > 0  # every node adds one
        return rises, count

    peer, (rises, count) = measured(listed, 1)
    same((report.condition_2.holds, report.advancing.holds), (rises, rises))
    row("check: complete graph of 10 nodes", mine, peer, f"peer: simple_cycles, {count:,} of them")


def large_graphs() -> None:
    """Conditions on layered graphs with feedback and nested-loop times, and how the cost grows."""
    before = 0.0
    for edges in (10_000, 100_000, 1_000_000):
        building, graph = measured(lambda edges=edges: layered(edges), 1)  # type: ignore[misc]
        resolving, network = measured(graph.network, 1)
        mine, report = measured(lambda graph=graph: check_conditions(graph), 1)  # type: ignore[misc]
        simple = without_names(graph)
        peer, parts = measured(
            lambda simple=simple: [part for part in networkx.strongly_connected_components(simple) if len(part) > 1],  # type: ignore[misc]
            1,
        )
        same(sum(map(len, parts)), sum(size for size in network.component_sizes if size > 1))
        same((report.condition_2.holds, report.advancing.holds), (True, True))
        growth = f", {mine / before:.1f} times the row above" if before else ""
        row(f"check: layered graph of {edges:,} edges", mine, peer, f"peer: components alone{growth}")
        whole = building + resolving + mine
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        row("  built, resolved and checked", whole, None, f"{memory} MB at most, the peer's graph included")
        before = mine


def long_cycle() -> None:
    """One falling cycle through all nodes, found and followed; the large one is out of the peer's reach."""
    peer_takes_part(1_000)
    graph = ring_with_one_fall(100_000)
    graph.network()
    mine, report = measured(lambda: check_conditions(graph), 1)
    same(report.condition_2.holds, False)
    row("check: ring of 100,000 that loses one a round", mine, None, "with a witness of 200,000 steps")


def peer_takes_part(count: int) -> None:
    """A ring small enough for networkx."""
    graph = ring_with_one_fall(count)
    graph.network()
    mine, report = measured(lambda: check_conditions(graph), 1)
    weighted: networkx.DiGraph[Any] = networkx.DiGraph()
    network = graph.network()
    for edge, (source, target) in enumerate(zip(network.sources, network.targets, strict=True)):
        amount = graph.nodes[network.nodes[source]].summary.amount
        weighted.add_edge(source, target, weight=amount, edge=edge)
    peer, negative = measured(lambda: networkx.negative_edge_cycle(weighted), 1)
    same(report.condition_2.holds, not negative)
    row(f"check: ring of {count:,} that loses one a round", mine, peer, "peer: negative_edge_cycle, no witness")


def closures() -> None:
    """From one pointstamp to the frontiers of all locations: with one counter these are shortest paths."""
    before = 0.0
    for edges in (10_000, 100_000, 1_000_000):
        count, feedbacks, generated = layered_edges(edges)
        graph = Graph()
        weighted: networkx.DiGraph[str] = networkx.DiGraph()
        for number in range(count):
            graph.node(f"n{number}", summary={"advance": 1})
        for number in range(feedbacks):
            graph.node(f"f{number}", summary={"advance": 3})
        for source, target, name in generated:
            graph.edge(source, target, name)
            if source and target:
                weighted.add_edge(source, target, weight=3 if source.startswith("f") else 1)
        graph.network()
        mine, frontiers = measured(lambda graph=graph: close(graph, [("input", 0)]).frontiers, 1)  # type: ignore[misc]
        peer, distances = measured(
            lambda weighted=weighted: networkx.single_source_dijkstra_path_length(weighted, "n0"),  # type: ignore[misc]
            1,
        )
        same({name: (length,) for name, length in distances.items()}, {
            name: times for name, times in frontiers.items() if name in graph.nodes
        })  # fmt: skip
        growth = f", {mine / before:.1f} times the row above" if before else ""
        row(f"close: layered graph of {edges:,} edges", mine, peer, f"peer: Dijkstra, nodes alone{growth}")
        before = mine


def start_up() -> None:
    """What a program pays for `import progress`, and a shell for `pointstamp check`, beside the bare interpreter."""

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def started(*arguments: str) -> float:
        command = [sys.executable, *arguments]
        return measured(lambda: subprocess.run(command, check=True, capture_output=True, env=environment), 15)[0]

    bare = started("-c", "pass")
    row("start: import progress", started("-c", "import progress"), bare, "peer: the bare interpreter")
    check = started("-m", "graphs", "check", "examples/loop.yaml")
    row("start: pointstamp check of a small file", check, bare, "peer: the bare interpreter")


def main() -> None:
    """Measure everything: seconds of this project's parts, a line of `track`, engine, recursion, runtime, recovery."""
    print(f"{'seconds':46} {'this':>10} {'peer':>10} {'this/peer':>10}")
    for measurement in (start_up, complete_graph, long_cycle, large_graphs, closures):
        measurement()
    print()
    track_lines.main()
    print()
    engine.main()
    print()
    recursion.main()
    print()
    runtime.main()
    print()
    recovery.main()


if __name__ == "__main__":
    main()
