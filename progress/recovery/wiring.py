"""How tasks and streams may be joined (FT, Definition 6.8): an acyclic graph, each stream with one writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from progress.errors import PointstampError, brief
from progress.recovery.tasks import Task


def check_wiring(given: Iterable[Any], inputs: Any) -> tuple[Task, ...]:
    """The tasks as given, or PS631 or PS632 with what is wrong first. Cost: O(tasks + streams)."""
    if not isinstance(given, Iterable):
        raise PointstampError("PS631", f"{brief(given)} are not tasks", "a list of tasks")
    tasks = tuple(_task(task) for task in given)
    if not tasks:
        raise PointstampError("PS631", "there is no task", "give one at least")
    for name, times in Counter(task.name for task in tasks).items():
        if times > 1:
            raise PointstampError("PS631", f"there are {times} tasks named {brief(name)}", "give each its own name")
    _check_inputs(inputs)
    writers: dict[str, str] = dict.fromkeys(inputs, "the outside")
    for task in tasks:
        if task.output in writers:
            what = f"the stream {brief(task.output)} is written by {writers[task.output]} and by task {task.name!r}"
            raise PointstampError("PS631", what, "give each stream one writer")
        writers[task.output] = f"task {task.name!r}"
    for task in tasks:
        for stream in task.inputs:
            if stream not in writers:
                what = f"task {task.name!r} reads {brief(stream)}, on which nothing is ever put"
                raise PointstampError("PS631", what, "name the output of a task, or give its epochs")
    _check_acyclic(tasks)
    return tasks


def _task(task: Any) -> Task:
    if not isinstance(task, Task):
        right = "Task(name, function, inputs, output, initial)"
        raise PointstampError("PS631", f"{brief(task)} is not a task", right)
    texts: list[Any] = [task.name, task.output]
    if not all(isinstance(text, str) for text in texts) or not callable(task.function):
        what = f"{brief(task)} has a name or an output that is not a text, or a function that cannot be called"
        raise PointstampError("PS631", what, "Task(name, function, inputs, output, initial)")
    names: Any = task.inputs
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(each, str) for each in names):
        what = f"task {brief(task.name)} reads {brief(names)}"
        raise PointstampError("PS631", what, "a list of names of streams")
    names = tuple(map(str, names))
    if not names or len(set(names)) < len(names):
        what = f"task {brief(task.name)} reads {'a stream twice' if names else 'no stream'}"
        raise PointstampError("PS631", what, "name each stream that it reads once, one at least")
    return Task(task.name, task.function, names, task.output, task.initial)


def _check_inputs(inputs: Any) -> None:
    right = 'for each stream its epochs, each a list of events: {"numbers": [[1, 3], [5]]}'
    if not isinstance(inputs, Mapping):
        raise PointstampError("PS632", f"{brief(inputs)} are not inputs", right)
    for name, epochs in inputs.items():
        if not isinstance(name, str) or not isinstance(epochs, list | tuple):
            raise PointstampError("PS632", f"the input {brief(name)} is {brief(epochs)}", right)
        for number, events in enumerate(epochs, 1):
            if not isinstance(events, list | tuple):
                raise PointstampError("PS632", f"epoch {number} of {brief(name)} is {brief(events)}", right)


def _check_acyclic(tasks: tuple[Task, ...]) -> None:
    """Take away tasks of which nothing that is left is read, until none is left or all wait for each other."""
    waiting = {task.output: task for task in tasks}
    unread = {stream: sum(each in waiting for each in task.inputs) for stream, task in waiting.items()}
    readers: dict[str, list[str]] = {}
    for stream, task in waiting.items():
        for each in task.inputs:
            readers.setdefault(each, []).append(stream)
    ready = [stream for stream, number in unread.items() if not number]
    while ready:
        stream = ready.pop()
        del waiting[stream]
        for reader in readers.get(stream, ()):
            unread[reader] -= 1
            if not unread[reader]:
                ready.append(reader)
    if waiting:
        names = ", ".join(repr(task.name) for task in waiting.values())
        raise PointstampError("PS631", f"what tasks write comes back to them: {names}", "an acyclic graph of tasks")
