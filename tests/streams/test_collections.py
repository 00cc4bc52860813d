"""Collections: what they are at each time is what a computation from scratch gives; in loops, round by round."""

from __future__ import annotations

import os

import pytest

from tests.streams.random_collections import check

PROGRAMS = 150


@pytest.mark.parametrize("start", range(0, PROGRAMS, 30))
def test_random_programs_are_what_they_are_from_scratch(start: int) -> None:
    for seed in range(start, start + 30):
        check(seed, ("sim", "sim", "sim", "threads", "asyncio")[seed % 5])


@pytest.mark.soak
def test_ten_thousand_programs_are_what_they_are_from_scratch() -> None:
    start = int.from_bytes(os.urandom(4))
    for seed in range(start, start + 10_000):
        check(seed, ("sim", "sim", "sim", "threads", "asyncio")[seed % 5])
