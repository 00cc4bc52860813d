"""What can go wrong with a source: it raises, or gives something that is not a message.

A source that raises has ended the run (`SourceFailed`). One event that is malformed need not: a policy, or an input of
lines, says of it `Refused(value, error, place)` and goes on with the next, and the run's `on_error` for the input edge,
or for all, decides whether that stops the run or is a dead letter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.runtime.failure import NodeFailed, own_trace, row_of, what_it_said


class Refused(NamedTuple):
    """An item of a source: something came that no message can be made of. `place` is its file and line, if known.

    Examples
    --------
    >>> from pointstamp import Refused
    >>> Refused("7 apples", ValueError("not a number"), "in.txt:3").place
    'in.txt:3'
    """

    value: Any
    error: Exception
    place: str | None = None


class SourceFailed(PointstampError):
    """A source raised, or something came from it that no message can be made of.

    `edge` is the input edge, `error` what was raised, `value` what it was raised for, None where the source itself
    failed, and `place` its file and line, if they are known. `trace` is the part of the traceback that is the user's.
    An error that has a code keeps it.

    Examples
    --------
    >>> from pointstamp import Dataflow, SourceFailed, from_edges
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> try:
    ...     flow.run(sources={"in->a": (1 // number for number in [0])})
    ... except SourceFailed as failure:
    ...     print(failure.edge, type(failure.error).__name__)
    in->a ZeroDivisionError
    """

    time = None  # nobody knows; a dead letter has none

    def __init__(self, edge: str, error: BaseException, value: Any = None, place: str | None = None) -> None:
        if isinstance(error, PointstampError):
            where = "" if brief(edge) in error.message else f"at {brief(edge)}, "
            super().__init__(error.code, f"{where}{error.message}", error.hint)
        else:
            said = what_it_said(error)
            says = type(error).__name__ + (f": {said}" if said else "")
            on, right = "", "mend the source"
            if value is not None:
                on = f" on {brief(value)}"
                right = f"mend it, or give the run on_error={{{brief(edge)}: DeadLetter()}}"
            super().__init__("PS724", f"the source of {brief(edge)} failed{on}: {says}", right)
        self.edge = edge
        self.error = error
        self.value = value
        self.place = place
        self.trace = own_trace(error)

    def as_row(self) -> dict[str, str]:
        """The row that it is in a table of dead letters."""
        return row_of(self.edge, None, self.value, self)

    def __str__(self) -> str:
        return super().__str__() if self.place is None else f"{self.place}: {super().__str__()}"


def as_row(value: Any) -> Any:
    """What a value is in a table: a failure is a row of text."""
    return value.as_row() if isinstance(value, NodeFailed | SourceFailed) else value
