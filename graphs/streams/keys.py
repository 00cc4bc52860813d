"""How keys and values are taken out of the values of a stream. No step of its own: the node that needs them does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple

from graphs.streams.bags import Bags, K, T, V


class Keys(NamedTuple):
    """The key and the value of a value; neither: it is a pair of them."""

    key: Callable[[Any], Any] | None = None
    value: Callable[[Any], Any] | None = None

    def pairs(self, values: list[Any]) -> Iterable[tuple[Any, Any]]:
        """A pair of key and value for each."""
        if self.key is None:
            return values
        return zip(map(self.key, values), values if self.value is None else map(self.value, values), strict=True)

    def keys(self, values: list[Any]) -> Iterable[Any]:
        """The key of each."""
        return [key for key, _ in values] if self.key is None else map(self.key, values)


class Keyed(Generic[T, K, V]):
    """What all streams with keys have."""

    def __init__(self, stream: Bags[T, Any], keys: Keys) -> None:
        self._stream = stream
        self._keys = keys

    def __repr__(self) -> str:
        return f"<keyed {self._stream!r}>"
