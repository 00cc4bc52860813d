"""A standstill through a node that asks for notifications is an error, also where a quiet one stands beside it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from graphs import from_data
from graphs.checking.check import check_graph
from progress import check_conditions, reference
from progress.reference.times import sufficient_bound
from tests.reference.against_reference import Tally, compare_conditions

QUIET = {"notify": False}


def beside_a_fall() -> dict[str, Any]:
    """The cycle of body, feedback and merge falls and asks for nothing; the way through the gate stands still, too."""
    edges = [("e5", "feedback", "body"), ("e2", "feedback", "body"), ("e4", "feedback", "body")]
    edges += [("e1", "gate", "feedback"), ("e3", "body", "merge"), ("e0", "merge", "gate"), ("e6", "merge", "body")]
    return {
        "pointstamp": 1,
        "time": {"nat": {"max": 5}},
        "nodes": {
            "body": QUIET,
            "feedback": {
                "notify": False,
                "emits": {"e2": {"advance": -2}, "e4": {"advance": 1}, "e5": {"at_least": 0}},
            },
            "merge": {
                "notify": False,
                "emits": {"e0": "identity", "e6": {"any": [{"constant": 2}, {"at_least": 2}]}},
            },
            "gate": {"summary": {"at_least": 0}},
        },
        "edges": [*({"id": name, "from": one, "to": other} for name, one, other in edges), {"id": "i0", "to": "merge"}],
    }


def random_document(rng: random.Random) -> dict[str, Any]:
    """A few nodes, of which one or two ask; several cycles, some of which fall, jump to a constant, or stand still."""
    names = ["body", "feedback", "merge", "gate", "side"][: rng.choice([3, 4, 4, 5, 5])]
    asking = rng.sample(names, rng.choice([1, 1, 2]))
    time: Any = rng.choice([{"nat": {"max": rng.randint(1, 5)}}, "nat", "int"])
    if rng.random() < 0.3:
        time = {rng.choice(["product", "lex"]): [{"nat": {"max": 2}}, rng.choice(["nat", {"nat": {"max": 2}}])]}

    parts = next(iter(time.values())) if isinstance(time, dict) else None

    def number(least: int, most: int) -> Any:
        if isinstance(parts, list):
            return [rng.randint(least, most) for _ in parts]
        return rng.randint(least, most if parts is None else min(most, parts["max"]))

    def summary() -> Any:
        falls = not (isinstance(time, dict) and "lex" in time)
        kinds = ["identity", "advance", "at_least", "constant", "any"] + (["fall"] if falls else [])
        match rng.choice(kinds):
            case "identity":
                return "identity"
            case "advance":
                return {"advance": number(0, 2)}
            case "fall":
                return {"advance": number(-2, 0)}
            case "at_least":
                return {"at_least": number(0, 2)}
            case "constant":
                return {"constant": number(0, 2)}
            case _:
                return {"any": [{"constant": number(0, 2)}, {"at_least": number(0, 2)}]}

    nodes: dict[str, Any] = {name: {"notify": name in asking, "emits": {}} for name in names}
    ring = rng.sample(names, len(names))
    pairs = list(zip(ring, ring[1:] + ring[:1], strict=True))
    pairs += [(one, other) for one, other in (rng.sample(names, 2) for _ in range(rng.randint(0, 4)))]
    edges: list[dict[str, Any]] = [{"id": "i0", "to": rng.choice(names)}]
    for place, (source, target) in enumerate(pairs):
        nodes[source]["emits"][f"e{place}"] = summary()
        edges.append({"id": f"e{place}", "from": source, "to": target})
    return {"pointstamp": 1, "time": time, "nodes": nodes, "edges": edges}


def test_a_standstill_through_a_node_that_asks_is_found_beside_a_quiet_fall() -> None:
    report = check_graph(from_data(beside_a_fall()))
    assert [found.severity for found in report.diagnostics if found.code == "PS301"] == ["error"]
    cycle = report.conditions["advancing"]["cycle"]
    assert "gate" in cycle


def compare_seeds(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        document = random_document(random.Random(seed))
        graph, oracle = from_data(document), reference.Graph(document)
        try:
            compare_conditions(check_conditions(graph), oracle, min(sufficient_bound(document), 25), tally)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{document}") from error
    return tally


@pytest.mark.slow
def test_the_severity_of_random_standstills_is_that_of_the_reference() -> None:
    tally = compare_seeds(range(800))
    for kind, least in (("error", 300), ("warning", 8)):
        assert tally.counts[f"severity of PS301: {kind}"] >= least, tally.counts
    assert tally.counts.get("discarded: the reference did not finish", 0) < 40, tally.counts
