"""A line on the terminal that shows how a run goes: what was done, how fast, where outputs stand, what is blocked.

It needs a terminal that can be written to; piped, nothing is shown. `rich` draws it, from the extra `run`; without it
there is no line, and the run is the same. A thread of its own looks at the run, so that the line is true as well while
nothing happens: then above all somebody wants to know what is waited for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, TextIO

from progress.runtime.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer
from progress.runtime.source_failure import SourceFailed
from progress.summary import NoMinimalTimes

PAUSE = 0.25  # seconds between two pictures
SHARE = 19  # times as long as a look at the run took, nobody looks again
MOST_OUTPUTS = 3


class Display(Observer):
    """Shows a run on a terminal, at most four times a second. `line` has what would be shown now.

    Parameters
    ----------
    stream : where; standard error
    clock : the seconds now
    wait : waits so many seconds, or until the run is over; whether it is

    Cost: that of `line` for each picture, at most a twentieth of the time.
    """

    of_one_run = True

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._is_over = threading.Event()
        self._wait = wait or self._is_over.wait
        self._status: Any = None
        self._thread: threading.Thread | None = None
        self._core: Core | None = None
        self._begun = 0.0
        self._count_anew()

    def _count_anew(self) -> None:
        self._messages = self._notifications = self._failures = self._late = 0

    def started(self, core: Core) -> None:
        self._count_anew()
        self._core = core
        self._begun = self._clock()
        if not self._stream.isatty():
            return
        try:
            from rich.console import Console
        except ImportError:
            return
        self._is_over.clear()
        self._status = Console(file=self._stream).status(self.line())
        self._status.start()
        self._thread = threading.Thread(target=self._show, args=(self._status,), daemon=True, name="display")
        self._thread.start()

    def _show(self, status: Any) -> None:
        took = 0.0
        while not self._wait(max(PAUSE, SHARE * took)):
            begin = self._clock()
            status.update(self.line())
            took = self._clock() - begin

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        if edge is None:
            self._notifications += count
        else:
            self._messages += count

    def failed(self, failure: NodeFailed) -> None:
        self._failures += 1

    def refused(self, failure: SourceFailed) -> None:
        self._failures += 1

    def brought(self, edge: str, count: int, late: int) -> None:
        self._late += late

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self._status.stop()
        self._core = None

    def line(self) -> str:
        """How the run goes, in one line."""
        core = self._core
        assert core is not None, "the run has not begun"
        seconds = max(self._clock() - self._begun, 1e-9)
        parts = [
            f"{self._messages} messages, {self._messages / seconds:.0f}/s",
            f"{self._notifications} notifications",
            f"{core.queued} waiting",
        ]
        eligible = set(core.tracker.eligible())
        blocked = [request for request in core.tracker.pending() if request not in eligible]
        if blocked:
            parts.append(f"{len(blocked)} blocked, first {blocked[0][0]} at {blocked[0][1]}")
        if held := len(core.held):
            parts.append(f"{held} held back")
        parts += [f"{count} {word}" for count, word in ((self._late, "late"), (self._failures, "failed")) if count]
        return "; ".join([*parts, *self._outputs(core)])

    def _outputs(self, core: Core) -> list[str]:
        network = core.network
        names = list(network.outputs)
        found = []
        for name in names[:MOST_OUTPUTS]:
            try:
                times = core.tracker.frontier(name)
            except NoMinimalTimes:
                continue
            found.append(f"{name} at {', '.join(map(str, times[:2]))}" if times else f"{name} complete")
        return found
