"""The registry, the codes in the sources and the pages of docs/codes are one set, and every example shows its code."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import progress.closure
from graphs.checking.check import check_text
from graphs.codes import CODES, code
from graphs.codes.explain import explain
from graphs.codes.of_adapters import ADAPTERS
from graphs.codes.of_calls import CALLS
from graphs.codes.of_commands import COMMANDS
from graphs.codes.of_engines import ENGINES
from graphs.codes.of_files import FILES
from graphs.codes.of_live import LIVE
from graphs.codes.of_models import MODELS
from graphs.codes.of_operators import OPERATORS
from graphs.codes.of_partitions import PARTITIONS
from graphs.codes.of_questions import QUESTIONS
from graphs.codes.of_runs import RUNS
from graphs.codes.of_spark import SPARK
from graphs.codes.of_steps import STEPS
from graphs.codes.of_streams import STREAMS
from graphs.codes.of_tables import TABLES
from graphs.codes.of_verdicts import VERDICTS
from progress.errors import PointstampError
from scripts.write_code_pages import FOLDER, pages

ROOT = Path(__file__).resolve().parents[2]
LINE = 100  # characters of a terminal
# What is found in the graphs of other tools is shown where these are installed: tests/adapters/test_codes_of_tools.py.
NEED_TOOLS = {number for number in ADAPTERS if number > "PS904"}


def numbers_in(source: str) -> set[str]:
    """The codes that stand in a source as texts of their own, as in `PointstampError("PS001", ...)`."""
    return {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"PS\d{3}", node.value)
    }


def examples(language: str) -> list[str]:
    return [number for number, entry in CODES.items() if entry.example.language == language]


def test_numbers_are_found_in_sources() -> None:
    assert numbers_in('raise Error("PS001", "see PS002")\nif code == "PS003": pass  # "PS004"') == {"PS001", "PS003"}


def test_the_registry_holds_exactly_the_codes_of_the_sources() -> None:
    about_codes = {ROOT / "graphs" / "checking" / name for name in ("report_text.py", "witness.py")}
    about_codes |= set((ROOT / "graphs" / "codes").glob("*.py"))
    raised = {
        number
        for package in ("progress", "recursion", "graphs")
        for path in (ROOT / package).rglob("*.py")
        if path not in about_codes
        for number in numbers_in(path.read_text(encoding="utf-8"))
    }
    raised |= {"PS614"}  # raised by the registry itself
    assert sorted(raised ^ set(CODES)) == []


def test_the_registry_is_in_order_and_says_each_thing_once() -> None:
    assert list(CODES) == sorted(CODES)
    for number, entry in CODES.items():
        assert entry.number == number
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", entry.name)
        assert re.fullmatch(r"[A-Z].{10,75}\.", entry.says), number
    assert len({entry.name for entry in CODES.values()}) == len(CODES)
    assert len({entry.says for entry in CODES.values()}) == len(CODES)


def test_severities_are_those_of_the_specification() -> None:
    assert {number for number, entry in CODES.items() if entry.severity == "warning"} == {
        "PS202",
        "PS402",
        "PS403",
        "PS911",
        "PS912",
        "PS913",
        "PS915",
    }
    assert {number for number, entry in CODES.items() if entry.severity == "note"} == {"PS404", "PS919", "PS925"}


def test_every_code_is_explained_once() -> None:
    parts = [set(FILES), set(CALLS), set(VERDICTS), set(STEPS), set(QUESTIONS), set(RUNS), set(COMMANDS), set(SPARK)]
    parts += [set(ENGINES), set(TABLES), set(MODELS), set(OPERATORS), set(STREAMS), set(ADAPTERS), set(PARTITIONS)]
    parts += [set(LIVE)]
    assert set.union(*parts) == set(CODES)
    assert sum(map(len, parts)) == len(CODES)


@pytest.mark.parametrize("number", CODES)
def test_explanations_fit_a_terminal(number: str) -> None:
    entry = CODES[number]
    text = explain(number)
    for part in (entry.means, entry.why, entry.fix, entry.example.text):
        assert part.strip()
        assert part in text or part.splitlines()[0] in text
    beyond = [line for line in text.splitlines() if len(line) > LINE and "advance: 1000" not in line]
    assert beyond == []
    assert not re.search(r"[ \t]$", text, flags=re.MULTILINE)
    for other in re.findall(r"PS\d{3}", text):
        assert other in CODES


@pytest.mark.parametrize("word", ["PS201", "ps201", "sends-into-the-past", "Sends-Into-The-Past"])
def test_a_code_is_found_by_its_number_and_by_its_name(word: str) -> None:
    assert code(word) is CODES["PS201"]
    assert explain(word).startswith("PS201 sends-into-the-past (error)\n")


@pytest.mark.parametrize(
    ("former", "now"), [("PS610", "PS501"), ("ps611", "PS502"), ("PS612", "PS503"), ("PS613", "PS504")]
)
def test_a_number_that_was_merged_into_another_is_explained_by_it(former: str, now: str) -> None:
    assert code(former) is CODES[now]
    assert former.upper() not in CODES


@pytest.mark.parametrize("word", ["PS2O1", "", "\x1b[31m", "x" * 10_000])
def test_an_unknown_code_is_refused_in_one_line(word: str) -> None:
    with pytest.raises(PointstampError) as caught:
        code(word)
    assert caught.value.code == "PS614"
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200
    assert word != "PS2O1" or caught.value.hint == "did you mean PS201?"


@pytest.mark.parametrize(
    ("word", "says"), [("PS20", "did you mean PS201?"), ("ps30", "did you mean PS301?"), ("PS999", "a number from ")]
)
def test_a_code_that_is_not_whole_or_not_there(word: str, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        explain(word)
    assert caught.value.hint.startswith(says)


def test_a_code_as_plain_data_has_all_its_texts() -> None:
    for entry in CODES.values():
        data = entry.to_json()
        assert set(data) == {"number", "name", "severity", "says", "means", "why", "fix", "example", "language"}
        assert [data["means"], data["why"], data["fix"]] == [entry.means, entry.why, entry.fix]


# --- examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", examples("yaml"))
def test_a_graph_file_shows_its_code(number: str) -> None:
    report = check_text(CODES[number].example.text.encode(), "example.yaml")
    assert number in {diagnostic.code for diagnostic in report.diagnostics}
    assert report.readable == (number >= "PS1")


@pytest.mark.parametrize(
    ("number", "wrong", "right"),
    [
        ("PS003", "&quiet {notify: false}   # an anchor\n  second: *quiet", "{}\n  second: {}"),
        ("PS009", " no", ' "no"'),
        ("PS010", "  - {from: first, to: second}     #", "  - {id: urgent, from: first, to: second}     #"),
        ("PS014", "1.5", "1500"),
        ("PS101", "{requests: {advance: -1}}", "{}"),
        ("PS101", "{advance: -1}", "{round_up: 10}"),
        ("PS201", "advance: -1", "advance: 1"),
        ("PS202", "product", "lex"),
        ("PS301", "{notify: false}", "{summary: {advance: 1}}"),
        ("PS401", "source: {}", "source: {summary: enter}"),
        ("PS403", "  - {id: result, from: reader}", "  - {id: result, from: reader}\n  - {id: written, from: archive}"),
    ],
)
def test_the_fix_mends_the_example(number: str, wrong: str, right: str) -> None:
    text = CODES[number].example.text
    assert wrong in text
    report = check_text(text.replace(wrong, right).encode(), "example.yaml")
    assert [found for found in report.diagnostics if found.severity != "note"] == []


@contextmanager
def modules_as_they_are() -> Iterator[None]:
    """An example may pretend that a module is not installed."""
    before = dict(sys.modules)
    try:
        yield
    finally:
        after: dict[str, object] = dict(sys.modules)
        for name in after:
            if after[name] is None:
                del sys.modules[name]
        sys.modules.update(before)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[pytest.mark.spark] * (number in SPARK or number in TABLES))
        for number in examples("python")
    ],
)
def test_a_program_ends_with_its_code(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.closure, "MOST_STEPS", 50_000)  # the example is the same, only shorter
    with pytest.raises(PointstampError) as caught, modules_as_they_are():
        exec(compile(CODES[number].example.text, number, "exec"), {"__name__": "example"})
    assert caught.value.code == number


@pytest.mark.parametrize("number", sorted(set(examples("sh")) - NEED_TOOLS))
def test_a_script_prints_its_code(number: str, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "pointstamp"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m graphs "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    run = subprocess.run(
        ["sh", "-c", CODES[number].example.text],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert number in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr


# --- pages -----------------------------------------------------------------------------------------------------------


def test_there_is_a_page_for_each_code_and_an_index() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"README.md", *(f"{number}.md" for number in CODES)}


def test_pages_are_what_the_generator_writes() -> None:
    stale = [name for name, text in pages().items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert not stale, "run scripts/write_code_pages.py"


# --- cost ------------------------------------------------------------------------------------------------------------


def test_looking_up_a_code_loads_no_explanation() -> None:
    program = "import sys; from graphs.codes import code; code('PS201'); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not [name for name in run.stdout.split() if name.startswith("graphs.expl")]
