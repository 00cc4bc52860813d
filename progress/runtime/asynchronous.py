"""The engine `asyncio`: nodes may be `async def` and wait side by side; one node is never called twice at once.

Nodes without `async def` run at once when it is their turn. Async iterables are read by a task each; other iterables
are looked at in between, and hold everything up if they block. What leaves by `async def` sinks is awaited by one task,
in order; while much of it waits no node begins.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any

from progress.errors import PointstampError
from progress.runtime.control import Control
from progress.runtime.core import Core
from progress.runtime.failure import Retry
from progress.runtime.performing import Performed
from progress.runtime.rest import Rests
from progress.runtime.source import END, Brought, Feed

LOOK = 1_000
OFTEN = 0.02  # seconds between looks at whether the run has to stop
SOON = 0.001  # seconds between looks at a source that is silent and cannot be waited for
TURNS = 100  # nodes that are run before others on the loop have their turn
MOST = 1_000  # what waits for sinks while nodes still begin
METHODS = ("on_message", "on_messages", "on_notify", "on_batch")


class Asynchronous:
    """The tasks of one run."""

    def __init__(
        self,
        core: Core,
        feeds: Sequence[Feed],
        brought: Callable[[Feed, Brought], None],
        control: Control,
        rests: Rests | None = None,
    ) -> None:
        self._rests = rests
        self._control = control
        self._core = core
        self._brought = brought
        self._feeds = list(feeds)
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[Performed]] = set()
        self._failure: BaseException | None = None
        self._crowded: dict[str, asyncio.Event] = {}  # by input edge: a reader waits for room
        self._leaving: deque[Any] = deque()  # what sinks are to be awaited with
        self._leaver: asyncio.Task[None] | None = None
        self._is_async = [
            isinstance(inbox.policy, Retry)  # it may have to wait
            or any(inspect.iscoroutinefunction(getattr(inbox.behaviour, name, None)) for name in METHODS)
            for inbox in core.inboxes
        ]

    async def run(self) -> None:
        """Run to the end; raises what stopped the run, after all tasks have ended."""
        readers = [asyncio.create_task(self._read(feed)) for feed in self._feeds]
        watch = asyncio.create_task(self._watched()) if self._control.may_stop else None
        try:
            while self._failure is None:
                self._wake.clear()
                if self._rests is not None and not self._tasks and not self._leaver and self._rests.is_due():
                    self._rests.rest()
                await self._take_turns()
                if self._failure is not None:
                    break
                is_idle = not self._tasks and not self._leaver and not self._core.runnable
                if is_idle and all(reader.done() for reader in readers):
                    break
                await self._waited()
        except BaseException as error:
            self._failure = self._failure or error
        if watch is not None:
            watch.cancel()
        tasks = [*readers, *self._tasks, *([self._leaver] if self._leaver else [])]
        for task in tasks:
            if self._failure is not None:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def leave(self, result: Any) -> None:
        """Have what an `async def` sink gave awaited, after all before it."""
        self._leaving.append(result)
        if self._leaver is None:
            self._leaver = asyncio.create_task(self._leave())

    async def _leave(self) -> None:
        try:
            while self._leaving:
                await self._leaving.popleft()
        except BaseException as error:
            self._failure = self._failure or error
            while self._leaving:
                result = self._leaving.popleft()
                if asyncio.iscoroutine(result):
                    result.close()  # it will not be awaited
        self._leaver = None
        self._wake.set()

    async def _waited(self) -> None:
        """Wait until something has happened, or a rest is due."""
        pause = None if self._rests is None else self._rests.pause()
        if pause is None:
            await self._wake.wait()
        elif self._tasks or self._leaver or not (self._rests and self._rests.is_due()):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)

    async def _watched(self) -> None:
        """Stop the run when it has to stop."""
        while self._failure is None:
            try:
                self._control.check()
            except PointstampError as error:
                self._failure = error
                self._wake.set()
            await asyncio.sleep(OFTEN)

    async def _take_turns(self) -> None:
        core, rests = self._core, self._rests
        turns = 0
        while self._failure is None and len(self._leaving) < MOST and (rests is None or not rests.is_due()):
            self._control.check()
            node = core.next_node()
            if node is None:
                break
            action = core.take(node)
            if self._crowded:
                self._make_room()
            if self._is_async[node]:
                task = asyncio.create_task(core.perform_async(action, self._pause))
                self._tasks.add(task)
                task.add_done_callback(self._done)
            else:
                self._commit(core.perform(action))
            turns += 1
            if turns % TURNS == 0:
                await asyncio.sleep(0)

    async def _pause(self, seconds: float) -> None:
        pause = self._core.pause
        if pause is None:
            await asyncio.sleep(seconds)
        else:
            pause(seconds)

    def _done(self, task: asyncio.Task[Performed]) -> None:
        self._tasks.discard(task)
        self._wake.set()
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._failure = self._failure or error
        else:
            self._commit(task.result())

    def _commit(self, performed: Performed) -> None:
        try:
            self._core.commit(performed)
        except BaseException as error:
            self._failure = self._failure or error
        self._wake.set()

    async def _read(self, feed: Feed) -> None:
        arrived: list[Any] = []
        try:
            if isinstance(feed.items, AsyncIterator):
                async for item in feed.items:
                    arrived.append(item)
                    await self._bring(feed, arrived)
                await self._bring(feed, [END])
            while not feed.is_over:
                await self._room(feed)
                what = feed.look(LOOK, LOOK if feed.is_at_hand and not self._core.is_listened_to else 1)
                self._brought(feed, what)
                self._wake.set()
                await (self._heard(feed) if what.is_silent else asyncio.sleep(0))
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._failure = self._failure or error
        finally:
            self._wake.set()

    async def _heard(self, feed: Feed) -> None:
        """Wait until a source that was silent may have something."""
        if feed.handle is None:
            await asyncio.sleep(SOON)
            return
        loop = asyncio.get_running_loop()
        heard = asyncio.Event()
        try:
            loop.add_reader(feed.handle, heard.set)
        except PermissionError:  # it is nothing that can be waited for
            await asyncio.sleep(SOON)
            return
        try:
            await heard.wait()
        finally:
            loop.remove_reader(feed.handle)

    async def _bring(self, feed: Feed, arrived: list[Any]) -> None:
        await self._room(feed)
        self._brought(feed, feed.digest(arrived))
        arrived.clear()
        self._wake.set()

    async def _room(self, feed: Feed) -> None:
        """Wait until there is room for what a source brings: `_take_turns` says so."""
        while not self._core.has_room(feed.edge):
            room = self._crowded[feed.edge] = asyncio.Event()
            await room.wait()

    def _make_room(self) -> None:
        """Wake the readers that wait for room where there is some now."""
        for edge in [edge for edge in self._crowded if self._core.has_room(edge)]:
            self._crowded.pop(edge).set()
