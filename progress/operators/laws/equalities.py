"""Operators that are equal: (5), (6), (24) and (26), checked on finite streams (sections 3.2 and 5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from progress.operators.compose import compose
from progress.operators.event import Event
from progress.operators.histogram import histogram
from progress.operators.operator import AnyOperator, produce
from progress.operators.skip import skip
from progress.operators.streams import is_monotone
from progress.operators.total_histogram import total_histogram
from progress.order import Domain


class Difference(NamedTuple):
    """The first stream on which two productions differ, and both of them."""

    stream: tuple[Any, ...]
    one: tuple[Any, ...]
    other: tuple[Any, ...]


def skips(operator: AnyOperator, count: int, streams: Iterable[Sequence[Any]]) -> Difference | None:
    """(5): skip(operator, count) puts out what the operator does, less the first `count`; else where it does not.

    >>> from progress.operators import DT, WM, batch
    >>> skips(batch(), 1, [[DT(0, "a"), WM(0)]])
    """
    skipping = skip(operator, count)
    return _differ(
        (tuple(stream), tuple(produce(skipping, stream)), tuple(islice(produce(operator, stream), count, None)))
        for stream in streams
    )


def composes(first: AnyOperator, second: AnyOperator, streams: Iterable[Sequence[Any]]) -> Difference | None:
    """(6): compose(first, second) puts out what `second` makes of what `first` puts out; else where it does not.

    On finite streams its precondition holds always.

    >>> from progress.operators import DT, WM, batch, incr
    >>> composes(batch(), incr(), [[DT(0, "a"), WM(0)]])
    """
    composed = compose(first, second)
    return _differ(
        (tuple(stream), tuple(produce(composed, stream)), tuple(produce(second, produce(first, stream))))
        for stream in streams
    )


def equal_on_monotone(
    one: AnyOperator, other: AnyOperator, streams: Iterable[Sequence[Event]], *, domain: Domain | None = None
) -> Difference | None:
    """(26): what `eq_op` promises: two operators put out the same on the monotone ones of these streams."""
    return _differ(
        (tuple(stream), tuple(produce(one, stream)), tuple(produce(other, stream)))
        for stream in streams
        if is_monotone(stream, domain=domain)
    )


def total_is_enough(streams: Iterable[Sequence[Event]], *, domain: Domain | None = None) -> Difference | None:
    """(24): over a total order, `total_histogram` puts out what `histogram` does on monotone streams.

    >>> from progress.operators import DT, WM
    >>> total_is_enough([[DT(0, "a"), WM(0), WM(1)], [DT(1, "a"), WM(1), DT(0, "a"), WM(0)]])
    """
    return equal_on_monotone(total_histogram(domain=domain), histogram(domain=domain), streams, domain=domain)


def _differ(productions: Iterable[tuple[tuple[Any, ...], ...]]) -> Difference | None:
    return next((Difference(*found) for found in productions if found[1] != found[2]), None)
