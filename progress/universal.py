"""Universal time (A&I Proposition 2): one partial order into which all pointstamps embed.

The proposition: could-result-in is transitive exactly when there are a partial order and a mapping E of pointstamps
into it with (x, t) could-result-in (y, u) if and only if E(x, t) <= E(y, u). The mapping here is E(x, t) = Close-up of
{(x, t)}, ordered by reverse inclusion: what can cause more comes first.
"""

from __future__ import annotations

from typing import Any

from progress.closure import Closure, close
from progress.topology import Topology


class UniversalTime:
    """A value of the universal order: a closed set of pointstamps. Earlier means: a larger set."""

    __slots__ = ("_closure", "_frontiers")

    def __init__(self, closure: Closure) -> None:
        self._closure = closure
        self._frontiers = {location: frozenset(times) for location, times in closure.frontiers.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniversalTime) and self._frontiers == other._frontiers

    def __hash__(self) -> int:
        return hash(frozenset(self._frontiers.items()))

    def __le__(self, other: UniversalTime) -> bool:
        """Whether this closed set contains the other. Cost: O(locations * width squared)."""
        return all((location, time) in self._closure for location, times in other._frontiers.items() for time in times)


def universal_time(graph: Topology, location: str, time: Any) -> UniversalTime:
    """E(location, time): an order embedding of could-result-in exactly when Condition 2 holds. Cost: one `close`."""
    return UniversalTime(close(graph, [(location, time)]))
