"""What all time policies are: a source around a source, and a rule that says what becomes of each item.

`late` is the side output for what comes too late, `opens` the times at which the input opens, where these are not the
least of its domain (`int` has none).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from copy import copy
from typing import Any, TypeAlias

from progress.errors import PointstampError
from progress.order import Domain
from progress.runtime.source import AT_HAND, SILENT, Complete, Source, items_of
from progress.runtime.source_failure import Refused

PASSED_ON = frozenset({Complete, Refused})  # types of items that no rule is asked about

Rule: TypeAlias = Callable[[Any], Iterable[Any]]  # from a value to items


def bad_policy(what: str, right: str) -> PointstampError:
    """A policy that cannot work."""
    return PointstampError("PS720", what, right)


class Policy:
    """A source that completes times by a rule. Each run works with a copy of its own (`source_for`).

    Parameters
    ----------
    source : where values come from; `SILENT`, `Complete` and `Refused` in it are passed on
    rule : makes the rule of one run; a value for which it raises is refused, and the next one is its own
    late : the side output for late items; None: as the source within says, else `late`
    opens : the times at which the input opens; None: as the source within says, else the least times of its domain

    Examples
    --------
    >>> from progress.runtime.policies import Policy, by_count
    >>> isinstance(by_count(["x"]), Policy)
    True
    """

    follows_clock = False  # whether what it brings depends on when that is

    def __init__(
        self,
        source: Source,
        rule: Callable[[], Rule],
        late: str | None = None,
        opens: Iterable[Any] | None = None,
    ) -> None:
        self.reached: tuple[Any, ...] = ()  # from where on messages still came, as it was said last in this run
        self.has_ended = False  # nothing comes any more
        self.within = source
        self._rule = rule
        self.late = late
        self._opens = None if opens is None else tuple(opens)
        self._followers: list[Callable[[], None]] = []

    @property
    def asks_servers(self) -> bool:
        """Whether the source within does, before it brings anything."""
        return getattr(self.within, "asks_servers", False)

    def source_for(self, made: dict[Policy, Policy]) -> Policy:
        """This policy for one run, around those that it is made of; `made` has the policies of that run so far."""
        if self not in made:
            mine = made[self] = copy(self)
            mine._followers = []
            if isinstance(self.within, Policy):
                mine.within = self.within.source_for(made)
        return made[self]

    def items_for(self, engine: str, edge: str, domain: Domain) -> Iterator[Any] | AsyncIterator[Any]:
        """The items of one run."""
        self.begin()
        items = items_of(self.within, engine, edge, domain)
        names = self._names(items)
        if isinstance(items, AsyncIterator):
            return AsyncItems(self, _apply_async(items, self._rule()), *names)
        return Items(self, _apply(items, self._rule()), *names, items)

    def begin(self) -> None:
        """A run begins: nothing is complete."""
        self.reached = ()
        self.has_ended = False

    def passed(self, times: tuple[Any, ...]) -> None:
        """The items of this run have completed all but these times and what comes after them."""
        if times:
            self.reached = times
        else:
            self.has_ended = True
        for follower in tuple(self._followers):
            follower()

    def follow(self, follower: Callable[[], None]) -> Callable[[], None]:
        """Have a function called whenever more is complete, from whatever thread; the function returned ends that."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower)

    def _names(self, items: Any) -> tuple[str, tuple[Any, ...] | None]:
        late = self.late if self.late is not None else getattr(items, "late", "late")
        return late, self._opens if self._opens is not None else getattr(items, "opens", None)


class Items:
    """The items of one run of a policy. `within` is what they are made of: it may wait, and have a `handle`."""

    def __init__(
        self, policy: Policy, items: Iterator[Any], late: str, opens: tuple[Any, ...] | None, within: object
    ) -> None:
        self.late = late
        self.opens = opens
        self.handle: int | None = getattr(within, "handle", None)
        self.is_prompt: bool = type(within) in AT_HAND or getattr(within, "is_prompt", False)
        self._policy = policy
        self._next = items.__next__
        self._stop: Callable[[], None] | None = getattr(within, "stop", None)
        self.within = within

    @property
    def place(self) -> str | None:
        """The file and line of what came last, if they are known."""
        return getattr(self.within, "place", None)

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        try:
            item = self._next()
        except StopIteration:
            self._policy.passed(())
            raise
        if type(item) is Complete:
            self._policy.passed(tuple(item.times))
        return item

    def stop(self) -> None:
        """The run stops before its end: end what waits for the source. Called by another thread."""
        if self._stop is not None:
            self._stop()


class AsyncItems:
    """The items of one run of a policy whose source is asynchronous."""

    def __init__(self, policy: Policy, items: AsyncIterator[Any], late: str, opens: tuple[Any, ...] | None) -> None:
        self.late = late
        self.opens = opens
        self._policy = policy
        self._items = items

    def __aiter__(self) -> AsyncItems:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await anext(self._items)
        except StopAsyncIteration:
            self._policy.passed(())
            raise
        if type(item) is Complete:
            self._policy.passed(tuple(item.times))
        return item


def explicit(items: Source, *, late: str | None = None, opens: Iterable[Any] | None = None) -> Policy:
    """Items that have their own times and say themselves what is complete: `(time, value)` and `Complete(times)`.

    Returns
    -------
    The source.

    Examples
    --------
    >>> from pointstamp import Complete, Dataflow, from_edges
    >>> from progress.runtime.policies import explicit
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> flow.run(sources={"in->a": explicit([(0, "x"), Complete([1]), (0, "y")], late="behind")})
    {'a->out': [(0, 'x')], 'behind': [(0, 'y')]}
    """
    return Policy(items, lambda: lambda item: (item,), late, opens)


def _apply(values: Iterator[Any], rule: Rule) -> Iterator[Any]:
    for value in values:
        if value is SILENT or type(value) in PASSED_ON:
            yield value
            continue
        try:
            yield from rule(value)
        except Exception as error:
            yield Refused(value, error, getattr(values, "place", None))


async def _apply_async(values: AsyncIterator[Any], rule: Rule) -> AsyncIterator[Any]:
    async for value in values:
        if value is SILENT or type(value) in PASSED_ON:
            yield value
            continue
        try:
            for item in rule(value):
                yield item
        except Exception as error:
            yield Refused(value, error, getattr(values, "place", None))
