"""The one exception of this project: every complaint has a code that `pointstamp explain` knows."""

from __future__ import annotations

from collections.abc import Iterable

MANY = 20  # names that are listed in a complaint


class PointstampError(Exception):
    """What is wrong (`message`), what would be right (`hint`), and where: one line, with a code of the registry.

    A user never sees another exception from bad input; an exception of any other class is a defect of this project.
    """

    def __init__(
        self, code: str, message: str, hint: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(code, message, hint, line, column)
        self.code = code
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" ({self.hint})" if self.hint else "")


def one_of(name: object, names: Iterable[object], none: str = "there is none") -> str:
    """What would be right instead of a name that is not there: the one that was meant, or all that there are."""
    known = [each for each in names if isinstance(each, str)]
    if isinstance(name, str):
        from difflib import get_close_matches  # costs 8 ms, needed only in a complaint

        for near in get_close_matches(name, known, n=1):
            return f"did you mean {brief(near)}?"
    shown = ", ".join(map(brief, known[:MANY])) + (", ..." if len(known) > MANY else "")
    return f"one of {shown}" if known else none


def brief(value: object) -> str:
    """A value for a message: as Python writes it, cut short."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
