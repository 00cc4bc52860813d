"""Replaying a trace on this project's tracker: the time it takes, and a digest of all that it showed.

What may still arrive at a node is the frontier over its incoming edges. Where there is one incoming edge, it is that
edge's frontier; where the node never requests anything, it is the node's own. Otherwise those of the edges are merged.

A first replay, not timed, makes the digest. The timed ones hand the same steps to `Tracker.apply`, with a subscription
to each watched place that only notes that it was called, as the peer only notes which watched places changed.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.trace_text import Digest, least
from benchmarks.traces import Time, Trace
from progress.topology import Network, Topology


class Replayed(NamedTuple):
    """The least seconds for the timed steps and for building the tracker, how many changes were seen, their digest."""

    seconds: float
    build_seconds: float
    seen: int
    digest: str


class Watched:
    """Which locations to subscribe to so as to see what arrives at the watched nodes."""

    def __init__(self, trace: Trace) -> None:
        network: Network = trace.graph.network()
        numbers = network.numbers
        names = network.nodes if trace.watched is None else trace.watched
        requesting = {node for node, _ in trace.requests}
        requesting.update(node for step in trace.steps for node, _ in step.requests)
        self.places: dict[int, list[str]] = {}  # by node, in ascending order
        for name in sorted(names, key=numbers.__getitem__):
            node = numbers[name]
            incoming = [network.edges[edge] for edge in network.incoming[node]]
            self.places[node] = incoming if len(incoming) == 1 or name in requesting else [name]

    def subscribe(self, tracker: Any, callback: Callable[[str, Any, Any], object]) -> None:
        """Hear of every change."""
        for places in self.places.values():
            for place in places:
                tracker.subscribe(place, callback)


def digest_of(trace: Trace, make: Callable[..., Any]) -> tuple[int, str]:
    """Replay the trace once: how many changes it shows, and their digest."""
    watched = Watched(trace)
    numbers = trace.graph.network().numbers
    nodes_at: dict[str, list[int]] = {}
    for node, places in watched.places.items():
        for place in places:
            nodes_at.setdefault(place, []).append(node)
    changed: set[int] = set(watched.places)
    known: dict[int, list[Time]] = {node: [] for node in watched.places}
    tracker = make(trace.graph, inputs=trace.inputs, requests=trace.requests)
    watched.subscribe(tracker, lambda place, before, after: changed.update(nodes_at[place]))
    digest = Digest()

    def look(step: int) -> None:
        for node in sorted(changed):
            frontier = least(when for place in watched.places[node] for when in tracker.frontier(place))
            if frontier != known[node]:
                known[node] = frontier
                digest.moved(step, node, frontier)
        changed.clear()
        for place, when in tracker.get_ready() if trace.ready else ():
            digest.ready(step, numbers[place], when)

    look(0)
    for number, step in enumerate(trace.steps, 1):
        tracker.apply(**step._asdict())
        look(number)
    return digest.count, str(digest)


def replay(
    trace: Trace, make: Callable[..., Any] | None = None, repeat: int = 50, limit: float = 1.0, **options: Any
) -> Replayed:
    """Replay a trace: `make` builds the tracker, by default `progress.Tracker` with these options.

    `repeat` timed replays, or fewer, but two at least, when those took `limit` seconds. Building begins, as the peer's
    does, with the graph as numbers and its summaries resolved.
    """
    if make is None:
        from progress import Tracker

        make = Tracker

    def built(graph: Topology, **start: Any) -> Any:
        return make(graph, **start, **options)

    seen, digest = digest_of(trace, built)
    watched = Watched(trace)
    best = best_build = float("inf")
    begun = time.perf_counter()
    for repetition in range(repeat):
        if repetition > 1 and time.perf_counter() - begun > limit:
            break
        noted: list[str] = []
        network = trace.graph.resolve()[0]  # a new one, which remembers nothing of the tracker before
        gc.collect()
        started = time.perf_counter()
        tracker = built(network, inputs=trace.inputs, requests=trace.requests)
        best_build = min(best_build, time.perf_counter() - started)
        watched.subscribe(tracker, lambda place, before, after, noted=noted: noted.append(place))  # type: ignore[misc]
        best = min(best, _timed(trace, tracker))
    return Replayed(best, best_build, seen, digest)


def _timed(trace: Trace, tracker: Any) -> float:
    apply, get_ready = tracker.apply, tracker.get_ready
    for inputs, messages, requests, delivered in trace.steps[: trace.timed]:
        apply(inputs=inputs, messages=messages, requests=requests, delivered=delivered)
        if trace.ready:
            get_ready()
    steps = trace.steps[trace.timed :]
    gc.collect()
    if trace.ready:
        started = time.perf_counter()
        for inputs, messages, requests, delivered in steps:
            apply(inputs=inputs, messages=messages, requests=requests, delivered=delivered)
            get_ready()
        return time.perf_counter() - started
    started = time.perf_counter()
    for inputs, messages, requests, delivered in steps:
        apply(inputs=inputs, messages=messages, requests=requests, delivered=delivered)
    return time.perf_counter() - started
