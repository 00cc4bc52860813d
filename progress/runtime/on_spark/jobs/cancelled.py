"""What is left of jobs that were cancelled: tasks that were not told of it.

Spark tells a task once, by an interrupt. A task that is just about to begin misses it, and so does one whose code
swallows it. Its job is over, and the task goes on: it keeps its core for as long as it takes, and no job that comes
later gets that core. So the tasks of cancelled jobs are looked for, and told again until they have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

OFTEN = 0.2  # seconds between two looks
GRACE = 1.0  # seconds in which a task that was told may end, before it is told again
QUIET = 1.0  # seconds without such a task after which there are none: Spark's own counts lag behind
LONGEST = 60.0  # seconds after which a task that does not listen is left to itself
MANY = 100  # tasks of a stage that are looked at in one go


class Cancelled:
    """Cancelled jobs of one context of Spark. Cost of a look: some calls of the JVM for each job.

    `jobs` is asked before each look: it cancels what has come since, and says which jobs they all are.
    """

    def __init__(self, context: Any, jobs: Callable[[], Iterable[int]]) -> None:
        self._context = context
        self._jobs = jobs
        self._seen: dict[int, float] = {}  # tasks, and when they were seen first or told last

    def end(self) -> None:
        """Until no job is there and no task has run for some time, or those that do not listen have had theirs."""
        begun = quiet = monotonic()
        with suppress(Exception):  # the JVM may have ended, or the session
            while (now := monotonic()) - quiet < QUIET and now - begun < LONGEST:
                if self._is_any_left(now):
                    quiet = now
                sleep(OFTEN)

    def _is_any_left(self, now: float) -> bool:
        """Whether a job or a task is left; tasks that should have ended by now are told again."""
        tracker = self._context.statusTracker()
        jobs = set(self._jobs())
        active = set(tracker.getActiveJobsIds())
        running = set(self._running(tracker, jobs, active - jobs))
        for task in running:
            if now - self._seen.setdefault(task, now) >= GRACE:
                self._seen[task] = now
                self._context._jsc.sc().killTaskAttempt(task, True, "its job was cancelled")
        return bool(running or jobs & active)

    def _running(self, tracker: Any, jobs: Iterable[int], others: Iterable[int]) -> Iterator[int]:
        """The tasks that run, of stages that no other job waits for."""
        stages = set(_stages(tracker, jobs))
        for stage in stages.difference(_stages(tracker, others)) if stages else ():
            found = tracker.getStageInfo(stage)
            if found is not None and found.numActiveTasks:
                yield from self._tasks(stage, found.currentAttemptId)

    def _tasks(self, stage: int, attempt: int) -> list[int]:
        """Of one attempt of a stage, the tasks that run."""
        jvm = self._context._jvm
        wanted = jvm.java.util.ArrayList()
        wanted.add(jvm.org.apache.spark.status.api.v1.TaskStatus.RUNNING)
        store = self._context._jsc.sc().statusStore()
        found = store.taskList(stage, attempt, 0, MANY, jvm.scala.Option.empty(), True, wanted)
        return [int(found.apply(number).taskId()) for number in range(found.size())]


def _stages(tracker: Any, jobs: Iterable[int]) -> Iterator[int]:
    for job in jobs:
        found = tracker.getJobInfo(job)
        if found is not None:
            yield from found.stageIds
