"""Walks step by step: judged pair by pair by the steps of the reference, which are those of the definition."""

from __future__ import annotations

import json
import random
from itertools import islice, pairwise
from typing import Any

import pytest

from graphs import from_data
from graphs.sessions.ask import LONGEST_LINE, MOST_WALK, Asker
from progress import CouldResultIn
from recursion import reference
from recursion.reference import Pointstamp
from tests.recursion.random_calls import plain_pairs, random_calls, random_epoch, usual_depth
from tests.recursion.tools import COUNTEREXAMPLE, chain
from tests.reference.against_reference import Tally


def check_walk(oracle: reference.Graph, walk: list[Pointstamp], start: Pointstamp, end: Pointstamp) -> None:
    """From start to end by steps of the split graph; with epochs the last one may raise the epoch instead."""
    assert walk[0] == start
    assert walk[-1] == end
    if oracle.epochs is not None:
        epochs = [epoch for _, (epoch, _) in walk]
        raised = epochs[-1] != epochs[0]
        assert epochs == [epochs[0]] * (len(epochs) - raised) + [epochs[-1]] * raised
        assert not raised or (walk[-2][0], walk[-2][1][1]) == (walk[-1][0], walk[-1][1][1])
        walk = [(place, stack) for place, (_, stack) in walk[: len(walk) - raised]]
    for before, after in pairwise(walk):
        assert after in oracle.steps(*before), f"no step from {before} to {after}"


@pytest.mark.slow
def test_every_step_of_a_walk_is_one_of_the_definition() -> None:
    tally = Tally()
    for seed in range(200):
        rng = random.Random(seed)
        document = random_calls(rng)
        oracle, could_result_in = reference.Graph(document), CouldResultIn(from_data(document))
        deepest = usual_depth(oracle, 40)
        places = [place for place in oracle.locations if oracle.stacks_at(place, deepest)]
        for _ in range(12):
            start: Pointstamp = (place := rng.choice(places)), rng.choice(oracle.stacks_at(place, deepest))
            end: Pointstamp = rng.choice(sorted(oracle.results(start, deepest)))
            if oracle.epochs is not None:
                epoch = random_epoch(rng, oracle.epochs)
                start, end = (start[0], (epoch, start[1])), (end[0], (random_epoch(rng, oracle.epochs), end[1]))
            walk = could_result_in.walk(start, end)
            assert (walk is not None) is oracle.could_result_in(start, end, deepest)
            if walk is None:
                tally.add("none")
                continue
            try:
                found = plain_pairs(walk)
                check_walk(oracle, found, start, end)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {start} to {end}: {error}\n{document}") from error
            proof = could_result_in.proof(start, end)
            assert proof is not None
            tally.add("walks")
            tally.add(f"walks: longer than its proof: {len(found) > len(proof)}")
            tally.add(f"walks: with epochs: {oracle.epochs is not None}")
            tally.add(f"walks: several graphs: {len(oracle.bodies) > 1}")
    assert tally.counts["none"] > 50
    for kind in ("longer than its proof: True", "with epochs: True", "several graphs: True"):
        assert tally.counts[f"walks: {kind}"] > 200, tally.counts


def test_a_walk_within_one_location_shows_how() -> None:
    """The counterexample to the paper's decision: out of both calls, into c again, and from there into e."""
    oracle = reference.Graph(COUNTEREXAMPLE)
    start, end = ("entry", ("c", "d")), ("entry", ("c", "e"))
    answer = Asker(from_data(COUNTEREXAMPLE)).answer(
        {"could_result_in": [start_of(start), start_of(end)], "walk": True}
    )
    assert answer["proof"] == [start_of(start), start_of(end)]
    walk = [(place, tuple(stack)) for place, stack in answer["walk"]]
    check_walk(oracle, walk, start, end)
    passed = [pair for pair in walk if pair[0] in ("ret-d", "ret-c", "call-c", "call-e")]
    assert passed == [("ret-d", ("c",)), ("ret-c", ()), ("call-c", ()), ("call-e", ("c",))]
    assert "goes_on" not in answer


def start_of(pointstamp: Any) -> list[Any]:
    """A pointstamp as JSON has it."""
    return [pointstamp[0], list(pointstamp[1])]


def test_a_walk_between_deep_stacks_is_made_as_it_is_read() -> None:
    document = chain({"in": "in", "out": "out", "calls": ["a", "b"]}, "in out", "in a out", "in b out")
    graph = from_data(document)
    one, other = graph.call_graph().stack(*["a"] * 100_000), graph.call_graph().stack(*["a"] * 10, *["b"] * 9)
    could_result_in = CouldResultIn(graph)
    walk = could_result_in.walk(("out", one), ("in", graph.call_graph().stack(*["a"] * 9, "a")))
    assert walk is None
    walk = could_result_in.walk(("in", one), ("out", graph.call_graph().stack()))
    assert walk is not None
    first = plain_pairs(islice(walk, 3))
    assert first == [("in", one.calls), ("in->out", one.calls), ("out", one.calls)]
    walk = could_result_in.walk(("in", other.ancestor(10)), ("in", other))
    assert walk is not None
    found = plain_pairs(walk)
    check_walk(reference.Graph(document), found, ("in", other.calls[:10]), ("in", other.calls))
    asker = Asker(graph)
    answer = asker.answer({"could_result_in": [["in", ["a"] * 5_000], ["out", []]], "walk": True})
    assert 2 < len(answer["walk"]) < MOST_WALK
    assert len(json.dumps(answer["walk"])) < LONGEST_LINE + 100_000
    assert answer["goes_on"] is True


def test_a_walk_is_asked_for_beside_could_result_in_alone() -> None:
    asker = Asker(from_data(COUNTEREXAMPLE))
    question = {"could_result_in": [["entry", ["e"]], ["entry", ["d"]]]}
    assert asker.answer({**question, "walk": True}) == asker.answer(question) == {"result": False}
    related = {"could_result_in": [["entry", ["e"]], ["exit", []]]}
    assert asker.answer({**related, "walk": False}) == asker.answer(related)
    for wrong in ({**question, "walk": 1}, {"close": [], "walk": True}, {"walk": True}):
        refused = json.loads(asker.answer_line(json.dumps(wrong).encode()))
        assert refused["error"]["code"] == "PS501"


def test_without_calls_the_walk_is_that_of_the_proof() -> None:
    document = {"pointstamp": 1, "nodes": {"x": {}, "y": {}}, "edges": [{"id": "e", "from": "x", "to": "y"}]}
    could_result_in = CouldResultIn(from_data(document))
    walk = could_result_in.walk(("x", 1), ("y", 1))
    assert walk is not None
    assert list(walk) == could_result_in.proof(("x", 1), ("y", 1)) == [("x", 1), ("e", 1), ("y", 1)]
    assert could_result_in.walk(("y", 1), ("x", 1)) is None
