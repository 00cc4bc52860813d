"""Random sessions: a start and then steps and questions, mostly legal, each with the answer of the reference.

The generator looks at the oracle's state: it consumes what is queued, sends and requests within the Clock, delivers
what is eligible, moves inputs up and closes them, more so towards the end; about every fourth step has something
illegal in it. Sessions are plain data in the reference's times, so that a printed one can be played again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from progress.reference import Frontiers, Graph, Pointstamp
from progress.reference.session import Closures, Session, refusals_of_start
from progress.reference.steps import Codes
from progress.reference.times import Domain, Time, Times, contains, less_equal

Step = dict[str, Any]  # inputs, messages, requests, delivered: what `Session.step` takes
Action = tuple[Any, ...]  # ("apply", step), ("with", step), ("break", step), ("ready",), ("snapshot",), or a question:
#                           ("complete", location, time), ("why", node, time), ("holding", location)


@dataclass(frozen=True)
class State:
    """All that can be seen between two actions."""

    clock: Frontiers
    eligible: list[Pointstamp]
    messages: dict[Pointstamp, int]
    requests: list[Pointstamp]
    inputs: dict[str, Times]


@dataclass
class Script:
    """A session as data; `refused_starts` are tried before it begins, `watched` are locations to subscribe to."""

    inputs: dict[str, list[Time]] | None
    requests: list[Pointstamp]
    watched: list[str] = field(default_factory=list)
    refused_starts: list[tuple[Any, Any]] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


@dataclass
class Told:
    """What the reference says: of the refused starts, of the state at the start, and of each action."""

    starts: list[Codes]
    first: State
    answers: list[Any]


def state(session: Session) -> State:
    """What can be seen of the session now."""
    return State(
        session.clock(),
        session.eligible(),
        dict(session.messages),
        list(session.requests),
        {edge: tuple(times) for edge, times in session.inputs.items()},
    )


def perform(session: Session, action: Action) -> Any:
    """The reference's answer: of a step its codes and the state after it, of a question what it asks for."""
    match action:
        case ("apply" | "with", step):
            return session.step(**step), state(session)
        case ("ready",):
            return session.newly_ready()
        case ("complete", location, time):
            return session.complete(location, time)
        case ("why", node, time):
            return session.blockers(node, time)
        case ("holding", location):
            return {time: session.holders(location, time) for time in session.frontier(location)}
    return None  # ("break", step) and ("snapshot",) change nothing


def told(graph: Graph, script: Script, closures: Closures | None = None) -> Told:
    """The reference's side of a session, to play a printed one again."""
    session = Session(graph, script.inputs, script.requests, closures)
    starts = [refusals_of_start(graph, *start) for start in script.refused_starts]
    return Told(starts, state(session), [perform(session, action) for action in script.actions])


def random_session(rng: random.Random, graph: Graph, closures: Closures, script: Script) -> Told:
    """Go on from a start with 5 to 12 steps, which the script then has; raises TooManySteps where the reference cannot
    follow."""
    session = Session(graph, script.inputs, script.requests, closures)
    answers = Told([refusals_of_start(graph, *start) for start in script.refused_starts], state(session), [])

    def act(*action: Any) -> Any:
        script.actions.append(action)
        answers.answers.append(perform(session, action))

    length = rng.randint(5, 12)
    eager_to_ask = rng.choice([0.3, 0.8, 1.0])
    if rng.random() < eager_to_ask:
        act("ready")
    for number in range(length):
        step = random_step(rng, session, number / length)
        illegal = rng.random() < 0.25
        form = illegal and graph.edges and rng.random() < 0.08
        if illegal and not form:
            for _ in range(rng.choice([1, 1, 1, 1, 2])):
                _make_illegal(rng, session, step)
        elif rng.random() < 0.06:
            act("break", step)
        act(*(("apply", _malformed(rng, graph, step)) if form else (rng.choice(["apply", "with"]), step)))
        if rng.random() < eager_to_ask:
            act("ready")
        if rng.random() < 0.3:
            for question in _random_questions(rng, session):
                act(*question)
        if rng.random() < 0.07:
            act("snapshot")
    act("ready")
    return answers


# Times


def any_time(rng: random.Random, domain: Domain, largest: int = 3) -> Time:
    """A time of the domain."""
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
            return (tag, any_time(rng, part, largest))
    return tuple(any_time(rng, part, largest) for part in domain[1])


def later(rng: random.Random, domain: Domain, time: Time) -> Time:
    """A time at or above this one, near it."""
    match domain:
        case ("nat", maximum):
            grown: int = time + rng.choice([0, 0, 0, 1, 1, 2])
            return grown if maximum is None else min(grown, maximum)
        case ("int",):
            return time + rng.choice([0, 0, 0, 1, 1, 2])
        case ("unit",):
            return None
        case ("finite", elements, pairs):
            return rng.choice([other for other in sorted(elements) if (time, other) in pairs])
        case ("sum", options):
            return (time[0], later(rng, dict(options)[time[0]], time[1]))
        case ("lex", parts):
            place = rng.randrange(len(parts))
            moved = later(rng, parts[place], time[place])
            if moved == time[place]:
                return time
            return (*time[:place], moved, *(any_time(rng, part) for part in parts[place + 1 :]))
    return tuple(later(rng, part, value) for part, value in zip(domain[1], time, strict=True))


def _in_clock(rng: random.Random, session: Session, locations: Sequence[str]) -> Pointstamp | None:
    """A pointstamp of the Clock at one of these locations."""
    clock = session.clock()
    there = [location for location in locations if location in clock]
    if not there:
        return None
    location = rng.choice(there)
    return location, later(rng, session.graph.domain[location], rng.choice(clock[location]))


def _anywhere(rng: random.Random, session: Session, locations: Sequence[str]) -> Pointstamp:
    location = rng.choice(locations)
    return location, any_time(rng, session.graph.domain[location])


# Starts


def random_start(rng: random.Random, graph: Graph) -> Script:
    """Where inputs open and what is requested: anything, or as it is where nobody says."""
    inputs: dict[str, list[Time]] | None = None
    edges = [edge for edge in graph.edges if graph.source[edge] is None]
    if rng.random() < 0.7:
        inputs = {}
        for edge in edges:
            if rng.random() < 0.85:
                number = rng.choice([0, 1, 1, 1, 1, 2, 3])
                inputs[edge] = [any_time(rng, graph.domain[edge], 2) for _ in range(number)]
    number = rng.choice([0, 1, 2, 3, 4]) if edges else rng.choice([1, 2, 3, 4])
    nodes = [rng.choice(graph.nodes) for _ in range(number)]
    script = Script(inputs, [(node, any_time(rng, graph.domain[node])) for node in nodes])
    script.watched = rng.sample(graph.locations, rng.choice([0, 0, 1, 2]))
    if rng.random() < 0.05:
        script.refused_starts.append(_refused_start(rng, graph))
    return script


def _refused_start(rng: random.Random, graph: Graph) -> tuple[Any, Any]:
    node = rng.choice(graph.nodes)
    time = any_time(rng, graph.domain[node])
    choices: list[tuple[Any, Any]] = [
        ({}, [("nowhere", time)]),
        ({"nowhere": [time]}, []),
        ({node: [time]}, []),
        ({node: []}, []),
        ({}, [(node, time), (node, _no_time(rng, graph.domain[node]))]),
    ]
    for edge in graph.edges:
        choices.append(({}, [(edge, any_time(rng, graph.domain[edge]))]))
        choices.append(({edge: [_no_time(rng, graph.domain[edge])]}, []))
    return rng.choice(choices)


# Legal steps


def random_step(rng: random.Random, session: Session, progress: float) -> Step:
    """One to four deeds in one step, legal together; `progress` from 0 to 1 is how far the session has come."""
    step: Step = {"inputs": {}, "messages": [], "requests": [], "delivered": []}
    queued = dict(session.messages)
    deliverable = session.eligible()
    for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
        opened = [edge for edge, times in session.inputs.items() if times and edge not in step["inputs"]]
        deeds = {
            "send": 2 - 1.5 * progress,
            "request": 1.5 - progress,
            "process": 2 + 2 * progress if queued else 0,
            "deliver": 2 + 2 * progress if deliverable else 0,
            "input": 1 + 2 * progress if opened else 0,
        }
        match rng.choices(list(deeds), list(deeds.values()))[0]:
            case "send":
                sent = _in_clock(rng, session, session.graph.edges)
                if sent:
                    step["messages"].append((*sent, rng.choice([1, 1, 1, 2])))
            case "request":
                wanted = _in_clock(rng, session, session.graph.nodes)
                if wanted:
                    step["requests"].append(wanted)
            case "process":
                message = rng.choice(list(queued))
                number = rng.randint(1, queued[message]) if rng.random() < 0.3 else queued[message]
                step["messages"].append((*message, -number))
                queued[message] -= number
                if not queued[message]:
                    del queued[message]
                node = session.graph.destination[message[0]]
                if node is not None:
                    _happen(rng, session, step, node, message[1])
            case "deliver":
                request = deliverable.pop(rng.randrange(len(deliverable)))
                step["delivered"].append(request)
                if rng.random() < 0.1:
                    step["requests"].append(request)
                _happen(rng, session, step, *request)
            case "input":
                edge = rng.choice(opened)
                times = session.inputs[edge]
                number = 0 if rng.random() < 0.15 + 0.5 * progress else rng.choice([1, 1, 2, 3])
                step["inputs"][edge] = [
                    later(rng, session.graph.domain[edge], rng.choice(times)) for _ in range(number)
                ]
    return step


def _happen(rng: random.Random, session: Session, step: Step, node: str, time: Time) -> None:
    """An event at the node: it may send what its summaries allow, and request."""
    graph = session.graph
    if rng.random() < 0.4:
        for edge, times in graph.steps(node, later(rng, graph.domain[node], time)):
            if times and rng.random() < 0.5:
                step["messages"].append((edge, later(rng, graph.domain[edge], rng.choice(times)), 1))
    if rng.random() < 0.25:
        step["requests"].append((node, later(rng, graph.domain[node], time)))


# Illegal ones


def _make_illegal(rng: random.Random, session: Session, step: Step) -> None:
    """Add something illegal to the step, of a kind drawn at random; where the state offers none of it, of another."""
    graph = session.graph
    while True:
        edge_or_node = rng.choice(["edge", "node"]) if graph.edges else "node"
        places = graph.edges if edge_or_node == "edge" else graph.nodes
        match rng.choices(range(502, 510), [1, 1, 1, 2, 3, 2, 2, 2])[0]:
            case 502:
                name = rng.choice(["nowhere", "", graph.nodes[0] + " ", 7, None])
                time = any_time(rng, graph.domain[graph.nodes[0]])
                return _put(rng, step, name, time, rng.choice(["node", "edge", "input"]))
            case 503:
                location = rng.choice(places)
                kind = "input" if graph.source.get(location, "") is None and rng.random() < 0.4 else edge_or_node
                return _put(rng, step, location, _no_time(rng, graph.domain[location]), kind)
            case 504:
                location, time = _in_clock(rng, session, places) or _anywhere(rng, session, places)
                wrong = ["node", "input"] if edge_or_node == "edge" else ["edge", "input"]
                if graph.source.get(location, "") is None:
                    wrong.remove("input")
                return _put(rng, step, location, time, rng.choice(wrong))
            case 505 if graph.edges:
                if session.messages and rng.random() < 0.6:
                    message = rng.choice(list(session.messages))
                else:
                    message = _in_clock(rng, session, graph.edges) or _anywhere(rng, session, graph.edges)
                step["messages"].append((*message, -session.messages.get(message, 0) - rng.choice([1, 1, 2])))
                return None
            case 506:
                outside = [_anywhere(rng, session, places) for _ in range(4)]
                outside = [each for each in outside if not session.in_clock(*each)]
                if outside:
                    if edge_or_node == "edge":
                        step["messages"].append((*outside[0], 1))
                    else:
                        step["requests"].append(outside[0])
                    return None
            case 507:
                eligible = session.eligible()
                twice = eligible and rng.random() < 0.4
                request = rng.choice(eligible) if twice else _anywhere(rng, session, graph.nodes)
                step["delivered"] += [request] * (2 if twice else 1)
                return None
            case 508:
                blocked = [request for request in session.requests if not session.complete(*request)]
                if blocked:
                    step["delivered"].append(rng.choice(blocked))
                    return None
            case 509 if session.inputs:
                edge, before = rng.choice(list(session.inputs.items()))
                domain = graph.domain[edge]
                back = [any_time(rng, domain) for _ in range(4)]
                back = [time for time in back if not any(less_equal(domain, old, time) for old in before)]
                if back:
                    step["inputs"][edge] = [*(later(rng, domain, old) for old in before[:1]), back[0]]
                    return None


def _put(rng: random.Random, step: Step, location: Any, time: Any, kind: str) -> None:
    """Name the place and the time where a node, an edge or an input edge is meant."""
    if kind == "input":
        step["inputs"][location] = [time] if rng.random() < 0.8 else []
    elif kind == "edge":
        step["messages"].append((location, time, rng.choice([1, 1, -1])))
    else:
        step[rng.choice(["requests", "delivered"])].append((location, time))


def _no_time(rng: random.Random, domain: Domain) -> Any:
    every = [
        -1,
        10**6,
        "a",
        "zz",
        None,
        True,
        1.0,
        (),
        (0,),
        (0, 0),
        (0, 0, 0),
        (None, -1),
        ("left", 0),
        ("x", "x"),
        [0],
    ]
    return rng.choice([time for time in every if not contains(domain, time)])


def _malformed(rng: random.Random, graph: Graph, step: Step) -> Step:
    """The step with something in it that is not a step at all."""
    edge, node = rng.choice(graph.edges), rng.choice(graph.nodes)
    sent, at = any_time(rng, graph.domain[edge]), any_time(rng, graph.domain[node])
    wrong: list[tuple[str, Any]] = [
        ("messages", [*step["messages"], (edge, sent)]),
        ("messages", [*step["messages"], (edge, sent, 1, 1)]),
        ("messages", [*step["messages"], (edge, sent, rng.choice([True, 1.0, "1", None]))]),
        ("messages", [*step["messages"], 7]),
        ("requests", [*step["requests"], (node,)]),
        ("requests", [*step["requests"], (node, at, 1)]),
        ("delivered", [*step["delivered"], None]),
        ("delivered", [*step["delivered"], (node, at, 1)]),
    ]
    if graph.source[edge] is None:
        wrong += [("inputs", {**step["inputs"], edge: 0}), ("inputs", {**step["inputs"], edge: "a"})]
        wrong += [("inputs", [(edge, [sent])])]
    return {**step, **dict([rng.choice(wrong)])}


# Questions


def _random_questions(rng: random.Random, session: Session) -> list[Action]:
    graph = session.graph
    questions: list[Action] = []
    for _ in range(rng.randint(1, 3)):
        where = _in_clock(rng, session, graph.locations) if rng.random() < 0.4 else None
        questions.append(("complete", *(where or _anywhere(rng, session, graph.locations))))
    if rng.random() < 0.5:
        pending = list(session.requests)
        asked = rng.choice(pending) if pending and rng.random() < 0.8 else _anywhere(rng, session, graph.nodes)
        questions.append(("why", *asked))
    if rng.random() < 0.3:
        questions.append(("holding", rng.choice(graph.locations)))
    return questions
