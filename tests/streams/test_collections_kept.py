"""What collections keep: as much as the data that are there, however many epochs there were; and over a kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest

from graphs.streams import Collection, Flow
from graphs.streams.collections.history import History
from graphs.streams.collections.moments import Moments
from progress.errors import PointstampError
from progress.order import Nat
from progress.runtime import SILENT, Complete, Messages, NodeFailed
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import Host
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running

Road = tuple[int, int]
Change = tuple[Road, int]


def components(flow: Flow[Any], asked: list[int] | None = None) -> Collection[Any, Any]:
    """The least name of each place's component, over all epochs; `asked` notes how often a place is looked at."""
    roads = flow.collection("roads")
    both = roads.flat_map(lambda r: [r, r[::-1]])
    start = roads.flat_map(lambda r: [(place, place) for place in r]).distinct()

    def least(place: int, names: list[int]) -> list[int]:
        if asked is not None:
            asked.append(place)
        return [min(names)]

    return start.iterate(
        lambda labels: (
            labels.join(both, lambda place, label, neighbour: (neighbour, label)).concat(start).reduce(least)
        ),
        name="components",
    )


def labels_of(roads: list[Road]) -> set[Road]:
    """The least name of each place's component, by plain sets."""
    parts: list[set[int]] = []
    for road in roads:
        touched = [part for part in parts if part & {*road}]
        parts = [part for part in parts if not part & {*road}] + [{*road}.union(*touched)]
    return {(place, min(part)) for part in parts for place in part}


def churn(seed: int, epochs: int) -> tuple[list[list[Change]], list[list[Road]]]:
    """Changes of each epoch, and what is there after it: 30 roads, of which 2 go and 2 come each time."""
    random = Random(seed)
    there = [(random.randrange(30), random.randrange(30)) for _ in range(30)]
    changes: list[list[Change]] = [[(road, 1) for road in there]]
    states = [there]
    for epoch in range(1, epochs):
        gone = random.sample(range(30), 2)
        new = [(random.randrange(30) + epoch, random.randrange(30) + epoch) for _ in gone]  # other places come to be
        changes.append([(there[at], -1) for at in gone] + [(road, 1) for road in new])
        there = [road for at, road in enumerate(there) if at not in gone] + new
        states.append(there)
    return changes, states


def one_by_one(changes: list[list[Change]]) -> Callable[[], Iterator[Any]]:
    """A source that completes each epoch before the next one."""

    def source() -> Iterator[Any]:
        for epoch, values in enumerate(changes):
            yield Messages(epoch, values)
            yield Complete([epoch + 1])

    return source


def kept_by(flow: Flow[Any], sources: dict[str, Any]) -> dict[str, int]:
    """How many changes each node keeps at the end."""
    found = flow.run(sources=sources)
    return {name: node.size for name, node in found.nodes.items() if hasattr(node, "size")}


def test_what_is_kept_after_hundreds_of_epochs_is_what_the_last_one_from_scratch_keeps() -> None:
    changes, states = churn(1, 300)
    flow: Flow[int] = Flow()
    components(flow).changes().output("labels")
    after = kept_by(flow, {"roads": one_by_one(changes)})
    scratch = kept_by(flow, {"roads": [(0, (road, 1)) for road in states[-1]]})
    assert after == scratch
    assert sum(after.values()) > 100


def test_nothing_is_kept_of_what_has_gone() -> None:
    changes, states = churn(2, 40)
    changes.append([(road, -1) for road in states[-1]])
    flow: Flow[int] = Flow()
    components(flow).changes().output("labels")
    assert not any(kept_by(flow, {"roads": one_by_one(changes)}).values())


def test_an_epoch_is_as_much_work_after_hundreds_as_at_first() -> None:
    """Counted: places looked at. From scratch it would be many times as much."""
    changes, states = churn(3, 300)
    asked: list[int] = []
    flow: Flow[int] = Flow()
    components(flow, asked).changes().output("labels")
    at: list[int] = []

    def source() -> Iterator[Any]:
        for epoch, values in enumerate(changes):
            yield Messages(epoch, values)
            yield Complete([epoch + 1])
            at.append(len(asked))

    found = flow.run(sources={"roads": source})
    total: Counter[Road] = Counter()
    for _, (label, count) in found["labels"]:
        total[label] += count
    assert {label for label, count in total.items() if count} == labels_of(states[-1])
    first, last = at[60] - at[10], at[299] - at[249]
    assert last < 2 * first
    asked.clear()
    flow.run(sources={"roads": [(0, (road, 1)) for road in states[-1]]})
    assert last / 50 < len(asked) / 2


def test_it_goes_on_from_every_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "work", 0)
    changes, _ = churn(4, 8)
    flow: Flow[int] = Flow()
    components(flow).changes().output("labels")

    def source() -> Iterator[Any]:
        for epoch, values in enumerate(changes):
            for value in values:
                yield epoch, value
                yield SILENT
            if epoch % 2:
                yield Complete([epoch])

    whole: list[Any] = []
    kept: list[tuple[State, int]] = []
    keeping = Keeping(lambda state: kept.append((state, len(whole))), 0.0)
    sinks: Any = {"labels": lambda time, value: whole.append((time, value))}
    Running(flow.dataflow, {"roads": source}, sinks, RunOptions("sim", keeping=keeping)).run(None, 1)
    assert len(kept) > 100
    for number, (state, left) in enumerate(kept[::40]):
        rest: list[Any] = []
        sinks = {"labels": lambda time, value, rest=rest: rest.append((time, value))}
        keeping = Keeping(lambda state: None, 1e9, state)
        Running(flow.dataflow, {"roads": source}, sinks, RunOptions("sim", keeping=keeping)).run(None, 1)
        assert Counter(whole[:left] + rest) == Counter(whole), f"checkpoint {40 * number}"


def test_the_fourth_program_of_the_design() -> None:
    flow: Flow[int] = Flow()
    roads = flow.collection("roads")
    both = roads.flat_map(lambda r: [r, r[::-1]])
    start = roads.flat_map(lambda r: [(place, place) for place in r]).distinct()
    labels = start.iterate(
        lambda labels: (
            labels.join(both, lambda place, label, neighbour: (neighbour, label))
            .concat(start)
            .reduce(lambda place, names: [min(names)])
        )
    )
    labels.changes().output("labels")
    found = flow.run(sources={"roads": [(0, ((1, 2), 1)), (0, ((2, 3), 1)), (1, ((1, 2), -1))]})
    assert ((3, 1), -1) in [v for t, v in found["labels"] if t == 1]


def test_changes_come_as_json_has_them() -> None:
    flow: Flow[int] = Flow()
    flow.collection("roads").distinct().changes().output("out")
    assert flow.run(sources={"roads": [(0, [[1, [2, 3]], 1])]}) == {"out": [(0, ((1, (2, 3)), 1))]}


@pytest.mark.parametrize(
    ("program", "changes", "says"),
    [
        (lambda c: c.distinct(), [(0, "to")], "PS818: 'to' came in for the collection 'c'"),
        (lambda c: c.distinct(), [(0, ("to", 1.5))], "PS818: ('to', 1.5) came in for the collection 'c'"),
        (lambda c: c.reduce(lambda k, v: v), [(0, ("to", 1))], "PS818: 'c.reduce' needs pairs of a key and a value"),
        (lambda c: c.count(), [(0, ("to", -1))], "PS819: 'to' is there -1 times where 'c.count' looks at it"),
        (lambda c: c.iterate(lambda x: x.map(lambda n: n + 1), most=30), [(0, (1, 1))], "PS817: 'c.iterate' still"),
    ],
)
def test_what_collections_cannot_go_on_with_is_said_in_a_line(program: Any, changes: list[Any], says: str) -> None:
    flow: Flow[int] = Flow()
    program(flow.collection("c")).changes().output("out")
    with pytest.raises(NodeFailed) as found:
        flow.run(sources={"c": changes})
    assert str(found.value).startswith(says)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("write", "code"),
    [
        (lambda c: c.join(3, max), "PS814"),
        (lambda c: c.concat(c, 3), "PS814"),
        (lambda c: c.map(3), "PS814"),
        (lambda c: c.iterate(lambda x: None), "PS814"),
        (lambda c: c.iterate(lambda x: x), "PS816"),
        (lambda c: c.iterate(lambda x: c.map(abs)), "PS816"),
        (lambda c: c.iterate(lambda x: x.map(abs), most=0), "PS814"),
    ],
)
def test_what_cannot_be_written_is_refused_where_it_is(write: Any, code: str) -> None:
    with pytest.raises(PointstampError) as found:
        write(Flow().collection("c"))
    assert found.value.code == code
    assert "test_collections_kept.py:" in str(found.value)


def test_rounds_stand_beside_epochs_so_these_are_not_lexicographic() -> None:
    collection = Flow(time={"lex": ["nat", "nat"]}).collection("c")
    with pytest.raises(PointstampError, match=r"PS815: .*'c\.iterate' goes round beside its epochs") as found:
        collection.iterate(lambda x: x.distinct())
    assert "test_collections_kept.py:" in str(found.value)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_new_meets_every_bound_of_what_was_there(depth: int) -> None:
    """A sum has to be seen anew at each least upper bound of the new time and some of the others, of any many."""
    chance = Random(depth)
    least = 0
    for _ in range(300):
        history = History(Moments(Nat(), depth))
        epochs = range(chance.randint(1, 3))
        within = [epoch for epoch in epochs for _ in range(chance.randint(0, 3))]
        times = [(epoch, *(chance.randrange(4) for _ in range(depth))) for epoch in within]
        for time in times:
            history.add("key", time, "value", 1)
        for epoch in epochs[:-1]:
            history.settle(epoch)
        new = (epochs[-1], *(chance.randrange(4) for _ in range(depth)))
        groups = [(new, *some) for count in range(len(times) + 1) for some in combinations(times, count)]
        expected = {tuple(map(max, zip(*group, strict=True))) for group in groups}
        assert {*history.meetings("key", new)} == expected
        least += len(expected) > 1 + len({tuple(map(max, new, each)) for each in times})
    assert (least > 0) == (depth > 1)  # some are bounds of three, and of no two


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_a_loop_may_have_as_many_rounds_as_it_needs_and_no_fewer(engine: str) -> None:
    def program(most: int) -> Flow[int]:
        flow: Flow[int] = Flow()
        numbers = flow.collection("numbers")
        down = numbers.iterate(lambda all: all.map(lambda n: max(0, n - 1)), most=most)
        down.changes().output("out")
        return flow

    given = {"numbers": [(0, (3, 1))]}
    enough = next(most for most in range(1, 10) if _ends(program(most), given, engine))
    assert enough == 4  # three change something, and the fourth shows that nothing does any more, as in a stream's
    streams: Flow[int] = Flow()
    streams.input("numbers").iterate(lambda all: all.map(lambda n: max(0, n - 1)), most=enough).output("out")
    assert streams.run(engine=engine, sources={"numbers": [(0, 3)]}) == {"out": [(0, 0)]}
    assert program(enough).run(engine=engine, sources=given) == {"out": [(0, (0, 1))]}


def _ends(flow: Flow[int], given: Any, engine: str) -> bool:
    try:
        flow.run(engine=engine, sources=given)
    except NodeFailed as failure:
        if "PS817" not in str(failure):
            raise
        return False
    return True
