"""Time-aware operators: the figures of the paper, the definitions word for word, and what is refused."""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from progress import Domain, Lex, Nat, PointstampError, Product
from progress.operators import (
    DT,
    WM,
    Event,
    Left,
    MonotoneMonitor,
    ProductiveMonitor,
    Right,
    batch,
    bulk,
    compose,
    flatten,
    histogram,
    incr,
    incr_batch,
    is_monotone,
    is_productive,
    join,
    map_data,
    monitored,
    multiset_histogram,
    produce,
    skip,
    total_histogram,
    union,
)
from progress.operators import by_definition as plain
from progress.operators.frontier import frontier_after
from progress.operators.laws.equalities import composes, equal_on_monotone, skips, total_is_enough
from tests.operators.random_streams import DIAMOND, DOMAINS, random_case, two_streams

STREAM_1: tuple[Event, ...] = (
    *(DT("t0", "a"), DT("t1", "c"), WM("t1"), DT("t3", "a"), DT("t2", "b")),
    *(DT("t5", "a"), DT("t4", "d"), DT("t5", "c"), WM("t5"), WM("t2")),
)


def word_for_word(name: str, domain: Domain, buffer: tuple[tuple[Any, Any], ...]) -> tuple[Any, Any]:
    """An operator of the package, and what the paper says that it is."""
    le = domain.less_equal
    pairs = [*buffer]
    operators: dict[str, Any] = {
        "batch": lambda: (batch(buffer, domain=domain), plain.batch_op(pairs, le)),
        "incr_batch": lambda: (incr_batch(buffer, pairs[:1], domain=domain), plain.incr_batch_op(pairs, pairs[:1], le)),
        "histogram": lambda: (histogram(buffer, pairs[:1], domain=domain), plain.ihist_op(pairs, pairs[:1], le)),
        "multiset_histogram": lambda: (
            multiset_histogram(buffer, pairs[:1], domain=domain),
            plain.multi_ihist_op(pairs, pairs[:1], le),
        ),
        "map and flatten": lambda: (
            compose(map_data(lambda time, data: [time, data]), flatten()),
            plain.comp_op(plain.map_op(lambda time, data: [time, data]), plain.flatten_op()),
        ),
        "bulk": lambda: (bulk(list, 3, pairs), plain.bulk_op(list, 3, pairs)),
        "skip": lambda: (skip(batch(buffer, domain=domain), 2), plain.skip_op(plain.batch_op(pairs, le), 2)),
    }
    found: tuple[Any, Any] = operators[name]()
    return found


def check_total(seeds: range) -> None:
    """Figure 7 on streams over total orders, monotone or not."""
    for seed in seeds:
        orders: list[Domain] = [Nat(), Nat(4), Lex([Nat(), Nat(2)])]
        given = random_case(seed, orders[seed % 3])
        ours = total_histogram([data for _, data in given.buffer], given.buffer, domain=given.domain)
        known = Counter(data for _, data in given.buffer)
        theirs = plain.total_ihist_op(known, [*given.buffer], given.domain.less_equal)
        expected = plain.produce(theirs, given.events)
        assert [*produce(ours, given.events)] == expected, seed
        assert [*produce(total_histogram(known, given.buffer), given.events)] == expected, seed


NAMES = ("batch", "incr_batch", "histogram", "multiset_histogram", "map and flatten", "bulk", "skip")


def check_words(seeds: range) -> None:
    """Every operator on every one of these streams: the same by `produce`, and by `apply` step by step."""
    for seed in seeds:
        given = random_case(seed)
        for name in NAMES:
            ours, theirs = word_for_word(name, given.domain, given.buffer)
            expected = plain.produce(theirs, given.events)
            assert [*produce(ours, given.events)] == expected, (seed, name, given)
            stepwise: list[Any] = []
            for event in given.events:
                again, leaving = ours.apply(event)
                assert ours.apply(event)[1] == leaving, "apply has changed the operator"
                stepwise += leaving
                ours = again
            assert [*stepwise, *ours.exit()] == expected, (seed, name, given)


def matched(one: str, other: str) -> str | None:
    """Some pairs match."""
    return {"ab": "ab", "bb": "bb", "ca": "ca"}.get(one + other)


def check_two(seeds: range) -> None:
    """Union and join on two streams in one."""
    for seed in seeds:
        domain = DOMAINS[seed % len(DOMAINS)]
        events = two_streams(seed, domain, monotone=seed % 3 != 0)
        le = domain.less_equal
        waiting, reached = [Left(event.time.value) for event in events[:1]], [event.time for event in events[1:2]]
        assert [*produce(union(domain=domain), events)] == plain.produce(plain.union_op([], [], le), events), seed
        ours = union(waiting, reached, domain=domain)
        assert [*produce(ours, events)] == plain.produce(plain.union_op(waiting, reached, le), events), seed
        expected = plain.produce(plain.join_op(matched, le), events)
        assert [*produce(join(matched, domain=domain), events)] == expected, seed
        by_key = join(lambda one, other: (one, other) if one == other else None, keys=(str, str), domain=domain)
        same = plain.join_op(lambda one, other: (one, other) if one == other else None, le)
        current, stepwise = by_key, []
        for event in events:
            current, leaving = current.apply(event)
            stepwise += leaving
        assert [*stepwise, *current.exit()] == plain.produce(same, events), seed


def test_2000_random_streams_word_for_word() -> None:
    check_words(range(2_000))
    check_total(range(600))


def test_700_random_pairs_of_streams_word_for_word() -> None:
    check_two(range(700))


@pytest.mark.soak
def test_50000_random_streams_word_for_word() -> None:
    check_words(range(10_000, 60_000))
    check_two(range(10_000, 30_000))
    check_total(range(10_000, 20_000))


def test_figures_1_and_3_batches() -> None:
    assert is_monotone(STREAM_1, domain=DIAMOND)
    assert [*produce(batch([("t0", "a")], domain=DIAMOND), STREAM_1)] == [
        DT("t1", [("t0", "a"), ("t0", "a"), ("t1", "c")]),
        WM("t1"),
        DT("t5", [("t3", "a"), ("t2", "b"), ("t5", "a"), ("t5", "c")]),
        WM("t5"),
        WM("t2"),
        DT("t4", [("t4", "d")]),
    ]


def test_figure_4_accumulated_batches() -> None:
    first = [("t0", "a"), ("t0", "a"), ("t1", "c")]
    second = [*first, ("t3", "a"), ("t2", "b"), ("t5", "a"), ("t5", "c")]
    produced = [*produce(incr_batch([("t0", "a")], domain=DIAMOND), STREAM_1)]
    assert produced[:3] == [DT("t0", first), DT("t1", first), WM("t1")]
    assert produced[3:8] == [DT("t3", second), DT("t2", second), DT("t5", second), WM("t5"), WM("t2")]
    assert produced[8:] == [DT("t4", [*second, ("t4", "d")])]


def test_figure_6_histograms_in_both_variants() -> None:
    each_once = {event.time: event.data for event in produce(histogram(domain=DIAMOND), STREAM_1) if type(event) is DT}
    assert each_once["t2"] == Counter("ab")
    assert each_once["t3"] == Counter("aa")
    assert each_once["t5"] == Counter("a" + "b" + "a" + "ac")
    assert each_once["t4"] == Counter("acd")
    added_up = {e.time: e.data for e in produce(multiset_histogram(domain=DIAMOND), STREAM_1) if type(e) is DT}
    assert added_up["t5"] == added_up["t2"] + added_up["t3"] + Counter("ac") == Counter("aabaac")


def test_figure_8_where_the_two_histograms_differ() -> None:
    stream = [DT(1, "a"), WM(1), DT(0, "a"), WM(0)]
    later = [DT(1, Counter("a")), WM(1)]
    assert [*produce(total_histogram(), stream)] == [*later, DT(0, Counter("aa")), WM(0)]
    assert [*produce(histogram(), stream)] == [*later, DT(0, Counter("a")), WM(0)]
    assert [*produce(histogram(domain=Nat()), stream)] == [*later, DT(0, Counter("a")), WM(0)]


def test_equation_24_needs_the_watermark_that_figure_7_drops() -> None:
    streams = [random_case(seed, Nat()).events for seed in range(300)]
    assert total_is_enough(streams, domain=Nat()) is None
    assert [*produce(total_histogram(), [WM(3)])] == [*produce(histogram(), [WM(3)])] == [WM(3)]
    differs = equal_on_monotone(total_histogram("a"), histogram(), streams)
    assert differs is not None
    assert differs.one != differs.other


def test_equations_5_and_6_on_random_streams() -> None:
    for seed in range(60):
        given = random_case(seed)
        one = batch(given.buffer, domain=given.domain)
        assert skips(one, seed % 4, [given.events]) is None
        assert composes(one, incr(), [given.events]) is None
        assert composes(bulk(list, 2), bulk(list, 3), [given.events]) is None  # whose second one has an exit
    with_an_exit = [*produce(compose(bulk(list, 2), bulk(list, 2)), [1, 2, 3])]
    assert with_an_exit == [1, 2, 3]


def test_streams_may_be_infinite() -> None:
    def endless() -> Iterator[Event]:
        for time in itertools.count():
            yield DT(time, "a")
            yield WM(time)

    counted = produce(compose(incr_batch(), map_data(lambda time, data: len(data))), endless())
    assert [*itertools.islice(counted, 6)] == [DT(0, 1), WM(0), DT(1, 2), WM(1), DT(2, 3), WM(2)]


def test_nothing_is_asked_for_ahead() -> None:
    asked = 0

    def counting() -> Iterator[Event]:
        nonlocal asked
        for time in range(10):
            asked += 1
            yield WM(time)

    produced = produce(batch(), counting())
    assert asked == 0
    assert next(produced) == WM(0)
    assert asked == 1


def test_an_operator_that_puts_nothing_out_is_seen() -> None:
    data = [DT(0, "a")] * 10
    with pytest.warns(RuntimeWarning, match="nothing for 10 items"):
        assert len([*produce(batch(), data, patience=10)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len([*produce(batch(), data, patience=11)]) == 1
        assert len([*produce(batch(), data, patience=None)]) == 1


def test_sides_are_ordered_as_their_values_and_never_across() -> None:
    assert Left(1) <= Left(2)
    assert Left(2) >= Left(1)
    assert Left(1) < Left(2)
    assert not Left(2) < Left(2)
    sides: list[tuple[Any, Any]] = [(Left(1), Right(2)), (Right(2), Left(1)), (Left(1), Right(1))]
    assert not any(one <= other or one < other or one >= other or one > other for one, other in sides)
    assert len({Left(1), Left(1), Right(1)}) == 2
    assert pickle.loads(pickle.dumps((Left(1), DT(Right(2), "a"), WM(3)))) == (Left(1), DT(Right(2), "a"), WM(3))


def test_times_may_be_pythons_own_partial_order() -> None:
    one, other, both = frozenset("x"), frozenset("y"), frozenset("xy")
    events = [DT(one, 1), DT(other, 2), WM(one), WM(both)]
    assert [*produce(batch(), events)] == [DT(one, [(one, 1)]), WM(one), DT(both, [(other, 2)]), WM(both)]


def test_what_leaves_may_be_changed_by_whoever_gets_it() -> None:
    current = incr_batch()
    spoiled = []
    for event in (DT(0, "a"), DT(1, "b"), WM(1), DT(2, "c"), WM(2)):
        current, leaving = current.apply(event)
        for out in leaving:
            if type(out) is DT:
                spoiled.append(len(out.data))
                out.data.clear()
    assert spoiled == [2, 2, 3]
    counted: Any = histogram()
    for event, total in ((DT(0, "a"), 0), (WM(0), 1), (DT(1, "a"), 0), (WM(1), 2)):
        counted, leaving = counted.apply(event)
        for out in leaving:
            if type(out) is DT:
                assert out.data.total() == total
                out.data["a"] = 100


def test_monitors_name_the_first_event_that_offends() -> None:
    monitor = MonotoneMonitor(domain=DIAMOND)
    found = [monitor.see(event) for event in (*STREAM_1, DT("t2", "z"))]
    assert found[:-1] == [None] * len(STREAM_1)
    assert str(found[-1]) == "event 10, DT('t2', 'z'), comes at or below the watermark 't5'"
    assert MonotoneMonitor([3]).see(DT(3, "a")) is not None
    with pytest.raises(PointstampError, match=r"PS806: event 1, .* at or below the watermark 0"):
        list(monitored([WM(0), DT(0, "a")]))
    waiting = ProductiveMonitor(within=2)
    late = [waiting.see(event) for event in (DT(5, "a"), DT(1, "b"), WM(1), WM(2))]
    assert [str(each) if each else "" for each in late[:2]] == ["", ""]
    assert late[2] is None
    assert str(late[3]) == "event 0, DT(5, 'a'), is followed by no watermark at or above its time"


def test_productive_streams_and_those_that_end() -> None:
    assert not is_productive(STREAM_1, domain=DIAMOND)
    assert is_productive([*STREAM_1, WM("t4")], domain=DIAMOND)
    assert is_productive(STREAM_1, ends=True, domain=DIAMOND)


def test_a_frontier_after_a_watermark_is_all_that_may_still_come() -> None:
    for domain in (*DOMAINS, Product([DIAMOND, Nat(3)])):
        for seed in range(40):
            some_pairs: list[Any] = [("t1", 2), ("t5", 1), ("t3", 3)]
            is_random = domain in DOMAINS
            marks = [e.time for e in random_case(seed, domain).events] if is_random else some_pairs[: seed % 4]
            frontier: tuple[Any, ...] = domain.least()
            for mark in marks:
                frontier = frontier_after(domain, frontier, mark)
            some = {*domain.sample(), *marks, *frontier}
            for time in some:
                may_come = any(domain.less_equal(low, time) for low in frontier)
                assert may_come != any(domain.less_equal(time, mark) for mark in marks), (domain, marks, time)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("PS801", lambda: [*produce(batch(), ["a"])]),
        ("PS801", lambda: [*produce(incr(), [DT(0, "no batch")])]),
        ("PS801", lambda: [*produce(flatten(), [DT(0, 5)])]),
        ("PS801", lambda: [*produce(histogram(), [DT(0, []), WM(0)])]),
        ("PS801", lambda: is_monotone(["a"])),  # type: ignore[list-item]
        ("PS802", lambda: compose(batch(), "no operator")),  # type: ignore[arg-type]
        ("PS802", lambda: batch([1, 2])),  # type: ignore[list-item]
        ("PS802", lambda: skip(batch(), -1)),
        ("PS802", lambda: bulk(list, "three")),  # type: ignore[arg-type]
        ("PS801", lambda: [*produce(batch(), 5)]),  # type: ignore[arg-type]
        ("PS801", lambda: is_monotone(5)),  # type: ignore[arg-type]
        ("PS801", lambda: is_productive(5)),  # type: ignore[arg-type]
        ("PS802", lambda: bulk(list, -1)),
        ("PS802", lambda: bulk(5, 2)),  # type: ignore[arg-type]
        ("PS802", lambda: bulk(list, 2, 5)),  # type: ignore[arg-type]
        ("PS802", lambda: map_data(5)),  # type: ignore[arg-type]
        ("PS802", lambda: join(5)),  # type: ignore[arg-type]
        ("PS802", lambda: join(max, keys=(len, 5))),  # type: ignore[arg-type]
        ("PS802", lambda: join(max, keys=len)),  # type: ignore[arg-type]
        ("PS802", lambda: union(5)),  # type: ignore[arg-type]
        ("PS802", lambda: union((), 5)),  # type: ignore[arg-type]
        ("PS802", lambda: total_histogram(5)),  # type: ignore[arg-type]
        ("PS802", lambda: total_histogram(domain="nat")),  # type: ignore[arg-type]
        ("PS802", lambda: histogram(domain="nat")),  # type: ignore[arg-type]
        ("PS802", lambda: batch(domain=Nat)),  # type: ignore[arg-type]
        ("PS802", lambda: is_monotone([], domain=5)),  # type: ignore[arg-type]
        ("PS803", lambda: [*produce(batch(domain=Nat()), [DT(-1, "a")])]),
        ("PS803", lambda: [*produce(batch(), [WM([0])])]),
        ("PS803", lambda: [*produce(union(), [WM(0)])]),
        ("PS803", lambda: is_monotone([WM(-1)], domain=Nat())),
        ("PS804", lambda: [*produce(batch(), [DT("a", 1), DT(0, 1)])]),
        ("PS804", lambda: total_histogram(domain=DIAMOND)),
        (
            "PS804",
            lambda: [*produce(total_histogram(), [DT(frozenset("x"), 1), DT(frozenset("y"), 1), WM(frozenset("xy"))])],
        ),
    ],
)
def test_what_is_refused(code: str, wrong: Any) -> None:
    with pytest.raises(PointstampError) as found:
        wrong()
    assert found.value.code == code
    assert "\n" not in str(found.value)
    assert found.value.hint


def test_operators_show_what_they_keep() -> None:
    after, _ = batch([(0, "a")]).apply(DT(1, "b"))
    assert repr(after) == "Batch([(0, 'a'), (1, 'b')])"
    assert repr(compose(batch(), incr())) == "Composed(([],), ([],))"
