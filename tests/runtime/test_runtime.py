"""The runtime: what nodes are told and may do, where messages come from and go to, in all engines."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from time import sleep
from typing import Any

import pytest

from graphs import Graph, load
from progress import PointstampError
from progress.runtime import (
    SILENT,
    Complete,
    Dataflow,
    Mapped,
    Messages,
    Node,
    NodeFailed,
    NotAllowed,
    Out,
    Relay,
    SourceFailed,
)
from progress.runtime.actions.core import Core
from progress.runtime.control import TimedOut
from progress.runtime.node import Batch
from progress.runtime.observer import Observer
from tests.runtime.tools import ROOT, Total, engines, line, run


class Doing(Node):
    """Does what the test says, and keeps what it was told."""

    def __init__(self, message: Any = None, notify: Any = None, start: Any = None) -> None:
        self.message = message
        self.notify = notify
        self.start = start
        self.told: list[Any] = []

    def on_start(self, out: Out) -> None:
        if self.start is not None:
            self.start(out)

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.told.append((edge, time, value))
        if self.message is not None:
            self.message(time, value, out)

    def on_notify(self, time: Any, out: Out) -> None:
        self.told.append(time)
        if self.notify is not None:
            self.notify(time, out)


# --- nodes -----------------------------------------------------------------------------------------------------------


@engines
def test_sums_leave_when_their_time_is_complete(engine: str) -> None:
    dataflow = Dataflow(line("double", "total"), {"double": lambda value: 2 * value, "total": Total()})
    items = [(0, 1), (1, 10), (0, 2), Complete((1,)), (2, 100), (1, 20)]
    assert run(dataflow, engine, sources={"in": items}) == {"out": [(0, 6), (1, 60), (2, 200)]}


@engines
def test_what_a_function_returns_is_sent_on_everywhere(engine: str) -> None:
    graph = Graph().node("p", emits={"later": {"advance": 3}}).edge(None, "p", "in")
    graph.edge("p", None, "now").edge("p", None, "later")
    nodes = {"p": Mapped(lambda word: [*word], flat=True)}
    assert run(Dataflow(graph, nodes), engine, sources={"in": [(0, "ab"), (1, ""), (2, "c")]}) == {
        "now": [(0, "a"), (0, "b"), (2, "c")],
        "later": [(3, "a"), (3, "b"), (5, "c")],
    }


@engines
def test_a_node_without_code_sends_on_as_the_summaries_say(engine: str) -> None:
    graph = Graph(time={"product": ["nat", "nat"]}).node(
        "p", emits={"both": {"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, "none": "never", "outer": "leave"}
    )
    graph.edge(None, "p", "in").edge("p", None, "both").edge("p", None, "none").edge("p", None, "outer")
    results = run(Dataflow(graph), engine, sources={"in": [((0, 0), "a")]})
    assert {edge: sorted(pairs) for edge, pairs in results.items()} == {
        "both": [((0, 1), "a"), ((1, 0), "a")],
        "outer": [(0, "a")],
    }
    assert isinstance(Dataflow(graph, {"p": Relay()}).nodes["p"], Relay)


@engines
def test_messages_of_one_edge_and_time_come_together_and_in_order(engine: str) -> None:
    batches: list[tuple[str, Any, list[Any]]] = []

    class Together(Node):
        def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
            batches.append((edge, time, list(values)))
            out.send_all("out", time, values)

    graph = Graph().node("p").edge(None, "p", "a").edge(None, "p", "b").edge("p", None, "out")
    sources = {"a": [(0, 1), (0, 2), (1, 3), (0, 4)], "b": [(0, 5), (0, 6)]}
    results = run(Dataflow(graph, {"p": Together()}), engine, sources=sources)
    assert Counter(results["out"]) == Counter((time, value) for items in sources.values() for time, value in items)
    for key, values in {("a", 0): [1, 2, 4], ("a", 1): [3], ("b", 0): [5, 6]}.items():
        assert [value for edge, time, batch in batches for value in batch if (edge, time) == key] == values


@engines
@pytest.mark.parametrize("waits", [False, True])
def test_a_batch_is_all_messages_of_a_time(engine: str, waits: bool) -> None:
    class Join(Batch):
        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> Any:
            out.send("out", time, sorted((edge, sorted(values)) for edge, values in messages.items()))

    class Waiting(Join):
        async def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
            await asyncio.sleep(0)
            super().on_batch(time, messages, out)

    graph = Graph().node("p").edge(None, "p", "a").edge(None, "p", "b").edge("p", None, "out")
    join = Waiting() if waits else Join()
    sources = {"a": [(0, 1), (1, 3), (0, 2)], "b": [(1, 4), Complete((2,)), (2, 5)]}
    results = run(Dataflow(graph, {"p": join}), engine, sources=sources)
    assert results["out"] == [(0, [("a", [1, 2])]), (1, [("a", [3]), ("b", [4])]), (2, [("b", [5])])]
    assert join.waiting == {}


@engines
def test_nodes_may_be_asynchronous_in_every_engine(engine: str) -> None:
    class Slow(Total):
        async def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            super().on_message(edge, time, value, out)

        async def on_notify(self, time: Any, out: Out) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            super().on_notify(time, out)

    items = [(0, 1), (0, 2), Complete((1,)), (1, 3)]
    assert run(Dataflow(line("p"), {"p": Slow()}), engine, sources={"in": items}) == {"out": [(0, 3), (1, 3)]}


def test_asynchronous_nodes_wait_side_by_side() -> None:
    """Each of two nodes waits until the other one waits as well."""
    arrived = asyncio.Event(), asyncio.Event()

    class Meeting(Node):
        def __init__(self, own: int) -> None:
            self.own = own

        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            arrived[self.own].set()
            await arrived[1 - self.own].wait()
            out.send(f"out{self.own}", time, value)

    graph = Graph().node("p").node("q").edge(None, "p", "in0").edge(None, "q", "in1")
    graph.edge("p", None, "out0").edge("q", None, "out1")
    dataflow = Dataflow(graph, {"p": Meeting(0), "q": Meeting(1)})
    results = run(dataflow, "asyncio", sources={"in0": [(0, "a")], "in1": [(0, "b")]})
    assert results == {"out0": [(0, "a")], "out1": [(0, "b")]}


@engines
def test_a_node_is_never_called_twice_at_once(engine: str) -> None:
    class Alone(Node):
        busy = 0

        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            self.busy += 1
            for _ in range(3):
                await asyncio.sleep(0)
                assert self.busy == 1
            self.busy -= 1
            out.send("out", time, value)

    graph = Graph().node("p").edge("p", None, "out")
    for number in range(4):
        graph.edge(None, "p", f"in{number}")
    sources = {f"in{number}": [(time, number) for time in range(5)] for number in range(4)}
    assert len(run(Dataflow(graph, {"p": Alone()}), engine, sources=sources)["out"]) == 20


@engines
def test_a_node_without_on_message_loses_no_message_in_silence(engine: str) -> None:
    with pytest.raises(NodeFailed, match="Node has no on_message, and a message came in on 'in'"):
        run(Dataflow(line("p"), {"p": Node()}), engine, sources={"in": [(0, 1)]})


# --- notifications ---------------------------------------------------------------------------------------------------


@engines
def test_a_notification_comes_once_for_each_time_that_was_asked_for(engine: str) -> None:
    def ask(time: int, value: Any, out: Out) -> None:
        for _ in range(3):
            out.request(time)
        out.request(time + 5)

    node = Doing(ask)
    items = [(time, value) for time in (0, 2, 1) for value in range(4)]
    run(Dataflow(line("p"), {"p": lambda: node}), engine, sources={"in": items})
    notified = [told for told in node.told if isinstance(told, int)]
    assert notified == [0, 1, 2, 5, 6, 7]  # in the order of times, where they are in a row
    for time in (0, 1, 2):
        assert [told[2] for told in node.told if not isinstance(told, int) and told[1] == time] == [0, 1, 2, 3]
        assert node.told.index(("in", time, 3)) < node.told.index(time)


@engines
def test_a_notification_may_be_asked_for_again_when_it_was_delivered(engine: str) -> None:
    left = [2]

    def again(time: int, out: Out) -> None:
        out.send("out", time, left[0])
        if left[0]:
            left[0] -= 1
            out.request(time)

    node = Doing(lambda time, value, out: out.request(time), again)
    results = run(Dataflow(line("p"), {"p": lambda: node}), engine, sources={"in": [(3, "a")]})
    assert results == {"out": [(3, 2), (3, 1), (3, 0)]}


@engines
def test_on_start_requests_what_nothing_has_led_to(engine: str) -> None:
    def start(out: Out) -> None:
        out.request(4)
        out.request(0)

    node = Doing(start=start, notify=lambda time, out: out.send("out", time, "told"))
    items = [(0, "a"), Complete((4,)), (4, "b")]
    assert run(Dataflow(line("p"), {"p": lambda: node}), engine, sources={"in": items}) == {
        "out": [(0, "told"), (4, "told")]
    }
    assert sorted(node.told, key=str) == [("in", 0, "a"), ("in", 4, "b"), 0, 4]
    assert node.told.index(("in", 0, "a")) < node.told.index(0)
    assert node.told[-1] == 4
    assert run(Dataflow(line("p"), {"p": Doing(start=start)}), engine) == {}


def test_a_node_may_not_send_when_it_starts() -> None:
    with pytest.raises(NodeFailed) as caught:
        Dataflow(line("p"), {"p": Doing(start=lambda out: out.send("out", 0, 1))}).run()
    assert (caught.value.code, caught.value.node) == ("PS702", "p")


@engines
def test_no_notification_comes_before_what_is_still_on_its_way(engine: str) -> None:
    """A long way and a short one to the same node: it is told when both have come."""
    graph = Graph().node("fork").node("join").edge(None, "fork", "in").edge("fork", "join", "short")
    before = "fork"
    for number in range(5):
        graph.node(f"step{number}").edge(before, f"step{number}")
        before = f"step{number}"
    graph.edge(before, "join", "long").edge("join", None, "out")
    node = Doing(lambda time, value, out: out.request(time))
    items = [item for time in range(20) for item in ((time, "x"), Complete((time + 1,)))]
    run(Dataflow(graph, {"join": lambda: node}), engine, sources={"in": items})
    for time in range(20):
        place = node.told.index(time)
        assert {("short", time, "x"), ("long", time, "x")} <= set(node.told[:place])
        assert node.told.count(time) == 1


# --- sends and requests that are refused -----------------------------------------------------------------------------

GRAPH = Graph().node("p", emits={"later": {"advance": 2}}, requests={"advance": 1}).node("q", notify=False)
GRAPH.edge(None, "p", "in").edge("p", None, "out").edge("p", "q", "later").edge("q", None, "end")


@engines
@pytest.mark.parametrize(
    ("wrong", "code", "says"),
    [
        (lambda out: out.send("in", 3, 1), "PS701", ("'p'", "'in'", "'out', 'later'")),
        (lambda out: out.send("end", 3, 1), "PS701", ("'p'", "'end'")),
        (lambda out: out.send_all("nowhere", 3, [1]), "PS701", ("'p'", "'nowhere'")),
        (lambda out: out.earliest("nowhere"), "PS701", ("'p'", "'nowhere'")),
        (lambda out: out.send("out", 2, 1), "PS702", ("'p'", "'out'", "at 2", "received 3", "after 3")),
        (lambda out: out.send("later", 4, 1), "PS702", ("'p'", "'later'", "at 4", "received 3", "after 5")),
        (lambda out: out.send_all("later", 4, [1, 2]), "PS702", ("'p'", "'later'", "at 4", "received 3")),
        (lambda out: out.send("out", (3, 0), 1), "PS503", ("'p'", "'out'", "(3, 0)", "a time of nat")),
        (lambda out: out.send("out", [3], 1), "PS503", ("'p'", "'out'", "[3]")),
        (lambda out: out.send_all("out", {}, [1]), "PS503", ("'p'", "'out'", "{}")),
        (lambda out: out.request(3), "PS703", ("'p'", "at 3", "received 3")),
        (lambda out: out.request("x"), "PS503", ("'p'", "'x'", "a time of nat")),
        (lambda out: out.request([4]), "PS503", ("'p'", "[4]")),
    ],
)
def test_what_the_graph_does_not_declare_is_refused_at_the_line_that_does_it(
    engine: str, wrong: Callable[[Out], None], code: str, says: tuple[str, ...]
) -> None:
    refused: list[NotAllowed] = []
    reached: list[str] = []

    def message(time: int, value: Any, out: Out) -> None:
        out.send("out", 3, "sent before, and taken back")
        out.request(9)
        try:
            wrong(out)  # this line
        except NotAllowed as error:
            refused.append(error)
            raise
        reached.append("the next line")

    sink: list[Any] = []
    node = Doing(message)
    with pytest.raises(NodeFailed) as caught:
        run(Dataflow(GRAPH, {"p": lambda: node}), engine, sources={"in": [(3, "a")]}, sinks={"out": sink, "end": sink})
    failure = caught.value
    assert (failure.code, failure.node, failure.time, failure.value) == (code, "p", 3, "a")
    assert failure.error is refused[0]
    assert all(word in str(failure) for word in says), str(failure)
    assert "# this line" in failure.trace
    assert "progress/runtime" not in failure.trace
    assert (reached, sink, node.told) == ([], [], [("in", 3, "a")])  # nothing of the call has happened


@engines
def test_a_refusal_that_a_node_catches_is_over(engine: str) -> None:
    def message(time: int, value: Any, out: Out) -> None:
        with pytest.raises(NotAllowed):
            out.send("out", time - 1, value)
        out.send("out", time, value)

    assert run(Dataflow(line("p"), {"p": Doing(message)}), engine, sources={"in": [(3, "a")]}) == {"out": [(3, "a")]}


@engines
def test_a_node_that_never_asks_may_not_ask(engine: str) -> None:
    node = Doing(lambda time, value, out: out.request(time + 1))
    with pytest.raises(NodeFailed, match="PS703: 'q' requests a notification, and the graph says that it never does"):
        run(Dataflow(GRAPH, {"q": lambda: node}), engine, sources={"in": [(3, "a")]})
    with pytest.raises(NodeFailed, match="PS703: 'q' requests"):
        run(Dataflow(GRAPH, {"q": Doing(start=lambda out: out.request(0))}), engine)


@engines
@pytest.mark.parametrize(
    "late",
    [
        lambda out: out.send("out", 5, 1),
        lambda out: out.send_all("out", 5, [1]),
        lambda out: out.send("out", 3, 1),  # where the call itself has sent something
        lambda out: out.request(8),
    ],
)
def test_out_is_of_no_use_after_its_call(engine: str, late: Callable[[Out], None]) -> None:
    kept: list[Out] = []

    def message(time: int, value: Any, out: Out) -> None:
        out.send("out", time, value)
        out.request(time)
        kept.append(out)

    node = Doing(message, lambda time, out: late(kept[0]))
    with pytest.raises(NodeFailed, match="PS704: 'p' uses `out` after the call it was given for") as caught:
        run(Dataflow(line("p"), {"p": lambda: node}), engine, sources={"in": [(3, "a")]})
    assert (caught.value.node, caught.value.time, caught.value.value) == ("p", 3, None)


# --- times, loops, recursion -----------------------------------------------------------------------------------------


@engines
def test_inputs_over_different_times_meet_in_one_node(engine: str) -> None:
    """Days by number on one side, and on the other letters in a partial order, which say what is to be kept of them."""
    letters = {"finite": {"elements": ["a", "b", "c"], "below": [["a", "b"], ["a", "c"]]}}
    pair = {"product": ["nat", letters]}
    graph = Graph().node("days", emits={"dated": {"enter": "a"}}).node("join", time=pair).node("letters", time=letters)
    graph.edge(None, "days", "left").edge("days", "join", "dated")
    graph.edge(None, "letters", "right").edge("letters", None, "seen").edge(None, "join", "pairs")
    graph.edge("join", None, "out")
    sources = {
        "left": [(1, 10), Complete((2,)), (0, "late")],
        "right": [("b", 1), ("a", 2)],
        "pairs": [((1, "b"), 5), Complete(((1, "c"), (2, "a"))), ((1, "b"), "late"), ((1, "c"), 7)],
    }
    results = run(Dataflow(graph, {"join": Total()}), engine, sources=sources)
    assert {edge: Counter(pairs) for edge, pairs in results.items()} == {
        "seen": Counter([("b", 1), ("a", 2)]),
        "out": Counter([((1, "a"), 10), ((1, "b"), 5), ((1, "c"), 7)]),
        "late": Counter([(0, "late"), ((1, "b"), "late")]),
    }


@engines
def test_a_loop_goes_round_until_the_data_says_so(engine: str) -> None:
    class Halve(Node):
        def on_message(self, edge: str, time: Any, number: int, out: Out) -> None:
            epoch, _ = time
            if number % 2:
                out.send("done", epoch, (number, time[1]))
            else:
                out.send("around", time, number // 2)

    graph = Graph(time={"product": ["nat", "nat"]}).node("halve", emits={"done": "leave"})
    graph.node("again", summary="feedback").edge(None, "halve", "in").edge("halve", "again", "around")
    graph.edge("again", "halve", "back").edge("halve", None, "done")
    numbers = [((epoch, 0), number) for epoch, number in ((0, 96), (0, 7), (1, 1024), (2, 6))]
    results = run(Dataflow(graph, {"halve": Halve()}), engine, sources={"in": numbers})
    assert Counter(results["done"]) == Counter([(0, (3, 5)), (0, (7, 0)), (1, (1, 10)), (2, (3, 1))])


@engines
def test_each_round_of_a_loop_is_notified_before_the_next(engine: str) -> None:
    """Breadth first through a graph: a round's vertices are known when the round is complete."""
    near = {0: [1, 2], 1: [3], 2: [3, 4], 3: [0, 5], 4: [5], 5: [6], 6: []}

    class Visit(Node):
        def __init__(self) -> None:
            self.seen: set[int] = set()
            self.new: dict[Any, set[int]] = {}

        def on_message(self, edge: str, time: Any, vertex: int, out: Out) -> None:
            self.new.setdefault(time, set()).add(vertex)
            out.request(time)

        def on_notify(self, time: Any, out: Out) -> None:
            new = self.new.pop(time) - self.seen
            self.seen |= new
            out.send_all("found", time, sorted(new))
            out.send_all("around", time, [after for vertex in sorted(new) for after in near[vertex]])

    graph = Graph(time={"product": ["nat", "nat"]}).node("visit").node("again", summary="feedback")
    graph.edge(None, "visit", "in").edge("visit", "again", "around").edge("again", "visit", "back")
    graph.edge("visit", None, "found")
    results = run(Dataflow(graph, {"visit": Visit()}), engine, sources={"in": [((0, 0), 0)]})
    assert sorted(results["found"]) == [
        ((0, round_), vertex) for round_, new in enumerate([[0], [1, 2], [3, 4], [5], [6]]) for vertex in new
    ]


@engines
@pytest.mark.parametrize("order", ["product", "lex"])
def test_loops_nest(engine: str, order: str) -> None:
    """The inner loop counts down, the outer one as often as is said; both say when they are over."""

    class Count(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            left, rounds = value
            if left:
                out.send("inner", time, (left - 1, rounds))
            elif rounds:
                out.send("outer", time[:2], (2, rounds - 1))
            out.request(time)

        def on_notify(self, time: Any, out: Out) -> None:
            out.send("told", time, "complete")

    flat, deep = {order: ["nat", "nat"]}, {order: ["nat", "nat", "nat"]}
    graph = Graph().node("begin", time=flat, summary="enter").node("count", time=deep, emits={"outer": "leave"})
    graph.node("next", time=deep, summary="feedback").node("again", time=flat, summary="feedback")
    graph.edge(None, "begin", "in").edge("begin", "count", "first").edge("count", "next", "inner")
    graph.edge("next", "count", "back").edge("count", "again", "outer").edge("again", "begin", "anew")
    graph.edge("count", None, "told")
    results = run(Dataflow(graph, {"count": Count()}), engine, sources={"in": [((0, 0), (1, 2)), ((1, 0), (0, 0))]})
    wanted = [(0, 0, 0), (0, 0, 1), *((0, round_, step) for round_ in (1, 2) for step in (0, 1, 2)), (1, 0, 0)]
    assert sorted(time for time, _ in results["told"]) == wanted


class Halves(Node):
    """What `examples/recursion/mergesort.py` splits, after an epoch."""

    def on_message(self, edge: str, time: Any, numbers: list[int], out: Out) -> None:
        if len(numbers) < 2:
            out.send("split->exit", time, numbers)
            return
        middle = len(numbers) // 2
        out.send("split->left", time, numbers[:middle])
        out.send("split->right", time, numbers[middle:])


class Combine(Node):
    def __init__(self) -> None:
        self.halves: dict[Any, list[list[int]]] = {}

    def on_message(self, edge: str, time: Any, half: list[int], out: Out) -> None:
        self.halves.setdefault(time, []).append(half)
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        out.send("combine->exit", time, list(merge(*self.halves.pop(time))))


@engines
def test_a_graph_that_calls_itself_needs_no_code_for_calls(engine: str) -> None:
    """Mergesort: each list is a call of its own, at an epoch of its own. The entrance and the calls are relays."""
    lists = [[31, 4, 15, 92, 6, 53, 58, 9, 79, 32, 38, 46, 26, 43, 38, 32, 79], [], [3], [2, 1], [*range(50, 0, -1)]]
    graph = load(ROOT / "examples" / "recursion" / "stream.yaml")

    class Exit(Relay):
        """What an inner call returns is none of the results."""

        def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
            if time == graph.time_from_json("exit", [time[0], []]):
                out.send_all("results", time, values)
            for back in ("exit->ret-left", "exit->ret-right"):
                for after in out.earliest(back):
                    out.send_all(back, after, values)

    dataflow = Dataflow(graph, {"split": Halves(), "combine": Combine(), "exit": Exit()})
    results = run(dataflow, engine, sources={"numbers": [((epoch, ()), each) for epoch, each in enumerate(lists)]})
    sorted_lists = {epoch: sorted(each) for epoch, each in enumerate(lists)}
    assert {epoch: numbers for (epoch, _), numbers in results["results"]} == sorted_lists
    assert len(results["results"]) == len(lists)


@engines
def test_a_call_from_outside_begins_with_a_notification(engine: str) -> None:
    """A graph with calls and without epochs has no input: the entrance requests the empty stack, and begins there."""
    graph = load(ROOT / "examples" / "recursion" / "divide.yaml")
    found: list[list[int]] = []

    class Entry(Relay):
        def on_start(self, out: Out) -> None:
            out.request(())

        def on_notify(self, time: Any, out: Out) -> None:
            out.send("entry->split", time, [5, 3, 8, 1, 9, 2])

    class Exit(Relay):
        def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
            found.extend(values if time == graph.time_from_json("exit", []) else ())
            super().on_messages(edge, time, values, out)

    dataflow = Dataflow(graph, {"entry": Entry(), "split": Halves(), "combine": Combine(), "exit": Exit()})
    run(dataflow, engine)
    assert found == [[1, 2, 3, 5, 8, 9]]


# --- sources ---------------------------------------------------------------------------------------------------------


@engines
def test_a_source_is_an_iterable_or_makes_one(engine: str) -> None:
    pairs = [(0, "a"), (1, "b")]

    def generator() -> Iterator[Any]:
        yield from pairs

    async def slowly() -> AsyncIterator[Any]:
        for pair in pairs:
            await asyncio.sleep(0)
            yield pair

    kinds: list[Any] = [pairs, tuple(pairs), iter(pairs), generator, generator(), lambda: pairs, dict(pairs).items()]
    if engine == "asyncio":
        kinds += [slowly, slowly()]
    for source in kinds:
        assert run(Dataflow(line("p")), engine, sources={"in": source}) == {"out": pairs}


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_an_async_source_needs_an_event_loop(engine: str) -> None:
    async def slowly() -> AsyncIterator[Any]:
        yield 0, "a"

    with pytest.raises(PointstampError) as caught:
        run(Dataflow(line("p")), engine, sources={"in": slowly})
    assert caught.value.code == "PS710"


@engines
def test_a_source_may_be_silent(engine: str) -> None:
    items = [SILENT, (0, "a"), SILENT, SILENT, (1, "b"), SILENT]
    assert run(Dataflow(line("p")), engine, sources={"in": items}) == {"out": [(0, "a"), (1, "b")]}


@engines
def test_a_source_may_give_many_messages_of_a_time_at_once(engine: str) -> None:
    items = [Messages(0, "ab"), (1, "c"), Messages(0, []), Messages(1, range(3)), Complete((1,)),
             Messages(0, ("d", "e")), (1, "f"), Messages(1, ["g"]), Messages(5, [])]  # fmt: skip
    results = run(Dataflow(line("p")), engine, sources={"in": items})
    by_time = {time: [value for at, value in results["out"] if at == time] for time in (0, 1, 5)}
    assert by_time == {0: ["a", "b"], 1: ["c", 0, 1, 2, "f", "g"], 5: []}
    assert results["late"] == [(0, "d"), (0, "e")]


@engines
def test_many_messages_at_once_are_held_like_others(engine: str) -> None:
    """The source is looked at again when there is room, however much it gives each time."""
    given: list[int] = []

    def source() -> Iterator[Any]:
        for number in range(40):
            given.append(number)
            yield Messages(number, [number] * 1_000)

    def take(value: int) -> int:
        assert len(given) - value <= 30
        return value

    results = run(Dataflow(line("p"), {"p": take}), engine, sources={"in": source}, limit=1_000)
    assert Counter(value for _, value in results["out"]) == dict.fromkeys(range(40), 1_000)


@engines
def test_sources_of_the_dataflow_may_be_replaced_for_a_run(engine: str) -> None:
    graph = Graph().node("p").edge(None, "p", "a").edge(None, "p", "b").edge("p", None, "out")
    dataflow = Dataflow(graph, sources={"a": [(0, 1)], "b": [(0, 2)]})
    assert Counter(run(dataflow, engine)["out"]) == Counter([(0, 1), (0, 2)])
    assert Counter(run(dataflow, engine, sources={"a": [(5, 3)]})["out"]) == Counter([(5, 3), (0, 2)])


@engines
def test_late_messages_go_to_a_side_output_and_are_never_lost(engine: str) -> None:
    class Named:
        late = "too-late"

        def __iter__(self) -> Any:
            return self

        items = iter([(2, "a"), Complete((3,)), (1, "b"), (3, "c"), Complete((1,)), (2, "d"), Complete(()), (9, "e")])

        def __next__(self) -> Any:
            return next(self.items)

    kept: list[Any] = []
    results = run(Dataflow(line("p")), engine, sources={"in": Named()}, sinks={"too-late": kept})
    assert (results, kept) == ({"out": [(2, "a"), (3, "c")]}, [(1, "b"), (2, "d"), (9, "e")])
    items = [Complete((3,)), (1, "b")]
    assert run(Dataflow(line("p")), engine, sources={"in": items}) == {"late": [(1, "b")]}


@engines
def test_what_is_completed_in_part_stays_open_for_the_rest(engine: str) -> None:
    """In a partial order an input may be open at some times and closed at others that are beside them."""
    items = [Complete(((0, 3), (2, 0))), ((1, 1), "late"), ((0, 3), "a"), ((2, 2), "b"), Complete(((1, 4),)),
             ((0, 5), "late"), ((1, 4), "c"), ((2, 2), "late")]  # fmt: skip
    results = run(Dataflow(line("p", time={"product": ["nat", "nat"]})), engine, sources={"in": items})
    assert Counter(map(itemgetter(1), results["out"])) == Counter("abc")
    assert [time for time, _ in results["late"]] == [(1, 1), (0, 5), (2, 2)]


@engines
@pytest.mark.parametrize(
    ("items", "code"),
    [
        (["word"], "PS706"),
        ([7], "PS706"),
        ([(1, 2, 3)], "PS706"),
        ([None], "PS706"),
        ([(-1, "a")], "PS503"),
        ([("a", 0)], "PS503"),
        ([([1], "a")], "PS503"),
        ([(True, "a")], "PS503"),
        ([Complete((-1,))], "PS503"),
        ([Messages(0, 7)], "PS706"),  # type: ignore[arg-type]
        ([Messages(-1, [])], "PS503"),
        ([Messages([0], ["a"])], "PS503"),
    ],
)
def test_a_source_that_gives_something_else_is_told_so(engine: str, items: list[Any], code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        run(Dataflow(line("p")), engine, sources={"in": items})
    assert caught.value.code == code
    assert "'in'" in caught.value.message


@engines
def test_what_a_source_raises_stops_the_run(engine: str) -> None:
    def broken() -> Iterator[Any]:
        yield 0, "a"
        raise OSError("the disk is gone")

    with pytest.raises(SourceFailed, match="PS724: the source of 'in' failed: OSError: the disk is gone") as caught:
        run(Dataflow(line("p")), engine, sources={"in": broken})
    assert isinstance(caught.value.error, OSError)
    assert caught.value.edge == "in"
    assert "broken" in caught.value.trace


# --- sinks -----------------------------------------------------------------------------------------------------------


class Keeping:
    """A sink with all there is."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def write_all(self, time: Any, values: Sequence[Any]) -> None:
        self.events += [(time, value) for value in values]

    def complete(self, times: tuple[Any, ...]) -> None:
        self.events.append(times)

    def close(self) -> None:
        self.events.append("closed")


@engines
def test_a_sink_is_a_list_a_function_or_an_object(engine: str) -> None:
    class Writing:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def write(self, time: Any, value: Any) -> None:
            self.seen.append((time, value))

    pairs = [(0, "a"), (0, "b"), (1, "c")]
    given: list[Any] = []
    called: list[Any] = []
    writing, keeping = Writing(), Keeping()
    for sink in (given, lambda *pair: called.append(pair), writing, keeping):
        assert run(Dataflow(line("p")), engine, sources={"in": pairs}, sinks={"out": sink}) == {}
    assert given == called == writing.seen == pairs
    assert [event for event in keeping.events if len(event) == 2] == pairs
    assert keeping.events[-2:] == [(), "closed"]


@engines
def test_a_sink_hears_that_a_time_is_complete_after_the_last_of_it(engine: str) -> None:
    keeping = Keeping()
    items = [(0, 1), Complete((1,)), (2, 2), (1, 3), Complete((3,)), (3, 4)]
    dataflow = Dataflow(line("p"), {"p": Total()})
    run(dataflow, engine, sources={"in": items}, sinks={"out": keeping})
    events = [event for event in keeping.events if event != "closed"]
    assert [event for event in events if len(event) == 2] == [(0, 1), (1, 3), (2, 2), (3, 4)]
    frontiers = [event[0] for event in events if len(event) == 1]
    assert frontiers == sorted(set(frontiers))
    assert events[-1] == ()
    for place, event in enumerate(events):
        if len(event) == 2:
            assert all(frontier[0] <= event[0] for frontier in events[:place] if len(frontier) == 1)


@engines
def test_a_sink_is_closed_whatever_happens(engine: str) -> None:
    keeping = Keeping()
    broken = Doing(lambda time, value, out: 1 // 0)
    with pytest.raises(NodeFailed):
        run(Dataflow(line("p"), {"p": broken}), engine, sources={"in": [(0, 1)]}, sinks={"out": keeping})
    assert keeping.events[-1] == "closed"


class Unclosable:
    """A sink that takes everything, and cannot be closed; it may know that it had failed before."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    def write(self, time: Any, value: Any) -> None:
        pass

    def close(self) -> None:
        raise self.failure or ValueError("it does not close")


class Ends(Observer):
    """Told how a run ends."""

    def __init__(self) -> None:
        self.failures: list[BaseException | None] = []

    def ended(self, core: Any, failure: BaseException | None) -> None:
        self.failures.append(failure)


@engines
def test_what_closing_raises_does_not_hide_why_the_run_failed(engine: str) -> None:
    ends = Ends()
    flow = Dataflow(line("p"), {"p": lambda value: 1 / value})
    with pytest.raises(NodeFailed, match="ZeroDivisionError") as caught:
        run(flow, engine, sources={"in": [(0, 0)]}, sinks={"out": Unclosable()}, observer=ends)
    assert caught.value.__notes__ == ["besides, in the sink of 'out': ValueError: it does not close"]
    with pytest.raises(ValueError, match="it does not close") as alone:
        run(flow, engine, sources={"in": [(0, 1)]}, sinks={"out": Unclosable()}, observer=ends)
    assert ends.failures == [caught.value, alone.value]


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_sink_that_failed_before_the_run_had_to_stop_is_why(engine: str) -> None:
    def slowly() -> Any:
        for number in range(1_000):
            yield number, 1
            sleep(0.01)

    flow = Dataflow(line("p"), sources={"in": slowly})
    failure = OSError("it failed in a thread of its own")
    for sink, expected in ((Unclosable(failure), OSError), (Unclosable(), TimedOut)):
        with pytest.raises(expected) as caught:
            flow.run(engine=engine, sinks={"out": sink}, timeout=0.1)
        assert (caught.value is failure) == (expected is OSError)


@engines
def test_what_a_sink_raises_stops_the_run(engine: str) -> None:
    def full(time: Any, value: Any) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left") as caught:
        run(Dataflow(line("p")), engine, sources={"in": [(0, 1)]}, sinks={"out": full})
    assert caught.value.__notes__ == ["in the sink of 'out' at 0"]


class Full:
    """A sink whose disk is full whenever it is to do something."""

    def __init__(self, at: str) -> None:
        self.at = at

    def _do(self, what: str) -> None:
        if what == self.at:
            raise OSError("no space left")

    def is_new(self) -> None:
        self._do("is_new")

    def write_all(self, time: Any, values: Any) -> Any:
        if self.at == "await":
            return self._later()
        return self._do("write_all")

    async def _later(self) -> None:
        self._do("await")

    def complete(self, times: Any) -> None:
        self._do("complete")

    def ended(self) -> None:
        self._do("ended")

    def close(self) -> None:
        self._do("close")


@engines
@pytest.mark.parametrize("at", ["is_new", "write_all", "await", "complete", "ended", "close"])
def test_what_a_sink_raises_says_of_which_edge_it_is(engine: str, at: str) -> None:
    with pytest.raises(OSError, match="no space left") as caught:
        run(Dataflow(line("p")), engine, sources={"in": [(0, 1)]}, sinks={"out": Full(at)})
    (note,) = caught.value.__notes__
    assert note.startswith("in the sink of 'out'")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Dataflow(line("p"), {"q": str}), "PS708"),
        (lambda: Dataflow(line("p"), {"in": str.upper}), "PS708"),
        (lambda: Dataflow(line("p"), {"p": str}), "PS708"),
        (lambda: Dataflow(line("p"), {"p": Mapped}), "PS708"),  # it needs a function
        (lambda: Dataflow(line("p"), {"p": 7}), "PS708"),  # type: ignore[dict-item]
        (lambda: Dataflow(line("p"), [str.upper]), "PS708"),  # type: ignore[arg-type]
        (lambda: Dataflow(line("p"), sources={"out": []}), "PS709"),
        (lambda: Dataflow(line("p")).run(sources={"nowhere": []}), "PS709"),
        (lambda: Dataflow(line("p")).run(engine="thread"), "PS711"),
        (lambda: Dataflow(line("p")).run(sources={"in": [(0, 1)]}, sinks={"out": 7}), "PS707"),
    ],
)
def test_a_dataflow_that_is_none_is_told_so(make: Callable[[], Any], code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        make()
    assert caught.value.code == code
    assert caught.value.hint


# --- observers -------------------------------------------------------------------------------------------------------


class Watching(Observer):
    def __init__(self) -> None:
        self.events: list[Any] = []
        self.why: Any = None

    def started(self, core: Core) -> None:
        self.core = core
        self.events.append("started")

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self.events.append((node, edge, time, count))

    def brought(self, edge: str, count: int, late: int) -> None:
        self.events.append((edge, count, late))

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self.events.append(failure)


@engines
def test_an_observer_is_told_of_everything_once(engine: str) -> None:
    watching = Watching()
    items = [(0, 1), (0, 2), Complete((1,)), (0, 9), (1, 3)]
    run(Dataflow(line("p"), {"p": Total()}), engine, sources={"in": items}, observer=watching)
    assert (watching.events[0], watching.events[-1]) == ("started", None)
    calls = [event for event in watching.events if isinstance(event, tuple) and len(event) == 4]
    consumed: Counter[Any] = Counter()
    for node, edge, time, count in calls:
        consumed[node, edge, time] += count
    assert consumed == {("p", "in", 0): 2, ("p", "in", 1): 1, ("p", None, 0): 1, ("p", None, 1): 1}
    brought = [event for event in watching.events if isinstance(event, tuple) and len(event) == 3]
    assert (sum(count for _, count, _ in brought), sum(late for _, _, late in brought)) == (3, 1)
    assert watching.core.queued == 0
    assert watching.core.tracker.pending() == ()


@engines
def test_the_steps_of_a_run_are_told_as_a_tracker_takes_them(engine: str) -> None:
    steps: list[Any] = []
    dataflow = Dataflow(line("p"), {"p": Total()})
    run(dataflow, engine, sources={"in": [(0, 1), (0, 2)]}, record=steps.append)
    assert steps[0] == {"start": {"inputs": {"in": [0]}, "requests": []}}
    changes: Counter[Any] = Counter()
    for step in steps[1:]:
        for edge, time, change in step.get("messages", ()):
            changes[edge, time] += change
    assert not +changes
    assert [step["delivered"] for step in steps if "delivered" in step] == [[("p", 0)]]
    assert {"messages": [("out", 0, -1)]} in steps
