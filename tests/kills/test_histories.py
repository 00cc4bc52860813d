"""Six pipelines killed at random instants, in each way of delivery: nothing is lost, doubled, or taken back.

The forty kills are of children that fork, the thousand of `make soak` of the installed command.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.commands.forked import Forked
from tests.kills.histories import MODES, WRONG, History, killed
from tests.kills.of_one_order import Idle, TwoInputs
from tests.kills.of_one_result import Loop, Recursion, Sessions
from tests.kills.program import Program
from tests.kills.programs import PROGRAMS

# Ways to break what is promised, as code that stands before that of a pipeline.
OUTPUTS_ARE_CUT = """
from graphs.running.line_sink import LineFile
LineFile.go_on = LineFile.cut
"""
NOTHING_WAITS_FOR_CHECKPOINTS = """
from graphs.running.line_sink import LineFile
LineFile.holds = property(lambda file: False, lambda file, holds: None)
"""
THE_ORDER_IS_FORGOTTEN = """
from progress.runtime.durable.order_log import OrderLog
begin = OrderLog.__init__
OrderLog.__init__ = lambda log, *given, **named: begin(log, *given, **{**named, "is_read": False})
"""


def counted(histories: list[dict[str, Any]]) -> Counter[str]:
    """How many kills there were of each kind; each history is right."""
    found: Counter[str] = Counter()
    for history in histories:
        assert {name: history[name] for name in WRONG if history[name]} == {}, history["history"]
        found.update(history["kills"])
    return found


@pytest.mark.slow
def test_forty_kills_over_six_pipelines_and_three_modes() -> None:
    kinds = counted([*killed(40, seed=1, each=2, start=Forked)])
    assert kinds.total() >= 40
    assert kinds["working"] > 5


@pytest.mark.soak
def test_a_thousand_kills_over_six_pipelines_and_three_modes() -> None:
    kinds = counted([*killed(1_000, seed=2, each=6)])
    assert kinds.total() >= 1_000
    assert all(kinds[kind] >= 20 for kind in ("starting", "recovery", "again", "working")), kinds
    assert kinds["half joined in round 2 or later"] >= 10, kinds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "program", "delivery", "engine"),
    [
        (OUTPUTS_ARE_CUT, Recursion, "deterministic", "sim"),
        (NOTHING_WAITS_FOR_CHECKPOINTS, TwoInputs, "barrier", "threads"),
        (THE_ORDER_IS_FORGOTTEN, TwoInputs, "deterministic", "threads"),
    ],
)
def test_a_promise_that_is_broken_is_found(
    tmp_path: Path, spoil: str, program: type[Program], delivery: str, engine: str
) -> None:
    """By what is wrong in the end, by what was taken back, or by a run that says that it came out otherwise (PS748)."""
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        history = History(folder, program, delivery, engine, 5, f"spoilt {number}", Forked, spoil)
        try:
            if any(history.run()) or history.taken_back:
                return
        except AssertionError as error:
            if "PS748" in str(error):
                return
            raise
    raise AssertionError("nothing was found")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_value_that_is_lost_doubled_or_overtaken_is_seen(tmp_path: Path, program: type[Program]) -> None:
    history = History(tmp_path, program, MODES[0], "sim", 0, "judged", Forked)
    assert not any(history.run())
    judged, right = history.program.judge, history.rows()
    first = program.outputs[0]
    assert judged({**right, first: right[first][1:]}, may_repeat=False).lost
    doubled = {**right, first: [*right[first], right[first][-1]]}
    assert judged(doubled, may_repeat=False).twice
    assert not any(judged(doubled, may_repeat=True))
    if program not in (Loop, Recursion, Sessions):
        assert judged(
            {**right, first: [right[first][1], right[first][0], *right[first][2:]]}, may_repeat=False
        ).disorder
    if program is not Idle:
        return
    at, value = right["totals"][0]
    assert judged({**right, "totals": [(at, value + 1), *right["totals"][1:]]}, may_repeat=False).disorder
