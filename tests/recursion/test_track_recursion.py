"""`pointstamp track` and `replay` over stacks: sessions worked out by hand, what is refused, what leaves no trace."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphs import from_data
from graphs.command import main
from graphs.sessions.track import TrackSession
from progress import PointstampError, Tracker
from tests.commands.tracking import code_of, told
from tests.recursion.tools import SEVERAL, STREAM, TWO

L, R = ["left"], ["right"]


class Scene(NamedTuple):
    """A graph and the lines of a session, each with its answer."""

    graph: Any
    lines: list[tuple[Any, Any]]


# The first run splits its work and calls itself twice; `merge` is told when both have returned.
CALLING = Scene(
    TWO,
    [
        (
            {"start": {"requests": [["entry", []]]}, "show": {"frontiers": ["entry", "merge", "exit->ret-left"]}},
            {"ready": [["entry", []]], "frontiers": {"entry": [[]], "merge": None, "exit->ret-left": None}},
        ),
        (
            {"delivered": [["entry", []]], "messages": [["entry->split", [], 2]]},
            {"ready": []},
        ),
        (
            {
                "messages": [["entry->split", [], -2], ["split->left", [], 1], ["split->right", [], 1]],
                "show": {"frontiers": ["split", "merge", "call-left", "call-right"]},
            },
            {"ready": [], "frontiers": {"split": [R, L], "merge": None, "call-left": None, "call-right": None}},
        ),
        ({"requests": [["merge", []], ["merge", L], ["merge", ["left", "left"]]]}, {"ready": []}),
        (
            {"messages": [["split->left", [], -1], ["call-left->entry", L, 1]], "show": {"eligible": True}},
            {"ready": [], "eligible": []},
        ),
        (
            {"messages": [["call-left->entry", L, -1], ["entry->split", L, 1]]},
            {"ready": []},
        ),
        (
            {"messages": [["entry->split", L, -1], ["split->exit", L, 1]]},
            {"ready": [["merge", ["left", "left"]]]},  # what it sends could come back to merge at L
        ),
        (
            {
                "messages": [["split->exit", L, -1], ["exit->ret-left", [], 1]],
                "delivered": [["merge", ["left", "left"]]],
                "show": {"frontiers": ["exit", "exit->ret-left", "split"]},
            },
            {"ready": [["merge", L]], "frontiers": {"exit": None, "exit->ret-left": None, "split": [R]}},
        ),
        (
            {
                "why": ["merge", []],
            },
            {
                "blocked": True,
                "by": [
                    {
                        "pointstamp": ["split->right", []],
                        "kind": "message",
                        "proof": [
                            ["split->right", []],
                            ["call-right", []],
                            ["call-right->entry", R],
                            ["entry", R],
                            ["entry->split", R],
                            ["split", R],
                            ["split->exit", R],
                            ["exit", R],
                            ["exit->ret-right", []],
                            ["ret-right", []],
                            ["right->merge", []],
                        ],
                    },
                    {
                        "pointstamp": ["exit->ret-left", []],
                        "kind": "message",
                        "proof": [["exit->ret-left", []], ["ret-left", []], ["left->merge", []]],
                    },
                    {
                        "pointstamp": ["merge", L],
                        "kind": "request",
                        "proof": [
                            ["merge", L],
                            ["merge->exit", L],
                            ["exit", L],
                            ["exit->ret-left", []],
                            ["ret-left", []],
                            ["left->merge", []],
                        ],
                    },
                ],
            },
        ),
        (
            {"delivered": [["merge", L]], "messages": [["exit->ret-left", [], -1], ["split->right", [], -1]]},
            {"ready": [["merge", []]]},
        ),
        (
            {
                "delivered": [["merge", []]],
                "messages": [["merge->exit", [], 1]],
                "show": {"frontiers": ["merge", "exit", "merge->exit"], "eligible": True},
            },
            {"ready": [], "frontiers": {"merge": [], "exit": [[]], "merge->exit": [[]]}, "eligible": []},
        ),
        (
            {"messages": [["merge->exit", [], -1]], "show": {"frontiers": ["exit"]}},
            {"ready": [], "frontiers": {"exit": []}},
        ),
    ],
)

# Two tasks come in, one call deep each; the second one waits for the first, whose epoch is earlier.
STREAMING = Scene(
    STREAM,
    [
        (
            {"messages": [["tasks", [0, []], 1], ["tasks", [1, []], 1]], "show": {"frontiers": ["tasks", "results"]}},
            {"ready": [], "frontiers": {"tasks": [[0, []]], "results": None}},
        ),
        (
            {"inputs": {"tasks": [[2, []]]}, "requests": [["merge", [0, []]], ["merge", [1, []]], ["merge", [1, L]]]},
            {"ready": []},
        ),
        (
            {"messages": [["tasks", [0, []], -1], ["entry->split", [0, []], 1]]},
            {"ready": []},
        ),
        (
            {"messages": [["entry->split", [0, []], -1], ["split->left", [0, []], 1]]},
            {"ready": []},
        ),
        (
            {"messages": [["tasks", [1, []], -1], ["split->exit", [1, []], 1]]},
            {"ready": []},
        ),
        (
            {"messages": [["split->left", [0, []], -1]], "show": {"frontiers": ["merge", "exit"], "eligible": True}},
            {
                "ready": [["merge", [0, []]], ["merge", [1, L]]],  # what the second sends could come back to merge
                "frontiers": {"merge": None, "exit": None},
                "eligible": [["merge", [0, []]], ["merge", [1, L]]],
            },
        ),
        (
            {"delivered": [["merge", [1, L]], ["merge", [0, []]]], "messages": [["merge->exit", [0, []], 1]]},
            {"ready": [["merge", [1, []]]]},
        ),
        (
            {
                "delivered": [["merge", [1, []]]],
                "inputs": {"tasks": []},
                "show": {"frontiers": ["exit", "merge", "results"]},
            },
            {"ready": [], "frontiers": {"exit": [[0, []]], "merge": [], "results": [[0, []]]}},
        ),
    ],
)

# even calls odd, which calls even: a location has the stacks of its own graph alone.
SEVERAL_GRAPHS = Scene(
    SEVERAL,
    [
        (
            {"start": {"requests": [["even_in", []]]}, "show": {"frontiers": ["even_in", "odd_in", "odd_out"]}},
            {"ready": [["even_in", []]], "frontiers": {"even_in": [[]], "odd_in": [["ask_odd"]], "odd_out": None}},
        ),
        (
            {"delivered": [["even_in", []]], "messages": [["even_in->ask_odd", [], 1]], "requests": [["even_out", []]]},
            {"ready": []},
        ),
        (
            {"messages": [["even_in->ask_odd", [], -1], ["call-ask_odd->odd_in", ["ask_odd"], 1]]},
            {"ready": []},
        ),
        (
            {
                "messages": [["call-ask_odd->odd_in", ["ask_odd"], -1], ["odd_in->odd_out", ["ask_odd"], 1]],
                "show": {"frontiers": ["odd_out", "even_in"]},
            },
            {"ready": [], "frontiers": {"odd_out": [["ask_odd"]], "even_in": []}},
        ),
        (
            {"messages": [["odd_in->odd_out", ["ask_odd"], -1], ["odd_out->ret-ask_odd", [], 1]]},
            {"ready": []},
        ),
        ({"messages": [["odd_out->ret-ask_odd", [], -1]]}, {"ready": [["even_out", []]]}),
        ({"delivered": [["even_out", []]]}, {"ready": []}),
    ],
)
SCENES = {"calling": CALLING, "streaming": STREAMING, "several": SEVERAL_GRAPHS}

# The scene, after how many of its lines, the code, and the line that is refused.
REFUSED: list[tuple[str, int, str, Any]] = [
    ("calling", 4, "PS501", {"messages": [["split->left", []]]}),
    ("calling", 4, "PS501", {"requests": [[["split"], []]]}),
    ("calling", 4, "PS502", {"messages": [["left", [], 1]]}),
    ("calling", 4, "PS502", {"requests": [["right", []]]}),
    ("calling", 4, "PS502", {"show": {"frontiers": ["left"]}}),
    ("calling", 4, "PS502", {"why": ["left", []]}),
    ("calling", 4, "PS503", {"messages": [["split->left", ["up"], 1]]}),
    ("calling", 4, "PS503", {"messages": [["split->left", 0, 1]]}),
    ("calling", 4, "PS503", {"messages": [["split->left", "left", 1]]}),
    ("calling", 4, "PS503", {"requests": [["merge", [["left"]]]]}),
    ("calling", 4, "PS503", {"delivered": [["merge", {"left": 0}]]}),
    ("calling", 4, "PS503", {"why": ["merge", [0]]}),
    ("calling", 4, "PS504", {"messages": [["merge", [], 1]]}),
    ("calling", 4, "PS504", {"requests": [["split->left", []]]}),
    ("calling", 4, "PS504", {"inputs": {"entry->split": [[]]}}),
    ("calling", 4, "PS505", {"messages": [["split->left", [], -2]]}),
    ("calling", 4, "PS505", {"messages": [["split->left", [], -1], ["split->left", L, -1]]}),
    ("calling", 4, "PS505", {"messages": [["exit->ret-left", [], -1], ["split->left", [], -1]]}),
    ("calling", 4, "PS506", {"messages": [["entry->split", [], 1]]}),
    ("calling", 4, "PS506", {"messages": [["split->left", [], -1], ["split->exit", [], 1]]}),
    ("calling", 4, "PS506", {"requests": [["split", []]]}),
    ("calling", 6, "PS506", {"messages": [["split->left", ["left", "right"], 1], ["split->left", [], 1]]}),
    ("calling", 7, "PS506", {"messages": [["split->exit", L, -1], ["split->left", L, 1]]}),
    ("calling", 10, "PS506", {"requests": [["entry", R]]}),
    ("calling", 12, "PS506", {"requests": [["exit", []]]}),
    ("calling", 4, "PS507", {"delivered": [["merge", R]]}),
    ("calling", 4, "PS507", {"delivered": [["exit", []]]}),
    ("calling", 8, "PS507", {"delivered": [["merge", ["left", "left"]]]}),
    ("calling", 4, "PS508", {"delivered": [["merge", []]]}),
    ("calling", 4, "PS508", {"delivered": [["merge", ["left", "left"]]], "messages": [["split->left", [], -1]]}),
    ("calling", 7, "PS508", {"delivered": [["merge", ["left", "left"]], ["merge", L]]}),
    ("calling", 1, "PS510", {"start": {"requests": []}}),
    ("streaming", 2, "PS503", {"messages": [["tasks", 2, 1]]}),
    ("streaming", 2, "PS503", {"messages": [["tasks", [], 1]]}),
    ("streaming", 2, "PS503", {"messages": [["tasks", [[], 2], 1]]}),
    ("streaming", 2, "PS503", {"messages": [["tasks", [-1, []], 1]]}),
    ("streaming", 2, "PS503", {"inputs": {"tasks": [[2, ["up"]]]}}),
    ("streaming", 2, "PS504", {"inputs": {"results": [[2, []]]}}),
    ("streaming", 2, "PS506", {"messages": [["tasks", [1, []], 1], ["tasks", [0, L], 1]]}),
    (
        "streaming",
        3,
        "PS506",
        {"messages": [["entry->split", [1, []], 1], ["split->left", [0, ["right"]], 1], ["tasks", [0, []], 1]]},
    ),
    ("streaming", 2, "PS509", {"inputs": {"tasks": [[1, []]]}}),
    ("streaming", 2, "PS509", {"inputs": {"tasks": [[2, []], [0, []]]}, "messages": [["tasks", [0, []], -1]]}),
    ("streaming", 8, "PS509", {"inputs": {"tasks": [[9, []]]}}),
    ("streaming", 2, "PS508", {"delivered": [["merge", [0, []]]]}),
    ("streaming", 2, "PS507", {"delivered": [["merge", [2, []]]]}),
    ("several", 3, "PS503", {"messages": [["odd_in->odd_out", [], 1]]}),
    ("several", 3, "PS503", {"messages": [["even_in->even_out", ["ask_odd"], 1]]}),
    ("several", 3, "PS503", {"requests": [["odd_in", ["ask_even"]]]}),
    ("several", 3, "PS502", {"requests": [["ask_odd", []]]}),
    ("several", 4, "PS506", {"messages": [["even_in->even_out", [], 1]]}),
    ("several", 4, "PS506", {"messages": [["odd_in->ask_even", ["ask_odd"], 1]]}),
    ("several", 4, "PS505", {"messages": [["odd_in->odd_out", ["ask_odd"], -2]]}),
    ("several", 4, "PS508", {"delivered": [["even_out", []]]}),
]


def same(answer: Any, expected: Any) -> bool:
    """Whether two answers say the same; those who block a request are in no order."""
    answers = ({**each, "by": sorted(each.get("by", ()), key=str)} for each in (answer, expected))
    return next(answers) == next(answers)


def check(session: TrackSession) -> None:
    """Every invariant, judged by the definitions."""
    session.tracker._check()


def begun(scene: Scene, count: int) -> TrackSession:
    session = TrackSession(from_data(scene.graph))
    for line, answer in scene.lines[:count]:
        assert same(told(session, line)[0], answer), line
    return session


@pytest.mark.parametrize("name", SCENES)
def test_a_session_worked_out_by_hand(name: str) -> None:
    session = begun(SCENES[name], len(SCENES[name].lines))
    assert session.tracker.pending() == ()
    check(session)


@pytest.mark.parametrize(("name", "count", "code", "line"), REFUSED, ids=lambda part: json.dumps(part)[:60])
def test_what_is_refused_leaves_no_trace(name: str, count: int, code: str, line: Any) -> None:
    scene = SCENES[name]
    session = begun(scene, count)
    before = session.tracker.snapshot()
    assert code_of(told(session, line)[0]) == code
    assert session.tracker.snapshot() == before
    check(session)
    for later, answer in scene.lines[count:]:
        assert same(told(session, later)[0], answer), later


@pytest.mark.parametrize("name", SCENES)
def test_all_that_is_refused_together_leaves_no_trace(name: str) -> None:
    scene = SCENES[name]
    session = TrackSession(from_data(scene.graph))
    for count in range(len(scene.lines) + 1):
        for other, after, code, line in REFUSED:
            if (other, after) == (name, count):
                assert code_of(told(session, line)[0]) == code
        if count < len(scene.lines):
            assert same(told(session, scene.lines[count][0])[0], scene.lines[count][1])


def test_each_kind_of_refusal_occurs() -> None:
    assert {code for _, _, code, _ in REFUSED} == {f"PS5{number:02}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}


@pytest.mark.parametrize("name", SCENES)
def test_a_session_goes_on_from_a_snapshot(name: str) -> None:
    scene = SCENES[name]
    graph = from_data(scene.graph)
    for count in range(1, len(scene.lines)):
        taken = json.loads(json.dumps(begun(scene, count).tracker.snapshot()))
        session = begun(scene, count)
        session._tracker = Tracker.restore(graph, taken)
        session.graph = graph
        for line, answer in scene.lines[count:]:
            assert same(told(session, line)[0], answer), (count, line)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("messages", [["split->left", ["up"], 1]]),
        ("messages", [["left", [], 1]]),
        ("messages", [["split->left", [], 0]]),
        ("messages", [["split->left", [], -1]]),
        ("requests", [["merge", 3]]),
        ("reported", [["merge", []]]),
        ("inputs", {"tasks": [[]]}),
    ],
)
def test_what_is_no_snapshot_of_this_graph_is_refused(part: str, value: Any) -> None:
    taken = begun(CALLING, 4).tracker.snapshot()
    with pytest.raises(PointstampError) as caught:
        Tracker.restore(from_data(TWO), {**taken, part: value})
    assert caught.value.code in ("PS511", "PS502", "PS503", "PS504")


# --- what is told -----------------------------------------------------------------------------------------------------


def test_hints_say_what_a_stack_is_and_what_a_call_is() -> None:
    session = begun(CALLING, 4)
    answers = told(
        session,
        {"messages": [["split->left", ["up"], 1]]},
        {"messages": [["left", [], 1]]},
        {"requests": [["split", []]]},
        {"requests": [["entry", []]]},
    )
    assert [answer["error"]["hint"] for answer in answers] == [
        "a list of calls, outermost first: 'left', 'right'",
        "it is a call: 'call-left' is where it begins, 'ret-left' where it returns",
        'a time at or after ["right"], ["left"]',
        'a time at or after ["right"], ["left"]',
    ]
    assert answers[0]["error"]["message"] == "[\"up\"] is not a time at 'split->left'"
    (answer,) = told(
        session,
        {"messages": [["merge->exit", ["left"], 1], ["exit->ret-left", ["left"], 1], ["call-left->entry", [], 1]]},
    )
    assert answer["error"]["hint"]
    (answer,) = told(begun(SEVERAL_GRAPHS, 3), {"requests": [["odd_in", []]]})
    assert answer["error"]["hint"].endswith("it has to lead into 'odd'")


def test_a_deep_session_is_told_line_by_line() -> None:
    session = TrackSession(from_data(TWO))
    told(session, {"start": {"requests": [["entry", []]]}})
    told(session, {"delivered": [["entry", []]], "messages": [["entry->split", [], 1]]})
    stack: list[str] = []
    for number in range(300):
        side = "left" if number % 3 else "right"
        inner = [*stack, side]
        answers = told(
            session,
            {"messages": [["entry->split", stack, -1], [f"split->{side}", stack, 1]], "requests": [["merge", stack]]},
            {"messages": [[f"split->{side}", stack, -1], [f"call-{side}->entry", inner, 1]]},
            {"messages": [[f"call-{side}->entry", inner, -1], ["entry->split", inner, 1]]},
        )
        assert answers == [{"ready": []}] * 3
        stack = inner
    (answer,) = told(session, {"messages": [["entry->split", stack, -1]], "show": {"frontiers": ["merge", "entry"]}})
    while stack:
        inner = stack = stack[:-1]
        assert answer == {"ready": [["merge", inner]], "frontiers": {"merge": [inner], "entry": []}}
        (answer,) = told(session, {"delivered": [["merge", inner]], "show": {"frontiers": ["merge", "entry"]}})
    assert answer == {"ready": [], "frontiers": {"merge": [], "entry": []}}


# --- recording and replaying ------------------------------------------------------------------------------------------


class Play:
    """A folder with the graph of a scene, and the command."""

    def __init__(self, scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys, self.monkeypatch = capsys, monkeypatch
        Path("graph.json").write_text(json.dumps(scene.graph))

    def __call__(self, *arguments: str, lines: list[Any] | None = None) -> tuple[int, str]:
        text = "".join(json.dumps(line) + "\n" for line in lines or ())
        self.monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text.encode())))
        output = BytesIO()
        self.monkeypatch.setattr(sys, "stdout", TextIOWrapper(output, "utf-8", write_through=True))
        code = main(list(arguments))
        sys.stdout.flush()
        return code, output.getvalue().decode()


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda scene: Play(scene, capsys, monkeypatch)


@pytest.mark.parametrize("name", SCENES)
def test_a_recorded_session_is_replayed_alike(play: Any, name: str) -> None:
    scene = SCENES[name]
    run = play(scene)
    lines: list[Any] = []
    for count, (line, _) in enumerate(scene.lines):
        lines.append(line)
        lines += [bad for other, after, _, bad in REFUSED if (other, after) == (name, count + 1)]
    code, out = run("track", "graph.json", "--record", "trace.jsonl", lines=lines)
    answers = [json.loads(line) for line in out.splitlines()]
    assert (code, len(answers)) == (0, len(lines))
    code, out = run("replay", "graph.json", "trace.jsonl", "--format", "json")
    found = json.loads(out)
    assert (code, found["compared"], found["difference"]) == (0, len(lines), None)
    session = TrackSession(from_data(scene.graph))
    for number, line in enumerate(lines, 1):
        session.answer_or_refuse(json.loads(json.dumps(line)))
        code, out = run("replay", "graph.json", "trace.jsonl", "--at", str(number), "--format", "json")
        found = json.loads(out)
        assert (code, found["out"]) == (0, answers[number - 1])
        taken = session.tracker.snapshot()
        assert found["state"]["messages"] == json.loads(json.dumps(taken["messages"]))
        assert found["state"]["inputs"] == json.loads(json.dumps(taken["inputs"]))
        shown = told(session, {"show": {"frontiers": list(session.graph.locations()), "eligible": True}})[0]
        assert found["state"]["frontiers"] == shown["frontiers"]
        assert found["state"]["eligible"] == shown["eligible"]
        code, out = run("replay", "graph.json", "trace.jsonl", "--at", str(number))
        assert code == 0
        assert ("no earliest times" in out) is (None in shown["frontiers"].values())


def test_the_state_with_locations_that_have_no_earliest_times(play: Any) -> None:
    run = play(CALLING)
    Path("trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line, _ in CALLING.lines))
    options = [
        "--at",
        "5",
        "--why",
        "merge=[]",
        "--holding",
        "split",
        "--holding",
        "merge",
        "--holding",
        "exit->ret-left",
    ]
    code, out = run("replay", "graph.json", "trace.jsonl", *options)
    assert code == 0
    for part in (
        "  merge              no earliest times\n",
        '  split              ["right"], ["left"]\n',
        "  left->merge        no earliest times\n",
        '  call-left->entry ["left"]  1\n',
        '  merge ["left", "left"]  waits\n',
        "Why merge [] waits\n",
        "Who holds merge: no earliest times\n",
        'Who holds split\n  at ["right"]\n    message split->right []: split->right [] -> call-right [] -> ',
    ):
        assert part in out, out
    code, out = run("replay", "graph.json", "trace.jsonl", *options, "--format", "json")
    found = json.loads(out)
    assert found["state"]["frontiers"]["merge"] is None
    held = {entry["location"]: entry["held"] for entry in found["holding"]}
    assert (held["merge"], held["exit->ret-left"]) == (None, None)
    assert [entry["time"] for entry in held["split"]] == [R, L]


def test_replay_names_what_is_no_location(play: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run = play(CALLING)
    Path("trace.jsonl").write_text("{}\n")
    for option in (["--why", "left=[]"], ["--holding", "left"], ["--why", "split->left=[]"], ["--why", 'merge=["up"]']):
        assert run("replay", "graph.json", "trace.jsonl", *option)[0] == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.isprintable()
