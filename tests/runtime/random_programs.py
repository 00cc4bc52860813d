"""Random programs for the runtime: a seed decides a graph, what its nodes do, what comes in, and what failures cause.

Graphs have all domains and summaries, loops, nested or not, several inputs over different times, calls, and times of
the user's own. Nodes send, request and fail by their random numbers, within what the graph allows; all of it comes to
an end, since values say how far they may go. What comes in is late now and then.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from graphs import from_data
from progress import reference
from progress.order import opening_times
from progress.runtime import SILENT, Complete, DeadLetter, Node, Out, Retry, Stop
from progress.runtime.failure import OnError
from progress.runtime.policies import Policy, explicit
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE, Network
from recursion import reference as recursion_reference
from tests.recursion.random_calls import plain, random_calls, random_epoch
from tests.reference.own_twins import built_in, own_twin
from tests.reference.random_graphs import flat_document, random_document
from tests.reference.random_sessions import any_time

Document = dict[str, Any]
AtOrBefore = Callable[[str, Any, Any], bool]  # of two times at a location


class Boom(Exception):
    """What a node of a random program raises."""


class Ledger:
    """What the nodes of a run did: every message has a number, and has to arrive once."""

    def __init__(self, sends: int) -> None:
        self.left = sends  # how many more messages may be sent
        self.next = 0
        self.sent: Counter[int] = Counter()  # by calls that did not fail
        self.taken: Counter[int] = Counter()  # by calls that did not fail
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def number(self) -> int:
        """A number for one more message."""
        with self._lock:
            self.next += 1
            return self.next

    def numbers(self, count: int) -> list[int]:
        """Numbers for so many messages to be sent, where so many may be."""
        with self._lock:
            count = min(count, self.left)
            self.left -= count
            self.next += count
            return list(range(self.next - count + 1, self.next + 1))

    def over(self, what: str, sent: Sequence[int], taken: Sequence[int] = ()) -> None:
        """A call was over, and did not fail."""
        with self._lock:
            self.counts[what] += 1
            self.sent.update(sent)
            self.taken.update(taken)

    def failed(self, what: str) -> None:
        """A call failed."""
        with self._lock:
            self.counts[f"failed: {what}"] += 1


class Walker(Node):
    """Does what its random numbers say, within what the graph allows. A value is a number and how far it may go."""

    def __init__(self, rng: random.Random, ledger: Ledger, network: Network, node: int, faults: float) -> None:
        self.rng = rng
        self.ledger = ledger
        self.name = network.nodes[node]
        self.notifies = network.notifies[node]
        self.domains = {network.edges[edge]: network.edge_domains[edge] for edge in network.outgoing[node]}
        self.domains[self.name] = network.domains[node]
        self.may_ask = network.requests[node].apply
        self.calls = network.relation is not None
        self.faults = faults
        self.eager = rng.choice([0.3, 0.6, 0.9])
        self.at_once = 1 + node % 3
        self.curious = rng.choice([0.2, 0.5, 0.9]) if self.notifies else 0.0
        self.asks = 12  # how many more requests it makes
        if rng.random() < 0.3:
            self.on_messages = self._take

    def on_start(self, out: Out) -> None:
        if self.notifies and not self.calls and self.rng.random() < 0.2:
            with suppress(NoMinimalTimes):
                for time in (*self.domains[self.name].least(), *self.domains[self.name].sample())[:2]:
                    out.request(time)

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> Any:
        self._take(edge, time, [value], out)

    def _take(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        sent = [number for _, fuel in values for number in self._act(time, fuel, out)]
        self._fail("message")
        self.ledger.over("took", sent, [number for number, _ in values])

    def on_notify(self, time: Any, out: Out) -> Any:
        sent = self._act(time, 2, out)
        self._fail("notification")
        self.ledger.over("notified", sent)

    def _fail(self, what: str) -> None:
        if self.rng.random() < self.faults:
            self.ledger.failed(what)
            raise Boom(what)

    def _act(self, time: Any, fuel: int, out: Out) -> list[int]:
        rng, ledger = self.rng, self.ledger
        sent = []
        for edge in out.edges:
            if fuel and rng.random() < self.eager:
                for at in self._later(edge, out.earliest(edge)):
                    numbers = ledger.numbers(rng.choice([1, 1, 1, 2]))
                    sent += numbers
                    for number in numbers:
                        out.send(edge, at, (number, fuel - 1))
        for _ in range(rng.choice([1, 1, 2, 3])):
            if self.asks and rng.random() < self.curious:
                below = self.domains[self.name].less_equal
                for at in self._later(self.name, [each for each in self.may_ask(time) if below(time, each)]):
                    self.asks -= 1
                    out.request(at)
        return sent

    def _later(self, location: str, earliest: Sequence[Any]) -> list[Any]:
        """One of these times, or a later one; nothing where there are none."""
        if not earliest:
            return []
        rng, domain = self.rng, self.domains[location]
        time = rng.choice(tuple(earliest))
        if not self.calls and rng.random() < 0.4:
            with suppress(NoMinimalTimes):
                time = rng.choice(domain.minimal_upper_bounds(time, rng.choice(domain.sample())) or (time,))
        return [time]


class Waiter(Walker):
    """The same, waiting for others in between."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if hasattr(self, "on_messages"):
            self.on_messages = self._wait_and_take  # type: ignore[assignment]

    async def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        await self._wait_and_take(edge, time, [value], out)

    async def _wait_and_take(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        await asyncio.sleep(0)
        self._take(edge, time, values, out)
        await asyncio.sleep(0)

    async def on_notify(self, time: Any, out: Out) -> None:
        await asyncio.sleep(0)
        super().on_notify(time, out)


class Case:
    """All that a seed decides before the run begins; the last choices are those of the engine."""

    def __init__(self, seed: int, waits: bool = False) -> None:
        self.seed = seed
        self.rng = rng = random.Random(seed)
        self.kind = rng.choices(["any", "flat", "calls", "own"], [5, 4, 2, 1])[0]
        self.own: set[str] = set()
        self._choose_graph()
        while self.kind == "any" and "-" in repr(self.document["nodes"]) and rng.random() < 0.8:
            self._choose_graph()  # in graphs where times fall little happens, and that slowly
        self.ledger = Ledger(rng.choice([20, 40, 60]))
        self.faults = rng.choice([0.0, 0.0, 0.05, 0.2])
        self.limit = rng.choice([3, 10, 10_000])
        self.given: list[int] = []  # the numbers of the messages that sources bring
        self.nodes = {
            name: (Waiter if waits and number % 2 else Walker)(
                random.Random(rng.random()), self.ledger, self.network, number, self.faults
            )
            for number, name in enumerate(self.network.nodes)
        }
        self.sources = {name: self._source(name) for name in self._inputs() if rng.random() < 0.9}
        self.on_error = self._policies()

    def _choose_graph(self) -> None:
        rng = self.rng
        if self.kind == "calls":
            self.document = random_calls(rng, epochs=rng.random() < 0.7 or None)
        else:
            self.document = random_document(rng) if self.kind == "any" else flat_document(rng)
        self.oracle = None if self.kind == "calls" else reference.Graph(self.document)
        if self.kind == "own":
            assert self.oracle is not None
            self.graph, self.own = own_twin(rng, self.oracle)
        else:
            self.graph = from_data(self.document)
        self.network = self.graph.network()

    def _inputs(self) -> list[str]:
        network = self.network
        names = [edge for edge, source in zip(network.edges, network.sources, strict=True) if source == NO_NODE]
        if self.kind == "calls":
            calls = recursion_reference.Graph(self.document)
            self.stacks = {name: calls.stacks_at(name, 4) for name in names}
            return [name for name in names if self.stacks[name]]
        return names

    def _source(self, edge: str) -> Policy:
        rng = self.rng
        times = [self._time(edge) for _ in range(4)]
        items: list[Any] = []
        for _ in range(rng.randint(1, 14)):
            kind = rng.random()
            if kind < 0.7:
                self.given.append(self.ledger.number())
                items.append((rng.choice(times), (self.given[-1], rng.randint(0, 4))))
            elif kind < 0.9:
                items.append(Complete(tuple(rng.choice(times) for _ in range(rng.choice([1, 1, 2])))))
            else:
                items.append(SILENT if kind < 0.99 else Complete(()))
        return explicit(items, opens=times[:2] if rng.random() < 0.3 or not self._least(edge) else None)

    def _least(self, edge: str) -> Sequence[Any]:
        try:
            return opening_times(self.network.domain(self.network.numbers[edge]))
        except NoMinimalTimes:
            return ()

    def _time(self, edge: str) -> Any:
        if self.oracle is None:
            return random_epoch(self.rng, self.document["time"]["product"][0]), self.rng.choice(self.stacks[edge])
        domain = self.oracle.domain[edge]
        time = any_time(self.rng, domain)
        return time if edge in self.own else built_in(domain, time)

    def _policies(self) -> dict[str, OnError]:
        rng = self.rng
        if not self.faults:
            return {}
        last = Stop() if rng.random() < 0.25 else DeadLetter(rng.choice(["dead-letters", "failed"]))
        usual: OnError = rng.choice([last, Retry(times=rng.randint(1, 3), then=last)])
        return {"*": usual, rng.choice(self.network.nodes): Retry(times=1, then=DeadLetter("special"))}

    def at_or_before(self) -> AtOrBefore:
        """The order of the times at each location, as the references have it."""
        known: dict[tuple[str, Any, Any], bool] = {}
        calls = None if self.oracle is not None else recursion_reference.Graph(self.document)

        def decide(location: str, one: Any, other: Any) -> bool:
            if (location, one, other) not in known:
                if calls is None:
                    assert self.oracle is not None
                    found = self.oracle.less_equal(location, one, other)
                else:
                    found = calls.could_result_in((location, plain(one)), (location, plain(other)))
                known[location, one, other] = found
            return known[location, one, other]

        return decide
