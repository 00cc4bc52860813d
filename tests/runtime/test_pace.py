"""What a source gave is worked on before it is waited for again, and an event loop waits for no iterable."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from graphs import JsonLines
from progress import PointstampError
from progress.runtime import SILENT, Complete, Dataflow, Messages, SourceFailed
from progress.runtime.inputs.pace import FEW, LONG, Pace
from progress.runtime.policies import by_count, by_event_time, explicit, with_idleness
from tests.runtime.tools import GUARD, line, run

COUNT = 12
everywhere = pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])


def paced(engine: str, kind: str, left: list[Any], ahead: list[int]) -> Callable[[], Iterator[Any]]:
    """A source that waits before each item; when it is asked for one more, it notes how many have not left.

    In engines that read beside what nodes do, it waits until those that it gave have left.
    """

    def items() -> Iterator[Any]:
        for number in range(COUNT):
            until = monotonic() + GUARD
            while engine != "sim" and len(left) < number and monotonic() < until:
                sleep(FEW / 3)
            ahead.append(number - len(left))
            sleep(3 * FEW)
            yield {"pair": (0, number), "messages": Messages(0, [number]), "value": number}[kind]

    return items


@everywhere
@pytest.mark.parametrize("kind", ["pair", "messages", "counted", "by event time", "explicit"])
def test_a_source_that_waits_is_asked_when_what_it_gave_is_done(engine: str, kind: str) -> None:
    left: list[Any] = []
    ahead: list[int] = []
    source: Any = paced(engine, kind if kind in ("pair", "messages") else "value", left, ahead)
    if kind == "counted":
        source = by_count(source, every=1)
    if kind == "by event time":
        source = by_event_time(source, lambda number: number)
    if kind == "explicit":
        source = explicit(paced(engine, "pair", left, ahead))
    nodes: dict[str, Any] = {"p": lambda value: value, "q": lambda value: value}
    sinks = {"out": lambda time, value: left.append(value)}
    run(Dataflow(line("p", "q"), nodes), engine, sources={"in": source}, sinks=sinks)
    assert left == [*range(COUNT)]
    assert ahead == [0] * COUNT


def test_one_that_computes_for_long_is_not_read_ahead_either() -> None:
    left: list[Any] = []
    ahead: list[int] = []

    def items() -> Iterator[Any]:
        for number in range(4):
            ahead.append(number - len(left))
            begin = monotonic()
            while monotonic() < begin + 1.5 * LONG:
                pass
            yield 0, number

    Dataflow(line("p")).run(sources={"in": items}, sinks={"out": lambda time, value: left.append(value)})
    assert ahead == [0] * 4


def test_a_pace_goes_by_what_has_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is held up by others, and has not waited, reads on: so it does the same every time."""
    now, waited = 100.0, 0

    monkeypatch.setattr("progress.runtime.inputs.pace.monotonic", lambda: now)
    monkeypatch.setattr("progress.runtime.inputs.pace.waits", lambda: waited)
    pace = Pace()
    pace.begin()
    now += 2 * FEW
    assert not pace.is_enough()  # it was held up
    assert pace.until == now + FEW
    waited += 1
    now += 2 * FEW
    assert pace.is_enough()
    assert not pace.begin().is_enough()
    now += LONG
    assert pace.is_enough()


def test_a_quick_generator_is_read_in_large_steps() -> None:
    steps: list[Any] = []
    Dataflow(line("p")).run(sources={"in": lambda: ((0, number) for number in range(5_000))}, record=steps.append)
    brought = [count for step in steps[1:] for edge, _, count in step.get("messages", ()) if edge == "in" and count > 0]
    assert sum(brought) == 5_000
    assert len(brought) <= 20


@pytest.mark.parametrize("how", ["run", "run_async"])
@pytest.mark.parametrize("kind", ["plain", "policy"])
def test_an_event_loop_goes_on_while_an_iterable_blocks(how: str, kind: str) -> None:
    """The iterable waits for something that only the loop can do."""
    heard = threading.Event()

    def items() -> Iterator[Any]:
        yield 0, "a"
        assert heard.wait(GUARD)
        yield 0, "b"

    async def hear(value: str) -> str:
        heard.set()
        return value

    source: Any = items if kind == "plain" else explicit(items)
    dataflow = Dataflow(line("p"), {"p": hear})
    if how == "run":
        found = dataflow.run(engine="asyncio", sources={"in": source}, timeout=GUARD)
    else:

        async def main() -> Any:
            asked = asyncio.Event()

            def waits() -> Iterator[Any]:
                loop.call_soon_threadsafe(asked.set)
                assert heard.wait(GUARD)
                yield from ((0, "a"), (0, "b"))

            async def other() -> None:
                await asked.wait()
                heard.set()

            loop = asyncio.get_running_loop()
            given: Any = waits if kind == "plain" else explicit(waits)
            results, _ = await asyncio.gather(dataflow.run_async(sources={"in": given}, timeout=GUARD), other())
            return results

        found = asyncio.run(main())
    assert found == {"out": [(0, "a"), (0, "b")]}


@everywhere
@pytest.mark.parametrize("stop", ["cancel", "timeout"])
def test_a_run_stops_while_its_source_goes_on(engine: str, stop: str) -> None:
    """It has given no thousand items by then."""
    cancel = threading.Event()
    given: list[int] = []

    def items() -> Iterator[Any]:
        for number in range(1_000):
            given.append(number)
            if number == 3:
                cancel.set()
            sleep(0.05)
            yield 0, number

    options: dict[str, Any] = {"cancel": cancel} if stop == "cancel" else {"timeout": 0.2}
    with pytest.raises(PointstampError) as caught:
        Dataflow(line("p")).run(engine=engine, sources={"in": items}, **options)
    assert caught.value.code == ("PS712" if stop == "cancel" else "PS713")
    assert len(given) < 200


@pytest.mark.parametrize(
    "kind", [ValueError, StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError, LookupError]
)
@pytest.mark.parametrize("engine", ["sim", "seeded", "threads", "asyncio"])
@pytest.mark.parametrize("way", ["plain", "policy", "idle", "awaited", "function", "begin"])
def test_whatever_a_source_raises_is_a_failure_of_it(engine: str, kind: type[BaseException], way: str) -> None:
    """In a generator Python itself makes a StopIteration a RuntimeError; no source ends by it."""
    kept: list[Any] = []

    def items() -> Iterator[Any]:
        yield 0, "a"
        raise kind

    async def awaited() -> Any:
        yield 0, "a"
        raise kind

    def raises(*given: Any) -> Any:
        raise kind

    source: Any = {
        "plain": items,
        "policy": lambda: explicit(items),
        "idle": lambda: with_idleness(items, after=1000.0),
        "awaited": awaited,
        "function": lambda: by_event_time([1], raises),
        "begin": lambda: raises,
    }[way]
    if way not in ("plain", "awaited"):
        source = source()
    if way == "awaited" and engine != "asyncio":
        with pytest.raises(PointstampError) as refused:
            run(Dataflow(line("p")), engine, sources={"in": source}, sinks={"out": kept})
        assert refused.value.code == "PS710"
        return
    with pytest.raises(SourceFailed) as caught:
        run(Dataflow(line("p")), engine, sources={"in": source}, sinks={"out": kept})
    assert caught.value.edge == "in"
    assert kind.__name__ in str(caught.value)


@everywhere
def test_silence_of_a_source_without_a_handle_is_waited_out(engine: str) -> None:
    items = [(0, "a"), SILENT, SILENT, Complete([1]), SILENT, (1, "b")]
    found = run(Dataflow(line("p")), engine, sources={"in": lambda: (item for item in items)})
    assert found == {"out": [(0, "a"), (1, "b")]}


def test_a_thread_that_reads_has_the_context_of_the_run() -> None:
    user: ContextVar[str] = ContextVar("user")

    def items() -> Iterator[Any]:
        yield 0, user.get()

    async def main() -> Any:
        user.set("me")
        return await Dataflow(line("p")).run_async(sources={"in": items})

    assert asyncio.run(main()) == {"out": [(0, "me")]}


@everywhere
def test_what_is_read_ahead_is_bounded(engine: str) -> None:
    """A thread reads no more than some items, fewer where each has many messages, while nodes have no room."""
    given = 0
    most = 0
    taken = 0

    def items() -> Iterator[Any]:
        nonlocal given, most
        for _ in range(200):
            given += 100
            most = max(most, given - taken)
            yield Messages(0, [0] * 100)

    class Slow:
        def write_all(self, time: Any, values: Any) -> None:
            nonlocal taken
            taken += len(values)

    run(Dataflow(line("p")), engine, sources={"in": items}, sinks={"out": Slow()}, limit=500)
    assert taken == 20_000
    assert most <= 100 * 200 // 2


@everywhere
def test_files_and_lists_are_read_by_the_loop_itself(engine: str, tmp_path: Path) -> None:
    """They do not block, so no thread is needed."""
    file = tmp_path / "in.jsonl"
    file.write_text('{"time": 0, "value": 1}\n')
    threads: set[str] = set()

    def seen(value: int) -> int:
        threads.update(thread.name for thread in threading.enumerate())
        return value

    for source in ([(0, 1)], JsonLines(file), by_count([1]), explicit(JsonLines(file))):
        assert run(Dataflow(line("p"), {"p": seen}), engine, sources={"in": source}) == {"out": [(0, 1)]}
    if engine != "threads":
        assert not any("source" in name for name in threads)
