"""A pipeline to be killed, and what has to be in its outputs, judged by code that shares nothing with the runtime.

It is the text of its files and of its inputs, drawn by a seed, and a judge of what it has put out: of values that are
lost, there twice or wrong, and of promises about their order that were broken. It appends a line to the file `witness`
for every call that it makes, whatever is kept of it: that tells at which instant a kill came.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.commands.pipelines import message_lines

Row = tuple[Any, Any]  # the time and the value of a line, as JSON has them
Rows = dict[str, list[Row]]  # by output, in the order in which they stand there

WITNESS = """\
import os, time
HANDLE = os.open("witness", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def saw(*what):
    os.write(HANDLE, (repr(what) + "\\n").encode())
    time.sleep(PAUSE)
"""


class Found(NamedTuple):
    """What is wrong with outputs."""

    lost: list[str]
    twice: list[str]
    disorder: list[str]


def rows_of(content: str | bytes) -> list[Row]:
    """The values in the lines of an output."""
    return [(line["time"], line["value"]) for line in map(json.loads, content.splitlines()) if "value" in line]


def as_texts(rows: Rows) -> Counter[str]:
    """All values, each as a text."""
    return Counter(json.dumps([name, *row]) for name, found in rows.items() for row in found)


def overtaken(came: Sequence[int], times: Sequence[int]) -> list[str]:
    """Messages, by their places in the input, that came before another one that was there first at no later time."""
    at = {place: number for number, place in enumerate(came)}
    return [
        f"{later} came before {first}"
        for later in at
        for first in at
        if first < later and times[first] <= times[later] and at[later] < at[first]
    ]


class Program(ABC):
    """One pipeline, with inputs of its own, over so many epochs."""

    name: str
    outputs: tuple[str, ...]
    epochs = 6

    def __init__(self, seed: str, epochs: int | None = None) -> None:
        self.epochs = epochs or self.epochs
        self.rng = random.Random(f"{self.name} {seed}")
        self.files = {"killed.py": f"PAUSE = {self.rng.choice((0.0005, 0.001, 0.002))}\n{WITNESS}{self.code()}"}
        self.inputs: dict[str, str] = {}  # files by input edge
        self.begin()

    @abstractmethod
    def code(self) -> str:
        """What is in the Python file, behind what all of them have."""

    @abstractmethod
    def begin(self) -> None:
        """Draw the inputs, and what has to come out."""

    @abstractmethod
    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        """What is wrong with what was put out to its end. `may_repeat` says that what left may have left again."""

    def kind(self, seen: Sequence[tuple[Any, ...]]) -> str | None:
        """What a kill met that is worth to be counted, by what its last life has seen."""
        return None

    def arguments(self) -> list[str]:
        """Of the command, but for how it is kept."""
        ends = [f"--input={edge}={file}" for edge, file in self.inputs.items()]
        return ["killed.py", *ends, *(f"--output={name}={name}" for name in self.outputs)]

    def _input(self, edge: str, epochs: list[list[Any]]) -> None:
        self.files[f"{edge}.jsonl"] = message_lines(epochs)
        self.inputs[edge] = f"{edge}.jsonl"


def compared(found: Rows, right: Counter[str], may_repeat: bool) -> Found:
    """What is wrong where there is one right result."""
    there = as_texts(found)
    more = there - right
    if may_repeat:
        more = Counter({text: number for text, number in more.items() if text not in right})
    return Found(sorted((right - there).elements()), sorted(more.elements()), [])


def frontier_broken(content: str) -> list[str]:
    """Values of an output edge that come at a time of which it had said that it is complete; an end that is not said.

    Times are whole numbers, pairs that are ordered lexicographically, or pairs of an epoch with a stack, of which
    nothing is judged here.
    """
    found, frontier = [], [None]
    for line in map(json.loads, content.splitlines()):
        if "complete" in line:
            frontier = line["complete"]
        elif not any(_at_or_before(time, line["time"]) for time in frontier):
            found.append(f"{line} is not at or after {frontier}")
    return found if frontier == [] else [*found, "the end is not said"]


def _at_or_before(one: Any, other: Any) -> bool:
    is_stacked = isinstance(one, list) and isinstance(one[1], list)
    return True if one is None or is_stacked else bool(one <= other)
