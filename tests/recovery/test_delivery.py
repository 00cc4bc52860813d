"""Delivery guarantees: the table of protocols, the paper's example, Theorem 1 over generated systems."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from progress import PointstampError
from progress.recovery.delivery import (
    END,
    Failure,
    Input,
    Internal,
    Output,
    classify,
    exactly_once,
    explored,
    what_may_leave,
)
from progress.recovery.dependencies import Dependencies
from progress.recovery.protocols import (
    AFTER,
    BATCHES,
    BEFORE,
    CONCATENATION,
    COUNT,
    DRIFTING,
    EPOCHS,
    STRONG,
    Operation,
    Order,
    Protocol,
    is_commutative,
)

TABLE = """\
protocol                               order          commutes  guarantee
strong productions (MillWheel)         any channel    no        exactly once
  released before it is saved          any channel    no        none
micro-batches (Spark)                  any channel    no        exactly once
  output and state apart               any channel    no        none
transactional epochs (Flink)           any channel    no        exactly once
  the last bundle is not asked for     any channel    no        none
  output at once                       any channel    no        none
drifting state (FlameStream)           a known order  no        exactly once
  without the order                    any channel    no        none
  without the order, all commutes      any channel    yes       exactly once
  without the last bundle              a known order  no        none
acknowledge after                      any channel    no        at least once
acknowledge before                     any channel    no        at most once
a file that is cut back                any channel    no        exactly once
  whose file is read along             any channel    no        none
--delivery deterministic               a known order  no        exactly once
--delivery barrier                     any channel    no        exactly once
"""


def test_the_table_of_all_protocols() -> None:
    command = [sys.executable, "-m", "progress.recovery.protocols"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == TABLE
    assert TABLE in (Path(__file__).parents[2] / "docs" / "recovery.md").read_text(encoding="utf-8")


def test_the_shortest_run_shows_why_not() -> None:
    apart = classify(DRIFTING._replace(order=Order.RACES, channels=(("a",), ("b",))))
    assert str(apart.exactly_once) == (
        "exactly once: no. a enters; b enters; a is applied; a leaves; failure and recovery; b is applied; "
        "a is applied; b has left before and is left out; ba may leave"
    )
    after = classify(AFTER._replace(channels=(("a",),)))
    assert str(after.at_most_once) == (
        "at most once: no. a enters; a is applied; a leaves; failure and recovery; a is applied; aa may leave"
    )
    assert [each.holds for each in after] == [False, False, True, True]
    before = classify(BEFORE._replace(channels=(("a",),)))
    assert str(before.at_least_once) == "at least once: no. a enters; a is read; failure and recovery; END may leave"
    assert [each.holds for each in before] == [False, True, False, True]


def test_a_second_failure_changes_no_verdict() -> None:
    for protocol, expected in ((STRONG, "exactly once"), (DRIFTING, "exactly once"), (AFTER, "at least once")):
        assert classify(protocol._replace(channels=(("a",), ("b",))), failures=2).strongest == expected


def test_an_exploration_that_does_not_end_is_undecided() -> None:
    found = classify(STRONG, most_states=10)
    assert [each.holds for each in found] == [None, None, None, None]
    assert str(found.exactly_once) == "exactly once: undecided"
    assert found.strongest == "undecided"


def test_a_reference_that_does_not_end_is_not_taken_for_one_that_explains_nothing() -> None:
    """With two failures, elements that come again make references larger than the system itself."""
    after = AFTER._replace(channels=(("a", "c"),))
    assert explored(after, 2, most_states=500).finished
    found = classify(after, failures=2, most_states=500)
    assert [each.holds for each in found] == [False, False, None, True]
    assert found.strongest == "undecided"
    assert classify(after, failures=2).strongest == "at least once"


def test_section_2_who_has_seen_a_and_ab_may_get_bac() -> None:
    """Each string was processed exactly once, and the output contradicts what was there before."""
    naive = DRIFTING._replace(order=Order.RACES, channels=(("a",), ("b",), ("c",)))
    faulty, reference = explored(naive, 1), explored(naive, 0)
    seen_before = (("a", "b", "c"), ("a", "ab"))
    assert what_may_leave(faulty)[seen_before] == {"".join(order) for order in permutations("abc")}
    assert what_may_leave(reference)[seen_before] == {"abc"}


def test_the_closure_of_d_and_what_theorem_1_asks_of_it() -> None:
    """x and y become s, of which b1 leaves; s and z become t, of which b2 leaves: with s saved before b1, or not."""
    hasty = Dependencies([("xy", "s"), ("s", ["b1"]), ("sz", "t"), ("t", ["b2"])])
    assert hasty.closure("x") == {"x", "s", "b1", "t", "b2"}
    assert hasty.inverse_closure("b1") == {"b1", "s", "x", "y"}
    assert hasty.between("b1", "b2") == frozenset()
    assert hasty.condition_1("s", "b1", "b2"), "as printed, it says nothing where nothing comes of b1"
    assert not hasty.saves_first("s", "b1", "b2")
    saved = Dependencies([("xy", ["b1"]), (["b1", "z"], "t"), ("t", ["b2"])])  # the snapshot is the output b1
    assert saved.between("b1", "b2") == {"b1", "t", "b2"}
    assert saved.saves_first("b1", "b1", "b2")


@pytest.mark.parametrize("seed", range(40))
def test_closures_are_those_of_all_ways_written_out(seed: int) -> None:
    chosen = random.Random(f"dependencies {seed}")
    pairs = [
        (chosen.sample(range(6), chosen.randint(1, 2)), chosen.sample(range(6), chosen.randint(1, 2))) for _ in range(6)
    ]
    single = {(before, after) for befores, afters in pairs for before in befores for after in afters}
    ways = {(each, each) for each in range(6)} | single
    for _ in range(6):
        ways |= {(one, last) for one, between in ways for other, last in single if between == other}
    found = Dependencies(pairs)
    for element in range(6):
        assert found.closure(element) == {after for before, after in ways if before == element}
        assert found.inverse_closure(element) == {before for before, after in ways if after == element}


WINDOW = Operation("concatenation in a window of two", "", lambda state, element: (state + element)[-2:])


def test_table_2_goes_on_to_be_or_to_de() -> None:
    """The paper's run, step by step: after the failure, races decide whether be or de leaves; de contradicts db."""
    naive = DRIFTING._replace(order=Order.RACES, operation=WINDOW, channels=(("a",), ("c",), ("b",), ("d",), ("e",)))
    machine = naive.machine(naive.channels, 1)
    [state] = machine.initial()

    def follow(state: Any, *steps: str) -> Any:
        for step in steps:
            found = {str(action): after for action, after in machine.successors(state)}
            assert step in found, (step, sorted(found))
            state = found[step]
        return state

    state = follow(state, "a enters", "c enters", "a is applied", "a leaves", "c is applied", "ac leaves")
    state = follow(state, "a snapshot is saved", "b enters", "d enters", "d is applied", "cd leaves")
    state = follow(state, "b is applied", "db leaves", "failure and recovery")
    again = follow(state, "d is applied", "b is applied", "e enters", "e is applied")
    assert "be leaves" in {str(each) for each, _ in after_left_out(machine, again)}
    otherwise = follow(state, "b is applied", "d is applied", "e enters", "e is applied")
    assert "de leaves" in {str(each) for each, _ in after_left_out(machine, otherwise)}
    orders = [outputs_of(WINDOW, order) for order in permutations("acbde")]
    assert any(order[:5] == ["a", "ac", "cd", "db", "be"] for order in orders)
    assert not any(order[:5] == ["a", "ac", "cd", "db", "de"] for order in orders)


def after_left_out(machine: Any, state: Any) -> Any:
    """What may leave once all that has left before is passed over."""
    while True:
        found = [(action, after) for action, after in machine.successors(state) if "left out" in str(action)]
        if not found:
            return machine.successors(state)
        state = found[0][1]


def outputs_of(operation: Operation, order: Any) -> list[Any]:
    state, found = operation.initial, []
    for element in order:
        state = operation.apply(state, element)
        found.append(state)
    return found


def random_operation(seed: int) -> Operation:
    """A table over four states; about a third commute."""
    chosen = random.Random(f"operation {seed}")
    if chosen.random() < 0.35:
        step = chosen.randint(0, 3)
        steps = {element: step if chosen.random() < 0.9 else 1 for element in "abc"}
        return Operation("sum", 0, lambda state, element: (state + steps[element]) % 4)
    table = {(state, element): chosen.randint(0, 3) for state in range(4) for element in "abc"}
    return Operation("table", 0, lambda state, element: table[state, element])


def may_contradict(operation: Operation) -> bool:
    """By all orders: outputs of one order, then those of another, that no single order explains."""
    orders = list(permutations("abc"))
    for first in orders:
        for second in orders:
            for left in range(4):
                for until in range(left + 1, 4):
                    made = outputs_of(operation, first)[:left] + outputs_of(operation, second)[left:until]
                    known = {*first[:left], *second[:until]}
                    explained = (
                        outputs_of(operation, order[:until]) == made for order in orders if set(order[:until]) <= known
                    )
                    if not any(explained):
                        return True
    return False


def test_theorem_1_over_generated_systems() -> None:
    """Releasing before saving without an order is exactly once where, and only where, no order of replay shows."""
    channels = (("a",), ("b",), ("c",))
    verdicts = []
    for seed in range(24):
        operation = random_operation(seed)
        hasty = DRIFTING._replace(order=Order.RACES, operation=operation, channels=channels)
        holds = exactly_once(explored(hasty, 1), explored(hasty, 0)).holds
        assert holds != may_contradict(operation), seed
        reordered = any(
            outputs_of(operation, [x, y, z])[2] != outputs_of(operation, [y, x, z])[2]
            for x, y, z in permutations("abc")
        )
        shows_all = operation._replace(shows=lambda state, element: (element, state))
        if reordered:  # the theorem: not commutative, no determinism, released before it is saved
            revealing = hasty._replace(operation=shows_all)
            assert not exactly_once(explored(revealing, 1), explored(revealing, 0)).holds, seed
        verdicts.append((holds, reordered))
    assert {holds for holds, _ in verdicts} == {True, False}
    assert {reordered for _, reordered in verdicts} == {True, False}


@pytest.mark.parametrize("protocol", [STRONG, BATCHES, EPOCHS, DRIFTING], ids=lambda protocol: protocol.name)
def test_saving_first_or_a_known_order_is_enough_for_any_operation(protocol: Protocol) -> None:
    for seed in range(8):
        given = protocol._replace(operation=random_operation(seed), channels=(("a", "c"), ("b",)))
        assert exactly_once(explored(given, 1), explored(given, 0)).holds, seed


def test_definition_9() -> None:
    assert is_commutative(COUNT, ("a", "b"))
    assert not is_commutative(CONCATENATION, ("a", "b"))
    assert is_commutative(CONCATENATION, ("a",))


def test_every_kind_of_step_happens() -> None:
    found = explored(STRONG._replace(channels=(("a",),)), 1)
    kinds = {type(action) for state in found.states for action, _ in found.machine.successors(state)}
    assert kinds == {Input, Output, Internal, Failure}
    leaving = [action for state in found.states for action, _ in found.machine.successors(state)]
    assert {action.element for action in leaving if type(action) is Output} == {"a", END}


def test_what_is_not_a_system() -> None:
    wrong: Any
    text: Any = "ab"
    for wrong in (5, "micro-batches", type(DRIFTING), DRIFTING._replace(channels=text)):
        with pytest.raises(PointstampError, match="PS637"):
            classify(wrong)


def test_where_a_budget_runs_out_nothing_is_decided() -> None:
    assert classify(DRIFTING, most_states=3).strongest == "undecided"
