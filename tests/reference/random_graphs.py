"""Random graph files and queries: correct format-1 documents as plain data, over all domains and all summaries.

Everything follows from the `random.Random` that is handed in; times are in JSON form, to be read by whoever answers.

    rng = random.Random(seed)
    document = random_document(rng)
    query = random_query(rng, document)       # a line of `pointstamp ask`

The one combination left out: an `int` after the first coordinate of a lex, together with a summary that makes an
earlier coordinate grow before the int may start again: a negative advance, or an advance beyond a maximum. From (0, 5)
in lex [nat, int], {advance: [-1, 0]} gives (0, v) for every integer v, and minimal times do not exist. So before the
last int of a lex there are only nat and int, and no summary on such a lex advances by a negative amount.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from progress import reference
from progress.reference.times import Domain, domain_from_json, domains_between, sufficient_bound, time_to_json, window

Json = Any
Document = dict[str, Any]

POSETS: list[Json] = [
    {"finite": {"elements": ["a", "b", "c"], "below": [["a", "b"], ["b", "c"]]}},  # total
    {"finite": {"elements": ["high", "low"], "below": [["low", "high"]]}},  # total, listed downwards
    {"finite": {"elements": ["a", "b", "c", "d"], "below": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]}},
    {"finite": {"elements": ["a", "b", "c", "d"], "below": [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]}},
    {"finite": {"elements": ["a", "b", "c"], "below": [["a", "b"], ["a", "c"]]}},
    {"finite": {"elements": ["a", "b", "c"], "below": [["a", "c"], ["b", "c"]]}},
    {"finite": {"elements": ["a", "b"], "below": []}},
    {"finite": {"elements": ["x"]}},
]


# Domains


def random_domain(rng: random.Random, depth: int = 2) -> Json:
    """A domain of any kind; products, lex and sums nest to `depth`."""
    if depth == 0 or rng.random() < 0.45:
        return rng.choices(["nat", _nat_with_maximum(rng), "int", "unit", rng.choice(POSETS)], [6, 3, 3, 1, 4])[0]
    match rng.choices(["product", "lex", "sum"], [4, 4, 2])[0]:
        case "product":
            return {"product": [random_domain(rng, rng.randrange(depth)) for _ in range(rng.choice([1, 2, 2, 2, 3]))]}
        case "lex":
            return _random_lex(rng, depth)
        case _:
            tags = rng.sample(["left", "right", "other"], rng.choice([1, 2, 2, 3]))
            return {"sum": {tag: random_domain(rng, rng.randrange(depth)) for tag in tags}}


def _random_domain_to_start_from(rng: random.Random) -> Json:
    """A domain of at most three coordinates: the reference enumerates boxes."""
    while _coordinates(domain := random_domain(rng)) > 3:
        pass
    return domain


def _coordinates(domain: Json) -> int:
    if _kind(domain) == "sum":
        return max(map(_coordinates, domain["sum"].values()))
    return sum(map(_coordinates, _parts(domain))) or 1


def _random_lex(rng: random.Random, depth: int) -> Json:
    if rng.random() < 0.15:
        return {"lex": rng.choice([["nat", "int"], ["int", "int"], ["nat", "int", _nat_with_maximum(rng)]])}
    parts = [rng.choice(["nat", "nat", "int", _nat_with_maximum(rng), POSETS[rng.randrange(2)]])]
    if depth > 1 and rng.random() < 0.2:
        parts = [{"lex": [parts[0], "nat"]}]
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        part = rng.choice(["nat", "nat", "nat", _nat_with_maximum(rng), POSETS[rng.randrange(2)], "unit"])
        parts.append({"lex": [part, "nat"]} if depth > 1 and rng.random() < 0.1 else part)
    return {"lex": parts}


def _nat_with_maximum(rng: random.Random) -> Json:
    return {"nat": {"max": rng.choice([0, 1, 2, 2, 3, 4])}}


def _kind(domain: Json) -> str:
    return domain if isinstance(domain, str) else next(iter(domain))


def _parts(domain: Json) -> list[Json]:
    return domain[_kind(domain)] if _kind(domain) in ("product", "lex") else []


def _has_late_int(domain: Json) -> bool:
    """Whether somewhere in it an int is after the first coordinate of a lex."""
    match domain:
        case {"lex": parts}:
            return any(map(_has_int, parts[1:])) or any(map(_has_late_int, parts))
        case {"product": parts}:
            return any(map(_has_late_int, parts))
        case {"sum": parts}:
            return any(map(_has_late_int, parts.values()))
    return False


def _has_int(domain: Json) -> bool:
    match domain:
        case {"lex": parts} | {"product": parts}:
            return any(map(_has_int, parts))
        case {"sum": parts}:
            return any(map(_has_int, parts.values()))
    return bool(domain == "int")


def _size(domain: Json) -> int | None:
    """How many times the domain has; None: infinitely many."""
    match domain:
        case "nat" | "int":
            return None
        case "unit":
            return 1
        case {"nat": options}:
            return int(options["max"]) + 1
        case {"finite": options}:
            return len(options["elements"])
        case {"sum": parts}:
            sizes = [_size(part) for part in parts.values()]
            return None if None in sizes else sum(size for size in sizes if size is not None)
    sizes = [_size(part) for part in _parts(domain)]
    size = 1
    for each in sizes:
        if each is None:
            return None
        size *= each
    return size


def random_time_of(rng: random.Random, domain: Json, largest: int = 5) -> Json:
    """A time of the domain, in JSON form, with numbers up to `largest`."""
    match domain:
        case "nat":
            return rng.randint(0, largest)
        case "int":
            return rng.randint(-largest, largest)
        case "unit":
            return None
        case {"nat": options}:
            return rng.randint(0, min(largest, options["max"]))
        case {"finite": options}:
            return rng.choice(options["elements"])
        case {"sum": parts}:
            tag = rng.choice(list(parts))
            return {tag: random_time_of(rng, parts[tag], largest)}
    return [random_time_of(rng, part, largest) for part in _parts(domain)]


# Summaries


def random_summary(rng: random.Random, source: Json, target: Json, depth: int = 2) -> Json:
    """A summary from `source` to `target`, any of the table that fits."""
    choices: list[tuple[float, Callable[[], Json]]] = [
        (0.6, lambda: {"constant": random_time_of(rng, target, 4)}),
        (0.4, lambda: "never"),
    ]
    if source == target:
        least = 0 if _has_late_int(source) else -2
        choices.append((5, lambda: "identity"))
        choices.append((1.2, lambda: {"at_least": random_time_of(rng, source, 4)}))
        choices.append((7 if _has_number(source) else 0.3, lambda: {"advance": _random_amount(rng, source, least)}))
        if _ends_in_number(source):
            choices.append((3, lambda: "feedback"))
        if _kind(source) in ("nat", "int"):
            choices.append((1.5, lambda: {"round_up": rng.randint(1, 4)}))
    if _enters(source, target):
        choices.append((8, lambda: _random_enter(rng, _counter(source, target))))
    if target in _after_leave(source):
        choices.append((12, lambda: "leave"))
    if _kind(target) == "sum" and source in target["sum"].values():
        choices.append((12, lambda: {"tag": rng.choice([t for t in target["sum"] if target["sum"][t] == source])}))
    if _kind(source) == "sum" and target in source["sum"].values():
        choices.append((12, lambda: {"untag": rng.choice([t for t in source["sum"] if source["sum"][t] == target])}))
    if (_size(source) or 99) <= 12:
        choices.append((5, lambda: {"map": _random_table(rng, source, target)}))
    if depth > 0:
        choices.append((2.5, lambda: _random_chain(rng, source, target, depth)))
        wide = _kind(target) in ("product", "finite", "sum")
        choices.append((3.5 if wide else 1.5, lambda: {"any": [some(depth - 1) for _ in range(rng.randint(1, 3))]}))

    def some(deeper: int) -> Json:
        return random_summary(rng, source, target, deeper)

    return rng.choices([make for _, make in choices], [weight for weight, _ in choices])[0]()


def _random_chain(rng: random.Random, source: Json, target: Json, depth: int) -> Json:
    """A `then` whose domains in between are clear without being named."""

    def on(domain: Json) -> Json:
        return random_summary(rng, domain, domain, depth - 1)

    def into(before: Json, after: Json) -> Json:
        return random_summary(rng, before, after, depth - 1)

    choices: list[Callable[[], list[Json]]] = []
    if source == target:
        choices += [lambda: [on(source) for _ in range(rng.randint(1, 3))]]
        if not _has_late_int(source):
            inside = {_kind(source): [*_parts(source), "nat"]} if _parts(source) else {"product": [source, "nat"]}
            choices.append(lambda: ["enter", on(inside), "leave"])
        if _kind(source) == "sum":
            tag = rng.choice(list(source["sum"]))
            choices.append(lambda: [{"untag": tag}, on(source["sum"][tag]), {"tag": tag}])
        outer = _outer(source)
        if outer is not None and _parts(source)[-1] == "nat":
            choices.append(lambda: ["leave", "enter"])
            choices.append(lambda: ["leave", on(outer), "enter"])
    else:
        choices.append(lambda: [on(source), into(source, target)])
        choices.append(lambda: [into(source, target), on(target)])
    chain = rng.choice(choices)()
    clear = chain[0] in ("enter", "leave") or _is_clear(chain, source, target)
    return {"then": chain} if clear else chain[0] if source == target else into(source, target)


def _is_clear(chain: list[Json], source: Json, target: Json) -> bool:
    """Whether only one domain is possible after each member."""
    return len(domains_between(chain, domain_from_json(source), domain_from_json(target))) == 1


def _outer(domain: Json) -> Json | None:
    """Where `leave` leads such that `enter` leads back."""
    kind, parts = _kind(domain), _parts(domain)
    if len(parts) > 2:
        return {kind: parts[:-1]}
    return parts[0] if len(parts) == 2 and not _parts(parts[0]) else None


def _after_leave(domain: Json) -> list[Json]:
    kind, parts = _kind(domain), _parts(domain)
    if len(parts) < 2:
        return []
    inside = [{kind: [*parts[:-1], inner]} for inner in _after_leave(parts[-1])]
    return [{kind: parts[:-1]}] + ([parts[0]] if len(parts) == 2 else []) + inside


def _enters(source: Json, target: Json) -> bool:
    """Whether `enter` leads from one to the other."""
    parts = _parts(target)
    if _parts(source):
        if _kind(source) != _kind(target):
            return False
        return parts[:-1] == _parts(source) or (_alike(source, target) and _enters(_parts(source)[-1], parts[-1]))
    return len(parts) == 2 and parts[0] == source


def _alike(source: Json, target: Json) -> bool:
    """Whether they differ at most in what their last coordinate is."""
    return len(_parts(source)) == len(_parts(target)) and _parts(source)[:-1] == _parts(target)[:-1]


def _counter(source: Json, target: Json) -> Json:
    """The coordinate that the one has and the other has not."""
    last = _parts(target)[-1]
    return _counter(_parts(source)[-1], last) if len(_parts(source)) == len(_parts(target)) else last


def _random_enter(rng: random.Random, coordinate: Json) -> Json:
    zero = _kind(coordinate) in ("nat", "int")
    return "enter" if zero and rng.random() < 0.6 else {"enter": random_time_of(rng, coordinate, 3)}


def _random_amount(rng: random.Random, domain: Json, least: int) -> Json:
    """What `advance` may add, in the shape of the domain: 0 where it has no number."""
    if _kind(domain) in ("nat", "int"):
        return rng.choice([-2, -1, -1, 0, 1, 1, 1, 2, 3] if least < 0 else [0, 1, 1, 2, 3])
    if _parts(domain):
        return [_random_amount(rng, part, least) for part in _parts(domain)]
    return 0


def _has_number(domain: Json) -> bool:
    return any(map(_has_number, _parts(domain))) if _parts(domain) else _kind(domain) in ("nat", "int")


def _ends_in_number(domain: Json) -> bool:
    return _ends_in_number(_parts(domain)[-1]) if _parts(domain) else _kind(domain) in ("nat", "int")


def _random_table(rng: random.Random, source: Json, target: Json) -> list[Json]:
    """Pairs for `map`: partial, with several results, monotone by chance only."""
    times = [time_to_json(domain_from_json(source), time) for time in window(domain_from_json(source), 12)]
    table = [[time, random_time_of(rng, target, 4)] for time in times for _ in range(rng.choice([0, 1, 1, 1, 2]))]
    return table or [[rng.choice(times), random_time_of(rng, target, 4)]]


# Documents


def random_document(rng: random.Random) -> Document:
    """A correct graph file: 2 to 6 nodes, up to 8 edges, numbers up to 4, with or without cycles and conditions."""
    domains = _random_family(rng)
    names = ["p", "q", "r", "s", "t u", "v"][: rng.randint(2, 6)]
    domain_of = {name: rng.choice(domains) for name in names}
    edges = _random_edges(rng, names)
    default = rng.choice([None, domains[0], domain_of[names[0]]])

    nodes: dict[str, Json] = {}
    for name in names:
        node: dict[str, Json] = {}
        if domain_of[name] != default or rng.random() < 0.1:
            node["time"] = domain_of[name]
        outgoing = [edge for edge in edges if edge.get("from") == name]
        for edge in outgoing:
            if "to" not in edge and rng.random() < 0.6:
                edge["time"] = rng.choice([domain_of[name], *domains])
        node.update(_random_node_summaries(rng, domain_of, outgoing, domain_of[name]))
        if rng.random() < 0.2:
            node["notify"] = rng.random() < 0.3
        if node.get("notify", True) and rng.random() < 0.2:
            node["requests"] = random_summary(rng, domain_of[name], domain_of[name])
        if rng.random() < 0.05:
            node["label"] = "a node, as people call it"
        nodes[name] = node

    for edge in edges:
        if "to" in edge and rng.random() < 0.15:
            edge["time"] = domain_of[edge["to"]]
    document: Document = {"pointstamp": 1, "nodes": nodes, "edges": edges}
    if default is not None:
        document["time"] = default
    if rng.random() < 0.1:
        document["name"] = "random"
    return document


def _random_family(rng: random.Random) -> list[Json]:
    """Domains that make one graph: one for all, a loop in a loop, the parts of a sum, or anything."""
    first = _random_domain_to_start_from(rng)
    match rng.choices(["one", "loops", "loops beside epochs", "sum", "any"], [8, 8, 3, 2, 4])[0]:
        case "one":
            return [first]
        case "loops beside epochs":
            counters = ["nat", rng.choice(["nat", {"nat": {"max": 3}}])]
            found = [first, {"product": [first, "nat"]}, {"product": [first, {"lex": counters}]}]
            return found if _coordinates(first) > 1 else [*found, {"product": [first, {"lex": [*counters, "nat"]}]}]
        case "loops":
            late_int = _has_late_int(first)
            counters = ["nat", "nat", "nat", {"nat": {"max": 3}}] if not late_int else ["nat"]
            if _parts(first):
                kind = _kind(first)
            else:
                total = _kind(first) in ("nat", "int", "unit") or first in POSETS[:2]
                kind = rng.choice(["product", "lex"]) if total else "product"
            counters += ["int"] if kind == "product" else []
            inner = {kind: [*(_parts(first) or [first]), rng.choice(counters)]}
            innermost = {kind: [*_parts(inner), rng.choice(counters)]}
            return [first, inner, innermost] if _coordinates(innermost) <= 4 else [first, inner]
        case "sum":
            parts = [first, random_domain(rng, 1)]
            return [*parts, {"sum": dict(zip(["left", "right"], parts, strict=True))}]
        case _:
            return [first, *(_random_domain_to_start_from(rng) for _ in range(rng.randint(1, 2)))]


def _random_edges(rng: random.Random, names: Sequence[str]) -> list[dict[str, Json]]:
    """Internal edges (parallel ones too; often a ring first), input edges and output edges, at most 8."""
    pairs: list[tuple[str, str]] = []
    if rng.random() < 0.6:
        ring = rng.sample(names, rng.randint(2, len(names)))
        pairs = list(zip(ring, ring[1:] + ring[:1], strict=True))
    while len(pairs) < 6 and rng.random() < 0.7:
        source, destination = rng.sample(names, 2)
        pairs.append((source, destination))
        if len(pairs) < 6 and rng.random() < 0.1:
            pairs.append((source, destination))
    edges: list[dict[str, Json]] = []
    for number, (source, destination) in enumerate(pairs):
        edge = {"from": source, "to": destination}
        if pairs.count((source, destination)) > 1 or rng.random() < 0.7:
            edge = {"id": f"e{number}", **edge}
        edges.append(edge)
    for number in range(rng.choice([0, 1, 1, 2])):
        edges.append({"id": f"in{number}", "to": rng.choice(names)})
    for number in range(min(rng.choice([0, 0, 1, 2]), 8 - len(edges))):
        edges.append({"id": f"out{number}", "from": rng.choice(names)})
    rng.shuffle(edges)
    return edges


def _random_node_summaries(
    rng: random.Random, domain_of: dict[str, Json], outgoing: Sequence[dict[str, Json]], source: Json
) -> dict[str, Json]:
    """`summary` and `emits` of a node that fit all its outgoing edges."""
    targets = [domain_of[edge["to"]] if "to" in edge else edge.get("time") for edge in outgoing]
    named = [target for target in targets if target is not None]
    result: dict[str, Json] = {}
    usual = "identity"
    usual_target = source
    if outgoing and rng.random() < 0.5:
        usual_target = rng.choice(named) if named else source
        usual = result["summary"] = random_summary(rng, source, usual_target)
    emits = {}
    for edge, target in zip(outgoing, targets, strict=True):
        if target is None:
            if rng.random() < 0.5 and not _needs_declaration(usual):
                continue
            summary = rng.choice(_undeclared(rng, source))
        elif target == usual_target and rng.random() < 0.6:
            continue
        else:
            summary = random_summary(rng, source, target)
        emits[edge.get("id", f"{edge.get('from')}->{edge.get('to')}")] = summary
    if emits:
        result["emits"] = emits
    if "summary" in result and len(emits) == len(outgoing):
        del result["summary"]  # it would say nothing
    return result


def _needs_declaration(summary: Json) -> bool:
    """Whether an output edge should declare its domain after this summary, because the summary may not tell it."""
    return any(word in repr(summary) for word in ("tag", "constant", "map", "never", "enter", "leave", "any"))


def _undeclared(rng: random.Random, source: Json) -> list[Json]:
    """Summaries after which an output edge needs no `time`."""
    choices = ["identity", "enter", {"enter": 2}, random_summary(rng, source, source, 0)]
    return choices + (["leave"] if len(_parts(source)) > 1 else [])


def window_bound(document: Document, times: int = 50) -> tuple[int, bool]:
    """How far the reference may look for the conditions when it shall look at no more than so many times a location,
    and whether that is sufficient, so that its "holds" is certain (its "does not hold" always is)."""
    bound, domains = 1, set(domains_of(document).values())
    while all(len(window(domain, bound + 1)) <= times for domain in domains):
        bound += 1
        if bound >= sufficient_bound(document):
            return bound, True
    return bound, bound >= sufficient_bound(document)


# Queries


def domains_of(document: Document) -> dict[str, Domain]:
    """The domain of every location."""
    return reference.Graph(document).domain


def random_time(rng: random.Random, document: Document, location: str, largest: int = 6) -> Json:
    """A time at the location, in JSON form."""
    return _random_time(rng, domains_of(document)[location], largest)


def _random_time(rng: random.Random, domain: Domain, largest: int) -> Json:
    match domain:
        case ("nat", maximum):
            return rng.randint(0, largest if maximum is None else min(largest, maximum))
        case ("int",):
            return rng.randint(-largest, largest)
        case ("unit",):
            return None
        case ("finite", elements, _):
            return rng.choice(sorted(elements))
        case ("sum", options):
            tag, part = rng.choice(options)
            return {tag: _random_time(rng, part, largest)}
    return [_random_time(rng, part, largest) for part in domain[1]]


def random_query(
    rng: random.Random, document: Document, kind: str | None = None, graph: reference.Graph | None = None
) -> Json:
    """A query of `pointstamp ask`: `could_result_in`, `close`, `contains` or `eligible`, correct for the document.

    Whoever has it may hand in the reference's view of the document, which saves building it.
    """
    graph = graph or reference.Graph(document)

    def pointstamp(locations: Sequence[str], largest: int) -> Json:
        location = rng.choice(locations)
        return [location, _random_time(rng, graph.domain[location], largest)]

    largest = rng.choice([1, 2, 4])
    match kind or rng.choices(["could_result_in", "close", "contains", "eligible"], [4, 3, 1, 3])[0]:
        case "could_result_in":
            start = pointstamp(graph.locations, largest)
            ends = _reachable(graph, start[0]) if rng.random() < 0.8 else graph.locations
            return {"could_result_in": [start, pointstamp(ends, largest + 3)]}
        case "close":
            number = rng.choices([0, 1, 2, 3], [1, 20, 15, 10])[0]
            return {"close": [pointstamp(graph.locations, largest) for _ in range(number)]}
        case "contains":
            start = [pointstamp(graph.locations, largest) for _ in range(rng.choice([1, 1, 2, 3]))]
            return {"contains": {"close": start, "pointstamp": pointstamp(graph.locations, largest + 3)}}
        case _:
            asking = [node for node in graph.nodes if graph.notifies[node]]
            messages = [pointstamp(graph.edges, largest + 2) for _ in range(rng.randint(0, 3) if graph.edges else 0)]
            wanted = [pointstamp(asking, largest) for _ in range(rng.randint(1, 4) if asking else 0)]
            requests = [request for i, request in enumerate(wanted) if request not in wanted[:i]]
            return {"eligible": {"messages": messages, "requests": requests}}


def _reachable(graph: reference.Graph, start: str) -> list[str]:
    found = [start]
    for location in found:
        found += [y for y in _neighbours(graph, location) if y not in found]
    return found


def _neighbours(graph: reference.Graph, location: str) -> list[str]:
    if location in graph.outgoing:
        return graph.outgoing[location]
    destination = graph.destination[location]
    return [] if destination is None else [destination]


FLAT = ("nat", "int", {"product": ["nat", "nat"]}, {"lex": ["nat", "nat"]}, {"product": ["int", "nat", "nat"]})


def flat_document(rng: random.Random) -> dict[str, Any]:
    """A graph over numbers and rows of numbers whose cycles advance: what the compiled kernel takes.

    Some nodes are inside a loop, with one more coordinate. An edge to an earlier node adds to the first coordinate.
    Where there is none, summaries may also fall, be constant or have an end.
    """
    outer = rng.choice(FLAT)
    parts = [outer] if isinstance(outer, str) else list(next(iter(outer.values())))
    word = "product" if isinstance(outer, str) else next(iter(outer))
    inner = {word: [*parts, "nat"]}
    names = ["p", "q", "r", "s", "v", "w"][: rng.randint(2, 6)]
    inside = {name: rng.random() < 0.3 for name in names}
    loops = rng.random() < 0.7
    nodes: dict[str, Any] = {
        name: {"time": inner if inside[name] else outer, "emits": {}, "notify": rng.random() < 0.8} for name in names
    }
    edges: list[dict[str, Any]] = []

    def amount(name: str, least: int, first: int) -> Any:
        places = len(parts) + inside[name]
        amounts = [rng.choice((least, 0, 0, 1)) for _ in range(places)]
        amounts[0] = max(amounts[0], first) if first else amounts[0]
        return amounts if places > 1 or not isinstance(nodes[name]["time"], str) else amounts[0]

    def within(name: str, back: bool) -> Any:
        kind = rng.random()
        if back or (loops and kind < 0.8):
            return {"advance": amount(name, 0, int(back))}
        if kind < 0.5:
            return "identity"
        if loops or kind < 0.7:
            return {"any": [{"advance": amount(name, 0, 0)}, {"advance": amount(name, 0, 0)}]}
        bound = amount(name, 1, 0)
        return rng.choice(({"advance": amount(name, -1, 0)}, {"at_least": bound}, {"constant": bound}))

    for number in range(rng.randint(1, 9)):
        source, target = rng.sample(range(len(names)), 2)
        if source > target and not loops:
            source, target = target, source
        before, after = names[source], names[target]
        summary = within(before, source > target)
        if inside[before] != inside[after]:
            summary = {"then": [summary, "leave" if inside[before] else "enter"]}
        nodes[before]["emits"][f"e{number}"] = summary
        edges.append({"id": f"e{number}", "from": before, "to": after})
    for number, name in enumerate(rng.sample(names, rng.randint(1, 2))):
        edges.append({"id": f"in{number}", "to": name})
    edges.append({"id": "out", "from": names[-1], "time": nodes[names[-1]]["time"]})
    return {"pointstamp": 1, "nodes": nodes, "edges": edges}
