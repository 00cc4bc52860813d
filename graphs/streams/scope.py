"""Scopes: the whole program, or the inside of a loop. All streams of a scope have times of one domain.

A loop's times are decided when the program is whole, since they depend on whether there is a loop in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from progress.order import Domain


class Scope:
    """Where streams have times of one domain; that of the whole program, or of a part with times of its own.

    `loop` (`graphs.streams.loop`) has those of loops, which stand in an outer one.
    """

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
