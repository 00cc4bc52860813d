"""Programs with calls on the runtime: how the outermost call begins, and where its result goes (A&I 3.4, 2.2).

Calls need no code: their parts send on what comes, and the summaries push and pop. `in` and `out` of the main graph are
joined to the outside, by edges where there are epochs, and by the nodes here where there are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from progress.runtime import Code, Dataflow, Out, Relay
from progress.topology import Topology, network_of
from recursion.call_graph import bad_recursion
from recursion.network import CallRelation
from recursion.stack import Stack


class Entrance(Relay):
    """`in` of a graph without epochs: sends one value on at the empty stack, and what is called as it comes."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def on_start(self, out: Out) -> None:
        """Nothing can come before the empty stack, so this is delivered at once."""
        out.request(())

    def on_notify(self, time: Any, out: Out) -> None:
        """The outermost call begins."""
        for edge in out.edges:
            out.send(edge, time, self.value)


class Exit(Relay):
    """`out` of the main graph: what inner calls return goes back to them alone, and `results` has what is left.

    With output edges results leave there. A relay would send there what inner calls return as well.

    Examples
    --------
    >>> from pointstamp import Dataflow, Exit, from_data
    >>> graph = from_data(
    ...     {
    ...         "pointstamp": 1,
    ...         "time": {"product": ["nat", "stack"]},
    ...         "recursion": {"in": "begin", "out": "end", "calls": ["again"]},
    ...         "nodes": {"begin": {}, "again": {}, "end": {}},
    ...         "edges": [
    ...             {"id": "calls", "to": "begin"},
    ...             {"from": "begin", "to": "again"},
    ...             {"from": "begin", "to": "end"},
    ...             {"from": "again", "to": "end"},
    ...             {"id": "results", "from": "end"},
    ...         ],
    ...     }
    ... )
    >>> down = lambda value: value
    >>> isinstance(Dataflow(graph, {"end": Exit}).nodes["end"](), Exit)
    True
    """

    def __init__(self) -> None:
        self.results: list[Any] = []

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        """Send values back to the call, or to the outside if there is none."""
        stack = time if isinstance(time, Stack) else time[1]
        has_left = False
        for leaving in out.edges:
            for after in out.earliest(leaving):
                if stack.call is None or after != time:  # it is an output edge, or it pops the call
                    out.send_all(leaving, after, values)
                    has_left = True
        if not has_left:
            self.results += values


def call(graph: Topology, nodes: Mapping[str, Code], value: Any, *, on_error: Any = None, **how: Any) -> list[Any]:
    """Call a graph without epochs, and answer with all that it returns.

    Parameters
    ----------
    graph : a graph with calls
    nodes : the code of its nodes, as for a `Dataflow`; those without code send on what comes
    value : what it is called with
    on_error : what is done when a node raises, as for a `Dataflow`
    how : how it is run, as `Dataflow.run` takes it

    Cost: that of the run. All calls that may run do, so what is kept grows with the calls that are open at once.

    Returns
    -------
    All that it returns.

    Raises
    ------
    PointstampError
        PS016 where the graph has no calls, or has epochs; PS617 where it is no graph.

    Examples
    --------
    >>> from pointstamp import Node, call, from_data
    >>> graph = from_data(
    ...     {
    ...         "pointstamp": 1,
    ...         "recursion": {"in": "begin", "out": "end", "calls": ["again"]},
    ...         "nodes": {"begin": {}, "down": {}, "again": {}, "end": {}},
    ...         "edges": [
    ...             {"from": "begin", "to": "down"},
    ...             {"from": "down", "to": "again"},
    ...             {"from": "down", "to": "end"},
    ...             {"from": "again", "to": "end"},
    ...         ],
    ...     }
    ... )
    >>> class Down(Node):
    ...     def on_message(self, edge, time, number, out):
    ...         out.send("down->again" if number else "down->end", time, number - 1 if number else "done")
    >>> call(graph, {"down": Down}, 3)
    ['done']
    """
    relation = network_of(graph).relation
    if not isinstance(relation, CallRelation):
        raise bad_recursion("the graph has no calls", "the key `recursion` says which nodes are calls")
    calls = relation.graph
    if calls.epochs is not None:
        raise bad_recursion("the graph has epochs, so calls come in on edges", "a Dataflow with sources")
    main = calls.procedures[calls.main]
    leave = Exit()
    ends: dict[str, Code] = {calls.nodes[main.entrance]: lambda: Entrance(value), calls.nodes[main.exit]: lambda: leave}
    Dataflow(graph, {**ends, **nodes}, on_error=on_error).run(**how)
    return leave.results
