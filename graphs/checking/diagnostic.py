"""A diagnostic: a code of the registry (`graphs.codes`), what it says of this graph, and where."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphs.codes import Severity


class Diagnostic(NamedTuple):
    """One finding. `witness` is plain data that shows it; `path` is the walk to draw: pairs of location and time."""

    code: str
    name: str
    severity: Severity
    message: str
    hint: str
    line: int | None
    column: int | None
    witness: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as docs/conditions.md shows it."""
        return self._asdict()


class FileReport(NamedTuple):
    """All that `pointstamp check` says of one file. `conditions` has the four verdicts in their JSON form."""

    file: str
    conditions: dict[str, dict[str, Any]]
    diagnostics: list[Diagnostic]
    readable: bool

    @property
    def valid(self) -> bool:
        """No diagnostic of severity error."""
        return not any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as docs/conditions.md shows it."""
        return {
            "file": self.file,
            "valid": self.valid,
            **self.conditions,
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
        }
