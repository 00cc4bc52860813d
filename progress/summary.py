"""Summaries: what a node may do to a time on its way to one outgoing edge (A&I 3.1, the conservative form of Def. 1).

A summary maps a time of its source domain to an antichain of times of its target domain. It always means its *monotone
hull*: what it gives at t is the set of minimal times that it gives anywhere at or above t, because Definition 2 lets
every step start above. Hence the laws: t <= u implies that each time of `apply(u)` lies at or above one of `apply(t)`;
and composition is associative and monotone.

`Summary` is the protocol; `NormalSummary` is what all declared summaries (`progress.normal_form.declared`) become:
pieces in normal form, composed and compared as integers. Anything else with an `apply` is a summary of the user's own
and taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from operator import add
from typing import Any, Protocol, runtime_checkable

from progress.antichain import minimal_elements
from progress.errors import PointstampError
from progress.normal_form.endless import is_endless, moved_without_end
from progress.normal_form.layout import Case, Layout, layout_of
from progress.normal_form.pieces import Piece, Ties, by_ties, compose, holds, moved, only_number, undominated
from progress.order import Domain, Lex, is_flat, is_number


@runtime_checkable
class CustomSummary(Protocol):
    """What a user implements: `apply` gives the times that one time may become, monotone as the law says."""

    def apply(self, time: Any) -> Iterable[Any]:
        """The times that `time` may lead to; empty where nothing is sent."""


class Summary(Protocol):
    """A summary between two domains, as the engine uses it.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> summary = from_edges([("a", "b")], lambda edge: {"advance": 2}).network().summaries[0]
    >>> summary.source, summary.apply(3)
    (nat, (5,))
    """

    @property
    def source(self) -> Domain:
        """The domain of the times it takes."""

    @property
    def target(self) -> Domain:
        """The domain of the times it gives."""

    @property
    def endless(self) -> bool:
        """Whether it may lead to times that fall without end, so that none is least."""

    def apply(self, time: Any) -> tuple[Any, ...]:
        """The minimal times that `time` may lead to, an antichain; `NoMinimalTimes` where they fall without end."""

    def limits(self, time: Any) -> tuple[Any, ...]:
        """As `apply`, with endless times among those that are taken and given (`progress.normal_form.endless`)."""


class NormalSummary:
    """A summary in normal form. `apply` costs O(pieces * leaves); one piece is usual.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> summary = from_edges([("a", "b")], lambda edge: {"advance": 2}).network().summaries[0]
    >>> summary.apply(3), summary.then(summary).apply(3)
    ((5,), (7,))
    """

    __slots__ = (
        "_by_case",
        "_source_layout",
        "_target_layout",
        "_tied",
        "apply",
        "backwards",
        "endless",
        "limits",
        "pieces",
        "source",
        "target",
    )

    def __init__(
        self, source: Domain, target: Domain, pieces: Iterable[Piece], charge: Callable[[int], None] | None = None
    ) -> None:
        self.source = source
        self.target = target
        self._source_layout = _layout(source)
        self._target_layout = _layout(target)
        self.pieces = undominated(self._source_layout.rows, self._target_layout.rows, list(pieces), charge)
        self._by_case: dict[Case, list[Piece]] = {}
        for piece in self.pieces:
            self._by_case.setdefault(piece.source_case, []).append(piece)
        self._tied: Ties | None = None
        self.backwards: Callable[[Any], Sequence[Any]] | None = (
            None  # made by `progress.normal_form.backwards` when it is needed
        )
        self.endless = any(move.word is None and move.floor is None for piece in self.pieces for move in piece.moves)
        quick = self._quick()
        self.apply: Callable[[Any], tuple[Any, ...]] = quick or self._general
        self.limits = quick if quick is not None and not isinstance(target, Lex) else self._limits

    def __repr__(self) -> str:
        return f"NormalSummary({self.source!r} -> {self.target!r}, {len(self.pieces)} pieces)"

    def __reduce__(self) -> Any:
        return NormalSummary, (self.source, self.target, self.pieces)

    @property
    def is_identity(self) -> bool:
        """Whether every time goes to itself alone."""
        return (
            self.source == self.target
            and all(
                not piece.box and piece.source_case == piece.target_case and set(piece.moves) <= {((0,), None)}
                for piece in self.pieces
            )
            and len(self.pieces) == len(self._source_layout.rows)
        )

    def then(self, other: NormalSummary) -> NormalSummary:
        """`other` after this one. Cost: O(product of the numbers of pieces * leaves)."""
        if self.target != other.source:
            raise PointstampError("PS401", f"{self.target!r} meets {other.source!r}", "the domains must be equal")
        rows = self._source_layout.rows
        joined = (compose(rows[one.source_case], one, two) for one in self.pieces for two in other.pieces_after(one))
        return NormalSummary(self.source, other.target, [piece for piece in joined if piece is not None])

    def pieces_after(self, before: Piece) -> list[Piece]:
        """The pieces that may apply to results of `before`: a table of n rows is looked up, not tried row by row."""
        if self._tied is None:
            self._tied = by_ties(self.pieces)
        free, tied = self._tied
        found = list(free)
        for place, groups in tied.items():
            number = only_number(before, place)
            if number is not None:
                found += groups.get(number, ())
            else:
                found += [piece for group in groups.values() for piece in group]
        return found

    def no_later_than(self, other: NormalSummary) -> bool:
        """Whether this summary offers, at every time, something at or below all that `other` offers."""
        pieces = (*self.pieces, *other.pieces)
        kept = undominated(self._source_layout.rows, self._target_layout.rows, pieces)
        return all(piece in self.pieces for piece in kept)

    def _quick(self) -> Callable[[Any], tuple[Any, ...]] | None:
        """A short function for the usual forms: nothing, identity, and what is added to one number or to rows."""
        if not self.pieces:
            return lambda time: ()
        if self.is_identity:
            return lambda time: (time,)
        amounts = self.amounts
        return None if amounts is None else adding(amounts, is_number(self.source))

    @property
    def amounts(self) -> tuple[int, ...] | None:
        """What is added to each number of every time, where that is all that happens."""
        if len(self.pieces) != 1 or self.pieces[0].box or not is_flat(self.source):
            return None
        if is_number(self.source) != is_number(self.target) or not is_flat(self.target):
            return None
        piece = self.pieces[0]
        amounts = tuple(
            move.word[0] for move in piece.moves if move.word and len(move.word) == 1 and move.floor is None
        )
        places = len(self._source_layout.rows[piece.source_case].leaves)
        return amounts if len(amounts) == len(piece.moves) == places else None

    def _general(self, time: Any) -> tuple[Any, ...]:
        case, numbers = self._source_layout.encode(time)
        found = []
        for piece in self._by_case.get(case, ()):
            if holds(piece.box, numbers):
                row = moved(piece, numbers)
                if None in row:
                    raise NoMinimalTimes(f"no minimal time follows {time!r}: there are times there without a lower end")
                found.append(self._target_layout.decode(piece.target_case, row))  # type: ignore[arg-type]
        return tuple(found) if len(found) < 2 else minimal_elements(self.target, found)

    def _limits(self, time: Any) -> tuple[Any, ...]:
        """As `apply`, with endless times among those that are taken and given (`progress.normal_form.endless`)."""
        case, numbers = self._source_layout.encode(time)
        if not self.endless and -inf not in numbers:
            return self.apply(time)
        rows = self._target_layout.rows
        found = []
        for piece in self._by_case.get(case, ()):
            if holds(piece.box, numbers):
                row: Any = moved_without_end(rows[piece.target_case], piece.moves, numbers)
                found.append(self._target_layout.decode(piece.target_case, row))
        return tuple(found) if len(found) < 2 else minimal_elements(self.target, found)


def adding(amounts: Sequence[int], to_number: bool) -> Callable[[Any], tuple[Any, ...]]:
    """The function that adds to a number, or to each number of a row."""
    if to_number:
        (amount,) = amounts
        return lambda time: (time + amount,)
    if len(amounts) == 2:
        first, second = amounts
        return lambda time: ((time[0] + first, time[1] + second),)
    return lambda time: (tuple(map(add, time, amounts)),)


class NoMinimalTimes(PointstampError):
    """A set of times that goes down without end, so that no antichain stands for it."""

    def __init__(self, message: str, hint: str = "give the counter a lower end, nat instead of int") -> None:
        super().__init__("PS601", message, hint)


class OpaqueSummary:
    """A summary of the user's own, between two domains; it is trusted to be its own monotone hull.

    Examples
    --------
    >>> from pointstamp import Nat, OpaqueSummary
    >>> class Doubled:
    ...     def apply(self, time):
    ...         return [2 * time]
    >>> OpaqueSummary(Nat(), Nat(), Doubled()).apply(3)
    (6,)
    """

    __slots__ = ("custom", "source", "target")
    endless = False

    def __init__(self, source: Domain, target: Domain, custom: CustomSummary) -> None:
        self.source = source
        self.target = target
        self.custom = custom

    def apply(self, time: Any) -> tuple[Any, ...]:
        """The minimal ones of what the user's `apply` gives; a result outside the target domain is an error."""
        times = list(self.custom.apply(time))
        for result in times:
            if not self.target.contains(result):
                raise PointstampError(
                    "PS602", f"the summary {self.custom!r} gives {result!r} at {time!r}", f"times of {self.target!r}"
                )
        return minimal_elements(self.target, times)

    def limits(self, time: Any) -> tuple[Any, ...]:
        """As `apply`; endless times are not shown to a user's code."""
        if layout_of(self.source) is not None and is_endless(time):
            raise NoMinimalTimes(f"the summary {self.custom!r} is asked for times that fall without end")
        return self.apply(time)


class Composite:
    """Summaries one after the other, where at least one has no normal form."""

    __slots__ = ("parts", "source", "target")

    def __init__(self, parts: Sequence[Summary]) -> None:
        self.parts = tuple(parts)
        self.source = parts[0].source
        self.target = parts[-1].target

    def apply(self, time: Any) -> tuple[Any, ...]:
        """Each part on all results of the part before it."""
        times: tuple[Any, ...] = (time,)
        for part in self.parts:
            times = minimal_elements(part.target, [result for before in times for result in part.apply(before)])
        return times

    def limits(self, time: Any) -> tuple[Any, ...]:
        """As `apply`, with endless times among those that are taken and given (`progress.normal_form.endless`)."""
        times: tuple[Any, ...] = (time,)
        for part in self.parts:
            times = minimal_elements(part.target, [result for before in times for result in part.limits(before)])
        return times

    @property
    def endless(self) -> bool:
        """Whether a part may lead to times that fall without end."""
        return any(part.endless for part in self.parts)


def _layout(domain: Domain) -> Layout:
    layout = layout_of(domain)
    if layout is None:
        raise PointstampError("PS401", f"{domain!r} is a domain of your own", "summaries there need an apply method")
    return layout
