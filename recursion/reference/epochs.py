"""What stands in front of stacks, word for word: the domains of epochs, a part of the oracle `recursion.reference`.

A domain is the plain data of the graph file: nat, int, finite, or a product of these; the standard library is all that
is imported.
"""

from __future__ import annotations

import itertools
from typing import Any

Json = Any


def is_epoch(domain: Json, value: Any) -> bool:
    """Whether a value is of the domain."""
    match domain:
        case "nat":
            return type(value) is int and value >= 0
        case "int":
            return type(value) is int
        case {"finite": options}:
            return isinstance(value, str) and value in options["elements"]
        case {"product": parts}:
            fits = isinstance(value, tuple) and len(value) == len(parts)
            return fits and all(map(is_epoch, parts, value))
    raise ValueError(f"not a domain of epochs: {domain!r}")


def epoch_less_equal(domain: Json, one: Any, other: Any) -> bool:
    """The order of epochs."""
    match domain:
        case "nat" | "int":
            return bool(one <= other)
        case {"finite": options}:
            below = [one]
            for element in below:
                below += [high for low, high in options.get("below", []) if low == element and high not in below]
            return other in below
        case {"product": parts}:
            return all(map(epoch_less_equal, parts, one, other))
    raise ValueError(f"not a domain of epochs: {domain!r}")


def least_epochs(domain: Json) -> list[Any]:
    """The minimal epochs of all; without epochs, and over the integers, none."""
    match domain:
        case None | "int":
            return []
        case "nat":
            return [0]
        case {"finite": options}:
            return [each for each in options["elements"] if all(high != each for _, high in options.get("below", []))]
        case {"product": parts}:
            return list(itertools.product(*map(least_epochs, parts)))
    raise ValueError(f"not a domain of epochs: {domain!r}")
