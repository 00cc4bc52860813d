"""How far a source was read: which of its messages have entered the run, so that another process goes on behind them.

A source hands on more than has entered the run: engines read ahead. `Feed` says how many items it has digested, and
only those count. The position stands in the checkpoint (`durable/checkpoint.py`), taken together with what became
of the messages, so a message is either in the checkpoint or comes again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from progress.order import Domain
from progress.runtime.durable.codec import Beside
from progress.runtime.source import SILENT, Complete

Keyed = tuple[Hashable, Any]  # what a message is known by, None for what is none, and the item


class Positioned:
    """Items that know their position: the keys of the messages that have entered the run."""

    goes_on = True  # after `go_to` it begins there by itself
    replays_alike = True  # behind a position the same items come again, in the same order
    aside: Any = None  # the sink of what has no time
    sets_apart = False  # whether what cannot be read is a dead letter, and the run goes on

    def __init__(self, late: str = "late") -> None:
        self.late = late
        self.done: list[Any] = []
        self.is_continued = False  # whether a run goes on that another process has begun
        self.is_stopped = False
        self._given: deque[Hashable] = deque()
        self._items: Iterator[Keyed] | None = None

    def keyed(self) -> Iterator[Keyed]:
        """The items from `done` on, each message with its key."""
        raise NotImplementedError

    def __iter__(self) -> Positioned:
        return self

    def __next__(self) -> Any:
        if self._items is None:
            self._items = self.keyed()
        key, item = next(self._items)
        if item is not SILENT:
            self._given.append(key)
        return item

    def digested(self, count: int) -> None:
        """So many more of the items have entered the run."""
        for _ in range(count):
            key = self._given.popleft()
            if key is not None:
                self.entered(key)

    def entered(self, key: Any) -> None:
        """A message has entered the run."""
        self.done.append(key)

    @property
    def position(self) -> Any:
        """What `go_to` of another process takes. Cost: O(messages)."""
        return list(self.done)

    def go_to(self, position: Any) -> None:
        """Begin behind what has entered the run that is continued; called before the first item is taken."""
        self.done = list(position)
        self.is_continued = True

    def keep_beside(self, beside: Beside, edge: str) -> None:
        """The run is kept, and so may be what its items are made of; called before everything else."""

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        self.is_stopped = True


def still_to_come(domain: Domain, times: Sequence[Any]) -> list[Complete]:
    """For each of these times, in an order in which none comes before an earlier one: what is left after it.

    Cost: O(times times width), as a time on its way back through the order replaces those above it.
    """
    left: list[tuple[Any, ...]] = [()]
    for time in reversed(times[1:]):
        above = [other for other in left[-1] if not domain.less_equal(time, other)]
        left.append((time, *above))
    return [Complete(each) for each in reversed(left)]


def in_order(domain: Domain, times: Iterable[Any]) -> list[Any]:
    """Times so that none comes before an earlier one. Cost: that of sorting."""
    return sorted(times, key=domain.sort_key)
