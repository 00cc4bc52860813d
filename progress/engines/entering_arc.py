"""What a vertex may ask of an arc that enters it: does it support this time, and what does it bring?

Over pairs of numbers, an arc that only adds is asked in O(log width), because it can be run backwards; any other is
asked by moving the whole frontier at its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from progress.engines.parted import PartedPlace
from progress.engines.vertex_state import PairPlace, Place
from progress.normal_form.coordinate import KEEP
from progress.normal_form.layout import layout_of
from progress.order import is_number
from progress.summary import NormalSummary, Summary


class Pull(Protocol):
    """An arc, seen from its target."""

    @property
    def cost(self) -> int:
        """What `supports` costs, in steps of `progress.effort`."""

    def supports(self, time: Any) -> bool:
        """Whether the time is the image of a time of the source's frontier."""

    def images(self, lost: Sequence[Any] | None = None) -> Iterable[Any]:
        """Images of the source's frontier, among them all that lie at or above one of `lost`; None: all."""


def pull(summary: Summary, source: Place, target: Place) -> Pull:
    """The quickest way to ask this arc."""
    if isinstance(source, PairPlace) and isinstance(target, PairPlace) and isinstance(summary, NormalSummary):
        amounts = summary.amounts
        if amounts is not None:
            return PairPull(source, amounts)
    if isinstance(source, PartedPlace) and isinstance(target, PartedPlace) and keeps_parts(summary):
        return PartedPull(source, summary.limits)
    return AnyPull(source, summary.limits)


def added_number(summary: Summary) -> int | None:
    """What a summary from numbers to numbers adds to each; None for one that does anything else."""
    amounts = summary.amounts if isinstance(summary, NormalSummary) and is_number(summary.source) else None
    return None if amounts is None else amounts[0]


def only_adds(summary: Summary) -> bool:
    """Whether the summary moves antichains to antichains, time by time: it only adds, to numbers or to rows."""
    return (
        isinstance(summary, NormalSummary)
        and summary.amounts is not None
        and (is_number(summary.source) or type(summary.source) is type(summary.target))
    )


def keeps_parts(summary: Summary) -> bool:
    """Whether a summary leads from each part to the same one, as far as is easily seen."""
    if not isinstance(summary, NormalSummary) or summary.source != summary.target:
        return False
    layout = layout_of(summary.source)
    if layout is None:
        return False
    return all(
        piece.source_case == piece.target_case
        and all(
            leaf.numeric or move == KEEP
            for leaf, move in zip(layout.rows[piece.source_case].leaves, piece.moves, strict=True)
        )
        for piece in summary.pieces
    )


class AnyPull:
    """An arc with any summary. Cost: one application for each time of the source's frontier."""

    __slots__ = ("_apply", "_source")

    def __init__(self, source: Place, apply: Callable[[Any], tuple[Any, ...]]) -> None:
        self._source = source
        self._apply = apply

    @property
    def cost(self) -> int:
        return 1 + self._source.width

    def supports(self, time: Any) -> bool:
        return any(time in self._apply(before) for before in self._source.times)

    def images(self, lost: Sequence[Any] | None = None) -> Iterable[Any]:
        return [after for before in self._source.times for after in self._apply(before)]


class PartedPull:
    """An arc that leads from each part of an order to the same one. Cost: that of the parts that are asked about."""

    __slots__ = ("_apply", "_source")

    def __init__(self, source: PartedPlace, apply: Callable[[Any], tuple[Any, ...]]) -> None:
        self._source = source
        self._apply = apply

    @property
    def cost(self) -> int:
        return 2

    def supports(self, time: Any) -> bool:
        return any(time in self._apply(before) for before in self._source.times_beside((time,)))

    def images(self, lost: Sequence[Any] | None = None) -> Iterable[Any]:
        times = self._source.times if lost is None else self._source.times_beside(lost)
        return [after for before in times for after in self._apply(before)]


class PairPull:
    """An arc that adds to pairs of numbers. Cost: O(log width), and the times that it brings."""

    __slots__ = ("_first", "_second", "_source")

    def __init__(self, source: PairPlace, amounts: Sequence[int]) -> None:
        self._source = source
        self._first, self._second = amounts

    @property
    def cost(self) -> int:
        return 1

    def supports(self, time: Any) -> bool:
        return self._source.holds((time[0] - self._first, time[1] - self._second))

    def images(self, lost: Sequence[Any] | None = None) -> Iterable[Any]:
        first, second = self._first, self._second
        if lost is None:
            return [(x + first, y + second) for x, y in self._source.times]
        low = min(time[0] for time in lost) - first
        high = min(time[1] for time in lost) - second
        return [(x + first, y + second) for x, y in self._source.between(low, high)]
