"""What is ready at a node is handed out in a linear extension of the times, also what is asked for meanwhile."""

from __future__ import annotations

import random
from typing import Any

import pytest

from progress.antichain import minimal_elements
from progress.order import Domain, Lex, Nat, Product
from progress.runtime import Dataflow, Node, Out
from progress.runtime.core import Core
from tests.test_runtime import engines, line, run


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
