"""The engine `threads`: workers that run nodes side by side, and a reader for each source; `spark` as well.

A node is run by one worker at a time, or by as many as its `at_once` says. One lock guards the core; it is not held
while node code or a source runs. Nodes take turns, each with at most `most_at_once` messages, so none waits for ever.
A node without code passes several times on in one turn, with the lock held, since it never waits: who reads what it
sends is called once for all of it, and not woken for each.
Python code of several nodes still shares one processor; what waits, or computes outside of Python, runs side by side.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from progress.runtime.actions.core import AT_A_TIME, Core
from progress.runtime.control import HAS_TO_STOP, Control
from progress.runtime.durable.rests import Rests
from progress.runtime.engines.host import HERE, Host
from progress.runtime.policies.waiting import PATIENCE
from progress.runtime.source import END, Brought, Feed, Messages

LOOK = 1_000  # items that wait to be passed on, and that are passed on at once
FEW = 10  # the same where each item has many messages
MANY = 4_000  # messages of such items that are passed on at once
TURNS = 1_000  # actions after which what has arrived is passed on, though nodes have more to do: a loop may wait for it
OFTEN, SELDOM = 0.02, 0.5  # seconds between looks at whether the run has to stop
LOOKS, SHORT = 0.1, 0.0002  # seconds between looks at whether a checkpoint is due, while nothing has happened; at least


class Threads:
    """The workers and readers of one run.

    A reader puts what its source gives into a queue of its own, where it stays until a worker has nothing else to do:
    so what comes slowly is passed on at once, and what comes quickly together. It waits while that queue is full. What
    is all there (`Feed.is_at_hand`) has no reader: a worker takes from it what it passes on.
    """

    def __init__(
        self,
        core: Core,
        feeds: Sequence[Feed],
        brought: Callable[[Feed, Brought], None],
        workers: int,
        control: Control,
        rests: Rests | None = None,
        host: Host = HERE,
    ) -> None:
        self._host = host
        self._perform = host.performer(core)
        self._rests = rests
        self._control = control
        self._core = core
        self._brought = brought
        self._feeds = list(feeds)
        self._arrived: list[deque[Any]] = [deque() for _ in feeds]
        self._is_bounded = any(feed.ahead is not None for feed in feeds)
        self._workers = workers
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)  # something may be run, or all is over
        self._room = threading.Condition(self._lock)  # sources may bring more
        self._settled = threading.Condition(self._lock)  # a call is over for which a checkpoint waits
        self._busy = 0
        self._turns = 0
        self._idle = 0
        self._is_over = False
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._has_failed = False  # whether something went wrong, and the run has not only to stop
        if core.pause is None:
            core.pause = self._stopped.wait

    def run(self) -> None:
        """Run to the end; raises what stopped the run, after all workers have stopped.

        Whoever interrupts that once more waits for nobody: what a worker is doing then is not entered.
        """
        try:
            self._run()
        except BaseException:
            self._is_over = self._has_failed = True  # at once: who interrupts may do so again
            with self._lock:
                self._end()
            raise

    def _run(self) -> None:
        host = self._host
        readers = [
            host.thread(partial(self._read, feed, arrived), f"source of {feed.edge}", is_daemon=True)
            for feed, arrived in zip(self._feeds, self._arrived, strict=True)
            if not feed.is_at_hand
        ]
        workers = [host.thread(self._worked, f"worker {number}") for number in range(self._workers)]
        if self._rests is not None:
            workers.append(host.thread(self._watched, "checkpoints"))
        try:
            for thread in (*readers, *workers):
                thread.start()
            for worker in workers:
                while worker.is_alive():
                    worker.join(OFTEN if self._control.may_stop else SELDOM)
                    self._control.check()
                    self._host.check()
        except BaseException as error:  # an interrupt, for instance
            self._failure = self._failure or error
            self._has_failed |= not isinstance(error, HAS_TO_STOP)
            self._host.stop()  # before the lock is there: who takes a checkpoint holds it, and has jobs too
            self.stop(error)
        for worker in workers:
            worker.join()
        if self._failure is not None:
            for feed in self._feeds:
                if hasattr(feed.items, "stop"):  # it may be waiting
                    feed.items.stop()
        for reader in readers:
            reader.join(PATIENCE if self._failure else None)
        if self._failure is not None:
            raise self._failure

    def stop(self, failure: BaseException) -> None:
        """Let what runs come to its end, and nothing new begin; the first failure is the one that is reported."""
        with self._lock:
            self._fail(failure)

    def _fail(self, failure: BaseException) -> None:
        self._failure = self._failure or failure
        self._has_failed |= not isinstance(failure, HAS_TO_STOP)
        self._end()
        self._host.stop()

    def _end(self) -> None:
        self._is_over = True
        self._stopped.set()
        self._work.notify_all()
        self._room.notify_all()
        self._settled.notify_all()

    def _watched(self) -> None:
        """Take checkpoints when they are due, while all workers may be busy."""
        assert self._rests is not None
        with self._lock:
            while not self._is_over:
                try:
                    if not self._rest():
                        pause = self._rests.pause()
                        self._settled.wait(LOOKS if pause is None or self._core.is_awaited else max(pause, SHORT))
                except BaseException as error:
                    self._fail(error)

    def _worked(self) -> None:
        core = self._core
        with self._lock:
            while not self._is_over:
                try:
                    self._rest()
                    self._turns += 1
                    if self._turns % TURNS == 0:
                        self._bring()
                    node = core.next_node()
                    if node is None:
                        if not self._bring() and not self._wait():
                            return
                        continue
                    if core.inboxes[node].is_relay and self._host.is_alone:
                        core.turn(node, 1 if core.is_listened_to else AT_A_TIME)
                    else:
                        self._act(node)
                    if self._is_bounded and self._idle:  # a time may be complete, and another one come in
                        self._work.notify()
                    if core.is_awaited:
                        self._settled.notify()
                except BaseException as error:
                    self._fail(error)

    def _act(self, node: int) -> None:
        """Let a node do the next thing, without the lock, and enter that. A worker that waits holds nothing of it.

        Where something has failed meanwhile it is not entered: what failed will be done again before it.
        """
        core = self._core
        action = core.take(node)
        if self._idle and core.runnable:
            self._work.notify()
        self._busy += 1
        self._lock.release()
        try:
            performed = self._perform(action)
        finally:
            self._lock.acquire()
            self._busy -= 1
        if not self._has_failed:
            core.commit(performed)

    def _rest(self) -> bool:
        """Take a checkpoint if one is due and may be taken now; or go on with the last one."""
        rests, core = self._rests, self._core
        if rests is None:
            return False
        is_busy = self._is_busy()
        if rests.go_on(is_busy=is_busy) or not rests.is_due(is_busy=is_busy):
            return False
        if not core.may_be_kept():
            core.is_awaited = True
            return False
        rests.rest()
        core.was_kept()
        self._work.notify(len(core.runnable))  # those that waited for it
        return True

    def _is_busy(self) -> bool:
        """Whether a node is called, or there is something to do at once."""
        return bool(self._busy or self._core.runnable or any(self._arrived))

    def _bring(self) -> bool:
        """Pass on what has arrived, where there is room; whether there was anything."""
        found = False
        for feed, arrived in zip(self._feeds, self._arrived, strict=True):
            if self._may_bring(feed, arrived):
                most = self._core.most_at_once
                if feed.is_at_hand:
                    what = feed.look(most, most)
                else:
                    what = feed.digest_arrived(() if feed.has_kept else self._some(arrived))
                self._brought(feed, what)
                found = True
        if found:
            self._room.notify_all()
        return found

    def _some(self, arrived: deque[Any]) -> list[Any]:
        """The first of what has arrived: so many items, or fewer with so many messages."""
        found: list[Any] = []
        messages = 0
        while arrived and len(found) < LOOK and messages < MANY:
            item = arrived.popleft()
            found.append(item)
            if type(item) is Messages:
                messages += len(item.values) if hasattr(item.values, "__len__") else MANY  # `digest` refuses those
        return found

    def _wait(self) -> bool:
        """Wait for work; false where there will be none any more."""
        if not self._busy and all(feed.is_over for feed in self._feeds):
            self._end()
            return False
        self._idle += 1  # before looking once more: who appends looks at it afterwards
        if not any(map(self._may_bring, self._feeds, self._arrived)):
            self._work.wait()
        self._idle -= 1
        return True

    def _may_bring(self, feed: Feed, arrived: deque[Any]) -> bool:
        if not (arrived or feed.has_kept or (feed.is_at_hand and not feed.is_over)):
            return False
        return self._core.has_room(feed.edge) and feed.may_be_read(self._core)

    def _read(self, feed: Feed, arrived: deque[Any]) -> None:
        items = feed.items
        assert isinstance(items, Iterator)
        try:
            with self._host.reading(feed.edge):
                self._read_all(items, arrived)
        except BaseException as error:
            self.stop(feed.failed(error))

    def _read_all(self, items: Iterator[Any], arrived: deque[Any]) -> None:
        for item in items:
            arrived.append(item)
            most = FEW if type(item) is Messages else LOOK
            if len(arrived) >= most or (self._idle and len(arrived) == 1):  # else they have been told already
                with self._lock:
                    self._work.notify()
                    while len(arrived) >= most and not self._is_over:
                        self._room.wait()
            if self._is_over:
                return
        arrived.append(END)
        with self._lock:
            self._work.notify()
