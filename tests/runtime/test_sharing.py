"""Two runs of one dataflow, at once or one after the other, share nothing, or the second is refused in words."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, JsonLines, load
from progress import PointstampError
from progress.runtime import SILENT, Batch, Complete, Dataflow, Mapped, Node, NodeFailed, Out, Results, Stage
from progress.runtime.policies import by_count, explicit, with_idleness
from recursion.program import Exit
from tests.runtime.tools import ENGINES, GUARD, ROOT, Total, engines, line, run


class Collect(Node):
    """Keeps all values, and tells all of them at the end of each time."""

    def __init__(self, *begin: Any) -> None:
        self.kept: list[Any] = [*begin]

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.kept.append(value)
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        for edge in out.edges:
            out.send(edge, time, "".join(sorted(self.kept)))


WAYS: list[Any] = [Collect, Collect(), lambda: Collect(), partial(Collect, *())]
ways = pytest.mark.parametrize("node", WAYS, ids=["class", "object", "function", "partial"])


def refused(call: Callable[[], Any], code: str, *words: str) -> None:
    with pytest.raises(PointstampError) as caught:
        call()
    assert caught.value.code == code
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert caught.value.hint


# --- nodes -----------------------------------------------------------------------------------------------------------


@engines
@ways
def test_a_run_knows_nothing_of_the_one_before(engine: str, node: Any) -> None:
    dataflow = Dataflow(line("p"), {"p": node})
    assert run(dataflow, engine, sources={"in": [(0, "a"), (0, "b")]}) == {"out": [(0, "ab")]}
    assert run(dataflow, engine, sources={"in": [(0, "c")]}) == {"out": [(0, "c")]}


@engines
@ways
def test_what_a_failed_run_has_kept_is_gone(engine: str, node: Any) -> None:
    def broken() -> Iterator[Any]:
        yield from ((0, "a"), Complete([1]), (1, "b"))
        raise OSError("no more")

    dataflow = Dataflow(line("p"), {"p": node})
    with pytest.raises(Exception, match="no more"):
        run(dataflow, engine, sources={"in": broken})
    assert run(dataflow, engine, sources={"in": [(1, "c")]}) == {"out": [(1, "c")]}


@ways
def test_two_runs_at_once_in_one_event_loop_keep_apart(node: Any) -> None:
    dataflow = Dataflow(line("p"), {"p": node})
    both = asyncio.Event()

    async def serve(user: str) -> Results:
        async def words() -> AsyncIterator[Any]:
            yield 0, f"{user}1"
            if user == "b":
                both.set()
            await both.wait()  # both runs have brought something, and go on
            yield 0, f"{user}2"

        return await dataflow.run_async(sources={"in": words}, timeout=GUARD)

    async def main() -> list[Results]:
        return [*await asyncio.gather(serve("a"), serve("b"))]

    assert asyncio.run(main()) == [{"out": [(0, "a1a2")]}, {"out": [(0, "b1b2")]}]


@pytest.mark.parametrize("engine", ["sim", "threads"])
@ways
def test_two_runs_at_once_in_two_threads_keep_apart(engine: str, node: Any) -> None:
    dataflow = Dataflow(line("p"), {"p": node})
    meet = threading.Barrier(2, timeout=GUARD)
    found: dict[str, Results] = {}

    def serve(user: str) -> None:
        def words() -> Iterator[Any]:
            yield 0, f"{user}1"
            yield Complete([0])  # so that `sim` works on it before it asks for more
            meet.wait()
            yield 0, f"{user}2"

        found[user] = dataflow.run(engine=engine, sources={"in": words}, timeout=GUARD)

    threads = [threading.Thread(target=serve, args=(user,)) for user in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GUARD)
    assert found == {"a": {"out": [(0, "a1a2")]}, "b": {"out": [(0, "b1b2")]}}


@engines
def test_one_object_at_two_nodes_is_two_in_a_run(engine: str) -> None:
    node = Collects(Batch())
    graph = Graph().node("p").node("q").edge(None, "p", "in").edge(None, "q", "also")
    sources = {"in": [(0, "a")], "also": [(0, "b")]}
    found = run(Dataflow(graph, {"p": node, "q": node}), engine, sources=sources)
    assert (found.nodes["p"].told, found.nodes["q"].told, node.told) == (["a"], ["b"], [])
    assert found.nodes["p"].other is not found.nodes["q"].other


class Collects(Node):
    """Keeps what it is told, and something that it was given."""

    def __init__(self, other: Any) -> None:
        self.other = other
        self.told: list[Any] = []

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.told.append(value)


@engines
def test_the_nodes_of_a_run_are_in_its_results(engine: str) -> None:
    given = Collect("x")
    makes: list[Collect] = []

    def make() -> Collect:
        makes.append(Collect())
        return makes[-1]

    graph = line("p", "q", "r")
    nodes: dict[str, Any] = {"p": lambda value: value * 2, "q": make, "r": Collects(given)}
    dataflow = Dataflow(graph, nodes)
    first = run(dataflow, engine, sources={"in": [(0, "a")]})
    second = run(dataflow, engine, sources={"in": [(0, "b")]})
    assert [found.nodes["q"] for found in (first, second)] == makes  # called once a run
    assert [node.kept for node in makes] == [["aa"], ["bb"]]
    assert isinstance(first.nodes["p"], Mapped)
    assert given.kept == ["x"]  # nobody has touched it, nor what it holds
    assert first.nodes["r"].other is not given
    assert first.nodes["r"].other.kept == ["x"]


@engines
def test_what_runs_share_is_what_a_factory_says(engine: str) -> None:
    """A node that counts for all runs, in a list that the factory gives to each."""
    counts: list[Any] = []

    class Counting(Node):
        def __init__(self, counts: list[Any]) -> None:
            self.counts = counts

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            self.counts.append(value)

    dataflow = Dataflow(line("p"), {"p": lambda: Counting(counts)})
    for value in "ab":
        run(dataflow, engine, sources={"in": [(0, value)]})
    assert counts == ["a", "b"]


def test_what_a_factory_gives_is_one_runs_and_one_nodes_at_a_time() -> None:
    node = Collect()
    graph = Graph().node("p").node("q").edge(None, "p", "in").edge("p", None, "out")
    twice = Dataflow(graph, {"p": lambda: node, "q": lambda: node})
    refused(twice.run, "PS723", "'p'", "'q'", "one object")
    dataflow = Dataflow(graph, {"p": lambda: node})

    def again(time: Any, value: Any) -> None:
        refused(dataflow.run, "PS723", "the node 'p'", "another run that goes on")

    dataflow.run(sources={"in": [(0, "a")]}, sinks={"out": again})
    assert dataflow.run(sources={"in": [(0, "b")]}) == {"out": [(0, "ab")]}  # one after the other, as the factory says


@engines
def test_a_node_that_cannot_be_copied_is_refused_with_the_way_out(engine: str) -> None:
    class Locked(Node):
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            with self.lock:
                out.send("out", time, value)

    begun: list[Any] = []
    dataflow = Dataflow(line("p"), {"p": Locked()})
    refused(
        lambda: run(dataflow, engine, sources={"in": lambda: begun.append(1)}),
        "PS722",
        "'p'",
        "Locked",
        "factory",
        "lambda: Locked(...)",
    )
    assert not begun
    found = run(Dataflow(line("p"), {"p": Locked}), engine, sources={"in": [(0, "a")]})
    assert found == {"out": [(0, "a")]}


@engines
def test_functions_of_nodes_are_called_as_they_are(engine: str) -> None:
    """Nothing of a function is copied: not the object of a method, which may be a service with a connection."""

    class Service:
        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.asked: list[Any] = []

        def ask(self, value: Any) -> Any:
            with self.lock:
                self.asked.append(value)
                return value

        def add(self, time: Any, found: Any) -> Any:
            return self.ask(len(found["e0"]))

    service = Service()
    graph = Graph().node("p").node("q").node("r").edge(None, "p", "in").edge("p", "q").edge("q", "r", "e0")
    graph.edge("r", None, "out")
    nodes: dict[str, Any] = {"p": service.ask, "q": Mapped(service.ask), "r": Stage(service.add)}
    dataflow = Dataflow(graph, nodes)
    for _ in range(2):
        assert run(dataflow, engine, sources={"in": [(0, "a")]}) == {"out": [(0, 1)]}
    assert service.asked == ["a", "a", 1] * 2


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (lambda: 7, ["'p'", "7", "gave"]),
        (lambda: Collect, ["'p'", "Collect", "gave"]),
        (partial(str.upper, "a"), ["'p'", "'A'"]),
    ],
)
def test_what_is_made_has_to_be_a_node(node: Any, words: list[str]) -> None:
    refused(Dataflow(line("p"), {"p": node}).run, "PS708", *words)


def test_a_class_that_needs_arguments_is_refused_before_any_run() -> None:
    refused(lambda: Dataflow(line("p"), {"p": Collects}), "PS708", "Collects", "lambda: Collects(...)")


@engines
def test_a_factory_that_raises_is_a_failure_of_its_node(engine: str) -> None:
    def make() -> Node:
        raise OSError("no such model")

    with pytest.raises(NodeFailed, match="'p' failed when it was made: OSError: no such model") as caught:
        run(Dataflow(line("p"), {"p": make}), engine)
    assert caught.value.node == "p"
    assert "in make\n" in caught.value.trace


def test_two_runs_of_a_graph_with_calls_at_once_keep_apart() -> None:
    """Stacks of calls belong to the graph, which runs share."""
    graph = load(ROOT / "examples" / "recursion" / "stream.yaml")

    class Leaves(Node):
        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            if value > 1:
                out.send("split->left", time, value // 2)
                out.send("split->right", time, value - value // 2)
            else:
                out.send("split->exit", time, 1)

    dataflow = Dataflow(graph, {"split": Leaves, "combine": Total, "exit": Exit})
    found: list[Any] = []

    def serve(number: int) -> None:
        items = [((epoch, ()), number) for epoch in range(4)]
        found.append((number, dataflow.run(engine="threads", sources={"numbers": items}, timeout=GUARD)))

    threads = [threading.Thread(target=serve, args=(number,)) for number in (40, 60, 80)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GUARD)
    assert len(found) == 3
    for number, results in found:
        assert sorted(value for _, value in results["results"]) == [number] * 4


# --- sources and sinks -----------------------------------------------------------------------------------------------

PAIRS = [(0, "a"), (1, "b")]


async def slowly() -> AsyncIterator[Any]:
    for pair in PAIRS:
        yield pair


def made() -> Iterator[Any]:
    yield from PAIRS


ONCE: list[Any] = [made, slowly, lambda: iter(PAIRS), lambda: map(tuple, PAIRS), lambda: chain(PAIRS), lambda: zip("a")]


@pytest.mark.parametrize("make", ONCE)
def test_an_iterator_is_read_by_one_run_and_no_other(make: Callable[[], Any]) -> None:
    items = make()
    if make is ONCE[-1]:
        items = zip((0, 1), "ab", strict=True)
    dataflow = Dataflow(line("p"), sources={"in": items})
    assert dataflow.run(engine="asyncio") == {"out": PAIRS}
    refused(lambda: dataflow.run(engine="asyncio"), "PS723", "the source of 'in'", "another run", "lambda")
    anew = Dataflow(line("p"), sources={"in": make if make is not ONCE[-1] else lambda: zip((0, 1), "ab", strict=True)})
    for _ in range(2):
        assert anew.run(engine="asyncio") == {"out": PAIRS}


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "seeded"])
def test_an_iterator_is_read_by_one_run_at_a_time(engine: str) -> None:
    """Also one of the user's own, and one inside of a policy."""

    class Numbers:
        def __init__(self) -> None:
            self.left = list(PAIRS)

        def __iter__(self) -> Iterator[Any]:
            return self

        def __next__(self) -> Any:
            if not self.left:
                raise StopIteration
            return self.left.pop(0)

    plain = Dataflow(line("p"))
    for items in (Numbers(), made(), iter(PAIRS)):
        for source in (items, explicit(items), with_idleness(explicit(items), after=1000.0)):

            def again(time: Any, value: Any, source: Any = source) -> None:
                refused(lambda: plain.run(sources={"in": source}), "PS723", "the source of 'in'", "goes on")

            plain.run(engine=engine, sources={"in": source}, sinks={"out": again})
            if not isinstance(items, Numbers):
                break  # it has been read
            items.left = list(PAIRS)


def test_a_generator_that_was_begun_before_the_run_is_its_users_business() -> None:
    items = made()
    next(items)
    assert Dataflow(line("p"), sources={"in": items}).run() == {"out": PAIRS[1:]}


def test_a_policy_of_one_dataflow_keeps_the_count_of_each_run_apart() -> None:
    dataflow = Dataflow(line("p"), sources={"in": by_count("abc", every=2)})
    for _ in range(2):
        assert dataflow.run() == {"out": [(0, "a"), (0, "b"), (1, "c")]}


def test_two_runs_at_once_do_not_follow_each_others_policies() -> None:
    """What one input of a run has completed is nothing that the silent input of another run may take over."""
    told: dict[str, list[Any]] = {"a": [], "b": []}
    graph = Graph().node("p").edge(None, "p", "leads").edge(None, "p", "silent").edge("p", None, "out")

    class Sink:
        def __init__(self, user: str) -> None:
            self.user = user

        def write(self, time: Any, value: Any) -> None: ...

        def complete(self, times: tuple[Any, ...]) -> None:
            told[self.user].append(times)

    reads = {"a": [(0, "x"), Complete([7])], "b": [(0, "x"), Complete([3])]}
    user = ""

    def leading() -> Iterator[Any]:
        mine = user
        yield from reads[mine]
        if mine == "a":
            other()  # a whole run of the other user, while this one goes on

    first = explicit(leading)
    follows = with_idleness(lambda: iter([SILENT] * 5), after=1.0, follow=first)
    dataflow = Dataflow(graph, sources={"leads": first, "silent": follows})

    def other() -> None:
        nonlocal user
        user = "b"
        dataflow.run(sinks={"out": Sink("b")})

    user = "a"
    dataflow.run(sinks={"out": Sink("a")})
    assert (3,) in told["b"]
    assert (7,) not in told["b"]
    assert (7,) in told["a"]
    assert (3,) not in told["a"]


def test_a_sink_that_is_told_how_a_run_goes_is_one_runs_at_a_time(tmp_path: Path) -> None:
    class Closes:
        def __init__(self) -> None:
            self.written: list[Any] = []

        def write(self, time: Any, value: Any) -> None:
            self.written.append(value)

        def close(self) -> None:
            self.written.append("closed")

    for sink in (Closes(), JsonLines(tmp_path / "out.jsonl")):
        dataflow = Dataflow(line("p"), sinks={"out": sink})

        def items(dataflow: Dataflow = dataflow) -> Iterator[Any]:
            yield 0, "a"
            refused(lambda: dataflow.run(sources={"in": PAIRS}), "PS723", "the sink of 'out'", "goes on")
            yield 0, "b"

        dataflow.run(sources={"in": items})
        if isinstance(sink, Closes):
            assert sink.written == ["a", "b", "closed"]
        dataflow.run(sources={"in": PAIRS})  # one after the other
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [each for each in lines if "value" in each] == ['{"time": 0, "value": "a"}', '{"time": 1, "value": "b"}']


def test_a_list_and_a_function_take_what_all_runs_give_them() -> None:
    kept: list[Any] = []
    dataflow = Dataflow(line("p"), sinks={"out": kept})
    for pairs in (PAIRS, PAIRS[:1]):
        dataflow.run(sources={"in": pairs})
    assert kept == [*PAIRS, PAIRS[0]]


def test_a_run_that_was_refused_has_taken_nothing() -> None:
    items = made()
    dataflow = Dataflow(line("p"))
    refused(lambda: dataflow.run(sources={"in": items}, sinks={"nowhere": []}), "PS716")
    assert dataflow.run(sources={"in": items}) == {"out": PAIRS}
