"""`at_once`: calls of one node that are made at the same time, for different times, as many as it says."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import pytest

from graphs import Graph
from progress.runtime import Complete, Dataflow, DeadLetter, Node, NodeFailed, Out, Stage
from progress.runtime.actions.core import Core
from progress.runtime.durable.checkpoint import capture
from progress.runtime.observer import Observer
from progress.semantics import is_behaviour
from tests.runtime.tools import BOUND, ENGINES, GUARD, TIMES, Met, engines, of_two, run


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


def test_messages_of_one_time_are_consumed_by_one_call_at_a_time_in_their_order() -> None:
    class Work(Node):
        at_once = 8

        def __init__(self) -> None:
            self.locks = [threading.Lock() for _ in range(5)]
            self.told: list[list[int]] = [[] for _ in self.locks]

        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            lock = self.locks[time[0]]
            assert lock.acquire(blocking=False)
            self.told[time[0]].append(value)
            lock.release()

    node = Work()
    items = [((each % 5, 0), each) for each in range(5_000)]
    Dataflow(of_two(), {"work": lambda: node}).run(
        engine="threads", workers=6, sources={"in": lambda: iter(items)}, timeout=GUARD
    )
    assert node.told == [list(range(each, 5_000, 5)) for each in range(5)]


class Meeting(Node):
    """Ends a call for a message only when `at_once` calls are being made, and the last that came first of these."""

    def __init__(self, at_once: int, engine: str) -> None:
        self.at_once = at_once
        self.awaits = engine == "asyncio"
        self.inside = self.most = 0
        self.ended: list[int] = []
        self.lock = threading.Lock()

    def begin(self) -> None:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)

    def may_end(self, time: int) -> bool:
        """Whether all that began together are there, and those that began later are over."""
        last = (time // self.at_once + 1) * self.at_once - 1
        return self.inside + len(self.ended) > last and (time == last or time + 1 in self.ended)

    def end(self, time: int, value: int, out: Out) -> None:
        with self.lock:
            self.inside -= 1
            self.ended.append(time)
        out.send("out", time, value)

    def on_message(self, edge: str, time: int, value: int, out: Out) -> Any:
        self.begin()
        if self.awaits:
            return self.awaited(time, value, out)
        deadline = monotonic() + GUARD
        while not self.may_end(time):
            assert monotonic() < deadline, "calls for different times were not made at once"
            sleep(0.001)
        return self.end(time, value, out)

    async def awaited(self, time: int, value: int, out: Out) -> None:
        async with asyncio.timeout(GUARD):
            while not self.may_end(time):
                await asyncio.sleep(0.001)
        self.end(time, value, out)


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_messages_of_different_times_overlap_up_to_the_bound_and_leave_in_order(engine: str) -> None:
    """The calls for times 0 to 3 are over backwards, then those for 4 to 7; what they sent leaves forwards."""
    graph = Graph().node("work").edge(None, "work", "in").edge("work", None, "out")
    node = Meeting(BOUND, engine)
    steps: list[Any] = []
    items = [(time, 10 * time) for time in range(24)]
    dataflow = Dataflow(graph, {"work": lambda: node})
    results = run(dataflow, engine, sources={"in": items}, record=steps.append, **at_least(engine, BOUND + 1))
    assert results["out"] == items
    assert node.most == BOUND
    assert node.ended != sorted(node.ended)
    assert is_behaviour(dataflow.network, steps, several=True)


def at_least(engine: str, workers: int) -> dict[str, Any]:
    return {"workers": workers} if engine == "threads" else {}


def test_messages_of_times_that_are_not_ordered_leave_as_soon_as_they_are_done() -> None:
    """The first call ends when what the second one sent has left."""
    left = asyncio.Event()

    class Work(Node):
        at_once = 2

        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            if value == "first":
                async with asyncio.timeout(GUARD):
                    await left.wait()
            out.send("out", time, value)

    found: list[Any] = []

    def sink(time: Any, value: Any) -> None:
        found.append(value)
        left.set()

    items = [((0, 1), "first"), ((1, 0), "second")]
    Dataflow(of_two(), {"work": Work()}).run(engine="asyncio", sources={"in": items}, sinks={"out": sink})
    assert found == ["second", "first"]


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_a_call_that_fails_before_its_turn_stops_the_run_at_once_and_leaves_nothing(engine: str) -> None:
    """The call before it would never be over by itself."""
    gone = threading.Event()

    class Work(Node):
        at_once = 2

        async def on_message(self, edge: str, time: int, value: Any, out: Out) -> None:
            out.send("out", time, value)
            if value == "fails":
                raise ValueError("no")
            while engine == "asyncio" or not gone.is_set():
                await asyncio.sleep(0.001)

    class Told(Observer):
        def failed(self, failure: Any) -> None:
            gone.set()

    graph = Graph().node("work").edge(None, "work", "in").edge("work", None, "out")
    found: list[Any] = []
    dataflow = Dataflow(graph, {"work": Work()}, sources={"in": [(0, "waits"), (1, "fails")]})
    with pytest.raises(NodeFailed, match="ValueError: no"):
        dataflow.run(engine=engine, sinks={"out": found}, timeout=GUARD, observer=Told())
    assert found in ([], [(0, "waits")])


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
