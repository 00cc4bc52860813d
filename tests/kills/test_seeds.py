"""Runs of `sim` that crash and go on put out what they put out without a crash, seed for seed (`seeds.py`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from progress.runtime.durable.checkpoint import resume
from tests.kills.seeds import DELIVERIES, KINDS, crashed


def check(first: int, many: int) -> Counter[str]:
    """The crashes of so many seeds by their kind; each is right."""
    crashes: Counter[str] = Counter()
    for found in crashed(first, many):
        assert found["wrong"] == [], found
        crashes[found["kind"]] += found["crashes"]
    return crashes


@pytest.mark.slow
def test_two_hundred_seeds() -> None:
    crashes = check(0, 200)
    assert crashes.total() > 150
    assert len(crashes) == len(KINDS) * len({*DELIVERIES})


@pytest.mark.soak
def test_ten_thousand_seeds() -> None:
    """In as many processes as there are processors: one of its own each, in which nothing else is to be forked."""
    each = 10_000 // (many := os.cpu_count() or 1) + 1
    commands = [[sys.executable, "-m", "tests.kills.seeds", str(200 + each * part), str(each)] for part in range(many)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    said = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * many, said


def test_a_run_that_goes_on_with_other_choices_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it puts out, or by itself (PS748)."""

    def otherwise(core: Any, feeds: Any, state: Any, codec: Any, chance: Any = None, *more: Any) -> None:
        resume(core, feeds, state, codec, None, *more)

    monkeypatch.setattr("progress.runtime.run.running.resume", otherwise)
    assert any(found["wrong"] for found in crashed(300, 60))
