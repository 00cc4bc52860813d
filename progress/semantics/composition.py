"""Composing two graphs (A&I 4.3): `Spec12` from their two specifications, beside the specification of the joined graph.

Spec12 = Spec1 and Spec2 and always not (Acts1 and Acts2), the queues of the shared edges hidden. A shared edge leaves
one graph and enters the other. What one does there, the other sees as an external change: a node of the first sends on
it, which is `Inp` for the second; a node of the second takes from it, which is `Outp` for the first.

Explored, Spec12 and the non-compositional specification differ in two ways:

* Spec12 allows two things at once that the whole graph does one after the other: both graphs may act, as long as not
  both are visible at their edges, and the outside may act on one of them meanwhile. Each such step is two steps of the
  whole, in one order or the other.
* Spec12 forbids, taken literally, that a node takes a message that came from the other graph and sends one to it in the
  same step. For the other graph that is an output that shrinks and an input that grows; `Inp` leaves outputs as they
  are, `Outp` leaves inputs, so neither describes the step, nor do both. With `together`, the outside may do both at
  once, and nothing is lost. Buffer nodes on the shared edges do it, too (`progress.semantics.buffers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from progress.semantics.actions import Action, inp, mess, notify
from progress.semantics.clocks import Clocks
from progress.semantics.joining import join
from progress.semantics.local_clocks import LocalClocks
from progress.semantics.queues import is_subsequence
from progress.semantics.specification import Specification, Variant
from progress.semantics.state import Queue, State
from progress.semantics.system import System


class Both(NamedTuple):
    """What the two graphs do in one step of Spec12, and what the outside does; None where one does nothing."""

    first: Any
    second: Any
    outside: tuple[Action, ...]

    def __str__(self) -> str:
        return " | ".join(str(each) for each in (self.first, self.second, *self.outside) if each is not None)


class Composition(Specification):
    """Spec12: the next-state relation of two systems side by side, and not both visible at once.

    States are those of the joined graph. `clocks` is the parameter; `LocalClocks` makes it of two local ones.
    `together`: at the edges of one graph, the outside may bring messages and take others in one step.

    Examples
    --------
    >>> from pointstamp import Graph, Message
    >>> from progress.semantics import Buffer, Composition, Inputs, System, Variant, explore
    >>> left = Graph().node("a").edge(None, "a", "in").edge("a", None, "shared")
    >>> right = Graph().node("b").edge(None, "b", "shared").edge("b", None, "out")
    >>> first = System(left, {"a": Buffer("shared")}, {"in": [Message(0)]})
    >>> second = System(right, {"b": Buffer("out")})
    >>> len(explore(Composition(first, second, Variant(inputs=Inputs.FORBIDDEN))).states)
    4
    """

    def __init__(
        self,
        first: System,
        second: System,
        variant: Variant | None = None,
        clocks: Clocks | None = None,
        together: bool = False,
    ) -> None:
        super().__init__(join(first, second), variant, LocalClocks(first, second) if clocks is None else clocks)
        self.parts = (_Part(first, self.system), _Part(second, self.system))
        self.together = together
        self._last: tuple[State, list[tuple[set[State], list[tuple[Any, State]]]]] | None = None

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        """Whatever both next-state relations allow at once, one of them or both stuttering, and not both visible."""
        seen = {state}
        for action, after in self._candidates(state):
            if after not in seen and self.allows(state, after):
                seen.add(after)
                yield action, after

    def allows(self, before: State, after: State) -> bool:
        """[N1] and [N2] and not (Acts1 and Acts2), each read off the edges, nodes and requests of its own graph."""
        return (
            all(self._is_step(number, before, after) for number in (0, 1))
            and not all(part.is_visible(before, after) for part in self.parts)
            and self._comes_and_goes(before, after)
        )

    def _is_step(self, number: int, before: State, after: State) -> bool:
        """[Mess or Not or Inp or Outp] of one graph; with `together` also Inp and Outp at once."""
        part = self.parts[number]
        old, new = part.of(before), part.of(after)
        return old == new or self._is_outside(part.system, old, new) or new in self._own(before)[number][0]

    def _is_outside(self, system: System, old: State, new: State) -> bool:
        """Inp or Outp of one graph, whether it is the other graph or the outside that acts at its edges."""
        changed = [edge for edge, queue in enumerate(old.queues) if queue != new.queues[edge]]
        grown = [edge for edge in changed if edge in system.inputs]
        shrunk = [edge for edge in changed if edge in system.outputs]
        return (
            (old.local, old.requests) == (new.local, new.requests)
            and len(grown) + len(shrunk) == len(changed)
            and all(is_subsequence(old.queues[edge], new.queues[edge]) for edge in grown)
            and all(is_subsequence(new.queues[edge], old.queues[edge]) for edge in shrunk)
            and (self.together or not (grown and shrunk))
        )

    def _comes_and_goes(self, before: State, after: State) -> bool:
        """Whether what the outside does at the edges of the whole is what the variant allows."""
        system = self.system
        stays = [edge for edge in system.inputs if before.coming[edge] == after.coming[edge]]
        grows = system.outputs if not self.variant.outputs else ()
        return (
            self.is_brought(before, after)
            and all(is_subsequence(after.queues[edge], before.queues[edge]) for edge in stays)
            and all(is_subsequence(before.queues[edge], after.queues[edge]) for edge in grows)
        )

    def _own(self, state: State) -> list[tuple[set[State], list[tuple[Any, State]]]]:
        """For each graph what its nodes can do: its states after it, and the states of the whole."""
        if self._last is None or self._last[0] != state:
            clock = self.clock(state)
            found = []
            for part in self.parts:
                mine = part.of(state)
                acts = list(chain(mess(part.system, mine, self.variant.reordering), notify(part.system, mine, clock)))
                whole = [(action, part.back(state, after)) for action, after in acts]
                found.append(({after for _, after in acts}, whole))
            self._last = state, found
        return self._last[1]

    def _candidates(self, state: State) -> Iterator[tuple[Both, State]]:
        """More than the relation allows: an action of either graph or none, then what the outside may do or not do."""
        (_, ones), (_, others) = self._own(state)
        for one, after_one in [(None, state), *ones]:
            for other, after_other in [(None, state), *others]:
                inside = self._merged(state, after_one, after_other)
                brought = inp(self.system, inside, self.variant.at_once)
                for arrived, grown in [(None, inside), *brought]:
                    for left, after in [(None, grown), *self.departures(grown)]:
                        yield Both(one, other, tuple(each for each in (arrived, left) if each is not None)), after

    def _merged(self, state: State, one: State, other: State) -> State:
        """The changes of both; where both change an edge, that of the first, which the relation then refuses."""
        queues = tuple(
            changed if changed != queue else second
            for queue, changed, second in zip(state.queues, one.queues, other.queues, strict=True)
        )
        count = len(self.parts[0].system.names.nodes)
        local = (*one.local[:count], *other.local[count:])
        requests = (*one.requests[:count], *other.requests[count:])
        return State(state.names, queues, local, requests, state.coming)


class _Part:
    """One of the two systems, and where its nodes and edges are in the whole."""

    def __init__(self, system: System, whole: System) -> None:
        self.system = system
        self.nodes = [whole.names.node[name] for name in system.names.nodes]
        self.edges = [whole.names.edge[name] for name in system.names.edges]

    def of(self, state: State) -> State:
        """What of a state belongs to this graph."""
        return State(
            self.system.names,
            tuple(state.queues[edge] for edge in self.edges),
            tuple(state.local[node] for node in self.nodes),
            tuple(state.requests[node] for node in self.nodes),
            tuple(() for _ in self.edges),
        )

    def back(self, state: State, mine: State) -> State:
        """The whole with this graph in another state."""
        queues: list[Queue] = list(state.queues)
        local, requests = list(state.local), list(state.requests)
        for place, edge in enumerate(self.edges):
            queues[edge] = mine.queues[place]
        for place, node in enumerate(self.nodes):
            local[node], requests[node] = mine.local[place], mine.requests[place]
        return State(state.names, tuple(queues), tuple(local), tuple(requests), state.coming)

    def is_visible(self, before: State, after: State) -> bool:
        """Acts: some input of this graph shrinks, or some output grows."""
        old, new = self.of(before), self.of(after)
        return any(_is_proper(new.queues[edge], old.queues[edge]) for edge in self.system.inputs) or any(
            _is_proper(old.queues[edge], new.queues[edge]) for edge in self.system.outputs
        )


def _is_proper(short: Queue, long: Queue) -> bool:
    return short != long and is_subsequence(short, long)
