"""What the code of a node says without being run: the names that it uses, and how often it sends.

Hints, never proofs: a function may do through another one what cannot be seen in it. What is concluded from them is
said to be unknown, or is left out.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any


def function_of(given: Any) -> Any:
    """The function behind a runnable, a method, a partial or an object that can be called; None where there is none."""
    for _ in range(10):  # as deep as anybody wraps
        inner = getattr(given, "func", None) or getattr(given, "afunc", None)
        if isinstance(given, functools.partial) or (inner is not None and not inspect.isroutine(given)):
            given = inner
        elif inspect.ismethod(given):
            given = given.__func__
        elif hasattr(given, "__wrapped__"):
            given = given.__wrapped__
        elif inspect.isfunction(given):
            return given
        elif callable(given) and not inspect.isroutine(given) and not inspect.isclass(given):
            given = type(given).__call__
        else:
            return None
    return None


def names_in(function: Any) -> set[str]:
    """The names that a function's code uses, in functions and comprehensions within it as well."""
    code = getattr(function, "__code__", None)
    return {name for each in _codes(code) for name in each.co_names} if code is not None else set()


def constants_in(function: Any) -> set[str]:
    """The texts that stand in a function's code: constants, names of keyword arguments."""
    code = getattr(function, "__code__", None)
    found: set[str] = set()
    for each in _codes(code) if code is not None else ():
        for constant in each.co_consts:
            parts = constant if isinstance(constant, tuple) else (constant,)
            found.update(part for part in parts if isinstance(part, str))
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
