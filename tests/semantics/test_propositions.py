"""Section 5 of A&I by exploration: Propositions 7, 8, 9 and Theorem 2 hold, say something, and can fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from graphs import Graph
from progress import Tagged, check_conditions
from progress.escape import check_behaviours
from progress.local_history import Event, Message, Received
from progress.semantics import (
    Failed,
    Inputs,
    Not,
    OneApplication,
    Says,
    Specification,
    State,
    System,
    Variant,
    all_of_section_5,
    explore,
    proposition_7,
    proposition_8,
    proposition_9,
    sometimes_step,
    theorem_2,
)
from progress.semantics.properties import Later
from tests.questions.local_histories import FunctionNode
from tests.semantics.random_systems import random_system
from tests.semantics.small_systems import chain, hasty, join, loop, messages, nested, one_node

QUIET = Variant(inputs=Inputs.FORBIDDEN)
ALWAYS = ("Proposition 7", "Proposition 8", "Proposition 9", "Theorem 2", "nothing is late", "what may be delivered is")

SOUND = {
    "chain": chain({"in": messages(0, 0, 1)}),
    "chain out of order": chain({"in": messages(1, 0, 2)}),
    "join": join({"left": messages(0, 1), "right": messages(0, 1)}),
    "loop": loop({"input": messages(0, 1)}),
    "nested": nested({"in": messages((0, 0))}),
}


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("reordering", [False, True])
def test_all_of_section_5_holds_and_none_of_it_is_vacuous(name: str, reordering: bool) -> None:
    system = SOUND[name]
    report = check_conditions(system)
    assert report.condition_1.holds
    assert report.condition_2.holds
    specification = Specification(system, QUIET._replace(reordering=reordering))
    found = explore(specification, all_of_section_5(specification)).check()
    assert [verdict.property.is_always for verdict in found.verdicts] == [True, False] * 6
    assert all(verdict.path is not None for verdict in found.verdicts if not verdict.property.is_always)


# --- inputs ----------------------------------------------------------------------------------------------------------


def test_free_inputs_break_theorem_2_and_the_hypothesis_mends_it() -> None:
    """`Inp` need not be harmonious with Clock: a message may come at a time of which nodes were notified."""
    specification = Specification(chain({}, {"in": messages(0, 1)}))
    always, _ = theorem_2(specification, whatever_comes=True)
    found = explore(specification, [always, *theorem_2(specification)[:1], *proposition_8(specification)])
    verdict = found.verdicts[0]
    assert verdict.says is Says.FAILS
    assert verdict.path is not None
    assert [str(action) for action, _ in verdict.path.steps] == ["Inp: 0 comes in on in"]
    assert [each.says for each in found.verdicts[1:]] == [Says.HOLDS] * 3
    with pytest.raises(Failed, match=r"Theorem 2.*fails after 1 step\n0\. .*\n1\. Inp: 0 comes in on in"):
        found.check()


@pytest.mark.parametrize("inputs", [Inputs.CONSTRAINED, Inputs.ANNOUNCED])
def test_theorem_2_with_inputs_that_clock_has_foreseen(inputs: Inputs) -> None:
    """The alternative hypothesis of section 5: Clock' within Clock is a constraint on `Inp`."""
    system = chain({"in": messages(0)}, {"in": messages(0, 1, 2)})
    specification = Specification(system, Variant(inputs=inputs))
    found = explore(specification, theorem_2(specification, whatever_comes=True)).check()
    assert any(str(action).startswith("Inp") for steps in found.steps for action, _ in steps)


def test_a_constrained_input_that_is_empty_stays_empty() -> None:
    """An input edge has no source: nothing but a message on it can result in one there."""
    specification = Specification(chain({}, {"in": messages(0, 1)}), Variant(inputs=Inputs.CONSTRAINED))
    assert len(explore(specification).states) == 1
    assert len(explore(Specification(chain({}, {"in": messages(0, 1)}), Variant(inputs=Inputs.ANNOUNCED))).states) > 20


def test_proposition_9_needs_that_inputs_do_not_grow() -> None:
    specification = Specification(chain({}, {"in": messages(0, 1)}))
    always, _ = proposition_9(specification)
    assert isinstance(always, Later)
    assert explore(specification, [always]).verdicts[0].says is Says.HOLDS
    assert explore(specification, [always._replace(along=None)]).verdicts[0].says is Says.FAILS


def test_proposition_9_is_of_every_edge() -> None:
    """What comes in again is on the last of the inputs: the first edges never have anything."""
    specification = Specification(join({}, {"right": messages(0)}))
    always, _ = proposition_9(specification)
    assert isinstance(always, Later)
    assert explore(specification, [always._replace(along=None)]).verdicts[0].says is Says.FAILS


def test_theorem_2_is_of_every_edge() -> None:
    """The message that Clock did not have is on the last edge: p, at a notification, sends what is not declared."""

    def respond(state: Any, event: Event) -> Any:
        return state, [], {} if isinstance(event, Received) else {"out": [Message(0)]}

    specification = Specification(one_node(node=FunctionNode(respond, [(None, [2])])), QUIET)
    assert explore(specification, theorem_2(specification)[:1]).verdicts[0].says is Says.FAILS


# --- Condition 1 -----------------------------------------------------------------------------------------------------


def test_a_request_for_an_earlier_time_makes_clock_grow() -> None:
    """Condition 1 fails: a message at 2 makes the node ask for 1, of which everybody thought that it was over."""
    system = hasty({"in": messages(0, 2)})
    assert check_conditions(system).condition_2.holds
    escapes = check_behaviours(system, system.nodes, {"in": messages(0, 2)})
    assert ["Condition 1 allows" in str(escape) or "declares" in str(escape) for escape in escapes] == [True]
    specification = Specification(system, QUIET)
    found = explore(specification, all_of_section_5(specification))
    says = {verdict.property.name.partition(":")[0]: verdict for verdict in found.verdicts}
    assert {name: says[name].says for name in ALWAYS} == {
        "Proposition 7": Says.HOLDS,
        "Proposition 8": Says.FAILS,
        "Proposition 9": Says.HOLDS,  # it speaks of steps in which Clock shrinks
        "Theorem 2": Says.FAILS,
        "nothing is late": Says.HOLDS,  # what is sent into the past leaves at once
        "what may be delivered is": Says.HOLDS,
    }
    path = says["Theorem 2"].path
    assert path is not None
    assert str(path).endswith("4. Mess: p takes 2 from in, asks for 1\n   p waits for 1\n"
                              "5. Not: p is notified of 1, sends 1 on out\n   out: 1")  # fmt: skip


def test_clock_may_grow_when_somebody_is_notified() -> None:
    """No message is there at all: at the notification of 2, p asks for 1, and Clock grows in a step of `Not`."""

    def respond(state: Any, event: Event) -> Any:
        return state, [event.time - 1] if event.time > 1 else [], {}

    specification = Specification(one_node(node=FunctionNode(respond, [(None, [2])])), QUIET)
    verdict = explore(specification, proposition_8(specification)[:1]).verdicts[0]
    assert verdict.says is Says.FAILS
    assert verdict.path is not None
    assert [str(action) for action, _ in verdict.path.steps] == ["Not: p is notified of 2, asks for 1"]


# --- Condition 2 -----------------------------------------------------------------------------------------------------


def falling() -> System:
    """A loop in which every round is one time earlier."""
    return loop({"input": messages(3)}, most=0, step=-1)


def test_proposition_3_fails_without_condition_2_and_with_it_proposition_8() -> None:
    """Where could-result-in is not transitive, what it gives in one application grows as messages go on.

    From (input, 3) no path over distinct locations leads twice around, to (back, 1); Close-up does.
    """
    system = falling()
    assert check_conditions(system).condition_2.holds is False
    specification = Specification(system, QUIET, OneApplication(system))
    found = explore(specification, [*proposition_8(specification)[:1], *theorem_2(specification)[:1]])
    assert [verdict.says for verdict in found.verdicts] == [Says.FAILS, Says.FAILS]
    (growing, later) = (verdict.path for verdict in found.verdicts)
    assert growing is not None
    assert len(growing.steps) == 1
    assert later is not None
    assert len(later.steps) == 3


def test_with_close_up_neither_proposition_8_nor_theorem_2_needs_condition_2() -> None:
    """Beyond the paper: Close-up is upward closed by definition, and every step leads within what is closed upward."""
    for system in (falling(), nested({"in": messages((0, 0))}, order="product")):
        assert check_conditions(system).condition_1.holds
        assert check_conditions(system).condition_2.holds is False
        specification = Specification(system, QUIET)
        properties = [*proposition_8(specification), *proposition_9(specification), *theorem_2(specification)[:1]]
        explore(specification, properties).check()


def test_what_condition_2_is_for_a_request_must_not_block_itself() -> None:
    """In the falling loop nobody is ever notified: (body, 3) could result in (back, 2), so (back, 3) is in Clock."""
    notified = sometimes_step("somebody is notified", lambda before, action, after: isinstance(action, Not))
    assert explore(Specification(falling(), QUIET), [notified]).verdicts[0].says is Says.FAILS
    assert explore(Specification(loop({"input": messages(0)}), QUIET), [notified]).verdicts[0].says is Says.HOLDS
    final = explore(Specification(falling(), QUIET)).states[-1]
    assert final.pending("body") == {0, 1, 2, 3}
    assert not any(final.queues)


@pytest.mark.parametrize("name", SOUND)
def test_one_application_is_close_up_where_condition_2_holds(name: str) -> None:
    """Proposition 3, on every Clock of every state."""
    system = SOUND[name]
    specification, one = Specification(system, QUIET), OneApplication(system)
    for state in explore(specification).states:
        assert one(specification.outstanding(state)).frontiers == specification.clock(state).frontiers


# --- what the checks are worth ---------------------------------------------------------------------------------------


class Forgetful(Specification):
    """Breaks `Not` on purpose: the request stays pending after its delivery."""

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        for action, after in super().successors(state):
            if isinstance(action, Not):
                yield action, State(after.names, after.queues, after.local, state.requests, after.coming)
            else:
                yield action, after


def test_proposition_7_notices_a_broken_action() -> None:
    system = chain({"in": messages(0)})
    found = explore(Forgetful(system, QUIET), proposition_7(system), most_states=200)
    assert found.verdicts[0].says is Says.FAILS
    assert found.verdicts[0].path is not None
    assert isinstance(found.verdicts[0].path.steps[-1][0], Not)


class Backwards(Specification):
    """Breaks local states on purpose: they are never changed."""

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        for action, after in super().successors(state):
            yield action, State(after.names, after.queues, state.local, after.requests, after.coming)


def test_proposition_7_notices_a_local_state_that_is_not_kept() -> None:
    system = join({"left": messages(0)})
    assert explore(Backwards(system, QUIET), proposition_7(system), most_states=200).verdicts[0].says is Says.FAILS


def test_proposition_8_notices_a_node_that_sends_what_the_graph_does_not_declare() -> None:
    def respond(state: Any, event: Event) -> Any:
        return state, [], {"out": [Message(event.time - 1)]} if isinstance(event, Received) else {}

    specification = Specification(one_node({"in": messages(1)}, node=FunctionNode(respond, [(None, ())])), QUIET)
    found = explore(specification, [*proposition_8(specification)[:1], *theorem_2(specification)[:1]])
    assert [verdict.says for verdict in found.verdicts] == [Says.FAILS, Says.FAILS]


def test_the_companions_fail_where_nothing_happens() -> None:
    specification = Specification(chain(), QUIET)
    found = explore(specification, all_of_section_5(specification))
    assert [verdict.says for verdict in found.verdicts] == [Says.HOLDS, Says.FAILS] * 6
    with pytest.raises(Failed, match="sometimes: a step sends messages"):
        found.check()


# --- random systems --------------------------------------------------------------------------------------------------


def test_section_5_on_random_systems() -> None:
    """Sound ones, ones whose graph breaks Condition 2, ones whose nodes break Condition 1; every variant."""
    seen: Counter[Any] = Counter()
    for seed in range(120):
        kind = ("sound", "backwards", "early")[seed % 3]
        system = random_system(seed, kind == "backwards", kind == "early")
        variant = Variant(reordering=seed % 2 == 0, inputs=list(Inputs)[seed // 2 % 4])
        specification = Specification(system, variant)
        found = explore(specification, all_of_section_5(specification), most_states=150)
        holds = check_conditions(system).condition_2.holds
        for verdict in found.verdicts:
            if verdict.property.is_always:
                seen[kind, holds, verdict.property.name.partition(":")[0], verdict.says] += 1
                if kind != "early" or verdict.property.name.startswith(("Proposition 7", "Proposition 9")):
                    assert verdict.says is not Says.FAILS, (seed, str(verdict))
    assert seen["sound", True, "Theorem 2", Says.HOLDS] > 20
    assert seen["backwards", False, "Theorem 2", Says.HOLDS] > 5
    assert seen["early", True, "Proposition 8", Says.FAILS] > 10
    assert seen["early", True, "Theorem 2", Says.FAILS] > 3
    assert seen["sound", True, "what may be delivered is", Says.HOLDS] > 20
    assert seen["backwards", False, "nothing is late", Says.HOLDS] > 5
    assert seen["early", True, "nothing is late", Says.FAILS] > 3


def test_a_graph_with_two_time_domains() -> None:
    """Times of input and output are never compared: Conditions and theorem do without."""
    graph = Graph().node("p", time="nat", summary={"tag": "left"}).edge(None, "p", "in")
    graph.edge("p", None, "out", time={"sum": {"left": "nat", "right": "nat"}})

    def respond(state: Any, event: Event) -> Any:
        return (
            state,
            [event.time] if isinstance(event, Received) else [],
            {"out": [Message(Tagged("left", event.time))]},
        )

    system = System(graph, {"p": FunctionNode(respond, [(None, ())])}, {"in": messages(0, 1)})
    specification = Specification(system, QUIET)
    explore(specification, [*proposition_8(specification), *theorem_2(specification)[:1]]).check()
