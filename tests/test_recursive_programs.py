"""Recursive programs: right in any order of events, because of the notifications; afterwards nothing is left."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, load
from progress import PointstampError, Tracker
from progress.memory import without_cycle_search
from progress.refusal import Refusal
from recursion.driver import Driver, Out, Result
from recursion.stack import Stack

PROGRAMS = Path(__file__).resolve().parent.parent / "examples" / "recursion"
SEEDS = range(25)
ORDERS: list[dict[str, Any]] = [{}, {"newest_first": True}, *({"seed": seed} for seed in SEEDS)]


def program(name: str) -> Any:
    """An example, for its nodes."""
    return import_module(f"examples.recursion.{name}")


def nodes_of(name: str) -> dict[str, Any]:
    """The nodes of a program whose graph is divide.yaml."""
    module = program(name)
    return {"split": module.Split(), "combine": module.Combine()}


def value(graph: Graph, nodes: dict[str, Any], given: Any, **order: Any) -> Any:
    """The one result of a call."""
    driver = Driver(graph, nodes, **order)
    driver.begin(given)
    (result,) = driver.run()
    assert result.location == graph.network().nodes[-1] or not result.time.depth
    assert_nothing_is_left(driver)
    return result.value


def frames(tracker: Tracker) -> Any:
    """The frames of a tracker without epochs."""
    return tracker._engine.trees[None]  # type: ignore[attr-defined]


def assert_nothing_is_left(driver: Driver) -> None:
    """Neither in the tracker nor in what it runs on."""
    tracker = driver.tracker
    assert (tracker.messages(), tracker.pending(), len(frames(tracker))) == ({}, (), 1)
    assert frames(tracker).is_empty
    tracker._check()


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["mergesort", "quicksort"])
def test_sorting_sorts_in_any_order_of_events(sort: str) -> None:
    graph = load(PROGRAMS / "divide.yaml")
    for number, order in enumerate(ORDERS):
        rng = random.Random(number)
        numbers = [rng.randrange(30) for _ in range(rng.randrange(60))]
        nodes = nodes_of(sort)
        assert value(graph, nodes, numbers, **order) == sorted(numbers), (order, numbers)
        assert set(map(len, (vars(node) for node in nodes.values() if vars(node)))) <= {1}
        assert all(not kept for node in nodes.values() for kept in vars(node).values()), order


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
        for order in ORDERS[: 6 if n > 8 else None]:
            assert value(graph, nodes_of("fibonacci"), n, **order) == before, (n, order)
        before, after = after, before + after


def ackermann(order: dict[str, Any], *given: int) -> tuple[int, int]:
    """The result, and how deep the stacks were."""
    module = program("ackermann")
    combine = module.Combine()
    nodes = {"case": module.Case(), "between": module.Between(), "combine": combine}
    return value(load(PROGRAMS / "ackermann.yaml"), nodes, given, **order), combine.deepest


def test_ackermann_is_right_in_any_order_of_events() -> None:
    closed: list[Callable[[int], int]] = [
        lambda n: n + 1,
        lambda n: n + 2,
        lambda n: 2 * n + 3,
        lambda n: 2 ** (n + 3) - 3,
    ]
    for m, function in enumerate(closed):
        for n in range(6 - 2 * (m == 3) - m // 2):
            for order in ORDERS[: 4 if m == 3 else 12]:
                assert ackermann(order, m, n)[0] == function(n), (m, n, order)


def test_ackermann_nests_thousands_deep_without_recursion_of_python() -> None:
    found, deepest = ackermann({}, 1, 5_000)
    assert found == 5_002
    assert deepest >= 4_999


@pytest.mark.parametrize("order", ORDERS[:10])
def test_two_graphs_that_call_each_other(order: dict[str, Any]) -> None:
    module = program("even_odd")
    graph = load(PROGRAMS / "even_odd.yaml")
    rng = random.Random(str(order))

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
    assert value(graph, nodes, given, **order) == sorted(named(given, True))


# --- notifications ---------------------------------------------------------------------------------------------------


class Watched:
    """A node that somebody looks at."""

    def __init__(self, node: Any, see: Callable[[Any], object]) -> None:
        self.node, self.see = node, see

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.see(time)
        self.node.on_message(edge, time, value, out)

    def on_notify(self, time: Any, out: Out) -> None:
        self.node.on_notify(time, out)


class Leaves:
    """Halves a number until it is 1: as many leaves as the number says."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        if value == 1:
            out.send("split->exit", time, 1)
            return
        out.send("split->left", time, value // 2)
        out.send("split->right", time, value - value // 2)


class Counting:
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


class Hasty:
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


@pytest.mark.parametrize("order", ORDERS)
def test_combine_is_notified_once_for_each_stack_and_only_when_both_calls_are_complete(order: dict[str, Any]) -> None:
    graph = load(PROGRAMS / "divide.yaml")
    combine = Counting()
    assert value(graph, {"split": Leaves(), "combine": combine}, 37, **order) == 37
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
        driver = Driver(graph, nodes_of("mergesort") | {"combine": Hasty()}, seed=seed)
        driver.begin(numbers)
        found.add(tuple(tuple(result.value) for result in driver.run()))
    assert len(found) > 3
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
        driver = Driver(graph, {"split": OneSided(), "combine": Guessing()}, seed=seed)
        driver.begin(30)
        guessed.add(tuple(result.value for result in driver.run()))
    assert len(guessed) > 1
    assert (30,) not in guessed


class Bit:
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


@pytest.mark.parametrize("order", ORDERS)
def test_a_stack_is_not_complete_while_it_may_still_be_called(order: dict[str, Any]) -> None:
    """Radix sort by a message for each number: a call may have returned while another one to the same stack is due."""
    rng = random.Random(str(order))
    numbers = [rng.randrange(16) for _ in range(40)]
    combine = Joining()
    assert value(load(PROGRAMS / "divide.yaml"), {"split": Bit(), "combine": combine}, numbers, **order) == sorted(
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


@pytest.mark.parametrize("order", ORDERS[:12])
def test_a_stream_of_calls_comes_out_by_epoch(order: dict[str, Any]) -> None:
    rng = random.Random(str(order))
    given = [rng.randrange(1, 12) for _ in range(12)]
    driver = Driver(load(PROGRAMS / "stream.yaml"), {"split": Leaves(), "combine": Counting()}, **order)
    fed = 0
    while fed < len(given) or driver.step():
        if fed < len(given) and rng.random() < 0.3:
            driver.feed("numbers", (fed, ()), given[fed])
            fed += 1
            driver.complete("numbers", [(fed, ())] if fed < len(given) else [])
        driver.step()
    found = {result.time: result.value for result in driver.results}
    assert len(found) == len(driver.results)
    assert {(epoch, stack.depth): value for (epoch, stack), value in found.items()} == {
        (epoch, 0): value for epoch, value in enumerate(given)
    }
    assert all(result.location == "results" for result in driver.results)
    assert not driver.tracker._engine.trees  # type: ignore[attr-defined]
    assert driver.tracker.pending() == ()


def test_an_epoch_is_complete_when_its_result_has_left_and_no_sooner() -> None:
    driver = Driver(load(PROGRAMS / "stream.yaml"), {"split": Leaves(), "combine": Counting()}, seed=5)
    for epoch in range(5):
        driver.feed("numbers", (epoch, ()), epoch + 1)
    assert not driver.tracker.complete("results", (0, ()))
    driver.complete("numbers", [])
    done: list[int] = []
    while driver.step():
        here = [epoch for epoch in range(5) if driver.tracker.complete("results", (epoch, ()))]
        assert here == list(range(len(here)))
        assert len(here) >= len(done)
        assert set(here) <= {result.time[0] for result in driver.results}
        done = here
    assert done == list(range(5))


def test_epochs_that_are_not_ordered_do_not_wait_for_each_other() -> None:
    """With `nat` the small call of a later epoch waits for the large one before it; beside each other it does not."""

    def order_of_results(epochs: Any, names: list[Any]) -> list[Any]:
        driver = Driver(stream(epochs), {"split": Leaves(), "combine": Counting()})
        for name, size in zip(names, (64, 2), strict=True):
            driver.feed("numbers", (name, ()), size)
        driver.complete("numbers", [])
        return [result.time[0] for result in driver.run()]

    assert order_of_results("nat", [0, 1]) == [0, 1]
    beside = {"finite": {"elements": ["large", "small"], "below": []}}
    assert order_of_results(beside, ["large", "small"]) == ["small", "large"]


# --- what a node does wrong ------------------------------------------------------------------------------------------


def run_until_it_fails(driver: Driver) -> None:
    """Run; the event that fails leaves the tracker as it was."""
    before = driver.tracker.snapshot()
    try:
        while driver.step():
            before = driver.tracker.snapshot()
    finally:
        assert driver.tracker.snapshot() == before


class Does:
    """Halves numbers; at the stack [left] it does something wrong, as long as it is failing."""

    def __init__(self, act: Callable[[Any, Out], object]) -> None:
        self.act, self.failing = act, True

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        if self.failing and time.calls == ("left",):
            out.send("split->combine", time, 1)  # nothing of this may be seen
            self.act(time, out)
        Leaves().on_message(edge, time, value, out)


def raising(time: Any, out: Out) -> None:
    raise ValueError("a number was expected")


WRONG: dict[str, tuple[Callable[[Any, Out], object], str, str]] = {
    "an edge of another node": (lambda time, out: out.send("combine->exit", time, 1), "PS504", "'combine->exit'"),
    "an edge that is none": (lambda time, out: out.send("split->lfet", time, 1), "PS504", "'split->lfet'"),
    "the time outside": (lambda time, out: out.send("split->exit", (), 1), "PS506", "[]"),
    "the call beside": (lambda time, out: out.send("split->exit", ("right",), 1), "PS506", "[right]"),
    "a stack that is none": (lambda time, out: out.send("split->exit", ("up",), 1), "PS612", "('up',)"),
    "no stack at all": (lambda time, out: out.send("split->exit", 3, 1), "PS612", "3"),
    "a request outside": (lambda time, out: out.request(()), "PS506", "[]"),
    "a request beside": (lambda time, out: out.request(("right",)), "PS506", "[right]"),
    "a request that is none": (lambda time, out: out.request(None), "PS612", "None"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_node_may_not_do_is_one_clear_error_and_changes_nothing(what: str) -> None:
    act, code, shown = WRONG[what]
    graph = load(PROGRAMS / "divide.yaml")
    for order in ORDERS[:6]:
        driver = Driver(graph, {"split": Does(act), "combine": Counting()}, **order)
        driver.begin(4)
        with pytest.raises(Refusal) as caught:
            run_until_it_fails(driver)
        error = caught.value
        assert error.code == code
        assert str(error).startswith(f"{code}: the node 'split' at [left]: ")
        assert shown in str(error)
        assert "\n" not in str(error)


def test_what_a_node_raises_passes_on_with_the_place_and_changes_nothing() -> None:
    node = Does(raising)
    driver = Driver(load(PROGRAMS / "divide.yaml"), {"split": node, "combine": (combine := Counting())}, seed=2)
    driver.begin(4)
    with pytest.raises(ValueError, match="a number was expected") as caught:
        run_until_it_fails(driver)
    (note,) = caught.value.__notes__
    assert note == "in the node 'split', by 'entry->split' at [left]"
    node.failing = False  # the event is still there
    assert [result.value for result in driver.run()] == [4]
    assert not combine.arrived
    assert_nothing_is_left(driver)


class FailsOnce(Counting):
    """A combine that fails once."""

    def __init__(self) -> None:
        super().__init__()
        self.has_failed = False

    def on_notify(self, time: Any, out: Out) -> None:
        if not self.has_failed:
            self.has_failed = True
            raise KeyError("lost")
        super().on_notify(time, out)


def test_a_notification_that_fails_is_given_again() -> None:
    driver = Driver(load(PROGRAMS / "divide.yaml"), {"split": Leaves(), "combine": FailsOnce()})
    driver.begin(5)
    with pytest.raises(KeyError) as caught:
        driver.run()
    assert caught.value.__notes__[0].startswith("in the node 'combine', by 'combine' at [")
    assert [result.value for result in driver.run()] == [5]
    assert_nothing_is_left(driver)


def test_a_node_may_send_and_ask_at_later_times() -> None:
    """From [] a message may go to what is called from there; the order at the location says so."""
    graph = load(PROGRAMS / "divide.yaml")

    class Ahead(Leaves):
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            if not time.depth:
                out.send("split->exit", ("left", "right"), value)
                out.send("split->combine", ("left",), value)
                return
            raise AssertionError("nothing comes back to split")

    combine = Seen()
    driver = Driver(graph, {"split": Ahead(), "combine": combine}, seed=1)
    driver.begin(8)
    assert driver.run() == []
    assert sorted((time.calls, edge) for time, edge, _ in combine.arrived) == [
        (("left",), "right->combine"),
        (("left",), "split->combine"),
    ]
    assert_nothing_is_left(driver)


class Seen:
    """Notes what arrives and does nothing."""

    def __init__(self) -> None:
        self.arrived: list[tuple[Any, str, Any]] = []

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.arrived.append((time, edge, value))


def test_out_is_of_no_use_after_its_event() -> None:
    kept: list[tuple[Any, Out]] = []

    class Keeps(Leaves):
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            kept.append((time, out))
            super().on_message(edge, time, value, out)

    driver = Driver(load(PROGRAMS / "divide.yaml"), {"split": Keeps(), "combine": Counting()})
    driver.begin(2)
    driver.run()
    time, out = kept[0]
    later: list[Callable[[], None]] = [lambda: out.send("split->exit", time, 1), lambda: out.request(time)]
    for late in later:
        with pytest.raises(Refusal, match="its event is over") as caught:
            late()
        assert caught.value.code == "PS501"
    assert_nothing_is_left(driver)


@pytest.mark.parametrize(
    ("name", "code"), [("entry", "PS504"), ("exit", "PS504"), ("left", "PS504"), ("call-left", "PS502"), ("x", "PS502")]
)
def test_code_belongs_to_the_nodes_between_calls(name: str, code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        Driver(load(PROGRAMS / "divide.yaml"), {name: Leaves()})
    assert caught.value.code == code
    assert repr(name) in str(caught.value)


def test_a_driver_is_for_graphs_with_calls() -> None:
    with pytest.raises(PointstampError, match="no calls"):
        Driver(Graph().node("only"), {})


def test_a_graph_begins_once_and_only_without_epochs() -> None:
    driver = Driver(load(PROGRAMS / "divide.yaml"), {"split": Leaves(), "combine": Counting()})
    driver.begin(3)
    with pytest.raises(PointstampError):
        driver.begin(4)
    assert [result.value for result in driver.run()] == [3]
    with pytest.raises(PointstampError):
        driver.begin(4)
    with pytest.raises(PointstampError):
        Driver(load(PROGRAMS / "stream.yaml"), {}).begin(3)


def test_inputs_are_refused_as_the_tracker_refuses_them() -> None:
    driver = Driver(load(PROGRAMS / "stream.yaml"), {"split": Leaves(), "combine": Counting()})
    driver.complete("numbers", [(2, ())])
    for edge, time in (("numbers", (1, ())), ("nubmers", (2, ())), ("numbers", 2), ("split", (2, ()))):
        with pytest.raises(PointstampError):
            driver.feed(edge, time, 1)
    with pytest.raises(PointstampError):
        driver.complete("numbers", [(1, ())])
    driver.feed("numbers", (2, ()), 4)
    driver.complete("numbers", [])
    ((_, (epoch, stack), found),) = driver.run()
    assert (epoch, stack.depth, found) == (2, 0, 4)


def test_nodes_without_code_send_on_and_functions_change_what_is_sent() -> None:
    graph = Graph(recursion={"in": "entry", "out": "exit", "calls": ["again"]})
    for name in ("entry", "plus", "case", "again", "relay", "exit"):
        graph.node(name)
    for pair in ("entry plus", "plus case", "case again", "again relay", "case exit", "relay exit"):
        graph.edge(*pair.split())

    class Case:
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            out.send("case->again" if value < 100 else "case->exit", time, value)

    def plus(number: int) -> int:
        return number + 7

    driver = Driver(graph, {"plus": plus, "case": Case()})
    driver.begin(1)
    relation: Any = graph.network().relation
    assert driver.run() == [Result("exit", relation.graph.stacks.empty, 7 * math.ceil(99 / 7) + 1)]
    assert_nothing_is_left(driver)


# --- memory ----------------------------------------------------------------------------------------------------------


def alive(driver: Driver) -> set[Any]:
    """The stacks at which something is outstanding, and those around them."""
    outstanding = {time for _, time in driver.tracker.messages()} | {time for _, time in driver.tracker.pending()}
    found = set()
    for stack in outstanding:
        while stack not in found:
            found.add(stack)
            stack = stack.parent
    return found


@pytest.mark.parametrize("order", ORDERS[:8])
def test_frames_and_stacks_are_those_of_what_is_outstanding(order: dict[str, Any]) -> None:
    combine = Counting()
    driver = Driver(load(PROGRAMS / "divide.yaml"), {"split": Leaves(), "combine": combine}, **order)
    driver.begin(50)
    most = 0
    while driver.step():
        count = len(frames(driver.tracker))
        assert count <= len(alive(driver)) + 1
        most = max(most, count)
    assert most > 5
    assert_nothing_is_left(driver)
    assert (combine.arrived, combine.kept > 1) == ({}, True)


def test_the_newest_event_first_keeps_no_more_calls_open_than_they_nest_deep() -> None:
    most = {}
    for newest_first in (True, False):
        driver = Driver(
            load(PROGRAMS / "divide.yaml"), {"split": Leaves(), "combine": Counting()}, newest_first=newest_first
        )
        driver.begin(256)
        most[newest_first] = 1
        while driver.step():
            most[newest_first] = max(most[newest_first], len(frames(driver.tracker)))
    assert most[True] <= 2 * 8 + 2
    assert most[False] >= 256


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

    with without_cycle_search():
        driver = Driver(graph, {"split": Leaves(), "combine": program("fibonacci").Combine()})
        driver.begin(64)
        most = 0
        while driver.step():
            if len(driver.tracker.messages()) > 30:
                most = max(most, in_use())
        assert most > 60
        assert in_use() == 1


def known(stack: Any, call: Any) -> Any:
    """The stack with one call more, if it is in use."""
    above = stack._above
    if isinstance(above, dict):
        above = above.get(call)
    found = None if above is None else above()
    return found if found is not None and found.call is call else None
