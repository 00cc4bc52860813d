"""What is refused or broken off leaves no trace: not in what is answered, and not in the order of answers.

Random sessions are played twice, once without their refused steps, and must answer alike to the byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError, Tracker, reference
from progress.summary import NoMinimalTimes
from tests.reference.against_reference import Tally
from tests.reference.against_sessions import CONFIGURATIONS, Played, graph_of
from tests.reference.random_graphs import flat_document, random_document
from tests.tracking.tools import scripts


class Listening(Played):
    """A session, of which all answers are kept as they come, in their order."""

    def listen(self, with_refused: bool) -> list[str]:
        """What is said; with the steps that are refused, or without them."""
        assert self.expected is not None
        given = None if self.script.inputs is None else self._inputs(self.script.inputs)
        self._use(self._make(given, self._pointstamps(self.script.requests)))
        if with_refused:
            for edge in reversed(self.oracle.edges):  # consumes what nobody has sent
                with suppress(PointstampError):
                    self.tracker.apply(messages=[(edge, time, -1) for time in self.tracker.frontier(edge)[:1]])
        heard = [self._seen()]
        for action, answer in zip(self.script.actions, self.expected.answers, strict=True):
            match action:
                case ("apply" | "with", step):
                    if not answer[0]:
                        self.tracker.apply(**self._step(step))
                    elif with_refused:
                        with pytest.raises(PointstampError):
                            self.tracker.apply(**self._step(step))
                        self.tally.add("refused")
                case ("break", step):
                    if with_refused:
                        self._break(step, None)
                case ("ready",):
                    heard.append(repr(self.tracker.get_ready()))
                case ("why", node, time):
                    heard.append(repr(self.tracker.why(node, self._time(node, time))))
                case ("holding", location):
                    with suppress(NoMinimalTimes):
                        heard.append(repr(self.tracker.holding(location)))
            heard.append(self._seen())
        return heard

    def _seen(self) -> str:
        tracker = self.tracker
        why = [tracker.why(*request) for request in tracker.pending()]
        told = list(self.moves)
        self.moves.clear()
        return repr((tracker.clock(), tracker.eligible(), tracker.snapshot(), tracker.messages(), why, told))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_what_is_refused_leaves_no_trace(first: int) -> None:
    tally = Tally()
    for seed in range(first, first + 20):
        rng = random.Random(seed)
        document = flat_document(rng) if seed % 3 == 0 else random_document(rng)
        oracle = reference.Graph(document)
        graph, own = graph_of(document, oracle, seed if seed % 5 == 0 and seed % 3 else None)
        for number in range(2):
            script, expected = scripts(rng, oracle)
            upcoming = CONFIGURATIONS[(seed + number) % 4 :] + CONFIGURATIONS[: (seed + number) % 4]
            one, other = (
                Listening(graph, own, oracle, script, expected, upcoming, tally).listen(refused)
                for refused in (True, False)
            )
            assert one == other, f"seed {seed}, session {number} on {document}"
    assert tally.counts["refused"] > 20, tally.counts


def test_names_that_were_refused_change_no_order() -> None:
    graph = Graph("nat").node("a").node("b").edge("a", "b", id="first").edge("a", "b", id="second")

    def answers(before: Callable[[Tracker], Any]) -> Any:
        tracker = Tracker(graph, requests=[("a", 0)], kernel=False)
        before(tracker)
        tracker.apply(requests=[("b", 5)], messages=[("first", 0, 1), ("second", 1, 1)])
        return repr((tracker.why("b", 5), tracker.messages(), tracker.holding("b"), tracker.snapshot()))

    def refuse(tracker: Tracker) -> None:
        for edge in ("second", "first"):
            with pytest.raises(PointstampError):
                tracker.apply(messages=[(edge, 0, -1)])
        with pytest.raises(PointstampError):
            tracker.apply(delivered=[("b", 0)])

    assert answers(refuse) == answers(lambda tracker: None)
