"""Machines written as tables, whose steps have names: for tests of what explorations decide."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

S = TypeVar("S", bound=Hashable)


class Labelled(Generic[S]):
    """For each state its steps, each a name and the state after it."""

    def __init__(self, table: Mapping[S, list[tuple[str, S]]], start: Iterable[S]) -> None:
        self.table = table
        self.start = list(start)

    def initial(self) -> Iterable[S]:
        return self.start

    def successors(self, state: S) -> Iterable[tuple[Any, S]]:
        return self.table.get(state, [])

    def representative(self, state: S) -> Hashable:
        return state

    def visible(self, state: S) -> Hashable:
        return state
