"""A way from one pointstamp to another, short however often it goes round a cycle.

Where Condition 2 fails, the iterated closure (A&I 3.3) may come to a time only by walking a cycle many times, as often
as a fall is deep. Such rounds are *folded*: the way has the node where they begin and, next, the same node where they
end, and a fold says which cycle is walked between the two, and how often.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from progress.pointstamp import Pointstamp
from progress.topology import Network

Rounds: TypeAlias = Mapping[int, tuple[tuple[str, ...], int]]

MOST_CYCLES = 16  # so many next occurrences of a node are tried as ends of a cycle that begins there


class Fold(NamedTuple):
    """Between pair `after` of a proof and the next one, both at one node, `cycle` is walked so many `times`.

    The cycle begins with that node and ends with the edge that leads back into it.

    Examples
    --------
    >>> from pointstamp import Fold
    >>> Fold(after=0, cycle=("body", "out", "body"), times=99).times
    99
    """

    after: int
    cycle: tuple[str, ...]
    times: int


def folds_to_json(folds: Sequence[Fold]) -> dict[str, Any]:
    """What stands beside a proof: the key `folds`, where a cycle is walked more than once."""
    if not folds:
        return {}
    return {"folds": [{"after": fold.after, "cycle": list(fold.cycle), "times": fold.times} for fold in folds]}


class Way(NamedTuple):
    """Pointstamps, each of which follows from the one before: in one step, by a fold, or at last by growing."""

    proof: tuple[Pointstamp, ...]
    folds: tuple[Fold, ...] = ()

    @property
    def is_simple(self) -> bool:
        """Whether it passes no location twice, but for a last pair that only grows: a proof of Definition 2."""
        if self.folds:
            return False
        return len(self.proof) == 2 or len({location for location, _ in self.proof}) == len(self.proof)


def folded(steps: Sequence[Pointstamp], rounds: Rounds, network: Network) -> Way:
    """The way over `steps`, with every cycle folded that is walked more than once on end.

    `rounds`: after which steps a cycle is walked, and how often, before the next step, which is at the same node;
    cycles begin at nodes of the `network`. Cost: O(steps) where nothing is passed twice; else `MOST_CYCLES` comparisons
    a step, each as long as what is the same.
    """
    places = [location for location, _ in steps]
    count = len(network.nodes)
    following: dict[str, list[int]] = {}
    for position, name in enumerate(places):
        following.setdefault(name, []).append(position)
    if not rounds and len(following) == len(places):
        return Way(tuple(steps))
    proof: list[Pointstamp] = []
    folds: list[Fold] = []
    position = 0
    while position < len(steps):
        proof.append(steps[position])
        end, times = position, 0
        cycle: tuple[str, ...] = ()
        if network.number(places[position]) < count:
            later = following[places[position]]
            first = bisect_right(later, position)
            cycles = [tuple(places[position:back]) for back in later[first : first + MOST_CYCLES]]
            cycles += [rounds[position][0]] if position in rounds else []
            for candidate in dict.fromkeys(cycles):
                reached, often = _rounds(places, rounds, position, candidate)
                if reached > end and (often > 1 or position in rounds):
                    end, cycle, times = reached, candidate, often
        if times:
            folds.append(Fold(len(proof) - 1, cycle, times))
            position = end
        else:
            position += 1
    return Way(tuple(proof), tuple(folds))


def _rounds(places: list[str], rounds: Rounds, position: int, cycle: tuple[str, ...]) -> tuple[int, int]:
    """Where the steps from `position` on cease to walk the cycle, and how often they have walked it."""
    times, length, listed = 0, len(cycle), list(cycle)
    if length == 1:  # the last pair of a way that grows where it is
        return position, 0
    while True:
        if position in rounds and rounds[position][0] == cycle:
            times += rounds[position][1]
            position += 1
        elif places[position : position + length + 1] == [*listed, cycle[0]] and not any(
            place in rounds for place in range(position, position + length)
        ):
            times += 1
            position += length
        else:
            return position, times
