"""The hierarchy: vertices eliminated one after the other, so that a change climbs a few instead of crossing all.

As in sparse Gaussian elimination, a vertex goes by giving its neighbours *shortcuts*: for each way in and each way out
their composition. Vertices go in rounds of independent sets, those first that need few shortcuts. Every path then has a
form: up through ever later vertices, then down. So the graph splits in two:

* the *upward* graph, each vertex with its ways to later ones: it has no cycles but in the core, which is what remained
  when eliminating did not pay any more. The frontiers of this graph are those of *hubs*, what may come from below;
* the *label* of a vertex: the hubs above it, each with the summary of all ways down from there.

The frontier of a vertex is the minimum over its label. In a chain of n, a change touches O(log n) hubs, and a label has
O(log n) of them.

A cycle through an eliminated vertex becomes a shortcut from a vertex to itself. Where that is nowhere below the
identity it says nothing and goes; any other keeps the vertex in the core, where `progress.engines.eager` treats
components as units.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from progress.effort import STEPS_A_PLACE, Effort
from progress.engines.arcs import Arc, Arcs, identity_on
from progress.normal_form.backwards import latest
from progress.order import Domain, is_flat
from progress.summary import NormalSummary, Summary

CORE = 1 << 60  # the rank of vertices that were not eliminated
SHARE = 20  # a round that removes less than one in so many is followed by a more generous one
MOST_ALLOWANCE = 40
MOST_PIECES = 6
MOST_WORK = 250_000  # for all that is composed while vertices go, in steps of `progress.effort`; more for each place
NO_WAY = -1
TOO_WIDE = -2  # what was not composed since it would have taken too long


class Algebra:
    """Summaries by number, with memory: composing, joining and comparing any two is done once."""

    def __init__(self, effort: Effort | None = None) -> None:
        self.effort = effort or Effort()  # what `compose_if_short` may still take
        self.summaries: list[NormalSummary] = []
        self.wide: set[int] = {TOO_WIDE}  # those with more alternatives than eliminating should make
        self._numbers: dict[Any, int] = {}
        self.composed: dict[tuple[int, int], int] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self._rises: dict[int, bool] = {}
        self._identities: dict[Domain, int] = {}

    def number(self, summary: NormalSummary) -> int:
        """The number of a summary; equal ones have the same."""
        key = summary.source, summary.target, frozenset(summary.pieces)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.summaries)
            self.summaries.append(summary)
            if len(summary.pieces) > MOST_PIECES:
                self.wide.add(found)
        return found

    def identity(self, domain: Domain) -> int:
        """The summary that changes nothing."""
        if domain not in self._identities:
            summary = identity_on(domain)
            assert isinstance(summary, NormalSummary)
            self._identities[domain] = self.number(summary)
        return self._identities[domain]

    def compose(self, first: int, second: int) -> int:
        """`second` after `first`; NO_WAY where nothing passes both."""
        found = self.composed.get((first, second))
        if found is None:
            summary = self.summaries[first].then(self.summaries[second])
            found = self.composed[first, second] = self.number(summary) if summary.pieces else NO_WAY
        return found

    def compose_if_short(self, first: int, second: int) -> int:
        """The same, or TOO_WIDE where the effort does not pay for it: each alternative is compared to all others."""
        if (first, second) not in self.composed:
            pairs = len(self.summaries[first].pieces) * len(self.summaries[second].pieces)
            work = 2 * pairs * (pairs + 2)
            if work > self.effort.left:
                return TOO_WIDE
            self.effort.left -= work
        return self.compose(first, second)

    def join(self, one: int, other: int) -> int:
        """Both side by side."""
        if one == other:
            return one
        found = self._joined.get((one, other))
        if found is None:
            mine, theirs = self.summaries[one], self.summaries[other]
            pieces = (*mine.pieces, *theirs.pieces)
            found = self._joined[one, other] = self.number(NormalSummary(mine.source, mine.target, pieces))
        return found

    def says_nothing(self, number: int) -> bool:
        """Whether a summary from a domain to itself is nowhere below the identity."""
        if number not in self._rises:
            summary = self.summaries[number]
            identity = self.summaries[self.identity(summary.source)]
            self._rises[number] = identity.no_later_than(summary)
        return self._rises[number]


class Hierarchy:
    """The upward graph, and labels when they are asked for.

    Cost: O(n) eliminations with a * b compositions each, mostly remembered ones; a label costs its length, times the
    ways from one of its hubs to the next.
    """

    def __init__(self, graph: Arcs) -> None:
        self.graph = graph
        self.algebra = Algebra(Effort(MOST_WORK + STEPS_A_PLACE * (len(graph.domains) + len(graph.arcs))))
        count = len(graph.domains)
        self.rank = [CORE] * count  # when a vertex was eliminated
        self._in: list[dict[int, int]] = [{} for _ in range(count)]  # ways in, from vertices not yet eliminated before
        self._out: list[dict[int, int]] = [{} for _ in range(count)]
        self._other: list[Arc] = []  # arcs that only `progress.engines.eager` understands
        self._fixed = [not is_flat(domain) for domain in graph.domains]
        self._number_arcs()
        self.shortcuts = 0
        self._eliminate()
        self._labels: dict[int, list[tuple[int, int]]] = {}

    def _number_arcs(self) -> None:
        numbers: dict[int, int] = {}
        algebra, fixed = self.algebra, self._fixed
        flat = [not each for each in fixed]
        for arc in self.graph.arcs:
            source, target, summary = arc
            if not isinstance(summary, NormalSummary) or not (flat[source] and flat[target]):
                fixed[source] = fixed[target] = True
                self._other.append(arc)
                continue
            number = numbers.get(id(summary))
            if number is None:
                number = numbers[id(summary)] = algebra.number(summary)
            ways = self._out[source]
            if target in ways:
                number = algebra.join(ways[target], number)
            ways[target] = self._in[target][source] = number

    def _eliminate(self) -> None:
        incoming, outgoing, fixed, rank = self._in, self._out, self._fixed, self.rank
        alive = [vertex for vertex in range(len(rank)) if not fixed[vertex]]
        taken = allowance = 0
        while alive and allowance <= MOST_ALLOWANCE:
            blocked: set[int] = set()
            left = []
            for vertex in alive:
                ways_in, ways_out = incoming[vertex], outgoing[vertex]
                a, b = len(ways_in), len(ways_out)
                if a == b == 1 and vertex not in blocked and self._contract(vertex, ways_in, ways_out):
                    blocked.update(ways_in, ways_out)
                    rank[vertex] = taken
                    taken += 1
                    continue
                if vertex in blocked or (a or 2) * (b or 2) - a - b > allowance or not self._may_go(vertex):
                    if not fixed[vertex]:
                        left.append(vertex)
                    continue
                blocked.update(ways_in, ways_out)
                rank[vertex] = taken
                taken += 1
                self._go(vertex)
            if len(alive) - len(left) < len(alive) / SHARE:
                allowance = 2 * allowance or 1
            alive = left
        self.core = len(rank) - taken

    def _contract(self, vertex: int, ways_in: dict[int, int], ways_out: dict[int, int]) -> bool:
        """Let a vertex go that has one way in and one out, as most have, unless there is anything to look at twice."""
        ((source, first),) = ways_in.items()
        ((target, second),) = ways_out.items()
        through = self.algebra.composed.get((first, second), NO_WAY)
        ways = self._out[source]
        if source == target or target in ways or through == NO_WAY or through in self.algebra.wide:
            return False
        incoming = self._in[target]
        del ways[vertex], incoming[vertex]
        ways[target] = incoming[source] = through
        self.shortcuts += 1
        return True

    def _may_go(self, vertex: int) -> bool:
        """Whether a vertex leaves no shortcut that says something from a vertex to itself, or in too many ways."""
        ways_in, ways_out, algebra = self._in[vertex], self._out[vertex], self.algebra
        composed, wide = algebra.composed, algebra.wide
        for source, first in ways_in.items():
            for target, second in ways_out.items():
                through = composed.get((first, second))
                if through is None:
                    through = algebra.compose_if_short(first, second)
                if through in wide or (source == target and through != NO_WAY and not algebra.says_nothing(through)):
                    self._fixed[vertex] = True
                    return False
        return True

    def _go(self, vertex: int) -> None:
        incoming, outgoing, algebra = self._in, self._out, self.algebra
        ways_in, ways_out = incoming[vertex], outgoing[vertex]
        for source in ways_in:
            del outgoing[source][vertex]
        for target in ways_out:
            del incoming[target][vertex]
        composed = algebra.composed
        for source, first in ways_in.items():
            ways = outgoing[source]
            for target, second in ways_out.items():
                if source == target:
                    continue
                through = composed[first, second]  # `_may_go` saw to that
                if through == NO_WAY:
                    continue
                known = ways.get(target)
                if known is None:
                    self.shortcuts += 1
                else:
                    through = algebra.join(known, through)
                ways[target] = incoming[target][source] = through

    def upward(self) -> Arcs:
        """The graph on which changes climb."""
        summaries: list[Summary] = list(self.algebra.summaries)
        arcs = [
            (vertex, target, summaries[number])
            for vertex, ways in enumerate(self._out)
            for target, number in ways.items()
        ]
        graph = self.graph
        upward = Arcs(graph.domains, [*arcs, *self._other], graph.stubborn, endless=graph.endless, names=graph.names)
        if not self.core:
            last = len(self.rank) - 1
            upward.component = [last - place for place in self.rank]
        return upward

    def label(self, vertex: int) -> list[tuple[int, int]]:
        """The hubs above a vertex, the latest first, each with the number of the summary of all ways down from it."""
        found = self._labels.get(vertex)
        if found is None:
            found = self._labels[vertex] = self._label(vertex)
        return found

    def _label(self, vertex: int) -> list[tuple[int, int]]:
        if self.rank[vertex] == CORE:
            return [(vertex, NO_WAY)]
        algebra, rank = self.algebra, self.rank
        down = {vertex: algebra.identity(self.graph.domains[vertex])}
        queue = [(rank[vertex], vertex)]
        hubs = []
        while queue:
            place, hub = heappop(queue)
            hubs.append((hub, down[hub]))
            if place == CORE:
                continue
            for source, number in self._in[hub].items():
                through = algebra.compose(number, down[hub])
                if through == NO_WAY:
                    continue
                if source in down:
                    down[source] = algebra.join(down[source], through)
                else:
                    down[source] = through
                    heappush(queue, (rank[source], source))
        hubs.reverse()
        return hubs


class Way:
    """A hub of a label, with the way down from it in both directions."""

    __slots__ = ("apply", "hub", "latest")

    def __init__(self, hub: int, summary: Summary) -> None:
        self.hub = hub
        self.apply = summary.limits
        run_back = latest(summary)
        assert run_back is not None
        self.latest = run_back


def ways_down(hierarchy: Hierarchy, vertex: int) -> Sequence[Way]:
    """The label of a vertex, ready for use; a vertex of the core is its own only hub."""
    summaries = hierarchy.algebra.summaries
    return [Way(hub, summaries[number]) for hub, number in hierarchy.label(vertex)]
