"""Taking a step: judged whole against the state before it, then entered, or refused without a trace (A&I 4.2).

The law: counts stay at or above zero; what is added is in Clock before the step, so that Clock only shrinks; what is
delivered was eligible before it; inputs move up. The changes of one pointstamp are added up first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from progress.engines import Engine
from progress.engines.propagation import Change
from progress.errors import brief
from progress.order import whole_number
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE
from progress.tracking.ledger import Edge, Ledger, Node
from progress.tracking.own_relation import Workings
from progress.tracking.refusal import (
    check_many,
    count_below_zero,
    input_moves_back,
    not_eligible,
    not_requested,
    outside_clock,
    wrong_form,
)

MISSING = object()


class Commit:
    """One step: `judge` it, hand `changes` to the engine, then `enter` it into the ledger.

    Cost of judging: O(changes) where what a step adds follows from what it consumes or delivers, as the paper's actions
    do; else that of `covers` of the engine, and O(width) at the location.
    """

    __slots__ = ("_engine", "_events", "_ledger", "_workings", "asked", "changes", "ended", "entries", "net", "opened")

    def __init__(self, ledger: Ledger, engine: Engine, workings: Workings) -> None:
        self._ledger = ledger
        self._engine = engine
        self._workings = workings
        self._events: dict[int, list[Any]] = {}  # by node: the times of what this step consumes and delivers there
        self.net: dict[tuple[Edge, Any], int] = {}
        self.opened: dict[Edge, tuple[Any, ...]] = {}
        self.asked: dict[tuple[Node, Any], None] = {}
        self.ended: dict[tuple[Node, Any], None] = {}
        self.changes: list[Change] = []
        self.entries = 0  # how many more the ledger has after the step

    def judge(
        self,
        inputs: Mapping[str, Iterable[Any]] | None,
        messages: Iterable[tuple[str, Any, int]],
        requests: Iterable[tuple[str, Any]],
        delivered: Iterable[tuple[str, Any]],
    ) -> None:
        """Collect what changes; refuse what is illegal."""
        ledger, net, changes, events = self._ledger, self.net, self.changes, self._events
        edges = ledger.edges
        for what, given in (("messages", messages), ("requests", requests), ("delivered", delivered)):
            check_many(what, given)
        for item in messages or ():
            try:
                name, time, change = item
            except (TypeError, ValueError):
                raise wrong_form(
                    f"{brief(item)} is not a message", "an edge, a time and a change of the count"
                ) from None
            edge = edges.get(name) if type(name) is str else None
            if edge is None:
                edge = ledger.edge(name)
            if not edge.contains(time):
                time = ledger.time(edge, time)
            if type(change) is not int:
                raise wrong_form(f"the count at {brief(name)} changes by {brief(change)}", whole_number(change))
            key = edge, time
            net[key] = net[key] + change if key in net else change
        if delivered:
            self._end(delivered)
        if requests:
            self._ask(requests)
        if inputs:
            self._open(inputs)
        new: list[tuple[Edge, Any]] = []
        for (edge, time), change in net.items():
            target = edge.target
            if change < 0:
                queued = edge.messages.get(time, 0)
                if queued + change < 0:
                    raise count_below_zero(edge.name, time, queued, change)
                if target in events:
                    events[target].append(time)
                else:
                    events[target] = [time]
            elif not change:
                continue
            elif time not in edge.messages:
                new.append((edge, time))
            if target != NO_NODE:
                changes.append((target, time, change))
        for edge, time in new:
            if not self._may_send(edge, time):
                raise outside_clock("message", edge.name, time, self._frontier(edge))
        for node, time in self.asked:
            if not self._may_ask(node, time):
                raise outside_clock("request", node.name, time, self._frontier(node))

    def _end(self, delivered: Iterable[tuple[str, Any]]) -> None:
        for pair in delivered:
            node, time = request = self._ledger.request(pair)
            waiter = node.requests.get(time, MISSING)
            if waiter is MISSING or request in self.ended:
                raise not_requested(node.name, time)
            if waiter is not None:
                raise not_eligible(node.name, time)
            self.ended[request] = None
            self._events.setdefault(node.number, []).append(time)
            self.changes += [(vertex, after, -1) for vertex, after in self._workings.of_request(node.number, time)]

    def _ask(self, requests: Iterable[tuple[str, Any]]) -> None:
        for pair in requests:
            node, time = request = self._ledger.request(pair)
            if (time not in node.requests or request in self.ended) and request not in self.asked:
                self.asked[request] = None
                self.changes += [(vertex, after, 1) for vertex, after in self._workings.of_request(node.number, time)]

    def _open(self, inputs: Mapping[str, Iterable[Any]]) -> None:
        if not isinstance(inputs, Mapping):
            raise wrong_form(f"inputs is {brief(inputs)}", "input edges with the times at which each is open")
        for name, given in inputs.items():
            edge = self._ledger.input(name)
            times = self.opened[edge] = self._ledger.opening(edge, given)
            for time in times:
                if not edge.is_open_at(time):
                    raise input_moves_back(edge.name, time, edge.open)
            if edge.target != NO_NODE:
                before, after = set(edge.open), set(times)
                self.changes += [(edge.target, time, 1) for time in times if time not in before]
                self.changes += [(edge.target, time, -1) for time in edge.open if time not in after]

    def _may_send(self, edge: Edge, time: Any) -> bool:
        """Whether Clock contains (edge, time) before the step."""
        if edge.summary is not None:
            less_equal, apply = edge.domain.less_equal, edge.summary.limits
            for event in self._events.get(edge.source, ()):
                for after in apply(event):
                    if after == time or less_equal(after, time):
                        return True
        return self._workings.may_send(self._ledger, self._engine, edge, time)

    def _may_ask(self, node: Node, time: Any) -> bool:
        less_equal = node.domain.less_equal
        for event in self._events.get(node.number, ()):
            if event == time or less_equal(event, time):
                return True
        return self._workings.may_ask(self._ledger, self._engine, node, time)

    def _frontier(self, place: Edge | Node) -> tuple[Any, ...] | None:
        """Clock's minimal times at a location, for a hint; None where they have no finite form."""
        try:
            return self._workings.frontier(self._ledger, self._engine, place)
        except NoMinimalTimes:
            return None

    def enter(self) -> None:
        """Write the step into the ledger."""
        for (edge, time), change in self.net.items():
            if not change:
                continue
            messages = edge.messages
            before = messages.get(time, 0)
            if before + change:
                messages[time] = before + change
                self.entries += not before
            else:
                del messages[time]
                self.entries -= 1
            if edge.lying is not None:
                edge.lying.count(time, change)
        for edge, times in self.opened.items():
            self.entries += len(times) - len(edge.open)
            edge.open = times
        for node, time in self.ended:
            del node.requests[time]
            if node.lying is not None:
                node.lying.count(time, -1)
        self.entries += len(self.asked) - len(self.ended)
        for node, time in self.asked:
            if node.lying is not None:
                node.lying.count(time, 1)

    def touched(self) -> list[tuple[str]]:
        """The locations where what lies there changed."""
        edges = [(edge.name,) for (edge, _), change in self.net.items() if change]
        return edges + [(edge.name,) for edge in self.opened] + [(node.name,) for node, _ in (*self.ended, *self.asked)]
