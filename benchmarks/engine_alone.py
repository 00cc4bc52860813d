"""A trace on the engine below the `Tracker`: what timely's tracker does, and no more.

Both are given changes that were prepared beforehand, and both know after each step at which watched nodes the frontier
moved. Judging whether steps are legal, names, and callbacks are not part of it. A step is one call from Python.
"""

from __future__ import annotations

import gc
import time
from typing import Any

from benchmarks.replay import Replayed
from benchmarks.trace_text import Change, Digest, numbered
from benchmarks.traces import Time, Trace
from progress.engines import choose
from progress.engines.arcs import Entrances


def replay_on_engine(
    trace: Trace, repeat: int = 50, limit: float = 1.0, engine: str = "auto", kernel: bool | None = None
) -> Replayed:
    """The least time of some replays, one `update` a step, and the digest of what moved; readiness is not asked for.

    A request that the trace makes is outstanding, and waits; what releases it is among what is measured.
    """
    network = trace.graph.network()
    entrances = Entrances(network)
    watched = range(len(network.nodes)) if trace.watched is None else [network.numbers[name] for name in trace.watched]

    def made() -> Any:
        built: Any = choose(entrances.arcs, engine, kernel)
        for vertex in watched:
            built.watch(vertex)
        return built

    steps = [_located(entrances, changes) for changes in numbered(trace)]
    seen, digest = _digest(made(), steps)
    best = float("inf")
    begun = time.perf_counter()
    for repetition in range(repeat):
        if repetition > 1 and time.perf_counter() - begun > limit:
            break
        running = made()
        update, take_moved = running.update, running.take_moved
        for changes in steps[: trace.timed + 1]:
            update(changes)
        take_moved()
        todo = steps[trace.timed + 1 :]
        gc.collect()
        started = time.perf_counter()
        for changes in todo:
            update(changes)
            take_moved()
        best = min(best, time.perf_counter() - started)
    return Replayed(best, float("nan"), seen, digest)


def _located(entrances: Entrances, changes: list[Change]) -> list[tuple[int, Time, int]]:
    """Vertex, time and change: messages at the entrance of their target, requests where they are an obstacle."""
    found: list[tuple[int, Time, int]] = []
    for what, node, change, when in changes:
        places = [(node, when)] if what == "m" else entrances.of_request(node, when)
        found += [(vertex, after, change) for vertex, after in places]
    return found


def _digest(engine: Any, steps: list[list[tuple[int, Time, int]]]) -> tuple[int, str]:
    digest = Digest()
    known: dict[int, tuple[Time, ...]] = {}
    for number, changes in enumerate(steps):
        engine.update(changes)
        for vertex in sorted(engine.take_moved()):
            frontier = tuple(sorted(engine.times(vertex)))
            if frontier != known.get(vertex, ()):
                known[vertex] = frontier
                digest.moved(number, vertex, frontier)
    return digest.count, str(digest)
