"""Graphs put together: composition at shared edges (A&I 4.3), operators by port, networkx, plain data."""

from __future__ import annotations

import random

import networkx
import pytest

from graphs import Graph, add_operator, compose, from_data, from_networkx, to_data, to_networkx
from progress import PointstampError, check_conditions, close
from tests.reference.random_graphs import random_document, random_query


def producer() -> Graph:
    return Graph(name="producer").node("source").edge(None, "source", id="start").edge("source", None, id="shared")


def consumer() -> Graph:
    graph = Graph(name="consumer").node("sink", summary={"advance": 1})
    return graph.edge(None, "sink", id="shared").edge("sink", None, id="end")


def test_a_shared_edge_becomes_internal() -> None:
    whole = compose(producer(), consumer(), "whole")
    position = whole.edges["shared"]
    assert (whole.sources[position], whole.targets[position]) == ("source", "sink")
    assert close(whole, [("start", 3)]).frontiers["end"] == (4,)
    assert close(compose(consumer(), producer()), [("start", 3)]).frontiers["end"] == (4,)


def test_graphs_that_feed_each_other_become_a_cycle() -> None:
    first = Graph().node("a").edge(None, "a", id="back").edge("a", None, id="forth").edge(None, "a", id="input")
    for amount, advances in ((1, True), (0, False)):
        second = Graph().node("b", summary={"advance": amount}).edge(None, "b", id="forth").edge("b", None, id="back")
        assert check_conditions(compose(first, second)).advancing.holds is advances


def test_composition_agrees_with_the_graph_written_in_one() -> None:
    whole = compose(producer(), consumer())
    direct = Graph().node("source").node("sink", summary={"advance": 1}).edge(None, "source", id="start")
    direct.edge("source", "sink", id="shared").edge("sink", None, id="end")
    assert close(whole, [("start", 2)]).frontiers == close(direct, [("start", 2)]).frontiers


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (producer(), producer(), "PS010"),
        (producer(), Graph(time="int").node("sink").edge(None, "sink", id="shared"), "PS401"),
        (producer(), Graph().node("shared"), "PS010"),
        (producer(), Graph().node("x").edge("x", None, id="shared"), "PS010"),
        (Graph().node("x").edge(None, "x", id="i"), Graph().node("y").edge(None, "y", id="i"), "PS010"),
    ],
)
def test_what_does_not_fit_is_refused(first: Graph, second: Graph, code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        compose(first, second)
    assert caught.value.code == code


def test_an_operator_refuses_ports_it_does_not_have() -> None:
    with pytest.raises(PointstampError, match="PS011"):
        add_operator(Graph(), "op", ["in"], ["out"], {("in", "other"): "identity"})


@pytest.mark.parametrize("seed", range(150))
def test_plain_data_and_networkx_give_the_graph_back(seed: int) -> None:
    rng = random.Random(seed)
    document = random_document(rng)
    graph = from_data(document)
    query = random_query(rng, document, "close")
    starts = [(location, graph.time_from_json(location, time)) for location, time in query["close"]]
    copies = [from_data(to_data(graph)), from_networkx(to_networkx(graph))]
    for copy in copies:
        assert set(copy.edges) == set(graph.edges)
        assert {edge: copy.domain_of(edge) for edge in graph.edges} == {
            edge: graph.domain_of(edge) for edge in graph.edges
        }
        assert check_conditions(copy).condition_2.holds == check_conditions(graph).condition_2.holds
        try:
            expected = close(graph, starts).frontiers
        except PointstampError as error:
            with pytest.raises(PointstampError, match=error.code):
                close(copy, starts)
            continue
        assert close(copy, starts).frontiers == expected


def test_a_networkx_graph_as_people_have_it() -> None:
    source: networkx.DiGraph[str] = networkx.DiGraph([("body", "feedback"), ("feedback", "body")])
    assert check_conditions(from_networkx(source)).advancing.holds is False
    source.edges["feedback", "body"]["summary"] = {"advance": 1}
    assert check_conditions(from_networkx(source)).advancing.holds is True
    source.graph["inputs"] = [{"id": "input", "to": "body"}]
    assert close(from_networkx(source), [("input", 5)]).frontiers["feedback->body"] == (6,)


def test_parallel_edges_of_a_multigraph_keep_their_names() -> None:
    source: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    source.add_edge("a", "b", key="slow", summary={"advance": 5})
    source.add_edge("a", "b", key="fast")
    assert close(from_networkx(source), [("a", 1)]).frontiers["b"] == (1,)
    assert close(from_networkx(source), [("a", 1)]).frontiers["slow"] == (6,)


def test_an_undirected_graph_is_refused() -> None:
    with pytest.raises(PointstampError, match="PS007"):
        from_networkx(networkx.Graph([("a", "b")]))
