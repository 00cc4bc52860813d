"""Sections 2 and 3 of *Timely Dataflow: A Model* word for word: the oracle of every fast implementation.

Slow and obvious, and independent of all it judges: it reads a graph file's plain data (format 1, what `json.loads`
gives) and imports nothing of the project but its own first half, `times.py`. Files with `recursion` are not
its subject. It expects a correct file and checks none.

Reachability, closure and eligibility are exact for every time. The conditions quantify over all times; here over
those whose numbers are at most a `bound` that the caller chooses. Every violation found is one. That none is found
proves that there is none where the bound is at least `reference_times.sufficient_bound(document)`.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from progress.reference.times import (
    Domain,
    Json,
    Time,
    Times,
    domain_from_json,
    hull,
    less_equal,
    minimal,
    moved,
    time_from_json,
    time_to_json,
    window,
)

Pointstamp = tuple[str, Time]
Frontiers = dict[str, Times]  # the minimal times of a set of pointstamps at each location


class TooManySteps(Exception):
    """A closure did not come to rest within the limit; where times decrease for ever, none would."""


class Graph:
    """Nodes; edges: input (no source), internal, output (no destination). Both are locations (A&I 2.1, 3.1)."""

    def __init__(self, document: Json) -> None:
        nodes = {name: keys or {} for name, keys in document["nodes"].items()}
        edges = {edge.get("id", f"{edge.get('from')}->{edge.get('to')}"): edge for edge in document.get("edges", [])}
        self.nodes = list(nodes)
        self.edges = list(edges)
        self.locations = self.nodes + self.edges
        self.source: dict[str, str | None] = {name: edge.get("from") for name, edge in edges.items()}
        self.destination: dict[str, str | None] = {name: edge.get("to") for name, edge in edges.items()}
        self.incoming = {node: [edge for edge in edges if self.destination[edge] == node] for node in nodes}
        self.outgoing = {node: [edge for edge in edges if self.source[edge] == node] for node in nodes}
        self.notifies = {node: nodes[node].get("notify", True) for node in nodes}
        self.requests: dict[str, Json] = {node: nodes[node].get("requests", "identity") for node in nodes}
        self.summary: dict[str, Json] = {}  # of the source, to this edge
        for edge, node in self.source.items():
            if node is not None:
                self.summary[edge] = nodes[node].get("emits", {}).get(edge, nodes[node].get("summary", "identity"))

        self.domain: dict[str, Domain] = {}
        for node in nodes:
            self.domain[node] = domain_from_json(nodes[node].get("time", document.get("time")))
        for edge in edges:
            source, destination = self.source[edge], self.destination[edge]
            if "time" in edges[edge]:
                self.domain[edge] = domain_from_json(edges[edge]["time"])
            elif destination is not None:
                self.domain[edge] = self.domain[destination]
            elif source is not None:
                self.domain[edge] = moved(self.summary[edge], self.domain[source])[0]
        self._steps: dict[Pointstamp, list[tuple[str, Times]]] = {}

    def less_equal(self, location: str, a: Time, b: Time) -> bool:
        """The order of the times at a location."""
        return less_equal(self.domain[location], a, b)

    def time_from_json(self, location: str, data: Json) -> Time:
        """A time at a location from its form in a file."""
        return time_from_json(self.domain[location], data)

    def time_to_json(self, location: str, time: Time) -> Json:
        """A time at a location in its form in a file."""
        return time_to_json(self.domain[location], time)

    def steps(self, x: str, t: Time) -> list[tuple[str, Times]]:
        """The two clauses of Definition 2: from an edge to its destination with the same time, and from a node to each
        of its outgoing edges with what the summary gives on t and above. Locations with the minimal times there."""
        if (x, t) not in self._steps:
            if x in self.outgoing:
                found = [(e, hull(self.summary[e], self.domain[x], self.domain[e], t)) for e in self.outgoing[x]]
            else:
                destination = self.destination[x]
                found = [] if destination is None else [(destination, (t,))]
            self._steps[x, t] = found
        return self._steps[x, t]

    def pointstamps(self, bound: int) -> list[Pointstamp]:
        """Every pointstamp whose numbers are at most `bound`."""
        return [(location, time) for location in self.locations for time in window(self.domain[location], bound)]


# Definition 2


def proof(graph: Graph, start: Pointstamp, end: Pointstamp) -> list[Pointstamp] | None:
    """Distinct locations x_1 ... x_k with times t_1 ... t_k that lead from `start` to `end`, or None (Definition 2).

    Every path over distinct locations is tried, so the cost is exponential. A proof of length 1 names one pointstamp,
    or two at the one location when the time only grows.
    """
    (x, t), (y, u) = start, end
    if x == y:
        if not graph.less_equal(x, t, u):
            return None
        return [start] if t == u else [start, end]

    def extend(path: list[Pointstamp]) -> list[Pointstamp] | None:
        for location, times in graph.steps(*path[-1]):
            if any(location == visited for visited, _ in path):
                continue
            for time in times:
                if location != y:
                    longer = extend([*path, (location, time)])
                else:
                    longer = [*path, end] if graph.less_equal(y, time, u) else None
                if longer is not None:
                    return longer
        return None

    return extend([start])


def could_result_in(graph: Graph, start: Pointstamp, end: Pointstamp) -> bool:
    """Whether start ~> end (Definition 2)."""
    return proof(graph, start, end) is not None


def is_proof(graph: Graph, claimed: Sequence[Pointstamp], start: Pointstamp, end: Pointstamp) -> bool:
    """Whether `claimed` proves start ~> end: it begins and ends there, its locations are distinct (unless it is the two
    times of one location), and each time can be reached from the one before in one step."""
    if not claimed or claimed[0] != start or claimed[-1] != end:
        return False
    if len(claimed) == 2 and start[0] == end[0]:
        return graph.less_equal(start[0], start[1], end[1])
    locations = [location for location, _ in claimed]
    if len(set(locations)) < len(locations):
        return False
    for before, (location, time) in itertools.pairwise(claimed):
        reached = [t for next_location, times in graph.steps(*before) if next_location == location for t in times]
        if not any(graph.less_equal(location, t, time) for t in reached):
            return False
    return True


def results(graph: Graph, start: Pointstamp) -> Frontiers:
    """All that `start` could result in: the minimal u with start ~> (y, u), for every y (Definition 2).

    Law: could_result_in(start, (y, u)) exactly when some time of results[y] is <= u.
    """
    found: Frontiers = {start[0]: (start[1],)}

    def extend(location: str, times: Times, visited: frozenset[str]) -> None:
        for y, arrived in _steps_of_all(graph, location, times).items():
            if arrived and y not in visited:
                found[y] = minimal(graph.domain[y], found.get(y, ()) + arrived)
                extend(y, arrived, visited | {y})

    extend(start[0], (start[1],), frozenset({start[0]}))
    return found


def along(graph: Graph, path: Sequence[str], t: Time) -> Times:
    """The minimal times at the end of this path (locations, repeated or not) from its first location at t."""
    times: Times = (t,)
    for location, following in itertools.pairwise(path):
        times = _steps_of_all(graph, location, times).get(following, ())
    return times


def _steps_of_all(graph: Graph, location: str, times: Times) -> Frontiers:
    arrived: Frontiers = {}
    for time in times:
        for y, reached in graph.steps(location, time):
            arrived[y] = minimal(graph.domain[y], arrived.get(y, ()) + reached)
    return arrived


# Close-up and Clock


def close(graph: Graph, start: Iterable[Pointstamp], limit: int = 500) -> Frontiers:
    """Close-up (A&I 3.3): the least upward-closed set that contains `start`, by its minimal times at each location.

    Iterated: ~> is steps over paths, so a set closed under single steps is upward closed. Unlike `results` it may pass
    a location twice; both agree when Condition 2 holds (Proposition 3). Raises TooManySteps when more than `limit`
    times were added.
    """
    found: Frontiers = {}
    for _ in _growing(graph, found, start, limit, set(graph.locations)):
        pass
    return found


def _growing(
    graph: Graph, found: Frontiers, start: Iterable[Pointstamp], limit: int, inside: set[str]
) -> Iterator[Pointstamp]:
    """Lets `found` grow from `start`, over the locations `inside`, until it is closed; yields each addition."""
    waiting = deque(start)
    added = 0
    while waiting:
        x, t = waiting.popleft()
        if x not in inside or is_in(graph, (x, t), found):
            continue
        found[x] = (*(other for other in found.get(x, ()) if not graph.less_equal(x, t, other)), t)
        yield x, t
        added += 1
        if added > limit:
            raise TooManySteps(f"the closure still grew after {limit} times")
        waiting.extend((y, u) for y, times in graph.steps(x, t) for u in times)


def is_in(graph: Graph, pointstamp: Pointstamp, closure: Frontiers) -> bool:
    """Whether the closure contains the pointstamp."""
    x, t = pointstamp
    return any(graph.less_equal(x, other, t) for other in closure.get(x, ()))


def clock(graph: Graph, messages: Iterable[Pointstamp], requests: Iterable[Pointstamp], limit: int = 500) -> Frontiers:
    """Clock (A&I 4.2): Close-up of all queued messages and all pending notification requests."""
    return close(graph, [*messages, *requests], limit)


def eligible(
    graph: Graph, messages: Sequence[Pointstamp], requests: Sequence[Pointstamp], limit: int = 500
) -> tuple[list[Pointstamp], list[Pointstamp]]:
    """The requests that may be delivered, and the blocked ones, each in the order given (A&I 4.2, action Not).

    A request (p, t) may be delivered when for no incoming edge e of p, (e, t) is in Clock.
    """
    now = clock(graph, messages, requests, limit)
    blocked = [(p, t) for p, t in requests if any(is_in(graph, (e, t), now) for e in graph.incoming[p])]
    return [request for request in requests if request not in blocked], blocked


def blockers(
    graph: Graph, messages: Sequence[Pointstamp], requests: Sequence[Pointstamp], request: Pointstamp, limit: int = 500
) -> list[Pointstamp]:
    """Which messages and requests block this request: those whose own Close-up holds an incoming edge at its time."""
    p, t = request
    found = []
    for pointstamp in [*messages, *requests]:
        closure = close(graph, [pointstamp], limit)
        if any(is_in(graph, (e, t), closure) for e in graph.incoming[p]):
            found.append(pointstamp)
    return found


# The conditions


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds for all times up to the bound; if not, pointstamps that show it, in the order of the
    condition's own sentence."""

    holds: bool
    witness: tuple[Pointstamp, ...] = ()
    strictly_below: bool = False  # Condition 2 only: some path arrives strictly below its start (PS201; else PS202)


def condition_1(graph: Graph, bound: int) -> Verdict:
    """If (p, t) ~>N (p, t') then t <= t' (A&I 3.2, Definition 3). A node that never asks satisfies it.

    Definition 3 lets the event lie anywhere above t, hence the hull. Witness: (p, t), (p, t').
    """
    for p in graph.nodes:
        for t in window(graph.domain[p], bound) if graph.notifies[p] else []:
            for requested in hull(graph.requests[p], graph.domain[p], graph.domain[p], t):
                if not graph.less_equal(p, t, requested):
                    return Verdict(False, ((p, t), (p, requested)))
    return Verdict(True)


def condition_2(graph: Graph, bound: int) -> Verdict:
    """For all p, internal e with dst(e) = p, and t, t': if (p, t) ~> (e, t') then t <= t' (A&I 3.2).

    Witness: (p, t), (e, t'); one with t' < t where there is one.
    """
    witness: tuple[Pointstamp, ...] = ()
    for p in graph.nodes:
        for t in window(graph.domain[p], bound):
            reached = results(graph, (p, t))
            for e in graph.incoming[p]:
                for arrives in reached.get(e, ()):
                    if not graph.less_equal(p, t, arrives):
                        if graph.less_equal(p, arrives, t):
                            return Verdict(False, ((p, t), (e, arrives)), strictly_below=True)
                        witness = witness or ((p, t), (e, arrives))
    return Verdict(not witness, witness)


def transitive(graph: Graph, bound: int) -> Verdict:
    """Whether a ~> b and b ~> c imply a ~> c, for every a up to the bound. Witness: a, b, c.

    Only minimal b and c are tried: a greater b results in less, and from a lesser c every greater one follows
    (Proposition 1.3). Theorem 1: the answer is that of `condition_2`.
    """
    results_of = functools.cache(lambda pointstamp: results(graph, pointstamp))
    for a in graph.pointstamps(bound):
        for b in _pointstamps(results_of(a)):
            for c in _pointstamps(results_of(b)):
                if not is_in(graph, c, results_of(a)):
                    return Verdict(False, (a, b, c))
    return Verdict(True)


def advancing(graph: Graph, bound: int, limit: int = 500, asking: bool = False) -> Verdict:
    """Whether no closed walk of at least one step leads from some (x, t) to (x, u) with u <= t. Witness: those two.

    Nodes suffice for x: an edge leads to its destination at the same time. `asking`: only walks through a node that
    asks for notifications count; those that begin there suffice, since steps are monotone. Raises TooManySteps when no
    such walk was found and some search did not come to rest.
    """
    unfinished: TooManySteps | None = None
    for x in graph.nodes:
        if asking and not graph.notifies[x]:
            continue
        around = _around(graph, x)
        for t in window(graph.domain[x], bound) if around else []:
            after_one_step = [(y, u) for y, times in graph.steps(x, t) for u in times]
            try:
                for y, u in _growing(graph, {}, after_one_step, limit, around):
                    if y == x and graph.less_equal(x, u, t):
                        return Verdict(False, ((x, t), (x, u)))
            except TooManySteps as error:
                unfinished = error
                break
    if unfinished:
        raise unfinished
    return Verdict(True)


def _pointstamps(frontiers: Frontiers) -> list[Pointstamp]:
    return [(location, time) for location, times in frontiers.items() for time in times]


def _around(graph: Graph, x: str) -> set[str]:
    """The locations on closed walks through x."""

    def reachable(neighbours: dict[str, list[str]]) -> set[str]:
        found: set[str] = set()
        waiting = [x]
        while waiting:
            for y in neighbours[waiting.pop()]:
                if y not in found:
                    found.add(y)
                    waiting.append(y)
        return found

    forwards = {**graph.outgoing, **{e: [p] if p is not None else [] for e, p in graph.destination.items()}}
    backwards = {**graph.incoming, **{e: [p] if p is not None else [] for e, p in graph.source.items()}}
    return reachable(forwards) & reachable(backwards)
