"""Whether one system may take another's place in every context that sends nothing into the past (A&I 4.3).

The paper leaves it open: "a fully abstract treatment of timely dataflow would have interesting specificities, such as
the handling of completion notifications and the possible restrictions on contexts". Here a context is anything that
brings messages to the inputs, takes those on the outputs, and has promised from the start which messages may still
come: it brings one, or withdraws it, and never another. Its reliance on notifications shows in what it sees: besides
the queues on the edges it sees the least times at which this system may still send on each output, which is all that
the Clock of the whole has of it there (`progress.semantics.local_clocks`).

Then a system may take the place of another where

* their edges to the outside are the same, with the same times;
* its *contract* asks no more of a context: between any input and output it gives nothing earlier, and so do the ways
  within (`progress.semantics.interfaces`). So a context that keeps Condition 2 with the other keeps it with this one;
* whatever it does in a most general context over the sample messages, the other may do.

The first two are decided, or said to be open, for all times; the third is exact for the samples.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from progress.errors import PointstampError
from progress.local_history import Message
from progress.semantics.explorer import MOST_STATES, MOST_STEPS, explore
from progress.semantics.interfaces import Inside, Interface, Ways, interface_of
from progress.semantics.queues import minus
from progress.semantics.specification import Inputs, Specification, Variant
from progress.semantics.state import State
from progress.semantics.system import System
from progress.semantics.visible import Comparison, compare


class Withdrawn(NamedTuple):
    """A context will not bring a message that it might have brought."""

    edge: str
    message: Message

    def __str__(self) -> str:
        return f"Withdrawn: {self.message.time!r} does not come on {self.edge}"


class InContext(Specification):
    """A system in the most general context that brings these messages, in any order, or does not.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, InContext, System, explore
    >>> system = System(
    ...     from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, arrivals={"in->a": [Message(0)]}
    ... )
    >>> sorted(str(action) for action, _ in InContext(system).successors(next(InContext(system).initial())))
    ['Inp: 0 comes in on in->a', 'Withdrawn: 0 does not come on in->a']
    """

    def __init__(self, system: System, reordering: bool = False) -> None:
        super().__init__(system, Variant(reordering=reordering, inputs=Inputs.ANNOUNCED))

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        """As always; and a message that was promised is withdrawn."""
        return chain(super().successors(state), self._withdrawals(state))

    def _withdrawals(self, state: State) -> Iterator[tuple[Any, State]]:
        for edge in self.system.inputs:
            for message in dict.fromkeys(state.coming[edge]):
                coming = list(state.coming)
                coming[edge] = minus(coming[edge], message)
                yield Withdrawn(state.names.edges[edge], message), state.with_queues({}, tuple(coming))

    def visible(self, state: State) -> Hashable:
        """What a context sees: the queues at its edges, its own promises, and the least times that may still leave."""
        frontiers, names = self.clock(state).frontiers, self.system.names.edges
        outside = sorted((*self.system.inputs, *self.system.outputs), key=names.__getitem__)
        outputs = set(self.system.outputs)
        return tuple(
            (
                state.queues[edge],
                state.coming[edge],
                frozenset(frontiers.get(names[edge], ()) if edge in outputs else ()),
            )
            for edge in outside
        )


class Interchange(NamedTuple):
    """Whether one may take the other's place. `complaints`: why not, by the contracts; `behaviours`: what was compared.

    `contract` is None where it cannot be decided whether the contract asks more of a context.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, System, may_take_place, with_buffers
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> answer = may_take_place(with_buffers(system), system, {"in->a": [Message(0)]})
    >>> answer.holds, answer.complaints
    (False, ())
    """

    complaints: tuple[str, ...]
    contract: bool | None
    behaviours: Comparison | None

    @property
    def holds(self) -> bool | None:
        """True: in every context, over the samples. None: nothing speaks against it, and not all was decided."""
        if self.complaints or (self.behaviours is not None and self.behaviours.only_first is not None):
            return False
        return True if self.contract and self.behaviours is not None else None


def may_take_place(
    new: System,
    old: System,
    samples: Mapping[str, Iterable[Message]],
    reordering: bool = False,
    most_states: int = MOST_STATES,
    most_steps: int = MOST_STEPS,
) -> Interchange:
    """Whether `new` may stand where `old` does, in every context that sends nothing into the past.

    `samples` are the messages that a context may bring, each once; what the systems have queued and announced besides
    is left out. Cost: that of `interface_of`, `explore` and `compare` for both.

    Returns
    -------
    Whether it may, what speaks against it, and which behaviours were compared.

    Raises
    ------
    PointstampError
        PS616 where a graph has no contract but for its domains, PS502 and PS503 for samples that are not messages of
        its inputs.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, System, may_take_place, with_buffers
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> may_take_place(with_buffers(system), system, {"in->a": [Message(0)]}).holds
    False
    """
    try:
        mine, other = interface_of(new), interface_of(old)
    except PointstampError as error:
        if error.code != "PS616":
            raise
        complaints: list[str] = []
        contract = None
    else:
        complaints = list(_complaints(mine, other))
        contract = _asks_no_more(mine, other) and bool(mine.condition_2.holds)
    if not _same_edges(new, old):
        return Interchange(("the edges to the outside, or their times, are not the same",), False, None)
    given = {edge: tuple(messages) for edge, messages in samples.items()}
    found = [
        explore(InContext(System(each, each.nodes, {}, given), reordering), (), most_states, most_steps)
        for each in (new, old)
    ]
    behaviours = compare(*found) if all(each.finished for each in found) else None
    return Interchange(tuple(complaints), False if complaints else contract or None, behaviours)


def _same_edges(one: System, other: System) -> bool:
    sides = []
    for system in (one, other):
        names, domains = system.names.edges, system.network().edge_domains
        sides.append([{names[edge]: domains[edge] for edge in edges} for edges in (system.inputs, system.outputs)])
    return sides[0] == sides[1]


def _complaints(mine: Interface, other: Interface) -> Iterator[str]:
    """What the contract asks more of a context, shown by a time; and a Condition 2 that fails within."""
    if mine.condition_2.holds is False and other.condition_2.holds:
        yield "Condition 2 fails within"
    for (start, end), way in mine.passes.items():
        allowed = other.passes.get((start, end))
        for time in way.source.sample():
            least = () if allowed is None else allowed.apply(time)
            for result in way.apply(time):
                if not any(way.target.less_equal(each, result) for each in least):
                    yield f"what comes at {time!r} on {start!r} may lead to {result!r} on {end!r}, and may not there"
                    break
            else:
                continue
            break


def _asks_no_more(mine: Interface, other: Interface) -> bool:
    """Whether every way of one contract is no earlier than one of the other; false also where that is not decided."""
    passes = {f"{start} {end}": way for (start, end), way in mine.passes.items()}
    others = {f"{start} {end}": way for (start, end), way in other.passes.items()}
    return _no_earlier(passes, others) and all(
        any(_is_as_within(one, each) for each in other.inside) for one in mine.inside
    )


def _is_as_within(one: Inside, other: Inside) -> bool:
    return (
        one.domain == other.domain and _no_earlier(one.enters, other.enters) and _no_earlier(one.leaves, other.leaves)
    )


def _no_earlier(ways: Ways, others: Ways) -> bool:
    return all(edge in others and others[edge].no_later_than(way) for edge, way in ways.items())
