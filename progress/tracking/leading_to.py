"""What leads to a pointstamp: for each location, the latest times from which it could result.

The search runs backwards from the goals, over summaries run backwards (`progress.normal_form.backwards`). One search
serves all that is outstanding: something at (x, t) leads to the goal when t lies at or below a latest time of x, and
the way there is the one on which the search came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from progress.cycles.finite_way import finite_way
from progress.normal_form.backwards import latest
from progress.order import Domain, Product, is_flat
from progress.pointstamp import Pointstamp, ending_at
from progress.topology import NO_NODE, Network
from progress.way import Way, folded

STEPS_A_LOCATION = 50
FEWEST_STEPS = 10_000


class _Entry:
    """From `location`, at any time up to `until`, the way leads on to `following`; None at a goal."""

    __slots__ = ("following", "location", "until")

    def __init__(self, location: int, until: Any, following: _Entry | None) -> None:
        self.location = location
        self.until = until
        self.following = following


class LeadingTo:
    """The latest times at every location from which (goal, time) could result.

    Cost: O(locations) where each has few latest times; `known` is False where the search did not come to rest, or where
    a summary or a domain on the way cannot be run backwards.
    """

    def __init__(self, network: Network, goals: Sequence[int], time: Any) -> None:
        self._network = network
        self._goals = frozenset(goals)
        self._time = time
        self._entries: dict[int, list[_Entry]] = {}
        self._tests: dict[int, Callable[[Any, Any], bool]] = {}
        self._waiting: deque[_Entry] = deque()
        self.known = self._search()

    def _search(self) -> bool:
        network, count = self._network, len(self._network.nodes)
        self._left = FEWEST_STEPS + STEPS_A_LOCATION * (count + len(network.edges))
        for goal in self._goals:
            if not is_flat(network.domain(goal)):
                return False
            self._offer(_Entry(goal, self._time, None))
        while self._waiting:
            entry = self._waiting.popleft()
            if entry not in self._entries[entry.location]:
                continue
            self._left -= 1
            if self._left < 0:
                return False
            if entry.location < count:
                for edge in network.incoming[entry.location]:
                    self._offer(_Entry(count + edge, entry.until, entry))
                continue
            source, summary = network.sources[entry.location - count], network.summaries[entry.location - count]
            if source == NO_NODE or summary is None:
                continue
            run_back = latest(summary)
            if run_back is None:
                return False
            for until in run_back(entry.until):
                self._offer(_Entry(source, until, entry))
        return True

    def _offer(self, entry: _Entry) -> None:
        """Keep an entry unless one as late is there; those that are no later go."""
        at_most = self._at_most(entry.location)
        there = self._entries.setdefault(entry.location, [])
        self._left -= len(there) // 16
        if any(at_most(entry.until, other.until) for other in there):
            return
        there[:] = [other for other in there if not at_most(other.until, entry.until)]
        there.append(entry)
        self._waiting.append(entry)

    def _at_most(self, location: int) -> Callable[[Any, Any], bool]:
        domain = self._network.domain(location)
        key = id(domain)
        if key not in self._tests:
            self._tests[key] = _test(domain)
        return self._tests[key]

    def latest(self, location: int) -> list[Any]:
        """The latest times at a location from which the goal could result; a coordinate that is not bounded is inf."""
        return [entry.until for entry in self._entries.get(location, ())]

    def way(self, location: int, time: Any) -> Way | None:
        """The way from (location, time) to a goal, over neighbouring locations; None where there is none."""
        at_most = self._at_most(location) if location in self._entries else None
        entry = next((each for each in self._entries.get(location, ()) if at_most and at_most(time, each.until)), None)
        if entry is None:
            return None
        network, count = self._network, len(self._network.nodes)
        way = [Pointstamp(network.name(location), time)]
        while entry.following is not None:
            following = entry.following
            if entry.location < count:
                summary = network.summaries[following.location - count]
                assert summary is not None
                at_most = self._at_most(following.location)
                time = next(after for after in summary.limits(time) if at_most(after, following.until))
            way.append(Pointstamp(network.name(following.location), time))
            entry = following
        return folded(finite_way(network, ending_at(way, self._time)), {}, network)


def _test(domain: Domain) -> Callable[[Any, Any], bool]:
    """Whether one time is at or below another, which may be unbounded."""
    if isinstance(domain, Product):
        return lambda one, other: all(map(_not_above, one, other))
    return _not_above


def _not_above(one: Any, other: Any) -> bool:
    return bool(one <= other)
