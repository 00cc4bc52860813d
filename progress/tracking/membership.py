"""Quick tests of whether a value is a time of a domain: the answers of `contains`, for the usual domains faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from progress.order import Domain, Int, Lex, Nat, Product


def quick_contains(domain: Domain) -> Callable[[Any], bool]:
    """`domain.contains`, or a function that gives the same answer at a fraction of the cost."""
    if type(domain) is Int:
        return lambda value: type(value) is int
    if type(domain) is Nat and domain.maximum is None:
        return lambda value: type(value) is int and value >= 0
    if type(domain) in (Product, Lex):
        parts = domain.parts  # type: ignore[attr-defined]
        if parts and all(type(part) is Nat and part.maximum is None for part in parts):
            return _naturals(len(parts), domain.contains)
    return domain.contains


def _naturals(length: int, contains: Callable[[Any], bool]) -> Callable[[Any], bool]:
    if length == 2:

        def pair(value: Any) -> bool:
            if type(value) is not tuple:
                return contains(value)
            if len(value) != 2:
                return False
            first, second = value
            return type(first) is int and first >= 0 and type(second) is int and second >= 0

        return pair

    def row(value: Any) -> bool:
        if type(value) is not tuple:
            return contains(value)
        if len(value) != length:
            return False
        return all(type(number) is int and number >= 0 for number in value)

    return row
