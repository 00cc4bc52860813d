"""Functions of nodes: one bad value is one failure, a retry calls again only what failed, the same in every engine."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from progress import PointstampError
from progress.runtime import Complete, Dataflow, DeadLetter, Mapped, Messages, Node, NodeFailed, Out, Retry
from tests.runtime.tools import engines, line, run

BAD = (3, 11, 12, 39)
VALUES = range(40)


def values() -> list[Any]:
    """In batches of several shapes, which engines and seeds cut and join as they like."""
    return [*((0, value) for value in VALUES[:20]), Messages(0, VALUES[20:30]), *((0, value) for value in VALUES[30:])]


class Calls:
    """A function that fails on bad values, or for a while, in one of several ways; it counts its calls."""

    def __init__(self, fails: Callable[[int, int], bool]) -> None:
        self.fails = fails
        self.counts: Counter[int] = Counter()

    def tried(self, value: int) -> None:
        self.counts[value] += 1
        if self.fails(value, self.counts[value]):
            raise ValueError(f"bad {value}")

    def plain(self, value: int) -> int:
        self.tried(value)
        return value

    async def awaited(self, value: int) -> int:
        await asyncio.sleep(0)
        self.tried(value)
        return value

    def now_and_then(self, value: int) -> Any:
        return self.awaited(value) if value % 3 else self.plain(value)

    def several(self, value: int) -> list[int]:
        self.tried(value)
        return [value] * (value % 3)

    def lazily(self, value: int) -> Iterator[int]:
        for _ in range(value % 3):
            yield value
        self.tried(value)  # when some of it has been taken

    async def awaited_several(self, value: int) -> list[int]:
        return [await self.awaited(value)] * (value % 3)


WAYS = ("plain", "awaited", "now_and_then", "several", "lazily", "awaited_several")
ways = pytest.mark.parametrize("way", WAYS)


def mapped(calls: Calls, way: str) -> Mapped:
    return Mapped(getattr(calls, way), flat=way in WAYS[3:])


def good(way: str, *bad: int) -> list[tuple[int, int]]:
    return [(0, each) for each in VALUES if each not in bad for _ in range(each % 3 if way in WAYS[3:] else 1)]


@engines
@ways
def test_one_bad_value_is_one_dead_letter(engine: str, way: str) -> None:
    calls = Calls(lambda value, attempt: value in BAD)
    results = run(
        Dataflow(line("p"), {"p": mapped(calls, way)}, on_error=DeadLetter()), engine, sources={"in": values()}
    )
    assert results["out"] == good(way, *BAD)
    dead = results["dead-letters"]
    assert [(time, failure.value, str(failure.error)) for time, failure in dead] == [(0, v, f"bad {v}") for v in BAD]
    assert [failure.message for _, failure in dead] == [
        f"'p' failed on a message from 'in' at 0: ValueError: bad {value}" for value in BAD
    ]
    assert set(calls.counts.values()) == {1}


@engines
@ways
def test_a_retry_calls_again_only_what_failed(engine: str, way: str) -> None:
    calls = Calls(lambda value, attempt: value in BAD and attempt <= 2)
    pauses: list[float] = []
    dataflow = Dataflow(line("p"), {"p": mapped(calls, way)}, on_error=Retry(times=2))
    results = run(dataflow, engine, sources={"in": values()}, pause=pauses.append)
    assert results["out"] == good(way)
    assert calls.counts == {value: 3 if value in BAD else 1 for value in VALUES}
    assert pauses == [0.1, 0.2] * len(BAD)


@engines
@ways
def test_when_all_attempts_have_failed_the_value_alone_is_put_aside(engine: str, way: str) -> None:
    calls = Calls(lambda value, attempt: value in BAD)
    dataflow = Dataflow(line("p"), {"p": mapped(calls, way)}, on_error=Retry(times=1, then=DeadLetter("dead")))
    results = run(dataflow, engine, sources={"in": values()}, pause=lambda seconds: None)
    assert (results["out"], [failure.value for _, failure in results["dead"]]) == (good(way, *BAD), [*BAD])
    assert calls.counts == {value: 2 if value in BAD else 1 for value in VALUES}


@engines
@ways
def test_what_came_before_the_failure_stands_and_nothing_comes_after_it(engine: str, way: str) -> None:
    calls = Calls(lambda value, attempt: value == 11)
    kept: list[Any] = []
    with pytest.raises(NodeFailed, match="'p' failed on a message from 'in' at 0: ValueError: bad 11") as caught:
        run(Dataflow(line("p"), {"p": mapped(calls, way)}), engine, sources={"in": values()}, sinks={"out": kept})
    assert caught.value.value == 11
    assert "in tried\n" in caught.value.trace
    assert "progress/runtime" not in caught.value.trace
    assert kept == [pair for pair in good(way) if pair[1] < 11]


@engines
def test_a_function_that_yields_is_refused_for_each_value(engine: str) -> None:
    def yields(value: int) -> Iterator[int]:
        yield value

    results = run(
        Dataflow(line("p"), {"p": lambda value: yields(value) if value == 1 else value}, on_error=DeadLetter()),
        engine,
        sources={"in": [(0, value) for value in range(3)]},
    )
    assert results["out"] == [(0, 0), (0, 2)]
    ((_, failure),) = results["dead-letters"]
    assert (failure.code, failure.value) == ("PS708", 1)


@engines
def test_a_subclass_that_takes_messages_itself_does(engine: str) -> None:
    class Sum(Mapped):
        def on_messages(self, edge: str, time: Any, values: Any, out: Out) -> None:
            for value in values:
                out.send("out", time, self.function(value))

    class Each(Mapped):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.send("out", time, self.function(value))

    for node in (Sum, Each):
        found = run(Dataflow(line("p"), {"p": node(lambda value: -value)}), engine, sources={"in": [(0, 1), (0, 2)]})
        assert found == {"out": [(0, -1), (0, -2)]}


@engines
def test_summaries_that_raise_fail_each_value(engine: str) -> None:
    class Broken(Mapped):
        def ways(self, out: Out) -> Any:
            raise ZeroDivisionError

    results = run(
        Dataflow(line("p"), {"p": Broken(abs)}, on_error=DeadLetter()), engine, sources={"in": [(0, 1), (0, 2)]}
    )
    assert [failure.value for _, failure in results["dead-letters"]] == [1, 2]


# --- exceptions that Python takes for something else -----------------------------------------------------------------

SPECIAL: list[type[BaseException]] = [StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError]
special = pytest.mark.parametrize("kind", SPECIAL)


class OnMessage(Node):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        out.send("out", time, self.function(value))


class OnMessages(OnMessage):
    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        for value in values:
            self.on_message(edge, time, value, out)


class OnNotify(OnMessage):
    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        out.send("out", time, self.function(time))


class Awaiting(OnMessage):
    async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        out.send("out", time, self.function(value))


class OnStart(OnMessage):
    def on_start(self, out: Out) -> None:
        self.function(1)


class AwaitingStart(OnMessage):
    async def on_start(self, out: Out) -> None:
        await asyncio.sleep(0)
        self.function(1)


NODES: dict[str, Callable[[Any], Any]] = {
    "function": lambda function: function,
    "flat function": lambda function: Mapped(lambda value: [function(value)], flat=True),
    "lazy function": lambda function: Mapped(lambda value: Lazy(function, value), flat=True),
    "on_message": OnMessage,
    "on_messages": OnMessages,
    "on_notify": OnNotify,
    "awaiting": Awaiting,
}


class Lazy:
    """Raises when it is begun to be looked at."""

    def __init__(self, function: Callable[[Any], Any], value: Any) -> None:
        self.function, self.value = function, value

    def __iter__(self) -> Iterator[Any]:
        return iter([self.function(self.value)])


@engines
@special
@pytest.mark.parametrize("node", NODES)
def test_a_special_exception_of_a_node_is_a_failure_like_any_other(
    engine: str, kind: type[BaseException], node: str
) -> None:
    """`lambda ns: next(n for n in ns if n % 2 == 0)` raises StopIteration, and no other value may be lost by it."""

    def function(value: Any) -> Any:
        if value == 2:
            raise kind
        return value

    nodes = {"p": NODES[node](function)}
    items: list[Any] = [*((time, time) for time in range(5)), Complete([5])]
    dead = run(Dataflow(line("p"), nodes, on_error=DeadLetter()), engine, sources={"in": items})
    assert sorted(value for _, value in dead["out"]) == [0, 1, 3, 4]
    ((time, failure),) = dead["dead-letters"]
    assert (time, failure.node) == (2, "p")
    if node != "awaiting" or not issubclass(kind, StopIteration | StopAsyncIteration):  # Python makes it a RuntimeError
        assert type(failure.error) is kind
    with pytest.raises(NodeFailed) as caught:
        run(Dataflow(line("p"), nodes), engine, sources={"in": items})
    assert caught.value.time == 2
    retried = run(
        Dataflow(line("p"), nodes, on_error=Retry(times=1, then=DeadLetter())),
        engine,
        sources={"in": items},
        pause=lambda seconds: None,
    )
    assert sorted(value for _, value in retried["out"]) == [0, 1, 3, 4]


@engines
@special
@pytest.mark.parametrize("node", [OnStart, AwaitingStart])
def test_a_special_exception_when_a_node_starts_stops_the_run(
    engine: str, kind: type[BaseException], node: type[OnMessage]
) -> None:
    def function(value: Any) -> Any:
        raise kind

    with pytest.raises(NodeFailed, match="'p' failed when it started"):
        run(Dataflow(line("p"), {"p": node(function)}), engine)


@engines
@special
def test_a_special_exception_of_give_up_or_of_a_factory_is_told(engine: str, kind: type[BaseException]) -> None:
    def raises(*given: Any) -> Any:
        raise kind

    class Keeps(OnNotify):
        def give_up(self, time: Any) -> Any:
            raise kind

    with pytest.raises(PointstampError) as caught:
        run(Dataflow(line("p"), {"p": Keeps(raises)}, on_error=DeadLetter()), engine, sources={"in": [(0, 0)]})
    assert kind.__name__ in str(caught.value)
    with pytest.raises(NodeFailed, match=f"when it was made: {kind.__name__}"):
        run(Dataflow(line("p"), {"p": lambda: raises()}), engine)
