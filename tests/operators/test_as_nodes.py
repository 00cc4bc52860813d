"""Operators at the nodes of a running graph: the data of the paper's operators on a merged stream, in loops, too."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from graphs import Graph
from progress import Domain, Nat, PointstampError, Product
from progress.operators import DT, WM, Event, Left, Right, batch, compose, flatten, histogram, join, map_data
from progress.operators import by_definition as plain
from progress.operators.node import OperatorNode, Watermarked
from progress.runtime import Dataflow
from tests.operators.random_streams import DIAMOND, random_case, two_streams

GRID = Product([Nat(), Nat()])
ENGINES = ("sim", "threads", "asyncio")


def one_node(domain: Domain) -> Graph:
    graph = Graph(time=domain).node("node")
    return graph.edge(None, "node", "in").edge("node", None, "out")


def sorted_data(found: Any) -> list[str]:
    """In an order of their own; a Counter as its items in order."""
    return sorted(repr((time, sorted(data.elements()) if isinstance(data, Counter) else data)) for time, data in found)


def per_time(events: tuple[Event, ...]) -> dict[Any, Counter[Any]]:
    """What one batch a time is: all its data."""
    found: dict[Any, Counter[Any]] = {}
    for event in events:
        if type(event) is DT:
            found.setdefault(event.time, Counter())[event.data] += 1
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("domain", [Nat(), GRID, DIAMOND], ids=str)
def test_watermarks_become_notifications_and_notifications_watermarks(engine: str, domain: Domain) -> None:
    for seed in range(12):
        events = random_case(seed, domain, monotone=True).events
        results = Dataflow(one_node(domain), {"node": OperatorNode(batch(domain=domain))}).run(
            engine=engine, sources={"in": Watermarked(events)}
        )
        batches = dict(results.get("out", []))
        assert {time: Counter(data for _, data in found) for time, found in batches.items()} == per_time(events), seed
        assert all(other == time for time, found in batches.items() for other, _ in found)


@pytest.mark.parametrize("domain", [Nat(), GRID, DIAMOND], ids=str)
def test_a_histogram_at_a_node_is_the_papers(domain: Domain) -> None:
    for seed in range(25):
        events = random_case(seed, domain, monotone=True).events
        results = Dataflow(one_node(domain), {"node": OperatorNode(histogram(domain=domain))}).run(
            engine="sim", sources={"in": Watermarked(events)}, seed=seed
        )
        expected = [
            (event.time, event.data)
            for event in plain.produce(plain.ihist_op([], [], domain.less_equal), events)
            if type(event) is DT
        ]
        assert sorted_data(results.get("out", [])) == sorted_data(expected), seed


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("domain", [Nat(), DIAMOND], ids=str)
def test_a_join_of_two_inputs_is_the_papers_join_of_the_merged_stream(engine: str, domain: Domain) -> None:
    graph = (
        Graph(time=domain).node("meet").edge(None, "meet", "one").edge(None, "meet", "other").edge("meet", None, "out")
    )

    def same(one: str, other: str) -> str | None:
        return one if one == other else None

    matched = 0
    for seed in range(60):
        merged = two_streams(seed, domain)
        split = {side: [unsided(event) for event in merged if type(event.time) is side] for side in (Left, Right)}
        results = Dataflow(
            graph, {"meet": OperatorNode(join(same, domain=domain), sides={"one": Left, "other": Right})}
        ).run(engine=engine, sources={"one": Watermarked(split[Left]), "other": Watermarked(split[Right])})
        left = [
            (e.time, e.data) for e in plain.produce(plain.join_op(same, domain.less_equal), merged) if type(e) is DT
        ]
        assert sorted_data(results.get("out", [])) == sorted_data(left), seed
        matched += len(left)
    assert matched > 15


def unsided(event: Event) -> Event:
    return DT(event.time.value, event.data) if type(event) is DT else WM(event.time.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_feedback_loop_around_operators_runs_and_ends(engine: str) -> None:
    """Halving until one, each round a batch: the paper's future work. The answer is counted without any time."""
    graph = Graph(time=Product([Nat(), Nat()]))
    graph.node("enter", time="nat", summary="enter", notify=False)
    graph.node("round").node("turn", summary="feedback", notify=False).node("leave", summary="leave", notify=False)
    graph.edge(None, "enter", "in").edge("enter", "round", "begin").edge("round", "turn", "again")
    graph.edge("turn", "round", "back").edge("round", "leave", "done").edge("leave", None, "out")

    class Sorting(OperatorNode):
        """Numbers above one go round, the others leave."""

        def _send(self, leaving: list[Event], time: Any, out: Any) -> None:
            for event in leaving:
                if type(event) is DT:
                    edge = "again" if event.data > 1 else "done"
                    out.send(edge, event.time, event.data)

    halved = compose(
        batch(domain=GRID), compose(map_data(lambda time, found: [data // 2 for _, data in found]), flatten())
    )
    numbers = [random.Random(7).randint(2, 500) for _ in range(40)]
    results = Dataflow(graph, {"round": Sorting(halved)}).run(
        engine=engine, sources={"in": [(place % 3, number) for place, number in enumerate(numbers)]}
    )
    assert Counter(time for time, _ in results["out"]) == Counter(place % 3 for place in range(40))
    assert {data for _, data in results["out"]} == {1}


def test_a_node_goes_on_from_what_its_operator_kept() -> None:
    node = OperatorNode(histogram())
    node.operator.take(DT(0, "a"))
    node.operator.take(WM(0))
    node.operator.take(DT(1, "a"))
    again = OperatorNode(histogram())
    again.restore(node.snapshot())
    assert again.operator.take(WM(1)) == [DT(1, Counter("aa")), WM(1)]


def test_what_is_refused() -> None:
    with pytest.raises(PointstampError, match="PS802: the side of 'in' is 'left'"):
        OperatorNode(batch(), sides={"in": "left"})  # type: ignore[dict-item]
    graph = Graph(time="int").node("node").edge(None, "node", "in").edge("node", None, "out")
    with pytest.raises(PointstampError, match="PS805"):
        Dataflow(graph, {"node": OperatorNode(batch())}).run(sources={"in": Watermarked([WM(3)])})
    with pytest.raises(PointstampError, match="PS803"):
        Dataflow(one_node(Nat()), {"node": OperatorNode(batch())}).run(sources={"in": Watermarked([WM(-3)])})
    with pytest.raises(PointstampError, match="PS801"):
        Dataflow(one_node(Nat()), {"node": OperatorNode(batch())}).run(sources={"in": Watermarked(["a"])})  # type: ignore[list-item]


def test_watermarked_events_that_can_be_read_once_serve_one_run() -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
    events: list[Event] = [DT(0, "a"), WM(0)]
    once = Watermarked(event for event in events)
    dataflow = Dataflow(graph)
    assert dataflow.run(sources={"in": once}) == {"out": [(0, "a")]}
    with pytest.raises(PointstampError, match="PS723: the source of 'in'"):
        dataflow.run(sources={"in": once})
    anew = Watermarked(lambda: (event for event in events))
    for _ in range(2):
        assert dataflow.run(sources={"in": anew}) == {"out": [(0, "a")]}


def test_sides_are_by_edge() -> None:
    wrong: Any = [Left]
    with pytest.raises(PointstampError, match="PS802: the sides are"):
        OperatorNode(batch(), sides=wrong)
