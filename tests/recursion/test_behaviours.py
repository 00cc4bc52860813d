"""Propositions 4, 5 and 6 of A&I 3.4 as they are stated: for all nodes that behave as the relation on stacks allows.

There T is the disjoint union of all T_p (`virtual_times`), every location has all of T, and what a node does is any
behaviour for which (p, [f]_q) ~>1 (d, [f']_p') implies q = p, p' = dst(d) and that (p, f) is related to (p', f').
Here each node's behaviour is a random finite one: times at which it acts, and what it then sends. Could-result-in is
Definition 2 for these behaviours, found by the engine for graphs without calls, which knows nothing of stacks. What the
propositions say of it is judged by the reference.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from graphs import from_data
from progress import CouldResultIn, Tagged, check_conditions
from progress.order import Sum
from progress.summary import OpaqueSummary
from progress.topology import NO_NODE, Network
from recursion import reference
from recursion.network import CallRelation
from recursion.order import StackClasses, virtual_times
from tests.recursion.random_calls import plain, random_calls, usual_depth

Pointstamp = tuple[str, Tagged]


class Behaviour:
    """What a node sends on one edge: at each of some times, another time; as the hull of that, from t on and above."""

    def __init__(self, times: Sum, sends: list[tuple[Tagged, Tagged]]) -> None:
        self.times = times
        self.sends = sends

    def apply(self, time: Tagged) -> list[Tagged]:
        """All that is sent at this time or above."""
        return [sent for at, sent in self.sends if self.times.less_equal(time, at)]


class Same:
    """Requests at the time of the event alone."""

    def apply(self, time: Tagged) -> list[Tagged]:
        """The time."""
        return [time]


class Case:
    """A random graph with calls, and random behaviours of its nodes that conform to the relation."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        document = random_calls(rng, epochs=False)
        self.oracle = oracle = reference.Graph(document)
        calls = from_data(document).network()
        assert isinstance(calls.relation, CallRelation)
        self.relation = calls.relation.relation
        self.times = virtual_times(self.relation)
        self.deepest = usual_depth(oracle, 8)
        self.classes = {node: self._classes(node) for node in oracle.nodes}
        share = rng.choice([0.1, 0.4, 1.0])
        summaries = []
        for edge, source in zip(calls.edges, calls.sources, strict=True):
            assert source != NO_NODE
            sends = self._sends(calls.nodes[source], str(oracle.destination[edge]))
            some = [each for each in sends if rng.random() < share]
            summaries.append(OpaqueSummary(self.times, self.times, Behaviour(self.times, some)))
        self.network = Network(
            calls.nodes,
            [self.times] * len(calls.nodes),
            [OpaqueSummary(self.times, self.times, Same())] * len(calls.nodes),
            calls.notifies,
            calls.edges,
            calls.sources,
            calls.targets,
            [self.times] * len(calls.edges),
            summaries,
        )
        self.could = CouldResultIn(self.network)

    def _classes(self, node: str) -> list[Tagged]:
        order = self.times.summands[node]
        assert isinstance(order, StackClasses)
        stacks = [self.relation.graph.stack(*names) for names in self.oracle.stacks_at(node, self.deepest)]
        return [Tagged(node, stack) for stack in dict.fromkeys(map(order.canonical, stacks))]

    def _sends(self, node: str, target: str) -> list[tuple[Tagged, Tagged]]:
        """All that the node may do with an edge to the target."""
        return [
            (at, sent)
            for at in self.classes[node]
            for sent in self.classes[target]
            if self.oracle.leads((node, names(at)), (target, names(sent)), self.deepest)
        ]

    def pointstamps(self, number: int) -> list[Pointstamp]:
        """Nodes and edges, most of them at times with the tag of the node, or of the destination, some with others."""
        found: list[Pointstamp] = []
        while len(found) < number:
            location = self.rng.choice(self.oracle.locations)
            tag = self.oracle.destination.get(location) or location
            if self.rng.random() < 0.2:
                tag = self.rng.choice(self.oracle.nodes)
            if self.classes[tag]:
                found.append((location, self.rng.choice(self.classes[tag])))
        return found


def names(time: Tagged) -> tuple[str, ...]:
    """The calls of the stack that stands for a class."""
    return tuple(plain(time.value))


@pytest.mark.slow
def test_propositions_4_5_and_6() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        case = Case(seed)
        nodes = set(case.oracle.nodes)
        chosen = case.pointstamps(14)
        related = {
            (start, end): case.could(start, end) for start in dict.fromkeys(chosen) for end in dict.fromkeys(chosen)
        }
        for (start, end), result in related.items():
            (one, before), (other, after) = start, end
            if not result or one not in nodes or other not in nodes:
                continue
            if before.tag == one and after.tag == other:
                leads = case.oracle.leads((one, names(before)), (other, names(after)), case.deepest)
                assert leads, f"seed {seed}: proposition 4: {start}, {end}"
                seen["proposition 4"] += start != end
            if one != other:
                assert (before.tag, after.tag) == (one, other), f"seed {seed}: proposition 5: {start}, {end}"
                seen["proposition 5"] += 1
        for (start, middle), first in related.items():
            for end in {place for place, _ in related} if first and start != middle else ():
                if related[middle, end] and middle != end:
                    assert related[start, end], f"seed {seed}: proposition 6: {start}, {middle}, {end}"
                    seen["proposition 6"] += 1
        seen["several procedures"] += len(case.oracle.bodies) > 1
        seen["tags that fit nowhere"] += sum(
            tag not in (place, case.oracle.destination.get(place)) for place, (tag, _) in chosen
        )
    for kind in ("proposition 4", "proposition 5", "proposition 6", "tags that fit nowhere"):
        assert seen[kind] > 200, seen
    assert seen["several procedures"] > 30, seen


def test_behaviours_that_conform_break_no_condition() -> None:
    """Where summaries are somebody's own, times are tried; none may be found that breaks a condition."""
    for seed in range(25):
        report = check_conditions(Case(seed).network)
        assert report.condition_1.holds is not False, seed
        assert report.condition_2.holds is not False, seed
        assert report.transitive.holds is not False, seed
