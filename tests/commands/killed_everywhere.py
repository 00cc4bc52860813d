"""Runs one command again and again, killed at each of its calls of the system that change files; a process of its own.

    python killed_everywhere.py FOLDER EVERY COMMAND...

In each round the command is started in a child process that kills itself at its n-th such call, n being EVERY more than
in the round before: just before the call, just after it, or when half of a text is written. Then it is started until it
ends, and killed up to two times more. A line of JSON a round says how often it was killed, its exit code, and what is
in its outputs: those of `--output`, and files whose names begin with `sink`. The last round is the one in which it was
not killed.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.commands.forked import IMPORTED

CALLS = ("write", "pwrite", "fsync", "ftruncate", "open", "replace")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def counted(at: int) -> None:
    """Kill this process at the call of this number: before it where the number is even, after it where it is odd."""
    seen = 0

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def counts(*arguments: Any, **named: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == at and at % 2 == 0:
                die()
            if seen == at and call is write and len(arguments[1]) > 1:  # some of it
                call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                die()
            found = call(*arguments, **named)
            if seen == at:
                die()
            return found

        return counts

    write = os.write
    for name in CALLS:
        setattr(os, name, counting(getattr(os, name)))


def child(arguments: list[str], at: int | None) -> int:
    """Run the command in a child process, killed at a call or not; its exit code."""
    process = os.fork()
    if process:
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status)
    code = 3
    try:
        from graphs.command import main

        if at is not None:
            counted(at)
        code = main(arguments)
    finally:
        os._exit(code)


def main() -> None:
    folder, every, *arguments = sys.argv[1:]
    os.chdir(folder)
    for name in (*IMPORTED, "progress.runtime.asynchronous"):  # once, and not in every child
        import_module(name)
    gc.freeze()
    named = [Path(file.partition("=")[2]) for option, file in pairwise(arguments) if option == "--output"]
    at = 1
    while True:
        kills = 0
        for path in (*named, *Path().glob("sink*"), *Path("state").glob("*")):
            path.unlink(missing_ok=True)
        code = child(arguments, at)
        was_killed = code == -signal.SIGKILL
        step = at
        while code == -signal.SIGKILL:
            kills += 1
            step += 7
            code = child(arguments, step if kills < 3 else None)
        texts = {path.name: path.read_text("utf-8") for path in (*named, *Path().glob("sink*"))}
        print(json.dumps({"at": at, "kills": kills, "exit_code": code, "texts": texts}), flush=True)
        if not was_killed:
            return
        at += int(every)


if __name__ == "__main__":
    main()
