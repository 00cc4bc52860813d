"""A table of a database as a sink: each bundle is one transaction, which replaces the stamp of the bundle before.

The stamps are in the table `pointstamp_last` beside it: a row for each table, application and edge, with the stamp of
the bundle that was stored last, and as JSON the times at or after which alone something is still to come. A stamp is
replaced where it is as this run has left it, and nowhere else: of two runs that deliver to one table, one is refused.

A table that is not there is made, with the columns `time` and `value`; what goes into any other, `rows.py` says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from progress.plain import write_time
from progress.runtime.durable.bundles import Bundle
from progress.runtime.sinks.json_text import json_text
from progress.runtime.sinks.place import Place
from progress.runtime.sinks.rows import Columns, Row, Rows

STAMPS = "pointstamp_last"
KEY = ("target", "application", "edge")
APPLICATION = "pointstamp"


class SqlTable(ABC):
    """The table of one edge, in one run. What is different in each database is a method of its own.

    Parameters
    ----------
    where : the place of the table, for complaints
    table : its name
    application : whose stamp it is, where several write there
    """

    takes_rows = True
    mark = "?"  # stands for a parameter

    def __init__(self, where: Place, table: str, application: str) -> None:
        self.where = where
        self.table = table
        self.connection: Any = None  # what `open` has made
        self._key = (table, application, where.edge)
        self._stamp = ""  # of the bundle that was stored last
        self._rows: Rows | None = None

    # --- for the run -------------------------------------------------------------------------------------------------

    def last(self) -> str | None:
        """The stamp of the bundle that was stored last. Opens the database, makes what is not there."""
        with self.failing():
            self.open()
            with self.transaction():
                if not self.columns(self.stamps):
                    columns = ", ".join(f"{name} text NOT NULL" for name in (*KEY, "stamp", "complete"))
                    self.execute(f"CREATE TABLE {self.stamps} ({columns}, PRIMARY KEY ({', '.join(KEY)}))")
                ours = ", ".join([self.mark] * len(KEY))
                begun = f"INSERT INTO {self.stamps} VALUES ({ours}, '', '') ON CONFLICT DO NOTHING"
                self.execute(begun, self._key)  # waits for a delivery that is still being stored
                asks = f"SELECT stamp FROM {self.stamps} WHERE {self._mine}"
                self._stamp = self.execute(asks, self._key).fetchone()[0]
                names = self.columns(self.target)
                if not names:
                    if self._stamp:
                        raise self.where.is_gone(self._stamp)
                    self.make()
                    names = self.columns(self.target)
        self._rows = Rows(self.where, names)
        return self._stamp or None

    def deliver(self, bundle: Bundle) -> None:
        """Store a bundle, and its stamp: both or neither. Cost: one transaction."""
        assert self._rows is not None
        with self.failing(), self.transaction():
            for columns, rows in self._rows.of(bundle.values):
                self.insert(columns, rows)
            self._replace_stamp(bundle)
        self._stamp = bundle.stamp

    def _replace_stamp(self, bundle: Bundle) -> None:
        new: dict[str, str] = {"stamp": bundle.stamp}
        if bundle.complete is not None:
            times = [write_time(time) for time in bundle.complete]
            new["complete"] = json_text(times, "the times", self.where.edge, None)
        assigned = ", ".join(f"{name} = {self.mark}" for name in new)
        replace = f"UPDATE {self.stamps} SET {assigned} WHERE {self._mine} AND stamp = {self.mark}"
        if self.execute(replace, (*new.values(), *self._key, self._stamp)).rowcount != 1:
            raise self.where.taken()

    def close(self) -> None:
        """The run is over."""
        if self.connection is not None:
            self.connection.close()

    @property
    def _mine(self) -> str:
        return " AND ".join(f"{name} = {self.mark}" for name in KEY)

    def into(self, columns: Columns) -> str:
        """These columns of the table, as a statement names what it adds to."""
        return f"{self.target} ({', '.join(map(self.quoted, columns))})"

    @contextmanager
    def failing(self) -> Iterator[None]:
        """What the database raises is said in one line."""
        with self.where.complaining(self.errors(), self.right):
            yield

    # --- of each database --------------------------------------------------------------------------------------------

    right = "a database that takes what is delivered; the run goes on from there when it is begun again"

    @property
    def target(self) -> str:
        """The table, as a name in a statement."""
        return self.quoted(self.table)

    @property
    def stamps(self) -> str:
        """The table of stamps, as a name in a statement."""
        return STAMPS

    def quoted(self, name: str) -> str:
        """A name that may hold anything."""
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """What the library raises of a database."""

    @abstractmethod
    def open(self) -> None:
        """Make the connection with the database."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """All that is done in it is done, or nothing."""

    @abstractmethod
    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """Do one statement; a cursor is given."""

    @abstractmethod
    def insert(self, columns: Columns, rows: list[Row]) -> None:
        """Add rows."""

    @abstractmethod
    def columns(self, table: str) -> list[str]:
        """The columns of a table; none where it is not there."""

    @abstractmethod
    def make(self) -> None:
        """Make the table, with the columns `time` and `value`."""
