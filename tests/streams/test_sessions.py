"""Sessions, whatever the order in which their values come, and how often they are looked at."""

from __future__ import annotations

import sys
from itertools import permutations
from random import Random
from types import FrameType
from typing import Any, cast

import pytest

import graphs.streams.session
from graphs.streams.keys import Keys
from graphs.streams.session import Sessions
from graphs.streams.step import Wiring
from pointstamp import Complete, Flow
from progress.errors import PointstampError
from progress.order import Nat
from progress.runtime.out import Out


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


@pytest.mark.parametrize("keys", [1, 2, 7])
@pytest.mark.parametrize("are_said", [True, False])
def test_a_long_session_is_looked_at_once_in_a_gap(keys: int, are_said: bool) -> None:
    """Its end moves 1,000 times; asked for at each, it would be looked at 1,000 times. So would several in turns."""
    delivered: list[Any] = []

    def record(step: dict[str, Any]) -> None:
        delivered.extend(step.get("delivered", ()))

    flow = Flow()
    flow.input("in").keyed().session(50).output("out")
    items = [
        item
        for time in range(1_000)
        for item in ((time, (time % keys, time)), *([Complete([time + 1])] if are_said else ()))
    ]
    found = flow.run(sources={"in": items}, record=record)
    assert found["out"] == [
        (last + 50, (last % keys, last % keys, last, [*range(last % keys, 1_000, keys)]))
        for last in range(1_000 - keys, 1_000)
    ]
    assert len(delivered) <= 21 + 2 * keys


def test_what_a_session_costs_depends_on_its_values_alone() -> None:
    """Operations of Python a value: 51 keys are always open of 1,000, and which of them ends is not looked for."""
    count = 0

    def counted(frame: FrameType, event: str, of: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename != graphs.streams.session.__file__:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return counted

    costs = {}
    for keys in (10, 40, 100, 1_000):
        flow = Flow()
        flow.input("a").keyed().session(50).output("out")
        given = [item for time in range(2_000) for item in ((time, (time % keys, time)), Complete([time + 1]))]
        dataflow, before, count = flow.dataflow, sys.gettrace(), 0
        sys.settrace(counted)
        try:
            found = dataflow.run(engine="sim", sources={"a": given})
        finally:
            sys.settrace(before)
        assert len(found["out"]) == (2_000 if keys > 50 else keys)
        costs[keys] = count / 2_000
    assert min(costs.values()) > 20, "it is counted"
    assert max(costs.values()) < 500, costs
    assert costs[1_000] < 1.1 * costs[100]


def test_in_which_order_sessions_leave_does_not_depend_on_when_they_are_looked_at() -> None:
    """Those that end together are in the order in which their keys came last."""
    flow = Flow()
    flow.input("in").keyed().session(3).output("out")
    values = [
        (time, (key, time)) for time, keys in enumerate(["abc", "ca", "b", "ebad", "", "", "", "ba"]) for key in keys
    ]
    ends = ["c", "ebad", "ba"]
    for engine in ("sim", "threads", "asyncio"):
        for items in (values, [item for value in values for item in (value, Complete([value[0]]))]):
            found = flow.run(engine=engine, sources={"in": items})["out"]
            assert [key for _, (key, *_) in found] == [*"".join(ends)], engine


class Runtime:
    """What a node has of the runtime, its calls in an order of its own: any in which nothing comes too late."""

    def __init__(self, gap: int, latest: int | None) -> None:
        self.wiring = Wiring("s", Nat(latest), {}, {"": ()})
        self.gap = gap
        self.node = self.made()
        self.asked: set[int] = set()
        self.event = 0
        self.found: list[Any] = []

    def made(self) -> Sessions:
        node = Sessions(Keys(), self.gap, self.wiring)
        node.send = lambda values, out, port="": self.found.extend((self.event, each) for each in values)  # type: ignore[method-assign]
        return node

    def request(self, time: int) -> None:
        assert time >= self.event, "what it asks for is over"
        self.asked.add(time)

    def goes_on(self, state: Any) -> None:
        """The node is another one, which has that state."""
        self.node = self.made()
        self.node.restore(state)

    def run(self, left: list[Any], chance: Random) -> None:
        """Give it the rest of what comes, in this order, and tell it what is complete, sooner or later."""
        left = [*left]
        while left or self.asked:
            ready = [time for time in self.asked if all(time < other for other, _ in left)]
            if ready and (not left or chance.random() < 0.5):
                self.event = min(ready)
                self.asked.discard(self.event)
                self.node.on_notify(self.event, cast(Out, self))
            else:
                self.event, value = left.pop(0)
                self.node.on_messages("in", self.event, [value], cast(Out, self))


OLD = (  # of sessions with gap 5, as they were kept when each was a list: which came at 12, 10, 3, 2, 20, 10
    "Sessions(gap=5)",
    {
        "open": {
            "a": [20, 20, 25, ["a20"], 20, 1],
            "b": [2, 3, 8, ["b3", "b2"], 3, 1, 2, 1],
        },
        "earlier": {"a": [[10, 12, 17, ["a12", "a10", "A10"], 12, 1, 10, 1, 10, 1]]},
        "due": {17: {"a": None}, 8: {"b": None}, 25: {"a": None}},
    },
)


@pytest.mark.parametrize("latest", [None, 26])
def test_a_state_in_which_each_session_is_a_list_is_gone_on_with(latest: int | None) -> None:
    rest = [(2, ("a", "a2")), (7, ("b", "b7")), (16, ("a", "a16")), (21, ("a", "a21")), (9, ("c", "c9"))]
    for seed in range(200):
        chance = Random(seed)
        chance.shuffle(rest)
        runtime = Runtime(5, latest)
        runtime.goes_on(OLD)
        runtime.asked |= {8, 17, 25}
        runtime.run(rest, chance)
        assert runtime.found == [
            (7, ("a", 2, 2, ["a2"])),
            (12, ("b", 2, 7, ["b2", "b3", "b7"])),
            (14, ("c", 9, 9, ["c9"])),
            (26, ("a", 10, 21, ["a10", "A10", "a12", "a16", "a20", "a21"])),
        ], seed
        assert not any(runtime.node.state().values()), "all of it is forgotten"


def test_a_state_of_another_gap_is_refused_in_a_line() -> None:
    with pytest.raises(
        PointstampError, match=r"PS737: it was kept by Sessions\(gap=5\), and the step is Sessions\(gap=4\) now"
    ):
        Runtime(4, None).goes_on(OLD)
