"""The file of a trace: its lines, where it ends, and the session after any of them (`graphs.sessions.replay`)."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from graphs.arguments import InFile
from graphs.files.standard_input import cannot_read, standard_input
from graphs.graph import Graph
from graphs.sessions.replay import LONGEST_TRACE_LINE, Replay, of_another_graph
from graphs.sessions.torn import said_of_torn
from graphs.terminal import bad_usage, complain
from progress.errors import PointstampError
from progress.tracking.refusal import Refusal

JUDGED = 1_000  # lines after the one that is asked for, by which a trace of another graph is known


class Lines:
    """The lines of a file that may grow, and that is gone through from any place."""

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


def played(path: str, graph: Graph, until: int | None, option: str) -> Replay:
    """The session of a trace, `-` for standard input, at its end or after the line that an option asks for.

    Refused, with its place: damage (PS513), a trace of another graph (PS513), a line that it does not have. A last line
    that is torn is no damage: what is before it counts, and that is said on stderr.
    """
    replay = Replay(graph)
    try:
        with ExitStack() as opened:
            lines = standard_input() if path == "-" else opened.enter_context(Path(path).open("rb"))
            replay.play(lines, until)
            if replay.is_of_another_graph() and _goes_on_so(replay, lines):
                raise of_another_graph()
    except PointstampError as error:
        raise InFile(path if error.line is None else f"{path}:{error.line}", error) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from None
    if until is not None and replay.line < until:
        raise bad_usage(f"--{option} {until}: {path} has {replay.line} lines", "a line of the trace")
    if replay.is_torn:
        complain(f"pointstamp: {said_of_torn(path, replay.line + 1)}")
    return replay


def _goes_on_so(replay: Replay, lines: BinaryIO) -> bool:
    """Whether nothing fits the graph in the lines that follow, either."""
    ahead = Replay.go_on(replay.graph, replay.standing())
    with suppress(PointstampError):  # damage that nobody asked for
        ahead.play(lines, ahead.line + JUDGED)
    return ahead.is_of_another_graph()


def cut(line: int) -> Refusal:
    """The complaint about a file that lost what was read of it."""
    error = Refusal("PS513", "the trace has become shorter since it was opened", "open it again")
    error.line = line
    return error
