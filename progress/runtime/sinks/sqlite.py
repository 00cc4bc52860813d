"""A table of SQLite as a sink: `SqliteTable("totals.db", "totals")`."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from progress.errors import brief
from progress.runtime.sinks.place import Place
from progress.runtime.sinks.rows import Columns, Row
from progress.runtime.sinks.sql_table import APPLICATION, SqlTable

PATIENCE = 30.0  # seconds to wait for others that write to the file


class SqliteTable:
    """A table that keeps what leaves an edge, each value once, whatever is killed when.

    Parameters
    ----------
    path : the file of the database; it is made where there is none
    table : where it has the columns `time` and `value` alone, or is not there, these are JSON; any other table has
        rows, and values are mappings with names of its columns
    application : runs of different applications have nothing to do with each other

    Each bundle is one transaction, synced. A run that is not kept adds to the table.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from contextlib import closing
    >>> from pointstamp import Dataflow, SqliteTable, from_edges
    >>> flow = Dataflow(from_edges([(None, "double"), ("double", None)]), {"double": lambda value: 2 * value})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = SqliteTable(f"{folder}/numbers.db", "doubles")
    ...     found = flow.run(sources={"in->double": [(0, 3), (1, 4)]}, sinks={"double->out": table})
    ...     with closing(sqlite3.connect(f"{folder}/numbers.db")) as there:
    ...         there.execute("SELECT time, value FROM doubles").fetchall()
    [(0, 6), (1, 8)]
    """

    def __init__(self, path: str | os.PathLike[str], table: str, *, application: str = APPLICATION) -> None:
        self.path = Path(path)
        self.table = table
        self.application = application

    def sink_for(self, name: str) -> SqlTable:
        """The sink of a run."""
        where = Place(name, f"table {brief(self.table)} of {self.path}")
        return _Sqlite(where, self.table, self.application, self.path)


class _Sqlite(SqlTable):
    """The table of one edge, in one run."""

    def __init__(self, where: Place, table: str, application: str, path: Path) -> None:
        super().__init__(where, table, application)
        self._path = path

    def errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error, OverflowError, UnicodeEncodeError)

    def open(self) -> None:
        self.connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
        self.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        return self.connection.execute(statement, parameters)

    def insert(self, columns: Columns, rows: list[Row]) -> None:
        marks = ", ".join(["?"] * len(columns))
        self.connection.executemany(f"INSERT INTO {self.into(columns)} VALUES ({marks})", rows)

    def columns(self, table: str) -> list[str]:
        return [row[1] for row in self.execute(f"PRAGMA table_info({table})")]

    def make(self) -> None:
        self.execute(f"CREATE TABLE {self.target} (time NOT NULL, value NOT NULL)")
