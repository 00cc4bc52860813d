"""When a run that is kept rests, so that a checkpoint can be taken: no node runs, and no step is half done.

Engines ask between two actions whether a rest is due. If so they begin nothing new, let what runs come to its end, and
call `rest`. A node that runs for long must not hold up all others: after a while the run goes on without a rest, and
waits longer the next time. So resting, and waiting for it, takes at most a tenth of the time, and comes about at last.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from progress.runtime.checkpoint import Beside, State

WORK = 9  # times as long as a rest, or a wait for one, is worked before the next
PATIENCE = 0.1  # seconds that are waited at first for what runs


class Keeping(NamedTuple):
    """How a run is kept: who takes checkpoints, the seconds between two, the one from which the run goes on, and
    what keeps parts of it outside of the pickles.
    """

    keep: Callable[[State], None]
    seconds: float = 1.0
    begun: State | None = None
    beside: Beside | None = None


class Rests:
    """The rests of one run.

    Parameters
    ----------
    seconds : from the end of a rest to when the next one is due
    take : takes a checkpoint
    moves : how much has happened so far; while nothing happens no rest is due
    clock : the seconds now
    """

    def __init__(
        self, seconds: float, take: Callable[[], None], moves: Callable[[], int], clock: Callable[[], float] = monotonic
    ) -> None:
        self._seconds = seconds
        self._take = take
        self._moves = moves
        self._clock = clock
        self._seen = moves()
        self._next = clock() + seconds
        self._patience = PATIENCE
        self._until: float | None = None  # until when what runs is waited for

    def is_due(self) -> bool:
        """Whether nothing new is to begin until there was a rest. Cost: a look at the clock."""
        now = self._clock()
        if now < self._next or self._moves() == self._seen:
            return False
        if self._until is None:
            self._until = now + self._patience
        elif now >= self._until:  # what runs takes too long
            self._next = now + WORK * self._patience
            self._patience *= 2
            self._until = None
            return False
        return True

    def rest(self) -> None:
        """The run rests."""
        begin = self._clock()
        self._take()
        end = self._clock()
        self._seen = self._moves()
        self._next = end + max(self._seconds, WORK * (end - begin))
        self._patience = max(PATIENCE, self._patience / 2)
        self._until = None

    def pause(self) -> float | None:
        """The seconds until `is_due` may say something else if nothing more happens; None where it will not."""
        if self._moves() == self._seen:
            return None
        return max(0.0, (self._next if self._until is None else self._until) - self._clock())
