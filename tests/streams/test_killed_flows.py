"""Programs of streams are killed at random instants of the command: nothing is lost, and nothing there twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.streams.killed_flows import History, Inputs, expected, killed, put_out

MANY = 150


@pytest.mark.slow
def test_after_eight_kills_each_value_is_there_once() -> None:
    check(8, seed=1)


@pytest.mark.soak
def test_after_many_kills_each_value_is_there_once() -> None:
    kinds = check(MANY, seed=2)
    assert min(kinds[kind] for kind in ("starting", "in rounds", "half joined", "working")) > 0, kinds


def check(kills: int, seed: int) -> Counter[str]:
    """Kill so often; the kinds of the kills."""
    kinds: Counter[str] = Counter()
    for found in killed(kills, seed):
        assert (found["lost"], found["twice"]) == ([], []), found["history"]
        kinds.update(found["kills"])
    assert kinds.total() == kills
    return kinds


@pytest.mark.parametrize("spoil", ["lost", "twice"])
def test_a_value_that_is_lost_or_there_twice_is_seen(tmp_path: Path, spoil: str) -> None:
    history = History(tmp_path, "sim", 0, "5")
    assert history.run() == (Counter(), Counter())
    path = tmp_path / "running"
    lines = path.read_text().splitlines(keepends=True)
    value = next(line for line in lines if '"value"' in line)
    place = lines.index(value)
    lines[place : place + 1] = [] if spoil == "lost" else [value, value]
    path.write_text("".join(lines))
    right, found = history.right, put_out(tmp_path)
    assert ((right - found).total(), (found - right).total()) == ((1, 0) if spoil == "lost" else (0, 1))


def test_what_has_to_come_out_covers_every_output() -> None:
    outputs = {each.output for seed in range(3) for each in expected(Inputs(random.Random(seed)))}
    assert outputs == {"sums", "joined", "visits", "running", "ever", "rounds", "ends", "odd", "labels"}
