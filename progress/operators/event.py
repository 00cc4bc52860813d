"""Events of a time-aware stream, and the times of two streams in one (sections 4 and 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class DT:
    """A data item with its time.

    >>> DT(3, "a")
    DT(3, 'a')
    """

    time: Any
    data: Any

    def __repr__(self) -> str:
        return f"DT({self.time!r}, {self.data!r})"


@dataclass(frozen=True, slots=True)
class WM:
    """A watermark: no data at or before its time come any more.

    >>> WM(3)
    WM(3)
    """

    time: Any

    def __repr__(self) -> str:
        return f"WM({self.time!r})"


Event: TypeAlias = DT | WM


class _Side:
    """A time of one of two streams. Times of one side are ordered as their values; sides are never comparable (5.2)."""

    __slots__ = ()
    value: Any

    def __le__(self, other: object) -> bool:
        return type(other) is type(self) and self.value <= other.value

    def __lt__(self, other: object) -> bool:
        return self != other and self <= other

    def __ge__(self, other: object) -> bool:
        return type(other) is type(self) and other.value <= self.value

    def __gt__(self, other: object) -> bool:
        return self != other and self >= other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Left(_Side):
    """A time of the first of two streams.

    >>> Left(1) <= Left(2), Left(1) <= Right(2)
    (True, False)
    """

    value: Any


@dataclass(frozen=True, slots=True, repr=False)
class Right(_Side):
    """A time of the second of two streams.

    Examples
    --------
    >>> from progress.operators import Left, Right
    >>> Right(1) <= Right(2), Right(1) <= Left(2)
    (True, False)
    """

    value: Any
