"""Nodes that take their messages in order: by time, then by edge, then as they came on it (`Node.ordered`).

What comes to such a node is taken out of its queues at once and held here; in the graph a request of its time stands
for it (A&I 4.2). When nothing at or before that time can arrive any more, and nothing that comes before it in a linear
extension of the times, what is held is handed to the node: all of the first edge, in the order in which it came, then
of the next, as the graph names them, and at last the notification, if the node has asked for it. So what a node does is
the same on every engine, for every seed, whatever came first; the price is that wait.

In a total order the notification says all of that. Where times may be incomparable, times that come before in the
linear extension may still arrive although nothing at or before this one can: the wait is until the frontiers of all
edges into the node have passed it there, too: of pairs, epoch 2 waits for all of epoch 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

from progress.runtime.actions.inbox import Inbox
from progress.runtime.failure import OnError
from progress.runtime.node import Node
from progress.topology import Network


class OrderedInbox(Inbox):
    """What waits for a node that takes its messages in order; `queues` and `ready` have what is next alone.

    `frontiers` gives the minimal times that may still come on its edges; it is asked where times may be incomparable.
    """

    __slots__ = ("_due", "_edges", "_held", "_left", "_now", "_wanted", "asked", "frontiers", "is_total")

    is_ordered = True

    def __init__(self, network: Network, node: int, behaviour: Node, policy: OnError) -> None:
        super().__init__(network, node, behaviour, policy)
        self.at_once = 1
        self.is_total = network.domains[node].is_total
        self.frontiers: Callable[[], Iterable[Any]] = tuple
        self.asked: set[Any] = set()  # times of which the node wants to be notified
        self._edges = [network.edges[edge] for edge in network.incoming[node]]
        self._held: dict[Any, dict[str, list[Any]]] = {}  # by time and edge, of all times that a request stands for
        self._wanted: list[tuple[Any, str, Any]] = []  # those that have not begun, a heap in the linear extension
        self._due: set[Any] = set()  # those of them that are complete
        self._now: tuple[Any] | None = None  # the time that is handed on
        self._left: deque[str] = deque()  # edges whose messages of that time are still to be handed on

    # --- what comes --------------------------------------------------------------------------------------------------

    def wants(self, time: Any) -> bool:
        """Whether a request has to stand for this time from now on, as none does."""
        if time in self._held:
            return False
        self._held[time] = {}
        heappush(self._wanted, (self.key(time), repr(time), time))
        return True

    def asks(self, time: Any) -> None:
        """The node wants to be notified of a time."""
        self.wants(time)
        self.asked.add(time)

    def put(self, edge: str, time: Any, values: list[Any]) -> None:
        """Hold messages."""
        self.wants(time)
        self._held[time].setdefault(edge, []).extend(values)

    def put_first(self, edge: str, time: Any, values: list[Any]) -> None:
        """What was taken and not done is next again."""
        self.queues[edge, time] = values + self.queues.get((edge, time), [])

    def put_ready(self, time: Any) -> None:
        """Nothing at or before this time can arrive any more."""
        if self._now is not None and self._now[0] == time:
            self.ready.append(time)  # a notification that was given back
        else:
            self._due.add(time)

    # --- what is next ------------------------------------------------------------------------------------------------

    @property
    def has_work(self) -> bool:
        """Whether a call may begin now: what is next is put into `queues`, or `ready`."""
        if self.busy:
            return False
        while not (self.queues or self.ready) and self._advance():
            pass
        return bool(self.queues or self.ready)

    def _advance(self) -> bool:
        """Find what is next; whether there may be something."""
        if self._left:
            edge = self._left.popleft()
            assert self._now is not None
            self.queues[edge, self._now[0]] = self._held[self._now[0]].pop(edge)
        elif self._now is not None:
            if self._now[0] not in self.asked:
                return False  # it is over when the call that was the last one is entered
            self.ready.append(self._now[0])
        elif self._wanted and self._may_begin(*self._wanted[0]):
            time = heappop(self._wanted)[2]  # here: what is wanted meanwhile may come before it, with the same key
            self._now = (time,)
            self._due.discard(time)
            self._left = deque(edge for edge in self._edges if edge in self._held[time])
        else:
            return False
        return True

    def _may_begin(self, key: Any, text: str, time: Any) -> bool:
        """Whether all is over that comes before this time, the first of those that are wanted."""
        return time in self._due and (self.is_total or all(self.key(at) > key for at in self.frontiers()))

    def made(self, has_asked: Iterable[Any], is_notified: bool) -> list[Any]:
        """A call was made, and has asked for these notifications; times that are over with it, though none was told.

        A time is over when it was notified of, or when all its messages are consumed and nobody wants to be notified.
        """
        for time in has_asked:
            self.asks(time)
        if self._now is None or self.queues or self._left:
            return []
        time = self._now[0]
        if not is_notified and time in self.asked:
            return []
        self.asked.discard(time)
        del self._held[time]
        self._now = None
        return [] if is_notified else [time]

    # --- checkpoints -------------------------------------------------------------------------------------------------

    def all_ready(self) -> list[Any]:
        """The times that are complete, in a linear extension."""
        now = () if self._now is None else self._now
        return sorted({*now, *self._due}, key=self.key)

    def waiting(self) -> Iterator[tuple[str, Any, list[Any]]]:
        """All messages that are held, in an order in which `put` makes the same of it."""
        yield from super().waiting()
        for time, edges in self._held.items():
            yield from ((edge, time, values) for edge, values in edges.items())

    def queued(self) -> Iterator[tuple[str, Any, list[Any]]]:
        """What of it waits on edges: nothing, a request stands for it."""
        return iter(())
