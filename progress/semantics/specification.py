"""ISpec and Spec (A&I 4.2): `InitProp`, then always `Mess`, `Not`, `Inp`, `Outp`, or nothing.

`Specification.successors` is the next-state relation as the states to which it leads, `allows` the same relation as a
predicate, as the formulas have it. The variants that the paper mentions are values of `Variant`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from progress.semantics.actions import Steps, inp, mess, notify, outp
from progress.semantics.clocks import Clock, Clocks, CloseUp, Outstanding, is_within
from progress.semantics.queues import is_subsequence, normal_form
from progress.semantics.state import State
from progress.semantics.system import System


class Inputs(Enum):
    """What the outside may put on input edges.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> [len(explore(Specification(system, Variant(inputs=each))).states) for each in (Inputs.FORBIDDEN, Inputs.FREE)]
    [3, 3]
    """

    FREE = "free"
    """Anything, as in the paper's `Inp`: also what Clock rules out."""

    CONSTRAINED = "constrained"
    """What leaves `Clock' <= Clock`, the constraint that 4.2 mentions. An input edge has no source, so messages come
    only at or after the times of those that are queued there already; to an empty edge none comes any more."""

    FORBIDDEN = "forbidden"
    """None: what is queued at the start is all."""

    ANNOUNCED = "announced"
    """Anything that is still to come, and Clock contains that, too: the open inputs of a running system. Beyond the
    paper, but it can be said in its words: put in place of each input edge a node without incoming edges that sends
    those messages when it is notified."""


class Variant(NamedTuple):
    """Which of the specifications of 4.2.

    `reordering`: a node may take any message that has no message at an earlier or equal time ahead of it.
    `outputs`: whether messages may leave from output edges. `at_once`: how many messages one `Inp` or `Outp` may bring
    or take; None: any number, as in the paper. One suffices for what can be reached, and makes fewer steps.

    Examples
    --------
    >>> from progress.semantics import Inputs, Variant
    >>> Variant(reordering=True, inputs=Inputs.FORBIDDEN)
    Variant(reordering=True, inputs=<Inputs.FORBIDDEN: 'forbidden'>, outputs=True, at_once=1)
    """

    reordering: bool = False
    inputs: Inputs = Inputs.FREE
    outputs: bool = True
    at_once: int | None = 1


class Specification:
    """ISpec of a system, and, by `visible`, its Spec. `clocks` is the parameter that 4.3 speaks of.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Specification, System
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> specification = Specification(system)
    >>> state = next(specification.initial())
    >>> specification.clock(state).frontiers["a->out"], [str(action) for action, _ in specification.successors(state)]
    ((0,), ['Mess: a takes 0 from in->a, sends 0 on a->out'])
    """

    def __init__(self, system: System, variant: Variant | None = None, clocks: Clocks | None = None) -> None:
        self.system = system
        self.variant = Variant() if variant is None else variant
        self.clocks = CloseUp(system) if clocks is None else clocks
        self._clock_of: dict[State, Clock] = {}

    def initial(self) -> Iterator[State]:
        """InitProp."""
        return self.system.beginnings()

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        """Mess, Not, Inp, Outp, in this order. Stuttering is left out."""
        return chain(
            mess(self.system, state, self.variant.reordering),
            notify(self.system, state, self.clock(state)),
            self.arrivals(state),
            self.departures(state),
        )

    def arrivals(self, state: State) -> Steps:
        """Inp, as far as the variant allows it."""
        if self.variant.inputs is Inputs.FORBIDDEN:
            return
        for action, after in inp(self.system, state, self.variant.at_once):
            if self.variant.inputs is not Inputs.CONSTRAINED or is_within(self.clock(after), self.clock(state)):
                yield action, after

    def departures(self, state: State) -> Steps:
        """Outp, where the variant allows it."""
        return outp(self.system, state, self.variant.at_once) if self.variant.outputs else iter(())

    def clock(self, state: State) -> Clock:
        """Clock, of the queued messages and the pending requests; of announced messages, too."""
        found = self._clock_of.get(state)
        if found is None:
            found = self._clock_of[state] = self.clocks(self.outstanding(state))
        return found

    def outstanding(self, state: State) -> Outstanding:
        """The pointstamps that Clock is made of."""
        names, announced = state.names, self.variant.inputs is Inputs.ANNOUNCED
        found = {(names.nodes[node], time) for node, times in enumerate(state.requests) for time in times}
        for queues in (state.queues, state.coming) if announced else (state.queues,):
            found |= {(names.edges[edge], time) for edge, queue in enumerate(queues) for time, _ in queue}
        return frozenset(found)

    def allows(self, before: State, after: State) -> bool:
        """Whether a pair of states is a step of ISpec or a stuttering step: [Mess or Not or Inp or Outp], literally.

        What is still to come has to go on its way, but its amount is not limited by `at_once`.
        """
        if before == after:
            return True
        if before.coming != after.coming:
            return self._is_inp(before, after)
        return (
            any(after == reached for _, reached in mess(self.system, before, self.variant.reordering))
            or any(after == reached for _, reached in notify(self.system, before, self.clock(before)))
            or self._is_outp(before, after)
        )

    def _is_inp(self, before: State, after: State) -> bool:
        inputs = self.system.inputs
        return self.is_brought(before, after) and _same(before, after, but=inputs)

    def is_brought(self, before: State, after: State) -> bool:
        """Whether what is new on input edges is what came in, in any place, and the variant allows it."""
        came = [edge for edge in self.system.inputs if before.coming[edge] != after.coming[edge]]
        if came and self.variant.inputs is Inputs.FORBIDDEN:
            return False
        if came and self.variant.inputs is Inputs.CONSTRAINED and not is_within(self.clock(after), self.clock(before)):
            return False
        return all(
            is_subsequence(before.queues[edge], after.queues[edge])
            and Counter((*before.queues[edge], *before.coming[edge]))
            == Counter((*after.queues[edge], *after.coming[edge]))
            for edge in came
        )

    def _is_outp(self, before: State, after: State) -> bool:
        outputs = self.system.outputs
        return (
            self.variant.outputs
            and all(is_subsequence(after.queues[edge], before.queues[edge]) for edge in outputs)
            and _same(before, after, but=outputs)
        )

    def representative(self, state: State) -> Hashable:
        """With reordering, the queues of internal edges as pomsets: see `progress.semantics.queues`.

        Those of input edges are seen from outside, where two orders of the same messages are two behaviours.
        """
        if not self.variant.reordering:
            return state
        domains, forms = self.system.network().edge_domains, {}
        for edge, queue in enumerate(state.queues):
            if len(queue) > 1 and edge not in self.system.inputs and edge not in self.system.outputs:
                form = normal_form(queue, domains[edge], partial(self.system.sort_key, edge))
                if form != queue:
                    forms[edge] = form
        return state.with_queues(forms) if forms else state

    def visible(self, state: State) -> Hashable:
        """The externally visible state: Q(e) of every input and output edge. What else there is, is hidden."""
        return tuple(state.queues[edge] for edge in (*self.system.inputs, *self.system.outputs))


def inputs_do_not_grow(system: System, before: State, after: State) -> bool:
    """Q'(i) is a subsequence of Q(i), for every input edge i: the hypothesis of section 5."""
    return all(is_subsequence(after.queues[edge], before.queues[edge]) for edge in system.inputs)


def quietly(specification: Specification) -> Callable[[State, Any, State], bool]:
    """Of a step: no input grows, the hypothesis of section 5."""
    return lambda before, action, then: inputs_do_not_grow(specification.system, before, then)


def _same(before: State, after: State, but: tuple[int, ...]) -> bool:
    return (
        before.local == after.local
        and before.requests == after.requests
        and all(edge in but or queue == after.queues[edge] for edge, queue in enumerate(before.queues))
    )
