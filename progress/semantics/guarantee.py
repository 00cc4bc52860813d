"""The guarantee itself (A&I 1, 2.2, 4.2): what a notification promises, and that it comes.

*Nothing is late*: after p was notified of t, no message at or before t is ever on an edge into p. Theorem 2 speaks of
Clock, not of notifications: where requests are delivered whatever Clock says, it holds all the same; this does not.

*What may be delivered is*: a request of which no incoming edge has the time in Clock is delivered some time later. The
paper leaves liveness aside (4.1); fairness is what `progress.semantics.fairness` says it is, of `Not` of a node and a
time whatever else the step does, and of `Mess` of a node and an edge. That the outside brings something obliges nobody.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from progress.semantics.actions import Mess, Not
from progress.semantics.composition import Both
from progress.semantics.properties import AnyProperty, always_since, leads_each, sometimes, sometimes_step
from progress.semantics.specification import Inputs, Specification, quietly
from progress.semantics.state import State


def guarantee(specification: Specification) -> list[AnyProperty]:
    """Both claims, each with its companion.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, guarantee
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, guarantee(quiet)).verdicts]
    ['holds', 'fails', 'holds', 'fails']
    """
    return [*nothing_is_late(specification), *what_may_be_is_delivered(specification)]


def nothing_is_late(specification: Specification) -> list[AnyProperty]:
    """After p was notified of t, no message at or before t is ever on an edge into p.

    Where inputs are free, along steps in which none grows: the outside may then bring what Clock rules out.

    Its companion: somebody is notified.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, nothing_is_late
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, nothing_is_late(quiet)).verdicts]
    ['holds', 'fails']
    """
    system = specification.system
    network, names = system.network(), system.names
    entering = [(edge, names.nodes[node]) for edge, node in enumerate(network.targets) if node >= 0]
    is_free = specification.variant.inputs is Inputs.FREE

    def happens(before: State, action: Any, then: State) -> list[tuple[str, Any]]:
        return _notified(action)

    def queued(state: State) -> set[tuple[int, str, Any]]:
        return {(edge, node, message.time) for edge, node in entering for message in state.queues[edge]}

    def is_later(notified: tuple[str, Any], message: tuple[int, str, Any]) -> bool:
        (node, time), (edge, target, when) = notified, message
        return node != target or not network.edge_domains[edge].less_equal(when, time)

    name = "nothing is late: after p was notified of t, no message at or before t is ever on an edge into p"
    return [
        always_since(name, happens, queued, is_later, quietly(specification) if is_free else None),
        sometimes_step("somebody is notified", lambda before, action, then: bool(_notified(action))),
    ]


def what_may_be_is_delivered(specification: Specification) -> list[AnyProperty]:
    """Every request of which no incoming edge has the time in Clock is delivered, in every fair behaviour.

    Its companion: some request may be delivered.

    Returns
    -------
    The claims for `explore`: each `always` with a `sometimes`, which fails where nothing of its kind happens.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, what_may_be_is_delivered
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> [verdict.says.value for verdict in explore(quiet, what_may_be_is_delivered(quiet)).verdicts]
    ['holds', 'fails']
    """
    system = specification.system
    network, names = system.network(), system.names
    entering = [[names.edges[edge] for edge in edges] for edges in network.incoming]

    def eligible(state: State) -> list[tuple[str, Any]]:
        clock = specification.clock(state)
        return [
            (name, time)
            for node, name in enumerate(names.nodes)
            for time in sorted(state.requests[node], key=repr)
            if not any((edge, time) in clock for edge in entering[node])
        ]

    def is_outside(action: Any) -> bool:
        return not _acts(action)

    return [
        leads_each("what may be delivered is: every request, in the end", eligible, _delivers, _kind, is_outside),
        sometimes("a request may be delivered", lambda state: bool(eligible(state))),
    ]


def _acts(action: Any) -> list[Mess | Not]:
    """What nodes do in a step: of two graphs, in both."""
    parts = (action.first, action.second) if isinstance(action, Both) else (action,)
    return [each for each in parts if isinstance(each, Mess | Not)]


def _notified(action: Any) -> list[tuple[str, Any]]:
    return [(each.node, each.time) for each in _acts(action) if isinstance(each, Not)]


def _delivers(request: Hashable, action: Any) -> bool:
    return request in _notified(action)


def _kind(action: Any) -> Hashable:
    """What counts as one action for fairness, whatever the node sends and asks for in it."""
    acts = _acts(action)
    return tuple((each.node, each.time if isinstance(each, Not) else each.edge, type(each)) for each in acts)
