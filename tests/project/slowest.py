"""What takes longest of a run of the tests, by file, as the table of CONTRIBUTING.md; they are begun first.

.venv/bin/python -m tests.project.slowest REPORT.xml       # as pytest --junitxml=REPORT.xml wrote it
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

MOST_FILES = 20
TESTS = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `([\w/]+\.py)` \| (\d+) \|", re.MULTILINE)


def longest_files() -> dict[Path, int]:
    """The files of the table, with their seconds."""
    page = TESTS.parent / "CONTRIBUTING.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return {TESTS / file: int(seconds) for file, seconds in ROW.findall(text)}


def table(report: Path) -> str:
    """Files with the seconds of all their tests and the slowest of them, the longest first."""
    files: dict[str, list[tuple[float, str]]] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        found = files.setdefault(case.attrib["classname"].removeprefix("tests.").replace(".", "/"), [])
        found.append((float(case.attrib["time"]), case.attrib["name"]))
    seconds = {name: sum(taken for taken, _ in cases) for name, cases in files.items()}
    total = sum(seconds.values()) or 1
    rows = [
        f"| `{name}.py` | {seconds[name]:.0f} | {seconds[name] / total:.0%} | `{max(cases)[1]}` |"
        for name, cases in sorted(files.items(), key=lambda item: -seconds[item[0]])[:MOST_FILES]
    ]
    return "\n".join(["| file | seconds | of all | the slowest of its tests |", "|---|---|---|---|", *rows])


def main(arguments: Sequence[str]) -> None:
    """Print the table of a report."""
    (report,) = arguments
    print(table(Path(report)))


if __name__ == "__main__":
    main(sys.argv[1:])
