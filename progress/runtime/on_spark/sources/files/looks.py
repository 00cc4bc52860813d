"""What each look at a folder has found, written down before it is handed on.

Which files come together, and in which order, decides which rows are late. A process that goes on after a kill would
find all of them at once, so rows that were late would be on time at a time that is released already, and be nowhere
(*Delivery, consistency, and determinism*, Theorem 1: what a replay may make otherwise must not be released before it
can be recovered). So a look is a line of a file, on the disk before any of it enters the run, and is replayed as it
was.

A kill while a line is written leaves a part of it at the end: that look was not handed on, and is taken anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from progress.errors import PointstampError, brief


class Look(NamedTuple):
    """What is new in a folder.

    names : files that are messages
    markers : files that say that a time is complete
    is_last : nothing comes after it
    columns : of all files so far, as JSON; None where they are given
    refused : files that cannot be read, by name: the code of the error, what it says, and what would be right
    """

    names: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    is_last: bool = False
    columns: str | None = None
    refused: dict[str, list[str]] = {}  # noqa: RUF012 - of a tuple, and nobody changes it

    @property
    def all(self) -> list[str]:
        """The names of all that is new."""
        return [*self.names, *self.markers, *self.refused]


class Looks:
    """The looks of one source in one run; in memory only, and forgotten, where the run is not kept.

    Parameters
    ----------
    path : of the file; None: the run is not kept
    edge : whose source it is
    """

    def __init__(self, path: Path | None, edge: str) -> None:
        self._path = path
        self._edge = edge
        self.count = 0

    def begin(self) -> None:
        """A run begins that continues none: what a run that never began has left is of no use."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def written(self, wanted: int) -> list[Look]:
        """The looks of the processes before, at least as many as the position in the checkpoint says (PS736)."""
        found: list[Look] = []
        if self._path is not None and self._path.exists():
            content = self._path.read_bytes()
            whole = content.rfind(b"\n") + 1
            found = [_look(line) for line in content[:whole].splitlines()]
            if whole < len(content):
                os.truncate(self._path, whole)
        if len(found) < wanted:
            where = "" if self._path is None else f" in {self._path}"
            what = f"the source of {brief(self._edge)} has {len(found)} looks{where}, and {wanted} are behind the run"
            raise PointstampError("PS736", what, "the --state as it was; or another DIR, and other outputs")
        self.count = len(found)
        return found

    def add(self, look: Look) -> int:
        """Write a look down; its number. Cost: a line that is forced to the disk."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            line = json.dumps(look._asdict(), ensure_ascii=True) + "\n"
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                rest = memoryview(line.encode())
                while rest:
                    rest = rest[os.write(file, rest) :]
                os.fsync(file)
            finally:
                os.close(file)
        self.count += 1
        return self.count - 1


def _look(line: bytes) -> Look:
    known = json.loads(line)
    return Look(**{**known, "names": tuple(known["names"]), "markers": tuple(known["markers"])})
