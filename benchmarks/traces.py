"""Traces: what happens on a graph, step by step, to be replayed by this project's engine and by its peers.

A trace is made once, with numbers drawn beforehand, and never depends on who replays it. Every step is legal: messages
and requests are added only where the Clock reaches, inputs only move up, and a request is delivered only when nothing
outstanding can be in its way.

Times are whole numbers (`times=1`) or pairs under the product order (`times=2`): what timely has as `u64` and as
`Product<u64, u64>`. Its tracker has one type of time for a graph, so there is no graph of mixed domains among these.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.trace_graphs import chain_graph, dense_graph, layered_with_feedback, ring_graph
from graphs import Graph

Time = Any  # an int, or a pair of them


class Step(NamedTuple):
    """What `Tracker.apply` takes: inputs {edge: times}, messages (edge, time, change), requests and deliveries."""

    inputs: dict[str, list[Time]] | None = None
    messages: Sequence[tuple[str, Time, int]] = ()
    requests: Sequence[tuple[str, Time]] = ()
    delivered: Sequence[tuple[str, Time]] = ()


@dataclass
class Trace:
    """A graph, its start, and the steps; those before number `timed` prepare what is to be measured.

    `watched` names the nodes whose arriving times (the frontier over their incoming edges) somebody wants to know; None
    means all of them. `ready` says that somebody asks after every step which requests became deliverable; the nodes
    that request are watched then.
    """

    name: str
    graph: Graph
    times: int
    inputs: dict[str, list[Time]]
    requests: list[tuple[str, Time]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    timed: int = 0
    watched: list[str] | None = None
    ready: bool = False

    @property
    def measured(self) -> int:
        """How many steps are timed."""
        return len(self.steps) - self.timed


def at(times: int, number: int) -> Time:
    """A time on a chain: the number itself, or the pair that begins with it."""
    return number if times == 1 else (number, 0)


def advances(times: int, count: int) -> list[Step]:
    """The input moves up by one, again and again."""
    return [Step(inputs={"input": [at(times, number)]}) for number in range(1, count + 1)]


def chain(count: int, times: int, steps: int = 10, watch_all: bool = False) -> Trace:
    """The head of a chain advances; its two ends are watched, or everybody is."""
    ends = None if watch_all else ["n0", f"n{count - 1}"]
    name = f"chain of {count:,}, {'all' if watch_all else 'ends'} watched"
    return Trace(name, chain_graph(count, times), times, {"input": [at(times, 0)]}, [], advances(times, steps), 0, ends)


def walk(count: int, times: int, watch_all: bool = False) -> Trace:
    """The one message there is walks through a chain: consumed on an edge and sent on the next, in one step each."""
    time = at(times, 0)
    edges = ["input", *(f"e{number}" for number in range(1, count))]
    steps = [Step(messages=[("input", time, 1)], inputs={"input": []})]
    steps += [Step(messages=[(edge, time, -1), (after, time, 1)]) for edge, after in itertools.pairwise(edges)]
    ends = None if watch_all else ["n0", f"n{count - 1}"]
    name = f"walk through {count:,}, {'all' if watch_all else 'ends'} watched"
    return Trace(name, chain_graph(count, times), times, {"input": [time]}, [], steps, 1, ends)


def pipeline(count: int, items: int) -> Trace:
    """Items come one an epoch; each walks through a chain to its end and is consumed there before the next comes."""
    edges = ["input", *(f"e{number}" for number in range(1, count))]
    steps: list[Step] = []
    for item in range(items):
        steps.append(Step(messages=[("input", item, 1)], inputs={"input": [item + 1]}))
        steps += [Step(messages=[(edge, item, -1), (after, item, 1)]) for edge, after in itertools.pairwise(edges)]
        steps.append(Step(messages=[(edges[-1], item, -1)]))
    ends = ["n0", f"n{count - 1}"]
    name = f"{items:,} items, an epoch each, through {count:,}"
    return Trace(name, chain_graph(count, 1), 1, {"input": [0]}, [], steps, 0, ends)


def outstanding(count: int, times: int) -> Trace:
    """Messages at `count` different times on one edge, consumed in order, one a step."""
    stamps = [at(times, number) for number in range(count)]
    steps = [Step(messages=[("input", time, 1) for time in stamps], inputs={"input": [at(times, count)]})]
    steps += [Step(messages=[("input", time, -1)]) for time in stamps]
    name = f"{count:,} outstanding times retired"
    return Trace(name, chain_graph(2, times), times, {"input": [at(times, 0)]}, [], steps, 1, ["n1"])


def antichain(count: int, length: int = 10) -> Trace:
    """An antichain of `count` pairs at the head of a short chain, retired one by one."""
    stamps = [(number, count - 1 - number) for number in range(count)]
    steps = [Step(messages=[("input", time, 1) for time in stamps], inputs={"input": []})]
    steps += [Step(messages=[("input", time, -1)]) for time in stamps]
    name = f"antichain of {count:,} retired"
    return Trace(name, chain_graph(length, 2), 2, {"input": [(0, 0)]}, [], steps, 1, [f"n{length - 1}"])


def loop(count: int, steps: int = 10, watch_all: bool = False) -> Trace:
    """A ring of `count` nodes, one of which counts the rounds in the second coordinate; the first one advances."""
    watched = None if watch_all else ["n0", f"n{count - 2}"]
    name = f"loop of {count:,}, {'all' if watch_all else 'ends'} watched"
    return Trace(name, ring_graph(count), 2, {"input": [(0, 0)]}, [], advances(2, steps), 0, watched)


def dense(times: int, layers: int = 30, width: int = 30, steps: int = 10) -> Trace:
    """Every node sends to every node of the next layer; a source before them advances, the last layer is watched."""
    name = f"dense, {layers} layers of {width}"
    watched = [f"n{layers - 1}.{number}" for number in range(width)]
    graph = dense_graph(times, layers, width)
    return Trace(name, graph, times, {"input": [at(times, 0)]}, [], advances(times, steps), 0, watched)


def pending(count: int, times: int, steps: int = 100) -> Trace:
    """A node has requests at `count` later times and more; a step ends an epoch and delivers the request of the last.

    Asked for is which requests became deliverable. At the end `count` are left.
    """
    requests = [("n1", at(times, number)) for number in range(count + steps)]
    history = [Step(inputs={"input": [at(times, 1)]})]
    history += [
        Step(inputs={"input": [at(times, number + 1)]}, delivered=[("n1", at(times, number - 1))])
        for number in range(1, steps + 1)
    ]
    name = f"{count:,} pending requests"
    inputs = {"input": [at(times, 0)]}
    return Trace(name, chain_graph(3, times), times, inputs, requests, history, 1, ["n1", "n2"], True)


def random_walk(
    nodes: int, steps: int, times: int = 2, seed: int = 0, most: int = 30, watch_all: bool = True, ready: bool = False
) -> Trace:
    """Random legal steps on a random layered graph with feedback; at most about `most` messages at once."""
    graph = layered_with_feedback(nodes, times, seed)
    trace = Trace(
        f"random graph of {nodes:,}, {'all' if watch_all else 'ends'} watched",
        graph,
        times,
        {"input": [at(times, 0)]},
        watched=None if watch_all else ["n0", f"n{nodes - 1}"],
        ready=ready,
    )
    walker = _Walker(trace, random.Random(seed), most)
    trace.steps = [walker.step(number) for number in range(steps)]
    trace.timed = min(steps // 10, most)
    return trace


class _Walker:
    """Draws legal steps, and remembers what is outstanding."""

    def __init__(self, trace: Trace, rng: random.Random, most: int) -> None:
        self.times = trace.times
        self.rng = rng
        self.most = most
        self.network = trace.graph.network()
        self.queued: list[tuple[int, Time]] = []
        self.pending: set[tuple[int, Time]] = set()
        self.epoch = 0

    def step(self, number: int) -> Step:
        """Something that may happen next."""
        rng = self.rng
        delivery = self._deliverable() if number % 4 == 0 else None
        if delivery is not None:
            self.pending.remove(delivery)
            node, time = delivery
            return Step(
                messages=self._sent(node, time, rng.choice((0, 0, 1))), delivered=[(self.network.nodes[node], time)]
            )
        if number % 16 == 15 and all(self.epoch <= _size(time) for _, time in self.queued):
            self.epoch += 1
            return Step(inputs={"input": [at(self.times, self.epoch)]})
        if not self.queued or (len(self.queued) < self.most and number % 8 == 1):
            late = at(self.times, self.epoch + rng.randrange(3))
            edge = self.network.edges.index("input")
            self.queued.append((edge, late))
            return Step(messages=[("input", late, 1)])
        picked = min(
            (rng.randrange(len(self.queued)) for _ in range(6)), key=lambda index: _size(self.queued[index][1])
        )
        edge, time = self.queued[picked]
        self.queued[picked] = self.queued[-1]
        self.queued.pop()
        node = self.network.targets[edge]
        count = rng.randrange(4) if len(self.queued) < self.most else rng.randrange(2)
        messages = [(self.network.edges[edge], time, -1), *self._sent(node, time, count)]
        requests = []
        if self.network.notifies[node] and rng.random() < 0.2 and (node, time) not in self.pending:
            self.pending.add((node, time))
            requests.append((self.network.nodes[node], time))
        return Step(messages=messages, requests=requests)

    def _sent(self, node: int, time: Time, count: int) -> list[tuple[str, Time, int]]:
        sent = []
        edges = [edge for edge in self.network.outgoing[node] if self.network.targets[edge] >= 0]
        for _ in range(count if edges else 0):
            edge = self.rng.choice(edges)
            summary = self.network.summaries[edge]
            assert summary is not None
            (later,) = summary.apply(time)
            if self.rng.random() < 0.1:
                later = later + 1 if self.times == 1 else (later[0], later[1] + 1)
            self.queued.append((edge, later))
            sent.append((self.network.edges[edge], later, 1))
        return sent

    def _deliverable(self) -> tuple[int, Time] | None:
        """The least request, if nothing outstanding could still result in its time at its node.

        That is said only where nothing has a lesser time, and nothing its own time at the node or at an earlier one:
        edges that leave a time as it is lead from earlier nodes to later ones.
        """
        if not self.pending:
            return None
        least = min(self.pending, key=lambda request: (_size(request[1]), request[1], request[0]))
        node, time = least
        others = [(self.network.targets[edge], other) for edge, other in self.queued]
        others += [(0, at(self.times, self.epoch)), *(request for request in self.pending if request != least)]
        blocked = any(_at_or_below(other, time) and (other != time or place <= node) for place, other in others)
        return None if blocked else least


def _size(time: Time) -> int:
    return time if isinstance(time, int) else sum(time)


def _at_or_below(one: Time, other: Time) -> bool:
    return bool(one <= other if isinstance(one, int) else one[0] <= other[0] and one[1] <= other[1])
