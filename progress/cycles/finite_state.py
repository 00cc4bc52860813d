"""Standing still in a component whose domains are finite: decided by trying every time.

A state is a node and a time. A closed walk that returns at or below its start is a path from a state to one at the same
node that is no later; by monotonicity, minimal results are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as combinations_of
from math import prod
from typing import Any

from progress.cycles.walk import Budget, Found
from progress.normal_form.coordinate import Undecided
from progress.order import Domain, Finite, Lex, Nat, Product, Sum, Tagged, Unit
from progress.topology import Network

MOST_STATES = 2_000
MOST_STEPS = 400_000  # from state to state

State = tuple[int, Any]


def standstill_among_states(network: Network, edges: Sequence[int]) -> tuple[bool, Found | None]:
    """Whether the question could be decided, and a closed walk that stands still, preferably where a node asks.

    Cost: O(states) for each state at worst, with at most `MOST_STATES` of them and `MOST_STEPS` in all.
    """
    nodes = sorted({network.sources[edge] for edge in edges}, key=lambda node: not network.notifies[node])
    sizes = {node: number_of_times(network.domains[node]) for node in nodes}
    total = 0
    for size in sizes.values():
        if size is None:
            return False, None
        total += size
    if total > MOST_STATES:
        return False, None
    outgoing: dict[int, list[int]] = {node: [] for node in nodes}
    for edge in edges:
        outgoing[network.sources[edge]].append(edge)
    known: dict[State, list[tuple[int, State]]] = {}
    for node in nodes:
        for time in all_times(network.domains[node]):
            known[node, time] = [
                (edge, (network.targets[edge], result))
                for edge in outgoing[node]
                for result in _applied(network, edge, time)
            ]
    budget = Budget(MOST_STEPS)
    try:
        for start in known:
            walk = _way_back(network, known, start, budget)
            if walk is not None:
                return True, Found(tuple(walk), {"=": start[1]})
    except Undecided:
        return False, None
    return True, None


def _applied(network: Network, edge: int, time: Any) -> tuple[Any, ...]:
    summary = network.summaries[edge]
    assert summary is not None
    return summary.apply(time)


def _way_back(
    network: Network, known: dict[State, list[tuple[int, State]]], start: State, budget: Budget
) -> list[int] | None:
    """A walk of fewest edges from a state to one at the same node that is no later."""
    node, time = start
    less_equal = network.domains[node].less_equal
    arrived: dict[State, tuple[int, State]] = {}
    level = [start]
    while level:
        following = []
        for state in level:
            budget.charge(len(known[state]))
            for edge, target in known[state]:
                if target in arrived:
                    continue
                arrived[target] = (edge, state)
                if target[0] == node and less_equal(target[1], time):
                    walk = [edge]
                    while state != start:
                        edge, state = arrived[state]
                        walk.append(edge)
                    return walk[::-1]
                following.append(target)
        level = following
    return None


def number_of_times(domain: Domain) -> int | None:
    """How many times a domain has; None where there is no end of them."""
    if isinstance(domain, Unit):
        return 1
    if isinstance(domain, Nat):
        return None if domain.maximum is None else domain.maximum + 1
    if isinstance(domain, Finite):
        return len(domain.elements)
    if isinstance(domain, Product | Lex | Sum):
        parts = domain.summands.values() if isinstance(domain, Sum) else domain.parts
        sizes = [number_of_times(part) for part in parts]
        if None in sizes:
            return None
        numbers = [size for size in sizes if size is not None]
        return sum(numbers) if isinstance(domain, Sum) else prod(numbers)
    return None


def all_times(domain: Domain) -> list[Any]:
    """Every time of a finite domain."""
    if isinstance(domain, Nat):
        assert domain.maximum is not None
        return list(range(domain.maximum + 1))
    if isinstance(domain, Finite):
        return list(domain.elements)
    if isinstance(domain, Product | Lex):
        return list(combinations_of(*map(all_times, domain.parts)))
    if isinstance(domain, Sum):
        return [Tagged(tag, time) for tag, part in domain.summands.items() for time in all_times(part)]
    return [None]
