"""Programs of streams against what they mean in plain Python, on all engines."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from tests.streams.programs import program

PARTS = 6
ENGINES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sim", {"engine": "sim"}),
    ("a seed", {"engine": "sim", "seed": 1}),
    ("threads", {"engine": "threads", "workers": 2}),
    ("asyncio", {"engine": "asyncio"}),
)


def check(seed: str, chance: Random) -> int:
    """Run one program on some engines; how many values it gives. What fails names the seed."""
    made = program(Random(seed))
    for name, options in ENGINES:
        if name != "sim" and chance.random() < 0.4:
            continue
        if "seed" in options:
            options = {**options, "seed": chance.randrange(1000)}
        found = made.flow.run(sources=made.sources, **options)
        for output, means in made.means.items():
            assert sorted(found[output]) == means, f"seed {seed!r}, engine {name}, {output}"
    return sum(map(len, made.means.values()))


@pytest.mark.parametrize("part", range(PARTS))
def test_three_hundred_programs_mean_what_they_say(part: int) -> None:
    chance = Random(part)
    sizes = [check(f"{part} {number}", chance) for number in range(300 // PARTS)]
    assert sum(size > 0 for size in sizes) > len(sizes) / 2  # most of them give something


@pytest.mark.soak
def test_ten_thousand_programs_mean_what_they_say() -> None:
    start = int.from_bytes(os.urandom(4))
    chance = Random(start)
    for number in range(10_000):
        check(f"{start} {number}", chance)
