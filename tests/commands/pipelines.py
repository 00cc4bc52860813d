"""Pipelines that tests run as a command: graph files, Python files, inputs; and what running them takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.commands.calls import compiled
from tests.commands.forked import Forked

COMMAND = str(Path(sys.executable).parent / "pointstamp")
ENGINES = ("sim", "threads", "asyncio")
PATIENCE = 60  # seconds; only what hangs takes so long

TOTALS_YAML = """\
pointstamp: 1
nodes: {total: {}}
edges:
  - {id: numbers, to: total}
  - {id: totals, from: total}
"""
TOTALS = """\
from graphs import load
from progress.runtime import Dataflow, Node

class Total(Node):
    def __init__(self): self.sums = {}
    def on_message(self, edge, time, value, out):
        self.sums[time] = self.sums.get(time, 0) + value
        out.request(time)                      # tell me when nothing at or below `time` can arrive any more
    def on_notify(self, time, out):
        out.send("totals", time, self.sums.pop(time))
dataflow = Dataflow(load("totals.yaml"), {"total": Total()})
"""

# A graph that calls itself twice for each number: Fibonacci's.
FIBONACCI_YAML = """\
pointstamp: 1
time: {product: [nat, stack]}
recursion: {in: entry, out: exit, calls: [left, right]}
nodes: {entry: {}, split: {}, left: {}, right: {}, combine: {}, exit: {}}
edges:
  - {id: numbers, to: entry}
  - {from: entry, to: split}
  - {from: split, to: left}
  - {from: split, to: right}
  - {from: left, to: combine}
  - {from: right, to: combine}
  - {from: split, to: exit}
  - {from: combine, to: exit}
"""
SUMS = "  - {id: sums, from: combine}\n"  # an edge by which they leave

# Numbers go round a loop by Collatz' rule until they are 1. Each tells how many rounds it took, each round how many
# are in it when it is complete, and each epoch the longest way.
COLLATZ_YAML = """\
pointstamp: 1
nodes:
  enter: {emits: {begin: enter}, notify: false}
  step:  {time: {lex: [nat, nat]}, emits: {arrived: leave}}
  again: {time: {lex: [nat, nat]}, summary: feedback, notify: false}
  most:  {}
edges:
  - {id: numbers, to: enter}
  - {id: begin, from: enter, to: step}
  - {id: next, from: step, to: again}
  - {id: back, from: again, to: step}
  - {id: rounds, from: step}
  - {id: arrived, from: step, to: most}
  - {id: ways, from: most}
  - {id: longest, from: most}
"""
COLLATZ = """\
from time import sleep
from graphs import load
from progress.runtime import Dataflow, Node

PAUSE = 0

class Step(Node):
    def __init__(self):
        self.counts = {}

    def on_message(self, edge, time, value, out):
        start, number = (value, value) if edge == "begin" else value
        self.counts[time] = self.counts.get(time, 0) + 1
        out.request(time)
        if number == 1:
            out.send("arrived", time[0], [start, time[1]])
        else:
            out.send("next", time, (start, number // 2 if number % 2 == 0 else 3 * number + 1))
        if PAUSE:
            sleep(PAUSE)

    def on_notify(self, time, out):
        out.send("rounds", time, self.counts.pop(time))

class Most(Node):
    def __init__(self):
        self.longest = {}

    def on_message(self, edge, time, value, out):
        out.send("ways", time, value)
        self.longest[time] = max(self.longest.get(time, (0, 0)), (value[1], value[0]))
        out.request(time)

    def on_notify(self, time, out):
        out.send("longest", time, self.longest.pop(time)[1])

dataflow = Dataflow(load("collatz.yaml"), {"step": Step(), "most": Most()})
"""


def way(number: int) -> list[int]:
    """A number and what Collatz' rule makes of it, down to 1."""
    found = [number]
    while found[-1] != 1:
        found.append(found[-1] // 2 if found[-1] % 2 == 0 else 3 * found[-1] + 1)
    return found


def collatz_values(epochs: list[list[int]]) -> Counter[tuple[str, str, str]]:
    """What the pipeline has to put out: edge, time and value, as JSON."""
    found: Counter[tuple[str, str, str]] = Counter()

    def add(edge: str, time: Any, value: Any) -> None:
        found[edge, json.dumps(time), json.dumps(value)] += 1

    for epoch, numbers in enumerate(epochs):
        ways = {number: way(number) for number in numbers}
        for number in numbers:
            add("ways", epoch, [number, len(ways[number]) - 1])
        for length in range(max(map(len, ways.values()), default=0)):
            add("rounds", [epoch, length], sum(len(ways[number]) > length for number in numbers))
        if numbers:
            add("longest", epoch, max((len(ways[number]), number) for number in numbers)[1])
    return found


def message_lines(epochs: list[list[int]]) -> str:
    """Numbers of epochs as lines of an input, each epoch completed at its end."""
    lines = []
    for epoch, numbers in enumerate(epochs):
        lines += [json.dumps({"time": epoch, "value": number}) for number in numbers]
        lines.append(json.dumps({"complete": [epoch + 1]}))
    return "".join(f"{line}\n" for line in lines)


class Result(NamedTuple):
    """How a command ended."""

    exit_code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output, line by line."""
        return lines_of(self.out)

    @property
    def json(self) -> Any:
        """Standard output, as one JSON value."""
        return json.loads(self.out)

    @property
    def file(self) -> dict[str, Any]:
        """The only file of a report in JSON."""
        assert self.json["format_version"] == 1
        assert set(self.json) == {"format_version", "files"}
        (found,) = self.json["files"]
        assert isinstance(found, dict)
        return found

    @property
    def complaint(self) -> str:
        """The only line on standard error."""
        (line,) = self.err.splitlines()
        return line


def lines_of(text: str) -> list[dict[str, Any]]:
    """JSON lines, all of them whole."""
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def values_of(lines: list[dict[str, Any]], edge: str | None = None) -> Counter[tuple[str, str, str]]:
    """The values in lines as a multiset: edge, time and value, as JSON."""
    return Counter(
        (edge or line["edge"], json.dumps(line["time"]), json.dumps(line["value"])) for line in lines if "value" in line
    )


def write(folder: Path, **files: str) -> None:
    """Files by name, with __ for the dot."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


def environment(**variables: str) -> dict[str, str]:
    """This process's environment, and more."""
    return {**os.environ, "PYTHONUTF8": "1", **variables}


def run(folder: Path, *arguments: str, stdin: str = "", **variables: str) -> Result:
    """Run the command in a folder."""
    process = started(folder, *arguments, **variables)
    try:
        out, err = process.communicate(stdin.encode(), timeout=PATIENCE)
    except BaseException:
        process.kill()
        raise
    return Result(process.wait(), out.decode(), err.decode())


def started(folder: Path, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    """The command, running: standard input and output are pipes."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    if any(name.startswith("PYTHON") for name in variables):  # what an interpreter reads when it starts
        return subprocess.Popen([COMMAND, "run", *arguments], cwd=folder, env=environment(**variables), **pipes)
    return Forked(["run", *arguments], cwd=folder, env=environment(**variables), **pipes)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started, if it is not over, and let its pipes go."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@cache
def _calls() -> tuple[Path, TemporaryDirectory[str]]:
    """The library that harms calls of the system, in a folder that goes when this process ends."""
    folder = TemporaryDirectory(prefix="calls-")
    return compiled(Path(folder.name)), folder


def killed_everywhere(folder: Path, every: int, *arguments: str, error: int = 0, deep: int = 3) -> list[dict[str, Any]]:
    """What `killed_everywhere.py` says of a command that is harmed at every so manieth call: a dict a round."""
    killer = Path(__file__).with_name("killed_everywhere.py")
    done = subprocess.run(
        [sys.executable, str(killer), str(folder), str(every), str(error), str(deep), "run", *arguments],
        env=environment(PYTHONPATH=str(Path(__file__).parents[2]), LD_PRELOAD=str(_calls()[0])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(each["exit_code"] == 0 for each in rounds), [each for each in rounds if each["exit_code"]][:1]
    assert all(each["said"] == [] for each in rounds) or error
    assert rounds[-1]["kills"] == 0
    return rounds
