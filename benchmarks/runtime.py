"""The runtime beside its peers, one table: `python -m benchmarks.runtime [WORD]`, only parts whose name holds WORD.

* epochs: a chain of nodes that each notify. A node adds up what it gets in an epoch, requests a notification, and sends
  the sum on when it is notified. Beside Bytewax (`bytewax_peer.py` says in which ways) and Beam's watermark manager,
  which gets the steps that the run recorded and does the account alone, without nodes and messages.
* ring: ten async nodes that each wait for the notification of their superstep, await once and send a token on, beside
  LangGraph (`langgraph_peer.py`).
* throughput: a chain of five functions, and a count by key with its result at the end, beside Bytewax with the faster
  of batches of 1,000 and of 10,000.
* words: a word count of seven nodes, at two lengths: messages a second, and the most memory that it took.

Both must have given the same results before a time is printed. Times are microseconds for what the row says: an epoch,
a superstep, a message; the least of some runs or the median of some differences. They are those of the processor, but
for Beam and the words: what else runs on the machine lengthens them less than those of the clock. Inputs are lists
made beforehand, unless the row says otherwise. Ours is the engine `sim`, which like the peers runs in one thread,
unless the row names another.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import scheduler_loop, word_count
from benchmarks.engine import line
from benchmarks.peers import MissingPeer, in_peers_environment
from benchmarks.traces import Step, Trace
from graphs import Graph
from progress.runtime import Complete, Dataflow, Messages, Node, Out

Timed = tuple[float, Any]  # seconds, result


def least(job: Callable[[int], Timed], few: int, items: int, repeat: int = 5) -> Timed:
    """The seconds for so many items, and the result with all of them.

    Those of a run with `few` made just before are taken off: of such differences the one in the middle counts, since
    the least is that of a disturbed small run.
    """
    runs = []
    for _ in range(repeat):
        gc.collect()
        less = job(few)[0] if few else 0.0
        seconds, result = job(few + items)
        runs.append((seconds - less, result))
    return (median if few else min)([seconds for seconds, _ in runs]), runs[0][1]


def row(name: str, mine: Timed, theirs: Timed | None, count: int, note: str = "") -> None:
    """A line for `count` items, once both gave the same result."""
    if theirs is not None and json.dumps(mine[1]) != json.dumps(theirs[1]):
        sys.exit(f"{name}: the results differ: {str(mine[1])[:200]} and {str(theirs[1])[:200]}")
    if mine[0] <= 0 or (theirs is not None and theirs[0] <= 0):
        print(f"{name:58} the machine was too busy to measure this")
        return
    line(name, mine[0] / count * 1e6, theirs and theirs[0] / count * 1e6, note)


def ask(program: str, **question: Any) -> Timed:
    """What a peer answers."""
    answer = in_peers_environment(program, question)
    return answer["seconds"], answer["result"]


def chain(nodes: int) -> Graph:
    """An input edge, some nodes, an output edge."""
    graph = Graph()
    for number in range(nodes):
        graph.node(f"n{number}")
    graph.edge(None, "n0", "input")
    for number in range(1, nodes):
        graph.edge(f"n{number - 1}", f"n{number}", f"e{number}")
    graph.edge(f"n{nodes - 1}", None, "output")
    return graph


def timed(dataflow: Dataflow, **options: Any) -> tuple[float, Any]:
    """The seconds of a run, and its results."""
    started = time.process_time()
    results = dataflow.run(**options)
    return time.process_time() - started, results


class Values:
    """A sink that keeps the values."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write_all(self, time: Any, values: Any) -> None:
        """Some values of one time."""
        self.values += values


# --- epochs ----------------------------------------------------------------------------------------------------------


class Sum(Node):
    """Sends the sum of an epoch on when the epoch is over."""

    def __init__(self, edge: str) -> None:
        self.edge = edge
        self.sums: dict[int, int] = {}

    def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
        if time in self.sums:
            self.sums[time] += value
        else:
            self.sums[time] = value
            out.request(time)

    def on_notify(self, time: int, out: Out) -> None:
        out.send(self.edge, time, self.sums.pop(time))


def summing(nodes: int, messages: int, epochs: int) -> Dataflow:
    """A chain of them; the source completes every epoch after its messages."""
    items: list[Any] = []
    for epoch in range(epochs):
        items += [*[(epoch, 1)] * messages, Complete((epoch + 1,))]
    edges = [*(f"e{number}" for number in range(1, nodes)), "output"]
    return Dataflow(
        chain(nodes), {f"n{number}": Sum(edge) for number, edge in enumerate(edges)}, sources={"input": items}
    )


def epochs(repeat: int = 5) -> None:
    """Per closed epoch."""
    for messages in (1, 100):
        for nodes in (1, 10, 100):
            few, count = 10, max(20, 2_000 // nodes // (10 if messages > 1 and nodes == 1 else 1))

            def ours(items: int, engine: str = "sim", nodes: int = nodes, messages: int = messages) -> Timed:
                seconds, results = timed(summing(nodes, messages, items), engine=engine)
                return seconds, results["output"]

            def made(items: int, nodes: int = nodes, messages: int = messages) -> Timed:
                dataflow = summing(nodes, messages, items)
                listed: Any = dataflow.sources["input"]
                seconds, results = timed(dataflow, sources={"input": lambda: (item for item in listed)})
                return seconds, results["output"]

            theirs: dict[str, dict[str, Any]] = {
                "windows": {"job": "windows"},
                "state by hand, an epoch each": {"job": "stateful", "closing": True},
                "state by hand, nothing closes": {"job": "stateful", "closing": False},
            }
            mine = least(ours, few, count, repeat)
            name = f"epochs of {messages} through {nodes}"
            for way, question in theirs.items():
                asked = {**question, "nodes": nodes, "messages": messages, "few": few, "items": count}
                row(name, mine, ask("bytewax_peer.py", **asked, repeat=repeat), count, f"Bytewax, {way}")
            if messages == 1:
                beam(name, mine[0] / count * 1e6, nodes, count)
            one_by_one = least(made, few, count, repeat)
            row("  sim, items made one by one", one_by_one, None, count, f"{one_by_one[0] / mine[0]:.1f} times")
            for engine in ("threads", "asyncio"):
                other = least(lambda items, ours=ours, engine=engine: ours(items, engine), few, count, repeat)  # type: ignore[misc]
                row(f"  {engine}", other, None, count, f"{other[0] / mine[0]:.1f} times sim")


def beam(name: str, step: float, nodes: int, epochs: int) -> None:
    """The recorded steps in Beam's manager."""
    recorded: list[dict[str, Any]] = []
    dataflow = summing(nodes, 1, epochs)
    items: Any = dataflow.sources["input"]
    dataflow.run(record=recorded.append, sources={"input": lambda: (item for item in items)})  # an epoch a step
    steps = [Step(**taken) for taken in recorded[1:] if taken != {"messages": [], "inputs": {"input": ()}}]
    trace = Trace(name, dataflow.graph, 1, {"input": [0]}, steps=steps, watched=[], ready=True)  # type: ignore[arg-type]
    theirs = scheduler_loop.beam(trace, 10.0)
    if not theirs["same"]:
        sys.exit(f"{name}: Beam found other requests ready")
    part = theirs["steps"] / len(steps)
    spent = (theirs["update_seconds"] + theirs["timer_seconds"]) / (epochs * part)
    line(name, step, spent * 1e6, "Beam's watermark manager alone")


# --- supersteps ------------------------------------------------------------------------------------------------------


class Passing(Node):
    """Waits for its superstep, awaits once, and sends its token on."""

    def __init__(self, edge: str, last: int) -> None:
        self.edge = edge
        self.last = last
        self.tokens: dict[int, int] = {}

    def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
        self.tokens[time] = value
        out.request(time)

    async def on_notify(self, time: int, out: Out) -> None:
        await asyncio.sleep(0)
        token = self.tokens.pop(time) + 1
        out.send(self.edge if token < self.last else f"{self.edge} at last", time + 1, token)


def ring(nodes: int, tokens: int, last: int) -> Dataflow:
    """A ring whose edges add one to the time, which is the number of the superstep."""
    graph = Graph()
    for number in range(nodes):
        graph.node(f"n{number}", summary={"advance": 1})
    for number in range(nodes):
        graph.edge(f"n{number}", f"n{(number + 1) % nodes}", f"e{number}")
        graph.edge(f"n{number}", None, f"e{number} at last")
    for number in range(tokens):
        graph.edge(None, f"n{number}", f"begin {number}")
    codes = {f"n{number}": Passing(f"e{number}", last) for number in range(nodes)}
    return Dataflow(graph, codes, sources={f"begin {number}": [(0, 0)] for number in range(tokens)})


def supersteps(nodes: int = 10) -> None:
    """Per superstep of a ring of async nodes."""
    for tokens, few, count in ((1, 20, 1_000), (nodes, 20, 200)):

        def ours(last: int, tokens: int = tokens) -> Timed:
            seconds, results = timed(ring(nodes, tokens, last), engine="asyncio")
            return seconds, sorted(value for leaving in results.values() for _, value in leaving)

        asked = {"nodes": nodes, "tokens": tokens, "few": few, "supersteps": count, "repeat": 3}
        row(
            f"ring of {nodes} async nodes, tokens: {tokens}",
            least(ours, few, count),
            ask("langgraph_peer.py", **asked),
            count,
            "LangGraph",
        )


# --- throughput ------------------------------------------------------------------------------------------------------


class Reduced(Node):
    """What a function makes of all values of a key, sent when a time is over."""

    def __init__(self, edge: str, reducer: Callable[[Any, Any], Any]) -> None:
        self.edge = edge
        self.reducer = reducer
        self.found: dict[Any, dict[Any, Any]] = {}

    def on_messages(self, edge: str, time: Any, values: Any, out: Out) -> None:
        """Pairs of key and value."""
        found = self.found.get(time)
        if found is None:
            found = self.found[time] = {}
            out.request(time)
        reducer = self.reducer
        for key, value in values:
            found[key] = reducer(found[key], value) if key in found else value

    def on_notify(self, time: Any, out: Out) -> None:
        out.send_all(self.edge, time, list(self.found.pop(time).items()))


ROUNDS = 3
BATCHES = (1_000, 10_000)  # of each of the two the better one is taken


def slices(values: Sequence[Any], size: int) -> list[Messages]:
    """All at one time, handed over in slices, as the peer's source does."""
    return [Messages(0, values[place : place + size]) for place in range(0, len(values), size)]


def throughput(repeat: int = 5) -> None:
    """Per message."""
    for engine in ("sim", "threads", "asyncio"):
        maps(engine, repeat)
        for keys in (100, 10_000):
            keyed(engine, keys, repeat)


def beside_bytewax(
    name: str, engine: str, ours: Callable[[int, int], Timed], repeat: int, question: dict[str, Any]
) -> None:
    """A row of messages: the least of all runs, this project and the peer in turns, so that both meet the same load."""
    count = 300_000
    found: list[Timed] = []
    asked: list[Timed] = []
    for _ in range(ROUNDS):
        for batch in BATCHES:
            found.append(least(lambda items, batch=batch: ours(items, batch), 0, count, repeat))  # type: ignore[misc]
            asked.append(ask("bytewax_peer.py", **question, few=0, items=count, batch=batch, repeat=repeat))
    mine, theirs = (min(answers, key=lambda answer: answer[0]) for answers in (found, asked))
    rates = f"{count / mine[0]:,.0f} messages/s, Bytewax {count / theirs[0]:,.0f}"
    row(f"{name}, {engine}", mine, theirs, count, rates)


def maps(engine: str, repeat: int, nodes: int = 5) -> None:
    """A chain of functions."""

    def ours(count: int, batch: int) -> Timed:
        sink = Values()
        functions = {f"n{number}": lambda value: value + 1 for number in range(nodes)}
        sources = {"input": slices(range(count), batch)}
        seconds, _ = timed(Dataflow(chain(nodes), functions, sources=sources, sinks={"output": sink}), engine=engine)
        return seconds, [len(sink.values), sum(sink.values)]

    beside_bytewax(f"chain of {nodes} functions", engine, ours, repeat, {"job": "maps", "nodes": nodes})


def keyed(engine: str, keys: int, repeat: int) -> None:
    """A count by key."""

    def ours(count: int, batch: int) -> Timed:
        sink = Values()
        nodes: dict[str, Any] = {"n0": lambda word: (word, 1), "n1": Reduced("output", lambda one, other: one + other)}
        sources = {"input": slices([f"w{number * 7919 % keys}" for number in range(count)], batch)}
        seconds, _ = timed(Dataflow(chain(2), nodes, sources=sources, sinks={"output": sink}), engine=engine)
        return seconds, sorted(sink.values)

    beside_bytewax(f"count by {keys:,} keys", engine, ours, repeat, {"job": "keyed", "keys": keys})


# --- words -----------------------------------------------------------------------------------------------------------


def words() -> None:
    """The word count at two lengths, each in a process of its own."""
    for engine in ("sim", "threads"):
        before: dict[str, Any] = {}
        for count in (100_000, 1_000_000):
            found = {way: word_count_run(count, engine, way) for way in ("resident", "traced")}
            if any(answer["result"] != word_count.expected(count) for answer in found.values()):
                sys.exit(f"word count of {count:,}: the results differ from those of a plain loop")
            memory = {way: answer["peak"] / 2**20 for way, answer in found.items()}
            note = f"{count / found['resident']['seconds']:,.0f} messages/s; at most " + ", ".join(
                f"{peak:.1f} MB {way}" + (f" ({peak / before[way]:.2f} times)" if before else "")
                for way, peak in memory.items()
            )
            line(f"word count of {count:,}, {engine}", found["resident"]["seconds"] / count * 1e6, None, note)
            before = memory


def word_count_run(count: int, engine: str, way: str) -> Any:
    """What a process that counts words answers."""
    command = [sys.executable, "-m", word_count.__name__, str(count), engine, way]
    root = Path(__file__).resolve().parent.parent
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout)


def parts() -> Iterator[tuple[str, Callable[[], None]]]:
    """The parts by name."""
    yield "epochs", epochs
    yield "ring", supersteps
    yield "throughput", throughput
    yield "words", words


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1] if len(sys.argv) > 1 and __spec__.name == "benchmarks.runtime" else ""
    print(f"{'microseconds an epoch, a superstep, a message':58} {'this':>12} {'peer':>12} {'this/peer':>10}")
    for name, part in parts():
        if wanted in name:
            try:
                part()
            except MissingPeer as missing:
                print(missing)


if __name__ == "__main__":
    main()
