"""Contracts by which two graphs are joined unseen, and systems that may take each other's place (A&I 4.3)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, compose, load
from progress import PointstampError, check_conditions, close
from progress.local_history import Event, Message, Received
from progress.semantics import (
    InContext,
    Inputs,
    Specification,
    System,
    Variant,
    compare,
    condition_2_of_both,
    explore,
    interface_of,
    join,
    may_take_place,
    with_buffers,
)
from tests.questions.local_histories import FunctionNode
from tests.semantics.random_systems import random_code
from tests.semantics.small_systems import chain, consumer, messages, one_node, producer, relay
from tests.semantics.small_systems import join as meeting
from tests.semantics.tools import halves

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

QUIET = Variant(inputs=Inputs.FORBIDDEN)

# --- contracts -------------------------------------------------------------------------------------------------------


def test_a_contract_by_hand() -> None:
    graph = Graph().node("p", summary={"advance": 2}).node("q", emits={"back": {"advance": 1}, "out": "identity"})
    graph.edge(None, "p", "in").edge("p", "q", "on").edge("q", "p", "back").edge("q", None, "out")
    found = interface_of(graph)
    assert (list(found.inputs), list(found.outputs), found.condition_2.holds) == (["in"], ["out"], True)
    assert found.passes["in", "out"].apply(3) == (5,)
    ways = sorted((each.enters["in"].apply(0), each.leaves["out"].apply(0)) for each in found.inside)
    assert ways == [((0,), (2,)), ((2,), (0,))]  # p and q, without their names


@pytest.mark.parametrize("seed", range(20))
def test_what_passes_is_what_the_closure_says(seed: int) -> None:
    """From each input to each output, against Close-up in the graph itself."""
    rng = random.Random(seed)
    for graph in halves(rng, False):
        network, found = graph.network(), interface_of(graph)
        for start, domain in found.inputs.items():
            for time in domain.sample()[:6]:
                frontiers = close(graph, [(start, time)]).frontiers
                for end in found.outputs:
                    way = found.passes.get((start, end))
                    assert set(() if way is None else way.apply(time)) == set(frontiers.get(end, ())), (start, end)
        assert {each.domain for each in found.inside} <= set(network.domains)


def test_condition_2_by_contracts_is_that_of_the_whole() -> None:
    """Random graphs, times of one number, of two, in either order: what the contracts say, and the joined graph."""
    seen: Counter[Any] = Counter()
    for seed in range(120):
        rng = random.Random(seed)
        first, second = halves(rng, seed % 4 != 0)
        contracts = interface_of(first), interface_of(second)
        both = condition_2_of_both(*contracts)
        whole = check_conditions(compose(first, second)).condition_2
        assert both.holds == whole.holds, seed
        seen[all(each.condition_2.holds for each in contracts), whole.holds] += 1
    assert seen[True, True] > 30
    assert seen[True, False] > 5  # each keeps it, and the whole does not
    assert seen[False, False] > 5


def test_a_loop_in_a_loop_that_resets_breaks_condition_2_inside_alone() -> None:
    """At the border nothing falls: the inner counter is lost on the way out, and only a node within knows of it."""
    pairs: Any = {"product": ["nat", "nat"]}
    first = Graph(time=pairs).node("p").node("inner", summary="feedback", notify=False)
    first.edge(None, "p", "back").edge("p", "inner", "on").edge("inner", "p", "again")
    first.node("away", summary="leave", notify=False).edge("p", "away", "over").edge("away", None, "forth", time="nat")
    second = (
        Graph().node("q", summary="enter", notify=False).edge(None, "q", "forth").edge("q", None, "back", time=pairs)
    )
    assert check_conditions(first).condition_2.holds
    assert check_conditions(second).condition_2.holds
    assert check_conditions(compose(first, second)).condition_2.holds is False
    assert condition_2_of_both(interface_of(first), interface_of(second)).holds is False


def test_what_has_no_contract_is_refused() -> None:
    class Halved:
        def apply(self, time: int) -> tuple[int, ...]:
            return (time // 2,)

    own = Graph().node("p", summary=Halved()).edge(None, "p", "in").edge("p", None, "out")
    for graph in (own, load(EXAMPLES / "recursion" / "stream.yaml")):
        with pytest.raises(PointstampError, match="PS616"):
            interface_of(graph)


# --- taking a place --------------------------------------------------------------------------------------------------


def counting(kind: str) -> System:
    """`meet` of small_systems, which keeps what came in another way; or one of its faults."""

    def respond(state: Any, event: Event) -> Any:
        counts = dict(state)
        if isinstance(event, Received):
            counts[event.time] = counts.get(event.time, 0) + 1
            sent = {"out": [Message(event.time, 1)]} if kind == "hasty" else {}
            return tuple(sorted(counts.items())), [] if kind == "silent" else [event.time], sent
        count = counts.pop(event.time)
        return tuple(sorted(counts.items())), [], {"out": [Message(event.time, count + (kind == "wrong"))]}

    graph = Graph().node("meet", summary={"advance": 0}).edge(None, "meet", "left").edge(None, "meet", "right")
    graph.edge("meet", None, "out")
    return System(graph, {"meet": FunctionNode(respond, [((), ())])})


SAMPLES = {"left": messages(0, 1), "right": messages(0)}


@pytest.mark.parametrize("reordering", [False, True])
def test_another_way_to_keep_what_came_takes_the_place(reordering: bool) -> None:
    for pair in ((counting("good"), meeting()), (meeting(), counting("good"))):
        found = may_take_place(*pair, SAMPLES, reordering)
        assert (found.holds, found.contract, found.complaints) == (True, True, ())
        assert found.behaviours is not None
        assert found.behaviours.equal


@pytest.mark.parametrize("kind", ["hasty", "wrong", "silent"])
def test_what_does_something_else_does_not(kind: str) -> None:
    found = may_take_place(counting(kind), meeting(), SAMPLES)
    assert found.contract
    assert found.behaviours is not None
    if kind == "silent":  # it does less than it may: the frontier at its output goes on too early
        assert found.behaviours.only_first is not None
    assert found.holds is False


def test_buffers_within_take_the_place_and_buffers_at_the_border_do_not() -> None:
    """What a context sees is when messages leave: at once with what was taken, or some time later."""
    system, samples = chain(), {"in": messages(0, 1)}
    assert may_take_place(with_buffers(system, ["mid"]), system, samples).holds
    assert may_take_place(with_buffers(system, ["out"]), system, samples).holds  # nobody sees when b is notified
    at_once = one_node()
    assert may_take_place(with_buffers(at_once), at_once, samples).holds is False
    assert may_take_place(at_once, with_buffers(at_once), samples).holds is False


def test_a_contract_that_asks_more_is_told_by_a_time() -> None:
    """The node does the same; but its graph says that it might send earlier, which a context has to reckon with."""
    late = Graph().node("p", summary={"advance": 2}).edge(None, "p", "in").edge("p", None, "out")
    code = {"p": FunctionNode(lambda state, event: (state, [], {}))}
    careful, free = System(late, code), one_node(node=code["p"])
    found = may_take_place(free, careful, {"in": messages(0)})
    assert found.holds is False
    assert found.complaints == ("what comes at 0 on 'in' may lead to 0 on 'out', and may not there",)
    assert may_take_place(careful, free, {"in": messages(0)}).contract


def test_other_edges_are_another_place() -> None:
    found = may_take_place(producer(), one_node(), {"in": messages(0)})
    assert (found.holds, found.behaviours) == (False, None)
    other = System(Graph(time="int").node("p").edge(None, "p", "in").edge("p", None, "out"), {"p": relay("out")})
    assert may_take_place(other, one_node(), {"in": messages(0)}).holds is False


def test_what_is_not_decided_is_said() -> None:
    found = may_take_place(counting("good"), meeting(), SAMPLES, most_states=5)
    assert (found.holds, found.behaviours) == (None, None)


def part(rng: random.Random, amounts: dict[str, int]) -> System:
    """x -> p -> y, where p is some table of two states."""
    graph = Graph().node("p", emits={edge: {"advance": amount} for edge, amount in amounts.items()})
    graph.edge(None, "p", "x").edge("p", None, "y")
    return System(graph, {"p": random_code(rng, amounts, False)})


def around(rng: random.Random, queued: list[Message]) -> System:
    """A context: in and y -> c -> x and out; it goes around through the part, one time later."""
    amounts = {"x": 1, "out": 0}
    graph = Graph().node("c", emits={edge: {"advance": amount} for edge, amount in amounts.items()})
    graph.edge(None, "c", "in").edge(None, "c", "y").edge("c", None, "x").edge("c", None, "out")
    return System(graph, {"c": random_code(rng, amounts, False)}, {"in": queued})


def twice_as_many_states(node: Any) -> FunctionNode:
    """The same node, with a state that also tells whether it has had an odd number of events."""

    def respond(state: Any, event: Event) -> Any:
        inner, is_odd = state
        after, asked, sent = node.step(inner, event)
        return (after, not is_odd), asked, sent

    return FunctionNode(respond, [((state, False), asked) for state, asked in node.initial()])


def test_in_random_contexts_nobody_sees_that_a_place_was_taken() -> None:
    """Where the comparison says that one takes the other's place, joined graphs show nothing that was not there."""
    seen: Counter[Any] = Counter()
    samples = {"x": messages(1, 2)}
    for seed in range(40):
        rng = random.Random(seed)
        old = part(rng, {"y": rng.randint(0, 1)})
        node = old.nodes["p"]
        if seed % 2:
            graph = old.network()
            new = System(graph, {"p": twice_as_many_states(node)})
        else:
            new = System(old.network(), {"p": random_code(rng, {"y": 1}, False)})
        holds = may_take_place(new, old, samples, most_states=1_000).holds
        seen[holds] += 1
        context = around(rng, [Message(0), Message(0)])
        wholes = [
            explore(Specification(join(each, context), QUIET._replace(outputs=False)), most_states=60)
            for each in (new, old)
        ]
        if all(each.finished for each in wholes):
            result = compare(*wholes)
            if holds:
                assert result.only_first is None, seed
            seen[holds, result.only_first is None] += 1
    assert seen[True] > 10
    assert seen[False] > 5
    assert seen[False, False] > 0


def test_the_most_general_context_brings_or_withdraws() -> None:
    machine = InContext(System(consumer().network(), consumer().nodes, {}, {"mid": messages(0)}))
    found = explore(machine)
    assert {type(action).__name__ for steps in found.steps for action, _ in steps} == {
        "Inp",
        "Withdrawn",
        "Mess",
        "Not",
        "Outp",
    }
    said = {str(action) for steps in found.steps for action, _ in steps}
    assert "Withdrawn: 0 does not come on mid" in said
