"""Who awaits a tracker in an event loop: that a time is complete at a node, or that something is ready.

All of it happens under the tracker's lock; loops are only told, wherever they run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from progress.ledger import Node
    from progress.tracker import Tracker


class Awaited:
    """Futures, each with its loop; those of nodes by the number with which they wait in the engine."""

    def __init__(self) -> None:
        self._at_nodes: dict[int, tuple[AbstractEventLoop, Future[None], Node, Any]] = {}
        self._ready: list[tuple[AbstractEventLoop, Future[None]]] = []

    @property
    def any(self) -> bool:
        """Whether somebody waits for anything to be ready."""
        return bool(self._ready)

    def add(
        self, loop: AbstractEventLoop, waiter: int | None = None, node: Node | None = None, time: Any = None
    ) -> Future[None]:
        """A future that is done when the waiter is released, or without one when something is ready or all is over."""
        future = loop.create_future()
        if waiter is None or node is None:
            self._ready.append((loop, future))
        else:
            self._at_nodes[waiter] = loop, future, node, time
        return future

    def places(self) -> Iterable[tuple[int, tuple[Node, Any]]]:
        """The waiters at nodes, for a new engine."""
        return [(waiter, (node, time)) for waiter, (_, _, node, time) in self._at_nodes.items()]

    def over(self, waiter: int) -> None:
        """The waiter is released."""
        loop, future, _, _ = self._at_nodes.pop(waiter)
        _tell(loop, future)

    def tell(self, tracker: Tracker) -> None:
        """After a step: something may be ready, or nothing is outstanding any more."""
        if tracker._fresh or not tracker.is_active():
            waiting, self._ready = self._ready, []
            for loop, future in waiting:
                _tell(loop, future)


def _tell(loop: AbstractEventLoop, future: Future[None]) -> None:
    def done() -> None:
        if not future.done():
            future.set_result(None)

    if not loop.is_closed():
        loop.call_soon_threadsafe(done)
