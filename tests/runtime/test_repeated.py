"""What may be otherwise in each run is written down, and is the same when a run is done again after a kill."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from progress.errors import PointstampError
from progress.runtime import SILENT, Complete, Dataflow, Mapped, Node, NodeFailed, Retry
from progress.runtime.control import Cancelled
from progress.runtime.engines import simulation
from progress.runtime.policies import with_idleness
from tests.runtime.tools import killed

ENGINES = ("sim", "threads", "asyncio")
GRAPH = from_edges([(None, "chain"), ("chain", None)])
COUNT = 40


class Lots(Node):
    """What it sends is the time of day, a random number, and all that it has sent before, in short."""

    def __init__(self) -> None:
        self.link = 1

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        lot = [value, out.now(), out.random().random(), out.random().randrange(1_000)]
        self.link = hash((self.link, *lot)) % 1_000_003
        out.send("chain->out", time, [*lot, self.link])
        out.request(time)

    def on_notify(self, time: Any, out: Any) -> None:
        out.send("chain->out", time, ["over", out.now(), self.link])


def slow(die: Callable[[int], None]) -> Iterator[Any]:
    for number in range(COUNT):
        die(number)
        sleep(0.001)
        yield number // 10, number


def silent(die: Callable[[int], None]) -> Iterator[Any]:
    for number in range(COUNT):
        die(number)
        if number % 10 == 9:
            for _ in range(10):
                sleep(0.002)
                yield SILENT
        yield number // 10, number


async def awaited(die: Callable[[int], None]) -> AsyncIterator[Any]:
    for number in range(COUNT):
        die(number)
        await asyncio.sleep(0.001)
        yield number // 10, number


def lives(
    folder: Path, engine: str, source: Callable[[Callable[[int], None]], Any], delivery: str | None = None
) -> list[Any]:
    """What has left, of a run that was killed some times; nothing of it was ever taken back."""
    rng = random.Random(3)
    before = ""
    for stop in (7, 7, 19, 31, 31, COUNT):

        def die(number: int, stop: int = stop) -> None:
            if number == stop:
                sleep(rng.random() / 50)  # so that there is a checkpoint, or none
                os.kill(os.getpid(), signal.SIGKILL)

        def live(die: Callable[[int], None] = die) -> None:
            Dataflow(GRAPH, {"chain": Lots}).run(
                engine=engine,
                sources={"in->chain": source(die)},
                sinks={"chain->out": JsonLines(folder / "out"), "late": JsonLines(folder / "late")},
                state=folder / "state",
                every=0.01,
                delivery=delivery,
            )

        assert killed(live) == (stop < COUNT)
        text = (folder / "out").read_text()
        assert text.startswith(before), "something was taken back"
        before = text
    late = (folder / "late").read_text()
    return [json.loads(line)["value"] for line in (before + late).splitlines() if "value" in line]


def check(values: list[Any]) -> None:
    """Every number is there once, and no time of day was asked for twice."""
    numbers = [value[0] for value in values if not isinstance(value, list) or value[0] != "over"]
    assert sorted(numbers) == list(range(COUNT))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_time_of_day_and_random_numbers_are_the_same_again(tmp_path: Path, engine: str) -> None:
    values = lives(tmp_path, engine, slow)
    check(values)
    lots = [value[2] for value in values if value[0] != "over"]
    assert len({*lots}) == COUNT


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_source_that_goes_by_the_clock_has_brought_is_brought_again(tmp_path: Path, engine: str) -> None:
    """What has come in silence is late in some lives and not in others; what has left once stays so."""
    values = lives(tmp_path, engine, lambda die: with_idleness(silent(die), after=0.005), "deterministic")
    numbers = [value[0] if isinstance(value, list) else value for value in values]
    assert sorted(number for number in numbers if number != "over") == list(range(COUNT))


def test_what_is_waited_for_in_an_event_loop_is_brought_again(tmp_path: Path) -> None:
    check(lives(tmp_path, "asyncio", awaited, "deterministic"))


def test_sim_draws_the_same_numbers_in_every_run_of_a_seed() -> None:
    def drawn(seed: int | None) -> list[Any]:
        source = [(number // 10, number) for number in range(COUNT)]
        found = Dataflow(GRAPH, {"chain": Lots}).run(seed=seed, sources={"in->chain": source})["chain->out"]
        return sorted(value[2] for _, value in found if value[0] != "over")

    assert drawn(3) == drawn(3)
    assert drawn(None) == drawn(None)
    assert drawn(3) != drawn(4)


def test_random_numbers_go_on_where_they_were(tmp_path: Path) -> None:
    """A run of `sim` that goes on draws what the run without a kill draws."""

    def source(stop: int) -> Iterator[Any]:
        for number in range(COUNT):
            if number == stop:
                os.kill(os.getpid(), signal.SIGKILL)
            sleep(0.001)
            yield number, number

    def live(folder: Path, stop: int) -> Callable[[], None]:
        return lambda: Dataflow(GRAPH, {"chain": Lots}).run(  # type: ignore[return-value]
            sources={"in->chain": source(stop)},
            sinks={"chain->out": JsonLines(folder / "out")},
            state=folder / "state",
            every=0,
            delivery="at-least-once",
        )

    def drawn(folder: Path) -> dict[int, float]:
        lines = [json.loads(line) for line in (folder / "out").read_text().splitlines()]
        return {each["value"][0]: each["value"][2] for each in lines if each.get("value", ["over"])[0] != "over"}

    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    assert not killed(live(one, -1))
    assert killed(live(other, 20))
    assert not killed(live(other, -1))
    assert drawn(one) == drawn(other)


class Stops(Node):
    """Stops the run at a call."""

    def __init__(self, at: int, stop: threading.Event) -> None:
        self.at, self.stop = at, stop

    def snapshot(self) -> None: ...

    def restore(self, state: Any) -> None: ...

    def on_messages(self, edge: str, time: Any, values: Any, out: Any) -> None:
        self.at -= 1
        if self.at == 0:
            self.stop.set()
        out.send("chain->out", time, [*values])


@pytest.mark.parametrize("seed", range(12))
def test_what_waits_behind_others_does_so_when_the_run_goes_on(tmp_path: Path, seed: int) -> None:
    """What came at a time behind an earlier one does not join what waits at its time, though that one was taken."""
    items = [(1, "a"), (1, "b"), (1, "c"), (0, "d"), (1, "e"), (1, "f"), (0, "g"), (1, "h")]

    def lived(at: int, state: Path | None) -> list[Any]:
        found: list[Any] = []
        stop = threading.Event()
        flow = Dataflow(GRAPH, {"chain": lambda: Stops(at, stop)})
        with suppress(Cancelled):
            flow.run(seed=seed, sources={"in->chain": items}, sinks={"chain->out": found}, state=state, cancel=stop)
        return found

    right = lived(0, None)
    for at in range(1, len(right)):
        assert lived(at, tmp_path / str(at)) + lived(0, tmp_path / str(at)) == right


class Told:
    """What leaves, of whom frontiers want to be told: so nodes do one thing at a time."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, time: Any, value: Any) -> None:
        self.values.append((time, value))

    def complete(self, times: Any) -> None: ...


@pytest.mark.parametrize(("limit", "turns"), [(2, 10_000), (10_000, 3)])
def test_what_comes_next_in_sim_is_the_same_when_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, turns: int
) -> None:
    """Who waited for room does so, and sources are looked at when they would have been."""
    monkeypatch.setattr(simulation, "TURNS", turns)
    names = [*"abcdef"]
    graph = from_edges([*((None, name) for name in names), *((name, "chain") for name in names), ("chain", None)])
    sources = {
        f"in->{name}": [
            item
            for time in range(4)
            for item in (*((time + more, f"{name}{time}{more}") for more in range(1 + place % 3)), Complete([time + 1]))
        ]
        for place, name in enumerate(names)
    }

    def fan(value: str) -> list[str]:
        return [value] * (1 + ord(value[0]) % 3)

    def lived(at: int, state: Path | None) -> list[Any]:
        told, stop = Told(), threading.Event()
        nodes: dict[str, Any] = {**dict.fromkeys(names, Mapped(fan, flat=True)), "chain": lambda: Stops(at, stop)}
        with suppress(Cancelled):
            Dataflow(graph, nodes, sources=sources).run(
                sinks={"chain->out": told}, state=state, cancel=stop, limit=limit
            )
        return told.values

    right = lived(0, None)
    for at in range(1, 60, 4):
        assert lived(at, tmp_path / str(at)) + lived(0, tmp_path / str(at)) == right, at


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_who_waited_for_room_does_not_twice_when_the_run_goes_on(tmp_path: Path, engine: str) -> None:
    """A checkpoint has who was held; what was done since is done again, and some of them have nothing to do then."""
    names = [*"abcdef"]
    graph = from_edges([*((None, name) for name in names), *((name, "chain") for name in names), ("chain", None)])
    sources = {f"in->{name}": [(time, f"{name}{time}") for time in range(30)] for name in names}

    left = [0]

    async def passes(value: str) -> str:
        await asyncio.sleep(0.001)
        left[0] -= 1
        if left[0] == 0:
            raise OSError("away")
        return value

    told = Told()
    for left[0] in (*range(3, 43), 0):
        with suppress(NodeFailed):
            flow = Dataflow(graph, {**dict.fromkeys(names, Mapped(str)), "chain": passes}, sources=sources)
            flow.run(engine=engine, sinks={"chain->out": told}, state=tmp_path, every=0, limit=2)
    assert {value for _, value in told.values} == {f"{name}{time}" for name in names for time in range(30)}


def test_what_is_written_down_has_to_be_plain_data(tmp_path: Path) -> None:
    source = with_idleness(iter([(0, object())]), after=1)
    with pytest.raises(PointstampError) as caught:
        Dataflow(GRAPH, {"chain": Lots}).run(sources={"in->chain": source}, state=tmp_path / "state")
    assert str(caught.value).startswith("PS735: what comes on 'in->chain' cannot be kept: ")


def told(folder: Path, engine: str, fails_at: int, **options: Any) -> list[Any]:
    """A run that fails at a number, and keeps nothing of it but what is written down; all that has left by then."""

    class Told(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            lot = [value, out.now(), out.random().random()]
            if value == fails_at:
                raise ValueError("it fails")
            out.send("chain->out", time, lot)

    flow = Dataflow(GRAPH, {"chain": Told}, sources={"in->chain": [(number, number) for number in range(9)]})
    with suppress(NodeFailed):
        flow.run(sinks={"chain->out": JsonLines(folder / "out")}, state=folder / "state", engine=engine, **options)
    lines = [json.loads(line) for line in (folder / "out").read_text().splitlines()]
    return [line["value"] for line in lines if "value" in line]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fails_at", [(3, 5, 9), (3, 3, 3, 9), (3, 6, 4, 6, 7, 9)])
def test_what_was_told_is_told_again_once_however_often_the_run_is_begun_again(
    tmp_path: Path, engine: str, fails_at: tuple[int, ...]
) -> None:
    """Between two checkpoints; then what comes for the first time is told something of its own."""
    before: list[Any] = []
    for number in fails_at:
        values = told(tmp_path, engine, number, every=1000)
        assert values[: len(before)] == before
        before = values
    assert [value for value, _, _ in before] == [*range(9)]
    assert len({chance for _, _, chance in before}) == 9
    assert len({now for _, now, _ in before}) == 9


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("passes", [False, True])
def test_what_a_call_that_failed_was_told_is_nobody_elses(tmp_path: Path, engine: str, passes: bool) -> None:
    """What made it fail may have passed when it is done again, or not; another call is told what it was told."""
    failed: set[int] = set()
    fails_at: int | None = 7

    class Told(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            lot = [value, out.now(), out.random().random()]
            if value == fails_at:
                raise ValueError("it fails")
            if value in (1, 4) and value not in failed:
                failed.add(value)
                raise OSError("it is away")
            out.send("chain->out", time, lot)

    def run() -> list[Any]:
        flow = Dataflow(GRAPH, {"chain": Told}, on_error={"chain": Retry(first_pause=0)})
        source = [(number, number) for number in range(9)]
        with suppress(NodeFailed):
            sinks = {"chain->out": JsonLines(tmp_path / "out")}
            flow.run(sources={"in->chain": source}, sinks=sinks, state=tmp_path / "state", engine=engine, every=1000)
        lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
        return [line["value"] for line in lines if "value" in line]

    before = run()
    fails_at = None
    if not passes:
        failed.clear()
    after = run()
    assert after[: len(before)] == before
    assert [value for value, _, _ in after] == [*range(9)]
    assert len({now for _, now, _ in after}) == 9
