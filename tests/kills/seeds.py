"""Runs of the engine `sim` that crash at a random instant and go on, compared with the run of that seed without that.

    python -m tests.kills.seeds FIRST COUNT

A seed decides the pipeline, its inputs, every choice of the engine, and when it crashes: a run in a child that is
forked ends there by SIGKILL, in the midst of a step, of a checkpoint or of a write. Then another one goes on from its
folder, which may crash as well, and one that may come to its end. What it has put out then has to be what the run
without a crash put out, to the byte; with `at-least-once` all of that, and nothing else.

A seed takes some milliseconds: nothing is started but what `fork` starts, and the folder should be in memory.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from graphs import JsonLines
from progress.errors import PointstampError
from progress.runtime import Dataflow
from progress.runtime.actions.core import Core
from tests.commands.pipelines import FIBONACCI_YAML, SUMS
from tests.kills.of_one_order import Keyed, TwoInputs
from tests.kills.of_one_result import Loop, Recursion, Sessions
from tests.kills.program import Program
from tests.runtime.tools import killed

KINDS: tuple[type[Program], ...] = (Loop, TwoInputs, Keyed, Recursion, Sessions)
DELIVERIES = ("deterministic", "deterministic", "barrier", "at-least-once")
CALLS = ("write", "pwrite", "fsync", "fdatasync", "ftruncate", "unlink")
EPOCHS = 2
MOST = 3  # crashes of one seed
MEMORY = Path("/dev/shm")


class Case:
    """All that a seed decides, and its files."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed = seed
        self.folder = folder
        self.rng = rng = random.Random(seed)
        self.program = rng.choice(KINDS)(str(seed), EPOCHS)
        self.delivery = rng.choice(DELIVERIES)
        self.every = rng.choice((0, 0, 0.001, 1_000))
        self.crashes = 0
        self._inputs = [name for name in self.program.files if name.endswith(".jsonl")]
        for name in self._inputs:
            (folder / name).write_text(self.program.files[name])

    def run(self, outputs: str, at: int = 0, **how: Any) -> None:
        """Run it; `at` says at which event it crashes: a step of the run, or a call that changes a file."""
        seen = 0

        def event(*_: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)

        if at:
            for name in CALLS:
                setattr(os, name, _after(event, getattr(os, name)))
            Core.commit = _after(event, Core.commit)  # type: ignore[method-assign]
        _dataflow(self.program.code()).run(
            seed=self.seed,
            sources={Path(name).stem: JsonLines(self.folder / name) for name in self._inputs},
            sinks={name: JsonLines(self.folder / f"{outputs}-{name}") for name in self.program.outputs},
            **how,
        )

    def goes_on(self) -> None:
        """Run it with a folder, and let it crash some times."""
        how: dict[str, Any] = {"state": self.folder / "state", "every": self.every, "delivery": self.delivery}
        most = self.rng.choice((20, 60, 200))
        for _ in range(self.rng.randint(1, MOST)):
            at = self.rng.randint(1, most)
            if not killed(lambda at=at: self.run("kept", at, **how)):  # type: ignore[misc]
                break
            self.crashes += 1
        self.run("kept", **how)

    def wrong(self) -> list[str]:
        """The outputs that are not what they are without a crash."""
        self.run("right")
        self.goes_on()
        found = []
        for name in self.program.outputs:
            right, kept = ((self.folder / f"{which}-{name}").read_text() for which in ("right", "kept"))
            is_right = (
                {*right.splitlines()} == {*kept.splitlines()} if self.delivery == DELIVERIES[-1] else right == kept
            )
            if not is_right:
                found.append(name)
        return found


def _after(event: Callable[[], None], call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of the system, and the event that it was made."""

    def made(*arguments: Any, **named: Any) -> Any:
        found = call(*arguments, **named)
        event()
        return found

    return made


@cache
def _dataflow(code: str) -> Dataflow:
    """The dataflow of a pipeline, from which any number of runs can be made."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fibonacci.yaml"
        path.write_text(FIBONACCI_YAML + SUMS)
        names: dict[str, Any] = {"saw": lambda *_: None, "PAUSE": 0}
        exec(code.replace('"fibonacci.yaml"', repr(str(path))), names)
    found: Dataflow = names["flow"].dataflow if "flow" in names else names["dataflow"]
    return found


def crashed(first: int, many: int) -> Iterator[dict[str, Any]]:
    """What became of so many seeds."""
    gc.collect()
    gc.freeze()  # a child that collects what is here would copy it
    try:
        for seed in range(first, first + many):
            with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.exists() else None, prefix="seeds-") as folder:
                case = Case(seed, Path(folder))
                try:
                    wrong = case.wrong()
                except (AssertionError, PointstampError) as error:
                    wrong = [f"{type(error).__name__}: {error}"]
            kind = f"{case.program.name}, {case.delivery}"
            yield {"seed": seed, "kind": kind, "crashes": case.crashes, "wrong": wrong}
    finally:
        gc.unfreeze()


def main() -> int:
    """Run so many seeds; 0 where all are right."""
    first, many = map(int, sys.argv[1:])
    crashes: Counter[str] = Counter()
    wrong = 0
    for found in crashed(first, many):
        crashes[found["kind"]] += found["crashes"]
        if found["wrong"]:
            wrong += 1
            print(json.dumps(found), flush=True)
    print(json.dumps({"seeds": many, "crashes": crashes.total(), "wrong": wrong, **crashes}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
