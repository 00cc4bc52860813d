"""What a node may go back to: downward closed sets of times, each given by the frontier of what it does not have.

A *kept set* is what a node had processed when it saved its state: with a time, every time at or below it (Abadi and
Isard's question after *Timely Dataflow: A Model*). The set of a frontier F is all times that are at or above none of F:
() stands for all times, the least times of the domain for none. The larger the frontier's times, the larger the set.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from progress.antichain import minimal_elements
from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, times_of

Frontier = tuple[Any, ...]


class Keeps(NamedTuple):
    """What a node keeps for going back. Made by `nothing`, `states` or `anything`.

    frontiers : the sets that it can go back to besides none at all, by their frontiers; None: any set
    logs : whether what it sent is kept, so that it can be sent again without being computed again
    repeats : whether, started again, it sends what it sent before, in the same messages: then what others have
        consumed of it may stay consumed

    Examples
    --------
    >>> from progress.recovery.rollback import Keeps
    >>> Keeps.states([[2], [5]]).frontiers, Keeps.nothing().frontiers, Keeps.anything().frontiers
    (((2,), (5,)), (), None)
    """

    frontiers: tuple[Frontier, ...] | None
    logs: bool = False
    repeats: bool = False

    @classmethod
    def nothing(cls, *, logs: bool = False, repeats: bool = False) -> Keeps:
        """No state is saved: the node begins anew, if it has to go back at all."""
        return cls((), logs, repeats)

    @classmethod
    def states(cls, frontiers: Iterable[Iterable[Any]], *, logs: bool = False, repeats: bool = False) -> Keeps:
        """States saved at these frontiers; for a node that has not failed, where it stands now is one of them: ()."""
        try:
            return cls(tuple(_listed(frontier) for frontier in frontiers), logs, repeats)
        except TypeError:
            right = "a list of frontiers, each a list of times: Keeps.states([[3], [6]])"
            raise PointstampError("PS635", f"the states are kept at {brief(frontiers)}", right) from None

    @classmethod
    def anything(cls, *, logs: bool = False, repeats: bool = False) -> Keeps:
        """A node without state, which can go back to any set of times."""
        return cls(None, logs, repeats)


def _listed(frontier: Iterable[Any]) -> Frontier:
    if isinstance(frontier, str):
        raise TypeError
    return tuple(frontier)


def is_subset(domain: Domain, one: Frontier, other: Frontier) -> bool:
    """Whether the set of `one` is part of the set of `other`: above each time of `other` nothing is in `one`."""
    less_equal = domain.less_equal
    return all(any(less_equal(low, time) for low in one) for time in other)


def has(domain: Domain, frontier: Frontier, time: Any) -> bool:
    """Whether a time is in the set of a frontier."""
    return not any(domain.less_equal(low, time) for low in frontier)


def union(domain: Domain, one: Frontier, other: Frontier) -> Frontier:
    """The frontier of the union of two sets: what is in neither is at or above a time of both frontiers."""
    bounds = domain.minimal_upper_bounds
    return minimal_elements(domain, [time for low in one for high in other for time in bounds(low, high)])


class Chain:
    """Kept sets of which each is part of the next: where a node stands is the number of one, which only falls."""

    def __init__(self, domain: Domain, frontiers: Sequence[Frontier]) -> None:
        self._domain = domain
        self._frontiers = frontiers
        self._place = len(frontiers) - 1
        self.looked_at = 0

    @property
    def current(self) -> Frontier:
        """The frontier of the set that the node stands at."""
        return self._frontiers[self._place]

    def fall_below(self, time: Any) -> None:
        """Fall to the largest kept set that does not have this time. Cost: O(1) for each set that is left."""
        while has(self._domain, self.current, time):
            self.looked_at += 1
            self._place -= 1

    def first_with(self, time: Any) -> int:
        """The number of the smallest set that has a time; how many there are, where none has. Cost: O(log n)."""
        return bisect_left(self._frontiers, True, key=lambda frontier: has(self._domain, frontier, time))


class Family:
    """Kept sets closed under union: the largest without a time is the union of all that do not have it."""

    def __init__(self, domain: Domain, frontiers: Sequence[Frontier]) -> None:
        self._domain = domain
        self._frontiers = list(frontiers)
        self.current = self._largest()

    def fall_below(self, time: Any) -> None:
        """As `Chain`. Cost: O(kept sets)."""
        self._frontiers = [each for each in self._frontiers if not has(self._domain, each, time)]
        self.current = self._largest()

    def _largest(self) -> Frontier:
        found = self._frontiers[0]
        for frontier in self._frontiers[1:]:
            found = union(self._domain, found, frontier)
        return found


class AnySet:
    """Every set of times: the node goes back exactly as far as it has to."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self.current: Frontier = ()

    def fall_below(self, time: Any) -> None:
        """As `Chain`. Cost: O(frontier)."""
        self.current = minimal_elements(self._domain, [*self.current, time])


KeptSets = Chain | Family | AnySet


def kept_sets(name: str, domain: Domain, keeps: Keeps) -> KeptSets:
    """The sets of a node as something that falls; PS635 for wrong frontiers, PS636 where several may be largest.

    Cost: O(n log n) comparisons of frontiers for a chain of n; O(n^3) where they are not one.
    """
    if keeps.frontiers is None:
        return AnySet(domain)
    none = domain.least()
    if not none:
        right = "a domain with least times, such as nat; or Keeps.anything()"
        raise PointstampError(
            "PS635", f"{brief(name)} has times of {domain!r}: no frontier stands for no time at all", right
        )
    found = list(dict.fromkeys([none, *(_read(name, domain, frontier) for frontier in keeps.frontiers)]))
    found.sort(key=lambda frontier: _rank(domain, frontier))
    if all(is_subset(domain, one, other) for one, other in pairwise(found)):
        return Chain(domain, found)
    known = {frozenset(frontier) for frontier in found}
    for one, other in combinations(found, 2):
        if frozenset(both := union(domain, one, other)) not in known:
            wrong = f"{brief(name)} keeps {brief(one)} and {brief(other)}, and not both together, {brief(both)}"
            right = "keep that one, too, or no two that are apart: else there may be several largest ways back"
            raise PointstampError("PS636", wrong, right)
    return Family(domain, found)


def _rank(domain: Domain, frontier: Frontier) -> tuple[Any, ...]:
    """A key that sorts a chain: where two frontiers first differ, that of the larger set is later or ends."""
    return (*((0, key) for key in sorted(domain.sort_key(time) for time in frontier)), (1,))


def _read(name: str, domain: Domain, frontier: Iterable[Any]) -> Frontier:
    times = []
    for given in frontier:
        time = as_time(domain, given)
        if time is NO_TIME:
            raise PointstampError("PS635", f"{brief(given)} is not a time at {brief(name)}", times_of(domain))
        times.append(time)
    return minimal_elements(domain, times)
