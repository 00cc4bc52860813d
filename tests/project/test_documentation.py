"""What the documentation shows is so: graphs have the verdict it claims, Python runs, commands answer as printed.

How a page says what is to be checked, by an HTML comment before a fence or a table:

* ```yaml needs one: `<!-- check: valid -->`, or the codes that `pointstamp check` reports, as `<!-- check: PS201 -->`.
  `<!-- file: loop.yaml; check: valid -->` also makes it a file for what follows on the page. With `line of:` instead of
  `file:` it is one line, which takes the place of the line with the same key there. Others: `<!-- not a graph -->`.
* ```python is run, top to bottom, one session a page, and asserts something. With `<!-- file: totals.py -->` it is
  a file for what follows on the page instead.
* ```console is run in a folder that holds `examples/` and the page's files. The answers are compared line by line; a
  line `...` stands for any lines.
* ```json behind `<!-- answer to: pointstamp ... -->` is, as data, what that command prints.
* a table behind `<!-- summaries -->` has the columns domain, summary, time, and the minimal times that come out.

After a change of what commands print, `.venv/bin/python -m tests.project.test_documentation` writes the new answers
into the pages; read the difference before it is kept.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphs import from_data
from graphs.checking.check import check_text
from graphs.codes import CODES
from graphs.files.notation import DOMAIN_WORDS, SUMMARY_WORDS
from graphs.sessions.ask import Asker
from progress import close
from progress.plain import write_time
from tests.project.pages import Fence, code_in, fences, make_targets, make_targets_named_in, said

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
GENERATED = sorted((ROOT / "docs" / "codes").glob("*.md"))  # tested by test_codes.py, but for their links
LANGUAGES = {"yaml", "python", "console", "json", "sh", "text", "mermaid"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


class Session:
    """The folder of a page: its files, and one Python session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "documentation"}
        self.exit_code = 0
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUTF8": "1",
            "COLUMNS": "100",
        }

    def graph(self, fence: Fence) -> list[str]:
        """The codes that a graph reports; the graph is kept where the marker names a file."""
        words = said(fence.marker)
        text = fence.text
        if "line of" in words:
            text = replaced_line((self.folder / words["line of"]).read_text(encoding="utf-8"), text)
        name = words.get("file") or words.get("line of")
        if name:
            (self.folder / name).write_text(text, encoding="utf-8")
        report = check_text(text.encode(), name or "graph.yaml")
        return sorted({diagnostic.code for diagnostic in report.diagnostics})

    def answer(self, command: str) -> str:
        """What a command prints, on both of its outputs."""
        run = subprocess.run(
            ["sh", "-c", f"(exit {self.exit_code}); {command}"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        self.exit_code = run.returncode
        return run.stdout

    def kept(self, fence: Fence) -> bool:
        """Keep a program that is to be a file; whether it is."""
        name = said(fence.marker).get("file")
        if name is not None:
            (self.folder / name).write_text(fence.text, encoding="utf-8")
        return name is not None

    def python(self, fence: Fence, page: Path) -> None:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            source = "\n" * (fence.line - 1) + fence.text  # so that a traceback has the line of the page
            exec(compile(source, str(page), "exec", dont_inherit=True), self.namespace)
        finally:
            os.chdir(before)


def replaced_line(text: str, line: str) -> str:
    """`text` with `line` in place of the one line that has the same key."""
    key = line.strip().partition(":")[0]
    found = [old for old in text.splitlines() if old.strip().partition(":")[0] == key]
    assert len(found) == 1, f"{len(found)} lines have the key {key}"
    indent = found[0][: len(found[0]) - len(found[0].lstrip())]
    return text.replace(found[0], indent + line.strip())


def exchanges(text: str) -> list[tuple[str, str]]:
    """(command, answer) for every `$` of a console; a command that ends in a backslash goes on in the next line."""
    assert text.startswith("$ "), "a console begins with a command"
    found: list[tuple[str, str]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            found.append((command, ""))
        else:
            command, answer = found[-1]
            found[-1] = (command, f"{answer}{line}\n")
    return found


def matches(shown: str, answer: str) -> bool:
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), answer) is not None


@every_page
def test_what_a_page_shows_is_so(page: Path, tmp_path: Path) -> None:
    session = Session(tmp_path)
    for fence in fences(page.read_text(encoding="utf-8")):
        place = f"{page.relative_to(ROOT)}:{fence.line}"
        assert fence.language in LANGUAGES, f"{place}: a fence names its language"
        if fence.language == "yaml" and fence.marker == "not a graph":
            assert "pointstamp:" not in fence.text, f"{place}: this is a graph"
            yaml.safe_load(fence.text)
        elif fence.language == "yaml":
            claimed = said(fence.marker).get("check")
            assert claimed, f"{place}: say what `pointstamp check` finds: <!-- check: valid -->"
            assert session.graph(fence) == ([] if claimed == "valid" else sorted(claimed.split())), place
        elif fence.language == "python" and not session.kept(fence):
            assert "assert " in fence.text, f"{place}: assert what it shows"
            session.python(fence, page)
        elif fence.language == "console":
            for command, shown in exchanges(fence.text):
                answer = session.answer(command)
                assert matches(shown, answer), f"{place}: $ {command}\n--- shown\n{shown}--- answered\n{answer}"
        elif fence.language == "json":
            asked = said(fence.marker).get("answer to")
            assert asked, f"{place}: say what answers this: <!-- answer to: pointstamp ... -->"
            assert json.loads(session.answer(asked)) == json.loads(fence.text), place


@pytest.mark.parametrize(
    ("shown", "answer", "equal"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a.\n", "ab\n", False),
        ("", "a\n", False),
    ],
)
def test_matches_tells_answers_apart(shown: str, answer: str, equal: bool) -> None:
    assert matches(shown, answer) is equal


def test_fences_are_found_with_their_markers() -> None:
    text = "text\n<!-- check: PS201 -->\n\n```yaml\na: 1\n```\n```sh\nmake demo\n```\n"
    assert list(fences(text)) == [Fence("check: PS201", 5, "yaml", "a: 1\n"), Fence("", 8, "sh", "make demo\n")]


def tables(markdown: str, marker: str) -> Iterator[list[str]]:
    """The cells of every row of the tables behind the marker, without their backquotes; not the heading."""
    for block in re.findall(rf"^<!-- {marker} -->\n+((?:\|.*\n)+)", markdown, flags=re.MULTILINE):
        for row in block.splitlines()[2:]:
            yield [cell.strip().strip("`") for cell in row.strip().strip("|").split("|")]


SUMMARY_ROWS = list(tables((ROOT / "docs" / "graph-files.md").read_text(encoding="utf-8"), "summaries"))


@pytest.mark.parametrize("row", SUMMARY_ROWS, ids=" ".join)
def test_a_summary_gives_what_the_table_says(row: list[str]) -> None:
    domain, summary, time, expected = (yaml.safe_load(cell) for cell in row[:4])
    nodes = {"node": {"time": domain, "summary": summary}}
    graph = from_data({"pointstamp": 1, "nodes": nodes, "edges": [{"id": "edge", "from": "node"}]})
    times = close(graph, [("node", graph.time_from_json("node", time))]).frontiers.get("edge", ())
    assert [write_time(found) for found in times] == expected


def test_the_table_of_summaries_has_every_summary_and_domain() -> None:
    def words(data: object) -> set[str]:
        if isinstance(data, dict):
            return set(data).union(*map(words, data.values()))
        return {data} if isinstance(data, str) else set().union(*map(words, data)) if isinstance(data, list) else set()

    domains = set().union(*(words(yaml.safe_load(row[0])) for row in SUMMARY_ROWS))
    summaries = set().union(*(words(yaml.safe_load(row[1])) for row in SUMMARY_ROWS))
    assert set(DOMAIN_WORDS) - domains == {"stack"}  # of graphs with calls, which have no summaries
    assert set(SUMMARY_WORDS) - summaries == set()


def anchors(markdown: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    without_fences = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", without_fences, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *GENERATED], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if not goal.exists() or (anchor and anchor not in anchors(goal.read_text(encoding="utf-8"))):
            broken.append(target)
    assert not broken


def test_every_page_of_docs_is_in_its_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in PAGES if page.parent.name == "docs"} - {"README.md"}
    assert [name for name in sorted(pages) if f"]({name})" not in index] == []


@every_page
def test_make_targets_exist(page: Path) -> None:
    assert make_targets_named_in(page.read_text(encoding="utf-8")) <= make_targets()


def commands() -> set[str]:
    help_text = subprocess.run(
        [sys.executable, "-m", "graphs", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"^    ([a-z]+)\b", help_text, flags=re.MULTILINE))


@every_page
def test_commands_exist(page: Path) -> None:
    code = "\n".join(code_in(page.read_text(encoding="utf-8")))
    assert set(re.findall(r"(?<!from )\bpointstamp ([a-z]+)\b", code)) <= commands()


def test_the_readme_lists_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `pointstamp ([a-z]+)", text, flags=re.MULTILINE)) == commands()


def test_the_page_on_questions_shows_every_query() -> None:
    text = (ROOT / "docs" / "ask.md").read_text(encoding="utf-8")
    asked = set(re.findall(r"""echo '\{"(\w+)":""", text))
    assert asked >= set(Asker(from_data({"pointstamp": 1, "nodes": {"node": {}}})).queries)


@every_page
def test_codes_exist(page: Path) -> None:
    assert set(re.findall(r"\bPS\d{3}\b", page.read_text(encoding="utf-8"))) <= set(CODES)


def rows_of_the_map() -> dict[str, set[str]]:
    """Folder -> the files that the map has a row for."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = {}
    for heading, section in re.findall(r"^### `([\w/]+)`.*?\n(.*?)(?=^##)", text, flags=re.MULTILINE | re.DOTALL):
        rows = re.findall(r"^\| (`[^|]*`) \|", section, flags=re.MULTILINE)
        found[heading] = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    return found


def test_the_map_has_every_module_in_its_folder_and_no_other() -> None:
    rows = rows_of_the_map()
    there = {
        path.relative_to(ROOT).as_posix()
        for package in ("pointstamp", "progress", "graphs", "recursion")
        for path in (ROOT / package).rglob("*.py")
        if not path.name.startswith("__")
    }
    named = {f"{folder}/{name}" for folder, names in rows.items() for name in names}
    assert there - named == set()
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_every_path_on_the_map_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:pointstamp|progress|graphs|recursion|tests|docs|scripts)/[\w/.]*)`", text))
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    rooms = text.partition("### Which room")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| (?!a change|---)", rooms, flags=re.MULTILINE)) >= 20


# ---------------------------------------------------------------------------------------------------------------------


def rewritten(page: Path, folder: Path) -> str:
    """The page with its consoles' answers as they are now; those with a line `...` stay."""
    text = page.read_text(encoding="utf-8")
    session = Session(folder)
    for fence in fences(text):
        if fence.language == "yaml" and fence.marker != "not a graph":
            session.graph(fence)
        elif fence.language == "python":
            session.kept(fence)
        elif fence.language == "console" and "\n...\n" not in fence.text:
            answered = "".join(f"$ {command}\n{session.answer(command)}" for command, _ in exchanges(fence.text))
            text = text.replace(f"```console\n{fence.text}```", f"```console\n{answered}```")
    return text


def main() -> None:
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(rewritten(page, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
