"""How long a source is read at once: what it gave is worked on as soon as it makes the program wait.

A source that is quick is read in large steps, one that waits for the next item, or takes long to make it, item by item.
What counts is that it has waited, as the system knows of a thread, so that a program that is quick does the same every
time, however often the machine lets others go before it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

FEW = 0.003  # seconds after which what a source gave is worked on, where it has waited
LONG = 0.05  # the same, where it has not, but computes


def _waits_of_this_thread() -> Callable[[], float]:
    """How often this thread has waited for something."""
    try:
        from resource import RUSAGE_THREAD, getrusage
    except ImportError:  # another system: whatever takes so long counts
        return monotonic
    return lambda: getrusage(RUSAGE_THREAD).ru_nvcsw


waits: Callable[[], float] = _waits_of_this_thread()


class Pace:
    """Of the looks at one source. Cost: two looks at the clock for a look, and one for each item."""

    __slots__ = ("_begun", "_waited", "until")

    def __init__(self) -> None:
        self._waited = waits()
        self.until = self._begun = 0.0

    def begin(self) -> Pace:
        """A look begins. That something has waited since the last one that took long is not told apart."""
        self._begun = monotonic()
        self.until = self._begun + FEW  # before that nobody need ask
        return self

    def is_enough(self) -> bool:
        """Whether what has come is worked on first, now that it has taken so long."""
        waited, self._waited = self._waited, waits()
        self.until = now = monotonic()
        self.until += FEW
        return waited != self._waited or now >= self._begun + LONG
