"""Data gathered until they are complete, with all that was complete before (section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.operators.batch import batch
from progress.operators.compose import Composed, compose
from progress.operators.incr import incr
from progress.order import Domain


def incr_batch(
    buffer: Iterable[tuple[Any, Any]] = (), batches: Iterable[tuple[Any, Any]] = (), *, domain: Domain | None = None
) -> Composed:
    """`batch` and then `incr`: for each time that is completed, all data that are complete then.

    Laws (18) to (21), which follow from those of the two.

    >>> from progress.operators import DT, WM, produce
    >>> list(produce(incr_batch(), [DT(0, "a"), WM(0), DT(1, "b"), WM(1)]))
    [DT(0, [(0, 'a')]), WM(0), DT(1, [(0, 'a'), (1, 'b')]), WM(1)]

    Returns
    -------
    The operator.
    """
    return compose(batch(buffer, domain=domain), incr(batches))
