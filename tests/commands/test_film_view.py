"""`pointstamp replay --ui`: what its server says of a trace, what is refused, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from graphs import from_data
from graphs.command import main
from graphs.live.film_view import FilmView
from graphs.sessions.film import Film
from tests.commands.forked import Forked
from tests.commands.pipelines import PATIENCE, environment
from tests.commands.served import asked
from tests.commands.tracking import LOOP, rounds

LINES = [*rounds(40)]


@pytest.fixture
def view(tmp_path: Path) -> Iterator[FilmView]:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(LINES))
    film = Film(from_data(LOOP), str(path), spacing=7)
    while film.develop(100):
        pass
    found = FilmView(film, "trace.jsonl", 3, 0)
    yield found
    found.close()


def test_it_says_how_things_stand_at_a_line(view: FilmView) -> None:
    status, line = asked(view.url, "/line?line=6")
    assert status == 200
    assert line["in"] == LINES[5].decode().strip()
    assert (line["line"], line["known"], line["fed"], line["is_refused"]) == (6, 41, 6, False)
    assert line["queued"] == {"out": 1}
    assert line["waits"]["waiting"] == line["blocked"] == 1
    assert line["around"]["first"] == 2
    assert line["around"]["lines"] == [text.decode().strip() for text in LINES[1:10]]
    assert asked(view.url, "/line?line=99") == (200, {"line": 99, "known": 41, "is_all": True})
    assert asked(view.url, "/next?line=6&node=body") == (200, {"line": 9, "known": 41})
    assert asked(view.url, "/next?line=41&node=body") == (200, {"line": None, "known": 41})
    status, freed = asked(view.url, "/freed?line=6&node=body&time=1")
    assert (status, freed["line"], freed["asked"]) == (200, 8, False)
    assert freed["in"] == LINES[7].decode().strip()
    assert [(each["kind"], each["pointstamp"]) for each in freed["by"]] == [("input", ["input", 1])]
    status, why = asked(view.url, "/why?line=6&node=body&time=1")
    assert (status, why["blocked"], why["all"]) == (200, True, len(why["by"]))
    assert asked(view.url, "/graph")[1]["at"] == 3
    state = asked(view.url, "/state")[1]
    assert (state["known"], state["share"], state["torn"], state["damage"], state["steps"]) == (41, 1, False, None, 41)


@pytest.mark.parametrize(
    "path",
    [
        "/line",
        "/line?line=x",
        "/line?line=-1",
        "/line?line=" + "9" * 30,
        "/why?line=1&node=body",
        "/why?line=1&node=bodi&time=0",
        "/why?line=1&node=body&time=-1",
        "/why?line=1&node=body&time=" + quote("[" * 5_000),
        "/freed?line=1&node=body&time=77",
        "/freed?line=1&node=back&time=0",
        "/next?line=1",
        "/next?line=1&node=back",
        "/next?line=77&node=body",
    ],
)
def test_a_bad_question_is_answered_in_words(view: FilmView, path: str) -> None:
    status, answer = asked(view.url, path)
    assert status == 400
    assert set(answer) == {"error"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("loop.json").write_text(json.dumps(LOOP), "utf-8")
    Path("trace.jsonl").write_bytes(b"".join(LINES))
    Path("other.jsonl").write_text('{"messages": [["inputs", 0, 1]]}\n{"requests": [["bodi", 0]]}\n', "utf-8")
    Path("begun.jsonl").write_bytes(b"".join(LINES)[:-9])
    os.mkfifo("pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("trace.jsonl", "--why", "body=1"), "--why is of no use with --ui"),
        (("trace.jsonl", "--holding", "body"), "--holding is of no use with --ui"),
        (("trace.jsonl", "--format", "json"), "--format json is of no use with --ui"),
        (("-",), "--ui goes back and forth in a trace"),
        (("pipe",), "--ui goes back and forth in a trace"),
        ((".",), "--ui goes back and forth in a trace"),
        (("missing.jsonl",), "PS001: cannot read missing.jsonl"),
        (("other.jsonl",), "other.jsonl: PS513: no line of it is a step of this graph"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    assert main(["replay", "loop.json", *arguments, "--ui", "0"]) == 2
    output = capsys.readouterr()
    (line,) = output.err.splitlines()
    assert says in line
    assert output.out == ""


def test_a_token_without_a_page_and_a_port_that_is_taken_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "loop.json", "trace.jsonl", "--ui-token", "token"]) == 2
    assert "--ui-token is for a page" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["replay", "loop.json", "trace.jsonl", "--ui", port]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--ui {port}: address already in use" in line


def test_the_command_serves_until_an_interrupt_and_shows_a_trace_that_is_not_whole(folder: Path) -> None:
    process = Forked(["replay", "loop.json", "begun.jsonl", "--ui", "0", "--at", "4"], folder, environment())
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        found = re.fullmatch(r"pointstamp: replay at (http://127\.0\.0\.1:\d+/)\n", said)
        assert found is not None, said
        assert asked(found[1], "/graph")[1]["at"] == 4
        state = asked(found[1], "/state")[1]
        assert (state["known"], state["torn"]) == (40, True)
        assert asked(found[1], "/line?line=40")[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.communicate()
