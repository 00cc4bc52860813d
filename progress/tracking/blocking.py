"""Who blocks: every outstanding pointstamp that could result in a given one, with the way on which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from progress.closure import close_numbered
from progress.effort import Effort
from progress.errors import brief
from progress.notebook import Shown, as_html, walked
from progress.notification import Proofs
from progress.pointstamp import Pointstamp
from progress.topology import NO_NODE, Network
from progress.tracking.leading_to import LeadingTo
from progress.way import Fold, Way


class Blocker(NamedTuple):
    """An outstanding pointstamp, what it is ("input", "message" or "request"), and its way to what it blocks.

    `folds` say where the way walks a cycle more than once, which it may where Condition 2 fails (`progress.way`).

    Examples
    --------
    >>> from pointstamp import Tracker, from_edges
    >>> tracker = Tracker(from_edges([(None, "a")]), requests=[("a", 0)])
    >>> blocker = tracker.why("a", 0).by[0]
    >>> blocker.kind, blocker.pointstamp
    ('input', Pointstamp(location='in->a', time=0))
    """

    pointstamp: Pointstamp
    kind: str
    proof: tuple[Pointstamp, ...]
    folds: tuple[Fold, ...] = ()


NAMED = 3  # of those that hold a request, in one line


class Why(NamedTuple):
    """Whether a request is blocked, and by whom.

    Examples
    --------
    >>> from pointstamp import Tracker, from_edges
    >>> tracker = Tracker(from_edges([(None, "a")]), requests=[("a", 0)])
    >>> tracker.why("a", 0).blocked
    True
    """

    blocked: bool
    by: tuple[Blocker, ...]

    def __repr__(self) -> str:
        named = [f"{each.kind} {brief(each.pointstamp[0])} at {brief(each.pointstamp[1])}" for each in self.by[:NAMED]]
        more = [f"{len(self.by) - NAMED} more"] if len(self.by) > NAMED else []
        return f"Why(waits for {', '.join([*named, *more])})" if self.blocked else "Why(does not wait)"

    def _shown(self) -> Shown:
        rows = [(each.kind, *map(brief, each.pointstamp), walked(each.proof)) for each in self.by]
        title = f"waits for {len(rows)}" if self.blocked else "does not wait"
        return Shown(title, ("waits for", "at", "time", "by way of"), rows)

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return as_html(self._shown())


class Holding(NamedTuple):
    """A minimal time of a frontier, and who holds it there.

    Examples
    --------
    >>> from pointstamp import Tracker, from_edges
    >>> tracker = Tracker(from_edges([(None, "a")]), inputs={"in->a": [3]})
    >>> [(each.time, each.by[0].kind) for each in tracker.holding("a")]
    [(3, 'input')]
    """

    time: Any
    by: tuple[Blocker, ...]


def blockers(
    network: Network, goals: Sequence[int], time: Any, outstanding: Iterable[tuple[int, Any, str]]
) -> tuple[Blocker, ...]:
    """All that is outstanding and could result in (location, time) at one of the goals.

    Cost: one search backwards (`progress.tracking.leading_to`), and the length of a proof for each. Where that cannot
    be, a closure of what leads to the goals for each outstanding pointstamp there, all together within one `Effort`.
    """
    ways = _ways(network, goals, time)
    found = []
    for location, start, kind in outstanding:
        way = ways(location, start)
        if way is not None:
            found.append(Blocker(Pointstamp(network.name(location), start), kind, *way))
    return tuple(found)


def _ways(network: Network, goals: Sequence[int], time: Any) -> Callable[[int, Any], Way | None]:
    """The function from an outstanding pointstamp to its way to a goal."""
    leading = LeadingTo(network, goals, time)
    if leading.known:
        proofs = Proofs(network)

        def found_before(location: int, start: Any) -> Way | None:
            way = leading.way(location, start)
            return None if way is None else proofs.over_distinct_locations(way)

        return found_before
    part, effort = _Part(network, goals), Effort()
    proofs = Proofs(part.network)

    def closed(location: int, start: Any) -> Way | None:
        number = part.number.get(location)
        if number is None:
            return None
        closure = close_numbered(part.network, [(number, start)], effort)
        ways = (closure.way(part.number[goal], time) for goal in goals)
        way = next((way for way in ways if way is not None), None)
        return None if way is None else proofs.over_distinct_locations(way)

    return closed


class _Part:
    """The part of a network from which some locations can be reached, as a network of its own."""

    def __init__(self, network: Network, goals: Sequence[int]) -> None:
        count = len(network.nodes)
        nodes: dict[int, int] = {}
        edges: dict[int, int] = {}
        waiting = list(goals)
        while waiting:
            location = waiting.pop()
            if location >= count:
                if location - count not in edges:
                    edges[location - count] = len(edges)
                    if network.sources[location - count] != NO_NODE:
                        waiting.append(network.sources[location - count])
            elif location not in nodes:
                nodes[location] = len(nodes)
                waiting += [count + edge for edge in network.incoming[location]]
        self.number = dict(nodes)
        self.number |= {count + edge: len(nodes) + number for edge, number in edges.items()}

        def inside(node: int) -> int:
            return nodes.get(node, NO_NODE)

        self.network = Network(
            [network.nodes[node] for node in nodes],
            [network.domains[node] for node in nodes],
            [network.requests[node] for node in nodes],
            [network.notifies[node] for node in nodes],
            [network.edges[edge] for edge in edges],
            [inside(network.sources[edge]) for edge in edges],
            [inside(network.targets[edge]) for edge in edges],
            [network.edge_domains[edge] for edge in edges],
            [network.summaries[edge] for edge in edges],
        )
