"""A table of PostgreSQL as a sink: `PostgresTable("host=db dbname=shops", "totals")`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from progress.errors import brief
from progress.runtime.sinks.place import Place
from progress.runtime.sinks.rows import Columns, Row
from progress.runtime.sinks.sql_table import APPLICATION, STAMPS, SqlTable

COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"


class PostgresTable:
    """A table that keeps what leaves an edge, each value once, whatever is killed when.

    Parameters
    ----------
    connection : where the database is, as libpq takes it: `"host=db dbname=shops"`, or `"postgresql://..."`; what it
        does not say comes from the environment and from ~/.pgpass
    table : its name, behind that of a schema and a dot if that is not on the search path. Where it has the columns
        `time` and `value` alone, or is not there, these are JSON; any other table has rows, and values are mappings
        with names of its columns
    application : runs of different applications have nothing to do with each other

    Each bundle is one transaction, which copies its rows. A run that is not kept adds to the table.

    Examples
    --------
    >>> from pointstamp import PostgresTable
    >>> PostgresTable("dbname=shops", "sales.totals").table
    'sales.totals'
    """

    def __init__(self, connection: str, table: str, *, application: str = APPLICATION) -> None:
        self.connection = connection
        self.table = table
        self.application = application

    def sink_for(self, name: str) -> SqlTable:
        """The sink of a run."""
        where = Place(name, f"table {brief(self.table)} of PostgreSQL")
        return _Postgres(where, self.table, self.application, self.connection)


def _without_parameters(statement: str) -> bytes:
    """A statement as the server takes it, with names in which a per cent sign may stand."""
    return statement.replace("%%", "%").encode()


class _Postgres(SqlTable):
    """The table of one edge, in one run."""

    mark = "%s"

    def __init__(self, where: Place, table: str, application: str, given: str) -> None:
        super().__init__(where, table, application)
        self._given = given

    def errors(self) -> tuple[type[Exception], ...]:
        try:
            import psycopg
        except ImportError:
            raise self.where.failed("psycopg is not installed", "pip install 'pointstamp[postgres]'") from None
        return (psycopg.Error, UnicodeEncodeError)

    def open(self) -> None:
        import psycopg

        try:
            psycopg.conninfo.conninfo_to_dict(self._given)
        except (psycopg.ProgrammingError, AttributeError):  # which may say a password; or it is no text
            right = "host=db dbname=shops, or postgresql://db/shops"
            raise self.where.failed("its connection string cannot be read", right) from None
        self.connection = psycopg.connect(
            self._given, autocommit=True, application_name=self.where.edge, client_encoding="utf8"
        )

    def transaction(self) -> AbstractContextManager[Any]:
        found: AbstractContextManager[Any] = self.connection.transaction()
        return found

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        if parameters:
            return self.connection.execute(statement.encode(), parameters)
        return self.connection.execute(_without_parameters(statement))

    def insert(self, columns: Columns, rows: list[Row]) -> None:
        statement = _without_parameters(f"COPY {self.into(columns)} FROM STDIN")
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def columns(self, table: str) -> list[str]:
        return [name for (name,) in self.execute(COLUMNS, (_without_parameters(table).decode(),))]

    def make(self) -> None:
        self.execute(f"CREATE TABLE {self.target} (time jsonb NOT NULL, value jsonb NOT NULL)")

    def quoted(self, name: str) -> str:
        return super().quoted(name).replace("%", "%%")

    @property
    def target(self) -> str:
        return ".".join(map(self.quoted, self.table.split(".")))

    @property
    def stamps(self) -> str:
        return ".".join(map(self.quoted, (*self.table.split(".")[:-1], STAMPS)))
