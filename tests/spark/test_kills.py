"""Kills of the driver, its JVM, or both lose no row and double none (`spark_kills` says in what)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.spark_kills import DAYS, Trial

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KINDS = ("driver", "jvm", "both")


def killed(folder: Path, seed: int, count: int, days: int = DAYS, most: int = 6) -> None:
    trial = Trial(folder, seed, days, most)
    for number in range(count):
        trial.live(KINDS[(number + seed) % 3])
    trial.end()
    trial.check()
    assert trial.kills.total() == count


def test_eight_kills_lose_no_row_and_double_none(tmp_path: Path) -> None:
    """Each kind of kill, and a month and a half."""
    killed(tmp_path, 1, 8, days=33, most=3)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_kills_lose_no_row_and_double_none(tmp_path: Path, seed: int) -> None:
    killed(tmp_path, seed, 10)
