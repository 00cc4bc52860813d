"""Graphs over domains and summaries of the user's own that mean the same as a graph file: the reference knows both.

An own domain hides one of the reference's behind the protocol of `progress.order.Domain`; an own summary is an `apply`.
So an engine has nothing to go by but the protocols, and the oracle judges it all the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from graphs import Graph
from progress import Tagged, reference
from progress.reference import times as reference_times
from progress.reference.times import Time, window

Json = Any


class OwnDomain:
    """A domain of the reference, hidden; equal to itself alone, as users write them."""

    def __init__(self, domain: reference_times.Domain) -> None:
        self._domain = domain
        few = window(domain, 1)  # of a box of 0 and 1 in each coordinate, two times are incomparable if any are
        self.is_total = all(self.less_equal(a, b) or self.less_equal(b, a) for a in few for b in few)

    def __repr__(self) -> str:
        return f"own {self._domain!r}"

    def contains(self, value: object) -> bool:
        return reference_times.contains(self._domain, value)

    def less_equal(self, earlier: Time, later: Time) -> bool:
        return reference_times.less_equal(self._domain, earlier, later)

    def minimal_upper_bounds(self, one: Time, other: Time) -> tuple[Time, ...]:
        return reference_times.minimal_upper_bounds(self._domain, one, other)

    def least(self) -> tuple[Time, ...]:
        return reference_times.least(self._domain)

    def sort_key(self, value: Time) -> Any:
        return _key(self._domain, value)

    def sample(self) -> list[Time]:
        return window(self._domain, 1)[:12]


def _key(domain: reference_times.Domain, time: Time) -> Any:
    """Strictly greater for what is strictly later."""
    match domain:
        case ("nat", _) | ("int",):
            return time
        case ("unit",):
            return 0
        case ("finite", _, pairs):
            return sum(b == time for _, b in pairs)
        case ("sum", options):
            return ([tag for tag, _ in options].index(time[0]), _key(dict(options)[time[0]], time[1]))
    return tuple(_key(part, value) for part, value in zip(domain[1], time, strict=True))


class OwnSummary:
    """A summary of the reference, hidden: its hull at one time."""

    def __init__(
        self, summary: Json, source: reference_times.Domain, target: reference_times.Domain, own_target: bool
    ) -> None:
        self._summary = (summary, source, target)
        self._own_target = own_target
        self._known: dict[Time, list[Time]] = {}  # the reference is slow

    def apply(self, time: Time) -> Iterable[Time]:
        if time not in self._known:
            times = list(reference_times.hull(*self._summary, time))
            self._known[time] = times if self._own_target else [built_in(self._summary[2], after) for after in times]
        return self._known[time]


def built_in(domain: reference_times.Domain, time: Time) -> Time:
    """A time as the built-in domain knows it: what the reference writes as a pair with a tag is a `Tagged`."""
    match domain:
        case ("product" | "lex", parts):
            return tuple(built_in(part, value) for part, value in zip(parts, time, strict=True))
        case ("sum", options):
            return Tagged(time[0], built_in(dict(options)[time[0]], time[1]))
    return time


def notation(domain: reference_times.Domain) -> Json:
    """The domain as a graph file names it."""
    match domain:
        case ("nat", None) | ("int",) | ("unit",):
            return domain[0]
        case ("nat", maximum):
            return {"nat": {"max": maximum}}
        case ("finite", elements, pairs):
            return {"finite": {"elements": sorted(elements), "below": [[a, b] for a, b in sorted(pairs) if a != b]}}
        case ("sum", options):
            return {"sum": {tag: notation(part) for tag, part in options}}
    return {domain[0]: list(map(notation, domain[1]))}


def own_twin(rng: random.Random, oracle: reference.Graph) -> tuple[Graph, set[str]]:
    """The same graph with some of its domains, or all, and with some summaries the user's own; and the locations whose
    domains are. Every summary from or to an own domain is own."""
    domains = dict.fromkeys(oracle.domain[location] for location in oracle.locations)
    share = rng.choice([0.0, 0.5, 1.0])
    hidden = {domain: OwnDomain(domain) for domain in domains if rng.random() < share}

    def domain_at(location: str) -> Any:
        domain = oracle.domain[location]
        return hidden[domain] if domain in hidden else notation(domain)

    def summary(data: Json, source: str, target: str) -> Any:
        own = oracle.domain[source] in hidden or oracle.domain[target] in hidden
        if not own and rng.random() < 0.5:
            return data
        return OwnSummary(data, oracle.domain[source], oracle.domain[target], oracle.domain[target] in hidden)

    graph = Graph()
    for node in oracle.nodes:
        graph.node(
            node,
            time=domain_at(node),
            emits={edge: summary(oracle.summary[edge], node, edge) for edge in oracle.outgoing[node]},
            requests=summary(oracle.requests[node], node, node),
            notify=oracle.notifies[node],
        )
    for edge in oracle.edges:
        graph.edge(oracle.source[edge], oracle.destination[edge], id=edge, time=domain_at(edge))
    return graph, {location for location in oracle.locations if oracle.domain[location] in hidden}
