"""What time it is, for policies that wait: the seconds of the machine, or seconds that somebody else lets go by."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Protocol


class Clock(Protocol):
    """Seconds that never go back.

    Examples
    --------
    >>> from progress.runtime.policies import Clock, VirtualClock
    >>> clock: Clock = VirtualClock()
    >>> clock.now()
    0.0
    """

    def now(self) -> float:
        """The seconds now."""
        ...

    def timeout(self, seconds: float) -> float | None:
        """How many seconds of the machine to wait at most until these have gone by; None: until `listen` calls."""
        ...

    def listen(self, moved: Callable[[], None]) -> Callable[[], None]:
        """Have a function called when time has moved by itself; the function returned ends that."""
        ...

    def silent(self) -> None:
        """A source had nothing to say when it was asked."""
        ...


class SystemClock:
    """The seconds of the machine.

    Examples
    --------
    >>> from progress.runtime.policies import SystemClock
    >>> clock = SystemClock()
    >>> clock.now() <= clock.now()
    True
    """

    def now(self) -> float:
        return monotonic()

    def timeout(self, seconds: float) -> float | None:
        return max(0.0, seconds)

    def listen(self, moved: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def silent(self) -> None:
        return None


class VirtualClock:
    """Seconds that go by when `advance` is called, and `tick` of them with every `SILENT` of a source that uses it.

    So nothing is waited for, and a run of the engine `sim` is the same every time.

    Examples
    --------
    >>> from progress.runtime.policies import VirtualClock
    >>> clock = VirtualClock()
    >>> clock.advance(2.5)
    >>> clock.now()
    2.5
    """

    def __init__(self, tick: float = 1.0) -> None:
        self.tick = tick
        self._now = 0.0
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        with self._lock:
            return self._now

    def advance(self, seconds: float) -> None:
        """Let so many seconds go by, from whatever thread."""
        with self._lock:
            self._now += seconds
            listeners = tuple(self._listeners)
        for moved in listeners:
            moved()

    def timeout(self, seconds: float) -> float | None:
        return None if seconds > 0 else 0.0

    def listen(self, moved: Callable[[], None]) -> Callable[[], None]:
        with self._lock:
            self._listeners.append(moved)
        return lambda: self._ended(moved)

    def _ended(self, moved: Callable[[], None]) -> None:
        with self._lock:
            self._listeners.remove(moved)

    def silent(self) -> None:
        self.advance(self.tick)
