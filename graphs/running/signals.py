"""SIGINT and SIGTERM during `pointstamp run`: the first stops it gracefully, the second ends it (docs/running.md)."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

from graphs.terminal import complain

PATIENCE = 1.0  # seconds after a signal until it is said what is waited for
LONGER = 3.0  # the same after a timeout: nobody who waits for an answer has just asked for it


class Signals:
    """While it is open, SIGINT and SIGTERM set `came`; the second one ends the process. After `timeout` seconds the run
    stops by itself.

    What runs is waited for. Where that takes long, one line says so, from a thread of its own: the handler may not wait
    for anything, since it runs in the middle of whatever the main thread does.
    """

    def __init__(self, timeout: float | None = None) -> None:
        self._timeout = None if timeout is None else min(timeout, threading.TIMEOUT_MAX)
        self.came = threading.Event()
        self.number = 0
        self._is_over = threading.Event()

    def __enter__(self) -> Signals:
        self._before: dict[int, Any] = {}
        self._watcher = threading.Thread(target=self._watch, daemon=True, name="signals")
        self._watcher.start()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._is_over.set()
        self.came.set()  # nobody asks any more but the watcher
        self._watcher.join()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            os._exit(128 + number)
        self.number = number
        self.came.set()

    def _watch(self) -> None:
        if not self.came.wait(self._timeout) and not self._is_over.wait(LONGER):
            complain(
                "pointstamp: its time is up: stopping when what runs has come to its end; two signals end it at once"
            )
        self.came.wait()
        if not self._is_over.wait(PATIENCE):
            complain("pointstamp: stopping when what runs has come to its end; a second signal ends it at once")
