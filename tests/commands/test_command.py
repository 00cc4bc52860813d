"""The command line to the letter of the SPEC (sections 2 and 3): `check`, `close`, `compose`, `explain`, exit codes."""

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphs.codes import CODES
from graphs.command import main
from progress.reference import Graph as Reference
from progress.reference import could_result_in
from tests.commands.pipelines import Result

ROOT = Path(__file__).resolve().parents[2]

EXAMPLE = """\
pointstamp: 1                       # format version, required
name: example                       # optional
time: nat                           # default domain of every node
nodes:
  body:     {notify: true}          # asks for notifications (the default)
  feedback: {summary: {advance: 1}, notify: false}
edges:
  - {id: input,  to: body}          # input edge
  - {id: out,    from: body, to: feedback}
  - {id: back,   from: feedback, to: body}
  - {id: result, from: body}        # output edge
"""
BROKEN = EXAMPLE.replace("advance: 1", "advance: -1")
STANDSTILL = EXAMPLE.replace("{advance: 1}", "identity")
QUIET_STANDSTILL = STANDSTILL.replace("notify: true", "notify: false")
EARLY = EXAMPLE.replace("notify: true", "requests: {advance: -1}")
NESTED = (ROOT / "examples" / "nested_product.yaml").read_text("utf-8")
NESTED_LEX = (ROOT / "examples" / "nested_lex.yaml").read_text("utf-8")
UNREADABLE = "pointstamp: 1\nnodez: {}\n"


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in this process, inside an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin), "utf-8"))
        capsys.readouterr()
        try:
            exit_code = main(list(arguments))
        except SystemExit as end:
            exit_code = end.code if isinstance(end.code, int) else 1
        output = capsys.readouterr()
        assert "Traceback" not in output.out + output.err
        assert "internal error" not in output.err, output.err
        return Result(exit_code, output.out, output.err)

    return command


def write(name: str, content: str | dict[str, Any]) -> str:
    """A file in the current folder."""
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return name


def judged(run: Run, content: str | dict[str, Any], *options: str) -> tuple[int, dict[str, Any]]:
    name = write("graph.yaml" if isinstance(content, str) else "graph.json", content)
    result = run("check", "--format", "json", *options, name)
    return result.exit_code, result.file


def codes(file: dict[str, Any]) -> set[str]:
    return {diagnostic["code"] for diagnostic in file["diagnostics"]}


def one_line(result: Result) -> str:
    (line,) = result.err.splitlines()
    return line


# --- check -----------------------------------------------------------------------------------------------------------

VERDICTS = ("condition_1", "condition_2", "transitive", "advancing")
JUDGED = [  # graph, exit code, verdicts in the order of VERDICTS, codes
    (EXAMPLE, 0, (True, True, True, True), set()),
    (BROKEN, 1, (True, False, False, False), {"PS201", "PS301"}),
    (STANDSTILL, 1, (True, True, True, False), {"PS301"}),
    (EARLY, 1, (False, True, True, True), {"PS101"}),
    (NESTED, 0, (True, False, False, True), {"PS202"}),
    (NESTED_LEX, 0, (True, True, True, True), set()),
]


@pytest.mark.parametrize(("content", "exit_code", "verdicts", "found"), JUDGED)
def test_check_judges(run: Run, content: str, exit_code: int, verdicts: tuple[bool, ...], found: set[str]) -> None:
    code, file = judged(run, content)
    assert code == exit_code
    assert file["file"] == "graph.yaml"
    assert file["valid"] is (exit_code == 0)
    assert tuple(file[verdict]["holds"] for verdict in VERDICTS) == verdicts
    assert codes(file) == found


@pytest.mark.parametrize("content", [row[0] for row in JUDGED] + [UNREADABLE])
def test_the_shape_of_the_report(run: Run, content: str) -> None:
    _, file = judged(run, content)
    assert set(file) == {"file", "valid", *VERDICTS, "diagnostics"}
    extras = {
        "condition_1": {"witness"},
        "condition_2": {"witness"},
        "transitive": {"counterexample"},
        "advancing": {"cycle"},
    }
    for verdict, extra in extras.items():
        expected = {"holds"} | (extra if file[verdict]["holds"] is False else set())
        assert set(file[verdict]) == expected
    for found in file["diagnostics"]:
        assert set(found) == {"code", "name", "severity", "message", "hint", "line", "column", "witness"}
        assert found["severity"] in ("error", "warning")
        assert found["name"] == CODES[found["code"]].name
        assert found["message"]
        assert found["hint"]
        assert isinstance(found["witness"], dict)
    assert file["valid"] is all(found["severity"] != "error" for found in file["diagnostics"])


@pytest.mark.parametrize("content", [BROKEN, NESTED])
def test_witnesses_can_be_followed_by_hand(run: Run, content: str) -> None:
    _, file = judged(run, content)
    graph = Reference(yaml.safe_load(content))

    def times(pairs: list[list[Any]]) -> list[tuple[str, Any]]:
        return [(location, graph.time_from_json(location, time)) for location, time in pairs]

    witness = file["condition_2"]["witness"]
    assert set(witness) == {"node", "edge", "time", "arrives", "path"}
    path = times(witness["path"])
    assert witness["path"][0] == [witness["node"], witness["time"]]
    assert witness["path"][-1] == [witness["edge"], witness["arrives"]]
    assert graph.destination[witness["edge"]] == witness["node"]
    assert len({location for location, _ in path}) == len(path)
    for before, after in itertools.pairwise(path):
        assert could_result_in(graph, before, after)
    assert could_result_in(graph, path[0], path[-1])
    assert not graph.less_equal(witness["node"], path[0][1], path[-1][1])
    first, second, third = times(file["transitive"]["counterexample"])
    assert could_result_in(graph, first, second)
    assert could_result_in(graph, second, third)
    assert not could_result_in(graph, first, third)


def test_the_cycle_that_does_not_advance_lists_its_locations(run: Run) -> None:
    _, file = judged(run, STANDSTILL)
    cycle = file["advancing"]["cycle"]
    assert sorted(cycle) == ["back", "body", "feedback", "out"]
    order = ["body", "out", "feedback", "back"]
    start = order.index(cycle[0])
    assert cycle == order[start:] + order[:start]


def test_a_cycle_without_notifications_is_a_warning(run: Run) -> None:
    code, file = judged(run, QUIET_STANDSTILL)
    assert code == 0
    assert [found["severity"] for found in file["diagnostics"] if found["code"] == "PS301"] == ["warning"]
    assert file["advancing"]["holds"] is False


def test_a_node_that_never_asks_cannot_break_condition_1(run: Run) -> None:
    assert judged(run, EXAMPLE.replace("notify: true", "notify: false, requests: {advance: -1}"))[0] == 0


@pytest.mark.parametrize("number", [3, 20, 50])
def test_a_finite_domain_that_turns_round_does_not_advance(run: Run, number: int) -> None:
    names = [f"e{place}" for place in range(number)]
    turned = [[name, names[(place + 1) % number]] for place, name in enumerate(names)]
    graph = {
        "pointstamp": 1,
        "time": {"finite": {"elements": names}},
        "nodes": {"body": {}, "turn": {"summary": {"map": turned}}},
        "edges": [{"from": "body", "to": "turn"}, {"from": "turn", "to": "body"}],
    }
    code, file = judged(run, graph)
    assert file["condition_2"]["holds"] is False
    assert file["advancing"]["holds"] is False
    assert (code, codes(file)) == (1, {"PS202", "PS301"})


def test_places_are_those_of_the_text(run: Run) -> None:
    _, file = judged(run, BROKEN)
    lines = {found["code"]: found["line"] for found in file["diagnostics"]}
    assert BROKEN.splitlines()[lines["PS201"] - 1].strip().startswith("feedback:")
    result = run("check", write("bad.yaml", UNREADABLE))
    assert one_line(result).startswith("pointstamp: bad.yaml:2:1: PS006")
    assert "nodes" in one_line(result)  # the nearest known key


SHAPES = [  # nodes, edges, codes
    ({"a": {}}, [], {"PS404"}),
    ({"a": {}, "b": {}}, [{"from": "a", "to": "b"}, {"id": "i", "to": "b"}], {"PS404"}),
    ({"a": {}, "b": {}}, [{"from": "a", "to": "b"}, {"id": "i", "to": "a"}], set()),
    ({"a": {"notify": False}}, [], {"PS402", "PS403"}),
    ({"a": {"notify": False}}, [{"id": "i", "to": "a"}], {"PS403"}),
    ({"a": {"notify": False}}, [{"id": "o", "from": "a"}], {"PS402"}),
    ({"a": {"notify": False}}, [{"id": "i", "to": "a"}, {"id": "o", "from": "a"}], set()),
    ({"a": {}, "b": {"time": "int"}}, [{"from": "a", "to": "b"}], {"PS401"}),
    ({"a": {"summary": "leave"}, "b": {}}, [{"from": "a", "to": "b"}], {"PS401"}),
    ({"a": {}}, [{"id": "i", "to": "a", "time": "int"}], {"PS401"}),
]


@pytest.mark.parametrize(("nodes", "edges", "found"), SHAPES)
def test_shape(run: Run, nodes: Any, edges: Any, found: set[str]) -> None:
    code, file = judged(run, {"pointstamp": 1, "nodes": nodes, "edges": edges})
    assert codes(file) == found
    assert code == (1 if "PS401" in found else 0)
    usual = {"PS401": "error", "PS402": "warning", "PS403": "warning", "PS404": "note"}
    assert all(found["severity"] == usual[found["code"]] for found in file["diagnostics"])
    assert file["valid"] is (code == 0)


def test_a_note_fails_nothing_and_is_counted(run: Run) -> None:
    file = write("alone.yaml", "pointstamp: 1\nnodes: {a: {}}\n")
    shown = run("check", file)
    assert shown.exit_code == 0
    assert shown.out.startswith("✓ alone.yaml: good, with 1 note.")
    assert "alone.yaml:2:9: note PS404 begins-by-itself" in shown.out
    assert shown.out.endswith("1 file checked: 1 note.\n")
    assert run("check", file, "--error", "PS404").exit_code == 1
    assert "PS404" not in run("check", file, "--ignore", "PS404").out
    assert run("check", file, "--format", "github").out.startswith("::notice ")
    assert json.loads(run("check", file, "--format", "sarif").out)["runs"][0]["results"][0]["level"] == "note"


def test_a_mismatch_names_both_domains(run: Run) -> None:
    graph = {
        "pointstamp": 1,
        "nodes": {"a": {"time": "int"}, "b": {"time": "unit"}},
        "edges": [{"from": "a", "to": "b"}],
    }
    _, file = judged(run, graph)
    (found,) = file["diagnostics"]
    assert "int" in found["message"]
    assert "unit" in found["message"]


# --- severities ------------------------------------------------------------------------------------------------------

SEVERITIES = [  # graph, options, exit code, severities left
    (NESTED, [], 0, {"PS202": "warning"}),
    (NESTED, ["--error", "PS202"], 1, {"PS202": "error"}),
    (NESTED, ["--ignore", "PS202"], 0, {}),
    (STANDSTILL, ["--warn", "PS301"], 0, {"PS301": "warning"}),
    (STANDSTILL, ["--ignore", "PS301"], 0, {}),
    (STANDSTILL, ["--ignore", "PS201"], 1, {"PS301": "error"}),
    (BROKEN, ["--warn", "PS201", "--warn", "PS301"], 0, {"PS201": "warning", "PS301": "warning"}),
    (BROKEN, ["--warn", "PS201"], 1, {"PS201": "warning", "PS301": "error"}),
]


@pytest.mark.parametrize(("content", "options", "exit_code", "left"), SEVERITIES)
def test_severities_are_raised_and_lowered(
    run: Run, content: str, options: list[str], exit_code: int, left: dict[str, str]
) -> None:
    code, file = judged(run, content, *options)
    assert code == exit_code
    assert {found["code"]: found["severity"] for found in file["diagnostics"]} == left
    assert file["valid"] is (exit_code == 0)
    assert run("check", *options, "graph.yaml").exit_code == exit_code


@pytest.mark.parametrize("option", ["--error", "--warn", "--ignore"])
@pytest.mark.parametrize("code", ["PS999", "PS20", "", "201x"])
def test_an_unknown_code_is_bad_usage(run: Run, option: str, code: str) -> None:
    result = run("check", option, code, write("graph.yaml", EXAMPLE))
    assert result.exit_code == 2
    assert result.out == ""
    assert one_line(result)


def test_a_file_that_is_no_graph_cannot_be_ignored(run: Run) -> None:
    for options in (["--ignore", "PS006"], ["--warn", "PS006"]):
        assert run("check", *options, write("bad.yaml", UNREADABLE)).exit_code == 2


# --- several files, patterns, stdin ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "exit_code"),
    [
        (["good.yaml"], 0),
        (["good.yaml", "warned.yaml"], 0),
        (["good.yaml", "bad.yaml"], 1),
        (["bad.yaml", "good.yaml"], 1),
        (["good.yaml", "unreadable.yaml"], 2),
        (["unreadable.yaml", "bad.yaml", "good.yaml"], 2),
        (["missing.yaml", "good.yaml"], 2),
    ],
)
def test_the_worst_of_several_files_decides(run: Run, files: list[str], exit_code: int) -> None:
    contents = {"good.yaml": EXAMPLE, "warned.yaml": NESTED, "bad.yaml": BROKEN, "unreadable.yaml": UNREADABLE}
    for name, content in contents.items():
        write(name, content)
    for style in ("text", "json", "sarif", "github"):
        result = run("check", "--format", style, *files)
        assert result.exit_code == exit_code
        assert len(result.err.splitlines()) == (1 if exit_code == 2 else 0)
        if style == "json":
            reports = result.json["files"]
            assert [report["file"] for report in reports] == files
            assert [report["valid"] for report in reports] == [name in ("good.yaml", "warned.yaml") for name in files]
            for report in reports:
                if report["file"] in ("missing.yaml", "unreadable.yaml"):
                    (found,) = report["diagnostics"]
                    assert found["code"] == ("PS001" if report["file"] == "missing.yaml" else "PS006")
                    assert all(report[verdict]["holds"] is None for verdict in VERDICTS)
        if style == "sarif":
            assert json.loads(result.out)["version"] == "2.1.0"
        if style == "github":
            assert all(line.startswith(("::error ", "::warning ")) for line in result.out.splitlines())


def test_patterns_are_expanded(run: Run) -> None:
    for name in ("b.yaml", "a.yaml", "c.json"):
        write(name, {"pointstamp": 1, "nodes": {"n": {}}})
    result = run("check", "--format", "json", "*.yaml")
    assert [report["file"] for report in result.json["files"]] == ["a.yaml", "b.yaml"]
    assert run("check", "*.missing").exit_code == 2


@pytest.mark.parametrize("content", [EXAMPLE, json.dumps({"pointstamp": 1, "nodes": {"n": {}}})])
def test_a_dash_is_standard_input(run: Run, content: str) -> None:
    for lines in (content, content.replace("\n", "\r\n"), content.rstrip()):
        result = run("check", "--format", "json", "-", stdin=lines.encode())
        assert (result.exit_code, result.file["file"], result.file["valid"]) == (0, "-", True)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"\x00", b"{", b"[]", b"3", b"[" * 100_000, b"a: &x 1\nb: *x\n", b"pointstamp: 2\nnodes: {}\n"],
)
def test_json_is_valid_even_when_the_input_is_not(run: Run, content: bytes) -> None:
    result = run("check", "--format", "json", "-", stdin=content)
    assert result.exit_code == 2
    assert result.file["valid"] is False
    (found,) = result.file["diagnostics"]
    assert found["code"].startswith("PS0")
    assert one_line(result)


def test_names_are_shown_with_control_characters_escaped(run: Run) -> None:
    hostile = "x\x1b[31m\n\u202e"
    nodes = {hostile: {"summary": {"advance": -1}}, "b": {}}
    graph = {"pointstamp": 1, "nodes": nodes, "edges": [{"from": hostile, "to": "b"}, {"from": "b", "to": hostile}]}
    for style in ("text", "json", "sarif", "github"):
        result = run("check", "--format", style, write("graph.json", graph))
        assert result.exit_code == 1
        assert all(character.isprintable() or character == "\n" for character in result.out)
    result = run("check", "missing\x1b\n.yaml")
    assert all(character.isprintable() for character in one_line(result))


# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["check"],
        ["check", "--format", "xml", "graph.yaml"],
        ["check", "--unknown\n\x1b[31m", "graph.yaml"],
        ["ask"],
        ["ask", "graph.yaml", "more"],
        ["close", "graph.yaml"],
        ["close", "--at", "input=0"],
        ["close", "--nodes", "n.parquet", "--at", "input=0"],
        ["close", "graph.yaml", "--nodes", "n.parquet", "--edges", "e.parquet", "--at", "input=0"],
        ["close", "graph.yaml", "--at", "input=0", "--engine", "abacus"],
        ["close", "graph.yaml", "--at", "input"],
        ["close", "graph.yaml", "--at", "nowhere=0"],
        ["close", "graph.yaml", "--at", "input=-1"],
        ["close", "graph.yaml", "--at", "input=1.0"],
        ["close", "graph.yaml", "--at", "input=true"],
        ["close", "graph.yaml", "--at", "input=" + "[" * 800 + "]" * 800],
        ["close", "graph.yaml", "--at", "input=" + "9" * 5_000],
        ["close", "missing.yaml", "--at", "input=0"],
        ["compose", "graph.yaml"],
        ["compose", "graph.yaml", "missing.yaml"],
        ["explain", "PS999"],
        ["explain", "no\nsuch\x1b"],
    ],
)
def test_bad_usage_gets_one_line_and_exit_code_2(run: Run, arguments: list[str]) -> None:
    write("graph.yaml", EXAMPLE)
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.out == ""
    assert one_line(result).isprintable()


def test_what_a_command_does_not_take_is_told_with_its_own_help(run: Run) -> None:
    """That of all commands has no word on the options of one."""
    write("graph.yaml", EXAMPLE)
    says = "pointstamp check: it does not take --engines x (see pointstamp check --help)"
    assert one_line(run("check", "graph.yaml", "--engines", "x")) == says
    assert one_line(run("run", "totals.py", "numbers.jsonl")) == (
        "pointstamp run: it does not take numbers.jsonl (see pointstamp run --help)"
    )


def test_help_and_version(run: Run) -> None:
    shown = run("--version")
    assert shown.exit_code == 0
    assert re.fullmatch(r"pointstamp \d+\.\d+\.\d+\n", shown.out)
    for command in ("check", "ask", "close", "compose", "explain"):
        assert command in run("--help").out
        assert run(command, "--help").exit_code == 0


# --- explain ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", CODES)
def test_every_code_is_explained(run: Run, number: str) -> None:
    result = run("explain", number)
    assert (result.exit_code, result.err) == (0, "")
    assert result.out.startswith(f"{number} {CODES[number].name}")
    for heading in ("What it means", "Why it matters", "Example", "How to fix it"):
        assert heading in result.out
    assert run("explain", number.lower()).out == result.out
    assert run("explain", CODES[number].name).out == result.out


def test_without_a_code_all_are_listed(run: Run) -> None:
    listed = [line.split()[0] for line in run("explain").out.splitlines()]
    assert listed == list(CODES)


# --- close -----------------------------------------------------------------------------------------------------------


def test_close_as_text_and_as_json(run: Run) -> None:
    write("loop.yaml", EXAMPLE)
    result = run("close", "loop.yaml", "--at", "input=3", "--at", "out=1", "--format", "json")
    frontiers = {"input": [3], "body": [2], "out": [1], "feedback": [1], "back": [2], "result": [2]}
    assert (result.exit_code, result.err, result.json) == (0, "", {"frontiers": frontiers})
    lines = run("close", "loop.yaml", "--at", "input=3", "--at", "out=1").out.splitlines()
    assert {line.split()[0]: [int(line.split()[1])] for line in lines} == frontiers
    assert run("close", "-", "--at", "input=3", stdin=EXAMPLE.encode()).exit_code == 0


@pytest.mark.parametrize(
    ("at", "location", "time"),
    [
        ("plain=3", "plain", 3),
        ("a=b=3", "a=b", 3),
        ("==3", "=", 3),
        ("with space=3", "with space", 3),
        ("pair=[1, 2]", "pair", [1, 2]),
        ("none=null", "none", None),
        ('word="k"', "word", "k"),
        ("word=k", "word", "k"),
        ('word="1"', "word", "1"),
        ('sum={"left": 3}', "sum", {"left": 3}),
        ("whole=-3", "whole", -3),
        ("plain=1" + "0" * 4_000, "plain", 10**4_000),
    ],
)
def test_a_location_and_a_time_on_the_command_line(run: Run, at: str, location: str, time: Any) -> None:
    nodes: dict[str, Any] = {
        "plain": {},
        "a=b": {},
        "=": {},
        "with space": {},
        "pair": {"time": {"lex": ["nat", "nat"]}},
        "none": {"time": "unit"},
        "word": {"time": {"finite": {"elements": ["k", "1"]}}},
        "sum": {"time": {"sum": {"left": "nat", "right": "nat"}}},
        "whole": {"time": "int"},
    }
    write("graph.json", {"pointstamp": 1, "nodes": nodes})
    result = run("close", "graph.json", "--at", at, "--format", "json")
    assert (result.exit_code, result.err) == (0, "")
    assert result.json == {"frontiers": {location: [time]}}


def test_a_closure_without_minimal_times_is_a_finding(run: Run) -> None:
    write("graph.yaml", BROKEN.replace("time: nat", "time: int"))
    result = run("close", "graph.yaml", "--at", "input=3")
    assert result.exit_code in (1, 2)
    assert result.out == ""
    assert "PS601" in one_line(result)


def test_close_between_tables(run: Run) -> None:
    import pyarrow as arrow  # type: ignore[import-untyped]
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    nodes = {
        "id": ["body", "feedback", "deep"],
        "summary": [None, '{"advance": 1}', None],
        "notify": [True, False, True],
        "time": [None, None, '{"lex": ["nat", "nat"]}'],
    }
    edges = {
        "id": ["input", "out", "back", "result", None],
        "from": [None, "body", "feedback", "body", None],
        "to": ["body", "feedback", "body", None, "deep"],
    }
    parquet.write_table(arrow.table(nodes), "nodes.parquet")
    parquet.write_table(arrow.table(edges), "edges.parquet")
    tables = ["--nodes", "nodes.parquet", "--edges", "edges.parquet"]
    result = run("close", *tables, "--at", "input=3", "--at", "deep=[1, 2]", "--format", "json")
    assert result.exit_code == 0, result.err
    assert result.json["frontiers"]["back"] == [4]
    assert result.json["frontiers"]["deep"] == [[1, 2]]
    result = run("close", *tables, "--at", "input=3", "--at", "deep=[1, 2]", "-o", "answer.parquet")
    assert (result.exit_code, result.err) == (0, "")
    table = parquet.read_table("answer.parquet")
    assert table.column_names == ["location", "time"]
    rows = {row["location"]: json.loads(row["time"]) for row in table.to_pylist()}
    assert rows == {"input": 3, "body": 3, "out": 3, "feedback": 3, "back": 4, "result": 3, "deep": [1, 2]}
    for bad in (["--nodes", "missing.parquet", "--edges", "edges.parquet"], ["--nodes", "edges.parquet"] * 2):
        assert run("close", *bad, "--at", "input=3").exit_code == 2
    write("text.parquet", "no table")
    result = run("close", "--nodes", "text.parquet", "--edges", "edges.parquet", "--at", "input=3")
    assert result.exit_code == 2
    assert one_line(result)
    result = run("close", *tables, "--at", "input=3", "-o", "no/such/folder/answer.parquet")
    assert result.exit_code == 2
    assert one_line(result)


# --- compose ---------------------------------------------------------------------------------------------------------

AMBIGUOUS_NAMES = [
    "yes",
    "null",
    "1e3",
    "0o17",
    "0x1F",
    "1_000",
    "12:30",
    "2020-01-01",
    "=",
    "<<",
    "~",
    ".5",
    "01",
    "7",
]
AWKWARD_NAMES = [
    "a: b",
    "- x",
    "#c",
    "é",
    "\u202e",
    "x\ny",
    "tab\tx",
    "\x85",
    " lead",
    "'q'",
    '"q"',
    "{a}",
    "&a",
    "*b",
    "k" * 300,
]


@pytest.mark.parametrize("style", ["text", "json"])
@pytest.mark.parametrize("name", AMBIGUOUS_NAMES + AWKWARD_NAMES)
def test_composing_gives_a_file_that_check_accepts(run: Run, name: str, style: str) -> None:
    sides = {"sum": {name: "nat", "other": "nat"}}
    order = {"finite": {"elements": [name, "last"], "below": [[name, "last"]]}}
    first = {
        "pointstamp": 1,
        "nodes": {
            name: {"time": sides, "label": name},
            "f": {"time": order, "summary": {"map": [[name, "last"]]}, "emits": {f"{name}!": {"constant": name}}},
        },
        "edges": [{"id": "in", "to": name}, {"id": "shared", "from": name}, {"id": f"{name}!", "from": "f"}],
    }
    second = {
        "pointstamp": 1,
        "nodes": {"last": {"time": sides, "summary": {"untag": name}}},
        "edges": [{"id": "shared", "to": "last"}, {"id": "out", "from": "last"}],
    }
    result = run("compose", write("a.json", first), write("b.json", second), "--format", style, "--name", "whole")
    assert (result.exit_code, result.err) == (0, "")
    whole = write("whole.json" if style == "json" else "whole.yaml", result.out)
    checked = run("check", "--format", "json", whole)
    assert (checked.exit_code, checked.err) == (0, "")
    assert checked.file["valid"] is True
    for at, location, times in (
        (f'in={{"{json.dumps(name)[1:-1]}": 3}}', "out", [3]),
        (f"f={json.dumps(name)}", f"{name}!", [name]),
    ):
        closed = run("close", whole, "--at", at, "--format", "json")
        assert closed.exit_code == 0, closed.err
        assert closed.json["frontiers"][location] == times


@pytest.mark.parametrize(
    ("second", "code"),
    [
        ({"nodes": {"body": {}}}, "PS010"),
        ({"nodes": {"other": {}}, "edges": [{"id": "out", "to": "other"}]}, "PS010"),
        ({"nodes": {"other": {"time": "int"}}, "edges": [{"id": "result", "to": "other"}]}, "PS401"),
    ],
)
def test_what_does_not_compose(run: Run, second: dict[str, Any], code: str) -> None:
    result = run("compose", write("loop.yaml", EXAMPLE), write("second.json", {"pointstamp": 1, **second}))
    assert result.exit_code in (1, 2)
    assert result.out == ""
    assert code in one_line(result)


# --- the process -----------------------------------------------------------------------------------------------------


def shell(line: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A line of the shell in which `pointstamp` is this one."""
    script = f'pointstamp() {{ "$PYTHON" -m graphs "$@"; }}; {line}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable, **variables}
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, env=environment, capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("line", "exit_codes"),
    [
        ("pointstamp check good.yaml", {0}),
        ("pointstamp check bad.yaml", {1}),
        ("pointstamp check missing.yaml", {2}),
        ("pointstamp check - < good.yaml", {0}),
        ("pointstamp check - <&-", {2}),
        ("pointstamp check bad.yaml | head -n 1 > /dev/null", {0}),
        ("pointstamp explain | head -n 1", {0}),
        ("pointstamp check good.yaml >&-", {0, 2}),
        ("pointstamp check bad.yaml >&-", {1, 2}),
        ("pointstamp check good.yaml > /dev/full", {2}),
        ("pointstamp check --format json good.yaml > /dev/full", {2}),
        ("pointstamp explain > /dev/full", {2}),
        ("pointstamp close good.yaml --at input=0 > /dev/full", {2}),
        ("pointstamp check missing.yaml 2>&-", {2}),
        ("pointstamp check good.yaml < /dev/null 2>&1", {0}),
        ("pointstamp check .", {2}),
        ("pointstamp check /dev/null", {2}),
    ],
)
def test_exit_codes_of_the_process(tmp_path: Path, line: str, exit_codes: set[int]) -> None:
    (tmp_path / "good.yaml").write_text(EXAMPLE)
    (tmp_path / "bad.yaml").write_text(BROKEN)
    done = shell(line, tmp_path)
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr, done.stderr
    assert done.returncode in exit_codes, done.stderr
    assert len(done.stderr.splitlines()) <= 1


ENCODINGS = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"LC_ALL": "C"},
]


@pytest.mark.parametrize("variables", ENCODINGS, ids=str)
@pytest.mark.parametrize(
    ("line", "exit_code"),
    [
        ("pointstamp check bad.yaml", 1),
        ("pointstamp check --format github bad.yaml", 1),
        ("pointstamp check --format json bad.yaml", 1),
        ("pointstamp check --format sarif bad.yaml", 1),
        ("pointstamp check 'é✓.yaml'", 2),
        ("pointstamp explain PS201", 0),
        ("pointstamp compose name.json other.json", 0),
        ("pointstamp close name.json --at out=3", 0),
        ('echo \'{"close": [["out", 3]]}\' | pointstamp ask name.json', 0),
    ],
)
def test_every_terminal_gets_an_answer(tmp_path: Path, variables: dict[str, str], line: str, exit_code: int) -> None:
    (tmp_path / "bad.yaml").write_text(BROKEN)
    (tmp_path / "name.json").write_text(
        json.dumps({"pointstamp": 1, "nodes": {"é✓": {}}, "edges": [{"id": "out", "to": "é✓"}]})
    )
    (tmp_path / "other.json").write_text(json.dumps({"pointstamp": 1, "nodes": {"other": {}}}))
    done = shell(line, tmp_path, **variables)
    assert done.returncode == exit_code, done.stderr
    assert b"internal error" not in done.stderr
    assert len(done.stderr.splitlines()) == (1 if exit_code == 2 else 0)


# --- size ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("style", ["yaml", "json"])
def test_a_graph_of_fifty_thousand_edges(run: Run, style: str) -> None:
    count = 25_000
    names = [f"n{place}" for place in range(count)]
    edges = [{"id": f"a{place}", "from": f"n{place}", "to": f"n{place + 1}"} for place in range(count - 1)]
    edges += [{"id": f"b{place}", "from": f"n{place}", "to": f"n{(place * 7 + 3) % count}"} for place in range(count)]
    edges = [edge for edge in edges if edge["from"] != edge["to"]]
    graph = {"pointstamp": 1, "nodes": {name: {"summary": {"advance": 1}} for name in names}, "edges": edges}
    if style == "json":
        code, file = judged(run, graph)
    else:
        nodes = "\n".join(f"  {name}: {{summary: {{advance: 1}}}}" for name in names)
        listed = "\n".join(f"- {{id: {edge['id']}, from: {edge['from']}, to: {edge['to']}}}" for edge in edges)
        code, file = judged(run, f"pointstamp: 1\nnodes:\n{nodes}\nedges:\n{listed}\n")
    assert (code, file["valid"], file["advancing"]["holds"]) == (0, True, True)
