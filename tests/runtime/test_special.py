"""Exceptions that Python takes for the end of something, raised by sinks, observers and nodes, in every engine."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from progress import PointstampError
from progress.runtime import Complete, Dataflow, DeadLetter, Node, Out
from progress.runtime.observer import Observer
from tests.commands import pipelines
from tests.runtime.tools import GUARD, engines, line, run

SPECIAL: list[type[BaseException]] = [StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError]
special = pytest.mark.parametrize("kind", SPECIAL)
ITEMS: list[Any] = [(0, "a"), Complete([1]), (1, "b")]


class Raises:
    """A sink, or an observer, that raises in one of its methods."""

    def __init__(self, method: str, kind: type[BaseException]) -> None:
        def raises(*given: Any) -> Any:
            raise kind

        self.write = lambda time, value: None
        setattr(self, method, raises)


@engines
@special
@pytest.mark.parametrize("method", ["write", "write_all", "complete", "begins", "ended", "close"])
def test_no_special_exception_of_a_sink_leaks_from_a_run(engine: str, kind: type[BaseException], method: str) -> None:
    sink = Raises(method, kind)
    with pytest.raises(PointstampError) as caught:
        run(Dataflow(line("p")), engine, sources={"in": ITEMS}, sinks={"out": sink})
    assert caught.value.code == "PS733"
    assert kind.__name__ in str(caught.value)
    assert method not in ("write", "write_all", "complete") or "the sink of 'out'" in str(caught.value)


@special
def test_an_awaited_sink_names_itself(kind: type[BaseException]) -> None:
    async def sink(time: Any, value: Any) -> None:
        await asyncio.sleep(0)
        raise kind

    with pytest.raises(PointstampError) as caught:
        Dataflow(line("p")).run(engine="asyncio", sources={"in": ITEMS}, sinks={"out": sink})
    assert isinstance(caught.value, PointstampError)


@engines
@special
@pytest.mark.parametrize("method", ["started", "performed", "brought", "ended"])
def test_no_special_exception_of_an_observer_leaks(engine: str, kind: type[BaseException], method: str) -> None:
    class Watch(Observer):
        pass

    def raises(*given: Any) -> None:
        raise kind

    watch = Watch()
    setattr(watch, method, raises)
    with pytest.raises(PointstampError) as caught:
        run(Dataflow(line("p")), engine, sources={"in": ITEMS}, observer=watch)
    assert kind.__name__ in str(caught.value)


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@special
def test_a_run_inside_of_a_map_does_not_end_it(engine: str, kind: type[BaseException]) -> None:
    def sink(time: Any, value: Any) -> None:
        raise kind

    dataflow = Dataflow(line("p"), sinks={"out": sink})
    sources = ({"in": [(number, number)]} for number in range(3))
    with pytest.raises(PointstampError):
        list(map(lambda given: dataflow.run(engine=engine, sources=given), sources))  # noqa: C417 - it is about `map`


@special
def test_a_service_is_not_cancelled_by_what_a_sink_raises(kind: type[BaseException]) -> None:
    def sink(time: Any, value: Any) -> None:
        raise kind

    async def main() -> str:
        try:
            async with asyncio.timeout(GUARD):
                await Dataflow(line("p")).run_async(sources={"in": ITEMS}, sinks={"out": sink})
        except PointstampError as error:
            return error.code
        return "went on"

    assert asyncio.run(main()) == "PS733"


def test_whoever_cancels_a_run_still_gets_what_was_asked_for() -> None:
    begun = threading.Event()

    class Waits(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            begun.set()
            await asyncio.Event().wait()

    async def main() -> None:
        dataflow = Dataflow(line("p"), {"p": Waits}, on_error=DeadLetter())
        running = asyncio.create_task(dataflow.run_async(sources={"in": ITEMS}))
        while not begun.is_set():
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await dataflow.run_async(sources={"in": ITEMS})

    asyncio.run(main())


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("awaits", [False, True])
def test_what_ends_a_program_ends_the_run_and_goes_on_up(engine: str, kind: type[BaseException], awaits: bool) -> None:
    """A signal may have raised it, in the middle of a node; so no policy takes it, and sinks are closed."""

    class Ends(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> Any:
            if awaits:
                return self.later()
            raise kind("now")

        async def later(self) -> None:
            await asyncio.sleep(0)
            raise kind("now")

    class Closes(list[Any]):
        def close(self) -> None:
            self.append("closed")

    sink = Closes()
    dataflow = Dataflow(line("p"), {"p": Ends}, on_error=DeadLetter())
    with pytest.raises(kind):
        dataflow.run(engine=engine, sources={"in": ITEMS}, sinks={"out": sink})
    assert sink == ["closed"]
    if engine == "asyncio":

        async def main() -> str:
            with pytest.raises(kind):
                await dataflow.run_async(sources={"in": ITEMS})
            return "the loop goes on"

        assert asyncio.run(main()) == "the loop goes on"


def test_a_command_whose_node_exits_has_not_succeeded(tmp_path: Path) -> None:
    pipelines.write(
        tmp_path,
        totals__yaml=pipelines.TOTALS_YAML,
        exits__py="""\
import sys
from graphs import load
from progress.runtime import Dataflow

dataflow = Dataflow(load("totals.yaml"), {"total": lambda value: sys.exit(0)})
""",
    )
    for engine in ("sim", "threads", "asyncio"):
        done = pipelines.run(
            tmp_path, "exits.py", "--input", "numbers=-", "--engine", engine, stdin='{"time": 0, "value": 1}\n'
        )
        assert (done.exit_code, done.err.splitlines()[-1][:17]) == (1, "pointstamp: PS733")
