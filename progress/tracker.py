"""The scheduler to embed: told of every step, it says which notifications may be delivered now (A&I 4.2).

A `Tracker` holds what is outstanding in a running system: queued messages, pending notification requests, and the times
from which inputs may still bring messages. Clock is Close-up of all that. A step changes it, whole or not at all, and
may only let Clock shrink: what it adds must be in Clock already. A request (p, t) is *ready* when no incoming edge of p
has (e, t) in Clock; its delivery ends it. An event in process holds its time until the step that consumes it is
committed, because a step shows no effect before.

Every method may be called from any thread: one lock guards a tracker, steps are committed one after the other, and each
ready request is handed to one caller. A `Step` belongs to the thread that fills it. Callbacks of `subscribe` run after
their step, outside of the lock, one at a time and in the order of the steps, in one of the threads that took them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, overload

from progress.effort import TooMuchWork
from progress.engines import Engine
from progress.engines.propagation import Change
from progress.errors import brief
from progress.garbage import without_cycle_search
from progress.kernel import TooMuchForKernel
from progress.notebook import MOST_DRAWN, InNotebooks, Shown, times_in_words
from progress.order import opening_times
from progress.pointstamp import Pointstamp
from progress.summary import NoMinimalTimes
from progress.topology import Topology, network_of
from progress.tracking.awaited import Awaited
from progress.tracking.blocking import Holding, Why
from progress.tracking.commit import Commit
from progress.tracking.invariants import check_invariants
from progress.tracking.ledger import Edge, Ledger, Node
from progress.tracking.own_relation import all_outstanding
from progress.tracking.refusal import bad_snapshot, check_many, not_to_be_copied, wrong_form
from progress.tracking.running_on_summaries import registrar_of, workings_of
from progress.tracking.snapshot import read_snapshot, write_snapshot
from progress.tracking.step import Step
from progress.tracking.subscriptions import Callback, Subscriptions
from progress.tracking.usual_steps import UsualStep, never_usual
from progress.tracking.wait import Waits
from progress.tracking.waiting import Asked, everything, waits

MISSING = object()
Touched = Iterable[tuple[Any, ...]]  # each begins with the name of a location where what lies there has changed


class Tracker(InNotebooks):
    """Progress of one running system.

    Parameters
    ----------
    graph : any graph with `network()`
    inputs : the times at which input edges open; one not named opens at the least times of its domain, or is closed
        where the domain has none
    requests : notification requests that are pending before anything happens
    engine : "eager", "hierarchical", or "auto" (`progress.engines` says how it chooses); a graph with calls has an
        engine of its own, "auto" alone
    kernel : whether to use the compiled kernel; None: where it is there and fits
    clock : what time of day it is, in seconds, like `time.time`; then `why()` knows for how long requests have waited.
        Without one it counts steps

    Cost: O(nodes + edges) to build. A step costs its changes, and what the engine says of them; nothing but logarithms
    grows with the number of times and requests outstanding, see `progress.engines.vertex_state`.

    Examples
    --------
    >>> from pointstamp import Tracker, from_edges
    >>> tracker = Tracker(from_edges([(None, "a"), ("a", "b")]), requests=[("b", 0)])
    >>> tracker.apply(messages=[("in->a", 0, 1)], inputs={"in->a": []})
    >>> tracker.get_ready()
    ()
    >>> tracker.apply(messages=[("in->a", 0, -1)])
    >>> tracker.get_ready()
    (Pointstamp(location='b', time=0),)
    """

    def __init__(
        self,
        graph: Topology,
        *,
        inputs: Mapping[str, Iterable[Any]] | None = None,
        requests: Iterable[tuple[str, Any]] = (),
        engine: str = "auto",
        kernel: bool | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        if clock is not None and not callable(clock):
            raise wrong_form(f"clock is {brief(clock)}", "a function that tells the time of day in seconds: time.time")
        self.network = network_of(graph)
        self._lock = threading.RLock()
        self._ledger = Ledger(self.network)
        self._kernel: Any = None
        self._usual_step: UsualStep = never_usual
        with without_cycle_search():
            self._workings = workings_of(self.network)
            self._choice = engine, kernel
            self._engine = self._new_engine()
        self._entries = 0  # of the ledger, but for those of which the kernel keeps count
        self._waiters: dict[int, tuple[Node, Any, int, float | None]] = {}  # with step and time of day, oldest first
        self._clock = clock
        self._steps = 0
        self._awaited = Awaited()
        self._next_waiter = 0
        self._eligible: dict[tuple[Node, Any], None] = {}  # in the order in which they became so
        self._fresh: dict[tuple[Node, Any], None] = {}  # ready, and not yet handed out
        self._subscriptions = Subscriptions()
        self._begin({} if inputs is None else inputs, requests)

    @property
    def engine(self) -> str:
        """The engine in use: "eager", "hierarchical", or that of a graph that decides could-result-in by itself."""
        return self._engine.name

    @property
    def kernel(self) -> bool:
        """Whether the compiled kernel is in use."""
        return self._kernel is not None

    def __repr__(self) -> str:
        kernel = " on the kernel" if self.kernel else ""
        return f"Tracker({self.network!r}, {self.engine}{kernel}, {self._outstanding} outstanding)"

    def _shown(self) -> Shown:
        with self._lock:  # all of it is of one moment
            waits, network = self.why(), self.network
            names = [*islice(network.numbers, 5 * MOST_DRAWN)]
            frontiers = {name: times_in_words(self._frontier_or_none(name)) for name in names}
        texts = {name: [f"\u2265 {times}"] for name, times in frontiers.items() if times}
        shown = waits._shown()
        rows = [*shown.rows, *((f"{name!r} from {times} on",) for name, times in frontiers.items() if times)]
        return shown._replace(head=("what waits, and what may still arrive",), rows=rows, network=network, texts=texts)

    def _frontier_or_none(self, location: str) -> tuple[Any, ...]:
        try:
            return self.frontier(location)
        except NoMinimalTimes:
            return ("without end",)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise not_to_be_copied()

    def __copy__(self) -> Tracker:
        raise not_to_be_copied()

    def __deepcopy__(self, memory: Any) -> Tracker:
        raise not_to_be_copied()

    # --- steps -------------------------------------------------------------------------------------------------------

    def step(self) -> Step:
        """A step to be filled within `with`: taken whole at its end, or not at all."""
        return Step(self)

    def apply(
        self,
        *,
        inputs: Mapping[str, Iterable[Any]] | None = None,
        messages: Iterable[tuple[str, Any, int]] = (),
        requests: Iterable[tuple[str, Any]] = (),
        delivered: Iterable[tuple[str, Any]] = (),
    ) -> None:
        """Take one step, whole or not at all; what is illegal in it is refused with PS5xx.

        `inputs`: the times from which inputs may still bring messages from now on; none closes an input for ever.
        `messages`: edge, time, and change of the number queued. `requests` are added, asking twice being asking once.
        `delivered` ends requests that were eligible before this step.
        """
        with self._lock:
            try:
                woken = self._usual_step(messages, delivered, requests, inputs)
            except BaseException as error:
                self._broken_off(error)
                woken = None
            if woken is None:
                touched = self._take(inputs, messages, requests, delivered)
            else:
                self._steps += 1
                touched = self._taken(woken, inputs, messages, requests, delivered) if woken is not False else ()
            if self._awaited.ready:
                self._awaited.tell(self)
            if not touched or not self._subscriptions.any:
                return
            self._subscriptions.collect(self, touched)
        self._subscriptions.make_calls()

    def _taken(self, woken: list[int], inputs: Any, messages: Any, requests: Any, delivered: Any) -> Touched:
        """The kernel took a usual step, and released waiters; what it touched, if that is news to anybody."""
        nodes = self._ledger.nodes
        for name, time in delivered:
            self._over((nodes[name], time))
        if woken:
            self._wake(self._engine.freed(woken))
        for name, time in requests:
            self._admit(nodes[name], time)
        if not self._kernel.news:
            return ()
        return (*messages, *requests, *delivered, *zip(inputs or ()))

    def _broken_off(self, error: BaseException) -> None:
        """The engine stopped in the middle of an update; the state before is there again. Raised, where it must be."""
        if isinstance(error, OverflowError) and self.kernel:  # a number beyond what the kernel can count
            self._choice = self._choice[0], False
            self._rebuild()
            return
        self._rebuild()
        raise TooMuchWork() if isinstance(error, TooMuchForKernel) else error from None

    def _take(self, inputs: Any, messages: Any, requests: Any, delivered: Any) -> Touched:
        """Take any step, judged by the definitions; what it touched."""
        commit = Commit(self._ledger, self._engine, self._workings)
        commit.judge(inputs, messages, requests, delivered)
        woken = self._update(commit.changes)
        commit.enter()
        self._steps += bool(inputs or messages or requests or delivered)
        self._entries += commit.entries
        for request in commit.ended:
            self._over(request)
        self._wake(woken)
        for node, time in commit.asked:
            self._admit(node, time)
        return commit.touched() if self._subscriptions.any else ()

    def _update(self, changes: list[Change]) -> list[int]:
        """The waiters that changes release; without the kernel where it cannot count so far."""
        try:
            return self._engine.update(changes)
        except BaseException as error:
            self._broken_off(error)
        return self._update(changes)

    def _begin(self, inputs: Mapping[str, Iterable[Any]], requests: Iterable[tuple[str, Any]]) -> None:
        network, ledger = self.network, self._ledger
        if not isinstance(inputs, Mapping):
            raise wrong_form(f"inputs is {brief(inputs)}", "input edges with the times at which each is open")
        check_many("requests", requests)
        for name, times in inputs.items():
            edge = ledger.input(name)
            edge.open = ledger.opening(edge, times)
        for name, number in network.inputs.items():
            if name not in inputs:
                ledger.edge(name).open = opening_times(network.edge_domains[number])
        for node, time in dict.fromkeys(map(ledger.request, requests or ())):
            node.requests[time] = None
        self._start()

    def _start(self) -> None:
        """The engine's state from the ledger; all pending requests wait, or are ready."""
        self._entries = len(self._ledger.every())
        changes = all_outstanding(self._workings, self._ledger)
        try:
            self._engine.update(changes)
        except OverflowError:
            if not self.kernel:
                raise
            self._choice = self._choice[0], False
            self._engine = self._new_engine()
            self._engine.update(changes)
        except TooMuchForKernel:
            raise TooMuchWork from None
        for node in list(self._ledger.nodes.values()):
            for time in list(node.requests):
                self._admit(node, time)

    def _admit(self, node: Node, time: Any) -> None:
        waiter = self._next_waiter
        self._next_waiter += 1
        if self._engine.wait(node.number, time, waiter):
            self._waiters[waiter] = node, time, self._steps, None if self._clock is None else self._clock()
            node.requests[time] = waiter
        else:
            self._free(node, time)

    def _wake(self, woken: Iterable[int]) -> None:
        for waiter in woken:
            request = self._waiters.pop(waiter, None)
            if request is None:
                self._awaited.over(waiter)
            else:
                self._free(request[0], request[1])

    def _free(self, node: Node, time: Any) -> None:
        node.requests[time] = None
        self._eligible[node, time] = None
        self._fresh[node, time] = None

    def _over(self, request: tuple[Node, Any]) -> None:
        self._eligible.pop(request, None)
        self._fresh.pop(request, None)

    def _new_engine(self) -> Engine:
        if self._ledger.registrar is not None:
            self._entries += self._ledger.registrar.entries
        engine = self._workings.engine(*self._choice)
        self._kernel = engine.kernel
        registrar = self._ledger.registrar = registrar_of(self._workings, engine, self._ledger)
        self._usual_step = never_usual if registrar is None else registrar.kernel.step
        return engine

    def _rebuild(self) -> None:
        """A new engine in the state of the ledger, after an update that was broken off."""
        self._engine = self._new_engine()
        self._engine.rebuild(all_outstanding(self._workings, self._ledger))
        asked = [(waiter, (node, time)) for waiter, (node, time, _, _) in self._waiters.items()]
        for waiter, (node, time) in (*asked, *self._awaited.places()):
            self._engine.wait(node.number, time, waiter)
        for vertex in self._subscriptions.vertices:
            self._engine.watch(vertex)

    # --- going on ---------------------------------------------------------------------------------------------------

    @property
    def _outstanding(self) -> int:
        registrar = self._ledger.registrar
        return self._entries + (0 if registrar is None else registrar.entries)

    def is_active(self) -> bool:
        """Whether anything is outstanding: a message, an open input, a pending request. Cost: O(1)."""
        return self._outstanding > 0

    def __bool__(self) -> bool:
        """`is_active`, as of graphlib's sorter: `while tracker: ...`."""
        return self.is_active()

    async def wait(self, node: str, time: Any) -> None:
        """Wait until nothing at or before `time` can arrive at a node any more, as `complete` tells.

        Steps may be taken in this loop or in any thread. It asks for nothing: a request is not part of this.
        """
        import asyncio  # 30 ms that most programs need not pay

        with self._lock:
            place, time = self._ledger.request((node, time))
            waiter = self._awaited.waiter(place, time)
            if waiter is None:
                waiter = self._next_waiter
                self._next_waiter += 1
                if not self._engine.wait(place.number, time, waiter):
                    return
            future = self._awaited.at_node(asyncio.get_running_loop(), waiter, place, time)
        await future

    async def wait_ready(self) -> tuple[Pointstamp, ...]:
        """What `get_ready` gives, as soon as it gives anything; nothing when nothing is outstanding any more."""
        import asyncio

        while True:
            with self._lock:
                found = self.get_ready()
                if found or not self.is_active():
                    return found
                future = self._awaited.for_ready(asyncio.get_running_loop())
            await future

    # --- answers -----------------------------------------------------------------------------------------------------

    def get_ready(self) -> tuple[Pointstamp, ...]:
        """The requests that became ready since the last call, each listed once in its life.

        In node order, then in a linear extension of the time order. They stay pending, and hold their times, until a
        step delivers them. Cost: O(r log r) for r requests.
        """
        if not self._fresh:
            return ()
        names = self.network.nodes
        return tuple([Pointstamp(names[node], time) for node, time in self.ready_by_number()])

    def ready_by_number(self) -> Iterable[tuple[int, Any]]:
        """`get_ready` with the numbers of nodes instead of their names."""
        if not self._fresh:
            return ()
        with self._lock:
            fresh, self._fresh = self._fresh, {}
            return [(node.number, time) for node, time in _sorted(fresh)]

    def eligible(self) -> tuple[Pointstamp, ...]:
        """All pending requests that may be delivered now, in the order of `get_ready`."""
        with self._lock:
            return _in_order(self._eligible)

    def frontier(self, location: str) -> tuple[Any, ...]:
        """Clock's minimal times at a location, in a linear extension of their order; PS601 where they fall without end.

        Cost: O(width) summaries.
        """
        with self._lock:
            return self._workings.frontier(self._ledger, self._engine, self._ledger.place(location))

    def clock(self) -> dict[str, tuple[Any, ...]]:
        """Clock's minimal times at every location that has any. Cost: that of `frontier` for each location."""
        with self._lock:
            names = (*self.network.nodes, *self.network.edges)
            return {name: times for name in names if (times := self.frontier(name))}

    def complete(self, location: str, time: Any) -> bool:
        """Whether nothing at or before `time` can still arrive: on an edge, or at a node on any of its incoming edges.

        A pending request is not an arrival: it does not keep its own node from being complete. Cost: that of `covers`.
        """
        with self._lock:
            place, time = self._ledger.pointstamp((location, time))
            if isinstance(place, Node):
                return not self._engine.covers(place.number, time)
            return not self._workings.may_send(self._ledger, self._engine, place, time)

    @overload
    def why(self) -> Waits: ...

    @overload
    def why(self, node: str, time: Any) -> Why: ...

    def why(self, node: Any = MISSING, time: Any = MISSING) -> Waits | Why:
        """What keeps a request (node, time) waiting, pending or not: every blocker with its proof, see `blockers`.

        Without arguments: all requests that wait, oldest first, each with the one that holds it and holds most, and
        what would let it go. Cost: that of `progress.tracking.waiting.Search`; the lock is held while what is
        outstanding is listed.
        """
        if node is MISSING and time is MISSING:
            with self._lock:
                if not self._waiters:
                    return Waits([], len(self._eligible), self._steps, is_whole=True)
                asked = [Asked(place.number, time, step, at) for place, time, step, at in self._waiters.values()]
                lying, steps = everything(self._ledger), self._steps
                now = None if self._clock is None else self._clock()
            return waits(self._workings, self.network, asked, lying, steps, now)
        if node is MISSING or time is MISSING:
            raise wrong_form("why is asked of half a request", "a node and a time, or neither for all that waits")
        with self._lock:
            place, time = self._ledger.request((node, time))
            goals = [len(self.network.nodes) + edge for edge in self.network.incoming[place.number]]
            found = self._workings.blockers(goals, time, self._ledger.every()) if goals else ()
            return Why(bool(found), found)

    def holding(self, location: str) -> tuple[Holding, ...]:
        """Who holds a location back: for each minimal time there, all outstanding pointstamps that lead to it."""
        with self._lock:
            number, every = self.network.numbers[self._ledger.place(location).name], self._ledger.every()
            times = self.frontier(location)
            return tuple(Holding(time, self._workings.blockers([number], time, every)) for time in times)

    def messages(self) -> dict[tuple[str, Any], int]:
        """The queued messages: how many there are on each edge at each time."""
        with self._lock:
            edges = self._ledger.edges_in_order()
            return {(edge.name, time): count for edge in edges for time, count in edge.messages.items()}

    def pending(self) -> tuple[Pointstamp, ...]:
        """The pending requests, the ready ones included, in the order of `get_ready`."""
        with self._lock:
            nodes = self._ledger.nodes.values()
            return _in_order((node, time) for node in nodes for time in node.requests)

    def inputs(self) -> dict[str, tuple[Any, ...]]:
        """The times from which each input may still bring messages."""
        with self._lock:
            edges = self._ledger.edges_in_order()
            return {edge.name: edge.open for edge in edges if edge.is_input}

    def subscribe(self, location: str, callback: Callback, *, told: Iterable[Any] | None = None) -> Callable[[], None]:
        """Call `callback(location, left, came)` after each step that moves the frontier there; returns the way out.

        `left` are the times that are no minimal times there any more, `came` those that are now. A location may lose
        its minimal times, where there are calls or times fall without end: then nothing is told until it has some
        again, or none at all because it is complete; what was told last remains a lower bound. One that has none to
        begin with is refused (PS601), unless `told` says what was told last, nothing where that is nobody yet.
        A callback may take steps; what follows from those is told after what is being told now. What callbacks raise
        reaches the caller of the step after all of them were called; the step stands.
        """
        if not callable(callback):
            right = "a function of a location, the times that left, and those that came"
            raise wrong_form(f"{brief(callback)} cannot be called", right)
        with self._lock:
            return self._subscriptions.add(self, self._ledger.place(location), callback, told)

    # --- snapshots and checks ----------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """All that is outstanding, as plain data that JSON can carry; times of a user's own domain stay as they are."""
        with self._lock:
            handed_out = [request for request in self._eligible if request not in self._fresh]
            since = [(node.name, *since) for node, *since in self._waiters.values()]
            reported = _in_order(handed_out)
            return write_snapshot(self.inputs(), self.messages(), self.pending(), reported, self._steps, since)

    @classmethod
    def restore(
        cls,
        graph: Topology,
        snapshot: Any,
        *,
        engine: str = "auto",
        kernel: bool | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Tracker:
        """A tracker in the state of a snapshot; ready requests that were handed out are not handed out again."""
        inputs, messages, requests, reported, steps, since = read_snapshot(snapshot)
        network = network_of(graph)
        closed = dict.fromkeys(network.inputs, ())
        if missing := [name for name in closed if name not in inputs]:
            raise bad_snapshot(f"it says nothing of the input {brief(missing[0])}")
        tracker = cls(network, inputs=closed, engine=engine, kernel=kernel, clock=clock)
        ledger = tracker._ledger
        for name, times in inputs.items():
            edge = ledger.input(name)
            edge.open = ledger.opening(edge, times)
        for name, time, count in messages:
            place, time = ledger.pointstamp((name, time))
            if not isinstance(place, Edge) or type(count) is not int or count < 1:
                raise bad_snapshot(f"{count!r} messages at {name!r}")
            place.messages[time] = place.messages.get(time, 0) + count
        for item in requests:
            node, time = ledger.request(item)
            node.requests[time] = None
        tracker._start()
        handed_out = {ledger.request(item) for item in reported}
        if not handed_out <= tracker._eligible.keys():
            raise bad_snapshot("it reports requests that are not ready")
        for request in handed_out:
            tracker._fresh.pop(request, None)
        tracker._wait_since(steps, {ledger.request((node, time)): (step, at) for node, time, step, at in since})
        return tracker

    def _wait_since(self, steps: int, since: Mapping[tuple[Node, Any], tuple[int, float | None]]) -> None:
        """So many steps were taken, and requests wait since then; those that are not named, from the beginning."""
        known = {(node, time): (waiter, at) for waiter, (node, time, _, at) in self._waiters.items()}
        if not known.keys() >= since.keys():
            raise bad_snapshot("it says since when some requests wait that are not waiting")
        self._steps = steps
        self._waiters = {}
        for request, (step, at) in since.items():
            waiter, now = known.pop(request)
            self._waiters[waiter] = *request, step, now if at is None else at
        for request, (waiter, now) in known.items():
            self._waiters[waiter] = *request, 0, now

    def _check(self) -> None:
        """Assert every invariant against the definitions; an AssertionError dumps the state. Cost: that of `close`."""
        with self._lock:
            check_invariants(self, self._ledger)


def _in_order(requests: Iterable[tuple[Node, Any]]) -> tuple[Pointstamp, ...]:
    return tuple([Pointstamp(node.name, time) for node, time in _sorted(requests)])


def _sorted(requests: Iterable[tuple[Node, Any]]) -> list[tuple[Node, Any]]:
    """In node order, then in a linear extension of the time order."""
    found = list(requests)
    if len(found) > 1:
        found.sort(key=lambda request: (request[0].number, request[0].domain.sort_key(request[1])))
    return found
