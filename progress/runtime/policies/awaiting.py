"""Reading a source within an event loop: an async one by a task, one that may block by a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from progress.runtime.failure import failures
from progress.runtime.policies.policy import Policy
from progress.runtime.policies.seconds import Clock
from progress.runtime.policies.waiting import MOST, PATIENCE, SOON, Arrivals, Over


class AsyncArrivals:
    """What a task reads from an async source, or a thread from another one, for the event loop that runs."""

    def __init__(
        self,
        items: Iterator[Any] | AsyncIterator[Any],
        clock: Clock,
        others: Sequence[Policy] = (),
        name: str = "source that may be silent",
    ) -> None:
        self._items = items
        self._name = name
        self._clock = clock
        self._others = others
        self._arrived: list[Any] = []
        self._is_over = False
        self._failure: BaseException | None = None

    async def __aenter__(self) -> AsyncArrivals:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._room = asyncio.Event()
        self._ends = [other.follow(self._wake) for other in self._others]
        self._ends.append(self._clock.listen(self._wake))
        items = self._items
        self._thread = (
            None if isinstance(items, AsyncIterator) else Arrivals(items, self._clock, self._wake, self._name)
        )
        self._task = asyncio.create_task(self._read(items)) if isinstance(items, AsyncIterator) else None
        return self

    async def __aexit__(self, *exception: object) -> None:
        for end in self._ends:
            end()
        if self._thread is not None:
            self._thread.stop()
            until = monotonic() + PATIENCE
            while self._thread.is_read and monotonic() < until:
                await asyncio.sleep(SOON)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def take(self, until: float | None) -> list[Any]:
        """As `Arrivals.take`."""
        found = self._found()
        if not found:
            left = None if until is None else self._clock.timeout(until - self._clock.now())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._event.wait(), left)
            self._event.clear()
            found = self._found()
        return found

    def _found(self) -> list[Any]:
        if self._thread is not None:
            return self._thread.take(-inf)
        found, self._arrived = self._arrived, []
        self._room.set()
        if not found and self._is_over:
            raise self._failure or Over
        return found

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the run is over
            self._loop.call_soon_threadsafe(self._event.set)

    async def _read(self, items: AsyncIterator[Any]) -> None:
        try:
            async for item in items:
                self._arrived.append(item)
                self._event.set()
                if len(self._arrived) >= MOST:
                    self._room.clear()
                    await self._room.wait()
        except failures() as error:
            self._failure = error  # where the run stops, nobody looks at it
        self._is_over = True
        self._event.set()
