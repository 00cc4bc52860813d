"""Definitions 5.3 to 5.10 and Lemmas 5.7 to 5.9 on systems of a few letters; random ones by all of their executions."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from progress.errors import PointstampError
from progress.recovery.explainability import Explainable, explainable
from progress.recovery.explanations import explained, explained_monotonically
from progress.recovery.observability import Observability, not_monotonic
from progress.recovery.transparency import Without, is_transparent
from progress.semantics import Exploration, Failed, Says, explore
from tests.semantics.labelled import Labelled

Table = dict[str, list[tuple[str, str]]]


def of(text: str, start: str = "0") -> Exploration[str]:
    """`"0>1 1>2"`, with steps named by their ends; a name before a colon is that of the step: `"fail:1>0"`."""
    table: Table = {}
    for word in text.split():
        name, _, ends = word.rpartition(":")
        one, other = ends.split(">")
        table.setdefault(one, []).append((name or ends, other))
    return explore(Labelled(table, start.split()))


ALL = Observability("the state", lambda state: state)


def shows(letters: dict[str, Any]) -> Observability:
    return Observability("the letter", letters.__getitem__)


LETTER = Observability("the letter", lambda state: state[0])  # states named by what is seen of them


# --- single executions -----------------------------------------------------------------------------------------------


def test_one_execution_is_explained_by_another() -> None:
    assert explained("aab", "xab", ALL) == (1, 1, 2)
    assert explained("aac", "xab", ALL) is None
    assert explained("", "", ALL) == ()
    assert explained(["a1", "b1"], ["a", "b"], LETTER, ALL) == (0, 1)


def test_a_mapping_that_goes_back_is_not_monotonic() -> None:
    """Figure 11b: the specification shows a and then b; the implementation b and then a."""
    assert explained("ba", "ab", ALL) == (1, 0)
    assert explained_monotonically("ba", "ab", ALL) is None
    assert explained_monotonically("ba", "aba", ALL) == (1, 2)
    assert explained_monotonically("aabbd", "abcd", ALL) == (0, 0, 1, 1, 3)


def test_lemma_5_7_on_all_short_executions() -> None:
    """Where observations only grow, in one order on both sides, an explanation can always be made monotonic."""
    growing = [tuple(sorted(each)) for length in range(5) for each in product(range(3), repeat=length)]
    told = 0
    for one, other in product(sorted(set(growing)), repeat=2):
        plainly = explained(one, other, ALL)
        assert (plainly is None) == (explained_monotonically(one, other, ALL) is None)
        told += plainly is not None
    assert told > 100


# --- systems ---------------------------------------------------------------------------------------------------------


def test_every_execution_has_to_be_explained() -> None:
    specification = of("a>b b>c", "a")
    assert explainable(of("a>b b>c", "a"), specification, ALL).check().says is Says.HOLDS
    assert explainable(of("a>c", "a"), specification, ALL).says is Says.HOLDS  # what is skipped was there, too
    found = explainable(of("a>b b>d", "a"), specification, ALL)
    assert found.says is Says.FAILS
    assert found.path is not None
    assert [action for action, _ in found.path.steps] == ["a>b", "b>d"]
    with pytest.raises(Failed) as caught:
        found.check()
    assert str(caught.value) == (
        "Definition 5.5: the implementation is explainable by the specification: fails after 2 steps\n"
        "0. a\n1. a>b\n   b\n2. b>d\n   d"
    )


def test_it_takes_one_execution_that_shows_all() -> None:
    """Each letter can be shown, but nothing shows b and then d."""
    specification = of("a>b b>c a>d", "a")
    assert explainable(of("a>b", "a"), specification, ALL).says is Says.HOLDS
    assert explainable(of("a>d", "a"), specification, ALL).says is Says.HOLDS
    assert explainable(of("a>b b>d", "a"), specification, ALL).says is Says.FAILS


def test_what_looks_alike_is_told_apart_by_what_follows() -> None:
    """The specification decides early which of two ways it goes, the implementation late: explained all the same."""
    specification = of("a>b1 a>b2 b1>c b2>d", "a")
    late = of("a>b b>c b>d", "a")
    assert explainable(late, specification, LETTER).says is Says.HOLDS
    neither = of("a>b b>c c>d", "a")
    assert explainable(neither, specification, LETTER).says is Says.FAILS


def test_the_start_is_a_configuration_like_others() -> None:
    found = explainable(of("a>b", "a"), of("b>c", "b"), ALL, translation=[("b", "a")])
    assert found.says is Says.FAILS
    assert found.path is not None
    assert found.path.steps == ()
    assert explainable(of("a>b", "a"), of("x>a a>b", "x"), ALL, translation=[("x", "a")]).says is Says.HOLDS
    with pytest.raises(PointstampError, match="PS634: T names a configuration that is not initial"):
        explainable(of("a>b", "a"), of("a>b", "a"), ALL, translation=[("a", "b")])


def test_each_pair_of_the_translation_counts() -> None:
    implementation, specification = of("a>c b>d", "a b"), of("a>c b>e", "a b")
    assert explainable(implementation, specification, ALL, translation=[("a", "a")]).says is Says.HOLDS
    assert explainable(implementation, specification, ALL).says is Says.FAILS


def test_observations_have_to_grow_in_one_order() -> None:
    """Each of the two has an order of its own, and both show every letter: Lemma 5.7 needs one order for both."""
    forth, back = of("s>a a>b", "s"), of("s>b b>a", "s")
    for execution, by in (("sab", "sba"), ("sba", "sab")):
        assert explained(execution, by, ALL) is not None
        assert explained_monotonically(execution, by, ALL) is None
    found = explainable(forth, back, ALL)
    assert found.says is Says.FAILS
    assert "Definition 5.3: what is observed by the state does not only grow" in str(found)
    assert not_monotonic([(forth, ALL)]) is None
    assert not_monotonic([(back, ALL)]) is None


def test_an_order_that_is_given_has_to_be_kept() -> None:
    longer = Observability("the length", len, int.__le__)
    assert not_monotonic([(of("a>bb bb>ccc", "a"), longer)]) is None
    wrong = not_monotonic([(of("a>bb bb>c", "a"), longer)])
    assert wrong is not None
    assert [action for action, _ in wrong[2].steps] == ["a>bb", "bb>c"]
    assert longer.only_grows().holds("a", "", "bb")
    assert not longer.only_grows().holds("bb", "", "a")


def test_observations_need_not_be_hashable() -> None:
    listed = Observability("a list", list, list.__le__)
    bare = Observability("a list", list)
    for observe in (listed, bare):
        assert explainable(of("a>b b>c", "a"), of("a>b b>c", "a"), observe).says is Says.HOLDS
        assert explainable(of("a>b b>a", "a"), of("a>b b>a", "a"), observe).says is Says.FAILS
    assert explained("aab", "xab", listed) == (1, 1, 2)
    with pytest.raises(PointstampError, match="PS634: the observability function 'a list' has no order"):
        bare.only_grows()


def test_what_was_not_explored_is_not_decided() -> None:
    table: Table = {str(number): [("on", str(number + 1))] for number in range(100)}
    partly = explore(Labelled(table, ["0"]), most_states=50)
    wholly = explore(Labelled(table, ["0"]))
    assert explainable(partly, wholly, ALL).says is Says.NOT_DECIDED
    assert explainable(wholly, partly, ALL).says is Says.NOT_DECIDED
    with pytest.raises(Failed, match="is not decided"):
        explainable(partly, wholly, ALL).check()
    assert explainable(partly, of("0>1 1>3", "0"), ALL).says is Says.FAILS


# --- lemmas ----------------------------------------------------------------------------------------------------------


def all_executions(exploration: Exploration[str], length: int) -> list[tuple[str, ...]]:
    """Every execution up to a length, by following steps: nothing of `explainable` is used."""
    table = exploration.machine.table  # type: ignore[attr-defined]
    found: list[tuple[str, ...]] = [(start,) for start in exploration.machine.initial()]
    for execution in found:
        if len(execution) < length:
            found += [(*execution, after) for _, after in table.get(execution[-1], [])]
    return found


def random_system(chance: random.Random) -> Exploration[str]:
    """Letters that only grow, two states for each, no cycles but at one state."""
    states = [f"{letter}{number}" for letter in "abcd" for number in (1, 2)]
    table: Table = {}
    for _ in range(chance.randint(3, 9)):
        one, other = sorted(chance.sample(states, 2))
        table.setdefault(one, []).append((f"{one}>{other}", other))
    return explore(Labelled(table, ["a1"]))


def by_force(implementation: Exploration[str], specification: Exploration[str]) -> bool:
    explaining = all_executions(specification, 9)
    return all(
        any(explained(one, other, LETTER) is not None for other in explaining)
        for one in all_executions(implementation, 9)
    )


def test_random_systems_against_all_of_their_executions() -> None:
    chance = random.Random(55)
    seen = {Says.HOLDS: 0, Says.FAILS: 0}
    for _ in range(300):
        implementation, specification = random_system(chance), random_system(chance)
        found = explainable(implementation, specification, LETTER)
        assert (found.says is Says.HOLDS) == by_force(implementation, specification)
        seen[found.says] += 1
        if found.path is not None:
            execution = (found.path.start, *(state for _, state in found.path.steps))
            assert execution in all_executions(implementation, 9)
            explaining = all_executions(specification, 9)
            assert all(explained(execution, other, LETTER) is None for other in explaining)
            assert any(explained(execution[:-1], other, LETTER) is not None for other in explaining)
    assert min(seen.values()) > 40, seen


def holding(chance: random.Random) -> tuple[Explainable[str, str], Explainable[str, str]]:
    """Two explanations that meet."""
    while True:
        one, two, three = (random_system(chance) for _ in range(3))
        first, second = explainable(one, two, LETTER), explainable(two, three, LETTER)
        if first.says is second.says is Says.HOLDS:
            return first, second


def test_lemma_5_8_transitivity() -> None:
    chance = random.Random(58)
    for _ in range(40):
        first, second = holding(chance)
        both = first.then(second)
        assert both.check().translation == {("a1", "a1")}
        again = explainable(first.implementation, second.specification, LETTER, translation=both.translation)
        assert again.says is Says.HOLDS


def test_translations_are_composed() -> None:
    """T ∘ T': c'' with c where c'' T' c' and c' T c for some c'."""
    low, middle, high = of("a1>b1", "a1"), of("a2>b2 a3>b3", "a2 a3"), of("a4>b4", "a4")
    first = explainable(low, middle, LETTER, translation=[("a2", "a1"), ("a3", "a1")])
    second = explainable(middle, high, LETTER, translation=[("a4", "a3")])
    assert first.then(second).translation == {("a4", "a1")}
    assert first.then(second).specification is high


def test_lemma_5_9_composition() -> None:
    blurred = Observability("whether it is past b", lambda letter: letter > "b")
    chance = random.Random(59)
    for _ in range(40):
        first, _ = holding(chance)
        seen = first.through(blurred)
        assert seen.check().observe.of("c1") is True
        assert explainable(first.implementation, first.specification, seen.observe).says is Says.HOLDS


def test_explanations_that_do_not_fit_together_are_refused() -> None:
    one, two = of("a>b", "a"), of("a>b b>c", "a")
    good, bad = explainable(one, two, ALL), explainable(two, one, ALL)
    assert bad.says is Says.FAILS
    with pytest.raises(PointstampError, match="PS634: these two do not meet"):
        good.then(explainable(of("a>b b>c", "a"), two, ALL))
    with pytest.raises(PointstampError, match="PS634: an explanation that does not hold"):
        good.then(bad)
    with pytest.raises(PointstampError, match="PS634: an explanation that does not hold"):
        bad.through(ALL)
    odd = Observability("odd", lambda state: state == "b")
    with pytest.raises(PointstampError, match="PS634: what is observed by odd of the state does not only grow"):
        explainable(two, two, ALL).through(odd)


# --- failure transparency --------------------------------------------------------------------------------------------


def failing(action: str) -> bool:
    return action in ("fail", "recover")


def transparent(text: str, start: str, observe: Observability) -> Explainable[str, str]:
    exploration = of(text, start)
    return is_transparent(exploration.machine, failing, observe)


def test_a_system_of_one_s_own_is_failure_transparent_or_not() -> None:
    """Saved before shown: a letter is shown when the state behind it is kept. Shown before saved: b is shown twice."""
    kept: Callable[[str], int] = {"0": 0, "1": 0, "saved": 1, "lost": 0}.__getitem__
    good = transparent("work:0>1 save:1>saved fail:1>lost recover:lost>0", "0", Observability("kept", kept))
    assert good.check().says is Says.HOLDS
    # at once: what was made by the first try is shown, and the second may make something else
    choice = "make:0>1x make:0>1y save:1x>2x save:1y>2y fail:1x>0x recover:0x>0y make:0y>2y"
    shown: Callable[[str], str] = {
        "0": "",
        "1x": "x",
        "1y": "y",
        "2x": "x",
        "2y": "y",
        "0x": "x",
        "0y": "x",
    }.__getitem__
    bad = transparent(choice, "0", Observability("shown", shown))
    assert bad.says is Says.FAILS
    assert bad.path is not None
    assert [action for action, _ in bad.path.steps] == ["make", "fail", "recover", "make"]
    with pytest.raises(Failed, match=r"Definition 5\.10: failures are transparent: fails after 4 steps"):
        bad.check()


def test_what_is_left_of_a_machine_without_its_failures() -> None:
    machine = of("work:0>1 fail:1>0 work:1>2", "0").machine
    without = explore(Without(machine, failing))
    assert without.states == ["0", "1", "2"]
    assert without.number_of_steps == 2
    assert without.machine.visible("2") == "2"


def test_what_is_taken_back_is_not_transparent() -> None:
    found = transparent("work:0>1 fail:1>0", "0", ALL)
    assert found.says is Says.FAILS
    assert "does not only grow" in str(found)
