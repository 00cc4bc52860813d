"""Nodes that take their messages in order do the same on every engine, for every seed, whatever comes first."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from graphs import Graph, JsonLines, from_text
from progress import Nat, Tracker
from progress.errors import PointstampError
from progress.runtime import SILENT, Complete, Dataflow, DeadLetter, Node
from progress.runtime.control import Cancelled
from tests.runtime.tools import killed

ENGINES: list[tuple[str, dict[str, Any]]] = [
    ("sim", {}),
    *(("sim", {"seed": seed}) for seed in range(6)),
    ("threads", {}),
    ("threads", {"workers": 1}),
    ("asyncio", {}),
]


class Chain(Node):
    """What it sends depends on all that came before, in its order."""

    ordered = True

    def __init__(self) -> None:
        self.link = 1

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        self.link = hash((self.link, len(edge), time, value)) % 1_000_003
        out.send("told", time, [edge, value, self.link])
        if value % 3 == 0:
            out.request(time)
        if value % 7 == 0:
            out.request(later(time))

    def on_notify(self, time: Any, out: Any) -> None:
        self.link = hash((self.link, time)) % 1_000_003
        out.send("told", time, ["notified", self.link])


def later(time: Any) -> Any:
    return time + 2 if isinstance(time, int) else (time[0], time[1] + 1)


def merging(time: Any = "nat") -> Graph:
    """Two inputs lead to a node, one of them by a detour."""
    graph = Graph(time=time).node("chain").node("detour")
    for edge, target in (("left", "chain"), ("right", "detour")):
        graph.edge(None, target, edge)
    return graph.edge("detour", "chain", "around").edge("chain", None, "told")


def mixed(rng: random.Random, times: Iterable[Any], first: int) -> list[Any]:
    """Values at these times, in any order in which none comes late."""
    items = [(time, first + number) for number, time in enumerate(each for time in times for each in [time] * 3)]
    rng.shuffle(items)
    return items


def told(dataflow: Dataflow, engine: str, options: dict[str, Any], **more: Any) -> list[Any]:
    found: list[Any] = dataflow.run(engine=engine, timeout=60, **options, **more)["told"]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_leaves_is_the_same_on_every_engine(seed: int) -> None:
    rng = random.Random(seed)
    left, right = mixed(rng, range(8), 0), mixed(rng, range(8), 100)
    flow = Dataflow(merging(), {"chain": Chain})
    found = [
        told(flow, engine, options, sources={"left": slowly(left, rng), "right": slowly(right, rng)})
        for engine, options in ENGINES
    ]
    assert len(found[0]) > 48
    assert all(each == found[0] for each in found)
    times = [time for time, _ in found[0]]
    assert times == sorted(times)
    first = [value[0] for time, value in found[0] if time == 0]
    assert first[:6] == ["around"] * 3 + ["left"] * 3 or first[:6] == ["left"] * 3 + ["around"] * 3


def slowly(items: list[Any], rng: random.Random) -> Callable[[], Iterator[Any]]:
    """A source that sometimes waits, and says now and then what is complete."""
    waits = [rng.random() < 0.2 for _ in items]

    def source() -> Iterator[Any]:
        for number, item in enumerate(items):
            if waits[number]:
                sleep(0.001)
            yield item

    return source


@pytest.mark.parametrize("seed", range(4))
def test_incomparable_times_are_in_one_order_too(seed: int) -> None:
    """Of pairs, nothing of epoch 1 is done while something of epoch 0 may come."""
    rng = random.Random(seed)
    times = [(epoch, number) for epoch in range(3) for number in range(4)]
    left, right = mixed(rng, times, 0), mixed(rng, times, 100)
    flow = Dataflow(merging({"product": ["nat", "nat"]}), {"chain": Chain})
    found = [told(flow, engine, options, sources={"left": left, "right": right}) for engine, options in ENGINES]
    assert len(found[0]) > 72
    assert all(each == found[0] for each in found)
    assert [time for time, _ in found[0]] == sorted(time for time, _ in found[0])


LOOP = b"""
pointstamp: 1
nodes:
  enter: {emits: {begin: enter}}
  step:  {time: {product: [nat, nat]}, emits: {told: leave}}
  again: {time: {product: [nat, nat]}, summary: feedback}
edges:
  - {id: in, to: enter}
  - {id: begin, from: enter, to: step}
  - {id: next, from: step, to: again}
  - {id: back, from: again, to: step}
  - {id: told, from: step}
"""


class Step(Node):
    def __init__(self) -> None:
        self.link = 1

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        self.link = hash((self.link, time, value)) % 1_000_003
        if time[1] < value % 5:
            out.send("next", time, value)
        else:
            out.send("told", time[0], [value, time[1], self.link])


@pytest.mark.parametrize("ways", [["in", "sum"], ["in"]])
def test_a_run_in_order_with_a_loop_whose_epochs_overlap(ways: list[str]) -> None:
    items = [(epoch, 10 * epoch + number) for epoch in range(5) for number in range(6)]
    flow = Dataflow(from_text(LOOP), {"step": Step}, ordered=True)
    found = [told(flow, engine, options, sources={"in": items}) for engine, options in ENGINES]
    assert len(found[0]) == 30
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("number", range(len(ENGINES)))
def test_the_recorded_steps_are_a_session(number: int) -> None:
    """A tracker of the same graph takes every step that was recorded."""
    engine, options = ENGINES[number]
    steps: list[Any] = []
    rng = random.Random(1)
    graph = merging()
    told(
        Dataflow(graph, {"chain": Chain}),
        engine,
        options,
        sources={"left": mixed(rng, range(5), 0), "right": mixed(rng, range(5), 100)},
        record=steps.append,
    )
    start, *rest = steps
    tracker = Tracker(graph, **start["start"])
    for step in rest:
        tracker.apply(**step)
    assert not tracker.is_active()


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@pytest.mark.parametrize("ordered", [False, True])
def test_killed_runs_go_on_with_the_same(tmp_path: Path, engine: str, ordered: bool) -> None:
    """Of a run all of whose nodes are ordered no order is written down, and what left before a kill comes again."""
    rng = random.Random(2)
    left, right = mixed(rng, range(12), 0), mixed(rng, range(12), 100)

    def flow(folder: Path, stop: int) -> Dataflow:
        def source(items: list[Any]) -> Callable[[], Iterator[Any]]:
            def items_of_it() -> Iterator[Any]:
                for number, item in enumerate(sorted(items)):
                    if number == stop:
                        os.kill(os.getpid(), signal.SIGKILL)
                    sleep(0.001)
                    if number % 3 == 0:
                        yield Complete([item[0]])
                    yield item

            return items_of_it

        sinks = {"told": JsonLines(folder / "out")}
        sources = {"left": source(left), "right": source(right)}
        return Dataflow(merging(), {"chain": Chain}, sources=sources, sinks=sinks, ordered=ordered)

    def lived(folder: Path, *stops: int) -> list[Any]:
        before = ""
        for stop in (*stops, -1):
            assert killed(
                lambda stop=stop: flow(folder, stop).run(engine=engine, state=folder / "state", every=0.005)  # type: ignore[misc, arg-type]
            ) == (stop >= 0)
            text = (folder / "out").read_text()
            assert text.startswith(before)
            before = text
        return [(each["time"], each["value"]) for each in map(json.loads, before.splitlines()) if "value" in each]

    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    assert lived(one) == lived(other, 5, 9, 9, 20, 30)


def test_a_run_that_is_stopped_goes_on(tmp_path: Path) -> None:
    """A checkpoint has what is held, and where in a time the node was."""
    rng = random.Random(4)
    sources = {"left": mixed(rng, range(6), 0), "right": mixed(rng, range(6), 100)}

    class Stops(Chain):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            super().on_message(edge, time, value, out)
            if (tmp_path / "stops").exists() and self.link % 11 == 0:
                (tmp_path / "stops").unlink()
                stop.set()

    whole = Dataflow(merging(), {"chain": Chain}, sources=sources).run()["told"]
    sinks = {"told": JsonLines(tmp_path / "out")}
    for _ in range(20):
        (tmp_path / "stops").touch()
        stop = threading.Event()
        try:
            Dataflow(merging(), {"chain": Stops}, sources=sources, sinks=sinks).run(
                state=tmp_path / "state", cancel=stop, seed=3
            )
            break
        except Cancelled:
            pass
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [(each["time"], each["value"]) for each in lines if "value" in each] == whole


@pytest.mark.parametrize("number", range(len(ENGINES)))
def test_what_fails_is_a_dead_letter_by_itself(number: int) -> None:
    class Fails(Chain):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            if value % 5 == 0:
                raise ValueError(value)
            super().on_message(edge, time, value, out)

    engine, options = ENGINES[number]
    items = [(value // 4, value) for value in range(20)]
    flow = Dataflow(merging(), {"chain": Fails}, on_error={"chain": DeadLetter("dead")})
    found = flow.run(engine=engine, timeout=60, sources={"left": items}, **options)
    assert [failure.value for _, failure in found["dead"]] == [0, 5, 10, 15]
    assert len([value for _, value in found["told"] if value[0] == "left"]) == 16


def refusal(graph: Graph, nodes: Any) -> str:
    with pytest.raises(PointstampError) as caught:
        Dataflow(graph, nodes).run()
    return str(caught.value)


def test_a_graph_that_keeps_a_node_from_it_is_refused() -> None:
    quiet = Graph().node("chain", notify=False).edge(None, "chain", "in").edge("chain", None, "told")
    said = refusal(quiet, {"chain": Chain})
    assert said == (
        "PS747: 'chain' is to take its messages in order, and the graph has it never notified (notify: true)"
    )
    late = Graph().node("chain", requests={"advance": 1}).edge(None, "chain", "in").edge("chain", None, "told")
    assert "the graph has it notified of other times alone (requests: identity)" in refusal(late, {"chain": Chain})


class Crowded(Nat):
    """Numbers of which those from 8 on all have one key: what its sample shows keeps the laws, the rest does not."""

    def sort_key(self, value: int) -> int:
        return min(value, 8)


class Asks(Node):
    """Asks, in each call, for the time after the next as well: of 9 that is 11, whose text comes first."""

    ordered = True

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        out.send("told", time, value)
        out.request(time)
        out.request(time + 2)

    def on_notify(self, time: Any, out: Any) -> None:
        out.send("told", time, "notified")


@pytest.mark.parametrize("number", range(len(ENGINES)))
def test_times_with_one_key_are_all_handed_on(number: int) -> None:
    """The time that is over is the one at work, and not the one that sorts first."""
    engine, options = ENGINES[number]
    flow = Dataflow(merging(Crowded()), {"chain": Asks})
    found = told(flow, engine, options, sources={"left": [(time, time) for time in range(7, 14)]})
    values = [value for _, value in found if value != "notified"]
    assert sorted(values) == [*range(7, 14)]
    assert {time for time, value in found if value == "notified"} == {*range(7, 16)}


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_time_is_handed_on_when_frontiers_have_passed_it_though_nothing_becomes_complete(engine: str) -> None:
    """(1, 0) is complete at once, and waits for what comes before it in the linear extension, such as (0, 5)."""
    told: list[Any] = []

    def source() -> Iterator[Any]:
        yield (1, 0), 1
        yield Complete([(0, 1), (2, 0)])
        yield from [SILENT] * 50
        assert not told
        yield Complete([(2, 0)])
        for _ in range(3_000):
            if not told:
                sleep(0.01)
                yield SILENT
        assert told

    class Says(Node):
        ordered = True

        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            told.append((time, value))

    graph = Graph(time={"product": ["nat", "nat"]}).node("says").edge(None, "says", "in")
    Dataflow(graph, {"says": Says}).run(engine=engine, sources={"in": source}, timeout=60)
    assert told == [((1, 0), 1)]
