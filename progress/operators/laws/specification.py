"""What makes an operator right: four properties, checked on streams, with a minimal stream where one fails (4.3).

Soundness says what every output has to be, completeness what has to be in the outputs; both are an operator's own.
Monotonicity and productivity have to be preserved by every operator, or composed ones could not be trusted. Each is a
`Law`: what it assumes of a stream, and what then holds of what the operator makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from progress.errors import PointstampError, brief
from progress.operators.event import Event
from progress.operators.operator import AnyOperator, copy_of
from progress.operators.reading import stream


class Case(NamedTuple):
    """A finite stream, and what an operator made of it: while it went on, and when it had ended."""

    events: tuple[Event, ...]
    flowing: tuple[Event, ...]
    leaving: tuple[Event, ...]

    @property
    def produced(self) -> tuple[Event, ...]:
        """`produce`: all that left."""
        return self.flowing + self.leaving


@dataclass(frozen=True)
class Law:
    """One property: `number` of the equation in the paper, in words, its assumption, what is wrong where it fails."""

    number: str
    says: str
    wrong: Callable[[Case], str | None]
    assumes: Callable[[Case], bool] = field(default=lambda case: True)


class Specification(NamedTuple):
    """The four properties of one operator.

    Examples
    --------
    >>> from progress.operators import DT, WM, batch, check_operator
    >>> from progress.operators.laws.of_operators import of_batch
    >>> bool(check_operator(batch(), of_batch(), [[DT(0, "a"), WM(0)]]))
    True
    """

    name: str
    soundness: Law
    completeness: Law
    monotone: Law
    productive: Law


PROPERTIES = ("soundness", "completeness", "monotone", "productive")


class Failure(NamedTuple):
    """A property that fails, a stream on which it does, made small, what the operator makes of it, what is wrong."""

    property: str
    law: Law
    stream: tuple[Event, ...]
    produced: tuple[Event, ...]
    wrong: str

    def __str__(self) -> str:
        return (
            f"{self.property} ({self.law.number}) fails on {[*self.stream]}: {self.wrong}; it gives {[*self.produced]}"
        )


class Verdict(NamedTuple):
    """The first failure of each property, and on how many streams each was judged, that is, its assumption held."""

    failures: tuple[Failure, ...]
    judged: Mapping[str, int]

    @property
    def holds(self) -> bool:
        """Whether nothing failed, and every property was judged at least once."""
        return not self.failures and all(self.judged.values())

    def raise_if_broken(self) -> None:
        """PS807 where a property failed, or was judged on no stream."""
        if self.failures:
            raise PointstampError("PS807", str(self.failures[0]), "the operator or its specification has to change")
        for name, times in self.judged.items():
            if not times:
                right = "streams that are monotone, and others that are productive"
                raise PointstampError("PS807", f"no stream meets the assumption of {name}", right)


def check_operator(operator: AnyOperator, specification: Specification, streams: Iterable[Sequence[Event]]) -> Verdict:
    """Judge an operator by the four properties on finite streams; a failing stream is made small by leaving out.

    Cost: a production of each stream; for a failure, O(n^2) productions of streams no longer than the failing one.

    >>> from progress.operators import DT, WM, batch, map_data
    >>> from progress.operators.laws.of_operators import of_batch
    >>> streams = [[DT(0, "a"), WM(0), DT(1, "b"), WM(1)]]
    >>> check_operator(batch(), of_batch(), streams).holds
    True
    >>> check_operator(map_data(lambda time, data: [(time, data, 1)]), of_batch(), streams).failures[0].stream
    (DT(1, 'b'),)

    Returns
    -------
    The verdict: each property, and a small stream on which it fails, if it does.

    Raises
    ------
    PointstampError
        PS802 where this is not a specification.
    """
    given: object = specification
    if not isinstance(given, Specification):
        right = "a Specification, such as of_batch() of progress.operators.laws.of_operators"
        raise PointstampError("PS802", f"{brief(given)} is not a specification", right)
    judged = dict.fromkeys(PROPERTIES, 0)
    failures: dict[str, Failure] = {}
    for one in stream(streams):
        case = run(operator, one)
        for name in PROPERTIES:
            law: Law = getattr(specification, name)
            if law.assumes(case):
                judged[name] += 1
                if name not in failures and wrong_with(law, case) is not None:
                    failures[name] = _smallest(operator, name, law, case)
    return Verdict(tuple(failures[name] for name in PROPERTIES if name in failures), judged)


def run(operator: AnyOperator, events: Iterable[Event]) -> Case:
    """What an operator makes of a finite stream."""
    current, given = copy_of(operator), tuple(stream(events))
    flowing = [leaving for event in given for leaving in current.take(event)]
    return Case(given, tuple(flowing), tuple(current.exit()))


def wrong_with(law: Law, case: Case) -> str | None:
    """What is wrong; also where the law cannot even read what the operator put out."""
    try:
        return law.wrong(case)
    except (TypeError, ValueError, AttributeError, PointstampError) as error:
        return f"the output cannot be read as this operator's: {brief(error)}"


def _smallest(operator: AnyOperator, name: str, law: Law, case: Case) -> Failure:
    """Leave out events, long runs first, as long as the law is still assumed and still fails."""

    def fails(events: Sequence[Event]) -> Case | None:
        try:
            found = run(operator, events)
        except PointstampError:
            return None
        return found if law.assumes(found) and wrong_with(law, found) is not None else None

    events = case.events
    size = max(1, len(events) // 2)
    while True:
        place, is_smaller = 0, False
        while place < len(events):
            smaller = fails(events[:place] + events[place + size :])
            if smaller is None:
                place += size
            else:
                case, events, is_smaller = smaller, smaller.events, True
        if size == 1 and not is_smaller:
            break
        size = max(1, size // 2)
    return Failure(name, law, case.events, case.produced, str(wrong_with(law, case)))
