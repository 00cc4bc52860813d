"""Stacks as objects: equal ones are one object, their mechanics agree with tuples, and nobody's stacks are freed."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import sys
import threading
from collections.abc import Iterator
from itertools import takewhile
from weakref import ref

import pytest

from graphs import from_data
from progress import PointstampError
from progress.garbage import without_cycle_search
from recursion.call_graph import CallGraph
from recursion.network import CallRelation
from recursion.stack import Stack, first_difference
from tests.recursion.random_calls import random_calls

DEEP = 1_000_000


def test_a_copy_of_a_stack_is_the_stack() -> None:
    """Two objects for one stack would be two times, and what lies at the one would not hold back the other."""
    graph = call_graph(3)
    stack = chain(graph, 5)
    assert copy.copy(stack) is stack
    assert copy.deepcopy({"at": [(1, stack)]}) == {"at": [(1, stack)]}
    assert copy.deepcopy(stack) is stack is chain(graph, 5)


def test_a_stack_is_not_pickled_without_its_graph() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(PointstampError, match="PS735") as refused:
            pickle.dumps([chain(call_graph(3), 2)], protocol)
        assert "pickle its calls" in refused.value.hint


def call_graph(seed: int, procedures: int | None = None) -> CallGraph:
    """A random graph with calls, as the engine has it."""
    relation = from_data(random_calls(random.Random(seed), procedures, epochs=False)).network().relation
    assert isinstance(relation, CallRelation)
    return relation.graph


def random_names(rng: random.Random, graph: CallGraph, depth: int) -> tuple[str, ...]:
    """The names of a stack of this depth, or of a lower one where nothing more can be called."""
    names: list[str] = []
    procedure = graph.procedures[graph.main]
    while len(names) < depth and procedure.calls:
        names.append(rng.choice(list(procedure.calls)))
        procedure = procedure.calls[names[-1]].enters
    return tuple(names)


def pushed(graph: CallGraph, names: tuple[str, ...]) -> Stack:
    """The stack, one call after the other."""
    stack = graph.stacks.empty
    for name in names:
        stack = graph.stacks.push(stack, stack.procedure.calls[name])
    return stack


def chain(graph: CallGraph, depth: int) -> Stack:
    """A stack that is a chain of one call."""
    stack = graph.stacks.empty
    (call, *_) = stack.procedure.calls.values()
    with without_cycle_search():
        for _ in range(depth):
            stack = graph.stacks.push(stack, call)
    return stack


@pytest.mark.parametrize("seed", range(12))
def test_mechanics_agree_with_tuples(seed: int) -> None:
    rng, graph = random.Random(seed), call_graph(seed)
    for _ in range(150):
        one = random_names(rng, graph, rng.choice([0, 1, 2, 3, 7, 30, 200]))
        other = one[: rng.randint(0, len(one))]
        if rng.random() < 0.7:
            rest = random_names(random.Random(rng.random()), graph, len(other) + rng.choice([0, 1, 5, 60]))
            other = other + rest[len(other) :] if graph.stacks.of(other + rest[len(other) :]) else rest
        first, second = pushed(graph, one), graph.stacks.of(other)
        assert second is not None
        assert first.calls == tuple(first) == one
        assert len(first) == first.depth == len(one)
        assert (first is second) == (first == second) == (one == other)
        assert first is graph.stacks.of(list(one))
        for depth in {0, 1, len(one) // 2, len(one) - 1, len(one)} & set(range(len(one) + 1)):
            assert first.ancestor(depth).calls == one[:depth]
        following = [place for place, name in enumerate(one, 1) if follows_itself(graph, name)]
        assert first.following == (following[0] if following else 0)
        common, leaves, enters = first_difference(first, second)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        assert common.calls == one[:shared]
        assert (leaves.name if leaves else None) == (one[shared] if len(one) > shared else None)
        assert (enters.name if enters else None) == (other[shared] if len(other) > shared else None)


def follows_itself(graph: CallGraph, name: str) -> bool:
    """Whether a path leads from `ret-c` back to `call-c`, counted edge by edge."""
    sources, targets = graph.alternative()
    reached = [graph.nodes.index(f"ret-{name}")]
    for node in reached:
        reached += [end for start, end in zip(sources, targets, strict=True) if start == node and end not in reached]
    return graph.nodes.index(f"call-{name}") in reached


def test_what_is_no_chain_of_calls_is_no_stack() -> None:
    graph = call_graph(3, procedures=2)
    for call in graph.calls:
        for other in graph.calls:
            stack = graph.stacks.of([call.name, other.name])
            assert (stack is not None) == (call.within.name == graph.main and other.within is call.enters)
    assert graph.stacks.of(["nothing"]) is None
    assert graph.stacks.of([None]) is None


def test_a_stack_lives_as_long_as_it_or_a_deeper_one_is_held() -> None:
    graph = call_graph(1)
    name = next(iter(graph.procedures[graph.main].calls))
    deep = pushed(graph, (name,) * 20)
    watched = {depth: ref(deep.ancestor(depth)) for depth in (1, 7, 19, 20)}
    middle = deep.ancestor(7)
    del deep
    gc.collect()
    assert [depth for depth, each in watched.items() if each() is not None] == [1, 7]
    again = pushed(graph, (name,) * 20)
    assert again.ancestor(7) is middle
    del middle, again
    gc.collect()
    assert all(each() is None for each in watched.values())


def test_stacks_are_freed_without_a_search_for_cycles() -> None:
    graph = call_graph(1)
    gc.collect()
    gc.disable()
    try:
        watched = ref(chain(graph, 500).ancestor(250))
        assert watched() is None
    finally:
        gc.enable()


@pytest.mark.slow
def test_a_million_calls() -> None:
    graph = call_graph(1)
    deep = chain(graph, DEEP)
    shorter = deep.ancestor(DEEP - 1)
    name = next(iter(graph.procedures[graph.main].calls))
    assert deep.depth == DEEP
    assert deep.parent is shorter
    assert graph.stacks.push(shorter, deep.parent.procedure.calls[name]) is deep
    assert repr(deep).endswith(f"... {DEEP - 6} more ..., {name}, {name}, {name}]")
    assert len(deep.calls) == DEEP
    assert graph.stacks.of(deep.calls) is deep
    common, leaves, enters = first_difference(deep, shorter)
    assert common is shorter
    assert leaves is deep.call
    assert enters is None
    watched = [ref(deep), ref(deep.ancestor(DEEP // 2)), ref(deep.ancestor(1))]
    del deep, shorter, common, leaves, enters
    assert [each() for each in watched] == [None, None, None]


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_threads_that_push_the_same_stacks_get_the_same_objects() -> None:
    graph = call_graph(next(seed for seed in range(100) if len(call_graph(seed, procedures=1).calls) == 3), 1)
    rng = random.Random(0)
    for _ in range(20):
        wanted = [random_names(rng, graph, 12) for _ in range(60)]
        found: list[list[Stack]] = []
        start = threading.Barrier(4)

        def push(wanted: list[tuple[str, ...]] = wanted, found: list[list[Stack]] = found) -> None:
            start.wait()  # noqa: B023
            found.append([pushed(graph, names) for names in wanted])

        threads = [threading.Thread(target=push) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        for same in zip(*found, strict=True):
            assert all(stack is same[0] for stack in same)
        assert [stack.calls for stack in found[0]] == wanted
