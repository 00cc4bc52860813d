"""A run: a tracker, what waits for each node, and the nodes. Engines choose what happens next, the core does it.

Each call of a node is one action of the paper: `Mess` for messages, `Not` for a notification (A&I 4.2). It takes three
steps: `take` gives it to whoever runs the node, `perform` runs the node's code, and `commit` tells the tracker, queues
what was sent and hands on what became ready. `perform` may run anywhere; the others run one at a time.

A node is *held* while a node that it sends to, outside of its own cycle, has `limit` messages waiting. That cannot
deadlock: of the cycles and nodes with work, one that leads to no other of them is never held, since what it leads to
has nothing waiting. Within a cycle nothing is held, for there the way to less work may be through more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.failure import OnError, Stop, dead_letters
from progress.runtime.inbox import Action, Inbox
from progress.runtime.node import Node, Relay
from progress.runtime.observer import Observer
from progress.runtime.out import IN_MEMORY, Out
from progress.runtime.performing import Performed, Waits, begin, is_to_be_awaited, perform, starting, waited_for
from progress.runtime.tables import Hold, Tables
from progress.topology import NO_NODE, Topology
from progress.tracker import Tracker

Deliver = Callable[[str, Any, Sequence[Any]], None]  # what leaves the graph: edge, time, values
Step = dict[str, Any]  # what `Tracker.apply` takes


class WaitsForEver(PointstampError):
    """A run has come to its end, and something is outstanding that nothing will ever move."""

    def __init__(self, what: str) -> None:
        right = "`pointstamp check` finds the cycle that does not advance"
        super().__init__("PS739", f"the run is over, and {what}", right)


class Core:
    """The state of one run.

    Parameters
    ----------
    graph : the graph
    nodes : the code of its nodes; a node without code is a `Relay`
    deliver : told of all that is sent on an output edge, before the frontier there moves past it
    inputs : where the inputs open
    on_error : what is done when a node raises, by node, or `"*"` for all
    observer : told of what happens
    pause : waits so many seconds before a call is made again; None: no call is waited with
    record : told of each step, as `Tracker.apply` takes it
    limit : the number of messages waiting at a node from which those that send to it are held
    most_at_once : how many messages a node is handed at once
    tables : what `out` does for nodes that have tables
    """

    def __init__(
        self,
        graph: Topology,
        nodes: Mapping[str, Node],
        deliver: Deliver,
        *,
        inputs: Mapping[str, Iterable[Any]] | None = None,
        on_error: Mapping[str, OnError] | None = None,
        observer: Observer | None = None,
        pause: Callable[[float], object] | None = None,
        record: Callable[[Step], None] | None = None,
        limit: int = 10_000,
        most_at_once: int = 4_000,
        tables: Tables = IN_MEMORY,
    ) -> None:
        network = self.network = graph.network()
        self.deliver = deliver
        self.observer = observer
        self.pause = pause
        self.record = record
        self.limit = limit
        self.most_at_once = most_at_once
        self.tables = tables
        policies = on_error or {}
        usual = policies.get("*", Stop())
        self.inboxes = [
            Inbox(network, number, nodes.get(name) or Relay(), policies.get(name, usual))
            for number, name in enumerate(network.nodes)
        ]
        for inbox in self.inboxes:
            inbox.exits.tables = tables
        self.targets = {network.edges[edge]: target for edge, target in enumerate(network.targets) if target != NO_NODE}
        self.runnable: deque[int] = deque()  # nodes with work that nobody runs, each once
        self.held: list[int] = []  # those of them that have to wait for room
        self.queued = 0  # messages on all internal and input edges
        self.steps = 0
        self._inputs = inputs or {}
        self.tracker: Tracker  # once the run has begun

    @property
    def rests(self) -> bool:
        """Whether no node runs and no step is half done, or was given up half-way."""
        return not any(inbox.busy for inbox in self.inboxes)

    # --- the beginning, and inputs -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Ask every node what it requests before anything happens (A&I: Initial(p))."""
        outs: list[Out] = []
        for inbox in self.inboxes:
            with starting(inbox) as out:
                result = inbox.behaviour.on_start(out)
                if is_to_be_awaited(result, inbox):
                    waited_for(result)
            outs.append(out)
        self._started(outs)

    async def start_async(self) -> None:
        """`start` in an event loop."""
        outs: list[Out] = []
        for inbox in self.inboxes:
            with starting(inbox) as out:
                result = inbox.behaviour.on_start(out)
                if is_to_be_awaited(result, inbox):
                    await result
            outs.append(out)
        self._started(outs)

    def _started(self, outs: Iterable[Out]) -> None:
        requests: list[tuple[str, Any]] = []
        holds: list[Hold] = []
        for out in outs:
            requests += [(out.exits.name, time) for time in out.requests]
            holds += out.holds or ()
        self.tracker = Tracker(self.network, inputs=self._inputs, requests=requests)
        if self.record is not None:
            self.record({"start": {"inputs": {name: [*at] for name, at in self._inputs.items()}, "requests": requests}})
        self.tables.hold(holds)
        self._hand_out()

    def go_on(self, tracker: Tracker) -> None:
        """Begin where another run was, all of whose queues are here again."""
        self.tracker = tracker
        self._hand_out()

    def has_room(self, edge: str) -> bool:
        """Whether an input edge may bring more now."""
        target = self.targets.get(edge)
        return target is None or self.inboxes[target].size < self.limit

    def bring(self, edge: str, batches: Mapping[Any, Sequence[Any]], opened: Iterable[Any] | None) -> None:
        """Messages come in on an input edge, and it moves to `opened`, in one step."""
        messages = [(edge, time, len(values)) for time, values in batches.items()]
        step: Step = {"messages": messages}
        if opened is not None:
            step["inputs"] = {edge: tuple(opened)}
        self._apply(step, [] if edge in self.targets else [(edge, time, -count) for edge, time, count in messages])
        for time, values in batches.items():
            self._queue(edge, time, list(values))
        self._hand_out()

    # --- actions -----------------------------------------------------------------------------------------------------

    def next_node(self) -> int | None:
        """The next node that has work and is not held, in turns; None where there is none. Cost: O(nodes held)."""
        inboxes, limit = self.inboxes, self.limit
        while self.runnable:
            node = self.runnable.popleft()
            inbox = inboxes[node]
            for target in inbox.fills:
                if inboxes[target].size >= limit:
                    self.held.append(node)
                    break
            else:
                inbox.is_listed = False
                return node
        return None

    def take(self, node: int, choose: Callable[[int], int] | None = None, most: int | None = None) -> Action:
        """The next action of a node, taken out of its queues; nobody else runs the node until `commit`.

        A node whose `at_once` allows more calls stands in line again at once. Notifications come first, because they
        hold times. `choose(n)` picks one of n things that might come next.
        """
        inbox = self.inboxes[node]
        inbox.busy += 1
        if inbox.ready and (choose is None or not inbox.queues or inbox.is_consuming or choose(2)):
            action = Action(node, None, inbox.ready.popleft(), ())
        else:
            action = self._messages(node, inbox, choose, self.most_at_once if most is None else most)
        if inbox.at_once > 1 and inbox.has_work and not inbox.is_listed:
            inbox.is_listed = True
            self.runnable.append(node)
        return action

    def _messages(self, node: int, inbox: Inbox, choose: Callable[[int], int] | None, limit: int) -> Action:
        """The messages of one edge and time, at most so many."""
        inbox.is_consuming = True
        keys = inbox.queues
        key = next(iter(keys)) if choose is None else inbox.chosen(choose)  # what came first is minimal
        values = keys[key]
        if len(values) > limit:
            keys[key] = values[limit:]
            values = values[:limit]
        else:
            del keys[key]
            inbox.taken(key[0])
        inbox.size -= len(values)
        self.queued -= len(values)
        if inbox.size < self.limit <= inbox.size + len(values):
            self.runnable += self.held
            self.held = []
        return Action(node, key[0], key[1], values)

    def perform(self, action: Action) -> Performed:
        """Run the node's code. Nothing else is touched, so this may happen in any thread."""
        return perform(action, self.inboxes[action.node], self.pause)

    def begin(self, action: Action) -> tuple[Performed, Iterator[Waits]]:
        """`perform` for an engine that has an event loop: the calls, which give what has to be waited for."""
        return begin(action, self.inboxes[action.node])

    def commit(self, performed: Performed) -> None:
        """Enter what a node did: one step of the tracker, which refuses what is illegal; raises a fatal failure."""
        (node, came_on, at, given), consumed, sent = performed.action, performed.consumed, performed.out.sent
        inbox = self.inboxes[node]
        name = inbox.exits.name
        if performed.failures:
            self._tell_of_failures(performed, inbox)
        step: Step = {}
        leaves = inbox.leaves
        messages = []
        leaving = []
        for (edge, time), values in sent.items():
            if values:
                messages.append((edge, time, len(values)))
                if edge in leaves:
                    leaving.append((edge, time, -len(values)))
                    self.deliver(edge, time, values)
        if came_on is None:
            if consumed:
                step["delivered"] = [(name, at)]
            else:
                inbox.ready.appendleft(at)
        else:
            if consumed:
                messages.append((came_on, at, -consumed))
            if consumed < len(given):
                self._put_back(performed.action, consumed)
        if messages:
            step["messages"] = messages
        if performed.out.requests:
            step["requests"] = [(name, time) for time in performed.out.requests]
        if step:
            self._apply(step, leaving)
        if not performed.is_fatal:  # what a node knows after that is unknown, so it stays busy
            inbox.busy -= 1
        if came_on is not None:
            inbox.is_consuming = False
        for (edge, time), values in sent.items():
            if values and edge not in leaves:
                self._queue(edge, time, values)
        if performed.out.holds:
            self.tables.hold(performed.out.holds)
        self._hand_out()
        if (inbox.queues or inbox.ready) and not inbox.is_listed and inbox.has_work:
            inbox.is_listed = True
            self.runnable.append(node)
        if self.observer is not None:
            self.observer.performed(name, came_on, at, consumed)
        if performed.is_fatal:
            raise performed.failures[-1]

    def _tell_of_failures(self, performed: Performed, inbox: Inbox) -> None:
        for failure in performed.failures:
            if self.observer is not None:
                self.observer.failed(failure)
            if not performed.is_fatal or failure is not performed.failures[-1]:
                self.deliver(dead_letters(inbox.policy), failure.time, [failure])

    def _apply(self, step: Step, leaving: Sequence[tuple[str, Any, int]]) -> None:
        """Tell the tracker of a step. `leaving` takes what is sent on output edges out of the graph, a step later.

        The tracker is told of both as one step, in which that makes no difference.
        """
        self.steps += 1
        if self.record is not None:
            self.record(step)
            if leaving:
                self.record({"messages": leaving})
        if leaving:
            gone = {(edge, time) for edge, time, _ in leaving}
            step = {**step, "messages": [message for message in step["messages"] if message[:2] not in gone]}
        self.tracker.apply(**step)

    def check_over(self) -> None:
        """Refuse an end at which something is outstanding (PS739), as requests that hold each other back."""
        requests, messages = self.tracker.pending(), self.tracker.messages()
        if requests:
            node, time = requests[0]
            raise WaitsForEver(f"{len(requests)} requests wait for ever: first {brief(node)} at {brief(time)}")
        if messages or self.queued or not self.rests:
            where = f": first on {brief(next(iter(messages))[0])}" if messages else ""
            raise WaitsForEver(f"{self.queued} messages are queued for ever{where}")

    # --- queues ------------------------------------------------------------------------------------------------------

    def _queue(self, edge: str, time: Any, values: list[Any]) -> None:
        node = self.targets[edge]
        inbox = self.inboxes[node]
        inbox.put(edge, time, values)
        inbox.size += len(values)
        self.queued += len(values)
        if not inbox.is_listed and inbox.has_work:
            inbox.is_listed = True
            self.runnable.append(node)

    def _put_back(self, action: Action, done: int) -> None:
        """What was taken and not done waits again, in front of what came since."""
        assert action.edge is not None
        inbox = self.inboxes[action.node]
        rest = list(action.values[done:])
        inbox.put_first(action.edge, action.time, rest)
        inbox.size += len(rest)
        self.queued += len(rest)

    def _hand_out(self) -> None:
        numbers = self.network.numbers
        for name, time in self.tracker.get_ready():
            number = numbers[name]
            inbox = self.inboxes[number]
            inbox.ready.append(time)
            if not inbox.is_listed and inbox.has_work:
                inbox.is_listed = True
                self.runnable.append(number)
