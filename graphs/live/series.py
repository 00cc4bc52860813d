"""Rates and lengths of queues over the last minutes, edge by edge, for small plots."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

EVERY = 2.0  # seconds from one sample to the next, at least
SAMPLES = 120
SHARE = 100  # times what a sample took passes before the next one
MOST_EDGES = 200  # that are told; of more, those on which most has passed


class Series:
    """Samples of how many messages have passed each edge, and how many are queued there.

    Cost of a sample: O(edges), 16 bytes an edge. `told` costs O(samples * edges that are told).
    """

    def __init__(self, edges: Sequence[str]) -> None:
        self._edges = edges
        self._next = 0.0
        self._samples: deque[tuple[float, array[int], array[int]]] = deque(maxlen=SAMPLES)

    def is_due(self, now: float) -> bool:
        """Whether it is time for the next sample."""
        return now >= self._next

    def add(
        self, seconds: float, passed: Mapping[str, int], queued: Mapping[str, int], now: float, cost: float
    ) -> None:
        """Keep one. `cost`: the seconds that it took to know all this."""
        self._next = now + max(EVERY, SHARE * cost)
        every = [passed.get(edge, 0) for edge in self._edges]
        self._samples.append((seconds, array("q", every), array("q", [queued.get(edge, 0) for edge in self._edges])))

    def told(self) -> dict[str, Any]:
        """All of it, as data: edges on which nothing passed are left out."""
        samples = [*self._samples]
        if not samples:
            return {"seconds": [], "edges": {}}
        last = samples[-1]
        busy = [
            number for number in range(len(self._edges)) if last[1][number] or any(each[2][number] for each in samples)
        ]
        busy.sort(key=lambda number: -last[1][number])
        return {
            "seconds": [seconds for seconds, _, _ in samples],
            "edges": {
                self._edges[number]: {
                    "passed": [passed[number] for _, passed, _ in samples],
                    "queued": [queued[number] for _, _, queued in samples],
                }
                for number in busy[:MOST_EDGES]
            },
        }
