"""The semantics on graphs with calls: what is asked of could-result-in is answered by the order of stacks (A&I 3.4)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, from_data, load
from progress import CouldResultIn, PointstampError, Tracker, check_conditions, close, universal_time
from progress.local_history import Event, Message, Received
from progress.semantics import (
    Asynchronous,
    CloseUp,
    Inputs,
    Not,
    OneApplication,
    Says,
    Specification,
    State,
    System,
    Variant,
    all_of_section_5,
    always_step,
    compare,
    explore,
    join,
    theorem_2,
    with_buffers,
)
from progress.topology import Topology
from tests.questions.local_histories import FunctionNode
from tests.recursion.random_calls import random_calls
from tests.semantics.small_systems import producer

QUIET = Variant(inputs=Inputs.FORBIDDEN)
FOLDER = Path(__file__).resolve().parents[2] / "examples" / "recursion"
Stamp = tuple[str, tuple[str, ...]]


def node(act: Any, *requests: Any) -> FunctionNode:
    """A node without state, by what it does at an event."""
    return FunctionNode(lambda state, event: (None, *act(event)), [(None, requests)])


def two_calls(calls: dict[tuple[str, ...], tuple[str, ...]]) -> System:
    """two_calls.yaml. `calls` says which calls are made at a stack; `merge` waits at each until all have returned.

    At the outermost one it waits from the start, when nothing has come to it yet.
    """

    def split(event: Event) -> Any:
        time = tuple(event.time)
        made = [f"split->{call}" for call in calls.get(time, ())]
        return [], {edge: [Message(time)] for edge in made or ["split->exit"]}

    def merge(event: Event) -> Any:
        return ([event.time], {}) if isinstance(event, Received) else ([], {"merge->exit": [Message(event.time)]})

    def end(event: Event) -> Any:
        time = tuple(event.time)
        return [], {f"exit->ret-{time[-1]}": [Message(time[:-1])]} if time else {}

    nodes = {
        "entry": node(lambda event: ([], {"entry->split": [Message(event.time)]}), ()),
        "split": node(split),
        "merge": node(merge, ()),
        "exit": node(end),
    }
    for call in ("left", "right"):
        edge = f"call-{call}->entry"
        nodes[f"call-{call}"] = node(lambda e, edge=edge, call=call: ([], {edge: [Message((*e.time, call))]}))
        nodes[f"ret-{call}"] = node(lambda e, call=call: ([], {f"{call}->merge": [Message(e.time)]}))
    return System(load(FOLDER / "two_calls.yaml"), nodes)


SHALLOW: dict[tuple[str, ...], tuple[str, ...]] = {(): ("left", "right")}
DEEP: dict[tuple[str, ...], tuple[str, ...]] = {(): ("left", "right"), ("left",): ("left",)}


# --- buffers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("calls", "states", "buffered"), [(SHALLOW, 55, 179), (DEEP, 105, 350)])
def test_buffers_are_the_asynchronous_semantics_with_calls_too(calls: Any, states: int, buffered: int) -> None:
    system = two_calls(calls)
    assert len(explore(Specification(system, QUIET)).states) == states
    direct = explore(Asynchronous(system, QUIET))
    inside = explore(Specification(with_buffers(system), QUIET))
    assert len(direct.states) == len(inside.states) == buffered
    assert compare(direct, inside).equal


@pytest.mark.parametrize("build", [lambda system: system, with_buffers, lambda s: with_buffers(s, ["split->left"])])
def test_section_5_holds_with_calls(build: Any) -> None:
    """Nobody is notified of a stack before what its calls return has come, whether buffers are between or not."""
    specification = Specification(build(two_calls(DEEP)), QUIET)
    found = explore(specification, all_of_section_5(specification)).check()
    assert all(verdict.path is not None for verdict in found.verdicts if not verdict.property.is_always)


def test_with_the_summaries_alone_merge_is_notified_too_early() -> None:
    """Why the relation has to be honoured: one step after the other, calls do not return as their summaries say."""
    system = with_buffers(two_calls(SHALLOW))
    network = system.network()

    def is_in_time(before: State, action: Any, after: State) -> bool:
        return not isinstance(action, Not) or action.node != "merge" or not any(before.queues)

    in_time = always_step("merge is told of [] when nothing is on the way", is_in_time)
    assert len(explore(Specification(system, QUIET), [in_time]).check().states) == 179
    network.relation = None
    blind = Specification(system, QUIET)
    found = explore(blind, [in_time, *theorem_2(blind)[:1]])
    assert len(found.states) == 685
    assert [verdict.says for verdict in found.verdicts] == [Says.FAILS, Says.FAILS]


def dummies(graph: Graph) -> System:
    """A graph with nodes that do nothing, to put buffers in."""
    idle = FunctionNode(lambda state, event: (state, (), {}))
    return System(graph, dict.fromkeys(graph.network().nodes, idle))


def by_single_steps(graph: Topology, start: Stamp, deepest: int) -> set[Stamp]:
    """What a pointstamp leads to, edge by edge on names and tuples; calls go no deeper than so many."""
    network = graph.network()
    names = [*network.nodes]
    found, waiting = {start}, [start]
    while waiting:
        place, stack = waiting.pop()
        for after in following(network, names, place, stack):
            if after not in found and len(after[1]) <= deepest:
                found.add(after)
                waiting.append(after)
    return found


def following(network: Any, names: list[str], place: str, stack: tuple[str, ...]) -> Iterator[Stamp]:
    """One step: from a node to each edge that leaves it, where the call is pushed or popped, or from an edge on."""
    for edge, name in enumerate(network.edges):
        source, target = network.sources[edge], network.targets[edge]
        if name == place and target >= 0:
            yield names[target], stack
        if source < 0 or names[source] != place:
            continue
        written = name.removesuffix(", unsent")
        first, _, last = written.partition("->")
        if first.startswith("call-") and first in names:
            yield name, stack if source_is_buffer(names[source]) else (*stack, first.removeprefix("call-"))
        elif last.startswith("ret-") and last in names:
            if source_is_buffer(names[source]):
                yield name, stack
            elif stack and stack[-1] == last.removeprefix("ret-"):
                yield name, stack[:-1]
        else:
            yield name, stack


def source_is_buffer(name: str) -> bool:
    return name.startswith("buffer of ")


@pytest.mark.parametrize("seed", range(12))
def test_could_result_in_with_buffers_against_single_steps(seed: int) -> None:
    """The relation itself, Close-up, ways and one application, with buffers on some edges or on all."""
    rng = random.Random(seed)
    graph = from_data(random_calls(rng, procedures=1, epochs=False, ordinary=rng.randint(0, 2)))
    edges = list(graph.network().edges)
    chosen = edges if seed % 3 == 0 else rng.sample(edges, rng.randint(1, len(edges)))
    system = with_buffers(dummies(graph), chosen)
    network = system.network()
    could, one = CouldResultIn(system), OneApplication(system)
    calls = sorted({name.removeprefix("call-") for name in network.nodes if name.startswith("call-")})
    stacks = [(), *((call,) for call in calls), *product(calls, repeat=2)]
    locations = [*network.nodes, *network.edges]
    said = {True: 0, False: 0}
    for _ in range(25):
        start = rng.choice(locations), rng.choice(stacks)
        reached = by_single_steps(system, start, 5)
        closure, clock = close(system, [start]), one(frozenset({start}))
        for _ in range(25):
            end = rng.choice(locations), rng.choice(stacks)
            truth = end in reached
            said[truth] += 1
            assert could(start, end) == truth, (chosen, start, end)
            assert (end in closure) == truth
            assert (end in clock) == truth
            way, proof = closure.way(network.number(end[0]), network.pointstamp(end)[1]), could.proof(start, end)
            for each in (way and list(way.proof), proof):
                assert (each is not None) == truth
                if each is not None:
                    goes_on_and_on(network, each, start, end)
            steps = could.walk(start, end)
            if steps is not None:
                walked = [(at, tuple(stack)) for at, stack in steps]
                assert (walked[0], walked[-1]) == (start, end)
                for here, there in pairwise(walked):
                    assert there in following(network, [*network.nodes], *here)
    assert min(said.values()) > 20


def goes_on_and_on(network: Any, way: list[Any], start: Stamp, end: Stamp) -> None:
    """A proof: from the start to the end, distinct neighbouring locations."""
    assert (way[0][0], tuple(way[0][1])) == start
    assert (way[-1][0], tuple(way[-1][1])) == end
    places = [network.number(at) for at, _ in way]
    if len(way) == 2 and places[0] == places[1]:
        return
    assert len(set(places)) == len(places)
    for here, there in pairwise(places):
        assert there in [after for after, _ in network.successors(here)]


def test_frontiers_with_buffers_are_those_without() -> None:
    """At every location that both have; before a buffer it is as behind it, of what lies elsewhere."""
    graph = load(FOLDER / "stream.yaml")
    system = with_buffers(dummies(graph))
    for given in ([("numbers", (1, ()))], [("combine", (0, ("left",))), ("numbers", (2, ()))]):
        plain, buffered = close(graph, given), close(system, given)
        for name in (*graph.network().nodes, *graph.network().edges):
            place = graph.network().number(name), system.network().number(name)
            try:
                expected = plain.times(place[0])
            except PointstampError as error:
                with pytest.raises(PointstampError, match=error.code):
                    buffered.times(place[1])
                continue
            assert buffered.times(place[1]) == expected
            if f"{name}, unsent" in system.network().edges and name not in dict(given):
                assert buffered.times(system.network().number(f"{name}, unsent")) == expected
    lying = close(system, [("results", (3, ())), ("results, unsent", (4, ()))])
    assert {place: str(times) for place, times in lying.frontiers.items()} == {
        "results": "((3, []),)",
        "buffer of results": "((4, []),)",
        "results, unsent": "((4, []),)",
    }


def test_walks_with_buffers_raise_the_epoch_at_their_end() -> None:
    system = with_buffers(dummies(load(FOLDER / "stream.yaml")))
    could = CouldResultIn(system)
    walk = could.walk(("numbers", (0, ())), ("results", (2, ())))
    assert walk is not None
    places = [(at, time[0]) for at, time in walk]
    assert places[-4:] == [("results, unsent", 0), ("buffer of results", 0), ("results", 0), ("results", 2)]
    proof = could.proof(("numbers", (0, ())), ("results", (2, ())))
    assert proof is not None
    assert proof[-1] == ("results", (2, system.network().pointstamp(("results", (2, ())))[1][1]))
    assert could.proof(("results", (0, ())), ("numbers", (2, ()))) is None


def test_conditions_with_buffers_are_those_without() -> None:
    graph = from_data(
        {
            "pointstamp": 1,
            "recursion": {"in": "a", "out": "z", "calls": ["c"]},
            "nodes": {"a": {}, "b": {}, "c": {}, "z": {}},
            "edges": [{"from": s, "to": t} for s, t in ("ab", "bc", "cb", "bz")],
        }
    )
    report = check_conditions(with_buffers(dummies(graph), ["b->c"]))
    plain = check_conditions(graph)
    assert plain.advancing.holds is report.advancing.holds is False
    (before,), (after,) = plain.advancing.standstills, report.advancing.standstills
    cycle = list(before.cycle)
    place = cycle.index("b->c")
    assert list(after.cycle) == [*cycle[:place], "b->c, unsent", "buffer of b->c", *cycle[place:]]
    assert len(after.round) == len(before.round) + 2


def test_no_tracker_runs_on_a_graph_with_calls_and_buffers() -> None:
    with pytest.raises(PointstampError, match=r"PS512.*track the graph without them"):
        Tracker(with_buffers(dummies(load(FOLDER / "two_calls.yaml"))))


# --- joining ---------------------------------------------------------------------------------------------------------


def test_graphs_with_calls_are_not_joined() -> None:
    for pair in ((two_calls(SHALLOW), producer()), (producer(), two_calls(SHALLOW))):
        with pytest.raises(PointstampError, match=r"PS401: a graph with calls cannot be joined"):
            join(*pair)


# --- universal time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["two_calls.yaml", "follows_itself.yaml"])
def test_universal_time_embeds_could_result_in_with_calls(file: str) -> None:
    """Proposition 2, where the minimal times of some closed sets have no finite form."""
    graph = load(FOLDER / file)
    network, could, rng = graph.network(), CouldResultIn(graph), random.Random(5)
    calls = [name.removeprefix("call-") for name in network.nodes if name.startswith("call-")]
    stacks = [(), *((call,) for call in calls), *product(calls, repeat=2)]
    stamps = [(rng.choice([*network.nodes, *network.edges]), rng.choice(stacks)) for _ in range(40)]
    universal = {stamp: universal_time(graph, *stamp) for stamp in stamps}
    same = endless = 0
    for one in stamps:
        for other in stamps:
            assert could(one, other) == (universal[one] <= universal[other])
            assert (universal[one] == universal[other]) == (could(one, other) and could(other, one))
            if universal[one] == universal[other]:
                assert hash(universal[one]) == hash(universal[other])
                same += one != other
        try:
            assert close(graph, [one]).frontiers
        except PointstampError as error:
            endless += error.code == "PS601"
    assert endless
    assert same or file == "two_calls.yaml"
    assert universal[stamps[0]] != "a time"
    assert universal_time(load(FOLDER / file), *stamps[0]) != universal[stamps[0]]


# --- one application -------------------------------------------------------------------------------------------------


def test_one_application_is_close_up_with_calls() -> None:
    """Proposition 3, on every Clock of every state: Condition 2 holds wherever stacks are."""
    system = two_calls(DEEP)
    specification, one, up = Specification(system, QUIET), OneApplication(system), CloseUp(system)
    network = system.network()
    stacks = [(), ("left",), ("right",), ("left", "left"), ("left", "right")]
    differ = 0
    for state in explore(specification).states:
        outstanding = specification.outstanding(state)
        for place, stack in product([*network.nodes, *network.edges], stacks):
            assert ((place, stack) in one(outstanding)) == ((place, stack) in up(outstanding))
            differ += (place, stack) in one(outstanding)
    assert differ
    assert explore(Specification(system, QUIET, one)).check().finished
