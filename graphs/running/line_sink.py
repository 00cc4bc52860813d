"""The outputs of `pointstamp run`: JSON lines, each whole and written at once (docs/running.md).

A line is {"time": t, "value": v}, or {"complete": [t, ...]} whenever the edge's frontier moves. On standard output each
begins with its "edge".
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import select
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from progress.errors import PointstampError, brief, not_written
from progress.order import Domain
from progress.plain import times_by_place, write_time
from progress.runtime.actions.core import Step
from progress.runtime.durable.outlets import Going
from progress.runtime.durable.replay import Differs
from progress.runtime.failure import NodeFailed
from progress.runtime.sinks.json_text import encode, expanded, json_text
from progress.runtime.source_failure import SourceFailed

SMALL = 1 << 62  # numbers up to there need no look at how many digits they have
SHOWN = 120  # bytes of what differs that a complaint shows
TAIL = 4_096  # bytes before a position by which a file is known again
OFTEN = 0.1  # seconds between looks at whether the run has to stop, while a reader takes nothing
GRACE = 0.3  # seconds that a reader is given then, to take the rest of a line that it has begun to take


class LineFile:
    """A file to which whole lines are written, without a buffer: what is complete has left.

    Parameters
    ----------
    name, handle : its name and its descriptor
    is_regular : whether it may be cut, if it is a regular file; what else takes lines has them for good
    check : raises when the run has to stop, while this waits for a reader
    keeps : whether a run that goes on writes behind what is there
    """

    def __init__(
        self,
        name: str,
        handle: int,
        is_regular: bool = True,
        check: Callable[[], None] = lambda: None,
        *,
        keeps: bool = False,
    ) -> None:
        self.name = name
        self.named: str | None = None  # its path, where the pipeline names it and no command does
        self.handle = handle
        self.is_regular = is_regular and stat.S_ISREG(os.fstat(handle).st_mode)
        self.size = 0  # what was written
        self.is_loose = False  # whether frontiers may move between other values when what has left comes again
        self.holds = False  # whether what is written waits for `covered`
        self.why: Callable[[], str] = lambda: "a node did otherwise when it was run again"
        self._held: list[bytes] = []
        self._covered: list[bytes] = []  # of these, what the checkpoint has that is being taken
        self._there = 0  # up to where there is something that a run before has written, which comes again
        self.has_given_up = False  # something was to be written, and was not
        self._failure: BaseException | None = None  # of the first that could not be written: nothing is put behind it
        self._check = check
        self._keeps = keeps
        self._poll = select.poll()
        self._poll.register(handle, select.POLLOUT)

    def cut(self, size: int) -> None:
        """Forget what was written beyond this."""
        if self.is_regular:
            try:
                os.ftruncate(self.handle, size)
            except OSError as error:
                raise self._not_written(error) from None
            os.lseek(self.handle, size, os.SEEK_SET)
            self.size = self._there = size

    def go_on(self, size: int) -> None:
        """Begin at this place; what is there behind it comes again, is compared, and is not written twice."""
        if self.is_regular:
            self.size = size
            self._there = os.fstat(self.handle).st_size
            os.lseek(self.handle, self._there, os.SEEK_SET)

    def go_on_behind(self, size: int) -> None:
        """Begin behind the last whole line; the lines behind `size` come again, and are written again."""
        if self.is_regular:
            end = os.fstat(self.handle).st_size
            while end > size:
                begin = max(size, end - TAIL)
                place = os.pread(self.handle, end - begin, begin).rfind(b"\n")
                end = begin if place < 0 else begin + place + 1
                if place >= 0:
                    break
            self.cut(end)

    @property
    def is_behind(self) -> bool:
        """Whether something is there that a run before has written and this one has not."""
        return self.size < self._there

    def check(self, known: Any) -> None:
        """Refuse a file that does not hold what was written to it."""
        size = 0 if known is None or not self.is_regular else known["size"]
        found = os.fstat(self.handle).st_size
        if found < size:
            raise _another(self.name, f"has {found} bytes, and {size} were written")
        if size and self.mark(size) != known["mark"]:
            raise _another(self.name, "holds something else than what was written")

    def begin(self, known: Any, going: Going) -> None:
        """Begin to write; what the checkpoint covers and nobody knows to be there leaves first."""
        size = 0 if known is None else known["size"]
        if going in (Going.ANEW, Going.BACK, Going.BACK_ONWARD):
            self.cut(size)
        elif going is Going.ONWARD:
            self.go_on_behind(size)
        else:
            self.go_on(size)
        if known is not None and known["held"]:
            self.put(known["held"].encode())

    def border(self) -> Callable[[], Any]:
        """A checkpoint is taken here: it has how much is written, and what waits for it."""
        self._covered, self._held = self._held, []
        size, held = self.size, self._covered

        def settled() -> Any:
            self.settle()
            return {"size": size, "mark": self.mark(size), "held": b"".join(held).decode()}

        return settled

    def covered(self) -> None:
        """The checkpoint is on the disk: what waited for it is written."""
        covered, self._covered = self._covered, []
        if covered:
            self.put(b"".join(covered))

    def finish(self) -> None:
        """Nothing is written any more: refuse an end before that of the run before (PS748)."""
        if self.is_loose:
            self._next_value()
        if self.is_behind:
            raise self._differs(b"")

    def write(self, lines: bytes) -> None:
        """Write whole lines, or let them wait."""
        if self.holds:
            self._held.append(lines)
        else:
            self.put(lines)

    def put(self, lines: bytes) -> None:
        """Write whole lines, what is not there already; PS748 where something else is there, and then nothing.

        A file without room for all of them gets none, unless a run that goes on writes the rest. Once that has failed
        it fails for good: what is under way elsewhere must not leave in its place.

        Who waits for a reader asks whether the run has to stop. A reader then has whole lines, but for one that is
        longer than what a pipe takes at once (`select.PIPE_BUF`) and of which it took a part, and no more.
        """
        if self._failure is not None:
            raise self._failure
        if self.size < self._there:
            lines = self._compared(lines)
        if not lines:
            return
        try:
            if self.is_regular:
                self._write_file(lines)
            else:
                self._write_stream(lines)
        except BaseException as error:
            self.has_given_up, self._failure = True, error
            if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                self._failure = self._not_written(error)
                raise self._failure from None
            raise  # that nobody reads it any more is for whoever runs this to judge
        self.size += len(lines)

    def _compared(self, lines: bytes) -> bytes:
        """Compare these lines with those that are there, or their values alone; what is behind the last of them."""
        if not self.is_loose:
            there = os.pread(self.handle, min(len(lines), self._there - self.size), self.size)
            if not lines.startswith(there):
                raise self._differs(lines)
            self.size += len(there)
            return lines[len(there) :]
        while lines and self.size < self._there:
            line, end, rest = lines.partition(b"\n")
            if not _says_complete(line):
                there = self._next_value()
                if not (line + end).startswith(there):
                    raise self._differs(lines)
                self.size += len(there)
                rest = (line + end)[len(there) :] + rest
            lines = rest
        return lines

    def _next_value(self) -> bytes:
        """The next line with a value that is there, or what is there of it; lines about frontiers are passed over."""
        while self.size < self._there:
            line = self._line_there()
            if not _says_complete(line):
                return line
            if line.endswith(b"\n"):
                self.size += len(line)
            else:  # it was torn, and another one will come
                self.cut(self.size)
        return b""

    def _line_there(self) -> bytes:
        """The next line that is there, or the beginning of one."""
        line = b""
        while self.size + len(line) < self._there and not line.endswith(b"\n"):
            place = self.size + len(line)
            begin, end, _ = os.pread(self.handle, min(TAIL, self._there - place), place).partition(b"\n")
            line += begin + end
        return line

    def _differs(self, lines: bytes) -> Differs:
        """What was written here before does not come again."""
        self.has_given_up = True
        begin = self.size
        there = os.pread(self.handle, min(SHOWN, self._there - begin), begin).partition(b"\n")[0]
        comes = lines[:SHOWN].partition(b"\n")[0]
        now = "the run ends" if not lines else f"{comes.decode('utf-8', 'replace')} comes"
        what = f"{self.name}, byte {begin}: {there.decode('utf-8', 'replace')} has left, and now {now}"
        return Differs(f"{self.why()}: {what}")

    def _write_file(self, lines: bytes) -> None:
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self.handle, rest) :]
        except OSError:
            if len(rest) < len(lines) and not self._keeps:  # else a reader has seen them
                with suppress(PointstampError):
                    self.cut(self.size)
            raise

    def _write_stream(self, lines: bytes) -> None:
        """Write as much at once as never blocks where the system says that there is room, cut between lines."""
        done = 0
        while done < len(lines):
            self._wait_for_room(is_within_line=done > 0 and lines[done - 1] != ord("\n"))
            end = done + select.PIPE_BUF
            if end < len(lines):
                end = lines.rfind(b"\n", done, end) + 1 or end
            with suppress(BlockingIOError):  # somebody else has taken the room
                done += os.write(self.handle, lines[done:end])

    def _wait_for_room(self, is_within_line: bool) -> None:
        until: float | None = None
        while not self._poll.poll(OFTEN * 1000):
            try:
                self._check()
            except PointstampError:
                until = until or monotonic() + (GRACE if is_within_line else 0)
                if monotonic() >= until:
                    raise

    def settle(self) -> None:
        """Make sure that what was written outlives the machine."""
        if self.is_regular:
            try:
                os.fsync(self.handle)
            except OSError as error:
                raise self._not_written(error) from None

    def _not_written(self, error: OSError) -> PointstampError:
        return not_written("standard output" if self.name == "-" else self.name, error)

    def mark(self, size: int) -> str:
        """What the file is known by: its last bytes up to a size."""
        if not self.is_regular:
            return ""
        length = min(TAIL, size)
        return hashlib.sha256(os.pread(self.handle, length, size - length)).hexdigest()

    def close(self) -> None:
        """Let the file go. Whoever is still there writes nothing more, least of all to what has its descriptor next."""
        self._failure = self._not_written(OSError(errno.EBADF, "it was closed"))
        os.close(self.handle)


def _says_complete(line: bytes) -> bool:
    """Whether a line, or the beginning of one, is about a frontier."""
    return len(line) > 2 and b'{"complete"'.startswith(line[: len(b'{"complete"')])


def _another(name: str, how: str) -> PointstampError:
    return PointstampError("PS736", f"{name} {how}", "the file as it was; or another DIR, and other outputs")


class LineSink:
    """What leaves on one output edge, or by one side output.

    Parameters
    ----------
    name : of the edge or side output
    file : where the lines go
    says_edge : whether each line has the name

    A table, a DataFrame of Spark or of pandas, leaves as its rows: a line each, whose value has the columns by name.
    """

    takes_rows = True

    def __init__(self, name: str, file: LineFile, says_edge: bool = False) -> None:
        self.name = name
        self.file = file
        self.is_closed = False  # whether it was said that nothing leaves any more
        self._has_frontier = False
        self._head = f'{{"edge": {json.dumps(name)}, ' if says_edge else "{"

    def write_all(self, time: Any, values: Sequence[Any]) -> None:
        """Write messages of one time; PS732 where one is no JSON, and then none of them."""
        head = f'{self._head}"time": {json_text(write_time(time), "the time", self.name, time)}, "value": '
        if isinstance(values[0], NodeFailed | SourceFailed):
            self.file.write("".join(f"{head}{self._dead(failure)}}}\n" for failure in values).encode())
            return
        texts = []
        for value in expanded(values):
            is_small = type(value) is int and abs(value) < SMALL
            text = str(value) if is_small else json_text(value, "the value", self.name, time)
            texts.append(f"{head}{text}}}\n")
        self.file.write("".join(texts).encode())

    def complete(self, times: tuple[Any, ...]) -> None:
        """Write where the frontier stands now."""
        self.is_closed = not times
        written = ", ".join(json_text(write_time(time), "the time", self.name, time) for time in times)
        self.file.write(f'{self._head}"complete": [{written}]}}\n'.encode())

    @property
    def outlet(self) -> LineFile:
        """Where it writes."""
        return self.file

    def begins(self, domain: Domain) -> None:
        """It is that of an output edge, which has a frontier."""
        self._has_frontier = True

    def ended(self) -> None:
        """Nothing leaves any more; say so, if the frontier has not."""
        if self._has_frontier and not self.is_closed:
            self.complete(())

    def _dead(self, failure: NodeFailed | SourceFailed) -> str:
        """A value that failed, where, and why; what is no JSON is written as Python shows it."""
        try:
            value = encode(failure.value)
        except (TypeError, ValueError, RecursionError):
            value = encode(brief(failure.value))
        if isinstance(failure, NodeFailed):
            where = f'"node": {encode(failure.node)}'
        else:
            where = f'"input": {encode(failure.edge)}, "place": {encode(failure.place)}'
        return f'{value}, {where}, "error": {encode(failure.message)}'


def recorder(file: LineFile) -> Callable[[Step], None]:
    """Writes each step of a run as a line that `replay` reads."""

    def record(step: Step) -> None:
        file.write((encode(plain_step(step)) + "\n").encode())

    return record


def plain_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step of a run as plain data: a line of a trace."""
    start = step.get("start")
    return _plain(step) if start is None else {"start": _plain(start)}


def _plain(parts: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in parts.items():
        if key == "inputs":
            plain[key] = times_by_place(value)
        else:
            plain[key] = [[name, write_time(time), *count] for name, time, *count in value]
    return plain
