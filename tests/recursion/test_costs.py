"""What recursion costs, in operations and not in time: what grows with depth, with calls alive, with epochs, what not.

Counted are `Frames.looked_at`, frames put right, opened or closed and nodes looked at in doing so;
`InFlight.looked_at`, trees asked whether something in them may arrive somewhere; and `reads`: how often a stack is
asked for its parent, its jump or its depth, which is what any walk along stacks has to do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import log2
from operator import itemgetter
from typing import Any

import pytest

from graphs import Graph, load
from progress import CouldResultIn, PointstampError, Tracker
from progress.runtime import Node, Out
from recursion.call_graph import CallGraph
from recursion.order import StackOrder
from recursion.program import call
from recursion.region import Region
from recursion.stack import Stack, first_difference
from tests.recursion.tools import PROGRAMS
from tests.runtime.as_they_are import as_they_are

DEPTHS = (10, 1_000, 100_000)


class Counter:
    """How often something was read."""

    def __init__(self) -> None:
        self.count = 0

    def during(self, work: Callable[[], Any]) -> int:
        """How often during some work."""
        before = self.count
        work()
        return self.count - before


class Counted:
    """A slot that counts its reads."""

    def __init__(self, slot: Any, counter: Counter) -> None:
        self.slot, self.counter = slot, counter

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        self.counter.count += 1
        return self.slot.__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        self.slot.__set__(instance, value)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter]:
    """Reads of stacks."""
    counter = Counter()
    for name in ("parent", "jump", "depth"):
        monkeypatch.setattr(Stack, name, Counted(Stack.__dict__[name], counter))
    yield counter
    monkeypatch.undo()


def call_graph(graph: Graph) -> CallGraph:
    """The graph with its parts."""
    relation: Any = graph.network().relation
    found = relation.graph
    assert isinstance(found, CallGraph)
    return found


def divide() -> Graph:
    """Two calls, each of which may follow neither itself nor the other."""
    return load(PROGRAMS / "divide.yaml")


def again() -> Graph:
    """One call that can follow itself: a path leads from its return back to it."""
    graph = Graph(recursion={"in": "entry", "out": "exit", "calls": ["again", "other"]})
    for name in ("entry", "loop", "again", "other", "exit"):
        graph.node(name)
    for pair in ("entry loop", "loop again", "again loop", "loop exit", "entry other", "other exit"):
        graph.edge(*pair.split())
    return graph


# --- stacks ----------------------------------------------------------------------------------------------------------


def pairs(graph: CallGraph, depth: int) -> Iterator[tuple[Stack, Stack]]:
    """Stacks that differ in their first call, in one in the middle, in the last, and in their depth."""
    one, two, *_ = [call.name for call in graph.calls]
    calls = [one] * depth
    straight = graph.stack(*calls)
    for place in (0, 1, depth // 3, depth // 2, depth - 2, depth - 1):
        other = graph.stack(*calls[:place], two, *calls[place + 1 :])
        yield straight, other
        yield other.ancestor(place + 1), straight
        yield straight.ancestor(place), other


def test_the_first_difference_takes_as_many_steps_as_the_depth_has_digits(reads: Counter) -> None:
    graph = call_graph(divide())
    most = {}
    for depth in DEPTHS:
        found = [
            reads.during(lambda f=f, g=g: first_difference(f, g))  # type: ignore[misc]
            for one, other in pairs(graph, depth)
            for f, g in ((one, other), (other, one))
        ]
        most[depth] = max(found)
        assert most[depth] <= 16 * log2(depth), depth
    assert most[100_000] > most[1_000] > most[10] > 10, "reads are counted"


@pytest.mark.parametrize(("make", "factor"), [(divide, 16), (again, 100)])
def test_questions_about_deep_stacks_take_no_more(reads: Counter, make: Callable[[], Graph], factor: int) -> None:
    """Could-result-in with and without a proof, the order at a location, canonical stacks, sorting."""
    source = make()
    graph = call_graph(source)
    could_result_in = CouldResultIn(source)
    relation: Any = source.network().relation
    order: StackOrder = relation.relation.order(source.network().number("exit"))
    for depth in DEPTHS:
        for one, other in pairs(graph, depth):
            for f, g in ((one, other), (other, one)):
                questions: list[Callable[[], Any]] = [
                    lambda f=f, g=g: could_result_in(("exit", f), ("entry", g)),  # type: ignore[misc]
                    lambda f=f, g=g: order.less_equal(f, g),  # type: ignore[misc]
                    lambda f=f, g=g: order.sort_key(f) < order.sort_key(g),  # type: ignore[misc]
                    lambda f=f: order.canonical(f),  # type: ignore[misc]
                    lambda f=f, g=g: could_result_in.proof(("exit", f), ("exit", g)),  # type: ignore[misc]
                ]
                for number, question in enumerate(questions):
                    assert reads.during(question) <= factor * log2(depth), (number, depth)


def test_making_a_stack_takes_the_same_at_any_depth(reads: Counter) -> None:
    graph = call_graph(divide())
    call = graph.calls[0]
    stack = graph.stacks.empty
    found = []
    for _ in range(20_000):
        before = reads.count
        stack = graph.stacks.push(stack, call)
        found.append(reads.count - before)
    assert max(found) <= 10
    assert reads.during(lambda: graph.stacks.push(stack.parent, call)) <= 2  # the one that is there


# --- steps -----------------------------------------------------------------------------------------------------------


class Twice(Node):
    """Calls twice until a depth is reached."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        for goal in ("left", "right") if value else ("exit",):
            out.send(f"split->{goal}", time, value - 1)


class Once(Node):
    """Calls once until a depth is reached, and tells `combine` so."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        for goal in ("combine", "left") if value else ("exit",):
            out.send(f"split->{goal}", time, value - 1)


class Combine(Node):
    """Waits until all is complete."""

    def __init__(self) -> None:
        self.waiting: set[Any] = set()
        self.most = 0

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        self.waiting.add(time)
        self.most = max(self.most, len(self.waiting))
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        self.waiting.remove(time)
        out.send("combine->exit", time, 0)


class Recorded:
    """The steps of a run, to be taken again by a tracker of its own."""

    def __init__(self, nodes: dict[str, Any], depth: int, **way: Any) -> None:
        self.graph = divide()
        steps: list[dict[str, Any]] = []
        assert call(self.graph, as_they_are(nodes), depth, record=steps.append, **way) == [0 if depth else -1]
        start, *self.steps = steps
        self.requests = start["start"]["requests"]

    def tracker(self) -> Tracker:
        """A tracker that has not taken any of the steps."""
        return Tracker(self.graph, requests=self.requests)


class Cost:
    """What the steps of a run cost."""

    def __init__(self, recorded: Recorded, reads: Counter) -> None:
        tracker: Any = recorded.tracker()
        tracker.get_ready()
        frames = tracker._engine.trees[None]
        self.looked_at: list[int] = []
        self.reads: list[int] = []
        self.frames = 1
        for step in recorded.steps:
            before = frames.looked_at, reads.count
            tracker.apply(**step)
            tracker.get_ready()
            self.looked_at.append(frames.looked_at - before[0])
            self.reads.append(reads.count - before[1])
            self.frames = max(self.frames, len(frames))
        assert len(frames) == 1

    @property
    def mean(self) -> tuple[float, float]:
        """Frames looked at, and reads, a step."""
        return sum(self.looked_at) / len(self.looked_at), sum(self.reads) / len(self.reads)

    @property
    def most(self) -> tuple[int, int]:
        """Frames looked at, and reads, in the most expensive step."""
        return max(self.looked_at), max(self.reads)


@pytest.mark.parametrize(("way", "depths", "frames"), [({}, (4, 8, 11), 3_800), ({"seed": 4}, (4, 7, 9), 300)])
def test_a_step_of_a_tree_costs_the_same_at_any_size(
    reads: Counter, way: dict[str, Any], depths: tuple[int, ...], frames: int
) -> None:
    nodes = {"split": Twice(), "combine": Combine()}
    small, *larger = [Cost(Recorded(nodes, depth, **way), reads) for depth in depths]
    for cost in larger:
        assert cost.mean[0] <= 1.05 * small.mean[0]
        assert cost.mean[1] <= 1.05 * small.mean[1]
        assert cost.most[0] <= 10
        assert cost.most[1] <= 12
    assert small.mean[0] > 0.5
    assert larger[-1].frames >= frames


def test_a_step_of_a_chain_costs_the_same_at_any_depth_with_requests_at_every_level(reads: Counter) -> None:
    costs = []
    for depth in (10, 100, 1_000, 10_000):
        combine = Combine()
        costs.append(Cost(Recorded({"split": Once(), "combine": combine}, depth), reads))
        assert combine.most == depth
        assert costs[-1].frames == depth + 1
    for cost in costs[1:]:
        assert cost.mean[0] <= 1.05 * costs[0].mean[0]
        assert cost.mean[1] <= 1.05 * costs[0].mean[1]
        assert cost.most[0] <= 10
        assert cost.most[1] <= 12


def test_who_waits_is_not_looked_at_before_its_turn(reads: Counter) -> None:
    """Requests that wait beside the one call that goes on do not make its steps dearer."""
    found = []
    for beside in (1, 100, 3_000):
        graph = divide()
        parts = call_graph(graph)
        left, right = parts.calls
        stack = parts.stacks.empty
        tracker = Tracker(graph, requests=[("entry", stack)])
        tracker.apply(messages=[("split->left", stack, 1)])
        for _ in range(beside):  # all of them wait for a message of their own, at stacks of their own
            stack = parts.stacks.push(stack, right)
            tracker.apply(messages=[("entry->split", stack, 1)], requests=[("combine", stack)])
        tracker.apply(delivered=[("entry", ())])
        frames = tracker._engine.trees[None]  # type: ignore[attr-defined]
        before = frames.looked_at, reads.count
        at = parts.stacks.empty
        tracker.apply(messages=[("split->left", at, -1), ("call-left->entry", at := parts.stacks.push(at, left), 1)])
        for edge, onto in (("call-left->entry", "entry->split"), ("entry->split", "split->exit")):
            tracker.apply(messages=[(edge, at, -1), (onto, at, 1)])
        tracker.apply(messages=[("split->exit", at, -1), ("exit->ret-left", at.parent, 1)])
        found.append((frames.looked_at - before[0], reads.count - before[1]))
        assert len(tracker.pending()) == beside
    assert found[0] == found[1] == found[2]
    assert found[0][0] > 2


def test_a_step_of_many_changes_costs_as_much_as_its_changes(reads: Counter) -> None:
    """Messages at all stacks of a depth come, and go, in one step: two frames for each, and the way to its stack."""
    for depth in (4, 8, 11):
        graph = divide()
        parts = call_graph(graph)
        level = [parts.stacks.empty]
        for _ in range(depth):
            level = [parts.stacks.push(stack, call) for stack in level for call in parts.calls]
        tracker = Tracker(graph, requests=[("entry", ())])
        frames = tracker._engine.trees[None]  # type: ignore[attr-defined]
        for change, most in ((1, 2 * depth + 8), (-1, 4)):
            before = frames.looked_at, reads.count
            tracker.apply(messages=[("entry->split", stack, change) for stack in level])
            assert frames.looked_at - before[0] <= 6 * len(level)
            assert reads.count - before[1] <= most * len(level), (depth, change)


def wide(calls: int) -> Graph:
    """A graph with this many calls beside each other."""
    names = [f"call{number}" for number in range(calls)]
    graph = Graph(recursion={"in": "entry", "out": "exit", "calls": names})
    for name in ("entry", "split", *names, "combine", "exit"):
        graph.node(name)
    for name in names:
        graph.edge("split", name)
        graph.edge(name, "combine")
    for source, target in (("entry", "split"), ("split", "exit"), ("combine", "exit")):
        graph.edge(source, target)
    return graph


def test_a_step_costs_the_same_with_any_number_of_calls_alive_at_one_stack() -> None:
    """Calls end one after the other, and a request at their stack waits for the last one."""
    found = []
    for alive in (10, 100, 1_000):
        graph = wide(alive)
        parts = call_graph(graph)
        empty = parts.stacks.empty
        inner = [parts.stacks.push(empty, each) for each in parts.calls]
        tracker = Tracker(graph, requests=[("entry", empty)])
        tracker.apply(messages=[("entry->split", stack, 1) for stack in inner], requests=[("combine", empty)])
        tracker.apply(delivered=[("entry", empty)])
        frames = tracker._engine.trees[None]  # type: ignore[attr-defined]
        steps = []
        for stack in inner:
            assert tracker.get_ready() == () or stack is inner[0]
            before = frames.looked_at
            tracker.apply(messages=[("entry->split", stack, -1)])
            steps.append(frames.looked_at - before)
        assert len(tracker.get_ready()) == 1
        found.append(max(steps))
    assert found[0] == found[1] == found[2]
    assert found[0] <= 10


def test_a_frame_that_closes_looks_at_those_inside_that_this_closes_alone() -> None:
    """A message that could call anything goes on to one call: the frames of the others close, once, and are not seen
    again; `open` ones are those that a call may still enter."""
    graph = wide(300)
    parts = call_graph(graph)
    empty = parts.stacks.empty
    inner = [parts.stacks.push(empty, each) for each in parts.calls]
    tracker = Tracker(graph, requests=[("entry", empty)])
    tracker.apply(messages=[("entry->split", stack, 1) for stack in [empty, *inner]], delivered=[("entry", empty)])
    frames = tracker._engine.trees[None]  # type: ignore[attr-defined]
    counts = []
    for step in (
        [("entry->split", empty, -1), ("split->call0", empty, 1), ("split->call1", empty, 1)],  # 298 close
        [("split->call0", empty, -1)],  # one closes
        [("split->call1", empty, -1)],
    ):
        before = frames.looked_at
        tracker.apply(messages=step)
        counts.append(frames.looked_at - before)
    assert 298 <= counts[0] <= 3 * 300 + 20
    assert counts[1] == counts[2] <= 10


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("slow", [False, True])
def test_a_request_looks_at_few_of_many_epochs(newest_first: bool, slow: bool) -> None:
    """Each epoch has a call, and a request that waits for it; `slow` ones stay in flight where they hold nothing."""
    found = []
    for epochs in (20, 100, 500):
        graph = load(PROGRAMS / "stream.yaml")
        empty = call_graph(graph).stacks.empty
        times = [(epoch, empty) for epoch in range(epochs)]
        tracker: Any = Tracker(graph)
        tracker.apply(messages=[("numbers", time, 1) for time in times], inputs={"numbers": []})
        in_flight = tracker._engine._in_flight
        steps = done = 0
        for time in times:
            beside = [("split->exit", time, 1)] if slow else []
            message = ("split->left", time, 1)
            tracker.apply(messages=[("numbers", time, -1), message, *beside], requests=[("combine", time)])
        before = in_flight.looked_at
        for time in reversed(times) if newest_first else times:
            tracker.apply(messages=[("split->left", time, -1)])
            steps += 1
            for node, at in tracker.get_ready():
                assert node == "combine"
                tracker.apply(delivered=[("combine", at)], messages=[("combine->exit", at, 1)] if slow else [])
                steps, done = steps + 1, done + 1
        assert done == epochs
        assert len(in_flight.trees) == (epochs if slow else 0)
        found.append((in_flight.looked_at - before) / steps)
    assert max(found) <= 4
    assert min(found) >= 0.5


def test_requests_that_one_epoch_holds_back_do_not_look_at_those_before_it() -> None:
    graph = load(PROGRAMS / "stream.yaml")
    empty = call_graph(graph).stacks.empty
    tracker: Any = Tracker(graph)
    messages = [("numbers", (epoch, empty), 1) for epoch in range(200)]
    tracker.apply(messages=messages, requests=[("combine", (epoch, empty)) for epoch in range(101, 200)])
    for epoch in range(200):  # the first hundred are about to end, and only the one after them holds the others back
        edge = "split->left" if epoch == 100 else "split->exit"
        tracker.apply(messages=[("numbers", (epoch, empty), -1), (edge, (epoch, empty), 1)])
    in_flight = tracker._engine._in_flight
    before = in_flight.looked_at
    tracker.apply(inputs={"numbers": []})  # until now the input held all of them back
    assert tracker.get_ready() == ()
    assert in_flight.looked_at - before <= 4 * 200
    tracker.apply(messages=[("split->left", (100, empty), -1)])
    assert len(tracker.get_ready()) == 99


def test_unordered_epochs_do_not_look_at_each_other() -> None:
    names = [f"e{number}" for number in range(200)]
    graph = Graph(
        time={"product": [{"finite": {"elements": names}}, "stack"]},
        recursion={"in": "entry", "out": "exit", "calls": ["again"]},
    )
    for name in ("entry", "again", "combine", "exit"):
        graph.node(name)
    graph.edge(None, "again", "tasks")
    for pair in ("entry again", "again combine", "combine exit", "entry exit"):
        graph.edge(*pair.split())
    empty = call_graph(graph).stacks.empty
    tracker: Any = Tracker(graph)
    tracker.apply(messages=[("tasks", (name, empty), 1) for name in names], inputs={"tasks": []})
    tracker.apply(requests=[("combine", (name, empty)) for name in names])
    in_flight = tracker._engine._in_flight
    before = in_flight.looked_at
    for name in names:
        tracker.apply(messages=[("tasks", (name, empty), -1)])
        ((node, time),) = tracker.get_ready()
        assert (node, time) == ("combine", (name, empty))
        tracker.apply(delivered=[("combine", time)])
    assert in_flight.looked_at - before <= 2 * len(names)


def test_a_frontier_over_epochs_looks_at_each_tree_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same stacks at all epochs are searched once; a refused step says a frontier in its hint."""
    searched = Counter()
    whole = Region.minimal

    def minimal(region: Region, order: StackOrder) -> tuple[Stack, ...]:
        searched.count += 1
        return whole(region, order)

    monkeypatch.setattr(Region, "minimal", minimal)
    for epochs in (10, 300):
        graph = load(PROGRAMS / "stream.yaml")
        empty = call_graph(graph).stacks.empty
        tracker = Tracker(graph)
        times = [(epoch, empty) for epoch in range(epochs)]
        tracker.apply(messages=[("numbers", time, 1) for time in times], inputs={"numbers": []})
        tracker.apply(messages=[each for at in times for each in (("numbers", at, -1), ("entry->split", at, 1))])
        assert searched.during(lambda t=tracker: t.frontier("split")) == 1  # type: ignore[misc]
        assert tracker.frontier("split") == ((0, empty),)
        with pytest.raises(PointstampError, match="PS506") as refused:
            tracker.apply(requests=[("entry", (0, empty))])
        assert refused.value.hint


def test_subscribers_cost_a_search_where_their_frontier_may_have_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message that goes on where no subscribed location comes after it, and no call, costs them nothing."""
    searched = Counter()
    whole = Region.minimal

    def minimal(region: Region, order: StackOrder) -> tuple[Stack, ...]:
        searched.count += 1
        return whole(region, order)

    monkeypatch.setattr(Region, "minimal", minimal)
    graph = divide()
    parts = call_graph(graph)
    left, _ = parts.calls
    empty = parts.stacks.empty
    inner = parts.stacks.push(empty, left)
    tracker = Tracker(graph, requests=[("entry", ())])
    told: list[Any] = []
    for location in ("entry", "split"):
        tracker.subscribe(location, lambda *move: told.append(move))
    costs = [
        searched.during(lambda s=step: tracker.apply(**s))  # type: ignore[misc]
        for step in (
            {"messages": [("entry->split", empty, 1)], "delivered": [("entry", empty)]},
            {"messages": [("entry->split", empty, -1), ("split->left", empty, 1)]},
            {"messages": [("split->left", empty, -1), ("call-left->entry", inner, 1)]},
            {"messages": [("call-left->entry", inner, -1), ("split->exit", inner, 1)]},
            {"messages": [("split->exit", inner, -1), ("exit->ret-left", empty, 1)]},
            {"messages": [("exit->ret-left", empty, -1), ("left->combine", empty, 1)]},
            {"messages": [("left->combine", empty, -1)], "requests": [("combine", empty)]},
            {"messages": [("combine->exit", empty, 1)], "delivered": [("combine", empty)]},
        )
    ]
    assert costs == [1, 2, 2, 2, 0, 0, 0, 0]  # the first step moves nothing at split, where the request held it
    assert tracker.frontier("entry") == tracker.frontier("split") == ()
    assert told


def test_whether_something_deep_is_complete_is_found_by_jumps(reads: Counter) -> None:
    graph = divide()
    parts = call_graph(graph)
    tracker = Tracker(graph, requests=[("entry", ())])
    for depth in DEPTHS:
        stack = parts.stack(*["left"] * depth)
        assert reads.during(lambda at=stack: tracker.complete("combine", at)) <= 16 * log2(depth), depth  # type: ignore[misc]
        other = parts.stack(*["left"] * (depth // 2), "right")
        tracker.apply(messages=[("entry->split", other, 1)])  # half of the way has frames
        assert reads.during(lambda at=stack: tracker.complete("combine", at)) <= 16 * log2(depth), depth  # type: ignore[misc]
        tracker.apply(messages=[("entry->split", other, -1)])


def test_restoring_a_tracker_costs_as_much_as_what_is_outstanding(reads: Counter) -> None:
    found = []
    for depth in (5, 8, 11):
        recorded = Recorded({"split": Twice(), "combine": Combine()}, depth)
        tracker = recorded.tracker()
        sizes = accumulate(sum(count for *_, count in step.get("messages", ())) for step in recorded.steps)
        most = max(enumerate(sizes, 1), key=itemgetter(1))[0]  # the steps after which most is outstanding
        for step in recorded.steps[:most]:
            tracker.get_ready()
            tracker.apply(**step)
        snapshot = tracker.snapshot()
        count = sum(len(snapshot[kind]) for kind in ("messages", "requests"))
        assert count >= 0.9 * 2**depth  # the tree is run about level by level
        found.append(reads.during(lambda g=recorded.graph, s=snapshot: Tracker.restore(g, s)) / (count * depth))  # type: ignore[misc]
    assert found[-1] <= 1.2 * found[0]


def test_random_stacks_agree_with_lists_of_names(reads: Counter) -> None:
    """What is counted above is right as well: against lists, at all depths."""
    graph = call_graph(divide())
    rng = random.Random(1)
    names = [call.name for call in graph.calls]
    for _ in range(300):
        common = [rng.choice(names) for _ in range(rng.choice((0, 1, 5, 300)))]
        one, other = ([*common, *(rng.choice(names) for _ in range(rng.randrange(40)))] for _ in range(2))
        same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
        stack, leaves, enters = first_difference(graph.stack(*one), graph.stack(*other))
        assert list(stack.calls) == one[:same]
        assert [leaves.name if leaves else None] == [*one[same : same + 1], None][:1]
        assert [enters.name if enters else None] == [*other[same : same + 1], None][:1]
