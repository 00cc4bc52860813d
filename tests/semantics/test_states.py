"""States, queues, systems and the four actions, literally (A&I 4.2)."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, load
from progress import Nat, PointstampError, Product
from progress.local_history import Event, Message, Notification, Received
from progress.semantics import (
    Inp,
    Inputs,
    Mess,
    Not,
    Outp,
    Specification,
    State,
    System,
    Variant,
    compare,
    explore,
)
from progress.semantics.actions import inp, mess, notify, outp
from progress.semantics.queues import is_subsequence, normal_form, takeable, with_one_less, with_one_more
from progress.semantics.specification import inputs_do_not_grow
from tests.questions.local_histories import FunctionNode, Total
from tests.semantics.small_systems import chain, messages, one_node, relay

ROOT = Path(__file__).resolve().parents[2]
QUIET = Variant(inputs=Inputs.FORBIDDEN)
PAIRS = Product([Nat(), Nat()])
A, B = Message(0, "a"), Message(0, "b")


def queue(*times: Any) -> tuple[Message, ...]:
    return tuple(Message(time) for time in times)


# --- queues ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "places"),
    [
        ((), []),
        ((3,), [0]),
        ((3, 5), [0]),
        ((5, 3), [0, 1]),
        ((5, 3, 4, 3, 2), [0, 1, 4]),
        ((3, 3), [0]),
    ],
)
def test_a_node_may_take_what_has_nothing_earlier_or_equal_ahead(times: tuple[int, ...], places: list[int]) -> None:
    assert list(takeable(queue(*times), Nat(), True)) == places
    assert list(takeable(queue(*times), Nat(), False)) == places[:1]


def test_minimal_elements_of_a_pomset() -> None:
    assert list(takeable(queue((0, 1), (1, 0), (1, 1), (0, 2)), PAIRS, True)) == [0, 1]
    assert list(takeable((A, B), Nat(), True)) == [0]


def test_subsequences_against_all_of_them() -> None:
    rng = random.Random(0)
    for _ in range(200):
        long = tuple(rng.choice([A, B]) for _ in range(rng.randint(0, 5)))
        short = tuple(rng.choice([A, B]) for _ in range(rng.randint(0, 4)))
        every = {part for size in range(len(long) + 1) for part in combinations(long, size)}
        assert is_subsequence(short, long) == (short in every)
        less = [one for _, one in with_one_less(long)]
        assert set(less) == {part for part in every if len(part) == len(long) - 1 and long}
        assert len(set(less)) == len(less)
        more = list(with_one_more(long, A))
        assert len(set(more)) == len(more)
        assert all(is_subsequence(long, one) and sorted(one) == sorted((*long, A)) for one in more)
        assert set(more) == {(*long[:place], A, *long[place:]) for place in range(len(long) + 1)}


def test_the_normal_form_is_one_for_each_pomset() -> None:
    """Of all orders of some messages: equal forms exactly when neighbours at incomparable times are exchanged."""
    rng = random.Random(1)
    for _ in range(150):
        times = [(rng.randint(0, 1), rng.randint(0, 1)) for _ in range(4)]
        whole = tuple(Message(time, rng.choice("ab")) for time in times)
        other = list(whole)
        rng.shuffle(other)
        forms = [normal_form(one, PAIRS, lambda m: (m.time, m.value)) for one in (whole, tuple(other))]
        assert (forms[0] == forms[1]) == (tuple(other) in exchanged(whole))
        assert forms[0] in exchanged(whole)


def exchanged(first: tuple[Message, ...]) -> set[tuple[Message, ...]]:
    found, waiting = {first}, [first]
    while waiting:
        one = waiting.pop()
        for place in range(len(one) - 1):
            a, b = one[place].time, one[place + 1].time
            if (a[0] - b[0]) * (a[1] - b[1]) < 0:
                other = (*one[:place], one[place + 1], one[place], *one[place + 2 :])
                if other not in found:
                    found.add(other)
                    waiting.append(other)
    return found


# --- systems ---------------------------------------------------------------------------------------------------------


def test_beginnings_are_all_choices() -> None:
    node = FunctionNode(lambda state, event: (state, (), {}), [("x", [1]), ("y", [])])
    graph = Graph().node("p").node("q").edge(None, "p", "in").edge("p", "q", "mid")
    system = System(graph, {"p": node, "q": node}, [{}, {"in": messages(3)}], {"in": messages(2, 1)})
    states = list(system.beginnings())
    assert len(states) == 8
    assert str(states[0]) == "p in 'x' and waits for 1; q in 'x' and waits for 1; still to come on in: 1, 2"
    assert str(states[-1]) == "in: 3; p in 'y'; q in 'y'; still to come on in: 1, 2"
    assert states[-1].queue("in") == queue(3)
    assert states[-1].still_to_come("in") == queue(1, 2)
    assert states[0].local_state("p") == "x"
    assert states[0].pending("p") == {1}
    assert not states[-1].pending("q")
    assert len(set(states)) == 8
    assert states[0] != "a state"


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: System(Graph().node("p"), {}), "no code for 'p'"),
        (lambda: System(Graph().node("p"), {"p": relay(), "q": relay()}), "no node 'q'"),
        (lambda: one_node({"out": messages(0)}), "no input edge 'out'"),
        (lambda: one_node({}, {"none": messages(0)}), "no input edge 'none'"),
        (lambda: one_node({"in": messages(-1)}), "-1 is not a time at 'in'"),
        (lambda: one_node({"in": [Message(0, [1])]}), "is not a message for 'in'"),
        (lambda: one_node({"in": [3]}), "3 is not a message"),  # type: ignore[list-item]
    ],
)
def test_systems_that_cannot_be_are_refused(build: Any, words: str) -> None:
    with pytest.raises(PointstampError) as caught:
        build()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("sent", "asked", "words"),
    [
        ({"in": [A]}, [], "'p' sends on 'in', which is not an edge that leaves it"),
        ({"nowhere": [A]}, [], "'p' sends on 'nowhere'"),
        ({"out": [Message("x")]}, [], "'x' is not a time at 'out'"),
        ({}, [-1], "'p' asks for a notification that cannot be"),
    ],
)
def test_nodes_that_do_what_cannot_be_are_refused(sent: Any, asked: Any, words: str) -> None:
    node = FunctionNode(lambda state, event: (state, asked, sent))
    with pytest.raises(PointstampError) as caught:
        explore(Specification(one_node({"in": [A]}, node=node)))
    assert words in str(caught.value)


def test_a_node_that_never_asks_may_not_ask() -> None:
    graph = Graph().node("p", notify=False).edge(None, "p", "in")
    system = System(graph, {"p": FunctionNode(lambda state, event: (state, [1], {}))}, {"in": messages(0)})
    with pytest.raises(PointstampError, match="it never asks"):
        explore(Specification(system))


def test_what_a_node_raises_says_where() -> None:
    def fails(state: Any, event: Event) -> Any:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError) as caught:
        explore(Specification(one_node({"in": [A]}, node=FunctionNode(fails, [("s", ())]))))
    assert "starts in state 's'" in caught.value.__notes__[0]
    assert "receives 'a' at 0 on 'in'" in caught.value.__notes__[0]


def test_local_states_need_no_hash_and_nodes_may_change_their_own() -> None:
    graph = Graph().node("total").edge(None, "total", "in").edge("total", None, "totals")
    found = explore(Specification(System(graph, {"total": Total()}, {"in": [Message(0, 1), Message(0, 2)]}), QUIET))
    assert [state.local_state("total") for state in found.states] == [{}, {0: 1}, {0: 3}, {}, {}]
    assert found.states[3].queue("totals") == (Message(0, 3),)
    assert str(found.states[1]) == "in: 2 at 0; total in {0: 1} and waits for 0"
    kinds: list[Any] = [[1], (1,), {1}, {1: [2]}, [[1]], ([1],), {"a": {1}}]
    node = FunctionNode(lambda state, event: (state, (), {}), [(state, ()) for state in [*kinds, [1], {1: [2]}]])
    assert len(explore(Specification(one_node(node=node))).states) == len(kinds)


def test_a_system_of_nodes_that_are_no_functions_is_refused() -> None:
    """The machine asks each node once for a state and an event: what it does has to be the same each time."""
    chance = random.Random(1)
    by_chance = FunctionNode(lambda state, event: (chance.random(), (), {}), [(0, ())])
    with pytest.raises(PointstampError, match=r"PS615: the node 'p' does not do the same each time it is given Rec"):
        explore(Specification(one_node({"in": [A]}, node=by_chance)))

    class Itself:
        def __init__(self) -> None:
            self.seen = 0

    with pytest.raises(PointstampError, match=r"PS615.*equal to nothing but itself"):
        list(Specification(one_node(node=FunctionNode(lambda s, e: (s, (), {}), [(Itself(), ())]))).initial())


# --- actions ---------------------------------------------------------------------------------------------------------


def test_mess_as_the_paper_has_it() -> None:
    """Q(e) = m . Q'(e), LocState' and NotRequests' as g1 says, what is sent at the end of queues, the rest as is."""

    def respond(state: Any, event: Event) -> Any:
        assert event == Received("in", A)
        return state + 1, [4, 5], {"out": [Message(1), Message(0)]}

    system = one_node({"in": [A, B]}, {"in": [A]}, node=FunctionNode(respond, [(0, [5])]))
    (before,) = system.beginnings()
    ((action, after),) = mess(system, before)
    assert action == Mess("p", "in", A, frozenset({4, 5}), (("out", queue(1, 0)),))
    assert str(action) == "Mess: p takes 'a' at 0 from in, sends 1, 0 on out, asks for 4, asks for 5"
    assert isinstance(action, Mess)
    assert action.event == Received("in", A)
    assert (after.queue("in"), after.queue("out")) == ((B,), queue(1, 0))
    assert (after.local_state("p"), after.still_to_come("in")) == (1, (A,))
    assert after.pending("p") == {4, 5}


def test_not_as_the_paper_has_it() -> None:
    """NotRequests(p) - {t} u N, for t that is in Clock at no incoming edge; a node without any may always be told."""

    def respond(state: Any, event: Event) -> Any:
        return state, [event.time, 7], {"out": [Message(event.time)]}

    node = FunctionNode(respond, [(None, [0, 1, 2])])
    system = one_node({"in": messages(2)}, node=node)
    specification = Specification(system)
    (before,) = system.beginnings()
    found = list(notify(system, before, specification.clock(before)))
    assert [action for action, _ in found] == [
        Not("p", time, frozenset({time, 7}), (("out", queue(time)),)) for time in (0, 1)
    ]
    assert str(found[0][0]) == "Not: p is notified of 0, sends 0 on out, asks for 0, asks for 7"
    assert found[0][0].event == Notification(0)  # type: ignore[union-attr]
    assert found[0][1].pending("p") == {0, 1, 2, 7}
    assert (found[0][1].queue("in"), found[0][1].queue("out")) == (queue(2), queue(0))
    alone = System(Graph().node("p"), {"p": FunctionNode(lambda s, e: (s, (), {}), [(None, [0, 3])])})
    (start,) = alone.beginnings()
    assert [action.time for action, _ in notify(alone, start, Specification(alone).clock(start))] == [0, 3]  # type: ignore[union-attr]


def test_a_request_is_held_up_by_messages_and_by_other_requests() -> None:
    system = chain({"in": messages(1)})
    specification = Specification(system, QUIET)
    waits = [state for state in explore(specification).states if state.pending("b")]
    assert [str(state) for state in waits] == ["b waits for 1"]  # nothing is left before it
    stuck = State(system.names, (queue(0), (), ()), (None, None), (frozenset(), frozenset({0, 1})), ((), (), ()))
    assert list(notify(system, stuck, specification.clock(stuck))) == []
    moved = State(system.names, ((), queue(1), ()), (None, None), (frozenset(), frozenset({0, 1})), ((), (), ()))
    assert [str(action) for action, _ in notify(system, moved, specification.clock(moved))] == [
        "Not: b is notified of 0, sends 0 on out"
    ]
    sender = State(system.names, ((), (), ()), (None, None), (frozenset({0}), frozenset({0, 1})), ((), (), ()))
    assert [str(action)[:8] for action, _ in notify(system, sender, specification.clock(sender))] == ["Not: a i"]


def test_inp_and_outp_as_the_paper_has_them() -> None:
    system = one_node({"in": [A]}, {"in": [B, Message(1)]})
    (before,) = system.beginnings()
    single = {after.queue("in") for _, after in inp(system, before)}
    assert single == {(A, B), (B, A), (A, Message(1)), (Message(1), A)}
    every = [(action, after.queue("in")) for action, after in inp(system, before, None)]
    assert len(every) == 4 + 6
    assert str(every[-1][0]).startswith("Inp: ")
    assert str(Inp((("in", B), ("in", Message(1))))) == "Inp: 'b' at 0 comes in on in, 1 comes in on in"
    full = State(system.names, ((), (A, B, A)), before.local, before.requests, before.coming)
    assert {after.queue("out") for _, after in outp(system, full)} == {(B, A), (A, A), (A, B)}
    assert {after.queue("out") for _, after in outp(system, full, None)} == {(B, A), (A, A), (A, B), (A,), (B,), ()}
    assert str(Outp((("out", A),))) == "Outp: 'a' at 0 leaves from out"
    assert inputs_do_not_grow(system, before, full)
    assert not inputs_do_not_grow(system, full, before)


VARIANTS = [
    Variant(reordering, inputs, outputs, None)
    for reordering in (False, True)
    for inputs in Inputs
    for outputs in (True, False)
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_relation_as_successors_and_as_a_predicate(variant: Variant) -> None:
    """Of all pairs of reachable states: `allows` accepts those that `successors` lists, and stuttering."""
    system = chain({"in": messages(1)}, {"in": messages(0)})
    specification = Specification(system, variant)
    found = explore(specification)
    for before in found.states:
        listed = {after for _, after in specification.successors(before)}
        assert {after for after in found.states if specification.allows(before, after)} == {before, *listed}


def test_allows_refuses_what_nobody_does() -> None:
    system = one_node({"in": [A]}, {"in": [B]})
    (start,) = system.beginnings()
    free = Specification(system)
    change = partial(State, system.names)
    refused: Iterable[State] = [
        change(((), ()), start.local, start.requests, start.coming),  # a message vanishes
        change(((A,), (A,)), start.local, start.requests, start.coming),  # one appears
        change(((A, A), ()), start.local, start.requests, start.coming),  # one that was not to come
        change(((A, B), ()), start.local, start.requests, start.coming),  # one that is to come still
        change(((A,), ()), ("changed",), start.requests, start.coming),
        change(((A,), ()), start.local, (frozenset({3}),), start.coming),
        change(((A,), ()), start.local, start.requests, ((), ())),
        change(((), (A,)), start.local, start.requests, ((), ())),  # two actions at once
        change(((B,), ()), start.local, start.requests, ((), ())),  # what was queued is gone
    ]
    assert not any(free.allows(start, after) for after in refused)
    assert free.allows(start, change(((B, A), ()), start.local, start.requests, ((), ())))
    assert free.allows(start, change(((), (A,)), start.local, start.requests, start.coming))
    assert not Specification(system, QUIET).allows(start, change(((B, A), ()), start.local, start.requests, ((), ())))


def test_what_is_visible() -> None:
    specification = Specification(chain({"in": messages(0)}), QUIET)
    found = explore(specification)
    assert {specification.visible(state) for state in found.states} == {
        (queue(0), ()), ((), ()), ((), queue(0)),
    }  # fmt: skip


def test_reordering_takes_more_ways() -> None:
    """Out of order on one edge: 5 may be taken first or 3; where 3 is ahead, only 3."""
    later_first, in_order = chain({"in": messages(5, 3)}), chain({"in": messages(3, 5)})
    counts = [
        len(explore(Specification(system, QUIET._replace(reordering=reordering))).states)
        for system in (later_first, in_order)
        for reordering in (False, True)
    ]
    assert counts[1] > counts[0]
    assert counts[3] == counts[2]


def test_a_graph_with_calls() -> None:
    """A recursive graph: a message at the empty stack goes into one call and comes back, and the caller is told."""
    graph = load(str(ROOT / "examples" / "recursion" / "two_calls.yaml"))
    network = graph.network()

    def respond(name: str) -> FunctionNode:
        leaving = [network.edges[edge] for edge in network.outgoing[network.number(name)]]

        def react(state: Any, event: Event) -> Any:
            if isinstance(event, Notification):
                return state, [], {"entry->split": [Message(event.time)]} if name == "entry" else {}
            depth = len(event.time)
            if name == "split":
                return state, [], {"split->left" if depth == 0 else "split->exit": [event.message]}
            if name == "call-left":
                return state, [], {leaving[0]: [Message((*event.time, "left"))]}
            if name == "exit":
                return state, [], {"exit->ret-left": [Message(tuple(event.time)[:-1])]} if depth else {}
            asks = [event.time] if name == "merge" else []
            return state, asks, {leaving[0]: [event.message]} if leaving else {}

        return FunctionNode(react, [(None, [()] if name == "entry" else [])])

    system = System(graph, {name: respond(name) for name in network.nodes})
    found = explore(Specification(system, QUIET)).check()
    assert any(isinstance(action, Not) and action.node == "merge" for steps in found.steps for action, _ in steps)
    assert all(
        not any(state.queues) and not any(state.requests)
        for state, steps in zip(found.states, found.steps, strict=True)
        if not steps
    )


def test_announced_inputs_in_the_words_of_the_paper() -> None:
    """A node without incoming edges that waits for the times to come, and sends when it is notified: equal states."""
    announced = chain({}, {"in": messages(0, 2, 1)})

    def respond(state: Any, event: Event) -> Any:
        return state, [], {"in": [Message(event.time)]}

    graph = (
        Graph()
        .node("a")
        .node("b")
        .node("source")
        .edge("source", "a", "in")
        .edge("a", "b", "mid")
        .edge("b", None, "out")
    )
    source = FunctionNode(respond, [(None, [0, 1, 2])])
    said = System(graph, {**announced.nodes, "source": source})
    one = explore(Specification(announced, Variant(inputs=Inputs.ANNOUNCED))).check()
    other = explore(Specification(said, QUIET)).check()
    edges = ("in", "mid", "out")
    assert {
        (*map(state.queue, edges), state.pending("b"), frozenset(m.time for m in state.still_to_come("in")))
        for state in one.states
    } == {(*map(state.queue, edges), state.pending("b"), state.pending("source")) for state in other.states}
    assert len(one.states) == len(other.states)


def test_importing_progress_leaves_this_package_alone() -> None:
    program = "import sys, progress; print(any(name.startswith('progress.semantics') for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# --- what is visible -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reordering", [False, True])
@pytest.mark.parametrize("gone", [False, True])
def test_two_inputs_in_another_order_are_seen_to_be_two(reordering: bool, gone: bool) -> None:
    """Q(i) is visible (4.2), as a sequence: where messages may be reordered as well, and when nothing is to come."""
    graph = Graph(time={"product": ["nat", "nat"]}).node("p", notify=False).node("q", notify=False)
    graph.edge(None, "p", "in").edge("p", "q", "on").edge("q", None, "out")
    orders = messages((0, 1), (1, 0)), messages((1, 0), (0, 1))
    found = []
    for order in orders:
        nodes = {"p": relay("on"), "q": relay("out")}
        system = System(graph, nodes, {} if gone else {"in": order}, {"in": order} if gone else None)
        specification = Specification(system, Variant(reordering=reordering))
        found.append(explore(specification))
        assert len({specification.visible(state) for state in found[-1].states}) > 5
    result = compare(*found)
    if gone:
        assert result.equal  # the outside may put them anywhere
        full = [state for state in found[0].states if len(state.queue("in")) == 2]
        assert {tuple(message.time for message in state.queue("in")) for state in full} == {
            ((0, 1), (1, 0)),
            ((1, 0), (0, 1)),
        }
    else:
        assert result.only_first == (tuple(map(tuple, (orders[0], ()))),)
        assert result.only_second == (tuple(map(tuple, (orders[1], ()))),)
