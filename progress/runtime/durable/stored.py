"""What a store has, read and compared with its digests and its head before anything of it is decoded; no file changes.

The form is that of `store.py`, which writes it: tables, digests of pieces, and the link of a commit, which follows from
that of the commit before.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from progress.runtime.durable.head import NAME as HEAD
from progress.runtime.durable.head import Head, read_head
from progress.runtime.durable.mappings import rows as of_rows
from progress.runtime.durable.mappings import strands as of_strands
from progress.runtime.durable.mappings.rows import Sum
from progress.runtime.durable.mappings.strands import Each, NotWhole, Strand

NAME = "checkpoint"
MAGIC, EARLIER = b"SQLite format 3\0", b"pointstamp state"
LOGGED, BEGIN = b"\x02\x02", 20  # what stands at the end of the first bytes of a database that has a log
APPLICATION, VERSION = 0x70737470, 5  # what `PRAGMA application_id` and `user_version` say
SCHEMA = [
    ("kept", "CREATE TABLE kept (claim INTEGER, number INTEGER, before BLOB, chain BLOB, known TEXT, strands TEXT)"),
    ("piece", "CREATE TABLE piece (part TEXT, place INTEGER, digest BLOB, content BLOB, PRIMARY KEY (part, place))"),
    ("row", of_rows.TABLE),
    ("row_number", of_rows.INDEX),
    ("sqlite_autoindex_piece_1", None),
    ("strand", of_strands.TABLE),
]
Pieces = dict[tuple[str, int], bytes]  # digests by part and place
EachRow = Callable[[str, bytes, bytes], None]  # told of the mapping, the key and the value of a row


class Damaged(Exception):
    """What is there cannot be relied on; the text says why."""


class Commit(NamedTuple):
    """One commit, as it was read: `pieces` are the digests by part and place, `sizes` the bytes of each mapping.

    A mapping is in strands, and where it is larger than memory also in rows, of which `sums` has what stands for them.
    """

    number: int
    before: bytes
    chain: bytes
    known: Any
    parts: dict[str, bytes]
    pieces: Pieces
    strands: dict[str, list[Strand]]
    sums: dict[str, Sum]
    sizes: dict[str, int]


def link(before: bytes, number: int, known: str, strands: str, pieces: Mapping[tuple[str, int], bytes]) -> bytes:
    """The digest that stands for a commit and all those before it. Cost: O(pieces)."""
    rows = [[part, place, digest.hex()] for (part, place), digest in sorted(pieces.items())]
    return hashlib.sha256(before + json.dumps([number, known, strands, rows]).encode()).digest()


def read(
    folder: Path,
    *,
    is_used: bool = False,
    each: Each = lambda name, content: None,
    each_row: EachRow = lambda name, key, value: None,
) -> Commit | None:
    """The last commit, compared with its digests and its head; None before the first. It changes no file.

    `is_used` says that a run may write to it meanwhile. `each` is told of every change of a mapping, in their order,
    `each_row` of every row.

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
    with _refusing(), closing(connected(path, "mode=ro" if has_log or is_used else "immutable=1")) as rows:
        commit = _read(rows, each, each_row)
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
    """The first bytes of a file; none where there is no file, or a power cut has left zeros of what was begun."""
    try:
        with path.open("rb") as file:
            found = file.read(BEGIN)
    except FileNotFoundError:
        return b""
    return found if found.strip(b"\0") else b""


@contextmanager
def _refusing() -> Iterator[None]:
    """Whatever SQLite says of a file that it reads, and whatever has not the form that is written, is damage."""
    try:
        yield
    except sqlite3.Error as error:
        raise Damaged(f"checkpoint cannot be read: {error}") from None
    except NotWhole as error:
        raise Damaged(str(error)) from None
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise Damaged("checkpoint does not say what one says") from None


def connected(path: Path, how: str) -> sqlite3.Connection:
    """A database, opened in some way, of which nothing is trusted."""
    uri = f"{path.absolute().as_uri()}?{how}"
    rows = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"):
        rows.execute(f"PRAGMA {setting}")
    return rows


def _read(rows: sqlite3.Connection, each: Each, each_row: EachRow) -> Commit | None:
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
    ((number, before, chain, text, told),) = rows.execute(
        "SELECT number, before, chain, known, strands FROM kept"
    ).fetchall()
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
    if link(before, number, text, told, pieces) != chain:
        raise Damaged("its digest does not fit")
    strands, sums = of_strands.read(told)
    sizes = {
        name: sum(of_strands.compared(rows, name, strand, each) for strand in found) for name, found in strands.items()
    }
    for name, expected in sums.items():
        sizes[name] += _compare_rows(rows, name, expected, each_row)
    whole = {part: b"".join(found) for part, found in parts.items()}
    return Commit(number, before, chain, json.loads(text), whole, pieces, strands, sums, sizes)


def _compare_rows(rows: sqlite3.Connection, name: str, expected: Sum, each_row: EachRow) -> int:
    """Compare the rows of a mapping with what stands for them; the bytes that are in them."""
    size = 0

    def counted(key: bytes, value: bytes) -> None:
        nonlocal size
        size += len(key) + len(value)
        each_row(name, key, value)

    found = of_rows.sum_of(rows, expected.place, counted)
    if found[:3] != expected[:3] or found.newest > expected.newest:
        raise Damaged(f"the digest of {name!r} does not fit")
    return size
