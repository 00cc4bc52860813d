"""Job groups that end together: those of a run, or of a sink, which has a thread of its own.

Over Spark Connect a group is a tag of what its thread starts, and there are no descriptions.

Every job that a run starts belongs to a group, whoever starts it: a node, a source, a checkpoint, a sink. So stopping
is one call: what runs is cancelled, and so is what its threads would still start, and what is left of it afterwards
(`cancelled`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from time import sleep
from typing import Any

from progress.runtime.on_spark.connect import is_remote
from progress.runtime.on_spark.jobs.cancelled import Cancelled

OFTEN = 0.1  # seconds between two attempts to cancel what goes on
LAST = 100  # jobs of a group: those that were running are among them


class JobGroups:
    """The groups that are open now. Cost of opening one: a call of the JVM, some tenths of a millisecond."""

    def __init__(self) -> None:
        self.is_stopped = False
        self._open: dict[str, tuple[Any, int]] = {}  # the context, and in how many threads the group is open
        self._ending: threading.Thread | None = None
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, context: Any, group: str, description: str) -> Iterator[None]:
        """Jobs that this thread starts belong to the group; where all is stopped already they are cancelled at once.

        `context` is Spark's, or a session of Spark Connect.
        """
        with self._lock:
            self._open[group] = (context, self._open.get(group, (context, 0))[1] + 1)
        try:
            if is_remote(context):
                context.addTag(_tag(group))
            else:
                context.setJobGroup(group, description, interruptOnCancel=True)
            if self.is_stopped:
                self.stop()
            yield
        finally:
            if is_remote(context):
                context.removeTag(_tag(group))
            with self._lock:
                count = self._open.pop(group)[1] - 1
                if count:
                    self._open[group] = (context, count)

    def stop(self) -> None:
        """Cancel what runs; what has not begun will not begin.

        Spark itself refuses later jobs of a group that was cancelled, but not the first part of one that shuffles under
        adaptive execution. So groups are cancelled until their threads have left them, and until nothing is left.
        """
        self.is_stopped = True
        if self._cancel_all():
            with self._lock:
                if self._ending is None or not self._ending.is_alive():
                    self._ending = threading.Thread(target=self._end_all, name="jobs that are cancelled", daemon=True)
                    self._ending.start()

    def _end_all(self) -> None:
        ended: dict[str, Any] = {}
        while found := self._cancel_all():
            ended.update(found)
            sleep(OFTEN)
        for context in {id(context): context for context in ended.values() if not is_remote(context)}.values():
            Cancelled(context, lambda context=context: _cancelled(context, ended)).end()  # type: ignore[misc]

    def _cancel_all(self) -> dict[str, Any]:
        """Cancel the groups that are open, which are these, each with its context."""
        with self._lock:
            groups = {group: context for group, (context, _) in self._open.items()}
        for group, context in groups.items():
            _cancel(context, group)
        return groups


def _cancelled(context: Any, groups: Iterable[str]) -> Iterator[int]:
    """Cancel groups again; their last jobs."""
    tracker = context.statusTracker()
    for group in groups:
        _cancel(context, group)
        yield from sorted(tracker.getJobIdsForGroup(group))[-LAST:]


def _cancel(context: Any, group: str) -> None:
    with suppress(Exception):  # the JVM may be what has failed
        if is_remote(context):
            context.interruptTag(_tag(group))
            return
        context._jsc.sc().cancelJobGroupAndFutureJobs(group)


def _tag(group: str) -> str:
    """A tag may have no comma."""
    return group.replace(",", ";")
