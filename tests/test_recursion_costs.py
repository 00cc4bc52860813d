"""What recursion costs, in operations and not in time: nothing grows with depth, or with how much is outstanding.

Counted are `Frames.looked_at`, frames put right, and `reads`: how often a stack is asked for its parent, its jump or
its depth, which is what any walk along stacks has to do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import log2
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, load
from progress import CouldResultIn, Tracker
from progress.runtime import Node, Out
from recursion.call_graph import CallGraph
from recursion.order import StackOrder
from recursion.program import call
from recursion.stack import Stack, first_difference

PROGRAMS = Path(__file__).resolve().parent.parent / "examples" / "recursion"
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
        assert call(self.graph, nodes, depth, record=steps.append, **way) == [0 if depth else -1]
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


@pytest.mark.parametrize(("way", "depths", "frames"), [({}, (4, 8, 11), 4_095), ({"seed": 4}, (4, 7, 9), 300)])
def test_a_step_of_a_tree_costs_the_same_at_any_size(
    reads: Counter, way: dict[str, Any], depths: tuple[int, ...], frames: int
) -> None:
    nodes = {"split": Twice(), "combine": Combine()}
    small, *larger = [Cost(Recorded(nodes, depth, **way), reads) for depth in depths]
    for cost in larger:
        assert cost.mean[0] <= 1.05 * small.mean[0]
        assert cost.mean[1] <= 1.05 * small.mean[1]
        assert cost.most[0] <= 3
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
        assert cost.most[0] <= 3
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
        for change, most in ((1, depth + 6), (-1, 4)):
            before = frames.looked_at, reads.count
            tracker.apply(messages=[("entry->split", stack, change) for stack in level])
            assert frames.looked_at - before[0] <= 2 * len(level)
            assert reads.count - before[1] <= most * len(level), (depth, change)


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
        assert count >= 2**depth
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
