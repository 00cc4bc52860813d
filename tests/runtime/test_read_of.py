"""Which times that came in are done: those of which nothing can leave any more, whatever loops and windows do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any

from graphs import Graph
from progress.runtime import Complete, Dataflow, Node, Out
from progress.runtime.actions.core import Core
from progress.runtime.inputs.read_of import FILES, Done, ReadOf
from progress.runtime.observer import Observer
from tests.runtime.tools import GUARD, Total


class Looks(Observer):
    """Says how many of the times that came are done."""

    def __init__(self, *came: tuple[Any, int]) -> None:
        self.came = came
        self._done: Done | None = None

    def started(self, core: Core) -> None:
        self._done = Done(core)

    def look(self) -> int:
        assert self._done is not None
        (found,) = self._done.of({"in": ReadOf(0, 9, FILES, True, self.came)})
        assert found is not None
        assert found.came == ()
        return found.done

    def until(self, count: int) -> None:
        """Wait until so many are done; never more."""
        begun = monotonic()
        while (found := self.look()) < count:
            assert monotonic() - begun < GUARD
            sleep(0.001)
        assert found == count


class Sums(Total):
    """It has no edge to send on."""

    def on_notify(self, time: Any, out: Out) -> None:
        del self.sums[time]


def run(graph: Graph, code: dict[str, Any], looks: Looks, source: Callable[[], Iterator[Any]]) -> dict[str, Any]:
    return Dataflow(graph, code, sources={"in": source}).run(engine="threads", observer=looks, timeout=GUARD)


def test_a_time_is_done_when_its_result_has_left() -> None:
    looks = Looks((0, 2), (1, 1), (2, 3))

    def numbers() -> Iterator[Any]:
        looks.until(0)
        for time in range(3):
            yield time, 5
        sleep(0.02)
        looks.until(0)
        yield Complete((1,))
        looks.until(2)
        yield Complete((2,))
        looks.until(3)

    run(Graph().node("total").edge(None, "total", "in").edge("total", None, "out"), {"total": Total}, looks, numbers)
    looks.until(6)


def test_a_time_that_waits_for_the_end_of_its_window_is_not_done_before() -> None:
    graph = Graph().node("round", summary={"round_up": 10}).node("total")
    graph.edge(None, "round", "in").edge("round", "total", "on").edge("total", None, "out")
    looks = Looks((1, 1), (2, 1), (11, 1))

    class Round(Node):
        def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
            out.send("on", -(-time // 10) * 10, value)

    def numbers() -> Iterator[Any]:
        for time in (1, 2, 11):
            yield time, 5
        yield Complete((9,))
        sleep(0.02)
        looks.until(0)
        yield Complete((11,))
        looks.until(2)

    run(graph, {"round": Round, "total": Total}, looks, numbers)
    looks.until(3)


def test_in_a_graph_that_nothing_leaves_a_time_is_done_when_its_nodes_are_done_with_it() -> None:
    looks = Looks((0, 1), (1, 1))
    held = True

    class Slow(Sums):
        def on_notify(self, time: Any, out: Out) -> None:
            super().on_notify(time, out)
            begun = monotonic()
            while held and time == 0 and monotonic() - begun < GUARD:
                sleep(0.001)

    def numbers() -> Iterator[Any]:
        nonlocal held
        yield 0, 5
        yield Complete((1,))
        sleep(0.02)
        looks.until(0)  # it is being notified
        held = False
        looks.until(1)
        yield 1, 5

    run(Graph().node("total").edge(None, "total", "in"), {"total": Slow}, looks, numbers)
    looks.until(2)
