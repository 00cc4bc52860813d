"""The implementation model: pinned counts, Figure 10 step by step, the rules one by one, random systems twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from progress.errors import PointstampError
from progress.recovery.configuration import Configuration, Program
from progress.recovery.model import Task, explore
from progress.recovery.rules import Rule, f_fail, f_recover, i_border, i_event, s_step
from progress.recovery.snapshots import gce, lcs, out
from progress.recovery.streaming import (
    BORDER,
    Event,
    Message,
    applied,
    consumption,
    production,
)
from progress.semantics import Failed, Outcome
from tests.recovery.plain_recovery import PlainSystem, random_system
from tests.recovery.recovery_twins import AVERAGE, AVERAGE_INPUTS, chain, plain, plain_message, running_sum, tasks_of


@pytest.mark.parametrize(("failures", "configurations"), [(False, 28), (True, 112)])
def test_two_running_sums(failures: bool, configurations: int) -> None:
    found = explore(chain(), {"stream0": [[1, 3], [5, 7]]}, failures=failures).check()
    assert found.finished
    assert found.configurations == configurations
    assert len(found.outputs) == 3
    assert found.violations == []
    assert str(found).startswith(f"{configurations} configurations, 3 outputs; finished")


@pytest.mark.parametrize(("failures", "configurations"), [(False, 14), (True, 28)])
def test_the_incremental_average_of_figure_2(failures: bool, configurations: int) -> None:
    found = explore(AVERAGE, AVERAGE_INPUTS, failures=failures).check()
    assert found.configurations == configurations
    assert len(found.outputs) == 5


def test_without_a_word_there_are_failures() -> None:
    assert explore(chain(), {"stream0": [[1, 3], [5, 7]]}).configurations == 112


def test_the_outputs_are_the_paper_s_inputs_and_borders_included() -> None:
    found = explore(chain(1), {"stream0": [[4]]})
    event, border = Event.of(4), BORDER
    assert found.outputs == {
        frozenset(),
        frozenset(
            {
                Message(0, "stream0", 1, event),
                Message(1, "stream0", 1, border),
                Message(0, "stream1", 1, event),
                Message(1, "stream1", 1, border),
            }
        ),
    }


# --- Figure 10 -------------------------------------------------------------------------------------------------------


def averages(c: Configuration) -> tuple[Any, list[Any]]:
    """What Figure 10 shows: the current average, None when failed; and the averages in the archive."""

    def mean(state: tuple[int, int]) -> Any:
        return state[0] / state[1] if state[1] else 0

    state = c.state("average")
    value = c.value("average")
    return None if value is None else mean(value), [mean(each) for each in state.archive]  # type: ignore[arg-type]


FIGURE_10: list[tuple[Rule, Any, Any, list[Any]]] = [
    (Rule.EVENT, 1, 1, [0]),
    (Rule.BORDER, None, 1, [0, 1]),
    (Rule.EVENT, 3, 2, [0, 1]),
    (Rule.FAIL, None, None, [0, 1]),
    (Rule.RECOVER, None, 1, [0, 1]),
    (Rule.EVENT, "R", 0, [0, 1]),
    (Rule.EVENT, 3, 3, [0, 1]),
    (Rule.EVENT, 5, 4, [0, 1]),
    (Rule.BORDER, None, 4, [0, 1, 4]),
]


def all_steps(c: Configuration) -> Iterator[tuple[Any, Configuration]]:
    for task in c.program.tasks:
        for rule in (i_event, i_border, f_fail):
            yield from s_step(c, task.name, rule)
    yield from f_recover(c)


def test_figure_10_step_by_step() -> None:
    c = Program(AVERAGE, AVERAGE_INPUTS).initial()
    assert averages(c) == (0, [0])
    outputs = [out(c)]
    for rule, event, average_now, archive in FIGURE_10:
        possible = [
            (step, after)
            for step, after in all_steps(c)
            if step.rule is rule and (event is None or step.actions[0].content == Event.of(event))
        ]
        assert len(possible) == 1, (rule, event)
        c = possible[0][1]
        assert averages(c) == (average_now, archive)
        outputs.append(out(c))
    assert gce(c) == 2
    assert [len(each) for each in outputs] == [0, 0, 5, 5, 5, 5, 5, 5, 5, 13]
    made = sorted(message for message in c.on("averages") if message.content is not BORDER)
    assert [str(message.content) for message in made] == [
        "EV(Fraction(1, 1))",
        "EV(Fraction(3, 1))",
        "EV(Fraction(4, 1))",
    ]
    assert c.numbers_of("average") == {"ints": 5, "resets": 3, "averages": 5}
    assert [step.rule for step, _ in all_steps(c)] == [Rule.FAIL]  # nothing else can happen


# --- the rules one by one --------------------------------------------------------------------------------------------


def after(c: Configuration, *wanted: tuple[str, Rule]) -> Configuration:
    """The configuration after these steps, each the only one of its rule and task."""
    for task, rule in wanted:
        possible = [then for step, then in all_steps(c) if step.rule is rule and step.task in (task, "")]
        assert len(possible) == 1
        c = possible[0]
    return c


def test_action_application_is_definition_4_1() -> None:
    streams = {"in": frozenset({Message(0, "in", 1, Event.of(7))}), "out": frozenset[Message]()}
    take, put = consumption("in", 1, Event.of(7)), production("out", 1, BORDER)
    done = applied([take, put, put], {"in": 0, "out": 0}, streams)
    assert done is not None
    assert done[0] == {"in": 1, "out": 2}
    assert done[1] == {**streams, "out": {Message(0, "out", 1, BORDER), Message(1, "out", 1, BORDER)}}
    assert applied([take], {"in": 1, "out": 0}, streams) is None
    assert applied([consumption("in", 2, Event.of(7))], {"in": 0, "out": 0}, streams) is None
    assert applied([], {"in": 0}, {}) == ({"in": 0}, {})


def test_borders_are_aligned() -> None:
    """Figure 8: an input whose border is next is not read until all are there; then all are taken at once."""
    c = Program([Task("join", running_sum, ["a", "b"], "out", 0)], {"a": [[], [5]], "b": [[1], [2]]}).initial()
    possible = [step for step, _ in all_steps(c) if step.rule is not Rule.FAIL]
    assert [str(step) for step in possible] == ["I-EVENT join: -b⟨1, EV(1)⟩ +out⟨1, EV(1)⟩"]
    c = after(c, ("join", Rule.EVENT))
    possible = [step for step, _ in all_steps(c) if step.rule is not Rule.FAIL]
    assert [str(step) for step in possible] == ["I-BORDER join: -a⟨1, BD⟩ -b⟨1, BD⟩ +out⟨1, BD⟩"]
    c = after(c, ("join", Rule.BORDER))
    assert str(c.state("join")) == "1 in epoch 2, archive {0: 0, 1: 1}"
    assert {step.actions[0].stream for step, _ in all_steps(c) if step.rule is Rule.EVENT} == {"a", "b"}


def test_one_failure_takes_all_back_to_the_common_snapshot() -> None:
    c = Program(chain(), {"stream0": [[1], [5]]}).initial()
    c = after(c, ("sum0", Rule.EVENT), ("sum0", Rule.BORDER), ("sum1", Rule.EVENT), ("sum1", Rule.BORDER))
    common = c
    assert lcs(c) == c
    c = after(c, ("sum0", Rule.EVENT), ("sum0", Rule.BORDER), ("sum1", Rule.EVENT))
    assert gce(c) == 1
    assert c.state("sum0").archive == (0, 1, 6)
    failed = after(c, ("sum1", Rule.FAIL))
    assert failed.value("sum1") is None
    assert "sum1: failed" in str(failed)
    assert [step.rule for step, _ in all_steps(failed) if step.task == "sum1"] == [Rule.FAIL]
    assert after(failed, ("sum1", Rule.FAIL)) == failed
    assert after(failed, ("", Rule.RECOVER)) == common


def test_nothing_recovers_that_has_not_failed() -> None:
    c = Program(chain(), {"stream0": [[1], [5]]}).initial()
    assert list(f_recover(c)) == []


# --- budgets, inputs -------------------------------------------------------------------------------------------------


def test_budgets_are_named() -> None:
    inputs = {"stream0": [[1, 3], [5, 7]]}
    budgets: list[tuple[Outcome, dict[str, Any]]] = [
        (Outcome.TOO_MANY_STATES, {"most_configurations": 50}),
        (Outcome.TOO_MANY_STEPS, {"most_steps": 50}),
    ]
    for outcome, budget in budgets:
        found = explore(chain(), inputs, **budget)
        assert found.outcome is outcome
        assert not found.finished
        assert found.violations == []
        with pytest.raises(Failed, match="not finished: there are more"):
            found.check()
    assert explore(chain(), inputs, most_configurations=112).check().configurations == 112


def test_streams_of_different_length_leave_epochs_open() -> None:
    """What one input alone has of epoch 2 is read; the epoch is not closed, and nothing claims that it is."""
    task = Task("join", running_sum, ["a", "b"], "out", 0)
    found = explore([task], {"a": [[1], [2]], "b": [[]]}).check()
    assert max(map(gce, found.exploration.states)) == 1
    assert {state.value("join") for state in found.exploration.states} == {None, 0, 1, 3}


def test_a_stream_that_nobody_reads_is_there_and_holds_nothing_up() -> None:
    found = explore(chain(1), {"stream0": [[1], [2]], "aside": [[7]]}).check()
    assert found.configurations == explore(chain(1), {"stream0": [[1], [2]]}).configurations
    assert max(map(gce, found.exploration.states)) == 2
    assert any(message.stream == "aside" for output in found.outputs for message in output)


def test_no_epochs_is_one_configuration() -> None:
    assert explore(chain(1), {"stream0": []}, failures=False).check().configurations == 1


def test_states_and_events_that_cannot_be_hashed() -> None:
    """Lists and dictionaries are values like others, and a function that changes what it is given does no harm."""

    def collect(state: list[int], event: dict[str, int]) -> tuple[list[int], list[dict[str, int]]]:
        state.append(event["n"])
        event["seen"] = len(state)
        return state, [event]

    tasks = [Task("one", collect, ["in"], "mid", []), Task("two", collect, ["mid"], "out", [])]
    found = explore(tasks, {"in": [[{"n": 1}, {"n": 3}], [{"n": 5}, {"n": 7}]]}).check()
    assert found.configurations == 112
    assert len(found.outputs) == 3


def test_a_function_is_called_once_for_each_state_and_event() -> None:
    """However many configurations have a task in one state before one event, and however often all go back."""
    calls: list[tuple[int, int]] = []

    def noted(state: int, event: int) -> tuple[int, list[int]]:
        calls.append((state, event))
        return state + event, [state + event]

    tasks = [Task(f"p{n}", noted, [f"s{n}"], f"s{n + 1}", 1000 * n) for n in range(3)]
    found = explore(tasks, {"s0": [[1, 2], [3, 4]]}).check()
    assert found.configurations > 500
    assert len(calls) == len(set(calls)) == 12


def test_what_a_function_raises_passes_on_with_a_note() -> None:
    def bad(state: int, event: int) -> tuple[int, list[int]]:
        raise KeyError(event)

    with pytest.raises(KeyError) as caught:
        explore([Task("p", bad, ["in"], "out", 0)], {"in": [[4]]})
    assert caught.value.__notes__ == ["raised by the function of task 'p' for 4 in state 0"]


def endless(state: int, event: int) -> Any:
    def forever() -> Iterator[int]:
        while True:
            yield event

    return state, forever()


def task(**changed: Any) -> Task:
    return Task(**{"name": "p", "function": running_sum, "inputs": ["in"], "output": "out", "initial": 0, **changed})


FINE: dict[str, Any] = {"in": [[1]]}


@pytest.mark.parametrize(
    ("tasks", "inputs", "said"),
    [
        ([], FINE, "PS631: there is no task (give one at least)"),
        (7, FINE, "PS631: 7 are not tasks (a list of tasks)"),
        (["p"], FINE, "PS631: 'p' is not a task (Task(name, function, inputs, output, initial))"),
        ([task(), task(output="more")], FINE, "PS631: there are 2 tasks named 'p' (give each its own name)"),
        ([task(inputs="in")], FINE, "PS631: task 'p' reads 'in' (a list of names of streams)"),
        (
            [task(inputs=[])],
            FINE,
            "PS631: task 'p' reads no stream (name each stream that it reads once, one at least)",
        ),
        (
            [task(inputs=["in", "in"])],
            FINE,
            "PS631: task 'p' reads a stream twice (name each stream that it reads once",
        ),
        (
            [task(inputs=["in", "typo"])],
            FINE,
            "PS631: task 'p' reads 'typo', on which nothing is ever put (name the out",
        ),
        ([task(function=None)], FINE, "that is not a text, or a function that cannot be called"),
        (
            [task(output="in")],
            FINE,
            "PS631: the stream 'in' is written by the outside and by task 'p' (give each stream",
        ),
        (
            [task(), task(name="q")],
            FINE,
            "PS631: the stream 'out' is written by task 'p' and by task 'q' (give each stream one writer)",
        ),
        (
            [task(inputs=["in", "back"]), task(name="q", inputs=["out"], output="back")],
            FINE,
            "PS631: what tasks write comes back to them: 'p', 'q' (an acyclic graph of tasks)",
        ),
        ([task(inputs=["in", "out"])], FINE, "PS631: what tasks write comes back to them: 'p' (an acyclic graph of ta"),
        ([task()], [[1]], "PS632: [[1]] are not inputs (for each stream its epochs"),
        ([task()], {"in": 7}, "PS632: the input 'in' is 7 (for each stream its epochs"),
        ([task()], {"in": [1, 3]}, "PS632: epoch 1 of 'in' is 1 (for each stream its epochs"),
        ([task()], {"in": [[1], "ab"]}, "PS632: epoch 2 of 'in' is 'ab' (for each stream its epochs"),
        (
            [task(function=lambda state, event: state)],
            FINE,
            "PS631: the function of task 'p' answers 0 (a pair: the ne",
        ),
        (
            [task(function=lambda state, event: (state, 7))],
            FINE,
            "PS631: the function of task 'p' answers (0, 7) (a pai",
        ),
        (
            [task(function=lambda state, event: (state, "ab"))],
            FINE,
            "PS631: the function of task 'p' answers (0, 'ab')",
        ),
        (
            [task(function=lambda state, event: (state, {1, 2}))],
            FINE,
            "PS631: the function of task 'p' answers (0, {1, 2",
        ),
        (
            [task(function=endless)],
            FINE,
            "PS631: the function of task 'p' makes more than 10,000 events of one (a list",
        ),
    ],
)
def test_what_cannot_be_modelled_is_refused_in_one_line(tasks: Any, inputs: Any, said: str) -> None:
    with pytest.raises(PointstampError) as caught:
        explore(tasks, inputs)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


# --- against the plain model -----------------------------------------------------------------------------------------


def differ_in_volatile_values_alone(system: PlainSystem, configurations: set[Any]) -> bool:
    """Whether failures make two configurations one, which therefore have fewer failed twins."""
    without = {(tuple(archive for archive, _ in states), *rest) for states, *rest in configurations}
    return len(without) < len(configurations)


def test_300_random_systems_are_enumerated_alike() -> None:
    """Not only counts: the very sets of configurations and of outputs, with and without failures."""
    chance = random.Random(8)
    seen = {"merged": 0, "separate": 0}
    tried = 0
    while tried < 300:
        system = random_system(chance)
        quiet = system.reachable(failures=False, most=150)
        if quiet is None:
            continue
        tried += 1
        every = system.reachable(failures=True)
        assert every is not None
        for configurations, failures in ((quiet, False), (every, True)):
            found = explore(tasks_of(system), system.inputs, failures=failures).check()
            assert {plain(c) for c in found.exploration.states} == configurations
            assert found.configurations == len(configurations)
            outputs = {frozenset(map(plain_message, output)) for output in found.outputs}
            assert outputs == {system.output(c) for c in configurations}
        twins = len(quiet) * 2 ** len(system.tasks)
        merged = differ_in_volatile_values_alone(system, quiet)
        seen["merged" if merged else "separate"] += 1
        assert len(every) < twins if merged else len(every) == twins
    assert seen["merged"] >= 5, seen
