"""Summaries that never move a time down, whatever the order is: what they decide without knowing anything of it.

`identity`, `at_least`, `never`, and `any` and `then` of those, give times at or above the one they are given, on every
partial order. So a component of such edges satisfies Condition 2 (A&I 3.2). It stands still exactly where the bounds on
some closed walk have a common upper bound: from a time above all of them, the walk returns at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from progress.cycles.walk import Budget, Found, unfolded
from progress.normal_form.coordinate import Undecided
from progress.normal_form.declared import AnyOf, AtLeast, Identity, Never, Then
from progress.normal_form.generic import GenericSummary
from progress.summary import NoMinimalTimes, OpaqueSummary
from progress.topology import Network

STEPS_AN_APPLICATION = 5  # of a budget

Walk = tuple[int, Any]  # its last edge, and the walk before it


def rises_on_any_order(summary: object) -> bool:
    """Whether a summary over a domain of the user's own is one of those."""
    return isinstance(summary, OpaqueSummary) and _built_of(summary.custom, Identity | AtLeast | Never)


def is_silent_on_any_order(summary: object) -> bool:
    """Whether a summary over a domain of the user's own gives nothing at any time: `never`, or what passes one."""
    return isinstance(summary, OpaqueSummary) and _silent(summary.custom)


def _built_of(custom: object, kinds: Any) -> bool:
    if not isinstance(custom, GenericSummary):
        return False
    if isinstance(custom.declared, AnyOf | Then):
        return all(_built_of(part, kinds) for part in custom.parts)
    return isinstance(custom.declared, kinds)


def _silent(custom: object) -> bool:
    if not isinstance(custom, GenericSummary):
        return False
    if isinstance(custom.declared, AnyOf | Then):
        return (all if isinstance(custom.declared, AnyOf) else any)(map(_silent, custom.parts))
    return isinstance(custom.declared, Never)


def rising_standstill(network: Network, edges: Sequence[int], budget: Budget) -> Found | None:
    """A closed walk of a component of such edges that stands still, through a node that asks if there is such a one.

    From one of the bounds on a walk whose bounds have a common upper bound, the walk comes back; and where it comes
    back, it has passed them all and stands still. So only the bounds are tried, and any one time for walks without
    bounds. `Undecided` when the budget is used up, when a domain has no sample, or where minimal upper bounds do not
    exist. Cost: an application of a summary for each time that is reached from each of those.
    """
    outgoing: dict[int, list[int]] = {}
    for edge in edges:
        outgoing.setdefault(network.sources[edge], []).append(edge)
    bounds = [time for edge in edges for time in _bounds(network.summaries[edge])]
    for start in sorted(outgoing, key=lambda node: not network.notifies[node]):
        domain = network.domains[start]
        for time in dict.fromkeys([*(time for time in bounds if domain.contains(time)), *domain.sample()[:1]]):
            found = _way_back(network, outgoing, start, time, budget)
            if found is not None:
                return found
        if not bounds and not domain.sample():
            raise Undecided(f"{domain!r} has no sample")
    return None


def _bounds(summary: object) -> list[Any]:
    """The times that bound a summary from below."""
    assert isinstance(summary, OpaqueSummary)
    assert isinstance(summary.custom, GenericSummary)
    pending, found = [summary.custom], []
    while pending:
        part = pending.pop()
        pending += part.parts
        if isinstance(part.declared, AtLeast):
            found.append(part.declared.time)
    return found


def _way_back(network: Network, outgoing: dict[int, list[int]], start: int, time: Any, budget: Budget) -> Found | None:
    """A closed walk on which `time` comes back, at the time at which it does."""
    seen: set[tuple[int, Any]] = {(start, time)}
    level: list[tuple[int, Any, Walk | None]] = [(start, time, None)]
    while level:
        following: list[tuple[int, Any, Walk | None]] = []
        for node, here, walk in level:
            for edge in outgoing[node]:
                budget.charge(STEPS_AN_APPLICATION)
                summary, target = network.summaries[edge], network.targets[edge]
                assert summary is not None
                for result in _applied(summary.apply, here):
                    if target == start:
                        return Found(unfolded((edge, walk)), {"=": result})
                    if (target, result) not in seen:
                        seen.add((target, result))
                        following.append((target, result, (edge, walk)))
        level = following
    return None


def _applied(apply: Callable[[Any], tuple[Any, ...]], time: Any) -> tuple[Any, ...]:
    try:
        return apply(time)
    except NoMinimalTimes as error:
        raise Undecided(str(error)) from None
