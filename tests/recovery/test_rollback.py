"""Rollback: the greatest consistent choice, judged by a search through all choices over sets of times written out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import pytest

import pointstamp
from graphs import Graph
from progress import PointstampError
from progress.recovery.kept_sets import Chain, Keeps, kept_sets
from progress.recovery.rollback import Message, RollBack, roll_back

Times = frozenset[tuple[int, int]]
SIZE = 3
GRID: tuple[tuple[int, int], ...] = tuple((one, other) for one in range(SIZE) for other in range(SIZE))
DOMAIN = {"product": [{"nat": {"max": SIZE - 1}}, {"nat": {"max": SIZE - 1}}]}


def below(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[0] and one[1] <= other[1]


def is_closed(times: Iterable[tuple[int, int]]) -> bool:
    found = set(times)
    return all(lower in found for time in found for lower in GRID if below(lower, time))


CLOSED: list[Times] = [
    frozenset(times)
    for times in chain.from_iterable(combinations(GRID, size) for size in range(len(GRID) + 1))
    if is_closed(times)
]


def frontier(times: Times) -> list[tuple[int, int]]:
    """The minimal times that a set does not have."""
    missing = [time for time in GRID if time not in times]
    return [time for time in missing if not any(other != time and below(other, time) for other in missing)]


class Case(NamedTuple):
    """A random graph of up to four nodes with cycles, what is kept, what was sent."""

    edges: list[tuple[str | None, str, tuple[int, int]]]  # source, target, what is added
    kept: dict[str, list[Times]]
    logs: set[str]
    repeats: set[str]
    anything: set[str]
    messages: dict[str, list[Message]]


def random_case(seed: int, closed: bool = True) -> Case:
    chosen = random.Random(f"rollback {seed}")
    nodes = [f"n{number}" for number in range(chosen.randint(2, 4))]
    edges: list[tuple[str | None, str, tuple[int, int]]] = [(None, nodes[0], (0, 0))]
    for start, target in chosen.sample([*product(nodes, repeat=2)], chosen.randint(2, 2 * len(nodes))):
        if start != target:
            edges.append((start, target, chosen.choice([(0, 0), (0, 0), (1, 0), (0, 1)])))
    kept: dict[str, list[Times]] = {}
    for node in nodes:
        sets = chosen.sample(CLOSED, chosen.randint(0, 4))
        if chosen.random() < 0.5:  # a chain
            sets.sort(key=len)
            sets = [each for place, each in enumerate(sets) if all(other <= each for other in sets[:place])]
        if closed:
            while missing := [a | b for a, b in combinations(sets, 2) if a | b not in sets]:
                sets.append(missing[0])
        kept[node] = [frozenset(), *(each for each in sets if each)]
    logs, repeats, anything = ({node for node in nodes if chosen.random() < 0.25} for _ in range(3))
    messages: dict[str, list[Message]] = {}
    for number, (source, _, added) in enumerate(edges):
        for _ in range(chosen.choice((0, 0, 1, 3))):
            sent = chosen.choice(GRID)
            later = [time for time in GRID if below((sent[0] + added[0], sent[1] + added[1]), time)]
            if later and source not in logs:
                messages.setdefault(f"e{number}", []).append(Message(sent, chosen.choice(later), chosen.random() < 0.8))
    return Case(edges, kept, logs, repeats, anything, messages)


def graph_of(case: Case) -> Graph:
    graph = Graph(time=DOMAIN)
    for node in case.kept:
        emits = {f"e{n}": {"advance": [*added]} for n, (source, _, added) in enumerate(case.edges) if source == node}
        graph.node(node, emits=emits)
    for number, (source, target, _) in enumerate(case.edges):
        graph.edge(source, target, f"e{number}")
    return graph


def answer_to(case: Case) -> RollBack:
    keeps = {}
    for node, sets in case.kept.items():
        how = {"logs": node in case.logs, "repeats": node in case.repeats}
        keeps[node] = Keeps.anything(**how) if node in case.anything else Keeps.states(map(frontier, sets), **how)
    return roll_back(graph_of(case), keeps, case.messages)


def is_consistent(case: Case, choice: dict[str, Times]) -> bool:
    """R and D, word for word, over all times of the grid."""
    for number, (source, target, added) in enumerate(case.edges):
        if source is None:
            continue
        if source not in case.repeats:
            for time in GRID:
                if time not in choice[source]:
                    arrives = (time[0] + added[0], time[1] + added[1])
                    if any(below(arrives, held) for held in choice[target]):
                        return False
        if source not in case.logs:
            for message in case.messages.get(f"e{number}", ()):
                if message.sent in choice[source] and not (message.consumed and message.time in choice[target]):
                    return False
    return True


def choices(case: Case) -> Iterator[dict[str, Times]]:
    options = [CLOSED if node in case.anything else sets for node, sets in case.kept.items()]
    for found in product(*options):
        yield dict(zip(case.kept, found, strict=True))


def by_search(case: Case) -> list[dict[str, Times]]:
    """All maximal consistent choices."""
    consistent = [choice for choice in choices(case) if is_consistent(case, choice)]
    return [
        choice
        for choice in consistent
        if not any(other != choice and all(choice[n] <= other[n] for n in choice) for other in consistent)
    ]


def check(seeds: range) -> int:
    fell = 0
    for seed in seeds:
        case = random_case(seed)
        if len(case.anything) > 1:
            case = case._replace(anything=set(sorted(case.anything)[:1]))
        found = answer_to(case)
        [greatest] = by_search(case)
        for node, times in greatest.items():
            assert set(found.frontiers[node]) == set(frontier(times)), (seed, node)
        check_proofs(case, found)
        fell += bool(found.falls)
    return fell


def check_proofs(case: Case, found: RollBack) -> None:
    """Every fall breaks what it says, where nodes stood then; every time that was taken away has such a proof."""
    stood = {fall.node: fall.before for fall in reversed(found.falls)}
    ends = {f"e{number}": (source, target, added) for number, (source, target, added) in enumerate(case.edges)}

    def holds(node: str | None, time: Any) -> bool:
        at = stood.get(str(node), found.frontiers[str(node)])
        return not any(below(low, time) for low in at)

    for fall in found.falls:
        source, target, added = ends[fall.edge]
        assert stood[fall.node] == fall.before
        if fall.rule == "R":
            assert fall.cause is not None
            assert (fall.node, fall.cause[0]) == (target, source)
            again = fall.cause[1]
            assert not holds(source, again)
            assert below((again[0] + added[0], again[1] + added[1]), fall.because)
            assert holds(target, fall.because)
        else:
            assert fall.node == source
            assert fall.because in case.messages[fall.edge]
            assert holds(source, fall.because.sent)
            assert not (fall.because.consumed and holds(target, fall.because.time))
        stood[fall.node] = fall.after
    for node, sets in case.kept.items():
        kept = CLOSED if node in case.anything else sets
        for time in set().union(*kept):
            taken = any(below(low, time) for low in found.frontiers[node])
            assert bool(found.why(node, time)) == taken, (node, time)


def test_600_random_graphs_against_a_search_through_all_choices() -> None:
    assert check(range(600)) > 300


@pytest.mark.soak
def test_20000_random_graphs_against_a_search_through_all_choices() -> None:
    assert check(range(10_000, 30_000)) > 8_000


def test_kept_sets_that_are_not_closed_under_union_are_refused() -> None:
    several = refused = 0
    for seed in range(200):
        case = random_case(seed, closed=False)._replace(anything=set())
        is_closed_under_union = all(a | b in sets for sets in case.kept.values() for a, b in combinations(sets, 2))
        if is_closed_under_union:
            continue
        with pytest.raises(PointstampError, match=r"PS636: .* and not both together"):
            answer_to(case)
        refused += 1
        several += len(by_search(case)) > 1
    assert refused > 20
    assert several > 3, "there are cases with several largest choices among the refused ones"


def test_states_of_which_each_goes_on_from_the_one_before_are_a_chain_in_any_order() -> None:
    domain = Graph(time=DOMAIN).time
    ascending = [[(1, 0), (0, 1)], [(1, 0)], [(2, 0), (1, 1)], [(2, 0)], [(2, 2)], []]
    for seed in range(20):
        shuffled = random.Random(seed).sample(ascending, len(ascending))
        found = kept_sets("n", domain, Keeps.states(shuffled))
        assert isinstance(found, Chain)
        assert found.current == ()
    assert not isinstance(kept_sets("n", domain, Keeps.states([[(0, 1)], [(1, 0)], [(1, 1)]])), Chain)


def chain_graph(length: int) -> Graph:
    graph = Graph().edge(None, "n0", "in")
    for number in range(length):
        graph.node(f"n{number}")
        graph.edge(f"n{number}", f"n{number + 1}" if number + 1 < length else None, f"e{number}")
    return graph


def test_the_cost_is_linear_in_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes whose kept sets drag each other down step by step: the work an amount of sets stays what it is."""
    counted = 0
    original = Chain.fall_below

    def counting(self: Chain, time: Any) -> None:
        nonlocal counted
        before = self.looked_at
        original(self, time)
        counted += 1 + self.looked_at - before

    monkeypatch.setattr(Chain, "fall_below", counting)
    costs = []
    for size in (200, 2_000):
        graph = Graph().edge(None, "a", "in").node("a").node("b").edge("a", "b", "ab").edge("b", "a", "ba")
        evens, odds = [[n] for n in range(2, 2 * size, 2)], [[n] for n in range(3, 2 * size, 2)]
        counted = 0
        found = roll_back(graph, {"a": Keeps.states(evens), "b": Keeps.states(odds)})
        assert dict(found.frontiers) == {"a": (0,), "b": (0,)}
        costs.append(counted / size)
    assert costs[1] <= 1.1 * costs[0]


def test_a_long_proof_leads_back_to_what_was_never_kept() -> None:
    found = roll_back(chain_graph(5), {f"n{n}": Keeps.states([[4 - n]] if n == 0 else [[9]]) for n in range(5)})
    assert dict(found.frontiers) == {"n0": (4,), "n1": (0,), "n2": (0,), "n3": (0,), "n4": (0,)}
    proof = found.why("n4", 7)
    assert [fall.node for fall in proof] == ["n4", "n3", "n2", "n1"]
    assert str(proof[-1]) == (
        "'n1' goes back from before 9 to before 0: what comes on 'e0' at or after 4 may be computed otherwise"
    )
    assert found.why("n0", 3) == []


def test_policies() -> None:
    """Who repeats itself drags nobody down; who logs need not go back for what others lost; input may be lost."""
    graph = chain_graph(2)
    kept = Keeps.states([[3]])
    sent = {"e0": [Message(2, 2)], "in": [Message(None, 1), Message(None, 5, consumed=False)]}
    nothing_below = roll_back(graph, {"n0": kept, "n1": Keeps.nothing()}, sent)
    assert dict(nothing_below.frontiers) == {"n0": (0,), "n1": (0,)}
    assert [fall.rule for fall in nothing_below.why("n0", 2)] == ["D"]
    assert [message.time for _, message in nothing_below.lost] == [1]
    logged = roll_back(graph, {"n0": kept._replace(logs=True), "n1": Keeps.nothing()}, sent)
    assert dict(logged.frontiers) == {"n0": (3,), "n1": (0,)}
    assert logged.lost == ()
    drags = roll_back(graph, {"n0": Keeps.nothing(), "n1": kept})
    assert dict(drags.frontiers) == {"n0": (0,), "n1": (0,)}
    repeats = roll_back(graph, {"n0": Keeps.nothing(repeats=True), "n1": kept})
    assert dict(repeats.frontiers) == {"n0": (0,), "n1": (3,)}
    stateless = roll_back(graph, {"n0": Keeps.anything(), "n1": Keeps.nothing()}, sent)
    assert dict(stateless.frontiers) == {"n0": (2,), "n1": (0,)}


@pytest.mark.parametrize(
    ("keeps", "messages", "says"),
    [
        ({"n9": Keeps.nothing()}, {}, "no node 'n9'"),
        ({"e0": Keeps.nothing()}, {}, "no node 'e0'"),
        ({}, {"n0": [Message(0, 0)]}, "no edge 'n0'"),
        ({"n0": Keeps.states([[-1]])}, {}, "-1 is not a time at 'n0'"),
        ({}, {"e0": [Message(0, "x")]}, "'x' is not a time at 'e0'"),
        ({}, {"e0": [Message("x", 0)]}, "'x' is not a time at 'n0'"),
        ({}, {"e0": Message(0, 0)}, "are not messages on 'e0'"),
        ({}, {"e0": [(0, 0, True)]}, "is not a message on 'e0'"),
        ({}, {"e0": [pointstamp.Message(0, 0)]}, "is not a message on 'e0'"),
        ({}, [Message(0, 0)], "are not messages by edge"),
        ({"n0": 5}, {}, "does not say what nodes keep"),
        (5, {}, "5 does not say what nodes keep"),
    ],
)
def test_what_is_refused(keeps: Any, messages: Any, says: str) -> None:
    with pytest.raises(PointstampError, match=f"PS635: .*{says}"):
        roll_back(chain_graph(2), keeps, messages)


def test_frontiers_are_lists_of_times() -> None:
    wrong: Any
    for wrong in (5, [3, 6], ["ab"]):
        with pytest.raises(PointstampError, match="PS635: the states are kept at"):
            Keeps.states(wrong)


def test_a_question_about_a_node_or_a_time_that_is_not_there() -> None:
    found = roll_back(chain_graph(2), {})
    for node, time, says in (("n9", 0, "no node 'n9'"), ("e0", 0, "no node 'e0'"), ("n0", "x", "'x' is not a time")):
        with pytest.raises(PointstampError, match=f"PS635: .*{says}"):
            found.why(node, time)


def test_times_without_a_least_one_need_a_node_without_state() -> None:
    graph = Graph(time="int").edge(None, "a", "in").node("a")
    with pytest.raises(PointstampError, match="PS635: 'a' has times of int"):
        roll_back(graph, {"a": Keeps.states([[3]])})
    assert dict(roll_back(graph, {"a": Keeps.anything()}).frontiers) == {"a": ()}
