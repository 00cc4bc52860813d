"""Checkpoints are taken when they are due, while calls are being made; these count as not begun."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress.runtime import Complete, Dataflow, Node, Out, Stage
from progress.runtime.actions.inbox import Action
from progress.runtime.control import Cancelled, Control
from progress.runtime.durable import underway
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.rests import Keeping
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from progress.runtime.state import State as KeyedState

SOON = 20.0  # seconds until something has to have happened


def wait_until(is_so: Callable[[], bool], what: str = "") -> None:
    until = time.monotonic() + SOON
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.002)


class Kept:
    """A sink that is part of the checkpoint."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write_all(self, at: Any, values: Sequence[Any]) -> None:
        self.values += [(at, value) for value in values]

    def snapshot(self) -> Any:
        return list(self.values)

    def restore(self, state: Any) -> None:
        self.values = list(state)


class Life:
    """One process of a run, from a checkpoint to when it is killed; `kept` are the checkpoints that it has taken."""

    def __init__(self, dataflow: Dataflow, begun: State | None = None, engine: str = "threads", workers: int = 4):
        self.kept: list[State] = []
        self.at_each: Callable[[], int] = lambda: 0
        self.marks: list[int] = []  # what it said at each checkpoint
        self.sink = Kept()
        self._cancel = threading.Event()
        self.running = Running(
            dataflow,
            dataflow.sources,
            {"out": self.sink},
            RunOptions(engine, keeping=Keeping(self._keep, 0.0, begun), control=Control(cancel=self._cancel)),
        )
        self._workers = workers
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.running.run(None, self._workers)
        except BaseException as error:
            self.error = error

    def _keep(self, state: State) -> None:
        self.marks.append(self.at_each())
        self.kept.append(state)

    def kill(self, let_go: Callable[[], None] = lambda: None) -> None:
        """What happens from now on is in no checkpoint that anybody goes on from."""
        self.kept = list(self.kept)
        kept, self.kept = self.kept, []
        self._cancel.set()
        let_go()
        self._thread.join()
        self.kept = kept
        assert self.error is None or isinstance(self.error, Cancelled), self.error

    def end(self) -> list[Any]:
        self._thread.join(SOON)
        if self.error is not None:
            raise self.error
        return sorted(self.sink.values)


class Doors:
    """Calls that go on when they are let."""

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.is_open = False
        self.permits = 0
        self._changed = threading.Condition()

    def __call__(self, at: Any) -> None:
        with self._changed:
            self.begun.append(at)
            self._changed.wait_for(lambda: self.is_open or self.permits > 0, SOON)
            self.permits -= not self.is_open

    def let(self, count: int) -> None:
        with self._changed:
            self.permits = count
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self.is_open = True
            self._changed.notify_all()


def pipeline(node: Any, times: int, at_once: int = 8) -> Dataflow:
    """Times that are complete together, since none is before another."""
    graph = Graph(time={"product": ["nat", "nat"]}).node("job").edge(None, "job", "in").edge("job", None, "out")
    items = [((each, times - each), each) for each in range(times)]
    return Dataflow(graph, {"job": node}, sources={"in": items})


def whole(times: int) -> list[Any]:
    return [((each, times - each), [each]) for each in range(times)]


def test_a_checkpoint_is_taken_while_calls_are_made_and_has_these_as_not_begun() -> None:
    doors = Doors()

    def job(at: Any, tables: Any) -> Any:
        doors(at)
        return tables["in"]

    def dataflow() -> Dataflow:
        found = pipeline(Stage(job, at_once=3), 8)
        found.sources["in"] = items
        return found

    def items() -> Iterator[Any]:
        for each in range(8):
            if each == 7:
                wait_until(lambda: len(doors.begun) >= 3 and bool(lives))
                seen.append(len(lives[0].kept))
            yield (each, 8 - each), each
            yield Complete([(later, 8 - later) for later in range(each + 1, 8)])

    seen: list[int] = []
    lives: list[Life] = []
    first = Life(dataflow())
    lives.append(first)
    wait_until(lambda: bool(seen) and len(first.kept) > seen[0], "no checkpoint while calls run")
    last = first.kept[-1]
    first.kill(doors.open)
    assert Life(dataflow(), last).end() == whole(8)


def remembers(doors: Doors, kind: str) -> Stage:
    """A node with a dict of its own, which changes while a call is made; what it sends says if that is as it should be.

    It says which entry a call uses; or nothing of that; or it has a snapshot of its own.
    """

    class Remembers(Stage):
        def __init__(self) -> None:
            super().__init__()
            self.counts: dict[Any, list[int]] = {}

        def on_tables(self, at: Any, tables: dict[str, Any], out: Out) -> None:
            self.counts.setdefault(at, []).append(1)
            doors(at)
            assert self.counts[at] == [1]
            self.counts[at].append(2)
            out.send("out", at, tables["in"])

    class ByTime(Remembers):
        at_once = 3
        by_time = ("counts",)

    class Itself(Remembers):
        def snapshot(self) -> Any:
            return self.counts, self.waiting

        def restore(self, state: Any) -> None:
            self.counts, self.waiting = state

    class OneAtATime(Remembers):
        at_once = 1

    kinds = {"a dict": Remembers, "by time": ByTime, "its own snapshot": Itself, "one at a time": OneAtATime}
    return kinds[kind]()


KEEP = ["a dict", "by time", "its own snapshot", "one at a time"]


@pytest.mark.parametrize("kind", KEEP)
def test_a_checkpoint_is_taken_while_a_call_changes_what_its_node_keeps(kind: str) -> None:
    doors = Doors()
    at_once = 3 if kind == "by time" else 1

    def items() -> Iterator[Any]:
        for each in range(8):
            if each == 7:
                wait_until(lambda: len(doors.begun) >= at_once and bool(lives))
                seen.append(len(lives[0].kept))
            yield (each, 8 - each), each
            yield Complete([(later, 8 - later) for later in range(each + 1, 8)])

    def dataflow() -> Dataflow:
        found = pipeline(remembers(doors, kind), 8)
        found.sources["in"] = items
        return found

    seen: list[int] = []
    lives: list[Life] = []
    life = Life(dataflow())
    lives.append(life)
    wait_until(lambda: bool(seen) and len(life.kept) > seen[0], "no checkpoint while calls run")
    assert len(doors.begun) == at_once
    last = life.kept[-1]
    life.kill(doors.open)
    again = Life(dataflow(), last)
    assert again.end() == whole(8)
    (inbox,) = again.running.core.inboxes
    assert inbox.behaviour.counts == {(each, 8 - each): [1, 2] for each in range(8)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["nothing", *KEEP])
def test_no_restart_commits_nothing_new_while_single_calls_come_to_their_end(kind: str) -> None:
    """One call of each life ends, the others never do: each life has done one time more."""
    begun: State | None = None
    done: list[int] = []
    for _ in range(6):
        doors = Doors()

        def job(at: Any, tables: Any, doors: Doors = doors) -> Any:
            doors(at)
            return tables["in"]

        node = Stage(job) if kind == "nothing" else remembers(doors, kind)
        life = Life(pipeline(node, 10), begun)
        before = len(life.sink.values)
        at_once = {"nothing": 4, "by time": 3}.get(kind, 1)
        wait_until(lambda: len(doors.begun) == at_once)  # noqa: B023 - called now
        doors.let(1)
        wait_until(lambda: len(life.sink.values) > len(done))  # noqa: B023
        count = len(life.kept)
        wait_until(
            lambda: any(_left(state) > len(done) for state in life.kept[max(0, count - 1) :]),  # noqa: B023
            "what has ended is in no checkpoint",
        )
        begun = life.kept[-1]
        life.kill(doors.open)
        assert before <= len(done)
        done.append(_left(begun))
    assert done == [1, 2, 3, 4, 5, 6]


def _left(state: State) -> int:
    """How much has left, as a checkpoint has it."""
    return len(decoded(state["sink out"], Plain()))


def test_calls_that_change_the_same_are_waited_for_and_no_other_one_begins() -> None:
    """It says of all calls that they use one entry: when one is over, what was before the other is not known."""
    doors = Doors()

    class Together(Stage):
        by_time = ("counts",)

        def __init__(self) -> None:
            super().__init__(at_once=3)
            self.counts: dict[str, set[Any]] = {"all": set()}

        def entry(self, time: Any) -> Any:
            return "all"

        def on_tables(self, at: Any, tables: dict[str, Any], out: Out) -> None:
            self.counts["all"].add(at)
            doors(at)
            out.send("out", at, tables["in"])

    def items() -> Iterator[Any]:
        for each in range(8):
            yield (each, 8 - each), each
            yield Complete([(later, 8 - later) for later in range(each + 1, 8)])

    def dataflow() -> Dataflow:
        found = pipeline(Together(), 8)
        found.sources["in"] = items
        return found

    life = Life(dataflow(), workers=6)
    life.at_each = lambda: len(doors.begun)
    wait_until(lambda: len(doors.begun) == 3)
    doors.let(1)
    wait_until(lambda: life.running.core.is_awaited)
    begun, seen = len(doors.begun), len(life.kept)
    doors.open()
    wait_until(lambda: len(life.kept) > seen)
    assert life.marks[seen] == begun >= 3  # those that had begun, and no other one before the checkpoint
    last = life.kept[seen]
    life.kill()
    assert Life(dataflow(), last).end() == whole(8)


def test_a_node_whose_calls_change_nothing_makes_several_at_once_and_one_at_a_time_when_they_do() -> None:
    doors = Doors()
    names = {"a": 1}

    class Looks(Stage):
        def __init__(self) -> None:
            super().__init__(at_once=3)
            self.names = names

        def on_tables(self, at: Any, tables: dict[str, Any], out: Out) -> None:
            if at[0] == 5:
                self.names["b"] = 2
            doors(at)
            out.send("out", at, tables["in"])

    life = Life(pipeline(Looks(), 12), workers=6)
    wait_until(lambda: len(doors.begun) == 1)
    doors.let(1)
    wait_until(lambda: len(doors.begun) == 4)  # one, and three
    (inbox,) = life.running.core.inboxes
    assert inbox.at_once == 3
    doors.let(3)
    wait_until(lambda: inbox.at_once == 1)
    doors.open()
    assert life.end() == whole(12)
    assert inbox.at_once == 1


@pytest.mark.parametrize("is_awaited", [False, True])
def test_copies_take_a_small_share_of_what_calls_take(monkeypatch: pytest.MonkeyPatch, is_awaited: bool) -> None:
    clock = [0.0]
    for name in ("monotonic", "thread_time"):
        monkeypatch.setattr(underway, name, lambda: clock[0])

    class Slow(dict[Any, Any]):
        def __reduce__(self) -> Any:
            clock[0] += 1.0  # seconds for a copy
            return Slow, ()

    node = Totals()
    node.totals = Slow()
    calls = underway.Underway(node)
    noted = 0
    for number in range(1000):
        action = Action(0, "in", number, [1])
        calls.begin(action)
        calls.note(action, is_awaited)
        noted += calls.is_known()
        clock[0] += 1.0  # and for a call
        calls.ended(action)
    assert 40 <= noted <= 60 if not is_awaited else noted == 1000


def test_what_waits_is_not_held_up_by_a_call_that_a_checkpoint_waits_for() -> None:
    doors = Doors()
    graph = Graph().node("slow").edge(None, "slow", "a").edge("slow", None, "there")
    graph = graph.node("fast").edge(None, "fast", "b").edge("fast", None, "out")

    class Slow(Node):
        def __init__(self) -> None:
            self.seen: list[int] = []

        def on_message(self, edge: str, at: Any, value: Any, out: Out) -> None:
            doors(at)
            self.seen.append(value)

    def numbers() -> Iterator[Any]:
        wait_until(lambda: bool(doors.begun))
        yield from ((0, number) for number in range(100))

    dataflow = Dataflow(graph, {"slow": Slow()}, sources={"a": [(0, 1)], "b": numbers})
    life = Life(dataflow)
    wait_until(lambda: len(life.sink.values) == 100, "held up")
    doors.open()
    assert len(life.end()) == 100


def test_calls_that_await_are_as_not_begun() -> None:
    is_open, is_made = threading.Event(), threading.Event()
    begun: list[Any] = []

    async def twice(value: int) -> int:
        begun.append(value)
        while not is_open.is_set():
            await asyncio.sleep(0.002)
        return 2 * value

    async def items() -> AsyncIterator[Any]:
        yield 0, 1
        while not begun or not is_made.is_set():
            await asyncio.sleep(0.002)
        seen.append(len(life.kept))
        yield 0, 2

    seen: list[int] = []
    graph = Graph().node("job").edge(None, "job", "in").edge("job", None, "out")
    dataflow = Dataflow(graph, {"job": twice}, sources={"in": items})
    life = Life(dataflow, engine="asyncio")
    is_made.set()
    wait_until(lambda: bool(seen) and len(life.kept) > seen[0], "no checkpoint while a call awaits")
    last = life.kept[-1]
    life.kill(is_open.set)
    assert Life(dataflow, last, "asyncio").end() == [(0, 2), (0, 4)]


class Totals(Node):
    """A running sum in a dict, changed in the midst of a call."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {"all": 0}

    def on_message(self, edge: str, at: Any, value: Any, out: Out) -> None:
        self.totals["all"] += value[0] if isinstance(value, list) else value
        time.sleep(0.0005)
        out.send("out", at, self.totals["all"])


class Sums(Node):
    """A running sum, changed in the midst of a call."""

    def __init__(self) -> None:
        self.total = 0

    def on_message(self, edge: str, at: Any, value: Any, out: Out) -> None:
        self.total += value[0] if isinstance(value, list) else value
        time.sleep(0.0005)
        out.send("out", at, self.total)


@pytest.mark.parametrize("kind", [Sums, Totals])
@pytest.mark.parametrize("seed", range(3))
def test_a_run_goes_on_from_any_checkpoint_as_if_nothing_had_happened(seed: int, kind: type[Node]) -> None:
    rng = random.Random(seed)

    def dataflow() -> Dataflow:
        graph = Graph().node("day").edge(None, "day", "in").edge("day", "sum", "days")
        graph = graph.node("sum").edge("sum", None, "out")

        def job(at: Any, tables: Any) -> Any:
            time.sleep(0.001)
            return sum(tables["in"])

        def items() -> Iterator[Any]:
            for at in range(12):
                for value in range(3):
                    yield at, 10**at + value
                    time.sleep(0.0003)
                yield Complete((at + 1,))

        return Dataflow(graph, {"day": Stage(job, at_once=4), "sum": kind()}, sources={"in": items})

    first = Life(dataflow())
    expected = Life(dataflow()).end()
    assert len(expected) == 12
    assert max(value for _, value in expected) == sum(3 * 10**at + 3 for at in range(12))
    found = first.end()
    assert len(found) == 12
    for state in rng.sample(first.kept, min(4, len(first.kept))):
        again = Life(dataflow(), state).end()
        assert Counter(at for at, _ in again) == Counter(range(12))
        assert max(value for _, value in again) == max(value for _, value in expected)


def test_what_was_before_a_call_is_what_is_kept() -> None:
    sums = Sums()
    calls = underway.Underway(sums)
    action = Action(0, "in", 0, [5])
    calls.begin(action)
    assert not calls.is_known()
    calls.note(action, is_awaited=False)
    sums.total = 5
    sums.more = [1]  # type: ignore[attr-defined]
    assert calls.is_known()
    assert calls.snapshot() == {"total": 0}
    calls.ended(action)
    assert calls.snapshot() == {"total": 5, "more": [1]}


@pytest.mark.parametrize("edge", [None, "in"])
def test_what_a_batch_lets_wait_is_what_waited_before_a_call(edge: str | None) -> None:
    stage = Stage(lambda at, tables: None)
    stage.waiting = {0: {"in": [1]}, 1: {"in": [2]}}
    calls = underway.Underway(stage)
    new = Action(0, "in", 3, [4])
    action = Action(0, edge, 0, [7])
    for each in (action, new):
        calls.begin(each)
        calls.note(each, is_awaited=False)
    if edge is None:
        del stage.waiting[0]
    else:
        stage.waiting[0]["in"].append(7)
        stage.waiting[0]["other"] = [8]
    stage.waiting[3] = {"in": [4]}
    assert calls.is_known()
    assert calls.snapshot()["waiting"] == {0: {"in": [1]}, 1: {"in": [2]}}
    assert 3 in stage.waiting


def test_a_copy_has_what_never_changes_as_it_is() -> None:
    from progress.runtime.durable.copies import Copy

    known = [lambda: 1, {"a": [2]}, Sums]
    copy = Copy(known)
    assert copy.is_still(known)
    known[1]["a"].append(3)  # type: ignore[index]
    assert not copy.is_still(known)
    made = copy.made()
    assert made[0] is known[0]
    assert made[1:] == [{"a": [2]}, Sums]
    assert not copy.is_still([lambda: 1, {"a": [2]}, Sums])


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@pytest.mark.parametrize("in_memory", [None, 200])
def test_a_run_that_is_stopped_while_a_checkpoint_is_written(
    tmp_path: Path, engine: str, in_memory: int | None
) -> None:
    """That one is finished before the last one is taken, which has another border; so nothing is lost."""
    keys, times = 2_000, 40
    cancel, stops, sleep = threading.Event(), [10, 20, 30], time.sleep

    class Many(Node):
        def __init__(self) -> None:
            self.known: MutableMapping[Any, Any] = KeyedState(in_memory=in_memory)
            self.plain: dict[Any, Any] = {}

        def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
            if cancel.is_set():  # what is called all the same, until that is seen
                sleep(0.1)
            for mapping in (self.known, self.plain):
                mapping.update({key: [time] for key in range(keys if time < 2 else 3)})
                mapping.pop(keys - 1 - time)
            if stops and time == stops[0]:
                cancel.set()
            assert list(self.known.items()) == list(self.plain.items())

    flow = Dataflow(Graph().node("many").edge(None, "many", "in"), {"many": Many})
    sources = {"in": [(time, time) for time in range(times)]}
    while stops:
        with pytest.raises(Cancelled):
            flow.run(sources=sources, engine=engine, state=tmp_path / "state", every=0, cancel=cancel)
        cancel.clear()
        stops.pop(0)
    found = flow.run(sources=sources, engine=engine, state=tmp_path / "state")
    assert len(found.nodes["many"].plain) == keys - times + 1
