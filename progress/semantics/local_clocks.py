"""The Clock of two joined graphs from what each says of itself: an answer to an open question of A&I 4.3.

"The definition of a global Clock might be obtained compositionally from multiple, more local could-result-in
relations." It can. Each graph j gives two things:

* a *summary from its inputs to its outputs*, `Local.passes`: for a shared edge x that enters it and a time t, the least
  times at each shared edge y that leaves it in the Close-up of {(x, t)} in its own graph alone;
* what it may *send by itself*, `Local.sends`: the least times at each shared edge that leaves it in the Close-up of
  what is outstanding within it.

The times at the shared edges are the least sets B with B(y) containing all that is sent by itself, and all that is
passed from B(x). Then the Clock at the locations of graph j is, in its own graph, Close-up of what is outstanding there
and of B at the shared edges that enter it.

Why that is the Clock of the whole: a set is upward closed exactly when it is closed under single steps (from an edge to
its destination, from a node to an edge that leaves it) and under later times at one location, since could-result-in
consists of those and each of those is in it. Every single step of the whole is one of the first graph or one of the
second, as every node belongs to one of them. So the least set closed under both is the least fixed point that is
computed here. Nothing is assumed of Conditions 1 and 2; where times can fall on a cycle through both graphs, the
fixed point may take many rounds, or have no finite form.

Where Condition 2 holds of the whole, each proof of could-result-in is over distinct locations: it crosses each shared
edge once, so that the fixed point is reached after at most as many rounds as there are shared edges.

What is *not* local is Condition 2: two graphs in which it holds may be joined to one in which it fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from progress.antichain import Antichain
from progress.closure import Closure, ClosureTooLarge
from progress.semantics.clocks import Clock, Frontiers, Outstanding, closure_of
from progress.topology import NO_NODE, Network, Topology

MOST_ROUNDS = 10_000


class Local:
    """What one graph says of itself to the other: nothing of its interior."""

    def __init__(self, graph: Topology, entering: Iterable[str], leaving: Iterable[str]) -> None:
        self.network = graph.network()
        self.entering = tuple(entering)
        self.leaving = tuple(leaving)
        self._passed: dict[tuple[str, Any], dict[str, tuple[Any, ...]]] = {}

    def passes(self, edge: str, time: Any) -> Mapping[str, tuple[Any, ...]]:
        """The summary from an input to all outputs. Cost: one `close` in this graph, once."""
        if (edge, time) not in self._passed:
            self._passed[edge, time] = self.sends(frozenset({(edge, time)}))
        return self._passed[edge, time]

    def sends(self, outstanding: Outstanding) -> dict[str, tuple[Any, ...]]:
        """The least times at the shared edges that leave it, of what is outstanding within it."""
        frontiers = self.closed(outstanding).frontiers
        return {edge: frontiers.get(edge, ()) for edge in self.leaving}

    def closed(self, outstanding: Outstanding) -> Closure:
        """Close-up in this graph alone."""
        return closure_of(self.network, outstanding)


class LocalClocks:
    """Clock of the joined graph, each value made of two local ones. A `Clocks`, to be used instead of `CloseUp`.

    Cost: two `close` a value for what is sent and two for the result, and one for each time that crosses, all kept.
    `exchange=False` leaves the crossing out: each graph then knows what is outstanding within it alone, and of what is
    queued on shared edges; that is too little, and there to be refuted.

    Examples
    --------
    >>> from pointstamp import Graph
    >>> from progress.semantics import LocalClocks
    >>> left = Graph().node("a").edge(None, "a", "in").edge("a", None, "shared")
    >>> right = Graph().node("b").edge(None, "b", "shared").edge("b", None, "out")
    >>> clock = LocalClocks(left, right)(frozenset({("in", 2)}))
    >>> ("out", 2) in clock, ("out", 1) in clock
    (True, False)
    """

    def __init__(self, first: Topology, second: Topology, exchange: bool = True) -> None:
        networks = first.network(), second.network()
        shared = [edge for edge in networks[0].edges if edge in set(networks[1].edges)]
        towards = [edge for edge in shared if _leaves(networks[0], edge)]
        back = [edge for edge in shared if _leaves(networks[1], edge)]
        self.parts = (Local(networks[0], back, towards), Local(networks[1], towards, back))
        self.exchange = exchange
        self.rounds = 0  # the most that were needed for a value so far
        self._known: dict[Outstanding, Clock] = {}

    def __call__(self, outstanding: Outstanding) -> Clock:
        found = self._known.get(outstanding)
        if found is None:
            found = self._known[outstanding] = self._joined(outstanding)
        return found

    def border(self, own: Sequence[Outstanding]) -> dict[str, Antichain]:
        """The least times at every shared edge: what either graph may send on it, by itself or when it is sent to."""
        times: dict[str, Antichain] = {}
        new = [
            (edge, time) for part, mine in zip(self.parts, own, strict=True) for edge, time in _pairs(part.sends(mine))
        ]
        rounds = 0
        while new:
            crossing = []
            for edge, time in new:
                part = next(part for part in self.parts if edge in part.entering)
                domain = part.network.domain(part.network.number(edge))
                if times.setdefault(edge, Antichain(domain)).insert(time):
                    crossing.append((part, edge, time))
            new = [pair for part, edge, time in crossing for pair in _pairs(part.passes(edge, time))]
            rounds += bool(crossing)
            if rounds > MOST_ROUNDS:
                raise ClosureTooLarge
        self.rounds = max(self.rounds, rounds)
        return times

    def _joined(self, outstanding: Outstanding) -> Clock:
        own = [
            frozenset((location, time) for location, time in outstanding if location in part.network.numbers)
            for part in self.parts
        ]
        border = self.border(own) if self.exchange else {}
        clocks = []
        for part, mine in zip(self.parts, own, strict=True):
            coming = {(edge, time) for edge in part.entering if edge in border for time in border[edge].times}
            clocks.append(Frontiers(part.network, part.closed(mine | coming).frontiers))
        return Joined(clocks[0], clocks[1])


class Joined:
    """A Clock in two parts. A shared edge is a location of both; what is in one is in the other."""

    def __init__(self, first: Frontiers, second: Frontiers) -> None:
        self.parts = (first, second)

    def __contains__(self, pointstamp: object) -> bool:
        assert isinstance(pointstamp, tuple)
        return any(pointstamp in part for part in self.parts if pointstamp[0] in part.network.numbers)

    @property
    def frontiers(self) -> Mapping[str, tuple[Any, ...]]:
        """The minimal times at each location of both graphs."""
        return {**self.parts[0].frontiers, **self.parts[1].frontiers}

    @property
    def generators(self) -> Iterable[tuple[str, Any]]:
        """The minimal times of both parts."""
        return [pointstamp for part in self.parts for pointstamp in part.generators]


def _leaves(network: Network, edge: str) -> bool:
    return network.targets[network.number(edge) - len(network.nodes)] == NO_NODE


def _pairs(frontiers: Mapping[str, tuple[Any, ...]]) -> list[tuple[str, Any]]:
    return [(edge, time) for edge, times in frontiers.items() for time in times]
