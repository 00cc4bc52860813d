"""Times of collections: an epoch, and the round of each loop around (Differential Dataflow's partially ordered times).

Inside of loops a time is its epoch with one more coordinate a loop, ordered as a product: what was changed in round 3
of epoch 1 is there in round 3 of epoch 2, before round 4 of epoch 1 has happened, or without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphs.streams.loops.scope import LAST
from progress.order import Domain, Int, Lex, Nat, Product

Rounds = tuple[int, ...]


class Moments:
    """The order of the times at one place: those of `epochs`, with `depth` rounds.

    `are_total` says whether any two epochs can be compared. Then all that happens after an epoch is over happens later,
    so what was changed by then may forget its epoch (`History.settle`).
    """

    __slots__ = ("_are_flat", "_are_numbers", "are_total", "depth", "epochs")

    def __init__(self, epochs: Domain, depth: int = 0) -> None:
        self.epochs = epochs
        self.depth = depth
        self.are_total = epochs.is_total
        self._are_flat = isinstance(epochs, Product | Lex)
        self._are_numbers = isinstance(epochs, Nat | Int)

    def parted(self, time: Any) -> tuple[Any, Rounds]:
        """The epoch and the rounds that a time consists of."""
        depth = self.depth
        if not depth:
            return time, ()
        return (time[:-depth], time[-depth:]) if self._are_flat else (time[0], time[1:])

    def joined(self, epoch: Any, rounds: Rounds) -> Any:
        """The inverse of `parted`."""
        if not self.depth:
            return epoch
        return (*epoch, *rounds) if self._are_flat else (epoch, *rounds)

    def last(self, time: Any) -> Any:
        """The time after all rounds of the epoch of `time`."""
        return self.joined(self.parted(time)[0], (LAST,) * self.depth)

    def less_equal(self, earlier: Any, later: Any) -> bool:
        """Whether `earlier` <= `later`."""
        if self._are_numbers:
            if not self.depth:
                return bool(earlier <= later)
            if self.depth == 1:
                return bool(earlier[0] <= later[0] and earlier[1] <= later[1])
            return all(one <= other for one, other in zip(earlier, later, strict=True))
        (epoch, rounds), (other, others) = self.parted(earlier), self.parted(later)
        return self.epochs.less_equal(epoch, other) and at_or_before(rounds, others)

    def bounds(self, one: Any, other: Any) -> tuple[Any, ...]:
        """The minimal times at or after both: one, but for orders where there may be none, or several."""
        if self._are_numbers:
            return (max(one, other) if not self.depth else tuple(map(max, one, other)),)
        (epoch, rounds), (second, others) = self.parted(one), self.parted(other)
        together = later_of(rounds, others)
        return tuple(self.joined(each, together) for each in self.epochs.minimal_upper_bounds(epoch, second))

    def with_past(self, time: Any, rounds: Rounds) -> Any:
        """The first time at or after `time` and after what was changed in `rounds` of epochs that are over."""
        if not self.depth:
            return time
        epoch, now = self.parted(time)
        return time if at_or_before(rounds, now) else self.joined(epoch, later_of(rounds, now))

    def key(self, time: Any) -> Any:
        """What sorts times in a linear extension."""
        epoch, rounds = self.parted(time)
        return self.epochs.sort_key(epoch), rounds

    def shares(self, one: Any, other: Any) -> Iterable[tuple[Any, int]]:
        """Where something is there from `one` on and something else from `other` on: from when on both are.

        Each time with how often: once at the minimal time at or after both. Where there are several such times, what
        lies above two of them would count twice, and is taken back there (Möbius inversion of the order).
        """
        bounds = self.bounds(one, other)
        if len(bounds) < 2:
            return [(each, 1) for each in bounds]
        found: dict[Any, int] = {}
        for each in sorted(closed(self, bounds), key=self.key):
            there = sum(count for earlier, count in found.items() if self.less_equal(earlier, each))
            found[each] = 1 - there
        return [(time, count) for time, count in found.items() if count]


def closed(moments: Moments, times: Iterable[Any]) -> dict[Any, None]:
    """Times and all that are minimal at or after some of them. Cost: O(found * times) in a lattice."""
    found: dict[Any, None] = {}
    fresh = list(times)
    while fresh:
        new = fresh.pop()
        if new not in found:
            fresh += [each for other in found for each in moments.bounds(new, other)]
            found[new] = None
    return found


def at_or_before(rounds: Rounds, others: Rounds) -> bool:
    """Whether each round is at or before the other."""
    if len(rounds) < 2:
        return rounds <= others
    return all(one <= other for one, other in zip(rounds, others, strict=True))


def later_of(rounds: Rounds, others: Rounds) -> Rounds:
    """The first rounds at or after both."""
    return max(rounds, others) if len(rounds) < 2 else tuple(map(max, rounds, others))
