"""How many states there are, pinned, and counted a second time by an enumerator that shares no code with the explorer.

The enumerator knows graphs as dictionaries, nodes as functions of plain numbers, Clock as an explicit set of
pointstamps up to a bound, and a pomset as the set of all sequences that may stand for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from graphs import Graph
from progress.local_history import Message
from progress.semantics import Inputs, Specification, System, Variant, explore
from tests.reference.plain_clock import at_or_before, plain_clock
from tests.semantics.small_systems import chain, hasty, join, loop, messages, nested, one_node, relay

QUIET = Variant(inputs=Inputs.FORBIDDEN)
GROWING = Variant(inputs=Inputs.CONSTRAINED)


class Plain(NamedTuple):
    """A system as plain data: edges with their ends; what a node does on a message (edge, time) or a notification."""

    edges: dict[str, tuple[str | None, str | None]]
    later: dict[str, int]  # by how much an edge's messages are later than the events of its source
    nodes: dict[str, Callable[[Any, str | None, Any], tuple[Any, set[Any], list[tuple[str, Any]]]]]
    first: dict[str, Any]
    queued: dict[str, tuple[Any, ...]]
    coming: dict[str, tuple[Any, ...]]


def enumerated(system: Plain, reordering: bool, inputs: str, at_once: int = 1, outputs: bool = True) -> set[Any]:
    """Every reachable (queues, local states, requests, still to come)."""
    names = list(system.edges)

    def stamps(state: Any) -> set[tuple[str, Any]]:
        queues, _, requests, coming = state
        found = {(edge, time) for edge, queue in zip(names, queues, strict=True) for time in queue} | set(requests)
        if inputs == "announced":
            found |= {(edge, time) for edge, times in coming for time in times}
        return found

    def consume(state: Any, node: str, edge: str | None, time: Any, queues: list[Any], requests: set[Any]) -> Any:
        local = dict(state[1])
        local[node], asked, sent = system.nodes[node](local[node], edge, time)
        for target, when in sent:
            queues[names.index(target)] += (when,)
        requests |= {(node, when) for when in asked}
        return tuple(queues), tuple(sorted(local.items())), frozenset(requests), state[3]

    def following(state: Any) -> Iterator[Any]:
        queues, _, requests, _ = state
        clock = plain_clock(system.edges, system.later, stamps(state))
        for number, edge in enumerate(names):
            node = system.edges[edge][1]
            for place, time in enumerate(queues[number]) if node else ():
                ahead = queues[number][:place]
                if any(at_or_before(other, time) for other in ahead) if reordering else ahead:
                    continue
                rest = [*queues]
                rest[number] = ahead + queues[number][place + 1 :]
                yield consume(state, str(node), edge, time, rest, set(requests))
        for node, time in requests:
            if not any((edge, time) in clock for edge, (_, target) in system.edges.items() if target == node):
                yield consume(state, node, None, time, [*queues], set(requests) - {(node, time)})
        changed = {state}
        for _ in range(at_once):
            changed |= {each for one in changed for each in brought(one)}
        for each in changed if inputs != "forbidden" else ():
            if inputs != "constrained" or plain_clock(system.edges, system.later, stamps(each)) <= clock:
                yield each
        changed = {state}
        for _ in range(at_once):
            changed |= {each for one in changed for each in removed(one)}
        yield from changed if outputs else ()

    def brought(state: Any) -> Iterator[Any]:
        queues, local, requests, coming = state
        for edge, times in coming:
            number = names.index(edge)
            for which, time in enumerate(times):
                for place in range(len(queues[number]) + 1):
                    more = [*queues]
                    more[number] = (*queues[number][:place], time, *queues[number][place:])
                    rest = dict(coming) | {edge: times[:which] + times[which + 1 :]}
                    yield tuple(more), local, requests, tuple(sorted(rest.items()))

    def removed(state: Any) -> Iterator[Any]:
        queues, local, requests, coming = state
        for number, edge in enumerate(names):
            for place in range(len(queues[number])) if system.edges[edge][1] is None else ():
                less = [*queues]
                less[number] = queues[number][:place] + queues[number][place + 1 :]
                yield tuple(less), local, requests, coming

    start = (
        tuple(system.queued.get(edge, ()) for edge in names),
        tuple(sorted(system.first.items())),
        frozenset[Any](),
        tuple(sorted((edge, tuple(sorted(times))) for edge, times in system.coming.items())),
    )
    found, waiting = {start}, [start]
    while waiting:
        for state in following(waiting.pop()):
            if state not in found:
                found.add(state)
                waiting.append(state)
    return found


def same_pomset(queue: tuple[Any, ...]) -> frozenset[tuple[Any, ...]]:
    """All sequences that differ in the order of neighbours at incomparable times."""
    found, waiting = {queue}, [queue]
    while waiting:
        one = waiting.pop()
        for place in range(len(one) - 1):
            a, b = one[place : place + 2]
            if not at_or_before(a, b) and not at_or_before(b, a):
                other = (*one[:place], b, a, *one[place + 2 :])
                if other not in found:
                    found.add(other)
                    waiting.append(other)
    return frozenset(found)


def plain_relay(edge: str) -> Callable[[Any, str | None, Any], Any]:
    return lambda local, came, time: (local, set(), [(edge, time)] if came else [])


def plain_waiter(edge: str) -> Callable[[Any, str | None, Any], Any]:
    return lambda local, came, time: (local, {time} if came else set(), [] if came else [(edge, time)])


def plain_rounds(most: int) -> Callable[[Any, str | None, Any], Any]:
    def respond(local: Any, came: str | None, time: Any) -> Any:
        if came is None:
            return local, set(), [("result", time)]
        return local, {time}, [("out", time)] if time < most else []

    return respond


def plain_chain(queued: dict[str, Any], coming: dict[str, Any]) -> Plain:
    edges: dict[str, tuple[str | None, str | None]] = {"in": (None, "a"), "mid": ("a", "b"), "out": ("b", None)}
    return Plain(edges, {}, {"a": plain_relay("mid"), "b": plain_waiter("out")}, {"a": 0, "b": 0}, queued, coming)


def plain_loop(queued: dict[str, Any], coming: dict[str, Any], most: int = 2) -> Plain:
    edges = {
        "input": (None, "body"),
        "out": ("body", "feedback"),
        "back": ("feedback", "body"),
        "result": ("body", None),
    }
    nodes = {
        "body": plain_rounds(most),
        "feedback": lambda local, came, time: (local, set(), [("back", time + 1)] if came else []),
    }
    return Plain(edges, {"back": 1}, nodes, {"body": 0, "feedback": 0}, queued, coming)


INPUTS = {each.value: each for each in Inputs}


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("reordering", [False, True])
@pytest.mark.parametrize("outputs", [False, True])
def test_the_chain_is_counted_twice(inputs: str, reordering: bool, outputs: bool) -> None:
    system = chain({"in": messages(1)}, {"in": messages(0, 2)})
    variant = Variant(reordering, INPUTS[inputs], outputs)
    found = explore(Specification(system, variant))
    counted = enumerated(plain_chain({"in": (1,)}, {"in": (0, 2)}), reordering, inputs, outputs=outputs)
    assert found.finished
    assert len(found.states) == len(counted)


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("reordering", [False, True])
def test_the_loop_is_counted_twice(inputs: str, reordering: bool) -> None:
    system = loop({"input": messages(1)}, {"input": messages(0)}, most=1)
    found = explore(Specification(system, Variant(reordering, INPUTS[inputs])))
    counted = enumerated(plain_loop({"input": (1,)}, {"input": (0,)}, most=1), reordering, inputs)
    assert found.finished
    assert len(found.states) == len(counted)


@pytest.mark.parametrize("inputs", ["free", "constrained", "announced"])
def test_several_messages_at_once_reach_nothing_else(inputs: str) -> None:
    system = chain({"in": messages(1)}, {"in": messages(0, 1, 2)})
    single = explore(Specification(system, Variant(inputs=INPUTS[inputs])))
    literal = explore(Specification(system, Variant(inputs=INPUTS[inputs], at_once=None)))
    counted = enumerated(plain_chain({"in": (1,)}, {"in": (0, 1, 2)}), False, inputs, at_once=3)
    assert set(single.states) == set(literal.states)
    assert len(literal.states) == len(counted)
    assert literal.number_of_steps > single.number_of_steps


PAIRS = (((0, 1), (1, 0), (1, 1), (0, 1)), ((1, 0), (0, 1), (2, 0), (0, 2)))


@pytest.mark.parametrize("times", PAIRS)
def test_queues_are_counted_as_pomsets(times: tuple[Any, ...]) -> None:
    """Two relays: the queue between them is filled in every order that the first queue allows."""
    plain = Plain(
        {"in": (None, "a"), "mid": ("a", "b"), "out": ("b", None)},
        {},
        {"a": plain_relay("mid"), "b": plain_relay("out")},
        {"a": 0, "b": 0},
        {"in": times},
        {},
    )
    counted = enumerated(plain, True, "forbidden")
    classes = {
        (queues[0], same_pomset(queues[1]), queues[2], local, requests) for queues, local, requests, _ in counted
    }
    found = explore(Specification(two_relays({"in": messages(*times)}), QUIET._replace(reordering=True)))
    assert len(found.states) == len(classes) < len(counted)
    fifo = explore(Specification(two_relays({"in": messages(*times)}), QUIET))
    assert len(fifo.states) == len(enumerated(plain, False, "forbidden"))


def two_relays(queued: Any, arrivals: Any = None) -> System:
    graph = Graph(time={"product": ["nat", "nat"]}).node("a").node("b").edge(None, "a", "in")
    graph.edge("a", "b", "mid").edge("b", None, "out")
    return System(graph, {"a": relay("mid"), "b": relay("out")}, queued, arrivals)


def test_an_input_is_no_pomset() -> None:
    """It is seen from outside; and between two messages at incomparable times a third may be put, which one of both
    orders does not allow."""
    orders = ((0, 1), (1, 0)), ((1, 0), (0, 1))
    counted = set[Any]()
    for order in orders:
        plain = Plain(
            {"in": (None, "a"), "mid": ("a", "b"), "out": ("b", None)},
            {},
            {"a": plain_relay("mid"), "b": plain_relay("out")},
            {"a": 0, "b": 0},
            {"in": order},
            {"in": ((1, 1),)},
        )
        counted |= enumerated(plain, True, "free", outputs=False)
    classes = {(queues[0], same_pomset(queues[1]), queues[2], coming) for queues, _, _, coming in counted}
    system = two_relays([{"in": messages(*order)} for order in orders], {"in": messages((1, 1))})
    found = explore(Specification(system, Variant(reordering=True, outputs=False)))
    assert len(found.states) == len(classes) < len(counted)


def test_one_relay_by_hand() -> None:
    """Q(in), Q(out): ab,- | b,a | b,- | -,ab | -,a | -,b | -,-: `a` may leave before `b` comes, or either after it."""
    found = explore(Specification(one_node({"in": [Message(0, "a"), Message(0, "b")]}), QUIET))
    assert len(found.states) == 7
    assert found.number_of_steps == 8
    assert found.depth == 4
    first = str(found.path(1).steps[0][0])
    assert first == "Mess: p takes 'a' at 0 from in, sends 'a' at 0 on out"


PINNED = [  # the system, its variant, its states, its steps, and how many steps are the most
    ("chain", chain({"in": messages(0, 0, 1)}), QUIET, 23, 34, 10),
    ("chain, free", chain({}, {"in": messages(0, 1, 1)}), Variant(), 141, 297, 13),
    ("chain, constrained", chain({"in": messages(0)}, {"in": messages(0, 1, 1)}), GROWING, 211, 398, 15),
    ("chain, announced", chain({}, {"in": messages(0, 0, 1)}), Variant(inputs=Inputs.ANNOUNCED), 65, 120, 13),
    ("join", join({"left": messages(0, 1), "right": messages(0, 1)}), QUIET, 24, 40, 8),
    ("loop", loop({"input": messages(0, 1)}), QUIET, 75, 162, 14),
    ("Condition 1 fails", hasty({"in": messages(0, 2)}), QUIET, 14, 20, 6),
    ("Condition 2 fails", loop({"input": messages(3)}, most=0, step=-1), QUIET, 8, 7, 7),
    ("nested, lex", nested({"in": messages((0, 0))}), QUIET, 82, 183, 15),
    ("nested, product", nested({"in": messages((0, 0))}, order="product"), QUIET, 82, 183, 15),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "system", "variant", "states", "steps", "depth"), PINNED, ids=[row[0] for row in PINNED]
)
def test_pinned_counts(name: str, system: System, variant: Variant, states: int, steps: int, depth: int) -> None:
    found = explore(Specification(system, variant))
    assert (found.finished, len(found.states), found.number_of_steps, found.depth) == (True, states, steps, depth)
