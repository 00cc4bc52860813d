"""Configurations c = ⟨Π, Σ, N, M, D⟩ (FT 4.1), and the valid ones to begin with (Definition 6.8).

Π and D, which never change, are a `Program`: the tasks and M0, the messages that come in from outside. Configurations
are values: equal ones are equal and can be hashed.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import count, islice
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.recovery.once import Once
from progress.recovery.streaming import BORDER, Event, Message, Numbers, Stream
from progress.recovery.tasks import Normal, Task, TaskState
from progress.recovery.wiring import check_wiring
from progress.semantics.state import Held, held, released

MOST_EVENTS = 10_000  # that one event may make; a function that makes more is taken for endless


class Program:
    """Π and M0: tasks, and for each stream from outside its epochs, numbered from 1, each a list of events.

    Refused is what Definition 6.8 excludes (PS631, PS632): cycles, two tasks that write one stream, streams that are
    read and never written, and epochs that are not lists.

    Examples
    --------
    >>> from progress.recovery.configuration import Program
    >>> from progress.recovery.tasks import Task
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> program = Program(tasks, {"numbers": [[1, 3], [5]]})
    >>> program.epochs, program.initial().state("sum").archive
    (2, (0,))
    """

    def __init__(self, tasks: Iterable[Task], inputs: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        self.tasks = check_wiring(tasks, inputs)
        self.streams = (*inputs, *(task.output for task in self.tasks))
        self.number = {task.name: number for number, task in enumerate(self.tasks)}
        self.place = {name: place for place, name in enumerate(self.streams)}
        self.used = tuple((*task.inputs, task.output) for task in self.tasks)  # dom(N_p), the output last
        self.seen = tuple(tuple(self.place[stream] for stream in used) for used in self.used)
        read = {stream for used in self.used for stream in used}
        self.epochs = min(len(inputs[name]) for name in inputs if name in read)  # so many have all of their borders
        self.messages: tuple[Stream, ...] = tuple(
            frozenset(_numbered(name, inputs[name])) if name in inputs else frozenset() for name in self.streams
        )
        self.once = Once()
        self._hash = hash((self.streams, self.used, self.messages))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Program) and self.tasks == other.tasks and self.messages == other.messages
        )

    def __hash__(self) -> int:
        return self._hash

    def initial(self) -> Configuration:
        """The valid configuration to begin with: archives {0: initial}, epoch 1, numbers 0, M = M0."""
        states = tuple(TaskState((held(task.initial),), Normal(1, held(task.initial))) for task in self.tasks)
        return Configuration(self, states, tuple((0,) * len(used) for used in self.used), self.messages)

    def react(self, task: int, state: Hashable, event: Event) -> tuple[Hashable, tuple[Event, ...]]:
        """f(v, w) = v', [w', ...], computed once for each v and w. What f raises passes on, with a note of where."""
        return self.once.result(_called, self, task, state, event)


def _called(program: Program, number: int, state: Hashable, event: Event) -> tuple[Hashable, tuple[Event, ...]]:
    task = program.tasks[number]
    given = [copy.deepcopy(kept.value) if isinstance(kept, Held) else kept for kept in (state, event.kept)]
    try:
        answer: Any = task.function(*given)
    except Exception as error:
        error.add_note(f"raised by the function of task {task.name!r} for {given[1]!r} in state {given[0]!r}")
        raise
    if not isinstance(answer, tuple) or len(answer) != 2 or isinstance(answer[1], str | bytes | Mapping | Set):
        raise _bad_answer(task, answer)
    try:
        made = list(islice(answer[1], MOST_EVENTS + 1))
    except TypeError:
        raise _bad_answer(task, answer) from None
    if len(made) > MOST_EVENTS:
        what = f"the function of task {brief(task.name)} makes more than {MOST_EVENTS:,} events of one"
        raise PointstampError("PS631", what, "a list that ends")
    return held(answer[0]), tuple(map(Event.of, made))


def _bad_answer(task: Task, answer: object) -> PointstampError:
    what = f"the function of task {brief(task.name)} answers {brief(answer)}"
    return PointstampError("PS631", what, "a pair: the next state, and a list of events")


def _numbered(stream: str, epochs: Sequence[Sequence[Any]]) -> Iterable[Message]:
    """The messages of a stream from outside, each epoch ended by a border."""
    number = count()
    for epoch, events in enumerate(epochs, 1):
        for event in events:
            yield Message(next(number), stream, epoch, Event.of(event))
        yield Message(next(number), stream, epoch, BORDER)


class Part(NamedTuple):
    """What a task sees of a configuration: its place, Σ_p, N_p, and the messages on the streams that it uses."""

    task: int
    state: TaskState
    numbers: tuple[int, ...]
    streams: tuple[Stream, ...]


class Configuration(NamedTuple):
    """⟨Π, Σ, N, M, D⟩: the program, and by the order of its tasks and streams states, numbers and messages."""

    program: Program
    states: tuple[TaskState, ...]
    numbers: tuple[tuple[int, ...], ...]
    messages: tuple[Stream, ...]

    def part(self, task: int) -> Part:
        """What the task at this place sees."""
        messages = self.messages
        streams = tuple([messages[place] for place in self.program.seen[task]])
        return Part(task, self.states[task], self.numbers[task], streams)

    def with_part(self, part: Part) -> Configuration:
        """The configuration after a local step: Σ[p ↦ Σ'_p], N[p ↦ N'_p], M'. Of streams, only the output changes."""
        task, output = part.task, self.program.seen[part.task][-1]
        states, numbers, messages = self.states, self.numbers, self.messages
        return Configuration(
            self.program,
            (*states[:task], part.state, *states[task + 1 :]),
            (*numbers[:task], part.numbers, *numbers[task + 1 :]),
            (*messages[:output], part.streams[-1], *messages[output + 1 :]),
        )

    def state(self, task: str) -> TaskState:
        """Σ_p."""
        return self.states[self.program.number[task]]

    def value(self, task: str) -> Any:
        """The value of a task's volatile state; None when it has failed."""
        volatile = self.state(task).volatile
        return None if volatile is None else released(volatile.value)

    def numbers_of(self, task: str) -> Numbers:
        """N_p."""
        place = self.program.number[task]
        return dict(zip(self.program.used[place], self.numbers[place], strict=True))

    def on(self, stream: str) -> Stream:
        """M ↓ s, Definition 4.4: the messages on a stream."""
        return self.messages[self.program.place[stream]]

    def __str__(self) -> str:
        said = []
        for task, state, used, numbers in zip(
            self.program.tasks, self.states, self.program.used, self.numbers, strict=True
        ):
            at = ", ".join(f"{stream} {number}" for stream, number in zip(used, numbers, strict=True))
            said.append(f"{task.name}: {state!r}, at {at}")
        for task in self.program.tasks:
            contents = [repr(message.content) for message in sorted(self.on(task.output), key=_by_number)]
            said += [f"{task.output}: {' '.join(contents)}"] if contents else []
        return "; ".join(said)

    def __repr__(self) -> str:
        return str(self)


def _by_number(message: Message) -> int:
    return message.number
