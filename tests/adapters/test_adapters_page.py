"""What docs/adapters.md shows of other tools is so: its files are run, and checked, where these are installed.

After a change of what commands print, `.venv/bin/python -m tests.adapters.test_adapters_page` writes the new answers.
"""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from tests.adapters.tools import ROOT, environment, tools_python
from tests.project.pages import fences

PAGE = ROOT / "docs" / "adapters.md"
MARK = "in the tools' environment: "


def answers(folder: Path) -> list[tuple[str, str, str]]:
    """Each command of the page, what the page says that it prints, and what it prints."""
    found: list[tuple[str, str, str]] = []
    for fence in fences(PAGE.read_text(encoding="utf-8")):
        if fence.marker.startswith("file: "):
            (folder / fence.marker.removeprefix("file: ")).write_text(fence.text, encoding="utf-8")
        if fence.marker.startswith(MARK):
            command = fence.marker.removeprefix(MARK)
            program, *rest = shlex.split(command)
            arguments = ["-m", "graphs", *rest] if program == "pointstamp" else rest
            run = subprocess.run(
                [tools_python(), "-W", "ignore", *arguments],
                cwd=folder,
                env={**environment(), "COLUMNS": "100"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=120,
            )
            found.append((command, fence.text, run.stdout))
    return found


def test_the_page_shows_what_tools_do_and_what_is_said(tmp_path: Path) -> None:
    found = answers(tmp_path)
    assert len(found) >= 6
    assert {command for command, _, _ in found if "--from" in command}
    for command, shown, printed in found:
        assert shown == printed, command


def rewrite() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = PAGE.read_text(encoding="utf-8")
        for command, shown, printed in answers(Path(folder)):
            marker = f"<!-- {MARK}{command} -->\n```text\n"
            text = text.replace(f"{marker}{shown if shown.strip() else ''}```", f"{marker}{printed}```")
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.chdir(ROOT)
    rewrite()
