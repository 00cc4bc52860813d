"""Operators whose outputs depend on some of their inputs only, written as nodes without ports.

A node of A&I has one summary for each outgoing edge, whatever edge an event came in by. An operator with summaries by
port becomes a node for each input port and one for each output port, with an edge for each pair that has a summary:
what comes in at one port cannot leave by another one, and cycles that only a view without ports would see do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphs.files.document import quoted
from graphs.files.notation import read_summary
from graphs.graph import Graph
from progress.errors import PointstampError
from progress.normal_form.declared import Identity


def add_operator(
    graph: Graph,
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    summaries: Mapping[tuple[str, str], Any],
    time: Any = None,
    notify: bool = True,
) -> None:
    """Add the nodes `name.port` and an edge `name.input->output` for every pair in `summaries`.

    Edges of the graph then lead to `name.input` and from `name.output`. `notify` is for the input ports. In a graph
    with calls every summary is `identity`. Cost: O(pairs).

    Returns
    -------
    Nothing: the graph has the nodes and edges.

    Raises
    ------
    PointstampError
        PS010 where a name is taken, PS011 where a pair is not one of an input and an output, PS013 where a summary
        is not known.

    Examples
    --------
    >>> from pointstamp import Graph, add_operator
    >>> graph = Graph()
    >>> add_operator(
    ...     graph, "join", ["left", "right"], ["all"], {("left", "all"): "identity", ("right", "all"): "identity"}
    ... )
    >>> list(graph.nodes)
    ['join.left', 'join.right', 'join.all']
    """
    for pair in summaries:
        if pair[0] not in inputs or pair[1] not in outputs:
            raise PointstampError(
                "PS011", f"{pair!r} is not a pair of an input and an output of {quoted(name)}", '("input", "output")'
            )
    if graph.recursion is not None:
        _refuse_summaries(name, summaries)
    for port in inputs:
        emits = {
            f"{name}.{source}->{target}": summary
            for (source, target), summary in summaries.items()
            if source == port and graph.recursion is None
        }
        graph.node(f"{name}.{port}", time=time, emits=emits, notify=notify)
    for port in outputs:
        graph.node(f"{name}.{port}", time=time, notify=False)
    for source, target in summaries:
        graph.edge(f"{name}.{source}", f"{name}.{target}", id=f"{name}.{source}->{target}")


def _refuse_summaries(name: str, summaries: Mapping[tuple[str, str], Any]) -> None:
    for pair, summary in summaries.items():
        if read_summary(summary) != Identity():
            raise PointstampError(
                "PS017",
                f"{quoted(name)} changes times between {pair[0]!r} and {pair[1]!r}, in a graph with calls",
                "identity there: stacks change by calls alone",
            )
