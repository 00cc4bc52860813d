"""When a checkpoint is taken of a run that is kept: when it is due, between two steps, while calls go on.

Engines ask between two actions whether one is due, and a thread of its own where all others may be busy. Calls that are
being made have not begun, as far as the checkpoint is concerned; only those of which that cannot be said are waited
for, and meanwhile no such call begins (`underway.py`). So a checkpoint is late by no more than one such call, however
long others take, and where calls come to their end some of it is kept.

It is that of its *border*, the instant at which it is taken. What cannot be written at once is written afterwards,
between other actions, and what is committed is committed by another thread: the run is held for a moment at a time.
What is to be done goes first: while there is something, a checkpoint that is not late yet has no more of the time than
its share. So that it comes to its end where calls are long, what can be written between two of them alone has its share
of the time in which nothing of it could be, in one piece. Taking checkpoints costs a bounded share of the time, since
the next is due so much later as one has held up what was to be done. One that will soon be due is taken at once when
all has been done that there was to do: then it holds nothing up, and what comes regularly finds it over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.codec import Beside
from progress.runtime.durable.delivery import Log
from progress.runtime.durable.mappings.states import States

WORK = 9  # times as long as a checkpoint holds up what is to be done is worked before the next
WORK_BESIDE = 1  # the same where jobs go on elsewhere while it is taken
EARLY = 0.25  # of the time between two: how much sooner one is taken where there is nothing else to do


class Unfinished(Protocol):
    """A checkpoint whose border was, and that is not on the disk yet; `after` is called once it is."""

    after: Callable[[], None]

    def go_on(self) -> bool:
        """Do a little of what is left; whether nothing is. The run is held meanwhile."""
        ...

    @property
    def pause(self) -> float:
        """The seconds after which it is worth while to go on."""
        ...

    def finish(self) -> None:
        """Do all that is left."""
        ...


class Keeping(NamedTuple):
    """How a run is kept.

    Parameters
    ----------
    keep : takes a checkpoint of these parts
    seconds : between two checkpoints
    begun : the checkpoint from which the run goes on; None: it begins
    beside : keeps parts of the run outside of their bytes
    with_pickle : whether these are pickles, and not plain data
    restored : told when the run is as it was at `begun`
    log : where the order is written in which things happen, if what is done again has to be the same
    logs_all : whether all of the order is written, or no more than engines leave to chance
    states : keeps each `State` by its changes
    positions : where inputs stood that begin at their position by themselves
    ended : told when the run has come to its end
    stopped : told when it has to stop before that
    rests_first : whether a checkpoint is taken before anything more leaves, where one may be: since `begun` the machine
        was started anew, or what has left may leave again, and from now on may not, or the other way round
    """

    keep: Callable[[State], Unfinished | None]
    seconds: float = 1.0
    begun: State | None = None
    beside: Beside | None = None
    with_pickle: bool = False
    restored: Callable[[], None] = lambda: None
    log: Log | None = None
    logs_all: bool = True
    states: States | None = None
    positions: Mapping[str, Any] = MappingProxyType({})
    ended: Callable[[], None] = lambda: None
    stopped: Callable[[], None] = lambda: None
    rests_first: bool = False


class Rests:
    """The instants of one run at which checkpoints are taken, and go on.

    Parameters
    ----------
    seconds : from the end of one to when the next is due
    take : takes a checkpoint; what is not finished then goes on afterwards
    moves : how much has happened so far; while nothing happens none is due
    clock : the seconds now
    work : how many times as long as one holds up what is to be done is worked before the next
    may : whether one may be taken at all now
    """

    def __init__(
        self,
        seconds: float,
        take: Callable[[], Unfinished | None],
        moves: Callable[[], int],
        clock: Callable[[], float] = monotonic,
        work: float = WORK,
        may: Callable[[], bool] = lambda: True,
    ) -> None:
        self._seconds = seconds
        self._take = take
        self._moves = moves
        self._may = may
        self._clock = clock
        self._work = work
        self._seen = moves()
        self._next = clock() + seconds
        self._held = 0.0  # seconds for which the last one held up what was to be done
        self._lasted = 0.0  # the seconds of what was done of it last
        self._was_busy = False
        self._waits_until = 0.0  # where there is something else to do
        self._is_late_at = 0.0
        self._has_waited = False
        self._may_since = 0.0  # since when more of the last one could have been done, as far as its share goes
        self._unfinished: Unfinished | None = None

    def is_due(self, *, is_busy: bool) -> bool:
        """Whether a checkpoint is to be taken as soon as it can. Cost: a look at the clock.

        `is_busy` says that there is something else to do: then it is not taken early.
        """
        sooner = 0.0 if is_busy else EARLY * self._seconds
        if self._unfinished is not None or self._clock() < self._next - sooner:
            return False
        return self._moves() != self._seen and self._may()

    def rest(self) -> None:
        """Take it: no step is half done."""
        begin = self._clock()
        self._unfinished = self._take()
        self._seen = self._moves()
        self._held = 0.0
        self._was_held(begin, is_busy=True)
        self._may_since = self._waits_until
        self._is_late_at = self._clock() + self._seconds
        if self._unfinished is None:
            self._end()

    def _was_held(self, begin: float, *, is_busy: bool) -> None:
        now = self._clock()
        self._lasted = now - begin
        self._held += self._lasted if is_busy else 0.0
        self._waits_until = now + self._work * self._lasted

    def turn(self, is_busy: bool) -> None:
        """Between two actions, all of which may be taken as not begun: take what is due, or go on with it."""
        if not self.go_on(is_busy=is_busy) and self.is_due(is_busy=is_busy):
            self.rest()

    def go_on(self, *, is_busy: bool) -> bool:
        """Go on with the one that was taken last; whether it was not finished.

        `is_busy` says that there is something else to do: then it may wait. Cost: a few hundred microseconds, or its
        share of the time in which nothing of it could be done.
        """
        if self._unfinished is None:
            return False
        begin = self._clock()
        if is_busy and not self._was_busy:  # what has just come may soon be done
            self._waits_until = max(self._waits_until, begin + self._work * self._lasted)
        self._was_busy = is_busy
        self._has_waited = is_busy and begin < min(self._waits_until, self._is_late_at)
        if self._has_waited:
            return True
        until = begin + (begin - self._may_since) / max(self._work, 1)
        is_over = self._unfinished.go_on()
        while not (is_over or self._unfinished.pause) and self._clock() < until:
            is_over = self._unfinished.go_on()
        self._was_held(begin, is_busy=is_busy)
        if not self._unfinished.pause:
            self._may_since = self._waits_until
        if is_over:
            self._unfinished = None
            self._end()
        return True

    def finish(self) -> None:
        """Finish the one that was taken last: nothing else is to be done."""
        if self._unfinished is not None:
            self._unfinished.finish()
            self._unfinished = None
            self._end()

    def _end(self) -> None:
        self._next = self._clock() + max(self._seconds, self._work * self._held)

    def pause(self) -> float | None:
        """The seconds until there is something to do if nothing more happens; None where there will be nothing."""
        if self._unfinished is not None:
            waits = self._waits_until - self._clock() if self._has_waited else 0.0
            return max(waits, self._unfinished.pause)
        if self._moves() == self._seen:
            return None
        return max(0.0, self._next - self._clock())
