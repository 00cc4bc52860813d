"""Operators of streams one by one: what leaves when, what is kept, what becomes of failures, what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from graphs import Graph
from graphs.streams import Flow
from progress.errors import PointstampError
from progress.runtime import SILENT, Batch, Complete, DeadLetter, Node, NodeFailed, Out, Retry
from progress.runtime.policies import by_event_time

ENGINES = ("sim", "threads", "asyncio")
DIAMOND = {
    "finite": {"elements": ["t0", "t1", "t2", "t3"], "below": [["t0", "t1"], ["t0", "t2"], ["t1", "t3"], ["t2", "t3"]]}
}


def add(one: Any, other: Any) -> Any:
    return one + other


# --- programs of the design, word for word ----------------------------------------------------------------------------


def test_windows_by_event_time_and_what_is_late_leaves_aside() -> None:
    flow = Flow()
    flow.input("readings").tumbling(10).key_on(lambda r: r[1], lambda r: r[2]).reduce(max).output("highest")
    raw = [(3, "x", 5), (1, "x", 7), (25, "x", 1), (2, "x", 9)]
    found = flow.run(sources={"readings": by_event_time(raw, lambda r: r[0], lateness=5)})
    assert found == {"highest": [(9, ("x", 7)), (29, ("x", 1))], "late": [(2, (2, "x", 9))]}


def test_an_alarm_at_once_and_at_the_end_which_one_was_wrong() -> None:
    flow = Flow()
    spent = flow.input("payments").keyed().fold(0, lambda a, b: a + b, name="spent")
    spent.early(lambda total: total > 100).output("alarms")
    spent.corrections.output("withdrawn")
    spent.output("totals")
    found = flow.run(sources={"payments": [(0, ("ann", 120)), (0, ("ann", -50))]})
    assert found == {"alarms": [(0, ("ann", 120))], "withdrawn": [(0, ("ann", 120, 70))], "totals": [(0, ("ann", 70))]}


# --- what leaves at once ----------------------------------------------------------------------------------------------


def leaves_at_once(build: Callable[[Flow[int]], Any], *values: Any) -> list[Any]:
    """What has left when all values of a time have come, and the time is not complete."""
    flow = Flow()
    build(flow).output("out")
    seen: list[Any] = []
    before: list[Any] = []

    def source() -> Iterator[Any]:
        for value in values:
            yield (0, value)
        for _ in range(3):
            yield SILENT
        before.extend(seen)

    flow.run(sources={"in": source}, sinks={"out": lambda time, value: seen.append(value)})
    return before


def pairs(flow: Flow[int]) -> Any:
    return flow.input("in").keyed()


def sides(flow: Flow[int], how: str) -> Any:
    left, right = flow.input("in").branch(lambda pair: pair[1] < 10)
    joined: Any = left.keyed().join
    return joined(right.keyed(), lambda *given: given, how=how)


MATCHED = (("a", 1), ("a", 10), ("b", 2), ("c", 30))


@pytest.mark.parametrize(
    ("build", "values", "left"),
    [
        (lambda flow: flow.input("in").distinct(), (1, 1, 2), [1, 2]),
        (lambda flow: flow.input("in").distinct(by=abs), (1, -1, 2), [1, 2]),
        (lambda flow: flow.input("in").distinct(by=abs, keep=max), (1, -1, 2), []),
        (lambda flow: flow.input("in").distinct(accumulate=True), (1, 1, 2), []),
        (lambda flow: flow.input("in").tumbling(5), (1,), [1]),
        (lambda flow: pairs(flow).count(), MATCHED, []),
        (lambda flow: pairs(flow).count().early(lambda n: n > 1), MATCHED, [("a", 2)]),
        (lambda flow: flow.input("in").whole(lambda time, bag: bag), (1,), []),
        (lambda flow: sides(flow, "inner"), MATCHED, [("a", 1, 10)]),
        (lambda flow: sides(flow, "left"), MATCHED, [("a", 1, 10)]),
        (lambda flow: sides(flow, "outer"), MATCHED, [("a", 1, 10)]),
        (lambda flow: sides(flow, "semi"), MATCHED, [("a", 1, None)]),
        (lambda flow: sides(flow, "anti"), MATCHED, []),
    ],
)
def test_what_can_never_be_taken_back_leaves_at_once_and_the_rest_does_not(
    build: Callable[[Flow[int]], Any], values: tuple[Any, ...], left: list[Any]
) -> None:
    assert leaves_at_once(build, *values) == left


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_what_was_kept_for_a_time_is_forgotten_with_it() -> None:
    flow = Flow()
    first, second = flow.input("a").keyed(), flow.input("b").keyed()
    hows: tuple[Any, ...] = ("inner", "left", "outer", "semi", "anti")
    for how in hows:
        first.join(second, lambda *given: given, how=how, name=how).output(f"{how} out")
    first.cogroup(second, lambda *given: given).output("cogroup")
    first.reduce(add).output("sums")
    early = first.count()
    early.early(lambda n: n > 1).output("early")
    first.top(2).output("top")
    first.session(2).output("sessions")
    flow.input("c").distinct().output("distinct")
    flow.input("d").distinct(by=abs, keep=min).output("kept")
    flow.input("e").whole(lambda time, bag: bag).output("whole")
    numbers = [(time, time % 3) for time in range(20)]
    given = [(time, (time % 2, 1)) for time in range(20)]
    found = flow.run(sources={"a": given, "b": given, "c": numbers, "d": numbers, "e": numbers})
    kept = {name: node.state() for name, node in found.nodes.items() if hasattr(node, "kept") and node.kept}
    assert len(kept) == 13
    assert not [name for name, state in kept.items() if any(state.values())]


def test_within_forgets_keys() -> None:
    flow = Flow()
    keys = flow.input("keys")
    keys.key_on(abs).count(accumulate=True, within=3, name="counts").output("counts out")
    keys.distinct(accumulate=True, within=3, name="firsts").output("firsts out")
    keys.key_on(abs).asof(keys.key_on(abs), lambda *given: given, within=3, name="latest").output("latest out")
    found = flow.run(sources={"keys": [(time, time) for time in range(1_000)]})
    counts, firsts, latest = (found.nodes[name] for name in ("counts", "firsts", "latest"))
    for kept in (counts.sums, counts.came, firsts.seen, firsts.came, latest.latest, latest.came):
        assert len(kept) == 4


def test_a_diamond_counts_each_time_once() -> None:
    flow: Flow[Any] = Flow(time=DIAMOND)
    flow.input("a").key_on(lambda value: "all").count(accumulate=True).output("counts")
    given = [(time, time) for time in ("t3", "t1", "t0", "t2")]
    found = flow.run(sources={"a": given})["counts"]
    assert sorted(found) == [("t0", ("all", 1)), ("t1", ("all", 2)), ("t2", ("all", 2)), ("t3", ("all", 4))]


def test_over_a_partial_order_a_value_leaves_at_its_minimal_times() -> None:
    flow: Flow[Any] = Flow(time=DIAMOND)
    flow.input("a").distinct(accumulate=True).output("new")
    assert sorted(flow.run(sources={"a": [("t3", "x"), ("t1", "x"), ("t2", "x")]})["new"]) == [("t1", "x"), ("t2", "x")]


# --- before the end ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_early_looks_value_by_value_and_speaks_once_a_key_and_time(engine: str) -> None:
    flow = Flow()
    sums = flow.input("a").keyed().reduce(add)
    sums.early(lambda total: total >= 10).output("early")
    sums.corrections.output("wrong")
    sums.output("sums")
    values = [("x", 4), ("x", 7), ("x", -9), ("x", 20), ("y", 3), ("z", 10), ("z", -1)]
    found = flow.run(engine=engine, sources={"a": [(time, value) for time in (0, 1) for value in values]})
    assert found["early"] == [(time, each) for time in (0, 1) for each in (("x", 11), ("z", 10))]
    assert found["wrong"] == [(0, ("z", 10, 9)), (1, ("z", 10, 9))]
    assert found["sums"] == [(time, each) for time in (0, 1) for each in (("x", 22), ("y", 3), ("z", 9))]


@pytest.mark.parametrize(
    ("aggregate", "early"),
    [
        (lambda keyed: keyed.count(), ("x", 1)),
        (lambda keyed: keyed.min(), ("x", 5)),
        (lambda keyed: keyed.max(), ("x", 5)),
        (lambda keyed: keyed.top(2), ("x", [5])),
        (lambda keyed: keyed.fold(1, add), ("x", 6)),
        (lambda keyed: keyed.reduce(add), ("x", 5)),
    ],
)
def test_every_aggregation_can_speak_early(aggregate: Callable[[Any], Any], early: Any) -> None:
    flow = Flow()
    results = aggregate(flow.input("a").keyed())
    results.early(lambda result: True).output("early")
    assert flow.run(sources={"a": [(0, ("x", 5)), (0, ("x", 2))]})["early"] == [(0, early)]


# --- failures ---------------------------------------------------------------------------------------------------------


class Flaky:
    """Adds, and raises at some calls."""

    def __init__(self, *at: int) -> None:
        self.at = at
        self.calls = 0

    def __call__(self, one: Any, other: Any) -> Any:
        self.calls += 1
        if self.calls in self.at:
            raise OSError("not now")
        return one + other


@pytest.mark.parametrize("at", [(1,), (3,), (2, 5, 9)])
def test_what_is_called_again_counts_no_value_twice(at: tuple[int, ...]) -> None:
    builds: tuple[Callable[[Any, Flaky], Any], ...] = (
        lambda keyed, f: keyed.reduce(f),
        lambda keyed, f: keyed.fold(0, f),
        lambda keyed, f: keyed.reduce(f, accumulate=True),
        lambda keyed, f: keyed.stateful_map(0, lambda state, value: (f(state, value), f(state, value))),
    )
    for build in builds:
        flow = Flow(on_error=Retry(times=5, first_pause=0))
        build(flow.input("a").keyed(), Flaky(*at)).output("out")
        found = flow.run(sources={"a": [(0, ("x", 2**power)) for power in range(6)]})
        assert found["out"][-1] == (0, ("x", 63))
        assert len(found["out"]) in (1, 6)


def test_a_join_that_is_called_again_has_each_pair_once() -> None:
    flow = Flow(on_error=Retry(times=5, first_pause=0))
    flaky = Flaky(2, 4)
    left, right = flow.input("a").keyed(), flow.input("b").keyed()
    left.join(right, lambda key, one, other: flaky(one, other), name="sums").output("out")
    given = [(0, ("x", power)) for power in range(4)]
    found = flow.run(sources={"a": given, "b": given})
    assert sorted(found["out"]) == sorted((0, one + other) for one in range(4) for other in range(4))


def test_a_value_that_fails_by_itself_is_one_dead_letter() -> None:
    flow = Flow(on_error=DeadLetter())
    flow.input("a").map(lambda n: 6 // n).filter(lambda n: n > 1).map(str).output("out")
    found = flow.run(sources={"a": [(0, 1), (0, 0), (0, 3), (0, 6)]})
    assert found["out"] == [(0, "6"), (0, "2")]
    assert [failure.value for _, failure in found["dead-letters"]] == [0]


@pytest.mark.parametrize("policy", [DeadLetter(), Retry(times=2, first_pause=0, then=DeadLetter())])
@pytest.mark.parametrize("engine", ENGINES)
def test_of_many_values_of_a_key_only_those_that_fail_by_themselves_are_dead(engine: str, policy: Any) -> None:
    bad = [{"shop": 3}, {"amount": 4}]
    good = [{"shop": "x", "amount": amount} for amount in range(1, 101)]
    given = [(0, value) for value in [*good[:50], bad[0], *good[50:], bad[1]]]
    builds: tuple[Callable[[Any], Any], ...] = (
        lambda keyed: keyed.reduce(add),
        lambda keyed: keyed.fold(0, add),
        lambda keyed: keyed.stateful_map(0, lambda state, each: (state + each, state + each)),
        lambda keyed: keyed.join(keyed, lambda key, one, other: (key, one + other)),
        lambda keyed: keyed.session(3).map(lambda session: (session[0], sum(session[3]))),
    )
    for build in builds:
        flow = Flow(on_error=policy)
        keyed = flow.input("sold").key_on(lambda sale: sale["shop"], lambda sale: sale["amount"])
        build(keyed).key_on(lambda pair: pair[0], lambda pair: pair[1]).max(name="last").output("last")
        found = flow.run(engine=engine, sources={"sold": given})
        assert [value[1] for _, value in found["last"]] in ([5050], [200])
        dead = [failure.value for _, failure in found["dead-letters"]]
        assert all(dead.count(each) == len(dead) // 2 and len(dead) in (2, 4) for each in bad)


def refuse_twelve(one: int, other: int) -> int:
    if one + other == 12:
        raise ValueError("twelve")
    return one + other


def test_a_time_that_is_given_up_is_forgotten() -> None:
    flow = Flow(on_error=DeadLetter())
    sums = flow.input("a").keyed().fold(0, add, merge=refuse_twelve, accumulate=True, name="sums")
    sums.output("out")
    found = flow.run(sources={"a": [(0, ("x", 5)), (1, ("x", 7)), (2, ("x", 8))]})
    assert found["out"] == [(0, ("x", 5)), (2, ("x", 13))]
    assert [time for time, _ in found["dead-letters"]] == [1]
    assert found.nodes["sums"].open == {}


def test_what_comes_late_between_two_sessions_joins_them() -> None:
    flow = Flow()
    flow.input("a").keyed().session(5).output("out")
    given = [(0, ("x", "a")), (10, ("x", "b")), (11, ("x", "c")), (12, ("x", "d")), (5, ("x", "e"))]
    one_by_one = (item for value in given for item in (value, SILENT))  # so that each is there before the next one
    assert flow.run(sources={"a": one_by_one}) == {"out": [(17, ("x", 0, 12, ["a", "e", "b", "c", "d"]))]}


def test_what_was_said_of_a_time_that_is_given_up_is_forgotten() -> None:
    flow = Flow(on_error=DeadLetter())
    sums = flow.input("a").keyed().fold(0, add, name="sums")
    sums.early(lambda total: total // (12 - total) > 0).output("early")
    sums.output("out")
    found = flow.run(sources={"a": [(0, ("x", 7)), (0, ("x", 5)), (1, ("x", 8))]})
    assert (found["early"], found["out"]) == ([(0, ("x", 7)), (1, ("x", 8))], [(1, ("x", 8))])
    assert [time for time, _ in found["dead-letters"]] == [0]
    assert (found.nodes["sums"].open, found.nodes["sums"].said) == ({}, {})


def test_keep_is_given_the_one_that_was_kept_and_then_another() -> None:
    seen = []

    def keep(kept: str, other: str) -> str:
        seen.append((kept, other))
        return min(kept, other)

    flow = Flow()
    flow.input("a").distinct(by=len, keep=keep).output("out")
    values = [(0, "to"), (0, "be"), (0, "or")]
    assert flow.run(sources={"a": piece_by_piece(values)}) == {"out": [(0, "be")]}
    assert seen == [("to", "be"), ("be", "or")]


def test_of_the_times_of_a_key_the_minimal_ones_are_kept() -> None:
    flow = Flow(time=DIAMOND)
    flow.input("a").distinct(accumulate=True, name="new").output("out")
    found = flow.run(sources={"a": [(time, "x") for time in ("t0", "t1", "t2", "t3")]})
    assert found["out"] == [("t0", "x")]
    assert found.nodes["new"].seen == {"x": ["t0"]}


def test_of_equal_ones_the_first_to_come_are_at_the_top() -> None:
    flow = Flow()
    top = flow.input("a").keyed().top(2, by=len, name="at once")
    top.output("out")
    flow.input("b").keyed().top(2, by=len, accumulate=True, name="so far").output("so far")
    values = [(0, ("x", word)) for word in ("aa", "bb", "c", "dd")]
    found = flow.run(sources={"a": values, "b": values})
    assert found == {"out": [(0, ("x", ["aa", "bb"]))], "so far": [(0, ("x", ["aa", "bb"]))]}


def test_the_largest_are_the_same_however_many_come_together() -> None:
    """A seed has a few come at a time: of keys that are new, of some that are known, and both."""
    values = [
        (key, (row * 31 + key * 7 + place * 5) % 97) for row in range(3) for key in range(6 - row) for place in range(4)
    ]
    right: dict[int, list[int]] = {}
    for key, value in values:
        right.setdefault(key, []).append(value)
    for seed in range(20):
        flow = Flow()
        flow.input("a").keyed().top(2).output("out")
        found = flow.run(seed=seed, sources={"a": [(0, value) for value in values]})
        assert dict(value for _, value in found["out"]) == {
            key: sorted(each, reverse=True)[:2] for key, each in right.items()
        }


# --- what is waited for -----------------------------------------------------------------------------------------------


def test_values_are_waited_for_together_and_not_more_than_at_once() -> None:
    going = most = 0

    async def slow(value: int) -> int:
        nonlocal going, most
        going += 1
        most = max(most, going)
        await asyncio.sleep(0.001)
        going -= 1
        return -value

    flow = Flow()
    flow.input("a").map_async(slow, at_once=7).output("out")
    found = flow.run(engine="asyncio", sources={"a": [(0, value) for value in range(50)]})
    assert found == {"out": [(0, -value) for value in range(50)]}
    assert most == 7


def test_where_one_fails_the_others_are_ended() -> None:
    done = []

    async def answer(value: int) -> int:
        await asyncio.sleep(0.1 * value)
        done.append(1 // value)
        return value

    flow = Flow()
    flow.input("a").map_async(answer).output("out")
    with pytest.raises(NodeFailed, match="ZeroDivisionError"):
        flow.run(engine="asyncio", sources={"a": [(0, 0), (0, 1), (0, 2)]})
    assert done == []


@pytest.mark.parametrize("at_once", [1, 7])
def test_values_of_different_times_are_waited_for_together_as_well(at_once: int) -> None:
    going = most = 0

    async def slow(value: int) -> int:
        nonlocal going, most
        going += 1
        most = max(most, going)
        await asyncio.sleep(0.0005)
        going -= 1
        return -value

    flow = Flow()
    flow.input("a").map_async(slow, at_once=at_once).output("out")
    found = flow.run(engine="asyncio", sources={"a": [(value // 3, value) for value in range(60)]})
    assert sorted(found["out"]) == sorted((value // 3, -value) for value in range(60))
    assert most == at_once


async def _fails(value: int) -> int:
    await asyncio.sleep(0)
    if value == 3:
        raise OSError("nobody there")
    return value


def test_what_fails_while_it_is_waited_for_is_said_with_its_own_words() -> None:
    flow = Flow()
    flow.input("a").map_async(_fails, name="call").output("out")
    with pytest.raises(PointstampError, match=r"PS705: 'call' failed .* OSError: nobody there"):
        flow.run(engine="asyncio", sources={"a": [(0, value) for value in range(5)]})


# --- steps of one's own -----------------------------------------------------------------------------------------------


class Parity(Node):
    """Sends even numbers on one edge, odd ones on another."""

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        out.send("even" if value % 2 == 0 else "odd", time, (edge, value))


def test_a_node_of_ones_own_has_edges_by_the_names_that_it_goes_by() -> None:
    flow = Flow()
    a, b = flow.input("a"), flow.input("b").map(lambda n: n + 1)
    even, odd = a.through(Parity, b, reads=("a", "more"), sends=("even", "odd"), name="parity")
    even.output("those even")
    even.map(lambda pair: pair[1]).output("numbers")
    found = flow.run(sources={"a": [(0, 1), (0, 2)], "b": [(0, 3)]})
    assert sorted(found["those even"]) == [(0, ("a", 2)), (0, ("more", 4))]
    assert sorted(found["numbers"]) == [(0, 2), (0, 4)]
    assert "odd" not in found.names
    odd.output("odd")
    assert flow.run(sources={"a": [(0, 1)], "b": []}) == {"odd": [(0, ("a", 1))]}


class Sum(Batch):
    """The sum of what came."""

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        out.send("totals", time, sum(messages["numbers"]))


def totals() -> Graph:
    return Graph().node("total").edge(None, "total", "numbers").edge("total", None, "totals")


def test_a_graph_that_is_added_keeps_its_names_and_its_free_ends() -> None:
    flow = Flow()
    flow.add(totals(), {"total": Sum})
    assert flow.run(sources={"numbers": [(0, 1), (0, 2)]}) == {"totals": [(0, 3)]}
    flow = Flow()
    summed = flow.add(totals(), {"total": Sum}, {"numbers": flow.input("numbers")})["totals"]
    summed.output("sums")
    summed.map(lambda n: -n).output("negative")
    assert flow.run(sources={"numbers": [(0, 1), (0, 2)]}) == {"sums": [(0, 3)], "negative": [(0, -3)]}
    flow = Flow()
    flow.add(totals(), {"total": Sum}, {"numbers": flow.input("numbers")})["totals"].output("totals")
    assert flow.run(sources={"numbers": [(0, 1), (0, 2)]}) == {"totals": [(0, 3)]}
    flow = Flow()
    several = flow.input("a").merge(flow.input("b"))
    flow.add(totals(), {"total": Sum}, {"numbers": several})
    assert flow.run(sources={"a": [(0, 1)], "b": [(0, 2)]}) == {"totals": [(0, 3)]}


# --- inputs of times --------------------------------------------------------------------------------------------------


async def _awaited() -> AsyncIterator[Any]:
    for time in range(3):
        yield time


@pytest.mark.parametrize(
    "source",
    [
        [0, 1, 2],
        (0, 1, 2, Complete([])),
        lambda: iter([0, 1, Complete([2]), 2]),
        range(3),
        _awaited,
        by_event_time([0, 1, 2], lambda time: time),
    ],
)
def test_an_input_of_times_has_something_come_at_each(source: Any) -> None:
    flow = Flow()
    flow.times("days").output("out")
    assert flow.run(engine="asyncio", sources={"days": source}) == {"out": [(time, time) for time in range(3)]}


def test_sources_and_sinks_may_be_said_where_the_edges_are() -> None:
    seen: list[Any] = []
    flow = Flow()
    flow.times("days", source=[0, 1]).merge(flow.input("more", int, source=[(1, 7)])).output(
        "out", sink=lambda time, value: seen.append(value)
    )
    flow.run()
    assert len(seen) == 3


# --- windows and sessions ---------------------------------------------------------------------------------------------


def test_a_session_grows_together_from_what_comes_in_any_order() -> None:
    flow = Flow()
    flow.input("a").keyed().session(5).output("out")
    given = [(0, ("x", "a")), (9, ("x", "d")), (20, ("x", "e")), (4, ("x", "b")), (9, ("x", "c")), (0, ("y", "f"))]
    found = flow.run(sources={"a": given})["out"]
    assert sorted(found) == [
        (5, ("y", 0, 0, ["f"])),
        (14, ("x", 0, 9, ["a", "b", "d", "c"])),
        (25, ("x", 20, 20, ["e"])),
    ]


def test_windows_at_the_end_of_bounded_times() -> None:
    flow: Flow[Any] = Flow(time={"nat": {"max": 10}})
    numbers = flow.input("a")
    numbers.sliding(4, 2).output("sliding")
    numbers.keyed().session(3).output("sessions")
    found = flow.run(sources={"a": [(9, ("x", 1))]})
    assert found == {"sliding": [(9, ("x", 1))], "sessions": [(10, ("x", 9, 9, [1]))]}


@pytest.mark.parametrize("latest", range(9, 14))
def test_windows_that_reach_the_last_time_are_known_then(latest: int) -> None:
    flow: Flow[Any] = Flow(time={"nat": {"max": latest}})
    numbers = flow.input("a")
    numbers.tumbling(4).whole(lambda time, bag: [sorted(bag)]).output("tumbling")
    numbers.sliding(4, 2).whole(lambda time, bag: [sorted(bag)]).output("sliding")
    times = range(latest + 1)
    found = flow.run(sources={"a": [(time, time) for time in times]})
    ends = sorted({min(time - time % 4 + 3, latest) for time in times})
    assert found["tumbling"] == [(end, [*range(end - end % 4, end + 1)]) for end in ends]
    assert found["sliding"] == [(end, [*range(max(0, end - 3), end + 1)]) for end in range(1, latest + 1, 2)]


def test_months_of_days_that_come_in_no_order() -> None:
    days = {"finite": {"elements": ["01", "02"], "below": []}}
    flow: Flow[Any] = Flow(time={"product": ["nat", days]})
    amounts = flow.input("files")
    amounts.roll_up("leave").key_on(lambda amount: "all").reduce(add).output("months")
    amounts.roll_up({"then": ["leave", {"round_up": 12}]}, name="years").whole(lambda year, bag: [len(bag)]).output("n")
    found = flow.run(sources={"files": [((3, "02"), 5), ((3, "01"), 2), ((4, "01"), 1)]})
    assert found == {"months": [(3, ("all", 7)), (4, ("all", 1))], "n": [(12, 3)]}


# --- what is refused --------------------------------------------------------------------------------------------------


def keyed(time: Any = "nat") -> Any:
    flow: Flow[Any] = Flow(time=time)
    return flow.input("a").keyed()


def stream(time: Any = "nat") -> Any:
    flow: Flow[Any] = Flow(time=time)
    return flow.input("a")


def _long_chain() -> None:
    numbers = stream()
    for _ in range(1_000):
        numbers = numbers.map(abs)


def _two_readers_of_an_edge() -> None:
    sent = stream().through(Parity, sends="out")
    sent.output("out")
    sent.map(str)


def _two_readers_of_an_input() -> None:
    numbers = stream()
    numbers.map(str)
    numbers.through(Parity, reads=("a",))


async def _async(value: Any) -> Any:
    return value


PARTIAL = {"product": ["nat", "nat"]}
not_a_graph: Any = "graph"


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (lambda: keyed().fold([], add), "PS814: : a.fold: it starts with [], which all keys would share"),
        (lambda: keyed().fold(dict, add), "PS814: : a.fold: it starts with <class 'dict'>, a function"),
        (lambda: keyed().fold(0, add, accumulate=True), "PS814: : a.fold: accumulate needs to make one result of two"),
        (lambda: keyed().count(within=3), "PS814: : a.count: within is for what is made of all times so far"),
        (lambda: keyed().count(accumulate=True, within=-1), "PS814: : a.count: within is -1"),
        (lambda: keyed().count(accumulate=True).early(bool), "PS814: : a.count.early: the result of all times so far"),
        (lambda: keyed().count().corrections, "PS814: : a.count.corrections: it says nothing before the end"),
        (lambda: keyed().top(0), "PS814: : a.top: n is 0"),
        (lambda: keyed().top(True), "PS814: : a.top: n is True"),
        (lambda: keyed().join(keyed(), add, how="inner"), "PS811: : 'a.join' joins streams of two flows"),
        (lambda: keyed().join(stream(), add), "PS812: : a.join with <stream a>, which has no key"),
        (lambda: keyed().join(keyed(), add, how="outter"), "PS814: : a.join: how is 'outter' (did you mean 'outer'?)"),
        (lambda: stream().join(stream(), add), "PS812: : join of 'a' has no key (key_on before it, or whole)"),
        (
            lambda: keyed().map(abs),
            "PS814: : a.map: its values have keys, which only operators by key look at (map before",
        ),
        (lambda: keyed().output("b"), "PS814: : a.output: its values have keys"),
        (lambda: stream().map(_async), "PS814: : a.map: _async is async (map_async"),
        (lambda: stream().map_async(_async, at_once=0), "PS814: : a.map_async: at_once is 0"),
        (lambda: stream().distinct(by=3), "PS814: : a.distinct: by is 3"),
        (lambda: stream().distinct(within=3), "PS814: : a.distinct: within is for what has come"),
        (lambda: stream().tumbling(0), "PS814: : a.tumbling: n is 0"),
        (lambda: stream().delay(-1), "PS814: : a.delay: k is -1"),
        (lambda: stream(PARTIAL).delay(1), "PS815: : a.delay: "),
        (lambda: stream().roll_up(), "PS815: : a.roll_up: leave "),
        (lambda: stream(PARTIAL).tumbling(3), "PS815: : a.tumbling: tumbling needs times that are numbers"),
        (lambda: stream(PARTIAL).sliding(3, 1), "PS815: : a.sliding: sliding needs times that are numbers"),
        (lambda: stream(PARTIAL).distinct(accumulate=True, within=1), "PS815: : a.distinct: within needs times"),
        (lambda: keyed(PARTIAL).session(3), "PS815: : a.session: session needs times that are numbers"),
        (lambda: keyed(PARTIAL).asof(keyed(PARTIAL), add), "PS815: : a.asof: asof needs times of which any two"),
        (lambda: keyed(PARTIAL).stateful_map(0, add), "PS815: : a.stateful_map: stateful_map needs times of which"),
        (lambda: stream().through(Parity, reads="a"), "PS814: : a.through: reads is 'a' (a tuple of 1 names"),
        (lambda: stream().through(Parity, sends="a"), "PS813: : an edge is called 'a' already"),
        (_long_chain, "PS814: : ....map.map.map.map.map.map.map.map.map.map: its path has 501 characters (a name="),
        (lambda: _two_readers_of_an_edge(), "PS813: : 'out' is the one edge that leads from there"),
        (lambda: _two_readers_of_an_input(), "PS813: : an edge is called 'a' already"),
        (lambda: stream().through(Parity, sends=("b",), emits={"c": 1}), "PS814: : a.through: it emits on 'c'"),
        (lambda: stream().through(3), "PS708: "),
        (lambda: Flow().add(totals(), {"totle": Sum}), "PS814: : add: the graph has no node 'totle' (did you mean"),
        (lambda: Flow().add(totals(), {}, {"total": stream()}), "PS814: : add: the graph has no input edge 'total'"),
        (lambda: Flow().add(totals(), {}, {"numbers": stream()}), "PS811: : the times of 'numbers' are nat"),
        (lambda: Flow().add(not_a_graph), "PS814: : add: 'graph' is not a graph"),
        (lambda: stream(PARTIAL).roll_up().merge(stream(PARTIAL)), "PS811: : 'a.roll_up.there.merge' joins streams"),
    ],
)
def test_refused_in_one_line(program: Callable[[], Any], says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        program()
    said = str(caught.value)
    assert "\n" not in said
    _, _, rest = said.partition("test_operators.py:")
    code = said.partition(":")[0]
    assert f"{code}: : {rest.partition(': ')[2]}".startswith(says) if rest else said.startswith(says), said


# --- what mutants have shown ------------------------------------------------------------------------------------------


def piece_by_piece(items: list[Any]) -> Callable[[], Iterator[Any]]:
    """A source whose items come to a node one after the other."""

    def source() -> Iterator[Any]:
        for item in items:
            yield item
            yield SILENT

    return source


def test_of_several_at_the_latest_time_asof_takes_the_last_to_come() -> None:
    flow = Flow()
    right = flow.input("right").keyed()
    flow.input("left").keyed().asof(right, lambda *given: given).output("out")
    given: dict[str, Any] = {
        "left": [(1, ("x", 0))],
        "right": piece_by_piece([(1, ("x", 5)), (1, ("x", 7)), (1, ("x", 6))]),
    }
    assert flow.run(sources=given) == {"out": [(1, ("x", 0, 6))]}


def test_sessions_of_what_comes_from_the_end() -> None:
    flow = Flow()
    flow.input("a").keyed().session(5).output("out")
    times = [30, 20, 15, 10, 11]
    found = flow.run(sources={"a": piece_by_piece([(time, ("x", time)) for time in times])})
    assert found == {"out": [(25, ("x", 10, 20, [10, 11, 15, 20])), (35, ("x", 30, 30, [30]))]}


def test_early_speaks_once_however_the_values_come() -> None:
    flow = Flow()
    sums = flow.input("a").keyed().reduce(add)
    sums.early(lambda total: total > 3).output("early")
    values = [(0, ("x", each)) for each in (4, -4, 5, -5, 6)]
    assert flow.run(sources={"a": piece_by_piece(values)}) == {"early": [(0, ("x", 4))]}


BY_VALUE: dict[str, tuple[Callable[[Any], Any], Callable[[list[int]], list[int]]]] = {
    "map": (lambda stream: stream.map(lambda v: v * 3 + 1), lambda values: [v * 3 + 1 for v in values]),
    "filter": (lambda stream: stream.filter(lambda v: v % 2), lambda values: [v for v in values if v % 2]),
    "flat_map": (
        lambda stream: stream.flat_map(lambda v: [v, v + 1][: v % 3]),
        lambda values: [w for v in values for w in [v, v + 1][: v % 3]],
    ),
    "inspect": (lambda stream: stream.inspect(lambda v: v + 1), lambda values: values),
    "map_at": (lambda stream: stream.map_at(lambda time, v: v - time), lambda values: [v - 7 for v in values]),
    "merge": (lambda stream: stream.merge(), lambda values: values),
    "branch": (lambda stream: stream.branch(lambda v: v > 8)[1], lambda values: [v for v in values if v <= 8]),
}


@pytest.mark.parametrize("first", BY_VALUE)
@pytest.mark.parametrize("second", BY_VALUE)
def test_three_steps_by_value_are_the_one_after_the_other(first: str, second: str) -> None:
    for third in BY_VALUE:
        flow = Flow()
        stream: Any = flow.input("in")
        means = [*range(20)]
        for word in (first, second, third):
            stream, means = BY_VALUE[word][0](stream), BY_VALUE[word][1](means)
        stream.output("out")
        assert flow.run(sources={"in": [(7, v) for v in range(20)]})["out"] == [(7, v) for v in means], third


def test_what_is_not_there_is_not_there() -> None:
    for each in (stream(), keyed()):
        with pytest.raises(AttributeError, match="has no 'frobnicate'"):
            each.frobnicate  # noqa: B018 - it raises
