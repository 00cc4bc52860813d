"""Each `State` of a kept run: by its name, written in slices, kept as strands of the store, read again from there.

A checkpoint is that of its border: there each `State` that has changed sets aside what has (`layers.py`). Then it is
written between actions, a slice at a time, so that no slice takes long; only while no call of its node is being made,
since a call may be changing what would be written. When what is kept has grown to twice what there is, all of it is
written anew, as slowly, and takes the place of what was kept. Of one that is larger than memory what has changed is put
into rows then (`rows.py`), in one checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from progress.errors import brief
from progress.runtime.durable.codec import Codec
from progress.runtime.durable.encoding.form import NotPlain, NotRead
from progress.runtime.durable.encoding.writing import Sets
from progress.runtime.durable.mappings.layers import Change, Layers, apply
from progress.runtime.durable.mappings.rows import Rows, Sum
from progress.runtime.durable.mappings.strands import Strand
from progress.runtime.durable.store import Store
from progress.runtime.state import State

SLICE, MOMENT = 20_000, 0.0002  # bytes that a slice is to have at the most, and seconds that it is to take
MOST, LEAST = 1_000, 8  # keys of a slice
FIRST = 32  # keys of the first slices of a checkpoint: what was assigned first is often what is largest
SMALL = 1 << 18  # bytes that are not worth writing anew
ANEW = 2  # slices of what is written anew, for each slice of what has changed
ROWS = 16  # rows that are changed at once
TIDY = 200  # keys that are moved or let go at once


class Kept:
    """One `State`.

    Parameters
    ----------
    what : it is, for a complaint
    layers : of it
    is_idle : whether no call of its node is being made
    strands : of what is kept of it
    size : the bytes of these
    live : about how many of them are of use; 0 where nothing is kept yet
    """

    def __init__(
        self,
        what: str,
        layers: Layers,
        is_idle: Callable[[], bool],
        strands: list[Strand],
        size: int = 0,
        live: int = 0,
    ) -> None:
        self.what = what
        self.layers = layers
        self.is_idle = is_idle
        self.strands = strands  # all that is kept, in the order in which it is taken in
        self.anew: Strand | None = None  # what is written anew, and is not whole yet
        self.is_putting = False  # whether what has changed is being put into rows: the checkpoint waits for that
        self.is_whole = False  # whether the next commit has all of it anew, or in rows
        self.size, self.live = size, live  # bytes in all, and when all of it was written last
        self.anew_size = self.since = 0  # bytes of what is written anew, and of what has changed meanwhile
        self._most = FIRST  # keys that the next slice may have

    @property
    def rows(self) -> Rows | None:
        """Where it is, if it is larger than memory."""
        return self.layers.rows

    @property
    def is_to_be_written_anew(self) -> bool:
        """Whether more than half of what is kept is of no use any more."""
        has_grown = self.size > 2 * self.live + SMALL
        return has_grown and self.anew is None and self.rows is None and not self.layers.is_merging

    @property
    def is_written(self) -> bool:
        """Whether a checkpoint has all that it needs of it."""
        return self.layers.is_written and not self.is_putting

    def slice(self, codec: Codec, take: Callable[[int], Change]) -> bytes:
        """The next change, as bytes; none where there is no more. Cost: about that of writing `SLICE` bytes."""
        begin = perf_counter()
        change = take(self._most)
        if not (change.gone or change.items):
            return b""
        sets: Sets = []
        content = codec.write(self.what, lambda: (change.gone, change.items), sets)
        if sets and take == self.layers.written:  # from now on these are as whoever reads them has them
            self.layers.put_back(Change(*codec.read(self.what, content)))
        keys = len(change.gone) + len(change.items) // 2
        room = min(SLICE / len(content), MOMENT / (perf_counter() - begin))
        self._most = min(2 * self._most, MOST, max(LEAST, int(keys * room)))
        return content

    def put(self) -> bool:
        """Put some of what has changed into rows, where it is to be; whether there was something to do."""
        if self.is_whole or not self.layers.is_to_be_put:
            return False
        self.is_putting = self.layers.put(ROWS)
        self.is_whole = not self.is_putting
        return True

    def committed(self, strands: list[Strand], grown: Mapping[int, Strand]) -> None:
        """The checkpoint is there; these are the strands that it has."""
        self.strands = strands
        self._most = min(self._most, FIRST)
        if self.is_whole and self.rows is not None:
            self.layers.end_put()
        elif self.is_whole:
            self.live, self.size = self.anew_size, self.anew_size + self.since
            self.layers.end_anew()
        self.live = self.live or self.size
        if self.is_whole:
            self.anew, self.is_whole = None, False
        elif self.anew is not None:
            self.anew = grown[self.anew.number]


class States:
    """All of one run.

    Parameters
    ----------
    store : where they are kept

    Whoever makes it sets `codec`, of keys and values, which asks `within` for names.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.codec: Codec
        self.within = Within(self)
        self._kept: dict[str, Kept] = {}
        self._names: dict[int, str] = {}  # by identity
        self._begun: set[str] = set()  # names of those that are being read
        self._spare = 0  # slices of what is written anew that the checkpoint may still have

    # --- names -------------------------------------------------------------------------------------------------------

    def found_in(self, node: str, snapshot: Any, is_idle: Callable[[], bool]) -> bool:
        """Keep the states that a node has from now on, each an attribute; whether there are any."""
        parts = [each for each in (snapshot if type(snapshot) is tuple else (snapshot,)) if type(each) is dict]
        mine = {
            json.dumps([node, str(key)]): part
            for attributes in (*parts, {"": snapshot})
            for key, part in attributes.items()
            if type(part) is State
        }
        for name in [name for name in self._kept if node_of(name) == node and name not in mine]:
            self._forget(name)
        for name, state in mine.items():
            if name in self._kept and self._kept[name].layers.state is state:
                self._kept[name].is_idle = is_idle
                continue
            if name in self._kept:
                self._forget(name)
            if id(state) in self._names:
                raise NotPlain("a State stands in two places")
            layers = Layers(state, partial(self._copied, _what(name)), rows=self._rows(name, state.in_memory, None))
            self._keep(name, Kept(_what(name), layers, is_idle, [self._store.new_strand()]))
        return bool(mine)

    def nodes(self) -> set[str]:
        """The nodes that have one of them."""
        return {node_of(name) for name in self._kept}

    def name_of(self, state: State[Any, Any]) -> Any:
        """What stands for it in what is kept of its node."""
        if id(state) not in self._names:
            raise NotPlain("a State is not an attribute of its node by itself")
        return self._names[id(state)], state.in_memory

    def named(self, made_of: Any) -> State[Any, Any]:
        """The one for which this stands, with all that is kept of it. Cost: that of reading it, but for rows."""
        name, in_memory = made_of
        if name in self._kept:
            return self._kept[name].layers.state
        if name not in self._store.strands:
            raise NotRead("there is no State of this name")
        if name in self._begun:
            raise NotRead("a State holds itself")
        self._begun.add(name)
        try:
            return self._read(name, in_memory)
        finally:
            self._begun.discard(name)

    def _read(self, name: str, in_memory: int | None) -> State[Any, Any]:
        copied = partial(self._copied, _what(name))
        state: State[Any, Any] = State(in_memory=in_memory)
        rows = self._rows(name, in_memory, self._store.sums.get(name))
        values: dict[Any, Any] = {}
        layers = None if rows is None else Layers(state, copied, rows=rows)
        take_in = partial(apply, values=values) if layers is None else layers.take_in
        size = keys = 0
        for content in self._store.changes(name):
            change = self.codec.read(_what(name), content)
            if type(change) is not tuple or len(change) != 2 or type(change[0]) is not list:
                raise NotRead("a change is none")
            take_in(Change(*change))
            size += len(content)
            keys += len(change[0]) + len(change[1]) // 2
        live = size * len(values) // max(keys, 1)
        layers = layers or Layers(state, copied, values)
        self._keep(name, Kept(_what(name), layers, lambda: True, [*self._store.strands[name]], size, live))
        return state

    def _rows(self, name: str, in_memory: int | None, there: Sum | None) -> Rows | None:
        return None if in_memory is None else self._store.rows(_what(name), self.codec, in_memory, there)

    def _keep(self, name: str, kept: Kept) -> None:
        self._kept[name] = kept
        self._names[id(kept.layers.state)] = name

    def _forget(self, name: str) -> None:
        del self._names[id(self._kept.pop(name).layers.state)]

    def _copied(self, what: str, value: Any) -> Any:
        """A value of one of them as whoever reads what is written will have it."""
        return self.codec.read(what, self.codec.write(what, lambda: value))

    def read_back(self, node: str) -> None:
        """Let a node go on with what would be read of its states' changes."""
        for name, kept in self._kept.items():
            if node_of(name) == node:
                kept.layers.replace(partial(self._copied, kept.what))

    # --- a checkpoint ------------------------------------------------------------------------------------------------

    def border(self) -> set[str]:
        """A checkpoint has what all of them are now; the nodes of those that have changed. Cost: O(their number).

        Writing one anew begins here and not later: from here on a copy is handed out in place of a value that is still
        to be written, which the node may change.
        """
        self._spare = ANEW
        for kept in self._kept.values():
            if kept.is_to_be_written_anew:
                kept.anew, kept.anew_size, kept.since = self._store.new_strand(), 0, 0
                kept.strands = [*kept.strands, self._store.new_strand()]
                kept.layers.begin_anew()
        changed = {name: kept for name, kept in self._kept.items() if kept.layers.has_changed}
        for kept in changed.values():
            kept.layers.border()
        return {node_of(name) for name in changed}

    def write(self) -> bool:
        """Write a slice of one of them; whether there was one. False where all is written, or calls are waited for."""
        for kept in self._idle():
            layers = kept.layers
            if layers.is_merging:
                layers.tidy(TIDY)
                return True
            if not layers.is_written:
                content = kept.slice(self.codec, layers.written)
                if content:
                    self._store.add(kept.strands[-1], content)
                    kept.size += len(content)
                    kept.since += len(content)
                    self._spare += ANEW
                return True
            if kept.put():
                return True
        return self._spare > 0 and self._write_anew()

    def _write_anew(self) -> bool:
        """The same of what is written anew, after all that had changed."""
        for kept in self._idle():
            if kept.anew is not None and not kept.is_whole:
                self._spare -= 1
                content = kept.slice(self.codec, kept.layers.written_anew)
                if content:
                    self._store.add(kept.anew, content)
                    kept.anew_size += len(content)
                else:
                    kept.is_whole = True
                return True
        return False

    def _idle(self) -> Iterator[Kept]:
        return (kept for kept in self._kept.values() if kept.is_idle())

    @property
    def is_written(self) -> bool:
        """Whether all is written that the checkpoint needs."""
        return all(kept.is_written for kept in self._kept.values())

    def strands(self) -> tuple[dict[str, list[Strand]], dict[str, Sum], list[Strand]]:
        """The strands of the checkpoint and what stands for rows, by name; and strands that are not whole yet."""
        growing = [kept.anew for kept in self._kept.values() if kept.anew is not None and not kept.is_whole]
        sums = {name: kept.rows.next for name, kept in self._kept.items() if kept.rows is not None}
        return {name: self._of_use(kept) for name, kept in self._kept.items()}, sums, growing

    def _of_use(self, kept: Kept) -> list[Strand]:
        if not kept.is_whole:
            return kept.strands
        if kept.anew is None:  # all of it is in rows
            return [self._store.new_strand()]
        return [kept.anew, kept.strands[-1]]

    def committed(self, strands: Mapping[str, list[Strand]], growing: Iterable[Strand]) -> None:
        """The checkpoint is there, with these strands as they are now."""
        grown = {strand.number: strand for strand in growing}
        for name, kept in self._kept.items():
            kept.committed(strands[name], grown)

    def tidy(self) -> bool:
        """Do a little of what is left to do; whether there was something. Cost: O(1)."""
        for kept in self._idle():
            if not kept.layers.is_tidy:
                kept.layers.tidy(TIDY)
                return True
        return False


class Within:
    """What stands for a `State` that is among the values of one: nothing, since who reads one would have to read the
    other first, which may be the same.

    Parameters
    ----------
    states : of the run; what was written with one in another is read
    """

    def __init__(self, states: States) -> None:
        self._states = states

    def name_of(self, state: State[Any, Any]) -> Any:
        """It has none."""
        raise NotPlain("a State stands in a State, and is to be an attribute of its node by itself")

    def named(self, made_of: Any) -> State[Any, Any]:
        """The one for which this stands."""
        return self._states.named(made_of)


def node_of(name: str) -> str:
    """The node that has the `State` of a name."""
    return str(json.loads(name)[0])


def _what(name: str) -> str:
    node, key = json.loads(name)
    return f"the state of {brief(node)}" + (f", its attribute {brief(key)}," if key else "")
