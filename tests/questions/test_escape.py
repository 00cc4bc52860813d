"""Code that does what its graph does not declare, told with a shortest history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError, Product
from progress.behaviour import Extent, explore
from progress.escape import Escape, check_behaviours, early_request, uncovered, uncovered_request
from progress.local_history import (
    Event,
    Message,
    Notification,
    Received,
    after,
)
from tests.questions.local_histories import A0, B0, C0, NAT, Counter, FunctionNode, Liar, Total, relay, summary

# --- one summary -----------------------------------------------------------------------------------------------------


def test_a_node_that_lies_is_caught_with_a_shortest_history() -> None:
    observed = explore(Liar(), {"in": [A0, C0]}, [0], name="counter")
    escape = uncovered(observed, "out", summary({"advance": 1}))
    assert escape is not None
    assert (escape.node, escape.time, escape.result, escape.allowed) == ("counter", 0, 0, (1,))
    assert len(escape.history.events) == 2
    assert escape.event == Received("in", C0)
    sent = after(Liar(), escape.history.then(escape.event)).sent["out"]
    assert sent[-1] == Message(0, "now")
    assert str(escape) == (
        "the node 'counter' sends at 0 on 'out', where the graph declares only times from 1 on after an event at 0:\n"
        "  starts in state 0\n"
        "  receives 'a' at 0 on 'in'\n"
        "  receives 'a' at 0 on 'in'\n"
        "  receives 'c' at 0 on 'in'   <- here"
    )
    assert uncovered(observed, "out", summary("identity")) is None


def test_a_lie_beyond_the_depth_is_not_found_and_said_to_be_perhaps_there() -> None:
    observed = explore(Liar(), {"in": [A0, C0]}, [], depth=2)
    assert uncovered(observed, "out", summary({"advance": 1})) is None
    assert not observed.complete
    assert uncovered(explore(Liar(), {"in": [A0, C0]}, [], depth=3), "out", summary({"advance": 1})) is not None


def test_times_of_several_domains() -> None:
    inner = Product([NAT, NAT])
    entry = FunctionNode(lambda state, event: (state, [], {"in": [Message((event.time, 0))]}))
    observed = explore(entry, {"outside": [Message(2)]}, [])
    assert uncovered(observed, "in", summary("enter", NAT, inner)) is None
    escape = uncovered(observed, "in", summary({"enter": 1}, NAT, inner))
    assert escape is not None
    assert escape.allowed == ((2, 1),)
    assert escape.result == (2, 0)


def test_a_summary_with_several_minimal_times_covers_what_is_above_one_of_them() -> None:
    pair = Product([NAT, NAT])
    either = summary({"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, pair, pair)
    right = FunctionNode(lambda state, event: (state, [], {"out": [Message((event.time[0], event.time[1] + 3))]}))
    assert uncovered(explore(right, {"in": [Message((0, 0))]}, []), "out", either) is None
    same = FunctionNode(lambda state, event: (state, [], {"out": [Message(event.time)]}))
    escape = uncovered(explore(same, {"in": [Message((0, 0))]}, []), "out", either)
    assert escape is not None
    assert "from (0, 1) or (1, 0) on" in str(escape)


def test_a_time_that_does_not_exist_escapes() -> None:
    node = FunctionNode(lambda state, event: (state, [], {"out": [Message(event.time - 1)]}))
    escape = uncovered(explore(node, {"in": [A0]}, []), "out", summary({"advance": -1}))
    assert escape is not None
    assert "sends at -1 on 'out', which is not a time of nat" in str(escape)


def test_sample_times_are_times_of_the_node() -> None:
    with pytest.raises(PointstampError, match="PS503"):
        uncovered(explore(Counter(), {"in": [Message(-3)]}, []), "out", summary("identity"))


def test_condition_1_and_declared_requests() -> None:
    def early(state: int, event: Event) -> Any:
        return state + 1, [event.time - state] if state < 2 else [], {}

    observed = explore(FunctionNode(early, [(0, [])]), {"in": [Message(4)]}, [], depth=3, name="early")
    assert set(observed.requests) == {(4, 4), (4, 3)}
    escape = early_request(observed, NAT)
    assert escape is not None
    assert str(escape) == (
        "the node 'early' requests a notification of 3, where Condition 1 allows only times from 4 on:\n"
        "  starts in state 0\n"
        "  receives None at 4 on 'in'\n"
        "  receives None at 4 on 'in'   <- here"
    )
    assert uncovered_request(observed, summary("identity")) is not None
    assert uncovered_request(observed, summary({"advance": -1})) is None
    undeclared = uncovered_request(observed, summary({"advance": 1}))
    assert undeclared is not None
    assert (undeclared.result, undeclared.allowed, len(undeclared.history.events)) == (4, (5,), 0)


# --- a whole graph ---------------------------------------------------------------------------------------------------


def a_graph() -> Graph:
    """input -> count -> total -> totals."""
    return (
        Graph()
        .node("count", summary={"advance": 1}, notify=False)
        .node("total")
        .edge(None, "count", id="in")
        .edge("count", "total", id="out")
        .edge("total", None, id="totals")
    )


SAMPLES: dict[str, Iterable[Any]] = {"in": [A0, B0, C0], "out": [Message(1, 1), Message(2, 0)]}


def test_honest_nodes() -> None:
    assert check_behaviours(a_graph(), {"count": Counter(), "total": Total()}, SAMPLES, depth=4) == []
    assert check_behaviours(a_graph(), {}, SAMPLES) == []
    assert check_behaviours(a_graph(), {"total": Total()}, {}) == []


def test_no_escapes_is_said_with_how_much_was_looked_at() -> None:
    """Nothing escapes; nothing was looked at; the budget or the depth ran out: all of these are empty, and say why."""
    graph = a_graph()
    honest: dict[str, Any] = {"count": Counter(), "total": Total()}
    samples: dict[str, Iterable[Any]] = {"in": [A0, C0], "out": [Message(1, 0)]}
    whole = check_behaviours(graph, honest, samples)
    assert (list(whole), whole.complete, whole.without_code) == ([], True, ())
    assert str(whole) == "count: complete (9 histories, 4 states)\ntotal: complete (4 histories, 2 states)"
    short = check_behaviours(graph, honest, samples, depth=2)
    assert not short.complete
    assert short.nodes["count"].extent is Extent.DEPTH
    assert "count: not complete: there are longer histories than were asked for" in str(short)
    poor = check_behaviours(graph, honest, samples, most_histories=3)
    assert poor.nodes["total"].extent is Extent.HISTORIES
    assert "there are more histories than the budget allows (3 histories" in str(poor)
    silent = check_behaviours(graph, {"total": Total()}, {"in": [A0], "out": []})
    assert (silent.nodes["total"].without_samples, silent.without_code, silent.complete) == (
        ("out",),
        ("count",),
        False,
    )
    assert str(silent) == "total: complete (1 histories, 1 states); no samples for 'out'\ncount: no code was given"


def test_a_step_that_is_no_function_escapes() -> None:
    calls: list[int] = []

    def respond(state: int, event: Event) -> Any:
        calls.append(1)
        return 0, [], {"totals": [Message(event.time, len(calls))]}

    (escape,) = check_behaviours(a_graph(), {"total": FunctionNode(respond)}, SAMPLES)
    assert str(escape) == (
        "the node 'total' does not do the same each time, where a step is a function of the state and the event:\n"
        "  starts in state 0\n  receives 1 at 1 on 'out'   <- here"
    )


def test_what_happens_only_for_late_messages_escapes_only_with_them() -> None:
    def respond(state: frozenset[int], event: Event) -> Any:
        if isinstance(event, Notification):
            return state | {event.time}, [], {}
        return state, [event.time], {"totals": [Message(0)]} if event.time in state else {}

    late = FunctionNode(respond, [(frozenset(), ())])
    assert len(check_behaviours(a_graph(), {"total": late}, SAMPLES)) == 1
    assert check_behaviours(a_graph(), {"total": late}, SAMPLES, late=False) == []


def test_the_graph_file_lies_about_the_node() -> None:
    escapes = check_behaviours(a_graph(), {"total": Total(), "count": Liar()}, SAMPLES, depth=4)
    assert [(escape.node, escape.time, escape.result) for escape in escapes] == [("count", 0, 0)]
    assert "sends at 0 on 'out'" in str(escapes[0])


def found(
    node: Any, samples: dict[str, Iterable[Any]], graph: Graph | None = None, name: str = "total"
) -> list[Escape]:
    """What is found out about one node."""
    return check_behaviours(graph or a_graph(), {name: node}, samples, depth=3)


def test_each_edge_gives_one_escape() -> None:
    graph = Graph().node("p", summary={"advance": 1}, emits={"b": "never", "c": "identity"}).edge(None, "p", id="in")
    for edge in "abc":
        graph.edge("p", None, id=edge)
    node = FunctionNode(lambda state, event: (0, [], {edge: [Message(event.time)] for edge in "dcbae"}))
    escapes = found(node, {"in": [A0, Message(1)], "p": [2]}, graph, "p")
    assert [escape.complaint.split(",")[0] for escape in escapes] == [f"sends at 0 on {e!r}" for e in "abed"]
    assert "'d', which is not an edge that leaves it" in str(escapes[-1])


def test_notify_false_is_held_to() -> None:
    asking = FunctionNode(lambda state, event: (0, [event.time], {}))
    (escape,) = found(asking, {"in": [A0]}, name="count")
    assert "requests a notification of 0, where the graph says that the node never asks" in str(escape)
    (escape,) = found(FunctionNode(relay, [(0, []), (1, [0])]), {}, name="count")
    assert str(escape).endswith("never asks for notifications:\n  starts in state 1 and requests 0   <- here")


def test_requests_are_held_to() -> None:
    graph = Graph().node("p", requests={"advance": 2}).edge(None, "p", id="in")
    node = FunctionNode(lambda state, event: (0, [event.time + 1, event.time + 3], {}))
    (escape,) = found(node, {"in": [Message(4)]}, graph, "p")
    assert "requests a notification of 5, where the graph declares only times from 6 on" in str(escape)
    # Condition 1 fails too, with another pair
    late = FunctionNode(lambda state, event: (1, [event.time + 1 - 2 * state], {}), [(0, [])])
    first, second = found(late, {"in": [Message(4)]}, graph, "p")
    assert (first.result, second.result) == (5, 3)
    assert "Condition 1" in str(second)
    # where both complaints have one cause, it is told once
    past = FunctionNode(lambda state, event: (0, [event.time - 1], {}))
    assert len(found(past, {"in": [Message(4)]}, graph, "p")) == 1


def test_declared_requests_into_the_past_are_still_told() -> None:
    graph = Graph().node("p", requests={"advance": -1}).edge(None, "p", id="in")
    (escape,) = found(FunctionNode(lambda state, event: (0, [event.time - 1], {})), {"in": [Message(4)]}, graph, "p")
    assert "Condition 1 allows only times from 4 on" in str(escape)


def test_condition_1_of_times_that_cannot_be_compared() -> None:
    """A request beside the time of its event is not at or after it, and Condition 1 fails of it, too."""
    pair = Product([NAT, NAT])
    node = FunctionNode(lambda state, event: (0, [(event.time[1], event.time[0])], {}))
    observed = explore(node, {"in": [Message((0, 1))]}, [])
    escape = early_request(observed, pair)
    assert escape is not None
    assert (escape.time, escape.result) == ((0, 1), (1, 0))
    assert early_request(explore(node, {"in": [Message((2, 2))]}, []), pair) is None
    graph = Graph(time={"product": ["nat", "nat"]}).node("p", requests={"any": [{"constant": [1, 0]}, "identity"]})
    graph.edge(None, "p", id="in")
    (told,) = check_behaviours(graph, {"p": node}, {"in": [Message((0, 1))], "p": []})
    assert "where Condition 1 allows only times from (0, 1) on" in str(told)


def test_requests_that_are_no_times() -> None:
    node = FunctionNode(lambda state, event: (0, [-1], {}))
    (escape,) = found(node, {"out": [A0]})
    assert "requests a notification of -1, which is not a time of nat" in str(escape)
    half = FunctionNode(lambda state, event: (0, [event.time + 0.5], {}))
    (escape,) = found(half, {"out": [A0]})
    assert early_request(explore(half, {"out": [A0]}, []), NAT) is not None
    (escape,) = found(FunctionNode(relay, [(0, [-1])]), {})
    assert "requests a notification of -1, which is not a time of nat" in str(escape)


def test_a_node_with_sampled_times_is_notified_of_them() -> None:
    pulse = FunctionNode(lambda state, event: (0, [], {"totals": [Message(event.time - 1)]}), [(0, [3])])
    (escape,) = found(pulse, {})
    assert escape.event == Notification(3)
    (escape,) = found(pulse, {"total": [7]})
    assert escape.event == Notification(7)


@pytest.mark.parametrize(
    ("behaviours", "samples", "code"),
    [
        ({"nobody": Counter()}, {}, "PS502"),
        ({"in": Counter()}, {}, "PS502"),
        ({"count": Counter()}, {"elsewhere": [A0]}, "PS502"),
        ({"count": Counter()}, {"in": [Message(-1)]}, "PS503"),
        ({"count": Counter()}, {"in": [0]}, "PS503"),
        ({"count": Counter()}, {"count": [-1]}, "PS503"),
    ],
)
def test_names_and_times_that_do_not_exist(behaviours: Any, samples: Any, code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        check_behaviours(a_graph(), behaviours, samples)
    assert caught.value.code == code
