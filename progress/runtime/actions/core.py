"""A run: a tracker, what waits for each node, and the nodes. Engines choose what happens next, the core does it.

Each call of a node is one action of the paper: `Mess` for messages, `Not` for a notification (A&I 4.2). It takes three
steps: `take` gives it to whoever runs the node, `perform` runs the node's code, and `commit` tells the tracker, queues
what was sent and hands on what became ready. `perform` may run anywhere; the others run one at a time.

A node is *held* while a node that it sends to, outside of its own cycle, has `limit` messages waiting. That cannot
deadlock: of the cycles and nodes with work, one that leads to no other of them is never held, since what it leads to
has nothing waiting. Within a cycle nothing is held, for there the way to less work may be through more.

A held node waits in the line of one full node. When that one is full no more, a few of the line are let go, not all:
they would mostly be held again. As long as a line has room to wait for, somebody calls it: the full node, when
messages are taken from it; once it has room, each node that was let go, when what it did is entered, or when it is held
elsewhere. So no line stands while there is room, and letting go costs O(1) a call.

Calls of one node may follow each other without what they did being entered in between (`turn`). Each could have been
made when the first one was: notifications that are ready stay so, and messages that may be taken, too (A&I 4.2). So
they are a behaviour in which other nodes do nothing for a while, recorded step by step; the tracker is told of them as
one step, in which that makes no difference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import time as time_of_day
from typing import Any, NoReturn

from progress.errors import PointstampError, brief
from progress.runtime.actions.in_order import by_time
from progress.runtime.actions.inbox import Action, Inbox
from progress.runtime.actions.ordered import OrderedInbox
from progress.runtime.actions.performed import Performed, Waits, is_to_be_awaited
from progress.runtime.actions.performing import awaited_until, calls, perform, starting, waited_for
from progress.runtime.durable.order import Order
from progress.runtime.durable.underway import Underway
from progress.runtime.failure import OnError, Stop, dead_letters
from progress.runtime.node import Node, Relay
from progress.runtime.observer import Observer
from progress.runtime.out import IN_MEMORY, Out
from progress.runtime.tables import Hold, Tables
from progress.topology import NO_NODE, Network, Topology
from progress.tracker import Tracker

Deliver = Callable[[str, Any, Sequence[Any]], None]  # what leaves the graph: edge, time, values
Step = dict[str, Any]  # what `Tracker.apply` takes
LET_GO = 2  # held nodes that are let go at once: each lets go as many, so those that there is room for go soon
AT_A_TIME = 16  # of what waits for a node, before others have their turn
SEVERAL = 40  # changes of counts that are entered together: the kernel takes steps of up to 64 by itself


class WaitsForEver(PointstampError):
    """A run has come to its end, and something is outstanding that nothing will ever move."""

    def __init__(self, what: str) -> None:
        right = "`pointstamp check` finds the cycle that does not advance"
        super().__init__("PS739", f"the run is over, and {what}", right)


def _inbox(network: Network, number: int, node: Node, policy: OnError, in_order: bool) -> Inbox:
    """What waits for a node; refused (PS747) where the graph keeps it from taking its messages in order."""
    if not (in_order or node.ordered):
        return Inbox(network, number, node, policy)
    name, requests = brief(network.nodes[number]), network.requests[number]
    domain = network.domains[number]
    if network.relation is not None:
        raise _not_in_order(name, "the graph has calls", "a graph without calls")
    if not network.notifies[number]:
        raise _not_in_order(name, "the graph has it never notified", "notify: true")
    if not all(any(domain.less_equal(each, time) for each in requests.limits(time)) for time in domain.sample()):
        raise _not_in_order(name, "the graph has it notified of other times alone", "requests: identity")
    return OrderedInbox(network, number, node, policy)


def _not_in_order(name: str, why: str, right: str) -> PointstampError:
    return PointstampError("PS747", f"{name} is to take its messages in order, and {why}", right)


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
    in_order : whether all nodes take their messages in order, and not only those that say so
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
        most_at_once: int = 10_000,
        tables: Tables = IN_MEMORY,
        in_order: bool = False,
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
            _inbox(network, number, nodes[name] if name in nodes else Relay(), policies.get(name, usual), in_order)
            for number, name in enumerate(network.nodes)
        ]
        self.ordered = [inbox for inbox in self.inboxes if isinstance(inbox, OrderedInbox)]
        for inbox in self.inboxes:
            inbox.exits.tables = tables
        self.targets = {network.edges[edge]: target for edge, target in enumerate(network.targets) if target != NO_NODE}
        self.runnable: deque[int] = deque()  # nodes with work that nobody runs, each once
        self.held: dict[int, None] = {}  # those of them that have to wait for room, each in the line of an inbox
        self.aside: deque[int] = deque()  # those of them that wait until a checkpoint was taken
        self.check: Callable[[], None] | None = None  # raises when the run has to stop, where it may have to
        self.is_listened_to = False  # whether somebody is told how frontiers move
        self.is_awaited = False  # whether one waits for calls that it cannot take as not begun
        self.is_repeated = False  # whether what is done again after a kill has to be the same
        self.are_kept_apart = True  # whether what a node keeps stays as it is while nobody calls the node
        self.read_back: Callable[[Inbox], None] = lambda inbox: None  # has a node go on with what would be read of it
        self.queued = 0  # messages on all internal and input edges
        self.steps = 0
        self.order: Order | None = None  # where the order is written in which things happen
        self._inputs = inputs or {}
        self.tracker: Tracker  # once the run has begun

    @property
    def rests(self) -> bool:
        """Whether no node runs and no step is half done, or was given up half-way."""
        return not any(inbox.busy for inbox in self.inboxes)

    @property
    def is_idle(self) -> bool:
        """Whether nobody has anything to do until something comes in."""
        return not self.runnable and self.rests

    def may_be_kept(self) -> bool:
        """Whether a checkpoint may be taken now. Cost: O(nodes and calls that are being made)."""
        return all(inbox.is_known() for inbox in self.inboxes)

    def keep(self, waited_for: Collection[str]) -> None:
        """From now on checkpoints are taken while calls are being made, but for those of some nodes, by name."""
        for inbox in self.inboxes:
            inbox.underway = Underway(inbox.behaviour)
            inbox.underway.is_waited_for = inbox.exits.name in waited_for
            inbox.at_once = inbox.underway.at_once

    def was_kept(self) -> None:
        """A checkpoint was taken: what waited for that goes on."""
        self.is_awaited = False
        self.runnable += self.aside
        self.aside.clear()

    # --- the beginning, and inputs -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Ask every node what it requests before anything happens (A&I: Initial(p))."""
        outs: list[Out] = []
        for inbox in self.inboxes:
            with starting(inbox) as out:
                result = inbox.behaviour.on_start(out)
                if is_to_be_awaited(result, inbox):
                    waited_for(result, self.check)
            outs.append(out)
        self._started(outs)

    async def start_async(self) -> None:
        """`start` in an event loop."""
        outs: list[Out] = []
        for inbox in self.inboxes:
            with starting(inbox) as out:
                result = inbox.behaviour.on_start(out)
                if is_to_be_awaited(result, inbox):
                    await (result if self.check is None else awaited_until(result, self.check))
            outs.append(out)
        self._started(outs)

    def _started(self, outs: Iterable[Out]) -> None:
        requests: list[tuple[str, Any]] = []
        holds: list[Hold] = []
        for out in outs:
            requests += [(out.exits.name, time) for time in out.requests]
            holds += out.holds or ()
        self.tracker = Tracker(self.network, inputs=self._inputs, requests=requests, clock=time_of_day)
        if self.record is not None:
            self.record({"start": {"inputs": {name: [*at] for name, at in self._inputs.items()}, "requests": requests}})
        self.tables.hold(holds)
        for name, time in requests:
            inbox = self.inboxes[self.network.numbers[name]]
            if isinstance(inbox, OrderedInbox):
                inbox.asks(time)
        self._begin()

    def go_on(self, tracker: Tracker) -> None:
        """Begin where another run was, all of whose queues are here again."""
        self.tracker = tracker
        self._begin()

    def _begin(self) -> None:
        for inbox in self.ordered:
            edges = [self.network.edges[edge] for edge in self.network.incoming[self.network.numbers[inbox.exits.name]]]
            inbox.frontiers = partial(self._frontiers, edges)
        self._hand_out()

    def _frontiers(self, edges: Iterable[str]) -> Iterator[Any]:
        """The minimal times that may still come on some edges."""
        for edge in edges:
            yield from self.tracker.frontier(edge)

    def has_room(self, edge: str) -> bool:
        """Whether an input edge may bring more now."""
        target = self.targets.get(edge)
        return target is None or self.inboxes[target].size < self.limit

    def bring(self, edge: str, batches: Mapping[Any, list[Any]], opened: Iterable[Any] | None) -> None:
        """Messages come in on an input edge, and it moves to `opened`, in one step. The lists wait as they are."""
        if len(batches) > 1:
            batches = by_time(batches, self.network.domain(self.network.numbers[edge]))
        messages = [(edge, time, len(values)) for time, values in batches.items()]
        step: Step = {"messages": messages}
        if opened is not None:
            step["inputs"] = {edge: tuple(opened)}
        self.steps += 1
        if self.record is not None:
            self.record(step)
        if edge in self.targets:
            held = self._held(messages) if self.ordered else None
            if held is not None:
                step = {**step, **held}
                if self.record is not None:
                    self.record({**held, "messages": [(edge, time, -count) for edge, time, count in messages]})
            self.tracker.apply(**step)
            for time, values in batches.items():
                self._queue(edge, time, values)
        else:  # the graph passes them through: they leave a step later, the tracker is told of both as one
            if self.record is not None:
                self.record({"messages": [(edge, time, -count) for edge, time, count in messages]})
            self.tracker.apply(inputs=step.get("inputs"))
        self._hand_out()

    def _held(self, messages: Iterable[tuple[str, Any, int]]) -> Step | None:
        """For messages to nodes that take them in order requests stand, which are new, and the messages do not count.

        None where no message is such a one.
        """
        requests: list[tuple[str, Any]] = []
        left: list[tuple[str, Any, int]] = []
        are_held = False
        for edge, time, count in messages:
            inbox = self.inboxes[self.targets[edge]]
            if isinstance(inbox, OrderedInbox):
                are_held = True
                if inbox.wants(time):
                    requests.append((inbox.exits.name, time))
            else:
                left.append((edge, time, count))
        return {"messages": left, "requests": requests} if are_held else None

    # --- actions -----------------------------------------------------------------------------------------------------

    def next_node(self) -> int | None:
        """The next node that has work and is not held, in turns; None where there is none.

        Cost: O(nodes that it sends to) for each that is looked at; one that is held is so when there is room.
        """
        inboxes, limit = self.inboxes, self.limit
        while self.runnable:
            node = self.runnable.popleft()
            inbox = inboxes[node]
            for target in inbox.fills:
                if inboxes[target].size >= limit:
                    self.hold(node, target)
                    self._let_go(inbox.fills)  # it does not use the room for which it may have been let go
                    break
            else:
                if self.is_awaited and not all(call.is_known for call in inbox.calls):
                    self.aside.append(node)
                    continue
                inbox.is_listed = False
                return node
        return None

    def hold(self, node: int, target: int) -> None:
        """Let a node that has work stand last in the line of one that is full; a `ValueError` where it has none."""
        if target not in self.inboxes[node].fills or node in self.held:
            raise ValueError(f"{self.inboxes[node].exits.name!r} has no place in a line")
        self.held[node] = None
        self.inboxes[target].line.append(node)
        self.inboxes[node].is_listed = True

    def _let_go(self, targets: Iterable[int]) -> None:
        """Let a few go of those who wait for room in one of these that has it."""
        for target in targets:
            inbox = self.inboxes[target]
            if inbox.line and inbox.size < self.limit:
                for _ in range(min(LET_GO, len(inbox.line))):
                    node = inbox.line.popleft()
                    del self.held[node]
                    self.runnable.append(node)

    def turn(self, node: int, most: int, check: Callable[[], None] = lambda: None) -> int:
        """Let a node do up to `most` of what waits for it, and enter all of it in one step; how much it did.

        It ends early where what comes next may depend on what was done, where the step grows large, and where a node
        that it sends to may have no more room.
        """
        inbox = self.inboxes[node]
        performed = self.perform(self.take(node))
        if most == 1 or inbox.at_once > 1 or not (inbox.ready or inbox.queues):
            self.commit(performed)
            return 1
        done = [performed]
        room = min([self.limit - self.inboxes[target].size for target in inbox.fills], default=self.limit)
        changes = 0
        try:
            while performed.is_whole and (inbox.ready or inbox.queues) and len(done) < most:
                sent = performed.out.sent
                changes += 1 + len(sent) + len(performed.out.requests)
                room -= sum(map(len, sent.values()))
                if changes > SEVERAL or room <= 0:
                    break
                check()
                performed = self.perform(self.take(node))
                done.append(performed)
        finally:
            self.commit(*done)
        return len(done)

    def take(self, node: int, chosen: tuple[str | None, Any] | None = None, most: int | None = None) -> Action:
        """The next action of a node, taken out of its queues; nobody else runs the node until `commit`.

        A node whose `at_once` allows more calls stands in line again at once. Notifications come first, because they
        hold times. `chosen` is an edge and a time whose messages may be taken, or no edge and a time of which the node
        may be notified.
        """
        inbox = self.inboxes[node]
        inbox.busy += 1
        if chosen is None:
            chosen = (None, inbox.ready[0]) if inbox.ready else inbox.free()
        assert chosen is not None
        edge, time = chosen
        if edge is None:
            inbox.ready.remove(time)
            action = Action(node, None, time, ())
        else:
            values = self._messages(node, edge, time, self.most_at_once if most is None else most)
            action = Action(node, edge, time, values)
            if inbox.at_once > 1:
                inbox.consuming.append(action)
        inbox.kept = None
        if self.order is not None:
            self.order.took(action)
        if inbox.underway is not None:
            inbox.underway.begin(action)
        if inbox.at_once > 1 and inbox.has_work and not inbox.is_listed:
            inbox.is_listed = True
            self.runnable.append(node)
        return action

    def take_this(self, node: int, edge: str | None, time: Any, count: int) -> Action:
        """What a node has taken in a run before: so many messages of an edge and time, or a notification.

        A `ValueError` where it is not there.
        """
        inbox = self.inboxes[node]
        if inbox.is_ordered and not inbox.has_work:  # which puts what is next where it is found
            raise ValueError(f"nothing is next at {inbox.exits.name!r}")
        found = len(inbox.queues.get((edge, time), ())) if edge is not None else inbox.ready.count(time)
        if found < max(count, 1):
            raise ValueError(f"{found} of {count} messages wait for {inbox.exits.name!r}")
        return self.take(node, (edge, time), count)

    def list_again(self) -> None:
        """After actions that nobody chose: in line are the nodes that have work, and no others; none is held yet."""
        self.runnable = deque(node for node in (*self.runnable, *self.held) if self.inboxes[node].has_work)
        self.held.clear()
        for inbox in self.inboxes:
            inbox.line.clear()
        for number, inbox in enumerate(self.inboxes):
            inbox.is_listed = number in self.runnable
            if inbox.has_work and not inbox.is_listed:
                inbox.is_listed = True
                self.runnable.append(number)

    def give_back(self, action: Action) -> None:
        """What was taken and not done waits again, in front of all else."""
        inbox = self.inboxes[action.node]
        inbox.busy -= 1
        if action.edge is None:
            inbox.ready.appendleft(action.time)
        else:
            self._put_back(action, 0)
        inbox.consuming = [other for other in inbox.consuming if other is not action]
        if inbox.underway is not None:
            inbox.underway.calls = [call for call in inbox.underway.calls if call.action is not action]

    def _messages(self, node: int, edge: str, time: Any, most: int) -> list[Any]:
        """The messages of one edge and time, at most so many, taken out of their queue."""
        inbox = self.inboxes[node]
        values = inbox.queues[edge, time]
        if len(values) > most:
            inbox.queues[edge, time] = values[most:]
            values = values[:most]
        else:
            del inbox.queues[edge, time]
            inbox.taken(edge)
        if not inbox.is_ordered:
            inbox.size -= len(values)
            self.queued -= len(values)
        if inbox.line:
            self._let_go((node,))
        return values

    def perform(self, action: Action) -> Performed:
        """Run the node's code. Nothing else is touched, so this may happen in any thread."""
        performed, made = self.begin(action)
        perform(performed, made, self.pause, self.check)
        return performed

    def begin(self, action: Action) -> tuple[Performed, Iterator[Waits]]:
        """An action as it is performed, and its calls, which give what has to be waited for.

        Before them the node's state is remembered, where a checkpoint may have to know it.
        """
        inbox = self.inboxes[action.node]
        if inbox.underway is not None:
            inbox.underway.note(action, self.is_awaited)
        performed = Performed(action, inbox.exits.out(inbox.exits, action.time))
        return performed, calls(performed, inbox)

    def commit(self, *several: Performed) -> None:
        """Enter what calls of one node did, in this order: one step of the tracker, which refuses what is illegal.

        A call that may not be entered before another one is entered after it (`Inbox.comes_later`). Raises a fatal
        failure; where it is not its turn, nothing of the call is entered. So it is where what is done again has to be
        the same: mended, the call does all of it at once. Cost: that of the step, and O(what was sent and requested).
        """
        inbox = self.inboxes[several[0].action.node]
        if self.is_repeated and several[-1].is_fatal:
            if len(several) > 1:
                self._enter(inbox, several[:-1])
            self._raise_fatal(several[-1])
        if not inbox.consuming and not inbox.over:
            self._enter(inbox, several)
            return
        inbox.over += several
        while (performed := inbox.next_over()) is not None:
            self._enter(inbox, (performed,))
        for performed in inbox.over:
            if performed.is_fatal:
                self._raise_fatal(performed)

    def _raise_fatal(self, performed: Performed) -> NoReturn:
        """Stop the run for a call of which nothing is entered."""
        if self.observer is not None:
            self.observer.failed(performed.failures[-1])
        raise performed.failures[-1]

    def _enter(self, inbox: Inbox, several: Sequence[Performed]) -> None:
        name, leaves = inbox.exits.name, inbox.leaves
        if self.order is not None:
            self.order.entered(several)
        counts: dict[tuple[str, Any], int] = {}
        delivered: list[tuple[str, Any]] = []
        requests: list[tuple[str, Any]] = []
        arriving: list[tuple[str, Any, list[Any]]] = []
        for performed in several:
            (_, came_on, at, given), consumed, out = performed.action, performed.consumed, performed.out
            if performed.failures:
                self._tell_of_failures(performed, inbox)
            if came_on is None:
                if consumed:
                    delivered.append((name, at))
                else:
                    inbox.put_ready(at)
            else:
                if consumed and not inbox.is_ordered:
                    counts[came_on, at] = counts.get((came_on, at), 0) - consumed
                if consumed < len(given):
                    self._put_back(performed.action, consumed)
            for key, values in out.sent.items():
                if values:
                    edge, time = key
                    if edge in leaves:
                        self.deliver(edge, time, values)
                        if self.observer is not None:
                            self.observer.left(edge, time, len(values))
                    else:
                        counts[key] = counts.get(key, 0) + len(values)
                        arriving.append((edge, time, values))
            for time in out.requests:
                requests.append((name, time))
            if self.record is not None:
                self._record(inbox, performed)
            if isinstance(inbox, OrderedInbox):
                over = [(name, time) for time in inbox.made(out.requests, came_on is None and bool(consumed))]
                delivered += over
                if over and self.record is not None:
                    self.record({"delivered": over})
        if counts or delivered or requests:
            self.steps += len(several)
            messages = [(edge, time, change) for (edge, time), change in counts.items() if change]
            held = self._held(messages) if self.ordered and arriving else None
            if held is not None:
                if self.record is not None:
                    taken = [each for each in messages if each not in held["messages"]]
                    self.record({**held, "messages": [(edge, time, -count) for edge, time, count in taken]})
                messages = held["messages"]
                requests += held["requests"]
            self.tracker.apply(messages=messages, requests=requests, delivered=delivered)
        for edge, time, values in arriving:
            self._queue(edge, time, values)
        for performed in several:
            if not performed.is_fatal:  # what a node knows after that is unknown, so it stays busy
                inbox.busy -= 1
            if inbox.underway is not None:
                inbox.ended(performed.action)
            inbox.entered += 1
            if inbox.again and inbox.again[0] == inbox.entered:
                inbox.again.popleft()
                self.read_back(inbox)
            if inbox.consuming:
                inbox.consuming = [action for action in inbox.consuming if action is not performed.action]
            if performed.out.holds:
                self.tables.hold(performed.out.holds)
        self._hand_out()
        if (inbox.queues or inbox.ready or inbox.is_ordered) and not inbox.is_listed and inbox.has_work:
            inbox.is_listed = True
            self.runnable.append(several[0].action.node)
        if self.held:
            self._let_go(inbox.fills)
        if self.observer is not None:
            for performed in several:
                self.observer.performed(name, performed.action.edge, performed.action.time, performed.consumed)
        if performed.is_fatal:
            raise performed.failures[-1]

    def _record(self, inbox: Inbox, performed: Performed) -> None:
        """Record what one call did. What leaves the graph leaves it a step later."""
        assert self.record is not None
        name = inbox.exits.name
        (_, came_on, at, _), consumed, out = performed.action, performed.consumed, performed.out
        messages = [(edge, time, len(values)) for (edge, time), values in out.sent.items() if values]
        leaving = [(edge, time, -count) for edge, time, count in messages if edge in inbox.leaves]
        step: Step = {}
        if came_on is not None:
            if consumed and not inbox.is_ordered:
                messages.append((came_on, at, -consumed))
        elif consumed:
            step["delivered"] = [(name, at)]
        if messages:
            step["messages"] = messages
        if out.requests:
            step["requests"] = [(name, time) for time in out.requests]
        if step:
            self.record(step)
        if leaving:
            self.record({"messages": leaving})

    def _tell_of_failures(self, performed: Performed, inbox: Inbox) -> None:
        for failure in performed.failures:
            if self.observer is not None:
                self.observer.failed(failure)
            if not performed.is_fatal or failure is not performed.failures[-1]:
                self.deliver(dead_letters(inbox.policy), failure.time, [failure])

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
        if not inbox.is_ordered:
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
        if not inbox.is_ordered:
            inbox.size += len(rest)
            self.queued += len(rest)
        inbox.put_first(action.edge, action.time, rest)  # which takes the list, and may let more wait in it

    def _hand_out(self) -> None:
        for number, time in self.tracker.ready_by_number():
            inbox = self.inboxes[number]
            if inbox.ready or inbox.is_ordered:
                inbox.put_ready(time)
            else:
                inbox.ready.append(time)
            if not inbox.is_listed and inbox.has_work:
                inbox.is_listed = True
                self.runnable.append(number)
        for ordered in self.ordered:
            if not ordered.is_total and not ordered.is_listed and ordered.has_work:  # frontiers may have passed it
                ordered.is_listed = True
                self.runnable.append(self.network.numbers[ordered.exits.name])
