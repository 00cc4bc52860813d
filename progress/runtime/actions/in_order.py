"""What one call sends on an edge, or one look at a source gives, in an order in which nothing overtakes (A&I 4.2).

It is kept by time, and a time that was begun early may have messages that came after those of an earlier time: of
(5, a), (3, b), (5, c) there are 5: a, c and 3: b, and c may not be delivered before b, whose time is before its own. So
the times are handed on in a linear extension of their order. That b then comes before a overtakes nothing, for 5 is not
at or before 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from progress.order import Domain

V = TypeVar("V")


def by_time(batches: Mapping[Any, V], domain: Domain) -> Mapping[Any, V]:
    """What is kept by time, in a linear extension of the times. Cost: O(n log n) for n times, nothing for one."""
    if len(batches) < 2:
        return batches
    return {time: batches[time] for time in sorted(batches, key=domain.sort_key)}


def by_edge_and_time(sent: dict[tuple[str, Any], V], domains: Mapping[str, Domain]) -> dict[tuple[str, Any], V]:
    """The same for several edges: those of one edge in a linear extension of its times, edges in their order.

    Cost: O(n) for n edges with one time each, else as for `by_time`.
    """
    if len(sent) < 2:
        return sent
    edges: dict[str, list[Any]] = {}
    for edge, time in sent:
        edges.setdefault(edge, []).append(time)
    if len(edges) == len(sent):
        return sent
    return {
        (edge, time): sent[edge, time]
        for edge, times in edges.items()
        for time in sorted(times, key=domains[edge].sort_key)
    }
