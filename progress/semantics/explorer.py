"""Visiting every reachable state of a machine, breadth first, so that what is found is found by a shortest path.

Symmetric states (`Machine.representative`) are visited once: the first one that is met stands for all. Where a budget
does not suffice, `Exploration.outcome` says so: what was found is known then, and the rest is not decided.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from progress.semantics.fairness import judge_leads, judge_leads_each
from progress.semantics.machine import Machine, Path
from progress.semantics.properties import About, AnyProperty, Later, Leads, LeadsEach, Property, Since
from progress.semantics.states_after import judge_later, judge_since

S = TypeVar("S", bound=Hashable)

MOST_STATES = 100_000
MOST_STEPS = 2_000_000


class Outcome(Enum):
    """How an exploration ended.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Outcome, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> explore(quiet).outcome is Outcome.FINISHED
    True
    >>> explore(quiet, most_states=1).outcome.value
    'not finished: there are more states than the budget allows'
    """

    FINISHED = "finished: every reachable state was visited"
    TOO_MANY_STATES = "not finished: there are more states than the budget allows"
    TOO_MANY_STEPS = "not finished: there are more steps than the budget allows"


class Says(Enum):
    """What an exploration says of a property.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, sometimes
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> late = sometimes("a comes to 7", lambda state: Message(7) in state.queue("a->out"))
    >>> explore(quiet, [late]).verdicts[0].says
    <Says.FAILS: 'fails'>
    """

    HOLDS = "holds"
    FAILS = "fails"
    NOT_DECIDED = "is not decided"


class Verdict(NamedTuple, Generic[S]):
    """A property with what was found: of `always` a counterexample, of `sometimes` an example, where there is one.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> empty = always("nothing leaves", lambda state: not state.queue("a->out"))
    >>> print(explore(quiet, [empty]).verdicts[0])
    always: nothing leaves: fails after 1 step
    0. in->a: 0
    1. Mess: a takes 0 from in->a, sends 0 on a->out
       a->out: 0
    """

    property: AnyProperty
    says: Says
    path: Path[S] | None

    def __str__(self) -> str:
        kind = "always" if self.property.is_always else "sometimes"
        line = f"{kind}: {self.property.name}: {self.says.value}"
        if self.path is None or not self.property.is_always:
            return line
        steps = "step" if len(self.path.steps) == 1 else "steps"
        return f"{line} after {len(self.path.steps)} {steps}\n{self.path}"


class Failed(AssertionError):
    """Some property fails, with a shortest path, or is not decided within the budget.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Failed, Inputs, Specification, System, Variant, always, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> try:
    ...     explore(quiet, [always("nothing leaves", lambda state: not state.queue("a->out"))]).check()
    ... except Failed as failed:
    ...     print(str(failed).splitlines()[0])
    always: nothing leaves: fails after 1 step
    """


class Exploration(Generic[S]):
    """All that was visited: states in the order in which they were met, and the steps between them.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> found = explore(quiet)
    >>> len(found.states), found.number_of_steps, found.depth, found.finished
    (3, 2, 2, True)
    >>> print(found.path(1))
    0. in->a: 0
    1. Mess: a takes 0 from in->a, sends 0 on a->out
       a->out: 0
    """

    def __init__(self, machine: Machine[S]) -> None:
        self.machine = machine
        self.states: list[S] = []
        self.steps: list[list[tuple[Any, int]]] = []  # of each state visited: what happens, and where it leads
        self.beginnings = 0  # so many of the first states are initial
        self.outcome = Outcome.FINISHED
        self.verdicts: list[Verdict[S]] = []
        self.depth = 0  # the most steps that a state is away from the start
        self._before: list[tuple[int, Any]] = []
        self._depths: list[int] = []
        self._numbers: dict[Hashable, int] = {}

    @property
    def finished(self) -> bool:
        """Whether every reachable state was visited."""
        return self.outcome is Outcome.FINISHED

    @property
    def number_of_steps(self) -> int:
        """How many steps lead from one state to another or itself, stuttering left out."""
        return sum(map(len, self.steps))

    def __contains__(self, state: S) -> bool:
        return self.machine.representative(state) in self._numbers

    def path(self, number: int) -> Path[S]:
        """A shortest path to a state. Cost: O(length)."""
        steps: list[tuple[Any, S]] = []
        while number >= self.beginnings:
            before, action = self._before[number]
            steps.append((action, self.states[number]))
            number = before
        return Path(self.states[number], tuple(reversed(steps)))

    def verdict(self, name: str) -> Verdict[S]:
        """The verdict on the property of this name."""
        return next(verdict for verdict in self.verdicts if verdict.property.name == name)

    def check(self) -> Exploration[S]:
        """This exploration when every property holds; `Failed` otherwise, with the shortest counterexample."""
        bad = [verdict for verdict in self.verdicts if verdict.says is not Says.HOLDS]
        if not self.finished:
            bad.sort(key=lambda verdict: verdict.says is Says.NOT_DECIDED)
        if bad or not self.finished:
            raise Failed("\n\n".join((*map(str, bad), f"({len(self.states)} states; {self.outcome.value})")))
        return self

    def __str__(self) -> str:
        figures = f"{len(self.states)} states, {self.number_of_steps} steps, depth {self.depth}; {self.outcome.value}"
        return "\n".join((figures, *map(str, self.verdicts)))

    # --- the search --------------------------------------------------------------------------------------------------

    def _meet(self, state: S, before: int, action: Any) -> tuple[int, bool]:
        """The number of a state, and whether it is new."""
        key = self.machine.representative(state)
        number = self._numbers.setdefault(key, len(self.states))
        if number < len(self.states):
            return number, False
        self.states.append(state)
        self._before.append((before, action))
        self._depths.append(self._depths[before] + 1 if before >= 0 else 0)
        self.depth = self._depths[-1]
        return number, True

    def _run(self, properties: Sequence[Property], most_states: int, most_steps: int) -> dict[Property, Path[S]]:
        found: dict[Property, Path[S]] = {}

        def look(about: About, *seen: Any, at: int, then: tuple[tuple[Any, S], ...] = ()) -> None:
            for each in properties:
                if each.about is about and each not in found and each.holds(*seen) is not each.is_always:
                    before = self.path(at)
                    found[each] = Path(before.start, (*before.steps, *then))

        def visit(number: int) -> None:
            look(About.STATE, self.states[number], at=number)
            if any(each.about is About.PATH and each not in found for each in properties):
                look(About.PATH, self.path(number), at=number)

        for state in self.machine.initial():
            number, is_new = self._meet(state, -1, None)
            if is_new:
                self.beginnings += 1
                visit(number)
        taken = 0
        for number, state in enumerate(self.states):  # grows as it goes
            self.steps.append([])
            for action, after in self.machine.successors(state):
                taken += 1
                if taken > most_steps:
                    self.outcome = Outcome.TOO_MANY_STEPS
                    return found
                look(About.STEP, state, action, after, at=number, then=((action, after),))
                reached, is_new = self._meet(after, number, action)
                self.steps[number].append((action, reached))
                if is_new:
                    visit(reached)
                    if len(self.states) > most_states:
                        self.outcome = Outcome.TOO_MANY_STATES
                        return found
        return found


def explore(
    machine: Machine[S],
    properties: Iterable[AnyProperty] = (),
    most_states: int = MOST_STATES,
    most_steps: int = MOST_STEPS,
) -> Exploration[S]:
    """Visit all reachable states and judge the properties; `Exploration.check` raises what fails.

    Cost: each reachable state and each step once, at most the budgets. When all states are known,
    properties of pairs are judged (`progress.semantics.states_after`), and what has to happen
    (`progress.semantics.fairness`).

    Returns
    -------
    All that was visited, with a verdict on each property.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> found = explore(quiet, [always("at most one lies", lambda state: sum(map(len, state.queues)) < 2)])
    >>> found.check().verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    properties = list(properties)
    exploration = Exploration(machine)
    found = exploration._run([each for each in properties if isinstance(each, Property)], most_states, most_steps)
    for each in properties:
        if isinstance(each, Later):
            path = judge_later(exploration, each)
        elif isinstance(each, Since):
            path = judge_since(exploration, each)
        elif isinstance(each, Leads):
            path = judge_leads(exploration, each)
        elif isinstance(each, LeadsEach):
            path = judge_leads_each(exploration, each)
        else:
            path = found.get(each)
        if path is not None:
            says = Says.FAILS if each.is_always else Says.HOLDS
        elif exploration.finished:
            says = Says.HOLDS if each.is_always else Says.FAILS
        else:
            says = Says.NOT_DECIDED
        exploration.verdicts.append(Verdict(each, says, path))
    return exploration
