"""What tests of `pointstamp ask` share: the loop of the specification, and a session with the command."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from graphs.command import main

LOOP: dict[str, Any] = {
    "pointstamp": 1,
    "time": "nat",
    "nodes": {"body": {}, "feedback": {"summary": {"advance": 1}, "notify": False}},
    "edges": [
        {"id": "input", "to": "body"},
        {"id": "out", "from": "body", "to": "feedback"},
        {"id": "back", "from": "feedback", "to": "body"},
        {"id": "result", "from": "body"},
    ],
}


class Session:
    """Asks a graph in this process."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], graph: Any
    ) -> None:
        self.file = folder / "graph.json"
        self.file.write_text(json.dumps(graph), "utf-8")
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def bytes(self, lines: bytes) -> list[dict[str, Any]]:
        """The answers to lines as they are sent."""
        self.monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(lines), "utf-8"))
        self.capsys.readouterr()
        exit_code = main(["ask", str(self.file)])
        output = self.capsys.readouterr()
        assert (exit_code, output.err) == (0, "")
        return [json.loads(line) for line in output.out.splitlines()]

    def __call__(self, *queries: Any) -> list[dict[str, Any]]:
        answers = self.bytes("".join(json.dumps(query) + "\n" for query in queries).encode())
        assert len(answers) == len(queries)
        return answers

    def one(self, query: Any) -> dict[str, Any]:
        """The answer to one query."""
        (answer,) = self(query)
        return answer

    def error(self, query: Any) -> str:
        """The code of an answer that is an error and nothing else."""
        answer = self.one(query)
        assert set(answer) == {"error"}, answer
        assert set(answer["error"]) == {"code", "message"}
        assert answer["error"]["message"]
        code: str = answer["error"]["code"]
        return code


@pytest.fixture(name="asked")
def fixture_of_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda graph: Session(tmp_path, monkeypatch, capsys, graph)
