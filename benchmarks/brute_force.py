"""A tracker that computes everything anew with `progress.clock`, to hold the peer's program (and this project's) to.

    python -m benchmarks.brute_force [COUNT]

replays COUNT random small traces (default 300) on it and on timely's tracker, and demands equal digests. So the digests
that `make bench` compares are known to be those of the paper's Clock, and the traces to be legal: every step is judged.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks import traces
from benchmarks.peers import timely
from benchmarks.replay import digest_of
from benchmarks.traces import Time, Trace
from graphs import Graph
from progress.clock import clock
from progress.closure import Closure


class BruteForce:
    """As much of the tracker's interface as a replay needs. Every step costs a `close`."""

    def __init__(
        self, graph: Graph, inputs: Mapping[str, Sequence[Time]], requests: Iterable[tuple[str, Time]]
    ) -> None:
        self.graph = graph
        self.network = graph.network()
        self.inputs = dict(inputs)
        self.messages: Counter[tuple[str, Time]] = Counter()
        self.waiting = set(requests)
        self.told: set[tuple[str, Time]] = set()
        self.subscribed: list[tuple[str, Callable[..., object]]] = []
        self.now = self._clock()

    def _clock(self) -> Closure:
        opened = ((edge, time) for edge, times in self.inputs.items() for time in times)
        return clock(self.graph, [*(stamp for stamp, count in self.messages.items() if count), *opened], self.waiting)

    def apply(
        self,
        inputs: Mapping[str, Sequence[Time]] | None = None,
        messages: Iterable[tuple[str, Time, int]] = (),
        requests: Iterable[tuple[str, Time]] = (),
        delivered: Iterable[tuple[str, Time]] = (),
    ) -> None:
        """Take a step, after asserting that it is legal."""
        before = self.now
        changes: Counter[tuple[str, Time]] = Counter()
        for edge, time, change in messages:
            changes[edge, time] += change
        for stamp, change in changes.items():
            assert change <= 0 or stamp in before, stamp
            self.messages[stamp] += change
            assert self.messages[stamp] >= 0, stamp
        for edge, times in (inputs or {}).items():
            less_equal = self.graph.domain_of(edge).less_equal
            assert all(any(less_equal(old, time) for old in self.inputs[edge]) for time in times), (edge, times)
            self.inputs[edge] = times
        for request in delivered:
            assert self._eligible(request), request
            self.waiting.remove(request)
            self.told.discard(request)
        for request in requests:
            assert request in before, request
            self.waiting.add(request)
        self.now = self._clock()
        for place, callback in self.subscribed:
            number = self.network.number(place)
            if before.times(number) != self.now.times(number):
                callback(place, before.times(number), self.now.times(number))

    def _eligible(self, request: tuple[str, Time]) -> bool:
        node, time = request
        edges = self.network.incoming[self.network.number(node)]
        return request in self.waiting and not any((self.network.edges[edge], time) in self.now for edge in edges)

    def get_ready(self) -> Iterator[tuple[str, Time]]:
        """What became deliverable since the last call, in node order and then by time."""
        ready = [request for request in self.waiting - self.told if self._eligible(request)]
        self.told.update(ready)
        return iter(sorted(ready, key=lambda request: (self.network.number(request[0]), request[1])))

    def frontier(self, place: str) -> Any:
        """The Clock's minimal times at a location."""
        return self.now.times(self.network.number(place))

    def subscribe(self, place: str, callback: Callable[..., object]) -> None:
        """Call back when the frontier of a location has moved."""
        self.subscribed.append((place, callback))


def small_traces(seed: int) -> Iterator[Trace]:
    """One of each kind, none of them large."""
    rng = random.Random(seed)
    times = rng.randint(1, 2)
    yield traces.chain(rng.randint(1, 9), times, 3, rng.random() < 0.5)
    yield traces.walk(rng.randint(2, 9), times, rng.random() < 0.5)
    yield traces.pipeline(rng.randint(1, 5), 3)
    yield traces.outstanding(rng.randint(1, 9), times)
    yield traces.antichain(rng.randint(1, 9), 3)
    yield traces.loop(rng.randint(3, 9), 4, rng.random() < 0.5)
    yield traces.dense(times, rng.randint(1, 4), rng.randint(1, 4), 3)
    yield traces.pending(rng.randint(1, 9), times, 9)
    for nodes in (3, rng.randint(4, 12), rng.randint(12, 40)):
        everybody = rng.random() < 0.7
        yield traces.random_walk(
            nodes, 60, times, seed, rng.randint(1, 20), everybody, everybody and rng.random() < 0.7
        )


def main() -> None:
    """Compare digests."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seen = deliveries = done = seed = 0
    while done < wanted:
        for trace in small_traces(seed):
            theirs = timely(trace, 1, 0.0)
            if digest_of(trace, BruteForce) != (theirs.seen, theirs.digest):
                sys.exit(f"{trace.name}, seed {seed}: the digests differ")
            done += 1
            seen += theirs.seen
            deliveries += sum(len(step.delivered) for step in trace.steps)
        seed += 1
    print(f"{done} traces, {seen:,} frontier changes and requests that became ready, {deliveries:,} deliveries: equal")


if __name__ == "__main__":
    main()
