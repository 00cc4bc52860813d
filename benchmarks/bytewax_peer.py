"""Bytewax's epochs through a chain of steps. Runs in the peers' environment; JSON in, JSON out.

Bytewax runs on timely and keeps no tracker of its own that could be called: its epochs move while a dataflow runs. So
a dataflow is run, a chain of steps that hand on what they get, with one item an epoch (an epoch interval of zero). The
time of a run with one item is taken from that of a run with many; what remains, by item and step, is what Bytewax
spends on one item and its epoch's end at one step.

What is comparable: this project's tracker is told of the same things, that an item was consumed and sent on by each
node, and that the input's epoch has ended. What is not: Bytewax calls a Python function at every step, if a trivial
one, and moves the item itself, while the tracker only keeps the account; and nobody can ask Bytewax what an epoch still
waits for. Its figure is therefore an upper bound for its tracking, and no digest can be compared. There is nothing in
it like a request for a notification at a time of one's own: its notifications are by the wall clock.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource, run_main


def unchanged(items: list[int]) -> list[int]:
    """What every step does."""
    return items


def seconds(count: int, items: int) -> float:
    """The time of one run: build and run the dataflow."""
    flow = Dataflow("chain")
    stream = op.input("input", flow, TestingSource(range(items), batch_size=1))
    for number in range(count):
        stream = op.flat_map_batch(f"n{number}", stream, unchanged)
    arrived: list[int] = []
    op.output("output", stream, TestingSink(arrived))
    started = time.perf_counter()
    run_main(flow, epoch_interval=timedelta(0))
    took = time.perf_counter() - started
    if arrived != list(range(items)):
        raise AssertionError("items were lost or came out of order")
    return took


def main() -> None:
    """Answer the question on standard input: nodes, items and repetitions."""
    question = json.load(sys.stdin)
    count, items, repeat = question["nodes"], question["items"], question["repeat"]
    few = min(seconds(count, 1) for _ in range(repeat))
    many = min(seconds(count, 1 + items) for _ in range(repeat))
    json.dump({"seconds": many - few}, sys.stdout)


if __name__ == "__main__":
    main()
