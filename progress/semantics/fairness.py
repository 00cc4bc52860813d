"""Judging what has to happen: every fair behaviour, after each state with `when`, reaches one with `goal`.

A behaviour is fair when it stops only where nothing can happen, when rare actions (failures) happen finitely often, and
when no action is possible from some state on for ever and never happens (weak fairness; *Failure Transparency*,
Definition B.12). On a finite graph a behaviour stays in one strongly connected component in the end. One that goes
through all steps of its component leaves the fewest actions undone: so some fair behaviour avoids the goal exactly
when, among the states without it and without the rare actions, there is a component in which each action that is
possible in all of its states happens within it. A state in which nothing is possible is such a component; one that can
be left, and has no step to itself, is not. Actions are the same when they are equal; where symmetric states are visited
once, an action is that of the state that stands for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from progress.component import together
from progress.semantics.machine import Path
from progress.semantics.properties import Leads, LeadsEach

if TYPE_CHECKING:
    from progress.semantics.explorer import Exploration

S = TypeVar("S", bound=Hashable)


def judge_leads(exploration: Exploration[S], wanted: Leads) -> Path[S] | None:
    """The beginning of a fair behaviour that avoids the goal: a path to where it stays, and once around if it moves.

    None, too, where not every state was visited: what looks like an end may not be one. Cost: O(states + steps).
    """
    return _Search(exploration, wanted).path() if exploration.finished else None


def judge_leads_each(exploration: Exploration[S], wanted: LeadsEach) -> Path[S] | None:
    """The shortest of all these beginnings. Cost: O(states + steps) for each thing that is ever found."""
    if not exploration.finished:
        return None
    found = {state: frozenset(wanted.when(state)) for state in exploration.states}
    paths = []
    for thing in dict.fromkeys(thing for state in exploration.states for thing in found[state]):
        when = partial(_is_found, found, thing)
        one = Leads(wanted.name, when, _never, wanted.rare, partial(wanted.by, thing), wanted.kind)
        path = judge_leads(exploration, one)
        if path is not None:
            paths.append(path)
    return min(paths, key=lambda path: len(path.steps), default=None)


def _is_found(found: Mapping[Any, frozenset[Hashable]], thing: Hashable, state: Any) -> bool:
    return thing in found[state]


def _never(state: Any) -> bool:
    return False


def _itself(action: Any) -> Hashable:
    return action  # type: ignore[no-any-return]


class _Search:
    """One property on one exploration."""

    def __init__(self, exploration: Exploration[Any], wanted: Leads) -> None:
        self.exploration = exploration
        self.wanted = wanted
        self.avoids = [not wanted.goal(state) for state in exploration.states]

    def path(self) -> Path[Any] | None:
        states, wanted = self.exploration.states, self.wanted
        starts = [number for number, avoids in enumerate(self.avoids) if avoids and wanted.when(states[number])]
        ways = self._ways(starts, with_rare=True)
        fair = self._fair(ways)
        last = next((number for number in ways if number in fair), None)
        if last is None:
            return None
        around = self._around(last, fair[last])
        steps = [*self._back(ways, last), *around]
        while ways[last][0] >= 0:
            last = ways[last][0]
        before = self.exploration.path(last)
        return Path(before.start, (*before.steps, *steps))

    def _steps(self, number: int, with_rare: bool = False, with_goal: bool = False) -> Iterator[tuple[Any, int]]:
        rare, by = self.wanted.rare, self.wanted.by
        for action, after in self.exploration.steps[number]:
            if (with_rare or rare is None or not rare(action)) and (with_goal or by is None or not by(action)):
                yield action, after

    def _fair(self, reached: Iterable[int]) -> dict[int, set[int]]:
        """The states in which a fair behaviour may stay without the goal, each with its component."""
        numbers = dict.fromkeys(reached)
        steps = [(number, after) for number in numbers for _, after in self._steps(number) if after in numbers]
        fair: dict[int, set[int]] = {}
        for group in map(set, together(numbers, steps)):
            if self._may_stay(group):
                fair |= dict.fromkeys(group, group)
        return fair

    def _may_stay(self, group: set[int]) -> bool:
        kind = self.wanted.kind or _itself
        possible = [{kind(action) for action, _ in self._steps(number, with_goal=True)} for number in group]
        done = {kind(action) for number in group for action, after in self._steps(number) if after in group}
        return set.intersection(*possible) <= done

    def _ways(self, starts: Iterable[int], with_rare: bool, within: set[int] | None = None) -> dict[int, Any]:
        """For each state that is reached without the goal: from which, and by what; nearest first."""
        found: dict[int, tuple[int, Any]] = dict.fromkeys(starts, (-1, None))
        queue = deque(found)
        while queue:
            number = queue.popleft()
            for action, after in self._steps(number, with_rare):
                if after not in found and self.avoids[after] and (within is None or after in within):
                    found[after] = number, action
                    queue.append(after)
        return found

    def _around(self, number: int, group: set[int]) -> list[tuple[Any, Any]]:
        """A shortest way from a state back to itself within its component; none where it stands still."""
        ways = self._ways([number], with_rare=False, within=group)
        for last in ways:
            for action, after in self._steps(last):
                if after == number:
                    return [*self._back(ways, last), (action, self.exploration.states[number])]
        return []

    def _back(self, ways: dict[int, Any], number: int) -> list[tuple[Any, Any]]:
        steps = []
        while ways[number][0] >= 0:
            before, action = ways[number]
            steps.append((action, self.exploration.states[number]))
            number = before
        return steps[::-1]
