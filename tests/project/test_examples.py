"""Every example is run: graphs have their verdict, programs print what they should, the demo ends well."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import load, to_data
from graphs.checking.check import check_graph
from progress import CouldResultIn, check_conditions, close, eligible

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

# graph file -> codes of errors, codes of warnings
GRAPHS: dict[str, tuple[list[str], list[str]]] = {
    "loop.yaml": ([], []),
    "broken_loop.yaml": (["PS201", "PS301"], []),
    "standstill.yaml": (["PS301"], []),
    "nested_product.yaml": ([], ["PS202"]),
    "nested_lex.yaml": ([], []),
    "regenerate.yaml": ([], []),
    "recursion/ackermann.yaml": ([], []),
    "recursion/divide.yaml": ([], []),
    "recursion/even_odd.yaml": ([], []),
    "recursion/follows_itself.yaml": (["PS301"], []),
    "recursion/stream.yaml": ([], []),
    "recursion/two_calls.yaml": ([], []),
}

# program -> what it prints
PROGRAMS: dict[str, str] = {
    "ports.py": """\
by port: every cycle advances
without ports: a cycle stands still
  operator -> early -> wire1 -> wire1->operator
""",
    "own_domain.py": """\
keeps all laws
keeps all laws
a letter of Friday may lead to:
  desk       Fri 02 Jan
  tomorrow   Fri 02 Jan
  letters    Fri 02 Jan
  unfinished Fri 02 Jan
  again      Mon 05 Jan
  answers    Fri 02 Jan
may be closed:  Friday
has to wait:    Monday
Condition 2 holds: None (nobody can prove it of a summary written in Python)
""",
    "build_with_networkx.py": """\
every cycle advances: False
this one does not:    fetch -> fetch->parse -> parse -> parse->filter -> filter -> links
and now:              True
back in networkx:     ['fetch', 'filter', 'parse'] with 1 cycle
""",
    "node_code.py": """\
the node 'total' sends at 0 on 'sums', where the graph declares only times from 1 on after an event at 1:
  starts in state ()
  receives 5 at 0 on 'numbers'
  receives 7 at 1 on 'numbers'   <- here
total: not complete: there are longer histories than were asked for (19 histories, 10 states)
""",
    "regenerate.py": """\
build 0, round 0: a book of 3 pages
build 0, round 1: a book of 4 pages
build 0, round 2: a book of 4 pages
build 0 is complete: dawn 2, noon 3
build 1, round 0: a book of 8 pages
build 1, round 1: a book of 10 pages
build 1, round 2: a book of 10 pages
build 1 is complete: dawn 3, dusk 4, eve 7, night 8, noon 9
""",
    "at_scale.py": """\
engine local: 1000000 edges, fewer than 5000000
1000000 edges; Condition 2 holds: False
it comes back a day early through depot 1261, depot 7987: (1, 0) becomes (0, 1)
""",
    "recursion/mergesort.py": "4 6 9 15 26 31 32 32 38 38 43 46 53 58 79 79 92\n",
    "recursion/fibonacci.py": "F(15) = 610\n",
    "recursion/quicksort.py": "and away brown dog fox jumps lazy over quick runs the the\n",
    "recursion/ackermann.py": "A(2, 6) = 15, by calls 14 deep\n",
    "recursion/even_odd.py": "Ada Catherine John Judith\n",
    "recursion/stream.py": """\
epoch 1: F(1) = 1
epoch 0: F(9) = 34
epoch 0 is over
epoch 1 is over
epoch 2: F(12) = 144
epoch 2 is over
epoch 3: F(4) = 3
epoch 3 is over
""",
}


def test_every_example_is_tested() -> None:
    paths = (path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*") if path.is_file())
    files = {path.as_posix() for path in paths if not {"__pycache__", "clients", "pipelines", "spark"} & {*path.parts}}
    assert files == {*GRAPHS, *PROGRAMS, "demo.sh", "regenerate.sh"}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_has_its_verdict(name: str) -> None:
    errors, warnings = GRAPHS[name]
    report = check_graph(load(EXAMPLES / name))
    found = {
        severity: sorted(d.code for d in report.diagnostics if d.severity == severity)
        for severity in ("error", "warning")
    }
    assert found == {"error": errors, "warning": warnings}
    assert report.valid is not bool(errors)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_command_ends_with_the_exit_code_of_the_verdict(name: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "graphs", "check", f"examples/{name}"], cwd=ROOT, capture_output=True, check=False
    )
    assert run.returncode == bool(GRAPHS[name][0])


def test_the_broken_loop_differs_from_the_good_one_in_one_number() -> None:
    good, broken = (to_data(load(EXAMPLES / name)) for name in ("loop.yaml", "broken_loop.yaml"))
    assert broken["nodes"]["feedback"]["summary"] == {"advance": -1}
    broken["nodes"]["feedback"]["summary"] = {"advance": 1}
    assert {**broken, "name": "loop"} == good


def test_the_witness_of_the_broken_loop_falls_at_its_feedback() -> None:
    witness = check_conditions(load(EXAMPLES / "broken_loop.yaml")).condition_2.witness
    assert witness is not None
    assert witness.strictly_below
    assert ("feedback", witness.time) in witness.path
    assert ("back", witness.time - 1) in witness.path


def test_on_the_standstill_a_request_waits_for_itself() -> None:
    (blocked,) = eligible(load(EXAMPLES / "standstill.yaml"), requests=[("attempt", 0)]).blocked
    assert blocked.by == ("attempt", 0)


def test_the_nested_loops_differ_in_their_order_alone() -> None:
    product, lex = (to_data(load(EXAMPLES / name)) for name in ("nested_product.yaml", "nested_lex.yaml"))
    assert (product.pop("time"), lex.pop("time")) == ({"product": ["nat", "nat"]}, {"lex": ["nat", "nat"]})
    assert product.pop("name") != lex.pop("name")
    assert product == lex


def test_the_nested_loop_is_transitive_under_lex_only() -> None:
    """("work", [0, 3]) leads to ("end", [0, 3]), which leads to the next outer round on `inner_back`."""
    for name, transitive in (("nested_product.yaml", False), ("nested_lex.yaml", True)):
        graph = load(EXAMPLES / name)
        could_result_in = CouldResultIn(graph)
        start, middle, end = ("work", (0, 3)), ("end", (0, 3)), ("inner_back", (1, 1))
        assert could_result_in(start, middle)
        assert could_result_in(middle, end)
        assert could_result_in(start, end) is transitive
        assert end in close(graph, [start])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_should(name: str) -> None:
    run = subprocess.run(
        [sys.executable, f"examples/{name}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr, run.returncode) == (PROGRAMS[name], "", 0)


def script(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A script in a folder that has the examples and a .venv with the command."""
    commands = folder / ".venv" / "bin"
    commands.mkdir(parents=True)
    command = commands / "pointstamp"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m graphs "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(
        ["sh", f"examples/{name}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_demo_shows_the_good_the_bad_and_the_reason(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    run = script("demo.sh", tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    wanted = [
        "✓ examples/loop.yaml: good.",
        "✗ examples/broken_loop.yaml: 2 errors.",
        "error PS201 sends-into-the-past",
        "● feedback",
        "PS201 sends-into-the-past (error)",
        "How to fix it",
        '{"result": true, "proof": [["input", 0],',
        '{"eligible": [["body", 3]], "blocked": [{"request": ["body", 4],',
        '{"edge": "reports", "time": 1, "value": {"files": 31,',
        '{"edge": "late", "time": [1, "05"],',
        '{"edge": "reports", "time": 2, "value": {"files": 29,',
        "Why month 1 waits",
        'input files [1, "17"]: files [1, "17"] -> day [1, "17"] -> days 1',
        "README.md",
    ]
    position = 0
    for text in wanted:
        position = run.stdout.find(text, position)
        assert position >= 0, f"{text!r} does not follow\n{run.stdout}"
    assert len(run.stdout.strip().splitlines()[-1]) < 120
    assert max(map(len, run.stdout.splitlines())) < 160


def test_the_demo_notices_a_verdict_that_it_does_not_expect(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shutil.copy(EXAMPLES / "loop.yaml", tmp_path / "examples" / "broken_loop.yaml")
    run = script("demo.sh", tmp_path)
    assert run.returncode == 1
    assert run.stderr == "demo: the exit code is 0 instead of 1\n"


def test_the_build_in_the_shell_goes_as_that_in_python(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    run = script("regenerate.sh", tmp_path)
    assert (run.stdout, run.stderr, run.returncode) == (PROGRAMS["regenerate.py"], "", 0)


def test_the_build_in_the_shell_ends_with_what_is_refused(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    file = tmp_path / "examples" / "regenerate.yaml"
    file.write_text(file.read_text().replace("[0, 1]", "[0, 2]"))  # what is sent to the next round is outside of Clock
    run = script("regenerate.sh", tmp_path)
    assert run.returncode == 1
    assert run.stderr.startswith('regenerate: {"error": {"code": "PS506"')
