"""How keys and values are taken out of the values of a stream. No step of its own: the node that needs them does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Generic, NamedTuple

from graphs.streams.bags import Bags, K, T, V
from progress.errors import brief


class Keys(NamedTuple):
    """The key and the value of a value; neither: it is a pair of them."""

    key: Callable[[Any], Any] | None = None
    value: Callable[[Any], Any] | None = None

    def pairs(self, values: list[Any]) -> Iterable[tuple[Any, Any]]:
        """A pair of key and value for each."""
        if self.key is None:
            check_first(values)
            return values
        return zip(map(self.key, values), values if self.value is None else map(self.value, values), strict=True)

    def bags(self, values: list[Any]) -> dict[Any, list[Any]]:
        """The values of each key, in lists that are nobody else's."""
        found: dict[Any, list[Any]] = {}
        find = found.get
        for key, value in self.pairs(values):
            known = find(key)
            if known is None:
                found[key] = [value]
            else:
                known.append(value)
        return found

    def keys(self, values: list[Any]) -> Iterable[Any]:
        """The key of each."""
        if self.key is None:
            check_first(values)
            return [key for key, _ in values]
        return map(self.key, values)


def check_first(values: list[Any]) -> None:
    """Refuse values that are not pairs, by the first of them: mostly all are of a kind. Cost: O(1).

    Text of two characters and a mapping of two names could be unpacked, and nobody means that.
    """
    if not values:
        return
    first = values[0]
    if not (isinstance(first, tuple | list) and len(first) == 2):
        try:
            _, _ = first
            is_pair = not isinstance(first, str | bytes | Mapping | Set)
        except (TypeError, ValueError):
            is_pair = False
        if not is_pair:
            raise TypeError(f"{brief(first)} is not a pair of a key and a value (key_on takes a key out of it)")


class Keyed(Generic[T, K, V]):
    """What all streams with keys have."""

    def __init__(self, stream: Bags[T, Any], keys: Keys) -> None:
        self._stream = stream
        self._keys = keys

    def __repr__(self) -> str:
        return f"<keyed {self._stream!r}>"
