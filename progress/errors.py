"""The one exception of this project: every complaint has a code that `pointstamp explain` knows."""

from __future__ import annotations

import errno
from typing import Any

from progress.wording import brief as brief
from progress.wording import one_of as one_of
from progress.wording import one_of_the_graph as one_of_the_graph
from progress.wording import reason_of as reason_of
from progress.wording import said_by as said_by

_RIGHT_PLACE = {
    errno.ENOENT: "a place in a folder that exists",
    errno.ENOTDIR: "a place in a folder: a part of this name is a file",
    errno.EISDIR: "the name of a file: this is a folder",
    errno.EEXIST: "the name of a folder, or of nothing that exists: this is a file",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "a place that may be written to"),
}


class PointstampError(Exception):
    """What is wrong (`message`), what would be right (`hint`), and where: one line, with a code of the registry.

    A user never sees another exception from bad input; an exception of any other class is a defect of this project.

    Examples
    --------
    >>> from pointstamp import PointstampError, from_text
    >>> try:
    ...     from_text(b"nodes: []")
    ... except PointstampError as error:
    ...     print(error.code, error.line)
    PS008 1
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
        return (
            RuntimeError(f"{type(value).__name__}: {said_by(value)}")
            if isinstance(value, BaseException)
            else brief(value)
        )
    return value


def not_written(name: str, error: OSError) -> PointstampError:
    """What is said of a file that cannot be written on."""
    right = _RIGHT_PLACE.get(error.errno or 0, "make room for it, or write to another place")
    return PointstampError("PS740", f"cannot write {name}: {reason_of(error)}", right)
