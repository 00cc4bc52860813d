"""What one event could result in, at the earliest time at each place, and ways to there.

Law: a way goes by arcs that bring their target's earliest time, so the times along it are those of the closure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from functools import cached_property
from typing import Any

from graphs.adapters.rounds import Arc, Rounds
from progress.closure import close
from progress.topology import Network


class FirstWays:
    """The closure of one pointstamp, as the parts and arcs of an agent graph. Cost: `progress.closure.close`."""

    def __init__(self, rounds: Rounds, network: Network, location: str, time: Any) -> None:
        self.rounds = rounds
        self.times: dict[str, Any] = {
            place: times[0] for place, times in close(network, [(location, time)]).frontiers.items()
        }
        self.leaving: dict[str, list[Arc]] = {
            name: [arc for arc in arcs if self._brings_first(arc)]
            for name, arcs in rounds.leaving.items()
            if name in self.times
        }
        self.order = self._order()

    def _brings_first(self, arc: Arc) -> bool:
        time = self.times.get(arc.id)
        return time is not None and arc.target in self.rounds.leaving and time == self.times[arc.target]

    def _order(self) -> list[str]:
        """The parts reached, each after those from which it is first reached: no cycle stands still."""
        missing = dict.fromkeys(self.leaving, 0)
        for arcs in self.leaving.values():
            for arc in arcs:
                missing[arc.target] += 1
        ready = deque(name for name, count in missing.items() if not count)
        order: list[str] = []
        while ready:
            name = ready.popleft()
            order.append(name)
            for arc in self.leaving[name]:
                missing[arc.target] -= 1
                if not missing[arc.target]:
                    ready.append(arc.target)
        return order

    @cached_property
    def counts(self) -> dict[str, int]:
        """After which numbers of steps each part may run, as the bits of a number; a join perhaps fewer."""
        parts = self.rounds.agents.parts
        counts = dict.fromkeys(self.order, 0)
        for name in self.order:
            counts[name] = counts[name] or 1
            for arc in self.leaving[name]:
                counts[arc.target] |= counts[name] << parts[arc.target].steps
        return counts

    def steps(self, begin: str) -> dict[str, int]:
        """After how many of the tool's steps each part may run first; a join of all, when its last source has."""
        parts = self.rounds.agents.parts
        found: dict[str, int] = {begin: 0}
        for name in self.order:
            if name not in found:
                continue
            for arc in self.leaving[name]:
                after = found[name] + parts[arc.target].steps
                known = found.get(arc.target, after)
                found[arc.target] = max(known, after) if parts[arc.target].waits == "all" else min(known, after)
        return found

    def ways(self, begin: Arc, end: Arc, without: Collection[str] = ()) -> list[list[Arc]]:
        """The shortest way from one arc to another that passes no part of `without`, and the longest, if there is one.

        The end of `end` may be a part of `without`.
        """
        if begin.id == end.id:
            return [[begin]]
        if begin.target in without or begin.target not in self.times:
            return []
        short: dict[str, list[Arc]] = {begin.target: [begin]}
        long: dict[str, list[Arc]] = {begin.target: [begin]}
        for name in self.order:
            if name not in short:
                continue
            for arc in self.leaving[name]:
                if arc.target in without or arc.target == begin.target:
                    continue
                if arc.target not in short or len(short[name]) + 1 < len(short[arc.target]):
                    short[arc.target] = [*short[name], arc]
                if arc.target not in long or len(long[name]) + 1 > len(long[arc.target]):
                    long[arc.target] = [*long[name], arc]
        if end.source not in short:
            return []
        found = [[*short[end.source], end], [*long[end.source], end]]
        return found[:1] if found[0] == found[1] else found
