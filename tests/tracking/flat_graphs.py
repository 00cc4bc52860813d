"""Random graphs over flat times, and random work on them: what the compiled kernel and its twin are compared on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from math import inf
from typing import Any

from graphs.files.notation import read_summary
from graphs.graph import bind
from progress import Domain, Int, Lex, Nat, PointstampError, Product
from progress.engines.arcs import Entrances
from progress.order import is_number
from progress.summary import Summary
from progress.topology import NO_NODE, Network

FAMILIES: tuple[tuple[Domain, ...], ...] = (
    (Nat(),),
    (Int(),),
    (Nat(), Nat(3)),
    (Product([Nat(), Nat()]),),
    (Lex([Nat(), Nat()]),),
    (Nat(), Product([Nat(), Nat()]), Product([Nat(), Nat(), Nat()])),
    (Nat(), Lex([Nat(), Nat()]), Lex([Nat(), Nat(), Nat()])),
    (Int(), Product([Int(), Nat()])),
    (Lex([Nat(), Nat(2)]), Nat()),
    (Lex([Int(), Nat(2), Nat()]),),
    (Product([Nat(2), Nat()]), Product([Nat(2), Nat(), Nat(1)])),
    (Product([Nat()]), Lex([Nat()]), Nat()),
    (Product([Nat(0), Nat()]), Nat(0)),
    (Product([Nat(), Nat(), Nat(2), Nat()]), Product([Nat(), Nat(), Nat(2)])),
)
LARGEST = 4


def times_of(rng: random.Random, domain: Domain, largest: int = LARGEST) -> Any:
    """A time with small numbers."""
    if isinstance(domain, Product | Lex):
        return tuple(times_of(rng, part, largest) for part in domain.parts)
    if isinstance(domain, Nat):
        return rng.randint(0, largest if domain.maximum is None else min(largest, domain.maximum))
    return rng.randint(-largest, largest)


def random_until(rng: random.Random, domain: Domain) -> Any:
    """A time to wait for, perhaps without end in some coordinates."""
    if is_number(domain):
        return inf if rng.random() < 0.1 else times_of(rng, domain)
    numbers = list(times_of(rng, domain))
    if rng.random() < 0.2:
        numbers[rng.randrange(len(numbers))] = inf
    return tuple(numbers)


def _amounts(rng: random.Random, domain: Domain, least: int) -> Any:
    if isinstance(domain, Product | Lex):
        return [rng.choice([least, 0, 0, 1, 1, 2]) for _ in domain.parts]
    return rng.choice([least, 0, 1, 1, 2])


def _as_data(time: Any) -> Any:
    return list(time) if isinstance(time, tuple) else time


def random_summary(rng: random.Random, source: Domain, target: Domain, depth: int = 1) -> Summary | None:
    """A declared summary between two flat domains; None where those drawn do not fit."""
    for _ in range(12):
        declared = _notation(rng, source, target, depth)
        try:
            return bind(read_summary(declared), source, target)
        except PointstampError:
            continue
    return None


def _rising(rng: random.Random, domain: Domain) -> Summary:
    """A summary that never leads below its start."""
    rises: Any = rng.choice(
        ["identity", {"advance": _amounts(rng, domain, 0)}, {"at_least": _as_data(times_of(rng, domain))}]
    )
    if rng.random() < 0.2:
        rises = {"any": [rises, {"advance": _amounts(rng, domain, 0)}]}
    return bind(read_summary(rises), domain, domain)


def _advancing(rng: random.Random, domain: Domain) -> Summary:
    if is_number(domain):
        return bind(read_summary({"advance": rng.randint(1, 3)}), domain, domain)
    amounts = [rng.randint(0, 1) for _ in domain.parts]  # type: ignore[attr-defined]
    amounts[0] += not any(amounts)
    return bind(read_summary({"advance": amounts}), domain, domain)


def _notation(rng: random.Random, source: Domain, target: Domain, depth: int) -> Any:
    kind = rng.choice(
        [
            "identity",
            "advance",
            "advance",
            "advance",
            "fall",
            "feedback",
            "enter",
            "leave",
            "at_least",
            "constant",
            "any",
        ]
    )
    match kind:
        case "advance":
            return {"advance": _amounts(rng, source, 0)}
        case "fall":
            return {"advance": _amounts(rng, source, -1)}
        case "at_least":
            return {"at_least": _as_data(times_of(rng, source))}
        case "constant":
            return {"constant": _as_data(times_of(rng, target))}
        case "enter":
            return rng.choice(["enter", {"enter": rng.randint(0, 2)}])
        case "any" if depth:
            return {"any": [_notation(rng, source, target, depth - 1) for _ in range(rng.randint(2, 3))]}
        case "any":
            return "identity"
    return kind


def random_network(rng: random.Random, most_nodes: int = 7) -> Network:
    """A chain, a cycle, a layered, a dense or any other graph, over the domains of one family."""
    family = rng.choice(FAMILIES)
    number = rng.randint(1, most_nodes)
    domains = [rng.choice(family) for _ in range(number)]
    ends: list[tuple[int, int]] = []
    shape = rng.choice(["chain", "cycle", "layers", "dense", "any", "loops", "loops"])
    if shape == "loops" and rng.random() < 0.7:
        domains = [domains[0]] * number
    for one in range(number):
        for other in range(number):
            likely = {
                "chain": other == one + 1,
                "cycle": other == (one + 1) % number,
                "layers": other // 3 == one // 3 + 1,
                "dense": other > one or rng.random() < 0.1,
                "any": rng.random() < 0.3,
                "loops": other == one + 1 or rng.random() < 0.2,
            }[shape]
            if one != other and likely:
                ends.append((one, other))
                if rng.random() < 0.1:
                    ends.append((one, other))
    edges: list[tuple[int, int, Summary | None]] = []
    for one, other in ends:
        rising = shape == "loops" and domains[one] == domains[other]
        summary = _rising(rng, domains[one]) if rising else random_summary(rng, domains[one], domains[other])
        if other < one and rng.random() < 0.8:  # a way back that advances, or the kernel has nothing to do with it
            summary = _advancing(rng, domains[one]) if domains[one] == domains[other] else summary
        if summary is not None:
            edges.append((one, other, summary))
    edges += [(NO_NODE, node, None) for node in range(number) if rng.random() < 0.5 or not node]
    edges += [(node, NO_NODE, identity(domains[node])) for node in range(number) if rng.random() < 0.2]
    return network_of(domains, edges)


def identity(domain: Domain) -> Summary:
    """The summary that changes nothing."""
    return bind(read_summary("identity"), domain, domain)


def network_of(domains: Sequence[Domain], edges: Sequence[tuple[int, int, Summary | None]]) -> Network:
    """A network with nodes n0, n1, ... and edges e0, e1, ..."""
    return Network(
        [f"n{number}" for number in range(len(domains))],
        domains,
        [identity(domain) for domain in domains],
        [True] * len(domains),
        [f"e{number}" for number in range(len(edges))],
        [source for source, _, _ in edges],
        [target for _, target, _ in edges],
        [domains[target] if target != NO_NODE else domains[source] for source, target, _ in edges],
        [summary for _, _, summary in edges],
    )


def chain(domain: Domain, length: int, declared: Any = "identity") -> Network:
    """An input, and nodes one after the other."""
    summary = bind(read_summary(declared), domain, domain)
    edges: list[tuple[int, int, Summary | None]] = [(NO_NODE, 0, None)]
    return network_of([domain] * length, [*edges, *((node, node + 1, summary) for node in range(length - 1))])


def random_work(rng: random.Random, network: Network, length: int) -> list[tuple[Any, ...]]:
    """Updates of what is outstanding, never below zero, and waiters in between; the end takes all away."""
    domains = Entrances(network).arcs.domains
    outstanding: dict[tuple[int, Any], int] = {}
    waiters = count()
    work: list[tuple[Any, ...]] = []
    for turn in range(length):
        changes = []
        for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
            if outstanding and rng.random() < 0.3 + 0.5 * turn / length:
                vertex, time = rng.choice(list(outstanding))
                change = -rng.randint(1, outstanding[vertex, time])
            else:
                vertex = rng.randrange(len(domains))
                time, change = times_of(rng, domains[vertex]), rng.choice([1, 1, 2])
            changes.append((vertex, time, change))
            left = outstanding.get((vertex, time), 0) + change
            outstanding[vertex, time] = left
            if not left:
                del outstanding[vertex, time]
        work.append(("update", changes))
        for _ in range(rng.choice([0, 0, 1, 2])):
            vertex = rng.randrange(len(domains))
            work.append(("wait", vertex, random_until(rng, domains[vertex]), next(waiters)))
    work.append(("update", [(vertex, time, -number) for (vertex, time), number in outstanding.items()]))
    return work
