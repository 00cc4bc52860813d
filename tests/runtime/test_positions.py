"""Where sources of one's own stood when a checkpoint was taken, and whether they have more when their end was read."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from progress.errors import PointstampError
from progress.runtime import Dataflow
from progress.runtime.control import Control
from progress.runtime.durable.store import Store
from progress.runtime.source_failure import SourceFailed

GRAPH = from_edges([(None, "n"), ("n", None)])
MANY = 400


class Parts:
    """A source with one part; it says its position by a dict that it goes on changing."""

    has_more: Callable[[str, Any, Any], bool]

    def items_for(self, engine: str, edge: str, domain: Any) -> Items:
        return Items(0)

    def items_from(self, engine: str, edge: str, domain: Any, position: Any) -> Items:
        return Items((position or {}).get("0", 0))


class Items:
    goes_on = True
    place = "part 0"

    def __init__(self, begin: int) -> None:
        self.position = {"0": begin}
        self._items = iter(range(begin, MANY))
        self._turns: list[tuple[int, int]] = []

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        sleep(0.0005)
        return 0, next(self._items)

    def digested(self, count: int) -> None:
        self.position["0"] += count
        self._turns.append((0, count))

    def turns(self) -> list[tuple[int, int]]:
        turns, self._turns = self._turns, []
        return turns

    def follow(self, turns: Any) -> None:
        """There is one part alone."""


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_checkpoint_has_the_position_of_its_border(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not the one of the instant at which it is written: what is between would be lost."""
    seen: list[tuple[Any, Any]] = []

    def commit(store: Store, known: Any, *more: Any) -> Any:
        before = dict(known["parts"]["in->n"])
        sleep(0.02)
        seen.append((before, known["parts"]["in->n"]))
        return as_it_is(store, known, *more)

    as_it_is = Store.commit
    monkeypatch.setattr(Store, "commit", commit)
    source: Any = Parts()
    Dataflow(GRAPH).run(engine=engine, sources={"in->n": source}, state=tmp_path / "state", every=0)
    assert seen[-1] == ({"0": MANY}, {"0": MANY})
    assert all(before == then for before, then in seen)
    assert any(0 < before["0"] < MANY for before, _ in seen)


def test_a_file_that_has_grown_since_its_end_was_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"time": 0, "value": 1}\n')

    def run() -> Any:
        return Dataflow(GRAPH, sources={"in->n": JsonLines(file)}).run(state=tmp_path / "state")

    assert run() == {"n->out": [(0, 1)]}
    run()
    with file.open("a") as more:
        more.write('{"time": 0, "value": 2}\n')
    with pytest.raises(PointstampError, match=r"PS736: .* has read .*in\.jsonl to its end, and it has grown since"):
        run()


@pytest.mark.parametrize("error", [OSError("away"), StopIteration("away"), queue.Empty("away")])
def test_what_a_source_raises_when_it_is_asked_for_more_is_told_with_its_edge(tmp_path: Path, error: Exception) -> None:
    source: Any = Parts()

    def run() -> Any:
        return Dataflow(GRAPH, sources={"in->n": source}).run(state=tmp_path / "state", timeout=30)

    def fails(*asked: Any) -> bool:
        raise error

    run()
    source.has_more = lambda edge, domain, position: position != {"0": MANY}
    run()
    source.has_more = fails
    with pytest.raises(SourceFailed, match=r"'in->n'.*away"):
        run()


def test_a_call_beside_is_left_behind_when_the_run_has_to_stop() -> None:
    answer = threading.Event()
    with pytest.raises(PointstampError, match="PS713"):
        Control(0.05).beside(partial(answer.wait, 60))
    answer.set()


def test_sources_that_are_no_mapping_are_refused_where_the_run_is_kept(tmp_path: Path) -> None:
    sources: Any = ["in->n"]
    with pytest.raises(PointstampError, match="PS715: the sources are"):
        Dataflow(GRAPH).run(sources=sources, state=tmp_path / "state")


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_what_has_to_stop_before_it_begins_does_nothing(tmp_path: Path, engine: str) -> None:
    """However little there is to do: a run of one value is over before anybody looks."""
    stops = threading.Event()
    stops.set()
    told: list[Any] = []
    flow = Dataflow(GRAPH, {"n": told.append}, sources={"in->n": [(0, 1)]})
    with pytest.raises(PointstampError, match="PS712"):
        flow.run(engine=engine, cancel=stops)
    with pytest.raises(PointstampError, match="PS712"):
        flow.run(engine=engine, cancel=stops, state=tmp_path / "state")
    assert not told
    flow.run(engine=engine, state=tmp_path / "state")
    assert told == [1]
