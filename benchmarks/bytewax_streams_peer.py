"""Bytewax on the jobs of `streams.py`. Runs in the peers' environment; JSON in, JSON out.

Each job is written in two ways. `by hand`: `StatefulBatchLogic`, or the time in the key, the quickest way that keeps
keys apart so that they could be spread over workers; it takes the input to be in order. `windows`: the operators of
windows that the documentation teaches, by event time, a tick a day, since their clock also moves on with that of the
wall. Bytewax has no operator for a join by windows that emits pairs once; `op.join` with the time in the key is both.
"""

from __future__ import annotations

import gc
import heapq
import json
import sys
from datetime import timedelta
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.operators import StatefulBatchLogic, windowing
from bytewax.testing import TestingSink
from bytewax_peer import LENGTH, START, USUAL, Slices, took
from streams_data import BEST, GAP, WINDOW, digest, events, lines, sides

BATCH = 1_000  # items that a source hands over at once


class ByTime(StatefulBatchLogic):
    """Takes the times of a key in order: `add` a value to the state, `close` it when its end is over."""

    def __init__(self) -> None:
        self.end: int | None = None
        self.state: Any = None

    def on_batch(self, values: list[Any]) -> tuple[list[Any], bool]:
        """Some values of a key, in order."""
        over = []
        for time, value in values:
            if self.end is not None and time > self.end:
                over.append(self.close())
                self.end = None
            self.add(time, value)
        return over, False

    def on_eof(self) -> tuple[list[Any], bool]:
        """The last one is over."""
        return [self.close()], True

    def snapshot(self) -> Any:
        """The state."""
        return self.end, self.state


class Counted(ByTime):
    """How many values there are at a time."""

    def on_batch(self, values: list[Any]) -> tuple[list[Any], bool]:
        """Times alone."""
        over = []
        end, count = self.end, self.state
        for time in values:
            if time == end:
                count += 1
            else:
                if end is not None:
                    over.append((end, count))
                end, count = time, 1
        self.end, self.state = end, count
        return over, False

    def close(self) -> Any:
        """The time with its count."""
        return self.end, self.state


class Session(ByTime):
    """The values of a session, the first and the last time."""

    def add(self, time: int, value: int) -> None:
        """One more."""
        if self.end is None:
            self.state = (time, [])
        self.state[1].append(value)
        self.end = time + GAP

    def close(self) -> Any:
        """First and last time, and the values."""
        return self.state[0], self.end - GAP, self.state[1]


class Top(ByTime):
    """The largest values of a window."""

    def add(self, time: int, value: int) -> None:
        """One more."""
        if self.end is None:
            self.end, self.state = time // WINDOW * WINDOW + WINDOW - 1, []
        if len(self.state) < BEST:
            heapq.heappush(self.state, value)
        else:
            heapq.heappushpop(self.state, value)

    def close(self) -> Any:
        """The last time of the window, and the values."""
        return self.end, sorted(self.state, reverse=True)


def ran(flow: Dataflow, stream: Any) -> tuple[float, list[Any]]:
    """Run it; the seconds and what arrived."""
    arrived: list[Any] = []
    op.output("output", stream, TestingSink(arrived))
    return took(flow, USUAL), arrived


def clock(wait: timedelta = timedelta(0)) -> Any:
    """Event time of (time, value). Without a wait, a second value of one instant may be late."""
    return windowing.EventClock(lambda item: DAYS[item[0]], wait)


DAYS = [START + LENGTH * number for number in range(10_000)]


def words(question: dict[str, Any]) -> tuple[float, list[Any]]:
    """Word count by time."""
    flow = Dataflow("words")
    stream = op.input("input", flow, Slices(lines(question["values"], question["keys"], question["times"]), BATCH))
    if question["way"] == "by hand":
        split = op.flat_map_batch(
            "split", stream, lambda batch: [(word, time) for time, line in batch for word in line.split()]
        )
        counted = op.stateful_batch("count", split, lambda state: Counted())
        seconds, arrived = ran(flow, counted)
        return seconds, [[time, word, count] for word, (time, count) in arrived]
    split = op.flat_map_batch(
        "split", stream, lambda batch: [(word, (time, word)) for time, line in batch for word in line.split()]
    )
    windower = windowing.TumblingWindower(align_to=START, length=LENGTH)
    counted = windowing.fold_window(
        "count", split, clock(), windower, lambda: 0, lambda count, item: count + 1, int.__add__
    )
    seconds, arrived = ran(flow, counted.down)
    return seconds, [[time, word, count] for word, (time, count) in arrived]


def join(question: dict[str, Any]) -> tuple[float, list[Any]]:
    """Values of two inputs that have a key and a time in common; both ways are one."""
    flow = Dataflow("join")
    both = []
    for name, side in zip(("left", "right"), sides(question["values"], question["keys"]), strict=True):
        stream = op.input(name, flow, Slices(side, BATCH))
        both.append(
            op.flat_map_batch(
                f"key {name}", stream, lambda batch: [(f"{time} {key}", value) for time, (key, value) in batch]
            )
        )
    seconds, arrived = ran(flow, op.join("join", *both))
    found = []
    for name, (one, other) in arrived:
        time, key = name.split(" ")
        found.append([int(time), key, one, other])
    return seconds, found


def keyed(flow: Dataflow, question: dict[str, Any]) -> Any:
    """The events by key."""
    items = events(question["values"], question["keys"], question["each"])
    stream = op.input("input", flow, Slices(items, BATCH))
    return op.flat_map_batch("key", stream, lambda batch: [(key, (time, value)) for time, (key, value) in batch])


def sessions(question: dict[str, Any]) -> tuple[float, list[Any]]:
    """Sessions of keys."""
    flow = Dataflow("sessions")
    stream = keyed(flow, question)
    if question["way"] == "by hand":
        seconds, arrived = ran(flow, op.stateful_batch("session", stream, lambda state: Session()))
        return seconds, [[key, first, last, len(values)] for key, (first, last, values) in arrived]
    windower = windowing.SessionWindower(gap=LENGTH * GAP)
    found = windowing.collect_window("session", stream, clock(LENGTH), windower)
    seconds, arrived = ran(flow, found.down)
    return seconds, [[key, items[0][0], items[-1][0], len(items)] for key, (_, items) in arrived]


def top(question: dict[str, Any]) -> tuple[float, list[Any]]:
    """The ten largest values of each key in each window."""
    flow = Dataflow("top")
    stream = keyed(flow, question)
    if question["way"] == "by hand":
        seconds, arrived = ran(flow, op.stateful_batch("top", stream, lambda state: Top()))
        return seconds, [[time, key, best] for key, (time, best) in arrived]
    windower = windowing.TumblingWindower(align_to=START, length=LENGTH * WINDOW)
    found = windowing.collect_window("top", stream, clock(LENGTH), windower)
    best = op.map_value(
        "best", found.down, lambda window: (window[0], heapq.nlargest(BEST, [value for _, value in window[1]]))
    )
    seconds, arrived = ran(flow, best)
    return seconds, [[number * WINDOW + WINDOW - 1, key, best] for key, (number, best) in arrived]


JOBS = {"words": words, "join": join, "sessions": sessions, "top": top}


def main() -> None:
    """Answer the question on standard input: the job, the way, its sizes, how often it is run."""
    question = json.load(sys.stdin)
    seconds = []
    for _ in range(question["repeat"]):
        gc.collect()
        measured, found = JOBS[question["job"]](question)
        seconds.append(measured)
        results = found  # here, what the run before gave is freed, as in `streams.py`
    json.dump({"seconds": min(seconds), "result": digest(results)}, sys.stdout)


if __name__ == "__main__":
    main()
