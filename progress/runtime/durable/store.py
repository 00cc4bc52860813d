"""The checkpoint of a kept run in one SQLite file, of which each commit is there as a whole or not (docs/running.md).

Parts are kept in pieces, each with its digest; a commit writes those that have changed, in one transaction with what is
known of the command and its files. Mappings that are kept by their changes are in strands (`strands.py`). The digests
of all pieces and strands and the link before make the link of a commit; the last link is in the head beside the store
as well (`head.py`). Whoever reads compares all of it, before anything is decoded: so a bit that is another one, a row
that is missing and a log that ends too early are found.

A store is claimed by a number: a run whose number is there no longer has been taken over, and commits nothing more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain as in_turn
from pathlib import Path
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, not_written
from progress.runtime.durable.head import NAME as HEAD
from progress.runtime.durable.head import NO_CHAIN, NO_SEED, PRIVATE_FILE, Head, HeadFile
from progress.runtime.durable.mappings import strands as of_strands
from progress.runtime.durable.mappings.rows import Rows, Sum
from progress.runtime.durable.mappings.strands import Adding, Strand, Strands
from progress.runtime.durable.stored import APPLICATION, NAME, SCHEMA, VERSION, Commit, Pieces, connected, link

if TYPE_CHECKING:
    from progress.runtime.durable.codec import Codec

PIECE = 1 << 18  # bytes that are written again where one of them has changed


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder outlive the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Store:
    """The store of the run that has its folder's lock.

    Parameters
    ----------
    folder : where it is
    commit : the last one, as `read` found it; None before the first
    seed : of Python's hashes, for the head
    """

    def __init__(self, folder: Path, commit: Commit | None, seed: str = NO_SEED) -> None:
        self._path = folder / NAME
        self._seed = seed
        self._number = 0 if commit is None else commit.number
        self._chain = NO_CHAIN if commit is None else commit.chain
        self._pieces: Pieces = {} if commit is None else commit.pieces
        self.strands: dict[str, list[Strand]] = {} if commit is None else commit.strands
        self.sums: dict[str, Sum] = {} if commit is None else commit.sums
        self._reader: sqlite3.Connection | None = None
        self._head = HeadFile(folder)
        try:
            self._head.begin(Head(self._number, self._chain, seed))
            self._rows = self._opened(folder)
        except BaseException:
            self._head.close()
            raise

    def _opened(self, folder: Path) -> sqlite3.Connection:
        """The database, claimed; and its name is on the disk."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        os.fchmod(handle, PRIVATE_FILE)  # the log will have the same rights
        os.close(handle)
        sync_folder(folder)
        with self._failing():
            rows = connected(self._path, "mode=rw")
            try:
                if rows.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                    raise sqlite3.OperationalError("its log cannot be written")
                rows.execute("PRAGMA synchronous = FULL")
                rows.execute("BEGIN IMMEDIATE")
                if rows.execute("PRAGMA user_version").fetchone()[0] == 0:
                    rows.execute(f"PRAGMA application_id = {APPLICATION}")
                    rows.execute(f"PRAGMA user_version = {VERSION}")
                    for _, sql in SCHEMA:
                        if sql is not None:
                            rows.execute(sql)
                    rows.execute("INSERT INTO kept VALUES (0, 0, ?, ?, '', '{}')", (NO_CHAIN, NO_CHAIN))
                rows.execute("UPDATE kept SET claim = claim + 1")
                self._claim = rows.execute("SELECT claim FROM kept").fetchone()[0]
                self._adding = Adding(rows, self._numbers())
                rows.execute("COMMIT")
            except BaseException:
                rows.close()
                raise
        return rows

    def _numbers(self) -> Iterator[int]:
        """Those that the last commit uses."""
        yield from (strand.number for strand in in_turn.from_iterable(self.strands.values()))
        yield from (found.place for found in self.sums.values())

    def write(self, known: dict[str, Any], parts: Mapping[str, bytes]) -> None:
        """Commit this instead of what was kept before; mappings stay as they are."""
        self.begin()
        self.commit(known, parts, self.strands, self.sums)

    def begin(self) -> None:
        """What is added from now on belongs to the next commit. Cost: O(1)."""
        self._adding.begin()
        with self._failing():
            self._rows.execute("BEGIN IMMEDIATE")
            if self._rows.execute("SELECT claim FROM kept").fetchone() != (self._claim,):
                self.give_up()
                raise taken_over(self._path.parent)

    def new_strand(self) -> Strand:
        """A strand without rows."""
        return self._adding.new()

    def add(self, strand: Strand, content: bytes) -> None:
        """A change more, behind all of a strand. Cost: that of copying it."""
        with self._failing():
            self._adding.add(strand, content)

    def rows(self, what: str, codec: Codec, most: int, there: Sum | None) -> Rows:
        """The rows of a mapping that is larger than memory: those that are there, or none yet."""
        if self._reader is None:
            with self._failing():
                self._reader = connected(self._path, "mode=ro")
        return Rows(what, self._reader, self._rows, codec, most, there or Sum(self._adding.new().number))

    def commit(
        self,
        known: dict[str, Any],
        parts: Mapping[str, bytes],
        strands: Strands,
        sums: Mapping[str, Sum],
        growing: Sequence[Strand] = (),
    ) -> list[Strand]:
        """Commit what was added and this; `strands` and `sums` are of what is of use, `growing` will be.

        The answer is `growing`, as these are now. Cost: a digest of all that is new and of `parts`, and writing what
        differs, while other threads go on. Whatever goes wrong, what was committed before is there.
        """
        try:
            with self._failing():
                now = {name: [self._adding.ended(strand) for strand in found] for name, found in strands.items()}
                grown = [self._adding.ended(strand) for strand in growing]
                self._adding.delete({strand.number for strand in in_turn.from_iterable((*now.values(), grown))})
                text, told, number = json.dumps(known), of_strands.written(now, sums), self._number + 1
                contents = {
                    (part, place): content[place * PIECE : (place + 1) * PIECE]
                    for part, whole in parts.items()
                    for content in (memoryview(whole),)
                    for place in range(max(1, -(-len(whole) // PIECE)))
                }
                pieces = {key: hashlib.sha256(content).digest() for key, content in contents.items()}
                changed = [(*key, pieces[key], contents[key]) for key in pieces if pieces[key] != self._pieces.get(key)]
                chain = link(self._chain, number, text, told, pieces)
                unused = {each.place for each in self.sums.values()} - {each.place for each in sums.values()}
                self._rows.executemany("DELETE FROM row WHERE state = ?", [(place,) for place in unused])
                self._rows.executemany(
                    "DELETE FROM piece WHERE part = ? AND place = ?", [*self._pieces.keys() - pieces.keys()]
                )
                self._rows.executemany("INSERT OR REPLACE INTO piece VALUES (?, ?, ?, ?)", changed)
                self._rows.execute(
                    "UPDATE kept SET number = ?, before = ?, chain = ?, known = ?, strands = ?",
                    (number, self._chain, chain, text, told),
                )
                self._rows.execute("COMMIT")
        except BaseException:
            self.give_up()
            raise
        self._adding.let_go(strand for found in self.strands.values() for strand in found)
        self._number, self._chain, self._pieces, self.strands, self.sums = number, chain, pieces, now, dict(sums)
        try:
            self._head.put(Head(number, chain, self._seed))
        except OSError as error:
            raise not_written(str(self._path.with_name(HEAD)), error) from None
        return grown

    def give_up(self) -> None:
        """Nothing of what was added since `begin` is kept."""
        with suppress(sqlite3.Error):
            self._rows.execute("ROLLBACK")

    def changes(self, name: str) -> Iterator[bytes]:
        """The changes of a mapping, in their order, as they are kept."""
        with self._failing():
            yield from of_strands.contents(self._rows, self.strands.get(name, ()))

    def compact(self) -> None:
        """Write all of it anew, without the room that nothing is in; killed meanwhile it is what it was."""
        with self._failing():
            self._rows.execute("PRAGMA temp_store = DEFAULT")  # the copy may be larger than memory
            self._rows.execute("VACUUM")
            self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What the disk refuses, in words."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise taken_over(self._path.parent) from None
            words = {"SQLITE_FULL": os.strerror(28), "SQLITE_CANTOPEN": "it cannot be opened"}.get(name, str(error))
            raise not_written(str(self._path), OSError(0, words)) from None

    def close(self) -> None:
        """Let the files go; what is in the log is moved into the database, if nothing keeps it from that."""
        for rows in (self._rows, self._reader):
            with suppress(sqlite3.Error):
                if rows is not None:
                    rows.close()
        self._head.close()


def taken_over(folder: Path) -> PointstampError:
    """Another run has the store, though this one had the lock."""
    return PointstampError(
        "PS738",
        f"another run has taken over the state in {folder}",
        "one run at a time; this one keeps nothing more",
    )
