"""Definitions 1 and 3 as explored from node code, against all local histories one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from progress import PointstampError
from progress.behaviour import Extent, Observed, explore
from progress.escape import early_request, uncovered, uncovered_request
from progress.local_history import (
    Event,
    History,
    Message,
    Notification,
    Outcome,
    Received,
    after,
)
from tests.questions.local_histories import (
    A0,
    NAT,
    Counter,
    FunctionNode,
    Liar,
    Total,
    by_definition,
    random_node,
    received,
    relay,
    summary,
)

# --- Definition 1 ----------------------------------------------------------------------------------------------------


def test_counter_sends_one_later() -> None:
    observed = explore(Counter(), {"in": [A0, Message(4, "b")]}, [2])
    assert set(observed.one_step) == {(0, "out", 1), (4, "out", 5)}
    assert observed.requests == {}
    assert observed.complete
    assert observed.states == 4
    assert observed.histories == 1 + 4 * 3
    assert uncovered(observed, "out", summary({"advance": 1})) is None
    assert uncovered(observed, "out", summary("identity")) is None
    assert uncovered(observed, "elsewhere", summary("never")) is None


def test_a_notification_that_sends() -> None:
    def pulse(state: None, event: Event) -> Any:
        return None, [], {"out": [Message(event.time + 2)]} if isinstance(event, Notification) else {}

    observed = explore(FunctionNode(pulse, [(None, [0])]), {"in": [A0]}, [0, 5])
    assert set(observed.one_step) == {(0, "out", 2), (5, "out", 7)}
    assert observed.one_step[5, "out", 7].history == History(None, frozenset({0}))
    assert observed.one_step[5, "out", 7].event == Notification(5)
    escape = uncovered(observed, "out", summary("never"))
    assert escape is not None
    assert "declares nothing at all" in str(escape)
    assert str(escape).endswith("starts in state None and requests 0\n  is notified of 0   <- here")


def test_all_incoming_and_outgoing_edges_are_told_apart() -> None:
    def cross(state: None, event: Event) -> Any:
        assert isinstance(event, Received)
        return None, [], {"out " + event.edge: [Message(event.time), Message(event.time + 1)], "quiet": []}

    observed = explore(FunctionNode(cross), {"one": [A0], "two": [Message(3)]}, [])
    assert set(observed.one_step) == {
        (0, "out one", 0),
        (0, "out one", 1),
        (3, "out two", 3),
        (3, "out two", 4),
    }
    assert observed.one_step[3, "out two", 4].event == Received("two", Message(3))


# --- Definition 3 and Condition 1 ------------------------------------------------------------------------------------


def test_total_requests_the_time_of_its_messages_and_sends_when_notified() -> None:
    observed = explore(Total(), {"in": [Message(0, 1), Message(2, 1)]}, depth=4)
    assert set(observed.one_step) == {(0, "totals", 0), (2, "totals", 2)}
    assert set(observed.requests) == {(0, 0), (2, 2)}
    assert not observed.complete  # the sums grow without end
    evidence = observed.one_step[2, "totals", 2]
    assert (evidence.history, evidence.event) == (History({}, frozenset(), (received(2, 1),)), Notification(2))
    assert repr(evidence) == f"Evidence({evidence.history!r}, {evidence.event!r})"
    assert uncovered_request(observed, summary("identity")) is None
    assert uncovered(observed, "totals", summary("identity")) is None
    assert early_request(observed, NAT) is None


def test_total_is_complete_where_its_values_leave_the_state_alone() -> None:
    observed = explore(Total(), {"in": [Message(0, 0), Message(2, 0)]})
    assert observed.complete
    assert observed.states == 4  # {}, {0: 0}, {2: 0}, both, in whichever order they came


def test_the_closure_of_definition_3() -> None:
    def request(state: None, event: Event) -> Any:
        return None, [event.time + 2] if isinstance(event, Received) else [], {}

    observed = explore(FunctionNode(request), {"in": [Message(3)]}, [])
    assert set(observed.requests) == {(3, 5)}
    for time in range(7):
        for requested in range(9):
            assert observed.may_request(NAT, time, requested) == (time <= 3 and requested >= 5)


def test_what_is_pending_already_is_not_requested() -> None:
    node = FunctionNode(lambda state, event: (state, [1, 2], {}), [(0, [1])])
    assert set(explore(node, {"in": [A0]}, []).requests) == {(0, 2)}


def test_a_state_reached_with_fewer_requests_pending_is_explored_again() -> None:
    """To `ready` lead a short history after which 5 is pending, and a longer one after which it is not."""
    moves: dict[Any, tuple[str, list[int]]] = {
        ("start", "a"): ("ready", [5]),
        ("start", "b"): ("half", []),
        ("half", "b"): ("ready", []),
    }

    def respond(state: str, event: Event) -> Any:
        value = event.message.value if isinstance(event, Received) else None
        if state == "ready":
            return "done", [5] if value == "c" else [], {}
        return *moves.get((state, value), (state, [])), {}

    messages = {"in": [Message(0, "a"), Message(0, "b"), Message(9, "c")]}
    observed = explore(FunctionNode(respond, [("start", [])]), messages, [])
    assert set(observed.requests) == {(0, 5), (9, 5)}
    assert observed.requests[9, 5].history.events == (received(0, "b"), received(0, "b"))
    escape = early_request(observed, NAT)
    assert escape is not None
    assert (escape.time, escape.result, escape.allowed) == (9, 5, (9,))


# --- how histories are explored --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("late", "seed"), [*((True, s) for s in range(150)), *((False, s) for s in range(60))])
@pytest.mark.parametrize("unasked", [True, False])
def test_exploring_agrees_with_the_definitions(seed: int, unasked: bool, late: bool) -> None:
    """All histories one by one, Definitions 1 and 3 to the letter, against the search over states."""
    node, messages, times = random_node(seed)
    given = times if unasked else None
    for depth in (1, 2, 4):
        observed = explore(node, messages, given, depth=depth, late=late)
        one_step, requests = by_definition(node, messages, given, depth, late)
        assert {pair: len(evidence.history.events) for pair, evidence in observed.one_step.items()} == one_step
        assert {pair: len(evidence.history.events) for pair, evidence in observed.requests.items()} == requests
        for (time, edge, result), evidence in observed.one_step.items():
            before, then = after(node, evidence.history), after(node, evidence.history.then(evidence.event))
            sent = then.sent[edge][len(before.sent.get(edge, ())) :]
            assert evidence.event.time == time
            assert result in [message.time for message in sent]
    whole = explore(node, messages, given, late=late)
    if whole.complete:
        assert set(one_step) <= set(whole.one_step)
        assert set(requests) <= set(whole.requests)


def test_without_late_messages_less_is_found() -> None:
    """The other restriction of 2.2: what a node sends for a message at a time that is over is not held against it."""

    def respond(state: frozenset[int], event: Event) -> Any:
        if isinstance(event, Notification):
            return state | {event.time}, [], {}
        return state, [event.time], {"out": [Message(0 if event.time in state else event.time)]}

    node = FunctionNode(respond, [(frozenset(), ())])
    samples = {"in": [Message(2), Message(3)]}
    assert (2, "out", 0) in explore(node, samples).one_step
    found = explore(node, samples, late=False)
    assert set(found.one_step) == {(2, "out", 2), (3, "out", 3)}
    assert found.complete
    assert (2, "out", 0) in explore(node, {"in": [Message(2)]}, [5, 2], late=True).one_step
    assert (2, "out", 0) not in explore(node, {"in": [Message(2)]}, [5, 2], late=False).one_step


# --- nodes that are not functions ------------------------------------------------------------------------------------


class Remembers:
    """Keeps a count beside its state, which it tells from the eighth step on."""

    def __init__(self) -> None:
        self.steps = 0

    def initial(self) -> Any:
        return [(0, ())]

    def step(self, state: int, event: Event) -> Any:
        self.steps += 1
        return (state + 1) % 3, [], {"out": [Message(event.time, self.steps > 8)]}


def test_a_step_that_does_something_else_the_second_time_is_found() -> None:
    """Whether the node knows it is made again, chooses by chance, or gives up what it has."""
    chance = random.Random(3)
    several: dict[str, Any] = {
        "count": Remembers(),
        "chance": FunctionNode(lambda state, event: (state, [], {"out": [Message(event.time, chance.random())]})),
    }
    for node in several.values():
        observed = explore(node, {"in": [A0]}, [0])
        assert observed.impure is not None
        assert observed.impure.event.time == 0
    left = iter(range(3))
    fails = FunctionNode(lambda state, event: ((state + next(left) * 0 + 1) % 3, [], {}))
    found = explore(fails, {"in": [A0]}, [])
    assert found.impure is not None  # it raises when the steps are made again
    assert found.histories == 4


@pytest.mark.parametrize("node", [Counter(), Total(), Liar()])
def test_steps_that_do_the_same_each_time_are_not_impure(node: Any) -> None:
    assert explore(node, {"in": [Message(0, 0), Message(1, 0)]}, depth=4).impure is None


def test_what_is_not_a_number_is_like_itself() -> None:
    """A value that is not equal to itself does not make a step impure."""
    node = FunctionNode(lambda state, event: (state, [], {"out": [Message(event.time, float("nan"))]}))
    assert explore(node, {"in": [A0]}, []).impure is None


class Counts:
    """A state that can be hashed, and is equal to nothing but itself."""

    def __init__(self, seen: int = 0) -> None:
        self.seen = seen


class Slotted:
    """The same, with a slot."""

    __slots__ = ("seen",)


class Valued:
    """A state that can be hashed and compared, and can be changed."""

    def __init__(self, seen: int = 0) -> None:
        self.seen = seen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Valued) and self.seen == other.seen

    def __hash__(self) -> int:
        return hash(self.seen)

    def __repr__(self) -> str:
        return f"Valued({self.seen})"


class Colour(Enum):
    """A state of which there is one each."""

    RED = 1


@pytest.mark.parametrize(
    "make",
    [Counts, lambda: (1, Counts()), lambda: {"a": [Counts()]}, lambda: {Counts(): 1}, lambda: iter([1]), Slotted],
)
def test_a_state_that_is_equal_to_nothing_but_itself_is_refused(make: Callable[[], Any]) -> None:
    at_once = FunctionNode(lambda state, event: (state, [], {}), [(make(), ())])
    for node in (at_once, FunctionNode(lambda state, event: (make(), [], {}))):
        with pytest.raises(PointstampError, match=r"PS615.* in its state, which is equal to nothing but itself"):
            explore(node, {"in": [A0]}, [])


@pytest.mark.parametrize("state", [object(), Colour.RED, (None, int), relay, 1.5, frozenset({2})])
def test_states_of_which_there_is_one_are_none_of_these(state: Any) -> None:
    found = explore(FunctionNode(lambda state, event: (state, [], {}), [(state, ())]), {"in": [A0]}, [])
    assert (found.states, found.complete, found.impure) == (1, True, None)


def test_a_step_that_changes_the_state_it_was_given_is_refused() -> None:
    def respond(state: Valued, event: Event) -> Any:
        state.seen += 1
        return state, [], {}

    with pytest.raises(PointstampError, match=r"PS615.*has changed its state Valued\(0\), .* to Valued\(1\)"):
        explore(FunctionNode(respond, [(Valued(), ())]), {"in": [A0]}, [])
    honest = FunctionNode(lambda state, event: (Valued(min(state.seen + 1, 3)), [], {}), [(Valued(), ())])
    assert explore(honest, {"in": [A0]}, []).states == 4


def test_a_finite_node_is_explored_completely() -> None:
    node, messages, times = random_node(3)
    whole = explore(node, messages, times)
    assert whole.complete
    deeper = explore(node, messages, times, depth=50)
    assert deeper.complete
    assert (list(deeper.one_step), list(deeper.requests)) == (list(whole.one_step), list(whole.requests))


def test_budget() -> None:
    endless = FunctionNode(lambda state, event: (state + 1, [], {"out": [Message(state)]}), [(0, [])])
    observed = explore(endless, {"in": [A0]}, [], most_histories=10)
    assert (observed.complete, observed.histories, observed.states) == (False, 10, 10)
    assert observed.extent is Extent.HISTORIES
    assert explore(endless, {"in": [A0]}, [], depth=3).extent is Extent.DEPTH
    assert len(observed.one_step) == 9
    assert not explore(endless, {"in": [A0]}, []).complete
    assert explore(endless, {}, []).complete  # nothing ever happens to it
    assert explore(endless, {}, [], depth=0).complete


def test_depth_zero_runs_nothing() -> None:
    observed = explore(Counter(), {"in": [A0]}, [], depth=0)
    assert (observed.one_step, observed.complete, observed.histories) == ({}, False, 1)


class Unhashable:
    """A state with an equality of its own and no hash."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable) and self.number == other.number

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "make",
    [
        lambda number: number,
        lambda number: {"count": number, "list": [number, {number}]},
        lambda number: [number],
        lambda number: {number},
        lambda number: ([number], (number, [])),
        Unhashable,
    ],
)
def test_states_are_compared_by_equality(make: Callable[[int], Any]) -> None:
    states = [make(number) for number in range(5)]
    node = FunctionNode(
        lambda state, event: (make((states.index(state) + 1) % 5), [], {"out": [Message(states.index(state))]}),
        [(make(0), [])],
    )
    observed = explore(node, {"in": [A0]}, [])
    assert observed.complete
    assert observed.states == 5
    assert set(observed.one_step) == {(0, "out", number) for number in range(5)}


def test_states_that_look_alike_but_differ_are_kept_apart() -> None:
    values: list[Any] = [[1], (1,), {1}, frozenset({1}), {1: 1}, [[1]]]
    observed = explore(FunctionNode(lambda state, event: (state, [], {}), [(v, []) for v in values]), {}, [0])
    assert observed.states == len(values) - 1  # a set and a frozenset are equal


def test_what_was_observed_names_the_node() -> None:
    assert explore(Counter(), {}).node == "Counter"
    assert explore(Counter(), {}, name="p") == Observed("p", {}, {}, True, 1, 1)
    assert Outcome(0, frozenset(), {}) == after(Counter(), History(0, frozenset()))
