"""Pointstamps (A&I 3.1): a location and a time."""

from __future__ import annotations

from typing import Any, NamedTuple


class Pointstamp(NamedTuple):
    """A message on an edge, or an event or notification at a node, as far as progress is concerned.

    Examples
    --------
    >>> from pointstamp import Pointstamp
    >>> Pointstamp("a->b", 3) == ("a->b", 3)
    True
    """

    location: str
    time: Any


def ending_at(way: list[Pointstamp], time: Any) -> list[Pointstamp]:
    """A way whose last pair is at `time`, at which it arrives because it arrives before; never without its first."""
    if way[-1].time == time:
        return way
    end = Pointstamp(way[-1].location, time)
    return [*way[:-1], end] if len(way) > 1 else [*way, end]
