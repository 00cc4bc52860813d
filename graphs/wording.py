"""Texts of strangers on a terminal: nothing in a name may move the cursor, change a colour or turn the line around."""

from __future__ import annotations

import json
from typing import Any


def printable(text: str) -> str:
    """`text` with every character that does not print escaped, line ends included."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def elided(text: str, limit: int) -> str:
    """`text`, its middle left out beyond `limit` characters: long names often differ at their ends."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def shown_name(name: str, limit: int = 48) -> str:
    """A location's name, safe and short."""
    return printable(elided(name, limit))


def shown_time(time: Any, limit: int = 48) -> str:
    """A time of a witness as JSON, safe and short."""
    return printable(elided(json.dumps(time, ensure_ascii=False), limit))
