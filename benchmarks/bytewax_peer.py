"""Bytewax on the jobs of `engine.py` and `runtime.py`. Runs in the peers' environment; JSON in, JSON out.

Every job answers with its result, which has to be that of this project, and with the least seconds of some runs. The
input is made beforehand; what is measured is `run_main`, one worker. Where a figure is for an epoch or an item, a run
with few of them is taken from the one with many that follows it, and the median of such differences counts.

`steps`: a chain of steps that hand on what they get, one item an epoch, an epoch interval of zero. Bytewax runs on
timely and keeps no tracker of its own that could be called: its epochs move while a dataflow runs. This project's
tracker is told of the same things, that an item was consumed and sent on by each node, and that the input's epoch has
ended. But Bytewax calls a Python function at every step, if a trivial one, and moves the item itself, so its figure is
an upper bound for its tracking, and no digest can be compared.

The chains of `windows` and of `stateful` do what the chain of nodes in `runtime.py` does: each step adds up what it got
in an epoch and sends the sum on when the epoch is over. There is nothing in Bytewax like a notification at a time of
one's own: its notifications are by the wall clock, and its epochs are no times that a step could see. So there are two
ways to write it, both of which know an epoch to be over by the first item of the next one, a step later each:

* `windows`: `fold_window` with event time, a window an epoch: the way that its documentation teaches. It holds for
  several sources and some disorder, as a notification does.
* `stateful`: `StatefulBatchLogic` written by hand, which takes the input to be in order. With an interval of zero each
  batch of the source is an epoch of Bytewax's as well, which closes: all steps hear of it and take snapshots. With the
  usual interval of ten seconds nothing closes at all while the job runs, and what is measured is the moving of items.

`maps` is a chain of `map` steps, `keyed` a `count_final`, a reduction by key with its results at the end; the source
hands over slices of a list, which costs it nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.operators import StatefulBatchLogic, windowing
from bytewax.testing import TestingSink, TestingSource, run_main

USUAL = timedelta(seconds=10)
START = datetime(2020, 1, 1, tzinfo=UTC)
LENGTH = timedelta(days=1)  # of a window: an event-time clock also moves on with the wall clock, a day it never does


class Slices(DynamicSource):
    """A list, handed over in slices."""

    def __init__(self, items: list, size: int) -> None:
        self.items = items
        self.size = size

    def build(self, step_id: str, worker_index: int, worker_count: int) -> StatelessSourcePartition:
        """The one part that there is."""
        return Slice(self.items, self.size)


class Slice(StatelessSourcePartition):
    """Where the source is."""

    def __init__(self, items: list, size: int) -> None:
        self.items = items
        self.size = size
        self.place = 0

    def next_batch(self) -> list:
        """The next slice."""
        place = self.place
        if place >= len(self.items):
            raise StopIteration
        self.place += self.size
        return self.items[place : self.place]


class Sum(StatefulBatchLogic):
    """Adds up what comes in an epoch; an item of another epoch ends it."""

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.sum = 0

    def on_batch(self, values: list) -> tuple[list, bool]:
        """Some items, in order."""
        over = []
        epoch, total = self.epoch, self.sum
        for each, count in values:
            if each == epoch:
                total += count
            else:
                if epoch is not None:
                    over.append((epoch, total))
                epoch, total = each, count
        self.epoch, self.sum = epoch, total
        return over, False

    def on_eof(self) -> tuple[list, bool]:
        """The last epoch is over."""
        return [(self.epoch, self.sum)], True

    def snapshot(self) -> Any:
        """The state, which cannot be changed from elsewhere."""
        return self.epoch, self.sum


def took(flow: Dataflow, interval: timedelta) -> float:
    """The seconds of a run."""
    started = time.process_time()
    run_main(flow, epoch_interval=interval)
    return time.process_time() - started


def steps(question: dict, items: int) -> tuple[float, Any]:
    """A chain of steps that do nothing, an item an epoch."""
    flow = Dataflow("chain")
    stream = op.input("input", flow, TestingSource(range(items), batch_size=1))
    for number in range(question["nodes"]):
        stream = op.flat_map_batch(f"n{number}", stream, lambda items: items)
    arrived: list[int] = []
    op.output("output", stream, TestingSink(arrived))
    seconds = took(flow, timedelta(0))
    if arrived != list(range(items)):
        raise AssertionError("items were lost or came out of order")
    return seconds, items


def stateful(question: dict, epochs: int) -> tuple[float, Any]:
    """A chain of steps that know by themselves when an epoch is over."""
    messages = question["messages"]
    flow = Dataflow("chain")
    items = [("key", (epoch, 1)) for epoch in range(epochs) for _ in range(messages)]
    stream = op.input("input", flow, Slices(items, messages))
    for number in range(question["nodes"]):
        stream = op.stateful_batch(f"n{number}", stream, lambda state: Sum())
    arrived: list[Any] = []
    op.output("output", stream, TestingSink(arrived))
    seconds = took(flow, timedelta(0) if question["closing"] else USUAL)
    return seconds, [value for _, value in arrived]


def windows(question: dict, epochs: int) -> tuple[float, Any]:
    """A chain of windows by event time."""
    messages = question["messages"]
    flow = Dataflow("chain")
    begins = [START + LENGTH * epoch for epoch in range(epochs)]
    items = [("key", (begin, 1)) for begin in begins for _ in range(messages)]
    stream = op.input("input", flow, Slices(items, messages))
    clock = windowing.EventClock(lambda item: item[0], timedelta(0))
    windower = windowing.TumblingWindower(align_to=START, length=LENGTH)
    for number in range(question["nodes"]):
        summed = windowing.fold_window(
            f"n{number}", stream, clock, windower, lambda: 0, lambda total, item: total + item[1], int.__add__
        )
        stream = op.map_value(f"at{number}", summed.down, lambda found: (begins[found[0]], found[1]))
    arrived: list[Any] = []
    op.output("output", stream, TestingSink(arrived))
    seconds = took(flow, USUAL)
    return seconds, [((begin - START) // LENGTH, total) for _, (begin, total) in arrived]


def maps(question: dict, count: int) -> tuple[float, Any]:
    """A chain of functions of an item."""
    flow = Dataflow("maps")
    stream = op.input("input", flow, Slices(list(range(count)), question["batch"]))
    for number in range(question["nodes"]):
        stream = op.map(f"n{number}", stream, lambda value: value + 1)
    arrived: list[int] = []
    op.output("output", stream, TestingSink(arrived))
    seconds = took(flow, USUAL)
    return seconds, [len(arrived), sum(arrived)]


def keyed(question: dict, count: int) -> tuple[float, Any]:
    """How often each word comes."""
    words = [f"w{number * 7919 % question['keys']}" for number in range(count)]
    flow = Dataflow("keyed")
    stream = op.input("input", flow, Slices(words, question["batch"]))
    counted = op.count_final("count", stream, lambda word: word)
    arrived: list[Any] = []
    op.output("output", counted, TestingSink(arrived))
    seconds = took(flow, USUAL)
    return seconds, sorted(arrived)


JOBS: dict[str, Callable[[dict, int], tuple[float, Any]]] = {
    "steps": steps,
    "stateful": stateful,
    "windows": windows,
    "maps": maps,
    "keyed": keyed,
}


def main() -> None:
    """Answer the question on standard input: the job, how many of its items, how many to take off, repetitions."""
    question = json.load(sys.stdin)
    job, few, items = JOBS[question["job"]], question["few"], question["items"]
    runs = [(job(question, few)[0] if few else 0.0, *job(question, few + items)) for _ in range(question["repeat"])]
    seconds = (median if few else min)([many - less for less, many, _ in runs])
    json.dump({"seconds": seconds, "result": runs[0][2]}, sys.stdout)


if __name__ == "__main__":
    main()
