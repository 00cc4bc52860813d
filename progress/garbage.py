"""Python's search for reference cycles: paused while large structures without any are built, and kept short in a run.

The search walks all containers again and again as their number grows, which made work on a million edges twice as slow.
In a program that runs on and on it is worse that it does so at once: with a million lists everything waits for 70 ms.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FEW = 100_000  # containers that are searched at once in a moment


@contextmanager
def without_cycle_search() -> Iterator[None]:
    """Within it, memory is freed by reference counts alone; afterwards it is as it was."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


@contextmanager
def short_cycle_searches() -> Iterator[None]:
    """Within it, what has lived through two searches is not searched again until there is twice as much of it.

    For a program that has the process to itself: it is about all objects there are. A cycle that becomes garbage late
    may stay that long.
    """
    searches = _ShortSearches()
    gc.freeze()
    gc.callbacks.append(searches.told)
    try:
        yield
    finally:
        gc.callbacks.remove(searches.told)
        searches.end()
        gc.unfreeze()


class _ShortSearches:
    """Lets what has survived be, and searches all of it when there is twice as much."""

    def __init__(self) -> None:
        self._there = 0  # containers that were there after the last search of all
        self._more = 0  # about how many more there are now
        self._wakes = threading.Event()
        self._is_over = False
        self._thread: threading.Thread | None = None

    def told(self, phase: str, info: dict[str, Any]) -> None:
        """A search begins, or has come to its end. Cost: O(1)."""
        if phase != "stop" or info["generation"] == 0:
            return
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        self._more += young * middle  # so many more than went: else there would have been no search
        if self._more > max(FEW, self._there):
            self._more = 0
            if self._thread is None:  # a search cannot begin within another one
                self._thread = threading.Thread(target=self._search, name="cycles", daemon=True)
                self._thread.start()
            self._wakes.set()

    def _search(self) -> None:
        while True:
            self._wakes.wait()
            if self._is_over:
                return
            self._wakes.clear()
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._there = gc.get_freeze_count()

    def end(self) -> None:
        """Search nothing more."""
        self._is_over = True
        self._wakes.set()
        if self._thread is not None:
            self._thread.join()
