"""One place that is broken on purpose."""

from __future__ import annotations

from typing import NamedTuple

KERNEL = "progress/kernel"


class Mutant(NamedTuple):
    """What is broken, where, how, and the tests that have to notice."""

    name: str
    file: str
    old: str
    new: str
    suite: tuple[str, ...]


def within(folder: str, suite: tuple[str, ...], *broken: tuple[str, str, str, str]) -> tuple[Mutant, ...]:
    """Mutants of one folder that one suite judges: each its name, file there, right text and wrong."""
    return tuple(Mutant(name, f"{folder}/{file}", old, new, suite) for name, file, old, new in broken)
