"""`pointstamp why`: what waits in a pipeline, in a recorded session and in a live run; what is said of bad input."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from graphs.command import main
from graphs.live import asking
from tests.commands.forked import Forked
from tests.commands.paused_runs import paused
from tests.commands.pipelines import PATIENCE, TOTALS, TOTALS_YAML, Result, environment, message_lines, run, write

LINES = message_lines([[1, 2], [3]]) + '{"time": 2, "value": 7}\n{"time": 5, "value": 7}\n'
SAYS = "{} has waited {} for the input numbers, open at 2, holding 2 requests: moving it past {} or closing it lets go"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, numbers__jsonl=LINES)
    return tmp_path


def why(folder: Path, *arguments: str, stdin: str = "") -> Result:
    process = Forked(["why", *arguments], cwd=folder, env=environment(), stdin=subprocess.PIPE)
    try:
        out, err = process.communicate(stdin.encode(), timeout=PATIENCE)
    except BaseException:
        process.kill()
        raise
    return Result(process.wait(), out.decode(), err.decode())


def told(folder: Path, *arguments: str, stdin: str = "") -> dict[str, Any]:
    result = why(folder, *arguments, "--format", "json", stdin=stdin)
    assert (result.exit_code, result.err) == (0, "")
    found: dict[str, Any] = json.loads(result.out)
    assert found["format_version"] == 1
    assert found["of"] == arguments[0]
    return found


# --- a pipeline -------------------------------------------------------------------------------------------------------


def test_what_waits_when_the_input_is_used_up(folder: Path) -> None:
    found = told(folder, "totals.py", "--input", "numbers=numbers.jsonl")
    assert (found["stands"], found["waiting"], found["ready"]) == ("has used up what came in", 2, 0)
    first, second = found["waits"]
    assert first["request"] == ["total", 2]
    assert first["by"] == {"pointstamp": ["numbers", 2], "kind": "input", "holds": 2, "proof": [["numbers", 2]]}
    assert first["held_by"] == 1
    assert first["let_go"] == {"do": "close", "location": "numbers", "time": 2, "past": [2]}
    assert 0 <= first["age"] < PATIENCE
    assert first["since"] > 1_700_000_000
    assert second["request"] == ["total", 5]
    assert second["let_go"]["past"] == [5]
    text = why(folder, "totals.py", "--input", "numbers=numbers.jsonl").out.splitlines()
    assert text[0] == "totals.py has used up what came in: 2 requests wait"
    assert text[2].startswith("total at 2 has waited 0.")
    assert text[2].endswith(SAYS.format("", "", 2)[15:])
    assert text[3] == "  input numbers 2: numbers 2"


def test_one_request_in_full(folder: Path) -> None:
    found = told(folder, "totals.py", "total=5", "--input", "numbers=numbers.jsonl")
    assert found["why"]["blocked"] is True
    assert found["why"]["by"] == [
        {"pointstamp": ["numbers", 2], "kind": "input", "proof": [["numbers", 2], ["numbers", 5]]}
    ]
    assert found["why"]["wait"]["request"] == ["total", 5]
    assert told(folder, "totals.py", "total=9", "--input", "numbers=numbers.jsonl")["why"]["wait"] is None
    text = why(folder, "totals.py", "total=5", "--input", "numbers=numbers.jsonl").out
    assert text.endswith("All that holds it\n  input numbers 2: numbers 2 -> numbers 5\n")
    text = why(folder, "totals.py", "total=9", "--input", "numbers=numbers.jsonl").out
    assert "total at 9 was not asked for. It would wait for\n  input numbers 2: numbers 2 -> numbers 9\n" in text
    text = why(folder, "totals.py", "total=0", "--input", "numbers=numbers.jsonl").out
    assert text.endswith("total at 0 does not wait\n")


def test_to_the_end_nothing_waits_but_for_itself(folder: Path) -> None:
    result = why(folder, "totals.py", "--input", "numbers=numbers.jsonl", "--end")
    assert (result.exit_code, result.out) == (0, "totals.py is over: nothing waits\n")
    write(
        folder,
        round__py="""\
from pointstamp import Dataflow, Graph, Node
class Count(Node):
    def on_message(self, edge, time, value, out):
        out.request(time)
graph = Graph().node("count").node("back").edge(None, "count", "words")
graph.edge("count", "back", "out").edge("back", "count", "again")
dataflow = Dataflow(graph, {"count": Count()})
""",
    )
    found = told(folder, "round.py", "--input", "words=-", "--end", stdin='{"time": 0, "value": "a"}\n')
    assert found["stands"] == "is over"
    assert found["waits"][0]["let_go"] == {"do": "mend", "location": "count", "time": 0}
    assert "waiting for itself" in found["waits"][0]["says"]


def test_a_run_whose_input_stays_open_stands_still(folder: Path) -> None:
    process = Forked(["why", "totals.py", "--input", "numbers=-"], cwd=folder, env=environment(), stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(LINES.encode())
    process.stdin.flush()  # and it stays open
    assert process.stdout is not None
    assert process.stdout.readline() == b"totals.py stands still: 2 requests wait\n"
    assert process.wait(PATIENCE) == 0
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


SLOW = """\
import time
from graphs import load
from progress.runtime import Dataflow, Node
class Total(Node):
    def on_start(self, out): out.request(5)
    def on_message(self, edge, time, value, out):
        print("it is printed")
        out.request(time)
        if value == 3:
            {}
    def on_notify(self, time, out): pass
dataflow = Dataflow(load("totals.yaml"), {{"total": Total()}})
"""


def test_a_call_that_never_ends_is_looked_at_and_left(folder: Path) -> None:
    write(folder, slow__py=SLOW.format("import threading; threading.Event().wait()"))
    begun = monotonic()
    result = why(folder, "slow.py", "--input", "numbers=numbers.jsonl", "--seconds", "0.5", "--format", "json")
    assert monotonic() - begun < PATIENCE
    found = json.loads(result.out)  # what the pipeline prints is elsewhere
    assert "it is printed" in result.err
    assert result.exit_code == 0
    assert found["stands"] == "was looked at after 0.5 s, and is in a call of total"
    assert found["waits"][0]["let_go"] == {
        "do": "take",
        "location": "numbers",
        "time": 1,
        "node": "total",
        "messages": 1,
    }


def test_code_that_fails_is_told_as_run_tells_it(folder: Path) -> None:
    write(folder, slow__py=SLOW.format("raise KeyError(value)"))
    asked = why(folder, "slow.py", "--input", "numbers=numbers.jsonl")
    ran = run(folder, "slow.py", "--input", "numbers=numbers.jsonl")
    assert (asked.exit_code, asked.out) == (1, "")
    assert asked.err.splitlines()[-1] == ran.err.splitlines()[-1]


def test_nothing_is_written(folder: Path) -> None:
    text = TOTALS.replace("dataflow = ", "from pointstamp import JsonLines\ndataflow = ").replace(
        '{"total": Total()})',
        '{"total": Total()}, sources={"numbers": JsonLines("numbers.jsonl")},'
        ' sinks={"totals": JsonLines("out.jsonl")})',
    )
    write(folder, kept__py=text, out__jsonl="what was there\n")
    found = told(folder, "kept.py")
    assert found["waiting"] == 2
    assert (folder / "out.jsonl").read_text() == "what was there\n"


# --- a trace ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def trace(folder: Path) -> Path:
    assert run(folder, "totals.py", "--input", "numbers=numbers.jsonl", "--trace", "run.jsonl").exit_code == 0
    steps = [
        {"requests": [["total", 1], ["total", 0]]},
        {"messages": [["numbers", 0, 2]]},
        {"inputs": {"numbers": []}},
        {"messages": [["numbers", 0, -2]]},
    ]
    (folder / "trace.jsonl").write_text("".join(f"{json.dumps(step)}\n" for step in steps))
    return folder


def test_what_waits_at_any_line_of_a_trace(trace: Path) -> None:
    found = told(trace, "trace.jsonl", "--graph", "totals.yaml", "--line", "3")
    assert (found["stands"], found["waiting"], found["steps"]) == ("after line 3", 2, 3)
    assert [(wait["request"], wait["steps"]) for wait in found["waits"]] == [(["total", 1], 2), (["total", 0], 2)]
    assert found["waits"][0]["let_go"] == {
        "do": "take",
        "location": "numbers",
        "time": 0,
        "node": "total",
        "messages": 2,
    }
    assert "age" not in found["waits"][0]
    end = told(trace, "trace.jsonl", "total=1", "--graph", "totals.py")
    assert end["stands"] == "after line 4"
    assert end["why"] == {"request": ["total", 1], "blocked": False, "by": [], "wait": None}
    recorded = told(trace, "run.jsonl", "--graph", "totals.py")
    assert (recorded["waiting"], recorded["ready"]) == (0, 0)
    text = why(trace, "-", "--graph", "totals.yaml", "--line", "1", stdin=(trace / "trace.jsonl").read_text()).out
    assert text.startswith("- after line 1: 2 requests wait\n\ntotal at 1 has waited 0 steps for the input numbers, ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["trace.jsonl"], "a trace does not say what its graph is"),
        (["trace.jsonl", "--graph", "none.yaml"], "PS001"),
        (["none.jsonl", "--graph", "totals.yaml"], "PS001"),
        (["none.jsonl"], "none.jsonl: there is no such file (a pipeline, *.py; a trace; or the address of a live view"),
        (
            ["127.0.0.1:8765"],
            "there is no such file (a pipeline, *.py; a trace; or the address of a live view, which begins",
        ),
        (["x" * 5_000], "there is no such file"),
        (["totals.yaml", "--graph", "totals.yaml"], "totals.yaml:1: PS513"),
        (["totals.yaml"], "totals.yaml: a graph file, and nothing runs in it that could wait (a pipeline, *.py; or "),
        (["trace.jsonl", "--graph", "totals.yaml", "--line", "9"], "trace.jsonl has 4 lines"),
        (["trace.jsonl", "total", "--graph", "totals.yaml"], '"total": no time'),
        (["trace.jsonl", "total=x", "--graph", "totals.yaml"], '"total=x": "x" is not a time'),
        (["trace.jsonl", "numbers=1", "--graph", "totals.yaml"], "is an edge"),
        (["trace.jsonl", "nobody=1", "--graph", "totals.yaml"], "there is no location 'nobody'"),
        (["trace.jsonl", "--graph", "totals.yaml", "--seconds", "3"], "--seconds is of no use with a trace"),
        (["-", "--graph", "-"], "not both"),
        (["totals.py", "--graph", "totals.yaml"], "--graph is of no use with a pipeline"),
        (["totals.py", "--line", "3"], "--line is of no use with a pipeline"),
        (["totals.py", "--seconds", "0"], "the run would have no time"),
        (["totals.py", "--seconds", "nan"], "the run would have no time"),
        (["totals.py", "--input", "nowhere=x"], "there is no input"),
        (["totals.py", "--input", "numbers=none.jsonl"], "PS001"),
        (["totals.py", "nobody=1"], "there is no location"),
        (["none.py"], "PS734"),
        (["http://127.0.0.1:1/", "--line", "3"], "--line is of no use with a live view"),
        (["http://127.0.0.1:1/"], "PS749: nothing answers at http://127.0.0.1:1/: connection refused"),
        (["http://127.0.0.1:99999/"], "this is not the address of a live view"),
        (["https://127.0.0.1:1/"], "this is not the address of a live view"),
        (["http://"], "this is not the address of a live view"),
        (["http://127.0.0.1:1/?token=secret"], "nothing answers at http://127.0.0.1:1/?token=...: "),
        (["http://127.0.0.1:1/?token=a%0d%0ab"], "this is not the address of a live view"),
        (["http://127.0.0.1:1/?token=%e2%82%ac"], "this is not the address of a live view"),
        ([f"http://{'a' * 70}:1/"], "this is not the address of a live view"),
        (["http://a b:1/"], "this is not the address of a live view"),
        (["http://[::1/"], "this is not the address of a live view"),
        (["http://127.0.0.1:1/a\x1b[31m\n"], "PS749"),
    ],
)
def test_bad_usage_is_one_line(trace: Path, arguments: list[str], says: str) -> None:
    result = why(trace, *arguments)
    assert (result.exit_code, result.out) == (2, "")
    assert says in result.complaint
    assert "\x1b" not in result.err


def test_a_trace_of_another_graph_is_refused(trace: Path) -> None:
    write(trace, other__json='{"pointstamp": 1, "nodes": {"a": {}}, "edges": [{"id": "x", "to": "a"}]}')
    found = why(trace, "trace.jsonl", "--graph", "other.json")
    assert (found.exit_code, found.out, found.err.count("\n")) == (2, "", 1), found
    assert "PS513: no line of it is a step of this graph" in found.err


def test_a_torn_last_line_is_the_end(trace: Path) -> None:
    whole = (trace / "trace.jsonl").read_bytes()
    (trace / "torn.jsonl").write_bytes(whole[:-5])
    result = why(trace, "torn.jsonl", "--graph", "totals.yaml", "--format", "json")
    assert (result.exit_code, result.err.count("\n")) == (0, 1)
    assert result.err.startswith("pointstamp: torn.jsonl:4: the last line is not whole")
    found = json.loads(result.out)
    before = told(trace, "trace.jsonl", "--graph", "totals.yaml", "--line", "3")
    assert (found.pop("torn"), before.pop("torn")) == (True, False)
    assert {**found, "of": "trace.jsonl"} == before


# --- a live view ------------------------------------------------------------------------------------------------------


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["why", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_waits_in_a_live_run(capsys: pytest.CaptureFixture[str]) -> None:
    with paused("threads") as (view, _):
        until = monotonic() + PATIENCE
        while len(view.watch.waits()["waits"]) < 2:
            assert monotonic() < until
            sleep(0.01)
        code, out, err = asked(capsys, view.url, "--format", "json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert (found["of"], found["stands"], found["waiting"]) == (view.url, "runs", 2)
        assert [wait["request"] for wait in found["waits"]] == [["total", 0], ["total", 1]]
        assert found["waits"][0]["let_go"] == {"do": "close", "location": "numbers", "time": 0, "past": [0]}
        _, out, _ = asked(capsys, view.url, "total=1", "--format", "json")
        why = json.loads(out)["why"]
        assert (why["blocked"], why["wait"]["request"]) == (True, ["total", 1])
        assert why["by"][0]["proof"] == [["numbers", 0], ["numbers", 1]]
        _, out, _ = asked(capsys, view.url, "total=1")
        assert "holding 2 requests: moving it past 1 or closing it lets go\n" in out
        for request, says in (
            ('total="x"', "total=\"x\": 'x' is not a time at 'total' (a time of nat)\n"),
            ("total=-1", "total=-1: -1 is not a time at 'total' (a time of nat)\n"),
            ("total", "total: no time (NODE=TIME, like body=3)\n"),
            ("x=1", "x=1: the run has no node 'x' (a node of its graph)\n"),
        ):
            code, out, err = asked(capsys, view.url, request)
            assert (code, out, err) == (2, "", f"pointstamp: {says}")


@contextmanager
def answering(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """Something that listens, and does with each connection what it likes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE)


def with_body(body: str, status: str = "200 OK") -> Callable[[socket.socket], object]:
    text = f"HTTP/1.1 {status}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}"

    def answer(connection: socket.socket) -> None:
        connection.recv(4_096)
        connection.sendall(text.encode())

    return answer


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b" ")
        sleep(0.02)


def drip_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        connection.sendall(b"x")
        sleep(0.02)


def drip_chunk(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"0")
        sleep(0.02)


def silent(connection: socket.socket) -> None:
    connection.settimeout(PATIENCE)
    while connection.recv(4_096):
        pass


WAIT = {"request": ["a", 0], "says": "", "by": {"pointstamp": ["a", 0], "kind": "input", "proof": [["a", 0]]}}
BAD_WAITS: list[Any] = [
    {},
    [0],
    [{}],
    [WAIT | {"says": 3}],
    [WAIT | {"by": []}],
    [WAIT | {"by": {"pointstamp": [], "kind": "", "proof": []}}],
    [WAIT | {"by": {"pointstamp": ["a", 0], "kind": "", "proof": [0]}}],
    [WAIT | {"by": {"pointstamp": ["a", 0], "kind": "", "proof": [[[], 0]]}}],
    [WAIT | {"by": {"pointstamp": ["a", 0], "kind": "", "proof": [], "folds": [{"after": 5}]}}],
]
NO_VIEWS = [
    "<html>",
    "[]",
    "{}",
    "null",
    "[" * 100_000,
    '{"waiting": 1e999, "ready": 0, "steps": 0, "waits": []}',
    *(json.dumps({"waiting": 1, "ready": 0, "steps": 0, "waits": waits}) for waits in BAD_WAITS),
]


def test_what_is_no_live_view_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.3)
    answers: list[tuple[Callable[[socket.socket], object], str]] = [
        *((with_body(body), "is not a live view") for body in NO_VIEWS),
        (with_body("gone", "404 Not Found"), "is not a live view"),
        (with_body("", "302 Found\r\nLocation: http://127.0.0.1:1/"), "is not a live view"),
        (with_body("no \x1b[31mtoken\n", "403 Forbidden"), "does not let this ask: no \\x1b[31mtoken"),
        (lambda connection: connection.sendall(b"\xff\xfe\r\n\r\n"), "is not a live view"),
        (lambda connection: connection.recv(4_096) and None, "is not a live view"),
        (silent, "does not answer within 0.3 seconds"),
        (drip, "does not answer within 0.3 seconds"),
        (drip_head, "does not answer within 0.3 seconds"),
        (drip_chunk, "does not answer within 0.3 seconds"),
    ]
    for answer, says in answers:
        with answering(answer) as url:
            code, out, err = asked(capsys, url)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert says in err
        assert "PS749" in err


def test_a_long_answer_is_not_read_to_its_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "LONGEST", 1_000)
    with answering(with_body(" " * 5_000)) as url:
        code, _, err = asked(capsys, url)
    assert code == 2
    assert "is not a live view" in err


def test_names_of_strangers_move_nothing_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b[2J\x07\u202e\u0085\n<b>"
    by = {"pointstamp": [evil, evil], "kind": evil, "proof": [[evil, evil]], "holds": 1}
    wait = {"request": [evil, evil], "says": evil, "by": by}
    body = json.dumps({"waiting": 2, "ready": 1, "steps": 0, "waits": [wait]})
    with answering(with_body(body)) as url:
        code, out, _ = asked(capsys, url)
    assert code == 0
    assert all(line.isprintable() for line in out.split("\n"))
    assert "\\x1b[2J" in out


class _Page(BaseHTTPRequestHandler):
    seen: list[str] = []  # noqa: RUF012 - of the one test

    def do_GET(self) -> None:
        self.seen += [self.path, self.headers.get("Authorization", "")]
        body = b'{"waiting": 0, "ready": 0, "steps": 0, "waits": []}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def test_a_token_in_the_address_is_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        code, out, _ = asked(capsys, f"http://127.0.0.1:{server.server_port}/?token=abc")
        thread.join(PATIENCE)
    assert (code, _Page.seen) == (0, ["/waits", "Bearer abc"])
    assert out == f"http://127.0.0.1:{server.server_port}/?token=... runs: nothing waits\n", "it is not said"
