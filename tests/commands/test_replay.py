"""`pointstamp replay`: what was recorded is played again, compared, and shown at any line."""

from __future__ import annotations

import io
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import from_data
from graphs.command import main
from graphs.sessions.replay import Replay
from graphs.sessions.track import TrackSession, recorded
from tests.commands.pipelines import Result
from tests.commands.tracking import BEFORE, LOOP, REFUSED, rounds, size_of
from tests.reference.random_graphs import random_document

LINES = [
    {"start": {"inputs": {"input": [0]}, "requests": [["body", 0]]}},
    {"messages": [["input", 3, 1]], "requests": [["body", 3]]},
    {"messages": [["input", 4, -1]]},  # refused
    {"why": ["body", 3]},
    {"messages": [["input", 3, -1], ["out", 3, 1]], "inputs": {"input": [4]}, "show": {"frontiers": ["back"]}},
    {"delivered": [["body", 0]], "show": {"eligible": True}},
]

TORN = "the last line is not whole, as where its writer was stopped: what is before it counts"


class Play:
    """Runs `pointstamp track` and `pointstamp replay` in this process, in an empty folder with the graph of a loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        Path("loop.json").write_text(json.dumps(LOOP), "utf-8")

    def run(self, *arguments: str, stdin: bytes = b"") -> Result:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        self.capsys.readouterr()
        try:
            exit_code = main(list(arguments))
        except SystemExit as end:
            exit_code = end.code if isinstance(end.code, int) else 1
        output = self.capsys.readouterr()
        assert "Traceback" not in output.out + output.err
        assert "internal error" not in output.err, output.err
        return Result(exit_code, output.out, output.err)

    def record(self, lines: bytes, trace: str = "trace.jsonl") -> list[bytes]:
        """The answers of a session that is recorded."""
        result = self.run("track", "loop.json", "--record", trace, stdin=lines)
        assert (result.exit_code, result.err) == (0, "")
        return result.out.encode().splitlines(keepends=True)

    def __call__(self, trace: str | bytes, *options: str, json: bool = True) -> Result:
        """What replay says; a trace of bytes is written to a file first."""
        if isinstance(trace, bytes):
            Path("given.jsonl").write_bytes(trace)
            trace = "given.jsonl"
        return self.run("replay", "loop.json", trace, *options, *(("--format", "json") if json else ()))


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    monkeypatch.chdir(tmp_path)
    return Play(monkeypatch, capsys)


def text(lines: list[Any]) -> bytes:
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)


EVERY_KIND = [*BEFORE, {"why": ["body", 9]}, *(line for _, line in REFUSED), {"inputs": {"input": []}}]


def test_a_recorded_session_is_played_with_the_same_answers(play: Play) -> None:
    answers = play.record(text(EVERY_KIND))
    trace = Path("trace.jsonl").read_bytes()
    assert len(trace.splitlines()) == len(answers) == len(EVERY_KIND)
    for line, answer in zip(trace.splitlines(), answers, strict=True):
        entry = json.loads(line)
        assert set(entry) == {"in", "out"}
        assert entry["out"] == json.loads(answer)
    result = play("trace.jsonl")
    assert (result.exit_code, result.err) == (0, "")
    found = result.json
    assert (found["line"], found["compared"], found["difference"]) == (len(EVERY_KIND), len(EVERY_KIND), None)
    assert (found["steps"], found["questions"]) == (3, 1)
    assert sum(found["refused"].values()) == len(REFUSED)
    assert set(found["refused"]) == {code for code, _ in REFUSED}


def test_recorded_lines_have_what_was_sent(play: Play) -> None:
    sent = [
        b'{"messages" :  []}\r\n',
        b"\xff\xfe\n",
        b"\n",
        b'{"a": 1, "a": 2}\n',
        b'\xef\xbb\xbf{"show": {}}\n',
        b"{}",
    ]
    play.record(b"".join(sent))
    entries = [json.loads(line) for line in Path("trace.jsonl").read_bytes().splitlines()]
    assert [entry["in"] for entry in entries] == [
        {"messages": []},
        "\udcff\udcfe\n",
        "\n",
        sent[3].decode(),
        {"show": {}},
        {},
    ]


def test_a_line_that_was_too_long_is_played_too(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ask", "track", "replay"):
        monkeypatch.setattr(f"graphs.sessions.{module}.LONGEST_LINE", 100)
    play.record(b"{" + b" " * 200 + b"}\n{}\n")
    assert json.loads(Path("trace.jsonl").read_bytes().splitlines()[0])["in"] is None
    found = play("trace.jsonl").json
    assert (found["compared"], found["difference"], found["refused"]) == (2, None, {"PS501": 1})


def test_the_answer_is_in_the_record_before_it_is_given(play: Play) -> None:
    class Watched(io.BytesIO):
        def write(self, data: Any) -> int:
            assert Path("trace.jsonl").read_bytes().splitlines()[-1].endswith(bytes(data).strip() + b"}")
            return super().write(data)

    from graphs.sessions.track import track

    with Path("trace.jsonl").open("ab") as record:
        track(from_data(LOOP), io.BytesIO(text(LINES)), Watched(), record)
    assert len(Path("trace.jsonl").read_bytes().splitlines()) == len(LINES)


def test_no_recorded_session_is_overwritten(play: Play) -> None:
    play.record(text(LINES))
    before = Path("trace.jsonl").read_bytes()
    result = play.run("track", "loop.json", "--record", "trace.jsonl", stdin=b"{}\n")
    assert (result.exit_code, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert Path("trace.jsonl").read_bytes() == before


def test_every_form_of_a_trace_is_the_same(play: Play) -> None:
    answers = play.record(text(LINES))
    lines = [json.dumps(line).encode() + b"\n" for line in LINES]
    recorded_ = Path("trace.jsonl").read_bytes()
    forms = {
        "as fed": b"".join(lines),
        "without the last end of line": b"".join(lines).rstrip(b"\n"),
        "recorded": recorded_,
        "line, answer": b"".join(map(b"".join, zip(lines, answers, strict=True))),
        "some answers": lines[0] + lines[1] + answers[1] + b"".join(lines[2:]),
        "blank lines": b"\n" + b"\n\n".join(lines) + b"\n  \n",
        "mixed": lines[0] + answers[0] + b"".join(recorded_.splitlines(keepends=True)[1:3]) + b"".join(lines[3:]),
    }
    found = {form: play(trace) for form, trace in forms.items()}
    assert {result.exit_code for result in found.values()} == {0}
    states = {form: result.json["state"] for form, result in found.items()}
    assert all(state == states["as fed"] for state in states.values())
    assert {form: result.json["compared"] for form, result in found.items()} == {
        "as fed": 0,
        "without the last end of line": 0,
        "recorded": 6,
        "line, answer": 6,
        "some answers": 1,
        "blank lines": 0,
        "mixed": 3,
    }
    assert {result.json["steps"] for result in found.values()} == {4}


def test_the_state_at_every_line_is_that_of_the_session(play: Play) -> None:
    play.record(text(LINES))
    session = TrackSession(from_data(LOOP))
    for number, line in enumerate(LINES, 1):
        answer = session.answer_or_refuse(json.loads(json.dumps(line)))
        found = play("trace.jsonl", "--at", str(number)).json
        assert (found["line"], found["compared"], found["difference"]) == (number, number, None)
        assert (found["in"], found["out"]) == (line, json.loads(json.dumps(answer)))
        tracker = session.tracker
        assert found["state"] == {
            "frontiers": {name: list(tracker.frontier(name)) for name in session.graph.locations()},
            "inputs": {name: list(times) for name, times in tracker.inputs().items()},
            "messages": [[edge, time, count] for (edge, time), count in tracker.messages().items()],
            "requests": [[node, time] for node, time in tracker.pending()],
            "eligible": [[node, time] for node, time in tracker.eligible()],
        }


def test_the_state_by_hand(play: Play) -> None:
    found = play(text(LINES), "--at", "5", "--why", "body=3", "--why", "body=0", "--holding", "back").json
    assert found["state"] == {
        "frontiers": {"body": [0], "feedback": [0], "input": [4], "out": [0], "back": [1], "result": [0]},
        "inputs": {"input": [4]},
        "messages": [["out", 3, 1]],
        "requests": [["body", 0], ["body", 3]],
        "eligible": [["body", 0]],
    }
    blocker = {"pointstamp": ["body", 0], "kind": "request"}
    by = [{**blocker, "proof": [["body", 0], ["out", 0], ["feedback", 0], ["back", 3]]}]
    assert found["why"] == [
        {"request": ["body", 3], "blocked": True, "by": by},
        {"request": ["body", 0], "blocked": False, "by": []},
    ]
    by = [{**blocker, "proof": [["body", 0], ["out", 0], ["feedback", 0], ["back", 1]]}]
    assert found["holding"] == [{"location": "back", "held": [{"time": 1, "by": by}]}]


def test_in_answered_traces_the_answer_belongs_to_its_line(play: Play) -> None:
    answers = play.record(text(LINES))
    lines = [json.dumps(line).encode() + b"\n" for line in LINES]
    trace = b"".join(map(b"".join, zip(lines, answers, strict=True)))
    for number in range(1, 2 * len(LINES) + 1):
        found = play(trace, "--at", str(number)).json
        place = (number - 1) // 2
        assert (found["in"], found["out"]) == (LINES[place], json.loads(answers[place]))
        assert found["compared"] == place + 1


def test_the_first_difference_is_a_finding(play: Play) -> None:
    play.record(text(LINES))
    entries = [json.loads(line) for line in Path("trace.jsonl").read_bytes().splitlines()]
    entries[4]["out"]["frontiers"]["back"] = [2]
    entries[5]["out"] = {}
    result = play(text(entries))
    assert result.exit_code == 1
    replayed = {"ready": [["body", 0]], "frontiers": {"back": [1]}}
    difference = {"line": 5, "recorded": {**replayed, "frontiers": {"back": [2]}}, "replayed": replayed}
    assert result.json["difference"] == difference
    assert play(text(entries), "--at", "4").exit_code == 0
    shown = play(text(entries), json=False)
    assert shown.exit_code == 1
    assert "Line 5 is answered differently." in shown.out


@pytest.mark.parametrize(
    ("out", "exit_code"),
    [
        ({"error": {"code": "PS505", "message": "other words", "hint": ""}}, 0),
        ({"error": {"code": "PS505"}}, 0),
        ({"error": {"code": "PS506", "message": "", "hint": ""}}, 1),
        ({"error": {}}, 1),
        ({"error": "PS505"}, 1),
        ({"ready": []}, 1),
        ([], 1),
        (None, 1),
    ],
)
def test_a_refusal_is_compared_by_its_code(play: Play, out: Any, exit_code: int) -> None:
    assert play(text([{"in": LINES[2], "out": out}])).exit_code == exit_code


def test_a_taken_step_is_no_refusal(play: Play) -> None:
    assert play(text([{"in": {}, "out": {"error": {"code": "PS505"}}}])).exit_code == 1
    assert play(text([{"in": {}, "out": {"error": {}}}])).exit_code == 1


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (b"x\n", 3),
        (b'{"messages": [["inp\n', 3),
        (b"messages", 3),
        (b"[1]\n", 3),
        (b"3\n", 3),
        (b'"text"\n', 3),
        (b"\xff\n", 3),
        (b"\0\n", 3),
        (b'{"a": 1, "a": 2}\n', 3),
        (b'{"in": {}, "out": {}, "more": 1}\n', 3),
        (b'{"in": {}, "out": {"ready": []}}\n{"ready": []}\n', 4),
        (b'{"ready": []}\n{"ready": []}\n', 4),
        (b"[" * 100_000 + b"\n", 3),
        (bytes(range(256)), 3),
    ],
)
def test_damage_is_one_line_with_its_place(play: Play, damage: bytes, line: int) -> None:
    trace = text(LINES[:2]) + damage
    result = play(trace, json=False)
    assert (result.exit_code, result.out) == (2, "")
    (complaint,) = result.err.splitlines()
    assert complaint.startswith(f"pointstamp: given.jsonl:{line}: PS513: ")
    assert play(trace, "--at", "2").exit_code == 0  # what is before it can be played


def test_a_torn_last_line_is_the_end(play: Play) -> None:
    """Wherever the writer was stopped: what is before is played, and whoever asked is told."""
    play.record(text(LINES))
    whole = Path("trace.jsonl").read_bytes()
    end = whole.rindex(b"\n", 0, -1) + 1
    wanted = play("trace.jsonl", "--at", str(len(LINES) - 1)).json
    for cut in (end + 1, end + 2, (end + len(whole)) // 2, len(whole) - 2):
        result = play(whole[:cut])
        assert result.exit_code == 0
        assert result.err == f"pointstamp: given.jsonl:{len(LINES)}: {TORN}\n"
        assert (result.json["line"], result.json["torn"]) == (len(LINES) - 1, True)
        assert result.json["state"] == wanted["state"]
        assert play.run("replay", "loop.json", "-", stdin=whole[:cut]).err == f"pointstamp: -:{len(LINES)}: {TORN}\n"
        assert play(whole[:cut], "--at", str(len(LINES))).exit_code == 2
        assert play(whole[:cut], "--at", "2").err == ""
    assert play(whole[:-1]).json["torn"] is False  # whole, but for the line break


def test_a_trace_of_another_graph_is_refused(play: Play) -> None:
    strange = [{"requests": [["bodi", 0]]}, {"messages": [["inpud", 0, 1]]}, {"inputs": {"input": ["monday"]}}]
    for options in ((), ("--at", "1"), ("--at", "3")):
        result = play(text(strange), *options)
        assert (result.exit_code, result.out) == (2, "")
        (complaint,) = result.err.splitlines()
        assert complaint.startswith("pointstamp: given.jsonl: PS513: no line of it is a step of this graph")
    typo = play(text([*strange, *LINES]), "--at", "1")  # what follows is of this graph
    assert (typo.exit_code, typo.json["refused"]) == (0, {"PS502": 1})
    play.record(text(strange))
    assert play("trace.jsonl").exit_code == 0  # they were refused when they were recorded, too


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", "loop.json"),
        ("replay", "loop.json", "missing.jsonl"),
        ("replay", "loop.json", "."),
        ("replay", "missing.json", "trace.jsonl"),
        ("replay", "-", "-"),
        ("replay", "loop.json", "trace.jsonl", "--at", "0"),
        ("replay", "loop.json", "trace.jsonl", "--at", "-1"),
        ("replay", "loop.json", "trace.jsonl", "--at", "x"),
        ("replay", "loop.json", "trace.jsonl", "--at", "7"),
        ("replay", "loop.json", "trace.jsonl", "--at", "9" * 5_000),
        ("replay", "loop.json", "trace.jsonl", "--why", "body"),
        ("replay", "loop.json", "trace.jsonl", "--why", "bodi=1"),
        ("replay", "loop.json", "trace.jsonl", "--why", "body=-1"),
        ("replay", "loop.json", "trace.jsonl", "--why", "back=1"),
        ("replay", "loop.json", "trace.jsonl", "--holding", "bak"),
        ("replay", "loop.json", "trace.jsonl", "--holding", "\x1b[31m"),
    ],
)
def test_bad_usage_is_one_line(play: Play, arguments: tuple[str, ...]) -> None:
    Path("trace.jsonl").write_bytes(text(LINES))
    result = play.run(*arguments)
    assert (result.exit_code, result.out) == (2, "")
    (complaint,) = result.err.splitlines()
    assert complaint.isprintable()


def test_a_location_that_is_nearly_there_is_named(play: Play) -> None:
    Path("trace.jsonl").write_bytes(text(LINES))
    (complaint,) = play.run("replay", "loop.json", "trace.jsonl", "--holding", "bck").err.splitlines()
    assert complaint == "pointstamp: --holding: there is no location 'bck' (did you mean 'back'?)"


def test_graph_or_trace_may_come_from_standard_input(play: Play) -> None:
    Path("trace.jsonl").write_bytes(text(LINES))
    graph = Path("loop.json").read_bytes()
    wanted = play("trace.jsonl").json
    assert play.run("replay", "loop.json", "-", "--format", "json", stdin=text(LINES)).json == wanted
    assert play.run("replay", "-", "trace.jsonl", "--format", "json", stdin=graph).json == wanted


def test_an_empty_trace_shows_where_a_session_begins(play: Play) -> None:
    result = play(b"")
    assert result.exit_code == 0
    assert result.json["line"] == 0
    assert result.json["state"]["inputs"] == {"input": [0]}


def test_the_report_for_the_terminal(play: Play) -> None:
    shown = play(text(LINES), "--at", "5", "--why", "body=3", "--holding", "back", json=False)
    assert shown.exit_code == 0
    for part in (
        "5 lines played: 3 steps, 1 question, 1 refused (PS505 1); 1 request became ready.\n",
        "  back      1\n",
        "  input  4\n",
        "  out 3  1\n",
        "  body 0  may be delivered\n  body 3  waits\n",
        "Why body 3 waits\n  request body 0: body 0 -> out 0 -> feedback 0 -> back 3\n",
        "Who holds back\n  at 1\n    request body 0: body 0 -> out 0 -> feedback 0 -> back 1\n",
    ):
        assert part in shown.out, shown.out


def test_names_cannot_move_the_cursor(play: Play) -> None:
    graph = {"pointstamp": 1, "nodes": {"\x1b[31m\n": {}}, "edges": [{"id": "in\r", "to": "\x1b[31m\n"}]}
    Path("loop.json").write_text(json.dumps(graph))
    line = {"requests": [["\x1b[31m\n", 3]], "messages": [["in\r", 2, 1]]}
    options = ("--at", "1", "--why", "\x1b[31m\n=3", "--holding", "in\r")
    shown = play(text([line]), *options, json=False)
    assert (shown.exit_code, shown.err) == (0, "")
    assert all(character.isprintable() or character == "\n" for character in shown.out)


def test_playing_asks_no_more_of_memory_than_the_session() -> None:
    """Nothing is kept of lines that were played: as many objects after two thousand lines as after twenty thousand."""
    graph = from_data(LOOP)
    sizes = []
    for count in (2_000, 20_000):
        replay = Replay(graph)
        replay.play(io.BytesIO(b"".join(rounds(count))))
        assert (replay.steps, replay.refused, replay.ready) == (count + 1, {}, count // 4)
        sizes.append(size_of(replay))
    assert abs(sizes[0] - sizes[1]) <= 50, sizes


def test_random_sessions_are_replayed_alike() -> None:
    rng = random.Random(3)
    for _ in range(60):
        graph = from_data(random_document(rng))
        session = TrackSession(graph)
        names = [*graph.locations()]
        times: list[Any] = [0, 1, 2, None, "a", [0, 0], [1, 0], [0, 2, 1], {"left": 0}]
        trace = b""
        for _ in range(40):
            line: dict[str, Any] = {"messages": [[rng.choice(names), rng.choice(times), rng.choice([1, 1, -1])]]}
            if rng.random() < 0.5:
                line = {"requests": [[rng.choice(names), rng.choice(times)]], "show": {"eligible": True}}
            if rng.random() < 0.2:
                line = {"inputs": {rng.choice(names): [rng.choice(times)]}, "show": {"frontiers": names}}
            if rng.random() < 0.1:
                line = {"why": [rng.choice(names), rng.choice(times)]}
            data = json.dumps(line).encode() + b"\n"
            trace += recorded(data, session.answer_line(data))
        replay = Replay(graph)
        replay.play(io.BytesIO(trace))
        assert (replay.compared, replay.difference) == (40, None)
        assert replay.session.tracker.snapshot() == session.tracker.snapshot()
