"""What many configurations have in common, computed and kept once: local steps, outputs, snapshots, streams.

Nothing here changes what is computed. A task's steps depend on what it sees alone, and many configurations look alike
to it: so exploring takes a quarter of the time, and configurations share their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Result = TypeVar("Result")
Value = TypeVar("Value", bound=Hashable)


class Once:
    """Results by what they depend on, and one object for equal values."""

    def __init__(self) -> None:
        self._results: dict[Any, Any] = {}
        self._values: dict[Any, Any] = {}

    def result(self, compute: Callable[..., Result], *given: Hashable) -> Result:
        """`compute(*given)`, computed at the first time."""
        key = (compute, *given)
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = compute(*given)
        return cast(Result, found)

    def kept(self, value: Value) -> Value:
        """The first of all values that were equal to this."""
        return cast(Value, self._values.setdefault(value, value))
