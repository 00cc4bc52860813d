"""The report as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the lines it is about.

One run; the registry as its rules; each finding a result, its witness as a code flow.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.checking.witness import Step, walk_of
from graphs.codes import CODES, Code
from graphs.codes.explain import explain, page
from graphs.wording import printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "pointstampFinding/v1"


def render(reports: Sequence[FileReport], tool_version: str) -> str:
    """The log file, ended by a newline; `tool_version` is that of this project."""
    driver = {"name": "pointstamp", "version": tool_version, "rules": [_rule(entry) for entry in CODES.values()]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(report.file, diagnostic) for report in reports for diagnostic in report.diagnostics],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def uri_of(file: str) -> str:
    """A path as a URI reference: relative paths stay relative, everything else is percent-encoded."""
    path = PurePath(file)
    encoded = quote(os.fsencode(path.as_posix()))
    return f"file://{encoded}" if path.is_absolute() else encoded


def _rule(entry: Code) -> dict[str, Any]:
    return {
        "id": entry.number,
        "name": "".join(word.capitalize() for word in entry.name.split("-")),
        "shortDescription": {"text": entry.says},
        "fullDescription": {"text": _flowing(entry.means)},
        "help": {"text": explain(entry.number), "markdown": page(entry)},
        "defaultConfiguration": {"level": entry.severity},
    }


def _result(file: str, diagnostic: Diagnostic) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri_of(file)}}
    if diagnostic.line is not None:
        place["region"] = {"startLine": diagnostic.line}
        if diagnostic.column is not None:
            place["region"]["startColumn"] = diagnostic.column
    hint = f"\nHint: {printable(diagnostic.hint)}" if diagnostic.hint else ""
    result = {
        "ruleId": diagnostic.code,
        "ruleIndex": list(CODES).index(diagnostic.code),
        "level": diagnostic.severity,
        "message": {"text": printable(diagnostic.message) + hint},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {FINGERPRINT: _fingerprint(diagnostic)},
    }
    walk = walk_of(diagnostic)
    if walk:
        steps = [{"location": _step(file, step)} for step in walk.steps]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return result


def _step(file: str, step: Step) -> dict[str, Any]:
    note = f" ({step.note})" if step.note else ""
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri_of(file)}},
        "logicalLocations": [{"name": step.location, "kind": "node" if step.is_node else "edge"}],
        "message": {"text": f"{step.location} at {step.time}{note}"},
    }


def _fingerprint(diagnostic: Diagnostic) -> str:
    """The same for the same finding wherever it moves in its file: made of what is said, not of the place."""
    said = json.dumps([diagnostic.code, diagnostic.message])
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _flowing(text: str) -> str:
    """Without the line ends that the terminal needs."""
    return " ".join(text.split())
