"""Random sessions on random graphs with calls: the tracker beside the reference session, step by step."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from multiprocessing import get_context
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import PointstampError, Tracker
from progress.reference.steps import Codes
from progress.summary import NoMinimalTimes
from recursion.reference import Graph as Reference
from recursion.reference import Pointstamp, is_proof
from recursion.reference.session import refusals_of_start
from tests.recursion.random_call_sessions import Player, Step
from tests.recursion.random_calls import plain, plain_pairs, random_calls

SESSIONS_A_GRAPH = 6
CODES = [f"refused: PS50{digit}" for digit in range(1, 10)]
KINDS = [
    *("legal", "broken off", "epochs", "several procedures", "some ready", "eligible", "blocked", "free", "complete"),
    *("not complete", "by a message", "by a request", "by an input", "start refused", "restored", "held back"),
    *("without minimal times", "deeper than four calls"),
    *("told that it moved", "told nothing as it did not move", "told nothing without minimal times"),
]


class Broken(Exception):
    """Raised by the tests themselves inside a step."""


class Played:
    """One session, played by a tracker and by the reference."""

    def __init__(self, rng: random.Random, graph: Graph, player: Player, seen: Counter[str]) -> None:
        self.rng, self.graph, self.player, self.seen = rng, graph, player, seen
        self.session = player.begin()
        self.oracle = self.session.graph
        self._refused_start()
        self.tracker = Tracker(graph, inputs=self.session.inputs, requests=list(self.session.requests))
        assert self.tracker.engine == "frames"
        self.watched = rng.sample(player.places, min(3, len(player.places)))
        self.listen()
        self.ready()
        seen["sessions"] += 1
        seen["epochs"] += self.oracle.epochs is not None
        seen["several procedures"] += len(self.oracle.bodies) > 1

    def play(self) -> None:
        """Some steps, with everything compared after each."""
        rng = self.rng
        eager_to_ask = rng.choice([0.3, 0.8, 1.0])
        self.compare()
        for _ in range(rng.randint(4, 14)):
            if rng.random() < 0.04:
                self.break_off(self.player.step(self.session))
            self.take(self.player.step(self.session))
            self.hear()
            if rng.random() < eager_to_ask:
                self.ready()
            self.compare()
            self.ask()
            if rng.random() < 0.08:
                self.restore()
        self.ready()
        if rng.random() < 0.3:
            self.tracker._check()

    def take(self, step: Step) -> None:
        """The same codes, or none; refused as a whole, which the next comparison shows."""
        codes = self.session.step(**step)
        in_calls = self.rng.random() < 0.5 and not any("PS501" in code for code in codes)
        self.judge(lambda: self.fill(step) if in_calls else self.tracker.apply(**step), codes, f"{step}")
        for edge, time, *_ in step["messages"] if not codes else ():
            self.seen["deeper than four calls"] += len(self.oracle.split(time)[1]) > 4
            assert self.oracle.contains(edge, time)

    def judge(self, act: Callable[[], Any], codes: Codes, what: str) -> None:
        refusal: PointstampError | None = None
        try:
            act()
        except PointstampError as error:
            refusal = error
        if refusal is None:
            assert not codes, f"{what} is taken, by the reference refused with {sorted(codes)}"
            self.seen["legal"] += 1
        else:
            assert refusal.code in codes, f"{what} is refused with {refusal}, by the reference {sorted(codes)}"
            assert refusal.message, "a refusal says what is wrong"
            assert refusal.hint, "a refusal says what would have been legal"
            self.seen.update(f"refused: {code}" for code in codes)

    def fill(self, step: Step, error: Exception | None = None) -> None:
        """Take a step call by call."""
        with self.tracker.step() as filled:
            for edge, time, change in step["messages"]:
                filled.message(edge, time, change)
            for node, time in step["requests"]:
                filled.request(node, time)
            for node, time in step["delivered"]:
                filled.delivered(node, time)
            for edge, times in step["inputs"].items():
                filled.input(edge, times)
            if error is not None:
                raise error

    def break_off(self, step: Step) -> None:
        """An exception inside a step leaves no trace, which the next comparison shows."""
        try:
            self.fill(step, Broken())
        except (Broken, ValueError, TypeError, PointstampError):
            self.seen["broken off"] += 1

    def _refused_start(self) -> None:
        if self.rng.random() < 0.3:
            wrong: Step = {"inputs": {}, "messages": [], "requests": [], "delivered": []}
            self.player.misplace(wrong)
            inputs, requests = wrong["inputs"], wrong["requests"]
            codes = refusals_of_start(self.oracle, inputs, requests)
            self.judge(lambda: Tracker(self.graph, inputs=inputs, requests=requests), codes, f"{inputs}, {requests}")
            self.seen["start refused"] += bool(codes)

    def restore(self) -> None:
        """Go on with a tracker made from a snapshot that went through JSON."""
        self.tracker = Tracker.restore(self.graph, json.loads(json.dumps(self.tracker.snapshot())))
        self.listen()
        self.compare()
        self.tracker._check()
        self.seen["restored"] += 1

    # Subscriptions

    def listen(self) -> None:
        """Subscribe to the watched places that have a frontier; `known` is what follows from what is told of each."""
        self.known: dict[str, set[Any]] = {}
        self.told: list[tuple[str, Any, Any]] = []
        for place in self.watched:
            try:
                self.known[place] = set(self.tracker.frontier(place))
            except NoMinimalTimes:
                with pytest.raises(NoMinimalTimes):
                    self.tracker.subscribe(place, lambda *move: self.told.append(move))
                continue
            self.tracker.subscribe(place, lambda *move: self.told.append(move))

    def hear(self) -> None:
        """What was told adds up to the frontier; where there is none, nothing was told."""
        told, self.told = self.told, []
        moved = {place for place, _, _ in told}
        assert len(moved) == len(told), f"told twice of one step: {told}"
        for place, left, came in told:
            assert left or came
            assert self.known[place].issuperset(left)
            assert self.known[place].isdisjoint(came)
            self.known[place] = (self.known[place] - set(left)) | set(came)
            self.seen["told that it moved"] += 1
        for place, known in self.known.items():
            try:
                assert known == set(self.tracker.frontier(place)), f"{place}: told {told}"
                self.seen["told nothing as it did not move"] += place not in moved
            except NoMinimalTimes:
                assert place not in moved, f"{place} has no minimal times, and {told}"
                self.seen["told nothing without minimal times"] += 1

    # Comparisons

    def compare(self) -> None:
        """What is outstanding and eligible."""
        tracker, session = self.tracker, self.session
        assert {(edge, plain(time)): count for (edge, time), count in tracker.messages().items()} == session.messages
        inputs = {edge: {plain(time) for time in times} for edge, times in tracker.inputs().items() if times}
        assert inputs == {edge: set(times) for edge, times in session.inputs.items() if times}
        self.compare_order(plain_pairs(tracker.pending()), list(session.requests), "pending")
        eligible = session.eligible()
        self.compare_order(plain_pairs(tracker.eligible()), eligible, "eligible")
        self.seen["eligible"] += bool(eligible)

    def ready(self) -> None:
        """Each request once in its life."""
        ready = self.session.newly_ready()
        self.compare_order(plain_pairs(self.tracker.get_ready()), ready, "ready")
        self.seen["some ready"] += bool(ready)

    def compare_order(self, found: list[Pointstamp], expected: list[Pointstamp], what: str) -> None:
        """The same pointstamps, each once, in node order and then in a linear extension."""
        assert sorted(found, key=str) == sorted(expected, key=str), f"{what}: {found}, by the reference {expected}"
        order = self.oracle.nodes.index
        for (node, time), (other, later) in combinations(found, 2):
            assert order(node) <= order(other), f"{what} not in node order: {found}"
            if node == other and self.session.leads((node, later), (node, time)):
                assert self.session.leads((node, time), (node, later)), f"{what} not in the order of time: {found}"

    def ask(self) -> None:
        """What is complete, and what blocks a request or holds a location back."""
        rng, tracker, session = self.rng, self.tracker, self.session
        place, time = self.player.somewhere(self.player.places)
        complete = session.complete(place, time)
        assert tracker.complete(place, time) is complete, f"{place} at {time} is complete: {complete}"
        self.seen["complete" if complete else "not complete"] += 1
        node, at = rng.choice([*session.requests, self.player.somewhere(self.player.nodes)])
        why, blockers = tracker.why(node, at), session.blockers(node, at)
        assert why.blocked is bool(blockers)
        self.compare_holders(why.by, blockers, [(edge, at) for edge in self.oracle.incoming[node]])
        self.seen["blocked" if blockers else "free"] += 1
        if rng.random() < 0.3:
            self.ask_what_is_held(rng.choice(self.player.places))

    def ask_what_is_held(self, place: str) -> None:
        try:
            holding = self.tracker.holding(place)
        except NoMinimalTimes:
            self.seen["without minimal times"] += 1
            return
        assert self.tracker.frontier(place) == tuple(each.time for each in holding)
        for time, by in holding:
            self.compare_holders(by, self.session.holders(place, plain(time)), [(place, plain(time))])
            self.seen["held back"] += 1

    def compare_holders(self, found: Any, expected: Any, ends: Sequence[Pointstamp]) -> None:
        """The same ones, of the same kinds, each with a proof that ends where it must."""
        holders = [((each[0], plain(each[1])), kind) for each, kind, *_ in found]
        assert sorted(holders, key=str) == sorted(expected, key=str), f"{holders}, by the reference {expected}"
        for (start, kind), proof in zip(holders, (each.proof for each in found), strict=True):
            claimed = plain_pairs(proof)
            assert claimed[-1] in ends, f"the proof {claimed} does not end at one of {ends}"
            assert is_proof(self.oracle, claimed, start, claimed[-1], self.session.deepest), f"no proof: {claimed}"
            self.seen[f"by {'an' if kind == 'input' else 'a'} {kind}"] += 1


def run(seeds: Sequence[int]) -> Counter[str]:
    """Sessions on the graphs of these seeds."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        document = random_calls(rng, epochs=True if rng.random() < 0.35 else None)
        graph, player = from_data(document), Player(rng, Reference(document))
        for _ in range(SESSIONS_A_GRAPH):
            try:
                Played(rng, graph, player, seen).play()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{document}") from error
    return seen


def check_spread(seen: Counter[str]) -> None:
    """No code and no kind of answer was rare."""
    few = {kind: seen[kind] for kind in (*CODES, *KINDS) if seen[kind] < seen["sessions"] / 50}
    assert not few, f"{few} of {seen}"


@pytest.mark.slow
def test_random_sessions_are_those_of_the_reference() -> None:
    seen = run(range(350))
    assert seen["sessions"] >= 2_000
    check_spread(seen)


@pytest.mark.soak
def test_many_random_sessions_are_those_of_the_reference() -> None:
    seen: Counter[str] = Counter()
    batches = [range(first, first + 50) for first in range(10**6, 10**6 + 20_000, 50)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for part in pool.map(run, batches):
            seen.update(part)
    assert seen["sessions"] >= 100_000
    check_spread(seen)
