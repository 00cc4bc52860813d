"""Random graphs over times that can fall without end, as sets without least times, and what the reference says of them.

In lex [nat, int] a summary {advance: [-1, 0]} leads from (0, 5) to every (0, v). The reference has no such sets. But
where all numbers are small, an int is a nat that begins far below them: of the *sunken* graph, in which each int is a
nat with `DEEP` in place of 0, the reference says everything, and a minimal time far below the others, at the ground,
stands for times that fall without end.
"""

from __future__ import annotations

import random
from typing import Any

Json = Any
DEEP = 10_000
GROUND = DEEP // 2  # what is below has fallen
DOMAINS: list[Json] = [
    {"lex": ["nat", "int"]},
    {"lex": ["nat", "nat", "int"]},
    {"lex": ["nat", "int", "nat"]},
    {"lex": ["int", "nat", "int"]},
    {"lex": ["nat", "int", "nat", {"nat": {"max": 3}}]},
    {"lex": [{"nat": {"max": 2}}, "int"]},
    {"product": [{"lex": ["nat", "int"]}, "nat"]},
    {"product": [{"lex": ["nat", "int"]}, {"lex": ["nat", "int"]}]},
    {"sum": {"a": {"lex": ["nat", "int"]}, "b": "nat"}},
]


def sunken_domain(domain: Json) -> Json:
    """The domain with a nat for each int."""
    if isinstance(domain, str):
        return "nat" if domain == "int" else domain
    [(word, parts)] = domain.items()
    if word == "sum":
        return {word: {tag: sunken_domain(part) for tag, part in parts.items()}}
    return {word: list(map(sunken_domain, parts))} if word in ("lex", "product") else domain


def sunken(domain: Json, time: Json) -> Json:
    """A time in JSON form, seen from the ground; also for what `advance` takes, where `DEEP` is no matter."""
    if domain == "int":
        return time + DEEP
    if not isinstance(domain, dict):
        return time
    [(word, parts)] = domain.items()
    if word == "sum":
        [(tag, value)] = time.items()
        return {tag: sunken(parts[tag], value)}
    return [sunken(part, item) for part, item in zip(parts, time, strict=True)] if word != "nat" else time


def risen(domain: Json, time: Any) -> Any:
    """A time of the reference in the sunken graph, as JSON has it in the graph itself; None where it has fallen."""
    if domain == "int":
        return time - DEEP if time >= GROUND else None
    if not isinstance(domain, dict):
        return time
    [(word, parts)] = domain.items()
    if word == "nat":
        return time
    if word == "sum":
        value = risen(parts[time[0]], time[1])
        return None if value is None else {time[0]: value}
    found = [risen(part, item) for part, item in zip(parts, time, strict=True)]
    return None if None in found else found


def random_time(rng: random.Random, domain: Json) -> Json:
    """A time of small numbers."""
    match domain:
        case "nat":
            return rng.choice([0, 0, 1, 2, 3, 5])
        case "int":
            return rng.randint(-3, 3)
        case {"nat": options}:
            return rng.randint(0, options["max"])
        case {"sum": parts}:
            tag = rng.choice(list(parts))
            return {tag: random_time(rng, parts[tag])}
    [parts] = domain.values()
    return [random_time(rng, part) for part in parts]


def _amount(rng: random.Random, domain: Json) -> Json:
    if domain in ("nat", "int"):
        return rng.choice([-1, -1, 0, 0, 0, 1, 1, 2])
    [(word, parts)] = domain.items()
    return [_amount(rng, part) for part in parts] if word in ("lex", "product") else 0


def _summary(rng: random.Random, domain: Json, depth: int = 1) -> tuple[Json, Json]:
    """A summary, and the same in the sunken graph."""
    kind = rng.choices(["advance", "identity", "at_least", "constant", "any", "then"], [9, 3, 2, 1, depth, depth])[0]
    if kind == "advance":
        amount = _amount(rng, domain) if "sum" not in domain else 0
        return {"advance": amount}, {"advance": amount}
    if kind in ("at_least", "constant"):
        time = random_time(rng, domain)
        return {kind: time}, {kind: sunken(domain, time)}
    if kind in ("any", "then"):
        parts = [_summary(rng, domain, 0) for _ in range(2)]
        return {kind: [one for one, _ in parts]}, {kind: [other for _, other in parts]}
    return kind, kind


def random_falling_graph(rng: random.Random) -> tuple[Json, Json]:
    """A graph of two to five nodes with an input, with or without cycles, and the sunken one."""
    domain = rng.choice(DOMAINS)
    names = "pqrst"[: rng.randint(2, 5)]
    edges: list[Json] = [{"id": "in", "to": names[0]}, {"id": "out", "from": names[-1]}]
    for place, name in enumerate(names[1:]):
        edges.append({"id": f"e{place}", "from": rng.choice(names[: place + 1]), "to": name})
    for extra in range(rng.choice([0, 0, 1, 2])):
        source, target = rng.sample(names, 2)
        edges.append({"id": f"x{extra}", "from": source, "to": target})
    nodes: dict[str, Json] = {}
    deep: dict[str, Json] = {}
    for name in names:
        one, other = _summary(rng, domain)
        nodes[name], deep[name] = {"summary": one}, {"summary": other}
    graph = {"pointstamp": 1, "time": domain, "nodes": nodes, "edges": edges}
    return graph, graph | {"time": sunken_domain(domain), "nodes": deep}
