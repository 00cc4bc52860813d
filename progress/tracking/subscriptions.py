"""Who wants to be told when the frontier of a location moves.

A location that has times without minimal ones has no frontier to be told of (`NoMinimalTimes`). As long as that is so,
nobody is told anything: what was told last bounds the location still, from below, because Clock only shrinks. When it
has minimal times again, or none because all is over, subscribers are told what differs from what they were told last.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from progress.engines.entering_arc import only_adds
from progress.engines.propagation import Move
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE
from progress.tracking.ledger import Edge, Node

if TYPE_CHECKING:
    from progress.tracker import Tracker

Callback = Callable[[str, tuple[Any, ...], tuple[Any, ...]], object]
Call = tuple[Callback, str, tuple[Any, ...], tuple[Any, ...]]


class Subscriptions:
    """The subscribed locations, found by the vertex that moves them and by what lies there."""

    def __init__(self) -> None:
        self.any: dict[str, _Subscribed] = {}  # by location; empty when nobody is subscribed
        self._by_vertex: dict[int, dict[str, None]] = {}
        self._by_place: dict[str, dict[str, None]] = {}  # by the location where something lies that moves them, too
        self._number = 0
        self.waiting: deque[Call] = deque()  # calls that are lined up, and not made yet
        self._calling = threading.Lock()

    @property
    def vertices(self) -> list[int]:
        """The vertices on which a subscribed location depends."""
        return list(self._by_vertex)

    def add(
        self, tracker: Tracker, place: Edge | Node, callback: Callback, told: Iterable[Any] | None = None
    ) -> Callable[[], None]:
        """Subscribe; what is returned ends it.

        Where the location has no frontier to begin with, `told` is what was told last; `NoMinimalTimes` if it is None.
        """
        name = place.name
        if not self.any:
            tracker._engine.take_moved()  # what moved while nobody was subscribed is no news
        if name in self.any:
            if told is None:
                tracker.frontier(name)  # which may be lost meanwhile, and then what it was told last is not known here
        else:
            subscribed = self.any[name] = _Subscribed(tracker, place, told)
            for where in subscribed.places:
                self._by_place.setdefault(where, {})[name] = None
                tracker._ledger.listen(where, True)
            if subscribed.vertex != NO_NODE:
                self._by_vertex.setdefault(subscribed.vertex, {})[name] = None
                tracker._engine.watch(subscribed.vertex)
        self._number += 1
        number = self._number
        self.any[name].callbacks[number] = callback

        def end() -> None:
            with tracker._lock:
                subscribed = self.any.get(name)
                if subscribed and subscribed.callbacks.pop(number, None) is not None and not subscribed.callbacks:
                    del self.any[name]
                    self._by_vertex.get(subscribed.vertex, {}).pop(name, None)
                    for where in subscribed.places:
                        del self._by_place[where][name]
                        if not self._by_place[where]:
                            del self._by_place[where]
                            tracker._ledger.listen(where, False)

        return end

    def collect(self, tracker: Tracker, touched: Iterable[tuple[Any, ...]]) -> None:
        """Line up the calls that a step causes, in the order of the locations.

        `touched`: tuples that begin with the name of a location where what lies there has changed.

        Cost: O(touched), and O(times that left or came) where nothing is outstanding at the location itself and the
        engine knows the move; else that of `frontier`.
        """
        moves: dict[str, Move | None] = {}
        for vertex, move in tracker._engine.take_moved().items():
            for name in self._by_vertex.get(vertex, ()):
                moves[name] = move
        for item in touched:
            moves.update(dict.fromkeys(self._by_place.get(item[0], ())))
        if len(moves) > 1:
            moves = {name: moves[name] for name in sorted(moves, key=tracker.network.numbers.__getitem__)}
        for name, move in moves.items():
            subscribed = self.any[name]
            left, came = subscribed.moved(tracker, move)
            if left or came:
                self.waiting += [(callback, name, left, came) for callback in subscribed.callbacks.values()]

    def make_calls(self) -> None:
        """Make the calls that wait, unless they are being made; then raise what the first failing one raised."""
        failure: BaseException | None = None
        while self.waiting and self._calling.acquire(blocking=False):
            try:
                while self.waiting:
                    callback, name, left, came = self.waiting.popleft()
                    try:
                        callback(name, left, came)
                    except BaseException as error:
                        failure = failure or error
            finally:
                self._calling.release()
        if failure is not None:
            raise failure


class _Subscribed:
    """A location, its frontier as last told, and whom to tell."""

    def __init__(self, tracker: Tracker, place: Edge | Node, told: Iterable[Any] | None) -> None:
        self.place = place
        self.vertex = place.number if isinstance(place, Node) else place.source
        self.callbacks: dict[int, Callback] = {}
        try:
            self._frontier = set(tracker.frontier(place.name))
        except NoMinimalTimes:
            if told is None:
                raise
            self._frontier = set(told)
        self._source = None if isinstance(place, Node) or place.is_input else tracker._ledger.node_of(place.source)
        self.places = [place.name]  # where something lies that is part of its frontier
        if self._source is not None:
            self.places.append(self._source.name)  # its requests lie before its outgoing edges
        adds = isinstance(place, Node) or (place.summary is not None and only_adds(place.summary))
        self._follows = adds and not tracker.network.endless

    def moved(self, tracker: Tracker, move: Move | None) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What left the frontier and what came, in a linear extension; `move` is what the vertex did, if known."""
        if move is not None and self._follows and not self._has_own():
            left, came = move
            if isinstance(self.place, Edge):
                assert self.place.summary is not None
                apply = self.place.summary.apply
                left = [after for time in left for after in apply(time)]
                came = [after for time in came for after in apply(time)]
            self._frontier.difference_update(left)
            self._frontier.update(came)
        else:
            try:
                now = set(tracker.frontier(self.place.name))
            except NoMinimalTimes:
                return (), ()  # only where moves are not known: what is known has a finite form
            left, came = list(self._frontier - now), list(now - self._frontier)
            self._frontier = now
        key = self.place.domain.sort_key
        return tuple(sorted(left, key=key)), tuple(sorted(came, key=key))

    def _has_own(self) -> bool:
        """Whether anything is outstanding at the location itself, or before it at its source."""
        place = self.place
        if isinstance(place, Node):
            return bool(place.requests)
        return bool(place.messages or place.open or (self._source is not None and self._source.requests))
