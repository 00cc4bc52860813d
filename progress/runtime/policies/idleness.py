"""Input that advances when nothing comes: a source that falls silent does not hold everything back.

What silence completes is for the user to say: what was brought so far, what other inputs have completed, or everything.
Whatever the source brings later at such a time is late, and goes to the side output like all that is late.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, TypeAlias

from progress.order import Domain, is_integer
from progress.runtime.policies.policy import AsyncItems, Items, Policy, bad_policy
from progress.runtime.policies.seconds import Clock, SystemClock, VirtualClock
from progress.runtime.policies.waiting import Arrivals, Over
from progress.runtime.source import SILENT, Complete, Source, items_of

To: TypeAlias = Callable[[list[Any]], Iterable[Any]]


def with_idleness(
    source: Source,
    after: float,
    *,
    to: To | None = None,
    follow: Policy | Iterable[Policy] = (),
    clock: Clock | None = None,
    late: str | None = None,
) -> Policy:
    """Let an input advance when its source has brought nothing for a while.

    Parameters
    ----------
    source : the items; a policy or any other source
    after : the seconds of silence
    to : from which times on the input may still bring messages after the silence, made of all distinct times that came
        since the last one, or, with `follow`, of those that the others have reached; `lambda times: ()` closes it for
        ever. By default: the number after the greatest one that came, or what the others have reached
    follow : sources of other inputs: while this one is silent, it has completed what all of them have; those that have
        ended do not count, and when all have, it stays where they last were
    clock : what time it is; by default that of the machine, and in `sim` a `VirtualClock`, of which every `SILENT`
        of the source lets one second go by, unless the source is a pipe, whose silence is one of the machine's seconds
    late : the side output for what comes too late; None: as the source within says, else `late`

    In `threads` the source is read by a thread of its own, so that it may block. So is an iterable in `asyncio`; an
    async iterable is read by a task. In `sim` a source that has to wait says `SILENT`.

    Returns
    -------
    The source, with what its silence completes.

    Raises
    ------
    PointstampError
        PS720 where `after` is not more than no seconds.

    Examples
    --------
    >>> from pointstamp import SILENT, Dataflow, from_edges, with_idleness
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> flow.run(sources={"in->a": with_idleness([(0, "x"), SILENT, SILENT, (0, "y")], after=2)})
    {'a->out': [(0, 'x')], 'late': [(0, 'y')]}
    """
    if not after > 0:
        raise bad_policy(f"a source is silent after {after!r} seconds", "more than none")
    others = (follow,) if isinstance(follow, Policy) else tuple(follow)
    for other in others:
        if not isinstance(other, Policy):
            raise bad_policy(f"{other!r} cannot be followed", "the policy that is the source of another input")
    return _Idle(source, after, to, others, clock, late)


class _Idle(Policy):
    follows_clock = True

    def __init__(
        self,
        source: Source,
        after: float,
        to: To | None,
        others: tuple[Policy, ...],
        clock: Clock | None,
        late: str | None,
    ) -> None:
        super().__init__(source, lambda: lambda item: (item,), late)
        self._after = after
        self._to = to
        self._others = others
        self._clock = clock

    def source_for(self, made: dict[Policy, Policy]) -> Policy:
        """This policy for one run, which follows those of that run."""
        mine = super().source_for(made)
        if isinstance(mine, _Idle):
            mine._others = tuple(other.source_for(made) for other in self._others)
        return mine

    def items_for(self, engine: str, edge: str, domain: Domain) -> Iterator[Any] | AsyncIterator[Any]:
        self.begin()
        items = items_of(self.within, engine, edge, domain)
        names = self._names(items)
        is_virtual = engine == "sim" and getattr(items, "handle", None) is None
        clock = self._clock or (VirtualClock() if is_virtual else SystemClock())
        silence = Silence(self._after, self._to, self._others, clock)
        if isinstance(items, AsyncIterator) or engine == "asyncio":
            return AsyncItems(self, _awaited(items, silence, clock, self._others), *names)
        if engine == "sim":
            return Items(self, _asked(items, silence), *names, items)
        arrivals = Arrivals(items, clock)
        return Items(self, _waited(arrivals, silence, self._others), *names, arrivals)


class Silence:
    """How long nothing has come, and what follows from it: the state of one run."""

    def __init__(self, after: float, to: To | None, others: tuple[Policy, ...], clock: Clock) -> None:
        self._after = after
        self._to = to
        self._others = others
        self._clock = clock
        self._last = clock.now()
        self._brought: dict[Any, None] = {}
        self._told: tuple[Any, ...] | None = None
        self._is_over = False  # the silence has been noticed

    def heard(self, item: Any) -> None:
        """Something has come."""
        if item is SILENT:
            self._clock.silent()
            return
        self._last = self._clock.now()
        self._told = None
        self._is_over = False
        if type(item) is not Complete and not self._others and type(item) in (tuple, list) and item:
            self._brought[item[0]] = None

    @property
    def until(self) -> float | None:
        """When it is silent, by the clock; None where it is already, and only others can change what follows."""
        return None if self._is_over else self._last + self._after

    def advance(self) -> Complete | None:
        """What silence completes now; None where it is none yet, or completes no more than it did."""
        if self._clock.now() < self._last + self._after:
            return None
        self._is_over = True
        if self._others:
            going = [other for other in self._others if not other.has_ended]
            if not all(other.reached for other in going):
                return None
            times = [time for other in going or self._others for time in other.reached]
        else:
            times = list(self._brought)
            self._brought = {}
        if not times:
            return None
        reached = tuple(self._made(times))
        if reached == self._told:
            return None
        self._told = reached
        return Complete(reached)

    def _made(self, times: list[Any]) -> Iterable[Any]:
        if self._to is not None:
            return self._to(times)
        if self._others:
            return times
        if not all(map(is_integer, times)):
            raise bad_policy(f"nobody has said what silence completes after {times[-1]!r}", "a function `to`")
        return (max(times) + 1,)


def _waited(arrivals: Arrivals, silence: Silence, others: tuple[Policy, ...]) -> Iterator[Any]:
    """Items that may block, with what silence completes."""
    with arrivals.woken_by(others):
        while True:
            try:
                found = arrivals.take(silence.until)
            except Over:
                return
            for item in found:
                silence.heard(item)
                yield item
            if not found and (ready := silence.advance()) is not None:
                yield ready


def _asked(items: Iterator[Any], silence: Silence) -> Iterator[Any]:
    """Items that do not block, with what silence completes."""
    for item in items:
        if item is SILENT:
            silence.heard(item)
        ready = silence.advance()  # before the item: what it breaks was silence
        if ready is not None:
            yield ready
        if item is not SILENT:
            silence.heard(item)
        yield item


async def _awaited(
    items: Iterator[Any] | AsyncIterator[Any], silence: Silence, clock: Clock, others: tuple[Policy, ...]
) -> AsyncIterator[Any]:
    """Items that are waited for on the event loop, with what silence completes."""
    from progress.runtime.policies.awaiting import AsyncArrivals  # which brings asyncio

    async with AsyncArrivals(items, clock, others) as arrivals:
        while True:
            try:
                found = await arrivals.take(silence.until)
            except Over:
                return
            for item in found:
                silence.heard(item)
                yield item
            if not found and (ready := silence.advance()) is not None:
                yield ready
