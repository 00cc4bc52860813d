"""What is ready at a node is handed out in a linear extension of the times; no message overtakes an earlier one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from graphs import Graph
from progress.antichain import minimal_elements
from progress.local_history import Message, Received
from progress.order import Domain, Lex, Nat, Product
from progress.runtime import Dataflow, Node, Out
from progress.runtime.actions.core import Core
from progress.semantics.running_nodes import running_nodes
from tests.runtime.tools import engines, line, run


class Asks(Node):
    """Is told of times, and asks for others then; a time that is ready may be before some that are."""

    def __init__(self, begin: list[Any], more: dict[Any, list[Any]]) -> None:
        self.begin = begin
        self.more = more
        self.told: list[Any] = []

    def on_start(self, out: Out) -> None:
        for time in self.begin:
            out.request(time)

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        for each in value:
            out.request(each)

    def on_notify(self, time: Any, out: Out) -> None:
        self.told.append(time)
        for each in self.more.pop(time, ()):
            out.request(each)


@engines
def test_a_time_between_comes_between(engine: str) -> None:
    """0, 2 and 4 are ready; what is told of 2 asks for 3."""
    node = Asks([0, 2, 4], {2: [3]})
    found = run(Dataflow(line("p"), {"p": node}), engine)
    assert found.nodes["p"].told == [0, 2, 3, 4]


@engines
def test_a_time_between_that_a_message_asks_for_comes_between(engine: str) -> None:
    found = run(
        Dataflow(line("p"), {"p": Asks([], {1: [2], 5: [6]})}), engine, sources={"in": [(0, [1, 5, 9]), (1, [3, 7])]}
    )
    assert found.nodes["p"].told == [1, 2, 3, 5, 6, 7, 9]


DOMAINS: list[tuple[str, Any, Domain]] = [
    ("nat", "nat", Nat()),
    ("product", {"product": ["nat", "nat"]}, Product((Nat(), Nat()))),
    ("lex", {"lex": ["nat", "nat"]}, Lex((Nat(), Nat()))),
]


@engines
@pytest.mark.parametrize(("time", "domain"), [each[1:] for each in DOMAINS], ids=[each[0] for each in DOMAINS])
def test_what_is_told_is_minimal_among_what_is_ready(engine: str, time: Any, domain: Domain) -> None:
    """Everything is ready as soon as it is asked for, since the input is closed: so each must be minimal then."""
    for seed in range(20):
        rng = random.Random(seed)

        def any_time(least: Any = None, rng: random.Random = rng) -> Any:
            low = (0, 0) if least is None else least if type(least) is tuple else (least, 0)
            if domain == Nat():
                return low[0] + rng.randrange(4)
            return low[0] + rng.randrange(3), low[1] + rng.randrange(3)

        begin = [any_time() for _ in range(8)]
        more: dict[Any, list[Any]] = {}
        for _ in range(12):
            at = any_time()
            later = any_time(at)
            if later != at:
                more.setdefault(at, []).append(later)
        asked = {at: [*times] for at, times in more.items()}
        found = run(Dataflow(line("p", time=time), {"p": Asks(begin, more)}), engine)
        ready = set(begin)
        for each in found.nodes["p"].told:
            assert each in minimal_elements(domain, ready), (seed, begin, asked, found.nodes["p"].told)
            ready.remove(each)
            ready |= set(asked.pop(each, ()))
        assert not ready


def test_handing_out_costs_no_more_where_times_come_in_order() -> None:
    """Many that are ready, and each asks for the next: comparisons are counted, O(log n) a notification."""
    count = 4_000

    class Chain(Node):
        def on_start(self, out: Out) -> None:
            for time in range(0, 2 * count, 2):
                out.request(time)

        def on_notify(self, time: Any, out: Out) -> None:
            if time % 2 == 0:
                out.request(time + 1)

    graph = line("p")
    core = Core(graph, {"p": Chain()}, lambda edge, time, values: None, inputs={"in": ()})
    keys = 0
    (inbox,) = core.inboxes
    key = inbox.key

    def counted(value: Any) -> Any:
        nonlocal keys
        keys += 1
        return key(value)

    inbox.key = counted
    core.start()
    told = []
    while (node := core.next_node()) is not None:
        action = core.take(node)
        told.append(action.time)
        core.commit(core.perform(action))
    assert told == list(range(2 * count))
    assert keys <= 20 * 2 * count


Sent = list[tuple[Any, int]]  # times and numbers, in the order in which they are sent on one edge


class Sends(Node):
    """Sends a list of messages on each edge, one after the other, in one call."""

    def on_message(self, edge: str, time: Any, value: Sent, out: Out) -> None:
        for at, number in value:
            for leaving in out.edges:
                out.send(leaving, at, number)


class Hears(Node):
    """Writes down what it is told, each message by itself."""

    def __init__(self) -> None:
        self.heard: Sent = []

    def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
        self.heard.append((time, value))


def check_nothing_overtakes(domain: Domain, sent: Sent, heard: Sent) -> None:
    """All arrived, and none before an earlier one that is at or before its time."""
    assert sorted(sent) == sorted(heard)
    places = {number: place for place, (_, number) in enumerate(heard)}
    for behind, (time, number) in enumerate(sent):
        for at, before in sent[:behind]:
            if domain.less_equal(at, time):
                assert places[before] < places[number], (sent, heard)


def any_messages(rng: random.Random, domain: Domain) -> Sent:
    """Up to nine, of few times that come again and again."""
    return [
        (rng.randrange(4) if domain == Nat() else (rng.randrange(3), rng.randrange(3)), number)
        for number in range(rng.randrange(2, 10))
    ]


@engines
def test_no_message_of_a_call_overtakes_one_of_the_same_call(engine: str) -> None:
    """5 was begun before 3, and has more after it."""
    sent = [(5, 0), (3, 1), (5, 2)]
    found = run(Dataflow(line("p", "q"), {"p": Sends, "q": Hears}), engine, sources={"in": [(0, sent)]})
    check_nothing_overtakes(Nat(), sent, found.nodes["q"].heard)


@engines
def test_no_message_of_a_source_overtakes_one_before_it(engine: str) -> None:
    sent = [(5, 0), (3, 1), (5, 2)]
    found = run(Dataflow(line("q"), {"q": Hears}), engine, sources={"in": sent})
    check_nothing_overtakes(Nat(), sent, found.nodes["q"].heard)


@pytest.mark.parametrize(("time", "domain"), [each[1:] for each in DOMAINS], ids=[each[0] for each in DOMAINS])
def test_no_message_overtakes_whatever_comes_next(time: Any, domain: Domain) -> None:
    """With seeds; the node sends on two edges, and to a sink, which gets the times of a call in a linear extension."""
    graph = Graph(time=time).node("p").node("q").node("r").edge(None, "p", "in").edge(None, "r", "other")
    graph.edge("p", "q", "one").edge("p", "r", "two").edge("p", None, "out")
    for seed in range(60):
        rng = random.Random(seed)
        calls = [any_messages(rng, domain) for _ in range(1 + seed % 2)]
        beside = [(at, -1 - number) for at, number in any_messages(rng, domain)]
        sent = [(at, 10 * call + number) for call, messages in enumerate(calls) for at, number in messages]
        least = 0 if domain == Nat() else (0, 0)
        given = [(least, sent[: len(calls[0])])] + [(least, sent[len(calls[0]) :])] * (len(calls) - 1)
        found = Dataflow(graph, {"p": Sends, "q": Hears, "r": Hears}).run(
            sources={"in": given, "other": beside}, engine="sim", seed=seed
        )
        check_nothing_overtakes(domain, sent, found.nodes["q"].heard)
        heard = found.nodes["r"].heard
        check_nothing_overtakes(domain, sent, [each for each in heard if each[1] >= 0])
        check_nothing_overtakes(domain, beside, [each for each in heard if each[1] < 0])
        check_nothing_overtakes(domain, sent, found["out"])


def test_a_node_in_the_semantics_sends_in_that_order_too() -> None:
    node = running_nodes(Dataflow(line("p", "q"), {"p": Sends}))["p"]
    ((state, _),) = node.initial()
    sent = [(5, 0), (3, 1), (5, 2)]
    _, _, leaving = node.step(state, Received("in", Message(0, sent)))
    check_nothing_overtakes(Nat(), sent, [(each.time, each.value) for each in leaving["p->q"]])


def test_messages_of_one_time_cost_no_more() -> None:
    """Where a call or a look has one time, how often keys are asked for does not depend on how much there is."""

    class Counted(Nat):
        asked = 0

        def sort_key(self, value: int) -> int:
            Counted.asked += 1
            return super().sort_key(value)

    graph = Graph(time=Counted()).node("p").node("q").edge(None, "p", "in").edge(None, "q", "other")
    graph.edge("p", "q", "one").edge("p", "q", "two").edge("p", None, "out")
    asked = []
    for count in (10, 1000):
        Counted.asked = 0
        sent = [(3, number) for number in range(count)]
        sources: dict[str, list[Any]] = {"in": [(0, sent)], "other": [(4, number) for number in range(count)]}
        found = Dataflow(graph, {"p": Sends, "q": Hears}).run(sources=sources, engine="sim")
        assert len(found.nodes["q"].heard) == 3 * count
        asked.append(Counted.asked)
    assert asked[0] == asked[1]
