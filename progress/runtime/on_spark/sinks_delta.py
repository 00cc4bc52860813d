"""Delta Lake: each time is one transaction, which the table knows by the application, the time and the run.

A table of Delta Lake remembers, for each application (`txnAppId`), the number of its last transaction (`txnVersion`),
and passes over a write whose number is not greater. That is the bundle protocol of *Delivery, consistency, and
determinism*: who sends a bundle again sends it under the same number, and the receiver takes it once. Here each time of
a run is an application of its own, `APPLICATION/KEY/RUN`, with one transaction: so times may be complete in any order,
several writers may write at once, and what another run has written is not taken for a repetition.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder, whole
from progress.runtime.on_spark.reasons import said
from progress.runtime.on_spark.sinks_by_time import ByTime, TableSink, key_of
from progress.runtime.on_spark.sinks_modes import (
    ERROR,
    IGNORE,
    OVERWRITE,
    OVERWRITE_PARTITIONS,
    checked_mode,
    foreign,
    there_already,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class DeltaSink(TableSink):
    """A sink for an edge or a side output: a table of Delta Lake, to which each time is written once.

    Parameters
    ----------
    path : of the table
    application : what its transactions are known by; two edges that write to one table need two
    options : more for Spark's writer, `mergeSchema` for instance
    mode : what is done where another run has written something: `sinks_modes.checked_mode`
    where : the rows of a time, as a condition of Spark: `lambda day: f"day = {day}"`; for `overwritePartitions`, in
        which they give way to those that are written (`replaceWhere`)
    writers : how many times are written at once

    The session needs Delta Lake: `progress.runtime.on_spark.session.DELTA` and `DELTA_SETTINGS`. Cost of a time: one
    job and a commit of Delta Lake, and an entry in what the table remembers (`delta.setTransactionRetentionDuration`
    ends it); a time that is there costs a look at the table.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        application: str = "pointstamp",
        options: dict[str, Any] | None = None,
        mode: str = ERROR,
        *,
        where: Callable[[Any], str] | None = None,
        writers: int = 1,
    ) -> None:
        self.path = path
        self.application = application
        self.options = options or {}
        self.mode = checked_mode(mode)
        self.where = where
        self.writers = writers
        if (mode == OVERWRITE_PARTITIONS) != (where is not None):
            what = f"mode={mode!r} with where={brief(where)}"
            raise PointstampError("PS780", what, "both mode='overwritePartitions' and `where=`, or neither")

    def sink_for(self, name: str) -> ByTime:
        """The sink of one run."""
        place = f"the table {whole(self.path)}"
        if self.mode != OVERWRITE:  # which leaves nothing to anybody else
            place += f" as the application {self.application}"
        return self._made(name, _Transactions(name, self), place, self.writers)


class _Transactions:
    def __init__(self, name: str, sink: DeltaSink) -> None:
        self._what = f"what leaves at {brief(name)}"
        self._sink = sink
        self._path = whole(sink.path)
        self._others: set[str] = set()  # keys of times that other runs have written
        self._own: set[str] = set()
        self._is_first = True  # of what this run writes
        self._lock = threading.Lock()
        self._run: str

    def begin(self, run: str, is_continued: bool) -> None:
        """Look at what is there. Cost: that of reading the table's log."""
        from progress.runtime.on_spark.session import DELTA, DELTA_CLASS, has_class, start_session

        session = start_session(graphframes=False)
        if not has_class(session, DELTA_CLASS):
            settings = "progress.runtime.on_spark.session.DELTA_SETTINGS"
            hint = f"start it with spark.jars.packages={DELTA} and the settings in {settings}"
            raise PointstampError("PS754", "the session's JVM has no Delta Lake", hint)
        self._run = run
        applications = _applications(session, self._path)
        if applications is None:
            names = [name for name in Folder(session, self._path).names() if name != "_delta_log"]
            if names:
                raise foreign(f"the folder {brief(self._path)}", names)
        elif not is_continued and self._sink.mode == ERROR:
            raise there_already(f"the table {brief(self._path)}", "what another run has written")
        for application in applications or ():
            name, _, rest = application.rpartition("/")[0].rpartition("/")
            if name == self._sink.application:
                (self._own if application.endswith(f"/{run}") else self._others).add(rest)
        self._is_first = not self._own

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write a time, if this run has not."""
        sink, key = self._sink, key_of(time)
        if key in self._own:
            return False
        if key in self._others and sink.mode == IGNORE:
            return True
        rows = frame()
        with self._lock:  # the first one makes the table, or takes the place of all; replacing is one after the other
            if self._is_first or sink.where is not None:
                self._save(time, key, rows, self._options(time), is_over=sink.mode in (OVERWRITE, OVERWRITE_PARTITIONS))
                self._is_first = False
                return key in self._others
        self._save(time, key, rows, {}, is_over=False)
        return key in self._others

    def _options(self, time: Any) -> dict[str, str]:
        if self._sink.where is not None:
            return {"replaceWhere": self._sink.where(time)}
        return {"overwriteSchema": "true"} if self._sink.mode == OVERWRITE else {}

    def _save(self, time: Any, key: str, rows: DataFrame, options: dict[str, str], *, is_over: bool) -> None:
        from pyspark.errors import AnalysisException

        transaction = {"txnAppId": f"{self._sink.application}/{key}/{self._run}", "txnVersion": 0}
        writer = rows.write.format("delta").mode("overwrite" if is_over else "append")
        try:
            writer.options(**{**self._sink.options, **options, **transaction}).save(self._path)
        except AnalysisException as error:
            what = f"{self._what} at {brief(time)} does not fit the table {brief(str(self._sink.path))}"
            raise PointstampError("PS773", f"{what}: {said(error)}", "its columns, or the option mergeSchema") from None
        self._own.add(key)


def _applications(session: SparkSession, path: str) -> list[str] | None:
    """All applications that have written to a table; None where there is no table. Cost: that of reading its log."""
    jvm: Any = session._jvm
    if not jvm.io.delta.tables.DeltaTable.isDeltaTable(session._jsparkSession, path):
        return None
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session._jsparkSession, path)
    found = str(log.unsafeVolatileSnapshot().transactions().keys().mkString("\n"))
    return found.splitlines()
