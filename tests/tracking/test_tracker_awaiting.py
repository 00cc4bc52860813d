"""Going on with a tracker: whether anything is left, awaiting it, what it says of itself, steps without `with`."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import CouldResultIn, PointstampError, Tracker, close, reference
from progress.reference.session import Session
from tests.commands.tracking import LOOP
from tests.reference.random_sessions import random_step


def loop_tracker(**options: Any) -> Tracker:
    return Tracker(from_data(LOOP), **options)


def refused(code: str, act: Any) -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        act()
    assert caught.value.code == code
    return caught.value


# --- whether anything is left -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, False])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_active_as_long_as_anything_is_outstanding(kernel: bool | None, seed: int) -> None:
    rng = random.Random(seed)
    oracle, tracker = reference.Graph(LOOP | {"time": "nat"}), loop_tracker(inputs={"input": [0]}, kernel=kernel)
    session = Session(oracle, {"input": [0]})
    truths = set()
    for number in range(60):
        step = random_step(rng, session, number / 60)
        if session.step(**step):
            continue
        tracker.apply(**step)
        outstanding = len(session.outstanding())
        assert tracker.is_active() is bool(tracker) is (outstanding > 0)
        assert f"{outstanding} outstanding" in repr(tracker)
        truths.add(bool(tracker))
        if rng.random() < 0.1:
            tracker = Tracker.restore(from_data(LOOP), tracker.snapshot(), kernel=kernel)
        if rng.random() < 0.1:
            tracker._rebuild()
    session_over = dict.fromkeys(("input",), ())
    tracker.apply(
        inputs=session_over,
        messages=[(edge, time, -count) for (edge, time), count in tracker.messages().items()],
    )
    while tracker.pending():
        assert tracker
        tracker.apply(delivered=tracker.eligible())
    assert not tracker
    assert truths


def test_the_loop_of_graphlib() -> None:
    tracker = loop_tracker(inputs={"input": []}, requests=[("body", 0), ("body", 3)])
    told = []
    while tracker:
        for request in tracker.get_ready():
            told.append(request.time)
            tracker.apply(delivered=[request])
    assert told == [0, 3]


# --- awaiting ---------------------------------------------------------------------------------------------------------


def test_what_is_awaited_comes_with_the_step_that_completes_it() -> None:
    async def main() -> list[str]:
        tracker, heard = loop_tracker(inputs={"input": [0]}), []

        async def listen(time: int) -> None:
            await tracker.wait("body", time)
            heard.append(f"complete at {time}")

        listening = [asyncio.create_task(listen(time)) for time in (1, 0)]
        await asyncio.sleep(0)
        tracker.apply(messages=[("input", 0, 1)])
        await asyncio.sleep(0)
        heard.append("moved")
        tracker.apply(inputs={"input": [1]})
        await asyncio.sleep(0)
        assert heard == ["moved"]
        tracker._rebuild()  # as after a step that was broken off
        tracker.apply(messages=[("input", 0, -1)])
        await listening[1]
        assert heard == ["moved", "complete at 0"]
        thread = threading.Thread(target=lambda: tracker.apply(inputs={"input": []}))
        thread.start()
        await asyncio.gather(*listening)
        thread.join()
        await tracker.wait("body", 7)  # at once
        with pytest.raises(PointstampError):
            await tracker.wait("back", 0)
        return heard

    assert asyncio.run(main()) == ["moved", "complete at 0", "complete at 1"]


def test_own_requests_are_no_obstacle() -> None:
    async def main() -> None:
        tracker = loop_tracker(inputs={"input": [0]}, requests=[("body", 0)])
        waiting = asyncio.create_task(tracker.wait("body", 0))
        await asyncio.sleep(0)
        tracker.apply(inputs={"input": [1]})
        await asyncio.wait_for(waiting, 10)

    asyncio.run(main())


def test_ready_requests_are_awaited_until_nothing_is_outstanding() -> None:
    async def main() -> list[Any]:
        tracker, told = loop_tracker(inputs={"input": [0]}, requests=[("body", 0), ("body", 2)]), []

        async def work() -> None:
            while found := await tracker.wait_ready():
                told.append([request.time for request in found])
                tracker.apply(delivered=found)

        worker = asyncio.create_task(work())
        for times in ([1], [2], []):
            await asyncio.sleep(0.01)
            tracker.apply(inputs={"input": times})
        await asyncio.wait_for(worker, 10)
        assert not tracker
        return told

    assert asyncio.run(main()) == [[0], [2]]


def test_who_does_not_wait_any_more_is_no_obstacle_and_is_forgotten() -> None:
    def futures() -> int:
        gc.collect()
        return sum(type(each) is asyncio.Future for each in gc.get_objects())

    async def main() -> None:
        raised: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: raised.append(context))
        tracker = loop_tracker(inputs={"input": [0]})
        patient = asyncio.create_task(tracker.wait("body", 0))
        await asyncio.sleep(0)
        before = futures()
        for _ in range(100):  # as who looks again and again, with a timeout
            waiting = asyncio.create_task(tracker.wait("body", 0)), asyncio.create_task(tracker.wait_ready())
            await asyncio.sleep(0)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        assert futures() <= before + 10
        last = asyncio.create_task(tracker.wait_ready())
        await asyncio.sleep(0)
        last.cancel()
        tracker.apply(inputs={"input": []})  # told before it knows that it is cancelled
        await asyncio.wait_for(patient, 10)
        await asyncio.sleep(0)
        assert raised == []

    asyncio.run(main())


# --- words ------------------------------------------------------------------------------------------------------------


def test_what_things_say_of_themselves() -> None:
    graph = from_data(LOOP)
    tracker = Tracker(graph, kernel=False)
    assert repr(tracker) == "Tracker(Network(2 nodes, 4 edges), eager, 1 outstanding)"
    assert repr(graph.network()) == "Network(2 nodes, 4 edges)"
    assert repr(CouldResultIn(graph)) == "CouldResultIn(Network(2 nodes, 4 edges))"
    assert repr(close(graph, [("input", 0)])) == "Closure(of Network(2 nodes, 4 edges))"


def test_a_name_that_is_nearly_right() -> None:
    tracker = loop_tracker()
    assert refused("PS502", lambda: tracker.frontier("inptu")).hint == "did you mean 'input'?"
    assert refused("PS502", lambda: tracker.frontier("zzz")).hint == "name a node or an edge of the graph"
    assert refused("PS502", lambda: close(from_data(LOOP), [("boddy", 0)])).hint == "did you mean 'body'?"


def test_a_number_of_numpy() -> None:
    import numpy

    tracker = loop_tracker()
    assert "int(...)" in refused("PS503", lambda: tracker.apply(messages=[("input", numpy.int64(0), 1)])).hint
    assert "int(...)" in refused("PS503", lambda: close(from_data(LOOP), [("body", numpy.int64(0))])).hint
    pairs = Tracker(Graph({"product": ["nat", "nat"]}).node("a").edge(None, "a", id="in"))
    assert "int(...)" in refused("PS503", lambda: pairs.complete("in", (0, numpy.int32(1)))).hint
    assert "int(...)" not in refused("PS503", lambda: tracker.apply(messages=[("input", "x", 1)])).hint
    change: Any = numpy.int64(1)
    hint = refused("PS501", lambda: tracker.apply(messages=[("input", 0, change)])).hint
    assert hint == "a whole number; int(...) makes one of an int64"
    assert "int(...)" not in refused("PS501", lambda: tracker.apply(messages=[("input", 0, True)])).hint


def test_a_step_without_with() -> None:
    tracker = loop_tracker()
    step = tracker.step()
    for call in (
        lambda: step.message("input", 0),
        lambda: step.consumed("input", 0),
        lambda: step.request("body", 0),
        lambda: step.delivered("body", 0),
        lambda: step.input("input", []),
    ):
        assert "with tracker.step()" in refused("PS501", call).hint
    with step:
        step.message("input", 0)
        refused("PS501", step.__enter__)
    assert tracker.messages() == {("input", 0): 1}
