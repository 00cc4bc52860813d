"""Whatever is given to a run or a tracker is used or refused in one line, before anything happens; nothing is mixed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from functools import partial
from io import StringIO
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError, Tracker
from progress.runtime import Dataflow
from progress.runtime.observer import Observer, Observers
from progress.runtime.telemetry import Telemetry
from progress.runtime.watching.display import Display

ANYTHING: tuple[Any, ...] = (
    *(5, -1, 1.5, float("nan"), True, "x", b"y", None, object(), lambda *given: 1),
    *([], [5], [[]], ("a",), [("a",)], [(1, 2, 3)], {5: 5}, {"in": 5}, {"a": [5]}),
)
OF_RUN = ("sources", "sinks", "observer", "record", "limit", "timeout", "cancel", "pause")
ONLY_HERE = ("engine", "seed", "workers", "session", "folder")


def graph() -> Graph:
    return Graph().node("a").edge(None, "a", "in").edge("a", None, "out")


def dataflow(**given: Any) -> Dataflow:
    return Dataflow(graph(), **{"sources": {"in": [(0, 1)]}, **given})


def in_a_step(fill: Callable[[Any, Any], object]) -> Callable[[Any], object]:
    def take(given: Any) -> None:
        with Tracker(graph()).step() as step:
            fill(step, given)

    return take


async def soon(tracker: Tracker, node: Any, time: Any) -> None:
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(tracker.wait(node, time), 0.01)


def named(call: Callable[..., object], *names: str) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """A way for each parameter of these names."""
    for name in names:
        yield f"{call.__name__}({name})", partial(_given, call, name)


def _given(call: Callable[..., object], name: str, given: Any) -> None:
    call(**{name: given})


def run(**given: Any) -> object:
    return dataflow().run(**given)


def run_async(**given: Any) -> object:
    return asyncio.run(dataflow().run_async(**given))


def tracker(**given: Any) -> object:
    return Tracker(graph(), **given)


def apply(**given: Any) -> None:
    Tracker(graph()).apply(**given)


WAYS: dict[str, Callable[[Any], object]] = {
    **dict(named(dataflow, "nodes", "sources", "sinks", "on_error", "ahead")),
    "Dataflow(graph)": Dataflow,
    **dict(named(run, *OF_RUN, *ONLY_HERE)),
    **dict(named(run_async, *OF_RUN)),
    **dict(named(tracker, "inputs", "requests", "engine", "kernel")),
    **dict(named(apply, "inputs", "messages", "requests", "delivered")),
    "frontier": lambda given: Tracker(graph()).frontier(given),
    "holding": lambda given: Tracker(graph()).holding(given),
    "complete(location)": lambda given: Tracker(graph()).complete(given, 0),
    "complete(time)": lambda given: Tracker(graph()).complete("a", given),
    "why(node)": lambda given: Tracker(graph()).why(given, 0),
    "why(time)": lambda given: Tracker(graph()).why("a", given),
    "subscribe(location)": lambda given: Tracker(graph()).subscribe(given, print),
    "subscribe(callback)": lambda given: Tracker(graph()).subscribe("a", given),
    "restore": lambda given: Tracker.restore(graph(), given),
    "wait(node)": lambda given: asyncio.run(soon(Tracker(graph()), given, 0)),
    "wait(time)": lambda given: asyncio.run(soon(Tracker(graph()), "a", given)),
    "step.message(edge)": in_a_step(lambda step, given: step.message(given, 0)),
    "step.message(time)": in_a_step(lambda step, given: step.message("in", given)),
    "step.message(change)": in_a_step(lambda step, given: step.message("in", 0, given)),
    "step.consumed(count)": in_a_step(lambda step, given: step.consumed("in", 0, given)),
    "step.request(node)": in_a_step(lambda step, given: step.request(given, 0)),
    "step.input(edge)": in_a_step(lambda step, given: step.input(given, [0])),
    "step.input(times)": in_a_step(lambda step, given: step.input("in", given)),
    "step.delivered(node)": in_a_step(lambda step, given: step.delivered(given, 0)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_of_no_use_is_refused_in_one_line(way: str) -> None:
    refusals = []
    for given in ANYTHING:
        try:
            WAYS[way](given)
        except PointstampError as error:
            refusals.append(error)
    assert not [error for error in refusals if "\n" in str(error) or not error.hint]
    assert len(refusals) >= 12, f"of {len(ANYTHING)} things {way} takes all but {len(refusals)}"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"timeout": "x"}, "timeout='x' is not a time to wait (a number of seconds, 0 or more)"),
        ({"timeout": float("nan")}, "timeout=nan is not a time to wait (a number of seconds, 0 or more)"),
        ({"cancel": 5}, "cancel=5 cannot be asked whether it is set (a threading.Event())"),
        ({"record": []}, "record=[] cannot be called (a function of a step; or a list's append)"),
        ({"sinks": []}, 'the sinks are [] (sinks by edge: {"name": ...})'),
        ({"seed": "x"}, "seed='x' is not a whole number (any whole number, or none)"),
        ({"workers": True}, "workers=True: nobody would work (1 or more)"),
    ],
)
def test_a_refusal_says_what_would_be_right(given: dict[str, Any], says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        dataflow().run(**given)
    assert str(caught.value) == f"PS715: {says}"


def test_a_refused_run_has_not_begun() -> None:
    """Neither a source nor a sink is touched: the next run has them whole."""
    items = iter([(0, 1)])
    for given in ({"timeout": "x"}, {"cancel": 5}, {"record": 5}, {"observer": 5}, {"sinks": 5}, {"pause": 5}):
        with pytest.raises(PointstampError):
            Dataflow(graph(), sources={"in": items}).run(**given)
    assert Dataflow(graph(), sources={"in": items}).run()["out"] == [(0, 1)]


# --- an observer is one run's at a time ------------------------------------------------------------------------------


class Counting(Observer):
    """Counts calls of two runs at once, and says that it may."""

    def __init__(self) -> None:
        self.calls = 0
        self._lock = threading.Lock()

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        with self._lock:
            self.calls += count


def at_once(observer: Observer) -> PointstampError | None:
    """Give an observer to a run, and to another while the first goes on; what the second is refused with."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(value: int) -> list[int]:
        begun.set()
        assert go_on.wait(60)
        return [value]

    first = threading.Thread(target=lambda: dataflow(nodes={"a": slow}).run(observer=observer))
    first.start()
    try:
        assert begun.wait(60)
        dataflow().run(observer=observer)
    except PointstampError as error:
        return error
    finally:
        go_on.set()
        first.join()
    return None


@pytest.mark.parametrize("make", [lambda: Display(StringIO()), Telemetry], ids=["Display", "Telemetry"])
@pytest.mark.parametrize("among", [False, True], ids=["alone", "among others"])
def test_an_observer_of_one_run_is_not_given_to_two_at_once(make: Callable[[], Observer], among: bool) -> None:
    one = make()
    observer = Observers(Counting(), one) if among else one
    error = at_once(observer)
    assert error is not None
    assert error.code == "PS723"
    assert "is used by another run that goes on" in error.message
    assert "the observer" in error.message
    dataflow().run(observer=observer)  # and when the first is over it may be given again
    with pytest.raises(PointstampError, match="PS705"):
        dataflow(nodes={"a": lambda value: value / 0}).run(observer=observer)
    dataflow().run(observer=observer)


def test_an_observer_that_may_be_of_several_runs_is() -> None:
    observer = Counting()
    assert at_once(observer) is None
    assert observer.calls == 2


def test_a_display_counts_each_run_anew() -> None:
    class Seen(Display):
        lines: list[str]

        def ended(self, core: Any, failure: BaseException | None) -> None:
            self.lines.append(self.line())
            super().ended(core, failure)

    display = Seen(StringIO(), clock=lambda: 0.0)
    display.lines = []
    for _ in range(2):
        dataflow().run(observer=display)
    assert [line.partition(" messages")[0] for line in display.lines] == ["1", "1"]
