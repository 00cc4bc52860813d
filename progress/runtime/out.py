"""What a node may do during a call: send, and request notifications, as far as the graph declares (A&I 3.1, 3.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from random import Random
from time import time as time_of_day
from typing import Any

from progress.cycles.finite_way import with_an_end
from progress.order import NO_TIME, as_time
from progress.runtime.actions.in_order import by_edge_and_time
from progress.runtime.failure import (
    asks_for_none,
    asks_too_early,
    no_time_of,
    not_an_exit,
    out_of_turn,
    sends_too_early,
)
from progress.runtime.tables import FOREVER, NO_MORE, Hold, Tables, is_of_spark, kept_nowhere, kept_until_no_time
from progress.summary import Summary
from progress.topology import Network

Sent = dict[tuple[str, Any], list[Any]]
NONE: Sent = {}
IN_MEMORY = Tables()


class _Never:
    """What a node may request that never requests anything."""

    def limits(self, time: Any) -> tuple[Any, ...]:
        return ()


class Exits:
    """The edges that leave a node, and what the graph declares of them: the same for all calls of the node."""

    __slots__ = (
        "answers",
        "domains",
        "draw",
        "edges",
        "name",
        "node_domain",
        "notifies",
        "out",
        "requests",
        "summaries",
        "tables",
        "whole",
    )

    def __init__(self, network: Network, node: int) -> None:
        self.name = network.nodes[node]
        self.whole = network
        self.tables: Tables = IN_MEMORY  # of the engine
        self.out: type[Out] = Out  # what a call of the node is given
        self.answers: deque[float] = deque()  # of a run that is done again: what its calls were told of the world
        self.draw: Callable[[], int] = lambda: 0  # a number by chance
        leaving = network.outgoing[node]
        self.edges = tuple(network.edges[edge] for edge in leaving)
        self.summaries = {network.edges[edge]: network.summaries[edge] for edge in leaving}
        self.domains = {network.edges[edge]: network.edge_domains[edge] for edge in leaving}
        self.node_domain = network.domains[node]
        self.notifies = network.notifies[node]
        self.requests: Summary | _Never = network.requests[node] if self.notifies else _Never()


class Out:
    """Collects what one call of a node does. Nothing of it happens before the call has returned.

    Cost of a message: O(1) where the call has sent on that edge at that time before, else that of the summary.

    Examples
    --------
    >>> from pointstamp import Dataflow, Node, Out, from_edges
    >>> class Twice(Node):
    ...     def on_message(self, edge, time, value, out: Out):
    ...         out.send_all("twice->out", time, [value, value])
    >>> flow = Dataflow(from_edges([(None, "twice"), ("twice", None)]), {"twice": Twice})
    >>> flow.run(sources={"in->twice": [(0, "x")]})
    {'twice->out': [(0, 'x'), (0, 'x')]}
    """

    __slots__ = (
        "_again",
        "_allowed",
        "_is_over",
        "_is_start",
        "_lists",
        "_order",
        "asked",
        "event",
        "exits",
        "holds",
        "requests",
        "sent",
    )

    def __init__(self, exits: Exits, event: Any, is_start: bool = False) -> None:
        self.exits = exits
        self.event = event  # the time of what the node is told
        self.sent: Sent = {}
        self.requests: dict[Any, None] = {}
        self.holds: list[Hold] | None = None  # tables that were kept
        self.asked: list[float] | None = None  # what the call was told of the world, and is not written down yet
        self._again: list[float] | None = None  # what it was told that is written down
        self._lists = self.sent  # where a message finds its list, until the call is over
        self._order: list[Any] = []  # for taking back: what was added to; with its length before where by several
        self._allowed: dict[str, tuple[Any, ...]] = {}
        self._is_start = is_start
        self._is_over = False

    @property
    def edges(self) -> tuple[str, ...]:
        """The edges that leave the node."""
        return self.exits.edges

    def earliest(self, edge: str) -> tuple[Any, ...]:
        """The earliest times at which this call may send on an edge: what the summary makes of the event's time.

        `NoMinimalTimes` where those fall without end.
        """
        found = self._earliest(edge)
        return with_an_end(self.exits.whole, self.exits.whole.numbers[edge], found)

    def _earliest(self, edge: str) -> tuple[Any, ...]:
        """As `earliest`, with endless times among them (`progress.normal_form.endless`)."""
        found = self._allowed.get(edge)
        if found is None:
            if edge not in self.exits.summaries:
                raise not_an_exit(self.exits.name, edge, self.exits.edges)
            summary = self.exits.summaries[edge]
            found = () if summary is None or self._is_start else tuple(summary.limits(self.event))
            self._allowed[edge] = found
        return found

    def send(self, edge: str, time: Any, value: Any) -> None:
        """Send a message; refused here and now where the summary does not allow it (PS701, PS702).

        What Python holds for equal to a time at which the call has sent there, as 1.0 to 1, is that time, which is how
        the message is found its place so fast; anywhere else it is not a time (PS503).
        """
        try:
            values = self._lists.get((edge, time))
        except TypeError:  # no time can be anything that has no hash
            values = None
        if values is None:
            values = self._values(edge, time)
        values.append(value)
        self._order.append(values)

    def send_all(self, edge: str, time: Any, values: Sequence[Any]) -> None:
        """Send several messages of one time. Cost: that of copying them."""
        if values:
            try:
                known = self._lists.get((edge, time))
            except TypeError:
                known = None
            if known is None:
                known = self._values(edge, time)
            self._order.append((known, len(known)))  # before: what is no sequence may raise half-way
            known += values

    def hand_over(self, edge: str, time: Any, values: list[Any]) -> None:
        """`send_all` of a list that is nobody's from now on: the first for an edge and time is not copied."""
        sent = self.sent
        count = len(sent)
        if values and not self._values(edge, time) and len(sent) > count:
            key = next(reversed(sent))
            sent[key] = values
            self._order.append((values, 0))
        else:
            self.send_all(edge, time, values)

    def request(self, time: Any) -> None:
        """Ask to be told when nothing at or before `time` can arrive any more; asking twice is asking once (PS703)."""
        if self._is_over:
            raise out_of_turn(self.exits.name)
        exits = self.exits
        try:
            is_known = time in self.requests
        except TypeError:
            is_known = False
        if not is_known:
            earliest = () if self._is_start else exits.requests.limits(self.event)
            if len(earliest) == 1 and time is earliest[0]:
                self.requests[time] = None
                return
            if not exits.notifies:
                raise asks_for_none(exits.name)
            found = as_time(exits.node_domain, time)
            if found is NO_TIME:
                raise no_time_of(exits.name, exits.name, time, exits.node_domain)
            less_equal = exits.node_domain.less_equal
            if not self._is_start and not any(less_equal(each, found) for each in earliest):
                raise asks_too_early(exits.name, time, self.event)
            self.requests[found] = None

    # --- the world ---------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The time of day, in seconds since 1970: the same again where the call is done again after a kill."""
        return self._told(time_of_day())

    def random(self) -> Random:
        """A generator of random numbers: the same ones again where the call is done again after a kill.

        In the engine `sim` they are the same in every run with the same seed.
        """
        return Random(self._told(self.exits.draw()))

    def _told(self, now: float) -> float:
        """What the world says now, or said where the call was made before."""
        answers = self.exits.answers
        if answers:  # it is written down, and stays there until a checkpoint has what came of it
            now = answers.popleft()
            self._again = [*(self._again or ()), now]
        else:
            self.asked = [*(self.asked or ()), now]
        return now

    # --- tables ------------------------------------------------------------------------------------------------------

    @property
    def session(self) -> Any:
        """Spark's session in the engine `spark`, None in others."""
        return self.exits.tables.session

    def table(self, rows: Iterable[Any], columns: str) -> Any:
        """A table of rows, each a mapping or a sequence; columns as in `road string, minutes double`.

        It is a DataFrame of Spark in the engine `spark`, else of pandas (PS744 where that is not installed). Rows that
        do not fit the columns are refused (PS745).
        """
        return self.exits.tables.make(rows, columns)

    def keep(self, table: Any, *, until: Any = FOREVER, at: str | None = None, name: str | None = None) -> Any:
        """The table as it is to be used from now on, made once and kept as long as it may be needed.

        With Spark it is computed now and cut off from what it was made of. It is let go when nothing at or before
        `until` can happen at the node or edge `at` any more, by default at this node: who uses it there keeps in turn
        what is needed later. Without `until` it stays until the node lets it go. A table that is kept more than once
        is let go when nothing keeps it. What is sent and reads it holds it as well, as long as anybody has that. With a
        `name` it is a Parquet table. With pandas it is the table itself.
        """
        if self._is_over:
            raise out_of_turn(self.exits.name)
        place = self.exits.name if at is None else at
        network = self.exits.whole
        if place not in network.numbers:
            raise kept_nowhere(self.exits.name, place)
        domain = network.domain(network.numbers[place])
        found = until if until is FOREVER else as_time(domain, until)
        if found is NO_TIME:
            raise kept_until_no_time(self.exits.name, place, until, domain)
        kept = self.exits.tables.keep(table, name)
        self._hold(Hold(kept, place, found))
        return kept

    def let_go(self, table: Any) -> None:
        """What was kept without `until` is not needed after this call; it goes, if nothing else keeps it."""
        if self._is_over:
            raise out_of_turn(self.exits.name)
        self._hold(Hold(table, self.exits.name, NO_MORE))

    def _hold(self, hold: Hold) -> None:
        if self.holds is None:
            self.holds = []
        self.holds.append(hold)

    def mark(self) -> tuple[int, int, int, int, int]:
        """Where the call stands, for `take_back`."""
        held = 0 if self.holds is None else len(self.holds)
        asked = 0 if self.asked is None else len(self.asked)
        again = 0 if self._again is None else len(self._again)
        return len(self._order), len(self.requests), held, asked, again

    def take_back(self, mark: tuple[int, int, int, int, int]) -> None:
        """Undo what was done since: a call that fails has no effect. Tables that it kept go when the action is over.

        What it was told of the world nobody else was: where it is done again, it need not fail.
        """
        sent, requested, held, asked, again = mark
        if self.asked:
            del self.asked[asked:]
        if self._again:
            self.exits.answers.extendleft(reversed(self._again[again:]))
            del self._again[again:]
        if self.holds:
            since = [hold for hold in self.holds[held:] if hold.until is not NO_MORE]
            self.holds[held:] = [Hold(table, self.exits.name, self.event) for table, _, _ in since]
        for added in reversed(self._order[sent:]):
            if type(added) is tuple:
                values, before = added
                del values[before:]
            else:
                added.pop()
        del self._order[sent:]
        for time in list(self.requests)[requested:]:
            del self.requests[time]

    def close(self) -> None:
        """The call is over; what is done with it now is refused (PS704). What it sent is put in order."""
        self._is_over = True
        self._lists = NONE
        if len(self.sent) > 1:
            self.sent = by_edge_and_time(self.sent, self.exits.domains)

    def _values(self, edge: str, time: Any) -> list[Any]:
        """The list for the messages on an edge at a time, the first time that one is sent there."""
        if self._is_over:
            raise out_of_turn(self.exits.name)
        earliest = self._earliest(edge)
        if len(earliest) == 1 and time is earliest[0]:
            return self.sent.setdefault((edge, time), [])
        domain = self.exits.domains[edge]
        found = as_time(domain, time)
        if found is NO_TIME:
            raise no_time_of(self.exits.name, edge, time, domain)
        if found not in earliest and not any(domain.less_equal(each, found) for each in earliest):
            raise sends_too_early(self.exits.name, edge, time, self.event, earliest)
        return self.sent.setdefault((edge, found), [])


class CopyingOut(Out):
    """An `Out` whose messages are copies of what is sent, as it is then: nobody else has them."""

    __slots__ = ()

    def send(self, edge: str, time: Any, value: Any) -> None:
        """Send a copy. Cost: that of `copy.deepcopy`, which may refuse."""
        super().send(edge, time, copied(value))

    def send_all(self, edge: str, time: Any, values: Sequence[Any]) -> None:
        """Send copies."""
        super().send_all(edge, time, [copied(value) for value in values])

    def hand_over(self, edge: str, time: Any, values: list[Any]) -> None:
        """Send copies; somebody may still have the values of the list."""
        self.send_all(edge, time, values)


def copied(value: Any) -> Any:
    """A copy that shares nothing with a value that can be changed; a DataFrame of Spark cannot."""
    return value if is_of_spark(value) else deepcopy(value)
