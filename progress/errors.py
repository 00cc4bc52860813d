"""The one exception of this project: every complaint has a code that `pointstamp explain` knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MOST_COMPARED = 10_000  # names among which the one that was meant is looked for
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

    def __reduce__(self) -> Any:
        """To travel to another process. What cannot travel is said in words there: a node's exception, a value."""
        state = {name: _portable(value) for name, value in self.__dict__.items() if not name.startswith("_")}
        return _again, (type(self), (self.code, self.message, self.hint, self.line, self.column), state)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" ({self.hint})" if self.hint else "")


def _again(kind: type[PointstampError], said: tuple[Any, ...], state: dict[str, Any]) -> PointstampError:
    error = kind.__new__(kind)
    PointstampError.__init__(error, *said)
    error.__dict__.update(state)
    return error


def _portable(value: Any) -> Any:
    """The value, or what it is in words where it cannot be pickled and read again."""
    import pickle  # costs 5 ms, needed only on the way to another process

    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return RuntimeError(f"{type(value).__name__}: {value}") if isinstance(value, BaseException) else brief(value)
    return value


def one_of(name: object, names: Iterable[object], none: str = "there is none") -> str:
    """What would be right instead of a name that is not there: the one that was meant, or all that there are."""
    known = [each for each in names if isinstance(each, str)]
    if isinstance(name, str) and len(known) <= MOST_COMPARED:
        from difflib import get_close_matches  # costs 8 ms, needed only in a complaint

        for near in get_close_matches(name, known, n=1):
            return f"did you mean {brief(near)}?"
    shown = ", ".join(map(brief, known[:MANY])) + (", ..." if len(known) > MANY else "")
    return f"one of {shown}" if known else none


def one_of_the_graph(name: object, names: Iterable[str]) -> str:
    """What would be right instead of a name that no location has: the one that was meant, if it is clear."""
    found = one_of(name, names)
    return found if found.startswith("did you mean") else "name a node or an edge of the graph"


def brief(value: object) -> str:
    """A value for a message: as Python writes it, cut short."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, a number of thousands of digits, or a `__repr__` that fails
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
