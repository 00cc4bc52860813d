"""What a node may do during a call: send, and request notifications, as far as the graph declares (A&I 3.1, 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from progress.order import NO_TIME, as_time
from progress.runtime.failure import (
    asks_for_none,
    asks_too_early,
    no_time_of,
    not_an_exit,
    out_of_turn,
    sends_too_early,
)
from progress.summary import Summary
from progress.topology import Network

Sent = dict[tuple[str, Any], list[Any]]
NONE: Sent = {}


class _Never:
    """What a node may request that never requests anything."""

    def apply(self, time: Any) -> tuple[Any, ...]:
        return ()


class Exits:
    """The edges that leave a node, and what the graph declares of them: the same for all calls of the node."""

    __slots__ = ("domains", "edges", "name", "node_domain", "notifies", "requests", "summaries")

    def __init__(self, network: Network, node: int) -> None:
        self.name = network.nodes[node]
        leaving = network.outgoing[node]
        self.edges = tuple(network.edges[edge] for edge in leaving)
        self.summaries = {network.edges[edge]: network.summaries[edge] for edge in leaving}
        self.domains = {network.edges[edge]: network.edge_domains[edge] for edge in leaving}
        self.node_domain = network.domains[node]
        self.notifies = network.notifies[node]
        self.requests: Summary | _Never = network.requests[node] if self.notifies else _Never()


class Out:
    """Collects what one call of a node does. Nothing of it happens before the call has returned.

    Cost of a message: O(1) where the call has sent on that edge at that time before, else that of the summary.
    """

    __slots__ = ("_allowed", "_is_over", "_is_start", "_lists", "_order", "event", "exits", "requests", "sent")

    def __init__(self, exits: Exits, event: Any, is_start: bool = False) -> None:
        self.exits = exits
        self.event = event  # the time of what the node is told
        self.sent: Sent = {}
        self.requests: dict[Any, None] = {}
        self._lists = self.sent  # where a message finds its list, until the call is over
        self._order: list[Any] = []  # for taking back: the lists that were added to, with how much if not one value
        self._allowed: dict[str, tuple[Any, ...]] = {}
        self._is_start = is_start
        self._is_over = False

    @property
    def edges(self) -> tuple[str, ...]:
        """The edges that leave the node."""
        return self.exits.edges

    def earliest(self, edge: str) -> tuple[Any, ...]:
        """The earliest times at which this call may send on an edge: what the summary makes of the event's time."""
        found = self._allowed.get(edge)
        if found is None:
            if edge not in self.exits.summaries:
                raise not_an_exit(self.exits.name, edge, self.exits.edges)
            summary = self.exits.summaries[edge]
            found = () if summary is None or self._is_start else tuple(summary.apply(self.event))
            self._allowed[edge] = found
        return found

    def send(self, edge: str, time: Any, value: Any) -> None:
        """Send a message; refused here and now where the summary does not allow it (PS701, PS702)."""
        try:
            values = self._lists.get((edge, time))
        except TypeError:  # no time can be anything that has no hash
            values = None
        if values is None:
            values = self._values(edge, time)
        values.append(value)
        self._order.append(values)

    def send_all(self, edge: str, time: Any, values: Sequence[Any]) -> None:
        """Send several messages of one time. Cost: that of copying them."""
        if values:
            try:
                known = self._lists.get((edge, time))
            except TypeError:
                known = None
            if known is None:
                known = self._values(edge, time)
            known += values
            self._order.append((known, len(values)))

    def request(self, time: Any) -> None:
        """Ask to be told when nothing at or before `time` can arrive any more; asking twice is asking once (PS703)."""
        if self._is_over:
            raise out_of_turn(self.exits.name)
        exits = self.exits
        try:
            is_known = time in self.requests
        except TypeError:
            is_known = False
        if not is_known:
            earliest = () if self._is_start else exits.requests.apply(self.event)
            if len(earliest) == 1 and time is earliest[0]:
                self.requests[time] = None
                return
            if not exits.notifies:
                raise asks_for_none(exits.name)
            found = as_time(exits.node_domain, time)
            if found is NO_TIME:
                raise no_time_of(exits.name, exits.name, time, exits.node_domain)
            less_equal = exits.node_domain.less_equal
            if not self._is_start and not any(less_equal(each, found) for each in earliest):
                raise asks_too_early(exits.name, time, self.event)
            self.requests[found] = None

    def mark(self) -> tuple[int, int]:
        """Where the call stands, for `take_back`."""
        return len(self._order), len(self.requests)

    def take_back(self, mark: tuple[int, int]) -> None:
        """Undo what was done since: a call that fails has no effect."""
        sent, requested = mark
        for added in reversed(self._order[sent:]):
            if type(added) is tuple:
                values, count = added
                del values[-count:]
            else:
                added.pop()
        del self._order[sent:]
        for time in list(self.requests)[requested:]:
            del self.requests[time]

    def close(self) -> None:
        """The call is over; what is done with it now is refused (PS704)."""
        self._is_over = True
        self._lists = NONE

    def _values(self, edge: str, time: Any) -> list[Any]:
        """The list for the messages on an edge at a time, the first time that one is sent there."""
        if self._is_over:
            raise out_of_turn(self.exits.name)
        earliest = self.earliest(edge)
        if len(earliest) == 1 and time is earliest[0]:
            return self.sent.setdefault((edge, time), [])
        domain = self.exits.domains[edge]
        found = as_time(domain, time)
        if found is NO_TIME:
            raise no_time_of(self.exits.name, edge, time, domain)
        if found not in earliest and not any(domain.less_equal(each, found) for each in earliest):
            raise sends_too_early(self.exits.name, edge, time, self.event, earliest)
        return self.sent.setdefault((edge, found), [])
