"""What operators ask of an order of times: Python's own `<=`, or a domain of `progress.order`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from progress.errors import PointstampError, brief
from progress.local_history import is_hashable
from progress.operators.event import Left, Right
from progress.order import NO_TIME, Domain, as_time, times_of

LessEqual = Callable[[Any, Any], bool]


def by_python(earlier: Any, later: Any) -> bool:
    """Python's own order, which may be partial, as that of frozensets is; PS804 where it has no answer."""
    try:
        return bool(earlier <= later)
    except TypeError:
        raise PointstampError(
            "PS804",
            f"{brief(earlier)} and {brief(later)} cannot be compared by <=",
            "times of one kind, or domain= with an order of progress.order",
        ) from None


class Times:
    """The times of one stream."""

    __slots__ = ("domain", "less_equal")

    def __init__(self, domain: Domain | None) -> None:
        given: object = domain
        if isinstance(given, type) or not (given is None or hasattr(given, "less_equal")):
            right = "an order of progress.order, such as Nat(); without one, times are compared by <="
            raise PointstampError("PS802", f"{brief(domain)} is not an order of times", right)
        self.domain = domain
        self.less_equal: LessEqual = by_python if domain is None else domain.less_equal

    def checked(self, time: Any) -> Any:
        """The time itself; PS803 for what is not a time of the domain or has no hash."""
        if self.domain is None:
            if is_hashable(time):
                return time
            right = "a value with a hash, such as a number, a text or a tuple"
        else:
            found = as_time(self.domain, time)
            if found is not NO_TIME:
                return found
            right = times_of(self.domain)
        raise PointstampError("PS803", f"{brief(time)} is not a time of this stream", right)


class SidedTimes(Times):
    """`Left` and `Right` of the times of one domain; the two sides are never comparable."""

    __slots__ = ("of_a_side",)

    def __init__(self, domain: Domain | None) -> None:
        super().__init__(None)
        self.of_a_side = Times(domain)
        within = self.of_a_side.less_equal
        self.less_equal = lambda earlier, later: type(earlier) is type(later) and within(earlier.value, later.value)

    def checked(self, time: Any) -> Any:
        """The time itself; PS803 for what is not a side of a time."""
        if type(time) in (Left, Right):
            self.of_a_side.checked(time.value)
            return time
        raise PointstampError(
            "PS803", f"{brief(time)} is not a time of two streams in one", "Left(time) or Right(time)"
        )


def last_of_each(items: Iterable[Any]) -> list[Any]:
    """`remdups`: each once, where it stood last. Cost: O(n).

    >>> last_of_each(["a", "b", "a"])
    ['b', 'a']
    """
    return list(dict.fromkeys(reversed([*items])))[::-1]


def maximal_antichain(times: Iterable[Any], less_equal: LessEqual) -> list[Any]:
    """`maximal_antichain_list`: the distinct maximal ones, in the order of first occurrence. Cost: O(n * width)."""
    kept: dict[Any, None] = {}
    for time in dict.fromkeys(times):
        if any(less_equal(time, other) for other in kept):
            continue
        for lower in [other for other in kept if less_equal(other, time)]:
            del kept[lower]
        kept[time] = None
    return list(kept)
