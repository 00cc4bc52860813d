"""What a run on Spark is asked to keep to: a bound on its rounds, whom to tell how it goes, how it is cancelled."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from graphs.at_scale.errors import cancelled, failed, too_large_a_number, too_many_rounds
from progress.errors import PointstampError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROUNDS = 1_000
FITS = 4_000_000  # edges that are taken out of Spark at once: about 1 GB on the driver
WAKES = 0.1  # seconds between two looks at the event


class Round(NamedTuple):
    """What is told after each round: what was done, its number, the nodes that changed in it, their new times.

    Examples
    --------
    >>> from graphs.at_scale import Options, Round
    >>> told = []
    >>> Options(on_round=told.append).told("closing", 1, 20, 7)
    >>> told
    [Round(work='closing', number=1, active=20, frontier=7)]
    """

    work: str
    number: int
    active: int
    frontier: int


@dataclass(frozen=True)
class Options:
    """How a run on Spark goes.

    Parameters
    ----------
    rounds : how many rounds it may take, before PS758 is raised
    on_round : called after each one
    cancel : when it is set, the jobs that run are cancelled, and PS759 is raised
    fits : how many edges are taken out of Spark, to be judged together by the local engine

    Examples
    --------
    >>> from graphs.at_scale import Options
    >>> Options(rounds=50).rounds
    50
    """

    rounds: int = ROUNDS
    on_round: Callable[[Round], None] | None = None
    cancel: threading.Event | None = None
    fits: int = FITS

    def look(self) -> None:
        """Refuse (PS759) to go on where the event is set."""
        if self.cancel is not None and self.cancel.is_set():
            raise cancelled()

    def told(self, work: str, number: int, active: int, frontier: int) -> None:
        """After a round: tell it, and refuse the next where it is one too many."""
        self.look()
        if self.on_round is not None:
            self.on_round(Round(work, number, active, frontier))
        if active and number >= self.rounds:
            raise too_many_rounds(number, active)


@contextmanager
def one_group(session: SparkSession, options: Options, describe: str) -> Iterator[None]:
    """Everything that Spark does inside is one group of jobs, ended when `options.cancel` is set.

    Exceptions of Spark become one line: PS759 where it was cancelled, PS761 for numbers that overflow, else PS756.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    context = session.sparkContext
    group = f"pointstamp-{uuid.uuid4().hex[:12]}"
    names = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
    before = {name: context.getLocalProperty(name) for name in names}
    context.setJobGroup(group, f"pointstamp: {describe}", interruptOnCancel=True)
    over = threading.Event()
    watcher = None
    if options.cancel is not None:
        watcher = threading.Thread(target=_watch, args=(session, group, options.cancel, over), daemon=True)
        watcher.start()
    try:
        yield
    except PointstampError:
        raise
    except (PySparkException, Py4JError) as error:
        if options.cancel is not None and options.cancel.is_set():
            raise cancelled() from None
        reason = str(error)
        if "ARITHMETIC_OVERFLOW" in reason:
            raise too_large_a_number() from None
        raise failed(reason.strip().splitlines()[0][:200]) from None
    finally:
        over.set()
        if watcher is not None:
            watcher.join()
        for name, value in before.items():
            context.setLocalProperty(name, value)  # type: ignore[arg-type]


def _watch(session: SparkSession, group: str, cancel: threading.Event, over: threading.Event) -> None:
    while not over.is_set():
        if cancel.wait(WAKES):
            session.sparkContext.cancelJobGroup(group)
            if over.wait(WAKES):
                return


def cut(frame: DataFrame) -> DataFrame:
    """The frame computed now and its lineage forgotten, so that plans do not grow with the rounds."""
    return frame.localCheckpoint(eager=True)
