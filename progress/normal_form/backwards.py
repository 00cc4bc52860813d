"""Summaries run backwards: the latest times from which something at or below a given time results.

The times that a summary moves to `time` or below are closed downward, because a summary means its monotone hull; they
are represented by their maximal elements. A coordinate that is not bounded is `inf`. There is such a form over numbers
and flat rows of numbers, products and lexicographic ones.

Law: some time of `summary.apply(t)` is <= u exactly when t <= q for some q of `latest(u)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any

from progress.normal_form.coordinate import Move, greatest_at_most, least_at_least
from progress.normal_form.pieces import Limit, Piece
from progress.order import Domain, Lex, Nat, is_flat, is_number
from progress.summary import NormalSummary, Summary, adding

Latest = Callable[[Any], Sequence[Any]]
Interval = tuple[Any, Any]  # of a source coordinate, both ends included; -inf and inf are no ends


def latest(summary: Summary) -> Latest | None:
    """The function from u to the maximal times that lead to u or below; None where it has no such form."""
    if not isinstance(summary, NormalSummary) or not is_flat(summary.source) or not is_flat(summary.target):
        return None
    if summary.backwards is None:
        amounts = summary.amounts
        if not summary.pieces:
            summary.backwards = lambda time: ()
        elif amounts is not None and type(summary.source) is type(summary.target):
            summary.backwards = adding([-amount for amount in amounts], is_number(summary.source))
        else:
            summary.backwards = _general(summary)
    return summary.backwards


def reaches(summary: Summary, time: Any, covers: Callable[[Any], bool], times: Callable[[], Iterable[Any]]) -> bool:
    """Whether the summary moves something to `time` or below, of what has these minimal times.

    `covers(until)` tells whether one of them is at or below `until`. Cost: that of `covers`, where the summary can be
    run backwards; else it is applied to all of them.
    """
    run_back = latest(summary)
    if run_back is not None:
        return any(covers(until) for until in run_back(time))
    less_equal = summary.target.less_equal
    return any(less_equal(after, time) for before in times() for after in summary.limits(before))


def _general(summary: NormalSummary) -> Latest:
    source, target = summary.source, summary.target
    ends = list(map(_ends, [source] if is_number(source) else source.parts))  # type: ignore[attr-defined]

    def run_back(time: Any) -> Sequence[Any]:
        goal = (time,) if is_number(target) else time
        tops = []
        for piece in summary.pieces:
            for intervals in _boxes(piece, goal, ends, isinstance(target, Lex)):
                tops.append(tuple(high for _, high in intervals))
        kept = _maximal(tops, isinstance(source, Lex))
        return [top[0] for top in kept] if is_number(source) else kept

    return run_back


def _boxes(piece: Piece, goal: Sequence[int], ends: Sequence[Interval], in_order: bool) -> Iterator[list[Interval]]:
    """The source times of a piece that it moves to the goal or below, as boxes.

    Under a product that is one box; under a lexicographic order one for each coordinate that may be the first to
    differ, and one for equality.
    """
    if not in_order:
        yield from _box(piece, ends, [_at_most(move, bound) for move, bound in zip(piece.moves, goal, strict=True)])
        return
    for first in range(len(goal) + 1):
        wanted = [_exactly(move, bound) for move, bound in zip(piece.moves[:first], goal[:first], strict=True)]
        if first < len(goal):
            wanted.append(_at_most(piece.moves[first], goal[first] - 1))
        yield from _box(piece, ends, wanted)


def _ends(domain: Domain) -> Interval:
    """The least and the greatest number of a coordinate."""
    if isinstance(domain, Nat):
        return 0, inf if domain.maximum is None else domain.maximum
    return -inf, inf


def _box(piece: Piece, ends: Sequence[Interval], wanted: Sequence[Interval | None]) -> Iterator[list[Interval]]:
    intervals = list(ends)
    for place, interval in enumerate(wanted):
        if interval is None:
            return
        if place < len(ends):
            low, high = intervals[place]
            intervals[place] = max(low, interval[0]), min(high, interval[1])
    limit: Limit
    for limit in piece.box:
        low, high = intervals[limit.place]
        intervals[limit.place] = (
            low if limit.low is None else max(low, limit.low),
            high if limit.high is None else min(high, limit.high),
        )
    if all(low <= high for low, high in intervals):
        yield intervals


def _at_most(move: Move, bound: int) -> Interval | None:
    """The numbers that a move takes to `bound` or below."""
    if bound == inf:
        return -inf, inf
    if move.floor is not None and move.floor > bound:
        return None
    return -inf, inf if move.word is None else greatest_at_most(move.word, bound)


def _exactly(move: Move, bound: int) -> Interval | None:
    """The numbers that a move takes to `bound`."""
    if bound == inf:
        return None  # no number is moved there
    if move.word is None:
        return (-inf, inf) if move.floor == bound else None
    if move.floor is not None and move.floor >= bound:
        return (-inf, greatest_at_most(move.word, bound)) if move.floor == bound else None
    return least_at_least(move.word, bound), greatest_at_most(move.word, bound)


def _maximal(tops: list[tuple[Any, ...]], in_order: bool) -> list[tuple[Any, ...]]:
    if len(tops) < 2:
        return tops
    if in_order:
        return [max(tops)]
    kept: list[tuple[Any, ...]] = []
    for top in sorted(set(tops), reverse=True):
        if not any(all(one <= other for one, other in zip(top, higher, strict=True)) for higher in kept):
            kept.append(top)
    return kept
