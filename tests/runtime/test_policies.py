"""Time policies: what completes times, in all engines, and where late data goes."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.order import Nat
from progress.runtime import SILENT, Complete, Dataflow, Node, Out, SourceFailed
from progress.runtime.policies import (
    Policy,
    SystemClock,
    VirtualClock,
    by_count,
    by_event_time,
    explicit,
    with_idleness,
)
from progress.runtime.source import Feed, Late

ENGINES = ("sim", "threads", "asyncio")
GUARD = 60.0  # seconds after which a run that hangs is stopped

engines = pytest.mark.parametrize("engine", ENGINES)


class Gather(Node):
    """Sends, for each time that is complete, the sorted list of what came."""

    def __init__(self) -> None:
        self.kept: dict[Any, list[Any]] = {}

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.kept.setdefault(time, []).append(value)
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        out.send("lists", time, sorted(self.kept.pop(time)))


def gathering(time: Any = None, inputs: Iterable[str] = ("values",)) -> Dataflow:
    graph = Graph(time=time).node("gather").edge("gather", None, "lists")
    for name in inputs:
        graph.edge(None, "gather", name)
    return Dataflow(graph, {"gather": Gather()})


def slowly(values: Iterable[Any]) -> Callable[[], AsyncIterator[Any]]:
    """The same values, as an async iterable."""

    async def items() -> AsyncIterator[Any]:
        for value in values:
            yield value

    return items


def sources_of(engine: str, values: Iterable[Any]) -> list[Any]:
    """The kinds of sources that an engine can take values from."""
    kept = list(values)
    return [kept, lambda: iter(kept)] + ([slowly(kept)] if engine == "asyncio" else [])


# --- by count --------------------------------------------------------------------------------------------------------


@engines
def test_so_many_values_are_one_time(engine: str) -> None:
    for source in sources_of(engine, range(250)):
        results = gathering().run(engine=engine, sources={"values": by_count(source, every=100)}, timeout=GUARD)
        wanted = [(0, [*range(100)]), (1, [*range(100, 200)]), (2, [*range(200, 250)])]
        assert results == {"lists": wanted}


@engines
def test_a_count_completes_before_more_values_are_there(engine: str) -> None:
    told = threading.Event()
    seen: list[Any] = []

    def sink(time: int, value: list[int]) -> None:
        seen.append((time, value))
        told.set()

    def values() -> Iterator[int]:
        yield from (1, 2)
        if engine == "threads":
            assert told.wait(GUARD)  # the source blocks until the first result has left
        yield from (3, 4, 5)

    gathering().run(engine=engine, sources={"values": by_count(values, every=2)}, sinks={"lists": sink}, timeout=GUARD)
    assert seen == [(0, [1, 2]), (1, [3, 4]), (2, [5])]


@engines
def test_counted_times_may_be_any(engine: str) -> None:
    source = by_count("abc", every=2, first=4, at=lambda number: (number, 7))
    results = gathering({"product": ["nat", "nat"]}).run(engine=engine, sources={"values": source}, timeout=GUARD)
    assert results == {"lists": [((4, 7), ["a", "b"]), ((5, 7), ["c"])]}


def test_a_policy_begins_anew_with_every_run() -> None:
    dataflow, source = gathering(), by_count([1, 2, 3], every=2)
    first = dataflow.run(sources={"values": source})
    assert dataflow.run(sources={"values": source}) == first == {"lists": [(0, [1, 2]), (1, [3])]}


def test_what_a_source_completes_itself_stays_complete() -> None:
    values = ["a", Complete((3,)), "b", SILENT, "c"]
    results = gathering().run(sources={"values": by_count(values, every=2)})
    assert results == {"late": [(0, "b"), (1, "c")], "lists": [(0, ["a"])]}


# --- by event time ---------------------------------------------------------------------------------------------------


def disordered(seed: int, number: int, disorder: int) -> list[tuple[int, int]]:
    """(event time, value), each at most so much later than what came before it happened."""
    rng = random.Random(seed)
    times = sorted(rng.randint(0, number) for _ in range(number))
    return sorted(
        ((time, value) for value, time in enumerate(times)), key=lambda pair: pair[0] + rng.random() * disorder
    )


def judged(items: list[tuple[int, int]], lateness: int, window: int) -> tuple[dict[int, list[int]], list[Any]]:
    """What is in each window, and what is late: by the definition, item by item."""
    windows: dict[int, list[int]] = {}
    late = []
    for place, (time, value) in enumerate(items):
        mark = max((before for before, _ in items[:place]), default=0) - lateness
        if mark > 0 and time // window < mark // window:
            late.append((time // window, (time, value)))
        else:
            windows.setdefault(time // window, []).append((time, value))  # type: ignore[arg-type]
    return {number: sorted(inside) for number, inside in windows.items()}, late


@engines
@pytest.mark.parametrize("window", [1, 5])
@pytest.mark.parametrize(("disorder", "lateness"), [(0, 0), (6, 6), (6, 2), (20, 0)])
def test_event_time_waits_for_the_allowed_lateness(engine: str, disorder: int, lateness: int, window: int) -> None:
    items = disordered(disorder + window, 120, disorder)
    windows, late = judged(items, lateness, window)
    assert bool(late) is (disorder > lateness)
    for source in sources_of(engine, items):
        policy = by_event_time(source, itemgetter(0), lateness=lateness, window=window, late="too-late")
        results = gathering().run(engine=engine, sources={"values": policy}, timeout=GUARD)
        assert dict(results["lists"]) == windows
        assert len(results["lists"]) == len(windows)
        assert results.get("too-late", []) == late
        assert set(results) <= {"lists", "too-late"}


def test_a_window_is_complete_as_soon_as_it_may_be() -> None:
    seen: list[Any] = []
    frontiers: list[Any] = []

    class Sink:
        def write(self, time: int, value: Any) -> None:
            seen.append(time)

        def complete(self, times: tuple[int, ...]) -> None:
            frontiers.append(times)

    def values() -> Iterator[Any]:
        for when, complete in ((3, []), (11, []), (9, []), (12, [0]), (25, [0, 1]), (31, [0, 1])):
            yield when
            yield SILENT  # all that can be done is done before the next
            assert seen == complete

    policy = by_event_time(values, lambda when: when, lateness=2, window=10)
    gathering().run(sources={"values": policy}, sinks={"lists": Sink()})
    assert seen == [0, 1, 2, 3]
    assert frontiers[-1] == ()


@engines
def test_event_times_may_be_dates(engine: str) -> None:
    noon = datetime(2024, 2, 28, 12)
    readings = [(noon + timedelta(hours=hours), hours) for hours in (0, 11, 30, 20, 60, 4, 80)]
    policy = by_event_time(
        readings,
        itemgetter(0),
        start=datetime(2024, 2, 28),
        window=timedelta(days=1),
        lateness=timedelta(hours=12),
        value=itemgetter(1),
        at=lambda day: (2024, day),
        late="forgotten",
    )
    results = gathering({"product": ["nat", "nat"]}).run(engine=engine, sources={"values": policy}, timeout=GUARD)
    assert results["lists"] == [((2024, 0), [0, 11]), ((2024, 1), [20, 30]), ((2024, 3), [60, 80])]
    assert results["forgotten"] == [((2024, 0), 4)]


@engines
def test_pairs_in_the_order_of_their_times_complete_each_other(engine: str) -> None:
    policy = by_event_time([(0, "a"), (0, "b"), (4, "c")], itemgetter(0), value=itemgetter(1))
    assert gathering().run(engine=engine, sources={"values": policy}, timeout=GUARD) == {
        "lists": [(0, ["a", "b"]), (4, ["c"])]
    }


@engines
@pytest.mark.parametrize("lateness", [0, 0.5])
def test_event_times_may_be_seconds(engine: str, lateness: float) -> None:
    """A window's number is whole, also where a `float` counts the seconds."""
    readings = [(0.5, "a"), (9.75, "b"), (31.25, "c"), (30.5, "d"), (8.0, "e")]
    policy = by_event_time(readings, itemgetter(0), window=10, lateness=lateness, value=itemgetter(1))
    results = gathering().run(engine=engine, sources={"values": policy}, timeout=GUARD)
    assert results["lists"] == [(0, ["a", "b"]), (3, ["c", "d"])]
    assert results["late"] == [(0, "e")]
    assert [type(time) for time, _ in (*results["lists"], *results["late"])] == [int] * 3


@engines
@pytest.mark.parametrize(("window", "early"), [(None, -3), (10, -1)])
def test_what_happened_before_the_start_is_late(engine: str, window: int | None, early: int) -> None:
    policy = by_event_time([5, -3, 6], lambda when: when, window=window, lateness=20, late="too-early")
    results = gathering().run(engine=engine, sources={"values": policy}, timeout=GUARD)
    assert results["too-early"] == [(early, -3)]
    assert sorted(value for _, values in results["lists"] for value in values) == [5, 6]


def test_a_run_that_goes_on_passes_over_late_messages_as_over_others() -> None:
    domain = gathering().network.edge_domains[0]
    feed = Feed("in", domain, (0,), iter([Late(-1, "a"), (0, "b"), (1, "c")]))
    feed.resume((0,), False, 2)
    assert feed.look(10).batches == {1: ["c"]}


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"window": timedelta(days=1)},
        {"start": datetime(2024, 1, 1), "window": 10},
        {"start": datetime(2024, 1, 1), "lateness": 10},
        {"start": datetime(2024, 1, 1, tzinfo=UTC)},
    ],
)
def test_dates_need_a_start_and_spans_like_them(keys: dict[str, Any]) -> None:
    def run() -> None:
        policy = by_event_time([datetime(2024, 2, 28)], lambda when: when, **keys)
        gathering().run(sources={"values": policy})

    with pytest.raises(PointstampError) as caught:
        run()
    assert caught.value.code == "PS720"
    assert "start= a datetime" in caught.value.hint


# --- what the source says --------------------------------------------------------------------------------------------


@engines
def test_explicit_items_complete_what_they_say(engine: str) -> None:
    items = [((0, 1), "a"), ((1, 0), "b"), Complete(((0, 2), (1, 0))), ((0, 1), "late"), ((1, 1), "c"), ((0, 5), "d")]
    for source in sources_of(engine, items):
        results = gathering({"product": ["nat", "nat"]}).run(
            engine=engine, sources={"values": explicit(source, late="missed")}, timeout=GUARD
        )
        assert results["missed"] == [((0, 1), "late")]
        assert sorted(results["lists"]) == [((0, 1), ["a"]), ((0, 5), ["d"]), ((1, 0), ["b"]), ((1, 1), ["c"])]


@engines
def test_an_input_over_the_integers_says_where_it_opens(engine: str) -> None:
    items = [(-5, "a"), (-7, "before"), Complete((3,)), (2, "late"), (3, "b")]
    policy = explicit(items, opens=[-5])
    results = gathering("int").run(engine=engine, sources={"values": policy}, timeout=GUARD)
    assert results == {"late": [(-7, "before"), (2, "late")], "lists": [(-5, ["a"]), (3, ["b"])]}
    assert gathering("int").run(engine=engine, sources={"values": items}, timeout=GUARD).keys() == {"late"}


# --- silence ---------------------------------------------------------------------------------------------------------


def pair() -> Dataflow:
    return gathering(inputs=("left", "right"))


def silent(
    engine: str,
    items: Iterable[Any],
    seconds: int,
    released: threading.Event,
    rest: Iterable[Any],
    begun: threading.Event | None = None,
) -> Any:
    """Items, then silence, which has `begun`, for so long (in sim), or until it is `released`, then the rest."""

    def source() -> Iterator[Any]:
        yield from items
        if begun is not None:
            begun.set()
        if engine == "sim":
            yield from [SILENT] * seconds
        else:
            assert released.wait(GUARD)
        yield from rest

    return source


class Ticking:
    """Lets time go by on a clock from one event on until another."""

    def __init__(self, clock: VirtualClock, begun: threading.Event, until: threading.Event) -> None:
        self._thread = threading.Thread(target=self._tick, args=(clock, begun, until))

    def _tick(self, clock: VirtualClock, begun: threading.Event, until: threading.Event) -> None:
        begun.wait(GUARD)
        while not until.wait(0.002):
            clock.advance(1)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exception: object) -> None:
        self._thread.join()


class Until:
    """A sink that sets an event when something of a time has come."""

    def __init__(self, time: Any, event: threading.Event) -> None:
        self.seen: list[tuple[Any, Any]] = []
        self._time = time
        self._event = event

    def write(self, time: Any, value: Any) -> None:
        self.seen.append((time, value))
        if time == self._time:
            self._event.set()


def passing(clock: VirtualClock, seconds: float, times: int = 3) -> Callable[[], Iterator[Any]]:
    """Messages at 0, 1, 2, each completed; then so many seconds go by."""

    def source() -> Iterator[Any]:
        for time in range(times):
            yield time, f"left {time}"
            yield Complete((time + 1,))
        clock.advance(seconds)

    return source


@engines
def test_a_silent_input_does_not_hold_back_what_others_have_completed(engine: str) -> None:
    """The source of the right input blocks until time 1 is over, which it could hold back itself."""
    clock, begun, released = VirtualClock(), threading.Event(), threading.Event()
    left = explicit(passing(clock, 0))
    source = silent(engine, [(0, "right 0")], 90, released, [(0, "late"), (7, "right 7")], begun)
    right = with_idleness(source, 30, follow=left, clock=None if engine == "sim" else clock, late="missed")
    sink = Until(1, released)
    with Ticking(clock, begun, released):
        results = pair().run(
            engine=engine, sources={"left": left, "right": right}, sinks={"lists": sink}, timeout=GUARD, workers=2
        )
    assert sink.seen == [(0, ["left 0", "right 0"]), (1, ["left 1"]), (2, ["left 2"]), (7, ["right 7"])]
    assert results == {"missed": [(0, "late")]}


@engines
def test_silence_is_no_silence_before_its_time(engine: str) -> None:
    clock, released = VirtualClock(), threading.Event()
    left = explicit(passing(clock, 29))
    released.set()
    source = silent(engine, [(0, "right 0")], 29, released, [(0, "again"), (1, "right 1")])
    right = with_idleness(source, 30, follow=left, clock=None if engine == "sim" else clock)
    results = pair().run(engine=engine, sources={"left": left, "right": right}, timeout=GUARD)
    assert results == {"lists": [(0, ["again", "left 0", "right 0"]), (1, ["left 1", "right 1"]), (2, ["left 2"])]}


@engines
def test_without_the_policy_a_silent_input_holds_everything_back(engine: str) -> None:
    released = threading.Event()
    order: list[str] = []

    def right() -> Iterator[Any]:
        if engine == "sim":
            yield from [SILENT] * 50
        else:
            assert not released.wait(0.05)
        order.append("silence ends")
        yield 0, "right 0"

    def sink(time: int, value: Any) -> None:
        order.append(str(time))

    left = explicit(passing(VirtualClock(), 0))
    pair().run(engine=engine, sources={"left": left, "right": right}, sinks={"lists": sink}, timeout=GUARD)
    assert order == ["silence ends", "0", "1", "2"]


@engines
def test_silence_completes_what_was_brought(engine: str) -> None:
    """One input: its last times are over when nothing has come for a while, and later what comes at them is late."""
    clock, begun, released = VirtualClock(), threading.Event(), threading.Event()
    source = silent(engine, [(4, "a"), (2, "b")], 10, released, [(3, "late"), (5, "c")], begun)
    values = with_idleness(source, 10, clock=None if engine == "sim" else clock)
    sink = Until(4, released)
    with Ticking(clock, begun, released):
        results = gathering().run(engine=engine, sources={"values": values}, sinks={"lists": sink}, timeout=GUARD)
    assert sink.seen == [(2, ["b"]), (4, ["a"]), (5, ["c"])]
    assert results == {"late": [(3, "late")]}


@engines
def test_what_silence_completes_is_for_the_user_to_say(engine: str) -> None:
    asked: list[list[Any]] = []

    def to(times: list[Any]) -> list[Any]:
        asked.append(times)
        return [(outer + 1, 0) for outer, _ in times]

    clock, begun, released = VirtualClock(), threading.Event(), threading.Event()
    items = [((0, 1), "a"), ((0, 0), "b"), ((0, 1), "c")]
    source = silent(engine, items, 3, released, [((0, 2), "late"), ((1, 0), "d")], begun)
    values = with_idleness(source, 3, to=to, clock=None if engine == "sim" else clock)
    sink = Until((0, 1), released)
    with Ticking(clock, begun, released):
        results = gathering({"lex": ["nat", "nat"]}).run(
            engine=engine, sources={"values": values}, sinks={"lists": sink}, timeout=GUARD
        )
    assert sink.seen == [((0, 0), ["b"]), ((0, 1), ["a", "c"]), ((1, 0), ["d"])]
    assert results == {"late": [((0, 2), "late")]}
    assert asked[0] == [(0, 1), (0, 0)]


def test_silence_may_close_an_input_for_ever() -> None:
    source = [(0, "a"), *[SILENT] * 5, (9, "b")]
    values = with_idleness(source, 5, to=lambda times: ())
    assert gathering().run(sources={"values": values}) == {"late": [(9, "b")], "lists": [(0, ["a"])]}


def test_silence_completes_again_what_came_after_the_last() -> None:
    source = [(0, "a"), *[SILENT] * 9, (3, "b"), *[SILENT] * 4, (3, "c"), *[SILENT] * 5, (3, "d")]
    values = with_idleness(source, 5)
    assert gathering().run(sources={"values": values}) == {
        "late": [(3, "d")],
        "lists": [(0, ["a"]), (3, ["b", "c"])],
    }


@engines
def test_silence_and_event_time_go_together(engine: str) -> None:
    """The last windows are over although nothing comes that is later than they."""
    clock, begun, released = VirtualClock(), threading.Event(), threading.Event()
    readings = silent(engine, [3, 12, 8, 14], 6, released, [9, 31], begun)
    inner = by_event_time(readings, lambda when: when, window=10, lateness=5, late="missed")
    values = with_idleness(inner, 6, clock=None if engine == "sim" else clock)
    sink = Until(1, released)
    with Ticking(clock, begun, released):
        results = gathering().run(engine=engine, sources={"values": values}, sinks={"lists": sink}, timeout=GUARD)
    assert sink.seen == [(0, [3, 8]), (1, [12, 14]), (3, [31])]
    assert results == {"missed": [(0, 9)]}


def test_an_async_iterable_may_be_silent() -> None:
    clock, begun, released = VirtualClock(), threading.Event(), threading.Event()

    async def source() -> AsyncIterator[Any]:
        yield 0, "a"
        begun.set()
        while not released.is_set():
            await asyncio.sleep(0.001)
        yield 0, "late"
        yield 1, "b"

    sink = Until(0, released)
    with Ticking(clock, begun, released):
        results = gathering().run(
            engine="asyncio",
            sources={"values": with_idleness(source, 20, clock=clock)},
            sinks={"lists": sink},
            timeout=GUARD,
        )
    assert sink.seen == [(0, ["a"]), (1, ["b"])]
    assert results == {"late": [(0, "late")]}


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_the_clock_of_the_machine_serves_as_well(engine: str) -> None:
    released = threading.Event()
    source = silent(engine, [(0, "a")], 0, released, [(0, "late")])
    sink = Until(0, released)
    results = gathering().run(
        engine=engine,
        sources={"values": with_idleness(source, 0.01, clock=SystemClock())},
        sinks={"lists": sink},
        timeout=GUARD,
    )
    assert sink.seen == [(0, ["a"])]
    assert results == {"late": [(0, "late")]}


@engines
def test_many_items_pass_in_order(engine: str) -> None:
    items = [item for time in range(50) for item in (*((time, value) for value in range(100)), Complete((time + 1,)))]
    values = with_idleness(items, 1_000.0)
    results = gathering().run(engine=engine, sources={"values": values}, timeout=GUARD)
    assert results == {"lists": [(time, [*range(100)]) for time in range(50)]}


@engines
def test_what_a_silent_source_raises_stops_the_run(engine: str) -> None:
    def source() -> Iterator[Any]:
        yield 0, "a"
        raise OSError("the wire is cut")

    with pytest.raises(SourceFailed, match="PS724: the source of 'values' failed: OSError: the wire is cut"):
        gathering().run(engine=engine, sources={"values": with_idleness(source, 1_000.0)}, timeout=GUARD)


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_a_run_that_stops_does_not_wait_for_a_silent_source(engine: str) -> None:
    """The source is blocked; only its own thread is left, and ends with it."""
    cancel, released = threading.Event(), threading.Event()

    def source() -> Iterator[Any]:
        cancel.set()
        released.wait(GUARD)
        yield 0, "a"

    before = set(threading.enumerate())
    with pytest.raises(PointstampError) as caught:
        gathering().run(engine=engine, sources={"values": with_idleness(source, 1_000.0)}, cancel=cancel)
    assert caught.value.code == "PS712"
    left = set(threading.enumerate()) - before
    assert {thread.name for thread in left} <= {"source that may be silent"}
    released.set()
    for thread in left:
        thread.join(GUARD)
        assert not thread.is_alive()


# --- several inputs, and mistakes ------------------------------------------------------------------------------------


@engines
def test_each_input_advances_in_its_own_way_over_its_own_times(engine: str) -> None:
    """Numbered batches on one side; on the other rounds of event time within the same numbers."""
    graph = Graph().node("batches", summary="enter").node("gather", time={"lex": ["nat", "nat"]})
    graph.edge(None, "batches", "left").edge("batches", "gather", "middle")
    graph.edge(None, "gather", "right").edge("gather", None, "lists")
    right = by_event_time(
        [(0, "p"), (1, "q"), (4, "r"), (0, "s")],
        itemgetter(0),
        value=itemgetter(1),
        at=lambda when: (when // 2, when % 2),
    )
    results = Dataflow(graph, {"gather": Gather()}).run(
        engine=engine, sources={"left": by_count("abc", every=2), "right": right}, timeout=GUARD
    )
    assert Counter((time, tuple(value)) for time, value in results["lists"]) == Counter(
        [((0, 0), ("a", "b", "p")), ((0, 1), ("q",)), ((1, 0), ("c",)), ((2, 0), ("r",))]
    )
    assert results["late"] == [((0, 0), "s")]


@pytest.mark.parametrize(
    "make",
    [
        lambda: by_count("abc", every=0),
        lambda: by_event_time([1], int, window=0),
        lambda: by_event_time([1], int, lateness=-1),
        lambda: with_idleness([(0, 1)], 0),
        lambda: with_idleness([(0, 1)], 1, follow=[[(0, 1)]]),  # type: ignore[list-item]
        lambda: gathering("unit").run(sources={"values": with_idleness([(None, 1), SILENT], 1)}),
    ],
)
def test_a_policy_that_cannot_work_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(PointstampError) as caught:
        make()
    assert caught.value.code == "PS720"
    assert caught.value.hint


def test_a_policy_tells_how_far_it_is() -> None:
    source = Policy([(0, "a"), Complete((4,))], lambda: lambda item: (item,)).source_for({})  # that of one run
    heard: list[tuple[Any, ...]] = []
    end = source.follow(lambda: heard.append((*source.reached, source.has_ended)))
    items: Any = source.items_for("sim", "values", Nat())
    assert [*items] == [(0, "a"), Complete((4,))]
    assert heard == [(4, False), (4, True)]
    end()
    again: Any = source.items_for("sim", "values", Nat())
    assert [*again] == [(0, "a"), Complete((4,))]
    assert len(heard) == 2
