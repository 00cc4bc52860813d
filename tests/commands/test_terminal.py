"""A run on a terminal: what its line says of files that were found, of loops, of bytes; and that it ends without it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from time import monotonic

import pandas  # type: ignore[import-untyped]

from tests.commands.forked import Forked
from tests.commands.pipelines import COLLATZ, COLLATZ_YAML, PATIENCE, environment, write

FILES = """\
from pathlib import Path
from time import sleep

import pandas
from graphs import Graph
from progress.runtime import Dataflow, Stage
from progress.runtime.on_spark import FileSource

graph = Graph().node("day").edge(None, "day", "sales").edge("day", None, "totals")


def count(day, tables):
    while day and not Path("go").exists():
        sleep(0.01)
    return pandas.DataFrame({"rows": [len(tables["sales"])]})


source = FileSource("in", SOURCE, every=0.05)
dataflow = Dataflow(graph, {"day": Stage(count)}, sources={"sales": source})
"""


class Screen:
    """A terminal of 200 columns on which a command says what it has to say."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.shown = ""
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        variables = environment(TERM="xterm-256color")
        self.process = Forked(["run", *arguments], folder, variables, stdin=pipe, stdout=nowhere, stderr=theirs)
        os.close(theirs)

    def until(self, has: Callable[[str], object], what: str) -> None:
        """Read until the screen has shown something."""
        begun = monotonic()
        while not has(self.shown):
            assert monotonic() - begun < PATIENCE, f"{what} is not among {self.shown[-2_000:]}"
            self._read(0.2)

    def says(self, text: str) -> None:
        """Wait until the line of the run says so."""
        self.until(lambda shown: text in shown, text)

    def end(self) -> str:
        """What is left on the screen when the command is over; it is fine."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0
        while self._read(0.0):
            pass
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\n]", "", self.shown.rpartition("\x1b[2K")[2])

    def _read(self, patience: float) -> bool:
        if not select([self._mine], [], [], patience)[0]:
            return False
        try:
            found = os.read(self._mine, 65_536)
        except OSError:  # nobody has the other end any more
            return False
        self.shown += found.decode("utf-8", "replace")
        return bool(found)

    def close(self) -> None:
        """Whatever happened."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()
        os.close(self._mine)


@contextmanager
def screen(folder: Path, *arguments: str) -> Iterator[Screen]:
    found = Screen(folder, *arguments)
    try:
        yield found
    finally:
        found.close()


def put(folder: Path, name: str, rows: int) -> None:
    """A file that is whole when it has its name."""
    folder.mkdir(exist_ok=True)
    pandas.DataFrame({"v": range(rows)}).to_parquet(folder / "_new")
    (folder / "_new").rename(folder / name)


BAR = "\u2501"


def test_of_a_folder_it_says_how_many_of_its_files_were_read_with_a_bar(tmp_path: Path) -> None:
    write(tmp_path, files__py=FILES.replace("SOURCE, ", ""))
    for day in range(4):
        put(tmp_path / "in", f"{day}.parquet", 3)
    with screen(tmp_path, "files.py", "--output", "totals=totals.jsonl") as shown:
        shown.until(
            lambda text: re.search("[01] of 4 files done; ", text), "some of 4 files"
        )  # a turn may be of several
        shown.says(BAR)
        (tmp_path / "go").touch()
        assert shown.end() == ""
        assert "so far" not in shown.shown


def test_of_rows_with_times_it_says_how_many_of_the_times_were_read(tmp_path: Path) -> None:
    write(tmp_path, files__py=FILES.replace("SOURCE", 'column="v"'))
    put(tmp_path / "in", "rows.parquet", 7)
    with screen(tmp_path, "files.py", "--output", "totals=totals.jsonl") as shown:
        shown.until(lambda text: re.search("[01] of 7 times done; ", text), "some of 7 times")
        shown.says(BAR)
        (tmp_path / "go").touch()
        assert shown.end() == ""


def test_of_a_folder_that_is_watched_it_says_how_many_files_were_found_and_there_is_no_bar(tmp_path: Path) -> None:
    write(tmp_path, files__py=FILES.replace("SOURCE", 'complete=lambda day: [day + 1], end="END"'))
    (tmp_path / "go").touch()
    put(tmp_path / "in", "0.parquet", 3)
    put(tmp_path / "in", "1.parquet", 4)
    with screen(tmp_path, "files.py", "--output", "totals=totals.jsonl") as shown:
        shown.says("2 of 2 files done so far; 2 messages")
        put(tmp_path / "in", "2.parquet", 5)
        shown.says("3 of 3 files done so far; 3 messages")
        assert BAR not in shown.shown  # nobody knows how many there will be
        (tmp_path / "in" / "END").touch()
        assert shown.end() == ""


def test_of_a_loop_it_says_which_round_it_is_in_and_without_an_end_of_inputs_there_is_no_bar(tmp_path: Path) -> None:
    write(tmp_path, collatz__yaml=COLLATZ_YAML, collatz__py=COLLATZ.replace("PAUSE = 0", "PAUSE = 0.05"))
    with screen(tmp_path, "collatz.py", "--input", "numbers=-") as shown:
        assert shown.process.stdin is not None
        shown.process.stdin.write(b'{"time": 0, "value": 27}\n')
        shown.process.stdin.flush()
        shown.until(lambda text: re.search(r"; back in round \(0, [2-9]\); ", text), "a round")
        assert BAR not in shown.shown
        assert "read" not in shown.shown
        assert shown.end() == ""
