"""The very nodes that run, as the semantics has nodes: `Initial(p)` and g1(p) of a runtime `Node` (A&I 2.2).

A local state is what `Node.snapshot` gives, as for a run that is kept; a step restores it, makes the call that the
runtime would make, with the node's policy for failures, and takes the next snapshot. So nobody writes a node twice: the
node that runs is explored (`progress.behaviour`), held against its graph (`progress.escape`), and is part of systems
whose every interleaving is visited (`progress.semantics.System`).

Values that cannot be hashed, as lists, are made so (`held`), and are what they were for the node.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.local_history import Event, Message, NodeBehaviour, Received
from progress.runtime.actions.inbox import Action, Inbox
from progress.runtime.actions.performed import Performed, is_to_be_awaited
from progress.runtime.actions.performing import calls, perform, starting, waited_for
from progress.runtime.dataflow import Dataflow
from progress.runtime.failure import OnError, Stop, failures
from progress.runtime.node import Node, Relay
from progress.runtime.out import Out
from progress.runtime.run.own import Code, made
from progress.semantics.state import held, released
from progress.semantics.system import System
from progress.topology import Topology, network_of


class Crashed(NamedTuple):
    """The state of a node that has failed, with which a run ends."""

    says: str

    def __repr__(self) -> str:
        return f"failure: {self.says}"


Given = tuple[Any, Any]  # a time and a value, as a source of the runtime gives them


class RunningNode:
    """A node of the runtime as a `NodeBehaviour`.

    Parameters
    ----------
    graph : the graph
    name : which of its nodes it is
    code : what a `Dataflow` takes for a node
    on_error : what is done when it raises
    freely : whether it may send and ask what the graph does not declare, which the runtime refuses; so that
        `progress.escape` says what it does, with the history that shows it
    crashes : whether a failure that ends a run is a state, `Crashed`; else it is raised, as `NodeFailed`
    """

    def __init__(
        self,
        graph: Topology,
        name: str,
        code: Code,
        on_error: OnError | None = None,
        freely: bool = False,
        crashes: bool = False,
    ) -> None:
        network = network_of(graph)
        self.name = name
        self.number = network.number(name)
        self.node: Node = made({name: code})[name]
        self.inbox = Inbox(network, self.number, self.node, on_error or Stop())
        self.freely, self.crashes = freely, crashes
        self._made = self._snapshot()

    def initial(self) -> Iterable[tuple[Any, Iterable[Any]]]:
        """Initial(p): the state after `on_start`, and what it asks for there."""
        self.node.restore(copy.deepcopy(self._made))
        with starting(self.inbox) as out:
            result = self.node.on_start(out)
            if is_to_be_awaited(result, self.inbox):
                waited_for(result)
        return [(self._snapshot(), tuple(out.requests))]

    def step(self, state: Any, event: Event) -> tuple[Any, Iterable[Any], Mapping[str, Iterable[Message]]]:
        """g1(p): the call for this one event."""
        self.node.restore(copy.deepcopy(state))
        if isinstance(event, Received):
            value = copy.deepcopy(released(event.message.value))
            action = Action(self.number, event.edge, event.time, [value])
        else:
            action = Action(self.number, None, event.time, ())
        out = (_Freely if self.freely else Out)(self.inbox.exits, event.time)
        performed = Performed(action, out)
        perform(performed, calls(performed, self.inbox), None)
        if performed.is_fatal and self.crashes:
            return Crashed(str(performed.failures[-1])), (), {}
        if performed.is_fatal:
            raise performed.failures[-1]
        sent: dict[str, list[Message]] = {}
        for (edge, time), values in ((place, values) for place, values in out.sent.items() if values):
            sent.setdefault(edge, []).extend(Message(time, held(copy.deepcopy(value))) for value in values)
        return self._snapshot(), tuple(out.requests), sent

    def _snapshot(self) -> Any:
        try:
            return copy.deepcopy(self.node.snapshot())
        except failures() as error:
            what = f"the state of {brief(self.name)} cannot be kept: {type(error).__name__}: {error}"
            raise PointstampError(
                "PS735", what, "what can be copied; snapshot and restore of a node choose it"
            ) from error


class _Freely(Out):
    """Takes what the graph does not declare, too."""

    __slots__ = ()

    def _values(self, edge: str, time: Any) -> list[Any]:
        return self.sent.setdefault((edge, time), [])

    def request(self, time: Any) -> None:
        """Ask for any time."""
        self.requests[time] = None


def running_nodes(dataflow: Dataflow, freely: bool = False, crashes: bool = False) -> dict[str, NodeBehaviour]:
    """Every node of a dataflow; one without code sends on what comes, as it does in a run.

    Returns
    -------
    The nodes, by name.

    Examples
    --------
    >>> from pointstamp import Dataflow, Message, Received, from_edges
    >>> from progress.semantics.running_nodes import running_nodes
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": str.upper})
    >>> node = running_nodes(flow)["a"]
    >>> node.step(None, Received("in->a", Message(0, "x")))[2]
    {'a->out': [Message(time=0, value='X')]}
    """
    network, usual = dataflow.network, dataflow.on_error.get("*")
    return {
        name: RunningNode(
            network, name, dataflow.nodes.get(name, Relay), dataflow.on_error.get(name, usual), freely, crashes
        )
        for name in network.nodes
    }


def running_system(dataflow: Dataflow, inputs: Mapping[str, Iterable[Given]], at_once: bool = True) -> System:
    """The dataflow as a system, with these messages at its inputs.

    A node that fails has the state `Crashed`.

    at_once : they lie there from the start, in this order; else each may come at any time, in any order

    Returns
    -------
    The system, whose nodes are the very ones that run.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.semantics.running_nodes import running_system
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": str.upper})
    >>> next(running_system(flow, {"in->a": [(0, "x")]}).beginnings())
    in->a: 'x' at 0
    """
    given = {edge: [Message(time, held(value)) for time, value in items] for edge, items in inputs.items()}
    nodes = running_nodes(dataflow, crashes=True)
    return System(dataflow.network, nodes, given) if at_once else System(dataflow.network, nodes, {}, given)
