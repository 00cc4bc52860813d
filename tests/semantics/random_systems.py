"""Random small systems for `progress.semantics`: graphs of up to four nodes, and nodes that do something arbitrary."""

from __future__ import annotations

import random
from typing import Any

from graphs import Graph
from progress.local_history import Event, Message, Notification, Received
from progress.semantics import System
from tests.questions.local_histories import FunctionNode

LAST = 3  # nothing is sent or asked for at a later time, so that there are finitely many states


def random_system(seed: int, backwards: bool = False, early: bool = False) -> System:
    """A system whose nodes keep to what the graph declares: each edge adds its amount to times, or more.

    `backwards`: some amounts are negative, so that Condition 2 may fail. `early`: nodes may ask for earlier times, so
    that Condition 1 may fail.
    """
    rng = random.Random(seed)
    names = ["p", "q", "r", "s"][: rng.randint(2, 4)]
    ends: list[tuple[str | None, str | None]] = [(None, names[0]), (names[-1], None)]
    for _ in range(rng.randint(2 if backwards else 1, 4)):
        ends.append(tuple(rng.sample(names, 2)))  # type: ignore[arg-type]
    amounts = [rng.choice((-2, -1, -1, 0, 1) if backwards else (0, 1, 2)) for _ in ends]
    graph = Graph()
    edges = [f"e{number}" for number in range(len(ends))]
    for name in names:
        emits = {
            edge: {"advance": amount}
            for edge, (source, _), amount in zip(edges, ends, amounts, strict=True)
            if source == name
        }
        graph.node(name, emits=emits)
    for edge, (source, target) in zip(edges, ends, strict=True):
        graph.edge(source, target, edge)
    nodes = {
        name: random_code(
            rng, {e: amount for e, (s, _), amount in zip(edges, ends, amounts, strict=True) if s == name}, early
        )
        for name in names
    }
    first = [Message(rng.randint(0, 2)) for _ in range(rng.randint(1, 2))]
    return System(graph, nodes, {"e0": first}, {"e0": [Message(rng.randint(0, 2)) for _ in range(rng.randint(0, 1))]})


def random_code(rng: random.Random, amounts: dict[str, int], early: bool) -> FunctionNode:
    """A table of two states: for each state and event what is sent, asked for, and the state after it."""
    table: dict[Any, Any] = {}

    def respond(state: int, event: Event) -> Any:
        kind = "notified" if isinstance(event, Notification) else "received"
        key = state, kind, event.time
        if key not in table:
            asks = rng.random() < (0.6 if kind == "received" else 0.2)
            asked = event.time + rng.choice([0, 0, 1]) - (early and rng.random() < 0.5)
            sent = {
                edge: [Message(time)]
                for edge, amount in amounts.items()
                if rng.random() < 0.6 and (time := max(event.time + amount, 0) + rng.choice([0, 0, 1])) <= LAST
            }
            table[key] = rng.choice([0, 0, 1]), [asked] if asks and 0 <= asked <= LAST else [], sent
        return table[key]

    # filled in a fixed order, so that a seed stands for one node
    for state in (0, 1):
        for time in range(LAST + 1):
            respond(state, Notification(time))
            respond(state, _received(time))
    return FunctionNode(respond, [(0, [rng.randint(0, 2)] if rng.random() < 0.3 else [])])


def _received(time: int) -> Event:
    return Received("any", Message(time))


def random_halves(seed: int) -> tuple[System, System]:
    """Two small systems that share one or two edges, in either direction; their nodes keep to what is declared."""
    rng = random.Random(seed)
    shared = [(f"x{number}", rng.random() < 0.5) for number in range(rng.randint(1, 2))]
    halves = []
    for names, is_first in (("pq", True), ("rs", False)):
        nodes = names[: rng.randint(1, 2)]
        ends: list[tuple[str | None, str | None, str]] = []
        for edge, towards in shared:
            ends.append((rng.choice(nodes), None, edge) if towards is is_first else (None, rng.choice(nodes), edge))
        if len(nodes) > 1:
            ends.append((nodes[0], nodes[1], f"{nodes} inside"))
        ends += [(None, nodes[0], f"in {names}"), (nodes[-1], None, f"out {names}")]
        graph, code = Graph(), {}
        for node in nodes:
            amounts = {edge: rng.randint(0, 2) for source, _, edge in ends if source == node}
            graph.node(node, emits={edge: {"advance": amount} for edge, amount in amounts.items()})
            code[node] = random_code(rng, amounts, False)
        for source, target, edge in ends:
            graph.edge(source, target, edge)
        queued = [Message(rng.randint(0, 1)) for _ in range(1 if is_first else rng.randint(0, 1))]
        halves.append(System(graph, code, {f"in {names}": queued}))
    return halves[0], halves[1]
