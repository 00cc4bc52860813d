"""The hierarchy (`progress.engines.hierarchy`): hubs and labels give every frontier, and it is chosen where it pays."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from graphs.files.notation import read_summary
from graphs.graph import bind
from progress import Domain, Finite, Nat, PointstampError, Product
from progress.engines import FEW_VERTICES, choose
from progress.engines.arcs import Arcs, Entrances
from progress.engines.eager import Eager
from progress.engines.hierarchical import Hierarchical
from progress.engines.hierarchy import CORE, MOST_PIECES, NO_WAY, Algebra, Hierarchy
from progress.kernel import compiled
from progress.summary import NormalSummary, OpaqueSummary, Summary
from progress.topology import NO_NODE, Network
from progress.tracker import Tracker
from tests.reference.against_sessions import WITHOUT_END
from tests.tracking.flat_graphs import chain, identity, network_of, random_network, random_work, times_of

PAIR = Product([Nat(), Nat()])


def summary_of(notation: Any, source: Domain, target: Domain | None = None) -> NormalSummary:
    found = bind(read_summary(notation), source, target or source)
    assert isinstance(found, NormalSummary)
    return found


def hierarchy_of(network: Network) -> Hierarchy:
    return Hierarchy(Entrances(network).arcs)


# --- the same frontiers ----------------------------------------------------------------------------------------------


def compare(network: Network, work: Iterable[Any], kernel: bool) -> dict[str, int]:
    """Make the changes on hubs and on all vertices, and compare every frontier."""
    arcs = Entrances(network).arcs
    hierarchy = Hierarchy(arcs)
    upward = hierarchy.upward()
    hubs = compiled(upward) if kernel else Eager(upward)
    assert hubs is not None
    eager, hierarchical = Eager(arcs), Hierarchical(hierarchy, hubs)
    seen = {"eliminated": sum(rank != CORE for rank in hierarchy.rank), "core": hierarchy.core, "frontiers": 0}
    for changes in work:
        eager.update(changes)
        hierarchical.update(changes)
        for vertex in range(len(arcs.domains)):
            times = hierarchical.times(vertex)
            assert len(times) == len(set(times))
            assert set(times) == set(eager.times(vertex)), vertex
            seen["frontiers"] += bool(times)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [False, True])
def test_hubs_and_labels_give_every_frontier(kernel: bool) -> None:
    total: dict[str, int] = {}
    for seed in range(400):
        rng = random.Random(seed)
        network = random_network(rng, 10)
        if kernel and compiled(hierarchy_of(network).upward()) is None:
            continue
        if Entrances(network).arcs.stubborn and seed % 4:
            continue  # closing falls takes its time
        work = [rest[0] for what, *rest in random_work(rng, network, 15) if what == "update"]
        with but_for_what_falls_without_end():
            try:
                seen = compare(network, work, kernel)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}") from error
            for kind, number in seen.items():
                total[kind] = total.get(kind, 0) + number
    assert total["eliminated"] > 1_000, total
    assert total["core"] > 10, total
    assert total["frontiers"] > 5_000, total


@contextmanager
def but_for_what_falls_without_end() -> Iterator[None]:
    """An engine may give up by name where times fall on a cycle."""
    try:
        yield
    except PointstampError as error:
        if error.code not in WITHOUT_END:
            raise


def falling_work(rng: random.Random, network: Network) -> list[tuple[Any, ...]]:
    """Everything at once, requests on it, then it goes piece by piece: frontiers move up alone."""
    domains = Entrances(network).arcs.domains
    changes = []
    for _ in range(12):
        vertex = rng.randrange(len(domains))
        changes.append((vertex, times_of(rng, domains[vertex]), rng.choice([1, 2])))
    work: list[tuple[Any, ...]] = [("update", changes)]
    for waiter in range(25):
        vertex = rng.randrange(len(domains))
        work.append(("wait", vertex, times_of(rng, domains[vertex], 6), waiter))
    rng.shuffle(changes)
    return [*work, *(("update", [(vertex, time, -number)]) for vertex, time, number in changes)]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [False, True])
def test_waiters_are_released_when_no_hub_blocks_them(kernel: bool) -> None:
    woken = 0
    for seed in range(400):
        rng = random.Random(seed)
        network = random_network(rng, 10)
        arcs = Entrances(network).arcs
        hierarchy = Hierarchy(arcs)
        upward = hierarchy.upward()
        hubs = compiled(upward) if kernel else Eager(upward)
        if hubs is None or (arcs.stubborn and seed % 4):
            continue
        eager, hierarchical = Eager(arcs), Hierarchical(hierarchy, hubs)
        with but_for_what_falls_without_end():
            for what, *rest in falling_work(rng, network):
                if what == "wait":
                    assert hierarchical.wait(*rest) is eager.wait(*rest), seed
                else:
                    found = hierarchical.update(rest[0])
                    assert sorted(found) == sorted(eager.update(rest[0])), seed
                    woken += len(found)
            assert not hierarchical._waiting
    assert woken > 2_000


# --- the core --------------------------------------------------------------------------------------------------------


def ring(declared: list[Any], domain: Domain) -> Network:
    """A cycle with these summaries, and an input."""
    count = len(declared)
    edges: list[tuple[int, int, Summary | None]] = [(NO_NODE, 0, None)]
    edges += [(node, (node + 1) % count, summary_of(each, domain)) for node, each in enumerate(declared)]
    return network_of([domain] * count, edges)


def test_a_cycle_that_advances_is_eliminated() -> None:
    hierarchy = hierarchy_of(ring(["identity"] * 5 + [{"advance": 1}], Nat()))
    assert hierarchy.core == 0
    assert sorted(hierarchy.rank) == list(range(6))


def test_a_cycle_that_stands_still_is_eliminated_for_it_says_nothing() -> None:
    assert hierarchy_of(ring(["identity"] * 6, Nat())).core == 0


@pytest.mark.parametrize("declared", [{"advance": -1}, {"any": [{"advance": -1}, {"advance": 3}]}])
def test_a_cycle_that_falls_stays_in_the_core(declared: Any) -> None:
    network = ring(["identity"] * 5 + [declared], Nat())
    hierarchy = hierarchy_of(network)
    assert 1 < hierarchy.core < 6
    core = {vertex for vertex, rank in enumerate(hierarchy.rank) if rank == CORE}
    assert all(hierarchy.label(vertex) == [(vertex, NO_WAY)] for vertex in core)
    assert hierarchy.upward().stubborn == Entrances(network).arcs.stubborn
    trackers = [Tracker(network, inputs={"e0": [9]}, engine=engine) for engine in ("eager", "hierarchical")]
    for tracker in trackers:
        assert not tracker.kernel
    steps: list[dict[str, Any]] = [
        {"messages": [("e0", 9, 1)]},
        {"inputs": {"e0": []}},
        {"requests": [("n3", 4)]},
        {"messages": [("e0", 9, -1)]},
    ]
    for step in steps:
        for tracker in trackers:
            tracker.apply(**step)
        one, other = trackers
        assert one.clock() == other.clock()
        assert one.eligible() == other.eligible()
        other._check()


class Later:
    """A summary of a user's own."""

    def apply(self, time: int) -> list[int]:
        return [time + 1]


def test_an_opaque_summary_keeps_its_ends_in_the_core() -> None:
    own = OpaqueSummary(Nat(), Nat(), Later())
    same = identity(Nat())
    ways: list[tuple[int, int, Summary | None]] = [(node, node + 1, same) for node in range(9)]
    ways[4] = (4, 5, own)
    network = network_of([Nat()] * 10, [(NO_NODE, 0, None), *ways])
    hierarchy = hierarchy_of(network)
    assert [vertex for vertex, rank in enumerate(hierarchy.rank) if rank == CORE] == [4, 5]
    upward = hierarchy.upward()
    assert [arc for arc in upward.arcs if arc[2] is own] == [(4, 5, own)]
    eager, hierarchical = (Tracker(network, engine=engine, inputs={"e0": [3]}) for engine in ("eager", "hierarchical"))
    for tracker in (eager, hierarchical):
        assert tracker.frontier("n9") == (4,)
        tracker.apply(requests=[("n9", 4), ("n2", 3)])
        assert tracker.get_ready() == ()
        tracker.apply(inputs={"e0": [4]})
        assert tracker.get_ready() == (("n2", 3),)
        tracker.apply(delivered=[("n2", 3)])
        assert tracker.get_ready() == (("n9", 4),)


def test_times_that_are_not_flat_stay_in_the_core() -> None:
    finite = Finite(["low", "high"], [("low", "high")])
    hierarchy = hierarchy_of(chain(finite, 5))
    assert hierarchy.core == 5
    assert Tracker(chain(finite, 5), engine="hierarchical").frontier("n4") == ("low",)


def test_summaries_with_too_many_alternatives_stay_in_the_core() -> None:
    """Each way through doubles the alternatives; composing stops before they are many."""
    fork = {"any": [{"advance": [0, 1]}, {"advance": [1, 0]}]}
    length = 40
    network = chain(PAIR, length, fork)
    hierarchy = hierarchy_of(network)
    assert 0 < hierarchy.core < length
    used = {number for ways in hierarchy._out for number in ways.values()}
    assert all(len(hierarchy.algebra.summaries[number].pieces) <= MOST_PIECES for number in used)
    eager, hierarchical = (Tracker(network, engine=engine) for engine in ("eager", "hierarchical"))
    assert hierarchical.frontier("n20") == eager.frontier("n20")
    assert len(eager.frontier("n20")) == 21


# --- summaries with memory -------------------------------------------------------------------------------------------


def test_equal_summaries_have_one_number() -> None:
    algebra = Algebra()
    one, other = summary_of({"advance": 2}, Nat()), summary_of({"then": [{"advance": 1}] * 2}, Nat())
    assert one is not other
    assert algebra.number(one) == algebra.number(other)
    assert algebra.number(summary_of({"advance": 2}, Nat(7))) != algebra.number(one)
    assert algebra.identity(Nat()) == algebra.number(summary_of("identity", Nat()))
    assert algebra.compose(algebra.number(one), algebra.identity(Nat())) == algebra.number(one)


def test_composing_and_joining_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    then = NormalSummary.then

    def noted(one: NormalSummary, other: NormalSummary) -> NormalSummary:
        calls.append((one, other))
        return then(one, other)

    monkeypatch.setattr(NormalSummary, "then", noted)
    algebra = Algebra()
    one, two = (algebra.number(summary_of({"advance": amount}, Nat())) for amount in (1, 2))
    three = algebra.compose(one, two)
    assert algebra.summaries[three].apply(4) == (7,)
    assert algebra.compose(one, two) == three
    assert len(calls) == 1
    joined = algebra.join(one, two)
    assert joined == one, "the other one adds nothing"
    assert algebra.join(one, one) == one
    made = len(algebra.summaries)
    assert algebra.join(one, two) == joined
    assert len(algebra.summaries) == made
    # A chain of equal summaries is composed a logarithmic number of times.
    calls.clear()
    hierarchy = hierarchy_of(chain(Nat(), 3_000, {"advance": 1}))
    assert hierarchy.core <= 1
    assert len(calls) < 100


def test_what_no_time_passes_is_no_way() -> None:
    algebra = Algebra()
    high = algebra.number(summary_of({"constant": 5}, Nat(), Nat(7)))
    closed = algebra.number(summary_of({"advance": 4}, Nat(7)))
    assert algebra.compose(high, closed) == NO_WAY


def test_what_says_nothing() -> None:
    algebra = Algebra()
    for notation, says_nothing in (
        ("identity", True),
        ({"advance": 1}, True),
        ({"at_least": 3}, True),
        ({"advance": -1}, False),
        ({"constant": 3}, False),
        ({"any": [{"advance": 1}, {"advance": -1}]}, False),
    ):
        assert algebra.says_nothing(algebra.number(summary_of(notation, Nat()))) is says_nothing, notation


# --- the choice ------------------------------------------------------------------------------------------------------


def expander(count: int) -> Network:
    """Each node leads to six others, chosen at random: there are no few vertices that part it."""
    rng = random.Random(5)
    same = identity(Nat())
    edges: list[tuple[int, int, Summary | None]] = [(NO_NODE, 0, None)]
    later = summary_of({"advance": 1}, Nat())
    for node in range(count):
        for other in rng.sample(range(count), 6):
            if other != node:
                edges.append((node, other, same if other > node else later))
    return network_of([Nat()] * count, edges)


def complete(count: int) -> Network:
    later = [summary_of({"advance": amount}, Nat()) for amount in range(1, 5)]  # so that no two nodes share an exit
    edges: list[tuple[int, int, Summary | None]] = [(NO_NODE, 0, None)]
    edges += [(one, other, later[(one * other) % 4]) for one in range(count) for other in range(count) if one != other]
    return network_of([Nat()] * count, edges)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "engine"),
    [
        (lambda: chain(Nat(), 1_000), "hierarchical"),
        (lambda: chain(PAIR, 1_000, {"advance": [0, 1]}), "hierarchical"),
        (lambda: ring(["identity"] * 999 + [{"advance": 1}], Nat()), "hierarchical"),
        (lambda: expander(600), "eager"),
        (lambda: complete(260), "eager"),
        (lambda: chain(Nat(), 20), "eager"),
        (lambda: chain(Nat(), FEW_VERTICES - 1), "eager"),
        (lambda: chain(Nat(), FEW_VERTICES), "hierarchical"),
        (lambda: chain(Finite(["low", "high"], [("low", "high")]), 1_000), "eager"),
    ],
    ids=["chain", "chain of pairs", "ring", "expander", "complete", "small", "less", "enough", "not flat"],
)
def test_the_engine_is_chosen_by_size_and_shape(network: Any, engine: str) -> None:
    assert Tracker(network()).engine == engine


@pytest.mark.parametrize("length", [3, 400])
def test_whoever_names_an_engine_gets_it(length: int) -> None:
    network = chain(Nat(), length)
    for engine in ("eager", "hierarchical"):
        for kernel in (True, False):
            tracker = Tracker(network, engine=engine, kernel=kernel)
            assert tracker.engine == engine
            assert tracker.kernel is kernel
            assert Tracker.restore(network, tracker.snapshot(), engine=engine, kernel=kernel).engine == engine
    with pytest.raises(PointstampError, match="PS512"):
        Tracker(network, engine="Eager")
    arcs: Arcs = Entrances(network).arcs
    assert choose(arcs, "hierarchical", None).name == "hierarchical"


def test_a_kernel_that_does_not_fit_is_refused_by_name() -> None:
    network = ring(["identity", {"advance": -1}], Nat())
    with pytest.raises(PointstampError, match="PS512"):
        Tracker(network, kernel=True)
    assert not Tracker(network).kernel
