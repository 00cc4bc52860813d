"""g over local histories by hand, what a node's code raises, and buffer nodes (A&I 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from progress.behaviour import explore
from progress.local_history import (
    Event,
    History,
    Message,
    Notification,
    Outcome,
    Received,
    after,
    beginnings,
    is_buffer,
)
from tests.questions.local_histories import A0, B0, Counter, FunctionNode, Total, received, relay


def test_g_by_hand() -> None:
    def respond(state: str, event: Event) -> Any:
        if isinstance(event, Notification):
            return state + "n", [event.time + 1], {"left": [Message(event.time, state)]}
        return state + "m", [2, 5], {"left": [event.message], "right": [event.message, event.message]}

    node = FunctionNode(respond, [("s", [1, 5])])
    (start,) = beginnings(node)
    first, second = Message(7, "x"), Message(8, "y")
    assert start == History("s", frozenset({1, 5}))
    assert after(node, start) == Outcome("s", frozenset({1, 5}), {})
    # a message: N u N'
    history = start.then(Received("in", first))
    assert after(node, history) == Outcome("sm", frozenset({1, 2, 5}), {"left": (first,), "right": (first, first)})
    # a notification: N - {t} u N'
    history = history.then(Notification(1))
    left = (first, Message(1, "sm"))
    assert after(node, history) == Outcome("smn", frozenset({2, 5}), {"left": left, "right": (first, first)})
    history = history.then(Notification(5), Received("in", second))
    sent = {"left": (*left, Message(5, "smn"), second), "right": (first, first, second, second)}
    assert after(node, history) == Outcome("smnnm", frozenset({2, 5, 6}), sent)


def test_a_notification_may_ask_for_itself_again() -> None:
    node = FunctionNode(lambda state, event: (state, [event.time], {}), [(0, [3])])
    (start,) = beginnings(node)
    assert after(node, start.then(Notification(3))).requests == {3}


def test_a_notification_that_nobody_asked_for_is_part_of_a_history() -> None:
    (start,) = beginnings(Counter())
    assert after(Counter(), start.then(Notification(9), received(4))) == (1, frozenset(), {"out": (Message(5, 0),)})


def test_a_node_may_start_in_several_ways() -> None:
    node = FunctionNode(lambda state, event: (state, [], {"out": [Message(state)]}), [(1, []), (2, [7])])
    assert beginnings(node) == [History(1, frozenset()), History(2, frozenset({7}))]
    observed = explore(node, {}, [0])
    assert list(observed.one_step) == [(0, "out", 1), (0, "out", 2)]
    assert (observed.states, observed.histories, observed.complete) == (2, 4, True)


# --- what goes wrong in a node's code --------------------------------------------------------------------------------


def test_a_node_whose_code_raises() -> None:
    (start,) = beginnings(Total())
    with pytest.raises(KeyError) as caught:  # Total relies on being notified only of what it asked for
        explore(Total(), {"in": [Message(0, 1)]}, [4], name="total")
    (note,) = caught.value.__notes__
    assert note == "in the node 'total', which\nstarts in state {}\nis notified of 4"
    with pytest.raises(KeyError) as caught:
        after(Total(), start.then(received(0, 1), Notification(0), Notification(0)))
    assert caught.value.__notes__[0].splitlines()[-3:] == [
        "receives 1 at 0 on 'in'",
        "is notified of 0",
        "is notified of 0",
    ]


@pytest.mark.parametrize(
    "answer",
    [None, (0, []), (0, None, {}), (0, [[]], {}), (0, [], {"out": [Message([1])]}), (0, [], {"out": ["no message"]})],
)
def test_what_is_no_answer_of_g1_is_told_where_it_happens(answer: Any) -> None:
    with pytest.raises((TypeError, AttributeError, ValueError)) as caught:
        explore(FunctionNode(lambda state, event: answer), {"in": [A0]})
    assert "receives 'a' at 0 on 'in'" in caught.value.__notes__[0]


# --- buffer nodes ----------------------------------------------------------------------------------------------------


def test_a_buffer_node_is_recognised() -> None:
    messages = {"in": [A0, B0, Message(4, "c")]}
    assert is_buffer(FunctionNode(relay), ["in"], ["out"], messages, [0, 4])
    assert is_buffer(FunctionNode(relay, [(0, []), ([1], [3])]), ["in"], ["out"], messages, [0, 4])
    verbose = FunctionNode(lambda state, event: (state, (), {"out": iter(relay(state, event)[2].get("out", ()))}))
    assert is_buffer(verbose, ["in"], ["out"], messages, [0, 4])


def test_a_buffer_has_one_edge_in_and_one_out() -> None:
    for incoming, outgoing in [([], ["out"]), (["in", "other"], ["out"]), (["in"], []), (["in"], ["out", "other"])]:
        assert not is_buffer(FunctionNode(relay), incoming, outgoing, {"in": [A0]}, [])


@pytest.mark.parametrize(
    "respond",
    [
        lambda state, event: (1, *relay(state, event)[1:]),
        lambda state, event: (state, [event.time], relay(state, event)[2]),
        lambda state, event: (state, [], {"out": []}),
        lambda state, event: (state, [], {"out": [event.message] * 2} if isinstance(event, Received) else {}),
        lambda state, event: (
            state,
            [],
            {"out": [Message(event.time + 1, "a")]} if isinstance(event, Received) else {},
        ),
        lambda state, event: (state, [], {"out": [Message(event.time)]} if isinstance(event, Received) else {}),
        lambda state, event: (state, [], {"out": [A0]}),
        lambda state, event: (state, [], {"elsewhere": [event.message]} if isinstance(event, Received) else {}),
        lambda state, event: (state, [event.time] if isinstance(event, Notification) else [], relay(state, event)[2]),
    ],
)
def test_what_is_nearly_a_buffer_is_none(respond: Callable[[Any, Event], Any]) -> None:
    assert not is_buffer(FunctionNode(respond), ["in"], ["out"], {"in": [A0, B0]}, [0])


def test_a_buffer_moves_no_time() -> None:
    observed = explore(FunctionNode(relay), {"in": [A0, Message(4)]}, [1])
    assert set(observed.one_step) == {(0, "out", 0), (4, "out", 4)}
    assert observed.states == 1
    assert observed.requests == {}
