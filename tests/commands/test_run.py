"""`pointstamp run` to the letter of the SPEC (section 6), as the installed command: live, whole lines, exit codes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import selectors
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, Any

import pytest

from tests.commands.pipelines import (
    COLLATZ,
    COLLATZ_YAML,
    COMMAND,
    ENGINES,
    FIBONACCI_YAML,
    PATIENCE,
    TOTALS,
    TOTALS_YAML,
    Result,
    collatz_values,
    environment,
    lines_of,
    message_lines,
    run,
    started,
    stop,
    values_of,
    write,
)

NUMBERS = '{"time": 0, "value": 3}\n{"time": 0, "value": 4}\n{"complete": [1]}\n{"time": 2, "value": 5}\n'
every_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the pipelines in it."""
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, collatz__yaml=COLLATZ_YAML, collatz__py=COLLATZ)
    write(tmp_path, numbers__jsonl=NUMBERS)
    return tmp_path


def pipeline(folder: Path, code: str, graph: str | None = None) -> None:
    """A pipeline of its own: `graph` is loaded, and what follows defines nodes and more."""
    write(folder, own__yaml=graph or TOTALS_YAML)
    head = "from graphs import load\nfrom progress.runtime import *\ngraph = load('own.yaml')\n"
    write(folder, own__py=head + code)


def final(lines: list[dict[str, Any]], edge: str | None = None) -> dict[str, Any]:
    return [line for line in lines if edge is None or line.get("edge") == edge][-1]


# --- what goes in, what comes out ------------------------------------------------------------------------------------


def test_the_example_of_the_specification(folder: Path) -> None:
    result = run(folder, "totals.py", "--input", "numbers=numbers.jsonl", "--output", "totals=out.jsonl")
    assert result == Result(0, "", "")
    lines = lines_of((folder / "out.jsonl").read_text("utf-8"))
    assert [line for line in lines if "value" in line] == [{"time": 0, "value": 7}, {"time": 2, "value": 5}]
    assert lines[-1] == {"complete": []}
    assert lines.index({"time": 0, "value": 7}) < lines.index({"complete": [2]}) < lines.index({"time": 2, "value": 5})


@every_engine
def test_outputs_that_are_not_named_go_to_standard_output_with_their_edge(folder: Path, engine: str) -> None:
    result = run(folder, "totals.py", "--input", "numbers=-", "--engine", engine, stdin=NUMBERS)
    assert (result.exit_code, result.err) == (0, "")
    assert all(line["edge"] == "totals" and len(line) in (2, 3) for line in result.lines)
    assert values_of(result.lines) == {("totals", "0", "7"): 1, ("totals", "2", "5"): 1}
    assert result.lines[-1] == {"edge": "totals", "complete": []}


def test_an_output_may_be_standard_output_by_name(folder: Path) -> None:
    result = run(folder, "totals.py", "--input", "numbers=numbers.jsonl", "--output", "totals=-")
    assert {"time": 0, "value": 7} in result.lines
    assert result.lines[-1] == {"complete": []}


def test_an_input_without_a_file_is_closed(folder: Path) -> None:
    assert run(folder, "totals.py") == Result(0, '{"edge": "totals", "complete": []}\n', "")


def test_standard_output_by_name_leaves_what_was_there(folder: Path) -> None:
    write(folder, all__txt="before\n")
    command = f"{COMMAND} run totals.py --output totals=- --state state >> all.txt"
    for _ in range(2):
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "all.txt").read_text("utf-8") == 'before\n{"complete": []}\n'


def test_an_output_file_is_replaced(folder: Path) -> None:
    write(folder, out__jsonl="what was there before, and is longer than what comes\n" * 10)
    run(folder, "totals.py", "--output", "totals=out.jsonl")
    assert (folder / "out.jsonl").read_text("utf-8") == '{"complete": []}\n'


@every_engine
def test_engines_put_out_the_same_multisets_for_each_time(folder: Path, engine: str) -> None:
    rng = random.Random(5)
    epochs = [[rng.randint(1, 60) for _ in range(rng.randint(0, 12))] for _ in range(6)]
    result = run(folder, "collatz.py", "--input", "numbers=-", "--engine", engine, stdin=message_lines(epochs))
    assert (result.exit_code, result.err) == (0, "")
    assert values_of(result.lines) == collatz_values(epochs)
    for edge in ("rounds", "ways", "longest"):
        assert final(result.lines, edge) == {"edge": edge, "complete": []}


@every_engine
def test_what_was_said_to_be_complete_stays_so(folder: Path, engine: str) -> None:
    epochs = [[27, 9], [5], [], [7, 7]]
    result = run(folder, "collatz.py", "--input", "numbers=-", "--engine", engine, stdin=message_lines(epochs))
    reached: dict[str, list[Any]] = {"rounds": [[0, 0]], "ways": [0], "longest": [0]}
    for line in result.lines:
        if "complete" in line:
            assert all(any(before <= now for before in reached[line["edge"]]) for now in line["complete"])
            reached[line["edge"]] = line["complete"]
        else:
            assert any(begin <= line["time"] for begin in reached[line["edge"]])


def test_empty_lines_carriage_returns_and_a_missing_last_newline_are_no_matter(folder: Path) -> None:
    text = '\ufeff{"time": 0, "value": 3}\r\n\r\n  \n{"value": 4, "time": 0}'
    result = run(folder, "totals.py", "--input", "numbers=-", stdin=text)
    assert values_of(result.lines) == {("totals", "0", "7"): 1}


def test_values_are_any_json(folder: Path) -> None:
    pipeline(folder, "dataflow = Dataflow(graph)")
    values = [None, True, 1.5, "\u00e4\U0001f600\\\n", [1, [2]], {"a": {"b": [":"]}}, 10**40, ""]
    text = "".join(json.dumps({"time": 0, "value": value}) + "\n" for value in values)
    result = run(folder, "own.py", "--input", "numbers=-", stdin=text)
    assert [line["value"] for line in result.lines if "value" in line] == values


# --- late data and dead letters --------------------------------------------------------------------------------------

LATE = '{"complete": [5]}\n{"time": 3, "value": 1}\n{"time": 6, "value": 2}\n'
DEAD = """
class Picky(Node):
    def on_message(self, edge, time, value, out):
        if value == 13:
            raise ValueError("thirteen")
        out.send("totals", time, value)
dataflow = Dataflow(graph, {"total": Picky()}, on_error=DeadLetter("unlucky"))
"""


@every_engine
def test_late_data_goes_to_standard_output_by_its_name(folder: Path, engine: str) -> None:
    result = run(folder, "totals.py", "--input", "numbers=-", "--engine", engine, stdin=LATE)
    assert values_of(result.lines) == {("late", "3", "1"): 1, ("totals", "6", "2"): 1}


def test_late_data_may_have_a_file(folder: Path) -> None:
    result = run(folder, "totals.py", "--input", "numbers=-", "--output", "late=late.jsonl", stdin=LATE)
    assert values_of(result.lines) == {("totals", "6", "2"): 1}
    assert lines_of((folder / "late.jsonl").read_text("utf-8")) == [{"time": 3, "value": 1}]


@every_engine
def test_dead_letters_say_what_failed_where_and_why(folder: Path, engine: str) -> None:
    pipeline(folder, DEAD)
    text = '{"time": 0, "value": 13}\n{"time": 0, "value": 1}\n'
    result = run(folder, "own.py", "--input", "numbers=-", "--engine", engine, stdin=text)
    (dead,) = [line for line in result.lines if line["edge"] == "unlucky"]
    assert (dead["time"], dead["value"], dead["node"]) == (0, 13, "total")
    assert "ValueError: thirteen" in dead["error"]
    assert values_of(result.lines)["totals", "0", "1"] == 1
    result = run(folder, "own.py", "--input", "numbers=-", "--output", "unlucky=dead.jsonl", stdin=text)
    assert len(result.lines) == len([line for line in result.lines if line["edge"] == "totals"])
    assert lines_of((folder / "dead.jsonl").read_text("utf-8"))[0]["value"] == 13


def test_a_dead_letter_that_is_no_json_is_written_as_python_shows_it(folder: Path) -> None:
    graph = TOTALS_YAML.replace("{total: {}}", "{first: {}, total: {}}").replace("to: total", "to: first")
    graph += "  - {id: between, from: first, to: total}\n"
    pipeline(folder, DEAD.replace("value == 13", "True").replace('{"total"', '{"first": lambda n: {n}, "total"'), graph)
    result = run(folder, "own.py", "--input", "numbers=-", stdin='{"time": 0, "value": 13}\n')
    assert (result.exit_code, values_of(result.lines)) == (0, {("unlucky", "0", '"{13}"'): 1})


# --- live ------------------------------------------------------------------------------------------------------------


class Reader:
    """Reads lines from a process that may not answer."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._selector = selectors.DefaultSelector()
        self._selector.register(stream, selectors.EVENT_READ)
        self._buffer = b""

    def line(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            assert self._selector.select(PATIENCE), "nothing came"
            chunk = os.read(self._stream.fileno(), 65536)
            assert chunk, f"the output ended: {self._buffer!r}"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def until(self, wanted: dict[str, Any]) -> None:
        while self.line() != wanted:
            pass

    def close(self) -> None:
        self._selector.close()


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that do not outlive their test."""
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for process in found:
        stop(process)


LIVE = [("sim",), ("sim", "--seed", "4"), ("threads",), ("threads", "--workers", "1"), ("asyncio",)]


@pytest.mark.parametrize("engine", LIVE, ids=" ".join)
def test_a_result_leaves_when_it_is_complete_though_the_input_stays_open(
    folder: Path, engine: tuple[str, ...], processes: list[subprocess.Popen[bytes]]
) -> None:
    process = started(folder, "totals.py", "--input", "numbers=-", "--engine", *engine)
    processes.append(process)
    assert process.stdin is not None
    assert process.stdout is not None
    reader = Reader(process.stdout)
    for epoch in range(3):
        for value in (1, 2, 3):
            process.stdin.write(b'{"time": %d, "value": %d}\n' % (epoch, value))
            process.stdin.flush()
        process.stdin.write(b'{"complete": [%d]}\n' % (epoch + 1))
        process.stdin.flush()
        reader.until({"edge": "totals", "time": epoch, "value": 6})
        reader.until({"edge": "totals", "complete": [epoch + 1]})
    process.stdin.write(b'{"time": 7, "val')  # a line may come in pieces
    process.stdin.flush()
    process.stdin.write(b'ue": 1}')
    process.stdin.close()
    reader.until({"edge": "totals", "time": 7, "value": 1})
    reader.until({"edge": "totals", "complete": []})
    reader.close()
    assert process.wait(PATIENCE) == 0


TWO = """\
pointstamp: 1
nodes: {left: {}, right: {}, both: {time: {product: [nat, nat]}}}
edges:
  - {id: a, to: left}
  - {id: b, to: right}
  - {id: ab, to: both}
  - {id: as, from: left}
  - {id: bs, from: right}
  - {id: abs, from: both}
"""


@every_engine
def test_named_pipes_are_live_and_none_waits_for_the_other(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    pipeline(folder, "dataflow = Dataflow(graph)", TWO)
    os.mkfifo(folder / "a")
    os.mkfifo(folder / "b")
    process = started(folder, "own.py", "--input", "a=a", "--input", "b=b", "--engine", engine)
    processes.append(process)
    assert process.stdout is not None
    reader = Reader(process.stdout)
    with (folder / "b").open("wb", buffering=0) as second:  # the writer of the other comes later
        second.write(b'{"time": 0, "value": "first"}\n{"complete": [1]}\n')
        reader.until({"edge": "bs", "time": 0, "value": "first"})
        with (folder / "a").open("wb", buffering=0) as first:
            first.write(b'{"time": 4, "value": "second"}\n')
            reader.until({"edge": "as", "time": 4, "value": "second"})
            second.write(b'{"time": 1, "value": "third"}\n')
            reader.until({"edge": "bs", "time": 1, "value": "third"})
        reader.until({"edge": "as", "complete": []})
    reader.until({"edge": "bs", "complete": []})
    reader.close()
    assert process.wait(PATIENCE) == 0


def test_a_file_and_a_pipe_together(folder: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    pipeline(folder, "dataflow = Dataflow(graph)", TWO)
    process = started(folder, "own.py", "--input", "a=numbers.jsonl", "--input", "b=-", "--engine", "sim")
    processes.append(process)
    assert process.stdout is not None
    reader = Reader(process.stdout)
    reader.until({"edge": "as", "time": 2, "value": 5})
    reader.close()


# --- the same bytes --------------------------------------------------------------------------------------------------


def seeded(folder: Path, seed: int, hash_seed: str, file: str = "in.jsonl", stdin: str = "") -> str:
    options = ("--engine", "sim", "--seed", str(seed), "--trace", "trace.jsonl")
    result = run(folder, "collatz.py", "--input", f"numbers={file}", *options, stdin=stdin, PYTHONHASHSEED=hash_seed)
    assert (result.exit_code, result.err) == (0, "")
    return result.out + (folder / "trace.jsonl").read_text("utf-8")


def test_a_seed_gives_the_same_bytes_whatever_the_hashes_are(folder: Path) -> None:
    text = message_lines([[7, 12, 19], [3, 3], [25]])
    write(folder, in__jsonl=text)
    assert len({seeded(folder, 3, hash_seed) for hash_seed in ("0", "1", "4711")}) == 1
    assert len({seeded(folder, 3, hash_seed, "-", text) for hash_seed in ("0", "1")}) == 1
    assert len({seeded(folder, seed, "0") for seed in range(3)}) > 1, "the seed decides nothing"


def test_a_seed_gives_the_same_bytes_however_slowly_its_input_comes(
    folder: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    text = message_lines([[7, 12, 19], [3, 3]])
    at_once = run(folder, "collatz.py", "--input", "numbers=-", "--engine", "sim", "--seed", "3", stdin=text).out
    process = started(folder, "collatz.py", "--input", "numbers=-", "--engine", "sim", "--seed", "3")
    processes.append(process)
    assert process.stdin is not None
    reader = Reader(process.stdout) if process.stdout is not None else None
    assert reader is not None
    found: list[dict[str, Any]] = []
    for line in text.splitlines(keepends=True):
        process.stdin.write(line.encode())
        process.stdin.flush()
        if "complete" in line:  # wait until it was seen
            while found[-1:] != [{"edge": "longest", **json.loads(line)}]:
                found.append(reader.line())
    process.stdin.close()
    while len(found) < len(lines_of(at_once)):
        found.append(reader.line())
    reader.close()
    assert found == lines_of(at_once)


# --- times -----------------------------------------------------------------------------------------------------------

DOMAINS = """\
pointstamp: 1
nodes:
  number: {time: int}
  day: {time: {finite: {elements: [mon, tue, wed], below: [[mon, tue], [tue, wed]]}}}
  pair: {time: {lex: [nat, nat]}}
  once: {time: unit}
  either: {time: {sum: {left: nat, right: {product: [nat, nat]}}}}
edges:
  - {id: numbers, to: number}
  - {id: days, to: day}
  - {id: pairs, to: pair}
  - {id: onces, to: once}
  - {id: eithers, to: either}
  - {id: number_out, from: number}
  - {id: day_out, from: day}
  - {id: pair_out, from: pair}
  - {id: once_out, from: once}
  - {id: either_out, from: either}
"""
TIMES: dict[str, tuple[str, list[Any], Any]] = {  # input -> output, times of messages, what is complete then
    "numbers": ("number_out", [-3, 2], [-5]),
    "days": ("day_out", ["tue", "wed"], ["tue"]),
    "pairs": ("pair_out", [[0, 7], [1, 0]], [[0, 3]]),
    "onces": ("once_out", [None], [None]),
    "eithers": ("either_out", [{"left": 3}, {"right": [0, 2]}], [{"left": 1}, {"right": [0, 0]}]),
}


@every_engine
def test_inputs_of_different_domains(folder: Path, engine: str) -> None:
    pipeline(folder, "dataflow = Dataflow(graph)", DOMAINS)
    options = []
    for name, (_, times, complete) in TIMES.items():
        lines = [{"complete": complete}, *({"time": time, "value": name} for time in times)]
        write(folder, **{f"{name}__jsonl": "".join(f"{json.dumps(line)}\n" for line in lines)})
        options += ["--input", f"{name}={name}.jsonl"]
    result = run(folder, "own.py", *options, "--engine", engine)
    assert (result.exit_code, result.err) == (0, "")
    expected = {
        (out, json.dumps(time), json.dumps(name)): 1 for name, (out, times, _) in TIMES.items() for time in times
    }
    assert values_of(result.lines) == expected
    assert [final(result.lines, out)["complete"] for out, _, _ in TIMES.values()] == [[]] * 5


def test_an_input_without_least_times_says_first_where_it_begins(folder: Path) -> None:
    pipeline(folder, "dataflow = Dataflow(graph)", DOMAINS)
    result = run(folder, "own.py", "--input", "numbers=-", stdin='\n{"time": 3, "value": 1}\n')
    assert result.exit_code == 2
    assert result.complaint.startswith("pointstamp: -:2: PS731: ")
    assert '{"complete": [t, ...]}' in result.complaint
    assert run(folder, "own.py", "--input", "numbers=-", stdin="").exit_code == 0


LEAVING = "  - {id: results, from: exit}\n  - {id: seen, from: split}\n"
FIBONACCI_CODE = """
class Split(Node):
    def on_message(self, edge, time, n, out):
        out.send("seen", time, n)
        if n < 2:
            out.send("split->exit", time, n)
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)

class Combine(Node):
    def __init__(self):
        self.sums = {}
    def on_message(self, edge, time, number, out):
        self.sums[time] = self.sums.get(time, 0) + number
        out.request(time)
    def on_notify(self, time, out):
        out.send("combine->exit", time, self.sums.pop(time))

dataflow = Dataflow(graph, {"split": Split(), "combine": Combine()})
"""


@every_engine
def test_a_graph_that_calls_itself_has_epochs_and_stacks_for_times(folder: Path, engine: str) -> None:
    pipeline(folder, FIBONACCI_CODE, FIBONACCI_YAML + LEAVING)
    text = '{"time": [0, []], "value": 5}\n{"time": [1, []], "value": 2}\n{"complete": [[2, []]]}\n'
    options = ("--engine", engine, "--trace", "trace.jsonl")
    result = run(folder, "own.py", "--input", "numbers=-", *options, stdin=text)
    assert (result.exit_code, result.err) == (0, "")
    values = values_of(result.lines)
    assert {key: count for key, count in values.items() if key[0] == "results" and "[]" in key[1]} == {
        ("results", "[0, []]", "5"): 1,
        ("results", "[1, []]", "1"): 1,
    }
    assert values["seen", '[0, ["left", "right"]]', "2"] == 1
    assert sum(count for (edge, time, _), count in values.items() if edge == "seen" and time[1] == "1") == 3
    assert replayed(folder, "own.yaml")["refused"] == {}


# --- traces ----------------------------------------------------------------------------------------------------------


def replayed(folder: Path, graph: str) -> dict[str, Any]:
    done = subprocess.run(
        [COMMAND, "replay", graph, "trace.jsonl", "--format", "json"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("engine", LIVE, ids=" ".join)
def test_a_trace_is_a_session_that_replay_plays(folder: Path, engine: tuple[str, ...]) -> None:
    epochs = [[27, 9], [5], [], [7, 7]]
    options = ("--engine", *engine, "--trace", "trace.jsonl")
    result = run(folder, "collatz.py", "--input", "numbers=-", *options, stdin=message_lines(epochs))
    assert result.exit_code == 0
    found = replayed(folder, "collatz.yaml")
    assert found["refused"] == {}
    assert found["steps"] == len((folder / "trace.jsonl").read_text("utf-8").splitlines())
    longest = sum(epoch != [] for epoch in epochs)
    assert found["ready"] == longest + sum(edge == "rounds" for edge, _, _ in collatz_values(epochs).elements())
    state = found["state"]
    assert (state["messages"], state["requests"]) == ([], [])
    assert not any(state["frontiers"].values())


# --- what is wrong with an input -------------------------------------------------------------------------------------

BAD_LINES = {
    "{": "not JSON",
    "[1, 2]": "a list",
    "3": "",
    '{"time": 0}': "there is no value",
    '{"value": 0}': "there is no time",
    "{}": "there is no time",
    '{"time": -1, "value": 0}': "-1 is not a time of",
    '{"time": "x", "value": 0}': "is not a time of",
    '{"time": [0], "value": 0}': "is not a time of",
    '{"time": true, "value": 0}': "is not a time of",
    '{"time": 0, "valeu": 0}': "value",
    '{"time": 0, "value": 0, "more": 1}': "unknown key",
    '{"complete": 3}': "a list of times",
    '{"complete": [3.5]}': "is not a time of",
    '{"complete": [3], "time": 0}': "a line of its own",
    '{"time": 0, "time": 0, "value": 3}': "a key appears twice",
    '{"time": 0, "value": NaN}': "NaN",
    "\x00": "not JSON",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_refused_with_its_place(folder: Path, line: str) -> None:
    write(folder, bad__jsonl=f"{NUMBERS}\n{line}\n{NUMBERS}")
    result = run(folder, "totals.py", "--input", "numbers=bad.jsonl", "--output", "totals=out.jsonl")
    assert (result.exit_code, result.out) == (2, "")
    assert result.complaint.startswith("pointstamp: bad.jsonl:6: PS731: ")
    assert BAD_LINES[line] in result.complaint
    assert result.complaint.endswith(")")
    lines_of((folder / "out.jsonl").read_text("utf-8"))


@every_engine
def test_bytes_that_are_no_text_and_lines_that_are_too_long_are_refused(folder: Path, engine: str) -> None:
    for content, says in ((b"\xff\xfe\n", "UTF-8"), (b"[" * 20_000_000, "longer than"), (b"[" * 200_000, "nested")):
        (folder / "bad.jsonl").write_bytes(b'{"time": 0, "value": 1}\n' + content)
        result = run(folder, "totals.py", "--input", "numbers=bad.jsonl", "--engine", engine)
        assert result.exit_code == 2
        assert result.complaint.startswith("pointstamp: bad.jsonl:2: PS731: ")
        assert says in result.complaint
        assert len(result.complaint) < 300


@every_engine
def test_a_value_that_is_no_json_stops_the_run(folder: Path, engine: str) -> None:
    pipeline(folder, 'dataflow = Dataflow(graph, {"total": lambda n: {n} if n == 4 else n})')
    result = run(folder, "own.py", "--input", "numbers=-", "--engine", engine, stdin=NUMBERS)
    assert result.exit_code == 1
    assert result.complaint.startswith("pointstamp: PS732: the value {4} that leaves at 'totals', at 0")
    lines_of(result.out)


@pytest.mark.parametrize("value", ["float('nan')", "b''", "[1, {2: object}]", "deep"])
def test_other_values_that_are_no_json(folder: Path, value: str) -> None:
    pipeline(folder, f"deep = []\ndeep.append(deep)\ndataflow = Dataflow(graph, {{'total': lambda n: {value}}})")
    result = run(folder, "own.py", "--input", "numbers=-", stdin=NUMBERS)
    assert (result.exit_code, result.out) == (1, "")
    assert "PS732" in result.complaint


# --- what is wrong with a pipeline -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "exit_code", "says"),
    [
        ("", 2, "PS734: own.py defines no dataflow"),
        ("dataflow = 3", 2, "PS734: dataflow in own.py is 3"),
        ("dataflow = Dataflow(graph, {'totla': print})", 2, "own.py:4: PS708"),
        ("dataflow = Dataflow(load('missing.yaml'))", 2, "own.py:4: PS001: in 'missing.yaml': cannot read the file: "),
        ("dataflow = Dataflow(load('numbers.jsonl'))", 2, "own.py:4: PS00"),
    ],
)
def test_a_pipeline_that_is_none_gets_one_line(folder: Path, code: str, exit_code: int, says: str) -> None:
    pipeline(folder, code)
    result = run(folder, "own.py")
    assert (result.exit_code, result.out) == (exit_code, "")
    assert says in result.complaint


def test_a_pipeline_that_is_not_there(folder: Path) -> None:
    for name in ("missing.py", ".", "totals.yaml"):
        result = run(folder, name)
        assert (result.exit_code, result.out) == (2, "")
        assert "PS734" in result.complaint


def own_trace(result: Result) -> tuple[str, str]:
    """The traceback of the user's code, and the line after it."""
    *trace, line = result.err.splitlines()
    text = "\n".join(trace)
    for word in ("progress/", "graphs/", "importlib", "threading", "asyncio/", "runpy"):
        assert word not in text
    assert line.startswith("pointstamp: ")
    return text, line


@pytest.mark.parametrize(
    ("code", "line", "says"),
    [
        ("1 / 0", 4, "ZeroDivisionError: division by zero"),
        ("import missing_module", 4, "ModuleNotFoundError: No module named 'missing_module'"),
        ("def f(:", 4, "SyntaxError"),
        ("import sys\nsys.exit(0)", 5, "SystemExit"),
    ],
)
def test_a_pipeline_that_raises_shows_its_own_traceback(folder: Path, code: str, line: int, says: str) -> None:
    pipeline(folder, code)
    result = run(folder, "own.py")
    assert (result.exit_code, result.out) == (1, "")
    trace, complaint = own_trace(result)
    assert f'own.py", line {line}' in trace
    assert says in trace
    assert "PS733: own.py cannot be loaded: " in complaint


FAILING = """
class Failing(Node):
    def on_message(self, edge, time, value, out):
        out.send("totals", time, value)
        if value == 4:
            inner()
def inner():
    {}
dataflow = Dataflow(graph, {{"total": Failing()}})
"""


@every_engine
def test_a_node_that_raises_shows_its_own_traceback(folder: Path, engine: str) -> None:
    pipeline(folder, FAILING.format('raise ValueError("no\\x1b four")'))
    result = run(folder, "own.py", "--input", "numbers=-", "--engine", engine, stdin=NUMBERS)
    assert result.exit_code == 1
    trace, line = own_trace(result)
    assert [word.strip() for word in trace.splitlines() if word.strip().startswith("File")] == [
        f'File "{folder}/own.py", line 9, in on_message',
        f'File "{folder}/own.py", line 11, in inner',
    ]
    assert "PS705: 'total' failed on a message from 'numbers' at 0: ValueError: no" in line
    assert line.endswith("the message: 4")
    assert "\x1b" not in result.err
    assert values_of(result.lines) == {("totals", "0", "3"): 1}


@every_engine
def test_a_node_that_does_what_it_may_not_shows_where(folder: Path, engine: str) -> None:
    graph = TOTALS_YAML.replace("{total: {}}", "{total: {summary: {advance: 1}}}")
    pipeline(folder, FAILING.format("pass"), graph)
    result = run(folder, "own.py", "--input", "numbers=-", "--engine", engine, stdin=NUMBERS)
    trace, line = own_trace(result)
    assert 'own.py", line 7, in on_message' in trace
    assert "PS702" in line
    assert result.exit_code == 1


@every_engine
def test_a_source_of_the_pipeline_that_raises(folder: Path, engine: str) -> None:
    code = 'def numbers():\n    yield 0, 1\n    raise RuntimeError("dry")\n'
    pipeline(folder, f"{code}dataflow = Dataflow(graph, sources={{'numbers': numbers}})")
    result = run(folder, "own.py", "--engine", engine)
    assert result.exit_code == 1
    trace, line = own_trace(result)
    assert 'own.py", line 6, in numbers' in trace
    assert "PS724: the source of 'numbers' failed: RuntimeError: dry" in line


def test_modules_beside_the_pipeline_are_found(folder: Path) -> None:
    (folder / "deep").mkdir()
    write(folder / "deep", helper__py="def double(n): return 2 * n\n", double__py="")
    pipeline(folder / "deep", "from helper import double\ndataflow = Dataflow(graph, {'total': double})")
    (folder / "deep" / "own.yaml").rename(folder / "own.yaml")
    result = run(folder, "deep/own.py", "--input", "numbers=numbers.jsonl")
    assert values_of(result.lines)["totals", "2", "10"] == 1


def test_a_pipeline_with_sources_and_sinks_of_its_own(folder: Path) -> None:
    code = 'got = open("got", "w")\n'
    code += (
        "dataflow = Dataflow(graph, sources={'numbers': [(0, 1)]}, sinks={'totals': lambda t, v: got.write(str(v))})"
    )
    pipeline(folder, code)
    assert run(folder, "own.py") == Result(0, "", "")
    assert (folder / "got").read_text() == "1"
    result = run(folder, "own.py", "--input", "numbers=numbers.jsonl", "--output", "totals=-")
    assert values_of(result.lines, "totals") == {
        ("totals", "0", "3"): 1,
        ("totals", "0", "4"): 1,
        ("totals", "2", "5"): 1,
    }


def test_async_nodes_and_sources_run_on_asyncio_alone(folder: Path) -> None:
    code = """
import asyncio
async def numbers():
    yield 0, 1
    await asyncio.sleep(0)
    yield 1, 2
class Slow(Node):
    async def on_message(self, edge, time, value, out):
        await asyncio.sleep(0.001)
        out.send("totals", time, value)
dataflow = Dataflow(graph, {"total": Slow()}, sources={"numbers": numbers})
"""
    pipeline(folder, code)
    result = run(folder, "own.py", "--engine", "asyncio")
    assert values_of(result.lines) == {("totals", "0", "1"): 1, ("totals", "1", "2"): 1}
    result = run(folder, "own.py", "--engine", "threads")
    assert result.exit_code == 2
    assert "PS710" in result.complaint


def test_requests_that_wait_for_ever_are_a_finding(folder: Path) -> None:
    graph = """\
pointstamp: 1
nodes: {total: {}, back: {notify: false}}
edges:
  - {id: numbers, to: total}
  - {id: totals, from: total}
  - {id: round, from: total, to: back}
  - {id: again, from: back, to: total}
"""
    pipeline(folder, TOTALS.partition("\n\n")[2].replace('load("totals.yaml")', "graph"), graph)
    result = run(folder, "own.py", "--input", "numbers=numbers.jsonl")
    assert result.exit_code == 1
    assert "PS739: the run is over, and 2 requests wait for ever: first 'total' at 0" in result.complaint
    for _ in range(2):  # what is kept is no run that has ended well, so it is said again
        result = run(folder, "own.py", "--input", "numbers=numbers.jsonl", "--state", "state")
        assert result.exit_code == 1
        assert "PS739: the run is over, and 2 requests" in result.complaint


# --- bad usage -------------------------------------------------------------------------------------------------------

INPUT = ("--input", "numbers=numbers.jsonl")
BAD_USAGE: dict[tuple[str, ...], str] = {
    ("--input", "nubmers=x"): "did you mean numbers",
    ("--input", "numbers"): "no file",
    ("--input", "numbers="): "no file",
    ("--input", "more.jsonl"): '--input "more.jsonl": there is no input of that name, and no file after it (EDGE=FILE, '
    'like --input "numbers=more.jsonl")',
    ("--state", ""): "PS736: no state can be kept in a folder without a name",
    ("--input", "numbers=missing.jsonl"): "cannot read missing.jsonl",
    ("--input", "numbers=."): "cannot read .",
    ("--input", "totals=numbers.jsonl"): "there is no input",
    (*INPUT, *INPUT): "two files",
    ("--output", "tolats=x"): "did you mean totals",
    ("--output", "totals=missing/x"): "cannot write missing/x",
    ("--output", "totals=."): "cannot write .",
    (*INPUT, "--output", "totals=numbers.jsonl"): "one file",
    (*INPUT, "--output", "totals=./numbers.jsonl"): "one file",
    ("--output", "totals=x", "--output", "late=x"): "one file",
    ("--output", "totals=x", "--trace", "x"): "one file",
    ("--output", "totals=totals.py"): "PIPELINE.py are one file",
    ("--trace", "missing/x"): "cannot write missing/x",
    ("--engine", "spark", "--conf", "memory"): "--conf memory is not a setting",
    ("--engine", "spark", "--seed", "3"): "--engine sim",
    ("--master", "local[2]"): "--engine spark",
    ("--conf", "spark.executor.memory=1g", "--engine", "sim"): "--engine spark",
    ("--tables", "x"): "--engine spark",
    ("--engine", "warp"): "invalid choice",
    ("--seed", "3"): "--engine sim",
    ("--seed", "3", "--engine", "asyncio"): "--engine sim",
    ("--seed", "x", "--engine", "sim"): "invalid int",
    ("--workers", "0"): "1 or more",
    ("--workers", "2", "--engine", "sim"): "--engine threads",
    ("--every", "1"): "--state DIR",
    ("--state", "x", "--every", "-1"): "0 or more",
    ("--state", "numbers.jsonl"): "no state can be kept in numbers.jsonl: not a directory",
    ("--timeout", "0"): "--timeout 0: the run would have no time",
    ("--timeout", "nan"): "--timeout nan",
    ("--timeout", "soon"): "invalid float",
}


@pytest.mark.parametrize("options", BAD_USAGE, ids=" ".join)
def test_bad_usage_is_one_line_and_touches_nothing(folder: Path, options: tuple[str, ...]) -> None:
    write(folder, x="what is there\n")
    result = run(folder, "totals.py", *options)
    assert (result.exit_code, result.out) == (2, "")
    assert BAD_USAGE[options] in result.complaint
    assert (folder / "x").read_text() == "what is there\n"
    assert (folder / "numbers.jsonl").read_text("utf-8") == NUMBERS


def test_two_inputs_cannot_both_be_standard_input(folder: Path) -> None:
    pipeline(folder, "dataflow = Dataflow(graph)", TWO)
    result = run(folder, "own.py", "--input", "a=-", "--input", "b=-")
    assert result.exit_code == 2
    assert "standard input" in result.complaint
    assert run(folder, "own.py", "--input", "a=numbers.jsonl", "--input", "b=numbers.jsonl").exit_code == 0


def test_an_edge_may_have_an_equals_sign_in_its_name(folder: Path) -> None:
    graph = TOTALS_YAML.replace("numbers", '"a=b"').replace("id: totals", "id: a")
    pipeline(folder, "dataflow = Dataflow(graph)", graph)
    result = run(folder, "own.py", "--input", "a=b=numbers.jsonl", "--output", "a=b=c")
    assert result.exit_code == 0
    assert values_of(lines_of((folder / "b=c").read_text("utf-8")), "a").total() == 3


def test_a_full_disk_is_one_line(folder: Path) -> None:
    result = run(folder, "totals.py", *INPUT, "--output", "totals=/dev/full")
    assert result.exit_code == 2
    assert "no space left" in result.complaint


# --- the end before the end ------------------------------------------------------------------------------------------

ENDLESS = """
import itertools
def numbers():
    for number in itertools.count():
        yield number // 100, "x" * (number % 300)
        if number % 100 == 99:
            yield Complete((number // 100 + 1,))
dataflow = Dataflow(graph, sources={"numbers": numbers})
"""
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
@every_engine
def test_a_signal_stops_the_run_with_whole_lines(
    folder: Path, engine: str, number: int, processes: list[subprocess.Popen[bytes]]
) -> None:
    pipeline(folder, ENDLESS)
    process = started(folder, "own.py", "--output", "totals=out.jsonl", "--trace", "trace.jsonl", "--engine", engine)
    processes.append(process)
    out = folder / "out.jsonl"
    waited = 0
    while not out.exists() or out.stat().st_size < 100_000:
        assert process.poll() is None
        waited += 1
        assert waited < PATIENCE * 100
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(number)
    assert process.communicate(timeout=PATIENCE) == (b"", b"")
    assert process.returncode == SIGNALS[signal.Signals(number)]
    lines_of(out.read_text("utf-8"))
    lines_of((folder / "trace.jsonl").read_text("utf-8"))
    assert replayed(folder, "own.yaml")["refused"] == {}


@every_engine
def test_a_signal_is_heard_while_nothing_comes(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    process = started(folder, "totals.py", "--input", "numbers=-", "--engine", engine)
    processes.append(process)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"time": 0, "value": 1}\n{"complete": [1]}\n')
    process.stdin.flush()
    reader = Reader(process.stdout)
    reader.until({"edge": "totals", "complete": [1]})
    reader.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert process.communicate(timeout=PATIENCE) == (b"", b"")


def test_a_run_that_is_not_kept_may_have_nodes_that_cannot_be(
    folder: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    unkept = "class Unkept(Node):\n    def on_start(self, out): self.file = open('begun', 'w')\n"
    pipeline(folder, f"{unkept}dataflow = Dataflow(graph, {{'total': Unkept()}})")
    process = started(folder, "own.py", "--input", "numbers=-")
    processes.append(process)
    while not (folder / "begun").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert process.communicate(timeout=PATIENCE) == (b"", b"")


def test_a_signal_is_heard_while_an_input_has_not_begun(folder: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    pipeline(folder, "print('begun', flush=True)\ndataflow = Dataflow(graph)", DOMAINS)
    process = started(folder, "own.py", "--input", "numbers=-")
    processes.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 143


@every_engine
def test_the_second_signal_does_not_wait(folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]) -> None:
    code = """
import time
class Stuck(Node):
    def on_message(self, edge, at, value, out):
        open("stuck", "w").close()
        while True:
            time.sleep(0.01)
dataflow = Dataflow(graph, {"total": Stuck()})
"""
    pipeline(folder, code)
    process = started(folder, "own.py", *INPUT, "--engine", engine)
    processes.append(process)
    while not (folder / "stuck").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    assert process.stderr is not None
    says = b"pointstamp: stopping when what runs has come to its end; a second signal ends it at once\n"
    assert process.stderr.readline() == says
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert process.stderr.read() == b""


def filled(stream: IO[bytes]) -> None:
    """Wait until a pipe that nobody reads has taken all that it takes."""
    before, now = -1, 0
    while now != before or not now:
        time.sleep(0.3)
        before, now = now, struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, b"1234"))[0]


def stopped_in_time(process: subprocess.Popen[bytes], number: int = signal.SIGINT) -> bytes:
    """Stop a run by one signal, at once although nobody reads what it writes; what had left."""
    begin = time.monotonic()
    process.send_signal(number)
    assert process.wait(PATIENCE) == 128 + number
    assert time.monotonic() - begin < 5, "it ends within about a second, on a machine that does nothing else"
    out, err = process.communicate(timeout=PATIENCE)
    assert err == b""
    return out


@every_engine
def test_a_signal_is_heard_while_the_reader_stalls(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    pipeline(folder, ENDLESS)
    process = started(folder, "own.py", "--engine", engine)
    processes.append(process)
    assert process.stdout is not None
    filled(process.stdout)
    assert len(lines_of(stopped_in_time(process).decode())) > 100


@every_engine
def test_a_line_longer_than_a_pipe_takes_at_once_is_the_only_one_that_may_be_cut(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    source = '[(0, "short"), (0, "x" * 1_000_000)]'
    pipeline(folder, f'dataflow = Dataflow(graph, sources={{"numbers": {source}}})')
    process = started(folder, "own.py", "--engine", engine)
    processes.append(process)
    assert process.stdout is not None
    filled(process.stdout)
    whole, _, rest = stopped_in_time(process).partition(b"\n")
    assert json.loads(whole)["value"] == "short"
    assert rest.startswith(b'{"edge": "totals", "time": 0, "value": "xxx')


@every_engine
def test_a_signal_is_heard_while_nobody_reads_a_named_pipe(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    pipeline(folder, "print('begun', flush=True)\n" + ENDLESS)
    os.mkfifo(folder / "out")
    process = started(folder, "own.py", "--output", "totals=out", "--engine", engine)
    processes.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    assert stopped_in_time(process, signal.SIGTERM) == b""


@every_engine
def test_a_named_pipe_is_written_when_somebody_reads_it(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    write(folder, totals__py="print('begun', flush=True)\n" + TOTALS)
    os.mkfifo(folder / "out")
    process = started(folder, "totals.py", *INPUT, "--output", "totals=out", "--engine", engine)
    processes.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    time.sleep(0.3)
    lines = lines_of((folder / "out").read_text("utf-8"))
    assert values_of(lines, "totals") == {("totals", "0", "7"): 1, ("totals", "2", "5"): 1}
    assert process.wait(PATIENCE) == 0


@every_engine
def test_what_a_stalled_reader_did_not_take_comes_again(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    """It was in no checkpoint as if it had left."""
    count = 3_000
    late = "".join(f'{{"time": 0, "value": "{"x" * 100}{number}"}}\n' for number in range(count))
    write(folder, numbers__jsonl='{"complete": [5]}\n' + late)
    command = ("totals.py", *INPUT, "--output", "totals=out", "--engine", engine, "--state", "state")
    process = started(folder, *command)
    processes.append(process)
    assert process.stdout is not None
    filled(process.stdout)
    first = lines_of(stopped_in_time(process).decode())
    assert 0 < len(first) < count
    result = run(folder, *command)
    assert (result.exit_code, result.err) == (0, "")
    assert len({line["value"] for line in (*first, *result.lines)}) == count


# --- its time is up ---------------------------------------------------------------------------------------------------


@every_engine
def test_a_run_stops_when_its_time_is_up(folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]) -> None:
    process = started(folder, "totals.py", "--input", "numbers=-", "--engine", engine, "--timeout", "0.5")
    processes.append(process)
    assert process.stdin is not None
    process.stdin.write(b'{"time": 0, "value": 1}\n{"complete": [1]}\n')
    process.stdin.flush()  # and then nothing
    assert process.wait(PATIENCE) == 1
    assert process.stderr is not None
    assert process.stderr.read().startswith(b"pointstamp: PS713: the run took more than 0.5 seconds (")
    assert process.stdout is not None
    assert lines_of(process.stdout.read().decode())[-1] == {"edge": "totals", "complete": [1]}


def test_a_run_that_ends_before_its_time_is_up(folder: Path) -> None:
    for seconds in ("1e9", "1e300"):
        result = run(folder, "totals.py", *INPUT, "--timeout", seconds)
        assert (result.exit_code, result.err) == (0, "")


def test_what_is_waited_for_when_the_time_is_up_is_said(folder: Path) -> None:
    """A node that blocks comes to its end first, and nobody would know why nothing happens."""
    code = "import time\ndataflow = Dataflow(graph, {'total': lambda value: time.sleep(4.5)})"
    pipeline(folder, code)
    result = run(folder, "own.py", *INPUT, "--engine", "sim", "--timeout", "0.3")
    assert result.exit_code == 1
    first, last = result.err.splitlines()
    assert first.startswith("pointstamp: its time is up: stopping when what runs has come to its end; ")
    assert last.startswith("pointstamp: PS713: the run took more than 0.3 seconds (")


# --- standard output that is closed -----------------------------------------------------------------------------------


@pytest.mark.parametrize("more", ["", "--output totals=-", "--output late=late --state state"])
def test_an_output_to_standard_output_that_is_closed_is_refused(folder: Path, more: str) -> None:
    command = f"{COMMAND} run totals.py --input numbers=numbers.jsonl {more} >&-"
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"pointstamp: standard output is closed, and an output goes there (")
    assert not (folder / "late").exists()


def test_standard_output_may_be_closed_where_nothing_goes_there(folder: Path) -> None:
    def closed(data: str) -> tuple[int, bytes]:
        write(folder, numbers__jsonl=data)
        command = f"{COMMAND} run totals.py --input numbers=numbers.jsonl --output totals=out >&-"
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), capture_output=True, check=False)
        return done.returncode, done.stderr

    assert closed(NUMBERS) == (0, b"")
    code, says = closed(LATE)  # the first that is late would be lost
    assert (code, says.startswith(b"pointstamp: standard output is closed")) == (2, True)


@every_engine
def test_a_reader_that_has_had_enough_stops_the_run_quietly(folder: Path, engine: str) -> None:
    pipeline(folder, ENDLESS)
    done = subprocess.run(
        ["sh", "-c", f"{COMMAND} run own.py --engine {engine} | head -n 3"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(lines_of(done.stdout.decode())) == 3


# --- the line on a terminal -------------------------------------------------------------------------------------------


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What a command shows on its standard error, a terminal; its standard output is a pipe."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
        env=environment(TERM="xterm", COLUMNS="200"),
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(PATIENCE) == 0
    return shown.decode()


@every_engine
def test_a_terminal_shows_how_the_run_goes(folder: Path, engine: str) -> None:
    pipeline(
        folder,
        """
import time
class Slow(Node):
    def on_message(self, edge, at, value, out):
        time.sleep(0.1)
        out.request(at)
dataflow = Dataflow(graph, {"total": Slow()}, sources={"numbers": [(0, value) for value in range(10)]})
""",
    )
    shown = on_a_terminal(folder, "run", "own.py", "--engine", engine)
    assert "messages, " in shown
    assert "/s" in shown
    assert "\x1b[?25h" in shown  # the cursor is there again


@every_engine
def test_a_terminal_shows_what_a_silent_input_blocks(
    folder: Path, engine: str, processes: list[subprocess.Popen[bytes]]
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "run", "totals.py", "--input", "numbers=-", "--engine", engine],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs,
        env=environment(TERM="xterm", COLUMNS="300"),
    )  # fmt: skip
    processes.append(process)
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(b'{"time": 0, "value": 3}\n')
    process.stdin.flush()
    shown = b""
    wanted = (
        b"1 messages, ",
        b"1 blocked: total at 0 has waited ",
        b" s for the input numbers, open at 0: moving it past 0",
    )
    until = monotonic() + PATIENCE
    while not all(part in shown for part in (*wanted, b" or closing it lets go; totals at 0")):
        assert monotonic() < until, shown  # rich draws four times a second, so that reading does not wait for long
        shown += os.read(ours, 1 << 16)  # the input stays open, and nothing more comes
    process.stdin.close()
    with suppress(OSError):  # the other end is closed
        while os.read(ours, 1 << 16):
            pass
    os.close(ours)
    assert process.wait(PATIENCE) == 0


def test_nothing_is_shown_where_standard_error_is_no_terminal(folder: Path) -> None:
    result = run(folder, "totals.py", "--input", "numbers=numbers.jsonl")
    assert (result.exit_code, result.err) == (0, "")
