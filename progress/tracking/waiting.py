"""What waits in a running system, and for whom: every blocked request, oldest first, with the one that holds most.

Something outstanding *holds* a request (p, t) when it could result in (e, t) at an incoming edge e of p (A&I 4.2).
Whatever holds something that holds a request holds the request as well. So it is enough to look at the *foremost*:
those of the minimal outstanding pointstamps in which no other outstanding one could result. Each of them gets one
Close-up (A&I 3.3), which serves all requests that it holds; a proof is made where one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.antichain import minimal_elements
from progress.closure import Closure, ClosureTooLarge, close_numbered
from progress.component import reached
from progress.effort import Effort, TooMuchWork
from progress.pointstamp import Pointstamp
from progress.topology import NO_NODE, Network
from progress.tracking.ledger import Ledger
from progress.tracking.wait import About, Holder, Wait, Waits

if TYPE_CHECKING:
    from progress.tracking.own_relation import Workings

MOST_STEPS = 300_000  # for the foremost and what they hold, as `progress.effort` counts them


class Asked(NamedTuple):
    """A request that is blocked, and since when: how many steps were taken before, and the time of day then."""

    node: int
    time: Any
    step: int
    since: float | None


class Lying(NamedTuple):
    """Something outstanding: where, at which time, what it is, and how many of it there are."""

    location: int
    time: Any
    kind: str
    many: int


class _Foremost:
    """An outstanding pointstamp that no other could result in, with all that it could result in.

    `held`: by node, the places of the requests that it holds, in `_AtNode`.
    """

    def __init__(self, lying: Lying, closure: Closure) -> None:
        self.lying = lying
        self.closure = closure
        self.held: list[tuple[int, Sequence[int]]] = []

    @property
    def holds(self) -> int:
        """How many requests it holds."""
        return sum(len(places) for _, places in self.held)


class _AtNode:
    """The requests that wait at a node, in a linear extension of their times, and by whom each is held."""

    def __init__(self, network: Network, node: int, asked: list[Asked]) -> None:
        domain = network.domains[node]
        self.asked = sorted(asked, key=lambda each: domain.sort_key(each.time))
        self.is_total = domain.is_total
        self.by: list[Holder | None] = [None] * len(asked)
        self.often = [0] * len(asked)

    def held(self, holds: Callable[[Any], bool]) -> Sequence[int]:
        """The places of those that are held. Cost: O(log n) calls where times are totally ordered, else n."""
        count = len(self.asked)
        if not self.is_total:
            return [place for place in range(count) if holds(self.asked[place].time)]
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if holds(self.asked[middle].time):
                high = middle
            else:
                low = middle + 1
        return range(low, count)


class Search:
    """Who holds what: one search over what was outstanding at a moment, which needs no lock.

    Cost: O(waits log waits + outstanding log outstanding + locations), and for each of the foremost one Close-up, and
    O(log waits) a node that it reaches, of all waits there where times are no total order. Beyond `MOST_STEPS` in all,
    requests whose holders were not found by then are looked at one by one when they are asked.
    """

    def __init__(self, network: Network, asked: Sequence[Asked], lying: Iterable[Lying]) -> None:
        self._network = network
        self._count = len(network.nodes)
        self._effort = Effort(MOST_STEPS)
        self._at: dict[int, _AtNode] = {}
        by_node: dict[int, list[Asked]] = {}
        for each in asked:
            by_node.setdefault(each.node, []).append(each)
        for node, there in by_node.items():
            self._at[node] = _AtNode(network, node, there)
        self.foremost: list[_Foremost] = []
        self._reaching: dict[int, list[_Foremost]] = {}  # by node
        self._on_cycles: dict[int, list[_Foremost]] = {}  # by component
        self.closures = 0  # how many were made
        self.is_whole = True
        try:
            for candidate in self._least(lying):
                self._look_at(candidate)
        except (TooMuchWork, ClosureTooLarge):
            self.is_whole = False

    def _least(self, lying: Iterable[Lying]) -> list[Lying]:
        """The minimal ones at each location that leads to a request, those before what they lead to first."""
        leading = self._leading()
        at: dict[int, dict[Any, Lying]] = {}
        for each in lying:
            if each.location in leading:
                at.setdefault(each.location, {}).setdefault(each.time, each)
        found = []
        for location, times in at.items():
            domain = self._network.domain(location)
            found += [times[time] for time in minimal_elements(domain, list(times), self._effort)]
        return sorted(found, key=self._place)

    def _place(self, lying: Lying) -> tuple[int, bool, int]:
        """What leads elsewhere stands before it, but for what is on one cycle."""
        location, count = lying.location, self._count
        node = location if location < count else self._network.targets[location - count]
        return -self._network.component[node], location < count, location

    def _leading(self) -> set[int]:
        """The locations from which a node with requests can be reached."""
        incoming, sources = self._network.incoming, self._network.sources
        found = reached(self._at, lambda node: [sources[edge] for edge in incoming[node] if sources[edge] != NO_NODE])
        return found | {self._count + edge for node in found for edge in incoming[node]}

    def _look_at(self, lying: Lying) -> None:
        """Keep one that no other could result in, with what it holds; on a cycle, of two that could the first."""
        network, count = self._network, self._count
        place = lying.location if lying.location < count else network.sources[lying.location - count]
        for other in self._reaching.get(place, ()):
            self._effort.spend(1)
            if other.closure.covers(lying.location, lying.time):
                return
        self.closures += 1
        closure = close_numbered(network, [(lying.location, lying.time)], self._effort)
        reached = closure.reached()
        self._effort.spend(len(reached))
        found = _Foremost(lying, closure)
        for node in reached:
            at = self._at.get(node)
            if at is not None:
                places = at.held(partial(self._holds, found, node))
                self._effort.spend(1 + len(places) // 16)
                if places:
                    found.held.append((node, places))
        self._leave_out_what_follows_from(found)
        self.foremost.append(found)
        for node in reached:
            self._reaching.setdefault(node, []).append(found)

    def _leave_out_what_follows_from(self, found: _Foremost) -> None:
        """Those before it are not behind it, but where both are on one cycle."""
        component = -self._place(found.lying)[0]
        if self._network.component_sizes[component] == 1:
            return
        for other in self._on_cycles.setdefault(component, [])[:]:
            self._effort.spend(1)
            if found.closure.covers(other.lying.location, other.lying.time):
                self._on_cycles[component].remove(other)
                self.foremost.remove(other)
                for node in other.closure.reached():
                    self._reaching[node].remove(other)
        self._on_cycles[component].append(found)

    def _holds(self, foremost: _Foremost, node: int, time: Any) -> bool:
        """Whether what follows from one of the foremost arrives at a node at this time or before."""
        self._effort.spend(1)
        closure, network = foremost.closure, self._network
        if foremost.lying.location != node:  # what is at a node has come in by an edge
            return closure.covers(node, time)
        return any(closure.covers(self._count + edge, time) for edge in network.incoming[node])

    def held_by(self) -> Iterator[tuple[Asked, Holder | None, int]]:
        """Each request, who of those that hold it holds most, and how many of the foremost hold it."""
        for each in sorted(self.foremost, key=lambda each: -each.holds):
            holder = Holder(self._network, each.lying, each.holds, each.closure)
            for node, places in each.held:
                by, often = self._at[node].by, self._at[node].often
                for place in places:
                    often[place] += 1
                    if by[place] is None:
                        by[place] = holder
        for at in self._at.values():
            yield from zip(at.asked, at.by, at.often, strict=True)


def everything(ledger: Ledger) -> list[Lying]:
    """All that is outstanding, in the order of `Ledger.every`."""
    count = len(ledger.network.nodes)
    found: list[Lying] = []
    for edge in ledger.edges_in_order():
        found += [Lying(count + edge.number, time, "input", 1) for time in edge.open]
        found += [Lying(count + edge.number, time, "message", many) for time, many in edge.messages.items()]
    for node in ledger.nodes_in_order():
        found += [Lying(node.number, time, "request", 1) for time in node.requests]
    return found


def waits(
    workings: Workings, network: Network, asked: Sequence[Asked], lying: Sequence[Lying], steps: int, now: float | None
) -> Waits:
    """What waits of all that is outstanding: `asked`, oldest first. Cost: that of `Search`."""
    about = About(network, workings, lying)
    found: dict[tuple[int, Any], Wait] = {}
    for node, time, step, since in asked:
        age = None if now is None or since is None else max(0.0, now - since)
        found[node, time] = Wait(Pointstamp(network.nodes[node], time), steps - step, since, age, about)
    about.blocked = frozenset(wait.request for wait in found.values())
    search = Search(network, asked, lying)
    for each, holder, often in search.held_by():
        if holder is not None:
            found[each.node, each.time].hold(holder, often)
    ready = sum(each.kind == "request" for each in lying) - len(found)
    return Waits(list(found.values()), ready, steps, search.is_whole)
