"""A small driver: the nodes of a graph with calls, run one event after the other in any order (A&I 3.4, 4.2).

An event is a message taken from its edge, or a notification that a `Tracker` allows; with what comes of it, it is one
step of the tracker. Which event is next is free: where nodes wait for notifications, the results are the same.

Calls are the driver's. What arrives at `call-c` goes on to `call-c->in` with c pushed; what arrives at `out` goes to
`out->ret-c` with c popped, and from there along every edge that leaves c. `in`, `out` and calls have no code, nor need
other nodes have any: one without sends each value on, along every edge that leaves it.

Cost: an event costs its code and a step of the tracker (`recursion.frames`), with a seed also O(queued / 64). Nothing
is kept of a stack at which nothing is outstanding.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from progress.errors import PointstampError, brief
from progress.refusal import Refusal
from progress.topology import NO_NODE, Topology
from progress.tracker import Tracker
from recursion.call_graph import bad_recursion
from recursion.network import CallRelation

Event: TypeAlias = tuple[str, Any, Any]  # an edge, a time and a value; or a node, a time and nothing


class Node(Protocol):
    """A node's code; with `on_notify(self, time, out)` too, if it asks for notifications.

    Nothing at or before `time` can arrive any more then: what the node keeps for it can be dropped.
    """

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        """A message arrived."""
        ...


Code: TypeAlias = Node | Callable[[Any], Any]  # a function makes a value from each, to be sent on along every edge


class Result(NamedTuple):
    """A value that arrived at `out` at the empty stack, or on an output edge."""

    location: str
    time: Any
    value: Any


class Driver:
    """One run of a graph with calls.

    Parameters
    ----------
    graph : a graph with calls, with epochs or without
    nodes : the code of nodes, by name
    seed : decides which event is next; None: the oldest
    newest_first : without a seed, take the newest event instead, which keeps few calls open at a time

    Cost: O(nodes + edges) to build.
    """

    def __init__(
        self, graph: Topology, nodes: Mapping[str, Code], *, seed: int | None = None, newest_first: bool = False
    ) -> None:
        self.network = graph.network()
        if not isinstance(self.network.relation, CallRelation):
            raise bad_recursion("the graph has no calls", "the key `recursion` says which nodes are calls")
        self.graph = self.network.relation.graph
        self._entrance = self.graph.nodes[self.graph.procedures[self.graph.main].entrance]
        first = [(self._entrance, self.graph.stacks.empty)] if self.graph.epochs is None else []
        self.tracker = Tracker(graph, requests=first)
        self.tracker.get_ready()  # `begin` delivers it
        self.results: list[Result] = []
        self._random = None if seed is None else random.Random(seed)
        self._newest_first = newest_first
        self._queue: deque[Event] = deque()  # messages, and notifications that may be delivered
        self._take: dict[str, Callable[[str, Any, Any], None]] = {}  # by edge or node: what an event there does
        self._assign(nodes)

    def begin(self, value: Any) -> None:
        """The one call from outside of a graph without epochs: `in` passes the value on, at the empty stack."""
        time = self.graph.stacks.empty
        self._step(self._on_all(self._entrance, time, value), delivered=[(self._entrance, time)])

    def feed(self, edge: str, time: Any, value: Any) -> None:
        """A message on an input edge, at an epoch with a stack: `(0, ())`."""
        self._step([(edge, self.network.pointstamp((edge, time))[1], value)])

    def complete(self, edge: str, times: Iterable[Any]) -> None:
        """From now on an input edge brings messages only at or above one of these times; `[]` closes it."""
        self.tracker.apply(inputs={edge: times})
        self._hear()

    def run(self) -> list[Result]:
        """Take events until there are none; the results since they were last taken."""
        while self.step():
            pass
        results, self.results = self.results, []
        return results

    def step(self) -> bool:
        """Take one event; False where there is none. One that fails stays in the queue, and the tracker as it was."""
        queue = self._queue
        if not queue:
            return False
        is_oldest = self._random is None and not self._newest_first
        if self._random is not None:
            place = self._random.randrange(len(queue))
            queue[place], queue[-1] = queue[-1], queue[place]
        event = queue.popleft() if is_oldest else queue.pop()
        try:
            self._take[event[0]](*event)
        except BaseException as error:
            (queue.appendleft if is_oldest else queue.append)(event)
            if not isinstance(error, Refusal):
                error.add_note(f"in the node {self._node_at(event[0])!r}, by {event[0]!r} at {brief(event[1])}")
            raise
        return True

    # --- events ------------------------------------------------------------------------------------------------------

    def _assign(self, nodes: Mapping[str, Code]) -> None:
        """Who takes the events of each location."""
        graph = self.graph
        ends = {end for body in graph.bodies.values() for end in (body.entrance, body.exit, *body.calls)}
        for name in nodes:
            if name in ends:
                raise Refusal("PS504", f"{brief(name)} is `in`, `out` or a call", "give code to the nodes between them")
            if name not in graph.given_nodes:
                raise Refusal("PS502", f"there is no node {brief(name)} to give code to", "name a node of the graph")
        outgoing = zip(graph.nodes, self.network.outgoing, strict=True)
        self.leaving = {node: dict.fromkeys(graph.edges[edge] for edge in edges) for node, edges in outgoing}
        calls = {call.call: edge for edge, call in graph.pushes.items()}
        exits = {procedure.exit for procedure in graph.procedures.values()}
        self._returns = {call: edge for edge, call in graph.pops.items()}
        for edge, target in zip(graph.edges, graph.targets, strict=True):
            if target == NO_NODE:
                self._take[edge] = self._result
            elif target in calls:
                self._take[edge] = partial(self._move, calls[target])
            elif target in exits:
                self._take[edge] = partial(self._return, graph.nodes[target])
            elif hasattr(code := nodes.get(name := graph.nodes[target]), "on_message"):
                self._take[edge] = self._take[name] = partial(self._act, name, code)
            else:
                self._take[edge] = partial(self._pass_on, name, code)

    def _node_at(self, location: str) -> str:
        edge = self.network.number(location) - len(self.network.nodes)
        return location if edge < 0 else self.network.nodes[self.network.targets[edge]]

    def _act(self, node: str, code: Any, place: str, time: Any, value: Any) -> None:
        """A node acts: on a message where `place` is an edge, on a notification where it is the node."""
        out = Out(self, node, time)
        try:
            code.on_notify(time, out) if place == node else code.on_message(place, time, value, out)
        finally:
            out.is_over = True
        if place == node:
            self._step(out.sent, [], out.requested, [(node, time)])
        else:
            self._step(out.sent, [(place, time, -1)], out.requested)

    def _pass_on(self, node: str, function: Any, edge: str, time: Any, value: Any) -> None:
        made = value if function is None else function(value)
        self._step(self._on_all(node, time, made), [(edge, time, -1)])

    def _move(self, onto: int, edge: str, time: Any, value: Any) -> None:
        """A value goes on to an edge into `in` or from `out`, which pushes or pops a call."""
        summary = self.network.summaries[onto]
        assert summary is not None
        self._step([(self.graph.edges[onto], after, value) for after in summary.apply(time)], [(edge, time, -1)])

    def _return(self, exit: str, edge: str, time: Any, value: Any) -> None:
        stack = time if self.graph.epochs is None else time[1]
        if stack.call is not None:
            self._move(self._returns[stack.call], edge, time, value)
            return
        outputs = [sent for sent in self._on_all(exit, time, value) if self._take[sent[0]] == self._result]
        self._step(outputs, [(edge, time, -1)])
        if not outputs:
            self.results.append(Result(exit, time, value))

    def _result(self, edge: str, time: Any, value: Any) -> None:
        self._step([], [(edge, time, -1)])
        self.results.append(Result(edge, time, value))

    def _on_all(self, node: str, time: Any, value: Any) -> list[Event]:
        return [(edge, time, value) for edge in self.leaving[node]]

    def _step(self, sent: list[Event], consumed: Any = (), requests: Any = (), delivered: Any = ()) -> None:
        messages = [*((edge, time, 1) for edge, time, _ in sent), *consumed]
        self.tracker.apply(messages=messages, requests=requests, delivered=delivered)
        self._queue += sent
        self._hear()

    def _hear(self) -> None:
        self._queue += [(node, time, None) for node, time in self.tracker.get_ready()]


class Out:
    """What a node may do while its event lasts: send and request, at the time of the event or where that could lead.

    Cost: O(1) at the time of the event itself, else that of a proof.
    """

    def __init__(self, driver: Driver, node: str, time: Any) -> None:
        self._driver, self._node, self._time = driver, node, time
        self.sent: list[Event] = []
        self.requested: list[tuple[str, Any]] = []
        self.is_over = False

    def send(self, edge: str, time: Any, value: Any) -> None:
        """Send a value on an edge that leaves the node."""
        leaving = self._driver.leaving[self._node]
        if edge not in leaving:
            raise self._wrong("PS504", f"{brief(edge)} does not leave it", f"an edge that does: {', '.join(leaving)}")
        self.sent.append((edge, self._checked(edge, time), value))

    def request(self, time: Any) -> None:
        """Ask to be notified when nothing at or before `time` can arrive any more; twice is once."""
        network = self._driver.network
        if not network.notifies[network.numbers[self._node]]:
            raise self._wrong("PS504", "it asks for a notification, and has `notify: false`", "without that")
        self.requested.append((self._node, self._checked(self._node, time)))

    def _checked(self, name: str, time: Any) -> Any:
        """The time, where the event could lead to it: whatever else is outstanding, so in every order of events."""
        network = self._driver.network
        if self.is_over:
            raise self._wrong("PS501", "its event is over", "use `out` before the event ends")
        if time is self._time:
            return time
        try:
            location, found = network.pointstamp((name, time))
        except PointstampError as error:
            raise self._wrong(error.code, error.message, error.hint) from None
        assert network.relation is not None
        if network.relation.proof(network, (network.numbers[self._node], self._time), (location, found)) is None:
            raise self._wrong("PS506", f"it could not lead to {brief(name)} at {brief(found)}", "no earlier time")
        return found

    def _wrong(self, code: str, what: str, right: str) -> Refusal:
        return Refusal(code, f"the node {brief(self._node)} at {brief(self._time)}: {what}", right)
