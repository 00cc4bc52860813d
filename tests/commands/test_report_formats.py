"""The report as text, SARIF and annotations: what a reader is told, and that no name can break out of it."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as some

from graphs.checking import github, report_text, sarif
from graphs.checking.check import check_text
from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.checking.witness import change, walk_of
from graphs.codes import CODES
from graphs.wording import elided, printable

GOOD = """\
pointstamp: 1
nodes:
  body: {}
  again: {summary: {advance: 1}, notify: false}
edges:
  - {id: input, to: body}
  - {id: out, from: body, to: again}
  - {id: back, from: again, to: body}
"""
BAD = CODES["PS201"].example.text
NESTED = CODES["PS202"].example.text

# Names that try to end the line, the command, the property, or the colour.
HOSTILE_NAMES = [
    "a\n::error::x",
    "b\r\n::stop-commands::x",
    "c,line=1::x",
    "d%0A::x",
    "e\x1b[31m",
    "f\u202eg",
    "h\u2028i",
]


def checked(text: str, file: str = "loop.yaml") -> FileReport:
    return check_text(text.encode(), file)


def ring(names: list[str], amount: int) -> dict[str, Any]:
    """A cycle through nodes of these names, on which the first node adds `amount`."""
    return {
        "pointstamp": 1,
        "nodes": {name: {"summary": {"advance": amount}} if name == names[0] else {} for name in names},
        "edges": [
            {"id": f"to {name}", "from": name, "to": names[(at + 1) % len(names)]} for at, name in enumerate(names)
        ],
    }


def hostile_reports() -> list[FileReport]:
    reports = [check_text(json.dumps(ring([name, "z"], -1)).encode(), f"{name}.json") for name in HOSTILE_NAMES]
    assert all(report.readable and report.diagnostics for report in reports)
    return reports


def found(witness: dict[str, Any], code: str = "PS201") -> Diagnostic:
    return Diagnostic(code, CODES[code].name, CODES[code].severity, "message", "hint", 3, 5, witness)


# --- text ------------------------------------------------------------------------------------------------------------


def test_a_good_file_is_one_line_that_says_what_was_proved() -> None:
    assert report_text.render([checked(GOOD)]) == (
        "✓ loop.yaml: good. Proved: Condition 1, Condition 2, transitive, advancing.\n"
        "\n"
        "1 file checked: nothing to complain about.\n"
    )


def test_a_bad_file_shows_the_way_back_and_where_it_falls() -> None:
    text = report_text.render([checked(BAD)])
    assert text.startswith("✗ loop.yaml: 2 errors. Proved: Condition 1. Fails: Condition 2, transitive, advancing.\n")
    assert "loop.yaml:4:3: error PS201 sends-into-the-past\n" in text
    assert (
        "    ╭─● retry  1\n"
        "    │ ↓ back   0   falls by 1\n"
        "    │ ● body   0\n"
        "    │ ↓ out    0\n"
        "    ╰─● retry  0   back before it left at 1\n"
    ) in text
    assert "back at the time it left" in text
    assert "  hint: " in text
    assert text.count("more: pointstamp explain PS201") == 1
    assert text.endswith("\n\n1 file checked: 2 errors.\n")


def test_incomparable_times_are_neither_before_nor_after() -> None:
    text = report_text.render([checked(NESTED)])
    assert text.startswith(
        "! loop.yaml: good, with 1 warning. Proved: Condition 1, advancing. Fails: Condition 2, transitive.\n"
    )
    assert "drops a coordinate" in text
    assert "gains a coordinate" in text
    assert "back neither before nor after [0, 1]" in text


def test_requests_into_the_past_are_drawn_as_two_steps() -> None:
    text = report_text.render([checked(CODES["PS101"].example.text)])
    assert "    ● window  1   an event\n    ● window  0   asks for a notification, falls by 1\n" in text


def test_a_file_that_is_no_graph_is_said_to_be_none() -> None:
    text = report_text.render([checked("pointstamp: 1\nnodez: {}\n")])
    assert text.startswith("✗ loop.yaml: cannot be read as a graph.\n\nloop.yaml:2:1: error PS006 unknown-key\n")


def test_domains_that_do_not_fit_leave_the_rest_unjudged() -> None:
    text = report_text.render([checked(CODES["PS401"].example.text)])
    assert text.startswith("✗ loop.yaml: 1 error. Not judged before all times fit together.\n")


def test_an_undecided_verdict_says_why() -> None:
    conditions = {**checked(GOOD).conditions, "advancing": {"holds": None}}
    text = report_text.render([FileReport("a.yaml", conditions, [], readable=True)])
    assert (
        "Proved: Condition 1, Condition 2, transitive. Undecided: advancing (on a cycle with a summary of your own"
        in text
    )


def test_good_files_stand_close_and_others_apart() -> None:
    lines = report_text.render([checked(GOOD, "a.yaml"), checked(GOOD, "b.yaml"), checked(BAD, "c.yaml")]).splitlines()
    assert [line[:8] for line in lines[:4]] == ["✓ a.yaml", "✓ b.yaml", "", "✗ c.yaml"]
    assert lines[-1] == "3 files checked, 2 good: 2 errors."
    assert report_text.render([]) == "no files checked: nothing to complain about.\n"


def test_a_long_walk_is_shortened_but_its_fall_stays() -> None:
    names = [f"n{number}" for number in range(100)]
    path = [[name, 5 if at < 50 else 4] for at, name in enumerate(names)]
    text = report_text.render([FileReport("a", checked(GOOD).conditions, [found({"path": path})], readable=True)])
    assert [line.split("●")[-1].split("↓")[-1].split() for line in text.splitlines() if "more steps" in line] == [
        ["│", "⋮", "43", "more", "steps"],
        ["│", "⋮", "44", "more", "steps"],
    ]
    assert "● n50  4   falls by 1" in text
    assert text.count("\n") < 35


def test_colour_is_asked_for_and_changes_nothing_else() -> None:
    reports = [checked(GOOD), checked(BAD), checked(NESTED)]
    plain, colored = report_text.render(reports), report_text.render(reports, color=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert "\x1b[31mfalls by 1\x1b[0m" in colored
    assert "\x1b[33mback neither" in colored
    assert set(re.findall(r"\x1b\[([0-9;]*)m", colored)) <= {
        "0",
        "1",
        "2",
        "31",
        "32",
        "33",
        "36",
        "1;31",
        "1;32",
        "1;33",
    }


def test_text_lets_no_name_touch_the_terminal() -> None:
    text = report_text.render(hostile_reports())
    assert all(character.isprintable() or character == "\n" for character in text)
    assert not [line for line in text.splitlines() if line.startswith("::")]


@given(some.text())
def test_printable_texts_print(text: str) -> None:
    assert printable(text).isprintable()
    assert not text.isprintable() or printable(text) == text


@given(some.text(), some.integers(3, 20))
def test_elided_texts_keep_both_ends(text: str, limit: int) -> None:
    short = elided(text, limit)
    assert len(short) == min(len(text), limit)
    assert text.startswith(short.partition("…")[0]) or short == text
    assert text.endswith(short.rpartition("…")[2]) or short == text


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (3, 3, ("", False)),
        (3, 5, ("2 later", False)),
        (3, 1, ("falls by 2", True)),
        ([1, 2], [1, 0], ("coordinate 2: falls by 2", True)),
        ([0, 5], [1, 0], ("coordinate 1: 1 later", False)),
        ([[0, 1], 5], [[0, 0], 5], ("coordinate 1: coordinate 2: falls by 1", True)),
        ([4], [3], ("falls by 1", True)),
        (0, [0, 0], ("gains a coordinate", False)),
        ([0, 1, 2], [0, 1], ("drops a coordinate", False)),
        ("low", "high", ("another time", False)),
        ({"left": 3}, {"left": 2}, ("another time", False)),
        (3, [2], ("another time", False)),
        (None, None, ("", False)),
    ],
)
def test_changes_are_told_without_knowing_the_domain(before: Any, after: Any, expected: tuple[str, bool]) -> None:
    assert change(before, after) == expected


def test_a_witness_without_a_walk_has_none() -> None:
    assert walk_of(found({})) is None
    assert walk_of(found({"locations": ["a"]}, "PS402")) is None


# --- SARIF -----------------------------------------------------------------------------------------------------------


def every_report() -> list[FileReport]:
    examples = [
        checked(entry.example.text, f"{number}.yaml")
        for number, entry in CODES.items()
        if entry.example.language == "yaml"
    ]
    return [*examples, *hostile_reports(), checked(GOOD), checked("", "-"), checked(GOOD, "/abs/a b.yaml")]


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    path = Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json"
    validator = jsonschema.Draft7Validator
    schema = json.loads(path.read_text(encoding="utf-8"))
    validator.check_schema(schema)
    return validator(schema, format_checker=validator.FORMAT_CHECKER)


def test_sarif_validates_against_the_published_schema(sarif_schema: Any) -> None:
    for reports in ([], every_report()):
        sarif_schema.validate(json.loads(sarif.render(reports, "1.2.3")))


@pytest.mark.parametrize(
    "broken",
    [
        lambda log: log.pop("version"),
        lambda log: log["runs"][0].pop("tool"),
        lambda log: log["runs"][0]["results"][0]["message"].pop("text"),
        lambda log: log["runs"][0]["results"][0].update(level="fatal"),
        lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda log: log["runs"][0]["results"][0]["codeFlows"][0].pop("threadFlows"),
        lambda log: log["runs"][0].update(extra=1),
    ],
)
def test_a_broken_document_would_not_validate(sarif_schema: Any, broken: Any) -> None:
    log = json.loads(sarif.render([checked(BAD)], "1.2.3"))
    sarif_schema.validate(log)
    broken(log)
    with pytest.raises(jsonschema.ValidationError):
        sarif_schema.validate(log)


def test_sarif_tells_rule_place_message_and_walk() -> None:
    (run,) = json.loads(sarif.render([checked(BAD, "graphs/a b.yaml")], "1.2.3"))["runs"]
    driver = run["tool"]["driver"]
    assert driver["version"] == "1.2.3"
    assert [rule["id"] for rule in driver["rules"]] == list(CODES)
    assert all(rule["defaultConfiguration"]["level"] == CODES[rule["id"]].severity for rule in driver["rules"])
    result = run["results"][0]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "PS201"
    assert result["level"] == "error"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "graphs/a%20b.yaml"},
                "region": {"startLine": 4, "startColumn": 3},
            }
        }
    ]
    (flow,) = result["codeFlows"]
    (thread,) = flow["threadFlows"]
    assert [step["location"]["message"]["text"] for step in thread["locations"]] == [
        "retry at 1",
        "back at 0 (falls by 1)",
        "body at 0",
        "out at 0",
        "retry at 0 (back before it left at 1)",
    ]


def test_sarif_fingerprints_outlive_a_move_within_the_file() -> None:
    def fingerprints(text: str) -> list[Any]:
        return [
            result["partialFingerprints"]
            for result in json.loads(sarif.render([checked(text)], "1"))["runs"][0]["results"]
        ]

    before, after = fingerprints(BAD), fingerprints(f"# a comment\n\n{BAD}")
    assert before == after
    assert len({str(fingerprint) for fingerprint in before}) == len(before) == 2


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a.yaml", "a.yaml"),
        ("./dir/a b.yaml", "dir/a%20b.yaml"),
        ("a:b#c?.yaml", "a%3Ab%23c%3F.yaml"),
        ("ä.yaml", "%C3%A4.yaml"),
        ("a\n.yaml", "a%0A.yaml"),
        ("/abs/a.yaml", "file:///abs/a.yaml"),
        ("-", "-"),
    ],
)
def test_files_become_uris(file: str, uri: str) -> None:
    assert sarif.uri_of(file) == uri


def test_a_file_name_that_is_no_utf_8_becomes_a_uri() -> None:
    assert sarif.uri_of("\udcff.yaml") == "%FF.yaml"


# --- GitHub ----------------------------------------------------------------------------------------------------------

COMMAND = re.compile(r"::(error|warning) ([^:]*)::(.*)")


def read_as_github_does(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner takes it apart: name, properties, message, all unescaped."""
    matched = COMMAND.fullmatch(line)
    assert matched, line
    listed = dict(part.split("=", 1) for part in matched[2].split(","))
    return matched[1], {key: unescaped(value) for key, value in listed.items()}, unescaped(matched[3])


def unescaped(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_github_annotates_the_line() -> None:
    lines = github.render([checked(BAD), checked(GOOD)]).splitlines()
    assert len(lines) == 2
    command, properties, message = read_as_github_does(lines[0])
    assert command == "error"
    assert properties == {"file": "loop.yaml", "line": "4", "col": "3", "title": "PS201 sends-into-the-past"}
    assert message.splitlines() == [
        "a message from 'retry' at 1 can come back to it on 'out' at 0, before it started",
        "retry at 1 → back at 0 → body at 0 → out at 0 → retry at 0",
        "hint: change the summary of 'retry' so that times do not move down",
    ]
    assert github.render([checked(GOOD)]) == ""


def test_github_is_told_of_standard_input_without_a_file() -> None:
    assert github.render([checked("pointstamp: 1\nnodez: {}\n", "-")]) == (
        "::error line=2,col=1,title=PS006 unknown-key::unknown key 'nodez'%0Ahint: did you mean nodes?\n"
    )


def test_github_lets_no_name_break_out() -> None:
    reports = hostile_reports()
    text = github.render(reports)
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) == sum(len(report.diagnostics) for report in reports)
    files = {read_as_github_does(line)[1]["file"] for line in lines}
    assert {"a\n::error::x.json", "c,line=1::x.json", "d%0A::x.json", "e\\x1b[31m.json"} < files
    assert not re.search(r"[\r\x1b]", text)


@given(some.text(), some.text(), some.text(), some.one_of(some.none(), some.integers(1, 10**6)))
def test_github_commands_read_back_as_they_were_meant(file: str, message: str, hint: str, line: int | None) -> None:
    diagnostic = Diagnostic("PS001", "unreadable-file", "error", message, hint, line, None, {})
    text = github.render([FileReport(f"x{file}", {}, [diagnostic], readable=False)])
    assert text.count("\n") == 1
    _, properties, read = read_as_github_does(text.removesuffix("\n"))
    assert properties["file"] == "x" + "".join(part if part in "\r\n" else printable(part) for part in file)
    assert properties.get("line") == (None if line is None else str(line))
    assert read.split("\n")[0] == printable(message)


def test_github_escapes_as_the_toolkit_does() -> None:
    assert github.escape_data("100%\r\n:,;") == "100%25%0D%0A:,;"
    assert github.escape_property("100%\r\n:,;") == "100%25%0D%0A%3A%2C;"
