"""The implementation model once more, as plainly as can be: sets of tuples, and every rule a search through them.

It shares nothing with `progress.recovery`, so that it can judge it. A configuration is (states, numbers, messages):
states by task (archive as pairs, volatile state as a pair or None), numbers as pairs ((task, stream), number), messages
as (number, stream, epoch, what), where what is ("EV", w) or "BD".
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

Configuration = tuple[Any, ...]
Label = tuple[Any, ...]
Outputs = frozenset[tuple[Any, ...]]


class PlainTask(NamedTuple):
    """A task as the model takes it: the same five things in the same order."""

    name: str
    function: Callable[[Any, Any], tuple[Any, list[Any]]]
    inputs: tuple[str, ...]
    output: str
    initial: Any


class PlainSystem:
    """Tasks and the epochs of their inputs."""

    def __init__(self, tasks: list[PlainTask], inputs: dict[str, list[list[Any]]]) -> None:
        self.tasks = tasks
        self.inputs = inputs
        first = set()
        for stream, epochs in inputs.items():
            number = 0
            for at, events in enumerate(epochs):
                for what in [*(("EV", event) for event in events), "BD"]:
                    first.add((number, stream, at + 1, what))
                    number += 1
        self.first = frozenset(first)

    def initial(self) -> Configuration:
        states = tuple((((0, task.initial),), (1, task.initial)) for task in self.tasks)
        numbers = frozenset(((task.name, s), 0) for task in self.tasks for s in (*task.inputs, task.output))
        return states, numbers, self.first

    def steps(self, configuration: Configuration, failures: bool) -> list[tuple[Label, Configuration]]:
        states, numbers, messages = configuration
        found: list[tuple[Label, Configuration]] = []
        at = dict(numbers)
        for index, task in enumerate(self.tasks):
            archive, volatile = states[index]

            def changed(state: Any, index: int = index) -> Any:
                return tuple(state if place == index else other for place, other in enumerate(states))

            if failures and volatile is not None:
                found.append((("F-FAIL", task.name), (changed((archive, None)), numbers, messages)))
            if volatile is None:
                continue
            epoch, value = volatile
            heads = [[m for m in messages if m[1] == s and m[0] == at[task.name, s]] for s in task.inputs]
            for head in heads:
                for _, stream, of, what in head:
                    if what != "BD" and of == epoch:
                        then, made = task.function(value, what[1])
                        now = self._moved(at, task, {stream: 1, task.output: len(made)})
                        start = at[task.name, task.output]
                        new = {(start + k, task.output, epoch, ("EV", w)) for k, w in enumerate(made)}
                        label = ("I-EVENT", task.name, stream, epoch, what[1], tuple(made))
                        found.append((label, (changed((archive, (epoch, then))), now, messages | new)))
            if all(any(of == epoch and what == "BD" for _, _, of, what in head) for head in heads):
                now = self._moved(at, task, {**dict.fromkeys(task.inputs, 1), task.output: 1})
                border = {(at[task.name, task.output], task.output, epoch, "BD")}
                state = (tuple(sorted({**dict(archive), epoch: value}.items())), (epoch + 1, value))
                found.append((("I-BORDER", task.name, epoch), (changed(state), now, messages | border)))
        if failures and any(volatile is None for _, volatile in states):
            found.append((("F-RECOVER",), self.recovered(configuration)))
        return found

    def _moved(self, at: dict[Any, int], task: PlainTask, by: dict[str, int]) -> frozenset[Any]:
        return frozenset((key, n + (by.get(key[1], 0) if key[0] == task.name else 0)) for key, n in at.items())

    def common(self, configuration: Configuration) -> int:
        return min(max(int(epoch) for epoch, _ in archive) for archive, _ in configuration[0])

    def output(self, configuration: Configuration) -> Outputs:
        return frozenset(message for message in configuration[2] if message[2] <= self.common(configuration))

    def recovered(self, configuration: Configuration) -> Configuration:
        states, numbers, _ = configuration
        common, kept = self.common(configuration), self.output(configuration)
        back = []
        for archive, _ in states:
            known = dict(archive)
            back.append((tuple((e, v) for e, v in archive if e <= common), (common + 1, known[common])))
        at = frozenset((key, sum(message[1] == key[1] for message in kept)) for key, _ in numbers)
        return tuple(back), at, self.first | kept

    def reachable(self, failures: bool, most: int = 10**9) -> set[Configuration] | None:
        """All configurations; None when there are more than so many."""
        found = {self.initial()}
        stack = list(found)
        while stack:
            for _, after in self.steps(stack.pop(), failures):
                if after not in found:
                    found.add(after)
                    stack.append(after)
            if len(found) > most:
                return None
        return found


def total(state: int, event: int) -> tuple[int, list[int]]:
    return state + event, [state + event]


def total_at_last(state: int, event: int) -> tuple[int, list[int]]:
    return state + event, [state] if event == 2 else []


def keep_odd(state: int, event: int) -> tuple[int, list[int]]:
    return state, [event] if event % 2 else []


def twice(state: int, event: int) -> tuple[int, list[int]]:
    return state, [event, event]


def latest(state: int, event: int) -> tuple[int, list[int]]:
    return event, [state]


def silent(state: int, event: int) -> tuple[int, list[int]]:
    return max(state, event), []


def remember(state: int, event: int) -> tuple[int, list[int]]:
    return event, []  # what is remembered depends on the order, and nothing else shows it


FUNCTIONS = (total, total_at_last, keep_odd, twice, latest, silent, remember)


def random_system(chance: random.Random, most_epochs: int = 2, most_events: int = 2) -> PlainSystem:
    """Up to three tasks and two inputs, joined at random; every input is read, and outputs by later tasks, perhaps."""
    count = chance.randint(1, 3)
    sources = [f"s{number}" for number in range(chance.randint(1, 2))]
    tasks: list[PlainTask] = []
    streams = list(sources)
    for number in range(count):
        unread = [name for name in sources if not any(name in task.inputs for task in tasks)]
        wanted = set(unread) if number == count - 1 else set()
        wanted |= set(chance.sample(streams, chance.randint(0 if wanted else 1, min(2, len(streams)))))
        inputs = tuple(sorted(wanted))
        tasks.append(PlainTask(f"p{number}", chance.choice(FUNCTIONS), inputs, f"o{number}", chance.randint(0, 1)))
        streams.append(f"o{number}")
    chance.shuffle(tasks)
    epochs = chance.randint(1, most_epochs)
    inputs_of = {
        name: [[chance.randint(0, 2) for _ in range(chance.randint(0, most_events))] for _ in range(epochs)]
        for name in sources
    }
    return PlainSystem(tasks, inputs_of)


def check_explained(
    system: PlainSystem, faulty: list[Label], explaining: list[Label]
) -> tuple[list[Configuration], list[Configuration]]:
    """Both are traces of the system, the second without failures, and shows what the first shows, in this order."""
    one, other = run(system, faulty), run(system, explaining)
    assert not [label for label in explaining if label[0] in ("F-FAIL", "F-RECOVER")]
    shown = [system.output(configuration) for configuration in other]
    place = 0
    for configuration in one:
        wanted = system.output(configuration)
        while place < len(shown) and shown[place] != wanted:
            place += 1
        assert place < len(shown), "an output that the explaining trace does not show, or not in this order"
    return one, other


def run(system: PlainSystem, labels: list[Label]) -> list[Configuration]:
    """The configurations through which these steps lead; each has to be possible. Failing again changes nothing."""
    configurations = [system.initial()]
    for label in labels:
        now = configurations[-1]
        index = [task.name for task in system.tasks].index(label[1]) if len(label) > 1 else -1
        if label[0] == "F-FAIL" and now[0][index][1] is None:
            configurations.append(now)
            continue
        after = [then for possible, then in system.steps(now, failures=True) if possible == label]
        assert len(after) == 1, f"{label} is not possible"
        configurations.append(after[0])
    return configurations
