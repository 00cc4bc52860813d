"""How a `State` is written while it is used: what has changed is set aside, written in slices, and put below.

    top      what has changed since the last border                      the node writes here
    aside    what had changed at the border, and is being written        goes into the layer below, key by key
    since    what was written since all of it began to be written anew   there while that goes on
    base     all else

A *border* is the instant of a checkpoint: `top` is set aside and an empty layer laid on top, O(1). `written` gives the
next few keys of what was set aside, as a *change*, and puts them below. From time to time all is written anew, from a
border on, so that what is kept does not grow for ever (`begin_anew`): `base` is then left as it is, and what is set
aside goes to `since`, which `base` takes in when all of it was written.

Whatever happens, the mapping is what a dict would be, its order included: a dict that takes in all changes, one after
the other (`apply`), is the mapping at the border.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from operator import is_
from typing import Any, NamedTuple

from progress.runtime.durable.copies import is_plain
from progress.runtime.durable.encoding.form import SIMPLE, check_key
from progress.runtime.durable.encoding.kinds import pairs
from progress.runtime.durable.mappings.rows import Rows
from progress.runtime.state import ABSENT, BELOW, GONE, Layer, State, has


class Change(NamedTuple):
    """Keys that are no longer where they were, then all keys with a new value, and their values, by turns."""

    gone: list[Any]
    items: list[Any]


def apply(change: Change, values: dict[Any, Any]) -> None:
    """Let a dict take in a change, in which nothing takes too long to hash (`NotRead`)."""
    for key in change.gone:
        if type(key) not in SIMPLE:
            check_key(key)
        values.pop(key, None)
    values.update(pairs(change.items))


class Layers:
    """The layers of one `State` of a run that is kept.

    Parameters
    ----------
    state : which nobody else keeps
    copied : makes a copy of a value, as whoever reads what is written will have it
    base : what was read of it; None: nothing is written of it yet, and all of it is a change
    rows : the base, of one that is larger than memory: then what has changed stays in `since` until it is put there
    """

    def __init__(
        self,
        state: State[Any, Any],
        copied: Callable[[Any], Any],
        base: dict[Any, Any] | None = None,
        rows: Rows | None = None,
    ) -> None:
        self.state = state
        self.rows = rows
        self._copied = copied
        self._base = Layer(base if rows is None else rows)
        self._putting: Iterator[Any] | None = None  # keys of `_since` that are not put into rows
        self._is_put = False  # whether the checkpoint is there in which all of `_since` was put into rows
        self._since: Layer | None = None  # what has changed since all of it began to be written anew
        self._aside: Layer | None = None
        self._left: Iterator[Any] = iter(())  # keys of `_aside` that are not written
        self._anew: Iterator[Any] | None = None  # keys of the base that are not written anew
        self._merging: Iterator[Any] | None = None  # keys of `_since` that the base has not taken in
        self._emptied: list[dict[Any, Any]] = []  # layers of which nothing is of use
        if base is not None:
            state._count = len(base)
        if rows is not None:
            state._count += rows.sum.size
            self._since = Layer()
        self._lay()

    def _lay(self) -> None:
        layers = (self._aside, self._since, self._base)
        self.state._below = [layer for layer in layers if layer is not None]

    @property
    def has_changed(self) -> bool:
        """Whether something has, since the last border."""
        return bool(self.state._top.values)

    @property
    def is_written(self) -> bool:
        """Whether all is written that was set aside."""
        return self._aside is None

    @property
    def is_merging(self) -> bool:
        """Whether the base has to take something in before anything is written."""
        return self._merging is not None or self._is_put

    @property
    def is_tidy(self) -> bool:
        """Whether `tidy` has nothing to do."""
        return not (self.is_merging or self._emptied)

    # --- a checkpoint ------------------------------------------------------------------------------------------------

    def border(self) -> None:
        """Set aside what has changed: the checkpoint has it as it is now. All of the border before is written."""
        assert self._aside is None
        self._aside = self.state._top
        self._aside.copied = self._copied
        self._left = iter(self._aside.values)
        if self.rows is not None and self._since is not None and self._since.copied is None:
            changed = len(self._since.values) + len(self._aside.values)
            self._since.copied = self._copied if changed > self.rows.most // 2 else None
        self.state._top = Layer()
        self._lay()

    def written(self, most: int) -> Change:
        """The next few keys of what was set aside; they are in the layer below from now on. Cost: O(most)."""
        assert self._aside is not None
        assert self._merging is None
        aside = self._aside
        keys = list(islice(self._left, most))
        if not keys:
            self._emptied.append(aside.values)
            self._aside = None
            self._lay()
        values = [*map(aside.values.__getitem__, keys)]
        is_usual = self._since is None and not aside.moved and not any(map(is_, values, repeat(GONE)))
        if is_usual:  # a dict below, in which keys are assigned: as for each of them, and many times sooner
            self._base.values.update(zip(keys, values, strict=True))
            aside.values.update(dict.fromkeys(keys, BELOW))
            return Change([], [*chain.from_iterable(zip(keys, values, strict=True))])
        change = Change([], [])
        for key, value in zip(keys, values, strict=True):
            if value is GONE or key in aside.moved:
                change.gone.append(key)
            if value is not GONE:
                change.items.extend((key, value))
            self._sink(key, value, aside)
        return change

    def put_back(self, change: Change) -> None:
        """Values that were just written, as whoever reads them has them: they take the place of those that were."""
        under = self._base if self._since is None else self._since
        keys = iter(change.items)
        for key, value in zip(keys, keys, strict=True):
            under.values[key] = value

    def replace(self, copied: Callable[[Any], Any]) -> None:
        """Put copies in the place of all values that have changed since the last border and may be changed again."""
        values = self.state._top.values
        for key, value in values.items():
            if value is not GONE and not is_plain(value):
                values[key] = copied(value)

    def _sink(self, key: Any, value: Any, layer: Layer) -> None:
        """Put a key of a layer into the one below it."""
        under = self._base if layer is self._since or self._since is None else self._since
        lower = () if under is self._base else (self._base,)
        before = under.values.get(key, ABSENT)
        if value is GONE or before is GONE or key in layer.moved:
            under.values.pop(key, None)
            under.moved.discard(key)
            if has(lower, key):
                if value is GONE:
                    under.values[key] = GONE
                else:
                    under.moved.add(key)
        if value is not GONE:
            under.values[key] = value
        layer.values[key] = BELOW
        layer.moved.discard(key)

    # --- rows --------------------------------------------------------------------------------------------------------

    def take_in(self, change: Change) -> None:
        """A change that was kept since all was put into rows: it is in `since` again."""
        items = dict(pairs(change.items))
        gone = set(change.gone)
        layer = Layer({**{key: GONE for key in change.gone if key not in items}, **items}, gone & items.keys())
        for key, value in list(layer.values.items()):
            was_there = has(self.state._below, key)
            self.state._count += (value is not GONE) - was_there
            self._sink(key, value, layer)

    @property
    def is_to_be_put(self) -> bool:
        """Whether so much has changed that the checkpoint puts it into rows: decided at its border."""
        return self.rows is not None and self._since is not None and self._since.copied is not None

    def put(self, most: int) -> bool:
        """Put a few more keys of what has changed into rows; whether there were any. Cost: that of so many rows."""
        assert self.rows is not None
        assert self._since is not None
        if self._putting is None:
            self._putting = iter(self._since.values)
        keys = list(islice(self._putting, most))
        for key in keys:
            self.rows.put(key, self._since.values[key], is_moved=key in self._since.moved)
        return bool(keys)

    def end_put(self) -> None:
        """The checkpoint is there in which all that had changed was put into rows: `tidy` will take it for that."""
        self._is_put = True

    def _take_rows(self) -> None:
        assert self.rows is not None
        assert self._since is not None
        self.rows.committed(self._since.values)
        self._emptied.append(self._since.values)
        self._since, self._putting, self._is_put = Layer(), None, False
        self._lay()

    # --- all of it, anew ---------------------------------------------------------------------------------------------

    def begin_anew(self) -> None:
        """Write all of it, but for what the border that follows at once sets aside: the base stays as it is now."""
        assert self._aside is None
        assert self._since is None
        self._since = Layer()
        self._base.copied = self._copied
        self._anew = iter(self._base.values)
        self._lay()

    def written_anew(self, most: int) -> Change:
        """The next few keys of all that there was; none where all of it is written. Cost: O(most)."""
        assert self._anew is not None
        values = self._base.values
        return Change([], [part for key in islice(self._anew, most) for part in (key, values[key])])

    def end_anew(self) -> None:
        """All of it is written, and kept: the base may change again."""
        assert self._since is not None
        self._anew, self._base.copied = None, None
        self._merging = iter(self._since.values)

    def tidy(self, most: int) -> None:
        """Do a little of what is left to do when a checkpoint is taken. Cost: O(most)."""
        if self._is_put:
            self._take_rows()
        elif self._merging is not None:
            assert self._since is not None
            keys = list(islice(self._merging, most))
            for key in keys:
                self._sink(key, self._since.values[key], self._since)
            if not keys:
                self._emptied.append(self._since.values)
                self._since = self._merging = None
                self._lay()
        elif self._emptied:
            values = self._emptied[-1]
            for _ in range(min(most, len(values))):
                values.popitem()
            if not values:
                self._emptied.pop()
