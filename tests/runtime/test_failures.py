"""What a node that raises does to a run: stop, try again, or put aside; what was done before stands."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from graphs import Graph, from_edges
from progress.runtime import Complete, Dataflow, DeadLetter, Node, NodeFailed, Out, Retry, Stop
from progress.runtime.node import Batch
from progress.runtime.observer import Observer
from progress.runtime.policies import by_event_time
from tests.runtime.tools import ENGINES, GUARD, engines, guarded, line, numbers, run

on_engines = pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "seeded"])


class Failing(Node):
    """Sends each value on and asks for its time, then fails where the test says so."""

    def __init__(self, fails: Callable[[Any, int], bool]) -> None:
        self.fails = fails
        self.calls: list[Any] = []

    def on_message(self, edge: str, time: int, value: Any, out: Out) -> None:
        self.calls.append(value)
        out.send("out", time, value)
        out.request(time + value)
        if self.fails(value, self.calls.count(value)):
            raise ValueError(f"bad {value}")

    def on_notify(self, time: int, out: Out) -> None:
        self.calls.append(("notified", time))
        out.send("out", time, "told")
        if self.fails(("notified", time), self.calls.count(("notified", time))):
            raise ValueError(f"bad notification of {time}")


class Together(Failing):
    """The same for all values of a time at once."""

    def on_messages(self, edge: str, time: int, values: Sequence[Any], out: Out) -> None:
        for value in values:
            self.on_message(edge, time, value, out)


def failing(node: Failing, on_error: Any = None) -> Dataflow:
    return Dataflow(line("p"), {"p": lambda: node}, on_error=on_error)


class Failures(Observer):
    def __init__(self) -> None:
        self.seen: list[NodeFailed] = []

    def failed(self, failure: NodeFailed) -> None:
        self.seen.append(failure)


# --- stop ------------------------------------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize("on_error", [None, Stop(), {"p": Stop()}, {"*": Stop()}, {"p": Stop(), "*": DeadLetter()}])
def test_by_default_the_first_failure_stops_the_run(engine: str, on_error: Any) -> None:
    node = Failing(lambda call, attempt: call == 3)
    kept: list[Any] = []
    with pytest.raises(NodeFailed) as caught:
        run(failing(node, on_error), engine, sources={"in": numbers(1, 2, 3, 4, 5)}, sinks={"out": kept})
    failure = caught.value
    assert (failure.code, failure.node, failure.time, failure.value) == ("PS705", "p", 0, 3)
    assert failure.message == "'p' failed on a message from 'in' at 0: ValueError: bad 3"
    assert isinstance(failure.error, ValueError)
    assert kept == [(0, 1), (0, 2)]  # what was done before stands, what failed has no effect
    assert node.calls == [1, 2, 3]  # and nothing comes after it


@engines
def test_the_traceback_is_that_of_the_nodes_own_code(engine: str) -> None:
    def helper(value: int) -> float:
        return 1 / value

    class Own(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            helper(value)

    class Waiting(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            await asyncio.sleep(0)
            helper(value)

    for node in (Own(), Waiting(), helper):
        with pytest.raises(NodeFailed) as caught:
            run(Dataflow(line("p"), {"p": node}), engine, sources={"in": [(0, 0)]})
        lines = [text.strip() for text in caught.value.trace.splitlines() if text.startswith("  File ")]
        names = [text.rpartition(" in ")[2] for text in lines]
        assert names in (["on_message", "helper"], ["helper"])
        assert all("runtime/test_failures.py" in text for text in lines)
        assert caught.value.trace.endswith("ZeroDivisionError: division by zero\n")
        assert "    return 1 / value\n" in caught.value.trace


@engines
def test_failing_in_a_notification_stops_the_run(engine: str) -> None:
    node = Failing(lambda call, attempt: call == ("notified", 2))
    kept: list[Any] = []
    with pytest.raises(NodeFailed) as caught:
        run(failing(node), engine, sources={"in": numbers(1, 2, 3)}, sinks={"out": kept})
    assert caught.value.message == "'p' failed in the notification at 2: ValueError: bad notification of 2"
    assert (caught.value.time, caught.value.value) == (2, None)
    assert kept == [(0, 1), (0, 2), (0, 3), (1, "told")]


@engines
def test_what_fails_when_it_starts_stops_the_run(engine: str) -> None:
    class Unable(Node):
        def on_start(self, out: Out) -> None:
            raise OSError("no such database")

    with pytest.raises(NodeFailed, match="'p' failed when it started: OSError: no such database") as caught:
        run(Dataflow(line("p"), {"p": Unable()}, on_error=DeadLetter()), engine)
    assert caught.value.node == "p"


@engines
def test_all_messages_of_a_call_fail_together(engine: str) -> None:
    node = Together(lambda call, attempt: call == 2)
    kept: list[Any] = []
    with pytest.raises(NodeFailed) as caught:
        run(failing(node), engine, sources={"in": [(0, 1), (0, 2), (0, 3)]}, sinks={"out": kept})
    whole = [value for _, value in kept] + caught.value.value
    assert 2 in caught.value.value
    assert whole == [1, 2, 3][: len(whole)]
    assert "on messages from 'in'" in caught.value.message


def test_in_threads_what_runs_comes_to_its_end_when_another_fails() -> None:
    running, failed = threading.Event(), threading.Event()

    class Slow(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            running.set()
            assert failed.wait(GUARD)
            out.send("slow", time, value)
            ended.append(value)

    class Broken(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            assert running.wait(GUARD)
            failed.set()
            raise ValueError("broken")

    graph = Graph().node("p").node("q").edge(None, "p", "in").edge(None, "q", "also").edge("p", None, "slow")
    ended: list[Any] = []
    before = set(threading.enumerate())
    with pytest.raises(NodeFailed, match="'q' failed"):
        Dataflow(graph, {"p": Slow(), "q": Broken()}).run(
            engine="threads", sources={"in": [(0, "a")], "also": [(0, "b")]}
        )
    assert ended == ["a"]
    assert set(threading.enumerate()) == before


def test_in_asyncio_what_waits_is_cancelled_and_cleans_up_when_another_fails() -> None:
    events: list[str] = []

    class Slow(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.send("slow", time, value)
            events.append("waits")
            try:
                await asyncio.Event().wait()
            finally:
                events.append("cleaned up")

    class Broken(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            while not events:
                await asyncio.sleep(0)
            raise ValueError("broken")

    graph = Graph().node("p").node("q").edge(None, "p", "in").edge(None, "q", "also").edge("p", None, "slow")
    kept: list[Any] = []
    with pytest.raises(NodeFailed, match="'q' failed"):
        Dataflow(graph, {"p": Slow(), "q": Broken()}).run(
            engine="asyncio", sources={"in": [(0, "a")], "also": [(0, "b")]}, sinks={"slow": kept}
        )
    assert (events, kept) == (["waits", "cleaned up"], [])


# --- try again -------------------------------------------------------------------------------------------------------


@engines
def test_a_call_is_made_again_after_a_pause_that_grows(engine: str) -> None:
    node = Failing(lambda call, attempt: call in (2, ("notified", 3)) and attempt < 5)
    pauses: list[float] = []
    failures = Failures()
    results = run(
        failing(node, Retry(times=4, first_pause=0.5, growth=3.0, longest_pause=10.0)),
        engine,
        sources={"in": numbers(1, 2, 3)},
        pause=pauses.append,
        observer=failures,
    )
    assert pauses == [0.5, 1.5, 4.5, 10.0] * 2
    assert results == {"out": [(0, 1), (0, 2), (0, 3), (1, "told"), (2, "told"), (3, "told")]}  # each once
    assert (node.calls.count(2), node.calls.count(("notified", 3)), node.calls.count(1)) == (5, 5, 1)
    assert failures.seen == []


@engines
def test_every_message_has_all_its_attempts(engine: str) -> None:
    """Two failures each, in one row of messages, are no six."""
    node = Failing(lambda call, attempt: isinstance(call, int) and attempt < 3)
    results = run(failing(node, Retry(times=2)), engine, sources={"in": numbers(1, 2, 3)}, pause=lambda seconds: None)
    assert [pair for pair in results["out"] if pair[1] != "told"] == [(0, 1), (0, 2), (0, 3)]
    assert node.calls[:9] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


@engines
def test_when_all_attempts_have_failed_the_run_stops(engine: str) -> None:
    node = Failing(lambda call, attempt: call == 2)
    pauses: list[float] = []
    with pytest.raises(NodeFailed, match="bad 2"):
        run(failing(node, Retry(times=2)), engine, sources={"in": numbers(1, 2, 3)}, pause=pauses.append)
    assert (node.calls, pauses) == ([1, 2, 2, 2], [0.1, 0.2])


@engines
def test_when_all_attempts_have_failed_the_message_may_be_put_aside(engine: str) -> None:
    node = Failing(lambda call, attempt: call == 2)
    failures = Failures()
    results = run(
        failing(node, Retry(times=1, then=DeadLetter("dead"))),
        engine,
        sources={"in": numbers(1, 2, 3)},
        pause=lambda seconds: None,
        observer=failures,
    )
    (dead,) = results["dead"]
    assert (dead[0], dead[1].value, len(failures.seen)) == (0, 2, 1)
    assert results["out"] == [(0, 1), (0, 3), (1, "told"), (3, "told")]


@engines
def test_a_batch_is_handed_on_again_whole(engine: str) -> None:
    attempts: list[int] = []

    class Join(Batch):
        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
            attempts.append(time)
            out.send("out", time, sum(messages["in"]))
            if len(attempts) < 3:
                raise ValueError("not yet")

    dataflow = Dataflow(line("p"), {"p": Join()}, on_error=Retry())
    results = run(dataflow, engine, sources={"in": numbers(1, 2, 3)}, pause=lambda seconds: None)
    assert (results, attempts) == ({"out": [(0, 6)]}, [0, 0, 0])


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_a_pause_does_not_outlast_the_run(engine: str) -> None:
    """One node would wait for hours before it tries again; another one fails meanwhile."""
    waiting = threading.Event()

    class Trying(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            waiting.set()
            raise ValueError("try again")

    class Broken(Node):
        async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            while not waiting.is_set():
                await asyncio.sleep(0)
            raise ValueError("broken")

    graph = Graph().node("p").node("q").edge(None, "p", "in").edge(None, "q", "also")
    dataflow = Dataflow(
        graph, {"p": Trying(), "q": Broken()}, on_error={"p": Retry(times=2, first_pause=9e3, longest_pause=9e3)}
    )
    sources = {"in": [(0, "a")], "also": [(0, "b")]}
    (failure,) = guarded(lambda: dataflow.run(engine=engine, sources=sources))
    assert isinstance(failure, NodeFailed)
    assert "'q' failed" in failure.message


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_without_being_told_how_these_engines_really_wait(engine: str) -> None:
    node = Failing(lambda call, attempt: call == 1 and attempt == 1)
    results = run(failing(node, Retry(first_pause=0.001)), engine, sources={"in": numbers(1)})
    assert results == {"out": [(0, 1), (1, "told")]}


# --- put aside -------------------------------------------------------------------------------------------------------


@engines
def test_what_fails_is_put_aside_and_the_run_goes_on(engine: str) -> None:
    node = Failing(lambda call, attempt: call in (2, 4, ("notified", 3)))
    failures = Failures()
    results = run(failing(node, DeadLetter()), engine, sources={"in": numbers(1, 2, 3, 4, 5)}, observer=failures)
    assert results["out"] == [(0, 1), (0, 3), (0, 5), (1, "told"), (5, "told")]
    dead = results["dead-letters"]
    assert [(time, failure.value) for time, failure in dead] == [(0, 2), (0, 4), (3, None)]
    assert [str(failure.error) for _, failure in dead] == ["bad 2", "bad 4", "bad notification of 3"]
    assert failures.seen == [failure for _, failure in dead]
    assert node.calls.count(2) == node.calls.count(("notified", 3)) == 1
    assert ("notified", 2) not in node.calls  # the request of a call that fails is none


@engines
def test_dead_letters_go_to_the_sink_of_their_name(engine: str) -> None:
    kept: list[Any] = []
    graph = Graph().node("p").node("q").edge(None, "p", "in").edge("p", "q", "out").edge("q", None, "end")

    def broken(value: int) -> int:
        return 1 // (value - 2)

    dataflow = Dataflow(
        graph,
        {"p": Failing(lambda call, attempt: call == 1), "q": broken},
        on_error={"p": DeadLetter("first"), "*": DeadLetter("others")},
    )
    items = [(0, 1), (0, 2), (0, 3), Complete((9,))]
    sinks = {"first": kept}
    failures = run(dataflow, engine, sources={"in": items}, sinks=sinks)
    assert [(time, failure.node, failure.value) for time, failure in kept] == [(0, "p", 1)]
    assert {failure.node for _, failure in failures["others"]} == {"q"}
    assert [failure.value for time, failure in failures["others"] if time == 0] == [2]
    assert set(failures) <= {"others", "end"}


@engines
def test_all_messages_of_a_failed_call_are_put_aside(engine: str) -> None:
    """None is lost: each is sent on, or in a dead letter."""
    node = Together(lambda call, attempt: call == 2)
    results = run(
        failing(node, DeadLetter()), engine, sources={"in": [(time, v) for time in (0, 1) for v in (1, 2, 3)]}
    )
    dead = [(time, value) for time, failure in results["dead-letters"] for value in failure.value]
    done = [pair for pair in results.get("out", []) if pair[1] != "told"]
    assert sorted(dead + done) == [(time, value) for time in (0, 1) for value in (1, 2, 3)]
    assert {(0, 2), (1, 2)} <= set(dead)


@on_engines
def test_no_policy_is_asked_about_what_stops_python(engine: str) -> None:
    """Only exceptions are failures; an interrupt goes through."""

    class Interrupted(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            raise KeyboardInterrupt

    dataflow = Dataflow(line("p"), {"p": Interrupted()}, on_error=DeadLetter())
    with pytest.raises(KeyboardInterrupt):
        run(dataflow, engine, sources={"in": numbers(1)})


class HalfWay(list[int]):
    """A list that cannot be walked through to its end."""

    def __iter__(self) -> Iterator[int]:
        yield self[0]
        raise ValueError("no more")


def half_way() -> Iterator[int]:
    yield 1
    raise ValueError("no more")


@on_engines
@pytest.mark.parametrize("several", [half_way, lambda: HalfWay([1, 2])])
@pytest.mark.parametrize("before", [0, 2])
def test_what_several_values_gave_before_they_failed_is_taken_back(engine: str, several: Any, before: int) -> None:
    class Sends(Node):
        def on_message(self, edge: str, time: int, value: Any, out: Out) -> None:
            out.send_all("out", time, ["sent"] * before)
            out.send_all("out", time, [value] if value else several())

    found = Dataflow(line("p"), {"p": Sends}, on_error=DeadLetter()).run(
        engine=engine, sources={"in": numbers(7, 0, 8)}
    )
    assert [value for _, value in found["out"]] == [*["sent"] * before, 7, *["sent"] * before, 8]
    assert [failure.value for _, failure in found["dead-letters"]] == [0]


class Singly(Node):
    """Adds values up, all at once, and says that a call which fails has changed nothing."""

    fails_singly = True

    def __init__(self) -> None:
        self.total = 0
        self.calls: list[int] = []

    def on_messages(self, edge: str, time: int, values: Sequence[Any], out: Out) -> Any:
        self.calls.append(len(values))
        found = [10 // value for value in values]
        out.send_all("out", time, found)
        self.total += sum(found)


class SinglyAwaiting(Singly):
    """The same, and has to be waited for."""

    async def on_messages(self, edge: str, time: int, values: Sequence[Any], out: Out) -> Any:
        await asyncio.sleep(0)
        super().on_messages(edge, time, values, out)


@on_engines
@pytest.mark.parametrize("kind", [Singly, SinglyAwaiting])
def test_where_a_call_that_fails_has_changed_nothing_only_what_fails_by_itself_is_dead(
    engine: str, kind: type[Singly]
) -> None:
    graph = Graph().node("n").edge(None, "n", "in").edge("n", None, "out")
    given = [(0, value) for value in (1, 0, 2, 5, 0)]
    for policy, tries in ((DeadLetter(), 1), (Retry(times=2, first_pause=0, then=DeadLetter()), 3)):
        found = Dataflow(graph, {"n": kind}, on_error=policy).run(engine=engine, sources={"in": given})
        assert found["out"] == [(0, 10), (0, 5), (0, 2)]
        assert [failure.value for _, failure in found["dead-letters"]] == [0, 0]
        assert found.nodes["n"].total == 17
        assert found.nodes["n"].calls == [5, 1, *[1] * tries, 1, 1, *[1] * tries]
    with pytest.raises(NodeFailed) as caught:
        Dataflow(graph, {"n": kind}).run(engine=engine, sources={"in": given})
    assert caught.value.value == [1, 0, 2, 5, 0]


class Wordless(Exception):
    def __str__(self) -> str:
        raise ValueError("there are no words for it")


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_an_exception_that_cannot_say_what_it_is_is_one(engine: str) -> None:
    """The policy is asked of it, and the run says where it was."""

    def fails_at_two(value: int) -> int:
        if value == 2:
            raise Wordless
        return value

    graph = from_edges([(None, "n"), ("n", None)])
    items = [(0, 1), (0, 2), (0, 3)]
    flow = Dataflow(graph, {"n": fails_at_two}, sources={"in->n": items}, on_error=DeadLetter("dead"))
    found = flow.run(engine=engine)
    assert found["n->out"] == [(0, 1), (0, 3)]
    assert [failure.value for _, failure in found["dead"]] == [2]
    flow = Dataflow(graph, {"n": fails_at_two}, sources={"in->n": items})
    with pytest.raises(NodeFailed, match="'n' failed on a message from 'in->n' at 0: Wordless: it does not say what"):
        flow.run(engine=engine)
    words = by_event_time([1, 2, 3], fails_at_two)
    flow = Dataflow(graph, sources={"in->n": words}, on_error={"in->n": DeadLetter("dead")})
    assert [failure.value for _, failure in flow.run(engine=engine)["dead"]] == [2]
