"""Definition 5.3 and Theorems 6.9 and 6.10 on whole systems, by the library's own claims; and what breaks each of them.

Nothing is counted here, so that a broken model is found by what it breaks: `make mutants` runs this file alone on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from progress.recovery import model, rules, snapshots, traces
from progress.recovery.configuration import Configuration, Part, Program
from progress.recovery.model import explore
from progress.recovery.rules import LocalSteps, Rule
from progress.recovery.snapshots import gce, lcs, out
from progress.recovery.streaming import BORDER, Message, consumption, production
from progress.recovery.tasks import Normal, TaskState
from progress.recovery.traces import apply
from progress.semantics import Failed
from tests.recovery.plain_recovery import PlainTask, latest, random_system
from tests.recovery.recovery_twins import AVERAGE, AVERAGE_INPUTS, chain, tasks_of

JOIN = [model.Task(*task) for task in (
    PlainTask("left", latest, ("a",), "c", 0),
    PlainTask("join", latest, ("b", "c"), "d", 0),
)]  # fmt: skip
SYSTEMS: dict[str, tuple[list[model.Task], dict[str, list[list[Any]]]]] = {
    "chain": (chain(), {"stream0": [[1, 3], [5, 7]]}),
    "average": (AVERAGE, AVERAGE_INPUTS),
    "join": (JOIN, {"a": [[1], [2]], "b": [[3], [4]]}),
    "three tasks": (chain(3), {"stream0": [[1], [2]]}),
}
DEFINITION_5_3 = "Definition 5.3: what is observed by out only grows"
THEOREM_6_9 = "Theorem 6.9: failures are transparent"
THEOREM_6_10 = "Theorem 6.10: every epoch is in the output at last"


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("failures", [False, True])
def test_the_theorems_hold(name: str, failures: bool) -> None:
    tasks, inputs = SYSTEMS[name]
    found = explore(tasks, inputs, failures=failures).check()
    assert found.violations == []
    assert [verdict.property.name for verdict in found.exploration.verdicts] == [DEFINITION_5_3, THEOREM_6_10]
    assert found.transparency.claim == THEOREM_6_9
    epochs = len(next(iter(inputs.values())))
    assert {gce(c) for c in found.exploration.states} == set(range(epochs + 1))  # the claims are about something


def test_the_theorems_hold_of_random_systems() -> None:
    chance = random.Random(610)
    for _ in range(60):
        system = random_system(chance, most_epochs=3, most_events=1)
        found = explore(tasks_of(system), system.inputs, most_configurations=3_000)
        assert found.violations == []


def is_at_rest(c: Configuration) -> bool:
    """Whether no task has failed, or taken anything of an epoch after the greatest common one."""
    taken = {
        message.epoch
        for task, used, numbers in zip(c.program.tasks, c.program.used, c.numbers, strict=True)
        for stream, number in zip(used, numbers, strict=True)
        for message in c.on(stream)
        if message.number < number and stream in task.inputs
    }
    return not any(state.failed for state in c.states) and max(taken) <= gce(c)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_lemmas_of_appendix_b_on_every_step(name: str) -> None:
    """B.6: only a committing border step changes the output. B.9: nor does another one change where a recovery leads.

    B.10: when a border is committed and nobody has taken anything beyond it, the configuration is its own snapshot.
    """
    tasks, inputs = SYSTEMS[name]
    graph = explore(tasks, inputs).exploration
    commits = own = 0
    for number, steps in enumerate(graph.steps):
        before = graph.states[number]
        for step, reached in steps:
            after = graph.states[reached]
            committing = step.rule is Rule.BORDER and gce(before) != gce(after)
            commits += committing
            assert (out(before) != out(after)) == committing
            assert committing or lcs(before) == lcs(after)
            if committing and is_at_rest(after):
                assert lcs(after) == after
                own += 1
    assert commits >= own > 0


# --- six ways to break it --------------------------------------------------------------------------------------------


def offsets_not_reset(c: Configuration) -> Configuration:
    return lcs(c)._replace(numbers=c.numbers)


def torn(c: Configuration) -> Configuration:
    """Each task goes back to its own last snapshot."""
    states = tuple(TaskState(s.archive, Normal(len(s.archive), s.archive[-1])) for s in c.states)
    return lcs(c)._replace(states=states)


def greatest_of_any(c: Configuration) -> int:
    return max(len(state.archive) - 1 for state in c.states)


def never(c: Configuration) -> int:
    return 0


def released_early(c: Configuration) -> frozenset[Message]:
    return frozenset(message for stream in c.messages for message in stream if message.epoch <= gce(c) + 1)


def not_aligned(program: Program, part: Part) -> LocalSteps:
    """A border is taken wherever one is next; what the others still have of the epoch is left behind."""
    if part.state.volatile is None:
        return
    epoch, value = part.state.volatile
    *inputs, output = program.used[part.task]
    for stream in inputs:
        actions = (consumption(stream, epoch, BORDER), production(output, epoch, BORDER))
        after = TaskState((*part.state.archive, value), Normal(epoch + 1, value))
        yield from rules._taken(program, part, Rule.BORDER, actions, after)


BROKEN: dict[str, tuple[Any, str, Callable[..., Any], str, set[str]]] = {
    "offsets not reset": (rules, "lcs", offsets_not_reset, "chain", {THEOREM_6_9, THEOREM_6_10}),
    "no alignment": (model, "i_border", not_aligned, "join", {THEOREM_6_9}),
    "gce always 0": (snapshots, "gce", never, "chain", {THEOREM_6_10}),
    "recovery to a torn snapshot": (rules, "lcs", torn, "chain", {THEOREM_6_10}),
    "output released before its epoch is common": (
        model,
        "out",
        released_early,
        "chain",
        {DEFINITION_5_3, THEOREM_6_9},
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_caught_by_these_claims_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one whose output stays empty by liveness alone: nothing that it does is wrong, and it does nothing."""
    module, attribute, broken, system, claims = BROKEN[name]
    tasks, inputs = SYSTEMS[system]
    monkeypatch.setattr(module, attribute, broken)
    if hasattr(traces, attribute):
        monkeypatch.setattr(traces, attribute, broken)
    found = explore(tasks, inputs)
    assert found.finished
    assert {violation.claim.partition(" (")[0] for violation in found.violations} == claims
    with pytest.raises(Failed) as caught:
        found.check()
    for violation in found.violations:
        assert str(violation) in str(caught.value)
        assert apply(violation.trace) == [violation.path.start, *(c for _, c in violation.path.steps)]


def test_a_recovery_to_an_epoch_that_a_task_has_not_closed_has_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    """gce as the maximum: a(gce) is not there."""
    monkeypatch.setattr(snapshots, "gce", greatest_of_any)
    with pytest.raises(IndexError):
        explore(*SYSTEMS["chain"])


def test_the_execution_that_shows_early_output_is_as_short_as_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "out", released_early)
    found = explore(chain(1), {"stream0": [[1]]})
    violation = next(each for each in found.violations if each.claim == DEFINITION_5_3)
    assert [str(step) for step in violation.trace.steps] == [
        "I-EVENT sum0: -stream0⟨1, EV(1)⟩ +stream1⟨1, EV(1)⟩",
        "F-FAIL sum0",
        "F-RECOVER",
    ]
