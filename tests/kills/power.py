"""Power cuts: a run is recorded once; then it goes on from every disk that a cut at any of its operations may leave."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.commands.forked import Forked
from tests.commands.pipelines import PATIENCE, environment
from tests.kills.disks import Disk, Loss, Operation, operations
from tests.kills.program import Program, Rows, rows_of

ROOT = Path(__file__).parents[2]
# The machine was started anew since: what a checkpoint knows it by is not what it is known by now.
ANOTHER_BOOT = """
from progress.runtime.durable import kept_run
kept_run.boot = lambda: "after a power cut"
"""


class Cut(NamedTuple):
    """The power goes after so many operations."""

    after: int
    loss: Loss


class Recorded:
    """A run, and what it did to its files.

    Parameters
    ----------
    folder : of its files, empty; best one in memory
    library : compiled, of `calls.c`
    program : what is run
    keep : the options that say how it is kept
    """

    def __init__(self, folder: Path, library: Path, program: Program, keep: Sequence[str]) -> None:
        self.program = program
        self._folder = folder / "run"
        self._folder.mkdir()
        for name, text in program.files.items():
            (self._folder / name).write_text(text)
        self._command = ["run", *program.arguments(), "--state=state", *keep]
        self._is_synced, self._may_repeat = "--synced" in keep, "--delivery=at-least-once" in keep
        done = subprocess.run(
            [sys.executable, "-m", "tests.kills.recorded", str(folder / "trace"), *self._command],
            cwd=self._folder,
            env=environment(PYTHONPATH=str(ROOT), LD_PRELOAD=str(library)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        self._own = {"killed.py", "witness", *program.files}
        found = operations((folder / "trace").read_bytes(), self._folder)
        self.operations: list[Operation] = [each for each in found if each.path.name not in self._own]
        path = self._folder / "killed.py"
        path.write_text(ANOTHER_BOOT + path.read_text())

    def cuts(self) -> list[Cut]:
        """All there are."""
        return [Cut(number, loss) for number in range(len(self.operations) + 1) for loss in Loss]

    def after(self, cuts: Sequence[Cut]) -> Iterator[tuple[Cut, list[str]]]:
        """What is wrong when the run goes on after each of these cuts, which are in their order.

        Of cuts that leave the same the first is tried.
        """
        disk, done = Disk(self._folder), 0
        tried: set[str] = set()
        for cut in cuts:
            for operation in self.operations[done : cut.after]:
                disk.do(operation)
            done = cut.after
            found = disk.after(cut.loss, random.Random(str(cut)))
            seen = {name: disk.content(self._folder / name) for name in self.program.outputs}
            if (key := repr((found, seen))) not in tried:  # most writes are one of several that nothing tells apart
                tried.add(key)
                self._rebuild(found)
                yield cut, self._goes_on(seen)

    def _rebuild(self, found: dict[Path, bytes | None]) -> None:
        for path in self._folder.iterdir():
            if path.name not in self._own:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path, content in found.items():
            if content is not None:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
                os.write(handle, content)
                os.close(handle)
            elif path != self._folder:
                path.mkdir(0o700)

    def _goes_on(self, seen: dict[str, bytes]) -> list[str]:
        process = Forked(self._command, self._folder, environment())
        out, err = process.communicate(timeout=PATIENCE)
        if (process.returncode, out, err) != (0, b"", b""):
            return [f"exit code {process.returncode}: {(out + err).decode()}"]
        rows: Rows = {}
        wrong = []
        for name in self.program.outputs:
            content = (self._folder / name).read_bytes()
            rows[name] = rows_of(content)
            if self._is_synced and not content.startswith(seen[name]):
                wrong.append(f"{name} was {seen[name]!r} and is {content!r}")
        found = self.program.judge(rows, may_repeat=self._may_repeat)
        return [*wrong, *found.lost, *found.twice, *found.disorder]
