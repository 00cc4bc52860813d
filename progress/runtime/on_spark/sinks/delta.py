"""Delta Lake: each time is one transaction, which the table knows by the application, the time and the run.

A table of Delta Lake remembers, for each application (`txnAppId`), the number of its last transaction (`txnVersion`),
and passes over a write whose number is not greater. That is the bundle protocol of *Delivery, consistency, and
determinism*: who sends a bundle again sends it under the same number, and the receiver takes it once. Here each time of
a run is an application of its own, `APPLICATION/KEY/RUN`, with one transaction: so times may be complete in any order,
several writers may write at once, and what another run has written is not taken for a repetition. A merge is known in
the same way, by settings of a session of its own.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder, whole
from progress.runtime.on_spark.jobs.reasons import said
from progress.runtime.on_spark.sinks.by_time import ByTime, Store, TimedSink, key_of
from progress.runtime.on_spark.sinks.modes import (
    ERROR,
    IGNORE,
    MERGE,
    MODES,
    OVERWRITE,
    OVERWRITE_PARTITIONS,
    checked_mode,
    foreign,
    there_already,
)
from progress.runtime.on_spark.sinks.own_session import cloned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNREAD = re.compile(r"\.?part-\d|[^=]+=")  # files as Delta Lake names them, and folders of partitions with such files


class InTransactions(TimedSink):
    """A sink into a table that may know what was written there, by the application, and whose rows may be merged."""

    def __init__(
        self,
        application: str,
        options: dict[str, Any] | None,
        mode: str,
        where: Callable[[Any], str] | None,
        keys: Sequence[str],
        writers: int,
    ) -> None:
        self.application = application
        self.options = options or {}
        self.mode = checked_mode(mode, (*MODES, MERGE))
        self.where = where
        self.keys = [keys] if isinstance(keys, str) else list(keys)
        self.writers = writers

    def _check_keys(self) -> None:
        if (self.mode == MERGE) != bool(self.keys):
            what = f"mode={self.mode!r} with keys={brief(self.keys)}"
            raise PointstampError("PS780", what, "both mode='merge' and `keys=`, or neither")

    def _of_table(self, edge: str, store: Store, table: str) -> ByTime:
        place = f"the table {table}"
        if self.mode != OVERWRITE:  # which leaves nothing to anybody else
            place += f" as the application {self.application}"
        return self._made(edge, store, place, self.writers)


class DeltaSink(InTransactions):
    """A sink for an edge or a side output: a table of Delta Lake, to which each time is written once.

    Parameters
    ----------
    path : of the table
    application : what its transactions are known by; two edges that write to one table need two
    options : more for Spark's writer, `mergeSchema` for instance
    mode : what is done where another run has written something: `modes.checked_mode`
    where : the rows of a time, as a condition of Spark: `lambda day: f"day = {day}"`; for `overwritePartitions`, in
        which they give way to those that are written (`replaceWhere`), and for `merge`, in which those of them go that
        are not written again
    keys : the columns by which `merge` knows a row; nulls are equal
    writers : how many times are written at once

    The session needs Delta Lake: `progress.runtime.on_spark.session.DELTA` and `DELTA_SETTINGS`. Cost of a time: one
    job and a commit of Delta Lake, and an entry in what the table remembers (`delta.setTransactionRetentionDuration`
    ends it); a time that is there costs a look at the table.

    Examples
    --------
    >>> from pointstamp import DeltaSink
    >>> DeltaSink("totals", mode="merge", keys=["shop"]).path
    'totals'
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        application: str = "pointstamp",
        options: dict[str, Any] | None = None,
        mode: str = ERROR,
        *,
        where: Callable[[Any], str] | None = None,
        keys: Sequence[str] = (),
        writers: int = 1,
    ) -> None:
        super().__init__(application, options, mode, where, keys, writers)
        self.path = path
        if (mode == OVERWRITE_PARTITIONS) != (where is not None) and mode != MERGE:
            what = f"mode={mode!r} with where={brief(where)}"
            raise PointstampError("PS780", what, "both mode='overwritePartitions' and `where=`, or neither")
        self._check_keys()

    def sink_for(self, name: str) -> ByTime:
        """The sink of one run."""
        return self._of_table(name, Transactions(name, self), whole(self.path))


class Transactions:
    """Times in a table of Delta Lake: each is a transaction."""

    def __init__(self, name: str, sink: DeltaSink) -> None:
        self._what = f"what leaves at {brief(name)}"
        self._sink = sink
        self._path = whole(sink.path)
        self._others: set[str] = set()  # keys of times that other runs have written
        self._own: set[str] = set()
        self._is_first = True  # of what this run writes
        self._is_there = False  # the table
        self._lock = threading.Lock()
        self._run: str

    def begin(self, run: str, is_continued: bool) -> None:
        """Look at what is there. Cost: that of reading the table's log."""
        from progress.runtime.on_spark.session import start_session

        session = start_session(graphframes=False)
        check_delta(session)
        self._run = run
        applications = _applications(session, self._path)
        if applications is None:
            names = [name for name in Folder(session, self._path).names() if name != "_delta_log"]
            if is_continued:  # its first transaction may have been cut short, and nobody reads what that has left
                names = [name for name in names if not UNREAD.match(name)]
            if names:
                raise foreign(f"the folder {brief(self._path)}", names)
        elif not is_continued and self._sink.mode == ERROR:
            raise there_already(f"the table {brief(self._path)}", "what another run has written")
        self._own, self._others = written_by(applications or (), self._sink.application, run)
        self._is_first, self._is_there = not self._own, applications is not None

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write a time, if this run has not."""
        sink, key = self._sink, key_of(time)
        if key in self._own:
            return False
        if key in self._others and sink.mode == IGNORE:
            return True
        rows = frame()
        with self._lock:  # the first one makes the table, or takes the place of all; replacing is one after the other
            if self._is_first or sink.where is not None or sink.mode == MERGE:
                if sink.mode == MERGE and self._is_there:
                    with self._fits(time):
                        merge(rows, self._path, sink.keys, self._transaction(key), sink.where and sink.where(time))
                else:
                    is_over = sink.mode in (OVERWRITE, OVERWRITE_PARTITIONS)
                    self._save(time, key, rows, self._options(time), is_over=is_over)
                self._own.add(key)
                self._is_first, self._is_there = False, True
                return key in self._others
        self._save(time, key, rows, {}, is_over=False)
        self._own.add(key)
        return key in self._others

    def end(self) -> None:
        """Nothing is left open: each transaction was whole."""

    def _options(self, time: Any) -> dict[str, str]:
        if self._sink.mode == OVERWRITE_PARTITIONS:
            assert self._sink.where is not None
            return {"replaceWhere": self._sink.where(time)}
        return {"overwriteSchema": "true"} if self._sink.mode == OVERWRITE else {}

    def _transaction(self, key: str) -> dict[str, str]:
        return {"txnAppId": mark_of(self._sink.application, key, self._run), "txnVersion": "0"}

    def _save(self, time: Any, key: str, rows: DataFrame, options: dict[str, str], *, is_over: bool) -> None:
        writer = rows.write.format("delta").mode("overwrite" if is_over else "append")
        with self._fits(time):
            writer.options(**{**self._sink.options, **options, **self._transaction(key)}).save(self._path)

    def _fits(self, time: Any) -> AbstractContextManager[None]:
        return fits(f"{self._what} at {brief(time)} does not fit the table {brief(str(self._sink.path))}")


@contextmanager
def fits(what: str) -> Iterator[None]:
    """What Spark cannot plan does not fit the table (PS773)."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        raise PointstampError("PS773", f"{what}: {said(error)}", "its columns, or the option mergeSchema") from None


def merge(rows: DataFrame, path: str, keys: list[str], transaction: dict[str, str], where: str | None) -> None:
    """Merge rows into a table by these columns, as one transaction, which the table passes over if it knows it.

    Rows of `where` that are not among them go. Cost: a join of the rows with the table's, and a session.
    """
    settings = {f"spark.databricks.delta.write.{name}": value for name, value in transaction.items()}
    session, written = cloned(rows, settings)
    jvm: Any = rows.sparkSession._jvm
    table = jvm.io.delta.tables.DeltaTable.forPath(session, path)
    merging = table.alias("there").merge(written.alias("written"), same_row(keys))
    merging = merging.whenMatched().updateAll().whenNotMatched().insertAll()
    if where is not None:
        merging = merging.whenNotMatchedBySource(where).delete()
    merging.execute()


def same_row(keys: Sequence[str]) -> str:
    """As SQL, whether a row that is written takes the place of one that is there: all these columns are the same."""
    quoted = ("`" + key.replace("`", "``") + "`" for key in keys)
    return " AND ".join(f"there.{key} <=> written.{key}" for key in quoted)


def mark_of(application: str, key: str, run: str) -> str:
    """By what a table knows that a run of an application has written a time."""
    return f"{application}/{key}/{run}"


def written_by(marks: Iterable[str], application: str, run: str) -> tuple[set[str], set[str]]:
    """Of the marks of a table: the times that this run of an application has written, and those of its other runs."""
    own: set[str] = set()
    others: set[str] = set()
    for mark in marks:
        before, _, whose = mark.rpartition("/")
        of, _, key = before.rpartition("/")
        if of == application:
            (own if whose == run else others).add(key)
    return own, others


def check_delta(session: SparkSession) -> None:
    """Refuse (PS754) a session that has no Delta Lake."""
    from progress.runtime.on_spark.session import DELTA, DELTA_CLASS, has_class

    if not has_class(session, DELTA_CLASS):
        settings = "progress.runtime.on_spark.session.DELTA_SETTINGS"
        hint = f"start it with spark.jars.packages={DELTA} and the settings in {settings}"
        raise PointstampError("PS754", "the session's JVM has no Delta Lake", hint)


def _applications(session: SparkSession, path: str) -> list[str] | None:
    """All applications that have written to a table; None where there is no table. Cost: that of reading its log."""
    jvm: Any = session._jvm
    if not jvm.io.delta.tables.DeltaTable.isDeltaTable(session._jsparkSession, path):
        return None
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session._jsparkSession, path)
    found = str(log.unsafeVolatileSnapshot().transactions().keys().mkString("\n"))
    return found.splitlines()
