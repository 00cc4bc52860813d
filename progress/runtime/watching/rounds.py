"""Where loops stand: the last time that has gone round on each edge at which a cycle begins anew."""

from __future__ import annotations

from typing import Any

from progress.topology import Network

MOST_LOOPS = 2  # that are told of, those that went round last


class Rounds:
    """The loops of one run. `saw` is told of what nodes consume. Cost: O(1) a call."""

    def __init__(self, network: Network) -> None:
        self._edges = frozenset(network.edges[edge] for edge in network.advancing)
        self._last: dict[str, Any] = {}  # by edge; what went round last is at the end

    def saw(self, edge: str, time: Any) -> None:
        """Messages of an edge at a time were consumed."""
        if edge in self._edges:
            self._last.pop(edge, None)
            self._last[edge] = time

    def last(self) -> list[tuple[str, Any]]:
        """The edges that went round last, and at which time, the latest first."""
        return [*reversed([*self._last.items()][-MOST_LOOPS:])]
