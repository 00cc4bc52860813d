"""A table that a catalog knows by its name: Delta Lake, Iceberg, or plain files in partitions.

What makes a time be there once is the table's own. Delta Lake passes over a transaction that it knows (`delta.py`).
A snapshot of Iceberg has properties, and one of them says which time of which run it is,

    pointstamp = APPLICATION/KEY/RUN

so a run that goes on finds what it has written among the snapshots, as long as those are kept. A table of plain files
remembers nothing: there a time takes the place of the partitions that it has rows in, which may be done twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.connect import beyond_reach, is_remote
from progress.runtime.on_spark.sinks.by_time import ByTime, Store, key_of
from progress.runtime.on_spark.sinks.delta import (
    DeltaSink,
    InTransactions,
    Transactions,
    fits,
    mark_of,
    same_row,
    written_by,
)
from progress.runtime.on_spark.sinks.modes import (
    ERROR,
    IGNORE,
    MERGE,
    OVERWRITE,
    OVERWRITE_PARTITIONS,
    there_already,
)
from progress.runtime.on_spark.sinks.own_session import cloned
from progress.runtime.on_spark.tables.schemas import check_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROPERTY = "pointstamp"
OF_A_SESSION = "spark.sql.iceberg.snapshot-property."
FORMS = ("delta", "iceberg")  # that remember what was written
WRITTEN = "pointstamp_written"


class TableSink(InTransactions):
    """A sink for an edge or a side output: a table that a catalog knows, `lake.sales.totals`, each time written once.

    Parameters
    ----------
    name : of the table, as Spark reads it
    application : what its times are known by in the table; two edges that write to one table need two
    form : `delta` or `iceberg`: what a table is made as that is not there; without it there has to be one
    options, mode, where, keys, writers : as those of `DeltaSink`. In Iceberg `overwritePartitions` needs no `where`:
        without one the partitions give way in which there are rows. Tables of other forms have this mode alone

    The catalog is one of the session's settings, and so is what a form needs (`progress.runtime.on_spark.session`).
    Cost of a time: one job and a commit of the table.

    Examples
    --------
    >>> from progress.runtime.on_spark import TableSink
    >>> TableSink("lake.sales.totals", form="delta").mode
    'error'
    """

    def __init__(
        self,
        name: str,
        application: str = PROPERTY,
        options: dict[str, Any] | None = None,
        mode: str = ERROR,
        *,
        form: str | None = None,
        where: Callable[[Any], str] | None = None,
        keys: Sequence[str] = (),
        writers: int = 1,
    ) -> None:
        super().__init__(application, options, mode, where, keys, writers)
        self.name = name
        self.form = form
        if form is not None and form not in FORMS:
            raise PointstampError("PS780", f"form={brief(form)} is not made by a sink", " or ".join(FORMS))
        if where is not None and mode not in (OVERWRITE_PARTITIONS, MERGE):
            raise PointstampError("PS780", f"mode={mode!r} with `where=`", "'overwritePartitions' or 'merge'")
        self._check_keys()

    def sink_for(self, name: str) -> ByTime:
        """The sink of one run."""
        return self._of_table(name, _InCatalog(name, self), self.name)


class _InCatalog:
    """The store of a table, whatever form that has, which is known when the run begins, or when the table is made."""

    def __init__(self, edge: str, sink: TableSink) -> None:
        self._edge = edge
        self._sink = sink
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._run: str

    def begin(self, run: str, is_continued: bool) -> None:
        """Look at the table. Cost: a question to the catalog, and that of the form."""
        from progress.runtime.on_spark.session import start_session

        session = start_session(graphframes=False)
        if is_remote(session):
            raise beyond_reach("a table by name as a sink")
        name, mode = self._sink.name, self._sink.mode
        self._run = run
        if not exists(session, name):
            if self._sink.form is None:
                raise PointstampError("PS780", f"there is no table {brief(name)}", "one that is there, or `form=`")
            return
        if mode == ERROR and not is_continued and not session.table(name).isEmpty():
            raise there_already(f"the table {brief(name)}", "rows")
        self._open(session)

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write a time, if this run has not."""
        with self._lock:
            store = self._store
        if store is None:
            rows = frame()
            with self._lock:
                if self._store is None:
                    self._make(rows)
                store = self._store
        assert store is not None
        return store.commit(time, frame)

    def end(self) -> None:
        """Nothing is left open: each transaction was whole."""

    def _make(self, rows: DataFrame) -> None:
        """Make the table, without rows."""
        session, form = rows.sparkSession, self._sink.form
        assert form is not None
        with fits(f"the table {brief(self._sink.name)} cannot be made"):
            session.createDataFrame([], rows.schema).writeTo(self._sink.name).using(form).create()
        self._open(session)

    def _open(self, session: SparkSession) -> None:
        sink, form = self._sink, form_of(session, self._sink.name)
        if form == "delta":
            place = session.sql(f"DESCRIBE DETAIL {sink.name}").select("location").head()
            assert place is not None
            self._store = Transactions(self._edge, _as_delta(sink, place[0]))
        elif form == "iceberg":
            self._store = _Snapshots(self._edge, sink, session)
        elif sink.mode == OVERWRITE_PARTITIONS and sink.where is None:
            self._store = _Partitions(self._edge, sink)
        else:
            what = f"the table {brief(sink.name)} of the form {form} does not remember what was written to it"
            right = "mode='overwritePartitions' without `where=`; a table of Delta Lake or Iceberg; or a ParquetSink"
            raise PointstampError("PS780", what, right)
        self._store.begin(self._run, is_continued=True)  # whether there is something is looked at already


def _as_delta(sink: TableSink, path: str) -> DeltaSink:
    """The same sink, of the table's folder."""
    if sink.mode == OVERWRITE_PARTITIONS and sink.where is None:
        raise PointstampError("PS780", f"mode={sink.mode!r} of a table of Delta Lake", "with `where=`")
    return DeltaSink(
        path, sink.application, sink.options, sink.mode, where=sink.where, keys=sink.keys, writers=sink.writers
    )


class _Snapshots:
    """Times in a table of Iceberg: each is a snapshot that says whose it is."""

    def __init__(self, edge: str, sink: TableSink, session: SparkSession) -> None:
        self._what = f"what leaves at {brief(edge)}"
        self._sink = sink
        self._session = session
        self._others: set[str] = set()  # keys of times that other runs have written
        self._own: set[str] = set()
        self._lock = threading.Lock()
        self._run: str

    def begin(self, run: str, is_continued: bool) -> None:
        """Look at the snapshots. Cost: a job that reads their list."""
        self._run = run
        found = self._session.table(f"{self._sink.name}.snapshots").selectExpr(f"summary['{PROPERTY}']")
        marks = (mark for (mark,) in found.collect() if mark is not None)
        self._own, self._others = written_by(marks, self._sink.application, run)

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write a time, if this run has not."""
        sink, key = self._sink, key_of(time)
        if key in self._own:
            return False
        if key in self._others and sink.mode == IGNORE:
            return True
        rows, mark = frame(), mark_of(sink.application, key, self._run)
        with fits(f"{self._what} at {brief(time)} does not fit the table {brief(sink.name)}"):
            if sink.mode in (OVERWRITE, OVERWRITE_PARTITIONS, MERGE):
                with self._lock:  # what takes the place of other rows does so one after the other
                    self._replace(time, rows, mark)
                    self._own.add(key)
            else:
                self._writer(rows, mark).append()
                self._own.add(key)
        return key in self._others

    def end(self) -> None:
        """Nothing is left open: each snapshot was whole."""

    def _replace(self, time: Any, rows: DataFrame, mark: str) -> None:
        from pyspark.sql import functions

        sink = self._sink
        where = None if sink.where is None else sink.where(time)
        if sink.mode == MERGE:
            self._merge(rows, mark, where)
        elif sink.mode == OVERWRITE:
            writer = self._writer(rows, mark)
            if self._own:
                writer.append()
            else:
                writer.overwrite(functions.lit(True))
        elif where is None:
            self._writer(rows, mark).overwritePartitions()
        else:
            self._writer(rows, mark).overwrite(functions.expr(where))

    def _writer(self, rows: DataFrame, mark: str) -> Any:
        writer = rows.writeTo(self._sink.name).option(f"snapshot-property.{PROPERTY}", mark)
        return writer.options(**self._sink.options)

    def _merge(self, rows: DataFrame, mark: str, where: str | None) -> None:
        session, written = cloned(rows, {f"{OF_A_SESSION}{PROPERTY}": mark})
        written.createOrReplaceTempView(WRITTEN)
        parts = [
            f"MERGE INTO {self._sink.name} AS there USING {WRITTEN} AS written",
            f"ON {same_row(self._sink.keys)}",
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        ]
        if where is not None:
            parts.append(f"WHEN NOT MATCHED BY SOURCE AND ({where}) THEN DELETE")
        session.sql(" ".join(parts))
        rows.sparkSession.catalog.refreshTable(self._sink.name)


class _Partitions:
    """Times in a table of plain files: each takes the place of the partitions in which it has rows."""

    def __init__(self, edge: str, sink: TableSink) -> None:
        self._what = f"what leaves at {brief(edge)}"
        self._sink = sink
        self._lock = threading.Lock()

    def begin(self, run: str, is_continued: bool) -> None:
        """Nothing is known of what was written."""

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write a time; the same once more has the same result."""
        rows = frame()
        table = rows.sparkSession.table(self._sink.name)
        what = f"{self._what} at {brief(time)}"
        check_columns(what, table.schema, rows.schema)
        if not any(column.isPartition for column in rows.sparkSession.catalog.listColumns(self._sink.name)):
            says = f"the table {brief(self._sink.name)} has no partitions, so a time would take the place of all"
            raise PointstampError("PS780", says, "a table with partitions; one of Delta Lake or Iceberg")
        _, written = cloned(rows.select(table.columns), {"spark.sql.sources.partitionOverwriteMode": "dynamic"})
        with self._lock, fits(f"{what} does not fit the table {brief(self._sink.name)}"):
            written.write().options(self._sink.options).mode("overwrite").insertInto(self._sink.name)
            rows.sparkSession.catalog.refreshTable(self._sink.name)
        return False

    def end(self) -> None:
        """Nothing is left open."""


def exists(session: SparkSession, name: str) -> bool:
    """Whether a catalog of the session knows a table of this name (PS774 where there is no such catalog)."""
    from pyspark.errors import PySparkException

    from progress.runtime.on_spark.sources.times import unreadable

    try:
        return session.catalog.tableExists(name)
    except PySparkException as error:
        raise unreadable(f"the table {brief(name)} cannot be looked for", error) from None


def form_of(session: SparkSession, name: str) -> str:
    """What a table is made as: `delta`, `iceberg`, `parquet`... Cost: a question to the catalog."""
    rows = session.sql(f"DESCRIBE TABLE EXTENDED {name}").where("col_name = 'Provider'").select("data_type").collect()
    return str(rows[0][0]).lower() if rows else "unknown"
