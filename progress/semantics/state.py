"""A state of a running graph (A&I 4.2): a queue on every edge, and a local state and pending requests at every node.

States are values: equal ones are equal, and can be hashed. An edge's queue is a tuple of messages, the head first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from progress.local_history import Message, frozen, is_hashable

Queue: TypeAlias = tuple[Message, ...]


class Names:
    """The names of nodes and edges, in the order in which a state keeps what belongs to them."""

    def __init__(self, nodes: Iterable[str], edges: Iterable[str]) -> None:
        self.nodes = tuple(nodes)
        self.edges = tuple(edges)
        self.node = {name: number for number, name in enumerate(self.nodes)}
        self.edge = {name: number for number, name in enumerate(self.edges)}


class State:
    """Q(e) of every edge, LocState(p) and NotRequests(p) of every node.

    `coming` is not part of the paper's state: the messages that the outside still has for each edge. It is what makes
    `Inp` finite.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Specification, System
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> state = next(Specification(system).initial())
    >>> state.queue("in->a"), state.pending("a"), str(state)
    ((Message(time=0, value=None),), frozenset(), 'in->a: 0')
    """

    __slots__ = ("_hash", "coming", "local", "names", "queues", "requests")

    def __init__(
        self,
        names: Names,
        queues: tuple[Queue, ...],
        local: tuple[Hashable, ...],
        requests: tuple[frozenset[Any], ...],
        coming: tuple[Queue, ...],
    ) -> None:
        self.names = names
        self.queues = queues
        self.local = local
        self.requests = requests
        self.coming = coming
        self._hash = hash((queues, local, requests, coming))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, State)
            and self._hash == other._hash
            and self.queues == other.queues
            and self.local == other.local
            and self.requests == other.requests
            and self.coming == other.coming
        )

    def __hash__(self) -> int:
        return self._hash

    def queue(self, edge: str) -> Queue:
        """Q(e)."""
        return self.queues[self.names.edge[edge]]

    def local_state(self, node: str) -> Any:
        """LocState(p)."""
        return released(self.local[self.names.node[node]])

    def pending(self, node: str) -> frozenset[Any]:
        """NotRequests(p)."""
        return self.requests[self.names.node[node]]

    def still_to_come(self, edge: str) -> Queue:
        """The messages that the outside still has for an input edge, in no particular order."""
        return self.coming[self.names.edge[edge]]

    def with_queues(self, changed: Mapping[int, Queue], coming: tuple[Queue, ...] | None = None) -> State:
        """The state with other queues on some edges, by their numbers."""
        queues = list(self.queues)
        for edge, queue in changed.items():
            queues[edge] = queue
        return State(self.names, tuple(queues), self.local, self.requests, self.coming if coming is None else coming)

    def __str__(self) -> str:
        parts = [f"{name}: {shown(queue)}" for name, queue in zip(self.names.edges, self.queues, strict=True) if queue]
        for name, local, requests in zip(self.names.nodes, self.local, self.requests, strict=True):
            said = [] if local is None else [f"in {released(local)!r}"]
            said += [f"waits for {', '.join(sorted(map(repr, requests)))}"] if requests else []
            parts += [f"{name} {' and '.join(said)}"] if said else []
        for name, queue in zip(self.names.edges, self.coming, strict=True):
            parts += [f"still to come on {name}: {shown(queue)}"] if queue else []
        return "; ".join(parts) or "nothing is queued, nobody waits"

    __repr__ = __str__


def shown(queue: Iterable[Message]) -> str:
    """Messages as a reader wants them: the time, and the value where there is one."""
    return ", ".join(repr(time) if value is None else f"{value!r} at {time!r}" for time, value in queue)


class Held:
    """A local state that cannot be hashed, made hashable; equal when the states are. It must not be changed."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._hash = hash(frozen(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return repr(self.value)


def held(value: Any) -> Hashable:
    """A local state as a state keeps it."""
    return cast(Hashable, value) if is_hashable(value) else Held(value)


def released(kept: Any) -> Any:
    """A local state as the node's code knows it."""
    return kept.value if isinstance(kept, Held) else kept
