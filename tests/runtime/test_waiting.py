"""What waits does not look all the time: looks at sources and for room are counted, while nothing comes for a while."""

from __future__ import annotations

import asyncio
import os
import select
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from progress import PointstampError
from progress.order import Domain
from progress.runtime import SILENT, Dataflow, Node, Out
from progress.runtime.actions.core import Core
from progress.runtime.observer import Observer
from progress.runtime.policies import by_count, explicit, with_idleness
from tests.runtime.tools import line, run

SILENCE = 0.5  # seconds for which nothing comes
AFTER = 0.2
LOOKS = 60  # more than ten looks a second and a few, far fewer than without waiting


class Pipe:
    """A source from elsewhere: digits that a pipe brings, each a message of that time; counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def items_for(self, engine: str, edge: str, domain: Domain) -> Iterator[Any]:
        """One digit comes at once, another one after the silence."""
        self._read, write = os.pipe()
        self._waits = engine == "threads"
        self.handle = None if self._waits else self._read
        self._writer = threading.Thread(target=self._write, args=(write,))
        self._writer.start()
        return self

    def _write(self, write: int) -> None:
        os.write(write, b"0")
        time.sleep(SILENCE)
        os.write(write, b"5")
        os.close(write)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self.asked += 1
        if not select.select([self._read], [], [], None if self._waits else 0)[0]:
            return SILENT
        found = os.read(self._read, 1)
        if not found:
            self._writer.join()
            os.close(self._read)
            raise StopIteration
        return int(found), int(found)


class Told(Node):
    """When it was told of what."""

    def __init__(self) -> None:
        self.told: dict[int, float] = {}

    def on_message(self, edge: str, time: int, value: Any, out: Out) -> None:
        out.request(time)

    def on_notify(self, at: int, out: Out) -> None:
        self.told[at] = time.monotonic()


@pytest.mark.parametrize("engine", ["sim", "seeded", "threads", "asyncio"])
def test_a_source_from_elsewhere_is_silent_by_the_clock_of_the_machine(engine: str) -> None:
    pipe, node = Pipe(), Told()
    begun = time.monotonic()
    run(Dataflow(line("p"), {"p": lambda: node}), engine, sources={"in": with_idleness(pipe, AFTER)})
    ended = time.monotonic()
    assert begun + AFTER <= node.told[0] < ended
    assert set(node.told) == {0, 5}
    assert pipe.asked < LOOKS


@pytest.mark.parametrize("policy", [by_count, explicit, lambda pipe: explicit(with_idleness(by_count(pipe), 9))])
@pytest.mark.parametrize("engine", ["sim", "seeded", "threads", "asyncio"])
def test_a_source_in_a_policy_is_waited_for_as_without(engine: str, policy: Callable[[Any], Any]) -> None:
    pipe, node = Pipe(), Told()
    run(Dataflow(line("p"), {"p": lambda: node}), engine, sources={"in": policy(pipe)})
    assert len(node.told) == 2
    assert pipe.asked < LOOKS


def test_a_run_that_stops_does_not_wait_for_a_silent_pipe() -> None:
    """Its thread looks whether anybody still wants something."""
    read, write = os.pipe()

    class Silent:
        handle = read

        def __iter__(self) -> Iterator[Any]:
            return self

        def __next__(self) -> Any:
            return SILENT

    before = set(threading.enumerate())
    data = Dataflow(line("p"), sources={"in": with_idleness(Silent(), AFTER)})
    with pytest.raises(PointstampError, match="PS713"):
        data.run(engine="asyncio", timeout=AFTER)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()
    os.close(read)
    os.close(write)


class Rooms(Observer):
    """How often it was asked for room."""

    def __init__(self) -> None:
        self.asked = 0

    def started(self, core: Core) -> None:
        has_room = core.has_room

        def counted(edge: str) -> bool:
            self.asked += 1
            return has_room(edge)

        core.has_room = counted  # type: ignore[method-assign]


def test_an_async_source_waits_for_room_without_asking_all_the_time() -> None:
    class Slow(Node):
        async def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
            await asyncio.sleep(0.02)
            out.send("out", time, value)

    async def quick() -> AsyncIterator[Any]:
        for number in range(20):
            yield number, number

    rooms = Rooms()
    results = run(
        Dataflow(line("p"), {"p": Slow()}), "asyncio", sources={"in": lambda: quick()}, limit=2, observer=rooms
    )
    assert results["out"] == [(number, number) for number in range(20)]
    assert rooms.asked < 20 * 5
