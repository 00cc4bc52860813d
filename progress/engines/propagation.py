"""What keeps frontiers over a graph of vertices and arcs: `progress.engines.eager`, or its compiled twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from progress.summary import Summary

Change = tuple[int, Any, int]  # vertex, time, change of the count
Move = tuple[Sequence[Any], Sequence[Any]]  # the times that left a frontier, and those that came


class Propagation(Protocol):
    """Frontiers, and waiters at them."""

    @property
    def kernel(self) -> Any:
        """The compiled kernel in use, or None."""

    def update(self, changes: Sequence[Change], /) -> list[int]:
        """Change what is outstanding, all together; the waiters that this releases.

        `TooMuchWork` beyond a budget; then the state is broken, and to be made anew.
        """

    def rebuild(self, changes: Sequence[Change], /) -> None:
        """Take what was outstanding before, however much work it is."""

    def wait(self, vertex: int, until: Any, waiter: int, /) -> bool:
        """Wait as long as the frontier of a vertex covers `until`; False where it does not."""

    def covers(self, vertex: int, until: Any, /) -> bool:
        """Whether the frontier of a vertex has a time at or below `until`."""

    def reaches(self, vertex: int, summary: Summary, time: Any, /) -> bool:
        """Whether the summary moves a time of the frontier to `time` or below."""

    def times(self, vertex: int, /) -> Sequence[Any]:
        """The frontier of a vertex."""

    def watch(self, vertex: int, /) -> None:
        """Note from now on when the frontier of a vertex moves."""

    def take_moved(self) -> Mapping[int, Move | None]:
        """The watched vertices that may have moved since the last call, and how, where that is known."""
