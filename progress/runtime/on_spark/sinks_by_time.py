"""A sink that writes each time once: when it is complete, all of its rows as one commit.

What leaves at a time is kept, unread, until the frontier of the edge has passed that time. Then a thread of the sink
writes it, times in an order in which none comes before an earlier one, while the run goes on. A store commits a time
under its name and passes over a time that it has: so a time that leaves again, after a kill, is written once. What
waits stands in the checkpoint (`snapshot`), as do those that are being written. A run that stops cuts short what is
being written, and begins no other time.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.plain import write_time
from progress.runtime.on_spark.job_groups import JobGroups
from progress.runtime.on_spark.said import said
from progress.runtime.on_spark.schemas import together
from progress.runtime.on_spark.sources_positions import in_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LONGEST_PLAIN = 40  # characters of a name that is the time itself


class Store(Protocol):
    """Where times are committed."""

    def commit(self, time: Any, frame: DataFrame) -> None:
        """Write the rows of a time, all or none; a time that is there is passed over."""
        ...


def key_of(time: Any) -> str:
    """What a time is called in a store: digits for a number, else its text made plain, with a mark that tells apart."""
    text = json.dumps(write_time(time), sort_keys=True, default=str)
    plain = re.sub(r"[^A-Za-z0-9_-]+", ".", text).strip(".")
    if plain == text:
        return text
    return f"{plain[:LONGEST_PLAIN]}~{sha256(text.encode()).hexdigest()[:12]}"


class ByTime:
    """The sink of one output edge in one run. `place` says where its times are known, so that no two edges share it."""

    def __init__(self, name: str, store: Store, place: str) -> None:
        self.place = place
        self._what = f"what leaves at {brief(name)}"
        self._name = name
        self._store = store
        self._domain: Domain | None = None
        self._frontier: tuple[Any, ...] | None = None  # as far as it is known
        self._waiting: dict[Any, list[Any]] = {}  # that are not committed
        self._begun: set[Any] = set()  # of those, the ones that the thread has
        self._lock = threading.Lock()
        self._writer: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        self._failure: BaseException | None = None
        self._groups = JobGroups()
        self._group = f"pointstamp-{uuid4().hex[:8]} sink {name}"

    def begins(self, domain: Domain) -> None:
        """The run begins, and these are the times of the edge."""
        self._domain = domain

    def write_all(self, time: Any, values: Sequence[Any]) -> None:
        """Keep values until their time is complete. Cost: nothing is computed."""
        self._check()
        if self._domain is None:
            what = f"{brief(self._name)} is no output edge, so nothing says when its times are complete"
            raise PointstampError("PS775", what, "a list or a function; this sink writes a time when it is complete")
        with self._lock:
            self._waiting.setdefault(time, []).extend(values)

    def complete(self, times: tuple[Any, ...]) -> None:
        """Only times at or after these still come: write the others. Cost: O(times that wait)."""
        self._check()
        self._frontier = times
        self._write()

    def ended(self) -> None:
        """Nothing leaves any more; the frontier of an edge that has no minimal times never says so."""
        self.complete(())

    def snapshot(self) -> Any:
        """What is not committed, for a checkpoint, and the frontier."""
        with self._lock:
            return self._frontier, {time: list(values) for time, values in self._waiting.items()}

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        self._frontier, self._waiting = state
        self._write()

    def stop(self) -> None:
        """The run has stopped: cut short what is being written, and begin nothing else."""
        self._groups.stop()

    def close(self) -> None:
        """Wait for what is being written; what is not complete is left, for a run that goes on from here."""
        if self._writer is not None:
            self._writer.shutdown(wait=True)
        self._check()

    def settle(self) -> None:
        """Wait until all complete times are committed."""
        if self._last is not None:
            self._last.result()
        self._check()

    # --- writing -----------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Let the thread write all times that are complete."""
        if self._frontier is None or self._domain is None:
            return
        less_equal, frontier = self._domain.less_equal, self._frontier
        with self._lock:
            left = [time for time in self._waiting if time not in self._begun]
            ready = [time for time in left if not any(less_equal(at, time) for at in frontier)]
            self._begun.update(ready)
        for time in in_order(self._domain, ready):
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, f"sink {self._name}")
            self._last = self._writer.submit(self._commit, time)

    def _commit(self, time: Any) -> None:
        if self._failure is not None or self._groups.is_stopped:
            return
        try:
            frame = together(self._what, self._waiting[time])
            context = frame.sparkSession.sparkContext
            with self._groups.opened(context, self._group, f"{self._name} at {time}: write"):
                self._store.commit(time, frame)
            with self._lock:
                del self._waiting[time]
                self._begun.discard(time)
        except PointstampError as error:
            self._failure = error
        except Exception as error:
            if not self._groups.is_stopped:  # else it is what was cut short
                self._failure = not_written(f"{self._what} at {brief(time)}", error)
        except BaseException as error:
            self._failure = error

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure


def not_written(what: str, error: Exception) -> PointstampError:
    """A time that cannot be written (PS778), with what Spark says of it."""
    right = "mend what makes the rows, or the place; the run goes on from its checkpoint"
    failure = PointstampError("PS778", f"{what} cannot be written: {said(error) or type(error).__name__}", right)
    failure.__cause__ = error
    return failure
