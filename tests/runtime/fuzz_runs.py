"""Random runs of the runtime, judged by Theorem 2: a notification is never early, and in the end never missing.

A seed decides the program (`tests.runtime.random_programs`) and every choice of the engine `sim`. The judge sees what
happened as steps alone and compares times by the references, which share no code with the runtime.

`python -m tests.runtime.fuzz_runs SEED` runs a seed again and prints its steps.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from typing import Any

from progress import PointstampError, check_conditions, reference
from progress.runtime import Dataflow, NodeFailed
from progress.runtime.actions.core import WaitsForEver
from progress.runtime.failure import dead_letters
from progress.semantics import is_behaviour
from progress.topology import NO_NODE, Network
from progress.tracker import Tracker
from tests.reference.against_reference import Tally
from tests.runtime.as_they_are import as_they_are
from tests.runtime.random_programs import AtOrBefore, Boom, Case

Step = dict[str, Any]

AHEAD = (None, 1, None, 3)  # how many times of an input may be in flight
WITHOUT_END = ("PS601", "PS604")  # what an engine may say where the answer has no minimal times, or too many


# --- the judge -------------------------------------------------------------------------------------------------------


class Judge:
    """Theorem 2, on the steps of a run: told of each before it is taken.

    After a notification of t at p, nothing at or before t is queued on an edge that enters p, nor ever put there. Each
    notification answers a request, once.
    """

    def __init__(self, network: Network, at_or_before: AtOrBefore) -> None:
        self.network = network
        self.at_or_before = at_or_before
        self.targets = {
            edge: None if target == NO_NODE else network.nodes[target]
            for edge, target in zip(network.edges, network.targets, strict=True)
        }
        self.queues: dict[str, Counter[Any]] = {edge: Counter() for edge in network.edges}
        self.told: dict[str, dict[Any, None]] = {node: {} for node in network.nodes}
        self.pending: set[tuple[str, Any]] = set()
        self.record: list[Step] = []
        self.notified = 0
        self.received = 0

    def __call__(self, step: Step) -> None:
        """Judge a step; AssertionError where it breaks the theorem."""
        self.record.append(step)
        if "start" in step:
            self.pending.update(step["start"]["requests"])
            return
        delivered = step.get("delivered", ())
        for node, time in delivered:
            assert (node, time) in self.pending, f"{node} was notified of {time!r}, which it did not ask for"
            self.pending.remove((node, time))
            self.told[node][time] = None
            self.notified += 1
            for edge, target in self.targets.items():
                for waiting in self.queues[edge] if target == node else ():
                    early = self.at_or_before(edge, waiting, time)
                    assert not early, f"{node} was notified of {time!r}, and {waiting!r} waits on {edge}"
        for edge, time, change in step.get("messages", ()):
            queue, target = self.queues[edge], self.targets[edge]
            queue[time] += change
            assert queue[time] >= 0, f"{edge} has {queue[time]} messages at {time!r}"
            if queue[time] == 0:
                del queue[time]
            if change < 0 or target is None:
                self.received += -change if change < 0 and target is not None else 0
                continue
            for past in self.told[target]:
                late = self.at_or_before(edge, time, past)
                assert not late, f"{target} was notified of {past!r}, and then {time!r} is sent to it on {edge}"
        self.pending.update(step.get("requests", ()))


# --- a run -----------------------------------------------------------------------------------------------------------


def play(seed: int, tally: Tally, engine: str = "sim") -> Judge:
    """Run a seed and judge it; AssertionError, with what the seed is about, where something is wrong."""
    case = Case(seed, waits=engine == "asyncio")
    judge = Judge(case.network, case.at_or_before())
    try:
        _play(case, judge, tally, engine)
    except Exception as error:
        raise AssertionError(f"seed {seed}, {engine}: {type(error).__name__}: {error}\n{case.document}") from error
    return judge


def _play(case: Case, judge: Judge, tally: Tally, engine: str) -> None:
    ahead = AHEAD[case.seed % len(AHEAD)]
    dataflow = Dataflow(case.graph, as_they_are(case.nodes), on_error=case.on_error, ahead=ahead)
    if ahead is not None:
        tally.add("runs: so many times of an input at once")
    tally.add(f"graph: {case.kind}")
    tally.add("runs")
    for kind in _shapes(case.network):
        tally.add(f"shape: {kind}")
    dead = filter(None, map(dead_letters, dataflow.on_error.values()))
    results: dict[str, list[Any]] = {name: [] for name in (*_outputs(case.network), "late", *dead)}
    waits = False
    try:
        try:
            rest = dataflow.run(
                engine=engine, seed=case.seed if engine == "sim" else None, sources=case.sources, record=judge,
                sinks=results, limit=case.limit, workers=3, pause=lambda seconds: None,
            )  # fmt: skip
            assert not rest
        except WaitsForEver:
            waits = True
    except NodeFailed as failure:
        if not isinstance(failure.error, Boom):
            if isinstance(failure.error, PointstampError) and failure.error.code in WITHOUT_END:
                judge.record.clear()
                tally.add("end: named as having none")
                return
            raise
        tally.add("end: stopped by a node")
    except PointstampError as error:
        if error.code not in WITHOUT_END:
            raise
        judge.record.clear()
        tally.add("end: named as having none")
        return
    else:
        tally.add("end: all done")
        assert waits == bool(judge.pending)
        _check_messages(case, results, tally)
        _check_pending(case, judge, tally)
        assert case.ledger.counts["notified"] + case.ledger.counts["lost"] == judge.notified
    for kind, count in case.ledger.counts.items():
        tally.add(f"calls: {kind}", count)
    tally.add("calls: message", judge.received)
    if judge.notified:
        tally.add("runs: with notifications")


def _shapes(network: Network) -> list[str]:
    """What is special about a graph."""
    found = []
    domains = list(map(repr, network.domains))
    together = [
        {domain for domain, component in zip(domains, network.component, strict=True) if component == number}
        for number, size in enumerate(network.component_sizes)
        if size > 1
    ]
    if together:
        found.append("loop")
    if any(len(each) > 1 for each in together):
        found.append("loop over different times")
    sources = zip(network.edge_domains, network.sources, strict=True)
    if len({repr(domain) for domain, source in sources if source == NO_NODE}) > 1:
        found.append("inputs over different times")
    return found


def _outputs(network: Network) -> list[str]:
    """The edges on which messages leave."""
    return [edge for edge, target in zip(network.edges, network.targets, strict=True) if target == NO_NODE]


def _check_messages(case: Case, results: Mapping[str, list[Any]], tally: Tally) -> None:
    """Every message that was sent, or brought in time, was taken once, or left, or was put aside."""
    ledger = case.ledger
    outputs = _outputs(case.network)
    ended: Counter[int] = Counter(ledger.taken)
    for name, pairs in results.items():
        for _, value in pairs:
            if name in outputs:
                ended[value[0]] += 1
            elif name == "late":
                ended[value[0]] += 1
                tally.add("messages: late")
            else:
                assert isinstance(value, NodeFailed)
                lost = [] if value.value is None else value.value if isinstance(value.value, list) else [value.value]
                ended.update(number for number, _ in lost)
                ledger.counts["lost"] += value.value is None
                tally.add("messages: dead" if lost else "notifications: dead")
    begun = Counter(ledger.sent)
    begun.update(number for number in case.given)
    assert ended == begun, f"began {begun - ended}, ended {ended - begun}"


def _check_pending(case: Case, judge: Judge, tally: Tally) -> None:
    """Inputs are closed and nothing is queued: what is still pending waits for itself."""
    assert not any(judge.queues[edge] for edge, target in judge.targets.items() if target is not None)
    if judge.pending:
        assert not check_conditions(case.network).advancing.holds, f"never notified: {judge.pending}"
        tally.add("end: requests that wait for themselves")
        if case.oracle is not None and case.kind != "own":
            with suppress(reference.TooManySteps):
                free, _ = reference.eligible(case.oracle, [], list(judge.pending))
                assert not free, f"never notified: {free}"


def replay(judge: Judge) -> None:
    """A fresh tracker accepts the steps of a run one by one, and says the same of what is ready."""
    start = judge.record[0]["start"]
    tracker = Tracker(judge.network, inputs=start["inputs"], requests=start["requests"])
    for step in judge.record[1:]:
        ready = set(tracker.eligible())
        assert ready >= set(step.get("delivered", ()))
        tracker.apply(**step)


def play_many(seeds: Sequence[int]) -> Tally:
    """Run many seeds; of some the steps are replayed by a tracker, of fewer judged as behaviours."""
    tally = Tally()
    for seed in seeds:
        judge = play(seed, tally)
        if seed % 5 == 0 and judge.record:
            replay(judge)
        if seed % 25 == 0 and judge.record:
            judgement = is_behaviour(judge.network, judge.record, several=True)
            assert judgement, f"seed {seed}: step {judgement.step}: {judgement.why}"
            tally.add("behaviours")
    return tally


def play_in_parallel(first: int, number: int, processes: int = 2) -> Tally:
    """Run `number` seeds from `first` on, in several processes."""
    tally = Tally()
    ranges = [range(first + begin, first + min(begin + 200, number)) for begin in range(0, number, 200)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for part in pool.map(play_many, ranges):
            tally.merge(part)
    return tally


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        for step in play(int(argument), Tally()).record:
            print(step)
