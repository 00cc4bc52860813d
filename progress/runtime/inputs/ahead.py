"""How far a source is read ahead: so many times of it are in the run at once, and the next waits (A&I 4.2, `Inp`).

A time of an input is *in flight* from its first message until it is complete: until nothing at or before what could
result from it (Close-up, A&I 3.3) can happen where the graph ends any more, which is at its outputs, and at nodes that
nothing leaves. A message of another time is not brought while as many are in flight as may be; what its source says
after it waits behind it.

That cannot deadlock. What is in flight may wait for the input itself, as a window does for its end; or for another
input that is silent. So where nobody has anything to do, one more time comes in, whatever is in flight. How many times
are worked on is bounded all the same.

A source has to say what is complete: of a list without `Complete` no time is before all of it was read, so each of its
times waits until there is nothing to do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from progress.closure import ClosureTooLarge, close
from progress.order import NO_TIME, as_time
from progress.runtime.source import MARKS, Late, Messages
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE, Network
from progress.tracker import Tracker

Results = list[tuple[str, tuple[Any, ...]]]  # where the graph ends, and the earliest times there


class Ahead:
    """The times in flight of one input.

    Parameters
    ----------
    network, edge : of the input
    most : how many may be in flight

    Cost: a Close-up for each time, and a look at the frontiers where the graph ends for each that is in flight whenever
    the source might be read.
    """

    def __init__(self, network: Network, edge: str, most: int) -> None:
        self.tracker: Tracker | None = None  # once the run has begun
        self.kept: deque[Any] = deque()  # items that were read and may not come in yet
        self.most_open = 0  # times that were in flight at once
        self._network = network
        self._edge = edge
        self._most = most
        self._domain = network.domain(network.numbers[edge])
        self._ends = ends(network, edge)
        self._open: dict[Any, Results] = {}
        self._room = 0

    @property
    def times(self) -> tuple[Any, ...]:
        """The times that were in flight when the source was read last."""
        return tuple(self._open)

    def resume(self, times: Iterable[Any]) -> None:
        """Go on where these times were in flight; what is not a time here is not."""
        found = (as_time(self._domain, time) for time in times)
        self._open = {time: self._results(time) for time in found if time is not NO_TIME}

    def begin(self, is_idle: bool) -> bool:
        """Look at what is in flight; whether another time may come in, as one may where the run is idle."""
        self._open = {time: results for time, results in self._open.items() if self._is_in_flight(results)}
        self._room = max(self._most - len(self._open), int(is_idle))
        return self._room > 0

    def within(self, items: Iterable[Any], is_read: bool) -> Iterator[Any]:
        """Those of the items that may come in now, in their order.

        The first that may not is kept for the next time; with `is_read`, so is what comes after it.
        """
        rest = iter(items)
        if self.kept:
            before, self.kept = self.kept, deque()
            rest = chain(before, rest)
        for item in rest:
            if not self._may_come(item):
                self.kept.append(item)
                if is_read:
                    self.kept += rest
                return
            yield item

    def _may_come(self, item: Any) -> bool:
        """Whether an item may come in; a message of another time uses room."""
        if type(item) is Messages:
            time = item.time
        elif type(item) in MARKS or type(item) is Late:
            return True
        else:
            try:
                time, _ = item
            except (TypeError, ValueError):
                return True  # it is refused where it comes in
        found = as_time(self._domain, time)
        if found is NO_TIME or found in self._open:
            return True
        if not self._room:
            return False
        self._room -= 1
        self._open[found] = self._results(found)
        self.most_open = max(self.most_open, len(self._open))
        return True

    def _results(self, time: Any) -> Results:
        """What could result from messages of this time, where the graph ends."""
        try:
            closure = close(self._network, [(self._edge, time)])
            return [(end, closure.times(self._network.numbers[end])) for end in self._ends]
        except (NoMinimalTimes, ClosureTooLarge):  # it is never complete, or nobody knows when: it is not waited for
            return []

    def _is_in_flight(self, results: Results) -> bool:
        assert self.tracker is not None
        for end, times in results:
            less_equal = self._network.domain(self._network.numbers[end]).less_equal
            frontier = self.tracker.frontier(end)
            if any(less_equal(at, time) for time in times for at in frontier):
                return True
        return False


def ends(network: Network, edge: str) -> list[str]:
    """Where what comes in on an edge ends: outputs, and nodes of components that nothing leaves.

    Cost: O(nodes and edges).
    """
    start = network.targets[network.numbers[edge] - len(network.nodes)]
    if start == NO_NODE:
        return [edge]
    reached, left = {start}, [start]
    found: list[str] = []
    goes_on: set[int] = set()  # components that something leaves
    while left:
        node = left.pop()
        for leaving in network.outgoing[node]:
            target = network.targets[leaving]
            if target == NO_NODE:
                found.append(network.edges[leaving])
            if target == NO_NODE or network.component[target] != network.component[node]:
                goes_on.add(network.component[node])
            if target != NO_NODE and target not in reached:
                reached.add(target)
                left.append(target)
    return [*found, *(network.nodes[node] for node in sorted(reached) if network.component[node] not in goes_on)]
