"""Proofs of the iterated closure where Condition 2 fails: every fold is walked, round by round, by the reference alone.

`walked` is the judge. It knows the file and the steps of `progress.reference`, and nothing of how a way was found.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graphs import from_data
from graphs.command import main
from graphs.sessions.ask import Asker
from graphs.sessions.track import track
from progress import Tracker, eligible, reference
from progress.plain import read_time
from progress.summary import NoMinimalTimes
from tests.reference.random_graphs import random_document, random_query

Json = Any


def walked(oracle: reference.Graph, proof: Sequence[Any], folds: Sequence[Json]) -> int:
    """How many rounds the folds of a proof stand for, after walking all of it.

    Each pair must be reached from the one before: in one step, or by the rounds that a fold names. Only the last pair
    may be later than what is reached, and may stand beside the same location.
    """
    by_place = {fold["after"]: fold for fold in folds}
    assert len(by_place) == len(folds)
    rounds = 0
    for place, ((x, t), (y, u)) in enumerate(pairwise(proof)):
        last = place == len(proof) - 2
        fold = by_place.pop(place, None)
        if fold is not None:
            assert x == y == fold["cycle"][0]
            assert x in oracle.nodes
            assert fold["times"] > 0
            arrived: tuple[Any, ...] = (t,)
            for _ in range(fold["times"]):
                arrived = _round(oracle, [*fold["cycle"], x], arrived)
            rounds += fold["times"]
        elif x == y:
            assert last
            arrived = (t,)
        else:
            arrived = dict(oracle.steps(x, t)).get(y, ())
        assert u in arrived or (last and any(oracle.less_equal(y, each, u) for each in arrived)), (
            f"{(y, u)} does not follow from {(x, t)} {fold or ''}: {arrived}"
        )
    assert not by_place, "a fold stands behind the last pair"
    return rounds


def _round(oracle: reference.Graph, path: Sequence[str], times: tuple[Any, ...]) -> tuple[Any, ...]:
    """All that comes of these times along a path: every time, not the earliest ones alone."""
    for here, there in pairwise(path):
        found = [u for t in times for u in dict(oracle.steps(here, t)).get(there, ())]
        times = tuple(dict.fromkeys(found))
    return times


def listed_twice(proof: Sequence[Any], folds: Sequence[Json]) -> bool:
    """Whether a cycle is listed step by step twice on end, which ought to be folded."""
    places: list[Any] = []
    for place, (location, _) in enumerate(proof):
        places.append(location)
        places += [object() for fold in folds if fold["after"] == place]
    return any(
        places[start : start + length] == places[start + length : start + 2 * length]
        and start + 2 * length < len(places)
        and places[start + 2 * length] == places[start]
        for start in range(len(places))
        for length in range(2, (len(places) - start) // 2 + 1)
    )


def read(pairs: Sequence[Json]) -> list[Any]:
    return [(location, read_time(time)) for location, time in pairs]


def falling(deep: int) -> dict[str, Any]:
    """A cycle on which both coordinates can fall, by turns: out of the paper's order, so Condition 2 fails."""
    return {
        "pointstamp": 1,
        "time": {"product": [{"nat": {"max": deep}}, {"nat": {"max": deep}}]},
        "nodes": {
            "n4": {"summary": {"advance": [-1, 0]}},
            "n5": {},
            "n6": {},
        },
        "edges": [
            {"id": "i0", "to": "n4"},
            {"id": "e0", "from": "n4", "to": "n5"},
            {"id": "e2", "from": "n5", "to": "n4"},
            {"id": "e3", "from": "n5", "to": "n6"},
            {"id": "o", "from": "n6"},
        ],
    }


def test_a_deep_fall_is_one_fold() -> None:
    document = falling(60)
    query = {"messages": [["i0", [50, 0]]], "requests": [["n6", [3, 0]]]}
    answer = Asker(from_data(document)).answer({"eligible": query})
    (blocked,) = answer["blocked"]
    (fold,) = blocked["folds"]
    assert sorted(fold["cycle"]) == ["e0", "e2", "n4", "n5"]
    assert len(blocked["proof"]) <= 8
    rounds = walked(reference.Graph(document), read(blocked["proof"]), blocked["folds"])
    assert rounds >= 46


def test_a_fall_of_ten_to_the_thirty_is_one_fold_of_as_many_rounds() -> None:
    document = falling(10**31)
    query = {"messages": [["i0", [10**30, 0]]], "requests": [["n6", [3, 0]]]}
    (blocked,) = Asker(from_data(document)).answer({"eligible": query})["blocked"]
    (fold,) = blocked["folds"]
    before, after = blocked["proof"][fold["after"]], blocked["proof"][fold["after"] + 1]
    assert before[0] == after[0] == fold["cycle"][0]
    assert before[1][0] - after[1][0] == fold["times"]  # each round takes one off
    assert len(blocked["proof"]) <= 8


class Seen:
    """What a run of random graphs has shown."""

    def __init__(self) -> None:
        self.proofs = self.folds = self.rounds = self.simple = 0

    def proof(self, oracle: reference.Graph, proof: Sequence[Any], folds: Sequence[Json]) -> None:
        """Judge one proof."""
        rounds = walked(oracle, proof, folds)
        assert not listed_twice(proof, folds), f"not folded: {proof}"
        self.proofs += 1
        self.folds += bool(folds)
        self.rounds += rounds
        self.simple += len({location for location, _ in proof}) == len(proof)


def falling_document(rng: random.Random) -> dict[str, Any]:
    """A ring with chords where times fall, often by several ways, over numbers with and without an end."""
    names = ["n0", "n1", "n2", "n3", "n4"][: rng.randint(2, 5)]
    parts = [rng.choice(["nat", {"nat": {"max": 40}}]) for _ in range(rng.randint(1, 2))]
    time: Any = {"product": parts} if len(parts) > 1 else parts[0]
    ring = rng.sample(names, len(names))
    pairs = list(zip(ring, ring[1:] + ring[:1], strict=True))
    pairs += [(one, other) for one, other in (rng.sample(names, 2) for _ in range(rng.randint(0, 3)))]
    nodes: dict[str, Any] = {name: {"emits": {}} for name in names}

    def amounts() -> Any:
        found = [rng.choice([-3, -2, -1, -1, 0, 0, 1]) for _ in parts]
        return found if len(parts) > 1 else found[0]

    def bound() -> Any:
        found = [rng.randint(0, 6) for _ in parts]
        return found if len(parts) > 1 else found[0]

    for place, (source, _) in enumerate(pairs):
        kind = rng.random()
        nodes[source]["emits"][f"e{place}"] = (
            {"at_least": bound()} if kind < 0.15 else "identity" if kind < 0.4 else {"advance": amounts()}
        )
    edges = [{"id": f"e{place}", "from": one, "to": other} for place, (one, other) in enumerate(pairs)]
    nodes["end"] = {}
    nodes[ring[0]]["emits"]["on"] = "identity"
    edges += [{"id": "i0", "to": rng.choice(names)}, {"id": "on", "from": ring[0], "to": "end"}]
    return {"pointstamp": 1, "time": time, "nodes": nodes, "edges": edges}


def ask_one(seed: int, seen: Seen, document: dict[str, Any], query: Json) -> None:
    oracle = reference.Graph(document)
    try:
        answer = Asker(from_data(document)).answer(query)
    except NoMinimalTimes:
        return
    for blocked in answer["blocked"]:
        try:
            proof = read(blocked["proof"])
            assert proof[0] == tuple(read([blocked["by"]])[0])
            assert oracle.destination[proof[-1][0]] == blocked["request"][0]
            assert proof[-1][1] == read([blocked["request"]])[0][1]
            seen.proof(oracle, proof, blocked.get("folds", []))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{document}\n{query}\n{blocked}") from error


@pytest.mark.slow
def test_every_fold_of_eligible_is_walked_on_random_graphs() -> None:
    seen = Seen()
    for seed in range(700):
        rng = random.Random(seed)
        document = falling_document(rng)
        width = 2 if isinstance(document["time"], dict) and "product" in document["time"] else 1

        def time(most: int, rng: random.Random = rng, width: int = width) -> Json:
            found = [rng.randint(0, most) for _ in range(width)]
            return found if width > 1 else found[0]

        messages = [["i0", time(40)]]
        requests = [[node, time(6)] for node in document["nodes"]]
        ask_one(seed, seen, document, {"eligible": {"messages": messages, "requests": requests}})
    for seed in range(300):
        rng = random.Random(seed)
        document = random_document(rng)
        ask_one(seed, seen, document, random_query(rng, document, "eligible"))
    assert seen.proofs >= 1_500
    assert seen.folds >= 100
    assert seen.rounds >= 3 * seen.folds
    assert seen.simple >= 500


@pytest.mark.slow
def test_every_fold_of_why_is_walked_on_random_graphs() -> None:
    """The scheduler in Python and by the line: the same proofs, all of which hold."""
    seen = Seen()
    for seed in range(60):
        rng = random.Random(seed)
        document = falling_document(rng)
        oracle, graph = reference.Graph(document), from_data(document)
        width = 2 if isinstance(document["time"], dict) and "product" in document["time"] else 1
        high, low = ([40] * width, [2] * width) if width > 1 else (40, 2)
        start = {"start": {"inputs": {"i0": [high]}, "requests": [["end", high]]}}
        why = {"why": ["end", low]}
        lines = "\n".join(map(json.dumps, (start, why))).encode()
        answers = io.BytesIO()
        track(graph, io.BytesIO(lines), answers)
        first, second = map(json.loads, answers.getvalue().splitlines())
        if "error" in first:
            assert first["error"]["code"] in ("PS601", "PS604"), f"seed {seed}: {first}"
            continue
        tracker = Tracker(graph, inputs={"i0": [read_time(high)]}, requests=[("end", read_time(high))])
        in_python = tracker.why("end", read_time(low)).by
        assert len(in_python) == len(second["by"])
        for blocker, plain in zip(in_python, second["by"], strict=True):
            proof = read(plain["proof"])
            assert proof == [tuple(pair) for pair in blocker.proof]
            folds = [{"after": fold.after, "cycle": list(fold.cycle), "times": fold.times} for fold in blocker.folds]
            assert folds == plain.get("folds", [])
            try:
                seen.proof(oracle, proof, folds)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{document}\n{plain}") from error
    assert seen.proofs >= 30
    assert seen.folds >= 15


def test_eligible_in_python_has_the_folds_too() -> None:
    graph = from_data(falling(60))
    (blocked,) = eligible(graph, messages=[("i0", (50, 0))], requests=[("n6", (3, 0))]).blocked
    assert [sorted(fold.cycle) for fold in blocked.folds] == [["e0", "e2", "n4", "n5"]]


def test_replay_shows_the_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = falling(60)
    graph, trace = tmp_path / "graph.json", tmp_path / "trace"
    graph.write_text(json.dumps(document))
    trace.write_text('{"start": {"inputs": {"i0": [[50, 0]]}}}\n')
    assert main(["replay", str(graph), str(trace), "--why", "n6=[3, 0]", "--format", "json"]) == 0
    ((blocker,),) = (each["by"] for each in json.loads(capsys.readouterr().out)["why"])
    assert walked(reference.Graph(document), read(blocker["proof"]), blocker["folds"]) >= 46
    assert main(["replay", str(graph), str(trace), "--why", "n6=[3, 0]"]) == 0
    assert (
        f"({blocker['folds'][0]['times']} times {' -> '.join(blocker['folds'][0]['cycle'])})" in capsys.readouterr().out
    )
