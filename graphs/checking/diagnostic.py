"""A diagnostic: a code of the registry (`graphs.codes`), what it says of this graph, and where."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphs.codes import Severity
from progress.errors import brief
from progress.notebook import Shown, as_html
from progress.wording import plural


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

    def __repr__(self) -> str:
        return f"FileReport({brief(self.file)}: {self._in_short()})"

    def _in_short(self) -> str:
        """How many findings there are, by their codes."""
        if not self.diagnostics:
            return "nothing found" if self.readable else "not readable"
        counts: dict[str, int] = {}
        for diagnostic in self.diagnostics:
            counts[diagnostic.severity] = counts.get(diagnostic.severity, 0) + 1
        codes = dict.fromkeys(diagnostic.code for diagnostic in self.diagnostics)
        found = ", ".join(f"{count} {plural(count, severity)}" for severity, count in counts.items())
        return f"{found}: {', '.join(codes)}"

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        rows = [(each.severity, each.code, each.message, each.hint) for each in self.diagnostics]
        title = f"{self.file or 'a graph'}: {self._in_short()}"
        return as_html(Shown(title, ("", "code", "what is wrong", "what would be right"), rows))

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as docs/conditions.md shows it."""
        return {
            "file": self.file,
            "valid": self.valid,
            **self.conditions,
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
        }
