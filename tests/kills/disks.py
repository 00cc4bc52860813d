"""What may be on a disk when the power goes, rebuilt from what was written and synced up to then.

A trace is what `calls.c` writes down. A file has contents that were synced, and writes since, of which a disk may have
any, in pieces of a sector; what a file has grown by may be there without its contents. A name that was made, moved or
removed is on the disk when the folder it is in was synced, or before that, in the order in which this was done.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

SECTOR = 512


class Loss(Enum):
    """What becomes of what was not synced."""

    KEPT = "all of it is there"
    DROPPED = "nothing of it is there"
    TORN = "it is there up to some sector of some write"
    SCATTERED = "any sectors of it are there"
    EMPTY = "what files have grown by is there as zeros"


class Operation(NamedTuple):
    """One call of the system that changed files: `at` is a place in a file, or its size."""

    what: str
    path: Path
    other: Path
    at: int
    content: bytes


def operations(trace: bytes, folder: Path) -> list[Operation]:
    """What was done, of a run that had its files in a folder; what is shared memory of SQLite is of no use."""
    found, place = [], 0
    while place < len(trace):
        end = trace.index(b"\n", place)
        what, *numbers = trace[place:end].decode().split()
        path, other, at, size = map(int, numbers)
        place = end + 1
        texts = []
        for length in (path, other, size):
            texts.append(trace[place : place + length])
            place += length
        operation = Operation(what, folder / texts[0].decode(), folder / texts[1].decode(), at, texts[2])
        if operation.path.is_relative_to(folder) and not operation.path.name.endswith("-shm"):
            found.append(operation)
    return found


class File:
    """What one file holds, and what of that is on the disk."""

    def __init__(self) -> None:
        self.content = b""
        self._synced = b""
        self._since: list[tuple[int, bytes | None]] = []  # writes, and sizes where there is nothing that is written

    def change(self, at: int, content: bytes | None) -> None:
        """A write, or where nothing is written another size."""
        self.content = _changed(self.content, at, content)
        self._since.append((at, content))

    def sync(self) -> None:
        """What it holds is on the disk."""
        self._synced, self._since = self.content, []

    def after(self, loss: Loss, rng: random.Random) -> bytes:
        """What may be on the disk."""
        if loss is Loss.KEPT:
            return self.content
        found = self._synced
        if loss is Loss.EMPTY:
            for at, content in self._since:
                new = b"" if content is None else content
                known = max(0, min(len(new), len(self._synced) - at))
                found = _changed(found, at, None if content is None else new[:known] + bytes(len(new) - known))
        elif loss is not Loss.DROPPED:
            pieces = [piece for change in self._since for piece in _sectors(*change)]
            most = rng.randint(0, len(pieces))
            for number, piece in enumerate(pieces):
                if number < most if loss is Loss.TORN else rng.random() < 0.5:
                    found = _changed(found, *piece)
        return found


def _changed(before: bytes, at: int, content: bytes | None) -> bytes:
    whole = before[:at] + bytes(max(0, at - len(before)))
    return whole if content is None else whole + content + before[at + len(content) :]


def _sectors(at: int, content: bytes | None) -> Iterator[tuple[int, bytes | None]]:
    """A write in pieces, none of which crosses the border of a sector."""
    if content is None:
        yield at, None
        return
    done = 0
    while done < len(content):
        end = done + SECTOR - (at + done) % SECTOR
        yield at + done, content[done:end]
        done = end


class Disk:
    """The files of a folder while a trace is done again; the folder is there from the beginning."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[Path, File | None] = {folder: None}  # by name; None: a folder
        self._synced: dict[Path, File | None] = dict(self.files)
        self._since: list[Callable[[dict[Path, File | None]], None]] = []  # what was done to names since
        self._in: list[set[Path]] = []  # the folders that this concerns

    def do(self, operation: Operation) -> None:
        """Do one operation."""
        what, path, other, at, content = operation
        if what == "mkdir":
            self._name(lambda names: names.update({path: None}), path)
        elif what in ("open", "empty"):
            if path not in self.files:
                made = File()
                self._name(lambda names: names.update({path: made}), path)
            if what == "empty":
                self._file(path).change(0, None)
        elif what == "write":
            self._file(path).change(at, content)
        elif what == "truncate":
            self._file(path).change(at, None)
        elif what == "unlink":
            self._name(lambda names: names.pop(path, None), path)
        elif what == "rename":
            moved = self._file(path)
            self._name(lambda names: (names.pop(path, None), names.update({other: moved})), path, other)
        elif (file := self.files.get(path)) is not None:
            file.sync()
        else:
            self._sync_names(path)

    def content(self, path: Path) -> bytes:
        """What a file holds, as whoever reads it sees before the power goes; nothing where there is none."""
        found = self.files.get(path)
        return b"" if found is None else found.content

    def _file(self, path: Path) -> File:
        found = self.files[path]
        assert found is not None
        return found

    def _name(self, change: Callable[[dict[Path, File | None]], object], *paths: Path) -> None:
        change(self.files)
        self._since.append(change)  # type: ignore[arg-type]
        self._in.append({path.parent for path in paths})

    def _sync_names(self, folder: Path) -> None:
        """What was done to names of a folder is on the disk."""
        left = []
        for change, folders in zip(self._since, self._in, strict=True):
            if folder in folders:
                change(self._synced)
            else:
                left.append((change, folders))
        self._since = [change for change, _ in left]
        self._in = [folders for _, folders in left]

    def after(self, loss: Loss, rng: random.Random) -> dict[Path, bytes | None]:
        """What may be on the disk: contents of files by name, None for folders."""
        names = dict(self._synced)
        if loss is Loss.KEPT:
            names = dict(self.files)
        elif loss is not Loss.DROPPED:
            for change in self._since[: rng.randint(0, len(self._since))]:
                change(names)
        reached = {path for path in names if all(each in names for each in path.parents if each in self.files)}
        return {path: None if (file := names[path]) is None else file.after(loss, rng) for path in sorted(reached)}
