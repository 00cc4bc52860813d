"""Judging pairs: a state or a step, and what is found in any state after it: what can never come any more.

What can be found later is collected component by component, as whole numbers with one bit for each thing. So a state
and a thing are judged once however many ways lead from one to the other, and a counterexample is searched only where
there is one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from progress.component import component_numbers
from progress.semantics.machine import Path
from progress.semantics.properties import Later, Since

if TYPE_CHECKING:
    from progress.semantics.explorer import Exploration

S = TypeVar("S", bound=Hashable)


def judge_later(exploration: Exploration[S], wanted: Later) -> Path[S] | None:
    """A shortest path of which the property is false.

    Cost: O(steps) operations on numbers of as many bits as there are different things, and one call of `holds` for each
    two of what `now` and `later` give that occur together.
    """
    search, states = _Search(exploration, wanted), exploration.states
    return search.path(_Mark(wanted.now(states[at]), at, depth, at) for at, (_, _, depth) in search.way.items())


def judge_since(exploration: Exploration[S], wanted: Since) -> Path[S] | None:
    """A shortest path of which the property is false. Cost: as for `judge_later`, of all that happens in steps."""
    search, states = _Search(exploration, wanted), exploration.states
    return search.path(
        _Mark(thing, after, depth + 1, before, action)
        for before, (_, _, depth) in search.way.items()
        for action, after in search.steps[before]
        for thing in wanted.happens(states[before], action, states[after])
    )


class _Mark(NamedTuple):
    """Something that is, or happens: from state `at` on it is judged, so many steps from the start.

    It is there after a shortest way to `before`, and then, where there is one, a step.
    """

    thing: Hashable
    at: int
    depth: int
    before: int
    step: Any = None


class _Search:
    """One property on one exploration."""

    def __init__(self, exploration: Exploration[Any], wanted: Later | Since) -> None:
        self.exploration = exploration
        self.wanted = wanted
        states = exploration.states
        self.steps = [
            [(action, after) for action, after in steps if self._is_taken(number, action, after)]
            for number, steps in enumerate(exploration.steps)
        ]
        self.steps += [[] for _ in range(len(states) - len(self.steps))]
        self.way = self._ways(range(exploration.beginnings))
        self.bits: dict[Hashable, int] = {}
        self.found = {number: self._bits(wanted.later(states[number])) for number in self.way}
        self.judged: dict[Hashable, tuple[int, int]] = {}  # by mark: the things that were judged, and those that fail

    def path(self, marks: Iterable[_Mark]) -> Path[Any] | None:
        """The shortest of all paths to a pair that fails."""
        reached = self._reached()
        best: tuple[int, _Mark, int] | None = None
        for mark in marks:
            bad = self._failing(mark.thing, reached[mark.at])
            if bad and (best is None or mark.depth < best[0]):
                for later, (_, _, further) in self._ways([mark.at]).items():
                    if self.found[later] & bad and (best is None or mark.depth + further < best[0]):
                        best = mark.depth + further, mark, later
        if best is None:
            return None
        _, mark, later = best
        start, first = self._back(self.way, mark.before)
        if mark.at != mark.before or mark.step is not None:
            first = [*first, (mark.step, self.exploration.states[mark.at])]
        _, second = self._back(self._ways([mark.at]), later)
        return Path(start, (*first, *second))

    def _bits(self, things: Iterable[Hashable]) -> int:
        found = 0
        for thing in things:
            found |= 1 << self.bits.setdefault(thing, len(self.bits))
        return found

    def _failing(self, mark: Hashable, reached: int) -> int:
        """Those of the things that fail with what is marked."""
        known, bad = self.judged.get(mark, (0, 0))
        if reached & ~known:
            bad |= sum(
                1 << place
                for thing, place in self.bits.items()
                if reached & ~known & 1 << place and not self.wanted.holds(mark, thing)
            )
            self.judged[mark] = known | reached, bad
        return bad & reached

    def _is_taken(self, number: int, action: Any, after: int) -> bool:
        states, along = self.exploration.states, self.wanted.along
        return along is None or along(states[number], action, states[after])

    def _reached(self) -> dict[int, int]:
        """For every state all that can be in it or later."""
        heads = [number for number in self.way for _ in self.steps[number]]
        tails = [after for number in self.way for _, after in self.steps[number]]
        component = component_numbers(len(self.steps), heads, tails)
        together: dict[int, int] = {}
        for number in sorted(self.way, key=component.__getitem__):
            group = component[number]
            reached = together.get(group, 0) | self.found[number]
            for _, after in self.steps[number]:
                reached |= together.get(component[after], 0)
            together[group] = reached
        return {number: together[component[number]] for number in self.way}

    def _ways(self, starts: Any) -> dict[int, tuple[int, Any, int]]:
        """For each state that is reached: from which, by what, in how many steps; in the order of these."""
        found: dict[int, tuple[int, Any, int]] = dict.fromkeys(starts, (-1, None, 0))
        queue = deque(found)
        while queue:
            number = queue.popleft()
            for action, after in self.steps[number]:
                if after not in found:
                    found[after] = number, action, found[number][2] + 1
                    queue.append(after)
        return found

    def _back(self, ways: dict[int, tuple[int, Any, int]], number: int) -> tuple[Any, list[tuple[Any, Any]]]:
        states, steps = self.exploration.states, []
        while ways[number][0] >= 0:
            before, action, _ = ways[number]
            steps.append((action, states[number]))
            number = before
        return states[number], steps[::-1]
