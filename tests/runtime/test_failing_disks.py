"""A disk or a copy fails in a kept run while other things are under way: when it goes on, all is there, and once."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from progress.errors import PointstampError
from progress.runtime import Dataflow, DeadLetter, Node
from progress.runtime.durable.order import OrderFile
from progress.runtime.durable.order_log import OrderLog

GRAPH = from_edges([(None, "sums"), ("sums", None)]).edge(None, "sums", "beside")
MANY = 60


class Sums(Node):
    """What it sends depends on all that came before, in its order."""

    def __init__(self) -> None:
        self.sum = 0

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        self.sum += value["value"]
        out.send("sums->out", time, [edge, value["value"], self.sum])


def blocking() -> Iterator[tuple[int, Any]]:
    """A thread reads it on some engines, and whoever stops the run waits for it."""
    for number in range(3):
        yield 0, {"value": number}
        time.sleep(0.2)


def beside() -> Iterator[tuple[int, Any]]:
    """There is something to keep all the time."""
    for number in range(MANY):
        yield 0, {"value": number}
        time.sleep(0.01)


class Uncopied(dict[str, Any]):
    def __deepcopy__(self, memo: Any) -> Any:
        raise ValueError("it cannot be copied")


def run(folder: Path, engine: str, source: Any = blocking, **options: Any) -> None:
    flow = Dataflow(GRAPH, {"sums": Sums}, sources={"in->sums": source, "beside": beside}, **options)
    sinks = {"sums->out": JsonLines(folder / "out.jsonl")}
    flow.run(sinks=sinks, state=folder / "state", every=0.001, engine=engine)


def check(folder: Path) -> None:
    """All that came has left once, in an order in which each sum follows from the one before."""
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    found = [line["value"] for line in lines if "value" in line]
    for edge, many in (("in->sums", 3), ("beside", MANY)):
        assert [value for each, value, _ in found if each == edge] == [*range(many)]
    assert [total for _, _, total in found] == [sum(value for _, value, _ in found[: n + 1]) for n in range(len(found))]


@pytest.mark.parametrize("written", ["nothing of it", "half of it"])
@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_what_could_not_be_written_down_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, written: str
) -> None:
    """The order of things is written before their effects: where that fails once, nothing more happens."""
    write, fails = OrderFile.write, True

    def failing(file: OrderFile, content: bytes) -> None:
        nonlocal fails
        if fails and b"in->sums" in content:
            fails = False
            if written == "half of it":
                write(file, content[: len(content) // 2])
            raise OSError(errno.EIO, "input/output error")
        write(file, content)

    monkeypatch.setattr(OrderFile, "write", failing)
    with pytest.raises(PointstampError, match=r"PS740.*cannot write"):
        run(tmp_path, engine)
    assert not fails
    run(tmp_path, engine)
    check(tmp_path)


@pytest.mark.parametrize("of", ["write", "sync"])
def test_nothing_is_written_behind_what_could_not_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    """Calls that are being made meanwhile come to their end, and are not entered."""
    log = OrderLog(tmp_path, 0, is_read=False, synced=True)
    log.write(b"one")
    log.sync()
    whole, fails = getattr(OrderFile, of), True

    def failing(file: OrderFile, *content: bytes) -> None:
        nonlocal fails
        if fails:
            fails = False
            raise OSError(errno.EIO, "input/output error")
        whole(file, *content)

    monkeypatch.setattr(OrderFile, of, failing)

    def written() -> None:
        log.write(b"two")
        log.sync()

    for _ in range(3):
        with pytest.raises(PointstampError, match=r"PS740.*cannot write"):
            written()
    log.close()
    assert (tmp_path / "order.0").read_bytes() == (b"one" if of == "write" else b"onetwo")


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_what_could_not_be_copied_comes_again(tmp_path: Path, engine: str) -> None:
    def source() -> Iterator[tuple[int, Any]]:
        for time_, value in blocking():
            yield time_, Uncopied(value) if value["value"] == 1 else value

    with pytest.raises(ValueError, match="cannot be copied"):
        run(tmp_path, engine, source, copies=True)
    run(tmp_path, engine, copies=True)
    check(tmp_path)


def test_nothing_is_put_behind_a_line_that_could_not_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes have their dead letters in one file: where one cannot be written, that of a call under way is not."""
    write, fails = os.write, True
    first_has_failed = threading.Event()

    def failing(handle: int, content: bytes) -> int:
        nonlocal fails
        if fails and b"failed" in bytes(content) and (tmp_path / "dead.jsonl").samefile(f"/dev/fd/{handle}"):
            fails = False
            first_has_failed.set()
            raise OSError(errno.EIO, "input/output error")
        return write(handle, content)

    def fails_at_once(value: int) -> None:
        raise ValueError(f"{value} has failed")

    def fails_later(value: int) -> None:
        assert first_has_failed.wait(5)
        time.sleep(0.1)
        raise ValueError(f"{value} has failed later")

    graph = from_edges([(None, "first"), ("first", None), (None, "second"), ("second", None)])
    flow = Dataflow(
        graph,
        {"first": fails_at_once, "second": fails_later},
        sources={"in->first": [(0, 1)], "in->second": [(0, 2)]},
        on_error={"*": DeadLetter("dead")},
    )

    def run() -> None:
        flow.run(sinks={"dead": JsonLines(tmp_path / "dead.jsonl")}, state=tmp_path / "state", engine="threads")

    monkeypatch.setattr("graphs.running.line_sink.os.write", failing)
    with pytest.raises(PointstampError, match=r"PS740.*cannot write"):
        run()
    assert not fails
    run()
    said = (tmp_path / "dead.jsonl").read_text()
    assert [said.count(f"{value} has failed") for value in (1, 2)] == [1, 1]


@pytest.mark.parametrize("delivery", ["deterministic", "barrier"])
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_what_a_reader_has_seen_when_the_disk_was_full_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, delivery: str
) -> None:
    """Of several lines that are written at once there is room for some, and for half of another one."""
    write, out, seen = os.write, tmp_path / "out.jsonl", ""

    def failing(handle: int, content: bytes) -> int:
        nonlocal seen
        if bytes(content).count(b"value") > 1 and out.samefile(f"/dev/fd/{handle}"):
            if seen:
                raise OSError(errno.ENOSPC, "no space left on device")
            done = write(handle, bytes(content)[: len(content) // 2])
            seen = out.read_text()
            return done
        return write(handle, content)

    class Many(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            out.send_all("sums->out", time, [f"{value} {number}" for number in range(100)])

    def run() -> None:
        flow = Dataflow(from_edges([(None, "sums"), ("sums", None)]), {"sums": Many})
        source = [(number, number) for number in range(3)]
        sinks = {"sums->out": JsonLines(out)}
        state = tmp_path / "state"
        flow.run(sources={"in->sums": source}, sinks=sinks, state=state, engine=engine, delivery=delivery, every=1000)

    monkeypatch.setattr("graphs.running.line_sink.os.write", failing)
    with pytest.raises(PointstampError, match=r"PS740.*cannot write"):
        run()
    assert seen.count("\n") > 1
    assert out.read_text().startswith(seen)
    monkeypatch.undo()
    run()
    said = out.read_text()
    assert said.startswith(seen)
    found = [line["value"] for line in map(json.loads, said.splitlines()) if "value" in line]
    assert found == [f"{value} {number}" for value in range(3) for number in range(100)]
