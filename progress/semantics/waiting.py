"""What a trace tells of a queue, and the events of a node that explain what it sent in a recorded step (A&I 4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from progress.order import Domain
from progress.topology import Network


class Waiting(NamedTuple):
    """The times queued on an edge: those in line, the head first, and those of which the place is not known.

    `Inp` puts a message anywhere, and each one anew: so of those that came in that way, any order of taking them is
    that of some places. Only what is in line holds up what is behind it.
    """

    domain: Domain
    reordering: bool
    in_line: tuple[Any, ...] = ()
    anywhere: tuple[Any, ...] = ()

    @property
    def times(self) -> tuple[Any, ...]:
        """All that is queued."""
        return self.in_line + self.anywhere

    def then(self, time: Any) -> Waiting:
        """With one more at the end of the line."""
        return self._replace(in_line=(*self.in_line, time))

    def somewhere(self, time: Any) -> Waiting:
        """With one more at a place that nobody knows."""
        return self._replace(anywhere=(*self.anywhere, time))

    def without(self, time: Any) -> Waiting:
        """With one less, wherever it was: `Outp`."""
        return self._replace(in_line=_less(self.in_line, time))

    def taken(self, time: Any) -> Waiting | None:
        """What is left when a node takes a message at this time, from the line if it may; None where it may not."""
        if time in self.in_line:
            ahead = self.in_line[: self.in_line.index(time)]
            below = self.domain.less_equal
            if not ahead or (self.reordering and not any(below(other, time) for other in ahead)):
                return self._replace(in_line=_less(self.in_line, time))
        if time in self.anywhere:
            return self._replace(anywhere=_less(self.anywhere, time))
        return None


class Act:
    """The events of one node in one step, in some order that explains what it sent, edge by edge in that order."""

    def __init__(self, network: Network, sent: Sequence[tuple[int, Any]]) -> None:
        self.network = network
        self.sent = {edge: [time for at, time in sent if at == edge] for edge, _ in sent}
        self.trouble = "no event of it allows what it sends"

    def queues_after(
        self, queues: list[Waiting], taken: Counter[tuple[int, Any]], times: list[Any]
    ) -> list[Waiting] | None:
        """The queues without what was taken; None where no order of the events explains it, and `trouble` says why.

        Each event sends as much as it may: what is left for those after it is only less.
        """
        return self._search(queues, taken, times, dict.fromkeys(self.sent, 0))

    def _search(
        self, queues: list[Waiting], taken: Counter[tuple[int, Any]], times: list[Any], done: dict[int, int]
    ) -> list[Waiting] | None:
        if not taken and not times:
            return queues if all(done[edge] == len(sent) for edge, sent in self.sent.items()) else None
        for edge, time in taken:
            left = queues[edge].taken(time)
            if left is None:
                name = self.network.edges[edge]
                self.trouble = f"a message at {time!r} is not there on {name!r}, or another is ahead of it"
                continue
            rest = [*queues[:edge], left, *queues[edge + 1 :]]
            found = self._search(rest, taken - Counter([(edge, time)]), times, self._sends(time, done))
            if found is not None:
                return found
        for place, time in enumerate(times):
            found = self._search(queues, taken, times[:place] + times[place + 1 :], self._sends(time, done))
            if found is not None:
                return found
        return None

    def _sends(self, time: Any, done: dict[int, int]) -> dict[int, int]:
        """How much of what was sent is explained when an event at this time has sent all that it may."""
        after = dict(done)
        for edge, sent in self.sent.items():
            summary, below = self.network.summaries[edge], self.network.edge_domains[edge].less_equal
            least = () if summary is None else summary.apply(time)
            while after[edge] < len(sent) and any(below(lower, sent[after[edge]]) for lower in least):
                after[edge] += 1
        return after


def _less(times: tuple[Any, ...], time: Any) -> tuple[Any, ...]:
    place = times.index(time)
    return times[:place] + times[place + 1 :]
