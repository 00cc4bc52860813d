"""One thread works at a time, and one that has long work to do lets those go first who only look."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A lock with two ways in: `mine` for those who look, `for_others` for who works on behind them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nobody_waits = threading.Condition()
        self._waiting = 0

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Next, before who lets others go first."""
        with self._nobody_waits:
            self._waiting += 1
        with self._lock:
            with self._nobody_waits:
                self._waiting -= 1
                self._nobody_waits.notify_all()
            yield

    @contextmanager
    def for_others(self) -> Iterator[None]:
        """When nobody waits."""
        with self._nobody_waits:
            self._nobody_waits.wait_for(lambda: not self._waiting)
        with self._lock:
            yield
