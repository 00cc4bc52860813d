"""Buffer nodes give the asynchronous semantics (A&I 2.2): the same visible behaviours, and as many states."""

from __future__ import annotations

from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.local_history import Message, is_buffer
from progress.semantics import (
    Asynchronous,
    Buffer,
    Inputs,
    Specification,
    System,
    Variant,
    all_of_section_5,
    compare,
    explore,
    with_buffers,
)
from progress.semantics.buffers import unsent
from tests.semantics.random_systems import random_system
from tests.semantics.small_systems import chain, join, loop, messages, nested, one_node, relay

QUIET = Variant(inputs=Inputs.FORBIDDEN)


def fork(queued: Any) -> System:
    """in -> p -> one and other: a node that sends on two output edges in one step."""
    graph = Graph().node("p").edge(None, "p", "in").edge("p", None, "one").edge("p", None, "other")
    return System(graph, {"p": relay("one", "other")}, queued)


SYSTEMS: dict[str, tuple[System, Variant, int | None]] = {
    "chain": (chain({"in": messages(0, 1)}), QUIET, 36),
    "chain, announced": (chain({}, {"in": messages(0, 1)}), Variant(inputs=Inputs.ANNOUNCED), None),
    "chain, constrained": (chain({"in": messages(0)}, {"in": messages(0)}), Variant(inputs=Inputs.CONSTRAINED), None),
    "out of order": (one_node({"in": messages(1, 0)}), QUIET, None),
    "fork": (fork({"in": messages(0, 0)}), QUIET, 1 + 3**2 + 6**2),
    "join": (join({"left": messages(0), "right": messages(0)}), QUIET, 7),
    "loop": (loop({"input": messages(0, 1)}), QUIET, 257),
    "nested": (nested({"in": messages((0, 0))}), QUIET, None),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("reordering", [False, True])
def test_buffers_are_the_asynchronous_semantics(name: str, reordering: bool) -> None:
    system, variant, states = SYSTEMS[name]
    variant = variant._replace(reordering=reordering)
    direct = explore(Asynchronous(system, variant)).check()
    buffered = explore(Specification(with_buffers(system), variant)).check()
    assert compare(direct, buffered).equal
    assert len(direct.states) >= len(buffered.states)  # fewer where queues are pomsets
    if not reordering:
        assert len(direct.states) == len(buffered.states) == (states or len(direct.states))
        assert direct.number_of_steps == buffered.number_of_steps


@pytest.mark.parametrize("name", ["chain", "loop", "nested"])
@pytest.mark.parametrize("reordering", [False, True])
def test_buffers_on_internal_edges_change_nothing_for_the_outside(name: str, reordering: bool) -> None:
    system, variant, _ = SYSTEMS[name]
    network = system.network()
    internal = [
        edge
        for edge, source, target in zip(network.edges, network.sources, network.targets, strict=True)
        if source >= 0 and target >= 0
    ]
    variant = variant._replace(reordering=reordering)
    plain, buffered = (
        explore(Specification(system, variant)),
        explore(Specification(with_buffers(system, internal), variant)),
    )
    assert compare(plain, buffered).equal
    assert len(buffered.states) > len(plain.states)


def test_buffers_on_output_edges_part_what_was_one_step() -> None:
    """Without buffers, a message goes in and two come out at once; with them, one after the other."""
    plain = explore(Specification(fork({"in": messages(0)}), QUIET))
    buffered = explore(Specification(with_buffers(fork({"in": messages(0)})), QUIET))
    result = compare(plain, buffered)
    at_once = (((Message(0),), (), ()), ((), (Message(0),), (Message(0),)))
    assert result.only_first == at_once
    assert result.only_second is not None


@pytest.mark.parametrize("seed", range(8))
def test_buffers_on_random_systems(seed: int) -> None:
    system = random_system(3 * seed)
    direct = explore(Asynchronous(system, QUIET), most_states=400)
    buffered = explore(Specification(with_buffers(system), QUIET), most_states=400)
    assert direct.finished is buffered.finished
    if direct.finished:
        assert compare(direct, buffered).equal
        assert (len(direct.states), direct.number_of_steps) == (len(buffered.states), buffered.number_of_steps)


def test_section_5_holds_with_buffers() -> None:
    system = with_buffers(loop({"input": messages(0, 1)}, most=1))
    specification = Specification(system, QUIET)
    explore(specification, all_of_section_5(specification)).check()


def test_a_buffer_is_a_buffer_node() -> None:
    samples = {"in": [Message(0, "a"), Message(2)]}
    assert is_buffer(Buffer("out"), ["in"], ["out"], samples, [0, 1])
    buffered = with_buffers(one_node({"in": messages(0)}))
    assert list(buffered.names.nodes) == ["p", "buffer of out"]
    assert list(buffered.names.edges) == ["in", "out", unsent("out")]
    assert with_buffers(one_node(), []).names.nodes == ("p",)
    with pytest.raises(PointstampError, match="'in' that leaves a node"):
        with_buffers(one_node(), ["in"])


def test_unsent_messages_are_named() -> None:
    direct = explore(Asynchronous(one_node({"in": [Message(0, "a")]}), QUIET))
    assert [str(state) for state in direct.states[:3]] == [
        "in: 'a' at 0",
        "nothing is queued, nobody waits; unsent on out: 'a' at 0",
        "out: 'a' at 0",
    ]
    assert [str(action) for action, _ in direct.path(2).steps] == [
        "Mess: p takes 'a' at 0 from in, sends 'a' at 0 on out",
        "Send: 'a' at 0 comes to out",
    ]
