"""How names and times stand in messages, times as the JSON that files and commands have."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from progress.wording import elided as elided
from progress.wording import plural as plural
from progress.wording import printable as printable

SHORT = 48  # characters of a name or a time


def shown_name(name: str) -> str:
    """A location's name, safe and short."""
    return printable(elided(name, SHORT))


def shown_time(time: Any, limit: int = SHORT) -> str:
    """A time as JSON, safe and short."""
    return printable(elided(json.dumps(time, ensure_ascii=False, default=str), limit))


def first_of(things: Sequence[Any], most: int, shown: Callable[[Any], str] = str) -> str:
    """The first of several things, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(map(shown, things[:most])) + more
