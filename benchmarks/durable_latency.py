"""Latency of runs that are kept: from when a document is due to when each line that it leads to is in the output.

The job is an index of words that is kept up to date, as in section VI of *Delivery, consistency, and determinism*:
documents come through a pipe, at even intervals; words go to a node that keeps, for each, where it was; each change of
the index is a line. `pointstamp run` runs it, without `--state` and with each `--delivery`, at several intervals of
checkpoints, under the same garbage collection. The time of a line is that at which it was given to the system, as a
reader who follows the file would see it; a document that is late because of another one counts from when it was due.
Where the system lets them, feeder and runs go before everything else on the machine (a real-time priority): otherwise a
percentile of milliseconds says more of what else there is. Where medians are compared, each row is the middle one of
three runs. Last come documents at random instants, as many a second: what they wait for one another is in both rows.

`python -m benchmarks.durable_latency` prints a table and draws `docs/pictures/latency.svg`; a part of `make bench`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.latency_chart import drawn

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "latency.svg"
RATE = 200  # documents a second
SECONDS = 8.0
WARM = 1.0  # seconds of each run that are not counted
WORDS = 20  # of a document
VOCABULARY = 5_000
EVERY = (0.05, 0.5, 1.0)
PRIORITY = 10
TIMES = 3  # runs, of which each percentile is the middle one
MODES = ("deterministic", "deterministic synced", "barrier", "at-least-once")
ONCE = ("barrier", "at-least-once")  # of which one run says enough
ENGINES = {"sim": "no log is needed", "threads": "the order is logged"}
GRAPH = """\
pointstamp: 1
nodes: {split: {notify: false}, index: {notify: false}}
edges:
  - {id: documents, to: split}
  - {id: words, from: split, to: index}
  - {id: changes, from: index}
"""
PIPELINE = '''\
import atexit, json, os, time
from pathlib import Path
from graphs import load
from progress.runtime import Dataflow, Node, State

written, write = [], os.write

def noted(handle, content):
    done = write(handle, content)
    if bytes(content[:2]) == b'{"':
        written.append((time.monotonic(), done))
    return done

os.write = noted
atexit.register(lambda: Path("written").write_text(json.dumps(written)))


class Split(Node):
    """The words of a document, and where each stands."""

    def on_message(self, edge, at, document, out):
        number, due, text = document
        places = {}
        for place, word in enumerate(text.split()):
            places.setdefault(word, []).append(place)
        for word, where in places.items():
            out.send("words", at, (word, number, due, where))


class Index(Node):
    """Where each word is: up to 32 documents under one key, so that a key that has changed is soon written."""

    def __init__(self):
        self.places, self.counts = State(), State()

    def on_message(self, edge, at, found, out):
        word, number, due, where = found
        count = self.counts.get(word, 0)
        self.counts[word] = count + 1
        self.places.setdefault((word, count // 32), []).append((number, where))
        out.send("changes", at, [word, number, due, where, count])


dataflow = Dataflow(load("index.yaml"), {"split": Split, "index": Index})
'''


class Found(NamedTuple):
    """What one run took, in milliseconds a line."""

    engine: str
    mode: str
    every: float | None
    p50: float
    p95: float
    p99: float


def documents(seed: int = 1) -> Iterator[str]:
    """Texts in which a few words are frequent and most are rare."""
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(VOCABULARY)]
    weights = [1 / (number + 1) for number in range(VOCABULARY)]
    while True:
        yield " ".join(rng.choices(words, weights, k=WORDS))


def feed(to: Any, at_random: bool) -> int:
    """Write each document when it is due; how many there were."""
    due = time.monotonic() + 1.0
    texts, rng = documents(), random.Random(2)
    total = int(RATE * (SECONDS + WARM))
    for number in range(total):
        due += rng.expovariate(RATE) if at_random else 1 / RATE
        time.sleep(max(0.0, due - time.monotonic()))
        to.write(json.dumps({"time": 0, "value": [number, due, next(texts)]}).encode() + b"\n")
        to.flush()
    to.close()
    return total


def measured(engine: str, mode: str, every: float | None, at_random: bool = False) -> Found:
    """One run, in a process of its own, on a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "index.yaml").write_text(GRAPH)
        (folder / "index.py").write_text(PIPELINE)
        command = [sys.executable, "-m", "graphs", "run", "index.py", "--input", "documents=-", "--engine", engine]
        command += ["--output", "changes=out.jsonl"]
        if every is not None:
            delivery, *synced = mode.split()
            command += ["--state", "state", "--every", str(every), "--delivery", delivery]
            command += ["--synced"] if synced else []
        run = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, env=os.environ | {"PYTHONHASHSEED": "0"})
        assert run.stdin is not None
        total = feed(run.stdin, at_random)
        if run.wait() != 0:
            sys.exit(f"{' '.join(command)} has failed")
        return Found(engine, mode, every, *_percentiles(folder, total))


def _percentiles(folder: Path, total: int) -> tuple[float, float, float]:
    """Of all lines but those of the first documents; every document has to be there."""
    lines = (folder / "out.jsonl").read_bytes().splitlines(keepends=True)
    written = iter(json.loads((folder / "written").read_text()))
    at, room = next(written)
    delays: list[float] = []
    seen: set[int] = set()
    for line in lines:
        while room <= 0:
            at, more = next(written)
            room += more
        room -= len(line)
        message = json.loads(line)
        if "value" not in message:
            continue
        _, number, due, *_ = message["value"]
        seen.add(number)
        if number >= RATE * WARM:
            delays.append((at - due) * 1_000)
    if len(seen) != total:
        sys.exit(f"{total - len(seen)} of {total} documents have led to nothing")
    delays.sort()
    of = len(delays)
    return delays[of // 2], delays[of * 95 // 100], delays[of * 99 // 100]


def middles(wanted: Sequence[tuple[str, str, float | None]], at_random: bool = False) -> list[Found]:
    """Several runs of each engine, mode and interval, and of each percentile the middle one.

    They take turns: where the machine is slower for a while, it is so for all of them.
    """
    runs: dict[tuple[str, str, float | None], list[Found]] = {each: [] for each in wanted}
    for turn in range(TIMES):
        for each, found in runs.items():
            if turn == 0 or each[1] not in ONCE:
                found.append(measured(*each, at_random))
    return [
        Found(*each, *(sorted(of_runs)[len(found) // 2] for of_runs in zip(*(run[3:] for run in found), strict=True)))
        for each, found in runs.items()
    ]


def go_first() -> None:
    """From now on this process, and those that it starts, go before everything else, if they may."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except (OSError, AttributeError):
        print("beside what else the machine does: it does not let these runs go first")


def show(rows: Sequence[Found], when: str) -> None:
    """Print these rows beside the first, the run that is not kept."""
    for row in rows:
        how = f"{row.engine}: {row.mode}{'' if row.every is None else f', every {row.every * 1_000:.0f} ms'}{when}"
        print(f"{how:52} {row.p50:8.2f} {row.p95:8.2f} {row.p99:8.2f} {row.p50 / rows[0].p50:11.2f}", flush=True)


def main() -> None:
    """A table, with the ratio of each median to that of the run that is not kept; and the picture."""
    go_first()
    print(f"{'latency of an index, ms a line':52} {'p50':>8} {'p95':>8} {'p99':>8} {'p50, ratio':>11}")
    found = []
    for engine, what in ENGINES.items():
        kept = [(engine, mode, every) for mode in MODES for every in EVERY]
        rows = middles([(engine, "not kept", None), *kept])
        show(rows, "")
        print(f"  {engine}: {what}")
        found += rows
        kept = [(engine, "deterministic", every) for every in EVERY]
        show(middles([(engine, "not kept", None), *kept], at_random=True), ", at random")
    PICTURE.write_text(drawn([(row.engine, row.mode, row.every, (row.p50, row.p95, row.p99)) for row in found]))


if __name__ == "__main__":
    main()
