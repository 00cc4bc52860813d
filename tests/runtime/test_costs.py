"""What a run costs, as counted operations: steps of the tracker, nodes that are looked at, times that are walked."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from graphs import Graph
from progress.runtime import Complete, Dataflow, DeadLetter, Node, Out, Retry
from progress.runtime.actions.core import Core
from progress.runtime.actions.inbox import FIRST, Inbox
from progress.runtime.failure import Stop
from progress.runtime.observer import Observer
from progress.semantics import is_behaviour
from progress.tracker import Tracker
from tests.runtime.tools import engines, guarded, line, run


class Sum(Node):
    """The sum of a time, when it is complete."""

    def __init__(self) -> None:
        self.sums: Counter[int] = Counter()

    def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
        self.sums[time] += value
        out.request(time)

    def on_notify(self, time: int, out: Out) -> None:
        out.send(out.edges[0], time, self.sums.pop(time))


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The steps that trackers take."""
    taken: list[Any] = []
    apply = Tracker.apply

    def counted(self: Tracker, **step: Any) -> None:
        taken.append(step)
        apply(self, **step)

    monkeypatch.setattr(Tracker, "apply", counted)
    return taken


# --- lists -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_list_is_brought_in_as_few_steps_by_every_engine(engine: str, steps: list[Any]) -> None:
    """No thread reads what is all there item by item; as much is brought at once as a node is handed at once."""
    threads: set[str] = set()

    def count(value: int) -> int:
        threads.update(thread.name for thread in threading.enumerate())
        return value

    items = [(0, value) for value in range(25_000)]
    results = run(Dataflow(line("p"), {"p": count}), engine, sources={"in": items})
    assert results["out"] == items
    assert "source of in" not in threads
    brought = [step for step in steps if any(change > 0 for _, _, change in step.get("messages") or ())]
    assert len(brought) <= 25, "1,000 at a time, or more"


# --- epochs ----------------------------------------------------------------------------------------------------------


def epochs(count: int) -> list[Any]:
    """Two messages an epoch, and its end."""
    return [item for time in range(count) for item in ((time, 1), (time, time), Complete((time + 1,)))]


def sums(count: int) -> list[tuple[int, int]]:
    return [(time, time + 1) for time in range(count)]


def test_epochs_that_are_at_hand_share_steps_of_the_tracker(steps: list[Any]) -> None:
    """An epoch a step would be 800 steps: it comes, is added up, and is told to be complete, twice."""
    recorded: list[Any] = []
    data = Dataflow(line("p", "q"), {"p": Sum(), "q": Sum()}, sources={"in": epochs(160)})
    assert data.run(record=recorded.append)["out"] == sums(160)
    assert len(steps) < 80
    assert len([step for step in recorded if step.get("delivered")]) == 320, "each call is recorded as a step"
    assert is_behaviour(data.network, recorded, several=True)


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_what_a_node_without_code_passes_on_is_read_together(engine: str, steps: list[Any]) -> None:
    """Times that become one arrive in a few calls, and not in one for each of them."""
    calls: list[int] = []

    class Reads(Node):
        def on_messages(self, edge: str, time: int, values: list[int], out: Out) -> None:
            calls.append(len(values))
            out.send_all("out", time, values)

    graph = Graph().node("window", summary={"round_up": 16}).node("p")
    graph.edge(None, "window", "in").edge("window", "p").edge("p", None, "out")
    items = [item for time in range(320) for item in ((time, time), Complete((time + 1,)))]
    found = Dataflow(graph, {"p": Reads()}).run(engine=engine, workers=1, sources={"in": items})
    assert sorted(found["out"]) == [(-(-time // 16) * 16, time) for time in range(320)]
    assert len(calls) <= 320 / 16 * 2 + 1, "a window is in two turns at most"
    assert len(steps) <= 160


def test_who_can_tell_is_told_of_each_epoch(steps: list[Any]) -> None:
    """A sink that listens to the frontier, and a source that makes its items, see every epoch end by itself."""

    class Listener:
        def __init__(self) -> None:
            self.told: list[Any] = []

        def write(self, time: int, value: int) -> None:
            self.told.append((time, value))

        def complete(self, times: tuple[int, ...]) -> None:
            self.told.append(times)

    listener = Listener()
    Dataflow(line("p"), {"p": Sum()}, sources={"in": epochs(20)}, sinks={"out": listener}).run()
    assert listener.told == [each for time in range(20) for each in ((time, time + 1), (time + 1,))] + [()]

    results: list[Any] = []

    def made() -> Iterator[Any]:
        for item in epochs(20):
            yield item
            if type(item) is Complete:
                assert results == sums(*item.times)

    Dataflow(line("p"), {"p": Sum()}, sources={"in": made}, sinks={"out": results}).run()
    assert results == sums(20)


def test_what_fails_among_several_calls_is_entered_alone() -> None:
    class Picky(Sum):
        def on_notify(self, time: int, out: Out) -> None:
            super().on_notify(time, out)
            if time % 5 == 3:
                raise ValueError(time)

    data = Dataflow(line("p"), {"p": Picky()}, sources={"in": epochs(20)}, on_error=DeadLetter("dead"))
    results = data.run()
    assert results["out"] == [each for each in sums(20) if each[0] % 5 != 3]
    assert [failure.time for _, failure in results["dead"]] == [3, 8, 13, 18]


def test_a_time_that_is_ready_and_asked_for_again_is_told_once(steps: list[Any]) -> None:
    """Asking twice is asking once, also where the time is ready and about to be told in the same turn."""

    class Again(Node):
        def __init__(self) -> None:
            self.told: list[int] = []

        def on_start(self, out: Out) -> None:
            for time in range(6):
                out.request(time)

        def on_notify(self, time: int, out: Out) -> None:
            self.told.append(time)
            if time < 4:
                out.request(time + 1)

    assert Dataflow(line("p"), {"p": Again}, sources={"in": []}).run().nodes["p"].told == [0, 1, 2, 3, 4, 5]


# --- held nodes ------------------------------------------------------------------------------------------------------


class Looked(deque[int]):
    """Nodes with work, and how many of them were looked at."""

    looked = 0

    def popleft(self) -> int:
        self.looked += 1
        return super().popleft()


class Looks(Observer):
    def started(self, core: Core) -> None:
        self.runnable = core.runnable = Looked(core.runnable)


class Spread(Node):
    def on_message(self, edge: str, time: int, value: Any, out: Out) -> None:
        for leaving in out.edges:
            out.send(leaving, time, value)


def fan(workers: int, joins: Sequence[str] = ("join",)) -> Graph:
    """in -> source -> workers -> each of some joins -> out."""
    graph = Graph().node("source").edge(None, "source", "in")
    for join in joins:
        graph.node(join).edge(join, None, f"out {join}")
    for number in range(workers):
        graph.node(f"w{number}").edge("source", f"w{number}", f"to {number}")
        for join in joins:
            graph.edge(f"w{number}", join, f"{number} {join}")
    return graph


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_held_nodes_are_looked_at_when_there_is_room(limit: int) -> None:
    """Each worker and the join have at most three calls for a worker; letting all go at once is 20 times as much."""
    looks = Looks()
    data = Dataflow(fan(300), {"source": Spread()}, sources={"in": [(0, 1)] * 3})
    assert len(data.run(limit=limit, observer=looks)["out join"]) == 900
    assert looks.runnable.looked < 300 * 8


class Some(Node):
    """Sends few of the messages on, each on a few of its edges."""

    def __init__(self, number: int) -> None:
        self.number = number

    def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
        for leaving in out.edges:
            if self.sends(value, leaving):
                out.send(leaving, time, (self.number, value))

    def sends(self, value: int, leaving: str) -> bool:
        return (self.number * 7 + value) % 10 == "abc".index(leaving[-1])


class NobodyWaitsInVain(Observer):
    """Who waits for room where there is some is let go by somebody who is on the way."""

    def started(self, core: Core) -> None:
        self.core = core
        self.seen = 0

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        inboxes, limit = self.core.inboxes, self.core.limit
        for number, inbox in enumerate(inboxes):
            if inbox.line and inbox.size < limit:
                self.seen += 1
                going = {*self.core.runnable, *(place for place, each in enumerate(inboxes) if each.busy)}
                assert any(number in inboxes[place].fills for place in going)


@engines
@pytest.mark.parametrize("limit", [1, 3])
def test_a_node_that_does_not_use_its_room_leaves_it_to_others(engine: str, limit: int) -> None:
    """Of the nodes that wait for room most send nothing when they have it, or wait for room elsewhere as well."""
    workers, values = range(40), range(2)
    for seed in range(10):
        rng = Random(seed)
        graph = Graph().node("source").edge(None, "source", "in")
        for join in "abc":
            graph.node(join).edge(join, None, f"out {join}")
        nodes: dict[str, Node] = {"source": Spread()}
        wanted = set()
        for number in workers:
            some = nodes[f"w{number}"] = Some(number)
            graph.node(f"w{number}").edge("source", f"w{number}", f"to {number}")
            for join in rng.sample("abc", rng.randint(1, 3)):
                graph.edge(f"w{number}", join, f"{number} {join}")
                wanted |= {(join, number, value) for value in values if some.sends(value, join)}
        source = [(0, value) for value in values]
        watch = NobodyWaitsInVain()
        (results,) = guarded(
            lambda: run(Dataflow(graph, nodes), engine, sources={"in": source}, limit=limit, observer=watch)  # noqa: B023
        )
        assert {(join, *value) for join in "abc" for _, value in results.get(f"out {join}", ())} == wanted
        assert engine != "sim" or watch.seen


# --- a seed's choice -------------------------------------------------------------------------------------------------


def test_a_seed_chooses_among_many_times_without_walking_through_all() -> None:
    """Every time can be chosen; how many are compared does not grow with how many wait."""
    compared: dict[int, int] = {}
    for waiting in (10 * FIRST, 100 * FIRST):
        graph = Graph(time={"product": ["nat", "nat"]}).node("p").edge(None, "p", "in").edge("p", None, "out")
        inbox = Inbox(graph.network(), 0, Node(), Stop())
        count = 0

        def less_equal(earlier: Any, later: Any) -> bool:
            nonlocal count
            count += 1
            return bool(earlier[0] <= later[0] and earlier[1] <= later[1])

        inbox.orders["in"] = less_equal
        for number in range(waiting):  # none of them is before another
            inbox.put("in", (number, waiting - number), [number])
        rng = Random(1)
        chosen = {inbox.chosen(rng.randrange) for _ in range(3_000)}
        assert max(time for _, time in chosen) > (waiting / 2, 0)
        compared[waiting] = count
    assert compared[100 * FIRST] < 2 * compared[10 * FIRST]


# --- copies ----------------------------------------------------------------------------------------------------------


def test_a_list_that_is_handed_over_is_not_copied() -> None:
    """The sink gets the very list; what fails is taken back; more at the same time follows."""
    lists: list[list[int]] = []
    written: list[Any] = []

    class Makes(Node):
        def __init__(self) -> None:
            self.fails = True

        def on_messages(self, edge: str, time: int, values: Sequence[int], out: Out) -> None:
            lists.append([*values])
            out.hand_over("out", time, lists[-1])
            if self.fails:
                self.fails = False
                raise ValueError
            out.hand_over("out", time, [9])

    class Sink:
        def write_all(self, time: int, values: list[int]) -> None:
            written.append(values)

    data = Dataflow(line("p"), {"p": Makes()}, sources={"in": [(0, 1), (0, 2)]}, on_error=Retry(times=1))
    data.run(sinks={"out": Sink()})
    assert written == [[1, 2, 9]]
    assert written[0] is lists[0] or written[0] is lists[1]
