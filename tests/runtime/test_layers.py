"""A `State` is a dict, whatever is written of it meanwhile; and what is written of it is that dict at each border."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from graphs import from_edges
from progress.errors import PointstampError
from progress.runtime import SILENT, Dataflow, Node, NodeFailed, State
from progress.runtime.durable.mappings import states
from progress.runtime.durable.mappings.layers import Change, Layers, apply
from tests.runtime.mappings import Alike

KEYS = 12


class Twin(Alike):
    """A `State` and a dict, and what was written of the one."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, range(KEYS), State())
        self.layers = Layers(self.state, copy.deepcopy)
        self.at_border: dict[int, Any] = {}
        self.changes: list[Change] = []  # all since the beginning, or since all was written anew
        self.anew: list[Change] = []  # what is written anew
        self.since: list[Change] = []  # the changes of borders since that has begun
        self.is_anew = False
        self.borders = self.begun_anew = self.ended_anew = 0

    def keep(self) -> None:
        """One thing that may happen between two calls."""
        layers, most = self.layers, self.rng.randrange(1, 4)
        if not layers.is_written:
            if layers.is_merging:
                layers.tidy(most)
                return
            change = copy.deepcopy(layers.written(most))
            for changes in (self.changes, self.since):
                changes.append(change)
            if layers.is_written:
                self.check()
        elif self.is_anew and self.rng.random() < 0.7:
            change = copy.deepcopy(layers.written_anew(most))
            self.anew.append(change)
            if not change.items:
                self.changes = [*self.anew, *self.since]
                self.ended_anew += 1
                self.is_anew = False
                layers.end_anew()
                self.check()
        elif self.rng.random() < 0.5:
            if self.rng.random() < 0.3 and not (self.is_anew or layers.is_merging):
                self.anew, self.since, self.is_anew = [], [], True
                self.begun_anew += 1
                layers.begin_anew()
            self.at_border = copy.deepcopy(self.plain)
            self.borders += 1
            layers.border()
        else:
            layers.tidy(most)

    def check(self) -> None:
        """What was written up to the last border is what the dict was there."""
        found: dict[int, Any] = {}
        for change in self.changes:
            apply(change, found)
        assert list(found.items()) == list(self.at_border.items())


@pytest.mark.parametrize("seed", range(60))
def test_a_state_is_a_dict_and_what_is_written_is_that_of_the_border(seed: int) -> None:
    twin = Twin(seed)
    for _ in range(1_500):
        twin.use()
        if twin.rng.random() < 0.6:
            twin.keep()
    assert min(twin.borders, twin.begun_anew, twin.ended_anew) > 5


def test_going_on_from_what_was_written() -> None:
    for seed in range(30):
        twin = Twin(seed)
        for _ in range(200):
            twin.use()
        for _ in range(5):
            twin.layers.border()
            while not twin.layers.is_written:
                twin.changes.append(twin.layers.written(3))
            found: dict[int, Any] = {}
            for change in twin.changes:
                apply(copy.deepcopy(change), found)
            twin.state, twin.changes = State(), [Change([], [part for item in found.items() for part in item])]
            twin.layers = Layers(twin.state, copy.deepcopy, found)
            for _ in range(100):
                twin.use()


def test_a_state_that_nobody_keeps() -> None:
    state: State[str, int] = State({"a": 1})
    state["b"] = 2
    with pytest.raises(KeyError):
        state["c"]
    with pytest.raises(KeyError):
        del state["c"]
    with pytest.raises(KeyError):
        State().popitem()
    keys = iter(state)
    del state[next(keys)]
    with pytest.raises(RuntimeError, match=r"changed (its )?size"):
        next(keys)
    assert repr(state) == "State({'b': 2})"
    other = state.copy()
    other["b"] = 3
    assert (state["b"], type(other), State(in_memory=7).copy().in_memory) == (2, State, 7)
    itself: State[str, Any] = State({"a": 0})
    itself["self"] = itself
    assert repr(itself) == "State({'a': 0, 'self': State(...)})"
    again = copy.deepcopy(state)
    again["z"] = 3
    assert dict(state) == {"b": 2}
    assert dict(again) == {"b": 2, "z": 3}


def test_reading_what_cannot_be_changed_is_no_change() -> None:
    state: State[int, Any] = State({1: "text", 2: (1, (2, "x")), 3: [1], 4: (1, [2])})
    layers = Layers(state, copy.deepcopy)
    layers.border()
    while not layers.is_written:
        layers.written(10)
    assert (state[1], state.get(2)) == ("text", (1, (2, "x")))
    assert not layers.has_changed
    assert state[3] == [1]
    assert state[4] == (1, [2])
    layers.border()
    assert layers.written(10).items == [3, [1], 4, (1, [2])]


def test_a_border_costs_the_same_however_much_there_is() -> None:
    """A slice looks at its own keys alone: 100,000 keys, of which each slice walks over three."""
    seen = []

    class Key(int):
        def __hash__(self) -> int:
            seen.append(1)
            return int.__hash__(self)

        def __eq__(self, other: object) -> bool:
            return int.__eq__(self, other)

    state: State[Key, int] = State({Key(number): number for number in range(100_000)})
    layers = Layers(state, copy.deepcopy)
    seen.clear()
    layers.border()
    assert not seen
    for _ in range(100):
        assert len(layers.written(3).items) == 6
    assert len(seen) < 100 * 3 * 12


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_no_call_copies_a_state_of_a_run_that_is_kept(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was before a call is known without: one of a gigabyte would hold up the first call for a quarter minute."""

    copies: list[Any] = []
    fails = tmp_path / "fails"

    class Counts(Node):
        def __init__(self) -> None:
            self.counts: State[int, int] = State((number, 0) for number in range(100))

        def on_message(self, edge: str, time: Any, value: int, out: Any) -> None:
            self.counts[value] = self.counts.get(value, 0) + 1
            if value == 10 and fails.exists():
                raise ValueError

    def copied(state: Any) -> Any:
        copies.append(state)
        return reduce(state)

    reduce = State.__reduce__
    monkeypatch.setattr(State, "__reduce__", copied)
    flow = Dataflow(from_edges([(None, "count")]), {"count": Counts})
    run = partial(flow.run, engine=engine, sources={"in->count": [(0, number) for number in range(20)]})
    fails.touch()
    with pytest.raises(NodeFailed, match="ValueError"):
        run(state=tmp_path / "state", every=0)
    fails.unlink()
    assert sum(run(state=tmp_path / "state", every=0).nodes["count"].counts.values()) == 20
    assert copies == []


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_what_is_changed_in_place_after_a_border_is_not_in_the_checkpoint_that_has_all_of_it_anew(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done again would change it once more. Here a run fails as soon as there is such a checkpoint."""
    lives = 4
    fails: list[int] = []
    given = 0

    class Sums(Node):
        def __init__(self) -> None:
            self.sums: State[int, list[int]] = State((number, [0, 0]) for number in range(KEYS))

        def on_message(self, edge: str, time: Any, value: int, out: Any) -> None:
            sleep(0.0003)
            if fails:
                fails.clear()
                raise ValueError
            kept = self.sums[value % KEYS]
            kept[0] += 1
            kept[1] += value

    def source() -> Any:
        nonlocal given
        for number in range(100_000):  # until all lives are lived, at the longest
            if not lives and number >= given:
                return
            given = max(given, number + 1)
            yield number, number
            if engine != "threads":  # where a source has a thread of its own
                yield SILENT

    def committed(kept: Any, *there: Any) -> None:
        nonlocal lives
        if kept.is_whole and lives:
            fails.append(1)
            lives -= 1
        as_it_is(kept, *there)

    as_it_is = states.Kept.committed
    monkeypatch.setattr(states.Kept, "committed", committed)
    monkeypatch.setattr(states, "SMALL", 0)
    flow = Dataflow(from_edges([(None, "sums")]), {"sums": Sums}, sources={"in->sums": source})
    found = None
    while found is None:
        with suppress(NodeFailed):
            found = flow.run(engine=engine, state=tmp_path / "state", every=0).nodes["sums"].sums
    parts = {key: range(key, given, KEYS) for key in range(KEYS)}
    assert dict(found) == {key: [len(numbers), sum(numbers)] for key, numbers in parts.items()}
    assert not lives


INSIDE: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda one, other: {"self": one},
    "deep in itself": lambda one, other: {"a": [1, (2, {"b": one})]},
    "another": lambda one, other: {"other": [other]},
    "each other": lambda one, other: other.update(one=one) or {"other": other},
}


@pytest.mark.parametrize("with_pickle", [False, True])
@pytest.mark.parametrize("in_memory", [None, 5])
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@pytest.mark.parametrize("inside", INSIDE)
def test_a_state_that_stands_in_a_state_is_refused_when_it_is_kept(
    tmp_path: Path, inside: str, engine: str, in_memory: int | None, with_pickle: bool
) -> None:
    """In one line, and not when it is to be read: the checkpoint before is whole, and the run goes on from it."""
    wrong = tmp_path / "wrong"
    wrong.touch()

    class Keeps(Node):
        def __init__(self) -> None:
            self.x: State[Any, Any] = State(in_memory=in_memory)
            self.y: State[Any, Any] = State({"a": [1]}, in_memory=in_memory)

        def on_message(self, edge: str, time: Any, value: int, out: Any) -> None:
            self.x[value] = [value]
            self.y["a"].append(value)
            if value == 50 and wrong.exists():
                self.x.update(INSIDE[inside](self.x, self.y))
            for key in self.x:  # what is read while it is written is copied
                self.x[key]

    flow = Dataflow(from_edges([(None, "keeps")]), {"keeps": Keeps}, sources={"in->keeps": [(0, n) for n in range(90)]})
    run = partial(flow.run, engine=engine, state=tmp_path / "state", every=0, with_pickle=with_pickle)
    with pytest.raises(PointstampError) as caught:
        run()
    said = str(caught.value)
    attribute = "[xy]" if inside == "each other" else "x"
    says = rf"PS735: the state of 'keeps', its attribute '{attribute}', cannot be kept: a State stands in a State"
    assert re.search(says, said), said
    assert "\n" not in said
    wrong.unlink()
    node = run().nodes["keeps"]
    assert (len(node.y["a"]), node.y["a"][-1]) == (91, 89)
