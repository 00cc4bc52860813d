"""The inputs of `pointstamp run`: JSON lines, each taken as soon as it is there (docs/running.md).

A line is {"time": t, "value": v}, a message, or {"complete": [t, ...]}: from now on only times at or after one of these
come. Lines with nothing in them are passed over. The end of the file closes the input. A line that is none of these is
refused with its file and number (PS731).

A run that goes on knows its inputs again by all that it had read of them: a file is read up to there and goes on behind
it, what comes through a pipe is passed over line by line.
"""

from __future__ import annotations

import hashlib
import os
import select
import stat
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphs.files.standard_input import cannot_read
from graphs.running.line_form import FORM, BadLine, LineForm
from graphs.sessions.ask import LONGEST_LINE
from progress.errors import PointstampError
from progress.order import Domain, opening_times
from progress.runtime.inputs.read_of import BYTES, ReadOf
from progress.runtime.source import SILENT, Complete
from progress.runtime.source_failure import Refused
from progress.summary import NoMinimalTimes

CHUNK = 1 << 16
MUCH = 1 << 20  # bytes that are digested at once
MOST_DRAWN = 1 << 26  # bytes that are read beside what is waited for
OFTEN = 0.1  # seconds between looks at whether the run has to stop, where nothing comes


class Position(NamedTuple):
    """How far an input was read: bytes, lines, and the digest of these bytes, by which it is known again: `mark`."""

    bytes: int = 0
    lines: int = 0
    mark: str = ""


class _Read(NamedTuple):
    """What the lines held up to the end of one item, from the end of the item before, and how many lines there were."""

    content: bytes
    lines: int


class InputError(PointstampError):
    """Something is wrong with an input, at a line of its file."""

    def __init__(self, code: str, file: str, line: int | None, message: str, hint: str) -> None:
        super().__init__(code, message, hint)
        self.place = file if line is None else f"{file}:{line}"

    def __str__(self) -> str:
        return f"{self.place}: {super().__str__()}"


class Lines:
    """What one input brings, for the runtime's `Feed`.

    Parameters
    ----------
    file : its name
    handle : the file descriptor
    edge, domain : the input edge and its times
    waits : whether the engine lets a source block; otherwise `SILENT` says that there is nothing yet
    check : raises when the run has to stop, while this waits
    keeps : whether `position` is asked for
    start : where to go on

    Cost of a line: that of its JSON, and of its digest where `keeps`. At most a chunk is read ahead. To go on costs
    reading, and digesting, what was read before.
    """

    goes_on = True  # it begins at its position by itself

    def __init__(
        self,
        file: str,
        handle: int,
        edge: str,
        domain: Domain,
        *,
        waits: bool,
        check: Callable[[], None] = lambda: None,
        keeps: bool = False,
        start: Position | None = None,
    ) -> None:
        self.file = file
        self.named: str | None = None  # its path, where the pipeline names it and no command does
        self._descriptor = handle
        self._domain = domain
        self._read = LineForm(edge, domain).read
        self._waits = waits
        self._check = check
        self._keeps = keeps
        self.is_live = not stat.S_ISREG(os.fstat(handle).st_mode)
        self.replays_alike = not self.is_live
        self.handle = handle if self.is_live and not waits else None
        self.is_prompt = not waits
        self._first = 0 if self.is_live else os.lseek(handle, 0, os.SEEK_CUR)
        self._lines: deque[bytes] = deque()
        self._rest: list[bytes] = []  # pieces of a line that is not all there
        self._has_ended = False
        self._is_stopped = False
        self._ahead: list[Any] = []
        self._number = 0  # of the lines that were handed on
        self._between = bytearray()  # what stood between the last item and the line that is read
        self._pending: deque[_Read] = deque()  # of items that have not entered the run
        self._size = self._entered = 0  # bytes and lines of those that have
        self._digest = hashlib.sha256()
        self._place = self._first  # from where a file is read next; how much of a stream was read
        self._drawn = 0  # bytes that were read before anybody asked
        self.beside: Sequence[Lines] = ()  # others of the same thread, whose writers must not wait while this waits
        self._passing: Position | None = None
        if start is not None:
            self._go_to(start)

    # --- for the engine ----------------------------------------------------------------------------------------------

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> Any:
        if self._ahead:
            return self._ahead.pop()
        while True:
            if self._lines:
                item = self._item(self._lines.popleft())
                if item is not None:
                    return item
            elif self._has_ended:
                if self._passing is not None:
                    raise self._other_file(self._passing, "it ends before")
                raise StopIteration
            elif self._is_stopped:
                raise StopIteration
            elif not self._fill():
                return SILENT

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        self._is_stopped = True

    def draw(self) -> None:
        """Read what is there, `MOST_DRAWN` bytes at most, though nobody asks for it: whoever writes it goes on."""
        beside, waits = self.beside, self._waits
        self.beside, self._waits = (), False
        try:
            while self.is_live and not (self._has_ended or self._is_stopped) and self._drawn < MOST_DRAWN:
                before = self._place
                if not self._fill():
                    break
                self._drawn += self._place - before
        finally:
            self.beside, self._waits = beside, waits

    def digested(self, count: int) -> None:
        """So many more of the items have entered the run."""
        if self._keeps and count:
            items = [self._pending.popleft() for _ in range(count)]
            content = b"".join([item.content for item in items])
            self._digest.update(content)
            self._size += len(content)
            self._entered = items[-1].lines

    @property
    def opens(self) -> tuple[Any, ...] | None:
        """Where the input opens, if its times have no least ones: the first line says so. Waits for that line."""
        if self._number or self._passing is not None:
            return ()
        try:
            if opening_times(self._domain):
                return None
        except NoMinimalTimes:
            pass
        first = self._waited_for()
        if first is None:
            return ()
        if type(first) is Refused:
            raise first.error from None
        if type(first) is not Complete:
            raise self._bad(f"times of {self._domain!r} have no beginning", '{"complete": [t, ...]} first')
        return tuple(first.times)

    @property
    def read_of(self) -> ReadOf | None:
        """How many bytes of a file were read, and how many it has now; None where nobody knows."""
        if self.is_live:
            return None
        return ReadOf(self._place - self._first, os.fstat(self._descriptor).st_size - self._first, BYTES, is_all=True)

    @property
    def place(self) -> str:
        """The file and the line of what it gave last."""
        return f"{self.file}:{self._number}"

    @property
    def position(self) -> Position:
        """How far the run has read, with the mark by which the input is known again.

        While a stream brings what was read before, this stays where the run goes on.
        """
        passing = self._passing  # the thread that reads may end that meanwhile
        if passing is not None:
            return passing
        return Position(self._size, self._entered, self._digest.hexdigest())

    @property
    def has_more(self) -> bool:
        """Whether a file has lines after its position; of a stream nobody knows, so no.

        Cost: reading what is there, up to the first line that is not empty.
        """
        place = self._first + self._size
        while not self.is_live and (chunk := os.pread(self._descriptor, CHUNK, place)):
            if not chunk.isspace():
                return True
            place += len(chunk)
        return False

    def _waited_for(self) -> Any:
        waits, self._waits = self._waits, True
        try:
            self._ahead.append(next(self))
            return self._ahead[-1]
        except StopIteration:
            return None
        finally:
            self._waits = waits

    # --- reading -----------------------------------------------------------------------------------------------------

    def _fill(self) -> bool:
        """Read what is there; false where nothing is, and the engine does not wait."""
        if self.is_live:
            while not select.select([self._descriptor], [], [], OFTEN if self._waits else 0)[0]:
                for other in self.beside:
                    other.draw()
                if self._is_stopped:
                    return True
                if not self._waits:  # the engine looks itself whether it has to stop: what it took enters before
                    return False
                self._check()
        try:
            chunk = self._chunk()
        except BlockingIOError:
            return self._waits
        except OSError as error:
            raise cannot_read(self.file, error) from None
        self._place += len(chunk)
        if not chunk:
            self._has_ended = True
            last = b"".join(self._rest)
            self._rest = []
            if last:
                self._lines.append(last)
            return True
        first, *more = chunk.split(b"\n")
        self._rest.append(first)
        if more:
            self._lines.append(b"".join(self._rest))
            self._lines.extend(more[:-1])
            self._rest = more[-1:]
        elif sum(map(len, self._rest)) > LONGEST_LINE:
            self._number += 1
            raise self._bad(f"the line is longer than {LONGEST_LINE} bytes", FORM)
        return True

    def _chunk(self) -> bytes:
        """What comes next; a file's own position may be that of others as well, and stays where it is."""
        if self.is_live:
            return os.read(self._descriptor, CHUNK)
        return os.pread(self._descriptor, CHUNK, self._place)

    def _item(self, line: bytes) -> Any:
        """What a line says; None where it is empty, or was read by the run that this one continues."""
        self._number += 1
        if self._keeps:
            is_whole = self.is_live or not self._has_ended or bool(self._lines)
            self._between += line + b"\n" if is_whole else line
        if self._passing is not None:
            self._pass(self._passing)
            return None
        if line.endswith(b"\r"):
            line = line[:-1]
        if not line or line.isspace():
            return None
        item: Any
        try:
            item = self._read(line)
        except BadLine as error:
            refused = self._bad(error.message, error.hint)
            item = Refused(line.decode("utf-8", "replace"), refused, refused.place)
        if self._keeps:
            self._pending.append(_Read(bytes(self._between), self._number))
            self._between.clear()
        return item

    def _bad(self, message: str, hint: str) -> InputError:
        return InputError("PS731", self.file, self._number, message, hint)

    # --- going on ----------------------------------------------------------------------------------------------------

    def _go_to(self, start: Position) -> None:
        """Stand behind what was read: at a byte of a file, behind as many lines of a stream that begins anew."""
        if self.is_live:
            if start.lines:
                self._passing = start
            return
        if os.fstat(self._descriptor).st_size < self._first + start.bytes:
            raise self._other_file(start, "it is shorter")
        while self._size < start.bytes:
            self._check()
            chunk = os.pread(self._descriptor, min(MUCH, start.bytes - self._size), self._first + self._size)
            if not chunk:
                raise self._other_file(start, "it is shorter")
            self._digest.update(chunk)
            self._size += len(chunk)
        if self._digest.hexdigest() != start.mark:
            raise self._other_file(start, "it holds something else")
        self._number = self._entered = start.lines
        self._place = self._first + start.bytes

    def _pass(self, start: Position) -> None:
        """Pass over a line of a stream that was read before; the last of them shows whether it is the same stream."""
        self._digest.update(self._between)
        self._size += len(self._between)
        self._between.clear()
        if self._number == start.lines:
            if self._digest.hexdigest() != start.mark:
                raise self._other_file(start, "it holds something else")
            self._entered = self._number
            self._passing = None

    def _other_file(self, start: Position, how: str) -> InputError:
        what = f"this is not the input that was read up to line {start.lines}: {how}"
        return InputError("PS736", self.file, None, what, "the same input; or another DIR for --state")
