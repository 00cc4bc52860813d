"""Frames against the definition: what is covered at any stack, after random changes, and that nothing is left over."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from graphs import from_data
from recursion import frames as module
from recursion import reference
from recursion.frames import Frames
from recursion.network import CallRelation
from recursion.reference import Pair
from tests.recursion.random_calls import random_calls
from tests.recursion.saturated_calls import Saturated


@pytest.mark.parametrize("few", [0, module.FEW_SEEDS])
def test_what_is_covered_is_what_something_outstanding_leads_to(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many seeds at a stack, for which no seeds count as few here, and with few. Waiters go when nothing does."""
    monkeypatch.setattr(module, "FEW_SEEDS", few)
    seen: Counter[str] = Counter()
    for seed in range(30):
        rng = random.Random(seed)
        document = random_calls(rng, epochs=False)
        oracle, network = reference.Graph(document), from_data(document).network()
        assert isinstance(network.relation, CallRelation)
        graph, saturated = network.relation.graph, Saturated(oracle)
        frames = Frames(graph)
        outstanding: Counter[Pair] = Counter()
        waiting: dict[int, Pair] = {}
        every = [(node, stack) for node in oracle.nodes for stack in oracle.stacks_at(node, 3)]
        for number in range(40):
            growing = number < 20
            changes: Counter[Pair] = Counter()
            for _ in range(rng.choice([1, 1, 2, 4])):
                if growing and rng.random() < 0.6:
                    changes[rng.choice(every)] += 1
                elif outstanding:
                    pair = rng.choice(list(outstanding))
                    changes[pair] -= outstanding[pair] + changes[pair] > 0
            outstanding.update(changes)
            outstanding = +outstanding
            listed = [(graph.nodes.index(node), graph.stack(*stack), each) for (node, stack), each in changes.items()]
            released = set(frames.update([change for change in listed if change[2]]))
            still = {waiter for waiter, pair in waiting.items() if any(saturated.leads(at, pair) for at in outstanding)}
            assert growing or released == waiting.keys() - still
            waiting = {waiter: waiting[waiter] for waiter in waiting.keys() - released}
            for node, stack in rng.sample(every, min(12, len(every))):
                expected = any(saturated.leads(each, (node, stack)) for each in outstanding)
                place = graph.nodes.index(node), graph.stack(*stack)
                found = frames.covers(*place)
                assert found is expected, f"seed {seed}: {node} at {stack}, {dict(outstanding)}\n{document}"
                seen[f"covered: {found}"] += 1
                if number >= 20 and frames.wait(*place, seen.total()):
                    waiting[seen.total()] = node, stack
            seen["released"] += len(released)
        frames.update([(graph.nodes.index(n), graph.stack(*s), -each) for (n, s), each in outstanding.items()])
        assert frames.is_empty
        assert not frames.root.opened | frames.root.shut
    assert min(seen[kind] for kind in ("covered: True", "covered: False", "released")) > 500, seen
