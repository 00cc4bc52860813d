"""The scheduler loop: the tracker at work in a program that decides what runs next.

A step consumes one message, sends none to three, maybe requests a notification at the time consumed, delivers what
became ready with the step before, and asks what is ready now. Now and then the input brings messages or moves up. About
as many pointstamps as wanted are outstanding, messages and requests, no two alike: what counts for the engine is how
many different ones there are.

The session is *recorded* first, by a driver that knows only `Tracker.apply` and `get_ready`; then the recorded steps
are measured on a new tracker, so that drawing random numbers is not. What becomes ready is digested and has to be the
same, here, in timely (as a `Trace`, all frontiers watched as well) and in Beam.

Beam's manager knows neither pairs of times nor cycles (`beam_peer.py` tells why): it is measured on a session of the
same making whose graph has no feedback and whose times are integers, and so is this project's tracker, beside it.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import in_peers_environment
from benchmarks.trace_graphs import layered_with_feedback
from benchmarks.traces import Step, Time, Trace, at
from graphs import Graph
from progress import Tracker
from progress.topology import NO_NODE, Network

EPOCHS_IN_FLIGHT = 16


class Recorder:
    """Draws the steps, and hears from a tracker what is ready."""

    def __init__(self, graph: Graph, times: int, most: int, seed: int, make: Callable[..., Any]) -> None:
        self.times = times
        self.most = most
        self.rng = random.Random(seed)
        self.network: Network = graph.network()
        self.tracker = make(graph, inputs={"input": [at(times, 0)]})
        self.epoch = 0
        self.queue: list[tuple[str, Time]] = []  # in the order of sending, roughly
        self.queued: set[tuple[str, Time]] = set()
        self.pending: set[tuple[str, Time]] = set()
        self.ready: list[tuple[str, Time]] = []
        self.taken = 0
        self.spread = 2 + 4 * most // len(self.network.edges)  # so many times that most of those drawn are new
        self.period = max(1, len(self.network.edges) // 10 if times == 1 else most // EPOCHS_IN_FLIGHT)
        self.targets = dict(zip(self.network.edges, self.network.targets, strict=True))

    def step(self) -> Step:
        """Draw a step and take it."""
        rng, network = self.rng, self.network
        delivered, self.ready = self.ready, []
        self.pending.difference_update(delivered)
        wanted = self.most - len(self.queued) - len(self.pending)
        messages: list[tuple[str, Time, int]] = []
        requests = []
        if self.queue:
            edge, time = self._next()
            messages.append((edge, time, -1))
            node = self.targets[edge]
            most = 0 if wanted > self.most // 20 else 3 if wanted > 0 else 1
            messages += self._sent(node, time, rng.randint(0, most) if most else 3)
            request = network.nodes[node], time
            if network.notifies[node] and rng.random() < 0.25 and request not in self.pending:
                self.pending.add(request)
                requests.append(request)
        for _ in range(min(3, wanted)):
            self._send("input", self._later(at(self.times, self.epoch)), messages)
        inputs = None
        self.taken += 1
        if self.taken % self.period == 0:
            self.epoch += 1
            inputs = {"input": [at(self.times, self.epoch)]}
        step = Step(inputs, messages, requests, delivered)
        self.tracker.apply(inputs=inputs, messages=messages, requests=requests, delivered=delivered)
        self.ready = [(node, time) for node, time in self.tracker.get_ready()]
        return step

    def _next(self) -> tuple[str, Time]:
        """Any message: which one a program takes next is not for the tracker to know."""
        place = self.rng.randrange(len(self.queue))
        self.queue[-1], self.queue[place] = self.queue[place], self.queue[-1]
        message = self.queue.pop()
        self.queued.remove(message)
        return message

    def _later(self, time: Time) -> Time:
        """The time itself or a later one."""
        more = self.rng.randrange(self.spread) if self.rng.random() < 0.5 else 0
        return time + more if self.times == 1 else (time[0] + (self.rng.random() < 0.1), time[1] + more)

    def _sent(self, node: int, time: Time, count: int) -> list[tuple[str, Time, int]]:
        sent: list[tuple[str, Time, int]] = []
        edges = self.network.outgoing[node]
        for _ in range(count if edges else 0):
            edge = self.rng.choice(edges)
            summary = self.network.summaries[edge]
            assert summary is not None
            (later,) = summary.apply(time)
            self._send(self.network.edges[edge], self._later(later), sent)
        return sent

    def _send(self, edge: str, time: Time, messages: list[tuple[str, Time, int]]) -> None:
        if (edge, time) not in self.queued:
            self.queued.add((edge, time))
            self.queue.append((edge, time))
            messages.append((edge, time, 1))


def record(
    nodes: int, most: int, steps: int, times: int = 2, seed: int = 0, make: Callable[..., Any] = Tracker
) -> Trace:
    """A session: as long as it takes to have `most` outstanding and to turn them over once, then `steps` to measure.

    Nobody subscribes to a frontier. Without feedback, and with integer times, when `times` is 1.
    """
    graph = layered_with_feedback(nodes, times, seed, feedback=times == 2)
    recorder = Recorder(graph, times, most, seed, make)
    start = {"input": [at(times, 0)]}
    name = f"scheduler loop, {nodes:,} nodes, {most:,} outstanding"
    trace = Trace(name, graph, times, start, watched=[], ready=True)
    while len(recorder.queued) + len(recorder.pending) < most and recorder.taken < 20 * most:
        trace.steps.append(recorder.step())
    trace.steps += [recorder.step() for _ in range(most)]
    trace.timed = len(trace.steps)
    trace.steps += [recorder.step() for _ in range(steps)]
    return trace


class State(NamedTuple):
    """What is outstanding when the steps to be measured begin."""

    opened: Time
    queued: list[tuple[str, Time]]
    requested: list[tuple[str, Time]]


def state_at(trace: Trace) -> State:
    """The outstanding pointstamps before the first timed step."""
    queued: dict[tuple[str, Time], int] = {}
    requested: dict[tuple[str, Time], None] = dict.fromkeys(trace.requests)
    (opened,) = trace.inputs["input"]
    for inputs, messages, requests, delivered in trace.steps[: trace.timed]:
        if inputs:
            (opened,) = inputs["input"]
        for edge, time, change in messages:
            count = queued.pop((edge, time), 0) + change
            if count:
                queued[edge, time] = count
        for request in delivered:
            del requested[request]
        requested.update(dict.fromkeys(requests))
    return State(opened, list(queued), list(requested))


def ready_of(trace: Trace, make: Callable[..., Any] = Tracker) -> list[list[tuple[int, Time]]]:
    """What became ready with each of the timed steps, nodes by number."""
    numbers = trace.graph.network().numbers
    tracker = make(trace.graph, inputs=trace.inputs, requests=trace.requests)
    found = []
    for step in trace.steps:
        tracker.apply(**step._asdict())
        found.append([(numbers[node], time) for node, time in tracker.get_ready()])
    return found[trace.timed :]


def beam(trace: Trace, limit: float = 10.0) -> dict[str, Any]:
    """Beam's manager on a session with integer times; `same` says whether it found the same requests ready.

    A step consumes from one edge at most; what leaves the graph is left out. It starts in the state at which the timed
    steps begin and stops after `limit` seconds; `steps` says how many it took.
    """
    network: Network = trace.graph.network()
    nodes, state = network.numbers, state_at(trace)
    ways = [way for way in zip(network.edges, network.sources, network.targets, strict=True) if way[2] != NO_NODE]
    edges = {name: number for number, (name, _, _) in enumerate(ways)}

    def numbered(stamps: Any, numbers: dict[str, int]) -> list[list[int]]:
        return [[numbers[name], time] for name, time, *_ in stamps if name in numbers]

    steps = []
    for inputs, messages, requests, delivered in trace.steps[trace.timed :]:
        consumed = [message for message in messages if message[2] < 0 and message[0] in edges]
        sent = [message for message in messages if message[2] > 0]
        steps.append(
            {
                "consumed": numbered(consumed, edges)[0] if consumed else None,
                "sent": numbered((message for message in sent if message[0] != "input"), edges),
                "injected": numbered((message for message in sent if message[0] == "input"), edges),
                "requested": numbered(requests, nodes),
                "delivered": numbered(delivered, nodes),
                "open": inputs["input"][0] if inputs else None,
            }
        )
    question = {
        "nodes": len(network.nodes),
        "edges": [way[1:] for way in ways],
        "queued": numbered(state.queued, edges),
        "requested": numbered(state.requested, nodes),
        "open": state.opened,
        "steps": steps,
        "limit": limit,
    }
    answer: dict[str, Any] = in_peers_environment("beam_peer.py", question)
    theirs = [sorted(map(tuple, ready)) for ready in answer.pop("ready")]
    return answer | {"same": theirs == ready_of(trace)[: len(theirs)]}


class Held(NamedTuple):
    """Bytes for each outstanding pointstamp: as Python's allocator counts them, and by the memory of the process."""

    traced: float
    resident: float


def bytes_held(trace: Trace) -> Held:
    """What a tracker holds for each pointstamp that is outstanding when the timed steps begin.

    The steps up to there are read from text in processes of their own, so that all that remains was kept by the
    tracker: edge names and times are made anew for every step.
    """
    state = state_at(trace)
    count = len(state.queued) + len(state.requested)
    nodes = sum(name.startswith("n") for name in trace.graph.nodes)
    lines = "\n".join(map(json.dumps, trace.steps[: trace.timed]))
    found = []
    for way in ("traced", "resident"):
        command = [sys.executable, "-m", __spec__.name, way, str(nodes), str(trace.times)]
        root = Path(__file__).resolve().parent.parent
        run = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, cwd=root)
        found.append(int(run.stdout) / count)
    return Held(*found)


def main() -> None:
    """Take the steps on standard input and print by how many bytes the tracker grew; see `bytes_held`."""
    way, nodes, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    tracker = Tracker(layered_with_feedback(nodes, times, feedback=times == 2), inputs={"input": [at(times, 0)]})
    lines = sys.stdin.read().splitlines()

    def when(time: Any) -> Time:
        return time if times == 1 else tuple(time)

    def now() -> int:
        gc.collect()
        if way == "traced":
            return tracemalloc.get_traced_memory()[0]
        pages = Path("/proc/self/statm")
        if pages.exists():
            return int(pages.read_text().split()[1]) * resource.getpagesize()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    if way == "traced":
        tracemalloc.start()
    before = now()
    for line in lines:
        inputs, messages, requests, delivered = json.loads(line)
        tracker.apply(
            inputs={edge: list(map(when, opened)) for edge, opened in (inputs or {}).items()},
            messages=[(edge, when(time), change) for edge, time, change in messages],
            requests=[(node, when(time)) for node, time in requests],
            delivered=[(node, when(time)) for node, time in delivered],
        )
        tracker.get_ready()
    del line, inputs, messages, requests, delivered
    print(now() - before)


if __name__ == "__main__":
    main()
