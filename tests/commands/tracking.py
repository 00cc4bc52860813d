"""What tests of `pointstamp track` share: small graphs, lines that are refused, and sessions that go on and on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from graphs.sessions.track import TrackSession

LOOP: dict[str, Any] = {
    "pointstamp": 1,
    "nodes": {"body": {}, "feedback": {"summary": {"advance": 1}, "notify": False}},
    "edges": [
        {"id": "input", "to": "body"},
        {"id": "out", "from": "body", "to": "feedback"},
        {"id": "back", "from": "feedback", "to": "body"},
        {"id": "result", "from": "body"},
    ],
}


FALLING = {
    "pointstamp": 1,
    "time": "int",
    "nodes": {"body": {}, "retry": {"summary": {"advance": -1}}},
    "edges": [
        {"id": "input", "to": "body"},
        {"from": "body", "to": "retry"},
        {"from": "retry", "to": "body"},
        {"id": "apart", "from": "body"},
    ],
}


def told(tracked: TrackSession, *lines: Any) -> list[Any]:
    """The answers to lines; bytes are sent as they are."""
    sent = (line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    return [json.loads(tracked.answer_line(line)) for line in sent]


def code_of(answer: Any) -> str:
    """The code of an answer that is an error and nothing else."""
    assert set(answer) == {"error"}, answer
    assert set(answer["error"]) == {"code", "message", "hint"}
    assert all(isinstance(text, str) and text for text in answer["error"].values())
    code: str = answer["error"]["code"]
    return code


def these(*values: Any) -> tuple[Any, ...]:
    """Values of all kinds."""
    return values


REFUSED: list[tuple[str, Any]] = [
    # the line
    ("PS501", b"\n"),
    ("PS501", b"   \n"),
    ("PS501", b"x\n"),
    ("PS501", b'{"messages": [\n'),
    ("PS501", b"3\n"),
    ("PS501", b"null\n"),
    ("PS501", b'"why"\n'),
    ("PS501", b"[]\n"),
    ("PS501", b'["why"]\n'),
    ("PS501", b"{} {}\n"),
    ("PS501", b"{}x\n"),
    ("PS501", b"\xff\xfe\n"),
    ("PS501", b'{"a": "\xff"}\n'),
    ("PS501", b'{"messages": [["input", NaN, 1]]}\n'),
    ("PS501", b'{"messages": [["input", Infinity, 1]]}\n'),
    ("PS501", b'{"messages": [["input", 0, -Infinity]]}\n'),
    ("PS501", b'{"messages": [], "messages": []}\n'),
    ("PS501", b'{"inputs": {"input": [1], "input": [2]}}\n'),
    ("PS501", b'{"show": {"eligible": true, "eligible": true}}\n'),
    ("PS501", b'{"start": {"inputs": {"input": [1], "input": [2]}}}\n'),
    ("PS501", b'{"messages": [["input", 00, 1]]}\n'),
    ("PS501", b'{"messages": [["input", 0, 1],]}\n'),
    ("PS501", b"{'messages': []}\n"),
    ("PS501", b'{"messages": [["input", ' + b"9" * 4_301 + b", 1]]}\n"),
    ("PS501", b'{"messages": [["input", 0, ' + b"9" * 100_000 + b"]]}\n"),
    ("PS501", {"step": {}}),
    ("PS501", {"": 1}),
    ("PS501", {"in": {}, "out": {}}),
    ("PS501", {"Messages": []}),
    # wrong types
    *(
        ("PS501", {key: wrong})
        for key in ("messages", "requests", "delivered")
        for wrong in these(None, 3, "x", {}, True)
    ),
    *(
        ("PS501", {key: [wrong]})
        for key in ("messages", "requests", "delivered")
        for wrong in these(None, 3, "ab", {}, [])
    ),
    *(("PS501", {key: {"body": 1}}) for key in ("messages", "requests", "delivered")),
    *(("PS501", {"inputs": wrong}) for wrong in these(None, 3, "x", [], True, ["input"])),
    *(("PS501", {"inputs": {"input": wrong}}) for wrong in these(None, 3, "x", {}, True)),
    ("PS501", {"inputs": {"input": [1], "nowhere": 3}}),
    ("PS501", {"messages": [["input", 0]]}),
    ("PS501", {"messages": [["input", 0, 1, 1]]}),
    ("PS501", {"messages": [{"input": 0, "time": 0, "change": 1}]}),
    *(("PS501", {"messages": [["input", 0, change]]}) for change in these(None, 1.0, "1", True, [1], {}, 0.5)),
    *(("PS501", {"messages": [[name, 0, 1]]}) for name in these(None, 3, 1.5, True, ["input"], {"input": 0})),
    *(("PS501", {key: [[name, 0]]}) for key in ("requests", "delivered") for name in these(None, 3, ["body"], {})),
    ("PS501", {"requests": [["body"]]}),
    ("PS501", {"requests": [["body", 0, 1]]}),
    ("PS501", {"requests": ["bo"]}),
    # show and why
    *(("PS501", {"show": wrong}) for wrong in these(None, 3, "x", [], True)),
    *(
        ("PS501", {"show": {"frontiers": wrong}})
        for wrong in these(None, 3, "back", {"back": 1}, True, [3], [["back"]], [{}])
    ),
    *(("PS501", {"show": {"eligible": wrong}}) for wrong in these(None, 3, "x", [], {})),
    ("PS501", {"show": {"frontier": ["back"]}}),
    ("PS502", {"show": {"frontiers": ["back", "bak"]}}),
    *(
        ("PS501", {"why": wrong})
        for wrong in these(None, 3, "x", [], {}, ["body"], ["body", 0, 0], [3, 0], {"body": 0})
    ),
    ("PS501", {"why": ["body", 0], "show": {}}),
    ("PS501", {"why": ["body", 0], "messages": []}),
    ("PS502", {"why": ["bodi", 0]}),
    ("PS503", {"why": ["body", -1]}),
    ("PS503", {"why": ["body", [0]]}),
    ("PS504", {"why": ["back", 0]}),
    # places and times
    ("PS502", {"messages": [["inptu", 0, 1]]}),
    ("PS502", {"requests": [["", 0]]}),
    ("PS502", {"delivered": [["\x1b[31m", 0]]}),
    ("PS502", {"inputs": {"inptu": []}}),
    ("PS502", b'{"messages": [["\\ud800", 0, 1]]}\n'),
    *(
        ("PS503", {"messages": [["input", time, 1]]})
        for time in these(
            -1, 1.0, "0", None, True, [], [0], [[0]], {}, {"left": 0}, {"a": 1, "b": 2}, [{}], {"x": [[{}]]}
        )
    ),
    ("PS503", b'{"messages": [["input", 1e999, 1]]}\n'),
    ("PS503", {"requests": [["body", {"a": []}]]}),
    ("PS503", {"delivered": [["body", [[]]]]}),
    ("PS503", {"inputs": {"input": [3, "4"]}}),
    ("PS504", {"messages": [["body", 0, 1]]}),
    ("PS504", {"requests": [["back", 0]]}),
    ("PS504", {"delivered": [["input", 0]]}),
    ("PS504", {"inputs": {"back": [5]}}),
    ("PS504", {"inputs": {"body": []}}),
    # the law
    ("PS505", {"messages": [["out", 5, -2]]}),
    ("PS505", {"messages": [["out", 5, -1], ["out", 5, -1]]}),
    ("PS505", {"messages": [["out", 4, -1]]}),
    ("PS506", {"messages": [["out", 2, 1]]}),
    ("PS506", {"messages": [["input", 2, 1]]}),
    ("PS506", {"requests": [["body", 2]]}),
    ("PS507", {"delivered": [["body", 7]]}),
    ("PS507", {"delivered": [["body", 3], ["body", 3]]}),
    ("PS508", {"delivered": [["body", 9]]}),
    ("PS509", {"inputs": {"input": [5]}}),
    ("PS509", {"inputs": {"input": [8, 5]}}),
    ("PS510", {"start": {}}),
    ("PS510", {"start": {"inputs": {"input": [9]}}, "messages": []}),
]


# What the session of the next test looks like before and after: a message at 5, one request ready, one waiting.
BEFORE = [
    {"start": {"inputs": {"input": [3]}, "requests": [["body", 3], ["body", 9]]}},
    {"messages": [["out", 5, 1]], "inputs": {"input": [6]}},
]


def rounds(count: int, lines_a_round: int = 4) -> Iterator[bytes]:
    """A session that goes on and on: messages through the loop, requests, deliveries, an input that moves."""
    yield b'{"messages": [["input", 0, 1]]}\n'
    for number in range(count // lines_a_round):
        here, after = number, number + 1
        yield b'{"messages": [["input", %d, -1], ["out", %d, 1]], "requests": [["body", %d]]}\n' % (here, here, here)
        yield b'{"messages": [["out", %d, -1], ["back", %d, 1]]}\n' % (here, after)
        yield b'{"inputs": {"input": [%d]}, "messages": [["input", %d, 1]]}\n' % (after, after)
        yield b'{"messages": [["back", %d, -1]], "delivered": [["body", %d]]}\n' % (after, here)


def size_of(value: Any, seen: set[int] | None = None) -> int:
    """How many objects hang on a value, but for the graph."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, type | int | str | None):
        return 0
    seen.add(id(value))
    parts: list[Any] = []
    if isinstance(value, dict):
        parts = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif hasattr(value, "__dict__") or hasattr(value, "__slots__"):
        parts = list(getattr(value, "__dict__", {}).values())
        for cls in type(value).__mro__:
            parts += [getattr(value, name) for name in getattr(cls, "__slots__", ()) if hasattr(value, name)]
    return 1 + sum(size_of(part, seen) for part in parts)
