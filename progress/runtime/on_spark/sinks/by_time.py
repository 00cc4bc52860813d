"""A sink that writes each time once: when it is complete, all of its rows as one commit.

What leaves at a time is kept, unread, until the frontier of the edge has passed that time. Then a thread of the sink
writes it, times in an order in which none comes before an earlier one, while the run goes on; several writers write
several at once. A store commits a time under its name and that of the run, and passes over a time that this run has
committed: so a time that leaves again, after a kill, is written once. What waits stands in the checkpoint (`snapshot`),
as do those that are being written. A run that stops cuts short what is being written, and begins no other time.

What is released must not come out otherwise after a kill (*Delivery, consistency, and determinism*, Theorem 1). Where
all before the sink is replayed alike, a time may leave when it is complete. Elsewhere it is *held*: until the
checkpoint that covers it is on the disk, and then what is written is what the checkpoint has. A side output has no
frontier, and gets what several sources bring, in no certain order; so it is held as well, and what came between two
checkpoints is one commit, by a number.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.plain import write_time
from progress.runtime.on_spark.connect import is_remote
from progress.runtime.on_spark.jobs.groups import JobGroups
from progress.runtime.on_spark.jobs.reasons import said
from progress.runtime.on_spark.sources.positions import in_order
from progress.runtime.on_spark.tables.schemas import together
from progress.runtime.source_failure import as_row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LONGEST_PLAIN = 40  # characters of a name that is the time itself


class Store(Protocol):
    """Where times are committed."""

    def begin(self, run: str, is_continued: bool) -> None:
        """A run begins, or goes on; refused is what its save mode refuses."""
        ...

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write the rows of a time, all or none, unless this run has; whether another run's were there already."""
        ...

    def end(self) -> None:
        """The run has written all that it had."""
        ...


def key_of(time: Any) -> str:
    """What a time is called in a store: digits for a number, else its text made plain, with a mark that tells apart."""
    text = json.dumps(write_time(time), sort_keys=True, default=str)
    plain = re.sub(r"[^A-Za-z0-9_-]+", ".", text).strip(".")
    if plain == text:
        return text
    return f"{plain[:LONGEST_PLAIN]}~{sha256(text.encode()).hexdigest()[:12]}"


class TimedSink:
    """What all such sinks are, as a program gives them: each run makes one of its own of it."""

    _last: ByTime | None = None

    @property
    def already(self) -> int:
        """At how many times of the last run there was something of another run."""
        return 0 if self._last is None else self._last.already

    def _made(self, name: str, store: Store, place: str, writers: int, kind: type[ByTime] | None = None) -> ByTime:
        if type(writers) is not int or writers < 1:
            raise PointstampError("PS780", f"writers={brief(writers)}: nobody would write", "1 or more")
        self._last = (kind or ByTime)(name, store, place, writers)
        return self._last


class ByTime:
    """The sink of one edge or side output in one run.

    Parameters
    ----------
    name : of the edge or side output
    store : where times are committed
    place : says where times are known, so that no two edges share it
    writers : how many times are written at once
    """

    def __init__(self, name: str, store: Store, place: str, writers: int = 1) -> None:
        self.place = place
        self.already = 0  # times of which rows of another run were there
        self.is_held = False
        self._what = f"what leaves at {brief(name)}"
        self._name = name
        self._store = store
        self._writers = writers
        self._run = uuid4().hex[:8]
        self._is_begun = False
        self._domain: Domain | None = None  # None: a side output, whose times are numbers of commits
        self._number = 0  # of the next one
        self._frontier: tuple[Any, ...] | None = None  # as far as it is known
        self._waiting: dict[Any, list[Any]] = {}  # that are not committed
        self._begun: set[Any] = set()  # of those, the ones that writers have
        self._captured: set[Any] = set()  # that were complete when the last checkpoint was taken
        self._covered: set[Any] = set()  # that were complete in one that is on the disk
        self._as_kept: Callable[[Any], Any] = lambda value: value
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._futures: set[Future[None]] = set()
        self.failure: BaseException | None = None  # what has stopped it
        self._groups = JobGroups()
        self._group = f"pointstamp-{uuid4().hex[:8]} sink {name}"

    def begins(self, domain: Domain) -> None:
        """The run begins, and these are the times of the edge."""
        self._domain = domain

    def hold(self, as_kept: Callable[[Any], Any]) -> None:
        """Release a time only when a checkpoint covers it; `as_kept` gives what the checkpoint has for a value."""
        self.is_held = True
        self._as_kept = as_kept

    def is_new(self) -> None:
        """The run continues no other."""
        self._begin(is_continued=False)

    def write_all(self, time: Any, values: Sequence[Any]) -> None:
        """Keep values until their time is complete. Cost: nothing is computed."""
        self._check()
        with self._lock:
            if self._domain is not None:
                self._waiting.setdefault(time, []).extend(values)
                return
            self._waiting.setdefault(self._number, []).extend(map(as_row, values))  # a failure cannot be kept as it is
            if self.is_held:
                return
            self._number += 1
        self._write()

    def complete(self, times: tuple[Any, ...]) -> None:
        """Only times at or after these still come: write the others. Cost: O(times that wait)."""
        self._check()
        self._frontier = times
        self._write()

    def ended(self) -> None:
        """Nothing leaves any more; the frontier of an edge that has no minimal times never says so."""
        self.complete(())

    def snapshot(self) -> Any:
        """What is not committed, for a checkpoint, with the run, the frontier, and the next number."""
        with self._lock:
            if self._domain is None and self._number in self._waiting:
                self._number += 1
            self._captured = set(self._complete())
            waiting = {time: list(values) for time, values in self._waiting.items()}
            return self._run, self._frontier, self._number, waiting

    def kept(self) -> None:
        """The checkpoint that was taken last is on the disk."""
        with self._lock:
            self._covered |= self._captured
        self._write()

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        self._run, self._frontier, self._number, self._waiting = state
        self._begin(is_continued=True)
        self._covered = set(self._complete())
        self._write()

    def stop(self) -> None:
        """The run has stopped: cut short what is being written, and begin nothing else."""
        self._groups.stop()

    def close(self) -> None:
        """Wait for what is being written; what is not complete is left, for a run that goes on from here."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
        self._check()
        if self._is_begun and not self._waiting:
            self._store.end()

    def settle(self) -> None:
        """Wait until all times that may be written now are committed."""
        with self._lock:
            futures = set(self._futures)
        wait(futures)
        self._check()

    # --- writing -----------------------------------------------------------------------------------------------------

    def _begin(self, is_continued: bool) -> None:
        with self._lock:
            if not self._is_begun:
                self._is_begun = True
                try:
                    self._store.begin(self._run, is_continued)
                except PointstampError:
                    raise
                except Exception as error:
                    raise not_written(self._what, error) from error

    def _complete(self) -> list[Any]:
        """The times that wait, are complete, and have not begun to be written."""
        left = [time for time in self._waiting if time not in self._begun]
        if self._domain is None:
            return [number for number in left if number < self._number]
        if self._frontier is None:
            return []
        less_equal, frontier = self._domain.less_equal, self._frontier
        return [time for time in left if not any(less_equal(at, time) for at in frontier)]

    def _write(self) -> None:
        """Let the writers write all times that may be released."""
        with self._lock:
            ready = [time for time in self._complete() if not self.is_held or time in self._covered]
            self._begun.update(ready)
            if ready and self._pool is None:
                self._pool = ThreadPoolExecutor(self._writers, f"sink {self._name}")
            for time in sorted(ready) if self._domain is None else in_order(self._domain, ready):
                assert self._pool is not None
                future = self._pool.submit(self._commit, time)
                self._futures.add(future)
                future.add_done_callback(self._futures.discard)

    def _commit(self, time: Any) -> None:
        if self.failure is not None or self._groups.is_stopped:
            return
        try:
            self._begin(is_continued=False)
            self._commit_as_group(time)
            with self._lock:
                del self._waiting[time]
                self._begun.discard(time)
                self._covered.discard(time)
        except PointstampError as error:
            self.failure = error
        except Exception as error:
            if not self._groups.is_stopped:  # else it is what was cut short
                self.failure = not_written(f"{self._what} at {brief(time)}", error)
        except BaseException as error:
            self.failure = error

    def _commit_as_group(self, time: Any) -> None:
        def rows() -> Any:
            return self._together([self._as_kept(value) for value in self._waiting[time]])

        with self._opened(time):
            was_there = self._store.commit(time, rows)
        if was_there:
            with self._lock:
                self.already += 1

    def _together(self, values: Sequence[Any]) -> Any:
        """What leaves at a time as one table."""
        return together(self._what, values)

    def _opened(self, time: Any) -> AbstractContextManager[None]:
        """The job group in which a time is written."""
        from progress.runtime.on_spark.session import start_session

        session = start_session(graphframes=False)
        context = session if is_remote(session) else session.sparkContext
        return self._groups.opened(context, self._group, f"{self._name} at {time}: write")

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure


def not_written(what: str, error: Exception) -> PointstampError:
    """A time that cannot be written (PS778), with what Spark says of it."""
    right = "mend what makes the rows, or the place; the run goes on from its checkpoint"
    failure = PointstampError("PS778", f"{what} cannot be written: {said(error) or type(error).__name__}", right)
    failure.__cause__ = error
    return failure
