"""`ahead=` at an input of a program, and late data that come in again: what the runtime has, said in a program."""

from __future__ import annotations

from typing import Any

import pytest

from pointstamp import Complete, Flow, PointstampError, by_event_time


def test_times_of_an_input_are_bounded_and_the_results_are_the_same() -> None:
    items: list[Any] = []
    for time in range(60):
        items += [(time, (("a", time), 1)), Complete([time + 1])]
    found = []
    for ahead in (None, 1, 4):
        flow = Flow()
        roads = flow.collection("in", ahead=ahead)
        roads.map(lambda value: value[0]).distinct().changes().output("out")
        assert flow.dataflow.ahead == ({} if ahead is None else {"in": ahead})
        found.append([flow.run(sources={"in": items}, engine=engine)["out"] for engine in ("sim", "threads")])
    assert found == [[[(0, ("a", 1))]] * 2] * 3


@pytest.mark.parametrize("ahead", [0, -1, "2", True])
def test_a_bound_that_lets_nothing_in_is_refused_in_its_line(ahead: Any) -> None:
    with pytest.raises(PointstampError, match=r"PS814: test_ahead.py:\d+: input 'in': ahead is"):
        Flow().input("in", ahead=ahead)


def test_what_is_late_is_a_stream() -> None:
    """The policy names the input by which it comes in."""
    flow = Flow()
    flow.input("readings").key_on(str).count().output("counts")
    flow.input("corrections").map(lambda late: {"of": late[0], "value": late[1]}).output("corrected")
    raw = [(3, "a"), (9, "b"), (2, "c")]
    source = by_event_time(raw, lambda each: each[0], value=lambda each: each[1], late="corrections")
    found = flow.run(sources={"readings": source})
    assert found == {"counts": [(3, ("a", 1)), (9, ("b", 1))], "corrected": [(9, {"of": 2, "value": "c"})]}
