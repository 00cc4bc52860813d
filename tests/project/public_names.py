"""The public names, as docs/names.md has them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "names.md"
OURS = ("pointstamp", "progress", "graphs", "recursion")


def public() -> dict[str, list[str]]:
    """Module -> its public names."""
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {module: re.findall(r"`(\w+)`", names) for module, names in rows}
