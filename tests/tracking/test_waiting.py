"""`Tracker.why()` without arguments: what waits, since when, who holds most and what would let it go (A&I 4.2).

The oracle is the reference's session: it finds all that holds each request, one Close-up each.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import Lex, Nat, Product, Tracker, reference
from progress.closure import Closure
from progress.plain import write_time
from progress.reference import is_in
from progress.reference.session import Closures, Session
from progress.tracking.blocking import Blocker
from progress.tracking.wait import Wait, Waits, for_seconds
from progress.tracking.waiting import MOST_STEPS, Search, everything
from tests.commands.tracking import LOOP
from tests.reference.against_reference import Tally
from tests.reference.against_sessions import CONFIGURATIONS, Played, graph_of
from tests.reference.random_graphs import flat_document, random_document
from tests.tracking.tools import refused, scripts


def only(waits: Waits) -> Wait:
    (wait,) = waits
    return wait


def request_of(wait: Wait) -> tuple[str, Any]:
    return wait.request.location, wait.request.time


# --- beside the reference ---------------------------------------------------------------------------------------------


class Waiting(Played):
    """A session; after each step all waits are compared with what the reference finds."""

    def listen(self, closures: Closures) -> None:
        given = None if self.script.inputs is None else self._inputs(self.script.inputs)
        self._use(self._make(given, self._pointstamps(self.script.requests)))
        self.session = Session(self.oracle, self.script.inputs, self.script.requests, closures)
        self.steps = 0
        self.since = dict.fromkeys(self.session.requests, 0)
        self._compare_waits()
        assert self.expected is not None
        self.now = self.expected.first
        for action, answer in zip(self.script.actions, self.expected.answers, strict=True):
            match action:
                case ("apply" | "with", step) if not answer[0]:
                    self.now = answer[1]
                    self.tracker.apply(**self._step(step))
                    assert not self.session.step(**step)
                    self.steps += any(step.values())
                    delivered = {tuple(item) for item in step.get("delivered", ())}
                    before = {request: at for request, at in self.since.items() if request not in delivered}
                    self.since = {request: before.get(request, self.steps) for request in self.session.requests}
                    self._compare_waits()
                case ("snapshot",):
                    self._snapshot(None)
                    self._compare_waits()

    def _compare_waits(self) -> None:
        session, waits = self.session, self.tracker.why()
        eligible = session.eligible()
        blocked = {request: session.blockers(*request) for request in session.requests if request not in eligible}
        holds = Counter(holder for holders in blocked.values() for holder in holders)
        assert len(waits) == len(blocked)
        assert waits.ready == len(eligible)
        assert waits.steps == self.steps
        ages = [wait.steps for wait in waits]
        assert ages == sorted(ages, reverse=True), "the oldest come first"
        for wait in waits:
            request = next(each for each in blocked if each == request_of(wait))
            expected = blocked[request]
            assert wait.steps == self.steps - self.since[request]
            assert wait.by is not None
            by = (tuple(wait.by.pointstamp), wait.by.kind)
            assert by in expected, f"{wait} is held by {by}, expected one of {expected}"
            most = max(holds[each] for each in expected)
            assert wait.by.holds == holds[by] == most, f"{by} holds {wait.by.holds}: {holds}"
            assert 1 <= (wait.held_by or 0) <= len(expected)
            assert (len(expected) > 1) or wait.held_by == 1
            ends = [(edge, request[1]) for edge in self.oracle.incoming[request[0]]]
            blocker = Blocker(wait.by.pointstamp, wait.by.kind, wait.proof, wait.way.folds)
            self._compare_holders([blocker], [by], ends)
            self._compare_let_go(wait, request)
            assert str(wait)
            self.tally.add(f"held by several: {len(expected) > 1}")
            self.tally.add(f"holds several: {most > 1}")

    def _compare_let_go(self, wait: Wait, request: tuple[str, Any]) -> None:
        let_go, session = wait.let_go, self.session
        assert let_go is not None
        assert wait.by is not None
        self.tally.add(f"let go: {let_go.do}")
        assert let_go.do in {"input": ["close"], "message": ["take"], "request": ["deliver", "mend"]}[wait.by.kind]
        if let_go.do == "take":
            assert let_go.messages == session.messages[let_go.location, let_go.time]
            assert let_go.node == self.oracle.destination[let_go.location]
        if let_go.do in ("deliver", "mend"):
            is_ready = (let_go.location, let_go.time) in session.eligible()
            assert is_ready is (let_go.do == "deliver")
        if let_go.do != "close" or let_go.past is None or let_go.location in self.own:
            return
        domain = self.graph.network().edge_domains[self.graph.network().inputs[let_go.location]]
        known = {time for places in (session.requests, session.messages) for _, time in places}
        for time in [each for each in known if session.contains(let_go.location, each)]:
            follows = session.closures.of_one((let_go.location, time))
            leads = any(is_in(self.oracle, (edge, request[1]), follows) for edge in self.oracle.incoming[request[0]])
            built_in = self._time(let_go.location, time)
            if leads and not let_go.past:
                self.tally.add("past: nothing")
                continue
            assert leads is any(domain.less_equal(built_in, until) for until in let_go.past), f"{time} and {let_go}"
            self.tally.add(f"past: {leads}")


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_waits_are_those_of_the_reference(first: int) -> None:
    tally = Tally()
    for seed in range(first, first + 30):
        rng = random.Random(seed)
        document = flat_document(rng) if seed % 3 else random_document(rng)
        oracle = reference.Graph(document)
        graph, own = graph_of(document, oracle, seed if seed % 5 == 0 and seed % 3 else None)
        script, expected = scripts(rng, oracle)
        upcoming = CONFIGURATIONS[seed % 4 :] + CONFIGURATIONS[: seed % 4]
        try:
            Waiting(graph, own, oracle, script, expected, upcoming, tally).listen(Closures(oracle))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    for kind in ("close", "take", "deliver"):
        assert tally.counts[f"let go: {kind}"] > 20, tally.counts
    for kind in ("held by several: True", "holds several: True", "past: True", "past: False"):
        assert tally.counts[kind] > 20, tally.counts


# --- since when -------------------------------------------------------------------------------------------------------


def test_ages_are_steps_or_seconds_of_the_embedders_clock() -> None:
    now = [100.0]
    with_clock, without = Tracker(from_data(LOOP), clock=lambda: now[0]), Tracker(from_data(LOOP))
    for seconds, time in ((100.0, 3), (104.5, 1)):
        now[0] = seconds
        for tracker in (with_clock, without):
            tracker.apply(requests=[("body", time)])
            tracker.apply(requests=[("body", time)])  # asking twice is asking once
            tracker.apply()  # no step at all
    now[0] = 110.0
    assert [(*request_of(wait), wait.steps, wait.since, wait.age) for wait in with_clock.why()] == [
        ("body", 3, 3, 100.0, 10.0),
        ("body", 1, 1, 104.5, 5.5),
    ]
    assert [(wait.steps, wait.since, wait.age) for wait in without.why()] == [(3, None, None), (1, None, None)]
    assert str(with_clock.why()[0]).startswith(
        "'body' at 3 has waited 10.0 s for the input 'input', open at 0, holding 2"
    )
    assert str(without.why()[1]).startswith("'body' at 1 has waited 1 step for the input")
    now[0] = 90.0  # somebody has set the clock back
    assert with_clock.why()[0].age == 0.0
    refused("PS501", lambda: Tracker(from_data(LOOP), clock=5))  # type: ignore[arg-type]
    refused("PS501", lambda: with_clock.why("body"))  # type: ignore[call-overload]


def test_how_long_is_said_as_people_say_it() -> None:
    assert [*map(for_seconds, (0.0, 59.94, 60, 5000, 100_000))] == ["0.0 s", "59.9 s", "1 min", "1.4 h", "1.2 days"]


@pytest.mark.parametrize("kernel", [False, True])
def test_since_when_requests_wait_survives_a_snapshot(kernel: bool) -> None:
    now = [100.0]
    tracker = Tracker(from_data(LOOP), clock=lambda: now[0], kernel=kernel)
    for time in (5, 2, 7):
        tracker.apply(requests=[("body", time)])
        now[0] += 1
    snapshot = json.loads(json.dumps(tracker.snapshot()))
    now[0] = 200.0
    again = Tracker.restore(from_data(LOOP), snapshot, clock=lambda: now[0], kernel=kernel)
    assert [(request_of(wait), wait.steps, wait.age) for wait in again.why()] == [
        (("body", 5), 2, 100.0),
        (("body", 2), 1, 99.0),
        (("body", 7), 0, 98.0),
    ]
    assert again.snapshot() == tracker.snapshot()
    older = {key: value for key, value in snapshot.items() if key not in ("steps", "since")}
    assert [wait.steps for wait in Tracker.restore(from_data(LOOP), older).why()] == [0, 0, 0]
    assert Tracker.restore(from_data(LOOP), older).why()[0].age is None


@pytest.mark.parametrize(
    "change",
    [
        {"steps": -1},
        {"steps": True},
        {"steps": "3"},
        {"since": {}},
        {"since": [["body", 5, 9, None]]},
        {"since": [["body", 5, 0]]},
        {"since": [["body", 5, 0, "noon"]]},
        {"since": [["body", 6, 0, None]]},
        {"since": [["nobody", 5, 0, None]]},
    ],
)
def test_a_snapshot_that_says_otherwise_is_refused(change: dict[str, Any]) -> None:
    tracker = Tracker(from_data(LOOP))
    tracker.apply(requests=[("body", 5)])
    snapshot = tracker.snapshot() | change
    code = "PS502" if change.get("since", [[""]]) and "nobody" in str(change) else "PS511"
    refused(code, lambda: Tracker.restore(from_data(LOOP), snapshot))


# --- what would let it go ---------------------------------------------------------------------------------------------


def told(graph: Graph, **step: Any) -> Waits:
    tracker = Tracker(graph, inputs=step.pop("opened", None))
    tracker.apply(**step)
    return tracker.why()


def test_an_input_has_to_pass_the_latest_time_that_leads_there() -> None:
    graph = Graph("nat").node("a", summary={"advance": 2}).node("b").edge(None, "a", id="in").edge("a", "b", id="ab")
    wait = only(told(graph, requests=[("b", 5)]))
    assert wait.let_go is not None
    assert (wait.let_go.do, wait.let_go.past) == ("close", (3,))
    assert str(wait).endswith("the input 'in', open at 0: moving it past 3 or closing it lets go")
    constant = Graph("nat").node("a", summary={"constant": 1}).node("b").edge(None, "a", id="in").edge("a", "b")
    wait = only(told(constant, requests=[("b", 5)]))
    assert wait.let_go is not None
    assert wait.let_go.past == ()
    assert str(wait).endswith("closing it lets go")


def test_messages_have_to_be_taken_and_notifications_delivered() -> None:
    graph = Graph("nat").node("a").node("b").edge(None, "a", id="in").edge("a", "b", id="ab")
    wait = only(told(graph, messages=[("ab", 1, 3)], requests=[("b", 5)], inputs={"in": []}))
    assert str(wait).endswith("for 3 messages at 1 on 'ab': taking them at 'b' lets go")
    assert wait.proof == (("ab", 1), ("ab", 5))
    wait = only(told(graph, requests=[("a", 1), ("b", 5)], inputs={"in": []}))
    assert str(wait).endswith("for the notification of 'a' at 1, now ready: delivering it lets go")
    assert wait.proof == (("a", 1), ("ab", 5))


def test_what_waits_for_itself_is_said_to() -> None:
    graph = Graph("nat").node("a").node("b").edge(None, "a", id="in").edge("a", "b").edge("b", "a", id="back")
    waits = told(graph, requests=[("a", 1), ("b", 2)], inputs={"in": []})
    assert [wait.let_go and wait.let_go.do for wait in waits] == ["mend", "mend"]
    assert [wait.by and wait.by.pointstamp for wait in waits] == [("a", 1), ("a", 1)]
    assert "waiting for itself, holding 2 requests: nothing lets go until the cycle advances" in str(waits[0])
    assert waits[0].proof[0] == ("a", 1)
    assert waits[0].proof[-1] == ("back", 1)


def test_who_holds_most_is_named_though_another_holds_earlier() -> None:
    graph = Graph("nat")
    for name in ("left", "right", "both"):
        graph.node(name)
    graph.edge(None, "left", id="one").edge(None, "right", id="other").edge("left", "both").edge("right", "both")
    waits = told(
        graph, opened={"one": [0], "other": [5]}, requests=[("both", 7), ("right", 6), ("right", 7), ("left", 9)]
    )
    assert [(wait.by and wait.by.pointstamp.location, wait.by and wait.by.holds, wait.held_by) for wait in waits] == [
        ("other", 3, 2),
        ("other", 3, 1),
        ("other", 3, 1),
        ("one", 2, 1),
    ]
    assert str(waits[0]).endswith("; 1 other holds it as well")
    assert waits.of("right", 6) is waits[1]
    assert waits.of("right", 99) is None


def test_a_graph_with_calls_waits_as_well() -> None:
    graph = from_data(
        {
            "pointstamp": 1,
            "recursion": {"in": "entry", "out": "exit", "calls": ["again"]},
            "nodes": {"entry": {}, "again": {}, "exit": {}},
            "edges": [
                {"from": "entry", "to": "again"},
                {"from": "again", "to": "exit"},
                {"from": "entry", "to": "exit", "id": "short"},
            ],
        }
    )
    tracker = Tracker(graph, requests=[("entry", ("again",)), ("exit", ()), ("exit", ("again",))])
    waits = tracker.why()
    assert [(wait.request.location, write_time(wait.request.time)) for wait in waits] == [
        ("exit", []),
        ("exit", ["again"]),
    ]
    assert [wait.by and (wait.by.pointstamp.location, wait.by.holds) for wait in waits] == [("entry", 2), ("entry", 2)]
    assert {wait.let_go and wait.let_go.do for wait in waits} == {"deliver"}
    assert waits[1].proof[0] == waits[1].by.pointstamp  # type: ignore[union-attr]
    assert waits[1].proof[-1].location in ("short", "again->exit")


# --- cost -------------------------------------------------------------------------------------------------------------


def chain(length: int, domain: Any = "nat", inputs: int = 1) -> Graph:
    graph = Graph(domain)
    for number in range(length):
        graph.node(f"n{number}")
    for number in range(inputs):
        graph.edge(None, "n0", id=f"in{number}")
    for number in range(length - 1):
        graph.edge(f"n{number}", f"n{number + 1}")
    return graph


def effort_of(tracker: Tracker) -> tuple[Search, float]:
    from progress.tracking.waiting import Asked

    asked = [Asked(node.number, time, step, at) for node, time, step, at in tracker._waiters.values()]
    search = Search(tracker.network, asked, everything(tracker._ledger))
    return search, MOST_STEPS - search._effort.left


@pytest.mark.parametrize("length", [10, 100])
def test_thousands_of_waits_cost_one_closure_for_each_holder(length: int) -> None:
    spent = []
    for waits in (1_000, 8_000):
        tracker = Tracker(chain(length), requests=[(f"n{number % length}", number) for number in range(waits)])
        search, effort = effort_of(tracker)
        assert search.closures == len(search.foremost) == 1
        assert search.foremost[0].holds == waits
        spent.append(effort)
    assert spent[1] <= spent[0] + 1_000 * 7 / 16 + 20 * length  # a look costs three more comparisons a node
    assert spent[0] <= 40 * length + 1_000 / 16


def test_a_list_makes_no_proof_before_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    way = Closure.way

    def noted(self: Closure, location: int, time: Any) -> Any:
        asked.append(location)
        return way(self, location, time)

    monkeypatch.setattr(Closure, "way", noted)
    tracker = Tracker(chain(20), requests=[(f"n{number % 20}", number) for number in range(2_000)])
    waits = tracker.why()
    assert len(waits) == 2_000
    assert {wait.by and wait.by.holds for wait in waits} == {2_000}
    assert not asked
    last = waits.of("n19", 19)
    assert last is not None
    assert len(last.proof) == 2 * 20 - 1
    assert last.proof is last.proof
    assert len(asked) == 1


def test_inputs_of_their_own_cost_what_each_reaches() -> None:
    graph = Graph("nat")
    for number in range(1_000):
        graph.node(f"n{number}").edge(None, f"n{number}", id=f"in{number}")
    tracker = Tracker(graph, requests=[(f"n{number}", number) for number in range(1_000)])
    search, effort = effort_of(tracker)
    assert search.is_whole
    assert search.closures == 1_000
    assert effort <= 20 * 1_000
    assert {(wait.by and wait.by.holds, wait.held_by) for wait in tracker.why()} == {(1, 1)}


def test_beyond_the_budget_holders_are_found_one_by_one() -> None:
    pair = {"product": ["nat", "nat"]}
    graph = chain(30, pair, inputs=600)
    opened = {f"in{number}": [(number, 600 - number)] for number in range(600)}
    requests = [(f"n{number % 30}", (300 + number, 700 + number)) for number in range(1_000)]
    tracker = Tracker(graph, inputs=opened, requests=requests)
    search, effort = effort_of(tracker)
    assert not search.is_whole
    assert effort <= MOST_STEPS + 10_000
    waits = tracker.why()
    assert len(waits) == 1_000
    assert not waits.is_whole
    late = Waits([wait for wait in waits if wait.held_by is None][:3], 0, 0, is_whole=False)
    for wait in [*late, *[wait for wait in waits if wait.held_by is not None][:3]]:
        assert wait.by is not None
        assert wait.by.pointstamp.time <= wait.request.time
        assert wait.proof[0] == wait.by.pointstamp
        assert wait.proof[-1].time == wait.request.time
        assert "closing it lets go" in str(wait)


DOMAINS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "product": (Product((Nat(), Nat())), lambda number: (number, number)),
    "lex": (Lex((Nat(), Nat())), lambda number: (number, 0)),
}


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_lock_is_not_held_while_holders_are_looked_for(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    order, time = DOMAINS[domain]
    tracker = Tracker(chain(3, order), requests=[("n2", time(number)) for number in range(50)])
    free: list[bool] = []
    usual = Search._look_at

    def look(self: Search, lying: Any) -> None:
        free.append(not tracker._lock._is_owned())  # type: ignore[attr-defined]
        usual(self, lying)

    monkeypatch.setattr(Search, "_look_at", look)
    assert len(tracker.why()) == 50
    assert set(free) == {True}
