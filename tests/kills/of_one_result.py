"""Pipelines that have one right result, whatever the order in which things happen: a loop, recursion, sessions."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

from tests.commands.pipelines import FIBONACCI_YAML, SUMS
from tests.kills.program import Found, Program, Row, Rows, as_texts, compared


class Loop(Program):
    """Numbers go round, halved in two ways that are joined again, until they are 1: a join half full in each round."""

    name = "loop"
    outputs = ("steps", "rounds", "ends")

    def code(self) -> str:
        return """
from graphs import from_data
from progress.runtime import Dataflow, Node

INSIDE = {"time": {"lex": ["nat", "nat"]}, "notify": False}
GRAPH = {
    "pointstamp": 1,
    "nodes": {
        "enter": {"emits": {"begin": "enter"}, "notify": False},
        "split": INSIDE, "half": INSIDE, "rest": INSIDE,
        "join": {"time": {"lex": ["nat", "nat"]}, "emits": {"ends": "leave"}},
        "again": {**INSIDE, "summary": "feedback"},
    },
    "edges": [
        {"id": "numbers", "to": "enter"},
        {"id": "begin", "from": "enter", "to": "split"},
        {"id": "a", "from": "split", "to": "half"}, {"id": "b", "from": "split", "to": "rest"},
        {"id": "halves", "from": "half", "to": "join"}, {"id": "rests", "from": "rest", "to": "join"},
        {"id": "next", "from": "join", "to": "again"}, {"id": "back", "from": "again", "to": "split"},
        {"id": "steps", "from": "join"}, {"id": "rounds", "from": "join"}, {"id": "ends", "from": "join"},
    ],
}

class Split(Node):
    def on_message(self, edge, at, value, out):
        out.send("a", at, value)
        out.send("b", at, value)

class Half(Node):
    def on_message(self, edge, at, value, out):
        out.send("halves", at, [value[0], value[1] // 2])

class Rest(Node):
    def on_message(self, edge, at, value, out):
        out.send("rests", at, [value[0], value[1] % 2])

class Join(Node):
    def __init__(self):
        self.waiting, self.joined = {}, {}

    def on_message(self, edge, at, value, out):
        name, part = value
        out.request(at)
        if (at, name) not in self.waiting:
            self.waiting[at, name] = part
            saw("half", *at, name)
            return
        number = self.waiting.pop((at, name)) + part
        saw("whole", *at, name)
        self.joined[at] = self.joined.get(at, 0) + 1
        out.send("steps", at, [name, number])
        if number == 1:
            out.send("ends", at[0], [name, at[1]])
        else:
            out.send("next", at, [name, number])

    def on_notify(self, at, out):
        out.send("rounds", at, self.joined.pop(at))

dataflow = Dataflow(from_data(GRAPH), {"split": Split, "half": Half, "rest": Rest, "join": Join})
"""

    def begin(self) -> None:
        names = count(100)
        epochs = [
            [[next(names), self.rng.randint(2, 60)] for _ in range(self.rng.randint(0, 4))] for _ in range(self.epochs)
        ]
        self._input("numbers", epochs)
        right: Rows = defaultdict(list)
        for epoch, numbers in enumerate(epochs):
            rounds: Counter[int] = Counter()
            for name, number in numbers:
                for turn in count():
                    number = number // 2 + number % 2
                    rounds[turn] += 1
                    right["steps"].append(([epoch, turn], [name, number]))
                    if number == 1:
                        right["ends"].append((epoch, [name, turn]))
                        break
            right["rounds"] += [([epoch, turn], many) for turn, many in rounds.items()]
        self._right = as_texts(right)

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        return compared(found, self._right, may_repeat)

    def kind(self, seen: Sequence[tuple[Any, ...]]) -> str | None:
        halves = {what[1:] for what in seen if what[0] == "half"} - {what[1:] for what in seen if what[0] == "whole"}
        return "half joined in round 2 or later" if any(turn >= 2 for _, turn, _ in halves) else None


class Recursion(Program):
    """Fibonacci's numbers, by a graph that calls itself."""

    name = "recursion"
    outputs = ("sums",)
    epochs = 4

    def code(self) -> str:
        return """
from graphs import load
from progress.runtime import Dataflow, Node

class Split(Node):
    def on_message(self, edge, at, n, out):
        saw("split", n)
        if n < 2:
            out.send("split->exit", at, n)
        else:
            out.send("split->left", at, n - 1)
            out.send("split->right", at, n - 2)

class Combine(Node):
    def __init__(self):
        self.sums = {}

    def on_message(self, edge, at, value, out):
        self.sums[at] = self.sums.get(at, 0) + value
        out.request(at)

    def on_notify(self, at, out):
        total = self.sums.pop(at)
        out.send("sums", at, total)
        out.send("combine->exit", at, total)

dataflow = Dataflow(load("fibonacci.yaml"), {"split": Split, "combine": Combine})
"""

    def begin(self) -> None:
        self.files["fibonacci.yaml"] = FIBONACCI_YAML + SUMS
        numbers = [self.rng.randint(1, 6) for _ in range(self.epochs)]
        right: Rows = {"sums": []}

        def called(epoch: int, stack: list[str], n: int) -> int:
            if n < 2:
                return n
            total = called(epoch, [*stack, "left"], n - 1) + called(epoch, [*stack, "right"], n - 2)
            right["sums"].append(([epoch, stack], total))
            return total

        lines = []
        for epoch, n in enumerate(numbers):
            called(epoch, [], n)
            lines += [{"time": [epoch, []], "value": n}, {"complete": [[epoch + 1, []]]}]
        self.files["numbers.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines)
        self.inputs["numbers"] = "numbers.jsonl"
        self._right = as_texts(right)

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        return compared(found, self._right, may_repeat)


class Sessions(Program):
    """Session windows by key, as a flow: what stays apart by no more than two is one visit."""

    name = "session windows"
    outputs = ("visits", "running")
    epochs = 10

    def code(self) -> str:
        return """
from pointstamp import Flow

def seen(value):
    saw(*value)
    return value

flow = Flow()
clicks = flow.input("clicks").map(tuple).map(seen).keyed()
clicks.session(2).map(lambda each: [each[0], each[1], each[2], sorted(each[3])]).output("visits")
clicks.stateful_map(0, lambda state, value: (state + value, state + value), order=lambda v: v).output("running")
"""

    def begin(self) -> None:
        epochs: list[list[list[Any]]] = [
            [[self.rng.choice("xyz"), self.rng.randint(1, 60)] for _ in range(self.rng.choice((0, 0, 2, 5)))]
            for _ in range(self.epochs)
        ]
        self._input("clicks", epochs)
        right: Rows = {"visits": [], "running": []}
        for key in "xyz":
            clicks = sorted((at, amount) for at, each in enumerate(epochs) for k, amount in each if k == key)
            total, visit = 0, [*clicks[:1]]
            for at, amount in clicks:
                total += amount
                right["running"].append((at, [key, total]))
            for (before, _), (at, amount) in pairwise(clicks):
                if at > before + 2:
                    right["visits"].append(self._visit(key, visit))
                    visit = []
                visit.append((at, amount))
            if visit:
                right["visits"].append(self._visit(key, visit))
        self._right = as_texts(right)

    @staticmethod
    def _visit(key: str, clicks: list[tuple[int, int]]) -> Row:
        last = clicks[-1][0]
        return last + 2, [key, clicks[0][0], last, sorted(amount for _, amount in clicks)]

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        return compared(found, self._right, may_repeat)
