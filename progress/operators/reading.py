"""What operators are given, checked before it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from progress.errors import PointstampError, brief
from progress.local_history import is_hashable


def not_an_event(value: object) -> PointstampError:
    """What came in is neither data nor a watermark."""
    return PointstampError("PS801", f"{brief(value)} is not an event", "DT(time, data) or WM(time)")


def not_a_batch(data: object) -> PointstampError:
    """The data of an event are not a batch."""
    right = "a list of (time, data), as batch() puts out"
    return PointstampError("PS801", f"the data {brief(data)} are not a batch", right)


def called(name: str, given: object) -> None:
    """Refuse what is to be called and cannot be (PS802)."""
    if not callable(given):
        raise PointstampError("PS802", f"{brief(given)} cannot be the {name} of an operator", "something to be called")


def two_keys(given: object) -> None:
    """Refuse what are not the keys of a join (PS802)."""
    if given is not None and (not isinstance(given, tuple) or len(given) != 2 or not all(map(callable, given))):
        right = "keys=(of_left, of_right), two functions"
        raise PointstampError("PS802", f"{brief(given)} cannot be the keys of an operator", right)


def stream(events: Iterable[Any]) -> Iterator[Any]:
    """The items of a stream; PS801 for what has none."""
    try:
        return iter(events)
    except TypeError:
        raise PointstampError(
            "PS801", f"{brief(events)} is not a stream", "a list of events, or any iterable"
        ) from None


def times_of_watermarks(name: str, given: Iterable[Any]) -> list[Any]:
    """The times of watermarks that have come; PS802 for what is not a list of any."""
    try:
        return [*given]
    except TypeError:
        wrong = f"{brief(given)} cannot be the {name} of an operator"
        raise PointstampError("PS802", wrong, f"{name}=[Left(time), Right(time), ...]") from None


def pairs(name: str, given: Iterable[Any]) -> list[tuple[Any, Any]]:
    """A buffer of (time, data); PS802 for anything else."""
    right = f"{name}=[(time, data), ...]"
    try:
        found = [(time, data) for time, data in given]
    except (TypeError, ValueError):
        raise PointstampError("PS802", f"{brief(given)} cannot be the {name} of an operator", right) from None
    return found


def batch_of(data: object) -> list[tuple[Any, Any]]:
    """The data of an event as a batch; PS801 for anything else."""
    if not isinstance(data, list | tuple) or not all(isinstance(each, tuple) and len(each) == 2 for each in data):
        raise not_a_batch(data)
    return [*data]


def count(items: Iterable[Any]) -> Counter[Any]:
    """`mset`. PS801 where an item has no hash. Cost: O(items)."""
    kept = [*items]
    try:
        return Counter(kept)
    except TypeError:
        unhashable = next((item for item in kept if not is_hashable(item)), kept)
        right = "data with a hash, such as numbers, texts or tuples"
        raise PointstampError("PS801", f"{brief(unhashable)} cannot be counted", right) from None
