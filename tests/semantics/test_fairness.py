"""What every fair behaviour reaches, on machines of numbers; random ones against all sets of states that may recur."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise

import pytest

from progress.semantics import Failed, Outcome, Says, eventually, explore, leads_to
from tests.semantics.labelled import Labelled

Table = dict[int, list[tuple[str, int]]]


def says(table: Table, goal: int, rare: str = "") -> Says:
    wanted = eventually("there", lambda state: state == goal, rare=lambda action: action in rare)
    return explore(Labelled(table, [0]), [wanted]).verdicts[0].says


def test_what_stops_before_the_goal_is_a_counterexample() -> None:
    assert says({0: [("a", 1)], 1: [("b", 2)]}, 2) is Says.HOLDS
    assert says({0: [("a", 1), ("b", 2)]}, 2) is Says.FAILS


def test_what_is_always_possible_has_to_happen() -> None:
    assert says({0: [("wait", 0), ("go", 1)]}, 1) is Says.HOLDS
    assert says({0: [("wait", 1), ("go", 2)], 1: [("wait", 0), ("go", 2)]}, 2) is Says.HOLDS


def test_what_is_possible_now_and_then_need_not_happen() -> None:
    assert says({0: [("wait", 1), ("go", 2)], 1: [("wait", 0)]}, 2) is Says.FAILS


def test_the_same_action_elsewhere_counts() -> None:
    """`go` is always possible and does happen, but never where it would lead out."""
    assert says({0: [("go", 1)], 1: [("go", 0), ("out", 2)]}, 2) is Says.FAILS


def test_rare_actions_come_to_an_end_and_nothing_obliges_them() -> None:
    table: Table = {0: [("fail", 1), ("go", 2)], 1: [("recover", 0)]}
    assert says(table, 2, rare="fail") is Says.HOLDS
    assert says(table, 2) is Says.FAILS  # a failure each time `go` could happen
    assert says({0: [("fail", 1)]}, 1, rare="fail") is Says.FAILS
    assert says({0: [("fail", 1), ("go", 2)]}, 2, rare="fail") is Says.FAILS  # it stays failed


def test_the_counterexample_goes_to_where_it_stays_and_once_around() -> None:
    table: Table = {0: [("in", 1), ("out", 4)], 1: [("a", 2), ("out", 4)], 2: [("b", 1)], 4: []}
    found = explore(Labelled(table, [0]), [eventually("there", lambda state: state == 4)])
    path = found.verdicts[0].path
    assert path is not None
    assert path.steps == (("in", 1), ("a", 2), ("b", 1))
    with pytest.raises(Failed, match="there: fails after 3 steps"):
        found.check()


def test_one_leads_to_the_other_only_where_it_is_so() -> None:
    table: Table = {0: [("a", 1), ("b", 2)], 1: [("c", 3)], 2: []}
    machine = Labelled(table, [0])
    good = leads_to("one to three", lambda state: state == 1, lambda state: state == 3)
    bad = leads_to("two to three", lambda state: state == 2, lambda state: state == 3)
    found = explore(machine, [good, bad])
    assert [verdict.says for verdict in found.verdicts] == [Says.HOLDS, Says.FAILS]
    assert found.verdicts[1].path == found.path(2)


def test_what_was_not_visited_to_the_end_is_not_decided() -> None:
    table: Table = {number: [("on", number + 1)] for number in range(100)}
    found = explore(Labelled(table, [0]), [eventually("there", lambda state: state == 100)], most_states=50)
    assert found.outcome is Outcome.TOO_MANY_STATES
    assert found.verdicts[0].says is Says.NOT_DECIDED


def avoids(table: Table, goal: int) -> bool:
    """Whether some fair behaviour avoids the goal from some state on: all sets of states that may recur, one by one."""
    before = {0}
    while True:
        more = {b for a in before for _, b in table.get(a, [])} - before
        if not more:
            break
        before |= more
    numbers = sorted(before - {goal})
    for bits in range(1, 1 << len(numbers)):
        kept = {number for place, number in enumerate(numbers) if bits >> place & 1}
        inner = [(a, label, b) for a in kept for label, b in table.get(a, []) if b in kept]
        reach = {a: {a} for a in kept}
        for _ in kept:
            for a in kept:
                for x, _, y in inner:
                    if x in reach[a]:
                        reach[a].add(y)
        if any(reach[a] != kept for a in kept) or (len(kept) > 1 and not inner):
            continue
        enabled = set.intersection(*({label for label, _ in table.get(a, [])} for a in kept))
        if enabled <= {label for _, label, _ in inner}:
            return True
    return False


def test_random_machines_against_every_set_of_states_that_may_recur() -> None:
    chance = random.Random(17)
    seen = set()
    for _ in range(400):
        count = chance.randint(2, 6)
        table = {
            number: [(chance.choice("abc"), chance.randrange(count)) for _ in range(chance.randint(0, 3))]
            for number in range(count)
        }
        wanted = eventually("there", partial(int.__eq__, count - 1))
        verdict = explore(Labelled(table, [0]), [wanted]).verdicts[0]
        seen.add(verdict.says)
        assert verdict.says is (Says.FAILS if avoids(table, count - 1) else Says.HOLDS), table
        if verdict.path is not None:
            states = [0, *(state for _, state in verdict.path.steps)]
            for (one, other), (action, _) in zip(pairwise(states), verdict.path.steps, strict=True):
                assert (action, other) in table[one]
            assert states[-1] != count - 1
    assert seen == {Says.HOLDS, Says.FAILS}
