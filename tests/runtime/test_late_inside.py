"""Late data that come in again: on an input edge of the graph that the source names by `late`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import Batch, Complete, Dataflow, Node, Out
from progress.runtime.policies import by_event_time, explicit
from progress.runtime.source import Late
from progress.semantics import is_behaviour
from tests.runtime.tools import engines, run


class Count(Batch):
    """How many came in time and how many too late, of each time that is complete."""

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        out.send("out", time, (len(messages.get("in", ())), messages.get("too late", [])))


def graph(**options: Any) -> Graph:
    found = Graph().node("count", **options).edge(None, "count", "in").edge(None, "count", "too late")
    return found.edge("count", None, "out")


RAW = [(3, "a"), (9, "b"), (2, "c"), (9, "d"), (12, "e"), (1, "f"), (13, "g")]


@engines
def test_what_is_late_comes_in_at_the_first_time_that_is_open_then(engine: str) -> None:
    """Whatever is read at once: where the input stood when the message was read decides, as items are in order."""
    dataflow = Dataflow(graph(), {"count": Count})
    steps: list[Any] = []
    source = by_event_time(RAW, lambda each: each[0], late="too late")
    results = run(dataflow, engine, sources={"in": source}, record=steps.append)
    late = {9: [(2, (2, "c"))], 12: [(1, (1, "f"))]}
    assert results == {
        "out": [(time, (count, late.get(time, []))) for time, count in ((3, 1), (9, 2), (12, 1), (13, 1))]
    }
    assert is_behaviour(dataflow.network, steps, several=True)


@engines
def test_two_inputs_share_the_edge_and_what_comes_after_the_end_leaves(engine: str) -> None:
    both = Graph().node("count").node("other").edge(None, "count", "in").edge(None, "count", "too late")
    both.edge(None, "other", "second").edge("count", None, "out")

    class Silent(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            pass

    def first() -> Iterator[Any]:
        yield 0, "a"
        yield Complete([4])
        yield 1, "b"
        yield Late("no time at all", "c")
        yield Complete([])
        yield 2, "d"

    dataflow = Dataflow(both, {"count": Count, "other": Silent})
    sources = {
        "in": explicit(first, late="too late"),
        "second": explicit([(5, "x"), Complete([6]), (0, "y")], late="too late"),
    }
    results = run(dataflow, engine, sources=sources)
    assert results["late"] == [(2, "d")]
    found = {time: sorted(late, key=str) for time, (_, late) in results["out"]}
    assert found == {0: [], 4: [("no time at all", "c"), (1, "b")], 6: [(0, "y")]}
    assert len(results["out"]) == 3


def test_an_edge_with_a_source_of_its_own_or_other_times_is_refused() -> None:
    source = explicit([(0, 1)], late="too late")
    with pytest.raises(PointstampError, match=r"PS719.*a source of its own"):
        Dataflow(graph(), {"count": Count}).run(sources={"in": source, "too late": []})
    other = Graph().node("count").node("q", time="int").edge(None, "count", "in").edge(None, "q", "too late")
    with pytest.raises(PointstampError, match=r"PS719.*times of int"):
        Dataflow(other).run(sources={"in": source})
