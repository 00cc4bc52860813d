"""What a run on Spark adds to the worker threads of the engine `threads`: names for its jobs, and a way to stop them.

Each call of a node has a job group of its own, `run id node time`, whose description says what the call is, such as
`month at 2024-01, notified`; so Spark's own pages show pointstamps. Sources and checkpoints have groups as well. Each
worker is a scheduler pool, so that under `spark.scheduler.mode=FAIR`, which sessions that are started here have, the
calls share the executors. When the run has to stop, the groups of what runs are cancelled, with the jobs that they
would still start.

Cost: one call of the JVM for each call of a node, some tenths of a millisecond.

Over Spark Connect, where the JVM is out of reach, a call has a tag of that name instead; there are no pools, and no
counters among Spark's metrics (`connect`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from progress.errors import PointstampError, brief
from progress.plain import write_time
from progress.runtime.actions.core import Core
from progress.runtime.actions.inbox import Action
from progress.runtime.actions.performed import Performed
from progress.runtime.durable.rests import WORK_BESIDE
from progress.runtime.engines.host import Host
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer, Observers
from progress.runtime.on_spark.connect import is_remote
from progress.runtime.on_spark.jobs.groups import JobGroups
from progress.runtime.on_spark.jobs.losses import Watch, is_gone, loss, told_of
from progress.runtime.on_spark.jobs.metrics import Counters
from progress.runtime.on_spark.jobs.threads import inheriting
from progress.runtime.on_spark.kept_tables import KeptTables
from progress.runtime.on_spark.session import active_session, check_session, start_session
from progress.runtime.sink import Sinks
from progress.runtime.tables import is_table, rows_of
from progress.runtime.thread import Thread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POOL = "spark.scheduler.pool"
FIRST_POOL = "checkpoints of pointstamp"  # comes before "default" and those of workers


class CutShort(Exception):
    """A call of a node ended because its jobs were cancelled, or Spark is gone; what stopped the run says why."""


class OnSpark(Host):
    """One run on Spark.

    Parameters
    ----------
    session : of Spark, or of Spark Connect; None for the one that is active, or a new one
    folder : where tables that are kept with a name go, on a file system that all workers see
    """

    tables: KeptTables
    work = WORK_BESIDE
    is_alone = False

    def __init__(self, session: SparkSession | None = None, folder: str | None = None) -> None:
        self.session = session_for(session)
        self._is_remote = is_remote(self.session)
        self.run_id = f"pointstamp-{uuid4().hex[:8]}"
        with nullcontext() if self._is_remote else told_of(self.session.sparkContext._gateway):
            self.tables = KeptTables(self.session, self.run_id, folder)
            self.counters = Observer() if self._is_remote else Counters(self.session)
        self._context: Any = self.session if self._is_remote else self.session.sparkContext
        self._watch: Watch | None = None
        self._lock = threading.Lock()
        self._groups = JobGroups()
        self._pools: dict[int, str] = {}  # of workers, by thread
        self._core: Core
        self._sinks: Sinks

    def begin(self, core: Core, sinks: Sinks) -> None:
        """The run begins."""
        self._core = core
        self._sinks = sinks
        self._watch = Watch(self.session)
        leaving = {edge for inbox in core.inboxes for edge in inbox.leaves}
        self.tables.begin(lambda: core.tracker, lambda at: at in leaving and sinks.collects(at))

    def observed(self, observer: Observer | None) -> Observer | None:
        """Counters among Spark's metrics are told, too."""
        return self.counters if observer is None else Observers(observer, self.counters)

    def performer(self, core: Core) -> Callable[[Action], Performed]:
        """What runs the code of a node as a job group."""
        return self.perform

    def thread(self, target: Callable[[], None], name: str, *, is_daemon: bool = False) -> Thread:
        """A worker or a reader: a thread of the JVM is its own, with the properties of the thread that starts it."""
        if self._is_remote:
            return Thread(target=target, name=name, daemon=is_daemon)
        return inheriting(target, name, is_daemon=is_daemon)

    def perform(self, action: Action) -> Performed:
        """Run the node's code as a job group; `CutShort` where it failed because the run was stopped."""
        name = self._core.inboxes[action.node].exits.name
        self._take_pool()
        try:
            group = self._opened(self.group(name, action.time), f"{name} at {_text(action.time)}, {_what(action)}")
            with group, self.tables.during_call():
                performed = self._core.perform(action)
                if not performed.failures:
                    self._write_rows(performed, name)
                for (edge, _), values in performed.out.sent.items():
                    self.tables.sent(edge, values)
        except NodeFailed:
            if self._groups.is_stopped or is_gone(self.session):
                raise CutShort from None
            raise
        if performed.failures and (self._groups.is_stopped or is_gone(self.session)):
            raise CutShort  # no policy helps, and no dead letter is due
        return performed

    @contextmanager
    def reading(self, edge: str) -> Iterator[None]:
        """This thread reads the source of an edge: all jobs that the source starts are one group, in a pool."""
        self._enter_pool(f"pointstamp source {edge}")
        with self._opened(f"{self.run_id} source {edge}", f"source of {edge}"):
            yield

    @contextmanager
    def checkpoint(self) -> Iterator[None]:
        """This thread takes a checkpoint, for which DataFrames that wait are computed, in a pool of its own.

        Of pools in which nothing runs, Spark takes the first by name. So the next core that is free is for these.
        """
        self._enter_pool(FIRST_POOL)
        try:
            with self._opened(f"{self.run_id} checkpoint", "checkpoint: what waits"):
                yield
        finally:
            own = self._pools.get(threading.get_ident())
            if own is not None:
                self._enter_pool(own)

    def check(self) -> None:
        """Raise PS762 where Spark is gone, though nobody may have asked it for anything."""
        if self._watch is not None:
            self._watch.check()

    def group(self, node: str, time: Any) -> str:
        """The job group of the calls of a node at a time."""
        return f"{self.run_id} {node} {_text(time)}"

    def stop(self) -> None:
        """Cancel what runs; what has not begun will not begin."""
        self._groups.stop()

    def __enter__(self) -> OnSpark:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """The run is over, and so is what was made of it: let all tables go but those that the caller has.

        Where it ended because a part of Spark was lost, that is what is raised (PS762).
        """
        if self._watch is not None:
            self._watch.end()
        lost = None if not isinstance(error, Exception) else loss(error, self.session)
        self.tables.close(is_failed=kind is not None)
        if lost is not None:
            raise lost from error

    # --- job groups --------------------------------------------------------------------------------------------------

    def _opened(self, group: str, description: str) -> AbstractContextManager[None]:
        return self._groups.opened(self._context, group, description)

    def _take_pool(self) -> None:
        """Give this worker its pool, once."""
        worker = threading.get_ident()
        with self._lock:
            if worker in self._pools:
                return
            pool = self._pools[worker] = f"pointstamp {len(self._pools) + 1}"
        self._enter_pool(pool)

    def _enter_pool(self, pool: str) -> None:
        """Give this thread a pool, and make the session its active one, for nodes that ask Spark for it."""
        if self._is_remote:
            session: Any = self.session
            type(session)._active_session.session = session
            return
        self._context.setLocalProperty(POOL, pool)
        jvm, found = self.session._jvm, self.session._jsparkSession
        self.session._get_j_spark_session_class(jvm).setActiveSession(found)

    # --- what leaves -------------------------------------------------------------------------------------------------

    def _write_rows(self, performed: Performed, name: str) -> None:
        """Make rows of tables that leave to a sink of rows: here, not where they are written, one after the other."""
        leaves = self._core.inboxes[performed.action.node].leaves
        for (edge, time), values in performed.out.sent.items():
            if edge in leaves and self._sinks.takes_rows(edge) and any(map(is_table, values)):
                try:
                    values[:] = [row for value in values for row in (rows_of(value) if is_table(value) else (value,))]
                except Exception as error:
                    what = f"when what it sent on {brief(edge)} was computed,"
                    raise NodeFailed(name, time, what, None, error) from error


def session_for(session: Any) -> SparkSession:
    """The session to run with; refused is what is none (PS741), and what PS751 to PS756 say."""
    if session is None:
        session = active_session()
    if session is None:
        return start_session(graphframes=False)
    if not is_remote(session) and not hasattr(session, "sparkContext"):
        raise no_session(f"{brief(session)} is not a session of Spark")
    if session.is_stopped if is_remote(session) else session.sparkContext._jsc is None:
        raise no_session("the session was stopped")
    check_session(session, graphframes=False)
    found: SparkSession = session
    return found


def no_session(what: str) -> PointstampError:
    """What was given as a session is none that can be used."""
    return PointstampError("PS741", what, 'a SparkSession with engine="spark", or none, and one is started')


def _text(time: Any) -> str:
    plain = write_time(time)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, default=str)


def _what(action: Action) -> str:
    if action.edge is None:
        return "notified"
    count = len(action.values)
    return f"{count} {'message' if count == 1 else 'messages'} from {action.edge}"
