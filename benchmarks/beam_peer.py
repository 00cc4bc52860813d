"""Beam's `WatermarkManager` on the steps of a loop or a run. Runs in the peers' environment; JSON in, JSON out.

Measured is what Beam's direct runner does with its manager after each bundle: `update_watermarks` for what was
consumed, sent and held, and `extract_all_timers` for what has become due. Both are written in Python, as the runner is.

What is comparable. A message on an edge is a bundle of one element, pending at the edge's consumer; a node is an
applied transform with one output collection for each edge; a notification request is an event-time timer with a
watermark hold just below it; an input edge is a root transform whose hold is the input's time. A timer at t is due
exactly when nothing at or below t can arrive at its transform any more, which is when a request is ready: the answers
must be equal.

What is not. A watermark is one number, so times are integers here, not pairs. It rises only when all watermarks before
it have risen, and they start at minus infinity: on a cycle nothing ever rises, so the graph is the loop's without its
feedback. Transforms pass a time on as it is. `update_watermarks` calls itself along the graph, so a chain may have as
many nodes as Python's stack is deep. A frontier is not told to anybody who asks for changes; the manager is asked.
Bundles, elements and timestamps are made beforehand and are not measured.
"""

from __future__ import annotations

import json
import sys
import time

from apache_beam import pvalue
from apache_beam.pipeline import AppliedPTransform
from apache_beam.runners.direct.bundle_factory import BundleFactory
from apache_beam.runners.direct.clock import TestClock
from apache_beam.runners.direct.evaluation_context import _SideInputsContainer
from apache_beam.runners.direct.watermark_manager import WatermarkManager
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.trigger import InMemoryUnmergedState
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

WINDOW = GlobalWindow()
KEY = b"key"


def stamp(number: int) -> Timestamp:
    """A time: timestamps count in steps of one microsecond."""
    return Timestamp(micros=number)


class Pipeline:
    """A graph as applied transforms, with its manager. Node number `nodes` is the root before the input edge."""

    def __init__(self, nodes: int, edges: list[list[int]]) -> None:
        self.root = nodes
        inputs: list[dict[str, pvalue.PCollection]] = [{} for _ in range(nodes + 1)]
        self.collections = [pvalue.PCollection(None, tag=str(number)) for number in range(len(edges))]
        for number, (_, target) in enumerate(edges):
            inputs[target][str(number)] = self.collections[number]
        inputs[self.root]["begin"] = pvalue.PBegin(None)
        self.transforms = [
            AppliedPTransform(None, None, f"n{number}", inputs[number], None, None) for number in range(nodes + 1)
        ]
        for number, (source, _) in enumerate(edges):
            producer = self.transforms[source if source >= 0 else self.root]
            producer.outputs[str(number)] = self.collections[number]
            self.collections[number].producer = producer
        consumers = {self.collections[number]: [self.transforms[target]] for number, (_, target) in enumerate(edges)}
        self.states = {transform: InMemoryUnmergedState() for transform in self.transforms}
        keyed = {transform: {KEY: state} for transform, state in self.states.items()}
        self.side_inputs = _SideInputsContainer([])
        self.manager = WatermarkManager(TestClock(), [self.transforms[self.root]], consumers, keyed)
        self.factory = BundleFactory(stacked=False)
        self.numbers = {transform: number for number, transform in enumerate(self.transforms)}
        self.nothing = self.factory.create_empty_committed_bundle(self.collections[0])
        self.firings: dict[tuple[int, int], object] = {}

    def bundle(self, edge: int, number: int) -> object:
        """A message: a committed bundle of one element."""
        bundle = self.factory.create_bundle(self.collections[edge])
        bundle.add(WindowedValue(None, stamp(number), (WINDOW,)))
        bundle.commit(None)
        return bundle

    def update(self, node: int, consumed: object, fired: list[object], sent: list[object], holds: dict) -> None:
        """What happened at a node."""
        self.manager.update_watermarks(consumed, self.transforms[node], fired, sent, (), holds, self.side_inputs)

    def ask(self, node: int, tag: str, when: Timestamp) -> None:
        """Set a timer."""
        self.states[self.transforms[node]].set_timer(WINDOW, "request", TimeDomain.WATERMARK, when, tag)

    def due(self) -> list[tuple[int, int]]:
        """The timers that have become due: node and time. Each is cleared, so that it is not due again."""
        found = []
        for transform, firings in self.manager.extract_all_timers()[0]:
            node, state = self.numbers[transform], self.states[transform]
            for firing in firings:
                tag = firing.dynamic_timer_tag
                state.clear_timer(WINDOW, "request", TimeDomain.WATERMARK, tag)
                found.append((node, int(tag)))
                self.firings[node, int(tag)] = firing
        return found


class Session:
    """The steps, prepared: every bundle and timestamp made, and each node's earliest hold known."""

    def __init__(self, question: dict) -> None:
        self.pipeline = Pipeline(question["nodes"], question["edges"])
        self.targets = [target for _, target in question["edges"]]
        self.bundles: dict[tuple[int, int], object] = {}
        self.asked: list[set[int]] = [set() for _ in range(question["nodes"])]
        self._start(question)
        self.steps = [self._prepared(step) for step in question["steps"]]

    def _start(self, question: dict) -> None:
        pipeline = self.pipeline
        sent = [self._bundle(edge, number) for edge, number in question["queued"]]
        for node, number in question["requested"]:
            self.asked[node].add(number)
            pipeline.ask(node, str(number), stamp(number))
        for node, numbers in enumerate(self.asked):
            if numbers:
                pipeline.manager.get_watermarks(pipeline.transforms[node]).hold({KEY: stamp(min(numbers) - 1)})
        pipeline.update(pipeline.root, None, [], sent, {KEY: stamp(question["open"] - 1)})
        pipeline.due()  # told in the past

    def _bundle(self, edge: int, number: int) -> object:
        bundle = self.bundles[edge, number] = self.pipeline.bundle(edge, number)
        return bundle

    def _prepared(self, step: dict) -> tuple:
        sent = [self._bundle(*message) for message in step["sent"]]  # by what consumed, else by what was notified
        deliveries = []
        for node, number in step["delivered"]:
            self.asked[node].discard(number)
            deliveries.append((node, (node, number), [] if step["consumed"] else sent, self._hold(node)))
        consumed = None
        if step["consumed"]:
            edge, number = step["consumed"]
            node = self.targets[edge]
            asks = [(node, str(when), stamp(when)) for node, when in step["requested"]]
            self.asked[node].update(when for _, when in step["requested"])
            consumed = node, self.bundles.pop((edge, number)), sent, asks, self._hold(node) if asks else {}
        injected = [self._bundle(*message) for message in step["injected"]]
        opened = {} if step["open"] is None else {KEY: stamp(step["open"] - 1)}
        return deliveries, consumed, (injected, opened) if injected or opened else None

    def _hold(self, node: int) -> dict:
        return {KEY: stamp(min(self.asked[node]) - 1) if self.asked[node] else None}

    def run(self, limit: float) -> dict:
        """Take the steps until `limit` seconds have passed."""
        pipeline, clock = self.pipeline, time.perf_counter
        update, ask, root = pipeline.update, pipeline.ask, pipeline.root
        ready = []
        updating = looking = 0.0
        taken = 0
        for deliveries, consumed, entered in self.steps:
            if updating + looking > limit:
                break
            started = clock()
            if consumed:
                node, bundle, sent, asks, hold = consumed
                for request in asks:
                    ask(*request)
                update(node, bundle, [], sent, hold)
            for node, request, sent, hold in deliveries:
                update(node, pipeline.nothing, [pipeline.firings.pop(request)], sent, hold)
            if entered:
                update(root, None, [], *entered)
            between = clock()
            ready.append(pipeline.due())
            looking += clock() - between
            updating += between - started
            taken += 1
        return {"steps": taken, "update_seconds": updating, "timer_seconds": looking, "ready": ready}


def main() -> None:
    """Answer the question on standard input."""
    question = json.load(sys.stdin)
    json.dump(Session(question).run(question["limit"]), sys.stdout)


if __name__ == "__main__":
    main()
