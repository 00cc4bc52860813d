"""`pointstamp check --watch`: judged again whenever one of the files has changed.

Files are looked at, not listened to: their time, size and number, a few times a second. So it works on every file
system, and an editor that writes a new file in the place of the old one is noticed as well. Cost: one `stat` a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn, TypeAlias

PAUSE = 0.25  # seconds between two looks

Seen: TypeAlias = dict[str, tuple[int, int, int] | None]


def watch(files: Callable[[], Iterable[str]], judge: Callable[[], object], pause: float = PAUSE) -> NoReturn:
    """Judge, then again after each change, until an interrupt ends it.

    `files` is asked at each look: a pattern may match more of them by then. What changes while they are judged is
    judged once more.
    """
    while True:
        seen = look(files())
        judge()
        while look(files()) == seen:
            time.sleep(pause)


def look(files: Iterable[str]) -> Seen:
    """What tells that a file is another one than before; None where there is none."""
    return {file: _state(file) for file in files}


def _state(file: str) -> tuple[int, int, int] | None:
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
