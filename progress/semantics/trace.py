"""What a run leaves: its steps as times alone, in the form of a session of a tracker (docs/scheduler.md).

`{"messages": [(edge, time, change)], "requests": [(node, time)], "delivered": [(node, time)], "inputs": {edge: times}}`
says how many messages more or fewer are queued, what was requested, which notifications were delivered, and from which
times on inputs may still bring messages. The first line may be `{"start": {"inputs": ..., "requests": ...}}`, with
`messages` where something is queued on inputs from the start, as InitProp allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from progress.antichain import minimal_elements
from progress.clock import located
from progress.errors import PointstampError, brief
from progress.semantics.actions import Inp, Mess, Outp
from progress.semantics.machine import Path
from progress.semantics.specification import Inputs, Specification
from progress.semantics.state import Queue, State
from progress.topology import NO_NODE, Network

Line = Mapping[str, Any]


class Parts(NamedTuple):
    """A step, sorted by what the actions do. Locations are numbers of nodes and of edges, times are times there."""

    taken: Counter[tuple[int, Any]]  # messages taken by nodes
    left: Counter[tuple[int, Any]]  # messages taken from output edges
    arrived: list[tuple[int, Any]]  # messages put on input edges, in the order in which they were put
    sent: list[tuple[int, Any]]  # messages put on edges that have a source
    requested: list[tuple[int, Any]]
    delivered: list[tuple[int, Any]]
    opened: dict[int, tuple[Any, ...]]  # the times from which inputs may still bring messages


def parts_of(network: Network, line: Line) -> Parts:
    """A step by its parts; the changes of one edge and time are added up first, as a tracker does.

    Refused is a name or a time that the graph does not have (PS502, PS503), what is at the wrong kind of location
    (PS504), and what has not the form of a step (PS501).
    """
    parts = Parts(Counter(), Counter(), [], [], [], [], {})
    changes: dict[tuple[int, Any], int] = {}
    for item in line.get("messages", ()):
        if not isinstance(item, list | tuple) or len(item) != 3 or type(item[2]) is not int:
            raise PointstampError(
                "PS501", f"{brief(item)} is not a message", "an edge, a time and a change of the count"
            )
        at = _placed(network, item[:2], "edge")
        changes[at] = changes.get(at, 0) + item[2]
    for (edge, time), change in changes.items():
        if change < 0:
            (parts.left if network.targets[edge] == NO_NODE else parts.taken)[edge, time] -= change
        else:
            (parts.arrived if network.sources[edge] == NO_NODE else parts.sent).extend([(edge, time)] * change)
    parts.requested.extend(_placed(network, pair, "node") for pair in line.get("requests", ()))
    parts.delivered.extend(_placed(network, pair, "node") for pair in line.get("delivered", ()))
    for name, times in line.get("inputs", {}).items():
        edge = network.number(name) - len(network.nodes)
        if edge < 0 or network.sources[edge] != NO_NODE:
            raise PointstampError("PS504", f"{brief(name)} is not an input edge", "an edge without a source")
        parts.opened[edge] = tuple(_placed(network, (name, time), "edge")[1] for time in times)
    return parts


def _placed(network: Network, pair: Any, kind: str) -> tuple[int, Any]:
    """A pointstamp by the number of its node or edge."""
    ((location, time),) = located(network, [tuple(pair) if isinstance(pair, list) else pair], kind)
    return (location, time) if kind == "node" else (location - len(network.nodes), time)


def recorded(specification: Specification, path: Path[State]) -> Iterator[Line]:
    """The trace of a path that was explored: a start, then a line for each action.

    What is still to come keeps inputs open, where it is announced. What is queued at the start comes in on the first
    line, as a tracker wants it; where `Inp` is free or constrained, it is there from the start, as in the paper.
    Cost: O(what is outstanding) a step.

    Returns
    -------
    The lines, as they are read.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, recorded
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> list(recorded(quiet, explore(quiet).path(1)))[-1]
    {'messages': [('in->a', 0, -1), ('a->out', 0, 1)], 'requests': []}
    """
    names, start = specification.system.names, path.start
    queued = [(edge, message.time, 1) for edge, q in zip(names.edges, start.queues, strict=True) for message in q]
    requests = [(node, time) for node in names.nodes for time in sorted(start.pending(node), key=repr)]
    inputs = [names.edges[edge] for edge in specification.system.inputs]
    announces = specification.variant.inputs in (Inputs.ANNOUNCED, Inputs.FORBIDDEN)
    rest = {edge: _still_open(specification, start, edge) for edge in inputs}
    if announces:
        first = {edge: _least(specification, edge, start.queue(edge), rest[edge]) for edge in inputs}
        yield {"start": {"inputs": first, "requests": requests}}
        yield {"messages": queued, "inputs": rest}
    else:
        yield {"start": {"messages": queued, "requests": requests}}
    for action, after in path.steps:
        line = _line(action)
        if isinstance(action, Inp) and announces:
            line["inputs"] = {edge: _still_open(specification, after, edge) for edge, _ in action.arrived}
        yield line


def _line(action: Any) -> dict[str, Any]:
    if isinstance(action, Inp):
        return {"messages": [(edge, message.time, 1) for edge, message in action.arrived]}
    if isinstance(action, Outp):
        return {"messages": [(edge, message.time, -1) for edge, message in action.left]}
    sent = [(edge, message.time, 1) for edge, queue in action.sent for message in queue]
    requests = [(action.node, time) for time in sorted(action.requested, key=repr)]
    if isinstance(action, Mess):
        return {"messages": [(action.edge, action.message.time, -1), *sent], "requests": requests}
    return {"delivered": [(action.node, action.time)], "messages": sent, "requests": requests}


def _still_open(specification: Specification, state: State, edge: str) -> tuple[Any, ...]:
    if specification.variant.inputs is not Inputs.ANNOUNCED:
        return ()
    return _least(specification, edge, state.still_to_come(edge), ())


def _least(specification: Specification, edge: str, messages: Queue, times: tuple[Any, ...]) -> tuple[Any, ...]:
    domain = specification.system.network().edge_domains[specification.system.names.edge[edge]]
    return minimal_elements(domain, (*times, *(message.time for message in messages)))
