"""The engine `asyncio`: nodes may be `async def` and wait side by side; one node is never called twice at once.

A node runs at once when it is its turn, until it gives something to be waited for, as `async def` does: from there on
it is a task. Async iterables are read by a task each, what is all there, or never blocks, is looked at in between, and
other iterables are read by a thread each. What leaves by `async def` sinks is awaited by one task,
in order; while much of it waits no node begins.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from progress.errors import brief
from progress.runtime.actions.core import Core
from progress.runtime.actions.performed import Performed, Waits
from progress.runtime.actions.performing import go_on
from progress.runtime.awaiting import close
from progress.runtime.control import HAS_TO_STOP, Control
from progress.runtime.durable.rests import Rests
from progress.runtime.failure import failures, not_to_leak
from progress.runtime.policies.awaiting import AsyncArrivals
from progress.runtime.policies.seconds import SystemClock
from progress.runtime.policies.waiting import Over
from progress.runtime.source import END, Brought, Feed

LOOK = 1_000
OFTEN = 0.02  # seconds between looks at whether the run has to stop
SOON = 0.001  # seconds between looks at a source that is silent and cannot be waited for
TURNS = 100  # nodes that are run before others on the loop have their turn
MOST = 1_000  # what waits for sinks while nodes still begin


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
        self._has_failed = False  # whether something went wrong, and the run has not only to stop
        self._crowded: dict[Feed, asyncio.Event] = {}  # those whose readers wait for room
        self._leaving: deque[Any] = deque()  # what sinks are to be awaited with
        self._leaver: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run to the end; raises what stopped the run, after all tasks have ended."""
        self._main = asyncio.current_task()
        self._cancelled_before = self._main.cancelling() if self._main else 0
        readers = [asyncio.create_task(self._read(feed)) for feed in self._feeds]
        watch = asyncio.create_task(self._watched()) if self._control.may_stop else None
        try:
            while self._failure is None:
                self._wake.clear()
                if self._rests is not None and not self._is_keeping() and self._may_rest():
                    self._rests.rest()
                    self._core.was_kept()
                await self._take_turns()
                if self._failure is not None:
                    break
                self._make_room()
                is_idle = not self._tasks and not self._leaver and not self._core.runnable
                if is_idle and all(reader.done() for reader in readers):
                    break
                await self._waited()
        except BaseException as error:
            self._stop(error)
        if watch is not None:
            watch.cancel()
        tasks = [*readers, *self._tasks, *([self._leaver] if self._leaver else [])]
        for task in tasks:
            if self._failure is not None:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while self._leaving:
            close(self._leaving.popleft())
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
            self._fail(error, "a sink")
            while self._leaving:
                close(self._leaving.popleft())
        self._leaver = None
        self._wake.set()

    async def _waited(self) -> None:
        """Wait until something has happened, or a rest is due."""
        pause = None if self._rests is None else self._rests.pause()
        if self._is_due():
            if self._may_rest():
                return
            pause = OFTEN
        if pause is None:
            await self._wake.wait()
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)

    def _is_keeping(self) -> bool:
        """Go on with a checkpoint; whether there was one that was not finished."""
        return self._rests is not None and self._rests.go_on(is_busy=bool(self._core.runnable))

    def _is_due(self) -> bool:
        return self._rests is not None and self._rests.is_due(is_busy=bool(self._core.runnable))

    def _may_rest(self) -> bool:
        """Whether a checkpoint is due, and may be taken now: sinks have written all that they were given."""
        if self._leaver or not self._is_due():
            return False
        if self._core.may_be_kept():
            return True
        self._core.is_awaited = True
        return False

    async def _watched(self) -> None:
        """Stop the run when it has to stop."""
        while self._failure is None:
            try:
                self._control.check()
            except BaseException as error:
                self._stop(error)
                self._wake.set()
            await asyncio.sleep(OFTEN)

    async def _take_turns(self) -> None:
        core = self._core
        turns = 0
        while self._failure is None and len(self._leaving) < MOST:
            if self._is_due() and (self._leaver or self._may_rest()):
                break
            self._is_keeping()
            self._control.check()
            node = core.next_node()
            if node is None:
                break
            action = core.take(node)
            if self._crowded:
                self._make_room()
            performed, calls = core.begin(action)
            waits = next(calls, None)
            if waits is None:
                self._commit(performed)
            else:
                task = asyncio.create_task(self._go_on(performed, calls, waits))
                self._tasks.add(task)
                task.add_done_callback(partial(self._done, waits))
            turns += 1
            if turns % TURNS == 0:
                await asyncio.sleep(0)

    async def _go_on(self, performed: Performed, calls: Iterator[Waits], waits: Waits) -> Performed:
        """Go on with a call that waits. What ends the program ends the run first, and not the event loop under it."""
        try:
            return await go_on(performed, calls, waits, self._pause, self._is_stopping)
        except (KeyboardInterrupt, SystemExit) as error:
            self._stop(error)
            raise asyncio.CancelledError from None

    async def _pause(self, seconds: float) -> None:
        pause = self._core.pause
        if pause is None:
            await asyncio.sleep(seconds)
        else:
            pause(seconds)

    def _is_stopping(self) -> bool:
        """Whether the run stops before its end, so that what is cancelled is cancelled by it."""
        return self._failure is not None or (
            self._main is not None and self._main.cancelling() > self._cancelled_before
        )

    def _fail(self, error: BaseException, what: str) -> None:
        """What stops the run. One that only says that a task was cancelled must not look as if the run had been."""
        if not self._is_stopping():
            error = not_to_leak(what, error)
        elif isinstance(error, asyncio.CancelledError):  # since the run stops
            return
        self._stop(error)

    def _stop(self, error: BaseException) -> None:
        """What stops the run: the first one is reported. Where one is a failure, nothing is entered any more."""
        self._failure = self._failure or error
        self._has_failed |= not isinstance(error, HAS_TO_STOP)

    def _done(self, waits: Waits, task: asyncio.Task[Performed]) -> None:
        self._tasks.discard(task)
        self._wake.set()
        if task.cancelled():
            close(waits)  # the task may not have begun
            if self._failure is None:
                self._stop(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._stop(error)
        elif not self._has_failed:  # what failed will be done again before it
            self._commit(task.result())

    def _commit(self, performed: Performed) -> None:
        try:
            self._core.commit(performed)
        except BaseException as error:
            self._stop(error)
        self._wake.set()

    async def _read(self, feed: Feed) -> None:
        arrived: list[Any] = []
        try:
            if isinstance(feed.items, AsyncIterator):
                async for item in feed.arriving():
                    arrived.append(item)
                    await self._bring(feed, arrived)
                await self._bring(feed, [END])
            elif not feed.is_prompt:
                await self._read_beside(feed)
            while not feed.is_over:
                await self._room(feed)
                self._check_failed()
                what = feed.look(LOOK, LOOK if feed.is_at_hand and not self._core.is_listened_to else 1)
                self._brought(feed, what)
                self._wake.set()
                await (self._heard(feed) if what.is_silent else asyncio.sleep(0))
        except BaseException as error:
            self._fail(error, f"the source of {brief(feed.edge)}")
        finally:
            self._wake.set()

    async def _read_beside(self, feed: Feed) -> None:
        """Let a thread read a source that may block: the loop does not wait for it."""
        async with AsyncArrivals(feed.items, SystemClock(), name=f"source of {feed.edge}") as arrivals:
            try:
                await self._bring_all(feed, arrivals)
            except BaseException as error:  # known before the thread is waited for: no checkpoint is taken meanwhile
                self._fail(error, f"the source of {brief(feed.edge)}")
                raise
        await self._bring(feed, [END])

    async def _bring_all(self, feed: Feed, arrivals: AsyncArrivals) -> None:
        while True:
            try:
                arrived = await arrivals.take(None)
            except Over:
                return
            except failures() as error:
                if self._is_stopping():
                    raise
                raise feed.failed(error) from None
            if arrived:
                await self._bring(feed, arrived)

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
        while arrived or feed.has_kept:
            await self._room(feed)
            self._check_failed()
            self._brought(feed, feed.digest_arrived(arrived))
            arrived.clear()
            self._wake.set()

    def _check_failed(self) -> None:
        """End whoever would bring something where it is not to be entered any more."""
        if self._has_failed:
            raise asyncio.CancelledError

    async def _room(self, feed: Feed) -> None:
        """Wait until there is room for what a source brings: `_take_turns` says so."""
        while not self._has_room(feed):
            room = self._crowded[feed] = asyncio.Event()
            await room.wait()

    def _has_room(self, feed: Feed) -> bool:
        return self._core.has_room(feed.edge) and feed.may_be_read(self._core)

    def _make_room(self) -> None:
        """Wake the readers that wait for room where there is some now."""
        for feed in [feed for feed in self._crowded if self._has_room(feed)]:
            self._crowded.pop(feed).set()
