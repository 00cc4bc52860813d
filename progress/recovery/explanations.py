"""One execution explained by another (FT 5.3, Definitions 5.4 and 5.6): each thing observed is observed there, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from progress.recovery.observability import Observability


def explained(
    execution: Sequence[Any], by: Sequence[Any], observe: Observability, specified: Observability | None = None
) -> tuple[int, ...] | None:
    """Definition 5.4: for each configuration of an execution, one of the other of which the same is observed.

    The answer has their places, the first ones that fit; None when there is none for some configuration. `specified` is
    O', by default O. Cost: O(length of both).
    """
    places: dict[Any, int] = {}
    for place, c in enumerate(by):
        places.setdefault((specified or observe).seen(c), place)
    found = [places.get(observe.seen(c)) for c in execution]
    return _all_of(found)


def explained_monotonically(
    execution: Sequence[Any], by: Sequence[Any], observe: Observability, specified: Observability | None = None
) -> tuple[int, ...] | None:
    """Definition 5.6: the same with places h that never go back. The least such h; None when there is none.

    Lemma 5.7: where what is observed only grows, in one order for both, this exists whenever Definition 5.4 holds.
    Cost: O(length of both).
    """
    seen = [(specified or observe).of(c) for c in by]
    place = 0
    found: list[int | None] = []
    for c in execution:
        wanted = observe.of(c)
        at = next((later for later in range(place, len(seen)) if seen[later] == wanted), None)
        found.append(at)
        if at is None:
            break
        place = at
    return _all_of(found)


def _all_of(places: Iterable[int | None]) -> tuple[int, ...] | None:
    found = list(places)
    return None if None in found else tuple(place for place in found if place is not None)
