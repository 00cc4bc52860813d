"""A node or a sink fails in a kept run while others are being called: mended, it goes on behind what has left."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from progress.errors import PointstampError
from progress.runtime import Dataflow, Node, NodeFailed

GRAPH = from_edges([(None, "fails"), ("beside", "fails"), (None, "beside"), ("fails", None)])
SOURCES = {"in->fails": [(5, "x"), (6, "y")], "in->beside": [(3, "late")]}


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def check(path: Path, before: list[Any]) -> None:
    """Both values are there once, none behind what says that no more come, and nothing was taken back."""
    after = lines(path)
    assert after[: len(before)] == before
    assert [line["value"] for line in after if "value" in line] == ["x", "y"]
    for place, line in enumerate(after):
        assert "complete" not in line or all(
            other["time"] >= min(line["complete"], default=7) for other in after[place:] if "value" in other
        )


@pytest.mark.parametrize("fails_in", ["its node", "its sink"])
def test_no_frontier_passes_what_has_failed(tmp_path: Path, fails_in: str) -> None:
    """The call that is being made beside it would let it pass, and what failed comes again before that."""
    is_broken = True
    has_begun, has_failed = threading.Event(), threading.Event()

    class Fails(Node):
        def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            if is_broken:
                assert has_begun.wait(5)
                has_failed.set()
                if fails_in == "its node":
                    raise ValueError("it fails")
            out.send("fails->out", at, {value} if is_broken else value)  # a set is no JSON

    class Beside(Node):
        def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            has_begun.set()
            assert has_failed.wait(5)
            time.sleep(0.2)

    def run() -> None:
        flow = Dataflow(GRAPH, {"fails": Fails, "beside": Beside}, sources=SOURCES)
        sinks = {"fails->out": JsonLines(tmp_path / "out")}
        flow.run(sinks=sinks, state=tmp_path / "state", engine="threads", every=1000)

    for _ in range(2):
        with pytest.raises((NodeFailed, PointstampError), match="PS705" if fails_in == "its node" else "PS732"):
            run()
    before = lines(tmp_path / "out")
    is_broken = False
    run()
    check(tmp_path / "out", before)


def test_no_frontier_passes_what_has_failed_in_an_event_loop(tmp_path: Path) -> None:
    """Both calls go on at the same turn of the loop, first the one that fails."""
    is_broken, goes_on = True, asyncio.Event()

    class Fails(Node):
        async def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            if is_broken:
                await goes_on.wait()
                raise ValueError("it fails")
            out.send("fails->out", at, value)

    class Beside(Node):
        async def on_message(self, edge: str, at: Any, value: Any, out: Any) -> None:
            if is_broken:
                asyncio.get_running_loop().call_later(0.1, goes_on.set)
                await goes_on.wait()

    async def run() -> None:
        nonlocal goes_on
        goes_on = asyncio.Event()
        flow = Dataflow(GRAPH, {"fails": Fails, "beside": Beside}, sources=SOURCES)
        await flow.run_async(sinks={"fails->out": JsonLines(tmp_path / "out")}, state=tmp_path / "state", every=1000)

    with pytest.raises(NodeFailed):
        asyncio.run(run())
    before = lines(tmp_path / "out")
    is_broken = False
    asyncio.run(run())
    check(tmp_path / "out", before)
