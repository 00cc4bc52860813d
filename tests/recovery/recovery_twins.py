"""From the implementation model to the plain one that judges it: systems, configurations, traces."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from progress.recovery.configuration import Configuration, Program
from progress.recovery.model import Task
from progress.recovery.rules import Rule, Step
from progress.recovery.streaming import CONSUMPTION, Event, Message
from tests.recovery.plain_recovery import Label, PlainSystem


def tasks_of(system: PlainSystem) -> list[Task]:
    return [Task(*task) for task in system.tasks]


def program_of(system: PlainSystem) -> Program:
    return Program(tasks_of(system), system.inputs)


def plain_message(message: Message) -> tuple[Any, ...]:
    content = message.content
    return (*message[:3], ("EV", content.value) if isinstance(content, Event) else "BD")


def plain(c: Configuration) -> tuple[Any, ...]:
    """A configuration as the plain model has it."""
    states = tuple(
        (tuple(enumerate(state.archive)), None if state.volatile is None else tuple(state.volatile))
        for state in c.states
    )
    numbers = frozenset(
        ((task.name, stream), number) for task in c.program.tasks for stream, number in c.numbers_of(task.name).items()
    )
    return states, numbers, frozenset(plain_message(message) for stream in c.messages for message in stream)


def label(step: Step) -> Label:
    """A step of a trace as the plain model has it."""
    if step.rule is Rule.RECOVER:
        return ("F-RECOVER",)
    if step.rule is Rule.FAIL:
        return ("F-FAIL", step.task)
    if step.rule is Rule.BORDER:
        return ("I-BORDER", step.task, step.epoch)
    taken = [action for action in step.actions if action.sign == CONSUMPTION]
    assert len(taken) == 1
    event = taken[0].content
    assert isinstance(event, Event)
    made = []
    for action in step.actions[1:]:
        assert isinstance(action.content, Event)
        made.append(action.content.value)
    return ("I-EVENT", step.task, taken[0].stream, taken[0].epoch, event.value, tuple(made))


def running_sum(state: int, event: int) -> tuple[int, list[int]]:
    return state + event, [state + event]


def chain(tasks: int = 2) -> list[Task]:
    """Running sums, one after the other."""
    return [Task(f"sum{n}", running_sum, [f"stream{n}"], f"stream{n + 1}", 0) for n in range(tasks)]


def average(state: tuple[int, int], event: Any) -> tuple[tuple[int, int], list[Fraction]]:
    if event == "R":
        return (0, 0), []
    total, count = state[0] + event, state[1] + 1
    return (total, count), [Fraction(total, count)]


AVERAGE = [Task("average", average, ["ints", "resets"], "averages", (0, 0))]  # Figure 2
AVERAGE_INPUTS: dict[str, list[list[Any]]] = {"ints": [[1], [3, 5]], "resets": [[], ["R"]]}
