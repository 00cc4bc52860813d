"""A YAML or JSON text as a tree of items that know where they stand: data only, nothing in it is ever evaluated.

Law: `parse` gives an item for every value and every key of the text, with its line and column (both from 1), or raises
one `PointstampError` that says what is wrong, where, and what would be right; no text makes it raise anything else.
What readers could take in two ways is refused, not guessed: aliases, tags and merge keys (PS003), a key twice (PS005),
a name that some reader of YAML takes for a boolean or a number (PS009, `name_of`).

Cost: linear in the text. Sizes are refused before they cost memory (PS004): a file is not read beyond `MAXIMUM_BYTES`,
nothing is built below `MAXIMUM_DEPTH`, and no more than `MAXIMUM_JSON_PARTS` or `MAXIMUM_YAML_PARTS` names and values
are, so that the worst text of either is a tree in less than two seconds and half a gigabyte. A graph of 100,000 nodes
and 150,000 edges has about 1.5 million.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from progress.errors import PointstampError, reason_of

MAXIMUM_BYTES = 32 * 1024 * 1024
MAXIMUM_DEPTH = 64
MAXIMUM_DIGITS = 100
MAXIMUM_NAME = 1_000
# Parts are names, values and brackets. JSON is read about twice as fast as YAML.
MAXIMUM_JSON_PARTS = 2_000_000
MAXIMUM_YAML_PARTS = 1_200_000

Plain = str | int | float | bool | None


class ScalarItem(NamedTuple):
    """One value without parts. `plain`: written without quotes; `text`: as written, without its quotes."""

    value: Plain
    line: int
    column: int
    plain: bool
    text: str


class SequenceItem(NamedTuple):
    """A list; `line` and `column` are where it begins."""

    items: list[Item]
    line: int
    column: int


class MappingItem(NamedTuple):
    """A mapping in the order of the text; no two keys have the same `text`."""

    entries: list[tuple[ScalarItem, Item]]
    line: int
    column: int


Item = ScalarItem | SequenceItem | MappingItem

EXAMPLE = "begin with 'pointstamp: 1', then 'nodes:' and 'edges:'"

# What no text editor writes by itself; some of it moves the cursor of a terminal. Tab, newline and carriage return
# are fine.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NO_CHARACTERS = "\ufeff\ufffe\uffff"  # not in the pattern, which they would make ten times as slow to compile

# Plain texts that a reader of YAML 1.1 or 1.2 takes for something else than a text. Canonical integers are left out:
# every reader agrees on them. Few names begin like the patterns, so those are compiled only when one does.
_AMBIGUOUS_WORDS = {
    **dict.fromkeys(("~", "null"), "nothing (null)"),
    **dict.fromkeys(("yes", "no", "on", "off", "true", "false"), "a boolean"),
    **dict.fromkeys(("<<", "="), "a directive of YAML 1.1"),
}
_AMBIGUOUS_BEGINNINGS = frozenset("+-.0123456789")
_AMBIGUOUS_PATTERNS = (
    (r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?", "a number of base 60"),
    (r"[-+]?0[xX][0-9a-fA-F_]+|[-+]?0o?[0-7_]+|[-+]?0[bB][01_]+", "a hexadecimal, octal or binary number"),
    (r"[-+]?[0-9][0-9_]*", "a number that is not written in its canonical form"),
    (r"[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.([iI][nN][fF]|[nN][aA][nN])", "a number"),
    (r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?", "a date"),
)
_CANONICAL_INTEGER = r"0|-?[1-9][0-9]*"


def quoted(text: str, limit: int = 60) -> str:
    """`text` in quotes for a message: control characters escaped, cut after `limit` characters."""
    shown = repr(text[:limit])
    return shown if len(text) <= limit else f"{shown[:-1]}...{shown[-1]}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be, or None. Cost: at most 1,000 comparisons of short words."""
    if not word or len(word) > 100:
        return None
    candidates = list(known)
    if len(candidates) > 1_000:
        alike = (other for other in candidates if other[:1] == word[0] and abs(len(other) - len(word)) <= 1)
        candidates = list(islice(alike, 1_000))
    for other in candidates:
        if other.casefold() == word.casefold():
            return other
    from difflib import get_close_matches  # costs 8 ms, needed only in a complaint

    return next(iter(get_close_matches(word, (other for other in candidates if len(other) <= 100), n=1)), None)


def name_of(scalar: ScalarItem) -> str:
    """The scalar as a name of a node, an edge, a tag, an element; PS009 when readers would not agree that it is one.

    An integer in its canonical form is a name too: 7 and "7" are the same.
    """
    if len(scalar.text) > MAXIMUM_NAME:
        raise too_long_a_name(scalar.line, scalar.column)
    if not scalar.text:
        raise PointstampError("PS009", "a name is empty", "give it at least one character", scalar.line, scalar.column)
    meaning = _other_meaning(scalar.text) if scalar.plain else None
    if meaning is not None:
        message = f"the name {quoted(scalar.text)} would be read as {meaning} by some readers"
        hint = f'put it in quotes: "{quoted(scalar.text)[1:-1]}"'
        raise PointstampError("PS009", message, hint, scalar.line, scalar.column)
    return scalar.text


def _other_meaning(text: str) -> str | None:
    """What some reader of YAML takes a text without quotes for, if not for a text."""
    if text[0] not in _AMBIGUOUS_BEGINNINGS:
        return _AMBIGUOUS_WORDS.get(text.lower())
    if re.fullmatch(_CANONICAL_INTEGER, text):
        return None
    return next((meaning for pattern, meaning in _AMBIGUOUS_PATTERNS if re.fullmatch(pattern, text)), None)


def plain(item: Item) -> object:
    """Ordinary Python data: scalars, lists, and dictionaries whose keys are the texts of the keys."""
    if isinstance(item, ScalarItem):
        return item.value
    if isinstance(item, SequenceItem):
        return [plain(part) for part in item.items]
    return {key.text: plain(part) for key, part in item.entries}


def locate(item: Item, path: Iterable[str | int]) -> tuple[int, int]:
    """Line and column of what a path of keys and positions leads to: of the key where the path ends in one.

    A path that leads out of the tree ends where it leaves. Cost: the lengths of the collections on the path.
    """
    place = (item.line, item.column)
    for step in path:
        if isinstance(item, MappingItem):
            found = next(((key, part) for key, part in item.entries if key.text == str(step)), None)
            if found is None:
                break
            key, item = found
            place = (key.line, key.column)
        elif isinstance(item, SequenceItem) and isinstance(step, int) and 0 <= step < len(item.items):
            item = item.items[step]
            place = (item.line, item.column)
        else:
            break
    return place


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, of a pipe, or of standard input ('-'). PS001 when unreadable, PS004 beyond `MAXIMUM_BYTES`.

    A file's size is looked at before its content. A pipe that nobody writes to is given one second, then refused.
    """
    try:
        content = _read_standard_input() if path == "-" else _read_path(os.fspath(path))
    except ValueError:
        raise PointstampError("PS001", "the file's name contains a NUL character", "name an existing file") from None
    except OSError as error:
        reason = reason_of(error) or "it cannot be read"
        raise PointstampError("PS001", f"cannot read the file: {reason}", _HINTS.get(type(error), _HINT)) from None
    if len(content) > MAXIMUM_BYTES:
        raise _too_large_a_file()
    return content


def parse(content: bytes, name: str = "") -> MappingItem:
    """The mapping that `content`, from a file of this name, holds.

    A name that ends in .json makes it JSON. Otherwise what begins with a bracket is tried as JSON first, then as YAML.
    """
    if len(content) > MAXIMUM_BYTES:
        raise _too_large_a_file()
    text = _decode(content)
    if not text or text.isspace():
        raise PointstampError("PS007", "the file is empty", EXAMPLE, 1, 1)
    from graphs.files import json_document

    if name.lower().endswith(".json"):
        return json_document.parse(text)
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json_document.parse(text)
        except PointstampError as error:
            if error.code != "PS002":
                raise
    from graphs.files import yaml_document

    return yaml_document.parse(text)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1. Cost: the length of the text before it."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def check_characters(content: str, line: int, column: int) -> None:
    """PS002 where a text with escapes in it has half of a surrogate pair, which no UTF-8 can say."""
    try:
        content.encode()
    except UnicodeEncodeError:
        message = "an escape in a text is half of a surrogate pair"
        hint = "write both halves, or the character itself"
        raise PointstampError("PS002", message, hint, line, column) from None


def check_keys_differ(entries: list[tuple[ScalarItem, Item]]) -> None:
    """PS005 at the first key whose text an earlier key of the same mapping has. Cost: one look-up a key."""
    if len({key.text for key, _ in entries}) == len(entries):
        return
    first: dict[str, ScalarItem] = {}
    for key, _ in entries:
        earlier = first.setdefault(key.text, key)
        if earlier is not key:
            message = f"the key {quoted(key.text)} appears twice: first on line {earlier.line}"
            raise PointstampError("PS005", message, "keep one of the two", key.line, key.column)


def not_a_mapping(line: int, column: int, colon: bool = False) -> PointstampError:
    """The complaint about a document that is a list or a scalar; `colon`: a scalar in which there is one."""
    hint = "put a space behind the ':' of a key" if colon else EXAMPLE
    return PointstampError("PS007", "a graph file is a mapping at its top level", hint, line, column)


def too_deep(line: int, column: int) -> PointstampError:
    """The complaint about the first list or mapping that lies too deep."""
    message = f"lists and mappings are nested more than {MAXIMUM_DEPTH} deep"
    return PointstampError("PS004", message, "no graph needs so many levels: flatten it", line, column)


def too_many_parts(limit: int, line: int | None, column: int | None) -> PointstampError:
    """The complaint about more names, values and brackets than `limit`."""
    message = f"the file has more than {limit:,} names, values and brackets"
    other = "write it as JSON, which may hold more, or " if limit < MAXIMUM_JSON_PARTS else ""
    hint = f"{other}build a graph of this size through the Python API"
    return PointstampError("PS004", message, hint, line, column)


def too_large_a_number(line: int, column: int) -> PointstampError:
    """The complaint about a number with too many digits, or one beyond the range of floating point."""
    message = f"a number has more than {MAXIMUM_DIGITS} digits or is out of range"
    return PointstampError("PS004", message, "use a smaller number, or quote it if it is a name", line, column)


def too_long_a_name(line: int, column: int) -> PointstampError:
    """The complaint about a text that is too long to be a name or a key."""
    return PointstampError("PS004", f"a name has more than {MAXIMUM_NAME:,} characters", "shorten it", line, column)


def _too_large_a_file() -> PointstampError:
    message = f"the file is larger than {MAXIMUM_BYTES // (1024 * 1024)} MiB"
    return PointstampError("PS004", message, "build a graph of this size through the Python API")


_HINT = "name an existing file, or - for standard input"
_HINTS: dict[type[OSError], str] = {
    FileNotFoundError: "check the spelling, or use - for standard input",
    IsADirectoryError: "name the file inside it",
    PermissionError: "allow reading it, for instance with chmod +r",
}


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read(MAXIMUM_BYTES + 1)


def _read_path(path: str) -> bytes:
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(0, "it is a directory")
        if stat.S_ISREG(status.st_mode) and status.st_size > MAXIMUM_BYTES:
            raise _too_large_a_file()
        first = _first_bytes_of_pipe(descriptor) if stat.S_ISFIFO(status.st_mode) else b""
        if flags & getattr(os, "O_NONBLOCK", 0):
            os.set_blocking(descriptor, True)
        pieces = [first]
        missing = MAXIMUM_BYTES + 1 - len(first)
        while missing > 0:
            piece = stream.read(min(missing, 1 << 20))
            if not piece:
                break
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)


def _first_bytes_of_pipe(descriptor: int) -> bytes:
    """What was written so far, nothing when the writer has not begun. A second without a writer is PS001."""
    import time

    for _ in range(100):
        try:
            first = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return b""
        if first:
            return first
        time.sleep(0.01)
    raise PointstampError("PS001", "nothing was written to this pipe", "start its writer first, or name a file")


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        raise PointstampError("PS001", "the file is encoded as UTF-16 or UTF-32", "save it as UTF-8", 1, 1)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        message = f"the file is not UTF-8: byte {content[error.start]:#04x} at offset {error.start}"
        raise PointstampError("PS001", message, "save it as UTF-8", *position(before, len(before))) from None
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = _CONTROL.search(text)
    offset = found.start() if found else max(text.find(character) for character in _NO_CHARACTERS)
    if offset >= 0:
        line, column = position(text, offset)
        message = f"the file contains the control character U+{ord(text[offset]):04X}"
        hint = 'save it as a UTF-8 text; in double quotes, "\\u001b" stands for such a character'
        raise PointstampError("PS001", message, hint, line, column)
    return text
