"""Kills `pointstamp run --state` of six pipelines at random instants, and judges what a reader of their outputs sees.

    python -m tests.kills.histories KILLS [--seed N] [--program NAME]... [--delivery MODE]...

A *history* is one command with one folder of state: killed by SIGKILL, started again, and so forth, until it may come
to its end. A reader follows its outputs all the while. Then `programs.py` judges what is there: values that are lost,
there twice, or against a promised order. It knows the command from outside alone: processes, their files, SIGKILL.
(`tests/commands/killer.py` does the same to one pipeline over pipes and all other kinds of inputs.)

Each kill is told by what could be seen from outside when it came:

* `starting`: the state was not opened yet,
* `recovery`: there is a checkpoint, and this process has taken no other one, nor called a node,
* `again`: it has called nodes, and no more has left than had before,
* `half joined in round 2 or later`: what a loop's join had then, on calls that are not to be made again,
* `working`: at any other time.

A last line of JSON has the number of kills by kind, and of what was wrong, which should be nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count, product
from pathlib import Path
from typing import Any

from tests.commands.killer import Start, commits, installed
from tests.commands.pipelines import ENGINES, PATIENCE, environment
from tests.kills.following import Reader
from tests.kills.program import Found, Program, Rows, frontier_broken, rows_of
from tests.kills.programs import PROGRAMS

MODES = ("deterministic", "barrier", "at-least-once")


class History:
    """One command, killed so often and then left to its end."""

    def __init__(
        self,
        folder: Path,
        program: type[Program],
        delivery: str,
        engine: str,
        kills: int,
        seed: str,
        start: Start = installed,
        spoil: str = "",
    ) -> None:
        self.name = f"{program.name}, {delivery}, {engine}, {seed}"
        self.folder = folder
        self.rng = rng = random.Random(self.name)
        self.program = program(seed)
        self.kills: Counter[str] = Counter()
        self.taken_back: list[str] = []
        self.may_repeat = delivery == "at-least-once"
        self._most = kills
        self._start = start
        self.program.files["killed.py"] = spoil + self.program.files["killed.py"]
        for name, text in self.program.files.items():
            (folder / name).write_text(text)
        every = rng.choice(("0", "0.01", "0.01", "0.05"))
        keep = ("--state=state", f"--every={every}", f"--delivery={delivery}", f"--engine={engine}")
        self._command = ["run", *self.program.arguments(), *keep]

    def run(self) -> Found:
        """Run it; what is wrong with its outputs in the end. `taken_back` says what a reader of them lost."""
        outputs = [self.folder / name for name in self.program.outputs]
        with Reader(*outputs, whole=self.may_repeat) as reader:
            while self._live(is_last=self.kills.total() >= self._most):
                pass
        self.taken_back = reader.taken_back
        found = self.program.judge(self.rows(), may_repeat=self.may_repeat)
        names = () if self.may_repeat else [name for name in self.program.outputs if name != "late"]
        broken = [f"{name}: {each}" for name in names for each in frontier_broken(self._text(name))]
        return found._replace(disorder=found.disorder + broken)

    def rows(self) -> Rows:
        """The values of each output."""
        return {name: rows_of(self._text(name)) for name in self.program.outputs}

    def _text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def _live(self, *, is_last: bool) -> bool:
        """Start it, and kill it at some instant; whether it was killed."""
        before, size = commits(self.folder / "state"), self._size()
        witness = self.folder / "witness"
        begun = witness.stat().st_size if witness.exists() else 0
        with (self.folder / "said").open("wb") as said:
            process = self._start(
                self._command, cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        try:
            if not is_last:
                self._wait(process, before, begun)
                if process.poll() is None:
                    has_state = self._has_state(process.pid)
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    seen = self._seen(begun)
                    has_kept = commits(self.folder / "state") != before
                    if not has_state:
                        kind = "starting"
                    elif before and not has_kept and not seen:
                        kind = "recovery"
                    else:
                        is_again = before and seen and self._size() == size
                        kind = self.program.kind(seen) or ("again" if is_again else "working")
                    self.kills[kind] += 1
                    return True
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
        text = (self.folder / "said").read_text()
        if process.returncode or text:
            raise AssertionError(f"{self.name}: exit code {process.returncode}: {text}")
        return False

    def _wait(self, process: subprocess.Popen[bytes], before: int, begun: int) -> None:
        """Let it come to an instant: of its start, of recovery, of its work or behind a checkpoint."""
        rng, witness = self.rng, self.folder / "witness"
        chance = rng.random()
        if chance < 0.05:
            time.sleep(rng.uniform(0, 0.1))
            return
        self._until(process, lambda: self._has_state(process.pid))
        if chance < 0.25:  # in the middle of recovery
            time.sleep(rng.uniform(0, 0.01))
            return
        if chance < 0.8:
            more = begun + rng.choice((1, 10, 100, 300, 1_000))
            self._until(process, lambda: witness.exists() and witness.stat().st_size >= more)
        elif chance < 0.95:
            self._until(process, lambda: commits(self.folder / "state") != before)
        time.sleep(rng.uniform(0, rng.choice((0.002, 0.02))))

    @staticmethod
    def _until(process: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end and not is_so():
            time.sleep(0.001)

    @staticmethod
    def _has_state(process: int) -> bool:
        try:
            return any(entry.readlink().name == "lock" for entry in Path(f"/proc/{process}/fd").iterdir())
        except OSError:
            return False

    def _seen(self, begun: int) -> list[tuple[Any, ...]]:
        """What the last life has written of its calls."""
        path = self.folder / "witness"
        lines = path.read_bytes()[begun:].decode().splitlines() if path.exists() else []
        return [literal_eval(line) for line in lines]

    def _size(self) -> int:
        return sum(path.stat().st_size for name in self.program.outputs if (path := self.folder / name).exists())


def killed(
    kills: int,
    seed: int,
    programs: Sequence[type[Program]] = PROGRAMS,
    modes: Sequence[str] = MODES,
    each: int = 4,
    start: Start = installed,
    spoil: str = "",
) -> Iterator[dict[str, Any]]:
    """Histories over all pipelines and modes, on the engines in turns, until there were so many kills.

    `spoil` is code that stands before that of each pipeline.
    """
    left = kills
    combinations = [*product(modes, programs)]
    for number in count():
        if left <= 0:
            return
        delivery, program = combinations[number % len(combinations)]
        engine = ENGINES[(number + number // len(combinations)) % len(ENGINES)]
        most = min(left, each + number % 2)
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            history = History(Path(folder), program, delivery, engine, most, f"{seed}.{number}", start, spoil)
            found = history.run()
        left -= history.kills.total()
        yield {
            "history": history.name,
            "kills": dict(history.kills),
            **found._asdict(),
            "taken back": history.taken_back,
        }


WRONG = ("lost", "twice", "disorder", "taken back")


def main() -> int:
    """Kill as often as the command line says; 0 where nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=6, help="kills of one history")
    parser.add_argument("--program", action="append", choices=[each.name for each in PROGRAMS])
    parser.add_argument("--delivery", action="append", choices=MODES)
    options = parser.parse_args()
    programs = [each for each in PROGRAMS if each.name in (options.program or [each.name])]
    kinds: Counter[str] = Counter()
    wrong: Counter[str] = Counter(dict.fromkeys(WRONG, 0))
    for found in killed(options.kills, options.seed, programs, options.delivery or MODES, options.each):
        print(json.dumps(found), flush=True)
        kinds.update(found["kills"])
        wrong.update({name: len(found[name]) for name in WRONG})
    print(json.dumps({"kills": kinds.total(), **kinds, **wrong}))
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
