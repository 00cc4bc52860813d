"""`TopologicalSorter`: as `graphlib`'s where that has an answer; rounds where it has none."""

from __future__ import annotations

import asyncio
import graphlib
import pickle
import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from graphs.sorter import TopologicalSorter


def random_order(rng: random.Random) -> list[tuple[Any, list[Any]]]:
    """Calls of `add` that make no cycle: nodes of several types, predecessors twice, nodes more than once."""
    kinds: list[Callable[[int], Any]] = [int, str, lambda number: ("pair", number), lambda number: frozenset([number])]
    names = [rng.choice(kinds)(number) for number in range(rng.randint(1, 14))]
    shuffled = rng.sample(names, len(names))
    calls = []
    for place, name in enumerate(shuffled):
        for _ in range(rng.choice((1, 1, 2))):
            calls.append((name, rng.choices(shuffled[:place], k=rng.randint(0, 4)) if place else []))
    rng.shuffle(calls)
    return calls


@pytest.mark.parametrize("seed", range(150))
def test_without_cycles_it_does_what_graphlib_does_in_the_same_order(seed: int) -> None:
    rng = random.Random(seed)
    calls = random_order(rng)
    ours: TopologicalSorter[Any] = TopologicalSorter()
    theirs: graphlib.TopologicalSorter[Any] = graphlib.TopologicalSorter()
    also: TopologicalSorter[Any] = TopologicalSorter()
    also_theirs: graphlib.TopologicalSorter[Any] = graphlib.TopologicalSorter()
    for name, before in calls:
        for sorter in (ours, theirs, also, also_theirs):
            sorter.add(name, *before)
    assert list(also.static_order()) == list(also_theirs.static_order())
    ours.prepare()
    theirs.prepare()
    assert ours.loops == ours.feedback == ()
    working: list[Any] = []
    while theirs.is_active():
        assert ours.is_active() is bool(ours) is True
        if rng.random() < 0.7 or not working:
            ready = theirs.get_ready()
            assert ours.get_ready() == ready
            working += ready
        rng.shuffle(working)
        finished, working = (working[:2], working[2:]) if rng.random() < 0.5 else (working[:1], working[1:])
        theirs.done(*finished)
        ours.done(*finished)
    assert not ours.is_active()
    assert ours.get_ready() == theirs.get_ready() == ()


def early(sorter: Any) -> None:
    sorter.get_ready()
    sorter.done("b")


def twice(sorter: Any) -> None:
    sorter.get_ready()
    sorter.done("a")
    sorter.done("a")


def twice_at_once(sorter: Any) -> None:
    sorter.get_ready()
    sorter.done("a", "a")


UNPREPARED: list[Callable[[Any], Any]] = [
    lambda sorter: sorter.get_ready(),
    lambda sorter: sorter.is_active(),
    bool,
    lambda sorter: sorter.done("a"),
]
PREPARED: list[Callable[[Any], Any]] = [
    lambda sorter: sorter.add("c"),
    lambda sorter: sorter.done("z"),
    lambda sorter: sorter.done("a"),
    early,
    twice,
    twice_at_once,
]


@pytest.mark.parametrize("number", range(len(UNPREPARED) + len(PREPARED)))
def test_what_graphlib_refuses_is_refused_in_the_same_words(number: int) -> None:
    said = []
    for kind in (TopologicalSorter, graphlib.TopologicalSorter):
        sorter: Any = kind({"b": ["a"]})
        if number >= len(UNPREPARED):
            sorter.prepare()
        with pytest.raises(ValueError, match=r".") as refused:
            (UNPREPARED + PREPARED)[number](sorter)
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert "\n" not in said[0]


def test_it_is_prepared_once() -> None:
    sorter = TopologicalSorter({"b": ["a"]})
    sorter.prepare()
    with pytest.raises(ValueError, match="more than once"):  # as graphlib's, before Python 3.14
        sorter.prepare()


def test_a_refused_call_has_no_effect_and_the_error_travels() -> None:
    sorter = TopologicalSorter({"c": ["a", "b"]})
    sorter.prepare()
    assert sorter.get_ready() == ("a", "b")
    with pytest.raises(ValueError, match="not added") as refused:
        sorter.done("a", "b", "z")
    assert sorter.get_ready() == ()
    sorter.done("b", "a")
    assert sorter.get_ready() == ("c",)
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (type(copy), str(copy), copy.code) == (type(refused.value), str(refused.value), "PS514")
    with pytest.raises(TypeError, match="unhashable"):
        sorter.done([])  # type: ignore[arg-type]
    assert TopologicalSorter[str] is not None


# --- cycles -----------------------------------------------------------------------------------------------------------

WRITING: dict[str, list[str]] = {
    "plan": [],
    "write": ["plan", "review"],  # a text that was reviewed is written again
    "check": ["write"],
    "review": ["write", "check"],
    "publish": ["review"],
}


def run(sorter: TopologicalSorter[Any], rounds: int, asks: str) -> list[tuple[str, int]]:
    sorter.prepare()
    told = []
    while sorter.is_active():
        for node in sorter.get_ready():
            told.append((node, sorter.round(node)))
            sorter.done(node, again=node == asks and sorter.round(node) + 1 < rounds)
    return told


def test_a_cycle_that_graphlib_refuses_runs_in_rounds_until_nobody_asks_for_another() -> None:
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(WRITING).prepare()
    sorter = TopologicalSorter(WRITING)
    told = run(sorter, 3, asks="review")
    passes = [(node, number) for number in range(3) for node in ("write", "check", "review")]
    assert told == [("plan", 0), *passes, ("publish", 0)]
    assert sorter.loops == (("write", "review", "check"),)
    assert sorter.feedback == (("review", "write"),)
    assert list(TopologicalSorter(WRITING).static_order()) == ["plan", "write", "check", "review", "publish"]


def test_a_round_may_be_asked_for_by_any_node_and_more_than_once() -> None:
    sorter = TopologicalSorter({"b": ["a", "d"], "c": ["b"], "d": ["b", "c"], "e": ["c"]})
    sorter.prepare()
    sorter.done(*sorter.get_ready())
    sorter.done(*sorter.get_ready(), again=True)  # b, at once
    assert sorter.get_ready() == ("c",)
    with pytest.raises(ValueError, match="still not ready"):
        sorter.done("b")
    sorter.done("c", again=True)
    assert sorter.get_ready() == ("d",)  # neither b again nor e before the round is over
    sorter.done("d")
    assert [(node, sorter.round(node)) for node in sorter.get_ready()] == [("b", 1)]
    sorter.done("b")
    sorter.done(*sorter.get_ready())
    sorter.done(*sorter.get_ready())
    assert sorter.get_ready() == ("e",)
    with pytest.raises(ValueError, match="lies on no cycle"):
        sorter.done("e", again=True)
    sorter.done("e")
    assert not sorter


def test_two_loops_one_after_the_other_and_a_node_on_its_own_cycle() -> None:
    sorter = TopologicalSorter({"a": ["a"], "b": ["a", "c"], "c": ["b"]})
    sorter.prepare()
    told = []
    left = Counter({"a": 2, "c": 1})
    while sorter:
        for node in sorter.get_ready():
            told.append(f"{node}{sorter.round(node)}")
            left[node] -= 1
            sorter.done(node, again=left[node] >= 0)
    assert told == ["a0", "a1", "a2", "b0", "c0", "b1", "c1"]
    assert sorter.feedback == (("a", "a"), ("c", "b"))


def test_which_edges_close_a_cycle_may_be_said() -> None:
    sorter: TopologicalSorter[str] = TopologicalSorter({"b": ["a"], "c": ["b"]})
    sorter.add("a", previous=["c"])
    assert list(sorter.static_order()) == ["a", "b", "c"]
    assert sorter.feedback == (("c", "a"),)
    wrong: TopologicalSorter[str] = TopologicalSorter({"b": ["a"]})
    wrong.add("b", previous=["a"])
    with pytest.raises(ValueError, match="no cycle joins 'b' with 'a'"):
        wrong.prepare()


@pytest.mark.parametrize("seed", range(80))
def test_rounds_of_any_graph(seed: int) -> None:
    """The laws of rounds, judged from the history alone: by reachability, not by the sorter's own graph."""
    rng = random.Random(seed)
    nodes = list(range(rng.randint(2, 9)))
    before = {node: rng.sample(nodes, min(len(nodes), rng.choice((0, 1, 1, 2)))) for node in nodes}
    reach = {node: reachable(before, node) for node in nodes}
    loop = {node: frozenset(each for each in reach[node] if node in reach[each]) for node in nodes}
    sorter = TopologicalSorter(before)
    sorter.prepare()
    assert {frozenset(each) for each in sorter.loops} == {loop[node] for node in nodes} - {frozenset()}
    feedback = set(sorter.feedback)
    graphlib.TopologicalSorter(
        {node: [each for each in before[node] if (each, node) not in feedback] for node in nodes}
    ).prepare()  # without feedback there is no cycle
    assert all(tail in loop[head] for head, tail in feedback)
    wanted = {each: rng.randint(0, 2) for each in loop.values()}
    finished: Counter[int] = Counter()
    working: list[int] = []
    asked: Counter[frozenset[int]] = Counter()
    while sorter.is_active():
        for node in sorter.get_ready():
            number = sorter.round(node)
            assert number == finished[node]
            for each in before[node]:
                if each not in loop[node]:
                    assert finished[each] == asked[loop[each]] + 1  # all rounds of what is before it
                elif (each, node) not in feedback:
                    assert finished[each] == number + 1
            assert all(finished[each] >= number for each in loop[node])  # the round before is over
            working.append(node)
        assert working  # somebody can always work
        node = working.pop(rng.randrange(len(working)))
        own, again = loop[node], False
        if own and asked[own] == finished[node] and asked[own] < wanted[own]:
            again = rng.random() < 0.6
            asked[own] += again
        finished[node] += 1
        sorter.done(node, again=again)
    assert finished == {node: asked[loop[node]] * bool(loop[node]) + 1 for node in nodes}


def reachable(before: dict[int, list[int]], start: int) -> set[int]:
    found: set[int] = set()
    waiting = list(before[start])
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += before[node]
    return found


# --- awaiting, threads ------------------------------------------------------------------------------------------------


def test_workers_that_await_what_is_ready_do_everything_once_a_round() -> None:
    async def main() -> list[tuple[str, int]]:
        sorter, told = TopologicalSorter(WRITING), []
        sorter.prepare()

        async def work() -> None:
            while nodes := await sorter.ready():
                for node in nodes:
                    told.append((node, sorter.round(node)))
                    await asyncio.sleep(0.001)
                    sorter.done(node, again=node == "review" and sorter.round(node) < 2)

        await asyncio.wait_for(asyncio.gather(work(), work(), work()), 20)
        assert not sorter
        return told

    told = asyncio.run(main())
    assert Counter(told) == Counter(
        [("plan", 0), ("publish", 0), *((node, number) for node in ("write", "check", "review") for number in range(3))]
    )


def test_threads_share_a_sorter() -> None:
    before = {number: [each for each in (number - 1, number - 7) if each >= 0 and number % 5] for number in range(300)}
    sorter, told = TopologicalSorter(before), []
    sorter.prepare()

    def work() -> None:
        while sorter:
            for node in sorter.get_ready():
                told.append(node)
                sorter.done(node)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == list(range(300))
    place = {node: number for number, node in enumerate(told)}
    assert all(place[each] < place[node] for node in before for each in before[node])
