"""Strands: mappings that are kept by their changes, as rows of the store.

A strand is changes one after the other. A commit adds some, and the last of them has a digest, which follows from that
of the commit before; so rows that are missing, moved, or hold another bit are found. A mapping is one strand, or all of
it as it once was and a strand of the changes since. Strands that nothing uses any more are deleted by and by.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from progress.runtime.durable.head import NO_CHAIN
from progress.runtime.durable.mappings.rows import Sum

TABLE = "CREATE TABLE strand (row INTEGER PRIMARY KEY, content BLOB, chain BLOB)"
ROWS = 1 << 32  # of a strand: row `place` of strand `number` is `number * ROWS + place`
AT_ONCE = 1 << 20  # bytes that are digested together: then other threads wait for no more than these are copied
SPARE = 64  # rows of no use that a commit deletes, besides twice as many as it adds


class Strand(NamedTuple):
    """A part of a mapping: its number, how many rows there are, and the digest that stands for them."""

    number: int
    rows: int = 0
    chain: bytes = NO_CHAIN


Strands = Mapping[str, Sequence[Strand]]  # by name of a mapping: changes, in the order in which they are taken in
Each = Callable[[str, bytes], None]  # told of every change of a mapping, by its name


class NotWhole(Exception):
    """A strand is not what its digests say; the text says what of it."""


def written(strands: Strands, sums: Mapping[str, Sum]) -> str:
    """Strands, and what is said of rows, as a text that stands for them."""
    told = {name: [(*each[:2], each.chain.hex()) for each in found] for name, found in strands.items()}
    return json.dumps([told, sums])


def read(text: str) -> tuple[dict[str, list[Strand]], dict[str, Sum]]:
    """The inverse of `written`."""
    told, sums = json.loads(text)
    strands = {
        name: [Strand(number, count, bytes.fromhex(chain)) for number, count, chain in found]
        for name, found in told.items()
    }
    return strands, {name: Sum(*found) for name, found in sums.items()}


def follows(before: bytes, contents: Iterable[bytes]) -> bytes:
    """The digest of what a commit adds to a strand. Cost: that of digesting it, in which other threads go on."""
    digest = hashlib.sha256(before)
    together: list[bytes] = []
    size = 0
    for content in contents:
        together += (len(content).to_bytes(8, "little"), content)
        size += len(content)
        if size >= AT_ONCE:
            digest.update(b"".join(together))
            together, size = [], 0
    digest.update(b"".join(together))
    return digest.digest()


def compared(rows: sqlite3.Connection, name: str, strand: Strand, each: Each) -> int:
    """The bytes that are in a strand; `NotWhole` where it is not what its digests say."""
    chain, place, size = NO_CHAIN, 0, 0
    together: list[bytes] = []
    for row, content, digest in _rows_of(rows, strand):
        if row != strand.number * ROWS + place:
            raise NotWhole(f"a change of {name!r} is missing")
        place += 1
        size += len(content)
        together.append(content)
        if digest is not None:
            chain, together = follows(chain, together), []
            if chain != digest:
                raise NotWhole(f"the digest of {name!r} does not fit")
        each(name, content)
    if together or (place, chain) != (strand.rows, strand.chain):
        raise NotWhole(f"a change of {name!r} is missing")
    return size


def contents(rows: sqlite3.Connection, strands: Iterable[Strand]) -> Iterator[bytes]:
    """The changes in some strands, in their order."""
    for strand in strands:
        for _, content, _ in _rows_of(rows, strand):
            yield content


def _rows_of(rows: sqlite3.Connection, strand: Strand) -> Iterator[tuple[int, bytes, bytes | None]]:
    first = strand.number * ROWS
    yield from rows.execute(
        "SELECT row, content, chain FROM strand WHERE row BETWEEN ? AND ? ORDER BY row",
        (first, first + strand.rows - 1),
    )


class Adding:
    """What a run adds to the strands of its store, from one commit to the next."""

    def __init__(self, rows: sqlite3.Connection, used: Iterable[int]) -> None:
        self._rows = rows
        self._added: dict[int, list[bytes]] = {}  # since `begin`, by number
        self._unused = set(_numbers(rows))  # those in use are among them
        places = rows.execute("SELECT coalesce(max(state), 0) FROM row").fetchone()[0]
        self._newest = max(self._unused.union(used, (places,)))  # one that is used may have no rows yet

    def begin(self) -> None:
        """The last commit has come to its end, or was given up."""
        self._added = {}

    def new(self) -> Strand:
        """A strand without rows."""
        self._newest += 1
        return Strand(self._newest)

    def add(self, strand: Strand, content: bytes) -> None:
        """A change more, behind all of a strand. Cost: that of copying it."""
        added = self._added.setdefault(strand.number, [])
        self._rows.execute(
            "INSERT INTO strand VALUES (?, ?, NULL)", (strand.number * ROWS + strand.rows + len(added), content)
        )
        added.append(content)

    def ended(self, strand: Strand) -> Strand:
        """A strand with what was added to it; the last row that was has its digest."""
        added = self._added.get(strand.number)
        if not added:
            return strand
        chain, count = follows(strand.chain, added), strand.rows + len(added)
        self._rows.execute("UPDATE strand SET chain = ? WHERE row = ?", (chain, strand.number * ROWS + count - 1))
        return Strand(strand.number, count, chain)

    def delete(self, used: set[int]) -> None:
        """Delete some rows of strands that are not used any more: not many, so that no commit takes long."""
        most = SPARE + 2 * sum(map(len, self._added.values()))
        for number in sorted(self._unused - used):
            first = number * ROWS
            found = self._rows.execute(
                "DELETE FROM strand WHERE row IN (SELECT row FROM strand WHERE row BETWEEN ? AND ? LIMIT ?)",
                (first, first + ROWS - 1, most),
            )
            most -= found.rowcount
            if most <= 0:
                return
            self._unused.discard(number)

    def let_go(self, strands: Iterable[Strand]) -> None:
        """Nothing uses these any more, once the commit that says so is there."""
        self._unused |= {each.number for each in strands}


def _numbers(rows: sqlite3.Connection) -> Iterator[int]:
    """The strands that have rows. Cost: O(log rows) for each."""
    row = 0
    while (found := rows.execute("SELECT min(row) FROM strand WHERE row >= ?", (row,)).fetchone()[0]) is not None:
        yield found // ROWS
        row = (found // ROWS + 1) * ROWS
