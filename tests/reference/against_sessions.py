"""Random sessions: every engine of the `Tracker` beside the reference, step by step.

`python -m tests.reference.against_sessions SEED` plays the sessions of one seed again. A disagreement is raised with
the seed, the configurations, and a call of `replay` with the graph and the session up to there.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import pairwise, repeat
from multiprocessing import get_context
from pprint import pformat
from typing import Any

from graphs import Graph, from_data
from progress import PointstampError, check_conditions, reference
from progress.reference.session import Closures
from progress.reference.times import contains
from progress.tracker import Tracker
from tests.reference.against_reference import Tally
from tests.reference.own_twins import built_in, own_twin
from tests.reference.random_graphs import flat_document, random_document
from tests.reference.random_sessions import Script, State, Step, Told, random_session, random_start, told

Configuration = tuple[str, bool]  # engine, kernel
CONFIGURATIONS: tuple[Configuration, ...] = (
    ("eager", False),
    ("hierarchical", False),
    ("eager", True),
    ("hierarchical", True),
)
SESSIONS_A_GRAPH = 8
WITHOUT_END = ("PS601", "PS604")  # what an engine may say where the reference does not come to rest


class Broken(Exception):
    """Raised by the tests themselves inside a step."""


class Disagreement(AssertionError):
    """An engine and the reference disagree, or an engine failed; `case` is what `replay` takes."""

    def __init__(self, message: str, case: tuple[Any, ...]) -> None:
        document, script, configurations, twin_seed = case
        graph = pformat(document, width=118, sort_dicts=False)
        super().__init__(f"{message}\nreplay(\n{graph},\n{script!r},\n{configurations},\n{twin_seed})")
        self.case = case

    def __reduce__(self) -> Any:
        """To travel from one process to another."""
        return type(self), (str(self).partition("\n")[0], self.case)


class Played:
    """One session on one graph, played by a tracker that changes its configuration at every snapshot."""

    def __init__(
        self,
        graph: Graph,
        own: set[str],
        oracle: reference.Graph,
        script: Script,
        expected: Told | None,
        configurations: Sequence[Configuration],
        tally: Tally,
    ) -> None:
        self.graph = graph
        self.own = own
        self.oracle = oracle
        self.script = script
        self.expected = expected
        self.upcoming = list(configurations)
        self.tally = tally
        self.moves: list[tuple[str, Any, Any]] = []  # what subscriptions said since the last step
        self.done = 0  # how many actions were played

    def play(self) -> None:
        """Play all of it; AssertionError at the first disagreement, or another exception of an engine that fails."""
        script, expected = self.script, self.expected
        assert expected is not None
        for (inputs, requests), codes in zip(script.refused_starts, expected.starts, strict=True):
            self._refused(lambda: self._make(self._inputs(inputs), self._pointstamps(requests)), codes)  # noqa: B023
            self.tally.add("start: refused")
        self.now = expected.first
        given = None if script.inputs is None else self._inputs(script.inputs)
        self._use(self._make(given, self._pointstamps(script.requests)))
        self._compare_state()
        for action, answer in zip(script.actions, expected.answers, strict=True):
            self.done += 1
            getattr(self, f"_{action[0]}")(*action[1:], answer)
        self._compare_state()
        self.tracker._check()

    def survive(self) -> None:
        """Play what the reference cannot follow. The engine may say so too, by name; it may not fail."""
        script = self.script
        given = None if script.inputs is None else self._inputs(script.inputs)
        try:
            tracker = self._make(given, self._pointstamps(script.requests))
            for action in script.actions:
                if action[0] in ("apply", "with"):
                    with suppress_refusals():
                        tracker.apply(**self._step(action[1]))
            tracker.clock()
        except PointstampError as error:
            if error.code not in WITHOUT_END:
                raise
            self.tally.add("without end: named")
        else:
            self.tally.add("without end: served")

    # The tracker

    def _make(self, inputs: Any, requests: Any) -> Tracker:
        return self._configured(
            lambda engine, kernel: Tracker(self.graph, inputs=inputs, requests=requests, engine=engine, kernel=kernel)
        )

    def _configured(self, make: Callable[[str, bool | None], Tracker]) -> Tracker:
        """A tracker of the first configuration to come; without the kernel where that cannot serve this graph."""
        engine, kernel = self.upcoming[0]
        try:
            tracker = make(engine, kernel)
        except PointstampError as error:
            if not kernel or error.code != "PS512":
                raise
            tracker = make(engine, None)
        assert tracker.engine == engine
        assert kernel or not tracker.kernel
        self.tally.add(f"tracker: {engine}{' on the kernel' if tracker.kernel else ''}")
        return tracker

    def _use(self, tracker: Tracker) -> None:
        self.tracker = tracker
        for location in self.script.watched:
            tracker.subscribe(location, lambda *move: self.moves.append(move))

    # Times and pointstamps as the engine has them

    def _time(self, location: Any, time: Any) -> Any:
        domain = self.oracle.domain.get(location) if isinstance(location, str) else None
        if domain is None or location in self.own or not contains(domain, time):
            return time
        return built_in(domain, time)

    def _pointstamps(self, items: Any) -> Any:
        """With times as the engine has them; what has another form is left as it is."""
        if not isinstance(items, list):
            return items
        return [
            (item[0], self._time(item[0], item[1]), *item[2:]) if isinstance(item, tuple) and len(item) > 1 else item
            for item in items
        ]

    def _inputs(self, inputs: Any) -> Any:
        if not isinstance(inputs, dict):
            return inputs
        return {
            edge: [self._time(edge, time) for time in times] if isinstance(times, list) else times
            for edge, times in inputs.items()
        }

    def _step(self, step: Step) -> Step:
        return {
            key: self._inputs(items) if key == "inputs" else self._pointstamps(items) for key, items in step.items()
        }

    # Actions

    def _apply(self, step: Step, answer: Any) -> None:
        self._take(lambda: self.tracker.apply(**self._step(step)), *answer)

    def _with(self, step: Step, answer: Any) -> None:
        def take() -> None:
            with self.tracker.step() as open_step:
                _fill(open_step, self._step(step))

        self._take(take, *answer)

    def _take(self, take: Callable[[], None], codes: frozenset[str], after: State) -> None:
        before, self.now = self.now, after
        if codes:
            self._refused(take, codes)
            for code in codes:
                self.tally.add(f"refused: {code}")
            assert not self.moves, f"subscribers were told {self.moves} of a refused step"
            return  # that it left no trace, the comparison after a later step shows
        take()
        self.tally.add("step: taken")
        moved = {
            (location, frozenset(old - new), frozenset(new - old))
            for location in self.script.watched
            if (old := set(before.clock.get(location, ()))) != (new := set(after.clock.get(location, ())))
        }
        told_of = [(location, frozenset(left), frozenset(came)) for location, left, came in self.moves]
        assert len(told_of) == len(moved), f"subscribers were told {told_of}, expected {moved}"
        assert set(told_of) == moved, f"subscribers were told {told_of}, expected {moved}"
        self.tally.add("subscription: moved", len(moved))
        self.moves.clear()
        self._compare_state()

    def _break(self, step: Step, answer: None) -> None:
        try:
            with self.tracker.step() as open_step:
                _fill(open_step, self._step(step))
                raise Broken
        except Broken:
            self.tally.add("step: broken off")
        assert not self.moves

    def _snapshot(self, answer: None) -> None:
        snapshot = self.tracker.snapshot()
        if not self.own:  # times of the user's own are what they are
            snapshot = json.loads(json.dumps(snapshot))
        self.tracker._check()
        self.upcoming.append(self.upcoming.pop(0))
        self._use(
            self._configured(lambda engine, kernel: Tracker.restore(self.graph, snapshot, engine=engine, kernel=kernel))
        )
        self.tally.add("snapshot: restored")
        self._compare_state()

    def _ready(self, answer: Any) -> None:
        ready = self.tracker.get_ready()
        self._compare_order(ready, answer, "ready")
        self.tally.add("ready: some" if ready else "ready: none")

    def _complete(self, location: str, time: Any, answer: bool) -> None:
        found = self.tracker.complete(location, self._time(location, time))
        assert found is answer, f"complete is {found}, expected {answer}"
        self.tally.add(f"complete: {answer}")

    def _why(self, node: str, time: Any, answer: Any) -> None:
        time = self._time(node, time)
        why = self.tracker.why(node, time)
        assert why.blocked is bool(answer), f"{why}, expected {answer}"
        self._compare_holders(why.by, answer, [(edge, time) for edge in self.oracle.incoming[node]])
        self.tally.add(f"why: {'blocked' if answer else 'free'}")

    def _holding(self, location: str, answer: Any) -> None:
        holding = self.tracker.holding(location)
        assert len(holding) == len(answer)
        for time, by in holding:
            assert time in answer, f"{time} is not minimal, expected {answer}"
            self._compare_holders(by, answer[time], [(location, time)])
            self.tally.add("holding: some")

    # Comparisons

    def _refused(self, act: Callable[[], Any], codes: frozenset[str]) -> None:
        try:
            act()
        except PointstampError as refusal:
            error = refusal
        else:
            raise AssertionError(f"not refused, expected one of {sorted(codes)}")
        assert error.code in codes, f"refused with {error}, expected one of {sorted(codes)}"
        assert error.message, "a refusal says what is wrong"
        assert error.hint, "a refusal says what would have been legal"

    def _compare_state(self) -> None:
        tracker, now = self.tracker, self.now
        clock = tracker.clock()
        for location, times in clock.items():
            assert len(times) == len(set(times)), f"{location} twice in {clock}"
        found = {location: set(times) for location, times in clock.items()}
        assert found == {location: set(times) for location, times in now.clock.items()}, (
            f"clock {clock}, expected {now.clock}"
        )
        assert list(clock) == [location for location in self.oracle.locations if location in clock], f"order of {clock}"
        for location in self.script.watched:
            assert tracker.frontier(location) == clock.get(location, ())
        self._compare_order(tracker.eligible(), now.eligible, "eligible")
        assert dict(tracker.messages()) == now.messages, f"messages {tracker.messages()}, expected {now.messages}"
        pending = list(tracker.pending())
        assert len(pending) == len(now.requests), f"pending {pending}, expected {now.requests}"
        assert set(pending) == set(now.requests), f"pending {pending}, expected {now.requests}"
        inputs = {edge: set(times) for edge, times in tracker.inputs().items() if times}
        assert inputs == {edge: set(times) for edge, times in now.inputs.items() if times}, (
            f"inputs {inputs}, expected {now.inputs}"
        )
        self.tally.add("step: state compared")

    def _compare_order(self, found: Sequence[Any], expected: Sequence[Any], what: str) -> None:
        """The same pointstamps, each once, in node order and then in a linear extension."""
        assert set(found) == set(expected), f"{what} {found}, expected {expected}"
        assert len(found) == len(expected), f"{what} {found}, expected {expected}"
        order = self.oracle.nodes.index
        for (node, time), (following, later) in pairwise(found):
            assert order(node) <= order(following), f"{what} not in node order: {found}"
            below = node == following and self.oracle.less_equal(node, later, time)
            assert not below, f"{what} not in a linear extension: {found}"
        if len(found) > 2:
            for position, (node, time) in enumerate(found):
                for other, later in found[position + 1 :]:
                    assert node != other or not self.oracle.less_equal(node, later, time), f"{what}: {found}"

    def _compare_holders(self, found: Any, expected: Any, ends: Sequence[Any]) -> None:
        """The same blockers of the same kinds, each once, and each with a proof that ends where it must."""
        holders = [(tuple(blocker.pointstamp), blocker.kind) for blocker in found]
        assert set(holders) == set(expected), f"held by {holders}, expected {expected}"
        assert len(holders) == len(expected), f"held by {holders}, expected {expected}"
        for blocker in found:
            proof = [tuple(pair) for pair in blocker.proof]
            start = tuple(blocker.pointstamp)
            assert proof[0] == start, f"the proof {proof} does not start at {start}"
            assert proof[-1] in ends, f"the proof {proof} does not end at one of {ends}"
            if not reference.is_proof(self.oracle, proof, start, proof[-1]):
                assert is_walk(self.oracle, proof), f"no proof: {proof}"
                simple = reference.could_result_in(self.oracle, start, proof[-1])
                assert not simple, f"the proof {proof} passes a location twice and need not"
                self.tally.add("proof: passes a location twice")
            self.tally.add(f"held by: {blocker.kind}")


def is_walk(oracle: reference.Graph, walk: Sequence[Any]) -> bool:
    """Whether each pointstamp can be reached from the one before: in one step, or where it is, by growing or by rounds
    of a cycle that falls (there may be as many of them as the fall is deep, so they are not listed)."""
    return all(
        any(location == y and oracle.less_equal(y, v, u) for location, vs in oracle.steps(x, t) for v in vs)
        or (x == y and reference.is_in(oracle, (x, u), reference.close(oracle, [(x, t)])))
        for (x, t), (y, u) in pairwise(walk)
    )


@contextmanager
def suppress_refusals() -> Iterator[None]:
    """Let steps be refused."""
    try:
        yield
    except PointstampError as error:
        if not error.code.startswith("PS50"):
            raise


def _fill(open_step: Any, step: Step) -> None:
    """Tell an open step what it contains, call by call."""
    for node, time in step["requests"]:
        open_step.request(node, time)
    for edge, time, change in step["messages"]:
        if change == 1:
            open_step.message(edge, time)
        elif change < 0:
            open_step.consumed(edge, time, -change)
        else:
            open_step.message(edge, time, change)
    for edge, times in step["inputs"].items():
        open_step.input(edge, times)
    for node, time in step["delivered"]:
        open_step.delivered(node, time)


def compare(seed: int, tally: Tally, trackers: int = len(CONFIGURATIONS)) -> None:
    """One random graph, and sessions on it, each played by so many trackers, from one configuration on each."""
    rng = random.Random(seed)
    document = flat_document(rng) if seed % 3 == 0 else random_document(rng)
    oracle = reference.Graph(document)
    closures = Closures(oracle)
    twin_seed = rng.randrange(10**6) if seed % 3 and rng.random() < 0.3 else None
    graph, own = graph_of(document, oracle, twin_seed)
    tally.add("graph: of the user's own" if twin_seed is not None else "graph: built-in")
    for domain in set(oracle.domain.values()):
        tally.add(f"domain: {domain[0]}")
    if seed % 8 == 0 and not own:
        tally.add(f"condition 2: {check_conditions(graph).condition_2.holds}")
    for number in range(SESSIONS_A_GRAPH):
        script = random_start(rng, oracle)
        expected: Told | None = None
        try:
            expected = random_session(rng, oracle, closures, script)
            tally.add("session")
        except reference.TooManySteps:
            tally.add("discarded: the reference did not finish")
            if seed % 49:
                continue  # to find that there is no end may take an engine a second
        for first in range(number, number + (trackers if expected else 1)):
            first %= len(CONFIGURATIONS)
            configurations = CONFIGURATIONS[first:] + CONFIGURATIONS[:first]
            played = Played(graph, own, oracle, script, expected, configurations, tally)
            try:
                if expected is None:
                    played.survive()
                else:
                    played.play()
            except Exception as error:
                if expected is not None:
                    script.actions = script.actions[: played.done]
                message = f"seed {seed}, from {configurations[0]} on, now {played.upcoming[0]}: {error!r}"
                raise Disagreement(message, (document, script, configurations, twin_seed)) from error


def graph_of(document: dict[str, Any], oracle: reference.Graph, twin_seed: int | None) -> tuple[Graph, set[str]]:
    """The graph of the document, or with a seed its twin of the user's own; and the locations whose domains are own."""
    if twin_seed is None:
        return from_data(document), set()
    return own_twin(random.Random(twin_seed), oracle)


def replay(
    document: dict[str, Any], script: Script, configurations: Sequence[Configuration], twin_seed: int | None = None
) -> None:
    """Play a session again, as a disagreement prints it; what it says may be shortened by hand."""
    oracle = reference.Graph(document)
    graph, own = graph_of(document, oracle, twin_seed)
    try:
        expected: Told | None = told(oracle, script)
    except reference.TooManySteps:
        expected = None
    played = Played(graph, own, oracle, script, expected, configurations, Tally())
    if expected is None:
        played.survive()
    else:
        played.play()


def compare_seeds(seeds: Sequence[int], trackers: int = len(CONFIGURATIONS)) -> Tally:
    """Many random graphs with their sessions; the first disagreement is raised."""
    tally = Tally()
    for seed in seeds:
        compare(seed, tally, trackers)
    return tally


def compare_in_parallel(first: int, sessions: int, trackers: int, processes: int = 2) -> Tally:
    """At least so many sessions from the seed `first` on, over several processes."""
    tally = Tally()
    chunk = 10
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        while tally.total < sessions:
            batches = [range(first + number * chunk, first + (number + 1) * chunk) for number in range(8 * processes)]
            first += 8 * processes * chunk
            for part in pool.map(compare_seeds, batches, repeat(trackers)):
                tally.merge(part)
    return tally


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(compare_seeds([int(argument)]).counts)
