"""When a checkpoint is taken of a run that is kept: when it is due, between two steps, while calls go on.

Engines ask between two actions whether one is due, and a thread of its own where all others may be busy. Calls that are
being made have not begun, as far as the checkpoint is concerned; only those of which that cannot be said are waited
for, and meanwhile no such call begins (`progress.runtime.underway`). So a checkpoint is late by no more than one such
call, however long others take, and where calls come to their end some of it is kept. Taking them costs a bounded share
of the time, since the next is due so much later as one took.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from progress.runtime.checkpoint import State
from progress.runtime.durable.codec import Beside
from progress.runtime.durable.delivery import Log

WORK = 9  # times as long as a checkpoint takes is worked before the next
WORK_BESIDE = 1  # the same where jobs go on elsewhere while it is taken


class Keeping(NamedTuple):
    """How a run is kept: who takes checkpoints, the seconds between two, the one from which the run goes on,
    what keeps parts of it outside of their bytes, whether these are pickles and not plain data, who is told when the
    run is as it was at that checkpoint, and where the order in which things happen is written, if it is.
    """

    keep: Callable[[State], None]
    seconds: float = 1.0
    begun: State | None = None
    beside: Beside | None = None
    with_pickle: bool = False
    restored: Callable[[], None] = lambda: None
    log: Log | None = None


class Rests:
    """The instants of one run at which checkpoints are taken.

    Parameters
    ----------
    seconds : from the end of one to when the next is due
    take : takes a checkpoint
    moves : how much has happened so far; while nothing happens none is due
    clock : the seconds now
    work : how many times as long as one takes is worked before the next
    """

    def __init__(
        self,
        seconds: float,
        take: Callable[[], None],
        moves: Callable[[], int],
        clock: Callable[[], float] = monotonic,
        work: float = WORK,
    ) -> None:
        self._seconds = seconds
        self._take = take
        self._moves = moves
        self._clock = clock
        self._work = work
        self._seen = moves()
        self._next = clock() + seconds

    def is_due(self) -> bool:
        """Whether a checkpoint is to be taken as soon as it can. Cost: a look at the clock."""
        return self._clock() >= self._next and self._moves() != self._seen

    def rest(self) -> None:
        """Take it: no step is half done."""
        begin = self._clock()
        self._take()
        end = self._clock()
        self._seen = self._moves()
        self._next = end + max(self._seconds, self._work * (end - begin))

    def pause(self) -> float | None:
        """The seconds until one is due if nothing more happens; None where none will be."""
        if self._moves() == self._seen:
            return None
        return max(0.0, self._next - self._clock())
