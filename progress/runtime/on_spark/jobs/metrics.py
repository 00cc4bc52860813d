"""What happens in a run, among the metrics of Spark: counters of the driver, wherever Spark's own metrics go.

They are accumulators of the application, which Spark has as gauges (`LongAccumulatorSource`), under the name of the
application and of the driver: `pointstamp.messages`, `.notifications`, `.failures`, `.brought`, `.late`. They count all
runs of an application. Cost: they are added up here, and handed over once a second and at the end of a run.
"""

from __future__ import annotations

import threading
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any

from progress.runtime.actions.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("messages", "notifications", "failures", "brought", "late")
EVERY = 1.0  # seconds
_REGISTERED: dict[str, dict[str, Any]] = {}  # by application: its accumulators; Spark takes each name once
_LOCK = threading.Lock()


class Counters(Observer):
    """The counters of one run."""

    def __init__(self, session: SparkSession) -> None:
        self._accumulators = _of(session)
        self._counts: Counter[str] = Counter()
        self._told = monotonic()

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self._add("notifications" if edge is None else "messages", count)

    def failed(self, failure: NodeFailed) -> None:
        self._add("failures", 1)

    def brought(self, edge: str, count: int, late: int) -> None:
        self._counts["late"] += late
        self._add("brought", count)

    def ended(self, core: Core, failure: BaseException | None) -> None:
        if failure is None:  # else the JVM may be what has failed
            self._hand_over()

    def _add(self, name: str, count: int) -> None:
        self._counts[name] += count
        if monotonic() - self._told >= EVERY:
            self._hand_over()

    def _hand_over(self) -> None:
        self._told = monotonic()
        counts, self._counts = self._counts, Counter()
        for name, count in counts.items():
            if count:
                self._accumulators[name].add(count)


def _of(session: SparkSession) -> dict[str, Any]:
    """The accumulators of an application. Cost: some calls of the JVM, once."""
    context = session.sparkContext
    with _LOCK:
        found = _REGISTERED.get(context.applicationId)
        if found is None:
            jvm: Any = session._jvm
            found = {name: context._jsc.sc().longAccumulator(f"pointstamp.{name}") for name in NAMES}
            named = jvm.java.util.HashMap()
            for name, accumulator in found.items():
                named.put(f"pointstamp.{name}", accumulator)
            source = getattr(getattr(jvm, "org.apache.spark.metrics.source.LongAccumulatorSource$"), "MODULE$")
            source.register(context._jsc.sc(), jvm.PythonUtils.toScalaMap(named))
            _REGISTERED[context.applicationId] = found
    return found
