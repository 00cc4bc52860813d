"""A trace as a film: the state at any line, found from marks that were set on the way (docs/replay.md).

To know the state at a line, all lines before it have to be played once. `develop` does that, some lines at a time, and
sets a *mark* every so often: where the line ends in the file, and all that is outstanding there (`Tracker.snapshot`).
From then on a line is reached from the last mark before it (`Tracker.restore`), so by `spacing` lines at most.

Marks are compressed, and together no larger than `MOST_BYTES`: when they would be, every second one is let go, and new
ones are set twice as far apart. What a film remembers besides does not grow with the trace.

What follows from the model (A&I 4.2) makes searching short. Clock only shrinks, so a request that has become free
waits no more: the mark after which it is free is found by bisection.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from graphs.graph import Graph
from graphs.sessions.replay import LONGEST_TRACE_LINE, Replay, damaged
from progress.errors import PointstampError
from progress.plain import write_time
from progress.tracking.blocking import Blocker
from progress.tracking.refusal import Refusal

SPACING = 2_048  # lines between marks, to begin with; more where more is outstanding than that
MOST_BYTES = 64 * 1024 * 1024  # of all marks


class Mark(NamedTuple):
    """Where a line ends, and how things stand there."""

    line: int
    end: int  # of the line, in bytes from the beginning of the file
    standing: bytes
    delivered: int  # the nodes that got a notification since the mark before, as bits
    freed: int  # the nodes with a request that became free since then


class Freed(NamedTuple):
    """The moment at which a request became free."""

    line: int
    asked: bool  # whether it was asked for in that very line, so that it waited for nothing
    by: tuple[Blocker, ...]  # what kept it waiting until then: that line took all of them away


class Film:
    """The states of a session at every line of its trace, as far as this has been developed.

    `known` lines are, and `damage` says what ended it early. `replayed` counts the lines played to get somewhere.
    Every method may be called from any thread. Cost of `develop`: that of playing the lines, and O(what is outstanding)
    for each mark, of which there are no more than one in so many lines.
    """

    def __init__(self, graph: Graph, path: str, spacing: int = SPACING, most_bytes: int = MOST_BYTES) -> None:
        self.graph = graph
        self.spacing = spacing
        self.replayed = 0
        self.damage: PointstampError | None = None
        self.is_torn = False  # whether the last line is not whole, as while somebody writes it
        self._most_bytes = most_bytes
        self._numbers = graph.network().numbers
        self._turns = _Turns()
        self._ahead = _Lines(path)
        self._back = _Lines(path)
        self._delivered = self._freed = 0
        self._developed = Replay(graph)
        self._cursor = Replay(graph)  # at the line that was looked at last
        self._next_mark = spacing
        self._bytes = 0
        self.marks: list[Mark] = []
        self._set_mark()

    def close(self) -> None:
        """Let the file go."""
        with self._turns.mine():
            self._ahead.close()
            self._back.close()

    @property
    def known(self) -> int:
        """How many lines have been developed."""
        return self._developed.line

    def is_of_another_graph(self) -> bool:
        """Whether what has been developed is (`Replay.is_of_another_graph`)."""
        return self._developed.is_of_another_graph()

    @property
    def share(self) -> float:
        """Which part of the trace has been developed, from 0 to 1."""
        size = self._ahead.size()
        return 1.0 if self._ahead.end >= size else self._ahead.end / size

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
                raise _cut(self.known + 1)
            return False
        is_whole = line.endswith(b"\n")
        if not is_whole and len(line) < LONGEST_TRACE_LINE and not _is_json(line):
            self.is_torn = True
            self._ahead.give_back(line)
            return False
        self.is_torn = False
        replay = self._developed
        try:
            replay.play_line(line)
        except PointstampError:
            replay.line -= 1
            raise
        if replay.fed == replay.line:
            self._note(replay)
        if replay.line >= self._next_mark and is_whole:
            self._set_mark()
        return True

    def _note(self, replay: Replay) -> None:
        for item in replay.taken.get("delivered", ()):
            self._delivered |= 1 << self._numbers[item[0]]
        for node, _ in replay.answer.get("ready", ()):
            self._freed |= 1 << self._numbers[node]

    def _set_mark(self) -> None:
        standing = self._developed.standing()
        text = zlib.compress(json.dumps(standing, separators=(",", ":")).encode(), 1)
        self.marks.append(Mark(self.known, self._ahead.end, text, self._delivered, self._freed))
        self._delivered = self._freed = 0
        self._bytes += len(text)
        while self._bytes > self._most_bytes and len(self.marks) > 2:
            self._thin_out()
        snapshot = standing["session"]["tracker"] or {"messages": (), "requests": ()}
        self.spacing = max(self.spacing, len(snapshot["messages"]) + len(snapshot["requests"]))
        self._next_mark = self.known + self.spacing

    def _thin_out(self) -> None:
        """Let every second mark go, and set them twice as far apart from now on."""
        kept = self.marks[:1]
        for gone, mark in zip(self.marks[1::2], self.marks[2::2], strict=False):
            kept.append(mark._replace(delivered=gone.delivered | mark.delivered, freed=gone.freed | mark.freed))
        if len(self.marks) % 2 == 0:
            self._delivered, self._freed = self.marks[-1].delivered, self.marks[-1].freed
        self.marks = kept
        self._bytes = sum(len(mark.standing) for mark in kept)
        self.spacing *= 2

    # --- looking ------------------------------------------------------------------------------------------------------

    def seek(self, line: int) -> Replay:
        """The session after a line that has been developed, until the next call. Plays `spacing` lines at most."""
        with self._turns.mine():
            return self._seek(line)

    @contextmanager
    def at(self, line: int) -> Iterator[Replay]:
        """The session after a line, which nobody else moves meanwhile."""
        with self._turns.mine():
            yield self._seek(line)

    def _seek(self, line: int) -> Replay:
        self._check(line)
        mark = self._mark_before(line)
        if not mark.line <= self._cursor.line <= line:
            self._go_to(mark)
        self._play_to(line)
        return self._cursor

    def _check(self, line: int) -> None:
        if not 0 <= line <= self.known:
            raise PointstampError("PS501", f"there is no line {line} in the trace", f"a line from 0 to {self.known}")

    def _mark_before(self, line: int) -> Mark:
        """The last mark at or before a line."""
        return self.marks[bisect_left(self.marks, line + 1, key=lambda mark: mark.line) - 1]

    def _go_to(self, mark: Mark) -> None:
        self._cursor = Replay.go_on(self.graph, _standing(mark))
        self._back.go_to(mark.end)

    def _play_to(self, line: int, seen: Callable[[Replay], bool] = lambda replay: False) -> bool:
        """Play on to a line, or up to the first that is sought; whether there was one."""
        replay = self._cursor
        try:
            while replay.line < line:
                text = self._back.next()
                if not text:
                    raise _cut(replay.line + 1)
                replay.play_line(text)
                self.replayed += 1
                if replay.fed == replay.line and seen(replay):
                    return True
        except PointstampError:  # the file is not what it was
            self._go_to(self.marks[0])
            raise
        return False

    def lines(self, first: int, count: int, most: int = 300) -> list[str]:
        """The text of some lines, each cut to so many characters. Cost: reading up to `spacing` lines, and these."""
        with self._turns.mine():
            first = max(first, 1)
            mark = self._mark_before(min(first - 1, self.known))
            place = self._back.end
            try:
                self._back.go_to(mark.end)
                for _ in range(mark.line + 1, first):
                    self._back.next()
                count = min(count, self.known - first + 1)
                found = [self._back.next() for _ in range(count)]
            finally:
                self._back.go_to(place)
        return [line[: 4 * most].decode("utf-8", "replace").strip()[:most] for line in found]

    # --- searching ----------------------------------------------------------------------------------------------------

    def next_delivery(self, node: str, line: int) -> int | None:
        """The first line after this one in which a node is notified; None where there is none as far as is known.

        Plays the lines between two marks twice at most: those that have none are known.
        """
        with self._turns.mine():
            self._check(line)
            number = self._node(node)
            for begin, end in self._stretches():
                if end.line > line and end.delivered >> number & 1:
                    self._seek(max(line, begin.line))
                    if self._play_to(end.line, lambda replay: _delivers(replay, node)):
                        return self._cursor.line
            return None

    def freed_by(self, node: str, time: Any, line: int) -> Freed | None:
        """The moment at which a request that is pending at a line became free, or becomes so; None where it never does.

        Of one that waits: the stretch in which it becomes free is found by bisection, since Clock only shrinks. Of one
        that is free: looked for backwards, where requests at its node became free.
        """
        with self._turns.mine():
            number = self._node(node)
            tracker = self._seek(line).session.tracker
            if (node, time) not in tracker.pending():
                raise PointstampError(
                    "PS507", f"nothing is requested at {node!r} for {time!r} there", "a request that is listed"
                )
            if (node, time) in tracker.eligible():
                found = self._freed_before(node, number, time, line)
            else:
                found = self._freed_after(node, time, line)
            if found is None:
                return None
            tracker = self._seek(found - 1).session.tracker
            was_pending = (node, time) in tracker.pending() and (node, time) not in tracker.eligible()
            return Freed(found, not was_pending, tracker.why(node, time).by)

    def _freed_after(self, node: str, time: Any, line: int) -> int | None:
        """The line in which a request becomes free that waits at an earlier one."""
        written = [node, write_time(time)]
        after = bisect_left(self.marks, line + 1, key=lambda mark: mark.line)
        place = bisect_left(self.marks, True, lo=after, key=lambda mark: not _waits(mark, written))
        end = self.marks[place].line if place < len(self.marks) else self.known
        return self._find_free(node, time, max(line, self.marks[place - 1].line), end)

    def _freed_before(self, node: str, number: int, time: Any, line: int) -> int | None:
        """The line in which a request became free that is so at a later one."""
        for begin, end in reversed([*self._stretches()]):
            if begin.line < line and end.freed >> number & 1:
                found, place = None, begin.line
                while (freed := self._find_free(node, time, place, min(line, end.line))) is not None:
                    found, place = freed, freed
                if found is not None:
                    return found
        return None

    def _find_free(self, node: str, time: Any, begin: int, end: int) -> int | None:
        """The first line after one, up to another, in which a request becomes free."""
        self._seek(begin)
        if not self._play_to(end, lambda replay: [node, write_time(time)] in replay.answer.get("ready", ())):
            return None
        return self._cursor.line

    def _stretches(self) -> Iterator[tuple[Mark, Mark]]:
        """From each mark to the next, and from the last to where the film ends by now."""
        yield from pairwise((*self.marks, Mark(self.known, self._ahead.end, b"", self._delivered, self._freed)))

    def _node(self, node: str) -> int:
        number = self._numbers.get(node)
        if number is None or number >= len(self.graph.network().nodes):
            raise PointstampError("PS502", f"there is no node {node!r}", "a node of the graph")
        return number


class _Turns:
    """One works at a time; who develops lets all go first who look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nobody_waits = threading.Condition()
        self._waiting = 0

    @contextmanager
    def mine(self) -> Iterator[None]:
        with self._nobody_waits:
            self._waiting += 1
        with self._lock:
            with self._nobody_waits:
                self._waiting -= 1
                self._nobody_waits.notify_all()
            yield

    @contextmanager
    def for_others(self) -> Iterator[None]:
        with self._nobody_waits:
            self._nobody_waits.wait_for(lambda: not self._waiting)
        with self._lock:
            yield


class _Lines:
    """The lines of a file that may grow."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = Path(path).open("rb")  # noqa: SIM115, closed by `close`
        self.end = 0  # of the last line, in bytes from the beginning
        self.close = self._file.close

    def next(self) -> bytes:
        """The next line; nothing at the end. One without a line break is a line, which the break then still ends."""
        line = self._file.readline(LONGEST_TRACE_LINE)
        if line and line.isspace() and self.end and self._is_within_line(len(line)):
            self.end += len(line)
            line = self._file.readline(LONGEST_TRACE_LINE)
        self.end += len(line)
        return line

    def _is_within_line(self, length: int) -> bool:
        self._file.seek(self.end - 1)
        return self._file.read(1 + length)[:1] != b"\n"

    def give_back(self, line: bytes) -> None:
        """The last line was none yet."""
        self.go_to(self.end - len(line))

    def go_to(self, end: int) -> None:
        """Go on after the line that ends there."""
        self._file.seek(end)
        self.end = end

    def size(self) -> int:
        """How many bytes the file has by now."""
        return os.fstat(self._file.fileno()).st_size

    def is_cut(self) -> bool:
        """Whether the file has less than was read of it."""
        return self.size() < self.end


def _standing(mark: Mark) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zlib.decompress(mark.standing))
    return found


def _waits(mark: Mark, request: list[Any]) -> bool:
    """Whether a request waits at a mark."""
    snapshot = _standing(mark)["session"]["tracker"] or {"requests": (), "reported": ()}
    return request in snapshot["requests"] and request not in snapshot["reported"]


def _delivers(replay: Replay, node: str) -> bool:
    return any(item[0] == node for item in replay.taken.get("delivered", ()))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _cut(line: int) -> Refusal:
    error = Refusal("PS513", "the trace has become shorter since it was opened", "open it again")
    error.line = line
    return error
