"""Tables that are kept as long as they may be needed, which the tracker knows (`Out.keep`).

A table that is kept is computed once and cut off from what it was made of (`kept_forms`), so that plans in a loop stay
as small in the last round as in the first. It is let go when nothing holds it any more, and two things hold it:

* Who keeps a table says until when: a location and a time. That holds it until the frontier there has passed the time,
  when no message and no notification at or before it can come there any more (A&I 3.3, 4.2). Cost: one callback for
  each move of a frontier of which tables are held, O(tables held there).
* What is sent and reads it, the table itself or a plan that is made of it, holds it as long as anybody has what was
  sent: a queue, a node that waits for the rest of a time, a sink that writes later, the caller in the end. So no sink
  ever meets a table that is gone. Cost: a look at the plan of each table that is sent while there are tables that are
  kept, a few calls of the JVM.

Nothing else decides: no count of uses, no age.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, finalize

from progress.errors import PointstampError, brief
from progress.runtime.columns import Kind, fitted, kinds_of
from progress.runtime.on_spark.connect import beyond_reach, is_remote
from progress.runtime.on_spark.tables.kept_forms import Form, as_files, in_memory, kept_by_server, marks_in
from progress.runtime.tables import FOREVER, NO_MORE, Hold, Tables, is_of_spark
from progress.summary import NoMinimalTimes
from progress.tracker import Tracker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from progress.runtime.on_spark.folders import Folder


class Kept:
    """One table, and what holds it."""

    def __init__(self, form: Form) -> None:
        self.mark = form.mark
        self.release = form.release
        self.holds: set[tuple[str, Any]] = set()  # location and time; or an edge, and what was sent there


class _Columns(NamedTuple):
    """Columns that were read once, by the JVM: a node may make a thousand tables of them."""

    kinds: dict[str, Kind]
    in_spark: Any
    in_arrow: Any


def _read(columns: str) -> _Columns:
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    kinds = kinds_of(columns)
    found = StructType.fromDDL(columns)
    assert isinstance(found, StructType)
    return _Columns(kinds, found, to_arrow_schema(found))


class Sent:
    """Something that was sent, and reads a table."""


Leaving = tuple[Kept, tuple[str, Any]]


class Call:
    """A call of a node that is being made, and what went meanwhile, with the other calls that were made then."""

    def __init__(self) -> None:
        self.gone: list[tuple[Leaving, list[Call]]] = []


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
        self._columns: dict[str, _Columns] = {}  # as they were written
        self._folder = folder
        self._kept: WeakKeyDictionary[Any, Kept] = WeakKeyDictionary()  # by the table
        self._marks: dict[str, Kept] = {}
        self._there: WeakSet[Any] = WeakSet()  # that a server of Spark Connect keeps
        self._held: dict[str, dict[Any, set[Kept]]] = {}  # location -> time -> tables
        self._files: Folder | None = None  # once there is something in it
        self._numbers = count()
        self._lock = threading.Lock()
        self._calls: dict[int, Call] = {}  # by thread
        self._leaving: SimpleQueue[Leaving | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._tracker: Callable[[], Tracker]
        self._stays: Callable[[str], bool]

    def begin(self, tracker: Callable[[], Tracker], stays: Callable[[str], bool]) -> None:
        """The run begins. `stays` says whether what leaves on an output edge is handed to the caller."""
        self._tracker = tracker
        self._stays = stays

    def make(self, rows: Iterable[Any], columns: str) -> DataFrame:
        """A DataFrame whose rows stand in the plan: no job, and no process of Python at the workers.

        PS745 where they do not fit the columns: the same as in engines without Spark.
        """
        import pyarrow  # type: ignore[import-untyped]

        known = self._columns.get(columns)
        if known is None:
            known = self._columns[columns] = _read(columns)
        made = pyarrow.Table.from_pylist(fitted(rows, known.kinds), known.in_arrow)
        return self.session.createDataFrame(made, known.in_spark)  # type: ignore[no-any-return]

    # --- keeping -----------------------------------------------------------------------------------------------------

    def keep(self, table: Any, name: str | None) -> Any:
        """The table, computed and cut off. Cost: a job; none for a table that is kept already."""
        if not is_of_spark(table):
            return table
        if is_remote(self.session):
            return self._kept_there(table, name)
        with self._lock:
            if table in self._kept:
                return table
        form = in_memory(table) if name is None else self._as_files(table, name)
        kept = Kept(form)
        with self._lock:
            self._kept[form.table] = self._marks[kept.mark] = kept
        return form.table

    def _kept_there(self, table: DataFrame, name: str | None) -> DataFrame:
        """The same over Spark Connect: the server lets it go when nobody here has it, or a plan that is made of it."""
        if name is not None:
            raise beyond_reach(f"a table that is kept as {brief(name)}", "no name; or a classic session")
        with self._lock:
            if table in self._there:
                return table
        found = kept_by_server(table)
        with self._lock:
            self._there.add(found)
        return found

    def _as_files(self, table: DataFrame, name: str) -> Form:
        from progress.runtime.on_spark.folders import Folder

        if self._folder is None:
            raise no_folder(name)
        self._files = Folder(self.session, self._folder)
        return as_files(table, self._files, f"{self._run_id}/{name}/{next(self._numbers)}")

    # --- holding -----------------------------------------------------------------------------------------------------

    def hold(self, holds: Sequence[Hold]) -> None:
        """Hold tables from now on; called when the step in which they were kept has been entered."""
        for table, at, until in holds:
            kept = self._kept.get(table) if is_of_spark(table) else None
            if kept is None:
                continue
            if until is NO_MORE:
                self._drop(kept, (at, FOREVER))
                continue
            with self._lock:
                kept.holds.add((at, until))
            if until is FOREVER:
                continue
            if at not in self._held:
                self._held[at] = {}
                with suppress(NoMinimalTimes):  # then it is let go when the run is over
                    self._tracker().subscribe(at, self._moved)
            self._held[at].setdefault(until, set()).add(kept)
        for at in {at for _, at, _ in holds if at in self._held}:
            self._moved(at)

    @contextmanager
    def during_call(self) -> Iterator[None]:
        """This thread makes a call of a node. What it was given is there until it is known what it has sent.

        That may go in another thread, which had it last; so whatever goes waits for all calls that are made then.
        """
        call = self._calls[threading.get_ident()] = Call()
        try:
            yield
        finally:
            with self._lock:
                del self._calls[threading.get_ident()]
                made = list(self._calls.values())
                for leaving, calls in call.gone:
                    others = [each for each in calls if each in made]
                    if others:
                        others[0].gone.append((leaving, others))
                    else:
                        self._leaving.put(leaving)

    def sent(self, edge: str, values: Iterable[Any]) -> None:
        """Hold what these values read as long as somebody has them; part of the call that sends them."""
        if not self._marks:
            return
        for table in _tables_in(values):
            for mark in set(marks_in(table)):
                kept = self._marks.get(mark)
                if kept is not None:
                    hold = (edge, Sent())
                    with self._lock:
                        kept.holds.add(hold)
                    self._begin_to_let_go()
                    finalize(table, self._gone, kept, hold).atexit = False

    def _gone(self, kept: Kept, hold: tuple[str, Any]) -> None:
        """Nobody has what was sent any more. This may be any thread, at any instant, so it takes no lock.

        It is left to a call that is being made. One that has ended meanwhile may not have seen it: then it is left to
        another one, and what went twice has gone once.
        """
        while calls := list(self._calls.values()):
            calls[0].gone.append(((kept, hold), calls))
            if any(call is calls[0] for call in list(self._calls.values())):
                return
        self._leaving.put((kept, hold))

    def _moved(self, at: str, left: tuple[Any, ...] = (), came: tuple[Any, ...] = ()) -> None:
        """The frontier at a location is another: drop what it has passed."""
        held, tracker = self._held[at], self._tracker()
        if not held or self._stays(at):
            return
        try:
            frontier = tracker.frontier(at)
        except NoMinimalTimes:
            return
        less_equal = tracker.network.domain(tracker.network.numbers[at]).less_equal
        for until in [time for time in held if not any(less_equal(each, time) for each in frontier)]:
            for kept in held.pop(until):
                self._drop(kept, (at, until))

    # --- letting go --------------------------------------------------------------------------------------------------

    def _drop(self, kept: Kept, hold: tuple[str, Any]) -> None:
        self._begin_to_let_go()
        self._leaving.put((kept, hold))

    def _begin_to_let_go(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._let_go, name="tables that are let go", daemon=True)
                self._thread.start()

    def _let_go(self) -> None:
        """In a thread of its own: one hold less, and without any the table goes."""
        while (leaving := self._leaving.get()) is not None:
            kept, hold = leaving
            with self._lock:
                kept.holds.discard(hold)
                is_over = not kept.holds and self._marks.pop(kept.mark, None) is not None
            if is_over:
                _release(kept)

    def close(self, is_failed: bool) -> None:
        """The run is over. What is part of its result stays, unless it failed."""
        if self._thread is not None:
            self._leaving.put(None)
            self._thread.join()
        there = list(self._marks.values())
        stay = [kept for kept in there if not is_failed and any(self._stays(at) for at, _ in kept.holds)]
        for kept in there:
            if kept not in stay:
                _release(kept)
        if self._files is not None and not stay:
            with suppress(Exception):
                self._files.delete(self._run_id)
        self._marks.clear()


def no_folder(name: str) -> PointstampError:
    """A table with a name, in a run without a folder.

    Returns
    -------
    PS743, to be raised.

    Examples
    --------
    >>> from progress.runtime.on_spark.kept_tables import no_folder
    >>> no_folder("totals").code
    'PS743'
    """
    what = f"a table is kept as {brief(name)}, and there is no folder for it"
    return PointstampError("PS743", what, 'run(engine="spark", folder=...), or pointstamp run --tables DIR')


def _tables_in(values: Any) -> Iterator[DataFrame]:
    """The DataFrames among values, and in what holds several."""
    for value in values.values() if isinstance(values, dict) else values:
        if is_of_spark(value):
            yield value
        elif isinstance(value, list | tuple | dict):
            yield from _tables_in(value)


def _release(kept: Kept) -> None:
    with suppress(Exception):  # the session may have been stopped
        kept.release()
