"""What every command says and how it ends: exit codes, one line for what is wrong, an answer on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from graphs.wording import printable
from progress.errors import PointstampError

FINE, FINDINGS, UNUSABLE, DEFECT = 0, 1, 2, 3


class BadUsage(PointstampError):
    """Arguments that do not go together."""

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"


def bad_usage(message: str, hint: str) -> BadUsage:
    return BadUsage("usage", message, hint)


def complain(line: str) -> None:
    """One line on stderr, whatever is in it."""
    sys.stderr.write(printable(line) + "\n")


def located(file: str, error: PointstampError) -> str:
    """An error in one line: file, line, column, code, what is wrong, what would be right."""
    place = ":".join(str(part) for part in (file, error.line, error.column) if part not in ("", None))
    return f"{place}: {error}" if place else str(error)


def write(text: str) -> None:
    """Text on stdout, ended by a newline; nothing for no text."""
    sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")


def write_json(data: Any) -> None:
    """One JSON document on stdout."""
    write(json.dumps(data, indent=2, default=str))


def answer(form: str, data: Callable[[], Any], text: Callable[[], str]) -> None:
    """An answer in the form that is asked for, `json` or `text`."""
    if form == "json":
        write_json(data())
    else:
        write(text())
