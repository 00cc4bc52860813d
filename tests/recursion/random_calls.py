"""Random graphs with calls, as plain data of format 1, and stacks for their locations.

    rng = random.Random(seed)
    document = random_calls(rng)                # meets the requirements of A&I 3.4
    document = random_unmet(rng)                # fails some of them, mostly

About half the graphs have cycles, many of them through a call, so that calls follow themselves; some have several
procedures that call each other, some have epochs and edges to the outside. A procedure may be one that nobody calls.
"""

from __future__ import annotations

import random
from typing import Any

from progress.order import Tagged
from recursion.reference import Graph, Stack

Json = Any
Document = dict[str, Any]

EPOCHS: list[Json] = [
    "nat",
    "nat",
    "int",
    {"product": ["nat", "nat"]},
    {"finite": {"elements": ["a", "b", "c"], "below": [["a", "b"], ["a", "c"]]}},
]


def random_calls(
    rng: random.Random, procedures: int | None = None, epochs: bool | None = None, ordinary: int | None = None
) -> Document:
    """A graph with 1 to 3 calls that meets the requirements; `procedures`, `epochs` and the number of `ordinary` nodes
    of each as given, or drawn."""
    number = procedures or rng.choice([1, 1, 1, 1, 2, 2, 3])
    calls = _calls(rng, number)
    nodes: dict[str, Json] = {}
    edges: list[Json] = []
    bodies: dict[str, Json] = {}
    for name, inside in calls.items():
        bodies[name] = _body(rng, name, inside, list(calls), nodes, edges, ordinary)
    document: Document = {"pointstamp": 1, "recursion": _recursion(rng, bodies), "nodes": nodes, "edges": edges}
    if epochs or (epochs is None and rng.random() < 0.25):
        document["time"] = {"product": [rng.choice(EPOCHS), "stack"]}
        for kind, most in (("to", 2), ("from", 1)):
            for place in range(rng.randint(0, most)):
                edges.append({"id": f"{kind}-outside-{place}", kind: rng.choice(list(nodes))})
    elif rng.random() < 0.3:
        document["time"] = "stack"
    return document


def _calls(rng: random.Random, number: int) -> dict[str, dict[str, str]]:
    """For each procedure the calls in it, each with what it enters: 1 to 3 calls, or one more than procedures."""
    if number == 1:
        return {"": dict.fromkeys(["a", "b", "c"][: rng.choice([1, 2, 2, 3])], "")}
    names = ["p", "q", "r"][:number]
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for place, call in enumerate(["a", "b", "c", "d"][: rng.choice([number, number, number + 1])]):
        around = names[(place + 1) % number]  # most often each procedure calls the next, the last one the first
        found[names[place % number]][call] = around if rng.random() < 0.7 else rng.choice(names)
    return found


def _body(
    rng: random.Random,
    name: str,
    calls: dict[str, str],
    procedures: list[str],
    nodes: dict[str, Json],
    edges: list[Json],
    number: int | None,
) -> Json:
    """One procedure: its nodes and edges are added, its part of `recursion` is returned."""
    if number is None:
        number = rng.choice([0, 0, 1, 1, 2, 2, 3, 4, 6])
    ordinary = [f"{name}{place}" for place in range(number)]
    entrance, exit = f"{name}in", f"{name}out"
    middle = [*ordinary, *calls]
    rng.shuffle(middle)
    order = [entrance, *middle, exit]
    pairs: list[tuple[str, str]] = []
    returning = [call for call, body in calls.items() if procedures.index(body) < procedures.index(name)]
    way = [node for node in middle if node in ordinary and rng.random() < 0.3]
    if returning and rng.random() < 0.4:  # what ends the recursion may be a call that ends
        way = [node for node in middle if node in way or node == returning[0]]
    pairs += zip([entrance, *way], [*way, exit], strict=True)
    for place, node in enumerate(order[1:-1], 1):
        pairs.append((rng.choice(order[:place]), node))
        pairs.append((node, rng.choice(order[place + 1 :])))
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        pairs.append(_forward(rng, order))
    if len(middle) > 1 and rng.random() < 0.55:
        for _ in range(rng.choice([1, 1, 2])):
            one, other = rng.sample(middle, 2)
            pairs += [(one, other)] if rng.random() < 0.5 else [(one, other), (other, one)]
    shown = order[:]
    rng.shuffle(shown)
    for node in shown:
        nodes[node] = _keys(rng.random(), node in calls)
    seen: set[tuple[str, str]] = set()
    for source, target in pairs:
        if (source, target) not in seen:
            edges.append({"from": source, "to": target})
        elif rng.random() < 0.1:
            edges.append({"id": f"again-{len(edges)}", "from": source, "to": target})
        seen.add((source, target))
    return {"in": entrance, "out": exit, "calls": calls}


def _keys(drawn: float, is_call: bool) -> Json:
    """Most nodes ask by default, and some calls because they say so."""
    if drawn >= 0.8:
        return {"notify": False}
    return {"notify": True} if is_call and drawn < 0.4 else {}


def _forward(rng: random.Random, order: list[str]) -> tuple[str, str]:
    one, other = sorted(rng.sample(range(len(order)), 2))
    return order[one], order[other]


def _recursion(rng: random.Random, bodies: dict[str, Json]) -> Json:
    if "" in bodies:
        return {**bodies[""], "calls": list(bodies[""]["calls"])}
    return {"main": rng.choice(list(bodies)), "graphs": bodies}


def random_unmet(rng: random.Random) -> Document:
    """A graph with edges removed, added and led elsewhere, so that most of them fail some requirement."""
    document = random_calls(rng)
    nodes, edges = list(document["nodes"]), document["edges"]
    graph = Graph(document)
    entrances, exits = ([body[word] for body in graph.bodies.values()] for word in ("in", "out"))
    for number in range(rng.choice([1, 1, 1, 2, 3])):
        match rng.randrange(7):
            case 0 | 1 if edges:
                edges.remove(rng.choice(edges))
            case 2:
                edges[:] = [edge for edge in edges if edge.get("to") not in exits or edge.get("from") in graph.enters]
            case 3:
                _add(edges, f"new-{number}", rng.choice(nodes), rng.choice(entrances))
            case 4:
                _add(edges, f"new-{number}", rng.choice(exits), rng.choice(nodes))
            case 5:
                _add(edges, f"new-{number}", *rng.sample(nodes, 2))
            case 6 if rng.random() < 0.3:
                edges.append({"id": f"new-{number}", rng.choice(["from", "to"]): rng.choice(nodes)})
    return document


def _add(edges: list[Json], name: str, source: str, target: str) -> None:
    if source != target:
        edges.append({"id": name, "from": source, "to": target})


# Times


def usual_depth(graph: Graph, stacks: int) -> int:
    """The depth to which a graph has about so many stacks, at least 2 and at most 6."""
    return max((depth for depth in range(2, 7) if len(graph.stacks(depth)) <= stacks), default=2)


def stack_near(rng: random.Random, graph: Graph, stacks: list[Stack], stack: Stack) -> Stack:
    """One of the stacks, often one that begins like the given one."""
    if rng.random() < 0.5:
        return rng.choice(stacks)
    beginning = stack[: rng.randint(0, len(stack))]
    return rng.choice([other for other in stacks if other[: len(beginning)] == beginning] or stacks)


def random_epoch(rng: random.Random, domain: Json, largest: int = 2) -> Any:
    """An epoch of the domain."""
    match domain:
        case "nat":
            return rng.randint(0, largest)
        case "int":
            return rng.randint(-largest, largest)
        case {"finite": options}:
            return rng.choice(options["elements"])
        case {"product": parts}:
            return tuple(random_epoch(rng, part, largest) for part in parts)
    raise ValueError(f"not a domain of epochs: {domain!r}")


def plain(time: Any) -> Any:
    """A time of the engine as the reference has it: stacks as tuples of names."""
    if hasattr(time, "calls"):
        return time.calls
    if isinstance(time, tuple) and not isinstance(time, Tagged):
        return tuple(map(plain, time))
    return time


def plain_pairs(pointstamps: Any) -> list[Any]:
    """Pointstamps of the engine as the reference has them."""
    return [(location, plain(time)) for location, time in pointstamps]
