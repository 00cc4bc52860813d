"""What a dataflow and a run are given is looked at first; and a run that leaves something undone says so at its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import sleep
from typing import Any

import pytest

from graphs import Graph
from progress import PointstampError
from progress.runtime import Complete, Dataflow, DeadLetter, Node, Out, Retry, Stop
from progress.runtime.actions.core import Core
from progress.runtime.durable.checkpoint import capture, resume
from progress.runtime.node import Batch
from progress.runtime.policies import explicit
from tests.runtime.tools import GUARD, engines, guarded, line, numbers, run


def refused(code: str, call: Callable[[], Any]) -> str:
    with pytest.raises(PointstampError) as caught:
        call()
    assert caught.value.code == code
    assert caught.value.hint
    return caught.value.message


# --- before anything happens ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("PS715", {"engine": "threads", "workers": 0}),
        ("PS715", {"engine": "threads", "workers": "4"}),
        ("PS715", {"limit": 0}),
        ("PS715", {"limit": 1.5}),
        ("PS715", {"engine": "threads", "seed": 3}),
        ("PS707", {"sinks": {"out": 5}}),
        ("PS707", {"sinks": {"late": 5}}),
        ("PS716", {"sinks": {"outt": []}}),
        ("PS716", {"sinks": {"in": []}}),
        ("PS719", {"sources": {"in": explicit([(0, 1)], late="out")}}),
    ],
)
def test_a_run_refuses_what_is_of_no_use_before_it_begins(code: str, options: dict[str, Any]) -> None:
    class Untouched(Node):
        def on_start(self, out: Out) -> None:
            raise AssertionError("the run has begun")

    given = {"sources": {"in": numbers(1)}, **options}
    refused(code, lambda: Dataflow(line("p"), {"p": Untouched()}).run(**given))


@pytest.mark.parametrize(
    ("code", "on_error"),
    [
        ("PS718", {"pp": Stop()}),
        ("PS718", "ignore"),
        ("PS718", {"p": DeadLetter}),
        ("PS718", Retry(then=Retry())),  # type: ignore[arg-type]
        ("PS718", DeadLetter("")),
        ("PS718", Retry(times=-1)),
        ("PS718", Retry("three")),  # type: ignore[arg-type]
        ("PS718", DeadLetter(5)),  # type: ignore[arg-type]
        ("PS719", DeadLetter("out")),
        ("PS719", {"p": Retry(then=DeadLetter("out"))}),
    ],
)
def test_a_dataflow_refuses_what_cannot_be_done_on_errors(code: str, on_error: Any) -> None:
    refused(code, lambda: Dataflow(line("p"), on_error=on_error))


def test_every_output_may_have_a_sink() -> None:
    dead: list[Any] = []
    sinks: dict[str, Any] = {"out": [], "late": [], "slow": [], "dead": dead}
    dataflow = Dataflow(
        line("p"), {"p": lambda value: 1 // value}, sinks=sinks, on_error=Retry(0, then=DeadLetter("dead"))
    )
    assert dataflow.run(sources={"in": explicit([(0, 0)], late="slow")}) == {}
    assert len(dead) == 1
    replaced = Dataflow(line("p"), sources={"in": explicit([], late="slow")}, sinks={"slow": []})
    assert replaced.run(sources={"in": numbers(1)}) == {"out": [(0, 1)]}
    unknown = Dataflow(line("p"), sources={"in": lambda: iter(())}, sinks={"slow": []})
    assert unknown.run(sources={"in": numbers(1)}) == {"out": [(0, 1)]}


@pytest.mark.parametrize("times", [5, "monday", None, iter([1])])
def test_complete_takes_several_times(times: Any) -> None:
    assert "no way to complete times" in refused("PS706", lambda: Complete(times))


# --- at the end -------------------------------------------------------------------------------------------------------


@engines
def test_requests_that_wait_for_ever_are_an_error(engine: str) -> None:
    class Count(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.request(time)
            out.send("out", time, value)

    graph = Graph().node("p").node("back").edge(None, "p", "in").edge("p", None, "out")
    graph.edge("p", "back", "around").edge("back", "p", "again")
    kept: list[Any] = []
    dataflow = Dataflow(graph, {"p": Count()})
    message = refused("PS739", lambda: run(dataflow, engine, sources={"in": numbers(1)}, sinks={"out": kept}))
    assert "1 requests wait for ever: first 'p' at 0" in message
    assert kept == [(0, 1)]


def test_messages_that_nobody_takes_are_an_error() -> None:
    """No engine leaves any; if one did, the run would not end as if all were done."""
    core = Core(line("p"), {}, lambda edge, time, values: None, inputs={"in": (0,)})
    core.start()
    core.bring("in", {0: [1, 2]}, ())
    assert "2 messages are queued for ever: first on 'in'" in refused("PS739", core.check_over)


@pytest.mark.parametrize("done", [0, 1])
def test_what_is_put_back_is_counted_once_where_more_of_its_time_has_come(done: int) -> None:
    """A call that was given up, or took a part, while more came: all waits together, and is all there is to count."""
    left: list[Any] = []
    core = Core(line("p"), {}, lambda edge, time, values: left.extend(values), inputs={"in": (0,)})
    core.start()
    core.bring("in", {0: [1, 2]}, (0,))
    node = core.next_node()
    assert node is not None
    action = core.take(node)
    core.bring("in", {0: [3, 4, 5]}, ())
    if done:
        performed = core.perform(action._replace(values=action.values[:done]))
        performed.action = action
        core.commit(performed)
    else:
        core.give_back(action)
        core.list_again()
    assert core.queued == core.inboxes[node].size == 5 - done
    while (node := core.next_node()) is not None:
        core.turn(node, 100, lambda: None)
    core.check_over()
    assert left == [1, 2, 3, 4, 5]


# --- what a node does with what it is given ---------------------------------------------------------------------------


class Empties(Node):
    """Takes all values out of the list that it was given; fails once."""

    def __init__(self) -> None:
        self.fails = 0

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        assert isinstance(values, list)
        while values:
            out.send("out", time, values.pop(0))
        if self.fails:
            self.fails -= 1
            raise ValueError("once")


@engines
@pytest.mark.parametrize("fails", [0, 1])
def test_a_node_may_empty_the_list_that_it_is_given(engine: str, fails: int) -> None:
    node = Empties()
    node.fails = fails
    dataflow = Dataflow(line("p"), {"p": lambda: node}, on_error=Retry(first_pause=0))
    (results,) = guarded(lambda: run(dataflow, engine, sources={"in": numbers(1, 2, 3)}))
    assert results == {"out": [(0, 1), (0, 2), (0, 3)]}


@engines
@pytest.mark.parametrize("waits", [False, True])
def test_the_dead_letter_of_a_batch_has_its_messages_and_the_node_forgets_them(engine: str, waits: bool) -> None:
    class Join(Batch):
        def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> Any:
            messages["in"].sort()
            if time == 0:
                messages["in"].pop()
                return self._fail() if waits else 1 // 0
            out.send("out", time, messages["in"])
            return None

        async def _fail(self) -> None:
            raise ValueError("bad")

    node = Join()
    results = run(
        Dataflow(line("p"), {"p": lambda: node}, on_error=DeadLetter()),
        engine,
        sources={"in": [*numbers(1, 2), (1, 3)]},
    )
    assert [(time, failure.value) for time, failure in results["dead-letters"]] == [(0, {"in": [1, 2]})]
    assert results["out"] == [(1, [3])]
    assert node.waiting == {}


def test_what_equals_a_time_that_was_sent_at_is_that_time_and_elsewhere_none() -> None:
    class Sends(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            out.send("out", 1, "a")
            for equal in (1.0, True):
                out.send("out", equal, "b")
            for other in (2.0, False):
                assert "is not a time there" in refused("PS503", partial(out.send, "out", other, "c"))

    results = run(Dataflow(line("p"), {"p": Sends()}), "sim", sources={"in": numbers(1)})
    assert repr(results["out"]) == "[(1, 'a'), (1, 'b'), (1, 'b')]"


@engines
def test_what_a_call_that_fails_has_changed_in_its_node_stays_changed(engine: str) -> None:
    """Only what it sent and requested is taken back, as the documentation says."""

    class Counts(Node):
        def __init__(self) -> None:
            self.before = self.after = 0

        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            self.before += 1
            out.send("out", time, value)
            if self.before == 1:
                raise ValueError("once")
            self.after += 1

    node = Counts()
    dataflow = Dataflow(line("p"), {"p": lambda: node}, on_error=Retry(first_pause=0))
    assert run(dataflow, engine, sources={"in": numbers(1)}) == {"out": [(0, 1)]}
    assert (node.before, node.after) == (2, 1)


# --- state, cancelling ------------------------------------------------------------------------------------------------


class Slotted(Node):
    __slots__ = ("__hidden", "unset")
    unset: int

    def __init__(self, hidden: int) -> None:
        self.__hidden = hidden

    @property
    def hidden(self) -> int:
        return self.__hidden


class MoreSlots(Slotted):
    __slots__ = "single"

    def __init__(self, hidden: int, single: int, usual: int) -> None:
        super().__init__(hidden)
        self.single = single
        self.usual = usual


def test_a_checkpoint_has_what_is_in_slots() -> None:
    graph = Graph().node("p")

    def core(node: Node) -> Core:
        found = Core(graph, {"p": node}, lambda edge, time, values: None)
        found.start()
        return found

    state = capture(core(MoreSlots(1, 2, 3)), [])
    node = MoreSlots(7, 8, 9)
    node.unset = 5
    resume(core(node), [], state)
    assert (node.hidden, node.single, node.usual) == (1, 2, 3)
    assert not hasattr(node, "unset")


def test_a_source_that_blocks_is_let_go_with_its_next_item() -> None:
    """A thread that blocks cannot be ended; it ends by itself, and takes nothing that comes later."""
    cancel, blocked, go_on = threading.Event(), threading.Event(), threading.Event()
    taken: list[int] = []

    def items() -> Iterator[Any]:
        for number in range(5):
            taken.append(number)
            yield 0, number
            if number == 0:
                blocked.set()
                assert go_on.wait(GUARD)

    def stop() -> None:
        assert blocked.wait(GUARD)
        cancel.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    refused("PS712", lambda: Dataflow(line("p")).run(engine="threads", sources={"in": items}, cancel=cancel))
    stopper.join()
    (reader,) = (thread for thread in threading.enumerate() if thread.name == "source of in")
    assert reader.daemon
    go_on.set()
    reader.join(GUARD)
    assert not reader.is_alive()
    assert taken == [0, 1]


@engines
def test_a_node_says_what_it_gives_up_with_a_notification(engine: str) -> None:
    class Keeps(Node):
        def __init__(self) -> None:
            self.kept: dict[Any, int] = {}

        def on_message(self, edge: str, time: Any, value: int, out: Out) -> None:
            self.kept[time] = value
            out.request(time)

        def on_notify(self, time: Any, out: Out) -> None:
            raise ValueError("bad")

        def give_up(self, time: Any) -> Any:
            return self.kept.pop(time)

    node = Keeps()
    results = run(Dataflow(line("p"), {"p": lambda: node}, on_error=DeadLetter()), engine, sources={"in": numbers(3)})
    assert [(time, failure.value) for time, failure in results["dead-letters"]] == [(0, 3)]
    assert node.kept == {}


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_time_that_is_up_does_not_cut_a_call_that_blocks(engine: str) -> None:
    ended: list[Any] = []

    class Blocks(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
            sleep(0.3)
            ended.append(value)

    dataflow = Dataflow(line("p"), {"p": Blocks()})
    refused("PS713", lambda: dataflow.run(engine=engine, sources={"in": [(0, "a"), (1, "b")]}, timeout=0.1))
    assert ended == ["a"]


def test_time_that_is_up_cuts_what_is_awaited() -> None:
    async def waits(value: Any) -> Any:
        await asyncio.Event().wait()

    dataflow = Dataflow(line("p"), {"p": waits})
    refused("PS713", lambda: dataflow.run(engine="asyncio", sources={"in": numbers(1)}, timeout=0.05))


def test_an_output_edge_may_be_named_late() -> None:
    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "late")
    items = [(0, "x"), Complete([2]), (1, "y"), (2, "z")]
    assert Dataflow(graph).run(sources={"in": items}) == {"late": [(0, "x"), (2, "z")], "late data": [(1, "y")]}


def test_hints_fit_what_was_given() -> None:
    with pytest.raises(PointstampError, match="lambda value: str"):
        Dataflow(line("p"), {"p": str})

    def broken() -> Node:
        raise ValueError("no")

    with pytest.raises(PointstampError) as caught:
        Dataflow(line("p"), {"p": broken}).run()
    assert (caught.value.code, caught.value.hint) == ("PS705", "mend what makes it")
