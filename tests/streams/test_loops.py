"""Loops without times by hand: known programs against plain Python, round by round; what is refused; what is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from graphs.streams import Flow, Stream, rounds, unchanged
from graphs.streams.loops.scope import LAST
from graphs.streams.operator import Operator
from progress.errors import PointstampError
from progress.runtime import SILENT, Batch, DeadLetter, NodeFailed, Out
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import Host
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running

ENGINES: list[dict[str, Any]] = [
    {"engine": "sim"},
    *({"engine": "sim", "seed": seed} for seed in range(8)),
    {"engine": "threads", "workers": 2},
    {"engine": "asyncio"},
]


def runs(flow: Flow[Any], sources: dict[str, list[Any]]) -> list[dict[str, Counter[Any]]]:
    """What a program gives on each engine, without the order."""
    found = [flow.run(sources=sources, **options) for options in ENGINES]
    return [{name: Counter(values) for name, values in each.items()} for each in found]


def some_roads(random: Random, places: int, count: int) -> list[tuple[int, int]]:
    return [(random.randrange(places), random.randrange(places)) for _ in range(count)]


# --- known programs ---------------------------------------------------------------------------------------------------


def spreading(flow: Flow[Any], shown: str | None = None) -> None:
    """Components of each epoch: each place is told the least name that its neighbours know."""
    roads = flow.input("roads")
    both = roads.flat_map(lambda r: [r, r[::-1]]).keyed()

    def spread(labels: Stream[Any, Any]) -> Stream[Any, Any]:
        if shown is not None:
            labels.output(shown)
        told = labels.keyed().join(both, lambda place, label, neighbour: (neighbour, label))
        return labels.merge(told).keyed().reduce(min)

    places = roads.flat_map(lambda r: [(place, place) for place in r]).distinct()
    places.iterate(spread, name="components").output("labels")


def components(roads: list[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """The labels of each round, as plain sets: the last one has changed nothing."""
    now = {place: place for road in roads for place in road}
    seen = [{*now.items()}]
    while True:
        after = dict(now)
        for one, other in [*roads, *(road[::-1] for road in roads)]:
            after[other] = min(after[other], now[one])
        if after == now:
            return seen
        now = after
        seen.append({*now.items()})


def test_components_of_each_epoch_and_their_rounds() -> None:
    random = Random(1)
    roads = {time: some_roads(random, 25, 20) for time in range(4)}
    flow: Flow[int] = Flow()
    spreading(flow, "rounds")
    means = {
        "labels": Counter((time, label) for time, its in roads.items() for label in components(its)[-1]),
        "rounds": Counter(
            ((time, number), label)
            for time, its in roads.items()
            for number, labels in enumerate(components(its))
            for label in labels
        ),
    }
    for found in runs(flow, {"roads": [(time, road) for time, its in roads.items() for road in its]}):
        assert found == means


def test_the_third_program_of_the_design() -> None:
    flow: Flow[int] = Flow()
    spreading(flow)
    found = flow.run(sources={"roads": [(0, (1, 2)), (1, (3, 4))]})
    assert sorted(found["labels"]) == [(0, (1, 1)), (0, (2, 1)), (1, (3, 3)), (1, (4, 3))]


def test_an_agent_tries_three_times_and_answers_once() -> None:
    async def recall(q: Any) -> Any:
        return "known"

    async def search(q: Any) -> Any:
        return q

    def tries(going: Any) -> Any:
        found, failed = (
            going.map_async(search).map_at(lambda time, q: (time[-1], q)).branch(lambda x: x[0] >= x[1]["fails"])
        )
        return failed.filter(lambda x: x[0] < 2).map(lambda x: x[1]), found.map(lambda x: f"try {x[0] + 1}")

    flow: Flow[int] = Flow()
    asked = flow.input("asked")
    known = asked.filter(lambda q: q["known"]).map_async(recall)
    known.merge(asked.loop(tries)).whole(lambda time, notes: [sorted(notes)]).output("answers")
    found = flow.run(engine="asyncio", sources={"asked": [(0, {"known": True, "fails": 2})]})
    assert found == {"answers": [(0, ["known", "try 3"])]}


def shortest(roads: list[tuple[int, int, int]], start: int) -> dict[int, int]:
    """Bellman and Ford, in plain Python."""
    far = {start: 0}
    for _ in range(50):
        for one, other, long in roads:
            if one in far:
                far[other] = min(far.get(other, 10**9), far[one] + long)
    return far


def test_shortest_paths_with_roads_from_outside() -> None:
    random = Random(2)
    roads = {t: [(a, b, random.randint(1, 9)) for a, b in some_roads(random, 15, 40)] for t in range(3)}
    flow: Flow[int] = Flow()
    lengths = flow.input("roads").key_on(lambda r: r[0], lambda r: r[1:])

    def further(far: Stream[Any, Any]) -> Stream[Any, Any]:
        told = far.keyed().join(lengths, lambda place, so_far, road: (road[0], so_far + road[1]))
        return far.merge(told).keyed().reduce(min)

    flow.input("start").iterate(further, name="far").output("far")
    sources: dict[str, Any] = {
        "roads": [(t, r) for t, its in roads.items() for r in its],
        "start": [(t, (0, 0)) for t in roads],
    }
    means = Counter((t, each) for t, its in roads.items() for each in shortest(its, 0).items())
    for found in runs(flow, sources):
        assert found == {"far": means}


def ranked(links: list[tuple[int, int]], tolerance: float) -> list[dict[int, float]]:
    """PageRank round by round; sums are sorted, so that they are the same in any order."""
    pages = {page for link in links for page in link}
    degree = Counter(one for one, _ in links)
    now = dict.fromkeys(pages, 1.0)
    seen = [now]
    while True:
        given: dict[int, list[float]] = {page: [] for page in pages}
        for one, other in links:
            given[other].append(now[one] / degree[one])
        after = {page: 0.15 + 0.85 * sum(sorted(parts)) for page, parts in given.items()}
        if max(abs(after[page] - now[page]) for page in pages) < tolerance:
            return [*seen, after]
        now = after
        seen.append(now)


def test_page_rank_to_a_tolerance_round_by_round() -> None:
    random = Random(3)
    links = {t: list(dict.fromkeys(some_roads(random, 12, 30))) for t in range(3)}
    flow: Flow[int] = Flow()
    given = flow.input("links")
    none: tuple[Any, ...] = ()
    pages = given.flat_map(lambda link: link).distinct().map(lambda page: (page, 1.0))
    out_of = given.keyed().fold(none, lambda all, to: (*all, to), merge=lambda a, b: a + b, name="out of").keyed()
    nothing = pages.map(lambda page: (page[0], 0.0))

    def vote(ranks: Stream[Any, Any]) -> Stream[Any, Any]:
        ranks.output("rounds")
        parts = ranks.keyed().join(out_of, lambda page, rank, tos: [(to, rank / len(tos)) for to in tos])
        all_parts = parts.flat_map(lambda each: each).merge(nothing)
        listed = all_parts.keyed().fold(none, lambda all, part: (*all, part), merge=lambda a, b: a + b, name="parts")
        return listed.map(lambda each: (each[0], 0.15 + 0.85 * sum(sorted(each[1]))))

    def near(before: list[Any], now: list[Any], round: int) -> bool:
        return bool(max(abs(rank - dict(before)[page]) for page, rank in now) < 1e-6)

    pages.iterate(vote, near, name="ranks").output("ranks")
    sources = {"links": [(t, link) for t, its in links.items() for link in its]}
    seen = {t: ranked(its, 1e-6) for t, its in links.items()}
    means = {
        "ranks": Counter((t, each) for t, its in seen.items() for each in its[-1].items()),
        "rounds": Counter(
            ((t, n), each) for t, its in seen.items() for n, ranks in enumerate(its[:-1]) for each in ranks.items()
        ),
    }
    assert all(len(each) > 10 for each in seen.values())
    for found in runs(flow, sources):
        assert found == means


def strong(links: list[tuple[int, int]]) -> set[frozenset[int]]:
    """Strong components, by what reaches what (Warshall)."""
    pages = {page for link in links for page in link}
    reach = {(page, page) for page in pages} | {*links}
    for middle in pages:
        reach |= {(a, b) for a in pages for b in pages if (a, middle) in reach and (middle, b) in reach}
    return {frozenset(b for b in pages if (a, b) in reach and (b, a) in reach) for a in pages}


def test_strong_components_are_loops_in_a_loop() -> None:
    """Links between different labels are cut, forwards and backwards, until none is."""
    random = Random(4)
    links = {t: list(dict.fromkeys(some_roads(random, 10, 14))) for t in range(3)}

    def cut(links: Stream[Any, Any], name: str) -> Stream[Any, Any]:
        """Links whose ends have one label, turned round."""

        def spread(labels: Stream[Any, Any]) -> Stream[Any, Any]:
            told = labels.keyed().join(links.keyed(), lambda place, label, to: (to, label))
            return labels.merge(told).keyed().reduce(min, name=f"{name} least")

        places = links.flat_map(lambda link: [(place, place) for place in link]).distinct(name=f"{name} places")
        labels = places.iterate(spread, name=f"{name} labels").keyed()
        one = links.keyed().join(labels, lambda a, b, label: (b, (a, label)), name=f"{name} one")
        both = one.keyed().join(labels, lambda b, a, label: (b, a[0], a[1] == label), name=f"{name} both")
        return both.filter(lambda link: link[2]).map(lambda link: link[:2])

    flow: Flow[int] = Flow()
    kept = flow.input("links").iterate(lambda links: cut(cut(links, "forwards"), "backwards"), name="strong")
    kept.output("kept")
    assert {repr(record.domain) for record in flow.graph.nodes.values()} == {
        "nat",
        "{product: [nat, nat]}",
        "{product: [nat, {lex: [nat, nat]}]}",
    }
    means: Counter[Any] = Counter()
    for time, its in links.items():
        of = {page: part for part in strong(its) for page in part}
        means.update((time, (a, b)) for a, b in its if of[a] == of[b])
    for found in runs(flow, {"links": [(t, link) for t, its in links.items() for link in its]}):
        assert found == {"kept": means}


def test_a_core_of_a_graph() -> None:
    """Places with fewer than two neighbours go, with their roads, until none has."""
    random = Random(5)
    roads = {t: [(a, b) for a, b in dict.fromkeys(some_roads(random, 12, 30)) if a < b] for t in range(4)}
    flow: Flow[int] = Flow()

    def peel(roads: Stream[Any, Any]) -> Stream[Any, Any]:
        ends = roads.flat_map(lambda r: [(place, 1) for place in r]).keyed()
        firm = ends.count(name="degrees").filter(lambda each: each[1] >= 2).keyed()
        one = roads.keyed().join(firm, lambda a, b, _: (b, a), name="one end")
        return one.keyed().join(firm, lambda b, a, _: (a, b), name="both ends")

    flow.input("roads").iterate(peel, name="core").output("core")
    means: Counter[Any] = Counter()
    for time, its in roads.items():
        left = its
        while True:
            degree = Counter(place for road in left for place in road)
            firm = [road for road in left if all(degree[place] >= 2 for place in road)]
            if firm == left:
                break
            left = firm
        means.update((time, road) for road in left)
    assert means
    for found in runs(flow, {"roads": [(t, road) for t, its in roads.items() for road in its]}):
        assert found == {"core": means}


# --- what a loop is ---------------------------------------------------------------------------------------------------


def test_an_empty_round_ends_and_gives_nothing() -> None:
    flow: Flow[int] = Flow()
    flow.input("numbers").iterate(lambda all: all.filter(lambda n: n < 0), name="gone").output("left")
    assert flow.run(sources={"numbers": [(0, 1), (1, 2)]}) == {}


def test_a_round_of_which_nothing_comes_back_is_one_as_well() -> None:
    asked: list[Any] = []

    def until(before: list[int], now: list[int], round: int) -> bool:
        asked.append((before, now, round))
        return round == 3

    flow: Flow[int] = Flow()
    flow.input("numbers").iterate(lambda all: all.filter(lambda n: n < 0), until, name="gone").output("left")
    assert flow.run(sources={"numbers": [(0, 1)]}) == {}
    assert asked == [([1], [], 1), ([], [], 2), ([], [], 3)]


def test_unchanged_is_the_same_values_each_as_often() -> None:
    assert unchanged([1, 2, 1], [2, 1, 1], 1)
    assert not unchanged([1, 1, 2], [1, 2, 2], 1)
    assert unchanged(([1, 2], []), ([2, 1], []), 1)
    assert not unchanged(([1, 2], []), ([1, 2], [1]), 1)


def test_a_stream_from_outside_is_there_in_every_round_and_begins_none() -> None:
    flow: Flow[int] = Flow()
    inside, outside = flow.input("inside"), flow.input("outside")
    merged = inside.iterate(lambda all: all.merge(outside).map(lambda n: n + 1), rounds(3), name="adding")
    merged.output("sums")
    found = flow.run(sources={"inside": [(0, 0), (2, 5)], "outside": [(0, 10), (1, 10)]})
    assert sorted(found["sums"]) == [(0, 3), (0, 11), (0, 12), (0, 13), (2, 8)]


def test_where_nothing_comes_in_no_body_is_run_for_what_is_outside() -> None:
    """So an inner loop need not come to its end there."""
    seen: list[Any] = []
    flow: Flow[int] = Flow()
    inside, outside = flow.input("inside"), flow.input("outside")

    def body(all: Stream[Any, Any]) -> Stream[Any, Any]:
        return all.merge(outside).inspect(seen.append).distinct()

    inside.iterate(body, name="all").output("out")
    for source in ([(1, 7), (0, 9)], [(0, 9), (1, 7)]):
        seen.clear()
        found = flow.run(sources={"inside": [(0, 1)], "outside": source})
        assert sorted(found["out"]) == [(0, 1), (0, 9)]
        assert {*seen} == {1, 9}


def test_epochs_of_one_loop_overlap() -> None:
    """A round of the second epoch is over before the first epoch is."""
    seen: list[Any] = []
    flow: Flow[int] = Flow()

    def shrink(all: Stream[Any, Any]) -> Stream[Any, Any]:
        def one_less(time: Any, n: int) -> int:
            seen.append(time)
            return max(n - 1, 0)

        return all.map_at(one_less)

    flow.input("numbers").iterate(shrink, name="shrink").output("ends")
    flow.run(sources={"numbers": [(0, 5), (1, 5)]})
    assert seen.index((1, 0)) < seen.index((0, 4))


def test_what_is_kept_for_a_loop_goes_with_its_time() -> None:
    flow: Flow[int] = Flow()
    spreading(flow)
    numbers, more = flow.input("numbers"), flow.input("more")
    numbers.iterate(lambda all: all.merge(more).distinct(), name="both").output("all")
    random = Random(6)
    roads = [(t, road) for t in range(30) for road in some_roads(random, 10, 10)]
    other = [(t, t + 1) for t in range(30)]
    found = flow.run(sources={"roads": roads, "numbers": other, "more": [(t, n + 1) for t, n in other]})
    states = {name: node.state() for name, node in found.nodes.items() if isinstance(node, Operator)}
    assert {"components", "both", "both.more"} <= {*states}
    assert all(not part for state in states.values() if isinstance(state, dict) for part in state.values())


def test_a_node_of_ones_own_runs_in_a_loop_and_before_it() -> None:
    class Half(Batch):
        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
            for values in messages.values():
                out.send_all("halves", time, [value // 2 for value in values])

    class Before(Batch):
        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
            for values in messages.values():
                out.send_all("first", time, [value // 2 for value in values])

    flow: Flow[int] = Flow()
    start = flow.input("numbers").through(Before, name="before", sends="first")
    start.iterate(lambda all: all.through(Half, name="half", sends="halves"), name="down").output("ends")
    assert sorted(flow.run(sources={"numbers": [(0, 9), (1, 4)]})["ends"]) == [(0, 0), (1, 0)]


class Anywhere(Batch):
    """Code that sends what comes at the time at which it came, on whatever leaves it."""

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        for edge in out.edges:
            for values in messages.values():
                out.send_all(edge, time, values)


@pytest.mark.parametrize("sends", [None, "first"])
def test_code_of_ones_own_that_a_loop_alone_reads_sends_at_times_outside(sends: str | None) -> None:
    flow: Flow[int] = Flow()
    start = flow.input("numbers").through(Anywhere, name="before", sends=sends)
    down = start.loop(lambda all: (all.filter(lambda n: n > 1).map(lambda n: n - 2), all.filter(lambda n: n < 2)))
    down.output("odd")
    assert sorted(flow.run(sources={"numbers": [(0, 9), (1, 4)]})["odd"]) == [(0, 1), (1, 0)]


def test_a_loop_over_what_was_rolled_up() -> None:
    """Its times are the coarser ones: a month begins its rounds when all of its days are there."""
    flow: Flow[Any] = Flow(time={"product": ["nat", "nat"]})
    months = flow.input("days").roll_up(name="months")

    def halved(inner: Stream[Any, Any]) -> Stream[Any, Any]:
        return inner.map(lambda n: n // 2)

    months.iterate(lambda all: all.iterate(halved, rounds(1)).whole(lambda time, bag: [sum(bag)])).output("ends")
    months.loop(lambda all: (all.filter(lambda n: n > 3).map(lambda n: n - 3), all.filter(lambda n: n < 4))).output(
        "left"
    )
    given = {"days": [((0, 1), 9), ((1, 0), 6), ((0, 2), 4), ((3, 3), 1)]}
    ends = Counter([(0, 0), (1, 0), (3, 0)])
    assert all(
        found == {"ends": ends, "left": Counter([(0, 3), (1, 3), (0, 1), (3, 1)])} for found in runs(flow, given)
    )


def test_a_merge_that_a_loop_alone_reads_is_led_into_it() -> None:
    flow: Flow[int] = Flow()
    more = flow.input("first").merge(flow.input("second"), name="more")
    flow.input("start").iterate(lambda all: all.merge(more).distinct(), rounds(2)).output("out")
    given: dict[str, list[Any]] = {"start": [(0, 1)], "first": [(0, 2)], "second": [(0, 3), (1, 4)]}
    assert all(found == {"out": Counter([(0, 1), (0, 2), (0, 3)])} for found in runs(flow, given))
    assert "more" not in flow.graph.nodes


def test_a_join_with_what_is_whole_asks_for_no_round() -> None:
    """It is told once that nothing more comes from outside, and once that all rounds are over."""
    asked: list[Any] = []

    def record(step: dict[str, Any]) -> None:
        asked.extend(time for name, time in step.get("requests", ()) if name == "pairs")

    flow: Flow[int] = Flow()
    outside = flow.input("outside").keyed()

    def down(numbers: Stream[Any, Any]) -> tuple[Stream[Any, Any], Stream[Any, Any]]:
        pairs = numbers.key_on(lambda n: 0).join(outside, lambda key, n, by: n - by, name="pairs")
        return pairs.filter(lambda n: n > 0), pairs.filter(lambda n: n <= 0)

    flow.input("numbers").loop(down).output("out")
    found = flow.run(sources={"outside": [(0, (0, 1))], "numbers": [(0, 50)]}, record=record)
    assert found == {"out": [(0, 0)]}
    assert {*asked} == {(0, 0), (0, LAST)}


def test_two_variables_of_which_one_stays_outside_of_the_steps() -> None:
    flow: Flow[int] = Flow()
    one, other = flow.iterate(
        (flow.input("a"), flow.input("b")), lambda a, b: (a.merge(b), b), rounds(3), name="adding"
    )
    one.output("a's")
    other.output("b's")
    for found in runs(flow, {"a": [(0, 1)], "b": [(0, 2), (1, 3)]}):
        assert found["a's"] == Counter({(0, 1): 1, (0, 2): 3, (1, 3): 3})
        assert found["b's"] == Counter({(0, 2): 1, (1, 3): 1})


@pytest.mark.parametrize(("time", "epoch"), [("nat", 3), ({"product": ["nat", "nat"]}, (3, 4))])
def test_times_are_seen_as_the_time_around_and_the_round(time: Any, epoch: Any) -> None:
    seen: list[Any] = []

    def look(time: Any, n: int) -> int:
        seen.append(time)
        return n + 1

    flow: Flow[Any] = Flow(time=time)
    flow.input("numbers").iterate(
        lambda outer: outer.iterate(lambda inner: inner.map_at(look), rounds(2), name="inner"), rounds(2), name="outer"
    ).output("sums")
    assert flow.run(sources={"numbers": [(epoch, 0)]}) == {"sums": [(epoch, 4)]}
    assert seen == [((epoch, outer), inner) for outer in range(2) for inner in range(2)]


def test_epochs_of_loops_in_a_loop_overlap() -> None:
    """In some order a round of the second epoch is over before the first epoch is; and a loop may follow a loop."""
    seen: list[Any] = []

    def less(time: Any, n: int) -> int:
        seen.append(time)
        return max(n - 1, 0)

    def both(numbers: Stream[Any, Any]) -> Stream[Any, Any]:
        once = numbers.iterate(lambda inner: inner.map_at(less), rounds(2), name="one")
        return once.iterate(lambda inner: inner.map_at(less), rounds(2), name="other")

    flow: Flow[int] = Flow()
    flow.input("numbers").iterate(both, name="outer").output("ends")
    assert Counter(flow.run(sources={"numbers": [(0, 9), (1, 9)]})["ends"]) == Counter({(0, 0): 1, (1, 0): 1})
    assert seen.index(((1, 0), 0)) < seen.index(((0, 1), 0))


def test_loops_go_on_from_every_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds, what is there in each of them, joins with what is outside, loops in a loop, values that go alone."""
    monkeypatch.setattr(Host, "work", 0)
    flow: Flow[int] = Flow()
    spreading(flow)
    numbers, more = flow.input("numbers"), flow.input("more")
    numbers.iterate(lambda all: all.merge(more).distinct().map(lambda n: n // 2), rounds(3), name="both").output("all")
    numbers.iterate(
        lambda outer: outer.iterate(lambda inner: inner.merge(more).distinct(), name="inner").map(lambda n: n // 2),
        rounds(2),
        name="outer",
    ).output("nested")
    pairs = more.key_on(lambda n: n % 2)

    def alone(inside: Stream[Any, Any]) -> Any:
        met = inside.key_on(lambda n: n % 2).join(pairs, lambda key, n, other: (n - 1, other))
        again, done = met.branch(lambda pair: pair[0] > 0)
        return again.map(lambda pair: pair[0]).distinct(), done

    numbers.loop(alone, name="alone").output("met")
    random = Random(7)
    given: dict[str, list[Any]] = {
        "roads": [(t, road) for t in range(3) for road in some_roads(random, 6, 5)],
        "numbers": [(t, random.randrange(6)) for t in range(3) for _ in range(2)],
        "more": [(t, random.randrange(6)) for t in range(3) for _ in range(2)],
    }

    def slowly(items: list[Any]) -> Callable[[], Iterator[Any]]:
        def source() -> Iterator[Any]:
            for item in items:
                yield item
                yield SILENT

        return source

    sources = {name: slowly(items) for name, items in given.items()}
    outputs = ("labels", "all", "nested", "met")
    whole: list[Any] = []
    kept: list[tuple[State, int]] = []
    keeping = Keeping(lambda state: kept.append((state, len(whole))), 0.0)
    sinks: Any = {name: lambda *what, name=name: whole.append((name, *what)) for name in outputs}
    Running(flow.dataflow, sources, sinks, RunOptions("sim", keeping=keeping)).run(None, 1)
    assert {name for name, *_ in whole} == {*outputs}
    assert len(kept) > 200
    for state, left in kept[::25]:
        rest: list[Any] = []
        sinks = {name: lambda *what, name=name, rest=rest: rest.append((name, *what)) for name in outputs}
        keeping = Keeping(lambda state: None, 1e9, state)
        Running(flow.dataflow, sources, sinks, RunOptions("sim", keeping=keeping)).run(None, 1)
        assert Counter(whole[:left] + rest) == Counter(whole)


# --- what is refused --------------------------------------------------------------------------------------------------


def _leaks() -> None:
    flow: Flow[int] = Flow()
    kept = []

    def body(inside: Any) -> Any:
        kept.append(inside.map(abs))
        return inside.map(abs)

    flow.input("a").iterate(body)
    kept[0].merge(flow.input("x"))


def _leaks_to_an_output() -> None:
    flow: Flow[int] = Flow()
    kept = []

    def body(inside: Any) -> Any:
        kept.append(inside.map(abs))
        return inside.map(abs)

    flow.input("a").iterate(body)
    kept[0].output("out")


def _merges_what_is_outside() -> None:
    flow: Flow[int] = Flow()
    outside = flow.input("x")
    flow.input("a").loop(lambda inside: (inside.merge(outside).filter(bool), inside))


REFUSED: list[tuple[Callable[[], Any], str, str]] = [
    (_leaks, "PS811", "'a.iterate.now.map' is inside of a loop, 'x' is not (use what iterate or loop gives)"),
    (_leaks_to_an_output, "PS811", "'a.iterate.now.map' is inside of a loop, 'out' is not"),
    (_merges_what_is_outside, "PS811", "'x' is outside of the loop 'a.loop', where values go round alone"),
    (lambda: Flow().input("a").iterate(lambda inside: inside), "PS816", "the body of 'a.iterate' has no step"),
    (lambda: Flow().input("a").loop(lambda inside: (inside, inside)), "PS816", "the body of 'a.loop' has no step"),
    (lambda: Flow().input("a").iterate(lambda inside: None), "PS814", "its body gives None"),  # type: ignore[arg-type, return-value]
    (lambda: Flow().input("a").loop(lambda inside: inside.map(abs)), "PS814", "its body gives <stream"),  # type: ignore[arg-type, return-value]
    (lambda: Flow().input("a").iterate(3), "PS814", "body is 3"),  # type: ignore[arg-type]
    (lambda: Flow().input("a").iterate(lambda a: a.map(abs), rounds(0)), "PS814", "number is 0"),
    (lambda: Flow().input("a").iterate(lambda a: a.map(abs), most=0), "PS814", "most is 0"),
    (lambda: Flow().iterate((), lambda: ()), "PS814", "there are no streams"),
]


@pytest.mark.parametrize(("program", "code", "says"), REFUSED)
def test_what_is_no_loop_is_refused_where_it_is_written(program: Callable[[], Any], code: str, says: str) -> None:
    with pytest.raises(PointstampError) as found:
        program()
    assert (found.value.code, says in str(found.value)) == (code, True), str(found.value)
    assert "test_loops.py:" in str(found.value)


def test_a_body_that_gives_what_is_outside_is_refused() -> None:
    flow: Flow[int] = Flow()
    a = flow.input("a")
    with pytest.raises(PointstampError, match=r"PS816.* the body of 'a\.iterate' gives 'a\.map', which is outside"):
        a.iterate(lambda inside: a.map(abs))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("options", ENGINES[-3:])
def test_a_loop_without_end_fails_in_words(options: dict[str, Any]) -> None:
    flow: Flow[int] = Flow()
    flow.input("signs").iterate(lambda signs: signs.map(lambda n: -n), most=50, name="turning").output("ends")
    with pytest.raises(NodeFailed, match="PS817: 'turning' has not come to its end after 50 rounds") as found:
        flow.run(sources={"signs": [(0, 1)]}, **options)
    assert "\n" not in str(found.value)


def test_a_loop_without_end_may_go_to_the_dead_letters() -> None:
    flow: Flow[int] = Flow(on_error=DeadLetter("endless"))
    turning = flow.input("signs").iterate(lambda signs: signs.map(lambda n: -n), most=5, name="turning")
    turning.output("ends")
    found = flow.run(sources={"signs": [(0, 1), (1, 0)]})
    assert found["ends"] == [(1, 0)]
    (failed,) = found["endless"]
    assert failed[0] == (0, 4)
    state = found.nodes["turning"].state()
    assert not any(state.values())


def test_what_is_in_a_loop_may_be_looked_at_by_an_output_with_rounds() -> None:
    flow: Flow[int] = Flow()

    def body(all: Stream[Any, Any]) -> Stream[Any, Any]:
        all.output("rounds")
        return all.map(lambda n: n // 2)

    flow.input("numbers").iterate(body, name="halve").output("ends")
    assert flow.run(sources={"numbers": [(7, 5)]})["rounds"] == [((7, 0), 5), ((7, 1), 2), ((7, 2), 1), ((7, 3), 0)]
