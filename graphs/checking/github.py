"""Workflow commands of GitHub Actions: each finding as an annotation of its line.

Law: the escapes are those of `@actions/core` (its `escapeData` and `escapeProperty`), so whatever a file or a location
is called, one finding is one line, and that line is one command.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.checking.witness import walk_of
from graphs.wording import printable

MOST_STEPS = 12


def render(reports: Sequence[FileReport]) -> str:
    """One command a line, each ended by a newline; nothing where nothing was found."""
    return "".join(f"{_command(report.file, diagnostic)}\n" for report in reports for diagnostic in report.diagnostics)


def escape_data(text: str) -> str:
    """A message of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A value between commas, before the message."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(file: str, diagnostic: Diagnostic) -> str:
    properties = {
        "file": None if file == "-" else "".join(part if part in "\r\n" else printable(part) for part in file),
        "line": diagnostic.line,
        "col": diagnostic.column,
        "title": f"{diagnostic.code} {diagnostic.name}",
    }
    listed = ",".join(f"{key}={escape_property(str(value))}" for key, value in properties.items() if value is not None)
    message = escape_data("\n".join(_lines(diagnostic)))
    return f"::{'notice' if diagnostic.severity == 'note' else diagnostic.severity} {listed}::{message}"


def _lines(diagnostic: Diagnostic) -> Iterable[str]:
    yield printable(diagnostic.message)
    walk = walk_of(diagnostic)
    if walk and len(walk.steps) <= MOST_STEPS:
        yield " → ".join(f"{step.location} at {step.time}" for step in walk.steps)
    if diagnostic.hint:
        yield f"hint: {printable(diagnostic.hint)}"
