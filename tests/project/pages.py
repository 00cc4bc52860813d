"""What pages show and say: their fences, the code in them, and the targets of `make` that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Fence(NamedTuple):
    """A fenced block: what the comment before it says, the line on which its text begins, its language and text."""

    marker: str
    line: int
    language: str
    text: str


def fences(markdown: str) -> Iterator[Fence]:
    marker, opened, language = "", 0, ""
    lines = markdown.splitlines()
    for number, line in enumerate(lines, 1):
        if opened:
            if line == "```":
                yield Fence(marker, opened + 1, language, "\n".join(lines[opened : number - 1]) + "\n")
                opened, marker = 0, ""
        elif line.startswith("```"):
            opened, language = number, line[3:]
        elif line.strip():
            comment = re.fullmatch(r"<!-- (.*) -->", line.strip())
            marker = comment.group(1) if comment else ""


def said(marker: str) -> dict[str, str]:
    """`file: a.yaml; check: PS201` as a dictionary."""
    return {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in marker.split(";"))}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def code_in(markdown: str) -> Iterator[str]:
    """Fenced blocks and spans of code: what a reader would copy."""
    yield from re.findall(r"^```.*?^```", markdown, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"`([^`\n]+)`", markdown)


def make_targets_named_in(markdown: str) -> set[str]:
    return {target for code in code_in(markdown) for target in re.findall(r"\bmake ([a-z][a-z-]*)", code)}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), flags=re.MULTILINE))
