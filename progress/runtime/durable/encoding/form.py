"""The form in which plain data is kept: a letter says what follows, whole numbers are little-endian.

| letter | what follows |
|---|---|
| `N` `T` `F` | nothing: None, True, False |
| `j`, `i`, `I` | a whole number of one byte, of eight; the number of its bytes and as many, each in two's complement |
| `f` | a number with a point, eight bytes |
| `s`, `y`, `Y` | how many bytes, and as many: a text in UTF-8 (lone surrogates as they are), `bytes`, a `bytearray` |
| `(`, `[`, `<`, `>` | how many, and each of them: a tuple, a list, a set, a frozenset |
| `{` | how many, and each key with its value: a dict, in its order |
| `o`, `O` | a name (one byte says how long) and what it is made of: any other kind, in `kinds.py` |
| `r` | a number: the object that got it, once more |

The elements of a set are in an order that depends on nothing but them: whole numbers or texts by size, others by their
own bytes. So a set that is read iterates as the one that is read of what is written of it, and so on.

Objects are numbered so that what is in two places is one object again, however often it is there, and a list may hold
itself. All but numbers, texts, `bytes` and the empty tuple get a number: lists, dicts, sets, `bytearray` and what is
written with `O` before what they hold is written, the others after it. The counts and the numbers have four bytes.

What is read is not trusted. Lengths are compared with the bytes that are left before anything is allocated, and depth
with `DEEPEST`. A key is hashed, which takes as long as it is large with everything that it holds as often as it holds
it; with references that may be much more than its bytes, and nested deeper than they are, so keys are measured first
(`check_key`). What was written, read, and written again, gives the same bytes.

`writing.py` and `reading.py` do it, and the compiled kernel does the same sooner where it was built (`COMPILED`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from progress.kernel import plain_data

DEEPEST = 200  # what holds what holds what; a key by itself, too
DEEPEST_SETS = 100  # sets in sets that are put in order by the bytes of their elements
LARGEST_KEY = 1 << 20  # parts of a key, each as often as it is in it
MOST = (1 << 32) - 1  # parts of one object, and objects
SIMPLE = frozenset({str, int, float, bool, bytes, type(None)})  # keys that are as large as their bytes


class NotPlain(Exception):
    """Something is not plain data. `way` leads to it: what is in a dict by its key, and so on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way: list[Any] = []  # the last step first


class NotRead(ValueError):
    """These bytes are not the plain data that was written."""


def check_key(key: Any, left: int = LARGEST_KEY, depth: int = 0) -> int:
    """How many parts may still follow after a key's own; `NotRead` where hashing it would take too long or too deep."""
    left -= 1
    if left < 0 or depth > DEEPEST:
        raise NotRead("a key is too large")
    for part in hashed(key):
        left = check_key(part, left, depth + 1)
    return left


def hashed(key: Any) -> Iterable[Any]:
    """What is hashed with a key: all of a tuple, a named one too, and the fields of a dataclass that is its value."""
    if isinstance(key, tuple | frozenset):
        return key
    kind = type(key)
    if not is_dataclass(kind):
        return ()
    how = kind.__dataclass_params__  # type: ignore[attr-defined]
    if not (how.unsafe_hash or (how.eq and how.frozen)):
        return ()  # it is hashed by its identity, or by a function of its own
    names = (each.name for each in fields(kind) if (each.compare if each.hash is None else each.hash))
    return (getattr(key, name, None) for name in names)


COMPILED = plain_data(NotPlain, NotRead, hashed, DEEPEST, LARGEST_KEY, MOST)
