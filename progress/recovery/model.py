"""The implementation model (FT 4) as a machine, and its exploration: every configuration, with what is claimed of all.

`explore(tasks, inputs)` visits every configuration that can be reached and judges Definition 5.3 and Theorems 6.9 and
6.10 on them. The machine serves the explorer of `progress.semantics` like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from progress.recovery.configuration import Configuration, Program
from progress.recovery.explainability import Explainable
from progress.recovery.liveness import theorem_6_10
from progress.recovery.observability import Observability
from progress.recovery.rules import Steps, f_fail, f_recover, i_border, i_event, s_step
from progress.recovery.snapshots import out
from progress.recovery.streaming import Message
from progress.recovery.tasks import Task
from progress.recovery.traces import Trace
from progress.recovery.transparency import failure_transparency
from progress.semantics import explorer
from progress.semantics.explorer import Exploration, Failed, Outcome, Says
from progress.semantics.machine import Path
from progress.semantics.properties import AnyProperty

__all__ = ["Explored", "Implementation", "Task", "Violation", "explore", "output"]

MOST_CONFIGURATIONS = 300_000
MOST_STEPS = 3_000_000


def output() -> Observability:
    """The observability function of Theorem 6.9, `out`, whose order is inclusion."""
    return Observability("out", out, frozenset.issubset)


class Implementation:
    """I, or I without F: the model as a machine whose actions are the steps of traces. Failing twice is stuttering.

    Examples
    --------
    >>> from progress.recovery.configuration import Program
    >>> from progress.recovery.model import Implementation, Task
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> machine = Implementation(Program(tasks, {"numbers": [[1]]}))
    >>> [str(step) for step, _ in machine.successors(machine.initial()[0])]
    ['I-EVENT sum: -numbers⟨1, EV(1)⟩ +sums⟨1, EV(1)⟩', 'F-FAIL sum']
    """

    def __init__(self, program: Program, failures: bool = True) -> None:
        self.program = program
        self.failures = failures

    def initial(self) -> list[Configuration]:
        """The valid configuration to begin with (Definition 6.8)."""
        return [self.program.initial()]

    def successors(self, c: Configuration) -> Steps:
        """All steps, task by task; stuttering left out."""
        for task in self.program.tasks:
            yield from s_step(c, task.name, i_event)
            yield from s_step(c, task.name, i_border)
            if self.failures and not c.state(task.name).failed:
                yield from s_step(c, task.name, f_fail)
        if self.failures:
            yield from f_recover(c)

    def representative(self, c: Configuration) -> Configuration:
        """No two configurations are taken for one."""
        return c

    def visible(self, c: Configuration) -> frozenset[Message]:
        """What the observer sees."""
        return out(c)


class Violation(NamedTuple):
    """A claim that is wrong of this system, and an execution that shows it."""

    claim: str
    path: Path[Configuration]

    @property
    def trace(self) -> Trace:
        """The steps of the execution, and where it starts."""
        return Trace.of(self.path)

    def __str__(self) -> str:
        return f"{self.claim}: fails after {len(self.path.steps)} steps\n{self.path}"


class Explored(NamedTuple):
    """What an exploration of the implementation model found."""

    exploration: Exploration[Configuration]
    transparency: Explainable[Configuration, Configuration]

    @property
    def configurations(self) -> int:
        """How many configurations were visited, all that can be reached when it is finished."""
        return len(self.exploration.states)

    @property
    def outcome(self) -> Outcome:
        """How it ended: finished, or which budget did not suffice."""
        return self.exploration.outcome

    @property
    def finished(self) -> bool:
        """Whether every configuration was visited."""
        return self.exploration.finished

    @property
    def outputs(self) -> frozenset[frozenset[Message]]:
        """The distinct out(c), inputs and borders included. Cost: O(configurations)."""
        return frozenset(map(self.transparency.observe.of, self.exploration.states))

    @property
    def violations(self) -> list[Violation]:
        """The claims that are wrong, each with an execution; of an unfinished exploration, those found so far."""
        found = [
            Violation(v.property.name, v.path) for v in self.exploration.verdicts if v.says is Says.FAILS and v.path
        ]
        if self.transparency.says is Says.FAILS and self.transparency.path is not None:
            found.append(Violation(self.transparency.claim, self.transparency.path))
        return found

    def check(self) -> Explored:
        """This exploration when every claim holds; `Failed` otherwise, with the executions that show what is wrong."""
        if self.violations or not self.finished:
            raise Failed("\n\n".join((*map(str, self.violations), str(self))))
        return self

    def __repr__(self) -> str:
        """In one line, as the parts are large."""
        return f"<Explored: {self}>"

    def __str__(self) -> str:
        return f"{self.configurations} configurations, {len(self.outputs)} outputs; {self.outcome.value}"


def explore(
    tasks: Iterable[Task],
    inputs: Mapping[str, Sequence[Sequence[Any]]],
    failures: bool = True,
    most_configurations: int = MOST_CONFIGURATIONS,
    most_steps: int = MOST_STEPS,
) -> Explored:
    """Visit every configuration that can be reached, and judge what the paper claims of all executions.

    `inputs` has for each stream from outside its epochs, numbered from 1, each a list of events; a border ends each. An
    epoch that some stream does not have stays open. What cannot be modelled is refused (PS631, PS632).

    Claimed is that `out` only grows (Definition 5.3), failure transparency (Theorem 6.9), and that every epoch is in
    the output at last (Theorem 6.10). Cost: each configuration and each step once, at most the budgets; then O(steps)
    for each theorem, and the exploration without failures.

    Returns
    -------
    How many configurations there are, what can be seen from outside, and which claims are wrong.

    Examples
    --------
    >>> from progress.recovery.model import Task, explore
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> found = explore(tasks, {"numbers": [[1, 3], [5]]})
    >>> found.configurations, len(found.outputs), found.violations
    (12, 3, [])
    """
    program, observe = Program(tasks, inputs), output()
    claims: list[AnyProperty] = [observe.only_grows(), theorem_6_10(program, observe)]
    exploration = explorer.explore(Implementation(program, failures), claims, most_configurations, most_steps)
    alone = explorer.explore(Implementation(program, failures=False), (), most_configurations, most_steps)
    transparency = failure_transparency(exploration, alone, observe, "Theorem 6.9: failures are transparent")
    return Explored(exploration, transparency)
