"""Files that define `flow`, a program of streams: what `pointstamp run`, `check` and `explore` make of them."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.request import urlopen

import pytest

from tests.commands.pipelines import COMMAND, ENGINES, PATIENCE, Result, environment, lines_of, run, started, write

WORDS = """\
from pointstamp import Flow

flow = Flow()
lines = flow.input("lines", str)
lines.flat_map(str.split).key_on(str.lower).count().output("counts")
"""
LINES = '{"time": 0, "value": "to be or not to be"}\n{"complete": [1]}\n{"time": 1, "value": "Be it"}\n'
COUNTS = {(0, "to", 2), (0, "be", 2), (0, "or", 1), (0, "not", 1), (1, "be", 1), (1, "it", 1)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, words__py=WORDS, lines__jsonl=LINES)
    return tmp_path


def command(folder: Path, *arguments: str, stdin: str | None = None) -> Result:
    done = subprocess.run(
        [COMMAND, *arguments],
        input=stdin,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def counts(lines: list[dict[str, Any]]) -> Counter[Any]:
    return Counter((line["time"], *line["value"]) for line in lines if "value" in line)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_flow_runs_between_files_and_standard_streams(folder: Path, engine: str) -> None:
    result = run(folder, "words.py", "--input", "lines=-", "--engine", engine, stdin=LINES)
    assert (result.exit_code, result.err) == (0, "")
    assert counts(result.lines) == Counter(COUNTS)
    assert result.lines[-1] == {"edge": "counts", "complete": []}
    complete = result.lines.index({"edge": "counts", "complete": [1]})
    assert counts(result.lines[:complete]) == Counter(each for each in COUNTS if each[0] == 0)


def test_it_is_kept_and_goes_on_where_it_was_killed(folder: Path) -> None:
    """Killed while it counts: every count is in the file once."""
    slow = WORDS.replace("str.split", "slow").replace("flow = Flow()", SLOW)
    both = '{{"time": {}, "value": "a b a"}}\n{{"complete": [{}]}}\n'
    text = "".join(both.format(time, time + 1) for time in range(30))
    write(folder, slow__py=slow, many__jsonl=text)
    arguments = ("slow.py", "--input", "lines=many.jsonl", "--output", "counts=out", "--state", "kept", "--every", "0")
    process = started(folder, *arguments)
    out, deadline = folder / "out", monotonic() + PATIENCE
    while not (out.exists() and out.read_text("utf-8").count("value") >= 4):
        assert process.poll() is None
        assert monotonic() < deadline
        sleep(0.01)
    process.kill()
    process.communicate()
    assert counts(lines_of(out.read_text("utf-8")[: out.read_text("utf-8").rfind("\n") + 1])).total() < 60
    assert run(folder, *arguments).exit_code == 0
    assert counts(lines_of(out.read_text("utf-8"))) == Counter((t, *c) for t in range(30) for c in (("a", 2), ("b", 1)))


SLOW = """\
import time
def slow(line):
    time.sleep(0.01)
    return line.split()
flow = Flow()"""


def test_the_live_view_shows_its_steps(folder: Path) -> None:
    process = started(folder, "words.py", "--input", "lines=-", "--ui", "0")
    assert process.stderr is not None
    line = process.stderr.readline().decode()
    url = line.split(" at ")[1].strip()
    with urlopen(url, timeout=PATIENCE) as page:
        assert page.status == 200
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_its_graph_is_checked(folder: Path) -> None:
    result = command(folder, "check", "words.py")
    assert (result.exit_code, result.err) == (0, "")
    assert "words.py: good" in result.out


def test_its_graph_is_asked_tracked_closed_and_its_run_replayed(folder: Path) -> None:
    """Nobody has written its graph into a file, so each of these takes the program."""
    ran = run(folder, "words.py", "--input", "lines=lines.jsonl", "--engine", "sim", "--trace", "trace.jsonl")
    assert ran.exit_code == 0
    replayed = command(folder, "replay", "words.py", "trace.jsonl", "--format", "json")
    assert (replayed.exit_code, replayed.err) == (0, "")
    assert json.loads(replayed.out)["state"]["inputs"] == {"lines": []}
    closed = command(folder, "close", "words.py", "--at", "lines=3", "--format", "json")
    assert json.loads(closed.out)["frontiers"]["counts"] == [3]
    for word, line, answer in (
        ("ask", {"contains": {"close": [["lines", 3]], "pointstamp": ["counts", 2]}}, {"result": False}),
        ("track", {"messages": [["lines", 0, 1]]}, {"ready": []}),
    ):
        result = command(folder, word, "words.py", stdin=json.dumps(line))
        assert (result.exit_code, result.err, json.loads(result.out)) == (0, "", answer)


@pytest.mark.parametrize("word", ["check", "run", "explore"])
def test_what_is_refused_in_it_is_one_line_with_its_place(folder: Path, word: str) -> None:
    write(folder, bad__py='from pointstamp import Flow\nflow = Flow()\nflow.input("a").reduce(max)\n')
    result = command(folder, word, "bad.py")
    assert (result.exit_code, result.out) == (2, "")
    (line,) = result.err.splitlines()
    assert line.startswith("pointstamp: bad.py:3: PS812: reduce of 'a' has no key")


def test_what_is_not_a_flow_is_refused_in_one_line(folder: Path) -> None:
    write(folder, three__py="flow = 3\n", other__py="dataflow = 3\n", none__py="")
    for name, says in (("three", "flow in three.py is 3"), ("other", "dataflow in other.py"), ("none", "no dataflow")):
        for word in ("check", "run"):
            result = command(folder, word, f"{name}.py")
            assert result.exit_code == 2
            (line,) = result.err.splitlines()
            assert "PS734" in line
            assert says in line


def test_a_check_of_code_that_raises_shows_its_trace_and_valid_json(folder: Path) -> None:
    write(folder, crash__py='print("hello")\n1 / 0\n')
    result = command(folder, "check", "--format", "json", "crash.py", "words.py")
    assert result.exit_code == 1
    crash, words = json.loads(result.out)["files"]
    assert [found["code"] for found in crash["diagnostics"]] == ["PS733"]
    assert (crash["valid"], words["valid"]) == (False, True)
    assert "ZeroDivisionError" in result.err
    assert "hello" in result.err


def test_every_interleaving_of_it_is_explored(folder: Path) -> None:
    result = command(folder, "explore", "words.py", "--input", "lines=lines.jsonl")
    assert result.exit_code == 0
    assert "the same results in every interleaving" in result.out
