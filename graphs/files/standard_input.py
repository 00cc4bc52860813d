"""Standard input, looked at before it is read: a folder, or what may only be written, is refused (PS001)."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from progress.errors import PointstampError, reason_of


def standard_input() -> BinaryIO:
    """What comes in there, as bytes."""
    try:
        handle = sys.stdin.fileno()
    except (OSError, ValueError):  # it is not a file, as where this runs inside another program
        return sys.stdin.buffer
    check_readable(handle)
    return sys.stdin.buffer


def check_readable(handle: int) -> None:
    """Refuse a descriptor of standard input from which nothing can be read."""
    try:
        os.read(handle, 0)  # takes nothing, and asks whether something might be taken
    except BlockingIOError:
        return
    except OSError as error:
        raise cannot_read("standard input", error) from None


def cannot_read(name: str, error: Exception) -> PointstampError:
    """What is said of a file that cannot be opened, or not be read on."""
    return PointstampError("PS001", f"cannot read {name}: {reason_of(error)}", "name an existing file")
