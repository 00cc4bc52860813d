"""`ahead`: how many times of an input are in flight at once; the next waits, and nothing waits for ever."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import SILENT, Batch, Complete, Dataflow, Messages, Node, Out
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import Host
from progress.runtime.inputs.ahead import ends
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from progress.semantics import is_behaviour
from tests.runtime.tools import GUARD, engines, line, run

TIMES = 60


class Seen(Batch):
    """How many times have come in here and were not told to be complete."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def on_messages(self, edge: str, time: Any, values: Any, out: Out) -> None:
        super().on_messages(edge, time, values, out)
        self.most = max(self.most, len(self.waiting))

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        for edge in out.edges:
            out.send_all(edge, time, [value for each in messages.values() for value in each])


def only(node: Node) -> Callable[[], Node]:
    """A factory for one run, whose node can be looked at."""
    return lambda: node


def items() -> list[Any]:
    return [item for time in range(TIMES) for item in ((time, 2 * time), (time, 2 * time + 1), Complete((time + 1,)))]


async def read(source: list[Any]) -> AsyncIterator[Any]:
    for item in source:
        yield item
        await asyncio.sleep(0)


def sources(engine: str) -> dict[str, Callable[[], Any]]:
    """The same items, as all kinds of sources that the engine reads."""
    found: dict[str, Callable[[], Any]] = {"a list": items, "an iterator": lambda: iter(items())}
    found["messages"] = lambda: [
        item for time in range(TIMES) for item in (Messages(time, [2 * time, 2 * time + 1]), Complete((time + 1,)))
    ]
    if engine == "asyncio":
        found["awaited"] = lambda: read(items())
    return found


@engines
def test_so_many_times_are_in_flight_and_no_more(engine: str) -> None:
    """Nothing is known to be complete before the second node is told so; without a bound the first has all of them."""
    expected = [(time, value) for time in range(TIMES) for value in (2 * time, 2 * time + 1)]
    for kind, source in sources(engine).items():
        for ahead in (None, 1, 3):
            node = Seen()
            dataflow = Dataflow(line("p", "q"), {"p": only(node), "q": Seen}, ahead=ahead)
            steps: list[Any] = []
            results = run(dataflow, engine, sources={"in": source()}, record=steps.append)
            assert sorted(results["out"]) == expected, kind
            assert node.most <= (ahead or TIMES), (kind, ahead)
            if ahead is None and engine == "sim" and kind == "a list":
                assert node.most > 3, "what is to be bounded is there without a bound"
            assert is_behaviour(dataflow.network, steps, several=True)


@engines
def test_times_that_are_worked_on_are_bounded_though_nothing_is_complete_for_long(engine: str) -> None:
    """A window ends after ten times: it waits for the input, which comes on when nobody has anything to do."""
    window = {"then": [{"advance": 1}, {"round_up": 10}, {"advance": -1}]}
    graph = Graph().node("w", summary=window, requests=window).node("sum").edge(None, "w", "in").edge("w", "sum", "mid")
    graph.edge("sum", None, "out")

    class Window(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.send("mid", (time // 10) * 10 + 9, value)

    class Sum(Batch):
        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
            out.send("out", time, sum(messages["mid"]))

    dataflow = Dataflow(graph, {"w": Window(), "sum": Sum()}, ahead={"in": 2})
    for source in sources(engine).values():
        results = run(dataflow, engine, sources={"in": source()})
        assert sorted(results["out"]) == [(10 * w + 9, sum(range(20 * w, 20 * w + 20))) for w in range(TIMES // 10)]


@engines
def test_an_input_that_says_nothing_keeps_no_other_waiting_for_ever(engine: str) -> None:
    """Nothing is complete before the list that says nothing is over; a list is over when it was read."""
    graph = Graph().node("p").edge(None, "p", "in").edge(None, "p", "other").edge("p", None, "out")
    plain = [(time, time) for time in range(TIMES)]
    for ahead in (1, 4, {"in": 2}, {"other": 1}):
        dataflow = Dataflow(graph, {"p": lambda value: value}, ahead=ahead)
        results = run(dataflow, engine, sources={"in": plain, "other": plain})
        assert sorted(results["out"]) == sorted(2 * plain)


@engines
def test_a_source_that_comes_on_when_its_results_have_left_is_read(engine: str) -> None:
    """An input waits for a result of the other one, which is held by `ahead`: both come to their end."""
    graph = Graph().node("p").node("q").edge(None, "p", "in").edge("p", None, "out").edge(None, "q", "asked")
    graph.edge("q", None, "answers")
    results: list[Any] = []

    def asked() -> Iterator[Any]:
        yield 0, "first"
        while not results:  # an engine that waits for this would wait for ever
            yield SILENT
        yield 1, "second"

    dataflow = Dataflow(graph, {"p": lambda value: value, "q": lambda value: value}, ahead=1)
    found = run(
        dataflow, engine, sources={"in": [(time, time) for time in range(5)], "asked": asked}, sinks={"out": results}
    )
    assert results == [(time, time) for time in range(5)]
    assert found["answers"] == [(0, "first"), (1, "second")]


@engines
def test_rounds_of_a_loop_are_of_the_time_that_came_in(engine: str) -> None:
    """Each time goes round five times; no more of them than may be are in the loop at once."""
    graph = Graph().node("head", time={"product": ["nat", "nat"]}, emits={"done": "leave"})
    graph.node("start", summary="enter").node("back", time={"product": ["nat", "nat"]}, summary="feedback")
    graph.edge(None, "start", "in").edge("start", "head", "begin").edge("head", "back", "again")
    graph.edge("back", "head", "round").edge("head", None, "done", time="nat")

    class Head(Node):
        def __init__(self) -> None:
            self.inside: Counter[int] = Counter()
            self.most = 0

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            self.inside[time[0]] += 1 if edge == "begin" else 0
            self.most = max(self.most, sum(1 for count in self.inside.values() if count))
            out.request(time)
            if time[1] == 5:
                self.inside[time[0]] -= 1
                out.send("done", time[0], value)
            else:
                out.send("again", time, value + 1)

    for ahead in (1, 3):
        head = Head()
        dataflow = Dataflow(graph, {"head": only(head)}, ahead=ahead)
        results = run(dataflow, engine, sources={"in": items()})
        assert sorted(results["done"]) == [(value // 2, value + 5) for value in range(2 * TIMES)]
        assert head.most <= ahead


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_a_time_that_is_complete_lets_another_one_in_while_others_are_worked_on(engine: str) -> None:
    """The call for the first time ends when all others are over, though no more than two times may be in flight."""
    over: list[int] = []

    class Work(Node):
        at_once = 2

        async def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            async with asyncio.timeout(GUARD):
                while value == 0 and len(over) < 5:
                    await asyncio.sleep(0.001)
            over.append(value)
            out.send("out", time, value)

    graph = Graph(time={"product": ["nat", "nat"]}).node("work").edge(None, "work", "in").edge("work", None, "out")
    source: list[Any] = [((0, 9), 0)]
    for value in range(1, 6):
        source += [((value, 9 - value), value), Complete([(value + 1, 0)])]
    dataflow = Dataflow(graph, {"work": Work()}, ahead=2)
    results = run(dataflow, engine, sources={"in": source})
    assert over == [1, 2, 3, 4, 5, 0]
    assert sorted(value for _, value in results["out"]) == [0, 1, 2, 3, 4, 5]


def test_where_a_graph_ends() -> None:
    graph = Graph().node("a").node("b").node("c").node("loop").node("back", summary={"advance": 1}).node("far")
    graph.edge(None, "a", "in").edge("a", "b", "ab").edge("a", "c", "ac").edge("b", None, "out")
    graph.edge("c", "loop", "cl").edge("loop", "back", "lb").edge("back", "loop", "bl")
    graph.edge(None, "far", "other").edge("far", None, "away")
    network = graph.network()
    assert ends(network, "in") == ["out", "loop", "back"]
    assert ends(network, "other") == ["away"]


@pytest.mark.parametrize(
    ("ahead", "code"),
    [(0, "PS715"), ({"in": -1}, "PS715"), ({"in": "2"}, "PS715"), (True, "PS715"), ({"p": 2}, "PS709")],
)
def test_what_bounds_nothing_is_refused(ahead: Any, code: str) -> None:
    with pytest.raises(PointstampError, match=code):
        Dataflow(line("p"), ahead=ahead)


def test_what_was_in_flight_is_so_after_a_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on takes in as many times as the one before would have, not as many again."""
    monkeypatch.setattr(Host, "work", 0)  # a checkpoint at each step, however long one takes
    source = items()

    def run_from(begun: State | None, keep: Callable[[State], None]) -> int:
        """The most times that waited at the two nodes at once."""
        made: list[Seen] = []
        most = 0

        class Both(Seen):
            def __init__(self) -> None:
                super().__init__()
                made.append(self)

            def snapshot(self) -> Any:
                return self.waiting

            def restore(self, state: Any) -> None:
                self.waiting = state

            def on_messages(self, edge: str, time: Any, values: Any, out: Out) -> None:
                nonlocal most
                super().on_messages(edge, time, values, out)
                most = max(most, len({time for node in made for time in node.waiting}))

        dataflow = Dataflow(line("p", "q"), {"p": Both, "q": Both}, ahead=2)
        found: list[Any] = []
        keeping = Keeping(keep, 0.0 if begun is None else 1_000.0, begun)
        Running(dataflow, {"in": source}, {"out": found}, RunOptions("sim", keeping=keeping)).run(7, 1)
        return most

    states: list[State] = []
    assert run_from(None, states.append) == 2
    assert len(states) > 100
    assert {run_from(state, lambda state: None) for state in states[:-1:20]} <= {0, 1, 2}
