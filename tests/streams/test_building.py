"""How a program of streams becomes a graph: nodes, edges, names, refusals; that each operator has an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphs.streams import Flow, KeyedStream, Stream
from graphs.streams.aggregated import Aggregated
from progress.errors import PointstampError
from progress.runtime import Batch, DeadLetter, Out


@pytest.mark.parametrize("kind", [Stream, KeyedStream, Aggregated])
def test_every_operator_has_an_example_that_runs(kind: type) -> None:
    """That it runs is what `tests/project/test_docstrings.py` shows."""
    methods = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
    assert len(methods) > 8
    assert [name for name, method in methods.items() if ">>> " not in (method.__doc__ or "")] == []


def shape(flow: Flow[Any]) -> tuple[list[str], list[tuple[str | None, str | None, str]]]:
    """The nodes and edges of a program's graph."""
    graph = flow.graph
    return [*graph.nodes], list(zip(graph.sources, graph.targets, graph.edges, strict=True))


def test_steps_by_value_are_one_node_and_an_input_is_an_edge() -> None:
    flow = Flow()
    words = flow.input("lines").map(str.strip).filter(bool).flat_map(str.split)
    words.key_on(str.lower, len).reduce(max).output("most")
    nodes, edges = shape(flow)
    assert nodes == ["lines.map.filter.flat_map", "lines.map.filter.flat_map.reduce"]
    assert edges == [
        (None, nodes[0], "lines"),
        (*nodes, "lines.map.filter.flat_map->lines.map.filter.flat_map.reduce"),
        (nodes[1], None, "most"),
    ]


def test_an_input_with_several_readers_has_a_node_and_a_merge_with_one_reader_has_none() -> None:
    flow = Flow()
    ours, theirs = flow.input("ours"), flow.input("theirs")
    ours.merge(theirs).keyed().reduce(max, name="most").output("most")
    ours.map(str).output("ours as text")
    nodes, edges = shape(flow)
    assert nodes == ["ours·", "most·", "ours.map"]
    assert (None, "most·", "theirs") in edges
    assert ("ours·", "most·", "ours·->most·") in edges
    assert flow.run(sources={"ours": [(0, ("a", 1))], "theirs": [(0, ("a", 2))]}) == {
        "most": [(0, ("a", 2))],
        "ours as text": [(0, "('a', 1)")],
    }


def test_a_merge_of_a_stream_with_itself_has_its_values_twice() -> None:
    flow = Flow()
    numbers = flow.input("numbers")
    numbers.merge(numbers).keyed().reduce(lambda a, b: a + b).output("sums")
    assert flow.run(sources={"numbers": [(0, ("a", 3))]}) == {"sums": [(0, ("a", 6))]}


def test_a_step_that_keeps_state_has_its_name_whatever_stands_before_it() -> None:
    flow = Flow()
    flow.input("a").map(str, name="most").output("texts")
    flow.input("b").keyed().reduce(max, name="most").output("out")
    flow.input("c").map(str).output("c texts")
    flow.input("d").map(str, name="c.map").output("d texts")
    nodes, edges = shape(flow)
    assert nodes == ["most·", "most", "c.map", "c.map·"]
    assert ("most", None, "out") in edges


def test_a_step_with_a_policy_of_its_own_has_a_node_of_its_own() -> None:
    flow = Flow(on_error={"risky": DeadLetter("failed")})
    flow.input("a").map(abs).map(lambda n: 6 // n, name="risky").filter(bool).map(str).output("out")
    assert [*flow.graph.nodes] == ["a.map", "risky", "risky.filter.map"]
    found = flow.run(sources={"a": [(0, -2), (0, 0)]})
    assert found["out"] == [(0, "3")]
    assert [failure.value for _, failure in found["failed"]] == [0]


def test_two_runs_share_nothing() -> None:
    flow = Flow()
    flow.input("numbers").keyed().reduce(lambda a, b: a + b).output("sums")
    for _ in range(2):
        assert flow.run(sources={"numbers": [(0, ("a", 3))]}) == {"sums": [(0, ("a", 3))]}


def _two_flows() -> None:
    Flow().input("a").merge(Flow().input("b"))


def _no_key() -> None:
    Flow().input("a").reduce(max)  # type: ignore[attr-defined]


def _same_name() -> None:
    keyed = Flow().input("a").keyed()
    keyed.reduce(max)
    keyed.reduce(min)


def _same_output() -> None:
    flow = Flow()
    flow.input("a").output("b")
    flow.input("c").output("b")


def _no_function() -> None:
    Flow().input("a").map(3)  # type: ignore[arg-type]


def _no_stream() -> None:
    Flow().input("a").merge([1])  # type: ignore[arg-type]


def _no_name() -> None:
    Flow().input("a").map(str, name="")


@pytest.mark.parametrize(
    ("program", "code", "says"),
    [
        (_two_flows, "PS811", "'a.merge' joins streams of two flows"),
        (_no_key, "PS812", "reduce of 'a' has no key (key_on before it, or whole)"),
        (_same_name, "PS813", "two steps are called a.reduce and keep state"),
        (_same_output, "PS813", "'b' is an output already"),
        (_no_function, "PS814", "a.map: f is 3"),
        (_no_stream, "PS814", "a.merge: [1] is not a stream"),
        (_no_name, "PS814", "a.map: its name is ''"),
    ],
)
def test_refused_in_the_line_that_writes_it(program: Callable[[], None], code: str, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        program()
    assert caught.value.code == code
    assert says in str(caught.value)
    assert f"test_building.py:{program.__code__.co_firstlineno + _length(program)}: " in str(caught.value)


def _length(program: Callable[[], None]) -> int:
    """How many lines there are to the last one of a function."""
    return max(line - program.__code__.co_firstlineno for *_, line in program.__code__.co_lines() if line is not None)


def test_a_node_of_ones_own_is_copied_for_each_run() -> None:
    class Count(Batch):
        def __init__(self) -> None:
            super().__init__()
            self.times = 0

        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
            self.times += 1
            for edge in out.edges:
                out.send(edge, time, self.times)

    flow = Flow()
    flow.input("a").through(Count()).output("counts")
    for _ in range(2):
        assert flow.run(sources={"a": [(0, "x"), (0, "y"), (1, "z")]}) == {"counts": [(0, 1), (1, 2)]}
