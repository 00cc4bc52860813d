"""Reading a source that may block, without being blocked: by a thread (by a task of an event loop: `awaiting.py`).

A blocked source cannot be interrupted. Its thread is a daemon, and ends when the source gives something after the run.
"""

from __future__ import annotations

import select
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from time import sleep
from typing import Any

from progress.runtime.policies.policy import Policy
from progress.runtime.policies.seconds import Clock
from progress.runtime.source import SILENT, Messages
from progress.runtime.thread import Thread

OFTEN = 0.1  # seconds between looks at whether anybody still wants what a silent source may bring
PATIENCE = 0.5  # seconds for a source that is being read when the run stops; one that blocks cannot be interrupted
SOON = 0.001  # seconds before a silent one that cannot be waited for is asked again
MOST = 1_000  # items that wait to be taken
FEW = 10  # the same where each has many messages


class Over(Exception):
    """The source has ended, and everything was taken."""


class Arrivals:
    """What a thread of its own reads from a source."""

    def __init__(
        self,
        items: Iterator[Any],
        clock: Clock,
        told: Callable[[], None] = lambda: None,
        name: str = "source that may be silent",
    ) -> None:
        self._items = items
        self._name = name  # of the thread
        self._handle: int | None = getattr(items, "handle", None)
        self._clock = clock
        self._told = told  # called when something has arrived, or will not any more
        self._arrived: deque[Any] = deque()
        self._condition = threading.Condition()
        self._is_woken = False
        self._is_over = False  # the source has ended
        self._is_stopped = False  # nobody wants more
        self._failure: BaseException | None = None
        self._reader: Thread | None = None

    def take(self, until: float | None) -> list[Any]:
        """Items that have arrived, waited for until the clock says `until`; none if it does first, or on a `wake`.

        Raises `Over` at the end, and what the source raised.
        """
        if self._reader is None:
            read = partial(copy_context().run, self._read)
            self._reader = Thread(target=read, daemon=True, name=self._name)
            self._reader.start()
        with self._condition:
            while not (self._arrived or self._is_over or self._is_stopped or self._is_woken):
                left = None if until is None else until - self._clock.now()
                if left is not None and left <= 0:
                    return []
                self._condition.wait(None if left is None else self._clock.timeout(left))
            self._is_woken = False
            found = [self._arrived.popleft() for _ in range(len(self._arrived))]  # more may come meanwhile
            self._condition.notify_all()
            if found:
                return found
            if self._failure is not None:
                raise self._failure
            if self._is_over or self._is_stopped:
                raise Over
            return found

    @property
    def is_read(self) -> bool:
        """Whether the thread is still there."""
        return self._reader is not None and self._reader.is_alive()

    def wake(self) -> None:
        """Let `take` return."""
        with self._condition:
            self._is_woken = True
            self._condition.notify_all()

    def stop(self) -> None:
        """Nobody takes any more."""
        with self._condition:
            self._is_stopped = True
            self._condition.notify_all()
        if hasattr(self._items, "stop"):  # it may be waiting
            self._items.stop()

    @contextmanager
    def woken_by(self, others: Sequence[Policy]) -> Iterator[None]:
        """Wake whenever one of these has completed more, and look again whenever the clock has moved by itself."""
        ends = [other.follow(self.wake) for other in others]
        ends.append(self._clock.listen(self._look))
        try:
            yield
        finally:
            self.stop()
            for end in ends:
                end()

    def _look(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def _heard(self, handle: int) -> None:
        """Wait until there is something again, or nobody wants it."""
        while not self._is_stopped and not select.select([handle], [], [], OFTEN)[0]:
            pass

    def _read(self) -> None:
        try:
            for item in self._items:
                if item is SILENT and self._handle is not None:
                    self._heard(self._handle)
                    if self._is_stopped:
                        return
                    continue
                self._arrived.append(item)
                if len(self._arrived) == 1:  # else whoever takes has been told already
                    with self._condition:
                        self._condition.notify_all()
                    self._told()
                if item is SILENT:
                    sleep(SOON)
                most = FEW if type(item) is Messages else MOST
                if len(self._arrived) >= most:
                    with self._condition:
                        while len(self._arrived) >= most and not self._is_stopped:
                            self._condition.wait()
                if self._is_stopped:
                    return
        except BaseException as error:
            self._failure = error
        with self._condition:
            self._is_over = True
            self._condition.notify_all()
        self._told()
