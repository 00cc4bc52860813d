"""A small recursive program in every interleaving: the state machine of A&I section 4, with stacks as times."""

from __future__ import annotations

from heapq import merge
from typing import Any

import pytest

from graphs import Graph, load
from progress.local_history import Event, Message, Received
from progress.semantics import Exploration, Inputs, Specification, System, Variant, explore
from tests.recursion.tools import PROGRAMS

Sent = dict[str, list[Message]]


class Begin:
    """`entry`: the outermost call begins at a notification, inner ones with what comes."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers

    def initial(self) -> Any:
        return [(None, [()])]

    def step(self, state: None, event: Event) -> tuple[None, list[Any], Sent]:
        value = event.message.value if isinstance(event, Received) else self.numbers
        return None, [], {"entry->split": [Message(event.time, value)]}


class Part:
    """A part of a call, or any node without code: sends on what comes, with a call more or one less."""

    def __init__(self, edge: str, push: tuple[str, ...] = ()) -> None:
        self.edge, self.push = edge, push

    def initial(self) -> Any:
        return [(None, [])]

    def step(self, state: None, event: Event) -> tuple[None, list[Any], Sent]:
        assert isinstance(event, Received)
        return None, [], {self.edge: [Message((*event.time, *self.push), event.message.value)]}


class Split(Part):
    """Halves numbers until there is one."""

    def __init__(self) -> None:
        super().__init__("split->exit")

    def step(self, state: None, event: Event) -> tuple[None, list[Any], Sent]:
        assert isinstance(event, Received)
        numbers, time = event.message.value, event.time
        middle = len(numbers) // 2
        if not middle:
            return super().step(state, event)
        halves = {"split->left": numbers[:middle], "split->right": numbers[middle:]}
        return None, [], {edge: [Message(time, half)] for edge, half in halves.items()}


class Combine:
    """Merges the halves of each stack: when it is told that both calls are complete, or as soon as one has come."""

    def __init__(self, waits: bool) -> None:
        self.waits = waits

    def initial(self) -> Any:
        return [((), [])]

    def step(self, state: Any, event: Event) -> tuple[Any, list[Any], Sent]:
        known = dict(state)
        if isinstance(event, Received):
            known[event.time] = tuple(sorted((*known.get(event.time, ()), event.message.value)))
            if self.waits:
                return tuple(sorted(known.items(), key=str)), [event.time], {}
        halves = known[event.time] if not self.waits else known.pop(event.time)
        sent = {"combine->exit": [Message(event.time, tuple(merge(*halves)))]}
        return tuple(sorted(known.items(), key=str)), [], sent


class End:
    """`exit`: what inner calls return goes back to them; what the outermost one returns is kept."""

    def initial(self) -> Any:
        return [((), [])]

    def step(self, results: Any, event: Event) -> tuple[Any, list[Any], Sent]:
        assert isinstance(event, Received)
        names = tuple(event.time)
        if not names:
            return (*results, event.message.value), [], {}
        return results, [], {f"exit->ret-{names[-1]}": [Message(names[:-1], event.message.value)]}


def explored(numbers: tuple[int, ...], waits: bool) -> tuple[Exploration[Any], list[Any]]:
    """All states of mergesort on these numbers, and the results where nothing can happen any more."""
    graph: Graph = load(PROGRAMS / "divide.yaml")
    nodes: dict[str, Any] = {"entry": Begin(numbers), "split": Split(), "combine": Combine(waits), "exit": End()}
    for call in ("left", "right"):
        nodes[f"call-{call}"] = Part(f"call-{call}->entry", (call,))
        nodes[f"ret-{call}"] = Part(f"{call}->combine")
    found = explore(Specification(System(graph, nodes), Variant(inputs=Inputs.FORBIDDEN)))
    assert found.finished
    exit = graph.network().nodes.index("exit")
    ends = [state for state, steps in zip(found.states, found.steps, strict=True) if not steps]
    return found, [state.local[exit] for state in ends]


@pytest.mark.parametrize(("numbers", "states"), [((2, 1), 55), ((3, 1, 2), 242), ((3, 1, 4, 2), 2_388)])
def test_mergesort_has_one_result_in_every_interleaving(numbers: tuple[int, ...], states: int) -> None:
    found, results = explored(numbers, waits=True)
    assert len(found.states) == states
    assert results == [(tuple(sorted(numbers)),)]


def test_a_combine_that_does_not_wait_has_several() -> None:
    """So the exploration can tell: it is the notification that makes the program right."""
    _, results = explored((2, 1), waits=False)
    assert len(set(results)) > 1
