"""A last line that its writer did not finish, in a file of one JSON object a line."""

from __future__ import annotations

import json


def is_torn(line: bytes, longest: int) -> bool:
    """Whether a line is the beginning of one: it opens an object, and ends with the file before that is whole.

    What is not whole for another reason is no such line: `longest` bytes were read of it, or a line break follows.
    """
    if line.endswith(b"\n") or len(line) >= longest or not line.lstrip().startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def said_of_torn(path: str, line: int) -> str:
    """What whoever reads the file is told, on one line."""
    return f"{path}:{line}: the last line is not whole, as where its writer was stopped: what is before it counts"
