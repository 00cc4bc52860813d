"""Clock (A&I 4.2): the pointstamps for which work may remain.

Clock is Close-up of all queued messages, as pointstamps of their edges, and all pending notification requests, as
pointstamps of their nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.closure import Closure, close_numbered
from progress.errors import PointstampError
from progress.topology import Network, Topology, network_of


def clock(
    graph: Topology, messages: Iterable[tuple[str, Any]] = (), requests: Iterable[tuple[str, Any]] = ()
) -> Closure:
    """The Clock of exactly these messages and requests. Cost: that of `close`.

    Returns
    -------
    What may still arrive where.

    Raises
    ------
    PointstampError
        PS501 to PS504 where something is not a message or a request of the graph.

    Examples
    --------
    >>> from pointstamp import clock, from_edges
    >>> clock(from_edges([("a", "b")]), messages=[("a->b", 2)]).frontiers
    {'b': (2,), 'a->b': (2,)}
    """
    network = network_of(graph)
    return close_numbered(network, [*located(network, messages, "edge"), *located(network, requests, "node")])


def located(network: Network, pointstamps: Iterable[tuple[str, Any]], kind: str) -> list[tuple[int, Any]]:
    """Numbered pointstamps, all at nodes or all on edges as `kind` says, each once."""
    return of_kind(network, map(network.pointstamp, pointstamps), kind)


def of_kind(network: Network, pointstamps: Iterable[tuple[int, Any]], kind: str) -> list[tuple[int, Any]]:
    """`located` of what is numbered already."""
    found: dict[tuple[int, Any], None] = {}
    for pointstamp in pointstamps:
        if (pointstamp[0] < len(network.nodes)) != (kind == "node"):
            is_not, right = (
                ("an edge", "messages are on edges") if kind == "edge" else ("a node", "requests are at nodes")
            )
            raise PointstampError("PS504", f"{network.name(pointstamp[0])!r} is not {is_not}", right)
        found[pointstamp] = None
    return list(found)
