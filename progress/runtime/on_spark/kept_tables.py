"""Tables that are kept as long as they may be needed, which the tracker knows (`Out.keep`).

A table that is kept is computed once. Without a name it is a local checkpoint: in the memory and on the disks of
workers, and cut off from what it was made of, so that plans in a loop stay as small in the last round as in the first;
it is lost with a worker. With a name it is a Parquet table, which is not.

Who keeps a table says until when: a location and a time. When the frontier there has passed the time, no message and no
notification at or before it can come there any more (A&I 3.3, 4.2), and the table is let go; at an output edge, once a
sink that writes later has written. Nothing else decides: no count of uses, no age. Cost: one callback for each move of
a frontier of which tables are held, O(tables held there).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.columns import fitted, kinds_of
from progress.runtime.tables import FOREVER, NO_MORE, Hold, Tables, is_of_spark
from progress.summary import NoMinimalTimes
from progress.tracker import Tracker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from progress.runtime.on_spark.folders import Folder


class Kept:
    """One table, and what holds it."""

    def __init__(self, table: DataFrame, release: Callable[[], object]) -> None:
        self.table = table
        self.release = release
        self.holds: set[tuple[str, Any]] = set()  # location and time
        self.places: set[str] = set()  # where it was held


class KeptTables(Tables):
    """The tables of one run on Spark.

    Parameters
    ----------
    session : of Spark
    run_id : names the run's folder
    folder : of tables with names
    """

    def __init__(self, session: SparkSession, run_id: str, folder: str | None) -> None:
        self.session = session
        self._run_id = run_id
        self._folder = folder
        self._kept: dict[int, Kept] = {}  # by the identity of the table
        self._held: dict[str, dict[Any, set[int]]] = {}  # location -> time -> tables
        self._files: Folder | None = None  # once there is something in it
        self._numbers = count()
        self._lock = threading.Lock()
        self._leaving: SimpleQueue[Kept | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._tracker: Callable[[], Tracker]
        self._stays: Callable[[str], bool]

    def begin(
        self, tracker: Callable[[], Tracker], stays: Callable[[str], bool], settle: Callable[[str], object]
    ) -> None:
        """The run begins.

        `stays` says whether what leaves on an output edge is handed to the caller; `settle` waits for the sink of one
        that writes a time after it is complete: it may read what is let go.
        """
        self._settle = settle
        self._tracker = tracker
        self._stays = stays

    def make(self, rows: Iterable[Any], columns: str) -> DataFrame:
        """A DataFrame whose rows stand in the plan: no job, and no process of Python at the workers.

        PS745 where they do not fit the columns: the same as in engines without Spark.
        """
        import pyarrow  # type: ignore[import-untyped]
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        fit = fitted(rows, kinds_of(columns))
        kinds = StructType.fromDDL(columns)
        assert isinstance(kinds, StructType)
        made = pyarrow.Table.from_pylist(fit, to_arrow_schema(kinds))
        return self.session.createDataFrame(made, kinds)  # type: ignore[no-any-return]

    # --- keeping -----------------------------------------------------------------------------------------------------

    def keep(self, table: Any, name: str | None) -> Any:
        """The table, computed and cut off. Cost: a job; none for a table that is kept already."""
        if not is_of_spark(table):
            return table
        with self._lock:
            if id(table) in self._kept:
                return table
        kept = self._in_memory(table) if name is None else self._as_files(table, name)
        with self._lock:
            self._kept[id(kept.table)] = kept
        return kept.table

    def _in_memory(self, table: DataFrame) -> Kept:
        found = table.localCheckpoint(eager=True)
        blocks = found._jdf.queryExecution().logical().rdd()
        return Kept(found, lambda: blocks.unpersist(False))

    def _as_files(self, table: DataFrame, name: str) -> Kept:
        from progress.runtime.on_spark.folders import Folder, as_it_is

        if self._folder is None:
            raise no_folder(name)
        folder = self._files = Folder(self.session, self._folder)
        place = f"{self._run_id}/{name}/{next(self._numbers)}"
        table.write.parquet(folder.place(place))
        found = self.session.read.schema(table.schema).parquet(as_it_is(folder.place(place)))
        return Kept(found, lambda: folder.delete(place))

    # --- letting go --------------------------------------------------------------------------------------------------

    def hold(self, holds: Sequence[Hold]) -> None:
        """Hold tables from now on; called when the step in which they were kept has been entered."""
        for table, at, until in holds:
            kept = self._kept.get(id(table))
            if kept is None:
                continue
            if until is NO_MORE:
                self._drop(id(table), (at, FOREVER))
                continue
            kept.holds.add((at, until))
            kept.places.add(at)
            if until is FOREVER:
                continue
            if at not in self._held:
                self._held[at] = {}
                with suppress(NoMinimalTimes):  # then it is let go when the run is over
                    self._tracker().subscribe(at, self._moved)
            self._held[at].setdefault(until, set()).add(id(table))
        for at in {at for _, at, _ in holds if at in self._held}:
            self._moved(at)

    def _moved(self, at: str, left: tuple[Any, ...] = (), came: tuple[Any, ...] = ()) -> None:
        """The frontier at a location is another: let go what it has passed."""
        held, tracker = self._held[at], self._tracker()
        if not held or self._stays(at):
            return
        try:
            frontier = tracker.frontier(at)
        except NoMinimalTimes:
            return
        less_equal = tracker.network.domain(tracker.network.numbers[at]).less_equal
        for until in [time for time in held if not any(less_equal(each, time) for each in frontier)]:
            for number in held.pop(until):
                self._drop(number, (at, until))

    def _drop(self, number: int, hold: tuple[str, Any]) -> None:
        """One hold less; without any the table goes."""
        kept = self._kept[number]
        kept.holds.discard(hold)
        if not kept.holds:
            with self._lock:
                del self._kept[number]
            self._let_go(kept)

    def _let_go(self, kept: Kept) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="tables that are let go", daemon=True)
            self._thread.start()
        self._leaving.put(kept)

    def _work(self) -> None:
        while (kept := self._leaving.get()) is not None:
            for place in kept.places:
                with suppress(Exception):  # the run has it from the sink
                    self._settle(place)
            _release(kept)

    def close(self, is_failed: bool) -> None:
        """The run is over. What is part of its result stays, unless it failed."""
        if self._thread is not None:
            self._leaving.put(None)
            self._thread.join()
        stay = [kept for kept in self._kept.values() if not is_failed and any(self._stays(at) for at, _ in kept.holds)]
        for kept in self._kept.values():
            if kept not in stay:
                _release(kept)
        if self._files is not None and not stay:
            with suppress(Exception):
                self._files.delete(self._run_id)
        self._kept.clear()


def no_folder(name: str) -> PointstampError:
    """A table with a name, in a run without a folder."""
    what = f"a table is kept as {brief(name)}, and there is no folder for it"
    return PointstampError("PS743", what, 'run(engine="spark", folder=...), or pointstamp run --tables DIR')


def _release(kept: Kept) -> None:
    with suppress(Exception):  # the session may have been stopped
        kept.release()
