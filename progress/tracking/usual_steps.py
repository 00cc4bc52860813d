"""Usual steps taken by the kernel alone: judged, propagated and entered in one call.

A step is *usual* when it consumes and delivers what is there and adds only what follows from that, or comes in where an
input is open, as the paper's actions do (A&I 4.2); and when its inputs move from one time to another. The kernel then
writes into the ledger's own records. Of any other step, an illegal one too, it says that it is none of its business,
and `progress.tracking.commit` judges it by the definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from progress.engines.arcs import Entrances
from progress.kernel import limits_of, pieces_of, shape_of
from progress.order import Domain
from progress.summary import Summary
from progress.topology import NO_NODE
from progress.tracking.ledger import Edge, Ledger, Node

if TYPE_CHECKING:
    from progress.kernel import Compiled

FEW_LOCATIONS = 10_000
Form = tuple[int, tuple[bool, bool], tuple[Any, ...]]  # places, whether a row and whether total, limits
# Of messages, deliveries, requests and inputs: the waiters that this releases; False: nothing is left to do; None: the
# step is not usual, and nothing has happened.
UsualStep = Callable[[Any, Any, Any, Any], "list[int] | Literal[False] | None"]


def never_usual(messages: object, delivered: object, requests: object, inputs: object) -> None:
    """Without a kernel no step is usual."""


class Registrar:
    """Tells the kernel of the locations that steps name: of all at once in small graphs, else when first named."""

    def __init__(self, kernel: Compiled, ledger: Ledger, entrances: Entrances) -> None:
        self.kernel = kernel
        self._listened = ledger.listened
        self._entrances = entrances
        self._forms: dict[int, Form | None] = {}  # by domain
        self._ways: dict[int, tuple[Any, ...] | None] = {}  # by summary of an edge
        network = ledger.network
        if len(network.nodes) + len(network.edges) <= FEW_LOCATIONS:
            for name in network.edges:
                ledger.edge(name)
            for name in network.nodes:
                ledger.node(name)
        for edge in ledger.edges.values():
            self.know(edge)
        for node in ledger.nodes.values():
            self.know(node)

    @property
    def entries(self) -> int:
        """How many entries the kernel's steps have made in the ledger, less those that they have removed."""
        return self.kernel.entries

    def know(self, place: Edge | Node) -> None:
        """A location is in use. One whose numbers the kernel does not know, or that is kept in order, stays unknown."""
        with suppress(OverflowError):  # a summary of an output edge may do more than the kernel can count
            self._know(place)
        if place.name in self._listened:
            self.kernel.listen(place.name, True)

    def _know(self, place: Edge | Node) -> None:
        form = self._form(place.domain)
        if form is None or place.lying is not None:
            return
        ways: tuple[Any, ...] = ()
        places, how, limits = form
        if isinstance(place, Node):
            found = [(end, pieces_of(summary)) for end, summary in self._entrances.ways_of_request(place.number)]
            if any(pieces is None or len(pieces) > 1 for _, pieces in found):
                return  # of several results only the minimal ones are outstanding, which the kernel does not sort out
            number = place.number
            self.kernel.know(place.name, place.requests, True, number, number, places, how, limits, tuple(found), None)
            return
        if place.summary is not None:
            before, way = self._form(place.summary.source), self._way(place.summary)
            if before is None or way is None:
                return
            places, ways = before[0], way
        ends, given = (place.source, place.target), place if place.is_input else None
        self.kernel.know(place.name, place.messages, False, *ends, places, how, limits, ways, given)

    def _form(self, domain: Domain) -> Form | None:
        key = id(domain)
        if key not in self._forms:
            shape = shape_of(domain)
            self._forms[key] = None if shape is None else (shape[0], shape[1:], limits_of(domain))
        return self._forms[key]

    def _way(self, summary: Summary) -> tuple[Any, ...] | None:
        key = id(summary)
        if key not in self._ways:
            pieces = pieces_of(summary)
            self._ways[key] = None if pieces is None else ((NO_NODE, pieces),)
        return self._ways[key]
