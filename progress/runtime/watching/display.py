"""A line on the terminal that shows how a run goes: what was read and done, how fast, where loops and outputs stand,
what waits longest.

It needs a terminal that can be written to; piped, nothing is shown. `rich` draws it, from the extra `run`; without it
there is no line, and the run is the same. A thread of its own looks at the run, so that the line is true as well while
nothing happens: then above all somebody wants to know what is waited for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, TextIO

from progress.errors import brief
from progress.runtime.actions.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.inputs.read_of import Done, ReadOf, said, share
from progress.runtime.observer import Observer
from progress.runtime.source_failure import SourceFailed
from progress.runtime.watching.rounds import Rounds
from progress.summary import NoMinimalTimes
from progress.wording import elided, printable

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
    reading : how far each input is, by its edge, where that is known (`ReadOf`); with a bar where all that comes is

    Cost: that of `line` for each picture, at most a twentieth of the time.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.runtime.watching.display import Display
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), sources={"in->a": [(0, "x")]})
    >>> flow.run(observer=Display())  # shown on a terminal alone
    {'a->out': [(0, 'x')]}
    """

    of_one_run = True

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], bool] | None = None,
        reading: Callable[[], Mapping[str, ReadOf | None]] | None = None,
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._is_over = threading.Event()
        self._wait = wait or self._is_over.wait
        self._inputs: Callable[[], Mapping[str, ReadOf | None]] = reading or dict
        self._status: Any = None
        self._thread: threading.Thread | None = None
        self._core: Core | None = None
        self._rounds: Rounds | None = None
        self._done: Done | None = None
        self._begun = 0.0
        self._count_anew()

    def _count_anew(self) -> None:
        self._messages = self._notifications = self._failures = self._late = 0

    def started(self, core: Core) -> None:
        self._count_anew()
        self._core = core
        self._rounds, self._done = Rounds(core.network), Done(core)
        self._begun = self._clock()
        if not self._stream.isatty():
            return
        try:
            from rich.console import Console
        except ImportError:
            return
        self._is_over.clear()
        self._status = Console(file=self._stream).status(self._picture())
        self._status.start()
        self._thread = threading.Thread(target=self._show, args=(self._status,), daemon=True, name="display")
        self._thread.start()

    def _show(self, status: Any) -> None:
        took = 0.0
        while not self._wait(max(PAUSE, SHARE * took)):
            begin = self._clock()
            status.update(self._picture())
            took = self._clock() - begin

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        if edge is None:
            self._notifications += count
        else:
            self._messages += count
            if self._rounds is not None:
                self._rounds.saw(edge, time)

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

    def _picture(self) -> Any:
        """The line, which is text and nothing else whatever names say, and a bar where there is an end to come to."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        line, bar = Text(self.line()), share(self._reading())
        return line if bar is None else Group(line, ProgressBar(completed=100 * bar, width=40))

    def _reading(self) -> list[ReadOf | None]:
        assert self._done is not None
        return self._done.of(self._inputs())

    def line(self) -> str:
        """How the run goes, in one line."""
        core = self._core
        assert core is not None, "the run has not begun"
        assert self._rounds is not None
        seconds = max(self._clock() - self._begun, 1e-9)
        parts = [
            *said(self._reading()),
            f"{self._messages} messages, {self._messages / seconds:.0f}/s",
            f"{self._notifications} notifications",
            f"{core.queued} waiting",
        ]
        parts += [f"{_word(edge)} in round {_word(time)}" for edge, time in self._rounds.last()]
        waits = core.tracker.why()
        if waits:
            parts.append(f"{len(waits)} blocked: {waits[0].sentence(_word)}")
        if held := len(core.held):
            parts.append(f"{held} held back")
        parts += [f"{count} {word}" for count, word in ((self._late, "late"), (self._failures, "failed")) if count]
        return printable("; ".join([*parts, *self._outputs(core)]))

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


def _word(value: Any) -> str:
    """A name as it is, a time as Python writes it; neither too long."""
    return elided(value, 40) if isinstance(value, str) else brief(value)
