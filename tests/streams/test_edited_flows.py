"""A kept program of streams is edited before it goes on: functions may change, what a step is may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphs.streams import Flow
from graphs.streams.stream import Stream
from pointstamp import rounds
from progress.errors import PointstampError
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import Host
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from tests.streams.tools import Left, one_by_one

Write = Callable[[Any, Any], Stream[Any, Any]]
GIVEN = [(time, (key, amount)) for time in range(0, 12, 3) for key, amount in (("x", 3), ("y", time + 1), ("x", 9))]


def add(a: Any, b: Any) -> Any:
    return a + b


STEPS: dict[str, Write] = {
    "reduce": lambda a, b: a.reduce(add, name="step"),
    "reduce otherwise": lambda a, b: a.reduce(lambda one, other: one * other, name="step"),
    "fold": lambda a, b: a.fold(0, add, name="step"),
    "count": lambda a, b: a.count(name="step"),
    "min": lambda a, b: a.min(name="step"),
    "max": lambda a, b: a.max(name="step"),
    "top 2": lambda a, b: a.top(2, name="step"),
    "top 3": lambda a, b: a.top(3, name="step"),
    "count so far": lambda a, b: a.count(accumulate=True, name="step"),
    "fold so far": lambda a, b: a.fold(0, add, merge=add, accumulate=True, name="step"),
    "count within 3": lambda a, b: a.count(accumulate=True, within=3, name="step"),
    "count within 6": lambda a, b: a.count(accumulate=True, within=6, name="step"),
    "session 2": lambda a, b: a.session(2, name="step"),
    "session 1": lambda a, b: a.session(1, name="step"),
    "session 5": lambda a, b: a.session(5, name="step"),
    "stateful": lambda a, b: a.stateful_map(0, lambda state, value: (state + value, state), name="step"),
    "join": lambda a, b: a.join(b, lambda *found: found, name="step"),
    "left join": lambda a, b: a.join(b, lambda *found: found, how="left", name="step"),
    "semi join": lambda a, b: a.join(b, lambda *found: found, how="semi", name="step"),
    "cogroup": lambda a, b: a.cogroup(b, lambda *found: found, name="step"),
    "asof": lambda a, b: a.asof(b, lambda *found: found, name="step"),
    "asof within": lambda a, b: a.asof(b, lambda *found: found, within=2, name="step"),
    "unchanged": lambda a, b: a.reduce(add, name="sum").iterate(lambda v: v.map(lambda p: (p[0], 0)), name="step"),
    "rounds": lambda a, b: a.reduce(add, name="sum").iterate(
        lambda v: v.map(lambda p: (p[0], 0)), until=rounds(2), name="step"
    ),
}
GO_ON = {("reduce", "reduce otherwise"), ("join", "left join"), ("unchanged", "rounds")}
ALIKE = [
    ["reduce", "reduce otherwise", "fold", "count", "min", "max", "top 2", "top 3", "count so far", "session 2"],
    ["count so far", "fold so far", "count within 3", "count within 6", "stateful"],
    ["session 2", "session 1", "session 5", "count"],
    ["join", "left join", "semi join", "cogroup", "asof", "asof within"],
    ["asof within", "asof"],
    ["unchanged", "rounds"],
]
EDITS = sorted({(group[0], other) for group in ALIKE for other in group} | {("count within 3", "count within 6")})


def running(step: str, sink: Left, keeping: Keeping) -> Running:
    """A program of one step, which is called the same, whatever it is."""
    flow: Flow[int] = Flow()
    STEPS[step](flow.input("a").keyed(), flow.input("b").keyed()).output("out")
    sources = {"a": one_by_one(GIVEN), "b": one_by_one(GIVEN)}
    dataflow = flow.dataflow
    return Running(dataflow, sources, {"out": sink}, RunOptions("sim", keeping=keeping))


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_an_edited_step_goes_on_or_is_refused(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    monkeypatch.setattr(Host, "work", 0)
    kept: list[State] = []
    running(before, Left(), Keeping(kept.append, 0.0)).run(None, 1)
    assert len(kept) > 10
    for state in kept[::5]:
        edited = running(after, Left(), Keeping(lambda state: None, 1e9, state))
        if before == after or (before, after) in GO_ON:
            edited.run(None, 1)
        else:
            with pytest.raises(PointstampError) as refused:
                edited.run(None, 1)
            assert refused.value.code == "PS737", refused.value
            assert "\n" not in str(refused.value)
