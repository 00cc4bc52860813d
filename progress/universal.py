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
    """A value of the universal order: a closed set of pointstamps. Earlier means: a larger set.

    The set is the least one that is closed and has its pointstamp, so a closed set contains all of it when it contains
    that. No frontier is asked for: in graphs with calls some have no finite form.
    """

    __slots__ = ("_closure", "_pointstamp")

    def __init__(self, closure: Closure, pointstamp: tuple[str, Any]) -> None:
        self._closure = closure
        self._pointstamp = pointstamp

    def __eq__(self, other: object) -> bool:
        """Whether both are one set, of one graph."""
        return (
            isinstance(other, UniversalTime)
            and self._closure.network is other._closure.network
            and self <= other <= self
        )

    def __hash__(self) -> int:
        """Equal for equal sets: of their minimal times; in a graph with calls one for all, as these may be endless."""
        if self._closure.network.relation is not None:
            return hash(id(self._closure.network))
        return hash(frozenset((at, frozenset(times)) for at, times in self._closure.frontiers.items()))

    def __le__(self, other: UniversalTime) -> bool:
        """Whether this closed set contains the other. Cost: that of `Closure.covers`."""
        return other._pointstamp in self._closure


def universal_time(graph: Topology, location: str, time: Any) -> UniversalTime:
    """E(location, time): an order embedding of could-result-in exactly when Condition 2 holds. Cost: one `close`.

    Returns
    -------
    The minimal times to which (location, time) leads, at every location; compared as E is.

    Raises
    ------
    PointstampError
        PS502, PS503 where this is not a pointstamp of the graph, PS601 where there are no minimal times.

    Examples
    --------
    >>> from pointstamp import from_edges, universal_time
    >>> graph = from_edges([("a", "b")])
    >>> universal_time(graph, "a", 0) <= universal_time(graph, "b", 0)
    True
    """
    return UniversalTime(close(graph, [(location, time)]), (location, time))
