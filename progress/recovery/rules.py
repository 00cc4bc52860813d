"""The rules of the implementation model (FT 4.1, 4.2.1), each as the steps that it allows from a configuration.

A step says which rule, which task, N_p before it, and its actions X: it is a step of a trace (Definition 6.1), and an
action of the explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from progress.recovery.configuration import Configuration, Part, Program
from progress.recovery.snapshots import lcs
from progress.recovery.streaming import BORDER, Action, Event, applied, consumption, production
from progress.recovery.tasks import Normal, TaskState


class Rule(StrEnum):
    """The rules by which a configuration changes.

    Examples
    --------
    >>> from progress.recovery.rules import Rule
    >>> [*Rule]
    [<Rule.EVENT: 'I-EVENT'>, <Rule.BORDER: 'I-BORDER'>, <Rule.FAIL: 'F-FAIL'>, <Rule.RECOVER: 'F-RECOVER'>]
    """

    EVENT = "I-EVENT"
    BORDER = "I-BORDER"
    FAIL = "F-FAIL"
    RECOVER = "F-RECOVER"


class Step(NamedTuple):
    """⟨I-EVENT, p, N_p, X⟩, ⟨I-BORDER, p, N_p, X⟩, ⟨F-FAIL, p⟩ or ⟨F-RECOVER⟩ (Definition 6.1).

    Examples
    --------
    >>> from progress.recovery.rules import Rule, Step
    >>> print(Step(Rule.FAIL, "sum"), Step(Rule.FAIL, "sum").epoch)
    F-FAIL sum None
    """

    rule: Rule
    task: str = ""
    numbers: tuple[int, ...] = ()
    actions: tuple[Action, ...] = ()

    @property
    def epoch(self) -> int | None:
        """The epoch of what the step consumes; failures and recoveries have none."""
        return self.actions[0].epoch if self.actions else None

    def __str__(self) -> str:
        said = f"{self.rule} {self.task}".rstrip()
        return f"{said}: {' '.join(map(repr, self.actions))}" if self.actions else said


Steps: TypeAlias = Iterator[tuple[Step, Configuration]]
LocalSteps: TypeAlias = Iterable[tuple[Step, Part]]
LocalRule: TypeAlias = Callable[[Program, Part], LocalSteps]
RECOVERY = Step(Rule.RECOVER)


def is_failure(step: Step) -> bool:
    """Whether a step is by one of F = {F-FAIL, F-RECOVER} (Definition 6.7)."""
    return step.rule in (Rule.FAIL, Rule.RECOVER)


def s_step(c: Configuration, task: str, rule: LocalRule) -> Steps:
    """S-STEP: a local step of a task, whose actions can be applied, is a step of the whole, which changes nothing else.

    Local steps depend on what the task sees alone, so that they are found once for each such part.
    """
    place = c.program.number[task]
    for step, after in c.program.once.result(_listed, rule, c.program, c.part(place)):
        yield step, c.with_part(after)


def i_event(program: Program, part: Part) -> LocalSteps:
    """I-EVENT: a task takes an event of its epoch, next on some input, and puts what its function makes of it."""
    if part.state.volatile is None:
        return
    epoch, value = part.state.volatile
    *inputs, output = program.used[part.task]
    for stream, number, messages in zip(inputs, part.numbers, part.streams, strict=False):
        for message in messages:
            content = message.content
            if message.number == number and message.epoch == epoch and isinstance(content, Event):
                then, made = program.react(part.task, value, content)
                actions = (consumption(stream, epoch, content), *(production(output, epoch, event) for event in made))
                yield from _taken(program, part, Rule.EVENT, actions, part.state._replace(volatile=Normal(epoch, then)))


def i_border(program: Program, part: Part) -> LocalSteps:
    """I-BORDER: a border is next on every input; the task takes all, keeps its state as a snapshot, puts a border."""
    if part.state.volatile is None:
        return
    epoch, value = part.state.volatile
    *inputs, output = program.used[part.task]
    actions = (*(consumption(stream, epoch, BORDER) for stream in inputs), production(output, epoch, BORDER))
    after = TaskState((*part.state.archive, value), Normal(epoch + 1, value))
    yield from _taken(program, part, Rule.BORDER, actions, after)


def f_fail(program: Program, part: Part) -> LocalSteps:
    """F-FAIL: at any time, a task loses its volatile state. One that has failed may fail again, and nothing changes."""
    yield Step(Rule.FAIL, program.tasks[part.task].name), part._replace(state=part.state._replace(volatile=None))


def f_recover(c: Configuration) -> Steps:
    """F-RECOVER: when some task has failed, all go back to the latest common snapshot, in one step."""
    if any(state.failed for state in c.states):
        yield RECOVERY, lcs(c)


def _listed(rule: LocalRule, program: Program, part: Part) -> list[tuple[Step, Part]]:
    return list(rule(program, part))


def _taken(program: Program, part: Part, rule: Rule, actions: tuple[Action, ...], after: TaskState) -> LocalSteps:
    """The local step with these actions, where X(N_p, M) is defined."""
    used = program.used[part.task]
    done = applied(actions, dict(zip(used, part.numbers, strict=True)), dict(zip(used, part.streams, strict=True)))
    if done is not None:
        numbers, messages = done
        streams = tuple(program.once.kept(messages[stream]) for stream in used)
        step = Step(rule, program.tasks[part.task].name, part.numbers, actions)
        yield step, Part(part.task, after, tuple(numbers[stream] for stream in used), streams)
