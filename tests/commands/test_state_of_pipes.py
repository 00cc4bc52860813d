"""`pointstamp run --state` where an input is a pipe, which brings its lines again; how inputs are known again."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands.pipelines import (
    COMMAND,
    ENGINES,
    PATIENCE,
    TOTALS,
    TOTALS_YAML,
    Result,
    lines_of,
    run,
    started,
    values_of,
    write,
)

every_engine = pytest.mark.parametrize("engine", ENGINES)
LINES = [
    '{"time": 0, "value": 1}\n',
    '{"time": 1, "value": 10}\n',
    '{"time": 1, "value": 100}\n',
    '{"complete": [2]}\n',
    '{"time": 2, "value": 7}\n',
]
EXPECTED = {("totals", "0", "1"): 1, ("totals", "1", "110"): 1, ("totals", "2", "7"): 1}
WAYS = {
    "standard input": ("", ("--input", "numbers=-")),
    "named pipe": ("", ("--input", "numbers=pipe")),
    "JsonLines": ('"numbers": JsonLines("-")', ()),
    "policy": ('"numbers": explicit(JsonLines("-"))', ()),
}

in_turns = [*zip(WAYS, ("threads", "sim", "asyncio", "threads"), strict=True)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pipeline in it, and a pipe."""
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def with_source(source: str) -> str:
    """The pipeline with a source of its own, which tells in a file how many messages it has worked on."""
    head = "from graphs import JsonLines\nfrom progress.runtime.policies import explicit\n"
    given = f'{{"total": Total()}}, sources={{{source}}}'
    says = "        open('seen', 'a').write('x')\n        out.request"
    return head + TOTALS.replace('{"total": Total()}', given).replace("        out.request", says)


def command(folder: Path, way: str, engine: str, every: str = "0") -> tuple[str, ...]:
    """The command that reads numbers in this way; the pipeline is written for it."""
    source, arguments = WAYS[way]
    write(folder, totals__py=with_source(source))
    return ("totals.py", *arguments, "--output", "totals=out", "--state", "state", "--every", every, "--engine", engine)


def put_out(folder: Path) -> dict[tuple[str, str, str], int]:
    return dict(values_of(lines_of((folder / "out").read_text("utf-8")), "totals"))


class Process:
    """A process that is run, and the pipe into it."""

    def __init__(self, folder: Path, way: str, arguments: tuple[str, ...]) -> None:
        self.process = started(folder, *arguments)
        assert self.process.stdin is not None
        self.pipe = self.process.stdin.fileno()
        if way == "named pipe":
            self.pipe = os.open(folder / "pipe", os.O_WRONLY)  # waits for the process

    def give(self, *lines: str) -> None:
        """Give lines, and wait until they are taken."""
        os.write(self.pipe, "".join(lines).encode())
        begin = time.monotonic()
        while fcntl.ioctl(self.pipe, termios.FIONREAD, b"\0\0\0\0") != b"\0\0\0\0":
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() - begin < PATIENCE
            time.sleep(0.005)

    def end(self) -> Result:
        """Close the pipe, and wait for the end."""
        assert self.process.stdin is not None
        if self.pipe != self.process.stdin.fileno():
            os.close(self.pipe)
        out, err = self.process.communicate(timeout=PATIENCE)
        return Result(self.process.returncode, out.decode(), err.decode())


@contextmanager
def living(folder: Path, way: str, arguments: tuple[str, ...]) -> Iterator[Process]:
    """A process that is there no more afterwards."""
    process = Process(folder, way, arguments)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.wait()


def stopped(folder: Path, way: str, arguments: tuple[str, ...], *lines: str, seen: int = 0) -> None:
    """A run that is given so many lines and then stopped, by a signal, when it has worked on so many messages."""
    with living(folder, way, arguments) as process:
        process.give(*lines)
        begin = time.monotonic()
        while seen and (not (folder / "seen").exists() or len((folder / "seen").read_bytes()) < seen):
            assert time.monotonic() - begin < PATIENCE
            time.sleep(0.005)
        process.process.send_signal(signal.SIGTERM)
        process.process.wait(PATIENCE)  # the pipe is open until then: its end would close the input
        assert process.end() == Result(143, "", "")


@every_engine
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_stopped_while_lines_come_again_counts_them_once(folder: Path, way: str, engine: str) -> None:
    arguments = command(folder, way, engine)
    stopped(folder, way, arguments, *LINES[:2], seen=2)
    stopped(folder, way, arguments, LINES[0])  # it has one line more to pass over
    with living(folder, way, arguments) as process:
        process.give(*LINES)
        assert process.end() == Result(0, "", "")
    assert put_out(folder) == EXPECTED


@pytest.mark.parametrize(("way", "engine"), in_turns)
def test_an_input_that_ends_before_what_was_read_is_refused(folder: Path, way: str, engine: str) -> None:
    arguments = command(folder, way, engine)
    stopped(folder, way, arguments, *LINES[:3], seen=3)
    stopped(folder, way, arguments, *LINES[:1])
    with living(folder, way, arguments) as process:
        process.give(*LINES[:2])
        result = process.end()
    assert (result.exit_code, result.out) == (2, "")
    assert "PS736: " in result.complaint
    assert "it ends before" in result.complaint or "ended after 2 of the 3 messages" in result.complaint
    with living(folder, way, arguments) as process:
        process.give(*LINES)
        assert process.end() == Result(0, "", "")
    assert put_out(folder) == EXPECTED


@pytest.mark.parametrize(("way", "engine"), in_turns[:3])
def test_an_input_is_known_again_after_a_stop_while_lines_came_again(folder: Path, way: str, engine: str) -> None:
    arguments = command(folder, way, engine)
    stopped(folder, way, arguments, *LINES[:3], seen=3)
    stopped(folder, way, arguments, *LINES[:1])
    with living(folder, way, arguments) as process:
        process.give(LINES[1], *LINES[1:4])
        result = process.end()
    assert result.exit_code == 2
    assert "PS736: this is not the input that was read up to line 3: it holds something else" in result.complaint


STOPS_AS_IT_LOOKS = """
import os, select, signal
looked, has_come = select.select, []

def stopping(*arguments):
    found = looked(*arguments)
    if found[0]:
        has_come.append(True)
    elif has_come:
        has_come.clear()
        os.kill(os.getpid(), signal.SIGTERM)
    return found

select.select = stopping
"""


@pytest.mark.parametrize("way", ["standard input", "named pipe"])
@pytest.mark.parametrize("engine", ["sim", "asyncio"])
def test_who_is_stopped_while_a_pipe_is_looked_at_has_all_before_it_in_the_last_checkpoint(
    folder: Path, way: str, engine: str
) -> None:
    arguments = command(folder, way, engine, every="1000")
    program = (folder / "totals.py").read_text()
    write(folder, totals__py=program + STOPS_AS_IT_LOOKS)
    with living(folder, way, arguments) as process:
        os.write(process.pipe, "".join(LINES[:3]).encode())
        process.process.wait(PATIENCE)  # the pipe is open until then
        assert process.end() == Result(143, "", "")
    write(folder, totals__py=program)
    shown = subprocess.run([COMMAND, "state", "show", "state"], cwd=folder, capture_output=True, text=True, check=True)
    assert re.search(r"^numbers .* 75 bytes  3$", shown.stdout, re.MULTILINE), shown.stdout
    with living(folder, way, arguments) as process:
        process.give(*LINES)
        assert process.end() == Result(0, "", "")
    assert put_out(folder) == EXPECTED


NUMBERS = range(2_000, 3_000)
FAR = [LINES[0], *(f'{{"time": 1, "value": {number}}}\n' for number in NUMBERS), LINES[3]]


@pytest.mark.parametrize(("way", "engine"), in_turns)
def test_an_input_is_known_again_by_all_of_it(folder: Path, way: str, engine: str) -> None:
    """A change far before the place where the run goes on."""
    arguments = command(folder, way, engine, every="1000")
    stopped(folder, way, arguments, *FAR, seen=len(NUMBERS))
    with living(folder, way, arguments) as process:
        process.give('{"time": 0, "value": 2}\n', *FAR[1:], LINES[4])
        result = process.end()
    if way == "policy":  # nobody knows what it makes of lines, so messages are counted
        assert result == Result(0, "", "")
    else:
        assert result.exit_code == 2
        assert "PS736: this is not the input that was read" in result.complaint
        assert "it holds something else" in result.complaint
        with living(folder, way, arguments) as process:
            process.give(*FAR, LINES[4])
            assert process.end() == Result(0, "", "")
    assert put_out(folder) == {
        ("totals", "0", "1"): 1,
        ("totals", "1", str(sum(NUMBERS))): 1,
        ("totals", "2", "7"): 1,
    }


STOPS = (
    "        if value == 7: import os, signal; os.kill(os.getpid(), signal.SIGTERM); __import__('time').sleep(0.3)\n"
)


@every_engine
def test_a_file_is_known_again_by_all_of_it(folder: Path, engine: str) -> None:
    numbers = range(10_000, 40_000)  # more than is read ahead, so that its end is not
    text = LINES[0] + "".join(f'{{"time": 1, "value": {number}}}\n' for number in (*numbers[:9_000], 7, *numbers))
    write(folder, totals__py=TOTALS.replace("        out.request", f"{STOPS}        out.request"), in__jsonl=text)
    arguments = ("totals.py", "--input", "numbers=in.jsonl", "--output", "totals=out", "--state", "state")
    assert run(folder, *arguments, "--engine", engine).exit_code == 143
    write(folder, totals__py=TOTALS)
    write(folder, in__jsonl=text.replace('"value": 1}', '"value": 2}', 1))
    result = run(folder, *arguments, "--engine", engine)
    assert result.exit_code == 2
    assert "in.jsonl: PS736: this is not the input that was read up to line" in result.complaint
    assert "it holds something else" in result.complaint
    write(folder, in__jsonl=text)
    assert run(folder, *arguments, "--engine", engine) == Result(0, "", "")
    assert put_out(folder)["totals", "0", "1"] == 1


@every_engine
def test_standard_input_that_is_a_file_and_was_read_to_its_end(folder: Path, engine: str) -> None:
    """It is looked at whether it has grown, and read on; both from where it began."""
    late = TOTALS.replace(
        "        out.send", "        if not __import__('os').path.exists('go'): 1 / 0\n        out.send"
    )
    arguments = command(folder, "standard input", engine)
    write(folder, totals__py=late, in__jsonl="skipped\n" + "".join(LINES))

    def from_file() -> tuple[int, bytes]:
        with (folder / "in.jsonl").open("rb", buffering=0) as stream:
            stream.read(len("skipped\n"))
            done = subprocess.run(
                [COMMAND, "run", *arguments], cwd=folder, stdin=stream, capture_output=True, check=False
            )
            assert stream.tell() == len("skipped\n"), "the place in the file is also that of others"
        return done.returncode, done.stderr

    assert from_file()[0] == 1
    assert from_file()[0] == 1
    (folder / "go").touch()
    assert from_file() == (0, b"")
    assert put_out(folder) == EXPECTED
