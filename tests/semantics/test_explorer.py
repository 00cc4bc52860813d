"""The explorer on machines of numbers: counts, shortest paths, budgets, symmetry, what comes later, what is visible."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise
from typing import Any

import pytest

from progress.semantics import (
    Exploration,
    Failed,
    Outcome,
    Path,
    Says,
    always,
    always_along,
    always_later,
    always_step,
    compare,
    explore,
    sometimes,
    sometimes_along,
    sometimes_step,
)


class Numbers:
    """A machine whose states are numbers."""

    def __init__(
        self,
        start: Iterable[int],
        following: Callable[[int], Iterable[int]],
        alike: Callable[[int], Hashable] = lambda state: state,
        shows: Callable[[int], Hashable] = lambda state: state,
    ) -> None:
        self.start = list(start)
        self.following = following
        self.alike = alike
        self.shows = shows

    def initial(self) -> Iterable[int]:
        return self.start

    def successors(self, state: int) -> Iterable[tuple[Any, int]]:
        return [(f"{state} to {after}", after) for after in self.following(state)]

    def representative(self, state: int) -> Hashable:
        return self.alike(state)

    def visible(self, state: int) -> Hashable:
        return self.shows(state)


def of_table(table: dict[int, list[int]], start: Iterable[int] = (0,), **words: Any) -> Numbers:
    return Numbers(start, lambda state: table.get(state, []), **words)


RING = Numbers([0], lambda state: [(state + 1) % 10, (state + 3) % 10])
ENDLESS = Numbers([0], lambda state: [state + 1, 2 * state])


def test_every_state_is_visited_once() -> None:
    found = explore(RING)
    assert found.finished
    assert sorted(found.states) == list(range(10))
    assert found.number_of_steps == 20
    assert found.depth == 4
    assert [len(found.path(number).steps) for number in range(10)] == sorted(
        len(found.path(number).steps) for number in range(10)
    )
    assert 7 in found
    assert 12 not in found


def test_a_counterexample_is_shortest_and_is_the_error() -> None:
    found = explore(RING, [always("it is not seven", lambda state: state != 7)])
    verdict = found.verdict("it is not seven")
    assert verdict.says is Says.FAILS
    assert verdict.path == Path(0, (("0 to 1", 1), ("1 to 4", 4), ("4 to 7", 7)))
    with pytest.raises(Failed) as caught:
        found.check()
    assert str(caught.value) == (
        "always: it is not seven: fails after 3 steps\n"
        "0. 0\n1. 0 to 1\n   1\n2. 1 to 4\n   4\n3. 4 to 7\n   7\n\n"
        "(10 states; finished: every reachable state was visited)"
    )
    assert "1 step\n" in str(explore(RING, [always("it is not three", lambda state: state != 3)]).verdicts[0])


def test_properties_of_states_steps_and_paths() -> None:
    found = explore(
        RING,
        [
            always("below ten", lambda state: state < 10),
            sometimes("nine", lambda state: state == 9),
            sometimes("ten", lambda state: state == 10),
            always_step("by one or three", lambda before, action, after: (after - before) % 10 in (1, 3)),
            always_step("upwards", lambda before, action, after: before < after),
            sometimes_step("from five", lambda before, action, after: before == 5 and action == "5 to 8"),
            always_along("short", lambda path: len(path.steps) < 5),
            always_along("not by way of six", lambda path: 6 not in [state for _, state in path.steps[:-1]]),
            sometimes_along("from zero by three", lambda path: path.start == 0 and path.state == 3),
        ],
    )
    says = {verdict.property.name: verdict.says.value for verdict in found.verdicts}
    assert says == {
        "below ten": "holds",
        "nine": "holds",
        "ten": "fails",
        "by one or three": "holds",
        "upwards": "fails",
        "from five": "holds",
        "short": "holds",
        "not by way of six": "fails",
        "from zero by three": "holds",
    }
    upwards = found.verdict("upwards").path
    assert upwards is not None
    assert upwards.state < upwards.steps[-2][1]
    assert len(upwards.steps) == 4
    assert "sometimes: ten: fails" in str(found)
    found.verdicts = [verdict for verdict in found.verdicts if verdict.says is Says.HOLDS]
    assert found.check() is found


def test_budgets_are_named() -> None:
    small = always("small", lambda state: state < 1000)
    there = sometimes("five", lambda state: state == 5)
    budgets: list[tuple[Outcome, dict[str, Any]]] = [
        (Outcome.TOO_MANY_STATES, {"most_states": 50}),
        (Outcome.TOO_MANY_STEPS, {"most_steps": 50}),
    ]
    for outcome, budget in budgets:
        found = explore(ENDLESS, [small, there, sometimes("none", lambda state: state < 0)], **budget)
        assert found.outcome is outcome
        assert not found.finished
        assert [verdict.says for verdict in found.verdicts] == [Says.NOT_DECIDED, Says.HOLDS, Says.NOT_DECIDED]
        with pytest.raises(Failed, match="small: is not decided") as caught:
            found.check()
        assert outcome.value in str(caught.value)
        assert outcome.value in str(found)
        with pytest.raises(Failed, match="not finished"):
            explore(ENDLESS, **budget).check()
    assert explore(ENDLESS, [small], most_states=5000).verdicts[0].says is Says.FAILS
    assert len(explore(RING, most_states=10).check().states) == 10
    assert explore(RING, most_states=9).outcome is Outcome.TOO_MANY_STATES
    assert explore(RING, most_steps=20).finished
    assert not explore(RING, most_steps=19).finished


def test_several_beginnings_and_none() -> None:
    assert explore(Numbers([3, 5, 3], lambda state: [])).beginnings == 2
    nothing = explore(
        Numbers([], lambda state: []), [always("no", lambda state: False), sometimes("yes", lambda s: True)]
    )
    assert [verdict.says for verdict in nothing.verdicts] == [Says.HOLDS, Says.FAILS]


def test_symmetric_states_are_visited_once() -> None:
    whole = Numbers([0], lambda state: [(state + 1) % 12, (state + 6) % 12])
    folded = Numbers([0], whole.following, alike=lambda state: state % 6)
    assert (len(explore(whole).states), len(explore(folded).states)) == (12, 6)
    assert 7 in explore(folded)


# --- what comes later ------------------------------------------------------------------------------------------------


def random_table(rng: random.Random) -> dict[int, list[int]]:
    count = rng.randint(2, 8)
    return {state: [rng.randrange(count) for _ in range(rng.randint(0, 2))] for state in range(count)}


def distances(table: dict[int, list[int]], start: int, along: Callable[[int, int], bool]) -> dict[int, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        state = queue.popleft()
        for after in table.get(state, []):
            if after not in found and along(state, after):
                found[after] = found[state] + 1
                queue.append(after)
    return found


def test_what_comes_later_against_all_pairs() -> None:
    """No state is followed by one of which the pair is bad; every pair of random machines is tried by hand."""
    rng = random.Random(4)
    failed = 0
    for _ in range(400):
        table = random_table(rng)
        bad = {(rng.randrange(4), rng.randrange(3)) for _ in range(2)}
        blocked = {(rng.randrange(8), rng.randrange(8)) for _ in range(rng.choice([0, 3]))}

        def along(before: int, after: int, blocked: set[tuple[int, int]] = blocked) -> bool:
            return (before, after) not in blocked

        def holds(now: int, thing: int, bad: set[tuple[int, int]] = bad) -> bool:
            return (now, thing) not in bad

        def step(before: int, action: Any, after: int, blocked: set[tuple[int, int]] = blocked) -> bool:
            return (before, after) not in blocked

        wanted = always_later("never", lambda state: state // 2, lambda state: [state % 3], holds, step)
        verdict = explore(of_table(table), [wanted]).verdicts[0]
        first = distances(table, 0, along)
        lengths = [
            steps + further
            for state, steps in first.items()
            for later, further in distances(table, state, along).items()
            if (state // 2, later % 3) in bad
        ]
        assert (verdict.says is Says.FAILS) == bool(lengths)
        if verdict.path is not None:
            failed += 1
            assert len(verdict.path.steps) == min(lengths)
            passed = [verdict.path.start, *(state for _, state in verdict.path.steps)]
            assert all(after in table[before] and along(before, after) for before, after in pairwise(passed))
            assert any((state // 2, passed[-1] % 3) in bad for state in passed)
    assert 50 < failed < 350


def test_what_comes_later_is_judged_within_a_budget_too() -> None:
    falls = always_later("never five after two", lambda s: s, lambda s: [s], lambda now, then: (now, then) != (2, 5))
    assert explore(ENDLESS, [falls], most_states=40).verdicts[0].says is Says.FAILS
    holds = always_later("never back", lambda s: s, lambda s: [s], lambda now, then: now <= then)
    assert explore(ENDLESS, [holds], most_states=40).verdicts[0].says is Says.NOT_DECIDED


# --- what is visible -------------------------------------------------------------------------------------------------


def words(table: dict[int, list[int]], shows: Callable[[int], Hashable], longest: int) -> set[tuple[Hashable, ...]]:
    """The visible beginnings of all paths of so many steps, without stuttering."""
    found: set[tuple[Hashable, ...]] = set()
    level: set[tuple[int, tuple[Hashable, ...]]] = {(0, (shows(0),))}
    for _ in range(longest):
        found |= {word for _, word in level}
        level = {
            (after, word if word[-1] == shows(after) else (*word, shows(after)))
            for state, word in level
            for after in table.get(state, [])
        }
    return found


def test_visible_behaviours_against_all_words() -> None:
    rng = random.Random(9)
    equal = 0
    for _ in range(300):
        one, other = random_table(rng), random_table(rng)
        if rng.random() < 0.5:
            other = {state: [*after, *([state] if rng.random() < 0.3 else [])] for state, after in one.items()}
            other[rng.randrange(len(one))].append(rng.randrange(len(one)))

        def shows(state: int) -> Hashable:
            return state % 3

        result = compare(explore(of_table(one, shows=shows)), explore(of_table(other, shows=shows)))
        first, second = words(one, shows, 14), words(other, shows, 14)
        for missing, mine, others in ((result.only_first, first, second), (result.only_second, second, first)):
            if missing is None:
                assert {word for word in mine if len(word) <= 4} <= {word for word in others if len(word) <= 4}
            else:
                assert missing in mine - others
                assert not {word for word in mine - others if len(word) < len(missing)}
        equal += result.equal
    assert 20 < equal < 280


def test_behaviours_want_a_finished_exploration() -> None:
    with pytest.raises(ValueError, match="not finished"):
        compare(explore(ENDLESS, most_states=5), explore(RING))


def test_an_exploration_says_its_figures() -> None:
    found: Exploration[int] = explore(RING, [always("below ten", lambda state: state < 10)])
    assert str(found) == (
        "10 states, 20 steps, depth 4; finished: every reachable state was visited\nalways: below ten: holds"
    )
