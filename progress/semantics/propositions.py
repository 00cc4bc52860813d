"""Propositions 7, 8 and 9 and Theorem 2 (A&I 5) as checks, each `always` beside a `sometimes` that shows it says much.

With them goes what they are for, `progress.semantics.guarantee`.

Their hypotheses are not assumed: an exploration of a system in which one fails shows what the hypothesis is for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.semantics.actions import Mess, Not
from progress.semantics.clocks import Clock, is_within
from progress.semantics.guarantee import guarantee
from progress.semantics.histories import local_histories
from progress.semantics.machine import Path
from progress.semantics.properties import (
    AnyProperty,
    always_along,
    always_later,
    always_step,
    sometimes_along,
    sometimes_step,
)
from progress.semantics.specification import Specification, inputs_do_not_grow, quietly
from progress.semantics.state import State
from progress.semantics.system import System
from progress.summary import NoMinimalTimes


def proposition_7(system: System) -> list[AnyProperty]:
    """Always, for all p, some local history H(p) has LocState(p) = g(H(p))'s state, NotRequests(p) its requests.

    The history is what p consumed on the way; g is computed anew from p's code (`progress.semantics.histories`). Its
    companion: some node has consumed a message and a notification, and waits for something.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, proposition_7
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, proposition_7(system)).verdicts]
    ['holds', 'fails']
    """

    def is_so(path: Path[State]) -> bool:
        return all(_is_after(system, name, path) for name in system.names.nodes)

    def is_long(path: Path[State]) -> bool:
        kinds = {(action.node, type(action)) for action, _ in path.steps if isinstance(action, Mess | Not)}
        return any(path.state.pending(p) and {(p, Mess), (p, Not)} <= kinds for p in system.names.nodes)

    return [
        always_along("Proposition 7: every local state comes of a local history", is_so),
        sometimes_along("a node has consumed a message and a notification, and waits", is_long),
    ]


def _is_after(system: System, node: str, path: Path[State]) -> bool:
    events = [action.event for action, _ in path.steps if isinstance(action, Mess | Not) and action.node == node]
    start, now = path.start, path.state
    domain = system.network().domains[system.names.node[node]]
    at_first = start.local_state(node), set(start.pending(node))
    at_last = now.local_state(node), set(now.pending(node))
    return any(
        (begins, ends) == (at_first, at_last) for begins, ends in local_histories(system.nodes[node], domain, events)
    )


def proposition_8(specification: Specification) -> list[AnyProperty]:
    """Every step in which no input grows leaves Clock' within Clock. Its companion: a step sends, and Clock shrinks.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, proposition_8
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, proposition_8(quiet)).verdicts]
    ['holds', 'holds']
    """
    clock = specification.clock

    def shrinks(before: State, action: Any, then: State) -> bool:
        return not inputs_do_not_grow(specification.system, before, then) or is_within(clock(then), clock(before))

    def sends_and_shrinks(before: State, action: Any, then: State) -> bool:
        return isinstance(action, Mess | Not) and bool(action.sent) and not is_within(clock(before), clock(then))

    return [
        always_step("Proposition 8: while inputs do not grow, Clock only shrinks", shrinks),
        sometimes_step("a step sends messages, and something leaves Clock", sends_and_shrinks),
    ]


def proposition_9(specification: Specification) -> list[AnyProperty]:
    """Along steps in which no input grows and Clock does not: what has left Clock at an edge is never in it again.

    In graphs with calls the minimal times at an edge may be without end. Then all that generates Clock is compared, at
    nodes as well: it is in what Clock was exactly when all of Clock is.

    Its companion: something leaves Clock at an edge.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, proposition_9
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, proposition_9(quiet)).verdicts]
    ['holds', 'holds']
    """
    clock, edges = specification.clock, specification.system.names.edges
    quiet = quietly(specification)

    def along(before: State, action: Any, then: State) -> bool:
        return quiet(before, action, then) and is_within(clock(then), clock(before))

    def in_clock(state: State) -> Iterable[tuple[str, Any]]:
        try:
            frontiers = clock(state).frontiers
        except NoMinimalTimes:
            return clock(state).generators
        return ((edge, time) for edge in edges for time in frontiers.get(edge, ()))

    def leaves(before: State, action: Any, then: State) -> bool:
        return along(before, action, then) and any(
            at not in clock(then) for at in in_clock(before) if at[0] in specification.system.names.edge
        )

    return [
        always_later("Proposition 9: what has left Clock at an edge stays out", clock, in_clock, _contains, along),
        sometimes_step("something leaves Clock at an edge", leaves),
    ]


def theorem_2(specification: Specification, whatever_comes: bool = False) -> list[AnyProperty]:
    """Once (e, t) is not in Clock, no message on e will ever have a time at or before t.

    Clock is closed upwards in time at e: so this is that a message that is ever on e has its pointstamp in Clock in all
    states before. Along steps in which no input grows; `whatever_comes`: along all steps, as with constrained `Inp`.

    Its companion: a message is taken from an edge, its time leaves Clock there, and others are on the edge still.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, theorem_2
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, theorem_2(quiet)).verdicts]
    ['holds', 'fails']
    """
    names, clock = specification.system.names, specification.clock
    along = None if whatever_comes else quietly(specification)

    def queued(state: State) -> set[tuple[str, Any]]:
        return {(edge, message.time) for edge, q in zip(names.edges, state.queues, strict=True) for message in q}

    def leaves_others(before: State, action: Any, then: State) -> bool:
        return any(at not in clock(then) and then.queue(at[0]) for at in queued(before) - queued(then))

    name = "Theorem 2: once (e, t) is not in Clock, e has no message at or before t"
    return [
        always_later(name, clock, queued, _contains, along),
        sometimes_step("a time leaves Clock at an edge, and later messages are there", leaves_others),
    ]


def _contains(clock: Clock, pointstamp: tuple[str, Any]) -> bool:
    return pointstamp in clock


def all_of_section_5(specification: Specification) -> list[AnyProperty]:
    """Propositions 7, 8 and 9, Theorem 2, and the guarantee that they are for, with their companions.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, all_of_section_5, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, all_of_section_5(quiet)).verdicts]
    ['holds', 'fails', 'holds', 'holds', 'holds', 'holds', 'holds', 'fails', 'holds', 'fails', 'holds', 'fails']
    """
    return [
        *proposition_7(specification.system),
        *proposition_8(specification),
        *proposition_9(specification),
        *theorem_2(specification),
        *guarantee(specification),
    ]
