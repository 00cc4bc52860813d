"""Observational explainability (FT 5.3, Definition 5.5), decided on explored systems; Lemmas 5.7, 5.8 and 5.9.

A system is explainable by another when each of its executions is explained by one of the other. There are infinitely
many executions; but what is observed only grows, so that the order in which things are observed is all that matters.
So the two systems are walked together: beside each configuration of the implementation goes the set of all
configurations of the specification that executions can have reached which showed the same, in the same order. Where the
set becomes empty, the way there is an execution that nothing explains. It is decided in the monotonic form (Definition
5.6), which is the same (Lemma 5.7) since one order is asked for on both sides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from progress.component import reached
from progress.errors import PointstampError
from progress.recovery.observability import Observability, not_monotonic
from progress.semantics.explorer import Exploration, Failed, Says
from progress.semantics.machine import Path

S = TypeVar("S", bound=Hashable)
R = TypeVar("R", bound=Hashable)
Q = TypeVar("Q", bound=Hashable)

CLAIM = "Definition 5.5: the implementation is explainable by the specification"


class Explainable(NamedTuple, Generic[S, R]):
    """R ⇌ R' with respect to O, O' and T: whether it is so, and where not, an execution that shows it."""

    implementation: Exploration[S]
    observe: Observability
    specification: Exploration[R]
    specified: Observability
    translation: frozenset[tuple[R, S]]  # T: pairs of an initial configuration there, and one here
    says: Says
    path: Path[Any] | None = None
    claim: str = CLAIM

    def check(self) -> Explainable[S, R]:
        """This when it holds; `Failed` otherwise, with the execution that nothing explains."""
        if self.says is not Says.HOLDS:
            raise Failed(str(self))
        return self

    def then(self, further: Explainable[R, Q]) -> Explainable[S, Q]:
        """Lemma 5.8, transitivity: what explains the explanation explains this; T ∘ T', nothing explored anew.

        Refused (PS634) when `further` is about another system in the middle, or either does not hold.
        """
        if further.implementation is not self.specification or further.observe is not self.specified:
            what = "these two do not meet: what explains the one is not what the other explains"
            raise PointstampError("PS634", what, "one exploration and one observability function in the middle")
        _held(self, further)
        pairs = frozenset((q, s) for r, s in self.translation for q, again in further.translation if r == again)
        claim = f"{self.claim}; {further.claim}"
        return Explainable(
            self.implementation, self.observe, further.specification, further.specified, pairs, Says.HOLDS, None, claim
        )

    def through(self, view: Observability) -> Explainable[S, R]:
        """Lemma 5.9, composition: whoever sees less, sees it explained as well; view ∘ O and view ∘ O'.

        The lemma is of all functions, but view ∘ O has to be an observability function (Definition 5.3): refused
        (PS634) when what is seen through `view` does not only grow.
        """
        _held(self)
        observe, specified = self.observe.then(view), self.specified.then(view)
        wrong = not_monotonic([(self.implementation, observe), (self.specification, specified)])
        if wrong is not None:
            raise PointstampError("PS634", wrong[0], "a view that keeps the order of what it sees")
        return self._replace(observe=observe, specified=specified)

    def __str__(self) -> str:
        if self.path is None:
            return f"{self.claim}: {self.says.value}"
        return f"{self.claim}: {self.says.value} after {len(self.path.steps)} steps\n{self.path}"


def _held(*all_of: Explainable[Any, Any]) -> None:
    for each in all_of:
        if each.says is not Says.HOLDS:
            raise PointstampError("PS634", "an explanation that does not hold explains nothing", "two that hold")


def explainable(
    implementation: Exploration[S],
    specification: Exploration[R],
    observe: Observability,
    specified: Observability | None = None,
    translation: Iterable[tuple[R, S]] | None = None,
    claim: str = CLAIM,
) -> Explainable[S, R]:
    """Definition 5.5, on two explorations.

    `translation` is T, pairs (c', c) of initial configurations: from c, everything has to be explained from c'. By
    default each initial configuration of the implementation explains itself. Where either exploration is not finished
    it is not decided, unless the implementation is unfinished and what was seen of it fails already. Observations that
    do not only grow, in one order for both, fail (Definition 5.3).

    Cost: O(steps of the implementation) for each set of configurations beside it, of which there is one for each order
    in which things can be observed; and for each such set, O(steps of the specification).
    """
    starts: list[Any] = implementation.states[: implementation.beginnings]
    pairs = frozenset([(c, c) for c in starts] if translation is None else translation)
    specified = specified or observe
    answer: Explainable[S, R] = Explainable(
        implementation, observe, specification, specified, pairs, Says.HOLDS, None, claim
    )
    wrong = not_monotonic([(implementation, observe), (specification, specified)])
    if wrong is not None:
        return answer._replace(says=Says.FAILS, path=wrong[2], claim=f"{claim} (Definition 5.3: {wrong[0]})")
    if not specification.finished:
        return answer._replace(says=Says.NOT_DECIDED)
    for there, here in sorted(pairs, key=lambda pair: _number(implementation, pair[1])):
        walk = _Walk(implementation, specification, observe, specified)
        path = walk.unexplained(_number(implementation, here), _number(specification, there))
        if path is not None:
            return answer._replace(says=Says.FAILS, path=path)
    return answer if implementation.finished else answer._replace(says=Says.NOT_DECIDED)


def _number(exploration: Exploration[Any], state: Any) -> int:
    for number in range(exploration.beginnings):
        if exploration.states[number] == state:
            return number
    raise PointstampError("PS634", "T names a configuration that is not initial", "one with which its system begins")


class _Walk:
    """Both systems together, from one pair of initial configurations."""

    def __init__(
        self,
        implementation: Exploration[Any],
        specification: Exploration[Any],
        observe: Observability,
        specified: Observability,
    ) -> None:
        self.implementation = implementation
        self.specification = specification
        number: dict[Hashable, int] = {}
        self.here = [number.setdefault(observe.seen(state), len(number)) for state in implementation.states]
        self.there = [number.setdefault(specified.seen(state), len(number)) for state in specification.states]
        self.sets: dict[frozenset[int], int] = {}
        self.members: list[frozenset[int]] = []
        self.following: dict[int, dict[int, int]] = {}

    def unexplained(self, here: int, there: int) -> Path[Any] | None:
        """A shortest execution from `here` that none from `there` explains."""
        first = self._after(self._set(frozenset({there}))).get(self.here[here])
        start = self.implementation.states[here]
        if first is None:
            return Path(start)
        before: dict[tuple[int, int], tuple[int, int] | None] = {(here, first): None}
        actions: dict[tuple[int, int], Any] = {}
        queue = deque(before)
        while queue:
            state, beside = queue.popleft()
            for action, after in self.implementation.steps[state] if state < len(self.implementation.steps) else ():
                then: int | None = beside
                if self.here[after] != self.here[state]:
                    then = self._after(beside).get(self.here[after])
                if then is None:
                    steps = [(action, self.implementation.states[after])]
                    at: tuple[int, int] | None = (state, beside)
                    while at is not None and before[at] is not None:
                        steps.append((actions[at], self.implementation.states[at[0]]))
                        at = before[at]
                    return Path(start, tuple(reversed(steps)))
                if (after, then) not in before:
                    before[after, then] = state, beside
                    actions[after, then] = action
                    queue.append((after, then))
        return None

    def _set(self, members: frozenset[int]) -> int:
        found = self.sets.setdefault(members, len(self.members))
        if found == len(self.members):
            self.members.append(members)
        return found

    def _after(self, beside: int) -> dict[int, int]:
        """For each observation, the set of all that can be reached from a set where it is observed."""
        found = self.following.get(beside)
        if found is None:
            steps = self.specification.steps
            by_observation: dict[int, list[int]] = {}
            for state in reached(self.members[beside], lambda state: (after for _, after in steps[state])):
                by_observation.setdefault(self.there[state], []).append(state)
            found = {seen: self._set(frozenset(states)) for seen, states in by_observation.items()}
            self.following[beside] = found
        return found
