"""What tests of recursion share: small graphs with calls, and where in a text a part begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphs.files.document import parse, plain
from tests.files.hostile_calls import CALLS, GRAPHS

TWO: Any = plain(parse(CALLS.encode()))
SEVERAL: Any = plain(parse(GRAPHS.encode()))
STREAM = {
    **TWO,
    "time": {"product": ["nat", "stack"]},
    "edges": [*TWO["edges"], {"id": "tasks", "to": "entry"}, {"id": "results", "from": "exit"}],
}
PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "recursion"
FOLLOWS_ITSELF = CALLS + "  - {from: merge, to: split}\n"
COUNTEREXAMPLE: dict[str, Any] = {
    "pointstamp": 1,
    "recursion": {"in": "entry", "out": "exit", "calls": ["c", "d", "e"]},
    "nodes": {"entry": {}, "x": {}, "c": {}, "d": {}, "e": {}, "exit": {}},
    "edges": [
        {"from": source, "to": target}
        for source, target in (
            *(("entry", "x"), ("x", "c"), ("c", "x"), ("x", "exit"), ("entry", "d"), ("d", "exit")),
            *(("entry", "e"), ("e", "exit"), ("entry", "exit")),
        )
    ],
}


def placed(text: str, part: str) -> tuple[int, int]:
    """Line and column at which a part of a text first begins."""
    offset = text.index(part)
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def chain(recursion: Any, *ways: str) -> dict[str, Any]:
    """A graph from ways written like `in x out`."""
    pairs = dict.fromkeys(pair for way in ways for pair in zip(way.split()[:-1], way.split()[1:], strict=True))
    nodes: dict[str, Any] = {node: {} for way in ways for node in way.split()}
    edges = [{"from": source, "to": target} for source, target in pairs]
    return {"pointstamp": 1, "recursion": recursion, "nodes": nodes, "edges": edges}
