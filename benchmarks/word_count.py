"""A word count of seven nodes over as many lines as wanted: `python -m benchmarks.word_count LINES ENGINE WAY`.

Lines come one by one and are never all there. An epoch is a thousand of them; its counts leave when it is complete, and
are digested. Printed are the seconds, the digest, and the most memory, `traced` as Python's allocator counts it or
`resident` as the system does.

```text
lines ─▶ lowered ─▶ words ─▶ bare ─▶ known ─▶ pairs ─▶ counts ─▶ report ─▶
```
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.peak_memory import most_resident
from graphs import Graph
from progress.runtime import Complete, Dataflow, Node, Out
from progress.runtime.node import Mapped

EPOCH = 1_000
VOCABULARY = 5_000
NAMES = ("lowered", "words", "bare", "known", "pairs", "counts", "report")


def lines(count: int) -> Iterator[str]:
    """Lines of two words each, always the same ones."""
    state = 1
    for _ in range(count):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        first, second = state >> 33, state >> 45
        yield f"Word{first % VOCABULARY}, the{second % 7} w{first % 11 * second % VOCABULARY}."


class Counts(Node):
    """Counts the words of an epoch."""

    def __init__(self) -> None:
        self.counts: dict[int, dict[str, int]] = {}

    def on_messages(self, edge: str, time: int, values: Any, out: Out) -> None:
        """Pairs of a word and a number."""
        counts = self.counts.get(time)
        if counts is None:
            counts = self.counts[time] = {}
            out.request(time)
        for word, count in values:
            counts[word] = counts.get(word, 0) + count

    def on_notify(self, time: int, out: Out) -> None:
        out.send_all("counted", time, sorted(self.counts.pop(time).items()))


def dataflow(count: int, sink: Any) -> Dataflow:
    """The seven nodes."""
    graph = Graph()
    for name in NAMES:
        graph.node(name)
    edges = ["input", "low", "split", "stripped", "kept", "paired", "counted", "output"]
    for edge, source, target in zip(edges, (None, *NAMES), (*NAMES, None), strict=True):
        graph.edge(source, target, edge)

    def items() -> Iterator[Any]:
        for number, line in enumerate(lines(count)):
            if number and number % EPOCH == 0:
                yield Complete((number // EPOCH,))
            yield number // EPOCH, line

    nodes: dict[str, Any] = {
        "lowered": str.lower,
        "words": Mapped(str.split, flat=True),
        "bare": lambda word: word.strip(".,"),
        "known": Mapped(lambda word: () if word.startswith("the") else (word,), flat=True),
        "pairs": lambda word: (word, 1),
        "counts": Counts(),
        "report": lambda pair: f"{pair[0]} {pair[1]}",
    }
    return Dataflow(graph, nodes, sources={"input": items}, sinks={"output": sink})


class Digest:
    """A sink that keeps a digest of every epoch, all of which are added up: they may leave in any order."""

    def __init__(self) -> None:
        self.sum = self.values = 0

    def write_all(self, time: int, values: Any) -> None:
        """Reports of an epoch; those of one epoch come in order, maybe not at once."""
        for value in values:
            self.values += 1
            self.sum += int.from_bytes(hashlib.blake2b(f"{time} {value}".encode(), digest_size=8).digest(), "big")

    @property
    def result(self) -> list[int]:
        """What came."""
        return [self.values, self.sum]


@functools.cache
def expected(count: int) -> list[int]:
    """The result of a plain loop."""
    digest = Digest()
    epoch: Counter[str] = Counter()
    for number, line in enumerate(lines(count), 1):
        epoch.update(word for each in line.lower().split() if not (word := each.strip(".,")).startswith("the"))
        if number % EPOCH == 0 or number == count:
            digest.write_all((number - 1) // EPOCH, [f"{word} {times}" for word, times in epoch.items()])
            epoch.clear()
    return digest.result


def main() -> None:
    """Run, and print what it took."""
    count, engine, way = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    sink = Digest()
    flow = dataflow(count, sink)
    if way == "traced":
        tracemalloc.start()
    started = time.perf_counter()
    flow.run(engine=engine)
    seconds = time.perf_counter() - started
    resident = most_resident()
    peak = tracemalloc.get_traced_memory()[1] if way == "traced" else resident
    print(json.dumps({"seconds": seconds, "result": sink.result, "peak": peak}))


if __name__ == "__main__":
    main()
