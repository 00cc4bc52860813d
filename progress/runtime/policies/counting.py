"""Input that advances by count: so many values are one time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from progress.runtime.policies.policy import Policy, Rule, bad_policy
from progress.runtime.source import Complete, Source


def by_count(values: Source, every: int = 1, *, first: int = 0, at: Callable[[int], Any] | None = None) -> Policy:
    """The first `every` values are of time `first`, the next of the time after it, and so on.

    A time is complete when its last value has come; nothing is ever late. `at` makes a time of the graph of a number,
    and has to be monotone: `lambda number: (number, 0)`. Cost: O(1) a value.

    Returns
    -------
    The source, with its times.

    Raises
    ------
    PointstampError
        PS720 where `every` is less than one.

    Examples
    --------
    >>> from pointstamp import Dataflow, by_count, from_edges
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> flow.run(sources={"in->a": by_count(["x", "y", "z"], every=2)})
    {'a->out': [(0, 'x'), (0, 'y'), (1, 'z')]}
    """
    if every < 1:
        raise bad_policy(f"{every} values are to be one time", "at least one")

    def rule() -> Rule:
        count = 0
        number = first
        time = _at(at, number)

        def taken(value: Any) -> Iterable[Any]:
            nonlocal count, number, time
            item = (time, value)
            count += 1
            if count < every:
                return (item,)
            count = 0
            number += 1
            time = _at(at, number)
            return item, Complete((time,))

        return taken

    return Policy(values, rule)


def _at(at: Callable[[int], Any] | None, number: int) -> Any:
    return number if at is None else at(number)
