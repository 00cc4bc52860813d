"""YAML as a tree of items with positions, built from the events of PyYAML's parser: no object of its choice is made.

Plain scalars are resolved here, by the narrow rules on which YAML 1.2 and JSON agree, because PyYAML's are those of
YAML 1.1: `null`, `~` and nothing are null, `true` and `false` are booleans, decimal numbers are numbers; all else
(`yes`, `0x1f`, `010`, `1:30`, `2024-01-01`, `.inf`) is a text. As names such texts are refused (`document.name_of`).
Cost: linear, about two microseconds an event with libyaml, 25 where PyYAML was installed without it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from graphs.files.document import (
    EXAMPLE,
    MAXIMUM_DEPTH,
    MAXIMUM_DIGITS,
    MAXIMUM_NAME,
    MAXIMUM_YAML_PARTS,
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

if TYPE_CHECKING:
    from yaml.error import YAMLError

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*+)")
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_CONSTANTS: dict[str, Plain] = {"": None, "~": None, "null": None, "true": True, "false": False}
_MAYBE_NUMBER = frozenset("+-.0123456789")


def parse(text: str) -> MappingItem:
    """The mapping that a YAML text holds; its only line ends are newlines, and it has no control characters."""
    import yaml  # here, because it costs more than all of a small check

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _build(yaml.parse(text, Loader=loader), yaml)
    except yaml.YAMLError as error:
        raise _refusal(error, text) from None


def _build(events: Any, yaml: Any) -> MappingItem:
    scalar_event, alias_event = yaml.ScalarEvent, yaml.AliasEvent
    mapping_start, sequence_start = yaml.MappingStartEvent, yaml.SequenceStartEvent
    mapping_end, sequence_end, document_start = yaml.MappingEndEvent, yaml.SequenceEndEvent, yaml.DocumentStartEvent
    new = tuple.__new__  # ScalarItem(...) would take twice as long
    # The collections that are open, the document first. Of the last of them: its entries, or else its items.
    outer: list[MappingItem | SequenceItem] = []
    entries: list[tuple[ScalarItem, Item]] = []
    items: list[Item] = []
    in_mapping = False
    key: ScalarItem | None = None  # the key that waits for its value
    document: MappingItem | None = None
    item: Item
    parts = 0
    for event in events:
        kind = type(event)
        if kind is mapping_end or kind is sequence_end:
            if in_mapping:
                check_keys_differ(entries)
            outer.pop()
            if outer:
                around = outer[-1]
                if isinstance(around, MappingItem):
                    entries, in_mapping = around.entries, True
                else:
                    items, in_mapping = around.items, False
            continue
        mark = event.start_mark
        line, column = mark.line + 1, mark.column + 1
        if parts > MAXIMUM_YAML_PARTS:
            raise too_many_parts(MAXIMUM_YAML_PARTS, line, column)
        if kind is scalar_event:
            parts += 1
            if event.anchor is not None or event.tag is not None:
                raise _refused_property(event, line, column)
            content = event.value
            if event.implicit[0]:
                value = _resolve(content, line, column)
                item = new(ScalarItem, (value, line, column, True, content))
            else:
                if not content.isascii():
                    check_characters(content, line, column)
                item = new(ScalarItem, (content, line, column, False, content))
            if in_mapping and key is None:
                if content == "<<" and event.implicit[0]:
                    raise _refused("merge keys", "write the merged keys out", line, column)
                if len(content) > MAXIMUM_NAME:
                    raise too_long_a_name(line, column)
                key = item
                continue
        elif kind is mapping_start or kind is sequence_start:
            parts += 1
            if event.anchor is not None or event.tag is not None:
                raise _refused_property(event, line, column)
            if in_mapping and key is None:
                raise _refused("lists and mappings as keys", "use a text as the key", line, column)
            item = MappingItem([], line, column) if kind is mapping_start else SequenceItem([], line, column)
        elif kind is alias_event:
            raise _refused("aliases", "write the value out, or quote a text that begins with '*'", line, column)
        else:
            if kind is document_start:
                if event.version or event.tags:
                    raise _refused("directives", "remove the lines that begin with '%'", line, column)
                if document is not None:
                    raise _refused("several documents in one file", "a file holds one graph", line, column)
            continue

        if key is not None:
            entries.append((key, item))
            key = None
        elif outer:
            items.append(item)
        elif isinstance(item, MappingItem):
            document = item
        else:
            raise not_a_mapping(line, column, isinstance(item, ScalarItem) and ":" in item.text)
        if kind is not scalar_event:
            if len(outer) >= MAXIMUM_DEPTH:
                raise too_deep(line, column)
            if isinstance(item, MappingItem):
                outer.append(item)
                entries, in_mapping = item.entries, True
            elif isinstance(item, SequenceItem):
                outer.append(item)
                items, in_mapping = item.items, False
    if document is None:
        raise PointstampError("PS007", "the file is empty", EXAMPLE, 1, 1)
    return document


def _resolve(text: str, line: int, column: int) -> Plain:
    """The value of a scalar without quotes."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] in _MAYBE_NUMBER and _NUMBER.fullmatch(text):
        if len(text) > MAXIMUM_DIGITS:
            raise too_large_a_number(line, column)
        if _INTEGER.fullmatch(text):
            return int(text)
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise too_large_a_number(line, column)
        return value
    return text


def _refused(feature: str, hint: str, line: int, column: int) -> PointstampError:
    return PointstampError("PS003", f"{feature} are refused", hint, line, column)


def _refused_property(event: Any, line: int, column: int) -> PointstampError:
    if event.anchor is not None:
        return _refused("anchors", "write the value out twice, or quote a text that begins with '&'", line, column)
    tag = quoted(event.tag.replace("tag:yaml.org,2002:", "!!"))
    return _refused("tags", f"remove {tag}, or quote a text that begins with '!'", line, column)


# What libyaml's (or PyYAML's) words say, by a part of them -> what would be right.
_HINTS = (
    ("mapping values are not allowed", "check the indentation, and quote a text that contains ': '"),
    ("expected ',' or", "close the bracket, or put a comma between the values"),
    ("expected node content", "close the bracket, or write a value here"),
    ("could not find expected ':'", "put ': ' behind a key, and check the indentation"),
    ("end of stream", "close the quote"),
    ("document indicator", "close the quote"),
    ("escape", "write \\\\ for a backslash inside double quotes, or use single quotes"),
    ("block", "check the indentation"),
    ("did not find expected key", "check the indentation: keys of one mapping begin in one column"),
    ("'-' indicator", "check the indentation: values of one list begin in one column"),
    ("document start", "a file holds one graph: remove what follows"),
)
# Errors inside what is refused anyway.
_FEATURES = (
    ("alias", "aliases", "quote a text that begins with '*'"),
    ("anchor", "anchors", "quote a text that begins with '&'"),
    ("directive", "directives", "remove the lines that begin with '%'"),
    ("incompatible yaml document", "directives", "remove the lines that begin with '%'"),
    ("tag", "tags", "quote a text that begins with '!'"),
)


def _refusal(error: YAMLError, text: str) -> PointstampError:
    """The parser's complaint, which goes over several lines, as one line with its position."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
    if mark is not None and mark.index >= len(text.rstrip()):
        line, column = position(text, len(text.rstrip()))
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "this is not YAML"
    context = getattr(error, "context", None) or ""
    for word, feature, hint in _FEATURES:
        if word in context.lower() or word in problem.lower():
            return _refused(feature, hint, line or 1, column or 1)
    message = " ".join(f"{problem} {context}".split())
    begin = getattr(error, "context_mark", None)
    if begin is not None and line is not None and begin.line + 1 < line:
        message += f" that begins on line {begin.line + 1}"
    if "cannot start any token" in problem and mark is not None:
        return _refused_character(text[mark.index : mark.index + 1], mark.line + 1, mark.column + 1)
    hint = next((hint for word, hint in _HINTS if word in message), "quote texts that contain special characters")
    return PointstampError("PS002", message, hint, line, column)


def _refused_character(character: str, line: int, column: int) -> PointstampError:
    if character == "\t":
        return PointstampError("PS002", "a tab cannot begin a value", "indent with spaces", line, column)
    message = f"{quoted(character)} cannot begin a value"
    return PointstampError("PS002", message, f"quote a text that begins with {quoted(character)}", line, column)
