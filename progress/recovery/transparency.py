"""Failure transparency (FT 5.4, Definition 5.10): a system is explainable by its own part without failures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

from progress.recovery.explainability import Explainable, explainable
from progress.recovery.observability import Observability
from progress.semantics.explorer import MOST_STATES, MOST_STEPS, Exploration, explore
from progress.semantics.machine import Machine

S = TypeVar("S", bound=Hashable)


class Without(Generic[S]):
    """R without F: a machine in which some actions never happen."""

    def __init__(self, machine: Machine[S], is_failure: Callable[[Any], bool]) -> None:
        self.machine = machine
        self.is_failure = is_failure

    def initial(self) -> Iterable[S]:
        """As in the whole."""
        return self.machine.initial()

    def successors(self, state: S) -> Iterable[tuple[Any, S]]:
        """The steps that are not failures."""
        return (step for step in self.machine.successors(state) if not self.is_failure(step[0]))

    def representative(self, state: S) -> Hashable:
        """As in the whole."""
        return self.machine.representative(state)

    def visible(self, state: S) -> Hashable:
        """As in the whole."""
        return self.machine.visible(state)


def failure_transparency(
    whole: Exploration[S],
    without: Exploration[S],
    observe: Observability,
    claim: str = "Definition 5.10: failures are transparent",
) -> Explainable[S, S]:
    """Definition 5.10 on what was explored: R on one side, R without F on the other, O on both, T the identity."""
    return explainable(whole, without, observe, claim=claim)


def is_transparent(
    machine: Machine[S],
    is_failure: Callable[[Any], bool],
    observe: Observability,
    most_states: int = MOST_STATES,
    most_steps: int = MOST_STEPS,
) -> Explainable[S, S]:
    """Definition 5.10 of any machine: `is_failure` says which of its actions are by the rules F.

    `check()` of the answer raises `Failed` with an execution that no execution without failures explains. What was not
    explored within the budgets is not decided. Cost: two explorations, and that of `explainable`.

    Returns
    -------
    Whether each execution is explained, with one that is not where there is one.

    Examples
    --------
    >>> from progress.recovery.observability import Observability
    >>> from progress.recovery.transparency import is_transparent
    >>> class Forgetful:
    ...     def initial(self):
    ...         return [(0, 0)]
    ...
    ...     def successors(self, state):
    ...         count, shown = state
    ...         if count < 2:
    ...             yield "count", (count + 1, max(shown, count + 1))
    ...         yield "fail", (0, shown)
    ...
    ...     def representative(self, state):
    ...         return state
    ...
    ...     def visible(self, state):
    ...         return state[1]
    >>> shown = Observability("what was shown", lambda state: state[1], lambda one, other: one <= other)
    >>> is_transparent(Forgetful(), lambda action: action == "fail", shown).says.value
    'holds'
    """
    whole = explore(machine, (), most_states, most_steps)
    without = explore(Without(machine, is_failure), (), most_states, most_steps)
    return failure_transparency(whole, without, observe)
