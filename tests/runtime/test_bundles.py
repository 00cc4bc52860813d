"""Sinks that keep bundles: killed before, in the midst of, or after any delivery, each value is there once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from progress.errors import PointstampError
from progress.runtime import SILENT, Dataflow, DeadLetter, Node, NodeFailed, State
from progress.runtime.durable import bundles
from progress.runtime.durable.bundles import Bundle
from progress.runtime.durable.store import Store
from progress.runtime.sinks.sqlite import SqliteTable
from tests.runtime.tools import killed

ENGINES = ("sim", "threads", "asyncio")
EPOCHS = 12


class Place:
    """Keeps bundles in a file that is replaced as a whole. `stop` is called before and after that with their number."""

    def __init__(self, path: Path, stop: Callable[[int, str], None] = lambda number, when: None) -> None:
        self.path = path
        self.stop = stop
        self.delivered = 0

    def deliver(self, bundle: Bundle) -> None:
        self.delivered += 1
        self.stop(self.delivered, "before")
        found = self.read()
        found["values"] += [[time, value] for time, value in bundle.values]
        found["stamp"] = bundle.stamp
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(found))
        self.stop(self.delivered, "within")
        new.replace(self.path)
        self.stop(self.delivered, "after")

    def last(self) -> str | None:
        stamp: str | None = self.read()["stamp"]
        return stamp

    def read(self) -> dict[str, Any]:
        return json.loads(self.path.read_text()) if self.path.exists() else {"values": [], "stamp": None}


class Chain(Node):
    """What it sends depends on all that came before, in its order."""

    def __init__(self) -> None:
        self.link = 17
        self.sums: State[Any, int] = State()

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        self.link = (self.link * 31 + value) % 1_000_003
        self.sums[time] = self.sums.get(time, 0) + value
        out.send("chain->out", time, [value, self.link])
        out.request(time)

    def on_notify(self, time: Any, out: Any) -> None:
        out.send("chain->out", time, ["sum", self.sums.pop(time)])


class Otherwise(Chain):
    deterministic = False


GRAPH = from_edges([(None, "chain"), ("chain", None)])
ITEMS = [(epoch, 10 * epoch + number) for epoch in range(EPOCHS) for number in range(4)]


def right(node: type[Node] = Chain) -> list[list[Any]]:
    found = Dataflow(GRAPH, {"chain": node}).run(sources={"in->chain": ITEMS})["chain->out"]
    return [[time, value] for time, value in found]


def links(values: list[list[Any]]) -> list[list[Any]]:
    """What has one order on every engine: the values of messages, and not those of notifications."""
    return [value for _, value in values if value[0] != "sum"]


def go_on_until_the_end(
    folder: Path,
    engine: str,
    delivery: str | None,
    stops: list[tuple[int, str]],
    node: type[Node] = Chain,
    items: list[tuple[int, int]] = ITEMS,
    every: float = 0,
) -> list[list[Any]]:
    """Run, killed at each of these instants, one a life; what is there in the end."""
    for stop in (*stops, None):

        def at(number: int, when: str, stop: tuple[int, str] | None = stop) -> None:
            if (number, when) == stop:
                os.kill(os.getpid(), signal.SIGKILL)

        place = Place(folder / "place", at)

        def live(place: Place = place) -> None:
            Dataflow(GRAPH, {"chain": node}).run(
                engine=engine,
                sources={"in->chain": items},
                sinks={"chain->out": place},
                state=folder / "state",
                every=every,
                delivery=delivery,
            )

        killed(live)
    values: list[list[Any]] = Place(folder / "place").read()["values"]
    return values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_kill_at_a_delivery_loses_nothing_and_doubles_nothing(tmp_path: Path, engine: str, when: str) -> None:
    """One life after the other, each killed at a later delivery; what left is the same as without."""
    stops = [(number, when) for number in (1, 2, 1, 3)]
    found = go_on_until_the_end(tmp_path, engine, "deterministic", stops)
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, right()))


def killed_between(folder: Path, engine: str, most: int, every: float) -> None:
    """Each life is killed when the sink has stored its next bundle, which has one value, and nobody knows yet."""
    items = [(number // 10, number) for number in range(most)]
    found = go_on_until_the_end(folder, engine, "deterministic", [(1, "after")] * most, items=items, every=every)
    values = [value for _, value in found if value[0] != "sum"]
    link = 17
    for number, value in values:  # on which the next one depends
        link = (link * 31 + number) % 1_000_003
        assert value == link
    assert sorted(number for number, _ in values) == [*range(most)]
    ends = {at: value[1] for at, value in found if value[0] == "sum"}
    assert ends == {at: sum(range(10 * at, 10 * at + 10)) for at in range(most // 10)}
    assert len(found) == len(values) + len(ends)


@pytest.fixture
def one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles have one value each."""
    monkeypatch.setattr(bundles, "MOST", 1)


@pytest.mark.usefixtures("one_value")
@pytest.mark.parametrize("engine", ENGINES)
def test_killed_between_each_delivery_and_its_record(tmp_path: Path, engine: str) -> None:
    killed_between(tmp_path, engine, 20, 0)


@pytest.mark.soak
@pytest.mark.usefixtures("one_value")
@pytest.mark.parametrize(("engine", "every"), [("sim", 0), ("threads", 0), ("threads", 0.01), ("asyncio", 1_000)])
def test_killed_between_each_of_a_thousand_deliveries_and_its_record(tmp_path: Path, engine: str, every: float) -> None:
    killed_between(tmp_path, engine, 1_000, every)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("is_node", [True, False])
def test_what_a_call_did_before_it_failed_leaves_when_it_is_mended(tmp_path: Path, engine: str, is_node: bool) -> None:
    """Mended, the call does all of it at once: a part of that is not what has left."""
    fails_at = 5

    def same(value: int) -> int:
        if value == fails_at:
            raise OSError("away")
        return value

    class Same(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            out.send("same->out", time, same(value))

    place = Place(tmp_path / "place")
    sources = {"in->same": [(time, value) for time in range(2) for value in range(3 * time, 9)]}
    flow = Dataflow(from_edges([(None, "same"), ("same", None)]), {"same": Same if is_node else same}, sources=sources)
    for _ in range(2):
        with pytest.raises(NodeFailed, match="away"):
            flow.run(engine=engine, sinks={"same->out": place}, state=tmp_path / "state")
    fails_at = -1
    flow.run(engine=engine, sinks={"same->out": place}, state=tmp_path / "state")
    assert place.read()["values"] == [[time, value] for time, value in sources["in->same"]]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_node_that_says_that_it_does_otherwise_waits_for_checkpoints(tmp_path: Path, engine: str) -> None:
    stops = [(1, "before"), (1, "within"), (1, "after"), (2, "after")]
    found = go_on_until_the_end(tmp_path, engine, None, stops, Otherwise)
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, right(Otherwise)))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_leaves_while_a_checkpoint_is_written_waits_for_the_next(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That one does not have it: after a kill it would leave again, and may be something else."""
    may_end, may_be_next = threading.Event(), threading.Event()
    commits: list[int] = []  # of checkpoints that have something that is to leave

    def commit(store: Store, known: Any, *more: Any) -> Any:
        if any(each["held"] for each in known["outlets"].values()):
            commits.append(1)
            assert (may_end if len(commits) == 1 else may_be_next).wait(10)
        return as_it_is(store, known, *more)

    as_it_is = Store.commit
    monkeypatch.setattr(Store, "commit", commit)
    place = Place(tmp_path / "place")

    def until(happened: Callable[[], bool]) -> Iterator[Any]:
        for _ in range(1_000):
            if not happened():
                time.sleep(0.01)
                yield SILENT
        assert happened()

    def source() -> Iterator[Any]:
        yield 0, 1
        yield from until(lambda: len(commits) == 1)
        yield 0, 2
        yield from [SILENT] * 50
        may_end.set()
        yield from until(lambda: bool(place.delivered) and len(commits) == 2)
        assert links(place.read()["values"]) == [[1, 528]]
        may_be_next.set()

    Dataflow(GRAPH, {"chain": Otherwise}).run(
        engine=engine, sources={"in->chain": source}, sinks={"chain->out": place}, state=tmp_path / "state", every=0.05
    )
    assert links(place.read()["values"]) == [[1, 528], [2, 16370]]


def test_at_least_once_delivers_again(tmp_path: Path) -> None:
    found = go_on_until_the_end(tmp_path, "sim", "at-least-once", [(1, "after"), (1, "after")])
    assert {json.dumps(each) for each in found} == {json.dumps(each) for each in right()}
    assert len(found) >= len(right())


class Clock(Node):
    """What it sends is never the same again, unless it is told so."""

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        out.send("chain->out", time, [value, out.now()])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("every", [0, 1000])
def test_what_left_at_once_is_followed_by_what_waits_for_checkpoints(tmp_path: Path, engine: str, every: float) -> None:
    """`delivery` may be another one at each start; what the sink has is of this run, and not of another one."""
    ways: list[tuple[str, int | None]] = [("deterministic", 2), ("barrier", 1), ("deterministic", 2), ("barrier", None)]
    for delivery, number in ways:
        stops = [] if number is None else [(number, "after")]
        live(tmp_path, engine, delivery, stops, Chain, every)
    found = Place(tmp_path / "place").read()["values"]
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, right()))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("after", ["deterministic", "barrier"])
def test_what_left_at_least_once_need_not_come_again(tmp_path: Path, engine: str, after: str) -> None:
    """Nobody wrote its order down: it may leave again, and what leaves from then on leaves once."""
    for delivery, number in [("at-least-once", 2), (after, 2), ("at-least-once", 1), (after, 1), (after, None)]:
        stops = [] if number is None else [(number, "after")]
        live(tmp_path, engine, delivery, stops, Clock, 1000)
    found = Place(tmp_path / "place").read()["values"]
    assert {value[0] for _, value in found} == {value for _, value in ITEMS}
    assert len(found) <= 4 * len(ITEMS)  # the last life only goes on with what the one before has left


@pytest.mark.parametrize("engine", ENGINES)
def test_at_least_once_goes_on_after_the_machine_was_started_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """What a place keeps cannot go back to the checkpoint; without an order it leaves again."""
    for boot, delivery, number in [("1", "deterministic", 2), ("2", "at-least-once", 2), ("3", "at-least-once", None)]:
        monkeypatch.setattr("progress.runtime.durable.kept_run.boot", lambda boot=boot: boot)
        stops = [] if number is None else [(number, "after")]
        live(tmp_path, engine, delivery, stops, Clock, 1000)
    found = Place(tmp_path / "place").read()["values"]
    assert {value[0] for _, value in found} == {value for _, value in ITEMS}


def live(
    folder: Path, engine: str, delivery: str, stops: list[tuple[int, str]], node: type[Node], every: float
) -> None:
    """One life of a run, killed at one of these instants if there is one."""

    def at(number: int, when: str) -> None:
        if (number, when) in stops:
            os.kill(os.getpid(), signal.SIGKILL)

    def act() -> None:
        Dataflow(GRAPH, {"chain": node}).run(
            engine=engine,
            sources={"in->chain": ITEMS},
            sinks={"chain->out": Place(folder / "place", at)},
            state=folder / "state",
            every=every,
            delivery=delivery,
        )

    killed(act)


def test_what_is_slow_gets_larger_bundles_in_order(tmp_path: Path) -> None:
    go = threading.Event()
    delivered: list[Bundle] = []

    class Slow:
        def last(self) -> None:
            return None

        def deliver(self, bundle: Bundle) -> None:
            delivered.append(bundle)
            go.wait(0.05)

    Dataflow(GRAPH, {"chain": Chain}).run(sources={"in->chain": ITEMS}, sinks={"chain->out": Slow()})
    found = [[time, value] for bundle in delivered for time, value in bundle.values]
    assert links(found) == links(right())
    assert len(found) == len(right())
    assert len(delivered) < len(ITEMS)
    assert delivered[-1].complete == ()
    assert {bundle.edge for bundle in delivered} == {"chain->out"}


def test_methods_may_be_async_and_have_one_event_loop() -> None:
    loops = set()
    values: list[Any] = []

    class Awaited:
        async def last(self) -> None:
            await asyncio.sleep(0)
            loops.add(asyncio.get_running_loop())

        async def deliver(self, bundle: Bundle) -> None:
            loops.add(asyncio.get_running_loop())
            values.extend(bundle.values)

        async def close(self) -> None:
            loops.add(asyncio.get_running_loop())
            values.append("closed")

    for engine in ENGINES:
        loops.clear()
        values.clear()
        Dataflow(GRAPH, {"chain": Chain}).run(
            engine=engine, sources={"in->chain": ITEMS}, sinks={"chain->out": Awaited()}
        )
        assert len(loops) == 1
        assert len(values) == len(right()) + 1
        assert values[-1] == "closed"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sink_that_raises_stops_the_run_and_is_named(tmp_path: Path, engine: str) -> None:
    class Full:
        def last(self) -> None:
            return None

        def deliver(self, bundle: Bundle) -> None:
            if bundle.values:
                raise OSError("there is no room")

    with pytest.raises(OSError, match="there is no room") as caught:
        Dataflow(GRAPH, {"chain": Chain}).run(
            engine=engine, sources={"in->chain": ITEMS}, sinks={"chain->out": Full()}, state=tmp_path / "state"
        )
    assert caught.value.__notes__ == ["in the sink of 'chain->out'"]


def refusal(folder: Path, *, node: type[Node] = Chain, delivery: str | None = None, items: Any = ITEMS) -> str:
    with pytest.raises(PointstampError) as caught:
        Dataflow(GRAPH, {"chain": node}).run(
            sources={"in->chain": items},
            sinks={"chain->out": Place(folder / "place")},
            state=folder / "state",
            delivery=delivery,
        )
    return str(caught.value)


def test_what_the_sink_has_of_another_run_is_not_added_to(tmp_path: Path) -> None:
    (tmp_path / "place").write_text(json.dumps({"values": [[0, 1]], "stamp": "1:abc"}))
    said = refusal(tmp_path)
    assert said.startswith("PS748: what leaves is something else than what has left: at 'chain->out', 0, [0, 527]")
    assert "(the state is new, and the sink has what another run has delivered: the DIR of that run; or " in said
    other = tmp_path / "other"
    other.mkdir()
    (other / "place").write_text(json.dumps({"values": [[0, 1]], "stamp": "1:abc"}))
    said = refusal(other, node=Otherwise)
    assert said.startswith("PS736: the sink of 'chain->out' has what another run has delivered")


def test_a_sink_that_has_lost_something_is_refused(tmp_path: Path) -> None:
    go_on_until_the_end(tmp_path, "sim", "deterministic", [(3, "before")])
    (tmp_path / "place").unlink()
    Dataflow(GRAPH, {"chain": Chain}).run(  # it has ended: the sink is not asked
        sources={"in->chain": ITEMS}, sinks={"chain->out": Place(tmp_path / "place")}, state=tmp_path / "state"
    )
    assert not (tmp_path / "place").exists()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sink_that_does_not_say_what_it_has_is_not_a_state_of_another_pipeline(tmp_path: Path, engine: str) -> None:
    """What it raises is told as it is, when the run begins and when it goes on."""
    is_away = True

    class Away(Place):
        def last(self) -> str | None:
            if is_away:
                raise ConnectionError("nobody answers")
            return super().last()

        def deliver(self, bundle: Bundle) -> None:
            raise ConnectionError("it is gone")

    def run() -> None:
        sinks = {"chain->out": Away(tmp_path / "place")}
        flow = Dataflow(GRAPH, {"chain": Chain})
        flow.run(engine=engine, sources={"in->chain": ITEMS}, sinks=sinks, state=tmp_path / "state", every=0)

    for says in ("nobody answers", "it is gone", "nobody answers"):
        is_away = says == "nobody answers"
        with pytest.raises(ConnectionError, match=says) as caught:
            run()
        assert caught.value.__notes__[0] == "in the sink of 'chain->out'"


@pytest.mark.parametrize("engine", ENGINES)
def test_dead_letters_are_kept_in_bundles_as_the_rows_that_they_are_in_tables(tmp_path: Path, engine: str) -> None:
    """Those of nodes and those of inputs, each once, however often the run is begun again."""
    fails_at = 20

    def half(value: Any) -> Any:
        if value == fails_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return value / 2

    graph = from_edges([(None, "half"), ("half", None)])
    items = [(0, 4), (0, "x"), "no message", (1, "y"), (1, 20), (1, "z")]

    def live() -> None:
        flow = Dataflow(graph, {"half": half}, sources={"in->half": items}, on_error=DeadLetter("dead"))
        place = Place(tmp_path / "place")
        flow.run(engine=engine, sinks={"dead": place}, state=tmp_path / "state", every=0)

    assert killed(live)
    fails_at = -1
    assert not killed(live)
    found = [value for _, value in Place(tmp_path / "place").read()["values"]]
    assert {tuple(each) for each in found} == {("at", "time", "value", "error")}
    assert sorted(each["value"] for each in found) == ["no message", "x", "y", "z"]
    table = Dataflow(graph, {"half": half}, sources={"in->half": items}, on_error=DeadLetter("dead"))
    table.run(engine=engine, sinks={"dead": SqliteTable(tmp_path / "db", "dead")}, state=tmp_path / "other")
    assert sqlite3.connect(tmp_path / "db").execute("SELECT count(*) FROM dead").fetchall() == [(4,)]


@pytest.mark.parametrize("stamp", ["yesterday", 5, "5", True, ""])
def test_a_stamp_that_is_none_is_refused(tmp_path: Path, stamp: Any) -> None:
    (tmp_path / "place").write_text(json.dumps({"values": [], "stamp": stamp}))
    assert refusal(tmp_path).startswith(f"PS707: last() of the sink of 'chain->out' gave {stamp!r}")


def test_a_run_that_is_kept_by_a_program_goes_on_with_its_files(tmp_path: Path) -> None:
    """`JsonLines` is what a file of the command is: read on where it was read, and each value written once."""
    lines = "".join(f"{json.dumps({'time': time, 'value': value})}\n" for time, value in ITEMS)
    (tmp_path / "in").write_text(lines)

    class Dies(Chain):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            if value == 73 and (tmp_path / "dies").exists():
                os.kill(os.getpid(), signal.SIGKILL)
            super().on_message(edge, time, value, out)

    def live() -> None:
        Dataflow(GRAPH, {"chain": Dies}).run(
            engine="threads",
            sources={"in->chain": JsonLines(tmp_path / "in")},
            sinks={"chain->out": JsonLines(tmp_path / "out")},
            state=tmp_path / "state",
            every=0,
        )

    (tmp_path / "dies").touch()
    assert killed(live)
    first = (tmp_path / "out").read_text()
    (tmp_path / "dies").unlink()
    assert not killed(live)
    text = (tmp_path / "out").read_text()
    assert text.startswith(first)
    found = [json.loads(line) for line in text.splitlines()]
    assert found[-1] == {"complete": []}
    values = [[each["time"], each["value"]] for each in found if "value" in each]
    assert links(values) == links(right())
    assert len(values) == len(right())
    assert not killed(live)
    assert (tmp_path / "out").read_text() == text


def test_a_run_that_came_to_its_end_answers_with_its_nodes(tmp_path: Path) -> None:
    flow = Dataflow(GRAPH, {"chain": Chain}, sources={"in->chain": ITEMS})
    first = flow.run(state=tmp_path / "state")
    again = flow.run(state=tmp_path / "state")
    assert again.nodes["chain"].link == first.nodes["chain"].link != 17
    assert (len(first["chain->out"]), again["chain->out"]) == (len(right()), [])
    other = asyncio.run(flow.run_async(state=tmp_path / "other"))
    assert len(other["chain->out"]) == len(right())


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"every": 2}, "every=, delivery=, synced= and with_pickle= say how a run is kept, and it is not"),
        ({"state": "x", "every": -1}, "every=-1 is not a time to wait"),
        ({"state": "x", "delivery": "at least once"}, "there is no delivery 'at least once' (did you mean"),
        (
            {"state": "x", "delivery": "exactly-once"},
            "there is no delivery 'exactly-once' ('deterministic' and 'barrier'",
        ),
        ({"state": 5}, "state=5 names no folder"),
    ],
)
def test_what_says_nothing_of_how_a_run_is_kept_is_refused(told: Any, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        Dataflow(GRAPH).run(**told)
    assert str(caught.value).startswith(f"PS715: {says}")


class Fails:
    """A sink that stores nothing of what it is given first, and all of it later."""

    def __init__(self, works: bool) -> None:
        self.works = works
        self.values: list[Any] = []
        self.complete: Any = None

    def last(self) -> None:
        return None

    def deliver(self, bundle: Bundle) -> None:
        if not self.works:
            raise OSError("not now")
        self.values += bundle.values
        self.complete = self.complete if bundle.complete is None else bundle.complete


@pytest.mark.parametrize("node", [Chain, Otherwise])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_whose_sink_failed_at_the_end_has_not_ended(tmp_path: Path, engine: str, node: type[Node]) -> None:
    """It goes on where it was, and the sink is told at last that nothing leaves any more."""

    def run(sink: Fails) -> None:
        Dataflow(GRAPH, {"chain": node}).run(
            engine=engine, sources={"in->chain": ITEMS}, sinks={"chain->out": sink}, state=tmp_path / "state"
        )

    with pytest.raises(OSError, match="not now"):
        run(Fails(works=False))
    works = Fails(works=True)
    run(works)
    assert sorted(map(json.dumps, works.values)) == sorted(map(json.dumps, map(list, right(node))))
    assert works.complete == ()


def test_a_run_that_is_refused_before_it_begins_closes_its_sinks(tmp_path: Path) -> None:
    closed: list[str] = []

    class Odd(Place):
        def last(self) -> str:
            return "yesterday"

        def close(self) -> None:
            closed.append("closed")

    sink = Odd(tmp_path / "place")
    for _ in range(2):  # nothing of the run before is in the way
        with pytest.raises(PointstampError, match="PS707: last"):
            Dataflow(GRAPH).run(sinks={"chain->out": sink}, state=tmp_path / "state")
    assert closed == ["closed", "closed"]
    assert not [each for each in threading.enumerate() if each.name == "sink chain->out"]


class Closes(Place):
    """Says when it was closed."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_is_stopped_closes_its_sinks(tmp_path: Path, engine: str) -> None:
    """Also where it takes a last checkpoint in between."""

    def for_ever() -> Iterator[tuple[int, int]]:
        while True:
            yield 0, 1
            time.sleep(0.01)

    sink = Closes(tmp_path / "place")
    with pytest.raises(PointstampError, match="PS713"):
        Dataflow(GRAPH, {"chain": Chain}).run(
            engine=engine,
            sources={"in->chain": for_ever()},
            sinks={"chain->out": sink},
            state=tmp_path / "state",
            timeout=0.1,
        )
    assert sink.is_closed


class NotRead:
    """A pickle that cannot be read."""

    def __reduce__(self) -> Any:
        return int, ("no number",)


def test_what_cannot_be_read_when_it_is_delivered_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(PointstampError, match="PS737: what leaves at 'chain->out' cannot be restored: ValueError"):
        Dataflow(GRAPH, {"chain": lambda value: NotRead()}).run(
            sources={"in->chain": ITEMS},
            sinks={"chain->out": Place(tmp_path / "place")},
            state=tmp_path / "state",
            with_pickle=True,
        )


def test_nothing_waits_for_a_sink_that_was_stopped(tmp_path: Path) -> None:
    class Slow(Place):
        def deliver(self, bundle: Bundle) -> None:
            time.sleep(0.3)
            super().deliver(bundle)

    def pausing() -> Iterator[tuple[int, int]]:
        for item in ITEMS[:2]:
            yield item
            time.sleep(0.05)

    with pytest.raises(PointstampError, match="PS713"):
        Dataflow(GRAPH, {"chain": Chain}).run(
            sources={"in->chain": pausing()}, sinks={"chain->out": Slow(tmp_path / "place")}, timeout=0.2
        )
    for thread in threading.enumerate():
        if thread.name == "sinks that write":
            thread.join(5)
            assert not thread.is_alive()


def test_a_sink_of_two_edges_is_refused(tmp_path: Path) -> None:
    """Its stamp could be that of either."""
    both = Place(tmp_path / "place")
    two = from_edges([(None, "a"), ("a", None), (None, "b"), ("b", None)])
    with pytest.raises(PointstampError, match="PS779: 'a->out' and 'b->out' both write to one object, which can"):
        Dataflow(two).run(sinks={"a->out": both, "b->out": both})


class Hooks:
    """A sink of which each method is what it is given; what is stored is kept, as it is by a place."""

    def __init__(self, **does: Callable[[], Any]) -> None:
        self.does = does
        self.values: list[Any] = []
        self.stamp: str | None = None

    def last(self) -> Any:
        self._do("last")
        return self.stamp

    def deliver(self, bundle: Bundle) -> Any:
        self._do("deliver")
        self.values += bundle.values
        self.stamp = bundle.stamp

    def close(self) -> Any:
        self._do("close")

    def _do(self, what: str) -> None:
        self.does.get(what, lambda: None)()


def raising(error: BaseException) -> Callable[[], None]:
    def do() -> None:
        raise error

    return do


AT_ONCE = 3.0  # seconds, on a machine that is busy; what waits sleeps for four


def first_and_then_silent() -> Iterator[tuple[int, int]]:
    yield 0, 1
    time.sleep(4)


async def first_and_then_silent_async() -> Any:
    yield 0, 1
    await asyncio.sleep(4)


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_hears_at_once_that_a_sink_has_failed(tmp_path: Path, engine: str, is_kept: bool) -> None:
    """It does not wait until something else leaves."""
    ways: list[Any] = [first_and_then_silent]
    if engine == "asyncio":
        ways.append(first_and_then_silent_async)
    reader, writer = os.pipe()
    os.write(writer, b'{"time": 0, "value": 1}\n')
    if not is_kept:
        ways.append(JsonLines(f"/dev/fd/{reader}"))
    try:
        for number, source in enumerate(ways if engine != "sim" else ways[1:]):  # in `sim` a source is not interrupted
            begin = time.monotonic()
            with pytest.raises(OSError, match="there is no room") as caught:
                Dataflow(GRAPH, {"chain": Chain}).run(
                    engine=engine,
                    sources={"in->chain": source},
                    sinks={"chain->out": Hooks(deliver=raising(OSError("there is no room")))},
                    state=tmp_path / f"state {number}" if is_kept else None,
                )
            assert time.monotonic() - begin < AT_ONCE
            assert caught.value.__notes__ == ["in the sink of 'chain->out'"]
    finally:
        os.close(writer)
        os.close(reader)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_node_that_is_awaited_is_cancelled_when_a_sink_has_failed(engine: str) -> None:
    class Awaits(Chain):
        async def on_notify(self, time: Any, out: Any) -> None:  # type: ignore[override]
            await asyncio.sleep(4)

    begin = time.monotonic()
    with pytest.raises(OSError, match="there is no room"):
        Dataflow(GRAPH, {"chain": Awaits}).run(
            engine=engine,
            sources={"in->chain": [(0, 1)]},
            sinks={"chain->out": Hooks(deliver=raising(OSError("there is no room")))},
        )
    assert time.monotonic() - begin < AT_ONCE


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("error", [StopIteration("enough"), asyncio.CancelledError(), GeneratorExit()])
def test_what_a_sink_raises_ends_no_loop_of_the_run(engine: str, error: BaseException) -> None:
    with pytest.raises(PointstampError, match="PS733: the sink of 'chain->out' raised"):
        Dataflow(GRAPH, {"chain": Chain}).run(
            engine=engine, sources={"in->chain": ITEMS}, sinks={"chain->out": Hooks(deliver=raising(error))}
        )


@pytest.mark.parametrize("how", ["timeout", "cancel"])
@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("slow", ["last", "deliver", "close"])
def test_a_run_that_has_to_stop_waits_for_no_sink(
    tmp_path: Path, engine: str, slow: str, is_kept: bool, how: str
) -> None:
    """What was under way may be stored: the next run asks for it when it is over, and each value is there once."""
    go = threading.Event()
    cancel = threading.Event()

    def waits() -> None:
        if how == "cancel":
            cancel.set()
        go.wait(4)

    sink = Hooks(**{slow: waits})
    flow = Dataflow(GRAPH, {"chain": Chain}, sources={"in->chain": ITEMS}, sinks={"chain->out": sink})
    state = tmp_path / "state" if is_kept else None
    begin = time.monotonic()
    with pytest.raises(PointstampError, match=r"PS71[23]"):
        flow.run(engine=engine, state=state, timeout=0.2 if how == "timeout" else None, cancel=cancel)
    assert time.monotonic() - begin < AT_ONCE
    assert len(sink.values) in (0, len(right()))
    threading.Timer(0.2, go.set).start()
    if is_kept:
        flow.run(engine=engine, state=state)
        found = [[time, value] for time, value in sink.values]
        assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, right()))
    for thread in threading.enumerate():
        if thread.name == "sink chain->out":
            thread.join(5)
            assert not thread.is_alive()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("slow", ["last", "deliver", "close"])
def test_what_a_sink_awaits_is_cancelled_when_the_run_has_to_stop(tmp_path: Path, engine: str, slow: str) -> None:
    said: list[str] = []
    cancel = threading.Event()

    class Awaits:
        async def _do(self, what: str) -> None:
            said.append(what)
            if what == slow:
                cancel.set()
                try:
                    await asyncio.sleep(4)
                except asyncio.CancelledError:
                    said.append("cancelled")
                    raise

        async def last(self) -> None:
            await self._do("last")

        async def deliver(self, bundle: Bundle) -> None:
            await self._do("deliver")

        async def close(self) -> None:
            await self._do("close")

    flow = Dataflow(GRAPH, {"chain": Chain}, sources={"in->chain": ITEMS}, sinks={"chain->out": Awaits()})
    begin = time.monotonic()
    with pytest.raises(PointstampError, match="PS712") as caught:
        flow.run(engine=engine, state=tmp_path / "state", cancel=cancel)
    assert time.monotonic() - begin < AT_ONCE
    assert not hasattr(caught.value, "__notes__")
    assert said[said.index(slow) :] == [slow, "cancelled"] + ["close"] * (slow != "close")


def test_a_task_that_is_cancelled_waits_for_no_sink() -> None:
    go = threading.Event()
    sink = Hooks(deliver=lambda: go.wait(4))
    sources = {"in->chain": first_and_then_silent_async}
    flow = Dataflow(GRAPH, {"chain": Chain}, sources=sources, sinks={"chain->out": sink})

    async def cancelled() -> None:
        await asyncio.wait_for(flow.run_async(), 0.2)

    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert time.monotonic() - begin < AT_ONCE
    go.set()


def test_what_waits_for_room_is_waited_for_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "WAITING", 3)
    go = threading.Event()
    sink = Hooks(deliver=lambda: go.wait(4))
    flow = Dataflow(GRAPH, {"chain": Chain}, sources={"in->chain": ITEMS}, sinks={"chain->out": sink})
    begin = time.monotonic()
    with pytest.raises(PointstampError, match="PS713"):
        flow.run(state=tmp_path / "state", timeout=0.2)
    assert time.monotonic() - begin < AT_ONCE
    go.set()
    flow.run(state=tmp_path / "state")
    found = [[time, value] for time, value in sink.values]
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, right()))
