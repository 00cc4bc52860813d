"""A kept run is stopped at an instant at which something is half done: when it goes on, all is there, and once."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from progress.errors import PointstampError
from progress.runtime import Complete, Dataflow, DeadLetter, Node, NodeFailed, SourceFailed, State
from progress.runtime.control import Cancelled, TimedOut
from progress.runtime.durable.bundles import Bundle

ENGINES = ("sim", "threads", "asyncio")
GRAPH = from_edges([(None, "sums"), ("sums", None)])
MANY = 8


class Sums(Node):
    """What it sends depends on all that came before; it fails where the test says so."""

    fails_at: int | None = None
    pauses: dict[int, float] = {}  # noqa: RUF012 - seconds before a number is taken in, as the test says

    def __init__(self) -> None:
        self.sum = 0

    def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
        time.sleep(self.pauses.get(value, 0))
        if value == self.fails_at:
            raise ValueError("it fails")
        self.sum += value
        for leaving in out.edges:
            out.send(leaving, at, [value, self.sum])


@pytest.fixture(autouse=True)
def _nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sums, "fails_at", None)
    monkeypatch.setattr(Sums, "pauses", {})


def right(many: int = MANY) -> list[Any]:
    return [[number, sum(range(number + 1))] for number in range(many)]


def numbers(many: int = MANY) -> list[tuple[int, int]]:
    return [(number, number) for number in range(many)]


def values(path: Path) -> list[Any]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["value"] for line in lines if "value" in line]


class Slow:
    """A place that keeps bundles, and may be slow to say what it has."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.stamp: str | None = None
        self.takes = 0.0

    def deliver(self, bundle: Bundle) -> None:
        self.values, self.stamp = [*self.values, *(value for _, value in bundle.values)], bundle.stamp

    def last(self) -> str | None:
        time.sleep(self.takes)
        return self.stamp


@pytest.mark.parametrize("delivery", ["deterministic", "barrier"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_may_be_stopped_before_its_outputs_have_begun(tmp_path: Path, engine: str, delivery: str) -> None:
    """What a checkpoint had of them then would be that nothing has left."""
    slow = Slow()
    graph = from_edges([(None, "sums"), ("sums", None)]).edge("sums", None, "lines")

    def run(**options: Any) -> None:
        sinks = {"sums->out": slow, "lines": JsonLines(tmp_path / "lines")}
        flow = Dataflow(graph, {"sums": Sums}, sources={"in->sums": numbers()})
        flow.run(sinks=sinks, state=tmp_path / "state", engine=engine, delivery=delivery, **options)

    Sums.fails_at, Sums.pauses = 5, dict.fromkeys(range(5), 0.02)
    with pytest.raises(NodeFailed):
        run(every=0)
    Sums.fails_at, slow.takes = None, 0.3
    with pytest.raises(TimedOut):
        run(timeout=0.05)
    slow.takes = 0
    run()
    assert slow.values == values(tmp_path / "lines") == right()


def test_a_run_may_be_stopped_before_it_has_done_again_what_it_did(tmp_path: Path) -> None:
    """What nodes were told is not forgotten before what came of it has come again, and no set is put together anew."""
    many = 40
    stops_at, cancel = -1, threading.Event()

    class Kept(Sums):
        def __init__(self) -> None:
            self.kept: set[int] = set()

        def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            if value == stops_at:
                cancel.set()
            now = out.now()
            if value == self.fails_at:
                raise ValueError("it fails")
            self.kept ^= {value * 8 % 104, value * 7 % 56}
            out.send("sums->out", at, [value, now, [*self.kept]])

    def run(**options: Any) -> list[Any]:
        flow = Dataflow(GRAPH, {"sums": Kept}, sources={"in->sums": numbers(many)})
        flow.run(sinks={"sums->out": JsonLines(tmp_path / "out")}, state=tmp_path / "state", every=1000, **options)
        return values(tmp_path / "out")

    Kept.fails_at = 35
    with pytest.raises(NodeFailed):
        run()
    before = values(tmp_path / "out")
    Kept.fails_at = None
    for place in range(1, 34, 4):
        stops_at, cancel = place, threading.Event()
        with pytest.raises(Cancelled):
            run(cancel=cancel)
    stops_at = -1
    after = run()
    assert after[: len(before)] == before
    assert [value[0] for value in after] == [*range(many)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_may_be_stopped_while_its_nodes_start(tmp_path: Path, engine: str) -> None:
    """What is awaited is cancelled then."""
    seconds = 60.0

    class Starting(Sums):
        async def on_start(self, out: Any) -> None:
            await asyncio.sleep(seconds)

    def run(**options: Any) -> None:
        flow = Dataflow(GRAPH, {"sums": Starting}, sources={"in->sums": numbers()})
        flow.run(sinks={"sums->out": JsonLines(tmp_path / "out")}, state=tmp_path / "state", engine=engine, **options)

    with pytest.raises(TimedOut):
        run(timeout=0.05)
    seconds = 0
    run()
    assert values(tmp_path / "out") == right()


def test_what_cannot_enter_a_run_that_is_stopped_comes_again(tmp_path: Path) -> None:
    """It was read, and is not in the run: a checkpoint would have it as done."""
    cancel = threading.Event()

    class Uncopied(int):
        def __deepcopy__(self, memo: Any) -> int:
            cancel.set()
            time.sleep(0.2)  # who waits for the workers sees it meanwhile
            raise ValueError("it cannot be copied")

    def run(source: Any, **options: Any) -> None:
        flow = Dataflow(GRAPH, {"sums": Sums}, sources={"in->sums": lambda: iter(source)}, copies=True)
        sinks = {"sums->out": JsonLines(tmp_path / "out")}
        flow.run(sinks=sinks, state=tmp_path / "state", engine="threads", **options)

    with pytest.raises((Cancelled, SourceFailed, ValueError)):
        run([(at, Uncopied(value) if value == 3 else value) for at, value in numbers()], cancel=cancel)
    run(numbers())
    assert values(tmp_path / "out") == right()


def test_a_checkpoint_of_which_a_part_cannot_be_written_is_not_taken_when_the_run_is_stopped(tmp_path: Path) -> None:
    """The run is stopped while it is written, so that it is not what could not be written that stops it."""
    cancel = threading.Event()

    class Value:
        fails = True

        def __init__(self, value: int) -> None:
            self.value = value

        def __reduce__(self) -> Any:
            if self.value == 3 and Value.fails and cancel is not None:
                cancel.set()
                time.sleep(0.2)
                Value.fails = False
                raise ValueError("it cannot be written")
            return int, (self.value,)

    class Keeping(Node):
        def __init__(self) -> None:
            self.kept: State[int, Any] = State()

        def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            self.kept[value] = Value(value)
            time.sleep(0.02)
            out.send("sums->out", at, sorted(self.kept))

    def run(**options: Any) -> None:
        flow = Dataflow(GRAPH, {"sums": Keeping}, sources={"in->sums": numbers()})
        sinks = {"sums->out": JsonLines(tmp_path / "out")}
        state = tmp_path / "state"
        flow.run(sinks=sinks, state=state, engine="threads", every=0, with_pickle=True, **options)

    with pytest.raises((Cancelled, PointstampError)):
        run(cancel=cancel)
    run()
    assert values(tmp_path / "out") == [[*range(number + 1)] for number in range(MANY)]


def kept(folder: Path, **options: Any) -> dict[str, Any]:
    """A run of many numbers, of which nothing is kept but their order."""
    sources, sinks = {"in->sums": numbers(20)}, {"sums->out": JsonLines(folder / "out")}
    return {"sources": sources, "sinks": sinks, "state": folder / "state", "every": 1000, **options}


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_who_is_stopped_while_it_does_something_again_does_nothing_later(tmp_path: Path, engine: str) -> None:
    """A node is being called then, and comes to its end while the run goes on in another one."""
    flow = Dataflow(GRAPH, {"sums": Sums})
    Sums.fails_at = 15
    with pytest.raises(NodeFailed):
        flow.run(**kept(tmp_path, engine=engine))
    Sums.fails_at, Sums.pauses = None, {15: 0.5}
    with pytest.raises(TimedOut):
        flow.run(**kept(tmp_path, engine=engine, timeout=0.2))
    Sums.pauses = {18: 0.7}
    flow.run(**kept(tmp_path, engine=engine))
    assert values(tmp_path / "out") == right(20)


def test_who_is_cancelled_while_it_does_something_again_does_nothing_later(tmp_path: Path) -> None:
    """Whoever has cancelled the task may begin again at once, although it was impatient."""
    flow = Dataflow(GRAPH, {"sums": Sums})
    Sums.fails_at = 15
    with pytest.raises(NodeFailed):
        asyncio.run(flow.run_async(**kept(tmp_path)))
    Sums.fails_at, Sums.pauses = None, dict.fromkeys(range(20), 0.03)

    async def cancelled(times: int) -> None:
        task = asyncio.create_task(flow.run_async(**kept(tmp_path)))
        await asyncio.sleep(0.15)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task

    async def run() -> None:
        await cancelled(1)
        await cancelled(2)
        await flow.run_async(**kept(tmp_path))

    asyncio.run(run())
    assert values(tmp_path / "out") == right(20)


@pytest.mark.parametrize(("times", "workers"), [(1, 1), (2, 4)])
def test_who_interrupts_a_run_leaves_nobody_behind_who_writes(tmp_path: Path, times: int, workers: int) -> None:
    """A node is being called then, for which it is waited; who is impatient does not wait for it."""
    main = threading.get_ident()
    has_ended = threading.Event()

    class Interrupted(Sums):
        def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            if value in self.pauses and value == 10:
                for _ in range(times):
                    signal.pthread_kill(main, signal.SIGINT)
                    time.sleep(0.2)
            super().on_message(edge, at, value, out)
            if value in self.pauses:
                has_ended.set()

    flow = Dataflow(GRAPH, {"sums": Interrupted})
    Sums.pauses = {10: 0.3}
    with pytest.raises(KeyboardInterrupt):
        flow.run(**kept(tmp_path, engine="threads", workers=workers))
    assert has_ended.is_set() == (times == 1)
    Sums.pauses = {18: 0.7}
    flow.run(**kept(tmp_path, engine="threads", workers=workers))
    assert values(tmp_path / "out") == right(20)


def test_a_task_that_is_cancelled_twice_has_ended(tmp_path: Path) -> None:
    """A node that has something to let go of lets nobody hurry it."""
    is_slow = True

    class Slow(Node):
        def __init__(self) -> None:
            self.sum = 0

        async def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            until = time.monotonic() + 0.4
            while is_slow and value == 10 and time.monotonic() < until:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(until - time.monotonic())
            await asyncio.sleep(0 if is_slow or value != 18 else 0.7)
            self.sum += value
            out.send("sums->out", at, [value, self.sum])

    async def run() -> None:
        nonlocal is_slow
        flow = Dataflow(GRAPH, {"sums": Slow})
        task = asyncio.create_task(flow.run_async(**kept(tmp_path)))
        for _ in range(2):
            await asyncio.sleep(0.1)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        is_slow = False
        await flow.run_async(**kept(tmp_path))

    asyncio.run(run())
    assert values(tmp_path / "out") == right(20)


@pytest.mark.parametrize("what", ["values", "late data", "what is malformed"])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_sink_was_cut_short_with_leaves_when_the_run_goes_on(tmp_path: Path, engine: str, what: str) -> None:
    """What is awaited is cancelled when a run has to stop: it has not left."""
    seconds = 0.5
    left: list[Any] = []

    async def sink(at: Any, value: Any) -> None:
        await asyncio.sleep(seconds)
        left.append(value if what != "what is malformed" else value.value)

    source: Any = {
        "values": [(0, 1), (0, 2), (1, 3)],
        "late data": [Complete([5]), (0, 1), (0, 2), (1, 3)],
        "what is malformed": [1, 2, 3],
    }[what]
    flow = Dataflow(GRAPH, sources={"in->sums": source}, on_error={"in->sums": DeadLetter("malformed")})
    sinks = {{"values": "sums->out", "late data": "late", "what is malformed": "malformed"}[what]: sink}
    with pytest.raises(TimedOut):
        flow.run(sinks=sinks, state=tmp_path / "state", engine=engine, timeout=0.1)
    assert left == []
    seconds = 0
    flow.run(sinks=sinks, state=tmp_path / "state", engine=engine)
    assert left == [1, 2, 3]
