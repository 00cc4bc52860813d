"""Rounds on Spark as they go, on a terminal: one line that changes, and a bar of what is settled.

How many rounds there will be is not known before the last one. What is known is how many nodes still change: the bar
has their share of the most that there were in this work, and is full where nothing changes any more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from graphs.at_scale.rounds import Round
from graphs.wording import printable

WIDTH = 40  # of the bar, in letters


class Rounds:
    """What is known of the rounds so far: `line` and `share` say it, `told` is told of each."""

    def __init__(self, most: int, show: Callable[[Rounds], None]) -> None:
        self._most = most
        self._show = show
        self._last: Round | None = None
        self._active = 0  # the most there were in this work

    def told(self, each: Round) -> None:
        """One more round is over."""
        same = self._last is not None and self._last.work == each.work
        self._active = max(self._active, each.active) if same else each.active
        self._last = each
        self._show(self)

    def line(self) -> str:
        """The last round in one line."""
        if self._last is None:
            return "the first round"
        work, number, active, frontier = self._last
        return printable(f"{work}, round {number:,} of at most {self._most:,}: {active:,} active, {frontier:,} new")

    def share(self) -> float:
        """How much of what was active is settled, from 0 to 1."""
        return 1 - self._last.active / self._active if self._last is not None and self._active else 0.0


@contextmanager
def rounds_shown(most: int, stream: TextIO | None = None) -> Iterator[Callable[[Round], None] | None]:
    """Whom to tell of each round, of at most so many; nobody where there is no terminal, or without `rich` (`run`)."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield None
        return
    try:
        from rich.console import Console
    except ImportError:
        yield None
        return
    with Console(file=stream).status("") as status:
        rounds = Rounds(most, lambda found: status.update(_picture(found)))
        status.update(_picture(rounds))
        yield rounds.told


def _picture(rounds: Rounds) -> Any:
    """The line, which is text and nothing else, and the bar."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    return Group(Text(rounds.line()), ProgressBar(completed=100 * rounds.share(), width=WIDTH))
