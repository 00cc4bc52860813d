"""What has lived through two searches for cycles is not searched again, until there is twice as much of it."""

from __future__ import annotations

import gc
import time
from typing import Any

from progress import garbage


class Searched:
    """How many containers searches have looked at, one after the other."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def told(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            generation = info["generation"]
            self.sizes.append(sum(len(gc.get_objects(each)) for each in range(generation + 1)))


def grow(size: int, slowly: bool) -> tuple[list[Any], list[int]]:
    """Make so many lists that stay; what was searched meanwhile."""
    gc.collect()
    searched = Searched()
    kept: list[Any] = []
    gc.callbacks.append(searched.told)
    try:
        for number in range(size):
            kept.append([number])
            if slowly and number % 10_000 == 0:
                time.sleep(0)  # so that another thread may search
    finally:
        gc.callbacks.remove(searched.told)
    return kept, searched.sizes


def test_what_stays_is_not_searched_again_and_again(monkeypatch: Any) -> None:
    monkeypatch.setattr(garbage, "FEW", 20_000)
    size = 300_000
    at_first = len(gc.get_objects())
    gc.freeze()  # what the tests before have left decides how often all is searched
    gc.collect()
    _, usual = grow(size, slowly=False)
    with garbage.short_cycle_searches():
        kept, short = grow(size, slowly=True)
        assert gc.get_freeze_count() > at_first
    assert gc.get_freeze_count() == 0
    large = [each for each in short if each > 20_000]
    assert len(large) <= 4, "all of it is searched when there is twice as much"
    assert len(large) < len([each for each in usual if each > 20_000])
    assert len(kept) == size


def test_cycles_that_are_garbage_late_go_when_all_is_searched(monkeypatch: Any) -> None:
    monkeypatch.setattr(garbage, "FEW", 5_000)
    gone: list[int] = []

    class Cycle:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            gone.append(1)

    with garbage.short_cycle_searches():
        cycles = [Cycle() for _ in range(2_000)]
        gc.collect(1)
        assert gc.get_freeze_count() > 2_000
        cycles.clear()
        until = time.monotonic() + 30
        kept = []
        while len(gone) < 2_000 and time.monotonic() < until:
            kept.append([gone])
            if len(kept) % 1_000 == 0:
                time.sleep(0.001)
    assert len(gone) == 2_000
