"""Where a node's code does what its graph does not declare: how a user learns that the graph file lies about the node.

What `progress.behaviour` found is held against summaries. A pair of times (t, t') found is covered by a summary when
some time of `apply(t)` lies at or below t': a summary is its own monotone hull, so that then all is covered that
Definitions 2 and 3 make of the pair (A&I 3.1, 3.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from progress.behaviour import MOST_HISTORIES, Extent, Observed, explore
from progress.errors import PointstampError
from progress.local_history import Event, History, NodeBehaviour, beginnings
from progress.order import Domain
from progress.summary import Summary
from progress.topology import Network, Topology, network_of


class Escape(NamedTuple):
    """A node that does what was not declared: after `history`, `event` at `time` led to something at `result`.

    `allowed` are the least times that were declared to be possible. Without an event, it happens from the start.
    """

    node: str
    complaint: str
    time: Any
    result: Any
    allowed: tuple[Any, ...]
    history: History
    event: Event | None

    def __str__(self) -> str:
        history = self.history if self.event is None else self.history.then(self.event)
        lines = str(history).splitlines()
        return "\n  ".join((f"the node {self.node!r} {self.complaint}:", *lines[:-1], f"{lines[-1]}   <- here"))


def uncovered(observed: Observed, edge: str, summary: Summary) -> Escape | None:
    """The first, hence a shortest, history after which the node sends on `edge` what `summary` does not cover.

    None where it covers all that was found. Cost: O(found) applications of the summary.
    """
    for (time, via, result), evidence in observed.one_step.items():
        problem = _problem(summary, time, result) if via == edge else ""
        if problem:
            complaint = f"sends at {result!r} on {edge!r}, {problem}"
            return Escape(observed.node, complaint, time, result, summary.apply(time), evidence.history, evidence.event)
    return None


def uncovered_request(observed: Observed, requests: Summary) -> Escape | None:
    """The first history after which an event triggers a request that `requests` does not cover (Definition 3).

    Cost: O(found) applications of the summary.
    """
    for (time, result), evidence in observed.requests.items():
        problem = _problem(requests, time, result)
        if problem:
            complaint = f"requests a notification of {result!r}, {problem}"
            return Escape(
                observed.node, complaint, time, result, requests.apply(time), evidence.history, evidence.event
            )
    return None


def early_request(observed: Observed, domain: Domain) -> Escape | None:
    """The first history in which Condition 1 fails: an event at t triggers a request at a time that is not >= t."""
    for (time, result), evidence in observed.requests.items():
        if not domain.contains(result) or not domain.less_equal(time, result):
            complaint = f"requests a notification of {result!r}, where Condition 1 allows only times from {time!r} on"
            return Escape(observed.node, complaint, time, result, (time,), evidence.history, evidence.event)
    return None


class Looked(NamedTuple):
    """How much of a node's code was looked at: `extent` over the samples, and the edges for which there were none."""

    node: str
    extent: Extent
    histories: int
    states: int
    without_samples: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every history over samples of every edge was run, up to states that are known."""
        return self.extent is Extent.ALL and not self.without_samples

    def __str__(self) -> str:
        lacking = "".join(f"; no samples for {edge!r}" for edge in self.without_samples)
        return f"{self.node}: {self.extent.value} ({self.histories} histories, {self.states} states){lacking}"


class Checked(list[Escape]):
    """The escapes that were found, and how much was looked at: without it, an empty list says nothing.

    `nodes` has an entry for each node whose code was given, `without_code` names the others.
    """

    def __init__(self, escapes: Iterable[Escape], nodes: Mapping[str, Looked], without_code: Iterable[str]) -> None:
        super().__init__(escapes)
        self.nodes = dict(nodes)
        self.without_code = tuple(without_code)

    @property
    def complete(self) -> bool:
        """Whether every node's code was given, and all of it looked at."""
        return not self.without_code and all(looked.complete for looked in self.nodes.values())

    def __str__(self) -> str:
        lines = [*map(str, self), *map(str, self.nodes.values())]
        return "\n".join([*lines, *(f"{name}: no code was given" for name in self.without_code)])


def check_behaviours(
    graph: Topology,
    behaviours: Mapping[str, NodeBehaviour],
    samples: Mapping[str, Iterable[Any]],
    depth: int | None = None,
    most_histories: int = MOST_HISTORIES,
    late: bool = True,
) -> Checked:
    """Where nodes do what the graph does not declare, in the order of its nodes; and how much of each was looked at.

    `samples` names, for an edge, messages that may arrive on it, and for a node, times of which it may be notified,
    asked for or not; a node for which it names none is notified of what it requests. With `late=False` no message at t
    comes after a notification of t (A&I 2.2 mention both restrictions). A node gives at most one escape for each edge,
    one for its `requests` (or `notify: false`), one for Condition 1, and one where a step does something else when it
    is made again. Cost: `explore` for each node.

    Returns
    -------
    The escapes, and how many histories of each node were looked at.

    Raises
    ------
    PointstampError
        PS502 where samples or behaviours name something that is not there.

    Examples
    --------
    >>> from pointstamp import Message, check_behaviours, from_edges
    >>> class Early:
    ...     def initial(self):
    ...         return [(None, ())]
    ...
    ...     def step(self, state, event):
    ...         return state, (), {"a->out": [Message(event.message.time - 1)]}
    >>> graph = from_edges([(None, "a"), ("a", None)])
    >>> [escape.result for escape in check_behaviours(graph, {"a": Early()}, {"in->a": [Message(3)]})]
    [2]
    """
    network = network_of(graph)
    given = {location: list(items) for location, items in samples.items()}
    for location, items in given.items():
        is_edge = network.number(location) >= len(network.nodes)
        for item in items:
            if is_edge and not hasattr(item, "time"):
                raise PointstampError("PS503", f"{item!r} is not a message for {location!r}", "Message(time, value)")
            network.pointstamp((location, item.time if is_edge else item))
    for name in behaviours:
        if network.number(name) >= len(network.nodes):
            raise PointstampError("PS502", f"{name!r} is an edge", "name a node of the graph")
    escapes: list[Escape] = []
    nodes: dict[str, Looked] = {}
    for number, name in enumerate(network.nodes):
        if name in behaviours:
            arriving = [network.edges[edge] for edge in network.incoming[number]]
            messages = {edge: given[edge] for edge in arriving if edge in given}
            observed = explore(behaviours[name], messages, given.get(name), depth, most_histories, name, late)
            escapes.extend(_first_request(network, number, beginnings(behaviours[name], name)))
            escapes.extend(_sendings(network, number, observed))
            escapes.extend(_requests(network, number, observed))
            if observed.impure is not None:
                history, event = observed.impure.history, observed.impure.event
                escapes.append(Escape(name, IMPURE, event.time, None, (), history, event))
            lacking = tuple(edge for edge in arriving if not given.get(edge))
            nodes[name] = Looked(name, observed.extent, observed.histories, observed.states, lacking)
    return Checked(escapes, nodes, [name for name in network.nodes if name not in behaviours])


IMPURE = "does not do the same each time, where a step is a function of the state and the event"
NO_REQUESTS = "where the graph says that the node never asks for notifications"


def _first_request(network: Network, number: int, starts: Iterable[History]) -> Iterator[Escape]:
    """A request of Initial(p) that cannot be."""
    name, domain = network.nodes[number], network.domains[number]
    for start in starts:
        for time in sorted(start.requests, key=repr):
            problem = "" if domain.contains(time) else f"which is not a time of {domain!r}"
            problem = problem if network.notifies[number] else NO_REQUESTS
            if problem:
                yield Escape(name, f"requests a notification of {time!r}, {problem}", None, time, (), start, None)
                return


def _sendings(network: Network, number: int, observed: Observed) -> Iterator[Escape]:
    """For each edge, what was sent there without being declared."""
    leaving = {network.edges[edge]: network.summaries[edge] for edge in network.outgoing[number]}
    for edge, summary in leaving.items():
        escape = uncovered(observed, edge, summary) if summary is not None else None
        if escape:
            yield escape
    strange = {edge: (time, result) for (time, edge, result) in reversed(observed.one_step) if edge not in leaving}
    for edge, (time, result) in strange.items():
        evidence = observed.one_step[time, edge, result]
        complaint = f"sends at {result!r} on {edge!r}, which is not an edge that leaves it"
        yield Escape(observed.node, complaint, time, result, (), evidence.history, evidence.event)


def _requests(network: Network, number: int, observed: Observed) -> Iterator[Escape]:
    """A request that was not declared, and a request that Condition 1 forbids unless it is the same."""
    if not network.notifies[number]:
        for (time, result), evidence in observed.requests.items():
            complaint = f"requests a notification of {result!r}, {NO_REQUESTS}"
            yield Escape(observed.node, complaint, time, result, (), evidence.history, evidence.event)
            return
    undeclared = uncovered_request(observed, network.requests[number])
    early = early_request(observed, network.domains[number])
    if undeclared:
        yield undeclared
    if early and (undeclared is None or early[2:4] != undeclared[2:4]):
        yield early


def _problem(summary: Summary, time: Any, result: Any) -> str:
    """Why the summary does not cover `result` after an event at `time`; an empty text if it covers it."""
    if not summary.source.contains(time):
        raise PointstampError(
            "PS503", f"{time!r} is not a time of {summary.source!r}", "sample times of the node's domain"
        )
    if not summary.target.contains(result):
        return f"which is not a time of {summary.target!r}"
    allowed = summary.apply(time)
    if any(summary.target.less_equal(least, result) for least in allowed):
        return ""
    if not allowed:
        return f"where the graph declares nothing at all after an event at {time!r}"
    first = " or ".join(map(repr, allowed))
    return f"where the graph declares only times from {first} on after an event at {time!r}"
