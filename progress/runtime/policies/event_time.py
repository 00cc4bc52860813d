"""Input that advances by event time: by when things happened, not when they came.

Values come out of order, but not by more than the allowed lateness: when something of event time x has come, nothing
before `x - lateness` is waited for any more. What comes before that nevertheless is late, unless its window is still
open for others. What happened before everything begins is late, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from progress.errors import PointstampError
from progress.runtime.policies.policy import Policy, Rule, bad_policy
from progress.runtime.source import Complete, Late, Source

NO_NUMBERS = (TypeError, ValueError, OverflowError)  # what arithmetic raises that makes no sense


def by_event_time(
    values: Source,
    time: Callable[[Any], Any],
    *,
    lateness: Any = 0,
    window: Any = None,
    start: Any = 0,
    at: Callable[[Any], Any] | None = None,
    value: Callable[[Any], Any] | None = None,
    late: str | None = None,
) -> Policy:
    """Give each value the time at which it happened.

    Parameters
    ----------
    values : what comes in, in any order
    time : the event time of a value: a number, or a `datetime`; whatever can be compared and subtracted from
    lateness : how far behind the latest event time values may come: a number, or a `timedelta`
    window : the width of windows: all that happens within one is of one time, its number from `start` on, an `int`
    start : the event time with which everything begins, 0 by default; where times are `datetime`s, say one
    at : makes a time of the graph of an event time, or of a window's number; has to be monotone
    value : what is sent on of a value; None: all of it
    late : the side output for what is late; `late` where nothing else is said

    Cost: O(1) a value.

    Returns
    -------
    The source, with its times.

    Raises
    ------
    PointstampError
        PS720 where `lateness` is negative, `window` is not positive, or `start` does not go with them.

    Examples
    --------
    >>> from pointstamp import Dataflow, by_event_time, from_edges
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> flow.run(sources={"in->a": by_event_time([3, 12, 9], lambda value: value, window=10, lateness=5)})
    {'a->out': [(0, 3), (0, 9), (1, 12)]}
    """
    if window is not None and not window > window * 0:
        raise bad_policy(f"windows are {window!r} wide", "more than nothing")
    if lateness < lateness * 0:
        raise bad_policy(f"values may be late by {lateness!r}", "nothing, or more")

    def number_of(when: Any) -> Any:
        return when if window is None else int((when - start) // window)  # whole, though a `float` may say it

    def mark_of(when: Any) -> Any:
        return when - lateness if lateness else when

    try:
        first = number_of(start)
        mark_of(start)
    except NO_NUMBERS:
        raise _unlike("the start", start) from None

    def rule() -> Rule:
        latest = start
        reached = first

        def taken(given: Any) -> Iterable[Any]:
            nonlocal latest, reached
            when = time(given)
            try:
                found = number_of(when)
                is_late, is_news = when < start, when > latest
                mark = mark_of(when)
            except NO_NUMBERS:
                raise _unlike("an event time", when) from None
            item = (found if at is None else at(found), given if value is None else value(given))
            if is_late:
                return (Late(*item),)
            if not is_news:
                return (item,)
            latest = when
            if not mark > start or (now := number_of(mark)) == reached:
                return (item,)
            reached = now
            return item, Complete((now if at is None else at(now),))

        return taken

    return Policy(values, rule, late)


def _unlike(what: str, when: Any) -> PointstampError:
    return bad_policy(
        f"{what} is {when!r}, which does not go with start, lateness and window",
        "all numbers; or start= a datetime, and lateness= and window= timedeltas",
    )
