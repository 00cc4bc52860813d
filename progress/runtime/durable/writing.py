"""Plain data as bytes, in the form that `form.py` describes."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any

from progress.runtime.durable.form import DEEPEST, MOST, NotPlain, NotRead, check_key

SIZE = Struct("<I")
SHORT, LONG, REAL = Struct("<cb"), Struct("<cq"), Struct("<cd")
SIZED = Struct("<cI")

Parts = Callable[[Any], tuple[str, Any, bool] | None]


def encoded(value: Any, parts: Parts, *, rebuilds: bool = False) -> bytes:
    """The bytes of plain data; `NotPlain` where something else is in it.

    Parameters
    ----------
    value : what is written
    parts : of a value of any other kind its name, what it is made of, and whether it may hold itself; None: not plain
    rebuilds : whether sets are put together anew, element by element in the order of their iteration, as who reads
        them will. Otherwise what is read may be iterated in another order than the set that goes on living here. Nobody
        else may be using them

    Cost: O(all that is in it).
    """
    writer = _Writer(parts, rebuilds)
    writer.write(value, 0)
    return b"".join(writer.pieces)


class _Writer:
    def __init__(self, parts: Parts, rebuilds: bool) -> None:
        self.pieces: list[bytes] = []
        self._parts = parts
        self._rebuilds = rebuilds
        self._numbers: dict[int, int] = {}  # by identity; -1: it is being written, and gets its number afterwards
        self._alive: list[Any] = []  # what has a number, or is made for the writing alone
        self._count = 0
        self._writers: dict[type, Callable[[Any, int], None]] = {
            tuple: self._tuple, list: self._list, dict: self._dict, set: self._set, frozenset: self._frozenset,
            bytearray: self._bytearray,
        }  # fmt: skip

    def write(self, value: Any, depth: int) -> None:
        kind = type(value)
        add = self.pieces.append
        if kind is str:
            text = value.encode("utf-8", "surrogatepass")
            add(SIZED.pack(b"s", self._size(len(text))))
            add(text)
        elif kind is int:
            if -128 <= value < 128:
                add(SHORT.pack(b"j", value))
            elif -(1 << 63) <= value < 1 << 63:
                add(LONG.pack(b"i", value))
            else:
                number = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
                add(SIZED.pack(b"I", self._size(len(number))))
                add(number)
        elif kind is float:
            add(REAL.pack(b"f", value))
        elif value is None:
            add(b"N")
        elif kind is bool:
            add(b"T" if value else b"F")
        elif kind is bytes:
            add(SIZED.pack(b"y", self._size(len(value))))
            add(value)
        elif kind is tuple and not value:
            add(SIZED.pack(b"(", 0))
        else:
            number = self._numbers.get(id(value))
            if number is not None:
                if number < 0:
                    raise NotPlain(f"a {kind.__name__} holds itself")
                add(SIZED.pack(b"r", number))
                return
            if depth >= DEEPEST:
                raise NotPlain(f"it is nested more than {DEEPEST} deep")
            self._writers.get(kind, self._other)(value, depth + 1)

    def _size(self, size: int) -> int:
        if size > MOST:
            raise NotPlain(f"it has {size} parts, and {MOST} is the most")
        return size

    def _begin(self, value: Any) -> None:
        """It gets its number before what it holds."""
        self._numbers[id(value)] = self._size(self._count)
        self._count += 1
        self._alive.append(value)

    def _open(self, value: Any) -> None:
        """It gets its number after what it holds, which it cannot be itself."""
        self._numbers[id(value)] = -1
        self._alive.append(value)

    def _end(self, value: Any) -> None:
        self._numbers[id(value)] = self._size(self._count)
        self._count += 1

    def _all(self, letter: bytes, values: Any, depth: int, are_keys: bool = False) -> None:
        self.pieces.append(SIZED.pack(letter, self._size(len(values))))
        for number, value in enumerate(values):
            try:
                if are_keys:
                    _check(value)
                self.write(value, depth)
            except NotPlain as error:
                error.way.append(number)
                raise

    def _tuple(self, value: Any, depth: int) -> None:
        self._open(value)
        self._all(b"(", value, depth)
        self._end(value)

    def _list(self, value: Any, depth: int) -> None:
        self._begin(value)
        self._all(b"[", value, depth)

    def _dict(self, value: Any, depth: int) -> None:
        self._begin(value)
        self.pieces.append(SIZED.pack(b"{", self._size(len(value))))
        for key, each in value.items():
            try:
                _check(key)
                self.write(key, depth)
                self.write(each, depth)
            except NotPlain as error:
                error.way.append(key)
                raise

    def _set(self, value: Any, depth: int) -> None:
        self._begin(value)
        items = list(value)
        self._all(b"<", items, depth, are_keys=True)
        if self._rebuilds:
            value.clear()
            for item in items:
                value.add(item)

    def _frozenset(self, value: Any, depth: int) -> None:
        self._open(value)
        self._all(b">", value, depth, are_keys=True)
        self._end(value)

    def _bytearray(self, value: Any, depth: int) -> None:
        self._begin(value)
        self.pieces.append(SIZED.pack(b"Y", self._size(len(value))))
        self.pieces.append(bytes(value))

    def _other(self, value: Any, depth: int) -> None:
        found = self._parts(value)
        if found is None:
            raise NotPlain(f"{_kind(value)} is not plain data")
        name, made_of, may_hold_itself = found
        text = name.encode("utf-8", "surrogatepass")
        if len(text) > 255:
            raise NotPlain(f"{_kind(value)} has a name of more than 255 bytes")
        self.pieces.append((b"O" if may_hold_itself else b"o") + bytes((len(text),)) + text)
        self._alive.append(made_of)
        if may_hold_itself:
            self._begin(value)
            self.write(made_of, depth)
        else:
            self._open(value)
            self.write(made_of, depth)
            self._end(value)


def _check(key: Any) -> None:
    try:
        check_key(key)
    except (NotRead, RecursionError):
        raise NotPlain("a key is too large") from None


def _kind(value: Any) -> str:
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"a value of the class {name}"
