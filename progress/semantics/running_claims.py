"""What is claimed of every interleaving of a pipeline: no node fails, it keeps to its graph, and the guarantee."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from progress.semantics.actions import Mess, Not
from progress.semantics.guarantee import nothing_is_late, what_may_be_is_delivered
from progress.semantics.properties import AnyProperty, always, always_step, eventually
from progress.semantics.propositions import proposition_8, theorem_2
from progress.semantics.running_nodes import Crashed
from progress.semantics.specification import Specification
from progress.semantics.state import State
from progress.summary import Summary


class RunningSpecification(Specification):
    """ISpec of a system of nodes that run, with what the runtime promises beyond it.

    Where a node has failed, the run is over. And of the notifications that a node may have, it gets those first that
    are before others: what is ready at a node is handed out in a linear extension of time.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.semantics import explore
    >>> from progress.semantics.running_claims import RunningSpecification
    >>> from progress.semantics.running_nodes import running_system
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": str.upper})
    >>> explore(RunningSpecification(running_system(flow, {"in->a": [(0, "x")]}))).outcome.value
    'finished: every reachable state was visited'
    """

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        """As in ISpec, but for notifications that are ready and come after others; none after a failure."""
        if has_failed(state):
            return
        steps = list(super().successors(state))
        ready = [action for action, _ in steps if isinstance(action, Not)]
        for action, after in steps:
            if not isinstance(action, Not) or not any(self._is_before(each, action) for each in ready):
                yield action, after

    def _is_before(self, one: Not, other: Not) -> bool:
        domain = self.system.network().domains[self.system.names.node[one.node]]
        return one.node == other.node and one.time != other.time and domain.less_equal(one.time, other.time)


def running_claims(specification: Specification) -> list[AnyProperty]:
    """The claims of `pointstamp explore`, without companions: a small sample need not show them all.

    Returns
    -------
    The claims, for `explore`.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.semantics import explore
    >>> from progress.semantics.running_claims import RunningSpecification, running_claims
    >>> from progress.semantics.running_nodes import running_system
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": str.upper})
    >>> specification = RunningSpecification(running_system(flow, {"in->a": [(0, "x")]}))
    >>> {verdict.says.value for verdict in explore(specification, running_claims(specification)).verdicts}
    {'holds'}
    """
    return [
        always("no node fails", lambda state: not has_failed(state)),
        keeps_to_graph(specification),
        nothing_is_late(specification)[0],
        what_may_be_is_delivered(specification)[0],
        proposition_8(specification)[0],
        theorem_2(specification)[0],
        comes_to_an_end(specification),
    ]


def keeps_to_graph(specification: Specification) -> AnyProperty:
    """Every node sends and asks for what the graph declares of it, and nothing earlier."""
    network, names = specification.system.network(), specification.system.names

    def keeps(before: State, action: Any, after: State) -> bool:
        if not isinstance(action, Mess | Not):
            return True
        node = names.node[action.node]
        time = action.message.time if isinstance(action, Mess) else action.time
        sent = [(network.summaries[names.edge[edge]], each.time) for edge, queue in action.sent for each in queue]
        asked = [(network.requests[node], each) for each in action.requested]
        return all(_allows(summary, time, each) for summary, each in [*sent, *asked])

    return always_step("every node sends and asks only what the graph declares", keeps)


def _allows(summary: Summary | None, time: Any, result: Any) -> bool:
    least: Iterable[Any] = () if summary is None else summary.apply(time)
    return any(summary is not None and summary.target.less_equal(each, result) for each in least)


def comes_to_an_end(specification: Specification) -> AnyProperty:
    """In every fair behaviour all messages are taken, and nobody waits any more: else the run would wait for ever."""
    outputs = set(specification.system.outputs)

    def is_over(state: State) -> bool:
        return not any(state.requests) and not any(
            queue for edge, queue in enumerate(state.queues) if edge not in outputs
        )

    return eventually("everything comes to an end: no message lies and nobody waits", is_over)


def has_failed(state: State) -> bool:
    """Whether a node has failed, with which the run ended."""
    return any(isinstance(local, Crashed) for local in state.local)
