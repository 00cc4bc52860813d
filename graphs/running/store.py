"""The checkpoint of a kept run in one SQLite file, of which each commit is there as a whole or not (docs/running.md).

Parts are kept in pieces, each with its digest; a commit writes those that have changed, in one transaction with what is
known of the command and its files. The digests of all pieces and the link before make the link of a commit; the last
link is in the head beside the store as well (`graphs.running.head`). Whoever reads compares all of it, before anything
is decoded: so a bit that is another one, a row that is missing and a log that ends too early are found.

A store is claimed by a number: a run whose number is there no longer has been taken over, and commits nothing more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from graphs.running.head import NAME as HEAD
from graphs.running.head import NO_CHAIN, NO_SEED, Head, HeadFile, read_head
from graphs.terminal import not_written
from progress.errors import PointstampError

NAME = "checkpoint"
MAGIC, EARLIER = b"SQLite format 3\0", b"pointstamp state"
LOGGED, BEGIN = b"\x02\x02", 20  # what stands at the end of the first bytes of a database that has a log
APPLICATION, VERSION = 0x70737470, 4  # what `PRAGMA application_id` and `user_version` say
PIECE = 1 << 18  # bytes that are written again where one of them has changed
LARGEST = 1 << 62
PRIVATE_FILE = 0o600
SCHEMA = [
    ("kept", "CREATE TABLE kept (claim INTEGER, number INTEGER, before BLOB, chain BLOB, known TEXT)"),
    ("piece", "CREATE TABLE piece (part TEXT, place INTEGER, digest BLOB, content BLOB, PRIMARY KEY (part, place))"),
    ("sqlite_autoindex_piece_1", None),
]
Pieces = dict[tuple[str, int], bytes]  # digests by part and place


class Damaged(Exception):
    """What is there cannot be relied on; the text says why."""


class Commit(NamedTuple):
    """One commit, as it was read; `pieces` are the digests by part and place."""

    number: int
    before: bytes
    chain: bytes
    known: Any
    parts: dict[str, bytes]
    pieces: Pieces


def link(before: bytes, number: int, known: str, pieces: Mapping[tuple[str, int], bytes]) -> bytes:
    """The digest that stands for a commit and all those before it. Cost: O(pieces)."""
    rows = [[part, place, digest.hex()] for (part, place), digest in sorted(pieces.items())]
    return hashlib.sha256(before + json.dumps([number, known, rows]).encode()).digest()


def read(folder: Path, *, is_used: bool = False) -> Commit | None:
    """The last commit, compared with its digests and its head; None before the first. It changes no file.

    `is_used` says that a run may write to it meanwhile.

    Raises `Damaged`, and `OSError` where a file cannot be read. Cost: that of reading all that is kept.
    """
    path = folder / NAME
    begin = _begin(path)
    if begin.startswith(EARLIER):
        raise Damaged("checkpoint is of an earlier version of pointstamp, and only that reads it")
    if begin and not begin.startswith(MAGIC):
        raise Damaged("checkpoint begins with something else")
    try:
        head = read_head(folder)
    except FileNotFoundError:
        if begin:
            raise Damaged(f"{HEAD} is missing") from None
        head = Head()
    if not begin:
        if head is not None and head.number:
            raise Damaged("checkpoint is missing, or empty")
        return None
    if head is None:
        raise Damaged(f"{HEAD} does not say what one says")
    if head.number == 0 and begin[-2:] != LOGGED:
        return None  # it was being made
    if begin[-2:] != LOGGED:
        raise Damaged("checkpoint does not say that it has a log")
    has_log = bool(_begin(Path(f"{path}-wal")))
    with _refusing(), closing(_connected(path, "mode=ro" if has_log or is_used else "immutable=1")) as rows:
        commit = _read(rows)
    _compare(commit, head)
    return commit


def _compare(commit: Commit | None, head: Head) -> None:
    """Refuse a store that is not the one of its head; after a power cut it may be further."""
    number = 0 if commit is None else commit.number
    if number < head.number:
        raise Damaged(f"checkpoint is behind its {HEAD}: what was written last is missing")
    if commit is None:
        return
    if number == head.number and commit.chain != head.chain:
        raise Damaged(f"checkpoint is another one than that of its {HEAD}")
    if number == head.number + 1 and commit.before != head.chain:
        raise Damaged(f"checkpoint does not follow from its {HEAD}")


def _begin(path: Path) -> bytes:
    """The first bytes of a file; none where there is no file."""
    try:
        with path.open("rb") as file:
            return file.read(BEGIN)
    except FileNotFoundError:
        return b""


@contextmanager
def _refusing() -> Iterator[None]:
    """Whatever SQLite says of a file that it reads, and whatever has not the form that is written, is damage."""
    try:
        yield
    except sqlite3.Error as error:
        raise Damaged(f"checkpoint cannot be read: {error}") from None
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise Damaged("checkpoint does not say what one says") from None


def _connected(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{how}"
    rows = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"):
        rows.execute(f"PRAGMA {setting}")
    return rows


def _read(rows: sqlite3.Connection) -> Commit | None:
    rows.execute("BEGIN")  # all of it from one commit
    version = rows.execute("PRAGMA user_version").fetchone()[0]
    schema = rows.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
    if (version, schema) == (0, []):
        return None
    if rows.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise Damaged("checkpoint is a database of something else")
    if version != VERSION:
        raise Damaged(f"checkpoint is of version {version}, and this pointstamp reads {VERSION}")
    if schema != SCHEMA:
        raise Damaged("checkpoint has other tables than one has")
    found = rows.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise Damaged(f"checkpoint is not whole: {found}")
    ((number, before, chain, text),) = rows.execute("SELECT number, before, chain, known FROM kept").fetchall()
    if number == 0:
        return None
    pieces: Pieces = {}
    parts: dict[str, list[bytes]] = {}
    for part, place, digest, content in rows.execute("SELECT * FROM piece ORDER BY part, place"):
        if hashlib.sha256(content).digest() != digest:
            raise Damaged(f"the digest of {part!r} does not fit")
        if place != len(parts.setdefault(part, [])):
            raise Damaged(f"a piece of {part!r} is missing")
        parts[part].append(content)
        pieces[part, place] = digest
    if link(before, number, text, pieces) != chain:
        raise Damaged("its digest does not fit")
    return Commit(
        number, before, chain, json.loads(text), {part: b"".join(found) for part, found in parts.items()}, pieces
    )


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
        folder_handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(folder_handle)
        finally:
            os.close(folder_handle)
        with self._failing():
            rows = _connected(self._path, "mode=rw")
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
                    rows.execute("INSERT INTO kept VALUES (0, 0, ?, ?, '')", (NO_CHAIN, NO_CHAIN))
                rows.execute("UPDATE kept SET claim = claim + 1")
                self._claim = rows.execute("SELECT claim FROM kept").fetchone()[0]
                rows.execute("COMMIT")
            except BaseException:
                rows.close()
                raise
        return rows

    def write(self, known: dict[str, Any], parts: Mapping[str, bytes]) -> None:
        """Commit this instead of what was kept before. Cost: a digest of all, and writing the pieces that differ."""
        text = json.dumps(known)
        contents = {
            (part, place): content[place * PIECE : (place + 1) * PIECE]
            for part, whole in parts.items()
            for content in (memoryview(whole),)
            for place in range(max(1, -(-len(whole) // PIECE)))
        }
        pieces = {key: hashlib.sha256(content).digest() for key, content in contents.items()}
        changed = [(*key, pieces[key], contents[key]) for key in pieces if pieces[key] != self._pieces.get(key)]
        number = self._number + 1
        chain = link(self._chain, number, text, pieces)
        with self._failing():
            self._rows.execute("BEGIN IMMEDIATE")
            try:
                if self._rows.execute("SELECT claim FROM kept").fetchone() != (self._claim,):
                    raise taken_over(self._path.parent)
                self._rows.executemany(
                    "DELETE FROM piece WHERE part = ? AND place = ?", [*self._pieces.keys() - pieces.keys()]
                )
                self._rows.executemany("INSERT OR REPLACE INTO piece VALUES (?, ?, ?, ?)", changed)
                self._rows.execute(
                    "UPDATE kept SET number = ?, before = ?, chain = ?, known = ?", (number, self._chain, chain, text)
                )
                self._rows.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._rows.execute("ROLLBACK")
                raise
        self._number, self._chain, self._pieces = number, chain, pieces
        try:
            self._head.put(Head(number, chain, self._seed))
        except OSError as error:
            raise not_written(str(self._path.with_name(HEAD)), error) from None

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
        with suppress(sqlite3.Error):
            self._rows.close()
        self._head.close()


def taken_over(folder: Path) -> PointstampError:
    """Another run has the store, though this one had the lock."""
    return PointstampError(
        "PS738",
        f"another run has taken over the state in {folder}",
        "one run at a time; this one keeps nothing more",
    )
