"""A trace as a film: the state at any line, found from marks that were set on the way (docs/replay.md).

To know the state at a line, all lines before it have to be played once. `develop` does that, some lines at a time, and
sets a *mark* every so often: where the line ends in the file, and all that is outstanding there (`Tracker.snapshot`).
From then on a line is reached from the last mark before it (`Tracker.restore`), so by `spacing` lines at most.

Marks are together no larger than `MOST_BYTES`: when they would be, every second one is let go, and new ones are set
twice as far apart. What a film remembers besides does not grow with the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphs.graph import Graph
from graphs.sessions.cursor import Cursor
from graphs.sessions.marks import Mark, Marks
from graphs.sessions.replay import LONGEST_TRACE_LINE, Replay, damaged
from graphs.sessions.torn import is_torn
from graphs.sessions.trace import Lines, cut
from graphs.sessions.turns import Turns
from progress.errors import PointstampError

SPACING = 2_048  # lines between marks, to begin with; more where more is outstanding than that
MOST_BYTES = 64 * 1024 * 1024  # of all marks


class Film:
    """The states of a session at every line of its trace, as far as this has been developed.

    `known` lines are, and `damage` says what ended it early. Every method may be called from any thread. Cost of
    `develop`: that of playing the lines, and O(what is outstanding) for each mark, of which there are no more than one
    in so many lines.
    """

    def __init__(self, graph: Graph, path: str, spacing: int = SPACING, most_bytes: int = MOST_BYTES) -> None:
        self.graph = graph
        self.spacing = spacing
        self.damage: PointstampError | None = None
        self.is_torn = False  # whether the last line is not whole, as while somebody writes it
        self.marks = Marks(most_bytes)
        self._numbers = graph.network().numbers
        self._turns = Turns()
        self._ahead = Lines(path)
        self._cursor = Cursor(graph, path, self.marks)  # at the line that was looked at last
        self._developed = Replay(graph)
        self._next_mark = spacing
        self._set_mark()

    def close(self) -> None:
        """Let the file go."""
        with self._turns.mine():
            self._ahead.close()
            self._cursor.close()

    @property
    def known(self) -> int:
        """How many lines have been developed."""
        return self._developed.line

    @property
    def replayed(self) -> int:
        """How many lines were played to get somewhere."""
        return self._cursor.played

    def is_of_another_graph(self) -> bool:
        """Whether what has been developed is (`Replay.is_of_another_graph`)."""
        return self._developed.is_of_another_graph()

    @property
    def share(self) -> float:
        """Which part of the trace has been developed, from 0 to 1."""
        size = self._ahead.size()
        return 1.0 if self._ahead.end >= size else self._ahead.end / size

    @property
    def is_all(self) -> bool:
        """Whether there is no more to be developed by now."""
        return self.damage is not None or self.is_torn or self._ahead.end >= self._ahead.size()

    @property
    def counts(self) -> Replay:
        """What there was in the lines that have been developed, as `replay` counts it."""
        return self._developed

    # --- developing ---------------------------------------------------------------------------------------------------

    def develop(self, most: int) -> int:
        """Play up to so many lines more; how many there were. None are left where it is damaged, or at its end."""
        with self._turns.for_others():
            before = self.known
            try:
                while self.damage is None and self.known < before + most and self._develop_line():
                    pass
            except PointstampError as error:
                self.damage = error
            except RecursionError:
                self.damage = damaged(self._developed.line, "lists and mappings are nested too deeply")
            return self.known - before

    def _develop_line(self) -> bool:
        line = self._ahead.next()
        if not line:
            if self._ahead.is_cut():
                raise cut(self.known + 1)
            return False
        self.is_torn = is_torn(line, LONGEST_TRACE_LINE)
        if self.is_torn:
            self._ahead.give_back(line)
            return False
        replay = self._developed
        try:
            replay.play_line(line)
        except PointstampError:
            replay.line -= 1
            raise
        if replay.fed == replay.line:
            self._note(replay)
        if replay.line >= self._next_mark and line.endswith(b"\n"):
            self._set_mark()
        return True

    def _note(self, replay: Replay) -> None:
        for item in replay.taken.get("delivered", ()):
            self.marks.delivered |= 1 << self._numbers[item[0]]
        for node, _ in replay.answer.get("ready", ()):
            self.marks.freed |= 1 << self._numbers[node]

    def _set_mark(self) -> None:
        standing = self._developed.standing()
        self.spacing <<= self.marks.set(self.known, self._ahead.end, standing)
        snapshot = standing["session"]["tracker"] or {"messages": (), "requests": ()}
        self.spacing = max(self.spacing, len(snapshot["messages"]) + len(snapshot["requests"]))
        self._next_mark = self.known + self.spacing

    # --- looking ------------------------------------------------------------------------------------------------------

    @contextmanager
    def looking(self, line: int) -> Iterator[Cursor]:
        """What goes to any line from 0 to the last that is known, as `line` has to be; nobody else moves it meanwhile.

        It plays `spacing` lines at most to get somewhere.
        """
        with self._turns.mine():
            if not 0 <= line <= self.known:
                what = f"there is no line {line} in the trace"
                raise PointstampError("PS501", what, f"a line from 0 to {self.known}")
            yield self._cursor

    @contextmanager
    def at(self, line: int) -> Iterator[Replay]:
        """The session after a line, which nobody else moves meanwhile."""
        with self.looking(line) as cursor:
            yield cursor.seek(line)

    def seek(self, line: int) -> Replay:
        """The session after a line that has been developed, until the next call."""
        with self.at(line) as replay:
            return replay

    def lines(self, first: int, count: int, most: int = 300) -> list[str]:
        """The text of some lines, each cut to so many characters. Cost: reading up to `spacing` lines, and these."""
        with self.looking(0) as cursor:
            first = min(max(first, 1), self.known + 1)
            return cursor.lines(first, min(count, self.known - first + 1), most)

    def stretches(self) -> Iterator[tuple[Mark, Mark]]:
        """From each mark to the next, and from the last to where the film ends by now."""
        return self.marks.stretches(self.known, self._ahead.end)
