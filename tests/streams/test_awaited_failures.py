"""What is awaited and fails, where failures become dead letters: only what fails by itself is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from graphs.streams import Flow
from progress.runtime import DeadLetter


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_what_is_awaited_fails_by_itself_where_failures_become_dead_letters(engine: Any, at_once: int) -> None:
    async def checked(number: int) -> int:
        await asyncio.sleep(0.001 * (number % 3))
        if number % 5 == 0:
            raise ValueError(number)
        return number

    flow: Flow[int] = Flow(on_error=DeadLetter("dead"))
    flow.input("numbers").map_async(checked, at_once=at_once).output("checked")
    numbers = [(time, number) for time in range(3) for number in range(12)]
    found = flow.run(engine=engine, sources={"numbers": numbers})
    assert Counter(found["checked"]) == Counter(each for each in numbers if each[1] % 5)
    failed = Counter((time, failure.value) for time, failure in found["dead"])
    assert failed == Counter(each for each in numbers if each[1] % 5 == 0)
