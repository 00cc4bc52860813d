"""`check --watch`: judged again after each change, ended by an interrupt without a word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Queue

import pytest

from graphs.checking.watching import look, watch
from graphs.command import main

GOOD = "pointstamp: 1\nnodes: {a: {}}\nedges: [{id: in, to: a}]\n"
BAD = "pointstamp: 1\nnodes: {a: {}, b: {}}\nedges: [{id: in, to: a}, {from: a, to: b}, {from: b, to: a}]\n"


class Watching:
    """The command at work, its lines one by one."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pointstamp", "check", "--watch", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def until(self, text: str) -> list[str]:
        found = [self.lines.get(timeout=60)]
        while text not in found[-1]:
            found.append(self.lines.get(timeout=60))
        return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.yaml"
    path.write_text(GOOD)
    return path


def test_it_judges_again_after_each_change_until_it_is_interrupted(file: Path) -> None:
    watching = Watching(str(file))
    try:
        assert "good" in watching.until("checked")[0]
        file.write_text(BAD)
        assert any("PS301" in line for line in watching.until("checked"))
        other = file.with_name("other.yaml")
        other.write_text(GOOD)
        os.replace(other, file)  # noqa: PTH105 - as an editor does
        assert "good" in watching.until("checked")[0]
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(60) == 130
        assert watching.process.stderr is not None
        assert watching.process.stderr.read() == ""
        assert watching.lines.empty()
    finally:
        watching.process.kill()
        watching.process.wait()
        for stream in (watching.process.stdout, watching.process.stderr):
            assert stream is not None
            stream.close()


def test_a_change_while_it_judges_is_judged_and_a_file_may_go_and_come(file: Path) -> None:
    judged: list[str] = []

    def judge() -> None:
        judged.append(file.read_text() if file.exists() else "gone")
        match len(judged):
            case 1:
                file.write_text(BAD)  # before this judgement is over
            case 2:
                file.unlink()
            case 3:
                threading.Timer(0.05, file.write_text, [GOOD]).start()
            case 4:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch(lambda: [str(file)], judge, pause=0.01)
    assert judged == [GOOD, BAD, "gone", GOOD]


def test_what_is_looked_at(file: Path) -> None:
    before = look([str(file), "nowhere\0", "nowhere"])
    assert before["nowhere\0"] is before["nowhere"] is None
    assert look([str(file)]) == look([str(file)])
    time.sleep(0.01)
    file.write_text(GOOD)
    assert look([str(file)])[str(file)] != before[str(file)]


@pytest.mark.parametrize("arguments", [["-"], [], ["--nodes", "n.parquet", "--edges", "e.parquet"]])
def test_what_cannot_be_watched_is_refused_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--watch", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "--watch" in said.err
