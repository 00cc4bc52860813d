"""`State`: a mapping that a node keeps, used like a dict, of which a checkpoint writes what has changed.

What has changed since the last checkpoint is in the uppermost of a few layers. When one is taken, the layer is set
aside and an empty one laid on top, which costs the same however much there is; what was set aside is written a few
keys at a time, between calls, and goes into the layer below (`durable/mappings/layers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from reprlib import recursive_repr
from typing import Any, TypeVar

from progress.errors import PointstampError, brief
from progress.runtime.durable.copies import PLAIN, is_plain

K = TypeVar("K")
V = TypeVar("V")


class _Mark:
    """What stands in a layer in place of a value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


ABSENT = _Mark("ABSENT")  # it is not there
GONE = _Mark("GONE")  # it was deleted; what layers below have is no more
BELOW = _Mark("BELOW")  # it was here, and is in the layer below now


class Layer:
    """Values by key, or `GONE`, or `BELOW`; `moved` are keys that were deleted and put there again, behind all others.

    `copied` makes the copy that is changed from now on in place of a value, while the layer is being written; None: it
    is not.
    """

    __slots__ = ("copied", "moved", "values")

    def __init__(self, values: Any = None, moved: set[Any] | None = None) -> None:
        self.values: Any = {} if values is None else values  # a dict, or rows that are read like one
        self.moved: set[Any] = set() if moved is None else moved
        self.copied: Callable[[Any], Any] | None = None


class State(MutableMapping[K, V]):
    """A mapping that is used as a dict is, and has the order of a dict, as an attribute of a node.

    In a run that is kept, a checkpoint writes only the keys that were assigned, deleted, or whose values were handed
    out and can be changed, as a list can: reading a number, a text or a tuple of them is no change. A value belongs to
    its key alone: an object that is under two keys is two objects in a run that goes on. It is asked for anew in each
    call that changes it in place: what a node does with a reference from an earlier call, no checkpoint sees.

    With `in_memory` a run that is kept has about so many values in memory, and reads the others when they are used;
    then keys are texts, whole numbers, `bytes`, None and tuples of these.

    Cost: a few times that of a dict; `len` O(1). Taking a checkpoint holds the node for microseconds, however much
    there is.

    Examples
    --------
    >>> from pointstamp import Dataflow, Node, State, from_edges
    >>> class Count(Node):
    ...     def __init__(self):
    ...         self.counts = State()
    ...
    ...     def on_message(self, edge, time, word, out):
    ...         self.counts[word] = self.counts.get(word, 0) + 1
    ...         out.send("count->out", time, (word, self.counts[word]))
    >>> flow = Dataflow(from_edges([(None, "count"), ("count", None)]), {"count": Count})
    >>> flow.run(sources={"in->count": [(0, "to"), (0, "be"), (1, "to")]})
    {'count->out': [(0, ('to', 1)), (0, ('be', 1)), (1, ('to', 2))]}
    """

    __slots__ = ("__weakref__", "_below", "_count", "_top", "in_memory")

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = (), *, in_memory: int | None = None) -> None:
        if in_memory is not None and (type(in_memory) is not int or in_memory < 1):
            what = f"in_memory={brief(in_memory)}: a State of which nothing is in memory"
            raise PointstampError("PS715", what, "how many values are to be in memory, 1 or more; or None, all of them")
        self.in_memory = in_memory
        self._top = Layer(dict(items))
        self._below: Sequence[Layer] = ()  # the next one first
        self._count = len(self._top.values)

    # --- one key -----------------------------------------------------------------------------------------------------

    def __getitem__(self, key: K) -> V:
        value: Any = self._top.values.get(key, ABSENT)
        if value is ABSENT and self._below:
            value = self._from_below(key)
        if value is ABSENT or value is GONE:
            raise KeyError(key)
        found: V = value
        return found

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key, or else the default."""
        value: Any = self._top.values.get(key, ABSENT)
        if value is ABSENT and self._below:
            value = self._from_below(key)
        return default if value is ABSENT or value is GONE else value

    def __contains__(self, key: object) -> bool:
        value: Any = self._top.values.get(key, ABSENT)
        return has(self._below, key) if value is ABSENT else value is not GONE

    def __setitem__(self, key: K, value: V) -> None:
        values = self._top.values
        before = values.get(key, ABSENT)
        if before is ABSENT:
            if not self._below or not has(self._below, key):
                self._count += 1
        elif before is GONE:
            del values[key]
            self._top.moved.add(key)
            self._count += 1
        values[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._count -= 1
        self._top.moved.discard(key)
        self._top.values.pop(key, None)
        if has(self._below, key):
            self._top.values[key] = GONE

    def _from_below(self, key: K) -> Any:
        """The value that layers below have; one that can be changed counts as changed from now on."""
        for layer in self._below:
            value = layer.values.get(key, ABSENT)
            if value is ABSENT or value is BELOW:
                continue
            if value is not GONE and type(value) not in PLAIN and not is_plain(value):
                if layer.copied is not None:
                    value = layer.copied(value)
                self._top.values[key] = value
            return value
        return ABSENT

    # --- all of them -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[K]:
        return self._keys(iter)

    def __reversed__(self) -> Iterator[K]:
        return self._keys(reversed)

    def _keys(self, way: Callable[[Any], Iterable[Any]]) -> Iterator[K]:
        """The keys, each in the layer where it has its place: the one in which it was put there last, if not anew."""
        layers = (self._top, *self._below)
        count = self._count
        numbers = range(len(layers))
        for number in numbers if way is reversed else reversed(numbers):
            layer, above, below = layers[number], layers[:number], layers[number + 1 :]
            for key in way(layer.values):
                if self._count != count:
                    raise RuntimeError("a State changed its size while it was iterated over")
                if any(each.values.get(key) is GONE or key in each.moved for each in above):
                    continue  # its row may have gone since it was listed: a commit deletes what is so above
                value = layer.values[key]
                if value is GONE or value is BELOW:
                    continue
                if key in layer.moved or not has(below, key):
                    yield key

    def popitem(self) -> tuple[K, V]:
        """Take out the item that was put there last."""
        for key in reversed(self):
            return key, self.pop(key)
        raise KeyError("popitem(): the State is empty")

    def clear(self) -> None:
        """Take out all."""
        for key in list(self):
            del self[key]

    def copy(self) -> State[K, V]:
        """Another one, with the same values, that nobody keeps yet."""
        return State(self, in_memory=self.in_memory)

    @recursive_repr("State(...)")
    def __repr__(self) -> str:
        return f"State({dict(self)!r})"

    def __reduce__(self) -> Any:
        """A copy is a State that nobody keeps yet."""
        return _state, (dict(self), self.in_memory)


def _state(items: dict[Any, Any], in_memory: int | None) -> State[Any, Any]:
    return State(items, in_memory=in_memory)


def has(layers: Sequence[Layer], key: Any) -> bool:
    """Whether there is a value in these layers, the uppermost first."""
    for layer in layers:
        value = layer.values.get(key, ABSENT)
        if value is not ABSENT and value is not BELOW:
            return value is not GONE
    return False
