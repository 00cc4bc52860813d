"""A `State` that is larger than memory is a dict, and so is what is read of its store after each checkpoint."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from graphs import from_edges
from progress.errors import PointstampError
from progress.runtime import Dataflow, Node, State
from progress.runtime.durable.codec import Codec
from progress.runtime.durable.mappings.states import States
from progress.runtime.durable.store import Store
from progress.runtime.durable.stored import read
from tests.runtime.mappings import Alike

GRAPH = from_edges([(None, "node"), ("node", None)])
NETWORK = GRAPH.network()
KEYS: list[Any] = [*range(8), "a", "b", b"c", None, (1, "a"), (1, ("a", "a"))]


class Twin(Alike):
    """A `State` of a store, and a dict."""

    def __init__(self, folder: Path, seed: int, *, with_pickle: bool) -> None:
        super().__init__(seed, KEYS, State(in_memory=4))
        self.folder = folder
        self.with_pickle = with_pickle
        self.store = Store(folder, None)
        self.at_border: dict[Any, Any] = {}
        self.open()
        self.states.found_in("node", {"state": self.state}, self.is_idle)

    def open(self) -> None:
        """Whoever keeps it."""
        self.states = States(self.store)
        self.states.codec = Codec(NETWORK, with_pickle=self.with_pickle, states=self.states.within)

    def is_idle(self) -> bool:
        """No call is being made here."""
        return True

    def checkpoint(self) -> None:
        """One in slices, between which the mapping is used; it is of its border."""
        self.store.begin()
        self.states.border()
        self.at_border = copy.deepcopy(self.plain)
        while self.states.write():
            self.use()
        assert self.states.is_written
        grown = self.store.commit({}, {}, *self.states.strands())
        for _ in range(self.rng.randrange(3)):
            self.use()
        self.states.committed(self.store.strands, grown)
        while self.rng.random() < 0.7 and self.states.tidy():
            self.use()

    def read_again(self) -> None:
        """As after a kill: what is there is that of the last border."""
        self.store.close()
        rows: dict[bytes, bytes] = {}
        commit = read(self.folder, each_row=lambda name, key, value: rows.update({key: value}))
        self.store = Store(self.folder, commit)
        self.open()
        self.state = self.states.named(('["node", "state"]', 4))
        self.states.found_in("node", {"state": self.state}, self.is_idle)
        assert list(self.state.items()) == list(self.at_border.items())
        assert len(self.state) == len(self.at_border)
        self.plain = copy.deepcopy(self.at_border)


@pytest.mark.parametrize("with_pickle", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_a_dict_and_what_is_kept_is_that_of_the_border(tmp_path: Path, seed: int, with_pickle: bool) -> None:
    twin = Twin(tmp_path, seed, with_pickle=with_pickle)
    were_rows = 0
    for _ in range(40):
        for _ in range(twin.rng.randrange(12)):
            twin.use()
        twin.checkpoint()
        were_rows += twin.store.sums['["node", "state"]'].size > 4
        if twin.rng.random() < 0.3:
            twin.read_again()
    assert were_rows > 3
    twin.store.close()


def test_a_key_that_was_put_there_again_stands_behind_what_was_put_there_before(tmp_path: Path) -> None:
    """What is read of changes has their order: what was deleted in one of them has no place in it."""
    twin = Twin(tmp_path, 0, with_pickle=False)
    for mapping in (twin.state, twin.plain):
        mapping.update(dict.fromkeys(range(4), 0))
    for changed in (4, 2):
        twin.store.begin()
        twin.states.border()
        assert len(twin.state._below[0].values) == changed
        while twin.states.write():
            pass
        grown = twin.store.commit({}, {}, *twin.states.strands())
        twin.states.committed(twin.store.strands, grown)
        while twin.states.tidy():
            pass
        twin.at_border = copy.deepcopy(twin.plain)
        for mapping in (twin.state, twin.plain):
            mapping.pop(1)
            mapping["a"] = 0
            mapping[1] = 0
    twin.read_again()
    assert list(twin.state) == [0, 2, 3, "a", 1]
    twin.store.close()


@pytest.mark.parametrize("way", [iter, reversed])
def test_a_commit_while_it_is_iterated_over(tmp_path: Path, way: Any) -> None:
    """Another thread commits, so it may do so within a call: rows of which keys were listed are gone then."""
    twin = Twin(tmp_path, 0, with_pickle=False)
    state = twin.state = State({key: [key] for key in range(20)}, in_memory=4)
    twin.states.found_in("node", {"state": state}, twin.is_idle)
    for _ in range(2):
        twin.store.begin()
        twin.states.border()
        while twin.states.write():
            pass
        expected = list(way(dict(state)))
        keys = way(state)
        found = [next(keys), next(keys)]
        grown = twin.store.commit({}, {}, *twin.states.strands())
        assert [*found, *keys] == expected
        twin.states.committed(twin.store.strands, grown)
        while twin.states.tidy():
            pass
        for key in (3, 7, 12, 15):
            state.pop(key, None)
        state[7], state[12] = [0], [0]
    assert state._below[-1].values.sum.size == 18
    twin.store.close()


def test_what_is_in_memory_is_bounded_and_a_row_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    """Of 2,000 lists 100 are in memory; of those that nobody asks for none is read."""
    twin = Twin(tmp_path, 0, with_pickle=False)
    state = twin.state = State(in_memory=100)
    twin.states.found_in("node", {"state": state}, twin.is_idle)
    for number in range(2_000):
        state[number] = [number]
        if number % 50 == 49:
            twin.plain = {}
            twin.store.begin()
            twin.states.border()
            while twin.states.write():
                pass
            grown = twin.store.commit({}, {}, *twin.states.strands())
            twin.states.committed(twin.store.strands, grown)
            while twin.states.tidy():
                pass
            assert sum(len(layer.values) for layer in (state._top, *state._below[:-1])) <= 100
    rows = state._below[-1].values
    assert len(state) == 2_000
    assert rows.sum.size >= 1_900
    assert len(rows._known) <= 100
    asked: list[str] = []
    rows._reader.set_trace_callback(asked.append)
    assert state[77] == [77]
    assert len(asked) == 1
    state[77].append(1)
    assert len(asked) == 1
    twin.store.close()


@pytest.mark.parametrize("key", [1.5, 1.0, True, frozenset(), (1, 2.0)])
def test_keys_of_which_equal_ones_may_be_other_bytes_are_refused(tmp_path: Path, key: Any) -> None:
    twin = Twin(tmp_path, 0, with_pickle=False)
    with pytest.raises(
        PointstampError,
        match=r"the state of 'node', its attribute 'state', is a State with in_memory=, and has the key ",
    ):
        twin.state[key] = 1
    twin.store.close()


def test_all_of_it_is_written_anew_at_twice_what_is_of_use_also_by_runs_that_go_on(tmp_path: Path) -> None:
    """What was written once is not written again at once; and each start knows what the one before has left."""
    twin = Twin(tmp_path, 0, with_pickle=False)
    name = '["node", "state"]'
    state: State[int, str] = State((number, "x" * 1_000) for number in range(1_000))  # 1 MB
    twin.states.found_in("node", {"state": state}, twin.is_idle)
    sizes: list[int] = []
    numbers = set()
    for checkpoint in range(60):
        twin.store.begin()
        twin.states.border()
        while twin.states.write():
            pass
        grown = twin.store.commit({}, {}, *twin.states.strands())
        twin.states.committed(twin.store.strands, grown)
        while twin.states.tidy():
            pass
        numbers.add(twin.store.strands[name][0].number)
        if checkpoint == 1:
            assert len(numbers) == 1
        commit = read(tmp_path, is_used=True)
        assert commit is not None
        sizes.append(commit.sizes[name])
        if checkpoint % 5 == 4:  # a start for each half of what there is
            twin.store.close()
            twin.store = Store(tmp_path, commit)
            twin.open()
            state = twin.states.named((name, None))
            twin.states.found_in("node", {"state": state}, twin.is_idle)
        for number in range(100):
            state[(number + 100 * checkpoint) % 1_000] = "y" * 1_000
    assert 1_000_000 < max(sizes) < 3_500_000
    assert len(numbers) > 1
    assert len(state) == 1_000
    twin.store.close()


class Large(Node):
    """Keeps more than it has in memory."""

    def __init__(self) -> None:
        self.seen: State[int, int] = State(in_memory=2)

    def on_message(self, edge: str, time: Any, value: int, out: Any) -> None:
        self.seen[value] = time


def test_what_is_in_rows_is_not_read_when_the_run_is_over(tmp_path: Path) -> None:
    flow = Dataflow(GRAPH, {"node": Large})
    items = [(0, value) for value in range(300)]
    found = flow.run(sources={"in->node": items}, state=tmp_path / "state", every=0).nodes["node"].seen
    assert len(found) == len(items)
    for look in (list, dict):
        with pytest.raises(PointstampError) as caught:
            look(found)
        assert str(caught.value).startswith(
            "PS715: the state of 'node', its attribute 'seen', is a State with in_memory=, and its run is over ("
        )


class Twice(Node):
    """Has one State by two names."""

    def __init__(self) -> None:
        self.one: State[int, int] = State()
        self.other = self.one


def test_a_state_in_two_places_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        PointstampError, match="PS735: the state of 'node' cannot be kept: a State stands in two places"
    ):
        Dataflow(GRAPH, {"node": Twice}).run(state=tmp_path / "state")


@pytest.mark.parametrize("code", ["PS738", "PS740"])
def test_a_store_that_fails_while_a_part_is_written_is_not_a_part_that_cannot_be_kept(code: str) -> None:
    def part() -> Any:
        raise PointstampError(code, "of the store", "of the store")

    with pytest.raises(PointstampError) as caught:
        Codec(from_edges([(None, "m")]).network()).write("the state of 'm'", part)
    assert (caught.value.code, caught.value.message) == (code, "of the store")
