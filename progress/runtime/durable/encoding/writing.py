"""Plain data as bytes, in the form that `form.py` describes."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any

from progress.runtime.durable.encoding.form import COMPILED, DEEPEST, DEEPEST_SETS, MOST, NotPlain, NotRead, check_key

SIZE = Struct("<I")
SHORT, LONG, REAL = Struct("<cb"), Struct("<cq"), Struct("<cd")
SIZED = Struct("<cI")

Parts = Callable[[Any], tuple[str, Any, bool] | None]
Sets = list[set[Any] | frozenset[Any]]
InOrder = Callable[[Any, int], list[Any]]  # the elements of a set, and how deep they are


def encoded(value: Any, parts: Parts, sets: Sets | None = None, *, kernel: bool = True) -> bytes:
    """The bytes of plain data; `NotPlain` where something else is in it.

    Parameters
    ----------
    value : what is written
    parts : of a value of any other kind its name, what it is made of, and whether it may hold itself; None: not plain
    sets : gets all sets that are in it: what is read of one may be iterated over in another order (`put_together`)
    kernel : whether the compiled kernel does it where it was built; the bytes are the same

    Cost: O(all that is in it, each part once more for every set around it).
    """
    return _InOrder(parts, kernel).encoded(value, 0, sets)


def put_together(sets: Sets, parts: Parts, *, kernel: bool = True) -> None:
    """Put sets together anew, element by element, as who reads them does; those that cannot be changed stay.

    From then on they are iterated over as what was written of them, whatever is done to both. Nobody else may be using
    them meanwhile.
    """
    in_order = _InOrder(parts, kernel)
    for each in sets:
        if isinstance(each, set):
            elements = in_order.elements(each, 0)
            each.clear()
            for element in elements:
                each.add(element)


class _InOrder:
    """Writes plain data, the elements of sets in an order that depends on nothing but them.

    An element is written by itself to find its place, with the sets in it in their order. That is kept, or each level
    of sets in sets would double the work.
    """

    def __init__(self, parts: Parts, kernel: bool) -> None:
        self._parts = parts
        self._compiled = COMPILED if kernel else None
        self._orders: dict[int, tuple[Any, list[Any]]] = {}  # of sets in sets, by identity
        self._around: set[int] = set()  # which sets are being put in order

    def encoded(self, value: Any, depth: int, sets: Sets | None) -> bytes:
        """The bytes of what is so deep in something else."""
        if self._compiled is not None:
            return self._compiled.encoded(value, self._parts, self.elements, sets, depth)
        writer = _Writer(self._parts, self.elements, sets)
        writer.write(value, depth)
        return b"".join(writer.pieces)

    def elements(self, values: set[Any] | frozenset[Any], depth: int) -> list[Any]:
        """The elements of a set that are so deep in something else: so are they written."""
        kinds = set(map(type, values))
        if len(values) < 2 or kinds <= {int} or kinds <= {str}:
            return sorted(values)
        if id(values) in self._around:
            raise NotPlain("a set has no order: its elements hold the set itself")
        if len(self._around) >= DEEPEST_SETS:
            raise NotPlain(f"sets are nested more than {DEEPEST_SETS} deep in sets")
        if id(values) in self._orders:
            return self._orders[id(values)][1]
        self._around.add(id(values))
        order = sorted(values, key=lambda element: self.encoded(element, depth, None))
        self._around.remove(id(values))
        if self._around:
            self._orders[id(values)] = values, order
        return order


class _Writer:
    def __init__(self, parts: Parts, in_order: InOrder, sets: Sets | None) -> None:
        self.pieces: list[bytes] = []
        self._parts = parts
        self._in_order = in_order
        self._sets = sets
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
        if not value:  # there is but one, and it has no number
            self.pieces.append(SIZED.pack(b"(", 0))
            return
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
        self._all(b"<", self._in_order(value, depth), depth, are_keys=True)
        if self._sets is not None:
            self._sets.append(value)

    def _frozenset(self, value: Any, depth: int) -> None:
        self._open(value)
        self._all(b">", self._in_order(value, depth), depth, are_keys=True)
        self._end(value)
        if self._sets is not None:
            self._sets.append(value)

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
