"""`at_once`: calls of one node that are made at the same time, for different times, as many as it says."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from graphs import Graph
from progress.runtime import Batch, Complete, Dataflow, DeadLetter, Node, Out, Stage
from progress.runtime.checkpoint import capture
from progress.runtime.core import Core
from progress.runtime.observer import Observer
from tests.runtime.test_runtime import ENGINES, GUARD, engines, run

BOUND = 4
TIMES = [(each, 39 - each) for each in range(40)]  # none is before another


def of_two(*, out_time: Any = None) -> Graph:
    """in -> work -> out, over pairs."""
    graph = Graph(time={"product": ["nat", "nat"]}).node("work", emits={"out": "leave"} if out_time else {})
    return graph.edge(None, "work", "in").edge("work", None, "out", **({"time": out_time} if out_time else {}))


class Met(Batch):
    """Counts who is there, and lets nobody go before `parties` have met."""

    def __init__(self, at_once: int, parties: int) -> None:
        super().__init__()
        self.at_once = at_once
        self.parties = parties
        self.inside: Counter[Any] = Counter()
        self.most = 0
        self.barrier = threading.Barrier(parties, timeout=GUARD)

    def enter(self, time: Any) -> None:
        self.inside[time] += 1
        self.most = max(self.most, self.inside.total())

    def leave(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        out.send("out", time, sum(messages["in"]))
        self.inside[time] -= 1

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        self.enter(time)
        self.barrier.wait()
        self.leave(time, messages, out)


class MetByAwaiting(Met):
    waiting_for_others: asyncio.Barrier

    async def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:  # type: ignore[override]
        self.enter(time)
        if not hasattr(self, "waiting_for_others"):
            self.waiting_for_others = asyncio.Barrier(self.parties)
        async with asyncio.timeout(GUARD), self.waiting_for_others:
            pass
        self.leave(time, messages, out)


def node_for(engine: str, at_once: int) -> Met:
    kind = MetByAwaiting if engine == "asyncio" else Met
    return kind(at_once, 1 if engine in ("sim", "seeded") else at_once)


@engines
@pytest.mark.parametrize("at_once", [1, BOUND])
def test_notifications_of_forty_times_overlap_up_to_the_bound(engine: str, at_once: int) -> None:
    node = node_for(engine, at_once)
    items = [(time, 10 * time[0] + each) for each in (1, 2) for time in TIMES]
    options = {"workers": at_once + 3} if engine == "threads" else {}
    results = run(Dataflow(of_two(), {"work": lambda: node}), engine, sources={"in": items}, **options)
    assert Counter(results["out"]) == {(time, 20 * time[0] + 3): 1 for time in TIMES}
    assert node.most == (1 if engine in ("sim", "seeded") else at_once)
    assert not node.waiting


@pytest.mark.parametrize("at_once", [1, BOUND])
def test_times_that_are_ordered_overlap_as_well_when_all_are_complete(at_once: int) -> None:
    """That none arrives any more is known of all of them. One at a time they come in their order."""
    node = node_for("threads", at_once)
    graph = Graph().node("work").edge(None, "work", "in").edge("work", None, "out")
    items = [(time, time) for time in reversed(range(40))]
    results = run(Dataflow(graph, {"work": lambda: node}), "threads", sources={"in": items}, workers=at_once + 2)
    assert sorted(results["out"]) == [(time, time) for time in range(40)]
    assert node.most == at_once
    if at_once == 1:
        assert results["out"] == sorted(results["out"])


def test_a_message_is_taken_while_a_notification_runs() -> None:
    """The notification ends only when the message of another time has come; with `at_once` 1 it could not."""
    heard, began = threading.Event(), threading.Event()

    class Work(Node):
        at_once = 2

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            if value:
                heard.set()
            else:
                out.request(time)

        def on_notify(self, time: Any, out: Out) -> None:
            began.set()
            assert heard.wait(GUARD)
            out.send("out", time, "heard")

    def items() -> Iterator[Any]:
        yield (0, 0), 0
        yield Complete(((1, 0),))
        assert began.wait(GUARD)
        yield (1, 0), 1

    results = Dataflow(of_two(), {"work": Work()}).run(engine="threads", sources={"in": items}, timeout=GUARD)
    assert results == {"out": [((0, 0), "heard")]}


def test_messages_are_consumed_by_one_call_at_a_time_in_their_order() -> None:
    class Work(Node):
        at_once = 8

        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.told: list[int] = []

        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            assert self.lock.acquire(blocking=False)
            self.told.append(value)
            self.lock.release()

    node = Work()
    items = [((each, 0), each) for each in range(5_000)]
    Dataflow(of_two(), {"work": lambda: node}).run(engine="threads", workers=6, sources={"in": items}, timeout=GUARD)
    assert node.told == list(range(5_000))


def test_a_notification_that_fails_leaves_the_others_alone() -> None:
    def work(time: Any, tables: dict[str, Any]) -> Any:
        if time[0] % 2:
            raise ValueError(time)
        return sum(tables["in"])

    dataflow = Dataflow(of_two(), {"work": Stage(work, at_once=5)}, on_error=DeadLetter())
    results = dataflow.run(engine="threads", workers=5, sources={"in": [(time, 1) for time in TIMES]}, timeout=GUARD)
    assert Counter(results["out"]) == {(time, 1): 1 for time in TIMES if time[0] % 2 == 0}
    assert Counter(time for time, _ in results["dead-letters"]) == {time: 1 for time in TIMES if time[0] % 2}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_is_over_rests(engine: str) -> None:
    class Keep(Observer):
        def started(self, core: Core) -> None:
            self.core = core

    keep = Keep()
    node: Stage = Stage(lambda time, tables: len(tables["in"]), at_once=3)
    run(
        Dataflow(of_two(), {"work": lambda: node}), engine, sources={"in": [(time, 1) for time in TIMES]}, observer=keep
    )
    assert keep.core.rests
    assert not keep.core.runnable
    assert capture(keep.core, [])


# --- stages ----------------------------------------------------------------------------------------------------------


@engines
def test_a_stage_sends_on_every_edge_or_on_those_it_names(engine: str) -> None:
    graph = Graph().node("all").node("some").edge(None, "all", "in").edge("all", "some", "a").edge("all", None, "b")
    graph.edge("some", None, "c").edge("some", None, "d").edge("some", None, "e")
    nodes = {
        "all": Stage(lambda time, tables: sorted(tables["in"])),
        "some": Stage(lambda time, tables: {"c": (time, tables), "d": None}),
    }
    results = run(Dataflow(graph, nodes), engine, sources={"in": [(0, 2), (1, 5), (0, 1)]})
    assert results == {
        "b": [(0, [1, 2]), (1, [5])],
        "c": [(0, (0, {"a": [[1, 2]]})), (1, (1, {"a": [[5]]}))],
    }


def test_a_stage_knows_what_waits_when_it_is_restored_and_not_what_the_program_says() -> None:
    stage = Stage(lambda time, tables: None, at_once=3)
    stage.waiting = {1: {"in": [2]}}
    state = stage.snapshot()
    assert state == {"waiting": {1: {"in": [2]}}}
    other = Stage(at_once=2)
    other.restore(state)
    assert (other.waiting, other.function, other.at_once) == (stage.waiting, None, 2)
