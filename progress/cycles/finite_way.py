"""How times that fall without end are shown: not in a frontier, and on a way as numbers that are low enough."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from progress.antichain import minimal_elements
from progress.normal_form.endless import is_endless, low_enough, lower_than
from progress.normal_form.layout import layout_of
from progress.pointstamp import Pointstamp
from progress.summary import NoMinimalTimes
from progress.topology import Network

MOST_DIGITS = 1 << 17  # binary ones: more than any number has that can be written


def with_an_end(network: Network, location: int, times: tuple[Any, ...]) -> tuple[Any, ...]:
    """The minimal times at a location; `NoMinimalTimes` where one of them is endless."""
    if network.endless and layout_of(network.domain(location)) is not None and any(map(is_endless, times)):
        raise NoMinimalTimes(f"the times at {network.name(location)!r} fall without end, so that none of them is least")
    return times


def finite_way(network: Network, way: list[Pointstamp]) -> list[Pointstamp]:
    """The way, if it is one in times alone, or one over the same locations in times that are low enough.

    It starts at the same time, and arrives at the same one, or at one of those for which that stands if it is endless.
    Cost: O(length * width) summaries for each doubling of digits.
    """
    if not network.endless or not any(_is_endless_at(network, pair) for pair in way):
        return way
    digits = 8 + lower_than(*(pair.time for pair in way)).bit_length()
    while digits <= MOST_DIGITS:
        found = _with(network, way, -(1 << digits))
        if found is not None:
            return found
        digits *= 2
    raise AssertionError(f"no number is low enough for {way}")


def _is_endless_at(network: Network, pair: Pointstamp) -> bool:
    return layout_of(network.domain(network.numbers[pair.location])) is not None and is_endless(pair.time)


def _with(network: Network, way: Sequence[Pointstamp], number: int) -> list[Pointstamp] | None:
    """The way with this number in place of minus infinity; None where it is not low enough."""
    count = len(network.nodes)
    levels: list[dict[Any, Any]] = [{way[0].time: None}]  # by time: the one before it on the way
    for previous, pair in pairwise(way):
        location = network.numbers[pair.location]
        summary = network.summaries[location - count] if location >= count else None
        domain = network.domain(location)
        reached: dict[Any, Any] = {}
        if previous.location == pair.location:  # rounds of a cycle that falls, run to their end at once
            if previous.time not in levels[-1]:
                return None
            reached[pair.time] = previous.time
        for before in levels[-1] if not reached else ():
            for after in (before,) if summary is None else summary.limits(before):
                reached.setdefault(low_enough(after, number) if layout_of(domain) is not None else after, before)
        kept = dict.fromkeys([*minimal_elements(domain, reached), *([pair.time] if pair.time in reached else ())])
        levels.append({time: reached[time] for time in kept})
    end = way[-1]
    less_equal = network.domain(network.numbers[end.location]).less_equal
    endless = _is_endless_at(network, end)
    arrived = [time for time in levels[-1] if (less_equal(end.time, time) if endless else less_equal(time, end.time))]
    if not arrived:
        return None
    time = arrived[0]
    found = [Pointstamp(end.location, time) if endless else end]
    for place in range(len(way) - 1, 0, -1):
        time = levels[place][time]
        found.append(Pointstamp(way[place - 1].location, time))
    found.reverse()
    return found
