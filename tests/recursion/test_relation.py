"""Could-result-in of graphs with calls is the relation that A&I 3.4 defines: the fast decision against the search."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import CouldResultIn, Tracker
from recursion import reference
from recursion.network import CallRelation
from recursion.reference import Pair
from tests.recursion.random_calls import plain_pairs, random_calls, random_epoch, stack_near, usual_depth
from tests.recursion.saturated_calls import Saturated
from tests.recursion.tools import COUNTEREXAMPLE, chain
from tests.reference.against_reference import Tally

ONE = {"in": "in", "out": "out", "calls": ["a"]}
TWO = {"in": "in", "out": "out", "calls": ["a", "b"]}
MUTUAL = {
    "main": "even",
    "graphs": {
        "even": {"in": "even_in", "out": "even_out", "calls": {"a": "odd"}},
        "odd": {"in": "odd_in", "out": "odd_out", "calls": {"b": "even"}},
    },
}
TINY = {
    "once": (chain(ONE, "in out", "in a out"), 4),
    "in a loop": (chain(ONE, "in x out", "x a x"), 4),
    "side by side": (chain(TWO, "in s out", "s a m out", "s b m"), 4),
    "one after the other": (chain(TWO, "in out", "in a b out"), 3),
    "one in a loop": (chain(TWO, "in x out", "x a x", "in b x"), 3),
    "the counterexample": (COUNTEREXAMPLE, 3),
    "mutual": (chain(MUTUAL, "even_in even_out", "even_in a even_out", "odd_in b odd_out", "odd_in odd_out"), 4),
    "mutual, in a loop": (chain(MUTUAL, "even_in x even_out", "x a x", "odd_in b y odd_out"), 4),
}


class Case:
    """One graph twice, and its stacks to a depth."""

    def __init__(self, document: dict[str, Any], deepest: int) -> None:
        self.oracle = reference.Graph(document)
        self.graph: Graph = from_data(document)
        self.network = self.graph.network()
        assert isinstance(self.network.relation, CallRelation)
        self.relation = self.network.relation.relation
        self.could = CouldResultIn(self.network)
        self.deepest = deepest
        self.stacks = {place: self.oracle.stacks_at(place, deepest) for place in self.oracle.locations}
        self.places = [place for place in self.oracle.locations if self.stacks[place]]
        self.objects = {stack: self.relation.graph.stack(*stack) for stack in self.oracle.stacks(deepest)}

    def leads(self, start: Pair, end: Pair) -> bool:
        """What the fast decision says."""
        numbers = self.network.numbers
        return self.relation.leads(numbers[start[0]], self.objects[start[1]], numbers[end[0]], self.objects[end[1]])


def compare(seed: int, tally: Tally, starts: int = 8, ends: int = 100) -> None:
    """A random graph: from each start one search, which answers for all of its ends."""
    rng = random.Random(seed)
    document = random_calls(rng)
    oracle = reference.Graph(document)
    case = Case(document, usual_depth(oracle, 130))
    for _ in range(starts):
        start = (place := rng.choice(case.places)), rng.choice(case.stacks[place])
        reached = case.oracle.results(start, case.deepest)
        for _ in range(ends):
            end = (place := rng.choice(case.places)), stack_near(rng, oracle, case.stacks[place], start[1])
            expected = end in reached
            assert case.leads(start, end) is expected, f"seed {seed}: {start} to {end} is {expected}\n{document}"
            if oracle.epochs is None:
                assert case.could(start, end) is expected, f"seed {seed}: {start} to {end} is {expected}\n{document}"
            else:
                epoch, until = (random_epoch(rng, oracle.epochs) for _ in range(2))
                one, other = (start[0], (epoch, start[1])), (end[0], (until, end[1]))
                wanted = oracle.could_result_in(one, other, case.deepest)
                assert case.could(one, other) is wanted, f"seed {seed}: {one} to {other} is {wanted}\n{document}"
                tally.add(f"epochs: {wanted}")
            count(tally, oracle, start, end, expected)


def count(tally: Tally, oracle: reference.Graph, start: Pair, end: Pair, answer: bool) -> None:
    """Note what kind of question it was."""
    (place, before), (goal, after) = start, end
    tally.add("queries")
    tally.add(f"answer: {answer}")
    if place == goal:
        tally.add(f"one location: {answer}")
    if place in oracle.edges:
        tally.add(f"from an edge: {answer}")
    if goal in oracle.edges:
        tally.add(f"to an edge: {answer}")
    if goal in oracle.pushes or goal in oracle.pops:
        tally.add(f"to a back edge: {answer}")
    if len(oracle.bodies) > 1:
        tally.add(f"several procedures: {answer}")
    if before == after:
        tally.add(f"equal stacks: {answer}")
    elif after[: len(before)] == before:
        tally.add(f"deeper: {answer}")
    elif before[: len(after)] == after:
        tally.add(f"less deep: {answer}")
    elif before[:1] != after[:1]:
        tally.add(f"nothing shared: {answer}")
    else:
        tally.add(f"something shared: {answer}")
    if max(len(before), len(after)) > 4:
        tally.add(f"more than four calls: {answer}")
    if place in oracle.nodes and goal in oracle.nodes:
        paper = oracle.by_first_difference(start, end)
        assert answer or not paper, f"the first difference alone leads from {start} to {end}"
        if answer and not paper:
            tally.add("decided by a shared call: True")


def compare_seeds(seeds: Sequence[int]) -> Tally:
    """Many random graphs."""
    tally = Tally()
    for seed in seeds:
        compare(seed, tally)
    return tally


def check_spread(tally: Tally) -> None:
    """No kind of question is rare, with either answer."""
    kinds = ("answer", "one location", "from an edge", "to an edge", "to a back edge", "several procedures", "epochs")
    stacks = ("equal stacks", "deeper", "less deep", "nothing shared", "something shared", "more than four calls")
    for kind in (*kinds, *stacks):
        for answer in (True, False):
            assert tally.counts.get(f"{kind}: {answer}", 0) >= tally.total / 100, f"{kind} {answer}: {tally.counts}"
    assert tally.counts.get("decided by a shared call: True", 0) >= tally.total / 200, tally.counts


@pytest.mark.slow
def test_queries_on_graphs_of_every_kind() -> None:
    """Also of several graphs, with epochs, and with few nodes; the search goes as deep as it can bear."""
    tally = compare_seeds(range(130))
    assert tally.total >= 100_000
    check_spread(tally)


def random_stack(rng: random.Random, calls: Sequence[str], near: tuple[str, ...]) -> tuple[str, ...]:
    """A stack to depth 6, often one that begins like the given one, and often a deep one."""
    beginning = near[: rng.randint(0, len(near))] if rng.random() < 0.6 else ()
    rest = rng.choice([0, 1, 2, 3, 6])
    return (*beginning, *rng.choices(calls, k=rest))[:6]


@pytest.mark.slow
def test_two_hundred_thousand_queries() -> None:
    """Graphs with 2 to 8 ordinary nodes and 1 to 3 calls, one graph each, without epochs, and stacks to depth 6."""
    tally = Tally()
    for seed in range(400):
        rng = random.Random(seed)
        ordinary = 2 + seed % 7
        document = random_calls(rng, procedures=1, epochs=False, ordinary=ordinary)
        oracle = reference.Graph(document)
        saturated, network = Saturated(oracle), from_data(document).network()
        calls = list(oracle.enters)
        assert len(oracle.nodes) == 2 + ordinary + 2 * len(calls)
        assert 1 <= len(calls) <= 3
        assert isinstance(network.relation, CallRelation)
        relation, numbers = network.relation.relation, network.numbers
        for _ in range(500):
            place, goal = rng.choice(oracle.locations), rng.choice(oracle.locations)
            before = random_stack(rng, calls, ())
            after = random_stack(rng, calls, before)
            expected = saturated.leads((place, before), (goal, after))
            stacks = [relation.graph.stack(*names) for names in (before, after)]
            found = relation.leads(numbers[place], stacks[0], numbers[goal], stacks[1])
            asked = f"seed {seed}: {place} {before} to {goal} {after} is {expected}"
            assert found is expected, f"{asked}\n{document}"
            count(tally, oracle, (place, before), (goal, after), expected)
            tally.add(f"calls: {len(calls)}")
            tally.add(f"ordinary nodes: {ordinary}")
            tally.add(f"six calls deep: {max(len(before), len(after)) == 6}")
    assert tally.counts["queries"] == 200_000
    kinds = ("answer", "one location", "from an edge", "to an edge", "equal stacks", "deeper", "less deep")
    for kind in (*kinds, "nothing shared", "something shared", "more than four calls"):
        for answer in (True, False):
            assert tally.counts[f"{kind}: {answer}"] >= 1_000, f"{kind} {answer}: {tally.counts}"
    for kind in (*(f"calls: {number}" for number in (1, 2, 3)), "ordinary nodes: 2", "ordinary nodes: 8"):
        assert tally.counts[kind] >= 20_000, tally.counts
    assert tally.counts["six calls deep: True"] >= 50_000, tally.counts
    assert tally.counts["decided by a shared call: True"] >= 1_000, tally.counts


@pytest.mark.slow
def test_saturation_is_the_search() -> None:
    """The two oracles agree, on all pairs to a small depth."""
    pairs = 0
    for seed in range(60):
        oracle = reference.Graph(random_calls(random.Random(seed), epochs=False))
        saturated = Saturated(oracle)
        every = [(place, stack) for place in oracle.locations for stack in oracle.stacks_at(place, 2)]
        rng = random.Random(seed)
        for start in rng.sample(every, min(25, len(every))):
            reached = oracle.results(start, 2)
            for end in every:
                assert saturated.leads(start, end) is (end in reached), f"seed {seed}: {start} to {end}"
                pairs += 1
    assert pairs > 50_000


@pytest.mark.soak
def test_ten_million_queries() -> None:
    tally = Tally()
    batches = [range(first, first + 100) for first in range(10**6, 10**6 + 13_000, 100)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for part in pool.map(compare_seeds, batches):
            tally.merge(part)
    assert tally.total >= 10_000_000
    check_spread(tally)


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_every_pair_of_a_tiny_graph(name: str) -> None:
    case = Case(*TINY[name])
    pairs: list[Pair] = [(place, stack) for place in case.places for stack in case.stacks[place]]
    wrong = [
        (start, end)
        for start in pairs
        for end in pairs
        if case.leads(start, end) is not (end in case.oracle.results(start, case.deepest))
    ]
    assert wrong == []


def test_no_way_needs_deeper_stacks_than_the_reference_searches() -> None:
    """With twice the depth above what is asked for, the search finds nothing more."""
    for seed in range(40):
        document = random_calls(random.Random(seed))
        oracle = reference.Graph(document)
        for place in oracle.locations:
            for stack in oracle.stacks_at(place, 2)[:3]:
                more = oracle.results((place, stack), 2 + len(oracle.bodies) + 1)
                assert {pair for pair in more if len(pair[1]) <= 2} == oracle.results((place, stack), 2), seed


# Proofs


def related(rng: random.Random, case: Case, number: int) -> Iterator[tuple[Pair, Pair]]:
    """Pairs of which the first could result in the second."""
    for _ in range(number):
        start = (place := rng.choice(case.places)), rng.choice(case.stacks[place])
        yield start, rng.choice(sorted(case.oracle.results(start, case.deepest)))


@pytest.mark.slow
def test_proofs_lead_over_distinct_neighbouring_locations_each_related_to_the_next() -> None:
    tally = Tally()
    for seed in range(150):
        rng = random.Random(seed)
        document = random_calls(rng)
        oracle = reference.Graph(document)
        case = Case(document, usual_depth(oracle, 40))
        for start, end in related(rng, case, 12):
            if oracle.epochs is not None:
                epoch = random_epoch(rng, oracle.epochs)
                start, end = (start[0], (epoch, start[1])), (end[0], (epoch, end[1]))  # type: ignore[assignment]
            proof = case.could.proof(start, end)
            assert proof is not None, f"seed {seed}: {start} to {end}\n{document}"
            claimed = plain_pairs(proof)
            assert reference.is_proof(oracle, claimed, start, end), f"seed {seed}: no proof: {claimed}\n{document}"
            tally.add(f"pairs: {'one' if len(claimed) == 1 else 'two' if len(claimed) == 2 else 'more'}")
            tally.add(f"pairs: more than ten: {len(claimed) > 10}")
            tally.add("proofs")
    for kind in ("pairs: one", "pairs: two", "pairs: more", "pairs: more than ten: True"):
        assert tally.counts[kind] >= tally.total / 100, tally.counts


def test_a_proof_between_epochs_ends_at_the_later_one() -> None:
    document = {**chain(ONE, "in x out", "in a out"), "time": {"product": ["nat", "stack"]}}
    oracle, could = reference.Graph(document), CouldResultIn(from_data(document))
    for start, end in (
        (("in", (0, ())), ("in", (3, ()))),
        (("in", (0, ())), ("x", (2, ("a",)))),
        (("x", (1, ("a", "a"))), ("out", (1, ()))),
    ):
        proof = could.proof(start, end)
        assert proof is not None
        assert reference.is_proof(oracle, plain_pairs(proof), start, end)
        assert could.proof((start[0], (4, start[1][1])), end) is None


# What the paper's own decision misses


def test_the_first_difference_alone_does_not_decide() -> None:
    case = Case(COUNTEREXAMPLE, 3)
    start, end = ("entry", ("c", "d")), ("entry", ("c", "e"))
    assert case.oracle.leads(start, end)
    assert case.leads(start, end)
    assert not case.oracle.is_path("ret-d", "call-e")
    assert not case.oracle.by_first_difference(start, end)


def test_a_clock_by_the_first_difference_alone_would_deliver_too_early() -> None:
    """While a message is on its way within [c, d], a request at (exit, [c, e]) would be delivered; steps that each
    follow from the one before then bring a message there."""
    oracle = reference.Graph(COUNTEREXAMPLE)
    request: Pair = ("exit", ("c", "e"))
    way: list[Pair] = [
        *(("entry->x", ()), ("x->c", ()), ("call-c->entry", ("c",)), ("entry->d", ("c",))),
        *(("call-d->entry", ("c", "d")), ("entry->exit", ("c", "d")), ("exit->ret-d", ("c",)), ("d->exit", ("c",))),
        *(("exit->ret-c", ()), ("c->x", ()), ("x->c", ()), ("call-c->entry", ("c",)), ("entry->e", ("c",))),
        *(("call-e->entry", ("c", "e")), ("entry->exit", ("c", "e"))),
    ]
    tracker = Tracker(from_data(COUNTEREXAMPLE), requests=[request, ("entry", ())])
    assert plain_pairs(tracker.get_ready()) == [("entry", ())]
    with tracker.step() as step:
        step.delivered("entry", ())
        step.message(*way[0])

    for (edge, stack), (following, after) in pairwise(way):
        node = str(oracle.destination[edge])
        assert (following, after) in oracle.steps(node, stack)
        assert not tracker.complete(*request)
        if stack == ("c", "d"):  # all that is outstanding is this message, which is about to be at the node
            arriving = [(str(oracle.source[each]), request[1]) for each in oracle.incoming["exit"]]
            for outstanding in ((node, stack), request):
                assert not any(oracle.by_first_difference(outstanding, source) for source in arriving)
        with tracker.step() as step:
            step.consumed(edge, stack)
            step.message(following, after)
    assert way[-1][0] in oracle.incoming["exit"]
    assert way[-1][1] == request[1]  # it is where nothing was to arrive any more
    assert tracker.get_ready() == ()
    with tracker.step() as step:
        step.consumed(*way[-1])
    why = tracker.why(*request)  # c follows itself: what waits inside of it waits for itself (PS301)
    assert plain_pairs(blocker.pointstamp for blocker in why.by) == [request]
