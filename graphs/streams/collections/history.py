"""What was changed by key, kept as long as it makes a difference: a trace, compacted (Differential Dataflow, 5.1).

A collection at a time is the sum of all changes at or before it. Once an epoch is over, no later time can tell when in
it or before it something was changed, only in which rounds: such changes are added up. So of epochs that are over there
is kept what a computation of the last one from scratch would have changed, however many epochs there were.

Everything kept is dicts, tuples and numbers around the values themselves, so that a run can be kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from graphs.streams.collections.moments import Moments, Rounds, at_or_before, closed

Bag = dict[Hashable, int]  # values with how often each is there; never 0 times


def add(bag: Bag, value: Hashable, count: int) -> None:
    """Change how often a value is in a bag. Cost: O(1)."""
    now = bag.get(value, 0) + count
    if now:
        bag[value] = now
    else:
        bag.pop(value, None)


class History:
    """All changes of one collection, by key; each consists of a value, a time and a count."""

    __slots__ = ("_moments", "_open", "_past", "_recent")

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._past: dict[Hashable, dict[Rounds, Bag]] = {}  # of epochs that are over
        self._recent: dict[Hashable, dict[Any, Bag]] = {}  # by time
        self._open: dict[Any, dict[Hashable, None]] = {}  # the keys in `_recent`, by epoch

    def add(self, key: Hashable, time: Any, value: Hashable, count: int) -> None:
        """Note a change. Cost: O(1)."""
        times = self._recent.get(key)
        if times is None:
            times = self._recent[key] = {}
        bag = times.get(time)
        if bag is None:
            bag = times[time] = {}
            moments = self._moments
            if moments.are_total:
                self._open.setdefault(moments.parted(time)[0], {})[key] = None
        add(bag, value, count)
        if not bag:
            del times[time]
            if not times:
                del self._recent[key]

    def at(self, key: Hashable, time: Any) -> Bag:
        """The values of a key at a time. Cost: O(changes kept for it)."""
        found: Bag = {}
        moments = self._moments
        if past := self._past.get(key):
            rounds = moments.parted(time)[1]
            for each, bag in past.items():
                if each == rounds or at_or_before(each, rounds):
                    _add_all(found, bag)
        if recent := self._recent.get(key):
            for each, bag in recent.items():
                if each == time or moments.less_equal(each, time):
                    _add_all(found, bag)
        return found

    def meetings(self, key: Hashable, time: Any) -> dict[Any, None]:
        """When something new at `time` comes together with what was changed before: there the sum has to be seen anew.

        These are `time` and the minimal times at or after it and some of the other changes. Cost: O(times kept for the
        key * times found).
        """
        moments = self._moments
        found: dict[Any, None] = {time: None}
        for rounds in self._past.get(key, ()):
            for each in list(found):
                found[moments.with_past(each, rounds)] = None
        recent = self._recent.get(key, ())
        for other in recent:
            for each in list(found):
                bounds = moments.bounds(each, other)
                if len(bounds) > 1:  # of several, two may meet again later
                    both = closed(moments, (*recent, time))
                    return {meeting: None for meeting in both if moments.less_equal(time, meeting)}
                found.update(dict.fromkeys(bounds))
        return found

    def matches(self, key: Hashable, time: Any) -> Iterator[tuple[Any, int, Bag]]:
        """What something new at `time` meets: from when on, how often, the values. Cost: O(times kept for the key)."""
        moments = self._moments
        for rounds, bag in self._past.get(key, {}).items():
            yield moments.with_past(time, rounds), 1, bag
        for other, bag in self._recent.get(key, {}).items():
            for both, count in moments.shares(time, other):
                yield both, count, bag

    def settle(self, epoch: Any) -> None:
        """An epoch is over, as are all before it: its changes forget when they were. Cost: O(its changes)."""
        moments = self._moments
        for key in self._open.pop(epoch, ()):
            recent = self._recent.get(key)
            if recent is None:  # all was taken back within the epoch
                continue
            past = self._past.setdefault(key, {})
            for time in list(recent):
                its, rounds = moments.parted(time)
                if its == epoch:
                    bag = past.setdefault(rounds, {})
                    _add_all(bag, recent.pop(time))
                    if not bag:
                        del past[rounds]
            if not recent:
                del self._recent[key]
            if not past:
                del self._past[key]

    def __len__(self) -> int:
        """How many changes are kept. Cost: O(that)."""
        kept = (*self._past.values(), *self._recent.values())
        return sum(len(bag) for bags in kept for bag in bags.values())

    def snapshot(self) -> Any:
        """All that is kept, as plain data: a copy."""
        opened = {epoch: [*keys] for epoch, keys in self._open.items()}
        return _copy(self._past), _copy(self._recent), opened

    def restore(self, state: Any) -> None:
        """The inverse of `snapshot`."""
        self._past, self._recent, opened = state
        self._open = {epoch: dict.fromkeys(keys) for epoch, keys in opened.items()}


def _copy(kept: dict[Any, dict[Any, Bag]]) -> dict[Any, dict[Any, Bag]]:
    return {key: {when: {**bag} for when, bag in bags.items()} for key, bags in kept.items()}


def _add_all(bag: Bag, more: Bag) -> None:
    if not bag:
        bag.update(more)
        return
    for value, count in more.items():
        now = bag.get(value, 0) + count
        if now:
            bag[value] = now
        else:
            del bag[value]
