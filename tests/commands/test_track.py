"""`pointstamp track` to the letter of the SPEC (section 3): a step a line, taken whole or refused without a trace."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from graphs import from_data
from graphs.command import main
from graphs.sessions.ask import LONGEST_LINE, read_line
from graphs.sessions.track import TrackSession, encode, read_step
from progress.errors import PointstampError
from tests.commands.line_process import LineProcess
from tests.commands.tracking import BEFORE, FALLING, LOOP, REFUSED, code_of, rounds, size_of, told
from tests.reference.random_graphs import random_document

ROOT = Path(__file__).resolve().parents[2]

DOMAINS: dict[str, tuple[Any, Any, Any]] = {  # domain, a time, a later one
    "nat": ("nat", 3, 4),
    "bounded": ({"nat": {"max": 7}}, 3, 4),
    "int": ("int", -3, 4),
    "product": ({"product": ["nat", "nat"]}, [1, 2], [1, 3]),
    "lex": ({"lex": ["nat", "int"]}, [1, 2], [2, -5]),
    "finite": ({"finite": {"elements": ["a", "b"], "below": [["a", "b"]]}}, "a", "b"),
    "sum": ({"sum": {"left": "nat", "right": {"product": ["nat", "nat"]}}}, {"right": [1, 2]}, {"right": [1, 3]}),
    "nested": ({"product": [{"lex": ["nat", "nat"]}, {"sum": {"l": "nat"}}]}, [[1, 2], {"l": 0}], [[1, 2], {"l": 1}]),
}


def session(graph: Any = LOOP) -> TrackSession:
    return TrackSession(from_data(graph))


# --- the protocol -----------------------------------------------------------------------------------------------------


def test_a_session_like_that_of_the_specification() -> None:
    answers = told(
        session(),
        {"start": {"inputs": {"input": [0]}, "requests": [["body", 0]]}},
        {"messages": [["input", 3, 1]], "requests": [["body", 2]]},
        {"inputs": {"input": [1]}},
        {"delivered": [["body", 0]], "inputs": {"input": [3]}},
        {
            "inputs": {"input": [4]},
            "messages": [["out", 3, 1], ["input", 3, -1]],
            "requests": [["body", 3]],
            "delivered": [["body", 2]],
            "show": {"frontiers": ["back"], "eligible": True},
        },
    )
    assert answers == [
        {"ready": []},
        {"ready": []},
        {"ready": [["body", 0]]},
        {"ready": [["body", 2]]},
        {"ready": [["body", 3]], "frontiers": {"back": [4]}, "eligible": [["body", 3]]},
    ]


def test_the_second_line_of_the_specification_is_refused_after_its_first() -> None:
    """It consumes what nobody sent: the lines there show the form."""
    answers = told(
        session(),
        {"start": {"inputs": {"input": [0]}, "requests": [["body", 0]]}},
        {
            "inputs": {"input": [1]},
            "messages": [["out", 3, 1], ["input", 3, -1]],
            "requests": [["body", 3]],
            "delivered": [["body", 2]],
            "show": {"frontiers": ["back"], "eligible": True},
        },
        {"why": ["body", 3]},
    )
    assert answers[0] == {"ready": []}
    assert code_of(answers[1]) in ("PS505", "PS507")
    assert answers[2]["blocked"] is True
    assert {"pointstamp": ["input", 0], "kind": "input", "proof": [["input", 0], ["input", 3]]} in answers[2]["by"]


def test_without_a_start_inputs_are_open_at_the_least_times() -> None:
    (answer,) = told(session(), {"show": {"frontiers": ["input", "back", "result"], "eligible": True}})
    assert answer == {"ready": [], "frontiers": {"input": [0], "back": [1], "result": [0]}, "eligible": []}
    (answer,) = told(session({**LOOP, "time": "int"}), {"show": {"frontiers": ["input", "back"]}})
    assert answer == {"ready": [], "frontiers": {"input": [], "back": []}}


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        ({}, [0]),
        ({"inputs": {}}, [0]),
        ({"inputs": {"input": []}}, []),
        ({"inputs": {"input": [7]}}, [7]),
        ({"inputs": {"input": [7, 5, 6]}}, [5]),
        ({"requests": []}, [0]),
    ],
)
def test_starts(start: Any, shown: list[int]) -> None:
    (answer,) = told(session(), {"start": start, "show": {"frontiers": ["input"]}})
    assert answer == {"ready": [], "frontiers": {"input": shown}}


def test_a_start_tells_what_is_ready_at_once() -> None:
    (answer,) = told(session(), {"start": {"inputs": {"input": []}, "requests": [["body", 1], ["body", 0]]}})
    assert answer == {"ready": [["body", 0]]}  # which may lead to (back, 1)


def test_start_and_step_on_one_line_are_one() -> None:
    tracked = session()
    refused = {"start": {"inputs": {"input": [5]}}, "messages": [["input", 4, 1]]}
    taken = {"start": {"inputs": {"input": [5]}}, "messages": [["input", 5, 1]], "inputs": {"input": [6]}}
    late: dict[str, Any] = {"start": {}}
    shown = {"show": {"frontiers": ["input", "body"]}}
    answers = told(tracked, refused, taken, late, shown)
    assert code_of(answers[0]) == "PS506"
    assert answers[1] == {"ready": []}
    assert code_of(answers[2]) == "PS510"
    assert answers[3] == {"ready": [], "frontiers": {"input": [5], "body": [5]}}


@pytest.mark.parametrize("first", [{}, {"show": {}}, {"why": ["body", 0]}, {"messages": []}, {"start": {}}])
def test_a_start_after_any_line_that_was_taken_is_late(first: Any) -> None:
    tracked = session()
    assert "error" not in told(tracked, first)[0]
    assert code_of(told(tracked, {"start": {"inputs": {"input": [3]}}})[0]) == "PS510"
    assert told(tracked, {"show": {"frontiers": ["input"]}})[0]["frontiers"] == {"input": [0]}


@pytest.mark.parametrize(
    "first", [b"\n", b"no JSON\n", {"why": ["nowhere", 0]}, {"messages": [["out", 0, -1]]}, {"start": {"x": 1}}]
)
def test_a_start_after_lines_that_were_refused_is_not_late(first: Any) -> None:
    tracked = session()
    assert "error" in told(tracked, first)[0]
    answer = told(tracked, {"start": {"inputs": {"input": [3]}}, "show": {"frontiers": ["input"]}})[0]
    assert answer == {"ready": [], "frontiers": {"input": [3]}}


def test_show_lists_every_location_that_was_asked_for() -> None:
    tracked = session()
    told(tracked, {"start": {"inputs": {"input": []}}})
    answers = told(
        tracked,
        {"show": {"frontiers": ["back", "body", "back"]}},
        {"show": {"frontiers": []}},
        {"show": {"eligible": True}},
        {"show": {"eligible": False}},
        {"show": {}},
    )
    assert answers == [
        {"ready": [], "frontiers": {"back": [], "body": []}},
        {"ready": [], "frontiers": {}},
        {"ready": [], "eligible": []},
        {"ready": []},
        {"ready": []},
    ]


def test_ready_lists_each_request_once_in_its_life() -> None:
    tracked = session()
    answers = told(
        tracked,
        {"requests": [["body", 1], ["body", 0], ["body", 0]]},
        {"requests": [["body", 0]], "inputs": {"input": [1]}},
        {"requests": [["body", 0]]},  # pending still
        {"delivered": [["body", 0]], "inputs": {"input": []}},
        {"delivered": [["body", 1]], "requests": [["body", 1]], "show": {"eligible": True}},
        {"show": {"eligible": True}},
        {"delivered": [["body", 1]], "show": {"eligible": True}},
    )
    assert [answer["ready"] for answer in answers] == [[], [["body", 0]], [], [["body", 1]], [["body", 1]], [], []]
    assert [answers[line]["eligible"] for line in (4, 5, 6)] == [[["body", 1]], [["body", 1]], []]


def test_ready_is_in_node_order_then_in_a_linear_extension() -> None:
    nodes: dict[str, Any] = {"z": {}, "a": {}}
    edges = [{"id": "one", "to": "z"}, {"id": "two", "to": "a"}]
    tracked = session({"pointstamp": 1, "time": {"product": ["nat", "nat"]}, "nodes": nodes, "edges": edges})
    times = [[2, 2], [0, 1], [1, 0], [1, 1], [0, 0]]
    told(tracked, {"requests": [[node, time] for node in ("a", "z") for time in times]})
    (answer,) = told(tracked, {"inputs": {"one": [], "two": []}})
    assert [node for node, _ in answer["ready"]] == ["z"] * 5 + ["a"] * 5
    for node in ("z", "a"):
        order = [time for where, time in answer["ready"] if where == node]
        assert sorted(order) == sorted(times)
        for place, time in enumerate(order):
            assert not any(later[0] <= time[0] and later[1] <= time[1] for later in order[place + 1 :])


def test_why_names_all_that_blocks_with_its_kind_and_proof() -> None:
    tracked = session()
    told(tracked, {"messages": [["out", 2, 1]], "requests": [["body", 1], ["body", 9]], "inputs": {"input": [8]}})
    free, blocked = told(tracked, {"why": ["body", 1]}, {"why": ["body", 9]})
    assert free == {"blocked": False, "by": []}
    assert set(blocked) == {"blocked", "by"}
    assert blocked["blocked"] is True
    found = {(tuple(by["pointstamp"]), by["kind"]) for by in blocked["by"]}
    assert found == {(("input", 8), "input"), (("out", 2), "message"), (("body", 1), "request")}
    for by in blocked["by"]:
        assert set(by) == {"pointstamp", "kind", "proof"}
        assert by["proof"][0] == by["pointstamp"]
        assert by["proof"][-1] in (["input", 9], ["back", 9])
    assert told(tracked, {"why": ["body", 100]})[0]["blocked"] is True  # nobody needs to have asked


@pytest.mark.parametrize("kind", DOMAINS)
def test_times_of_every_domain_come_back_as_they_are_written(kind: str) -> None:
    domain, time, later = DOMAINS[kind]
    tracked = session({**LOOP, "time": domain, "nodes": {"body": {}, "feedback": {"notify": False}}})
    answers = told(
        tracked,
        {"start": {"inputs": {"input": [time]}}, "show": {"frontiers": ["input"]}},
        {"messages": [["input", time, 2]], "requests": [["body", time]], "inputs": {"input": [later]}},
        {"messages": [["input", time, -2]], "show": {"frontiers": ["result"], "eligible": True}},
        {"why": ["body", later]},
        {"inputs": {"input": []}, "show": {"frontiers": ["result"]}},
    )
    assert answers[0]["frontiers"] == {"input": [time]}
    assert answers[2] == {"ready": [], "frontiers": {"result": [time]}, "eligible": []}  # it waits for its own answer
    assert ["input", later] in [by["pointstamp"] for by in answers[3]["by"]]
    assert answers[4]["frontiers"] == {"result": [time]}


# --- refusals ---------------------------------------------------------------------------------------------------------


PROBES = [
    {"show": {"frontiers": ["body", "feedback", "input", "out", "back", "result"], "eligible": True}},
    {"why": ["body", 9]},
    {"delivered": [["body", 3]], "messages": [["out", 3, 1]]},
    {"messages": [["out", 3, -1], ["out", 5, -1]], "inputs": {"input": [8]}, "show": {"eligible": True}},
    {"inputs": {"input": []}, "show": {"frontiers": ["back"], "eligible": True}},
]


@pytest.mark.parametrize(("code", "line"), REFUSED, ids=lambda value: repr(value)[:60])
def test_a_refused_line_leaves_no_trace(code: str, line: Any) -> None:
    tracked, twin = session(), session()
    assert told(tracked, *BEFORE) == told(twin, *BEFORE)
    (answer,) = told(tracked, line)
    assert code_of(answer) == code
    assert told(tracked, *PROBES) == told(twin, *PROBES)
    assert tracked.tracker.snapshot() == twin.tracker.snapshot()
    tracked.tracker._check()


@pytest.mark.parametrize(("code", "line"), REFUSED, ids=lambda value: repr(value)[:60])
def test_a_line_is_refused_with_all_that_is_right_in_it(code: str, line: Any) -> None:
    """The legal parts of a step that is refused are not taken either, wherever they stand on the line."""
    if not isinstance(line, dict) or "why" in line or "start" in line:
        return
    right = {
        "messages": [["out", 5, 1]],
        "requests": [["body", 7]],
        "delivered": [["body", 3]],
        "inputs": {"input": [7]},
        "show": {"eligible": True},
    }
    right = {key: value for key, value in right.items() if key not in line}
    for both in ({**right, **line}, {**line, **right}):
        tracked, twin = session(), session()
        told(tracked, *BEFORE)
        told(twin, *BEFORE)
        assert code_of(told(tracked, both)[0]) == code
        assert told(tracked, *PROBES) == told(twin, *PROBES)


@pytest.mark.parametrize(
    ("code", "start"),
    [
        ("PS501", None),
        ("PS501", []),
        ("PS501", 3),
        ("PS501", {"messages": []}),
        ("PS501", {"inputs": []}),
        ("PS501", {"inputs": {"input": 0}}),
        ("PS501", {"requests": {"body": 0}}),
        ("PS501", {"requests": [["body", 0, 0]]}),
        ("PS501", {"requests": [[3, 0]]}),
        ("PS502", {"inputs": {"inptu": [0]}}),
        ("PS502", {"requests": [["bodi", 0]]}),
        ("PS503", {"inputs": {"input": [-1]}}),
        ("PS503", {"requests": [["body", "0"]]}),
        ("PS504", {"inputs": {"back": [0]}}),
        ("PS504", {"requests": [["input", 0]]}),
    ],
)
def test_a_refused_start_leaves_no_trace(code: str, start: Any) -> None:
    tracked, twin = session(), session()
    (answer,) = told(tracked, {"start": start, "messages": [["input", 0, 1]]})
    assert code_of(answer) == code
    assert told(tracked, *BEFORE, *PROBES) == told(twin, *BEFORE, *PROBES)


def test_hints_say_what_would_be_right() -> None:
    tracked = session()
    told(tracked, {"inputs": {"input": [4]}, "messages": [["out", 5, 1]]})

    def said(line: Any) -> str:
        error = told(tracked, line)[0]["error"]
        return f"{error['message']} ({error['hint']})"

    assert said({"mesages": []}) == "unknown key 'mesages' in the line (did you mean messages?)"
    assert said({"show": {"eligibel": True}}) == "unknown key 'eligibel' in show (did you mean eligible?)"
    assert said({"messages": [["input", [1, None], 1]]}) == "[1, null] is not a time at 'input' (a time of nat)"
    assert said({"messages": [["input", 1, 0.5]]}) == "a change in messages is a fraction (a whole number)"
    assert "consume at most 1" in said({"messages": [["out", 5, -2]]})
    assert "a time at or after 4" in said({"messages": [["input", 3, 1]]})
    assert "times at or after 4" in said({"inputs": {"input": [3]}})


def test_an_answer_without_an_end_is_named_and_leaves_no_trace() -> None:
    tracked, twin = session(FALLING), session(FALLING)
    right = [{"messages": []}, {"show": {"frontiers": ["body", "apart"]}}, {"inputs": {"input": []}}]
    start = {"start": {"inputs": {"input": [3]}}}
    assert code_of(told(tracked, start)[0]) == "PS601"
    assert told(tracked, *right) == told(twin, *right)


# --- hostile lines ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [50, 400, 900, 1_000, 2_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize(
    "around", [b'{"messages": [["input", %s, 1]]}', b'{"why": ["body", %s]}', b'{"messages": %s}', b"%s"]
)
def test_deep_lines_are_refused(opening: bytes, closing: bytes, depth: int, around: bytes) -> None:
    tracked = session()
    line = around.replace(b"%s", opening * depth + b"0" + closing * depth) + b"\n"
    answers = told(tracked, line, {"show": {"frontiers": ["back"]}})
    assert code_of(answers[0]) in ("PS501", "PS503")
    assert answers[1] == {"ready": [], "frontiers": {"back": [1]}}


def test_large_numbers_are_times_and_counts_or_refused() -> None:
    tracked = session()
    huge = 10**4_198  # with a sign, 4,200 characters
    answers = told(
        tracked,
        {"messages": [["input", huge, huge]], "show": {"frontiers": ["back"]}},
        {"inputs": {"input": []}, "show": {"frontiers": ["back"]}},
        {"messages": [["input", huge, -huge]], "show": {"frontiers": ["back"]}},
    )
    assert [answer["frontiers"]["back"] for answer in answers] == [[1], [huge + 1], []]
    (answer,) = told(tracked, {"messages": [["input", huge, -1]]})
    assert code_of(answer) == "PS505"
    assert len(json.dumps(answer)) < 1_000


def test_a_line_of_ten_megabytes() -> None:
    tracked = session()
    many = [["input", time, 1] for time in range(100_000)]
    padding = b" " * (8 << 20)
    line = json.dumps({"messages": many}).encode()[:-1] + padding + b', "show": {"frontiers": ["input"]}}\n'
    assert told(tracked, line) == [{"ready": [], "frontiers": {"input": [0]}}]
    name = "x" * (10 << 20)
    (answer,) = told(tracked, {"messages": [[name, 0, 1]]})
    assert code_of(answer) == "PS502"
    assert len(json.dumps(answer)) < 1_000


def test_reading_quickly_and_strictly_is_the_same() -> None:
    rng = random.Random(1)
    pieces = [
        '{"a": 1}',
        '{"b": {"c": [1, {"d": "x:y"}]}}',
        "[1, 2]",
        '{"e": NaN}',
        '{"f": 1, "f": 2}',
        '{"g": "\\u00e9:"}',
    ]
    pieces += [
        '{"h": {"i": 1, "i": 2}}',
        '{"j": [{"k": 1, "k": 2}]}',
        '"x"',
        "3",
        "-",
        "{}",
        '{"l": 1e400}',
        '{"m:n": "::"}',
    ]
    for _ in range(3_000):
        text = "".join(rng.choice(pieces) for _ in range(rng.choice([1, 1, 1, 2])))
        if rng.random() < 0.5:
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice('{}[],:" \t\r\x0b\xa00') + text[place + rng.randrange(2) :]
        line = (rng.choice(["", "", " ", "\ufeff"]) + text + rng.choice(["\n", "\r\n", "", " \n", "\x0c\n"])).encode()
        found: list[Any] = []
        for read in (read_step, read_line):
            try:
                found.append(json.dumps(read(line)))
            except PointstampError as error:
                found.append(error.message)
        assert found[0] == found[1], line


def test_encoding_is_that_of_the_standard_library() -> None:
    answers: list[Any] = [{"ready": []}, {"ready": [["é\n\u2028\ud800", [1, [2, None]]], ["b", {"left": -3}]]}]
    answers += [{"blocked": True, "by": []}, {"frontiers": {"x": ["a"], "y": []}}, {"error": {"hint": "\x1b"}}]
    assert [encode(answer) for answer in answers] == [json.dumps(answer) for answer in answers]


def test_names_of_all_kinds() -> None:
    names = ["a=b", "quote\"'", "é", "\u202e", "\n", "😀", "null", "0", "start", "why", ":"]
    nodes: dict[str, Any] = {name: {} for name in names}
    edges = [{"id": f"{name} in", "to": name} for name in names]
    tracked = session({"pointstamp": 1, "nodes": nodes, "edges": edges})
    told(tracked, {"requests": [[name, 0] for name in names]})
    (answer,) = told(tracked, {"inputs": {f"{name} in": [1] for name in names}, "show": {"frontiers": names}})
    assert answer["ready"] == [[name, 0] for name in names]
    assert list(answer["frontiers"]) == names


@pytest.mark.slow
def test_random_lines_never_do_more_than_be_refused() -> None:
    """Lines put together from parts of lines: each is taken or refused with a code of steps, and the law holds."""
    rng = random.Random(7)
    for _ in range(150):
        graph = from_data(random_document(rng))
        tracked = TrackSession(graph)
        names = [*graph.locations(), "nowhere"]
        times: list[Any] = [0, 1, 2, -1, None, "a", [0, 0], [1, 0], [0, 2, 1], {"left": 0}, [], {}, 1.5, True, [[0], 1]]

        def pointstamp(length: int, names: list[str] = names, times: list[Any] = times) -> Any:
            full = [rng.choice(names), rng.choice(times), rng.choice([1, 1, 2, -1, -2, 0, "1"])]
            return full[: length if rng.random() < 0.97 else rng.randrange(4)]

        for _ in range(60):
            line: dict[str, Any] = {}
            for key, length in (("messages", 3), ("requests", 2), ("delivered", 2)):
                if rng.random() < 0.4:
                    line[key] = [pointstamp(length) for _ in range(rng.randrange(3))]
            if rng.random() < 0.2:
                line["inputs"] = {rng.choice(names): [rng.choice(times) for _ in range(rng.randrange(3))]}
            if rng.random() < 0.2:
                line["show"] = {"frontiers": rng.sample(names, 2), "eligible": True}
            if rng.random() < 0.1:
                line = {"why": pointstamp(2)}
            before = tracked.tracker.snapshot() if tracked._begun else None
            (answer,) = told(tracked, line)
            if "error" in answer:
                assert code_of(answer)[:4] in ("PS50", "PS60"), line
                assert before is None or tracked.tracker.snapshot() == before, line
            else:
                assert set(answer) <= {"ready", "frontiers", "eligible", "blocked", "by"}


# --- memory and cost --------------------------------------------------------------------------------------------------


def test_twenty_thousand_lines_leave_nothing_behind() -> None:
    tracked = session()
    sizes = []
    ready = 0
    for number, line in enumerate(rounds(20_000)):
        answer = json.loads(tracked.answer_line(line))
        assert "error" not in answer, (line, answer)
        ready += len(answer["ready"])
        if number in (2_000, 10_000, 20_000):
            sizes.append(size_of(tracked))
    assert ready == 5_000
    assert max(sizes) <= min(sizes) + 50, sizes


RESIDENT = """
import sys
from benchmarks.peak_memory import most_resident
from graphs.command import main
main(["track", sys.argv[1]])
print(most_resident(), file=sys.stderr)
"""


@pytest.mark.soak
def test_a_million_lines_run_in_constant_memory(tmp_path: Path) -> None:
    file = tmp_path / "loop.json"
    file.write_text(json.dumps(LOOP))
    most = {}
    for count in (100_000, 1_000_000):
        with (tmp_path / "lines").open("wb") as lines:
            lines.writelines(rounds(count))
        with (tmp_path / "lines").open("rb") as lines, (tmp_path / "answers").open("wb") as answers:
            run = subprocess.run(
                [sys.executable, "-c", RESIDENT, str(file)],
                cwd=ROOT,
                stdin=lines,
                stdout=answers,
                stderr=subprocess.PIPE,
            )
        assert run.returncode == 0
        most[count] = int(run.stderr)
        with (tmp_path / "answers").open("rb") as answers:
            assert sum(b"error" not in line for line in answers) == count + 1
    assert most[1_000_000] < most[100_000] * 1.05, most


# --- the process ------------------------------------------------------------------------------------------------------


@pytest.fixture
def loop_file(tmp_path: Path) -> Path:
    file = tmp_path / "loop.json"
    file.write_text(json.dumps(LOOP))
    return file


@pytest.fixture
def running(loop_file: Path) -> Iterator[LineProcess]:
    process = LineProcess("track", loop_file)
    yield process
    process.close()


def test_every_answer_is_flushed_at_once(running: LineProcess) -> None:
    assert running.tell(b'{"requests": [["body", 0]]}\n') == {"ready": []}
    assert set(running.tell(b"no JSON\n")) == {"error"}
    assert running.tell(b'{"inputs": {"input": []}}\r\n') == {"ready": [["body", 0]]}
    assert running.end() == (0, b"")


def test_input_that_ends_within_a_line(running: LineProcess) -> None:
    running.tell(b"{}\n")
    running.send(b'{"requests": [["body"')
    assert running.end() == (0, b"")
    assert code_of(json.loads(running.lines.get(timeout=30))) == "PS501"
    assert running.lines.empty()


def test_a_last_line_without_an_end_is_a_line(running: LineProcess) -> None:
    running.send(b'{"show": {"frontiers": ["back"]}}')
    assert running.end() == (0, b"")
    assert json.loads(running.lines.get(timeout=30)) == {"ready": [], "frontiers": {"back": [1]}}


def test_an_interrupt_is_quiet(running: LineProcess) -> None:
    running.tell(b"{}\n")
    running.process.send_signal(signal.SIGINT)
    running.process.wait(30)
    assert running.process.stderr is not None
    assert running.process.stderr.read() == b""


def command(arguments: str, file: Path) -> subprocess.CompletedProcess[bytes]:
    """A command line of the shell, in which `pointstamp` is this one and `$FILE` the file."""
    script = f'cd "$(dirname "$FILE")"; pointstamp() {{ "$PYTHON" -m graphs "$@"; }}; {arguments}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable, "FILE": str(file)}
    return subprocess.run(["sh", "-c", script], env=environment, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "exit_codes", "complaints"),
    [
        ('yes "{}" | pointstamp track "$FILE" | head -n 1 > /dev/null', {0}, 0),
        ('pointstamp track "$FILE" < /dev/null', {0}, 0),
        ('pointstamp track "$FILE" <&-', {0, 2}, None),
        ('echo "{}" | pointstamp track "$FILE" >&-', {0, 2}, None),
        ('echo "{}" | pointstamp track "$FILE" > /dev/full', {2}, 1),
        ("pointstamp track missing.json < /dev/null", {2}, 1),
        ("pointstamp track - < /dev/null", {2}, 1),
        ("pointstamp track < /dev/null", {2}, 1),
        ('pointstamp track "$FILE" --record no/such/folder < /dev/null', {2}, 1),
        ('pointstamp track "$FILE" --record . < /dev/null', {2}, 1),
        ('pointstamp track "$FILE" --record "$FILE" < /dev/null', {2}, 1),
        ('echo "{}" | pointstamp track "$FILE" --record /dev/full', {2}, 1),
        ('echo "{}" | pointstamp track "$FILE" --record /dev/null', {0}, 0),
    ],
)
def test_exit_codes(loop_file: Path, arguments: str, exit_codes: set[int], complaints: int | None) -> None:
    before = loop_file.read_bytes()
    run = command(arguments, loop_file)
    assert run.returncode in exit_codes, run.stderr
    assert b"Traceback" not in run.stderr
    assert b"internal error" not in run.stderr
    assert len(run.stderr.splitlines()) in ((0, 1) if complaints is None else (complaints,)), run.stderr
    assert loop_file.read_bytes() == before


def test_a_line_that_is_too_long_is_one_line(
    loop_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    after = b'{"show": {"frontiers": ["back"]}}\n'
    lines = b"".join(b"{" + b" " * (LONGEST_LINE - 2 + extra) + b"}\n" + after for extra in (-1, 0, 1, 2, 3, 1 << 20))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(lines), "utf-8"))
    assert main(["track", str(loop_file)]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert answers[1::2] == [{"ready": [], "frontiers": {"back": [1]}}] * 6
    assert answers[0] == {"ready": []}
    assert {code_of(answer) for answer in answers[2::2]} == {"PS501"}


def test_a_graph_that_is_none_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("pointstamp: 1\nnodez: {}\n")
    assert main(["track", str(file)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert f"{file}:2:1" in output.err


@pytest.mark.parametrize("time", [lambda number: number, lambda number: [number, 0]], ids=["numbers", "rows"])
def test_usual_lines_are_steps_of_the_kernel(time: Callable[[int], Any]) -> None:
    """The kernel alone takes what follows from what is consumed, and what comes in where an input is open."""
    nodes = {"body": {}, "feedback": {"summary": "feedback", "notify": False}}
    document = LOOP | {"time": "nat" if time(0) == 0 else {"lex": ["nat", "nat"]}, "nodes": nodes}
    lines: list[Any] = [{"messages": [["input", time(0), 1]]}]
    for number in range(50):
        here, after = time(number), time(number + 1)
        lines.append({"messages": [["input", here, -1], ["out", here, 1]], "requests": [["body", here]]})
        lines.append({"messages": [["out", here, -1]]})
        lines.append({"inputs": {"input": [after]}, "messages": [["input", after, 1]]})
        lines.append({"delivered": [["body", here]]})
    tracked = TrackSession(from_data(document))
    usual, step = [0], tracked.tracker._usual_step

    def counted(messages: Any, delivered: Any, requests: Any, inputs: Any) -> Any:
        woken = step(messages, delivered, requests, inputs)
        usual[0] += woken is not None
        return woken

    tracked.tracker._usual_step = counted
    answers = [json.loads(tracked.answer_line(json.dumps(line).encode())) for line in lines]
    assert all("ready" in answer for answer in answers)
    assert usual[0] == len(lines)
