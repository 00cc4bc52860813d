"""What is outstanding in a running system: queued messages, open inputs, pending requests. The engines derive the rest.

Everything that is complete is forgotten: a count of zero, a delivered request, a time that an input has passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from progress.antichain import Antichain, minimal_elements
from progress.engines.vertex_state import Place, place_for
from progress.errors import brief
from progress.order import NO_TIME, Domain, as_time
from progress.topology import NO_NODE, Network
from progress.tracking.membership import quick_contains
from progress.tracking.refusal import no_time_there, unknown_place, wrong_form, wrong_kind

if TYPE_CHECKING:
    from progress.tracking.usual_steps import Registrar


FEW = 8


class Edge:
    """An edge, the messages queued on it, and, if it is an input, the times from which more may come.

    `lying` keeps its messages in order, once somebody asked for the frontier of an edge with many.
    """

    __slots__ = (
        "_ahead",
        "contains",
        "domain",
        "lying",
        "messages",
        "name",
        "number",
        "open",
        "source",
        "summary",
        "target",
    )

    def __init__(self, network: Network, number: int, contains: Callable[[Any], bool]) -> None:
        self.number = number
        self.name = network.edges[number]
        self.source = network.sources[number]
        self.target = network.targets[number]
        self.summary = network.summaries[number]
        self.domain = network.edge_domains[number]
        self.contains = contains
        self.messages: dict[Any, int] = {}
        self.open: tuple[Any, ...] = ()
        self.lying: Place | None = None
        self._ahead: tuple[Any, Antichain] | None = None  # the open times when last asked, and where there are many

    def is_open_at(self, time: Any) -> bool:
        """Whether an open time is at or before this one. Cost: that of `Antichain.covers`."""
        if len(self.open) <= FEW:
            less_equal = self.domain.less_equal
            return any(less_equal(before, time) for before in self.open)
        if self._ahead is None or self._ahead[0] is not self.open:
            self._ahead = self.open, Antichain(self.domain, self.open)
        return self._ahead[1].covers(time)

    @property
    def is_input(self) -> bool:
        """Whether messages come from outside."""
        return self.source == NO_NODE


class Node:
    """A node and its pending requests, each with the number of its waiter, or None when it may be delivered."""

    __slots__ = ("contains", "domain", "lying", "name", "number", "requests")

    def __init__(self, network: Network, number: int, contains: Callable[[Any], bool]) -> None:
        self.number = number
        self.name = network.nodes[number]
        self.domain = network.domains[number]
        self.contains = contains
        self.requests: dict[Any, int | None] = {}
        self.lying: Place | None = None


_number_of = attrgetter("number")


def _lying(domain: Any, counts: Iterable[tuple[Any, int]]) -> Place:
    place = place_for(domain)
    for time, count in counts:
        place.count(time, count)
    return place


class Ledger:
    """The records of all edges and nodes that were ever named, made when they are first needed.

    Records are no state: what is answered does not depend on which names were heard, only on what is outstanding.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.edges: dict[str, Edge] = {}
        self.nodes: dict[str, Node] = {}
        self._tests: dict[int, Callable[[Any], bool]] = {}
        self.listened: set[str] = set()  # the locations of which somebody wants to know when what lies there changes
        self.registrar: Registrar | None = None  # to be told of records made, and of those kept in order

    def edge(self, name: object) -> Edge:
        """The edge of this name; refused where there is none."""
        found = self.edges.get(name) if isinstance(name, str) else None
        if found is None:
            number = self._number(name)
            if number < len(self.network.nodes):
                raise wrong_kind(str(name), "it is a node; messages are on edges")
            number -= len(self.network.nodes)
            contains = self._contains(self.network.edge_domains[number])
            found = self.edges[str(name)] = Edge(self.network, number, contains)
            if self.registrar is not None:
                self.registrar.know(found)
        return found

    def node(self, name: object) -> Node:
        """The node of this name; refused where there is none."""
        found = self.nodes.get(name) if isinstance(name, str) else None
        if found is None:
            number = self._number(name)
            if number >= len(self.network.nodes):
                raise wrong_kind(str(name), "it is an edge; requests are at nodes")
            found = self.nodes[str(name)] = Node(self.network, number, self._contains(self.network.domains[number]))
            if self.registrar is not None:
                self.registrar.know(found)
        return found

    def node_of(self, number: int) -> Node:
        """The node of this number."""
        return self.node(self.network.nodes[number])

    def place(self, name: object) -> Edge | Node:
        """The location of this name."""
        return self.node(name) if self._number(name) < len(self.network.nodes) else self.edge(name)

    def listen(self, name: str, wanted: bool) -> None:
        """Somebody wants to know when what lies at a location changes, or nobody does any more."""
        (self.listened.add if wanted else self.listened.discard)(name)
        if self.registrar is not None:
            self.registrar.kernel.listen(name, wanted)

    def least(self, place: Edge | Node) -> list[Any]:
        """Minimal times of what is outstanding at a location itself: messages and open times, or requests.

        Cost: O(width) and O(log n) a step from now on, the first time O(n log n); few times are simply listed.
        """
        counts = place.messages if isinstance(place, Edge) else place.requests
        if place.lying is None and len(counts) > FEW:
            given = place.messages.items() if isinstance(place, Edge) else ((time, 1) for time in place.requests)
            place.lying = _lying(place.domain, given)
            if self.registrar is not None:
                self.registrar.kernel.forget(place.name)  # which does not see to what is kept in order
        found = list(counts) if place.lying is None else list(place.lying.least)
        return [*found, *place.open] if isinstance(place, Edge) else found

    def has_before(self, place: Edge | Node, time: Any) -> bool:
        """Whether something outstanding at a location itself is at or before a time.

        Cost: O(width) comparisons, of the times that may be comparable.
        """
        less_equal = place.domain.less_equal
        if isinstance(place, Edge):
            if time in place.messages or place.is_open_at(time):
                return True
            if not place.messages:
                return False
        if place.lying is None:
            return any(less_equal(before, time) for before in self.least(place))
        return any(less_equal(before, time) for before in place.lying.least_beside(time))

    def input(self, name: object) -> Edge:
        """The input edge of this name."""
        edge = self.edge(name)
        if not edge.is_input:
            raise wrong_kind(edge.name, "an edge without `from`: only inputs open and close")
        return edge

    def pointstamp(self, item: Any) -> tuple[Edge | Node, Any]:
        """A location with one of its times."""
        try:
            name, time = item
        except (TypeError, ValueError):
            raise wrong_form(f"{brief(item)} is not a pair", "a location and a time") from None
        place = self.place(name)
        return place, time if place.contains(time) else self.time(place, time)

    def request(self, item: Any) -> tuple[Node, Any]:
        """A node with one of its times."""
        try:
            name, time = item
        except (TypeError, ValueError):
            raise wrong_form(f"{brief(item)} is not a request", "a node and a time") from None
        node = self.nodes.get(name) if type(name) is str else None
        if node is None:
            node = self.node(name)
        return node, time if node.contains(time) else self.time(node, time)

    def opening(self, edge: Edge, times: object) -> tuple[Any, ...]:
        """Times at which an input opens, the minimal ones of those given."""
        if isinstance(times, str | bytes) or not isinstance(times, Iterable):
            raise wrong_form(f"the input {brief(edge.name)} opens at {brief(times)}", "a list of times, [] to close it")
        return minimal_elements(edge.domain, [self.time(edge, time) for time in times])

    def time(self, place: Edge | Node, value: object) -> Any:
        """The time that a value is or stands for at a location; refused where it is none."""
        found = as_time(place.domain, value)
        if found is NO_TIME:
            raise no_time_there(place.name, value, place.domain)
        return found

    def edges_in_order(self) -> list[Edge]:
        """The edges that were named, in the order of the graph."""
        return sorted(self.edges.values(), key=_number_of)

    def nodes_in_order(self) -> list[Node]:
        """The nodes that were named, in the order of the graph."""
        return sorted(self.nodes.values(), key=_number_of)

    def every(self) -> list[tuple[int, Any, str]]:
        """All that is outstanding: the number of the location, the time and the kind; edges first, in their order."""
        count = len(self.network.nodes)
        found: list[tuple[int, Any, str]] = []
        for edge in self.edges_in_order():
            found += [(count + edge.number, time, "input") for time in edge.open]
            found += [(count + edge.number, time, "message") for time in edge.messages]
        for node in self.nodes_in_order():
            found += [(node.number, time, "request") for time in node.requests]
        return found

    def _contains(self, domain: Domain) -> Callable[[Any], bool]:
        """One test for each domain."""
        key = id(domain)
        if key not in self._tests:
            self._tests[key] = quick_contains(domain)
        return self._tests[key]

    def _number(self, name: object) -> int:
        number = self.network.numbers.get(name) if isinstance(name, str) else None
        if number is None:
            raise unknown_place(name, self.network.numbers)
        return number
