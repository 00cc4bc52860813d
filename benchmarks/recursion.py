"""Recursion: `python -m benchmarks.recursion [WORD]`, only tables whose name holds WORD.

* queries: two stacks that differ in one call, beside a peer that has stacks as lists of names and walks them call by
  call; it decides by the same rule.
* tree: a complete binary recursion, tracked to its end: every call, every return, and a notification at each stack that
  both calls there are complete. The newest event first (depth first) or the oldest (breadth first).
* chain: calls nested to a depth, with a request that waits at each level on the way in and is delivered on the way out.
* calls: a graph with many call nodes, each called once. * epochs: many small calls at once, each at its own epoch.

A step is one `Tracker.apply` with the `get_ready` after it; on the runtime an event is a step with the node's code, and
all that brings it there. Times are microseconds, the least of a few runs.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from benchmarks.engine import growth, line
from graphs import Graph
from progress import CouldResultIn, Tracker
from progress.runtime import Batch, Dataflow, Node, Out
from progress.runtime.actions.core import Core
from progress.runtime.observer import Observer
from recursion.program import Exit, call

TWO_CALLS = [("split", "left"), ("split", "right"), ("left", "combine"), ("right", "combine")]
MEASURED = range(5_000, 50_000)  # how many frames there are where their memory is measured, which takes long
ENGINES = ("sim", "threads", "asyncio")
ENDS = [("entry", "split"), ("split", "exit"), ("combine", "exit")]


def graph_of(calls: Iterable[str], edges: Iterable[tuple[str, str]], epochs: bool = False) -> Graph:
    """A graph with `entry`, `split`, these calls, `combine` and `exit`."""
    calls = list(calls)
    graph = Graph(
        time={"product": ["nat", "stack"]} if epochs else None,
        recursion={"in": "entry", "out": "exit", "calls": calls},
    )
    for name in ("entry", "split", *calls, "combine", "exit"):
        graph.node(name)
    for source, target in (*ENDS, *edges):
        graph.edge(source, target)
    if epochs:
        graph.edge(None, "entry", "input").edge("exit", None, "results")
    return graph


# --- queries ---------------------------------------------------------------------------------------------------------


def queries() -> None:
    """A question on two stacks of one depth that differ in one call alone: the first, the middle one, the last."""
    for depth in (10, 1_000, 100_000, 1_000_000):
        for word, place in (("first", 0), ("middle", depth // 2), ("last", depth - 1)):
            query(depth, word, place)


def query(depth: int, word: str, place: int) -> None:
    """One row; the larger of both directions."""
    graph = graph_of(["left", "right"], TWO_CALLS)
    relation: Any = graph.network().relation
    one = ["left"] * depth
    other = [*one[:place], "right", *one[place + 1 :]]
    started = time.perf_counter()
    stacks = [relation.graph.stack(*names) for names in (one, other)]
    making = (time.perf_counter() - started) / (2 * depth) * 1e6
    could_result_in = CouldResultIn(graph)
    found = []
    for mine, theirs in ((stacks, (one, other)), (stacks[::-1], (other, one))):
        ours, answer = repeated(lambda m=mine: could_result_in(("combine", m[0]), ("split", m[1])))  # type: ignore[misc]
        peer, same = repeated(lambda t=theirs: walked(relation.graph, "combine", t[0], "split", t[1]))  # type: ignore[misc]
        if answer != same:
            sys.exit(f"the answers differ: {answer} and {same}")
        found.append((ours, peer))
    name = f"query: depth {depth:,}, the {word} call differs"
    line(name, max(ours for ours, _ in found), max(peer for _, peer in found), f"to make a stack: {making:.2f} a call")


def walked(graph: Any, start: str, before: list[str], end: str, after: list[str]) -> bool:
    """The rule on lists of names, for nodes and where no call follows itself."""
    place = next((i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), None)
    if place is None:
        place = min(len(before), len(after))
    first = f"ret-{before[place]}" if place < len(before) else start
    last = f"call-{after[place]}" if place < len(after) else end
    return bool(graph.reach[graph.nodes.index(first)] >> graph.nodes.index(last) & 1)


def repeated(work: Callable[[], bool]) -> tuple[float, bool]:
    """Microseconds a call, the least of a few runs of about a hundredth of a second."""
    answer = work()
    started = time.perf_counter()
    work()
    count = max(1, min(10_000, int(0.01 / (time.perf_counter() - started + 1e-9))))
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, (time.perf_counter() - started) / count)
    return best * 1e6, answer


# --- runs ------------------------------------------------------------------------------------------------------------


class Run(NamedTuple):
    """What a run was like."""

    seconds: float
    steps: int
    delivered: int
    most: int  # the largest number of frames
    bytes_each: float  # for each of them; 0 where it was not measured

    @property
    def step(self) -> float:
        """Microseconds a step."""
        return self.seconds / self.steps * 1e6


def run(graph: Graph, split: Callable[[Any], list[str]], newest_first: bool, traced: bool = False) -> Run:
    """All events of one call from outside; `split` says which edges a message at `split` goes on to.

    The nodes are as small as can be: `combine` asks at each message, and sends once it is notified.
    """
    relation: Any = graph.network().relation
    stacks, calls = relation.graph.stacks, {call.name: call for call in relation.graph.calls}
    tracker = Tracker(graph, requests=[("entry", ())])
    ((_, empty),) = tracker.get_ready()
    trees = tracker._engine.trees  # type: ignore[attr-defined]
    frames = trees[None]._frames
    apply, get_ready = tracker.apply, tracker.get_ready
    entered = {f"split->{name}": (f"call-{name}->entry", call) for name, call in calls.items()}
    returned = {f"exit->ret-{name}": f"{name}->combine" for name in calls}
    events: deque[tuple[str, Any]] = deque()
    take = events.pop if newest_first else events.popleft
    steps = delivered = most = 0
    size = grown = 0
    gc.collect()
    if traced:
        tracemalloc.start()
        size = tracemalloc.get_traced_memory()[0]
    started = time.perf_counter()
    apply(messages=[("entry->split", empty, 1)], delivered=[("entry", empty)])
    events.append(("entry->split", empty))
    while events:
        place, stack = take()
        sent: list[tuple[str, Any]]
        steps += 1
        if place == "combine":
            sent = [("combine->exit", stack)]
            apply(messages=[("combine->exit", stack, 1)], delivered=[("combine", stack)])
            delivered += 1
        elif place == "entry->split":
            sent = [(edge, stack) for edge in split(stack)]
            apply(messages=[(place, stack, -1), *((edge, stack, 1) for edge, _ in sent)])
        elif place in entered:
            onto, call = entered[place]
            sent = [(onto, stacks.push(stack, call))]
            apply(messages=[(place, stack, -1), (*sent[0], 1)])
        elif place.endswith("->combine"):
            sent = []
            apply(messages=[(place, stack, -1)], requests=[("combine", stack)])
        elif place.endswith("->exit"):
            sent = [] if stack.call is None else [(f"exit->ret-{stack.call.name}", stack.parent)]
            apply(messages=[(place, stack, -1), *((edge, after, 1) for edge, after in sent)])
        else:
            sent = [("entry->split" if place.endswith("->entry") else returned[place], stack)]
            apply(messages=[(place, stack, -1), (*sent[0], 1)])
        events += sent
        events += get_ready()
        if len(frames) > most:
            most = len(frames)
            if traced and not most % 1_024:
                grown = tracemalloc.get_traced_memory()[0] - size
    seconds = time.perf_counter() - started
    if traced:
        tracemalloc.stop()
    if len(frames) > 1 or tracker.pending() or tracker.messages():
        sys.exit("something is left when all is over")
    return Run(seconds, steps, delivered, most, grown / (most - most % 1_024 or 1))


def until(depth: int, edges: list[str]) -> Callable[[Any], list[str]]:
    """A `split` that goes on to these edges until a depth is reached."""
    return lambda stack: edges if stack.depth < depth else ["split->exit"]


def least(graph: Graph, split: Callable[[Any], list[str]], newest_first: bool, repeat: int) -> Run:
    """The fastest of some runs; with the memory of one more, where there are enough frames."""
    best = min((run(graph, split, newest_first) for _ in range(repeat)), key=lambda each: each.seconds)
    if best.most not in MEASURED:
        return best
    return best._replace(bytes_each=run(graph, split, newest_first, traced=True).bytes_each)


def trees() -> None:
    """Complete binary recursion, to its end."""
    for newest_first, word in ((True, "depth first"), (False, "breadth first")):
        before: dict[str, float] = {}
        for depth in (8, 10, 12, 14, 16):
            graph = graph_of(["left", "right"], TWO_CALLS)
            split = until(depth, ["split->left", "split->right"])
            found = least(graph, split, newest_first, 3 if depth < 14 else 1)
            if found.delivered != 2**depth - 1:
                sys.exit(f"{found.delivered} notifications instead of {2**depth - 1}")
            report(f"tree: depth {depth}, {2 ** (depth + 1) - 1:,} calls, {word}", found, before)
    programs()


def programs(depth: int = 12) -> None:
    """The same on the runtime, with nodes that count leaves; nodes take turns, or a seed decides."""
    ways: list[tuple[str, dict[str, Any]]] = [(engine, {"engine": engine}) for engine in ENGINES]
    ways.append(("sim with a seed", {"seed": 1}))
    for name, how in ways:
        graph = graph_of(["left", "right"], TWO_CALLS)
        counted = Counted()
        found = call(graph, {"split": Split(), "combine": Combine()}, depth, observer=counted, **how)
        if found != [2**depth]:
            sys.exit(f"the runtime found other leaves: {found}")
        line(f"  on the runtime, depth {depth}, {name}", counted.event, None, f"{counted.events:,} events")


class Counted(Observer):
    """How many events a run has, and how long they take."""

    def started(self, core: Core) -> None:
        self.events = 0
        self.seconds = -time.perf_counter()

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self.events += 1

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self.seconds += time.perf_counter()

    @property
    def event(self) -> float:
        """Microseconds an event."""
        return self.seconds / self.events * 1e6


class Split(Node):
    """Two calls, until the value is 0."""

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        if value == 0:
            out.send("split->exit", time, 1)
            return
        out.send("split->left", time, value - 1)
        out.send("split->right", time, value - 1)


class Combine(Batch):
    """Adds up what arrives."""

    def on_batch(self, time: Any, messages: dict[str, list[int]], out: Out) -> None:
        out.send("combine->exit", time, sum(map(sum, messages.values())))


def chains() -> None:
    """Calls nested in one another; `split` sends to `combine` too, so that a request waits at every level."""
    before: dict[str, float] = {}
    for depth in (100, 1_000, 10_000, 100_000):
        graph = graph_of(["again"], [("split", "again"), ("split", "combine"), ("again", "combine")])
        split = until(depth, ["split->combine", "split->again"])
        found = least(graph, split, False, 3 if depth < 10_000 else 1)
        if (found.delivered, found.most) != (depth, depth + 1):
            sys.exit(f"{found.delivered} notifications, {found.most} frames")
        report(f"chain: depth {depth:,}, a request at every level", found, before)


def wide() -> None:
    """Many call nodes in one graph, each called once, from the empty stack."""
    before: dict[str, float] = {}
    for count in (10, 100, 1_000, 2_000):
        names = [f"call{number}" for number in range(count)]
        edges = [*(("split", name) for name in names), *((name, "combine") for name in names)]
        graph = graph_of(names, edges)
        found = least(graph, until(1, [f"split->{name}" for name in names]), False, 1)
        report(f"calls: {count:,} call nodes in one graph", found, before)


def epochs() -> None:
    """Calls from outside, all at once, each at its own epoch and two calls deep, on the runtime."""
    before: dict[str, float] = {}
    for count in (10, 100, 1_000):
        graph = graph_of(["left", "right"], TWO_CALLS, epochs=True)
        dataflow = Dataflow(graph, {"split": Split(), "combine": Combine(), "exit": Exit()})
        counted = Counted()
        calls = [((epoch, ()), 2) for epoch in range(count)]
        results = dataflow.run(sources={"input": calls}, observer=counted)["results"]
        if sorted((epoch, value) for (epoch, _), value in results) != [(epoch, 4) for epoch in range(count)]:
            sys.exit(f"the runtime found other results: {results[:10]}")
        note = joined(f"{counted.events:,} events", growth(before, "epochs", counted.event))
        line(f"epochs: {count:,} at once, on the runtime", counted.event, None, note)


def report(name: str, found: Run, before: dict[str, float]) -> None:
    """A row of a run."""
    kind = name.split(":")[0]
    size = f", {found.bytes_each:.0f} bytes each" if found.bytes_each else ""
    note = f"{found.steps:,} steps, {found.most:,} frames at most{size}"
    line(name, found.step, None, joined(note, growth(before, kind, found.step)))


def joined(*notes: str) -> str:
    """Notes, without those that say nothing."""
    return "; ".join(filter(None, notes))


TABLES = {"queries": queries, "tree": trees, "chain": chains, "calls": wide, "epochs": epochs}


def main() -> None:
    """Print the tables."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'microseconds, recursion':58} {'this':>12} {'peer':>12} {'this/peer':>10}")
    for name, table in TABLES.items():
        if wanted in name:
            table()


if __name__ == "__main__":
    main()
