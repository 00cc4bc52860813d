"""Kills `pointstamp run --state` at random instants, again and again, and judges what its outputs hold in the end.

    python -m tests.commands.killer KILLS [--seed N] [--engine ENGINE]... [--inputs KIND]...

It knows the command from outside alone and imports nothing of the project: it starts processes, feeds their pipes, ends
them by SIGKILL, and reads their files. What has to come out is computed here, from the lines that go in.

A *history* is one command with one folder of state: killed, started again with all lines from the first on, and so
forth, until it may come to its end. Then every value has to be in its file once. (`tests/kills/histories.py` does the
same to six pipelines, in each way of delivery.) Each kill is told by what could be seen from outside when it came:

* `starting`: the state was not opened yet,
* `recovery`: there is a checkpoint, the process has opened the state, and has neither taken a byte from a pipe nor
  another checkpoint,
* `again`: it has taken lines of a pipe, and values have left that come of lines which the pipe has not brought again;
  `again, kept`: and it has taken a checkpoint meanwhile,
* `ending`: its inputs are closed,
* `working`: at any other time.

A last line of JSON has the number of kills by kind, and what was lost or is there twice, which should be nothing.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).parent / "pointstamp")
Start = Callable[..., "subprocess.Popen[bytes]"]


def installed(arguments: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """The installed command, in an interpreter of its own."""
    return subprocess.Popen([COMMAND, *arguments], **how)


ENGINES = ("threads", "sim", "asyncio")
EPOCHS = 12
PATIENCE = 60.0  # seconds; only what hangs takes so long
OUTPUTS = ("each", "totals", "counts")

GRAPH = """\
pointstamp: 1
nodes:
  total: {}
  enter: {emits: {begin: enter}, notify: false}
  turn:  {time: {lex: [nat, nat]}, emits: {turned: leave}, notify: false}
  again: {time: {lex: [nat, nat]}, summary: feedback, notify: false}
  count: {}
edges:
  - {id: left, to: total}
  - {id: right, to: total}
  - {id: totals, from: total}
  - {id: seen, from: total, to: enter}
  - {id: begin, from: enter, to: turn}
  - {id: next, from: turn, to: again}
  - {id: back, from: again, to: turn}
  - {id: turned, from: turn, to: count}
  - {id: each, from: count}
  - {id: counts, from: count}
"""
CODE = """\
import json
from time import sleep
from graphs import JsonLines, load
from progress.runtime import Complete, Dataflow, Node
from progress.runtime.policies import explicit

class Total(Node):
    def __init__(self): self.sums = {}
    def on_message(self, edge, time, value, out):
        found = self.sums.setdefault(time, [0, 0])
        found[0] += value[0]
        found[1] += 1
        out.request(time)
        out.send("seen", time, value[0])
    def on_notify(self, time, out):
        out.send("totals", time, self.sums.pop(time))

class Turn(Node):
    def on_message(self, edge, time, value, out):
        sleep(PAUSE)
        if time[1] == value % 4:
            out.send("turned", time[0], value)
        else:
            out.send("next", time, value)

class Count(Node):
    def __init__(self): self.counts = {}
    def on_message(self, edge, time, value, out):
        self.counts[time] = self.counts.get(time, 0) + 1
        out.request(time)
        out.send("each", time, value)
    def on_notify(self, time, out):
        out.send("counts", time, self.counts.pop(time))

def generated():
    with open("left.jsonl", "rb") as lines:
        for line in filter(bytes.strip, lines):
            sleep(PAUSE)
            said = json.loads(line)
            yield (said["time"], said["value"]) if "time" in said else Complete(said["complete"])

PAUSE = 0
SOURCES = {}
dataflow = Dataflow(load("killed.yaml"), {"total": Total(), "turn": Turn(), "count": Count()}, sources=SOURCES)
"""

# what `left` and `right` are: on the command line, and as sources of the pipeline
KINDS: dict[str, tuple[dict[str, str], str]] = {
    "standard input": ({"left": "-", "right": "right.jsonl"}, ""),
    "named pipe": ({"left": "left.pipe", "right": "right.jsonl"}, ""),
    "two pipes": ({"left": "left.pipe", "right": "-"}, ""),
    "JsonLines": ({"right": "right.jsonl"}, '{"left": JsonLines("-")}'),
    "policy": ({"right": "right.jsonl"}, '{"left": explicit(JsonLines("-"))}'),
    "generator": ({"right": "right.jsonl"}, '{"left": generated}'),
    "files": ({"left": "left.jsonl", "right": "right.jsonl"}, ""),
}
PIPES = {"-": "standard input", "left.pipe": "left.pipe"}


class Lines:
    """What one input brings: its text, and which values are on which line."""

    def __init__(self, rng: random.Random, first: int) -> None:
        self.lines: list[bytes] = []
        self.values: list[tuple[int, int] | None] = []  # time and value of each line that has one
        value = first
        for epoch in range(EPOCHS):
            for _ in range(rng.randint(0, 6)):
                late_by = rng.randint(0, 1)  # epochs come a little mixed
                padding = "x" * rng.choice((0, 0, 0, 7, 300, 9_000))
                self._add({"time": epoch + late_by, "value": [value, padding]}, (epoch + late_by, value), rng)
                value += 1
            self._add({"complete": [epoch + 1]}, None, rng)
        self.text = b"".join(self.lines)

    def _add(self, said: object, value: tuple[int, int] | None, rng: random.Random) -> None:
        before = b"\n" if rng.random() < 0.1 else b""
        self.lines.append(before + json.dumps(said).encode() + rng.choice((b"\n", b"\n", b"\r\n")))
        self.values.append(value)

    def size(self, lines: int) -> int:
        """The bytes of the first so many lines."""
        return sum(map(len, self.lines[:lines]))

    def known(self, values: set[int]) -> int:
        """The number of lines up to the last one that has a value among these."""
        found = [number for number, each in enumerate(self.values, 1) if each is not None and each[1] in values]
        return max(found, default=0)


def expected(inputs: Sequence[Lines]) -> Counter[tuple[str, str]]:
    """What has to be in the files: output, and the line of it with its keys in order."""
    sums: dict[int, list[int]] = {}
    found: Counter[tuple[str, str]] = Counter()
    for given in inputs:
        for each in given.values:
            if each is not None:
                at, value = each
                found["each", json.dumps([at, value])] += 1
                total = sums.setdefault(at, [0, 0])
                total[0] += value
                total[1] += 1
    for at, (total_of, many) in sums.items():
        found["totals", json.dumps([at, [total_of, many]])] += 1
        found["counts", json.dumps([at, many])] += 1
    return found


def put_out(folder: Path) -> Counter[tuple[str, str]]:
    """What is in the files, but for a line that a kill has torn."""
    found: Counter[tuple[str, str]] = Counter()
    for name in OUTPUTS:
        path = folder / name
        for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
            if line.endswith(b"\n"):
                said = json.loads(line)
                if "value" in said:
                    found[name, json.dumps([said["time"], said["value"]])] += 1
    return found


class Pipe:
    """A pipe into the process, and how much of its lines this process was given."""

    def __init__(self, given: Lines) -> None:
        self.given = given
        self.handle: int | None = None
        self.bytes = 0

    def open(self, handle: int) -> None:
        """Begin anew, with another process at the other end."""
        self.handle, self.bytes = handle, 0
        os.set_blocking(handle, False)

    def taken(self) -> int:
        """How many bytes the process has taken."""
        if self.handle is None:
            return 0
        waiting = bytearray(4)
        fcntl.ioctl(self.handle, termios.FIONREAD, waiting)
        return self.bytes - int.from_bytes(waiting, sys.byteorder)

    def lines_given(self) -> int:
        """How many lines were given, the one that was begun included."""
        size = number = 0
        while size < self.bytes:
            size += len(self.given.lines[number])
            number += 1
        return number

    def give(self, until: int, most: int) -> bool:
        """Give some bytes up to a place; whether that is reached."""
        if self.handle is None:
            return True
        chunk = self.given.text[self.bytes : min(until, self.bytes + most)]
        if chunk and select.select([], [self.handle], [], 0.01)[1]:
            try:
                self.bytes += os.write(self.handle, chunk)
            except BlockingIOError:
                pass
            except BrokenPipeError:  # nobody reads it: the process has ended, or its input had
                return True
        return self.bytes >= until

    def close(self) -> None:
        """Nothing more comes."""
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


class Life:
    """One process of a history."""

    def __init__(self, history: History) -> None:
        self.history = history
        folder = history.folder
        self.before = commits(folder / "state")
        self.is_closed = False
        has_standard_input = "standard input" in history.pipes
        with (folder / "stderr").open("wb") as errors:
            self.process = history.start(
                ["run", *history.arguments],
                cwd=folder,
                env={**os.environ, "PYTHONUTF8": "1"},
                stdin=subprocess.PIPE if has_standard_input else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        if has_standard_input:
            assert self.process.stdin is not None
            history.pipes["standard input"].open(os.dup(self.process.stdin.fileno()))
            self.process.stdin.close()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended by itself."""
        return self.process.poll() is not None

    def wait(self, until: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait until something is so, or the process has ended."""
        end = time.monotonic() + patience
        while not until() and not self.is_over:
            if time.monotonic() > end:
                if patience == PATIENCE:
                    raise AssertionError(f"{self.history.name}: it hangs")
                return
            time.sleep(0.001)

    def has_state(self) -> bool:
        """Whether the process has opened the folder of the state."""
        try:
            handles = [entry.readlink().name for entry in Path(f"/proc/{self.process.pid}/fd").iterdir()]
        except OSError:
            return False
        return "lock" in handles

    def open_pipes(self) -> None:
        """Open the named pipes, once the process reads them."""
        for name, pipe in self.history.pipes.items():
            if name != "standard input" and pipe.handle is None:
                while not self.is_over:
                    try:
                        pipe.open(os.open(self.history.folder / name, os.O_WRONLY | os.O_NONBLOCK))
                        break
                    except OSError:  # nobody reads it yet
                        time.sleep(0.001)

    def feed(self, lines: Sequence[int]) -> None:
        """Give the pipes so many of their lines each, in pieces of any size."""
        rng = self.history.rng
        self.open_pipes()
        pipes = [(pipe, pipe.given.size(most)) for pipe, most in zip(self.history.pipes.values(), lines, strict=True)]
        end = time.monotonic() + PATIENCE
        while pipes and not self.is_over:
            pipes = [(pipe, until) for pipe, until in pipes if not pipe.give(until, rng.choice((20, 200, 5_000)))]
            if time.monotonic() > end:
                raise AssertionError(f"{self.history.name}: nobody reads its pipe")
            if rng.random() < 0.1:
                time.sleep(rng.uniform(0, 0.004))

    def close_pipes(self) -> None:
        """Close the inputs."""
        self.is_closed = True
        for pipe in self.history.pipes.values():
            pipe.close()

    def kill(self) -> str:
        """Kill it, and tell when that was."""
        has_state = self.has_state()
        taken = [pipe.taken() for pipe in self.history.pipes.values()]
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return self._kind(has_state, taken)

    def _kind(self, has_state: bool, taken: Sequence[int]) -> str:
        if not has_state:
            return "starting"
        has_kept = commits(self.history.folder / "state") != self.before
        if self.before and not has_kept and not any(taken) and not self.is_closed:
            return "recovery"
        if self.is_closed:
            return "ending"
        left = self.history.left()
        for pipe, bytes_taken in zip(self.history.pipes.values(), taken, strict=True):
            if bytes_taken and pipe.given.known(left) > pipe.lines_given():
                return "again, kept" if has_kept else "again"
        return "working"


def commits(state: Path) -> int:
    """How many checkpoints a state says that it has had."""
    try:
        lines = (state / "head").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return max((int(line.split()[0]) for line in lines), default=0)


class History:
    """One command, killed so often and then left to its end."""

    def __init__(
        self, folder: Path, engine: str, inputs: str, kills: int, seed: str, spoil: str = "", start: Start = installed
    ) -> None:
        self.start = start
        self.name = f"{engine}, {inputs}, {seed}"
        self.folder = folder
        self.rng = random.Random(f"{seed} {engine} {inputs}")
        self.kills: Counter[str] = Counter()
        self.most = kills
        self.given = {"left": Lines(self.rng, 1_000), "right": Lines(self.rng, 5_000)}
        files, sources = KINDS[inputs]
        names = {**files, **({"left": "-"} if "JsonLines(" in sources else {})}
        self.pipes = {PIPES[file]: Pipe(self.given[edge]) for edge, file in names.items() if file in PIPES}
        code = CODE.replace("SOURCES = {}", f"SOURCES = {sources or {}}")
        pauses = (0, 0, 0.002, 0.01) if self.pipes else (0.002, 0.01)
        code = code.replace("PAUSE = 0", f"PAUSE = {self.rng.choice(pauses)}")
        (folder / "killed.yaml").write_text(GRAPH)
        (folder / "killed.py").write_text(spoil + code)
        for edge, lines in self.given.items():
            (folder / f"{edge}.jsonl").write_bytes(lines.text)
        os.mkfifo(folder / "left.pipe")
        ends = [
            *(f"--input={edge}={file}" for edge, file in files.items()),
            *(f"--output={out}={out}" for out in OUTPUTS),
        ]
        every = self.rng.choice(("0", "0", "0.02"))
        self.arguments = ["killed.py", *ends, "--state=state", f"--every={every}", f"--engine={engine}"]

    def left(self) -> set[int]:
        """The values of lines of which something has left."""
        return {json.loads(line)[1] for name, line in put_out(self.folder) if name == "each"}

    def run(self) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
        """Run it; what was lost, and what is there too often."""
        while sum(self.kills.values()) < self.most:
            life = Life(self)
            try:
                self._live(life)
                if life.is_over:
                    break
                self.kills[life.kill()] += 1
            finally:
                life.process.kill()
                life.process.wait()
                life.close_pipes()
            twice = Counter({key: count - 1 for key, count in put_out(self.folder).items() if count > 1})
            if twice:
                return Counter(), twice
        else:
            life = Life(self)
            try:
                life.feed([len(pipe.given.lines) for pipe in self.pipes.values()])
                life.close_pipes()
                life.wait(lambda: False)
            finally:
                life.process.kill()
                life.process.wait()
        said = (self.folder / "stderr").read_text()
        if life.process.returncode or said:
            raise AssertionError(f"{self.name}: exit code {life.process.returncode}: {said}")
        right, found = expected([*self.given.values()]), put_out(self.folder)
        return right - found, found - right

    def _live(self, life: Life) -> None:
        """Let a process come to the instant at which it is killed."""
        rng = self.rng
        chance = rng.random() if life.before else 0.8
        if chance < 0.04:
            life.wait(lambda: False, rng.uniform(0, 0.2))
            return
        life.wait(life.has_state)
        if chance < 0.2:  # in the middle of recovery
            life.wait(lambda: False, rng.uniform(0, 0.02))
            return
        left = self.left()
        all_lines = [len(pipe.given.lines) for pipe in self.pipes.values()]
        known = [pipe.given.known(left) for pipe in self.pipes.values()]
        more = [min(all_lines[number], most + rng.randint(1, 15)) for number, most in enumerate(known)]
        if (
            chance < 0.75 and max(known, default=0) > 1
        ):  # while lines come again; where there are two pipes, on one of them
            again = rng.choice([number for number, most in enumerate(known) if most > 1])
            more[again] = rng.randint(1, known[again] - 1)
            life.feed(more)
            life.wait(self._has_taken_all)
            if rng.random() < 0.7:
                life.wait(self._has_kept(), 0.1)
            life.wait(lambda: False, rng.uniform(0, 0.02))
            return
        life.feed(more)
        if chance > 0.95:
            life.feed(all_lines)
            life.close_pipes()
        elif rng.random() < 0.7:
            life.wait(self._has_taken_all)
            life.wait(lambda: not self.pipes or self.left() > left, 0.2)
            life.wait(self._has_kept(), 0.1 if self.pipes else 5)  # what no pipe holds up keeps something, or ends
        life.wait(lambda: False, rng.uniform(0, 0.06))

    def _has_kept(self) -> Callable[[], bool]:
        """Whether a process has taken a checkpoint since now."""
        before = commits(self.folder / "state")
        return lambda: commits(self.folder / "state") != before

    def _has_taken_all(self) -> bool:
        return all(pipe.taken() == pipe.bytes for pipe in self.pipes.values())


def killed(
    kills: int,
    seed: int,
    engines: Sequence[str] = ENGINES,
    inputs: Sequence[str] = tuple(KINDS),
    spoil: str = "",
    start: Start = installed,
) -> Iterator[dict[str, object]]:
    """Histories, of engines and kinds of inputs in turns, until there were so many kills of what `start` starts."""
    left = kills
    for number in count():
        if left <= 0:
            return
        kind, engine = inputs[number % len(inputs)], engines[number % len(engines)]
        with tempfile.TemporaryDirectory(prefix="killed-") as folder:
            history = History(Path(folder), engine, kind, min(left, 4 + number % 3), f"{seed}.{number}", spoil, start)
            lost, twice = history.run()
            left -= sum(history.kills.values())
            yield {
                "history": history.name,
                "kills": dict(history.kills),
                "lost": sorted(lost.elements()),
                "twice": sorted(twice.elements()),
            }


def main() -> int:
    """Kill as often as the command line says; 0 where nothing is lost, and nothing there twice."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", action="append", choices=ENGINES)
    parser.add_argument("--inputs", action="append", choices=[*KINDS])
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    histories = lost = twice = 0
    for found in killed(options.kills, options.seed, options.engine or ENGINES, options.inputs or [*KINDS]):
        print(json.dumps(found), flush=True)
        histories += 1
        kinds.update(found["kills"])  # type: ignore[call-overload]
        lost += len(found["lost"])  # type: ignore[arg-type]
        twice += len(found["twice"])  # type: ignore[arg-type]
    print(json.dumps({"histories": histories, "kills": kinds.total(), **kinds, "lost": lost, "twice": twice}))
    return 1 if lost or twice else 0


if __name__ == "__main__":
    sys.exit(main())
