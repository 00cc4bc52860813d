"""Operators as state machines on events, and what they make of a whole stream (section 3.1).

An operator is applied to one item and gives the operator that it has become, with a list of what leaves; `exit` says
what leaves when no more comes. Law: `apply` changes nothing, so an operator may be applied again and again.

`produce` is the semantics: what an operator makes of a stream, finite or infinite, as lazily as the stream comes. It
works on a copy, which it changes in place, so that only `apply` costs a copy of what the operator keeps.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, Self, runtime_checkable

from progress.errors import PointstampError, brief
from progress.operators.reading import stream


@runtime_checkable
class AnyOperator(Protocol):
    """What an operator has to be: the codatatype `op` with its selectors `apply` and `exit`."""

    def apply(self, event: Any) -> tuple[Any, list[Any]]:
        """The operator after this item, and what leaves."""

    def exit(self) -> Iterable[Any]:
        """What leaves when no more comes."""


class Operator(ABC):
    """An operator of this package: `apply` by a copy that takes the item in place.

    Examples
    --------
    >>> from progress.operators import DT, WM, Operator, batch
    >>> gathers = batch()
    >>> isinstance(gathers, Operator)
    True
    >>> after, left = gathers.apply(DT(0, "a"))
    >>> after.apply(WM(0))[1]
    [DT(0, [(0, 'a')]), WM(0)]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """What it is, and what it keeps."""
        return f"{type(self).__name__}({', '.join(map(brief, self.kept()))})"

    @abstractmethod
    def take(self, event: Any) -> list[Any]:
        """Become what this item makes of the operator; what leaves."""

    def exit(self) -> Iterable[Any]:
        """What leaves when no more comes; the operator stays as it is."""
        return ()

    def kept(self) -> tuple[Any, ...]:
        """What is kept between two items, as plain data: the paper's buffers. Cost: that of copying them."""
        return ()

    @abstractmethod
    def resumed(self, *kept: Any) -> Self:
        """An operator like this one that has kept what another one's `kept` says."""

    def apply(self, event: Any) -> tuple[Self, list[Any]]:
        """The operator after this item, and what leaves. Cost: a copy of what is kept, and that of `take`."""
        evolved = self.resumed(*self.kept())
        return evolved, evolved.take(event)


class Stepwise(Operator):
    """An operator of anybody's, known by `apply` and `exit` alone."""

    __slots__ = ("_operator",)

    def __init__(self, operator: AnyOperator) -> None:
        self._operator: Any = operator

    def take(self, event: Any) -> list[Any]:
        """What leaves."""
        self._operator, leaving = self._operator.apply(event)
        return list(leaving)

    def exit(self) -> Iterable[Any]:
        """What leaves when no more comes."""
        leaving: Iterable[Any] = self._operator.exit()
        return leaving

    def kept(self) -> tuple[Any, ...]:
        """The operator, which nothing changes."""
        return (self._operator,)

    def resumed(self, *kept: Any) -> Stepwise:
        """Another holder of it."""
        return Stepwise(*kept)


def copy_of(operator: AnyOperator) -> Operator:
    """A copy that may be changed in place; PS802 for what is not an operator."""
    if isinstance(operator, Operator):
        return operator.resumed(*operator.kept())
    if not isinstance(operator, AnyOperator):
        right = "something with apply(event) and exit(), such as batch()"
        raise PointstampError("PS802", f"{brief(operator)} is not an operator", right)
    return Stepwise(operator)


PATIENCE = 1_000_000


def produce(operator: AnyOperator, events: Iterable[Any], patience: int | None = PATIENCE) -> Iterator[Any]:
    """What an operator makes of a stream (`produce`), lazily: an item is asked for when all before it has been given.

    An operator that never puts anything out on an infinite stream is *unproductive*: in the paper its production is the
    empty stream, which no program can find out. It is waited for, and a RuntimeWarning says so once when `patience`
    items in a row gave nothing (None: never).

    >>> from progress.operators import DT, WM, batch
    >>> list(produce(batch(), [DT(0, "a"), DT(1, "b"), WM(0)]))
    [DT(0, [(0, 'a')]), WM(0), DT(1, [(1, 'b')])]

    Returns
    -------
    What leaves, item by item.
    """
    current = copy_of(operator)
    silent = 0
    for event in stream(events):
        leaving = current.take(event)
        if leaving:
            silent = 0
            yield from leaving
            continue
        silent += 1
        if silent == patience:
            text = f"an operator has put out nothing for {patience:,} items in a row (patience=None waits in silence)"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
    yield from current.exit()
