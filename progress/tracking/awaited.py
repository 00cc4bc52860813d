"""Who awaits a tracker in an event loop: that a time is complete at a node, or that something is ready.

All of it happens under the tracker's lock; loops are only told, wherever they run. Whoever stops waiting, after a
timeout for instance, is forgotten. However many wait for a node and a time, the engine has one waiter for them, known
by its number.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from progress.tracker import Tracker
    from progress.tracking.ledger import Node

    Waiting = dict[Future[None], AbstractEventLoop]


class _AtNode(NamedTuple):
    """Those who wait for one time at one node."""

    node: Node
    time: Any
    waiting: Waiting


class Awaited:
    """Futures, each with its loop; those of nodes by the number with which they wait in the engine."""

    def __init__(self) -> None:
        self._at_nodes: dict[int, _AtNode] = {}
        self._numbers: dict[tuple[Node, Any], int] = {}
        self.ready: Waiting = {}  # who waits for anything to be ready

    def waiter(self, node: Node, time: Any) -> int | None:
        """The number with which this time waits at this node in the engine already."""
        return self._numbers.get((node, time))

    def at_node(self, loop: AbstractEventLoop, waiter: int, node: Node, time: Any) -> Future[None]:
        """A future that is done when the waiter is released."""
        self._numbers[node, time] = waiter
        return _added(loop, self._at_nodes.setdefault(waiter, _AtNode(node, time, {})).waiting)

    def for_ready(self, loop: AbstractEventLoop) -> Future[None]:
        """A future that is done when something is ready, or all is over."""
        return _added(loop, self.ready)

    def places(self) -> Iterable[tuple[int, tuple[Node, Any]]]:
        """The waiters at nodes, for a new engine."""
        return [(waiter, (node, time)) for waiter, (node, time, _) in self._at_nodes.items()]

    def over(self, waiter: int) -> None:
        """The waiter is released."""
        node, time, waiting = self._at_nodes.pop(waiter)
        del self._numbers[node, time]
        _tell(waiting)

    def tell(self, tracker: Tracker) -> None:
        """After a step: something may be ready, or nothing is outstanding any more."""
        if tracker._fresh or not tracker.is_active():
            waiting, self.ready = self.ready, {}
            _tell(waiting)


def _added(loop: AbstractEventLoop, waiting: Waiting) -> Future[None]:
    future = loop.create_future()
    waiting[future] = loop
    future.add_done_callback(lambda done: waiting.pop(done, None))
    return future


def _tell(waiting: Waiting) -> None:
    for future, loop in list(waiting.items()):
        with suppress(RuntimeError):  # the loop is closed, by now it may be: nobody waits there any more
            loop.call_soon_threadsafe(_done, future)


def _done(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)
