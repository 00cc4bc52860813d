"""A mutant made in a copy of the project and judged there: does the suite notice?"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from tests.project.mutants.mutant import KERNEL, Mutant

PROJECT = Path(__file__).resolve().parents[3]
COPIED = (
    *("pointstamp", "progress", "graphs", "recursion", "benchmarks", "examples", "tests", "scripts", "docs"),
    *("pyproject.toml", "setup.py", "README.md", "LICENSE"),
)
PATIENCE = 5  # times what a suite takes where nothing is broken
STARTING = 10.0  # seconds that are little however short a suite is
LEFT_OUT = ("__pycache__", "*.so", "target", ".peers")


class Spent(NamedTuple):
    """What a run took, in seconds: of the processor, with all that it started, and by the clock."""

    processor: float
    clock: float


class Verdict(NamedTuple):
    """Whether a copy of the project is found to be broken, and by what; or why that cannot be said."""

    killed: bool
    reason: str
    spent: Spent | None = None


def prepare(folder: Path) -> str:
    """Copy the project, without anything that was built; build its kernel, compile it. What went wrong, if anything."""
    for name in COPIED:
        origin = PROJECT / name
        if origin.is_dir():
            shutil.copytree(origin, folder / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(origin, folder)
    return build(folder) or compiled(folder)


def build(folder: Path) -> str:
    """Compile the kernel of a copy in place of the one that is there; what went wrong, if anything."""
    for built in (folder / "progress").glob("*.so"):
        built.unlink()
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    shutil.rmtree(folder / "build", ignore_errors=True)
    return "" if any((folder / "progress").glob("*.so")) else f"the kernel cannot be built: {run.stderr[-500:]}"


def compiled(folder: Path) -> str:
    """Compile a copy, so that its own copies need not: what is broken in them is newer. What went wrong, if it did."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(folder)
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else f"the tests cannot be collected: {run.stdout[-500:]}"


def judge(folder: Path, suite: tuple[str, ...], usual: Spent | None = None) -> Verdict:
    """Run a suite on a copy of the project; `usual` is what it takes where nothing is broken."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not soak", "-p", "no:cacheprovider", *suite]
    code, said, spent = run_within(command, folder, usual)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Verdict(True, "by not coming to an end", spent)
    if code != 1:
        return Verdict(False, f"pytest ended with {code}", spent)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", said, re.MULTILINE)
    return Verdict(True, f"by {failed[1] if failed else '?'}", spent)


def run_within(command: list[str], folder: Path, usual: Spent | None) -> tuple[int, str, Spent]:
    """The exit code of a command, what it says, and what it took; ended where it takes many times what is usual.

    What goes round and round is ended by the time of the processor, which does not depend on who else is there. What
    waits for ever takes none: it is ended by the clock, beside other work as slow as the usual run was beside it.
    """
    within = ""
    if usual is not None:
        within = f"ulimit -t {PATIENCE * (usual.processor + STARTING):.0f}; "
    environment = {**os.environ, "PYTHONPATH": str(folder)}  # what the tests start runs there, too
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            ["sh", "-c", f'{within}exec "$@"', "sh", *command],
            cwd=folder,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ended = threading.Event()
        if usual is not None:
            until = 2 * PATIENCE * (usual.clock + STARTING)
            threading.Thread(target=_end, args=(process, ended, until), daemon=True).start()
        _, status, used = os.wait4(process.pid, 0)
        ended.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return process.returncode, text, Spent(used.ru_utime + used.ru_stime, time.monotonic() - begin)


def _end(process: subprocess.Popen[bytes], ended: threading.Event, until: float) -> None:
    if not ended.wait(until):
        os.killpg(process.pid, signal.SIGKILL)


def try_out(mutant: Mutant, template: Path, usual: Spent | None) -> Verdict:
    """Make the mutant in a copy of its own, and judge it."""
    source = (template / mutant.file).read_text()
    if source.count(mutant.old) != 1:
        return Verdict(False, f"does not apply: the text occurs {source.count(mutant.old)} times")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "mutant"
        shutil.copytree(template, folder)
        (folder / mutant.file).write_text(source.replace(mutant.old, mutant.new))
        broken = build(folder) if mutant.file.startswith(KERNEL) else ""
        return Verdict(False, broken) if broken else judge(folder, mutant.suite, usual)
