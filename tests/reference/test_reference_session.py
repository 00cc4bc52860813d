"""The oracle of sessions, held to cases worked out by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from progress import reference
from progress.reference import Graph, TooManySteps, close
from progress.reference.session import Closures, Session, refusals_of_start
from progress.reference.times import domain_from_json, least
from tests.reference.random_graphs import random_document
from tests.reference.random_sessions import any_time, later

LOOP: dict[str, Any] = {
    "pointstamp": 1,
    "time": "nat",
    "nodes": {"body": {}, "feedback": {"summary": {"advance": 1}, "notify": False}},
    "edges": [
        {"id": "input", "to": "body"},
        {"id": "out", "from": "body", "to": "feedback"},
        {"id": "back", "from": "feedback", "to": "body"},
        {"id": "result", "from": "body"},
    ],
}


@pytest.fixture
def session() -> Session:
    return Session(Graph(LOOP))


def test_an_input_opens_at_the_least_times(session: Session) -> None:
    assert session.inputs == {"input": (0,)}
    assert session.clock() == {
        "body": (0,), "feedback": (0,), "input": (0,), "out": (0,), "back": (1,), "result": (0,),
    }  # fmt: skip
    assert session.eligible() == []


def test_a_session_of_the_loop(session: Session) -> None:
    assert not session.step(messages=[("input", 0, 1)], requests=[("body", 0), ("body", 2), ("body", 0)])
    assert not session.step(inputs={"input": [3]})
    assert session.newly_ready() == []
    assert session.blockers("body", 0) == [(("input", 0), "message")]
    assert session.blockers("body", 2) == [(("input", 0), "message"), (("body", 0), "request")]
    assert not session.step(messages=[("input", 0, -1), ("out", 1, 1)])
    assert session.newly_ready() == [("body", 0)]
    assert session.newly_ready() == []
    assert session.eligible() == [("body", 0)]
    assert session.frontier("back") == (1,)
    assert session.holders("back", 1) == [(("body", 0), "request")]
    assert not session.step(delivered=[("body", 0)], requests=[("body", 0)])
    assert session.newly_ready() == [("body", 0)]  # a new life
    assert not session.step(delivered=[("body", 0)])
    assert session.frontier("back") == (2,)
    assert session.complete("body", 1)
    assert session.complete("back", 1)
    assert not session.complete("body", 2)
    assert not session.step(messages=[("out", 1, -1)])
    assert session.newly_ready() == [("body", 2)]
    assert not session.step(inputs={"input": []}, delivered=[("body", 2)])
    assert session.clock() == {}


@pytest.mark.parametrize(
    ("step", "codes"),
    [
        ({"messages": [("input", 0)]}, {"PS501"}),
        ({"messages": [("input", 0, True)]}, {"PS501"}),
        ({"inputs": {"input": 0}}, {"PS501"}),
        ({"messages": [("nowhere", 0, 1)]}, {"PS502"}),
        ({"requests": [("body", -1)]}, {"PS503"}),
        ({"inputs": {"input": [True]}}, {"PS503"}),
        ({"messages": [("body", 0, 1)]}, {"PS504"}),
        ({"requests": [("out", 0)]}, {"PS504"}),
        ({"inputs": {"back": []}}, {"PS504"}),
        ({"inputs": {"back": [-1]}}, {"PS503", "PS504"}),
        ({"messages": [("out", 3, 1), ("out", 3, -2)]}, {"PS505"}),
        ({"messages": [("back", 1, 1)]}, {"PS506"}),
        ({"messages": [("back", 1, 1), ("back", 1, -1)]}, set()),
        ({"messages": [("back", 1, 1), ("back", 1, -1)], "delivered": [("body", 1)]}, {"PS507"}),
        ({"requests": [("body", 1)]}, {"PS506"}),
        ({"delivered": [("body", 7)]}, {"PS508"}),
        ({"delivered": [("body", 7), ("body", 7)]}, {"PS507", "PS508"}),
        ({"inputs": {"input": [4, 1]}}, {"PS509"}),
        ({"inputs": {"input": [4, 3]}}, set()),
        ({"messages": [("input", 5, -1)], "inputs": {"input": [0]}}, {"PS505", "PS509"}),
    ],
)
def test_what_forbids_a_step(step: dict[str, Any], codes: set[str]) -> None:
    session = Session(Graph(LOOP), {"input": [2]}, [("body", 7)])
    clock = session.clock()
    assert session.step(**step) == codes
    assert not codes or (session.clock(), session.messages, list(session.requests)) == (clock, {}, [("body", 7)])


def test_a_closed_input_stays_closed(session: Session) -> None:
    assert not session.step(inputs={"input": []})
    assert session.step(inputs={"input": [9]}) == {"PS509"}
    assert not session.step(inputs={"input": []})


def test_a_refused_start() -> None:
    graph = Graph(LOOP)
    assert refusals_of_start(graph, {}, []) == set()
    assert refusals_of_start(graph, {"out": []}, [("nowhere", 0)]) == {"PS502", "PS504"}


def test_least_times() -> None:
    for notation, expected in (
        ("nat", (0,)),
        ("int", ()),
        ("unit", (None,)),
        ({"product": ["nat", {"finite": {"elements": ["a", "b"], "below": []}}]}, ((0, "a"), (0, "b"))),
        ({"lex": ["nat", "int"]}, ()),
        ({"finite": {"elements": ["a", "b", "c"], "below": [["a", "c"], ["b", "c"]]}}, ("a", "b")),
        ({"sum": {"left": "int", "right": "nat"}}, (("right", 0),)),
    ):
        assert least(domain_from_json(notation)) == expected


def test_the_close_up_of_a_set_is_the_union_of_close_ups() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        graph = reference.Graph(random_document(rng))
        closures = Closures(graph)
        starts = [(location, any_time(rng, graph.domain[location])) for location in rng.choices(graph.locations, k=4)]
        try:
            together, expected = closures.of_many(starts), close(graph, starts)
        except TooManySteps:
            continue
        assert {x: set(times) for x, times in together.items()} == {x: set(times) for x, times in expected.items()}


def test_later_is_later() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        graph = reference.Graph(random_document(rng))
        for location in graph.locations:
            time = any_time(rng, graph.domain[location])
            assert graph.less_equal(location, time, later(rng, graph.domain[location], time))
