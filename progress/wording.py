"""Texts of strangers where they are read: no name may move a cursor, change a colour or turn a line around."""

from __future__ import annotations


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
