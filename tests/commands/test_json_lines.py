"""Files of JSON lines as sources and sinks of a dataflow in Python."""

from __future__ import annotations

import gc
import io
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, JsonLines
from graphs.running.line_source import Lines
from progress import PointstampError
from progress.runtime import Batch, Dataflow, Out
from progress.runtime.policies import by_count, by_event_time, explicit, with_idleness

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


# --- files that are not JsonLines -------------------------------------------------------------------------------------

FILES: dict[str, Callable[[Path], object]] = {
    "path": lambda path: path,
    "text": str,
    "bytes": lambda path: str(path).encode(),
    "open file": lambda path: io.TextIOWrapper(io.BytesIO(path.read_bytes())),
}


@engines
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_no_source_and_the_hint_says_what_is(engine: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "amounts.jsonl"
    written(path, *AMOUNTS)
    with pytest.raises(PointstampError, match="the source of 'amounts' is a file, ") as caught:
        totals().run(engine=engine, sources={"amounts": FILES[kind](path)})  # type: ignore[dict-item]
    assert (caught.value.code, caught.value.hint.partition(";")[0]) == ("PS706", "pointstamp.JsonLines(path)")


@engines
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_no_sink_and_nothing_is_written(engine: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "totals.jsonl"
    path.write_text("before\n", encoding="utf-8")
    for sinks in ({"totals": FILES[kind](path)}, {"late": FILES[kind](path)}):
        with pytest.raises(PointstampError, match=r"the sink of '[a-z]*' is a file, ") as caught:
            totals().run(engine=engine, sources={"amounts": [(0, 5)]}, sinks=sinks)
        assert (caught.value.code, caught.value.hint.partition(";")[0]) == ("PS707", "pointstamp.JsonLines(path)")
    assert path.read_text(encoding="utf-8") == "before\n"


def test_a_path_within_a_policy_is_named_and_the_lines_of_an_open_file_are_values(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nb\n", encoding="utf-8")
    flow = Dataflow(Graph().node("strip").edge(None, "strip", "lines").edge("strip", None, "out"), {"strip": str.strip})
    with pytest.raises(PointstampError, match=r"pointstamp\.JsonLines\(path\)") as caught:
        flow.run(sources={"lines": by_count(path)})  # type: ignore[arg-type]
    assert caught.value.code == "PS706"
    with path.open(encoding="utf-8") as lines:
        assert flow.run(sources={"lines": by_count(lines)}) == {"out": [(0, "a"), (1, "b")]}


# --- a policy around a pipe -------------------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize("is_nested", [False, True], ids=["idleness", "idleness of event time"])
def test_a_pipe_that_falls_silent_holds_nothing_back(engine: str, is_nested: bool, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came: list[object] = []
    has_come = threading.Event()

    def write() -> None:
        with pipe.open("w", encoding="utf-8") as stream:
            stream.write('{"time": 3, "value": 5}\n{"time": 3, "value": 2}\n')
            stream.flush()
            assert has_come.wait(30)  # the result leaves while the pipe is open and silent
            stream.write('{"time": 3, "value": 1}\n{"time": 4, "value": 1}\n')

    def take(time: object, value: object) -> None:
        came.append((time, value))
        has_come.set()

    source: Any = JsonLines(pipe)
    if is_nested:
        source = by_event_time(source, lambda item: item[0], lateness=1, value=lambda item: item[1])
    late: list[object] = []
    writer = threading.Thread(target=write)
    writer.start()
    totals().run(
        engine=engine,
        sources={"amounts": with_idleness(source, after=0.2)},
        sinks={"totals": take, "late": late},
        timeout=60,
    )
    writer.join()
    assert came == [(3, 7), (4, 1)]
    assert late == [(3, 1)]


@engines
def test_the_silence_of_a_pipe_is_one_of_seconds_in_every_engine(engine: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("w", encoding="utf-8") as stream:
            stream.write('{"time": 3, "value": 5}\n')
            stream.flush()
            time.sleep(0.5)
            stream.write('{"time": 3, "value": 1}\n')

    writer = threading.Thread(target=write)
    writer.start()
    results = totals().run(engine=engine, sources={"amounts": with_idleness(JsonLines(pipe), after=50)}, timeout=60)
    writer.join()
    assert results == {"totals": [(3, 6)]}


@engines
def test_waiting_for_a_pipe_within_a_policy_takes_no_processor(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at now and then, and not as often as can be."""
    looks = 0
    fill = Lines._fill

    def counted(lines: Lines) -> bool:
        nonlocal looks
        looks += 1
        return fill(lines)

    monkeypatch.setattr(Lines, "_fill", counted)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with_writer = os.open(pipe, os.O_RDWR)  # it is open, and nothing comes
    try:
        for policy in (explicit(JsonLines(pipe)), with_idleness(JsonLines(pipe), after=60)):
            with pytest.raises(PointstampError, match="PS713"):
                totals().run(engine=engine, sources={"amounts": policy}, timeout=0.7)
    finally:
        os.close(with_writer)
    assert 0 < looks < 100
    for thread in threading.enumerate():
        if thread.name.startswith("source"):
            thread.join(30)  # none waits any longer for what nobody wants
            assert not thread.is_alive()
