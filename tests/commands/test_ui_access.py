"""Who is answered by a live view with a token, from whom an input takes, and what is refused in words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from graphs.live import LiveView, Watch, site
from graphs.live.guard import VARIABLE, is_this_machine
from graphs.running import lines_from_page as given
from graphs.running.line_form import BadLine
from graphs.running.lines_from_page import Given
from progress.order import Nat
from tests.commands.pipelines import PATIENCE, TOTALS, TOTALS_YAML, run, started, stop, write

TOKEN = "a-token-of-24-characters"
FORM = "application/x-www-form-urlencoded"


class Answer:
    def __init__(self, view: LiveView, method: str, path: str, body: Any = None, **headers: str) -> None:
        connection = HTTPConnection("127.0.0.1", int(view.url.rsplit(":", 1)[1].rstrip("/")), timeout=PATIENCE)
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        self.status = response.status
        self.cookie = response.getheader("Set-Cookie")
        self.text = response.read().decode() if path != "/events" or response.status != 200 else ""
        connection.close()


@contextmanager
def view(token: str | None) -> Iterator[tuple[LiveView, Given]]:
    network = Graph().node("total").edge(None, "total", "numbers").edge("total", None, "totals").network()
    taken = Given("numbers", Nat())
    found = LiveView(Watch("secret", network, "sim"), 0, token=token, given={"numbers": taken})
    try:
        yield found, taken
    finally:
        found.close()


def cookie(found: LiveView) -> str:
    return f"pointstamp-{found.url.rsplit(':', 1)[1].rstrip('/')}={TOKEN}"


def origin(found: LiveView) -> str:
    return found.url.rstrip("/")


LINE = {"edge": "numbers", "line": {"time": 0, "value": 3}}
JSON = "application/json"


# --- who reads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/page.js", "/graph", "/state", "/events", "/why?node=total&time=0", "/series"])
def test_without_its_token_nobody_learns_anything(path: str) -> None:
    with view(TOKEN) as (found, _):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "pointstamp=" + TOKEN}, {"Cookie": ";;=,"}):
            answer = Answer(found, "GET", path, **headers)
            assert (answer.status, answer.cookie) == (401, None)
            assert "secret" not in answer.text
        assert Answer(found, "GET", path, Authorization=f"Bearer {TOKEN}").status == 200
        assert Answer(found, "GET", path, Cookie=f"other=1; {cookie(found)}").status == 200
        # a page of another site, by a name of its own for this address
        assert Answer(found, "GET", path, Cookie=cookie(found), Host="example.org").status == 403


def test_a_browser_that_brings_the_token_keeps_it_where_no_script_and_no_other_site_reaches_it() -> None:
    with view(TOKEN) as (found, _):
        answer = Answer(found, "GET", f"/?token={TOKEN}")
        kept = f"{cookie(found)}; HttpOnly; SameSite=Strict; Path=/"
        assert (answer.status, answer.cookie) == (200, kept)
        answer = Answer(found, "POST", "/enter", f"token={TOKEN}", Content_Type=FORM)
        assert (answer.status, answer.cookie) == (303, kept)
        for wrong in ("token=", "", "token=wrong", "token=%00", "x" * 2_000):
            answer = Answer(found, "POST", "/enter", wrong, Content_Type=FORM)
            assert (answer.status, answer.cookie) == (401, None)
        answer = Answer(found, "POST", "/enter", "a=1&" * 20 + f"token={TOKEN}", Content_Type=FORM)
        assert (answer.status, answer.cookie) == (400, None)


# --- who gives -------------------------------------------------------------------------------------------------------


def test_its_own_page_gives_and_the_run_has_the_line() -> None:
    with view(TOKEN) as (found, taken):
        answer = Answer(found, "POST", "/give", LINE, Content_Type=JSON, Cookie=cookie(found), Origin=origin(found))
        assert (answer.status, json.loads(answer.text)) == (200, {"taken": True})
        answer = Answer(found, "POST", "/give", LINE, Content_Type=JSON, Authorization=f"Bearer {TOKEN}")  # a program
        assert answer.status == 200
        assert lines(taken) == [LINE["line"]] * 2


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {}),
        (401, {"Origin": "{origin}"}),
        (401, {"Authorization": "Bearer wrong"}),
        (403, {"Cookie": "{cookie}"}),
        (403, {"Cookie": "{cookie}", "Origin": "null"}),
        (403, {"Cookie": "{cookie}", "Origin": "http://example.org"}),
        (403, {"Cookie": "{cookie}", "Origin": "{origin}.example.org"}),
        (403, {"Cookie": "{cookie}", "Origin": "http://127.0.0.1:1"}),
        (403, {"Cookie": "{cookie}", "Origin": "http://example.org", "Authorization": f"Bearer {TOKEN}"}),
        (403, {"Cookie": "{cookie}", "Origin": "http://example.org", "Host": "example.org"}),
        (415, {"Cookie": "{cookie}", "Origin": "{origin}", "Content-Type": "text/plain"}),
        (415, {"Cookie": "{cookie}", "Origin": "{origin}", "Content-Type": FORM}),
    ],
)
def test_nobody_else_gives(status: int, headers: dict[str, str]) -> None:
    with view(TOKEN) as (found, taken):
        known = {"origin": origin(found), "cookie": cookie(found)}
        sent = {"Content-Type": JSON} | {name: value.format(**known) for name, value in headers.items()}
        assert Answer(found, "POST", "/give", LINE, **sent).status == status
        assert lines(taken) == []


def test_nothing_is_taken_where_there_is_no_token() -> None:
    with view(None) as (found, taken):
        assert Answer(found, "POST", "/give", LINE, Content_Type=JSON, Origin=origin(found)).status == 403
        assert lines(taken) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "the line is empty"),
        ("{", "not JSON"),
        ("[1]", "is taken"),
        ('{"edge": "numbers"}', "is taken"),
        ('{"edge": ["numbers"], "line": {}}', "is taken"),
        ('{"edge": "totals", "line": {"time": 0, "value": 1}}', "nothing is given there"),
        ('{"edge": "numbers", "line": {"time": -1, "value": 1}}', "-1 is not a time of 'numbers'"),
        ('{"edge": "numbers", "line": {"time": 0}}', "there is no value"),
        ('{"edge": "numbers", "line": {"time": 0, "value": 1, "time": 2}}', "a key appears twice"),
        ('{"edge": "numbers", "line": {"time": 0, "value": NaN}}', "NaN"),
        ('{"edge": "numbers", "line": {"complete": 3}}', "complete is"),
        ('{"edge": "numbers", "line": 3}', "the line is"),
        ('{"edge": "numbers", "line": {"time": 0, "value": ' + "[" * 20_000 + "]" * 20_000 + "}}", ""),
    ],
)
def test_what_is_wrong_with_a_line_is_answered_and_the_run_goes_on(body: str, says: str) -> None:
    with view(TOKEN) as (found, taken):
        headers = {"Content-Type": JSON, "Authorization": f"Bearer {TOKEN}"}
        answer = Answer(found, "POST", "/give", body, **headers)
        assert answer.status == 400
        assert says in json.loads(answer.text)["error"]
        assert lines(taken) == []
        assert Answer(found, "POST", "/give", LINE, **headers).status == 200


def test_only_so_much_is_taken_at_once() -> None:
    with view(TOKEN) as (found, _):
        headers = {"Content-Type": JSON, "Authorization": f"Bearer {TOKEN}"}
        for length in (str(site.MOST_TAKEN + 1), "-1", "9" * 30, "x", ""):
            assert Answer(found, "POST", "/give", "{}", **headers, Content_Length=length).status == 413


# --- what is given ---------------------------------------------------------------------------------------------------


def lines(taken: Given) -> list[Any]:
    """What the run reads, up to now."""
    os.set_blocking(taken.handle, False)
    try:
        text = os.read(taken.handle, 1 << 20)
    except BlockingIOError:
        return []
    return [json.loads(line) for line in text.splitlines()]


def test_what_the_run_does_not_read_waits_and_is_bounded() -> None:
    taken = Given("numbers", Nat())
    line = {"time": 0, "value": "x" * 50_000}
    given_lines = 0

    def give_on() -> None:
        nonlocal given_lines
        while True:
            taken.give(line)
            given_lines += 1

    with pytest.raises(site.NotAnswered, match="has not taken"):
        give_on()
    assert 1_000_000 < 50_000 * given_lines < given.MOST_WAITING + 300_000
    read = b""
    os.set_blocking(taken.handle, False)
    while read.count(b"\n") < given_lines:
        read += os.read(taken.handle, 1 << 16)
        taken.flush()
    assert set(read.splitlines()) == {json.dumps(line).encode()}
    taken.give(line)
    taken.close()
    os.close(taken.handle)


def test_an_input_that_is_completed_has_its_end() -> None:
    taken = Given("numbers", Nat())
    taken.give({"complete": [4]})
    taken.give({"complete": []})
    with pytest.raises(site.NotAnswered, match="is closed"):
        taken.give({"time": 5, "value": 1})
    assert os.read(taken.handle, 100) == b'{"complete": [4]}\n{"complete": []}\n'
    assert os.read(taken.handle, 100) == b""  # the end
    os.close(taken.handle)


def test_a_run_that_reads_no_more_takes_nothing() -> None:
    taken = Given("numbers", Nat())
    os.close(taken.handle)
    taken.give({"time": 0, "value": 1})
    with pytest.raises(site.NotAnswered, match="is closed"):
        taken.give({"time": 0, "value": 1})
    with pytest.raises(BadLine):
        taken.give({})


# --- on the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS)
    (tmp_path / "token").write_text(TOKEN + "\n", "utf-8")
    (tmp_path / "short").write_text("short\n", "utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            "--ui 0.0.0.0:0",
            '--ui: other machines can connect to "0.0.0.0", and there is no token (--ui-token FILE, or ',
        ),
        ("--ui [::]:0", 'other machines can connect to "::"'),
        ("--ui example.org:80", 'other machines can connect to "example.org"'),
        ("--ui 10.0.0.1:80 --ui-token nowhere", '--ui-token "nowhere": no such file or directory'),
        ("--ui 10.0.0.1:80 --ui-token short", "is not a token that is hard to guess"),
        ("--ui 10.0.0.1:80 --ui-token bytes", '--ui-token "bytes": is not text'),
        ("--ui-token token", "--ui-token is for a page, and there is none (--ui PORT)"),
        ("--input numbers=ui", "takes what a page gives, and there is none (--ui PORT; ./ui is a file of that name)"),
        ("--input numbers=ui --ui 0 --state kept", "nobody could give it again after a kill"),
        ("--ui :80", "':80' has no host before the colon"),
        ("--ui 127.0.0.1:http", "is not a port: they go from 0 to 65535"),
    ],
)
def test_what_would_not_be_safe_is_refused_in_one_line(folder: Path, options: str, says: str) -> None:
    result = run(folder, "totals.py", *options.split())
    assert (result.exit_code, result.out) == (2, "")
    assert says in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_an_input_takes_from_the_page_on_every_engine(folder: Path, engine: str) -> None:
    options = ["--input", "numbers=ui", "--ui", "127.0.0.1:0", "--engine", engine, "--output", "totals=out.jsonl"]
    process = started(folder, "totals.py", *options, **{VARIABLE: TOKEN})
    try:
        assert process.stderr is not None
        url = process.stderr.readline().decode().split()[-1]
        assert "token" not in url  # whoever chose it knows it
        port = int(url.rsplit(":", 1)[1].rstrip("/"))
        lines_given: list[Any] = [
            {"time": 0, "value": 3},
            {"complete": [1]},
            {"time": 1, "value": 4},
            {"complete": []},
        ]
        for line in lines_given:
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            headers = {"Content-Type": JSON, "Authorization": f"Bearer {TOKEN}"}
            connection.request("POST", "/give", json.dumps({"edge": "numbers", "line": line}), headers)
            assert connection.getresponse().status == 200
            connection.close()
        assert process.wait(PATIENCE) == 0
    finally:
        stop(process)
    out = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert [line["value"] for line in out if "value" in line] == [3, 4]


def test_a_token_of_a_file_is_asked_for_on_this_machine_as_well(folder: Path) -> None:
    process = started(folder, "totals.py", "--input", "numbers=-", "--ui", "0", "--ui-token", "token")
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().decode().rsplit(":", 1)[1].rstrip("/\n"))
        for token, status in (("wrong", 401), (TOKEN, 200)):
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/state", headers={"Authorization": f"Bearer {token}"})
            assert connection.getresponse().status == status
            connection.close()
    finally:
        stop(process)


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_what_is_this_machine(host: str, here: bool) -> None:
    assert is_this_machine(host) is here
    assert not is_this_machine(host + ".example.org")
