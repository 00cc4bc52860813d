"""Traces, their causal order, and the construction of Theorem 6.9, judged by `tests.recovery.plain_recovery` alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice, pairwise, permutations
from typing import Any

import pytest

from progress.errors import PointstampError
from progress.recovery.causality import (
    happens_before,
    keeps_causality,
    permutations_that_keep_causality,
    permuted,
)
from progress.recovery.configuration import Configuration
from progress.recovery.construction import Explanation, explain, verify
from progress.recovery.model import Implementation, explore
from progress.recovery.rules import RECOVERY, Rule, Step
from progress.recovery.snapshots import lcs
from progress.recovery.traces import Trace, apply, is_valid
from tests.recovery.plain_recovery import PlainSystem, PlainTask, check_explained, random_system, run
from tests.recovery.recovery_twins import (
    AVERAGE_INPUTS,
    average,
    chain,
    label,
    plain,
    program_of,
    running_sum,
    tasks_of,
)

CHAIN = PlainSystem(
    [PlainTask(f"sum{n}", running_sum, (f"stream{n}",), f"stream{n + 1}", 0) for n in range(2)], {"stream0": [[1], [5]]}
)
AVERAGES = PlainSystem([PlainTask("average", average, ("ints", "resets"), "averages", (0, 0))], AVERAGE_INPUTS)


def all_traces(system: PlainSystem, most_failures: int, prefixes: bool = False) -> Iterator[Trace]:
    """Every trace with so many failing steps at most; those that can go on without another only with `prefixes`."""
    machine = Implementation(program_of(system))
    (start,) = machine.initial()

    def further(c: Configuration, steps: list[Step], failures: int) -> Iterator[Trace]:
        possible = [pair for pair in machine.successors(c) if failures or pair[0].rule is not Rule.FAIL]
        if prefixes or all(step.rule is Rule.FAIL for step, _ in possible):
            yield Trace(start, tuple(steps))
        for step, after in possible:
            steps.append(step)
            yield from further(after, steps, failures - (step.rule is Rule.FAIL))
            steps.pop()

    return further(start, [], most_failures)


def random_trace(chance: random.Random, system: PlainSystem, length: int) -> Trace:
    """A walk that fails now and then, and again when it has failed; recoveries wait a while."""
    machine = Implementation(program_of(system))
    (c,) = machine.initial()
    start = c
    steps: list[Step] = []
    eager = chance.choice([0.02, 0.1, 0.3])
    while len(steps) < length:
        possible = list(machine.successors(c))
        wanted = [pair for pair in possible if pair[0].rule is not Rule.FAIL]
        failed = [task.name for task in system.tasks if c.state(task.name).failed]
        if failed and chance.random() < 0.1:
            steps.append(Step(Rule.FAIL, chance.choice(failed)))  # failing again changes nothing
            continue
        if wanted and chance.random() > eager:
            possible = wanted
        if not possible:
            break
        step, c = chance.choice(possible)
        steps.append(step)
    return Trace(start, tuple(steps))


def check(system: PlainSystem, trace: Trace) -> Explanation:
    """The construction's answer, by the plain model; and the library's own verdict on it."""
    explanation = explain(trace)
    labels = list(map(label, trace.steps))
    faulty, explaining = check_explained(system, labels, list(map(label, explanation.trace.steps)))
    assert len(explanation.mapping) == len(faulty)
    for configuration, place in zip(faulty, explanation.mapping, strict=True):
        assert system.output(configuration) == system.output(explaining[place])
    for (now, after), (one, other) in zip(pairwise(faulty), pairwise(explanation.mapping), strict=True):
        assert one <= other
        assert (one != other) == (system.output(now) != system.output(after))  # a committing border step
    verify(trace, explanation)
    return explanation


# --- traces ----------------------------------------------------------------------------------------------------------


def test_a_trace_applied_is_the_execution_of_which_it_is() -> None:
    found = explore(chain(), {"stream0": [[1], [5]]}).exploration
    for number in range(len(found.states)):
        path = found.path(number)
        assert apply(Trace.of(path)) == [path.start, *(c for _, c in path.steps)]


def test_applying_is_as_in_the_plain_model() -> None:
    chance = random.Random(62)
    for _ in range(30):
        system = random_system(chance)
        trace = random_trace(chance, system, 40)
        assert list(map(plain, apply(trace))) == run(system, list(map(label, trace.steps)))


def test_a_step_that_cannot_be_is_named() -> None:
    (start,) = Implementation(program_of(CHAIN)).initial()
    trace = next(all_traces(CHAIN, 0))
    assert is_valid(trace)
    event, border = trace.steps[:2]
    bad = [
        (border, event),
        (event, event),
        (event._replace(numbers=(1, 0)),),
        (event._replace(actions=event.actions[:1]),),
        (event._replace(task="sum1"),),
        (event._replace(task="nobody"),),
        (RECOVERY,),
        (event, Step(Rule.FAIL, "sum0"), border),
    ]
    for steps in bad:
        assert not is_valid(Trace(start, steps)), steps
    with pytest.raises(PointstampError) as caught:
        apply(Trace(start, (event, event)))
    assert str(caught.value).startswith(
        "PS633: step 2 of the trace, I-EVENT sum0: -stream0⟨1, EV(1)⟩ +stream1⟨1, EV(1)⟩"
    )
    with pytest.raises(PointstampError, match="PS633: step 1"):
        explain(Trace(start, (RECOVERY,)))
    assert str(Trace(start, (event, border))).splitlines()[1].startswith("2. I-BORDER sum0: -stream0⟨1, BD⟩")


def test_every_prefix_of_a_valid_trace_is_valid() -> None:
    """Lemma B.2."""
    trace = random_trace(random.Random(2), CHAIN, 40)
    assert all(is_valid(Trace(trace.start, trace.steps[:length])) for length in range(41))


# --- causality -------------------------------------------------------------------------------------------------------


def before_by_definition(trace: Trace) -> list[set[int]]:
    """Definition 6.4 read aloud, on the plain labels: what is produced is found by running, not by numbers."""
    labels = list(map(label, trace.steps))
    configurations = [plain(c) for c in apply(trace)]
    produced = [after[2] - now[2] for now, after in pairwise(configurations)]
    consumed = []
    for (now, after), each in zip(pairwise(configurations), labels, strict=True):
        old, new = dict(now[1]), dict(after[1])
        moved = [key for key in old if each[0].startswith("I-") and key[0] == each[1] and new[key] > old[key]]
        consumed.append({m for m in now[2] for task, stream in moved if m[1] == stream and m[0] == old[task, stream]})
    related: list[set[int]] = []
    for j, each in enumerate(labels):
        direct = set()
        for i, other in enumerate(labels[:j]):
            if "F-RECOVER" in (each[0], other[0]) or each[1] == other[1] or produced[i] & consumed[j]:
                direct |= {i} | related[i]
        related.append(direct)
    return related


def test_the_causal_order_is_that_of_the_definition() -> None:
    chance = random.Random(64)
    for _ in range(40):
        trace = random_trace(chance, random_system(chance), 25)
        found = [{i for i in range(j) if bits >> i & 1} for j, bits in enumerate(happens_before(trace))]
        assert found == before_by_definition(trace)


def test_lemma_6_5_on_all_permutations_that_keep_causality() -> None:
    """They are valid, and end in the same configuration."""
    seen = 0
    for trace in islice(all_traces(CHAIN, 1), 0, None, 25):
        end = apply(trace)[-1]
        for order in islice(permutations_that_keep_causality(trace), 40):
            assert keeps_causality(trace, order)
            assert apply(permuted(trace, order))[-1] == end
            seen += order != tuple(range(len(order)))
    assert seen > 500


def test_all_permutations_that_keep_causality_are_found() -> None:
    for trace in islice(all_traces(CHAIN, 1), 0, None, 200):
        short = Trace(trace.start, trace.steps[:6])
        by_force = [
            order
            for order in permutations(range(len(short.steps)))
            if all(
                order.index(i) < order.index(j) for j, before in enumerate(before_by_definition(short)) for i in before
            )
        ]
        assert sorted(permutations_that_keep_causality(short)) == sorted(by_force)
        assert by_force == [order for order in permutations(range(len(short.steps))) if keeps_causality(short, order)]
    assert not keeps_causality(short, (0, 0))


def test_a_permutation_that_breaks_causality_may_be_no_trace() -> None:
    trace = next(all_traces(CHAIN, 0))
    assert not keeps_causality(trace, (1, 0, *range(2, len(trace.steps))))
    assert not is_valid(permuted(trace, (1, 0, *range(2, len(trace.steps)))))


# --- the construction ------------------------------------------------------------------------------------------------


def test_figure_10_is_explained_as_the_paper_explains_it() -> None:
    wanted = ["EV(1)", "BD", "EV(3)", "F-FAIL", "F-RECOVER", "EV('R')", "EV(3)", "EV(5)", "BD"]

    def told(trace: Trace) -> list[str]:
        return [repr(step.actions[0].content) if step.actions else str(step.rule) for step in trace.steps]

    trace = next(each for each in all_traces(AVERAGES, 1) if told(each) == wanted)
    explanation = check(AVERAGES, trace)
    assert told(explanation.trace) == ["EV(1)", "BD", "EV('R')", "EV(3)", "EV(5)", "BD"]
    assert explanation.mapping == (0, 0, 2, 2, 2, 2, 2, 2, 2, 6)
    first, second = explanation.generations
    assert first == ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (0, 1))
    assert second.stripped == (5, 6, 7, 8)


def test_discarded_steps_are_moved_behind_the_others() -> None:
    """Figure 12: a task that is ahead does not hold back what is kept."""
    chance = random.Random(12)
    moved = 0
    system = PlainSystem(CHAIN.tasks, {"stream0": [[1], [2], [], [3]]})
    for _ in range(60):
        trace = random_trace(chance, system, 40)
        for generation in check(system, trace).generations:
            assert sorted(generation.reordered) == list(generation.split)
            assert generation.reordered[: len(generation.stripped)] == generation.stripped
            moved += generation.reordered != generation.split
            offset = generation.split[0] if generation.split else 0
            steps = tuple(trace.steps[place] for place in generation.split)
            part = Trace(apply(trace)[offset], steps)
            assert keeps_causality(part, [place - offset for place in generation.reordered])  # Lemma B.7
    assert moved > 10, moved


def how_many(system: PlainSystem, failures: int, prefixes: bool) -> int:
    """How many traces `all_traces` has to give, counted by the plain model."""

    @cache
    def from_here(configuration: Any, failures: int) -> int:
        possible = system.steps(configuration, failures=True)
        ways = [(each[0] == "F-FAIL", after) for each, after in possible if failures or each[0] != "F-FAIL"]
        ends = prefixes or all(fails for fails, _ in ways)
        return ends + sum(from_here(after, failures - fails) for fails, after in ways)

    return from_here(system.initial(), failures)


@pytest.mark.parametrize(
    ("system", "failures", "prefixes"),
    [(AVERAGES, 0, True), (AVERAGES, 1, True), (AVERAGES, 2, False), (CHAIN, 0, True), (CHAIN, 1, False)],
)
def test_every_faulty_trace_of_the_small_systems(system: PlainSystem, failures: int, prefixes: bool) -> None:
    traces = list(all_traces(system, failures, prefixes))
    assert len(set(traces)) == len(traces) == how_many(system, failures, prefixes)
    for trace in traces:
        check(system, trace)


def test_a_trace_to_every_configuration_and_one_step_further() -> None:
    """Theorem 6.9 on every explored execution, and by every step of the graph once."""
    for system in (CHAIN, AVERAGES):
        found = explore(tasks_of(system), system.inputs).exploration
        for number, steps in enumerate(found.steps):
            path = Trace.of(found.path(number))
            for step, _ in steps:
                check(system, Trace(path.start, (*path.steps, step)))


def longer(chance: random.Random) -> tuple[PlainSystem, Trace]:
    system = random_system(chance, most_epochs=5, most_events=3)
    return system, random_trace(chance, system, chance.randint(50, 150))


def test_random_longer_traces() -> None:
    chance = random.Random(69)
    recoveries = 0
    for _ in range(60):
        system, trace = longer(chance)
        check(system, trace)
        recoveries += trace.steps.count(RECOVERY)
    assert recoveries > 300


@pytest.mark.soak
def test_ten_thousand_random_longer_traces() -> None:
    chance = random.Random(6_9)
    for _ in range(10_000):
        check(*longer(chance))


@pytest.mark.soak
def test_every_trace_of_the_small_systems_with_more_failures() -> None:
    for trace in all_traces(CHAIN, 2):
        check(CHAIN, trace)
    for system, failures in ((CHAIN, 1), (AVERAGES, 3)):
        for trace in all_traces(system, failures, prefixes=True):
            check(system, trace)


def test_a_trace_from_the_middle_of_an_epoch_cannot_be_explained() -> None:
    """A recovery in it undoes what is not in it. From a common snapshot, it can."""
    trace = next(each for each in all_traces(CHAIN, 1) if each.steps[1].rule is Rule.FAIL)
    middle = Trace(apply(trace)[1], trace.steps[1:])
    assert is_valid(middle)
    with pytest.raises(PointstampError, match="PS633: the trace starts in the middle of an epoch"):
        explain(middle)
    whole = apply(trace)
    common = [place for place, c in enumerate(whole) if lcs(c) == c and 0 < place < len(whole) - 1]
    assert common
    for place in common:
        later = Trace(whole[place], trace.steps[place:])
        verify(later, explain(later))


def test_what_does_not_explain_is_refused() -> None:
    trace = random_trace(random.Random(3), CHAIN, 40)
    good = explain(trace)
    assert good.mapping[-1] > 0
    bad = [
        good._replace(trace=Trace(trace.start, good.trace.steps[:-1])),
        good._replace(trace=trace),
        good._replace(mapping=good.mapping[:-1]),
        good._replace(mapping=(*good.mapping[:-1], 0)),
        good._replace(mapping=tuple(0 for _ in good.mapping)),
        good._replace(mapping=(-1, *good.mapping[1:])),
        good._replace(mapping=(*good.mapping[:-1], 1000)),
        good._replace(trace=good.trace._replace(start=apply(good.trace)[1], steps=good.trace.steps[1:])),
    ]
    for each in bad:
        with pytest.raises(PointstampError, match="PS633"):
            verify(trace, each)
    verify(trace, good)
