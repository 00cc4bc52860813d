"""Delta Lake: each time is one transaction, which the table knows by the application and a number.

A table of Delta Lake remembers, for each application (`txnAppId`), the number of its last transaction (`txnVersion`),
and passes over a write whose number is not greater. That is the bundle protocol of *Delivery, consistency, and
determinism*: who sends a bundle again sends it under the same number, and the receiver takes it once.

* Where times are numbers, they are committed in ascending order, so the time is the number of the transaction.
* Other times may be complete in any order. Each is an application of its own, `APPLICATION/KEY`, with one transaction;
  the table remembers one entry a time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import whole
from progress.runtime.on_spark.said import said
from progress.runtime.on_spark.sinks_by_time import ByTime, key_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class DeltaSink:
    """A sink for an output edge: a table of Delta Lake, to which each time is appended once.

    Parameters
    ----------
    path : of the table
    application : what its transactions are known by; two pipelines, or two edges, that write to one table need two
    options : more for Spark's writer, `mergeSchema` for instance

    The session needs Delta Lake: `progress.spark_session.DELTA` and `DELTA_SETTINGS`. Cost of a time: one job and a
    commit of Delta Lake; a time that is there costs a look at the table.
    """

    def __init__(
        self, path: str | os.PathLike[str], application: str = "pointstamp", options: dict[str, Any] | None = None
    ) -> None:
        self.path = path
        self.application = application
        self.options = options or {}

    def sink_for(self, name: str) -> ByTime:
        """The sink of one run."""
        place = f"the table {whole(self.path)} as the application {self.application}"
        return ByTime(name, _Transactions(name, self), place)


class _Transactions:
    def __init__(self, name: str, sink: DeltaSink) -> None:
        self._what = f"what leaves at {brief(name)}"
        self._sink = sink
        self._is_checked = False

    def commit(self, time: Any, frame: DataFrame) -> None:
        """Append a time, if the table does not have it."""
        from pyspark.errors import AnalysisException

        from progress.spark_session import DELTA, DELTA_CLASS, has_class

        if not self._is_checked and not has_class(frame.sparkSession, DELTA_CLASS):
            hint = (
                f"start it with spark.jars.packages={DELTA} and the settings in progress.spark_session.DELTA_SETTINGS"
            )
            raise PointstampError("PS754", "the session's JVM has no Delta Lake", hint)
        self._is_checked = True
        application, version = self._transaction(time)
        options = {**self._sink.options, "txnAppId": application, "txnVersion": version}
        writer = frame.write.format("delta").mode("append").options(**options)
        try:
            writer.save(whole(self._sink.path))
        except AnalysisException as error:
            what = f"{self._what} at {brief(time)} does not fit the table {brief(str(self._sink.path))}"
            raise PointstampError("PS773", f"{what}: {said(error)}", "its columns, or the option mergeSchema") from None

    def _transaction(self, time: Any) -> tuple[str, int]:
        application = self._sink.application
        if type(time) is int and 0 <= time < 1 << 63:
            return application, time
        return f"{application}/{key_of(time)}", 0
