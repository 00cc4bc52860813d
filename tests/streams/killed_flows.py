"""Kills `pointstamp run --state` of a program of streams at random instants, and judges what its outputs hold.

    python -m tests.streams.killed_flows KILLS [--seed N]

The program has what a flow can keep when it is killed: sums, a join half full, open sessions, states of keys, loops
under way, and a collection from which values go. A *history* is one command with one folder of state: killed, started
again with the same inputs, and so forth, until it may come to its end. What has to be in its files then is computed
here, from the lines that go in, by code that shares nothing with the runtime.

A kill is `in rounds` where an epoch had come to its third round and was not over, `half joined` where a row of a time
had met its partner and the time was not over, and `starting` where nothing had left yet.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tests.commands.forked import Forked
from tests.commands.pipelines import ENGINES, PATIENCE, environment

OUTPUTS = ("sums", "joined", "visits", "running", "ever", "rounds", "ends", "odd", "labels")
EPOCHS = 6
GAP = 2

FLOW = """\
from time import sleep
from pointstamp import Flow

def slowly(value):
    sleep(PAUSE)
    return value

def less(numbers):
    numbers.output("rounds")
    return numbers.map(slowly).map(lambda n: n // 2)

def halve(numbers):
    even, odd = numbers.branch(lambda n: n % 2 == 0)
    return even.map(lambda n: n // 2), odd

def spread(labels):
    told = labels.join(both, lambda place, label, neighbour: (neighbour, label))
    return told.concat(start).reduce(lambda place, names: [min(names)])

flow = Flow()
orders = flow.input("orders").map(tuple)
sold, paid = orders.map(slowly).keyed(), flow.input("paid").map(tuple).map(slowly).keyed()
sold.reduce(lambda a, b: a + b).output("sums")
sold.join(paid, lambda key, order, given: (key, order, given), how="left").output("joined")
sold.session(2).map(lambda s: (s[0], s[1], s[2], sorted(s[3]))).output("visits")
sold.stateful_map(0, lambda state, value: (state + value, state + value), order=lambda v: v).output("running")
sold.count(accumulate=True, name="counts").output("ever")
orders.map(lambda order: order[1]).iterate(less, name="less").output("ends")
orders.map(lambda order: order[1]).loop(halve, name="halve").output("odd")
roads = flow.collection("roads").map(tuple)
both = roads.flat_map(lambda r: [r, r[::-1]])
start = roads.flat_map(lambda r: [(place, place) for place in r]).distinct()
start.iterate(spread).changes().output("labels")
"""


class Inputs:
    """What comes in: for each input its values by time, and its lines."""

    def __init__(self, rng: random.Random) -> None:
        self.values: dict[str, list[tuple[int, Any]]] = defaultdict(list)
        self.lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
        present: list[tuple[int, int]] = []
        for epoch in range(EPOCHS):
            later = epoch + (epoch > 2)  # so that sessions end
            for edge, most in (("orders", 4), ("paid", 3)):
                for _ in range(rng.randint(0, most)):
                    at = later + rng.randint(0, 1)  # epochs come a little mixed
                    self._add(edge, at, [rng.choice("xyz"), rng.randint(1, 60)])
            for _ in range(rng.randint(0, 3)):
                if present and rng.random() < 0.4:
                    self._add("roads", later, [present.pop(rng.randrange(len(present))), -1])
                else:
                    present.append((rng.randint(0, 5), rng.randint(0, 5)))
                    self._add("roads", later, [present[-1], 1])
            for edge in ("orders", "paid", "roads"):
                self.lines[edge].append({"complete": [later + 1]})

    def _add(self, edge: str, at: int, value: Any) -> None:
        self.values[edge].append((at, value))
        self.lines[edge].append({"time": at, "value": value})

    def text(self, edge: str) -> str:
        """The lines of an input."""
        return "".join(json.dumps(line) + "\n" for line in self.lines[edge])


class Left(NamedTuple):
    """A value that leaves."""

    output: str
    time: str
    value: str


def left(output: str, at: Any, value: Any) -> Left:
    """It, as JSON has it."""
    return Left(output, json.dumps(at), json.dumps(value))


def expected(inputs: Inputs) -> Counter[Left]:
    """What has to be in the files."""
    found: Counter[Left] = Counter()
    by_time: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    given: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    numbers: dict[int, list[int]] = defaultdict(list)
    for at, (key, amount) in inputs.values["orders"]:
        by_time[at][key].append(amount)
        numbers[at].append(amount)
    for at, (key, amount) in inputs.values["paid"]:
        given[at][key].append(amount)
    state: Counter[str] = Counter()
    many: Counter[str] = Counter()
    visits: dict[str, list[tuple[int, int, list[int]]]] = defaultdict(list)
    for at in sorted(by_time):
        for key, amounts in by_time[at].items():
            found[left("sums", at, [key, sum(amounts)])] += 1
            many[key] += len(amounts)
            found[left("ever", at, [key, many[key]])] += 1
            for amount in sorted(amounts):
                state[key] += amount
                found[left("running", at, [key, state[key]])] += 1
                for other in given[at][key] or [None]:  # type: ignore[list-item]
                    found[left("joined", at, [key, amount, other])] += 1
            if visits[key] and at <= visits[key][-1][1] + GAP:
                first, _, before = visits[key].pop()
                visits[key].append((first, at, before + amounts))
            else:
                visits[key].append((at, at, amounts))
        bag = sorted(numbers[at])
        for turn in count():
            for number in bag:
                found[left("rounds", [at, turn], number)] += 1
            after = [number // 2 for number in bag]
            if after == bag:
                break
            bag = after
        for number in bag:
            found[left("ends", at, number)] += 1
        for number in numbers[at]:
            while number % 2 == 0:
                number //= 2
            found[left("odd", at, number)] += 1
    for key, each in visits.items():
        for first, last, amounts in each:
            found[left("visits", last + GAP, [key, first, last, sorted(amounts)])] += 1
    _add_labels(found, inputs.values["roads"])
    return found


def _add_labels(found: Counter[Left], changes: list[tuple[int, Any]]) -> None:
    """How the smallest place to which each hangs together changes, from time to time."""
    roads: Counter[tuple[int, int]] = Counter()
    before: set[tuple[int, int]] = set()
    for at in sorted({at for at, _ in changes}):
        for road, change in (value for when, value in changes if when == at):
            roads[tuple(road)] += change
        label = {place: place for road in +roads for place in road}
        for _ in label:
            for one, other in +roads:
                label[one] = label[other] = min(label[one], label[other])
        now = set(label.items())
        for gone in before - now:
            found[left("labels", at, [gone, -1])] += 1
        for come in now - before:
            found[left("labels", at, [come, 1])] += 1
        before = now


def put_out(folder: Path) -> Counter[Left]:
    """What is in the files, but for a line that a kill has torn."""
    found: Counter[Left] = Counter()
    for name in OUTPUTS:
        path = folder / name
        for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
            if line.endswith(b"\n") and "value" in (said := json.loads(line)):
                found[left(name, said["time"], said["value"])] += 1
    return found


def kind(found: Counter[Left], right: Counter[Left]) -> str:
    """When it was killed, as far as it is to be seen from what had left."""
    if not found:
        return "starting"
    open_sums = {each.time for each in right - found if each.output == "sums"}
    open_ends = {each.time for each in right - found if each.output == "ends"}
    if any(
        each.output == "rounds" and (at := json.loads(each.time))[1] >= 2 and json.dumps(at[0]) in open_ends
        for each in found
    ):
        return "in rounds"
    if any(each.output == "joined" and each.time in open_sums for each in found):
        return "half joined"
    return "working"


class History:
    """One command, killed so often and then left to its end."""

    def __init__(self, folder: Path, engine: str, kills: int, seed: str) -> None:
        self.name = f"{engine}, {seed}"
        self.folder = folder
        self.rng = rng = random.Random(f"{seed} {engine}")
        self.most = kills
        self.kills: Counter[str] = Counter()
        self.inputs = Inputs(rng)
        self.right = expected(self.inputs)
        pause = rng.choice((0.0005, 0.002, 0.005))
        (folder / "killed.py").write_text(f"PAUSE = {pause}\n{FLOW}")
        for edge in ("orders", "paid", "roads"):
            (folder / f"{edge}.jsonl").write_text(self.inputs.text(edge))
        ends = [f"--input={edge}={edge}.jsonl" for edge in ("orders", "paid", "roads")]
        ends += [f"--output={name}={name}" for name in OUTPUTS]
        every = rng.choice(("0", "0", "0.01"))
        self.arguments = ["run", "killed.py", *ends, "--state=state", f"--every={every}", f"--engine={engine}"]

    def run(self) -> tuple[Counter[Left], Counter[Left]]:
        """Run it; what was lost, and what is there too often."""
        while True:
            process = Forked(self.arguments, self.folder, environment())
            try:
                if sum(self.kills.values()) < self.most:
                    self._wait(process)
                    if process.poll() is None:
                        process.send_signal(signal.SIGKILL)
                        process.communicate()
                        found = put_out(self.folder)
                        self.kills[kind(found, self.right)] += 1
                        if found - self.right:
                            return Counter(), found - self.right
                        continue
                said = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
            if process.returncode or any(said):
                raise AssertionError(f"{self.name}: exit code {process.returncode}: {said}")
            found = put_out(self.folder)
            return self.right - found, found - self.right

    def _wait(self, process: Forked) -> None:
        """Let it come to the instant at which it is killed: mostly when more has left."""
        end = time.monotonic() + PATIENCE
        before = self._size()
        if self.rng.random() < 0.9:
            more = self.rng.choice((1, 100, 1_000))
            while process.poll() is None and self._size() < before + more and time.monotonic() < end:
                time.sleep(0.001)
        time.sleep(self.rng.uniform(0, 0.02))

    def _size(self) -> int:
        return sum(path.stat().st_size for name in OUTPUTS if (path := self.folder / name).exists())


def killed(kills: int, seed: int) -> Iterator[dict[str, Any]]:
    """Histories, on each engine in turn, until there were so many kills."""
    left_over = kills
    for number in count():
        if left_over <= 0:
            return
        with tempfile.TemporaryDirectory(prefix="killed-flows-") as folder:
            history = History(Path(folder), ENGINES[number % 3], min(left_over, 2 + number % 3), f"{seed}.{number}")
            lost, twice = history.run()
        left_over -= sum(history.kills.values())
        yield {
            "history": history.name,
            "kills": dict(history.kills),
            "lost": sorted(lost.elements()),
            "twice": sorted(twice.elements()),
        }


def main() -> int:
    """Kill as often as the command line says; 0 where nothing is lost, and nothing there twice."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    wrong = 0
    for found in killed(options.kills, options.seed):
        print(json.dumps(found), flush=True)
        kinds.update(found["kills"])
        wrong += len(found["lost"]) + len(found["twice"])
    print(json.dumps({"kills": kinds.total(), **kinds, "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
