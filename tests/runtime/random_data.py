"""Random plain data, and what a value looks like from outside: what the two twins of its encoding are compared on.

The same seed makes the same value twice: writing a value may put its sets together anew.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import pickle
import random
import re
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from tests.runtime.plain_values import Colour, Frozen, Pair


@dataclasses.dataclass(slots=True)
class Knot:
    """What may hold itself, without a `__dict__`."""

    one: Any
    other: Any = None


class Counted(int):
    """A number of a class of its own, which is not plain data."""


EDGES = [0, -1, 127, 128, -128, -129, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1, 10**50, -(256**20), 256**20]
TEXTS = ["", "a", "key", "äö", "€", "\ud800", "a\udfffb", "\0", "𝄞", "long " * 20]
NOT_PLAIN: list[Callable[[], Any]] = [object, lambda: Counted(3), lambda: len, lambda: defaultdict(lambda: 1)]


class Maker:
    """Makes values out of a random number generator; some are in several places, and some hold themselves."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._spoils = self._rng.random() < 0.3  # whether what is no plain data may be in it
        self._left = self._rng.choice([5, 30, 100])  # so many more containers
        self._met: list[Any] = []  # what may be in another place, too
        self._keys: list[Any] = []  # the same, where it has to be a key

    def value(self) -> Any:
        """Anything."""
        rng = self._rng
        if self._met and rng.random() < 0.2:
            return rng.choice(self._met)
        if self._left <= 0 or (self._met and rng.random() < 0.2):
            return self._leaf()
        self._left -= 1
        if self._spoils and rng.random() < 0.05:
            return rng.choice(NOT_PLAIN)()
        made = self._one_of([
            self._tuple, self._tuple, self._list, self._list, self._dict, self._dict, self._set, self._frozenset,
            self._bytearray, self._other, self._knot, self._deep,
        ])  # fmt: skip
        self._met.append(made)
        return made

    def _one_of(self, makers: list[Callable[[], Any]]) -> Any:
        return self._rng.choice(makers)()

    def _leaf(self) -> Any:
        rng = self._rng
        return self._one_of([
            lambda: rng.choice(EDGES), lambda: rng.randrange(-300, 300), lambda: rng.getrandbits(rng.randrange(1, 200)),
            lambda: rng.choice(TEXTS), lambda: str(rng.randrange(100)), lambda: rng.randbytes(rng.randrange(20)),
            lambda: rng.choice([None, True, False, (), ...]), lambda: rng.choice([-0.0, 1.5, float("inf")]),
            lambda: struct.unpack("<d", rng.randbytes(8))[0], lambda: complex(rng.random(), -0.0),
        ])  # fmt: skip

    def _key(self, depth: int = 0) -> Any:
        rng = self._rng
        if depth > 3 or rng.random() < 0.7:
            return self._one_of([
                lambda: rng.randrange(-200, 200), lambda: rng.choice(TEXTS), lambda: rng.choice(EDGES),
                lambda: rng.choice([None, True, 1.5, (), b"x"]), lambda: Colour.RED,
                lambda: datetime.date(2020, 1, 1 + rng.randrange(9)),
            ])  # fmt: skip
        if self._keys and rng.random() < 0.3:
            return rng.choice(self._keys)
        made = self._one_of([
            lambda: (self._key(depth + 1), self._key(depth + 1)), lambda: Frozen(self._key(depth + 1)),
            lambda: frozenset(self._key(depth + 1) for _ in range(rng.randrange(4))),
            lambda: Pair(rng.randrange(9), "x"),
        ])  # fmt: skip
        self._keys.append(made)
        self._met.append(made)
        return made

    def _size(self) -> int:
        return self._rng.choice([0, 1, 2, 2, 3, 4, 8])

    def _tuple(self) -> Any:
        return tuple([self.value() for _ in range(self._size())])

    def _list(self) -> Any:
        made: list[Any] = []
        self._met.append(made)
        for _ in range(self._size()):
            made.append(self.value())
        return made

    def _dict(self) -> Any:
        made: dict[Any, Any] = self._rng.choice([dict, dict, dict, OrderedDict])()
        self._met.append(made)
        for _ in range(self._size()):
            made[self._key()] = self.value()
        return made

    def _set(self) -> Any:
        """A set from which something was removed, so that it is iterated in an order of its own."""
        made = {self._key() for _ in range(self._rng.randrange(12))}
        for each in list(made):
            if self._rng.random() < 0.3:
                made.discard(each)
        return made

    def _frozenset(self) -> Any:
        return frozenset(self._key() for _ in range(self._size()))

    def _bytearray(self) -> Any:
        return bytearray(self._rng.randbytes(self._size()))

    def _other(self) -> Any:
        rng = self._rng
        return self._one_of([
            lambda: decimal.Decimal(rng.randrange(1000)) / 7, lambda: Counter("abca"), lambda: Pair(1, "x"),
            lambda: deque([self.value() for _ in range(self._size())], 9), lambda: defaultdict(list, {1: self.value()}),
            lambda: Frozen(self.value()), lambda: Colour.BLUE, lambda: range(3, 9, 2),
        ])  # fmt: skip

    def _knot(self) -> Any:
        made = Knot(None)
        self._met.append(made)
        made.one, made.other = self.value(), self.value()
        return made

    def _deep(self) -> Any:
        """What is nested about as deep as it may be, one time in ten."""
        made = self.value()
        for _ in range(self._rng.choice([190, 205]) if self._rng.random() < 0.1 else 5):
            made = self._rng.choice([(made,), [made], {1: made}])
        return made


def shape(value: Any) -> list[Any]:
    """All that can be told of a value, part by part: types, bits, orders of iteration, what is the same object."""
    told: list[Any] = []
    numbers: dict[int, int] = {}
    alive: list[Any] = []  # what has a number, so that nothing else gets its identity

    def tell(value: Any) -> None:
        kind = type(value)
        if kind is float:
            told.append(struct.pack("<d", value))
        elif value is None or kind in (int, bool, str, bytes) or (kind is tuple and not value):
            told.append((kind.__name__, value))
        elif id(value) in numbers:
            told.append(("again", numbers[id(value)]))
        else:
            numbers[id(value)] = len(numbers)
            alive.append(value)
            held = _held(value)
            name = f"{kind.__module__}.{kind.__qualname__}"
            told.append((name, _look(value)) if held is None else (name, len(held)))
            for each in held or ():
                tell(each)

    tell(value)
    return told


def _held(value: Any) -> list[Any] | None:
    """What a value holds, in order; None where it is told in one piece."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        slots = [name for name in getattr(value, "__slots__", ()) if hasattr(value, name)]
        return [*((name, getattr(value, name)) for name in slots), *getattr(value, "__dict__", {}).items()]
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    return [*value] if isinstance(value, list | tuple | set | frozenset | deque) else None


def _look(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas"):
        return pickle.dumps(value)
    return re.sub("0x[0-9a-f]+", "", repr(value))
