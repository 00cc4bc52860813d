"""JSON as a tree of items with positions.

The standard reader is five times as fast, but it keeps no positions, takes NaN, the last of two equal keys and half a
surrogate pair, and recurses. This one takes one token after the other from one regular expression and keeps its own
stack. Cost: linear, about a microsecond a token.
"""

from __future__ import annotations

import json
import re

from graphs.files.document import (
    MAXIMUM_DEPTH,
    MAXIMUM_DIGITS,
    MAXIMUM_JSON_PARTS,
    MAXIMUM_NAME,
    Item,
    MappingItem,
    Plain,
    ScalarItem,
    SequenceItem,
    check_characters,
    check_keys_differ,
    not_a_mapping,
    position,
    quoted,
    too_deep,
    too_large_a_number,
    too_long_a_name,
    too_many_parts,
)
from progress.errors import PointstampError

# A token and the colon or comma behind it; where no token begins, the one character found instead: nothing is skipped.
# The quantifiers of a text are possessive: they never backtrack, and so need no memory for it.
_TOKEN = re.compile(
    r"""[ \t\n]*(?:(
        "[^"\\\t\n]*+(?:\\.[^"\\\t\n]*+)*+"
        | [\[\]{}]
        | -?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+-])
        | (?:true|false|null)(?![\w.+-])
    )[ \t\n]*([:,]?)|[^ \t\n])""",
    re.VERBOSE,
)
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_WORD = re.compile(r"[-+.\w]+|//|/\*|.")
_CONSTANTS: dict[str, Plain] = {"true": True, "false": False, "null": None}
_PYTHON_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def parse(text: str) -> MappingItem:
    """The mapping that a JSON text holds; its only line ends are newlines, and it has no control characters."""
    if _parts(text) > MAXIMUM_JSON_PARTS:
        raise too_many_parts(MAXIMUM_JSON_PARTS, None, None)
    new = tuple.__new__  # ScalarItem(...) would take twice as long
    names: dict[str, str] = {}  # equal keys share one text
    # The collections that are open, the document first. Of the last of them: its entries, or else its items.
    outer: list[MappingItem | SequenceItem] = []
    entries: list[tuple[ScalarItem, Item]] = []
    items: list[Item] = []
    in_mapping = False
    key: ScalarItem | None = None  # the key that waits for its value
    ready = True  # behind an opening bracket, a comma or a colon, where a key or value may stand
    line, line_begin, newline = 1, 0, _next_newline(text, 0)
    item: Item
    for match in _TOKEN.finditer(text):
        token, after = match.groups()
        if token is None:
            raise _refusal(text, match.end() - 1, in_mapping, key is not None, ready, broken=True)
        begin = match.start(1)
        if begin > newline:
            line += text.count("\n", newline, begin)
            line_begin = text.rindex("\n", newline, begin) + 1
            newline = _next_newline(text, begin)
        column = begin - line_begin + 1
        first = token[0]
        if first == '"':
            content = token[1:-1]
            if "\\" in content:
                content = _unescape(token, line, column)
            if after == ":":
                content = names.setdefault(content, content)
            item = new(ScalarItem, (content, line, column, False, content))
            if in_mapping and key is None and ready:
                if after != ":":
                    raise _refusal(text, match.start(2), in_mapping, False, ready, colon=True)
                if len(content) > MAXIMUM_NAME:
                    raise too_long_a_name(line, column)
                key = item
                continue
        elif first == "{":
            item = MappingItem([], line, column)
        elif first == "[":
            item = SequenceItem([], line, column)
        elif first == "}" or first == "]":
            unfinished = key is not None or (ready and bool(entries if in_mapping else items))
            if unfinished or not outer or in_mapping != (first == "}"):
                raise _refusal(text, begin, in_mapping, key is not None, ready)
            if after == ":":
                raise _refusal(text, match.start(2), in_mapping, False, False)
            if in_mapping:
                check_keys_differ(entries)
            closed = outer.pop()
            if not outer:
                _refuse_more(text, match.start(2))
                assert isinstance(closed, MappingItem)
                return closed
            around = outer[-1]
            if isinstance(around, MappingItem):
                entries, in_mapping = around.entries, True
            else:
                items, in_mapping = around.items, False
            ready = after == ","
            continue
        else:
            value = _CONSTANTS[token] if first in "tfn" else _number(token, line, column)
            item = new(ScalarItem, (value, line, column, True, token))

        if not ready or (in_mapping and key is None):
            raise _refusal(text, begin, in_mapping, key is not None, ready)
        if key is not None:
            entries.append((key, item))
            key = None
        elif outer:
            items.append(item)
        elif first != "{":
            raise not_a_mapping(line, column)
        if first == "{" or first == "[":
            if len(outer) >= MAXIMUM_DEPTH:
                raise too_deep(line, column)
            outer.append(item)  # type: ignore[arg-type]
            if isinstance(item, MappingItem):
                entries, in_mapping = item.entries, True
            elif isinstance(item, SequenceItem):
                items, in_mapping = item.items, False
            if after:
                raise _refusal(text, match.start(2), in_mapping, False, True)
        else:
            if after == ":":
                raise _refusal(text, match.start(2), in_mapping, False, False)
            ready = after == ","
    raise _refusal(text, len(text), in_mapping, key is not None, ready)


def _parts(text: str) -> int:
    """How many names, values and brackets the text has at the least, told before any is built.

    That is its commas, colons and opening brackets, those inside texts left out where it matters. Cost: linear, for the
    largest file a tenth of a second, or one second when it is refused.
    """
    parts = sum(text.count(mark) for mark in ",:[{")
    if parts <= MAXIMUM_JSON_PARTS:
        return parts
    rest = _TEXT.sub("", text)
    return sum(rest.count(mark) for mark in ",:[{")


def _next_newline(text: str, offset: int) -> int:
    found = text.find("\n", offset)
    return found if found >= 0 else len(text)


def _number(token: str, line: int, column: int) -> int | float:
    if len(token) > MAXIMUM_DIGITS:
        raise too_large_a_number(line, column)
    if token.isdigit() or token[1:].isdigit():
        return int(token)
    value = float(token)
    if value in (float("inf"), float("-inf")):
        raise too_large_a_number(line, column)
    return value


def _unescape(token: str, line: int, column: int) -> str:
    try:
        content = json.loads(token)
    except json.JSONDecodeError as error:
        message, hint = "an escape in a text is not one of JSON", r"write \\ for a backslash"
        raise PointstampError("PS002", message, hint, line, column + error.pos) from None
    check_characters(content, line, column)
    assert isinstance(content, str)
    return content


def _refuse_more(text: str, offset: int) -> None:
    rest = text[offset:].lstrip()
    if rest:
        line, column = position(text, len(text) - len(rest))
        message = "the document has ended, but more text follows"
        raise PointstampError("PS002", message, "a file holds one graph: remove what follows", line, column)


def _refusal(
    text: str, offset: int, in_mapping: bool, has_key: bool, ready: bool, *, colon: bool = False, broken: bool = False
) -> PointstampError:
    """What should stand at `offset`, and what does; `broken`: no token begins there. Cost: the length of the text."""
    while offset < len(text) and text[offset] in " \t\n":
        offset += 1
    line, column = position(text, offset)
    if colon:
        expected, hint = "':' behind a key", 'write a key as in "nodes": {...}'
    elif not ready:
        expected, hint = ("',' or '}'" if in_mapping else "',' or ']'"), "is a comma missing?"
    elif in_mapping and not has_key:
        expected, hint = "a key in double quotes", 'write a key as in "nodes": {...}'
    else:
        expected, hint = "a value", "write a number, true, false, null, a text in double quotes, [...] or {...}"
    match = _WORD.match(text, offset)
    if match is None:
        message = f"the text ends where {expected} should be"
        return PointstampError("PS002", message, "close every bracket", line, column)
    word = match[0]
    if word in ("//", "/*", "#"):
        hint = "JSON has no comments: remove it, or write the file as YAML"
    elif word == "'":
        hint = "JSON has only double quotes"
    elif word == '"' and broken:
        expected, hint = "a text that ends on its line", r"close its quote; \n and \t stand for a line end and a tab"
    elif word in ("}", "]"):
        hint = "close every bracket that was opened, in order"
        if ready:
            hint = "give the key a value" if has_key else hint
            hint = "remove the comma before it" if text[:offset].rstrip(" \t\n").endswith(",") else hint
    elif word.lower().lstrip("+-") in ("nan", "infinity", "inf"):
        hint = "JSON has no such number"
    elif word in _PYTHON_CONSTANTS:
        hint = f"write {_PYTHON_CONSTANTS[word]}"
    elif expected == "a value" and word[0] in "+-.0123456789":
        hint = "write a number as in 12, -3, 0.5 or 1e6"
    return PointstampError("PS002", f"expected {expected}, found {quoted(word, 20)}", hint, line, column)
