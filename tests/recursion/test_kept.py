"""A run of a program that calls itself goes on from any of its checkpoints as if nothing had happened: what sinks are
told of frontiers, too, which at such times may be nothing that can be said.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphs import load
from progress.runtime import Dataflow, Node
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import Host
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from tests.commands.pipelines import FIBONACCI_YAML, SUMS


class Split(Node):
    def on_message(self, edge: str, time: Any, n: Any, out: Any) -> None:
        if n < 2:
            out.send("split->exit", time, [n, time])
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)


class Combine(Node):
    def __init__(self) -> None:
        self.sums: dict[Any, int] = {}

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        self.sums[time] = self.sums.get(time, 0) + value[0]
        out.request(time)

    def on_notify(self, time: Any, out: Any) -> None:
        total = self.sums.pop(time)
        out.send("sums", time, total)
        out.send("combine->exit", time, [total, time])


class Told:
    """A sink that remembers all it hears."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def write_all(self, time: Any, values: Sequence[Any]) -> None:
        self.events += [(time, value) for value in values]

    def complete(self, times: tuple[Any, ...]) -> None:
        self.events.append({"complete": times})


@pytest.mark.parametrize("seed", range(3))
def test_what_sinks_are_told_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(Host, "work", 0)  # a checkpoint after each step
    kept: list[tuple[int, State]] = []
    whole = Told()
    (tmp_path / "fibonacci.yaml").write_text(FIBONACCI_YAML + SUMS)

    def run(sink: Told, keeping: Keeping) -> None:
        dataflow = Dataflow(load(tmp_path / "fibonacci.yaml"), {"split": Split, "combine": Combine})
        numbers = [((0, ()), 4), ((1, ()), 3)]
        Running(dataflow, {"numbers": numbers}, {"sums": sink}, RunOptions("sim", keeping=keeping)).run(seed, 1)

    run(whole, Keeping(lambda state: kept.append((len(whole.events), state)), 0))
    assert len(kept) > 30
    assert sum(isinstance(event, dict) for event in whole.events) > 2
    for told_before, state in kept:
        rest = Told()
        run(rest, Keeping(lambda state: None, 3600, state))
        assert repr(rest.events) == repr(whole.events[told_before:])  # stacks of a graph are equal to its own alone
