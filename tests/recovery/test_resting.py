"""A kept run as it is today, in both models: what docs/running.md promises is their verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from progress.recovery.configuration import Program
from progress.recovery.delivery import classify
from progress.recovery.liveness import theorem_6_10
from progress.recovery.model import Implementation, Task, output
from progress.recovery.protocols import DRIFTING, EPOCHS, REST, Releases
from progress.recovery.resting import Resting
from progress.recovery.rules import Rule, is_failure
from progress.recovery.transparency import is_transparent
from progress.semantics.explorer import explore


def running_sum(total: int, number: int) -> tuple[int, list[int]]:
    return total + number, [total + number]


TASKS = [Task("first", running_sum, ["numbers"], "sums", 0), Task("second", running_sum, ["sums"], "totals", 0)]


def program() -> Program:
    return Program(TASKS, {"numbers": [[1, 3], [5, 7]]})


def test_a_run_that_rests_is_a_part_of_the_model_and_failure_transparent() -> None:
    resting = explore(Resting(program()), [theorem_6_10(program(), output())]).check()
    whole = explore(Implementation(program()))
    assert set(resting.states) < set(whole.states)
    assert is_transparent(Resting(program()), is_failure, output()).check()


def test_nothing_goes_on_before_a_recovery_and_borders_wait() -> None:
    machine = Resting(program())
    rules: set[Any] = set()
    for state in explore(machine).states:
        steps = list(machine.successors(state))
        kinds = {step.rule for step, _ in steps}
        rules |= kinds
        assert not {Rule.EVENT, Rule.BORDER} <= kinds
        if any(state.state(task.name).failed for task in TASKS):
            assert kinds <= {Rule.FAIL, Rule.RECOVER}
    assert rules == set(Rule)


def test_what_the_documentation_promises_is_the_verdict() -> None:
    """Who reads along sees nothing taken back; a file that is cut back, as after a power cut, is right at the end."""
    assert classify(DRIFTING).strongest == classify(EPOCHS).strongest == "exactly once"
    assert classify(REST).strongest == "exactly once"
    assert classify(REST._replace(releases=Releases.AT_ONCE)).strongest == "none"
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "running.md").read_text(encoding="utf-8")
    assert "exactly once, and nothing that a reader of a file has seen is taken back, whenever it looks" in page
    assert "may the file become shorter, down to the last checkpoint" in page
    models = (docs / "recovery.md").read_text(encoding="utf-8")
    assert "is right for whoever reads it when the run is over, and taken back before whoever reads along" in models
