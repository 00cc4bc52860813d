"""The compiled kernel under AddressSanitizer and UndefinedBehaviorSanitizer: `python -m tests.project.sanitized`.

A copy of the project gets a kernel built with both; then the tests run there that reach the kernel. The first wrong
access, overflow or shift ends them. Leaks are not looked for: Python keeps what it allocates to its end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.project.mutants.trying import prepare

SUITE = (
    "tests/tracking/test_kernel.py",
    "tests/tracking/test_engines.py",
    "tests/tracking/test_tracker.py",
    "tests/tracking/test_no_trace.py",
    "tests/questions/test_compiled_closure.py",
    "tests/runtime/test_plain_data.py",
    "tests/runtime/test_plain_data_strangers.py",
    "tests/runtime/test_plain_data_twins.py",
    "tests/commands/test_track.py",
    "tests/project/few_sessions.py",
)
# Counts the memory of the process, of which sanitizers keep much back.
NOT_HERE = "tests/tracking/test_kernel.py::test_nothing_is_left_behind_by_many_operations"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"


def library(name: str) -> str:
    """Where the compiler keeps the library of a sanitizer."""
    run = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def main(words: list[str]) -> int:
    """Build, run, and answer pytest's exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"CFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined"}
        broken = prepare(folder)
        if broken:
            print(f"sanitized: {broken}", file=sys.stderr)
            return 1
        if not all(b"__asan_" in built.read_bytes() for built in (folder / "progress").glob("*.so")):
            print("sanitized: the compiler left the sanitizers out", file=sys.stderr)
            return 1
        environment = os.environ | {
            "PYTHONPATH": str(folder),
            "PYTHONMALLOC": "malloc",  # so that every object is an allocation that is watched
            "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not soak", "-p", "no:cacheprovider"]
        suite = ["--deselect", NOT_HERE, *(words or SUITE)]
        return subprocess.run([*command, *suite], cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
