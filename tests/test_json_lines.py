"""Files of JSON lines as sources and sinks of a dataflow in Python."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from graphs import Graph, JsonLines
from progress import PointstampError
from progress.runtime import Batch, Dataflow, Out
from progress.runtime.policies import explicit

ENGINES = ("sim", "threads", "asyncio")
engines = pytest.mark.parametrize("engine", ENGINES)


class Total(Batch):
    """Adds up a time."""

    def on_batch(self, time: int, messages: dict[str, list[int]], out: Out) -> None:
        out.send("totals", time, sum(sum(values) for values in messages.values()))


def totals() -> Dataflow:
    graph = Graph().node("total").edge(None, "total", "amounts").edge("total", None, "totals")
    return Dataflow(graph, {"total": Total()})


def written(path: Path, *lines: Mapping[str, object]) -> JsonLines:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return JsonLines(path)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


AMOUNTS = (
    {"time": 0, "value": 5},
    {"time": 1, "value": 1},
    {"time": 0, "value": 7},
    {"complete": [1]},
    {"time": 0, "value": 9},
)


@engines
def test_a_file_comes_in_and_a_file_leaves(engine: str, tmp_path: Path) -> None:
    source = written(tmp_path / "amounts.jsonl", *AMOUNTS)
    late: list[object] = []
    for _ in range(2):  # each run reads it from its beginning, and writes it anew
        results = totals().run(
            engine=engine, sources={"amounts": source}, sinks={"totals": JsonLines(tmp_path / "out"), "late": late}
        )
        assert results == {}
        lines = read(tmp_path / "out")
        assert [line for line in lines if "value" in line] == [{"time": 0, "value": 12}, {"time": 1, "value": 1}]
        assert lines[-1] == {"complete": []}
    assert late == [(0, 9), (0, 9)]


@engines
def test_late_lines_have_a_file_as_well(engine: str, tmp_path: Path) -> None:
    source = written(tmp_path / "amounts.jsonl", *AMOUNTS)
    totals().run(engine=engine, sources={"amounts": source}, sinks={"late": JsonLines(tmp_path / "late")})
    assert read(tmp_path / "late") == [{"time": 0, "value": 9}]


@engines
def test_a_policy_reads_a_file(engine: str, tmp_path: Path) -> None:
    source = explicit(written(tmp_path / "amounts.jsonl", *AMOUNTS), late="too late")
    results = totals().run(engine=engine, sources={"amounts": source})
    assert results == {"totals": [(0, 12), (1, 1)], "too late": [(0, 9)]}


@engines
def test_a_bad_line_is_named_and_what_left_is_whole(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "amounts.jsonl"
    path.write_text('{"time": 0, "value": 1}\n{"complete": [1]}\n{"time": "x", "value": 2}\n', encoding="utf-8")
    with pytest.raises(PointstampError) as caught:
        totals().run(engine=engine, sources={"amounts": JsonLines(path)}, sinks={"totals": JsonLines(tmp_path / "out")})
    assert caught.value.code == "PS731"
    assert str(caught.value).startswith(f"{path}:3: PS731: ")
    assert read(tmp_path / "out") in ([], [{"time": 0, "value": 1}], [{"time": 0, "value": 1}, {"complete": [1]}])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PointstampError, match="no such file") as caught:
        totals().run(sources={"amounts": JsonLines(tmp_path / "nowhere")})
    assert caught.value.code == "PS001"


@engines
def test_a_pipe_is_read_as_it_fills(engine: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came: list[object] = []
    has_come = threading.Event()

    def write() -> None:
        with pipe.open("w", encoding="utf-8") as stream:
            stream.write('{"time": 0, "value": 1}\n{"complete": [1]}\n')
            stream.flush()
            assert has_come.wait(30)  # the result leaves while the pipe is open
            stream.write('{"time": 1, "value": 2}\n')

    def take(time: object, value: object) -> None:
        came.append((time, value))
        has_come.set()

    writer = threading.Thread(target=write)
    writer.start()
    totals().run(engine=engine, sources={"amounts": JsonLines(pipe)}, sinks={"totals": take}, timeout=60)
    writer.join()
    assert came == [(0, 1), (1, 2)]


def test_nothing_stays_open(tmp_path: Path) -> None:
    source = written(tmp_path / "amounts.jsonl", *AMOUNTS)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        totals().run(sources={"amounts": source}, sinks={"totals": JsonLines(tmp_path / "out")})
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208
