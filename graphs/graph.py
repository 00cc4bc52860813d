"""Graphs as people build them: nodes and edges by name, domains and summaries as they are written (A&I 2.1).

`Graph` collects; `network()` resolves: every location gets its domain, every outgoing edge its summary between two
domains, and the engine gets numbers instead of names. What does not fit together is PS401, naming both domains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from graphs.files.document import quoted
from graphs.files.notation import read_domain, read_summary, shown, suggestion
from progress.effort import MOST_STEPS, STEPS_A_PLACE, Effort, TooMuchWork
from progress.errors import PointstampError
from progress.garbage import without_cycle_search
from progress.normal_form.declared import Declared, Enter, Identity, Leave, Never, comparing, sends_nothing
from progress.normal_form.generic import GenericSummary
from progress.normal_form.layout import layout_of
from progress.notebook import InNotebooks, Shown
from progress.order import NO_TIME, Domain, as_time, times_of
from progress.plain import read_time, write_time
from progress.summary import NormalSummary, OpaqueSummary, Summary
from progress.topology import NO_NODE, Network

if TYPE_CHECKING:
    from graphs.files.calls import Recursion
    from recursion.call_graph import CallGraph

LONGEST_NAME = 1000
SIMPLE = (Identity(), Enter(), Leave())  # what a hint may name


class Mismatch(NamedTuple):
    """Two domains that should be one, a summary that fits no domain, or a requirement of recursion that is not met.

    `location` names the place, as it was written.
    """

    location: str
    error: PointstampError
    witness: Mapping[str, Any] = MappingProxyType({})


class NodeRecord:
    """A node as it was declared."""

    __slots__ = ("domain", "emits", "label", "notifies", "requests", "summary")

    def __init__(
        self, domain: Domain, summary: Any, emits: dict[str, Any], requests: Any, notifies: bool, label: str | None
    ) -> None:
        self.domain = domain
        self.summary = summary
        self.emits = emits
        self.requests = requests
        self.notifies = notifies
        self.label = label


class Graph(InNotebooks):
    """A dataflow graph. Adding a node or an edge costs O(1); `network()` costs O(nodes + edges) once after a change.

    Parameters
    ----------
    time : the default domain of every node, a `Domain` or its notation, as `{"product": ["nat", "nat"]}`; without it
        `nat`, and stacks in a graph with calls
    name : an optional name
    recursion : the calls, as in a file (docs/recursion.md): `{"in": "entry", "out": "exit", "calls": ["again"]}`

    Examples
    --------
    >>> from pointstamp import Graph
    >>> loop = Graph()
    >>> _ = loop.node("body")
    >>> _ = loop.node("feedback", summary="feedback")
    >>> _ = loop.edge("body", "feedback", "out")
    >>> _ = loop.edge("feedback", "body", "back")
    >>> loop
    Graph('', 2 nodes, 2 edges)
    """

    def __init__(self, time: Any = None, name: str | None = None, recursion: Any = None) -> None:
        self.name = name
        self.recursion: Recursion | None = None
        if recursion is not None:
            from graphs.files.calls import read_recursion, read_stack_times  # most graphs do without

            self.recursion = read_recursion(recursion)
            self.time: Any = read_stack_times(time, ("time",))
        else:
            self.time = read_domain("nat" if time is None else time, ("time",))
        self.nodes: dict[str, NodeRecord] = {}
        self.edges: dict[str, int] = {}
        self.sources: list[str | None] = []
        self.targets: list[str | None] = []
        self.edge_times: dict[str, Domain] = {}
        self.edge_labels: dict[str, str] = {}
        self.positions: dict[str, tuple[int, int]] = {}  # line and column of each location, when read from a file
        self._identity = Identity()
        self._network: Network | None = None
        self._calls: CallGraph | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What was said of it: the rest is found again where it is needed."""
        return self.__dict__ | {"_network": None, "_calls": None}

    def __repr__(self) -> str:
        return f"Graph({self.name or ''!r}, {len(self.nodes)} nodes, {len(self.edges)} edges)"

    def _shown(self) -> Shown:
        try:
            network = self.network()
        except PointstampError as error:  # it is not whole yet, or does not fit together
            return Shown(
                f"{self!r}: {error}",
                ("node", "times"),
                [(name, repr(each.domain)) for name, each in self.nodes.items()],
            )
        sends = {name: str(record.summary) for name, record in self.nodes.items() if record.summary != self._identity}
        rows = [(name, repr(each.domain), sends.get(name, "")) for name, each in self.nodes.items()]
        texts = {name: [word] for name, word in sends.items()}
        return Shown(repr(self), ("node", "times", "sends by"), rows, network, texts)

    def node(
        self,
        name: str,
        time: Any = None,
        summary: Any = None,
        emits: dict[str, Any] | None = None,
        requests: Any = None,
        notify: bool | None = None,
        label: str | None = None,
    ) -> Graph:
        """Add a node. `summary` holds for every outgoing edge, `emits` for the edges it names.

        `notify`: whether it asks for notifications; where nothing is said, calls do not, and all others do.
        """
        self._new_name(name)
        notifies = self.asks_by_default(name) if notify is None else notify
        if self.recursion is not None:
            from graphs.files.calls import refuse_own_times

            refuse_own_times(name, self.time, time, {"summary": summary, "emits": emits, "requests": requests})
            self.nodes[name] = NodeRecord(self.time, self._identity, {}, self._identity, notifies, label)
            return self
        self.nodes[name] = NodeRecord(
            self.time if time is None else read_domain(time),
            self._identity if summary is None else read_summary(summary),
            {edge: read_summary(item) for edge, item in emits.items()} if emits else {},
            self._identity if requests is None else read_summary(requests),
            notifies,
            label,
        )
        return self

    def asks_by_default(self, name: str) -> bool:
        """Whether a node asks for notifications of which nothing is said: all but calls, which only send on."""
        return self.recursion is None or not any(name in body.calls for body in self.recursion.bodies.values())

    def edge(
        self,
        source: str | None = None,
        target: str | None = None,
        id: str | None = None,
        time: Any = None,
        label: str | None = None,
    ) -> Graph:
        """Add an edge; without `source` an input edge, without `target` an output edge. Its nodes may follow later."""
        if source is None and target is None:
            raise PointstampError("PS007", "an edge has neither from nor to", "name at least one of its ends")
        if source is not None and source == target:
            raise PointstampError(
                "PS015", f"an edge leads from {source!r} to itself", "an edge joins two distinct nodes: put one between"
            )
        name = id if id is not None else f"{source or ''}->{target or ''}"
        self._new_name(name)
        self.edges[name] = len(self.sources)
        self.sources.append(source)
        self.targets.append(target)
        if time is not None and self.recursion is not None:
            from graphs.files.calls import refuse_own_times

            refuse_own_times(name, self.time, time, {})
        elif time is not None:
            self.edge_times[name] = read_domain(time)
        if label is not None:
            self.edge_labels[name] = label
        return self

    def _new_name(self, name: str) -> None:
        if not name or len(name) > LONGEST_NAME:
            raise PointstampError("PS009", f"{name[:40]!r} is not a name", f"text of 1 to {LONGEST_NAME} characters")
        if name in self.nodes or name in self.edges:
            other = "node" if name in self.nodes else "edge"
            raise PointstampError(
                "PS010", f"{name!r} already names another {other}", "nodes and edges share one set of names: give an id"
            )
        self._network = self._calls = None

    def locations(self) -> Iterator[str]:
        """All locations: the nodes, then the edges, in the order they were added; with calls, those after the split."""
        calls = self.call_graph() if self.recursion is not None else None
        yield from self.nodes if calls is None else calls.nodes
        yield from self.edges if calls is None else calls.edges

    def position_of(self, location: str) -> tuple[int | None, int | None]:
        """Line and column at which a location was written, where it was read from a file."""
        origin = location if self._calls is None else self._calls.origin.get(location, location)
        return self.positions.get(origin, (None, None))

    def _number(self, location: str) -> int:
        network = self.network()
        if self.recursion is not None and location in self.nodes and location not in network.numbers:
            raise PointstampError("PS502", f"there is no location {quoted(location)}", parts_of(location))
        return network.number(location)

    def domain_of(self, location: str) -> Domain:
        """The domain of a location's times."""
        return self.network().domain(self._number(location))

    def time_from_json(self, location: str, data: Any) -> Any:
        """The time that JSON data stands for at a location; refused when it is none of its domain."""
        return self.pointstamp_from_json(location, data)[1]

    def pointstamp_from_json(self, location: str, data: Any) -> tuple[int, Any]:
        """The number of a location, with the time that JSON data stands for there; refused where either is not."""
        number = self._number(location)
        domain = self.network().domain(number)
        time = as_time(domain, read_time(data))
        if time is NO_TIME:
            raise PointstampError("PS503", f"{shown(data)} is not a time at {quoted(location)}", times_of(domain))
        return number, time

    def time_to_json(self, location: str, time: Any) -> Any:
        """A time as JSON data."""
        return write_time(time)

    def network(self) -> Network:
        """The resolved graph; raises the first mismatch (PS401) or unknown name there is."""
        if self._network is None:
            network, mismatches = self.resolve()
            if mismatches:
                error = mismatches[0].error
                error.line, error.column = self.position_of(mismatches[0].location)
                raise error
            self._network = network
        return self._network

    def resolve(self) -> tuple[Network, list[Mismatch]]:
        """The network, with all mismatches; a mismatched summary stands in it as one that sends nothing."""
        with without_cycle_search():
            return _Resolution(self).run() if self.recursion is None else self._with_calls()

    def _with_calls(self) -> tuple[Network, list[Mismatch]]:
        from recursion.network import network_of
        from recursion.requirements import unmet

        calls = self.call_graph()
        mismatches = [
            Mismatch(found.origin, PointstampError(found.code, found.message, found.hint), found.witness)
            for found in unmet(calls)
        ]
        return network_of(calls), mismatches

    def call_graph(self) -> CallGraph:
        """The graph with its calls split, built once after a change; refused (PS010, PS016) where it is none."""
        if self._calls is None:
            from recursion.call_graph import CallEdge, CallGraph

            assert self.recursion is not None
            self._calls = CallGraph(
                {name: record.notifies for name, record in self.nodes.items()},
                list(map(CallEdge, self.edges, self.sources, self.targets)),
                self.recursion.bodies,
                self.recursion.main,
                self.time.epochs,
            )
        return self._calls


class _Resolution:
    """One pass over nodes and edges; equal summaries between equal domains are bound once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.mismatches: list[Mismatch] = []
        self._bound: dict[tuple[int, int, int], Summary | PointstampError] = {}
        self._interned: dict[Any, Any] = {}
        self._effort = Effort(MOST_STEPS + STEPS_A_PLACE * (len(graph.nodes) + len(graph.edges)))

    def run(self) -> tuple[Network, list[Mismatch]]:
        graph = self.graph
        records = list(graph.nodes.values())
        numbers: dict[str | None, int] = {name: number for number, name in enumerate(graph.nodes)}
        numbers[None] = NO_NODE
        domains = [self._intern(record.domain) for record in records]
        node_summaries = [self._intern(record.summary) for record in records]
        every_emits = [record.emits for record in records]
        requests: list[Summary] = []
        for name, record, domain in zip(graph.nodes, records, domains, strict=True):
            bound = self._bind(name, self._intern(record.requests), domain, domain, f"the requests of {name!r}")
            requests.append(bound)
            for edge in record.emits:
                position = graph.edges.get(edge)
                if position is None or graph.sources[position] != name:
                    raise PointstampError(
                        "PS011",
                        f"{name!r} emits on {edge!r}, which is not an edge that leaves it",
                        "the id of such an edge",
                    )
        sources: list[int] = []
        targets: list[int] = []
        edge_domains: list[Domain] = []
        summaries: list[Summary | None] = []
        edge_times, bound_cache = graph.edge_times, self._bound
        for edge, source_name, target_name in zip(graph.edges, graph.sources, graph.targets, strict=True):
            source, target = numbers.get(source_name), numbers.get(target_name)
            if source is None or target is None:
                raise self._no_node(edge, target_name if target is None else source_name)
            sources.append(source)
            targets.append(target)
            given = self._intern(edge_times[edge]) if edge_times and edge in edge_times else None
            domain = domains[target] if target != NO_NODE else given
            if given is not None and domain is not given:
                self._mismatch(
                    edge,
                    f"the edge {edge!r} has times of {given!r}, its destination {target_name!r} of {domain!r}",
                    f"leave out the `time` of {quoted(edge)}: a message is an event at its destination",
                )
            if source == NO_NODE:
                assert domain is not None
                edge_domains.append(domain)
                summaries.append(None)
                continue
            emits = every_emits[source]
            declared = self._intern(emits[edge]) if emits and edge in emits else node_summaries[source]
            before = domains[source]
            summary = bound_cache.get((id(declared), id(before), id(domain)))
            if summary is None or isinstance(summary, PointstampError):
                what = f"the summary of {source_name!r} on the edge {edge!r}"
                summary = self._bind(edge, declared, before, domain, what)
            edge_domains.append(domain if domain is not None else self._intern(summary.target))
            summaries.append(summary)
        network = Network(
            list(graph.nodes),
            domains,
            requests,
            [record.notifies for record in records],
            list(graph.edges),
            sources,
            targets,
            edge_domains,
            summaries,
        )
        return network, self.mismatches

    def _no_node(self, edge: str, name: str | None) -> PointstampError:
        hint = suggestion(name, self.graph.nodes) if self.graph.nodes else "declare the node"
        return PointstampError("PS011", f"the edge {edge!r} names {name!r}, which is not a node", hint)

    def _intern(self, value: Any) -> Any:
        """One object for equal domains and equal summaries, so that identity can stand for equality."""
        try:
            return self._interned.setdefault((type(value), value), value)
        except TypeError:  # a summary of the user's own that cannot be hashed is equal to itself alone
            return self._interned.setdefault(id(value), value)

    def _mismatch(self, location: str, message: str, hint: str) -> None:
        self.mismatches.append(Mismatch(location, PointstampError("PS401", message, hint)))

    def _bind(self, location: str, declared: Any, source: Domain, wanted: Domain | None, what: str) -> Summary:
        key = (id(declared), id(source), id(wanted))
        bound = self._bound.get(key)
        if bound is None:
            try:
                bound = bind(declared, source, wanted, self._effort)
            except TooMuchWork:
                raise too_many_alternatives(what, *self.graph.position_of(location)) from None
            except PointstampError as error:
                bound = error
            self._bound[key] = bound
        if isinstance(bound, PointstampError):
            position = self.graph.edges.get(location)
            ends = (None, None) if position is None else (self.graph.sources[position], self.graph.targets[position])
            self._mismatch(location, f"{what}: {bound.message}", what_fits(location, *ends, source, wanted))
            return OpaqueSummary(source, wanted or source, GenericSummary(Never(), source))
        return bound


def _leads(declared: Declared, source: Domain, wanted: Domain | None) -> bool:
    try:
        bind(declared, source, wanted)
    except PointstampError:
        return False
    return True


def what_fits(location: str, node: str | None, target: str | None, source: Domain, wanted: Domain | None) -> str:
    """What would be right in place of a summary that does not fit: of the requests of a node, or of what `node` sends.

    `target`: where the edge leads, if to a node; `source` and `wanted`: the domains before and after.
    """
    if node is None:
        return f"let the requests of {quoted(location)} be identity"
    for word in SIMPLE:
        if _leads(word, source, wanted):
            return f"let {quoted(node)} send by {word} on {quoted(location)}: {emitting(location, str(word))}"
    if target is None:
        return f"leave out the `time` of {quoted(location)}, or write a summary that leads there"
    return f"give {quoted(node)} and {quoted(target)} one `time`, or write a summary from the one to the other"


def emitting(edge: str, word: str) -> str:
    """How a node is told, in a file, what it sends on an edge."""
    key = edge if re.fullmatch(r"[\w>-]+", edge) else json.dumps(edge)
    return f"emits: {{{key}: {word}}}"


def parts_of(call: str) -> str:
    """The locations of a call, for a hint."""
    begins, returns = quoted(f"call-{call}"), quoted(f"ret-{call}")
    return f"it is a call: {begins} is where it begins, {returns} where it returns"


def too_many_alternatives(what: str, line: int | None = None, column: int | None = None) -> PointstampError:
    """The refusal (PS004) of a summary for which `bind` takes more than its effort."""
    return PointstampError(
        "PS004",
        f"{what}: its parts combine to more alternatives than can be worked out in a second or two",
        "fewer alternatives in `any`, or fewer summaries in `then`",
        line=line,
        column=column,
    )


def bind(declared: Any, source: Domain, wanted: Domain | None, effort: Effort | None = None) -> Summary:
    """A declared or custom summary between two domains; `wanted` is the destination's, where there is one.

    `TooMuchWork` where an effort is given and its alternatives are more than that.
    """
    if not hasattr(declared, "pieces"):
        return OpaqueSummary(source, wanted or source, declared)
    if layout_of(source) is None or (wanted is not None and layout_of(wanted) is None):
        if wanted not in (None, source) and not sends_nothing(declared):
            raise PointstampError(
                "PS401", f"{declared} does not lead from {source!r} to {wanted!r}", "a summary of your own there"
            )
        return OpaqueSummary(source, wanted or source, GenericSummary(declared, source))
    targets = declared.targets(source, () if wanted is None else (wanted,))
    if wanted is None:
        wanted = targets[0]
    elif wanted not in targets:
        raise PointstampError(
            "PS401", f"{declared} leads from times of {source!r} to {targets[-1]!r}, not to {wanted!r}",
            "change the summary, or the `time` of one of the two nodes",
        )  # fmt: skip
    return NormalSummary(source, wanted, declared.pieces(source, wanted, effort), comparing(effort))
