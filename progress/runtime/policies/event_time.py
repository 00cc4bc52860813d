"""Input that advances by event time: by when things happened, not when they came.

Values come out of order, but not by more than the allowed lateness: when something of event time x has come, nothing
before `x - lateness` is waited for any more. What comes before that nevertheless is late, unless its window is still
open for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from progress.runtime.policies.policy import Policy, Rule, bad_policy
from progress.runtime.source import Complete, Source


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
    window : the width of windows: all that happens within one is of one time, its number from `start` on
    start : the event time with which everything begins
    at : makes a time of the graph of an event time, or of a window's number; has to be monotone
    value : what is sent on of a value; None: all of it
    late : the side output for what is late; `late` where nothing else is said

    Cost: O(1) a value.
    """
    if window is not None and not window > window * 0:
        raise bad_policy(f"windows are {window!r} wide", "more than nothing")
    if lateness < lateness * 0:
        raise bad_policy(f"values may be late by {lateness!r}", "nothing, or more")

    def time_of(when: Any) -> Any:
        found = when if window is None else (when - start) // window
        return found if at is None else at(found)

    def rule() -> Rule:
        latest = start
        reached = time_of(start)

        def taken(given: Any) -> Iterable[Any]:
            nonlocal latest, reached
            when = time(given)
            item = (time_of(when), given if value is None else value(given))
            if not when > latest:
                return (item,)
            latest = when
            mark = when - lateness
            if not mark > start or (now := time_of(mark)) == reached:
                return (item,)
            reached = now
            return item, Complete((now,))

        return taken

    return Policy(values, rule, late)
