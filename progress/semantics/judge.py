"""Whether a run follows ISpec (A&I 4.2): each recorded step has to be one of its actions, whatever the nodes' code is.

A trace has times only (`progress.semantics.trace`), so a node is known by what its graph declares: an event at t may
send on an edge what the edge's summary gives at t, or later; and so for what it may request. Within that, any g1 is
possible. Clock is `progress.closure`, of messages, requests, and the times at which inputs are open; nothing is
used of any engine or tracker.

A tracker takes more than ISpec has: it asks only that what is added is in Clock already. Here what is sent must come
from an event of the node that sends it, in the same step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from progress.antichain import minimal_elements
from progress.order import opening_times
from progress.semantics.clocks import Clock, CloseUp
from progress.semantics.specification import Inputs
from progress.semantics.trace import Line, Parts, parts_of
from progress.semantics.waiting import Act, Waiting
from progress.topology import Network, Topology, network_of


class Judgement(NamedTuple):
    """True when the trace is a behaviour. Otherwise the first step that is none, counted from 0, and why not.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> from progress.semantics import is_behaviour
    >>> judged = is_behaviour(from_edges([(None, "a")]), [{"delivered": [("a", 0)]}])
    >>> bool(judged), judged.step, judged.why
    (False, 0, "Not: 'a' has no pending request at 0")
    """

    holds: bool
    step: int | None = None
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds


def is_behaviour(
    graph: Topology,
    trace: Iterable[Line],
    *,
    reordering: bool = True,
    inputs: Inputs = Inputs.ANNOUNCED,
    appended: bool = False,
    several: bool = False,
) -> Judgement:
    """Whether a recorded sequence of steps follows ISpec of this graph.

    `reordering`: of the messages on an edge, a node takes any that has none at an earlier or equal time ahead of it;
    otherwise the first. `inputs`: by default, a message comes in only where its input is open, or behind one that is
    queued; without `start`, inputs are open at the least times of their domains. The other values are those of
    `Variant`: then Clock knows of no open inputs. `appended`: whether what comes in is put at the end of its queue;
    `Inp` puts it anywhere, and a trace does not say where, so that otherwise the places are those that fit.
    `several`: whether one recorded step may be several actions, all of whose notifications are due before it.

    A `graphs.Graph` and a `System` both serve. Cost: one `close` and O(queued on the edges concerned) a step; with
    `several`, exponential in how many events one node takes in one step.

    Returns
    -------
    Whether it does; if not, the first step that does not, and why.

    Examples
    --------
    >>> from pointstamp import from_edges
    >>> from progress.semantics import is_behaviour
    >>> bool(
    ...     is_behaviour(from_edges([(None, "a")]), [{"messages": [("in->a", 0, 1)]}, {"messages": [("in->a", 0, -1)]}])
    ... )
    True
    """
    run = _Run(network_of(graph), reordering, inputs, appended, several)
    for number, line in enumerate(trace):
        if "start" in line:
            if number:
                return Judgement(False, number, "it starts again")
            why = run.start(line["start"])
        else:
            why = run.step(line)
        if why:
            return Judgement(False, number, why)
    return Judgement(True)


class _Run:
    """The state of a run: queues of times, requests, and open inputs."""

    def __init__(self, network: Network, reordering: bool, inputs: Inputs, appended: bool, several: bool) -> None:
        self.network = network
        self.inputs = inputs
        self.appended = appended
        self.several = several
        self.clocks = CloseUp(network)
        self.queues = [Waiting(domain, reordering) for domain in network.edge_domains]
        self.requests: set[tuple[int, Any]] = set()
        self.open: dict[int, tuple[Any, ...]] = {
            edge: opening_times(network.edge_domains[edge]) for edge in network.inputs.values()
        }

    def start(self, line: Line) -> str:
        """InitProp leaves free what is requested and what is queued on inputs; nothing is queued elsewhere."""
        parts = parts_of(self.network, line)
        if parts.sent or parts.taken or parts.left:
            return "InitProp: at the start messages are queued on input edges alone"
        self.open.update(parts.opened)
        self.requests.update(parts.requested)
        for edge, time in parts.arrived:
            self.queues[edge] = self.queues[edge].then(time)
        return ""

    def clock(self) -> Clock:
        """Clock; inputs that were announced to be open are in it."""
        network, announced = self.network, self.inputs is Inputs.ANNOUNCED
        found = {(network.nodes[node], time) for node, time in self.requests}
        found |= {(network.edges[edge], time) for edge, queue in enumerate(self.queues) for time in queue.times}
        found |= {(network.edges[edge], time) for edge, times in self.open.items() for time in times if announced}
        return self.clocks(frozenset(found))

    def step(self, line: Line) -> str:
        """Take one step; why it is none of ISpec, or nothing."""
        parts = parts_of(self.network, line)
        for edge, times in list(parts.opened.items()):
            if set(times) == set(self.open[edge]):
                del parts.opened[edge]
        return next(self._complaints(parts), "") or self._take(parts)

    def _complaints(self, parts: Parts) -> Iterator[str]:
        network, clock = self.network, self.clock()
        events = parts.taken.total() + len(parts.delivered)
        outside = (bool(parts.arrived or parts.opened), bool(parts.left))
        if not self.several and events > 1:
            yield f"it is {events} events at once"
        if not self.several and (events > 0) + sum(outside) > 1:
            yield "nodes and the outside act at once, or inputs and outputs change at once"
        for node, time in parts.delivered:
            if (node, time) not in self.requests or parts.delivered.count((node, time)) > 1:
                yield f"Not: {network.nodes[node]!r} has no pending request at {time!r}"
            for edge in network.incoming[node]:
                if (network.edges[edge], time) in clock:
                    yield f"Not: ({network.edges[edge]!r}, {time!r}) is in Clock"
        for (edge, time), count in parts.left.items():
            if self.queues[edge].times.count(time) < count:
                yield f"Outp: {network.edges[edge]!r} has not so many messages at {time!r}"
        yield from self._about_inputs(parts, clock)

    def _about_inputs(self, parts: Parts, clock: Clock) -> Iterator[str]:
        network = self.network
        for edge, times in parts.opened.items():
            below = network.edge_domains[edge].less_equal
            if not all(any(below(before, time) for before in self.open[edge]) for time in times):
                yield f"the input {network.edges[edge]!r} moves back"
        for edge, time in parts.arrived:
            if self.inputs is Inputs.FORBIDDEN:
                yield f"Inp: something comes in on {network.edges[edge]!r}"
            elif self.inputs is not Inputs.FREE and (network.edges[edge], time) not in clock:
                yield f"Inp: Clock grows by ({network.edges[edge]!r}, {time!r})"

    def _take(self, parts: Parts) -> str:
        """Mess and Not node by node, then the rest; nothing changes where a node cannot do its part."""
        network = self.network
        pending = self.requests - set(parts.delivered)
        queues = list(self.queues)
        for node, name in enumerate(network.nodes):
            taken = Counter({at: count for at, count in parts.taken.items() if network.targets[at[0]] == node})
            times = [time for at, time in parts.delivered if at == node]
            asked = [time for at, time in parts.requested if at == node and (at, time) not in pending]
            act = Act(network, [at for at in parts.sent if network.sources[at[0]] == node])
            left = act.queues_after(queues, taken, times)
            if left is None:
                return f"{name!r} cannot have taken and sent this: {act.trouble}"
            queues = list(left)
            may_ask = network.requests[node].apply
            below = network.domains[node].less_equal
            allowed = [least for at in (*times, *(time for _, time in taken)) for least in may_ask(at)]
            for time in asked:
                if not network.notifies[node] or not any(below(least, time) for least in allowed):
                    return f"{name!r} asks for {time!r}, and consumes nothing that makes it ask for that"
        for edge, time in parts.sent:
            queues[edge] = queues[edge].then(time)
        for edge, time in parts.arrived:
            queues[edge] = queues[edge].then(time) if self.appended else queues[edge].somewhere(time)
        for (edge, time), count in parts.left.items():
            for _ in range(count):
                queues[edge] = queues[edge].without(time)
        self.queues = queues
        self.requests = pending | set(parts.requested)
        for edge, opened in parts.opened.items():
            self.open[edge] = minimal_elements(network.edge_domains[edge], opened)
        return ""
