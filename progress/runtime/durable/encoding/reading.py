"""Bytes as plain data: the inverse of `writing.py`. No code is run that the bytes choose (`form.py`)."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Protocol

from progress.garbage import without_cycle_search
from progress.runtime.durable.encoding.form import COMPILED, DEEPEST, SIMPLE, NotRead, check_key
from progress.runtime.durable.encoding.writing import SIZE

LONG, REAL = Struct("<q"), Struct("<d")
NO_MORE = "it ends too early"
LARGE = 1 << 16  # bytes: the search for reference cycles would look at what is read again and again


class Kinds(Protocol):
    """How values of other kinds are made."""

    def made(self, name: str, made_of: Any) -> Any:
        """A value that was written with `o`."""
        ...

    def begun(self, name: str) -> tuple[Any, Callable[[Any], None]]:
        """A value that was written with `O`, empty, and what fills it."""
        ...


def decoded(content: bytes, kinds: Kinds, *, kernel: bool = True) -> Any:
    """The plain data that these bytes are; `NotRead` where they are none.

    `kernel` says whether the compiled kernel reads them where it was built; the values are the same. Cost: O(bytes).
    """
    read = _decoded if COMPILED is None or not kernel else COMPILED.decoded
    if len(content) < LARGE:
        return read(content, kinds)
    with without_cycle_search():
        return read(content, kinds)


def _decoded(content: bytes, kinds: Kinds) -> Any:
    reader = _Reader(content, kinds)
    try:
        value = reader.read(0)
    except NotRead:
        raise
    except Exception as error:  # a list as a key, a text that is not UTF-8, whatever the hash of a class says
        raise NotRead(str(error)) from error
    if reader.place != len(content):
        raise NotRead("something follows the end")
    return value


class _Reader:
    def __init__(self, content: bytes, kinds: Kinds) -> None:
        self.place = 0
        self._content = content
        self._kinds = kinds
        self._objects: list[Any] = []
        self._readers: dict[int, Callable[[int], Any]] = {
            ord("("): self._tuple, ord("["): self._list, ord("{"): self._dict, ord("<"): self._set,
            ord(">"): self._frozenset, ord("Y"): self._bytearray, ord("o"): self._made, ord("O"): self._begun,
        }  # fmt: skip

    def read(self, depth: int) -> Any:
        letter = self._take(1)[0]
        if letter == 0x73:  # s
            return str(self._take(self._size()), "utf-8", "surrogatepass")
        if letter == 0x6A:  # j
            byte = self._take(1)[0]
            return byte - 256 if byte > 127 else byte
        if letter == 0x69:  # i
            number = LONG.unpack(self._take(8))[0]
            if -128 <= number < 128:
                raise NotRead("a number is longer than it has to be")
            return number
        if letter == 0x66:  # f
            return REAL.unpack(self._take(8))[0]
        if letter == 0x4E:  # N
            return None
        if letter == 0x54:  # T
            return True
        if letter == 0x46:  # F
            return False
        if letter == 0x79:  # y
            return self._take(self._size())
        if letter == 0x49:  # I
            return self._large()
        if letter == 0x72:  # r
            number = SIZE.unpack(self._take(4))[0]
            if number >= len(self._objects):
                raise NotRead("it refers to what is not there")
            return self._objects[number]
        if depth >= DEEPEST:
            raise NotRead("it is nested too deeply")
        read = self._readers.get(letter)
        if read is None:
            raise NotRead("it begins with no known letter")
        return read(depth + 1)

    def _take(self, size: int) -> bytes:
        begin = self.place
        end = self.place = begin + size
        if end > len(self._content):
            raise NotRead(NO_MORE)
        return self._content[begin:end]

    def _size(self, least: int = 1) -> int:
        """How many follow; each has at least so many bytes."""
        size: int = SIZE.unpack(self._take(4))[0]
        if size * least > len(self._content) - self.place:
            raise NotRead(NO_MORE)
        return size

    def _large(self) -> int:
        size = self._size()
        number = int.from_bytes(self._take(size), "little", signed=True)
        if -(1 << 63) <= number < 1 << 63 or size != number.bit_length() // 8 + 1:
            raise NotRead("a number is longer than it has to be")
        return number

    def _tuple(self, depth: int) -> tuple[Any, ...]:
        size = self._size()
        found = tuple([self.read(depth) for _ in range(size)])
        if size:
            self._objects.append(found)
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._objects.append(found)
        for _ in range(self._size()):
            found.append(self.read(depth))
        return found

    def _dict(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        self._objects.append(found)
        for number in range(self._size(2)):
            key = self._key(depth)
            value = self.read(depth)
            found[key] = value
            if len(found) != number + 1:
                raise NotRead("a key is there twice")
        return found

    def _key(self, depth: int) -> Any:
        key = self.read(depth)
        if type(key) not in SIMPLE:
            check_key(key)
        return key

    def _set(self, depth: int) -> set[Any]:
        found: set[Any] = set()
        self._objects.append(found)
        return self._fill(found, depth)

    def _frozenset(self, depth: int) -> frozenset[Any]:
        whole = frozenset(self._fill(set(), depth))
        self._objects.append(whole)
        return whole

    def _fill(self, found: set[Any], depth: int) -> set[Any]:
        for number in range(self._size()):
            found.add(self._key(depth))
            if len(found) != number + 1:
                raise NotRead("an element is there twice")
        return found

    def _bytearray(self, depth: int) -> bytearray:
        found = bytearray(self._take(self._size()))
        self._objects.append(found)
        return found

    def _name(self) -> str:
        return str(self._take(self._take(1)[0]), "utf-8", "surrogatepass")

    def _made(self, depth: int) -> Any:
        name = self._name()
        made = self._kinds.made(name, self.read(depth))
        self._objects.append(made)
        return made

    def _begun(self, depth: int) -> Any:
        found, fill = self._kinds.begun(self._name())
        self._objects.append(found)
        fill(self.read(depth))
        return found
