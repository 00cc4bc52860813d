"""What waits for one node: messages by edge and time, and notifications (A&I 4.2).

The messages of one edge and time wait together, in the order in which they came, and are handed to the node together. A
node may take any of them: nothing earlier on the edge is overtaken by something later, since different times wait in
the order in which the first of each came, and only what is minimal among them is taken (the paper's reordering
variant).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.runtime.durable.underway import Call, Underway
from progress.runtime.failure import OnError
from progress.runtime.node import Mapped, Node, Relay
from progress.runtime.out import Exits
from progress.topology import NO_NODE, Network

if TYPE_CHECKING:
    from progress.runtime.actions.performed import Performed

FIRST = 32  # times of those that wait among which a seed usually chooses, or a call for one more time finds its own


class Action(NamedTuple):
    """What one node is to do next: `values` that came in on an edge, or the notification of a time."""

    node: int
    edge: str | None
    time: Any
    values: Sequence[Any]


class Inbox:
    """What waits for one node."""

    __slots__ = (
        "again",
        "at_once",
        "behaviour",
        "behind",
        "busy",
        "by_value",
        "consuming",
        "entered",
        "exits",
        "fills",
        "is_listed",
        "is_relay",
        "kept",
        "key",
        "leaves",
        "line",
        "orders",
        "over",
        "policy",
        "queues",
        "ready",
        "size",
        "underway",
        "was_read_back",
    )

    is_ordered = False  # whether its node takes its messages in order (`ordered.py`)

    def __init__(self, network: Network, node: int, behaviour: Node, policy: OnError) -> None:
        self.behaviour = behaviour
        self.is_relay = type(behaviour) is Relay  # no code of anybody's, so that it never waits
        self.by_value = _is_function(behaviour)  # called for each value by itself
        self.policy = policy
        self.exits = Exits(network, node)
        self.orders = {network.edges[edge]: network.edge_domains[edge].less_equal for edge in network.incoming[node]}
        component, targets = network.component, network.targets
        following = {targets[edge] for edge in network.outgoing[node] if targets[edge] != NO_NODE}
        self.leaves = {network.edges[edge] for edge in network.outgoing[node] if targets[edge] == NO_NODE}
        self.fills = sorted(target for target in following if component[target] != component[node])
        self.queues: OrderedDict[tuple[str, Any], list[Any]] = OrderedDict()  # a dict finds its first item slowly
        self.behind: deque[tuple[str, Any, list[Any]]] = deque()  # what would overtake something in `queues`
        self.ready: deque[Any] = deque()  # in a linear extension of their order
        self.key = network.domains[node].sort_key
        self.size = 0  # messages queued
        self.line: deque[int] = deque()  # nodes that are held until there is room here
        self.at_once = behaviour.at_once
        self.busy = 0  # calls that are being made
        self.consuming: list[Action] = []  # of a node with several, what is being consumed, as it began
        self.over: list[Performed] = []  # calls that are over, and wait until one that began before is entered
        self.is_listed = False
        self.underway: Underway | None = None  # the calls that are being made, in a run that is kept
        self.kept: bytes | None = None  # the node's state as the last checkpoint has it; None: it may be another one
        self.entered = 0  # calls of the node that were entered
        self.was_read_back = False  # whether the last checkpoint has let it go on with what would be read of it
        self.again: deque[int] = deque()  # after which calls that was so in the run that is done again

    @property
    def has_work(self) -> bool:
        """Whether a call may begin now: any where none is being made, else one of another time, up to `at_once`.

        Notifications that are ready may be delivered in any order (A&I 4.2), so also side by side. Messages are taken
        in their order, and what their calls do is entered in it (`comes_later`), so these may be made side by side.
        """
        if not self.busy:
            return bool(self.queues or self.ready)
        if self.busy >= self.at_once:
            return False
        return bool(self.ready) or self.free() is not None

    @property
    def calls(self) -> Sequence[Call]:
        """The calls that are being made, in a run that is kept."""
        return () if self.underway is None else self.underway.calls

    def is_known(self) -> bool:
        """Whether it is known what the node's state was before the calls that are being made."""
        if self.underway is None:
            return True
        is_known = self.underway.is_known()
        self.at_once = self.underway.at_once
        return is_known

    def ended(self, action: Action) -> None:
        """A call is over, and entered."""
        if self.underway is not None:
            self.underway.ended(action)
            self.at_once = self.underway.at_once

    def snapshot(self) -> Any:
        """The state of the node before the calls that are being made."""
        return self.behaviour.snapshot() if self.underway is None else self.underway.snapshot()

    def put(self, edge: str, time: Any, values: list[Any]) -> None:
        """Let messages wait behind all that came before, with those of their time if that overtakes nothing.

        Cost: O(times that wait and came after this one).
        """
        queues = self.queues
        if self.behind and any(other == edge for other, _, _ in self.behind):
            self.behind.append((edge, time, values))
        elif (edge, time) not in queues:
            queues[edge, time] = values
        elif self._overtakes(edge, time):
            self.behind.append((edge, time, values))
        else:
            queues[edge, time] += values

    def put_behind(self, waiting: Sequence[tuple[str, Any, list[Any]]]) -> None:
        """Let messages wait that waited in `behind`: not before others on their edge were taken, which are there."""
        if not {edge for edge, _, _ in waiting} <= {edge for edge, _ in self.queues}:
            raise ValueError(f"something waits at {self.exits.name!r} behind nothing")
        self.behind.extend(waiting)

    def put_first(self, edge: str, time: Any, values: list[Any]) -> None:
        """Let messages wait again, in front of what came since they were taken. Cost: O(all that waits)."""
        queues, behind = self.queues, self.behind
        self.queues, self.behind = OrderedDict({(edge, time): values}), deque()
        for (other, at), each in queues.items():
            self.put(other, at, each)
        self.behind += behind

    def taken(self, edge: str) -> None:
        """All messages of an edge and time were taken: let those follow that waited for it."""
        if self.behind and not any(other == edge for other, _ in self.queues):
            behind, self.behind = self.behind, deque()
            for each in behind:
                self.put(*each)

    def chosen(self, choose: Callable[[int], int]) -> tuple[str, Any]:
        """An edge and a time whose messages may be taken: nothing that came before on the edge is at or before it.

        `choose(n)` picks one of n. Of the first that wait one is picked, or seldom of all; what came first of all on
        its edge at or before that may be taken. Each that may be taken can be chosen so. Cost: O(1) on average: where n
        times wait, all of them are walked through once in n / FIRST times.
        """
        count = len(self.queues)
        if count > FIRST and choose(count) >= FIRST:
            count = FIRST
        return self.follows(*next(islice(self.queues, choose(count), None)))

    def follows(self, edge: str, time: Any) -> tuple[str, Any]:
        """What has to be taken before messages of this edge and time: the first at or before them, maybe themselves."""
        less_equal = self.orders[edge]
        return next(key for key in self.queues if key[0] == edge and less_equal(key[1], time))

    def free(self) -> tuple[str, Any] | None:
        """The edge and time whose messages are taken next, where none is chosen: what came first is minimal.

        While messages are consumed it is the first of whose time none are, and before which nothing on the edge waits
        for that.

        Cost: O(1) where nothing is being consumed, else a look at the first that wait, FIRST at most. What is not found
        so is looked for again whenever a call has been entered.
        """
        if not self.consuming:
            return next(iter(self.queues), None)
        times = {action.time for action in self.consuming}
        waiting: list[tuple[str, Any]] = []
        for key in islice(self.queues, FIRST):
            edge, time = key
            if time in times:
                waiting.append(key)
            elif not any(other == edge and self.orders[edge](at, time) for other, at in waiting):
                return key
        return None

    def comes_later(self, performed: Performed) -> bool:
        """Whether it is not its turn to be entered: a call that began before consumes what came before on the edge.

        Entered before that, it would have overtaken it; so would have what it sent. It waits in `over`.
        """
        action = performed.action
        if action.edge is None:
            return False
        for other in self.consuming:
            if other is action:
                break
            if other.edge == action.edge and self.orders[other.edge](other.time, action.time):
                return True
        return False

    def next_over(self) -> Performed | None:
        """A call that waited for its turn, and need not any more. Cost: O(calls that are being made), squared."""
        for place, performed in enumerate(self.over):
            if not self.comes_later(performed):
                return self.over.pop(place)
        return None

    def put_ready(self, time: Any) -> None:
        """Let a notification wait, in a linear extension of the times that wait.

        What is ready already may be later, as where a call has asked for a time between. Cost: O(1) where none that
        waits is later, O(log n) comparisons and O(n) moves else, few where it is one of the first.
        """
        ready, key = self.ready, self.key
        if not ready or key(ready[-1]) <= key(time):
            ready.append(time)
        else:
            ready.insert(bisect_right(ready, key(time), key=key), time)

    def all_ready(self) -> list[Any]:
        """The times of notifications that wait, with those that are being handed on, in a linear extension."""
        handed_on = [call.action.time for call in self.calls if call.action.edge is None]
        return sorted([*handed_on, *self.ready], key=self.key) if handed_on else [*self.ready]

    def waiting(self) -> Iterator[tuple[str, Any, list[Any]]]:
        """All that waits, in an order in which `put` makes the same of it, and `put_behind` of what is in `behind`.

        What is being consumed comes first.
        """
        for call in self.calls:
            _, edge, time, values = call.action
            if edge is not None:
                yield edge, time, list(values)
        yield from ((edge, time, values) for (edge, time), values in self.queues.items())
        yield from self.behind

    def queued(self) -> Iterator[tuple[str, Any, list[Any]]]:
        """What of it waits on edges."""
        return self.waiting()

    def _overtakes(self, edge: str, time: Any) -> bool:
        """Whether something at or before this time came on the edge after what waits at it."""
        less_equal = self.orders[edge]
        for other, at in reversed(self.queues):
            if other == edge:
                if at == time:
                    return False
                if less_equal(at, time):
                    return True
        return False


def _is_function(node: Node) -> bool:
    """Whether it is a `Mapped`, and no subclass takes messages otherwise."""
    is_told = hasattr(node, "on_messages") or type(node).on_message is not Node.on_message
    return isinstance(node, Mapped) and not is_told
