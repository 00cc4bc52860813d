"""What nodes give that has to be waited for: in all engines, in a loop that runs already, and when it is cancelled."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import Dataflow, DeadLetter, Mapped, Node, NodeFailed, Out, Retry, Stage
from progress.runtime.control import TimedOut
from progress.runtime.node import Batch
from tests.runtime.tools import GUARD, engines, guarded, line, numbers, run


async def cancelled() -> None:
    """Waits for a task that was cancelled, so `CancelledError` is raised, and nobody cancelled the run."""
    task = asyncio.create_task(asyncio.sleep(GUARD))
    task.cancel()
    await task


class Waiting(Node):
    """Waits for something that is cancelled where the test says so."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.attempts = 0

    async def _wait(self, where: str) -> None:
        await asyncio.sleep(0)
        if where == self.where:
            self.attempts += 1
            await cancelled()

    async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        out.request(time)
        await self._wait("on a message")
        out.send("out", time, value)

    async def on_notify(self, time: Any, out: Out) -> None:
        await self._wait("in the notification")


# --- cancelled --------------------------------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize("where", ["on a message", "in the notification"])
def test_what_a_node_waited_for_was_cancelled_so_it_failed(engine: str, where: str) -> None:
    with pytest.raises(NodeFailed, match=f"'p' failed {where}.*CancelledError"):
        run(Dataflow(line("p"), {"p": Waiting(where)}), engine, sources={"in": numbers(1)})


@engines
def test_its_policy_is_asked_as_for_any_failure(engine: str) -> None:
    node = Waiting("on a message")
    dataflow = Dataflow(line("p"), {"p": lambda: node}, on_error=Retry(times=2, first_pause=0, then=DeadLetter("dead")))
    results = run(dataflow, engine, sources={"in": numbers(1)})
    assert ([failure.value for _, failure in results["dead"]], node.attempts) == ([1], 3)


@pytest.mark.parametrize("what", ["source", "sink"])
def test_a_source_or_sink_that_raises_it_ends_no_run_as_if_all_were_well(what: str) -> None:
    async def items() -> AsyncIterator[Any]:
        yield 0, "a"
        if what == "source":
            await cancelled()

    async def sink(time: Any, value: Any) -> None:
        await cancelled()

    with pytest.raises(PointstampError, match=f"(the|a) {what}.* (raised|failed:) CancelledError"):
        Dataflow(line("p")).run(engine="asyncio", sources={"in": items}, sinks={"out": sink} if what == "sink" else {})


def test_cancelling_the_task_that_awaits_a_run_cancels_the_run() -> None:
    events: list[str] = []

    class Slow(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            events.append("waits")
            try:
                await asyncio.Event().wait()
            finally:
                events.append("cleaned up")

    dataflow = Dataflow(line("p"), {"p": Slow()}, on_error=Retry())

    async def main() -> None:
        task = asyncio.create_task(dataflow.run_async(sources={"in": numbers(1)}))
        while not events:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert guarded(lambda: asyncio.run(main())) == [None]
    assert events == ["waits", "cleaned up"]


# --- in a loop that runs already --------------------------------------------------------------------------------------


def test_a_run_can_be_awaited() -> None:
    async def main() -> Any:
        kept: list[Any] = []
        dataflow = Dataflow(line("p"), {"p": Waiting("nowhere")})
        results = await dataflow.run_async(sources={"in": numbers(1, 2)}, sinks={"out": kept}, timeout=GUARD)
        return results, kept

    assert asyncio.run(main()) == ({}, [(0, 1), (0, 2)])


def test_several_runs_wait_side_by_side_in_one_loop() -> None:
    together = asyncio.Barrier(2)

    async def meet(value: int) -> int:
        await together.wait()
        return value

    async def main() -> Any:
        flows = [Dataflow(line("p"), {"p": meet}) for _ in range(2)]
        return await asyncio.gather(*(flow.run_async(sources={"in": numbers(3)}, timeout=GUARD) for flow in flows))

    assert asyncio.run(main()) == [{"out": [(0, 3)]}] * 2


@pytest.mark.parametrize("engine", ["sim", "asyncio"])
def test_a_loop_within_a_loop_is_refused_with_what_is_right(engine: str) -> None:
    async def main() -> Any:
        return Dataflow(line("p"), {"p": Waiting("nowhere")}).run(engine=engine, sources={"in": numbers(1)})

    with pytest.raises(PointstampError) as caught:
        asyncio.run(main())
    assert caught.value.code == "PS717"
    assert "await dataflow.run_async" in caught.value.hint


# --- what has to be waited for ----------------------------------------------------------------------------------------


def logged(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A decorator as they are: what it makes is no `async def`, and gives what one gives."""

    @functools.wraps(method)
    def call(*arguments: Any) -> Awaitable[Any]:
        return method(*arguments)

    del call.__wrapped__
    return call


class Decorated(Node):
    @logged
    async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        await asyncio.sleep(0)
        out.send("out", time, value)
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> Any:
        return self._told(time, out)

    async def _told(self, time: Any, out: Out) -> None:
        await asyncio.sleep(0)
        out.send("out", time, "told")


class Tables(Stage):
    async def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        await asyncio.sleep(0)
        out.send("out", time, sum(tables["in"]))


async def total(time: Any, tables: dict[str, Any]) -> Any:
    await asyncio.sleep(0)
    return sum(tables["in"])


async def double(value: int) -> int:
    await asyncio.sleep(0)
    return 2 * value


async def twice(value: int) -> list[int]:
    await asyncio.sleep(0)
    return [value, value]


@engines
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (Decorated, [1, 2, "told"]),
        (Tables, [3]),
        (lambda: Stage(total), [3]),
        (lambda: double, [2, 4]),
        (lambda: lambda value: double(value) if value == 2 else value, [1, 4]),
        (lambda: Mapped(twice, flat=True), [1, 1, 2, 2]),
    ],
)
def test_whatever_gives_something_to_be_waited_for_is_waited_for(engine: str, make: Any, expected: list[Any]) -> None:
    assert run(Dataflow(line("p"), {"p": make()}), engine, sources={"in": numbers(1, 2)}) == {
        "out": [(0, value) for value in expected]
    }


@engines
def test_when_one_raises_those_after_it_are_not_waited_for(engine: str) -> None:
    """And nobody complains of a coroutine that was never awaited: warnings are errors."""

    async def broken(value: int) -> int:
        return 1 // (value - 2)

    with pytest.raises(NodeFailed, match="ZeroDivisionError"):
        run(Dataflow(line("p"), {"p": broken}), engine, sources={"in": numbers(2, 3, 4)})


@engines
def test_on_start_may_be_async(engine: str) -> None:
    class Starts(Node):
        async def on_start(self, out: Out) -> None:
            self.loop = asyncio.get_running_loop()
            await asyncio.sleep(0)
            out.request(3)

        async def on_notify(self, time: Any, out: Out) -> None:
            assert engine != "asyncio" or self.loop is asyncio.get_running_loop()
            out.send("out", time, "told")

    assert run(Dataflow(line("p"), {"p": Starts()}), engine) == {"out": [(3, "told")]}


@engines
def test_on_start_that_fails_while_it_waits_stops_the_run(engine: str) -> None:
    class Unable(Node):
        async def on_start(self, out: Out) -> None:
            await cancelled()

    with pytest.raises(NodeFailed, match="'p' failed when it started: CancelledError"):
        run(Dataflow(line("p"), {"p": Unable()}), engine)


class YieldsInMessage(Node):
    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> Iterator[Any]:
        out.send("out", time, value)
        yield


class YieldsInStart(Node):
    async def on_start(self, out: Out) -> AsyncIterator[Any]:
        yield

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        out.send("out", time, value)


class YieldsInBatch(Batch):
    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> Iterator[Any]:
        yield out


def yields(value: int) -> Iterator[int]:
    yield value


@engines
@pytest.mark.parametrize("make", [YieldsInMessage, YieldsInStart, YieldsInBatch, lambda: yields])
def test_a_stray_yield_is_refused_in_words(engine: str, make: Any) -> None:
    with pytest.raises(NodeFailed) as caught:
        run(Dataflow(line("p"), {"p": make()}), engine, sources={"in": numbers(1)})
    assert (caught.value.code, caught.value.node) == ("PS708", "p")
    assert "`out.send` instead of `yield`" in caught.value.hint


def test_a_run_that_stops_leaves_nothing_that_was_never_awaited() -> None:
    """One node fails before what others gave has begun; warnings are errors."""

    def fail(value: int) -> int:
        raise ValueError("broken")

    graph = Graph().node("p").node("q").edge(None, "p", "in").edge(None, "q", "also")
    for names in ("pq", "qp"):
        nodes = {names[0]: double, names[1]: fail}
        with pytest.raises(NodeFailed, match="broken"):
            Dataflow(graph, nodes).run(engine="asyncio", sources={"in": numbers(1), "also": numbers(1)})


class Cut(Node):
    """Waits for longer than anybody has; what becomes of that is noted."""

    def __init__(self, seen: list[str]) -> None:
        self.seen = seen

    async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.seen.append("begun")
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            self.seen.append("cancelled")
            raise


class CutAtStart(Cut):
    """The same before anything has come in."""

    async def on_start(self, out: Out) -> None:
        await self.on_message("", None, None, out)


LONG = 20.0  # seconds, which a run that is not cut short takes


@pytest.mark.parametrize("options", [{"engine": "sim"}, {"engine": "sim", "seed": 3}, {"engine": "threads"}])
@pytest.mark.parametrize("kind", [Cut, CutAtStart])
@pytest.mark.parametrize("on_error", [None, DeadLetter(), Retry(3)])
def test_what_is_awaited_is_cut_short_when_the_time_is_up(options: Any, kind: type[Cut], on_error: Any) -> None:
    seen: list[str] = []
    dataflow = Dataflow(line("p"), {"p": lambda: kind(seen)}, on_error=on_error)
    with pytest.raises(PointstampError) as refused:
        dataflow.run(sources={"in": [(0, 1), (1, 2)]}, timeout=0.2, **options)
    assert refused.value.code == "PS713"
    assert seen == ["begun", "cancelled"]


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_a_sink_that_is_awaited_is_cut_short(engine: str) -> None:
    seen: list[str] = []

    async def sink(time: Any, value: Any) -> None:
        await Cut(seen).on_message("", time, value, None)  # type: ignore[arg-type]

    with pytest.raises(PointstampError) as refused:
        Dataflow(line("p")).run(engine=engine, sources={"in": [(0, 1)]}, sinks={"out": sink}, timeout=0.2)
    assert (refused.value.code, seen) == ("PS713", ["begun", "cancelled"])


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_the_end_of_another_run_inside_of_a_call_is_a_failure_of_the_call(engine: str) -> None:
    class Nested(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            raise TimedOut(1)

    dataflow = Dataflow(line("p"), {"p": Nested}, on_error=DeadLetter("dead"))
    found = dataflow.run(engine=engine, sources={"in": [(0, 1)]}, timeout=GUARD)
    assert [time for time, _ in found["dead"]] == [0]
