"""Sessions, whatever the order in which their values come, and how often they are looked at."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from pointstamp import Complete, Flow


def sessions(times: list[int], gap: int) -> list[tuple[int, tuple[str, int, int, list[int]]]]:
    """What sessions are: times in order, cut where two are further apart than the gap."""
    found: list[list[int]] = []
    for time in sorted(times):
        if found and time - found[-1][-1] <= gap:
            found[-1].append(time)
        else:
            found.append([time])
    return [(each[-1] + gap, ("k", each[0], each[-1], each)) for each in found]


@pytest.mark.parametrize("times", [[0, 5, 10, 16, 22], [0, 4, 9, 14, 20], [3, 9, 6, 30, 34], [7, 1, 13, 19, 25]])
def test_every_order_of_arrival_gives_the_same_sessions(times: list[int]) -> None:
    flow = Flow()
    flow.input("in").keyed().session(5).output("out")
    for order in permutations(times):
        found = flow.run(sources={"in": [(time, ("k", time)) for time in order]})
        assert sorted(found["out"]) == sessions(times, 5), order


def test_a_long_session_is_looked_at_once_in_a_gap() -> None:
    """Its end moves 1,000 times; asked for at each, it would be looked at 1,000 times."""
    delivered: list[Any] = []

    def record(step: dict[str, Any]) -> None:
        delivered.extend(step.get("delivered", ()))

    flow = Flow()
    flow.input("in").keyed().session(50).output("out")
    items = [item for time in range(1_000) for item in ((time, ("k", time)), Complete([time + 1]))]
    found = flow.run(sources={"in": items}, record=record)
    assert found == {"out": sessions(list(range(1_000)), 50)}
    assert len(delivered) <= 22
