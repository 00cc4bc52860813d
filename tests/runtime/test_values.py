"""What a run answers with, values that several nodes have, and names that are not there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import Complete, Dataflow, DeadLetter, Mapped, Node, NodeFailed, Out, Results
from tests.runtime.tools import engines, line, run

# --- results ---------------------------------------------------------------------------------------------------------


@engines
def test_an_output_by_which_nothing_left_is_an_empty_list(engine: str) -> None:
    graph = Graph().node("p").edge(None, "p", "in").edge("p", None, "out").edge("p", None, "other")
    found = run(Dataflow(graph, {"p": Node}, on_error=DeadLetter("dead")), engine, sources={"in": []})
    assert found == {}
    assert [found[name] for name in ("out", "other", "late", "dead")] == [[], [], [], []]
    found["out"].append("nobody has this list")
    assert (found["out"], list(found), "out" in found, found.get("out")) == ([], [], False, None)


@engines
def test_what_nothing_can_leave_by_is_no_key(engine: str) -> None:
    found = run(Dataflow(line("p")), engine, sources={"in": [(0, 1)]})
    assert found["out"] == [(0, 1)]
    with pytest.raises(KeyError, match="did you mean 'out'"):
        found["outt"]
    kept: list[Any] = []
    found = run(Dataflow(line("p")), engine, sources={"in": [(0, 1)]}, sinks={"out": kept})
    with pytest.raises(KeyError, match="'out'"):  # it is elsewhere
        found["out"]


def test_results_and_dataflows_show_what_they_are() -> None:
    dataflow = Dataflow(line("p", "q"), {"p": Node, "q": abs})
    assert repr(dataflow) == "Dataflow(2 nodes, 3 edges; 'p': Node, 'q': Mapped)"
    assert repr(Dataflow(line("p"))) == "Dataflow(1 nodes, 2 edges; no code)"
    many = Dataflow(line(*"abcdefghijkl"), dict.fromkeys("abcdefghijkl", abs))
    assert repr(many).endswith("'h': Mapped, and 4 more)")
    assert repr(Results({"out": [(0, "a")]})) == "{'out': [(0, 'a')]}"
    assert repr(Results({"out": [(0, number) for number in range(1_000)]})).endswith("(0, 7), ... 992 more]}")


# --- one object, several nodes ---------------------------------------------------------------------------------------


class Adds(Node):
    """Changes what it is given, and sends it on."""

    def __init__(self, what: str) -> None:
        self.what = what

    def on_message(self, edge: str, time: Any, value: list[str], out: Out) -> None:
        value.append(self.what)
        for leaving in out.edges:
            out.send(leaving, time, value)
        value.append("after it was sent")


def fan_out() -> Graph:
    graph = Graph().node("begin").node("one").node("other").edge(None, "begin", "in")
    graph.edge("begin", "one").edge("begin", "other").edge("one", None, "a").edge("other", None, "b")
    return graph


BEGINS: list[Any] = [None, lambda: Adds("begin"), lambda value: value, Mapped(lambda value: [value], flat=True)]


@engines
@pytest.mark.parametrize("begin", BEGINS, ids=["relay", "node", "function", "flat"])
def test_with_copies_no_two_nodes_have_one_object(engine: str, begin: Any) -> None:
    nodes = {"one": Adds("one"), "other": Adds("other"), **({} if begin is None else {"begin": begin})}
    given: list[Any] = [(0, [])]
    first = ["begin"] if begin is BEGINS[1] else []
    dataflow = Dataflow(fan_out(), nodes, copies=True)
    for _ in range(2):
        assert run(dataflow, engine, sources={"in": given}) == {
            "a": [(0, [*first, "one"])],
            "b": [(0, [*first, "other"])],
        }
    assert given == [(0, [])]


@engines
def test_without_copies_a_message_is_the_object_that_was_sent(engine: str) -> None:
    value: list[str] = []
    found = run(Dataflow(fan_out()), engine, sources={"in": [(0, value)]})
    assert found["a"][0][1] is found["b"][0][1] is value


@engines
def test_what_cannot_be_copied_is_a_failure_where_it_is_sent(engine: str) -> None:
    dataflow = Dataflow(line("p"), {"p": lambda value: threading.Lock()}, copies=True, on_error=DeadLetter())
    found = run(dataflow, engine, sources={"in": [(0, "a"), Complete([1])]})
    ((_, failure),) = found["dead-letters"]
    assert isinstance(failure, NodeFailed)
    assert (failure.node, failure.value, "lock" in str(failure)) == ("p", "a", True)


# --- names that are not there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "code", "hint"),
    [
        (lambda: Dataflow(line("split", "count"), {"cuont": abs}), "PS708", "did you mean 'count'?"),
        (lambda: Dataflow(line("split", "count"), {"zzz": abs}), "PS708", "one of 'split', 'count'"),
        (lambda: Dataflow(line("p"), sources={"inn": []}), "PS709", "did you mean 'in'?"),
        (lambda: Dataflow(line("p")).run(engine="thread"), "PS711", "did you mean 'threads'?"),
        (lambda: Dataflow(line("p")).run(sinks={"outt": []}), "PS716", "did you mean 'out'?"),
        (lambda: Dataflow(line("split"), on_error={"spilt": DeadLetter()}), "PS718", "did you mean 'split'?"),
        (lambda: Dataflow(line(*(f"n{number}" for number in range(100))), {"q": abs}), "PS708", ", ..."),
    ],
)
def test_who_names_what_is_not_there_is_told_what_is(make: Callable[[], Any], code: str, hint: str) -> None:
    with pytest.raises(PointstampError) as caught:
        make()
    assert (caught.value.code, hint in caught.value.hint) == (code, True), str(caught.value)


def test_a_node_that_sends_on_a_mistyped_edge_is_told_the_right_one() -> None:
    class Sends(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.send("outt", time, value)

    with pytest.raises(NodeFailed, match="did you mean 'out'") as caught:
        Dataflow(line("p"), {"p": Sends}).run(sources={"in": [(0, 1)]})
    assert caught.value.code == "PS701"
