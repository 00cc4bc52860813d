"""A trace as numbers and as text, and the digest of what a replay shows: what all that replay one have in common.

The text is for programs that know nothing of this project; one line an item, nodes by number, a time as one or two
numbers:

```text
times 1|2                        first line: numbers, or pairs under the product order
nodes COUNT
e SOURCE TARGET SHIFT            an internal edge, and what its source adds to a time on the way
watch all | watch NODE ...
ready                            somebody asks after each step which requests became deliverable
m NODE CHANGE TIME               messages on an edge to the node, or a time at which an input edge to it is open
r NODE CHANGE TIME               a request at the node
.                                the end of a step; the first step is the start
timed                            before the first step that counts
```

An open input edge is one more pointstamp at its target: the same may arrive there, and it is the least work.

The digest is over words of 64 bits. After every step (number 0 is the start), for each watched node whose arriving
times have changed, by ascending number: 1, step, node, how many times, the times in order. Then, where the trace asks
for readiness, each request that became deliverable, in order: 2, step, node, the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benchmarks.traces import Step, Time, Trace
from progress.topology import NO_NODE, Network

MASK = (1 << 64) - 1


class Digest:
    """A mixture of words, one after the other."""

    def __init__(self) -> None:
        self.value = 0xCBF29CE484222325
        self.count = 0

    def words(self, words: Iterable[int]) -> None:
        """Mix some words in."""
        value = self.value
        for word in words:
            value = (value ^ word) * 0x100000001B3 & MASK
            value ^= value >> 29
        self.value = value

    def moved(self, step: int, node: int, frontier: Iterable[Time]) -> None:
        """The arriving times of a node are these since a step."""
        times = list(frontier)
        self.count += 1
        self.words((1, step, node, len(times)))
        for when in times:
            self.words(flat(when))

    def ready(self, step: int, node: int, when: Time) -> None:
        """A request became deliverable in a step."""
        self.count += 1
        self.words((2, step, node, *flat(when)))

    def __str__(self) -> str:
        return f"{self.value:016x}"


def flat(when: Time) -> tuple[int, ...]:
    """A time as words."""
    return when if isinstance(when, tuple) else (when,)


def least(times: Iterable[Time]) -> list[Time]:
    """The minimal ones of some times, in order."""
    found: list[Time] = []
    for when in sorted(set(times)):
        if not found or (isinstance(when, tuple) and when[1] < found[-1][1]):
            found.append(when)
    return found


class Change(NamedTuple):
    """A message or an open input ("m"), or a request ("r"): where, how many more, and when."""

    what: str
    node: int
    change: int
    when: Time


def numbered(trace: Trace) -> Iterator[list[Change]]:
    """The changes of the start and then of each step, nodes by number."""
    network: Network = trace.graph.network()
    numbers = network.numbers
    target = {name: node for name, node in zip(network.edges, network.targets, strict=True) if node != NO_NODE}
    opened: dict[str, list[Time]] = {}
    for inputs, messages, requests, delivered in (Step(inputs=trace.inputs, requests=trace.requests), *trace.steps):
        changes: list[Change] = []
        for edge, times in (inputs or {}).items():
            changes += [Change("m", target[edge], -1, when) for when in opened.get(edge, ())]
            opened[edge] = least(times)
            changes += [Change("m", target[edge], 1, when) for when in opened[edge]]
        changes += [Change("m", target[edge], change, when) for edge, when, change in messages]
        changes += [Change("r", numbers[node], -1, when) for node, when in delivered]
        changes += [Change("r", numbers[node], 1, when) for node, when in requests]
        yield changes


def written(trace: Trace) -> str:
    """The trace as text."""
    network: Network = trace.graph.network()
    lines = [f"times {trace.times}", f"nodes {len(network.nodes)}"]
    zero: Time = 0 if trace.times == 1 else (0, 0)
    for source, end, summary in zip(network.sources, network.targets, network.summaries, strict=True):
        if NO_NODE not in (source, end) and summary is not None:
            (shift,) = summary.apply(zero)
            lines.append(f"e {source} {end} {_text(shift)}")
    watched = ["all"] if trace.watched is None else [str(network.numbers[name]) for name in trace.watched]
    lines.append(" ".join(["watch", *watched]))
    if trace.ready:
        lines.append("ready")
    for number, changes in enumerate(numbered(trace)):
        if number == trace.timed + 1:
            lines.append("timed")
        lines += [f"{what} {node} {change} {_text(when)}" for what, node, change, when in changes]
        lines.append(".")
    return "\n".join(lines) + "\n"


def _text(when: Time) -> str:
    return " ".join(map(str, flat(when)))
