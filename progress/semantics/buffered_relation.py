"""Could-result-in of a graph that decides it by itself, with buffers put in: recursion with buffers (A&I 2.2, 3.4).

A buffer node is put at the beginning of an edge e: what its source sends lies on `e, unsent`, and the buffer passes it
on to e. These three places of e have the times of e, and what is at one of them could result in what is at those behind
it at the same time. All other ways lead from e to its destination, and from its source to `e, unsent`. So each question
is one about the graph without buffers:

* what lies at any place of e could result outside of them in just what its destination could, at the same time;
* of what lies elsewhere, that comes to all three places of e which comes to e without buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from progress.antichain import minimal_elements
from progress.closure import Closure, close_numbered
from progress.conditions import Advancing, Report
from progress.errors import PointstampError
from progress.pointstamp import Pointstamp, ending_at
from progress.topology import NO_NODE, Network
from progress.tracking.own_relation import Workings
from progress.way import Way

Numbered = tuple[int, Any]


class Buffered:
    """The `OwnRelation` of a graph with buffers.

    Parameters
    ----------
    inner : the graph without buffers, which has a relation of its own
    places : of each edge that has one, by its number there: the numbers of its three places with buffers
    """

    def __init__(self, inner: Network, places: Mapping[int, tuple[int, int, int]]) -> None:
        self.inner = inner
        self.places = places
        self.place = {location: (edge, rank) for edge, three in places.items() for rank, location in enumerate(three)}
        self.added = len(places)  # so many nodes, behind the others

    def without(self, location: int) -> int:
        """The location in the graph without buffers; that of the edge for each of its places."""
        count = len(self.inner.nodes)
        if location in self.place:
            return count + self.place[location][0]
        return location if location < count else location - self.added

    def onwards(self, location: int) -> int:
        """The node to which a place leads, `NO_NODE` where the edge leaves the graph."""
        return self.inner.targets[self.place[location][0]]

    # --- questions ---------------------------------------------------------------------------------------------------

    def proof(self, network: Network, start: Numbered, end: Numbered) -> list[Pointstamp] | None:
        """Distinct neighbouring locations, each related to the next. Cost: that of one without buffers."""
        way = self._way(network, start, end, self._proof)
        return None if way is None else ending_at(list(way), end[1])

    def steps(self, network: Network, start: Numbered, end: Numbered) -> Iterator[Pointstamp] | None:
        """The way step by step, made as it is read."""
        way = self._way(network, start, end, self._steps)
        if way is None:
            return None
        last = Pointstamp(network.name(end[0]), end[1])
        return _rising(way, last)

    def _proof(self, start: Numbered, end: Numbered) -> Iterable[Pointstamp] | None:
        assert self.inner.relation is not None
        return self.inner.relation.proof(self.inner, start, end)

    def _steps(self, start: Numbered, end: Numbered) -> Iterable[Pointstamp] | None:
        assert self.inner.relation is not None
        return self.inner.relation.steps(self.inner, start, end)

    def _way(self, network: Network, start: Numbered, end: Numbered, ask: Any) -> Iterator[Pointstamp] | None:
        (first, before), (last, after) = start, end
        here, there = self.place.get(first), self.place.get(last)
        last_rank = 2 if there is None else there[1]
        if here is not None and there is not None and here[0] == there[0] and here[1] <= there[1]:
            way = ask((self.without(first), before), (self.without(last), after))
            return None if way is None else self._expanded(network, way, last_rank, here[1])
        leading: list[Pointstamp] = []
        if here is not None:
            leading = [Pointstamp(network.name(at), before) for at in self.places[here[0]][here[1] :]]
            first = self.onwards(first)
            if first == NO_NODE:
                return None
        else:
            first = self.without(first)
        way = ask((first, before), (self.without(last), after))
        return None if way is None else chain(leading, self._expanded(network, way, last_rank))

    def _expanded(
        self, network: Network, way: Iterable[Pointstamp], last: int = 2, first: int = 0
    ) -> Iterator[Pointstamp]:
        """A way of the graph without buffers through the places of its edges, from and up to these of both ends."""
        count = len(self.inner.nodes)
        passed = ""
        waiting: list[tuple[int, Pointstamp]] = []  # the places of what was passed last, not given yet
        for name, time in way:
            if name == passed:  # only its time rises
                continue
            yield from (each for _, each in waiting)
            three = self.places.get(self.inner.number(name) - count)
            if three is None:
                waiting = [(0, Pointstamp(name, time))]
            else:
                waiting = [(rank, Pointstamp(network.name(at), time)) for rank, at in enumerate(three) if rank >= first]
            passed, first = name, 0
        yield from (each for rank, each in waiting if rank <= last)

    def close(self, network: Network, pointstamps: Iterable[Numbered]) -> Closure:
        """Close-up. Cost: that of one without buffers."""
        return BufferedClosure(network, self, pointstamps)

    def conditions(self, network: Network) -> Report:
        """Those without buffers, which change no time; the cycles pass the buffers."""
        assert self.inner.relation is not None
        report = self.inner.relation.conditions(self.inner)
        standstills = tuple(
            each._replace(
                round=tuple(self._expanded(network, each.round)),
                cycle=tuple(at for name in each.cycle for at in self._names(network, name)),
            )
            for each in report.advancing.standstills
        )
        return report._replace(advancing=Advancing(not standstills, standstills))

    def _names(self, network: Network, name: str) -> list[str]:
        three = self.places.get(self.inner.number(name) - len(self.inner.nodes))
        return [name] if three is None else [network.name(at) for at in three]

    def workings(self, network: Network) -> Workings:
        """Refused (PS512): trackers run on the graph that was written."""
        raise PointstampError("PS512", "no engine runs a graph with calls and buffers", "track the graph without them")


def _rising(way: Iterator[Pointstamp], last: Pointstamp) -> Iterator[Pointstamp]:
    """The way, and where its last time is not yet that of the end, the end."""
    each = None
    for each in way:
        yield each
    if each is not None and each.time != last.time:
        yield last


class BufferedClosure(Closure):
    """Close-up of given pointstamps: that of the graph without buffers, and what lies at the places of edges."""

    def __init__(self, network: Network, relation: Buffered, pointstamps: Iterable[Numbered]) -> None:
        super().__init__(network)
        self._relation = relation
        self._given = list(dict.fromkeys(pointstamps))
        self._lying: dict[int, list[Any]] = {}  # at each place, what is given there or before it
        moved = []
        for location, time in self._given:
            if location not in relation.place:
                moved.append((relation.without(location), time))
                continue
            edge, rank = relation.place[location]
            for behind in relation.places[edge][rank:]:
                self._lying.setdefault(behind, []).append(time)
            if relation.onwards(location) != NO_NODE:
                moved.append((relation.onwards(location), time))
        self._inner = close_numbered(relation.inner, moved)

    def times(self, location: int) -> tuple[Any, ...]:
        """The minimal times at a location; `NoMinimalTimes` where they have no finite form."""
        found = self._inner.times(self._relation.without(location))
        lying = self._lying.get(location)
        return found if lying is None else minimal_elements(self.network.domain(location), (*found, *lying))

    def covers(self, location: int, time: Any) -> bool:
        """Whether the pointstamp is in the closed set."""
        below = self.network.domain(location).less_equal
        return any(below(each, time) for each in self._lying.get(location, ())) or self._inner.covers(
            self._relation.without(location), time
        )

    def way(self, location: int, time: Any) -> Way | None:
        """A way from a given pointstamp to this one."""
        ways = (self._relation.proof(self.network, given, (location, time)) for given in self._given)
        return next((Way(tuple(way)) for way in ways if way is not None), None)
