"""What is done after something that has to be waited for, as `async def` methods and functions give it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from types import AsyncGeneratorType, GeneratorType
from typing import Any

BY_YIELD = frozenset({GeneratorType, AsyncGeneratorType})
PLAIN = frozenset({bool, int, float, str, bytes, tuple, list, dict, set, type(None)})  # nobody waits for any of these


class Following:
    """Something to be waited for: first some results, one after the other, then what follows from all of them.

    Results that need no waiting may be among them. Where one raises, or nobody waits, those after it are closed: they
    will not be waited for.
    """

    def __init__(self, results: Iterable[Any], then: Callable[[list[Any]], object]) -> None:
        self._left = deque(results)
        self._then = then

    def __await__(self) -> Generator[Any, Any, None]:
        found = []
        try:
            while self._left:
                result = self._left.popleft()
                found.append((yield from result.__await__()) if hasattr(result, "__await__") else result)
        finally:
            self.close()
        self._then(found)

    def close(self) -> None:
        """Nobody waits for what is left."""
        while self._left:
            close(self._left.popleft())


def is_by_yield(result: Any) -> bool:
    """Whether a call gave a generator, as one with `yield` does: nothing of it has happened."""
    return type(result) in BY_YIELD


def close(result: Any) -> None:
    """What was to be waited for will not be."""
    end = getattr(result, "close", None) or getattr(result, "cancel", None)
    if end is not None and hasattr(result, "__await__"):
        end()
