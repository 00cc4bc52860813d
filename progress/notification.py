"""Notifications (A&I 4.2): which requests may be delivered, and what keeps the others waiting.

A request (p, t) may be delivered when no incoming edge e of p has (e, t) in Clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from progress.clock import clock, located
from progress.closure import Closure
from progress.could_result_in import CouldResultIn, SearchTooLong
from progress.pointstamp import Pointstamp
from progress.topology import Network, Topology


class Blocked(NamedTuple):
    """A request that has to wait, a pointstamp that it waits for, and the way from there to an incoming edge."""

    request: Pointstamp
    by: Pointstamp
    proof: tuple[Pointstamp, ...]


class Eligibility(NamedTuple):
    """The requests that may be delivered now, and the others."""

    eligible: tuple[Pointstamp, ...]
    blocked: tuple[Blocked, ...]


def eligible(
    graph: Topology, messages: Iterable[tuple[str, Any]] = (), requests: Iterable[tuple[str, Any]] = ()
) -> Eligibility:
    """Judge every request against the Clock of exactly these messages and requests.

    Both lists are in node order, then in a linear extension of the time order. Cost: one `close`, and O(incoming edges
    * width) for each request.
    """
    network = graph.network()
    requests = list(requests)
    now = clock(network, messages, requests)
    free: list[Pointstamp] = []
    waiting: list[Blocked] = []
    wanted = located(network, requests, "node")
    for node, time in sorted(
        wanted, key=lambda request: (request[0], network.domains[request[0]].sort_key(request[1]))
    ):
        request = Pointstamp(network.nodes[node], time)
        proof = _obstacle(network, now, node, time)
        if proof is None:
            free.append(request)
        else:
            waiting.append(Blocked(request, proof[0], tuple(proof)))
    return Eligibility(tuple(free), tuple(waiting))


def _obstacle(network: Network, now: Closure, node: int, time: Any) -> list[Pointstamp] | None:
    count = len(network.nodes)
    for edge in network.incoming[node]:
        way = now.way(count + edge, time)
        if way is not None:
            return over_distinct_locations(network, way)
    return None


def over_distinct_locations(network: Network, way: list[Pointstamp]) -> list[Pointstamp]:
    """The way itself, or a proof of Definition 2 where it passes a location twice because Condition 2 fails."""
    inner = {location for location, _ in way}
    if len(inner) == len(way) or len(way) == 2:
        return way
    try:
        return CouldResultIn(network).proof(way[0], way[-1]) or way
    except SearchTooLong:
        return way
