"""The seed of Python's hashes, which decides the order of sets of texts: a kept run goes on with the one it had.

Python takes it from PYTHONHASHSEED, and from chance where that is not set, and then nobody knows it. So the command
`run --state` begins again in its place, as the same process, with the seed of the state, or a new one where there is
none yet. Inside another program, and where Python was told to ignore its environment, the seed is what it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from progress.runtime.durable.head import NO_SEED, read_head

VARIABLE = "PYTHONHASHSEED"
LARGEST = (1 << 32) - 1


def seed() -> str:
    """The seed of this process; `-` where nobody knows it."""
    text = os.environ.get(VARIABLE, "")
    known = text.isascii() and text.isdecimal() and int(text) <= LARGEST and not sys.flags.ignore_environment
    return str(int(text)) if known else NO_SEED


def begin_with(folder: Path) -> None:
    """Begin this command again with the seed that the state in a folder has, unless it is the one of this process."""
    try:
        head = read_head(folder)
    except OSError:  # there is none yet; or it is said later what is wrong
        head = None
    now = seed()
    wanted = now if head is None or head.seed == NO_SEED else head.seed
    if wanted == NO_SEED:
        wanted = str(int.from_bytes(os.urandom(4), "little"))
    arguments = sys.argv[1:]
    is_its_own = bool(sys.executable) and sys.orig_argv[len(sys.orig_argv) - len(arguments) :] == arguments
    if wanted == now or sys.flags.ignore_environment or not is_its_own:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, VARIABLE: wanted})
