"""Recursive programs: right in any order of events, because of the notifications; afterwards nothing is left."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, load
from progress import PointstampError, Tracker
from progress.garbage import without_cycle_search
from progress.runtime import Batch, Complete, Dataflow, Node, NodeFailed, NotAllowed, Out, Retry
from progress.runtime.actions.core import Core
from progress.runtime.durable.checkpoint import capture, resume
from progress.runtime.observer import Observer
from recursion.program import Entrance, Exit, call
from recursion.stack import Stack
from tests.runtime.as_they_are import as_they_are

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "recursion"
SEEDS = range(25)
WAYS: list[dict[str, Any]] = [
    {},
    {"engine": "threads"},
    {"engine": "asyncio"},
    {"limit": 1},
    {"limit": 2, "seed": 100},
    {"engine": "threads", "workers": 2, "limit": 1},
    {"engine": "asyncio", "limit": 1},
    *({"seed": seed} for seed in SEEDS),
]
every_way = pytest.mark.parametrize("way", WAYS, ids=repr)


def program(name: str) -> Any:
    """An example, for its nodes."""
    return import_module(f"examples.recursion.{name}")


def nodes_of(name: str) -> dict[str, Any]:
    """The nodes of a program whose graph is divide.yaml."""
    module = program(name)
    return {"split": module.Split(), "combine": module.Combine()}


class Watch(Observer):
    """Looks at the tracker of a run after each step."""

    def __init__(self, look: Callable[[Tracker], object] = lambda tracker: None) -> None:
        self.look = look

    def started(self, core: Core) -> None:
        self.tracker = core.tracker

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self.look(self.tracker)


def value(graph: Graph, nodes: dict[str, Any], given: Any, **way: Any) -> Any:
    """The one result of a call, after which nothing is left."""
    watch = Watch()
    (result,) = call(graph, as_they_are(nodes), given, observer=watch, **way)
    assert_nothing_is_left(watch.tracker)
    return result


def frames(tracker: Tracker) -> Any:
    """The frames of a tracker without epochs."""
    return tracker._engine.trees[None]  # type: ignore[attr-defined]


def assert_nothing_is_left(tracker: Tracker) -> None:
    """Neither in the tracker nor in what it runs on."""
    assert (tracker.messages(), tracker.pending(), len(frames(tracker))) == ({}, (), 1)
    assert frames(tracker).is_empty
    tracker._check()


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["mergesort", "quicksort"])
def test_sorting_sorts_in_any_order_of_events(sort: str) -> None:
    graph = load(PROGRAMS / "divide.yaml")
    for number, way in enumerate(WAYS):
        rng = random.Random(number)
        numbers = [rng.randrange(30) for _ in range(rng.randrange(60))]
        nodes = nodes_of(sort)
        assert value(graph, nodes, numbers, **way) == sorted(numbers), (way, numbers)
        assert all(not kept for node in nodes.values() for kept in vars(node).values()), way


def test_the_shape_of_quicksort_depends_on_the_data() -> None:
    """Sorted numbers nest as deep as they are many; one call is made at each stack, and none waits for another."""
    graph = load(PROGRAMS / "divide.yaml")
    deepest = {}
    for name, numbers in (("sorted", list(range(50))), ("mixed", random.Random(1).sample(range(50), 50))):
        nodes = nodes_of("quicksort")
        stacks: list[Stack] = []
        nodes["split"] = Watched(nodes["split"], lambda time, seen=stacks: seen.append(time))  # type: ignore[misc]
        assert value(graph, nodes, numbers, seed=3) == list(range(50))
        deepest[name] = max(stack.depth for stack in stacks)
    assert deepest["sorted"] == 49
    assert 5 < deepest["mixed"] < 25


def test_fibonacci_numbers_come_out_in_any_order_of_events() -> None:
    graph = load(PROGRAMS / "divide.yaml")
    before, after = 0, 1
    for n in range(13):
        for way in WAYS[: 10 if n > 8 else None]:
            assert value(graph, nodes_of("fibonacci"), n, **way) == before, (n, way)
        before, after = after, before + after


def ackermann(way: dict[str, Any], *given: int) -> tuple[int, int]:
    """The result, and how deep the stacks were."""
    module = program("ackermann")
    combine = module.Combine()
    nodes = {"case": module.Case(), "between": module.Between(), "combine": combine}
    return value(load(PROGRAMS / "ackermann.yaml"), nodes, given, **way), combine.deepest


def test_ackermann_is_right_in_any_order_of_events() -> None:
    closed: list[Callable[[int], int]] = [
        lambda n: n + 1,
        lambda n: n + 2,
        lambda n: 2 * n + 3,
        lambda n: 2 ** (n + 3) - 3,
    ]
    for m, function in enumerate(closed):
        for n in range(6 - 2 * (m == 3) - m // 2):
            for way in WAYS[: 9 if m == 3 else 16]:
                assert ackermann(way, m, n)[0] == function(n), (m, n, way)


@pytest.mark.parametrize("way", [*WAYS[:4], {"seed": 1}], ids=repr)
def test_ackermann_nests_thousands_deep_without_recursion_of_python(way: dict[str, Any]) -> None:
    found, deepest = ackermann(way, 1, 5_000)
    assert found == 5_002
    assert deepest >= 4_999


@every_way
def test_two_graphs_that_call_each_other(way: dict[str, Any]) -> None:
    module = program("even_odd")
    graph = load(PROGRAMS / "even_odd.yaml")
    rng = random.Random(str(way))

    def tree(depth: int) -> Any:
        if not depth or rng.random() < 0.2:
            return None
        return (f"n{rng.randrange(10**6)}", tree(depth - 1), tree(depth - 1))

    def named(person: Any, counts: bool) -> list[str]:
        if person is None:
            return []
        name, father, mother = person
        return [*([name] if counts else []), *named(father, not counts), *named(mother, not counts)]

    given = ("root", tree(6), tree(6))
    nodes: dict[str, Any] = {}
    for name in ("even", "odd"):
        nodes |= {f"{name}_split": module.Split(name), f"{name}_combine": module.Combine(name)}
    assert value(graph, nodes, given, **way) == sorted(named(given, True))


# --- notifications ---------------------------------------------------------------------------------------------------


class Watched(Node):
    """A node that somebody looks at."""

    def __init__(self, node: Any, see: Callable[[Any], object]) -> None:
        self.node, self.see = node, see

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.see(time)
        self.node.on_message(edge, time, value, out)


class Leaves(Node):
    """Halves a number until it is 1: as many leaves as the number says."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        if value == 1:
            out.send("split->exit", time, 1)
            return
        out.send("split->left", time, value // 2)
        out.send("split->right", time, value - value // 2)


class Counting(Node):
    """Adds up leaves, and notes everything that it is told."""

    def __init__(self) -> None:
        self.arrived: dict[Any, list[tuple[str, int]]] = {}
        self.asked: set[Any] = set()
        self.notified: list[Any] = []
        self.kept = 0

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        assert time not in self.notified, "a message after the notification"
        self.arrived.setdefault(time, []).append((edge, value))
        self.kept = max(self.kept, len(self.arrived))
        self.asked.add(time)
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        self.notified.append(time)
        arrived = dict(self.arrived.pop(time))
        assert arrived.keys() == {"left->combine", "right->combine"}
        out.send("combine->exit", time, sum(arrived.values()))


class Hasty(Node):
    """What it would be without a tracker: acts on the first message, and on no notification."""

    def __init__(self) -> None:
        self.acted: set[Any] = set()

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        if time not in self.acted:
            self.acted.add(time)
            out.send("combine->exit", time, value)


class Guessing(Counting):
    """Acts as soon as there are two messages, which is right for mergesort alone."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        self.arrived.setdefault(time, []).append((edge, value))
        if len(self.arrived[time]) == 2:
            out.send("combine->exit", time, sum(count for _, count in self.arrived.pop(time)))


class OneSided(Leaves):
    """As many leaves, but the right call is made only now and then."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        if value == 1:
            out.send("split->exit", time, 1)
        elif value % 3:
            out.send("split->left", time, value - 1)
            out.send("split->combine", time, 1)
        else:
            out.send("split->left", time, value // 2)
            out.send("split->right", time, value - value // 2 - 1)
            out.send("split->combine", time, 1)


@every_way
def test_combine_is_notified_once_for_each_stack_and_only_when_both_calls_are_complete(way: dict[str, Any]) -> None:
    graph = load(PROGRAMS / "divide.yaml")
    combine = Counting()
    assert value(graph, {"split": Leaves(), "combine": combine}, 37, **way) == 37
    assert len(combine.notified) == len(set(combine.notified)) == 36
    assert set(combine.notified) == combine.asked
    assert not combine.arrived
    depths = [stack.depth for stack in combine.notified]
    assert depths[-1] == 0
    for stack in combine.notified:  # inner calls first
        inner = [
            other for other in combine.notified if other.depth > stack.depth and other.ancestor(stack.depth) is stack
        ]
        place = combine.notified.index(stack)
        assert all(combine.notified.index(other) < place for other in inner)


def test_without_notifications_results_are_wrong_and_depend_on_the_order() -> None:
    graph = load(PROGRAMS / "divide.yaml")
    numbers = [5, 3, 8, 1, 9, 2]
    found = set()
    for seed in SEEDS:
        assert value(graph, nodes_of("mergesort"), numbers, seed=seed) == sorted(numbers)
        results = call(graph, nodes_of("mergesort") | {"combine": Hasty()}, numbers, seed=seed)
        found.add(tuple(map(tuple, results)))
    assert len(found) >= 3
    assert all(list(result) != sorted(numbers) for results in found for result in results)


def test_nobody_can_count_what_to_wait_for() -> None:
    """Where the calls depend on the data, waiting for two messages gives wrong results; the notification is right."""
    graph = load(PROGRAMS / "divide.yaml")

    class Summing(Counting):
        def on_notify(self, time: Any, out: Out) -> None:
            out.send("combine->exit", time, sum(count for _, count in self.arrived.pop(time)))

    guessed = set()
    for seed in SEEDS:
        assert value(graph, {"split": OneSided(), "combine": Summing()}, 30, seed=seed) == 30
        guessed.add(tuple(call(graph, {"split": OneSided(), "combine": Guessing()}, 30, seed=seed)))
    assert len(guessed) > 1
    assert (30,) not in guessed


class Bit(Node):
    """Sends each number on by its next bit, one message for each: many calls are made at one stack, one by one."""

    bits = 4

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        if time.depth == self.bits:
            out.send("split->exit", time, [value])
            return
        for number in value if not time.depth else [value]:
            side = "right" if number >> (self.bits - 1 - time.depth) & 1 else "left"
            out.send(f"split->{side}", time, number)


class Joining(Counting):
    """Joins what came from the left and from the right, in however many messages."""

    def on_notify(self, time: Any, out: Out) -> None:
        self.notified.append(time)
        parts = sorted(self.arrived.pop(time))
        out.send("combine->exit", time, [number for _, numbers in parts for number in numbers])  # type: ignore[attr-defined]


@every_way
def test_a_stack_is_not_complete_while_it_may_still_be_called(way: dict[str, Any]) -> None:
    """Radix sort by a message for each number: a call may have returned while another one to the same stack is due."""
    rng = random.Random(str(way))
    numbers = [rng.randrange(16) for _ in range(40)]
    combine = Joining()
    assert value(load(PROGRAMS / "divide.yaml"), {"split": Bit(), "combine": combine}, numbers, **way) == sorted(
        numbers
    )
    assert len(combine.notified) == len(set(combine.notified))


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    graph = load(PROGRAMS / "divide.yaml")
    orders = []
    for seed in (1, 1, 2):
        combine = Counting()
        value(graph, {"split": Leaves(), "combine": combine}, 20, seed=seed)
        orders.append([stack.calls for stack in combine.notified])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


# --- epochs ----------------------------------------------------------------------------------------------------------


def stream(epochs: Any) -> Graph:
    """The graph of stream.yaml, with epochs of a domain."""
    graph = Graph(
        time={"product": [epochs, "stack"]}, recursion={"in": "entry", "out": "exit", "calls": ["left", "right"]}
    )
    for name in ("entry", "split", "left", "right", "combine", "exit"):
        graph.node(name)
    graph.edge(None, "entry", "numbers")
    for pair in ("entry split", "split left", "split right", "left combine", "right combine", "split exit"):
        graph.edge(*pair.split())
    graph.edge("combine", "exit")
    graph.edge("exit", None, "results")
    return graph


class Over(Exit):
    """Tells when an epoch is over as well."""

    def __init__(self) -> None:
        super().__init__()
        self.over: list[Any] = []

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        super().on_messages(edge, time, values, out)
        if not time[1].depth:
            out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        self.over.append(time[0])


@every_way
def test_a_stream_of_calls_comes_out_by_epoch(way: dict[str, Any]) -> None:
    rng = random.Random(str(way))
    given = [rng.randrange(1, 12) for _ in range(12)]
    items: list[Any] = []
    for epoch, number in enumerate(given):
        items.append(((epoch, ()), number))
        if rng.random() < 0.5:
            items.append(Complete(((epoch + 1, ()),)))
    leave = Over()
    nodes = {"split": Leaves(), "combine": Counting(), "exit": leave}
    watch = Watch()
    dataflow = Dataflow(load(PROGRAMS / "stream.yaml"), as_they_are(nodes))
    results = dataflow.run(sources={"numbers": items}, observer=watch, **way)
    assert results.keys() == {"results"}
    assert all(not stack.depth for (_, stack), _ in results["results"])
    assert sorted((epoch, found) for (epoch, _), found in results["results"]) == [*enumerate(given)]
    assert leave.over == [*range(12)]
    assert leave.results == []
    assert not watch.tracker._engine.trees  # type: ignore[attr-defined]
    assert (watch.tracker.messages(), watch.tracker.pending()) == ({}, ())


def test_a_relay_at_the_end_sends_what_inner_calls_return_to_the_outside_too() -> None:
    """That is what the graph says; `Exit` knows which of it is a result."""
    graph = load(PROGRAMS / "stream.yaml")
    found = []
    for more in ({}, {"exit": Exit()}):
        dataflow = Dataflow(graph, {"split": Leaves(), "combine": Counting(), **more})
        found.append(dataflow.run(sources={"numbers": [((0, ()), 3)]})["results"])
    relayed, results = found
    assert sorted(number for _, number in relayed) == [1, 1, 1, 2, 3]
    assert [((epoch, stack.depth), number) for (epoch, stack), number in results] == [((0, 0), 3)]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_epoch_is_complete_when_its_result_has_left_and_no_sooner(seed: int) -> None:
    left: list[tuple[Any, Any]] = []
    done: list[int] = []

    def look(tracker: Tracker) -> None:
        here = [epoch for epoch in range(5) if tracker.complete("results", (epoch, ()))]
        assert here == [*range(len(here))]
        assert len(here) >= len(done)
        assert set(here) <= {epoch for (epoch, _), _ in left}
        done[:] = here

    dataflow = Dataflow(load(PROGRAMS / "stream.yaml"), {"split": Leaves(), "combine": Counting(), "exit": Exit()})
    calls = [((epoch, ()), epoch + 1) for epoch in range(5)]
    dataflow.run(sources={"numbers": calls}, sinks={"results": left}, observer=Watch(look), seed=seed)
    assert done == [*range(5)]


def test_epochs_that_are_not_ordered_do_not_wait_for_each_other() -> None:
    """With `nat` the small call of a later epoch waits for the large one before it; beside each other it does not."""

    def order_of_results(epochs: Any, names: list[Any]) -> list[Any]:
        dataflow = Dataflow(stream(epochs), {"split": Leaves(), "combine": Counting(), "exit": Exit()})
        calls = [((name, ()), size) for name, size in zip(names, (64, 2), strict=True)]
        return [epoch for (epoch, _), _ in dataflow.run(sources={"numbers": calls})["results"]]

    assert order_of_results("nat", [0, 1]) == [0, 1]
    beside = {"finite": {"elements": ["large", "small"], "below": []}}
    assert order_of_results(beside, ["large", "small"]) == ["small", "large"]


# --- what a node does wrong ------------------------------------------------------------------------------------------


class Before(Watch):
    """Knows the tracker's state before the last event, and after it."""

    def __init__(self) -> None:
        super().__init__(lambda tracker: self.states.append(tracker.snapshot()))
        self.states: list[Any] = []


class Does(Node):
    """Halves numbers; at the stack [left] it does something wrong, the first few times."""

    def __init__(self, act: Callable[[Any, Out], object], failures: float = math.inf) -> None:
        self.act, self.failures = act, failures

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        if self.failures and time.calls == ("left",):
            self.failures -= 1
            out.send("split->combine", time, 1)  # nothing of this may be seen
            self.act(time, out)
        Leaves().on_message(edge, time, value, out)


def raising(time: Any, out: Out) -> None:
    raise ValueError("a number was expected")


WRONG: dict[str, tuple[Callable[[Any, Out], object], str, str]] = {
    "an edge of another node": (lambda time, out: out.send("combine->exit", time, 1), "PS701", "'combine->exit'"),
    "an edge that is none": (lambda time, out: out.send("split->lfet", time, 1), "PS701", "'split->lfet'"),
    "the time outside": (lambda time, out: out.send("split->exit", (), 1), "PS702", "()"),
    "the call beside": (lambda time, out: out.send("split->exit", ("right",), 1), "PS702", "('right',)"),
    "a stack that is none": (lambda time, out: out.send("split->exit", ("up",), 1), "PS503", "('up',)"),
    "no stack at all": (lambda time, out: out.send("split->exit", 3, 1), "PS503", "3"),
    "a request outside": (lambda time, out: out.request(()), "PS703", "()"),
    "a request beside": (lambda time, out: out.request(("right",)), "PS703", "('right',)"),
    "a request that is none": (lambda time, out: out.request(None), "PS503", "None"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_node_may_not_do_is_one_clear_error_and_changes_nothing(what: str) -> None:
    act, code, shown = WRONG[what]
    graph = load(PROGRAMS / "divide.yaml")
    for way in WAYS[:12]:
        watch = Before()
        with pytest.raises(NodeFailed) as caught:
            call(graph, {"split": Does(act), "combine": Counting()}, 4, observer=watch, **way)
        error = caught.value
        assert (error.code, error.node) == (code, "split")
        assert error.time.calls == ("left",)
        assert shown in str(error)
        assert "\n" not in str(error)
        assert way.get("engine") or watch.states[-2] == watch.states[-1]


def test_what_a_node_raises_says_where() -> None:
    with pytest.raises(NodeFailed, match="a number was expected") as caught:
        call(load(PROGRAMS / "divide.yaml"), {"split": Does(raising), "combine": Counting()}, 4, seed=2)
    assert "'split' failed on a message from 'entry->split' at [left]" in str(caught.value)
    assert (caught.value.code, caught.value.time.calls, caught.value.value) == ("PS705", ("left",), 2)


class FailsTwice(Counting):
    """A combine that fails twice."""

    failures = 2

    def on_notify(self, time: Any, out: Out) -> None:
        if self.failures:
            self.failures -= 1
            raise KeyError("lost")
        super().on_notify(time, out)


@every_way
def test_messages_and_notifications_that_fail_are_given_again(way: dict[str, Any]) -> None:
    graph = load(PROGRAMS / "divide.yaml")
    again = Retry(times=2, first_pause=0)
    combine = FailsTwice()
    found = value(graph, {"split": Does(raising, 2), "combine": combine}, 5, on_error=again, **way)
    assert (found, combine.failures, combine.arrived) == (5, 0, {})


@every_way
def test_a_node_may_send_and_ask_at_later_times(way: dict[str, Any]) -> None:
    """Later is what the order at the location says: at `split` what is called, at `combine` what is returned to."""
    graph = load(PROGRAMS / "divide.yaml")

    class Asks(Node):
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            assert not time.depth
            out.request(("left", "right"))

        def on_notify(self, time: Any, out: Out) -> None:
            out.send("split->combine", time, 7)

    class Skips(Node):
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            out.send("combine->exit", time.parent if time.depth else time, value + time.depth)
            if time.depth == 2:
                with pytest.raises(NotAllowed):
                    out.send("combine->exit", ("right",), value)

    assert value(graph, {"split": Asks(), "combine": Skips()}, 8, **way) == 9


@pytest.mark.parametrize("name", ["left", "x"])
def test_code_belongs_to_nodes_and_not_to_calls(name: str) -> None:
    """A call has no code of its own; its parts, which are nodes of the split graph, may have some."""
    with pytest.raises(PointstampError) as caught:
        call(load(PROGRAMS / "divide.yaml"), {name: Leaves()}, 1)
    assert caught.value.code == "PS708"
    assert repr(name) in str(caught.value)


def test_the_parts_of_a_call_may_have_code() -> None:
    """What the call is given, and what it returns, may be changed on the way."""
    nodes = {"split": Leaves(), "combine": Counting(), "ret-left": lambda leaves: leaves * 10}
    assert value(load(PROGRAMS / "divide.yaml"), nodes, 4) == 10 * (10 + 1) + (10 + 1)


def test_only_a_graph_with_calls_and_without_epochs_is_called() -> None:
    with pytest.raises(PointstampError, match="no calls"):
        call(Graph().node("only"), {}, 1)
    with pytest.raises(PointstampError, match="epochs"):
        call(load(PROGRAMS / "stream.yaml"), {}, 3)


def test_a_graph_is_called_as_often_as_one_likes() -> None:
    graph, nodes = load(PROGRAMS / "divide.yaml"), {"split": Leaves(), "combine": Totals()}
    assert [value(graph, nodes, number) for number in (3, 4, 3)] == [3, 4, 3]


class Totals(Batch):
    """Adds up what arrives at a stack."""

    def on_batch(self, time: Any, messages: dict[str, list[int]], out: Out) -> None:
        out.send("combine->exit", time, sum(map(sum, messages.values())))


@every_way
def test_nodes_without_code_send_on_and_functions_change_what_is_sent(way: dict[str, Any]) -> None:
    graph = Graph(recursion={"in": "entry", "out": "exit", "calls": ["again"]})
    for name in ("entry", "plus", "case", "again", "relay", "exit"):
        graph.node(name)
    for pair in ("entry plus", "plus case", "case again", "again relay", "case exit", "relay exit"):
        graph.edge(*pair.split())

    class Case(Node):
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            out.send("case->again" if value < 100 else "case->exit", time, value)

    assert value(graph, {"plus": lambda number: number + 7, "case": Case()}, 1, **way) == 7 * math.ceil(99 / 7) + 1


def test_the_ends_may_have_code_of_ones_own() -> None:
    """The entrance of a run may begin with several values: all are calls at the empty stack."""

    class Several(Entrance):
        def on_notify(self, time: Any, out: Out) -> None:
            for number in self.value:
                out.send("entry->split", time, number)

    nodes = {"entry": Several([4, 9, 2]), "split": Leaves(), "combine": Totals()}
    assert value(load(PROGRAMS / "divide.yaml"), nodes, None) == 15


def test_a_run_goes_on_in_another_process_from_any_event() -> None:
    """What is kept of it has stacks as plain data; it is read by a graph that is loaded anew."""

    def core() -> tuple[Core, Exit]:
        leave = Exit()
        nodes = {"entry": Entrance(9), "split": Leaves(), "combine": Totals(), "exit": leave}
        return Core(load(PROGRAMS / "divide.yaml"), nodes, lambda edge, time, values: None), leave

    def step(running: Core) -> bool:
        node = running.next_node()
        if node is not None:
            running.commit(running.perform(running.take(node)))
        return node is not None

    first, result = core()
    first.start()
    states = [capture(first, [])]
    while step(first):
        states.append(capture(first, []))
    assert result.results == [9]
    assert len(states) > 100
    for state in states[::7]:
        second, result = core()
        resume(second, [], state)
        while step(second):
            pass
        assert result.results == [9]
        assert_nothing_is_left(second.tracker)


# --- memory ----------------------------------------------------------------------------------------------------------


def alive(tracker: Tracker) -> set[Any]:
    """The stacks at which something is outstanding, and those around them."""
    outstanding = {time for _, time in tracker.messages()} | {time for _, time in tracker.pending()}
    found = set()
    for stack in outstanding:
        while stack not in found:
            found.add(stack)
            stack = stack.parent
    return found


@every_way
def test_frames_and_stacks_are_those_of_what_is_outstanding(way: dict[str, Any]) -> None:
    combine = Counting()
    counts: list[int] = []

    def look(tracker: Tracker) -> None:
        counts.append(len(frames(tracker)))
        assert counts[-1] <= len(alive(tracker)) + 1

    watch = Watch(look)
    assert call(
        load(PROGRAMS / "divide.yaml"), as_they_are({"split": Leaves(), "combine": combine}), 50, observer=watch, **way
    )
    assert max(counts) > 5
    assert_nothing_is_left(watch.tracker)
    assert (combine.arrived, combine.kept > 1) == ({}, True)


def test_stacks_that_nobody_holds_are_freed() -> None:
    """All stacks hang on the empty one as long as they are in use; no search for cycles is needed to free them."""
    graph = load(PROGRAMS / "divide.yaml")
    relation: Any = graph.network().relation
    empty = relation.graph.stacks.empty

    def in_use() -> int:
        pending, count = [empty], 0
        while pending:
            stack = pending.pop()
            count += 1
            pending += (above for call in relation.graph.calls if (above := known(stack, call)) is not None)
        return count

    most = 0

    def look(tracker: Tracker) -> None:
        nonlocal most
        if len(tracker.messages()) > 20:
            most = max(most, in_use())

    with without_cycle_search():
        watch = Watch(look)
        call(graph, {"split": Leaves(), "combine": program("fibonacci").Combine()}, 64, observer=watch)
        assert most > 60
        assert in_use() == 1


def known(stack: Any, call: Any) -> Any:
    """The stack with one call more, if it is in use."""
    above = stack._above
    if isinstance(above, dict):
        above = above.get(call)
    found = None if above is None else above()
    return found if found is not None and found.call is call else None
