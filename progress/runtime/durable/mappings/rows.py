"""The values of a `State` that is larger than memory, as rows of the store, by key.

A row is read when it is asked for; of those that were read as many stay in memory as the `State` says. What
changes stays in the layers above (`layers.py`) and in a strand of changes, until it is worth while to put all of it
into rows: in the transaction of one checkpoint. So rows are those of the last checkpoint that did so, whatever is
killed when, and reading them does not wait for one that is being taken.

How many rows there are, and a digest that does not depend on their order, stand with the commit: whoever reads the
store compares them.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.runtime.durable.encoding.form import NotPlain, NotRead
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import encoded
from progress.runtime.state import ABSENT, GONE

if TYPE_CHECKING:
    from progress.runtime.durable.codec import Codec

TABLE = "CREATE TABLE row (state INTEGER, key BLOB, number INTEGER, value BLOB, PRIMARY KEY (state, key)) WITHOUT ROWID"
INDEX = "CREATE UNIQUE INDEX row_number ON row (state, number)"
DIGEST = 16  # bytes
KEYS = frozenset({str, int, bytes, type(None)})  # those of which equal ones are equal bytes, and tuples of them
BATCH = 256  # rows that are read together where all are asked for


class Sum(NamedTuple):
    """Of the rows of one `State`: where they are, how many, what stands for all of them, the number of the newest."""

    place: int
    size: int = 0
    digest: int = 0
    newest: int = 0

    def changed(self, by: int, row: bytes) -> Sum:
        """With a row more, or one less."""
        return self._replace(size=self.size + by, digest=self.digest ^ int.from_bytes(row, "little"))


def digest_of(key: bytes, number: int, value: bytes) -> bytes:
    """What stands for one row."""
    found = hashlib.sha256(len(key).to_bytes(8, "little") + key + number.to_bytes(8, "little") + value)
    return found.digest()[:DIGEST]


def sum_of(rows: sqlite3.Connection, place: int, each: Callable[[bytes, bytes], None]) -> Sum:
    """What is there of a `State`; `each` is told of every row, in the order of the mapping. Cost: reading them."""
    found = Sum(place)
    asked = rows.execute("SELECT key, number, value FROM row WHERE state = ? ORDER BY number", (place,))
    for key, number, value in asked:
        found = found.changed(1, digest_of(key, number, value))._replace(newest=number)
        each(key, value)
    return found


class Rows:
    """The rows of one `State`, as the last checkpoint has them: a mapping that is read, and changed by checkpoints.

    Parameters
    ----------
    what : the state is, for a complaint
    reader : a connection that sees what is committed
    writer : the one that commits
    codec : of keys and values
    most : how many values stay in memory
    sum : of what is there
    """

    def __init__(
        self,
        what: str,
        reader: sqlite3.Connection,
        writer: sqlite3.Connection,
        codec: Codec,
        most: int,
        sum: Sum,
    ) -> None:
        self.sum = self.next = sum  # as the last checkpoint has it, and as the next one will
        self.most = most
        self._what = what
        self._reader = reader
        self._writer = writer
        self._codec = codec
        self._known: dict[Any, Any] = {}  # values that were read

    # --- reading -----------------------------------------------------------------------------------------------------

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key. Cost: that of reading a row, where it is not one of those read last."""
        found = self._known.get(key, ABSENT)
        if found is ABSENT:
            found = self._read(key)
            if len(self._known) >= self.most:
                del self._known[next(iter(self._known))]
            self._known[key] = found
        return default if found is GONE else found

    def _read(self, key: Any) -> Any:
        rows = self._asked(
            "SELECT value FROM row WHERE state = ? AND key = ? AND number <= ?",
            (self.sum.place, self._written(key), self.sum.newest),
        )
        return self._codec.read(self._what, rows[0][0]) if rows else GONE

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key, ABSENT)
        if found is ABSENT:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[Any]:
        return self._keys("> ? ORDER BY number", 0)

    def __reversed__(self) -> Iterator[Any]:
        return self._keys("< ? ORDER BY number DESC", self.sum.newest + 1)

    def _keys(self, those: str, last: int) -> Iterator[Any]:
        place, newest = self.sum.place, self.sum.newest
        asked = f"SELECT key, number FROM row WHERE state = ? AND number <= ? AND number {those} LIMIT {BATCH}"
        while found := self._asked(asked, (place, newest, last)):
            for key, _ in found:
                yield key_read(key)
            last = found[-1][1]

    def _asked(self, question: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self._reader.execute(question, values).fetchall()
        except sqlite3.ProgrammingError:  # it is closed
            what = f"{self._what} is a State with in_memory=, and its run is over"
            raise PointstampError("PS715", what, "it is read by nodes, as in on_notify; or no in_memory=") from None

    def _written(self, key: Any) -> bytes:
        try:
            return encoded(_apart(key), lambda value: None)
        except (ValueError, RecursionError, NotPlain):
            what = f"{self._what} is a State with in_memory=, and has the key {brief(key)}"
            raise PointstampError("PS715", what, "a text, a whole number, bytes, None or a tuple of these") from None

    # --- changing ----------------------------------------------------------------------------------------------------

    def put(self, key: Any, value: Any, *, is_moved: bool) -> None:
        """Change a row in the transaction of the next checkpoint; `GONE` deletes it. Cost: that of a few rows."""
        written = self._written(key)
        place = (self.sum.place, written)
        before = self._writer.execute("SELECT number, value FROM row WHERE state = ? AND key = ?", place).fetchall()
        number = self.next.newest + 1
        if before:
            self.next = self.next.changed(-1, digest_of(written, *before[0]))
            self._writer.execute("DELETE FROM row WHERE state = ? AND key = ?", place)
            if not is_moved:
                number = before[0][0]
        if value is not GONE:
            content = self._codec.write(self._what, lambda: value)
            self._writer.execute("INSERT INTO row VALUES (?, ?, ?, ?)", (*place, number, content))
            newest = max(number, self.next.newest)
            self.next = self.next.changed(1, digest_of(written, number, content))._replace(newest=newest)

    def committed(self, keys: Any) -> None:
        """What was put is there: what was read of these keys before is no more."""
        self.sum = self.next
        for key in keys:
            self._known.pop(key, None)


def _apart(key: Any) -> Any:
    """A key of which no part is another one once more: so equal keys are equal bytes."""
    if type(key) is tuple:
        return tuple(map(_apart, key))
    if type(key) not in KEYS:
        raise ValueError
    return key


class _Simple:
    """What is in a key is of no other kind."""

    def made(self, name: str, made_of: Any) -> Any:
        """Nothing is."""
        raise NotRead(f"there is no {name!r} in a key")

    def begun(self, name: str) -> Any:
        """Nothing is."""
        raise NotRead(f"there is no {name!r} in a key")


def key_read(content: bytes) -> Any:
    """The key that these bytes are; `NotRead` where they are none."""
    return decoded(content, _Simple())
