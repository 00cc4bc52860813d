"""Spec12 against the specification of the joined graph (A&I 4.3): what is the same, what differs, and what mends it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphs import Graph, compose
from progress import PointstampError
from progress.local_history import Event, Notification
from progress.semantics import (
    CloseUp,
    Comparison,
    Composition,
    Exploration,
    Inputs,
    LocalClocks,
    Says,
    Specification,
    State,
    System,
    Variant,
    all_of_section_5,
    compare,
    explore,
    join,
    theorem_2,
    with_buffers,
)
from tests.questions.local_histories import FunctionNode
from tests.semantics.random_systems import random_halves
from tests.semantics.small_systems import (
    chain,
    consumer,
    loop,
    loop_body,
    loop_feedback,
    messages,
    one_node,
    producer,
    relay,
)

QUIET = Variant(inputs=Inputs.FORBIDDEN)
OPEN = Variant(inputs=Inputs.ANNOUNCED)


def both(
    first: System, second: System, variant: Variant = QUIET, together: bool = False
) -> tuple[Exploration[State], Exploration[State], Comparison]:
    """The whole graph and Spec12, explored and compared."""
    whole = explore(Specification(join(first, second), variant)).check()
    parts = explore(Composition(first, second, variant, together=together)).check()
    return whole, parts, compare(whole, parts)


def is_in_steps(whole: Exploration[State], before: State, after: State, most: int) -> bool:
    """Whether the whole graph leads from one state to another in so many steps."""
    number = {state: place for place, state in enumerate(whole.states)}
    level = {number[before]}
    for _ in range(most):
        level |= {target for place in level for _, target in whole.steps[place]}
    return number[after] in level


def as_queues(seen: Any) -> tuple[Any, ...]:
    """A visible state: the queues of input and output edges."""
    return tuple(seen)


# --- joining ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "direct"),
    [
        (producer({"in": messages(0, 1)}), consumer(), chain({"in": messages(0, 1)})),
        (loop_body({"input": messages(0)}), loop_feedback(), loop({"input": messages(0)})),
        (loop_feedback(), loop_body({"input": messages(0)}), loop({"input": messages(0)})),
    ],
)
def test_two_joined_systems_are_the_system_written_in_one(first: System, second: System, direct: System) -> None:
    joined = join(first, second)
    found, expected = explore(Specification(joined, QUIET)), explore(Specification(direct, QUIET))
    assert {str(sorted(str(state).split("; "))) for state in found.states} == {
        str(sorted(str(state).split("; "))) for state in expected.states
    }
    assert found.number_of_steps == expected.number_of_steps


def test_joining_agrees_with_graphs_compose() -> None:
    halves = [
        Graph().node("body").edge(None, "body", "input").edge("body", None, "out").edge(None, "body", "back"),
        Graph().node("feedback", summary={"advance": 1}).edge(None, "feedback", "out").edge("feedback", None, "back"),
    ]
    composed = compose(halves[0], halves[1]).network()
    systems = [System(half, {name: FunctionNode(lambda s, e: (s, (), {})) for name in half.nodes}) for half in halves]
    joined = join(*systems).network()
    assert sorted(joined.edges) == sorted(composed.edges)
    for edge in joined.edges:
        ends = []
        for network in (joined, composed):
            place = network.number(edge) - len(network.nodes)
            source, target = network.sources[place], network.targets[place]
            summary = network.summaries[place]
            ends.append((source, target, network.edge_domains[place], summary and summary.apply(3)))
        assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (producer(), producer(), "PS010"),
        (consumer(), consumer(), "PS010"),
        (producer(), chain(), "PS010"),
    ],
)
def test_what_cannot_be_joined_is_refused(first: System, second: System, code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        join(first, second)
    assert caught.value.code == code


def test_both_ends_of_a_shared_edge_have_one_domain() -> None:
    graph = Graph(time="int").node("b").edge(None, "b", "mid")
    with pytest.raises(PointstampError, match="PS401"):
        join(producer(), System(graph, {"b": FunctionNode(lambda s, e: (s, (), {}))}))


# --- one way ---------------------------------------------------------------------------------------------------------


def test_joined_one_way_spec12_is_the_specification_of_the_whole() -> None:
    whole, parts, result = both(producer({"in": messages(0, 1)}), consumer())
    assert set(whole.states) == set(parts.states)
    assert len(whole.states) == 19
    assert result.equal


def test_the_outside_and_a_graph_may_act_at_once_in_spec12_alone() -> None:
    """A message comes in to the first graph while the second sends a result: one step of Spec12, two of the whole."""
    whole, parts, result = both(producer({}, {"in": messages(0, 1)}), consumer(), OPEN)
    assert set(whole.states) == set(parts.states)
    assert result.only_first is None
    assert result.only_second is not None
    before, after = (as_queues(seen) for seen in result.only_second[-2:])
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 2  # the input and the output
    assert parts.number_of_steps > whole.number_of_steps


@pytest.mark.parametrize(
    ("first", "second", "variant", "together"),
    [
        (producer({}, {"in": messages(0, 1)}), consumer(), OPEN, False),
        (producer({}, {"in": messages(0, 1)}), consumer(), Variant(), True),
        (producer({"in": messages(0)}, {"in": messages(0, 1)}), consumer(), Variant(inputs=Inputs.CONSTRAINED), False),
        (loop_body({}, {"input": messages(0)}), loop_feedback(), OPEN, True),
        (loop_body({"input": messages(0, 1)}), loop_feedback(), QUIET._replace(reordering=True), True),
    ],
)
def test_every_step_of_spec12_is_some_steps_of_the_whole(
    first: System, second: System, variant: Variant, together: bool
) -> None:
    """At most four: a node of each graph, something that comes in, something that leaves."""
    whole, parts, result = both(first, second, variant, together)
    assert set(whole.states) == set(parts.states)
    assert result.only_first is None
    for state, steps in zip(parts.states, parts.steps, strict=True):
        for _, after in steps:
            assert is_in_steps(whole, state, parts.states[after], 4)


def test_spec12_says_who_acts() -> None:
    parts = explore(Composition(producer({}, {"in": messages(0, 1)}), consumer(), OPEN))
    said = {str(action) for steps in parts.steps for action, _ in steps}
    assert "Mess: a takes 0 from in, sends 0 on mid" in said
    assert any(" | Inp: 1 comes in on in" in each for each in said)


@pytest.mark.parametrize("leaves", [True, False])
def test_two_graphs_are_not_visible_at_once(leaves: bool) -> None:
    """Nothing is shared: each graph takes its one message, and sends it out or not. Acts1 and Acts2 exclude both."""

    def alone(name: str) -> System:
        graph = Graph().node(name).edge(None, name, f"to {name}")
        if leaves:
            graph.edge(name, None, f"from {name}")
        return System(graph, {name: relay(*[f"from {name}"] * leaves)}, {f"to {name}": messages(0)})

    whole, parts, result = both(alone("p"), alone("q"), QUIET._replace(outputs=False))
    assert result.equal
    assert (len(parts.states), parts.number_of_steps) == (len(whole.states), whole.number_of_steps) == (4, 4)


def test_two_nodes_of_two_graphs_are_not_notified_at_once_where_both_send() -> None:
    """Nothing is taken from an input, but an output of each grows: Acts1 and Acts2 exclude both."""

    def alone(name: str) -> System:
        graph = Graph().node(name).edge(name, None, f"from {name}")
        send = FunctionNode(lambda s, e: (s, (), {f"from {name}": messages(0)}), [(None, [0])])
        return System(graph, {name: send})

    whole, parts, result = both(alone("p"), alone("q"), QUIET._replace(outputs=False))
    assert result.equal
    assert (len(parts.states), parts.number_of_steps) == (len(whole.states), whole.number_of_steps) == (4, 4)


def test_two_graphs_may_act_at_once_while_one_is_not_visible() -> None:
    """The second graph only has an inner edge: 2 times 3 states, 3 + 2 * 2 steps, and 2 in which both act."""
    graph = Graph().node("a").node("b", notify=False).edge("a", "b", "inner")
    second = System(
        graph, {"a": FunctionNode(lambda s, e: (s, (), {"inner": messages(0)}), [(None, [0])]), "b": relay()}
    )
    whole, parts, result = both(one_node({"in": messages(0)}), second, QUIET._replace(outputs=False))
    assert set(whole.states) == set(parts.states)
    assert result.equal  # what is not visible is not seen to be at once
    assert (len(whole.states), whole.number_of_steps, parts.number_of_steps) == (6, 7, 9)


# --- both ways -------------------------------------------------------------------------------------------------------


def test_joined_both_ways_spec12_forbids_to_answer_at_once() -> None:
    """The feedback node takes from `out` and sends on `back`: for the body's graph, an output shrinks and an input
    grows. Neither Inp nor Outp says that, so the literal Spec12 stands still where the whole goes on."""
    whole, parts, result = both(loop_body({"input": messages(0)}), loop_feedback())
    assert (len(whole.states), len(parts.states)) == (36, 4)
    assert set(parts.states) < set(whole.states)
    assert result.only_first is not None
    assert result.only_second is None
    stuck = [state for state, steps in zip(parts.states, parts.steps, strict=True) if not steps]
    assert [[edge for edge in ("out", "back") if state.queue(edge)] for state in stuck] == [["out"]] * len(stuck)


@pytest.mark.parametrize("variant", [QUIET, OPEN])
def test_with_inputs_and_outputs_changing_together_nothing_is_lost(variant: Variant) -> None:
    system = (
        loop_body({"input": messages(0, 1)}) if variant is QUIET else loop_body({}, {"input": messages(0)}),
        loop_feedback(),
    )
    whole, parts, result = both(*system, variant, together=True)
    assert set(whole.states) == set(parts.states)
    assert len(whole.states) in (75, 37)
    assert result.only_first is None


def test_with_buffers_on_shared_edges_the_literal_spec12_loses_nothing() -> None:
    first, second = loop_body({"input": messages(0)}), loop_feedback()
    whole, parts, result = both(with_buffers(first, ["out"]), with_buffers(second, ["back"]))
    assert set(whole.states) == set(parts.states)
    assert result.equal
    plain = explore(Specification(join(first, second), QUIET))
    assert compare(plain, parts).equal  # and to the outside it is the loop without buffers


def hurried(name: str, enters: str, leaves: str) -> System:
    """A node that waits for 5; when it is notified, it breaks Condition 1 and asks for -5."""

    def respond(state: Any, event: Event) -> Any:
        return state, [-5] if isinstance(event, Notification) and event.time == 5 else [], {}

    graph = Graph(time="int").node(name, summary={"advance": 10}).edge(None, name, enters).edge(name, None, leaves)
    return System(graph, {name: FunctionNode(respond, [(None, [5])])})


def test_without_condition_1_spec12_reaches_what_the_whole_does_not() -> None:
    """Each notification makes Clock grow and holds up the other; at once, both are delivered. Spec12 says nothing of
    notifications, as the paper remarks; where Clock only shrinks, it need not."""
    first, second = hurried("p", "to p", "to q"), hurried("q", "to q", "to p")
    whole = explore(Specification(join(first, second), QUIET))
    parts = explore(Composition(first, second, QUIET, together=True))
    beyond = set(parts.states) - set(whole.states)
    assert set(whole.states) < set(parts.states)
    assert [{*state.pending("p"), *state.pending("q")} for state in beyond] == [{-5}]
    assert all(state.pending(name) == {-5} for state in beyond for name in "pq")


def test_random_systems_joined() -> None:
    """With `together`: the same states, and all that is visible of the whole. Without: no more states than the whole
    has, and all of them where nothing goes both ways."""
    seen: Counter[str] = Counter()
    for seed in range(120):
        first, second = random_halves(seed)
        variant = QUIET._replace(reordering=seed % 2 == 0, outputs=seed % 3 == 0)
        whole = explore(Specification(join(first, second), variant), most_states=60)
        if not whole.finished:
            continue
        parts = explore(Composition(first, second, variant, together=True)).check()
        assert {whole.machine.representative(state) for state in whole.states} == {
            parts.machine.representative(state) for state in parts.states
        }
        assert compare(whole, parts).only_first is None
        literal = explore(Composition(first, second, variant)).check()
        assert all(state in whole for state in literal.states)
        names = second.names.edge
        one_way = len({second.names.edge[edge] in second.inputs for edge in first.names.edges if edge in names}) == 1
        if one_way:
            assert len(literal.states) == len(whole.states)
            assert compare(whole, literal).only_first is None
        seen["one way" if one_way else "both ways"] += 1
        seen["fewer"] += len(literal.states) < len(whole.states)
    assert seen["one way"] > 20
    assert seen["both ways"] > 8
    assert seen["fewer"] > 3


# --- the Clock of both -----------------------------------------------------------------------------------------------

PAIRS = [
    (producer({"in": messages(0, 1)}), consumer()),
    (loop_body({"input": messages(0, 1)}), loop_feedback()),
    (loop_feedback(), loop_body({"input": messages(1)})),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_global_clock_is_made_of_local_ones_in_every_state(first: System, second: System) -> None:
    whole = Specification(join(first, second), QUIET)
    local = LocalClocks(first, second)
    for state in explore(whole).states:
        outstanding = whole.outstanding(state)
        assert dict(local(outstanding).frontiers) == dict(whole.clocks(outstanding).frontiers)
    assert local.rounds <= 2


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_section_5_holds_with_the_local_clocks(first: System, second: System) -> None:
    specification = Composition(first, second, QUIET, together=True)
    found = explore(specification, [each for each in all_of_section_5(specification)[2:] if each.is_always])
    assert [verdict.says for verdict in found.verdicts] == [Says.HOLDS] * 5
    same = explore(Composition(first, second, QUIET, CloseUp(join(first, second)), together=True))
    assert set(found.states) == set(same.states)


def test_without_the_exchange_notifications_come_too_early() -> None:
    """What each graph knows by itself is too little: that the other passes on what it is sent has to be told."""
    first, second = loop_body({"input": messages(0)}), loop_feedback()
    specification = Specification(join(first, second), QUIET, LocalClocks(first, second, exchange=False))
    found = explore(specification, theorem_2(specification)[:1])
    assert found.verdicts[0].says is Says.FAILS
    good = Specification(join(first, second), QUIET, LocalClocks(first, second))
    explore(good, theorem_2(good)[:1]).check()


def test_spec12_is_the_same_relation_as_a_predicate() -> None:
    """`successors` finds exactly the states that `allows` accepts, and no step is a stuttering one."""
    literal = QUIET._replace(at_once=None)
    for together in (False, True):
        specification = Composition(loop_body({"input": messages(0)}), loop_feedback(), literal, together=together)
        states = explore(specification).states
        for before in states:
            listed = [after for _, after in specification.successors(before)]
            assert len(set(listed)) == len(listed)
            assert {after for after in states if specification.allows(before, after)} == {before, *listed}
