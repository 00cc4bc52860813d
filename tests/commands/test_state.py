"""`pointstamp run --state`: killed at any instant and started again, each value is in its file once (SPEC 6)."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphs.command import main
from progress.runtime.durable.rests import EARLY, WORK, Rests
from tests.commands.pipelines import (
    COLLATZ,
    COLLATZ_YAML,
    ENGINES,
    FIBONACCI_YAML,
    SUMS,
    TOTALS,
    TOTALS_YAML,
    Result,
    collatz_values,
    killed_everywhere,
    lines_of,
    message_lines,
    run,
    started,
    values_of,
    write,
)
from tests.commands.pipelines import COMMAND as COMMAND_FILE
from tests.commands.pipelines import PATIENCE as LONG

ROOT = Path(__file__).resolve().parents[2]
EPOCHS = [[7, 3], [5], [], [6, 2]]
OUTPUTS = {"rounds": "out1", "ways": "out2", "longest": "out3"}
NAMED = tuple(word for edge, file in OUTPUTS.items() for word in ("--output", f"{edge}={file}"))
COMMAND = ("collatz.py", "--input", "numbers=in.jsonl", *NAMED, "--state", "state", "--every", "0")
every_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the pipelines and their input in it."""
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, collatz__yaml=COLLATZ_YAML, collatz__py=COLLATZ)
    write(tmp_path, in__jsonl=message_lines(EPOCHS))
    return tmp_path


def put_out(folder: Path) -> Counter[tuple[str, str, str]]:
    """All values in the output files; each file ends where its edge does."""
    found: Counter[tuple[str, str, str]] = Counter()
    for edge, file in OUTPUTS.items():
        lines = lines_of((folder / file).read_text("utf-8"))
        assert lines[-1] == {"complete": []}
        found += values_of(lines, edge)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in OUTPUTS.values() if (folder / name).exists()}


# --- killed ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine",
    [
        ("sim",),
        ("sim", "--seed", "3", "--delivery", "barrier"),
        ("threads",),
        ("asyncio",),
        ("threads", "--delivery", "barrier"),
    ],
    ids=" ".join,
)
def test_killed_at_every_call_of_the_system(folder: Path, engine: tuple[str, ...]) -> None:
    rounds = killed_everywhere(folder, 7 if "barrier" in engine else 15, *COMMAND, "--engine", *engine)
    assert sum(each["kills"] for each in rounds) > 20
    for each in rounds:
        write(folder, **each["texts"])
        assert put_out(folder) == collatz_values(EPOCHS), f"killed at call {each['at']}"
    if engine[0] == "sim":
        assert len({json.dumps(each["texts"]) for each in rounds}) == 1, "it goes on as if nothing had happened"


FIBONACCI_CODE = """
from dataclasses import dataclass
from graphs import load
from progress.runtime import Dataflow, Node

class Split(Node):
    def on_message(self, edge, time, n, out):
        if n < 2:
            out.send("split->exit", time, [n, time])
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)

@dataclass
class Sum:
    total: int = 0

class Combine(Node):
    def __init__(self):
        self.sums = {}
    def on_message(self, edge, time, value, out):
        number, came_from = value
        assert came_from[1].depth == time[1].depth + 1 and came_from[1].parent is time[1]
        self.sums.setdefault(time, Sum()).total += number
        out.request(time)
    def on_notify(self, time, out):
        total = self.sums.pop(time).total
        out.send("sums", time, total)
        out.send("combine->exit", time, [total, time])

dataflow = Dataflow(load("fibonacci.yaml"), {"split": Split(), "combine": Combine()})
"""


@pytest.mark.slow
@every_engine
def test_stacks_and_classes_of_the_pipeline_are_kept(folder: Path, engine: str) -> None:
    write(folder, fibonacci__yaml=FIBONACCI_YAML + SUMS, fibonacci__py=FIBONACCI_CODE)
    write(folder, in__jsonl='{"time": [0, []], "value": 5}\n{"time": [1, []], "value": 3}\n')
    command = (
        "fibonacci.py",
        "--input",
        "numbers=in.jsonl",
        "--output",
        "sums=out",
        "--state",
        "state",
        "--every",
        "0",
    )
    rounds = killed_everywhere(folder, 139, *command, "--engine", engine)
    expected: Counter[tuple[str, str, str]] = Counter()

    def add(epoch: int, stack: list[str], n: int) -> int:
        if n < 2:
            return n
        total = add(epoch, [*stack, "left"], n - 1) + add(epoch, [*stack, "right"], n - 2)
        expected["sums", json.dumps([epoch, stack]), str(total)] += 1
        return total

    add(0, [], 5)
    add(1, [], 3)
    for each in rounds:
        assert values_of(lines_of(each["texts"]["out"]), "sums") == expected


def test_a_run_without_tables_loads_no_library_of_tables(folder: Path) -> None:
    """Neither when it begins nor when it takes a checkpoint: they cost more than the run."""
    said = "print(code, {'pyspark', 'py4j', 'numpy', 'pandas', 'pyarrow'} & sys.modules.keys())"
    program = f"import sys; from graphs.command import main; code = main(['run', *{COMMAND!r}]); {said}"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0 set()\n", "")
    assert put_out(folder) == collatz_values(EPOCHS)


# --- stopped, finished, mended ---------------------------------------------------------------------------------------

ASYNC = COLLATZ.replace("    def on_message", "    async def on_message").replace(
    "sleep(PAUSE)", "await asyncio.sleep(PAUSE)"
)


@pytest.mark.parametrize("engine", [*ENGINES, "asyncio, async def"])
def test_stopped_by_a_signal_it_goes_on(folder: Path, engine: str) -> None:
    code = f"import asyncio\n{ASYNC}" if "async def" in engine else COLLATZ
    write(folder, collatz__py=code.replace("PAUSE = 0", "PAUSE = 0.01"))
    command = (*COMMAND, "--engine", engine.partition(",")[0])
    stops = 0
    while True:
        process = started(folder, *command)
        if stops < 3:
            before = sum(map(len, contents(folder).values()))
            while sum(map(len, contents(folder).values())) <= before and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LONG)
        assert (out, err) == (b"", b"")
        if process.returncode == 0:
            break
        assert process.returncode == 143
        for name in contents(folder):
            lines_of((folder / name).read_text("utf-8"))
        stops += 1
    assert stops == 3
    assert put_out(folder) == collatz_values(EPOCHS)


@every_engine
def test_a_run_that_has_ended_changes_nothing_when_it_is_started_again(folder: Path, engine: str) -> None:
    assert run(folder, *COMMAND, "--engine", engine) == Result(0, "", "")
    paths = [folder / name for name in OUTPUTS.values()] + [folder / "state" / "checkpoint"]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    assert run(folder, *COMMAND, "--engine", engine) == Result(0, "", "")
    assert before == [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]


FLAKY = COLLATZ.replace("        start, number", "        assert value != (7, 52), 'broken'\n        start, number")


@every_engine
def test_after_a_failure_the_pipeline_can_be_mended(folder: Path, engine: str) -> None:
    write(folder, collatz__py=FLAKY)
    for _ in range(2):
        result = run(folder, *COMMAND, "--engine", engine)
        assert result.exit_code == 1
        assert "AssertionError: broken" in result.err
    write(folder, collatz__py=COLLATZ)
    assert run(folder, *COMMAND, "--engine", engine) == Result(0, "", "")
    assert put_out(folder) == collatz_values(EPOCHS)


@every_engine
def test_after_a_bad_line_the_input_can_be_mended(folder: Path, engine: str) -> None:
    text = message_lines(EPOCHS)
    write(folder, in__jsonl=text + '{"time": 4, "val\n')
    result = run(folder, *COMMAND, "--engine", engine)
    assert (result.exit_code, len(result.err.splitlines())) == (2, 1)
    write(folder, in__jsonl=text + '{"time": 4, "value": 3}\n')
    assert run(folder, *COMMAND, "--engine", engine) == Result(0, "", "")
    assert put_out(folder) == collatz_values([*EPOCHS, [3]])


# --- a run that is stopped in the middle -----------------------------------------------------------------------------


def stopped(folder: Path, *more: str, seen: str = "numbers") -> None:
    """Leave a run of the engine `sim` half done: killed when it has read two epochs of standard input."""
    process = started(folder, *in_pipe(*more))
    assert process.stdin is not None
    process.stdin.write(message_lines(EPOCHS[:2]).encode())
    process.stdin.flush()
    out = folder / OUTPUTS["longest"]
    begin = time.monotonic()
    while not out.exists() or b"[2]" not in out.read_bytes():
        assert process.poll() is None
        assert time.monotonic() - begin < LONG
        time.sleep(0.005)
    while True:  # the checkpoint after the last step
        known = known_of(folder / "state")
        if (
            known
            and known["inputs"]["numbers"][0]
            and out.stat().st_size in (outlet["size"] for outlet in known["outlets"].values())
        ):
            break
        assert time.monotonic() - begin < LONG
        time.sleep(0.005)
    process.kill()
    process.communicate()


def known_of(state: Path) -> dict[str, Any]:
    """What the last checkpoint knows of the command and its files, while the run goes on; nothing before the first."""
    try:
        with closing(sqlite3.connect(f"file:{state}/checkpoint?mode=ro", uri=True)) as rows:
            ((text,),) = rows.execute("SELECT known FROM kept")
    except sqlite3.OperationalError:  # it is being made
        return {}
    known: dict[str, Any] = json.loads(text or "{}")
    return known


def in_pipe(*more: str) -> tuple[str, ...]:
    return ("collatz.py", "--input", "numbers=-", *NAMED, "--state", "state", "--every", "0", *more)


@every_engine
def test_standard_input_is_passed_over_as_far_as_it_was_read(folder: Path, engine: str) -> None:
    stopped(folder, "--engine", engine)
    assert run(folder, *in_pipe("--engine", engine), stdin=message_lines(EPOCHS)) == Result(0, "", "")
    assert put_out(folder) == collatz_values(EPOCHS)


@pytest.mark.parametrize(
    ("epochs", "says"), [([[7, 4], [5], [], [6, 2]], "holds something else"), ([[7, 3]], "ends before")]
)
def test_another_standard_input_is_refused(folder: Path, epochs: list[list[int]], says: str) -> None:
    stopped(folder)
    before = contents(folder)
    result = run(folder, *in_pipe(), stdin=message_lines(epochs))
    assert (result.exit_code, result.out) == (2, "")
    assert result.complaint.startswith("pointstamp: -: PS736: ")
    assert says in result.complaint
    assert contents(folder) == before
    assert run(folder, *in_pipe(), stdin=message_lines(EPOCHS)) == Result(0, "", "")
    assert put_out(folder) == collatz_values(EPOCHS)


def test_a_trace_goes_on_too(folder: Path) -> None:
    stopped(folder, "--trace", "trace.jsonl")
    assert run(folder, *in_pipe("--trace", "trace.jsonl"), stdin=message_lines(EPOCHS)).exit_code == 0
    code = subprocess.run(
        [sys.executable, "-m", "graphs", "replay", str(folder / "collatz.yaml"), str(folder / "trace.jsonl")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert code.returncode == 0
    assert " 0 refused" in code.stdout
    assert code.stdout.count("complete") == len(["enter", "step", "again", "most"]) + 8


LATE = '{"complete": [5]}\n{"time": 3, "value": 1}\n{"time": 6, "value": 2}\n'


@every_engine
def test_late_data_is_there_once(folder: Path, engine: str) -> None:
    write(folder, in__jsonl=LATE)
    command = ("totals.py", "--input", "numbers=in.jsonl", "--output", "totals=out", "--output", "late=late")
    rounds = killed_everywhere(folder, 25, *command, "--state", "state", "--every", "0", "--engine", engine)
    for each in rounds:
        assert values_of(lines_of(each["texts"]["late"]), "late") == {("late", "3", "1"): 1}
        assert values_of(lines_of(each["texts"]["out"]), "totals") == {("totals", "6", "2"): 1}


@every_engine
def test_a_source_of_the_pipeline_is_passed_over_as_far_as_it_was_read(folder: Path, engine: str) -> None:
    code = TOTALS.replace(
        "dataflow =",
        """
def numbers():
    for number in range(40):
        yield number // 10, number
        if number % 5 == 4:
            yield Complete(((number + 1) // 10,))
            yield SILENT
dataflow =""",
    ).replace('{"total": Total()}', '{"total": Total()}, sources={"numbers": numbers}')
    write(folder, totals__py="from progress.runtime import SILENT, Complete\n" + code)
    command = ("totals.py", "--output", "totals=out", "--state", "state", "--every", "0", "--engine", engine)
    for each in killed_everywhere(folder, 55, *command):
        values = values_of(lines_of(each["texts"]["out"]), "totals")
        assert values == {("totals", str(n), str(sum(range(10 * n, 10 * n + 10)))): 1 for n in range(4)}


# --- files of JSON lines that the pipeline names ----------------------------------------------------------------------

SINKS = {"rounds": "sink1", "ways": "sink2", "longest": "sink3"}
IN_PYTHON = COLLATZ.replace("from graphs import load", "from graphs import JsonLines, load").replace(
    '"most": Most()}',
    '"most": Most()}, sources={"numbers": JsonLines("in.jsonl")}, '
    f"sinks={{name: JsonLines(file) for name, file in {SINKS}.items()}}",
)
KEPT_IN_PYTHON = ("collatz.py", "--state", "state", "--every", "0")


def in_sinks(texts: Mapping[str, str]) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for edge, file in SINKS.items():
        lines = lines_of(texts[file])
        assert lines[-1] == {"complete": []}
        found += values_of(lines, edge)
    return found


def sink_texts(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text("utf-8") for name in SINKS.values()}


@pytest.mark.slow
@every_engine
def test_files_of_the_pipeline_are_kept_as_those_of_the_command(folder: Path, engine: str) -> None:
    write(folder, collatz__py=IN_PYTHON)
    rounds = killed_everywhere(folder, 33, *KEPT_IN_PYTHON, "--engine", engine)
    assert sum(each["kills"] for each in rounds) > 10
    for each in rounds:
        assert in_sinks(each["texts"]) == collatz_values(EPOCHS), f"killed at call {each['at']}"


TOTALS_IN_PYTHON = TOTALS.replace("import load", "import JsonLines, load").replace(
    '"total": Total()}',
    '"total": Total()}, sources={"numbers": JsonLines("in.jsonl")}, sinks={"totals": JsonLines("sink")}',
)
STOPS = (
    '        if value == 7: import os, signal; os.kill(os.getpid(), signal.SIGTERM); __import__("time").sleep(0.3)\n'
)


@every_engine
def test_a_file_of_the_pipeline_may_have_grown(folder: Path, engine: str) -> None:
    numbers = range(20_000)  # more than are read ahead, so that the end of the file is not
    text = "".join(f'{{"time": {number // 1000}, "value": {number}}}\n' for number in numbers)
    write(
        folder,
        in__jsonl=text,
        totals__py=TOTALS_IN_PYTHON.replace("        out.request", f"{STOPS}        out.request"),
    )
    command = ("totals.py", "--state", "state", "--engine", engine)
    assert run(folder, *command) == Result(143, "", "")
    write(folder, in__jsonl=text + '{"time": 30, "value": 9}\n', totals__py=TOTALS_IN_PYTHON)
    for _ in range(2):
        assert run(folder, *command) == Result(0, "", "")
        lines = lines_of((folder / "sink").read_text("utf-8"))
        expected = {("totals", str(time), str(sum(numbers[1000 * time : 1000 * time + 1000]))): 1 for time in range(20)}
        assert values_of(lines, "totals") == {**expected, ("totals", "30", "9"): 1}
        assert lines[-1] == {"complete": []}


@pytest.mark.parametrize("code", [TOTALS, TOTALS_IN_PYTHON], ids=["command", "pipeline"])
def test_what_comes_after_the_end_of_an_input_was_read_is_refused(folder: Path, code: str) -> None:
    write(folder, in__jsonl='{"time": 0, "value": 7}\n')
    late = code.replace(
        "        out.send", "        import os, signal; os.kill(os.getpid(), signal.SIGTERM)\n        out.send"
    )
    write(folder, totals__py=late)
    more = ("--input", "numbers=in.jsonl") if code is TOTALS else ()
    command = ("totals.py", *more, "--state", "state", "--engine", "sim")
    assert run(folder, *command).exit_code == 143
    write(folder, in__jsonl='{"time": 0, "value": 7}\n{"time": 1, "value": 1}\n', totals__py=code)
    result = run(folder, *command)
    assert result.exit_code == 2
    assert result.complaint.startswith(
        "pointstamp: PS736: the run in state has read in.jsonl to its end, and it has grown"
    )
    write(folder, in__jsonl='{"time": 0, "value": 7}\n')
    assert run(folder, *command).exit_code == 0


def test_another_file_of_the_pipeline_is_refused(folder: Path) -> None:
    write(folder, collatz__py=IN_PYTHON)
    assert run(folder, *KEPT_IN_PYTHON).exit_code == 0
    before = sink_texts(folder)
    write(folder, collatz__py=IN_PYTHON.replace("sink2", "sink4"))
    result = run(folder, *KEPT_IN_PYTHON)
    assert result.exit_code == 2
    assert result.complaint.startswith(
        "pointstamp: PS737: the state in state is of another command: --output ways was "
    )
    write(folder, collatz__py=IN_PYTHON)
    assert sink_texts(folder) == before


@every_engine
def test_a_file_within_a_policy_is_passed_over_as_far_as_it_was_read(folder: Path, engine: str) -> None:
    """Nobody knows what a policy makes of a line, so the file is read from its beginning, and its messages counted."""
    by_threes = '{"total": Total()}, sources={"numbers": by_count(JsonLines("in.jsonl"), every=3)}'
    code = TOTALS.replace("import load", "import JsonLines, load").replace('{"total": Total()}', by_threes)
    code = code.replace("self.sums.get(time, 0) + value", "self.sums.get(time, 0) + value[1]")
    write(folder, totals__py="from progress.runtime.policies import by_count\n" + code)
    write(folder, in__jsonl="".join(f'{{"time": 0, "value": {number}}}\n' for number in range(30)))
    command = ("totals.py", "--output", "totals=out", "--state", "state", "--every", "0", "--engine", engine)
    for each in killed_everywhere(folder, 55, *command):
        values = values_of(lines_of(each["texts"]["out"]), "totals")
        assert values == {("totals", str(n), str(9 * n + 3)): 1 for n in range(10)}


# --- a run that is over -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [COLLATZ, IN_PYTHON], ids=["command", "pipeline"])
def test_what_comes_after_the_run_is_over_is_refused_and_not_ignored(folder: Path, code: str) -> None:
    command = COMMAND if code is COLLATZ else KEPT_IN_PYTHON
    write(folder, collatz__py=code)
    assert run(folder, *command) == Result(0, "", "")
    outputs = [path for name in (*OUTPUTS.values(), *SINKS.values()) if (path := folder / name).exists()]
    before = [path.read_bytes() for path in outputs]
    text = message_lines(EPOCHS)
    write(folder, in__jsonl=text + " \n\n")  # nothing that would be read
    assert run(folder, *command) == Result(0, "", "")
    write(folder, in__jsonl=text + '\n{"time": 9, "value": 1}\n')
    result = run(folder, *command)
    assert (result.exit_code, result.out) == (2, "")
    says = "pointstamp: PS736: the run in state has read in.jsonl to its end, and it has grown since: "
    assert result.complaint.startswith(says)
    write(folder, in__jsonl=text[:-20])
    assert "it is shorter" in run(folder, *command).complaint
    (folder / "in.jsonl").unlink()  # it is done with
    assert run(folder, *command) == Result(0, "", "")
    assert [path.read_bytes() for path in outputs] == before


def test_standard_input_may_have_grown_too(folder: Path) -> None:
    def from_file() -> int:
        with (folder / "in.jsonl").open() as stream:
            return subprocess.run(
                [COMMAND_FILE, "run", *in_pipe()], cwd=folder, stdin=stream, capture_output=True, check=False
            ).returncode

    assert (from_file(), from_file()) == (0, 0)
    write(folder, in__jsonl=message_lines([*EPOCHS, [3]]))
    assert from_file() == 2


@pytest.mark.parametrize("option", [("--output", "longest=state/checkpoint"), ("--trace", "./state/deep/trace")])
def test_outputs_in_the_folder_of_the_state_are_refused(folder: Path, option: tuple[str, str]) -> None:
    command = ("collatz.py", "--input", "numbers=in.jsonl", "--state", "state", *option)
    result = run(folder, *command)
    assert result.exit_code == 2
    assert "is in the folder of --state (a file elsewhere)" in result.complaint
    assert not (folder / "state").exists()


@every_engine
def test_when_its_time_is_up_it_goes_on(folder: Path, engine: str) -> None:
    write(folder, collatz__py=COLLATZ.replace("PAUSE = 0", "PAUSE = 0.06"))
    command = (*COMMAND, "--engine", engine, "--every", "1000")
    result = run(folder, *command, "--timeout", "2.1")
    assert result.exit_code == 1
    assert result.complaint.startswith("pointstamp: PS713: the run took more than 2.1 seconds")
    assert contents(folder)["out2"], "nothing was done, so nothing shows that there was a last checkpoint"
    before = contents(folder)
    write(folder, collatz__py=COLLATZ)
    assert run(folder, *command, "--timeout", "1000") == Result(0, "", "")
    assert all(after.startswith(before[name]) for name, after in contents(folder).items())
    assert put_out(folder) == collatz_values(EPOCHS)


# --- damage ----------------------------------------------------------------------------------------------------------


class Here:
    """The command in this process, for many runs."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Result:
        self._capsys.readouterr()
        code = main(["run", *arguments])
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)


HALF = (*COMMAND, "--engine", "sim")


@pytest.fixture
def half(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Here]:
    """A run of the engine `sim` that was stopped half-way, by a signal: some of each output has been written."""
    monkeypatch.chdir(folder)
    here = Here(capsys)
    stops = (
        "        if value == [5, 5]:\n            import os, signal\n            os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    most = 'out.send("ways", time, value)\n'
    write(folder, collatz__py=COLLATZ.replace(most, f"{most}{stops}"))
    assert here(*HALF) == Result(143, "", "")
    assert all(contents(folder).values())
    write(folder, collatz__py=COLLATZ)
    return folder, here


def refused_or_harmless(folder: Path, here: Here, what: str) -> bool:
    """Whether a damaged state is refused, with nothing touched; otherwise it has no effect."""
    before = contents(folder)
    result = here(*HALF)
    if result.exit_code == 2:
        assert result.complaint.startswith(
            (
                "pointstamp: PS736: the state in state is damaged: ",
                "pointstamp: PS736: a file of the run in state is not",
                "pointstamp: --state",
            )
        )
        assert contents(folder) == before, what
        return True
    assert result == Result(0, "", ""), what
    assert put_out(folder) == collatz_values(EPOCHS), what
    return False


def with_damage(half: tuple[Path, Here], damage: Callable[[bytes], bytes]) -> bool:
    folder, here = half
    path = folder / "state" / "checkpoint"
    good = path.read_bytes()
    path.write_bytes(damage(good))
    refused = refused_or_harmless(folder, here, "")
    if refused:
        path.write_bytes(good)
    return refused


def test_without_damage_it_goes_on(half: tuple[Path, Here]) -> None:
    assert not with_damage(half, lambda content: content)


def refusals(half: tuple[Path, Here], damages: Iterable[Callable[[bytes], bytes]]) -> int:
    """How many of these ways to damage a checkpoint are refused; the others have no effect."""
    folder, _ = half
    before = {
        path: path.read_bytes() for path in (*(folder / "state").iterdir(), *map(folder.joinpath, OUTPUTS.values()))
    }
    refused = 0
    for damage in damages:
        if with_damage(half, damage):
            refused += 1
            continue
        for path, content in before.items():
            path.write_bytes(content)
    return refused


def test_a_checkpoint_that_is_cut_is_refused_or_goes_on_rightly(half: tuple[Path, Here]) -> None:
    """Where the last page of the store has nothing, it has no effect that it is missing."""
    size = (half[0] / "state" / "checkpoint").stat().st_size
    lengths = sorted({0, 1, 5, 15, 16, 17, 100, *range(128, size, 1024), size - 1})
    cut = [lambda content, length=length: content[:length] for length in lengths]
    assert refusals(half, cut) >= len(lengths) - 5


def test_a_checkpoint_with_another_bit_is_refused_or_goes_on_rightly(half: tuple[Path, Here]) -> None:
    """Where a page of the store has nothing, or what nobody asks for, another bit has no effect."""
    rng = random.Random(1)
    good = (half[0] / "state" / "checkpoint").read_bytes()
    placed = [place for place, byte in enumerate(good) if byte]

    def flipped(place: int) -> Callable[[bytes], bytes]:
        bit = 1 << rng.randrange(8)
        return lambda content: content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]

    assert refusals(half, map(flipped, (*range(0, 60, 3), *rng.sample(placed, 40)))) > 30


def test_a_checkpoint_or_head_that_is_deleted_is_refused(half: tuple[Path, Here]) -> None:
    folder, here = half
    for name in ("checkpoint", "head"):
        good = (folder / "state" / name).read_bytes()
        (folder / "state" / name).unlink()
        assert refused_or_harmless(folder, here, name)
        (folder / "state" / name).write_bytes(good)
    (folder / "state" / "lock").unlink()
    assert not refused_or_harmless(folder, here, "lock")


def test_a_checkpoint_of_an_earlier_version_is_refused(half: tuple[Path, Here]) -> None:
    folder, here = half
    (folder / "state" / "head").unlink()
    (folder / "state" / "checkpoint").write_bytes(b"pointstamp state 3\n" + bytes(100))
    before = contents(folder)
    says = "PS736: the state in state is damaged: checkpoint is of an earlier version of pointstamp, and only that"
    assert says in here(*HALF).complaint
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["checkpoint", "head", "lock"])
def test_parts_that_are_folders_are_refused(half: tuple[Path, Here], name: str) -> None:
    folder, here = half
    (folder / "state" / name).unlink()
    (folder / "state" / name).mkdir()
    before = contents(folder)
    result = here(*HALF)
    assert (result.exit_code, contents(folder)) == (2, before)
    assert "PS736" in result.complaint


def test_outputs_that_do_not_hold_what_was_written_are_refused(half: tuple[Path, Here]) -> None:
    folder, here = half
    out = folder / "out1"
    good = out.read_bytes()
    for bad in (b"", good[:-1], good[:10], b"x" * len(good), None):
        if bad is None:
            out.unlink()
        else:
            out.write_bytes(bad)
        assert refused_or_harmless(folder, here, repr(bad))
    longer = good + b'{"time": 7, "val'  # what no run has begun to write
    out.write_bytes(longer)
    result = here(*HALF)
    assert (result.exit_code, out.read_bytes()) == (1, longer)
    assert "PS748: what leaves is something else than what has left: out1, byte" in result.complaint
    out.write_bytes(good)
    assert not refused_or_harmless(folder, here, "good again")


def test_another_input_is_refused(half: tuple[Path, Here]) -> None:
    folder, here = half
    path = folder / "in.jsonl"
    good = path.read_bytes()
    for bad, says in ((good[:5], "it is shorter"), (b"x" + good[1:], "it holds something else")):
        path.write_bytes(bad)
        before = contents(folder)
        result = here(*HALF)
        assert (result.exit_code, contents(folder)) == (2, before)
        assert result.complaint.startswith("pointstamp: in.jsonl: PS736: ")
        assert says in result.complaint
    path.write_bytes(good)
    assert not refused_or_harmless(folder, here, "good again")


# --- another command, another process, what cannot be kept -----------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("--engine", "sim", "--seed", "3"), "--seed was not there and is 3"),
        (("--engine", "threads"), "--engine was 'sim' and is 'threads'"),
        (("--engine", "sim", "--trace", "trace"), "--trace was not there and is "),
        (("--engine", "sim", "--output", "late=late"), "--output late was not there and is "),
    ],
)
def test_another_command_is_refused(half: tuple[Path, Here], change: tuple[str, ...], says: str) -> None:
    folder, here = half
    before = contents(folder)
    result = here(*COMMAND, *change)
    assert (result.exit_code, contents(folder)) == (2, before)
    assert result.complaint.startswith("pointstamp: PS737: the state in state is of another command: ")
    assert says in result.complaint


def test_other_files_are_refused(half: tuple[Path, Here]) -> None:
    folder, here = half
    (folder / "other.jsonl").write_bytes((folder / "in.jsonl").read_bytes())
    for word, other in (("in.jsonl", "other.jsonl"), ("out1", "out4"), ("collatz.py", "totals.py")):
        result = here(*(part.replace(word, other) for part in HALF))
        assert result.exit_code == 2
    without = HALF.index("ways=out2")
    result = here(*HALF[: without - 1], *HALF[without + 1 :])
    assert "--output ways was " in result.complaint
    assert result.complaint.endswith("is not there (the same command, or another DIR)")


@pytest.mark.parametrize(
    ("old", "new"), [("{}\nedges", "{label: x}\nedges"), ("feedback", "{advance: [0, 2]}"), ("lex", "product")]
)
def test_another_graph_is_refused(half: tuple[Path, Here], old: str, new: str) -> None:
    folder, here = half
    write(folder, collatz__yaml=COLLATZ_YAML.replace(old, new))
    result = here(*HALF)
    if "label" in new:  # the same graph
        assert result == Result(0, "", "")
    else:
        assert result.exit_code == 2
        assert "PS737: the state in state is of another graph" in result.complaint


def test_two_processes_do_not_share_a_state(folder: Path) -> None:
    process = started(folder, *in_pipe())
    try:
        begin = time.monotonic()
        while not known_of(folder / "state"):
            assert time.monotonic() - begin < LONG
            time.sleep(0.005)
        before = contents(folder)
        result = run(folder, *in_pipe(), stdin=message_lines(EPOCHS))
        assert (result.exit_code, result.out) == (2, "")
        assert "PS738: another run uses the state in state" in result.complaint
        assert contents(folder) == before
    finally:
        process.kill()
        process.communicate()
    assert run(folder, *in_pipe(), stdin=message_lines(EPOCHS)) == Result(0, "", "")
    assert put_out(folder) == collatz_values(EPOCHS)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "self.counts = {}",
            "self.counts = {}\n        self.file = open('log', 'a')",
            "the state of 'step'",
        ),
        ("self.longest = {}", "self.longest = lambda: 3", "the state of 'most'"),
        (
            "    def on_notify",
            "    def snapshot(self):\n        raise KeyError('x')\n    def on_notify",
            "the state of",
        ),
        ("(start, number //", "(iter((start,)), number //", "a message that waits for 'again'"),
    ],
)
def test_what_cannot_be_kept_is_named(folder: Path, old: str, new: str, says: str) -> None:
    code = COLLATZ.replace("Step()", "Step").replace("Most()", "Most")  # what cannot be kept cannot be copied either
    write(folder, collatz__py=code.replace(old, new))
    result = run(folder, *COMMAND, "--engine", "sim", "--seed", "1")
    if "iter" in new and result.exit_code == 1 and "PS735" not in result.err:
        return  # the node fails before
    assert (result.exit_code, result.out) == (1, "")
    assert f"PS735: {says}" in result.complaint


def test_a_node_may_choose_what_is_kept(folder: Path) -> None:
    classes = COLLATZ.replace("Step()", "Step").replace("Most()", "Most")  # an open file cannot be copied for a run
    code = classes.replace(
        "        self.counts = {}\n",
        """        self.counts = {}
        self.log = open("log", "a", 1)

    def snapshot(self):
        return sorted(self.counts.items())

    def restore(self, state):
        self.log.write("restored\\n")
        self.counts = dict(state)
""",
    )
    write(folder, collatz__py=code)
    rounds = killed_everywhere(folder, 139, *COMMAND, "--engine", "sim")
    for each in rounds:
        write(folder, **each["texts"])
        assert put_out(folder) == collatz_values(EPOCHS)
    assert "restored" in (folder / "log").read_text()


KEEPS = """
from pointstamp import Dataflow, Graph, Stage


class Keeps(Stage):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def on_tables(self, at, tables, out):
        self.seen[at] = tables["in"]
        out.send("out", at, len(tables["in"]))


class ByTime(Keeps):
    by_time = ("seen",)


graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
dataflow = Dataflow(graph, {"a": KIND()}, sources={"in": [(0, 1), (0, 2), (1, 3)]})
"""


@pytest.mark.parametrize(("kind", "says"), [("Keeps", 1), ("ByTime", 0)])
def test_nodes_that_make_one_call_at_a_time_since_the_run_is_kept_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, says: int
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, keeps__py=KEEPS.replace("KIND", kind))
    assert main(["run", "keeps.py", "--engine", "threads", "--state", "state", "--output", "out=out.jsonl"]) == 0
    assert capsys.readouterr().err.count("'a' makes one call at a time as long as calls change what it keeps") == says
    lines = lines_of((tmp_path / "out.jsonl").read_text("utf-8"))
    assert sorted(line["value"] for line in lines if "value" in line) == [1, 2]


def test_a_state_that_its_nodes_cannot_read_is_refused(half: tuple[Path, Here]) -> None:
    folder, here = half
    broken = COLLATZ.replace("    def on_notify", "    def restore(self, state):\n        1 / 0\n    def on_notify", 1)
    write(folder, collatz__py=broken)
    with (folder / "out1").open("a") as file:
        file.write('{"time": "what left after the checkpoint"}\n')
    before = contents(folder)
    result = here(*HALF)
    assert (result.exit_code, contents(folder)) == (2, before)
    assert "PS737: the state of 'step' cannot be restored: ZeroDivisionError" in result.complaint


# --- rests -----------------------------------------------------------------------------------------------------------


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_rest_is_due_when_something_has_happened_and_time_has_passed() -> None:
    clock = Clock()
    moves = 0
    taken: list[float] = []

    def take() -> None:
        taken.append(clock.now)
        clock.now += 0.5  # it takes a while

    rests = Rests(1.0, take, lambda: moves, clock)
    assert (rests.is_due(is_busy=True), rests.pause()) == (False, None)
    clock.now += 10
    assert (rests.is_due(is_busy=True), rests.pause()) == (False, None)
    moves = 1
    assert rests.pause() == 0
    assert rests.is_due(is_busy=True)
    rests.rest()
    assert taken == [110.0]
    assert (rests.is_due(is_busy=True), rests.pause()) == (False, None)
    moves = 2
    assert not rests.is_due(is_busy=True)
    assert rests.pause() == WORK * 0.5
    clock.now += WORK * 0.5
    assert rests.is_due(is_busy=True)


def test_a_checkpoint_that_is_due_stays_so_until_it_is_taken() -> None:
    clock = Clock()
    moves = 1
    rests = Rests(1.0, lambda: None, lambda: moves, clock)
    assert not rests.is_due(is_busy=True)
    moves += 1
    clock.now += 1
    for _ in range(60):
        assert rests.is_due(is_busy=True)
        assert rests.pause() == 0
        clock.now += 1
    rests.rest()
    assert not rests.is_due(is_busy=True)


def test_what_is_to_be_done_goes_before_the_rest_of_a_checkpoint_until_that_is_late() -> None:
    clock = Clock()
    slices = 0

    class InSlices:
        pause = 0.0
        after = staticmethod(lambda: None)

        def go_on(self) -> bool:
            nonlocal slices
            slices += 1
            clock.now += 0.001
            return slices == 1_000

        def finish(self) -> None:
            raise AssertionError

    moves = 0
    rests = Rests(1.0, InSlices, lambda: moves, clock)
    moves = 1
    clock.now += 1
    rests.rest()
    assert (rests.go_on(is_busy=True), slices) == (True, 1)
    for _ in range(5):  # it has had its share
        assert (rests.go_on(is_busy=True), slices) == (True, 1)
    assert rests.pause() == pytest.approx(WORK * 0.001), "nobody looks in vain again and again"
    assert (rests.go_on(is_busy=False), slices) == (True, 2), "where there is nothing else to do it goes on"
    assert rests.pause() == 0
    until = clock.now + 0.5
    while clock.now < until:
        rests.go_on(is_busy=True)
        clock.now += 0.0001
    assert slices == pytest.approx(2 + 0.5 / 0.01, rel=0.1), "a tenth of the time"
    clock.now = until + 0.5  # the next one would be due
    before = slices
    assert rests.go_on(is_busy=True)
    assert slices - before == pytest.approx(0.5 / WORK / 0.001, rel=0.05), (
        "its share of the time that it had to wait for"
    )
    before = slices
    assert all(rests.go_on(is_busy=True) for _ in range(10))
    assert slices == before + 10


def test_a_checkpoint_that_will_soon_be_due_is_taken_when_there_is_nothing_else_to_do() -> None:
    clock = Clock()
    moves = 0
    rests = Rests(1.0, lambda: None, lambda: moves, clock)
    clock.now += 1 - EARLY
    assert not rests.is_due(is_busy=False), "nothing has happened"
    moves = 1
    assert rests.is_due(is_busy=False)
    assert not rests.is_due(is_busy=True)
    assert rests.pause() == pytest.approx(EARLY), "nobody wakes up for it"
    clock.now -= 0.01
    assert not rests.is_due(is_busy=False)


def test_what_has_just_come_goes_before_a_slice_however_long_there_was_nothing_to_do() -> None:
    """So what comes now and then, and is soon done, is never held up before the checkpoint is late."""
    clock = Clock()
    slices = 0

    class InSlices:
        pause = 0.0
        after = staticmethod(lambda: None)

        def go_on(self) -> bool:
            nonlocal slices
            slices += 1
            clock.now += 0.001
            return False

        def finish(self) -> None:
            raise AssertionError

    moves = 0
    rests = Rests(1.0, InSlices, lambda: moves, clock)
    moves = 1
    clock.now += 1
    rests.rest()
    for _ in range(20):
        rests.go_on(is_busy=False)
        before = slices
        clock.now += 0.02
        for _ in range(8):
            rests.go_on(is_busy=True)
            clock.now += 0.001
        assert slices == before
    clock.now += 1
    rests.go_on(is_busy=True)
    assert slices > before


SLOW_NODE = """
import asyncio, time
from pathlib import Path
from graphs import Graph
from progress.runtime import Dataflow, Node

class Slow(Node):
    {define} on_message(self, edge, at, value, out):
        Path("begun").touch()
        while not Path("go").exists():
            {pause}
        out.send("slow_out", at, value)

graph = Graph().node("slow").edge(None, "slow", "a").edge("slow", None, "slow_out")
graph.node("fast").edge(None, "fast", "b").edge("fast", None, "fast_out")
dataflow = Dataflow(graph, {{"slow": Slow()}})
"""


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_a_node_that_runs_for_long_holds_up_nobody_and_is_not_forgotten(folder: Path, engine: str) -> None:
    define, pause = ("async def", "await asyncio.sleep(0.005)") if engine == "asyncio" else ("def", "time.sleep(0.005)")
    write(folder, slow__py=SLOW_NODE.format(define=define, pause=pause), a__jsonl='{"time": 0, "value": 0}\n')
    numbers = range(1000)
    lines = [f'{{"time": 0, "value": {number}}}\n' for number in numbers]
    files = ("--input", "a=a.jsonl", "--input", "b=-", "--output", "slow_out=out1", "--output", "fast_out=out2")
    command = ("slow.py", *files, "--state", "state", "--every", "0", "--engine", engine)
    process = started(folder, *command)
    assert process.stdin is not None
    for line in lines:
        process.stdin.write(line.encode())
        process.stdin.flush()
        time.sleep(0.0005)
    begin = time.monotonic()
    while not (folder / "out2").exists() or (folder / "out2").read_bytes().count(b"value") < len(numbers):
        assert time.monotonic() - begin < LONG
        time.sleep(0.01)
    assert (folder / "begun").exists()
    process.kill()
    process.communicate()
    (folder / "go").touch()
    assert run(folder, *command, stdin="".join(lines)) == Result(0, "", "")
    assert values_of(lines_of((folder / "out1").read_text("utf-8")), "slow_out") == {("slow_out", "0", "0"): 1}
    fast = values_of(lines_of((folder / "out2").read_text("utf-8")), "fast_out")
    assert fast == {("fast_out", "0", str(number)): 1 for number in numbers}


def test_the_folder_is_made_and_left_clean(folder: Path) -> None:
    command = [part.replace("state", "a/b/state") if part == "state" else part for part in COMMAND]
    assert run(folder, *command) == Result(0, "", "")
    assert sorted(path.name for path in (folder / "a/b/state").iterdir()) == ["checkpoint", "head", "lock"]
