"""The more asynchronous model that A&I 2.2 mention: a node takes a message, and sends what comes of it some time later.

What a node sends lies unsent, in its order, edge by edge, until a step of its own puts it on the edge: `Send`. Clock
contains it all the while. The paper says that this model is a special case of its own, with buffer nodes; that the two
have the same externally visible behaviours is a test of `progress.semantics.buffers`, with which it shares nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from progress.semantics.actions import Mess, Not, mess, notify
from progress.semantics.queues import takeable, without
from progress.semantics.specification import Specification, Variant
from progress.semantics.state import Queue, State, shown
from progress.semantics.system import System


class Send(NamedTuple):
    """A message that a node has produced comes to the edge."""

    edge: str
    message: Any

    def __str__(self) -> str:
        return f"Send: {shown([self.message])} comes to {self.edge}"


class Unsent(NamedTuple):
    """A state, and what lies unsent before each edge."""

    state: State
    unsent: tuple[Queue, ...]

    def __str__(self) -> str:
        names = self.state.names.edges
        parts = [f"unsent on {name}: {shown(queue)}" for name, queue in zip(names, self.unsent, strict=True) if queue]
        return "; ".join((str(self.state), *parts))


class Asynchronous:
    """The machine: as `Specification`, but that sending takes a step of its own.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Asynchronous, Buffer, Inputs, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> explore(Asynchronous(system, Variant(inputs=Inputs.FORBIDDEN))).path(2).steps[1][0]
    Send(edge='a->out', message=Message(time=0, value=None))
    """

    def __init__(self, system: System, variant: Variant | None = None) -> None:
        self.inner = Specification(system, variant)

    def initial(self) -> Iterator[Unsent]:
        """InitProp, and nothing unsent."""
        return (Unsent(state, tuple(() for _ in state.queues)) for state in self.inner.initial())

    def successors(self, here: Unsent) -> Iterator[tuple[Any, Unsent]]:
        """Mess and Not without what they send, Send, Inp and Outp."""
        inner, state = self.inner, here.state
        clock = inner.clocks(inner.outstanding(state) | self._unsent_pointstamps(here))
        for action, after in chain(
            mess(inner.system, state, inner.variant.reordering), notify(inner.system, state, clock)
        ):
            assert isinstance(action, Mess | Not)
            unsent = list(here.unsent)
            kept = {}
            for name, queue in action.sent:
                edge = state.names.edge[name]
                kept[edge] = state.queues[edge]
                unsent[edge] += queue
            yield action, Unsent(after.with_queues(kept), tuple(unsent))
        yield from self._sendings(here)
        for change, after in chain(inner.arrivals(state), inner.departures(state)):
            yield change, Unsent(after, here.unsent)

    def _sendings(self, here: Unsent) -> Iterator[tuple[Send, Unsent]]:
        domains = self.inner.system.network().edge_domains
        for edge, queue in enumerate(here.unsent):
            for place in takeable(queue, domains[edge], self.inner.variant.reordering):
                unsent = (*here.unsent[:edge], without(queue, place), *here.unsent[edge + 1 :])
                after = here.state.with_queues({edge: (*here.state.queues[edge], queue[place])})
                yield Send(here.state.names.edges[edge], queue[place]), Unsent(after, unsent)

    def _unsent_pointstamps(self, here: Unsent) -> frozenset[tuple[str, Any]]:
        names = here.state.names.edges
        return frozenset((names[edge], message.time) for edge, queue in enumerate(here.unsent) for message in queue)

    def representative(self, here: Unsent) -> Hashable:
        """The state itself: no symmetry is used here."""
        return here

    def visible(self, here: Unsent) -> Hashable:
        """As for `Specification`: what is on input and output edges."""
        return self.inner.visible(here.state)
