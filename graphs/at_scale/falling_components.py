"""Components in which a number can fall again and again: the local engine closes them (`progress.closure`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphs.at_scale.collected import network_of
from graphs.at_scale.components import components
from graphs.at_scale.frames import numbers_frame
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.pieces import may_fall_far
from graphs.at_scale.rounds import Options, cut
from progress.closure import close_numbered
from progress.topology import Network

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Falling:
    """The components that have an edge whose summary can fall far, and what has come to them so far."""

    def __init__(self, graph: SparkGraph, network: Network, ids: list[int]) -> None:
        self.graph = graph
        self.network = network
        self.ids = ids
        self.place = {number: position for position, number in enumerate(ids)}
        self.nodes = numbers_frame(graph.session, {"id": ids})
        self.given: list[tuple[int, Any]] = []
        self.sent: set[tuple[int, Any]] = set()

    @classmethod
    def of(cls, graph: SparkGraph, options: Options) -> Falling | None:
        """None where nothing falls far on a cycle. Cost: one look for components where some summary may fall far."""
        far = may_fall_far(graph.summaries)
        if not far:
            return None
        steps = graph.steps()
        if not steps.where(steps["summary"].isin(far)).head(1):
            return None
        inside = components(graph, steps, options)
        falls = inside.edges.where(inside.edges["summary"].isin(far)).select("component").distinct()
        chosen = cut(inside.edges.join(falls, "component", "left_semi"))
        count = chosen.count()
        if not count or count > options.fits:  # too large: rounds go on falling, up to their bound
            return None
        return cls(graph, *network_of(graph, chosen))

    def run_down(self, found: DataFrame) -> list[tuple[int, int, list[int]]]:
        """All that follows inside these components from times that were found (id, shape, found): node, shape, numbers.

        Cost: a closure of the components from all that has come to them so far, in each round in which something came.
        """
        shapes = self.graph.shapes
        inside = found.join(self.nodes, "id", "left_semi").selectExpr("id", "shape", "inline(found)")
        fresh = [(self.place[number], shapes.decode(shape, numbers)) for number, shape, *numbers in inside.collect()]
        if not fresh:
            return []
        self.given += fresh
        closure = close_numbered(self.network, self.given)
        rows = []
        for position, number in enumerate(self.ids):
            for time in closure.times(position):
                if (position, time) not in self.sent:
                    self.sent.add((position, time))
                    rows.append((number, *shapes.encode(self.network.domains[position], time)))
        return rows
