"""Kills of the driver, its JVM, or both lose no row and double none (`spark_kills` says in what)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.spark_kills import Trial

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KINDS = ("driver", "jvm", "both")


def killed(folder: Path, seed: int, count: int) -> None:
    trial = Trial(folder, seed)
    for number in range(count):
        trial.live(KINDS[(number + seed) % 3])
    trial.end()
    trial.check()
    assert trial.kills.total() == count


def test_three_kills_lose_no_row_and_double_none(tmp_path: Path) -> None:
    killed(tmp_path, 1, 3)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_kills_lose_no_row_and_double_none(tmp_path: Path, seed: int) -> None:
    killed(tmp_path, seed, 10)
