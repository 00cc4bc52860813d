"""Opens a store and commits, again and again, each time killed or failed at another call; a process of its own.

    LD_PRELOAD=calls.so python store_killed.py FOLDER ERROR

In each round there is a new folder, and a child that opens it and commits three times. It is killed at its n-th call
that changes a file (ERROR 0), or that call fails with ERROR; then another one goes on, killed or failed at a call as
well, and then one that is left alone. Each child says what has been committed when `save` has come back: what is read
afterwards has to be that, or what was just being committed. A line of JSON a round says what was found. The last round
is the one in which the first child came to its end; with ERROR every second call is tried, up to there.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from progress.errors import PointstampError
from progress.runtime.durable.folder import StateFolder
from progress.runtime.durable.stored import read

COMMITS = 3


def known(number: int) -> dict[str, Any]:
    """What the head of a checkpoint has, with a number in it."""
    return {
        "graph": "g" * 64,
        "command": {"commit": number},
        "inputs": {},
        "ended": [],
        "outlets": {},
        "closed": [],
        "is_finished": False,
        "boot": "",
        "synced": False,
        "parts": {},
        "order": number,
    }


def parts(number: int) -> dict[str, bytes]:
    """Parts that stay, change, grow, shrink, come and go."""
    found = {"stays": b"s" * 500, "changes": str(number).encode() * 100, "grows": b"g" * 3_000 * number, "empty": b""}
    if number % 2:
        found["comes and goes"] = bytes(range(256)) * 30
    if number % 3 == 2:
        found["large"] = b"%d" % number * 30_000
    return found


def live(folder: Path, told: int) -> int:
    """Go on from what is there: 0 when all went well, 1 where the store is refused or fails in words, 2 if wrong."""
    try:
        state = StateFolder(str(folder))
        try:
            found = state.load()
            number = 0 if found is None else found[0]["order"]
            if found is not None and found != (known(number), parts(number)):
                return 2
            for _ in range(COMMITS):
                number += 1
                state.store.write(known(number), parts(number))
                os.write(told, bytes([number]))
        finally:
            state.close()
    except PointstampError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def child(folder: Path, at: int, error: int) -> tuple[int, int]:
    """The exit code of a child, and the last commit that came back to it, or 0."""
    reads, told = os.pipe()
    process = os.fork()
    if not process:
        code = 3
        try:
            ctypes.CDLL(None).calls_arm(at, error)
            code = live(folder, told)
        finally:
            os._exit(code)
    os.close(told)
    numbers = b""
    while more := os.read(reads, 100):
        numbers += more
    os.close(reads)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), max(numbers, default=0)


def main() -> None:
    path, error = sys.argv[1], int(sys.argv[2])
    at = 1 if error == 0 else 2
    while True:
        folder = Path(path)
        shutil.rmtree(folder, ignore_errors=True)
        codes, back, wrong = [], 0, False
        for place in (at, 1 + at * 7 % 90, 0):
            code, number = child(folder, place, error)
            codes.append(code)
            back = max(back, number)
            commit = read(folder)
            found = 0 if commit is None else commit.number
            if found not in (back, back + 1) or (
                commit and (commit.known, commit.parts) != (known(found), parts(found))
            ):
                wrong = True
            back = found
        print(json.dumps({"at": at, "codes": codes, "wrong": wrong, "commits": back}), flush=True)
        if codes[0] == 0 and error == 0:
            return
        if error and at > 135:
            return
        at += 1 if error == 0 else 2


if __name__ == "__main__":
    main()
