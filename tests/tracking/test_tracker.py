"""The class `Tracker`: steps, threads, subscriptions, snapshots, what is kept and what is forgotten (SPEC section 4).

What it answers is compared with the reference in `test_sessions_against_reference.py`; this is about how it behaves.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import Lex, Nat, PointstampError, Product, Tagged, Tracker
from tests.commands.tracking import FALLING, LOOP, size_of
from tests.tracking.tools import refused

Answer = tuple[Any, ...]


@pytest.fixture(params=["auto", "eager", "hierarchical"])
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def tracker(document: Any = LOOP, **options: Any) -> Tracker:
    return Tracker(from_data(document), **options)


def seen(tracked: Tracker) -> Answer:
    """All that can be seen of a tracker but its fresh requests, which are taken by looking."""
    return (tracked.clock(), tracked.eligible(), tracked.pending(), tracked.messages(), tracked.inputs())


# --- steps ------------------------------------------------------------------------------------------------------------


def test_the_example_of_the_specification() -> None:
    tracked = tracker()
    with tracked.step() as step:
        step.message("input", 0)
        step.request("body", 0)
    assert tracked.get_ready() == ()
    assert tracked.frontier("back") == (1,)
    assert {blocker.pointstamp for blocker in tracked.why("body", 0).by} == {("input", 0)}
    with tracked.step() as step:
        step.consumed("input", 0)
        step.input("input", [])
    assert tracked.get_ready() == (("body", 0),)
    for node, time in tracked.eligible():
        with tracked.step() as step:
            step.delivered(node, time)
    assert tracked.clock() == {}
    tracked._check()


def test_an_exception_within_a_step_leaves_no_trace(engine: str) -> None:
    tracked, twin = tracker(engine=engine), tracker(engine=engine)
    for each in (tracked, twin):
        each.apply(messages=[("out", 1, 2)], requests=[("body", 0), ("body", 4)], inputs={"input": [3]})

    class Mine(Exception):
        pass

    def take() -> None:
        with tracked.step() as step:
            step.message("input", 5)
            step.consumed("out", 1)
            step.request("body", 9)
            step.delivered("body", 0)
            step.input("input", [])
            assert seen(tracked) == seen(twin)  # nothing shows before the end
            raise Mine

    with pytest.raises(Mine):
        take()
    assert seen(tracked) == seen(twin)
    assert tracked.get_ready() == twin.get_ready() == (("body", 0),)
    tracked._check()


@pytest.mark.parametrize("place", range(5))
def test_a_refused_step_leaves_no_trace(engine: str, place: int) -> None:
    tracked, twin = tracker(engine=engine), tracker(engine=engine)
    for each in (tracked, twin):
        each.apply(messages=[("out", 1, 2)], requests=[("body", 0), ("body", 4)], inputs={"input": [3]})
    parts: list[Callable[[Any], object]] = [
        lambda step: step.consumed("out", 1),
        lambda step: step.message("input", 5),
        lambda step: step.request("body", 9),
        lambda step: step.input("input", [6]),
    ]
    parts.insert(place, lambda step: step.delivered("body", 4))

    def take() -> None:
        with tracked.step() as step:
            for part in parts:
                part(step)

    assert "why" in refused("PS508", take).hint
    assert seen(tracked) == seen(twin)
    tracked._check()


def test_a_step_is_taken_once() -> None:
    tracked = tracker()
    with tracked.step() as step:
        step.message("input", 0)
    refused("PS501", lambda: step.message("input", 0))
    refused("PS501", lambda: step.request("body", 0))
    refused("PS501", step.__enter__)
    assert tracked.messages() == {("input", 0): 1}
    with pytest.raises(KeyError), tracked.step() as broken:
        raise KeyError
    refused("PS501", broken.__enter__)


def test_steps_that_overlap_are_taken_in_the_order_of_their_ends() -> None:
    tracked = tracker()
    with tracked.step() as outer:
        outer.message("input", 0)
        with tracked.step() as inner:
            inner.message("input", 1)
            inner.input("input", [2])
        assert tracked.messages() == {("input", 1): 1}
        outer.message("input", 2)
        outer._messages.pop(0)
    assert tracked.messages() == {("input", 1): 1, ("input", 2): 1}


def test_an_input_moves_once_in_a_step() -> None:
    tracked = tracker()
    with tracked.step() as step:
        step.input("input", [1])
        refused("PS501", lambda: step.input("input", [2]))
    assert tracked.inputs() == {"input": (1,)}


def test_net_changes_count() -> None:
    tracked = tracker()
    tracked.apply(messages=[("input", 3, -1), ("input", 3, 1), ("out", 5, -2), ("out", 5, 2)])
    assert tracked.messages() == {}
    tracked.apply(messages=[("input", 3, 0)])
    assert tracked.messages() == {}
    refused("PS505", lambda: tracked.apply(messages=[("input", 3, 2), ("input", 3, -3)]))


def test_delivering_and_requesting_anew_in_one_step(engine: str) -> None:
    tracked = tracker(engine=engine, inputs={"input": []}, requests=[("body", 0)])
    for _ in range(3):
        assert tracked.get_ready() == (("body", 0),)
        assert tracked.get_ready() == ()
        tracked.apply(delivered=[("body", 0)], requests=[("body", 0)])
    tracked.apply(delivered=[("body", 0)])
    assert tracked.get_ready() == ()
    assert tracked.clock() == {}


def test_a_request_that_was_delivered_before_anybody_asked_is_not_ready() -> None:
    tracked = tracker(inputs={"input": []}, requests=[("body", 0)])
    tracked.apply(delivered=[("body", 0)])
    assert tracked.get_ready() == ()


def test_a_node_that_does_not_notify_may_ask() -> None:
    tracked = tracker()
    tracked.apply(requests=[("feedback", 0)])
    assert tracked.get_ready() == ()
    tracked.apply(inputs={"input": [1]})
    assert tracked.get_ready() == (("feedback", 0),)


def test_a_node_without_incoming_edges_is_told_at_once() -> None:
    graph = Graph().node("source").edge("source", None, id="out")
    tracked = Tracker(graph, requests=[("source", 3)])
    assert tracked.get_ready() == (("source", 3),)
    assert tracked.why("source", 0) == (False, ())
    assert tracked.frontier("out") == (3,)


# --- starts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "opened"),
    [
        ("nat", (0,)),
        ({"nat": {"max": 3}}, (0,)),
        ("int", ()),
        ("unit", (None,)),
        ({"product": ["nat", "nat"]}, ((0, 0),)),
        ({"product": ["nat", "int"]}, ()),
        ({"lex": ["nat", "nat"]}, ((0, 0),)),
        ({"finite": {"elements": ["a", "b", "c"], "below": [["a", "c"], ["b", "c"]]}}, ("a", "b")),
        ({"sum": {"left": "nat", "right": "nat"}}, (Tagged("left", 0), Tagged("right", 0))),
        ({"sum": {"left": "nat", "right": "int"}}, (Tagged("left", 0),)),
    ],
)
def test_an_input_that_is_not_named_opens_at_the_least_times(domain: Any, opened: Answer) -> None:
    graph = Graph(domain).node("node").edge(None, "node", id="input").edge(None, "node", id="other")
    tracked = Tracker(graph, inputs={"other": []})
    assert tracked.inputs().get("input", ()) == opened
    assert tracked.frontier("input") == tracked.frontier("node") == opened
    assert tracked.inputs().get("other", ()) == ()
    tracked._check()


def test_an_input_of_integers_can_be_opened_at_the_start_alone() -> None:
    graph = Graph("int").node("node").edge(None, "node", id="input")
    tracked = Tracker(graph, inputs={"input": [-5]})
    tracked.apply(messages=[("input", -5, 1)])
    refused("PS506", lambda: tracked.apply(messages=[("input", -6, 1)]))
    refused("PS509", lambda: Tracker(graph).apply(inputs={"input": [0]}))


def test_initial_requests_are_unrestricted() -> None:
    tracked = tracker(inputs={"input": [5]}, requests=[("body", 2), ("body", 2), ("body", 7)])
    assert tracked.pending() == (("body", 2), ("body", 7))
    assert tracked.get_ready() == (("body", 2),)
    assert tracked.frontier("back") == (3,)


def test_an_output_edge_that_is_an_input_too_is_refused_by_the_graph() -> None:
    refused("PS007", lambda: Graph().edge(None, None, id="nothing"))


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("PS502", {"inputs": {"nowhere": [0]}}),
        ("PS503", {"inputs": {"input": [-1]}}),
        ("PS504", {"inputs": {"back": [0]}}),
        ("PS501", {"inputs": {"input": 0}}),
        ("PS502", {"requests": [("nobody", 0)]}),
        ("PS503", {"requests": [("body", [])]}),
        ("PS504", {"requests": [("back", 0)]}),
        ("PS501", {"requests": [("body",)]}),
        ("PS512", {"engine": "quick"}),
    ],
)
def test_bad_starts(code: str, options: Any) -> None:
    refused(code, lambda: tracker(**options))


def test_the_engine_that_was_asked_for_is_in_use() -> None:
    assert tracker(engine="eager").engine == "eager"
    assert tracker(engine="hierarchical").engine == "hierarchical"
    assert tracker().engine in ("eager", "hierarchical")
    assert tracker(kernel=False).kernel is False


# --- answers ----------------------------------------------------------------------------------------------------------


def test_complete(engine: str) -> None:
    tracked = tracker(engine=engine)
    tracked.apply(inputs={"input": [2]}, messages=[("out", 0, 1)], requests=[("body", 1)])
    assert [tracked.complete("input", time) for time in (0, 1, 2, 9)] == [True, True, False, False]
    assert [tracked.complete("back", time) for time in (0, 1)] == [True, False]
    assert [tracked.complete("body", time) for time in (0, 1)] == [True, False]
    assert [tracked.complete("feedback", time) for time in (0, 1)] == [False, False]
    tracked.apply(messages=[("out", 0, -1)])
    assert tracked.complete("body", 1)  # its own request does not count
    assert not tracked.complete("result", 1)  # but what it may send does
    refused("PS502", lambda: tracked.complete("nowhere", 0))
    refused("PS503", lambda: tracked.complete("body", "0"))


def test_holding_tells_who_holds_each_minimal_time(engine: str) -> None:
    graph = Graph(Product([Nat(), Nat()])).node("join").edge(None, "join", id="left").edge(None, "join", id="right")
    graph.edge("join", None, id="out")
    tracked = Tracker(graph, inputs={"left": [(3, 0)], "right": [(0, 3)]}, engine=engine)
    tracked.apply(messages=[("left", (3, 1), 1)])
    held = tracked.holding("out")
    assert {holding.time for holding in held} == {(3, 0), (0, 3)} == set(tracked.frontier("out"))
    for holding in held:
        (blocker,) = holding.by
        assert blocker.kind == "input"
        assert blocker.proof[0] == blocker.pointstamp
        assert blocker.proof[-1] == ("out", holding.time)
    tracked.apply(inputs={"left": [], "right": []})
    (holding,) = tracked.holding("out")
    assert [(blocker.pointstamp, blocker.kind) for blocker in holding.by] == [(("left", (3, 1)), "message")]
    tracked.apply(messages=[("left", (3, 1), -1)])
    assert tracked.holding("out") == ()
    refused("PS502", lambda: tracked.holding("nowhere"))


def test_why_is_about_the_time_not_about_a_request(engine: str) -> None:
    tracked = tracker(engine=engine)
    tracked.apply(messages=[("back", 4, 1)], inputs={"input": [6]})
    why = tracked.why("body", 5)
    assert why.blocked
    assert [(by.pointstamp, by.kind, by.proof) for by in why.by] == [
        (("back", 4), "message", (("back", 4), ("back", 5)))
    ]
    assert tracked.why("body", 3) == (False, ())
    refused("PS504", lambda: tracked.why("back", 3))


def test_a_fall_without_end_is_named_and_leaves_no_trace(engine: str) -> None:
    graph = from_data(FALLING)
    tracked = Tracker(graph, engine=engine, requests=[])
    before = seen(tracked)
    error = refused("PS601", lambda: Tracker(graph, engine=engine, inputs={"input": [3]}))
    assert any(f"at '{node}' falls" in error.message for node in graph.network().nodes)
    assert any(f"through '{node}'" in error.message for node in graph.network().nodes)
    assert seen(tracked) == before == ({}, (), (), {}, {"input": ()})
    apart = Graph("int").node("a").node("b", summary={"advance": -1}).node("c")
    apart.edge(None, "c", id="input").edge("c", "a", id="into").edge("a", "b").edge("b", "a").edge("c", None, id="out")
    refused("PS601", lambda: Tracker(apart, engine=engine, inputs={"input": [0]}))


# --- threads ----------------------------------------------------------------------------------------------------------


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work` with each number in a thread of its own; what one raises is raised here."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_threads_take_steps_and_each_request_is_handed_out_once(engine: str) -> None:
    """Workers take messages round the loop and deliver what they are handed; what is left is what one worker leaves."""
    workers, times = 4, 150
    tracked = tracker(engine=engine)
    tracked.apply(messages=[("input", time, workers) for time in range(times)])
    tracked.apply(requests=[("body", time) for time in range(times + 1)], inputs={"input": []})
    handed: list[tuple[str, Any]] = []

    def work(number: int) -> None:
        rng = random.Random(number)
        order = list(range(times))
        rng.shuffle(order)
        for time in order:
            with tracked.step() as step:
                step.consumed("input", time)
                step.message("out", time)
            with tracked.step() as step:
                step.consumed("out", time)
                step.message("back", time + 1)
            with tracked.step() as step:
                step.consumed("back", time + 1)
            for node, ready in tracked.get_ready():
                handed.append((node, ready))
                tracked.apply(delivered=[(node, ready)])

    in_threads(workers, work)
    while ready := tracked.get_ready():
        for node, time in ready:
            handed.append((node, time))
            tracked.apply(delivered=[(node, time)])
    assert Counter(handed) == Counter([("body", time) for time in range(times + 1)])
    assert seen(tracked) == ({}, (), (), {}, {"input": ()})
    tracked._check()


def test_threads_that_are_refused_do_not_disturb_others() -> None:
    tracked = tracker()
    tracked.apply(messages=[("input", 0, 400)])
    complaints: list[str] = []

    def work(number: int) -> None:
        for _ in range(100):
            tracked.apply(messages=[("input", 0, -1), ("out", 0, 1)])
            try:
                with tracked.step() as step:
                    step.consumed("out", 0, 401)
                    step.message("result", 0)
            except PointstampError as error:
                complaints.append(error.code)
            tracked.frontier("back")
            tracked.why("body", 3)
            tracked.snapshot()

    in_threads(4, work)
    assert complaints == ["PS505"] * 400
    assert tracked.messages() == {("out", 0): 400}
    tracked._check()


def test_a_step_in_one_thread_does_not_hold_others_up() -> None:
    tracked = tracker()
    with tracked.step() as step:
        step.message("input", 0)
        in_threads(1, lambda number: tracked.apply(messages=[("input", 7, 1)]))
    assert tracked.messages() == {("input", 7): 1, ("input", 0): 1}


# --- subscriptions ----------------------------------------------------------------------------------------------------


def test_subscribers_are_told_before_and_after(engine: str) -> None:
    tracked = tracker(engine=engine)
    told: list[Any] = []
    for location in ("back", "input", "result", "body"):
        tracked.subscribe(location, lambda *what: told.append(what))
    tracked.apply(messages=[("input", 0, 1)])
    assert told == []  # nothing moved
    tracked.apply(inputs={"input": [2]})
    assert told == []  # the message holds it
    tracked.apply(messages=[("input", 0, -1), ("out", 0, 1)])
    assert Counter(told) == Counter(
        [("input", (0,), (2,)), ("body", (0,), (1,)), ("result", (0,), (1,))]
    )  # `back` stays at 1
    told.clear()
    tracked.apply(messages=[("out", 0, -1)], inputs={"input": []})
    assert Counter(told) == Counter([("input", (2,), ()), ("body", (1,), ()), ("result", (1,), ()), ("back", (1,), ())])


def test_what_subscribers_are_told_is_what_the_frontier_was(engine: str) -> None:
    rng = random.Random(5)
    tracked = tracker(engine=engine)
    known = {name: tracked.frontier(name) for name in ("body", "feedback", "input", "out", "back", "result")}
    told = dict(known)

    def callback(location: str, before: Answer, after: Answer) -> None:
        assert told[location] == before
        assert before != after
        told[location] = after

    for location in known:
        tracked.subscribe(location, callback)
    for _ in range(400):
        time = rng.randrange(60)
        with suppress(PointstampError):
            tracked.apply(messages=[(rng.choice(["input", "out", "back"]), time, rng.choice([1, -1]))])
        with suppress(PointstampError):
            tracked.apply(inputs={"input": [rng.randrange(60)]}) if rng.random() < 0.03 else None
        with suppress(PointstampError):
            tracked.apply(requests=[("body", time)]) if rng.random() < 0.5 else None
        for node, ready in tracked.get_ready():
            tracked.apply(delivered=[(node, ready)])
        assert told == {name: tracked.frontier(name) for name in known}


@pytest.mark.parametrize("kernel", [True, False])
def test_a_new_subscriber_hears_nothing_of_moves_from_before(kernel: bool) -> None:
    graph = Graph().node("p").node("q").edge(None, "p", "in").edge(None, "q", "other")
    tracked = Tracker(graph, engine="eager", kernel=kernel)
    tracked.subscribe("p", lambda *move: None)()
    tracked.apply(inputs={"in": [5]})
    told: list[Any] = []
    tracked.subscribe("p", lambda *move: told.append(move))
    tracked.apply(inputs={"other": [7]})
    assert told == []
    tracked.apply(inputs={"in": [6]})
    assert told == [("p", (5,), (6,))]


def test_subscribers_of_one_location_are_called_in_the_order_in_which_they_came() -> None:
    tracked = tracker()
    order: list[int] = []
    for number in range(5):
        tracked.subscribe("input", lambda *_, number=number: order.append(number))
    tracked.apply(inputs={"input": [1]})
    assert order == [0, 1, 2, 3, 4]


def test_what_a_subscriber_raises_comes_after_all_were_called_and_the_step_stands() -> None:
    tracked = tracker()
    order: list[str] = []

    def failing(*_: Any) -> None:
        order.append("failing")
        raise KeyError("mine")

    tracked.subscribe("input", failing)
    tracked.subscribe("input", lambda *_: order.append("next"))
    tracked.subscribe("body", lambda *_: order.append("body"))
    with pytest.raises(KeyError, match="mine"), tracked.step() as step:
        step.input("input", [1])
    assert sorted(order) == ["body", "failing", "next"]
    assert tracked.inputs() == {"input": (1,)}
    tracked._check()


def test_a_subscription_can_end_within_its_callback(engine: str) -> None:
    tracked = tracker(engine=engine)
    told: list[int] = []
    ends: list[Callable[[], None]] = []

    def once(location: str, before: Answer, after: Answer) -> None:
        told.append(after[0])
        ends[0]()
        ends[0]()  # twice is once

    ends.append(tracked.subscribe("body", once))
    for time in range(1, 4):
        tracked.apply(inputs={"input": [time]})
    assert told == [1]
    tracked.subscribe("body", once)
    tracked.apply(inputs={"input": [9]})
    assert told == [1, 9]


def test_a_callback_may_take_steps(engine: str) -> None:
    """The input is moved on by whoever hears that it moved: each step causes the next."""
    tracked = tracker(engine=engine)
    told: list[Any] = []

    def chase(location: str, before: Answer, after: Answer) -> None:
        told.append((before, after))
        if after[0] < 5:
            tracked.apply(inputs={"input": [after[0] + 1]})

    tracked.subscribe("input", chase)
    tracked.apply(inputs={"input": [1]})
    assert told == [((time,), (time + 1,)) for time in range(5)]
    assert tracked.frontier("input") == (5,)


def test_a_callback_may_subscribe_and_ask() -> None:
    tracked = tracker()
    found: list[Any] = []

    def callback(location: str, before: Answer, after: Answer) -> None:
        found.append((tracked.frontier(location), tracked.why("body", 9).blocked))
        tracked.subscribe("back", lambda *what: found.append(what))

    tracked.subscribe("input", callback)
    tracked.apply(inputs={"input": [1]})
    assert found == [((1,), True)]
    tracked.apply(inputs={"input": []})
    assert len(found) == 3
    assert ((), False) in found
    assert ("back", (2,), ()) in found


# --- snapshots --------------------------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Any, list[Any]]] = {
    "nat": ("nat", [0, 1, 5]),
    "unit": ("unit", [None]),
    "product": (Product([Nat(), Nat()]), [(0, 0), (0, 2), (3, 0)]),
    "lex": (Lex([Nat(), Nat()]), [(0, 0), (1, 2), (3, 0)]),
    "finite": ({"finite": {"elements": ["a", "b"]}}, ["a", "b"]),
    "sum": (
        {"sum": {"left": "nat", "right": {"product": ["nat", "nat"]}}},
        [Tagged("left", 0), Tagged("right", (0, 1))],
    ),
}


def held_up(domain: Any) -> Graph:
    """Two nodes in a row, with an input that blocks the first one alone."""
    graph = Graph(domain).node("first").node("second")
    return graph.edge(None, "first", id="a").edge("first", "second", id="b").edge(None, "second", id="c")


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_is_plain_data_from_which_the_session_goes_on(kind: str, engine: str) -> None:
    domain, times = KINDS[kind]
    graph = held_up(domain)
    tracked = Tracker(graph, engine=engine)
    tracked.apply(
        messages=[("a", time, number + 1) for number, time in enumerate(times)],
        requests=[(node, time) for node in ("first", "second") for time in times],
    )
    tracked.apply(inputs={"a": [], "c": []}, messages=[("a", times[0], -1)])
    tracked.get_ready()
    plain = json.loads(json.dumps(tracked.snapshot()))
    copy = Tracker.restore(graph, plain, engine=engine)
    assert seen(copy) == seen(tracked)
    assert copy.get_ready() == tracked.get_ready() == ()
    copy._check()
    assert copy.snapshot() == tracked.snapshot()
    rest = [("a", time, -count) for (_, time), count in tracked.messages().items()]
    for each in (tracked, copy):
        each.apply(messages=rest)
    assert copy.get_ready() == tracked.get_ready()
    assert seen(copy) == seen(tracked)


def test_a_ready_request_that_nobody_was_handed_is_handed_out_after_the_restore() -> None:
    tracked = tracker(inputs={"input": []}, requests=[("body", 0)])
    assert Tracker.restore(from_data(LOOP), tracked.snapshot()).get_ready() == (("body", 0),)
    tracked.get_ready()
    copy = Tracker.restore(from_data(LOOP), tracked.snapshot())
    assert copy.get_ready() == ()
    assert copy.eligible() == (("body", 0),)


def test_a_snapshot_does_not_change_afterwards() -> None:
    tracked = tracker()
    tracked.apply(messages=[("input", 1, 1)], requests=[("body", 1)])
    snapshot = tracked.snapshot()
    before = json.dumps(snapshot)
    tracked.apply(messages=[("input", 1, -1)], inputs={"input": []})
    assert json.dumps(snapshot) == before


def test_a_restored_closed_input_stays_closed() -> None:
    tracked = tracker(inputs={"input": []})
    copy = Tracker.restore(from_data(LOOP), tracked.snapshot())
    assert copy.clock() == {}
    refused("PS509", lambda: copy.apply(inputs={"input": [3]}))


def test_a_snapshot_of_times_of_the_users_own() -> None:
    """Their values are in it as they are; what they are made of is the user's business."""

    class Subsets:
        """Sets of letters, ordered by inclusion."""

        is_total = False

        def contains(self, value: object) -> bool:
            return isinstance(value, frozenset)

        def less_equal(self, earlier: frozenset[str], later: frozenset[str]) -> bool:
            return earlier <= later

        def minimal_upper_bounds(self, one: frozenset[str], other: frozenset[str]) -> Answer:
            return (one | other,)

        def least(self) -> Answer:
            return (frozenset(),)

        def sort_key(self, value: frozenset[str]) -> Any:
            return len(value), sorted(value)

        def sample(self) -> list[Any]:
            return [frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")]

    class Same:
        def apply(self, time: frozenset[str]) -> Answer:
            return (time,)

    graph = Graph(Subsets())
    graph.node("join", summary=Same(), requests=Same()).edge(None, "join", id="in").edge("join", None, id="out")
    tracked = Tracker(graph)
    one, other, both = frozenset("a"), frozenset("b"), frozenset("ab")
    tracked.apply(messages=[("in", one, 1), ("in", other, 1)], requests=[("join", both), ("join", one)])
    tracked.apply(inputs={"in": []})
    assert set(tracked.frontier("out")) == {one, other}
    copy = Tracker.restore(graph, tracked.snapshot())
    assert seen(copy) == seen(tracked)
    for each in (tracked, copy):
        each.apply(messages=[("in", one, -1)])
        assert each.get_ready() == (("join", one),)
        each._check()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: None,
        lambda data: [],
        lambda data: {},
        lambda data: {**data, "pointstamp_snapshot": 2},
        lambda data: {**data, "pointstamp_snapshot": "1"},
        lambda data: {key: value for key, value in data.items() if key != "messages"},
        lambda data: {**data, "messages": {}},
        lambda data: {**data, "messages": [["out", 0]]},
        lambda data: {**data, "messages": [["out", 0, 0]]},
        lambda data: {**data, "messages": [["out", 0, -1]]},
        lambda data: {**data, "messages": [["out", 0, 1.5]]},
        lambda data: {**data, "messages": [["body", 0, 1]]},
        lambda data: {**data, "messages": ["out"]},
        lambda data: {**data, "inputs": {"input": 0}},
        lambda data: {**data, "inputs": {}},
        lambda data: {**data, "reported": [["body", 5]]},
        lambda data: {**data, "reported": [["body", 77]]},
    ],
)
def test_what_is_no_snapshot_is_refused(change: Callable[[Any], Any]) -> None:
    tracked = tracker()
    tracked.apply(messages=[("out", 1, 1)], requests=[("body", 0), ("body", 5)], inputs={"input": [3]})
    graph = from_data(LOOP)
    Tracker.restore(graph, tracked.snapshot())
    refused("PS511", lambda: Tracker.restore(graph, change(tracked.snapshot())))


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda data: {**data, "messages": [["nowhere", 0, 1]]}, {"PS502", "PS511"}),
        (lambda data: {**data, "messages": [["out", -1, 1]]}, {"PS503", "PS511"}),
        (lambda data: {**data, "requests": [["body", "x"]]}, {"PS503", "PS511"}),
        (lambda data: {**data, "inputs": {"out": [0]}}, {"PS504", "PS511"}),
        (lambda data: {**data, "reported": [[[], 0]]}, {"PS501", "PS502", "PS511"}),
        (lambda data: {**data, "requests": [["body", [[], {}]]]}, {"PS503", "PS511"}),
    ],
)
def test_a_snapshot_of_another_graph_is_refused(change: Callable[[Any], Any], codes: set[str]) -> None:
    with pytest.raises(PointstampError) as caught:
        Tracker.restore(from_data(LOOP), change(tracker().snapshot()))
    assert caught.value.code in codes


# --- memory -----------------------------------------------------------------------------------------------------------


def work_of(rng: random.Random, rounds: int, times: Callable[[int], Any]) -> Iterator[dict[str, Any]]:
    """A session in which everything comes to its end: messages, requests, deliveries, an input that moves."""
    for number in range(rounds):
        time, after = times(number), times(number + 1)
        extra = rng.randrange(1, 4)
        yield {"messages": [("input", time, extra)], "requests": [("body", time)]}
        yield {"messages": [("input", time, -extra), ("out", time, 1)]}
        yield {"messages": [("out", time, -1), ("back", after, 1)], "inputs": {"input": [after]}}
        yield {"messages": [("back", after, -1)]}


@pytest.mark.parametrize(
    ("domain", "summary", "times"),
    [
        ("nat", {"advance": 1}, lambda number: number),
        ({"product": ["nat", "nat"]}, {"advance": [1, 0]}, lambda number: (number, 0)),
        ({"lex": ["nat", "nat"]}, {"advance": [0, 1]}, lambda number: (0, number)),
        ({"sum": {"left": "nat"}}, "never", lambda number: Tagged("left", number)),
    ],
    ids=["nat", "product", "lex", "sum"],
)
def test_what_is_complete_is_forgotten(domain: Any, summary: Any, times: Callable[[int], Any], engine: str) -> None:
    feedback = {"notify": False, "summary": summary}
    tracked = tracker({**LOOP, "time": domain, "nodes": {"body": {}, "feedback": feedback}}, engine=engine)
    rng = random.Random(2)
    sizes = []
    delivered = 0
    for number, step in enumerate(work_of(rng, 1_500, times)):
        if summary == "never":
            step["messages"] = [item for item in step["messages"] if item[0] != "back"]
        tracked.apply(**step)
        for node, time in tracked.get_ready():
            tracked.apply(delivered=[(node, time)])
            delivered += 1
        if number in (400, 3_200, 5_999):
            sizes.append(size_of(tracked))
    assert delivered >= 1_499
    assert max(sizes) <= min(sizes) + 60, sizes
    assert len(tracked.messages()) == 0
    tracked._check()


def test_many_outstanding_are_forgotten_once_they_are_gone(engine: str) -> None:
    tracked = tracker(engine=engine)
    tracked.frontier("input")
    size = size_of(tracked)
    times = list(range(3_000))
    random.Random(1).shuffle(times)
    tracked.apply(messages=[("input", time, 1) for time in times], requests=[("body", time) for time in times])
    tracked.apply(inputs={"input": [5_000]})
    for time in times:
        tracked.apply(messages=[("input", time, -1)])
        while ready := tracked.get_ready():  # each one holds the next
            tracked.apply(delivered=ready)
    assert tracked.messages() == {}
    assert tracked.pending() == ()
    assert size_of(tracked) <= size + 120
    tracked._check()
