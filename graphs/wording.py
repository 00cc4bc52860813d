"""Texts of strangers on a terminal: nothing in a name may move the cursor, change a colour or turn the line around."""

from __future__ import annotations

import json
from typing import Any

from progress.wording import elided as elided
from progress.wording import printable as printable


def shown_name(name: str, limit: int = 48) -> str:
    """A location's name, safe and short."""
    return printable(elided(name, limit))


def shown_time(time: Any, limit: int = 48) -> str:
    """A time of a witness as JSON, safe and short."""
    return printable(elided(json.dumps(time, ensure_ascii=False), limit))
