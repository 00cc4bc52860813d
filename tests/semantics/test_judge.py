"""The judge of runs: what the explorer does and what a tracker lets happen follows ISpec; what is wrong is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError, Tracker
from progress.local_history import Notification, Received
from progress.semantics import (
    Exploration,
    Inputs,
    Path,
    Specification,
    State,
    System,
    Variant,
    explore,
    is_behaviour,
    recorded,
)
from tests.reference.plain_clock import plain_clock
from tests.semantics.random_systems import random_system
from tests.semantics.small_systems import chain, join, loop, messages, nested

QUIET = Variant(inputs=Inputs.FORBIDDEN)
OPEN = Variant(inputs=Inputs.ANNOUNCED)
Line = dict[str, Any]


def walks(found: Exploration[State], seed: int, count: int, longest: int = 40) -> Iterator[Path[State]]:
    """Random paths through an exploration."""
    rng = random.Random(seed)
    for _ in range(count):
        number = rng.randrange(found.beginnings)
        start = found.states[number]
        steps: list[tuple[Any, State]] = []
        while found.steps[number] and len(steps) < longest:
            action, number = rng.choice(found.steps[number])
            steps.append((action, found.states[number]))
        yield Path(start, tuple(steps))


# --- what the explorer does ------------------------------------------------------------------------------------------

SYSTEMS: list[tuple[System, Variant]] = [
    (chain({"in": messages(0, 2, 1)}), QUIET),
    (chain({"in": messages(1)}, {"in": messages(0, 2)}), OPEN),
    (join({"left": messages(0, 1), "right": messages(1)}), QUIET),
    (loop({"input": messages(1)}, {"input": messages(0)}, most=1), OPEN),
    (nested({"in": messages((0, 0))}, order="product"), QUIET),
    (chain({"in": messages(1)}, {"in": messages(0, 2)}), Variant()),
    (chain({"in": messages(1)}, {"in": messages(1, 2)}), Variant(inputs=Inputs.CONSTRAINED)),
]


@pytest.mark.parametrize(("system", "variant"), SYSTEMS)
@pytest.mark.parametrize("reordering", [False, True])
def test_every_run_of_the_explorer_is_a_behaviour(system: System, variant: Variant, reordering: bool) -> None:
    """And a tracker takes each of its steps, where inputs are announced or closed: it asks for less."""
    specification = Specification(system, variant._replace(reordering=reordering, at_once=None))
    inputs = Inputs.ANNOUNCED if variant.inputs is Inputs.FORBIDDEN else variant.inputs
    appended = variant.inputs is Inputs.FORBIDDEN
    in_order = 0
    for path in walks(explore(specification), 1, 30):
        trace = list(recorded(specification, path))
        judgement = is_behaviour(system, trace, reordering=reordering, inputs=inputs, appended=appended)
        assert judgement, (judgement, str(path))
        assert is_behaviour(system, trace, inputs=inputs)
        assert is_behaviour(system, trace, inputs=inputs, several=True)
        in_order += bool(is_behaviour(system, trace, reordering=False, inputs=inputs, appended=appended))
        if inputs is Inputs.ANNOUNCED:
            play(system, trace)
    assert reordering or in_order == 30
    assert in_order < 30 or system is not SYSTEMS[0][0] or not reordering


def play(system: System, trace: Sequence[Any]) -> None:
    """The session in a tracker, which refuses nothing."""
    start = trace[0]["start"]
    tracker = Tracker(system, inputs=start["inputs"], requests=start["requests"])
    for line in trace[1:]:
        tracker.apply(**line)


@pytest.mark.parametrize("seed", range(12))
def test_runs_of_random_systems_are_behaviours(seed: int) -> None:
    system = random_system(seed * 3 + 1, backwards=True)
    specification = Specification(system, OPEN._replace(reordering=seed % 2 == 0))
    found = explore(specification, most_states=300)
    found.steps += [[] for _ in range(len(found.states) - len(found.steps))]
    for path in walks(found, seed, 10):
        trace = list(recorded(specification, path))
        assert is_behaviour(system, trace, reordering=seed % 2 == 0)
        play(system, trace)


# --- what a tracker lets happen --------------------------------------------------------------------------------------


def driven(system: System, seed: int, may_deliver: Callable[[Tracker, tuple[str, Any]], bool]) -> list[Line]:
    """A run of the nodes' code: messages first in first out, notifications when they are let; what it recorded."""
    rng = random.Random(seed)
    network = system.network()
    (state,) = system.beginnings()
    times = {edge: [message.time for message in state.queue(edge)] for edge in system.names.edges}
    tracker = Tracker(system)
    trace: list[Line] = [{"messages": [(e, time, 1) for e, several in times.items() for time in several]}]
    trace.append({"inputs": {system.names.edges[edge]: [] for edge in system.inputs}})
    for first in trace:
        tracker.apply(**first)
    local = dict(zip(system.names.nodes, state.local, strict=True))
    queues = {edge: list(state.queue(edge)) for edge in system.names.edges}
    requests: dict[tuple[str, Any], None] = {}
    while True:
        events: list[tuple[str, Any]] = [
            (network.nodes[network.targets[number]], Received(edge, queues[edge][0]))
            for number, edge in enumerate(network.edges)
            if queues[edge] and network.targets[number] >= 0
        ]
        events += [(node, Notification(time)) for node, time in requests if may_deliver(tracker, (node, time))]
        if not events:
            return trace
        node, event = rng.choice(events)
        local[node], asked, sent = system.nodes[node].step(local[node], event)
        line: Line = {"messages": [(e, m.time, 1) for e, several in sent.items() for m in several]}
        if isinstance(event, Received):
            queues[event.edge].pop(0)
            line["messages"].append((event.edge, event.time, -1))
        else:
            del requests[node, event.time]
            line["delivered"] = [(node, event.time)]
        line["requests"] = [(node, time) for time in asked]
        requests |= dict.fromkeys(line["requests"])
        for edge, several in sent.items():
            queues[edge] += several
        trace.append(line)
        try:
            tracker.apply(**line)
        except PointstampError:
            return trace


RUN = [
    chain({"in": messages(2, 0, 1)}),
    loop({"input": messages(0, 1)}),
    join({"left": messages(0, 1), "right": messages(0)}),
    nested({"in": messages((0, 0), (0, 1))}),
]


@pytest.mark.parametrize("system", RUN)
def test_runs_on_a_tracker_are_behaviours(system: System) -> None:
    for seed in range(10):
        trace = driven(system, seed, lambda tracker, request: request in tracker.eligible())
        assert is_behaviour(system, trace, reordering=False, appended=True)
        assert len(trace) > 5


@pytest.mark.parametrize("system", RUN)
def test_an_engine_that_notifies_too_early_is_found(system: System) -> None:
    verdicts = [is_behaviour(system, driven(system, seed, lambda tracker, request: True)) for seed in range(30)]
    refused = [verdict for verdict in verdicts if not verdict]
    assert refused
    assert all("is in Clock" in verdict.why for verdict in refused)


# --- against all steps that there are --------------------------------------------------------------------------------

EDGES: dict[str, tuple[str | None, str | None]] = {
    "in": (None, "p"),
    "on": ("p", "q"),
    "back": ("q", "p"),
    "out": ("p", None),
}
LATER = {"back": 1}
MOST = 3
Plain = tuple[tuple[tuple[int, ...], ...], frozenset[tuple[str, int]], tuple[int, ...]]  # queues, requests, open


def cycle() -> Graph:
    """in -> p -> on -> q -> back (one later) -> p -> out."""
    graph = Graph().node("p").node("q", summary={"advance": 1})
    for edge, (source, target) in EDGES.items():
        graph.edge(source, target, edge)
    return graph


def every_step(state: Plain, reordering: bool, appended: bool) -> Iterator[tuple[Line, Plain]]:
    """All single actions, up to one message on each edge and two requests; each with the state after it.

    Where what comes in is not appended, it may be taken in any order; then the first queue stands for all its orders.
    """
    queues, requests, opened = state
    names = list(EDGES)
    stamps = {(edge, time) for edge, queue in zip(names, queues, strict=True) for time in queue} | set(requests)
    clock = plain_clock(EDGES, LATER, stamps | {("in", time) for time in opened})
    yield {}, state
    for number, edge in enumerate(names):
        for place, time in enumerate(queues[number]):
            rest = [*queues]
            rest[number] = queues[number][:place] + queues[number][place + 1 :]
            target = EDGES[edge][1]
            if target is None:
                yield {"messages": [(edge, time, -1)]}, (tuple(rest), requests, opened)
            elif (edge == "in" and not appended) or not any(
                other <= time or not reordering for other in queues[number][:place]
            ):
                yield from effects(target, time, {"messages": [(edge, time, -1)]}, (tuple(rest), requests, opened))
    for node, time in requests:
        if not any((edge, time) in clock for edge, (_, target) in EDGES.items() if target == node):
            line: Line = {"delivered": [(node, time)]}
            yield from effects(node, time, line, (queues, requests - {(node, time)}, opened))
    for time in range(MOST + 1):
        if ("in", time) in clock:
            yield {"messages": [("in", time, 1)]}, ((queues[0] + (time,), *queues[1:]), requests, opened)
    for start in [(), *((time,) for time in range(MOST + 1) if any(old <= time for old in opened))]:
        yield {"inputs": {"in": start}}, (queues, requests, start)


def effects(node: str, time: int, line: Line, state: Plain) -> Iterator[tuple[Line, Plain]]:
    """What the node may send and ask for, after an event at this time."""
    queues, requests, opened = state
    choices: list[list[tuple[str, int]]] = [[]]
    for edge, (source, _) in EDGES.items():
        if source == node:
            some = [(edge, when) for when in range(time + LATER.get(edge, 0), MOST + 1)]
            choices = [[*sent, *more] for sent in choices for more in ([], *([one] for one in some))]
    asks = [(node, when) for when in range(time, MOST + 1)]
    for sent in choices:
        after = [*queues]
        for edge, when in sent:
            after[list(EDGES).index(edge)] += (when,)
        for asked in [(), *combinations(asks, 1), *combinations(asks, 2)]:
            said = line.get("messages", []) + [(edge, when, 1) for edge, when in sent]
            yield {**line, "messages": said, "requests": list(asked)}, (tuple(after), requests | {*asked}, opened)


def applied(state: Plain, line: Line) -> Plain | None:
    """What a line makes of the state, whether it may or not; None where it takes what is not there."""
    queues, requests, opened = [list(queue) for queue in state[0]], set(state[1]), state[2]
    for edge, time, change in line.get("messages", ()):
        queue = queues[list(EDGES).index(edge)]
        if change < 0 and time not in queue:
            return None
        queue.append(time) if change > 0 else queue.remove(time)
    if not set(line.get("delivered", ())) <= requests:
        return None
    requests -= set(line.get("delivered", ()))
    requests |= set(line.get("requests", ()))
    return tuple(map(tuple, queues)), frozenset(requests), tuple(line.get("inputs", {}).get("in", opened))


def changed(rng: random.Random, line: Line) -> Line:
    """A line with something else in it."""
    other: Line = {key: list(value) if key != "inputs" else dict(value) for key, value in line.items()}
    kind = rng.choice(["message", "request", "delivered", "drop", "input"])
    time = rng.randint(0, MOST)
    if kind == "message":
        other.setdefault("messages", []).append((rng.choice(list(EDGES)), time, rng.choice([-1, 1])))
    elif kind == "request":
        other.setdefault("requests", []).append((rng.choice("pq"), time))
    elif kind == "delivered":
        other.setdefault("delivered", []).append((rng.choice("pq"), time))
    elif kind == "input":
        other["inputs"] = {"in": rng.choice([[], [time]])}
    else:
        for key in ("messages", "delivered"):
            if other.get(key):
                other[key].pop(rng.randrange(len(other[key])))
                break
    return other


def shape(state: Plain, appended: bool) -> Plain:
    """The state, with the first queue in an order of its own where its order says nothing."""
    queues, requests, opened = state
    return state if appended else ((tuple(sorted(queues[0])), *queues[1:]), requests, opened)


def events(line: Line) -> tuple[Any, ...]:
    """What a line says that was consumed."""
    taken = [(edge, time) for edge, time, change in line.get("messages", ()) if change < 0]
    return tuple(sorted(taken)), tuple(sorted(line.get("delivered", ())))


@pytest.mark.parametrize("reordering", [False, True])
@pytest.mark.parametrize("appended", [False, True])
def test_the_judge_against_all_steps_that_there_are(reordering: bool, appended: bool) -> None:
    """Random steps, right and wrong, from random states: the judge accepts exactly those that are listed."""
    rng = random.Random(5)
    graph, seen = cycle(), Counter[Any]()
    for _ in range(25):
        state: Plain = (((), (), (), ()), frozenset({("p", 0)}), (0,))
        trace: list[Line] = [{"start": {"requests": [("p", 0)], "inputs": {"in": [0]}}}]
        for _ in range(14):
            listed = list(every_step(state, reordering, appended))
            reached = {(events(line), shape(after, appended)) for line, after in listed}
            for _ in range(6):
                line = changed(rng, rng.choice(listed)[0])
                after = applied(state, line)
                if nets_out(line) or acts_apart(line) or after is None:
                    continue
                judged = is_behaviour(graph, [*trace, line], reordering=reordering, appended=appended)
                assert bool(judged) == ((events(line), shape(after, appended)) in reached), (trace, line, judged)
                assert judged or judged.step == len(trace)
                seen[bool(judged)] += 1
            line, state = rng.choice(listed)
            trace.append(line)
            for several in (False, True):
                judged = is_behaviour(graph, trace, reordering=reordering, appended=appended, several=several)
                assert judged, (trace, judged)
    assert seen[True] > 100
    assert seen[False] > 500


def nets_out(line: Line) -> bool:
    """Whether a message is both sent and taken; a trace adds such up before anything else."""
    changes = line.get("messages", ())
    return any((edge, time, -change) in changes for edge, time, change in changes)


def acts_apart(line: Line) -> bool:
    """What `every_step` does not list: several messages of one kind, or an input that moves while something comes."""
    changes = line.get("messages", ())
    sent = Counter(edge for edge, _, change in changes if change > 0)
    left = sum(edge == "out" and change < 0 for edge, _, change in changes)
    both = "inputs" in line and any(edge == "in" and change > 0 for edge, _, change in changes)
    return any(count > 1 for count in sent.values()) or left > 1 or both or len(line.get("requests", ())) > 2


def test_several_actions_in_one_recorded_step() -> None:
    """Two steps recorded as one: accepted where both notifications were due before, and nothing cancels out."""
    rng = random.Random(8)
    graph, merged = cycle(), 0
    for _ in range(60):
        state: Plain = (((), (), (), ()), frozenset({("p", 0)}), (0,))
        trace: list[Line] = [{"start": {"requests": [("p", 0)]}}]
        for _ in range(10):
            due = {tuple(pair) for line, _ in every_step(state, True, False) for pair in line.get("delivered", ())}
            line, between = rng.choice(list(every_step(state, True, False)))
            more, _ = rng.choice(list(every_step(between, True, False)))
            joined = {key: [*line.get(key, ()), *more.get(key, ())] for key in ("messages", "requests", "delivered")}
            inputs = more.get("inputs", line.get("inputs"))
            joined |= {"inputs": inputs} if inputs else {}
            fits = set(map(tuple, joined["delivered"])) <= due and len(set(joined["delivered"])) == len(
                joined["delivered"]
            )
            comes = (
                any(edge == "in" and change > 0 for edge, _, change in more.get("messages", ())) and "inputs" in line
            )
            if (
                fits
                and not comes
                and not nets_out(joined)
                and not set(joined["delivered"]) & set(line.get("requests", ()))
            ):
                judged = is_behaviour(graph, [*trace, joined], several=True)
                assert judged, (trace, joined, judged)
                merged += 1
            trace.append(line)
            state = between
    assert merged > 200


TAKEN = {"messages": [("in", 0, -1), ("on", 0, 1)]}
ARRIVED = {"messages": [("in", 0, 1), ("in", 1, 1)]}
WRONG: list[tuple[list[Line], dict[str, Any], str]] = [
    ([{"messages": [("on", 0, 1)]}], {}, "'p' cannot have taken and sent this: no event of it allows what it sends"),
    ([ARRIVED, {"messages": [("in", 1, -1), ("on", 1, 1)]}], {"appended": True}, "another is ahead of it"),
    ([ARRIVED, {"messages": [("in", 1, -1), ("on", 0, 1)]}], {}, "no event of it allows what it sends"),
    ([ARRIVED, {"messages": [("in", 0, -1), ("in", 1, -1)]}], {}, "it is 2 events at once"),
    ([ARRIVED, {"messages": [("in", 0, -1), ("in", 0, -1)]}], {"several": True}, "a message at 0 is not there on 'in'"),
    ([ARRIVED, {"messages": [("in", 0, -1)], "requests": [("q", 3)]}], {}, "'q' asks for 3, and consumes nothing"),
    ([{"requests": [("p", 3)]}], {}, "'p' asks for 3, and consumes nothing"),
    ([ARRIVED, {"messages": [("in", 0, -1), ("back", 3, 1)]}], {}, "'q' cannot have taken and sent this"),
    ([{"delivered": [("p", 0)]}], {}, "Not: 'p' has no pending request at 0"),
    ([{"messages": [("out", 0, -1)]}], {}, "Outp: 'out' has not so many messages at 0"),
    ([{"inputs": {"in": [2]}}, {"inputs": {"in": [1]}}], {}, "the input 'in' moves back"),
    ([{"inputs": {"in": []}}, {"messages": [("in", 0, 1)]}], {}, "Inp: Clock grows by ('in', 0)"),
    ([ARRIVED], {"inputs": Inputs.CONSTRAINED}, "Inp: Clock grows by ('in', 0)"),
    ([ARRIVED], {"inputs": Inputs.FORBIDDEN}, "Inp: something comes in on 'in'"),
    ([ARRIVED, TAKEN, {"start": {}}], {}, "it starts again"),
    ([{"start": {"messages": [("on", 0, 1)]}}], {}, "InitProp: at the start messages are queued on input edges alone"),
    (
        [{"start": {"requests": [("q", 0)], "inputs": {"in": []}}}, {"delivered": [("q", 0), ("q", 0)]}],
        {"several": True},
        "Not: 'q' has no pending request at 0",
    ),
    ([ARRIVED, {"messages": [("in", 0, -1), ("in", 3, 1)]}], {}, "nodes and the outside act at once"),
    ([{"start": {"requests": [("p", 1)]}}, {"delivered": [("p", 1)]}], {}, "Not: ('in', 1) is in Clock"),
]


@pytest.mark.parametrize(("trace", "words", "why"), WRONG, ids=[row[2] for row in WRONG])
def test_why_a_step_is_refused(trace: list[Line], words: dict[str, Any], why: str) -> None:
    judged = is_behaviour(cycle(), trace, **words)
    assert not judged
    assert judged.step == len(trace) - 1
    assert why in judged.why
    assert is_behaviour(cycle(), trace[:-1], **words)


def test_free_inputs_and_what_is_queued_at_the_start() -> None:
    queued: Line = {"start": {"messages": [("in", 2, 1), ("in", 1, 1)]}}
    assert is_behaviour(cycle(), [queued, {"messages": [("in", 1, -1), ("on", 1, 1)]}], inputs=Inputs.FORBIDDEN)
    assert not is_behaviour(cycle(), [queued, {"messages": [("in", 1, -1), ("on", 1, 1)]}], reordering=False)
    assert is_behaviour(cycle(), [ARRIVED], inputs=Inputs.FREE)
    assert is_behaviour(cycle(), [queued, {"messages": [("in", 2, 1)]}], inputs=Inputs.CONSTRAINED)
    assert is_behaviour(cycle(), [{}, {"show": {"frontiers": ["in"]}}])
    assert is_behaviour(cycle(), [])


def test_which_event_allows_which_message() -> None:
    """With several events in a step, some order of them has to explain the order of what was sent."""
    ready = {"start": {"messages": [("in", 2, 1), ("in", 1, 1)]}}
    both = [("in", 2, -1), ("in", 1, -1)]
    assert is_behaviour(cycle(), [ready, {"messages": [*both, ("on", 1, 1), ("on", 2, 1)]}], several=True)
    assert is_behaviour(cycle(), [ready, {"messages": [*both, ("on", 2, 1), ("on", 1, 1)]}], several=True)
    assert not is_behaviour(cycle(), [ready, {"messages": [*both, ("on", 0, 1), ("on", 2, 1)]}], several=True)
    first: Line = {"start": {"messages": [("in", 3, 1), ("in", 1, 1)], "requests": [("p", 0)]}}
    step: Line = {"messages": [("in", 3, -1), ("on", 1, 1)], "delivered": [("p", 0)]}
    assert is_behaviour(cycle(), [first, step], several=True, inputs=Inputs.FORBIDDEN)
    assert not is_behaviour(cycle(), [first, step], inputs=Inputs.FORBIDDEN)


def test_a_tracker_takes_more_than_ispec_has() -> None:
    """The session of docs/scheduler.md: a request that comes of no event is in Clock, and none of ISpec's actions."""
    graph = loop().network()
    session = [{"messages": [("input", 0, 1)], "requests": [("body", 0)]}]
    Tracker(graph).apply(messages=[("input", 0, 1)], requests=[("body", 0)])
    judged = is_behaviour(graph, session)
    assert not judged
    assert judged.why == "'body' asks for 0, and consumes nothing that makes it ask for that"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ({"messages": [("nowhere", 0, 1)]}, "PS502"),
        ({"messages": [("in", -1, 1)]}, "PS503"),
        ({"messages": [("p", 0, 1)]}, "PS504"),
        ({"messages": [("in", 0)]}, "PS501"),
        ({"messages": [("in", 0, True)]}, "PS501"),
        ({"requests": [("in", 0)]}, "PS504"),
        ({"delivered": [("p",)]}, "PS501"),
        ({"inputs": {"on": [0]}}, "PS504"),
        ({"inputs": {"in": ["x"]}}, "PS503"),
    ],
)
def test_lines_that_are_no_steps(line: Line, code: str) -> None:
    with pytest.raises(PointstampError) as caught:
        is_behaviour(cycle(), [line])
    assert caught.value.code == code


def test_pairs_may_be_lists_as_in_a_line_of_track() -> None:
    line = {"messages": [["in", 0, 1]], "inputs": {"in": [1]}}
    assert is_behaviour(cycle(), [line, {"messages": [["in", 0, -1]], "requests": [["p", 1]]}])


def test_a_node_that_never_asks() -> None:
    graph = Graph().node("p", notify=False, requests={"advance": 2}).edge(None, "p", "in")
    asks: list[Line] = [{"messages": [("in", 0, 1)]}, {"messages": [("in", 0, -1)], "requests": [("p", 2)]}]
    assert not is_behaviour(graph, asks)
    later = Graph().node("p", requests={"advance": 2}).edge(None, "p", "in")
    assert is_behaviour(later, asks)
    assert not is_behaviour(later, [asks[0], {"messages": [("in", 0, -1)], "requests": [("p", 1)]}])
