"""How long checkpoints hold a run, and how long it takes to go on, against the size of what a node keeps.

A node has a `State` of texts of 100 bytes; once it is kept, every second 1% of its keys get another one. Each time that
the run is held so that a checkpoint can go on counts, where something was done in it. Then the process is killed, and
another one goes on: what counts is the time until its nodes are as they were; comparing all digests and reading all of
it is in that. Beside it Bytewax goes on from its store, with as much in as many keys (`bytewax_recovery_peer.py`).

`python -m benchmarks.durable_holds`, a part of `make bench`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.durable_latency import go_first
from benchmarks.peers import HERE, MissingPeer, peers_python

BUILD = HERE.parent / "build"
SIZES = {"10 MB": 100_000, "100 MB": 1_000_000, "1 GB": 10_000_000}  # keys
PEER_SIZES = ("10 MB",)  # it takes minutes to keep ten times as much
VALUE = 100  # bytes of a value
RATE = 200  # messages a second
CHECKPOINTS = 30  # that are measured


def text_of(number: int) -> str:
    """A value, of which no two are equal."""
    return f"{number:0{VALUE}}"


def run(keys: int, folder: str, kills: bool) -> None:
    """Fill a state, change it, and be killed when enough was measured; or go on, and say how long that took."""
    from progress.garbage import short_cycle_searches
    from progress.runtime import Dataflow, Node, State
    from progress.runtime.durable.rests import Rests

    holds: list[float] = []
    ends = 0
    rest, go_on, end = Rests.rest, Rests.go_on, Rests._end

    def timed(act: Any) -> Any:
        def acted(rests: Any, **how: Any) -> Any:
            begin = time.perf_counter()
            found = act(rests, **how)
            took = time.perf_counter() - begin
            if rests._unfinished is not None and not rests.pause():
                holds.append(took)
            return found

        return acted

    def ended(rests: Any) -> None:
        nonlocal ends
        end(rests)
        ends += 1
        if ends == CHECKPOINTS:
            holds.sort()
            told = [len(holds), holds[len(holds) // 2], holds[len(holds) * 99 // 100], holds[-1]]
            print(json.dumps(told), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    class Keep(Node):
        def __init__(self) -> None:
            self.texts: State[int, str] = State()

        def on_start(self, out: Any) -> None:
            for number in range(keys if kills else 0):
                self.texts[number] = text_of(number)

        def on_message(self, edge: str, at: Any, seed: int, out: Any) -> None:
            if not kills:
                print(json.dumps([time.monotonic() - begun, len(self.texts)]), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            rng = random.Random(seed)
            for _ in range(keys // 100 // RATE):
                self.texts[rng.randrange(keys)] = text_of(rng.randrange(1 << 60))

    def source() -> Iterator[tuple[int, int]]:
        for seed in range(1_000_000):
            if kills:
                time.sleep(1 / RATE)
            yield 0, seed

    from graphs import from_edges

    if kills:
        Rests.rest, Rests.go_on, Rests._end = timed(rest), timed(go_on), ended  # type: ignore[method-assign, assignment]
    begun = time.monotonic()
    flow = Dataflow(from_edges([(None, "keep")]), {"keep": Keep}, sources={"in->keep": source})
    with short_cycle_searches():
        flow.run(engine="threads", state=folder, every=1.0, delivery="barrier")


def in_a_process(keys: int, folder: str, how: str) -> list[Any]:
    """What the run says before it is killed."""
    command = [sys.executable, "-m", "benchmarks.durable_holds", str(keys), folder, how]
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    if not told.stdout:
        sys.exit(told.stderr)
    found: list[Any] = json.loads(told.stdout)
    return found


def peer(keys: int) -> float:
    """The seconds that Bytewax takes until it has again what it kept of so many keys."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(peers_python()), str(HERE / "bytewax_recovery_peer.py"), folder, str(keys), str(VALUE)]
        subprocess.run([*command, "fill"], check=False, capture_output=True)
        told = subprocess.run([*command, "go on"], check=False, capture_output=True, text=True)
        if not told.stdout:
            sys.exit(told.stderr)
        return float(told.stdout)


def main() -> None:
    """The two tables."""
    go_first()
    print(f"{'held by a checkpoint, ms':24} {'times':>8} {'p50':>8} {'p99':>8} {'longest':>8} {'p99, ratio':>11}")
    goes_on: dict[str, float] = {}
    first = None
    for name, keys in SIZES.items():
        BUILD.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:  # on a disk, where /tmp may be memory
            times, *found = in_a_process(keys, f"{folder}/state", "kill")
            p50, p99, longest = (each * 1_000 for each in found)
            first = first or p99
            print(f"{name:24} {times:8,} {p50:8.2f} {p99:8.2f} {longest:8.2f} {p99 / first:11.2f}", flush=True)
            goes_on[name], there = in_a_process(keys, f"{folder}/state", "go on")
            if there != keys:
                sys.exit(f"of {keys} keys there are {there}")
    print(f"{'going on after a kill, s':24} {'this':>8} {'Bytewax':>8} {'ratio':>8}")
    for name, seconds in goes_on.items():
        try:
            theirs = peer(SIZES[name]) if name in PEER_SIZES else None
        except MissingPeer as error:
            print(error)
            theirs = None
        more = "" if theirs is None else f" {theirs:8.2f} {seconds / theirs:8.2f}"
        print(f"{name:24} {seconds:8.2f}{more}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(int(sys.argv[1]), sys.argv[2], sys.argv[3] == "kill")
    else:
        main()
