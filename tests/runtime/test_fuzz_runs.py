"""Five thousand random runs without one early or missing notification; the same steps accepted by others; memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from progress.reference.times import domain_from_json, less_equal
from progress.semantics import is_behaviour
from tests.reference.against_reference import Tally
from tests.runtime.fuzz_runs import Judge, Step, play, play_in_parallel, replay

ROOT = Path(__file__).resolve().parents[2]

EVERY_KIND = (
    *(f"graph: {kind}" for kind in ("any", "flat", "calls", "own")),
    *(f"shape: {kind}" for kind in ("loop", "loop over different times", "inputs over different times")),
    *(f"calls: {kind}" for kind in ("message", "notified", "failed: message", "failed: notification")),
    *(f"messages: {kind}" for kind in ("late", "dead")),
    "notifications: dead",
    "end: stopped by a node",
    "end: requests that wait for themselves",
)


def check_spread(tally: Tally) -> None:
    """No kind of run was left out, and most of them got to their end with notifications on the way."""
    counts, runs = tally.counts, tally.counts["runs"]
    for kind in EVERY_KIND:
        assert counts.get(kind, 0) >= runs / 50, f"{kind}: {counts}"
    assert counts["calls: notified"] >= 4 * runs
    assert counts["runs: with notifications"] >= runs / 2
    assert counts["end: all done"] >= 0.9 * runs
    assert counts.get("end: named as having none", 0) < runs / 100
    assert counts["behaviours"] >= runs / 30


@pytest.mark.slow
def test_five_thousand_runs_without_an_early_or_a_missing_notification() -> None:
    tally = play_in_parallel(0, 5_000)
    assert tally.counts["runs"] == 5_000
    check_spread(tally)


@pytest.mark.soak
def test_two_hundred_thousand_runs() -> None:
    tally = play_in_parallel(1_000_000, 200_000)
    assert tally.counts["runs"] == 200_000
    check_spread(tally)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_runs_of_other_engines_are_behaviours_as_well(engine: str) -> None:
    tally = Tally()
    for seed in range(300):
        judge = play(seed, tally, engine)
        if judge.record:
            replay(judge)
            judgement = is_behaviour(judge.network, judge.record, several=True)
            assert judgement, f"seed {seed}, {engine}: step {judgement.step}: {judgement.why}"
    assert tally.counts["calls: notified"] > 1_000


def test_every_step_of_some_runs_is_a_step_of_the_paper() -> None:
    """`play_many` judges only some runs in this way; here they are all of a few."""
    for seed in range(40_000, 40_150):
        judge = play(seed, Tally())
        judgement = is_behaviour(judge.network, judge.record, several=True)
        assert judgement, f"seed {seed}: step {judgement.step}: {judgement.why}"


def test_a_seed_gives_the_same_run_whatever_the_hash_seed() -> None:
    def steps(hash_seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-m", "tests.runtime.fuzz_runs", *map(str, range(500, 530))],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout

    first = steps("0")
    assert first.count(b"'start'") == 30
    assert first == steps("1") == steps("12345")


# --- the judge is awake ----------------------------------------------------------------------------------------------


def judge() -> Judge:
    domain = domain_from_json({"product": ["nat", "nat"]})
    graph = Graph(time={"product": ["nat", "nat"]}).node("p").edge(None, "p", "in").edge("p", None, "out")
    found = Judge(graph.network(), lambda location, one, other: less_equal(domain, one, other))
    found({"start": {"inputs": {"in": [(0, 0)]}, "requests": [("p", (1, 1))]}})
    return found


def message(time: Any, count: int, edge: str = "in") -> Step:
    return {"messages": [(edge, time, count)]}


TOLD: Step = {"delivered": [("p", (1, 1))]}


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        ([message((1, 0), 1), TOLD], "and .1, 0. waits on in"),
        ([message((1, 1), 2), message((1, 1), -1), TOLD], "waits on in"),
        ([TOLD, message((0, 1), 1)], "and then .0, 1. is sent to it on in"),
        ([TOLD, message((1, 1), 1)], "is sent to it"),
        ([TOLD, TOLD], "which it did not ask for"),
        ([{"delivered": [("p", (0, 0))]}], "which it did not ask for"),
        ([message((3, 3), -1)], "in has -1 messages"),
    ],
)
def test_the_judge_sees_what_is_wrong(steps: list[Step], complaint: str) -> None:
    found = judge()
    for step in steps[:-1]:
        found(step)
    with pytest.raises(AssertionError, match=complaint):
        found(steps[-1])


def test_the_judge_lets_pass_what_is_right() -> None:
    found = judge()
    for step in (
        message((1, 0), 1),
        {"messages": [("in", (1, 0), -1), ("out", (1, 0), 2)], "requests": [("p", (2, 0))]},
        message((2, 0), 1),
        TOLD,
        message((0, 2), 1),
        message((1, 1), 3, "out"),
    ):
        found(step)
    assert (found.notified, found.received, found.pending) == (1, 1, {("p", (2, 0))})


# --- memory ----------------------------------------------------------------------------------------------------------

COUNT_WORDS = """
import sys
from benchmarks.peak_memory import most_resident
from graphs.running.pipeline import load_pipeline
from progress.runtime import Complete

def lines(count):
    for number in range(count):
        if number % 1000 == 0:
            yield Complete((number // 1000,))
        yield number // 1000, f"word{number * 7919 % 997} and word{number % 31}"

engine, count = sys.argv[1], int(sys.argv[2])
reports = []
load_pipeline("examples/pipelines/word_count/pipeline.py").run(
    engine=engine,
    sources={"lines": lines(count)},
    sinks={"counts": lambda time, value: None, "reports": lambda time, value: reports.append(value["words"])},
)
assert reports[-1] == 2 * count
print(most_resident())
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_million_lines_are_counted_in_the_memory_of_a_hundred_thousand(engine: str) -> None:
    def peak(count: int) -> int:
        run = subprocess.run(
            [sys.executable, "-c", COUNT_WORDS, engine, str(count)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return int(run.stdout)

    few = peak(100_000)
    assert 10_000_000 < few < 100_000_000  # of the program alone, whoever has started it
    assert peak(1_000_000) <= 1.3 * few
