"""Clock as a parameter of the specification (A&I 4.2, 4.3): what is outstanding gives a set of pointstamps.

`CloseUp` is the paper's Clock: the least upward closed set. `OneApplication` is what Proposition 3 says to be the same
where Condition 2 holds: all that could result from something outstanding, by Definition 2, once. Where Condition 2
fails it is smaller, and grows in steps of the system; that is what Condition 2 is for. The Clock of two graphs from
that of each is `progress.semantics.local_clocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from progress.antichain import Antichain
from progress.clock import clock
from progress.closure import Closure
from progress.could_result_in import CouldResultIn
from progress.topology import Network, Topology

Outstanding: TypeAlias = frozenset[tuple[str, Any]]  # the pointstamps of messages and of requests


class Clock(Protocol):
    """A set of pointstamps that is closed upwards in time."""

    def __contains__(self, pointstamp: object) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def frontiers(self) -> Mapping[str, tuple[Any, ...]]:
        """The minimal times at each location that has any."""

    @property
    def generators(self) -> Iterable[tuple[str, Any]]:
        """Pointstamps of it that another Clock of this kind contains only if it contains all of it."""


Clocks: TypeAlias = Callable[[Outstanding], Clock]


def is_within(smaller: Clock, larger: Clock) -> bool:
    """Whether every pointstamp of one Clock is in the other, as in `Clock' <= Clock` (4.2)."""
    return smaller is larger or all(pointstamp in larger for pointstamp in smaller.generators)


class Frontiers:
    """A Clock by its minimal times, which generate it."""

    def __init__(self, network: Network, frontiers: Mapping[str, tuple[Any, ...]]) -> None:
        self.network = network
        self.frontiers = frontiers

    def __contains__(self, pointstamp: object) -> bool:
        location, time = self.network.pointstamp(pointstamp)
        below = self.network.domain(location).less_equal
        return any(below(least, time) for least in self.frontiers.get(self.network.name(location), ()))

    @property
    def generators(self) -> Iterable[tuple[str, Any]]:
        """The minimal times."""
        return [(location, time) for location, times in self.frontiers.items() for time in times]


class Closed:
    """A Clock that is a Close-up. What is outstanding generates it: a closed set that has that has all of it."""

    def __init__(self, closure: Closure, outstanding: Outstanding) -> None:
        self.closure = closure
        self.generators = outstanding
        self._asked: dict[object, bool] = {}

    def __contains__(self, pointstamp: object) -> bool:
        found = self._asked.get(pointstamp)
        if found is None:
            found = self._asked[pointstamp] = pointstamp in self.closure
        return found

    @cached_property
    def frontiers(self) -> Mapping[str, tuple[Any, ...]]:
        """The minimal times at each location; `NoMinimalTimes` where there are none, as in some graphs with calls."""
        return self.closure.frontiers


class CloseUp:
    """Clock, as the paper defines it. Cost: one `progress.closure.close` for each set of pointstamps, kept.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> from progress.semantics import CloseUp
    >>> clock = CloseUp(from_edges([(None, "a"), ("a", "b")]))(frozenset({("in->a", 2)}))
    >>> ("b", 3) in clock, ("b", 1) in clock
    (True, False)
    """

    def __init__(self, graph: Topology) -> None:
        self.network = graph.network()
        self._known: dict[Outstanding, Closed] = {}

    def __call__(self, outstanding: Outstanding) -> Clock:
        found = self._known.get(outstanding)
        if found is None:
            closure = closure_of(self.network, outstanding)
            found = self._known[outstanding] = Closed(closure, outstanding)
        return found


def closure_of(network: Network, outstanding: Outstanding) -> Closure:
    """Close-up of messages and requests, told apart by where they are."""
    count = len(network.nodes)
    at_nodes = {pointstamp for pointstamp in outstanding if network.number(pointstamp[0]) < count}
    return clock(network, sorted(outstanding - at_nodes, key=repr), sorted(at_nodes, key=repr))


class Related:
    """A Clock of a graph that decides could-result-in by itself, as one with calls: what each pointstamp is related to.

    Such a relation is transitive by its definition, so a set with what is outstanding that is closed has all of it.
    """

    def __init__(self, network: Network, outstanding: Outstanding) -> None:
        self.network = network
        self.generators = outstanding
        self._could = CouldResultIn(network)

    def __contains__(self, pointstamp: object) -> bool:
        location, time = self.network.pointstamp(pointstamp)
        end = self.network.name(location), time
        return any(self._could(start, end) for start in self.generators)

    @cached_property
    def frontiers(self) -> Mapping[str, tuple[Any, ...]]:
        """The minimal times at each location, those of Close-up; `NoMinimalTimes` where there are none."""
        return closure_of(self.network, self.generators).frontiers


class OneApplication:
    """All (y, u) for which some outstanding (x, t) could-result-in (y, u): the right side of Proposition 3.

    Over simple paths, as Definition 2 wants it. Cost: exponential in the size of the graph, once for each pointstamp.
    Where a graph decides by itself, each time is asked for by its own: `Related`.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> from progress.semantics import OneApplication
    >>> clock = OneApplication(from_edges([(None, "a"), ("a", "b")]))(frozenset({("in->a", 2)}))
    >>> ("b", 3) in clock, ("b", 1) in clock
    (True, False)
    """

    def __init__(self, graph: Topology) -> None:
        self.network = graph.network()
        self._of_one: dict[tuple[str, Any], dict[int, Antichain]] = {}
        self._known: dict[Outstanding, Frontiers] = {}

    def __call__(self, outstanding: Outstanding) -> Clock:
        if self.network.relation is not None:
            return Related(self.network, outstanding)
        found = self._known.get(outstanding)
        if found is None:
            together: dict[int, Antichain] = {}
            for pointstamp in outstanding:
                for location, times in self.results(pointstamp).items():
                    _into(together, self.network, location, times.times)
            frontiers = {self.network.name(location): times.in_order() for location, times in together.items()}
            found = self._known[outstanding] = Frontiers(self.network, frontiers)
        return found

    def results(self, pointstamp: tuple[str, Any]) -> dict[int, Antichain]:
        """The least times at every location in which one pointstamp could result (Definition 2)."""
        if pointstamp not in self._of_one:
            found = self._of_one[pointstamp] = {}
            location, time = self.network.pointstamp(pointstamp)
            self._follow(location, time, frozenset(), found)
        return self._of_one[pointstamp]

    def _follow(self, location: int, time: Any, before: frozenset[int], found: dict[int, Antichain]) -> None:
        _into(found, self.network, location, [time])
        passed = before | {location}
        for following, summary in self.network.successors(location):
            if following not in passed:
                for result in (time,) if summary is None else summary.apply(time):
                    self._follow(following, result, passed, found)


def _into(found: dict[int, Antichain], network: Network, location: int, times: list[Any]) -> None:
    if location not in found:
        found[location] = Antichain(network.domain(location))
    for time in times:
        found[location].insert(time)
