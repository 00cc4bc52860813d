"""Propositions 4, 5 and 6 of A&I 3.4, and the conditions, on random graphs with calls: also several, also with epochs.

The paper's could-result-in is about pointstamps (p, [f]_q): a node, and a class of stacks tagged with a node. A node
uses its own tags alone, so `CouldResultIn` takes, at p, a stack that stands for its class at p, and refuses all others.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from graphs import Graph, from_data
from progress import CouldResultIn, PointstampError, check_conditions
from recursion.reference import Graph as Reference
from recursion.reference import condition_2, standstill
from tests.recursion.random_calls import plain, plain_pairs, random_calls, random_epoch, usual_depth

Pointstamp = tuple[str, Any]


class Case:
    """A random graph, in the engine and in the reference, and random pointstamps of its nodes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.document = random_calls(self.rng)
        self.graph: Graph = from_data(self.document)
        self.reference = Reference(self.document)
        self.depth = usual_depth(self.reference, 25)
        time = self.document.get("time")
        self.epochs = time["product"][0] if isinstance(time, dict) else None
        self.could_result_in = CouldResultIn(self.graph)

    def pointstamp(self) -> Pointstamp:
        node = ""
        stacks: list[tuple[str, ...]] = []
        while not stacks:  # a graph that nothing calls has none
            node = self.rng.choice(self.reference.nodes)
            stacks = self.reference.stacks_at(node, self.depth)
        stack = self.rng.choice(stacks)
        return node, (stack if self.epochs is None else (random_epoch(self.rng, self.epochs), stack))

    def standing(self, pointstamp: Pointstamp) -> Pointstamp:
        """(p, [f]_p): the stack that stands for the class, as the engine chooses it."""
        node, time = pointstamp
        order: Any = self.graph.domain_of(node)
        return node, plain(order.canonical(order.read(time)))

    def later(self, pointstamp: Pointstamp) -> Pointstamp:
        """Something that the pointstamp could result in, by the reference."""
        node, time = pointstamp
        epoch, stack = (None, time) if self.epochs is None else time
        reached = [
            pair for pair in self.reference.results((node, stack), self.depth + 1) if pair[0] in self.reference.nodes
        ]
        after, then = self.rng.choice(sorted(reached))
        return after, (then if self.epochs is None else (epoch, then))


def test_proposition_4_what_could_result_between_classes_is_related_between_stacks() -> None:
    seen: Counter[str] = Counter()
    for seed in range(120):
        case = Case(seed)
        for _ in range(30):
            start, end = case.pointstamp(), case.pointstamp()
            if case.rng.random() < 0.5:
                end = case.later(start)
            result = case.could_result_in(case.standing(start), case.standing(end))
            related = case.reference.could_result_in(start, end)
            assert result == related, f"seed {seed}: {start} and {end}"
            seen[f"{result}"] += 1
            seen["stood for by others"] += case.standing(start) != start
            seen["several"] += len(case.document["recursion"].get("graphs", ())) > 1
            seen["epochs"] += case.epochs is not None
    assert min(seen[kind] for kind in ("True", "False", "stood for by others", "several", "epochs")) > 100, seen


def test_proposition_5_along_a_path_tags_are_those_of_the_locations() -> None:
    """Each time on a walk is one of its location, by the reference: its stack runs the graph in which that stands.

    So it stays from an input edge on, whose tag is that of its destination, and with any epoch in front.
    """
    seen: Counter[str] = Counter()
    for seed in range(150):
        case = Case(seed)
        inputs = [edge for edge in case.reference.edges if case.reference.source[edge] is None]
        for _ in range(12):
            start = case.pointstamp()
            beginning = start
            if inputs and case.rng.random() < 0.7:
                edge = case.rng.choice(inputs)
                node = str(case.reference.destination[edge])
                stacks = case.reference.stacks_at(edge, case.depth)
                if stacks:
                    time = case.rng.choice(stacks), random_epoch(case.rng, case.epochs)
                    beginning, start = (edge, time[::-1]), (node, time[::-1])
                    seen["from an input"] += 1
            end = case.later(start)
            walk = case.could_result_in.walk(beginning, end)
            assert walk is not None, f"seed {seed}: {beginning} to {end}"
            for location, time in plain_pairs(walk):
                assert case.reference.contains(location, time), f"seed {seed}: {time} is not a time at {location}"
                assert case.graph.domain_of(location).contains(case.graph.domain_of(location).read(time))  # type: ignore[attr-defined]
                seen["pairs"] += 1
                seen["several"] += len(case.reference.bodies) > 1
                seen["epochs"] += case.epochs is not None
    assert min(seen[kind] for kind in ("pairs", "several", "epochs", "from an input")) > 100, seen


def test_proposition_5_times_of_one_node_are_none_of_another_in_another_graph() -> None:
    """With epochs as without. Of two nodes in one graph each has its own classes, by the reference."""
    seen: Counter[str] = Counter()
    for seed in range(200):
        case = Case(seed)
        for _ in range(12):
            (node, time), (other, _) = case.pointstamp(), case.pointstamp()
            kind = "with epochs" if case.epochs is not None else "without"
            if case.reference.procedure_of(node) != case.reference.procedure_of(other):
                assert case.graph.domain_of(other).read(time) is None  # type: ignore[attr-defined]
                with pytest.raises(PointstampError, match="PS503"):
                    case.could_result_in((other, time), (node, time))
                seen[f"refused {kind}"] += 1
            else:
                (_, one), (_, two) = case.standing((node, time)), case.standing((other, time))
                stacks = [each if case.epochs is None else each[1] for each in (time, one, two)]
                assert case.reference.equivalent(node, stacks[0], stacks[1], case.depth)
                assert case.reference.equivalent(other, stacks[0], stacks[2], case.depth)
                seen[f"kept {kind}"] += 1
                seen["standing as another at each"] += one != two
    kinds = ("refused with epochs", "refused without", "kept with epochs", "kept without")
    assert min(seen[kind] for kind in kinds) > 50, seen
    assert seen["standing as another at each"] > 10, seen


def test_proposition_6_could_result_in_is_transitive() -> None:
    seen: Counter[str] = Counter()
    for seed in range(300, 400):
        case = Case(seed)
        for _ in range(20):
            first = case.pointstamp()
            second = case.later(first)
            third = case.later(second)
            stamps = [case.standing(each) for each in (first, second, third)]
            assert case.could_result_in(stamps[0], stamps[1])
            assert case.could_result_in(stamps[1], stamps[2])
            assert case.could_result_in(stamps[0], stamps[2]), f"seed {seed}: {first}, {second}, {third}"
            seen["three nodes"] += len({first[0], second[0], third[0]}) == 3
            seen["there and not back"] += not case.could_result_in(stamps[2], stamps[0])
    assert min(seen["three nodes"], seen["there and not back"]) > 300, seen


def test_the_conditions_are_those_of_the_reference() -> None:
    seen: Counter[bool | None] = Counter()
    for seed in range(100):
        case = Case(seed)
        report = check_conditions(case.graph)
        assert report.condition_1.holds
        assert report.condition_2.holds
        assert report.transitive.holds
        depth = min(case.depth, 3)
        assert condition_2(case.reference, depth) is None
        assert (standstill(case.reference, depth) is None) == report.advancing.holds, f"seed {seed}"
        seen[report.advancing.holds] += 1
        for found in report.advancing.standstills:
            walk = [(location, plain(time)) for location, time in found.round]
            walk.append((walk[0][0], walk[-1][1]))  # rounds end on the edge that leads back
            stacks = [(location, time if case.epochs is None else time[1]) for location, time in walk]
            assert all(after in case.reference.steps(*before) for before, after in pairwise(stacks))
            assert walk[0] == walk[-1]
    assert min(seen[True], seen[False]) > 15
