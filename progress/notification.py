"""Notifications (A&I 4.2): which requests may be delivered, and what keeps the others waiting.

A request (p, t) may be delivered when no incoming edge e of p has (e, t) in Clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from progress.clock import located
from progress.closure import Closure, close_numbered
from progress.could_result_in import CouldResultIn, SearchTooLong
from progress.pointstamp import Pointstamp
from progress.topology import Network, Topology, network_of
from progress.way import Fold, Way

FEW_STEPS = 20_000
MOST_STEPS = 400_000  # for the proofs of one question, however many they are


class Blocked(NamedTuple):
    """A request that has to wait, a pointstamp that it waits for, and the way from there to an incoming edge.

    `folds` say where the way walks a cycle more than once, which it may where Condition 2 fails (`progress.way`).

    Examples
    --------
    >>> from pointstamp import eligible, from_edges
    >>> graph = from_edges([(None, "a"), ("a", "b")])
    >>> eligible(graph, messages=[("in->a", 0)], requests=[("b", 0)]).blocked[0].proof[-1]
    Pointstamp(location='a->b', time=0)
    """

    request: Pointstamp
    by: Pointstamp
    proof: tuple[Pointstamp, ...]
    folds: tuple[Fold, ...] = ()


class Eligibility(NamedTuple):
    """The requests that may be delivered now, and the others.

    Examples
    --------
    >>> from pointstamp import eligible, from_edges
    >>> eligible(from_edges([("a", "b")]), messages=[("a->b", 1)], requests=[("b", 0)]).eligible
    (Pointstamp(location='b', time=0),)
    """

    eligible: tuple[Pointstamp, ...]
    blocked: tuple[Blocked, ...]


def eligible(
    graph: Topology, messages: Iterable[tuple[str, Any]] = (), requests: Iterable[tuple[str, Any]] = ()
) -> Eligibility:
    """Judge every request against the Clock of exactly these messages and requests.

    Both lists are in node order, then in a linear extension of the time order. Cost: one `close`, and O(incoming edges
    * width) for each request.

    Returns
    -------
    The requests that may be delivered, and the others, each with one that it waits for.

    Raises
    ------
    PointstampError
        PS501 to PS504 where something is not a message or a request of the graph.

    Examples
    --------
    >>> from pointstamp import eligible, from_edges
    >>> answer = eligible(from_edges([("a", "b")]), messages=[("a->b", 1)], requests=[("b", 0), ("b", 1)])
    >>> answer.eligible, answer.blocked[0].request
    ((Pointstamp(location='b', time=0),), Pointstamp(location='b', time=1))
    """
    network = network_of(graph)
    return eligible_numbered(network, located(network, messages, "edge"), located(network, requests, "node"))


def eligible_numbered(
    network: Network, messages: Iterable[tuple[int, Any]], requests: Iterable[tuple[int, Any]]
) -> Eligibility:
    """`eligible` for numbered pointstamps, each once."""
    requests = list(requests)
    now = close_numbered(network, [*messages, *requests])
    proofs = Proofs(network)
    free: list[Pointstamp] = []
    waiting: list[Blocked] = []
    for node, time in sorted(
        requests, key=lambda request: (request[0], network.domains[request[0]].sort_key(request[1]))
    ):
        request = Pointstamp(network.nodes[node], time)
        way = _obstacle(network, now, node, time, proofs)
        if way is None:
            free.append(request)
        else:
            waiting.append(Blocked(request, way.proof[0], *way))
    return Eligibility(tuple(free), tuple(waiting))


def _obstacle(network: Network, now: Closure, node: int, time: Any, proofs: Proofs) -> Way | None:
    count = len(network.nodes)
    for edge in network.incoming[node]:
        way = now.way(count + edge, time)
        if way is not None:
            return proofs.over_distinct_locations(way)
    return None


class Proofs:
    """Ways as proofs of Definition 2: those of one question, which have `MOST_STEPS` together."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._search = CouldResultIn(network, FEW_STEPS)

    def over_distinct_locations(self, way: Way) -> Way:
        """The way itself, or a proof of Definition 2 where it passes a location twice because Condition 2 fails.

        Where `FEW_STEPS` do not find one, or none are left, the way does: the closure is iterated, and its ways may be
        walks.
        """
        if way.is_simple or self._network.relation is not None or self._search.spent > MOST_STEPS:
            return way
        try:
            proof = self._search.proof(way.proof[0], way.proof[-1])
        except SearchTooLong:
            return way
        return way if proof is None else Way(tuple(proof))
