"""Graphs that are added to a program as they are: `Flow.add`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphs.graph import Graph
from graphs.streams.bags import Bags
from graphs.streams.refusals import bad_step, refused
from graphs.streams.step import Input, Origin, Step
from progress.errors import brief, one_of
from progress.runtime.run.own import Code, check_code

if TYPE_CHECKING:
    from graphs.streams.flow import Flow


class Part:
    """A graph, and the code of its nodes. Its nodes and edges keep their names, since code goes by them."""

    def __init__(self, graph: Graph, nodes: Mapping[str, Code]) -> None:
        given: object = graph
        if not isinstance(given, Graph):
            raise bad_step("add", f"{brief(given)} is not a graph", "a Graph, as load gives it")
        network = graph.network()
        for name, code in nodes.items():
            if name not in graph.nodes:
                raise bad_step("add", f"the graph has no node {brief(name)}", one_of(name, graph.nodes))
            check_code(name, code)
        self.graph = graph
        self.nodes = dict(nodes)
        self.edges = list(zip(network.edges, graph.sources, graph.targets, strict=True))
        self.inputs = {edge: target for edge, source, target in self.edges if source is None and target is not None}
        self.outputs = {edge: source for edge, source, target in self.edges if target is None and source is not None}

    def join(self, flow: Flow[Any], streams: Mapping[str, Bags[Any, Any]]) -> dict[str, Origin]:
        """Lead streams to its input edges; what leaves by its output edges."""
        for edge in streams:
            if edge not in self.inputs:
                raise bad_step("add", f"the graph has no input edge {brief(edge)}", one_of(edge, self.inputs))
        for edge, stream in streams.items():
            scope = flow._root(self.graph.domain_of(edge))
            given: object = stream
            if not isinstance(given, Bags):
                raise bad_step("add", f"{brief(given)} is not a stream", "what an operator of a stream gives")
            if stream._flow is not flow or stream._scope is not scope:
                what = f"the times of {edge!r} are {scope.domain()!r}, those of {stream._name!r} are not"
                raise refused("PS811", what, "a stream of this flow, outside of its loops, with these times")
            inputs = (Input(stream._origin),)
            flow._add(Step(edge, scope, inputs, reads={"": edge}, node=self.inputs[edge]))
        found = {}
        for edge, node in self.outputs.items():
            step = Step(edge, flow._root(self.graph.domain_of(edge)), sends={"": edge}, node=node)
            found[edge] = Origin(flow._add(step))
        return found

    def copy_to(self, whole: Graph, joined: set[str]) -> None:
        """Its nodes and edges, but for edges to which something is joined."""
        graph = self.graph
        for name, each in graph.nodes.items():
            whole.node(name, each.domain, each.summary, each.emits, each.requests, each.notifies, each.label)
        for edge, source, target in self.edges:
            if edge not in joined:
                whole.edge(source, target, edge, graph.edge_times.get(edge), graph.edge_labels.get(edge))
