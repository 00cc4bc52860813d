"""Streams beside Bytewax: the same jobs, equal results first. `python -m benchmarks.streams`, a part of `make bench`.

Both programs get a list, and are measured in processor seconds from there to their last result, on one machine in one
run, each job in a process of its own. `bytewax_streams_peer.py` says in which two ways each job is written there; the
ratio is that to the quicker one.
Streams read the list with what is complete said after each time, so that results leave then, as Bytewax's do.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from benchmarks.peers import MissingPeer, in_peers_environment
from benchmarks.streams_data import BEST, GAP, WINDOW, digest, events, lines, sides
from graphs.streams import Flow
from progress.runtime import Complete

REPEAT = 5
ENGINES = ("sim", "threads")
TRIES = {"by hand": 3, "windows": 1}  # the ways of Bytewax, and how often each is run: windows take long
WAYS = tuple(TRIES)
SIZES: dict[str, dict[str, int]] = {
    "words": {"values": 200_000, "times": 200},
    "join": {"values": 100_000},
    "sessions": {"values": 200_000, "each": 1_000},
    "top": {"values": 200_000, "each": 1_000},
}


def said(items: list[Any]) -> list[Any]:
    """The items, each time said to be complete when the next one comes."""
    found: list[Any] = []
    last = items[0][0]
    for item in items:
        if item[0] != last:
            last = item[0]
            found.append(Complete((last,)))
        found.append(item)
    return found


def words(question: dict[str, Any]) -> tuple[Flow[int], dict[str, list[Any]], Callable[[Any], Any]]:
    """Word count by time."""
    flow = Flow()
    flow.input("lines", str).flat_map(str.split).key_on(str).count().output("out")
    items = lines(question["values"], question["keys"], question["times"])
    return flow, {"lines": said(items)}, lambda each: [each[0], *each[1]]


def join(question: dict[str, Any]) -> tuple[Flow[int], dict[str, list[Any]], Callable[[Any], Any]]:
    """Values of two inputs that have a key and a time in common."""
    flow = Flow()
    both = flow.input("left").keyed().join(flow.input("right").keyed(), lambda key, one, other: (key, one, other))
    both.output("out")
    left, right = sides(question["values"], question["keys"])
    return flow, {"left": said(left), "right": said(right)}, lambda each: [each[0], *each[1]]


def sessions(question: dict[str, Any]) -> tuple[Flow[int], dict[str, list[Any]], Callable[[Any], Any]]:
    """Sessions of keys."""
    flow = Flow()
    flow.input("events").keyed().session(GAP).output("out")
    items = events(question["values"], question["keys"], question["each"])
    return flow, {"events": said(items)}, lambda each: [*each[1][:3], len(each[1][3])]


def top(question: dict[str, Any]) -> tuple[Flow[int], dict[str, list[Any]], Callable[[Any], Any]]:
    """The ten largest values of each key in each window."""
    flow = Flow()
    flow.input("events").tumbling(WINDOW).keyed().top(BEST).output("out")
    items = events(question["values"], question["keys"], question["each"])
    return flow, {"events": said(items)}, lambda each: [each[0], *each[1]]


JOBS = {"words": words, "join": join, "sessions": sessions, "top": top}


def measured(job: str, question: dict[str, Any], engine: str, repeat: int = REPEAT) -> tuple[float, Any]:
    """The least processor seconds of some runs, and what stands for their results."""
    flow, sources, written = JOBS[job](question)
    dataflow = flow.dataflow
    seconds = []
    for _ in range(repeat):
        gc.collect()
        begin = time.process_time()
        found = dataflow.run(engine=engine, sources=sources)
        seconds.append(time.process_time() - begin)
        results = found  # here, what the run before gave is freed: neither program's seconds have that in them
    return min(seconds), list(digest([written(each) for each in results["out"]]))


def apart(job: str, question: dict[str, Any], engine: str) -> tuple[float, Any]:
    """`measured` in a process of its own, as the peer is: in one that has run others, objects lie far apart."""
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        return processes.submit(measured, job, question, engine).result()


def main() -> None:
    """Print a line for each job, number of keys and engine."""
    print("streams beside Bytewax: processor seconds, one worker; the ratio is that to Bytewax's quicker way\n")
    print(f"{'job':10} {'keys':>6} {'engine':8} {'this':>8}  {'by hand':>8} {'windows':>8}  this / Bytewax")
    for job, sizes in SIZES.items():
        for keys in (100, 10_000):
            question = {"job": job, "keys": keys, **sizes}
            try:
                theirs = {
                    way: in_peers_environment("bytewax_streams_peer.py", {**question, "way": way, "repeat": TRIES[way]})
                    for way in (WAYS if job != "join" else WAYS[:1])
                }
            except MissingPeer as error:
                print(f"  {error}")
                theirs = {}
            for engine in ENGINES:
                seconds, result = apart(job, question, engine)
                for way, each in theirs.items():
                    if each["result"] != result:
                        sys.exit(f"{job}, {keys} keys: the results differ from Bytewax's {way}")
                cells = [f"{theirs[way]['seconds']:8.3f}" if way in theirs else f"{'':8}" for way in WAYS]
                ratio = f"{seconds / min(each['seconds'] for each in theirs.values()):.2f}" if theirs else ""
                print(f"{job:10} {keys:6} {engine:8} {seconds:8.3f}  {' '.join(cells)}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
