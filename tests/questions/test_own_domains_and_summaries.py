"""Domains and summaries that users bring: their laws, and graphs that use them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import lcm
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphs import Graph
from progress import (
    CouldResultIn,
    Nat,
    PointstampError,
    Product,
    check_conditions,
    close,
    eligible,
    reference,
)
from progress.laws import check_composition, check_domain, check_summary
from progress.summary import NoMinimalTimes, OpaqueSummary
from tests.reference.against_reference import Tally, compare_conditions
from tests.reference.random_summaries import bound, domains, endomorphisms, times_of, written


class Divisibility:
    """Positive numbers, ordered by "divides": a domain of the user's own."""

    is_total = False

    def __repr__(self) -> str:
        return "divisibility"

    def contains(self, value: object) -> bool:
        return type(value) is int and value > 0

    def less_equal(self, earlier: int, later: int) -> bool:
        return later % earlier == 0

    def minimal_upper_bounds(self, one: int, other: int) -> tuple[int, ...]:
        return (lcm(one, other),)

    def least(self) -> tuple[int, ...]:
        return (1,)

    def sort_key(self, value: int) -> int:
        return value

    def sample(self) -> list[int]:
        return [1, 2, 3, 4, 6, 12]


class Times:
    """Multiplies: a summary of the user's own. Without a hash, as users write them."""

    def __init__(self, *factors: int) -> None:
        self.factors = factors

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Times) and self.factors == other.factors

    __hash__ = None  # type: ignore[assignment]

    def apply(self, time: int) -> Iterable[int]:
        return [time * factor for factor in self.factors]


class Without:
    """Divides by a common factor, which is monotone: if t divides u, t without p's divides u without p's."""

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def apply(self, time: int) -> Iterable[int]:
        while time % self.prime == 0:
            time //= self.prime
        return [time]


SAME = Times(1)


def cycle(*summaries: Any, time: Any, requests: Any = SAME) -> Graph:
    """A cycle p0 -> p1 -> ... -> p0 with an input into p0."""
    graph = Graph(time=time).edge(None, "p0", id="in")
    for number, summary in enumerate(summaries):
        graph.node(f"p{number}", summary=summary, requests=requests)
        graph.edge(f"p{number}", f"p{(number + 1) % len(summaries)}", id=f"e{number}")
    return graph


def test_the_users_own_keep_the_laws() -> None:
    divisibility = Divisibility()
    assert check_domain(divisibility) is None
    for summary in (Times(1), Times(2, 3), Times(), Without(2)):
        assert check_summary(OpaqueSummary(divisibility, divisibility, summary)) is None
    first, second = (
        OpaqueSummary(divisibility, divisibility, Times(2, 3)),
        OpaqueSummary(divisibility, divisibility, Without(3)),
    )
    assert check_composition(first, second, first) is None
    broken = check_summary(OpaqueSummary(Nat(), Nat(), Without(2)), range(1, 5))
    assert broken is not None  # of the numbers in their usual order it is not monotone
    assert broken.law == "monotone"


def test_verdicts_on_the_users_own_are_undecided() -> None:
    report = check_conditions(cycle(Times(2), SAME, time=Divisibility()))
    assert report.condition_1.holds is None
    assert report.condition_2.holds is None
    assert report.transitive.holds is None
    assert report.advancing.holds is None
    assert report.condition_2.witness is None
    assert report.transitive.counterexample is None
    report.raise_if_broken()


def test_verdicts_that_do_not_depend_on_the_users_own_are_decided() -> None:
    graph = Graph().node("a", summary=SAME).node("b").edge("a", "b").edge(None, "a", id="in")
    report = check_conditions(graph)
    assert (report.condition_1.holds, report.condition_2.holds, report.advancing.holds) == (True, True, True)


def test_what_samples_show_is_false() -> None:
    standing = check_conditions(cycle(SAME, SAME, time=Divisibility()))
    assert standing.condition_2.holds is None
    assert standing.advancing.holds is False
    assert set(standing.advancing.cycle or ()) == {"p0", "p1", "e0", "e1"}

    falling = check_conditions(cycle(Without(2), SAME, time=Divisibility()))
    assert falling.condition_2.holds is False
    assert falling.condition_2.strictly_below
    offence = falling.condition_2.witness
    assert offence is not None
    assert Divisibility().less_equal(offence.arrives, offence.time)
    assert offence.arrives != offence.time
    assert falling.transitive.holds is False
    assert falling.advancing.holds is False
    with pytest.raises(PointstampError, match="PS201"):
        falling.raise_if_broken()

    sideways = check_conditions(cycle(Without(2), Times(3), time=Divisibility()))
    assert sideways.condition_2.holds is False
    assert sideways.condition_2.witness is not None
    assert not sideways.condition_2.strictly_below

    early = check_conditions(cycle(Times(2), SAME, time=Divisibility(), requests=Without(3)))
    assert early.condition_1.holds is False
    assert early.condition_1.witness is not None
    assert early.condition_1.witness.requests != early.condition_1.witness.time


def test_a_counterexample_from_samples_is_one() -> None:
    graph = cycle(Without(2), Times(3), time=Divisibility())
    counterexample = check_conditions(graph).transitive.counterexample
    assert counterexample is not None
    a, b, c = counterexample
    leads = CouldResultIn(graph)
    assert leads(a, b)
    assert leads(b, c)
    assert not leads(a, c)


def test_the_users_own_on_a_built_in_domain() -> None:
    class Halve:
        def apply(self, time: int) -> Iterable[int]:
            return [time // 2]

    report = check_conditions(cycle(Halve(), "identity", time="nat", requests=None))
    assert report.condition_1.holds is True
    assert report.condition_2.holds is False
    assert report.condition_2.witness is not None
    assert report.condition_2.witness.time > report.condition_2.witness.arrives
    assert report.advancing.holds is False  # 0 returns at 0


def test_could_result_in_and_close_on_the_users_own() -> None:
    graph = cycle(Times(2, 3), SAME, time=Divisibility())
    graph.edge("p1", None, id="out")
    leads = CouldResultIn(graph)
    assert leads(("in", 5), ("out", 10))
    assert leads(("in", 5), ("out", 15))
    assert leads(("in", 5), ("out", 45))
    assert not leads(("in", 5), ("out", 5))
    assert not leads(("in", 5), ("out", 16))
    assert not leads(("out", 10), ("in", 20))
    assert leads.proof(("in", 5), ("out", 20)) == [("in", 5), ("p0", 5), ("e0", 10), ("p1", 10), ("out", 20)]
    closure = close(graph, [("in", 5), ("p1", 4)])
    assert closure.frontiers == {
        "in": (5,),
        "p0": (4, 5),
        "e0": (8, 10, 12, 15),
        "p1": (4, 10, 15),
        "e1": (4, 10, 15),
        "out": (4, 10, 15),
    }
    assert ("p1", 30) in closure
    assert ("p1", 5) not in closure
    assert ("p1", 25) not in closure
    result = eligible(graph, messages=[("in", 6)], requests=[("p0", 4), ("p1", 6), ("p1", 12)])
    assert list(result.eligible) == [("p0", 4), ("p1", 6)]
    assert [blocked.request for blocked in result.blocked] == [("p1", 12)]  # 6 comes in, 12 goes on


@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from([(2,), (2, 3), (4, 6), ()]))
def test_could_result_in_by_hand(time: int, later: int, factors: tuple[int, ...]) -> None:
    graph = Graph(time=Divisibility()).node("p", summary=Times(*factors), requests=SAME)
    graph.edge(None, "p", id="in").edge("p", None, id="out")
    expected = any(later % (time * factor) == 0 for factor in factors)
    assert CouldResultIn(graph)(("in", time), ("out", later)) == expected
    assert (("out", later) in close(graph, [("in", time)])) == expected


def test_domains_of_the_users_own_within_products() -> None:
    class InnerAdvance:
        def apply(self, time: tuple[int, int]) -> Iterable[tuple[int, int]]:
            return [(time[0], time[1] + 1)]

    class SameTime:
        def apply(self, time: Any) -> Iterable[Any]:
            return [time]

    domain = Product([Divisibility(), Nat()])
    assert check_domain(domain) is None
    graph = cycle(InnerAdvance(), SameTime(), time=domain, requests=SameTime())
    assert check_conditions(graph).advancing.holds is None
    assert close(graph, [("in", (4, 0)), ("in", (6, 0)), ("in", (12, 1))]).frontiers["p0"] == ((4, 0), (6, 0))
    assert CouldResultIn(graph)(("in", (2, 0)), ("e0", (6, 1)))
    assert not CouldResultIn(graph)(("in", (2, 0)), ("e0", (6, 0)))


def test_between_a_built_in_domain_and_the_users_own() -> None:
    class Power:
        def apply(self, time: int) -> Iterable[int]:
            return [2**time]

    graph = Graph().node("a", summary=Power()).node("b", time=Divisibility(), summary=SAME, requests=SAME)
    graph.edge(None, "a", id="in").edge("a", "b", id="power").edge("b", None, id="out")
    assert graph.domain_of("out") == graph.domain_of("b")
    assert CouldResultIn(graph)(("in", 3), ("out", 24))
    assert not CouldResultIn(graph)(("in", 3), ("out", 12))
    assert check_conditions(graph).condition_2.holds is True


def test_a_result_that_is_no_time_is_refused() -> None:
    graph = Graph(time=Divisibility()).node("p", summary=Times(0), requests=SAME)
    graph.edge(None, "p", id="in").edge("p", None, id="out")
    with pytest.raises(PointstampError, match="PS602"):
        CouldResultIn(graph)(("in", 3), ("out", 3))


def test_what_needs_no_coordinates_is_declared_on_the_users_own_too() -> None:
    graph = Graph(time=Divisibility()).node("p", summary={"any": [{"at_least": 4}, {"constant": 9}]})
    graph.edge(None, "p", id="in").edge("p", None, id="out").edge("p", "q", id="on").node("q")
    assert close(graph, [("in", 6)]).frontiers["on"] == (9, 12)
    assert CouldResultIn(graph)(("in", 6), ("q", 24))
    assert check_conditions(graph).condition_1.holds is not False


class Poset:
    """A finite order, searched through each time: a domain of the user's own with or without upper bounds."""

    is_total = False

    def __init__(self, elements: list[str], below: list[list[str]]) -> None:
        self.elements = elements
        self.below = {(one, one) for one in elements} | {(one, other) for one, other in below}
        for middle in elements:
            for one in elements:
                for other in elements:
                    if {(one, middle), (middle, other)} <= self.below:
                        self.below.add((one, other))

    def contains(self, value: object) -> bool:
        return value in self.elements

    def less_equal(self, earlier: str, later: str) -> bool:
        return (earlier, later) in self.below

    def _least_of(self, values: list[str]) -> tuple[str, ...]:
        return tuple(one for one in values if not any(self.less_equal(other, one) and other != one for other in values))

    def minimal_upper_bounds(self, one: str, other: str) -> tuple[str, ...]:
        return self._least_of([each for each in self.elements if {(one, each), (other, each)} <= self.below])

    def least(self) -> tuple[str, ...]:
        return self._least_of(self.elements)

    def sort_key(self, value: str) -> tuple[int, str]:
        return sum(self.less_equal(other, value) for other in self.elements), value

    def sample(self) -> list[str]:
        return self.elements[:1]


def rising_document(rng: random.Random) -> dict[str, Any]:
    """A few cycles of summaries that never fall, over a small order; some bounds have no common upper bound."""
    elements = ["a", "b", "c", "d", "e"][: rng.randint(1, 5)]
    below = [
        [one, other] for place, one in enumerate(elements) for other in elements[place + 1 :] if rng.random() < 0.3
    ]

    def summary(depth: int = 2) -> Any:
        match rng.choice(
            ["identity", "at_least", "at_least", "at_least", "never", "any", "then"][: 5 if depth == 0 else 7]
        ):
            case "at_least":
                return {"at_least": rng.choice(elements)}
            case "any" | "then" as word:
                return {word: [summary(depth - 1) for _ in range(rng.randint(1, 3))]}
            case word:
                return word

    names = ["p", "q", "r", "s"][: rng.randint(2, 4)]
    pairs = [*zip(names, names[1:] + names[:1], strict=True), *(rng.sample(names, 2) for _ in range(rng.randint(0, 3)))]
    nodes: dict[str, Any] = {name: {"notify": rng.random() < 0.4, "requests": summary(), "emits": {}} for name in names}
    for place, (source, _) in enumerate(pairs):
        nodes[source]["emits"][f"e{place}"] = summary()
    edges = [{"id": f"e{place}", "from": source, "to": target} for place, (source, target) in enumerate(pairs)]
    return {"pointstamp": 1, "time": {"finite": {"elements": elements, "below": below}}, "nodes": nodes, "edges": edges}


def test_cycles_that_rise_on_any_order_are_decided() -> None:
    """`identity`, `at_least`, `never`, `any` and `then` of them: both conditions hold, and advancing is decided."""
    seen: dict[tuple[bool | None, bool], int] = {}
    for seed in range(300):
        document = rising_document(random.Random(seed))
        order = document["time"]["finite"]
        graph = Graph(time=Poset(order["elements"], order["below"]))
        for name, node in document["nodes"].items():
            graph.node(name, notify=node["notify"], requests=node["requests"], emits=node["emits"])
        for edge in document["edges"]:
            graph.edge(edge["from"], edge["to"], id=edge["id"])
        tally = Tally()
        report = check_conditions(graph)
        compare_conditions(report, reference.Graph(document), 1, tally)
        assert "discarded: the reference did not finish" not in tally.counts
        key = report.advancing.holds, any(each.notifies for each in report.advancing.standstills)
        seen[key] = seen.get(key, 0) + 1
    assert set(seen) == {(True, False), (False, False), (False, True)}
    assert min(seen.values()) >= 20, seen


def test_a_cycle_of_identities_over_a_domain_without_samples_stays_undecided_whether_it_advances() -> None:
    class Silent(Divisibility):
        def sample(self) -> list[int]:
            return []

    report = check_conditions(cycle("identity", "identity", time=Silent(), requests="identity"))
    assert (report.condition_1.holds, report.condition_2.holds, report.advancing.holds) == (True, True, None)


def test_a_declared_summary_that_must_know_the_order_is_refused() -> None:
    graph = Graph(time=Divisibility()).node("p", summary={"advance": 1}, requests=SAME).edge("p", None, id="out")
    with pytest.raises(PointstampError, match="PS401"):
        graph.network()


@given(st.data())
def test_opaque_twins_of_declared_summaries(data: st.DataObject) -> None:
    """The same graph with its summaries hidden: could-result-in and Close-up are the same, verdicts never contrary."""
    domain = data.draw(domains)
    notations = [data.draw(endomorphisms(domain, 0)) for _ in range(3)]
    summaries = [bound(notation, domain, domain) for notation in notations]
    start, end = data.draw(times_of(domain)), data.draw(times_of(domain))

    class Hidden:
        def __init__(self, summary: Any) -> None:
            self.apply = summary.apply

    shown = cycle(*map(written, notations), time=domain, requests=None)
    hidden = cycle(*map(Hidden, summaries), time=domain, requests=None)
    try:
        expected = CouldResultIn(shown)(("in", start), ("e2", end))
        frontiers = close(shown, [("in", start)]).frontiers
        known, tried = check_conditions(shown), check_conditions(hidden)
    except NoMinimalTimes:
        assume(False)
    assert CouldResultIn(hidden)(("in", start), ("e2", end)) == expected
    for guess, verdict in (
        (tried.condition_1.holds, known.condition_1.holds),
        (tried.condition_2.holds, known.condition_2.holds),
        (tried.transitive.holds, known.transitive.holds),
        (tried.advancing.holds, known.advancing.holds),
    ):
        assert guess is None or guess == verdict
    if known.condition_2.holds:
        assert close(hidden, [("in", start)]).frontiers == frontiers
