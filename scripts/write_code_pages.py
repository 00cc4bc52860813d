"""Write docs/codes from the registry: a page for each code, and an index. Run it after a change of either.

.venv/bin/python scripts/write_code_pages.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "codes"


def pages() -> dict[str, str]:
    """File name -> text."""
    from graphs.checking.check import check_text
    from graphs.checking.report_text import render
    from graphs.codes import CODES
    from graphs.codes.explain import index, page

    texts = {"README.md": index()}
    for number, entry in CODES.items():
        answer = ""
        if entry.example.language == "yaml":
            answer = render([check_text(entry.example.text.encode(), "example.yaml")])
        texts[f"{number}.md"] = page(entry, answer)
    return texts


def main() -> None:
    """Write what differs, remove what has no code."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
