"""Threads that are known to be over or not, whatever interrupts whoever waits for them.

CPython before 3.13 takes a thread as over when an interrupt comes while it is joined, or asked whether it is alive,
though it goes on (python/cpython#90882). Then a run would close what its threads still use.
"""

from __future__ import annotations

import threading
from typing import Any

BEGINNING = 0.1  # seconds for a thread to begin, of which nobody knows whether it will: its start was interrupted


class Thread(threading.Thread):
    """A thread whose `join` and `is_alive` may be interrupted, and are right the next time as well."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._may_begin = False
        self._is_done = threading.Event()

    def start(self) -> None:
        self._may_begin = True
        super().start()

    def run(self) -> None:
        try:
            super().run()
        finally:
            self._is_done.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it is over, so many seconds at the most; one that never began is over."""
        if not self._may_begin:
            return
        if self.ident is None:
            self._is_done.wait(BEGINNING)
        if self.ident is not None and self._is_done.wait(timeout):
            super().join()  # for what comes after its code: it is not listed any more then

    def is_alive(self) -> bool:
        return self.ident is not None and not self._is_done.is_set()
