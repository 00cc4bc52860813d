"""What travels to another process after use: graphs, networks, refusals, failures; a tracker says that it does not."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, load
from progress import CouldResultIn, PointstampError, Tracker, check_conditions, close
from progress.closure import ClosureTooLarge
from progress.could_result_in import SearchTooLong
from progress.effort import TooMuchWork
from progress.runtime.failure import NodeFailed
from progress.summary import NoMinimalTimes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = ["loop.yaml", "recursion/two_calls.yaml"]


def used(name: str) -> Graph:
    """A graph of which everything was asked."""
    graph = load(EXAMPLES / name)
    check_conditions(graph)
    tracker = Tracker(graph)
    edge = graph.network().edges[0]
    node = graph.network().nodes[0]
    tracker.clock()
    close(graph, [(edge, time) for time in tracker.frontier(edge)])
    CouldResultIn(graph)
    assert node
    return graph


def verdict(graph: Graph) -> str:
    return repr(check_conditions(graph))


@pytest.mark.parametrize("name", FILES)
def test_a_graph_after_use(name: str) -> None:
    graph = used(name)
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), copy.copy(graph)):
        assert repr(again) == repr(graph)
        assert verdict(again) == verdict(graph)
        assert again.network().nodes == graph.network().nodes
        assert Tracker(again).snapshot() == Tracker(graph).snapshot()


def test_a_pool_over_graphs() -> None:
    graphs = [used(name) for name in FILES]
    with get_context("spawn").Pool(1) as pool:
        assert pool.map(verdict, graphs) == list(map(verdict, graphs))
        reports = pool.map(check_conditions, graphs)
    assert list(map(repr, reports)) == list(map(verdict, graphs))


def test_a_network() -> None:
    network = used("loop.yaml").network()
    again = pickle.loads(pickle.dumps(network))
    assert (again.nodes, again.edges, again.numbers) == (network.nodes, network.edges, network.numbers)
    assert close(again, [("input", 0)]).frontiers == close(network, [("input", 0)]).frontiers


class Awkward(Exception):
    """Cannot be made again from what it says."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def _caught(act: Callable[[], object]) -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        act()
    return caught.value


def test_refusals_and_failures() -> None:
    tracker = Tracker(load(EXAMPLES / "loop.yaml"))
    errors: list[PointstampError] = [
        _caught(lambda: tracker.apply(messages=[("input", "x", 1)])),
        _caught(lambda: tracker.apply(messages=[("input", 0, -1)])),
        _caught(lambda: tracker.apply(messages=[("back", 0, 1)])),
        _caught(lambda: tracker.frontier("inptu")),
        ClosureTooLarge(),
        SearchTooLong(),
        TooMuchWork(),
        NoMinimalTimes("times fall"),
        NodeFailed("body", 3, "on a message", [1, 2], ValueError("no")),
        NodeFailed("body", 3, "on a message", lambda: None, Awkward(1, 2)),
        PointstampError("PS001", "what", "right", 3, 4),
    ]
    for error in errors:
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(again) is type(error)
            assert (str(again), again.args) == (str(error), error.args)
            assert (again.line, again.column) == (error.line, error.column)
    plain, awkward = (pickle.loads(pickle.dumps(error)) for error in errors[-3:-1])
    assert (plain.node, plain.time, plain.value, repr(plain.error)) == ("body", 3, [1, 2], "ValueError('no')")
    assert (awkward.node, awkward.time, str(awkward.error)) == ("body", 3, "Awkward: 1 and 2")
    assert "lambda" in awkward.value
    assert awkward.as_row()["at"] == "body"


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_tracker_says_what_to_do_instead(act: Callable[[Any], Any]) -> None:
    graph = load(EXAMPLES / "loop.yaml")
    error = _caught(lambda: act(Tracker(graph)))
    assert (error.code, "snapshot" in error.hint) == ("PS735", True)
    tracker = Tracker(graph)
    tracker.apply(messages=[("input", 0, 1)])
    there = pickle.loads(pickle.dumps(tracker.snapshot()))
    assert Tracker.restore(graph, there).messages() == {("input", 0): 1}
