"""The compiled kernel and its twin, `progress.engines.eager`, answer alike; and nothing that it is told breaks it."""

from __future__ import annotations

import gc
import os
import random
import resource
import subprocess
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from graphs import from_data
from graphs.files.notation import read_summary
from graphs.graph import bind
from progress import Domain, Int, Lex, Nat, PointstampError, Product
from progress.engines.arcs import Arcs, Entrances
from progress.engines.eager import Eager
from progress.kernel import BUILT, compiled
from progress.topology import NO_NODE, Network
from progress.tracker import Tracker
from tests.tracking.flat_graphs import chain, identity, network_of, random_network, random_work, times_of

PAIR = Product([Nat(), Nat()])
TRIPLE = Product([Nat(), Nat(), Nat()])


def kernel_on(network: Network) -> Any:
    """A kernel for a network that has one."""
    kernel = compiled(Entrances(network).arcs)
    assert kernel is not None
    return kernel


def test_it_is_built() -> None:
    assert BUILT, "install again where there is a C compiler"
    assert kernel_on(chain(Nat(), 3)).kernel is not None


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    headers, source = sysconfig.get_paths()["include"], Path(__file__).parents[2] / "progress/kernel/kernel.c"
    usual_in_modules = ("-Wno-cast-function-type", "-Wno-missing-field-initializers")
    strict = ["-O3", "-Wall", "-Wextra", "-Werror", *usual_in_modules]
    command = [
        os.environ.get("CC", "cc"),
        *strict,
        "-fPIC",
        "-I",
        headers,
        "-c",
        str(source),
        "-o",
        str(tmp_path / "kernel.o"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


# --- the same answers ------------------------------------------------------------------------------------------------


Moves = Mapping[int, tuple[Sequence[Any], Sequence[Any]] | None]


def told(arcs: Arcs, moves: Moves) -> dict[int, Any]:
    """What left and what came, without what left because something below it came: that need not be told."""
    found: dict[int, Any] = {}
    for vertex, move in moves.items():
        less_equal = arcs.domains[vertex].less_equal
        found[vertex] = move and (
            {time for time in move[0] if not any(less_equal(lower, time) for lower in move[1])},
            set(move[1]),
        )
    return found


class Twins:
    """The kernel and its twin at work on one graph, compared after everything."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        network = random_network(self.rng)
        self.work = random_work(self.rng, network, 25)
        self.arcs = Entrances(network).arcs
        self.kernel = compiled(self.arcs)
        self.twin = Eager(self.arcs)
        self.vertices = range(len(self.arcs.domains))
        self.seen = {
            "units": int(len(set(self.arcs.component)) < len(self.vertices)),
            "waited": 0,
            "woken": 0,
            "moved": 0,
        }

    def play(self) -> None:
        kernel, twin, seen, rng = self.kernel, self.twin, self.seen, self.rng
        assert kernel is not None
        for vertex in self.vertices:
            if rng.random() < 0.6:
                kernel.watch(vertex)
                twin.watch(vertex)
        for what, *rest in self.work:
            if what == "wait":
                waits = kernel.wait(*rest)
                assert waits is twin.wait(*rest) is kernel.covers(*rest[:2])
                seen["waited"] += waits
                continue
            woken = kernel.update(*rest)
            assert sorted(woken) == sorted(twin.update(*rest))
            seen["woken"] += len(woken)
            for vertex in self.vertices:
                times = kernel.times(vertex)
                assert len(times) == len(twin.times(vertex))
                assert set(times) == set(twin.times(vertex))
            if rng.random() < 0.6:
                moves = kernel.take_moved()
                assert told(self.arcs, moves) == told(self.arcs, twin.take_moved())
                seen["moved"] += len(moves)
        assert not any(map(kernel.times, self.vertices))


@pytest.mark.slow
def test_random_work_on_random_graphs() -> None:
    seen = {"graphs": 0, "units": 0, "waited": 0, "woken": 0, "moved": 0}
    for seed in range(2_500):
        twins = Twins(seed)
        if twins.kernel is None:
            continue  # a cycle that is not known to advance
        try:
            twins.play()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
        seen["graphs"] += 1
        for kind, number in twins.seen.items():
            seen[kind] += number
    assert seen["graphs"] > 1_500, seen
    assert seen["units"] > 200, seen
    assert seen["woken"] > 10_000, seen
    assert seen["moved"] > 10_000, seen


@pytest.mark.parametrize("seed", range(300))
def test_what_is_kept_does_not_depend_on_how_it_came(seed: int) -> None:
    """After any work, frontiers are those of a new engine that is told everything at once."""
    twins = Twins(seed)
    outstanding: dict[tuple[int, Any], int] = {}
    for what, *rest in twins.work:
        if what != "update":
            continue
        twins.twin.update(rest[0])
        if twins.kernel is not None:
            twins.kernel.update(rest[0])
        for vertex, time, change in rest[0]:
            outstanding[vertex, time] = outstanding.get((vertex, time), 0) + change
        if twins.rng.random() < 0.3:
            fresh = Eager(twins.arcs)
            fresh.update([(vertex, time, number) for (vertex, time), number in outstanding.items() if number])
            for vertex in twins.vertices:
                expected = set(fresh.times(vertex))
                assert set(twins.twin.times(vertex)) == expected
                assert twins.kernel is None or set(twins.kernel.times(vertex)) == expected


@pytest.mark.parametrize("domain", [Nat(), PAIR, TRIPLE, Lex([Nat(), Nat()])], ids=repr)
def test_what_comes_and_goes_in_one_update_never_was(domain: Domain) -> None:
    network = chain(domain, 3)
    time = times_of(random.Random(1), domain)
    for engine in (kernel_on(network), Eager(Entrances(network).arcs)):
        assert engine.update([(0, time, 1), (0, time, -1)]) == []
        assert [list(engine.times(vertex)) for vertex in range(3)] == [[], [], []]


# --- usual steps -----------------------------------------------------------------------------------------------------


def outcome(tracker: Tracker, step: dict[str, Any]) -> str | None:
    try:
        tracker.apply(**step)
    except PointstampError as error:
        return error.code
    return None


def random_step(rng: random.Random, tracker: Tracker) -> dict[str, Any]:
    """What an event may do, and sometimes what none may."""
    network = tracker.network
    step: dict[str, Any] = {"messages": [], "requests": [], "delivered": []}
    events: list[tuple[int, Any]] = []
    for (edge, time), number in rng.sample(list(tracker.messages().items()), min(2, len(tracker.messages()))):
        step["messages"].append((edge, time, -rng.randint(1, number)))
        events.append((network.targets[network.edges.index(edge)], time))
    for node, time in rng.sample(tracker.eligible(), min(1, len(tracker.eligible()))):
        step["delivered"].append((node, time))
        events.append((network.nodes.index(node), time))
    for place, time in events:
        if place == NO_NODE:
            continue
        for leaving in network.outgoing[place]:
            summary = network.summaries[leaving]
            assert summary is not None
            for after in summary.apply(time):
                if rng.random() < 0.4:
                    step["messages"].append((network.edges[leaving], after, rng.randint(1, 2)))
        if rng.random() < 0.4:
            step["requests"].append((network.nodes[place], time))
    if rng.random() < 0.3:
        anywhere = rng.randrange(len(network.edges))
        time = times_of(rng, network.edge_domains[anywhere])
        step["messages"].append((network.edges[anywhere], time, rng.choice([-1, 1, 1, 0])))
    if rng.random() < 0.3:
        place = rng.randrange(len(network.nodes))
        what = rng.choice(["requests", "delivered"])
        step[what].append((network.nodes[place], times_of(rng, network.domains[place])))
    if rng.random() < 0.3:
        step["inputs"] = {
            edge: [time for time in times if rng.random() < 0.5]
            if rng.random() < 0.5
            else [times_of(rng, network.domain(network.numbers[edge]))]
            for edge, times in tracker.inputs().items()
            if rng.random() < 0.4
        }
    if rng.random() < 0.3 and (inputs := tracker.inputs()):
        edge = rng.choice(list(inputs))
        step["messages"].append((edge, times_of(rng, network.domain(network.numbers[edge])), 1))
    return step


def noted(step: Callable[..., Any], answers: list[Any], *given: Any) -> Any:
    answers.append(step(*given))
    return answers[-1]


@pytest.mark.slow
def test_steps_are_judged_as_the_definitions_judge_them() -> None:
    usual = refused = taken = 0
    for seed in range(400):
        rng = random.Random(seed)
        network = random_network(rng, 5)
        try:
            fast = Tracker(network, kernel=True)
        except PointstampError:
            continue
        slow = Tracker(network, kernel=False)
        for _ in range(25):
            step = random_step(rng, slow)
            answers: list[Any] = []
            inner = fast._usual_step
            fast._usual_step = partial(noted, inner, answers)
            found, expected = outcome(fast, step), outcome(slow, step)
            fast._usual_step = inner
            assert found == expected, (seed, step)
            usual += any(answer is not None for answer in answers)
            taken += found is None
            refused += found is not None
            assert fast.messages() == slow.messages(), (seed, step)
            assert fast.pending() == slow.pending(), (seed, step)
            assert fast.eligible() == slow.eligible(), (seed, step)
            assert fast.get_ready() == slow.get_ready(), (seed, step)
            assert {name: set(times) for name, times in fast.clock().items()} == {
                name: set(times) for name, times in slow.clock().items()
            }, (seed, step)
        assert fast.kernel
    assert usual > 500, (usual, taken, refused)
    assert refused > 500, (usual, taken, refused)


def test_who_comes_and_goes_is_told_by_the_kernel_what_its_twin_tells() -> None:
    """Subscriptions begin and end between the steps; engines are made anew, as after an update that was broken off."""
    told_of = 0
    for seed in range(200):
        rng = random.Random(seed)
        network = random_network(rng, 5)
        try:
            twins = [Tracker(network, kernel=True), Tracker(network, kernel=False)]
        except PointstampError:
            continue
        told: tuple[list[Any], list[Any]] = ([], [])
        ends: list[list[Callable[[], None]]] = []
        locations = (*network.nodes, *network.edges)
        for _ in range(40):
            if rng.random() < 0.3:
                name = rng.choice(locations)
                ends.append(
                    [
                        twin.subscribe(name, lambda *move, heard=heard: heard.append(move))
                        for twin, heard in zip(twins, told, strict=True)
                    ]
                )
            if ends and rng.random() < 0.2:
                for end in ends.pop(rng.randrange(len(ends))):
                    end()
            if rng.random() < 0.1:
                for twin in twins:
                    twin._rebuild()
            step = random_step(rng, twins[1])
            assert outcome(twins[0], step) == outcome(twins[1], step), (seed, step)
            heard, expected = ([(name, set(left), set(came)) for name, left, came in moves] for moves in told)
            assert heard == expected, (seed, step)
            told_of += len(heard)
            told[0].clear()
            told[1].clear()
    assert told_of > 250, told_of


def test_a_usual_step_of_which_nobody_is_told_asks_for_no_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [f"n{number}" for number in range(50)]
    edges = [{"id": f"e{number}", "from": f"n{number - 1}", "to": f"n{number}"} for number in range(1, 50)]
    graph = from_data(
        {"pointstamp": 1, "nodes": {name: {} for name in nodes}, "edges": [{"id": "e0", "to": "n0"}, *edges]}
    )
    tracked = Tracker(graph, engine="eager", kernel=True)
    collected: list[Any] = []
    collect = tracked._subscriptions.collect

    def counted(*given: Any) -> None:
        collected.append(given)
        collect(*given)

    monkeypatch.setattr(tracked._subscriptions, "collect", counted)
    told: list[Any] = []
    tracked.subscribe("e20", lambda *move: told.append(move))
    tracked.apply(messages=[("e0", 0, 1)], inputs={"e0": []})
    collected.clear()
    for number in range(49):
        tracked.apply(messages=[(f"e{number}", 0, -1), (f"e{number + 1}", 0, 1)])
        if number == 20:
            assert told == [("e20", (0,), ())]
    assert len(collected) <= 4, (
        collected
    )  # where the message comes to the edge, where it leaves it, where its source moves
    assert told == [("e20", (0,), ())]


# --- strangers at the door -------------------------------------------------------------------------------------------


class Number(int):
    """An int that is not quite one."""

    def __index__(self) -> int:
        raise AssertionError

    def __hash__(self) -> int:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError


class Row(tuple[Any, ...]):
    def __hash__(self) -> int:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


class Name(str):
    def __hash__(self) -> int:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError


class Index:
    """Says that it is a number, and breaks what it can reach while it is asked."""

    def __init__(self, breaks: Callable[[], Any] = lambda: None) -> None:
        self.breaks = breaks

    def __index__(self) -> int:
        self.breaks()
        return 0

    def __bool__(self) -> bool:
        self.breaks()
        return True


STRANGE: list[Any] = [
    None,
    True,
    "0",
    b"0",
    0.0,
    0.5,
    nan,
    inf,
    -inf,
    -1,
    3,
    2**31,
    2**62,
    2**63 - 1,
    -(2**63),
    2**64,
    -(10**40),
    Number(0),
    Number(2**70),
    (),
    (0,),
    (0, 0),
    (0, 0, 0),
    (0, None),
    (0, 0.5),
    (0, 2**62),
    (Number(0), Number(1)),
    (0,) * 9,
    Row((0, 0)),
    Row((0,)),
    [0, 0],
    {0: 0},
    {0, 1},
    Index(),
    object(),
    Name("e0"),
    "e0",
    "n0",
    lambda: None,
    ...,
]
KERNELS = [
    pytest.param(lambda: kernel_on(chain(Nat(), 3)), id="nat"),
    pytest.param(lambda: kernel_on(chain(PAIR, 3)), id="pair"),
    pytest.param(lambda: kernel_on(chain(TRIPLE, 3)), id="triple"),
    pytest.param(lambda: kernel_on(chain(Lex([Nat(), Nat()]), 3)), id="lex"),
    pytest.param(lambda: Tracker(chain(PAIR, 3), kernel=True)._engine, id="with steps"),
]


def sound(kernel: Any, make: Callable[[], Any]) -> Any:
    """The kernel, or a new one where an error has broken it off."""
    try:
        kernel.update([])
    except OverflowError:
        return make()
    return kernel


@pytest.mark.parametrize("make", KERNELS)
def test_strange_arguments_are_refused(make: Callable[[], Any]) -> None:
    """Whatever is handed over, the answer is an exception, or one that makes sense; the process lives on."""
    kernel = make()

    def call(method: str, *arguments: Any) -> Any:
        nonlocal kernel
        kernel = sound(kernel, make)
        with suppress(Exception):
            return getattr(kernel, method)(*arguments)

    for one in STRANGE:
        for method in ("update", "times", "watch", "forget", "wait", "covers", "step", "know", "take_moved"):
            call(method)
            call(method, one)
        for other in STRANGE:
            call("covers", one, other)
            call("wait", 0, one, other)
            call("wait", one, (0, 0), other)
            for change in ((0, one, other), (one, other, 1), (one, 0, other), (0, (one, other), 1), (one, other)):
                call("update", [change])
            steps: list[tuple[Any, Any, Any, Any]] = [
                ([("e0", one, other)], [], [], {}),
                ([(one, (0, 0), other)], [], [], {}),
                ([], [(one, other)], [], {}),
                ([], [], [(one, other)], {}),
                (one, other, [], None),
                ([one], [other], (), {}),
                ([], [one, other], one, {}),
                ([], [], [], one),
                ([], [], [], {"e0": one}),
                ([], [], [], {"e1": [one]}),
                ([], [], [], {"e0": [one, other]}),
            ]
            for step in steps:
                assert not call("step", *step)
    kernel = make()
    assert kernel.update([]) == []
    assert kernel.take_moved() == {}


REFUSED: list[tuple[str, tuple[Any, ...], type[Exception]]] = [
    ("update", (None,), TypeError),
    ("update", ([(0, 0)],), TypeError),
    ("update", ([[0, 0, 1]],), TypeError),
    ("update", ([(3, 0, 1)],), IndexError),
    ("update", ([(-1, 0, 1)],), IndexError),
    ("update", ([(Index(), 0, 1)],), TypeError),
    ("update", ([(0, Index(), 1)],), TypeError),
    ("update", ([(0, 0, Index())],), TypeError),
    ("update", ([(0, 0.0, 1)],), TypeError),
    ("update", ([(0, (0, 0), 1)],), TypeError),
    ("update", ([(0, 2**62, 1)],), OverflowError),
    ("update", ([(0, 0, 2**62)],), OverflowError),
    ("update", ([(2**80, 0, 1)],), OverflowError),
    ("times", (3,), IndexError),
    ("times", ("0",), TypeError),
    ("watch", (-1,), IndexError),
    ("covers", (0,), TypeError),
    ("covers", (0, 0, 0), TypeError),
    ("covers", (0, nan), TypeError),
    ("covers", (0, 1.5), TypeError),
    ("wait", (0, 0), TypeError),
    ("wait", (0, 0, None), TypeError),
    ("wait", (0, nan, 1), TypeError),
    ("step", ([], [], []), TypeError),
    ("know", ("e0",), TypeError),
    ("know", ("a", {}, False, -1, 3, 1, (False, True), ((0, None),), (), None), ValueError),
    ("know", ("a", {}, False, -1, 0, 1, (True, True), ((0, None),) * 2, (), None), ValueError),
    ("know", ("a", {}, False, -1, 0, 1, (True, True), ((0, None),) * 9, (), None), ValueError),
    ("know", ("a", {}, True, 0, 0, 1, (False, True), ((0, None),), ((-1, ()),), None), ValueError),
    ("know", ("a", {}, True, 0, 0, 1, (False, True), ((0, None),), ((3, ()),), None), ValueError),
    ("know", (Name("a"), {}, True, 0, 0, 1, (False, True), ((0, None),), (), None), ValueError),
]


@pytest.mark.parametrize(("method", "arguments", "error"), REFUSED)
def test_what_cannot_be_is_refused(method: str, arguments: tuple[Any, ...], error: type[Exception]) -> None:
    kernel = kernel_on(chain(Nat(), 3))
    with pytest.raises(error):
        getattr(kernel, method)(*arguments)


FORMS, KINDS = [(1, False, True), (2, True, False)], [(1, 1, (((), ((0, None),)),))]
GRAPHS: list[tuple[tuple[Any, ...], type[Exception]]] = [
    ((), TypeError),
    ((FORMS, [0], [0], KINDS, [0], [0]), TypeError),
    (((), [0], [0], KINDS, [], [], []), TypeError),
    ((FORMS, [0, 0], [0], KINDS, [], [], []), ValueError),
    ((FORMS, [2], [0], KINDS, [], [], []), ValueError),
    ((FORMS, [-1], [0], KINDS, [], [], []), ValueError),
    ((FORMS, [0], [1], KINDS, [], [], []), ValueError),
    ((FORMS, [0], [-1], KINDS, [], [], []), ValueError),
    ((FORMS, [Index()], [0], KINDS, [], [], []), TypeError),
    (([(0, False, True)], [0], [0], KINDS, [], [], []), ValueError),
    (([(9, True, False)], [0], [0], KINDS, [], [], []), ValueError),
    ((FORMS, [0], [0], [(1, 1, (((), ()),))], [], [], []), ValueError),
    ((FORMS, [0], [0], [(1, 1, (((), ((None, None),)),))], [], [], []), ValueError),
    ((FORMS, [0], [0], [(1, 1, ((((1, 0, 0),), ((0, None),)),))], [], [], []), ValueError),
    ((FORMS, [0], [0], [(1, 2, (((), ((0, None), (0, None))),))], [], [], []), ValueError),
    ((FORMS, [0], [0], [(1, 9, ())], [], [], []), ValueError),
    ((FORMS, [0], [0], [(1, 1, (((), ((2**62, None),)),))], [], [], []), OverflowError),
    ((FORMS, [0], [0], [(1, 1, KINDS[0][2] * 65)], [], [], []), ValueError),
    ((FORMS, [0, 0], [0, 1], KINDS, [0], [2], [0]), ValueError),
    ((FORMS, [0, 0], [0, 1], KINDS, [0], [1], [1]), ValueError),
    ((FORMS, [0, 0], [0, 1], KINDS, [0], [1, 1], [0]), ValueError),
    ((FORMS, [0, 1], [0, 1], KINDS, [0], [1], [0]), ValueError),
    ((FORMS, [0, 0], [0, 1], KINDS, [1], [0], [0]), ValueError),
]


@pytest.mark.parametrize(("arguments", "error"), GRAPHS)
def test_graphs_that_cannot_be_are_refused(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    from progress._kernel import Kernel

    with pytest.raises(error):
        Kernel(*arguments)


def test_lists_that_change_while_they_are_read() -> None:
    from progress._kernel import Kernel

    forms: list[Any] = [(Index(lambda: forms.clear()), False, True)]
    kinds: list[Any] = [(1, Index(lambda: kinds.extend([(1, 1, ())] * 1000)), ())]
    with suppress(Exception):
        Kernel(forms * 3, [0, 0, 0], [0, 1, 2], KINDS, [], [], [])
    with suppress(Exception):
        Kernel(FORMS, [0], [0], kinds, [], [], [])
    kernel = kernel_on(chain(Nat(), 3))
    changes: list[Any] = [(0, 0, 1)] * 3
    changes.insert(1, (Index(lambda: changes.clear()), 0, 1))
    with pytest.raises(TypeError):
        kernel.update(changes)


class Meddler(tuple[Any, ...]):
    """A time that does something else while it is compared."""

    meddle: Callable[[], Any] = staticmethod(lambda: None)

    def __hash__(self) -> int:
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        Meddler.meddle()
        return super().__eq__(other)


def test_a_time_that_meddles_while_it_is_compared() -> None:
    """Int pairs take any tuple, so a ledger may hold times whose comparison runs a stranger's code."""
    domain = Product([Int(), Int()])
    tracker = Tracker(chain(domain, 40), inputs={"e0": [(0, 0)]}, kernel=True)
    kernel = tracker._engine.kernel
    tracker.apply(messages=[("e0", Meddler((1, 1)), 1)])
    messages: list[Any] = [("e0", (1, 1), 1), ("e0", (2, 1), 1)]
    deeds: list[Callable[[], Any]] = [
        lambda: messages.clear(),
        lambda: kernel.step([], [], [], {}),
        lambda: kernel.update([(0, (5, 5), 1)]),
        lambda: kernel.forget("e0"),
        lambda: [
            kernel.know(f"x{number}", {}, False, -1, 0, 2, (True, False), ((0, None),) * 2, (), None)
            for number in range(99)
        ],
        lambda: tracker._ledger.edges["e0"].messages.clear(),
        lambda: 1 / 0,
        lambda: gc.collect(),
    ]
    for deed in deeds:
        messages[:] = [("e0", (1, 1), 1), ("e0", (2, 1), 1)]
        Meddler.meddle = staticmethod(deed)
        with suppress(Exception):
            kernel.step(messages, [], [], {})
        with suppress(Exception):
            tracker.apply(messages=messages)
    Meddler.meddle = staticmethod(lambda: None)


def test_a_finalizer_that_meddles() -> None:
    """Search for reference cycles may begin when the kernel makes a list, and run anybody's code."""
    kernel = kernel_on(chain(PAIR, 2))
    kernel.watch(1)
    kernel.update([(0, (x, 50 - x), 1) for x in range(50)])
    for x in range(50):
        kernel.wait(1, (x, 50 - x), x)

    class Meddling:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            with suppress(RuntimeError):
                kernel.update([(0, (x, 50 - x), 1) for x in range(50)])
            with suppress(RuntimeError):
                kernel.take_moved()

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for x in range(50):
            Meddling()
            kernel.update([(0, (x, 50 - x), -1)])
            Meddling()
            kernel.take_moved()
            Meddling()
            kernel.times(1)
    finally:
        gc.set_threshold(*threshold)


def test_a_waiter_twice_at_one_place_is_released_twice() -> None:
    for domain, time in ((Nat(), 1), (PAIR, (1, 1)), (TRIPLE, (1, 1, 1)), (Lex([Nat(), Nat()]), (1, 1))):
        kernel = kernel_on(chain(domain, 2))
        kernel.update([(0, time, 1)])
        for _ in range(40):
            assert kernel.wait(1, time, 7)
        assert kernel.update([(0, time, -1)]) == [7] * 40


def test_steps_that_are_not_usual() -> None:
    network = chain(PAIR, 3)
    tracker = Tracker(network, kernel=True)
    kernel: Any = tracker._engine.kernel
    assert kernel.step([("e1", (0, 0), 1)], [], [], {}) is None, "only the clock allows this one"
    tracker.apply(messages=[("e0", (0, number), 1) for number in range(70)])
    assert kernel.step([("e0", (0, number), -1) for number in range(65)], [], [], {}) is None
    assert kernel.step([("e0", (0, 1), -1)] * 2, [], [], {}) is None
    assert kernel.step([("e0", (0, 1), -2)], [], [], {}) is None
    assert kernel.step([("e0", (0, 1), 0)], [], [], {}) is None
    assert kernel.step([("e1", (0, 0), 1), ("e0", (0, 1), -1)], [], [], {}) is None
    assert kernel.step([], [("n0", (0, 0))], [], {}) is None
    assert kernel.step([], [], [("n0", (0, 0))], {}) is None
    assert kernel.step([(Name("e0"), (0, 1), -1)], [], [], {}) is None
    assert kernel.step([("e0", Row((0, 1)), -1)], [], [], {}) is None
    assert kernel.step([("e0", (0, True), -1)], [], [], {}) is None
    assert kernel.step([("e0", (0, 1), True)], [], [], {}) is None
    assert kernel.step([Row(("e0", (0, 1), -1))], [], [], {}) is None
    assert kernel.step({}, [], [], {}) is None
    assert tracker.messages()["e0", (0, 1)] == 1
    assert kernel.step([], [], [], {}) is None
    assert kernel.step([], [], [], {"e0": [(0, 1), (1, 0)]}) is None
    assert kernel.step([], [], [], {"e1": []}) is None
    assert kernel.step([], [], [], {"e0": [Row((0, 1))]}) is None
    assert kernel.step([], [], [], {"e0": [[0, 1]]}) is None
    assert kernel.step([], [], [], {"e0": {(0, 1)}}) is None
    assert tracker.inputs() == {"e0": ((0, 0),)}
    assert kernel.step([("e0", (0, number), -1) for number in range(64)], [], [], {}) is False
    assert len(tracker.messages()) == 6
    tracker.subscribe("e0", lambda *move: None)
    assert kernel.step([("e0", (0, 64), -1)], [], [], {}) == []
    assert kernel.news


def test_inputs_move_in_usual_steps() -> None:
    """What comes in is judged by where the input was open before the step."""
    tracker = Tracker(chain(PAIR, 3), kernel=True)
    kernel: Any = tracker._engine.kernel
    told: list[Any] = []
    tracker.subscribe("e0", lambda *move: told.append(move))
    assert kernel.step([("e0", (0, 0), 1)], [], [], {"e0": [(2, 1)]}) == []
    assert (tracker.inputs()["e0"], tracker.frontier("e2")) == (((2, 1),), ((0, 0),))
    assert kernel.step([("e0", (2, 0), 1)], [], [], {}) is None
    assert kernel.step([], [], [], {"e0": [(2, 0)]}) is None
    assert kernel.step([("e0", (0, 0), -1)], [], [], {"e0": ()}) == []
    assert not tracker.is_active()
    assert kernel.step([("e0", (9, 9), 1)], [], [], {}) is None
    assert kernel.step([], [], [], {"e0": [(9, 9)]}) is None
    tracker = Tracker(chain(PAIR, 3), kernel=True)
    tracker.subscribe("e0", lambda *move: told.append(move))
    tracker.apply(inputs={"e0": [(2, 1)]})
    tracker.apply(inputs={"e0": []})
    assert told == [("e0", ((0, 0),), ((2, 1),)), ("e0", ((2, 1),), ())]


# --- numbers beyond what it counts -----------------------------------------------------------------------------------


def both(network: Network, **given: Any) -> tuple[Tracker, Tracker]:
    fast, slow = Tracker(network, kernel=None, **given), Tracker(network, kernel=False, **given)
    assert fast.kernel
    return fast, slow


def same_state(fast: Tracker, slow: Tracker) -> None:
    assert fast.clock() == slow.clock()
    assert fast.messages() == slow.messages()
    assert fast.pending() == slow.pending()
    assert fast.eligible() == slow.eligible()
    fast._check()


BIG = 2**61


@pytest.mark.parametrize(
    ("step", "leaves"),
    [
        ({"messages": [("e0", BIG - 1, 1), ("e0", 2**70, 1)]}, True),
        ({"messages": [("e0", 6, 1), ("e0", BIG, 1)]}, False),  # no frontier has it yet
        ({"messages": [("e0", 4, -1), ("e1", BIG - 2, 1)]}, False),
        ({"messages": [("e0", 7, 2**80)]}, True),
        ({"messages": [("e0", 4, -1), ("e0", 9, 1)], "requests": [("n2", BIG + 5), ("n1", BIG)]}, True),
        ({"inputs": {"e0": [2**64]}}, True),
    ],
    ids=str,
)
def test_an_overflow_leaves_the_tracker_right(step: dict[str, Any], leaves: bool) -> None:
    """What the kernel cannot count, the twin goes on with, in the state before the step: nothing is taken twice."""
    network = chain(Nat(), 5, {"advance": 3})
    fast, slow = both(network, requests=[("n4", 12), ("n3", 20), ("n1", 4)])
    seen: list[Any] = []
    fast.subscribe("n4", lambda *move: seen.append(move))
    for tracker in (fast, slow):
        tracker.apply(messages=[("e0", 4, 2), ("e0", 5, 1)])
    same_state(fast, slow)
    for tracker in (fast, slow):
        tracker.apply(**step)
    assert fast.kernel is not leaves
    same_state(fast, slow)
    gone = [(name, time, -count) for (name, time), count in slow.messages().items()]
    for tracker in (fast, slow):
        tracker.apply(inputs={"e0": []})
    same_state(fast, slow)
    for tracker in (fast, slow):
        tracker.apply(messages=gone)
    same_state(fast, slow)
    while slow.pending():
        ready = slow.get_ready()
        assert ready
        assert fast.get_ready() == ready
        for tracker in (fast, slow):
            tracker.apply(delivered=ready)
        same_state(fast, slow)
    assert fast.frontier("n4") == ()
    assert seen


def test_counts_that_add_up_beyond_what_it_counts() -> None:
    fast, slow = both(chain(Nat(), 2))
    for _ in range(4):  # 4 * 2**62 would be nothing at all in 64 bits
        for tracker in (fast, slow):
            tracker.apply(messages=[("e0", 0, 2**60)] * 4)
    for tracker in (fast, slow):
        tracker.apply(inputs={"e0": []})
    assert fast.clock()["n1"] == (0,)
    same_state(fast, slow)


def test_counts_on_an_edge_that_leads_nowhere() -> None:
    network = network_of([Nat()], [(NO_NODE, 0, None), (0, NO_NODE, identity(Nat()))])
    fast, slow = both(network)
    for tracker in (fast, slow):
        tracker.apply(messages=[("e1", 0, 2**63)])
        tracker.apply(messages=[("e1", 0, 5)])
        tracker.apply(messages=[("e1", 0, -7)])
    assert fast.messages() == {("e1", 0): 2**63 - 2}
    same_state(fast, slow)


@pytest.mark.parametrize("largest", [2**61, 2**62, 2**63, 10**30])
def test_domains_that_end_beyond_what_it_counts(largest: int) -> None:
    cases: list[tuple[Domain, Any, Any]] = [
        (Nat(largest), 5, largest),
        (Product([Nat(largest), Int()]), (5, 5), (largest, 5)),
        (Lex([Nat(largest)]), (5,), (largest,)),
    ]
    for domain, time, end in cases:
        fast, slow = both(chain(domain, 2), inputs={"e0": [time]})
        for tracker in (fast, slow):
            tracker.apply(messages=[("e0", end, 1)])
            tracker.apply(messages=[("e0", end, -1), ("e0", time, 1)])
        same_state(fast, slow)


def test_an_output_that_adds_more_than_it_counts() -> None:
    far = bind(read_summary({"advance": 10**30}), Nat(), Nat())
    fast, slow = both(network_of([Nat(), Nat()], [(NO_NODE, 0, None), (0, NO_NODE, far), (0, 1, identity(Nat()))]))
    for tracker in (fast, slow):
        tracker.apply(messages=[("e0", 0, 1)])
        tracker.apply(messages=[("e0", 0, -1), ("e1", 10**30, 1), ("e2", 0, 1)])
    same_state(fast, slow)


def test_a_kernel_that_broke_off_says_so_until_it_goes() -> None:
    kernel = kernel_on(chain(Nat(), 3, {"advance": 2**60}))
    kernel.update([(0, 0, 1)])
    with pytest.raises(OverflowError):
        kernel.update([(0, 2**60, 1), (0, 0, -1)])
    calls: list[Callable[[], Any]] = [
        lambda: kernel.update([]),
        lambda: kernel.times(0),
        lambda: kernel.covers(0, 0),
        lambda: kernel.wait(0, 0, 1),
        lambda: kernel.step([], [], [], {}),
        lambda: kernel.take_moved(),
    ]
    for call in calls:
        with pytest.raises(OverflowError):
            call()


# --- memory ----------------------------------------------------------------------------------------------------------


def resident() -> int:
    """Pages that this process has in memory, in kilobytes: what is there now, not the most there ever was."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


def test_nothing_is_left_behind_by_many_operations() -> None:
    def work(rounds: int) -> None:
        for domain in (Nat(), PAIR, TRIPLE):
            tracker = Tracker(chain(domain, 3), kernel=True)
            kernel: Any = tracker._engine.kernel
            kernel.watch(2)
            time = times_of(random.Random(3), domain)
            tracker.apply(messages=[("e0", time, 1)])
            for number in range(rounds):
                kernel.update([(0, time, 1), (1, time, 1)])
                kernel.wait(2, time, number)
                kernel.covers(2, time)
                kernel.times(2)
                kernel.update([(0, time, -1), (1, time, -1)])
                kernel.take_moved()
                kernel.step([("e0", time, -1), ("e1", time, 1)], [], [], {})
                kernel.step([("e1", time, -1), ("e0", time, 1)], [], [], {})
                kernel.step([("e1", time, -1), ("e0", time, 1)], [None], [], {})
                with suppress(TypeError):
                    kernel.update([(0, time, 1), (0, None, 1)])
                kernel.update([(0, time, -1)])
            kernel.update([])

    work(2_000)
    gc.collect()
    before = resident()
    work(7_000)  # 3 * 7,000 * 11 calls, each time waiters among them
    gc.collect()
    assert resident() - before < 4_000


def test_nothing_is_left_behind_by_kernels_that_are_gone() -> None:
    arcs = [Entrances(chain(domain, 20)).arcs for domain in (Nat(), PAIR, TRIPLE)]
    trackers = chain(PAIR, 5)

    def work(rounds: int) -> None:
        for number in range(rounds):
            for graph in arcs:
                kernel = compiled(graph)
                assert kernel is not None
                time = times_of(random.Random(3), graph.domains[0])
                kernel.watch(3)
                kernel.update([(0, time, 1)])
                kernel.wait(4, time, number)
                with suppress(TypeError):
                    kernel.update([(0, None, 1)])
            if number % 10 == 0:
                Tracker(trackers, kernel=True).apply(messages=[("e0", (0, 0), 1)])

    work(300)
    gc.collect()
    before = resident()
    work(2_500)
    gc.collect()
    assert resident() - before < 6_000
