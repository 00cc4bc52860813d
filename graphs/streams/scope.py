"""Scopes: the whole program, or the inside of a loop. All streams of a scope have times of one domain.

A loop's times are decided when the program is whole, since they depend on whether there is a loop in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphs.streams.refusals import check_number, refused
from progress.order import Domain, Int, Nat


class Scope:
    """Where streams have times of one domain; that of the whole program, or of a part with times of its own.

    `graphs.streams.loops` has those of loops, which stand in an outer one. `is_open` while steps can be added.
    """

    is_open = True

    def __init__(self, domain: Domain | None = None, outer: Scope | None = None, name: str = "") -> None:
        self.outer = outer
        self.name = name
        self.inner: list[Scope] = []  # the loops in it
        self._domain = domain
        if outer is not None:
            outer.inner.append(self)

    def domain(self) -> Domain:
        """The domain of its times; asked when the program is whole."""
        assert self._domain is not None
        return self._domain

    def seen(self, time: Any) -> Any:
        """A time as functions of the user's see it."""
        return time

    def around(self) -> Iterator[Scope]:
        """This scope, and those that it stands in, from the inside to the outside."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def holds(self, other: Scope) -> bool:
        """Whether the other one is this scope, or stands in it."""
        return any(scope is self for scope in other.around())

    def depth(self) -> int:
        """How many scopes it stands in."""
        return sum(1 for _ in self.around()) - 1

    def check_numbers(self, path: str, word: str) -> None:
        """Refuse a step that needs times that are numbers."""
        self._check_outside(path, word, "numbers")
        if not isinstance(self.domain(), Nat | Int):
            what = f"{path}: {word} needs times that are numbers, not those of {self.domain()!r}"
            raise refused("PS815", what, "roll_up to a domain of numbers before it")

    def check_within(self, path: str, within: int | None) -> None:
        """Refuse a distance of times that is none, where one is given, or times that have none."""
        if within is not None:
            check_number(path, within, "within", 0)
            self.check_numbers(path, "within")

    def check_order(self, path: str, word: str) -> None:
        """Refuse a step that needs times of which any two are in order."""
        self._check_outside(path, word, "times in one order")
        if not self.domain().is_total:
            what = f"{path}: {word} needs times of which any two are in order, not those of {self.domain()!r}"
            raise refused("PS815", what, "roll_up to such a domain before it")

    def _check_outside(self, path: str, word: str, needed: str) -> None:
        if self.outer is not None:
            raise refused(
                "PS815", f"{path}: {word} needs {needed}, and is inside of a loop", "before the loop, or behind it"
            )
