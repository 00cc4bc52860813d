"""The engines: bounded queues that never block for ever, turns for everybody, an end on request, the same results."""

from __future__ import annotations

import _thread
import asyncio
import random
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import PointstampError
from progress.runtime import SILENT, Complete, Dataflow, Node, Out
from progress.runtime.actions.core import Core
from progress.runtime.node import Mapped
from progress.runtime.observer import Observer
from progress.runtime.policies import explicit
from progress.topology import NO_NODE, Network
from tests.reference.random_graphs import flat_document, random_document
from tests.runtime.tools import ENGINES, GUARD, engines, guarded, line, run

MOST_AT_ONCE = 1_000  # what an engine takes from a source at once


# --- bounded queues --------------------------------------------------------------------------------------------------


class Peak(Observer):
    """The most messages that waited, at any node and at all of them."""

    def __init__(self) -> None:
        self.all = 0
        self.each: Counter[str] = Counter()

    def started(self, core: Core) -> None:
        self.core = core

    def brought(self, edge: str, count: int, late: int) -> None:
        self.look()

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self.look()

    def look(self) -> None:
        self.all = max(self.all, self.core.queued)
        for inbox in self.core.inboxes:
            self.each[inbox.exits.name] = max(self.each[inbox.exits.name], inbox.size)


def many(count: int, each: int = 100) -> Iterator[Any]:
    for number in range(count):
        yield number // each, number
        if number % each == each - 1:
            yield Complete((number // each + 1,))


@engines
def test_a_source_waits_for_a_slow_node(engine: str) -> None:
    """A hundred thousand messages, three nodes, and never more than a few thousand of them in the queues."""

    class Slow(Node):
        async def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
            if engine != "seeded":  # a loop for each call is slow enough
                await asyncio.sleep(0)
            out.send_all("out", time, values)

    count = 3_000 if engine == "seeded" else 100_000
    peak = Peak()
    dataflow = Dataflow(line("fast", "middle", "slow"), {"middle": lambda value: value, "slow": Slow()})
    seen: Counter[int] = Counter()
    results = run(
        dataflow,
        engine,
        sources={"in": many(count)},
        sinks={"out": lambda time, value: seen.update((value,))},
        observer=peak,
        limit=200,
    )
    assert results == {}
    assert seen == Counter(range(count))
    assert 0 < peak.all <= 3 * (200 + MOST_AT_ONCE)


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_node_is_held_while_the_next_one_is_full(engine: str) -> None:
    """Each message becomes a hundred. Without holding, ten thousand would wait at the second node."""
    peak = Peak()
    dataflow = Dataflow(line("many", "one"), {"many": Mapped(lambda value: [value] * 100, flat=True)})
    items = [(time, time) for time in range(100)]  # a time each, so that each is a call of its own
    results = run(dataflow, engine, sources={"in": items}, observer=peak, limit=50)
    assert Counter(results["out"]) == {(time, time): 100 for time in range(100)}
    assert 100 <= peak.each["one"] < 50 + 2 * 100


@engines
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_a_cycle_that_grows_cannot_block_itself(engine: str, limit: int) -> None:
    """Every message makes two, eight times over; queues are full all the time, within the cycle and behind it."""

    class Double(Node):
        def on_message(self, edge: str, time: Any, left: int, out: Out) -> None:
            if left:
                out.send("around", time, left - 1)
                out.send("around", time, left - 1)
            else:
                out.send("leaving", time[0], 1)

    graph = Graph(time={"product": ["nat", "nat"]}).node("double", emits={"leaving": "leave"})
    graph.node("again", summary="feedback").node("sum", time="nat").node("after", time="nat")
    graph.edge(None, "double", "in").edge("double", "again", "around").edge("again", "double", "back")
    graph.edge("double", "sum", "leaving").edge("sum", "after", "further").edge("after", None, "out")
    items = [((time, 0), 8) for time in range(3)]
    (results,) = guarded(lambda: run(Dataflow(graph, {"double": Double()}), engine, sources={"in": items}, limit=limit))
    assert Counter(results["out"]) == {(time, 1): 256 for time in range(3)}


@engines
def test_two_cycles_and_a_join_get_to_the_end_with_the_least_room(engine: str) -> None:
    """Nodes that send to each other in both directions, between parts that are full."""

    class Bounce(Node):
        def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
            for leaving in out.edges:
                (after,) = out.earliest(leaving)
                if value and (after > time or leaving.startswith("on")):
                    out.send(leaving, after, value - 1)

    graph = Graph()
    edges = ["ab", "ba", "bc", "cd", "dc"]
    for name in "abcd":
        graph.node(name, emits={edge: {"advance": 1} for edge in edges if edge[0] == name})
    graph.node("join").edge(None, "a", "in").edge("join", None, "out")
    for name in "abcd":
        graph.edge(name, "join", f"on{name}")
    for edge in edges:
        graph.edge(edge[0], edge[1], edge)
    data = Dataflow(graph, {name: Bounce() for name in "abcd"})
    counts = []
    for limit in (1, 10_000):
        (results,) = guarded(lambda: run(data, engine, sources={"in": [(0, 9)] * 3}, limit=limit))  # noqa: B023
        counts.append(Counter(results["out"]))
    assert counts[0] == counts[1]
    assert counts[0].total() == 75


# --- turns -----------------------------------------------------------------------------------------------------------


class Turns(Observer):
    def __init__(self) -> None:
        self.nodes: list[str] = []

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self.nodes.append(node)


def loops(count: int, rounds: int) -> tuple[Graph, dict[str, Node]]:
    """So many loops beside each other, each with a message that goes round so often."""

    class Round(Node):
        def on_message(self, edge: str, time: Any, left: int, out: Out) -> None:
            if left:
                (around,) = out.edges
                out.send(around, time, left - 1)

    graph = Graph()
    nodes: dict[str, Node] = {}
    for number in range(count):
        graph.node(f"p{number}").node(f"q{number}", summary={"advance": 1})
        graph.edge(None, f"p{number}", f"in{number}").edge(f"p{number}", f"q{number}", f"go{number}")
        graph.edge(f"q{number}", f"p{number}", f"back{number}")
        nodes[f"p{number}"] = Round()
    return graph, nodes


@pytest.mark.parametrize("engine", ["sim", "asyncio"])
def test_nodes_take_turns(engine: str) -> None:
    """Of nodes that all have work, none is called twice before each of the others was called."""
    graph, nodes = loops(5, 40)
    turns = Turns()
    run(Dataflow(graph, nodes), engine, sources={f"in{n}": [(0, 40)] for n in range(5)}, observer=turns)
    counts = Counter(turns.nodes)
    assert set(counts.values()) <= {40, 41}
    middle = turns.nodes[50:-50]
    for place in range(len(middle) - 5):
        assert len({node[1] for node in middle[place : place + 5]}) == 5


@engines
def test_a_node_with_much_to_do_does_not_keep_others_waiting(engine: str) -> None:
    """A hundred thousand messages for one node and one for another, which is done long before the first has all."""
    graph = Graph().node("busy").node("idle").edge(None, "busy", "much").edge(None, "idle", "little")
    graph.edge("busy", None, "out").edge("idle", None, "also")
    count = 2_000 if engine == "seeded" else 50_000
    done: list[int] = []
    seen = [0]

    def out(time: Any, value: Any) -> None:
        seen[0] += 1

    sources = {"much": [(0, "x")] * count, "little": [(0, "y")]}
    sinks = {"out": out, "also": lambda time, value: done.append(seen[0])}
    run(Dataflow(graph), engine, sources=sources, sinks=sinks)
    assert seen == [count]
    assert done[0] <= (count // 2 if engine == "seeded" else 10 * MOST_AT_ONCE)


@engines
def test_a_loop_that_never_rests_lets_its_sources_speak(engine: str) -> None:
    """It goes round until a message from outside tells it to stop."""

    class Poll(Node):
        stop = False

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            if edge == "stop":
                self.stop = True
            elif self.stop:
                out.send("done", time[0], "stopped")
            else:
                out.send("around", time, value)

    graph = Graph(time={"product": ["nat", "nat"]}).node("poll", emits={"done": "leave"})
    graph.node("again", summary="feedback").edge(None, "poll", "go").edge(None, "poll", "stop")
    graph.edge("poll", "again", "around").edge("again", "poll", "back").edge("poll", None, "done")
    sources = {"go": [((0, 0), "x")], "stop": [*[SILENT] * 3, ((0, 0), "now")]}
    assert run(Dataflow(graph, {"poll": Poll()}), engine, sources=sources) == {"done": [(0, "stopped")]}


# --- an end on request -----------------------------------------------------------------------------------------------


def endless() -> Iterator[Any]:
    number = 0
    while True:
        yield number // 10, number
        number += 1
        if number % 10 == 0:
            yield Complete((number // 10,))


class Lines:
    """A sink whose values are whole or not there."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.is_closed = False

    def write_all(self, time: int, values: Sequence[int]) -> None:
        assert not self.is_closed
        self.values += values

    def close(self) -> None:
        self.is_closed = True


@engines
@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_a_run_is_ended_from_outside(engine: str, how: str) -> None:
    before = set(threading.enumerate())
    cancel = threading.Event()
    sink = Lines()

    def count(value: int) -> int:
        if value > 500 and how == "cancel":
            cancel.set()
        return value

    dataflow = Dataflow(line("p"), {"p": count})
    engine, seed = ("sim", 3) if engine == "seeded" else (engine, None)
    with pytest.raises(PointstampError) as caught:
        dataflow.run(
            engine=engine, seed=seed, sources={"in": endless}, sinks={"out": sink},
            cancel=cancel if how == "cancel" else None, timeout=None if how == "cancel" else 0.2,
        )  # fmt: skip
    assert caught.value.code == ("PS712" if how == "cancel" else "PS713")
    assert sink.is_closed
    assert sink.values == list(range(len(sink.values)))
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_an_interrupt_leaves_no_thread(engine: str) -> None:
    before = set(threading.enumerate())
    sink = Lines()

    def interrupt(value: int) -> int:
        if value == 1_000:
            _thread.interrupt_main()
        return value

    with pytest.raises(KeyboardInterrupt):
        Dataflow(line("p", "q"), {"p": interrupt}).run(
            engine=engine, sources={"in": endless}, sinks={"out": sink}, timeout=GUARD
        )
    assert set(threading.enumerate()) == before
    assert sink.is_closed
    assert sink.values == list(range(len(sink.values)))


def test_an_async_source_is_closed_when_the_run_ends() -> None:
    events: list[str] = []

    async def source() -> AsyncIterator[Any]:
        try:
            for number in range(1_000_000):
                await asyncio.sleep(0)
                yield 0, number
        finally:
            events.append("closed")

    cancel = threading.Event()
    with pytest.raises(PointstampError, match="PS712"):
        Dataflow(line("p"), {"p": lambda value: cancel.set() if value == 100 else None}).run(
            engine="asyncio", sources={"in": source}, cancel=cancel
        )
    assert events == ["closed"]


# --- the same results everywhere -------------------------------------------------------------------------------------


class Fixed(Node):
    """Does what does not depend on the order in which messages come: all of a time is worked on together, sorted."""

    def __init__(self, network: Network, node: int) -> None:
        self.asks = network.notifies[node]
        self.may_ask = network.requests[node].apply
        self.below = network.domains[node].less_equal
        self.number = node
        self.kept: dict[Any, list[tuple[str, int, int]]] = {}

    def on_message(self, edge: str, time: Any, value: tuple[int, int], out: Out) -> None:
        if self.asks and any(self.below(each, time) for each in self.may_ask(time)):
            self.kept.setdefault(time, []).append((edge, *value))
            out.request(time)
        else:
            self._send(*value, out)

    def on_notify(self, time: Any, out: Out) -> None:
        kept = sorted(self.kept.pop(time))
        mixed = sum(place * value for place, (_, value, _) in enumerate(kept, 1)) % 997
        self._send(mixed, max(fuel for _, _, fuel in kept), out)

    def _send(self, value: int, fuel: int, out: Out) -> None:
        for place, edge in enumerate(out.edges if fuel else ()):
            for after in out.earliest(edge):
                out.send(edge, after, ((value * 31 + self.number + place) % 997, fuel - 1))


def pipeline(seed: int) -> tuple[Network, dict[str, Any]]:
    """A random graph whose cycles are no trouble, and what comes in; some of it late."""
    rng = random.Random(seed)
    network = None
    while network is None or NO_NODE not in network.sources or NO_NODE not in network.targets:
        document = flat_document(rng) if seed % 2 else random_document(rng)
        if not re.search(r"-\d", repr(document)):  # where times fall, little happens
            network = from_data(document).network()
    sources: dict[str, Any] = {}
    for edge, source, domain in zip(network.edges, network.sources, network.edge_domains, strict=True):
        if source == NO_NODE:
            times = domain.sample()
            items: list[Any] = []
            for _ in range(20):
                time = rng.choice(times)
                value = rng.randrange(100), rng.randint(1, 4)
                items.append((time, value) if rng.random() < 0.8 else Complete((time,)))
            sources[edge] = explicit(items, opens=times[:3])
    return network, sources


def outcome(network: Network, sources: dict[str, Any], engine: str, seed: int | None = None) -> Any:
    nodes = {name: Fixed(network, number) for number, name in enumerate(network.nodes)}
    options = {"limit": 5, "workers": 3} if engine != "sim" else {"seed": seed}
    ends = [edge for edge, target in zip(network.edges, network.targets, strict=True) if target == NO_NODE]
    sinks: dict[str, list[Any]] = {name: [] for name in (*ends, "late")}
    try:
        Dataflow(network, nodes).run(engine=engine, sources=sources, sinks=sinks, timeout=GUARD, **options)
    except PointstampError as error:
        if error.code != "PS739":  # where a cycle does not advance, requests wait for ever, in every engine
            raise
        sinks["waits for ever"] = [(error.message, None)]
    return {edge: Counter(pairs) for edge, pairs in sinks.items() if pairs}


def test_all_engines_give_the_same_multisets_at_each_time() -> None:
    outputs = late = stuck = 0
    for seed in range(200):
        network, sources = pipeline(seed)
        first = outcome(network, sources, "sim")
        for other in (("sim", 1), ("sim", 2), ("threads", None), ("asyncio", None)):
            assert outcome(network, sources, *other) == first, (seed, other)
        late += sum(first.pop("late", Counter()).values())
        stuck += len(first.pop("waits for ever", ()))
        outputs += sum(each.total() for each in first.values())
    assert outputs > 1_000
    assert late > 500
    assert 0 < stuck < 100


def test_the_engines_are_those_that_are_documented() -> None:
    assert set(ENGINES) - {"seeded"} == {"sim", "threads", "asyncio"}


# --- sinks that wait --------------------------------------------------------------------------------------------------


class Slow:
    """A sink that waits before it writes, and must not be asked to write two things at once."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.written: list[Any] = []
        self.fails_at = fails_at
        self._is_busy = False

    async def write(self, time: Any, value: Any) -> None:
        await self._wait()
        if value == self.fails_at:
            raise OSError("the disk is full")
        self.written.append((time, value))

    async def complete(self, times: tuple[Any, ...]) -> None:
        await self._wait()
        self.written.append(times)

    async def _wait(self) -> None:
        assert not self._is_busy
        self._is_busy = True
        await asyncio.sleep(0)
        self._is_busy = False


@engines
def test_a_sink_may_be_async(engine: str) -> None:
    slow = Slow()
    items = [(0, 1), (0, 2), Complete((1,)), (1, 3)]
    run(Dataflow(line("p")), engine, sources={"in": items}, sinks={"out": slow})
    assert [each for each in slow.written if len(each) == 2] == [(0, 1), (0, 2), (1, 3)]
    assert slow.written.index((1,)) == 2
    assert slow.written[-1] == ()

    seen: list[Any] = []

    async def take(time: Any, value: Any) -> None:
        await asyncio.sleep(0)
        seen.append((time, value))

    run(Dataflow(line("p")), engine, sources={"in": items}, sinks={"out": take})
    assert seen == [(0, 1), (0, 2), (1, 3)]


@engines
def test_what_an_async_sink_raises_stops_the_run(engine: str) -> None:
    slow = Slow(fails_at=2)
    with pytest.raises(OSError, match="the disk is full"):
        run(Dataflow(line("p")), engine, sources={"in": [(0, 1), (0, 2), (1, 3)]}, sinks={"out": slow})
    assert slow.written == [(0, 1)]


def test_nodes_wait_for_an_async_sink() -> None:
    """What leaves is awaited while nodes run, but not much of it waits."""
    begun = 0
    ahead = []

    class Counting(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            nonlocal begun
            begun += 1
            out.send("out", time, value)

    async def take(time: Any, value: Any) -> None:
        await asyncio.sleep(0)
        ahead.append(begun - value)

    items = [(number, number) for number in range(5_000)]
    run(Dataflow(line("p"), {"p": Counting()}), "asyncio", sources={"in": items}, sinks={"out": take})
    assert len(ahead) == 5_000
    assert 1 < max(ahead) < 2_000
