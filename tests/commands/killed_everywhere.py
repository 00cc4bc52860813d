"""Runs one command again and again, killed at each of its calls of the system that change files; a process of its own.

    LD_PRELOAD=calls.so python killed_everywhere.py FOLDER EVERY ERROR DEEP COMMAND...

In each round the command is started in a child process that kills itself at its n-th such call, SQLite's included, n
being EVERY more than in the round before: just before the call, just after it, or when half of a text is written; or
that call fails with ERROR, where it is not 0 (`calls.c`). Then it is started until it ends, and killed or failed at a
call up to DEEP times in all. A line of JSON a round says how each child ended, what was said, and what is in its
outputs after each: those of `--output`, and files whose names begin with `sink`. The last round is the one in which the
first child came to its end unharmed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from tests.commands.forked import IMPORTED


def child(arguments: list[str], at: int, error: int) -> tuple[int, bool]:
    """Run the command in a child process, harmed at a call, or at none (0): its exit code, and whether it was."""
    told, tells = os.pipe()
    process = os.fork()
    if process:
        os.close(tells)
        with os.fdopen(told, "rb") as words:
            is_harmed = words.read() != b"unharmed"
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status), is_harmed and at > 0
    code = 3
    calls = ctypes.CDLL(None)
    try:
        from graphs.command import main

        calls.calls_arm(at, error)
        code = main(arguments)
    finally:
        if calls.calls_seen() < at:
            os.write(tells, b"unharmed")
        os._exit(code)


def main() -> None:
    folder, *numbers = sys.argv[1:5]
    every, error, deep = map(int, numbers)
    arguments = sys.argv[5:]
    os.chdir(folder)
    for name in IMPORTED:  # once, and not in every child
        import_module(name)
    gc.freeze()
    named = [Path(file.partition("=")[2]) for option, file in pairwise(arguments) if option == "--output"]
    said = os.open("said", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    os.dup2(said, 2)
    at = 1
    while True:
        for path in (*named, *Path().glob("sink*"), *Path("state").glob("*")):
            path.unlink(missing_ok=True)
        os.ftruncate(said, 0)
        codes: list[int] = []
        texts: list[dict[str, str]] = []
        was_harmed = is_harmed = True
        while is_harmed:
            place = at + 7 * len(codes) if len(codes) < deep else 0
            code, is_harmed = child(arguments, place, error)
            was_harmed &= is_harmed or bool(codes)
            codes.append(code)
            there = (path for path in (*named, *Path().glob("sink*")) if path.exists())
            texts.append({path.name: path.read_text("utf-8") for path in there})
        errors = Path("said").read_text("utf-8").splitlines()
        found = {"at": at, "kills": codes.count(-signal.SIGKILL), "codes": codes, "said": errors}
        print(json.dumps({**found, "exit_code": codes[-1], "texts": texts[-1], "before": texts[:-1]}), flush=True)
        if not was_harmed:
            return
        at += every


if __name__ == "__main__":
    main()
