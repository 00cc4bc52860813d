"""What the tests of runs share: the engines, small graphs and nodes, and what a run of them gave."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress.runtime import Batch, Dataflow, Node, Out

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("sim", "seeded", "threads", "asyncio")
GUARD = 60.0  # seconds after which a run that does not end has failed
BOUND = 4
TIMES = [(each, 39 - each) for each in range(40)]  # none is before another
engines = pytest.mark.parametrize("engine", ENGINES)


def run(dataflow: Dataflow, engine: str, **options: Any) -> Any:
    """Run in an engine; `seeded` is `sim` with a seed."""
    if engine == "seeded":
        engine, options["seed"] = "sim", 7
    return dataflow.run(engine=engine, timeout=GUARD, **options)


def line(*names: str, **keys: Any) -> Graph:
    """in -> first -> ... -> last -> out."""
    graph = Graph(**keys)
    for name in names:
        graph.node(name)
    graph.edge(None, names[0], "in")
    for before, after in pairwise(names):
        graph.edge(before, after)
    return graph.edge(names[-1], None, "out")


class Total(Node):
    """Sends the sum of each time on its only edge when the time is complete."""

    def __init__(self) -> None:
        self.sums: dict[Any, int] = {}

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        self.sums[time] = self.sums.get(time, 0) + value
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        (leaving,) = out.edges
        out.send(leaving, time, self.sums.pop(time))


def numbers(*values: int) -> list[Any]:
    """All of time 0, so that they may come in one row."""
    return [(0, value) for value in values]


def guarded(call: Callable[[], Any]) -> list[Any]:
    """What a call raises or returns, made in a thread that may not hang for ever."""
    found: list[Any] = []

    def target() -> None:
        try:
            found.append(call())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join(GUARD)
    assert not thread.is_alive()
    return found


def of_two(*, out_time: Any = None) -> Graph:
    """in -> work -> out, over pairs."""
    graph = Graph(time={"product": ["nat", "nat"]}).node("work", emits={"out": "leave"} if out_time else {})
    return graph.edge(None, "work", "in").edge("work", None, "out", **({"time": out_time} if out_time else {}))


class Met(Batch):
    """Counts who is there, and lets nobody go before `parties` have met."""

    def __init__(self, at_once: int, parties: int) -> None:
        super().__init__()
        self.at_once = at_once
        self.parties = parties
        self.inside: Counter[Any] = Counter()
        self.most = 0
        self.barrier = threading.Barrier(parties, timeout=GUARD)

    def enter(self, time: Any) -> None:
        self.inside[time] += 1
        self.most = max(self.most, self.inside.total())

    def leave(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        out.send("out", time, sum(messages["in"]))
        self.inside[time] -= 1

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        self.enter(time)
        self.barrier.wait()
        self.leave(time, messages, out)


def killed(act: Callable[[], None]) -> bool:
    """Do it in a child, which may kill itself; whether it did."""
    child = os.fork()
    if not child:
        code = 1
        try:
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0
