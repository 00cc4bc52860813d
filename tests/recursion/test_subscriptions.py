"""What subscribers are told in graphs with calls, where a step may take the minimal times of a location away."""

from __future__ import annotations

from typing import Any

import pytest

from graphs import from_data
from progress import Tracker
from progress.summary import NoMinimalTimes
from tests.recursion.random_calls import plain
from tests.recursion.tools import chain

LOSING = chain({"in": "in", "out": "out", "calls": ["a", "b", "e"]}, "in x out", "in e out", "in a b out")


def test_a_step_that_takes_the_minimal_times_away_is_whole_and_is_told_when_they_are_back() -> None:
    """At first [a] comes before all at x. What leaves x returns from a and calls b, and in b nothing is earliest."""
    tracker = Tracker(from_data(LOSING), requests=[("x", ("a",))])
    assert [plain(time) for time in tracker.frontier("x")] == [("a",)]
    told: list[Any] = []
    tracker.subscribe("x", lambda *move: told.append(plain(move)))
    tracker.subscribe("x->out", lambda *move: told.append(plain(move)))
    tracker.apply(messages=[("x->out", ("a",), 1)], delivered=[("x", ("a",))])
    with pytest.raises(NoMinimalTimes):
        tracker.frontier("x")
    assert tracker.messages() == {("x->out", tracker.frontier("x->out")[0]): 1}
    assert told == [], "of x there is nothing to tell, and x->out stays where it is"
    with pytest.raises(NoMinimalTimes):
        tracker.subscribe("x", lambda *move: told.append(plain(move)))
    with tracker.step() as step:  # to b, called after a, and in it to x
        step.consumed("x->out", ("a",))
        step.message("out->ret-a", ())
    assert [each for each in told if each[0] == "x"] == []
    tracker.apply(messages=[("out->ret-a", (), -1), ("a->b", (), 1)])
    tracker.apply(messages=[("a->b", (), -1), ("b->out", (), 1)])
    assert told == [("x", (("a",),), ()), ("x->out", (("a",),), ())], "it is over at both"
    assert tracker.frontier("x") == ()
