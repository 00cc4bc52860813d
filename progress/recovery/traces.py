"""Traces (FT 6.1, Definitions 6.1 to 6.3): the steps of an execution, each with the rule that it is by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from progress.errors import PointstampError
from progress.recovery.configuration import Configuration
from progress.recovery.rules import LocalRule, Rule, Step, Steps, f_fail, f_recover, i_border, i_event, s_step
from progress.semantics.machine import Path


class Trace(NamedTuple):
    """Z, from a configuration c: the steps ⟨I-EVENT, p, N_p, X⟩, ⟨I-BORDER, p, N_p, X⟩, ⟨F-FAIL, p⟩, ⟨F-RECOVER⟩.

    Examples
    --------
    >>> from progress.recovery.model import Task, explore
    >>> from progress.recovery.traces import Trace
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> found = explore(tasks, {"numbers": [[1]]}).exploration
    >>> print(Trace.of(found.path(3)))
    1. I-EVENT sum: -numbers⟨1, EV(1)⟩ +sums⟨1, EV(1)⟩
    2. I-BORDER sum: -numbers⟨1, BD⟩ +sums⟨1, BD⟩
    """

    start: Configuration
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, execution: Path[Any]) -> Trace:
        """The trace of an execution that was explored."""
        return cls(execution.start, tuple(step for step, _ in execution.steps))

    def __str__(self) -> str:
        return "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, 1))


def apply(trace: Trace) -> list[Configuration]:
    """Z(c): the configurations of the execution, one more than there are steps (Definitions 6.2 and B.1).

    Refused (PS633) where a step cannot be applied, with its place. Cost: O(what a configuration holds) a step.
    """
    configurations = [trace.start]
    for number, step in enumerate(trace.steps, 1):
        after = next((after for possible, after in _by_its_rule(configurations[-1], step) if possible == step), None)
        if after is None:
            what = f"step {number} of the trace, {step}, cannot be applied"
            raise PointstampError("PS633", what, "a step that its rule allows in the configuration before it")
        configurations.append(after)
    return configurations


def is_valid(trace: Trace) -> bool:
    """Definition 6.3: whether there is an execution of which this is the trace."""
    try:
        apply(trace)
    except PointstampError:
        return False
    return True


def _by_its_rule(c: Configuration, step: Step) -> Steps:
    """The steps that the step's rule allows its task."""
    if step.rule is Rule.RECOVER:
        return f_recover(c)
    if step.task not in c.program.number:
        return iter(())
    rule: LocalRule = {Rule.EVENT: i_event, Rule.BORDER: i_border, Rule.FAIL: f_fail}[step.rule]
    return s_step(c, step.task, rule)


def generations(steps: tuple[Step, ...]) -> Iterator[range]:
    """The places of the steps between recoveries, each recovery at the end of its generation (FT 6.2, step 1)."""
    start = 0
    for place, step in enumerate(steps):
        if step.rule is Rule.RECOVER:
            yield range(start, place + 1)
            start = place + 1
    yield range(start, len(steps))
